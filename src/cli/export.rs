//! `profdb export --format FORMAT [SET]`

use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::{self, Builder, ScopedJoinHandle};
use std::time::Duration;

use clap::{Args, ValueHint};

use super::args::{Exported, exported, run_set};
use super::database::DatabaseArgs;
#[cfg(feature = "parquet")]
use super::database::open_to_read;
#[cfg(feature = "parquet")]
use super::failure::unchosen;
use super::failure::{Failure, complain, say, unanswered};
use super::heard;
use super::inputs::Inputs;
use super::options::{DifferenceOptions, ExportOptions};
use super::outfile_name::{Packed, format_of, packed, unknown};
use super::output::{Target, Unwritten};
use super::progress::Progress;
#[cfg(feature = "parquet")]
use super::sides::is_stored;
use super::sides::{ComparedArgs, file_of, not_compared, open_two};
use super::source::{CombineArgs, file, open_run};
use crate::base::error::Stop;
use crate::base::threads;
use crate::compare::judge::Verdict;
use crate::compare::tree::Place;
use crate::compare::{self, Comparison, Normalize, PlaceItem};
use crate::formats::export::{
    self, Difference, DifferentFunction, DifferentPlace, ExportError, Loss, Losses, Output, Request,
};
use crate::formats::{self, EXPORTS, Options};
use crate::report::render::Unit;
use crate::store::{Database, RunInfo, RunSet};

const OUTPUT: &str = "--output";

const LOSS_REPORT: &str = "--loss-report";

#[derive(Debug, Args)]
pub(super) struct Export {
    /// Runs: latest, number, last N, KEY=VALUE, uid, title, file
    ///
    /// Runs are named by `latest`, numbers such as `1,2,3`, `last 20`, tags such as `branch=main` or
    /// `branch=main last 20`, the first 4 or more characters of a uid, a title, or a file. A dataset has all matching runs. [default: latest; all
    /// runs in a dataset]
    #[arg(value_name = "SET", value_parser = run_set(), value_hint = ValueHint::FilePath)]
    set: Option<RunSet>,
    /// Alias of SET
    #[arg(long, value_name = "SET", value_parser = run_set(), conflicts_with = "set")]
    run: Option<RunSet>,
    /// Write the merged trees of two profiles or runs
    ///
    /// Formats folded, pprof and flamegraph can hold both costs of a node.
    #[arg(long, value_names = ["BASE", "NEW"], num_args = 2, value_parser = run_set(), conflicts_with_all = ["set", "run"])]
    diff: Vec<RunSet>,
    #[command(flatten)]
    combined: CombineArgs,
    #[command(flatten)]
    database: DatabaseArgs,
    /// Format of the output [default: by the name of --output]
    ///
    /// docs/export.md describes the formats. Extensions are .svg (a flame graph), .folded, .pb.gz
    /// and others.
    #[arg(long, value_name = "FORMAT", value_parser = exported())]
    format: Option<Exported>,
    /// With --format parquet: directory of the dataset
    ///
    /// It is created if it does not exist; otherwise the runs are added.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    out: Option<PathBuf>,
    #[command(flatten)]
    written: WrittenArgs,
    #[command(flatten)]
    difference: DifferenceArgs,
}

/// How two profiles are compared that are written as one.
#[derive(Debug, Args)]
struct DifferenceArgs {
    #[command(flatten, next_help_heading = "With --diff")]
    compared: ComparedArgs,
    #[command(flatten)]
    options: DifferenceOptions,
}

/// What is written, and where.
#[derive(Clone, Debug, Args)]
pub(super) struct WrittenArgs {
    /// Write to a file; .gz and .zst compress it
    ///
    /// The file is replaced when the output is complete.
    #[arg(short, long, visible_alias = "outfile", value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
    /// Metric to write
    ///
    /// [default: the default metric of the run; all metrics in formats that hold several]
    #[arg(long, value_name = "NAME")]
    metric: Option<String>,
    /// Layout, for formats that have several
    #[arg(long, value_name = "NAME")]
    layout: Option<String>,
    /// Write what the format cannot represent, as JSON
    #[arg(long, value_name = "FILE")]
    loss_report: Option<PathBuf>,
    /// Maximum uncompressed size, such as 500MB or 8GiB
    #[arg(long, value_name = "SIZE", default_value = "4GiB", value_parser = size)]
    max_size: u64,
    #[command(flatten)]
    options: ExportOptions,
}

/// Reads a number of bytes: digits, and a unit of memory.
pub(super) fn size(text: &str) -> Result<u64, String> {
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

/// Says how large an output is, or will be.
fn tell_size(bytes: u64) {
    say(format!("the output has {bytes} bytes"));
}

pub(super) fn run(export: &Export, stop: &Stop) -> Result<(), Failure> {
    let out = export.out.as_deref();
    let named = export.written.format().map(Exported::File);
    let Some(format) = export.format.or(named) else {
        return Err(unknown("--format", export.written.output.as_deref()));
    };
    let format = match (format, out) {
        (Exported::File(format), None) => format,
        (Exported::Dataset, Some(out)) => return export.dataset(out, stop),
        (Exported::File(format), Some(_)) => {
            let fault = format!(
                "--out is the directory of a dataset; use --format parquet, or --output FILE for {}",
                format.name
            );
            return Err(complain(fault, Failure::Usage));
        }
        (Exported::Dataset, None) => {
            return Err(complain(
                "--format parquet writes a directory; name it with --out DIR",
                Failure::Usage,
            ));
        }
    };
    let set = export.set.as_ref().or(export.run.as_ref());
    let set = set.unwrap_or(&RunSet::Latest);
    let inputs = Inputs::of(&export.database)
        .with_files(file(set), None)
        .with_files(export.diff.iter().filter_map(file_of), None);
    let targets = export.written.targets(&inputs)?;
    if !export.diff.is_empty() && export.combined.runs.is_some() {
        return Err(complain(
            "--runs: --diff compares the mean of each side; omit --runs",
            Failure::Usage,
        ));
    }
    if let [base, new] = export.diff.as_slice() {
        return export.difference(format, base, new, &targets, stop);
    }
    if !export.difference.compared.are_usual() {
        return Err(complain(
            "--noise, --normalize, --paired, --root and --loose apply to comparisons; add --diff BASE NEW",
            Failure::Usage,
        ));
    }
    let (several, options) = (export.combined.several(), Options::default());
    let (mut source, run) = open_run(set, &export.database, None, &options, several, stop)?;
    let mut written = export.written.clone();
    // The format says that they are about two costs.
    written.options.0.extend(&export.difference.options.0);
    written.write(format, &mut source, &run, &targets, stop)
}

impl Export {
    /// Writes runs into a dataset.
    fn dataset(&self, out: &Path, stop: &Stop) -> Result<(), Failure> {
        if self.combined.runs.is_some() {
            return Err(complain(
                "--runs: a dataset has each run of SET, not their sum or mean; omit --runs",
                Failure::Usage,
            ));
        }
        let is_plain = self.diff.is_empty()
            && self.difference.compared.are_usual()
            && self.difference.options.0.given().next().is_none()
            && self.written.is_plain();
        if !is_plain {
            return Err(complain(
                "--format parquet writes complete runs; only --out and --db can be combined with it",
                Failure::Usage,
            ));
        }
        #[cfg(feature = "parquet")]
        {
            let set = self.set.as_ref().or(self.run.as_ref());
            let file = set.filter(|set| !is_stored(set));
            let (source, runs) = if let Some(file) = file {
                let (several, options) = (self.combined.several(), Options::default());
                let (source, run) = open_run(file, &self.database, None, &options, several, stop)?;
                (source, vec![run.run_id])
            } else {
                let source = open_to_read(&self.database, stop)?;
                let all = RunSet::Tagged {
                    tags: Vec::new(),
                    last: None,
                };
                let runs = source.choose(set.unwrap_or(&all));
                (source, runs.map_err(|error| unchosen(error, stop))?)
            };
            super::dataset::export(&source, &runs, out, stop)
        }
        #[cfg(not(feature = "parquet"))]
        {
            let _ = (out, stop);
            Err(complain(super::failure::WITHOUT_PARQUET, Failure::Usage))
        }
    }

    /// Writes the trees of two sets of runs as one.
    fn difference(
        &self,
        format: &'static export::Export,
        base: &RunSet,
        new: &RunSet,
        targets: &[Target; 2],
        stop: &Stop,
    ) -> Result<(), Failure> {
        let Some(differences) = format.difference else {
            let holding = EXPORTS.iter().filter(|export| export.difference.is_some());
            let names: Vec<&str> = holding.map(|export| export.name).collect();
            let fault = format!(
                "--diff: {} cannot hold two costs per stack; use --format {}",
                format.name,
                names.join(", ")
            );
            return Err(complain(fault, Failure::Usage));
        };
        let opened = open_two(base, new, &self.database, stop)?;
        let (base, new) = (opened.runs(0, stop)?, opened.runs(1, stop)?);
        let request = compare::Request {
            metric: self.written.metric.clone(),
            ..self.difference.compared.request()
        };
        let (comparison, places, items) = compare::compare_trees(&base, &new, &request)
            .map_err(|error| not_compared(error, stop))?;
        for warning in &comparison.warnings {
            say(warning);
        }
        let mut difference = united(&comparison, places, items, differences.takes_whole);
        let mut options = self.written.options.0.clone();
        options.extend(&self.difference.options.0);
        difference.options = options.clone();
        let is_stopped = || stop.is_set();
        self.written
            .put(format, &options, targets, stop, &mut |request, out| {
                format.write_difference(&difference, request, &is_stopped, out)
            })
    }
}

/// Two trees as writers see them. `in_whole`: in whole numbers, of which shares are parts of what base cost, as
/// `pprof -normalize` has it.
fn united(
    comparison: &Comparison,
    places: Vec<Place>,
    items: Vec<PlaceItem>,
    in_whole: bool,
) -> Difference {
    let mut metric = comparison.metric.clone();
    let mut factor = 1.0;
    let [base, new] = &comparison.sides;
    if in_whole && comparison.normalize == Normalize::Total {
        metric.clone_from(&comparison.measured[0]);
        let totals = base.runs.iter().map(|run| run.total);
        #[expect(clippy::cast_precision_loss, reason = "a number of runs")]
        let runs = base.runs.len() as f64;
        factor = totals.sum::<f64>() / runs / 100.0;
    }
    let function = |item: PlaceItem| DifferentFunction {
        names: item.names,
        kind: item.kind,
        verdict: item.verdict.map(Verdict::name),
        is_worse: match item.verdict {
            Some(Verdict::Slower | Verdict::New) => Some(true),
            Some(Verdict::Faster | Verdict::Gone) => Some(false),
            _ => None,
        },
    };
    let place = |place: Place| DifferentPlace {
        depth: place.depth,
        function: place.item,
        own: place.own.map(|cost| cost * factor),
    };
    Difference {
        sides: [base.said(), new.said()],
        metric,
        functions: items.into_iter().map(function).collect(),
        places: places.into_iter().map(place).collect(),
        is_judged: comparison.is_judged(),
        options: Options::default(),
    }
}

impl WrittenArgs {
    /// The file that is written, if one is.
    pub(super) fn output(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    /// The format that the name of the file asks for, if it does.
    pub(super) fn format(&self) -> Option<&'static export::Export> {
        self.output.as_deref().and_then(format_of)
    }

    /// Whether nothing is said.
    fn is_plain(&self) -> bool {
        self.output.is_none()
            && self.metric.is_none()
            && self.layout.is_none()
            && self.loss_report.is_none()
            && self.options.0.given().next().is_none()
    }

    /// Where the output and the loss report go.
    ///
    /// # Errors
    /// When there can be no such files, or one of them is read; before anything is done.
    pub(super) fn targets(&self, inputs: &Inputs) -> Result<[Target; 2], Failure> {
        let output = Target::named(OUTPUT, self.output.as_deref())?;
        let report = Target::named(LOSS_REPORT, self.loss_report.as_deref())?;
        if let Some(file) = &self.loss_report {
            output.is_not(OUTPUT, file, "the file of --loss-report")?;
        }
        for (flag, target) in [(OUTPUT, &output), (LOSS_REPORT, &report)] {
            target.spares(flag, inputs)?;
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
        source: &mut Database,
        run: &RunInfo,
        targets: &[Target; 2],
        stop: &Stop,
    ) -> Result<(), Failure> {
        let progress = Progress::of_walks(source);
        let options = &self.options.0;
        self.put(format, options, targets, stop, &mut |request, out| {
            format.write(source, run, request, out)
        })?;
        drop(progress);
        Ok(())
    }

    /// Lets a function write, and says what got lost.
    fn put(
        &self,
        format: &'static export::Export,
        options: &Options,
        [target, report]: &[Target; 2],
        stop: &Stop,
        write: &mut dyn FnMut(&Request, &mut dyn Write) -> Result<Losses, ExportError>,
    ) -> Result<(), Failure> {
        let request = Request {
            metric: self.metric.clone(),
            layout: self.layout.clone(),
            options: options.clone(),
            max_size: Some(self.max_size),
            output: Output::default(),
            tell: Some(tell_size),
        };
        let packed = match target {
            Target::File(file) => packed(OUTPUT, file, format, options)?,
            _ if format.is_packed() && io::stdout().is_terminal() && !heard::is_listening() => {
                let fault = format!(
                    "{} is binary and is not written to a terminal; use -o FILE",
                    format.name
                );
                return Err(complain(fault, Failure::Usage));
            }
            _ => Packed::AsItIs,
        };
        let mut losses = None;
        let mut written = |out: &mut dyn Write, output: Output| {
            let request = Request {
                output,
                ..request.clone()
            };
            let written = write(&request, out);
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
                written(&mut graph, Output::Draft)?;
                let picture = drawn(&graph, stop)?;
                packed.through(out, |out| Ok(out.write_all(&picture)?))
            })?;
        } else {
            target.write_as(stop, |out, output| {
                packed.through(out, |out| written(out, output))
            })?;
        }
        let Some(losses) = losses else { return Ok(()) };
        for (Loss { what, of, .. }, count) in losses.each() {
            say(format!(
                "not in the {} output: {what} ({of}: {count})",
                format.name
            ));
        }
        match report {
            Target::Screen | Target::Pager(_) => Ok(()),
            Target::File(_) => {
                report.write(stop, |out| Ok(out.write_all(losses.to_json().as_bytes())?))
            }
        }
    }
}

/// How long a look at whether to stop waits for the next one.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// What Graphviz draws of a graph, as SVG.
fn drawn(graph: &[u8], stop: &Stop) -> Result<Vec<u8>, Unwritten> {
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
            "cannot run the program dot: {error}; install Graphviz, or omit --svg"
        ))
    })?;
    let (input, output, errors) = (dot.stdin.take(), dot.stdout.take(), dot.stderr.take());
    let (status, answer, said) = thread::scope(|scope| {
        // It reads everything before it writes anything. If it does not, it says why.
        let _ = Builder::new()
            .spawn_scoped(scope, move || input.map(|mut input| input.write_all(graph)));
        let answer = Builder::new().spawn_scoped(scope, move || all(output));
        let said = Builder::new().spawn_scoped(scope, move || all(errors));
        let status = loop {
            match dot.try_wait() {
                Ok(None) if stop.is_set() => {
                    let _ = dot.kill();
                }
                Ok(None) => thread::park_timeout(BETWEEN_LOOKS),
                ended => break ended,
            }
        };
        let joined = |thread: io::Result<ScopedJoinHandle<'_, io::Result<Vec<u8>>>>| {
            thread.and_then(threads::joined)
        };
        (status, joined(answer), joined(said))
    });
    if stop.is_set() {
        return Err(Unwritten::Failed(Failure::Interrupted));
    }
    let status = status.map_err(|error| failed(format!("the program dot: {error}")))?;
    let (answer, said) = answer
        .and_then(|answer| Ok((answer, said?)))
        .map_err(|error| failed(format!("the program dot: {error}")))?;
    if !status.is_some_and(|status| status.success()) {
        return Err(failed(format!(
            "the program dot: {}",
            String::from_utf8_lossy(&said).trim()
        )));
    }
    Ok(answer)
}

/// All that a program writes.
fn all(output: Option<impl Read>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    output
        .map(|mut output| output.read_to_end(&mut bytes))
        .transpose()?;
    Ok(bytes)
}
