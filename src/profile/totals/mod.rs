//! What adds up over a whole run: functions, lines and edges with their sums, and the figures that
//! the file itself gives.
//!
//! ```text
//! builder -> Totals (dictionaries and sums) -> Derivation (what edges tell of functions) -> rows
//! ```

mod derived;
mod edges;
mod lines;
mod recorded;
mod rows;

use std::sync::Arc;

use hashbrown::HashSet;

use self::edges::{CallSites, Edges, KnownEdge};
use self::lines::Lines;
use self::recorded::Recorded;
use super::ids::{CallSiteId, EdgeId, LineId};
use super::rows::{Function, InfoFigures, SourceLine};
use super::sums::{CostSums, EdgeSums, Entered, EnteredEdge, NodeCost, Occurrences};
use crate::base::interner::{Grid, Id, Table};
use crate::events::{EdgeCost, EdgeKind, Frame, FunctionId, Line, MetricId};

pub(super) use self::derived::Derivation;
pub(super) use self::edges::CallSite;
pub(super) use self::recorded::Subject;
pub(super) use self::rows::into_rows;

/// What changes with every node of a function, apart from its text.
struct FunctionState {
    occurrences: Occurrences,
    /// The function as a caller; `None` before it has called.
    call_site: Option<CallSiteId>,
    /// The line that was opened first below the last node.
    first_line: Option<LineId>,
    /// The edge that led here the last time.
    last_edge: Option<EdgeId>,
    /// A node, edge or info has mentioned it.
    mentioned: bool,
    is_container: bool,
}

/// What has the nodes below an open node as its callees.
#[derive(Clone, Copy)]
pub(super) enum Caller {
    Root,
    Function(FunctionId),
    Line(FunctionId, LineId),
}

/// The dictionaries of a run, and its sums.
#[derive(Default)]
pub(super) struct Totals {
    metrics: usize,
    functions: Table<FunctionId, Arc<Function>>,
    states: Table<FunctionId, FunctionState>,
    function_sums: Grid<FunctionId, MetricId, CostSums>,
    lines: Lines,
    line_sums: Grid<LineId, MetricId, CostSums>,
    sites: CallSites,
    edges: Edges,
    edge_sums: Grid<EdgeId, MetricId, EdgeSums>,
    recorded: Recorded,
}

/// The first metric. Cells of a row lie next to each other, so that asking memory for the first one
/// brings those of the next metrics, too.
const FIRST: MetricId = MetricId(0);

// Dictionaries

impl Totals {
    /// Says how many metrics there are, before anything is added up.
    pub(super) fn set_metrics(&mut self, metrics: usize) {
        self.metrics = metrics;
        // New grids, since there is nothing in the old ones: samples may come before a metric, but
        // they add to the call tree only.
        self.function_sums = Grid::filled(self.functions.len(), metrics, CostSums::default());
        self.line_sums = Grid::filled(self.lines.table().len(), metrics, CostSums::default());
        self.edge_sums = Grid::filled(self.edges.table().len(), metrics, EdgeSums::UNKNOWN);
        self.recorded.set_metrics(metrics);
    }

    /// Whether there are edges.
    pub(super) fn has_edges(&self) -> bool {
        self.edges.table().len() > 0
    }

    /// Whether there is something besides functions and lines.
    pub(super) fn has_figures(&self) -> bool {
        self.has_edges() || !self.recorded.is_empty()
    }

    /// Adds the next function.
    pub(super) fn add_function(&mut self, function: Arc<Function>) {
        self.states.push(FunctionState {
            occurrences: Occurrences::default(),
            call_site: None,
            first_line: None,
            last_edge: None,
            mentioned: false,
            is_container: function.kind().is_container(),
        });
        self.functions.push(function);
        self.function_sums
            .grow(self.functions.len(), CostSums::default());
    }

    /// The id that the next function will have.
    pub(super) fn next_function(&self) -> FunctionId {
        FunctionId::new(self.functions.len())
    }

    /// Whether there is such a function.
    pub(super) fn has_function(&self, function: FunctionId) -> bool {
        function.index() < self.functions.len()
    }

    pub(super) fn function(&self, function: FunctionId) -> &Function {
        &self.functions[function]
    }

    /// Marks a function as mentioned; gives its text the first time.
    pub(super) fn mention(&mut self, function: FunctionId) -> Option<Arc<Function>> {
        let first = !std::mem::replace(&mut self.states[function].mentioned, true);
        first.then(|| Arc::clone(&self.functions[function]))
    }

    /// How many functions have been mentioned, containers left out.
    pub(super) fn function_count(&self) -> u64 {
        let is_counted = |state: &FunctionState| state.mentioned && !state.is_container;
        let states = self.states.iter();
        states.filter(|(_, state)| is_counted(state)).count() as u64
    }

    /// Whether nodes of a function only hold others.
    pub(super) fn is_container(&self, function: FunctionId) -> bool {
        self.states[function].is_container
    }

    /// Finds or adds a line.
    pub(super) fn line(&mut self, function: FunctionId, line: Line<'_>) -> LineId {
        let found = self.lines.intern(function, line);
        self.line_sums
            .grow(self.lines.table().len(), CostSums::default());
        found
    }

    /// Finds or adds a line that is opened after the line `last` (`None`: as the first one) below
    /// one node. Mostly it is the one that came there the last time, which is found without
    /// hashing, and in memory that is needed anyway.
    pub(super) fn line_after(
        &mut self,
        last: Option<LineId>,
        function: FunctionId,
        line: Line<'_>,
    ) -> LineId {
        if let Some(guess) = *self.next_line(last, function)
            // Only an importer that breaks rule 4 of `Sink` makes the guess a line of another
            // function; what it opens is refused right after this.
            && self.lines.table()[guess].function == function
            && self.lines.is(guess, line)
        {
            return guess;
        }
        let found = self.line(function, line);
        *self.next_line(last, function) = Some(found);
        found
    }

    fn next_line(&mut self, last: Option<LineId>, function: FunctionId) -> &mut Option<LineId> {
        match last {
            Some(last) => &mut self.lines.table_mut()[last].next,
            None => &mut self.states[function].first_line,
        }
    }

    pub(super) fn source_line(&self, line: LineId) -> &SourceLine {
        &self.lines.table()[line].line
    }

    /// Whether an entry is this line of its function.
    pub(super) fn is_line(&self, id: LineId, line: Line<'_>) -> bool {
        self.lines.is(id, line)
    }

    /// Finds or adds the call site of nodes.
    pub(super) fn call_site_of(&mut self, caller: Caller) -> CallSiteId {
        let known = match caller {
            Caller::Root => None,
            Caller::Function(function) => self.states[function].call_site,
            Caller::Line(_, line) => self.lines.table()[line].call_site,
        };
        known.unwrap_or_else(|| self.add_call_site(caller))
    }

    #[cold]
    fn add_call_site(&mut self, caller: Caller) -> CallSiteId {
        match caller {
            Caller::Root => self.sites.intern(CallSite::ROOT),
            Caller::Function(function) => {
                // Looked up, not just added: an edge that the file states may have this call site
                // already.
                let site = self.sites.intern(CallSite {
                    caller: Some(function),
                    ..CallSite::ROOT
                });
                self.states[function].call_site = Some(site);
                site
            }
            Caller::Line(function, line) => {
                let known = &mut self.lines.table_mut()[line];
                let site = self.sites.intern(CallSite {
                    caller: Some(function),
                    file: known.line.file.clone(),
                    line: Some(known.line.line),
                    col: known.line.col,
                });
                known.call_site = Some(site);
                site
            }
        }
    }

    /// Finds or adds a call site that the file itself states.
    pub(super) fn call_site(&mut self, site: CallSite) -> CallSiteId {
        self.sites.intern(site)
    }

    /// Finds or adds an edge.
    pub(super) fn edge(&mut self, callee: FunctionId, site: CallSiteId, kind: EdgeKind) -> EdgeId {
        let plain = |caller| self.states[caller].call_site;
        let found = self.edges.intern(callee, site, kind, &self.sites, plain);
        self.edge_sums
            .grow(self.edges.table().len(), EdgeSums::UNKNOWN);
        found
    }

    /// Finds or adds the edge to a node that is opened. Most functions are called from where they
    /// were called the last time, so that the edge is found without a search.
    pub(super) fn edge_of_node(&mut self, callee: FunctionId, site: CallSiteId) -> EdgeId {
        if let Some(last) = self.states[callee].last_edge
            && self.edges.table()[last].site == site
        {
            return last;
        }
        let found = self.edge(callee, site, EdgeKind::Call);
        self.states[callee].last_edge = Some(found);
        found
    }

    /// Asks memory for what nodes of these functions, with these callers, will need: step by step
    /// for all of them, as each step depends on what the one before has asked for.
    pub(super) fn prefetch(&self, nodes: &[(FunctionId, Option<FunctionId>)]) {
        for (function, _) in nodes {
            self.states.prefetch(*function);
            self.function_sums.prefetch(*function, FIRST);
        }
        // A caller that has not called yet has no edges.
        let known = |(function, caller): &(FunctionId, Option<FunctionId>)| {
            let site = self.states.get((*caller)?)?.call_site;
            Some((*function, self.states.get(*function)?.last_edge, site))
        };
        for (function, last_edge, site) in nodes.iter().filter_map(known) {
            if let Some(edge) = last_edge {
                self.edges.table().prefetch(edge);
            }
            if let Some(site) = site {
                self.edges.prefetch_lookup(function, site);
            }
        }
        for (function, last_edge, site) in nodes.iter().filter_map(known) {
            let Some(site) = site else { continue };
            let last = last_edge.filter(|last| self.edges.table()[*last].site == site);
            if let Some(edge) = last.or_else(|| self.edges.guess(function, site)) {
                self.edges.table().prefetch(edge);
                self.edge_sums.prefetch(edge, FIRST);
            }
        }
    }
}

// Sums

impl Totals {
    /// Opens a node of a function.
    pub(super) fn enter_function(
        &mut self,
        function: FunctionId,
        node: u64,
        calls: Option<u64>,
    ) -> Entered {
        self.function_sums.prefetch(function, FIRST);
        self.states[function].occurrences.enter(node, calls)
    }

    /// Opens a node of a line.
    pub(super) fn enter_line(&mut self, line: LineId, node: u64, calls: Option<u64>) -> Entered {
        self.line_sums.prefetch(line, FIRST);
        self.lines.table_mut()[line].occurrences.enter(node, calls)
    }

    /// Opens a node that an edge leads to.
    pub(super) fn enter_edge(&mut self, edge: EdgeId, calls: Option<u64>) -> EnteredEdge {
        self.edge_sums.prefetch(edge, FIRST);
        let edges = self.edges.table_mut();
        let known = &mut edges[edge];
        let exact = known.calls.add(calls);
        // Beside the calls, in memory that is written anyway.
        known.in_tree = true;
        let pair = known.pair;
        // One counter for all lines of a pair of functions, in its first edge: recursion goes
        // through any of them.
        let open = &mut edges[pair].open;
        *open += 1;
        EnteredEdge {
            outermost: *open == 1,
            exact,
        }
    }

    /// Closes the innermost node of a function, or of a line of it, and of the edge that leads
    /// there.
    pub(super) fn leave(
        &mut self,
        function: FunctionId,
        line: Option<LineId>,
        edge: Option<EdgeId>,
        outer: u64,
    ) {
        match line {
            None => self.states[function].occurrences.open = outer,
            Some(line) => self.lines.table_mut()[line].occurrences.open = outer,
        }
        if let Some(edge) = edge {
            let edges = self.edges.table_mut();
            let pair = edges[edge].pair;
            edges[pair].open -= 1;
        }
    }

    /// Adds the cost of a node to its function.
    pub(super) fn add_to_function(
        &mut self,
        function: FunctionId,
        metric: MetricId,
        cost: NodeCost,
        outermost: bool,
    ) {
        self.function_sums[(function, metric)].add(cost, outermost);
    }

    /// Adds the cost of a node to its line.
    pub(super) fn add_to_line(
        &mut self,
        line: LineId,
        metric: MetricId,
        cost: NodeCost,
        outermost: bool,
    ) {
        self.line_sums[(line, metric)].add(cost, outermost);
    }

    /// Adds the cost of a node to the edge that leads to it: exclusive, cumulative, outermost, seen.
    pub(super) fn add_to_edge(&mut self, edge: EdgeId, metric: MetricId, parts: [f64; 4]) {
        self.edge_sums[(edge, metric)].add(parts);
    }

    /// Adds what the file states of an edge: exclusive, cumulative, outermost, seen.
    pub(super) fn add_stated_to_edge(
        &mut self,
        edge: EdgeId,
        metric: MetricId,
        parts: [Option<f64>; 4],
    ) {
        self.edge_sums[(edge, metric)].add_stated(parts);
    }

    /// Adds calls that the file states of an edge; says whether the sum is still exact.
    pub(super) fn add_calls_to_edge(&mut self, edge: EdgeId, calls: Option<u64>) -> bool {
        let known = &mut self.edges.table_mut()[edge];
        known.stated |= known.kind == EdgeKind::Call;
        known.calls.add(calls)
    }

    /// Whether a pair of functions has been said by nodes and by an edge.
    pub(super) fn says_a_pair_twice(&self) -> bool {
        let edges = || self.edges.table().iter().map(|(_, edge)| edge);
        let pair = |edge: &KnownEdge| (self.sites.table()[edge.site].caller, edge.callee);
        let stated: HashSet<_> = edges().filter(|edge| edge.stated).map(pair).collect();
        !stated.is_empty() && edges().any(|edge| edge.in_tree && stated.contains(&pair(edge)))
    }

    /// Adds what a line called, in a run that knows no paths.
    pub(super) fn add_calls_of_line(&mut self, caller: Option<Frame<'_>>, costs: &[EdgeCost]) {
        let Some((function, line)) = caller.and_then(|frame| Some((frame.function, frame.line?)))
        else {
            return;
        };
        let line = self.line(function, line);
        for (metric, sums) in self.line_sums.row_mut(line).iter_mut().enumerate() {
            let mut of_metric = costs
                .iter()
                .filter(|cost| cost.metric.index() == metric)
                .peekable();
            // A call of which nothing is known in this metric: what the line called is unknown, not
            // 0.
            sums.cumulative_unknown |= of_metric.peek().is_none();
            for cost in of_metric {
                // Whichever is there: the three are one where the function never recurs, and only
                // there the sum is used (`LineRows`).
                let known = cost.seen.or(cost.cumulative).or(cost.outermost);
                sums.cumulative_unknown |= known.is_none();
                sums.seen += known.unwrap_or(0.0);
            }
        }
    }

    /// Keeps figures that the file itself gives, in place of earlier ones.
    pub(super) fn record(&mut self, subject: Subject, metric: MetricId, figures: InfoFigures) {
        let functions = self.functions.len();
        self.recorded.record(subject, metric, figures, functions);
    }

    /// Whether all sums are finite: sums of finite costs may not be.
    pub(super) fn are_finite(&self) -> bool {
        let sums = self.function_sums.cells().iter();
        let sums = sums.chain(self.line_sums.cells());
        sums.flat_map(|sums| [sums.exclusive, sums.cumulative, sums.seen])
            .all(f64::is_finite)
            && self.edge_sums.cells().iter().all(EdgeSums::are_finite)
    }

    /// Keeps the entries and sums only: nothing will be looked up any more.
    fn forget_keys(&mut self) {
        self.lines.forget_keys();
        self.sites.forget_keys();
        self.edges.forget_keys();
    }

    /// Figures of a function: sums where there are nodes, replaced by what the file itself says.
    fn function_figures(&self, function: FunctionId, metric: MetricId) -> InfoFigures {
        let (state, sums) = (
            &self.states[function],
            &self.function_sums[(function, metric)],
        );
        self.figures(
            &state.occurrences,
            sums,
            Subject::Function(function),
            metric,
        )
    }

    fn figures(
        &self,
        occurrences: &Occurrences,
        sums: &CostSums,
        subject: Subject,
        metric: MetricId,
    ) -> InfoFigures {
        let mut figures = InfoFigures::default();
        if occurrences.has_nodes {
            let known = !sums.cumulative_unknown;
            figures.calls = occurrences.calls.get();
            figures.primitive = occurrences.primitive.get();
            figures.exclusive = Some(sums.exclusive);
            figures.cumulative = known.then_some(sums.cumulative);
            figures.seen = known.then_some(sums.seen);
        }
        // Figure by figure: a file may give calls of its own and leave costs to the tree.
        if let Some(recorded) = self.recorded.get(subject, metric) {
            figures.calls = recorded.calls.or(figures.calls);
            figures.primitive = recorded.primitive.or(figures.primitive);
            figures.exclusive = recorded.exclusive.or(figures.exclusive);
            figures.cumulative = recorded.cumulative.or(figures.cumulative);
            figures.seen = recorded.seen.or(figures.seen);
            figures.recorded = true;
        }
        figures
    }
}
