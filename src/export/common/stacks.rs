//! What formats lose that hold stacks with their own cost and nothing else.

use hashbrown::HashSet;

use crate::export::{Call, Loss, Losses};

pub(in crate::export) const SIBLINGS: Loss =
    Loss { name: "siblings", what: "the difference between places with the same callers", of: "nodes" };

pub(in crate::export) const CUMULATIVE: Loss =
    Loss { name: "cumulative", what: "cost with what was called, where it is not the sum", of: "nodes" };

pub(in crate::export) const FREE: Loss =
    Loss { name: "free", what: "places that cost nothing, nor did what was called there", of: "nodes" };

/// What rounding may make of a sum, as a part of it.
const ROUNDING: f64 = 1e-9;

/// The open calls of a tree, to find where costs are not the sum of own costs.
#[derive(Default)]
pub(in crate::export) struct Sums {
    /// What the file says of the cost of each, and what the own costs add up to.
    open: Vec<(f64, f64)>,
}

impl Sums {
    /// Opens a call with so many others above.
    pub(in crate::export) fn enter(&mut self, depth: usize, exclusive: f64, cumulative: f64, losses: &mut Losses) {
        self.leave(depth, losses);
        self.open.push((cumulative, exclusive));
    }

    /// Closes calls until so many are open.
    pub(in crate::export) fn leave(&mut self, depth: usize, losses: &mut Losses) {
        while self.open.len() > depth {
            let Some((cumulative, sum)) = self.open.pop() else { return };
            let differs = (cumulative - sum).abs() > ROUNDING * cumulative.abs().max(sum.abs());
            losses.add(CUMULATIVE, differs.into());
            if let Some((_, above)) = self.open.last_mut() {
                *above += sum;
            }
        }
    }
}

/// The open calls of a tree, to find what a reader of stacks would not find again.
#[derive(Default)]
pub(in crate::export) struct Stacks {
    sums: Sums,
    /// The names that each has called so far, behind those that stand at the top.
    called: Vec<HashSet<usize>>,
}

impl Stacks {
    /// Opens a call of what `name` stands for: equal for functions that the format cannot tell apart.
    pub(in crate::export) fn enter(&mut self, call: &Call, name: usize, losses: &mut Losses) {
        self.sums.enter(call.depth, call.exclusive, call.cumulative, losses);
        self.called.resize_with(call.depth + 1, HashSet::new);
        let is_new = self.called.last_mut().is_none_or(|siblings| siblings.insert(name));
        losses.add(SIBLINGS, (!is_new).into());
    }

    /// Closes all calls.
    pub(in crate::export) fn finish(&mut self, losses: &mut Losses) {
        self.sums.leave(0, losses);
    }
}
