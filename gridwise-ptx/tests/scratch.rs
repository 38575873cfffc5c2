//! A program with a build script and a crate of kernels, made from scratch and built by cargo: what a user does.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// A directory that is gone after the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("scratch");
        // What an earlier run has left is used again, but for the sources.
        fs::create_dir_all(&path).expect("a directory");
        Self(path)
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.0.join(file);
        fs::create_dir_all(path.parent().expect("a file is in a directory")).expect("a directory");
        fs::write(path, text).expect("a file");
    }

    /// Runs the program; what it prints is the PTX.
    fn run(&self, variables: &[(&str, &str)]) -> Output {
        let mut cargo = Command::new(env!("CARGO"));
        cargo
            .args(["run", "--quiet", "--offline"])
            .current_dir(self.0.join("app"));
        // What cargo has set for this test is not what a user's shell has set.
        for (name, _) in env::vars_os() {
            let name = name.to_string_lossy().into_owned();
            if name.starts_with("CARGO_") && !matches!(&*name, "CARGO_HOME") {
                cargo.env_remove(name);
            }
        }
        cargo.env("CARGO_TARGET_DIR", self.0.join("target"));
        cargo.envs(variables.iter().copied());
        cargo.output().expect("cargo runs")
    }
}

fn text(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn kernels(factor: u32) -> String {
    format!(
        "#![no_std]
        use gridwise::prelude::*;

        #[repr(C)]
        pub struct Scale<'a> {{
            pub data: SpanMut<'a, u32>,
        }}

        // SAFETY: each thread accesses its own elements.
        unsafe impl Kernel for Scale<'_> {{
            const NAME: &'static str = \"scale\";
            type Shared = ();

            fn run<A: Acc>(self, acc: A, _: ()) {{
                for i in acc.threads_in_grid(0..self.data.len()) {{
                    self.data.set(acc, i, {factor} * self.data.get(acc, i));
                }}
            }}
        }}

        gridwise::export! {{ pub KERNELS: \"scale\" = kernel Scale<'static>; }}
        "
    )
}

#[test]
fn a_program_carries_the_ptx_of_its_kernels() {
    let scratch = Scratch::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let root = root.canonicalize().expect("the workspace");
    scratch.write(
        "kernels/Cargo.toml",
        &format!(
            "[workspace]\n[package]\nname = \"my-kernels\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
             [dependencies]\ngridwise = {{ path = '{}', default-features = false }}\n",
            root.join("gridwise").display()
        ),
    );
    scratch.write("kernels/src/lib.rs", &kernels(1717));
    // What the workspace has locked is there without a network.
    fs::copy(root.join("Cargo.lock"), scratch.0.join("kernels/Cargo.lock")).expect("a lock file");
    scratch.write(
        "app/Cargo.toml",
        &format!(
            "[workspace]\n[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
             [build-dependencies]\ngridwise-ptx = {{ path = '{}' }}\n",
            root.join("gridwise-ptx").display()
        ),
    );
    scratch.write(
        "app/src/main.rs",
        "fn main() { print!(\"{}\", include_str!(env!(\"MY_KERNELS_PTX\"))); }\n",
    );
    scratch.write("app/committed.ptx", "// committed earlier\n");
    let build_script =
        |build: &str| format!("fn main() -> Result<(), gridwise_ptx::Error> {{ gridwise_ptx::{build} }}\n");

    // Without a compiler it says what to install, unless there is a text to fall back to.
    let nowhere = [("GRIDWISE_PTX_TOOLCHAIN", "/nowhere/rustc")];
    scratch.write("app/build.rs", &build_script("build(\"../kernels\")"));
    let refused = scratch.run(&nowhere);
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success());
    for hint in [
        "/nowhere/rustc",
        "rustup toolchain install nightly --component rust-src",
        "apt-get install",
    ] {
        assert!(said.contains(hint), "{said}");
    }
    scratch.write(
        "app/build.rs",
        &build_script("Build::new(\"../kernels\").fallback(\"committed.ptx\").run()"),
    );
    assert_eq!(text(&scratch.run(&nowhere)), "// committed earlier\n");

    // With one it compiles, whatever flags the host is compiled with.
    scratch.write("app/build.rs", &build_script("build(\"../kernels\")"));
    let host = [("RUSTFLAGS", "-Ctarget-cpu=native")];
    let first = scratch.run(&host);
    let said = String::from_utf8_lossy(&first.stderr);
    if said.contains("no compiler for the device was found") {
        println!("==== SKIPPED: there is no compiler for the device ====\n{said}");
        return;
    }
    let ptx = text(&first);
    assert!(ptx.contains(".visible .entry scale("), "{ptx}");
    assert!(ptx.contains("ld.global") && ptx.contains("st.global"), "{ptx}");
    assert!(ptx.contains("scale__layout") && !ptx.contains(".extern .func"), "{ptx}");
    assert!(ptx.contains(", 1717;") && ptx.contains(".target sm_70"), "{ptx}");

    // A change of the kernels compiles them anew.
    scratch.write("kernels/src/lib.rs", &kernels(1919));
    let ptx = text(&scratch.run(&host));
    assert!(ptx.contains(", 1919;") && !ptx.contains(", 1717;"), "{ptx}");
}
