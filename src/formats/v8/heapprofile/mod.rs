//! Sampled allocations.

pub(in crate::formats) mod read;
