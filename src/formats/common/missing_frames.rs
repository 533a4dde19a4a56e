//! References to frames that are not in the file. One of them costs its frame and not the file.

use crate::base::error::{ImportError, Position};
use crate::events::{FunctionDef, FunctionId, Kind, Severity, Sink};
use crate::formats::common::counted::{Counted, many};

/// The name of the function that takes the place of a frame that is not in the file.
pub(in crate::formats) const MISSING_FRAME: &str = "[missing frame]";

/// The references of a file to frames, nodes or locations that are not in it.
#[derive(Default)]
pub(in crate::formats) struct MissingFrames {
    references: Counted,
    function: Option<FunctionId>,
}

impl MissingFrames {
    /// Counts a reference and returns the function that takes the place of the frame.
    pub(in crate::formats) fn function(
        &mut self,
        at: Position,
        id: &impl ToString,
        sink: &mut dyn Sink,
    ) -> FunctionId {
        self.references.add_with(at, || id.to_string());
        *self.function.get_or_insert_with(|| {
            sink.function(FunctionDef {
                kind: Kind::Pseudo,
                ..FunctionDef::named(MISSING_FRAME)
            })
        })
    }

    /// Returns the function that takes the place of frames, if any is missing.
    pub(in crate::formats) fn known(&self) -> Option<FunctionId> {
        self.function
    }

    /// Adds a note with the number of references.
    ///
    /// # Errors
    /// When most of all references of the file lead nowhere: its table of frames is missing.
    pub(in crate::formats) fn note(
        &self,
        all: u64,
        sink: &mut dyn Sink,
    ) -> Result<(), ImportError> {
        let count = self.references.count();
        if let Some(first) = self
            .references
            .first()
            .filter(|_| count > 1 && count > all / 2)
        {
            return Err(ImportError::malformed(
                first,
                "references to frames that are in the file",
                format!("{count} of {all} that are not in it"),
            ));
        }
        self.references
            .note_with(sink, Severity::Warning, |count, first| {
                format!(
                    "{} to frames that are not in the file (first: {first}): shown as `{MISSING_FRAME}`",
                    many(count, "reference")
                )
            });
        Ok(())
    }
}
