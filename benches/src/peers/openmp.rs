//! The same problems in C with OpenMP (`benches/openmp/*.c`), compiled by the build script.
//!
//! Each function makes its team on the calling thread, pins it by rank with [`affinity::pin`], measures inside C, and dismisses the team before it returns.
//! `OMP_PROC_BIND` is not used: libgomp would pin the program's first thread already when it is loaded, and with it every thread of the other contenders.

use super::cg::{Problem, Solution};
use super::histogram::Counts;
use super::jacobi::{Run, initial};
use super::launch::median_times;
use super::loops::Items;
use super::tasks::Chains;
use crate::affinity;
use gridwise::algorithm::sparse::Csr;
use gridwise_examples::mandelbrot::View;
use std::ffi::c_int;
use std::time::Duration;

type Pin = extern "C" fn(u32);

// SAFETY: the signatures are those of the C sources; `pin` is called by every thread of the team and does not unwind.
unsafe extern "C" {
    #[cfg(test)]
    fn gridwise_omp_busy_work(steps: u64, value: u64) -> u64;
    fn gridwise_omp_barrier(threads: c_int, rounds: u64, work_steps: u64, pin: Pin) -> u64;
    fn gridwise_omp_launch(threads: c_int, launches: u64, idle_ns: u64, each: *mut u64, pin: Pin) -> u64;
    fn gridwise_omp_jacobi(threads: c_int, n: usize, steps: u64, a: *mut f32, b: *mut f32, pin: Pin) -> u64;
    fn gridwise_omp_neighbour_sum(
        threads: c_int,
        n: usize,
        chunk: usize,
        repeats: u64,
        input: *const i32,
        out: *mut i32,
        pin: Pin,
    ) -> u64;
    fn gridwise_omp_scan(threads: c_int, n: usize, repeats: u64, input: *const u32, out: *mut u32, pin: Pin) -> u64;
    fn gridwise_omp_compact(
        threads: c_int,
        n: usize,
        repeats: u64,
        input: *const u32,
        out: *mut u32,
        kept: *mut usize,
        pin: Pin,
    ) -> u64;
    fn gridwise_omp_sum_u32(threads: c_int, n: usize, input: *const u32, repeats: u64, sum: *mut u32, pin: Pin) -> u64;
    fn gridwise_omp_sum_f64(threads: c_int, n: usize, input: *const f64, repeats: u64, sum: *mut f64, pin: Pin) -> u64;
    fn gridwise_omp_histogram(
        threads: c_int,
        n: usize,
        input: *const u8,
        tables: c_int,
        repeats: u64,
        counts: *mut u64,
        pin: Pin,
    ) -> u64;
    fn gridwise_omp_loop(
        threads: c_int,
        n: usize,
        steps: *const u32,
        guided: c_int,
        chunk: c_int,
        passes: u64,
        sum: *mut u64,
        pin: Pin,
    ) -> u64;
    fn gridwise_omp_chains(
        threads: c_int,
        chains: u32,
        links: u32,
        steps: u64,
        passes: u64,
        sum: *mut u64,
        pin: Pin,
    ) -> u64;
    fn gridwise_omp_cg(
        threads: c_int,
        rows: usize,
        offsets: *const u32,
        columns: *const u32,
        values: *const f64,
        inverse_diagonal: *const f64,
        b: *const f64,
        steps: u64,
        x: *mut f64,
        norm: *mut f64,
        pin: Pin,
    ) -> u64;
    fn gridwise_omp_mandelbrot(
        threads: c_int,
        left: f64,
        top: f64,
        step: f64,
        iterations: u32,
        width: u32,
        height: u32,
        repeats: u64,
        image: *mut u32,
        pin: Pin,
    ) -> u64;
    fn gridwise_omp_sparse_product(
        threads: c_int,
        rows: usize,
        offsets: *const u32,
        columns: *const u32,
        values: *const f64,
        x: *const f64,
        chunk: c_int,
        repeats: u64,
        y: *mut f64,
        pin: Pin,
    ) -> u64;
}

extern "C" fn pin(rank: u32) {
    affinity::pin(rank as usize);
}

/// The number of threads as C takes it.
fn team(threads: usize) -> c_int {
    assert!(threads > 0, "a team has at least one thread");
    c_int::try_from(threads).expect("a team that C can count")
}

/// Replaces this program by itself with `OMP_WAIT_POLICY=active`, unless that variable is set. Returns only if it was set or the system refuses.
pub(crate) fn restart_with_active_waiting() {
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        const POLICY: &str = "OMP_WAIT_POLICY";
        if std::env::var_os(POLICY).is_some() {
            return;
        }
        let Ok(program) = std::env::current_exe() else { return };
        let error = std::process::Command::new(program)
            .args(std::env::args_os().skip(1))
            .env(POLICY, "active")
            .exec();
        eprintln!("OpenMP teams will not wait actively: {error}");
    }
}

/// `#pragma omp barrier` in one region: time of `rounds` rounds, each after `work_steps` of [`busy::work`](crate::busy::work).
pub fn barrier(threads: usize, rounds: u64, work_steps: u64) -> Duration {
    // SAFETY: the function takes numbers only.
    Duration::from_nanos(unsafe { gridwise_omp_barrier(team(threads), rounds, work_steps, pin) })
}

/// A parallel region that every thread must have run: as [`rendezvous`](super::launch::rendezvous).
///
/// # Panics
///
/// If some thread missed a launch.
pub fn launch(threads: usize, launches: u64, idle: Duration) -> Duration {
    let mut each = vec![0; if idle.is_zero() { 0 } else { launches as usize }];
    // SAFETY: with an idle time `each` has an element for every launch, without one it is not written; it lives through the call.
    let elapsed =
        unsafe { gridwise_omp_launch(team(threads), launches, idle.as_nanos() as u64, each.as_mut_ptr(), pin) };
    assert!(elapsed > 0 || launches == 0, "a thread missed a launch");
    if idle.is_zero() {
        Duration::from_nanos(elapsed)
    } else {
        median_times(each.into_iter().map(Duration::from_nanos))
    }
}

/// Jacobi in one persistent region, a barrier a step: as [`persistent`](super::jacobi::persistent).
pub fn jacobi(n: usize, steps: u64, threads: usize) -> Run {
    let mut a = initial(n);
    let mut b = a.clone();
    // SAFETY: both arrays have the n × n elements that the function reads and writes, and live through the call.
    let elapsed = unsafe { gridwise_omp_jacobi(team(threads), n, steps, a.as_mut_ptr(), b.as_mut_ptr(), pin) };
    Run {
        elapsed: Duration::from_nanos(elapsed),
        grid: if steps.is_multiple_of(2) { a } else { b },
    }
}

/// A plain `parallel for` over the chunks: as [`rayon`](super::neighbour_sum::rayon).
///
/// # Panics
///
/// If `input` and `out` differ in length, or `chunk` is 0.
pub fn neighbour_sum(input: &[i32], out: &mut [i32], chunk: usize, repeats: u64, threads: usize) -> Duration {
    assert_eq!(input.len(), out.len());
    assert!(chunk > 0, "a chunk has at least one element");
    let (team, n) = (team(threads), out.len());
    // SAFETY: both arrays have the n elements that the function reads and writes, they do not overlap, and they live through the call.
    let elapsed = unsafe { gridwise_omp_neighbour_sum(team, n, chunk, repeats, input.as_ptr(), out.as_mut_ptr(), pin) };
    Duration::from_nanos(elapsed)
}

/// Prefix sums, two passes in a region: as [`scan_rayon`](super::prefix::scan_rayon).
///
/// # Panics
///
/// If `input` and `out` differ in length.
pub fn scan(input: &[u32], out: &mut [u32], repeats: u64, threads: usize) -> Duration {
    assert_eq!(input.len(), out.len());
    let (team, n) = (team(threads), out.len());
    // SAFETY: both arrays have the n elements that the function reads and writes, they do not overlap, and they live through the call.
    Duration::from_nanos(unsafe { gridwise_omp_scan(team, n, repeats, input.as_ptr(), out.as_mut_ptr(), pin) })
}

/// Compaction, two passes in a region: as [`compact_rayon`](super::prefix::compact_rayon).
///
/// # Panics
///
/// If `input` and `out` differ in length.
pub fn compact(input: &[u32], out: &mut [u32], repeats: u64, threads: usize) -> (Duration, usize) {
    assert_eq!(input.len(), out.len());
    let (team, n, mut kept) = (team(threads), out.len(), 0);
    // SAFETY: both arrays have the n elements that the function reads and writes at most, they do not overlap, and they live through the
    // call, as does `kept`.
    let elapsed =
        unsafe { gridwise_omp_compact(team, n, repeats, input.as_ptr(), out.as_mut_ptr(), &raw mut kept, pin) };
    (Duration::from_nanos(elapsed), kept)
}

/// How OpenMP deals out a loop while it runs.
#[derive(Clone, Copy, Debug)]
pub enum Schedule {
    /// `schedule(dynamic, k)`.
    Dynamic(usize),
    /// `schedule(guided, k)`.
    Guided(usize),
}

/// A `parallel for` over the items: as [`by_hand`](super::loops::by_hand).
///
/// # Panics
///
/// If an item was left out, or done twice.
pub fn loops(items: &Items, schedule: Schedule, passes: u64, threads: usize) -> Duration {
    let (guided, chunk) = match schedule {
        Schedule::Dynamic(chunk) => (0, chunk),
        Schedule::Guided(chunk) => (1, chunk),
    };
    let chunk = c_int::try_from(chunk).expect("a chunk that C can count");
    let (steps, mut sum) = (items.steps(), 0);
    // SAFETY: `steps` has as many elements as the function reads, `sum` is one word; both live through the call.
    let elapsed = unsafe {
        gridwise_omp_loop(
            team(threads),
            steps.len(),
            steps.as_ptr(),
            guided,
            chunk,
            passes,
            &mut sum,
            pin,
        )
    };
    items.check(sum, passes);
    Duration::from_nanos(elapsed)
}

/// A task for each link: as [`rayon`](super::tasks::rayon).
///
/// # Panics
///
/// If a task was left out, or done twice.
pub fn chains(problem: &Chains, passes: u64, threads: usize) -> Duration {
    let ((chains, links), mut sum) = (problem.shape(), 0);
    // SAFETY: `sum` is one word, and lives through the call.
    let elapsed = unsafe { gridwise_omp_chains(team(threads), chains, links, problem.steps(), passes, &mut sum, pin) };
    problem.check(sum, passes);
    Duration::from_nanos(elapsed)
}

/// Conjugate gradients in one persistent region, three barriers a step: as [`persistent`](super::cg::persistent).
///
/// # Panics
///
/// If the vectors of the problem have not the matrix's size.
pub fn cg(problem: &Problem, steps: u64, threads: usize) -> Solution {
    let (matrix, rows) = (&problem.matrix, problem.matrix.rows());
    assert_eq!((problem.b.len(), problem.inverse_diagonal.len()), (rows, rows));
    let (mut x, mut norm) = (vec![0.0; rows], 0.0);
    // SAFETY: the arrays have the sizes that `rows` and the matrix's offsets give (`Csr` holds to that), the written ones overlap no other, and all live
    // through the call.
    let elapsed = unsafe {
        gridwise_omp_cg(
            team(threads),
            rows,
            matrix.offsets().as_ptr(),
            matrix.columns().as_ptr(),
            matrix.values().as_ptr(),
            problem.inverse_diagonal.as_ptr(),
            problem.b.as_ptr(),
            steps,
            x.as_mut_ptr(),
            &mut norm,
            pin,
        )
    };
    Solution {
        elapsed: Duration::from_nanos(elapsed),
        x,
        norm,
    }
}

/// A task a rectangle: as [`rayon`](super::mandelbrot::rayon).
///
/// # Panics
///
/// If `image` has not `side` by `side` pixels, or none.
pub fn mandelbrot(view: View, side: u32, image: &mut [u32], repeats: u64, threads: usize) -> Duration {
    assert!(
        side > 0 && image.len() == side as usize * side as usize,
        "an element a pixel"
    );
    let View {
        left,
        top,
        step,
        iterations,
    } = view;
    let (team, image) = (team(threads), image.as_mut_ptr());
    // SAFETY: the image has the pixels that the function reads and writes, and lives through the call.
    Duration::from_nanos(unsafe {
        gridwise_omp_mandelbrot(team, left, top, step, iterations, side, side, repeats, image, pin)
    })
}

/// A `parallel for` over the rows, claimed in chunks of `chunk`: as [`rayon`](super::sparse_product::rayon).
///
/// # Panics
///
/// If a vector does not fit the matrix, or `chunk` is 0.
pub fn sparse_product(matrix: &Csr, x: &[f64], y: &mut [f64], chunk: usize, repeats: u64, threads: usize) -> Duration {
    assert_eq!((x.len(), y.len()), (matrix.columns(), matrix.rows()));
    assert!(chunk > 0, "a chunk has at least one row");
    // SAFETY: the arrays have the sizes that the matrix's rows and offsets give (`Csr` holds to that), `y` overlaps no other, and all
    // live through the call.
    let elapsed = unsafe {
        gridwise_omp_sparse_product(
            team(threads),
            matrix.rows(),
            matrix.row_offsets().as_ptr(),
            matrix.column_indices().as_ptr(),
            matrix.values().as_ptr(),
            x.as_ptr(),
            chunk as c_int,
            repeats,
            y.as_mut_ptr(),
            pin,
        )
    };
    Duration::from_nanos(elapsed)
}

/// A `parallel for` with a reduction: as [`rayon`](super::reduce::rayon).
pub fn sum_u32(numbers: &[u32], repeats: u64, threads: usize) -> (Duration, u32) {
    let (team, mut sum) = (team(threads), 0);
    // SAFETY: `numbers` has the elements that the function reads, `sum` is one word; both live through the call.
    let elapsed = unsafe { gridwise_omp_sum_u32(team, numbers.len(), numbers.as_ptr(), repeats, &mut sum, pin) };
    (Duration::from_nanos(elapsed), sum)
}

/// As [`sum_u32`].
pub fn sum_f64(numbers: &[f64], repeats: u64, threads: usize) -> (Duration, f64) {
    let (team, mut sum) = (team(threads), 0.0);
    // SAFETY: as in `sum_u32`.
    let elapsed = unsafe { gridwise_omp_sum_f64(team, numbers.len(), numbers.as_ptr(), repeats, &mut sum, pin) };
    (Duration::from_nanos(elapsed), sum)
}

/// One table or eight a thread, added up in a critical section: as [`rayon`](super::histogram::rayon).
pub fn histogram(bytes: &[u8], tables: usize, repeats: u64, threads: usize) -> (Duration, Counts) {
    let (team, mut counts) = (team(threads), vec![0; 256]);
    let (n, tables) = (bytes.len(), tables as c_int);
    // SAFETY: `bytes` has the elements that the function reads, `counts` a word for each value; both live through the call.
    let elapsed = unsafe { gridwise_omp_histogram(team, n, bytes.as_ptr(), tables, repeats, counts.as_mut_ptr(), pin) };
    (Duration::from_nanos(elapsed), counts)
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn both_languages_do_the_same_work() {
        // SAFETY: the function takes numbers only.
        let in_c = unsafe { gridwise_omp_busy_work(1000, 7) };
        assert_eq!(in_c, crate::busy::work(1000, 7));
    }

    #[test]
    fn barriers_and_launches_take_time() {
        let sample = std::thread::spawn(|| {
            assert!(barrier(2, 20, 100) > Duration::ZERO);
            assert!(launch(2, 20, Duration::ZERO) > Duration::ZERO);
            assert!(launch(2, 5, Duration::from_micros(20)) > Duration::ZERO);
        });
        sample.join().unwrap();
    }
}
