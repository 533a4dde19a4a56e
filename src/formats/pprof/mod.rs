//! pprof: profile.proto.

mod decode;
mod encode;
mod proportion;
pub(in crate::formats) mod read;
mod symbols;
mod tables;
pub(in crate::formats) mod write;
