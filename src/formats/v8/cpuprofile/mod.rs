//! V8's samples of processor time.

pub(in crate::formats) mod read;
