//! Names that a database has, by their beginning: what a shell offers while a command is written.

use rusqlite::{Params, Row, named_params};

use super::database::Database;
use super::error::StoreError;
use super::runs::Tag;
use super::write::integer;

/// Larger than every character that names have, as the end of a range.
const AFTER_ALL: char = char::MAX;

/// A thread of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadName {
    /// The function that stands for the thread.
    pub function_id: i64,
    /// Its name.
    pub name: String,
    /// The name of its process; empty if unknown.
    pub process: String,
    /// A thread of another process has the name, too.
    pub is_repeated: bool,
}

impl ThreadName {
    /// Returns the name with that of the process before it.
    #[must_use]
    pub fn with_process(&self) -> String {
        format!("{}/{}", self.process, self.name)
    }

    /// Returns the name as reports show it: with that of the process where it is repeated.
    #[must_use]
    pub fn shown(&self) -> String {
        if self.is_repeated && !self.process.is_empty() {
            self.with_process()
        } else {
            self.name.clone()
        }
    }
}

impl Database {
    /// Numbers of runs whose digits begin so, the one that was imported last first, at most `limit`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn runs_from(&self, start: &str, limit: usize) -> Result<Vec<i64>, StoreError> {
        let sql = "SELECT run_id FROM runs WHERE substr(run_id, 1, length(?1)) = ?1
                   ORDER BY run_id DESC LIMIT ?2";
        self.listed(sql, (start, integer(limit as u64)), |row| row.get(0))
    }

    /// Uids of runs that begin so, in order, at most `limit`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn uids_from(&self, start: &str, limit: usize) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT run_uid FROM runs WHERE substr(run_uid, 1, length(?1)) = ?1
                   ORDER BY run_uid LIMIT ?2";
        self.listed(sql, (start, integer(limit as u64)), |row| row.get(0))
    }

    /// Keys of the tags that runs have, in order.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn tag_keys(&self) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT DISTINCT key FROM run_tags ORDER BY key";
        self.listed(sql, [], |row| row.get(0))
    }

    /// The tags with this key, by value.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn tags_of(&self, key: &str) -> Result<Vec<Tag>, StoreError> {
        let sql = "SELECT DISTINCT key, value FROM run_tags WHERE key = ?1 ORDER BY value";
        self.listed(sql, [key], |row| {
            Ok(Tag {
                key: row.get(0)?,
                value: row.get(1)?,
            })
        })
    }

    /// Names of a run's functions that begin so, in order, at most `limit`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn functions_from(
        &self,
        run_id: i64,
        start: &str,
        limit: usize,
    ) -> Result<Vec<String>, StoreError> {
        // The range is one of the index that begins with the name; a run of edges only has no nodes.
        let sql = "SELECT DISTINCT f.name FROM functions AS f
                   WHERE f.name >= ?2 AND f.name < ?3 AND f.kind IN ('function', 'pseudo')
                     AND (EXISTS (SELECT 1 FROM function_nodes AS n
                                  WHERE n.run_id = ?1 AND n.function_id = f.function_id)
                          OR EXISTS (SELECT 1 FROM function_info AS i
                                     WHERE i.metric_id IN (SELECT metric_id FROM metrics WHERE run_id = ?1)
                                       AND i.function_id = f.function_id))
                   ORDER BY f.name LIMIT ?4";
        let end = format!("{start}{AFTER_ALL}");
        self.listed(sql, (run_id, start, end, integer(limit as u64)), |row| {
            row.get(0)
        })
    }

    /// Labels of a run's samples as filters take them, `KEY=VALUE`, that begin so, in order, at most `limit`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn labels_from(
        &self,
        run_id: i64,
        start: &str,
        limit: usize,
    ) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT DISTINCT key || '=' || value AS label FROM label_sets
                   WHERE run_id = ?1 AND label >= ?2 AND label < ?3
                   ORDER BY label LIMIT ?4";
        let end = format!("{start}{AFTER_ALL}");
        self.listed(sql, (run_id, start, end, integer(limit as u64)), |row| {
            row.get(0)
        })
    }

    /// Returns the threads of a run in the order of their names.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn threads_of(&self, run_id: i64) -> Result<Vec<ThreadName>, StoreError> {
        let sql = include_str!("../../queries/names/threads.sql");
        let mut threads = self.listed(sql, named_params! { ":run": run_id }, |row| {
            Ok(ThreadName {
                function_id: row.get(0)?,
                name: row.get(1)?,
                process: row.get(2)?,
                is_repeated: false,
            })
        })?;
        for threads in threads.chunk_by_mut(|one, other| one.name == other.name) {
            let is_repeated = threads.len() > 1;
            for thread in threads {
                thread.is_repeated = is_repeated;
            }
        }
        Ok(threads)
    }

    fn listed<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let rows = || -> rusqlite::Result<Vec<T>> {
            let mut statement = self.connection.prepare(sql)?;
            statement.query_map(values, read)?.collect()
        };
        rows().map_err(|source| self.failed(source))
    }
}
