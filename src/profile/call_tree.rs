//! The call tree of samples: stacks, merged by their frames; children in the order in which they
//! first came. It is a trie whose letters are functions and lines.

use std::hash::BuildHasher;

use hashbrown::DefaultHashBuilder;

use super::ids::{CallNodeId, LineId};
use super::sums::{CallCount, MaybeSum};
use crate::base::hash_index::HashIndex;
use crate::base::interner::{Id, Table};
use crate::events::{FunctionId, MetricId};

/// Merged stacks. What most nodes do not have (calls, costs) lies apart: there may be tens of
/// millions of nodes.
pub(super) struct CallTree {
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

pub(super) enum Step {
    Enter(CallNodeId),
    Leave,
}

/// The node above all stacks.
fn top() -> CallNodeId {
    CallNodeId::new(0)
}

impl CallTree {
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

    /// The whole tree, without what is only needed to add to it.
    pub(super) fn complete(self) -> Self {
        Self {
            index: HashIndex::default(),
            path: Vec::new(),
            ..self
        }
    }

    /// How many nodes there are, with the one above all stacks.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Function, line and calls of a node.
    pub(super) fn node(&self, at: CallNodeId) -> (FunctionId, Option<LineId>, Option<u64>) {
        let node = &self.nodes[at];
        // Samples count calls of functions; what lies in the list for a line was never added to.
        let calls = if node.line.is_none() {
            // `NO_SAMPLES` is beyond the end of the list: calls of a node that was only passed
            // through are unknown.
            self.calls.get(node.samples as usize)
        } else {
            None
        };
        let calls = calls.copied().and_then(CallCount::get);
        (node.function, node.line, calls)
    }

    /// The cost that samples have at the node where they end.
    pub(super) fn cost(&self, at: CallNodeId, metric: MetricId) -> Option<f64> {
        match self.nodes[at].samples {
            NO_SAMPLES => None,
            samples => self.costs[samples as usize * self.metrics + metric.index()].get(),
        }
    }

    /// Depth and function of the nodes that these steps open, without lines.
    pub(super) fn functions(&self, steps: &[Step], mut depth: usize) -> Vec<(usize, FunctionId)> {
        let mut functions = Vec::with_capacity(steps.len());
        for step in steps {
            match step {
                Step::Enter(at) => {
                    let node = &self.nodes[*at];
                    if node.line.is_none() {
                        functions.push((depth, node.function));
                    }
                    depth += 1;
                }
                Step::Leave => depth = depth.saturating_sub(1),
            }
        }
        functions
    }

    /// All nodes in pre-order, each closed after its children. Does not recurse: stacks may be a
    /// million frames deep.
    pub(super) fn walk(&self) -> impl Iterator<Item = Step> {
        // Nodes that remain to be opened, the next one last, and how many of them are not below
        // each open node.
        let mut waiting: Vec<CallNodeId> = self.children_from_last(top()).collect();
        let mut open: Vec<usize> = Vec::new();
        std::iter::from_fn(move || {
            if open.pop_if(|others| *others == waiting.len()).is_some() {
                return Some(Step::Leave);
            }
            let next = waiting.pop()?;
            open.push(waiting.len());
            // From the last one, so that the first one is taken next.
            waiting.extend(self.children_from_last(next));
            Some(Step::Enter(next))
        })
    }

    fn children_from_last(&self, parent: CallNodeId) -> impl Iterator<Item = CallNodeId> {
        std::iter::successors(self.nodes[parent].last_child, move |at| {
            self.nodes[*at].previous_sibling
        })
    }
}

impl CallNode {
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

impl Default for CallTree {
    fn default() -> Self {
        // Of no function, above the roots.
        let above_all = CallNode::new(top(), FunctionId(u32::MAX), None);
        Self {
            nodes: vec![above_all].into(),
            index: HashIndex::default(),
            hasher: DefaultHashBuilder::default(),
            metrics: 0,
            calls: Vec::new(),
            costs: Vec::new(),
            path: Vec::new(),
        }
    }
}
