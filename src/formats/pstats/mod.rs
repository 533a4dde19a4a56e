//! Python's pstats: marshalled tables of cProfile.

mod marshal;
pub(in crate::formats) mod read;
