//! What several formats share.

pub(super) mod counted;
pub(super) mod dyalog_rows;
pub(super) mod long_lines;
