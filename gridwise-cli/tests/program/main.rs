//! The program, as a user meets it: arguments in; exit code, text and files out.

mod bad_input;
mod bench;
mod devices;
mod quiet;
mod real_matrices;
mod solve;
mod support;
mod trace;
mod usage;
