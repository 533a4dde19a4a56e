//! Copying one run from a database to another, where it gets other ids.

use std::borrow::Cow;

use hashbrown::{DefaultHashBuilder, HashMap};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{OptionalExtension, Row, ToSql, params};

use super::tables::{BY_METRIC, BY_RUN, Id, LARGE_BY_RUN, METRICS, RUNS, Table};
use crate::events::{FunctionDef, Kind, MetricId};
use crate::identity::{IdentityKey, Rules};
use crate::source::Stopped;
use crate::store::database::Database;
use crate::store::error::{Cause, StoreError};
use crate::store::fingerprint::Figures;
use crate::store::write::{CopiedRows, Ids, StoredFunction, function_id};

/// Rows between two looks at [`crate::base::error::Stop`], and two reports of progress.
const ROWS_BETWEEN_LOOKS: u64 = 10_000;

/// Identities in the target, by ids of functions in the source.
type Identities = HashMap<i64, IdentityKey, DefaultHashBuilder>;

/// A run that is copied.
pub(super) struct RunCopy<'d> {
    pub(super) source: &'d Database,
    target: &'d Database,
    pub(super) old_run: i64,
    pub(super) new_run: i64,
    /// The first and the last node there.
    pub(super) old_nodes: Option<(i64, i64)>,
    /// What is added to the ids of nodes.
    nodes: i64,
    /// Old and new ids.
    pub(super) metrics: Vec<(i64, i64)>,
    pub(super) functions: HashMap<i64, i64, DefaultHashBuilder>,
    sources: HashMap<i64, i64, DefaultHashBuilder>,
    identities: TargetIdentities<'d>,
    /// How many rows have been copied.
    pub(super) rows: u64,
    progress: &'d mut dyn FnMut(u64),
}

/// How the target identifies functions.
#[derive(Clone, Copy)]
pub(super) struct TargetIdentities<'d> {
    pub(super) rules: &'d Rules,
    /// The source has other rules.
    pub(super) are_other: bool,
}

impl<'d> RunCopy<'d> {
    /// Begins to copy a run; `rows` have been copied before.
    pub(super) fn new(
        (source, target): (&'d Database, &'d Database),
        identities: TargetIdentities<'d>,
        ids: &Ids,
        run: i64,
        rows: u64,
        progress: &'d mut dyn FnMut(u64),
    ) -> Result<Self, StoreError> {
        let read = || -> rusqlite::Result<_> {
            let sql = "SELECT first_node, last_node FROM runs WHERE run_id = ?1";
            let nodes = |row: &Row<'_>| -> rusqlite::Result<(Option<i64>, Option<i64>)> {
                Ok((row.get(0)?, row.get(1)?))
            };
            let (first, last) = source.connection.query_row(sql, [run], nodes)?;
            let sql = "SELECT metric_id FROM metrics WHERE run_id = ?1 ORDER BY position";
            let mut statement = source.connection.prepare(sql)?;
            let metrics = statement
                .query_map([run], |row| row.get(0))?
                .collect::<rusqlite::Result<Vec<i64>>>()?;
            Ok((first.zip(last), metrics))
        };
        let (old_nodes, metrics) = read().map_err(|error| source.failed(error))?;
        let first = old_nodes.map_or(1, |(first, _)| first);
        let nodes = (ids.node(1).0)
            .checked_sub(first)
            .ok_or_else(|| source.failed(out_of_range()))?;
        let metrics = (0..)
            .zip(metrics)
            .map(|(at, old)| (old, ids.metric(MetricId(at)).0))
            .collect();
        let (functions, sources) = (HashMap::default(), HashMap::default());
        Ok(Self {
            source,
            target,
            old_run: run,
            old_nodes,
            nodes,
            new_run: 0,
            metrics,
            functions,
            sources,
            identities,
            rows,
            progress,
        })
    }

    /// Copies all of it, the rows of large tables into `pages` if there are any; returns its id in
    /// the other database.
    pub(super) fn run(&mut self, pages: Option<&mut CopiedRows>) -> Result<i64, StoreError> {
        self.table(&RUNS, self.old_run)?;
        // Every other table needs the id that the run gets here.
        self.new_run = self.target.connection.last_insert_rowid();
        self.table(&METRICS, self.old_run)?;
        // Functions come before the rows that mention them, whose ids are looked up in what this
        // has found.
        let identities = self.functions()?;
        if self.identities.are_other {
            self.fingerprint(&identities)?;
        }
        for table in BY_RUN {
            self.table(table, self.old_run)?;
        }
        if let Some(pages) = pages {
            self.large_tables(pages)?;
            return Ok(self.new_run);
        }
        for table in LARGE_BY_RUN {
            self.table(table, self.old_run)?;
        }
        for table in BY_METRIC {
            for (metric, _) in self.metrics.clone() {
                self.table(table, metric)?;
            }
        }
        Ok(self.new_run)
    }

    /// Copies the rows of a table that belong to a run or metric.
    fn table(&mut self, table: &Table, key: i64) -> Result<(), StoreError> {
        let Table {
            name,
            ids,
            columns,
            rows,
            order,
        } = table;
        let (source, target) = (self.source, self.target);
        let from_source = |error| source.failed(error);
        let to_target = |error| target.failed(error);
        let others = columns
            .split(',')
            .map(str::trim)
            .filter(|column| !column.is_empty());
        let columns: Vec<&str> = ids
            .iter()
            .map(|(column, _)| *column)
            .chain(others)
            .collect();
        let list = columns.join(", ");
        let select = format!("SELECT {list} FROM {name} WHERE {rows} ORDER BY {order}");
        let marks = vec!["?"; columns.len()].join(", ");
        let insert = format!("INSERT INTO {name} ({list}) VALUES ({marks})");
        let mut select = source.connection.prepare(&select).map_err(from_source)?;
        let mut insert = target.connection.prepare(&insert).map_err(to_target)?;
        let mut rows = select.query([key]).map_err(from_source)?;
        while let Some(row) = rows.next().map_err(from_source)? {
            for at in 0..columns.len() {
                let value = if let Some((_, id)) = ids.get(at) {
                    let old: Option<i64> = row.get(at).map_err(from_source)?;
                    ToSqlOutput::Owned(old.map(|old| self.new_id(*id, old)).transpose()?.into())
                } else {
                    ToSqlOutput::Borrowed(row.get_ref(at).map_err(from_source)?)
                };
                insert
                    .raw_bind_parameter(at + 1, value)
                    .map_err(to_target)?;
            }
            insert.raw_execute().map_err(to_target)?;
            self.count()?;
        }
        Ok(())
    }

    /// Counts a row. From time to time, reports progress and looks whether to stop.
    pub(super) fn count(&mut self) -> Result<(), StoreError> {
        self.rows += 1;
        if self.rows.is_multiple_of(ROWS_BETWEEN_LOOKS) {
            (self.progress)(self.rows);
            if self.target.lock_wait.stop.is_set() {
                return Err(Stopped.into());
            }
        }
        Ok(())
    }

    /// The id in the target for one of the source.
    pub(super) fn new_id(&mut self, id: Id, old: i64) -> Result<i64, StoreError> {
        let found = match id {
            Id::Run => Some(self.new_run),
            Id::Metric => self
                .metrics
                .iter()
                .find(|(metric, _)| *metric == old)
                .map(|(_, new)| *new),
            Id::Node => old.checked_add(self.nodes),
            Id::Caller if old == 0 => Some(0),
            Id::Function | Id::Caller => self.functions.get(&old).copied(),
            Id::Source => return self.text(old),
        };
        found.ok_or_else(|| self.source.failed(out_of_range()))
    }

    /// The error for a cause, said of the target.
    pub(super) fn target_failed(&self, cause: Cause) -> StoreError {
        self.target.failed(cause)
    }

    /// Gives the functions that the run mentions ids in the target: new ones in the order of their
    /// ids in the source. Returns their identities there, by their ids in the source.
    fn functions(&mut self) -> Result<Identities, StoreError> {
        let mut identities = Identities::default();
        let (source, target) = (self.source, self.target);
        let from_source = |error| source.failed(error);
        let sql = "SELECT function_id, kind, name, module, file, first_line, first_col, raw_name
                   FROM functions
                   WHERE function_id IN (
                     SELECT i.function_id FROM metrics AS m JOIN function_info AS i ON i.metric_id = m.metric_id
                     WHERE m.run_id = ?1
                   )
                   ORDER BY function_id";
        let mut select = source.connection.prepare(sql).map_err(from_source)?;
        let mut rows = select.query([self.old_run]).map_err(from_source)?;
        while let Some(row) = rows.next().map_err(from_source)? {
            let values: rusqlite::Result<Vec<_>> = (1..8).map(|at| row.get_ref(at)).collect();
            let values = values.map_err(from_source)?;
            // A stranger's text may be no UTF-8.
            let text = |at: usize| match values[at] {
                ValueRef::Text(text) => String::from_utf8_lossy(text),
                _ => Cow::Borrowed(""),
            };
            let (kind, name, module, file) = (text(0), text(1), text(2), text(3));
            let identity = self.identities.rules.identity(&FunctionDef {
                kind: Kind::by_name(&kind).unwrap_or_default(),
                module: &module,
                file: &file,
                ..FunctionDef::named(&name)
            });
            let key = identity.key();
            let values: Vec<_> = values.into_iter().map(ToSqlOutput::Borrowed).collect();
            let values: [&dyn ToSql; 7] = std::array::from_fn(|at| &values[at] as &dyn ToSql);
            let new = function_id(&target.connection, values, &identity, &key);
            let old = row.get(0).map_err(from_source)?;
            identities.insert(old, key);
            let StoredFunction(new) = new.map_err(|error| target.failed(error))?;
            self.functions.insert(old, new);
            self.count()?;
        }
        Ok(identities)
    }

    /// Computes the fingerprint of the run again, because it depends on the identities.
    fn fingerprint(&self, identities: &Identities) -> Result<(), StoreError> {
        let read = || -> rusqlite::Result<Figures> {
            let connection = &self.source.connection;
            let mut figures = Figures::new();
            let mut metric =
                connection.prepare("SELECT name, unit FROM metrics WHERE metric_id = ?1")?;
            let sql =
                "SELECT function_id, calls, exclusive FROM function_info WHERE metric_id = ?1";
            let mut infos = connection.prepare(sql)?;
            for (old, _) in &self.metrics {
                let (name, unit): (String, String) =
                    metric.query_row([old], |row| Ok((row.get(0)?, row.get(1)?)))?;
                figures.metric(&name, &unit);
                let mut rows = infos.query([old])?;
                while let Some(row) = rows.next()? {
                    let key = identities
                        .get(&row.get::<_, i64>(0)?)
                        .ok_or_else(out_of_range)?;
                    figures.row(key, row.get(1)?, row.get(2)?);
                }
            }
            Ok(figures)
        };
        read()
            .map_err(|error| self.source.failed(error))?
            .store(&self.target.connection, self.new_run)
            .map_err(|error| self.target.failed(error))
    }

    /// The id of a source text in the target, with the lines that the run has of it.
    fn text(&mut self, old: i64) -> Result<i64, StoreError> {
        if let Some(new) = self.sources.get(&old) {
            return Ok(*new);
        }
        let (source, target) = (self.source, self.target);
        let from_source = |error| source.failed(error);
        let sql = "SELECT sha256, first_line FROM sources WHERE source_id = ?1";
        let key: Option<(String, i64)> = source
            .connection
            .query_row(sql, [old], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()
            .map_err(from_source)?;
        let (sha256, first_line) = key.ok_or_else(|| source.failed(out_of_range()))?;
        let new = (|| -> rusqlite::Result<i64> {
            let key = params![sha256, first_line];
            let sql =
                "INSERT INTO sources (sha256, first_line) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
            target.connection.execute(sql, key)?;
            let sql = "SELECT source_id FROM sources WHERE sha256 = ?1 AND first_line = ?2";
            target.connection.query_row(sql, key, |row| row.get(0))
        })();
        let new = new.map_err(|error| target.failed(error))?;
        self.sources.insert(old, new);
        let sql = "SELECT line, text FROM source_texts WHERE source_id = ?1 ORDER BY line";
        let mut select = source.connection.prepare(sql).map_err(from_source)?;
        let mut rows = select.query([old]).map_err(from_source)?;
        while let Some(row) = rows.next().map_err(from_source)? {
            let (line, text): (i64, String) = (
                row.get(0).map_err(from_source)?,
                row.get(1).map_err(from_source)?,
            );
            let sql = "INSERT INTO source_texts (source_id, line, text) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
            let inserted = target
                .connection
                .prepare_cached(sql)
                .and_then(|mut insert| insert.execute(params![new, line, text]));
            inserted.map_err(|error| target.failed(error))?;
            self.count()?;
        }
        Ok(new)
    }
}

/// An id that nothing has, which the checks should have found.
fn out_of_range() -> rusqlite::Error {
    let error = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
    rusqlite::Error::SqliteFailure(
        error,
        Some("a reference to a row that does not exist".to_owned()),
    )
}
