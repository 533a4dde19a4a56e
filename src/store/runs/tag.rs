//! Tagging runs after they have been imported. What a run is known by, its uid, stays that of what
//! was said of it when it was imported.

use std::fmt;

use rusqlite::{Connection, OptionalExtension, params};

use super::choose::{ChooseError, NoRuns, choose, tags, unknown_key};
use super::set::{RunSet, Tag};
use crate::store::database::Database;
use crate::store::error::Cause;
use crate::store::schema::migrate;

/// What is to be said of runs, and what no longer.
#[derive(Clone, Debug, Default)]
pub struct TagChange {
    /// Tags that the runs get, in the place of those with these keys.
    pub add: Vec<Tag>,
    /// Keys of tags that are taken from them.
    pub remove: Vec<String>,
}

/// What has become of the tags of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tagged {
    /// Number of the run.
    pub run: i64,
    /// Tags whose value was another, as they were.
    pub replaced: Vec<Tag>,
    /// Tags that it has no longer.
    pub removed: Vec<Tag>,
    /// All that it has now, in the order of their keys.
    pub tags: Vec<Tag>,
}

impl fmt::Display for Tagged {
    /// The tags that the run has now, and what has changed of those that it had.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "run {}: ", self.run)?;
        if self.tags.is_empty() {
            f.write_str("no tags")?;
        }
        for (at, tag) in self.tags.iter().enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            write!(f, "{comma}{tag}")?;
            if let Some(before) = self.replaced.iter().find(|before| before.key == tag.key) {
                write!(f, " (was {before})")?;
            }
        }
        self.removed
            .iter()
            .try_for_each(|tag| write!(f, "; removed {tag}"))
    }
}

impl Database {
    /// Changes the tags of all runs that a set means, or of none.
    ///
    /// # Errors
    /// When there are no such runs, when none of them has a tag that is to be removed, and when the
    /// database cannot be written.
    pub fn tag_runs(
        &mut self,
        set: &RunSet,
        change: &TagChange,
    ) -> Result<Vec<Tagged>, ChooseError> {
        // The runs are chosen under the lock: no other program tags or deletes them meanwhile.
        let changed = self.change(|connection| -> Result<_, Cause> {
            migrate(connection)?;
            let runs = match choose(connection, set)? {
                Ok(runs) => runs,
                Err(none) => return Ok(Err(none)),
            };
            // Nothing has changed yet where this refuses.
            let mut has = connection
                .prepare("SELECT EXISTS (SELECT 1 FROM run_tags WHERE run_id = ?1 AND key = ?2)")?;
            for key in &change.remove {
                let mut is_there = false;
                for run in &runs {
                    is_there |= has.query_row(params![run, key], |row| row.get::<_, bool>(0))?;
                }
                if !is_there {
                    let unknown = unknown_key(connection, key)?;
                    let none = || NoRuns::yet(format!("none of these runs has the tag {key}"));
                    return Ok(Err(unknown.unwrap_or_else(none)));
                }
            }
            let mut tagged = Vec::new();
            for run in runs {
                tagged.push(tag(connection, run, change)?);
            }
            Ok(Ok(tagged))
        })?;
        changed.map_err(ChooseError::from)
    }
}

fn tag(connection: &Connection, run: i64, change: &TagChange) -> rusqlite::Result<Tagged> {
    let mut tagged = Tagged {
        run,
        replaced: Vec::new(),
        removed: Vec::new(),
        tags: Vec::new(),
    };
    let value = |key: &str| {
        let mut value = connection
            .prepare_cached("SELECT value FROM run_tags WHERE run_id = ?1 AND key = ?2")?;
        value
            .query_row(params![run, key], |row| row.get::<_, String>(0))
            .optional()
    };
    for key in &change.remove {
        if let Some(value) = value(key)? {
            let key = key.clone();
            connection
                .prepare_cached("DELETE FROM run_tags WHERE run_id = ?1 AND key = ?2")?
                .execute(params![run, key])?;
            tagged.removed.push(Tag { key, value });
        }
    }
    for tag in &change.add {
        let before = value(&tag.key)?;
        if before.as_ref() != Some(&tag.value) {
            connection
                .prepare_cached("REPLACE INTO run_tags (run_id, key, value) VALUES (?1, ?2, ?3)")?
                .execute(params![run, tag.key, tag.value])?;
            tagged.replaced.extend(before.map(|value| Tag {
                key: tag.key.clone(),
                value,
            }));
        }
    }
    tagged.tags = tags(connection, run)?;
    Ok(tagged)
}
