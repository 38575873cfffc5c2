//! Words and signs to statements.

use super::lexer::Token;
use super::{
    Class, Function, Initial, Instruction, LoadError, Operand, Prototype, Source, Space, Statement, Type, Variable,
};

pub(super) fn parse(tokens: &[(Token, u32)]) -> Result<Source, LoadError> {
    let mut parser = Parser { tokens, at: 0 };
    let mut source = Source::default();
    while !parser.done() {
        parser.item(&mut source)?;
    }
    Ok(source)
}

struct Parser<'a> {
    tokens: &'a [(Token, u32)],
    at: usize,
}

/// What may stand before a declaration.
#[derive(Default)]
struct Linkage {
    external: bool,
}

impl Parser<'_> {
    fn done(&self) -> bool {
        self.at >= self.tokens.len()
    }

    fn line(&self) -> u32 {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(0, |t| t.1)
    }

    fn error<T>(&self, message: impl Into<String>) -> Result<T, LoadError> {
        Err(LoadError::new(self.line(), message))
    }

    fn peek_word(&self) -> Option<&str> {
        match self.tokens.get(self.at) {
            Some((Token::Word(word), _)) => Some(word),
            _ => None,
        }
    }

    fn peek_sign(&self, sign: char) -> bool {
        self.tokens.get(self.at).is_some_and(|t| t.0 == Token::Sign(sign))
    }

    fn accept(&mut self, sign: char) -> bool {
        let there = self.peek_sign(sign);
        self.at += usize::from(there);
        there
    }

    fn accept_word(&mut self, word: &str) -> bool {
        let there = self.peek_word() == Some(word);
        self.at += usize::from(there);
        there
    }

    fn expect(&mut self, sign: char) -> Result<(), LoadError> {
        if self.accept(sign) {
            Ok(())
        } else {
            self.error(format!("expected `{sign}`"))
        }
    }

    fn word(&mut self) -> Result<String, LoadError> {
        let Some(word) = self.peek_word().map(str::to_owned) else {
            return self.error("expected a name");
        };
        self.at += 1;
        Ok(word)
    }

    fn number(&mut self) -> Result<u32, LoadError> {
        let line = self.line();
        let word = self.word()?;
        integer(&word)
            .and_then(|n| u32::try_from(n).ok())
            .ok_or_else(|| LoadError::new(line, format!("expected a number, found `{word}`")))
    }

    fn skip_to(&mut self, sign: char) -> Result<(), LoadError> {
        while !self.done() && !self.peek_sign(sign) {
            self.at += 1;
        }
        self.expect(sign)
    }

    fn item(&mut self, source: &mut Source) -> Result<(), LoadError> {
        let mut linkage = Linkage::default();
        loop {
            let word = self.word()?;
            match word.as_str() {
                ".version" => source.version = self.word()?,
                ".target" => {
                    source.target = self.word()?;
                    while self.accept(',') {
                        self.word()?;
                    }
                }
                ".address_size" => {
                    if self.number()? != 64 {
                        return self.error("only 64-bit addresses are known");
                    }
                }
                ".visible" | ".weak" | ".common" => continue,
                ".extern" => {
                    linkage.external = true;
                    continue;
                }
                ".entry" => source.functions.push(self.function(true)?),
                ".func" => source.functions.push(self.function(false)?),
                ".global" => self.variables(Space::Global, &linkage, &mut source.variables)?,
                ".const" => self.variables(Space::Const, &linkage, &mut source.variables)?,
                ".shared" => self.variables(Space::Shared, &linkage, &mut source.variables)?,
                ".pragma" | ".alias" => self.skip_to(';')?,
                ".section" => self.skip_to('}')?,
                _ => return self.error(format!("unknown directive `{word}`")),
            }
            return Ok(());
        }
    }

    fn function(&mut self, entry: bool) -> Result<Function, LoadError> {
        let returns = if !entry && self.peek_sign('(') {
            self.parameters()?
        } else {
            Vec::new()
        };
        let line = self.line();
        let name = self.word()?;
        let params = if self.peek_sign('(') {
            self.parameters()?
        } else {
            Vec::new()
        };
        let mut max_threads = None;
        loop {
            if self.accept(';') {
                return Ok(Function {
                    name,
                    entry,
                    returns,
                    params,
                    body: None,
                    max_threads,
                    line,
                });
            }
            if self.peek_sign('{') {
                break;
            }
            let directive = self.word()?;
            match directive.as_str() {
                ".maxntid" | ".reqntid" | ".minnctapersm" | ".maxnreg" => {
                    let mut product = self.number()?;
                    while self.accept(',') {
                        product = product.saturating_mul(self.number()?);
                    }
                    if directive.ends_with("ntid") {
                        max_threads = Some(product);
                    }
                }
                ".noreturn" => {}
                ".pragma" => self.skip_to(';')?,
                _ => return self.error(format!("unknown directive `{directive}`")),
            }
        }
        let body = Some(self.body()?);
        Ok(Function {
            name,
            entry,
            returns,
            params,
            body,
            max_threads,
            line,
        })
    }

    fn parameters(&mut self) -> Result<Vec<Variable>, LoadError> {
        let mut out = Vec::new();
        self.expect('(')?;
        while !self.accept(')') {
            let space = self.word()?;
            match space.as_str() {
                ".param" => out.push(self.variable(Space::Param, &Linkage::default())?),
                _ => return self.error(format!("parameters in `{space}` are not known")),
            }
            if !self.peek_sign(')') {
                self.expect(',')?;
            }
        }
        Ok(out)
    }

    fn variables(&mut self, space: Space, linkage: &Linkage, out: &mut Vec<Variable>) -> Result<(), LoadError> {
        out.push(self.variable(space, linkage)?);
        self.expect(';')
    }

    /// `.align 8 .b8 name[16] = {…}`, after the word for the space.
    fn variable(&mut self, space: Space, linkage: &Linkage) -> Result<Variable, LoadError> {
        let mut align = None;
        let mut pointer = false;
        let mut element = None;
        while let Some(word) = self.peek_word().filter(|w| w.starts_with('.')).map(str::to_owned) {
            self.at += 1;
            match word.as_str() {
                // The alignment behind `.ptr` is that of what it points to.
                ".align" => {
                    let bytes = self.number()?;
                    if !pointer {
                        align = Some(bytes);
                    }
                }
                ".ptr" => pointer = true,
                ".global" | ".const" | ".shared" | ".local" if pointer => {}
                ".attribute" => self.skip_to(')')?,
                _ => match Type::parse(&word[1..]).filter(|t| t.class != Class::Predicate) {
                    Some(ty) => element = Some(ty),
                    None => return self.error(format!("unknown type `{word}`")),
                },
            }
        }
        let Some(element) = element else {
            return self.error("a variable without a type");
        };
        let line = self.line();
        let name = self.word()?;
        let mut count: u32 = 1;
        while self.accept('[') {
            if self.accept(']') {
                count = 0;
                continue;
            }
            count = count.saturating_mul(self.number()?);
            self.expect(']')?;
        }
        let mut initial = Vec::new();
        if self.accept('=') {
            if self.accept('{') {
                while !self.accept('}') {
                    initial.push(self.initial(element)?);
                    if !self.peek_sign('}') {
                        self.expect(',')?;
                    }
                }
            } else {
                initial.push(self.initial(element)?);
            }
            if count == 0 {
                count = u32::try_from(initial.len()).unwrap_or(u32::MAX);
            }
        }
        let Some(size) = count.checked_mul(element.bytes()) else {
            return self.error(format!("`{name}` is too large"));
        };
        if initial.len() > count as usize {
            return self.error(format!("`{name}` has more values than elements"));
        }
        let align = align.unwrap_or(element.bytes());
        if !align.is_power_of_two() || align > 256 {
            return self.error(format!("`{name}` has an alignment that is no power of two up to 256"));
        }
        Ok(Variable {
            name,
            space,
            align,
            element,
            size,
            initial,
            external: linkage.external,
            line,
        })
    }

    fn initial(&mut self, element: Type) -> Result<Initial, LoadError> {
        match self.operand()? {
            Operand::Int(value) => Ok(Initial::Bits(value as u64)),
            Operand::Single(bits) => Ok(Initial::Bits(bits.into())),
            Operand::Double(bits) => Ok(Initial::Bits(bits)),
            Operand::Decimal(value) if element.bits == 32 => Ok(Initial::Bits((value as f32).to_bits().into())),
            Operand::Decimal(value) => Ok(Initial::Bits(value.to_bits())),
            Operand::Name(name) if element.bits == 64 => {
                let name = if name == "generic" && self.accept('(') {
                    let inner = self.word()?;
                    self.expect(')')?;
                    inner
                } else {
                    name
                };
                let offset = self.offset()?;
                Ok(Initial::Address(name, offset))
            }
            other => self.error(format!("an initial value that is not known here: {other:?}")),
        }
    }

    fn body(&mut self) -> Result<Vec<Statement>, LoadError> {
        let mut out = Vec::new();
        let mut depth = 0;
        loop {
            if self.done() {
                return self.error("a function that does not end");
            }
            if self.accept('{') {
                depth += 1;
                out.push(Statement::Open);
            } else if self.accept('}') {
                depth -= 1;
                out.push(Statement::Close);
                if depth == 0 {
                    return Ok(out);
                }
            } else if self.accept(';') {
            } else {
                self.statement(&mut out)?;
            }
        }
    }

    fn statement(&mut self, out: &mut Vec<Statement>) -> Result<(), LoadError> {
        match self.peek_word() {
            Some(".reg") => {
                self.at += 1;
                out.push(self.registers()?);
            }
            Some(word @ (".shared" | ".local" | ".param" | ".global" | ".const")) => {
                let space = match word {
                    ".shared" => Space::Shared,
                    ".local" => Space::Local,
                    ".param" => Space::Param,
                    ".global" => Space::Global,
                    _ => Space::Const,
                };
                self.at += 1;
                let variable = self.variable(space, &Linkage::default())?;
                self.expect(';')?;
                out.push(Statement::Variable(variable));
            }
            Some(".pragma") => self.skip_to(';')?,
            Some(word) if word.starts_with('.') => return self.error(format!("unknown directive `{word}`")),
            Some(_) if matches!(self.tokens.get(self.at + 1), Some((Token::Sign(':'), _))) => {
                let label = self.word()?;
                self.expect(':')?;
                out.push(self.labelled(label)?);
            }
            _ => out.push(Statement::Instruction(self.instruction()?)),
        }
        Ok(())
    }

    fn labelled(&mut self, label: String) -> Result<Statement, LoadError> {
        if self.accept_word(".callprototype") {
            let returns = if self.peek_sign('(') {
                self.parameters()?
            } else {
                Vec::new()
            };
            self.word()?;
            let params = if self.peek_sign('(') {
                self.parameters()?
            } else {
                Vec::new()
            };
            self.skip_to(';')?;
            return Ok(Statement::Prototype(label, Prototype { returns, params }));
        }
        if self.accept_word(".branchtargets") {
            let mut targets = vec![self.word()?];
            while self.accept(',') {
                targets.push(self.word()?);
            }
            self.expect(';')?;
            return Ok(Statement::Targets(label, targets));
        }
        Ok(Statement::Label(label))
    }

    fn registers(&mut self) -> Result<Statement, LoadError> {
        let word = self.word()?;
        let Some(ty) = word.strip_prefix('.').and_then(Type::parse) else {
            return self.error(format!("unknown type of register `{word}`"));
        };
        let mut names = Vec::new();
        loop {
            let name = self.word()?;
            let count = if self.accept('<') {
                let count = self.number()?;
                self.expect('>')?;
                Some(count)
            } else {
                None
            };
            names.push((name, count));
            if !self.accept(',') {
                break;
            }
        }
        self.expect(';')?;
        Ok(Statement::Registers(ty, names))
    }

    fn instruction(&mut self) -> Result<Instruction, LoadError> {
        let line = self.line();
        let guard = if self.accept('@') {
            let negated = self.accept('!');
            Some((negated, self.word()?))
        } else {
            None
        };
        let name = self.word()?.split('.').map(str::to_owned).collect();
        let mut operands = Vec::new();
        while !self.accept(';') {
            if self.done() {
                return self.error("an instruction that does not end");
            }
            operands.push(self.operand()?);
            if !self.peek_sign(';') {
                self.expect(',')?;
            }
        }
        Ok(Instruction {
            guard,
            name,
            operands,
            line,
        })
    }

    fn operand(&mut self) -> Result<Operand, LoadError> {
        if self.accept('{') {
            return Ok(Operand::Vector(self.operands_until('}')?));
        }
        if self.accept('(') {
            return Ok(Operand::List(self.operands_until(')')?));
        }
        if self.accept('[') {
            let base = self.operand()?;
            let offset = self.offset()?;
            self.expect(']')?;
            return Ok(Operand::Address(Box::new(base), offset));
        }
        if self.accept('!') {
            return Ok(Operand::Not(self.word()?));
        }
        let negative = self.accept('-');
        let line = self.line();
        let word = self.word()?;
        let operand = literal(&word);
        match (operand, negative) {
            (Some(Operand::Int(value)), true) => Ok(Operand::Int(-value)),
            (Some(Operand::Decimal(value)), true) => Ok(Operand::Decimal(-value)),
            (Some(other), false) => Ok(other),
            (None, false) if word.starts_with(|c: char| c.is_ascii_digit()) => {
                Err(LoadError::new(line, format!("not a number: `{word}`")))
            }
            (None, false) if self.accept('|') => Ok(Operand::Pair(word, self.word()?)),
            (None, false) => Ok(Operand::Name(word)),
            _ => Err(LoadError::new(line, format!("`-{word}` is no operand"))),
        }
    }

    fn operands_until(&mut self, end: char) -> Result<Vec<Operand>, LoadError> {
        let mut out = Vec::new();
        while !self.accept(end) {
            out.push(self.operand()?);
            if !self.peek_sign(end) {
                self.expect(',')?;
            }
        }
        Ok(out)
    }

    /// `+8`, `-8`, `+-8`, or nothing.
    fn offset(&mut self) -> Result<i64, LoadError> {
        let plus = self.accept('+');
        let minus = self.accept('-');
        if !plus && !minus {
            return Ok(0);
        }
        let line = self.line();
        let word = self.word()?;
        let value = integer(&word)
            .and_then(|v| i64::try_from(v).ok())
            .ok_or_else(|| LoadError::new(line, format!("not an offset: `{word}`")))?;
        Ok(if minus { -value } else { value })
    }
}

/// A number as PTX writes it.
fn literal(word: &str) -> Option<Operand> {
    if !word.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if let Some(hex) = word.strip_prefix("0f").or(word.strip_prefix("0F")) {
        return u32::from_str_radix(hex, 16).ok().map(Operand::Single);
    }
    if let Some(hex) = word.strip_prefix("0d").or(word.strip_prefix("0D")) {
        return u64::from_str_radix(hex, 16).ok().map(Operand::Double);
    }
    if let Some(value) = integer(word) {
        return Some(Operand::Int(value));
    }
    word.parse().ok().map(Operand::Decimal)
}

fn integer(word: &str) -> Option<i128> {
    let digits = word.strip_suffix('U').unwrap_or(word);
    if let Some(hex) = digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        return i128::from_str_radix(hex, 16).ok();
    }
    if let Some(binary) = digits.strip_prefix("0b") {
        return i128::from_str_radix(binary, 2).ok();
    }
    if digits.len() > 1 && digits.starts_with('0') && digits.bytes().all(|b| (b'0'..=b'7').contains(&b)) {
        return i128::from_str_radix(digits, 8).ok();
    }
    digits.parse().ok()
}
