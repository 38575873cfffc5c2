//! The text of the picture.

use std::fmt::{self, Write};

use super::{BOTTOM, Curve, LEFT, Mark, ORANGE, Picture, RIGHT, TOP, across, up};

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 480.0;

const TEXT: &str = "#222222";
const FAINT: &str = "#e3e3e3";

/// Up to so many points, each gets a dot.
const DOTS: usize = 60;
/// The title is cut there; about what fits above the plot.
const TITLE: usize = 64;

/// The whole file.
pub(super) fn draw(picture: &Picture<'_>) -> String {
    let mut svg = String::new();
    write_all(&mut svg, picture).expect("a string takes all that is written to it");
    svg
}

/// A power of ten.
pub(super) fn power(exponent: i32) -> String {
    // The minus sign of typography is as wide as the digits; the hyphen is hard to see when raised.
    let sign = if exponent < 0 { "\u{2212}" } else { "" };
    let digits = exponent.unsigned_abs();
    format!(r#"10<tspan dy="-6" font-size="10">{sign}{digits}</tspan>"#)
}

fn write_all(svg: &mut String, picture: &Picture<'_>) -> fmt::Result {
    writeln!(
        svg,
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" font-family="Helvetica, Arial, 'DejaVu Sans', sans-serif" font-size="13" fill="{TEXT}">"#
    )?;
    writeln!(svg, "<title>{}</title>", escape(picture.title))?;
    writeln!(svg, r#"<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>"#)?;
    let shown = escape(&shorten(picture.title));
    writeln!(
        svg,
        r#"<text x="{LEFT}" y="32" font-size="16" font-weight="bold">{shown}</text>"#
    )?;
    vertical_axis(svg, picture)?;
    horizontal_axis(svg, picture)?;
    if let Some(mark) = &picture.level {
        level(svg, picture, mark)?;
    }
    if let Some(mark) = &picture.limit {
        limit(svg, picture, mark)?;
    }
    if picture.curves.is_empty() {
        let (x, y) = ((LEFT + RIGHT) / 2.0, (TOP + BOTTOM) / 2.0);
        writeln!(
            svg,
            r#"<text x="{x}" y="{y}" text-anchor="middle">{}</text>"#,
            picture.nothing
        )?;
    }
    let few = picture.curves.iter().map(|curve| curve.points.len()).sum::<usize>() <= DOTS;
    for curve in &picture.curves {
        self::curve(svg, picture, curve, few)?;
    }
    names(svg, &picture.curves)?;
    svg.write_str("</svg>\n")
}

/// A line for each tick, with its label to the left.
fn vertical_axis(svg: &mut String, picture: &Picture<'_>) -> fmt::Result {
    let (axis, name) = &picture.y;
    for tick in axis.ticks() {
        let y = up(tick.fraction);
        writeln!(svg, r#"<path d="M{LEFT} {y:.1}H{RIGHT}" stroke="{FAINT}"/>"#)?;
        if let Some(label) = tick.label {
            let (x, y) = (LEFT - 9.0, y + 5.0);
            writeln!(svg, r#"<text x="{x}" y="{y:.1}" text-anchor="end">{label}</text>"#)?;
        }
    }
    let middle = (TOP + BOTTOM) / 2.0;
    writeln!(
        svg,
        r#"<text transform="translate(24 {middle}) rotate(-90)" text-anchor="middle">{name}</text>"#
    )
}

/// Short lines with their labels below, and the frame.
fn horizontal_axis(svg: &mut String, picture: &Picture<'_>) -> fmt::Result {
    let (axis, name) = &picture.x;
    for tick in axis.ticks() {
        let x = across(tick.fraction);
        let (end, baseline) = (BOTTOM + 5.0, BOTTOM + 21.0);
        writeln!(svg, r#"<path d="M{x:.1} {BOTTOM}V{end}" stroke="{TEXT}"/>"#)?;
        if let Some(label) = tick.label {
            writeln!(
                svg,
                r#"<text x="{x:.1}" y="{baseline}" text-anchor="middle">{label}</text>"#
            )?;
        }
    }
    let (middle, baseline) = ((LEFT + RIGHT) / 2.0, BOTTOM + 46.0);
    writeln!(
        svg,
        r#"<text x="{middle}" y="{baseline}" text-anchor="middle">{name}</text>"#
    )?;
    writeln!(
        svg,
        r#"<path d="M{LEFT} {TOP}V{BOTTOM}H{RIGHT}" fill="none" stroke="{TEXT}"/>"#
    )
}

/// A dashed line from left to right, named to its right.
fn level(svg: &mut String, picture: &Picture<'_>, mark: &Mark) -> fmt::Result {
    let y = up(picture.y.0.fraction(mark.at));
    writeln!(
        svg,
        r#"<path d="M{LEFT} {y:.1}H{RIGHT}" stroke="{ORANGE}" stroke-width="1.5" stroke-dasharray="7 5"/>"#
    )?;
    // Near the bottom, the name stays above the last label of the horizontal axis.
    let baseline = y.min(BOTTOM - 10.0) - 3.0;
    let (x, below) = (RIGHT + 8.0, baseline + 16.0);
    let [name, value] = &mark.text;
    writeln!(
        svg,
        r#"<text x="{x}" y="{baseline:.1}" fill="{ORANGE}">{name}<tspan x="{x}" y="{below:.1}">{value}</tspan></text>"#
    )
}

/// A dashed line from top to bottom, named above.
fn limit(svg: &mut String, picture: &Picture<'_>, mark: &Mark) -> fmt::Result {
    let x = across(picture.x.0.fraction(mark.at));
    writeln!(
        svg,
        r#"<path d="M{x:.1} {TOP}V{BOTTOM}" stroke="{TEXT}" stroke-width="1.5" stroke-dasharray="7 5"/>"#
    )?;
    // Near an end, the name stays over the plot.
    let (x, baseline) = (x.clamp(LEFT + 60.0, RIGHT - 60.0), TOP - 6.0);
    let [name, value] = &mark.text;
    writeln!(
        svg,
        r#"<text x="{x:.1}" y="{baseline}" text-anchor="middle">{name} {value}</text>"#
    )
}

/// A line, and dots where they help or where there is nothing to draw a line to.
fn curve(svg: &mut String, picture: &Picture<'_>, curve: &Curve, dots: bool) -> fmt::Result {
    let Curve { points, colour, .. } = curve;
    let placed = || {
        points
            .iter()
            .map(|&(x, y)| (across(picture.x.0.fraction(x)), up(picture.y.0.fraction(y))))
    };
    if points.len() > 1 {
        svg.write_str(r#"<polyline points=""#)?;
        for (x, y) in placed() {
            write!(svg, "{x:.1},{y:.1} ")?;
        }
        writeln!(
            svg,
            r#"" fill="none" stroke="{colour}" stroke-width="1.8" stroke-linejoin="round"/>"#
        )?;
    }
    if dots || points.len() == 1 {
        for (x, y) in placed() {
            writeln!(svg, r#"<circle cx="{x:.1}" cy="{y:.1}" r="3" fill="{colour}"/>"#)?;
        }
    }
    Ok(())
}

/// The names of the curves that have one, at the upper right.
fn names(svg: &mut String, curves: &[Curve]) -> fmt::Result {
    let named = curves.iter().filter_map(|curve| Some((curve.colour, curve.name?)));
    for (row, (colour, name)) in named.enumerate() {
        let (x, y) = (RIGHT - 130.0, TOP + 20.0 + 20.0 * row as f64);
        let (end, baseline) = (x + 24.0, y + 5.0);
        writeln!(
            svg,
            r#"<path d="M{x} {y}H{end}" stroke="{colour}" stroke-width="1.8"/>"#
        )?;
        let x = end + 8.0;
        writeln!(svg, r#"<text x="{x}" y="{baseline}">{name}</text>"#)?;
    }
    Ok(())
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
