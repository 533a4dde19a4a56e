//! What tells to which series runs belong, and where in it they come.

use hashbrown::HashMap;
use rusqlite::named_params;

use super::database::Database;
use super::error::StoreError;
use super::runs::Tag;
use crate::text::dates::moment;

const RUNS: &str = include_str!("../../queries/history/runs.sql");
const TAGS: &str = include_str!("../../queries/lists/tags.sql");

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
    /// When it was recorded, in nanoseconds since 1970, UTC; `None` if the file does not say it in a form that is known.
    pub recorded: Option<i64>,
    /// When it was imported, UTC.
    pub imported_at: String,
    /// Hash of its figures: runs with equal ones are one recording. `None` for runs that were stored before there was one.
    pub fingerprint: Option<String>,
    /// Its tags, in the order of their keys.
    pub tags: Vec<Tag>,
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
        let runs = runs.map(|runs| serde_json::Value::from(runs).to_string());
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
                let recorded_at: Option<String> = row.get(5)?;
                let fingerprint: String = row.get(7)?;
                Ok(RunMarks {
                    run_id,
                    title: row.get(1)?,
                    command: row.get(2)?,
                    format: row.get(3)?,
                    tool_version: row.get(4)?,
                    recorded: recorded_at.as_deref().and_then(moment),
                    recorded_at,
                    imported_at: row.get(6)?,
                    fingerprint: Some(fingerprint).filter(|fingerprint| !fingerprint.is_empty()),
                    tags: tags.remove(&run_id).unwrap_or_default(),
                })
            })?;
            rows.collect()
        };
        read().map_err(|source| self.failed(source))
    }
}
