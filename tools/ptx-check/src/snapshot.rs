//! Committed texts: compared, or replaced.

use std::{fs, path::Path};

use crate::Failure;

/// Compares a text with the file, or writes it there.
pub(crate) fn check(file: &Path, now: &str, bless: bool, command: &str) -> Result<String, Failure> {
    let name = file.display();
    if bless {
        fs::write(file, now).map_err(|error| format!("{name}: {error}"))?;
        return Ok(format!("wrote {name}"));
    }
    let committed = fs::read_to_string(file).map_err(|error| format!("{name}: {error}"))?;
    if committed == now {
        return Ok(format!("{name} is as committed"));
    }
    let mut what = format!("{name} is not what is committed (- committed, + now):\n");
    for difference in difference(&committed, now).iter().take(40) {
        what += difference;
        what.push('\n');
    }
    what += &format!("if that is as it should be: cargo run -p ptx-check -- {command} --bless");
    Err(what.into())
}

/// Lines of only one of the two, those of the first before those of the second.
fn difference(a: &str, b: &str) -> Vec<String> {
    let only = |sign: char, of: &str, other: &str| {
        let other: std::collections::HashSet<&str> = other.lines().collect();
        let lines = of.lines().filter(|line| !other.contains(line));
        lines.map(|line| format!("{sign} {line}")).collect::<Vec<_>>()
    };
    [only('-', a, b), only('+', b, a)].concat()
}
