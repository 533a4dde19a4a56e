//! Folded (collapsed) stacks: a stack and a figure a line.

pub(in crate::formats) mod read;
pub(in crate::formats) mod write;
