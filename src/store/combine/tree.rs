//! The merged call tree of several runs: a place is one of each run if the paths to it are.

use hashbrown::HashMap;

use super::CombineError;
use super::functions::Groups;
use crate::events::{Cost, Frame, FunctionId, Line, MetricId, Sink};
use crate::store::database::Database;
use crate::store::walk::LinePlace;

/// The merged call tree.
pub(super) struct MergedTree {
    nodes: Vec<Node>,
    /// One per node and metric.
    costs: Vec<NodeCost>,
    metrics: usize,
    /// Nodes by the node above and the frame.
    known: HashMap<(Option<usize>, MergedFrame), usize>,
    lines: Vec<LinePlace>,
    line_numbers: HashMap<LinePlace, usize>,
    roots: Children,
}

/// A group of functions, or a line of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct MergedFrame {
    group: usize,
    line: Option<usize>,
}

struct Node {
    frame: MergedFrame,
    calls: Option<u64>,
    children: Children,
    next: Option<usize>,
}

/// The first and the last child of a node.
#[derive(Clone, Copy, Default)]
struct Children(Option<(usize, usize)>);

#[derive(Clone, Copy)]
struct NodeCost {
    exclusive: f64,
    /// `None` if it is unknown in some run.
    cumulative: Option<f64>,
}

impl MergedTree {
    pub(super) fn new(metrics: usize) -> Self {
        Self {
            nodes: Vec::new(),
            costs: Vec::new(),
            metrics,
            known: HashMap::new(),
            lines: Vec::new(),
            line_numbers: HashMap::new(),
            roots: Children::default(),
        }
    }

    /// Adds the tree of a run. Returns the merged node of each node of the run, in their order.
    pub(super) fn add(
        &mut self,
        database: &Database,
        run_id: i64,
        metrics: &[i64],
        groups: &Groups,
    ) -> Result<Vec<usize>, CombineError> {
        let mut open: Vec<usize> = Vec::new();
        let mut places = Vec::new();
        database.each_node_in::<CombineError>(run_id, metrics, |rows| {
            let Some(row) = rows.first() else {
                return Ok(());
            };
            let group = groups
                .group(row.function_id)
                .map_err(|error| database.failed(error.0))?;
            let line = row.line.as_ref().map(|place| self.line(place));
            open.truncate(row.depth);
            let above = open.last().copied();
            let at = self.node(above, MergedFrame { group, line }, row.calls);
            for (metric, row) in rows.iter().enumerate() {
                let cost = &mut self.costs[at * self.metrics + metric];
                cost.exclusive += row.exclusive;
                cost.cumulative = cost
                    .cumulative
                    .zip(row.cumulative)
                    .map(|(sum, cost)| sum + cost);
            }
            open.push(at);
            places.push(at);
            Ok(())
        })?;
        Ok(places)
    }

    fn line(&mut self, place: &LinePlace) -> usize {
        if let Some(known) = self.line_numbers.get(place) {
            return *known;
        }
        let number = self.lines.len();
        self.lines.push(place.clone());
        self.line_numbers.insert(place.clone(), number);
        number
    }

    /// Finds or makes a node, and adds calls to it.
    fn node(&mut self, above: Option<usize>, frame: MergedFrame, calls: Option<u64>) -> usize {
        if let Some(known) = self.known.get(&(above, frame)) {
            let node = &mut self.nodes[*known];
            node.calls = add_calls(node.calls, calls);
            return *known;
        }
        let at = self.nodes.len();
        self.nodes.push(Node {
            frame,
            calls,
            children: Children::default(),
            next: None,
        });
        let nothing = NodeCost {
            exclusive: 0.0,
            cumulative: Some(0.0),
        };
        self.costs
            .extend(std::iter::repeat_n(nothing, self.metrics));
        self.known.insert((above, frame), at);
        let siblings = match above {
            Some(above) => &mut self.nodes[above].children,
            None => &mut self.roots,
        };
        let last = siblings.0.map(|(_, last)| last);
        siblings.0 = Some((siblings.0.map_or(at, |(first, _)| first), at));
        if let Some(last) = last {
            self.nodes[last].next = Some(at);
        }
        at
    }

    /// Writes the tree. Returns the number of each merged node in it, from 1.
    pub(super) fn write(&self, sink: &mut impl Sink, functions: &[FunctionId]) -> Vec<i64> {
        let mut numbers = vec![0; self.nodes.len()];
        let mut number = 0;
        let mut open: Vec<usize> = Vec::new();
        let mut next = self.roots.0.map(|(first, _)| first);
        loop {
            if let Some(at) = next {
                number += 1;
                numbers[at] = number;
                self.enter(at, sink, functions);
                open.push(at);
                next = self.nodes[at].children.0.map(|(first, _)| first);
            } else if let Some(closed) = open.pop() {
                sink.leave();
                next = self.nodes[closed].next;
            } else {
                return numbers;
            }
        }
    }

    fn enter(&self, at: usize, sink: &mut impl Sink, functions: &[FunctionId]) {
        let Node { frame, calls, .. } = &self.nodes[at];
        let line = frame.line.map(|line| event_line(&self.lines[line]));
        let function = functions[frame.group];
        sink.enter(Frame { function, line }, *calls);
        let costs = &self.costs[at * self.metrics..][..self.metrics];
        for (metric, cost) in (0..).map(MetricId).zip(costs) {
            let exclusive = cost.exclusive;
            let cost = match cost.cumulative {
                Some(cumulative) => Cost::Both {
                    exclusive,
                    cumulative,
                },
                None if line.is_some() => Cost::ExclusiveOnly(exclusive),
                None => Cost::Exclusive(exclusive),
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
