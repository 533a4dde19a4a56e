//! Title and tags of one run in two databases.

use std::collections::HashMap;

use rusqlite::params;

use crate::store::database::Database;
use crate::store::error::StoreError;
use crate::store::identity::{tags, title};

impl Database {
    /// What the user says of a run in another database and not in this one.
    pub(super) fn differences(
        &self,
        here: i64,
        source: &Self,
        there: i64,
    ) -> Result<Differences, StoreError> {
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
        Ok(Differences {
            title: title.map(|title| (our_title, title)),
            tags,
        })
    }

    /// Adds title and tags of another database to a run. What this database says already stays,
    /// with a note. Returns whether anything has changed.
    pub(super) fn unite(&self, run: i64, other: &Differences) -> rusqlite::Result<bool> {
        let mut changed = 0;
        let mut notes = Vec::new();
        match &other.title {
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
        for (ours, key, value) in &other.tags {
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
}

/// Title and tags of a run in another database that this one does not have.
#[derive(Default)]
pub(super) struct Differences {
    /// Our title, and the other.
    title: Option<(Option<String>, String)>,
    /// Our value of a tag, its key, and the other value.
    tags: Vec<(Option<String>, String, String)>,
}

impl Differences {
    /// Whether title and tags are equal in both databases.
    pub(super) fn is_empty(&self) -> bool {
        self.title.is_none() && self.tags.is_empty()
    }

    /// What this database does not say, and gets.
    pub(super) fn added(&self) -> Vec<String> {
        self.listed(Option::is_none)
    }

    /// What this database says in another way, which stays.
    pub(super) fn refused(&self) -> Vec<String> {
        self.listed(Option::is_some)
    }

    /// Title and tags for which `is_wanted` holds of what this database says.
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
