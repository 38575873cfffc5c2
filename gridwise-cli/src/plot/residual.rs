//! A picture of how a solver converges.

use super::{
    BLUE, Curve, Mark, Picture, Point,
    axis::{Axis, logarithms},
    svg,
};

/// A longer curve is drawn from the smallest and the largest residual of each of so many equal runs of steps.
const BUCKETS: usize = 500;

/// Draws the residuals, one for each step from 0, as a line in an SVG file that needs nothing else.
///
/// The vertical axis is logarithmic, the dashed line is `tolerance`. A residual of zero (or less, which no norm is)
/// lies on the bottom, one that is not finite leaves a gap. The size of the text is bounded: of more than 1000
/// residuals about 1000 are drawn, among them every peak and dip that can be seen at that width. A tolerance that is
/// not positive and finite is left out.
///
/// # Examples
///
/// ```
/// let svg = gridwise_cli::plot::residual_svg(&[1.0, 1e-3, 1e-7], "A.mtx", 1e-6);
/// assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
/// ```
pub fn residual_svg(residuals: &[f64], title: &str, tolerance: f64) -> String {
    let tolerance = Some(tolerance).filter(|value| value.is_finite() && *value > 0.0);
    let curves = curves(residuals).into_iter().map(|points| Curve {
        points,
        colour: BLUE,
        name: None,
    });
    svg::draw(&Picture {
        title,
        x: (Axis::Steps(residuals.len().saturating_sub(1).max(1)), "step"),
        y: (height(residuals, tolerance), "residual"),
        curves: curves.collect(),
        level: tolerance.map(|tolerance| Mark {
            at: tolerance,
            text: ["tolerance".to_owned(), short(tolerance)],
        }),
        limit: None,
        nothing: "no residuals",
    })
}

fn height(residuals: &[f64], tolerance: Option<f64>) -> Axis {
    let drawn = residuals.iter().copied().chain(tolerance);
    let ends = logarithms(drawn).map_or((-1, 0), |(low, high)| {
        // Some room below, so that the lowest line does not fall on the frame.
        let bottom = (low - 0.15).floor() as i32;
        (bottom, (high.ceil() as i32).max(bottom + 1))
    });
    Axis::Decades {
        ends,
        write: svg::power,
    }
}

fn short(value: f64) -> String {
    match format!("{value:e}") {
        exact if exact.len() <= 9 => exact,
        _ => format!("{value:.2e}"),
    }
}

/// The points to draw, a run for each stretch without a gap.
pub(super) fn curves(residuals: &[f64]) -> Vec<Vec<Point>> {
    // Two points from each bucket: as many as there are while they fit.
    let bucket = if residuals.len() <= 2 * BUCKETS {
        1
    } else {
        residuals.len().div_ceil(BUCKETS)
    };
    let mut curves = vec![Vec::new()];
    for (number, values) in residuals.chunks(bucket).enumerate() {
        let finite = || values.iter().enumerate().filter(|(_, value)| value.is_finite());
        let lowest = finite().min_by(|a, b| a.1.total_cmp(b.1));
        let highest = finite().max_by(|a, b| a.1.total_cmp(b.1));
        // The ends are what a reader looks up first, so they are exact.
        let first = finite().next().filter(|_| number == 0);
        let last = finite()
            .next_back()
            .filter(|_| (number + 1) * bucket >= residuals.len());
        let mut points: Vec<Point> = [first, lowest, highest, last]
            .into_iter()
            .flatten()
            .map(|(offset, &value)| ((number * bucket + offset) as f64, value))
            .collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points.dedup_by_key(|&mut (step, _)| step);
        match curves.last_mut() {
            Some(curve) if !points.is_empty() => curve.extend(points),
            Some(curve) if curve.is_empty() => {}
            _ => curves.push(Vec::new()),
        }
    }
    curves.retain(|curve| !curve.is_empty());
    curves
}
