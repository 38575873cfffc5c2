//! What algorithms combine elements with, and what they make of them before.

/// A binary operator: a closure, or a type of its own.
///
/// ```
/// use gridwise::algorithm::operator::{Max, Operator, Sum};
///
/// assert_eq!(Sum.apply(2_u32, 3), 5);
/// assert_eq!(Max.apply(2.0_f64, 3.0), 3.0);
/// assert_eq!((|a: i32, b: i32| a * b).apply(2, 3), 6);
/// ```
///
/// On a CPU and on the checking device any `Fn(T, T) -> T` will do that many threads may share. A kernel that is compiled ahead,
/// for a GPU, is listed by its type, and so needs an operator that has a name: one of those here, or a type of one's own that is
/// `repr(C)` and has a field, be it one of no size, `[u8; 0]`.
///
/// An operator has to be associative, `a ∘ (b ∘ c) = (a ∘ b) ∘ c`, at least up to rounding, and to depend on nothing but its
/// arguments. It need not be commutative: algorithms keep the order of the elements.
pub trait Operator<T>: Copy + Send + Sync {
    /// Whether `a ∘ b = b ∘ a`, so that elements may be taken in another order: neighbours side by side, as vector units and the
    /// threads of a GPU would have them. A closure does not say; for a type of one's own, `false` is always right.
    const COMMUTATIVE: bool = false;

    /// `left ∘ right`.
    fn apply(self, left: T, right: T) -> T;
}

impl<T, F: Fn(T, T) -> T + Copy + Send + Sync> Operator<T> for F {
    #[inline(always)]
    fn apply(self, left: T, right: T) -> T {
        self(left, right)
    }
}

macro_rules! named {
    ($($(#[$doc:meta])* $name:ident;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        #[repr(C)]
        pub struct $name {
            // The compiler takes a type without fields for one that no other compiler knows.
            nothing: [u8; 0],
        }

        $(#[$doc])*
        #[expect(non_upper_case_globals, reason = "it is written like a type without fields, which it cannot be")]
        pub const $name: $name = $name { nothing: [] };
    )* };
}
named! {
    /// Addition; of integers modulo their size, as atomics add.
    Sum;
    /// The smaller of two; of floats the one that is a number, if the other is not.
    Min;
    /// The larger of two; of floats the one that is a number, if the other is not.
    Max;
    /// Leaves elements as they are.
    Unchanged;
    /// Takes unsigned integers for indices. What is too large for one is the largest.
    AsIndex;
}

macro_rules! operators {
    ($($t:ty: $add:expr;)*) => { $(
        impl Operator<$t> for Sum {
            const COMMUTATIVE: bool = true;

            #[inline(always)]
            fn apply(self, left: $t, right: $t) -> $t {
                $add(left, right)
            }
        }
        impl Operator<$t> for Min {
            const COMMUTATIVE: bool = true;

            #[inline(always)]
            fn apply(self, left: $t, right: $t) -> $t {
                left.min(right)
            }
        }
        impl Operator<$t> for Max {
            const COMMUTATIVE: bool = true;

            #[inline(always)]
            fn apply(self, left: $t, right: $t) -> $t {
                left.max(right)
            }
        }
    )* };
}
operators! {
    u32: u32::wrapping_add;
    i32: i32::wrapping_add;
    u64: u64::wrapping_add;
    i64: i64::wrapping_add;
    usize: usize::wrapping_add;
    f32: core::ops::Add::add;
    f64: core::ops::Add::add;
}

/// What elements are selected by: a closure, or a type of its own. What is said of [`Operator`] about names holds here, too.
pub trait Predicate<T>: Copy + Send + Sync {
    /// Whether the element is one of them. It depends on nothing but its argument: an element is asked about several
    /// times. What is selected if the answers differ is not said; nothing worse happens.
    fn holds(self, element: T) -> bool;
}

impl<T, F: Fn(T) -> bool + Copy + Send + Sync> Predicate<T> for F {
    #[inline(always)]
    fn holds(self, element: T) -> bool {
        self(element)
    }
}

/// What is made of an element before algorithms use it: a closure, or, for kernels that are compiled ahead, a type of its own.
/// What is said of [`Operator`] about names holds here, too.
///
/// ```
/// use gridwise::algorithm::operator::{AsIndex, Transform, Unchanged};
///
/// assert_eq!((|x: f32| f64::from(x)).apply(0.5), 0.5_f64);
/// assert_eq!(Unchanged.apply(7_u64), 7);
/// assert_eq!(AsIndex.apply(7_u8), 7_usize);
/// ```
pub trait Transform<T, U>: Copy + Send + Sync {
    /// What becomes of an element. Depends on nothing but that.
    fn apply(self, element: T) -> U;
}

impl<T, U, F: Fn(T) -> U + Copy + Send + Sync> Transform<T, U> for F {
    #[inline(always)]
    fn apply(self, element: T) -> U {
        self(element)
    }
}

impl<T> Transform<T, T> for Unchanged {
    #[inline(always)]
    fn apply(self, element: T) -> T {
        element
    }
}

macro_rules! indices {
    ($($t:ty),*) => { $(
        impl Transform<$t, usize> for AsIndex {
            #[inline(always)]
            fn apply(self, element: $t) -> usize {
                usize::try_from(element).unwrap_or(usize::MAX)
            }
        }
    )* };
}
indices!(u8, u16, u32, u64);
