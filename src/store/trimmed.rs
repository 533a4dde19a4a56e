//! A database for a page: some runs with all tables and views, but without the rows of their trees, which the page has in a
//! tenth of the room and fills in when a statement asks for them.

use rusqlite::Connection;
use rusqlite::types::ToSqlOutput;

use super::database::Database;
use super::error::{Cause, StoreError};
use super::file::connection::open_in_memory;
use super::schema::make;

/// Tables in an order in which each comes after those that it refers to, with the rows that belong to the runs of
/// `wanted_runs`. The tables `nodes`, `node_costs` and `function_nodes` are left empty.
const TABLES: &[(&str, &str)] = &[
    ("runs", "run_id IN wanted_runs"),
    ("run_tags", "run_id IN wanted_runs"),
    ("run_properties", "run_id IN wanted_runs"),
    ("notes", "run_id IN wanted_runs"),
    ("metrics", "run_id IN wanted_runs"),
    ("functions", "function_id IN wanted_functions"),
    (
        "identities",
        "identity_id IN (SELECT identity_id FROM functions WHERE function_id IN wanted_functions)",
    ),
    ("identity_rules", "TRUE"),
    ("identity_digests", "TRUE"),
    ("function_info", "metric_id IN wanted_metrics"),
    ("line_info", "metric_id IN wanted_metrics"),
    ("edges", "metric_id IN wanted_metrics"),
    ("label_sets", "run_id IN wanted_runs"),
    ("node_labels", "metric_id IN wanted_metrics"),
];

/// Tables with the source that is stored with the runs.
const SOURCES: &[(&str, &str)] = &[
    (
        "sources",
        "source_id IN (SELECT source_id FROM run_sources WHERE run_id IN wanted_runs)",
    ),
    (
        "source_texts",
        "source_id IN (SELECT source_id FROM run_sources WHERE run_id IN wanted_runs)",
    ),
    ("run_sources", "run_id IN wanted_runs"),
];

/// What the conditions of the tables name. A run says something of each of its functions in its default metric, whatever else
/// refers to it: trees and edges need not be searched for them.
const WANTED: &str = "WITH wanted_runs (run_id) AS (SELECT value FROM json_each(:runs)),
wanted_metrics (metric_id) AS (SELECT metric_id FROM metrics WHERE run_id IN wanted_runs),
wanted_functions (function_id) AS (
  SELECT function_id FROM function_info WHERE metric_id IN wanted_metrics
  UNION SELECT function_id FROM run_sources WHERE run_id IN wanted_runs
)";

/// What a database for a page goes without, besides trees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Without {
    /// The source that is stored with the runs.
    pub source: bool,
    /// The figures of lines.
    pub lines: bool,
    /// The calls between functions.
    pub calls: bool,
}

impl Without {
    fn is_without(self, table: &str) -> bool {
        match table {
            "line_info" => self.lines,
            "edges" => self.calls,
            _ => false,
        }
    }
}

impl Database {
    /// The bytes of a database with some runs, all views, and without the trees.
    ///
    /// # Errors
    /// When this one cannot be read, or there is no memory.
    pub fn trimmed(&self, runs: &[i64], without: Without) -> Result<Vec<u8>, StoreError> {
        self.trim(runs, without).map_err(|cause| self.failed(cause))
    }

    fn trim(&self, runs: &[i64], without: Without) -> Result<Vec<u8>, Cause> {
        let mut target = open_in_memory()?;
        // References are whole when all rows are there.
        target.execute_batch("PRAGMA foreign_keys = OFF; BEGIN")?;
        make(&target)?;
        target.execute_batch("DELETE FROM identity_rules; DELETE FROM identity_digests")?;
        let numbers: Vec<String> = runs.iter().map(i64::to_string).collect();
        let numbers = format!("[{}]", numbers.join(","));
        let sources = if without.source { &[] } else { SOURCES };
        for (table, wanted) in TABLES.iter().chain(sources) {
            if !without.is_without(table) {
                self.copy_table(&target, table, wanted, &numbers)?;
            }
        }
        target.execute_batch("COMMIT")?;
        let bytes = target.serialize("main")?.to_vec();
        Ok(bytes)
    }

    fn copy_table(
        &self,
        target: &Connection,
        table: &str,
        wanted: &str,
        runs: &str,
    ) -> Result<(), Cause> {
        let columns = stored_columns(target, table)?;
        let names = columns.join(", ");
        let key = primary_key(target, table)?;
        let select = format!("{WANTED} SELECT {names} FROM {table} WHERE {wanted} ORDER BY {key}");
        let marks = vec!["?"; columns.len()].join(", ");
        let mut insert =
            target.prepare(&format!("INSERT INTO {table} ({names}) VALUES ({marks})"))?;
        let mut statement = self.connection.prepare(&select)?;
        // The statement names the runs only where its condition does.
        if let Some(at) = statement.parameter_index(":runs")? {
            statement.raw_bind_parameter(at, runs)?;
        }
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next()? {
            for at in 0..columns.len() {
                insert.raw_bind_parameter(at + 1, ToSqlOutput::Borrowed(row.get_ref(at)?))?;
            }
            insert.raw_execute()?;
        }
        Ok(())
    }
}

/// The columns of a table that are stored, those that are generated left out.
fn stored_columns(connection: &Connection, table: &str) -> Result<Vec<String>, Cause> {
    let sql = "SELECT name FROM pragma_table_xinfo(?1) WHERE hidden = 0 ORDER BY cid";
    let mut statement = connection.prepare(sql)?;
    let names = statement.query_map([table], |row| row.get(0))?;
    Ok(names.collect::<Result<_, _>>()?)
}

/// The columns by which the rows of a table are in order.
fn primary_key(connection: &Connection, table: &str) -> Result<String, Cause> {
    let sql = "SELECT group_concat(name, ', ' ORDER BY pk) FROM pragma_table_info(?1) WHERE pk > 0";
    Ok(connection.query_row(sql, [table], |row| row.get(0))?)
}
