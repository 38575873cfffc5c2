//! Index maps: together the members get each index once.

use gridwise::kernel::{
    domain::Domain,
    hardware::{Deal, Strided, contiguous},
};
use proptest::prelude::*;

/// A range anywhere, of up to 300 indices.
fn anywhere() -> impl Strategy<Value = std::ops::Range<usize>> {
    (
        0_usize..300,
        prop_oneof![Just(0), Just(usize::MAX - 300), any::<usize>()],
    )
        .prop_map(|(len, start)| start.min(usize::MAX - len)..start.min(usize::MAX - len) + len)
}

proptest! {
    #[test]
    fn contiguous_parts_follow_each_other(range in anywhere(), members in 1_usize..400) {
        let mut next = range.start;
        for member in 0..members {
            let part = contiguous(range.clone(), member, members).range();
            prop_assert_eq!(part.start, next);
            let even = range.len() / members;
            prop_assert!(part.len() == even || part.len() == even + 1);
            next = part.end;
        }
        prop_assert_eq!(next, range.end);
    }

    #[test]
    fn contiguous_parts_of_any_range_are_inside_it(
        ends in any::<(usize, usize)>(), member in any::<usize>(), members in 1..=usize::MAX,
    ) {
        let range = ends.0.min(ends.1)..ends.0.max(ends.1);
        let member = member % members;
        let part = contiguous(range.clone(), member, members).range();
        prop_assert!(range.start <= part.start && part.start <= part.end && part.end <= range.end);
        if member + 1 < members {
            prop_assert_eq!(part.end, contiguous(range, member + 1, members).range().start);
        } else {
            prop_assert_eq!(part.end, range.end);
        }
    }

    #[test]
    fn strided_parts_cover_a_range_once(range in anywhere(), members in 1_usize..400) {
        let mut all: Vec<usize> = (0..members).flat_map(|member| Strided::new(range.clone(), member, members)).collect();
        all.sort_unstable();
        prop_assert_eq!(all, range.collect::<Vec<_>>());
    }

    #[test]
    fn runs_of_a_deal_are_the_same_indices(range in anywhere(), member in 0_usize..20, limit in 1_usize..50) {
        let mut line = contiguous(range.clone(), member, 20);
        let expected: Vec<usize> = line.clone().collect();
        let mut seen = Vec::new();
        while let Some(run) = line.next_run(|first| limit + first % 2) {
            prop_assert!(!run.is_empty() && run.len() <= limit + run.start % 2);
            seen.extend(run);
        }
        prop_assert_eq!(seen, expected);
        let mut strided = Strided::new(range.clone(), member, 20);
        let expected: Vec<usize> = strided.clone().collect();
        let runs: Vec<_> = std::iter::from_fn(|| strided.next_run(|_| limit)).flatten().collect();
        prop_assert_eq!(runs, expected);
    }

    #[test]
    fn frames_cover_a_line_in_order(range in anywhere(), frame in prop_oneof![1_usize..50, 1..=usize::MAX]) {
        let mut next = range.start;
        for number in 0..range.frames(frame) {
            let part = Domain::frame(&range, frame, number);
            prop_assert!(!part.is_empty() && part.len() <= frame);
            prop_assert_eq!(part.start, next);
            next = part.end;
        }
        prop_assert_eq!(next, range.end);
    }

    #[test]
    fn frames_cover_a_space_once(
        starts in any::<[usize; 3]>(), extents in [0_usize..7, 0..7, 0..7], frame in [1_usize..9, 1..9, 1..9],
    ) {
        let space: [_; 3] = std::array::from_fn(|axis| {
            let start = starts[axis].min(usize::MAX - extents[axis]);
            start..start + extents[axis]
        });
        let mut visits = vec![0; extents.iter().product()];
        for number in 0..space.frames(frame) {
            let part = space.frame(frame, number);
            prop_assert!(part.size() > 0);
            for x in part[0].clone() {
                for y in part[1].clone() {
                    for z in part[2].clone() {
                        let at: [usize; 3] = std::array::from_fn(|axis| [x, y, z][axis] - space[axis].start);
                        visits[(at[0] * extents[1] + at[1]) * extents[2] + at[2]] += 1;
                    }
                }
            }
        }
        prop_assert!(visits.iter().all(|&count| count == 1), "{:?}", visits);
        prop_assert_eq!(visits.len(), space.size());
    }
}
