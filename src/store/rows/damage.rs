//! SQLite's own words for what goes wrong with its pages.

use rusqlite::ffi;

pub(super) fn failure(code: i32) -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)
}

/// The error for a row that is not what the file format or the table says.
pub(in crate::store) fn damaged() -> rusqlite::Error {
    failure(ffi::SQLITE_CORRUPT)
}
