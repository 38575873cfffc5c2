//! A report as text and as Markdown.

use super::{Quartiles, Report};

const HEADINGS: [&str; 5] = ["contender", "median", "quartiles", "ratio", "by round"];

impl Report {
    /// An aligned table.
    pub fn text(&self) -> String {
        let cells = self.cells();
        let width = |column: usize| {
            let widest = cells.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
            widest.max(HEADINGS[column].chars().count())
        };
        let widths: Vec<usize> = (0..HEADINGS.len()).map(width).collect();
        let line = |row: [&str; 5]| {
            let first = format!("  {:<w$}", row[0], w = widths[0]);
            (1..row.len()).fold(first, |line, column| {
                format!("{line}  {:>w$}", row[column], w = widths[column])
            }) + "\n"
        };
        let mut text = format!("{}, {}\n{}", self.title, self.unit, line(HEADINGS));
        for row in &cells {
            text += &line(row.each_ref().map(String::as_str));
        }
        text
    }

    /// A Markdown table under a heading.
    pub fn markdown(&self) -> String {
        let mut text = format!(
            "### {}, {}\n\n| {} |\n|---|--:|--:|--:|--:|\n",
            self.title,
            self.unit,
            HEADINGS.join(" | ")
        );
        for row in self.cells() {
            text += &format!("| {} |\n", row.map(|cell| cell.replace('|', "\\|")).join(" | "));
        }
        text
    }

    fn cells(&self) -> Vec<[String; 5]> {
        let cells = |row: &super::Row| {
            [
                row.name.clone(),
                figure(row.value.median),
                range(&row.value, figure),
                ratio(row.ratio),
                range(&row.ratio_by_round, ratio),
            ]
        };
        self.rows.iter().map(cells).collect()
    }
}

fn range(quartiles: &Quartiles, text: fn(f64) -> String) -> String {
    format!("{} to {}", text(quartiles.lower), text(quartiles.upper))
}

/// Three significant digits below 100, whole numbers with spaces between the thousands above.
fn figure(value: f64) -> String {
    if !value.is_finite() {
        return value.to_string();
    }
    if value < 1.0 {
        return format!("{value:.3}");
    }
    if value < 10.0 {
        return format!("{value:.2}");
    }
    if value < 100.0 {
        return format!("{value:.1}");
    }
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

fn ratio(value: f64) -> String {
    if value < 100.0 {
        format!("{value:.2}")
    } else {
        figure(value)
    }
}
