//! The Firefox Profiler's processed profiles.

pub(in crate::formats) mod read;
mod tables;
mod unknown_interval;
pub(in crate::formats) mod write;
