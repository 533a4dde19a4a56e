//! Why a dataset could not be written or read.

use std::io;

use crate::store::{FillError, StoreError};

/// Why a dataset could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum DatasetError {
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file of the dataset cannot be read or written.
    #[error(transparent)]
    File(#[from] io::Error),
    /// A file is not what a dataset has; the text says what was expected.
    #[error("{0}")]
    Content(String),
}

impl From<FillError> for DatasetError {
    fn from(error: FillError) -> Self {
        match error {
            FillError::Row(what) => Self::Content(what),
            FillError::Store(error) => Self::Store(error),
        }
    }
}
