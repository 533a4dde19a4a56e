//! Notes on a run: those of the importer, up to a limit, and what the builder itself has counted.

use super::rows::NoteRow;
use crate::events::{FunctionId, Note, Severity};

/// Notes kept of one run; what comes after them is counted.
const MAX_NOTES: usize = 1000;

/// The notes on one run.
#[derive(Default)]
pub(super) struct Notes {
    notes: Vec<NoteRow>,
    left_out: u64,
    /// Nodes that cost less than what they called.
    pub(super) exceeded: NoteCount,
    /// Functions whose callers paid more than they and what they called cost.
    pub(super) paid_more: NoteCount,
    /// Functions in circles of calls, whose cost with what they called is unknown.
    pub(super) in_circles: NoteCount,
    /// Functions whose cost is not what their callers paid.
    pub(super) not_paid: NoteCount,
    /// Functions that cost more with what they called than the whole run.
    pub(super) above_total: NoteCount,
    /// Functions of a file without calls that cost more, with what they called, than all functions
    /// cost themselves.
    pub(super) above_sum: NoteCount,
    /// Functions whose names have bytes that are not UTF-8.
    pub(super) not_utf8: NoteCount,
    /// Figures that no REAL holds exactly.
    pub(super) rounded: NoteCount,
}

/// How many figures or functions a note is about, and the first of these functions.
#[derive(Default)]
pub(super) struct NoteCount {
    count: u64,
    first: Option<FunctionId>,
}

impl NoteCount {
    pub(super) fn add(&mut self, function: FunctionId) {
        self.first.get_or_insert(function);
        self.count += 1;
    }
}

impl Notes {
    pub(super) fn add(&mut self, note: Note<'_>) {
        // A file with a fault in each line must not become a database of notes.
        if self.notes.len() >= MAX_NOTES {
            self.left_out += 1;
            return;
        }
        let Note {
            severity,
            position,
            message,
        } = note;
        self.notes.push(NoteRow {
            severity,
            position,
            message: message.to_owned(),
        });
    }

    /// All notes as rows; `name` gives the names of functions.
    pub(super) fn into_rows(self, name: impl Fn(FunctionId) -> String) -> Vec<NoteRow> {
        let Self {
            mut notes,
            left_out,
            exceeded,
            paid_more,
            in_circles,
            not_paid,
            above_total,
            above_sum,
            not_utf8,
            rounded,
        } = self;
        let name = |first: Option<FunctionId>| first.map(&name).unwrap_or_default();
        let mut add = |severity, message| {
            notes.push(NoteRow {
                severity,
                position: None,
                message,
            });
        };
        let mut warn = |message: String| add(Severity::Warning, message);
        if exceeded.count > 0 {
            warn(format!(
                "{} cumulative costs are less than those of the callees (first: `{}`): they are kept, and the exclusive costs are 0",
                exceeded.count,
                name(exceeded.first)
            ));
        }
        if paid_more.count > 0 {
            warn(format!(
                "{} cumulative costs are the callers' sums, which exceed the costs of the function and its callees \
                 (first: `{}`)",
                paid_more.count,
                name(paid_more.first)
            ));
        }
        if above_sum.count > 0 {
            warn(format!(
                "{} cumulative costs are more than the total of the run (first: `{}`): percentages exceed 100, rows may be missing",
                above_sum.count,
                name(above_sum.first)
            ));
        }
        if not_utf8.count > 0 {
            warn(format!(
                "the names of {} functions have bytes that are not UTF-8, written as \\x{{e9}} (first: `{}`)",
                not_utf8.count,
                name(not_utf8.first)
            ));
        }
        if rounded.count > 0 {
            warn(format!(
                "{} figures are larger than 2^53 and stored rounded (first: `{}`)",
                rounded.count,
                name(rounded.first)
            ));
        }
        if left_out > 0 {
            warn(format!("{left_out} further notes were not stored"));
        }
        if in_circles.count > 0 {
            add(
                Severity::Info,
                format!(
                    "{} functions are in call cycles: their inclusive costs are unknown (first: \
                     `{}`)",
                    in_circles.count,
                    name(in_circles.first)
                ),
            );
        }
        if not_paid.count > 0 {
            add(
                Severity::Info,
                format!(
                    "{} cumulative costs differ from the sum of the callers (first: `{}`)",
                    not_paid.count,
                    name(not_paid.first)
                ),
            );
        }
        if above_total.count > 0 {
            add(
                Severity::Info,
                format!(
                    "{} cumulative costs are more than the total of the run (first: `{}`): the calls in the file do not add up to it",
                    above_total.count,
                    name(above_total.first)
                ),
            );
        }
        notes
    }
}
