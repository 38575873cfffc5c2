//! An exploration tries grids of several shapes.

use std::{cell::RefCell, collections::BTreeMap};

use gridwise::{
    check::{Builder, Explore, Model},
    prelude::*,
};

/// Notes the shape of its grid, and the first two indices that thread 0 of block 0 gets.
#[repr(C)]
struct Look<'a> {
    seen: SpanMut<'a, usize>,
}

// SAFETY: one thread stores.
unsafe impl GridKernel for Look<'_> {
    const NAME: &'static str = "look";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        if acc.block_index() == 0 && acc.thread_index() == 0 {
            self.seen.set(acc, 0, acc.block_count());
            self.seen.set(acc, 1, acc.thread_count());
            let second = acc.threads_in_grid(0..1000).nth(1).unwrap();
            self.seen.set(acc, 2, second);
        }
    }
}

/// Blocks, threads, and whether indices are dealt out contiguously: how often each ran.
fn shapes_of(builder: Builder, grid: impl Into<Grid> + Copy) -> BTreeMap<(usize, usize, bool), usize> {
    let ran = RefCell::new(BTreeMap::new());
    builder.check(|device| {
        let queue = device.queue();
        let mut seen = device.zeroed(3).unwrap();
        queue.launch_cooperative(grid, Look { seen: seen.span_mut() }).unwrap();
        let seen = queue.download(&seen).unwrap();
        *ran.borrow_mut().entry((seen[0], seen[1], seen[2] == 1)).or_default() += 1;
    });
    ran.into_inner()
}

/// Twice each: with indices dealt out in one way and the other, which are the same for one thread.
fn twice_each(shapes: &[(usize, usize)]) -> BTreeMap<(usize, usize, bool), usize> {
    let mut each = BTreeMap::new();
    for (blocks, threads) in shapes {
        for contiguous in [false, true] {
            *each
                .entry((*blocks, *threads, contiguous || blocks * threads == 1))
                .or_default() += 1;
        }
    }
    each
}

#[test]
fn shapes_share_the_schedules_and_each_deals_out_both_ways() {
    let shapes = [(2, 4), (3, 3), (4, 1), (1, 4), (1, 1)];
    let all = shapes_of(Builder::new().schedules(10), Blocks::Resident);
    assert_eq!(all, twice_each(&shapes));
    let frames = shapes_of(Builder::new().schedules(10), Frames::new(1000, 10));
    assert_eq!(frames, twice_each(&shapes));
    let chosen = [(7, 2), (1, 5)];
    let mut model = Model::small();
    model.held = 3;
    let builder = Builder::new().shapes(chosen).model(model).schedules(4);
    assert_eq!(shapes_of(builder, Blocks::Resident), twice_each(&chosen));
}

#[test]
fn what_a_launch_says_of_its_shape_holds() {
    let both = shapes_of(Builder::new().schedules(10), Blocks::Exactly(2).threads(3));
    assert_eq!(both.values().sum::<usize>(), 10);
    assert!(
        both.keys().all(|(blocks, threads, _)| (*blocks, *threads) == (2, 3)),
        "{both:?}"
    );
}

#[test]
fn a_model_that_was_chosen_keeps_its_shape() {
    let mut model = Model::small();
    model.multiprocessors = 3;
    let builder = Builder::new().model(model).schedules(2);
    assert_eq!(shapes_of(builder, Blocks::Resident), twice_each(&[(3, 4)]));
}

/// Every thread adds 1, and then all are counted.
#[repr(C)]
struct Count<'a> {
    count: SpanMut<'a, u32>,
}

// SAFETY: the count is atomic.
unsafe impl Kernel for Count<'_> {
    const NAME: &'static str = "count";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        self.count.atomic(0).fetch_add(acc, 1, Ordering::Relaxed);
    }
}

#[test]
fn every_schedule_of_every_shape_is_tried() {
    let explore = |shapes: &[(usize, usize)]| {
        let builder = Builder::new()
            .explore(Explore::Exhaustive)
            .shapes(shapes.iter().copied());
        let report = builder.check(|device| {
            let mut count = device.zeroed(1).unwrap();
            let count = count.span_mut();
            device.queue().launch(Blocks::Resident, Count { count }).unwrap();
        });
        assert!(report.complete);
        report.schedules
    };
    let [two, three] = [explore(&[(2, 1)]), explore(&[(3, 1)])];
    assert_eq!(explore(&[(3, 1), (1, 1), (2, 1)]), two + three + 1);
    assert!(three > two && two > 1);
}

/// The sum of a block's values: right where halves have no rest.
#[repr(C)]
struct Halve<'a> {
    sums: SpanMut<'a, u32>,
}

// SAFETY: what a thread adds lies above all that are written, and a barrier is between.
unsafe impl Kernel for Halve<'_> {
    const NAME: &'static str = "halve";
    type Shared = SharedArray<u32, 8>;

    fn run<A: Acc>(self, acc: A, shared: Self::Shared) {
        let me = acc.thread_index();
        shared.set(acc, me, 1);
        acc.sync_block();
        let mut half = acc.thread_count() / 2;
        while half > 0 {
            if me < half {
                shared.set(acc, me, shared.get(acc, me) + shared.get(acc, me + half));
            }
            acc.sync_block();
            half /= 2;
        }
        if me == 0 {
            self.sums.set(acc, acc.block_index(), shared.get(acc, 0));
        }
    }
}

#[test]
fn a_result_that_is_wrong_for_one_shape_fails_and_the_report_says_for_which() {
    let report = Builder::new().run(|device| {
        let mut sums = device.zeroed(device.most_resident_blocks()).unwrap();
        let kernel = Halve { sums: sums.span_mut() };
        device
            .queue()
            .launch(Blocks::Resident, kernel)
            .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(sums.span()[0], device.properties().threads_per_block as u32);
    });
    let text = report.to_string();
    let failure = report.failure.expect("three threads");
    let shape = failure.shape.unwrap();
    assert_eq!((shape.blocks, shape.threads), (3, 3), "{text}");
    assert!(failure.replay.ends_with("@3x3"), "{text}");
    assert!(text.contains("3 blocks of 3 threads"), "{text}");
}

#[test]
#[should_panic(expected = "2 blocks of 0 threads are no grid")]
fn a_shape_without_threads_is_refused() {
    let _ = Builder::new().shapes([(2, 0)]);
}
