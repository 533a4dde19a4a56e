//! Austin: samples of Python programs, as folded stacks with a header.

pub(in crate::formats) mod read;
