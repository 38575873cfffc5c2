//! The Mandelbrot set by Mariani and Silver's subdivision: a square whose edge is of one colour is filled, any other is cut in
//! four. How deep that goes depends on the data, so squares are tasks that make tasks.
//!
//! `cargo run --release --example 08_adaptive_subdivision`

use gridwise::prelude::*;

const SIDE: u32 = 128;
/// Squares of this side or less are computed point by point.
const SMALLEST: u32 = 8;
const ITERATIONS: u32 = 200;

/// Iterations until the point escapes.
fn escape(x: u32, y: u32) -> u32 {
    let [re, im] = [x, y].map(|axis| f64::from(axis) / f64::from(SIDE) * 3.0);
    let (c_re, c_im) = (re - 2.2, im - 1.5);
    let (mut re, mut im) = (0.0, 0.0);
    for iteration in 0..ITERATIONS {
        if re * re + im * im > 4.0 {
            return iteration;
        }
        (re, im) = (re * re - im * im + c_re, 2.0 * re * im + c_im);
    }
    ITERATIONS
}

/// A square: its corner and its side.
type Square = [u32; 3];

/// Point `number` of the edge of a square.
fn on_edge([x, y, side]: Square, number: usize) -> (u32, u32) {
    let (along, last) = (number as u32 % side, side - 1);
    match number as u32 / side {
        0 => (x + along, y),
        1 => (x + along, y + last),
        2 => (x, y + along),
        _ => (x + last, y + along),
    }
}

fn quarters([x, y, side]: Square) -> [Square; 4] {
    let half = side / 2;
    [[x, y], [x + half, y], [x, y + half], [x + half, y + half]].map(|[x, y]| [x, y, half])
}

#[repr(C)]
struct Subdivide<'a> {
    image: SpanMut<'a, u32>,
}

// SAFETY: a square is either filled or cut: squares that are filled do not overlap, and a point of one is written by one thread.
unsafe impl Tasks for Subdivide<'_> {
    const NAME: &'static str = "subdivide";
    type Task = Square;
    type Shared = ();
    const MOST_SPAWNS: usize = 4;

    fn run<A: Acc>(self, acc: A, _: (), square: Square, spawner: Spawner<'_, '_, Square>) {
        let [x, y, side] = square;
        let colour = escape(x, y);
        let uniform = acc
            .threads_in_block(0..4 * side as usize)
            .map(|number| on_edge(square, number))
            .all(|(x, y)| escape(x, y) == colour);
        let uniform = acc.sync_block_all(uniform);
        if !uniform && side > SMALLEST {
            for quarter in acc.threads_in_block(0..4) {
                spawner.spawn(acc, quarters(square)[quarter]);
            }
            return;
        }
        let (columns, rows) = (x as usize..(x + side) as usize, y as usize..(y + side) as usize);
        for [y, x] in acc.threads_in_block([rows, columns]) {
            let value = if uniform { colour } else { escape(x as u32, y as u32) };
            self.image.set(acc, y * SIDE as usize + x, value);
        }
    }
}

/// The same in plain code.
fn sequentially(image: &mut [u32], square: Square) {
    let [x, y, side] = square;
    let colour = escape(x, y);
    let uniform = (0..4 * side as usize)
        .map(|number| on_edge(square, number))
        .all(|(x, y)| escape(x, y) == colour);
    if !uniform && side > SMALLEST {
        for quarter in quarters(square) {
            sequentially(image, quarter);
        }
        return;
    }
    for y in y..y + side {
        for x in x..x + side {
            image[(y * SIDE + x) as usize] = if uniform { colour } else { escape(x, y) };
        }
    }
}

fn main() -> Result<(), gridwise::Error> {
    let device = Device::from_env()?;
    let queue = device.queue();
    let mut expected = vec![0; (SIDE * SIDE) as usize];
    sequentially(&mut expected, [0, 0, SIDE]);

    for strategy in [Strategy::Persistent, Strategy::Relaunch] {
        let mut image = device.zeroed::<u32>(expected.len())?;
        let kernel = Subdivide {
            image: image.span_mut(),
        };
        let report = queue.run_tasks(kernel, &[[0, 0, SIDE]], TaskOptions::from(strategy).counters())?;
        assert_eq!(queue.download(&image)?, expected);
        let tasks: u64 = report.counters.iter().flatten().map(|block| block.tasks).sum();
        println!(
            "{}: {tasks} squares in {} launches of {} blocks",
            report.structure, report.launches, report.blocks
        );
    }
    for row in expected.chunks(SIDE as usize).step_by(6) {
        let shade = |&value: &u32| {
            if value == ITERATIONS {
                '#'
            } else if value > 6 {
                '+'
            } else {
                ' '
            }
        };
        println!("{}", row.iter().step_by(2).map(shade).collect::<String>());
    }
    Ok(())
}
