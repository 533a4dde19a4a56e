//! The builder: what is known of the run so far, and its nodes: how they open, how they close, and
//! how their rows leave.

use std::sync::Arc;

use super::call_tree::{CallTree, EnteredNode, Step, Steps, Walk};
use super::functions::FunctionInterner;
use super::ids::{CallNodeId, EdgeId, LineId};
use super::labels::{LabelCosts, LabelSet, LabelSetInterner};
use super::node_rows::NodeRows;
use super::notes::Notes;
use super::rows::{Facts, Function, MetricRow, NodeRow, Output, RunSummary};
use super::sums::NodeCost;
use super::totals::{Caller, Derivation, Totals, into_rows};
use crate::base::error::{ImportError, Stop};
use crate::base::interner::Id;
use crate::base::spool::SpillResult;
use crate::events::{Cost, FunctionDef, FunctionId, MetricId, ROUNDING, slack};
use crate::text::escape::has_bytes;

/// Prefetch window while merged stacks become nodes, in steps: every second one opens a node.
const STEPS_AHEAD: usize = 64;

/// Open nodes times metrics: 128 MiB of costs.
const MOST_OPEN_COSTS: usize = 1 << 22;

/// Above this, not every whole number is a REAL.
const MAX_EXACT_COST: f64 = 9_007_199_254_740_992.0;

/// Whether the builder refuses also what it can do with, by the rules of [`crate::events::Sink`]: in
/// debug builds, so that tests find importers that break them, and no user's file is refused for it.
pub(super) const REFUSES_ALL: bool = cfg!(debug_assertions);

/// An open node.
pub(super) struct OpenNode {
    pub(super) node: u64,
    /// The nearest enclosing node of the same function or line, 0 if none.
    pub(super) outer: u64,
    pub(super) function: FunctionId,
    /// `None` for function nodes.
    pub(super) line: Option<LineId>,
    pub(super) calls: Option<u64>,
    /// The caller of nodes below.
    pub(super) caller: Caller,
    /// The edge that leads here; `None` for lines and containers.
    pub(super) edge: Option<EdgeId>,
    /// No enclosing node has the same pair of caller and callee.
    pub(super) outermost_pair: bool,
    /// The last line that was opened below.
    pub(super) last_line: Option<LineId>,
}

/// Where a frame of the last stack is in the call tree.
#[derive(Clone, Copy)]
pub(super) struct StackFrame {
    pub(super) function: FunctionId,
    /// The node of the function, and that of the frame: they are two if it is a line, and both hold
    /// the cost.
    pub(super) function_at: CallNodeId,
    pub(super) at: CallNodeId,
    /// Nodes down to it.
    pub(super) depth: usize,
}

/// What is known of an open node in one metric: a [`Cost`] taken apart, because it is written field
/// by field, and reading it as a whole right after that would wait until all of it has reached the
/// cache.
#[derive(Clone, Copy, Default)]
pub(super) struct OpenCost {
    pub(super) stated: Stated,
    pub(super) exclusive: f64,
    pub(super) cumulative: f64,
    /// Cumulative cost of the functions called.
    pub(super) callees: f64,
    /// How many figures of the file that is the sum of.
    pub(super) callees_figures: u32,
}

/// Which costs of a node the file states.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Stated {
    #[default]
    Nothing,
    Exclusive,
    Cumulative,
    Both,
    ExclusiveOnly,
}

/// The sink that makes rows of what an importer says ([`crate::profile`]).
pub struct TreeBuilder<O> {
    pub(super) stop: Stop,
    pub(super) failure: Option<ImportError>,
    pub(super) facts: Facts,
    pub(super) stated_totals: Vec<Option<f64>>,
    /// The unit to which the file rounds figures, by metric; 0 for exact ones.
    pub(super) rounding: Vec<f64>,
    pub(super) metrics: Vec<MetricRow>,
    /// There is room for all metrics that have been announced.
    pub(super) frozen: bool,
    pub(super) default: MetricId,
    pub(super) functions: FunctionInterner,
    pub(super) label_sets: LabelSetInterner,
    pub(super) totals: Totals,
    pub(super) call_tree: CallTree,
    pub(super) last_stack: Vec<StackFrame>,
    pub(super) label_costs: LabelCosts,

    pub(super) stack: Vec<OpenNode>,
    /// One per open node and metric.
    pub(super) open_costs: Vec<OpenCost>,
    /// The number of the next node.
    pub(super) next: u64,
    pub(super) rows: NodeRows<O>,
    pub(super) notes: Notes,
}

impl<O: Output> TreeBuilder<O> {
    /// An empty run. `stop` is set when the builder meets something that it must refuse.
    pub fn new(output: O, stop: Stop) -> Self {
        Self {
            stop,
            failure: None,
            facts: Facts::default(),
            stated_totals: Vec::new(),
            rounding: Vec::new(),
            metrics: Vec::new(),
            frozen: false,
            default: MetricId(0),
            functions: FunctionInterner::default(),
            label_sets: LabelSetInterner::default(),
            totals: Totals::default(),
            call_tree: CallTree::default(),
            last_stack: Vec::new(),
            label_costs: LabelCosts::default(),
            stack: Vec::new(),
            open_costs: Vec::new(),
            next: 1,
            rows: NodeRows::new(output),
            notes: Notes::default(),
        }
    }

    /// Merged stacks become nodes, the last batch leaves, and the totals are drawn up.
    ///
    /// # Errors
    /// What the builder had to refuse on the way.
    pub fn finish(mut self) -> Result<(RunSummary, O), ImportError> {
        self.freeze();
        let nodes = self.drain_call_tree();
        if !self.stack.is_empty() {
            self.refuse("the importer left nodes open");
        }
        if REFUSES_ALL && self.totals.says_a_pair_twice() {
            self.refuse("the importer stated calls as nodes and as an edge");
        }
        // After the last node, since it compares sums; before the look at whether all are finite,
        // since it fills in those of edges.
        let derivation = Derivation::of(
            &mut self.totals,
            self.facts.fidelity,
            self.default,
            &self.rounding,
            &self.stated_totals,
            &mut self.notes,
        );
        if let Some(function) = derivation.exceeded() {
            self.refuse_calls(function);
        }
        if !self.totals.are_finite()
            || !derivation.is_finite()
            || !self.label_costs.are_finite()
            || !self.metrics.iter().all(|metric| metric.total.is_finite())
        {
            self.refuse("the costs add up to more than a REAL can hold");
        }
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        self.flush_rows();
        let notes = std::mem::take(&mut self.notes).into_rows(|function| self.name(function));
        let (labels, label_costs) = self.label_costs.into_rows(&nodes);
        let function_count = self.totals.function_count();
        let (functions, lines, edges) = into_rows(self.totals, derivation, self.default);
        let summary = RunSummary {
            function_count,
            functions,
            lines,
            edges,
            nodes: self.next - 1,
            facts: self.facts,
            metrics: self.metrics,
            labels,
            label_costs,
            notes,
        };
        Ok((
            summary.with_stated(&self.stated_totals),
            self.rows.into_output(),
        ))
    }

    /// Whether the builder has met something that [`finish`](Self::finish) will report.
    pub fn has_refused(&self) -> bool {
        self.failure.is_some()
    }

    /// Adds the next function, for a caller that numbers functions itself.
    pub(crate) fn add_function(&mut self, function: Arc<Function>) {
        let FunctionDef {
            name, module, file, ..
        } = function.definition();
        if [name, module, file].into_iter().any(has_bytes) {
            self.notes.not_utf8.add(self.totals.next_function());
        }
        self.totals.add_function(function);
    }

    /// Adds the next set of labels, for a caller that numbers them itself.
    pub(crate) fn add_label_set(&mut self, set: LabelSet) {
        self.label_costs.add_set(set);
    }

    /// How many nodes are open.
    pub(crate) fn depth(&self) -> usize {
        self.stack.len()
    }

    /// Says which nodes will be opened soon, by depth and function. Nothing comes of it but speed:
    /// the functions of large profiles lie all over memory.
    pub(crate) fn prefetch(&self, nodes: &[(usize, FunctionId)]) {
        let caller = |at: usize, depth: usize| {
            let above = depth.checked_sub(1)?;
            // In pre-order, the last node before this one that is a level higher is its parent. A
            // parent that is a line is not among these nodes: then a wrong one is found, which
            // costs a look at memory and nothing else.
            let ahead = nodes[..at].iter().rev().find(|(depth, _)| *depth == above);
            ahead
                .map(|(_, function)| *function)
                .or_else(|| Some(self.stack.get(above)?.function))
        };
        let ahead: Vec<(FunctionId, Option<FunctionId>)> = nodes
            .iter()
            .enumerate()
            .map(|(at, (depth, function))| (*function, caller(at, *depth)))
            .collect();
        self.totals.prefetch(&ahead);
    }

    pub(super) fn refuse(&mut self, reason: &str) {
        // Only the first reason is reported: the others may come of it.
        if self.failure.is_none() {
            self.failure = Some(ImportError::Refused(reason.to_owned()));
        }
        self.stop.set();
    }

    pub(super) fn refuse_calls(&mut self, function: FunctionId) {
        self.refuse(&format!(
            "the calls of `{}` add up to more than 2^53",
            self.name(function)
        ));
    }

    /// Makes room for all metrics that have been announced.
    pub(super) fn freeze(&mut self) {
        if self.frozen {
            return;
        }
        self.frozen = true;
        let metrics = self.metrics.len();
        self.stated_totals.resize(metrics, None);
        self.rounding.resize(metrics, 0.0);
        self.default = self.facts.default_metric.unwrap_or(MetricId(0));
        if metrics > 0 {
            self.facts.default_metric = Some(self.default);
        }
        // A run may have no metrics at all: then 0 names none, and that is no fault.
        if self.default.index() >= metrics.max(1) {
            self.refuse("the importer made a metric the default one that it never announced");
            self.default = MetricId(0);
        }
        self.totals.set_metrics(metrics);
        self.call_tree.set_metrics(metrics);
        self.rows.set_metrics(metrics, self.default);
    }

    /// Whether there is more than samples, so that metrics stay as they are.
    pub(super) fn has_rows(&self) -> bool {
        self.next > 1 || self.totals.has_figures()
    }

    /// Sends the row of a function with the current batch when it is mentioned for the first time.
    pub(super) fn mention(&mut self, function: FunctionId) {
        if let Some(text) = self.totals.mention(function) {
            self.rows.add_function(function, text);
        }
    }

    /// The name of a function for a message: cut where it is long.
    fn name(&self, function: FunctionId) -> String {
        const SHOWN: usize = 60;
        let name = self.totals.function(function).name();
        let mut shown: String = name.chars().take(SHOWN).collect();
        if shown.len() < name.len() {
            shown.push('…');
        }
        shown
    }

    /// Opens a node of a function.
    pub(super) fn open_function(&mut self, function: FunctionId, calls: Option<u64>) {
        self.mention(function);
        let above = self
            .stack
            .last()
            .map_or(Caller::Root, |parent| parent.caller);
        let node = self.next;
        let entered = self.totals.enter_function(function, node, calls);
        if !entered.exact {
            self.refuse_calls(function);
        }
        // A container is passed through: what it holds is called by whatever is above it (test
        // `a_line_of_a_thread_is_no_caller`).
        let (caller, edge, outermost_pair) = if self.totals.is_container(function) {
            (above, None, false)
        } else {
            let site = self.totals.call_site_of(above);
            let edge = self.totals.edge_of_node(function, site);
            let pair = self.totals.enter_edge(edge, calls);
            if entered.exact && !pair.exact {
                self.refuse("the calls of an edge add up to more than 2^53");
            }
            (Caller::Function(function), Some(edge), pair.outermost)
        };
        self.push(OpenNode {
            node,
            outer: entered.outer,
            function,
            line: None,
            calls,
            caller,
            edge,
            outermost_pair,
            last_line: None,
        });
    }

    /// Opens a node of a line that has its entry.
    pub(super) fn open_line(&mut self, function: FunctionId, line: LineId, calls: Option<u64>) {
        let parent = self
            .stack
            .last_mut()
            .filter(|parent| parent.function == function && parent.line.is_none());
        let Some(parent) = parent else {
            return self.refuse("the importer opened a line outside its function");
        };
        parent.last_line = Some(line);
        // A container is never a caller, and neither are its lines.
        let caller = if self.totals.is_container(function) {
            parent.caller
        } else {
            Caller::Line(function, line)
        };
        let node = self.next;
        let entered = self.totals.enter_line(line, node, calls);
        if !entered.exact {
            let number = self.totals.source_line(line).line;
            let reason = format!(
                "the calls of `{}[{number}]` add up to more than 2^53",
                self.name(function)
            );
            self.refuse(&reason);
        }
        self.push(OpenNode {
            node,
            outer: entered.outer,
            function,
            line: Some(line),
            calls,
            caller,
            edge: None,
            outermost_pair: false,
            last_line: None,
        });
    }

    #[inline]
    fn push(&mut self, node: OpenNode) {
        let metrics = self.metrics.len();
        if self.open_costs.len() + metrics > MOST_OPEN_COSTS {
            let reason = format!(
                "more than {MOST_OPEN_COSTS} figures of open calls, {metrics} each (limit: open figures)"
            );
            return self.refuse(&reason);
        }
        // A tree may be a million levels deep before the first of them closes.
        if self.rows.is_full() {
            self.flush_rows();
        }
        let row = row(&self.totals, &self.stack, &node);
        self.rows.open(row);
        self.stack.push(node);
        self.open_costs
            .resize(self.stack.len() * metrics, OpenCost::default());
        self.next += 1;
    }

    /// Sets the cost of the innermost open node.
    #[inline]
    pub(super) fn set_cost(&mut self, metric: MetricId, cost: Cost) {
        let Some(node) = self.stack.last() else {
            return self.refuse("the importer gave a cost to no node");
        };
        let (function, is_line) = (node.function, node.line.is_some());
        // `next` is one more than the number of this node for as long as it has no child.
        if REFUSES_ALL && node.node + 1 != self.next {
            return self.refuse("the importer gave a cost to a node after its first child");
        }
        let (stated, exclusive, cumulative) = match cost {
            Cost::Exclusive(exclusive) => (Stated::Exclusive, exclusive, 0.0),
            Cost::Cumulative(cumulative) => (Stated::Cumulative, 0.0, cumulative),
            Cost::Both {
                exclusive,
                cumulative,
            } => (Stated::Both, exclusive, cumulative),
            Cost::ExclusiveOnly(exclusive) => (Stated::ExclusiveOnly, exclusive, 0.0),
        };
        let accepted = self.accept(metric, &[exclusive, cumulative], function);
        if matches!(stated, Stated::ExclusiveOnly) && !is_line {
            return self.refuse("the importer gave a function a cost that only lines may have");
        }
        if accepted {
            let at = (self.stack.len() - 1) * self.metrics.len() + metric.index();
            let open = &mut self.open_costs[at];
            if REFUSES_ALL && open.stated != Stated::Nothing {
                return self.refuse("the importer gave a node two costs in one metric");
            }
            (open.stated, open.exclusive, open.cumulative) = (stated, exclusive, cumulative);
        }
    }

    /// Closes the innermost open node.
    pub(super) fn close(&mut self) {
        let Some(node) = self.stack.pop() else {
            return self.refuse("the importer closed a node that it never opened");
        };
        self.totals
            .leave(node.function, node.line, node.edge, node.outer);
        let (metrics, depth) = (self.metrics.len(), self.stack.len());
        let place = self.rows.place(node.node);
        // A run without metrics has nodes and calls only.
        let mut of_default = NodeCost::NOTHING;
        for at in 0..metrics {
            let metric = MetricId::new(at);
            let open = self.open_costs[depth * metrics + at];
            let (cost, figures) = self.settle(&open, metric, node.function);
            if !cost.cumulative.unwrap_or(0.0).is_finite() {
                self.refuse("the costs add up to more than a REAL can hold");
            }
            self.add_up(&node, metric, cost, figures, &open);
            if metric == self.default {
                of_default = cost;
            } else {
                self.rows.set_other_cost(place, node.node, metric, cost);
            }
        }
        self.open_costs.truncate(depth * metrics);
        // Pre-order: whatever has been numbered since this node was opened is below it.
        let size = self.next - 1 - node.node;
        let Self {
            rows,
            totals,
            stack,
            ..
        } = self;
        // The node has left the stack, as it was not on it when its row was made first: both rows
        // see the same nodes above.
        rows.close(place, size, of_default, || row(totals, stack, &node));
        if self.rows.is_full() {
            self.flush_rows();
        }
    }

    /// The cost of a node that closes, from what the file states and what was called; and how many
    /// figures of the file its cumulative cost is the sum of.
    #[inline]
    fn settle(
        &mut self,
        open: &OpenCost,
        metric: MetricId,
        function: FunctionId,
    ) -> (NodeCost, u32) {
        let OpenCost {
            stated,
            exclusive,
            cumulative,
            callees,
            callees_figures,
        } = *open;
        // What rounding explains grows with the figures that were added up: a cumulative cost that
        // is stated counts for one, however much is below.
        let figures = match stated {
            Stated::Nothing => callees_figures,
            Stated::Exclusive => callees_figures.saturating_add(1),
            Stated::Cumulative | Stated::Both => 1,
            Stated::ExclusiveOnly => 0,
        };
        let cost = match stated {
            Stated::Nothing => NodeCost {
                exclusive: 0.0,
                cumulative: Some(callees),
            },
            Stated::Exclusive => NodeCost {
                exclusive,
                cumulative: Some(exclusive + callees),
            },
            // Both stay as they are, also where they do not fit together: figures of the file are
            // kept.
            Stated::Both => NodeCost {
                exclusive,
                cumulative: Some(cumulative),
            },
            Stated::ExclusiveOnly => NodeCost {
                exclusive,
                cumulative: None,
            },
            Stated::Cumulative => {
                let left = cumulative - callees;
                // A node that called nothing may cost less than nothing: corrected times do.
                let alone = callees == 0.0;
                if !alone && left < -ROUNDING * cumulative.abs() {
                    let slack = slack(self.rounding[metric.index()], callees_figures);
                    if left < -slack {
                        self.notes.exceeded.add(function);
                    }
                }
                NodeCost {
                    exclusive: if alone { left } else { left.max(0.0) },
                    cumulative: Some(cumulative),
                }
            }
        };
        (cost, figures)
    }

    /// Adds the cost of a closing node to its function or line, to its edge, and to the callees of
    /// its parent.
    #[inline]
    fn add_up(
        &mut self,
        node: &OpenNode,
        metric: MetricId,
        cost: NodeCost,
        figures: u32,
        closed: &OpenCost,
    ) {
        let outermost = node.outer == 0;
        let cumulative = cost.cumulative.unwrap_or(0.0);
        match node.line {
            None => self
                .totals
                .add_to_function(node.function, metric, cost, outermost),
            Some(line) => self.totals.add_to_line(line, metric, cost, outermost),
        }
        if let Some(edge) = node.edge {
            // Recursion: the inner calls of a pair are in the cost of the outer one already, and so
            // are inner nodes of a function (ARCHITECTURE.md, "What the numbers mean").
            let in_outermost_pair = if node.outermost_pair { cumulative } else { 0.0 };
            let in_outermost = if outermost { cumulative } else { 0.0 };
            let parts = [cost.exclusive, in_outermost_pair, in_outermost, cumulative];
            self.totals.add_to_edge(edge, metric, parts);
        }
        if let Some(above) = self.stack.len().checked_sub(1) {
            // A line is part of its function: what it called counts for the function, its own cost
            // is there already.
            let open = &mut self.open_costs[above * self.metrics.len() + metric.index()];
            let (callees, figures) = if node.line.is_none() {
                (cumulative, figures)
            } else {
                (closed.callees, closed.callees_figures)
            };
            open.callees += callees;
            open.callees_figures = open.callees_figures.saturating_add(figures);
        } else {
            // Only functions and containers are roots: their cumulative cost is always known.
            self.metrics[metric.index()].total += cumulative;
        }
    }

    fn flush_rows(&mut self) {
        let open = self.stack.iter().map(|node| node.node);
        self.rows.flush(open, self.next);
    }

    /// Opens and closes a node for each of the call tree. Where samples have labels, gives the
    /// node that each in memory has become.
    fn drain_call_tree(&mut self) -> Vec<u64> {
        self.last_stack = Vec::new();
        self.label_costs.close();
        let mut nodes = Vec::new();
        let walk = std::mem::take(&mut self.call_tree).walk();
        if let Err(error) = walk.and_then(|walk| self.open_all(walk, &mut nodes)) {
            self.refuse(&format!(
                "the temporary file with merged stacks cannot be read: {error}"
            ));
        }
        nodes
    }

    fn open_all(&mut self, mut walk: Walk, nodes: &mut Vec<u64>) -> SpillResult<()> {
        // A number for each node of the tree, which may be tens of millions: only where labels
        // refer to them.
        if self.label_costs.have_costs() {
            nodes.resize(walk.in_memory(), 0);
        }
        let mut steps = Steps::default();
        loop {
            walk.next(STEPS_AHEAD, &mut steps)?;
            if steps.steps.is_empty() {
                return Ok(());
            }
            self.prefetch(&steps.functions(self.stack.len()));
            for step in &steps.steps {
                if self.failure.is_some() {
                    return Ok(());
                }
                match step {
                    Step::Enter(opened) => {
                        if let Some(at) = opened.in_memory
                            && let Some(node) = nodes.get_mut(at.index())
                        {
                            // `open` gives the node this number.
                            *node = self.next;
                        }
                        self.open(opened, &steps);
                    }
                    Step::Leave => self.close(),
                }
            }
        }
    }

    /// Opens a node of the call tree.
    fn open(&mut self, opened: &EnteredNode, steps: &Steps) {
        match opened.line {
            None => self.open_function(opened.function, opened.calls),
            Some(line) => self.open_line(opened.function, line, opened.calls),
        }
        for metric in (0..self.metrics.len()).map(MetricId::new) {
            if let Some(cost) = steps.cost(opened, metric) {
                self.set_cost(metric, Cost::Exclusive(cost));
            }
        }
    }

    pub(super) fn knows(&mut self, function: FunctionId) -> bool {
        let known = self.totals.has_function(function);
        if !known {
            self.refuse("the importer named a function that it never announced");
        }
        known
    }

    /// Whether a figure can be taken as it is; counts what a REAL rounds.
    pub(super) fn accept(
        &mut self,
        metric: MetricId,
        figures: &[f64],
        function: FunctionId,
    ) -> bool {
        if metric.index() >= self.metrics.len() {
            self.refuse("the importer named a metric that it never announced");
            return false;
        }
        if !figures.iter().all(|figure| figure.is_finite()) {
            let reason = format!(
                "the cost of `{}` is not a finite number",
                self.name(function)
            );
            self.refuse(&reason);
            return false;
        }
        if figures.iter().any(|figure| figure.abs() > MAX_EXACT_COST) {
            self.notes.rounded.add(function);
        }
        true
    }
}

/// The row of a node below these open ones, as far as it is known when it opens.
#[inline]
fn row(totals: &Totals, above: &[OpenNode], node: &OpenNode) -> NodeRow {
    NodeRow {
        node: node.node,
        up: above.last().map(|parent| node.node - parent.node),
        size: 0,
        outer_up: (node.outer != 0).then(|| node.node - node.outer),
        depth: u32::try_from(above.len()).expect("fewer than 2^32 open nodes"),
        function: node.function,
        place: node.line.map(|line| totals.source_line(line).clone()),
        calls: node.calls,
        cost: NodeCost::NOTHING,
    }
}
