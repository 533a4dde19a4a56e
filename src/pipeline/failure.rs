//! Why an import comes to nothing.

use std::io;

use crate::base::error::ImportError;
use crate::store::StoreError;

/// Why an import came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The file.
    #[error(transparent)]
    Input(ImportError),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The system gives no thread.
    #[error("cannot start a thread for the import: {0}")]
    Thread(io::Error),
    /// The import was asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl From<ImportError> for Failure {
    fn from(error: ImportError) -> Self {
        match error {
            ImportError::Stopped => Self::Interrupted,
            error => Self::Input(error),
        }
    }
}
