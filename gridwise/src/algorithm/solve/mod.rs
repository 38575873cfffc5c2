//! Solvers for sparse linear systems A x = b, that converge inside the kernel.
//!
//! [`solve`] does it in one call; a [`Solver`] in pieces, so that a program can show progress between them. The whole iteration
//! runs on the device: persistent, as one resident grid that meets at grid barriers and decides itself when to stop; or by
//! relaunch, one launch a phase, where that grid cannot be resident.
//!
//! ```
//! use gridwise::algorithm::{solve::{SolveOptions, Status, solve}, sparse::Csr};
//! use gridwise::prelude::*;
//!
//! let matrix = Csr::from_sorted_entries(2, 2, [(0, 0, 4.0), (0, 1, 1.0), (1, 0, 1.0), (1, 1, 3.0)])?;
//! let device = Device::from_env()?;
//! let solution = solve(&device.queue(), &matrix, &[6.0, 7.0], SolveOptions::default())?;
//! assert_eq!(solution.status, Status::Converged);
//! assert!((solution.x[0] - 1.0).abs() < 1e-7 && (solution.x[1] - 2.0).abs() < 1e-7);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Determinism
//!
//! The same system on a grid of the same size gives the same bits: run after run, persistent or by relaunch, at once or in
//! pieces. Grids of different sizes add up in different orders, and so differ by rounding.

mod bicgstab;
mod conjugate_gradients;
mod error;
mod iteration;
mod options;
mod outcome;
mod rows;
mod system;

#[cfg(test)]
mod test;

pub use error::SolveError;
pub use options::{Method, SolveOptions};
pub use outcome::{Breakdown, Progress, Solution, Status, WhyMethod};

use self::{iteration::Iteration, system::System};
use super::{
    kernels::run::{RunView, outcome as word},
    sparse::Csr,
};
use crate::host::{
    buffer::Buffer,
    phases::{RunOptions, RunReport},
    queue::Queue,
};

/// Steps of one run of the kernel at most: the history of a run is allocated in advance.
const STEPS_A_RUN: usize = 1 << 14;

/// Solves the system in one go.
///
/// # Errors
/// If the matrix is not square, the lengths differ, a number is not finite, the method asked for cannot handle the matrix, or
/// the device fails. That the iteration does not converge is no error: the solution's [`status`](Solution::status) says so.
pub fn solve(queue: &Queue, matrix: &Csr, rhs: &[f64], options: SolveOptions) -> Result<Solution, SolveError> {
    let mut solver = Solver::new(queue, matrix, rhs, options)?;
    solver.advance(usize::MAX)?;
    solver.finish()
}

/// A solve under way.
#[derive(Debug)]
pub struct Solver<'q> {
    queue: &'q Queue,
    system: System<'q>,
    method: Method,
    why: WhyMethod,
    /// Whether another method may be tried.
    may_change: bool,
    /// `None` where there is nothing to do: b = 0; and after a failure, until it is started again.
    iteration: Option<Iteration>,
    target: f64,
    max_steps: usize,
    run: RunOptions,
    /// With exactly the grid that the iteration was cut for.
    settled: RunOptions,
    outcome: Buffer<u64>,
    status: Status,
    residuals: Vec<f64>,
    report: RunReport,
}

impl<'q> Solver<'q> {
    /// Checks the system and copies it to the device; no step is done yet.
    ///
    /// # Errors
    /// As [`solve`].
    pub fn new(queue: &'q Queue, matrix: &'q Csr, rhs: &'q [f64], options: SolveOptions) -> Result<Self, SolveError> {
        let tolerance = options.tolerance;
        if !(tolerance.is_finite() && tolerance >= 0.0) {
            return Err(SolveError::Tolerance { tolerance });
        }
        let system = System::new(matrix, rhs)?;
        let (method, why) = system.choose(options.method)?;
        let mut solver = Self {
            queue,
            target: tolerance * tolerance * system.bb,
            max_steps: options.steps_for(matrix.rows()),
            method,
            why,
            may_change: options.method.is_none(),
            iteration: None,
            run: options.run,
            settled: options.run,
            outcome: queue.device().zeroed(word::WORDS)?,
            status: Status::Converged,
            residuals: vec![0.0],
            report: RunReport::nothing_to_do(),
            system,
        };
        if solver.system.bb > 0.0 {
            solver.start(method)?;
        }
        Ok(solver)
    }

    /// Back to before the first step.
    fn forget(&mut self) {
        self.iteration = None;
        self.residuals = vec![1.0];
        self.status = if self.system.bb <= self.target {
            Status::Converged
        } else {
            Status::Running
        };
    }

    /// Starts an iteration from x = 0.
    fn start(&mut self, method: Method) -> Result<(), SolveError> {
        self.forget();
        self.method = method;
        let System {
            matrix,
            b,
            inverse_diagonal,
            ..
        } = &self.system;
        let (iteration, settled) = Iteration::new(self.queue, method, matrix, b, inverse_diagonal, self.run)?;
        self.iteration = Some(iteration);
        self.settled = settled;
        self.queue.fill(self.outcome.span_mut(), 0);
        Ok(())
    }

    /// Where it stands.
    pub fn progress(&self) -> Progress {
        Progress {
            status: match self.status {
                Status::Running if self.steps() >= self.max_steps => Status::OutOfSteps,
                status => status,
            },
            steps: self.steps(),
            residual: self.residuals[self.steps()],
        }
    }

    /// Does that many steps more, or fewer if it ends before. The steps are counted in the kernel, which comes back once, or
    /// every some thousand steps.
    ///
    /// If no method was asked for and conjugate gradients find the matrix not positive definite, BiCGSTAB starts from scratch.
    ///
    /// # Errors
    /// If the device fails. What it leaves is of no step, so the method then begins again from x = 0, with the next call of this.
    pub fn advance(&mut self, steps: usize) -> Result<Progress, SolveError> {
        let mut left = steps;
        while left > 0 && self.progress().status == Status::Running {
            let before = self.steps();
            let done = self.run_once(left.min(self.max_steps - before).min(STEPS_A_RUN));
            if done.is_err() {
                self.forget();
            }
            done?;
            left -= self.steps() - before;
            if let Status::Broken(Breakdown::NotPositiveDefinite { step }) = self.status
                && self.may_change
            {
                self.may_change = false;
                self.why = WhyMethod::NotPositiveDefinite { step };
                self.start(Method::BiCgStab)?;
            }
        }
        Ok(self.progress())
    }

    /// One run of the kernel.
    fn run_once(&mut self, limit: usize) -> Result<(), SolveError> {
        if self.iteration.is_none() {
            self.start(self.method)?;
        }
        let Some(iteration) = &mut self.iteration else {
            unreachable!("it has just been started")
        };
        let before = self.residuals.len() - 1;
        let mut history = self.queue.device().zeroed::<f64>(limit)?;
        let view = RunView {
            history: history.span_mut(),
            outcome: self.outcome.span_mut(),
            first_step: before,
            limit,
            target: self.target,
        };
        let report = iteration.run(self.queue, view, self.settled)?;
        self.report.add(&report);
        let outcome = self.queue.download(&self.outcome)?;
        let steps = outcome[word::STEPS] as usize;
        let squares = self.queue.elements(history.span().range(..steps - before))?;
        let bb = self.system.bb;
        self.residuals.extend(squares.iter().map(|rr| (rr / bb).sqrt()));
        self.status = status_of(outcome[word::STATUS], outcome[word::STOPPED] as usize);
        Ok(())
    }

    fn steps(&self) -> usize {
        self.residuals.len() - 1
    }

    /// The method at work, and why this one.
    pub fn method(&self) -> (Method, WhyMethod) {
        (self.method, self.why)
    }

    /// The relative residual that the iteration carries along, before the first step and after each step of the present method.
    pub fn residuals(&self) -> Vec<f64> {
        self.residuals.clone()
    }

    /// The solution, or the best iterate so far.
    ///
    /// # Errors
    /// If the device fails.
    pub fn finish(self) -> Result<Solution, SolveError> {
        let Progress { status, steps, .. } = self.progress();
        let mut x = match &self.iteration {
            None => vec![0.0; self.system.b.len()],
            Some(iteration) => iteration.iterate(
                self.queue,
                steps,
                status == Status::Converged,
                &self.system.inverse_diagonal,
            )?,
        };
        let residual = self.system.residual(&x);
        self.system.unscale(&mut x);
        Ok(Solution {
            x,
            method: self.method,
            why_method: self.why,
            steps,
            status,
            residual,
            residuals: self.residuals,
            report: self.report,
        })
    }
}

/// What the kernel left, and in which step if it stopped.
fn status_of(word: u64, step: usize) -> Status {
    match word {
        word::RUNNING => Status::Running,
        word::CONVERGED => Status::Converged,
        word::NOT_POSITIVE_DEFINITE => Status::Broken(Breakdown::NotPositiveDefinite { step }),
        word::RHO => Status::Broken(Breakdown::ShadowOrthogonal { step }),
        word::OMEGA => Status::Broken(Breakdown::Stagnation { step }),
        _ => Status::Broken(Breakdown::NotFinite),
    }
}
