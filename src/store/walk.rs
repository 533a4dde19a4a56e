//! Reading a run from end to end, for writers of other formats.

use rusqlite::{OptionalExtension, Row, named_params};

use super::database::Database;
use super::error::StoreError;
use crate::events::Kind;

const NODE: &str = include_str!("../../queries/export/node.sql");
pub(super) const RANGE: &str = include_str!("../../queries/export/range.sql");
const FUNCTIONS: &str = include_str!("../../queries/export/functions.sql");
const LINES: &str = include_str!("../../queries/export/lines.sql");
const EDGES: &str = include_str!("../../queries/export/edges.sql");
const LABELS: &str = include_str!("../../queries/export/labels.sql");
const DEPTHS: &str = include_str!("../../queries/export/depths.sql");
const RECORDED: &str = include_str!("../../queries/export/recorded.sql");
const BACK_EDGES: &str = include_str!("../../queries/export/back_edges.sql");

/// A line of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct LinePlace {
    /// Its file where it is not the function's own; else empty.
    pub file: String,
    /// Its number.
    pub line: i64,
    /// Column or clause; 0 if unknown.
    pub col: i64,
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
    /// Its name before it was made readable, if that is another one.
    pub raw_name: Option<String>,
    /// How often it was called.
    pub calls: Option<u64>,
    /// Cost of the function itself.
    pub exclusive: Option<f64>,
    /// Cost with what it called, recursion counted once.
    pub cumulative: Option<f64>,
    /// Cost with what it called, every level of recursion counted.
    pub seen: Option<f64>,
}

/// What a run says of a line of a function in one metric; `None` where it is unknown.
#[derive(Clone, Debug, PartialEq)]
pub struct LineRow {
    /// The function.
    pub function_id: i64,
    /// The line.
    pub place: LinePlace,
    /// How often it was executed.
    pub calls: Option<u64>,
    /// Cost of the line itself.
    pub exclusive: Option<f64>,
    /// Cost with what it called.
    pub cumulative: Option<f64>,
}

/// A pair of caller and callee, with its cost in one metric; `None` where it is unknown.
#[derive(Clone, Debug, PartialEq)]
pub struct EdgeRow {
    /// The caller; `None` at the root.
    pub caller_id: Option<i64>,
    /// The callee.
    pub callee_id: i64,
    /// The file of the line that it comes from; empty where it is the caller's own.
    pub line_file: String,
    /// From which line.
    pub line: Option<i64>,
    /// From which column or clause of it; 0 if unknown.
    pub col: i64,
    /// It is a call known to exist, without cost of its own.
    pub is_back: bool,
    /// How often.
    pub calls: Option<u64>,
    /// The callee's own cost when called here.
    pub exclusive: Option<f64>,
    /// Cost with what the callee called, counted once per path.
    pub cumulative: Option<f64>,
    /// Cost with what the callee called, every level of recursion counted.
    pub seen: Option<f64>,
}

/// A node, and where it is in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackRow {
    /// Its place among the run's nodes, parents first, from 1.
    pub number: u64,
    /// That of the function node above it; `None` at a root.
    pub parent: Option<u64>,
    /// How many function nodes are above it.
    pub depth: usize,
    /// Its function.
    pub function_id: i64,
    /// It is a line of the function node above it.
    pub is_line: bool,
}

impl Database {
    /// Calls a function for every node of a run, parents first, and of what a node called the last
    /// first, until it fails.
    ///
    /// # Errors
    /// The function's own, or the database's.
    pub fn each_node_backwards<E: From<StoreError>>(
        &self,
        run_id: i64,
        mut each: impl FnMut(StackRow) -> Result<(), E>,
    ) -> Result<(), E> {
        let failed = |source: rusqlite::Error| E::from(self.failed(source));
        let range = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let found = self
            .connection
            .query_row(RANGE, named_params! {":run": run_id}, range)
            .optional();
        let Some((first, last)): Option<(i64, i64)> = found.map_err(failed)? else {
            return Ok(());
        };
        let number = |node: i64| node.abs_diff(first) + 1;
        let mut statement = self.connection.prepare(NODE).map_err(failed)?;
        let mut node = |at: i64| {
            statement.query_row(named_params! {":node": at}, |row| {
                Ok((
                    at,
                    row.get::<_, Option<i64>>(0)?
                        .map(|up| at.saturating_sub(up)),
                    row.get(1)?,
                    row.get(2)?,
                ))
            })
        };
        // Open nodes: each with the function node that it is or is a line of, and how many such
        // there are above.
        let mut open: Vec<(i64, i64, usize)> = Vec::new();
        let mut chain: Vec<(i64, Option<i64>, i64, bool)> = Vec::new();
        let mut leaf = last;
        loop {
            // From the last node below what is open up to the one that was called there: each is
            // the last of what its parent called.
            let mut next = Some(leaf);
            while next != open.last().map(|(above, ..)| *above) {
                let Some(at) = next else { break };
                let found = node(at).map_err(failed)?;
                next = found.1;
                // Or it would lead in circles, or out of the run.
                if next.is_some_and(|above| above >= at || above < first) {
                    return Err(self
                        .inconsistent(format!("node {at} is not below the one that called it"))
                        .into());
                }
                chain.push(found);
            }
            while let Some((at, _, function_id, is_line)) = chain.pop() {
                let above = open.last().map(|(_, function, depth)| (*function, *depth));
                let depth = above.map_or(0, |(_, depth)| depth + 1);
                let own = if is_line { above } else { None };
                let (function, level) = own.unwrap_or((at, depth));
                open.push((at, function, level));
                let parent = above.map(|(function, _)| number(function));
                each(StackRow {
                    number: number(at),
                    parent,
                    depth,
                    function_id,
                    is_line,
                })?;
            }
            // What comes before the first of what a node called is the node itself.
            loop {
                let Some((at, ..)) = open.pop() else {
                    return Ok(());
                };
                if at == first {
                    return Ok(());
                }
                if open.last().is_none_or(|(above, ..)| *above != at - 1) {
                    leaf = at - 1;
                    break;
                }
            }
        }
    }

    /// Calls a function for every function of a run, in the order of their numbers, until it fails:
    /// a row for each metric.
    ///
    /// # Errors
    /// The function's own, or the database's.
    pub fn each_function<E: From<StoreError>>(
        &self,
        run_id: i64,
        metrics: &[i64],
        each: impl FnMut(&[FunctionRow]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.side_by_side(FUNCTIONS, run_id, metrics, FunctionRow::read, each)
    }

    /// Calls a function for every line that a run knows of a function, by function, until it fails:
    /// a row for each metric.
    ///
    /// # Errors
    /// The function's own, or the database's.
    pub fn each_line<E: From<StoreError>>(
        &self,
        run_id: i64,
        metrics: &[i64],
        each: impl FnMut(&[LineRow]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.side_by_side(LINES, run_id, metrics, line, each)
    }

    /// Calls a function for every pair of caller and callee of a run, by caller, until it fails: a
    /// row for each metric.
    ///
    /// # Errors
    /// The function's own, or the database's.
    pub fn each_edge<E: From<StoreError>>(
        &self,
        run_id: i64,
        metrics: &[i64],
        each: impl FnMut(&[EdgeRow]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.side_by_side(EDGES, run_id, metrics, edge, each)
    }

    /// Runs one statement for several metrics side by side, whose rows differ in costs only.
    fn side_by_side<T, E: From<StoreError>>(
        &self,
        sql: &str,
        run_id: i64,
        metrics: &[i64],
        read: fn(&Row<'_>) -> rusqlite::Result<T>,
        mut each: impl FnMut(&[T]) -> Result<(), E>,
    ) -> Result<(), E> {
        let failed = |source: rusqlite::Error| E::from(self.failed(source));
        let statements: rusqlite::Result<Vec<_>> = metrics
            .iter()
            .map(|_| self.connection.prepare(sql))
            .collect();
        let mut statements = statements.map_err(failed)?;
        // The rows of all metrics come in one order, so that no row has to wait for those of
        // another metric.
        let mut answers = Vec::new();
        for (statement, metric) in statements.iter_mut().zip(metrics) {
            answers.push(
                statement
                    .query(named_params! {":run": run_id, ":metric": metric})
                    .map_err(failed)?,
            );
        }
        let mut rows = Vec::with_capacity(metrics.len());
        loop {
            rows.clear();
            for answer in &mut answers {
                let Some(row) = answer.next().map_err(failed)? else {
                    return Ok(());
                };
                rows.push(read(row).map_err(failed)?);
            }
            if rows.is_empty() {
                return Ok(());
            }
            each(&rows)?;
        }
    }

    /// The functions of a run, in the order of their numbers.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn functions(&self, run_id: i64, metric_id: i64) -> Result<Vec<FunctionRow>, StoreError> {
        let functions = || -> rusqlite::Result<Vec<FunctionRow>> {
            let mut statement = self.connection.prepare(FUNCTIONS)?;
            statement
                .query_map(
                    named_params! {":run": run_id, ":metric": metric_id},
                    FunctionRow::read,
                )?
                .collect()
        };
        functions().map_err(|source| self.failed(source))
    }

    /// How many different sets of labels the samples of a run have.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn labels(&self, run_id: i64) -> Result<u64, StoreError> {
        let counted = self
            .connection
            .query_row(LABELS, named_params! {":run": run_id}, |row| count(row, 0));
        Ok(counted.map_err(|source| self.failed(source))?.unwrap_or(0))
    }

    /// How many nodes are above each node of a run, in all.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn depths(&self, run_id: i64) -> Result<u64, StoreError> {
        let counted = self
            .connection
            .query_row(DEPTHS, named_params! {":run": run_id}, |row| count(row, 0));
        Ok(counted.map_err(|source| self.failed(source))?.unwrap_or(0))
    }

    /// Whether the file itself gives what functions cost themselves in a metric.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn has_recorded(&self, metric_id: i64) -> Result<bool, StoreError> {
        let found =
            self.connection
                .query_row(RECORDED, named_params! {":metric": metric_id}, |row| {
                    row.get(0)
                });
        found.map_err(|source| self.failed(source))
    }

    /// How many calls of a run are known to exist, without cost of their own.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn back_edges(&self, run_id: i64) -> Result<u64, StoreError> {
        let counted =
            self.connection
                .query_row(BACK_EDGES, named_params! {":run": run_id}, |row| {
                    count(row, 0)
                });
        Ok(counted.map_err(|source| self.failed(source))?.unwrap_or(0))
    }
}

fn line(row: &Row<'_>) -> rusqlite::Result<LineRow> {
    Ok(LineRow {
        function_id: row.get(0)?,
        place: LinePlace {
            file: row.get(1)?,
            line: row.get(2)?,
            col: row.get(3)?,
        },
        calls: count(row, 4)?,
        exclusive: row.get(5)?,
        cumulative: row.get(6)?,
    })
}

fn edge(row: &Row<'_>) -> rusqlite::Result<EdgeRow> {
    Ok(EdgeRow {
        caller_id: row.get(0)?,
        callee_id: row.get(1)?,
        line_file: row.get(9)?,
        line: row.get(2)?,
        col: row.get(3)?,
        is_back: row.get(4)?,
        calls: count(row, 5)?,
        exclusive: row.get(6)?,
        cumulative: row.get(7)?,
        seen: row.get(8)?,
    })
}

impl FunctionRow {
    /// Reads a row of a statement that gives functions with their figures.
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let kind: String = row.get(1)?;
        Ok(Self {
            function_id: row.get(0)?,
            kind: Kind::by_name(&kind).unwrap_or_default(),
            name: row.get(2)?,
            module: row.get(3)?,
            file: row.get(4)?,
            place: (row.get(5)?, row.get(6)?),
            raw_name: row.get(7)?,
            calls: count(row, 8)?,
            exclusive: row.get(9)?,
            cumulative: row.get(10)?,
            seen: row.get(11)?,
        })
    }
}

/// A count; `None` if unknown. None is below 0.
pub(super) fn count(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<u64>> {
    let count: Option<i64> = row.get(at)?;
    Ok(count.map(i64::unsigned_abs))
}
