//! Why there is no page.

use std::io;

use crate::report::ReportError;
use crate::store::StoreError;

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// The output is closed or full.
    #[error(transparent)]
    Output(#[from] io::Error),
    /// A report or the database failed.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// What has to be there does not fit into the size that the page may have.
    #[error("{0}")]
    TooLarge(String),
}

impl From<StoreError> for PageError {
    fn from(error: StoreError) -> Self {
        Self::Report(error.into())
    }
}
