//! Reading a run from end to end, for those who write it down again.

use rusqlite::{Row, named_params};

use super::{Database, StoreError};
use crate::events::Kind;

const NODES: &str = include_str!("../../queries/export/nodes.sql");
const FUNCTIONS: &str = include_str!("../../queries/export/functions.sql");
const BACK_EDGES: &str = include_str!("../../queries/export/back_edges.sql");

/// A node, with its cost in one metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodeRow {
    /// How many nodes are above.
    pub depth: usize,
    /// Its function.
    pub function_id: i64,
    /// It is a line of the function node above.
    pub is_line: bool,
    /// How often it was called; `None` if unknown.
    pub calls: Option<u64>,
    /// Cost of the node itself.
    pub exclusive: f64,
    /// Cost with everything called; `None` for lines if unknown.
    pub cumulative: Option<f64>,
}

/// A function, with its figures in one metric; `None` where they are unknown.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionRow {
    /// Its number.
    pub function_id: i64,
    /// What sort of thing it is.
    pub kind: Kind,
    /// Its name.
    pub name: String,
    /// Its module; empty if unknown.
    pub module: String,
    /// Its file; empty if unknown.
    pub file: String,
    /// Line and column of its definition; 0 if unknown.
    pub place: (i64, i64),
    /// How often it was called.
    pub calls: Option<u64>,
    /// Cost of the function itself.
    pub exclusive: Option<f64>,
    /// Cost with what it called, every level of recursion counted.
    pub seen: Option<f64>,
}

impl Database {
    /// Calls a function for every node of a run, parents first, until it fails.
    ///
    /// # Errors
    /// The function's own, or the database's.
    pub fn each_node<E: From<StoreError>>(
        &self,
        run_id: i64,
        metric_id: i64,
        mut each: impl FnMut(NodeRow) -> Result<(), E>,
    ) -> Result<(), E> {
        let failed = |source: rusqlite::Error| E::from(self.failed(source));
        let mut statement = self.connection.prepare(NODES).map_err(failed)?;
        let mut rows = statement.query(named_params! {":run": run_id, ":metric": metric_id}).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            each(node(row).map_err(failed)?)?;
        }
        Ok(())
    }

    /// The functions of a run, in the order of their numbers.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn functions(&self, run_id: i64, metric_id: i64) -> Result<Vec<FunctionRow>, StoreError> {
        let functions = || -> rusqlite::Result<Vec<FunctionRow>> {
            let mut statement = self.connection.prepare(FUNCTIONS)?;
            statement.query_map(named_params! {":run": run_id, ":metric": metric_id}, function)?.collect()
        };
        functions().map_err(|source| self.failed(source))
    }

    /// How many calls of a run are known to exist, without cost of their own.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn back_edges(&self, run_id: i64) -> Result<u64, StoreError> {
        let counted = self.connection.query_row(BACK_EDGES, named_params! {":run": run_id}, |row| count(row, 0));
        Ok(counted.map_err(|source| self.failed(source))?.unwrap_or(0))
    }
}

fn node(row: &Row<'_>) -> rusqlite::Result<NodeRow> {
    Ok(NodeRow {
        depth: count(row, 0)?.and_then(|depth| usize::try_from(depth).ok()).unwrap_or(0),
        function_id: row.get(1)?,
        is_line: row.get(2)?,
        calls: count(row, 3)?,
        exclusive: row.get(4)?,
        cumulative: row.get(5)?,
    })
}

fn function(row: &Row<'_>) -> rusqlite::Result<FunctionRow> {
    let kind: String = row.get(1)?;
    Ok(FunctionRow {
        function_id: row.get(0)?,
        kind: Kind::by_name(&kind).unwrap_or_default(),
        name: row.get(2)?,
        module: row.get(3)?,
        file: row.get(4)?,
        place: (row.get(5)?, row.get(6)?),
        calls: count(row, 7)?,
        exclusive: row.get(8)?,
        seen: row.get(9)?,
    })
}

/// A count; `None` if unknown. None is below 0.
fn count(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<u64>> {
    let count: Option<i64> = row.get(at)?;
    Ok(count.map(i64::unsigned_abs))
}
