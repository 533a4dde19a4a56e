//! What several formats share.

pub mod dyalog_rows;
