//! Compiles the OpenMP peers. Without a C compiler that links OpenMP the crate still builds, only without them: `cfg(openmp)` says which.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

const SOURCES: [&str; 11] = [
    "algorithms",
    "barrier",
    "cg",
    "jacobi",
    "launch",
    "loops",
    "mandelbrot",
    "neighbour_sum",
    "prefix",
    "sparse_product",
    "tasks",
];

fn main() {
    println!("cargo::rustc-check-cfg=cfg(openmp)");
    println!("cargo::rerun-if-changed=openmp");
    match openmp() {
        Ok(()) => println!("cargo::rustc-cfg=openmp"),
        Err(why) => println!("cargo::warning=the OpenMP peers are left out: {why}"),
    }
}

fn openmp() -> Result<(), String> {
    let mut build = cc::Build::new();
    // The peers are measured whatever the profile, so never unoptimised.
    build.opt_level(3).std("gnu11").flag("-fopenmp").warnings(true);
    // Rust rounds after each operation, so that results can be compared bit for bit.
    build.flag_if_supported("-ffp-contract=off");
    // Both languages must be allowed the same instructions. Rust's baseline is C's baseline; `-C target-cpu=native` is `-march=native`, recognised by a
    // feature that no baseline has.
    if env::var("CARGO_CFG_TARGET_FEATURE").is_ok_and(|list| list.split(',').any(|feature| feature == "avx2")) {
        build.flag("-march=native");
    }
    let runtime = link_probe(&build)?;
    for name in SOURCES {
        build.file(format!("openmp/{name}.c"));
    }
    build
        .try_compile("gridwise_openmp_peers")
        .map_err(|error| error.to_string())?;
    // After the archive that needs it: static linking goes from left to right.
    println!("cargo::rustc-link-lib={runtime}");
    Ok(())
}

/// Links a one-line OpenMP program, because a compiler that accepts `-fopenmp` may still lack the library. Returns the library to link.
fn link_probe(build: &cc::Build) -> Result<&'static str, String> {
    if env::var("HOST") != env::var("TARGET") {
        return Err("cross-compiling".to_owned());
    }
    let compiler = build.try_get_compiler().map_err(|error| error.to_string())?;
    let runtime = if compiler.is_like_clang() {
        "omp"
    } else if compiler.is_like_gnu() {
        "gomp"
    } else {
        return Err("neither gcc nor clang".to_owned());
    };
    let folder = PathBuf::from(env::var_os("OUT_DIR").ok_or("no OUT_DIR")?);
    let source = folder.join("probe.c");
    fs::write(
        &source,
        "#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n",
    )
    .map_err(|error| error.to_string())?;
    let output = compiler
        .to_command()
        .arg(&source)
        .arg("-o")
        .arg(folder.join("probe"))
        .arg(format!("-l{runtime}"))
        .output()
        .map_err(|error| format!("{}: {error}", display(compiler.path())))?;
    if output.status.success() {
        Ok(runtime)
    } else {
        Err(format!(
            "{} cannot link a program with -fopenmp",
            display(compiler.path())
        ))
    }
}

fn display(path: &Path) -> String {
    path.display().to_string()
}
