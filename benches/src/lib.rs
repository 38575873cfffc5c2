//! Peers and the harness for the side-by-side benches.
