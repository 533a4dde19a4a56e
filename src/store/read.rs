//! Reading what is known of runs.

use std::fmt;
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{OptionalExtension, Row, params};

use super::combination::CombinedRuns;
use super::database::Database;
use super::error::StoreError;
use super::file::lock_wait::READING;
use super::identity::{self, RunMeta};
use super::write::integer;
use crate::events::Noise;

/// A run, as far as reports need to know it.
#[derive(Clone, Debug, PartialEq)]
pub struct RunInfo {
    /// Its number.
    pub run_id: i64,
    /// Its title, else the name of its file.
    pub name: String,
    /// `tree`, `edges` or `flat`.
    pub fidelity: String,
    /// Its default metric; `None` if nothing was measured.
    pub default_metric: Option<String>,
    /// Its title, if it has one.
    pub title: Option<String>,
    /// Version of the profiler, if it is known.
    pub tool_version: Option<String>,
    /// Cost of reading the profiler's timer once, in ns, if it is known.
    pub timer_bias: Option<f64>,
    /// What has been subtracted from the times, in ns per tick, if it is known.
    pub bias_applied: Option<f64>,
    /// It has figures of lines.
    pub knows_lines: bool,
    /// The file that it was read from for one question, if it is not stored: its number then says nothing to a user.
    pub file: Option<String>,
    /// The format of its file.
    pub format: String,
    /// The runs that it combines, if it does.
    pub combined: Option<CombinedRuns>,
}

impl RunInfo {
    /// What messages call it: by its number, or by the name of the file that was asked.
    #[must_use]
    pub fn said(&self) -> String {
        match self.file.as_deref() {
            None => format!("run {}", self.run_id),
            Some("-") => "standard input".to_owned(),
            Some(file) => file.to_owned(),
        }
    }
}

/// A metric of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricInfo {
    /// Its number.
    pub metric_id: i64,
    /// Its name.
    pub name: String,
    /// `ns`, `bytes` or `count`.
    pub unit: String,
    /// The whole run, in the unit.
    pub total: f64,
    /// It counts how often the profiler's timer was read.
    pub timer_readings: bool,
    /// How its costs differ between recordings of one program.
    pub noise: Noise,
    /// Number of the metric that counts the samples behind its costs.
    pub observations: Option<i64>,
    /// What each sample adds, in the unit.
    pub quantum: Option<f64>,
}

/// Everything that is known of a run besides its figures.
#[derive(Clone, Debug, PartialEq)]
pub struct RunState {
    /// Names and values of the columns of `runs`, in their order.
    pub columns: Vec<(String, Option<String>)>,
    /// What the file says and no column holds.
    pub properties: Vec<(String, String)>,
    /// What the user says.
    pub tags: Vec<(String, String)>,
    /// What was measured.
    pub metrics: Vec<MetricInfo>,
    /// What there was to remark.
    pub notes: Vec<NoteInfo>,
}

/// A remark about the file of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteInfo {
    /// `warning` or `info`.
    pub severity: String,
    /// Bytes before its place in the file.
    pub byte: Option<i64>,
    /// Line of its place in the file.
    pub line: Option<i64>,
    /// What is said.
    pub message: String,
}

impl fmt::Display for NoteInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.byte) {
            (Some(line), Some(byte)) => write!(f, "line {line} (byte {byte}): {}", self.message),
            (None, Some(byte)) => write!(f, "byte {byte}: {}", self.message),
            _ => write!(f, "{}", self.message),
        }
    }
}

impl Database {
    /// The run with this content, format and revision, and with the title and tags that are given,
    /// if there is one.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn find_run(&self, meta: &RunMeta) -> Result<Option<i64>, StoreError> {
        let found = meta.equal_run(&self.connection);
        found
            .map(|(run, _)| run)
            .map_err(|source| self.failed(source))
    }

    /// Returns runs among `runs` with the first run that has their content and title, and tags that differ: one of the two lacks a
    /// tag. A tag with two values tells runs of one content apart.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn duplicates(&self, runs: &[i64]) -> Result<Vec<(i64, i64)>, StoreError> {
        let ask = || {
            let sql = "SELECT run.run_id, other.run_id
                       FROM runs AS run CROSS JOIN runs AS other USING (source_sha256)
                       WHERE run.run_id BETWEEN ?1 AND ?2 AND other.run_id < run.run_id AND other.format = run.format
                         AND other.title IS run.title
                         AND NOT EXISTS (SELECT 1 FROM run_tags AS t JOIN run_tags AS o USING (key)
                                         WHERE t.run_id = run.run_id AND o.run_id = other.run_id AND o.value <> t.value)
                         AND (SELECT COUNT(*) FROM run_tags AS t WHERE t.run_id = run.run_id)
                             <> (SELECT COUNT(*) FROM run_tags AS o WHERE o.run_id = other.run_id)
                       ORDER BY run.run_id, other.run_id";
            let mut statement = self.connection.prepare(sql)?;
            let range = params![runs.iter().min(), runs.iter().max()];
            let pairs = statement.query_map(range, |row| Ok((row.get(0)?, row.get(1)?)))?;
            pairs.collect::<rusqlite::Result<Vec<(i64, i64)>>>()
        };
        let mut pairs = ask().map_err(|source| self.failed(source))?;
        pairs.retain(|(run, _)| runs.contains(run));
        pairs.dedup_by_key(|(run, _)| *run);
        Ok(pairs)
    }

    /// Whether the file of a run has this size: only then can the run of such a file be there
    /// already.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn has_source_of_size(&self, bytes: u64) -> Result<bool, StoreError> {
        let ask = |sql| self.connection.prepare_cached(sql);
        // The first question to a database that has been open for a while: another program may have
        // begun to change it.
        self.connection
            .busy_timeout(Duration::ZERO)
            .map_err(|source| self.failed(source))?;
        let found = self.wait(|| {
            // One look at all runs for many files: each of its own would be slow where there are
            // many of both.
            let now = ask("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
            let mut sizes = self.source_sizes.borrow_mut();
            let known = match sizes.take() {
                Some(known) if known.0 == now => known,
                _ => {
                    let mut all = ask("SELECT source_bytes FROM runs")?;
                    let all = all.query_map([], |row| row.get(0))?;
                    (now, all.collect::<rusqlite::Result<_>>()?)
                }
            };
            Ok(sizes.insert(known).1.contains(&integer(bytes)))
        });
        let _ = self.connection.busy_timeout(READING);
        found
    }

    /// The run with this number; without a number, the run that was imported last.
    /// [`Self::choose_one`] finds runs by what a user writes.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn run(&self, number: Option<i64>) -> Result<Option<RunInfo>, StoreError> {
        let sql = "SELECT r.run_id, COALESCE(r.title, r.source_name), r.fidelity, m.name, r.title,
                          r.tool_version, r.timer_bias, r.bias_applied,
                          EXISTS (SELECT 1 FROM metrics AS k CROSS JOIN line_info AS l
                                  WHERE k.run_id = r.run_id AND l.metric_id = k.metric_id),
                          r.source_name, r.format
                   FROM runs AS r LEFT JOIN metrics AS m ON m.metric_id = r.default_metric_id
                   WHERE r.run_id = COALESCE(?1, (SELECT MAX(run_id) FROM runs))";
        let read = |row: &Row<'_>| {
            Ok(RunInfo {
                run_id: row.get(0)?,
                name: row.get(1)?,
                fidelity: row.get(2)?,
                default_metric: row.get(3)?,
                title: row.get(4)?,
                tool_version: row.get(5)?,
                timer_bias: row.get(6)?,
                bias_applied: row.get(7)?,
                knows_lines: row.get(8)?,
                file: self.temporary.as_ref().map(|_| row.get(9)).transpose()?,
                format: row.get(10)?,
                combined: None,
            })
        };
        let found = self.connection.query_row(sql, [number], read).optional();
        found.map_err(|source| self.failed(source))
    }

    /// Returns the usual metric of a run, in which every function has a row.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn usual_metric(&self, run_id: i64) -> Result<Option<i64>, StoreError> {
        let sql = "SELECT default_metric_id FROM runs WHERE run_id = ?1";
        let metric = self
            .connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.query_row([run_id], |row| row.get(0)).optional());
        metric
            .map(Option::flatten)
            .map_err(|source| self.failed(source))
    }

    /// The metrics of a run in the order of its file.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn metrics(&self, run_id: i64) -> Result<Vec<MetricInfo>, StoreError> {
        let sql =
            "SELECT metric_id, name, unit, total, timer_readings, noise, observations, quantum
                   FROM metrics
                   WHERE run_id = ?1
                   ORDER BY position";
        let read = |row: &Row<'_>| {
            Ok(MetricInfo {
                metric_id: row.get(0)?,
                name: row.get(1)?,
                unit: row.get(2)?,
                total: row.get(3)?,
                timer_readings: row.get(4)?,
                noise: row
                    .get_ref(5)?
                    .as_str()
                    .ok()
                    .and_then(Noise::by_name)
                    .unwrap_or_default(),
                observations: row.get(6)?,
                quantum: row.get(7)?,
            })
        };
        let metrics = || {
            self.connection
                .prepare(sql)?
                .query_map([run_id], read)?
                .collect::<Result<_, _>>()
        };
        metrics().map_err(|source| self.failed(source))
    }

    /// Everything that is known of a run besides its figures.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn state(&self, run_id: i64) -> Result<RunState, StoreError> {
        let metrics = self.metrics(run_id)?;
        let pairs = |sql: &str| -> rusqlite::Result<Vec<(String, String)>> {
            self.connection
                .prepare(sql)?
                .query_map([run_id], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
        };
        let state = || -> rusqlite::Result<RunState> {
            let sql = "SELECT run_id, run_uid, title, format, fidelity, source_name, source_sha256, source_bytes,
                              tool_version, command, recorded_at, imported_at, timer_bias || ' ns' AS timer_bias,
                              bias_applied || ' ns' AS bias_applied, first_node, last_node, profdb_version, LOWER(HEX(fingerprint)) AS fingerprint
                       FROM runs WHERE run_id = ?1";
            let mut statement = self.connection.prepare(sql)?;
            let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
            let columns = statement.query_row([run_id], |row| {
                let value = |(at, name): (usize, String)| Ok((name, text(row, at)?));
                names.into_iter().enumerate().map(value).collect()
            })?;
            let notes = self.notes(run_id)?;
            Ok(RunState {
                columns,
                properties: pairs(
                    "SELECT key, value FROM run_properties WHERE run_id = ?1 ORDER BY key",
                )?,
                tags: identity::tags(&self.connection, run_id)?,
                metrics,
                notes,
            })
        };
        state().map_err(|source| self.failed(source))
    }

    /// How many functions a run mentions, containers left out, and how many pairs of caller and
    /// callee it knows.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn functions_and_edges(&self, run_id: i64) -> Result<(i64, i64), StoreError> {
        let counted = |sql: &str| -> rusqlite::Result<i64> {
            self.connection
                .prepare_cached(sql)?
                .query_row([run_id], |row| row.get(0))
        };
        // `edges` has a row for each line of a caller.
        let counts = || -> rusqlite::Result<_> {
            Ok((
                counted("SELECT functions FROM runs WHERE run_id = ?1")?,
                counted(
                    "SELECT COUNT(*)
                     FROM (
                       SELECT DISTINCT e.callee_id, e.caller_id
                       FROM edges AS e
                       WHERE e.metric_id = (SELECT default_metric_id FROM runs WHERE run_id = ?1)
                         AND e.caller_id <> 0
                     )",
                )?,
            ))
        };
        counts().map_err(|source| self.failed(source))
    }

    /// Whether there are at least two runs.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn has_several_runs(&self) -> Result<bool, StoreError> {
        let sql = "SELECT COUNT(*) > 1 FROM (SELECT 1 FROM runs LIMIT 2)";
        self.connection
            .query_row(sql, [], |row| row.get(0))
            .map_err(|source| self.failed(source))
    }

    /// What tells a run from others of equal content: its title if it has one, and its tags as
    /// `KEY=VALUE`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn title_and_tags(&self, run_id: i64) -> Result<(Option<String>, Vec<String>), StoreError> {
        let said = || -> rusqlite::Result<_> {
            let tags = identity::tags(&self.connection, run_id)?;
            let tags = tags
                .iter()
                .map(|(key, value)| format!("{key}={value}"))
                .collect();
            Ok((identity::title(&self.connection, run_id)?, tags))
        };
        said().map_err(|source| self.failed(source))
    }

    /// What there was to remark about the file of a run.
    fn notes(&self, run_id: i64) -> rusqlite::Result<Vec<NoteInfo>> {
        let sql =
            "SELECT severity, byte, line, message FROM notes WHERE run_id = ?1 ORDER BY note_id";
        let read = |row: &Row<'_>| {
            Ok(NoteInfo {
                severity: row.get(0)?,
                byte: row.get(1)?,
                line: row.get(2)?,
                message: row.get(3)?,
            })
        };
        self.connection
            .prepare(sql)?
            .query_map([run_id], read)?
            .collect()
    }

    /// The remarks about a run that may make a figure other than expected.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn warnings(&self, run_id: i64) -> Result<Vec<NoteInfo>, StoreError> {
        let mut notes = self.notes(run_id).map_err(|source| self.failed(source))?;
        notes.retain(|note| note.severity == "warning");
        Ok(notes)
    }
}

/// A value as text.
fn text(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<String>> {
    match row.get_ref(at)? {
        // Not `lossy`: text that is not UTF-8 is damage, and nothing shows another text in its
        // place.
        ValueRef::Text(_) | ValueRef::Blob(_) => row.get(at),
        value => Ok(lossy(value)),
    }
}

/// A value as text for messages: bytes that are not UTF-8 are replaced.
pub(super) fn lossy(value: ValueRef<'_>) -> Option<String> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(value) => Some(value.to_string()),
        ValueRef::Real(value) => Some(value.to_string()),
        ValueRef::Text(value) | ValueRef::Blob(value) => {
            Some(String::from_utf8_lossy(value).into_owned())
        }
    }
}
