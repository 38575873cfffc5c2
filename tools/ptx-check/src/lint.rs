//! What compilers are known to get wrong, looked for in what they made.
//!
//! * **A barrier copied into the arms of a branch.** Threads that take different arms then wait at different barriers. The
//!   passes that do it do not run at the lowest level of optimisation, so each kernel is compiled at that, too, and has to have as
//!   many barriers as there. Unrolled loops have more; each such kernel stands in the snapshot with both numbers, and a person
//!   has looked at it.
//! * **A vote or a shuffle copied likewise**: lanes of one warp then vote at different places. Counted like barriers.
//! * **A read-modify-write without its order.** rustc drops the order of its own; ours spell order and scope.
//! * **A generic access** in a kernel, where the compiler has lost that a pointer is to global memory.
//! * **A symbol that nothing defines.**

use std::collections::BTreeMap;

use crate::{
    Failure, compile, compiler,
    listing::{Function, functions},
    snapshot, workspace,
};

/// Crates, and the names of their snapshots.
const CRATES: [(&str, &str); 2] = [("tools/prebuilt", "prebuilt"), ("tests/kernels", "conformance")];

const ORDERS: [&str; 4] = ["relaxed", "acquire", "release", "acq_rel"];
const SCOPES: [&str; 4] = ["cta", "cluster", "gpu", "sys"];
const SPACES: [&str; 6] = ["global", "shared", "local", "param", "const", "shared::cta"];

pub(crate) fn check(bless: bool) -> Result<String, Failure> {
    let mut said = Vec::new();
    let mut not_compared = None;
    for (kernels, name) in CRATES {
        let (ptx, text) = compile(kernels, name, &[])?;
        let (_, plain) = compile(kernels, &format!("{name}-plain"), &["-Copt-level=1"])?;
        let wrong = findings(&text);
        if !wrong.is_empty() {
            return Err(format!("{kernels}:\n{}", wrong.join("\n")).into());
        }
        let compiler = compiler::is_that_of_the_committed(&ptx);
        let table = table(&text, &plain);
        let file = workspace("tools/ptx-check/snapshots").join(format!("{name}.txt"));
        match compiler {
            Err(another) if bless => return Err(another),
            // It may unroll otherwise, or come to the same.
            Err(another) => match snapshot::check(&file, &table, false, "lint") {
                Ok(same) => said.push(same),
                Err(_) => not_compared = Some(another),
            },
            Ok(()) => said.push(snapshot::check(&file, &table, bless, "lint")?),
        }
    }
    not_compared.map_or(Ok(said.join("\n")), Err)
}

/// What is wrong whatever the snapshot says.
fn findings(text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.starts_with(".extern") && !is_provided(line, text) {
            findings.push(format!("line {}: nothing defines {line}", index + 1));
        }
    }
    for function in functions(text) {
        for &(line, instruction) in &function.instructions {
            let is_rmw = ["atom", "red"].contains(&part(instruction, 0));
            if is_rmw && !(has(instruction, &ORDERS) && has(instruction, &SCOPES)) {
                findings.push(format!(
                    "line {line}, in {}: {instruction} has no order or no scope",
                    function.name
                ));
            }
        }
    }
    findings
}

/// Whether the driver, or the text itself, provides what a line declares.
fn is_provided(line: &str, text: &str) -> bool {
    // As much as the launch asks for.
    if line.starts_with(".extern .shared") {
        return true;
    }
    let symbol = line.trim_end_matches(';').split(' ').next_back().unwrap_or(line);
    let symbol = symbol.split('[').next().unwrap_or(symbol);
    line.starts_with(".extern .global")
        && text
            .lines()
            .any(|other| other.starts_with(".visible .global") && other.contains(&format!(" {symbol}[")))
}

fn part(instruction: &str, index: usize) -> &str {
    instruction.split('.').nth(index).unwrap_or("")
}

fn has(instruction: &str, parts: &[&str]) -> bool {
    instruction.split('.').any(|part| parts.contains(&part))
}

/// What threads do together: at barriers of the block, and in votes and shuffles of the warp.
fn together(function: &Function<'_>) -> [usize; 2] {
    let is_barrier =
        |instruction: &str| ["bar", "barrier"].contains(&part(instruction, 0)) && part(instruction, 1) != "warp";
    let is_of_warp = |instruction: &str| {
        ["vote", "shfl", "match", "redux", "activemask"].contains(&part(instruction, 0))
            || ["bar", "barrier"].contains(&part(instruction, 0)) && part(instruction, 1) == "warp"
    };
    let count = |is: &dyn Fn(&str) -> bool| {
        let instructions = function.instructions.iter();
        instructions.filter(|(_, instruction)| is(instruction)).count()
    };
    [count(&is_barrier), count(&is_of_warp)]
}

fn generic(function: &Function<'_>) -> usize {
    let is_access = |instruction: &str| ["ld", "st", "atom", "red"].contains(&part(instruction, 0));
    let accesses = function
        .instructions
        .iter()
        .filter(|(_, instruction)| is_access(instruction));
    accesses.filter(|(_, instruction)| !has(instruction, &SPACES)).count()
}

/// A line a kernel: barriers of the source and as compiled, the same of votes and shuffles, generic accesses.
fn table(text: &str, plain: &str) -> String {
    let of_source: BTreeMap<_, _> = functions(plain)
        .iter()
        .map(|f| (f.name.to_owned(), together(f)))
        .collect();
    let mut rows: Vec<_> = functions(text)
        .iter()
        .filter(|function| function.is_entry)
        .map(|function| {
            let source = of_source.get(function.name).copied().unwrap_or_default();
            let compiled = together(function);
            let note = if source == compiled { "" } else { "  unrolled" };
            format!(
                "{:<44} {:>8} {:>8} {:>8} {:>8} {:>8}{note}\n",
                function.name,
                source[0],
                compiled[0],
                source[1],
                compiled[1],
                generic(function)
            )
        })
        .collect();
    rows.sort();
    let heading = format!(
        "{:<44} {:>8} {:>8} {:>8} {:>8} {:>8}\n",
        "barriers of, votes and shuffles of", "source", "compiled", "source", "compiled", "generic"
    );
    heading + &rows.concat()
}

#[cfg(test)]
mod test {
    use super::*;

    fn entry(body: &str) -> String {
        format!(".visible .entry k(\n)\n{{\n{body}\n}}\n")
    }

    #[test]
    fn a_read_modify_write_without_order_or_scope_is_found() {
        assert_eq!(
            findings(&entry("\tatom.acq_rel.gpu.global.add.u32 %r1, [%rd1], 1;")).len(),
            0
        );
        assert_eq!(findings(&entry("\tatom.global.add.u32 \t%r1, [%rd1], 1;")).len(), 1);
        assert_eq!(
            findings(&entry("\tatom.relaxed.global.add.u32 \t%r1, [%rd1], 1;")).len(),
            1
        );
        assert_eq!(findings(&entry("\t@%p1 red.gpu.global.add.u32 \t[%rd1], 1;")).len(), 1);
    }

    #[test]
    fn a_symbol_that_nothing_defines_is_found() {
        assert_eq!(findings(".extern .func memcpy\n").len(), 1);
        assert_eq!(findings(".extern .global .align 1 .b8 anchor[];\n").len(), 1);
        let defined = ".visible .global .align 16 .b8 anchor[16];\n.extern .global .align 1 .b8 anchor[];\n";
        assert_eq!(findings(defined).len(), 0);
        assert_eq!(findings(".extern .shared .align 16 .b8 shared[];\n").len(), 0);
    }

    #[test]
    fn copied_barriers_and_generic_accesses_are_counted() {
        let once = entry("\tbar.sync \t0;\n\tld.global.b32 \t%r1, [%rd1];");
        let twice = entry("\tbar.sync \t0;\n\t@%p1 bar.sync \t0;\n\tld.b32 \t%r1, [%rd1];");
        let table = table(&twice, &once);
        let row: Vec<_> = table.lines().nth(1).unwrap().split_whitespace().collect();
        assert_eq!(row, ["k", "1", "2", "0", "0", "1", "unrolled"]);
    }

    #[test]
    fn copied_votes_and_shuffles_are_counted() {
        let once = entry("\tshfl.sync.idx.b32 \t%r1|%p1, %r2, 0, 31, %r3;\n\tvote.sync.ballot.b32 \t%r4, %p1, -1;");
        let twice = once.replace(
            "\tvote",
            "\t@%p2 vote.sync.ballot.b32 \t%r4, %p1, -1;\n\tbar.warp.sync \t-1;\n\tvote",
        );
        let table = table(&twice, &once);
        let row: Vec<_> = table.lines().nth(1).unwrap().split_whitespace().collect();
        assert_eq!(row, ["k", "0", "0", "2", "4", "0", "unrolled"]);
    }
}
