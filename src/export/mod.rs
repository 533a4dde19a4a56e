//! The formats in which a run can leave: one file each, one line each in [`EXPORTS`].
//!
//! A writer sees a [`Profile`] and somewhere to write to: no SQL, no files, no screen. Nodes come to it one by one, so
//! that memory grows with functions and depth, not with the run. What its format cannot hold it counts in [`Losses`].

mod common;
pub mod folded;
pub mod lispworks_tree;
pub mod sampler;

use std::io::{self, Write};

use crate::report::{self, ReportError};
use crate::store::{Database, FunctionRow, MetricInfo, RunInfo, StoreError};

/// All formats, in the order in which they are listed.
pub const EXPORTS: &[&Export] = &[&folded::EXPORT, &lispworks_tree::EXPORT, &sampler::EXPORT];

/// A file format that runs can be written in. All of them hold a tree of calls.
#[derive(Debug)]
pub struct Export {
    /// Its name on the command line, and that of its file. Where it is an input format as well, the same name.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// The layouts that it has, the usual one first; none where there is one only.
    pub layouts: &'static [Layout],
    /// Everything that it cannot hold.
    pub losses: &'static [Loss],
    /// Writes a run.
    write: fn(&Profile<'_>, &mut Losses, &mut dyn Write) -> Result<(), ExportError>,
}

/// One of several ways to write a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Its name on the command line.
    pub name: &'static str,
    /// What is particular about it.
    pub about: &'static str,
}

/// What is asked of a writer.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The metric; the run's default one if `None`.
    pub metric: Option<String>,
    /// The layout; the format's usual one if `None`.
    pub layout: Option<String>,
}

/// Something that a format cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Its name in the loss report.
    pub name: &'static str,
    /// What gets lost.
    pub what: &'static str,
    /// What is counted.
    pub of: &'static str,
}

/// Why a run was not written, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// There is nothing to write, or the database failed.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// The output is closed or full.
    #[error(transparent)]
    Output(#[from] io::Error),
}

impl From<StoreError> for ExportError {
    fn from(error: StoreError) -> Self {
        Self::Report(error.into())
    }
}

/// Finds a format by its name.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static Export> {
    EXPORTS.iter().find(|export| export.name == name).copied()
}

impl Export {
    /// Writes a run with its costs in one metric; says what got lost.
    ///
    /// # Errors
    /// When the run does not know paths or has no such metric, or the format no such layout; when the database fails, or the
    /// output.
    pub fn write(
        &'static self,
        database: &Database,
        run: &RunInfo,
        request: &Request,
        out: &mut dyn Write,
    ) -> Result<Losses, ExportError> {
        let layout = self.layout(request.layout.as_deref())?;
        if run.fidelity != "tree" {
            let known = if run.fidelity == "flat" { "totals only" } else { "who called whom, but no paths" };
            return Err(ReportError::NothingSelected(format!(
                "{} holds paths, and run {} knows {known}: `profdb report data --format csv` writes what there is",
                self.name, run.run_id
            ))
            .into());
        }
        let profile = Profile { layout, ..Profile::open(database, run, request.metric.as_deref())? };
        let mut losses = Losses::new(self);
        (self.write)(&profile, &mut losses, out)?;
        Ok(losses)
    }

    /// The layout of this name; the usual one without a name, if there are several.
    fn layout(&self, name: Option<&str>) -> Result<Option<Layout>, ReportError> {
        let Some(name) = name else { return Ok(self.layouts.first().copied()) };
        let found = self.layouts.iter().find(|layout| layout.name == name).copied();
        found.map(Some).ok_or_else(|| {
            let names: Vec<_> = self.layouts.iter().map(|layout| layout.name).collect();
            let known = if names.is_empty() {
                "one layout only".to_owned()
            } else {
                format!("the layouts {}", names.join(", "))
            };
            ReportError::Usage(format!("{} has {known}, not {name}", self.name))
        })
    }
}

/// What got lost when a run was written.
#[derive(Debug)]
pub struct Losses {
    export: &'static Export,
    counts: Vec<u64>,
}

impl Losses {
    fn new(export: &'static Export) -> Self {
        Self { export, counts: vec![0; export.losses.len()] }
    }

    /// Counts something that was lost.
    fn add(&mut self, loss: Loss, count: u64) {
        let at = self.export.losses.iter().position(|known| *known == loss);
        self.counts[at.expect("a writer declares what it cannot hold")] += count;
    }

    /// What was lost, and how much of it, in the order in which the format declares it.
    pub fn each(&self) -> impl Iterator<Item = (Loss, u64)> {
        let all = self.export.losses.iter().copied().zip(self.counts.iter().copied());
        all.filter(|(_, count)| *count > 0)
    }

    /// The same as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        let lost = self.each().map(|(Loss { name, what, of }, count)| {
            serde_json::json!({"name": name, "what": what, "of": of, "count": count})
        });
        let report = serde_json::json!({"format": self.export.name, "lost": lost.collect::<Vec<_>>()});
        format!("{report:#}\n")
    }
}

/// A run as writers see it.
struct Profile<'d> {
    database: &'d Database,
    run: RunInfo,
    metric: MetricInfo,
    /// The layout that is asked for, of a format that has several.
    layout: Option<Layout>,
    /// In the order of their numbers.
    functions: Vec<FunctionRow>,
    /// Metrics that are not asked for.
    other_metrics: u64,
    /// What the file said of the run as a whole, besides its title.
    facts: u64,
    /// Calls that are known to exist, without cost of their own.
    back_edges: u64,
}

/// A place in the tree of calls, with its cost in the metric.
#[derive(Clone, Copy, Debug)]
struct Call {
    /// How many others are above.
    depth: usize,
    /// Its place in [`Profile::functions`].
    function: usize,
    calls: Option<u64>,
    exclusive: f64,
    cumulative: f64,
}

impl<'d> Profile<'d> {
    fn open(database: &'d Database, run: &RunInfo, metric: Option<&str>) -> Result<Self, ExportError> {
        let metrics = database.metrics(run.run_id)?;
        let metric = report::choose_metric(&metrics, run, metric)?;
        let state = database.state(run.run_id)?;
        let told = |column: &&(String, Option<String>)| {
            ["tool_version", "command", "recorded_at", "timer_bias"].contains(&column.0.as_str()) && column.1.is_some()
        };
        let facts = state.columns.iter().filter(told).count() + state.properties.len();
        let functions = database.functions(run.run_id, metric.metric_id)?;
        let back_edges = database.back_edges(run.run_id)?;
        let other_metrics = metrics.len() as u64 - 1;
        let run = run.clone();
        Ok(Self { database, run, metric, layout: None, functions, other_metrics, facts: facts as u64, back_edges })
    }

    /// Calls a function for every place in the tree, callers first. Lines are passed over and counted: what they cost is in
    /// their function's cost, and what they called counts as called by it.
    fn each_call(
        &self,
        losses: &mut Losses,
        mut each: impl FnMut(Call, &mut Losses) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        // For each open node, how many of those above it and itself are no lines.
        let mut levels: Vec<usize> = Vec::new();
        self.database.each_node(self.run.run_id, self.metric.metric_id, |node| {
            levels.truncate(node.depth);
            let above = levels.last().copied().unwrap_or(0);
            if node.is_line {
                levels.push(above);
                losses.add(common::LINES, 1);
                return Ok(());
            }
            levels.push(above + 1);
            let function = self.functions.binary_search_by_key(&node.function_id, |known| known.function_id);
            let function = function.expect("every function of a run has figures in its default metric");
            let cumulative = node.cumulative.unwrap_or(node.exclusive);
            let call = Call { depth: above, function, calls: node.calls, exclusive: node.exclusive, cumulative };
            each(call, losses)
        })
    }
}
