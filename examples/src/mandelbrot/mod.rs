//! The Mandelbrot set by Mariani and Silver's subdivision: a rectangle whose edge takes the same number of iterations all along is
//! filled with it, any other is cut in four. How deep that goes depends on the data, so rectangles are tasks that make tasks.
//!
//! A rectangle finds on its own edge what the one that it was cut from has computed there: no pixel is computed twice.

mod colours;
mod kernel;
#[cfg(test)]
mod test;

pub use colours::picture;
pub use kernel::draw;

use bytemuck::{Pod, Zeroable};

/// Rectangles with a side of this or less are not cut any more.
pub const SMALLEST: u32 = 8;

/// A pixel that is not computed yet.
pub const UNKNOWN: u32 = u32::MAX;

/// The part of the plane that a picture shows.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct View {
    /// Real part at the left edge.
    pub left: f64,
    /// Imaginary part at the upper edge.
    pub top: f64,
    /// Distance of two pixels.
    pub step: f64,
    /// A point that has not escaped after so many iterations counts as part of the set. Below [`UNKNOWN`].
    pub iterations: u32,
}

impl View {
    /// The whole set, on that many pixels.
    pub fn whole(width: u32, height: u32, iterations: u32) -> Self {
        let step = (3.0 / f64::from(width)).max(2.4 / f64::from(height));
        Self {
            left: -0.7 - step * f64::from(width) / 2.0,
            top: step * f64::from(height) / 2.0,
            step,
            iterations,
        }
    }

    /// Iterations until the point under a pixel escapes.
    #[inline(always)]
    pub fn escape(self, x: u32, y: u32) -> u32 {
        let c_re = self.left + self.step * f64::from(x);
        // With the sign turned, and subtracted below: where both parts are added to, compilers pack them into one vector, which
        // takes half as long again.
        let minus_c_im = self.step * f64::from(y) - self.top;
        let (mut re, mut im) = (0.0, 0.0);
        for iteration in 0..self.iterations {
            let (re_re, im_im) = (re * re, im * im);
            if re_re + im_im > 4.0 {
                return iteration;
            }
            (re, im) = (re_re - im_im + c_re, 2.0 * re * im - minus_c_im);
        }
        self.iterations
    }
}

/// A rectangle of pixels: a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Rectangle {
    /// The leftmost column.
    pub x: u32,
    /// The uppermost row.
    pub y: u32,
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

impl Rectangle {
    /// A whole picture.
    pub fn whole(width: u32, height: u32) -> Self {
        Self {
            x: 0,
            y: 0,
            width,
            height,
        }
    }

    /// Pixels on the edge.
    #[inline(always)]
    pub fn edge_len(&self) -> usize {
        let (width, height) = (self.width as usize, self.height as usize);
        match (width.min(height), width.max(height)) {
            (0, _) => 0,
            (1, length) => length,
            _ => 2 * (width + height) - 4,
        }
    }

    /// Pixel `number` of the edge: each once, for numbers below [`edge_len`](Self::edge_len).
    #[inline(always)]
    pub fn on_edge(&self, number: usize) -> (u32, u32) {
        let Self { x, y, width, height } = *self;
        let number = number as u32;
        if number < width {
            return (x + number, y);
        }
        if width == 1 {
            return (x, y + number);
        }
        if number < 2 * width {
            return (x + number - width, y + height - 1);
        }
        let side = number - 2 * width;
        (x + side % 2 * (width - 1), y + 1 + side / 2)
    }

    /// What is inside the edge; without extent where there is nothing.
    #[inline(always)]
    pub fn inside(&self) -> Self {
        Self {
            x: self.x + 1,
            y: self.y + 1,
            width: self.width.saturating_sub(2),
            height: self.height.saturating_sub(2),
        }
    }

    /// Whether it is worth cutting.
    #[inline(always)]
    pub fn is_large(&self) -> bool {
        self.width > SMALLEST && self.height > SMALLEST
    }

    /// The four parts of a [large](Self::is_large) rectangle.
    #[inline(always)]
    pub fn quarters(&self) -> [Self; 4] {
        let (left, upper) = (self.width / 2, self.height / 2);
        [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(right, lower)| Self {
            x: self.x + right * left,
            y: self.y + lower * upper,
            width: if right == 0 { left } else { self.width - left },
            height: if lower == 0 { upper } else { self.height - upper },
        })
    }
}

/// The same in plain code. `image` has the pixels of rows of `width`, [`UNKNOWN`] where they have to be computed.
pub fn sequentially(view: View, image: &mut [u32], width: usize, rectangle: Rectangle) {
    let index = |x: u32, y: u32| y as usize * width + x as usize;
    let (mut least, mut most) = (u32::MAX, 0);
    for number in 0..rectangle.edge_len() {
        let (x, y) = rectangle.on_edge(number);
        let pixel = &mut image[index(x, y)];
        if *pixel == UNKNOWN {
            *pixel = view.escape(x, y);
        }
        (least, most) = (least.min(*pixel), most.max(*pixel));
    }
    if least != most && rectangle.is_large() {
        for quarter in rectangle.quarters() {
            sequentially(view, image, width, quarter);
        }
        return;
    }
    let inside = rectangle.inside();
    for y in inside.y..inside.y + inside.height {
        for x in inside.x..inside.x + inside.width {
            image[index(x, y)] = if least == most { least } else { view.escape(x, y) };
        }
    }
}
