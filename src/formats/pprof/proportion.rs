//! What a file may make of its bytes: a few of them can name a text of any length, or an address
//! where any number of functions were inlined.

/// Frames of stacks, or bytes of names or labels, for each byte of the file. Profiles stay below
/// 10.
pub(super) const RATIO: u64 = 64;

/// Frames, or bytes of names or labels, below which [`RATIO`] does not matter.
const FLOOR: u64 = 1 << 20;

/// Whether so many frames or bytes of text are too many for so many bytes of the file.
pub(super) fn is_out_of_proportion(things: u64, bytes: u64) -> bool {
    things > FLOOR && things / RATIO > bytes
}
