//! Deleting a run. Triggers of the schema say what goes with it, so that any SQLite shell can delete
//! one as well. Rows of large tables, which are next to each other there, are taken out of the
//! b-trees by whole pages ([`profdb_sqlite_pages::cut`]) instead of one by one.

use rusqlite::{Connection, Row};

use super::database::{Database, bring_up_to_date};
use super::error::{Cause, StoreError};
use super::file::empty::PAGE_SIZE;
use super::write::{ROWS_FOR_SEGMENT, cut_ranges, has_our_indexes_only, integer, root};
use profdb_sqlite_pages::cut::Range;

/// Trees whose keys begin with the metric.
const BY_METRIC: [&str; 6] = [
    "node_costs",
    "node_labels",
    "function_info",
    "line_info",
    "edges",
    "edges_by_caller",
];

impl Database {
    /// Deletes a run with everything that belongs to it.
    ///
    /// # Errors
    /// When the database cannot be written: then nothing has changed.
    pub fn delete_run(&mut self, run_id: i64) -> Result<(), StoreError> {
        self.delete_run_if(run_id, |_| Ok(true)).map(|_| ())
    }

    /// Deletes a run if a condition holds once no other program can change the database any more.
    /// Whether it did.
    ///
    /// # Errors
    /// As [`Self::delete_run`], and the condition's.
    pub(super) fn delete_run_if(
        &mut self,
        run_id: i64,
        condition: impl FnOnce(&Connection) -> rusqlite::Result<bool>,
    ) -> Result<bool, StoreError> {
        self.begin()?;
        let deleted = condition(&self.connection).map_err(|source| self.failed(source));
        let deleted = deleted.and_then(|holds| {
            // Functions that no other run mentions go with it.
            holds.then(|| self.delete_and_commit(run_id)).transpose()
        });
        self.known_functions.forget();
        self.end();
        let deleted = deleted?;
        if deleted == Some(true) {
            self.forget_pages()?;
        }
        Ok(deleted.is_some())
    }

    /// Whether pages were written past SQLite's b-trees.
    fn delete_and_commit(&self, run_id: i64) -> Result<bool, StoreError> {
        let delete = || -> Result<_, Cause> {
            bring_up_to_date(&self.connection)?;
            let ranges = ranges(&self.connection, run_id)?;
            delete(&self.connection, run_id, ranges.is_some())?;
            Ok(ranges)
        };
        let ranges = delete().map_err(|cause| self.failed(cause))?;
        if let Some(ranges) = &ranges {
            self.flush()?;
            let cut = cut_ranges(&self.connection, PAGE_SIZE, ranges);
            if !cut.map_err(|cause| self.failed(cause))? {
                return Err(self.inconsistent("pages can no longer be written"));
            }
        }
        self.commit()?;
        Ok(ranges.is_some())
    }
}

/// Where the rows of a run are in the large trees; `None` if they are to be deleted by SQL.
fn ranges(connection: &Connection, run_id: i64) -> Result<Option<Vec<Range>>, Cause> {
    let sql = "SELECT first_node, last_node,
                 (SELECT MIN(metric_id) FROM metrics WHERE run_id = ?1),
                 (SELECT MAX(metric_id) FROM metrics WHERE run_id = ?1)
               FROM runs
               WHERE run_id = ?1";
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
    let (Some(first_node), Some(last_node), Some(first), Some(last)): (
        Option<i64>,
        Option<i64>,
        Option<i64>,
        Option<i64>,
    ) = connection.query_row(sql, [run_id], read)?
    else {
        return Ok(None);
    };
    let is_short = last_node.saturating_sub(first_node) < integer(ROWS_FOR_SEGMENT);
    // Metrics of another run among its own: no import makes such a database.
    let sql = "SELECT COUNT(*) FROM metrics WHERE metric_id BETWEEN ?1 AND ?2 AND run_id <> ?3";
    let others: i64 = connection.query_row(sql, (first, last, run_id), |row| row.get(0))?;
    let is_usual = first_node > 0 && first > 0 && last < i64::MAX && others == 0;
    // A database in memory has no other copy of its pages: SQLite cannot be made to forget them.
    let is_in_memory = connection.path().is_none_or(str::is_empty);
    if is_short || !is_usual || is_in_memory || !has_our_indexes_only(connection)? {
        return Ok(None);
    }
    // An empty list of ranges changes nothing: this asks whether pages can be written at all.
    if !cut_ranges(connection, PAGE_SIZE, &[])? {
        return Ok(None);
    }
    let mut ranges = vec![Range {
        root: root(connection, "nodes")?,
        first: first_node,
        last: last_node,
    }];
    for tree in BY_METRIC {
        ranges.push(Range {
            root: root(connection, tree)?,
            first,
            last,
        });
    }
    Ok(Some(ranges))
}

/// Deletes the row of a run, and with it what triggers take along; `but_large_tables` leaves the
/// rows of large tables, all but those of `function_nodes`, where they are.
fn delete(connection: &Connection, run_id: i64, but_large_tables: bool) -> rusqlite::Result<()> {
    // Triggers find those rows by the run's nodes and metrics.
    if but_large_tables {
        let sql = "UPDATE runs SET first_node = NULL, last_node = NULL WHERE run_id = ?1";
        connection.execute(sql, [run_id])?;
        let sql = "UPDATE metrics SET run_id = -run_id WHERE run_id = ?1";
        connection.execute(sql, [run_id])?;
    }
    connection.execute("DELETE FROM runs WHERE run_id = ?1", [run_id])?;
    connection.execute("DELETE FROM metrics WHERE run_id = -?1", [run_id])?;
    Ok(())
}
