//! The steps as kernels.

use gridwise::{host::buffer::Buffer, prelude::*};

use super::{
    scene::{Look, Scene},
    shade::{BACKGROUND, Surfaces},
    starts,
    triangle::ScreenTriangle,
};
use crate::picture::Picture;

/// Large pieces for each block.
const LARGE_A_BLOCK: usize = 8;

/// Tiles in a small piece.
const SMALL: usize = 32;

/// A scene on a device, and room for what the steps leave.
#[derive(Debug)]
pub struct Renderer {
    look: Look,
    positions: Buffer<[f32; 3]>,
    normals: Buffer<[f32; 3]>,
    triangles: Buffer<[u32; 3]>,
    on_screen: Buffer<ScreenTriangle>,
    tiles: Buffer<u32>,
    starts: Buffer<u64>,
    nearest: Buffer<u64>,
    colours: Buffer<[u8; 3]>,
}

impl Renderer {
    /// Copies a scene to the device.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn new(queue: &Queue, scene: &Scene) -> Result<Self, gridwise::Error> {
        let device = queue.device();
        let (width, height) = scene.look.camera.size();
        let triangles = scene.mesh.triangles.len();
        Ok(Self {
            look: scene.look,
            positions: queue.upload(&scene.mesh.positions)?,
            normals: queue.upload(&scene.normals)?,
            triangles: queue.upload(&scene.mesh.triangles)?,
            on_screen: device.zeroed(triangles)?,
            tiles: device.zeroed(triangles)?,
            starts: device.zeroed(triangles + 1)?,
            nearest: device.zeroed(width * height)?,
            colours: device.zeroed(width * height)?,
        })
    }

    /// Draws the scene.
    ///
    /// # Errors
    /// If there is no memory, or a launch fails.
    pub fn draw(&mut self, queue: &Queue) -> Result<(), gridwise::Error> {
        let triangles = self.triangles.len();
        let set_up = SetUp {
            look: self.look,
            positions: self.positions.span(),
            triangles: self.triangles.span(),
            on_screen: self.on_screen.span_mut(),
            tiles: self.tiles.span_mut(),
            nearest: self.nearest.span_mut(),
        };
        queue.launch(Blocks::Resident, set_up)?;
        let starts = starts(queue.download(&self.tiles)?);
        queue.write(&starts, self.starts.span_mut())?;
        let mut pieces = queue.pieces(starts[triangles] as usize, LARGE_A_BLOCK, SMALL)?;
        let rasterise = Rasterise {
            tiles: pieces.fresh(queue),
            width: self.look.camera.size().0,
            on_screen: self.on_screen.span(),
            starts: self.starts.span(),
            nearest: self.nearest.span_mut(),
        };
        queue.launch(Blocks::Resident, rasterise)?;
        // Rows of background cost little, so rows are dealt out as well.
        let guided = Chunking::Guided { divisor: 2, minimum: 1 };
        let mut rows = queue.chunks(self.look.camera.size().1, guided)?;
        let shade = Shade {
            look: self.look,
            rows: rows.fresh(queue),
            positions: self.positions.span(),
            normals: self.normals.span(),
            triangles: self.triangles.span(),
            nearest: self.nearest.span(),
            colours: self.colours.span_mut(),
        };
        Ok(queue.launch(Blocks::Resident, shade)?)
    }

    /// What was drawn.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn picture(&self, queue: &Queue) -> Result<Picture, gridwise::Error> {
        Ok(Picture {
            width: self.look.camera.size().0,
            pixels: queue.download(&self.colours)?,
        })
    }
}

/// Puts triangles on the screen, and clears it.
#[repr(C)]
struct SetUp<'a> {
    look: Look,
    positions: Span<'a, [f32; 3]>,
    triangles: Span<'a, [u32; 3]>,
    on_screen: SpanMut<'a, ScreenTriangle>,
    /// How many each triangle has.
    tiles: SpanMut<'a, u32>,
    nearest: SpanMut<'a, u64>,
}

// SAFETY: a triangle belongs to one thread, and so does a pixel; nothing is read that is written.
unsafe impl Kernel for SetUp<'_> {
    const NAME: &'static str = "set_up_triangles";
    type Shared = ();

    #[inline(always)]
    fn run<A: Acc>(self, acc: A, (): ()) {
        let surfaces = Surfaces {
            positions: self.positions.as_slice(),
            normals: &[],
            triangles: self.triangles.as_slice(),
        };
        for number in acc.threads_in_grid(0..surfaces.triangles.len()) {
            let triangle = surfaces.on_screen(&self.look, number);
            self.on_screen.set(acc, number, triangle);
            self.tiles.set(acc, number, triangle.tiles);
        }
        for pixel in acc.threads_in_grid(0..self.nearest.len()) {
            self.nearest.set(acc, pixel, BACKGROUND);
        }
    }
}

/// Finds the nearest triangle of each pixel.
#[repr(C)]
struct Rasterise<'a> {
    /// All tiles of all triangles.
    tiles: TwoLevelQueue<'a>,
    width: usize,
    on_screen: Span<'a, ScreenTriangle>,
    /// Where each triangle's tiles begin; one more, for the end.
    starts: Span<'a, u64>,
    nearest: SpanMut<'a, u64>,
}

// SAFETY: pixels are atomic, and the rest is not written. All threads of a block walk the same claims.
unsafe impl Kernel for Rasterise<'_> {
    const NAME: &'static str = "rasterise";
    type Shared = ();

    #[inline(always)]
    fn run<A: Acc>(self, acc: A, (): ()) {
        for claimed in self.tiles.claims(acc) {
            for tiles in acc.runs_in_block(claimed) {
                let mut number = self.triangle_of(tiles.start as u64);
                for tile in tiles {
                    while self.starts[number + 1] <= tile as u64 {
                        number += 1;
                    }
                    let own = tile as u64 - self.starts[number];
                    self.on_screen[number].draw_tile(number as u32, own as u32, |x, y, packed| {
                        let pixel = self.nearest.atomic(y as usize * self.width + x as usize);
                        // Looking first saves most exchanges: what is there only gets nearer.
                        if packed < pixel.load(acc, Ordering::Relaxed) {
                            pixel.fetch_min(acc, packed, Ordering::Relaxed);
                        }
                    });
                }
            }
        }
    }
}

impl Rasterise<'_> {
    /// The triangle that a tile belongs to.
    #[inline(always)]
    fn triangle_of(&self, tile: u64) -> usize {
        self.starts.partition_point(|&start| start <= tile) - 1
    }
}

/// Colours the pixels.
#[repr(C)]
struct Shade<'a> {
    look: Look,
    rows: ChunkCounter<'a>,
    positions: Span<'a, [f32; 3]>,
    normals: Span<'a, [f32; 3]>,
    triangles: Span<'a, [u32; 3]>,
    nearest: Span<'a, u64>,
    colours: SpanMut<'a, [u8; 3]>,
}

// SAFETY: a row is claimed by one block, and a pixel belongs to one thread; nothing is read that is written. All threads of a block
// walk the same claims.
unsafe impl Kernel for Shade<'_> {
    const NAME: &'static str = "shade";
    type Shared = ();

    #[inline(always)]
    fn run<A: Acc>(self, acc: A, (): ()) {
        let surfaces = Surfaces {
            positions: self.positions.as_slice(),
            normals: self.normals.as_slice(),
            triangles: self.triangles.as_slice(),
        };
        let (width, _) = self.look.camera.size();
        for rows in self.rows.claims(acc) {
            for [y, x] in acc.threads_in_block([rows, 0..width]) {
                let at = y * width + x;
                let colour = surfaces.shade(&self.look, (x, y), self.nearest[at]);
                self.colours.set(acc, at, colour);
            }
        }
    }
}

/// Draws a scene once.
///
/// # Errors
/// If there is no memory, or a launch fails.
pub fn draw(queue: &Queue, scene: &Scene) -> Result<Picture, gridwise::Error> {
    let mut renderer = Renderer::new(queue, scene)?;
    renderer.draw(queue)?;
    renderer.picture(queue)
}
