//! A database for a page, as the statements that make it: tables and views, and the rows that say what runs are. Their figures
//! and trees are not among them: the page has these as columns, and fills them in when a statement asks for them.

use std::fmt::Write as _;

use rusqlite::types::ValueRef;

use super::database::Database;
use super::error::{Cause, StoreError};
use super::schema::statements;

/// Tables in an order in which each comes after those that it refers to, with the rows that belong to the runs of
/// `wanted_runs`. The page fills in `functions`, `identities`, `function_info`, `line_info`, `edges`, `nodes`, `node_costs`,
/// `function_nodes` and `node_labels`: only functions that have source and no figures are here.
const TABLES: &[(&str, &str)] = &[
    ("runs", "run_id IN wanted_runs"),
    ("run_tags", "run_id IN wanted_runs"),
    ("run_properties", "run_id IN wanted_runs"),
    ("notes", "run_id IN wanted_runs"),
    ("metrics", "run_id IN wanted_runs"),
    ("identity_rules", "TRUE"),
    ("identity_digests", "TRUE"),
    ("label_sets", "run_id IN wanted_runs"),
];

/// Tables with the source that is stored with the runs.
const SOURCES: &[(&str, &str)] = &[
    ("functions", "function_id IN wanted_functions"),
    (
        "identities",
        "identity_id IN (SELECT identity_id FROM functions WHERE function_id IN wanted_functions)",
    ),
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

/// What the conditions of the tables name. A run says something of each of its functions in its default metric.
const WANTED: &str = "WITH wanted_runs (run_id) AS (SELECT value FROM json_each(:runs)),
wanted_functions (function_id) AS (
  SELECT function_id FROM run_sources WHERE run_id IN wanted_runs
  EXCEPT
  SELECT function_id FROM function_info WHERE metric_id IN (SELECT default_metric_id FROM runs WHERE run_id IN wanted_runs)
)";

/// Rows that are written together.
const TOGETHER: usize = 100;

impl Database {
    /// The statements that make a database of some runs with all tables and views, and with the source that is stored with
    /// them if that is wanted, but without figures and trees.
    ///
    /// # Errors
    /// When this one cannot be read.
    pub fn trimmed(&self, runs: &[i64], with_source: bool) -> Result<String, StoreError> {
        let mut script = statements();
        let numbers: Vec<String> = runs.iter().map(i64::to_string).collect();
        let numbers = format!("[{}]", numbers.join(","));
        let sources = if with_source { SOURCES } else { &[] };
        for (table, wanted) in TABLES.iter().chain(sources) {
            self.write_table(table, wanted, &numbers, &mut script)
                .map_err(|cause| self.failed(cause))?;
        }
        Ok(script)
    }

    fn write_table(
        &self,
        table: &str,
        wanted: &str,
        runs: &str,
        script: &mut String,
    ) -> Result<(), Cause> {
        let names = self.stored_columns(table)?;
        let select = format!("{WANTED} SELECT {names} FROM {table} WHERE {wanted}");
        let mut statement = self.connection.prepare(&select)?;
        // The statement names the runs only where its condition does.
        if let Some(at) = statement.parameter_index(":runs")? {
            statement.raw_bind_parameter(at, runs)?;
        }
        let columns = statement.column_count();
        let mut rows = statement.raw_query();
        let mut written = 0;
        while let Some(row) = rows.next()? {
            if written % TOGETHER == 0 {
                let end = if written == 0 { "" } else { ";\n" };
                let _ = write!(script, "{end}INSERT INTO {table} ({names}) VALUES\n(");
            } else {
                script.push_str(",\n(");
            }
            for at in 0..columns {
                script.push_str(if at == 0 { "" } else { "," });
                literal(row.get_ref(at)?, script);
            }
            script.push(')');
            written += 1;
        }
        if written > 0 {
            script.push_str(";\n");
        }
        Ok(())
    }

    /// The columns of a table that are stored, those that are generated left out.
    fn stored_columns(&self, table: &str) -> Result<String, Cause> {
        let sql = "SELECT group_concat(name, ', ' ORDER BY cid) FROM pragma_table_xinfo(?1) WHERE hidden = 0";
        let mut statement = self.connection.prepare_cached(sql)?;
        Ok(statement.query_row([table], |row| row.get(0))?)
    }
}

/// Writes a value as statements have it.
fn literal(value: ValueRef<'_>, script: &mut String) {
    // A text takes all.
    let _ = match value {
        ValueRef::Null => write!(script, "NULL"),
        ValueRef::Integer(value) => write!(script, "{value}"),
        ValueRef::Real(value) if value.is_infinite() => {
            write!(script, "{}9e999", if value < 0.0 { "-" } else { "" })
        }
        ValueRef::Real(value) => write!(script, "{value:?}"),
        ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) if !text.contains('\0') => write!(script, "'{}'", text.replace('\'', "''")),
            _ => write!(script, "CAST({} AS TEXT)", hexadecimal(bytes)),
        },
        ValueRef::Blob(bytes) => write!(script, "{}", hexadecimal(bytes)),
    };
}

/// Bytes as statements have them.
fn hexadecimal(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len() + 3);
    text.push_str("x'");
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text.push('\'');
    text
}
