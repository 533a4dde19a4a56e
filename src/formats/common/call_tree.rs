//! The call tree (a trie of paths), built before it is emitted: for formats that have calls one by
//! one, or whose names come last. Takes room for every distinct path once, and a step costs as much
//! at any depth.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};
use smallvec::SmallVec;

use crate::events::{Cost, Frame, FunctionId, Line, MetricId, Sink};

/// A function, and the line of it if that is known (not 0).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::formats) struct Location {
    pub(in crate::formats) function: FunctionId,
    pub(in crate::formats) line: u32,
    pub(in crate::formats) col: u32,
}

impl Location {
    /// A function as a whole.
    pub(in crate::formats) fn of(function: FunctionId) -> Self {
        Self {
            function,
            line: 0,
            col: 0,
        }
    }
}

/// A node of a [`CallTree`].
pub(in crate::formats) type NodeId = u32;

/// The node above all others.
pub(in crate::formats) const TOP: NodeId = 0;

const NONE: u32 = u32::MAX;

/// Own costs of a node in each metric.
pub(in crate::formats) trait Own {
    /// Nothing in any of them.
    fn zero() -> Self;
    /// That of one metric, if it has a place.
    fn of(&mut self, metric: usize) -> Option<&mut f64>;
    fn all(&self) -> &[f64];
}

/// As many metrics as the format has.
impl<const M: usize> Own for [f64; M] {
    fn zero() -> Self {
        [0.0; M]
    }

    fn of(&mut self, metric: usize) -> Option<&mut f64> {
        self.get_mut(metric)
    }

    fn all(&self) -> &[f64] {
        self
    }
}

/// As many as are asked for: the importer has the limit.
impl<const M: usize> Own for SmallVec<[f64; M]>
where
    [f64; M]: smallvec::Array<Item = f64>,
{
    fn zero() -> Self {
        Self::new()
    }

    fn of(&mut self, metric: usize) -> Option<&mut f64> {
        if metric >= self.len() {
            self.resize(metric + 1, 0.0);
        }
        self.get_mut(metric)
    }

    fn all(&self) -> &[f64] {
        self
    }
}

/// Nodes by their parent and frame, with calls and own costs; `O` are the costs of a node.
pub(in crate::formats) struct CallTree<O> {
    nodes: Vec<Node>,
    /// By parent and location.
    index: HashTable<NodeId>,
    hasher: DefaultHashBuilder,
    figures: Vec<NodeCost<O>>,
}

#[derive(Clone, Copy)]
struct Node {
    parent: NodeId,
    location: Location,
    /// As links, [`TOP`] means none.
    first_child: NodeId,
    last_child: NodeId,
    next_sibling: NodeId,
    /// [`NONE`] where nothing has been said.
    figures: u32,
}

impl Node {
    fn new(parent: NodeId, location: Location) -> Self {
        Self {
            parent,
            location,
            first_child: TOP,
            last_child: TOP,
            next_sibling: TOP,
            figures: NONE,
        }
    }

    fn key(&self) -> (NodeId, Location) {
        (self.parent, self.location)
    }
}

struct NodeCost<O> {
    /// 0 where they are not counted.
    calls: u64,
    own: O,
}

impl<O> Default for CallTree<O> {
    fn default() -> Self {
        let top = Node::new(NONE, Location::of(FunctionId(NONE)));
        let (index, hasher) = (HashTable::new(), DefaultHashBuilder::default());
        Self {
            nodes: vec![top],
            index,
            hasher,
            figures: Vec::new(),
        }
    }
}

impl<O: Own> CallTree<O> {
    /// The node of a location below another node: that of the line, where the location has one.
    pub(in crate::formats) fn below(&mut self, parent: NodeId, location: Location) -> NodeId {
        let function = self.child(parent, Location::of(location.function));
        if location.line == 0 {
            function
        } else {
            self.child(function, location)
        }
    }

    /// A new node below the top, whatever others there are: for what is named later.
    pub(in crate::formats) fn part(&mut self) -> NodeId {
        // The index does not learn of it: it would find this part for the next one, which has no
        // name yet either.
        self.push(TOP, Location::of(FunctionId(NONE)))
    }

    /// Names a new node below the top.
    pub(in crate::formats) fn name_part(&mut self, node: NodeId, function: FunctionId) {
        if let Some(node) = self.nodes.get_mut(node as usize) {
            node.location = Location::of(function);
        }
    }

    fn child(&mut self, parent: NodeId, location: Location) -> NodeId {
        let (nodes, hasher) = (&self.nodes, &self.hasher);
        let hash = hasher.hash_one((parent, location));
        // The index holds numbers of nodes only: parent and location are in the node and kept once.
        let same = |at: &NodeId| {
            nodes
                .get(*at as usize)
                .is_some_and(|node| node.key() == (parent, location))
        };
        if let Some(known) = self.index.find(hash, same) {
            return *known;
        }
        let new = self.push(parent, location);
        let (nodes, hasher) = (&self.nodes, &self.hasher);
        // Asked when the index grows. All that it holds are numbers of nodes, so that the default
        // is never hashed.
        let key = |at: &NodeId| nodes.get(*at as usize).map_or((NONE, location), Node::key);
        self.index
            .insert_unique(hash, new, |at| hasher.hash_one(key(at)));
        new
    }

    /// A new node, the last child of its parent.
    fn push(&mut self, parent: NodeId, location: Location) -> NodeId {
        let new = u32::try_from(self.nodes.len()).unwrap_or(NONE);
        self.nodes.push(Node::new(parent, location));
        // Appended, so that siblings are emitted in the order in which they first came. The link to
        // the last child spares a walk over all of them.
        let last = self
            .nodes
            .get_mut(parent as usize)
            .map_or(TOP, |parent| std::mem::replace(&mut parent.last_child, new));
        let before = if last == TOP { parent } else { last };
        if let Some(before) = self.nodes.get_mut(before as usize) {
            let link = if last == TOP {
                &mut before.first_child
            } else {
                &mut before.next_sibling
            };
            *link = new;
        }
        new
    }

    /// The frames of a node, outermost first. A line comes in the place of its function.
    pub(in crate::formats) fn stack(&self, node: NodeId, stack: &mut Vec<Frame<'static>>) {
        stack.clear();
        let mut at = node;
        while at != TOP {
            let Some(Node {
                parent,
                location:
                    Location {
                        function,
                        line,
                        col,
                    },
                ..
            }) = self.nodes.get(at as usize)
            else {
                break;
            };
            let line = (*line != 0).then_some(Line {
                file: "",
                line: *line,
                col: *col,
            });
            stack.push(Frame {
                function: *function,
                line,
            });
            // A frame with a line means two nodes, the function's and the line's, so that the
            // function's own one is passed.
            at = if line.is_some() {
                self.nodes
                    .get(*parent as usize)
                    .map_or(TOP, |function| function.parent)
            } else {
                *parent
            };
        }
        stack.reverse();
    }

    /// Counts a call of the node's function.
    pub(in crate::formats) fn call(&mut self, node: NodeId) {
        // Calls are those of a function: the location of a callee may have a line, which is not
        // called.
        let function = self.function_of(node).unwrap_or(node);
        if let Some(figures) = self.figures(function) {
            figures.calls = figures.calls.saturating_add(1);
        }
    }

    /// Adds own cost to a node, and to its function if it is one of a line.
    pub(in crate::formats) fn cost(&mut self, node: NodeId, metric: usize, cost: f64) {
        // A function's node holds all that happened in it, and its lines break that down.
        for node in [Some(node), self.function_of(node)].into_iter().flatten() {
            if let Some(sum) = self
                .figures(node)
                .and_then(|figures| figures.own.of(metric))
            {
                *sum += cost;
            }
        }
    }

    /// Own cost of a node so far.
    pub(in crate::formats) fn own(&mut self, node: NodeId, metric: usize) -> f64 {
        self.figures(node)
            .and_then(|figures| figures.own.of(metric))
            .map_or(0.0, |own| *own)
    }

    /// Moves the own cost of a node, and of its function if it is one of a line, to another metric,
    /// times a factor.
    pub(in crate::formats) fn convert(
        &mut self,
        node: NodeId,
        from: usize,
        to: usize,
        factor: f64,
    ) {
        for node in [Some(node), self.function_of(node)].into_iter().flatten() {
            let Some(figures) = self.figures(node) else {
                continue;
            };
            let cost = figures.own.of(from).map_or(0.0, std::mem::take);
            if let Some(sum) = figures.own.of(to) {
                *sum += cost * factor;
            }
        }
    }

    /// The node of the function, for one of a line.
    fn function_of(&self, node: NodeId) -> Option<NodeId> {
        self.nodes
            .get(node as usize)
            .filter(|node| node.location.line != 0)
            .map(|node| node.parent)
    }

    fn figures(&mut self, node: NodeId) -> Option<&mut NodeCost<O>> {
        // Figures get their room when the first one comes: a node that only leads to others has
        // none, whatever the number of metrics.
        let node = self.nodes.get_mut(node as usize)?;
        if node.figures == NONE {
            node.figures = u32::try_from(self.figures.len()).unwrap_or(NONE);
            self.figures.push(NodeCost {
                calls: 0,
                own: O::zero(),
            });
        }
        self.figures.get_mut(node.figures as usize)
    }

    /// Returns whether the tree has no node below the top.
    pub(in crate::formats) fn is_empty(&self) -> bool {
        self.nodes.len() <= 1
    }

    /// Emits the tree. Costs in a metric without an id are lost.
    pub(in crate::formats) fn emit(&self, sink: &mut dyn Sink, metrics: &[Option<MetricId>]) {
        // A loop: trees are as deep as stacks (`MOST_FRAMES`), too deep for recursion.
        let mut at = TOP;
        let mut next = self.nodes.first().map_or(TOP, |top| top.first_child);
        loop {
            // Down if there is something below, else to what comes next.
            while next == TOP {
                if at == TOP {
                    return;
                }
                sink.leave();
                let Some(closed) = self.nodes.get(at as usize) else {
                    return;
                };
                (next, at) = (closed.next_sibling, closed.parent);
            }
            let Some(node) = self.nodes.get(next as usize) else {
                return;
            };
            self.enter(sink, node, metrics);
            (at, next) = (next, node.first_child);
        }
    }

    fn enter(&self, sink: &mut dyn Sink, node: &Node, metrics: &[Option<MetricId>]) {
        let Location {
            function,
            line,
            col,
        } = node.location;
        let figures = self.figures.get(node.figures as usize);
        let calls = figures
            .map(|figures| figures.calls)
            .filter(|calls| *calls > 0);
        let line = (line != 0).then_some(Line {
            file: "",
            line,
            col,
        });
        sink.enter(Frame { function, line }, calls);
        for (metric, own) in metrics
            .iter()
            .zip(figures.map_or(&[][..], |figures| figures.own.all()))
        {
            // To a sink, a metric without a cost is a cost of 0.
            if let Some(metric) = metric
                && *own != 0.0
            {
                sink.cost(*metric, Cost::Exclusive(*own));
            }
        }
    }
}
