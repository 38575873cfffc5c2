//! From iterations to colours.

use super::View;
use crate::picture::Picture;

/// Colours along the way out: as iterations grow by a constant factor, they come round again.
const STOPS: [[f64; 3]; 5] = [
    [8.0, 14.0, 64.0],
    [38.0, 92.0, 178.0],
    [232.0, 246.0, 250.0],
    [250.0, 174.0, 48.0],
    [96.0, 20.0, 52.0],
];

/// Inside the set.
const INSIDE: [u8; 3] = [6, 6, 14];

fn colour(iterations: u32, limit: u32) -> [u8; 3] {
    if iterations >= limit {
        return INSIDE;
    }
    let along = (f64::from(iterations) + 1.0).ln();
    let stop = along.floor();
    let [from, to] = [0, 1].map(|next| STOPS[(stop as usize + next) % STOPS.len()]);
    let part = along - stop;
    [0, 1, 2].map(|channel| (from[channel] + part * (to[channel] - from[channel])).round() as u8)
}

/// A picture of what [`draw`](super::draw) computed.
pub fn picture(view: View, width: usize, image: &[u32]) -> Picture {
    Picture {
        width,
        pixels: image.iter().map(|&pixel| colour(pixel, view.iterations)).collect(),
    }
}
