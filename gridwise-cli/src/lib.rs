//! What the program `gridwise` is made of.
