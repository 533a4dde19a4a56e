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
    what: "the difference between places with the same callers",
    of: "nodes",
};

pub(in crate::formats) const CUMULATIVE: Loss = Loss {
    name: "cumulative",
    what: "cost with what was called, where it is not the sum",
    of: "nodes",
};

pub(in crate::formats) const FREE: Loss = Loss {
    name: "free",
    what: "places that cost nothing, nor did what was called there",
    of: "nodes",
};

/// What a file says of the cost of a node in each metric (`None` for lines, which are a part of
/// their function's), and what the own costs add up to.
type Costs = Vec<(Option<f64>, f64)>;

/// The open nodes of a tree, to find where costs are not the sum of own costs.
#[derive(Default)]
pub(in crate::formats) struct OpenNodes {
    open: Vec<Costs>,
}

impl OpenNodes {
    /// Opens a node with so many others above, with its cost and its own cost in each metric.
    pub(in crate::formats) fn enter(&mut self, depth: usize, costs: Costs, losses: &mut Losses) {
        self.leave(depth, losses);
        self.open.push(costs);
    }

    /// Closes nodes until so many are open.
    pub(in crate::formats) fn leave(&mut self, depth: usize, losses: &mut Losses) {
        while self.open.len() > depth {
            let Some(costs) = self.open.pop() else { return };
            let differs = |(cumulative, sum): &(Option<f64>, f64)| {
                cumulative.is_some_and(|cost| differ(cost, *sum))
            };
            losses.add(CUMULATIVE, costs.iter().any(differs).into());
            if let Some(above) = self.open.last_mut() {
                for (above, (_, sum)) in above.iter_mut().zip(costs) {
                    above.1 += sum;
                }
            }
        }
    }
}

/// The open nodes of a tree, to find what a reader of stacks would not find again. `N` is what
/// a name is for: equal for functions that the format cannot tell apart.
pub(in crate::formats) struct Stacks<N> {
    sums: OpenNodes,
    /// The names at the top, and then those that each open node has called so far.
    called: Vec<HashSet<N>>,
}

impl<N> Default for Stacks<N> {
    fn default() -> Self {
        Self {
            sums: OpenNodes::default(),
            called: Vec::new(),
        }
    }
}

impl<N: Eq + Hash> Stacks<N> {
    /// Opens a call.
    pub(in crate::formats) fn enter(&mut self, call: &Call, name: N, losses: &mut Losses) {
        self.open(
            call.depth,
            name,
            vec![(Some(call.cumulative), call.exclusive)],
            losses,
        );
    }

    /// Opens a node, or a line, of formats that hold several metrics, and lines.
    pub(super) fn enter_node(&mut self, rows: &[NodeRow], name: N, losses: &mut Losses) {
        let costs = rows.iter().map(|row| match row.line {
            None => (Some(row.cumulative.unwrap_or(row.exclusive)), row.exclusive),
            Some(_) => (None, 0.0),
        });
        self.open(rows[0].depth, name, costs.collect(), losses);
    }

    fn open(&mut self, depth: usize, name: N, costs: Costs, losses: &mut Losses) {
        self.sums.enter(depth, costs, losses);
        self.called.resize_with(depth + 1, HashSet::new);
        let is_new = self
            .called
            .last_mut()
            .is_none_or(|siblings| siblings.insert(name));
        losses.add(SIBLINGS, (!is_new).into());
    }

    /// Closes nodes until so many are open.
    pub(in crate::formats) fn leave(&mut self, depth: usize, losses: &mut Losses) {
        self.sums.leave(depth, losses);
    }
}
