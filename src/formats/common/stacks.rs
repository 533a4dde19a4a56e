//! Counts what formats lose that hold stacks with their own cost and nothing else.

#![expect(
    clippy::indexing_slicing,
    reason = "numbers of functions and metrics are the writer's own"
)]

use std::hash::Hash;

use hashbrown::HashSet;

use crate::formats::export::losses::{Loss, Losses, differ};
use crate::formats::export::profile::Call;
use crate::store::NodeRow;

pub(in crate::formats) const SIBLINGS: Loss = Loss {
    name: "siblings",
    what: "the difference between nodes with equal paths",
    of: "nodes",
};

pub(in crate::formats) const CUMULATIVE: Loss = Loss {
    name: "cumulative",
    what: "inclusive costs that differ from the sum of the exclusive costs",
    of: "nodes",
};

pub(in crate::formats) const FREE: Loss = Loss {
    name: "free",
    what: "nodes without an inclusive cost",
    of: "nodes",
};

/// What a file says of the cost of a node in a metric (`None` for lines, which are a part of their
/// function's), and what the own costs add up to.
type Cost = (Option<f64>, f64);

/// The open nodes of a tree, to find where costs are not the sum of own costs.
#[derive(Default)]
pub(in crate::formats) struct OpenNodes {
    /// By open node and metric.
    costs: Vec<Cost>,
    /// How many metrics there are.
    width: usize,
    /// How many nodes are open.
    open: usize,
}

impl OpenNodes {
    /// Opens a node with so many others above, with its cost and its own cost in each metric.
    pub(in crate::formats) fn enter(
        &mut self,
        depth: usize,
        costs: impl ExactSizeIterator<Item = Cost>,
        losses: &mut Losses,
    ) {
        self.leave(depth, losses);
        self.width = costs.len();
        self.costs.extend(costs);
        self.open += 1;
    }

    /// Closes nodes until so many are open.
    pub(in crate::formats) fn leave(&mut self, depth: usize, losses: &mut Losses) {
        while self.open > depth {
            self.open -= 1;
            let at = self.open * self.width;
            let (above, closed) = self.costs.split_at_mut(at);
            let differs =
                |(cumulative, sum): &Cost| cumulative.is_some_and(|cost| differ(cost, *sum));
            losses.add(CUMULATIVE, closed.iter().any(differs).into());
            let above = above.iter_mut().skip(at.saturating_sub(self.width));
            for (above, (_, sum)) in above.zip(closed) {
                above.1 += *sum;
            }
            self.costs.truncate(at);
        }
    }
}

/// The open nodes of a tree, to find what a reader of stacks would not find again. `N` is what
/// a name is for: equal for functions that the format cannot tell apart.
pub(in crate::formats) struct Stacks<N> {
    sums: OpenNodes,
    /// The names at the top, and then those that each open node has called so far. Beyond the open
    /// nodes there are emptied ones, whose memory is used again.
    called: Vec<Called<N>>,
    /// How many of these belong to open nodes, and the top.
    open: usize,
}

/// The names of what a node has called so far: a list while they are few, which nearly all are.
struct Called<N> {
    few: Vec<N>,
    many: HashSet<N>,
}

/// How many names are searched one by one.
const FEW: usize = 16;

impl<N> Default for Called<N> {
    fn default() -> Self {
        Self {
            few: Vec::new(),
            many: HashSet::new(),
        }
    }
}

impl<N: Eq + Hash> Called<N> {
    /// Adds a name. Says whether it is new.
    fn insert(&mut self, name: N) -> bool {
        if !self.many.is_empty() {
            return self.many.insert(name);
        }
        if self.few.contains(&name) {
            return false;
        }
        if self.few.len() < FEW {
            self.few.push(name);
            return true;
        }
        self.many.extend(self.few.drain(..));
        self.many.insert(name)
    }

    fn clear(&mut self) {
        self.few.clear();
        if !self.many.is_empty() {
            // To empty a large table takes as long as it is large, however few it holds next.
            self.many = HashSet::new();
        }
    }
}

impl<N> Default for Stacks<N> {
    fn default() -> Self {
        Self {
            sums: OpenNodes::default(),
            called: Vec::new(),
            open: 0,
        }
    }
}

impl<N: Eq + Hash> Stacks<N> {
    /// Opens a call.
    pub(in crate::formats) fn enter(&mut self, call: &Call, name: N, losses: &mut Losses) {
        self.open(
            call.depth,
            name,
            std::iter::once((Some(call.cumulative), call.exclusive)),
            losses,
        );
    }

    /// Opens a node, or a line, of formats that hold several metrics, and lines.
    pub(super) fn enter_node(&mut self, rows: &[NodeRow], name: N, losses: &mut Losses) {
        let costs = rows.iter().map(|row| match row.line {
            // What a line cost is in its function's own cost already.
            None => (Some(row.cumulative.unwrap_or(row.exclusive)), row.exclusive),
            Some(_) => (None, 0.0),
        });
        self.open(rows[0].depth, name, costs, losses);
    }

    fn open(
        &mut self,
        depth: usize,
        name: N,
        costs: impl ExactSizeIterator<Item = Cost>,
        losses: &mut Losses,
    ) {
        self.sums.enter(depth, costs, losses);
        // Names below the sibling before are forgotten; the set of all siblings stays.
        while self.open > depth + 1 {
            self.open -= 1;
            self.called[self.open].clear();
        }
        self.open = depth + 1;
        if self.called.len() < self.open {
            self.called.resize_with(self.open, Called::default);
        }
        let is_new = self.called[depth].insert(name);
        losses.add(SIBLINGS, (!is_new).into());
    }

    /// Closes nodes until so many are open.
    pub(in crate::formats) fn leave(&mut self, depth: usize, losses: &mut Losses) {
        self.sums.leave(depth, losses);
    }
}
