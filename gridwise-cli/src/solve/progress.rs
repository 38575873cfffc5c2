//! How far a solver has come, on a terminal.

use std::{
    io::{self, IsTerminal},
    time::Duration,
};

use gridwise::algorithm::solve::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Between two looks at the solver, on a terminal.
const INTERVAL: Duration = Duration::from_millis(100);
/// Steps before the first look.
const FIRST: usize = 16;
/// Marks on the bar: finer than any terminal shows.
const MARKS: u64 = 1000;

/// How many steps to take between two looks, so that there are about ten a second.
#[derive(Debug)]
struct Pace {
    steps: usize,
}

impl Pace {
    fn new() -> Self {
        Self { steps: FIRST }
    }

    /// Takes in that `done` steps took `took`. The number at most doubles: the first steps say little about the others.
    fn learn(&mut self, done: usize, took: Duration) {
        let fitting = INTERVAL.as_secs_f64() / took.as_secs_f64().max(1e-9) * done.max(1) as f64;
        self.steps = (fitting as usize).clamp(1, self.steps.saturating_mul(2));
    }
}

/// Shows how far a solver has come, or nothing where nobody looks.
#[derive(Debug)]
pub(super) struct Watch {
    shown: Option<(ProgressBar, Pace)>,
    tolerance: f64,
    /// The residual that counts for the bar: the smallest so far, so that it never goes back.
    best: f64,
}

impl Watch {
    /// Shows progress on standard error if that is a terminal and `wanted`; at first, that the files are read.
    pub(super) fn new(wanted: bool, tolerance: f64) -> Self {
        let shown = (wanted && io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::with_draw_target(Some(MARKS), ProgressDrawTarget::stderr_with_hz(20));
            let style = ProgressStyle::with_template("  {bar:30} {msg}").expect("the template is right");
            bar.set_style(style.progress_chars("━╸ "));
            bar.set_message("reading");
            (bar, Pace::new())
        });
        Self {
            shown,
            tolerance,
            best: f64::INFINITY,
        }
    }

    /// Steps until the next look: all of them where nobody looks.
    pub(super) fn steps(&self) -> usize {
        self.shown.as_ref().map_or(usize::MAX, |(_, pace)| pace.steps)
    }

    /// Takes in that `done` more steps took `took`, and where the solver stands.
    pub(super) fn look(&mut self, done: usize, took: Duration, now: &Progress) {
        let Some((bar, pace)) = &mut self.shown else { return };
        pace.learn(done, took);
        self.best = self.best.min(now.residual);
        bar.set_position((MARKS as f64 * fraction(self.best, self.tolerance)) as u64);
        bar.set_message(format!(
            "step {}, residual {:.1e}, goal {:e}",
            now.steps, now.residual, self.tolerance
        ));
    }
}

impl Drop for Watch {
    /// Leaves a clean line for what comes next, a report or an error.
    fn drop(&mut self) {
        if let Some((bar, _)) = &self.shown {
            bar.finish_and_clear();
        }
    }
}

/// How much of the way from 1 down to `tolerance` the residual has come, by its digits.
fn fraction(residual: f64, tolerance: f64) -> f64 {
    let fraction = residual.ln() / tolerance.ln();
    if residual <= tolerance {
        1.0
    } else {
        fraction.clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn the_pace_settles_at_ten_looks_a_second() {
        let mut pace = Pace::new();
        for _ in 0..40 {
            pace.learn(
                pace.steps,
                Duration::from_micros(20) * u32::try_from(pace.steps).unwrap(),
            );
        }
        assert_eq!(pace.steps, 5000);
    }

    #[test]
    fn the_pace_at_most_doubles_and_never_stops() {
        let mut pace = Pace::new();
        pace.learn(FIRST, Duration::ZERO);
        assert_eq!(pace.steps, 2 * FIRST);
        pace.learn(2 * FIRST, Duration::from_secs(3600));
        assert_eq!(pace.steps, 1);
        pace.learn(0, Duration::ZERO);
        assert_eq!(pace.steps, 2);
    }

    #[test]
    fn the_bar_is_half_full_at_half_the_digits() {
        assert_eq!(fraction(1.0, 1e-8), 0.0);
        assert!((fraction(1e-4, 1e-8) - 0.5).abs() < 1e-12);
        assert_eq!(fraction(1e-9, 1e-8), 1.0);
        assert_eq!(fraction(0.0, 1e-8), 1.0);
    }

    #[test]
    fn residuals_and_tolerances_without_sense_leave_the_bar_in_its_frame() {
        for residual in [f64::INFINITY, 10.0, 1.0, 1e-300] {
            for tolerance in [1e-300, 1.0, 2.0, 1e300] {
                let fraction = fraction(residual, tolerance);
                assert!((0.0..=1.0).contains(&fraction), "{residual} {tolerance}: {fraction}");
            }
        }
    }

    #[test]
    fn where_nobody_looks_all_steps_are_taken_at_once() {
        assert_eq!(Watch::new(false, 1e-8).steps(), usize::MAX);
    }
}
