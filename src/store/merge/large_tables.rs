//! The large tables of a run that is copied, as rows for pages: table by table, in the order of the
//! keys that the rows get.
//!
//! Nodes and metrics keep their order. Functions get ids in another order if the other database
//! knows some of them already, so tables whose keys have a function are read stretch by stretch:
//! functions whose order is the same in both.

use rusqlite::types::ValueRef;
use rusqlite::{Row, Statement, ToSql};

use super::copy::{RunCopy, out_of_range};
use super::tables::Id;
use crate::store::error::{Cause, StoreError};
use crate::store::write::{CopiedRows, RunIndex};

/// Columns that a row has at most.
const COLUMNS: usize = 12;

/// A table whose rows come in the order that they are to have, within a stretch of functions if the
/// key has one.
struct LargeTable {
    index: RunIndex,
    /// `?1` is the id of the run or metric, `?2` and `?3` are the functions of a stretch.
    rows: &'static str,
    /// Columns with ids.
    ids: &'static [(usize, Id)],
}

const FUNCTION_NODES: LargeTable = LargeTable {
    index: RunIndex::FunctionNodes,
    rows: "SELECT run_id, function_id, node_id
           FROM function_nodes
           WHERE run_id = ?1 AND function_id BETWEEN ?2 AND ?3
           ORDER BY function_id, node_id",
    ids: &[(0, Id::Run), (1, Id::Function), (2, Id::Node)],
};

const BY_FUNCTION: [LargeTable; 2] = [
    LargeTable {
        index: RunIndex::FunctionInfo,
        rows:
            "SELECT metric_id, function_id, calls, primitive, exclusive, cumulative, seen, recorded
               FROM function_info
               WHERE metric_id = ?1 AND function_id BETWEEN ?2 AND ?3
               ORDER BY function_id",
        ids: &[(0, Id::Metric), (1, Id::Function)],
    },
    LargeTable {
        index: RunIndex::LineInfo,
        rows:
            "SELECT metric_id, function_id, file, line, col, calls, exclusive, cumulative, recorded
               FROM line_info
               WHERE metric_id = ?1 AND function_id BETWEEN ?2 AND ?3
               ORDER BY function_id, file, line, col",
        ids: &[(0, Id::Metric), (1, Id::Function)],
    },
];

const BY_NODE: [LargeTable; 2] = [
    LargeTable {
        index: RunIndex::NodeCosts,
        rows: "SELECT metric_id, node_id, exclusive, cumulative_other
               FROM node_costs
               WHERE metric_id = ?1
               ORDER BY node_id",
        ids: &[(0, Id::Metric), (1, Id::Node)],
    },
    LargeTable {
        index: RunIndex::NodeLabels,
        rows: "SELECT metric_id, node_id, set_id, exclusive
               FROM node_labels
               WHERE metric_id = ?1
               ORDER BY node_id, set_id",
        ids: &[(0, Id::Metric), (1, Id::Node)],
    },
];

const NODES: &str = "SELECT node_id, up, size, depth, function_id, calls, exclusive, line, cumulative_other, outer_up, col, file
                     FROM nodes
                     WHERE node_id BETWEEN (SELECT first_node FROM runs WHERE run_id = ?1)
                                       AND (SELECT last_node FROM runs WHERE run_id = ?1)
                     ORDER BY node_id";

/// The functions from one id to another, in the other database.
type Stretch = (i64, i64);

/// Edges of one function, in one metric: keys in the order that they are to have, and figures.
const EDGES: &str = "SELECT callee_id, caller_id, caller_line, caller_col, back,
                            calls, exclusive, cumulative, outermost_other, seen_other
                     FROM edges
                     WHERE metric_id = ?1 AND callee_id BETWEEN ?2 AND ?3
                     ORDER BY callee_id, caller_id, caller_line, caller_col, back";

const EDGES_BY_CALLER: &str = "SELECT caller_id, callee_id, caller_line, caller_col, back
                               FROM edges INDEXED BY edges_by_caller
                               WHERE metric_id = ?1 AND caller_id BETWEEN ?2 AND ?3
                               ORDER BY caller_id, callee_id, caller_line, caller_col, back";

/// An edge: its key without the metric, and calls and costs if the table has them.
struct Edge {
    key: [i64; 5],
    calls: Option<i64>,
    costs: [Option<f64>; 4],
}

impl RunCopy<'_> {
    /// Copies the rows of all large tables.
    pub(super) fn large_tables(&mut self, pages: &mut CopiedRows) -> Result<(), StoreError> {
        let mut functions: Vec<(i64, i64)> = self
            .functions
            .iter()
            .map(|(old, new)| (*old, *new))
            .collect();
        let stretches = stretches(&mut functions);
        // No function calls what is at the root.
        functions.push((0, 0));
        let callers = self::stretches(&mut functions);
        self.nodes(pages)?;
        self.table_by_function(pages, &FUNCTION_NODES, self.old_run, &stretches)?;
        for (metric, new) in self.metrics.clone() {
            for table in &BY_NODE {
                self.rows(pages, table, &[&metric])?;
            }
            for table in &BY_FUNCTION {
                self.table_by_function(pages, table, metric, &stretches)?;
            }
            self.edges(pages, (metric, new), &stretches)?;
            self.edges_by_caller(pages, (metric, new), &callers)?;
        }
        Ok(())
    }

    fn nodes(&mut self, pages: &mut CopiedRows) -> Result<(), StoreError> {
        let source = self.source;
        let failed = |error| source.failed(error);
        let mut select = source.connection.prepare(NODES).map_err(failed)?;
        let mut rows = select.query([self.old_run]).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            let mut values = values(row, COLUMNS).map_err(failed)?;
            let id = self.new_id(Id::Node, row.get(0).map_err(failed)?)?;
            let function = self.new_id(Id::Function, row.get(4).map_err(failed)?)?;
            values[4] = ValueRef::Integer(function);
            let written = pages.node(id, &values[1..]);
            written.map_err(|cause| self.not_written(cause))?;
            self.count()?;
        }
        Ok(())
    }

    fn table_by_function(
        &mut self,
        pages: &mut CopiedRows,
        table: &LargeTable,
        id: i64,
        stretches: &[Stretch],
    ) -> Result<(), StoreError> {
        stretches
            .iter()
            .try_for_each(|(first, last)| self.rows(pages, table, &[&id, first, last]))
    }

    /// Copies rows that come in the order that they are to have.
    fn rows(
        &mut self,
        pages: &mut CopiedRows,
        table: &LargeTable,
        parameters: &[&dyn ToSql],
    ) -> Result<(), StoreError> {
        let source = self.source;
        let failed = |error| source.failed(error);
        let select = source.connection.prepare_cached(table.rows);
        let mut select = select.map_err(failed)?;
        let columns = select.column_count();
        let mut rows = select.query(parameters).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            let mut values = values(row, columns).map_err(failed)?;
            for (at, id) in table.ids {
                let old = row.get(*at).map_err(failed)?;
                values[*at] = ValueRef::Integer(self.new_id(*id, old)?);
            }
            let written = pages.row(table.index, &values[..columns]);
            written.map_err(|cause| self.not_written(cause))?;
            self.count()?;
        }
        Ok(())
    }

    /// Copies the edges of a metric, which has an old id and a new one.
    fn edges(
        &mut self,
        pages: &mut CopiedRows,
        metric: (i64, i64),
        stretches: &[Stretch],
    ) -> Result<(), StoreError> {
        let figures = |row: &Row<'_>| -> rusqlite::Result<_> {
            let costs = [row.get(6)?, row.get(7)?, row.get(8)?, row.get(9)?];
            Ok((row.get(5)?, costs))
        };
        self.groups(
            EDGES,
            metric.0,
            stretches,
            [Id::Function, Id::Caller],
            figures,
            |edge| {
                let Edge { key, calls, costs } = edge;
                let [callee, caller, line, col, back] = key.map(ValueRef::Integer);
                let calls = calls.map_or(ValueRef::Null, ValueRef::Integer);
                let costs = costs.map(|cost| cost.map_or(ValueRef::Null, ValueRef::Real));
                let [exclusive, cumulative, outermost, seen] = costs;
                let metric = ValueRef::Integer(metric.1);
                let row = [
                    metric, callee, caller, line, col, back, calls, exclusive, cumulative,
                    outermost, seen,
                ];
                pages.row(RunIndex::Edges, &row)
            },
        )
    }

    /// Copies the index of the edges of a metric.
    fn edges_by_caller(
        &mut self,
        pages: &mut CopiedRows,
        metric: (i64, i64),
        callers: &[Stretch],
    ) -> Result<(), StoreError> {
        let no_figures = |_: &Row<'_>| Ok((None, [None; 4]));
        self.groups(
            EDGES_BY_CALLER,
            metric.0,
            callers,
            [Id::Caller, Id::Function],
            no_figures,
            |edge| {
                let [caller, callee, line, col, back] = edge.key.map(ValueRef::Integer);
                let metric = ValueRef::Integer(metric.1);
                let row = [metric, caller, callee, line, col, back];
                pages.row(RunIndex::EdgesByCaller, &row)
            },
        )
    }

    /// Reads edges, and gives those of one function after the other, each in the order of its new
    /// key.
    fn groups(
        &mut self,
        sql: &str,
        metric: i64,
        stretches: &[Stretch],
        ids: [Id; 2],
        figures: impl Fn(&Row<'_>) -> rusqlite::Result<(Option<i64>, [Option<f64>; 4])>,
        mut write: impl FnMut(&Edge) -> Result<(), Cause>,
    ) -> Result<(), StoreError> {
        let source = self.source;
        let failed = |error| source.failed(error);
        let mut select: Statement<'_> = source.connection.prepare(sql).map_err(failed)?;
        let mut group: Vec<Edge> = Vec::new();
        let mut written = |copy: &Self, group: &mut Vec<Edge>| -> Result<(), StoreError> {
            group.sort_unstable_by_key(|edge| edge.key);
            let written = group.iter().try_for_each(&mut write);
            group.clear();
            written.map_err(|cause| copy.not_written(cause))
        };
        for (first, last) in stretches {
            let mut rows = select.query([metric, *first, *last]).map_err(failed)?;
            while let Some(row) = rows.next().map_err(failed)? {
                let mut key = [0; 5];
                for (at, part) in key.iter_mut().enumerate() {
                    *part = row.get(at).map_err(failed)?;
                }
                for (part, id) in key.iter_mut().zip(ids) {
                    *part = self.new_id(id, *part)?;
                }
                let (calls, costs) = figures(row).map_err(failed)?;
                if group.first().is_some_and(|edge| edge.key[0] != key[0]) {
                    written(self, &mut group)?;
                }
                group.push(Edge { key, calls, costs });
                self.count()?;
            }
        }
        written(self, &mut group)
    }

    /// The error for a row that could not be written: into a file in the folder of the target.
    fn not_written(&self, cause: Cause) -> StoreError {
        match cause {
            // Nothing else there is read by SQL.
            Cause::Sqlite(_) | Cause::Altered(_) => self.source.failed(out_of_range()),
            cause => self.target_failed(cause),
        }
    }
}

/// The values of a row, and NULL after them.
fn values<'r>(row: &'r Row<'_>, columns: usize) -> rusqlite::Result<[ValueRef<'r>; COLUMNS]> {
    let mut values = [ValueRef::Null; COLUMNS];
    for (at, value) in values.iter_mut().enumerate().take(columns) {
        *value = row.get_ref(at)?;
    }
    Ok(values)
}

/// Functions by their old and new ids, as stretches of old ones in the order of the new ones. Each
/// old id is in one stretch, also those of functions that are not listed: a row that has one is then
/// read, and refused.
fn stretches(functions: &mut [(i64, i64)]) -> Vec<Stretch> {
    functions.sort_unstable();
    let old: Vec<i64> = functions.iter().map(|(old, _)| *old).collect();
    let mut by_new: Vec<(i64, usize)> = (0..)
        .zip(functions.iter())
        .map(|(at, (_, new))| (*new, at))
        .collect();
    by_new.sort_unstable();
    let first = |at: usize| if at == 0 { i64::MIN } else { old[at] };
    let last = |at: usize| old.get(at + 1).map_or(i64::MAX, |next| next - 1);
    let mut stretches: Vec<Stretch> = Vec::new();
    let mut before = None;
    for (_, at) in by_new {
        match stretches.last_mut() {
            Some(stretch) if before == at.checked_sub(1) && before.is_some() => {
                stretch.1 = last(at);
            }
            _ => stretches.push((first(at), last(at))),
        }
        before = Some(at);
    }
    stretches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_are_as_long_as_the_order_allows() {
        /// By their old and new ids.
        type Functions = &'static [(i64, i64)];
        const ALL: Stretch = (i64::MIN, i64::MAX);
        let table: [(Functions, &[Stretch]); 6] = [
            (&[], &[]),
            (&[(4, 9)], &[ALL]),
            (&[(1, 1), (2, 2), (9, 3)], &[ALL]),
            (&[(1, 8), (2, 9), (9, 3)], &[(9, i64::MAX), (i64::MIN, 8)]),
            (
                &[(1, 3), (2, 2), (3, 1)],
                &[(3, i64::MAX), (2, 2), (i64::MIN, 1)],
            ),
            (
                &[(1, 1), (3, 5), (5, 2), (7, 3)],
                &[(i64::MIN, 2), (5, i64::MAX), (3, 4)],
            ),
        ];
        for (functions, expected) in table {
            assert_eq!(
                stretches(&mut functions.to_vec()),
                expected,
                "{functions:?}"
            );
        }
    }
}
