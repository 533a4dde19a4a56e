//! A run to combine, and why it cannot be.

use crate::base::error::ImportError;
use crate::store::error::StoreError;
use crate::store::read::RunInfo;

/// Why runs cannot be combined.
#[derive(Debug, thiserror::Error)]
pub enum CombineError {
    /// They measure different things.
    #[error("{0}")]
    Unpaired(String),
    /// Their sums are too large.
    #[error("the runs cannot be combined: {0}")]
    Refused(ImportError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<rusqlite::Error> for SourceFailure {
    fn from(error: rusqlite::Error) -> Self {
        Self(error)
    }
}

/// A failure of SQLite in the database that has the runs.
pub(super) struct SourceFailure(pub(super) rusqlite::Error);

/// A run to combine.
pub(super) struct CombinedPart {
    pub(super) info: RunInfo,
    /// Its usual metric, in which each of its functions has a row.
    pub(super) usual: i64,
}
