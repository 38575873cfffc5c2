//! The Mandelbrot set by Mariani and Silver's subdivision: a rectangle whose edge is of one colour is filled, any other is cut in
//! four. How deep that goes depends on the data, so rectangles are tasks that make tasks. The kernel is in `src/mandelbrot/`.
//!
//! `cargo run --release --example 08_adaptive_subdivision [PICTURE.png]`

use std::{env, path::PathBuf};

use gridwise::prelude::*;
use gridwise_examples::{
    failure::Failure,
    mandelbrot::{Rectangle, UNKNOWN, View, draw, picture, sequentially},
    picture::beside_program,
};

/// Twice the picture's size: it is drawn so large, and then halved, which makes edges smooth. Small where the compiler does not
/// optimise, so that it takes no longer.
const SIZE: (u32, u32) = if cfg!(debug_assertions) {
    (200, 160)
} else {
    (1200, 960)
};
const ITERATIONS: u32 = 400;

fn main() -> Result<(), Failure> {
    let path = env::args_os()
        .nth(1)
        .map_or_else(beside_program, |path| Ok(PathBuf::from(path)))?;
    let (width, height) = SIZE;
    let view = View::whole(width, height, ITERATIONS);
    let mut expected = vec![UNKNOWN; (width * height) as usize];
    sequentially(view, &mut expected, width as usize, Rectangle::whole(width, height));

    let device = Device::from_env()?;
    let queue = device.queue();
    let mut image = device.zeroed(expected.len())?;
    for strategy in [Strategy::Persistent, Strategy::Relaunch] {
        let options = TaskOptions::from(strategy).counters();
        let report = draw(&queue, view, SIZE, &mut image, options)?;
        assert!(queue.download(&image)? == expected, "the picture is the sequential one");
        let rectangles: u64 = report.counters.iter().flatten().map(|block| block.tasks).sum();
        println!(
            "{}: {rectangles} rectangles in {} launches of {} blocks",
            report.structure, report.launches, report.blocks
        );
    }
    let picture = picture(view, width as usize, &expected).halved();
    picture.write_png(&path)?;
    println!("{} × {} pixels in {}", picture.width, picture.height(), path.display());
    Ok(())
}
