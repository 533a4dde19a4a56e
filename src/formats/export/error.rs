//! Why a run was not written.

use std::io;

use crate::report::ReportError;
use crate::store::StoreError;

/// Why a run was not written, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// There is nothing to write, or the database failed.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// The file would be larger than it may be.
    #[error("{0}")]
    TooLarge(String),
    /// The output is closed or full.
    #[error(transparent)]
    Output(#[from] io::Error),
}

impl From<StoreError> for ExportError {
    fn from(error: StoreError) -> Self {
        Self::Report(error.into())
    }
}
