//! Rows of a run for a dataset.

use rusqlite::types::ValueRef;
use rusqlite::{OptionalExtension, Row, params};

use crate::base::query::query;
use crate::store::database::Database;
use crate::store::error::StoreError;
#[cfg(feature = "parquet")]
use crate::store::rows::Tables;

/// A value of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'r> {
    /// Unknown.
    Null,
    /// A whole number.
    Integer(i64),
    /// A cost.
    Real(f64),
    /// A text, which may be a stranger's, and no UTF-8.
    Text(&'r [u8]),
}

/// What a dataset has to know of a run before its rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatasetRun {
    /// Its number.
    pub run_id: i64,
    /// What it is known by in every database.
    pub run_uid: String,
    /// When it was recorded, in UTC, if the file says so: a day, and the time after it.
    pub recorded_utc: Option<String>,
    /// Its first and its last node, if it has any.
    pub nodes: Option<(i64, i64)>,
    /// Numbers and names of its metrics, in their order.
    pub metrics: Vec<(i64, String)>,
    /// Number of the metric of the costs in its nodes.
    pub default_metric: Option<i64>,
}

/// The statements that give the rows of tables.
const SELECTS: [(&str, &str); 10] = [
    query!("dataset/rows", "runs"),
    query!("dataset/rows", "run_tags"),
    query!("dataset/rows", "metrics"),
    query!("dataset/rows", "functions"),
    query!("dataset/rows", "function_keys"),
    query!("dataset/rows", "label_sets"),
    query!("dataset/rows", "run_properties"),
    query!("dataset/rows", "notes"),
    query!("dataset/rows", "run_sources"),
    query!("dataset/rows", "source_texts"),
];

impl Database {
    /// What a dataset has to know of a run; `None` if there is no such run.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn dataset_run(&self, run_id: i64) -> Result<Option<DatasetRun>, StoreError> {
        let read = || -> rusqlite::Result<Option<DatasetRun>> {
            let sql = "SELECT run_uid, recorded_utc, first_node, last_node, default_metric_id FROM runs WHERE run_id = ?1";
            let about = |row: &Row<'_>| {
                let (first, last): (Option<i64>, Option<i64>) = (row.get(2)?, row.get(3)?);
                Ok(DatasetRun {
                    run_id,
                    run_uid: row.get(0)?,
                    recorded_utc: row.get(1)?,
                    nodes: first.zip(last),
                    metrics: Vec::new(),
                    default_metric: row.get(4)?,
                })
            };
            let mut select = self.connection.prepare_cached(sql)?;
            let Some(run) = select.query_row(params![run_id], about).optional()? else {
                return Ok(None);
            };
            let sql = "SELECT metric_id, name FROM metrics WHERE run_id = ?1 ORDER BY position";
            let mut select = self.connection.prepare_cached(sql)?;
            let metrics = select.query_map([run_id], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(Some(DatasetRun {
                metrics: metrics.collect::<rusqlite::Result<_>>()?,
                ..run
            }))
        };
        read().map_err(|source| self.failed(source))
    }

    /// The large tables as they are now. Until this is dropped, all that is read is of one moment.
    ///
    /// # Errors
    /// When the database cannot be read.
    #[cfg(feature = "parquet")]
    pub(crate) fn tables(&self) -> Result<Tables<'_>, StoreError> {
        Tables::of(&self.connection, self.stop()).map_err(|source| self.failed(source))
    }

    /// Calls a function for every row of a run in a table, with its columns but the uid of the run. Functions are their
    /// numbers. Names and order of the columns are those of the file in `queries/dataset/rows`.
    ///
    /// # Errors
    /// When the database cannot be read, or the function fails.
    ///
    /// # Panics
    /// When there is no such table.
    pub fn each_dataset_row(
        &self,
        table: &str,
        run_id: i64,
        mut each: impl FnMut(&[Cell<'_>]),
    ) -> Result<(), StoreError> {
        let (_, sql) = SELECTS
            .iter()
            .find(|(name, _)| *name == table)
            .expect("a table that has rows by SQL");
        let mut read = || -> rusqlite::Result<()> {
            let mut select = self.connection.prepare_cached(sql)?;
            let columns = select.column_count();
            let mut rows = select.query(&[(":run", &run_id)])?;
            while let Some(row) = rows.next()? {
                let mut cells = Vec::with_capacity(columns);
                for at in 0..columns {
                    cells.push(match row.get_ref(at)? {
                        ValueRef::Null => Cell::Null,
                        ValueRef::Integer(value) => Cell::Integer(value),
                        ValueRef::Real(value) => Cell::Real(value),
                        ValueRef::Text(value) | ValueRef::Blob(value) => Cell::Text(value),
                    });
                }
                each(&cells);
            }
            Ok(())
        };
        read().map_err(|source| self.failed(source))
    }

    /// The error for what SQLite says of rows of the large tables.
    #[cfg(feature = "parquet")]
    pub(crate) fn damaged_rows(&self, source: rusqlite::Error) -> StoreError {
        self.failed(source)
    }
}
