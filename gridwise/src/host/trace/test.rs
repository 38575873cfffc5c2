use std::{
    sync::atomic::{AtomicBool, AtomicU32},
    thread::sleep,
};

use super::*;
use crate::{host::device::DeviceError, kernel::hardware::WaitFor, prelude::*};

const PLENTY: usize = 10_000;

fn traced(name: &str, tracer: &Tracer) -> Device {
    Device::open_traced(name, tracer).unwrap()
}

/// The waits of a thread: for what, and from when to when.
fn waits(thread: &ThreadTrace) -> Vec<(WaitFor, &'static Location<'static>, Duration, Duration)> {
    let wait = |span: &TraceSpan| match span.activity {
        Activity::Wait { what, location } => Some((what, location, span.start, span.end)),
        Activity::Block(_) => None,
    };
    thread.spans.iter().filter_map(wait).collect()
}

fn blocks(thread: &ThreadTrace) -> Vec<usize> {
    let block = |span: &TraceSpan| match span.activity {
        Activity::Block(block) => Some(block),
        Activity::Wait { .. } => None,
    };
    thread.spans.iter().filter_map(block).collect()
}

/// Each span inside the launch, and the waits inside the block that they belong to, one after another.
#[track_caller]
fn assert_nested(launch: &LaunchTrace) {
    for thread in &launch.threads {
        let mut block = (launch.start, launch.end);
        let mut last = launch.start;
        for span in &thread.spans {
            assert!(span.start <= span.end && last <= span.start, "{launch:?}");
            last = match span.activity {
                Activity::Block(_) => {
                    block = (span.start, span.end);
                    span.start
                }
                Activity::Wait {
                    what: WaitFor::BlockEnd,
                    ..
                } => span.end,
                Activity::Wait { .. } => {
                    assert!(block.0 <= span.start && span.end <= block.1, "{launch:?}");
                    span.end
                }
            };
            assert!(last <= launch.end, "{launch:?}");
        }
    }
}

/// Block 1 is late for the barrier: it sleeps once block 0 is about to arrive.
struct Late<'a> {
    arriving: &'a AtomicBool,
}

// SAFETY: it accesses no memory of a span.
unsafe impl GridKernel for Late<'_> {
    const NAME: &'static str = "late";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        if acc.block_index() == 0 {
            self.arriving.store(true, Ordering::Release);
        } else {
            while !self.arriving.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
            sleep(Duration::from_millis(20));
        }
        acc.sync_grid();
    }
}

#[test]
fn who_waits_at_a_grid_barrier_does_so_until_the_last_has_arrived() {
    for name in ["cpu:blocks=2", "cpu:blocks=2,threads=2"] {
        let tracer = Tracer::new(PLENTY);
        let arriving = AtomicBool::new(false);
        let queue = traced(name, &tracer).queue();
        queue
            .launch_cooperative(Blocks::Resident, Late { arriving: &arriving })
            .unwrap();
        let trace = tracer.trace();
        let [launch] = &trace.launches[..] else {
            panic!("{trace:?}")
        };
        assert_eq!(
            (launch.kernel, launch.blocks, launch.host_thread, trace.dropped),
            ("late", 2, 0, 0)
        );
        assert_nested(launch);
        let arrivals: Vec<_> = launch
            .threads
            .iter()
            .map(|thread| match waits(thread)[..] {
                // The block barriers inside a grid barrier are none of the kernel's.
                [(WaitFor::GridBarrier, location, start, end)] => {
                    assert!(location.file().ends_with("trace/test.rs"), "{location}");
                    assert_eq!(blocks(thread), [thread.place]);
                    (thread.place, start, end)
                }
                _ => panic!("{thread:?}"),
            })
            .collect();
        let last = arrivals
            .iter()
            .filter(|arrival| arrival.0 == 1)
            .map(|arrival| arrival.1)
            .max()
            .unwrap();
        let waited = |arrival: &&(usize, Duration, Duration)| arrival.0 == 0 && arrival.1 < arrival.2;
        assert!(arrivals.iter().any(|arrival| waited(&arrival)), "{launch:?}");
        for arrival in arrivals.iter().filter(waited) {
            assert!(arrival.2 >= last, "{launch:?}");
        }
    }
}

/// Two block barriers around a grid barrier, three times.
struct Barriers;

const FIRST_LINE: u32 = line!() + 9;

// SAFETY: it accesses no memory.
unsafe impl GridKernel for Barriers {
    const NAME: &'static str = "barriers";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        for _ in 0..3 {
            acc.sync_block();
            acc.sync_grid();
            acc.sync_block();
        }
    }
}

#[test]
fn every_barrier_that_a_thread_arrives_at_is_there_with_its_line() {
    let tracer = Tracer::new(PLENTY);
    traced("cpu:blocks=2,threads=2", &tracer)
        .queue()
        .launch_cooperative(Blocks::Resident, Barriers)
        .unwrap();
    let trace = tracer.trace();
    assert_nested(&trace.launches[0]);
    let threads = &trace.launches[0].threads;
    let names: Vec<_> = threads.iter().map(|thread| (thread.place, thread.thread)).collect();
    assert_eq!(names, [(0, 0), (0, 1), (1, 0), (1, 1)]);
    for thread in threads {
        let seen: Vec<_> = waits(thread).iter().map(|wait| (wait.0, wait.1.line())).collect();
        let round = [
            (WaitFor::BlockBarrier, FIRST_LINE),
            (WaitFor::GridBarrier, FIRST_LINE + 1),
            (WaitFor::BlockBarrier, FIRST_LINE + 2),
        ];
        assert_eq!(seen, round.repeat(3));
    }
}

/// A reduction at one line, three times.
struct Reductions;

// SAFETY: it accesses no memory.
unsafe impl GridKernel for Reductions {
    const NAME: &'static str = "reductions";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        for _ in 0..3 {
            acc.reduce_grid(1_u32, |a, b| a + b);
        }
    }
}

#[test]
fn what_a_reduction_does_inside_a_block_is_not_taken_for_its_grid_barrier() {
    let tracer = Tracer::new(PLENTY);
    traced("cpu:blocks=2,threads=2", &tracer)
        .queue()
        .launch_cooperative(Blocks::Resident, Reductions)
        .unwrap();
    let trace = tracer.trace();
    assert_nested(&trace.launches[0]);
    for thread in &trace.launches[0].threads {
        let kinds: Vec<_> = waits(thread).iter().map(|wait| wait.0).collect();
        let grid = kinds.iter().filter(|what| **what == WaitFor::GridBarrier).count();
        assert_eq!(grid, 3, "{kinds:?}");
        assert!(kinds.len() > 3 && kinds[0] == WaitFor::BlockBarrier, "{kinds:?}");
        assert_eq!(kinds, kinds[..kinds.len() / 3].repeat(3));
    }
}

/// Says which block it is.
struct Nothing;

// SAFETY: it accesses no memory.
unsafe impl Kernel for Nothing {
    const NAME: &'static str = "nothing";
    type Shared = ();

    fn run<A: Acc>(self, _: A, _: ()) {}
}

#[test]
fn blocks_that_take_turns_are_spans_of_the_threads_that_run_them() {
    for name in ["cpu:blocks=2", "cpu:blocks=2,threads=2"] {
        let tracer = Tracer::new(PLENTY);
        traced(name, &tracer)
            .queue()
            .launch(Blocks::Exactly(7), Nothing)
            .unwrap();
        let trace = tracer.trace();
        let launch = &trace.launches[0];
        assert_nested(launch);
        for thread in 0..launch.threads_per_block {
            let of_thread = launch.threads.iter().filter(|trace| trace.thread == thread);
            let mut run: Vec<_> = of_thread.flat_map(blocks).collect();
            run.sort_unstable();
            assert_eq!(run, [0, 1, 2, 3, 4, 5, 6], "{name}");
        }
    }
}

#[test]
fn launches_are_told_apart_by_who_asked_for_them() {
    let tracer = Tracer::new(PLENTY);
    let device = traced("cpu:blocks=2", &tracer);
    let launch = || device.queue().launch(Blocks::Resident, Nothing).unwrap();
    launch();
    std::thread::scope(|scope| scope.spawn(launch).join().unwrap());
    launch();
    let launches = tracer.trace().launches;
    assert_eq!(
        launches.iter().map(|launch| launch.host_thread).collect::<Vec<_>>(),
        [0, 1, 0]
    );
    assert!(launches.is_sorted_by(|a, b| a.end <= b.start));
}

#[test]
fn no_more_is_kept_than_was_asked_for_and_what_is_missing_is_counted() {
    let tracer = Tracer::new(20);
    let queue = traced("cpu:blocks=2", &tracer).queue();
    for _ in 0..3 {
        queue.launch_cooperative(Blocks::Resident, Barriers).unwrap();
    }
    // A launch, two blocks, and three grid barriers of each: two fit whole.
    let trace = tracer.trace();
    let spans: usize = trace
        .launches
        .iter()
        .flat_map(|launch| &launch.threads)
        .map(|thread| thread.spans.len())
        .sum();
    assert!(trace.launches.len() + spans <= 20, "{trace:?}");
    assert!(trace.launches.len() >= 2 && trace.dropped > 0, "{trace:?}");
    assert!(
        trace.launches[..2]
            .iter()
            .all(|launch| launch.threads.iter().all(|thread| thread.dropped == 0))
    );

    let tracer = Tracer::new(7);
    traced("cpu:blocks=2", &tracer)
        .queue()
        .launch_cooperative(Blocks::Resident, Barriers)
        .unwrap();
    let trace = tracer.trace();
    for thread in &trace.launches[0].threads {
        assert_eq!(
            (thread.spans.len(), thread.dropped),
            (3, 1),
            "the block and two of three barriers"
        );
    }
    assert_nested(&trace.launches[0]);

    let tracer = Tracer::new(0);
    traced("cpu:blocks=2", &tracer)
        .queue()
        .launch(Blocks::Resident, Nothing)
        .unwrap();
    let trace = tracer.trace();
    assert!(trace.launches.is_empty() && trace.dropped >= 1, "{trace:?}");
}

/// Block 1 leaves; block 0 waits for it, for ever.
struct Deadlock;

// SAFETY: it accesses no memory. That not all meet the barrier is what it is for.
unsafe impl GridKernel for Deadlock {
    const NAME: &'static str = "deadlock";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        if acc.block_index() == 0 {
            acc.sync_grid();
        }
    }
}

#[test]
fn a_launch_that_fails_is_in_the_trace_up_to_its_end_and_the_next_one_too() {
    let tracer = Tracer::new(PLENTY);
    let queue = traced("cpu:blocks=2", &tracer).queue();
    let failed = queue.launch_cooperative(Blocks::Resident, Deadlock);
    assert!(matches!(failed, Err(LaunchError::Deadlock { .. })), "{failed:?}");
    queue.launch(Blocks::Resident, Nothing).unwrap();
    let trace = tracer.trace();
    let [deadlock, nothing] = &trace.launches[..] else {
        panic!("{trace:?}")
    };
    assert_nested(deadlock);
    let [(WaitFor::GridBarrier, _, start, end)] = waits(&deadlock.threads[0])[..] else {
        panic!("{deadlock:?}")
    };
    assert!(start < end);
    assert!(waits(&deadlock.threads[1]).is_empty());
    assert_eq!(nothing.threads.len(), 2);
}

/// Block 0 waits for a word that block 1 stores.
struct Word<'a> {
    word: SpanMut<'a, u32>,
    looking: &'a AtomicU32,
}

// SAFETY: the word is accessed by atomic operations alone.
unsafe impl GridKernel for Word<'_> {
    const NAME: &'static str = "word";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        let word = self.word.atomic(0);
        if acc.block_index() == 0 {
            self.looking.store(1, Ordering::Release);
            word.wait_until(acc, Ordering::Acquire, |value| value == 1);
        } else {
            while self.looking.load(Ordering::Acquire) == 0 {
                std::thread::yield_now();
            }
            sleep(Duration::from_millis(20));
            word.store(acc, 1, Ordering::Release);
        }
    }
}

#[test]
fn a_wait_for_a_word_is_a_span_of_its_own() {
    let tracer = Tracer::new(PLENTY);
    let device = traced("cpu:blocks=2", &tracer);
    let mut word = device.zeroed::<u32>(1).unwrap();
    let looking = AtomicU32::new(0);
    let kernel = Word {
        word: word.span_mut(),
        looking: &looking,
    };
    device.queue().launch_cooperative(Blocks::Resident, kernel).unwrap();
    let trace = tracer.trace();
    let [(WaitFor::Word, location, start, end)] = waits(&trace.launches[0].threads[0])[..] else {
        panic!("{trace:?}")
    };
    assert!(location.file().ends_with("trace/test.rs") && start < end);
}

#[test]
fn only_cpu_devices_are_traced() {
    let tracer = Tracer::new(PLENTY);
    for name in ["check", "check:mps=2", "cuda:0"] {
        let error = Device::open_traced(name, &tracer).unwrap_err();
        assert!(
            matches!(&error, DeviceError::NotTraced { name: named } if named == name),
            "{error}"
        );
    }
    for name in ["gpu", "cpu:blocks=0", "cpu:speed=2"] {
        let traced = Device::open_traced(name, &tracer).unwrap_err();
        assert_eq!(traced.to_string(), Device::open(name).unwrap_err().to_string());
    }
    Device::open("cpu:blocks=2")
        .unwrap()
        .queue()
        .launch(Blocks::Resident, Nothing)
        .unwrap();
    assert!(tracer.trace().launches.is_empty());
}
