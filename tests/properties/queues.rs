//! Work queues against what plain code says: every index in one chunk, every task run once or handed back.

use gridwise::{
    host::tasks::{Order, TaskFailure},
    prelude::*,
};
use proptest::prelude::*;
use proptest::strategy::Strategy as _;

/// Marks the indices that are handed out, by either kind of queue.
#[repr(C)]
struct Mark<'a> {
    chunks: ChunkCounter<'a>,
    pieces: TwoLevelQueue<'a>,
    visits: SpanMut<'a, u32>,
}

// SAFETY: the visits are atomic.
unsafe impl Kernel for Mark<'_> {
    const NAME: &'static str = "mark";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        for i in self.chunks.claims(acc).flatten() {
            self.visits.atomic(i).fetch_add(acc, 1, Ordering::Relaxed);
        }
        for i in self.pieces.claims(acc).flatten() {
            self.visits.atomic(i).fetch_add(acc, 1, Ordering::Relaxed);
        }
    }
}

fn chunking() -> impl proptest::strategy::Strategy<Value = Chunking> {
    prop_oneof![
        (0_usize..40).prop_map(Chunking::Fixed),
        (0_usize..5, 0_usize..20).prop_map(|(divisor, minimum)| Chunking::Guided { divisor, minimum }),
        (0_usize..20).prop_map(|minimum| Chunking::Factoring { minimum }),
    ]
}

/// Task `i` makes the tasks listed for it.
#[repr(C)]
struct Forest<'a> {
    /// Where each task's list begins; one more, for the end.
    starts: Span<'a, u32>,
    lists: Span<'a, u32>,
    panics: u32,
    visits: SpanMut<'a, u32>,
}

const MOST: usize = 6;

// SAFETY: the visits are atomic.
unsafe impl Tasks for Forest<'_> {
    const NAME: &'static str = "forest";
    type Task = u32;
    type Shared = ();
    const MOST_SPAWNS: usize = MOST;

    fn run<A: Acc>(self, acc: A, _: (), task: u32, spawner: Spawner<'_, '_, u32>) {
        assert_ne!(task, self.panics, "this task panics");
        let task = task as usize;
        self.visits.atomic(task).fetch_add(acc, 1, Ordering::Relaxed);
        for &child in &self.lists[self.starts[task] as usize..self.starts[task + 1] as usize] {
            spawner.spawn(acc, child);
        }
    }
}

/// A forest: for each task but the first few an older one that makes it, as long as that makes fewer than it may.
fn forest() -> impl proptest::strategy::Strategy<Value = (Vec<u32>, Vec<Vec<u32>>)> {
    proptest::collection::vec(any::<u32>(), 0..150).prop_map(|choices| {
        let mut seeds = Vec::new();
        let mut children: Vec<Vec<u32>> = Vec::new();
        for (task, choice) in choices.into_iter().enumerate() {
            let maker = choice as usize % (task + 1);
            if maker < task && children[maker].len() < MOST {
                children[maker].push(task as u32);
            } else {
                seeds.push(task as u32);
            }
            children.push(Vec::new());
        }
        (seeds, children)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn every_index_is_handed_out_once(
        len in 0_usize..2000, chunking in chunking(), per_block in 0_usize..6, small in 0_usize..70, blocks in 1_usize..6,
    ) {
        let device = Device::open("cpu:blocks=3,wait=passive").unwrap();
        let queue = device.queue();
        let mut chunks = queue.chunks(len, chunking).unwrap();
        let mut pieces = queue.pieces(len, per_block, small).unwrap();
        let mut visits = device.zeroed(len).unwrap();
        let kernel = Mark {
            chunks: chunks.fresh(&queue),
            pieces: pieces.fresh(&queue),
            visits: visits.span_mut(),
        };
        queue.launch(Blocks::Exactly(blocks), kernel).unwrap();
        prop_assert_eq!(queue.download(&visits).unwrap(), vec![2; len]);
    }

    /// With a ring as small as can be: nothing is lost, nothing is done twice, whether tasks run out of room or one panics.
    #[test]
    fn every_task_is_run_once_or_handed_back(
        (seeds, children) in forest(),
        capacity in 1_usize..5, keep in 1_usize..4, blocks in 1_usize..4,
        fifo in any::<bool>(), relaunch in any::<bool>(), panics in proptest::option::of(0_u32..150),
    ) {
        let device = Device::open("cpu:blocks=3,wait=passive").unwrap();
        let queue = device.queue();
        let tasks = children.len();
        let starts: Vec<u32> = (0..=tasks).map(|task| children[..task].iter().map(Vec::len).sum::<usize>() as u32).collect();
        let starts = queue.upload(&starts).unwrap();
        let lists = queue.upload(&children.concat()).unwrap();
        let mut visits = device.zeroed(tasks).unwrap();
        let strategy = if relaunch { gridwise::prelude::Strategy::Relaunch } else { gridwise::prelude::Strategy::Persistent };
        let order = if fifo { Order::Fifo } else { Order::Lifo };
        let options = TaskOptions::from(strategy).order(order).capacity(capacity).keep(keep).grid(Blocks::Exactly(blocks));

        let mut panics = panics.filter(|&task| (task as usize) < tasks);
        let mut rest = seeds;
        loop {
            let kernel = Forest {
                starts: starts.span(),
                lists: lists.span(),
                panics: panics.unwrap_or(u32::MAX),
                visits: visits.span_mut(),
            };
            let Err(error) = queue.run_tasks(kernel, &rest, options) else { break };
            prop_assert!(error.interrupted.is_empty());
            rest = error.unfinished;
            match *error.cause {
                TaskFailure::Overflow { .. } => prop_assert!(!rest.is_empty()),
                TaskFailure::Launch(LaunchError::Panicked { .. }) => {
                    // It has done nothing yet: again, and this time without a panic.
                    prop_assert_eq!(error.panicked, panics.take());
                    rest.extend(error.panicked);
                }
                ref other => prop_assert!(false, "{}", other),
            }
        }
        prop_assert_eq!(panics, None);
        prop_assert_eq!(queue.download(&visits).unwrap(), vec![1; tasks]);
    }
}
