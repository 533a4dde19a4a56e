//! What is answered from the nodes of a run, in one pass over them in their order: sums, and the
//! rows of reports that show nodes. The statement that a report shows says the same in SQL.

mod add_up;
mod bottom_up;
mod functions;
mod limits;
mod names;
mod pass;
mod paths;
mod question;
mod ranges;
mod read;
mod sums;
mod tree;

pub(in crate::report) use add_up::{CallCosts, Figures, Sums, Wants, add_up};
pub(in crate::report) use bottom_up::{ChainRow, Start, bottom_up};
pub(in crate::report) use limits::{LeftOut, Limits};
pub(in crate::report) use names::Names;
pub(in crate::report) use pass::Selected;
pub(in crate::report) use paths::{PathRow, paths};
pub(in crate::report) use question::{
    ContainerKind, Filters, NodeCosts, NodeQuestion, Step, Stored,
};
pub(in crate::report) use tree::Tree;
