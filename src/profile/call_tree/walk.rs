//! All nodes of the call tree in pre-order: those of the parts in a file and those in memory, where
//! those with equal stacks are one.

use hashbrown::HashMap;

use super::memory::{self, MemoryPart};
use super::parts::{PartNode, Parts};
use crate::base::interner::Id;
use crate::base::spool::SpillResult;
use crate::events::{FunctionId, MetricId};
use crate::profile::ids::{CallKey, CallNodeId, LineId};
use crate::profile::sums::{CallCount, MaybeSum};

/// A way through the tree opens each node, and closes it after those below it.
pub(in crate::profile) enum Step {
    Enter(EnteredNode),
    Leave,
}

/// A node that opens.
pub(in crate::profile) struct EnteredNode {
    pub(in crate::profile) function: FunctionId,
    pub(in crate::profile) line: Option<LineId>,
    /// `None` if unknown: for lines, and where no sample ends.
    pub(in crate::profile) calls: Option<u64>,
    /// The node in memory, if one is of this stack.
    pub(in crate::profile) in_memory: Option<CallNodeId>,
    /// Where its costs are in [`Steps`], if samples end there.
    costs: Option<usize>,
}

/// Some steps that follow each other.
#[derive(Default)]
pub(in crate::profile) struct Steps {
    pub(in crate::profile) steps: Vec<Step>,
    costs: Vec<MaybeSum>,
}

impl Steps {
    /// The cost that samples have at the node where they end.
    pub(in crate::profile) fn cost(&self, opened: &EnteredNode, metric: MetricId) -> Option<f64> {
        let costs = self.costs.get(opened.costs?..)?;
        costs.get(metric.index())?.get()
    }

    /// Depth and function of the nodes that these steps open, without lines.
    pub(in crate::profile) fn functions(&self, mut depth: usize) -> Vec<(usize, FunctionId)> {
        let mut functions = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            match step {
                Step::Enter(opened) => {
                    if opened.line.is_none() {
                        functions.push((depth, opened.function));
                    }
                    depth += 1;
                }
                Step::Leave => depth = depth.saturating_sub(1),
            }
        }
        functions
    }
}

/// The way through a tree. Does not recurse: stacks may be a million frames deep.
pub(in crate::profile) struct Walk {
    memory: MemoryPart,
    parts: Parts,
    /// Nodes that remain to be opened, the next one last, and how many of them are not below each
    /// open node.
    waiting: Vec<Waiting>,
    open: Vec<usize>,
    /// Where the nodes that wait are.
    places: Vec<Place>,
    /// Those of the node that opens, and its children.
    here: Vec<Place>,
    children: Children,
}

struct Waiting {
    key: CallKey,
    /// The first of its places; the others follow it.
    places: usize,
}

/// A node that is one with others of the same stack.
#[derive(Clone, Copy)]
enum Place {
    InMemory(CallNodeId),
    InPart(PartNode),
}

impl Walk {
    pub(super) fn new(memory: MemoryPart, mut parts: Parts) -> SpillResult<Self> {
        let mut children = Children::default();
        parts.each_root(|key, node| children.add(key, Place::InPart(node)))?;
        children.add_those_in_memory(&memory, memory::top());
        let mut walk = Self {
            memory,
            parts,
            waiting: Vec::new(),
            open: Vec::new(),
            places: Vec::new(),
            here: Vec::new(),
            children,
        };
        walk.children.move_to(&mut walk.waiting, &mut walk.places);
        Ok(walk)
    }

    /// How many nodes are in memory, with the one above all.
    pub(in crate::profile) fn in_memory(&self) -> usize {
        self.memory.len()
    }

    /// The next steps, at most so many; none at the end.
    ///
    /// # Errors
    /// When the file with the parts cannot be read.
    pub(in crate::profile) fn next(&mut self, most: usize, steps: &mut Steps) -> SpillResult<()> {
        steps.steps.clear();
        steps.costs.clear();
        while steps.steps.len() < most {
            if self
                .open
                .pop_if(|others| *others == self.waiting.len())
                .is_some()
            {
                steps.steps.push(Step::Leave);
                continue;
            }
            let Some(next) = self.waiting.pop() else {
                break;
            };
            self.open.push(self.waiting.len());
            let opened = self.enter(&next, &mut steps.costs)?;
            steps.steps.push(Step::Enter(opened));
        }
        Ok(())
    }

    fn enter(&mut self, node: &Waiting, costs: &mut Vec<MaybeSum>) -> SpillResult<EnteredNode> {
        self.here.clear();
        self.here.extend(self.places.drain(node.places..));
        let mut figures = Figures {
            metrics: self.memory.metrics(),
            costs,
            found: None,
        };
        let mut in_memory = None;
        for place in &self.here {
            match *place {
                Place::InMemory(at) => {
                    in_memory = Some(at);
                    if let Some((calls, costs)) = self.memory.figures(at) {
                        figures.add(calls.get(), costs.iter().map(|cost| cost.get()));
                    }
                }
                Place::InPart(node) => {
                    if let Some((calls, costs)) = self.parts.figures(node)? {
                        figures.add(calls, costs);
                    }
                }
            }
        }
        let (function, line) = node.key;
        let opened = EnteredNode {
            function,
            line,
            // Samples count calls of functions; what lies in the list for a line was never added to.
            calls: figures
                .found
                .filter(|_| line.is_none())
                .and_then(|(calls, _)| calls.get()),
            in_memory,
            costs: figures.found.map(|(_, first)| first),
        };
        self.add_children()?;
        Ok(opened)
    }

    /// Adds the children of the node that opens, which is at several places, to those that wait.
    fn add_children(&mut self) -> SpillResult<()> {
        if let &[Place::InMemory(at)] = self.here.as_slice() {
            // The last one first, so that the first one is taken next.
            for child in self.memory.children_from_last(at) {
                self.waiting.push(Waiting {
                    key: self.memory.key(child),
                    places: self.places.len(),
                });
                self.places.push(Place::InMemory(child));
            }
            return Ok(());
        }
        if let &[Place::InPart(node)] = self.here.as_slice() {
            let children = &mut self.children;
            self.parts.each_child(node, |key, child| {
                children.add_new(key, Place::InPart(child));
            })?;
        } else {
            for place in &self.here {
                let children = &mut self.children;
                match *place {
                    Place::InMemory(at) => children.add_those_in_memory(&self.memory, at),
                    Place::InPart(node) => self
                        .parts
                        .each_child(node, |key, child| children.add(key, Place::InPart(child)))?,
                }
            }
        }
        self.children.move_to(&mut self.waiting, &mut self.places);
        Ok(())
    }
}

/// What samples have that end at the places of one node.
struct Figures<'a> {
    metrics: usize,
    costs: &'a mut Vec<MaybeSum>,
    /// Calls, and where the costs begin; `None` if no sample ends here.
    found: Option<(CallCount, usize)>,
}

impl Figures<'_> {
    fn add(&mut self, calls: Option<u64>, costs: impl Iterator<Item = Option<f64>>) {
        let (sum, first) = self.found.get_or_insert_with(|| {
            let first = self.costs.len();
            self.costs.resize(first + self.metrics, MaybeSum::UNKNOWN);
            (CallCount::default(), first)
        });
        // Whether the sum is exact is asked where the node opens.
        sum.add(calls);
        for (sum, cost) in self.costs.iter_mut().skip(*first).zip(costs) {
            if let Some(cost) = cost {
                sum.add(cost);
            }
        }
    }
}

/// The children of a node that is at several places, in the order in which they first came.
#[derive(Default)]
struct Children {
    /// Each with the last of its places.
    keys: Vec<(CallKey, usize)>,
    /// Each with the one before it that is of the same child.
    places: Vec<(Place, Option<usize>)>,
    /// The first of the keys, as many as have been asked for.
    index: HashMap<CallKey, usize>,
}

/// So many keys are looked at one by one.
const FEW: usize = 8;

impl Children {
    fn add(&mut self, key: CallKey, place: Place) {
        let known = self.find(key);
        let previous = known.map(|known| self.keys[known].1);
        let next = self.places.len();
        match known {
            Some(known) => self.keys[known].1 = next,
            None => self.keys.push((key, next)),
        }
        self.places.push((place, previous));
    }

    fn find(&mut self, key: CallKey) -> Option<usize> {
        if self.keys.len() <= FEW {
            return self.keys.iter().position(|(known, _)| *known == key);
        }
        for (at, (known, _)) in self.keys.iter().enumerate().skip(self.index.len()) {
            self.index.insert(*known, at);
        }
        self.index.get(&key).copied()
    }

    /// Adds a child that is not there.
    fn add_new(&mut self, key: CallKey, place: Place) {
        self.keys.push((key, self.places.len()));
        self.places.push((place, None));
    }

    fn add_those_in_memory(&mut self, memory: &MemoryPart, parent: CallNodeId) {
        let mut children: Vec<CallNodeId> = memory.children_from_last(parent).collect();
        children.reverse();
        for child in children {
            self.add(memory.key(child), Place::InMemory(child));
        }
    }

    /// Moves all of them to the nodes that wait, the last one first.
    fn move_to(&mut self, waiting: &mut Vec<Waiting>, places: &mut Vec<Place>) {
        for (key, last) in self.keys.drain(..).rev() {
            let first = places.len();
            let found = std::iter::successors(Some(last), |at| self.places[*at].1);
            places.extend(found.map(|at| self.places[at].0));
            // Costs are added up in the order in which they came.
            places[first..].reverse();
            waiting.push(Waiting { key, places: first });
        }
        self.places.clear();
        self.index.clear();
    }
}
