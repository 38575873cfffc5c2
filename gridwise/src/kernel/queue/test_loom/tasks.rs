//! The task queue: each task is run once, after the one that made it, and no block leaves before the last has ended.

use super::*;

/// What the blocks do, seen from outside.
#[derive(Default)]
struct Log {
    /// Runs of each task.
    runs: [std::sync::atomic::AtomicU32; 4],
    ended: std::sync::atomic::AtomicU32,
}

/// Runs the tasks of a tree: task `i` of `tasks` makes `2 i + 1` and `2 i + 2`. A task reads what its maker wrote.
fn tree(world: World, tasks: u32) -> (Arc<World>, Arc<Log>) {
    let log = Arc::new(Log::default());
    let world = world.run({
        let log = log.clone();
        move |acc| {
            let queue = acc.world.queue();
            let written = &acc.world.written;
            let mut holding = false;
            while queue.next(acc, &mut holding) {
                let task = queue.current(acc);
                // SAFETY: loom reports a conflicting access before it happens.
                written[task as usize].with_mut(|word| unsafe { *word = task });
                if task > 0 {
                    let maker = (task - 1) / 2;
                    // SAFETY: as above.
                    written[maker as usize].with(|word| assert_eq!(unsafe { *word }, maker));
                }
                log.runs[task as usize].fetch_add(1, Ordering::Relaxed);
                for child in [2 * task + 1, 2 * task + 2] {
                    if child < tasks {
                        queue.spawner().spawn(acc, child);
                    }
                }
                log.ended.fetch_add(1, Ordering::Relaxed);
            }
            let stopped = acc.world.word_at_rest(&acc.world.memory.control[control::ATTENTION]) & control::STOP != 0;
            if !stopped {
                assert_eq!(log.ended.load(Ordering::Relaxed), tasks, "a block left too early");
            }
        }
    });
    (world, log)
}

impl World {
    /// A word's newest value, for the model itself.
    fn word_at_rest(&self, word: &u64) -> u64 {
        self.words[&core::ptr::from_ref(word).addr()]
            .newest
            .load(Ordering::Relaxed)
    }
}

fn each_is_run_once(world: World, tasks: u32) {
    let (_, log) = tree(world, tasks);
    for task in 0..tasks as usize {
        assert_eq!(log.runs[task].load(Ordering::Relaxed), 1, "task {task}");
    }
}

#[test]
fn loom_each_task_is_run_once() {
    explore(1, || each_is_run_once(World::new(2, 2, &[0], rules(2)), 3));
}

#[test]
fn loom_each_task_is_run_once_in_order_of_age() {
    explore(1, || {
        let rules = Rules {
            order: Order::Fifo,
            ..rules(2)
        };
        each_is_run_once(World::new(2, 2, &[0], rules), 3);
    });
}

#[test]
fn loom_a_chain_wakes_and_releases_the_block_that_waits() {
    explore(2, || each_is_run_once(World::new(2, 2, &[0], rules(2)), 2));
}

/// Seeds that make nothing; `raised_first`: whether a block is counted before it claims any.
fn seeds(raised_first: bool) {
    explore(2, move || {
        let mut world = World::new(2, 2, &[0, 0], rules(0));
        world.raised_first = raised_first;
        let ran = Arc::new(std::sync::atomic::AtomicU32::new(0));
        let count = ran.clone();
        world.run(move |acc| {
            let queue = acc.world.queue();
            let mut holding = false;
            while queue.next(acc, &mut holding) {
                count.fetch_add(1, Ordering::Relaxed);
            }
            assert_eq!(count.load(Ordering::Relaxed), 2, "a block left too early");
        });
        assert_eq!(ran.load(Ordering::Relaxed), 2);
    });
}

#[test]
fn loom_seeds_are_run_once() {
    seeds(true);
}

/// Counted after the claim, the block with the last seed may end the run while the one with the first has not run it.
#[test]
#[should_panic(expected = "a block left too early")]
fn loom_seeds_counted_after_the_claim() {
    seeds(false);
}

/// One slot in the ring: the blocks work their own pushes off.
#[test]
fn loom_a_full_ring_loses_no_task() {
    explore(1, || each_is_run_once(World::new(2, 1, &[0], rules(2)), 3));
}

/// Raised after the push, the counter may reach zero while the block that pushed has not ended its task.
#[test]
#[should_panic(expected = "a block left too early")]
fn loom_counted_after_the_push() {
    explore(1, || {
        let mut world = World::new(2, 1, &[0], rules(2));
        world.raised_first = false;
        each_is_run_once(world, 3);
    });
}
