//! A grid barrier: every block writes, all meet, every block reads what the others wrote. Round after round in one launch.
//!
//! `cargo run --release --example 02_grid_barrier`

use gridwise::prelude::*;

const ROUNDS: usize = 1000;

/// Adds one to everything and moves it one place to the left, `ROUNDS` times, from one array to the other and back.
#[repr(C)]
struct Rotate<'a> {
    arrays: [SpanMut<'a, u32>; 2],
}

// SAFETY: in a round each thread writes its own elements of one array and all read the other; a grid barrier separates rounds,
// and every thread takes part in all of them.
unsafe impl GridKernel for Rotate<'_> {
    const NAME: &'static str = "rotate";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        let n = self.arrays[0].len();
        for round in 0..ROUNDS {
            let (from, to) = (&self.arrays[round % 2], &self.arrays[(round + 1) % 2]);
            for i in acc.threads_in_grid(0..n) {
                to.set(acc, i, from.get(acc, (i + 1) % n) + 1);
            }
            acc.sync_grid();
        }
    }
}

fn main() -> Result<(), gridwise::Error> {
    let n = 4099;
    let device = Device::from_env()?;
    let queue = device.queue();
    let mut a = queue.upload(&(0..n).collect::<Vec<u32>>())?;
    let mut b = device.zeroed::<u32>(n as usize)?;
    queue.launch_cooperative(
        Blocks::Resident,
        Rotate {
            arrays: [a.span_mut(), b.span_mut()],
        },
    )?;

    let rounds = ROUNDS as u32;
    let expected: Vec<u32> = (0..n).map(|i| (i + rounds) % n + rounds).collect();
    assert_eq!(queue.download(&a)?, expected);
    println!("{}: {ROUNDS} rounds in one launch", device.name());

    // A grid that cannot be resident is refused, on every device: it would wait for blocks that never start.
    let too_many = Blocks::Exactly(device.most_resident_blocks() + 1);
    let refused = queue.launch_cooperative(
        too_many,
        Rotate {
            arrays: [a.span_mut(), b.span_mut()],
        },
    );
    println!("one block more: {}", refused.expect_err("the grid does not fit"));
    Ok(())
}
