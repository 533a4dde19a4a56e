//! `profdb dump FILE`

use std::io::Write;
use std::path::PathBuf;

use clap::Args;

use super::args::input_format;
use super::failure::{Failure, output};
use super::options::FormatOptions;
use super::screen::screen;
use super::source::{failed, format, open};
use crate::base::error::{ImportError, Position, Stop};
use crate::events::recorder::Recorder;
use crate::formats::Format;
use crate::text::plain::plain;

#[derive(Debug, Args)]
pub(super) struct Dump {
    /// The file; - is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Format of the file, whatever its first bytes look like
    #[arg(long, value_name = "FORMAT", value_parser = input_format)]
    from: Option<&'static Format>,
    #[command(flatten)]
    options: FormatOptions,
}

/// Shows one line per event, with the place where the record starts that it comes from, up to the
/// error if there is one.
pub(super) fn run(dump: &Dump, stop: &Stop) -> Result<(), Failure> {
    let name = dump.file.display().to_string();
    // A reader that closes the pipe stops the import, and the program then reports it.
    let stop = &stop.child();
    let mut input = open(&dump.file, stop).map_err(|error| failed(&name, error))?;
    let format = format(&input, dump.from).map_err(|error| failed(&name, error))?;
    let mut out = screen();
    let mut unwritten = None;
    let tell = |position: Position, event: String| {
        if unwritten.is_none()
            && let Err(error) = writeln!(out, "{}: {}", position, plain(&event))
        {
            unwritten = Some(error);
            stop.set();
        }
    };
    let read = format.read(&mut input, &dump.options.0, &mut Recorder::new(tell));
    let written = unwritten.map_or_else(|| out.flush(), Err);
    written.map_err(output)?;
    read.map_err(|error| match error {
        ImportError::Stopped => Failure::Interrupted,
        error => failed(&name, error.into()),
    })
}
