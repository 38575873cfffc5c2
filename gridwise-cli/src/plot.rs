//! Pictures of what was measured, as SVG files that need nothing else.

mod axis;
mod break_even;
mod residual;
mod svg;
#[cfg(test)]
mod test;

pub use break_even::break_even_svg;
pub use residual::residual_svg;

/// The corners of the plot. What stands for a height is named to the right of it, where no curve runs.
const LEFT: f64 = 84.0;
const RIGHT: f64 = 756.0;
const TOP: f64 = 56.0;
const BOTTOM: f64 = 416.0;

const BLUE: &str = "#1f5fa8";
const ORANGE: &str = "#c2410c";

/// What a curve goes through, in the units of the axes.
type Point = (f64, f64);

/// A line from point to point; of a few points, each gets a dot.
struct Curve {
    points: Vec<Point>,
    colour: &'static str,
    /// What it is, where there is more than one kind.
    name: Option<&'static str>,
}

/// A dashed line across the plot.
struct Mark {
    /// Where it crosses its axis.
    at: f64,
    /// What it is, and its value.
    text: [String; 2],
}

/// All that is drawn.
struct Picture<'a> {
    title: &'a str,
    x: (axis::Axis, &'a str),
    y: (axis::Axis, &'a str),
    curves: Vec<Curve>,
    /// A height.
    level: Option<Mark>,
    /// A place along the horizontal axis.
    limit: Option<Mark>,
    /// What is said where there is no curve.
    nothing: &'a str,
}

/// The place that lies so far along the horizontal axis, from 0 to 1.
fn across(fraction: f64) -> f64 {
    LEFT + (RIGHT - LEFT) * fraction
}

/// The place that lies so far up the vertical axis, from 0 to 1.
fn up(fraction: f64) -> f64 {
    BOTTOM - (BOTTOM - TOP) * fraction
}
