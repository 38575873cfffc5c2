//! Measuring the same thing again and again.

use std::time::{Duration, Instant};

use serde::Serialize;

/// How much time goes into a measurement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    /// Samples that are taken.
    tries: usize,
    /// How long each should be.
    each: Duration,
}

/// Rounds of a sample, however short they are.
const MOST_ROUNDS: u64 = 1 << 30;
/// A measurement may take that many times what was meant for it: where threads share cores, one round can take longer than a
/// whole sample should.
const PATIENCE: u32 = 4;

impl Effort {
    /// A few seconds for a whole bench, or, if `quick`, less than one.
    pub(super) fn new(quick: bool) -> Self {
        let (tries, each) = if quick { (5, 1) } else { (21, 4) };
        Self {
            tries,
            each: Duration::from_millis(each),
        }
    }

    /// Samples of things that take as long as they take.
    pub(super) fn single_tries(self) -> usize {
        self.tries.div_ceil(2)
    }

    /// What a round of `run` takes, which does as many as it is told and says how long that took.
    pub(super) fn measure<E>(self, run: impl FnMut(u64) -> Result<Duration, E>) -> Result<Timing, E> {
        Ok(self.compare([run])?[0])
    }

    /// What a round of each takes, sampled in turn, so that what disturbs one disturbs the others.
    pub(super) fn compare<E, const N: usize>(
        self,
        mut runs: [impl FnMut(u64) -> Result<Duration, E>; N],
    ) -> Result<[Timing; N], E> {
        let mut rounds = [0; N];
        for (rounds, run) in rounds.iter_mut().zip(&mut runs) {
            *rounds = self.rounds(run)?;
        }
        let mut samples: [Vec<f64>; N] = std::array::from_fn(|_| Vec::with_capacity(self.tries));
        let start = Instant::now();
        let most = PATIENCE * self.tries as u32 * N as u32 * self.each;
        for done in 0..self.tries {
            if done > 0 && start.elapsed() > most {
                break;
            }
            for ((samples, run), rounds) in samples.iter_mut().zip(&mut runs).zip(rounds) {
                samples.push(run(rounds)?.as_nanos() as f64 / rounds as f64);
            }
        }
        Ok(samples.map(Timing::of))
    }

    /// How many rounds make a sample.
    fn rounds<E>(self, run: &mut impl FnMut(u64) -> Result<Duration, E>) -> Result<u64, E> {
        let mut rounds = 1;
        loop {
            let took = run(rounds)?;
            if 2 * took >= self.each || rounds >= MOST_ROUNDS {
                return Ok(rounds);
            }
            // The first rounds say little about the others, so at most eight times as many.
            let fitting = self.each.as_nanos() / took.as_nanos().max(1);
            rounds *= fitting.clamp(2, 8) as u64;
        }
    }
}

/// What a round took, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Timing {
    pub(super) median_nanoseconds: f64,
    pub(super) fastest_nanoseconds: f64,
}

impl Timing {
    /// Whether samples differ by more than they do on a quiet machine.
    pub(super) fn is_spread(&self) -> bool {
        self.median_nanoseconds > 1.5 * self.fastest_nanoseconds
    }

    /// Of at least one sample.
    pub(super) fn of(mut samples: Vec<f64>) -> Self {
        samples.sort_by(f64::total_cmp);
        Self {
            median_nanoseconds: samples[samples.len() / 2],
            fastest_nanoseconds: samples[0],
        }
    }
}

#[cfg(test)]
mod test {
    use super::*;

    type Taken = Result<Duration, ()>;

    #[test]
    fn a_round_takes_what_it_takes_however_many_make_a_sample() {
        let timing = Effort::new(true).measure(|rounds| Taken::Ok(Duration::from_nanos(150) * rounds as u32));
        let expected = Timing {
            median_nanoseconds: 150.0,
            fastest_nanoseconds: 150.0,
        };
        assert_eq!(timing, Ok(expected));
    }

    #[test]
    fn samples_are_about_as_long_as_they_should_be() {
        let mut most = 0;
        let effort = Effort::new(false);
        effort
            .measure(|rounds| {
                most = most.max(rounds);
                Taken::Ok(Duration::from_nanos(100) * rounds as u32)
            })
            .unwrap();
        assert!((20_000..=40_000).contains(&most), "{most}");
    }

    #[test]
    fn a_disturbed_sample_does_not_move_the_median() {
        let timing = Timing::of(vec![3.0, 1.0, 1e9, 2.0, 3.0]);
        assert_eq!((timing.median_nanoseconds, timing.fastest_nanoseconds), (3.0, 1.0));
        assert!(timing.is_spread() && !Timing::of(vec![7.0, 9.0, 11.0]).is_spread());
        assert_eq!(Timing::of(vec![7.0]).median_nanoseconds, 7.0);
    }

    #[test]
    fn things_that_are_compared_take_turns() {
        let order = std::cell::RefCell::new(Vec::new());
        let run = |which: usize| {
            let order = &order;
            move |_: u64| {
                order.borrow_mut().push(which);
                Taken::Ok(Duration::from_millis(1))
            }
        };
        Effort::new(true).compare([run(0), run(1)]).unwrap();
        let order = order.borrow();
        assert_eq!(
            *order,
            [0, 1].repeat(6),
            "once to find out how many rounds, then five samples"
        );
    }

    #[test]
    fn what_takes_longer_than_expected_gets_fewer_samples() {
        let mut calls = 0;
        let run = |_| {
            calls += 1;
            // The first, by which the length of the others is chosen, was lucky.
            std::thread::sleep(Duration::from_millis(if calls > 1 { 60 } else { 0 }));
            Taken::Ok(Duration::from_millis(1))
        };
        Effort::new(true).measure(run).unwrap();
        assert_eq!(calls, 2);
    }

    #[test]
    fn what_takes_no_time_is_given_up() {
        let timing = Effort::new(true).measure(|_| Taken::Ok(Duration::ZERO));
        assert_eq!(timing.unwrap().median_nanoseconds, 0.0);
    }

    #[test]
    fn the_first_error_ends_a_measurement() {
        let failing = |rounds| if rounds > 4 { Err("no") } else { Ok(Duration::ZERO) };
        assert_eq!(Effort::new(true).measure(failing), Err("no"));
    }
}
