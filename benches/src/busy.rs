//! Work of a known length between two synchronisation points.
//!
//! A chain of dependent operations: it touches no memory and is the same in Rust and C. A loop that watches the clock would end at a multiple of the
//! clock's own cost, a large part of a barrier. Each link is a shift, an exclusive or and a product: of `a x + c` LLVM folds eight links into one and GCC
//! does not, and the same count of steps took eight times as long in C.

use std::hint::black_box;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// `steps` links of the chain, from `value`; returns its end, to be fed into the next piece of work.
#[inline(always)]
pub fn work(steps: u64, value: u64) -> u64 {
    let mut value = value;
    for _ in 0..steps {
        value = (value ^ (value >> 29)).wrapping_mul(6_364_136_223_846_793_005);
    }
    black_box(value)
}

/// How many steps take `duration`, by the fastest of several measurements (the first call takes some milliseconds).
pub fn steps_for(duration: Duration) -> u64 {
    static PER_MILLISECOND: OnceLock<f64> = OnceLock::new();
    let rate = PER_MILLISECOND.get_or_init(|| {
        let steps = 200_000;
        let fastest = (0..21).map(|_| alone(1, steps)).min().unwrap_or_default();
        steps as f64 / (fastest.as_secs_f64() * 1e3).max(1e-9)
    });
    (duration.as_secs_f64() * 1e3 * rate).round() as u64
}

/// How long `rounds` pieces of `steps` steps take with nothing between them: what to subtract for the overhead of what stands between.
pub fn alone(rounds: u64, steps: u64) -> Duration {
    let start = Instant::now();
    let mut value = black_box(1);
    for _ in 0..rounds {
        value = work(steps, value);
    }
    start.elapsed()
}
