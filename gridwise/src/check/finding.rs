//! What the checking device found.

use std::{fmt, panic::Location};

use super::Shape;
use crate::{host::report::HangReport, kernel::Scope};

/// What a thread did to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operation {
    /// A plain load.
    Load,
    /// A plain store.
    Store,
    /// An atomic load.
    AtomicLoad,
    /// An atomic store.
    AtomicStore,
    /// An atomic read-modify-write.
    ReadModifyWrite,
    /// A compare-and-swap.
    CompareExchange,
    /// The load that ended a wait.
    Wait,
}

impl Operation {
    pub(crate) fn is_write(self) -> bool {
        matches!(
            self,
            Self::Store | Self::AtomicStore | Self::ReadModifyWrite | Self::CompareExchange
        )
    }

    pub(crate) fn is_read(self) -> bool {
        !matches!(self, Self::Store | Self::AtomicStore)
    }

    pub(crate) fn is_atomic(self) -> bool {
        !matches!(self, Self::Load | Self::Store)
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Load => "plain load",
            Self::Store => "plain store",
            Self::AtomicLoad => "atomic load",
            Self::AtomicStore => "atomic store",
            Self::ReadModifyWrite => "atomic read-modify-write",
            Self::CompareExchange => "compare-and-swap",
            Self::Wait => "wait",
        })
    }
}

/// What was done at a [`Place`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Deed {
    /// An access to memory, atomics with their scope.
    Access(Operation, Scope),
    /// Arrived at a block barrier.
    BlockBarrier,
    /// Arrived at a grid barrier, that many before it.
    GridBarrier(u64),
    /// Took part in an exchange of its warp.
    Warp,
    /// Left the kernel.
    Left,
    /// Left the kernel before it did anything that the device sees: the location says nothing.
    LeftAtOnce,
    /// Waited, or was about to go on.
    Stood,
    /// Panicked.
    Panicked,
    /// Promised something.
    Promised,
    /// Made the last store of the launch.
    StoredLast,
}

/// Where a thread is that has done nothing yet.
pub(crate) const NOWHERE: &Location<'static> = Location::caller();

/// One side of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// The line of the kernel, or of the library below it.
    pub location: &'static Location<'static>,
    /// The block.
    pub block: usize,
    /// The thread in it.
    pub thread: usize,
    /// What it did there.
    pub deed: Deed,
}

impl Place {
    pub(crate) fn new(location: &'static Location<'static>, block: u32, thread: u32, deed: Deed) -> Self {
        let deed = match deed {
            Deed::Left if location == NOWHERE => Deed::LeftAtOnce,
            deed => deed,
        };
        Self {
            location,
            block: block as usize,
            thread: thread as usize,
            deed,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            location,
            block,
            thread,
            deed,
        } = self;
        match deed {
            Deed::Access(operation, scope) if operation.is_atomic() => {
                let scope = match scope {
                    Scope::Block => "block",
                    Scope::Device => "device",
                    Scope::System => "system",
                };
                write!(f, "{operation} at {scope} scope")?;
            }
            Deed::Access(operation, _) => write!(f, "{operation}")?,
            Deed::BlockBarrier => f.write_str("block barrier")?,
            Deed::GridBarrier(before) => write!(f, "grid barrier number {before}")?,
            Deed::Warp => f.write_str("warp exchange")?,
            Deed::Left => f.write_str("left the kernel, last seen")?,
            Deed::LeftAtOnce => {
                let what = "left the kernel before anything that this device sees";
                return write!(f, "{what}, block {block}, thread {thread}");
            }
            Deed::Stood => f.write_str("stood")?,
            Deed::Panicked => f.write_str("panicked, last seen")?,
            Deed::Promised => f.write_str("promise")?,
            Deed::StoredLast => f.write_str("last store")?,
        }
        write!(f, " at {location}, block {block}, thread {thread}")
    }
}

/// Which memory a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Memory {
    /// An element of a buffer.
    Buffer {
        /// Number of the buffer, in the order in which the device made them.
        number: usize,
        /// Where the program made it.
        made_at: &'static Location<'static>,
        /// Index of the element.
        index: usize,
    },
    /// An element of an array in a block's shared memory.
    Shared {
        /// The block.
        block: usize,
        /// Number of the array in the kernel's `Shared`.
        array: usize,
        /// Index of the element.
        index: usize,
    },
    /// The scratch of block collectives.
    Collective {
        /// The block.
        block: usize,
    },
    /// The state of the launch's grid barrier.
    GridBarrier {
        /// Which word of it.
        word: usize,
    },
    /// The slots of grid reductions.
    GridReduction,
    /// Memory that is not the device's.
    Foreign,
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Buffer { number, made_at, index } => {
                write!(f, "element {index} of buffer {number}, made at {made_at}")
            }
            Self::Shared { block, array, index } => {
                write!(f, "element {index} of shared array {array} of block {block}")
            }
            Self::Collective { block } => write!(f, "the scratch for collectives of block {block}"),
            Self::GridBarrier { word } => write!(f, "word {word} of the grid barrier"),
            Self::GridReduction => f.write_str("the slots of grid reductions"),
            Self::Foreign => f.write_str("memory that is not the device's"),
        }
    }
}

/// The order that two accesses lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Missing {
    /// Nothing orders two threads of a block: a block barrier between them would.
    BlockBarrier,
    /// Nothing orders two blocks: a grid barrier would, or a release that the other acquires, at device scope.
    GridBarrier,
    /// The later thread loaded what the earlier stored at or after its access, but one or both lack the order.
    Order {
        /// The store.
        store: &'static Location<'static>,
        /// The load.
        load: &'static Location<'static>,
        /// Whether the store lacks release.
        release: bool,
        /// Whether the load lacks acquire.
        acquire: bool,
    },
    /// As `Order`, through threads between the two: one of them loaded what was released, but did not acquire. The load is too
    /// long ago to be named.
    Acquire,
    /// What the earlier thread did was released, and loaded, but at the scope of one block.
    WiderScope {
        /// The store or fence that released at block scope, if one did.
        release: Option<&'static Location<'static>>,
        /// The load or fence at block scope, if one was. If both are `None`, it is too long ago to be named.
        acquire: Option<&'static Location<'static>>,
    },
    /// Both accesses are atomic, and in different blocks, but towards that other block one of them is not.
    AtomicScope {
        /// Whether the first has block scope.
        first: bool,
        /// Whether the second has block scope.
        second: bool,
    },
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = |f: &mut fmt::Formatter<'_>, parts: [Option<String>; 2]| {
            f.write_str(&parts.into_iter().flatten().collect::<Vec<_>>().join("; "))
        };
        match self {
            Self::Order {
                store,
                load,
                release,
                acquire,
            } => parts(
                f,
                [
                    release.then(|| format!("the store at {store} needs Release, or a release fence before it")),
                    acquire.then(|| format!("the load at {load} needs Acquire, or an acquire fence after it")),
                ],
            ),
            Self::BlockBarrier => f.write_str("nothing orders the two threads of the block; a block barrier would"),
            Self::GridBarrier => f.write_str(
                "nothing orders the two blocks; a grid barrier would, or a release that the other acquires, at device scope",
            ),
            Self::Acquire => f.write_str("the value that the first released was loaded, but not with acquire"),
            Self::WiderScope {
                release: None,
                acquire: None,
            } => f.write_str("there is a release and an acquire, but one has the scope of its block alone"),
            Self::WiderScope { release, acquire } => {
                let told = |what, at: &Option<_>| {
                    at.map(|at: &Location<'_>| format!("the {what} at {at} has the scope of its block, and needs device scope"))
                };
                parts(f, [told("release", release), told("acquire", acquire)])
            }
            Self::AtomicScope { first, second } => {
                let which = match (first, second) {
                    (true, true) => "both have the scope of their block, and need device scope",
                    (true, false) => "the first has the scope of its block, and needs device scope",
                    _ => "the second has the scope of its block, and needs device scope",
                };
                write!(f, "the two are in different blocks, and not atomic to each other: {which}")
            }
        }
    }
}

/// Kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// Two accesses to device memory, at least one a write and not both atomic, that nothing orders.
    GlobalRace,
    /// The same in shared memory.
    SharedRace,
    /// Two accesses that only a wider scope would order.
    ScopeTooNarrow,
    /// Two atomic accesses to the same bytes as words of different sizes, that nothing orders.
    MixedSize,
    /// A read of shared memory that nobody has written.
    Uninitialised,
    /// An access outside of what a view or the device holds.
    OutOfBounds,
    /// Threads of a block, lanes of a warp, or blocks of the grid meet at different barriers.
    BarrierDivergence,
    /// Threads left the kernel while others of their block wait for them at a block barrier or in an exchange of the warp.
    LeftBeforeBarrier,
    /// Blocks reach the grid barrier unequally often.
    GridBarrierUneven,
    /// All wait, and blocks that might help cannot start before one of them ends.
    NeverStarted,
    /// All wait for a block that has started and that the device has stopped, as one without
    /// [`progress`](crate::check::Model::progress) may.
    NoProgress,
    /// A thread waits for a value that was there and is gone.
    LostWakeUp,
    /// All wait, and nobody is left to store what they wait for.
    Deadlock,
    /// A thread loads the same word over and over, and nobody is left to store it: a spin that never ends.
    EndlessSpin,
    /// The launch ran for more operations than it may.
    StepBudget,
    /// A thread panicked.
    Panic,
    /// An element was stored twice that the kernel promises to store once.
    CoveredTwice,
    /// Elements were not stored that the kernel promises to store once.
    NeverCovered,
    /// The launch ended with work left in a queue, or a word at another value than promised.
    UnfinishedWork,
    /// The launch began with a word at another value than promised: state of an earlier launch, used again as it was.
    StaleState,
}

impl Kind {
    /// The kind as one word, for machines.
    pub fn name(self) -> &'static str {
        match self {
            Self::GlobalRace => "global_race",
            Self::SharedRace => "shared_race",
            Self::ScopeTooNarrow => "scope_too_narrow",
            Self::MixedSize => "mixed_size",
            Self::Uninitialised => "uninitialised",
            Self::OutOfBounds => "out_of_bounds",
            Self::BarrierDivergence => "barrier_divergence",
            Self::LeftBeforeBarrier => "left_before_barrier",
            Self::GridBarrierUneven => "grid_barrier_uneven",
            Self::NeverStarted => "never_started",
            Self::NoProgress => "no_progress",
            Self::LostWakeUp => "lost_wake_up",
            Self::Deadlock => "deadlock",
            Self::EndlessSpin => "endless_spin",
            Self::StepBudget => "step_budget",
            Self::Panic => "panic",
            Self::CoveredTwice => "covered_twice",
            Self::NeverCovered => "never_covered",
            Self::UnfinishedWork => "unfinished_work",
            Self::StaleState => "stale_state",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::GlobalRace => "data race in device memory",
            Self::SharedRace => "data race in shared memory",
            Self::ScopeTooNarrow => "scope too narrow",
            Self::MixedSize => "atomics of different sizes on the same bytes",
            Self::Uninitialised => "read of uninitialised shared memory",
            Self::OutOfBounds => "access out of bounds",
            Self::BarrierDivergence => "different barriers meet",
            Self::LeftBeforeBarrier => "threads left before a barrier of their block or warp",
            Self::GridBarrierUneven => "grid barrier reached unequally often",
            Self::NeverStarted => "wait for a block that cannot start",
            Self::NoProgress => "wait for a block that the device has stopped",
            Self::LostWakeUp => "lost wake-up",
            Self::Deadlock => "deadlock",
            Self::EndlessSpin => "spin without end",
            Self::StepBudget => "step budget used up",
            Self::Panic => "panic",
            Self::CoveredTwice => "element stored twice that is promised to be stored once",
            Self::NeverCovered => "elements never stored that are promised to be stored once",
            Self::UnfinishedWork => "unfinished work at the end of the launch",
            Self::StaleState => "state of an earlier launch used again",
        })
    }
}

/// One fault of a kernel.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Finding {
    /// What kind of fault.
    pub kind: Kind,
    /// The kernel.
    pub kernel: &'static str,
    /// The grid that it was found in.
    pub grid: Shape,
    /// The place that came first, or the only one.
    pub first: Place,
    /// The place that came second.
    pub second: Option<Place>,
    /// The memory, where the fault is about memory.
    pub memory: Option<Memory>,
    /// The order that is missing, where one is.
    pub missing: Option<Missing>,
    /// What else there is to say: an index and a length, the text of a panic.
    pub note: Option<String>,
    /// Where all threads stood, if they could not go on.
    pub hang: Option<HangReport>,
    /// Runs the same schedule again, through `GRIDWISE_CHECK_REPLAY`.
    pub replay: String,
}

impl Finding {
    pub(crate) fn new(kind: Kind, kernel: &'static str, first: Place) -> Self {
        Self {
            kind,
            kernel,
            grid: Shape { blocks: 0, threads: 0 },
            first,
            second: None,
            memory: None,
            missing: None,
            note: None,
            hang: None,
            replay: String::new(),
        }
    }

    /// Whether both are the same fault of the source, at other threads or elements.
    pub fn is_like(&self, other: &Self) -> bool {
        let lines = |finding: &Self| {
            let first = finding.first.location;
            let second = finding.second.map_or(first, |second| second.location);
            let key = |location: &Location<'static>| (location.file(), location.line(), location.column());
            let (first, second) = (key(first), key(second));
            (first.min(second), first.max(second))
        };
        self.kind == other.kind && self.kernel == other.kernel && lines(self) == lines(other)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in kernel `{}`", self.kind, self.kernel)?;
        write!(f, "\n    grid     {}", self.grid)?;
        if let Some(memory) = self.memory {
            write!(f, "\n    memory   {memory}")?;
        }
        write!(f, "\n    first    {}", self.first)?;
        if let Some(second) = self.second {
            write!(f, "\n    second   {second}")?;
        }
        if let Some(missing) = self.missing {
            write!(f, "\n    missing  {missing}")?;
            let same_block = self.second.is_some_and(|second| second.block == self.first.block);
            if same_block && matches!(missing, Missing::Order { .. }) {
                f.write_str("; or a block barrier between the two")?;
            }
        }
        if let Some(note) = &self.note {
            write!(f, "\n    note     {}", indented(note))?;
        }
        if let Some(hang) = &self.hang {
            write!(
                f,
                "\n    threads  {}",
                hang.to_string().replace("\n  ", "\n             ")
            )?;
        }
        if !self.replay.is_empty() {
            write!(f, "\n    replay   GRIDWISE_CHECK_REPLAY={}", self.replay)?;
        }
        Ok(())
    }
}

/// Lines below the first stand below it.
fn indented(text: &str) -> String {
    text.replace('\n', "\n             ")
}

/// All findings of a launch, for the text of its error.
#[derive(Clone, Default)]
pub struct Findings(pub Vec<Finding>);

/// As [`Display`](fmt::Display): it is what a test shows that unwraps the result of a launch.
impl fmt::Debug for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, finding) in self.0.iter().enumerate() {
            write!(f, "\n{:>3}. {finding}", number + 1)?;
        }
        Ok(())
    }
}
