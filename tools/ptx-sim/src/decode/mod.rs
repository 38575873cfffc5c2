//! Statements to the form that is executed: names become numbers, instructions become functions. What is not known is refused here, by name and line.

pub(crate) mod code;
mod convert;
mod effects;
mod float;
pub(crate) mod instruction;
pub(crate) mod integer;
pub(crate) mod lift;
mod lower;

use crate::syntax::{self, Initial, LoadError, Source, Space, Variable};
use code::{Constant, FunctionCode, GlobalInitial, GlobalVariable, Module, Parameter};
use std::collections::HashMap;

/// What a name of the module stands for.
#[derive(Clone, Copy, Debug)]
enum Symbol {
    Global(u32),
    /// Offset and end in the block's memory.
    Shared(u32, u32),
    DynamicShared,
    Function(u32),
}

/// Names of the module.
struct Symbols<'a> {
    names: HashMap<&'a str, Symbol>,
    source: &'a Source,
}

impl Symbols<'_> {
    fn constant(&self, name: &str) -> Option<Constant> {
        Some(match *self.names.get(name)? {
            Symbol::Global(index) => Constant::Variable(index),
            Symbol::Shared(offset, _) => Constant::Value(offset.into()),
            Symbol::DynamicShared => Constant::DynamicShared(0),
            Symbol::Function(index) => Constant::Function(index),
        })
    }
}

/// Offsets of variables one behind the other, and where the last one ends.
fn layout(variables: &[Variable], mut end: u32) -> (Vec<Parameter>, u32) {
    let mut out = Vec::new();
    for variable in variables {
        let offset = end.next_multiple_of(variable.align);
        out.push(Parameter {
            offset,
            size: variable.size,
        });
        end = offset + variable.size;
    }
    (out, end)
}

impl Module {
    /// Reads and decodes a PTX text.
    ///
    /// # Errors
    /// The first thing in it that is not known: a directive, an instruction, a name. Nothing is left to be found when it is reached.
    pub fn parse(text: &str) -> Result<Module, LoadError> {
        let source = syntax::parse(text)?;
        let mut module = Module {
            version: source.version.clone(),
            target: source.target.clone(),
            ..Module::default()
        };
        module.text = text.lines().map(|line| line.trim().to_owned()).collect();
        let mut symbols = Symbols {
            names: HashMap::new(),
            source: &source,
        };
        let mut shared_end: u32 = 0;
        let mut wanted: Vec<&Variable> = Vec::new();
        for variable in &source.variables {
            match variable.space {
                Space::Shared if variable.external || variable.size == 0 => {
                    symbols.names.insert(&variable.name, Symbol::DynamicShared);
                }
                Space::Shared => {
                    let offset = shared_end.next_multiple_of(variable.align);
                    shared_end = offset + variable.size;
                    symbols.names.insert(&variable.name, Symbol::Shared(offset, shared_end));
                }
                _ if variable.external => wanted.push(variable),
                _ => {
                    let index = u32::try_from(module.globals.len()).unwrap_or(u32::MAX);
                    if symbols.names.insert(&variable.name, Symbol::Global(index)).is_some() {
                        return Err(LoadError::new(
                            variable.line,
                            format!("`{}` is defined twice", variable.name),
                        ));
                    }
                    module.globals.push(GlobalVariable {
                        name: variable.name.clone(),
                        size: variable.size,
                        read_only: variable.space == Space::Const,
                        element: variable.element.bytes(),
                        initial: Vec::new(),
                    });
                }
            }
        }
        if let Some(missing) = wanted.iter().find(|v| !symbols.names.contains_key(v.name.as_str())) {
            return Err(LoadError::new(
                missing.line,
                format!("`{}` is declared `.extern` and defined nowhere", missing.name),
            ));
        }
        // Definitions, each with a number; a declaration in front of its definition is the same function.
        let defined: Vec<&syntax::Function> = source.functions.iter().filter(|f| f.body.is_some()).collect();
        for (index, function) in defined.iter().enumerate() {
            symbols.names.insert(
                &function.name,
                Symbol::Function(u32::try_from(index).unwrap_or(u32::MAX)),
            );
        }
        for (variable, global) in source
            .variables
            .iter()
            .filter(|v| matches!(v.space, Space::Global | Space::Const) && !v.external)
            .zip(&mut module.globals)
        {
            for initial in &variable.initial {
                global.initial.push(match initial {
                    Initial::Bits(bits) => GlobalInitial::Bits(*bits),
                    Initial::Address(name, offset) => match symbols.constant(name) {
                        Some(constant) => GlobalInitial::Address(constant, *offset),
                        None => return Err(LoadError::new(variable.line, format!("unknown name `{name}`"))),
                    },
                });
            }
        }
        for (index, function) in defined.iter().enumerate() {
            let code = lower::function(function, &symbols, &mut module, &mut shared_end)?;
            if code.kernel {
                module
                    .kernels
                    .insert(code.name.clone(), u32::try_from(index).unwrap_or(u32::MAX));
            }
            module.functions.push(code);
        }
        module.close_over_calls();
        Ok(module)
    }

    /// What a kernel's callees need, it needs.
    fn close_over_calls(&mut self) {
        loop {
            let mut changed = false;
            for index in 0..self.functions.len() {
                let function = &self.functions[index];
                let mut shared = function.shared;
                for &callee in &function.calls {
                    shared = shared.max(self.functions[callee as usize].shared);
                }
                if function.calls_unknown {
                    shared = self
                        .functions
                        .iter()
                        .filter(|f| !f.kernel)
                        .map(|f| f.shared)
                        .fold(shared, u32::max);
                }
                if shared != function.shared {
                    self.functions[index].shared = shared;
                    changed = true;
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// The names of the kernels, sorted.
    pub fn kernels(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.kernels.keys().map(String::as_str).collect();
        names.sort_unstable();
        names
    }

    /// What is known of a kernel, or `None` if there is no such kernel.
    pub fn kernel(&self, name: &str) -> Option<Kernel<'_>> {
        Some(Kernel {
            code: &self.functions[*self.kernels.get(name)? as usize],
        })
    }

    /// `.version` of the text.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// `.target` of the text.
    pub fn target(&self) -> &str {
        &self.target
    }
}

/// What is known of a kernel without running it.
#[derive(Clone, Copy, Debug)]
pub struct Kernel<'a> {
    code: &'a FunctionCode,
}

impl<'a> Kernel<'a> {
    /// Where its parameters lie.
    pub fn parameters(&self) -> &'a [Parameter] {
        &self.code.params
    }

    /// Bytes of all parameters together.
    pub fn parameter_bytes(&self) -> u32 {
        self.code.param_bytes
    }

    /// Bytes of static shared memory.
    pub fn static_shared(&self) -> u32 {
        self.code.shared
    }

    /// Bytes of stack a thread.
    pub fn local(&self) -> u32 {
        self.code.local
    }

    /// Registers as the text declares them, in words of 32 bits: far more than an assembler would use.
    pub fn registers(&self) -> u32 {
        self.code.words
    }

    /// `.maxntid` or `.reqntid`, if given.
    pub fn max_threads(&self) -> Option<u32> {
        self.code.max_threads
    }

    /// How often each instruction stands in its text, its name in full; not what it calls.
    pub fn mnemonics(&self) -> std::collections::BTreeMap<&'a str, u32> {
        let mut out = std::collections::BTreeMap::new();
        for name in &self.code.mnemonics {
            *out.entry(name.as_str()).or_insert(0) += 1;
        }
        out
    }
}
