//! Counters of what may happen often in a file and gets one note.

use crate::base::error::Position;
use crate::events::{Note, Severity, Sink};

/// How often something happened, and where and what it was first in the file, in whatever order it
/// is added.
#[derive(Debug, Default)]
pub(in crate::formats) struct Counted {
    count: u64,
    first: Option<Position>,
    /// What it was at the first place; empty if that is not known.
    example: String,
}

impl Counted {
    /// Counts it at one more place.
    pub(in crate::formats) fn add(&mut self, at: Position) {
        self.add_with(at, String::new);
    }

    /// Counts it at one more place; the example is asked for if no earlier place is known.
    pub(in crate::formats) fn add_with(&mut self, at: Position, example: impl FnOnce() -> String) {
        self.count += 1;
        if self.first.is_none_or(|first| at.byte < first.byte) {
            self.first = Some(at);
            self.example = example();
        }
    }

    /// As often more as the other one.
    pub(in crate::formats) fn add_all(&mut self, other: &Self) {
        let Some(at) = other.first else { return };
        self.add_with(at, || other.example.clone());
        // One of them has just been counted, and there is one, as there is a first place.
        self.count += other.count - 1;
    }

    pub(in crate::formats) fn count(&self) -> u64 {
        self.count
    }

    /// Where it was first, if it happened at all.
    pub(in crate::formats) fn first(&self) -> Option<Position> {
        self.first
    }

    /// Notes at the first place what is to be said of the count, if it happened at all.
    pub(in crate::formats) fn note(
        &self,
        sink: &mut dyn Sink,
        severity: Severity,
        message: impl FnOnce(u64) -> String,
    ) {
        self.note_with(sink, severity, |count, _| message(count));
    }

    /// Notes at the first place what is to be said of the count and the example, if it happened at
    /// all.
    pub(in crate::formats) fn note_with(
        &self,
        sink: &mut dyn Sink,
        severity: Severity,
        message: impl FnOnce(u64, &str) -> String,
    ) {
        if self.count > 0 {
            let message = message(self.count, &self.example);
            sink.note(Note {
                severity,
                position: self.first,
                message: &message,
            });
        }
    }
}

/// `1 block`, `2 blocks`.
pub(in crate::formats) fn many(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
