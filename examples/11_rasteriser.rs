//! A triangle rasteriser: an OBJ mesh, or a bumpy torus, on a ground of two triangles that fill half of the picture. Triangles of
//! such different size share the work through a two-level queue; an atomic minimum finds the nearest, so that the picture is the
//! sequential one, bit for bit. The kernels are in `src/raster/`.
//!
//! `cargo run --release --example 11_rasteriser [MESH.obj [PICTURE.png]]`

use std::{env, path::PathBuf};

use gridwise::prelude::*;
use gridwise_examples::{
    failure::Failure,
    picture::beside_program,
    raster::{kernel::Renderer, mesh::Mesh, obj, scene::Scene, sequentially, set_up},
};

/// Twice the picture's size: it is drawn so large, and then halved, which makes edges smooth. Small where the compiler does not
/// optimise, so that it takes no longer.
const SIZE: (u32, u32) = if cfg!(debug_assertions) {
    (320, 240)
} else {
    (1280, 960)
};

fn main() -> Result<(), Failure> {
    let mut arguments = env::args_os().skip(1);
    let mesh = match arguments.next() {
        Some(path) => obj::read(path.as_ref())?,
        None => Mesh::bumpy_torus(160, 64),
    };
    let path = arguments
        .next()
        .map_or_else(beside_program, |path| Ok(PathBuf::from(path)))?;
    let scene = Scene::new(mesh, SIZE);

    let device = Device::from_env()?;
    let queue = device.queue();
    let mut renderer = Renderer::new(&queue, &scene)?;
    renderer.draw(&queue)?;
    let picture = renderer.picture(&queue)?;
    assert!(picture == sequentially(&scene), "the picture is the sequential one");

    let (triangles, starts) = set_up(&scene);
    let largest = triangles.iter().map(|triangle| triangle.tiles).max().unwrap_or(0);
    let picture = picture.halved();
    picture.write_png(&path)?;
    println!(
        "{}: {} triangles in {} tiles, up to {largest} of one triangle; {} × {} pixels in {}",
        device.name(),
        triangles.len(),
        starts[triangles.len()],
        picture.width,
        picture.height(),
        path.display()
    );
    Ok(())
}
