//! From space to the screen.

use super::vector::{Vector, add, cross, dot, normalise, scale, sub};

/// Parts that a pixel is divided into, along each axis: corners are rounded to these.
pub const PARTS: i64 = 256;

/// Corners are at most so many parts off the screen's origin, so that no product overflows.
const FARTHEST: f64 = (1_u32 << 29) as f64;

/// A camera, and the screen in front of it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Camera {
    eye: Vector,
    right: Vector,
    up: Vector,
    forward: Vector,
    /// Pixels for a slope of 1.
    focal: f32,
    /// What is nearer is not drawn.
    near: f32,
    width: u32,
    height: u32,
}

/// A corner on the screen.
#[derive(Clone, Copy, Debug)]
pub struct Corner {
    /// To the right from the left edge, in [`PARTS`] of a pixel.
    pub x: i64,
    /// Down from the upper edge, likewise.
    pub y: i64,
    /// From 0 for the nearest to 1 for the farthest. Between two corners it changes evenly on the screen.
    pub depth: f64,
}

impl Camera {
    /// From `eye` towards `target`, which is somewhere else and not straight above or below. The screen's shorter side takes in
    /// `slope` to either side of the middle.
    pub fn new(eye: [f32; 3], target: [f32; 3], near: f32, slope: f32, (width, height): (u32, u32)) -> Self {
        let forward = normalise(sub(target, eye));
        let right = normalise(cross(forward, [0.0, 1.0, 0.0]));
        Self {
            eye,
            right,
            up: cross(right, forward),
            forward,
            focal: width.min(height) as f32 / (2.0 * slope),
            near,
            width,
            height,
        }
    }

    /// Columns and rows of the screen.
    #[inline(always)]
    pub fn size(&self) -> (usize, usize) {
        (self.width as usize, self.height as usize)
    }

    /// Where it stands.
    #[inline(always)]
    pub fn eye(&self) -> [f32; 3] {
        self.eye
    }

    /// Where a point is on the screen; `None` if it is too near, or behind.
    #[inline(always)]
    pub fn project(&self, point: [f32; 3]) -> Option<Corner> {
        let from_eye = sub(point, self.eye);
        let distance = dot(from_eye, self.forward);
        // Also for what is not a number.
        if distance.partial_cmp(&self.near).is_none_or(|order| order.is_lt()) {
            return None;
        }
        let pixels = |along: Vector| f64::from(dot(from_eye, along)) / f64::from(distance) * f64::from(self.focal);
        let parts = |pixels: f64| (pixels * PARTS as f64).clamp(-FARTHEST, FARTHEST).round() as i64;
        Some(Corner {
            x: parts(f64::from(self.width) / 2.0 + pixels(self.right)),
            y: parts(f64::from(self.height) / 2.0 - pixels(self.up)),
            depth: 1.0 - f64::from(self.near) / f64::from(distance),
        })
    }

    /// The direction in which the middle of a pixel is seen. Its length is that to a plane at distance 1.
    #[inline(always)]
    pub fn ray(&self, x: usize, y: usize) -> [f32; 3] {
        let across = (x as f32 + 0.5 - 0.5 * self.width as f32) / self.focal;
        let upwards = (0.5 * self.height as f32 - y as f32 - 0.5) / self.focal;
        add(self.forward, add(scale(self.right, across), scale(self.up, upwards)))
    }
}
