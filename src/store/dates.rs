//! `runs.recorded_utc`: the time of the recording in a form that sorts by time.

use rusqlite::Connection;

use crate::text::dates::{moment, sortable};

/// Returns `recorded_utc` for `recorded_at`, or `None` if its form is unknown.
pub(super) fn recorded_utc(recorded_at: Option<&str>) -> Option<String> {
    recorded_at.and_then(moment).map(sortable)
}

/// Calls a function with a message for every run whose `recorded_utc` does not match its `recorded_at`.
pub(super) fn each_wrong(
    connection: &Connection,
    mut found: impl FnMut(String) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let sql = "SELECT run_id, recorded_at, recorded_utc FROM runs
               WHERE recorded_at IS NOT NULL OR recorded_utc IS NOT NULL
               ORDER BY run_id";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (run, recorded_at): (i64, Option<String>) = (row.get(0)?, row.get(1)?);
        let stored: Option<String> = row.get(2)?;
        let expected = recorded_utc(recorded_at.as_deref());
        if stored != expected {
            let [stored, expected] =
                [stored, expected].map(|date| date.unwrap_or("NULL".to_owned()));
            found(format!(
                "run_id {run}: recorded_utc is {stored}, and recorded_at means {expected}"
            ))?;
        }
    }
    Ok(())
}
