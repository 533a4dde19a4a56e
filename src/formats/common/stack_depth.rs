//! How deep a stack may be.

use crate::base::error::{ImportError, Position};

/// Frames of one stack: a line of the largest size would otherwise become eight million nodes.
pub(in crate::formats) const MOST_FRAMES: usize = 1 << 20;

/// The error for a stack with more than [`MOST_FRAMES`].
pub(in crate::formats) fn too_many_frames(position: Position) -> ImportError {
    let limit = format!("{MOST_FRAMES} frames in one stack (limit: frames of a stack)");
    ImportError::Limit { position, limit }
}
