//! Reading PTX: text to statements. What the statements mean is for [`crate::decode`] to say.

mod lexer;
mod parser;

#[cfg(test)]
mod test;

use std::fmt;

/// Why a text was refused, and in which line of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    /// The line of the PTX text, counted from one; zero where no line is to blame.
    pub line: u32,
    /// What is wrong with it.
    pub message: String,
}

impl LoadError {
    pub(crate) fn new(line: u32, message: impl Into<String>) -> LoadError {
        LoadError {
            line,
            message: message.into(),
        }
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for LoadError {}

/// Where a variable lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    /// Device memory.
    Global,
    /// Device memory that kernels only read.
    Const,
    /// Memory of a block.
    Shared,
    /// Memory of a thread.
    Local,
    /// Parameters of kernels, and what calls pass.
    Param,
}

/// The type in a declaration or at the end of an instruction's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Type {
    /// How the bits are read.
    pub(crate) class: Class,
    /// 1 (predicate), 8, 16, 32 or 64.
    pub(crate) bits: u32,
}

/// How the bits of a type are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Untyped bits.
    Bits,
    /// Unsigned integer.
    Unsigned,
    /// Signed integer.
    Signed,
    /// IEEE 754 number.
    Float,
    /// Truth value.
    Predicate,
}

impl Type {
    /// Reads `u32`, `pred`, …, without the dot.
    pub(crate) fn parse(name: &str) -> Option<Type> {
        let (class, bits) = match name {
            "pred" => (Class::Predicate, 1),
            _ => {
                let class = match name.as_bytes().first()? {
                    b'b' => Class::Bits,
                    b'u' => Class::Unsigned,
                    b's' => Class::Signed,
                    b'f' => Class::Float,
                    _ => return None,
                };
                let bits = match &name[1..] {
                    "8" if class != Class::Float => 8,
                    "16" => 16,
                    "32" => 32,
                    "64" => 64,
                    _ => return None,
                };
                (class, bits)
            }
        };
        Some(Type { class, bits })
    }

    /// Size in bytes.
    pub(crate) fn bytes(self) -> u32 {
        self.bits.div_ceil(8)
    }

    /// Whether it is a floating point type.
    pub(crate) fn is_float(self) -> bool {
        self.class == Class::Float
    }

    /// Whether it is a signed integer type.
    pub(crate) fn is_signed(self) -> bool {
        self.class == Class::Signed
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.class {
            Class::Predicate => f.write_str("pred"),
            Class::Bits => write!(f, "b{}", self.bits),
            Class::Unsigned => write!(f, "u{}", self.bits),
            Class::Signed => write!(f, "s{}", self.bits),
            Class::Float => write!(f, "f{}", self.bits),
        }
    }
}

/// A value in an initialiser.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Initial {
    /// A number, as the bits of the element.
    Bits(u64),
    /// The address of a variable or function, and an offset.
    Address(String, i64),
}

/// A variable: parameter, shared array, global table, stack.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    /// Its name.
    pub(crate) name: String,
    /// Where it lives.
    pub(crate) space: Space,
    /// Bytes that its address is a multiple of.
    pub(crate) align: u32,
    /// Type of an element.
    pub(crate) element: Type,
    /// Size in bytes; zero if the launch decides (`[]`).
    pub(crate) size: u32,
    /// Elements that differ from zero at the start.
    pub(crate) initial: Vec<Initial>,
    /// Declared here, defined elsewhere.
    pub(crate) external: bool,
    /// The line of its declaration.
    pub(crate) line: u32,
}

/// An operand as written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Operand {
    /// A register, label, variable, function, special register, or `_`.
    Name(String),
    /// A whole number.
    Int(i128),
    /// A decimal number with a point.
    Decimal(f64),
    /// `0f…`: the bits of a single.
    Single(u32),
    /// `0d…`: the bits of a double.
    Double(u64),
    /// `{a, b}`.
    Vector(Vec<Operand>),
    /// `[base + offset]`.
    Address(Box<Operand>, i64),
    /// `(a, b)`, in calls.
    List(Vec<Operand>),
    /// `p|q`: two results.
    Pair(String, String),
    /// `!p`.
    Not(String),
}

/// The shape of a function that is called through a register.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prototype {
    /// What it returns.
    pub(crate) returns: Vec<Variable>,
    /// What it takes.
    pub(crate) params: Vec<Variable>,
}

/// What stands between the braces of a function.
#[derive(Clone, Debug)]
pub(crate) enum Statement {
    /// `{`
    Open,
    /// `}`
    Close,
    /// `.reg`: a type and names; `Some(n)` for `name<n>`.
    Registers(Type, Vec<(String, Option<u32>)>),
    /// A variable of the function.
    Variable(Variable),
    /// `name:`
    Label(String),
    /// `name: .callprototype …;`
    Prototype(String, Prototype),
    /// `name: .branchtargets a, b;`
    Targets(String, Vec<String>),
    /// An instruction.
    Instruction(Instruction),
}

/// An instruction as written.
#[derive(Clone, Debug)]
pub(crate) struct Instruction {
    /// `@p` or `@!p`: whether negated, and which predicate.
    pub(crate) guard: Option<(bool, String)>,
    /// The name, at the dots: `ld`, `global`, `b32`.
    pub(crate) name: Vec<String>,
    /// Operands in order.
    pub(crate) operands: Vec<Operand>,
    /// The line.
    pub(crate) line: u32,
}

impl Instruction {
    /// The name with its dots.
    pub(crate) fn full_name(&self) -> String {
        self.name.join(".")
    }
}

/// A kernel or a function.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    /// Its name.
    pub(crate) name: String,
    /// Whether it is a kernel.
    pub(crate) entry: bool,
    /// What it returns.
    pub(crate) returns: Vec<Variable>,
    /// What it takes.
    pub(crate) params: Vec<Variable>,
    /// `None` for a mere declaration.
    pub(crate) body: Option<Vec<Statement>>,
    /// `.maxntid`, multiplied out.
    pub(crate) max_threads: Option<u32>,
    /// The line of its name.
    pub(crate) line: u32,
}

/// A whole text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Source {
    /// `.version`
    pub(crate) version: String,
    /// `.target`
    pub(crate) target: String,
    /// Variables of the module.
    pub(crate) variables: Vec<Variable>,
    /// Kernels and functions.
    pub(crate) functions: Vec<Function>,
}

/// Reads a text.
///
/// # Errors
/// The first line that is not PTX as far as it is known here.
pub(crate) fn parse(text: &str) -> Result<Source, LoadError> {
    parser::parse(&lexer::tokens(text)?)
}
