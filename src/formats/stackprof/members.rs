//! Members of objects, each of which may be there once, and the counts in them.

use std::fmt::Display;

use crate::base::error::{ImportError, Position};
use crate::formats::common::json::Reader;
use crate::text::escape;

/// Counts up to here are exact in a REAL.
const MOST: u64 = 1 << 53;

/// Which of the known members an object has had so far.
pub(super) struct Once {
    known: &'static [&'static str],
    had: Vec<&'static str>,
}

impl Once {
    pub(super) fn of(known: &'static [&'static str]) -> Self {
        let had = Vec::with_capacity(known.len());
        Self { known, had }
    }

    /// The known name of a member; empty if it is not known.
    ///
    /// # Errors
    /// A known member that has been there before.
    pub(super) fn member(
        &mut self,
        name: &[u8],
        at: Position,
    ) -> Result<&'static str, ImportError> {
        let Some(known) = self.known.iter().find(|known| known.as_bytes() == name) else {
            return Ok("");
        };
        if self.had.contains(known) {
            let expected = format!("one member `{}`", escape::text(name));
            return Err(ImportError::malformed(at, expected, "a second one"));
        }
        self.had.push(known);
        Ok(known)
    }
}

/// A count that a REAL can hold.
pub(super) fn count_of(json: &mut Reader<'_, '_>, what: impl Display) -> Result<u64, ImportError> {
    let at = json.place()?;
    // As text: a REAL would take `1.5e3` and round what is large (cases
    // `stackprof/count-no-integer`, `stackprof/count-too-large`).
    let number = json.decimal(&what.to_string())?.0;
    let digits = number.bytes().all(|byte| byte.is_ascii_digit());
    let count = number.parse().ok().filter(|count| digits && *count <= MOST);
    count.ok_or_else(|| {
        let expected = format!("{what}, from 0 to {MOST}");
        ImportError::malformed(at, expected, number)
    })
}
