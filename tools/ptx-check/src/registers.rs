//! What the assembler of the devices makes of the library's own kernels: registers, shared memory, spills. The kernels of the
//! conformance suite and of the example it has to take as well.
//!
//! Needs `ptxas`, from `GRIDWISE_PTXAS`, the path, or `pip install --no-deps nvidia-cuda-nvcc-cu12`.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{Failure, compile, compiler, prebuilt::FILE, snapshot, workspace};

/// One device of each generation.
const DEVICES: [&str; 4] = ["sm_70", "sm_80", "sm_90", "sm_100"];
/// Further crates of kernels, and the names of their variants.
const OTHERS: [(&str, &str); 2] = [("tests/kernels", "conformance"), ("examples/gpu/kernels", "example")];

pub(crate) fn check(bless: bool) -> Result<String, Failure> {
    let ptxas = ptxas().ok_or_else(|| {
        Failure::Missing(
            "there is no ptxas: `pip install --no-deps nvidia-cuda-nvcc-cu12`, and its path in GRIDWISE_PTXAS"
                .to_owned(),
        )
    })?;
    let file = workspace("tools/ptx-check/snapshots/registers.txt");
    let version = version(&ptxas)?;
    if !bless {
        let committed = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        let by = committed.lines().next().unwrap_or("nobody knows what");
        let place = ptxas.display().to_string();
        compiler::is_the_same(
            by,
            &version,
            &place,
            "takes other registers; GRIDWISE_PTXAS names another",
        )
        .map_err(Failure::Missing)?;
    }
    let mut table = format!("{version}\n");
    for device in DEVICES {
        for row in rows(&assemble(&ptxas, device, &workspace(FILE))?) {
            table += &format!("{device:<8}{row}\n");
        }
    }
    let mut said = snapshot::check(&file, &table, bless, "registers")?;
    for (kernels, name) in OTHERS {
        let (ptx, _) = compile(kernels, name, &[])?;
        for device in DEVICES {
            assemble(&ptxas, device, &ptx.path)?;
        }
        said += &format!("\n{kernels} assembles for {}", DEVICES.join(", "));
    }
    Ok(said)
}

/// What the assembler says of a text.
fn assemble(ptxas: &Path, device: &str, ptx: &Path) -> Result<String, Failure> {
    let output = env::temp_dir().join(format!("ptx-check-{}.cubin", std::process::id()));
    let run = Command::new(ptxas)
        .args(["-v", "-arch", device])
        .arg(ptx)
        .arg("-o")
        .arg(&output)
        .output()
        .map_err(|error| error.to_string())?;
    // It was only made to see whether it can be.
    let _ = fs::remove_file(output);
    let said = String::from_utf8_lossy(&run.stderr).into_owned() + &String::from_utf8_lossy(&run.stdout);
    if !run.status.success() {
        return Err(format!("{} does not assemble for {device}:\n{said}", ptx.display()).into());
    }
    Ok(said)
}

fn ptxas() -> Option<PathBuf> {
    if let Some(path) = env::var_os("GRIDWISE_PTXAS") {
        return Some(path.into());
    }
    let path = env::var_os("PATH")?;
    env::split_paths(&path)
        .map(|directory| directory.join("ptxas"))
        .find(|ptxas| ptxas.is_file())
}

fn version(ptxas: &PathBuf) -> Result<String, Failure> {
    let output = Command::new(ptxas)
        .arg("--version")
        .output()
        .map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let release = text
        .lines()
        .find(|line| line.contains("release"))
        .unwrap_or("of unknown version");
    Ok(format!("ptxas: {}", release.trim()))
}

/// A row a kernel, sorted: its name, spills, registers and static shared memory.
fn rows(said: &str) -> Vec<String> {
    let mut rows = Vec::new();
    let (mut name, mut spills) = (String::new(), String::new());
    for line in said.lines() {
        if let Some(rest) = line.split("Compiling entry function '").nth(1) {
            name = rest.split('\'').next().unwrap_or(rest).to_owned();
        } else if line.contains("bytes spill stores") && spills.is_empty() {
            spills = line.trim().to_owned();
        } else if let Some(used) = line.split("Used ").nth(1) {
            let used: Vec<_> = used
                .split(", ")
                .filter(|part| part.contains("registers") || part.ends_with(" smem"))
                .collect();
            rows.push(format!(
                "{name:<44} {}, {}",
                used.join(", "),
                std::mem::take(&mut spills)
            ));
        }
    }
    rows.sort();
    rows
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn rows_are_read_from_what_ptxas_says() {
        let said = "\
ptxas info    : Compiling entry function 'k' for 'sm_80'
ptxas info    : Function properties for k
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 28 registers, used 1 barriers, 16 bytes smem, 440 bytes cmem[0]
";
        let row = rows(said).remove(0);
        assert!(row.starts_with("k  "), "{row}");
        assert!(
            row.ends_with(
                "28 registers, 16 bytes smem, 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads"
            )
        );
    }
}
