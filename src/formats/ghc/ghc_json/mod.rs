//! The reports of `+RTS -pj`.

pub(in crate::formats) mod read;
mod texts;
