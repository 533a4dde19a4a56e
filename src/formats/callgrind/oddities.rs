//! What there is to note about a file when it has been read.

use crate::events::{Severity, Sink};
use crate::formats::common::counted::{Counted, many};

/// Things that are not read as they are, each with the number of its lines.
#[derive(Default)]
pub(super) struct Oddities {
    pub(super) unknown_headers: Counted,
    pub(super) jumps: Counted,
    /// Events that are computed from others.
    pub(super) computed: Counted,
    /// Events that are quotients.
    pub(super) quotients: Counted,
    /// Events of which a call knows no more than how often it was made.
    pub(super) calls_alone: Counted,
    /// Positions that are addresses of instructions.
    pub(super) addresses: Counted,
    /// Parts after the first.
    pub(super) later_parts: Counted,
}

impl Oddities {
    /// Says them all; `of_parts` is what was done with several parts.
    pub(super) fn note(&self, sink: &mut dyn Sink, of_parts: &str) {
        let (info, warning) = (Severity::Info, Severity::Warning);
        self.unknown_headers
            .note_with(sink, warning, |count, first| {
                format!(
                    "{} of an unknown type skipped (first: {first})",
                    many(count, "header line")
                )
            });
        let parts = self.later_parts.count() + 1;
        self.later_parts.note(sink, info, |_| {
            format!("the file has {parts} parts; {of_parts}")
        });
        self.addresses.note(sink, info, |_| {
            "the file has costs of instructions: only their sums by line are stored".to_owned()
        });
        self.jumps.note(sink, info, |count| {
            format!(
                "{} skipped: only calls and costs are stored",
                many(count, "jump")
            )
        });
        self.quotients.note_with(sink, info, |_, event| {
            format!("event {event} skipped, because it is a ratio and cannot be added up")
        });
        self.calls_alone.note_with(sink, info, |_, event| {
            format!("event {event} counts calls as their cost, so inclusive costs are unknown")
        });
        self.computed.note(sink, info, |count| {
            format!(
                "{} computed from other events: skipped",
                if count == 1 {
                    "1 event is".to_owned()
                } else {
                    format!("{count} events are")
                }
            )
        });
    }
}
