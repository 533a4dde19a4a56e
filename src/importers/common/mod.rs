//! What several formats share.

pub(super) mod dyalog_rows;
