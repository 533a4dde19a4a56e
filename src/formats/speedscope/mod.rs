//! speedscope's file format.

mod metrics;
mod moment;
mod names;
pub(in crate::formats) mod read;
pub(in crate::formats) mod write;
