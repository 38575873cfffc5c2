//! The text of the picture.

use std::fmt::{self, Write};

use super::{Axes, BOTTOM, LEFT, Point, RIGHT, TOP};

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 480.0;

const TEXT: &str = "#222222";
const FAINT: &str = "#e3e3e3";
const CURVE: &str = "#1f5fa8";
const GOAL: &str = "#c2410c";

/// Up to so many points, each gets a dot.
const DOTS: usize = 60;
/// The title is cut there; about what fits above the plot.
const TITLE: usize = 64;
/// An axis has at most one label more than this.
const LABELS: usize = 10;
/// Beyond so many powers of ten, only those with a label get a line.
const LINES: usize = 30;

/// The whole file.
pub(super) fn draw(axes: &Axes, curves: &[Vec<Point>], title: &str, tolerance: Option<f64>) -> String {
    let mut svg = String::new();
    write_all(&mut svg, axes, curves, title, tolerance).expect("a string takes all that is written to it");
    svg
}

fn write_all(svg: &mut String, axes: &Axes, curves: &[Vec<Point>], title: &str, tolerance: Option<f64>) -> fmt::Result {
    writeln!(
        svg,
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" font-family="Helvetica, Arial, 'DejaVu Sans', sans-serif" font-size="13" fill="{TEXT}">"#
    )?;
    writeln!(svg, "<title>{}</title>", escape(title))?;
    writeln!(svg, r#"<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>"#)?;
    let shown = escape(&shorten(title));
    writeln!(
        svg,
        r#"<text x="{LEFT}" y="32" font-size="16" font-weight="bold">{shown}</text>"#
    )?;
    decades(svg, axes)?;
    steps(svg, axes)?;
    if let Some(tolerance) = tolerance {
        goal(svg, axes, tolerance)?;
    }
    if curves.is_empty() {
        let (x, y) = ((LEFT + RIGHT) / 2.0, (TOP + BOTTOM) / 2.0);
        writeln!(svg, r#"<text x="{x}" y="{y}" text-anchor="middle">no residuals</text>"#)?;
    }
    let few = curves.iter().map(Vec::len).sum::<usize>() <= DOTS;
    for curve in curves {
        self::curve(svg, axes, curve, few)?;
    }
    svg.write_str("</svg>\n")
}

/// The vertical axis: a line for each power of ten, with its label.
fn decades(svg: &mut String, axes: &Axes) -> fmt::Result {
    let (bottom, top) = axes.decades;
    let range = top.abs_diff(bottom) as usize;
    let distance = label_distance(range);
    for exponent in bottom..=top {
        let y = axes.y_of_decade(f64::from(exponent));
        let labelled = (exponent.unsigned_abs() as usize).is_multiple_of(distance);
        if labelled || range <= LINES {
            writeln!(svg, r#"<path d="M{LEFT} {y:.1}H{RIGHT}" stroke="{FAINT}"/>"#)?;
        }
        if labelled {
            // The minus sign of typography is as wide as the digits; the hyphen is hard to see when raised.
            let sign = if exponent < 0 { "\u{2212}" } else { "" };
            let (x, y, digits) = (LEFT - 9.0, y + 5.0, exponent.unsigned_abs());
            writeln!(
                svg,
                r#"<text x="{x}" y="{y:.1}" text-anchor="end">10<tspan dy="-6" font-size="10">{sign}{digits}</tspan></text>"#
            )?;
        }
    }
    let middle = (TOP + BOTTOM) / 2.0;
    writeln!(
        svg,
        r#"<text transform="translate(24 {middle}) rotate(-90)" text-anchor="middle">residual</text>"#
    )
}

/// The horizontal axis, and the frame.
fn steps(svg: &mut String, axes: &Axes) -> fmt::Result {
    for step in (0..=axes.last_step).step_by(label_distance(axes.last_step)) {
        let x = axes.x(step);
        let (end, baseline) = (BOTTOM + 5.0, BOTTOM + 21.0);
        writeln!(svg, r#"<path d="M{x:.1} {BOTTOM}V{end}" stroke="{TEXT}"/>"#)?;
        writeln!(
            svg,
            r#"<text x="{x:.1}" y="{baseline}" text-anchor="middle">{step}</text>"#
        )?;
    }
    let (middle, baseline) = ((LEFT + RIGHT) / 2.0, BOTTOM + 46.0);
    writeln!(
        svg,
        r#"<text x="{middle}" y="{baseline}" text-anchor="middle">step</text>"#
    )?;
    writeln!(
        svg,
        r#"<path d="M{LEFT} {TOP}V{BOTTOM}H{RIGHT}" fill="none" stroke="{TEXT}"/>"#
    )
}

/// The dashed line, named to its right.
fn goal(svg: &mut String, axes: &Axes, tolerance: f64) -> fmt::Result {
    let y = axes.y(tolerance);
    writeln!(
        svg,
        r#"<path d="M{LEFT} {y:.1}H{RIGHT}" stroke="{GOAL}" stroke-width="1.5" stroke-dasharray="7 5"/>"#
    )?;
    // Near the bottom, the name stays above the last label of the horizontal axis.
    let baseline = y.min(BOTTOM - 10.0) - 3.0;
    let (x, below) = (RIGHT + 8.0, baseline + 16.0);
    let value = match format!("{tolerance:e}") {
        exact if exact.len() <= 9 => exact,
        _ => format!("{tolerance:.2e}"),
    };
    writeln!(
        svg,
        r#"<text x="{x}" y="{baseline:.1}" fill="{GOAL}">tolerance<tspan x="{x}" y="{below:.1}">{value}</tspan></text>"#
    )
}

/// A run of points: a line, and dots where they help or where there is nothing to draw a line to.
fn curve(svg: &mut String, axes: &Axes, points: &[Point], dots: bool) -> fmt::Result {
    let placed = || points.iter().map(|&(step, residual)| (axes.x(step), axes.y(residual)));
    if points.len() > 1 {
        svg.write_str(r#"<polyline points=""#)?;
        for (x, y) in placed() {
            write!(svg, "{x:.1},{y:.1} ")?;
        }
        writeln!(
            svg,
            r#"" fill="none" stroke="{CURVE}" stroke-width="1.8" stroke-linejoin="round"/>"#
        )?;
    }
    if dots || points.len() == 1 {
        for (x, y) in placed() {
            writeln!(svg, r#"<circle cx="{x:.1}" cy="{y:.1}" r="3" fill="{CURVE}"/>"#)?;
        }
    }
    Ok(())
}

/// The smallest of 1, 2, 5, 10, 20, 50, … that divides `range` into at most [`LABELS`] parts.
pub(super) fn label_distance(range: usize) -> usize {
    // In 128 bits, as no power of ten on the way overflows them.
    let mut power = 1_u128;
    loop {
        for distance in [power, 2 * power, 5 * power] {
            if range as u128 / distance <= LABELS as u128 {
                return distance as usize;
            }
        }
        power *= 10;
    }
}

fn shorten(title: &str) -> String {
    if title.chars().count() <= TITLE {
        return title.to_owned();
    }
    title.chars().take(TITLE - 1).chain(['…']).collect()
}

/// `text` as XML, where some characters mean something and others cannot be written at all.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            '\t' | '\n' | '\r' => escaped.push(' '),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}
