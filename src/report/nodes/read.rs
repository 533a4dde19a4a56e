//! Reads the nodes of a run in their order, with their costs in the metric of the question.
//!
//! What other tables say of nodes is read by statements of their own, in the same order: a look-up
//! for each node would take several times as long. All waiting is inside of SQLite, which looks at
//! Ctrl-C between its own steps.

use rusqlite::types::{Type, ValueRef};
use rusqlite::{Connection, Error, Row, Rows, Statement};

use super::question::{NodeQuestion, Stored};
use crate::store::{NodePages, NodeRow};

const NODES: &str = "
    SELECT node_id, size, function_id, calls, line, exclusive, cumulative_other, up, col, file
    FROM nodes
    WHERE node_id BETWEEN ?1 AND ?2
    ORDER BY node_id";

const FUNCTION_NODES: &str = "
    SELECT node_id, size, function_id, calls, line, exclusive, cumulative_other
    FROM nodes
    WHERE node_id BETWEEN ?1 AND ?2 AND line IS NULL
    ORDER BY node_id";

const COSTS: &str = "
    SELECT node_id, exclusive, cumulative_other
    FROM node_costs
    WHERE metric_id = ?1 AND node_id BETWEEN ?2 AND ?3
    ORDER BY node_id";

const LABELS: &str = "
    SELECT node_id, set_id, exclusive
    FROM node_labels
    WHERE metric_id = ?1 AND node_id BETWEEN ?2 AND ?3
    ORDER BY node_id";

/// Nodes that are rather read and passed over than jumped over: a jump is a search in a tree.
pub(super) const NEAR: i64 = 64;

/// What a node costs in one metric.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cost {
    pub(super) exclusive: f64,
    /// `None` if unknown.
    pub(super) cumulative: Option<f64>,
}

impl Cost {
    /// A node that no row mentions cost nothing.
    const NONE: Self = Self {
        exclusive: 0.0,
        cumulative: Some(0.0),
    };
}

/// A node.
pub(super) struct Node<'r> {
    pub(super) id: i64,
    /// The last node below.
    pub(super) last: i64,
    pub(super) function: i64,
    pub(super) calls: Option<i64>,
    /// `None` in function nodes.
    pub(super) line: Option<Line<'r>>,
    pub(super) cost: Cost,
    /// Readings of the timer; nothing means anything where the question has no metric for them.
    pub(super) readings: Cost,
    /// Its own cost by set of labels, if that was asked for.
    pub(super) labels: &'r [(i64, f64)],
}

/// The line of a node.
#[derive(Clone, Copy)]
pub(super) struct Line<'r> {
    pub(super) line: i64,
    /// `None` if unknown.
    pub(super) col: Option<i64>,
    /// `None` where it is the function's own.
    pub(super) file: Option<&'r [u8]>,
}

/// How to go on after a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// With the next one.
    Node,
    /// With the next one after all that is below.
    AfterSubtree,
    /// There is no need to.
    Stop,
}

/// Statements that read nodes.
pub(super) struct Reader<'c> {
    /// Nodes and their costs are read from pages, if there are any.
    pages: Option<NodePages<'c>>,
    nodes: Statement<'c>,
    costs: Option<(i64, Statement<'c>)>,
    readings: Option<(i64, Statement<'c>)>,
    labels: Option<(i64, Statement<'c>)>,
    with_lines: bool,
    shift: f64,
    readings_in_nodes: bool,
}

impl<'c> Reader<'c> {
    /// Prepares to read costs, with the nodes of lines, and with labels if asked for.
    pub(super) fn new(
        connection: &'c Connection,
        question: &'c NodeQuestion,
        with_lines: bool,
        with_labels: bool,
    ) -> rusqlite::Result<Self> {
        let costs = &question.costs;
        let besides = |stored: Option<Stored>, sql| -> rusqlite::Result<_> {
            Ok(match stored {
                Some(stored) if !stored.in_nodes => Some((stored.metric, connection.prepare(sql)?)),
                _ => None,
            })
        };
        let labels = Stored {
            in_nodes: false,
            ..costs.metric
        };
        Ok(Self {
            pages: if with_labels {
                None
            } else {
                NodePages::of(connection, &question.stop)?
            },
            // Most nodes may be lines: SQLite passes over them several times faster than we do.
            nodes: connection.prepare(if with_lines { NODES } else { FUNCTION_NODES })?,
            with_lines,
            costs: besides(Some(costs.metric), COSTS)?,
            readings: besides(costs.readings, COSTS)?,
            labels: besides(with_labels.then_some(labels), LABELS)?,
            shift: costs.shift,
            readings_in_nodes: costs.readings.is_some_and(|readings| readings.in_nodes),
        })
    }

    /// Gives the nodes from `first` to `last`, as far as wanted; says whether to go on.
    pub(super) fn read(
        &mut self,
        mut first: i64,
        last: i64,
        mut give: impl FnMut(&Node<'_>) -> rusqlite::Result<Next>,
    ) -> rusqlite::Result<bool> {
        if let Some(pages) = &self.pages {
            return self.read_pages(pages, (first, last), give);
        }
        let mut labels_of = Vec::new();
        // Once for each stretch of nodes after which many are passed over.
        'stretches: while first <= last {
            let mut costs = Side::new(&mut self.costs, first, last, cost_at_1)?;
            let mut readings = Side::new(&mut self.readings, first, last, cost_at_1)?;
            let mut labels = Side::new(&mut self.labels, first, last, |row| {
                Ok((row.get(1)?, row.get(2)?))
            })?;
            let mut rows = self.nodes.query([first, last])?;
            let mut wanted_from = first;
            while let Some(row) = rows.next()? {
                let id: i64 = row.get(0)?;
                if id < wanted_from {
                    continue;
                }
                let in_node = cost(row, 5)?;
                let cost = match &mut costs {
                    Some(costs) => costs.take(id)?.unwrap_or(Cost::NONE),
                    None => in_node,
                };
                let readings = match &mut readings {
                    Some(readings) => readings.take(id)?.unwrap_or(Cost::NONE),
                    None if self.readings_in_nodes => in_node,
                    None => Cost::NONE,
                };
                if let Some(labels) = &mut labels {
                    labels_of.clear();
                    while let Some(label) = labels.take(id)? {
                        labels_of.push(label);
                    }
                }
                let mut line = None;
                if self.with_lines
                    && let Some(number) = integer(row, 4)?
                {
                    line = Some(Line {
                        line: number,
                        col: integer(row, 8)?,
                        file: text(row, 9)?,
                    });
                }
                let node = Node {
                    id,
                    last: id.saturating_add(row.get(1)?),
                    function: row.get(2)?,
                    calls: integer(row, 3)?,
                    line,
                    cost: shifted(cost, self.shift, readings),
                    readings,
                    labels: &labels_of,
                };
                let last_below = node.last;
                match give(&node)? {
                    Next::Node => {}
                    Next::AfterSubtree if last_below - id > NEAR => {
                        first = last_below + 1;
                        continue 'stretches;
                    }
                    Next::AfterSubtree => wanted_from = last_below + 1,
                    Next::Stop => return Ok(false),
                }
            }
            break;
        }
        Ok(true)
    }
}

impl Reader<'_> {
    /// Gives the nodes from a first to a last one that pages have, as far as wanted; says whether to
    /// go on.
    fn read_pages(
        &self,
        pages: &NodePages<'_>,
        (first, last): (i64, i64),
        mut give: impl FnMut(&Node<'_>) -> rusqlite::Result<Next>,
    ) -> rusqlite::Result<bool> {
        let metric = |side: &Option<(i64, Statement<'_>)>| side.as_ref().map(|(metric, _)| *metric);
        let metrics = [metric(&self.costs), metric(&self.readings)];
        let (mut nodes, [mut costs, mut readings]) = pages.nodes(first, last, metrics)?;
        let mut row = NodeRow::default();
        while let Some((id, last)) = nodes.next(&mut row)? {
            let line = match &row.line {
                Some(_) if !self.with_lines => continue,
                Some(place) => Some(Line {
                    line: place.line,
                    col: (place.col != 0).then_some(place.col),
                    file: (!place.file.is_empty()).then_some(place.file.as_bytes()),
                }),
                None => None,
            };
            let in_node = Cost {
                exclusive: row.exclusive,
                cumulative: row.cumulative,
            };
            let beside = |(exclusive, cumulative)| Cost {
                exclusive,
                cumulative,
            };
            let cost = match &mut costs {
                Some(costs) => costs.of(id)?.map_or(Cost::NONE, beside),
                None => in_node,
            };
            let said = match &mut readings {
                Some(readings) => readings.of(id)?.map_or(Cost::NONE, beside),
                None if self.readings_in_nodes => in_node,
                None => Cost::NONE,
            };
            let node = Node {
                id,
                last,
                function: row.function_id,
                calls: row.calls.map(u64::cast_signed),
                line,
                cost: shifted(cost, self.shift, said),
                readings: said,
                labels: &[],
            };
            match give(&node)? {
                Next::Node => {}
                Next::AfterSubtree => {
                    let after = last.saturating_add(1);
                    nodes.skip_to(after)?;
                    for costs in [&mut costs, &mut readings].into_iter().flatten() {
                        costs.skip_to(after)?;
                    }
                }
                Next::Stop => return Ok(false),
            }
        }
        Ok(true)
    }
}

/// Nodes by their numbers, without their costs.
pub(super) struct Finder<'c> {
    nodes: Statement<'c>,
}

/// A node that was looked up.
pub(super) struct Found {
    pub(super) id: i64,
    /// The node above; `None` at a root.
    pub(super) parent: Option<i64>,
    pub(super) last: i64,
    pub(super) function: i64,
    /// Line and column; `None` in function nodes.
    pub(super) line: Option<(i64, Option<i64>)>,
}

impl<'c> Finder<'c> {
    pub(super) fn new(connection: &'c Connection) -> rusqlite::Result<Self> {
        let nodes = connection.prepare(NODES)?;
        Ok(Self { nodes })
    }

    /// The nodes above a node, the nearest first, at most so many.
    pub(super) fn above(&mut self, node: i64, most: usize) -> rusqlite::Result<Vec<Found>> {
        let mut above = Vec::new();
        let mut at = self.find(node)?;
        while above.len() < most
            && let Some(found) = &at
            // So that a damaged tree does not lead in circles.
            && let Some(parent) = found.parent.filter(|parent| *parent < found.id)
        {
            let Some(parent) = self.find(parent)? else {
                break;
            };
            above.extend(at.replace(parent).filter(|found| found.id != node));
        }
        if above.len() < most {
            above.extend(at.filter(|found| found.id != node));
        }
        Ok(above)
    }

    /// A node.
    pub(super) fn find(&mut self, node: i64) -> rusqlite::Result<Option<Found>> {
        let mut rows = self.nodes.query([node, node])?;
        let Some(row) = rows.next()? else {
            return Ok(None);
        };
        let line = match integer(row, 4)? {
            Some(line) => Some((line, integer(row, 8)?)),
            None => None,
        };
        Ok(Some(Found {
            id: node,
            parent: integer(row, 7)?.map(|up| node.saturating_sub(up)),
            last: node.saturating_add(row.get(1)?),
            function: row.get(2)?,
            line,
        }))
    }
}

/// Rows of another table about nodes, to be asked for in the order of nodes.
struct Side<'s, T, F> {
    rows: Rows<'s>,
    next: Option<(i64, T)>,
    read: F,
}

impl<'s, T, F: Fn(&Row<'_>) -> rusqlite::Result<T>> Side<'s, T, F> {
    fn new(
        statement: &'s mut Option<(i64, Statement<'_>)>,
        first: i64,
        last: i64,
        read: F,
    ) -> rusqlite::Result<Option<Self>> {
        let Some((metric, statement)) = statement else {
            return Ok(None);
        };
        let mut side = Self {
            rows: statement.query([*metric, first, last])?,
            next: None,
            read,
        };
        side.advance()?;
        Ok(Some(side))
    }

    fn advance(&mut self) -> rusqlite::Result<()> {
        self.next = match self.rows.next()? {
            Some(row) => Some((row.get(0)?, (self.read)(row)?)),
            None => None,
        };
        Ok(())
    }

    /// What the next row says, if it is about this node.
    fn take(&mut self, node: i64) -> rusqlite::Result<Option<T>> {
        while let Some((at, _)) = &self.next {
            if *at > node {
                return Ok(None);
            }
            let (at, said) = self.next.take().expect("it was there just now");
            self.advance()?;
            if at == node {
                return Ok(Some(said));
            }
        }
        Ok(None)
    }
}

fn cost_at_1(row: &Row<'_>) -> rusqlite::Result<Cost> {
    cost(row, 1)
}

/// The exclusive cost in a column, and what the column after it says of the cumulative one
/// (docs/design/0006-small-rows.md).
fn cost(row: &Row<'_>, column: usize) -> rusqlite::Result<Cost> {
    let exclusive: f64 = row.get(column)?;
    let other: Option<f64> = match row.get_ref(column + 1)? {
        ValueRef::Null => None,
        _ => Some(row.get(column + 1)?),
    };
    let cumulative = other.unwrap_or(exclusive);
    Ok(Cost {
        exclusive,
        cumulative: (cumulative != f64::INFINITY).then_some(cumulative),
    })
}

fn shifted(cost: Cost, shift: f64, readings: Cost) -> Cost {
    if shift == 0.0 {
        return cost;
    }
    let both = cost.cumulative.zip(readings.cumulative);
    Cost {
        exclusive: cost.exclusive + shift * readings.exclusive,
        cumulative: both.map(|(cost, readings)| cost + shift * readings),
    }
}

fn integer(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<i64>> {
    match row.get_ref(column)? {
        ValueRef::Null => Ok(None),
        ValueRef::Integer(value) => Ok(Some(value)),
        other => Err(unexpected(column, other.data_type())),
    }
}

fn text<'r>(row: &'r Row<'_>, column: usize) -> rusqlite::Result<Option<&'r [u8]>> {
    match row.get_ref(column)? {
        ValueRef::Null => Ok(None),
        ValueRef::Text(text) => Ok(Some(text)),
        other => Err(unexpected(column, other.data_type())),
    }
}

fn unexpected(column: usize, found: Type) -> Error {
    Error::InvalidColumnType(column, format!("column {column} of a node"), found)
}
