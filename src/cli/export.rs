//! `profdb export --format FORMAT [RUN]`

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::options::ExportOptions;
use super::output::{Target, Unwritten};
use super::source::{find_run, open_to_read};
use super::{DatabaseArgs, Failure, asked, say};
use crate::error::Stop;
use crate::export::{self, EXPORTS, ExportError, Loss, Request};
use crate::options::Options;
use crate::store::{Database, RunInfo};

#[derive(Debug, Args)]
pub(super) struct Export {
    /// Number, title or tag of the run [default: the latest]
    #[arg(value_name = "RUN")]
    run: Option<String>,
    #[command(flatten)]
    database: DatabaseArgs,
    /// Format of the output; docs/export.md explains them
    #[arg(long, value_name = "FORMAT", value_parser = export_format())]
    format: &'static export::Export,
    #[command(flatten)]
    written: WrittenArgs,
}

/// What is written, and where.
#[derive(Clone, Debug, Args)]
pub(super) struct WrittenArgs {
    /// Write to a file instead of the screen, completely or not at all
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// What was measured: time, ticks, samples, alloc [default: what the run's reports show; in formats that hold several: all]
    #[arg(long, value_name = "NAME")]
    metric: Option<String>,
    /// Layout of the output, for formats that have several; docs/export.md explains them
    #[arg(long, value_name = "NAME")]
    layout: Option<String>,
    /// Write what the format cannot hold, which is told on standard error, to a file as JSON, too
    #[arg(long, value_name = "FILE")]
    loss_report: Option<PathBuf>,
    #[command(flatten)]
    options: ExportOptions,
}

/// Reads the name of a format.
pub(super) fn export_format() -> impl TypedValueParser<Value = &'static export::Export> {
    let values = EXPORTS.iter().map(|export| PossibleValue::new(export.name).help(export.summary));
    PossibleValuesParser::new(values)
        .map(|name| export::by_name(&name).expect("clap takes the names of the formats only"))
}

pub(super) fn run(export: &Export, stop: &Stop) -> Result<(), Failure> {
    let targets = export.written.targets()?;
    let source = open_to_read(&export.database, stop)?;
    let run = find_run(&source, export.run.as_deref(), stop)?;
    export.written.write(export.format, &source, &run, &targets, stop)
}

impl WrittenArgs {
    /// Where the output and the loss report go.
    ///
    /// # Errors
    /// When there can be no such files; before anything is done.
    pub(super) fn targets(&self) -> Result<[Target; 2], Failure> {
        let report = Target::named("--loss-report", self.loss_report.as_deref())?;
        Ok([Target::named("--output", self.output.as_deref())?, report])
    }

    /// Leaves an option that files to read and files to write may have to one of them: to the output, if its format has it.
    pub(super) fn divide(&mut self, format: &export::Export, of_input: &mut Options) {
        for option in EXPORTS.iter().flat_map(|export| export.options) {
            if format.options.contains(option) {
                of_input.take(option.name);
            } else if of_input.value(option.name).is_some() {
                self.options.0.take(option.name);
            }
        }
    }

    /// Writes the run, and says what got lost.
    pub(super) fn write(
        &self,
        format: &'static export::Export,
        source: &Database,
        run: &RunInfo,
        [target, report]: &[Target; 2],
        stop: &Stop,
    ) -> Result<(), Failure> {
        let request =
            Request { metric: self.metric.clone(), layout: self.layout.clone(), options: self.options.0.clone() };
        let mut losses = None;
        target.write(|out| {
            let written = format.write(source, run, &request, out);
            losses = Some(written.map_err(|error| match error {
                ExportError::Output(error) => Unwritten::Output(error),
                ExportError::Report(error) => Unwritten::Failed(asked(error, stop)),
            })?);
            Ok(())
        })?;
        let Some(losses) = losses else { return Ok(()) };
        for (Loss { what, of, .. }, count) in losses.each() {
            say(format!("{} cannot hold {what} ({of}: {count})", format.name));
        }
        match report {
            Target::Screen => Ok(()),
            Target::File(_) => report.write(|out| Ok(out.write_all(losses.to_json().as_bytes())?)),
        }
    }
}
