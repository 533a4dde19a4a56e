//! A missing line end at the end of a text.

use crate::base::error::Position;
use crate::events::{Note, Severity, Sink};
use crate::input::Input;

/// Warns if the last line that an input returned has no line end: a number or a name may be cut there and still look
/// complete (case `folded/cut-in-a-number`).
pub(crate) fn note_unfinished_line(input: &Input<'_>, sink: &mut dyn Sink) {
    note_unfinished(input.unfinished_line(), sink);
}

/// Warns about a last line without a line end, given its position.
pub(crate) fn note_unfinished(position: Option<Position>, sink: &mut dyn Sink) {
    if let Some(position) = position {
        sink.note(Note {
            severity: Severity::Warning,
            position: Some(position),
            message: "the last line has no line end: the file may be truncated",
        });
    }
}
