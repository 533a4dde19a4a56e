//! What a format is: the vocabulary that every reader shares.

use super::options::{OptionDef, Options};
use crate::base::error::ImportError;
use crate::events::Sink;
use crate::input::Input;

/// A file format that can be imported.
#[derive(Debug)]
pub struct Format {
    /// Its name in the database and on the command line, and that of its file and case folder.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Raised when a file gives other rows than before, so that it may be imported once
    /// more.
    pub revision: u32,
    /// Looks at the first bytes (at most [`crate::input::HEAD`], decompressed, without a byte order
    /// mark).
    pub sniff: fn(head: &[u8]) -> Confidence,
    /// True if tools of this format write a file without functions when nothing was measured. Such a
    /// file is stored with a warning; files of other formats are refused.
    pub has_empty_recordings: bool,
    /// What the user may say about a file that the file does not say itself.
    pub options: &'static [OptionDef],
    /// Reads the input to its end and says what it holds.
    pub import: fn(
        input: &mut Input<'_>,
        options: &Options,
        sink: &mut dyn Sink,
    ) -> Result<(), ImportError>,
}

impl Format {
    /// Runs the importer, if it has all the options that are given.
    ///
    /// # Errors
    /// The importer's, and an option that the format does not have.
    pub fn read(
        &self,
        input: &mut Input<'_>,
        options: &Options,
        sink: &mut dyn Sink,
    ) -> Result<(), ImportError> {
        // An option that is passed over in silence would seem to have had an effect.
        let foreign = options.foreign(self.options);
        if let Some(name) = foreign {
            return Err(ImportError::Refused(format!(
                "--{name} is no option of the format {}",
                self.name
            )));
        }
        (self.import)(input, options, sink)
    }
}

/// How sure a format is that a file is one of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// It is not.
    No,
    /// The first record is plausible.
    Maybe,
    /// A magic number or a root element says so.
    Yes,
}
