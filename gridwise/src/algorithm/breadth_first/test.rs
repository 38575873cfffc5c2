use super::*;
use crate::host::{device::Device, phases::Strategy, queue::QueueOptions};
use std::time::Duration;

fn queue() -> Queue {
    let options = QueueOptions::default().timeout(Duration::from_secs(60));
    Device::open("cpu:blocks=2").unwrap().queue_with(options)
}

fn graph(vertices: usize, edges: &[(u32, u32)]) -> Csr {
    Csr::from_sorted_entries(vertices, vertices, edges.iter().map(|&(from, to)| (from, to, 1.0))).unwrap()
}

#[test]
fn a_search_tells_levels_depth_and_what_was_not_reached() {
    let edges = graph(5, &[(0, 0), (0, 1), (1, 2), (2, 1), (3, 0)]);
    let queue = queue();
    let mut graph = Graph::upload(&queue, &edges).unwrap();
    assert_eq!((graph.vertices(), graph.edges()), (5, 5));
    let search = graph.search(&queue, &[0], Strategy::Auto).unwrap();
    assert_eq!(search.levels, [0, 1, 2, UNREACHED, UNREACHED]);
    assert_eq!((search.level(2), search.level(3)), (Some(2), None));
    assert_eq!((search.reached(), search.depth()), (3, Some(2)));
    // The third step finds that vertex 2 leads to nothing new.
    assert_eq!(search.report.steps, 3);
    // The same graph, from elsewhere, and from two vertices, one of them named twice.
    let search = graph.search(&queue, &[4], Strategy::Auto).unwrap();
    assert_eq!(search.levels, [UNREACHED, UNREACHED, UNREACHED, UNREACHED, 0]);
    let search = graph.search(&queue, &[3, 2, 3], Strategy::Auto).unwrap();
    assert_eq!(search.levels, [1, 1, 0, 0, UNREACHED]);
}

#[test]
fn no_source_reaches_nothing() {
    let queue = queue();
    for vertices in [0, 3] {
        let edges = graph(vertices, &[]);
        let search = Graph::upload(&queue, &edges)
            .unwrap()
            .search(&queue, &[], Strategy::Auto)
            .unwrap();
        assert_eq!(search.levels, vec![UNREACHED; vertices]);
        assert_eq!((search.reached(), search.depth(), search.report.steps), (0, None, 0));
        assert_eq!(sequential(&edges, &[]).unwrap(), search.levels);
    }
}

#[test]
fn what_is_no_graph_and_no_vertex_is_refused() {
    let queue = queue();
    let oblong = Csr::from_sorted_entries(2, 3, []).unwrap();
    let error = Graph::upload(&queue, &oblong).unwrap_err();
    assert!(
        matches!(error, SearchError::NotSquare { rows: 2, columns: 3 }),
        "{error}"
    );
    assert!(sequential(&oblong, &[]).is_err());
    let empty = graph(0, &[]);
    for error in [
        Graph::upload(&queue, &empty)
            .unwrap()
            .search(&queue, &[0], Strategy::Auto)
            .unwrap_err(),
        sequential(&empty, &[0]).unwrap_err(),
    ] {
        assert!(
            matches!(
                error,
                SearchError::NoSuchVertex {
                    source_vertex: 0,
                    vertices: 0
                }
            ),
            "{error}"
        );
    }
}
