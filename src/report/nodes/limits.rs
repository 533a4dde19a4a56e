//! How much of an answer is shown, and what is left out.

use std::fmt::Write as _;

/// How much is shown.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::report) struct Limits {
    /// Levels below or above where the report begins, or functions of a path, at most.
    pub(in crate::report) depth: Option<i64>,
    /// Only what costs at least so many percent.
    pub(in crate::report) min_pct: Option<f64>,
    /// 100 % of that. With 0, nothing costs any percentage.
    pub(in crate::report) total: f64,
    /// Rows at most; of callers' trees, functions that they begin with.
    pub(in crate::report) first: Option<u64>,
}

impl Limits {
    /// The same with another 100 %.
    pub(super) fn of(self, total: f64) -> Self {
        Self { total, ..self }
    }

    /// Whether a node at a depth is shown, which costs so much.
    pub(super) fn show(&self, depth: i64, cost: f64) -> bool {
        self.depth.is_none_or(|most| depth <= most) && self.is_much(cost)
    }

    /// Whether a cost is a large enough part.
    pub(super) fn is_much(&self, cost: f64) -> bool {
        self.min_pct
            .is_none_or(|least| self.total != 0.0 && 100.0 * cost / self.total >= least)
    }
}

/// What is left out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::report) struct LeftOut {
    /// Nodes; of callers' trees, functions that they could begin with.
    pub(in crate::report) rows: i64,
    /// What they cost.
    pub(in crate::report) cost: f64,
}

/// Writes a line after the name of its function, with its file where that is not the function's.
pub(super) fn write_line(text: &mut String, file: Option<&str>, line: i64, col: Option<i64>) {
    text.push('[');
    if let Some(file) = file {
        let _ = write!(text, "{file}:");
    }
    let _ = write!(text, "{line}");
    if let Some(col) = col {
        let _ = write!(text, ":{col}");
    }
    text.push(']');
}
