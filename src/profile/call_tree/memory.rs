//! The part of the call tree that is in memory: nodes by the one above them, function and line.

use std::hash::BuildHasher;

use hashbrown::DefaultHashBuilder;

use crate::base::hash_index::HashIndex;
use crate::base::interner::{Id, Table};
use crate::events::{FunctionId, MetricId};
use crate::profile::ids::{CallKey, CallNodeId, LineId};
use crate::profile::sums::{CallCount, MaybeSum};

/// Merged stacks. What most nodes do not have (calls, costs) lies apart: there may be tens of
/// millions of nodes.
pub(super) struct MemoryPart {
    nodes: Table<CallNodeId, CallNode>,
    /// By parent, function and line, without the first child of each node: that is mostly the only
    /// one, and lies after it in memory.
    index: HashIndex,
    hasher: DefaultHashBuilder,
    metrics: usize,
    /// Calls of nodes that samples end at; those of lines mean nothing.
    calls: Vec<CallCount>,
    /// Costs of the same nodes, one per metric.
    costs: Vec<MaybeSum>,
    /// Nodes of the stack that came last, outermost first.
    path: Vec<CallNodeId>,
}

struct CallNode {
    parent: CallNodeId,
    function: FunctionId,
    line: Option<LineId>,
    first_child: Option<CallNodeId>,
    last_child: Option<CallNodeId>,
    /// Siblings are linked backwards: the next one would have to be written into a node that has
    /// long left the caches.
    previous_sibling: Option<CallNodeId>,
    /// Where the calls of the node and, in whole rows, its costs are; [`NO_SAMPLES`] if no sample
    /// ends here.
    samples: u32,
}

/// No sample ends at the node.
const NO_SAMPLES: u32 = u32::MAX;

/// The node above all stacks.
pub(super) fn top() -> CallNodeId {
    CallNodeId::new(0)
}

impl MemoryPart {
    /// An empty part for so many metrics.
    pub(super) fn of_metrics(metrics: usize) -> Self {
        Self {
            metrics,
            ..Self::default()
        }
    }

    /// Makes room for more metrics, in which no node has a cost yet.
    pub(super) fn set_metrics(&mut self, metrics: usize) {
        let old = std::mem::replace(&mut self.metrics, metrics);
        let mut costs = vec![MaybeSum::UNKNOWN; self.calls.len() * metrics];
        for (row, wider) in self
            .costs
            // Without metrics there are no costs, so that this finds no row; 0 is no length of a
            // chunk.
            .chunks_exact(old.max(1))
            .zip(costs.chunks_exact_mut(metrics.max(1)))
        {
            // Metrics are only added: a sample may come before a metric that it knows nothing of.
            wider[..old].copy_from_slice(row);
        }
        self.costs = costs;
    }

    /// The node of the last stack with so many nodes above it, if it is of this function and a line
    /// that fits.
    pub(super) fn on_path(
        &self,
        depth: usize,
        function: FunctionId,
        fits: impl Fn(Option<LineId>) -> bool,
    ) -> Option<CallNodeId> {
        let at = *self.path.get(depth)?;
        let node = &self.nodes[at];
        (node.function == function && fits(node.line)).then_some(at)
    }

    /// Goes down from the first nodes of the last stack to a child, which may be new.
    pub(super) fn below(
        &mut self,
        depth: usize,
        function: FunctionId,
        line: Option<LineId>,
    ) -> CallNodeId {
        self.path.truncate(depth);
        let parent = self.path.last().copied().unwrap_or_else(top);
        let at = self
            .child(parent, function, line)
            .unwrap_or_else(|| self.add_child(parent, function, line));
        self.path.push(at);
        at
    }

    fn child(
        &self,
        parent: CallNodeId,
        function: FunctionId,
        line: Option<LineId>,
    ) -> Option<CallNodeId> {
        let key = (parent, function, line);
        let CallNode {
            first_child,
            last_child,
            ..
        } = self.nodes[parent];
        let first_child = first_child?;
        if self.nodes[first_child].key() == key {
            return Some(first_child);
        }
        // An only child, which is not the one: the index has nothing below this node.
        if last_child == Some(first_child) {
            return None;
        }
        let found = self.index.find(self.hash(key), |at| {
            self.nodes[CallNodeId::new(at as usize)].key() == key
        });
        found.map(|at| CallNodeId::new(at as usize))
    }

    fn add_child(
        &mut self,
        parent: CallNodeId,
        function: FunctionId,
        line: Option<LineId>,
    ) -> CallNodeId {
        let next = CallNodeId::new(self.nodes.len());
        let siblings = &mut self.nodes[parent];
        let previous_sibling = siblings.last_child.replace(next);
        if previous_sibling.is_none() {
            siblings.first_child = Some(next);
        } else {
            let at = u32::try_from(next.index()).expect("fewer than 2^32 nodes");
            self.index.insert(self.hash((parent, function, line)), at);
        }
        self.nodes.push(CallNode {
            previous_sibling,
            ..CallNode::new(parent, function, line)
        })
    }

    fn hash(&self, (parent, function, line): (CallNodeId, FunctionId, Option<LineId>)) -> u64 {
        // Three numbers: an `Option` would be hashed as two.
        let line = line.map_or(usize::MAX, LineId::index);
        self.hasher.hash_one((parent, function, line))
    }

    /// Adds calls to the node of a function, which every sample does that ends there; says whether
    /// the sum is still exact.
    pub(super) fn call(&mut self, at: CallNodeId, calls: Option<u64>) -> bool {
        let samples = self.samples(at);
        self.calls[samples].add(calls)
    }

    pub(super) fn add(&mut self, at: CallNodeId, metric: MetricId, cost: f64) {
        let samples = self.samples(at);
        self.costs[samples * self.metrics + metric.index()].add(cost);
    }

    /// Where calls and costs of a node are, from now on.
    fn samples(&mut self, at: CallNodeId) -> usize {
        let samples = &mut self.nodes[at].samples;
        if *samples == NO_SAMPLES {
            *samples = u32::try_from(self.calls.len()).expect("fewer than 2^32 nodes");
            self.calls.push(CallCount::default());
            self.costs
                .resize(self.calls.len() * self.metrics, MaybeSum::UNKNOWN);
        }
        *samples as usize
    }

    /// Forgets what is only needed to add to the tree.
    pub(super) fn close(&mut self) {
        self.index = HashIndex::default();
        self.path = Vec::new();
    }

    /// Forgets all nodes but those of the last stack, which are new ones: nothing is known of them
    /// but where they are. Keeps the room.
    pub(super) fn start_again(&mut self) {
        let path: Vec<CallKey> = self.path.iter().map(|at| self.key(*at)).collect();
        self.nodes.clear();
        self.nodes.push(CallNode::above_all());
        self.index.clear();
        self.calls.clear();
        self.costs.clear();
        self.path.clear();
        for (depth, (function, line)) in path.into_iter().enumerate() {
            self.below(depth, function, line);
        }
    }

    /// How many nodes there are, with the one above all stacks.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The nodes of the last stack, outermost first.
    pub(super) fn path(&self) -> &[CallNodeId] {
        &self.path
    }

    /// How many metrics there are.
    pub(super) fn metrics(&self) -> usize {
        self.metrics
    }

    /// Function and line of a node.
    pub(super) fn key(&self, at: CallNodeId) -> CallKey {
        let node = &self.nodes[at];
        (node.function, node.line)
    }

    /// Calls and costs of a node, if a sample ends there. Calls of lines mean nothing.
    pub(super) fn figures(&self, at: CallNodeId) -> Option<(CallCount, &[MaybeSum])> {
        let samples = self.nodes[at].samples;
        // `NO_SAMPLES` is beyond the end of the list.
        let calls = self.calls.get(samples as usize)?;
        let first = samples as usize * self.metrics;
        Some((*calls, &self.costs[first..first + self.metrics]))
    }

    /// All nodes in pre-order, without the one above them. Does not recurse: stacks may be a million
    /// frames deep.
    pub(super) fn pre_order(&self) -> impl Iterator<Item = CallNodeId> {
        let mut waiting: Vec<CallNodeId> = self.children_from_last(top()).collect();
        std::iter::from_fn(move || {
            let next = waiting.pop()?;
            // From the last one, so that the first one is taken next.
            waiting.extend(self.children_from_last(next));
            Some(next)
        })
    }

    /// How much lies below each node, by its index, if each node has so much: a node comes after that above it.
    pub(super) fn below_each(&self, size: impl Fn(CallNodeId) -> u64) -> Vec<u64> {
        let mut below = vec![0; self.nodes.len()];
        for at in (1..self.nodes.len()).rev().map(CallNodeId::new) {
            below[self.nodes[at].parent.index()] += below[at.index()] + size(at);
        }
        below
    }

    /// The children of a node, the last one first.
    pub(super) fn children_from_last(
        &self,
        parent: CallNodeId,
    ) -> impl Iterator<Item = CallNodeId> {
        std::iter::successors(self.nodes[parent].last_child, move |at| {
            self.nodes[*at].previous_sibling
        })
    }
}

impl CallNode {
    /// The node above all stacks, which is of no function.
    fn above_all() -> Self {
        Self::new(top(), FunctionId(u32::MAX), None)
    }

    /// A node without children, siblings and samples.
    fn new(parent: CallNodeId, function: FunctionId, line: Option<LineId>) -> Self {
        Self {
            parent,
            function,
            line,
            first_child: None,
            last_child: None,
            previous_sibling: None,
            samples: NO_SAMPLES,
        }
    }

    fn key(&self) -> (CallNodeId, FunctionId, Option<LineId>) {
        (self.parent, self.function, self.line)
    }
}

impl Default for MemoryPart {
    fn default() -> Self {
        Self {
            nodes: vec![CallNode::above_all()].into(),
            index: HashIndex::default(),
            hasher: DefaultHashBuilder::default(),
            metrics: 0,
            calls: Vec::new(),
            costs: Vec::new(),
            path: Vec::new(),
        }
    }
}
