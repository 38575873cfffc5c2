//! Where values lie along an axis, and what is written beside it.

/// An axis has at most one label more than this.
const LABELS: usize = 10;
/// Beyond so many powers of ten, only those with a label get a line.
const LINES: usize = 30;

/// An axis, from end to end.
pub(super) enum Axis {
    /// Whole numbers from 0 to this one.
    Steps(usize),
    /// A logarithmic axis.
    Decades {
        /// The powers of ten at its ends, which differ.
        ends: (i32, i32),
        /// How a power of ten is written, as SVG.
        write: fn(i32) -> String,
    },
}

/// A place on an axis that gets a line.
pub(super) struct Tick {
    /// How far along the axis, from 0 to 1.
    pub(super) fraction: f64,
    pub(super) label: Option<String>,
}

impl Axis {
    /// How far along the axis `value` lies, from 0 to 1. On a logarithmic axis, what has no logarithm lies at its beginning.
    pub(super) fn fraction(&self, value: f64) -> f64 {
        match *self {
            Self::Steps(last) => value / last as f64,
            Self::Decades {
                ends: (first, last), ..
            } => {
                let (first, last) = (f64::from(first), f64::from(last));
                let exponent = if value > 0.0 { value.log10() } else { f64::NEG_INFINITY };
                (exponent.clamp(first, last) - first) / (last - first)
            }
        }
    }

    pub(super) fn ticks(&self) -> Vec<Tick> {
        match *self {
            Self::Steps(last) => (0..=last)
                .step_by(label_distance(last))
                .map(|step| Tick {
                    fraction: self.fraction(step as f64),
                    label: Some(step.to_string()),
                })
                .collect(),
            Self::Decades {
                ends: (first, last),
                write,
            } => {
                let range = last.abs_diff(first) as usize;
                let distance = label_distance(range);
                let labelled = |exponent: i32| (exponent.unsigned_abs() as usize).is_multiple_of(distance);
                (first..=last)
                    .filter(|&exponent| labelled(exponent) || range <= LINES)
                    .map(|exponent| Tick {
                        // Not by its value: not every power of ten has one.
                        fraction: f64::from(exponent - first) / f64::from(last - first),
                        label: labelled(exponent).then(|| write(exponent)),
                    })
                    .collect()
            }
        }
    }
}

/// The smallest and the largest of the logarithms of those values that have one.
pub(super) fn logarithms(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    let has_one = |value: &f64| value.is_finite() && *value > 0.0;
    let logarithms = values.into_iter().filter(has_one).map(f64::log10);
    logarithms.fold(None, |range, value| {
        let (low, high) = range.unwrap_or((value, value));
        Some((value.min(low), value.max(high)))
    })
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
