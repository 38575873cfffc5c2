//! What the program `gridwise` is made of.
#![forbid(unsafe_code)]

pub mod matrix_market;
pub mod output;
pub mod plot;
