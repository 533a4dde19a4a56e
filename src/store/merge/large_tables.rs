//! The large tables of a run that is copied, as rows for pages: table by table, in the order of the
//! keys that the rows get.
//!
//! Nodes and metrics keep their order. Functions get ids in another order if the other database
//! knows some of them already, so tables whose keys have a function are read stretch by stretch:
//! functions whose order is the same in both.

use super::copy::RunCopy;
use super::tables::Id;
use crate::store::error::{Cause, StoreError};
use crate::store::rows::{Range, StoredRow, Table, Tables, damaged};
use crate::store::write::{CopiedRows, RunIndex};
use profdb_sqlite_pages::values::{Rest, Value};

/// A table whose rows come in the order that they are to have, within a stretch of functions if the
/// key has one.
struct LargeTable {
    table: Table,
    index: RunIndex,
    /// What the second column of the key means. The first is the run or metric.
    id: Id,
    /// What the column after that means, where it has an id, too.
    next: Option<Id>,
}

const FUNCTION_NODES: LargeTable = LargeTable {
    table: Table::FunctionNodes,
    index: RunIndex::FunctionNodes,
    id: Id::Function,
    next: Some(Id::Node),
};

const BY_FUNCTION: [LargeTable; 2] = [
    LargeTable {
        table: Table::FunctionInfo,
        index: RunIndex::FunctionInfo,
        id: Id::Function,
        next: None,
    },
    LargeTable {
        table: Table::LineInfo,
        index: RunIndex::LineInfo,
        id: Id::Function,
        next: None,
    },
];

const BY_NODE: [LargeTable; 2] = [
    LargeTable {
        table: Table::NodeCosts,
        index: RunIndex::NodeCosts,
        id: Id::Node,
        next: None,
    },
    LargeTable {
        table: Table::NodeLabels,
        index: RunIndex::NodeLabels,
        id: Id::Node,
        next: None,
    },
];

/// Columns of `nodes` after the number of the node, and which of them is the function. All others are relative to the number of
/// the node, or have no number of another row.
const NODE_COLUMNS: usize = 11;
const NODE_FUNCTION: usize = 3;

/// The functions from one id to another, in the other database.
type Stretch = (i64, i64);

/// An edge: its key without the metric, and calls and costs if the table has them.
struct Edge {
    key: EdgeKey,
    calls: Option<i64>,
    costs: [Option<f64>; 4],
}

/// The key of an edge, in the table and in its index.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct EdgeKey {
    /// In the table the callee, in the index the caller.
    function: i64,
    /// In the table whether it is a back edge and the caller, in the index the callee and whether.
    others: [i64; 2],
    /// Empty where it is the caller's own.
    file: Vec<u8>,
    /// Line and column.
    place: [i64; 2],
}

impl<'d> RunCopy<'d> {
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
        let tables = self.tables()?;
        self.nodes(&tables, pages)?;
        let runs = (self.old_run, self.new_run);
        self.table_by_function(&tables, pages, &FUNCTION_NODES, runs, &stretches)?;
        for metric in self.metrics.clone() {
            for table in &BY_NODE {
                self.rows(&tables, pages, table, metric, (i64::MIN, i64::MAX))?;
            }
            for table in &BY_FUNCTION {
                self.table_by_function(&tables, pages, table, metric, &stretches)?;
            }
            self.edges(&tables, pages, metric, &stretches)?;
            self.edges_by_caller(&tables, pages, metric, &callers)?;
        }
        Ok(())
    }

    /// The tables of the other database.
    fn tables(&self) -> Result<Tables<'d>, StoreError> {
        let source = self.source;
        Tables::of(&source.connection, source.stop()).map_err(|error| source.failed(error))
    }

    fn nodes(&mut self, tables: &Tables<'_>, pages: &mut CopiedRows) -> Result<(), StoreError> {
        let source = self.source;
        let failed = |error| source.failed(error);
        let Some((first, last)) = self.old_nodes else {
            return Ok(());
        };
        let range = Range { of: 0, first, last };
        let mut rows = tables.rows(Table::Nodes, range).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            let id = self.new_id(Id::Node, row.at)?;
            let mut columns = row.others;
            let mut values = [Value::Null; NODE_FUNCTION + 1];
            for value in &mut values {
                *value = columns.next_value().ok_or_else(|| failed(damaged()))?;
            }
            let Value::Integer(function) = values[NODE_FUNCTION] else {
                return Err(failed(damaged()));
            };
            values[NODE_FUNCTION] = Value::Integer(self.new_id(Id::Function, function)?);
            let rest = columns.rest(NODE_COLUMNS - values.len());
            let rest = rest.ok_or_else(|| failed(damaged()))?;
            let written = pages.node(id, &values, rest);
            written.map_err(|cause| self.not_written(cause))?;
            self.count()?;
        }
        Ok(())
    }

    fn table_by_function(
        &mut self,
        tables: &Tables<'_>,
        pages: &mut CopiedRows,
        table: &LargeTable,
        of: (i64, i64),
        stretches: &[Stretch],
    ) -> Result<(), StoreError> {
        stretches
            .iter()
            .try_for_each(|stretch| self.rows(tables, pages, table, of, *stretch))
    }

    /// Copies rows that come in the order that they are to have: of a run or metric, which has an
    /// old id and a new one.
    fn rows(
        &mut self,
        tables: &Tables<'_>,
        pages: &mut CopiedRows,
        table: &LargeTable,
        (of, new): (i64, i64),
        (first, last): (i64, i64),
    ) -> Result<(), StoreError> {
        let source = self.source;
        let failed = |error| source.failed(error);
        let range = Range { of, first, last };
        let mut rows = tables.rows(table.table, range).map_err(failed)?;
        let columns = table.table.columns();
        while let Some(row) = rows.next().map_err(failed)? {
            let at = Value::Integer(self.new_id(table.id, row.at)?);
            let mut values = [Value::Integer(new), at, Value::Null];
            let mut changed = 2;
            let mut others = row.others;
            if let Some(id) = table.next {
                let old = others.integer().ok_or_else(|| failed(damaged()))?;
                values[changed] = Value::Integer(self.new_id(id, old)?);
                changed += 1;
            }
            let rest = others.rest(columns - changed);
            let rest = rest.ok_or_else(|| failed(damaged()))?;
            let written = pages.row(table.index, &values[..changed], rest);
            written.map_err(|cause| self.not_written(cause))?;
            self.count()?;
        }
        Ok(())
    }

    /// Copies the edges of a metric, which has an old id and a new one.
    fn edges(
        &mut self,
        tables: &Tables<'_>,
        pages: &mut CopiedRows,
        (old, new): (i64, i64),
        stretches: &[Stretch],
    ) -> Result<(), StoreError> {
        let table = (Table::Edges, old);
        let ids = (Id::Function, 1, Id::Caller);
        self.groups(tables, table, stretches, ids, |edge| {
            let Edge { key, calls, costs } = edge;
            let [back, caller] = key.others.map(Value::Integer);
            let [line, col] = key.place.map(Value::Integer);
            let calls = calls.map_or(Value::Null, Value::Integer);
            let costs = costs.map(|cost| cost.map_or(Value::Null, Value::Real));
            let [exclusive, cumulative, outermost, seen] = costs;
            let row = [
                Value::Integer(new),
                Value::Integer(key.function),
                back,
                caller,
                Value::Text(&key.file),
                line,
                col,
                calls,
                exclusive,
                cumulative,
                outermost,
                seen,
            ];
            pages.row(RunIndex::Edges, &row, Rest::default())
        })
    }

    /// Copies the index of the edges of a metric.
    fn edges_by_caller(
        &mut self,
        tables: &Tables<'_>,
        pages: &mut CopiedRows,
        (old, new): (i64, i64),
        callers: &[Stretch],
    ) -> Result<(), StoreError> {
        let table = (Table::EdgesByCaller, old);
        let ids = (Id::Caller, 0, Id::Function);
        self.groups(tables, table, callers, ids, |edge| {
            let key = &edge.key;
            let [callee, back] = key.others.map(Value::Integer);
            let [line, col] = key.place.map(Value::Integer);
            let row = [
                Value::Integer(new),
                Value::Integer(key.function),
                callee,
                back,
                Value::Text(&key.file),
                line,
                col,
            ];
            pages.row(RunIndex::EdgesByCaller, &row, Rest::default())
        })
    }

    /// Reads edges, and gives those of one function after the other, each in the order of its new
    /// key. `ids` says what the function of the key is, and which of the others is a function of what
    /// kind.
    fn groups(
        &mut self,
        tables: &Tables<'_>,
        (table, metric): (Table, i64),
        stretches: &[Stretch],
        (first_id, at, other_id): (Id, usize, Id),
        mut write: impl FnMut(&Edge) -> Result<(), Cause>,
    ) -> Result<(), StoreError> {
        let source = self.source;
        let failed = |error| source.failed(error);
        let mut group: Vec<Edge> = Vec::new();
        let mut written = |copy: &Self, group: &mut Vec<Edge>| -> Result<(), StoreError> {
            group.sort_unstable_by(|edge, other| edge.key.cmp(&other.key));
            let written = group.iter().try_for_each(&mut write);
            group.clear();
            written.map_err(|cause| copy.not_written(cause))
        };
        for (first, last) in stretches {
            let range = Range {
                of: metric,
                first: *first,
                last: *last,
            };
            let mut rows = tables.rows(table, range).map_err(failed)?;
            while let Some(row) = rows.next().map_err(failed)? {
                let mut edge = edge(row).ok_or_else(|| failed(damaged()))?;
                let key = &mut edge.key;
                key.function = self.new_id(first_id, key.function)?;
                key.others[at] = self.new_id(other_id, key.others[at])?;
                if group
                    .first()
                    .is_some_and(|first| first.key.function != edge.key.function)
                {
                    written(self, &mut group)?;
                }
                group.push(edge);
                self.count()?;
            }
        }
        written(self, &mut group)
    }

    /// The error for a row that could not be written: into a file in the folder of the target.
    fn not_written(&self, cause: Cause) -> StoreError {
        match cause {
            // Nothing else there is read by SQL.
            Cause::Sqlite(_) | Cause::Altered(_) => self.source.failed(damaged()),
            cause => self.target_failed(cause),
        }
    }
}

/// An edge from its row, with the ids of the other database: the columns that an index does not have
/// are NULL.
fn edge(row: StoredRow<'_>) -> Option<Edge> {
    let mut columns = row.others;
    let others = [columns.integer()?, columns.integer()?];
    let Value::Text(file) = columns.next_value()? else {
        return None;
    };
    let key = EdgeKey {
        function: row.at,
        others,
        file: file.to_vec(),
        place: [columns.integer()?, columns.integer()?],
    };
    let calls = columns.integer_or_null()?;
    let mut costs = [None; 4];
    for cost in &mut costs {
        *cost = columns.real_or_null()?;
    }
    Some(Edge { key, calls, costs })
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
