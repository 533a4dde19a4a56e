//! The vocabulary of a [`Sink`](super::Sink): metrics, functions, frames, costs, samples, edges,
//! notes and facts of the run.

use crate::base::error::Position;

/// A metric of the run, as given by [`super::Sink::metric`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MetricId(pub u32);

/// A function of the run, as given by [`super::Sink::function`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub u32);

/// A set of labels of the run, as given by [`super::Sink::labels`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LabelsId(pub u32);

/// A label of a sample: what a profiler knows of it besides its stack (the request, the worker, the
/// size of an object).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label<'a> {
    /// Its name; may come more than once in a set.
    pub key: &'a str,
    /// Its value.
    pub value: LabelValue<'a>,
    /// What a number is counted in; empty for text, and if unknown.
    pub unit: &'a str,
}

/// The value of a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LabelValue<'a> {
    /// A whole number.
    Number(i64),
    /// Text.
    Text(&'a str),
}

impl LabelValue<'_> {
    /// Bytes of text.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Number(_) => 0,
            Self::Text(text) => text.len(),
        }
    }
}

/// What the figures of a metric are counted in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Time; importers convert to nanoseconds.
    Nanoseconds,
    /// Memory.
    Bytes,
    /// Anything that is counted: ticks, samples, blocks.
    Count,
}

impl Unit {
    /// The name that the database and the reports use.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Nanoseconds => "ns",
            Self::Bytes => "bytes",
            Self::Count => "count",
        }
    }
}

/// How the figures of a metric differ between two recordings of one unchanged program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Noise {
    /// Everything was counted, by an instrument that counts the same each time: instructions, calls,
    /// allocated bytes. Another figure is another behaviour.
    Exact,
    /// Time that a clock has measured from begin to end: it differs by what else the machine does.
    Timed,
    /// Every so often, the profiler looked where the program was: it differs by chance as well.
    Sampled,
    /// The file does not tell.
    #[default]
    Unknown,
}

impl Noise {
    /// All noise classes.
    pub const ALL: [Self; 4] = [Self::Exact, Self::Timed, Self::Sampled, Self::Unknown];

    /// Finds one by the name that the database uses.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|noise| noise.name() == name)
    }

    /// How figures differ that come from several runs: as those of the least certain one. Counts of one run and times of another
    /// are taken as times; where there is no run, that is unknown.
    pub fn common(runs: impl IntoIterator<Item = Self>) -> Self {
        let both = |one, other| match (one, other) {
            _ if one == other => one,
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            _ => Self::Timed,
        };
        runs.into_iter().reduce(both).unwrap_or_default()
    }

    /// The name that the database and the command line use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Timed => "timed",
            Self::Sampled => "sampled",
            Self::Unknown => "unknown",
        }
    }
}

/// What sort of thing a function is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A function, method, cost centre.
    #[default]
    Function,
    /// Not code of the program (garbage collector, idle, unknown frames), but it has cost and
    /// callers of its own.
    Pseudo,
    /// A named root of the tree.
    Root,
    /// An operating system process.
    Process,
    /// A thread.
    Thread,
    /// A part of the file: a request, a dump.
    Part,
}

impl Kind {
    /// All kinds of functions and containers.
    pub const ALL: [Self; 6] = [
        Self::Function,
        Self::Pseudo,
        Self::Root,
        Self::Process,
        Self::Thread,
        Self::Part,
    ];

    /// Finds a kind by the name that the database uses.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The name that the database uses.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Pseudo => "pseudo",
            Self::Root => "root",
            Self::Process => "process",
            Self::Thread => "thread",
            Self::Part => "part",
        }
    }

    /// Whether nodes of this kind only hold others: they are not listed among functions, and never
    /// callers.
    #[must_use]
    pub fn is_container(self) -> bool {
        matches!(self, Self::Root | Self::Process | Self::Thread | Self::Part)
    }
}

/// How much a file knows about who called whom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fidelity {
    /// Whole paths.
    #[default]
    Tree,
    /// Pairs of caller and callee.
    Edges,
    /// Totals only.
    Flat,
}

impl Fidelity {
    /// The name that the database uses.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Tree => "tree",
            Self::Edges => "edges",
            Self::Flat => "flat",
        }
    }
}

/// One fact about the run as a whole, with text of some sort. A later fact of the same kind
/// replaces the earlier one.
#[derive(Clone, Debug, PartialEq)]
pub enum Fact<T> {
    /// How much the file knows; [`Fidelity::Tree`] if never said. [`Fidelity::Edges`] is said
    /// before the first edge.
    Fidelity(Fidelity),
    /// What the file calls itself.
    Title(T),
    /// The command that made the file, or the program that was profiled.
    Command(T),
    /// Version of the profiler.
    ToolVersion(T),
    /// When it was recorded, as the file says it.
    RecordedAt(T),
    /// Cost of reading the profiler's timer once, in nanoseconds.
    TimerBias(f64),
    /// Nanoseconds per tick that have been subtracted from the times given to the sink: 0 for raw
    /// times. Never said where it is unknown.
    BiasApplied(f64),
    /// The metric that counts how often the profiler's timer was read: its figures are the ticks of
    /// [`Fact::TimerBias`] and [`Fact::BiasApplied`]. Never said of samples that a timer has
    /// triggered.
    TimerReadings(MetricId),
    /// The metric that reports show when none is asked for; the first one if never said. As late as
    /// [`super::Sink::metric`].
    DefaultMetric(MetricId),
    /// What the file states as the run's total of a metric that has been announced, or what is left
    /// of all roots where the profiler counts some of them apart.
    Total(MetricId, f64),
    /// The unit, above 0, to which the file rounds its figures of a metric: each of them may be off
    /// by half of it. Sums that differ by no more than that allows are equal. Never stated of
    /// figures that the file gives exactly.
    Rounding(MetricId, f64),
    /// The first metric's figures are of samples, which the second one counts. Both may be one.
    Observations(MetricId, MetricId),
    /// What one sample adds to a metric, above 0, where that is the same for all of them.
    Quantum(MetricId, f64),
    /// Anything else the file says of the run: a name and its text.
    Other(T, T),
}

/// A fact as an importer states it.
pub type RunFact<'a> = Fact<&'a str>;

impl<T> Fact<T> {
    /// The fact with its text in another form.
    pub fn map<'s, U>(&'s self, mut text: impl FnMut(&'s T) -> U) -> Fact<U> {
        match self {
            Self::Fidelity(fidelity) => Fact::Fidelity(*fidelity),
            Self::Title(title) => Fact::Title(text(title)),
            Self::Command(command) => Fact::Command(text(command)),
            Self::ToolVersion(version) => Fact::ToolVersion(text(version)),
            Self::RecordedAt(time) => Fact::RecordedAt(text(time)),
            Self::TimerBias(bias) => Fact::TimerBias(*bias),
            Self::BiasApplied(bias) => Fact::BiasApplied(*bias),
            Self::TimerReadings(metric) => Fact::TimerReadings(*metric),
            Self::DefaultMetric(metric) => Fact::DefaultMetric(*metric),
            Self::Total(metric, total) => Fact::Total(*metric, *total),
            Self::Rounding(metric, unit) => Fact::Rounding(*metric, *unit),
            Self::Observations(metric, samples) => Fact::Observations(*metric, *samples),
            Self::Quantum(metric, cost) => Fact::Quantum(*metric, *cost),
            Self::Other(key, value) => Fact::Other(text(key), text(value)),
        }
    }
}

/// A function as the file names it. Unknown text is empty, unknown numbers are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FunctionDef<'a> {
    /// What sort of thing it is.
    pub kind: Kind,
    /// Its name as reports show it.
    pub name: &'a str,
    /// Its name before it was made readable, if that is another one; else empty. Tells no two
    /// functions apart: of several that are equal in all else, the first one's is kept.
    pub raw_name: &'a str,
    /// Module, package, program or library.
    pub module: &'a str,
    /// Source file.
    pub file: &'a str,
    /// First line of its definition.
    pub first_line: u32,
    /// First column of its definition. Where not even the line is known: the number that tells it
    /// from functions that equal it in all else, 0 for the first of them.
    pub first_col: u32,
}

impl<'a> FunctionDef<'a> {
    /// A function of which only the name is known.
    #[must_use]
    pub fn named(name: &'a str) -> Self {
        Self {
            name,
            ..Self::default()
        }
    }
}

/// A place in the source of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Line<'a> {
    /// The file, where it is not the function's own (inlined or included code); else empty.
    pub file: &'a str,
    /// The line; formats decide whether the first is 0 or 1.
    pub line: u32,
    /// Column or clause; 0 if unknown.
    pub col: u32,
}

/// What a node is about: a function, or one line of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Frame<'a> {
    /// The function.
    pub function: FunctionId,
    /// The line, for line nodes.
    pub line: Option<Line<'a>>,
}

impl Frame<'static> {
    /// The function as a whole.
    #[must_use]
    pub fn function(function: FunctionId) -> Self {
        Self {
            function,
            line: None,
        }
    }

    /// One line of the function, in the function's own file.
    #[must_use]
    pub fn line(function: FunctionId, line: u32) -> Self {
        Self {
            function,
            line: Some(Line {
                file: "",
                line,
                col: 0,
            }),
        }
    }
}

/// The cost of a node in one metric, in the metric's unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cost {
    /// Cost of the node itself; what it called is added to it.
    Exclusive(f64),
    /// Cost with everything called; what was called is taken off it.
    Cumulative(f64),
    /// The file says both.
    Both {
        /// Cost of the node itself.
        exclusive: f64,
        /// Cost with everything called.
        cumulative: f64,
    },
    /// Cost of a line whose calls are unknown: its cumulative cost stays unknown, too.
    ExclusiveOnly(f64),
}

/// One stack with what was measured in it. Equal stacks are merged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample<'a> {
    /// Frames, outermost first, at least one. A frame with a line is two nodes: the function, and
    /// below it the line.
    pub stack: &'a [Frame<'a>],
    /// At least so many of them are the first frames of the previous sample, too: an importer that
    /// knows it saves the comparison. 0 if unknown.
    pub shared: usize,
    /// Calls of the innermost function; `None` where a profiler does not count them.
    pub calls: Option<u64>,
    /// Exclusive cost of the innermost frame.
    pub values: &'a [(MetricId, f64)],
    /// What else is known of it.
    pub labels: Option<LabelsId>,
}

/// How a caller reaches a callee.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EdgeKind {
    /// An ordinary call.
    Call,
    /// A call that the profiler folded into a node further up: known to exist, without cost of its
    /// own.
    Back,
}

impl EdgeKind {
    /// The name that the database uses.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Back => "back",
        }
    }
}

/// Who called whom, for formats that know no paths and for back edges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge<'a> {
    /// The function called.
    pub callee: FunctionId,
    /// The function (or line of it) that called; `None` at the root.
    pub caller: Option<Frame<'a>>,
    /// How.
    pub kind: EdgeKind,
    /// How often; `None` if unknown.
    pub calls: Option<u64>,
    /// What the file says of the cost, per metric.
    pub costs: &'a [EdgeCost],
}

/// Cost of an edge in one metric; `None` where the file does not say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EdgeCost {
    /// The metric.
    pub metric: MetricId,
    /// The callee's own cost when called this way.
    pub exclusive: Option<f64>,
    /// Cost of the callee and what it called, the pair counted once per path.
    pub cumulative: Option<f64>,
    /// The part of it where the callee is outermost.
    pub outermost: Option<f64>,
    /// Every level of a recursion counted.
    pub seen: Option<f64>,
}

/// Figures that the file itself gives for a function or a line. `Some` replaces what the nodes add
/// up to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Info<'a> {
    /// The function, or one line of it.
    pub frame: Frame<'a>,
    /// The metric of the costs.
    pub metric: MetricId,
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
}

/// How much a note matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Something the importer decided, for the record.
    Info,
    /// Something that may make a figure other than expected.
    Warning,
}

impl Severity {
    /// The name that the database uses.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
        }
    }
}

/// A note on the file, with its place if it has one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Note<'a> {
    /// How much it matters.
    pub severity: Severity,
    /// The place in the file.
    pub position: Option<Position>,
    /// The text: a lower-case fragment.
    pub message: &'a str,
}
