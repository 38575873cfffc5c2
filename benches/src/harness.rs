//! Contenders side by side: interleaved samples, medians, ratios to a baseline.
//!
//! ```no_run
//! use gridwise_benches::harness::{self, Comparison};
//! use std::time::Instant;
//!
//! harness::prepare();
//! Comparison::new("sum of 1000 numbers")
//!     .unit("ns per sum")
//!     .baseline("iterator")
//!     .add("iterator", 10_000, |iterations| {
//!         let start = Instant::now();
//!         for _ in 0..iterations {
//!             std::hint::black_box((0..1000u64).sum::<u64>());
//!         }
//!         start.elapsed()
//!     })
//!     .run();
//! ```
//!
//! # How it measures
//!
//! One warm-up sample each, then rounds; in each round every contender gives one sample, in an order shuffled anew, so that a slow minute of the machine
//! hits all of them. Reported are the median of the samples and the quartiles, and the ratio of medians to the baseline with the quartiles of the ratios
//! taken round by round.
//!
//! A contender is a closure from an iteration count to the time these iterations took: set-up stays outside what it times. **It must end its threads
//! before it returns**: a pool that spins in the background would be measured with the next contender. Every sample runs on a fresh thread that may use all
//! cores, so a closure may pin its caller.

mod options;
mod statistics;
mod table;

pub use options::Options;
pub use statistics::Quartiles;

use std::time::{Duration, Instant};

/// Call first in `main`, before any thread exists. Gives OpenMP its waiting policy by starting the program anew where needed.
///
/// The OpenMP runtime reads `OMP_WAIT_POLICY` when it is loaded, before `main`. The comparison is with actively waiting teams, so without that variable
/// the program replaces itself by itself with `OMP_WAIT_POLICY=active`. A value set by the user stands. Actively waiting teams do not disturb the
/// other contenders, because the peers dismiss their team at the end of each sample.
pub fn prepare() {
    #[cfg(openmp)]
    crate::peers::openmp::restart_with_active_waiting();
}

/// Longest time a sample should take in a full run; a contender slower than its author thought gets fewer iterations.
const SAMPLE_LIMIT: Duration = Duration::from_millis(150);
/// The same in a quick run.
const QUICK_SAMPLE_LIMIT: Duration = Duration::from_millis(15);

struct Contender<'a> {
    name: String,
    iterations: u64,
    sample: Box<dyn FnMut(u64) -> Duration + Send + 'a>,
}

impl Contender<'_> {
    /// One sample on a fresh thread, with the affinity of the process and not that of the sample before.
    fn sample(&mut self) -> Duration {
        let (iterations, sample) = (self.iterations, &mut self.sample);
        std::thread::scope(|scope| match scope.spawn(move || sample(iterations)).join() {
            Ok(elapsed) => elapsed,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    }

    /// A short sample, discarded, and from it the iteration count that stays within `limit`, set-up included.
    fn warm_up(&mut self, limit: Duration) {
        let wanted = self.iterations;
        self.iterations = (wanted / 20).max(1);
        let start = Instant::now();
        let timed = self.sample();
        let set_up = start.elapsed().saturating_sub(timed);
        let one = timed.max(Duration::from_nanos(1)).as_secs_f64() / self.iterations as f64;
        let affordable = (limit.saturating_sub(set_up).max(limit / 10).as_secs_f64() / one) as u64;
        self.iterations = wanted.min(affordable).max(1);
    }
}

/// A comparison under construction. See the [module](self).
pub struct Comparison<'a> {
    title: String,
    unit: String,
    per_iteration: f64,
    baseline: Option<String>,
    options: Option<Options>,
    contenders: Vec<Contender<'a>>,
}

impl<'a> Comparison<'a> {
    /// A comparison without contenders, in nanoseconds per iteration.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            unit: "ns per iteration".to_owned(),
            per_iteration: 1.0,
            baseline: None,
            options: None,
            contenders: Vec::new(),
        }
    }

    /// What the values are: a time unit (`ns`, `µs`, `ms`, `s`), then anything.
    ///
    /// # Panics
    ///
    /// If it begins with no such unit.
    pub fn unit(mut self, unit: &str) -> Self {
        let _ = nanoseconds_in(unit);
        self.unit = unit.to_owned();
        self
    }

    /// One iteration does the measured thing `count` times (say, elements per pass); values are divided by it. 1 unless said.
    pub fn per_iteration(mut self, count: u64) -> Self {
        self.per_iteration = count as f64;
        self
    }

    /// The contender that has ratio 1: the first one unless said.
    pub fn baseline(mut self, name: &str) -> Self {
        self.baseline = Some(name.to_owned());
        self
    }

    /// Options instead of those on the command line.
    pub fn options(mut self, options: Options) -> Self {
        self.options = Some(options);
        self
    }

    /// A contender: `sample` runs the given number of iterations and returns the time they took.
    ///
    /// `iterations` is what a sample of a full run asks for: enough for 10 to 50 ms. Fewer are asked for in a quick run and when one sample would take too
    /// long. Samples above a microsecond an iteration may ask for as little as 1.
    pub fn add(
        mut self,
        name: impl Into<String>,
        iterations: u64,
        sample: impl FnMut(u64) -> Duration + Send + 'a,
    ) -> Self {
        self.contenders.push(Contender {
            name: name.into(),
            iterations: iterations.max(1),
            sample: Box::new(sample),
        });
        self
    }

    /// Applies `list`, a function that adds contenders: how benches keep theirs in lists.
    pub fn with(self, list: impl FnOnce(Self) -> Self) -> Self {
        list(self)
    }

    /// Measures, prints the table, and returns what it says. With no contender left by the filter, prints nothing.
    ///
    /// # Panics
    ///
    /// If a contender does, or if the baseline is no contender.
    pub fn run(mut self) -> Report {
        let options = self.options.take().unwrap_or_else(Options::from_arguments);
        let baseline = self
            .baseline
            .take()
            .or_else(|| self.contenders.first().map(|first| first.name.clone()));
        let baseline = baseline.unwrap_or_default();
        assert!(
            self.contenders.is_empty() || self.contenders.iter().any(|contender| contender.name == baseline),
            "{}: the baseline {baseline:?} is no contender",
            self.title
        );
        if self
            .contenders
            .iter()
            .any(|contender| options.selects(&self.title, &contender.name))
        {
            let title = &self.title;
            self.contenders
                .retain(|contender| contender.name == baseline || options.selects(title, &contender.name));
        } else {
            self.contenders.clear();
        }
        let samples = measure(&mut self.contenders, &options);
        let scale = self.per_iteration * nanoseconds_in(&self.unit);
        let report = Report::new(self.title, self.unit, &baseline, &self.contenders, &samples, scale);
        if !report.rows.is_empty() {
            println!(
                "{}",
                if options.markdown {
                    report.markdown()
                } else {
                    report.text()
                }
            );
        }
        report
    }
}

/// Nanoseconds per iteration: for each contender, for each round.
fn measure(contenders: &mut [Contender<'_>], options: &Options) -> Vec<Vec<f64>> {
    let limit = if options.quick {
        QUICK_SAMPLE_LIMIT
    } else {
        SAMPLE_LIMIT
    };
    for contender in &mut *contenders {
        if options.quick {
            contender.iterations = (contender.iterations / 10).max(1);
        }
        contender.warm_up(limit);
    }
    let mut samples = vec![Vec::with_capacity(options.rounds); contenders.len()];
    let mut order: Vec<usize> = (0..contenders.len()).collect();
    let mut shuffle = statistics::Shuffle::new();
    for _ in 0..options.rounds {
        shuffle.apply(&mut order);
        for &which in &order {
            let contender = &mut contenders[which];
            let elapsed = contender.sample();
            samples[which].push(elapsed.as_secs_f64() * 1e9 / contender.iterations as f64);
        }
    }
    samples
}

/// Nanoseconds in the time unit at the start of `unit`.
fn nanoseconds_in(unit: &str) -> f64 {
    match unit.split_whitespace().next() {
        Some("ns") => 1.0,
        Some("µs" | "us") => 1e3,
        Some("ms") => 1e6,
        Some("s") => 1e9,
        _ => panic!("the unit {unit:?} begins with no unit of time"),
    }
}

/// What a comparison found.
#[derive(Clone, Debug)]
pub struct Report {
    /// The comparison's title.
    pub title: String,
    /// The unit of the values.
    pub unit: String,
    /// One row a contender, in the order they were added.
    pub rows: Vec<Row>,
}

/// One contender's figures.
#[derive(Clone, Debug)]
pub struct Row {
    /// The contender's name.
    pub name: String,
    /// The values, in the report's unit.
    pub value: Quartiles,
    /// The median divided by the baseline's.
    pub ratio: f64,
    /// The ratio to the baseline in the same round.
    pub ratio_by_round: Quartiles,
}

impl Report {
    fn new(
        title: String,
        unit: String,
        baseline: &str,
        contenders: &[Contender<'_>],
        samples: &[Vec<f64>],
        scale: f64,
    ) -> Self {
        let base = contenders.iter().position(|contender| contender.name == baseline);
        let rows = contenders.iter().zip(samples).map(|(contender, own)| {
            let reference = base.map_or(own, |index| &samples[index]);
            let by_round: Vec<f64> = own.iter().zip(reference).map(|(own, base)| own / base).collect();
            let value = Quartiles::of(own.iter().map(|sample| sample / scale));
            Row {
                name: contender.name.clone(),
                ratio: value.median * scale / Quartiles::of(reference.iter().copied()).median,
                ratio_by_round: Quartiles::of(by_round),
                value,
            }
        });
        Self {
            rows: rows.collect(),
            title,
            unit,
        }
    }

    /// The row of this name.
    pub fn row(&self, name: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.name == name)
    }
}

#[cfg(test)]
mod test;
