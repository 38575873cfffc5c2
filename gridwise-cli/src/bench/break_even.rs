//! How long a phase has to be before it does not matter whether a barrier or a launch follows it.

use gridwise::{
    Error,
    host::{
        device::Device,
        phases::{RunReport, Strategy},
        queue::Queue,
    },
};
use serde::Serialize;

use super::{
    kernels::{Chains, nanoseconds_of_a_link},
    sampling::{Effort, Timing},
};

/// A strategy wins where the other takes longer by more than this part: less is lost in noise.
pub(super) const MARGIN: f64 = 0.05;

/// Work in a phase, in nanoseconds.
const LENGTHS: [f64; 8] = [100.0, 300.0, 1e3, 3e3, 1e4, 3e4, 1e5, 3e5];
/// Every so many of them, if it has to be quick.
const QUICK: usize = 2;

/// A phase of known length, by either strategy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Measured {
    /// Its work alone.
    pub(super) phase_nanoseconds: f64,
    /// All of it, with the barrier that follows.
    pub(super) persistent_nanoseconds: f64,
    /// All of it, with its launch.
    pub(super) relaunch_nanoseconds: f64,
}

impl Measured {
    /// How many times as long relaunch takes.
    pub(super) fn ratio(&self) -> f64 {
        self.relaunch_nanoseconds / self.persistent_nanoseconds
    }
}

/// Where one resident kernel beats a launch for each phase by more than the margin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Wins {
    /// Where phases are shorter than the break-even length.
    Below,
    /// Wherever it was measured.
    Always,
    /// Nowhere.
    Never,
}

/// What `Strategy::Auto` does with phases of that length.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Choice {
    pub(super) phase_nanoseconds: f64,
    pub(super) strategy: String,
    pub(super) reason: String,
}

/// See the module.
#[derive(Debug, Serialize)]
pub(super) struct BreakEven {
    pub(super) margin_percent: f64,
    pub(super) persistent_wins: Wins,
    /// Found between two measured lengths; `null` where they show none.
    pub(super) nanoseconds: Option<f64>,
    /// As barrier and launch alone have it; `null` where they have none.
    pub(super) predicted_nanoseconds: Option<f64>,
    pub(super) auto_below: Choice,
    pub(super) auto_above: Choice,
}

pub(super) fn measure(device: &Device, effort: Effort, quick: bool) -> Result<Vec<Measured>, Error> {
    let queue = device.queue();
    let link = nanoseconds_of_a_link();
    let lengths = LENGTHS.into_iter().step_by(if quick { QUICK } else { 1 });
    lengths
        .map(|length| {
            let by = |strategy| {
                let queue = &queue;
                move |steps| Ok::<_, Error>(run(queue, length / link, steps, strategy)?.elapsed)
            };
            let [persistent, relaunch] = effort.compare([by(Strategy::Persistent), by(Strategy::Relaunch)])?;
            Ok(Measured {
                phase_nanoseconds: length,
                persistent_nanoseconds: persistent.median_nanoseconds,
                relaunch_nanoseconds: relaunch.median_nanoseconds,
            })
        })
        .collect()
}

/// Steps of a run to look at.
const SHOWN: u64 = 64;
/// Their work, where there is no break-even.
const SHOWN_LENGTH: f64 = 1e4;

/// A short run by either strategy, for a picture of what they do: at the break-even length, if there is one.
pub(super) fn run_both(device: &Device, break_even: Option<f64>) -> Result<(), Error> {
    let (queue, length) = (device.queue(), break_even.unwrap_or(SHOWN_LENGTH));
    for strategy in [Strategy::Persistent, Strategy::Relaunch] {
        run(&queue, length / nanoseconds_of_a_link(), SHOWN, strategy)?;
    }
    Ok(())
}

fn run(queue: &Queue, links: f64, steps: u64, strategy: Strategy) -> Result<RunReport, Error> {
    let links = links.round() as u64;
    queue.run(Chains { steps, links }, strategy)
}

impl BreakEven {
    /// From measurements at ascending lengths, at least one, and from what a barrier and a launch take.
    pub(super) fn find(device: &Device, measured: &[Measured], barrier: Timing, launch: Timing) -> Result<Self, Error> {
        let (persistent_wins, nanoseconds) = crossing(measured);
        let shortest = measured.first().map_or(LENGTHS[0], |first| first.phase_nanoseconds);
        let longest = measured.last().map_or(shortest, |last| last.phase_nanoseconds);
        Ok(Self {
            margin_percent: 100.0 * MARGIN,
            persistent_wins,
            nanoseconds,
            predicted_nanoseconds: predicted(barrier.median_nanoseconds, launch.median_nanoseconds),
            auto_below: Choice::of(device, nanoseconds.map_or(shortest, |at| at / 2.0))?,
            auto_above: Choice::of(device, nanoseconds.map_or(longest, |at| 2.0 * at))?,
        })
    }
}

impl Choice {
    /// Asks with a short run.
    fn of(device: &Device, length: f64) -> Result<Self, Error> {
        let report = run(&device.queue(), length / nanoseconds_of_a_link(), 2, Strategy::Auto)?;
        Ok(Self {
            phase_nanoseconds: length,
            strategy: report.structure.to_string(),
            reason: report.reason.to_string(),
        })
    }
}

/// Where the advantage of persistent runs first falls to the margin, between two lengths on a logarithmic scale.
fn crossing(measured: &[Measured]) -> (Wins, Option<f64>) {
    let beyond = |one: &Measured| one.ratio() - (1.0 + MARGIN);
    match measured.iter().position(|one| beyond(one) <= 0.0) {
        None => (Wins::Always, None),
        Some(0) => (Wins::Never, None),
        Some(after) => {
            let (before, after) = (measured[after - 1], measured[after]);
            let part = beyond(&before) / (beyond(&before) - beyond(&after));
            let growth = after.phase_nanoseconds / before.phase_nanoseconds;
            (Wins::Below, Some(before.phase_nanoseconds * growth.powf(part)))
        }
    }
}

/// The length at which work and launch together take longer than work and barrier by just the margin.
fn predicted(barrier: f64, launch: f64) -> Option<f64> {
    let length = (launch - (1.0 + MARGIN) * barrier) / MARGIN;
    (length > 0.0).then_some(length)
}

#[cfg(test)]
mod test {
    use super::*;

    /// Work between barriers that take 200, or launches that take 700.
    fn ideal(lengths: &[f64]) -> Vec<Measured> {
        let measured = |&length: &f64| Measured {
            phase_nanoseconds: length,
            persistent_nanoseconds: length + 200.0,
            relaunch_nanoseconds: length + 700.0,
        };
        lengths.iter().map(measured).collect()
    }

    #[test]
    fn the_break_even_lies_between_the_last_length_where_it_matters_and_the_first_where_it_does_not() {
        let predicted = predicted(200.0, 700.0).unwrap();
        assert!((predicted - 9800.0).abs() < 1e-6, "{predicted}");
        let (wins, at) = crossing(&ideal(&[9e3, 9.5e3, 1e4, 1.1e4]));
        assert_eq!(wins, Wins::Below);
        assert!((9700.0..9900.0).contains(&at.unwrap()), "{at:?}");
        let (_, coarse) = crossing(&ideal(&LENGTHS));
        assert!((3e3..1e4).contains(&coarse.unwrap()), "{coarse:?}");
    }

    #[test]
    fn there_is_none_where_it_matters_at_all_lengths_or_at_none() {
        assert_eq!(crossing(&ideal(&[100.0, 1e3])), (Wins::Always, None));
        assert_eq!(crossing(&ideal(&[1e5, 1e6])), (Wins::Never, None));
        let mut reversed = ideal(&[100.0, 1e6]);
        for one in &mut reversed {
            std::mem::swap(&mut one.persistent_nanoseconds, &mut one.relaunch_nanoseconds);
        }
        assert_eq!(crossing(&reversed), (Wins::Never, None));
    }

    #[test]
    fn noise_beyond_the_break_even_does_not_move_it() {
        let mut measured = ideal(&LENGTHS);
        let (_, before) = crossing(&measured);
        measured[7].relaunch_nanoseconds *= 2.0;
        assert_eq!(crossing(&measured), (Wins::Below, before));
    }

    #[test]
    fn launches_that_cost_no_more_than_barriers_have_no_break_even() {
        assert_eq!(predicted(200.0, 200.0), None);
        assert_eq!(predicted(200.0, 205.0), None, "within the margin");
        assert_eq!(predicted(700.0, 200.0), None);
    }
}
