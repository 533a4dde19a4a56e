//! `profdb convert FILE --to FORMAT`

use clap::{Args, ValueHint};

use super::args::{export_format, input_format, run_set};
use super::database::DatabaseArgs;
use super::export::WrittenArgs;
use super::failure::Failure;
use super::inputs::Inputs;
use super::options::FormatOptions;
use super::outfile_name::unknown;
use super::source::{CombineArgs, file, is_no_folder, open_run};
use crate::base::error::Stop;
use crate::formats::Format;
use crate::formats::export::Export;
use crate::store::RunSet;

#[derive(Debug, Args)]
pub(super) struct Convert {
    /// Profile, - for standard input, or a run
    #[arg(id = "converted", value_name = "FILE|SET", value_parser = run_set(), value_hint = ValueHint::FilePath)]
    asked: RunSet,
    #[command(flatten)]
    database: DatabaseArgs,
    /// Format of FILE, instead of detecting it
    #[arg(long, value_name = "FORMAT", value_parser = input_format)]
    from: Option<&'static Format>,
    /// Format of the output [default: by the name of --output]
    ///
    /// docs/export.md describes the formats. Extensions are .svg (a flame graph), .folded, .pb.gz
    /// and others.
    #[arg(long, value_name = "FORMAT", value_parser = export_format())]
    to: Option<&'static Export>,
    #[command(flatten)]
    combined: CombineArgs,
    #[command(flatten)]
    written: WrittenArgs,
    #[command(flatten)]
    options: FormatOptions,
}

pub(super) fn run(convert: &Convert, stop: &Stop) -> Result<(), Failure> {
    // A run may have the name of a folder, but what is converted by name is a file.
    is_no_folder(&convert.asked)?;
    let named = convert.written.format();
    let Some(to) = convert.to.or(named) else {
        return Err(unknown("--to", convert.written.output()));
    };
    let (mut written, mut options) = (convert.written.clone(), convert.options.0.clone());
    written.divide(to, &mut options);
    let set = match &convert.asked {
        RunSet::Word(name) => RunSet::File(name.into()),
        set => set.clone(),
    };
    // The targets are looked at before the file is read, which may take long.
    let inputs = Inputs::of(&convert.database).with_files(file(&set), convert.from);
    let targets = convert.written.targets(&inputs)?;
    let several = convert.combined.several();
    let (mut source, run) = open_run(
        &set,
        &convert.database,
        convert.from,
        &options,
        several,
        stop,
    )?;
    written.write(to, &mut source, &run, &targets, stop)
}
