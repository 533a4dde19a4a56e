//! What may happen often, and gets one note.

use crate::error::Position;
use crate::events::{Note, Severity, Sink};

/// How often something happened, and where first.
#[derive(Default)]
pub(in crate::importers) struct Counted {
    pub(in crate::importers) count: u64,
    pub(in crate::importers) first: Option<Position>,
}

impl Counted {
    pub(in crate::importers) fn add(&mut self, position: Position) {
        self.first.get_or_insert(position);
        self.count += 1;
    }

    /// Notes it at its first place, if it happened at all.
    pub(in crate::importers) fn note(&self, sink: &mut dyn Sink, severity: Severity, message: &str) {
        if self.count > 0 {
            sink.note(Note { severity, position: self.first, message });
        }
    }
}
