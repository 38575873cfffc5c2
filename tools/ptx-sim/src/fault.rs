//! What went wrong in a kernel, and where.

use std::fmt;

/// The kind of a [`Fault`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// An access outside of every allocation, outside of the block's shared memory, or a store to constants.
    IllegalAddress,
    /// An address that is no multiple of the access's size.
    Misaligned,
    /// `trap` was reached.
    Trap,
    /// Threads of one block stand at different barriers, or some have left and will never come.
    BarrierDivergence,
    /// Lanes of one warp wait for lanes that stand elsewhere.
    WarpDivergence,
    /// All threads wait, or look at memory that nobody changes any more.
    Deadlock,
    /// More instructions than the limit.
    StepLimit,
    /// A barrier's number or count is out of range or contradicts another's.
    InvalidBarrier,
    /// A call to what is no function, or a jump outside of its table.
    IllegalInstruction,
    /// The threads' stack is used up.
    StackOverflow,
    /// The device was told to stop.
    Stopped,
}

/// What went wrong in a kernel, and where.
#[derive(Clone, Debug)]
pub struct Fault {
    /// What it is.
    pub kind: FaultKind,
    /// The kernel.
    pub kernel: String,
    /// The line of the PTX text.
    pub line: u32,
    /// What stands there.
    pub instruction: String,
    /// The block's index.
    pub block: [u32; 3],
    /// The thread's index in its block.
    pub thread: [u32; 3],
    /// The address, where one is to blame.
    pub address: Option<u64>,
    /// More, in words.
    pub detail: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            FaultKind::IllegalAddress => "illegal address",
            FaultKind::Misaligned => "misaligned address",
            FaultKind::Trap => "trap",
            FaultKind::BarrierDivergence => "barrier divergence",
            FaultKind::WarpDivergence => "warp divergence",
            FaultKind::Deadlock => "deadlock",
            FaultKind::StepLimit => "step limit reached",
            FaultKind::InvalidBarrier => "invalid barrier",
            FaultKind::IllegalInstruction => "illegal instruction",
            FaultKind::StackOverflow => "stack overflow",
            FaultKind::Stopped => "stopped",
        };
        write!(
            f,
            "{what} in `{}`, block {:?}, thread {:?}, line {}: `{}`",
            self.kernel, self.block, self.thread, self.line, self.instruction
        )?;
        if let Some(address) = self.address {
            write!(f, ", address {address:#x}")?;
        }
        if !self.detail.is_empty() {
            write!(f, ": {}", self.detail)?;
        }
        Ok(())
    }
}

impl std::error::Error for Fault {}

/// Why a launch did not happen, or did not end well.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum LaunchError {
    /// No kernel has this name.
    NoSuchKernel(String),
    /// A size that the device does not take, and which.
    InvalidSize(&'static str),
    /// A cooperative launch whose blocks cannot be resident together: blocks asked for, and blocks that fit.
    NotResident(u64, u64),
    /// The parameters have another size than the kernel's: given, wanted.
    ParameterSize(usize, usize),
    /// The kernel went wrong.
    Fault(Box<Fault>),
}

impl fmt::Display for LaunchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LaunchError::NoSuchKernel(name) => write!(f, "no kernel `{name}`"),
            LaunchError::InvalidSize(what) => write!(f, "the device does not take this {what}"),
            LaunchError::NotResident(asked, fit) => write!(f, "{asked} blocks cannot be resident together, {fit} can"),
            LaunchError::ParameterSize(given, wanted) => {
                write!(f, "{given} bytes of parameters for a kernel that takes {wanted}")
            }
            LaunchError::Fault(fault) => write!(f, "{fault}"),
        }
    }
}

impl std::error::Error for LaunchError {}
