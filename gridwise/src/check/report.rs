//! What an exploration showed.

use std::{fmt, time::Duration};

use super::{
    Shape,
    finding::Finding,
    json::{self, Json},
};
use crate::backend::check::Explored;

/// The closure itself panicked, without a finding: an assertion on a result, for instance.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Failure {
    /// What it panicked with.
    pub message: String,
    /// The shape of the device's grids, where several were tried.
    pub shape: Option<Shape>,
    /// Runs the same schedule again, through `GRIDWISE_CHECK_REPLAY`.
    pub replay: String,
}

/// What an exploration showed, and how much was explored.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// Different faults, in the order in which they were found.
    pub findings: Vec<Finding>,
    /// The first panic of the closure without a finding.
    pub failure: Option<Failure>,
    /// Schedules that ran.
    pub schedules: usize,
    /// Whether there are no others that could make a difference.
    pub complete: bool,
    /// Launches in all schedules.
    pub launches: u64,
    /// Operations on memory and barriers.
    pub operations: u64,
    /// Switches from one thread to another.
    pub switches: u64,
    /// Time that it took.
    pub elapsed: Duration,
}

impl Report {
    /// Whether nothing was found.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty() && self.failure.is_none()
    }

    pub(crate) fn add(&mut self, findings: Vec<Finding>, explored: Explored) {
        for finding in findings {
            if !self.findings.iter().any(|other| other.is_like(&finding)) {
                self.findings.push(finding);
            }
        }
        self.launches += explored.launches;
        self.operations += explored.operations;
        self.switches += explored.switches;
    }

    /// The report as JSON.
    pub fn to_json(&self) -> String {
        let failure = self.failure.as_ref().map_or(Json::Null, |failure| {
            Json::object([
                ("message", Json::text(&failure.message)),
                ("shape", failure.shape.map_or(Json::Null, json::shape)),
                ("replay", Json::text(&failure.replay)),
            ])
        });
        let json = Json::object([
            ("clean", Json::Bool(self.is_clean())),
            ("schedules", Json::number(self.schedules as u64)),
            ("complete", Json::Bool(self.complete)),
            ("launches", Json::number(self.launches)),
            ("operations", Json::number(self.operations)),
            ("switches", Json::number(self.switches)),
            ("seconds", Json::Float(self.elapsed.as_secs_f64())),
            ("failure", failure),
            (
                "findings",
                Json::Array(self.findings.iter().map(Finding::json).collect()),
            ),
        ]);
        json.to_string()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.findings.len() {
            0 => f.write_str("no faults found")?,
            1 => f.write_str("1 fault found")?,
            n => write!(f, "{n} faults found")?,
        }
        for (number, finding) in self.findings.iter().enumerate() {
            write!(f, "\n{:>3}. {finding}", number + 1)?;
        }
        if let Some(Failure { message, shape, replay }) = &self.failure {
            write!(f, "\nthe test panicked: {message}")?;
            if let Some(shape) = shape {
                write!(f, "\n    grid     {shape}, where a launch does not say")?;
            }
            write!(f, "\n    replay   GRIDWISE_CHECK_REPLAY={replay}")?;
        }
        let of_all = if self.complete {
            match self.schedules {
                1 => ", the only one that matters",
                _ => ", which are all that matter",
            }
        } else {
            ""
        };
        write!(
            f,
            "\n{}{of_all}, {}, {}, {}, {:.1?}",
            counted(self.schedules as u64, "schedule"),
            counted(self.launches, "launch"),
            counted(self.operations, "operation"),
            counted(self.switches, "switch"),
            self.elapsed
        )
    }
}

fn counted(number: u64, what: &str) -> String {
    match (number, what.ends_with("ch")) {
        (1, _) => format!("1 {what}"),
        (_, true) => format!("{number} {what}es"),
        (_, false) => format!("{number} {what}s"),
    }
}
