//! A triangle rasteriser: meshes in, shaded pictures out.
//!
//! ```text
//! corners of triangles --set up--> triangles on the screen, and how many tiles each may touch
//!                      --scan----> where each triangle's tiles begin, in one long list of tiles
//!                      --rasterise, through a two-level queue over that list--> the nearest triangle of each pixel
//!                      --shade---> colours
//! ```
//!
//! A tile of a triangle is a unit of work, whatever the triangle: thousands of small triangles are one unit each, and one that fills
//! the screen is hundreds, which any block may take. The nearest triangle is found by an atomic minimum of depth and number,
//! packed into one word, so the picture does not depend on who draws when.

pub mod camera;
pub mod kernel;
pub mod mesh;
pub mod obj;
pub mod scene;
pub mod shade;
#[cfg(test)]
mod test;
pub mod triangle;
mod vector;

use crate::picture::Picture;
use scene::Scene;
use shade::{BACKGROUND, Surfaces};
use triangle::ScreenTriangle;

/// What the steps leave: triangles on the screen, and where each one's tiles begin in the list; one more, for the end.
pub fn set_up(scene: &Scene) -> (Vec<ScreenTriangle>, Vec<u64>) {
    let surfaces = Surfaces::of(scene);
    let triangles = (0..surfaces.triangles.len()).map(|number| surfaces.on_screen(&scene.look, number));
    let triangles: Vec<ScreenTriangle> = triangles.collect();
    let starts = starts(triangles.iter().map(|triangle| triangle.tiles));
    (triangles, starts)
}

/// Where each triangle's tiles begin in the list of all, and where the last one's end.
pub fn starts(tiles: impl IntoIterator<Item = u32>) -> Vec<u64> {
    let mut starts = vec![0];
    let mut end = 0;
    starts.extend(tiles.into_iter().map(|tiles| {
        end += u64::from(tiles);
        end
    }));
    starts
}

/// The picture in plain code: one triangle after another.
pub fn sequentially(scene: &Scene) -> Picture {
    let (width, height) = scene.look.camera.size();
    let (triangles, _) = set_up(scene);
    let mut nearest = vec![BACKGROUND; width * height];
    for (number, triangle) in triangles.iter().enumerate() {
        for tile in 0..triangle.tiles {
            triangle.draw_tile(number as u32, tile, |x, y, packed| {
                let pixel = &mut nearest[y as usize * width + x as usize];
                *pixel = packed.min(*pixel);
            });
        }
    }
    let surfaces = Surfaces::of(scene);
    let places = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    Picture {
        width,
        pixels: places
            .zip(nearest)
            .map(|(place, packed)| surfaces.shade(&scene.look, place, packed))
            .collect(),
    }
}
