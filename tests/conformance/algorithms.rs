//! What holds of all algorithms that are told a grid.

use gridwise::{
    algorithm::{
        breadth_first::Graph,
        histogram::histogram,
        operator::AsIndex,
        solve::{SolveOptions, Status, solve},
        sort::sort,
        sparse::Csr,
    },
    host::phases::RunOptions,
    prelude::*,
};

use crate::support::queue;

/// What there is to do does not depend on the grid.
pub(crate) fn a_grid_without_frames_does_all_the_work(device: &Device) {
    let queue = queue(device);
    for strategy in [Strategy::Auto, Strategy::Persistent, Strategy::Relaunch] {
        let options = RunOptions::from(strategy).grid(Frames::new(0, 1));
        let mut keys = queue.upload(&[3_u32, 1, 2]).unwrap();
        let counted = histogram(&queue, keys.span(), 2, AsIndex, options).unwrap();
        assert_eq!((counted.counts, counted.outside), (vec![0, 1], 2));
        let report = sort(&queue, keys.span_mut(), options).unwrap();
        assert_eq!((queue.download(&keys).unwrap(), report.blocks), (vec![1, 2, 3], 1));
        let edges = Csr::from_sorted_entries(3, 3, [(0, 1, 1.0), (1, 2, 1.0)]).unwrap();
        let search = Graph::upload(&queue, &edges)
            .unwrap()
            .search(&queue, &[0], options)
            .unwrap();
        assert_eq!(search.levels, [0, 1, 2]);
        let matrix = Csr::from_sorted_entries(2, 2, [(0, 0, 2.0), (1, 1, 4.0)]).unwrap();
        let solution = solve(&queue, &matrix, &[2.0, 4.0], SolveOptions::default().run(options)).unwrap();
        assert_eq!(solution.status, Status::Converged);
    }
}
