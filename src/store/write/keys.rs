//! Keys of the tables that hold totals: rows are written in their order.

use std::sync::Arc;

use super::ids::{Ids, StoredFunction, StoredMetric};
use crate::events::EdgeKind;
use crate::profile::{EdgeRow, InfoRow};

/// The key of a row of `function_info`.
pub(super) fn info_key(row: &InfoRow, ids: &Ids) -> (StoredMetric, StoredFunction) {
    (ids.metric(row.metric), ids.function(row.function))
}

/// The key of a row of `line_info`.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LineKey {
    pub(super) metric: StoredMetric,
    pub(super) function: StoredFunction,
    /// A line without a file of its own comes first.
    pub(super) file: Option<Arc<str>>,
    pub(super) line: u32,
    pub(super) col: u32,
}

pub(super) fn line_key(row: &InfoRow, ids: &Ids) -> LineKey {
    let (metric, function) = info_key(row, ids);
    let place = row.place.as_ref();
    LineKey {
        metric,
        function,
        file: place.and_then(|place| place.file.clone()),
        line: place.map_or(0, |place| place.line),
        col: place.map_or(0, |place| place.col),
    }
}

/// The key of a row of `edges`. Back edges of a callee lie side by side: whether it has any is asked
/// for every call that views show, and found in one step.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EdgeKey {
    pub(super) metric: StoredMetric,
    pub(super) callee: StoredFunction,
    pub(super) back: bool,
    /// 0 at a root.
    pub(super) caller: StoredFunction,
    /// A line without a file of its own comes first.
    pub(super) file: Option<Arc<str>>,
    /// -1 if unknown.
    pub(super) line: i64,
    pub(super) col: u32,
}

pub(super) fn edge_key(row: &EdgeRow, ids: &Ids) -> EdgeKey {
    EdgeKey {
        metric: ids.metric(row.metric),
        callee: ids.function(row.callee),
        back: row.kind == EdgeKind::Back,
        caller: row
            .caller
            // Not NULL: columns of a primary key WITHOUT ROWID cannot be, and no function has the
            // number 0.
            .map_or(StoredFunction(0), |caller| ids.function(caller)),
        file: row.line_file.clone(),
        line: row.caller_line.map_or(-1, i64::from),
        col: row.caller_col,
    }
}
