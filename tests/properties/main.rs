//! Properties of what is pure: how indices are dealt out, how a domain is cut into frames, what ranges of spans are, and what
//! launches are refused; and that work queues hand out everything once.

mod algorithms;
mod launch_rules;
mod maps;
mod queues;
mod spans;
