//! A picture of what a phase takes, as one of a resident kernel and as a launch of its own.

use super::{
    BLUE, Curve, Mark, ORANGE, Picture,
    axis::{Axis, logarithms},
    svg,
};
use crate::console;

/// Draws how many times its own work a phase takes, over the length of that work, in an SVG file that needs nothing else.
///
/// A measurement is nanoseconds of work in a phase, nanoseconds of the whole phase run persistent, and run by relaunch. Both axes
/// are logarithmic. The dashed line is `break_even`, in nanoseconds of work.
///
/// # Examples
///
/// ```
/// let svg = gridwise_cli::plot::break_even_svg(&[[100.0, 200.0, 500.0], [1e5, 1e5, 1e5]], "cpu", Some(8e3));
/// assert!(svg.starts_with("<svg ") && svg.contains("8.0 µs"));
/// ```
pub fn break_even_svg(measurements: &[[f64; 3]], title: &str, break_even: Option<f64>) -> String {
    let curve = |which: usize, colour, name| Curve {
        points: measurements
            .iter()
            .map(|times| (times[0], times[which] / times[0]))
            .collect(),
        colour,
        name: Some(name),
    };
    let curves = [curve(1, BLUE, "persistent"), curve(2, ORANGE, "relaunch")];
    let lengths = measurements.iter().map(|times| times[0]);
    let ratios = curves.iter().flat_map(|curve| &curve.points).map(|point| point.1);
    svg::draw(&Picture {
        title,
        x: (around(lengths, length), "work in a phase"),
        y: (around(ratios, times), "time of a phase, in times its work"),
        curves: curves.into_iter().filter(|curve| !curve.points.is_empty()).collect(),
        level: None,
        limit: break_even.map(|at| Mark {
            at,
            text: ["break-even at".to_owned(), console::nanoseconds(at)],
        }),
        nothing: "no measurements",
    })
}

/// The powers of ten around values. A little beyond one, as noise takes a value, does not count.
fn around(values: impl IntoIterator<Item = f64>, write: fn(i32) -> String) -> Axis {
    let (low, high) = logarithms(values).unwrap_or((0.0, 1.0));
    let first = (low + 0.05).floor() as i32;
    let last = (high - 0.01).ceil() as i32;
    Axis::Decades {
        ends: (first, last.max(first + 1)),
        write,
    }
}

/// A power of ten of nanoseconds.
fn length(exponent: i32) -> String {
    let number = "1".to_owned() + &"0".repeat(exponent.rem_euclid(3) as usize);
    let unit = match exponent.div_euclid(3) {
        -1 => "ps",
        0 => "ns",
        1 => "µs",
        2 => "ms",
        3 => "s",
        _ => return svg::power(exponent) + " ns",
    };
    format!("{number} {unit}")
}

/// A power of ten of times something.
fn times(exponent: i32) -> String {
    match exponent {
        0..=4 => format!("{} ×", 10_i32.pow(exponent.unsigned_abs())),
        _ => svg::power(exponent) + " ×",
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn powers_of_ten_are_written_as_times() {
        let lengths = [-1, 0, 2, 3, 5, 6, 9].map(length);
        assert_eq!(lengths, ["100 ps", "1 ns", "100 ns", "1 µs", "100 µs", "1 ms", "1 s"]);
        assert!(length(20).contains("20</tspan> ns"));
        assert_eq!([0, 1, 4].map(times), ["1 ×", "10 ×", "10000 ×"]);
    }

    #[test]
    fn the_axes_reach_around_all_that_was_measured() {
        let ends = |values: &[f64]| match around(values.iter().copied(), times) {
            Axis::Decades { ends, .. } => ends,
            Axis::Steps(_) => panic!("a logarithmic axis"),
        };
        assert_eq!(ends(&[1.0, 8.0]), (0, 1));
        assert_eq!(ends(&[0.97, 1.0]), (0, 1), "noise is no reason for a decade");
        assert_eq!(ends(&[0.5, 200.0]), (-1, 3));
        assert_eq!(ends(&[100.0, 1e5]), (2, 5));
        assert_eq!(ends(&[]), (0, 1));
        assert_eq!(ends(&[f64::NAN, f64::INFINITY, 0.0]), (0, 1));
    }

    #[test]
    fn both_curves_are_there_with_their_names_and_the_break_even_only_where_there_is_one() {
        let measured = [[100.0, 250.0, 700.0], [1e3, 1.1e3, 1.6e3], [1e4, 1e4, 1e4]];
        let svg = break_even_svg(&measured, "cpu", Some(1500.0));
        assert_eq!(
            (svg.matches("<polyline").count(), svg.matches("<circle").count()),
            (2, 6)
        );
        for text in ["persistent", "relaunch", "break-even at 1.5 µs", "100 ns", "10 µs"] {
            assert!(svg.contains(text), "{text}");
        }
        assert_eq!(svg.matches("stroke-dasharray").count(), 1);
        let svg = break_even_svg(&measured, "cpu", None);
        assert!(!svg.contains("stroke-dasharray") && !svg.contains("break-even"));
    }

    #[test]
    fn the_shortest_phase_is_at_the_left_and_the_costliest_at_the_top() {
        let svg = break_even_svg(&[[100.0, 100.0, 1000.0], [1e4, 1e4, 1e4]], "cpu", None);
        assert!(svg.contains(r#"points="84.0,416.0 756.0,416.0 ""#), "{svg}");
        assert!(svg.contains(r#"points="84.0,56.0 756.0,416.0 ""#), "{svg}");
    }

    #[test]
    fn no_measurements_give_an_empty_plot_that_says_so() {
        assert!(break_even_svg(&[], "cpu", None).contains("no measurements"));
    }
}
