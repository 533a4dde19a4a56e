//! Why there is no answer.

use crate::store::{Database, StoreError};

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The question does not make sense.
    #[error("{0}")]
    Usage(String),
    /// The question makes sense, and selects nothing.
    #[error("{0}")]
    NothingSelected(String),
    /// The costs of these functions cannot be added up, because calls of one may be within calls of another one.
    #[error(
        "the name matches several functions that may call each other; their costs cannot be added up"
    )]
    Several(Vec<i64>),
    /// No function of the run has what costs are to be added up by.
    #[error("{0}")]
    NoGroups(String),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A failure of SQLite, with the file of the database.
pub(super) fn failure(database: &Database, source: rusqlite::Error) -> StoreError {
    StoreError::Sqlite {
        path: database.path().to_owned(),
        source,
    }
}
