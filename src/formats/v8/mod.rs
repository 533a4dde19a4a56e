//! V8's inspector profiles: trees of call frames.

pub(in crate::formats) mod cpuprofile;
pub(in crate::formats) mod heapprofile;
