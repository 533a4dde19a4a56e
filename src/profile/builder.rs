//! The builder's state, and its nodes: how they open, how they close, and how their rows leave.

use std::sync::Arc;

use super::call_tree::{Step, Trie};
use super::functions::Functions;
use super::ids::{NONE, index};
use super::labels::{LabelSet, LabelSets, Labels};
use super::notes::Remarks;
use super::rows::{Batch, CostRow, Facts, Figures, Function, MetricRow, NodeRow, Output, Totals};
use super::sums::ROUNDING;
use super::totals::{Caller, Ledger};
use crate::base::error::{ImportError, Stop};
use crate::events::{Cost, FunctionId, MetricId, Sink};
use crate::text::escape::has_bytes;

/// Nodes in one batch: enough that handing it over costs nothing, few enough that they are still in
/// a cache when the writer gets them.
pub(super) const NODES_PER_BATCH: usize = 8192;

/// Steps through merged stacks of which the ledger hears ahead: every second one opens a node.
const STEPS: usize = 64;

/// Levels times metrics of one path: 128 MiB of accounts.
const MOST_ACCOUNTS: usize = 1 << 22;

/// Above this, not every whole number is a REAL.
const MAX_EXACT_COST: f64 = 9_007_199_254_740_992.0;

/// An open node.
pub(super) struct Level {
    pub(super) node: u64,
    /// The nearest enclosing node of the same function or line, 0 if none.
    pub(super) outer: u64,
    pub(super) function: u32,
    /// The line, [`NONE`] for function nodes.
    pub(super) line: u32,
    pub(super) calls: Option<u64>,
    /// Whom nodes below have as their caller.
    pub(super) caller: Caller,
    /// The edge that leads here, [`NONE`] for lines and containers.
    pub(super) edge: u32,
    /// No enclosing node has the same pair of caller and callee.
    pub(super) outermost_pair: bool,
    /// The last line that was opened below, [`NONE`] before there was any.
    pub(super) last_line: u32,
}

/// Where a frame of the last stack is in the trie.
#[derive(Clone, Copy)]
pub(super) struct Placed {
    pub(super) function: u32,
    /// The node of the function, and that of the frame: they are two if it is a line, and both hold
    /// the cost.
    pub(super) function_at: u32,
    pub(super) at: u32,
    /// Nodes down to it.
    pub(super) depth: usize,
}

/// What is known of an open node in one metric: a [`Cost`] taken apart, because it is written field
/// by field, and reading it as a whole right after that would wait until all of it has reached the
/// cache.
#[derive(Clone, Copy, Default)]
pub(super) struct Account {
    pub(super) given: Given,
    pub(super) exclusive: f64,
    pub(super) cumulative: f64,
    /// Cumulative cost of the functions called.
    pub(super) callees: f64,
}

/// Which costs of a node the file gave.
#[derive(Clone, Copy, Default)]
pub(super) enum Given {
    #[default]
    None,
    Exclusive,
    Cumulative,
    Both,
    ExclusiveOnly,
}

/// See the module's page.
pub struct TreeBuilder<O> {
    pub(super) output: O,
    pub(super) stop: Stop,
    pub(super) failure: Option<ImportError>,
    pub(super) facts: Facts,
    pub(super) stated_totals: Vec<Option<f64>>,
    pub(super) metrics: Vec<MetricRow>,
    /// There is room for all metrics that have been announced.
    pub(super) frozen: bool,
    pub(super) default: usize,
    pub(super) functions: Functions,
    pub(super) label_sets: LabelSets,
    pub(super) ledger: Ledger,
    pub(super) trie: Trie,
    pub(super) last_stack: Vec<Placed>,
    pub(super) labels: Labels,

    pub(super) stack: Vec<Level>,
    /// One per open node and metric.
    pub(super) accounts: Vec<Account>,
    pub(super) next: u64,
    /// Rows of the nodes from `base` on. Those of open nodes are there too, with size and figures
    /// to come.
    pub(super) batch: Batch,
    pub(super) base: u64,
    /// Figures of the batch's nodes in the other metrics.
    pub(super) other_figures: Vec<Figures>,
    pub(super) late: Vec<NodeRow>,
    pub(super) late_costs: Vec<CostRow>,

    pub(super) remarks: Remarks,
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
            functions: Functions::default(),
            label_sets: LabelSets::default(),
            ledger: Ledger::default(),
            trie: Trie::default(),
            last_stack: Vec::new(),
            labels: Labels::default(),
            stack: Vec::new(),
            accounts: Vec::new(),
            next: 1,
            batch: Batch::default(),
            base: 1,
            other_figures: Vec::new(),
            late: Vec::new(),
            late_costs: Vec::new(),
            remarks: Remarks::default(),
        }
    }

    /// Merged stacks become nodes, the last batch leaves, and the totals are drawn up.
    ///
    /// # Errors
    /// What the builder had to refuse on the way.
    pub fn finish(mut self) -> Result<(Totals, O), ImportError> {
        self.freeze();
        let nodes = self.drain_trie();
        if !self.stack.is_empty() {
            self.refuse("the importer left nodes open");
        }
        self.ledger.derive(self.facts.fidelity, &mut self.remarks);
        if !self.ledger.is_finite()
            || !self.labels.are_finite()
            || !self.metrics.iter().all(|metric| metric.total.is_finite())
        {
            self.refuse("the costs add up to more than a REAL can hold");
        }
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        self.flush();
        let notes = std::mem::take(&mut self.remarks).into_rows(|function| self.name(function));
        let (labels, label_costs) = self.labels.into_rows(&nodes);
        let (functions, lines, edges) = self.ledger.into_rows(self.default);
        let totals = Totals {
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
        Ok((totals.with_stated(&self.stated_totals), self.output))
    }

    /// Whether the builder has met something that [`finish`](Self::finish) will report.
    pub fn has_refused(&self) -> bool {
        self.failure.is_some()
    }

    /// Takes the next function, for whoever numbers functions himself.
    pub(crate) fn add_function(&mut self, function: Arc<Function>) {
        if [&function.name, &function.module, &function.file]
            .iter()
            .any(|text| has_bytes(text))
        {
            self.remarks.not_utf8.add(index(self.ledger.functions()));
        }
        self.ledger.add_function(function);
    }

    /// Takes the next set of labels, for whoever numbers them himself.
    pub(crate) fn add_label_set(&mut self, set: LabelSet) {
        self.labels.add_set(set);
    }

    /// How many nodes are open.
    pub(crate) fn depth(&self) -> usize {
        self.stack.len()
    }

    /// Says which nodes will be opened soon, by depth and function. Nothing comes of it but speed:
    /// the functions of large profiles lie all over memory.
    pub(crate) fn look_ahead(&self, nodes: &[(usize, FunctionId)]) {
        let caller = |at: usize, depth: usize| {
            let above = depth.checked_sub(1)?;
            let ahead = nodes[..at].iter().rev().find(|(depth, _)| *depth == above);
            ahead
                .map(|(_, function)| function.0)
                .or_else(|| Some(self.stack.get(above)?.function))
        };
        let ahead: Vec<(u32, u32)> = nodes
            .iter()
            .enumerate()
            .map(|(at, (depth, function))| (function.0, caller(at, *depth).unwrap_or(NONE)))
            .collect();
        self.ledger.look_at(&ahead);
    }

    pub(super) fn refuse(&mut self, reason: &str) {
        if self.failure.is_none() {
            self.failure = Some(ImportError::Refused(reason.to_owned()));
        }
        self.stop.set();
    }

    pub(super) fn refuse_calls(&mut self, function: u32) {
        self.refuse(&format!(
            "the calls of `{}` add up to more than 2^53",
            self.name(function)
        ));
    }

    pub(super) fn freeze(&mut self) {
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
        self.ledger.set_metrics(self.metrics.len());
        self.trie.set_metrics(self.metrics.len());
    }

    /// Whether there is more than samples, so that metrics stay as they are.
    pub(super) fn has_rows(&self) -> bool {
        self.next > 1 || self.ledger.has_figures()
    }

    /// Sends the row of a function with the current batch when it is mentioned for the first time.
    pub(super) fn mention(&mut self, function: u32) {
        if let Some(row) = self.ledger.mention(function) {
            self.batch.functions.push((FunctionId(function), row));
        }
    }

    /// The name of a function for a message: cut where it is long.
    fn name(&self, function: u32) -> String {
        const SHOWN: usize = 60;
        let name = &self.ledger.known(function).name;
        let mut shown: String = name.chars().take(SHOWN).collect();
        if shown.len() < name.len() {
            shown.push('…');
        }
        shown
    }

    pub(super) fn open_function(&mut self, function: u32, calls: Option<u64>) {
        self.mention(function);
        let above = self
            .stack
            .last()
            .map_or(Caller::ROOT, |parent| parent.caller);
        let node = self.next;
        let opened = self.ledger.open_function(function, node, calls);
        if !opened.exact {
            self.refuse_calls(function);
        }
        let (caller, edge, outermost_pair) = if self.ledger.is_container(function) {
            (above, NONE, false)
        } else {
            let site = self.ledger.site_of(above);
            let edge = self.ledger.edge_of_node(function, site);
            (
                Caller {
                    function,
                    line: NONE,
                },
                edge,
                self.ledger.open_edge(edge, calls),
            )
        };
        let (outer, line, last_line) = (opened.outer, NONE, NONE);
        self.push(Level {
            node,
            outer,
            function,
            line,
            calls,
            caller,
            edge,
            outermost_pair,
            last_line,
        });
    }

    /// Opens a node of a line that has its entry.
    pub(super) fn open_line(&mut self, function: u32, line: u32, calls: Option<u64>) {
        let parent = self
            .stack
            .last_mut()
            .filter(|parent| parent.function == function && parent.line == NONE);
        let Some(parent) = parent else {
            return self.refuse("the importer opened a line outside its function");
        };
        parent.last_line = line;
        // Whoever looks for a caller passes through containers, and through their lines.
        let is_container = self.ledger.is_container(function);
        let caller = if is_container {
            parent.caller
        } else {
            Caller { function, line }
        };
        let node = self.next;
        let opened = self.ledger.open_line(line, node, calls);
        if !opened.exact {
            let number = self.ledger.place(line).map_or(0, |place| place.line);
            let reason = format!(
                "the calls of `{}[{number}]` add up to more than 2^53",
                self.name(function)
            );
            self.refuse(&reason);
        }
        let (outer, edge, outermost_pair, last_line) = (opened.outer, NONE, false, NONE);
        self.push(Level {
            node,
            outer,
            function,
            line,
            calls,
            caller,
            edge,
            outermost_pair,
            last_line,
        });
    }

    #[inline]
    fn push(&mut self, level: Level) {
        let metrics = self.metrics.len();
        if self.accounts.len() + metrics > MOST_ACCOUNTS {
            let reason = format!(
                "more than {MOST_ACCOUNTS} figures of open calls, {metrics} each (limit: open figures)"
            );
            return self.refuse(&reason);
        }
        // A tree may be a million levels deep before the first of them closes.
        if self.batch.nodes.len() >= NODES_PER_BATCH {
            self.flush();
        }
        self.batch.nodes.push(self.row(&level, self.stack.len()));
        self.other_figures
            .resize(self.batch.nodes.len() * self.others(), Figures::NOTHING);
        self.stack.push(level);
        self.accounts
            .resize(self.stack.len() * metrics, Account::default());
        self.next += 1;
    }

    /// The row of a node as far as it is known when it opens.
    #[inline]
    pub(super) fn row(&self, level: &Level, depth: usize) -> NodeRow {
        NodeRow {
            node: level.node,
            up: self.stack[..depth]
                .last()
                .map(|parent| level.node - parent.node),
            size: 0,
            outer_up: (level.outer != 0).then(|| level.node - level.outer),
            depth: index(depth),
            function: FunctionId(level.function),
            place: self.ledger.place(level.line).cloned(),
            calls: level.calls,
            figures: Figures::NOTHING,
        }
    }

    /// How many metrics there are besides the default one.
    pub(super) fn others(&self) -> usize {
        self.metrics.len().saturating_sub(1)
    }

    /// The figures of a node that closes, from what the file gave and what was called.
    #[inline]
    pub(super) fn settle(&mut self, account: &Account, function: u32) -> Figures {
        let Account {
            given,
            exclusive,
            cumulative,
            callees,
        } = *account;
        match given {
            Given::None => Figures {
                exclusive: 0.0,
                cumulative: Some(callees),
            },
            Given::Exclusive => Figures {
                exclusive,
                cumulative: Some(exclusive + callees),
            },
            Given::Both => Figures {
                exclusive,
                cumulative: Some(cumulative),
            },
            Given::ExclusiveOnly => Figures {
                exclusive,
                cumulative: None,
            },
            Given::Cumulative => {
                let left = cumulative - callees;
                // A node that called nothing may cost less than nothing: corrected times do.
                let alone = callees == 0.0;
                if !alone && left < -ROUNDING * cumulative.abs() {
                    self.remarks.exceeded.add(function);
                }
                Figures {
                    exclusive: if alone { left } else { left.max(0.0) },
                    cumulative: Some(cumulative),
                }
            }
        }
    }

    /// Adds the figures of a closing node to its function or line, to its edge, and to its parent's
    /// callees.
    #[inline]
    pub(super) fn add_up(&mut self, level: &Level, metric: usize, figures: Figures, callees: f64) {
        let outermost = level.outer == 0;
        let cumulative = figures.cumulative.unwrap_or(0.0);
        if level.line == NONE {
            self.ledger
                .add_to_function(level.function, metric, figures, outermost);
        } else {
            self.ledger
                .add_to_line(level.line, metric, figures, outermost);
        }
        if level.edge != NONE {
            let in_outermost_pair = if level.outermost_pair {
                cumulative
            } else {
                0.0
            };
            let in_outermost = if outermost { cumulative } else { 0.0 };
            let parts = [
                figures.exclusive,
                in_outermost_pair,
                in_outermost,
                cumulative,
            ];
            self.ledger.add_to_edge(level.edge, metric, parts);
        }
        if let Some(above) = self.stack.len().checked_sub(1) {
            // A line is part of its function: what it called counts for the function, its own cost
            // is there already.
            let account = &mut self.accounts[above * self.metrics.len() + metric];
            account.callees += if level.line == NONE {
                cumulative
            } else {
                callees
            };
        } else {
            self.metrics[metric].total += cumulative;
        }
    }

    pub(super) fn flush(&mut self) {
        self.late.sort_unstable_by_key(|row| row.node);
        self.late_costs
            .sort_unstable_by_key(|cost| (cost.metric, cost.node));
        let others = self.others();
        let Batch { nodes, costs, .. } = &mut self.batch;
        costs.append(&mut self.late_costs);
        for other in 0..others {
            let metric = MetricId(index(if other < self.default {
                other
            } else {
                other + 1
            }));
            for (row, figures) in nodes
                .iter()
                .zip(self.other_figures.iter().skip(other).step_by(others))
            {
                if figures.is_worth_a_row() {
                    costs.push(CostRow {
                        metric,
                        node: row.node,
                        figures: *figures,
                    });
                }
            }
        }
        let mut open = self
            .stack
            .iter()
            .map(|level| level.node)
            .skip_while(|node| *node < self.base)
            .peekable();
        nodes.retain(|row| open.next_if_eq(&row.node).is_none());
        nodes.splice(0..0, self.late.drain(..));
        self.other_figures.clear();
        self.base = self.next;
        self.output.batch(&mut self.batch);
    }

    /// Opens and closes a node for each of the trie. Where there are labels: which one it was.
    fn drain_trie(&mut self) -> Vec<u64> {
        let trie = std::mem::take(&mut self.trie).complete();
        self.last_stack = Vec::new();
        self.labels.close();
        let mut nodes = vec![
            0;
            if self.labels.have_costs() {
                trie.len()
            } else {
                0
            }
        ];
        let mut walk = trie.walk();
        loop {
            let steps: Vec<Step> = walk.by_ref().take(STEPS).collect();
            if steps.is_empty() {
                return nodes;
            }
            self.look_ahead(&trie.functions(&steps, self.stack.len()));
            for step in steps {
                if self.failure.is_some() {
                    return nodes;
                }
                match step {
                    Step::Enter(at) => {
                        if let Some(node) = nodes.get_mut(at as usize) {
                            *node = self.next;
                        }
                        self.open(&trie, at);
                    }
                    Step::Leave => self.leave(),
                }
            }
        }
    }

    /// Opens a node of the trie.
    fn open(&mut self, trie: &Trie, at: u32) {
        let (function, line, calls) = trie.node(at);
        if line == NONE {
            self.open_function(function, calls);
        } else {
            self.open_line(function, line, calls);
        }
        for metric in 0..self.metrics.len() {
            if let Some(value) = trie.figure(at, metric) {
                self.cost(MetricId(index(metric)), Cost::Exclusive(value));
            }
        }
    }

    pub(super) fn knows(&mut self, function: FunctionId) -> bool {
        let known = self.ledger.has_function(function);
        if !known {
            self.refuse("the importer named a function that it never announced");
        }
        known
    }

    /// Whether a figure can be taken as it is; counts what a REAL rounds.
    pub(super) fn accept(&mut self, metric: MetricId, figures: &[f64], function: u32) -> bool {
        if metric.0 as usize >= self.metrics.len() {
            self.refuse("the importer named a metric that it never announced");
            return false;
        }
        if !figures.iter().all(|figure| figure.is_finite()) {
            let reason = format!("the cost of `{}` is no finite number", self.name(function));
            self.refuse(&reason);
            return false;
        }
        if figures.iter().any(|figure| figure.abs() > MAX_EXACT_COST) {
            self.remarks.rounded.add(function);
        }
        true
    }
}
