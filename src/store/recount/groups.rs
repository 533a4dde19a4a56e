//! Groups: what the nodes of one function, of one line, or of one edge add up to, in each metric.

use std::hash::Hash;

use hashbrown::{DefaultHashBuilder, HashMap};

use super::doubt::{Doubt, expected};
use crate::base::sum::Sum;
use crate::store::rows::Cost;

/// What stored figures may differ by from recounted ones, besides [`RELATIVE`]: half of what the
/// statements let pass, so that another order of addition makes no difference.
const ABSOLUTE: f64 = 0.5e-6;

/// Tolerance as a part of all costs that were added up.
const RELATIVE: f64 = 0.5e-9;

/// Whether a stored figure is this sum of parts whose sizes add up to `magnitude`. No figure is the
/// sum of infinite parts.
pub(super) fn is_sum(sum: Sum, figure: Option<f64>, magnitude: f64) -> bool {
    let tolerance = ABSOLUTE + RELATIVE * magnitude;
    tolerance.is_finite() && figure.is_some_and(|figure| (figure - sum.value()).abs() <= tolerance)
}

/// The costs of a group in one metric.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Costs {
    pub(super) exclusive: Sum,
    /// Of nodes that are within no other of the group; of an edge, within no other of the same two
    /// functions.
    pub(super) cumulative: Sum,
    /// Of nodes that are within no other of their function.
    pub(super) outermost: Sum,
    /// Of all nodes.
    pub(super) seen: Sum,
    /// All exclusive and cumulative costs, without their signs.
    pub(super) magnitude: f64,
    /// The cumulative cost of a node is unknown.
    pub(super) is_partial: bool,
}

impl Costs {
    /// Adds a node, which `counts` where costs of recursion count once, and is `outermost`.
    pub(super) fn add(&mut self, cost: Cost, counts: bool, outermost: bool) {
        self.exclusive.add(cost.exclusive);
        self.magnitude += cost.exclusive.abs();
        let Some(cumulative) = cost.cumulative else {
            self.is_partial = true;
            return;
        };
        self.magnitude += cumulative.abs();
        self.seen.add(cumulative);
        if counts {
            self.cumulative.add(cumulative);
        }
        if outermost {
            self.outermost.add(cumulative);
        }
    }
}

/// A group of nodes.
#[derive(Debug)]
pub(super) struct Group {
    /// `None` as soon as those of one node are unknown.
    pub(super) calls: Option<i64>,
    /// Calls of nodes that are within no other of the group.
    pub(super) primitive: Option<i64>,
    /// Its innermost open node.
    pub(super) open: Option<i64>,
}

impl Group {
    /// Adds the calls of a node.
    pub(super) fn add(&mut self, calls: Option<i64>, is_outermost: bool) -> Result<(), Doubt> {
        self.calls = sum(self.calls, calls)?;
        if is_outermost {
            self.primitive = sum(self.primitive, calls)?;
        }
        Ok(())
    }
}

/// A sum that is unknown as soon as one part is.
fn sum(sum: Option<i64>, part: Option<i64>) -> Result<Option<i64>, Doubt> {
    let (Some(sum), Some(part)) = (sum, part) else {
        return Ok(None);
    };
    expected(sum.checked_add(part)).map(Some)
}

/// All groups of one kind, by their keys.
pub(super) struct Groups<K> {
    numbers: HashMap<K, usize, DefaultHashBuilder>,
    pub(super) all: Vec<Group>,
    /// For each group, its costs in each metric.
    costs: Vec<Costs>,
    metrics: usize,
}

impl<K: Hash + Eq> Groups<K> {
    /// No groups yet.
    pub(super) fn new(metrics: usize) -> Self {
        Self {
            numbers: HashMap::default(),
            all: Vec::new(),
            costs: Vec::new(),
            metrics,
        }
    }

    /// The number of a group, if there is one.
    pub(super) fn find(&self, key: &K) -> Option<usize> {
        self.numbers.get(key).copied()
    }

    /// The number of a group, which may be new.
    pub(super) fn number(&mut self, key: K) -> usize {
        let (all, costs, metrics) = (&mut self.all, &mut self.costs, self.metrics);
        *self.numbers.entry(key).or_insert_with(|| {
            all.push(Group {
                calls: Some(0),
                primitive: Some(0),
                open: None,
            });
            costs.resize(all.len() * metrics, Costs::default());
            all.len() - 1
        })
    }

    /// The costs of a group, by metric.
    pub(super) fn costs(&mut self, group: usize) -> &mut [Costs] {
        &mut self.costs[group * self.metrics..][..self.metrics]
    }

    /// The costs of a group in one metric.
    pub(super) fn cost(&self, group: usize, metric: usize) -> &Costs {
        &self.costs[group * self.metrics + metric]
    }

    /// Opens a node of a group; returns the one that encloses it.
    pub(super) fn open(&mut self, group: usize, node: i64) -> Option<i64> {
        self.all[group].open.replace(node)
    }
}
