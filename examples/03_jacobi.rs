//! Jacobi's method for Laplace's equation on a plate, converging inside the kernel: one launch, hundreds of sweeps, no word
//! from the host. Each sweep ends in a grid barrier that also finds the largest change anywhere.
//!
//! `cargo run --release --example 03_jacobi`

use gridwise::prelude::*;

const HEIGHT: usize = 50;
const WIDTH: usize = 67;
const TOLERANCE: f32 = 3e-4;
const MOST_SWEEPS: usize = 20_000;

#[repr(C)]
struct Jacobi<'a> {
    /// Sweep `s` reads array `s % 2` and writes the other. Both hold the boundary, which is never written.
    plates: [SpanMut<'a, f32>; 2],
    sweeps: SpanMut<'a, u64>,
}

// SAFETY: in a sweep each thread writes its own points of one plate and all read the other; the grid barrier in `reduce_grid`
// separates sweeps, and because all threads get the same largest change, all leave after the same one.
unsafe impl GridKernel for Jacobi<'_> {
    const NAME: &'static str = "jacobi";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        let mut sweep = 0;
        loop {
            let (from, to) = (&self.plates[sweep % 2], &self.plates[(sweep + 1) % 2]);
            let mut largest = 0;
            // Along a row a thread's points are consecutive on a CPU: slice the rows, and the inner loop is a plain loop over
            // slices, with no check and no index arithmetic in it.
            for run in acc.runs_in_grid([1..HEIGHT - 1, 1..WIDTH - 1]) {
                let (at, n) = (run.start[0] * WIDTH + run.start[1], run.len);
                let [north, south] = [at - WIDTH, at + WIDTH].map(|at| from.slice(acc, at..at + n));
                let [west, here, east] = [at - 1, at, at + 1].map(|at| from.slice(acc, at..at + n));
                let out = to.slice(acc, at..at + n);
                for i in 0..n {
                    let new = mean(north.get(acc, i), west.get(acc, i), east.get(acc, i), south.get(acc, i));
                    largest = largest.max(change(new, here.get(acc, i)));
                    out.set(acc, i, new);
                }
            }
            sweep += 1;
            let largest = acc.reduce_grid(largest, u32::max);
            if largest <= TOLERANCE.to_bits() || sweep == MOST_SWEEPS {
                break;
            }
        }
        if acc.block_index() == 0 && acc.thread_index() == 0 {
            self.sweeps.set(acc, 0, sweep as u64);
        }
    }
}

fn mean(north: f32, west: f32, east: f32, south: f32) -> f32 {
    0.25 * ((north + south) + (west + east))
}

/// How far a point moved, as bits: floats that are not negative are ordered like their bits, NaN comes last, and the maximum of
/// integers vectorises.
fn change(new: f32, old: f32) -> u32 {
    (new - old).abs().to_bits()
}

fn main() -> Result<(), gridwise::Error> {
    // Cold, but for the first row.
    let mut plate = vec![0.0; HEIGHT * WIDTH];
    plate[..WIDTH].fill(1.0);

    let device = Device::from_env()?;
    let queue = device.queue();
    let mut plates = [queue.upload(&plate)?, queue.upload(&plate)?];
    let mut sweeps = device.zeroed(1)?;
    queue.launch_cooperative(
        Blocks::Resident,
        Jacobi {
            plates: plates.each_mut().map(|plate| plate.span_mut()),
            sweeps: sweeps.span_mut(),
        },
    )?;
    let sweeps = queue.download(&sweeps)?[0] as usize;
    let result = queue.download(&plates[sweeps % 2])?;

    let (expected, expected_sweeps) = sequential(plate);
    assert_eq!(sweeps, expected_sweeps);
    assert!(sweeps < MOST_SWEEPS, "it did not converge");
    assert!(
        result
            .iter()
            .map(|x| x.to_bits())
            .eq(expected.iter().map(|x| x.to_bits()))
    );
    println!(
        "{}: converged in {sweeps} sweeps of one launch, to the bits of the sequential loop",
        device.name()
    );
    Ok(())
}

fn sequential(mut from: Vec<f32>) -> (Vec<f32>, usize) {
    let mut to = from.clone();
    for sweep in 1.. {
        let mut largest = 0;
        for row in 1..HEIGHT - 1 {
            for at in row * WIDTH + 1..(row + 1) * WIDTH - 1 {
                to[at] = mean(from[at - WIDTH], from[at - 1], from[at + 1], from[at + WIDTH]);
                largest = largest.max(change(to[at], from[at]));
            }
        }
        (from, to) = (to, from);
        if largest <= TOLERANCE.to_bits() || sweep == MOST_SWEEPS {
            return (from, sweep);
        }
    }
    unreachable!("the loop has no end but its return")
}
