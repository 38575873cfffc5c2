//! What is said of a bench, as text and as JSON.

use std::path::PathBuf;

use serde::Serialize;

use super::{
    break_even::{BreakEven, Measured, Wins},
    costs::{EmptyLaunch, GridBarrier},
    sampling::Timing,
};
use crate::console::{self, nanoseconds, plural};

/// All that is said of a bench. Its fields are those of the JSON object.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) device: String,
    pub(super) cores: usize,
    pub(super) workers: usize,
    pub(super) blocks: usize,
    pub(super) threads_per_block: usize,
    pub(super) quick: bool,
    pub(super) grid_barriers: Vec<GridBarrier>,
    /// `null` where a block has one thread.
    pub(super) block_barrier: Option<Timing>,
    pub(super) launch: EmptyLaunch,
    pub(super) phases: Vec<Measured>,
    pub(super) break_even: BreakEven,
    /// Whether something else seems to have used the cores meanwhile.
    pub(super) disturbed: bool,
    pub(super) plot: Option<PathBuf>,
    pub(super) trace: Option<PathBuf>,
    /// Of the whole bench.
    pub(super) seconds: f64,
}

impl Report {
    /// What is drawn.
    pub(super) fn points(&self) -> Vec<[f64; 3]> {
        let point = |one: &Measured| {
            [
                one.phase_nanoseconds,
                one.persistent_nanoseconds,
                one.relaunch_nanoseconds,
            ]
        };
        self.phases.iter().map(point).collect()
    }

    /// What stands above the plot.
    pub(super) fn title(&self) -> String {
        format!("Phases on {}", self.device)
    }

    pub(super) fn text(&self) -> String {
        let mut text = self.costs();
        text += "\n\n";
        text += &self.table_of_phases();
        text += "\n\n";
        text += &console::paragraph(&self.verdict(), 1);
        text += "\n";
        text += &console::paragraph(&self.choice(), 1);
        if self.disturbed {
            text += "\n";
            let hint =
                "Other work was on these cores: samples differ by more than half. Measure again when it is quiet.";
            text += &console::paragraph(hint, 1);
        }
        for (path, what) in [(&self.plot, "plot"), (&self.trace, "trace")] {
            if let Some(path) = path {
                text += "\n";
                text += &console::paragraph(&format!("Written: {what} to {}", path.display()), 1);
            }
        }
        text
    }

    fn costs(&self) -> String {
        let mut table = console::table();
        let (blocks, threads) = (plural(self.blocks, "block"), plural(self.threads_per_block, "thread"));
        let crowd = if self.workers > self.cores {
            format!(", {} on {}", plural(self.workers, "worker"), plural(self.cores, "core"))
        } else {
            String::new()
        };
        let mut text = format!(" {}: {blocks} of {threads}{crowd}\n\n", self.device);
        table.set_header(["", "median", "fastest", ""]);
        let mut row = |label: &str, timing: &Timing, remark: &str| {
            let [median, fastest] = [timing.median_nanoseconds, timing.fastest_nanoseconds].map(nanoseconds);
            table.add_row([label, &median, &fastest, remark]);
        };
        for barrier in &self.grid_barriers {
            let remark = if barrier.default { "the default here" } else { "" };
            row(&format!("grid barrier, {}", barrier.shape), &barrier.timing, remark);
        }
        if let Some(timing) = &self.block_barrier {
            row("block barrier", timing, "");
        }
        row("launch, hot", &self.launch.hot, "");
        let idle = format!("launch, after {} ms idle", self.launch.idle_milliseconds);
        row(&idle, &self.launch.after_idle, "");
        text += &table.trim_fmt();
        text
    }

    fn table_of_phases(&self) -> String {
        let mut table = console::table();
        table.set_header(["work in a phase", "persistent", "relaunch", "relaunch / persistent"]);
        for one in &self.phases {
            let [work, persistent, relaunch] = [
                one.phase_nanoseconds,
                one.persistent_nanoseconds,
                one.relaunch_nanoseconds,
            ]
            .map(nanoseconds);
            table.add_row([work, persistent, relaunch, format!("{:.2}", one.ratio())]);
        }
        table.trim_fmt()
    }

    fn verdict(&self) -> String {
        let found = &self.break_even;
        let margin = format!("by more than {} %", found.margin_percent);
        let mut text = match (found.persistent_wins, found.nanoseconds) {
            (Wins::Below, Some(at)) => format!(
                "Break-even at {} of work in a phase: below, one resident kernel is faster than a launch a phase {margin}.",
                nanoseconds(at)
            ),
            (Wins::Never, _) => {
                format!(
                    "No break-even: at no length measured is one resident kernel faster than a launch a phase {margin}."
                )
            }
            _ => format!(
                "No break-even: one resident kernel is faster than a launch a phase {margin} at every length measured."
            ),
        };
        text += &match found.predicted_nanoseconds {
            Some(at) => format!(" Barrier and launch alone have it at {}.", nanoseconds(at)),
            None => " Barrier and launch alone have none.".to_owned(),
        };
        text
    }

    fn choice(&self) -> String {
        let BreakEven {
            auto_below, auto_above, ..
        } = &self.break_even;
        let [below, above] = [auto_below, auto_above].map(|choice| nanoseconds(choice.phase_nanoseconds));
        if auto_below.strategy == auto_above.strategy {
            return format!(
                "Strategy::Auto chooses {} at {below} as at {above}: {}.",
                auto_below.strategy, auto_below.reason
            );
        }
        format!(
            "Strategy::Auto chooses {} at {below} ({}), {} at {above} ({}).",
            auto_below.strategy, auto_below.reason, auto_above.strategy, auto_above.reason
        )
    }
}

#[cfg(test)]
mod test {
    use serde_json::json;

    use super::{super::break_even::Choice, *};

    fn timing(median_nanoseconds: f64) -> Timing {
        Timing {
            median_nanoseconds,
            fastest_nanoseconds: median_nanoseconds - 10.0,
        }
    }

    fn choice(phase_nanoseconds: f64, strategy: &str) -> Choice {
        Choice {
            phase_nanoseconds,
            strategy: strategy.to_owned(),
            reason: format!("{strategy} is best"),
        }
    }

    fn report() -> Report {
        Report {
            device: "cpu:blocks=4,threads=2".to_owned(),
            cores: 2,
            workers: 8,
            blocks: 4,
            threads_per_block: 2,
            quick: false,
            grid_barriers: vec![GridBarrier {
                shape: "flip",
                default: true,
                timing: timing(150.0),
            }],
            block_barrier: Some(timing(80.0)),
            launch: EmptyLaunch {
                hot: timing(400.0),
                idle_milliseconds: 20,
                after_idle: timing(45e3),
            },
            phases: vec![Measured {
                phase_nanoseconds: 1e3,
                persistent_nanoseconds: 1200.0,
                relaunch_nanoseconds: 1800.0,
            }],
            break_even: BreakEven {
                margin_percent: 5.0,
                persistent_wins: Wins::Below,
                nanoseconds: Some(6300.0),
                predicted_nanoseconds: Some(4850.0),
                auto_below: choice(3150.0, "persistent"),
                auto_above: choice(12600.0, "persistent"),
            },
            disturbed: false,
            plot: Some("break_even.svg".into()),
            trace: None,
            seconds: 2.0,
        }
    }

    #[test]
    fn the_tables_and_the_object_say_the_same() {
        let text = report().text();
        let words: Vec<&str> = text.split_whitespace().collect();
        let text = words.join(" ");
        for expected in [
            "cpu:blocks=4,threads=2: 4 blocks of 2 threads, 8 workers on 2 cores",
            "grid barrier, flip 150 ns 140 ns the default here",
            "block barrier 80 ns 70 ns",
            "launch, hot 400 ns 390 ns",
            "launch, after 20 ms idle 45.0 µs 45.0 µs",
            "1.0 µs 1.2 µs 1.8 µs 1.50",
            "Break-even at 6.3 µs of work in a phase",
            "by more than 5 %. Barrier and launch alone have it at 4.8 µs.",
            "Strategy::Auto chooses persistent at 3.1 µs as at 12.6 µs: persistent is best.",
            "Written: plot to break_even.svg",
        ] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
        let json = serde_json::to_value(report()).unwrap();
        let timing = |median: f64| json!({"median_nanoseconds": median, "fastest_nanoseconds": median - 10.0});
        assert_eq!(json["block_barrier"], timing(80.0));
        assert_eq!(
            json["launch"],
            json!({"hot": timing(400.0), "idle_milliseconds": 20, "after_idle": timing(45e3)})
        );
        assert_eq!(
            json["grid_barriers"],
            json!([{"shape": "flip", "default": true, "median_nanoseconds": 150.0, "fastest_nanoseconds": 140.0}])
        );
        assert_eq!(
            json["phases"],
            json!([{"phase_nanoseconds": 1e3, "persistent_nanoseconds": 1200.0, "relaunch_nanoseconds": 1800.0}])
        );
        assert_eq!(
            json["break_even"],
            json!({
                "margin_percent": 5.0,
                "persistent_wins": "below",
                "nanoseconds": 6300.0,
                "predicted_nanoseconds": 4850.0,
                "auto_below": {"phase_nanoseconds": 3150.0, "strategy": "persistent", "reason": "persistent is best"},
                "auto_above": {"phase_nanoseconds": 12600.0, "strategy": "persistent", "reason": "persistent is best"},
            })
        );
    }

    #[test]
    fn no_line_is_wider_than_80_columns() {
        let mut long = report();
        long.break_even.auto_above = choice(1e6, "relaunch");
        long.disturbed = true;
        for wins in [Wins::Below, Wins::Always, Wins::Never] {
            long.break_even.persistent_wins = wins;
            for line in long.text().lines() {
                assert!(line.chars().count() <= 80, "{line}");
            }
        }
    }

    #[test]
    fn the_verdict_says_where_there_is_no_break_even() {
        let mut report = report();
        report.break_even.nanoseconds = None;
        report.break_even.predicted_nanoseconds = None;
        for (wins, expected) in [
            (Wins::Always, "at every length measured"),
            (Wins::Never, "at no length measured"),
        ] {
            report.break_even.persistent_wins = wins;
            let verdict = report.verdict();
            assert!(verdict.starts_with("No break-even: "), "{verdict}");
            assert!(verdict.contains(expected), "{verdict}");
            assert!(verdict.ends_with("Barrier and launch alone have none."), "{verdict}");
        }
    }

    #[test]
    fn two_choices_of_auto_are_told_apart() {
        let mut report = report();
        report.break_even.auto_above = choice(12600.0, "relaunch");
        let expected =
            "Strategy::Auto chooses persistent at 3.1 µs (persistent is best), relaunch at 12.6 µs (relaunch is best).";
        assert_eq!(report.choice(), expected);
    }
}
