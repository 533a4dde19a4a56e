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

/// The open calls of a tree, to find what a reader of stacks would not find again.
pub(in crate::export) struct Stacks {
    open: Vec<Level>,
    /// What stands at the top.
    roots: HashSet<usize>,
}

struct Level {
    /// The names that it has called so far.
    called: HashSet<usize>,
    /// What the file says of its cost, and what the stacks add up to.
    cumulative: f64,
    sum: f64,
}

impl Stacks {
    pub(in crate::export) fn new() -> Self {
        Self { open: Vec::new(), roots: HashSet::new() }
    }

    /// Opens a call of what `name` stands for: equal for functions that the format cannot tell apart.
    pub(in crate::export) fn enter(&mut self, call: &Call, name: usize, losses: &mut Losses) {
        self.leave(call.depth, losses);
        let siblings = self.open.last_mut().map_or(&mut self.roots, |above| &mut above.called);
        losses.add(SIBLINGS, (!siblings.insert(name)).into());
        self.open.push(Level { called: HashSet::new(), cumulative: call.cumulative, sum: call.exclusive });
    }

    /// Closes calls until so many are open.
    pub(in crate::export) fn leave(&mut self, depth: usize, losses: &mut Losses) {
        while self.open.len() > depth {
            let Some(Level { cumulative, sum, .. }) = self.open.pop() else { return };
            let differs = (cumulative - sum).abs() > ROUNDING * cumulative.abs().max(sum.abs());
            losses.add(CUMULATIVE, differs.into());
            if let Some(above) = self.open.last_mut() {
                above.sum += sum;
            }
        }
    }
}
