//! PTX as LLVM writes it, taken apart into functions and instructions: one instruction a line.

/// A kernel or a function that kernels call.
pub(crate) struct Function<'a> {
    pub(crate) name: &'a str,
    /// Whether the host can launch it.
    pub(crate) is_entry: bool,
    /// Names of its instructions, with everything behind the dots, and the line each is in.
    pub(crate) instructions: Vec<(usize, &'a str)>,
}

/// The functions with a body.
pub(crate) fn functions(text: &str) -> Vec<Function<'_>> {
    let mut functions: Vec<Function<'_>> = Vec::new();
    let mut heading = None;
    let mut inside = false;
    for (index, line) in text.lines().enumerate() {
        if inside {
            if line == "}" {
                inside = false;
            } else if let (Some(function), Some(name)) = (functions.last_mut(), instruction(line)) {
                function.instructions.push((index + 1, name));
            }
        } else if let Some(found) = name_in_heading(line) {
            heading = Some(found);
        } else if line == "{"
            && let Some((name, is_entry)) = heading.take()
        {
            inside = true;
            functions.push(Function {
                name,
                is_entry,
                instructions: Vec::new(),
            });
        }
    }
    functions
}

/// The name in a line like `.visible .entry name(` or `.func (.param .b32 result) name(`.
fn name_in_heading(line: &str) -> Option<(&str, bool)> {
    let (before, rest) = line.split_once(".entry ").or_else(|| line.split_once(".func "))?;
    if before.contains("//") {
        return None;
    }
    let rest = rest.trim_start();
    // A result stands before the name.
    let rest = match rest.strip_prefix('(') {
        Some(result) => result.split_once(')')?.1.trim_start(),
        None => rest,
    };
    let name = rest.split(['(', ' ', ';']).next().filter(|name| !name.is_empty())?;
    Some((name, line.contains(".entry ")))
}

/// The name of the instruction in a line, if there is one.
fn instruction(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = match line.strip_prefix('@') {
        Some(guarded) => guarded.split_once(' ')?.1.trim_start(),
        None => line,
    };
    let first = line.chars().next()?;
    if !first.is_ascii_lowercase() {
        return None;
    }
    line.split(|c: char| c.is_whitespace() || c == ';').next()
}

#[cfg(test)]
mod test {
    use super::*;

    const TEXT: &str = "\
.func (.param .b32 func_retval0) memcmp
(
\t.param .b64 memcmp_param_0
);
.visible .entry sum(
\t.param .align 8 .b8 sum_param_0[88]
)
{
\t.reg .b32 \t%r<5>;
\tmov.u32 \t%r1, %tid.x;
\t@%p1 bra \t$L__BB0_2;
\t// begin inline asm
\tst.shared.b32 [%r1], %r2;
$L__BB0_2:
\tbar.sync \t0;
\tret;

}
";

    #[test]
    fn instructions_are_told_from_all_else() {
        let functions = functions(TEXT);
        assert_eq!(functions.len(), 1);
        assert!(functions[0].is_entry && functions[0].name == "sum");
        let names: Vec<_> = functions[0].instructions.iter().map(|(_, name)| *name).collect();
        assert_eq!(names, ["mov.u32", "bra", "st.shared.b32", "bar.sync", "ret"]);
        assert_eq!(functions[0].instructions[3].0, 15);
    }
}
