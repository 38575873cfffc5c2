//! The peers that gridwise is measured against, and the harness that measures them side by side.
//!
//! Each bench is a program that runs a list of contenders interleaved and prints absolute values and ratios to a named baseline:
//!
//! ```text
//! cargo bench -p gridwise-benches --bench barrier                    # under a minute
//! cargo bench -p gridwise-benches --bench barrier -- --quick         # a few seconds: does it still run?
//! cargo bench -p gridwise-benches --bench jacobi -- --markdown       # tables to paste
//! cargo bench -p gridwise-benches --bench jacobi -- 256 openmp       # only names that contain one of these, and the baselines
//! RUSTFLAGS="-C target-cpu=native" cargo bench -p gridwise-benches   # what the machine can do, both languages
//! ```
//!
//! By default both sides are built for the target's baseline. With `-C target-cpu=native` the C peers get `-march=native` as well (the build script looks
//! for AVX2 among the target features), so that both languages may always use the same instructions. C code is compiled at `-O3`; without a C compiler
//! that links OpenMP those contenders are absent, and everything else works. fork_union compiles C++, and comes with `--features fork_union`.
//!
//! | module | what |
//! |---|---|
//! | [`harness`] | interleaved samples, medians and quartiles, ratios, tables |
//! | [`affinity`], [`busy`] | pinning by rank; work of a known length |
//! | [`peers::team`] | threads by hand: pinned, one function, one rank each |
//! | [`peers::barrier`] | spinning and yielding barriers by hand, `std::sync::Barrier` |
//! | [`peers::launch`] | empty regions: spinning pool by hand, rayon, fork_union, `std::thread::scope` |
//! | [`peers::loops`], [`peers::tasks`] | loops dealt out while they run, tasks that make tasks: by hand, rayon, crossbeam-deque |
//! | [`peers::jacobi`], [`peers::neighbour_sum`], [`peers::cg`] | the same problem on each peer, results comparable |
//! | [`peers::prefix`] | prefix sums and compaction |
//! | [`peers::mandelbrot`], [`peers::raster`], [`peers::sparse_product`], [`peers::breadth_first`] | irregular work; the problems are those of the examples |
//! | [`peers::reduce`], [`peers::histogram`], [`peers::sort`] | what ready-made algorithms do, by hand and by crates that are made for it |
//! | `peers::openmp` | all of it in C with OpenMP, present with `cfg(openmp)` |
//!
//! # What the figures can and cannot say
//!
//! Absolute values move from machine to machine and hour to hour; the ratios within one run are what to look at. All contenders of a comparison wait
//! actively unless their name says otherwise; pools are pinned, one thread a core, because unpinned ones lose milliseconds when both threads land on one
//! core.

pub mod affinity;
pub mod busy;
pub mod harness;
pub mod ours;
pub mod peers;
