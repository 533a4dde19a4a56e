//! Writes and reads the pages of SQLite databases without SQLite.
//!
//! SQLite inserts and deletes rows one at a time, through its virtual machine and its pager. A program that writes millions of rows in
//! the order of their keys needs neither: it can fill each page once and append it to the file. This crate does such bulk operations on
//! databases whose schema SQLite has created:
//!
//! - [`btree`] writes the rows of an empty table or index, page by page, into a [`page_file`].
//! - [`append`] appends the rows of trees in one file to the trees of a database, by copying leaf pages.
//! - [`cut`] deletes a range of rows from trees, by putting whole pages on the freelist.
//! - [`copy`] replaces the pages of a database by those of another file.
//! - [`cursor`] reads the rows of a tree in key order.
//! - [`record`] encodes rows, and [`values`] decodes them.
//!
//! The caller provides the pages of a database that SQLite has open ([`database::DatabasePages`], [`cursor::PageSource`]), for example
//! through the virtual table `sqlite_dbpage`, and with them locks, transactions and the journal. Pages may come from an untrusted file:
//! content that violates the file format is an error, never a panic.
//!
//! Reference: SQLite, "Database File Format".

pub mod append;
pub mod btree;
pub mod copy;
pub mod cursor;
pub mod cut;
pub mod database;
pub mod header;
mod number;
mod page;
pub mod page_file;
pub mod record;
pub mod values;
