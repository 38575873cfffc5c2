//! The decoded form: what the executor runs.

use super::lift::{Binary, Compare, Ternary, Unary};
use std::collections::HashMap;

/// A predicate and whether it is negated, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Predicate(u32);

impl Predicate {
    /// Holds for every lane, in every function.
    pub(crate) const TRUE: Predicate = Predicate(1);
    /// Holds for no lane.
    pub(crate) const FALSE: Predicate = Predicate(0);
    /// The predicates with the numbers below this are those two constants and the carry.
    pub(crate) const FIRST: u32 = 2;
    /// Where the carry of `add.cc` is kept.
    pub(crate) const CARRY: u32 = 1;

    pub(crate) fn new(index: u32, negated: bool) -> Predicate {
        Predicate(index << 1 | u32::from(negated))
    }

    /// The lanes for which it holds.
    #[inline(always)]
    pub(crate) fn lanes(self, predicates: &[u32]) -> u32 {
        let lanes = predicates[(self.0 >> 1) as usize];
        if self.0 & 1 == 1 { !lanes } else { lanes }
    }
}

/// One decoded instruction.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) guard: Predicate,
    /// Something jumps here: lanes may meet.
    pub(crate) join: bool,
    pub(crate) op: Op,
}

#[derive(Debug)]
pub(crate) enum Op {
    Nop,
    Unary {
        f: Unary,
        d: u32,
        a: u32,
    },
    Binary {
        f: Binary,
        d: u32,
        a: u32,
        b: u32,
    },
    Ternary {
        f: Ternary,
        d: u32,
        a: u32,
        b: u32,
        c: u32,
    },
    Compare {
        f: Compare,
        p: u32,
        q: Option<u32>,
        a: u32,
        b: u32,
        with: Option<(Logic, Predicate)>,
    },
    Select {
        d: u32,
        a: u32,
        b: u32,
        p: Predicate,
    },
    Logic {
        how: Logic,
        p: u32,
        a: Predicate,
        b: Predicate,
    },
    Table {
        d: u32,
        a: u32,
        b: u32,
        c: u32,
        table: u8,
    },
    Insert {
        d: u32,
        a: u32,
        b: u32,
        start: u32,
        length: u32,
        bits: u32,
    },
    Carry {
        d: u32,
        a: u32,
        b: u32,
        bits: u32,
        subtract: bool,
        read: bool,
        write: bool,
    },
    Pack {
        d: u32,
        parts: [u32; 4],
        count: u8,
        bits: u8,
    },
    Unpack {
        d: [u32; 4],
        a: u32,
        count: u8,
        bits: u8,
    },
    Special {
        d: u32,
        what: Special,
    },
    IsSpace {
        p: u32,
        a: u32,
        space: Where,
    },
    Load(Access),
    Store(Access),
    Atomic(Box<Atomic>),
    Jump {
        to: u32,
    },
    Table32 {
        index: u32,
        targets: Box<[u32]>,
    },
    Call(Box<Call>),
    Return,
    Exit,
    Trap,
    Breakpoint,
    Sleep {
        a: u32,
    },
    Barrier(Box<Barrier>),
    Collective(Box<Collective>),
    ActiveMask {
        d: u32,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Logic {
    And,
    Or,
    Xor,
}

impl Logic {
    #[inline(always)]
    pub(crate) fn apply(self, a: u32, b: u32) -> u32 {
        match self {
            Logic::And => a & b,
            Logic::Or => a | b,
            Logic::Xor => a ^ b,
        }
    }
}

/// Special registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Special {
    ThreadIndex(u8),
    BlockSize(u8),
    BlockIndex(u8),
    GridSize(u8),
    Lane,
    LaneMask(MaskOf),
    Warp,
    Warps,
    Multiprocessor,
    Multiprocessors,
    GridId,
    Clock32,
    Clock64,
    Timer64,
    Timer32High,
    Timer32Low,
    DynamicShared,
    TotalShared,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MaskOf {
    Equal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

/// Which memory an address points into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Where {
    Generic,
    Global,
    Shared,
    Local,
    /// The parameters of the kernel.
    Param,
}

#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub(crate) space: Where,
    /// The register with the address, and what is added to it.
    pub(crate) base: u32,
    pub(crate) offset: i64,
    /// Bytes of an element, and elements.
    pub(crate) size: u8,
    pub(crate) count: u8,
    pub(crate) signed: bool,
    /// A load that others' stores are looked for with: volatile, relaxed or acquire.
    pub(crate) poll: bool,
    pub(crate) rows: [u32; 4],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtomicOp {
    And,
    Or,
    Xor,
    Exchange,
    CompareExchange,
    Add,
    Increment,
    Decrement,
    MinUnsigned,
    MaxUnsigned,
    MinSigned,
    MaxSigned,
    AddSingle,
    AddDouble,
}

#[derive(Debug)]
pub(crate) struct Atomic {
    pub(crate) op: AtomicOp,
    pub(crate) space: Where,
    pub(crate) base: u32,
    pub(crate) offset: i64,
    /// Bytes: 2, 4 or 8.
    pub(crate) size: u8,
    pub(crate) d: Option<u32>,
    pub(crate) b: u32,
    /// The new value of a compare and exchange.
    pub(crate) c: u32,
}

#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) callee: Callee,
    /// `(offset in the caller's frame, bytes)` of each argument.
    pub(crate) arguments: Vec<(u32, u32)>,
    pub(crate) returns: Vec<(u32, u32)>,
}

#[derive(Debug)]
pub(crate) enum Callee {
    Function(u32),
    Register(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BarrierKind {
    Sync,
    Arrive,
    Count,
    And,
    Or,
}

#[derive(Debug)]
pub(crate) struct Barrier {
    pub(crate) kind: BarrierKind,
    pub(crate) id: u32,
    pub(crate) count: Option<u32>,
    pub(crate) aligned: bool,
    /// Register or predicate, by kind.
    pub(crate) d: u32,
    pub(crate) p: Predicate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShuffleMode {
    Up,
    Down,
    Butterfly,
    Index,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReduceOp {
    Add,
    And,
    Or,
    Xor,
    MinUnsigned,
    MaxUnsigned,
    MinSigned,
    MaxSigned,
}

#[derive(Debug)]
pub(crate) enum CollectiveKind {
    Sync,
    Shuffle {
        mode: ShuffleMode,
        d: u32,
        p: Option<u32>,
        a: u32,
        b: u32,
        c: u32,
    },
    All {
        d: u32,
        p: Predicate,
    },
    Any {
        d: u32,
        p: Predicate,
    },
    Uniform {
        d: u32,
        p: Predicate,
    },
    Ballot {
        d: u32,
        p: Predicate,
    },
    MatchAny {
        d: u32,
        a: u32,
        bits: u32,
    },
    MatchAll {
        d: u32,
        p: Option<u32>,
        a: u32,
        bits: u32,
    },
    Reduce {
        op: ReduceOp,
        d: u32,
        a: u32,
    },
}

#[derive(Debug)]
pub(crate) struct Collective {
    pub(crate) kind: CollectiveKind,
    /// The register with the lanes that take part.
    pub(crate) members: u32,
}

/// A constant that a function keeps in a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Constant {
    Value(u64),
    /// The address of a variable of the module, by number.
    Variable(u32),
    /// The address of a function, by number.
    Function(u32),
    /// Where dynamic shared memory starts: behind the static, which depends on the kernel.
    DynamicShared(u32),
    /// An offset into the thread's frame; added up when the frame is made.
    Frame(u32),
}

/// A parameter: where it is and how large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Bytes from the start of the parameters.
    pub offset: u32,
    /// Size in bytes.
    pub size: u32,
}

#[derive(Debug)]
pub(crate) struct FunctionCode {
    pub(crate) name: String,
    pub(crate) kernel: bool,
    pub(crate) start: u32,
    /// Rows, constants included, and predicates.
    pub(crate) rows: u32,
    pub(crate) predicates: u32,
    /// Registers as declared, in words of 32 bits: an upper bound of what hardware would need.
    pub(crate) words: u32,
    pub(crate) constants: Vec<(u32, Constant)>,
    pub(crate) params: Vec<Parameter>,
    pub(crate) param_bytes: u32,
    pub(crate) returns: Vec<Parameter>,
    /// Bytes of the frame: parameters, stack, and what calls pass.
    pub(crate) frame: u32,
    /// Of the frame, the variables that are declared `.local`.
    pub(crate) local: u32,
    /// End of the shared variables that it or what it calls uses.
    pub(crate) shared: u32,
    pub(crate) calls: Vec<u32>,
    pub(crate) calls_unknown: bool,
    pub(crate) max_threads: Option<u32>,
    pub(crate) mnemonics: Vec<String>,
}

/// A variable of the module as the loader needs it.
#[derive(Debug)]
pub(crate) struct GlobalVariable {
    pub(crate) name: String,
    pub(crate) size: u32,
    pub(crate) read_only: bool,
    pub(crate) element: u32,
    pub(crate) initial: Vec<GlobalInitial>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GlobalInitial {
    Bits(u64),
    Address(Constant, i64),
}

/// A module: its code, its kernels, its variables. Nothing in it belongs to a device yet.
#[derive(Debug, Default)]
pub struct Module {
    pub(crate) version: String,
    pub(crate) target: String,
    pub(crate) steps: Vec<Step>,
    pub(crate) lines: Vec<u32>,
    pub(crate) functions: Vec<FunctionCode>,
    pub(crate) kernels: HashMap<String, u32>,
    pub(crate) globals: Vec<GlobalVariable>,
    pub(crate) text: Vec<String>,
}
