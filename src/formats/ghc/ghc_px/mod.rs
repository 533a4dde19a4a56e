//! The logs of `+RTS -px`.

mod log;
pub(in crate::formats) mod read;
pub(in crate::formats) mod write;
