//! Folded (collapsed) stacks: a stack and a figure a line; Austin's are of a form of their own.

pub(in crate::formats) mod austin;
pub(in crate::formats) mod read;
mod stack_lines;
pub(in crate::formats) mod write;
