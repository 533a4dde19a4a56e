//! SQLite's file format: records, b-tree pages, and trees that are appended to those of a file.
//! Knows nothing of profiles.
//!
//! Reference: SQLite, "Database File Format".

pub(crate) mod append;
pub(crate) mod btree;
pub(crate) mod record;
