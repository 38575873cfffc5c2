//! What the library takes CUDA's driver to be, against NVIDIA's own header: the type of every function that is loaded, and the value
//! of every constant whose documentation begins with its name there.
//!
//! A C compiler compares. It is given a text of assertions, made from the library's source, and the header of `GRIDWISE_CUDA_H`, of
//! a toolkit, or of `pip install --no-deps nvidia-cuda-runtime-cu12`.

use std::{env, fmt::Write as _, fs, path::PathBuf, process::Command};

use crate::{Failure, workspace};

const FOLDER: &str = "gridwise/src/backend/cuda/host";
/// The file with the table of functions, and how the table begins and ends.
const TABLE: (&str, &str, &str) = ("driver.rs", "\nfunctions! {\n", "\n}\n");

/// Types of the table, and what they are in the header.
const TYPES: [(&str, &str); 23] = [
    ("u8", "unsigned char"),
    ("u16", "unsigned short"),
    ("u32", "unsigned int"),
    ("u64", "unsigned long long"),
    ("usize", "size_t"),
    ("i32", "int"),
    ("f32", "float"),
    ("c_char", "char"),
    ("c_void", "void"),
    ("Status", "CUresult"),
    ("RawDevice", "CUdevice"),
    ("DevicePointer", "CUdeviceptr"),
    ("DeviceAttribute", "CUdevice_attribute"),
    ("FunctionAttribute", "CUfunction_attribute"),
    ("CompilerOption", "CUjit_option"),
    ("CaptureMode", "CUstreamCaptureMode"),
    ("RawContext", "CUcontext"),
    ("RawModule", "CUmodule"),
    ("RawFunction", "CUfunction"),
    ("RawStream", "CUstream"),
    ("RawEvent", "CUevent"),
    ("RawGraph", "CUgraph"),
    ("RawGraphExec", "CUgraphExec"),
];

pub(crate) fn check() -> Result<String, Failure> {
    let header = header().ok_or_else(|| {
        Failure::Missing(
            "there is no cuda.h: `pip install --no-deps nvidia-cuda-runtime-cu12`, and its path in GRIDWISE_CUDA_H"
                .to_owned(),
        )
    })?;
    let mut assertions = Assertions::default();
    let mut files: Vec<_> = fs::read_dir(workspace(FOLDER))
        .map_err(|error| format!("{FOLDER}: {error}"))?
        .flatten()
        .map(|entry| entry.path())
        .collect();
    files.sort();
    for file in files {
        let text = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        if file.ends_with(TABLE.0) {
            assertions.functions(&text)?;
        }
        assertions.constants(&text);
    }
    let name = env::temp_dir().join(format!("ptx-check-{}.c", std::process::id()));
    fs::write(&name, assertions.text()).map_err(|error| error.to_string())?;
    let compiled = Command::new(env::var_os("CC").unwrap_or_else(|| "cc".into()))
        .arg("-fsyntax-only")
        .arg("-I")
        .arg(header.parent().unwrap_or(&header))
        .arg(&name)
        .output();
    // Only the compiler was to see it.
    let _ = fs::remove_file(&name);
    let compiled = compiled.map_err(|error| Failure::Missing(format!("there is no C compiler: {error}")))?;
    if !compiled.status.success() {
        let said = String::from_utf8_lossy(&compiled.stderr);
        return Err(format!("{FOLDER} is not as {}:\n{said}", header.display()).into());
    }
    Ok(format!(
        "{} functions and {} constants are as in {}",
        assertions.functions,
        assertions.constants,
        header.display()
    ))
}

fn header() -> Option<PathBuf> {
    if let Some(path) = env::var_os("GRIDWISE_CUDA_H") {
        return Some(path.into());
    }
    let toolkit = env::var_os("CUDA_PATH").map_or_else(|| PathBuf::from("/usr/local/cuda"), PathBuf::from);
    let header = toolkit.join("include/cuda.h");
    header.is_file().then_some(header)
}

/// What the compiler is to find true.
#[derive(Default)]
struct Assertions {
    lines: String,
    functions: usize,
    constants: usize,
}

impl Assertions {
    fn text(&self) -> String {
        format!("#include \"cuda.h\"\n{}", self.lines)
    }

    /// One a function: `name = b"symbol\0"(argument: type, …);`.
    fn functions(&mut self, text: &str) -> Result<(), Failure> {
        let table = text.split(TABLE.1).nth(1).and_then(|rest| rest.split(TABLE.2).next());
        let table = table.ok_or_else(|| format!("{}: the table of functions is not found", TABLE.0))?;
        for function in table.split(';').filter(|function| function.contains("b\"")) {
            let symbol = function.split("b\"").nth(1).and_then(|rest| rest.split("\\0").next());
            let arguments = function.split("\"(").nth(1).and_then(|rest| rest.split(')').next());
            let (Some(symbol), Some(arguments)) = (symbol, arguments) else {
                return Err(format!("{}: this is no function: {function}", TABLE.0).into());
            };
            let types = arguments.split(',').filter_map(|argument| argument.split(": ").nth(1));
            let types = types.map(c_type).collect::<Result<Vec<_>, _>>()?.join(", ");
            let _ = writeln!(
                self.lines,
                "_Static_assert(__builtin_types_compatible_p(__typeof__(&{symbol}), CUresult (*)({types})), \"{symbol}\");"
            );
            self.functions += 1;
        }
        Ok(())
    }

    /// One a constant: a line ``/// `NAME` ``, perhaps with more, and below it `const …: … = value`.
    fn constants(&mut self, text: &str) {
        let mut name = "";
        for line in text.lines().map(str::trim) {
            if let Some(documented) = line.strip_prefix("/// `CU") {
                name = documented.split('`').next().unwrap_or("");
            } else if !line.starts_with("//") && !name.is_empty() {
                let value = line.split(" = ").nth(1).unwrap_or(line).trim_end_matches(';');
                let _ = writeln!(
                    self.lines,
                    "_Static_assert((CU{name}) == ({value}), \"CU{name} is not {value}\");"
                );
                self.constants += 1;
                name = "";
            }
        }
    }
}

/// A type of the table in C: `*const c_char` is `char const *`.
fn c_type(rust: &str) -> Result<String, Failure> {
    let rust = rust.trim();
    if let Some(pointee) = rust.strip_prefix("*mut ") {
        return Ok(c_type(pointee)? + " *");
    }
    if let Some(pointee) = rust.strip_prefix("*const ") {
        return Ok(c_type(pointee)? + " const *");
    }
    let known = TYPES.iter().find(|(name, _)| *name == rust);
    let (_, c) = known.ok_or_else(|| format!("{}: {rust} is no type that the header is known to have", TABLE.0))?;
    Ok((*c).to_owned())
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn a_table_and_constants_become_assertions() {
        let mut assertions = Assertions::default();
        let table =
            "x\nfunctions! {\n    get = b\"cuGet_v2\\0\"(\n        name: *mut *const c_char, of: Status\n    );\n}\n";
        assert!(assertions.functions(table).is_ok());
        assertions
            .constants("/// Plain.\nconst A: u32 = 1;\n/// `CU_B | CU_C`: both\npub(super) const B: u32 = 1 | 2;\n");
        let expected = "\
_Static_assert(__builtin_types_compatible_p(__typeof__(&cuGet_v2), CUresult (*)(char const * *, CUresult)), \"cuGet_v2\");
_Static_assert((CU_B | CU_C) == (1 | 2), \"CU_B | CU_C is not 1 | 2\");
";
        assert_eq!(assertions.lines, expected);
        assert_eq!((assertions.functions, assertions.constants), (1, 1));
    }
}
