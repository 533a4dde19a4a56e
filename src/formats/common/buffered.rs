//! What of an input can be looked at before it is read.

use std::io::BufRead;

use crate::base::error::ImportError;
use crate::input::Input;

/// What can be had of the input at once; nothing at its end.
pub(in crate::formats) fn available<'i>(input: &'i mut Input<'_>) -> Result<&'i [u8], ImportError> {
    // The buffer is asked for twice: a borrow that is returned would last through the branch of the
    // error, which needs the input as well.
    if input.fill_buf().is_err() {
        return Err(input.failure().unwrap_or(ImportError::Stopped));
    }
    // It is there already, so that this cannot fail.
    Ok(input.fill_buf().unwrap_or_default())
}
