//! An iteration of either method, as the host drives it.

use super::{
    bicgstab::BiCgStab, conjugate_gradients::ConjugateGradients, error::SolveError, options::Method, rows::DeviceRows,
};
use crate::{
    algorithm::{kernels::run::RunView, sparse::Csr},
    host::{
        error::Error,
        phases::{RunOptions, RunReport, Settled},
        queue::Queue,
    },
    kernel::SpanMut,
};

#[derive(Debug)]
pub(super) enum Iteration {
    ConjugateGradients(ConjugateGradients),
    BiCgStab(BiCgStab),
}

impl Iteration {
    /// An iteration from x = 0, cut for the grid that `run` asks for; and `run` with exactly that grid.
    pub(super) fn new(
        queue: &Queue,
        method: Method,
        matrix: &Csr,
        b: &[f64],
        inverse_diagonal: &[f64],
        run: RunOptions,
    ) -> Result<(Self, RunOptions), SolveError> {
        let mut iteration = match method {
            Method::ConjugateGradients => {
                let rows = DeviceRows::new(queue, matrix, None)?;
                Self::ConjugateGradients(ConjugateGradients::new(queue, rows, b, inverse_diagonal)?)
            }
            Method::BiCgStab => {
                let rows = DeviceRows::new(queue, matrix, Some(inverse_diagonal))?;
                Self::BiCgStab(BiCgStab::new(queue, rows, b)?)
            }
        };
        let view = RunView {
            history: SpanMut::new(&mut []),
            outcome: SpanMut::new(&mut []),
            first_step: 0,
            limit: 0,
            target: 0.0,
        };
        let settled = match &mut iteration {
            Self::ConjugateGradients(cg) => queue.settle(&cg.kernel(view), run)?,
            Self::BiCgStab(bicgstab) => queue.settle(&bicgstab.kernel(view), run)?,
        };
        let Settled { options, blocks, .. } = settled;
        match &mut iteration {
            Self::ConjugateGradients(cg) => cg.rows.cut(queue, blocks)?,
            Self::BiCgStab(bicgstab) => bicgstab.rows.cut(queue, blocks)?,
        }
        Ok((iteration, options))
    }

    pub(super) fn run(&mut self, queue: &Queue, view: RunView<'_>, options: RunOptions) -> Result<RunReport, Error> {
        match self {
            Self::ConjugateGradients(cg) => queue.run(cg.kernel(view), options),
            Self::BiCgStab(bicgstab) => queue.run(bicgstab.kernel(view), options),
        }
    }

    /// The iterate after `steps` steps: the last one, or the best.
    pub(super) fn iterate(
        &self,
        queue: &Queue,
        steps: usize,
        converged: bool,
        inverse_diagonal: &[f64],
    ) -> Result<Vec<f64>, Error> {
        match self {
            Self::ConjugateGradients(cg) => {
                let last = converged || cg.last_is_best(queue, steps)?;
                Ok(queue.download(if last { &cg.x } else { &cg.best })?)
            }
            Self::BiCgStab(bicgstab) => {
                let last = converged || bicgstab.last_is_best(queue, steps)?;
                let mut x = queue.download(if last { &bicgstab.y } else { &bicgstab.best })?;
                for (x, inverse) in x.iter_mut().zip(inverse_diagonal) {
                    *x *= inverse;
                }
                Ok(x)
            }
        }
    }
}
