//! The Firefox Profiler's processed profiles.

mod categories;
mod own_members;
pub(in crate::formats) mod read;
mod stack_nodes;
mod tables;
pub(in crate::formats) mod write;
