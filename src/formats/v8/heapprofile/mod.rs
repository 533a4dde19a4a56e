//! V8's sampled allocations.

pub(in crate::formats) mod read;
