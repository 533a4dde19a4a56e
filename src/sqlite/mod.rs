//! SQLite's file format: records, pages, b-trees that are written page by page, b-trees that are
//! appended to those of a database, ranges of rows that are cut out of them, b-trees
//! that are read row by row, and pages that are copied from file to file. It knows nothing of profiles, and asks SQLite for nothing.
//!
//! Reference: SQLite, "Database File Format".

pub(crate) mod append;
pub(crate) mod btree;
pub(crate) mod copy;
pub(crate) mod cursor;
pub(crate) mod cut;
pub(crate) mod database;
pub(crate) mod header;
mod number;
mod page;
pub(crate) mod page_file;
pub(crate) mod record;
pub(crate) mod values;
