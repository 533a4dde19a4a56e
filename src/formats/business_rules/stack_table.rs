//! Interned stacks: each is a frame and the stack that called it, so that stacks share their outer
//! frames. For a log whose end decides what its beginning means: until then its samples are kept
//! here, equal ones once.

use std::hash::Hash;

use hashbrown::HashMap;

use crate::base::error::Position;

/// Stacks of frames `F`, each with the sum of its values `V`, in the order in which they first
/// came. Takes room for every distinct (prefix, frame) once.
pub(super) struct StackTable<F, V> {
    /// A frame and the number of its prefix: of the node around it, counted from 1, and 0 for the
    /// outermost frame.
    nodes: Vec<(F, usize)>,
    /// The number of a node.
    index: HashMap<(F, usize), usize>,
    /// By the node of its innermost frame: the place of a stack in `stacks`.
    innermost: HashMap<usize, usize>,
    stacks: Vec<Stack<V>>,
}

/// Equal stacks.
pub(super) struct Stack<V> {
    /// Where the first of them starts.
    pub(super) first: Position,
    pub(super) value: V,
    /// The node of the innermost frame.
    node: usize,
}

impl<F, V> Default for StackTable<F, V> {
    fn default() -> Self {
        Self {
            nodes: Vec::new(),
            index: HashMap::new(),
            innermost: HashMap::new(),
            stacks: Vec::new(),
        }
    }
}

impl<F: Copy + Eq + Hash, V: Copy> StackTable<F, V> {
    /// Adds a stack, innermost frame first; `add` joins two values.
    pub(super) fn add(&mut self, first: Position, frames: &[F], value: V, add: fn(&mut V, V)) {
        // From the outermost frame inwards, so that stacks with the same callers share their nodes.
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

    /// Frees what only [`add`](Self::add) needs, which must not be called any more.
    pub(super) fn close(&mut self) {
        self.index = HashMap::new();
        self.innermost = HashMap::new();
    }

    pub(super) fn stacks(&self) -> &[Stack<V>] {
        &self.stacks
    }

    /// Puts the frames of a stack, innermost first, in place of what `frames` holds.
    pub(super) fn frames(&self, stack: &Stack<V>, frames: &mut Vec<F>) {
        frames.clear();
        let mut node = stack.node;
        while let Some((frame, around)) = node.checked_sub(1).and_then(|at| self.nodes.get(at)) {
            frames.push(*frame);
            node = *around;
        }
    }
}
