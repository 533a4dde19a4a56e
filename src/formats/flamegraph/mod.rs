//! Flame graphs as SVG pictures.

pub(in crate::formats) mod write;
