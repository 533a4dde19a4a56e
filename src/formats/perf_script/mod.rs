//! What Linux's `perf script` prints.

mod lines;
pub(in crate::formats) mod read;
