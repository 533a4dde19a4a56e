//! Runs of other databases, put behind those of one. A run is known by its `run_uid`, so that the
//! same run twice is one.
//!
//! The other database may be a stranger's, and is believed in nothing: its tables have to be those
//! that this program makes, so that reading them runs no code of its own, and it has to pass every
//! check before a run is taken out of it.

use std::collections::HashMap;
use std::path::Path;

use rusqlite::types::ToSqlOutput;
use rusqlite::{Connection, OpenFlags, OptionalExtension, params, params_from_iter};

use super::identity::{RunMeta, run_with_uid, tags, title};
use super::write::{Ids, Outcome, function_id};
use super::{
    Database, Patience, StoreError, VERSION, bring_up_to_date, is_not_writable, needs_recovery,
    stale_views,
};
use crate::events::MetricId;
use crate::source::Stopped;

/// Rows between two looks at [`crate::base::error::Stop`], and two reports of progress.
const ROWS_BETWEEN_LOOKS: u64 = 10_000;

/// Refers to something whose number in this database is another.
#[derive(Clone, Copy)]
enum Id {
    Run,
    Metric,
    Node,
    Function,
    /// A function, or 0.
    Caller,
    Source,
}

/// A table, and what of it belongs to a run.
struct Table {
    name: &'static str,
    /// Columns that refer to something.
    ids: &'static [(&'static str, Id)],
    /// The others.
    columns: &'static str,
    /// Which rows: `?1` is the run, or a metric of it.
    rows: &'static str,
    order: &'static str,
}

const RUNS: Table = Table {
    name: "runs",
    // A run without a default metric, or without nodes, keeps NULL there.
    ids: &[("default_metric_id", Id::Metric), ("first_node", Id::Node), ("last_node", Id::Node)],
    columns: "run_uid, title, format, fidelity, source_name, source_sha256, source_bytes, tool_version, command,
              recorded_at, imported_at, timer_bias, bias_applied, profdb_version",
    rows: "run_id = ?1",
    order: "run_id",
};

const METRICS: Table = Table {
    name: "metrics",
    ids: &[("metric_id", Id::Metric), ("run_id", Id::Run)],
    columns: "name, unit, position, total, total_source, timer_readings",
    rows: "run_id = ?1",
    order: "position",
};

/// What is found by the number of the run.
const BY_RUN: &[Table] = &[
    Table {
        name: "nodes",
        ids: &[("node_id", Id::Node), ("function_id", Id::Function)],
        columns: "up, size, depth, calls, exclusive, line, cumulative_other, outer_up, col, file",
        rows: "node_id BETWEEN (SELECT first_node FROM runs WHERE run_id = ?1)
                           AND (SELECT last_node FROM runs WHERE run_id = ?1)",
        order: "node_id",
    },
    Table {
        name: "function_nodes",
        ids: &[
            ("run_id", Id::Run),
            ("function_id", Id::Function),
            ("node_id", Id::Node),
        ],
        columns: "",
        rows: "run_id = ?1",
        order: "function_id, node_id",
    },
    Table {
        name: "run_tags",
        ids: &[("run_id", Id::Run)],
        columns: "key, value",
        rows: "run_id = ?1",
        order: "key",
    },
    Table {
        name: "run_properties",
        ids: &[("run_id", Id::Run)],
        columns: "key, value",
        rows: "run_id = ?1",
        order: "key",
    },
    Table {
        name: "notes",
        ids: &[("run_id", Id::Run)],
        columns: "severity, byte, line, message",
        rows: "run_id = ?1",
        order: "note_id",
    },
    Table {
        name: "label_sets",
        ids: &[("run_id", Id::Run)],
        columns: "set_id, key, value, unit",
        rows: "run_id = ?1",
        order: "set_id, key, value, unit",
    },
    Table {
        name: "run_sources",
        ids: &[
            ("run_id", Id::Run),
            ("function_id", Id::Function),
            ("source_id", Id::Source),
        ],
        columns: "file",
        rows: "run_id = ?1",
        order: "function_id, file",
    },
];

/// What is found by the number of a metric.
const BY_METRIC: &[Table] = &[
    Table {
        name: "node_costs",
        ids: &[("metric_id", Id::Metric), ("node_id", Id::Node)],
        columns: "exclusive, cumulative_other",
        rows: "metric_id = ?1",
        order: "node_id",
    },
    Table {
        name: "function_info",
        ids: &[("metric_id", Id::Metric), ("function_id", Id::Function)],
        columns: "calls, primitive, exclusive, cumulative, seen, recorded",
        rows: "metric_id = ?1",
        order: "function_id",
    },
    Table {
        name: "line_info",
        ids: &[("metric_id", Id::Metric), ("function_id", Id::Function)],
        columns: "file, line, col, calls, exclusive, cumulative, recorded",
        rows: "metric_id = ?1",
        order: "function_id, file, line, col",
    },
    Table {
        name: "edges",
        ids: &[
            ("metric_id", Id::Metric),
            ("callee_id", Id::Function),
            ("caller_id", Id::Caller),
        ],
        columns: "caller_line, caller_col, back, calls, exclusive, cumulative, outermost_other, seen_other",
        rows: "metric_id = ?1",
        order: "callee_id, caller_id, caller_line, caller_col, back",
    },
    Table {
        name: "node_labels",
        ids: &[("metric_id", Id::Metric), ("node_id", Id::Node)],
        columns: "set_id, exclusive",
        rows: "metric_id = ?1",
        order: "node_id, set_id",
    },
];

/// What became of a run of another database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// Which of the databases it is from.
    pub source: usize,
    /// Its number there.
    pub run: i64,
    /// Its number here, and whether it is new.
    pub outcome: Outcome,
    /// Its nodes.
    pub nodes: i64,
    /// What is said of it there and now here, too, if the run was there already: `KEY=VALUE` of
    /// tags, or a title.
    pub added: Vec<String>,
    /// The same, where something else is said here, which stays.
    pub refused: Vec<String>,
}

impl Database {
    /// Opens a database to take runs out of it: for reading only, and nothing in it is brought up
    /// to date.
    ///
    /// # Errors
    /// When it cannot be read as it is.
    pub fn open_source(path: &Path, patience: &Patience) -> Result<Self, StoreError> {
        if !path.exists() {
            return Err(StoreError::Missing(path.to_owned()));
        }
        let opened = Self::with_flags(
            path,
            OpenFlags::SQLITE_OPEN_READ_ONLY,
            false,
            patience.clone(),
        );
        let source = opened.map_err(|error| match error {
            StoreError::Sqlite { source, .. } if is_not_writable(&source) => needs_recovery(path)
                .unwrap_or(StoreError::Sqlite {
                    path: path.to_owned(),
                    source,
                }),
            error => error,
        })?;
        if source.found < VERSION {
            return Err(StoreError::OlderSource {
                path: path.to_owned(),
                found: source.found,
            });
        }
        Ok(source)
    }

    /// Adds the runs of other databases that this one lacks, all of them or, on error, none.
    /// `progress` is called with the number of rows so far.
    ///
    /// # Errors
    /// When one of the others is not sound or cannot be read, or this one not be written.
    pub fn merge(
        &mut self,
        sources: &[Self],
        progress: &mut dyn FnMut(u64),
    ) -> Result<Vec<Merged>, StoreError> {
        loop {
            match self.merge_once(sources, progress) {
                // Somebody else has made the database meanwhile.
                Err(error) if error.is_there_by_now() => {
                    *self = Self::open_patiently(&self.path, self.patience.clone())?;
                    self.heed(self.patience.stop.clone())?;
                }
                merged => return merged,
            }
        }
    }

    fn merge_once(
        &mut self,
        sources: &[Self],
        progress: &mut dyn FnMut(u64),
    ) -> Result<Vec<Merged>, StoreError> {
        self.begin()?;
        let merged = self
            .merge_all(sources, progress)
            .and_then(|(merged, has_changed)| {
                if has_changed {
                    self.commit()?;
                } else {
                    self.is_in_place()?;
                }
                Ok(merged)
            });
        let is_changed = self.connection.is_autocommit();
        self.end();
        let merged = merged?;
        if is_changed {
            self.publish()?;
        }
        Ok(merged)
    }

    /// Puts the one run of a new file, which could not have its name because somebody else has made
    /// a database there meanwhile, into that database, and opens that instead.
    pub(super) fn add_to_what_is_there(&mut self, meta: &RunMeta) -> Result<Outcome, StoreError> {
        let mut there = Self::open_patiently(&self.path, self.patience.clone())?;
        there.heed(self.patience.stop.clone())?;
        let mut repeat = 0;
        loop {
            let merged = there.merge(std::slice::from_ref(self), &mut |_| ())?;
            let [Merged { outcome, .. }] = merged[..] else {
                return Err(self.inconsistent("expected one run in a new file"));
            };
            if meta.again && matches!(outcome, Outcome::AlreadyThere(_)) {
                repeat += 1;
                let renamed = self
                    .connection
                    .execute("UPDATE runs SET run_uid = ?1", [meta.uid(repeat)]);
                renamed.map_err(|source| self.failed(source))?;
                continue;
            }
            *self = there;
            return Ok(outcome);
        }
    }

    /// What became of all runs, and whether anything has changed by that.
    fn merge_all(
        &self,
        sources: &[Self],
        progress: &mut dyn FnMut(u64),
    ) -> Result<(Vec<Merged>, bool), StoreError> {
        bring_up_to_date(&self.connection).map_err(|cause| self.failed(cause))?;
        let mut merged = Vec::new();
        let mut has_changed = false;
        let mut rows = 0;
        for (at, source) in sources.iter().enumerate() {
            let from_source = |error| source.failed(error);
            // What is read is what has been checked.
            let _reading = source
                .connection
                .unchecked_transaction()
                .map_err(from_source)?;
            let mut is_checked = false;
            for (run, uid, nodes) in runs(&source.connection).map_err(from_source)? {
                let there =
                    run_with_uid(&self.connection, &uid).map_err(|error| self.failed(error))?;
                let said = match there {
                    Some(there) => self.differences(there, source, run)?,
                    None => Said::default(),
                };
                if !is_checked && (there.is_none() || !said.is_empty()) {
                    source.is_sound()?;
                    is_checked = true;
                }
                let outcome = if let Some(there) = there {
                    has_changed |= self
                        .unite(there, &said)
                        .map_err(|error| self.failed(error))?;
                    Outcome::AlreadyThere(there)
                } else {
                    has_changed = true;
                    let ids = Ids::behind(&self.connection).map_err(|error| self.failed(error))?;
                    let mut copy = Copy::new(source, self, &ids, run, rows, progress)?;
                    let stored = copy.run()?;
                    rows = copy.rows;
                    Outcome::Stored(stored)
                };
                let (added, refused) = (said.added(), said.refused());
                merged.push(Merged {
                    source: at,
                    run,
                    outcome,
                    nodes,
                    added,
                    refused,
                });
            }
        }
        Ok((merged, has_changed))
    }

    /// What the user has said of a run elsewhere that is not said of it here.
    fn differences(&self, here: i64, source: &Self, there: i64) -> Result<Said, StoreError> {
        let read = |database: &Self, run| -> rusqlite::Result<_> {
            Ok((
                title(&database.connection, run)?,
                tags(&database.connection, run)?,
            ))
        };
        let (our_title, our_tags) = read(self, here).map_err(|error| self.failed(error))?;
        let (title, tags) = read(source, there).map_err(|error| source.failed(error))?;
        let title = title.filter(|title| our_title.as_ref() != Some(title));
        let our_tags: HashMap<_, _> = our_tags.into_iter().collect();
        let tags = tags
            .into_iter()
            .map(|(key, value)| (our_tags.get(&key).cloned(), key, value));
        let tags = tags
            .filter(|(ours, _, value)| ours.as_ref() != Some(value))
            .collect();
        Ok(Said {
            title: title.map(|title| (our_title, title)),
            tags,
        })
    }

    /// Says of a run what was said of it elsewhere. What is said here already stays, with a note.
    /// Whether anything has changed.
    fn unite(&self, run: i64, said: &Said) -> rusqlite::Result<bool> {
        let mut changed = 0;
        let mut notes = Vec::new();
        match &said.title {
            Some((None, title)) => {
                changed += self.connection.execute(
                    "UPDATE runs SET title = ?2 WHERE run_id = ?1",
                    params![run, title],
                )?;
            }
            Some((Some(ours), title)) => {
                notes.push(format!(
                    "merged with a run whose title is {title}: {ours} is kept"
                ));
            }
            None => {}
        }
        for (ours, key, value) in &said.tags {
            if let Some(ours) = ours {
                notes.push(format!(
                    "merged with a run whose tag {key} is {value}: {ours} is kept"
                ));
            } else {
                let sql = "INSERT INTO run_tags (run_id, key, value) VALUES (?1, ?2, ?3)";
                changed += self.connection.execute(sql, params![run, key, value])?;
            }
        }
        for note in notes {
            // Merging once more has nothing more to remark.
            let sql = "INSERT INTO notes (run_id, severity, message)
                       SELECT ?1, 'info', ?2
                       WHERE NOT EXISTS (SELECT 1 FROM notes WHERE run_id = ?1 AND message = ?2)";
            changed += self.connection.execute(sql, params![run, note])?;
        }
        Ok(changed > 0)
    }

    /// Fails unless its views, which checks read, are ours, and no check finds anything. Its tables
    /// have been looked at when it was opened.
    fn is_sound(&self) -> Result<(), StoreError> {
        if !stale_views(&self.connection)
            .map_err(|error| self.failed(error))?
            .is_empty()
        {
            return Err(StoreError::OtherViews {
                path: self.path.clone(),
            });
        }
        match self.check()?.len() {
            0 => Ok(()),
            findings => Err(StoreError::Unsound {
                path: self.path.clone(),
                findings,
            }),
        }
    }
}

/// What the user has said of a run in another database, and this one does not say.
#[derive(Default)]
struct Said {
    /// Our title, and the other.
    title: Option<(Option<String>, String)>,
    /// Our value of a tag, its key, and the other value.
    tags: Vec<(Option<String>, String, String)>,
}

impl Said {
    fn is_empty(&self) -> bool {
        self.title.is_none() && self.tags.is_empty()
    }

    fn added(&self) -> Vec<String> {
        self.listed(Option::is_none)
    }

    fn refused(&self) -> Vec<String> {
        self.listed(Option::is_some)
    }

    /// That of which our own part is like this.
    fn listed(&self, is_wanted: fn(&Option<String>) -> bool) -> Vec<String> {
        let title = self
            .title
            .iter()
            .filter(|(ours, _)| is_wanted(ours))
            .map(|(_, title)| format!("title {title}"));
        let tags = self.tags.iter().filter(|(ours, ..)| is_wanted(ours));
        title
            .chain(tags.map(|(_, key, value)| format!("{key}={value}")))
            .collect()
    }
}

/// The runs of a database: number, identity, nodes.
fn runs(connection: &Connection) -> rusqlite::Result<Vec<(i64, String, i64)>> {
    let sql =
        "SELECT run_id, run_uid, COALESCE(last_node - first_node + 1, 0) FROM runs ORDER BY run_id";
    let mut statement = connection.prepare(sql)?;
    statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect()
}

/// A run on its way from one database to another.
struct Copy<'d> {
    source: &'d Database,
    target: &'d Database,
    old_run: i64,
    /// What is added to the numbers of nodes.
    nodes: i64,
    new_run: i64,
    metrics: Vec<(i64, i64)>,
    functions: HashMap<i64, i64>,
    sources: HashMap<i64, i64>,
    rows: u64,
    progress: &'d mut dyn FnMut(u64),
}

impl<'d> Copy<'d> {
    fn new(
        source: &'d Database,
        target: &'d Database,
        ids: &Ids,
        run: i64,
        rows: u64,
        progress: &'d mut dyn FnMut(u64),
    ) -> Result<Self, StoreError> {
        let read = || -> rusqlite::Result<_> {
            let sql = "SELECT COALESCE(first_node, 1) FROM runs WHERE run_id = ?1";
            let first: i64 = source.connection.query_row(sql, [run], |row| row.get(0))?;
            let sql = "SELECT metric_id FROM metrics WHERE run_id = ?1 ORDER BY position";
            let mut statement = source.connection.prepare(sql)?;
            let metrics = statement
                .query_map([run], |row| row.get(0))?
                .collect::<rusqlite::Result<Vec<i64>>>()?;
            Ok((first, metrics))
        };
        let (first, metrics) = read().map_err(|error| source.failed(error))?;
        let nodes = (ids.node(1))
            .checked_sub(first)
            .ok_or_else(|| source.failed(out_of_range()))?;
        let metrics = (0..)
            .zip(metrics)
            .map(|(at, old)| (old, ids.metric(MetricId(at))))
            .collect();
        let (functions, sources) = (HashMap::new(), HashMap::new());
        Ok(Self {
            source,
            target,
            old_run: run,
            nodes,
            new_run: 0,
            metrics,
            functions,
            sources,
            rows,
            progress,
        })
    }

    /// Copies all of it; its number in the other database.
    fn run(&mut self) -> Result<i64, StoreError> {
        self.table(&RUNS, self.old_run)?;
        self.new_run = self.target.connection.last_insert_rowid();
        self.table(&METRICS, self.old_run)?;
        self.functions()?;
        for table in BY_RUN {
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

    fn count(&mut self) -> Result<(), StoreError> {
        self.rows += 1;
        if self.rows.is_multiple_of(ROWS_BETWEEN_LOOKS) {
            (self.progress)(self.rows);
            if self.target.patience.stop.is_set() {
                return Err(Stopped.into());
            }
        }
        Ok(())
    }

    fn new_id(&mut self, id: Id, old: i64) -> Result<i64, StoreError> {
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

    /// Gives the functions that the run mentions a number here: those that are new, in the order of
    /// their numbers there.
    fn functions(&mut self) -> Result<(), StoreError> {
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
            let values: Vec<_> = values
                .map_err(from_source)?
                .into_iter()
                .map(ToSqlOutput::Borrowed)
                .collect();
            let new = function_id(
                &target.connection,
                params_from_iter(&values),
                params_from_iter(&values[..6]),
            );
            let old = row.get(0).map_err(from_source)?;
            self.functions
                .insert(old, new.map_err(|error| target.failed(error))?);
            self.count()?;
        }
        Ok(())
    }

    /// The number of a source text here, which gets the lines that it has there.
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

/// A number that leads nowhere, which the checks should have found.
fn out_of_range() -> rusqlite::Error {
    let error = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
    rusqlite::Error::SqliteFailure(error, Some("a number leads nowhere".to_owned()))
}
