//! `profdb export --format FORMAT [RUN]`

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use clap::Args;

use super::args::export_format;
use super::database::{DatabaseArgs, find_run, open_to_read};
use super::failure::{Failure, complain, say, unanswered};
use super::options::ExportOptions;
use super::output::{Target, Unwritten};
use crate::base::error::Stop;
use crate::formats::export::{self, ExportError, Loss, Request};
use crate::formats::{self, EXPORTS, Options};
use crate::report::render::Unit;
use crate::store::{Database, RunInfo};

const OUTPUT: &str = "--output";

const LOSS_REPORT: &str = "--loss-report";

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
    /// What was measured: time, ticks, samples, alloc [default: what the run's reports show; in
    /// formats that hold several: all]
    #[arg(long, value_name = "NAME")]
    metric: Option<String>,
    /// Layout of the output, for formats that have several; docs/export.md explains them
    #[arg(long, value_name = "NAME")]
    layout: Option<String>,
    /// Write what the format cannot hold, which is told on standard error, to a file as JSON, too
    #[arg(long, value_name = "FILE")]
    loss_report: Option<PathBuf>,
    /// Bytes that the output may have, before it is compressed: 500MB, 8GiB
    #[arg(long, value_name = "SIZE", default_value = "4GiB", value_parser = size)]
    max_size: u64,
    #[command(flatten)]
    options: ExportOptions,
}

/// Reads a number of bytes: digits, and a unit of memory.
fn size(text: &str) -> Result<u64, String> {
    let digits = text
        .find(|character: char| !character.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor = if unit.is_empty() {
        Some(1)
    } else {
        Unit::by_name(unit).and_then(Unit::bytes)
    };
    let size = number
        .parse::<u64>()
        .ok()
        .zip(factor)
        .and_then(|(number, factor)| number.checked_mul(factor));
    size.ok_or_else(|| {
        "expected a number of bytes, and after it B, kB, KiB, MB, MiB, GB, GiB or nothing"
            .to_owned()
    })
}

/// Says how large an output will be.
fn tell_size(bytes: u64) {
    say(format!("the output will have {bytes} bytes"));
}

pub(super) fn run(export: &Export, stop: &Stop) -> Result<(), Failure> {
    let targets = export.written.targets()?;
    for (flag, target) in [OUTPUT, LOSS_REPORT].into_iter().zip(&targets) {
        target.is_no_database(flag, &export.database.path())?;
    }
    let source = open_to_read(&export.database, stop)?;
    let run = find_run(&source, export.run.as_deref(), stop)?;
    export
        .written
        .write(export.format, &source, &run, &targets, stop)
}

impl WrittenArgs {
    /// Where the output and the loss report go.
    ///
    /// # Errors
    /// When there can be no such files; before anything is done.
    pub(super) fn targets(&self) -> Result<[Target; 2], Failure> {
        let output = Target::named(OUTPUT, self.output.as_deref())?;
        let report = Target::named(LOSS_REPORT, self.loss_report.as_deref())?;
        if let Some(file) = &self.loss_report {
            output.is_not(OUTPUT, file, "the file of --loss-report")?;
        }
        Ok([output, report])
    }

    /// Leaves an option that files to read and files to write may have to one of them: to the
    /// output, if its format has it.
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
        let request = Request {
            metric: self.metric.clone(),
            layout: self.layout.clone(),
            options: self.options.0.clone(),
            max_size: Some(self.max_size),
            tell: Some(tell_size),
        };
        let mut losses = None;
        let mut written = |out: &mut dyn Write| {
            let written = format.write(source, run, &request, out);
            losses = Some(written.map_err(|error| match error {
                ExportError::Output(error) => Unwritten::Output(error),
                ExportError::Report(error) => Unwritten::Failed(unanswered(error, stop)),
                ExportError::TooLarge(fault) => Unwritten::Failed(complain(fault, Failure::Output)),
            })?);
            Ok(())
        };
        if request.options.flag(formats::DRAWN_SVG) {
            let mut graph = Vec::new();
            target.write(stop, |out| {
                written(&mut graph).and_then(|()| Ok(out.write_all(&drawn(&graph)?)?))
            })?;
        } else {
            target.write(stop, written)?;
        }
        let Some(losses) = losses else { return Ok(()) };
        for (Loss { what, of, .. }, count) in losses.each() {
            say(format!(
                "{} cannot hold {what} ({of}: {count})",
                format.name
            ));
        }
        match report {
            Target::Screen => Ok(()),
            Target::File(_) => {
                report.write(stop, |out| Ok(out.write_all(losses.to_json().as_bytes())?))
            }
        }
    }
}

/// What Graphviz draws of a graph, as SVG.
fn drawn(graph: &[u8]) -> Result<Vec<u8>, Unwritten> {
    let failed =
        |fault: String| Unwritten::Failed(complain(format!("--svg: {fault}"), Failure::Output));
    let mut dot = Command::new("dot");
    let dot = dot
        .arg("-Tsvg")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut dot = dot.spawn().map_err(|error| {
        failed(format!(
            "cannot run the program dot: {error}; install Graphviz, or leave --svg out and draw the file elsewhere"
        ))
    })?;
    // It reads everything before it writes anything. If it does not, it says why.
    let _ = dot.stdin.take().map(|mut input| input.write_all(graph));
    let answer = dot
        .wait_with_output()
        .map_err(|error| failed(format!("the program dot: {error}")))?;
    if !answer.status.success() {
        return Err(failed(format!(
            "the program dot: {}",
            String::from_utf8_lossy(&answer.stderr).trim()
        )));
    }
    Ok(answer.stdout)
}
