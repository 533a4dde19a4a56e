//! What histories read: what tells to which series runs belong, and figures of functions in many runs.

use std::fmt::Write as _;

use hashbrown::HashMap;
use rusqlite::{Row, Statement, named_params};

use super::database::Database;
use super::error::StoreError;
use super::figures::recording;
use super::runs::Tag;
use crate::events::Noise;

const RUNS: &str = include_str!("../../queries/history/runs.sql");
const TAGS: &str = include_str!("../../queries/lists/tags.sql");
const METRICS: &str = include_str!("../../queries/history/metrics.sql");
const FUNCTIONS: &str = include_str!("../../queries/history/functions.sql");
const FIGURES: &str = include_str!("../../queries/history/figures.sql");
const IDENTITIES: &str = include_str!("../../queries/history/identities.sql");

/// What tells to which series a run belongs, and where in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunMarks {
    /// Its number.
    pub run_id: i64,
    /// What it is called, by the user or the file.
    pub title: Option<String>,
    /// The command that was profiled.
    pub command: Option<String>,
    /// The format of its file.
    pub format: String,
    /// Version of the profiler.
    pub tool_version: Option<String>,
    /// When it was recorded, as the file says.
    pub recorded_at: Option<String>,
    /// The same in UTC, in a form whose order is that in time; `None` if the file does not say it in a form that is known.
    pub recorded_utc: Option<String>,
    /// When it was imported, UTC.
    pub imported_at: String,
    /// What only copies of its recording have as well: its figures, and when it was recorded, if that is known. `None` for runs that
    /// were stored before figures had a hash.
    pub recording: Option<String>,
    /// Its tags, in the order of their keys.
    pub tags: Vec<Tag>,
}

/// A metric of one of several runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetricOfRun {
    /// Which of the runs.
    pub run: usize,
    /// Its number.
    pub metric_id: i64,
    /// The cost of the whole run.
    pub total: f64,
    /// How its costs differ between recordings of one program.
    pub noise: Noise,
    /// The metric of the run that counts the samples behind its costs.
    pub observations: Option<i64>,
    /// What each sample adds, in the unit.
    pub quantum: Option<f64>,
}

/// A function, and what it is held to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentifiedFunction {
    /// Its number.
    pub function_id: i64,
    /// The number of its identity.
    pub identity_id: i64,
    /// Name, module and file of the identity.
    pub names: [String; 3],
    /// The identity stands for all code of the module that has no name.
    pub is_unnamed: bool,
}

impl IdentifiedFunction {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            function_id: row.get(0)?,
            identity_id: row.get(1)?,
            names: [row.get(2)?, row.get(3)?, row.get(4)?],
            is_unnamed: row.get(5)?,
        })
    }
}

/// Which functions are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fitting {
    /// By the name of the identity or of the function itself.
    Function,
    /// By the module.
    Module,
    /// By the file.
    File,
}

impl Fitting {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Module => "module",
            Self::File => "file",
        }
    }
}

impl RunMarks {
    /// The value of a tag.
    #[must_use]
    pub fn tag(&self, key: &str) -> Option<&str> {
        let tag = self.tags.iter().find(|tag| tag.key == key)?;
        Some(&tag.value)
    }
}

impl Database {
    /// The marks of some runs, or of all, in the order in which they were imported.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn run_marks(&self, runs: Option<&[i64]>) -> Result<Vec<RunMarks>, StoreError> {
        let runs = runs.map(array);
        let read = || -> rusqlite::Result<Vec<RunMarks>> {
            let mut tags: HashMap<i64, Vec<Tag>> = HashMap::new();
            let mut statement = self.connection.prepare_cached(TAGS)?;
            let mut rows = statement.query(named_params! {":runs": runs})?;
            while let Some(row) = rows.next()? {
                let (key, value) = (row.get(1)?, row.get(2)?);
                tags.entry(row.get(0)?)
                    .or_default()
                    .push(Tag { key, value });
            }
            let mut statement = self.connection.prepare_cached(RUNS)?;
            let rows = statement.query_map(named_params! {":runs": runs}, |row| {
                let run_id = row.get(0)?;
                let fingerprint: String = row.get(8)?;
                let recorded_utc: Option<String> = row.get(6)?;
                Ok(RunMarks {
                    run_id,
                    title: row.get(1)?,
                    command: row.get(2)?,
                    format: row.get(3)?,
                    tool_version: row.get(4)?,
                    recorded_at: row.get(5)?,
                    recording: recording(&fingerprint, recorded_utc.as_deref()),
                    recorded_utc,
                    imported_at: row.get(7)?,
                    tags: tags.remove(&run_id).unwrap_or_default(),
                })
            })?;
            rows.collect()
        };
        read().map_err(|source| self.failed(source))
    }

    /// The metrics of a name and unit of some runs, in the order of these.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn metrics_of_runs(
        &self,
        runs: &[i64],
        [name, unit]: [&str; 2],
    ) -> Result<Vec<MetricOfRun>, StoreError> {
        let runs = array(runs);
        let read = || -> rusqlite::Result<Vec<MetricOfRun>> {
            let mut statement = self.connection.prepare_cached(METRICS)?;
            let with = named_params! {":runs": runs, ":name": name, ":unit": unit};
            let rows = statement.query_map(with, |row| {
                let noise: String = row.get(3)?;
                Ok(MetricOfRun {
                    run: index(row.get(0)?),
                    metric_id: row.get(1)?,
                    total: row.get(2)?,
                    noise: Noise::by_name(&noise).unwrap_or_default(),
                    observations: row.get(4)?,
                    quantum: row.get(5)?,
                })
            })?;
            rows.collect()
        };
        read().map_err(|source| self.failed(source))
    }

    /// Returns the functions of some runs, or of all, that fit a pattern of `GLOB`, in the order of the names of their identities.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn fitting_functions(
        &self,
        by: Fitting,
        pattern: &str,
        runs: Option<&[i64]>,
    ) -> Result<Vec<IdentifiedFunction>, StoreError> {
        let runs = runs.map(array);
        let read = || -> rusqlite::Result<Vec<IdentifiedFunction>> {
            let mut statement = self.connection.prepare_cached(FUNCTIONS)?;
            let with = named_params! {":by": by.name(), ":pattern": pattern, ":runs": runs};
            let rows = statement.query_map(with, IdentifiedFunction::read)?;
            rows.collect()
        };
        read().map_err(|source| self.failed(source))
    }

    /// All functions, in the order of their numbers.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn identified_functions(&self) -> Result<Vec<IdentifiedFunction>, StoreError> {
        let read = || -> rusqlite::Result<Vec<IdentifiedFunction>> {
            let mut statement: Statement<'_> = self.connection.prepare(IDENTITIES)?;
            let rows = statement.query_map([], IdentifiedFunction::read)?;
            rows.collect()
        };
        read().map_err(|source| self.failed(source))
    }

    /// Calls a function for what each of some functions cost in each of some metrics, in the order of these: with which of the
    /// metrics, calls, exclusive and cumulative cost, each `None` if unknown.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn each_figure(
        &self,
        metrics: &[i64],
        functions: &[i64],
        mut each: impl FnMut(usize, Option<i64>, Option<f64>, Option<f64>),
    ) -> Result<(), StoreError> {
        let [metrics, functions] = [metrics, functions].map(array);
        let mut read = || -> rusqlite::Result<()> {
            let mut statement = self.connection.prepare_cached(FIGURES)?;
            let with = named_params! {":metrics": metrics, ":functions": functions};
            let mut rows = statement.query(with)?;
            while let Some(row) = rows.next()? {
                each(index(row.get(0)?), row.get(1)?, row.get(2)?, row.get(3)?);
            }
            Ok(())
        };
        read().map_err(|source| self.failed(source))
    }
}

/// Numbers as a JSON array.
fn array(ids: &[i64]) -> String {
    let mut text = String::with_capacity(2 + 8 * ids.len());
    for (at, id) in ids.iter().enumerate() {
        text.push(if at == 0 { '[' } else { ',' });
        let _ = write!(text, "{id}");
    }
    if ids.is_empty() {
        text.push('[');
    }
    text.push(']');
    text
}

/// A place in an array of ours.
fn index(key: i64) -> usize {
    usize::try_from(key).unwrap_or(usize::MAX)
}
