//! Flame graphs as SVG pictures.

mod difference;
mod geometry;
mod svg;
pub(in crate::formats) mod write;
