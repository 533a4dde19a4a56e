//! One pass over the nodes of a run, in pre-order: their intervals, and what they add up to.

use hashbrown::{DefaultHashBuilder, HashMap};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, Rows};

use super::catalogue::{Functions, Run};
use super::doubt::{Doubt, expect, expected};
use super::groups::{Cost, Groups};
use crate::base::sum::Sum;
use crate::store::write::Ascending;

/// A line: number of its function, number of its file (0 if it is the function's own), line,
/// column.
pub(super) type LineKey = (usize, usize, i64, i64);

/// An edge: number of the callee, and who called.
pub(super) type EdgeKey = (usize, Caller);

/// Who called: a function with line and column.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Caller {
    /// `None` if no one did: the call is at the root.
    pub(super) function: Option<usize>,
    /// -1 if unknown.
    pub(super) line: i64,
    /// 0 if unknown.
    pub(super) col: i64,
}

const NO_CALLER: Caller = Caller {
    function: None,
    line: -1,
    col: 0,
};

/// What the nodes of a run add up to.
pub(super) struct Tree {
    /// By number of the function.
    pub(super) functions: Groups<usize>,
    pub(super) lines: Groups<LineKey>,
    pub(super) edges: Groups<EdgeKey>,
    pub(super) files: Files,
    /// The nodes of each group of `functions`, counted from 1 in the run.
    pub(super) nodes: Vec<Ascending>,
    /// What roots cost in each metric, and the same without signs.
    pub(super) roots: Vec<(Sum, f64)>,
    /// Rows of `node_costs`.
    pub(super) costs: u64,
}

/// Files of lines, numbered from 1.
#[derive(Default)]
pub(super) struct Files(HashMap<Vec<u8>, usize, DefaultHashBuilder>);

impl Files {
    /// The number of a file; that of none is 0.
    pub(super) fn number(&mut self, name: &[u8]) -> usize {
        if name.is_empty() {
            return 0;
        }
        if let Some(number) = self.0.get(name) {
            return *number;
        }
        let number = self.0.len() + 1;
        self.0.insert(name.to_vec(), number);
        number
    }
}

/// A node whose interval has not ended.
struct Open {
    node: i64,
    last: i64,
    function: usize,
    is_line: bool,
    /// Its group, of functions or of lines, and the node of the same group around it.
    group: usize,
    outer: Option<i64>,
    /// Who calls the nodes below.
    caller: Caller,
}

/// A row of `nodes`.
struct Node {
    id: i64,
    up: Option<i64>,
    last: i64,
    depth: i64,
    function: usize,
    calls: Option<i64>,
    outer_up: Option<i64>,
}

impl Tree {
    /// Reads the nodes of a run.
    pub(super) fn read(
        connection: &Connection,
        run: &Run,
        functions: &Functions,
    ) -> Result<Self, Doubt> {
        let metrics = run.metrics.len();
        let mut tree = Self {
            functions: Groups::new(metrics),
            lines: Groups::new(metrics),
            edges: Groups::new(metrics),
            files: Files::default(),
            nodes: Vec::new(),
            roots: vec![Default::default(); metrics],
            costs: 0,
        };
        let Some((first, last)) = run.nodes else {
            return Ok(tree);
        };
        let sql = "SELECT node_id, up, size, depth, function_id, calls, outer_up, exclusive, cumulative_other,
                          line, col, file
                   FROM nodes
                   WHERE node_id BETWEEN ?1 AND ?2
                   ORDER BY node_id";
        let mut statement = connection.prepare(sql)?;
        let mut rows = statement.query([first, last])?;
        let sql = "SELECT node_id, exclusive, cumulative_other
                   FROM node_costs
                   WHERE metric_id = ?1
                   ORDER BY node_id";
        let others: Vec<usize> = (0..metrics)
            .filter(|at| run.default_metric != Some(*at))
            .collect();
        let mut statements = Vec::new();
        for _ in &others {
            statements.push(connection.prepare(sql)?);
        }
        let mut costs_of = Vec::new();
        for (statement, metric) in statements.iter_mut().zip(&others) {
            let rows = statement.query([run.metrics[*metric].id])?;
            costs_of.push((*metric, OtherCosts::new(rows)?));
        }
        let mut costs = vec![Cost::default(); metrics];
        let mut open = Vec::new();
        let mut pairs: HashMap<_, i64, DefaultHashBuilder> = HashMap::default();
        let mut next = first;
        while let Some(row) = rows.next()? {
            let node = node(row, functions)?;
            expect(node.id == next && node.last <= last)?;
            next += 1;
            if let Some(metric) = run.default_metric {
                costs[metric] = cost(row, 7)?;
            }
            for (metric, other) in &mut costs_of {
                costs[*metric] = other.of(node.id)?;
            }
            tree.close(&mut open, node.id);
            let (is_line, group) = tree.group(&node, row, open.last())?;
            let outer = if is_line {
                tree.lines.open(group, node.id)
            } else {
                tree.functions.open(group, node.id)
            };
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
                tree.lines.all[group].add(node.calls, is_outermost)?;
                for (sums, cost) in tree.lines.costs(group).iter_mut().zip(&costs) {
                    sums.add(*cost, is_outermost, is_outermost);
                }
            } else {
                expect(costs.iter().all(|cost| cost.cumulative.is_some()))?;
                tree.nodes
                    .resize_with(tree.functions.all.len(), Ascending::default);
                tree.nodes[group].push((node.id - first + 1).unsigned_abs());
                tree.functions.all[group].add(node.calls, is_outermost)?;
                for (sums, cost) in tree.functions.costs(group).iter_mut().zip(&costs) {
                    sums.add(*cost, is_outermost, is_outermost);
                }
                if !functions.is_container(node.function) {
                    // No node of the same two functions is around this one.
                    let last_before = pairs
                        .entry((node.function, parent.function))
                        .or_insert(i64::MIN);
                    let is_outer_pair = *last_before < node.id;
                    *last_before = node.last.max(*last_before);
                    let edge = tree.edges.number((node.function, parent));
                    tree.edges.all[edge].add(node.calls, is_outer_pair)?;
                    for (sums, cost) in tree.edges.costs(edge).iter_mut().zip(&costs) {
                        sums.add(*cost, is_outer_pair, is_outermost);
                    }
                }
            }
            let caller = if functions.is_container(node.function) {
                parent
            } else {
                caller(row, node.function)?
            };
            open.push(Open {
                node: node.id,
                last: node.last,
                function: node.function,
                is_line,
                group,
                outer,
                caller,
            });
        }
        expect(next - 1 == last)?;
        for (_, other) in costs_of {
            expect(other.next.is_none())?;
            tree.costs += other.rows_read;
        }
        Ok(tree)
    }

    /// Closes the nodes that end before a node.
    fn close(&mut self, open: &mut Vec<Open>, node: i64) {
        while let Some(ended) = open.pop_if(|top| top.last < node) {
            let groups = if ended.is_line {
                &mut self.lines.all
            } else {
                &mut self.functions.all
            };
            groups[ended.group].open = ended.outer;
        }
    }

    /// Whether a node is a line, and the number of its group.
    fn group(
        &mut self,
        node: &Node,
        row: &Row<'_>,
        parent: Option<&Open>,
    ) -> Result<(bool, usize), Doubt> {
        let line: Option<i64> = row.get(9)?;
        let col: Option<i64> = row.get(10)?;
        let file = match row.get_ref(11)? {
            ValueRef::Null => None,
            ValueRef::Text(file) => Some(file),
            _ => return Err(Doubt::Unexpected),
        };
        let Some(line) = line else {
            expect(col.is_none() && file.is_none())?;
            return Ok((false, self.functions.number(node.function)));
        };
        let is_below = |parent: &Open| !parent.is_line && parent.function == node.function;
        expect(parent.is_some_and(is_below))?;
        let file = self.files.number(file.unwrap_or_default());
        let key = (node.function, file, line, col.unwrap_or(0));
        Ok((true, self.lines.number(key)))
    }
}

/// Whether a node lies within the node above it, of which the stack of `open` nodes has the last,
/// and names that one and the nearest of its own group around it.
fn is_in_place(node: &Node, open: &[Open], outer: Option<i64>) -> Result<(), Doubt> {
    let parent = open.last();
    expect(node.up == parent.map(|parent| node.id - parent.node))?;
    expect(parent.is_none_or(|parent| node.last <= parent.last))?;
    expect(usize::try_from(node.depth) == Ok(open.len()))?;
    expect(node.outer_up == outer.map(|outer| node.id - outer))
}

fn node(row: &Row<'_>, functions: &Functions) -> Result<Node, Doubt> {
    let (id, size): (i64, i64) = (row.get(0)?, row.get(2)?);
    expect(size >= 0)?;
    Ok(Node {
        id,
        up: row.get(1)?,
        last: expected(id.checked_add(size))?,
        depth: row.get(3)?,
        function: functions.number(row.get(4)?)?,
        calls: row.get(5)?,
        outer_up: row.get(6)?,
    })
}

/// A node as the caller of those below.
fn caller(row: &Row<'_>, function: usize) -> Result<Caller, Doubt> {
    let line: Option<i64> = row.get(9)?;
    let col: Option<i64> = row.get(10)?;
    Ok(Caller {
        function: Some(function),
        line: line.unwrap_or(NO_CALLER.line),
        col: col.unwrap_or(NO_CALLER.col),
    })
}

/// The exclusive cost in a column, and what the column after it says of the cumulative one
/// (docs/design/0006-small-rows.md).
fn cost(row: &Row<'_>, column: usize) -> Result<Cost, Doubt> {
    let exclusive: f64 = row.get(column)?;
    let other: Option<f64> = row.get(column + 1)?;
    let cumulative = other.unwrap_or(exclusive);
    Ok(Cost {
        exclusive,
        cumulative: (cumulative != f64::INFINITY).then_some(cumulative),
    })
}

/// What nodes cost in a metric that is not the default one.
struct OtherCosts<'s> {
    rows: Rows<'s>,
    next: Option<(i64, Cost)>,
    rows_read: u64,
}

impl<'s> OtherCosts<'s> {
    fn new(rows: Rows<'s>) -> Result<Self, Doubt> {
        let mut costs = Self {
            rows,
            next: None,
            rows_read: 0,
        };
        costs.advance()?;
        Ok(costs)
    }

    fn advance(&mut self) -> Result<(), Doubt> {
        self.next = match self.rows.next()? {
            Some(row) => {
                self.rows_read += 1;
                Some((row.get(0)?, cost(row, 1)?))
            }
            None => None,
        };
        Ok(())
    }

    /// The cost of a node, to be asked in the order of nodes. A node without a row cost nothing.
    fn of(&mut self, node: i64) -> Result<Cost, Doubt> {
        match self.next {
            Some((next, cost)) if next == node => {
                self.advance()?;
                Ok(cost)
            }
            _ => Ok(Cost {
                exclusive: 0.0,
                cumulative: Some(0.0),
            }),
        }
    }
}
