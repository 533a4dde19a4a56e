//! What adds up over a whole run: the dictionaries of functions, lines and edges with their sums, and the figures that the
//! file itself gives.

use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::{DefaultHashBuilder, HashMap, HashTable};

use super::rows::{EdgeRow, Figures, Function, InfoFigures, InfoRow, Place};
use super::{NONE, index};
use crate::events::{EdgeKind, FunctionDef, FunctionId, Line, MetricId};

/// Above this, not every whole number is a REAL.
pub(super) const MAX_EXACT: u64 = 1 << 53;

/// A sum of counts that is unknown as soon as one part is.
#[derive(Clone, Copy, Debug)]
struct Tally(Option<u64>);

impl Default for Tally {
    fn default() -> Self {
        Self(Some(0))
    }
}

impl Tally {
    /// Adds a part; says whether part and sum are numbers that a REAL holds exactly.
    fn add(&mut self, part: Option<u64>) -> bool {
        self.0 = self.0.zip(part).map(|(sum, part)| sum.saturating_add(part));
        [part, self.0].into_iter().flatten().all(|count| count <= MAX_EXACT)
    }
}

/// What nodes of one function, or of one line, have in common.
#[derive(Default)]
struct Count {
    /// It has nodes, so sums mean something.
    has_nodes: bool,
    /// Its innermost open node, 0 if none is open.
    open: u64,
    calls: Tally,
    /// Calls of outermost nodes.
    primitive: Tally,
}

impl Count {
    fn open(&mut self, node: u64, calls: Option<u64>) -> Opened {
        self.has_nodes = true;
        let outer = std::mem::replace(&mut self.open, node);
        let exact = self.calls.add(calls);
        if outer == 0 {
            self.primitive.add(calls);
        }
        Opened { outer, exact }
    }
}

/// What is known of a node that has just been opened.
#[derive(Clone, Copy)]
pub(super) struct Opened {
    /// The nearest enclosing node of the same function or line, 0 if none.
    pub(super) outer: u64,
    /// The calls still add up to a number that a REAL holds exactly.
    pub(super) exact: bool,
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

impl Sums {
    fn add(&mut self, figures: Figures, outermost: bool) {
        let cumulative = figures.cumulative.unwrap_or(0.0);
        self.exclusive += figures.exclusive;
        self.seen += cumulative;
        self.cumulative_unknown |= figures.cumulative.is_none();
        if outermost {
            self.cumulative += cumulative;
        }
    }
}

struct KnownFunction {
    function: Function,
    /// A node, edge or info has mentioned it.
    mentioned: bool,
    count: Count,
}

struct KnownLine {
    function: u32,
    place: Place,
    count: Count,
}

/// Whom a function has as its caller.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Caller {
    /// The function, [`NONE`] at the root.
    pub(super) function: u32,
    /// Its line, -1 if unknown.
    pub(super) line: i64,
    /// Its column, 0 if unknown.
    pub(super) col: u32,
}

impl Caller {
    pub(super) const ROOT: Self = Self { function: NONE, line: -1, col: 0 };
}

struct KnownEdge {
    callee: u32,
    caller: Caller,
    kind: EdgeKind,
    /// The pair of functions, whatever the line.
    pair: u32,
    calls: Tally,
}

/// Sums for one edge in one metric; `None` where nothing has been said.
#[derive(Clone, Copy, Default)]
pub(super) struct EdgeSums {
    pub(super) exclusive: Option<f64>,
    pub(super) cumulative: Option<f64>,
    pub(super) outermost: Option<f64>,
    pub(super) seen: Option<f64>,
}

impl EdgeSums {
    /// Adds what is known.
    pub(super) fn add(&mut self, parts: Self) {
        let add = |sum: &mut Option<f64>, part: Option<f64>| {
            if let Some(part) = part {
                *sum = Some(sum.unwrap_or(0.0) + part);
            }
        };
        add(&mut self.exclusive, parts.exclusive);
        add(&mut self.cumulative, parts.cumulative);
        add(&mut self.outermost, parts.outermost);
        add(&mut self.seen, parts.seen);
    }

    fn is_silent(&self) -> bool {
        let Self { exclusive, cumulative, outermost, seen } = self;
        [exclusive, cumulative, outermost, seen].iter().all(|sum| sum.is_none_or(|sum| sum == 0.0))
    }
}

/// The dictionaries. Functions, lines and edges are named by their index; sums lie metric by metric behind each other.
#[derive(Default)]
pub(super) struct Ledger {
    metrics: usize,
    functions: Vec<KnownFunction>,
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
    recorded: HashMap<(u32, u32, u32), InfoFigures>,
}

impl Ledger {
    /// Says how many metrics there are; once, before anything is added up.
    pub(super) fn set_metrics(&mut self, metrics: usize) {
        self.metrics = metrics;
        self.function_sums.resize(self.functions.len() * metrics, Sums::default());
    }

    /// Finds or makes the entry of a function.
    pub(super) fn function(&mut self, def: FunctionDef<'_>) -> u32 {
        let hash = self.hasher.hash_one(def);
        let same = |&at: &u32| definition(&self.functions[at as usize].function) == def;
        if let Some(&at) = self.function_index.find(hash, same) {
            return at;
        }
        let at = index(self.functions.len());
        let function = Function {
            kind: def.kind,
            name: def.name.into(),
            module: def.module.into(),
            file: def.file.into(),
            first_line: def.first_line,
            first_col: def.first_col,
        };
        self.functions.push(KnownFunction { function, mentioned: false, count: Count::default() });
        self.function_sums.resize(self.functions.len() * self.metrics, Sums::default());
        let (functions, hasher) = (&self.functions, &self.hasher);
        let rehash = |&at: &u32| hasher.hash_one(definition(&functions[at as usize].function));
        self.function_index.insert_unique(hash, at, rehash);
        at
    }

    /// Whether there is such a function.
    pub(super) fn has_function(&self, function: FunctionId) -> bool {
        (function.0 as usize) < self.functions.len()
    }

    /// A function.
    pub(super) fn known(&self, function: u32) -> &Function {
        &self.functions[function as usize].function
    }

    /// Marks a function as mentioned; gives its text the first time.
    pub(super) fn mention(&mut self, function: u32) -> Option<Function> {
        let known = &mut self.functions[function as usize];
        let first = !std::mem::replace(&mut known.mentioned, true);
        first.then(|| known.function.clone())
    }

    /// Finds or makes the entry of a line.
    pub(super) fn line(&mut self, function: u32, line: Line<'_>) -> u32 {
        let file = (!line.file.is_empty()).then(|| Arc::from(line.file));
        let place = Place { file, line: line.line, col: line.col };
        let next = index(self.lines.len());
        let found = *self.line_index.entry((function, place.clone())).or_insert(next);
        if found == next {
            self.lines.push(KnownLine { function, place, count: Count::default() });
            self.line_sums.resize(self.lines.len() * self.metrics, Sums::default());
        }
        found
    }

    /// The place of a line; `None` for [`NONE`].
    pub(super) fn place(&self, line: u32) -> Option<&Place> {
        self.lines.get(line as usize).map(|line| &line.place)
    }

    /// Finds or makes the entry of an edge.
    pub(super) fn edge(&mut self, callee: u32, caller: Caller, kind: EdgeKind) -> u32 {
        let next = index(self.edges.len());
        let found = *self.edge_index.entry((callee, caller, kind)).or_insert(next);
        if found == next {
            let fresh = index(self.open_pairs.len());
            let pair = *self.pair_index.entry((callee, caller.function)).or_insert(fresh);
            if pair == fresh {
                self.open_pairs.push(0);
            }
            self.edges.push(KnownEdge { callee, caller, kind, pair, calls: Tally::default() });
            self.edge_sums.resize(self.edges.len() * self.metrics, EdgeSums::default());
        }
        found
    }

    /// Opens a node of a function.
    pub(super) fn open_function(&mut self, function: u32, node: u64, calls: Option<u64>) -> Opened {
        self.functions[function as usize].count.open(node, calls)
    }

    /// Opens a node of a line.
    pub(super) fn open_line(&mut self, line: u32, node: u64, calls: Option<u64>) -> Opened {
        self.lines[line as usize].count.open(node, calls)
    }

    /// Opens a node that an edge leads to; says whether no enclosing node has the same pair of functions.
    pub(super) fn open_edge(&mut self, edge: u32, calls: Option<u64>) -> bool {
        let known = &mut self.edges[edge as usize];
        known.calls.add(calls);
        let open = &mut self.open_pairs[known.pair as usize];
        *open += 1;
        *open == 1
    }

    /// Closes the innermost node of a function, line ([`NONE`] for functions) and edge ([`NONE`] if there is none).
    pub(super) fn close(&mut self, function: u32, line: u32, edge: u32, outer: u64) {
        if line == NONE {
            self.functions[function as usize].count.open = outer;
        } else {
            self.lines[line as usize].count.open = outer;
        }
        if edge != NONE {
            self.open_pairs[self.edges[edge as usize].pair as usize] -= 1;
        }
    }

    /// Adds the figures of a node to its function.
    pub(super) fn add_to_function(&mut self, function: u32, metric: usize, figures: Figures, outermost: bool) {
        self.function_sums[function as usize * self.metrics + metric].add(figures, outermost);
    }

    /// Adds the figures of a node to its line.
    pub(super) fn add_to_line(&mut self, line: u32, metric: usize, figures: Figures, outermost: bool) {
        self.line_sums[line as usize * self.metrics + metric].add(figures, outermost);
    }

    /// Adds to an edge.
    pub(super) fn add_to_edge(&mut self, edge: u32, metric: usize, parts: EdgeSums) {
        self.edge_sums[edge as usize * self.metrics + metric].add(parts);
    }

    /// Adds the calls of an edge that has no node; says whether the sum is still exact.
    pub(super) fn add_calls_to_edge(&mut self, edge: u32, calls: Option<u64>) -> bool {
        self.edges[edge as usize].calls.add(calls)
    }

    /// Keeps what the file itself says of a function or line ([`NONE`] for functions).
    pub(super) fn record(&mut self, metric: MetricId, function: u32, line: u32, figures: InfoFigures) {
        self.recorded.insert((metric.0, function, line), figures);
    }

    /// Whether all sums are finite: sums of finite figures may not be.
    pub(super) fn is_finite(&self) -> bool {
        let sums = self.function_sums.iter().chain(&self.line_sums);
        let edges = self.edge_sums.iter().flat_map(|sums| [sums.exclusive, sums.cumulative, sums.outermost, sums.seen]);
        sums.flat_map(|sums| [sums.exclusive, sums.cumulative, sums.seen]).chain(edges.flatten()).all(f64::is_finite)
    }

    /// One row per metric and function: all functions in the default metric, in others those that cost anything.
    pub(super) fn function_rows(&self, default: usize) -> Vec<InfoRow> {
        let mut rows = Vec::new();
        for (metric, function) in product(self.metrics, self.functions.len()) {
            let known = &self.functions[function];
            let sums = &self.function_sums[function * self.metrics + metric];
            let key = (index(metric), index(function), NONE);
            let figures = self.figures(&known.count, sums, key);
            if known.mentioned && (metric == default || figures.has_cost()) {
                rows.push(InfoRow { metric: MetricId(key.0), function: FunctionId(key.1), place: None, figures });
            }
        }
        rows
    }

    /// One row per metric and line: all lines in the default metric, in others those that cost anything.
    pub(super) fn line_rows(&self, default: usize) -> Vec<InfoRow> {
        let mut rows = Vec::new();
        for (metric, line) in product(self.metrics, self.lines.len()) {
            let known = &self.lines[line];
            let sums = &self.line_sums[line * self.metrics + metric];
            let figures = self.figures(&known.count, sums, (index(metric), known.function, index(line)));
            if metric == default || figures.has_cost() {
                let place = Some(known.place.clone());
                let (metric, function) = (MetricId(index(metric)), FunctionId(known.function));
                rows.push(InfoRow { metric, function, place, figures });
            }
        }
        rows
    }

    /// Sums where there are nodes, replaced by what the file itself says.
    fn figures(&self, count: &Count, sums: &Sums, key: (u32, u32, u32)) -> InfoFigures {
        let mut figures = InfoFigures::default();
        if count.has_nodes {
            let known = !sums.cumulative_unknown;
            figures.calls = count.calls.0;
            figures.primitive = count.primitive.0;
            figures.exclusive = Some(sums.exclusive);
            figures.cumulative = known.then_some(sums.cumulative);
            figures.seen = known.then_some(sums.seen);
        }
        if let Some(said) = self.recorded.get(&key) {
            figures.calls = said.calls.or(figures.calls);
            figures.primitive = said.primitive.or(figures.primitive);
            figures.exclusive = said.exclusive.or(figures.exclusive);
            figures.cumulative = said.cumulative.or(figures.cumulative);
            figures.seen = said.seen.or(figures.seen);
            figures.recorded = true;
        }
        figures
    }

    /// One row per metric and edge: all edges in the default metric, in others those that cost anything, and back edges,
    /// which cost nothing in any.
    pub(super) fn edge_rows(&self, default: usize) -> Vec<EdgeRow> {
        let mut rows = Vec::new();
        for (metric, edge) in product(self.metrics, self.edges.len()) {
            let KnownEdge { callee, caller, kind, calls, .. } = &self.edges[edge];
            let sums = self.edge_sums[edge * self.metrics + metric];
            if metric != default && *kind == EdgeKind::Call && sums.is_silent() {
                continue;
            }
            rows.push(EdgeRow {
                metric: MetricId(index(metric)),
                callee: FunctionId(*callee),
                caller: (caller.function != NONE).then_some(FunctionId(caller.function)),
                caller_line: u32::try_from(caller.line).ok(),
                caller_col: caller.col,
                kind: *kind,
                calls: calls.0,
                exclusive: sums.exclusive,
                cumulative: sums.cumulative,
                outermost: sums.outermost,
                seen: sums.seen,
            });
        }
        rows
    }
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

fn product(outer: usize, inner: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..outer).flat_map(move |a| (0..inner).map(move |b| (a, b)))
}
