//! Flame graphs as SVG pictures.

mod geometry;
pub(in crate::formats) mod write;
