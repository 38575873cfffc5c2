//! A triangle on the screen: which pixels it covers, and how far away it is there.

use bytemuck::{Pod, Zeroable};

use super::camera::{Camera, Corner, PARTS};

/// Side of a tile, in pixels.
pub const TILE: u32 = 32;

/// A triangle on the screen. A pixel belongs to it if its middle is inside, or on an upper or left edge: of two triangles that share
/// an edge, exactly one has the pixels on it.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct ScreenTriangle {
    /// For each edge *a*, *b*, *c*: pixel (x, y) is on its inner side if a x + b y + c is not negative.
    edges: [[i64; 3]; 3],
    /// *a*, *b*, *c*: the depth of pixel (x, y) is a x + b y + c.
    depth: [f64; 3],
    /// The first column and row, and the first beyond, that it may cover.
    bounds: [u32; 4],
    /// Tiles that it may touch, row by row; 0 for what is not to be seen.
    pub tiles: u32,
    /// So that there is no padding.
    unused: u32,
}

impl ScreenTriangle {
    /// The triangle with these corners, seen from either side.
    #[inline(always)]
    pub fn new(camera: &Camera, corners: [[f32; 3]; 3]) -> Self {
        let nothing = Self::zeroed();
        let [a, b, c] = corners.map(|corner| camera.project(corner));
        let (Some(a), Some(b), Some(c)) = (a, b, c) else {
            return nothing;
        };
        let area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
        match area {
            0 => nothing,
            1.. => Self::clockwise(camera, [a, b, c], area),
            _ => Self::clockwise(camera, [a, c, b], -area),
        }
    }

    /// `area` is twice the area in square parts of a pixel, above 0.
    #[inline(always)]
    fn clockwise(camera: &Camera, corners: [Corner; 3], area: i64) -> Self {
        let [a, b, c] = corners;
        let (width, height) = camera.size();
        let span = |values: [i64; 3], limit: usize| {
            let [least, most] = [values.into_iter().min(), values.into_iter().max()].map(Option::unwrap_or_default);
            // Pixels whose middles lie between.
            let first = (least - PARTS / 2).div_euclid(PARTS) + i64::from((least - PARTS / 2).rem_euclid(PARTS) > 0);
            let end = (most - PARTS / 2).div_euclid(PARTS) + 1;
            [first, end].map(|pixel| pixel.clamp(0, limit as i64) as u32)
        };
        let [left, right] = span(corners.map(|corner| corner.x), width);
        let [upper, lower] = span(corners.map(|corner| corner.y), height);
        let tiles = |first: u32, end: u32| {
            if first < end {
                (end - 1) / TILE - first / TILE + 1
            } else {
                0
            }
        };
        // The plane through the corners, by their differences from the first.
        let area = area as f64 / PARTS as f64;
        let across = ((b.depth - a.depth) * (c.y - a.y) as f64 - (c.depth - a.depth) * (b.y - a.y) as f64) / area;
        let down = ((c.depth - a.depth) * (b.x - a.x) as f64 - (b.depth - a.depth) * (c.x - a.x) as f64) / area;
        let middle = |at: i64| (at - PARTS / 2) as f64 / PARTS as f64;
        Self {
            edges: [edge(a, b), edge(b, c), edge(c, a)],
            depth: [across, down, a.depth - across * middle(a.x) - down * middle(a.y)],
            bounds: [left, upper, right, lower],
            tiles: tiles(left, right) * tiles(upper, lower),
            unused: 0,
        }
    }

    /// Calls `plot(x, y, packed)` for every pixel of one of its tiles: `packed` is the smaller, the nearer the triangle is there; at the
    /// same depth, the smaller its `number`. A pixel has the same depth whatever tile it is reached by.
    #[inline(always)]
    pub fn draw_tile(self, number: u32, tile: u32, mut plot: impl FnMut(u32, u32, u64)) {
        let [left, upper, right, lower] = self.bounds;
        let (first_column, first_row) = (left / TILE, upper / TILE);
        let columns = (right - 1) / TILE - first_column + 1;
        let (column, row) = (first_column + tile % columns, first_row + tile / columns);
        let (from_x, to_x) = (left.max(column * TILE), right.min((column + 1) * TILE));
        let (from_y, to_y) = (upper.max(row * TILE), lower.min((row + 1) * TILE));

        let (last_x, last_y) = (i64::from(to_x - from_x - 1), i64::from(to_y - from_y - 1));
        let at_corner = self
            .edges
            .map(|[a, b, c]| a * i64::from(from_x) + b * i64::from(from_y) + c);
        let outside = (0..3).any(|k| {
            let [a, b, _] = self.edges[k];
            at_corner[k] + (a * last_x).max(0) + (b * last_y).max(0) < 0
        });
        if outside {
            return;
        }
        let mut at_row = at_corner;
        for y in from_y..to_y {
            let mut at = at_row;
            let depth_of_row = self.depth[2] + self.depth[1] * f64::from(y);
            for x in from_x..to_x {
                if at[0] | at[1] | at[2] >= 0 {
                    let depth = depth_of_row + self.depth[0] * f64::from(x);
                    let depth = (depth.clamp(0.0, 1.0) * f64::from(u32::MAX - 1)) as u32;
                    plot(x, y, u64::from(depth) << 32 | u64::from(number));
                }
                at = [0, 1, 2].map(|k| at[k] + self.edges[k][0]);
            }
            at_row = [0, 1, 2].map(|k| at_row[k] + self.edges[k][1]);
        }
    }
}

/// The edge between two corners, its inner side to the right of the way.
#[inline(always)]
fn edge(from: Corner, to: Corner) -> [i64; 3] {
    let (a, b) = (from.y - to.y, to.x - from.x);
    // On the edge itself only if it is a left one, which leads upwards, or an upper one, which leads right.
    let belongs = a > 0 || (a == 0 && b > 0);
    let (x, y) = (PARTS / 2 - from.x, PARTS / 2 - from.y);
    [a * PARTS, b * PARTS, a * x + b * y - i64::from(!belongs)]
}
