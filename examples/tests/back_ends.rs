//! The shared kernels on every back end, against their sequential twins: small sizes, bit for bit.

use std::time::Duration;

use gridwise::{host::queue::QueueOptions, prelude::*};
use gridwise_examples::{
    mandelbrot::{self, Rectangle, SMALLEST, UNKNOWN, View},
    raster::{kernel, mesh::Mesh, scene::Scene, sequentially, triangle::TILE},
};

const DEVICES: [&str; 6] = [
    "check",
    "check:mps=2,blocks=2,threads=6,warp=4,order=random",
    "cpu:blocks=1",
    "cpu:blocks=2",
    "cpu:blocks=5",
    "cpu:blocks=2,threads=3",
];

/// A queue on each device, whose launches end: a hang is a failure.
fn on_every_device(test: impl Fn(&str, &Queue)) {
    for name in DEVICES {
        let device = Device::open(name).unwrap();
        let options = QueueOptions::default().timeout(Duration::from_secs(60));
        test(name, &device.queue_with(options));
    }
}

fn subdivided(view: View, width: u32, height: u32) -> Vec<u32> {
    let mut image = vec![UNKNOWN; (width * height) as usize];
    mandelbrot::sequentially(view, &mut image, width as usize, Rectangle::whole(width, height));
    image
}

#[test]
fn subdivision_gives_the_sequential_picture() {
    let sizes = [0, 1, SMALLEST - 1, SMALLEST, SMALLEST + 1, 2 * SMALLEST + 3];
    on_every_device(|name, queue| {
        for width in sizes {
            for height in [0, 1, SMALLEST + 1, 37] {
                let view = View::whole(width.max(1), height.max(1), 30);
                let expected = subdivided(view, width, height);
                let mut image = queue.device().zeroed(expected.len()).unwrap();
                for strategy in [Strategy::Persistent, Strategy::Relaunch] {
                    mandelbrot::draw(queue, view, (width, height), &mut image, strategy).unwrap();
                    let drawn = queue.download(&image).unwrap();
                    assert_eq!(drawn, expected, "{width} by {height} on {name}, {strategy:?}");
                }
            }
        }
    });
}

#[test]
fn subdivision_works_in_a_queue_that_is_too_small_to_hold_all_rectangles() {
    on_every_device(|name, queue| {
        let view = View::whole(61, 61, 40);
        let expected = subdivided(view, 61, 61);
        let mut image = queue.device().zeroed(expected.len()).unwrap();
        let options = TaskOptions::default().capacity(1).keep(8);
        mandelbrot::draw(queue, view, (61, 61), &mut image, options).unwrap();
        assert_eq!(queue.download(&image).unwrap(), expected, "{name}");
    });
}

#[test]
fn the_rasteriser_gives_the_sequential_picture() {
    let sizes = [(0, 5), (1, 1), (TILE - 1, TILE + 1), (TILE, TILE), (45, 27)];
    on_every_device(|name, queue| {
        for size in sizes {
            for (around, across) in [(0, 0), (3, 3), (9, 6)] {
                let scene = Scene::torus(around, across, size);
                let drawn = kernel::draw(queue, &scene).unwrap();
                assert!(drawn == sequentially(&scene), "{size:?} {around} {across} on {name}");
            }
        }
    });
}

#[test]
fn of_equally_near_triangles_the_first_is_seen_whoever_draws_it() {
    // The same triangle many times over, and all its pixels at the same depth.
    let mesh = Mesh {
        positions: vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.3, 0.9, 0.0]],
        triangles: [[0, 1, 2], [1, 2, 0], [0, 2, 1]].repeat(20),
    };
    let scene = Scene::new(mesh, (40, 40));
    let expected = sequentially(&scene);
    on_every_device(|name, queue| {
        for _ in 0..3 {
            assert!(kernel::draw(queue, &scene).unwrap() == expected, "{name}");
        }
    });
}
