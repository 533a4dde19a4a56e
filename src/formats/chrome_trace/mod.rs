//! Chrome's Trace Event Format.

pub(in crate::formats) mod read;
