//! `profdb convert FILE --to FORMAT`

use std::path::PathBuf;

use clap::Args;

use super::args::{export_format, input_format};
use super::database::find_run;
use super::export::WrittenArgs;
use super::failure::Failure;
use super::options::FormatOptions;
use super::source::in_memory;
use crate::base::error::Stop;
use crate::formats::Format;
use crate::formats::export::Export;

#[derive(Debug, Args)]
pub(super) struct Convert {
    /// The profile; - is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Format of FILE, whatever its first bytes look like
    #[arg(long, value_name = "FORMAT", value_parser = input_format)]
    from: Option<&'static Format>,
    /// Format of the output; docs/export.md explains them
    #[arg(long, value_name = "FORMAT", value_parser = export_format())]
    to: &'static Export,
    #[command(flatten)]
    written: WrittenArgs,
    #[command(flatten)]
    options: FormatOptions,
}

pub(super) fn run(convert: &Convert, stop: &Stop) -> Result<(), Failure> {
    // The targets are looked at before the file is read, which may take long.
    let targets = convert.written.targets()?;
    let (mut written, mut options) = (convert.written.clone(), convert.options.0.clone());
    written.divide(convert.to, &mut options);
    let mut source = in_memory(&convert.file, convert.from, &options, stop)?;
    let run = find_run(&source, None, stop)?;
    written.write(convert.to, &mut source, &run, &targets, stop)
}
