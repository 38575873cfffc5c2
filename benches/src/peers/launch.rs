//! Launching an empty region that every thread must really have run.
//!
//! Many advertised launch costs are of a caller that runs all parts itself. Here each thread adds one to its own counter in every launch, and a
//! measurement in which some thread missed one panics.

#[cfg(feature = "fork_union")]
use super::fork_union_pool;
use super::rayon_pool;
use super::spinning_pool::SpinningPool;
use crate::affinity;
use crossbeam_utils::CachePadded;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// One counter a thread, each on its own line.
#[derive(Debug)]
pub struct Counters(Vec<CachePadded<AtomicU64>>);

impl Counters {
    /// What thread `rank` does in a launch.
    #[inline(always)]
    pub fn touch(&self, rank: usize) {
        let own = &self.0[rank];
        own.store(own.load(Ordering::Relaxed) + 1, Ordering::Relaxed); // nobody else writes it
    }
}

/// Time of `launches` launches, after some for warming up. With an `idle` above zero the caller waits that long, busily, before each launch; the result is
/// then the median launch times their number, because a few interruptions would outweigh so few launches.
///
/// `launch` must have every thread, by rank, call [`Counters::touch`] once before it returns.
///
/// # Panics
///
/// If some thread missed a launch.
pub fn rendezvous(threads: usize, launches: u64, idle: Duration, mut launch: impl FnMut(&Counters)) -> Duration {
    let counters = Counters((0..threads).map(|_| CachePadded::default()).collect());
    let warm_up = launches / 10 + 1;
    for _ in 0..warm_up {
        launch(&counters);
    }
    let elapsed = if idle.is_zero() {
        let start = Instant::now();
        for _ in 0..launches {
            launch(&counters);
        }
        start.elapsed()
    } else {
        let mut each = Vec::with_capacity(launches as usize);
        for _ in 0..launches {
            let idle_since = Instant::now();
            while idle_since.elapsed() < idle {}
            let start = Instant::now();
            launch(&counters);
            each.push(start.elapsed());
        }
        median_times(each)
    };
    for (rank, counter) in counters.0.iter().enumerate() {
        assert_eq!(
            counter.load(Ordering::Relaxed),
            warm_up + launches,
            "thread {rank} missed a launch"
        );
    }
    elapsed
}

/// The median, times the number of values.
pub(crate) fn median_times(values: impl IntoIterator<Item = Duration>) -> Duration {
    let mut values: Vec<Duration> = values.into_iter().collect();
    values.sort_unstable();
    values
        .get(values.len() / 2)
        .map_or(Duration::ZERO, |&median| median * values.len() as u32)
}

/// Workers that spin for ever, and the caller.
pub fn spinning_pool(threads: usize, launches: u64, idle: Duration) -> Duration {
    let mut pool = SpinningPool::new(threads);
    rendezvous(threads, launches, idle, |counters| {
        pool.launch(&|rank| counters.touch(rank))
    })
}

/// `rayon::broadcast` from inside the pool.
pub fn rayon_broadcast(threads: usize, launches: u64, idle: Duration) -> Duration {
    let region = |counters: &Counters| drop(rayon::broadcast(|context| counters.touch(context.index())));
    rayon_pool(threads).install(|| rendezvous(threads, launches, idle, region))
}

/// fork_union's `for_threads`, the caller taking part.
#[cfg(feature = "fork_union")]
pub fn fork_union(threads: usize, launches: u64, idle: Duration) -> Duration {
    let mut pool = fork_union_pool(threads);
    // The operation runs when it is dropped.
    rendezvous(threads, launches, idle, |counters| {
        drop(pool.for_threads(|rank, _| counters.touch(rank)))
    })
}

/// New threads for each launch, and the caller.
pub fn scope_spawn(threads: usize, launches: u64, idle: Duration) -> Duration {
    rendezvous(threads, launches, idle, |counters| {
        std::thread::scope(|scope| {
            for rank in 1..threads {
                scope.spawn(move || {
                    affinity::pin(rank);
                    counters.touch(rank);
                });
            }
            counters.touch(0);
        });
    })
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn one_interruption_does_not_move_the_median() {
        let values = [3, 1_000_000, 2, 1, 4].map(Duration::from_nanos);
        assert_eq!(median_times(values), Duration::from_nanos(15));
        assert_eq!(median_times([]), Duration::ZERO);
    }

    #[test]
    fn every_peer_runs_every_thread_in_every_launch() {
        let peers: &[fn(usize, u64, Duration) -> Duration] = &[
            spinning_pool,
            rayon_broadcast,
            #[cfg(feature = "fork_union")]
            fork_union,
            scope_spawn,
        ];
        for &peer in peers {
            for idle in [Duration::ZERO, Duration::from_micros(20)] {
                let sample = std::thread::spawn(move || peer(2, 20, idle));
                assert!(sample.join().unwrap() > Duration::ZERO);
            }
        }
    }

    #[test]
    #[should_panic(expected = "thread 1 missed a launch")]
    fn a_launch_that_skips_a_thread_is_found_out() {
        rendezvous(2, 5, Duration::ZERO, |counters| counters.touch(0));
    }
}
