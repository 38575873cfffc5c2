//! Atomic words with scope and order.

use core::{marker::PhantomData, panic::Location, sync::atomic::Ordering};

use bytemuck::Pod;

use super::{
    acc::Acc,
    hardware::{Place, Rmw, Sealed, WaitFor, WaitSite, WordPromise},
};

/// Who takes part in the ordering of an atomic or a fence.
///
/// On a CPU all scopes are alike; on a GPU a narrower scope is cheaper, and too narrow a scope is a bug that the checking
/// device names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// The threads of one block.
    Block,
    /// All threads of one device.
    Device,
    /// All threads of all devices, and the host.
    System,
}

/// Scopes as types, for [`Atomic`].
pub mod scope {
    use super::Sealed;

    /// A scope as a type.
    pub trait IsScope: Sealed + Copy + 'static {
        /// The scope as a value.
        const SCOPE: super::Scope;
    }
    macro_rules! scopes {
        ($($(#[$doc:meta])* $name:ident),*) => { $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            pub struct $name;
            impl Sealed for $name {}
            impl IsScope for $name {
                const SCOPE: super::Scope = super::Scope::$name;
            }
        )* };
    }
    scopes! {
        /// The threads of one block.
        Block,
        /// All threads of one device.
        Device,
        /// All threads of all devices, and the host.
        System
    }
}

/// How a word counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum WordKind {
    /// `u32`, `u64`.
    Unsigned,
    /// `i32`, `i64`.
    Signed,
    /// `f32`, `f64`.
    Float,
}

/// A type that atomics work on: `u32`, `u64`, `i32`, `i64`, `f32`, `f64`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no word that atomics work on",
    label = "no atomic word",
    note = "atomic words are `u32`, `u64`, `i32`, `i64`, `f32` and `f64`"
)]
pub trait Word: Pod + Sealed + PartialEq + core::fmt::Debug {
    /// How it counts.
    #[doc(hidden)]
    const KIND: WordKind;

    /// What is added to subtract `self`.
    #[doc(hidden)]
    fn negated(self) -> Self;

    /// Applies a read-modify-write to a value: what the operation means, for back ends without the instruction.
    #[doc(hidden)]
    fn apply(self, op: Rmw, operand: Self) -> Self;

    /// The read-modify-write on host memory.
    ///
    /// # Safety
    /// `at` is valid, aligned, and accessed atomically by all who access it at the time.
    #[doc(hidden)]
    unsafe fn host_rmw(at: *mut Self, op: Rmw, operand: Self, order: Ordering) -> Self;
}

/// A [`Word`] with the integer operations.
pub trait IntegerWord: Word + Eq + Ord {}

macro_rules! integer_words {
    ($($t:ty, $atomic:ident, $kind:ident;)*) => { $(
        impl Sealed for $t {}
        impl IntegerWord for $t {}
        impl Word for $t {
            const KIND: WordKind = WordKind::$kind;

            #[inline(always)]
            fn negated(self) -> Self {
                self.wrapping_neg()
            }

            #[inline(always)]
            fn apply(self, op: Rmw, operand: Self) -> Self {
                match op {
                    Rmw::Add => self.wrapping_add(operand),
                    Rmw::Sub => self.wrapping_sub(operand),
                    Rmw::Min => self.min(operand),
                    Rmw::Max => self.max(operand),
                    Rmw::And => self & operand,
                    Rmw::Or => self | operand,
                    Rmw::Xor => self ^ operand,
                    Rmw::Exchange => operand,
                }
            }

            #[inline(always)]
            unsafe fn host_rmw(at: *mut Self, op: Rmw, operand: Self, order: Ordering) -> Self {
                // SAFETY: by the caller.
                let word = unsafe { core::sync::atomic::$atomic::from_ptr(at) };
                match op {
                    Rmw::Add => word.fetch_add(operand, order),
                    Rmw::Sub => word.fetch_sub(operand, order),
                    Rmw::Min => word.fetch_min(operand, order),
                    Rmw::Max => word.fetch_max(operand, order),
                    Rmw::And => word.fetch_and(operand, order),
                    Rmw::Or => word.fetch_or(operand, order),
                    Rmw::Xor => word.fetch_xor(operand, order),
                    Rmw::Exchange => word.swap(operand, order),
                }
            }
        }
    )* };
}
integer_words! {
    u32, AtomicU32, Unsigned;
    i32, AtomicI32, Signed;
    u64, AtomicU64, Unsigned;
    i64, AtomicI64, Signed;
}

macro_rules! float_words {
    ($($t:ty, $atomic:ident;)*) => { $(
        impl Sealed for $t {}
        impl Word for $t {
            const KIND: WordKind = WordKind::Float;

            #[inline(always)]
            fn negated(self) -> Self {
                -self
            }

            #[inline(always)]
            fn apply(self, op: Rmw, operand: Self) -> Self {
                match op {
                    Rmw::Add => self + operand,
                    Rmw::Sub => self - operand,
                    Rmw::Exchange => operand,
                    Rmw::Min | Rmw::Max | Rmw::And | Rmw::Or | Rmw::Xor => unreachable!("the methods of floats do not offer it"),
                }
            }

            #[inline(always)]
            unsafe fn host_rmw(at: *mut Self, op: Rmw, operand: Self, order: Ordering) -> Self {
                // SAFETY: by the caller; the integer has the float's size and alignment.
                let word = unsafe { core::sync::atomic::$atomic::from_ptr(at.cast()) };
                let mut before = word.load(Ordering::Relaxed);
                loop {
                    let after = <$t>::from_bits(before).apply(op, operand).to_bits();
                    match word.compare_exchange_weak(before, after, order, Ordering::Relaxed) {
                        Ok(before) => return <$t>::from_bits(before),
                        Err(now) => before = now,
                    }
                }
            }
        }
    )* };
}
float_words! { f32, AtomicU32; f64, AtomicU64; }

/// An atomic word in device memory, from [`SpanMut::atomic`](super::SpanMut::atomic).
///
/// All operations take the memory order; the scope is in the type, device by default.
pub struct Atomic<'a, T, S = scope::Device> {
    place: *mut T,
    _borrow: PhantomData<(&'a [T], S)>,
}

/// An atomic word in shared memory, from [`SharedArray::atomic`](super::SharedArray::atomic). Its scope is the block.
pub struct SharedAtomic<T> {
    place: usize,
    _type: PhantomData<T>,
}

impl<T, S> Clone for Atomic<'_, T, S> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, S> Copy for Atomic<'_, T, S> {}
impl<T> Clone for SharedAtomic<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for SharedAtomic<T> {}

impl<'a, T: Word, S: scope::IsScope> Atomic<'a, T, S> {
    /// # Safety
    /// `place` is valid for accesses by the launch for `'a`, and aligned.
    #[inline(always)]
    pub(crate) unsafe fn new(place: *mut T) -> Self {
        Self {
            place,
            _borrow: PhantomData,
        }
    }

    /// The same word at another scope.
    #[inline(always)]
    pub fn scoped<N: scope::IsScope>(self) -> Atomic<'a, T, N> {
        Atomic {
            place: self.place,
            _borrow: PhantomData,
        }
    }

    #[inline(always)]
    fn at(self) -> (Place<T>, Scope) {
        (Place::Global(self.place), S::SCOPE)
    }
}

impl<T: Word> SharedAtomic<T> {
    /// # Safety
    /// `place` lies inside the block's shared memory, aligned.
    #[inline(always)]
    pub(crate) unsafe fn new(place: usize) -> Self {
        Self {
            place,
            _type: PhantomData,
        }
    }

    #[inline(always)]
    fn at(self) -> (Place<T>, Scope) {
        (Place::Shared(self.place), Scope::Block)
    }
}

/// The bit pattern of a word, widened.
#[inline(always)]
pub(crate) fn bits<T: Word>(value: T) -> u64 {
    if size_of::<T>() == 4 {
        u64::from(bytemuck::cast::<T, u32>(value))
    } else {
        bytemuck::cast(value)
    }
}

impl<T: Word, S: scope::IsScope> Atomic<'_, T, S> {
    /// Promises that the word held `value` when the launch began: that state which is made for one launch was put back before
    /// this one. The checking device names the promise that does not hold; elsewhere it does nothing. Before the first store.
    #[inline(always)]
    #[track_caller]
    pub fn promise_began_at<A: Acc>(self, acc: A, value: T) {
        acc.promise_word(self.at().0, WordPromise::BeganAt(bits(value)));
    }

    /// Promises that the word holds `value` when the launch ends: that a barrier is back at its start, that a queue of one's own
    /// is empty. The checking device names the promise that does not hold; elsewhere it does nothing. A later promise replaces
    /// it.
    #[inline(always)]
    #[track_caller]
    pub fn promise_ends_at<A: Acc>(self, acc: A, value: T) {
        acc.promise_word(self.at().0, WordPromise::EndsAt(bits(value)));
    }

    /// Promises that the word, which counts what was taken, is at least `value` when the launch ends; `None` takes a promise
    /// back.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn promise_drained<A: Acc>(self, acc: A, value: Option<T>) {
        let promise = value.map_or(WordPromise::Withdrawn, |value| WordPromise::Drained(bits(value)));
        acc.promise_word(self.at().0, promise);
    }
}

macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident = $op:ident),* $(,)?) => { $(
        $(#[$doc])*
        #[inline(always)]
        #[track_caller]
        pub fn $name<A: Acc>(self, acc: A, operand: T, order: Ordering) -> T {
            let (place, scope) = self.at();
            // SAFETY: `place` is valid and aligned by the constructor's contract.
            unsafe { acc.atomic_rmw(place, Rmw::$op, operand, order, scope) }
        }
    )* };
}

macro_rules! atomic_methods {
    ([$($generics:tt)*] $type:ty, [$($integer_generics:tt)*]) => {
        impl<$($generics)*> $type {
            /// Loads. `order` is `Relaxed`, `Acquire` or `SeqCst`.
            ///
            /// # Panics
            /// If `order` is `Release` or `AcqRel`, which a load cannot have.
            #[inline(always)]
            #[track_caller]
            pub fn load<A: Acc>(self, acc: A, order: Ordering) -> T {
                let (place, scope) = self.at();
                // SAFETY: `place` is valid and aligned by the constructor's contract.
                unsafe { acc.atomic_load(place, order, scope) }
            }

            /// Stores. `order` is `Relaxed`, `Release` or `SeqCst`.
            ///
            /// # Panics
            /// If `order` is `Acquire` or `AcqRel`, which a store cannot have.
            #[inline(always)]
            #[track_caller]
            pub fn store<A: Acc>(self, acc: A, value: T, order: Ordering) {
                let (place, scope) = self.at();
                // SAFETY: `place` is valid and aligned by the constructor's contract.
                unsafe { acc.atomic_store(place, value, order, scope) }
            }

            /// Replaces `current` by `new` if the bits are equal: `Ok(before)`, else `Err(before)`. Never fails spuriously.
            ///
            /// # Panics
            /// If `failure` is `Release` or `AcqRel`.
            #[inline(always)]
            #[track_caller]
            pub fn compare_exchange<A: Acc>(
                self,
                acc: A,
                current: T,
                new: T,
                success: Ordering,
                failure: Ordering,
            ) -> Result<T, T> {
                let (place, scope) = self.at();
                // SAFETY: `place` is valid and aligned by the constructor's contract.
                unsafe { acc.atomic_cas(place, current, new, (success, failure), scope) }
            }

            /// Waits until `ready` holds of the word and returns the value it held of.
            ///
            /// A CPU spins, then yields, then sleeps; a GPU backs off. A launch that is aborted (a panic elsewhere, a
            /// timeout, a deadlock) leaves the wait. `ready` may be called any number of times, and depends on the word
            /// only: where it looks at the time or at what the host does, threads that wait for that may be reported as a
            /// deadlock. The checking device does not let it store, wait, or meet others.
            ///
            /// # Memory ordering
            /// The load that `ready` accepted has `order`: with `Acquire`, all that was written before the matching release
            /// is visible when this returns.
            #[inline(always)]
            #[track_caller]
            pub fn wait_until<A: Acc>(self, acc: A, order: Ordering, ready: impl FnMut(T) -> bool) -> T {
                let (place, scope) = self.at();
                let site = WaitSite { what: WaitFor::Word, location: Location::caller() };
                // SAFETY: `place` is valid and aligned by the constructor's contract.
                unsafe { acc.wait_until(place, order, scope, site, ready) }
            }

            /// Looks at the word until `ready` holds of it, but not for long, and returns what it saw last: for who can do something
            /// else than wait, and so needs nobody to go on meanwhile. How often it looks is the device's to choose: about as
            /// long as a few thousand operations take, or twice where threads take turns.
            ///
            /// # Memory ordering
            /// Every look has `order`: with `Acquire`, all that was written before the release of the value returned is visible.
            #[inline(always)]
            #[track_caller]
            pub fn wait_briefly<A: Acc>(self, acc: A, order: Ordering, ready: impl FnMut(T) -> bool) -> T {
                let (place, scope) = self.at();
                // SAFETY: `place` is valid and aligned by the constructor's contract.
                unsafe { acc.wait_briefly(place, order, scope, ready) }
            }

            operations! {
                /// Adds (integers wrap) and returns the value before.
                fetch_add = Add,
                /// Subtracts (integers wrap) and returns the value before.
                fetch_sub = Sub,
                /// Replaces the value and returns the one before.
                swap = Exchange,
            }
        }

        impl<$($integer_generics)*> $type {
            operations! {
                /// Keeps the smaller and returns the value before.
                fetch_min = Min,
                /// Keeps the larger and returns the value before.
                fetch_max = Max,
                /// Bitwise and; returns the value before.
                fetch_and = And,
                /// Bitwise or; returns the value before.
                fetch_or = Or,
                /// Bitwise exclusive or; returns the value before.
                fetch_xor = Xor,
            }
        }
    };
}
atomic_methods!([T: Word, S: scope::IsScope] Atomic<'_, T, S>, [T: IntegerWord, S: scope::IsScope]);
atomic_methods!([T: Word] SharedAtomic<T>, [T: IntegerWord]);
