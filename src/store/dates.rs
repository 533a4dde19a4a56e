//! When runs were recorded, in the form whose order is that in time: `runs.recorded_utc`.

use rusqlite::{Connection, params};

use crate::text::dates::{moment, sortable};

/// What `recorded_utc` has of a run whose file says this of its recording.
pub(super) fn recorded_utc(recorded_at: Option<&str>) -> Option<String> {
    recorded_at.and_then(moment).map(sortable)
}

/// Fills the column in the runs that an earlier program has stored.
pub(super) fn fill(transaction: &Connection) -> rusqlite::Result<()> {
    let mut wrong = Vec::new();
    each_wrong_run(transaction, |run, _, expected| {
        wrong.push((run, expected));
        Ok(())
    })?;
    let mut update = transaction.prepare("UPDATE runs SET recorded_utc = ?2 WHERE run_id = ?1")?;
    for (run, expected) in wrong {
        update.execute(params![run, expected])?;
    }
    Ok(())
}

/// Calls a function for every run whose `recorded_utc` is not its `recorded_at`.
pub(super) fn each_wrong(
    connection: &Connection,
    mut found: impl FnMut(String) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    each_wrong_run(connection, |run, stored, expected| {
        let [stored, expected] = [stored, expected].map(|date| date.unwrap_or("NULL".to_owned()));
        found(format!(
            "run_id {run}: recorded_utc is {stored}, and recorded_at means {expected}"
        ))
    })
}

/// Calls a function with the number of every such run, what is stored, and what should be.
fn each_wrong_run(
    connection: &Connection,
    mut found: impl FnMut(i64, Option<String>, Option<String>) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let sql = "SELECT run_id, recorded_at, recorded_utc FROM runs
               WHERE recorded_at IS NOT NULL OR recorded_utc IS NOT NULL
               ORDER BY run_id";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (said, stored): (Option<String>, Option<String>) = (row.get(1)?, row.get(2)?);
        let expected = recorded_utc(said.as_deref());
        if stored != expected {
            found(row.get(0)?, stored, expected)?;
        }
    }
    Ok(())
}
