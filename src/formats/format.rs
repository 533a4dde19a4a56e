//! What a format is: the vocabulary that every reader shares.

use std::io::{self, ErrorKind};

use super::figure_detector::FigureDetector;
use super::options::{KEEP_BEFORE_ERROR, OptionDef, Options};
use super::salvage::Salvage;
use crate::base::error::{ImportError, Position};
use crate::events::{Note, Severity, Sink};
use crate::input::{EarlyEnd, Input};

/// Maximum number of ends that are tried for a damaged file. Each try reads the file once.
const MOST_ENDS: usize = 16;

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
    /// The places where a damaged file of this format can end. Every format has the option
    /// `--keep-before-error`.
    pub salvage: Salvage,
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
    /// Runs the importer, if it has all the options that are given. With `--keep-before-error`, a
    /// damaged file ends where its sound part does.
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
                "the format {} does not have the option --{name}",
                self.name
            )));
        }
        if options.flag(KEEP_BEFORE_ERROR) {
            return self.read_sound_part(input, options, sink);
        }
        let read = (self.import)(input, options, sink);
        read.map_err(|error| self.name_option(error, input, options))
    }

    /// Reads a damaged file up to the last byte before which the importer finds no error.
    fn read_sound_part(
        &self,
        input: &mut Input<'_>,
        options: &Options,
        sink: &mut dyn Sink,
    ) -> Result<(), ImportError> {
        if self.salvage == Salvage::Importer {
            return (self.import)(input, options, sink);
        }
        input.keep();
        let mut fault: Option<ImportError> = None;
        let mut reason = None;
        let mut length = 0;
        let mut end: Option<EarlyEnd> = None;
        for _ in 0..MOST_ENDS {
            // Nothing reaches the sink before it is known where the sound part ends.
            let mut detector = FigureDetector::default();
            let error = match (self.import)(input, options, &mut detector) {
                Ok(()) if fault.is_some() && !detector.has_figures() => break,
                Ok(()) => {
                    input.restart_until(end.clone())?;
                    (self.import)(input, options, sink)?;
                    if let (Some(fault), Some(end)) = (fault, end) {
                        note_fault(&fault, end.byte, length, sink);
                    }
                    return Ok(());
                }
                Err(error) => error,
            };
            let Some(position) = fault_position(&error) else {
                return Err(error);
            };
            let record = input.record_start().byte;
            if fault.is_none() {
                input.drain()?;
                length = input.position().byte;
                fault = Some(error);
            } else {
                reason = Some(error);
            }
            let limit = match (self.salvage, &end) {
                (Salvage::Records { .. }, _) => position.byte.min(record),
                (_, Some(end)) => position.byte.min(end.byte - 1),
                (_, None) => position.byte,
            };
            if end.is_some_and(|end| end.byte <= limit) {
                break;
            }
            input.restart_until(None)?;
            end = self.salvage.find_end(input, limit)?;
            let Some(sound) = end.clone() else {
                break;
            };
            input.restart_until(Some(sound))?;
        }
        Err(fault.map_or(ImportError::Stopped, |fault| {
            let reason = reason.map_or_else(String::new, |error| format!(": {error}"));
            append(
                fault,
                &format!(" (there is nothing to import before it{reason})"),
            )
        }))
    }

    /// Adds to an error that an option reads the sound part of the file, if there is one. A pipe
    /// that cannot be read again counts as having one.
    fn name_option(
        &self,
        error: ImportError,
        input: &mut Input<'_>,
        options: &Options,
    ) -> ImportError {
        let Some(position) = fault_position(&error) else {
            return error;
        };
        let mut keep = options.clone();
        keep.set(KEEP_BEFORE_ERROR, "");
        let mut detector = FigureDetector::default();
        let has_sound_part = if input.restart_until(None).is_ok() {
            let read = self.read_sound_part(input, &keep, &mut detector);
            read.is_ok() && detector.has_figures()
        } else {
            position.byte > 0
        };
        if has_sound_part {
            append(error, " (`--keep-before-error` imports the part before it)")
        } else {
            error
        }
    }
}

/// Returns the position of an error that `--keep-before-error` can help with.
pub(in crate::formats) fn fault_position(error: &ImportError) -> Option<Position> {
    match error {
        ImportError::Malformed { position, .. } => Some(*position),
        ImportError::Read { position, source } => is_damage(source).then_some(*position),
        _ => None,
    }
}

/// Returns the message of an error without its position.
pub(in crate::formats) fn fault_cause(error: &ImportError) -> String {
    match error {
        ImportError::Malformed {
            expected, found, ..
        } => format!("expected {expected}, found {found}"),
        ImportError::Read { source, .. } => source.to_string(),
        other => other.to_string(),
    }
}

/// Adds a text to the message of an error.
pub(in crate::formats) fn append(mut error: ImportError, text: &str) -> ImportError {
    match &mut error {
        ImportError::Malformed { found, .. } => found.push_str(text),
        ImportError::Read { source, .. } => {
            *source = io::Error::new(source.kind(), format!("{source}{text}"));
        }
        _ => {}
    }
    error
}

/// Returns true for damaged compression, of which the part before the damage is sound. A disk that
/// fails has other kinds of errors.
fn is_damage(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::UnexpectedEof | ErrorKind::InvalidData | ErrorKind::InvalidInput
    )
}

/// Adds a note that a file was read up to an earlier end.
fn note_fault(fault: &ImportError, end: u64, length: u64, sink: &mut dyn Sink) {
    let left_out = length.saturating_sub(end);
    let parts = format!("imported the {end} bytes before it, skipped {left_out} bytes");
    note_damage(fault, &parts, sink);
}

/// Adds a note with the cause of damage and the parts of the file that are read and left out.
pub(in crate::formats) fn note_damage(fault: &ImportError, parts: &str, sink: &mut dyn Sink) {
    let Some(position) = fault_position(fault) else {
        return;
    };
    let message = format!("{}: {parts}", fault_cause(fault));
    sink.note(Note {
        severity: Severity::Warning,
        position: Some(position),
        message: &message,
    });
}
/// Confidence of a format in recognizing a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// It is not.
    No,
    /// The first record is plausible.
    Maybe,
    /// A magic number or a root element says so.
    Yes,
}
