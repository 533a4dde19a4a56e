//! pprof: profile.proto.

mod decode;
mod difference;
mod encode;
mod parts;
mod proportion;
pub(in crate::formats) mod read;
mod symbols;
mod tables;
pub(in crate::formats) mod write;
