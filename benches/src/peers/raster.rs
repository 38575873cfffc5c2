//! The rasteriser. The scene, the serial program, and what is done to a triangle, a tile and a pixel are those of the example.

use super::rayon_pool;
use gridwise_examples::picture::Picture;
use gridwise_examples::raster::scene::Scene;
use gridwise_examples::raster::shade::{BACKGROUND, Surfaces};
use gridwise_examples::raster::triangle::ScreenTriangle;
use gridwise_examples::raster::{sequentially, starts};
use rayon::{Scope, prelude::*};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Tiles that are not divided any more.
const GRAIN: u64 = 32;

/// One thread. Returns the time of `repeats` pictures, and the picture.
pub fn serial(scene: &Scene, repeats: u64) -> (Duration, Picture) {
    let start = Instant::now();
    let mut picture = sequentially(scene);
    for _ in 1..repeats {
        picture = sequentially(scene);
    }
    (start.elapsed(), picture)
}

/// How `rayon::scope` is given the tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spawns {
    /// As one list, which is halved until a piece is small.
    Halves,
    /// A spawn a triangle; the list of a large one is halved.
    Triangles,
}

/// rayon: loops over triangles and pixels, and `rayon::scope` for the tiles between. From inside the pool. As [`serial`].
pub fn rayon(scene: &Scene, spawns: Spawns, repeats: u64, threads: usize) -> (Duration, Picture) {
    let (width, height) = scene.look.camera.size();
    let nearest: Vec<AtomicU64> = (0..width * height).map(|_| AtomicU64::new(BACKGROUND)).collect();
    let mut pixels = vec![[0; 3]; width * height];
    let pool = rayon_pool(threads);
    pool.broadcast(|_| ()); // all awake and pinned
    let elapsed = pool.install(|| {
        let start = Instant::now();
        for _ in 0..repeats {
            draw(scene, spawns, &nearest, &mut pixels);
        }
        start.elapsed()
    });
    (elapsed, Picture { width, pixels })
}

fn draw(scene: &Scene, spawns: Spawns, nearest: &[AtomicU64], pixels: &mut [[u8; 3]]) {
    let surfaces = Surfaces::of(scene);
    let numbers = (0..surfaces.triangles.len()).into_par_iter().with_min_len(256);
    let triangles: Vec<ScreenTriangle> = numbers.map(|number| surfaces.on_screen(&scene.look, number)).collect();
    let clear = |pixel: &AtomicU64| pixel.store(BACKGROUND, Relaxed);
    nearest.par_iter().with_min_len(4096).for_each(clear);
    let starts = starts(triangles.iter().map(|triangle| triangle.tiles));
    let tiles = Tiles {
        width: scene.look.camera.size().0,
        triangles: &triangles,
        starts: &starts,
        nearest,
    };
    rayon::scope(|scope| match spawns {
        Spawns::Halves => tiles.draw(scope, 0..starts[triangles.len()]),
        Spawns::Triangles => {
            for &[start, end] in starts.array_windows() {
                if start < end {
                    scope.spawn(move |scope| tiles.draw(scope, start..end));
                }
            }
        }
    });
    let width = tiles.width.max(1);
    let rows = pixels.par_chunks_mut(width).zip(nearest.par_chunks(width));
    rows.enumerate().for_each(|(y, (row, nearest))| {
        for (x, (pixel, nearest)) in row.iter_mut().zip(nearest).enumerate() {
            *pixel = surfaces.shade(&scene.look, (x, y), nearest.load(Relaxed));
        }
    });
}

#[derive(Clone, Copy)]
struct Tiles<'a> {
    width: usize,
    triangles: &'a [ScreenTriangle],
    starts: &'a [u64],
    nearest: &'a [AtomicU64],
}

impl<'a> Tiles<'a> {
    fn draw(self, scope: &Scope<'a>, mut tiles: Range<u64>) {
        while tiles.end - tiles.start > GRAIN {
            let middle = tiles.start + (tiles.end - tiles.start) / 2;
            let upper = middle..tiles.end;
            scope.spawn(move |scope| self.draw(scope, upper));
            tiles.end = middle;
        }
        let mut number = self.starts.partition_point(|&start| start <= tiles.start) - 1;
        for tile in tiles {
            while self.starts[number + 1] <= tile {
                number += 1;
            }
            let own = (tile - self.starts[number]) as u32;
            self.triangles[number].draw_tile(number as u32, own, |x, y, packed| {
                let pixel = &self.nearest[y as usize * self.width + x as usize];
                if packed < pixel.load(Relaxed) {
                    pixel.fetch_min(packed, Relaxed);
                }
            });
        }
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn every_peer_draws_the_same_picture() {
        for size in [(0, 0), (1, 1), (70, 45)] {
            let scene = Scene::torus(12, 8, size);
            let (_, expected) = serial(&scene, 1);
            for spawns in [Spawns::Halves, Spawns::Triangles] {
                let (_, picture) = rayon(&scene, spawns, 2, 2);
                assert!(picture == expected, "{size:?} {spawns:?}");
            }
        }
    }
}
