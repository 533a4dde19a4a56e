//! The Firefox Profiler's processed profiles.

mod categories;
pub(in crate::formats) mod read;
mod stack_nodes;
mod tables;
mod unknown_interval;
pub(in crate::formats) mod write;
