//! Breadth-first search: how many edges each vertex of a graph is away from where the search begins.
//!
//! A level is a step of a phased kernel: blocks claim parts of the frontier, set the level of neighbours that have none, and make
//! these the next frontier. The barrier after each step is what makes a level right when it is first set. (Tasks without
//! barriers would find longer ways first, and correct them and all that follows from them later.)
//!
//! ```
//! use gridwise::{algorithm::{breadth_first::Graph, sparse::Csr}, prelude::*};
//!
//! // 0 → 1 → 2, and 3 apart.
//! let edges = Csr::from_sorted_entries(4, 4, [(0, 1, 1.0), (1, 2, 1.0)])?;
//! let device = Device::from_env()?;
//! let queue = device.queue();
//! let mut graph = Graph::upload(&queue, &edges)?;
//! let search = graph.search(&queue, &[0], Strategy::Auto)?;
//! assert_eq!(search.level(2), Some(2));
//! assert_eq!(search.level(3), None);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Determinism
//! Levels are the same on every device, grid and run.

#[cfg(all(test, not(loom)))]
mod test;

use thiserror::Error;

use super::{kernels::breadth_first as kernel, sparse::Csr};
use crate::host::{
    buffer::{AllocationError, Buffer, CopyError},
    error::Error,
    phases::{RunOptions, RunReport},
    queue::Queue,
};

/// Level of a vertex that cannot be reached.
pub const UNREACHED: u32 = kernel::UNREACHED;

/// A directed graph on a device, and what a search of it needs.
///
/// It is given as a square matrix: an entry in row `i` and column `j`, whatever its value, is an edge from `i` to `j`. A symmetric
/// matrix is an undirected graph. Entries on the diagonal lead nowhere.
#[derive(Debug)]
pub struct Graph {
    row_offsets: Buffer<u32>,
    targets: Buffer<u32>,
    levels: Buffer<u32>,
    frontiers: [Buffer<u32>; 2],
    words: Buffer<u64>,
}

/// Why a search was refused or failed. Vertices count from 0.
#[derive(Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The matrix is not square.
    #[error("the matrix has {rows} rows and {columns} columns, but that of a graph is square")]
    NotSquare {
        /// Rows.
        rows: usize,
        /// Columns.
        columns: usize,
    },
    /// More vertices than 32 bits number.
    #[error("{vertices} vertices, but at most {} can be numbered", u32::MAX)]
    TooManyVertices {
        /// Vertices of the graph.
        vertices: usize,
    },
    /// A vertex to begin at that the graph does not have.
    #[error("the search begins at vertex {source_vertex}, but there are {vertices} vertices, counted from 0")]
    NoSuchVertex {
        /// The vertex.
        source_vertex: u32,
        /// Vertices of the graph.
        vertices: usize,
    },
    /// The device failed.
    #[error(transparent)]
    Runtime(#[from] Error),
}

crate::host::error::debug_as_display!(SearchError);

impl From<AllocationError> for SearchError {
    fn from(error: AllocationError) -> Self {
        Self::Runtime(error.into())
    }
}

impl From<CopyError> for SearchError {
    fn from(error: CopyError) -> Self {
        Self::Runtime(error.into())
    }
}

/// What a search found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Search {
    /// The level of each vertex, [`UNREACHED`] for those that cannot be reached.
    pub levels: Vec<u32>,
    /// How it was run: a step for each level, the last of which finds nothing new.
    pub report: RunReport,
}

impl Search {
    /// How many edges a vertex is away from where the search began; `None` if it cannot be reached.
    ///
    /// # Panics
    /// If there is no such vertex.
    pub fn level(&self, vertex: usize) -> Option<u32> {
        Some(self.levels[vertex]).filter(|&level| level != UNREACHED)
    }

    /// How many vertices were reached, those where the search began among them.
    pub fn reached(&self) -> usize {
        self.levels.iter().filter(|&&level| level != UNREACHED).count()
    }

    /// The level of the farthest vertex that was reached; `None` if none was.
    pub fn depth(&self) -> Option<u32> {
        self.levels.iter().copied().filter(|&level| level != UNREACHED).max()
    }
}

impl Graph {
    /// Copies a graph to the device.
    ///
    /// # Errors
    /// If the matrix is not square, there are too many vertices, or there is no memory.
    pub fn upload(queue: &Queue, edges: &Csr) -> Result<Self, SearchError> {
        let vertices = vertices(edges)?;
        if u32::try_from(vertices).is_err() {
            return Err(SearchError::TooManyVertices { vertices });
        }
        let device = queue.device();
        Ok(Self {
            row_offsets: queue.upload(edges.row_offsets())?,
            targets: queue.upload(edges.column_indices())?,
            levels: device.zeroed(vertices)?,
            frontiers: [device.zeroed(vertices)?, device.zeroed(vertices)?],
            words: device.zeroed(kernel::WORDS)?,
        })
    }

    /// Vertices.
    pub fn vertices(&self) -> usize {
        self.levels.len()
    }

    /// Edges, those from a vertex to itself among them.
    pub fn edges(&self) -> usize {
        self.targets.len()
    }

    /// Searches from `sources`, which have level 0. Without any, nothing is reached. One that is given twice counts once.
    ///
    /// # Errors
    /// If there is no such vertex, or the device fails.
    pub fn search(
        &mut self,
        queue: &Queue,
        sources: &[u32],
        options: impl Into<RunOptions>,
    ) -> Result<Search, SearchError> {
        let sources = distinct(sources, self.vertices())?;
        queue.fill(self.levels.span_mut(), UNREACHED);
        let mut report = RunReport::nothing_to_do();
        if !sources.is_empty() {
            for &source in &sources {
                let vertex = source as usize;
                queue.fill(self.levels.span_mut().range(vertex..=vertex), 0);
            }
            queue.write(&sources, self.frontiers[0].span_mut().range(..sources.len()))?;
            queue.fill(self.words.span_mut(), 0);
            let first = self.words.span_mut().range(kernel::FIRST_LENGTH..=kernel::FIRST_LENGTH);
            queue.fill(first, sources.len() as u64);
            let [even, odd] = &mut self.frontiers;
            let levels = kernel::Levels {
                row_offsets: self.row_offsets.span(),
                targets: self.targets.span(),
                levels: self.levels.span_mut(),
                frontiers: [even.span_mut(), odd.span_mut()],
                words: self.words.span_mut(),
            };
            let settled = queue.settle(&levels, options.into()).map_err(Error::from)?;
            report = queue.run(levels, settled.options)?;
        }
        Ok(Search {
            levels: queue.download(&self.levels)?,
            report,
        })
    }
}

/// The levels, found in one thread by the usual loop over one queue: what the kernel is checked against.
///
/// # Errors
/// If the matrix is not square, or there is no such vertex.
pub fn sequential(edges: &Csr, sources: &[u32]) -> Result<Vec<u32>, SearchError> {
    let vertices = vertices(edges)?;
    let mut queue = distinct(sources, vertices)?;
    let mut levels = vec![UNREACHED; vertices];
    for &source in &queue {
        levels[source as usize] = 0;
    }
    let mut next = 0;
    while let Some(&vertex) = queue.get(next) {
        next += 1;
        let level = levels[vertex as usize] + 1;
        for &target in edges.row(vertex as usize).0 {
            if levels[target as usize] == UNREACHED {
                levels[target as usize] = level;
                queue.push(target);
            }
        }
    }
    Ok(levels)
}

fn vertices(edges: &Csr) -> Result<usize, SearchError> {
    let (rows, columns) = (edges.rows(), edges.columns());
    if rows == columns {
        Ok(rows)
    } else {
        Err(SearchError::NotSquare { rows, columns })
    }
}

/// The sources in order, each once.
fn distinct(sources: &[u32], vertices: usize) -> Result<Vec<u32>, SearchError> {
    if let Some(&source_vertex) = sources.iter().find(|&&source| source as usize >= vertices) {
        return Err(SearchError::NoSuchVertex {
            source_vertex,
            vertices,
        });
    }
    let mut distinct = sources.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    Ok(distinct)
}
