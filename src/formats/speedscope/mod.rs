//! speedscope's file format.

mod names;
pub(in crate::formats) mod read;
pub(in crate::formats) mod write;
