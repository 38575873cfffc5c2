//! The checking device as a device: what it is made of, what it refuses, what it reports, and that it is silent about the
//! library's own collectives and barriers.

use std::time::Duration;

use gridwise::{
    algorithm::{
        operator::Sum,
        scan::inclusive_scan,
        solve::{Method, SolveOptions, Status, solve},
        sort::sort,
        sparse::Csr,
    },
    check::{self, BlockOrder, Builder, Explore, Kind, Model},
    host::{
        phases::{RunOptions, Structure},
        queue::QueueOptions,
    },
    kernel::grid_barrier::BarrierShape,
    prelude::*,
};

fn launch_findings(result: Result<(), LaunchError>) -> Vec<check::Finding> {
    match result {
        Err(LaunchError::Faults { findings, .. }) => findings.0,
        other => panic!("faults were expected: {other:?}"),
    }
}

#[test]
fn a_device_is_opened_by_name() {
    let device = Device::open("check:mps=3,blocks=2,threads=8,warp=4").unwrap();
    assert_eq!(device.name(), "check:mps=3,blocks=2,threads=8,warp=4");
    assert_eq!(device.most_resident_blocks(), 6);
    assert_eq!(Device::open("check:h100").unwrap().most_resident_blocks(), 132 * 16);
    assert_eq!(Device::open("check:h20").unwrap().most_resident_blocks(), 78 * 16);
    for name in [
        "check:h20,held=3,seed=9,steps=1000",
        "check:lockstep=on,weak=off,exact=on,order=random,schedule=pct",
        "check:order=descending,schedule=round_robin,shared=1000",
        "check:mps=4,grid=3",
    ] {
        let device = Device::open(name).unwrap();
        let again = Device::open(&device.name()).unwrap();
        assert_eq!(again.name(), device.name());
        assert_eq!(again.properties(), device.properties());
        assert_eq!(again.most_resident_blocks(), device.most_resident_blocks());
    }
    for bad in [
        "check:mps=0",
        "check:grid=0",
        "check:warp=65",
        "check:colour=red",
        "check:order=sideways",
        "check:threads=4096",
    ] {
        assert!(Device::open(bad).is_err(), "{bad}");
    }
}

/// Every block meets every other; every thread writes, and reads what the others wrote.
#[repr(C)]
struct Meet<'a> {
    data: SpanMut<'a, u32>,
    rounds: usize,
}

// SAFETY: a thread writes its own element, and reads others' after a barrier.
unsafe impl GridKernel for Meet<'_> {
    const NAME: &'static str = "meet";
    type Shared = SharedArray<u32, 4>;

    fn run<A: GridAcc>(self, acc: A, _: Self::Shared) {
        let me = acc.thread_index_in_grid();
        let n = acc.thread_count_in_grid();
        for round in 0..self.rounds {
            let next = self.data.get(acc, (me + 1) % n);
            acc.sync_grid();
            self.data.set(acc, me, next + round as u32);
            acc.sync_grid();
        }
    }
}

#[test]
#[should_panic(expected = "warp")]
fn a_device_that_cannot_be_is_not_explored() {
    let mut model = Model::small();
    model.warp_size = 65;
    Builder::new().model(model).run(|_| ());
}

#[test]
fn residency_is_that_of_multiprocessors() {
    let device = Device::open("check:mps=2,blocks=2,threads=4").unwrap();
    let queue = device.queue();
    let mut data = device.zeroed(64).unwrap();
    let mut launch = |blocks, threads| {
        let grid = Blocks::Exactly(blocks).threads(threads);
        queue.launch_cooperative(
            grid,
            Meet {
                data: data.span_mut(),
                rounds: 1,
            },
        )
    };
    launch(4, 4).unwrap();
    match launch(5, 4) {
        Err(LaunchError::NotResident {
            requested: 5,
            capacity: 4,
            ..
        }) => {}
        other => panic!("{other:?}"),
    }
    // A multiprocessor holds 1024 threads: one block of 600.
    match launch(3, 600) {
        Err(LaunchError::NotResident {
            capacity: 2,
            limited_by,
            ..
        }) => {
            assert_eq!(limited_by.to_string(), "the threads of a multiprocessor");
        }
        other => panic!("{other:?}"),
    }
    assert!(matches!(launch(1, 1025), Err(LaunchError::ThreadsPerBlock { .. })));
}

#[test]
fn presets_run_a_grid_that_fills_a_multiprocessor() {
    for preset in ["check:h100,mps=1", "check:h20,mps=1", "check:small"] {
        let device = Device::open(preset).unwrap();
        let mut data = device.zeroed(2048).unwrap();
        let data = data.span_mut();
        let kernel = Meet { data, rounds: 1 };
        device.queue().launch_cooperative(Blocks::Resident, kernel).unwrap();
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_grid_of_more_threads_than_there_are_stacks_is_refused_and_the_device_goes_on() {
    let device = Device::open("check:h100,mps=65536").unwrap();
    let queue = device.queue();
    let mut data = device.zeroed(128).unwrap();
    let mut launch = |blocks: Blocks| {
        let data = data.span_mut();
        queue.launch_cooperative(blocks, Meet { data, rounds: 1 })
    };
    match launch(Blocks::Resident) {
        Err(LaunchError::NoStacks { threads, .. }) => assert_eq!(threads, 65536 * 2048),
        other => panic!("{other:?}"),
    }
    launch(Blocks::Exactly(1)).unwrap();
}

#[test]
fn resources_may_change_between_launches() {
    let device = Device::check(Model::small()).unwrap();
    let queue = device.queue();
    let mut data = device.zeroed(64).unwrap();
    let mut launch = || {
        let data = data.span_mut();
        queue.launch_cooperative(Blocks::Exactly(2).threads(1), Meet { data, rounds: 1 })
    };
    launch().unwrap();
    let mut held = Model::small();
    held.held = 1;
    assert!(check::reshape(&device, held).unwrap());
    match launch() {
        Err(LaunchError::NotResident {
            capacity: 1,
            limited_by,
            ..
        }) => {
            assert_eq!(limited_by.to_string(), "other work on the device");
        }
        other => panic!("{other:?}"),
    }
    check::reshape(&device, Model::small()).unwrap();
    launch().unwrap();
    assert!(!check::reshape(&Device::open("cpu").unwrap(), held).unwrap());
}

/// All collectives of blocks, warps and grid, with results that are checked.
#[repr(C)]
struct Collectives<'a> {
    wrong: SpanMut<'a, u32>,
}

// SAFETY: atomics, and collectives that every thread reaches.
unsafe impl GridKernel for Collectives<'_> {
    const NAME: &'static str = "collectives";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        let (thread, threads, blocks) = (acc.thread_index(), acc.thread_count(), acc.block_count());
        let mut right = true;
        for round in 0..2 {
            let sum = acc.reduce_block(thread + round, |a, b| a + b);
            right &= sum == threads * (threads - 1) / 2 + round * threads;
            let (before, total) = acc.exclusive_scan_block(1, 0, |a, b| a + b);
            right &= before == thread && total == threads;
            let value = if thread == 0 { 7 + round } else { 0 };
            right &= acc.broadcast(|| value) == 7 + round;
            right &= acc.sync_block_count(thread.is_multiple_of(2)) == threads.div_ceil(2);
            let lanes = acc.lane_count();
            right &= acc.warp_ballot(true).count_ones() as usize == lanes;
            right &= acc.warp_shuffle(acc.lane(), lanes - 1) == lanes - 1;
            let all = acc.reduce_grid(1_u64, |a, b| a + b);
            right &= all as usize == threads * blocks;
            let most = acc.reduce_grid(acc.block_index(), |a, b| a.max(b));
            right &= most == blocks - 1;
        }
        if !right {
            self.wrong.atomic(0).fetch_add(acc, 1, Ordering::Relaxed);
        }
    }
}

#[test]
fn collectives_are_right_and_silent_for_every_warp_size() {
    for warp_size in [1, 2, 4, 32] {
        for (blocks, threads) in [(1, 1), (2, 1), (1, 5), (3, 6)] {
            let mut model = Model::small();
            model.multiprocessors = 3;
            model.warp_size = warp_size;
            model.exact = true;
            let report = Builder::new().model(model).schedules(10).run(|device| {
                let queue = device.queue();
                let mut wrong = device.zeroed(1).unwrap();
                let grid = Blocks::Exactly(blocks).threads(threads);
                let kernel = Collectives {
                    wrong: wrong.span_mut(),
                };
                queue.launch_cooperative(grid, kernel).unwrap();
                assert_eq!(queue.download(&wrong).unwrap(), [0]);
            });
            assert!(report.is_clean(), "warp {warp_size}, {blocks} x {threads}: {report}");
        }
    }
}

#[test]
fn every_barrier_shape_is_silent_between_blocks_of_several_threads() {
    for shape in [BarrierShape::Flip, BarrierShape::Counter, BarrierShape::Tree] {
        for explore in [Explore::Random, Explore::RoundRobin, Explore::Pct { depth: 3 }] {
            let mut model = Model::small();
            model.multiprocessors = 5;
            let report = Builder::new()
                .model(model)
                .explore(explore)
                .schedules(20)
                .run(|device| {
                    let queue = device.queue_with(QueueOptions::default().barrier(shape));
                    let mut data = device.zeroed(15).unwrap();
                    let kernel = Meet {
                        data: data.span_mut(),
                        rounds: 3,
                    };
                    queue.launch_cooperative(Blocks::Exactly(5).threads(3), kernel).unwrap();
                    assert_eq!(queue.download(&data).unwrap(), [3; 15]);
                });
            assert!(report.is_clean(), "{shape:?}, {explore:?}: {report}");
            assert!(report.operations > 0 && report.switches > 0 && report.launches == report.schedules as u64);
        }
    }
}

#[test]
fn a_grid_barrier_is_explored_to_the_end() {
    let report = Builder::new().explore(Explore::Exhaustive).check(|device| {
        let queue = device.queue();
        let mut data = device.zeroed(4).unwrap();
        let data = data.span_mut();
        queue
            .launch_cooperative(Blocks::Exactly(2).threads(2), Meet { data, rounds: 1 })
            .unwrap();
    });
    assert!(report.complete && report.schedules > 1, "{report}");
}

/// Writes down the order in which blocks start.
#[repr(C)]
struct StartOrder<'a> {
    next: SpanMut<'a, u32>,
    order: SpanMut<'a, u32>,
}

// SAFETY: every block has a ticket of its own.
unsafe impl Kernel for StartOrder<'_> {
    const NAME: &'static str = "start_order";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        let ticket = self.next.atomic(0).fetch_add(acc, 1, Ordering::Relaxed);
        self.order.set(acc, ticket as usize, acc.block_index() as u32);
    }
}

#[test]
fn blocks_start_in_the_order_of_the_model() {
    let started = |order| {
        let mut model = Model::small();
        model.multiprocessors = 1;
        model.block_order = order;
        let device = Device::check(model).unwrap();
        let queue = device.queue();
        let (mut next, mut starts) = (device.zeroed(1).unwrap(), device.zeroed(16).unwrap());
        let kernel = StartOrder {
            next: next.span_mut(),
            order: starts.span_mut(),
        };
        queue.launch(Blocks::Exactly(16).threads(1), kernel).unwrap();
        queue.download(&starts).unwrap()
    };
    let ascending: Vec<u32> = (0..16).collect();
    assert_eq!(started(BlockOrder::Ascending), ascending);
    assert_eq!(
        started(BlockOrder::Descending),
        ascending.iter().rev().copied().collect::<Vec<_>>()
    );
    let random = started(BlockOrder::Random);
    assert_ne!(random, ascending);
    assert_eq!(started(BlockOrder::Random), random, "the same seed");
}

/// Three faults at once.
#[repr(C)]
struct ThreeFaults<'a> {
    data: SpanMut<'a, u32>,
}

// SAFETY: broken on purpose, on the checking device alone.
unsafe impl Kernel for ThreeFaults<'_> {
    const NAME: &'static str = "three_faults";
    type Shared = SharedArray<u32, 2>;

    fn run<A: Acc>(self, acc: A, shared: Self::Shared) {
        self.data.set(acc, 0, 1);
        shared.get(acc, acc.thread_index());
        shared.set(acc, 0, 1);
        if acc.thread_index() == 0 {
            acc.sync_block();
        }
    }
}

#[test]
fn all_faults_of_a_run_are_reported_once() {
    let device = Device::check(Model::small()).unwrap();
    let mut data = device.zeroed(4).unwrap();
    let kernel = ThreeFaults { data: data.span_mut() };
    let result = device.queue().launch(Blocks::Exactly(2).threads(2), kernel);
    let text = result.as_ref().unwrap_err().to_string();
    let findings = launch_findings(result);
    let count = |kind| findings.iter().filter(|finding| finding.kind == kind).count();
    for kind in [Kind::GlobalRace, Kind::Uninitialised, Kind::LeftBeforeBarrier] {
        assert_eq!(count(kind), 1, "{text}");
    }
    assert!(count(Kind::SharedRace) >= 1, "{text}");
    for part in [
        "kernel `three_faults` is faulty",
        "data race in device memory",
        "element 0 of buffer 0, made at gridwise/tests/check_device.rs",
        "plain store at gridwise/tests/check_device.rs",
        "block 1",
        "missing  nothing orders the two",
        "waits at the block barrier",
    ] {
        assert!(text.contains(part), "`{part}` is not in {text}");
    }
}

/// Panics in one thread, while the others wait for it.
#[repr(C)]
struct Panics;

// SAFETY: it accesses nothing.
unsafe impl GridKernel for Panics {
    const NAME: &'static str = "panics";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        if acc.block_index() == 1 && acc.thread_index() == 1 {
            panic!("on purpose");
        }
        acc.sync_grid();
    }
}

#[test]
fn a_panic_is_the_same_error_as_elsewhere_and_the_device_goes_on() {
    let device = Device::check(Model::small()).unwrap();
    let queue = device.queue();
    match queue.launch_cooperative(Blocks::Exactly(2).threads(2), Panics) {
        Err(LaunchError::Panicked {
            kernel: "panics",
            block: 1,
            thread: 1,
            message,
        }) => assert_eq!(message, "on purpose"),
        other => panic!("{other:?}"),
    }
    let mut data = device.zeroed(4).unwrap();
    let data = data.span_mut();
    queue
        .launch_cooperative(Blocks::Exactly(2).threads(2), Meet { data, rounds: 1 })
        .unwrap();
}

/// Looks at a word a few times, then goes another way.
#[repr(C)]
struct GivesUp<'a> {
    words: SpanMut<'a, u32>,
    looks: usize,
}

// SAFETY: one thread, and atomics.
unsafe impl Kernel for GivesUp<'_> {
    const NAME: &'static str = "gives_up";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        let mut left = self.looks;
        while self.words.atomic(0).load(acc, Ordering::Relaxed) == 0 && left > 0 {
            left -= 1;
        }
        self.words.atomic(1).store(acc, 1, Ordering::Relaxed);
    }
}

#[test]
fn a_bounded_spin_is_no_fault_and_an_endless_one_is_named() {
    for (looks, ends) in [(100, true), (usize::MAX, false)] {
        for explore in [Explore::Random, Explore::Exhaustive] {
            let report = Builder::new().explore(explore).schedules(3).run(|device| {
                let mut words = device.zeroed(2).unwrap();
                let words = words.span_mut();
                let _ = device
                    .queue()
                    .launch(Blocks::Exactly(1).threads(1), GivesUp { words, looks });
            });
            assert_eq!(report.is_clean(), ends, "{report}");
            if !ends {
                assert_eq!(report.findings[0].kind, Kind::EndlessSpin, "{report}");
            }
        }
    }
}

#[test]
fn the_step_budget_and_the_timeout_end_a_launch() {
    let report = Builder::new().step_budget(100).run(|device| {
        let mut data = device.zeroed(4).unwrap();
        let data = data.span_mut();
        let _ = device
            .queue()
            .launch_cooperative(Blocks::Exactly(2).threads(2), Meet { data, rounds: 50 });
    });
    assert_eq!(report.findings[0].kind, Kind::StepBudget, "{report}");

    let device = Device::check(Model::small()).unwrap();
    let queue = device.queue_with(QueueOptions::default().timeout(Duration::from_millis(1)));
    let mut data = device.zeroed(4).unwrap();
    let data = data.span_mut();
    let kernel = Meet {
        data,
        rounds: usize::MAX,
    };
    match queue.launch_cooperative(Blocks::Exactly(2).threads(2), kernel) {
        Err(error @ LaunchError::TimedOut { .. }) => assert_eq!(error.hang_report().unwrap().threads.len(), 4),
        other => panic!("{other:?}"),
    }
}

/// Counts down in phases.
#[repr(C)]
struct Steps<'a> {
    data: SpanMut<'a, u32>,
}

// SAFETY: a thread writes its own element; `proceed` reads nothing.
unsafe impl Phased for Steps<'_> {
    const NAME: &'static str = "steps";
    type Shared = ();
    const PHASES: usize = 2;

    fn phase<A: Acc>(self, acc: A, _: (), at: Phase) {
        let n = self.data.len() / 2;
        let (from, to) = (at.index * n, (1 - at.index) * n);
        for i in acc.threads_in_grid(0..n) {
            self.data.set(acc, to + i, self.data.get(acc, from + (i + 1) % n) + 1);
        }
    }

    fn proceed<A: Acc>(self, _: A, step: usize) -> bool {
        step + 1 < 3
    }
}

#[test]
fn phases_run_both_ways_without_a_fault() {
    for strategy in [Strategy::Persistent, Strategy::Relaunch, Strategy::Auto] {
        let device = Device::check(Model::small()).unwrap();
        let mut data = device.zeroed(10).unwrap();
        let report = device.queue().run(Steps { data: data.span_mut() }, strategy).unwrap();
        assert_eq!(report.steps, 3);
        assert_eq!(data.span()[..5], [6; 5]);
    }
}

// fault A1.8, A1.15: what was planned on a larger device, and is launched again on a smaller one, is planned anew or refused.
#[test]
fn runs_are_planned_for_the_device_as_it_is_at_each_launch() {
    let mut model = Model::small();
    model.multiprocessors = 4;
    let device = Device::check(model).unwrap();
    let queue = device.queue();
    let numbers: Vec<u32> = (0..2500).rev().collect();
    let mut keys = queue.upload(&numbers).unwrap();
    for multiprocessors in [4, 2, 1, 4] {
        model.multiprocessors = multiprocessors;
        assert!(check::reshape(&device, model).unwrap());
        let mut data = device.zeroed(10).unwrap();
        let mut run = |options: RunOptions| queue.run(Steps { data: data.span_mut() }, options);
        for strategy in [Strategy::Persistent, Strategy::Auto, Strategy::Relaunch] {
            let report = run(strategy.into()).unwrap();
            assert_eq!(report.blocks, multiprocessors, "{strategy:?}");
        }
        // A number that was kept from when the device was larger.
        let of_old = Blocks::Exactly(4).threads(1);
        let direct = run(RunOptions::from(Strategy::Persistent).grid(of_old));
        let report = run(RunOptions::from(Strategy::Auto).grid(of_old)).unwrap();
        if multiprocessors == 4 {
            direct.unwrap();
            assert_eq!(report.structure, Structure::Persistent);
        } else {
            match direct {
                Err(gridwise::Error::Launch(LaunchError::NotResident { capacity, .. })) => {
                    assert_eq!(capacity, multiprocessors);
                }
                other => panic!("{other:?}"),
            }
            assert_eq!((report.structure, report.blocks), (Structure::Relaunch, 4));
        }
        queue
            .copy(queue.upload(&numbers).unwrap().span(), keys.span_mut())
            .unwrap();
        sort(&queue, keys.span_mut(), Strategy::Persistent).unwrap();
        assert!(queue.download(&keys).unwrap().is_sorted());
        let mut prefixes = device.zeroed(numbers.len()).unwrap();
        inclusive_scan(&queue, keys.span(), prefixes.span_mut(), 0, Sum).unwrap();
        assert_eq!(queue.download(&prefixes).unwrap()[2499], 2499 * 2500 / 2);
    }
}

#[test]
#[should_panic(expected = "the test panicked: wrong on purpose")]
fn a_failed_assertion_of_the_test_is_reported_with_a_token() {
    check::model(|_| panic!("wrong on purpose"));
}

/// Votes and shuffles of every lane, each with a bit of what was wrong.
#[repr(C)]
struct Lanes<'a> {
    wrong: SpanMut<'a, u32>,
}

// SAFETY: atomics, and exchanges that all lanes of a warp reach.
unsafe impl Kernel for Lanes<'_> {
    const NAME: &'static str = "lanes";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        let (lane, lanes) = (acc.lane(), acc.lane_count());
        let mut wrong = 0;
        let mut note = |bit: u32, right: bool| wrong |= u32::from(!right) << bit;
        note(0, acc.warp_ballot(lane == 1) == if lanes > 1 { 2 } else { 0 });
        note(1, acc.warp_any(lane == lanes - 1));
        note(2, acc.warp_all(lane < lanes));
        for (bit, other) in [(3, 0), (4, 1), (5, 31), (6, usize::MAX)] {
            let there = if other < lanes { other } else { lane };
            note(bit, acc.warp_shuffle(lane as f64, other) == there as f64);
        }
        note(7, acc.warp_shuffle_up(lane, 1) == lane.saturating_sub(1));
        note(8, acc.warp_shuffle_down(lane, 1) == (lane + 1).min(lanes - 1));
        let across = if lane ^ 1 < lanes { lane ^ 1 } else { lane };
        note(9, acc.warp_shuffle_xor(lane, 1) == across);
        for bit in 0..6 {
            let vote = |lane: usize| lane >> bit & 1 == 1;
            let expected = (0..lanes)
                .filter(|lane| vote(*lane))
                .fold(0, |all, lane| all | 1_u64 << lane);
            note(10, acc.warp_ballot(vote(lane)) == expected);
            note(11, acc.warp_any(vote(lane)) == (expected != 0));
        }
        note(12, acc.warp_all(true) && acc.warp_any(true) && !acc.warp_any(false));
        for other in [0, 1, 2, 31, 63, 64, usize::MAX] {
            let there = |from: usize| (if from < lanes { from } else { lane }) as f64;
            note(13, acc.warp_shuffle(lane as f64, other) == there(other));
            note(
                14,
                acc.warp_shuffle_up(lane as f64, other) == there(lane.checked_sub(other).unwrap_or(lane)),
            );
            note(
                15,
                acc.warp_shuffle_down(lane as f64, other) == there(lane.saturating_add(other)),
            );
            note(16, acc.warp_shuffle_xor(lane as f64, other) == there(lane ^ other));
        }
        self.wrong.atomic(0).fetch_or(acc, wrong, Ordering::Relaxed);
    }
}

#[test]
fn incomplete_warps_vote_and_shuffle_among_the_lanes_there_are() {
    for threads in [1, 2, 3, 4, 5, 7] {
        let device = Device::open("check:warp=4").unwrap();
        let mut wrong = device.zeroed::<u32>(1).unwrap();
        let kernel = Lanes {
            wrong: wrong.span_mut(),
        };
        device
            .queue()
            .launch(Blocks::Exactly(2).threads(threads), kernel)
            .unwrap();
        assert_eq!(wrong.span()[0], 0, "{threads} threads");
    }
}

#[test]
fn solvers_are_silent_persistent_and_by_relaunch() {
    let entries = (0..12_u32).flat_map(|row| {
        let below = (row > 0).then(|| (row, row - 1, -1.0));
        let above = (row < 11).then(|| (row, row + 1, -1.0));
        below.into_iter().chain([(row, row, 4.0)]).chain(above)
    });
    let matrix = Csr::from_sorted_entries(12, 12, entries).unwrap();
    for method in [Method::ConjugateGradients, Method::BiCgStab] {
        for strategy in [Strategy::Persistent, Strategy::Relaunch] {
            let mut model = Model::small();
            model.exact = true;
            let report = Builder::new().model(model).schedules(3).run(|device| {
                let options = SolveOptions::default().method(method).run(strategy);
                let solution = solve(&device.queue(), &matrix, &[1.0; 12], options).unwrap();
                assert_eq!(solution.status, Status::Converged);
            });
            assert!(report.is_clean(), "{method:?}, {strategy:?}: {report}");
        }
    }
}

/// Does nothing.
#[repr(C)]
struct Nothing;

// SAFETY: it touches no memory.
unsafe impl Kernel for Nothing {
    const NAME: &'static str = "nothing";
    type Shared = ();

    fn run<A: Acc>(self, _: A, _: ()) {}
}

#[test]
fn a_grid_with_more_threads_than_are_numbered_is_refused() {
    // From the last block on, whose threads have the highest numbers.
    let device = Device::open("check:order=descending").unwrap();
    let queue = device.queue_with(QueueOptions::default().timeout(Duration::from_millis(50)));
    let limit = match queue.launch(Blocks::Exactly(1 << 23).threads(1024), Nothing) {
        Err(LaunchError::TooManyBlocks { limit, .. }) => limit,
        other => panic!("{other:?}"),
    };
    let largest = queue.launch(Blocks::Exactly(limit).threads(1024), Nothing);
    assert!(matches!(largest, Err(LaunchError::TimedOut { .. })), "{largest:?}");
    queue.launch(Blocks::Exactly(2), Nothing).unwrap();
}
