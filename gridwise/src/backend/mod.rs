//! The back ends, one folder each. Nothing outside a folder names anything inside but its device type.

pub(crate) mod check;
pub(crate) mod cpu;
