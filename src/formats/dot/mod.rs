//! Call graphs for Graphviz.

pub(in crate::formats) mod write;
