//! The reports of `+RTS -p`.

pub(in crate::formats) mod read;
