//! A picture of how a solver converges.

mod svg;
#[cfg(test)]
mod test;

/// The corners of the plot; the tolerance is named to the right of it, where no curve runs.
const LEFT: f64 = 84.0;
const RIGHT: f64 = 756.0;
const TOP: f64 = 56.0;
const BOTTOM: f64 = 416.0;

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
    svg::draw(&Axes::new(residuals, tolerance), &curves(residuals), title, tolerance)
}

/// A residual with its step.
type Point = (usize, f64);

/// The points to draw, a run for each stretch without a gap.
fn curves(residuals: &[f64]) -> Vec<Vec<Point>> {
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
            .map(|(offset, &value)| (number * bucket + offset, value))
            .collect();
        points.sort_by_key(|&(step, _)| step);
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

/// Where steps and residuals lie in the picture.
struct Axes {
    /// The step at the right edge.
    last_step: usize,
    /// The powers of ten at the bottom and top.
    decades: (i32, i32),
}

impl Axes {
    fn new(residuals: &[f64], tolerance: Option<f64>) -> Self {
        let drawn = residuals
            .iter()
            .copied()
            .filter(|value| value.is_finite() && *value > 0.0);
        let (low, high) = drawn
            .chain(tolerance)
            .map(f64::log10)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            });
        let decades = if low <= high {
            // Some room below, so that the lowest line does not fall on the frame.
            let bottom = (low - 0.15).floor() as i32;
            (bottom, (high.ceil() as i32).max(bottom + 1))
        } else {
            (-1, 0)
        };
        Self {
            last_step: residuals.len().saturating_sub(1).max(1),
            decades,
        }
    }

    fn x(&self, step: usize) -> f64 {
        LEFT + (RIGHT - LEFT) * step as f64 / self.last_step as f64
    }

    fn y(&self, residual: f64) -> f64 {
        // Zero and less have no logarithm; they lie on the bottom.
        self.y_of_decade(if residual > 0.0 {
            residual.log10()
        } else {
            f64::NEG_INFINITY
        })
    }

    fn y_of_decade(&self, exponent: f64) -> f64 {
        let (bottom, top) = (f64::from(self.decades.0), f64::from(self.decades.1));
        let height = (exponent.clamp(bottom, top) - bottom) / (top - bottom);
        BOTTOM - (BOTTOM - TOP) * height
    }
}
