//! One kernel cut into phases, run in two structures: as one resident grid with barriers between the phases, and as one launch a
//! phase. Both give the same bits, and a grid too large to be resident is run the second way by itself.
//!
//! `cargo run --release --example 04_phases`

use gridwise::prelude::*;

const N: usize = 34;
const TOLERANCE: f32 = 1e-5;
const MOST_STEPS: usize = 5_000;

/// Gauss and Seidel's method with the points of a plate coloured like a chess board: the neighbours of a black point are all
/// white, so a phase updates all points of one colour at once, and a step is black, then white.
#[repr(C)]
struct ChessBoard<'a> {
    plate: SpanMut<'a, f32>,
    /// The largest change of a step, as bits; two words that alternate by the parity of the step.
    largest: SpanMut<'a, u32>,
}

// SAFETY: in a phase each thread writes its own points of one colour and reads only the other colour; `largest` is written by
// atomics, but for the word of the next step, which one thread clears in phase 1: all have read it in `proceed` before phase
// 0. `proceed` reads the word of its own step, which phase 0 of the next leaves alone.
unsafe impl Phased for ChessBoard<'_> {
    const NAME: &'static str = "chess_board";
    type Shared = ();
    const PHASES: usize = 2;

    fn phase<A: Acc>(self, acc: A, _: (), at: Phase) {
        let mut largest = 0;
        for [row, column] in acc.threads_in_grid([1..N - 1, 1..N - 1]) {
            if (row + column) % 2 == at.index {
                let here = row * N + column;
                let [north, west, east, south] =
                    [here - N, here - 1, here + 1, here + N].map(|neighbour| self.plate.get(acc, neighbour));
                let new = 0.25 * ((north + south) + (west + east));
                // Floats that are not negative are ordered like their bits.
                largest = largest.max((new - self.plate.get(acc, here)).abs().to_bits());
                self.plate.set(acc, here, new);
            }
        }
        // One atomic a block, not one a thread.
        let largest = acc.reduce_block(largest, u32::max);
        if acc.thread_index() == 0 {
            let word = self.largest.atomic(at.step % 2);
            word.fetch_max(acc, largest, Ordering::Relaxed);
            if at.index == 1 && acc.block_index() == 0 {
                self.largest.set(acc, (at.step + 1) % 2, 0);
            }
        }
    }

    fn proceed<A: Acc>(self, acc: A, step: usize) -> bool {
        self.largest.get(acc, step % 2) > TOLERANCE.to_bits() && step + 1 < MOST_STEPS
    }
}

fn main() -> Result<(), gridwise::Error> {
    // Cold, but for the first row.
    let mut plate = vec![0.0; N * N];
    plate[..N].fill(1.0);
    let (expected, steps) = sequential(plate.clone());
    assert!(steps < MOST_STEPS, "it did not converge");

    let device = Device::from_env()?;
    let queue = device.queue();
    let fits = Blocks::Resident;
    let too_large = Blocks::Exactly(device.most_resident_blocks() + 1);
    for (strategy, blocks) in [
        (Strategy::Persistent, fits),
        (Strategy::Relaunch, fits),
        (Strategy::Auto, fits),
        (Strategy::Auto, too_large),
    ] {
        let mut on_device = queue.upload(&plate)?;
        let mut largest = device.zeroed(2)?;
        let report = queue.run(
            ChessBoard {
                plate: on_device.span_mut(),
                largest: largest.span_mut(),
            },
            RunOptions::default().strategy(strategy).grid(blocks),
        )?;
        let result = queue.download(&on_device)?;
        assert_eq!(report.steps, steps);
        assert!(
            result
                .iter()
                .map(|x| x.to_bits())
                .eq(expected.iter().map(|x| x.to_bits()))
        );
        println!(
            "{strategy:?} on {} blocks: {} steps, {}, because {}",
            report.blocks, report.steps, report.structure, report.reason
        );
    }
    Ok(())
}

fn sequential(mut plate: Vec<f32>) -> (Vec<f32>, usize) {
    let mut steps = 0;
    loop {
        let mut largest = 0.0_f32;
        for colour in 0..2 {
            for (row, column) in (1..N - 1).flat_map(|row| (1..N - 1).map(move |column| (row, column))) {
                if (row + column) % 2 == colour {
                    let here = row * N + column;
                    let new = 0.25 * ((plate[here - N] + plate[here + N]) + (plate[here - 1] + plate[here + 1]));
                    largest = largest.max((new - plate[here]).abs());
                    plate[here] = new;
                }
            }
        }
        steps += 1;
        if largest <= TOLERANCE || steps == MOST_STEPS {
            return (plate, steps);
        }
    }
}
