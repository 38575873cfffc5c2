//! What is said of a solve, as text and as JSON.

use std::{fmt, path::PathBuf, time::Duration};

use gridwise::{
    algorithm::solve::{Breakdown, Solution, Status},
    host::device::Device,
};
use serde::{Serialize, Serializer};

use super::problem::Problem;
use crate::{
    arguments::SolveArguments,
    console::{self, plural},
};

/// Whether a solution is one, judged by its true residual.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The residual is within the tolerance.
    Converged,
    /// It is not, though the iteration believed so: rounding separated the residual that it carries along from the true one.
    Drifted,
    /// The steps were used up.
    OutOfSteps,
    /// The iteration could not go on.
    Broken(Breakdown),
}

impl Verdict {
    /// How a solve ended that left `residual`.
    ///
    /// The residual decides, not the iteration: what is reported is what was checked.
    fn new(status: Status, residual: f64, tolerance: f64) -> Self {
        match status {
            _ if residual <= tolerance => Self::Converged,
            Status::Broken(breakdown) => Self::Broken(breakdown),
            Status::Converged => Self::Drifted,
            _ => Self::OutOfSteps,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Converged => out.write_str("converged"),
            Self::Drifted => out.write_str("did not converge: rounding errors hold the residual above the tolerance"),
            Self::OutOfSteps => out.write_str("did not converge: out of steps"),
            Self::Broken(breakdown) => write!(out, "broke down: {breakdown}"),
        }
    }
}

/// All that is said of a solve. Its fields are those of the JSON object.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    file: PathBuf,
    rows: usize,
    nonzeros: usize,
    /// The file with b; `null` if b is A times a vector of ones.
    rhs: Option<PathBuf>,
    method: String,
    method_reason: String,
    strategy: String,
    reason: String,
    device: String,
    blocks: usize,
    threads_per_block: usize,
    pub(super) steps: usize,
    #[serde(serialize_with = "as_text")]
    status: Verdict,
    converged: bool,
    /// ‖b − A·x‖ / ‖b‖, computed from the x that is written.
    pub(super) residual: f64,
    tolerance: f64,
    /// The largest distance of an element of x from 1, where b was made from ones; `null` elsewhere.
    distance_from_ones: Option<f64>,
    /// Of the iteration, without reading and writing.
    seconds: f64,
    /// Of these, in grid barriers; `null` where it was not measured.
    seconds_in_barriers: Option<f64>,
    output: Option<PathBuf>,
    plot: Option<PathBuf>,
    trace: Option<PathBuf>,
}

fn as_text<S: Serializer>(value: &impl fmt::Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

impl Report {
    pub(super) fn new(arguments: &SolveArguments, device: &Device, problem: &Problem, solution: &Solution) -> Self {
        let residual = problem.residual(&solution.x);
        let status = Verdict::new(solution.status, residual, arguments.tolerance);
        let run = &solution.report;
        Self {
            file: arguments.matrix.clone(),
            rows: problem.rows(),
            nonzeros: problem.nonzeros(),
            rhs: problem.rhs_file.clone(),
            method: solution.method.to_string(),
            method_reason: solution.why_method.to_string(),
            strategy: run.structure.to_string(),
            reason: run.reason.to_string(),
            device: device.name(),
            blocks: run.blocks,
            threads_per_block: run.threads,
            steps: solution.steps,
            status,
            converged: status == Verdict::Converged,
            residual,
            tolerance: arguments.tolerance,
            distance_from_ones: problem.distance_from_ones(&solution.x),
            seconds: run.elapsed.as_secs_f64(),
            seconds_in_barriers: run.in_barriers.map(|time| time.as_secs_f64()),
            output: arguments.output.clone(),
            plot: arguments.plot.clone(),
            trace: arguments.trace.path.clone(),
        }
    }

    pub(super) fn verdict(&self) -> Verdict {
        self.status
    }

    /// What stands above the plot.
    pub(super) fn title(&self) -> String {
        let file = self.file.file_name().unwrap_or(self.file.as_os_str()).display();
        format!("{file}: {}, {}", self.method, plural(self.steps, "step"))
    }

    pub(super) fn text(&self) -> String {
        let mut table = console::table();
        table.add_row(["matrix", &self.file.display().to_string()]);
        table.add_row([
            "",
            &format!("{0} x {0}, {1}", self.rows, plural(self.nonzeros, "entry")),
        ]);
        table.add_row(["b", &self.rhs_text()]);
        table.add_row(["method", &format!("{}: {}", self.method, self.method_reason)]);
        table.add_row(["strategy", &format!("{}: {}", self.strategy, self.reason)]);
        table.add_row(["grid", &self.grid()]);
        table.add_row(["steps", &self.steps.to_string()]);
        table.add_row(["time", &self.time()]);
        table.add_row([
            "residual",
            &format!("{:.2e} = ‖b − A·x‖ / ‖b‖, computed anew from x", self.residual),
        ]);
        table.add_row(["tolerance", &format!("{:e}", self.tolerance)]);
        if let Some(distance) = self.distance_from_ones {
            table.add_row(["x", &format!("off the vector of ones by at most {distance:.2e}")]);
        }
        for (path, what) in [(&self.output, "x"), (&self.plot, "plot"), (&self.trace, "trace")] {
            if let Some(path) = path {
                table.add_row(["written", &format!("{what} to {}", path.display())]);
            }
        }
        format!("{}\n\n {}", table.trim_fmt(), self.status)
    }

    fn rhs_text(&self) -> String {
        match &self.rhs {
            Some(file) => file.display().to_string(),
            None => "A times a vector of ones, as there is no --rhs".to_owned(),
        }
    }

    fn grid(&self) -> String {
        if self.blocks == 0 {
            return format!("none: nothing to do for {}", self.device);
        }
        let (blocks, threads) = (plural(self.blocks, "block"), plural(self.threads_per_block, "thread"));
        format!("{blocks} of {threads} on {}", self.device)
    }

    fn time(&self) -> String {
        let mut text = format!("{:.2?}", Duration::from_secs_f64(self.seconds));
        if self.steps > 0 {
            let step = Duration::from_secs_f64(self.seconds / self.steps as f64);
            text += &format!(", {step:.1?} a step");
        }
        if let Some(waiting) = self.seconds_in_barriers
            && self.seconds > 0.0
        {
            text += &format!(", {:.0} % of it at grid barriers", 100.0 * waiting / self.seconds);
        }
        text
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn the_residual_decides_whatever_the_iteration_believes() {
        let broken = Breakdown::NotFinite;
        for (status, residual, expected) in [
            (Status::Converged, 1e-9, Verdict::Converged),
            (Status::Converged, 1e-8, Verdict::Converged),
            (Status::Converged, 1.1e-8, Verdict::Drifted),
            (Status::Converged, f64::NAN, Verdict::Drifted),
            (Status::OutOfSteps, 1e-3, Verdict::OutOfSteps),
            (Status::OutOfSteps, 1e-9, Verdict::Converged),
            (Status::Broken(broken), 1e-3, Verdict::Broken(broken)),
            (Status::Broken(broken), 1e-9, Verdict::Converged),
        ] {
            assert_eq!(Verdict::new(status, residual, 1e-8), expected, "{status} at {residual}");
        }
    }
}
