//! Stacks, merged by their frames; children in the order in which they first came.

use std::hash::BuildHasher;

use hashbrown::DefaultHashBuilder;

use super::ids::{NONE, index};
use super::sums::{Sum, Tally};
use crate::base::hash_index::HashIndex;
use crate::events::FunctionId;

/// See the module's page. What most nodes do not have lies apart: there may be tens of millions of
/// them.
pub(super) struct Trie {
    nodes: Vec<TrieNode>,
    /// By parent, function and line, without the first child of each node: that is mostly the only
    /// one, and lies behind it.
    index: HashIndex,
    hasher: DefaultHashBuilder,
    metrics: usize,
    /// Calls of nodes that samples end at; those of lines mean nothing.
    calls: Vec<Tally>,
    /// Figures of the same, one per metric.
    figures: Vec<Sum>,
    /// Nodes of the stack that came last, outermost first.
    path: Vec<u32>,
}

struct TrieNode {
    parent: u32,
    function: u32,
    line: u32,
    /// As links, [`TOP`] means none.
    first_child: u32,
    last_child: u32,
    /// The one before: the next one would have to be written into a node that has long left the
    /// caches.
    previous_sibling: u32,
    /// Where its calls and, in whole sets, its figures are; [`NONE`] if it has none.
    figures: u32,
}

/// The node above all stacks.
const TOP: u32 = 0;

pub(super) enum Step {
    Enter(u32),
    Leave,
}

impl Trie {
    /// Makes room for more metrics, of which nothing has been said yet.
    pub(super) fn set_metrics(&mut self, metrics: usize) {
        let old = std::mem::replace(&mut self.metrics, metrics);
        let mut figures = vec![Sum::UNKNOWN; self.calls.len() * metrics];
        for (set, wider) in self
            .figures
            .chunks_exact(old.max(1))
            .zip(figures.chunks_exact_mut(metrics.max(1)))
        {
            wider[..old].copy_from_slice(set);
        }
        self.figures = figures;
    }

    /// The node of the last stack with so many nodes around it, if it stands for this function and
    /// a line that fits.
    pub(super) fn on_path(
        &self,
        depth: usize,
        function: u32,
        fits: impl Fn(u32) -> bool,
    ) -> Option<u32> {
        let at = *self.path.get(depth)?;
        let node = &self.nodes[at as usize];
        (node.function == function && fits(node.line)).then_some(at)
    }

    /// Goes down from the first nodes of the last stack to a node that may be new.
    pub(super) fn below(&mut self, depth: usize, function: u32, line: u32) -> u32 {
        self.path.truncate(depth);
        let parent = self.path.last().copied().unwrap_or(TOP);
        let at = self
            .child(parent, function, line)
            .unwrap_or_else(|| self.add_child(parent, function, line));
        self.path.push(at);
        at
    }

    fn child(&self, parent: u32, function: u32, line: u32) -> Option<u32> {
        let key = (parent, function, line);
        let TrieNode {
            first_child,
            last_child,
            ..
        } = self.nodes[parent as usize];
        if first_child != TOP && self.nodes[first_child as usize].key() == key {
            return Some(first_child);
        }
        if first_child == last_child {
            return None;
        }
        self.index.find(self.hasher.hash_one(key), |at| {
            self.nodes[at as usize].key() == key
        })
    }

    fn add_child(&mut self, parent: u32, function: u32, line: u32) -> u32 {
        let next = index(self.nodes.len());
        let siblings = &mut self.nodes[parent as usize];
        let previous = std::mem::replace(&mut siblings.last_child, next);
        if previous == TOP {
            siblings.first_child = next;
        } else {
            self.index
                .insert(self.hasher.hash_one((parent, function, line)), next);
        }
        self.nodes
            .push(TrieNode::new(parent, function, line, previous));
        next
    }

    /// Adds calls to the node of a function, which every sample does that ends there; says whether
    /// the sum is still exact.
    pub(super) fn call(&mut self, at: u32, calls: Option<u64>) -> bool {
        let place = self.place(at);
        self.calls[place].add(calls)
    }

    pub(super) fn add(&mut self, at: u32, metric: usize, value: f64) {
        let place = self.place(at);
        self.figures[place * self.metrics + metric].add(value);
    }

    /// Where calls and figures of a node are, from now on.
    fn place(&mut self, at: u32) -> usize {
        let place = &mut self.nodes[at as usize].figures;
        if *place == NONE {
            *place = index(self.calls.len());
            self.calls.push(Tally::default());
            self.figures
                .resize(self.calls.len() * self.metrics, Sum::UNKNOWN);
        }
        *place as usize
    }

    /// The same without what is only needed to add to it.
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
    pub(super) fn node(&self, at: u32) -> (u32, u32, Option<u64>) {
        let node = &self.nodes[at as usize];
        let calls = if node.line == NONE {
            self.calls.get(node.figures as usize)
        } else {
            None
        };
        (
            node.function,
            node.line,
            calls.copied().and_then(Tally::get),
        )
    }

    /// What samples that end at a node have said of a metric.
    pub(super) fn figure(&self, at: u32, metric: usize) -> Option<f64> {
        let figures = self.nodes[at as usize].figures;
        if figures == NONE {
            None
        } else {
            self.figures[figures as usize * self.metrics + metric].get()
        }
    }

    /// Depth and function of the nodes that these steps open, without lines.
    pub(super) fn functions(&self, steps: &[Step], mut depth: usize) -> Vec<(usize, FunctionId)> {
        let mut functions = Vec::with_capacity(steps.len());
        for step in steps {
            match step {
                Step::Enter(at) => {
                    let node = &self.nodes[*at as usize];
                    if node.line == NONE {
                        functions.push((depth, FunctionId(node.function)));
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
        let mut waiting: Vec<u32> = self.children_from_last(TOP).collect();
        let mut open: Vec<usize> = Vec::new();
        std::iter::from_fn(move || {
            if open.pop_if(|others| *others == waiting.len()).is_some() {
                return Some(Step::Leave);
            }
            let next = waiting.pop()?;
            open.push(waiting.len());
            waiting.extend(self.children_from_last(next));
            Some(Step::Enter(next))
        })
    }

    fn children_from_last(&self, parent: u32) -> impl Iterator<Item = u32> {
        let child = |at: u32| (at != TOP).then_some(at);
        std::iter::successors(child(self.nodes[parent as usize].last_child), move |at| {
            child(self.nodes[*at as usize].previous_sibling)
        })
    }
}

impl TrieNode {
    fn new(parent: u32, function: u32, line: u32, previous_sibling: u32) -> Self {
        Self {
            parent,
            function,
            line,
            first_child: TOP,
            last_child: TOP,
            previous_sibling,
            figures: NONE,
        }
    }

    fn key(&self) -> (u32, u32, u32) {
        (self.parent, self.function, self.line)
    }
}

impl Default for Trie {
    fn default() -> Self {
        Self {
            nodes: vec![TrieNode::new(NONE, NONE, NONE, TOP)],
            index: HashIndex::default(),
            hasher: DefaultHashBuilder::default(),
            metrics: 0,
            calls: Vec::new(),
            figures: Vec::new(),
            path: Vec::new(),
        }
    }
}
