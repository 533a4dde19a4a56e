//! Samples of processor time.

pub(in crate::formats) mod read;
