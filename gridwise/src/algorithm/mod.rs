//! Ready-made solvers.
