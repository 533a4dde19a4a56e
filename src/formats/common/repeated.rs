//! The limit of names that a file holds once and uses often.

use crate::base::error::{ImportError, Position};

/// Bytes of names for each byte of the file: a few bytes can refer to a text of any
/// length. Profiles stay below 10.
const RATIO: u64 = 64;

/// Bytes of names below which [`RATIO`] does not matter.
const FLOOR: u64 = 1 << 20;

/// Counts the bytes of names of functions.
#[derive(Debug, Default)]
pub(in crate::formats) struct Repeated(u64);

impl Repeated {
    /// Adds the names of a function that is met so far into the file.
    pub(in crate::formats) fn add(
        &mut self,
        names: &[&str],
        at: Position,
    ) -> Result<(), ImportError> {
        self.0 += names.iter().map(|name| name.len() as u64).sum::<u64>();
        // Measured against what has been read so far: the size of a pipe is unknown.
        if self.0 <= FLOOR.max(RATIO.saturating_mul(at.byte)) {
            return Ok(());
        }
        let limit =
            format!("{RATIO} bytes of names for each byte of the file (limit: repeated names)");
        Err(ImportError::Limit {
            position: at,
            limit,
        })
    }
}
