//! Several queues: each does its own work in order, all of them and the host go on at once, and an event orders one against
//! another. A piece of work that fails says so, and takes nothing down with it.
//!
//! `cargo run --release --example 05_queues_and_events`

use std::sync::{Mutex, MutexGuard};

use gridwise::{Error, host::launch::LaunchError, prelude::*};

const LEN: usize = 100_000;

/// Raises the index of each element to a power.
#[repr(C)]
struct Powers<'a> {
    out: SpanMut<'a, u64>,
    exponent: u32,
}

impl<'a> Powers<'a> {
    fn of(buffer: &'a mut Buffer<u64>, exponent: u32) -> Self {
        let out = buffer.span_mut();
        Self { out, exponent }
    }
}

// SAFETY: each element is written by the one thread that owns it.
unsafe impl Kernel for Powers<'_> {
    const NAME: &'static str = "powers";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        for i in acc.threads_in_grid(0..self.out.len()) {
            self.out.set(acc, i, (i as u64).pow(self.exponent));
        }
    }
}

/// Adds one array to another.
#[repr(C)]
struct Add<'a> {
    summand: Span<'a, u64>,
    out: SpanMut<'a, u64>,
}

impl<'a> Add<'a> {
    fn of(summand: &'a Buffer<u64>, sums: &'a mut Buffer<u64>) -> Self {
        let (summand, out) = (summand.span(), sums.span_mut());
        Self { summand, out }
    }
}

// SAFETY: each element is read and written by the one thread that owns it.
unsafe impl Kernel for Add<'_> {
    const NAME: &'static str = "add";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        for i in acc.threads_in_grid(0..self.out.len()) {
            self.out.set(acc, i, self.out.get(acc, i) + self.summand[i]);
        }
    }
}

fn main() -> Result<(), Error> {
    let device = Device::from_env()?;
    let grid = Frames::new(LEN, 1024);
    let (filling, adding) = (device.queue(), device.queue());

    // One queue fills a buffer, the other adds it to the sums, three times over. Two events keep them apart; the locks are how
    // the compiler knows that somebody does, and nobody ever waits for them.
    let powers = &Mutex::new(device.zeroed::<u64>(LEN)?);
    let sums = &Mutex::new(device.zeroed::<u64>(LEN)?);
    let (filled, added) = (Event::new(), Event::new());
    let expected = filling.scope(|on_filling| {
        adding.scope(|on_adding| {
            for exponent in 1..=3 {
                on_filling.wait_for(&added); // the first time it was never recorded, and so is complete
                let _ =
                    on_filling.enqueue(move |queue| Ok(queue.launch(grid, Powers::of(&mut lock(powers), exponent))?));
                on_filling.record(&filled);

                on_adding.wait_for(&filled);
                let _ =
                    on_adding.enqueue(move |queue| Ok(queue.launch(grid, Add::of(&lock(powers), &mut lock(sums)))?));
                on_adding.record(&added);
            }
            // None of that need have happened yet: the host goes on meanwhile.
            (0..LEN as u64).map(|i| i + i.pow(2) + i.pow(3)).collect::<Vec<_>>()
        })
    })??;
    let sums = adding.download(&lock(sums))?;
    assert_eq!(sums, expected);

    // A piece is a closure of the host, so whatever has to happen between two launches goes there too; its result comes back
    // through a ticket. So does its failure. The pieces behind it are skipped, and the queue goes on to be of use.
    let out = &Mutex::new(device.zeroed::<u64>(LEN)?);
    let (tenth, failure, skipped) = filling.scope(|scope| {
        let tenth = scope.enqueue(|queue| {
            let powers = &mut *lock(out);
            queue.launch(grid, Powers::of(powers, 3))?;
            Ok(powers.span()[10])
        });
        let failure = scope.enqueue(|queue| {
            let nowhere = Blocks::Exactly(0);
            Ok(queue.launch(nowhere, Powers::of(&mut lock(out), 2))?)
        });
        let skipped = scope.enqueue(|queue| Ok(queue.download(&lock(out))?));
        (tenth.wait(), failure.wait(), skipped.wait())
    })?;
    assert_eq!(tenth?, 1000);
    assert!(matches!(skipped, Err(Error::Skipped)));
    let failure = failure.expect_err("there is no grid without blocks");
    assert!(matches!(failure, Error::Launch(LaunchError::ZeroBlocks { .. })));
    filling.fill(lock(out).span_mut(), 7);

    println!("{}: two queues in turn, {} sums", device.name(), sums.len());
    println!("a piece that fails: {failure}");
    Ok(())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no piece panics while it holds a lock")
}
