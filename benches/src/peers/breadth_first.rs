//! Breadth-first search, level by level. The serial program is the library's.

use super::rayon_pool;
use gridwise::algorithm::{
    breadth_first::{UNREACHED, sequential},
    sparse::Csr,
};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// One thread. Returns the time of `repeats` searches from vertex 0, and the levels.
///
/// # Panics
///
/// If it is no graph, or one without vertices.
pub fn serial(edges: &Csr, repeats: u64) -> (Duration, Vec<u32>) {
    let mut levels = Vec::new();
    let start = Instant::now();
    for _ in 0..repeats {
        levels = sequential(edges, &[0]).expect("a graph");
    }
    (start.elapsed(), levels)
}

/// rayon, a parallel iterator over the frontier of each level, from inside the pool. As [`serial`].
///
/// # Panics
///
/// As [`serial`].
pub fn rayon(edges: &Csr, repeats: u64, threads: usize) -> (Duration, Vec<u32>) {
    let levels: Vec<AtomicU32> = (0..edges.rows()).map(|_| AtomicU32::new(UNREACHED)).collect();
    let pool = rayon_pool(threads);
    pool.broadcast(|_| ()); // all awake and pinned
    let elapsed = pool.install(|| {
        let start = Instant::now();
        for _ in 0..repeats {
            for level in &levels {
                level.store(UNREACHED, Relaxed);
            }
            levels[0].store(0, Relaxed);
            search(edges, &levels);
        }
        start.elapsed()
    });
    (elapsed, levels.into_iter().map(AtomicU32::into_inner).collect())
}

fn search(edges: &Csr, levels: &[AtomicU32]) {
    let mut frontier = vec![0];
    let mut level = 0;
    while !frontier.is_empty() {
        level += 1;
        let first_to_come = |target: &u32| {
            let place = &levels[*target as usize];
            place.load(Relaxed) == UNREACHED && place.compare_exchange(UNREACHED, level, Relaxed, Relaxed).is_ok()
        };
        let found = frontier
            .par_iter()
            .with_min_len(64)
            .fold(Vec::new, |mut found, &vertex: &u32| {
                let targets = edges.row(vertex as usize).0;
                found.extend(targets.iter().copied().filter(first_to_come));
                found
            });
        frontier = found.reduce(Vec::new, |mut all, mut more| {
            all.append(&mut more);
            all
        });
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use gridwise_examples::matrix::network;

    #[test]
    fn both_find_the_same_levels() {
        for (scale, degree) in [(0, 2), (5, 2), (10, 8)] {
            let edges = network(scale, degree);
            let (_, expected) = serial(&edges, 1);
            let (_, levels) = rayon(&edges, 2, 2);
            assert_eq!(levels, expected, "{scale}");
        }
    }
}
