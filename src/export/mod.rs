//! The formats in which a run can leave: one file each, one line each in [`EXPORTS`].
//!
//! A writer sees a `Profile` and somewhere to write to: no SQL, no files, no screen. Nodes come to it one by one, so
//! that memory grows with functions and depth, not with the run. What its format cannot hold it counts in [`Losses`].

pub mod callgrind;
mod common;
pub mod dot;
pub mod dyalog_csv;
pub mod dyalog_xml;
pub mod firefox;
pub mod flamegraph;
pub mod folded;
pub mod ghc_px;
pub mod lispworks_tree;
pub mod pprof;
pub mod sampler;
pub mod speedscope;

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;

pub use common::bound::{LARGE_OUTPUT, MOST_BYTES};

use self::common::bound::Bound;
use crate::options::{OptionDef, Options};
use crate::report::{self, ReportError};
use crate::store::{Database, EdgeRow, FunctionRow, LineRow, MetricInfo, RunInfo, StoreError};

/// All formats, in the order in which they are listed.
pub const EXPORTS: &[&Export] = &[
    &dyalog_xml::EXPORT,
    &dyalog_csv::EXPORT,
    &ghc_px::EXPORT,
    &lispworks_tree::EXPORT,
    &sampler::EXPORT,
    &folded::EXPORT,
    &callgrind::EXPORT,
    &pprof::EXPORT,
    &dot::EXPORT,
    &flamegraph::EXPORT,
    &speedscope::EXPORT,
    &firefox::EXPORT,
];

/// A file format that runs can be written in.
#[derive(Debug)]
pub struct Export {
    /// Its name on the command line, and that of its file. Where it is an input format as well, the
    /// same name.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// What a run must know for it.
    needs: Needs,
    /// How many metrics a file of it holds.
    metrics: Metrics,
    /// The layouts that it has; none where there is one only.
    pub layouts: &'static [Layout],
    /// What the user may want of a file.
    pub options: &'static [OptionDef],
    /// How its bytes are packed.
    packing: Packing,
    /// Everything that it cannot hold.
    pub losses: &'static [Loss],
    /// Writes a run.
    write: fn(&Profile<'_>, &mut Losses, &mut dyn Write) -> Result<(), ExportError>,
}

/// What a run must know to be written in a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Needs {
    /// Totals are enough.
    Totals,
    /// Who called whom.
    Edges,
    /// Paths.
    Tree,
}

/// How the bytes of a file are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packing {
    /// Not at all.
    Plain,
    /// By gzip. What a file may have is counted before.
    Gzip,
}

/// How many metrics a format holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Metrics {
    /// The one that is asked for, or the run's default one.
    One,
    /// All of them, unless one is asked for.
    All,
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
    /// Options of the format.
    pub options: Options,
    /// Bytes that the file may have at most, before they are packed; [`MOST_BYTES`] if `None`.
    pub max_size: Option<u64>,
    /// Is told how many bytes a file will have that has more than [`LARGE_OUTPUT`], before it has.
    pub tell: Option<fn(u64)>,
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
    /// The file would be larger than it may be.
    #[error("{0}")]
    TooLarge(String),
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
    /// Writes a run; says what got lost.
    ///
    /// # Errors
    /// When the run does not know enough or has no such metric, or the format no such layout or
    /// option; when the database fails, or the output.
    pub fn write(
        &'static self,
        database: &Database,
        run: &RunInfo,
        request: &Request,
        out: &mut dyn Write,
    ) -> Result<Losses, ExportError> {
        let layout = self.layout(request.layout.as_deref())?;
        if let Some(name) = request.options.foreign(self.options) {
            return Err(ReportError::Usage(format!(
                "--{name} is no option of the format {}",
                self.name
            ))
            .into());
        }
        self.refuse(run)?;
        let profile = Profile::open(self, database, run, request)?;
        let profile = Profile { layout, ..profile };
        let mut losses = Losses::new(self);
        let bound = Bound {
            most: request.max_size.unwrap_or(MOST_BYTES),
            tell: request.tell.unwrap_or(|_| ()),
        };
        let mut again = |out: &mut dyn Write| (self.write)(&profile, &mut Losses::new(self), out);
        let write = |out: &mut dyn Write| (self.write)(&profile, &mut losses, out);
        match self.packing {
            Packing::Plain => bound.write(write, &mut again, out)?,
            Packing::Gzip => {
                let mut packed = GzEncoder::new(out, Compression::default());
                bound.write(write, &mut again, &mut packed)?;
                packed.finish()?;
            }
        }
        profile.lose_recorded(&mut losses)?;
        Ok(losses)
    }

    /// Whether runs of such a fidelity can be written.
    #[must_use]
    pub fn holds(&self, fidelity: &str) -> bool {
        match self.needs {
            Needs::Totals => true,
            Needs::Edges => fidelity != "flat",
            Needs::Tree => fidelity == "tree",
        }
    }

    /// Refuses a run that does not know enough.
    fn refuse(&self, run: &RunInfo) -> Result<(), ReportError> {
        if self.holds(&run.fidelity) {
            return Ok(());
        }
        let known = if run.fidelity == "flat" {
            "totals only"
        } else {
            "who called whom, but no paths"
        };
        let wanted = if self.needs == Needs::Edges {
            "who called whom"
        } else {
            "paths"
        };
        Err(ReportError::NothingSelected(format!(
            "{} holds {wanted}, and run {} knows {known}: `profdb report data --format csv` writes what there is",
            self.name, run.run_id
        )))
    }

    /// The layout of this name; without a name, it is left to the format.
    fn layout(&self, name: Option<&str>) -> Result<Option<Layout>, ReportError> {
        let Some(name) = name else { return Ok(None) };
        let found = self
            .layouts
            .iter()
            .find(|layout| layout.name == name)
            .copied();
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
    /// The metrics that are written, where they are not all that the profile has.
    written: Option<Vec<i64>>,
}

impl Losses {
    fn new(export: &'static Export) -> Self {
        Self {
            export,
            counts: vec![0; export.losses.len()],
            written: None,
        }
    }

    /// Counts something that was lost.
    fn add(&mut self, loss: Loss, count: u64) {
        let at = self.export.losses.iter().position(|known| *known == loss);
        self.counts[at.expect("a writer declares what it cannot hold")] += count;
    }

    /// What was lost, and how much of it, in the order in which the format declares it.
    pub fn each(&self) -> impl Iterator<Item = (Loss, u64)> {
        let all = self
            .export
            .losses
            .iter()
            .copied()
            .zip(self.counts.iter().copied());
        all.filter(|(_, count)| *count > 0)
    }

    /// The same as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        let lost = self.each().map(|(Loss { name, what, of }, count)| {
            serde_json::json!({"name": name, "what": what, "of": of, "count": count})
        });
        let report =
            serde_json::json!({"format": self.export.name, "lost": lost.collect::<Vec<_>>()});
        format!("{report:#}\n")
    }
}

/// A run as writers see it.
struct Profile<'d> {
    database: &'d Database,
    run: RunInfo,
    /// What is written, of formats that hold one metric; of others, what matters most.
    metric: MetricInfo,
    /// What is written, of formats that hold several metrics.
    metrics: Vec<MetricInfo>,
    /// The layout that is asked for, of a format that has several.
    layout: Option<Layout>,
    options: Options,
    /// In the order of their numbers, with their figures in `metric`.
    functions: Vec<FunctionRow>,
    /// Metrics that are not written.
    other_metrics: u64,
    /// What the file said of the run as a whole, besides its title: names and texts.
    told: Vec<(String, String)>,
    /// How many of these there are.
    facts: u64,
    /// Different labels that its samples have.
    labels: u64,
    /// Calls that are known to exist, without cost of their own.
    back_edges: u64,
    /// Places in the tree of calls, lines of functions among them.
    nodes: u64,
}

/// What the places of a function add up to.
#[derive(Clone)]
struct Places {
    /// By metric: own cost, and that with what was called, of those that are in no other one.
    costs: Vec<(f64, f64)>,
    calls: Option<u64>,
    /// How many of them are open.
    open: usize,
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
    /// Counts functions whose costs or number of calls are not what their places add up to: the
    /// file itself says so.
    fn lose_recorded(&self, losses: &mut Losses) -> Result<(), ExportError> {
        let of_functions = [
            common::RECORDED,
            common::FUNCTION_COSTS,
            common::FUNCTION_CALLS,
        ];
        let holds = losses
            .export
            .losses
            .iter()
            .any(|loss| of_functions.contains(loss));
        let is_open = self.run.fidelity == "tree" && holds;
        let metrics = losses
            .written
            .clone()
            .unwrap_or_else(|| match losses.export.metrics {
                Metrics::All => self.metric_ids(),
                Metrics::One => vec![self.metric.metric_id],
            });
        let mut is_recorded = false;
        for metric in self
            .database
            .metrics(self.run.run_id)?
            .iter()
            .filter(|_| is_open)
        {
            // Calls are with the default metric.
            is_recorded |= self.database.has_recorded(metric.metric_id)?;
        }
        if !is_recorded || metrics.is_empty() {
            return Ok(());
        }
        let becomes_0 = losses.export.losses.contains(&common::UNKNOWN);
        let none = Places {
            costs: vec![(0.0, 0.0); metrics.len()],
            calls: Some(0),
            open: 0,
        };
        let mut places = vec![none; self.functions.len()];
        // The functions that are open, and a line as none.
        let mut open: Vec<Option<usize>> = Vec::new();
        self.database
            .each_node_in(self.run.run_id, &metrics, |rows| {
                let node = &rows[0];
                for closed in open.drain(node.depth.min(open.len())..).flatten() {
                    places[closed].open -= 1;
                }
                let function = self.function(node.function_id)?;
                open.push(node.line.is_none().then_some(function));
                if node.line.is_none() {
                    let places = &mut places[function];
                    let calls = node.calls.or(becomes_0.then_some(0));
                    places.calls = places
                        .calls
                        .zip(calls)
                        .map(|(sum, calls)| sum.saturating_add(calls));
                    for ((own, all), row) in places.costs.iter_mut().zip(rows) {
                        *own += row.exclusive;
                        *all += row.cumulative.filter(|_| places.open == 0).unwrap_or(0.0);
                    }
                    places.open += 1;
                }
                Ok::<_, ExportError>(())
            })?;
        let mut places = places.into_iter();
        self.database
            .each_function(self.run.run_id, &metrics, |rows: &[FunctionRow]| {
                let Some(Places { costs, calls, .. }) = places.next() else {
                    return Ok(());
                };
                let is_other =
                    |given: Option<f64>, found: f64| common::differ(given.unwrap_or(found), found);
                let mut both = rows.iter().zip(&costs);
                let owns = both
                    .clone()
                    .any(|(row, (own, _))| is_other(row.exclusive, *own));
                let alls = both.any(|(row, (_, all))| is_other(row.cumulative, *all));
                let holds = rows[0].kind.is_container();
                for (loss, is_lost) in [
                    (common::RECORDED, owns),
                    (common::FUNCTION_COSTS, alls && !holds),
                    (
                        common::FUNCTION_CALLS,
                        rows[0].calls.is_some() && rows[0].calls != calls && !holds,
                    ),
                ] {
                    if is_lost && losses.export.losses.contains(&loss) {
                        losses.add(loss, 1);
                    }
                }
                Ok::<_, ExportError>(())
            })
    }

    fn open(
        export: &Export,
        database: &'d Database,
        run: &RunInfo,
        request: &Request,
    ) -> Result<Self, ExportError> {
        let all = database.metrics(run.run_id)?;
        let asked = request.metric.as_deref();
        let metric = report::choose_metric(&all, run, asked)?;
        let count = all.len();
        let metrics = match export.metrics {
            Metrics::All if asked.is_none() => all,
            Metrics::All | Metrics::One => vec![metric.clone()],
        };
        let state = database.state(run.run_id)?;
        let number = |wanted: &str| {
            let text = state
                .columns
                .iter()
                .find(|(name, _)| name == wanted)?
                .1
                .as_deref()?;
            text.parse::<u64>().ok()
        };
        let nodes = number("first_node")
            .zip(number("last_node"))
            .map_or(0, |(first, last)| last + 1 - first);
        let of_run = ["tool_version", "command", "recorded_at", "timer_bias"];
        let columns = state
            .columns
            .into_iter()
            .filter(|(name, _)| of_run.contains(&name.as_str()));
        let told: Vec<_> = columns
            .filter_map(|(name, text)| Some((name, text?)))
            .chain(state.properties)
            .collect();
        Ok(Self {
            database,
            run: run.clone(),
            functions: database.functions(run.run_id, metric.metric_id)?,
            metric,
            other_metrics: (count - metrics.len()) as u64,
            metrics,
            layout: None,
            options: request.options.clone(),
            facts: told.len() as u64,
            told,
            labels: database.labels(run.run_id)?,
            back_edges: database.back_edges(run.run_id)?,
            nodes,
        })
    }

    /// The place of a function in [`functions`](Self::functions).
    fn function(&self, function_id: i64) -> Result<usize, StoreError> {
        let found = self
            .functions
            .binary_search_by_key(&function_id, |known| known.function_id);
        found.map_err(|_| {
            self.database
                .inconsistent(format!("function {function_id} has no figures"))
        })
    }

    /// The numbers of the metrics that are written.
    fn metric_ids(&self) -> Vec<i64> {
        self.metrics.iter().map(|metric| metric.metric_id).collect()
    }

    /// Calls a function for every function of the run, in the order of
    /// [`functions`](Self::functions): a row for each metric.
    fn each_function(
        &self,
        each: impl FnMut(&[FunctionRow]) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        self.database
            .each_function(self.run.run_id, &self.metric_ids(), each)
    }

    /// Calls a function for every line of a function, by function: a row for each metric.
    fn each_line(
        &self,
        each: impl FnMut(&[LineRow]) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        self.database
            .each_line(self.run.run_id, &self.metric_ids(), each)
    }

    /// Calls a function for every pair of caller and callee, by caller: a row for each metric.
    fn each_edge(
        &self,
        each: impl FnMut(&[EdgeRow]) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        self.database
            .each_edge(self.run.run_id, &self.metric_ids(), each)
    }

    /// Calls a function for every place in the tree, callers first. Lines are passed over and
    /// counted: what they cost is in their function's cost, and what they called counts as called
    /// by it.
    fn each_call(
        &self,
        losses: &mut Losses,
        mut each: impl FnMut(Call, &mut Losses) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        // For each open node, how many of those above it and itself are no lines.
        let mut levels: Vec<usize> = Vec::new();
        self.database
            .each_node(self.run.run_id, self.metric.metric_id, |node| {
                levels.truncate(node.depth);
                let above = levels.last().copied().unwrap_or(0);
                if node.line.is_some() {
                    levels.push(above);
                    losses.add(common::LINES, 1);
                    return Ok(());
                }
                levels.push(above + 1);
                let function = self.function(node.function_id)?;
                let cumulative = node.cumulative.unwrap_or(node.exclusive);
                let call = Call {
                    depth: above,
                    function,
                    calls: node.calls,
                    exclusive: node.exclusive,
                    cumulative,
                };
                each(call, losses)
            })
    }
}
