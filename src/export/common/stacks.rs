//! What formats lose that hold stacks with their own cost and nothing else.

use hashbrown::HashSet;

use crate::export::{Call, Loss, Losses};
use crate::store::NodeRow;

pub(in crate::export) const SIBLINGS: Loss =
    Loss { name: "siblings", what: "the difference between places with the same callers", of: "nodes" };

pub(in crate::export) const CUMULATIVE: Loss =
    Loss { name: "cumulative", what: "cost with what was called, where it is not the sum", of: "nodes" };

pub(in crate::export) const FREE: Loss =
    Loss { name: "free", what: "places that cost nothing, nor did what was called there", of: "nodes" };

/// What rounding may make of a sum, as a part of it.
const ROUNDING: f64 = 1e-9;

/// The open nodes of a tree, to find what a reader of stacks would not find again.
pub(in crate::export) struct Stacks {
    open: Vec<Level>,
    /// What stands at the top.
    roots: HashSet<usize>,
}

struct Level {
    /// The names that it has called so far.
    called: HashSet<usize>,
    /// By metric: what the file says of its cost (`None` for lines, which are a part of their function's), and what the stacks
    /// add up to.
    costs: Vec<(Option<f64>, f64)>,
}

impl Stacks {
    pub(in crate::export) fn new() -> Self {
        Self { open: Vec::new(), roots: HashSet::new() }
    }

    /// Opens a call of what `name` stands for: equal for functions that the format cannot tell apart.
    pub(in crate::export) fn enter(&mut self, call: &Call, name: usize, losses: &mut Losses) {
        let cost = (Some(call.cumulative), call.exclusive);
        self.open(call.depth, name, vec![cost], losses);
    }

    /// Opens a node, or a line, of formats that hold several metrics, and lines.
    pub(in crate::export) fn enter_node(&mut self, rows: &[NodeRow], name: usize, losses: &mut Losses) {
        let costs = rows.iter().map(|row| match row.line {
            None => (Some(row.cumulative.unwrap_or(row.exclusive)), row.exclusive),
            Some(_) => (None, 0.0),
        });
        self.open(rows[0].depth, name, costs.collect(), losses);
    }

    fn open(&mut self, depth: usize, name: usize, costs: Vec<(Option<f64>, f64)>, losses: &mut Losses) {
        self.leave(depth, losses);
        let siblings = self.open.last_mut().map_or(&mut self.roots, |above| &mut above.called);
        losses.add(SIBLINGS, (!siblings.insert(name)).into());
        self.open.push(Level { called: HashSet::new(), costs });
    }

    /// Closes calls until so many are open.
    pub(in crate::export) fn leave(&mut self, depth: usize, losses: &mut Losses) {
        while self.open.len() > depth {
            let Some(Level { costs, .. }) = self.open.pop() else { return };
            let differs = |(cumulative, sum): &(Option<f64>, f64)| {
                cumulative.is_some_and(|cost| (cost - sum).abs() > ROUNDING * cost.abs().max(sum.abs()))
            };
            losses.add(CUMULATIVE, costs.iter().any(differs).into());
            if let Some(above) = self.open.last_mut() {
                for (above, (_, sum)) in above.costs.iter_mut().zip(costs) {
                    above.1 += sum;
                }
            }
        }
    }
}
