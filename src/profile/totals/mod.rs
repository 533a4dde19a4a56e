//! What adds up over a whole run: the dictionaries of functions, lines and edges with their sums,
//! and the figures that the file itself gives.

mod derived;

use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::{DefaultHashBuilder, HashMap};
use prefetch_index::prefetch_index;

use derived::{Derived, Recursion};

use super::ids::{NONE, index};
use super::rows::{EdgeRow, Figures, Function, InfoFigures, InfoRow, Place, Rows};
use super::sums::{Count, EdgeSums, Opened, Sums, Tally};
use crate::base::hash_index::HashIndex;
use crate::events::{EdgeCost, EdgeKind, Frame, FunctionId, Line, MetricId};

/// What changes with every node of a function, apart from its text.
struct FunctionState {
    count: Count,
    /// Where it is as a caller, [`NONE`] before it has called.
    site: u32,
    /// The line that was opened first below the last node, [`NONE`] before there was any.
    first_line: u32,
    /// The edge that led here the last time, [`NONE`] before there was any.
    edge: u32,
    /// A node, edge or info has mentioned it.
    mentioned: bool,
    is_container: bool,
}

struct KnownLine {
    count: Count,
    function: u32,
    /// Where it is as a caller, [`NONE`] before it has called.
    site: u32,
    /// The line that was opened behind it the last time, [`NONE`] before there was any.
    next: u32,
    place: Place,
}

/// Whom a function has as its caller: a function, or one line of it.
#[derive(Clone, Copy)]
pub(super) struct Caller {
    /// The function, [`NONE`] at the root.
    pub(super) function: u32,
    /// The line, [`NONE`] if unknown.
    pub(super) line: u32,
}

impl Caller {
    pub(super) const ROOT: Self = Self {
        function: NONE,
        line: NONE,
    };
}

/// A caller as edges tell it: lines of one number are one, whatever the file.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Site {
    /// The function, [`NONE`] at the root.
    pub(super) function: u32,
    /// Its line, -1 if unknown.
    pub(super) line: i64,
    /// Its column, 0 if unknown.
    pub(super) col: u32,
}

impl Site {
    pub(super) const ROOT: Self = Self {
        function: NONE,
        line: -1,
        col: 0,
    };

    /// The site of an edge that the file itself tells.
    pub(super) fn of(caller: Option<Frame<'_>>) -> Self {
        caller.map_or(Self::ROOT, |frame| Self {
            function: frame.function.0,
            line: frame.line.map_or(-1, |line| i64::from(line.line)),
            col: frame.line.map_or(0, |line| line.col),
        })
    }
}

struct KnownEdge {
    callee: u32,
    site: u32,
    /// The first edge of the same pair of functions, whatever the line.
    pair: u32,
    /// How many nodes of the pair are open, for such a first edge.
    open: u32,
    calls: Tally,
    kind: EdgeKind,
}

impl KnownEdge {
    fn key(&self) -> (u32, u32, EdgeKind) {
        (self.callee, self.site, self.kind)
    }
}

/// The dictionaries. Functions, lines and edges are named by their index; sums lie metric by metric
/// behind each other.
#[derive(Default)]
pub(super) struct Ledger {
    metrics: usize,
    /// The metric in which all functions and lines have a row.
    default: usize,
    functions: Vec<Arc<Function>>,
    /// One per function.
    function_states: Vec<FunctionState>,
    hasher: DefaultHashBuilder,
    function_sums: Vec<Sums>,
    lines: Vec<KnownLine>,
    /// Lines in the file of their function, without column: by function and number.
    plain_lines: HashMap<(u32, u32), u32>,
    other_lines: HashMap<(u32, Place), u32>,
    line_sums: Vec<Sums>,
    sites: Vec<Site>,
    site_index: HashMap<Site, u32>,
    edges: Vec<KnownEdge>,
    /// By callee and site.
    edge_index: HashIndex,
    edge_sums: Vec<EdgeSums>,
    /// By callee and caller, the first edge of each pair, where that has a line.
    pair_index: HashIndex,
    /// What the file itself says.
    recorded: Vec<InfoFigures>,
    /// Where that is: one per function and metric, [`NONE`] where it says nothing; fewer if nothing
    /// is said of the last ones.
    recorded_functions: Vec<u32>,
    /// The same by metric and line.
    recorded_lines: HashMap<(u32, u32), u32>,
    /// For runs that know no paths: one per function.
    recursions: Vec<Recursion>,
    /// The same, and one per metric.
    derived: Vec<Derived>,
}

impl Ledger {
    /// Says how many metrics there are, before anything is added up.
    pub(super) fn set_metrics(&mut self, metrics: usize) {
        self.metrics = metrics;
        self.function_sums
            .resize(self.functions.len() * metrics, Sums::default());
        self.line_sums
            .resize(self.lines.len() * metrics, Sums::default());
    }

    /// Whether there is something besides functions and lines.
    pub(super) fn has_figures(&self) -> bool {
        !self.edges.is_empty() || !self.recorded.is_empty()
    }

    /// Makes the entry of a function: the next one.
    pub(super) fn add_function(&mut self, function: Arc<Function>) {
        let is_container = function.kind.is_container();
        self.functions.push(function);
        let count = Count::default();
        let state = FunctionState {
            count,
            site: NONE,
            first_line: NONE,
            edge: NONE,
            mentioned: false,
            is_container,
        };
        self.function_states.push(state);
        self.function_sums
            .resize(self.functions.len() * self.metrics, Sums::default());
    }

    /// How many functions there are.
    pub(super) fn functions(&self) -> usize {
        self.functions.len()
    }

    /// Whether there is such a function.
    pub(super) fn has_function(&self, function: FunctionId) -> bool {
        (function.0 as usize) < self.functions.len()
    }

    /// A function.
    pub(super) fn known(&self, function: u32) -> &Function {
        &self.functions[function as usize]
    }

    /// Marks a function as mentioned; gives its text the first time.
    pub(super) fn mention(&mut self, function: u32) -> Option<Arc<Function>> {
        let first =
            !std::mem::replace(&mut self.function_states[function as usize].mentioned, true);
        first.then(|| Arc::clone(&self.functions[function as usize]))
    }

    /// Whether nodes of a function only hold others.
    pub(super) fn is_container(&self, function: u32) -> bool {
        self.function_states[function as usize].is_container
    }

    /// Finds or makes the entry of a line.
    pub(super) fn line(&mut self, function: u32, line: Line<'_>) -> u32 {
        let next = index(self.lines.len());
        let mut place = Place {
            file: None,
            line: line.line,
            col: line.col,
        };
        let found = if line.file.is_empty() && line.col == 0 {
            *self
                .plain_lines
                .entry((function, line.line))
                .or_insert(next)
        } else {
            place.file = (!line.file.is_empty()).then(|| Arc::from(line.file));
            *self
                .other_lines
                .entry((function, place.clone()))
                .or_insert(next)
        };
        if found == next {
            self.lines.push(KnownLine {
                count: Count::default(),
                function,
                site: NONE,
                next: NONE,
                place,
            });
            self.line_sums
                .resize(self.lines.len() * self.metrics, Sums::default());
        }
        found
    }

    /// The same for a line that is opened behind another one ([`NONE`] if it is the first) below
    /// one node. Mostly it is the one that came there the last time, which is found without
    /// hashing, and in memory that is needed anyway.
    pub(super) fn line_behind(&mut self, last: u32, function: u32, line: Line<'_>) -> u32 {
        let guess = *self.behind(last, function);
        if self
            .lines
            .get(guess as usize)
            .is_some_and(|known| known.function == function)
            && self.is_line(guess, line)
        {
            return guess;
        }
        let found = self.line(function, line);
        *self.behind(last, function) = found;
        found
    }

    fn behind(&mut self, last: u32, function: u32) -> &mut u32 {
        match self.lines.get_mut(last as usize) {
            Some(last) => &mut last.next,
            None => &mut self.function_states[function as usize].first_line,
        }
    }

    /// The place of a line; `None` for [`NONE`].
    pub(super) fn place(&self, line: u32) -> Option<&Place> {
        self.lines.get(line as usize).map(|line| &line.place)
    }

    /// Whether an entry is that of a line.
    pub(super) fn is_line(&self, at: u32, line: Line<'_>) -> bool {
        self.place(at).is_some_and(|place| {
            // Most lines have no file of their own, and comparing two empty texts costs a call.
            let same_file = match &place.file {
                None => line.file.is_empty(),
                Some(file) => **file == *line.file,
            };
            (place.line, place.col) == (line.line, line.col) && same_file
        })
    }

    /// Finds or makes the entry of an edge.
    pub(super) fn edge(&mut self, callee: u32, site: u32, kind: EdgeKind) -> u32 {
        let Self {
            edges,
            edge_index,
            pair_index,
            sites,
            function_states,
            hasher,
            ..
        } = self;
        let hash = hash_pair(hasher, callee, site);
        if let Some(found) =
            edge_index.find(hash, |at| edges[at as usize].key() == (callee, site, kind))
        {
            return found;
        }
        let at = index(edges.len());
        let Site {
            function: caller,
            line,
            ..
        } = sites[site as usize];
        let has_line = line >= 0;
        let pair_of = |at: u32| {
            (
                edges[at as usize].callee,
                sites[edges[at as usize].site as usize].function,
            )
        };
        let pair_hash = hash_pair(hasher, callee, caller);
        let mut first = pair_index.find(pair_hash, |first| pair_of(first) == (callee, caller));
        if let (None, true, Some(state)) = (first, has_line, function_states.get(caller as usize)) {
            // The edge of the pair that has no line is found as what it is.
            let plain = (callee, state.site, EdgeKind::Call);
            first = edge_index.find(hash_pair(hasher, callee, state.site), |at| {
                edges[at as usize].key() == plain
            });
        }
        if first.is_none() && has_line {
            pair_index.insert(pair_hash, at);
        }
        edge_index.insert(hash, at);
        edges.push(KnownEdge {
            callee,
            site,
            pair: first.unwrap_or(at),
            open: 0,
            calls: Tally::default(),
            kind,
        });
        self.edge_sums
            .resize(self.edges.len() * self.metrics, EdgeSums::default());
        at
    }

    /// The same for a node that is opened. Most functions are called where they were called the
    /// last time, so that the edge is found without a search.
    pub(super) fn edge_of_node(&mut self, callee: u32, site: u32) -> u32 {
        let last = self.function_states[callee as usize].edge;
        if self
            .edges
            .get(last as usize)
            .is_some_and(|known| known.site == site)
        {
            return last;
        }
        let found = self.edge(callee, site, EdgeKind::Call);
        self.function_states[callee as usize].edge = found;
        found
    }

    /// Says what nodes of these functions with these callers will need, so that memory begins to
    /// deliver it: step by step for all of them, as each step depends on what the one before has
    /// asked for.
    pub(super) fn look_at(&self, nodes: &[(u32, u32)]) {
        let state = |function: u32| self.function_states.get(function as usize);
        for (function, _) in nodes {
            prefetch_index(&self.function_states, *function as usize);
            prefetch_index(&self.function_sums, *function as usize * self.metrics);
        }
        let hash =
            |function, caller: &FunctionState| hash_pair(&self.hasher, function, caller.site);
        for (function, caller) in nodes {
            let (Some(known), Some(caller)) = (state(*function), state(*caller)) else {
                continue;
            };
            prefetch_index(&self.edges, known.edge as usize);
            self.edge_index.prefetch(hash(*function, caller));
        }
        for (function, caller) in nodes {
            let (Some(known), Some(caller)) = (state(*function), state(*caller)) else {
                continue;
            };
            let edge = match self.edges.get(known.edge as usize) {
                Some(last) if last.site == caller.site => Some(known.edge),
                _ => self.edge_index.guess(hash(*function, caller)),
            };
            let Some(edge) = edge else { continue };
            prefetch_index(&self.edges, edge as usize);
            prefetch_index(&self.edge_sums, edge as usize * self.metrics);
        }
    }

    /// Finds or makes the site of a caller of nodes.
    pub(super) fn site_of(&mut self, caller: Caller) -> u32 {
        let (known, line, col) = match (self.lines.get_mut(caller.line as usize), caller.function) {
            (Some(line), _) => (&mut line.site, i64::from(line.place.line), line.place.col),
            (None, NONE) => return self.site(Site::ROOT),
            (None, function) => (&mut self.function_states[function as usize].site, -1, 0),
        };
        if *known == NONE {
            *known = found_or_made(
                &mut self.site_index,
                &mut self.sites,
                Site {
                    function: caller.function,
                    line,
                    col,
                },
            );
        }
        *known
    }

    /// Finds or makes the entry of a site.
    pub(super) fn site(&mut self, site: Site) -> u32 {
        found_or_made(&mut self.site_index, &mut self.sites, site)
    }

    /// Opens a node of a function.
    pub(super) fn open_function(&mut self, function: u32, node: u64, calls: Option<u64>) -> Opened {
        prefetch_index(&self.function_sums, function as usize * self.metrics);
        self.function_states[function as usize]
            .count
            .open(node, calls)
    }

    /// Opens a node of a line.
    pub(super) fn open_line(&mut self, line: u32, node: u64, calls: Option<u64>) -> Opened {
        prefetch_index(&self.line_sums, line as usize * self.metrics);
        self.lines[line as usize].count.open(node, calls)
    }

    /// Opens a node that an edge leads to; says whether no enclosing node has the same pair of
    /// functions.
    pub(super) fn open_edge(&mut self, edge: u32, calls: Option<u64>) -> bool {
        prefetch_index(&self.edge_sums, edge as usize * self.metrics);
        let known = &mut self.edges[edge as usize];
        known.calls.add(calls);
        let pair = known.pair as usize;
        let open = &mut self.edges[pair].open;
        *open += 1;
        *open == 1
    }

    /// Closes the innermost node of a function, line ([`NONE`] for functions) and edge ([`NONE`] if
    /// there is none).
    pub(super) fn close(&mut self, function: u32, line: u32, edge: u32, outer: u64) {
        if line == NONE {
            self.function_states[function as usize].count.open = outer;
        } else {
            self.lines[line as usize].count.open = outer;
        }
        if edge != NONE {
            let pair = self.edges[edge as usize].pair as usize;
            self.edges[pair].open -= 1;
        }
    }

    /// Adds the figures of a node to its function.
    pub(super) fn add_to_function(
        &mut self,
        function: u32,
        metric: usize,
        figures: Figures,
        outermost: bool,
    ) {
        self.function_sums[function as usize * self.metrics + metric].add(figures, outermost);
    }

    /// Adds the figures of a node to its line.
    pub(super) fn add_to_line(
        &mut self,
        line: u32,
        metric: usize,
        figures: Figures,
        outermost: bool,
    ) {
        self.line_sums[line as usize * self.metrics + metric].add(figures, outermost);
    }

    /// Adds the figures of a node to the edge that leads to it.
    pub(super) fn add_to_edge(&mut self, edge: u32, metric: usize, parts: [f64; 4]) {
        let edge = &mut self.edge_sums[edge as usize * self.metrics + metric];
        edge.known = [true; 4];
        for (sum, part) in edge.sums.iter_mut().zip(parts) {
            *sum += part;
        }
    }

    /// Adds what is known of an edge that has no node: exclusive, cumulative, outermost, seen.
    pub(super) fn add_known_to_edge(&mut self, edge: u32, metric: usize, parts: [Option<f64>; 4]) {
        let edge = &mut self.edge_sums[edge as usize * self.metrics + metric];
        for (at, part) in parts.into_iter().enumerate() {
            edge.known[at] |= part.is_some();
            edge.sums[at] += part.unwrap_or(0.0);
        }
    }

    /// Adds the calls of an edge that has no node; says whether the sum is still exact.
    pub(super) fn add_calls_to_edge(&mut self, edge: u32, calls: Option<u64>) -> bool {
        self.edges[edge as usize].calls.add(calls)
    }

    /// Adds what a line called, in a run that knows no paths.
    pub(super) fn add_calls_of_line(&mut self, caller: Option<Frame<'_>>, costs: &[EdgeCost]) {
        let Some((function, line)) = caller.and_then(|frame| Some((frame.function.0, frame.line?)))
        else {
            return;
        };
        let line = self.line(function, line);
        let first = line as usize * self.metrics;
        for (metric, sums) in self.line_sums[first..first + self.metrics]
            .iter_mut()
            .enumerate()
        {
            let mut of_metric = costs
                .iter()
                .filter(|cost| cost.metric.0 as usize == metric)
                .peekable();
            sums.cumulative_unknown |= of_metric.peek().is_none();
            for cost in of_metric {
                let known = cost.seen.or(cost.cumulative).or(cost.outermost);
                sums.cumulative_unknown |= known.is_none();
                sums.seen += known.unwrap_or(0.0);
            }
        }
    }

    /// Keeps what the file itself says of a function or line ([`NONE`] for functions).
    pub(super) fn record(
        &mut self,
        metric: MetricId,
        function: u32,
        line: u32,
        figures: InfoFigures,
    ) {
        let next = index(self.recorded.len());
        let known = if line == NONE {
            let at = function as usize * self.metrics + metric.0 as usize;
            if self.recorded_functions.len() <= at {
                self.recorded_functions
                    .resize(self.functions.len() * self.metrics, NONE);
            }
            &mut self.recorded_functions[at]
        } else {
            self.recorded_lines.entry((metric.0, line)).or_insert(NONE)
        };
        if *known == NONE {
            *known = next;
        }
        let at = *known;
        match self.recorded.get_mut(at as usize) {
            Some(before) => *before = figures,
            None => self.recorded.push(figures),
        }
    }

    /// Whether all sums are finite: sums of finite figures may not be.
    pub(super) fn is_finite(&self) -> bool {
        let sums = self.function_sums.iter().chain(&self.line_sums);
        let edges = self.edge_sums.iter().flat_map(|edge| edge.sums);
        let derived = self.derived.iter().flat_map(Derived::sums);
        sums.flat_map(|sums| [sums.exclusive, sums.cumulative, sums.seen])
            .chain(edges)
            .chain(derived)
            .all(f64::is_finite)
    }

    /// What has been added up, as rows; what has only been needed to find things is dropped.
    pub(super) fn into_rows(
        mut self,
        default: usize,
    ) -> (Rows<InfoRow>, Rows<InfoRow>, Rows<EdgeRow>) {
        self.default = default;
        self.plain_lines = HashMap::new();
        self.other_lines = HashMap::new();
        self.site_index = HashMap::new();
        self.edge_index = HashIndex::default();
        self.pair_index = HashIndex::default();
        let metrics = self.metrics;
        let (functions, lines, edges) = (self.functions.len(), self.lines.len(), self.edges.len());
        let ledger = Arc::new(self);
        (
            Rows {
                ledger: Arc::clone(&ledger),
                metrics,
                each: functions,
                row: Self::function_row,
                prefetch: Self::prefetch_function,
            },
            Rows {
                ledger: Arc::clone(&ledger),
                metrics,
                each: lines,
                row: Self::line_row,
                prefetch: Self::prefetch_line,
            },
            Rows {
                ledger,
                metrics,
                each: edges,
                row: Self::edge_row,
                prefetch: Self::prefetch_edge,
            },
        )
    }

    fn prefetch_function(&self, metric: usize, function: usize) {
        prefetch_index(&self.function_states, function);
        prefetch_index(&self.function_sums, function * self.metrics + metric);
    }

    fn prefetch_line(&self, metric: usize, line: usize) {
        prefetch_index(&self.lines, line);
        prefetch_index(&self.line_sums, line * self.metrics + metric);
    }

    fn prefetch_edge(&self, metric: usize, edge: usize) {
        prefetch_index(&self.edges, edge);
        prefetch_index(&self.edge_sums, edge * self.metrics + metric);
    }

    /// The row of a function: in the default metric all have one, in others those that cost
    /// anything.
    fn function_row(&self, metric: usize, function: usize) -> Option<InfoRow> {
        let known = &self.function_states[function];
        if !known.mentioned {
            return None;
        }
        let sums = &self.function_sums[function * self.metrics + metric];
        let key = (index(metric), index(function), NONE);
        let mut figures = self.figures(&known.count, sums, key);
        if let Some(derived) = self.derived.get(function * self.metrics + metric) {
            derived.fill(&mut figures);
        }
        let row = InfoRow {
            metric: MetricId(key.0),
            function: FunctionId(key.1),
            place: None,
            figures,
        };
        (metric == self.default || figures.has_cost()).then_some(row)
    }

    /// The row of a line: in the default metric all have one, in others those that cost anything.
    fn line_row(&self, metric: usize, line: usize) -> Option<InfoRow> {
        let known = &self.lines[line];
        let sums = &self.line_sums[line * self.metrics + metric];
        let mut figures = self.figures(
            &known.count,
            sums,
            (index(metric), known.function, index(line)),
        );
        // Where the function recurs, its other lines may be around this one.
        let recursion = self.recursions.get(known.function as usize);
        if recursion == Some(&Recursion::No) && !sums.cumulative_unknown {
            figures.cumulative = figures
                .cumulative
                .or(figures.exclusive.map(|exclusive| exclusive + sums.seen));
        }
        if metric != self.default && !figures.has_cost() {
            return None;
        }
        let (metric, function) = (MetricId(index(metric)), FunctionId(known.function));
        Some(InfoRow {
            metric,
            function,
            place: Some(known.place.clone()),
            figures,
        })
    }

    /// The row of an edge, also if it costs nothing: calls add up in every metric.
    #[expect(clippy::unnecessary_wraps, reason = "other rows may not be there")]
    fn edge_row(&self, metric: usize, edge: usize) -> Option<EdgeRow> {
        let KnownEdge {
            callee,
            site,
            kind,
            calls,
            ..
        } = &self.edges[edge];
        let caller = self.sites[*site as usize];
        let sums = self.edge_sums[edge * self.metrics + metric];
        Some(EdgeRow {
            metric: MetricId(index(metric)),
            callee: FunctionId(*callee),
            caller: (caller.function != NONE).then_some(FunctionId(caller.function)),
            caller_line: u32::try_from(caller.line).ok(),
            caller_col: caller.col,
            kind: *kind,
            calls: calls.get(),
            exclusive: sums.get(0),
            cumulative: sums.get(1),
            outermost: sums.get(2),
            seen: sums.get(3),
        })
    }

    /// Sums where there are nodes, replaced by what the file itself says.
    fn figures(&self, count: &Count, sums: &Sums, key: (u32, u32, u32)) -> InfoFigures {
        let mut figures = InfoFigures::default();
        if count.has_nodes {
            let known = !sums.cumulative_unknown;
            figures.calls = count.calls.get();
            figures.primitive = count.primitive.get();
            figures.exclusive = Some(sums.exclusive);
            figures.cumulative = known.then_some(sums.cumulative);
            figures.seen = known.then_some(sums.seen);
        }
        let (metric, function, line) = key;
        let said = if line == NONE {
            self.recorded_functions
                .get(function as usize * self.metrics + metric as usize)
        } else {
            self.recorded_lines.get(&(metric, line))
        };
        if let Some(said) = said.and_then(|at| self.recorded.get(*at as usize)) {
            figures.calls = said.calls.or(figures.calls);
            figures.primitive = said.primitive.or(figures.primitive);
            figures.exclusive = said.exclusive.or(figures.exclusive);
            figures.cumulative = said.cumulative.or(figures.cumulative);
            figures.seen = said.seen.or(figures.seen);
            figures.recorded = true;
        }
        figures
    }
}

fn found_or_made(index_of: &mut HashMap<Site, u32>, sites: &mut Vec<Site>, site: Site) -> u32 {
    let next = index(sites.len());
    let found = *index_of.entry(site).or_insert(next);
    if found == next {
        sites.push(site);
    }
    found
}

/// The hash of two numbers that we have given.
fn hash_pair(hasher: &DefaultHashBuilder, callee: u32, caller: u32) -> u64 {
    hasher.hash_one(u64::from(callee) << 32 | u64::from(caller))
}

pub(super) fn product(outer: usize, inner: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..outer).flat_map(move |a| (0..inner).map(move |b| (a, b)))
}
