//! Kernels of the suite `launches`.

use core::num::NonZeroU32;

use gridwise::prelude::*;

/// Does nothing.
#[repr(C)]
pub struct Nothing;

// SAFETY: it touches no memory.
unsafe impl Kernel for Nothing {
    const NAME: &'static str = "nothing";
    type Shared = ();

    fn run<A: Acc>(self, _: A, _: ()) {}
}

// SAFETY: as above.
unsafe impl GridKernel for Nothing {
    const NAME: &'static str = "nothing";
    type Shared = ();

    fn run<A: GridAcc>(self, _: A, _: ()) {}
}

/// Writes to each index its own number.
#[repr(C)]
pub struct Iota<'a, const N: usize> {
    pub extents: [usize; N],
    pub frame: [usize; N],
    pub out: SpanMut<'a, u32>,
}

// SAFETY: each index is visited by one thread, which writes its element.
unsafe impl<const N: usize> Kernel for Iota<'_, N> {
    const NAME: &'static str = "iota";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        for frame in acc.blocks_in_grid(self.extents.map(|extent| 0..extent), self.frame) {
            for index in acc.threads_in_block(frame) {
                let linear = (0..N).fold(0, |linear, axis| linear * self.extents[axis] + index[axis]);
                self.out.set(acc, linear, linear as u32);
            }
        }
    }
}

/// Goes over slices of a space and counts each slice's elements, and each column's.
#[repr(C)]
pub struct Slices<'a> {
    pub extents: [usize; 3],
    pub in_slice: SpanMut<'a, u32>,
    pub in_column: SpanMut<'a, u64>,
}

// SAFETY: all counts are atomic.
unsafe impl Kernel for Slices<'_> {
    const NAME: &'static str = "slices";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        let [depth, rows, columns] = self.extents;
        for slice in acc.blocks_in_grid(0..depth, 1) {
            for [z, _, column] in acc.threads_in_block([slice, 0..rows, 0..columns]) {
                self.in_slice.atomic(z).fetch_add(acc, 1, Ordering::Relaxed);
                self.in_column.atomic(column).fetch_add(acc, 1, Ordering::Relaxed);
            }
        }
    }
}

/// The shape that each thread sees; counts the threads.
#[repr(C)]
pub struct Shape<'a> {
    /// Blocks, threads a block, threads counted.
    pub out: SpanMut<'a, u32>,
}

// SAFETY: everything is atomic.
unsafe impl Kernel for Shape<'_> {
    const NAME: &'static str = "shape";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        assert!(acc.block_index() < acc.block_count() && acc.thread_index() < acc.thread_count());
        assert!(acc.thread_index_in_grid() < acc.thread_count_in_grid());
        self.out
            .atomic(0)
            .fetch_max(acc, acc.block_count() as u32, Ordering::Relaxed);
        self.out
            .atomic(1)
            .fetch_max(acc, acc.thread_count() as u32, Ordering::Relaxed);
        self.out.atomic(2).fetch_add(acc, 1, Ordering::Relaxed);
    }
}

/// Goes through an empty problem with barriers of all kinds.
#[repr(C)]
pub struct Empty<'a> {
    pub input: Span<'a, f32>,
    pub out: SpanMut<'a, f32>,
}

// SAFETY: each thread writes its own elements, of which there are none.
unsafe impl GridKernel for Empty<'_> {
    const NAME: &'static str = "empty";
    type Shared = DynamicShared<f32>;

    fn dynamic_len(&self) -> usize {
        self.input.len()
    }

    fn run<A: GridAcc>(self, acc: A, shared: Self::Shared) {
        assert!(shared.is_empty() && self.out.is_empty() && self.input.is_empty());
        for frame in acc.blocks_in_grid(0..self.out.len(), 8) {
            acc.threads_in_block(frame)
                .for_each(|i| self.out.set(acc, i, self.input[i]));
            acc.sync_block();
        }
        acc.sync_grid();
        assert_eq!(acc.reduce_grid(self.input.iter().sum::<f32>(), |a, b| a + b), 0.0);
    }
}

/// Copies one buffer beside an empty one.
#[repr(C)]
pub struct Beside<'a> {
    pub empty: Span<'a, u64>,
    pub input: Span<'a, u8>,
    pub empty_out: SpanMut<'a, u64>,
    pub out: SpanMut<'a, u8>,
}

// SAFETY: each thread writes its own elements.
unsafe impl Kernel for Beside<'_> {
    const NAME: &'static str = "beside";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        for i in acc.threads_in_grid(0..self.empty_out.len()) {
            self.empty_out.set(acc, i, self.empty[i]);
        }
        for i in acc.threads_in_grid(0..self.out.len()) {
            self.out.set(acc, i, self.input[i]);
        }
    }
}

/// Counts the block's threads several times over.
#[repr(C)]
pub struct Meets<'a> {
    pub out: SpanMut<'a, u32>,
}

// SAFETY: each thread writes its own element.
unsafe impl Kernel for Meets<'_> {
    const NAME: &'static str = "meets";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        let counts = [0; 5].map(|_: u32| acc.sync_block_count(true) as u32);
        let least = counts.into_iter().min().unwrap_or(0);
        self.out.set(acc, acc.thread_index_in_grid(), least);
    }
}

/// Two numbers, the first in front of a gap.
#[repr(C)]
pub struct Pair {
    pub small: u32,
    pub large: i64,
}

/// Holds fields of every kind that a kernel may.
#[repr(C)]
pub struct Fields<'a, const N: usize> {
    pub byte: u8,
    pub double: f64,
    pub flag: bool,
    pub numbers: [i16; N],
    pub spans: [Span<'a, u32>; 2],
    pub pair: Pair,
    pub maybe: Option<NonZeroU32>,
    pub none: Option<NonZeroU32>,
    pub out: SpanMut<'a, f64>,
}

// SAFETY: one thread writes.
unsafe impl<const N: usize> Kernel for Fields<'_, N> {
    const NAME: &'static str = "fields";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        for i in acc.threads_in_grid(0..1) {
            let of_spans = self.spans.iter().flat_map(|span| span.iter());
            let sum = f64::from(self.byte)
                + self.double
                + f64::from(u8::from(self.flag))
                + self.numbers.iter().map(|&x| f64::from(x)).sum::<f64>()
                + of_spans.map(|&x| f64::from(x)).sum::<f64>()
                + f64::from(self.pair.small)
                + self.pair.large as f64
                + f64::from(self.maybe.map_or(0, NonZeroU32::get))
                + f64::from(self.none.map_or(0, NonZeroU32::get));
            self.out.set(acc, i, sum);
        }
    }
}
