//! What elements are sorted by.

use bytemuck::Pod;

/// A type whose values have an order that is that of unsigned integers: a radix sort looks at those, digit by digit.
///
/// ```
/// use gridwise::algorithm::key::SortKey;
///
/// assert!((-1_i32).ordered_bits() < 0_i32.ordered_bits());
/// assert!((-0.0_f64).ordered_bits() < 0.0_f64.ordered_bits());
/// ```
///
/// Floats are in the order of [`f32::total_cmp`]: -0 before +0, numbers that are none before or after all others, by their sign. A
/// type of one's own that holds a key among other things is sorted by that, and stably.
///
/// # Safety
///
/// [`ordered_bits`](Self::ordered_bits) depends on the value alone: asked again, it gives the same integer. Where keys go is made of
/// how many have which digits, and each place is written by one thread only if these agree.
pub unsafe trait SortKey: Pod {
    /// The integer that stands for this value.
    fn ordered_bits(self) -> u64;
}

macro_rules! unsigned {
    ($($t:ident),*) => { $(
        // SAFETY: it depends on the value alone.
        unsafe impl SortKey for $t {
            #[inline(always)]
            fn ordered_bits(self) -> u64 {
                self.into()
            }
        }
    )* };
}
unsigned!(u8, u16, u32, u64);

macro_rules! signed {
    ($($t:ident),*) => { $(
        // SAFETY: it depends on the value alone.
        unsafe impl SortKey for $t {
            #[inline(always)]
            fn ordered_bits(self) -> u64 {
                (self.cast_unsigned() ^ $t::MIN.cast_unsigned()).ordered_bits()
            }
        }
    )* };
}
signed!(i8, i16, i32, i64);

macro_rules! floats {
    ($($t:ident as $signed:ident),*) => { $(
        // SAFETY: it depends on the value alone.
        unsafe impl SortKey for $t {
            #[inline(always)]
            fn ordered_bits(self) -> u64 {
                // Of negative numbers all bits are inverted, of others the sign alone.
                let bits = self.to_bits().cast_signed();
                let negative = bits >> ($signed::BITS - 1);
                (bits ^ (negative | $signed::MIN)).cast_unsigned().into()
            }
        }
    )* };
}
floats!(f32 as i32, f64 as i64);

#[cfg(all(test, feature = "std", not(loom)))]
mod test {
    use super::*;

    fn ascends<K: SortKey + std::fmt::Debug>(keys: &[K]) {
        assert!(
            keys.is_sorted_by(|a, b| a.ordered_bits() < b.ordered_bits()),
            "{keys:?}"
        );
    }

    #[test]
    fn the_order_of_keys_is_that_of_their_bits() {
        ascends(&[0_u8, 1, 127, 128, 255]);
        ascends(&[0_u64, 1, u64::MAX / 2, u64::MAX]);
        ascends(&[i8::MIN, -1, 0, 1, i8::MAX]);
        ascends(&[i32::MIN, -1, 0, 1, i32::MAX]);
        ascends(&[i64::MIN, -1, 0, 1, i64::MAX]);
        let none = f32::NAN.copysign(1.0);
        ascends(&[
            -none,
            f32::NEG_INFINITY,
            -1.0,
            -0.0,
            0.0,
            f32::MIN_POSITIVE,
            1.0,
            f32::INFINITY,
            none,
        ]);
        let none = f64::NAN.copysign(1.0);
        ascends(&[
            -none,
            f64::NEG_INFINITY,
            -1.0,
            -0.0,
            0.0,
            f64::MIN_POSITIVE,
            1.0,
            f64::INFINITY,
            none,
        ]);
    }
}
