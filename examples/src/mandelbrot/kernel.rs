//! The same as a kernel: a rectangle is a task.

use gridwise::{
    host::{buffer::Buffer, tasks::TaskReport},
    prelude::*,
};

use super::{Rectangle, UNKNOWN, View};

#[repr(C)]
struct Subdivide<'a> {
    view: View,
    width: usize,
    image: SpanMut<'a, u32>,
}

// SAFETY: rectangles lie apart, or one was cut from the other, whose task has then ended. Within a task a pixel of the edge belongs
// to one thread, and so does one of the inside; the threads agree on what to do with the inside by a reduction.
unsafe impl Tasks for Subdivide<'_> {
    const NAME: &'static str = "subdivide";
    type Task = Rectangle;
    type Shared = ();
    const MOST_SPAWNS: usize = 4;

    #[inline(always)]
    fn run<A: Acc>(self, acc: A, (): (), rectangle: Rectangle, spawner: Spawner<'_, '_, Rectangle>) {
        let (mut least, mut most) = (u32::MAX, 0);
        for number in acc.threads_in_block(0..rectangle.edge_len()) {
            let (x, y) = rectangle.on_edge(number);
            let index = y as usize * self.width + x as usize;
            let mut pixel = self.image.get(acc, index);
            if pixel == UNKNOWN {
                pixel = self.view.escape(x, y);
                self.image.set(acc, index, pixel);
            }
            (least, most) = (least.min(pixel), most.max(pixel));
        }
        let [least, most] = acc.reduce_block([least, most], |a, b| [a[0].min(b[0]), a[1].max(b[1])]);
        if least != most && rectangle.is_large() {
            for quarter in acc.threads_in_block(0..4) {
                spawner.spawn(acc, rectangle.quarters()[quarter]);
            }
            return;
        }
        let Rectangle { x, y, width, height } = rectangle.inside();
        let rows = y as usize..(y + height) as usize;
        let columns = x as usize..(x + width) as usize;
        for run in acc.runs_in_block([rows, columns]) {
            let ([y, x], len) = (run.start, run.len);
            let start = y * self.width + x;
            let pixels = self.image.slice(acc, start..start + len);
            if least == most {
                for pixel in 0..len {
                    pixels.set(acc, pixel, least);
                }
            } else {
                for pixel in 0..len {
                    pixels.set(acc, pixel, self.view.escape((x + pixel) as u32, y as u32));
                }
            }
        }
    }
}

/// Draws a picture of `width` by `height` pixels into `image`: the iterations of each.
///
/// # Errors
/// As [`Queue::run_tasks`].
///
/// # Panics
/// If `image` has another length.
pub fn draw<'o>(
    queue: &Queue,
    view: View,
    (width, height): (u32, u32),
    image: &mut Buffer<u32>,
    options: impl Into<TaskOptions<'o>>,
) -> Result<TaskReport, gridwise::Error> {
    assert_eq!(image.len(), width as usize * height as usize, "an element a pixel");
    queue.fill(image.span_mut(), UNKNOWN);
    let kernel = Subdivide {
        view,
        width: width as usize,
        image: image.span_mut(),
    };
    let seeds = [Rectangle::whole(width, height)];
    let seeds = if width == 0 || height == 0 { &[] } else { &seeds[..] };
    Ok(queue.run_tasks(kernel, seeds, options)?)
}
