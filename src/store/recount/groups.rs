//! Groups: what the nodes of one function, of one line, or of one edge add up to, in each metric.

use std::hash::{BuildHasher, Hash};

use hashbrown::DefaultHashBuilder;

use super::doubt::{Doubt, expected};
use crate::base::hash_index::HashIndex;
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

/// The costs of a function in one metric. Those of its nodes are known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FunctionCosts {
    pub(super) exclusive: Sum,
    /// Of nodes that are within no other of the function.
    pub(super) cumulative: Sum,
    /// Of all nodes.
    pub(super) seen: Sum,
    /// All costs, without their signs.
    pub(super) magnitude: f64,
}

impl FunctionCosts {
    pub(super) fn add(&mut self, cost: Known, is_outermost: bool) {
        self.exclusive.add(cost.exclusive);
        self.magnitude += cost.magnitude();
        self.seen.add(cost.cumulative);
        if is_outermost {
            self.cumulative.add(cost.cumulative);
        }
    }
}

/// The costs of a line in one metric.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LineCosts {
    pub(super) exclusive: Sum,
    /// Of nodes that are within no other of the line.
    pub(super) cumulative: Sum,
    /// All costs, without their signs.
    pub(super) magnitude: f64,
    /// The cumulative cost of a node is unknown.
    pub(super) is_partial: bool,
}

impl LineCosts {
    pub(super) fn add(&mut self, cost: Cost, is_outermost: bool) {
        self.exclusive.add(cost.exclusive);
        self.magnitude += cost.exclusive.abs();
        let Some(cumulative) = cost.cumulative else {
            self.is_partial = true;
            return;
        };
        self.magnitude += cumulative.abs();
        if is_outermost {
            self.cumulative.add(cumulative);
        }
    }
}

/// The costs of an edge in one metric. Those of its nodes are known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EdgeCosts {
    pub(super) exclusive: Sum,
    /// Of nodes that are within no other of the same two functions.
    pub(super) cumulative: Sum,
    /// Of nodes that are within no other of the callee.
    pub(super) outermost: Sum,
    /// Of all nodes.
    pub(super) seen: Sum,
    /// All costs, without their signs.
    pub(super) magnitude: f64,
}

impl EdgeCosts {
    pub(super) fn add(&mut self, cost: Known, is_outer_pair: bool, is_outermost: bool) {
        self.exclusive.add(cost.exclusive);
        self.magnitude += cost.magnitude();
        self.seen.add(cost.cumulative);
        if is_outer_pair {
            self.cumulative.add(cost.cumulative);
        }
        if is_outermost {
            self.outermost.add(cost.cumulative);
        }
    }
}

/// What a node cost in one metric, all of it known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Known {
    pub(super) exclusive: f64,
    pub(super) cumulative: f64,
}

impl Known {
    fn magnitude(self) -> f64 {
        self.exclusive.abs() + self.cumulative.abs()
    }
}

/// A sum of calls, which is unknown as soon as those of one node are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Calls(pub(super) Option<i64>);

impl Default for Calls {
    fn default() -> Self {
        Self(Some(0))
    }
}

impl Calls {
    /// Adds the calls of a node.
    pub(super) fn add(&mut self, calls: Option<i64>) -> Result<(), Doubt> {
        self.0 = match (self.0, calls) {
            (Some(sum), Some(calls)) => Some(expected(sum.checked_add(calls))?),
            _ => None,
        };
        Ok(())
    }
}

/// The nodes of a function.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FunctionNodes {
    pub(super) calls: Calls,
    /// Calls of nodes that are within no other of the function.
    pub(super) primitive: Calls,
    /// Its innermost open node.
    pub(super) open: Option<i64>,
}

/// The nodes of a line.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LineNodes {
    pub(super) calls: Calls,
    /// Its innermost open node.
    pub(super) open: Option<i64>,
}

/// All groups of one kind, by their keys: of each what its nodes are, and its costs in each metric.
/// There are as many as edges, so that their bytes count.
pub(super) struct Groups<K, N, C> {
    index: HashIndex,
    hasher: DefaultHashBuilder,
    keys: Vec<K>,
    pub(super) all: Vec<N>,
    costs: Vec<C>,
    metrics: usize,
}

impl<K: Hash + Eq, N: Default, C: Clone + Default> Groups<K, N, C> {
    /// No groups yet.
    pub(super) fn new(metrics: usize) -> Self {
        Self {
            index: HashIndex::default(),
            hasher: DefaultHashBuilder::default(),
            keys: Vec::new(),
            all: Vec::new(),
            costs: Vec::new(),
            metrics,
        }
    }

    /// The number of a group, if there is one.
    pub(super) fn find(&self, key: &K) -> Option<usize> {
        self.find_hashed(self.hasher.hash_one(key), key)
    }

    fn find_hashed(&self, hash: u64, key: &K) -> Option<usize> {
        let found = self.index.find(hash, |at| self.keys[at as usize] == *key);
        found.map(|at| at as usize)
    }

    /// The number of a group, which may be new.
    pub(super) fn number(&mut self, key: K) -> Result<usize, Doubt> {
        let hash = self.hasher.hash_one(&key);
        if let Some(found) = self.find_hashed(hash, &key) {
            return Ok(found);
        }
        let next = self.all.len();
        self.index.insert(hash, expected(u32::try_from(next).ok())?);
        self.keys.push(key);
        self.all.push(N::default());
        self.costs
            .resize(self.all.len() * self.metrics, C::default());
        Ok(next)
    }

    /// The costs of a group, by metric.
    pub(super) fn costs(&mut self, group: usize) -> &mut [C] {
        &mut self.costs[group * self.metrics..][..self.metrics]
    }

    /// The costs of a group in one metric.
    pub(super) fn cost(&self, group: usize, metric: usize) -> &C {
        &self.costs[group * self.metrics + metric]
    }
}
