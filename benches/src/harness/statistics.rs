//! Quartiles, and the order of samples.

/// The three quartiles of a set of values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quartiles {
    /// A quarter of the values lies below.
    pub lower: f64,
    /// Half of the values lies below.
    pub median: f64,
    /// Three quarters of the values lie below.
    pub upper: f64,
}

impl Quartiles {
    /// The quartiles of `values`, interpolated between neighbours; NaN without any.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let at = |fraction: f64| {
            let Some(last) = values.len().checked_sub(1) else {
                return f64::NAN;
            };
            let position = fraction * last as f64;
            let below = position.floor() as usize;
            let above = (below + 1).min(last);
            values[below] + (values[above] - values[below]) * (position - below as f64)
        };
        Self {
            lower: at(0.25),
            median: at(0.5),
            upper: at(0.75),
        }
    }
}

/// Shuffles the order of contenders; the same sequence of orders in every run.
pub(super) struct Shuffle(u64);

impl Shuffle {
    pub(super) fn new() -> Self {
        Self(0x9E37_79B9_7F4A_7C15)
    }

    pub(super) fn apply(&mut self, order: &mut [usize]) {
        for last in (1..order.len()).rev() {
            // Marsaglia's xorshift, "Xorshift RNGs", 2003.
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            order.swap(last, (self.0 % (last as u64 + 1)) as usize);
        }
    }
}
