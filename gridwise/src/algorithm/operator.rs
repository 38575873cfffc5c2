//! What algorithms combine elements with.

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
}

macro_rules! operators {
    ($($t:ty: $add:expr;)*) => { $(
        impl Operator<$t> for Sum {
            #[inline(always)]
            fn apply(self, left: $t, right: $t) -> $t {
                $add(left, right)
            }
        }
        impl Operator<$t> for Min {
            #[inline(always)]
            fn apply(self, left: $t, right: $t) -> $t {
                left.min(right)
            }
        }
        impl Operator<$t> for Max {
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
    /// Whether the element is one of them. It depends on nothing but its argument: an element may be asked about several times.
    fn holds(self, element: T) -> bool;
}

impl<T, F: Fn(T) -> bool + Copy + Send + Sync> Predicate<T> for F {
    #[inline(always)]
    fn holds(self, element: T) -> bool {
        self(element)
    }
}
