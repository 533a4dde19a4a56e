//! Reads the nodes of a run in their order, with their costs in the metric of the question.
//!
//! What other tables say of nodes is read by readers of their own, in the same order: a look-up
//! for each node would take several times as long.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error, Row, Statement};

use super::question::{NodeQuestion, Stored};
pub(super) use crate::store::Cost;
use crate::store::{Costs, Labels, Nodes, Tables};

const NODE: &str = "SELECT up, size, function_id, line, col, file FROM nodes WHERE node_id = ?1";

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

/// Reads nodes.
pub(super) struct Reader<'c> {
    tables: Tables<'c>,
    costs: Stored,
    readings: Option<Stored>,
    with_lines: bool,
    with_labels: bool,
    shift: f64,
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
        Ok(Self {
            tables: Tables::of(connection, &question.stop)?,
            costs: costs.metric,
            readings: costs.readings,
            with_lines,
            with_labels,
            shift: costs.shift,
        })
    }

    /// Gives the nodes from `first` to `last`, as far as wanted; says whether to go on.
    pub(super) fn read(
        &self,
        first: i64,
        last: i64,
        mut give: impl FnMut(&Node<'_>) -> rusqlite::Result<Next>,
    ) -> rusqlite::Result<bool> {
        let span = (first, last);
        let beside = |stored: Option<Stored>| -> rusqlite::Result<_> {
            match stored {
                Some(Stored {
                    metric,
                    in_nodes: false,
                }) => Costs::new(&self.tables, metric, span).map(Some),
                _ => Ok(None),
            }
        };
        let mut costs = beside(Some(self.costs))?;
        let mut readings = beside(self.readings)?;
        let are_readings_in_nodes = self.readings.is_some_and(|readings| readings.in_nodes);
        let mut labels = None;
        if self.with_labels {
            labels = Some(Labels::new(&self.tables, self.costs.metric, span)?);
        }
        let mut labels_of = Vec::new();
        let mut nodes = if self.with_lines {
            Nodes::new(&self.tables, span)?
        } else {
            Nodes::of_functions(&self.tables, span)?
        };
        while let Some(stored) = nodes.next()? {
            let id = stored.id;
            let line = match stored.line {
                Some(_) if !self.with_lines => continue,
                Some(line) => Some(Line {
                    line,
                    col: stored.col,
                    file: stored.file,
                }),
                None => None,
            };
            let cost = match &mut costs {
                Some(costs) => costs.of(id)?.unwrap_or(Cost::NONE),
                None => stored.cost,
            };
            let said = match &mut readings {
                Some(readings) => readings.of(id)?.unwrap_or(Cost::NONE),
                None if are_readings_in_nodes => stored.cost,
                None => Cost::NONE,
            };
            if let Some(labels) = &mut labels {
                labels.of(id, &mut labels_of)?;
            }
            let last_below = stored.last();
            let node = Node {
                id,
                last: last_below,
                function: stored.function_id,
                calls: stored.calls,
                line,
                cost: shifted(cost, self.shift, said),
                readings: said,
                labels: &labels_of,
            };
            match give(&node)? {
                Next::Node => {}
                Next::AfterSubtree => {
                    let after = last_below.saturating_add(1);
                    nodes.skip_to(after)?;
                    for costs in [&mut costs, &mut readings].into_iter().flatten() {
                        costs.skip_to(after)?;
                    }
                    if let Some(labels) = &mut labels {
                        labels.skip_to(after)?;
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
    /// Its line; `None` in function nodes.
    pub(super) line: Option<FoundLine>,
}

/// The line of a node that was looked up.
pub(super) struct FoundLine {
    pub(super) line: i64,
    /// `None` if unknown.
    pub(super) col: Option<i64>,
    /// `None` where it is the function's own.
    pub(super) file: Option<String>,
}

impl<'c> Finder<'c> {
    pub(super) fn new(connection: &'c Connection) -> rusqlite::Result<Self> {
        let nodes = connection.prepare(NODE)?;
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
        let mut rows = self.nodes.query([node])?;
        let Some(row) = rows.next()? else {
            return Ok(None);
        };
        let line = match integer(row, 3)? {
            Some(line) => Some(FoundLine {
                line,
                col: integer(row, 4)?,
                file: row.get(5)?,
            }),
            None => None,
        };
        Ok(Some(Found {
            id: node,
            parent: integer(row, 0)?.map(|up| node.saturating_sub(up)),
            last: node.saturating_add(row.get(1)?),
            function: row.get(2)?,
            line,
        }))
    }
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
        other => Err(Error::InvalidColumnType(
            column,
            format!("column {column} of a node"),
            other.data_type(),
        )),
    }
}
