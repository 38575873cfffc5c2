//! What the compiler has to know as an operation of many threads, and special registers.
//!
//! Declared as intrinsics of LLVM, which are `convergent`: never copied into the arms of a branch, as inline assembly is.

mod llvm {
    unsafe extern "C" {
        #[link_name = "llvm.nvvm.barrier.cta.sync.aligned.all"]
        pub(super) fn barrier(barrier: u32);
        #[link_name = "llvm.nvvm.barrier.cta.red.popc.aligned.all"]
        pub(super) fn barrier_count(barrier: u32, vote: bool) -> u32;
        #[link_name = "llvm.nvvm.barrier.cta.red.or.aligned.all"]
        pub(super) fn barrier_any(barrier: u32, vote: bool) -> bool;
        #[link_name = "llvm.nvvm.barrier.cta.red.and.aligned.all"]
        pub(super) fn barrier_all(barrier: u32, vote: bool) -> bool;
        #[link_name = "llvm.nvvm.vote.ballot.sync"]
        pub(super) fn ballot(lanes: u32, vote: bool) -> u32;
        #[link_name = "llvm.nvvm.shfl.sync.idx.i32"]
        pub(super) fn shuffle(lanes: u32, value: u32, from: u32, clamp: u32) -> u32;
        #[link_name = "llvm.nvvm.nanosleep"]
        pub(super) fn sleep(nanoseconds: u32);
        #[link_name = "llvm.nvvm.read.ptx.sreg.tid.x"]
        pub(super) fn thread() -> u32;
        #[link_name = "llvm.nvvm.read.ptx.sreg.ntid.x"]
        pub(super) fn threads() -> u32;
        #[link_name = "llvm.nvvm.read.ptx.sreg.ctaid.x"]
        pub(super) fn block() -> u32;
        #[link_name = "llvm.nvvm.read.ptx.sreg.nctaid.x"]
        pub(super) fn blocks() -> u32;
        #[link_name = "llvm.nvvm.read.ptx.sreg.globaltimer"]
        pub(super) fn nanoseconds() -> u64;
        #[link_name = "llvm.trap"]
        pub(super) fn trap() -> !;
    }
}

macro_rules! registers {
    ($($(#[$doc:meta])* $name:ident -> $type:ty;)*) => { $(
        $(#[$doc])*
        #[inline(always)]
        pub(super) fn $name() -> $type {
            // SAFETY: reads a special register.
            unsafe { llvm::$name() }
        }
    )* };
}
registers! {
    /// Index of the thread in its block.
    thread -> u32;
    /// Threads in each block.
    threads -> u32;
    /// Index of the block.
    block -> u32;
    /// Blocks in the grid.
    blocks -> u32;
    /// A clock that all multiprocessors share.
    nanoseconds -> u64;
}

/// The one hardware barrier that is used.
const BARRIER: u32 = 0;

/// Meets the other threads of the block.
#[inline(always)]
pub(super) fn barrier() {
    // SAFETY: that every thread of the block comes is the promise of the kernel's author.
    unsafe { llvm::barrier(BARRIER) }
}

/// Meets the other threads of the block, and counts the votes.
#[inline(always)]
pub(super) fn barrier_count(vote: bool) -> u32 {
    // SAFETY: as for `barrier`.
    unsafe { llvm::barrier_count(BARRIER, vote) }
}

/// Meets the other threads of the block; whether one of them votes `true`.
#[inline(always)]
pub(super) fn barrier_any(vote: bool) -> bool {
    // SAFETY: as for `barrier`.
    unsafe { llvm::barrier_any(BARRIER, vote) }
}

/// Meets the other threads of the block; whether all of them vote `true`.
#[inline(always)]
pub(super) fn barrier_all(vote: bool) -> bool {
    // SAFETY: as for `barrier`.
    unsafe { llvm::barrier_all(BARRIER, vote) }
}

/// One bit for each of `lanes` that votes `true`. All of them have to call it.
#[inline(always)]
pub(super) fn ballot(lanes: u32, vote: bool) -> u32 {
    // SAFETY: that every lane comes is the promise of the kernel's author.
    unsafe { llvm::ballot(lanes, vote) }
}

/// `value` of the lane `from`. All of `lanes` have to call it.
#[inline(always)]
pub(super) fn shuffle(lanes: u32, value: u32, from: u32) -> u32 {
    // SAFETY: as for `ballot`.
    unsafe { llvm::shuffle(lanes, value, from, 31) }
}

/// Lets others run for about that long.
#[inline(always)]
pub(super) fn sleep(nanoseconds: u32) {
    // SAFETY: it has no effect on memory.
    unsafe { llvm::sleep(nanoseconds) }
}

/// Ends the launch, and the use of this device by the program.
#[inline(always)]
pub(super) fn trap() -> ! {
    // SAFETY: it does not return.
    unsafe { llvm::trap() }
}
