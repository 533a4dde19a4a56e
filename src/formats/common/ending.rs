//! How a text ends.

use crate::events::{Note, Severity, Sink};
use crate::input::Input;

/// Warns where the last line of a text has no end: what was cut there may look whole, a number (case
/// `folded/cut-in-a-number`) or a name.
pub(crate) fn note_unfinished_line(input: &Input<'_>, sink: &mut dyn Sink) {
    if let Some(position) = input.unfinished_line() {
        sink.note(Note {
            severity: Severity::Warning,
            position: Some(position),
            message: "the last line has no end: the file may be cut",
        });
    }
}
