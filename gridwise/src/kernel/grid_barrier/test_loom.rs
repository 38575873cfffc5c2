//! The barriers under loom.
