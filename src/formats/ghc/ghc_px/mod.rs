//! The logs of `+RTS -px`.

mod log;
mod numbers;
pub(in crate::formats) mod read;
pub(in crate::formats) mod write;
