//! The profile: rows made of what an importer says. The builder numbers nodes in pre-order, closes
//! intervals, links each node to the enclosing one of its function, derives the cost that the file
//! leaves out, and adds up functions, lines and edges in one pass. No SQL, and no file but the
//! temporary one in which large trees of stacks wait.
//!
//! Memory: the open nodes, one batch of rows, and what is kept per function, line, edge (and, for
//! stacks with labels, per distinct path). Never per node of a tree format: a row leaves with its batch,
//! also while nodes above it are still open; those few follow in the batch in which they close.

mod builder;
mod call_tree;
mod functions;
mod ids;
mod labels;
mod node_rows;
mod notes;
mod row_source;
mod rows;
mod sink;
mod sums;
mod totals;

pub use builder::TreeBuilder;
pub(crate) use functions::FunctionInterner;
pub(crate) use labels::{LabelSet, LabelSetInterner};
pub use row_source::Rows;
pub use rows::{
    Batch, CostRow, EdgeRow, Facts, Function, InfoFigures, InfoRow, LabelCostRow, LabelRow,
    LabelText, MetricRow, NodeRow, NoteRow, Output, RunSummary, SourceLine, TotalSource,
};
pub use sums::NodeCost;
