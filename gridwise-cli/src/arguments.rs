//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::matrix_market;

/// What was asked for.
#[derive(Debug, Parser)]
#[command(
    name = "gridwise",
    version,
    about = "Solve sparse linear systems inside one resident kernel",
    after_help = "\
Examples:
  gridwise devices                      what there is to run on
  gridwise solve A.mtx -o x.mtx         solve A x = b, write x
  gridwise bench                        what barriers and launches cost here
  gridwise gallery                      known bugs, and what the checking device says
  gridwise help solve                   all about solving

Exit codes: 0 done; 1 the work failed; 2 bad usage or bad input.",
    max_term_width = 100,
    arg_required_else_help = true
)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show the devices: what is here, and what is missing
    Devices(DevicesArguments),
    /// Solve A x = b for a sparse matrix in a Matrix Market file
    Solve(SolveArguments),
    /// Measure what barriers and launches cost here, and how long a phase has to be for it not to matter
    Bench(BenchArguments),
    /// Show known bugs of kernels that synchronise, and what the checking device says of each
    Gallery(GalleryArguments),
}

/// The arguments of `gridwise bench`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  gridwise bench                        the usual device
  gridwise bench --device cpu:blocks=2,threads=2,wait=active
  gridwise bench --plot break_even.svg  draw what a phase takes, by its length
  gridwise bench --quick --json | jq .break_even.nanoseconds

A phase is the work between two synchronisations of the whole grid. Runs of
phases are persistent, one resident kernel with a grid barrier after each phase,
or by relaunch, a launch for each. Below the break-even length persistent runs
are faster by more than 5 %.

The trace is of two short runs, one by either strategy, at the break-even length.

Times are medians: of a quiet machine, if they are to mean much.

Exit codes: 0 done; 1 a launch failed; 2 bad usage, or a device that takes no
time, such as check.")]
pub struct BenchArguments {
    /// What to measure [default: what GRIDWISE_DEVICE names, else cpu with a block a core]
    #[arg(long, value_name = "NAME")]
    pub device: Option<String>,

    /// Take fewer and shorter samples: less than a second instead of a few
    #[arg(long)]
    pub quick: bool,

    /// Draw what a phase takes by either strategy there, over its length, as SVG
    #[arg(long, value_name = "break_even.svg")]
    pub plot: Option<PathBuf>,

    /// A timeline.
    #[command(flatten)]
    pub trace: TraceArguments,

    /// Write one JSON object instead of tables; its times are in nanoseconds
    #[arg(long)]
    pub json: bool,
}

/// The arguments of `gridwise gallery`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  gridwise gallery                      run all, a line each
  gridwise gallery relaxed_flag         run one, and show the whole finding
  gridwise gallery --list               what there is
  gridwise gallery --json | jq '.[] | select(.found | not)'

Exit codes: 0 every bug was found and every twin is silent; 1 not so; 2 bad usage.")]
pub struct GalleryArguments {
    /// The exhibits to run [default: all]
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,

    /// Say what there is, and run nothing
    #[arg(long, conflicts_with = "json")]
    pub list: bool,

    /// Write a JSON array with an object for each exhibit
    #[arg(long)]
    pub json: bool,
}

/// The arguments of `gridwise devices`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  gridwise devices
  gridwise devices --json
  GRIDWISE_DEVICE=cpu:blocks=2,threads=4 gridwise devices")]
pub struct DevicesArguments {
    /// Write one JSON object instead of a table
    #[arg(long)]
    pub json: bool,
}

/// The arguments of `gridwise solve`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  gridwise solve A.mtx                            b is A times a vector of ones
  gridwise solve A.mtx --rhs b.mtx -o x.mtx       write the solution
  gridwise solve A.mtx --plot residual.svg        draw how it converges
  gridwise solve A.mtx --trace trace.json         see who waits at which barrier
  gridwise solve A.mtx --device cpu:blocks=2,wait=active
  gridwise solve A.mtx --strategy relaunch --json | jq .seconds

Devices: `cpu`, or `cpu:` and any of blocks=N, threads=N, shared=BYTES,
wait=active|adaptive|passive, pin=on|off, separated by commas.

Exit codes: 0 the residual is within the tolerance; 1 it is not, and -o has the
best x that was found; 2 bad usage or bad input.")]
pub struct SolveArguments {
    /// The matrix A, square, in Matrix Market format
    #[arg(value_name = "A.mtx")]
    pub matrix: PathBuf,

    /// The right-hand side b, one column; if not given, b is A times a vector of ones
    #[arg(long, value_name = "b.mtx")]
    pub rhs: Option<PathBuf>,

    /// How to solve: cg for symmetric positive definite matrices, bicgstab for any
    #[arg(long, value_enum, default_value_t)]
    pub method: Method,

    /// Stop once ‖b − A·x‖ / ‖b‖ is at most that
    #[arg(long, value_name = "NUMBER", default_value = "1e-8", value_parser = tolerance, allow_hyphen_values = true)]
    pub tolerance: f64,

    /// Give up after that many steps [default: 10 for each row, from 100 to 100000]
    #[arg(long, value_name = "N", value_parser = steps, allow_negative_numbers = true)]
    pub max_steps: Option<usize>,

    /// One resident kernel that loops, or one launch for each phase of each step
    #[arg(long, value_enum, default_value_t)]
    pub strategy: Strategy,

    /// Where to run [default: what GRIDWISE_DEVICE names, else cpu with a block a core]
    #[arg(long, value_name = "NAME")]
    pub device: Option<String>,

    /// What to do with an entry that A.mtx or b.mtx gives more than once
    #[arg(long, value_enum, default_value_t)]
    pub duplicates: Duplicates,

    /// Write x there, in Matrix Market format
    #[arg(short, long, value_name = "x.mtx")]
    pub output: Option<PathBuf>,

    /// Draw the residual of each step there, as SVG
    #[arg(long, value_name = "residual.svg")]
    pub plot: Option<PathBuf>,

    /// A timeline.
    #[command(flatten)]
    pub trace: TraceArguments,

    /// Write one JSON object instead of a report
    #[arg(long)]
    pub json: bool,
}

/// A timeline of what was launched.
#[derive(Debug, Args)]
pub struct TraceArguments {
    /// Write there when which block worked, and when it waited at which barrier, for ui.perfetto.dev
    #[arg(long = "trace", value_name = "trace.json")]
    pub path: Option<PathBuf>,

    /// Keep the first N launches, blocks and waits; each takes some 120 bytes of the file
    #[arg(long = "trace-events", value_name = "N", requires = "path", default_value = "262144", value_parser = steps, allow_negative_numbers = true)]
    pub events: usize,
}

/// How to solve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Method {
    /// Conjugate gradients where the matrix suits them, else BiCGStab
    #[default]
    Auto,
    /// Conjugate gradients
    Cg,
    /// Stabilised biconjugate gradients
    Bicgstab,
}

/// How to run the phases of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Strategy {
    /// Whichever costs less here
    #[default]
    Auto,
    /// One resident kernel with grid barriers between the phases
    Persistent,
    /// One launch a phase
    Relaunch,
}

/// What to do with an entry that is given more than once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Duplicates {
    /// Refuse the file
    #[default]
    Error,
    /// Add the values up
    Sum,
}

impl From<Duplicates> for matrix_market::Duplicates {
    fn from(duplicates: Duplicates) -> Self {
        match duplicates {
            Duplicates::Error => Self::Error,
            Duplicates::Sum => Self::Sum,
        }
    }
}

impl From<Strategy> for gridwise::host::phases::Strategy {
    fn from(strategy: Strategy) -> Self {
        match strategy {
            Strategy::Auto => Self::Auto,
            Strategy::Persistent => Self::Persistent,
            Strategy::Relaunch => Self::Relaunch,
        }
    }
}

/// Parses a tolerance: positive, since rounding keeps residuals from being zero, and finite.
fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err("expected a positive number, such as 1e-8".to_owned()),
    }
}

/// Parses a number of steps, or of anything else.
fn steps(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "expected a whole number".to_owned())
}

#[cfg(test)]
mod test {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn a_tolerance_is_positive_and_finite() {
        assert_eq!(tolerance("1e-8"), Ok(1e-8));
        for bad in ["0", "-1e-8", "nan", "inf", "1e999", "small", ""] {
            assert!(tolerance(bad).is_err(), "{bad}");
        }
    }
}
