//! The tree whose calls come in the order in which they returned. Calls of one path become one node
//! as soon as they have returned: which of them have the same caller is known from a first reading
//! (see [`super::exit_order`]). Takes room for every distinct path of a request.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::record::{Mark, Record};
use crate::events::{Cost, Frame, FunctionDef, FunctionId, MetricId, Sink};

type NodeId = u32;

const NONE: NodeId = NodeId::MAX;

/// What leads from a node to one below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Step {
    /// To a line of the same function.
    Line(u32),
    /// To a function that it called.
    Function(u32),
    /// To a call that has not returned, so that its function is unknown.
    Open,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    step: Step,
    parent: NodeId,
    first_child: NodeId,
    previous: NodeId,
    next: NodeId,
    children: u32,
    calls: u64,
    /// Which record was the first in it: siblings are emitted in this order.
    order: usize,
}

/// The tree of a request, as far as its records have come.
#[derive(Default)]
pub(in crate::formats::callgrind) struct ExitTree {
    marks: Vec<Mark>,
    metrics: Vec<MetricId>,
    functions: Vec<FunctionId>,
    /// How many records have come.
    records: usize,

    nodes: Vec<Node>,
    /// Of each node: own cost by metric, then what calls of it cost in all.
    figures: Vec<f64>,
    free: Vec<NodeId>,
    /// By parent and step.
    index: HashTable<NodeId>,
    hasher: DefaultHashBuilder,
    /// Calls that have not returned, outermost first; the first one is the caller of
    /// the roots, which is none.
    open: Vec<NodeId>,
}

impl ExitTree {
    /// For the records that have these marks; ids by the numbers that records use.
    pub(in crate::formats::callgrind) fn new(
        marks: Vec<Mark>,
        metrics: Vec<MetricId>,
        functions: Vec<FunctionId>,
    ) -> Self {
        Self {
            marks,
            metrics,
            functions,
            ..Self::default()
        }
    }

    /// The next record.
    pub(super) fn add(&mut self, record: &Record) {
        let (order, mark) = (
            self.records,
            self.marks.get(self.records).copied().unwrap_or_default(),
        );
        self.records += 1;
        if self.open.is_empty() {
            let top = self.new_node(Step::Open, order);
            self.open.push(top);
        }
        // A function that called something has been open since the first of these calls returned;
        // one that called nothing opens with its own record.
        let called = if record.calls.is_empty() {
            None
        } else {
            self.open.pop()
        };
        let node = called.unwrap_or_else(|| self.new_node(Step::Open, order));
        if mark.is_first() {
            // The first call of a caller that has not returned: what it is called comes with its
            // own record, later.
            let caller = self.new_node(Step::Open, order);
            self.open.push(caller);
        }
        self.fill(node, order, record);
        let Some(caller) = self.open.last().copied() else {
            return;
        };
        // What a root cost in all is in no record.
        if self.open.len() == 1 {
            self.add_figures(node, self.metrics.len(), &record.own);
            record
                .calls()
                .for_each(|(_, costs)| self.add_figures(node, self.metrics.len(), costs));
        }
        let location = self.line(caller, mark.line(), order);
        match self.find(location, Step::Function(record.function)) {
            Some(known) => self.merge(known, node),
            None => self.attach(node, location),
        }
    }

    /// Makes an open node what the record says of it.
    fn fill(&mut self, node: NodeId, order: usize, record: &Record) {
        if let Some(node) = self.nodes.get_mut(node as usize) {
            (node.step, node.order, node.calls) = (Step::Function(record.function), order, 1);
        }
        for (call, costs) in record.calls() {
            let location = self.line(node, call.line, order);
            if let Some(callee) = self.find(location, Step::Function(call.callee)) {
                self.add_figures(callee, self.metrics.len(), costs);
            }
        }
        self.add_figures(node, 0, &record.own);
        if record.line != 0 {
            // In front of the lines with calls.
            let line = self.line(node, record.line, 0);
            self.add_figures(line, 0, &record.own);
        }
    }

    /// The node of a line; that of the function where the line is unknown.
    fn line(&mut self, function: NodeId, line: u32, order: usize) -> NodeId {
        let step = Step::Line(line);
        if line == 0 {
            return function;
        }
        self.find(function, step).unwrap_or_else(|| {
            let node = self.new_node(step, order);
            self.attach(node, function);
            node
        })
    }

    fn add_figures(&mut self, node: NodeId, first: usize, costs: &[f64]) {
        let first = node as usize * 2 * self.metrics.len() + first;
        let figures = self.figures.get_mut(first..).unwrap_or_default();
        figures
            .iter_mut()
            .zip(costs)
            .for_each(|(sum, cost)| *sum += cost);
    }

    /// Puts a node where no other one of the same step is.
    fn attach(&mut self, node: NodeId, parent: NodeId) {
        let Some(above) = self.nodes.get_mut(parent as usize) else {
            return;
        };
        // In front, so that no link to the last one is needed: `children` sorts.
        let next = std::mem::replace(&mut above.first_child, node);
        above.children += 1;
        if let Some(next) = self.nodes.get_mut(next as usize) {
            next.previous = node;
        }
        let Some(this) = self.nodes.get_mut(node as usize) else {
            return;
        };
        (this.parent, this.previous, this.next) = (parent, NONE, next);
        let hash = self.hasher.hash_one((parent, this.step));
        let (nodes, hasher) = (&self.nodes, &self.hasher);
        let key = |at: &NodeId| {
            nodes
                .get(*at as usize)
                .map_or((NONE, Step::Open), |node| (node.parent, node.step))
        };
        self.index
            .insert_unique(hash, node, |at| hasher.hash_one(key(at)));
    }

    /// Takes a node away from its parent.
    fn detach(&mut self, node: NodeId) {
        let Some(Node {
            step,
            parent,
            previous,
            next,
            ..
        }) = self.nodes.get(node as usize).copied()
        else {
            return;
        };
        let hash = self.hasher.hash_one((parent, step));
        if let Ok(entry) = self.index.find_entry(hash, |at| *at == node) {
            entry.remove();
        }
        if let Some(next) = self.nodes.get_mut(next as usize) {
            next.previous = previous;
        }
        if let Some(previous) = self.nodes.get_mut(previous as usize) {
            previous.next = next;
        }
        if let Some(parent) = self.nodes.get_mut(parent as usize) {
            parent.children -= 1;
            if parent.first_child == node {
                parent.first_child = next;
            }
        }
    }

    fn find(&self, parent: NodeId, step: Step) -> Option<NodeId> {
        let hash = self.hasher.hash_one((parent, step));
        let is_it = |at: &NodeId| {
            self.nodes
                .get(*at as usize)
                .is_some_and(|node| (node.parent, node.step) == (parent, step))
        };
        self.index.find(hash, is_it).copied()
    }

    /// Adds a node and all below it to one of the same step. Of each two, the one with fewer nodes
    /// directly below gives them away: so no node is moved often, whatever the tree is like.
    fn merge(&mut self, known: NodeId, node: NodeId) {
        // A list instead of recursion: paths may be deep.
        let mut pairs = vec![(known, node)];
        while let Some((known, node)) = pairs.pop() {
            let (Some(one), Some(other)) = (self.node(known), self.node(node)) else {
                return;
            };
            let (calls, order) = (
                one.calls.saturating_add(other.calls),
                one.order.min(other.order),
            );
            let (stays, goes) = if one.children < other.children {
                self.detach(known);
                self.attach(node, one.parent);
                (node, known)
            } else {
                (known, node)
            };
            if let Some(stays) = self.nodes.get_mut(stays as usize) {
                (stays.calls, stays.order) = (calls, order);
            }
            self.move_figures(goes, stays);
            let mut child = self.node(goes).map_or(NONE, |node| node.first_child);
            // `next` is read before the child changes hands, which changes its links.
            while let Some(Node { step, next, .. }) = self.node(child) {
                self.detach(child);
                match self.find(stays, step) {
                    Some(same) => pairs.push((same, child)),
                    None => self.attach(child, stays),
                }
                child = next;
            }
            self.free.push(goes);
        }
    }

    fn move_figures(&mut self, from: NodeId, to: NodeId) {
        let count = 2 * self.metrics.len();
        for at in 0..count {
            let moved = self
                .figures
                .get_mut(from as usize * count + at)
                .map_or(0.0, std::mem::take);
            if let Some(sum) = self.figures.get_mut(to as usize * count + at) {
                *sum += moved;
            }
        }
    }

    fn node(&self, node: NodeId) -> Option<Node> {
        self.nodes.get(node as usize).copied()
    }

    fn new_node(&mut self, step: Step, order: usize) -> NodeId {
        let (parent, first_child, previous, next) = (NONE, NONE, NONE, NONE);
        let node = Node {
            step,
            parent,
            first_child,
            previous,
            next,
            children: 0,
            calls: 0,
            order,
        };
        // The figures of a node that was given up are zeros: `move_figures` has taken them.
        if let Some(id) = self.free.pop() {
            if let Some(place) = self.nodes.get_mut(id as usize) {
                *place = node;
            }
            return id;
        }
        let id = NodeId::try_from(self.nodes.len()).unwrap_or(NONE);
        self.nodes.push(node);
        self.figures
            .resize(self.nodes.len() * 2 * self.metrics.len(), 0.0);
        id
    }

    /// Emits the tree of the request that is over, below a node of the request if it is one of
    /// many, and forgets it.
    pub(in crate::formats::callgrind) fn emit(
        &mut self,
        sink: &mut dyn Sink,
        part: Option<FunctionDef<'_>>,
    ) {
        if self.nodes.is_empty() {
            return;
        }
        if let Some(part) = part {
            let part = sink.function(part);
            sink.enter(Frame::function(part), None);
        }
        let mut path = Vec::new();
        let mut below = Vec::new();
        let top = self.open.first().copied().unwrap_or(NONE);
        self.children(top, &mut below);
        while let Some(node) = below.pop() {
            // Nodes whose last child has been emitted.
            while path
                .last()
                .is_some_and(|open| Some(*open) != self.node(node).map(|node| node.parent))
            {
                path.pop();
                sink.leave();
            }
            if self.enter(node, &path, sink) {
                path.push(node);
                self.children(node, &mut below);
            }
        }
        for _ in path {
            sink.leave();
        }
        if part.is_some() {
            sink.leave();
        }
        self.nodes.clear();
        self.figures.clear();
        self.free.clear();
        self.index.clear();
        self.open.clear();
    }

    /// Puts what is below a node on the stack, so that the first comes off first.
    fn children(&self, node: NodeId, stack: &mut Vec<NodeId>) {
        let first = stack.len();
        let mut child = self.node(node).map_or(NONE, |node| node.first_child);
        while let Some(Node { next, .. }) = self.node(child) {
            stack.push(child);
            child = next;
        }
        let key = |at: &NodeId| self.node(*at).map(|node| (node.order, node.step));
        if let Some(children) = stack.get_mut(first..) {
            // Children are linked in the order in which they were attached and merged; the order of
            // the records is what users see. No two have the same key: one step leads to one child.
            children.sort_unstable_by_key(|at| std::cmp::Reverse(key(at)));
        }
    }

    /// Opens a node. A function that the first reading did not meet is none: then the file has
    /// changed, which its input will find out.
    fn enter(&self, node: NodeId, path: &[NodeId], sink: &mut dyn Sink) -> bool {
        let Some(Node { step, calls, .. }) = self.node(node) else {
            return false;
        };
        let count = self.metrics.len();
        let figures = |first| {
            self.figures
                .get(node as usize * 2 * count + first..)
                .unwrap_or_default()
        };
        let own_and_all = self
            .metrics
            .iter()
            .zip(figures(0).iter().zip(figures(count)));
        let step_above = path
            .last()
            .and_then(|above| self.node(*above))
            .map(|above| above.step);
        let function = match (step, step_above) {
            (Step::Function(function), _) | (Step::Line(_), Some(Step::Function(function))) => {
                Some(function)
            }
            _ => None,
        };
        let Some(function) = function
            .and_then(|function| self.functions.get(function as usize))
            .copied()
        else {
            return false;
        };
        if let Step::Line(line) = step {
            sink.enter(Frame::line(function, line), None);
            for (metric, (own, _)) in own_and_all.filter(|(_, (own, _))| **own != 0.0) {
                sink.cost(*metric, Cost::Exclusive(*own));
            }
        } else {
            sink.enter(Frame::function(function), Some(calls));
            for (metric, (exclusive, cumulative)) in own_and_all {
                sink.cost(
                    *metric,
                    Cost::Both {
                        exclusive: *exclusive,
                        cumulative: *cumulative,
                    },
                );
            }
        }
        true
    }
}
