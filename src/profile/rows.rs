//! What the builder makes: rows for the database, and what is known when the last node is closed.

use std::sync::Arc;

use super::row_source::Rows;
use super::sums::NodeCost;
use crate::base::error::Position;
use crate::events::{
    EdgeKind, Fidelity, FunctionDef, FunctionId, Kind, LabelsId, MetricId, Noise, Severity, Unit,
};

/// A function of the run, with text of its own. There may be a million: four texts, each by itself, would take 48
/// bytes more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    kind: Kind,
    /// Name, module, file and the name before it was made readable, one after the other.
    text: Box<str>,
    /// Where the first three of them end.
    ends: [u32; 3],
    first_line: u32,
    first_col: u32,
}

impl Function {
    /// The function that an importer names.
    pub(crate) fn new(def: FunctionDef<'_>) -> Self {
        let texts = [def.name, def.module, def.file, def.raw_name];
        let mut end = 0;
        let mut end_of = |text: &str| {
            end += text.len();
            // No name is longer than what the format of its file allows, which is less than 1 GiB.
            u32::try_from(end).unwrap_or(u32::MAX)
        };
        Self {
            kind: def.kind,
            ends: [end_of(def.name), end_of(def.module), end_of(def.file)],
            text: texts.concat().into(),
            first_line: def.first_line,
            first_col: def.first_col,
        }
    }

    /// The function as an importer names it, without the name before it was made readable: what
    /// tells it from others.
    #[must_use]
    pub fn definition(&self) -> FunctionDef<'_> {
        let [name, module, file] = self.ends;
        FunctionDef {
            kind: self.kind,
            name: self.part(0, name),
            raw_name: "",
            module: self.part(name, module),
            file: self.part(module, file),
            first_line: self.first_line,
            first_col: self.first_col,
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        let [name, ..] = self.ends;
        self.part(0, name)
    }

    /// Its name before it was made readable, if that is another one.
    #[must_use]
    pub fn raw_name(&self) -> Option<&str> {
        let [.., file] = self.ends;
        self.text
            .get(file as usize..)
            .filter(|name| !name.is_empty())
    }

    /// What sort of thing it is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    fn part(&self, from: u32, to: u32) -> &str {
        self.text
            .get(from as usize..to as usize)
            .unwrap_or_default()
    }
}

/// A line of source. The file only where it is not the function's own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SourceLine {
    /// The file, if it is not the function's own.
    pub file: Option<Arc<str>>,
    /// The line.
    pub line: u32,
    /// Column or clause; 0 if unknown.
    pub col: u32,
}

/// One node, numbered from 1 within the run.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeRow {
    /// Number in pre-order.
    pub node: u64,
    /// Distance to the parent; `None` at a root.
    pub up: Option<u64>,
    /// How many nodes are below this one.
    pub size: u64,
    /// Distance to the nearest enclosing node of the same function (or the same line of it); `None`
    /// if outermost.
    pub outer_up: Option<u64>,
    /// Nodes above this one.
    pub depth: u32,
    /// The function.
    pub function: FunctionId,
    /// The line, for line nodes.
    pub place: Option<SourceLine>,
    /// Calls; `None` if unknown.
    pub calls: Option<u64>,
    /// Cost in the default metric.
    pub cost: NodeCost,
}

/// Cost of one node in a metric other than the default one; never 0 in both figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostRow {
    /// The metric.
    pub metric: MetricId,
    /// The node.
    pub node: u64,
    /// Its cost.
    pub cost: NodeCost,
}

/// Rows that can be written: functions before the nodes that name them.
#[derive(Debug, Default)]
pub struct Batch {
    /// Functions that are mentioned for the first time.
    pub functions: Vec<(FunctionId, Arc<Function>)>,
    /// Nodes, ascending; a node that was open when its neighbours left comes later than they.
    pub nodes: Vec<NodeRow>,
    /// Costs in the other metrics, by metric and node.
    pub costs: Vec<CostRow>,
    /// How many nodes the run has so far, with those whose rows come later.
    pub opened: u64,
}

impl Batch {
    /// Drops the rows and keeps the room.
    pub fn clear(&mut self) {
        self.functions.clear();
        self.nodes.clear();
        self.costs.clear();
    }
}

/// Takes batches. Cannot fail towards the builder: see [`crate::events::Sink`].
pub trait Output {
    /// Takes the rows of the next batch, and leaves an empty batch: best one that has been written,
    /// for its room.
    fn batch(&mut self, batch: &mut Batch);
}

/// What is known of the run as a whole.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// How much the file knows.
    pub fidelity: Fidelity,
    /// What the file calls itself.
    pub title: Option<String>,
    /// The command that made the file, or the program that was profiled.
    pub command: Option<String>,
    /// Version of the profiler.
    pub tool_version: Option<String>,
    /// When it was recorded, as the file says it.
    pub recorded_at: Option<String>,
    /// Cost of one reading of the timer, in nanoseconds.
    pub timer_bias: Option<f64>,
    /// Nanoseconds per tick already subtracted from the times.
    pub bias_applied: Option<f64>,
    /// The metric that counts readings of the timer.
    pub timer_readings: Option<MetricId>,
    /// The metric of the node rows.
    pub default_metric: Option<MetricId>,
    /// Everything else that the file says, in its order.
    pub properties: Vec<(String, String)>,
}

/// A metric with its total.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricRow {
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: Unit,
    /// The denominator of percentages.
    pub total: f64,
    /// Who gave it.
    pub total_source: TotalSource,
    /// What its figures owe to chance.
    pub noise: Noise,
    /// The metric that counts the samples of its figures.
    pub observations: Option<MetricId>,
    /// What one sample adds to it.
    pub quantum: Option<f64>,
}

/// Who gave the total of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TotalSource {
    /// The builder: it is the sum of the roots or, without nodes, of what the functions cost themselves.
    Counted,
    /// The file.
    Stated,
}

impl TotalSource {
    /// Its name in the database.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Counted => "counted",
            Self::Stated => "stated",
        }
    }
}

/// What a run says of one function or one of its lines in one metric. `None` is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct InfoFigures {
    /// Calls.
    pub calls: Option<u64>,
    /// Calls that were not made from within a call of the same function.
    pub primitive: Option<u64>,
    /// Cost of the thing itself.
    pub exclusive: Option<f64>,
    /// Cost with what it called, recursion counted once.
    pub cumulative: Option<f64>,
    /// Cost with what it called, every level of recursion counted.
    pub seen: Option<f64>,
    /// Whether the file itself gave any of these figures.
    pub recorded: bool,
}

/// [`InfoFigures`] of a function, or of the line at a place.
#[derive(Clone, Debug, PartialEq)]
pub struct InfoRow {
    /// The metric.
    pub metric: MetricId,
    /// The function.
    pub function: FunctionId,
    /// The line; `None` for the function as a whole.
    pub place: Option<SourceLine>,
    /// The figures.
    pub figures: InfoFigures,
}

/// Cost and calls between a caller and a callee in one metric. `None` is unknown.
#[derive(Clone, Debug, PartialEq)]
pub struct EdgeRow {
    /// The metric.
    pub metric: MetricId,
    /// Who is called.
    pub callee: FunctionId,
    /// Who calls; `None` at the root.
    pub caller: Option<FunctionId>,
    /// The file of that line where it is not the caller's own.
    pub line_file: Option<Arc<str>>,
    /// From which line; `None` if unknown.
    pub caller_line: Option<u32>,
    /// From which column; 0 if unknown.
    pub caller_col: u32,
    /// How.
    pub kind: EdgeKind,
    /// Calls.
    pub calls: Option<u64>,
    /// The callee's own cost.
    pub exclusive: Option<f64>,
    /// The callee's cumulative cost, the pair of functions counted once per path, credited to the
    /// outer line.
    pub cumulative: Option<f64>,
    /// The callee's cumulative cost where the callee is outermost.
    pub outermost: Option<f64>,
    /// The callee's cumulative cost, every level counted.
    pub seen: Option<f64>,
}

/// One label of a set.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelRow {
    /// The set.
    pub labels: LabelsId,
    /// What is said.
    pub key: Arc<str>,
    /// What is said of it.
    pub value: LabelText,
    /// What a number is counted in; empty for text, and if unknown.
    pub unit: Arc<str>,
}

/// [`crate::events::LabelValue`] with text of its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LabelText {
    /// A whole number.
    Number(i64),
    /// Text.
    Text(Arc<str>),
}

/// What a node cost itself in samples with the same labels; never 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LabelCostRow {
    /// The metric.
    pub metric: MetricId,
    /// The node.
    pub node: u64,
    /// The labels.
    pub labels: LabelsId,
    /// The part of the node's own cost.
    pub exclusive: f64,
}

/// A note, with text of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct NoteRow {
    /// How much it matters.
    pub severity: Severity,
    /// Where in the file.
    pub position: Option<Position>,
    /// The text.
    pub message: String,
}

/// What is known when the last node is closed.
#[derive(Debug)]
pub struct RunSummary {
    /// The run as a whole.
    pub facts: Facts,
    /// The metrics in the order of the file.
    pub metrics: Vec<MetricRow>,
    /// Number of nodes.
    pub nodes: u64,
    /// Number of functions, containers left out: of those that have a row in the default metric.
    pub function_count: u64,
    /// One row per metric and function.
    pub functions: Rows<InfoRow>,
    /// One row per metric and line.
    pub lines: Rows<InfoRow>,
    /// One row per metric and edge, at the same place in each metric.
    pub edges: Rows<EdgeRow>,
    /// The labels of each set.
    pub labels: Vec<LabelRow>,
    /// What samples with labels cost, by metric, node and set.
    pub label_costs: Vec<LabelCostRow>,
    /// Notes of the importer and of the builder.
    pub notes: Vec<NoteRow>,
}

impl InfoFigures {
    /// Whether there is a cost, or one that may be there: half of what could be known.
    pub(super) fn has_cost(&self) -> bool {
        let Self {
            exclusive,
            cumulative,
            seen,
            ..
        } = *self;
        let costs = [exclusive, cumulative, seen]
            .into_iter()
            .flatten()
            .any(|figure| figure != 0.0);
        costs || (exclusive.is_some() && cumulative.is_none())
    }
}

impl RunSummary {
    /// Which of the metrics' totals hold: what the file states, else what the roots add up to, else
    /// (without nodes) what the functions cost themselves.
    pub(super) fn with_stated(mut self, stated: &[Option<f64>]) -> Self {
        for (at, metric) in self.metrics.iter_mut().enumerate() {
            if let Some(&Some(stated)) = stated.get(at) {
                (metric.total, metric.total_source) = (stated, TotalSource::Stated);
            // A run without nodes has no roots to be added up.
            } else if self.nodes == 0 {
                let own = self
                    .functions
                    .iter()
                    .filter(|row| row.metric.0 as usize == at);
                metric.total = own
                    .filter_map(|row| row.figures.exclusive)
                    // Not `sum`, which makes -0.0 of no costs at all.
                    .fold(0.0, |sum, cost| sum + cost);
            }
        }
        self
    }
}
