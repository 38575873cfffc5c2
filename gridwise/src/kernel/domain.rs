//! Index domains, their frames, and how a group walks them.
//!
//! A domain is a `Range<usize>` or an array of ranges, row-major: the last axis moves fastest. A frame is a chunk of a domain,
//! and itself a domain. The number of frames and the number of blocks are independent.

use core::{iter::FusedIterator, ops::Range};

use super::hardware::{Deal, Hardware, Sealed};

/// What index maps run over: `Range<usize>`, or `[Range<usize>; N]` for `N` dimensions.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no index domain",
    label = "no domain",
    note = "a domain is a range from start to end, `0..n` with `n: usize`, or an array of such, `[0..rows, 0..columns]`"
)]
pub trait Domain: Clone + Sealed {
    /// One index: `usize`, or `[usize; N]`.
    type Index;
    /// Extent of a frame along each axis: `usize`, or `[usize; N]`.
    type FrameSize: Copy;
    /// A stretch of consecutive indices along the last axis: `Range<usize>`, or [`Run<N>`](Run).
    type Run;
    /// Iterator over the indices of one member.
    type Walk<D: Deal>: Iterator<Item = Self::Index> + Clone;
    /// Iterator over the runs of one member.
    type Runs<D: Deal>: Iterator<Item = Self::Run> + Clone;

    /// Indices in the domain.
    ///
    /// # Panics
    /// If there are more than `usize` can count.
    fn size(&self) -> usize;

    /// Frames that cover the domain; the last along an axis may be shorter.
    ///
    /// # Panics
    /// If a frame has extent 0 along an axis, or there are more frames than `usize` can count.
    fn frames(&self, frame: Self::FrameSize) -> usize;

    /// Frame `number` of [`frames`](Self::frames). There has to be one of that number: of another, what is returned is no frame, if it
    /// does not panic.
    fn frame(&self, frame: Self::FrameSize, number: usize) -> Self;

    #[doc(hidden)]
    fn walk<H: Hardware>(self, hardware: H, member: usize, members: usize) -> Self::Walk<H::Deal>;

    #[doc(hidden)]
    fn runs<H: Hardware>(self, hardware: H, member: usize, members: usize) -> Self::Runs<H::Deal>;
}

impl Sealed for Range<usize> {}
impl Domain for Range<usize> {
    type Index = usize;
    type FrameSize = usize;
    type Run = Range<usize>;
    type Walk<D: Deal> = D;
    type Runs<D: Deal> = LineRuns<D>;

    #[inline(always)]
    fn size(&self) -> usize {
        self.end.saturating_sub(self.start)
    }

    #[inline(always)]
    #[track_caller]
    fn frames(&self, frame: usize) -> usize {
        assert!(frame > 0, "a frame has at least one index");
        self.size().div_ceil(frame)
    }

    #[inline(always)]
    fn frame(&self, frame: usize, number: usize) -> Self {
        let start = self.start + number * frame;
        assert!(start <= self.end, "there is no such frame");
        // Written so that the compiler sees that the frame has at most `frame` indices, all inside the domain, and drops checks
        // against that.
        // SAFETY: not below `start`.
        let left = unsafe { self.end.unchecked_sub(start) };
        // SAFETY: not above `end`.
        start..unsafe { start.unchecked_add(frame.min(left)) }
    }

    #[inline(always)]
    fn walk<H: Hardware>(self, hardware: H, member: usize, members: usize) -> H::Deal {
        hardware.deal(self, member, members)
    }

    #[inline(always)]
    fn runs<H: Hardware>(self, hardware: H, member: usize, members: usize) -> LineRuns<H::Deal> {
        LineRuns {
            deal: hardware.deal(self, member, members),
        }
    }
}

/// The runs of one member in a one-dimensional domain.
#[derive(Clone, Debug)]
pub struct LineRuns<D> {
    deal: D,
}

impl<D: Deal> Iterator for LineRuns<D> {
    type Item = Range<usize>;

    #[inline(always)]
    fn next(&mut self) -> Option<Range<usize>> {
        self.deal.next_run(|_| usize::MAX)
    }
}
impl<D: Deal> FusedIterator for LineRuns<D> {}

/// Consecutive indices along the last axis of an `N`-dimensional domain: whole rows on a CPU, single indices on a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run<const N: usize> {
    /// The first index.
    pub start: [usize; N],
    /// How many, at least 1.
    pub len: usize,
}

impl<const N: usize> Run<N> {
    /// The indices along the last axis.
    #[inline(always)]
    pub fn columns(&self) -> Range<usize> {
        self.start[N - 1]..self.start[N - 1] + self.len
    }
}

/// Extent along each axis.
#[inline(always)]
fn extents<const N: usize>(domain: &[Range<usize>; N]) -> [usize; N] {
    core::array::from_fn(|axis| domain[axis].size())
}

/// The position of linear index `linear`, row-major, in a box of these extents.
#[inline(always)]
fn unravel<const N: usize>(mut linear: usize, extents: [usize; N]) -> [usize; N] {
    let mut position = [0; N];
    for axis in (0..N).rev() {
        position[axis] = linear % extents[axis];
        linear /= extents[axis];
    }
    position
}

#[track_caller]
fn product<const N: usize>(extents: [usize; N]) -> usize {
    if extents.contains(&0) {
        return 0;
    }
    extents
        .into_iter()
        .try_fold(1_usize, usize::checked_mul)
        .expect("the domain has more indices than usize can count")
}

impl<const N: usize> Sealed for [Range<usize>; N] {}
impl<const N: usize> Domain for [Range<usize>; N] {
    type Index = [usize; N];
    type FrameSize = [usize; N];
    type Run = Run<N>;
    type Walk<D: Deal> = BoxWalk<D, N>;
    type Runs<D: Deal> = BoxRuns<D, N>;

    #[inline(always)]
    #[track_caller]
    fn size(&self) -> usize {
        const { assert!(N > 0, "a domain has at least one axis") };
        product(extents(self))
    }

    #[inline(always)]
    #[track_caller]
    fn frames(&self, frame: [usize; N]) -> usize {
        product::<N>(core::array::from_fn(|axis| self[axis].frames(frame[axis])))
    }

    #[inline(always)]
    fn frame(&self, frame: [usize; N], number: usize) -> Self {
        let position = unravel::<N>(number, core::array::from_fn(|axis| self[axis].frames(frame[axis])));
        core::array::from_fn(|axis| self[axis].frame(frame[axis], position[axis]))
    }

    #[inline(always)]
    fn walk<H: Hardware>(self, hardware: H, member: usize, members: usize) -> BoxWalk<H::Deal, N> {
        BoxWalk::new(self.runs(hardware, member, members))
    }

    #[inline(always)]
    fn runs<H: Hardware>(self, hardware: H, member: usize, members: usize) -> BoxRuns<H::Deal, N> {
        BoxRuns {
            deal: hardware.deal(0..self.size(), member, members),
            cursor: Cursor::new(self),
        }
    }
}

/// A position in a box, as linear and as `N` indices: moving on along a row, and from its end to the next, needs no division.
#[derive(Clone, Debug)]
struct Cursor<const N: usize> {
    domain: [Range<usize>; N],
    linear: usize,
    index: [usize; N],
}

impl<const N: usize> Cursor<N> {
    #[inline(always)]
    fn new(domain: [Range<usize>; N]) -> Self {
        let index = core::array::from_fn(|axis| domain[axis].start);
        Self {
            domain,
            linear: 0,
            index,
        }
    }

    #[inline(always)]
    fn seek(&mut self, linear: usize) {
        if linear != self.linear {
            let position = unravel(linear, extents(&self.domain));
            self.index = core::array::from_fn(|axis| self.domain[axis].start + position[axis]);
            self.linear = linear;
        }
    }

    /// Indices from here to the end of the row.
    #[inline(always)]
    fn left_in_row(&self) -> usize {
        self.domain[N - 1].end - self.index[N - 1]
    }

    /// Moves on by at most [`left_in_row`](Self::left_in_row).
    #[inline(always)]
    fn advance(&mut self, by: usize) {
        self.linear += by;
        self.index[N - 1] += by;
        for axis in (0..N).rev() {
            if self.index[axis] < self.domain[axis].end {
                break;
            }
            self.index[axis] = self.domain[axis].start;
            if axis > 0 {
                self.index[axis - 1] += 1;
            }
        }
    }
}

/// The indices of one member in an `N`-dimensional domain: run after run.
#[derive(Clone, Debug)]
pub struct BoxWalk<D, const N: usize> {
    runs: BoxRuns<D, N>,
    /// The run that is being walked: its first index, and what is left of it along the last axis.
    start: [usize; N],
    left: Range<usize>,
}

impl<D: Deal, const N: usize> BoxWalk<D, N> {
    #[inline(always)]
    fn new(runs: BoxRuns<D, N>) -> Self {
        Self {
            runs,
            start: [0; N],
            left: 0..0,
        }
    }

    /// Goes on to the next run where nothing is left of this one; whether something is left then.
    #[inline(always)]
    fn begin_run(&mut self) -> bool {
        if self.left.start == self.left.end {
            let Some(run) = self.runs.next() else {
                return false;
            };
            self.start = run.start;
            self.left = run.columns();
        }
        true
    }

    /// The index of the run that is being walked.
    #[inline(always)]
    fn at(&self, column: usize) -> [usize; N] {
        let mut index = self.start;
        index[N - 1] = column;
        index
    }
}

impl<D: Deal, const N: usize> Iterator for BoxWalk<D, N> {
    type Item = [usize; N];

    #[inline(always)]
    fn next(&mut self) -> Option<[usize; N]> {
        self.begin_run().then(|| {
            let column = self.left.start;
            self.left.start += 1;
            self.at(column)
        })
    }

    /// Nested loops: what the closure computes from the outer indices is then computed once a run, and the inner loop vectorises.
    #[inline(always)]
    fn fold<B, F: FnMut(B, [usize; N]) -> B>(mut self, init: B, mut f: F) -> B {
        let mut folded = init;
        while self.begin_run() {
            for column in self.left.clone() {
                folded = f(folded, self.at(column));
            }
            self.left = 0..0;
        }
        folded
    }
}
impl<D: Deal, const N: usize> FusedIterator for BoxWalk<D, N> {}

/// The runs of one member in an `N`-dimensional domain.
#[derive(Clone, Debug)]
pub struct BoxRuns<D, const N: usize> {
    deal: D,
    cursor: Cursor<N>,
}

impl<D: Deal, const N: usize> Iterator for BoxRuns<D, N> {
    type Item = Run<N>;

    #[inline(always)]
    fn next(&mut self) -> Option<Run<N>> {
        let cursor = &mut self.cursor;
        let run = self.deal.next_run(|first| {
            cursor.seek(first);
            cursor.left_in_row()
        })?;
        cursor.seek(run.start);
        let start = cursor.index;
        let len = run.end - run.start;
        cursor.advance(len);
        Some(Run { start, len })
    }
}
impl<D: Deal, const N: usize> FusedIterator for BoxRuns<D, N> {}

/// The frames of one member.
#[derive(Clone, Debug)]
pub struct Frames<M: Domain, D> {
    numbers: D,
    domain: M,
    frame: M::FrameSize,
}

impl<M: Domain, D: Deal> Frames<M, D> {
    #[inline(always)]
    #[track_caller]
    pub(crate) fn new<H: Hardware<Deal = D>>(
        hardware: H,
        domain: M,
        frame: M::FrameSize,
        member: usize,
        members: usize,
    ) -> Self {
        Self {
            numbers: hardware.deal(0..domain.frames(frame), member, members),
            domain,
            frame,
        }
    }
}

impl<M: Domain, D: Deal> Iterator for Frames<M, D> {
    type Item = M;

    #[inline(always)]
    fn next(&mut self) -> Option<M> {
        self.numbers.next().map(|number| self.domain.frame(self.frame, number))
    }
}
impl<M: Domain, D: Deal> FusedIterator for Frames<M, D> {}

#[cfg(all(test, feature = "std", not(loom)))]
mod test {
    use super::*;
    use crate::kernel::hardware::Strided;

    #[test]
    fn unravel_counts_the_last_axis_fastest() {
        let mut linear = 0;
        for plane in 0..2 {
            for row in 0..3 {
                for column in 0..4 {
                    assert_eq!(unravel(linear, [2, 3, 4]), [plane, row, column]);
                    linear += 1;
                }
            }
        }
        assert_eq!(unravel(usize::MAX - 1, [1, usize::MAX]), [0, usize::MAX - 1]);
        assert_eq!(unravel(5, [6, 1]), [5, 0]);
    }

    #[test]
    fn an_empty_axis_makes_an_empty_domain_however_long_the_others() {
        assert_eq!([0..usize::MAX, 0..usize::MAX, 3..3].size(), 0);
        assert_eq!([0..usize::MAX, 3..3, 0..usize::MAX].frames([1, 1, 1]), 0);
        let reversed = core::ops::Range { start: 5, end: 2 };
        assert_eq!([reversed, 0..4].size(), 0);
    }

    #[test]
    fn the_largest_domain_that_fits_is_counted() {
        assert_eq!([0..usize::MAX, 0..1].size(), usize::MAX);
        assert_eq!((0..usize::MAX).frames(usize::MAX), 1);
        assert_eq!((0..usize::MAX).frames(2), usize::MAX / 2 + 1);
    }

    #[test]
    #[should_panic(expected = "more indices than usize can count")]
    fn a_domain_that_does_not_fit_is_refused() {
        let _ = [0..usize::MAX, 0..2].size();
    }

    #[test]
    #[should_panic(expected = "at least one index")]
    fn a_frame_without_extent_is_refused() {
        let _ = [0..4, 0..4].frames([2, 0]);
    }

    #[test]
    fn frames_at_the_end_of_usize_are_cut_not_wrapped() {
        let domain = usize::MAX - 5..usize::MAX;
        assert_eq!(domain.frames(4), 2);
        assert_eq!(domain.frame(4, 0), usize::MAX - 5..usize::MAX - 1);
        assert_eq!(domain.frame(4, 1), usize::MAX - 1..usize::MAX);
    }

    /// Every index once, in order, for each member, however the indices are dealt out.
    #[test]
    fn members_walk_a_box_exactly_once() {
        fn walk<D: Deal>(deal: D, domain: &[Range<usize>; 2]) -> Vec<[usize; 2]> {
            let runs = BoxRuns {
                deal,
                cursor: Cursor::new(domain.clone()),
            };
            let walk = BoxWalk::new(runs.clone());
            let mut walked = Vec::new();
            for index in walk.clone() {
                walked.push(index);
            }
            for begun in 0..4 {
                let (mut walk, mut parts) = (walk.clone(), Vec::new());
                for index in walk.by_ref().take(begun) {
                    parts.push(index);
                }
                walk.for_each(|index| parts.push(index));
                assert_eq!(walked, parts);
            }
            let by_runs: Vec<_> = runs
                .flat_map(|run| run.columns().map(move |column| [run.start[0], column]))
                .collect();
            assert_eq!(walked, by_runs);
            walked
        }
        let domain = [2..5, usize::MAX - 7..usize::MAX];
        let all: Vec<_> = (2..5)
            .flat_map(|row| (usize::MAX - 7..usize::MAX).map(move |column| [row, column]))
            .collect();
        for members in 1..30 {
            let contiguous = |member| crate::kernel::hardware::contiguous(0..domain.size(), member, members);
            let walked: Vec<_> = (0..members)
                .flat_map(|member| walk(contiguous(member), &domain))
                .collect();
            assert_eq!(walked, all);

            let strided = |member| Strided::new(0..domain.size(), member, members);
            let mut walked: Vec<_> = (0..members).flat_map(|member| walk(strided(member), &domain)).collect();
            walked.sort();
            assert_eq!(walked, all);
        }
    }

    #[test]
    fn strided_indices_stop_at_the_end_of_usize() {
        let last: Vec<_> = Strided::new(usize::MAX - 3..usize::MAX, 1, 2).collect();
        assert_eq!(last, [usize::MAX - 2]);
        assert_eq!(Strided::new(usize::MAX - 3..usize::MAX, 7, 8).next(), None);
    }
}
