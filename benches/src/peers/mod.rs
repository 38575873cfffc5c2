//! The peers: the same problems written by hand and with other libraries.

pub mod barrier;
pub mod breadth_first;
pub mod cg;
pub mod histogram;
pub mod jacobi;
pub mod launch;
pub mod loops;
pub mod mandelbrot;
pub mod neighbour_sum;
#[cfg(openmp)]
pub mod openmp;
pub mod poisson;
pub mod prefix;
pub mod raster;
pub mod reduce;
pub mod shared;
pub mod sort;
pub mod sparse_product;
pub mod spinning_pool;
pub mod tasks;
pub mod team;

use crate::affinity;

/// A rayon pool, one pinned thread a rank.
///
/// # Panics
///
/// If the threads cannot be created.
pub fn rayon_pool(threads: usize) -> rayon::ThreadPool {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .start_handler(affinity::pin)
        .build();
    pool.expect("the system refused the pool's threads")
}

#[cfg(feature = "fork_union")]
/// A fork_union pool, its threads pinned by rank; the caller is rank 0 and is pinned as well.
///
/// # Panics
///
/// If the threads cannot be created.
pub fn fork_union_pool(threads: usize) -> fork_union::ThreadPool {
    let mut pool = fork_union::ThreadPool::try_spawn(threads).expect("the system refused the pool's threads");
    drop(pool.for_threads(|rank, _| affinity::pin(rank))); // runs when dropped
    pool
}
