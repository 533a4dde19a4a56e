//! The builder: from what importers say to rows. Numbers nodes in pre-order, closes intervals,
//! links each node to the enclosing one of the same function, derives the cost that the file leaves
//! out, and adds up functions, lines and edges in the same pass. No I/O, no SQL.
//!
//! Memory: the open nodes, one batch of rows, and what is kept per function, line, edge (and, for
//! stacks, per distinct path). Never per node of a tree format: a row leaves with its batch, also
//! while nodes above it are still open; those few follow in the batch in which they close.

mod builder;
mod call_tree;
mod functions;
mod ids;
mod labels;
mod notes;
mod rows;
mod sink;
mod sums;
mod totals;

pub use builder::TreeBuilder;
pub(crate) use functions::Functions;
pub(crate) use labels::{LabelSet, LabelSets};
pub use rows::{
    Batch, CostRow, EdgeRow, Facts, Figures, Function, InfoFigures, InfoRow, LabelCostRow,
    LabelRow, LabelText, MetricRow, NodeRow, NoteRow, Output, Place, Rows, TotalSource, Totals,
};
