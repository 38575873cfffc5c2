//! What crosses from the host to the entry of a kernel: the one parameter that every entry has. Both sides compile this file.
//!
//! Beside its dynamic shared memory, every entry has 8 bytes of static shared memory, where a thread that panics finds the
//! [`Fault`]: what the driver says of the function counts, not the layout alone.
#![cfg_attr(not(any(feature = "cuda", target_arch = "nvptx64")), allow(dead_code))]

use crate::kernel::grid_barrier::GridState;

/// The largest parameter that an entry may have, in bytes: what the driver takes from every version of PTX.
pub(crate) const MOST_PARAMETER_BYTES: usize = 4096;

/// The parameter of an entry, by value.
#[repr(C)]
pub struct Parameters<K> {
    /// What the library needs.
    pub(crate) context: Context,
    /// The kernel.
    pub(crate) kernel: K,
}

/// What the library needs in every launch.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Context {
    /// Where a thread says why the launch failed: memory of the host that the device reaches, so that it can be read after the
    /// device has trapped.
    pub(crate) fault: *mut Fault,
    /// Elements in each dynamic shared array.
    pub(crate) dynamic_len: usize,
    /// The grid barrier, in a cooperative launch; else nothing that is looked at.
    pub(crate) grid: GridState,
}

/// Bytes of text in a [`Fault`]: longer ones are cut at the front, where a path has its least telling part.
pub(crate) const FAULT_TEXT: usize = 176;

/// Why a launch failed: which thread, and where in the source. There is no message: one that needs no formatting stands in the
/// source, at that place. A panic handler that so much as looks whether a message is such a one keeps the values alive that others
/// would show, and what would format them: a quarter more registers, measured, for a kernel that indexes a slice.
///
/// The first thread that fails takes `state` from 0 to 1 (relaxed, system scope), fills in the rest, and
/// stores 2 (release, system scope) before it traps.
///
/// The host stores 3 to make every thread that waits leave, when time runs out: they take it for a failure of another thread.
#[repr(C)]
pub(crate) struct Fault {
    /// 0: none. 1: being written. 2: complete. 3: the host gives the launch up.
    pub(crate) state: u32,
    /// What it was, one of the constants of [`FaultKind`].
    pub(crate) kind: u32,
    /// The thread's block.
    pub(crate) block: u64,
    /// The thread in it.
    pub(crate) thread: u64,
    /// For [`FaultKind::OUT_OF_BOUNDS`]: the index.
    pub(crate) index: u64,
    /// For [`FaultKind::OUT_OF_BOUNDS`]: the length.
    pub(crate) len: u64,
    /// Line of the source, 0 if it is not known.
    pub(crate) line: u32,
    /// Column of the source.
    pub(crate) column: u32,
    /// Bytes of the file's name.
    pub(crate) file_bytes: u32,
    /// Nothing: fills the line.
    pub(crate) _unused: u32,
    /// The end of the file's name.
    pub(crate) file: [u8; FAULT_TEXT],
}

/// What a [`Fault`] was.
pub(crate) struct FaultKind;

impl FaultKind {
    /// The kernel panicked.
    pub(crate) const PANIC: u32 = 1;
    /// An index was not below the length of a view.
    pub(crate) const OUT_OF_BOUNDS: u32 = 2;
}
