//! What the examples share with their tests and with the benches: problems that are too long for one file, pictures, and files.
//!
//! * [`mandelbrot`] is a picture whose cost depends on what it shows: tasks that make tasks.
//! * [`raster`] draws meshes: triangles of very different size, through a two-level queue.
//! * [`matrix`] reads matrices and graphs, and makes some up.
//! * [`picture`] writes PNG files; [`failure`] is what `main` returns where files are read.

pub mod failure;
pub mod mandelbrot;
pub mod matrix;
pub mod picture;
pub mod raster;
