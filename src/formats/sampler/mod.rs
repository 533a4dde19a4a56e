//! Call trees of Apple's `sample` and of sb-sprof.

pub(in crate::formats) mod read;
pub(in crate::formats) mod write;
