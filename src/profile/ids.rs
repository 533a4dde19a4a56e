//! Indexes of what the builder keeps.

/// The index of nothing.
pub(super) const NONE: u32 = u32::MAX;

/// Indexes fit in 32 bits: nothing that is kept in memory reaches 2^32 entries.
pub(super) fn index(at: usize) -> u32 {
    u32::try_from(at).expect("fewer than 2^32 functions, lines, edges and open nodes")
}
