//! The program `gridwise`.
fn main() {}
