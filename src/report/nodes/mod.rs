//! What is answered from the nodes of a run, in one pass over them in their order: sums, and the
//! rows of reports that show nodes. The statement that a report shows says the same in SQL.

mod add_up;
mod functions;
mod pass;
mod question;
mod ranges;
mod read;
mod sums;

pub(in crate::report) use add_up::{
    CallCosts, Figures, FunctionCosts, LineCosts, Sums, Wants, add_up,
};
pub(in crate::report) use functions::ContainerKind;
pub(in crate::report) use question::{Filters, NodeCosts, NodeQuestion, Step, Stored};
