//! The program `gridwise`.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use clap::Parser;
use gridwise_cli::arguments::Arguments;

fn main() -> ExitCode {
    // A wrong command line ends the process here, with exit code 2.
    match gridwise_cli::run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // Where even this cannot be said, the exit code still is.
            let _ = writeln!(io::stderr(), "gridwise: {failure}");
            ExitCode::from(failure.exit_code())
        }
    }
}
