//! Stacks, merged by their frames; children in the order in which they first came.

use hashbrown::HashMap;

use super::NONE;
use crate::events::MetricId;

/// See the module's page.
pub(super) struct Trie {
    pub(super) nodes: Vec<TrieNode>,
    children: HashMap<(usize, u32, u32), usize>,
}

pub(super) struct TrieNode {
    pub(super) function: u32,
    pub(super) line: u32,
    /// `None` before the first sample that ends here, `Some(None)` if one did without knowing its calls.
    pub(super) calls: Option<Option<u64>>,
    pub(super) values: Vec<(MetricId, f64)>,
    first_child: usize,
    last_child: usize,
    next_sibling: usize,
}

pub(super) enum Step<'a> {
    Enter(&'a TrieNode),
    Leave,
}

impl Default for Trie {
    fn default() -> Self {
        let mut trie = Self { nodes: Vec::new(), children: HashMap::new() };
        trie.nodes.push(TrieNode::new(NONE, NONE));
        trie
    }
}

impl TrieNode {
    fn new(function: u32, line: u32) -> Self {
        Self { function, line, calls: None, values: Vec::new(), first_child: 0, last_child: 0, next_sibling: 0 }
    }
}

impl Trie {
    /// The node above all stacks; as a link, 0 means none.
    pub(super) const TOP: usize = 0;

    pub(super) fn below(&mut self, parent: usize, function: u32, line: u32) -> usize {
        let next = self.nodes.len();
        let found = *self.children.entry((parent, function, line)).or_insert(next);
        if found == next {
            self.nodes.push(TrieNode::new(function, line));
            let last = std::mem::replace(&mut self.nodes[parent].last_child, next);
            if last == 0 {
                self.nodes[parent].first_child = next;
            } else {
                self.nodes[last].next_sibling = next;
            }
        }
        found
    }

    pub(super) fn call(&mut self, at: usize, calls: Option<u64>) {
        let known = &mut self.nodes[at].calls;
        *known = Some(match *known {
            None => calls,
            Some(sum) => sum.zip(calls).map(|(sum, calls)| sum.saturating_add(calls)),
        });
    }

    pub(super) fn add(&mut self, at: usize, metric: MetricId, value: f64) {
        let values = &mut self.nodes[at].values;
        match values.iter_mut().find(|(known, _)| *known == metric) {
            Some((_, sum)) => *sum += value,
            None => values.push((metric, value)),
        }
    }

    /// All nodes in pre-order, each closed after its children. Does not recurse: stacks may be a million frames deep.
    pub(super) fn walk(&self) -> impl Iterator<Item = Step<'_>> {
        let mut open: Vec<usize> = Vec::new();
        let mut next = self.nodes[Self::TOP].first_child;
        std::iter::from_fn(move || {
            if next != 0 {
                let node = &self.nodes[next];
                open.push(next);
                next = node.first_child;
                return Some(Step::Enter(node));
            }
            let closed = open.pop()?;
            next = self.nodes[closed].next_sibling;
            Some(Step::Leave)
        })
    }
}
