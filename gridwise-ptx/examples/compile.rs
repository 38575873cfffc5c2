//! Compiles a crate of kernels without a build script, and prints the path of the PTX:
//! `cargo run -p gridwise-ptx --example compile -- CRATE DIRECTORY`.

use std::{env, error::Error, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = env::args_os().skip(1).collect();
    let [kernels, directory] = &arguments[..] else {
        return Err("usage: compile CRATE DIRECTORY".into());
    };
    let ptx = gridwise_ptx::Build::new(kernels).compile(Path::new(directory))?;
    eprintln!("compiled by {}", ptx.toolchain);
    println!("{}", ptx.path.display());
    Ok(())
}
