//! What the program `gridwise` is made of.

pub mod matrix_market;
pub mod plot;
