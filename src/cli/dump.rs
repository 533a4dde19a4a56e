//! `profdb dump FILE`

use std::path::PathBuf;

use clap::Args;

use super::args::input_format;
use super::failure::Failure;
use super::options::FormatOptions;
use super::pager::{Lines, PagerArgs};
use super::source::{Given, failed, format, open};
use crate::base::error::{ImportError, Position, Stop};
use crate::events::recorder::Recorder;
use crate::formats::Format;
use crate::text::plain::plain_line;

#[derive(Debug, Args)]
pub(super) struct Dump {
    /// File to read; - reads standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Format of the file, instead of detecting it
    #[arg(long, value_name = "FORMAT", value_parser = input_format)]
    from: Option<&'static Format>,
    #[command(flatten)]
    options: FormatOptions,
    #[command(flatten)]
    pager: PagerArgs,
}

/// Shows one line per event, with the place where the record starts that it comes from, up to the
/// error if there is one.
pub(super) fn run(dump: &Dump, stop: &Stop) -> Result<(), Failure> {
    let name = dump.file.display().to_string();
    // A reader that closes the pipe stops the import, and the program then reports it.
    let given_up = stop.child();
    let mut input = open(&dump.file, &given_up).map_err(|error| failed(&name, error))?;
    let format = format(&input, dump.from, Given::Named).map_err(|error| failed(&name, error))?;
    let mut read = Ok(());
    dump.pager.target(Lines::Wrapped).write(stop, |out| {
        let mut unwritten = None;
        let tell = |position: Position, event: String| {
            if unwritten.is_none()
                && let Err(error) = writeln!(out, "{}: {}", position, plain_line(&event))
            {
                unwritten = Some(error);
                given_up.set();
            }
        };
        read = format.read(&mut input, &dump.options.0, &mut Recorder::new(tell));
        unwritten.map_or(Ok(()), |error| Err(error.into()))
    })?;
    read.map_err(|error| match error {
        ImportError::Stopped => Failure::Interrupted,
        error => failed(&name, error.into()),
    })
}
