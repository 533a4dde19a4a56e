//! What several formats share.

pub(super) mod dyalog_rows;
pub(super) mod held;
pub(super) mod names;
pub(super) mod tally;
