//! Rows of nodes, and how they are read, whatever they are read from.

use super::walk::LinePlace;

/// A node, with its cost in one metric.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeRow {
    /// How many nodes are above.
    pub depth: usize,
    /// Its function.
    pub function_id: i64,
    /// What it is a line of the function node above for; `None` if it is a function node.
    pub line: Option<LinePlace>,
    /// How often it was called; `None` if unknown.
    pub calls: Option<u64>,
    /// Cost of the node itself.
    pub exclusive: f64,
    /// Cost with everything called; `None` for lines if unknown.
    pub cumulative: Option<f64>,
}

/// What is read.
pub(super) struct Range {
    /// The first and the last node.
    pub(super) nodes: (i64, i64),
    /// For each metric that is asked for: its number, if the nodes do not hold its costs.
    pub(super) others: Vec<Option<i64>>,
}

/// Reads nodes in their order.
pub(super) trait ReadNodes {
    /// Reads the next node into a row; its number, and that of the last node below it.
    fn next(&mut self, row: &mut NodeRow) -> rusqlite::Result<Option<(i64, i64)>>;

    /// Passes over nodes before one.
    fn skip_to(&mut self, node_id: i64) -> rusqlite::Result<()>;
}

/// A node with its own cost in a metric, and its cost with what it called.
pub(super) type CostRow = (i64, f64, Option<f64>);

/// Reads the costs of nodes in a metric, in the order of the nodes.
pub(super) trait ReadCosts {
    /// The next one, which may be one of another run or metric if none is left of this one.
    fn next(&mut self) -> rusqlite::Result<Option<CostRow>>;

    /// Passes over nodes before one.
    fn skip_to(&mut self, node_id: i64) -> rusqlite::Result<()>;
}

pub(super) fn depth(depth: i64) -> usize {
    usize::try_from(depth.unsigned_abs()).unwrap_or(0)
}
