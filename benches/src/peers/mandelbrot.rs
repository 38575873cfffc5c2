//! The Mandelbrot set by Mariani and Silver's subdivision. The problem, and the serial program, are those of the example.

use super::rayon_pool;
use gridwise_examples::mandelbrot::{Rectangle, UNKNOWN, View, sequentially};
use rayon::Scope;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// One thread. Returns the time of `repeats` pictures of `side` by `side` pixels in `image`.
pub fn serial(view: View, side: u32, image: &mut [u32], repeats: u64) -> Duration {
    let start = Instant::now();
    for _ in 0..repeats {
        image.fill(UNKNOWN);
        sequentially(view, image, side as usize, Rectangle::whole(side, side));
    }
    start.elapsed()
}

/// `rayon::scope`, a spawn a rectangle, from inside the pool.
pub fn rayon(view: View, side: u32, image: &mut [u32], repeats: u64, threads: usize) -> Duration {
    let pixels: Vec<AtomicU32> = image.iter().map(|_| AtomicU32::new(UNKNOWN)).collect();
    let work = Work {
        view,
        width: side as usize,
        pixels: &pixels,
    };
    let pool = rayon_pool(threads);
    pool.broadcast(|_| ()); // all awake and pinned
    let elapsed = pool.install(|| {
        let start = Instant::now();
        for _ in 0..repeats {
            for pixel in &pixels {
                pixel.store(UNKNOWN, Relaxed);
            }
            rayon::scope(|scope| work.subdivide(scope, Rectangle::whole(side, side)));
        }
        start.elapsed()
    });
    for (image, pixel) in image.iter_mut().zip(&pixels) {
        *image = pixel.load(Relaxed);
    }
    elapsed
}

#[derive(Clone, Copy)]
struct Work<'a> {
    view: View,
    width: usize,
    /// Atomic, so that no `unsafe` is needed; relaxed loads and stores are plain ones to the processor.
    pixels: &'a [AtomicU32],
}

impl<'a> Work<'a> {
    fn subdivide(self, scope: &Scope<'a>, rectangle: Rectangle) {
        let pixel = |x: u32, y: u32| &self.pixels[y as usize * self.width + x as usize];
        let (mut least, mut most) = (u32::MAX, 0);
        for number in 0..rectangle.edge_len() {
            let (x, y) = rectangle.on_edge(number);
            let mut value = pixel(x, y).load(Relaxed);
            if value == UNKNOWN {
                value = self.view.escape(x, y);
                pixel(x, y).store(value, Relaxed);
            }
            (least, most) = (least.min(value), most.max(value));
        }
        if least != most && rectangle.is_large() {
            for quarter in rectangle.quarters() {
                scope.spawn(move |scope| self.subdivide(scope, quarter));
            }
            return;
        }
        let inside = rectangle.inside();
        for y in inside.y..inside.y + inside.height {
            for x in inside.x..inside.x + inside.width {
                let value = if least == most { least } else { self.view.escape(x, y) };
                pixel(x, y).store(value, Relaxed);
            }
        }
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn every_peer_draws_the_same_picture() {
        for side in [1, 9, 100] {
            let view = View::whole(side, side, 50);
            let mut expected = vec![UNKNOWN; (side * side) as usize];
            serial(view, side, &mut expected, 1);
            let check = |name: &str, run: &(dyn Fn(&mut [u32]) -> Duration + Sync)| {
                let mut image = vec![0; expected.len()];
                // On a thread of its own: peers pin their caller.
                std::thread::scope(|scope| scope.spawn(|| run(&mut image)).join().unwrap());
                assert_eq!(image, expected, "{name}, {side}");
            };
            check("rayon", &|image| rayon(view, side, image, 2, 2));
            #[cfg(openmp)]
            check("OpenMP", &|image| {
                super::super::openmp::mandelbrot(view, side, image, 2, 2)
            });
        }
    }
}
