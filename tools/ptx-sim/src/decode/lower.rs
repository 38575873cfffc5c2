//! One function: its names, registers, constants, frame and labels.

use super::code::{Constant, FunctionCode, Module, Op, Predicate, Special, Step};
use super::{Symbol, Symbols, layout};
use crate::syntax::{Class, Function, Instruction, LoadError, Operand, Prototype, Space, Statement, Type, Variable};
use std::collections::HashMap;

/// What a name inside a function stands for.
#[derive(Clone, Debug)]
pub(super) enum Name {
    /// First row or predicate, and how many under numbered names; `None` for one.
    Registers(Type, u32, Option<u32>),
    /// In the thread's frame: stack, parameters of functions, what calls pass.
    Frame(u32, u32),
    /// A parameter of the kernel.
    Param(u32),
    Shared(u32, u32),
    Prototype(Prototype),
    Targets(Vec<String>),
}

pub(super) struct Lower<'a> {
    pub(super) symbols: &'a Symbols<'a>,
    pub(super) kernel: bool,
    steps: Vec<Step>,
    lines: Vec<u32>,
    scopes: Vec<HashMap<String, Name>>,
    labels: HashMap<String, u32>,
    /// Steps that jump, and the labels that they jump to.
    jumps: Vec<(usize, Vec<String>, u32)>,
    start: u32,
    rows: u32,
    predicates: u32,
    words: u32,
    constants: HashMap<Constant, u32>,
    frame: u32,
    local: u32,
    pub(super) shared: u32,
    pub(super) calls: Vec<u32>,
    pub(super) calls_unknown: bool,
    pub(super) line: u32,
    guard: Predicate,
}

pub(super) fn function(
    function: &Function,
    symbols: &Symbols<'_>,
    module: &mut Module,
    shared_end: &mut u32,
) -> Result<FunctionCode, LoadError> {
    let start = u32::try_from(module.steps.len()).unwrap_or(u32::MAX);
    let (params, param_end) = layout(&function.params, 0);
    let (returns, frame) = layout(&function.returns, if function.entry { 0 } else { param_end });
    let mut top = HashMap::new();
    for (variable, place) in function.params.iter().zip(&params) {
        let name = if function.entry {
            Name::Param(place.offset)
        } else {
            Name::Frame(place.offset, place.size)
        };
        top.insert(variable.name.clone(), name);
    }
    for (variable, place) in function.returns.iter().zip(&returns) {
        top.insert(variable.name.clone(), Name::Frame(place.offset, place.size));
    }
    let mut lower = Lower {
        symbols,
        kernel: function.entry,
        steps: Vec::new(),
        lines: Vec::new(),
        scopes: vec![top],
        labels: HashMap::new(),
        jumps: Vec::new(),
        start,
        rows: 0,
        predicates: Predicate::FIRST,
        words: 0,
        constants: HashMap::new(),
        frame: frame.next_multiple_of(16),
        local: 0,
        shared: 0,
        calls: Vec::new(),
        calls_unknown: false,
        line: function.line,
        guard: Predicate::TRUE,
    };
    let mut mnemonics = Vec::new();
    for statement in function.body.iter().flatten() {
        lower.statement(statement, shared_end, &mut mnemonics)?;
    }
    // Whoever falls off the end returns.
    lower.guard = Predicate::TRUE;
    lower.emit(if function.entry { Op::Exit } else { Op::Return });
    lower.resolve_jumps()?;
    let Lower {
        steps,
        lines,
        rows,
        predicates,
        words,
        constants,
        frame,
        local,
        shared,
        calls,
        calls_unknown,
        ..
    } = lower;
    module.steps.extend(steps);
    module.lines.extend(lines);
    let mut constants: Vec<(u32, Constant)> = constants.into_iter().map(|(constant, row)| (row, constant)).collect();
    constants.sort_unstable_by_key(|c| c.0);
    Ok(FunctionCode {
        name: function.name.clone(),
        kernel: function.entry,
        start,
        rows: rows.max(1),
        predicates,
        words,
        constants,
        params,
        param_bytes: param_end,
        returns,
        frame: frame.next_multiple_of(16),
        local,
        shared,
        calls,
        calls_unknown,
        max_threads: function.max_threads,
        mnemonics,
    })
}

impl Lower<'_> {
    fn statement(
        &mut self,
        statement: &Statement,
        shared_end: &mut u32,
        mnemonics: &mut Vec<String>,
    ) -> Result<(), LoadError> {
        match statement {
            Statement::Open => self.scopes.push(HashMap::new()),
            Statement::Close => {
                self.scopes.pop();
            }
            Statement::Registers(ty, names) => self.registers(*ty, names),
            Statement::Variable(variable) => self.variable(variable, shared_end)?,
            Statement::Label(name) => {
                let here = self.here();
                if self.labels.insert(name.clone(), here).is_some() {
                    return self.error(format!("the label `{name}` stands twice"));
                }
            }
            Statement::Prototype(name, prototype) => self.define(name, Name::Prototype(prototype.clone())),
            Statement::Targets(name, targets) => self.define(name, Name::Targets(targets.clone())),
            Statement::Instruction(instruction) => {
                self.line = instruction.line;
                mnemonics.push(instruction.full_name());
                self.guarded(instruction)?;
            }
        }
        Ok(())
    }

    fn guarded(&mut self, instruction: &Instruction) -> Result<(), LoadError> {
        self.guard = match &instruction.guard {
            None => Predicate::TRUE,
            Some((negated, name)) => match self.register(name) {
                Some((ty, index)) if ty.class == Class::Predicate => Predicate::new(index, *negated),
                _ => return self.error(format!("`{name}` is no predicate")),
            },
        };
        super::instruction::lower(self, instruction)
    }

    fn registers(&mut self, ty: Type, names: &[(String, Option<u32>)]) {
        for (name, count) in names {
            let wanted = count.unwrap_or(1);
            let first = if ty.class == Class::Predicate {
                self.predicates += wanted;
                self.predicates - wanted
            } else {
                self.words += wanted * ty.bits.div_ceil(32);
                self.rows += wanted;
                self.rows - wanted
            };
            self.define(name, Name::Registers(ty, first, *count));
        }
    }

    fn variable(&mut self, variable: &Variable, shared_end: &mut u32) -> Result<(), LoadError> {
        match variable.space {
            Space::Shared => {
                let offset = shared_end.next_multiple_of(variable.align);
                *shared_end = offset + variable.size;
                self.define(&variable.name, Name::Shared(offset, *shared_end));
            }
            Space::Local | Space::Param => {
                let offset = self.frame.next_multiple_of(variable.align);
                self.frame = offset + variable.size;
                if variable.space == Space::Local {
                    self.local += variable.size;
                }
                self.define(&variable.name, Name::Frame(offset, variable.size));
            }
            Space::Global | Space::Const => {
                return Err(LoadError::new(
                    variable.line,
                    "variables in device memory inside a function are not known",
                ));
            }
        }
        Ok(())
    }

    fn define(&mut self, name: &str, what: Name) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_owned(), what);
        }
    }

    fn here(&self) -> u32 {
        self.start + u32::try_from(self.steps.len()).unwrap_or(u32::MAX)
    }

    pub(super) fn error<T>(&self, message: impl Into<String>) -> Result<T, LoadError> {
        Err(LoadError::new(self.line, message))
    }

    pub(super) fn emit(&mut self, op: Op) {
        self.steps.push(Step {
            guard: self.guard,
            join: false,
            op,
        });
        self.lines.push(self.line);
    }

    /// Emits a jump whose targets are known only at the end of the function.
    pub(super) fn emit_jump(&mut self, op: Op, labels: Vec<String>) {
        self.jumps.push((self.steps.len(), labels, self.line));
        self.emit(op);
    }

    fn resolve_jumps(&mut self) -> Result<(), LoadError> {
        for (at, names, line) in std::mem::take(&mut self.jumps) {
            let mut targets = Vec::new();
            for name in names {
                let Some(&target) = self.labels.get(&name) else {
                    return Err(LoadError::new(line, format!("there is no label `{name}`")));
                };
                targets.push(target);
                self.steps[(target - self.start) as usize].join = true;
            }
            match &mut self.steps[at].op {
                Op::Jump { to } => *to = targets[0],
                Op::Table32 { targets: all, .. } => *all = targets.into(),
                _ => {}
            }
        }
        Ok(())
    }

    pub(super) fn lookup(&self, name: &str) -> Option<&Name> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    /// The type and number of a register.
    pub(super) fn register(&self, name: &str) -> Option<(Type, u32)> {
        if let Some(Name::Registers(ty, first, None)) = self.lookup(name) {
            return Some((*ty, *first));
        }
        let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        for at in name.len() - digits..name.len() {
            if let (Some(Name::Registers(ty, first, Some(count))), Ok(index)) =
                (self.lookup(&name[..at]), name[at..].parse::<u32>())
                && index < *count
            {
                return Some((*ty, first + index));
            }
        }
        None
    }

    pub(super) fn constant(&mut self, constant: Constant) -> u32 {
        let rows = &mut self.rows;
        *self.constants.entry(constant).or_insert_with(|| {
            *rows += 1;
            *rows - 1
        })
    }

    pub(super) fn value(&mut self, value: u64) -> u32 {
        self.constant(Constant::Value(value))
    }

    /// A row that nothing else uses.
    pub(super) fn scratch(&mut self) -> u32 {
        self.rows += 1;
        self.rows - 1
    }

    fn scratch_predicate(&mut self) -> u32 {
        self.predicates += 1;
        self.predicates - 1
    }

    /// The row of an operand that is read as the type.
    pub(super) fn source(&mut self, operand: &Operand, ty: Type) -> Result<u32, LoadError> {
        Ok(match operand {
            Operand::Int(value) => self.value(*value as u64),
            Operand::Single(bits) => self.value((*bits).into()),
            Operand::Double(bits) => self.value(*bits),
            Operand::Decimal(value) if ty.bits == 32 => self.value((*value as f32).to_bits().into()),
            Operand::Decimal(value) => self.value(value.to_bits()),
            Operand::Name(name) => match self.register(name) {
                Some((found, index)) if found.class != Class::Predicate => index,
                Some(_) => return self.error(format!("`{name}` is a predicate")),
                None if name == "WARP_SZ" => self.value(32),
                None => match special(name) {
                    Some(what) => {
                        let d = self.scratch();
                        self.emit(Op::Special { d, what });
                        d
                    }
                    None => {
                        let constant = self.address_of(name)?;
                        self.constant(constant)
                    }
                },
            },
            _ => return self.error("an operand of a kind that is not known here"),
        })
    }

    /// The address of a variable or function in its own space.
    pub(super) fn address_of(&mut self, name: &str) -> Result<Constant, LoadError> {
        match self.lookup(name) {
            Some(Name::Frame(offset, _)) => return Ok(Constant::Frame(*offset)),
            Some(Name::Param(offset)) => return Ok(Constant::Value((*offset).into())),
            Some(Name::Shared(offset, end)) => {
                let (offset, end) = (*offset, *end);
                self.shared = self.shared.max(end);
                return Ok(Constant::Value(offset.into()));
            }
            _ => {}
        }
        match self.symbols.names.get(name) {
            Some(Symbol::Shared(_, end)) => self.shared = self.shared.max(*end),
            Some(Symbol::Function(_)) => {}
            _ => {}
        }
        match self.symbols.constant(name) {
            Some(constant) => Ok(constant),
            None => self.error(format!("unknown name `{name}`")),
        }
    }

    /// The row that an instruction writes.
    pub(super) fn target(&mut self, operand: &Operand) -> Result<u32, LoadError> {
        match operand {
            Operand::Name(name) if name == "_" => Ok(self.scratch()),
            Operand::Name(name) => match self.register(name) {
                Some((ty, index)) if ty.class != Class::Predicate => Ok(index),
                _ => self.error(format!("`{name}` is no register for this result")),
            },
            _ => self.error("the result must be a register"),
        }
    }

    /// The predicate that an instruction writes.
    pub(super) fn target_predicate(&mut self, name: &str) -> Result<u32, LoadError> {
        if name == "_" {
            return Ok(self.scratch_predicate());
        }
        match self.register(name) {
            Some((ty, index)) if ty.class == Class::Predicate => Ok(index),
            _ => self.error(format!("`{name}` is no predicate")),
        }
    }

    /// A predicate that is read.
    pub(super) fn predicate(&mut self, operand: &Operand) -> Result<Predicate, LoadError> {
        match operand {
            Operand::Int(value) => Ok(if *value == 0 { Predicate::FALSE } else { Predicate::TRUE }),
            Operand::Name(name) => Ok(Predicate::new(self.target_predicate(name)?, false)),
            Operand::Not(name) => Ok(Predicate::new(self.target_predicate(name)?, true)),
            _ => self.error("expected a predicate"),
        }
    }
}

fn special(name: &str) -> Option<Special> {
    use super::code::MaskOf;
    let axis = |name: &str| match name {
        "x" => Some(0),
        "y" => Some(1),
        "z" => Some(2),
        _ => None,
    };
    let name = name.strip_prefix('%')?;
    if let Some((register, rest)) = name.split_once('.') {
        let axis = axis(rest)?;
        return Some(match register {
            "tid" => Special::ThreadIndex(axis),
            "ntid" => Special::BlockSize(axis),
            "ctaid" => Special::BlockIndex(axis),
            "nctaid" => Special::GridSize(axis),
            _ => return None,
        });
    }
    Some(match name {
        "laneid" => Special::Lane,
        "lanemask_eq" => Special::LaneMask(MaskOf::Equal),
        "lanemask_lt" => Special::LaneMask(MaskOf::Less),
        "lanemask_le" => Special::LaneMask(MaskOf::LessEqual),
        "lanemask_gt" => Special::LaneMask(MaskOf::Greater),
        "lanemask_ge" => Special::LaneMask(MaskOf::GreaterEqual),
        "warpid" => Special::Warp,
        "nwarpid" => Special::Warps,
        "smid" => Special::Multiprocessor,
        "nsmid" => Special::Multiprocessors,
        "gridid" => Special::GridId,
        "clock" => Special::Clock32,
        "clock64" => Special::Clock64,
        "globaltimer" => Special::Timer64,
        "globaltimer_hi" => Special::Timer32High,
        "globaltimer_lo" => Special::Timer32Low,
        "dynamic_smem_size" => Special::DynamicShared,
        "total_smem_size" => Special::TotalShared,
        _ => return None,
    })
}
