//! Irregular work: the problems of the examples 08 to 11, each result the sequential one bit for bit.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use gridwise::algorithm::{
    breadth_first::Graph,
    sparse::{Csr, DeviceCsr},
};
use gridwise::prelude::*;
use gridwise_benches::affinity;
use gridwise_benches::harness::{self, Comparison};
#[cfg(openmp)]
use gridwise_benches::peers::openmp;
use gridwise_benches::peers::raster::{self, Spawns};
use gridwise_benches::peers::{breadth_first, mandelbrot, sparse_product};
use gridwise_examples::mandelbrot::{UNKNOWN, View, draw};
use gridwise_examples::matrix::{network, uneven};
use gridwise_examples::raster::{kernel::Renderer, scene::Scene};

/// A device with a block a core, and its queue.
fn queue(blocks: usize) -> Queue {
    let device = Device::open(&format!("cpu:blocks={blocks},wait=active")).expect("a device with a block a core");
    device.queue()
}

/// The time of `repeats` runs.
fn timed(repeats: u64, mut run: impl FnMut()) -> Duration {
    let start = Instant::now();
    for _ in 0..repeats {
        run();
    }
    start.elapsed()
}

fn main() {
    harness::prepare();
    let threads = affinity::cores();
    subdivision(threads);
    rasteriser(threads);
    products(threads);
    searches(threads);
}

fn subdivision(threads: usize) {
    const SIDE: u32 = 1024;
    let view = View::whole(SIDE, SIDE, 1000);
    let pixels = (SIDE * SIDE) as usize;
    let mut expected = vec![UNKNOWN; pixels];
    mandelbrot::serial(view, SIDE, &mut expected, 1);
    let expected = &expected;
    let peer = move |run: fn(View, u32, &mut [u32], u64, usize) -> Duration| {
        move |repeats| {
            let mut image = vec![0; pixels];
            let elapsed = run(view, SIDE, &mut image, repeats, threads);
            assert!(image == *expected);
            elapsed
        }
    };
    let ours = move |blocks: usize, strategy: Strategy| {
        move |repeats| {
            let queue = queue(blocks);
            let mut image = queue.device().zeroed(pixels).expect("memory");
            let elapsed = timed(repeats, || {
                draw(&queue, view, (SIDE, SIDE), &mut image, strategy).expect("a picture");
            });
            assert!(queue.download(&image).expect("memory") == *expected);
            elapsed
        }
    };
    let comparison = Comparison::new(format!("Mariani-Silver, {SIDE}², {threads} threads"))
        .unit("ms per picture")
        .baseline("rayon::scope")
        .add(
            "serial",
            1,
            peer(|view, side, image, repeats, _| mandelbrot::serial(view, side, image, repeats)),
        )
        .add("rayon::scope", 1, peer(mandelbrot::rayon));
    #[cfg(openmp)]
    let comparison = comparison.add("OpenMP tasks", 1, peer(openmp::mandelbrot));
    comparison
        .add("gridwise, persistent", 1, ours(threads, Strategy::Persistent))
        .add("gridwise, by generations", 1, ours(threads, Strategy::Relaunch))
        .add("gridwise, one block", 1, ours(1, Strategy::Persistent))
        .run();
}

fn rasteriser(threads: usize) {
    let scene = Scene::torus(256, 96, (1024, 1024));
    let (_, expected) = raster::serial(&scene, 1);
    let (scene, expected) = (&scene, &expected);
    let ours = |blocks: usize| {
        move |repeats| {
            let queue = queue(blocks);
            let mut renderer = Renderer::new(&queue, scene).expect("memory");
            let elapsed = timed(repeats, || renderer.draw(&queue).expect("a picture"));
            assert!(renderer.picture(&queue).expect("memory") == *expected);
            elapsed
        }
    };
    let rayon = |spawns: Spawns| {
        move |repeats| {
            let (elapsed, picture) = raster::rayon(scene, spawns, repeats, threads);
            assert!(picture == *expected);
            elapsed
        }
    };
    let triangles = scene.mesh.triangles.len();
    Comparison::new(format!("rasteriser, {triangles} triangles on 1024², {threads} threads"))
        .unit("ms per picture")
        .baseline("rayon::scope, halving")
        .add("serial", 1, |repeats| raster::serial(scene, repeats).0)
        .add("rayon::scope, halving", 1, rayon(Spawns::Halves))
        .add("rayon::scope, a spawn a triangle", 1, rayon(Spawns::Triangles))
        .add("gridwise", 1, ours(threads))
        .add("gridwise, one block", 1, ours(1))
        .run();
}

fn products(threads: usize) {
    let matrix = &uneven(200_000);
    let x = &(0..matrix.columns())
        .map(|at| 1.0 / (1.0 + at as f64))
        .collect::<Vec<_>>();
    let mut expected = vec![0.0; matrix.rows()];
    matrix.multiply(x, &mut expected);
    let expected = &expected;
    let y = &Mutex::new(vec![0.0; matrix.rows()]);
    let peer = |run: fn(&Csr, &[f64], &mut [f64], u64, usize) -> Duration| {
        move |repeats| run(matrix, x, &mut y.lock().expect("nobody panics"), repeats, threads)
    };
    let ours = |blocks: usize, chunking: Option<Chunking>| {
        move |repeats| {
            let queue = queue(blocks);
            let mut on_device = match chunking {
                None => DeviceCsr::upload(&queue, matrix),
                Some(chunking) => DeviceCsr::upload_chunked(&queue, matrix, chunking),
            }
            .expect("memory");
            let on_device_x = queue.upload(x).expect("memory");
            let mut on_device_y = queue.device().zeroed(matrix.rows()).expect("memory");
            let elapsed = timed(repeats, || {
                let product = on_device.multiply_into(&queue, on_device_x.span(), on_device_y.span_mut());
                product.expect("vectors that fit");
            });
            assert!(queue.download(&on_device_y).expect("memory") == *expected);
            elapsed
        }
    };
    let comparison = Comparison::new(format!(
        "sparse product, {} rows, {} entries, {threads} threads",
        matrix.rows(),
        matrix.nonzeros()
    ))
    .unit("µs per product")
    .baseline("rayon")
    .add(
        "serial",
        5,
        peer(|matrix, x, y, repeats, _| sparse_product::serial(matrix, x, y, repeats)),
    )
    .add(
        "rayon",
        5,
        peer(|matrix, x, y, repeats, threads| sparse_product::rayon(matrix, x, y, 1, repeats, threads)),
    )
    .add(
        "rayon, 64 rows at least",
        5,
        peer(|matrix, x, y, repeats, threads| sparse_product::rayon(matrix, x, y, 64, repeats, threads)),
    );
    #[cfg(openmp)]
    let comparison = comparison.add(
        "OpenMP dynamic, 64 rows",
        5,
        peer(|matrix, x, y, repeats, threads| openmp::sparse_product(matrix, x, y, 64, repeats, threads)),
    );
    comparison
        .add("gridwise", 5, ours(threads, None))
        .add("gridwise, 64 rows", 5, ours(threads, Some(Chunking::Fixed(64))))
        .add(
            "gridwise, guided",
            5,
            ours(
                threads,
                Some(Chunking::Guided {
                    divisor: 2,
                    minimum: 16,
                }),
            ),
        )
        .add("gridwise, one block", 5, ours(1, None))
        .run();
}

fn searches(threads: usize) {
    let edges = &network(17, 16);
    let (_, expected) = &breadth_first::serial(edges, 1);
    let ours = |blocks: usize, strategy: Strategy| {
        move |repeats| {
            let queue = queue(blocks);
            let mut graph = Graph::upload(&queue, edges).expect("a graph");
            let mut levels = Vec::new();
            let elapsed = timed(repeats, || {
                let search = graph.search(&queue, &[0], strategy).expect("a vertex");
                levels = search.levels;
            });
            assert!(levels == *expected);
            elapsed
        }
    };
    Comparison::new(format!(
        "breadth-first search, {} vertices, {} edges, {threads} threads",
        edges.rows(),
        edges.nonzeros()
    ))
    .unit("µs per search")
    .baseline("rayon, a loop a level")
    .add("serial", 3, |repeats| breadth_first::serial(edges, repeats).0)
    .add("rayon, a loop a level", 3, |repeats| {
        breadth_first::rayon(edges, repeats, threads).0
    })
    .add("gridwise, persistent", 3, ours(threads, Strategy::Persistent))
    .add("gridwise, relaunch", 3, ours(threads, Strategy::Relaunch))
    .add("gridwise, one block", 3, ours(1, Strategy::Persistent))
    .run();
}
