//! What a report looks at: temporary views with fixed names between the tables of a run and the
//! SELECT of a report, so that a report is written once, whatever is asked
//! (docs/design/0007-views-of-a-question.md). [`set_up()`] has the order of the steps; each step is a
//! file with the statements that it runs.

mod costs;
mod filters;
mod groups;
mod selected;
mod set_up;

pub(super) use set_up::set_up;
