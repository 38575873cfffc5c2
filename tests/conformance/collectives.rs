//! Collectives of block, grid and warp: in order, the same everywhere.

use std::thread;

use gridwise::prelude::*;

use conformance_kernels::collectives::{
    BackToBack, BlockCollectives, Broadcast, Combine, GridReductions, IDENTITY, LargeValues, PARTS, Warps,
};

use crate::support::{Affine, affine, blocks_of, cooperative_grids, queue, team, then};

/// Blocks in which the tests of this file run.
fn shapes(device: &Device) -> impl Iterator<Item = usize> {
    [1, 2, 3, 4, 5, 7, 8]
        .into_iter()
        .filter(move |&threads| threads == 1 || team(device, threads) == Some(threads))
}

pub(crate) fn broadcast_evaluates_once_and_reaches_all(device: &Device) {
    let queue = queue(device);
    for threads in shapes(device) {
        let mut evaluations = device.zeroed(1).unwrap();
        let mut out = device.zeroed(3 * threads).unwrap();
        let kernel = Broadcast {
            evaluations: evaluations.span_mut(),
            out: out.span_mut(),
        };
        queue.launch(Blocks::Exactly(3).threads(threads), kernel).unwrap();
        assert_eq!(queue.download(&evaluations).unwrap(), [3 * 20]);
        let expected: Vec<u64> = (0..3).flat_map(|block| vec![20 * 100 * block + 190; threads]).collect();
        assert_eq!(queue.download(&out).unwrap(), expected);
    }
}

fn block_collectives(device: &Device, check: impl Fn(usize, usize, &[Affine])) {
    let queue = queue(device);
    for threads in shapes(device) {
        let mut out = device.zeroed(2 * threads * PARTS).unwrap();
        let kernel = BlockCollectives { out: out.span_mut() };
        queue.launch(Blocks::Exactly(2).threads(threads), kernel).unwrap();
        for block in queue.download(&out).unwrap().chunks(threads * PARTS) {
            for (thread, parts) in block.chunks(PARTS).enumerate() {
                check(threads, thread, parts);
            }
        }
    }
}

fn first(threads: usize) -> Affine {
    (0..threads).map(affine).fold(IDENTITY, then)
}

// fault A6.15: blocks whose size is no multiple of the warp.
pub(crate) fn reduce_block_combines_in_order(device: &Device) {
    block_collectives(device, |threads, _, parts| assert_eq!(parts[0], first(threads)));
}

// fault A6.15, A11.3
pub(crate) fn scans_of_a_block_combine_in_order(device: &Device) {
    block_collectives(device, |threads, thread, parts| {
        let expected = [first(thread + 1), first(threads), first(thread), first(threads)];
        assert_eq!(parts[1..], expected, "thread {thread} of {threads}");
    });
}

pub(crate) fn collectives_of_different_types_follow_each_other(device: &Device) {
    let queue = queue(device);
    for threads in shapes(device) {
        let mut wrong = device.zeroed(1).unwrap();
        let kernel = BackToBack {
            wrong: wrong.span_mut(),
        };
        queue.launch(Blocks::Exactly(3).threads(threads), kernel).unwrap();
        assert_eq!(queue.download(&wrong).unwrap(), [0], "blocks of {threads}");
    }
}

/// Runs `rounds` reductions of `values` on `grid`; returns each thread's results.
fn grid_reductions<T: Combine>(device: &Device, threads: usize, rounds: usize, values: &[T]) -> Vec<Vec<T>> {
    let queue = queue(device);
    let residents = blocks_of(device, threads);
    let values = queue.upload(values).unwrap();
    let mut out = device.zeroed(residents * threads * rounds).unwrap();
    let kernel = GridReductions {
        values: values.span(),
        rounds,
        out: out.span_mut(),
    };
    queue
        .launch_cooperative(Blocks::Exactly(residents).threads(threads), kernel)
        .unwrap();
    queue
        .download(&out)
        .unwrap()
        .chunks(rounds)
        .map(<[T]>::to_vec)
        .collect()
}

pub(crate) fn reduce_grid_combines_in_order_and_gives_all_the_same(device: &Device) {
    let values: Vec<Affine> = (0..1000).map(affine).collect();
    for threads in shapes(device) {
        let results = grid_reductions(device, threads, 1, &values);
        let expected = vec![first(results.len())];
        assert!(results.iter().all(|result| *result == expected), "blocks of {threads}");
    }
}

pub(crate) fn reduce_grid_of_floats_gives_all_the_same_bits_every_time(device: &Device) {
    // Values whose sum depends on the order.
    let values: Vec<f64> = (0..37)
        .map(|i| [1e16, 1.0, -1e16, 0.1][i % 4] / (i + 1) as f64)
        .collect();
    for threads in shapes(device) {
        let results = grid_reductions(device, threads, 8, &values);
        let bits = |row: &Vec<f64>| row.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        assert!(
            results.iter().all(|row| bits(row) == bits(&results[0])),
            "threads differ"
        );
        let again = grid_reductions(device, threads, 8, &values);
        assert_eq!(bits(&results[0]), bits(&again[0]), "runs differ");
    }
}

// fault A2.15: two reductions share a buffer without order between them.
pub(crate) fn reductions_of_a_grid_follow_each_other(device: &Device) {
    let values: Vec<u64> = (0..101).map(|i| i * i + 1).collect();
    for threads in shapes(device) {
        let results = grid_reductions(device, threads, 200, &values);
        let all = results.len();
        let expected: Vec<u64> = (0..200)
            .map(|round| (0..all).map(|thread| values[(thread + round) % values.len()]).sum())
            .collect();
        assert!(results.iter().all(|row| *row == expected), "blocks of {threads}");
    }
}

/// Does it on four threads at once.
fn in_flight_together(work: impl Fn(usize) + Sync) {
    thread::scope(|scope| {
        let work = &work;
        (0..4).for_each(|id| drop(scope.spawn(move || work(id))));
    });
}

// fault A2.16: one scratch array for all launches of a reduction.
pub(crate) fn reductions_of_launches_in_flight_do_not_mix(device: &Device) {
    in_flight_together(|id| {
        let values = [id as u64 + 1];
        for threads in shapes(device).take(3) {
            for _ in 0..5 {
                let results = grid_reductions(device, threads, 10, &values);
                let expected = vec![results.len() as u64 * values[0]; 10];
                assert!(results.iter().all(|row| *row == expected), "blocks of {threads}");
            }
        }
    });
}

/// Adds up numbers that no other launch has, over and over.
#[repr(C)]
struct OwnSums<'a> {
    id: u64,
    wrong: SpanMut<'a, u32>,
}

// SAFETY: the count is atomic.
unsafe impl Kernel for OwnSums<'_> {
    const NAME: &'static str = "own_sums";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        let threads = acc.thread_count() as u64;
        for round in 0..200 {
            let number = 1000 * self.id + round;
            let sum = acc.reduce_block(number, |a, b| a + b);
            let sent = acc.broadcast(|| number);
            if (sum, sent) != (threads * number, number) {
                self.wrong.atomic(0).fetch_add(acc, 1, Ordering::Relaxed);
            }
        }
    }
}

// fault A2.16: as above, for launches that share the device.
pub(crate) fn collectives_of_launches_in_flight_do_not_mix(device: &Device) {
    in_flight_together(|id| {
        for _ in 0..5 {
            block_collectives(device, |threads, thread, parts| {
                let expected = [
                    first(threads),
                    first(thread + 1),
                    first(threads),
                    first(thread),
                    first(threads),
                ];
                assert_eq!(parts, expected, "thread {thread} of {threads}");
            });
        }
        if !crate::support::runs_host_kernels(device) {
            return;
        }
        // One block, so that others find workers free.
        for _ in 0..20 {
            let (queue, mut wrong) = (queue(device), device.zeroed(1).unwrap());
            let kernel = OwnSums {
                id: id as u64,
                wrong: wrong.span_mut(),
            };
            let grid = Blocks::Exactly(1).threads(team(device, 2).unwrap_or(1));
            queue.launch(grid, kernel).unwrap();
            assert_eq!(queue.download(&wrong).unwrap(), [0]);
        }
    });
}

pub(crate) fn collectives_take_values_of_64_bytes(device: &Device) {
    let queue = queue(device);
    for grid in cooperative_grids(device) {
        let mut out = device.zeroed(8).unwrap();
        queue
            .launch_cooperative(grid, LargeValues { out: out.span_mut() })
            .unwrap();
        assert_eq!(queue.download(&out).unwrap(), [0; 8], "{grid:?}");
    }
}

pub(crate) fn warp_votes_and_shuffles_follow_the_lanes(device: &Device) {
    let queue = queue(device);
    for threads in shapes(device) {
        let (mut wrong, mut threads_seen) = (device.zeroed(1).unwrap(), device.zeroed(1).unwrap());
        let kernel = Warps {
            wrong: wrong.span_mut(),
            threads_seen: threads_seen.span_mut(),
        };
        queue.launch(Blocks::Exactly(2).threads(threads), kernel).unwrap();
        assert_eq!(queue.download(&wrong).unwrap(), [0], "blocks of {threads}");
        assert_eq!(queue.download(&threads_seen).unwrap(), [2 * threads as u32]);
    }
}
