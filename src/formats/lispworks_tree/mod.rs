//! Call trees of LispWorks's profiler.

pub(in crate::formats) mod read;
pub(in crate::formats) mod write;
