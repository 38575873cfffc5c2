//! Atomics and fences: one instruction each, spelt with order and scope.
//!
//! Order, scope and operation are constants wherever a kernel names them, so of each table below one line is left.
//! A sequentially consistent access is a fence and the access, as the memory model of PTX has it.
//!
//! An atomic addition of `f32` in global memory takes subnormal numbers for zero: that is how the hardware does it.

use core::{arch::asm, sync::atomic::Ordering};

use super::memory::{global_address, shared_address};
use crate::kernel::{
    atomic::{Scope, Word, WordKind},
    hardware::{Place, Rmw},
};

/// Calls the macro with the spelling of the scope.
macro_rules! with_scope {
    ($scope:expr, $then:ident!($($arguments:tt)*)) => {
        match $scope {
            Scope::Block => $then!($($arguments)* ".cta"),
            Scope::Device => $then!($($arguments)* ".gpu"),
            Scope::System => $then!($($arguments)* ".sys"),
        }
    };
}

/// One instruction with a result: `$operands` in the registers `{1}`, …
macro_rules! instruction {
    ($register:ident $type:ty, ($($text:expr),*), $address_register:ident $address:expr $(, $operand:expr)*) => {{
        let result: $type;
        // SAFETY: by the caller: the place is one of the launch, aligned.
        unsafe {
            asm!(concat!($($text),*), out($register) result, in($address_register) $address,
                $(in($register) $operand,)* options(nostack, preserves_flags));
        }
        result
    }};
}

/// A place in its window, and the macro for its space: shared memory is the block's, so there a scope is a block.
macro_rules! in_space {
    ($place:expr, $scope:expr, $then:ident!($($arguments:tt)*)) => {
        match $place {
            Place::Global(pointer) => {
                let address = global_address(pointer);
                with_scope!($scope, $then!(".global", reg64 address, $($arguments)*))
            }
            Place::Shared(offset) => {
                let address = shared_address(offset);
                $then!(".shared", reg32 address, $($arguments)* ".cta")
            }
        }
    };
}

/// Fences off what comes before a sequentially consistent access.
#[inline(always)]
fn before(order: Ordering, scope: Scope) {
    if order == Ordering::SeqCst {
        fence(Ordering::SeqCst, scope);
    }
}

macro_rules! accesses {
    ($($load:ident, $store:ident, $rmw:ident, $cas:ident: $bits:ty, $register:ident,
        $b:literal, $u:literal, $s:literal, $f:literal;)*) => { $(
        /// # Safety
        /// The place is one of the launch, aligned.
        #[inline(always)]
        #[track_caller]
        unsafe fn $load(from: Place<$bits>, order: Ordering, scope: Scope) -> $bits {
            macro_rules! spelt {
                ($space:literal, $address_register:ident $address:ident, $order:literal $scope:literal) => {
                    instruction!($register $bits, ("ld", $order, $scope, $space, $b, " {0}, [{1}];"), $address_register $address)
                };
            }
            before(order, scope);
            match order {
                Ordering::Relaxed => in_space!(from, scope, spelt!(".relaxed")),
                Ordering::Acquire | Ordering::SeqCst => in_space!(from, scope, spelt!(".acquire")),
                _ => panic!("there is no such thing as a release load"),
            }
        }

        /// # Safety
        /// The place is one of the launch, aligned.
        #[inline(always)]
        #[track_caller]
        unsafe fn $store(to: Place<$bits>, value: $bits, order: Ordering, scope: Scope) {
            macro_rules! spelt {
                ($space:literal, $address_register:ident $address:ident, $order:literal $scope:literal) => {
                    // SAFETY: by the caller.
                    unsafe {
                        asm!(concat!("st", $order, $scope, $space, $b, " [{0}], {1};"), in($address_register) $address,
                            in($register) value, options(nostack, preserves_flags));
                    }
                };
            }
            before(order, scope);
            match order {
                Ordering::Relaxed => in_space!(to, scope, spelt!(".relaxed")),
                Ordering::Release | Ordering::SeqCst => in_space!(to, scope, spelt!(".release")),
                _ => panic!("there is no such thing as an acquire store"),
            }
        }

        /// # Safety
        /// The place is one of the launch, aligned.
        #[inline(always)]
        unsafe fn $rmw(at: Place<$bits>, kind: WordKind, op: Rmw, value: $bits, order: Ordering, scope: Scope) -> $bits {
            macro_rules! spelt {
                ($space:literal, $address_register:ident $address:ident, $order:literal $op:literal $type:literal $scope:literal) => {
                    instruction!($register $bits,
                        ("atom", $order, $scope, $space, $op, $type, " {0}, [{1}], {2};"),
                        $address_register $address, value)
                };
            }
            macro_rules! ordered {
                ($op:literal $type:literal) => {
                    match order {
                        Ordering::Relaxed => in_space!(at, scope, spelt!(".relaxed" $op $type)),
                        Ordering::Acquire => in_space!(at, scope, spelt!(".acquire" $op $type)),
                        Ordering::Release => in_space!(at, scope, spelt!(".release" $op $type)),
                        _ => in_space!(at, scope, spelt!(".acq_rel" $op $type)),
                    }
                };
            }
            before(order, scope);
            match (op, kind) {
                (Rmw::Add, WordKind::Float) => ordered!(".add" $f),
                // Subtracting is adding what the caller has negated; signed or not, the bits are the same.
                (Rmw::Add | Rmw::Sub, _) => ordered!(".add" $u),
                (Rmw::Min, WordKind::Signed) => ordered!(".min" $s),
                (Rmw::Min, _) => ordered!(".min" $u),
                (Rmw::Max, WordKind::Signed) => ordered!(".max" $s),
                (Rmw::Max, _) => ordered!(".max" $u),
                (Rmw::And, _) => ordered!(".and" $b),
                (Rmw::Or, _) => ordered!(".or" $b),
                (Rmw::Xor, _) => ordered!(".xor" $b),
                (Rmw::Exchange, _) => ordered!(".exch" $b),
            }
        }

        /// # Safety
        /// The place is one of the launch, aligned.
        #[inline(always)]
        unsafe fn $cas(at: Place<$bits>, current: $bits, new: $bits, order: Ordering, scope: Scope) -> $bits {
            macro_rules! spelt {
                ($space:literal, $address_register:ident $address:ident, $order:literal $scope:literal) => {
                    instruction!($register $bits,
                        ("atom", $order, $scope, $space, ".cas", $b, " {0}, [{1}], {2}, {3};"),
                        $address_register $address, current, new)
                };
            }
            before(order, scope);
            match order {
                Ordering::Relaxed => in_space!(at, scope, spelt!(".relaxed")),
                Ordering::Acquire => in_space!(at, scope, spelt!(".acquire")),
                Ordering::Release => in_space!(at, scope, spelt!(".release")),
                _ => in_space!(at, scope, spelt!(".acq_rel")),
            }
        }
    )* };
}
accesses! {
    load_32, store_32, rmw_32, cas_32: u32, reg32, ".b32", ".u32", ".s32", ".f32";
    load_64, store_64, rmw_64, cas_64: u64, reg64, ".b64", ".u64", ".s64", ".f64";
}

#[inline(always)]
fn place_of<T, U>(place: Place<T>) -> Place<U> {
    match place {
        Place::Global(pointer) => Place::Global(pointer.cast()),
        Place::Shared(offset) => Place::Shared(offset),
    }
}

/// # Safety
/// The place is one of the launch, aligned.
#[inline(always)]
#[track_caller]
pub(super) unsafe fn load<T: Word>(from: Place<T>, order: Ordering, scope: Scope) -> T {
    if size_of::<T>() == 4 {
        // SAFETY: by the caller.
        bytemuck::cast(unsafe { load_32(place_of(from), order, scope) })
    } else {
        // SAFETY: by the caller; words have four or eight bytes.
        bytemuck::cast(unsafe { load_64(place_of(from), order, scope) })
    }
}

/// # Safety
/// The place is one of the launch, aligned.
#[inline(always)]
#[track_caller]
pub(super) unsafe fn store<T: Word>(to: Place<T>, value: T, order: Ordering, scope: Scope) {
    if size_of::<T>() == 4 {
        // SAFETY: by the caller.
        unsafe { store_32(place_of(to), bytemuck::cast(value), order, scope) }
    } else {
        // SAFETY: by the caller; words have four or eight bytes.
        unsafe { store_64(place_of(to), bytemuck::cast(value), order, scope) }
    }
}

/// # Safety
/// The place is one of the launch, aligned.
#[inline(always)]
pub(super) unsafe fn rmw<T: Word>(at: Place<T>, op: Rmw, operand: T, order: Ordering, scope: Scope) -> T {
    let (op, operand) = match op {
        Rmw::Sub => (Rmw::Add, operand.negated()),
        op => (op, operand),
    };
    if size_of::<T>() == 4 {
        // SAFETY: by the caller.
        bytemuck::cast(unsafe { rmw_32(place_of(at), T::KIND, op, bytemuck::cast(operand), order, scope) })
    } else {
        // SAFETY: by the caller; words have four or eight bytes.
        bytemuck::cast(unsafe { rmw_64(place_of(at), T::KIND, op, bytemuck::cast(operand), order, scope) })
    }
}

/// # Safety
/// The place is one of the launch, aligned.
#[inline(always)]
pub(super) unsafe fn cas<T: Word>(
    at: Place<T>,
    current: T,
    new: T,
    (success, failure): (Ordering, Ordering),
    scope: Scope,
) -> Result<T, T> {
    let order = together(success, failure);
    let (before, equal) = if size_of::<T>() == 4 {
        let current: u32 = bytemuck::cast(current);
        // SAFETY: by the caller.
        let before = unsafe { cas_32(place_of(at), current, bytemuck::cast(new), order, scope) };
        (bytemuck::cast(before), before == current)
    } else {
        let current: u64 = bytemuck::cast(current);
        // SAFETY: by the caller; words have four or eight bytes.
        let before = unsafe { cas_64(place_of(at), current, bytemuck::cast(new), order, scope) };
        (bytemuck::cast(before), before == current)
    };
    if equal { Ok(before) } else { Err(before) }
}

/// The order of a compare-and-swap, which has only one here.
#[inline(always)]
#[track_caller]
fn together(success: Ordering, failure: Ordering) -> Ordering {
    match (success, failure) {
        (_, Ordering::Release | Ordering::AcqRel) => panic!("there is no such thing as a release load"),
        (Ordering::SeqCst, _) | (_, Ordering::SeqCst) => Ordering::SeqCst,
        (Ordering::Relaxed, failure) => failure,
        (Ordering::Release, Ordering::Acquire) => Ordering::AcqRel,
        (success, _) => success,
    }
}

/// A memory fence. Acquire and release fences are one instruction on this device, and the same one.
#[inline(always)]
#[track_caller]
pub(super) fn fence(order: Ordering, scope: Scope) {
    macro_rules! spelt {
        ($order:literal $scope:literal) => {
            // SAFETY: a fence has no operands.
            unsafe {
                asm!(
                    concat!("fence", $order, $scope, ";"),
                    options(nostack, preserves_flags)
                )
            }
        };
    }
    match order {
        Ordering::Relaxed => panic!("there is no such thing as a relaxed fence"),
        Ordering::SeqCst => with_scope!(scope, spelt!(".sc")),
        _ => with_scope!(scope, spelt!(".acq_rel")),
    }
}
