//! pprof: profile.proto.

mod decode;
mod encode;
pub(in crate::formats) mod read;
mod tables;
pub(in crate::formats) mod write;
