//! What several formats share.

pub(super) mod dyalog_rows;
pub(super) mod ghc;
pub(super) mod loose_json;
