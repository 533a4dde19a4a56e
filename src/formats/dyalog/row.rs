//! A row of Dyalog's `]PROFILE`: what the readers of files, the decision which time is the
//! inclusive one, and the calls of the sink have in common.

use crate::base::error::Position;
use crate::events::{FunctionId, Note, Severity, Sink};

/// Which columns the file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "columns that a file has, or has not"
)]
pub(super) struct Layout {
    /// Rows have a depth: a tree.
    pub(super) depth: bool,
    /// Rows have call counts. Only files of our own lack them, where calls are unknown.
    pub(super) calls: bool,
    /// Rows have tick counts.
    pub(super) ticks: bool,
    /// The column labelled exclusive comes first, as in 1.37. The first column is the exclusive one
    /// in every known version, which counts only where the data do not decide.
    pub(super) exclusive_first: bool,
    /// What the version says of the headings.
    pub(super) stated: Option<Headings>,
}

/// One row as the file has it: times in ns and ticks by their headings, right or wrong.
/// What is unknown is left empty in files of our own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'a> {
    pub(super) position: Position,
    pub(super) depth: Option<u32>,
    pub(super) name: &'a str,
    pub(super) line: Option<u32>,
    pub(super) calls: Option<u64>,
    pub(super) time: Pair<Option<f64>>,
    pub(super) ticks: Option<Pair<u64>>,
}

/// Two figures by the headings of their columns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair<T> {
    pub(super) inclusive: T,
    pub(super) exclusive: T,
}

impl<T> Pair<T> {
    pub(super) fn put_right(self, headings: Headings) -> Self {
        match headings {
            Headings::Right => self,
            Headings::Swapped => Self {
                inclusive: self.exclusive,
                exclusive: self.inclusive,
            },
        }
    }
}

impl Pair<Option<f64>> {
    /// How much more the inclusive figure is by its heading; `None` if one of the two is unknown.
    pub(super) fn difference(self) -> Option<f64> {
        Some(self.inclusive? - self.exclusive?)
    }

    pub(super) fn is_negative(self) -> bool {
        [self.inclusive, self.exclusive]
            .into_iter()
            .flatten()
            .any(|time| time < 0.0)
    }
}

/// Whether the headings of the two columns, inclusive and exclusive, are those that they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Headings {
    Right,
    Swapped,
}

impl Headings {
    pub(super) fn from_difference(inclusive_less_exclusive_by_heading: f64) -> Self {
        if inclusive_less_exclusive_by_heading < 0.0 {
            Self::Swapped
        } else {
            Self::Right
        }
    }

    pub(super) fn describe(self) -> &'static str {
        match self {
            Self::Right => "correct labels of inclusive and exclusive time",
            Self::Swapped => "swapped labels of inclusive and exclusive time",
        }
    }
}

/// A row whose function has its id.
#[derive(Clone, Copy)]
pub(super) struct Known {
    pub(super) position: Position,
    pub(super) depth: usize,
    pub(super) function: FunctionId,
    pub(super) line: Option<u32>,
    pub(super) calls: Option<u64>,
    pub(super) time: Pair<Option<f64>>,
    pub(super) ticks: Option<Pair<u64>>,
}

impl Known {
    /// Whether nothing changes when the headings are swapped.
    pub(super) fn is_the_same_either_way(&self) -> bool {
        let [inclusive, exclusive] =
            [self.time.inclusive, self.time.exclusive].map(|time| time.map(f64::to_bits));
        inclusive == exclusive
            && self
                .ticks
                .is_none_or(|ticks| ticks.inclusive == ticks.exclusive)
    }
}

/// One note of the file as a whole.
pub(super) fn note(sink: &mut dyn Sink, message: &str) {
    sink.note(Note {
        severity: Severity::Warning,
        position: None,
        message,
    });
}

/// A count as a cost: rounded above 2^53, which the sink remarks.
#[expect(
    clippy::cast_precision_loss,
    reason = "costs are REAL, the builder notes what is rounded"
)]
pub(super) fn as_cost(count: u64) -> f64 {
    count as f64
}
