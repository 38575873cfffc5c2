//! What kernels share, with each other and with the tests.

use gridwise::{
    algorithm::operator::{Operator, Predicate},
    kernel::Acc,
};

/// Wastes time that differs between threads, so that they arrive in all orders.
pub fn skew(amount: usize) {
    for _ in 0..amount {
        core::hint::spin_loop();
    }
}

/// Lets time pass.
pub fn pause<A: Acc>(acc: A, milliseconds: u64) {
    #[cfg(not(target_arch = "nvptx64"))]
    {
        let _ = acc;
        std::thread::sleep(core::time::Duration::from_millis(milliseconds));
    }
    #[cfg(target_arch = "nvptx64")]
    {
        let start = acc.clock();
        while acc.clock() - start < milliseconds * 1_000_000 {}
    }
}

/// An affine map `x -> a x + b`, whose composition is associative and not commutative.
pub type Affine = [u64; 2];

/// First `f`, then `g`.
pub fn then(f: Affine, g: Affine) -> Affine {
    let [a, b] = f;
    let [c, d] = g;
    [a.wrapping_mul(c), b.wrapping_mul(c).wrapping_add(d)]
}

/// The map of member number `index` of something.
pub fn affine(index: usize) -> Affine {
    [2 * index as u64 + 3, 7 * index as u64 + 1]
}

/// [`then`] as an operator.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct Then {
    nothing: [u8; 0],
}

impl Operator<Affine> for Then {
    fn apply(self, left: Affine, right: Affine) -> Affine {
        then(left, right)
    }
}

/// Whether a number is a multiple of this one, or always, if this is 0.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct MultipleOf(pub u32);

impl Predicate<u32> for MultipleOf {
    fn holds(self, element: u32) -> bool {
        self.0 == 0 || element.is_multiple_of(self.0)
    }
}
