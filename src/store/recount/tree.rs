//! One pass over the nodes of a run, in pre-order: their intervals, and what they add up to.

use std::hash::{BuildHasher, RandomState};

use hashbrown::{DefaultHashBuilder, HashMap};

use super::catalogue::{Functions, Run};
use super::doubt::{Doubt, expect, expected};
use super::groups::{
    Calls, EdgeCosts, FunctionCosts, FunctionNodes, Groups, Known, LineCosts, LineNodes,
};
use crate::base::sum::Sum;
use crate::store::rows::{Cost, Costs, Node, Nodes, Tables};

/// A line: number of its function, number of its file (0 if it is the function's own), line,
/// column.
pub(super) type LineKey = (u32, u32, i64, i64);

/// An edge: number of the callee, and who called.
pub(super) type EdgeKey = (u32, Caller);

/// Who called: a function with file, line and column.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Caller {
    /// `None` if no one did: the call is at the root.
    pub(super) function: Option<u32>,
    /// Number of the file of the line; 0 if it is the function's own.
    pub(super) file: u32,
    /// -1 if unknown.
    pub(super) line: i64,
    /// 0 if unknown.
    pub(super) col: i64,
}

const NO_CALLER: Caller = Caller {
    function: None,
    file: 0,
    line: -1,
    col: 0,
};

/// What the nodes of a run add up to.
pub(super) struct Tree {
    /// By number of the function.
    pub(super) functions: Groups<u32, FunctionNodes, FunctionCosts>,
    pub(super) lines: Groups<LineKey, LineNodes, LineCosts>,
    pub(super) edges: Groups<EdgeKey, Calls, EdgeCosts>,
    pub(super) files: Files,
    /// The function nodes with their functions.
    pub(super) function_nodes: NodeSet,
    /// What roots cost in each metric, and the same without signs.
    pub(super) roots: Vec<(Sum, f64)>,
    /// Rows of `node_costs`.
    pub(super) costs: u64,
}

/// Files of lines, numbered from 1.
#[derive(Default)]
pub(super) struct Files(HashMap<Vec<u8>, u32, DefaultHashBuilder>);

impl Files {
    /// The number of a file; that of none is 0.
    pub(super) fn number(&mut self, name: &[u8]) -> Result<u32, Doubt> {
        if name.is_empty() {
            return Ok(0);
        }
        if let Some(number) = self.0.get(name) {
            return Ok(*number);
        }
        expect(str::from_utf8(name).is_ok())?;
        let number = expected(u32::try_from(self.0.len() + 1).ok())?;
        self.0.insert(name.to_vec(), number);
        Ok(number)
    }
}

/// A set of function nodes, each with its function, of which nothing is kept but a sum of hashes: the
/// key of the hash function is random and secret (`SipHash`), so that no one can make another set of
/// the same sum, and one by chance is of no concern (2^-64).
#[derive(Clone, Debug, Default)]
pub(super) struct NodeSet {
    key: RandomState,
    count: u64,
    sum: u64,
}

impl NodeSet {
    /// The empty set, which can be compared with this one when it has got its members.
    pub(super) fn none(&self) -> Self {
        Self {
            key: self.key.clone(),
            count: 0,
            sum: 0,
        }
    }

    /// Adds a node that is not there, with its function.
    pub(super) fn add(&mut self, function: u32, node: i64) {
        self.count += 1;
        self.sum = self.sum.wrapping_add(self.key.hash_one((function, node)));
    }
}

impl PartialEq for NodeSet {
    fn eq(&self, other: &Self) -> bool {
        (self.count, self.sum) == (other.count, other.sum)
    }
}

/// A node whose interval has not ended.
struct Open {
    node: i64,
    last: i64,
    function: u32,
    is_line: bool,
    /// Its group, of functions or of lines, and the node of the same group around it.
    group: usize,
    outer: Option<i64>,
    /// Who calls the nodes below.
    caller: Caller,
}

impl Tree {
    /// Reads the nodes of a run.
    pub(super) fn read(
        tables: &Tables<'_>,
        run: &Run,
        functions: &Functions,
    ) -> Result<Self, Doubt> {
        let metrics = run.metrics.len();
        let mut tree = Self {
            functions: Groups::new(metrics),
            lines: Groups::new(metrics),
            edges: Groups::new(metrics),
            files: Files::default(),
            function_nodes: NodeSet::default(),
            roots: vec![Default::default(); metrics],
            costs: 0,
        };
        let Some((first, last)) = run.nodes else {
            return Ok(tree);
        };
        let mut nodes = Nodes::new(tables, (first, last))?;
        let mut costs_of = Vec::new();
        for (at, metric) in run.metrics.iter().enumerate() {
            if run.default_metric == Some(at) {
                continue;
            }
            // Those of other runs' nodes, too: there must not be any.
            let costs = Costs::new(tables, metric.id, (i64::MIN, i64::MAX))?;
            expect(costs.next_node().is_none_or(|node| first <= node))?;
            costs_of.push((at, costs));
        }
        let mut costs = vec![Cost::default(); metrics];
        let mut open = Vec::new();
        let mut known = vec![Known::default(); metrics];
        // For each two functions of an edge: the last node of those of the edge so far.
        let mut pairs: Groups<(u32, Option<u32>), Option<i64>, ()> = Groups::new(0);
        let mut next = first;
        while let Some(node) = nodes.next()? {
            expect(node.id == next && node.size >= 0 && node.last() <= last)?;
            next += 1;
            let function = functions.number(node.function_id)?;
            if let Some(metric) = run.default_metric {
                costs[metric] = node.cost;
            }
            for (metric, other) in &mut costs_of {
                let found = other.of(node.id)?;
                tree.costs += u64::from(found.is_some());
                costs[*metric] = found.unwrap_or(Cost::NONE);
            }
            tree.close(&mut open, node.id);
            let file = tree.files.number(node.file.unwrap_or_default())?;
            let (is_line, group) = tree.group(&node, function, file, open.last())?;
            let innermost = if is_line {
                &mut tree.lines.all[group].open
            } else {
                &mut tree.functions.all[group].open
            };
            let outer = innermost.replace(node.id);
            is_in_place(&node, &open, outer)?;
            let parent = open.last().map_or(NO_CALLER, |parent| parent.caller);
            let is_outermost = outer.is_none();
            if open.is_empty() {
                for ((sum, magnitude), cost) in tree.roots.iter_mut().zip(&costs) {
                    let cumulative = expected(cost.cumulative)?;
                    sum.add(cumulative);
                    *magnitude += cumulative.abs();
                }
            }
            if is_line {
                tree.lines.all[group].calls.add(node.calls)?;
                for (sums, cost) in tree.lines.costs(group).iter_mut().zip(&costs) {
                    sums.add(*cost, is_outermost);
                }
            } else {
                for (known, cost) in known.iter_mut().zip(&costs) {
                    known.exclusive = cost.exclusive;
                    known.cumulative = expected(cost.cumulative)?;
                }
                tree.function_nodes.add(function, node.id);
                let nodes = &mut tree.functions.all[group];
                nodes.calls.add(node.calls)?;
                if is_outermost {
                    nodes.primitive.add(node.calls)?;
                }
                for (sums, cost) in tree.functions.costs(group).iter_mut().zip(&known) {
                    sums.add(*cost, is_outermost);
                }
                if !functions.is_container(function) {
                    // No node of the same two functions is around this one.
                    let pair = pairs.number((function, parent.function))?;
                    let last_before = &mut pairs.all[pair];
                    let is_outer_pair = *last_before < Some(node.id);
                    *last_before = (*last_before).max(Some(node.last()));
                    let edge = tree.edges.number((function, parent))?;
                    tree.edges.all[edge].add(node.calls)?;
                    for (sums, cost) in tree.edges.costs(edge).iter_mut().zip(&known) {
                        sums.add(*cost, is_outer_pair, is_outermost);
                    }
                }
            }
            let caller = if functions.is_container(function) {
                parent
            } else {
                Caller {
                    function: Some(function),
                    file,
                    line: node.line.unwrap_or(NO_CALLER.line),
                    col: node.col.unwrap_or(NO_CALLER.col),
                }
            };
            open.push(Open {
                node: node.id,
                last: node.last(),
                function,
                is_line,
                group,
                outer,
                caller,
            });
        }
        expect(next - 1 == last)?;
        for (_, other) in costs_of {
            expect(other.next_node().is_none())?;
        }
        Ok(tree)
    }

    /// Closes the nodes that end before a node.
    fn close(&mut self, open: &mut Vec<Open>, node: i64) {
        while let Some(ended) = open.pop_if(|top| top.last < node) {
            let innermost = if ended.is_line {
                &mut self.lines.all[ended.group].open
            } else {
                &mut self.functions.all[ended.group].open
            };
            *innermost = ended.outer;
        }
    }

    /// Whether a node is a line, and the number of its group.
    fn group(
        &mut self,
        node: &Node<'_>,
        function: u32,
        file: u32,
        parent: Option<&Open>,
    ) -> Result<(bool, usize), Doubt> {
        let Some(line) = node.line else {
            expect(node.col.is_none() && node.file.is_none())?;
            return Ok((false, self.functions.number(function)?));
        };
        let is_below = |parent: &Open| !parent.is_line && parent.function == function;
        expect(parent.is_some_and(is_below))?;
        let key = (function, file, line, node.col.unwrap_or(0));
        Ok((true, self.lines.number(key)?))
    }
}

/// Whether a node lies within the node above it, of which the stack of `open` nodes has the last,
/// and names that one and the nearest of its own group around it.
fn is_in_place(node: &Node<'_>, open: &[Open], outer: Option<i64>) -> Result<(), Doubt> {
    let parent = open.last();
    expect(node.up == parent.map(|parent| node.id.wrapping_sub(parent.node)))?;
    expect(parent.is_none_or(|parent| node.last() <= parent.last))?;
    expect(usize::try_from(node.depth) == Ok(open.len()))?;
    expect(node.outer_up == outer.map(|outer| node.id.wrapping_sub(outer)))
}
