//! Loads and stores that stay in their address space.
//!
//! A plain pointer of Rust is a generic address, and each access through it asks first which memory it is. LLVM knows better
//! where it sees the object that a pointer is derived from. For global memory there is an object to derive from, the anchor;
//! shared memory is accessed by assembly, because rustc has no pointers to it.

use core::{
    arch::{asm, global_asm},
    mem::MaybeUninit,
};

use bytemuck::Pod;

// The dynamic shared memory of the launch; an object in global memory; and where a thread that panics finds the fault.
global_asm!(
    ".extern .shared .align 16 .b8 gridwise_shared[];",
    ".visible .global .align 16 .b8 gridwise_anchor[16];",
    ".shared .align 8 .b8 gridwise_fault[8];",
);

unsafe extern "C" {
    /// Its extent is not told: buffers count as parts of it.
    #[link_name = "gridwise_anchor"]
    static mut ANCHOR: [u8; 0];
}

/// The same address, derived from an object that the compiler knows to be in global memory. The sum costs nothing: the
/// assembler of the device cancels the anchor.
///
/// To be used at once: in an enum that may hold an integer instead it would become one, and come out as a generic pointer.
#[inline(always)]
pub(crate) fn in_global<T>(pointer: *mut T) -> *mut T {
    let anchor = (&raw mut ANCHOR).cast::<u8>();
    anchor
        .wrapping_add((pointer as usize).wrapping_sub(anchor as usize))
        .cast()
}

/// The address of a byte of the block's dynamic shared memory, in the window of shared memory.
#[inline(always)]
pub(super) fn shared_address(offset: usize) -> u32 {
    let start: u32;
    // SAFETY: it reads an address.
    unsafe { asm!("mov.u32 {0}, gridwise_shared;", out(reg32) start, options(pure, nomem, nostack, preserves_flags)) };
    start + offset as u32
}

/// The address of global memory in its window.
#[inline(always)]
pub(super) fn global_address<T>(pointer: *mut T) -> u64 {
    let address: u64;
    // SAFETY: it computes an address.
    unsafe {
        asm!("cvta.to.global.u64 {0}, {1};", out(reg64) address, in(reg64) pointer,
            options(pure, nomem, nostack, preserves_flags));
    }
    address
}

macro_rules! pieces {
    ($($load:ident, $store:ident: $piece:ty, $register:ident, $suffix:literal;)*) => { $(
        /// # Safety
        /// The address is aligned and inside shared memory.
        #[inline(always)]
        unsafe fn $load(address: u32) -> $piece {
            let piece: $piece;
            // SAFETY: by the caller.
            unsafe {
                asm!(concat!("ld.shared.", $suffix, " {0}, [{1}];"), out($register) piece, in(reg32) address,
                    options(pure, readonly, nostack, preserves_flags));
            }
            piece
        }

        /// # Safety
        /// The address is aligned and inside shared memory.
        #[inline(always)]
        unsafe fn $store(address: u32, piece: $piece) {
            // SAFETY: by the caller.
            unsafe {
                asm!(concat!("st.shared.", $suffix, " [{0}], {1};"), in(reg32) address, in($register) piece,
                    options(nostack, preserves_flags));
            }
        }
    )* };
}
pieces! {
    load_1, store_1: u16, reg16, "b8";
    load_2, store_2: u16, reg16, "b16";
    load_4, store_4: u32, reg32, "b32";
    load_8, store_8: u64, reg64, "b64";
}

/// # Safety
/// The address is aligned to 16 bytes and inside shared memory.
#[inline(always)]
unsafe fn load_16(address: u32) -> [u64; 2] {
    let (low, high): (u64, u64);
    // SAFETY: by the caller.
    unsafe {
        asm!("ld.shared.v2.b64 {{{0}, {1}}}, [{2}];", out(reg64) low, out(reg64) high, in(reg32) address,
            options(pure, readonly, nostack, preserves_flags));
    }
    [low, high]
}

/// # Safety
/// The address is aligned to 16 bytes and inside shared memory.
#[inline(always)]
unsafe fn store_16(address: u32, [low, high]: [u64; 2]) {
    // SAFETY: by the caller.
    unsafe {
        asm!("st.shared.v2.b64 [{0}], {{{1}, {2}}};", in(reg32) address, in(reg64) low, in(reg64) high,
            options(nostack, preserves_flags));
    }
}

/// Loads from shared memory, in pieces as large as the type's alignment.
///
/// # Safety
/// `offset` is that of a `T`, which has been stored, or anything if every pattern of bits will do.
#[inline(always)]
pub(super) unsafe fn load_shared<T: Pod>(offset: usize) -> T {
    let from = shared_address(offset);
    let mut value = MaybeUninit::<T>::uninit();
    let to = value.as_mut_ptr().cast::<u8>();
    macro_rules! copy {
        ($piece:ty, $load:ident) => {
            for at in (0..size_of::<T>()).step_by(size_of::<$piece>()) {
                // SAFETY: a piece inside the value, aligned as the value is, which is as large as the piece or more.
                let piece = unsafe { $load(from + at as u32) };
                // SAFETY: as above.
                unsafe { to.add(at).cast::<$piece>().write(piece) };
            }
        };
    }
    match align_of::<T>() {
        1 => {
            for at in 0..size_of::<T>() {
                // SAFETY: a byte inside the value.
                let piece = unsafe { load_1(from + at as u32) };
                // SAFETY: as above.
                unsafe { to.add(at).write(piece as u8) };
            }
        }
        2 => copy!(u16, load_2),
        4 => copy!(u32, load_4),
        8 => copy!(u64, load_8),
        _ => copy!([u64; 2], load_16),
    }
    // SAFETY: the pieces together are the value, and any bits are one.
    unsafe { value.assume_init() }
}

/// Stores into shared memory, in pieces as large as the type's alignment.
///
/// # Safety
/// `offset` is that of a `T`.
#[inline(always)]
pub(super) unsafe fn store_shared<T: Pod>(offset: usize, value: T) {
    let to = shared_address(offset);
    let from = (&raw const value).cast::<u8>();
    macro_rules! copy {
        ($piece:ty, $store:ident) => {
            for at in (0..size_of::<T>()).step_by(size_of::<$piece>()) {
                // SAFETY: a piece inside the value, aligned as the value is; plain data has no bytes that are not initialised.
                let piece = unsafe { from.add(at).cast::<$piece>().read() };
                // SAFETY: as above.
                unsafe { $store(to + at as u32, piece) };
            }
        };
    }
    match align_of::<T>() {
        1 => {
            for at in 0..size_of::<T>() {
                // SAFETY: a byte inside the value.
                let piece = unsafe { from.add(at).read() };
                // SAFETY: as above.
                unsafe { store_1(to + at as u32, u16::from(piece)) };
            }
        }
        2 => copy!(u16, store_2),
        4 => copy!(u32, store_4),
        8 => copy!(u64, store_8),
        _ => copy!([u64; 2], store_16),
    }
}
