//! What goes to standard output.

use std::{
    fmt::Display,
    io::{self, Write},
};

use comfy_table::{ContentArrangement, Table, presets};
use serde::Serialize;

use crate::failure::Failure;

/// The width of every table, whatever the terminal: output into a file looks the same.
const WIDTH: u16 = 80;

/// Writes `text` and the end of the line to standard output.
///
/// A reader that has had enough, such as `head`, is no failure.
///
/// # Errors
///
/// [`Failure::Console`] where the system refuses for another reason, such as a full disk.
pub fn print(text: impl Display) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(source) if source.kind() != io::ErrorKind::BrokenPipe => Err(Failure::Console { source }),
        _ => Ok(()),
    }
}

/// Writes `value` to standard output as JSON.
///
/// # Errors
///
/// As [`print()`].
pub fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Failure::Console { source: error.into() })?;
    print(text)
}

/// An empty table without lines, no wider than 80 columns.
pub fn table() -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(WIDTH);
    table
}

/// Text in lines that are indented and no wider than tables. A word that is too long stands alone.
pub fn paragraph(text: &str, indent: usize) -> String {
    let margin = " ".repeat(indent);
    let mut lines = vec![margin.clone()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is a first line");
        let (length, more) = (line.chars().count(), word.chars().count());
        if length > indent && length + 1 + more > usize::from(WIDTH) {
            lines.push(format!("{margin}  {word}"));
        } else {
            if length > indent {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines.join("\n")
}

/// A time, in the unit that suits it: `150 ns`, `1.5 µs`, `20.0 ms`.
pub fn nanoseconds(time: f64) -> String {
    match time {
        ..999.5 => format!("{time:.0} ns"),
        ..999.95e3 => format!("{:.1} µs", time / 1e3),
        ..999.95e6 => format!("{:.1} ms", time / 1e6),
        _ => format!("{:.1} s", time / 1e9),
    }
}

/// `1 block`, `2 blocks`, `2 entries`.
pub fn plural(count: usize, noun: &str) -> String {
    match noun.strip_suffix('y') {
        _ if count == 1 => format!("{count} {noun}"),
        Some(stem) => format!("{count} {stem}ies"),
        None => format!("{count} {noun}s"),
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn times_come_in_the_unit_that_suits_them() {
        for (time, expected) in [
            (0.4, "0 ns"),
            (999.0, "999 ns"),
            (999.9, "1.0 µs"),
            (1550.0, "1.6 µs"),
            (999_990.0, "1.0 ms"),
            (2e7, "20.0 ms"),
            (1.5e9, "1.5 s"),
        ] {
            assert_eq!(nanoseconds(time), expected);
        }
    }

    #[test]
    fn a_paragraph_breaks_between_words_before_80_columns() {
        let text = paragraph(&"word ".repeat(40), 3);
        assert!(
            text.lines().all(|line| line.starts_with("   ") && line.len() <= 80),
            "{text}"
        );
        assert_eq!(text.split_whitespace().count(), 40);
        assert!(text.lines().count() < 5, "{text}");
        assert_eq!(paragraph("", 1), " ");
    }
}
