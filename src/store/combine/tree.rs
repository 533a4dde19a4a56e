//! The merged call tree of several runs: a place is one of each run if the paths to it are.

use std::num::NonZero;

use hashbrown::HashMap;

use super::functions::FunctionGroups;
use super::part::CombineError;
use crate::events::{Cost, Frame, FunctionId, Line, MetricId, Sink};
use crate::store::database::Database;
use crate::store::walk::LinePlace;

/// The merged call tree. It is in memory, so numbers are small.
pub(super) struct MergedTree {
    nodes: Vec<MergedNode>,
    /// One per node and metric.
    costs: Vec<MergedCost>,
    metrics: usize,
    /// Nodes by the node above and the frame.
    by_path: HashMap<(Option<MergedNodeId>, MergedFrame), MergedNodeId>,
    lines: Vec<LinePlace>,
    line_numbers: HashMap<LinePlace, NonZero<u32>>,
    roots: MergedChildren,
}

/// A node of the merged tree: its place in the list, and 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct MergedNodeId(NonZero<u32>);

/// A group of functions, or a line of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct MergedFrame {
    group: u32,
    /// Place of the line, and 1.
    line: Option<NonZero<u32>>,
}

struct MergedNode {
    frame: MergedFrame,
    calls: Option<u64>,
    children: MergedChildren,
    next: Option<MergedNodeId>,
}

/// The first and the last child of a node.
#[derive(Clone, Copy, Default)]
struct MergedChildren {
    first: Option<MergedNodeId>,
    last: Option<MergedNodeId>,
}

#[derive(Clone, Copy)]
struct MergedCost {
    exclusive: f64,
    /// Not a number if it is unknown in some run.
    cumulative: f64,
}

impl MergedNodeId {
    /// Returns the place in the list of nodes.
    pub(super) fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// Returns a place in a list, and 1.
fn numbered(at: usize) -> NonZero<u32> {
    let number = u32::try_from(at + 1).ok().and_then(NonZero::new);
    number.expect("fewer than 2^32 places fit into memory")
}

impl MergedTree {
    pub(super) fn new(metrics: usize) -> Self {
        Self {
            nodes: Vec::new(),
            costs: Vec::new(),
            metrics,
            by_path: HashMap::new(),
            lines: Vec::new(),
            line_numbers: HashMap::new(),
            roots: MergedChildren::default(),
        }
    }

    /// Adds the tree of a run. Returns the merged node of each node of the run, in their order.
    pub(super) fn add(
        &mut self,
        database: &Database,
        run_id: i64,
        metrics: &[i64],
        groups: &FunctionGroups,
    ) -> Result<Vec<MergedNodeId>, CombineError> {
        let mut open: Vec<MergedNodeId> = Vec::new();
        let mut places = Vec::new();
        database.each_node_in::<CombineError>(run_id, metrics, |rows| {
            let Some(row) = rows.first() else {
                return Ok(());
            };
            let group = groups
                .group(row.function_id)
                .map_err(|error| database.failed(error.0))?;
            let frame = MergedFrame {
                group: numbered(group).get() - 1,
                line: row.line.as_ref().map(|place| self.line(place)),
            };
            open.truncate(row.depth);
            let node = self.node(open.last().copied(), frame, row.calls);
            let costs = &mut self.costs[node.index() * self.metrics..][..self.metrics];
            for (cost, row) in costs.iter_mut().zip(rows) {
                cost.exclusive += row.exclusive;
                cost.cumulative += row.cumulative.unwrap_or(f64::NAN);
            }
            open.push(node);
            places.push(node);
            Ok(())
        })?;
        Ok(places)
    }

    fn line(&mut self, place: &LinePlace) -> NonZero<u32> {
        if let Some(number) = self.line_numbers.get(place) {
            return *number;
        }
        let number = numbered(self.lines.len());
        self.lines.push(place.clone());
        self.line_numbers.insert(place.clone(), number);
        number
    }

    /// Finds or makes a node, and adds calls to it.
    fn node(
        &mut self,
        above: Option<MergedNodeId>,
        frame: MergedFrame,
        calls: Option<u64>,
    ) -> MergedNodeId {
        if let Some(id) = self.by_path.get(&(above, frame)) {
            let node = &mut self.nodes[id.index()];
            node.calls = add_calls(node.calls, calls);
            return *id;
        }
        let id = MergedNodeId(numbered(self.nodes.len()));
        self.nodes.push(MergedNode {
            frame,
            calls,
            children: MergedChildren::default(),
            next: None,
        });
        let nothing = MergedCost {
            exclusive: 0.0,
            cumulative: 0.0,
        };
        self.costs
            .extend(std::iter::repeat_n(nothing, self.metrics));
        self.by_path.insert((above, frame), id);
        let siblings = match above {
            Some(above) => &mut self.nodes[above.index()].children,
            None => &mut self.roots,
        };
        siblings.first.get_or_insert(id);
        if let Some(last) = siblings.last.replace(id) {
            self.nodes[last.index()].next = Some(id);
        }
        id
    }

    /// Writes the tree. Returns the number of each merged node in it, from 1.
    pub(super) fn write(&self, sink: &mut impl Sink, functions: &[FunctionId]) -> Vec<i64> {
        let mut numbers = vec![0; self.nodes.len()];
        let mut number = 0;
        let mut open: Vec<MergedNodeId> = Vec::new();
        let mut next = self.roots.first;
        loop {
            if let Some(id) = next {
                number += 1;
                numbers[id.index()] = number;
                self.enter(id, sink, functions);
                open.push(id);
                next = self.nodes[id.index()].children.first;
            } else if let Some(closed) = open.pop() {
                sink.leave();
                next = self.nodes[closed.index()].next;
            } else {
                return numbers;
            }
        }
    }

    fn enter(&self, id: MergedNodeId, sink: &mut impl Sink, functions: &[FunctionId]) {
        let MergedNode { frame, calls, .. } = &self.nodes[id.index()];
        let line = frame.line.map(|line| &self.lines[line.get() as usize - 1]);
        let frame = Frame {
            function: functions[frame.group as usize],
            line: line.map(event_line),
        };
        sink.enter(frame, *calls);
        let costs = &self.costs[id.index() * self.metrics..][..self.metrics];
        for (metric, cost) in (0..).map(MetricId).zip(costs) {
            let MergedCost {
                exclusive,
                cumulative,
            } = *cost;
            let cost = if !cumulative.is_nan() {
                Cost::Both {
                    exclusive,
                    cumulative,
                }
            } else if frame.line.is_some() {
                Cost::ExclusiveOnly(exclusive)
            } else {
                Cost::Exclusive(exclusive)
            };
            sink.cost(metric, cost);
        }
    }
}

/// Returns a line in the words of a sink.
pub(super) fn event_line(place: &LinePlace) -> Line<'_> {
    Line {
        file: &place.file,
        line: u32::try_from(place.line).unwrap_or(0),
        col: u32::try_from(place.col).unwrap_or(0),
    }
}

/// Adds numbers of calls, which are unknown as soon as one of them is.
pub(super) fn add_calls(sum: Option<u64>, calls: Option<u64>) -> Option<u64> {
    Some(sum?.saturating_add(calls?))
}
