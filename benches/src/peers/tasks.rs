//! Tasks that make tasks, and tasks that are known beforehand: crossbeam-deque by hand, rayon, a plain stack.

use super::rayon_pool;
use super::spinning_pool::SpinningPool;
use crate::busy;
use crossbeam_deque::{Injector, Steal, Stealer, Worker};
use crossbeam_utils::CachePadded;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A link of a chain: how many come after it, and what came before.
pub type Link = [u32; 2];

/// Chains of tasks: each task of a chain makes the next.
#[derive(Debug)]
pub struct Chains {
    chains: u32,
    links: u32,
    /// Of a task.
    steps: u64,
    sum: u64,
}

impl Chains {
    /// `chains` chains of `links` tasks that take `steps` steps.
    pub fn new(chains: u32, links: u32, steps: u64) -> Self {
        let mut problem = Self {
            chains,
            links,
            steps,
            sum: 0,
        };
        for seed in problem.seeds() {
            let mut task = seed;
            let end = loop {
                match problem.run(task) {
                    Ok(next) => task = next,
                    Err(end) => break end,
                }
            };
            problem.sum = problem.sum.wrapping_add(end);
        }
        problem
    }

    /// The first task of each chain.
    pub fn seeds(&self) -> Vec<Link> {
        (0..self.chains).map(|chain| [self.links - 1, chain + 1]).collect()
    }

    /// Steps of a task.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Chains and links in each.
    pub fn shape(&self) -> (u32, u32) {
        (self.chains, self.links)
    }

    /// Does a task: the next one, or what the chain comes to.
    #[inline(always)]
    pub fn run(&self, task: Link) -> Result<Link, u64> {
        link(self.steps, task)
    }

    /// Panics unless the ends of all chains in `passes` passes come to `sum`.
    ///
    /// # Panics
    ///
    /// See above.
    pub fn check(&self, sum: u64, passes: u64) {
        assert_eq!(sum, self.sum.wrapping_mul(passes), "a task was left out or done twice");
    }
}

/// Does a task of a chain: the next one, or what the chain comes to. Not inlined, for the same reason as [`item`](super::loops::item).
#[inline(never)]
pub fn link(steps: u64, [left, value]: Link) -> Result<Link, u64> {
    let value = busy::work(steps, u64::from(value)) as u32;
    match left {
        0 => Err(u64::from(value)),
        left => Ok([left - 1, value]),
    }
}

/// The next task: one's own, the injector's, another's. As the documentation of crossbeam-deque has it.
fn find<T>(own: &Worker<T>, injector: &Injector<T>, stealers: &[Stealer<T>]) -> Option<T> {
    own.pop().or_else(|| {
        loop {
            let stolen = injector
                .steal_batch_and_pop(own)
                .or_else(|| stealers.iter().map(Stealer::steal).collect::<Steal<T>>());
            match stolen {
                Steal::Success(task) => return Some(task),
                Steal::Empty => return None,
                Steal::Retry => {}
            }
        }
    })
}

/// Deques, an injector, and a count of the tasks that are left, changed by a task only if it makes none: on threads that spin.
pub fn crossbeam(problem: &Chains, passes: u64, threads: usize) -> Duration {
    let mut pool = SpinningPool::new(threads);
    let seeds = problem.seeds();
    let sum = CachePadded::new(AtomicU64::new(0));
    let start = Instant::now();
    for _ in 0..passes {
        let deques: Vec<Mutex<Worker<Link>>> = (0..threads).map(|_| Mutex::new(Worker::new_lifo())).collect();
        let stealers: Vec<_> = deques.iter().map(|deque| lock(deque).stealer()).collect();
        let injector = Injector::new();
        for &seed in &seeds {
            injector.push(seed);
        }
        let left = CachePadded::new(AtomicU64::new(seeds.len() as u64));
        pool.launch(&|rank| {
            let own = lock(&deques[rank]);
            while left.load(Ordering::Acquire) > 0 {
                while let Some(task) = find(&own, &injector, &stealers) {
                    match problem.run(task) {
                        Ok(next) => own.push(next),
                        Err(end) => {
                            sum.fetch_add(end, Ordering::Relaxed);
                            left.fetch_sub(1, Ordering::AcqRel);
                        }
                    }
                }
                std::hint::spin_loop();
            }
        });
    }
    let elapsed = start.elapsed();
    problem.check(sum.load(Ordering::Relaxed), passes);
    elapsed
}

/// Tasks that are known beforehand, `steps` steps each: an injector, from which each thread steals batches.
pub fn crossbeam_known(tasks: u32, steps: u64, passes: u64, threads: usize) -> Duration {
    let mut pool = SpinningPool::new(threads);
    let sum = CachePadded::new(AtomicU64::new(0));
    let start = Instant::now();
    for _ in 0..passes {
        let injector = Injector::new();
        for task in 0..tasks {
            injector.push(task);
        }
        pool.launch(&|_| {
            let own = Worker::new_lifo();
            let mut part = 0_u64;
            while let Some(task) = find(&own, &injector, &[]) {
                part = part.wrapping_add(known(steps, task));
            }
            sum.fetch_add(part, Ordering::Relaxed);
        });
    }
    let elapsed = start.elapsed();
    check_known(tasks, steps, sum.load(Ordering::Relaxed), passes);
    elapsed
}

/// What is done for a task that is known beforehand. Not inlined, as [`link`].
#[inline(never)]
pub fn known(steps: u64, task: u32) -> u64 {
    busy::work(steps, u64::from(task) + 1)
}

/// Panics unless `passes` passes over tasks that are known come to `sum`.
///
/// # Panics
///
/// See above.
pub fn check_known(tasks: u32, steps: u64, sum: u64, passes: u64) {
    // Outside the time that counts, but not for nothing: once a sample.
    let once = (0..tasks).fold(0_u64, |sum, task| sum.wrapping_add(known(steps, task)));
    assert_eq!(sum, once.wrapping_mul(passes), "a task was left out or done twice");
}

/// A spawn a task in one scope.
pub fn rayon(problem: &Chains, passes: u64, threads: usize) -> Duration {
    fn follow<'s>(scope: &rayon::Scope<'s>, problem: &'s Chains, sum: &'s AtomicU64, task: Link) {
        match problem.run(task) {
            Ok(next) => scope.spawn(move |scope| follow(scope, problem, sum, next)),
            Err(end) => {
                sum.fetch_add(end, Ordering::Relaxed);
            }
        }
    }
    rayon_pool(threads).install(|| {
        let sum = CachePadded::new(AtomicU64::new(0));
        let start = Instant::now();
        for _ in 0..passes {
            rayon::scope(|scope| {
                for seed in problem.seeds() {
                    let sum = &*sum;
                    scope.spawn(move |scope| follow(scope, problem, sum, seed));
                }
            });
        }
        let elapsed = start.elapsed();
        problem.check(sum.load(Ordering::Relaxed), passes);
        elapsed
    })
}

/// A stack of one thread.
pub fn stack(problem: &Chains, passes: u64) -> Duration {
    let mut sum = 0_u64;
    let start = Instant::now();
    for _ in 0..passes {
        let mut stack = problem.seeds();
        while let Some(task) = stack.pop() {
            match problem.run(task) {
                Ok(next) => stack.push(next),
                Err(end) => sum = sum.wrapping_add(end),
            }
        }
    }
    let elapsed = start.elapsed();
    problem.check(sum, passes);
    elapsed
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn every_peer_does_every_task_once() {
        let problem = Chains::new(20, 30, 5);
        std::thread::scope(|scope| {
            let sample = scope.spawn(|| {
                assert!(crossbeam(&problem, 2, 2) > Duration::ZERO);
                assert!(crossbeam_known(1000, 5, 2, 2) > Duration::ZERO);
                assert!(rayon(&problem, 2, 2) > Duration::ZERO);
                assert!(stack(&problem, 2) > Duration::ZERO);
                #[cfg(openmp)]
                assert!(crate::peers::openmp::chains(&problem, 2, 2) > Duration::ZERO);
            });
            sample.join().unwrap();
        });
    }

    #[test]
    #[should_panic(expected = "left out")]
    fn a_chain_left_out_is_found_out() {
        Chains::new(2, 3, 5).check(0, 1);
    }
}
