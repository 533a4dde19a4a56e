//! The builder: from what importers say to rows. Numbers nodes in pre-order, closes intervals, links each node to the
//! enclosing one of the same function, derives the cost that the file leaves out, and adds up functions, lines and edges
//! in the same pass. No I/O, no SQL.
//!
//! Memory: the open nodes, one batch of rows, and what is kept per function, line, edge (and, for stacks, per distinct
//! path). Never per node of a tree format: a row leaves with its batch, also while nodes above it are still open; those
//! few follow in the batch in which they close.

use std::sync::Arc;

use hashbrown::{DefaultHashBuilder, HashMap, HashTable};
use std::hash::BuildHasher;

use crate::error::{ImportError, Position, Stop};
use crate::events::{
    Cost, Edge, EdgeKind, Fidelity, Frame, FunctionDef, FunctionId, Info, Kind, Line, MetricId, Note, RunFact, Sample,
    Severity, Sink, Unit,
};

/// Nodes in one batch: enough that handing it over costs nothing, few enough that four of them fit in any memory.
const NODES_PER_BATCH: usize = 16 * 1024;

/// Notes kept of one run; what comes after them is counted.
const MAX_NOTES: usize = 1000;

/// Above this, not every whole number is a REAL.
const MAX_EXACT: u64 = 1 << 53;

/// A leftover (cumulative less callees) that is negative by less than this part of the cumulative cost is rounding.
const ROUNDING: f64 = 1e-9;

/// A function of the run, with text of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// What sort of thing it is.
    pub kind: Kind,
    /// Its name.
    pub name: Box<str>,
    /// Module, package, program or library; empty if unknown.
    pub module: Box<str>,
    /// Source file; empty if unknown.
    pub file: Box<str>,
    /// First line of the definition; 0 if unknown.
    pub first_line: u32,
    /// First column of the definition; 0 if unknown.
    pub first_col: u32,
}

/// A place in the source of a function: the file only where it is not the function's own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The file, if it is not the function's own.
    pub file: Option<Arc<str>>,
    /// The line.
    pub line: u32,
    /// Column or clause; 0 if unknown.
    pub col: u32,
}

/// A figure pair of a node: its own cost, and the cost with everything called (`None` if nobody knows).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// Cost of the node itself.
    pub exclusive: f64,
    /// Cost with everything called.
    pub cumulative: Option<f64>,
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
    /// Distance to the nearest enclosing node of the same function (or the same line of it); `None` if outermost.
    pub outer_up: Option<u64>,
    /// Nodes above this one.
    pub depth: u32,
    /// The function.
    pub function: FunctionId,
    /// The line, for line nodes.
    pub place: Option<Place>,
    /// Calls; `None` if unknown.
    pub calls: Option<u64>,
    /// Figures in the default metric.
    pub figures: Figures,
}

/// Figures of one node in a metric other than the default one; never both 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostRow {
    /// The metric.
    pub metric: MetricId,
    /// The node.
    pub node: u64,
    /// Its figures.
    pub figures: Figures,
}

/// Rows that can be written: functions before the nodes that name them.
#[derive(Debug, Default)]
pub struct Batch {
    /// Functions that are mentioned for the first time.
    pub functions: Vec<(FunctionId, Function)>,
    /// Nodes, ascending; a node that was open when its neighbours left comes later than they.
    pub nodes: Vec<NodeRow>,
    /// Costs in the other metrics, by metric and node.
    pub costs: Vec<CostRow>,
}

/// Takes batches. Cannot fail towards the builder: see [`Sink`].
pub trait Output {
    /// Takes the next batch.
    fn batch(&mut self, batch: Batch);
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
    pub place: Option<Place>,
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
    /// The callee's cumulative cost, the pair of functions counted once per path, credited to the outer line.
    pub cumulative: Option<f64>,
    /// The callee's cumulative cost where the callee is outermost.
    pub outermost: Option<f64>,
    /// The callee's cumulative cost, every level counted.
    pub seen: Option<f64>,
}

/// A remark, with text of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct NoteRow {
    /// How much it matters.
    pub severity: Severity,
    /// Where in the file.
    pub position: Option<Position>,
    /// What is said.
    pub message: String,
}

/// What is known when the last node is closed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Totals {
    /// The run as a whole.
    pub facts: Facts,
    /// The metrics in the order of the file.
    pub metrics: Vec<MetricRow>,
    /// Number of nodes.
    pub nodes: u64,
    /// One row per metric and function.
    pub functions: Vec<InfoRow>,
    /// One row per metric and line.
    pub lines: Vec<InfoRow>,
    /// One row per metric and edge.
    pub edges: Vec<EdgeRow>,
    /// What there is to remark.
    pub notes: Vec<NoteRow>,
}

/// A sum of counts that is unknown as soon as one part is.
#[derive(Clone, Copy, Debug)]
struct Tally(Option<u64>);

impl Default for Tally {
    fn default() -> Self {
        Self(Some(0))
    }
}

impl Tally {
    /// Adds a part; says whether the sum is still one that a REAL holds exactly.
    fn add(&mut self, part: Option<u64>) -> bool {
        self.0 = self.0.zip(part).map(|(sum, part)| sum.saturating_add(part));
        self.0.is_none_or(|sum| sum <= MAX_EXACT)
    }
}

/// Sums for one function or line in one metric.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    exclusive: f64,
    cumulative: f64,
    seen: f64,
    /// A node of it has no cumulative cost.
    cumulative_unknown: bool,
}

/// One entry of the dictionary of functions.
struct Known {
    function: Function,
    /// A node, edge or info has mentioned it.
    used: bool,
    /// It has nodes, so sums mean something.
    has_nodes: bool,
    /// Its innermost open node, 0 if none is open.
    open: u64,
    calls: Tally,
    primitive: Tally,
}

/// One entry of the dictionary of lines.
struct KnownLine {
    function: u32,
    place: Place,
    has_nodes: bool,
    open: u64,
    calls: Tally,
    primitive: Tally,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Caller {
    /// Index of the function, [`NONE`] at the root.
    function: u32,
    /// Line, -1 if unknown.
    line: i64,
    col: u32,
}

impl Caller {
    const ROOT: Self = Self { function: NONE, line: -1, col: 0 };
}

/// One entry of the dictionary of edges.
struct KnownEdge {
    callee: u32,
    caller: Caller,
    kind: EdgeKind,
    /// Index of the pair of functions, whatever the line.
    pair: u32,
    calls: Tally,
    /// Nodes add up to its figures (else they are what `edge` recorded).
    has_nodes: bool,
}

#[derive(Clone, Copy, Default)]
struct EdgeSums {
    exclusive: Option<f64>,
    cumulative: Option<f64>,
    outermost: Option<f64>,
    seen: Option<f64>,
}

/// An open node.
struct Level {
    node: u64,
    outer: u64,
    function: u32,
    /// Index of the line, [`NONE`] for function nodes.
    line: u32,
    calls: Option<u64>,
    /// Whom nodes below have as their caller.
    caller: Caller,
    /// Index of the edge that leads here, [`NONE`] for lines and containers.
    edge: u32,
    /// No enclosing node has the same pair of caller and callee.
    outermost_pair: bool,
}

/// What is known of an open node in one metric.
#[derive(Clone, Copy, Default)]
struct Account {
    given: Option<Cost>,
    /// Cumulative cost of the functions called.
    callees: f64,
}

const NONE: u32 = u32::MAX;

/// See the module's page.
pub struct TreeBuilder<O> {
    output: O,
    stop: Stop,
    failure: Option<ImportError>,
    facts: Facts,
    stated_totals: Vec<Option<f64>>,
    metrics: Vec<MetricRow>,
    /// Metrics are fixed once the first figure has come.
    frozen: bool,
    default: usize,

    functions: Vec<Known>,
    function_index: HashTable<u32>,
    hasher: DefaultHashBuilder,
    function_sums: Vec<Sums>,
    lines: Vec<KnownLine>,
    line_index: HashMap<(u32, Place), u32>,
    line_sums: Vec<Sums>,
    edges: Vec<KnownEdge>,
    edge_index: HashMap<(u32, Caller, EdgeKind), u32>,
    edge_sums: Vec<EdgeSums>,
    pair_index: HashMap<(u32, u32), u32>,
    /// How many nodes of each pair are open.
    open_pairs: Vec<u32>,
    recorded: Vec<InfoRow>,
    recorded_index: HashMap<(u32, u32, u32), usize>,

    stack: Vec<Level>,
    accounts: Vec<Account>,
    next: u64,
    batch: Batch,
    /// First node that the slots stand for.
    base: u64,
    slots: Vec<Option<NodeRow>>,
    /// Figures of the slots in the other metrics.
    slot_figures: Vec<Figures>,
    late: Vec<NodeRow>,
    late_costs: Vec<CostRow>,

    trie: Trie,
    notes: Vec<NoteRow>,
    notes_left_out: u64,
    exceeded: Counted,
    rounded: Counted,
}

/// How often something happened, and to whom first.
#[derive(Default)]
struct Counted {
    count: u64,
    first: u32,
}

impl Counted {
    fn add(&mut self, function: u32) {
        if self.count == 0 {
            self.first = function;
        }
        self.count += 1;
    }
}

impl<O: Output> TreeBuilder<O> {
    /// An empty run. `stop` is set when the builder meets something that it must refuse.
    pub fn new(output: O, stop: Stop) -> Self {
        Self {
            output,
            stop,
            failure: None,
            facts: Facts::default(),
            stated_totals: Vec::new(),
            metrics: Vec::new(),
            frozen: false,
            default: 0,
            functions: Vec::new(),
            function_index: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            function_sums: Vec::new(),
            lines: Vec::new(),
            line_index: HashMap::new(),
            line_sums: Vec::new(),
            edges: Vec::new(),
            edge_index: HashMap::new(),
            edge_sums: Vec::new(),
            pair_index: HashMap::new(),
            open_pairs: Vec::new(),
            recorded: Vec::new(),
            recorded_index: HashMap::new(),
            stack: Vec::new(),
            accounts: Vec::new(),
            next: 1,
            batch: Batch::default(),
            base: 1,
            slots: Vec::new(),
            slot_figures: Vec::new(),
            late: Vec::new(),
            late_costs: Vec::new(),
            trie: Trie::default(),
            notes: Vec::new(),
            notes_left_out: 0,
            exceeded: Counted::default(),
            rounded: Counted::default(),
        }
    }

    /// Merged stacks become nodes, the last batch leaves, and the totals are drawn up.
    ///
    /// # Errors
    /// What the builder had to refuse on the way.
    pub fn finish(mut self) -> Result<(Totals, O), ImportError> {
        self.drain_trie();
        if !self.stack.is_empty() {
            self.refuse("the importer left nodes open");
        }
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        self.freeze();
        self.flush();
        self.closing_notes();
        let totals = Totals {
            functions: self.function_rows(),
            lines: self.line_rows(),
            edges: self.edge_rows(),
            nodes: self.next - 1,
            facts: self.facts,
            metrics: self.metrics,
            notes: self.notes,
        };
        Ok((with_totals(totals, &self.stated_totals), self.output))
    }

    /// The failure that made the builder stop, if one did.
    pub fn failure(&mut self) -> Option<ImportError> {
        self.failure.take()
    }

    fn refuse(&mut self, reason: &str) {
        if self.failure.is_none() {
            self.failure = Some(ImportError::Refused(reason.to_owned()));
        }
        self.stop.set();
    }

    fn freeze(&mut self) {
        if self.frozen {
            return;
        }
        self.frozen = true;
        self.stated_totals.resize(self.metrics.len(), None);
        let default = self.facts.default_metric.unwrap_or(MetricId(0));
        self.default = default.0 as usize;
        if !self.metrics.is_empty() {
            self.facts.default_metric = Some(default);
        }
        if self.default >= self.metrics.len().max(1) {
            self.refuse("the importer made a metric the default one that it never announced");
            self.default = 0;
        }
        self.function_sums.resize(self.functions.len() * self.metrics.len(), Sums::default());
    }

    /// Marks a function as mentioned; its row leaves with the current batch.
    fn mention(&mut self, function: u32) {
        if let Some(known) = self.functions.get_mut(function as usize)
            && !known.used
        {
            known.used = true;
            self.batch.functions.push((FunctionId(function), known.function.clone()));
        }
    }

    fn intern_line(&mut self, function: u32, line: Line<'_>) -> u32 {
        let file = (!line.file.is_empty()).then(|| Arc::from(line.file));
        let place = Place { file, line: line.line, col: line.col };
        let next = index(self.lines.len());
        let found = *self.line_index.entry((function, place.clone())).or_insert(next);
        if found == next {
            let (calls, primitive) = (Tally::default(), Tally::default());
            self.lines.push(KnownLine { function, place, has_nodes: false, open: 0, calls, primitive });
            self.line_sums.resize(self.lines.len() * self.metrics.len(), Sums::default());
        }
        found
    }

    fn intern_edge(&mut self, callee: u32, caller: Caller, kind: EdgeKind) -> u32 {
        let next = index(self.edges.len());
        let found = *self.edge_index.entry((callee, caller, kind)).or_insert(next);
        if found == next {
            let fresh = index(self.open_pairs.len());
            let pair = *self.pair_index.entry((callee, caller.function)).or_insert(fresh);
            if pair == fresh {
                self.open_pairs.push(0);
            }
            self.edges.push(KnownEdge { callee, caller, kind, pair, calls: Tally::default(), has_nodes: false });
            self.edge_sums.resize(self.edges.len() * self.metrics.len(), EdgeSums::default());
        }
        found
    }

    fn open_function(&mut self, function: u32, calls: Option<u64>) {
        self.mention(function);
        let container = self.functions[function as usize].function.kind.is_container();
        let above = self.stack.last().map_or(Caller::ROOT, |parent| parent.caller);
        let mut edge = NONE;
        let mut outermost_pair = false;
        if !container {
            edge = self.intern_edge(function, above, EdgeKind::Call);
            let open = &mut self.open_pairs[self.edges[edge as usize].pair as usize];
            outermost_pair = *open == 0;
            *open += 1;
        }
        let known = &mut self.functions[function as usize];
        known.has_nodes = true;
        let outer = std::mem::replace(&mut known.open, self.next);
        let exact = known.calls.add(calls);
        if outer == 0 {
            known.primitive.add(calls);
        }
        if edge != NONE {
            let known = &mut self.edges[edge as usize];
            known.has_nodes = true;
            known.calls.add(calls);
        }
        if !exact {
            let reason =
                format!("the calls of `{}` add up to more than 2^53", self.functions[function as usize].function.name);
            self.refuse(&reason);
        }
        let caller = if container { above } else { Caller { function, line: -1, col: 0 } };
        self.push(Level { node: self.next, outer, function, line: NONE, calls, caller, edge, outermost_pair });
    }

    fn open_line(&mut self, function: u32, line: Line<'_>, calls: Option<u64>) {
        if self.stack.last().is_none_or(|parent| parent.function != function || parent.line != NONE) {
            self.refuse("the importer opened a line outside its function");
            return;
        }
        let line_id = self.intern_line(function, line);
        let known = &mut self.lines[line_id as usize];
        known.has_nodes = true;
        let outer = std::mem::replace(&mut known.open, self.next);
        let exact = known.calls.add(calls);
        if outer == 0 {
            known.primitive.add(calls);
        }
        if !exact {
            self.refuse(&format!("the calls of a line {} add up to more than 2^53", line.line));
        }
        let caller = Caller { function, line: i64::from(line.line), col: line.col };
        let node = self.next;
        self.push(Level { node, outer, function, line: line_id, calls, caller, edge: NONE, outermost_pair: false });
    }

    fn push(&mut self, level: Level) {
        self.stack.push(level);
        self.accounts.resize(self.stack.len() * self.metrics.len(), Account::default());
        self.next += 1;
        self.slots.push(None);
        let others = self.metrics.len().saturating_sub(1);
        self.slot_figures.resize(self.slots.len() * others, Figures::default());
    }

    /// The figures of a node that closes, from what the file gave and what was called.
    fn settle(&mut self, account: Account, function: u32) -> Figures {
        let Account { given, callees } = account;
        match given {
            None => Figures { exclusive: 0.0, cumulative: Some(callees) },
            Some(Cost::Exclusive(exclusive)) => Figures { exclusive, cumulative: Some(exclusive + callees) },
            Some(Cost::Both { exclusive, cumulative }) => Figures { exclusive, cumulative: Some(cumulative) },
            Some(Cost::ExclusiveOnly(exclusive)) => Figures { exclusive, cumulative: None },
            Some(Cost::Cumulative(cumulative)) => {
                let left = cumulative - callees;
                if left < -ROUNDING * cumulative.abs() {
                    self.exceeded.add(function);
                }
                Figures { exclusive: left.max(0.0), cumulative: Some(cumulative) }
            }
        }
    }

    /// Adds the figures of a closing node to its function or line, to its edge, and to its parent's callees.
    fn add_up(&mut self, level: &Level, metric: usize, figures: Figures, callees: f64) {
        let metrics = self.metrics.len();
        let parent = self.stack.len().checked_sub(1).map(|above| above * metrics + metric);
        let cumulative = figures.cumulative.unwrap_or(0.0);
        let sums = if level.line == NONE {
            &mut self.function_sums[level.function as usize * metrics + metric]
        } else {
            &mut self.line_sums[level.line as usize * metrics + metric]
        };
        sums.exclusive += figures.exclusive;
        sums.seen += cumulative;
        sums.cumulative_unknown |= figures.cumulative.is_none();
        if level.outer == 0 {
            sums.cumulative += cumulative;
        }
        if level.edge != NONE {
            let sums = &mut self.edge_sums[level.edge as usize * metrics + metric];
            let add = |sum: &mut Option<f64>, part: f64| *sum = Some(sum.unwrap_or(0.0) + part);
            add(&mut sums.exclusive, figures.exclusive);
            add(&mut sums.seen, cumulative);
            add(&mut sums.outermost, if level.outer == 0 { cumulative } else { 0.0 });
            add(&mut sums.cumulative, if level.outermost_pair { cumulative } else { 0.0 });
        }
        match parent {
            // A line is part of its function: what it called counts for the function, its own cost is there already.
            Some(parent) => self.accounts[parent].callees += if level.line == NONE { cumulative } else { callees },
            None => self.metrics[metric].total += cumulative.max(callees),
        }
    }

    fn flush(&mut self) {
        let others = self.metrics.len().saturating_sub(1);
        self.late.sort_unstable_by_key(|row| row.node);
        let mut batch = std::mem::take(&mut self.batch);
        batch.nodes.reserve_exact(self.late.len() + self.slots.len());
        batch.nodes.append(&mut self.late);
        batch.costs.append(&mut self.late_costs);
        for other in 0..others {
            let metric = MetricId(index(if other < self.default { other } else { other + 1 }));
            for (slot, row) in self.slots.iter().enumerate() {
                let figures = self.slot_figures[slot * others + other];
                if let Some(row) = row
                    && figures.is_worth_a_row()
                {
                    batch.costs.push(CostRow { metric, node: row.node, figures });
                }
            }
        }
        batch.nodes.extend(self.slots.drain(..).flatten());
        self.slot_figures.clear();
        self.base = self.next;
        self.output.batch(batch);
    }

    fn closing_notes(&mut self) {
        let name = |function: u32| self.functions[function as usize].function.name.to_string();
        let mut closing = Vec::new();
        if self.exceeded.count > 0 {
            closing.push(format!(
                "{} nodes cost less than what they called (first: `{}`): the file's cumulative cost is kept, their exclusive \
                 cost is taken as 0",
                self.exceeded.count,
                name(self.exceeded.first)
            ));
        }
        if self.rounded.count > 0 {
            closing.push(format!(
                "{} figures are larger than 2^53 and stored rounded (first: `{}`)",
                self.rounded.count,
                name(self.rounded.first)
            ));
        }
        if self.notes_left_out > 0 {
            closing.push(format!("{} further notes were left out", self.notes_left_out));
        }
        for message in closing {
            self.notes.push(NoteRow { severity: Severity::Warning, position: None, message });
        }
    }

    fn function_rows(&self) -> Vec<InfoRow> {
        let metrics = self.metrics.len();
        let mut rows = Vec::new();
        for (metric, function) in product(metrics, self.functions.len()) {
            let known = &self.functions[function];
            if !known.used {
                continue;
            }
            let sums = &self.function_sums[function * metrics + metric];
            let figures = self.figures(known.has_nodes, known.calls, known.primitive, sums, (metric, function, NONE));
            let row = InfoRow {
                metric: MetricId(index(metric)),
                function: FunctionId(index(function)),
                place: None,
                figures,
            };
            if metric == self.default || figures.has_cost() {
                rows.push(row);
            }
        }
        rows
    }

    fn line_rows(&self) -> Vec<InfoRow> {
        let metrics = self.metrics.len();
        let mut rows = Vec::new();
        for (metric, line) in product(metrics, self.lines.len()) {
            let known = &self.lines[line];
            let sums = &self.line_sums[line * metrics + metric];
            let key = (metric, known.function as usize, index(line));
            let figures = self.figures(known.has_nodes, known.calls, known.primitive, sums, key);
            if metric == self.default || figures.has_cost() {
                rows.push(InfoRow {
                    metric: MetricId(index(metric)),
                    function: FunctionId(known.function),
                    place: Some(known.place.clone()),
                    figures,
                });
            }
        }
        rows
    }

    /// Sums where there are nodes, replaced by what the file itself says.
    fn figures(
        &self,
        has_nodes: bool,
        calls: Tally,
        primitive: Tally,
        sums: &Sums,
        (metric, function, line): (usize, usize, u32),
    ) -> InfoFigures {
        let mut figures = InfoFigures::default();
        if has_nodes {
            let known = !sums.cumulative_unknown;
            figures.calls = calls.0;
            figures.primitive = primitive.0;
            figures.exclusive = Some(sums.exclusive);
            figures.cumulative = known.then_some(sums.cumulative);
            figures.seen = known.then_some(sums.seen);
        }
        if let Some(&at) = self.recorded_index.get(&(index(metric), index(function), line)) {
            let said = self.recorded[at].figures;
            figures.calls = said.calls.or(figures.calls);
            figures.primitive = said.primitive.or(figures.primitive);
            figures.exclusive = said.exclusive.or(figures.exclusive);
            figures.cumulative = said.cumulative.or(figures.cumulative);
            figures.seen = said.seen.or(figures.seen);
            figures.recorded = true;
        }
        figures
    }

    fn edge_rows(&self) -> Vec<EdgeRow> {
        let metrics = self.metrics.len();
        let mut rows = Vec::new();
        for (metric, edge) in product(metrics, self.edges.len()) {
            let known = &self.edges[edge];
            let sums = self.edge_sums[edge * metrics + metric];
            let silent = [sums.exclusive, sums.cumulative, sums.outermost, sums.seen]
                .iter()
                .all(|sum| sum.is_none_or(|sum| sum == 0.0));
            if metric != self.default && silent {
                continue;
            }
            let caller = known.caller;
            rows.push(EdgeRow {
                metric: MetricId(index(metric)),
                callee: FunctionId(known.callee),
                caller: (caller.function != NONE).then_some(FunctionId(caller.function)),
                caller_line: u32::try_from(caller.line).ok(),
                caller_col: caller.col,
                kind: known.kind,
                calls: known.calls.0,
                exclusive: sums.exclusive,
                cumulative: sums.cumulative,
                outermost: sums.outermost,
                seen: sums.seen,
            });
        }
        rows
    }

    fn drain_trie(&mut self) {
        let trie = std::mem::take(&mut self.trie);
        for node in trie.walk() {
            match node {
                Step::Enter(node) => {
                    self.open(node.function, node.line, node.calls.flatten());
                    for &(metric, value) in &node.values {
                        self.cost(metric, Cost::Exclusive(value));
                    }
                }
                Step::Leave => self.leave(),
            }
        }
    }

    /// Opens a node whose line, if any, is interned already.
    fn open(&mut self, function: u32, line: u32, calls: Option<u64>) {
        if line == NONE {
            self.open_function(function, calls);
        } else {
            let place = self.lines[line as usize].place.clone();
            let file = place.file.as_deref().unwrap_or_default();
            self.open_line(function, Line { file, line: place.line, col: place.col }, calls);
        }
    }

    fn knows(&mut self, function: FunctionId) -> bool {
        let known = (function.0 as usize) < self.functions.len();
        if !known {
            self.refuse("the importer named a function that it never announced");
        }
        known
    }

    /// Whether a figure can be taken as it is; counts what a REAL rounds.
    fn accept(&mut self, metric: MetricId, figures: &[f64], function: u32) -> bool {
        if metric.0 as usize >= self.metrics.len() {
            self.refuse("the importer named a metric that it never announced");
            return false;
        }
        if !figures.iter().all(|figure| figure.is_finite()) {
            let name = &self.functions[function as usize].function.name;
            let reason = format!("the cost of `{name}` is no finite number");
            self.refuse(&reason);
            return false;
        }
        if figures.iter().any(|figure| figure.abs() > MAX_EXACT_COST) {
            self.rounded.add(function);
        }
        true
    }
}

/// 2^53 as a cost.
const MAX_EXACT_COST: f64 = 9_007_199_254_740_992.0;

impl<O: Output> Sink for TreeBuilder<O> {
    fn run(&mut self, fact: RunFact<'_>) {
        let facts = &mut self.facts;
        match fact {
            RunFact::Fidelity(fidelity) => facts.fidelity = fidelity,
            RunFact::Title(text) => facts.title = Some(text.to_owned()),
            RunFact::Command(text) => facts.command = Some(text.to_owned()),
            RunFact::ToolVersion(text) => facts.tool_version = Some(text.to_owned()),
            RunFact::RecordedAt(text) => facts.recorded_at = Some(text.to_owned()),
            RunFact::TimerBias(bias) => facts.timer_bias = Some(bias),
            RunFact::BiasApplied(bias) => facts.bias_applied = Some(bias),
            RunFact::DefaultMetric(metric) if self.frozen => {
                if metric.0 as usize != self.default {
                    self.refuse("the importer changed the default metric after the first cost");
                }
            }
            RunFact::DefaultMetric(metric) => facts.default_metric = Some(metric),
            RunFact::Total(metric, total) => {
                let at = metric.0 as usize;
                self.stated_totals.resize(self.stated_totals.len().max(at + 1), None);
                self.stated_totals[at] = Some(total);
            }
            RunFact::Other(key, value) => match facts.properties.iter_mut().find(|(known, _)| known == key) {
                Some((_, known)) => value.clone_into(known),
                None => facts.properties.push((key.to_owned(), value.to_owned())),
            },
        }
    }

    fn metric(&mut self, name: &str, unit: Unit) -> MetricId {
        if self.frozen {
            self.refuse("the importer announced a metric after the first cost");
        } else {
            self.metrics.push(MetricRow { name: name.to_owned(), unit, total: 0.0 });
        }
        MetricId(index(self.metrics.len()).saturating_sub(1))
    }

    fn function(&mut self, def: FunctionDef<'_>) -> FunctionId {
        let hash = self.hasher.hash_one(def);
        let same = |&at: &u32| is_defined_as(&self.functions[at as usize].function, &def);
        if let Some(&at) = self.function_index.find(hash, same) {
            return FunctionId(at);
        }
        let at = index(self.functions.len());
        self.functions.push(Known {
            function: Function {
                kind: def.kind,
                name: def.name.into(),
                module: def.module.into(),
                file: def.file.into(),
                first_line: def.first_line,
                first_col: def.first_col,
            },
            used: false,
            has_nodes: false,
            open: 0,
            calls: Tally::default(),
            primitive: Tally::default(),
        });
        if self.frozen {
            self.function_sums.resize(self.functions.len() * self.metrics.len(), Sums::default());
        }
        let (functions, hasher) = (&self.functions, &self.hasher);
        self.function_index
            .insert_unique(hash, at, |&at| hasher.hash_one(definition(&functions[at as usize].function)));
        FunctionId(at)
    }

    fn enter(&mut self, frame: Frame<'_>, calls: Option<u64>) {
        if self.failure.is_some() || !self.knows(frame.function) {
            return;
        }
        self.freeze();
        match frame.line {
            None => self.open_function(frame.function.0, calls),
            Some(line) => self.open_line(frame.function.0, line, calls),
        }
    }

    fn cost(&mut self, metric: MetricId, cost: Cost) {
        let Some(function) = self.stack.last().map(|level| level.function) else {
            return self.refuse("the importer gave a cost to no node");
        };
        let accepted = match cost {
            Cost::Exclusive(figure) | Cost::Cumulative(figure) | Cost::ExclusiveOnly(figure) => {
                self.accept(metric, &[figure], function)
            }
            Cost::Both { exclusive, cumulative } => self.accept(metric, &[exclusive, cumulative], function),
        };
        if accepted {
            let at = (self.stack.len() - 1) * self.metrics.len() + metric.0 as usize;
            self.accounts[at].given = Some(cost);
        }
    }

    fn leave(&mut self) {
        if self.failure.is_some() {
            return;
        }
        let Some(level) = self.stack.pop() else {
            return self.refuse("the importer closed a node that it never opened");
        };
        if level.line == NONE {
            self.functions[level.function as usize].open = level.outer;
        } else {
            self.lines[level.line as usize].open = level.outer;
        }
        if level.edge != NONE {
            self.open_pairs[self.edges[level.edge as usize].pair as usize] -= 1;
        }
        let metrics = self.metrics.len();
        let others = metrics.saturating_sub(1);
        let slot = level.node.checked_sub(self.base).and_then(|slot| usize::try_from(slot).ok());
        let mut default = Figures { exclusive: 0.0, cumulative: Some(0.0) };
        let mut other = 0;
        for metric in 0..metrics {
            let account = self.accounts[self.stack.len() * metrics + metric];
            let figures = self.settle(account, level.function);
            self.add_up(&level, metric, figures, account.callees);
            if metric == self.default {
                default = figures;
                continue;
            }
            match slot {
                Some(slot) => self.slot_figures[slot * others + other] = figures,
                None if figures.is_worth_a_row() => {
                    let metric = MetricId(index(metric));
                    self.late_costs.push(CostRow { metric, node: level.node, figures });
                }
                None => {}
            }
            other += 1;
        }
        self.accounts.truncate(self.stack.len() * metrics);
        let row = NodeRow {
            node: level.node,
            up: self.stack.last().map(|parent| level.node - parent.node),
            size: self.next - 1 - level.node,
            outer_up: (level.outer != 0).then(|| level.node - level.outer),
            depth: index(self.stack.len()),
            function: FunctionId(level.function),
            place: self.lines.get(level.line as usize).map(|line| line.place.clone()),
            calls: level.calls,
            figures: default,
        };
        match slot {
            Some(slot) => self.slots[slot] = Some(row),
            None => self.late.push(row),
        }
        if self.slots.len() >= NODES_PER_BATCH || self.late.len() >= NODES_PER_BATCH {
            self.flush();
        }
    }

    fn sample(&mut self, sample: Sample<'_>) {
        if self.failure.is_some() {
            return;
        }
        self.freeze();
        let mut at = Trie::TOP;
        // Where the function above an innermost line stands: it holds the cost as well.
        let mut innermost_function = None;
        for frame in sample.stack {
            if !self.knows(frame.function) {
                return;
            }
            let function = frame.function.0;
            at = self.trie.below(at, function, NONE);
            innermost_function = Some(at);
            if let Some(line) = frame.line {
                let line = self.intern_line(function, line);
                at = self.trie.below(at, function, line);
            }
        }
        let Some(function_node) = innermost_function else {
            return self.refuse("the importer gave a sample without frames");
        };
        self.trie.call(function_node, sample.calls);
        for &(metric, value) in sample.values {
            let function = self.trie.nodes[function_node].function;
            if self.accept(metric, &[value], function) {
                self.trie.add(function_node, metric, value);
                if at != function_node {
                    self.trie.add(at, metric, value);
                }
            }
        }
    }

    fn edge(&mut self, edge: Edge<'_>) {
        let caller_known = edge.caller.is_none_or(|frame| self.knows(frame.function));
        if self.failure.is_some() || !caller_known || !self.knows(edge.callee) {
            return;
        }
        self.freeze();
        let callee = edge.callee.0;
        let caller = edge.caller.map_or(Caller::ROOT, |frame| Caller {
            function: frame.function.0,
            line: frame.line.map_or(-1, |line| i64::from(line.line)),
            col: frame.line.map_or(0, |line| line.col),
        });
        self.mention(callee);
        if caller.function != NONE {
            self.mention(caller.function);
        }
        let at = self.intern_edge(callee, caller, edge.kind);
        if !self.edges[at as usize].calls.add(edge.calls) {
            self.refuse("the calls of an edge add up to more than 2^53");
        }
        for cost in edge.costs {
            let parts = [cost.exclusive, cost.cumulative, cost.outermost, cost.seen];
            let figures: Vec<f64> = parts.iter().flatten().copied().collect();
            if !self.accept(cost.metric, &figures, callee) {
                return;
            }
            let sums = &mut self.edge_sums[at as usize * self.metrics.len() + cost.metric.0 as usize];
            let targets = [&mut sums.exclusive, &mut sums.cumulative, &mut sums.outermost, &mut sums.seen].into_iter();
            for (sum, part) in targets.zip(parts) {
                if let Some(part) = part {
                    *sum = Some(sum.unwrap_or(0.0) + part);
                }
            }
        }
    }

    fn info(&mut self, info: Info<'_>) {
        if self.failure.is_some() || !self.knows(info.frame.function) {
            return;
        }
        self.freeze();
        let function = info.frame.function.0;
        let figures: Vec<f64> = [info.exclusive, info.cumulative, info.seen].into_iter().flatten().collect();
        if !self.accept(info.metric, &figures, function) {
            return;
        }
        if [info.calls, info.primitive].into_iter().flatten().any(|calls| calls > MAX_EXACT) {
            return self.refuse("a number of calls is larger than 2^53");
        }
        self.mention(function);
        let line = info.frame.line.map_or(NONE, |line| self.intern_line(function, line));
        let row = InfoRow {
            metric: info.metric,
            function: info.frame.function,
            place: None,
            figures: InfoFigures {
                calls: info.calls,
                primitive: info.primitive,
                exclusive: info.exclusive,
                cumulative: info.cumulative,
                seen: info.seen,
                recorded: true,
            },
        };
        let next = self.recorded.len();
        let at = *self.recorded_index.entry((info.metric.0, function, line)).or_insert(next);
        if at == next {
            self.recorded.push(row);
        } else {
            self.recorded[at] = row;
        }
    }

    fn note(&mut self, note: Note<'_>) {
        if self.notes.len() >= MAX_NOTES {
            self.notes_left_out += 1;
            return;
        }
        let Note { severity, position, message } = note;
        self.notes.push(NoteRow { severity, position, message: message.to_owned() });
    }
}

impl Figures {
    /// Costs of 0 in other metrics have no row.
    fn is_worth_a_row(self) -> bool {
        self.exclusive != 0.0 || self.cumulative != Some(0.0)
    }
}

impl InfoFigures {
    fn has_cost(&self) -> bool {
        let silent = |figure: Option<f64>| figure.is_none_or(|figure| figure == 0.0);
        !(silent(self.exclusive) && silent(self.cumulative) && silent(self.seen))
    }
}

/// Which of the totals hold: what the file states, else what the roots add up to, else (without nodes) what the
/// functions cost themselves.
fn with_totals(mut totals: Totals, stated: &[Option<f64>]) -> Totals {
    for (at, metric) in totals.metrics.iter_mut().enumerate() {
        if let Some(&Some(stated)) = stated.get(at) {
            metric.total = stated;
        } else if totals.nodes == 0 {
            let own = totals.functions.iter().filter(|row| row.metric.0 as usize == at);
            metric.total = own.filter_map(|row| row.figures.exclusive).sum();
        }
    }
    totals
}

fn definition(function: &Function) -> FunctionDef<'_> {
    FunctionDef {
        kind: function.kind,
        name: &function.name,
        module: &function.module,
        file: &function.file,
        first_line: function.first_line,
        first_col: function.first_col,
    }
}

fn is_defined_as(function: &Function, def: &FunctionDef<'_>) -> bool {
    definition(function) == *def
}

/// Indexes fit in 32 bits: nothing that is kept in memory reaches 2^32 entries.
fn index(at: usize) -> u32 {
    u32::try_from(at).expect("fewer than 2^32 functions, lines, edges and open nodes")
}

fn product(outer: usize, inner: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..outer).flat_map(move |a| (0..inner).map(move |b| (a, b)))
}

/// Stacks, merged by their frames; children in the order in which they first came.
struct Trie {
    nodes: Vec<TrieNode>,
    children: HashMap<(usize, u32, u32), usize>,
}

struct TrieNode {
    function: u32,
    line: u32,
    /// `None` before the first sample that ends here, `Some(None)` if one did without knowing its calls.
    calls: Option<Option<u64>>,
    values: Vec<(MetricId, f64)>,
    first_child: usize,
    last_child: usize,
    next_sibling: usize,
}

enum Step<'a> {
    Enter(&'a TrieNode),
    Leave,
}

impl Default for Trie {
    fn default() -> Self {
        let mut trie = Self { nodes: Vec::new(), children: HashMap::new() };
        trie.nodes.push(TrieNode::new(NONE, NONE));
        trie
    }
}

impl TrieNode {
    fn new(function: u32, line: u32) -> Self {
        Self { function, line, calls: None, values: Vec::new(), first_child: 0, last_child: 0, next_sibling: 0 }
    }
}

impl Trie {
    /// The node above all stacks; as a link, 0 means none.
    const TOP: usize = 0;

    fn below(&mut self, parent: usize, function: u32, line: u32) -> usize {
        let next = self.nodes.len();
        let found = *self.children.entry((parent, function, line)).or_insert(next);
        if found == next {
            self.nodes.push(TrieNode::new(function, line));
            let last = std::mem::replace(&mut self.nodes[parent].last_child, next);
            if last == 0 {
                self.nodes[parent].first_child = next;
            } else {
                self.nodes[last].next_sibling = next;
            }
        }
        found
    }

    fn call(&mut self, at: usize, calls: Option<u64>) {
        let known = &mut self.nodes[at].calls;
        *known = Some(match *known {
            None => calls,
            Some(sum) => sum.zip(calls).map(|(sum, calls)| sum.saturating_add(calls)),
        });
    }

    fn add(&mut self, at: usize, metric: MetricId, value: f64) {
        let values = &mut self.nodes[at].values;
        match values.iter_mut().find(|(known, _)| *known == metric) {
            Some((_, sum)) => *sum += value,
            None => values.push((metric, value)),
        }
    }

    /// All nodes in pre-order, each closed after its children. Does not recurse: stacks may be a million frames deep.
    fn walk(&self) -> impl Iterator<Item = Step<'_>> {
        let mut open: Vec<usize> = Vec::new();
        let mut next = self.nodes[Self::TOP].first_child;
        std::iter::from_fn(move || {
            if next != 0 {
                let node = &self.nodes[next];
                open.push(next);
                next = node.first_child;
                return Some(Step::Enter(node));
            }
            let closed = open.pop()?;
            next = self.nodes[closed].next_sibling;
            Some(Step::Leave)
        })
    }
}
