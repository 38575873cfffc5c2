//! Breadth-first search: the levels of the sequential search, whatever the grid, the structure and the graph.

use gridwise::{
    algorithm::{
        breadth_first::{Graph, sequential},
        sparse::Csr,
    },
    host::phases::RunOptions,
    prelude::*,
};

use crate::support::{cooperative_grids, lengths, queue, random_numbers};

/// A graph from its edges in any order, repeated ones allowed.
fn graph(vertices: usize, mut edges: Vec<(u32, u32)>) -> Csr {
    edges.sort_unstable();
    edges.dedup();
    Csr::from_sorted_entries(vertices, vertices, edges.into_iter().map(|(from, to)| (from, to, 1.0))).unwrap()
}

/// Edges at random: `per_vertex` for each vertex on average, loops among them; a hub that knows everybody; vertices that nobody knows.
fn random(vertices: usize, per_vertex: usize, both_ways: bool) -> Csr {
    if vertices == 0 {
        return graph(0, Vec::new());
    }
    let numbers = random_numbers(2 * vertices * per_vertex);
    let vertex = |number: u64| (number % vertices as u64) as u32;
    let mut edges: Vec<(u32, u32)> = numbers
        .chunks(2)
        .map(|pair| (vertex(pair[0]), vertex(pair[1])))
        .collect();
    edges.extend((0..vertices as u32).map(|to| (vertices as u32 / 2, to)));
    edges.retain(|&(from, to)| from % 11 != 5 && to % 11 != 5);
    if both_ways {
        edges.extend(edges.clone().into_iter().map(|(from, to)| (to, from)));
    }
    graph(vertices, edges)
}

/// Searches on every grid in both structures, and compares.
fn check(device: &Device, edges: &Csr, sources: &[u32]) {
    let queue = queue(device);
    let expected = sequential(edges, sources).unwrap();
    let mut graph = Graph::upload(&queue, edges).unwrap();
    for grid in cooperative_grids(device) {
        for strategy in [Strategy::Persistent, Strategy::Relaunch] {
            let search = graph
                .search(&queue, sources, RunOptions::from(strategy).grid(grid))
                .unwrap();
            assert_eq!(search.levels, expected, "{grid:?} {strategy:?}");
            let depth = search.depth().map_or(0, |depth| depth as usize + 1);
            assert_eq!(search.report.steps, depth);
        }
    }
}

pub(crate) fn levels_are_those_of_the_sequential_search(device: &Device) {
    for vertices in lengths(64).into_iter().filter(|&vertices| vertices < 500) {
        for (per_vertex, both_ways) in [(1, false), (2, true), (5, false)] {
            let edges = random(vertices, per_vertex, both_ways);
            check(device, &edges, if vertices == 0 { &[] } else { &[0] });
        }
    }
}

pub(crate) fn a_path_has_a_level_a_vertex(device: &Device) {
    // More levels than there are slots for the words of frontiers, and one vertex in each.
    let vertices = 40;
    let edges = graph(vertices, (1..vertices as u32).map(|to| (to - 1, to)).collect());
    check(device, &edges, &[0]);
    check(device, &edges, &[39]);
}

pub(crate) fn a_star_fills_a_frontier_at_once(device: &Device) {
    // More neighbours than a thread holds back, and more vertices than a claim.
    let vertices = 300;
    let spokes: Vec<_> = (1..vertices as u32).flat_map(|to| [(0, to), (to, 0)]).collect();
    check(device, &graph(vertices, spokes.clone()), &[0]);
    check(device, &graph(vertices, spokes), &[7, 7, 299]);
}

pub(crate) fn loops_and_lone_vertices_change_nothing(device: &Device) {
    let loops: Vec<_> = (0..5).map(|vertex| (vertex, vertex)).collect();
    check(device, &graph(5, loops), &[2]);
    check(device, &graph(1, Vec::new()), &[0]);
    check(device, &graph(5, Vec::new()), &[4, 0]);
    check(device, &graph(5, Vec::new()), &[]);
}

pub(crate) fn edges_lead_one_way(device: &Device) {
    let edges = graph(4, vec![(1, 0), (1, 2), (2, 3)]);
    check(device, &edges, &[0]);
    check(device, &edges, &[1]);
    check(device, &edges, &[0, 2]);
}
