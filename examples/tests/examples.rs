//! Runs every example on devices of several shapes. Each checks its own result, so it has to end, and end well.
//!
//! Cargo builds the examples before it runs the tests of a package. When only this test is asked for, it does not: then run
//! `cargo build --examples` first.

use std::{
    env, fs,
    io::Read,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// An example that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(120);

fn run_all_on(device: &str) {
    let names = names();
    assert!(names.len() >= 2, "no examples found");
    let failures: Vec<String> = names.iter().filter_map(|name| run(name, device, &[]).err()).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// The examples, by their files: one that is not registered in the manifest fails as not built.
fn names() -> Vec<String> {
    let folder = env!("CARGO_MANIFEST_DIR");
    let files = fs::read_dir(folder).expect("the examples are the files of this package");
    let mut names: Vec<String> = files
        .map(|file| file.expect("the folder can be listed").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    names
}

fn run(name: &str, device: &str, arguments: &[&Path]) -> Result<(), String> {
    // This test is target/PROFILE/deps/examples-HASH; the examples are in target/PROFILE/examples.
    let test = env::current_exe().expect("the test knows its own path");
    let profile = test.ancestors().nth(2).expect("the test is in target/PROFILE/deps");
    let program = profile
        .join("examples")
        .join(name)
        .with_extension(env::consts::EXE_EXTENSION);
    let mut child = Command::new(&program)
        .args(arguments)
        .env("GRIDWISE_DEVICE", device)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| {
            format!(
                "{}: {error}; is it in examples/Cargo.toml, and built?",
                program.display()
            )
        })?;
    let (out, err) = (drain(child.stdout.take()), drain(child.stderr.take()));
    let status = wait(&mut child);
    let text = |thread: thread::JoinHandle<String>| thread.join().expect("reading does not panic");
    let (out, err) = (text(out), text(err));
    match status {
        Some(0) if !out.is_empty() => Ok(()),
        Some(code) => Err(format!("{name} on {device} ended with {code}:\n{out}{err}")),
        None => Err(format!(
            "{name} on {device} was stopped after {LIMIT:?} or by a signal:\n{out}{err}"
        )),
    }
}

/// The exit code, if it ends in time and by itself.
fn wait(child: &mut Child) -> Option<i32> {
    let start = Instant::now();
    while start.elapsed() < LIMIT {
        if let Some(status) = child.try_wait().expect("the child can be waited for") {
            return status.code();
        }
        thread::sleep(Duration::from_millis(5));
    }
    child.kill().expect("the child can be stopped");
    child.wait().expect("the child has been stopped");
    None
}

fn drain(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    let mut pipe = pipe.expect("the pipe was asked for");
    thread::spawn(move || {
        let mut text = String::new();
        // Whatever cannot be read is missing from a message; the exit code decides.
        let _ = pipe.read_to_string(&mut text);
        text
    })
}

#[test]
fn the_examples_are_right_on_the_default_device() {
    run_all_on("");
}

#[test]
fn the_examples_are_right_on_one_block() {
    run_all_on("cpu:blocks=1");
}

#[test]
fn the_examples_are_right_on_two_blocks() {
    run_all_on("cpu:blocks=2");
}

#[test]
fn the_examples_are_right_on_five_blocks() {
    run_all_on("cpu:blocks=5");
}

#[test]
fn the_examples_are_right_on_blocks_of_three_threads() {
    run_all_on("cpu:blocks=2,threads=3");
}

#[test]
fn the_examples_read_files_from_public_collections() {
    let folder = env::var_os("GRIDWISE_SHARED_DATA").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data")),
        PathBuf::from,
    );
    let picture = env::temp_dir().join(format!("gridwise-example-{}.png", std::process::id()));
    for (example, file, more) in [
        ("09_sparse_product", "matrices/bcsstk13.mtx", None),
        ("09_sparse_product", "matrices/lp_afiro.mtx", None),
        ("10_breadth_first_search", "matrices/karate.mtx", None),
        ("10_breadth_first_search", "matrices/jagmesh7.mtx", None),
        ("11_rasteriser", "meshes/teapot.obj", Some(&*picture)),
        ("11_rasteriser", "meshes/cow.obj", Some(&*picture)),
    ] {
        let file = folder.join(file);
        if file.exists() {
            let arguments: Vec<&Path> = [&*file].into_iter().chain(more).collect();
            run(example, "cpu:blocks=2", &arguments).unwrap();
            assert!(more.is_none_or(|picture| fs::remove_file(picture).is_ok()));
        }
    }
}

#[test]
fn what_is_wrong_with_a_file_is_said_with_its_line() {
    for (example, extension, text) in [
        (
            "09_sparse_product",
            "mtx",
            "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 2 3\n",
        ),
        (
            "10_breadth_first_search",
            "mtx",
            "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 x\n",
        ),
        ("11_rasteriser", "obj", "v 0 0 0\nv 1 0 0\nf 1 2 3\n"),
    ] {
        let file = env::temp_dir().join(format!("gridwise-malformed-{}.{extension}", std::process::id()));
        fs::write(&file, text).unwrap();
        let error = run(example, "cpu:blocks=1", &[&file]).unwrap_err();
        fs::remove_file(&file).unwrap();
        assert!(error.contains(&format!("{}:3: ", file.display())), "{error}");
    }
}
