//! What the program `gridwise` is made of.
#![deny(unsafe_code)]

pub mod arguments;
pub mod bench;
pub mod console;
pub mod device;
pub mod devices;
pub mod failure;
pub mod gallery;
pub mod matrix_market;
pub mod output;
pub mod plot;
pub mod solve;
pub mod trace;

use arguments::{Arguments, Command};
use failure::Failure;

/// Does what was asked for.
///
/// # Errors
///
/// [`Failure`], whose exit code the process should end with.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.command {
        Command::Devices(arguments) => devices::run(arguments),
        Command::Solve(arguments) => solve::run(arguments),
        Command::Bench(arguments) => bench::run(arguments),
        Command::Gallery(arguments) => gallery::run(arguments),
    }
}
