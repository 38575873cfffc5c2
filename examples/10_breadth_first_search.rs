//! Breadth-first search: how many edges every vertex of a graph is away from the first one. The search is a phased kernel, a step
//! a level, as one resident grid or as one launch a level.
//!
//! `cargo run --release --example 10_breadth_first_search [GRAPH.mtx]`, where an entry in row *i* and column *j* is an edge from *i*
//! to *j*.

use std::env;

use gridwise::{
    algorithm::breadth_first::{Graph, sequential},
    prelude::*,
};
use gridwise_examples::{failure::Failure, matrix};

fn main() -> Result<(), Failure> {
    let edges = match env::args_os().nth(1) {
        Some(path) => matrix::read(path.as_ref())?,
        None => matrix::network(13, 16),
    };
    let device = Device::from_env()?;
    let queue = device.queue();
    let mut graph = Graph::upload(&queue, &edges)?;
    if graph.vertices() == 0 {
        println!("{}: a graph without vertices", device.name());
        return Ok(());
    }
    let expected = sequential(&edges, &[0])?;
    for strategy in [Strategy::Persistent, Strategy::Relaunch] {
        let search = graph.search(&queue, &[0], strategy)?;
        assert_eq!(search.levels, expected);
        println!(
            "{}, {}: {} of {} vertices reached over {} edges, the farthest {} away",
            device.name(),
            search.report.structure,
            search.reached(),
            graph.vertices(),
            graph.edges(),
            search.depth().unwrap_or(0)
        );
    }
    let depth = expected
        .iter()
        .filter(|&&level| level != u32::MAX)
        .max()
        .copied()
        .unwrap_or(0);
    for level in 0..=depth {
        let vertices = expected.iter().filter(|&&of| of == level).count();
        println!("level {level}: {vertices}");
        if level == 9 && depth > 9 {
            println!("and so on to level {depth}");
            break;
        }
    }
    Ok(())
}
