//! Stacks that cannot be told yet, merged: for formats whose end decides what their beginning
//! means.

use std::hash::Hash;

use hashbrown::HashMap;

use crate::base::error::Position;

/// Merged stacks of frames `F`, each with a value `V`, in the order in which they first came. Takes
/// room for every distinct end of a stack once: deep stacks share what they have in common on the
/// outside.
pub(in crate::formats) struct Held<F, V> {
    /// A frame and, from 1, the node of the frame around it (0 if it is the outermost).
    nodes: Vec<(F, usize)>,
    index: HashMap<(F, usize), usize>,
    /// Which node is the innermost of which stack.
    innermost: HashMap<usize, usize>,
    stacks: Vec<Stack<V>>,
}

/// Equal stacks.
pub(in crate::formats) struct Stack<V> {
    /// Where the first of them starts.
    pub(in crate::formats) first: Position,
    pub(in crate::formats) value: V,
    node: usize,
}

impl<F, V> Default for Held<F, V> {
    fn default() -> Self {
        Self {
            nodes: Vec::new(),
            index: HashMap::new(),
            innermost: HashMap::new(),
            stacks: Vec::new(),
        }
    }
}

impl<F: Copy + Eq + Hash, V: Copy> Held<F, V> {
    /// Adds a stack, innermost frame first; `add` joins two values.
    pub(in crate::formats) fn add(
        &mut self,
        first: Position,
        frames: &[F],
        value: V,
        add: fn(&mut V, V),
    ) {
        let mut node = 0;
        for frame in frames.iter().rev() {
            let key = (*frame, node);
            node = *self.index.entry(key).or_insert_with(|| {
                self.nodes.push(key);
                self.nodes.len()
            });
        }
        let next = self.stacks.len();
        match self
            .stacks
            .get_mut(*self.innermost.entry(node).or_insert(next))
        {
            Some(stack) => add(&mut stack.value, value),
            None => self.stacks.push(Stack { first, value, node }),
        }
    }

    /// No more is added: lets go of what only that needs.
    pub(in crate::formats) fn close(&mut self) {
        self.index = HashMap::new();
        self.innermost = HashMap::new();
    }

    pub(in crate::formats) fn stacks(&self) -> &[Stack<V>] {
        &self.stacks
    }

    /// The frames of a stack, innermost first.
    pub(in crate::formats) fn frames(&self, stack: &Stack<V>, frames: &mut Vec<F>) {
        frames.clear();
        let mut node = stack.node;
        while let Some((frame, around)) = node.checked_sub(1).and_then(|at| self.nodes.get(at)) {
            frames.push(*frame);
            node = *around;
        }
    }
}
