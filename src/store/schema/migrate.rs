//! Brings the schema of a database up to date.

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use super::declared::foreign;
use super::migrations::{APPLICATION_ID, LATEST, MIGRATIONS, Migration, MigrationKind, VERSION};
use super::restate::restate;
use super::views::{VIEWS, kept_text, stale_views};
use crate::store::error::Cause;
use crate::store::{dates, identities};

/// Makes the tables of an empty database, or takes the steps that older ones lack; replaces views
/// that are not as this program has them.
pub(in crate::store) fn migrate(transaction: &Connection) -> Result<(), Cause> {
    let version: i64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let done = usize::try_from(version).unwrap_or(0);
    if done < MIGRATIONS.len()
        && let Some(what) = foreign(transaction, done)?
    {
        // Another program may have changed the schema since the file was opened without the lock.
        return Err(Cause::Altered(what));
    }
    if done == 0 {
        transaction.execute_batch(LATEST)?;
    } else {
        for step in done..MIGRATIONS.len() {
            apply(transaction, step)?;
        }
    }
    if done < MIGRATIONS.len() {
        mark(transaction)?;
        dates::fill(transaction)?;
    }
    // Views come after all steps, because they may read what the last of them has made.
    for (name, sql) in stale_views(transaction)? {
        transaction.execute_batch(&format!("DROP VIEW IF EXISTS {name};"))?;
        transaction.execute_batch(sql)?;
    }
    Ok(())
}

/// Makes the tables and views of an empty database whose bytes are asked for and nothing else: its
/// connection does not see the views. They become rows of the schema as they are; a `CREATE VIEW` is
/// parsed twice and takes a statement of SQLite's own, which is most of what making a database costs.
pub(in crate::store) fn make(transaction: &Connection) -> Result<(), Cause> {
    transaction.execute_batch(LATEST)?;
    mark(transaction)?;
    // Only statements of ours run on this connection.
    transaction.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false)?;
    transaction.execute_batch("PRAGMA writable_schema = ON")?;
    let sql = "INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql)
               VALUES ('view', ?1, ?1, 0, ?2)";
    let mut view = transaction.prepare(sql)?;
    for (name, sql) in VIEWS {
        view.execute([name, kept_text(sql)])?;
    }
    Ok(())
}

/// The statements that make the tables and views of an empty database, and say whose it is; what it holds identities to be is
/// not among them.
pub(in crate::store) fn statements() -> String {
    let views: usize = VIEWS.iter().map(|(_, sql)| sql.len() + 2).sum();
    let mut text = String::with_capacity(LATEST.len() + views + 1024);
    text.push_str(LATEST);
    for (_, sql) in VIEWS {
        text.extend([kept_text(sql), ";\n"]);
    }
    let marks = [
        ("application_id", i64::from(APPLICATION_ID)),
        ("user_version", VERSION),
    ];
    for (name, value) in marks {
        text.extend(["PRAGMA ", name, " = ", &value.to_string(), ";\n"]);
    }
    text
}

/// Writes what says whose the database is, and of which rules its identities are.
fn mark(transaction: &Connection) -> Result<(), Cause> {
    identities::begin(transaction)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    Ok(())
}

/// Takes one step from a version to the next.
pub(super) fn apply(transaction: &Connection, version: usize) -> Result<(), Cause> {
    let Migration { sql, kind } = &MIGRATIONS[version];
    match kind {
        MigrationKind::Adds | MigrationKind::Rewrites => Ok(transaction.execute_batch(sql)?),
        MigrationKind::Restates => restate(transaction, version),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "a small file of our own")]

    use super::*;
    use crate::store::file::connection;

    /// A table, index or trigger: type, name, table and text.
    type Object = (String, String, String, Option<String>);

    /// What of a database its migrations make, in the order in which it is there.
    fn objects(connection: &Connection) -> Vec<Object> {
        let sql = "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE type <> 'view' ORDER BY rowid";
        let mut statement = connection.prepare(sql).expect("a statement");
        let read =
            |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
        let rows = statement.query_map([], read).expect("a schema");
        rows.collect::<Result<_, _>>().expect("a schema")
    }

    /// What the planner is to expect, as values of SQL.
    fn figures(connection: &Connection) -> Vec<String> {
        let sql = "SELECT FORMAT('(%Q, %Q, %Q)', tbl, idx, stat) FROM sqlite_stat1 ORDER BY rowid";
        let mut statement = connection.prepare(sql).expect("a statement");
        let rows = statement.query_map([], |row| row.get(0)).expect("figures");
        rows.collect::<Result<_, _>>().expect("figures")
    }

    fn step_by_step() -> Connection {
        let connection = connection::open_in_memory().expect("room for a database");
        connection.execute_batch("BEGIN").expect("a transaction");
        for step in 0..MIGRATIONS.len() {
            apply(&connection, step).unwrap_or_else(|cause| panic!("step {step}: {cause:?}"));
        }
        connection.execute_batch("COMMIT").expect("a transaction");
        connection
    }

    /// The text of `migrations/latest.sql`.
    fn latest(stepwise: &Connection) -> String {
        let mut text = String::new();
        for (_, name, _, sql) in objects(stepwise) {
            match (name.as_str(), sql) {
                ("sqlite_stat1", _) => text += "ANALYZE sqlite_schema;\n\n",
                (name, Some(sql)) if !name.starts_with("sqlite_") => {
                    text.extend([sql.trim_end(), ";\n\n"]);
                }
                // SQLite makes it with the table that it belongs to.
                _ => {}
            }
        }
        let figures = figures(stepwise).join(",\n  ");
        text + &format!(
            "INSERT INTO sqlite_stat1 (tbl, idx, stat)\nVALUES\n  \
             -- What the planner is to expect; 0001_core.sql says what it means.\n  {figures};\n\n\
             ANALYZE sqlite_schema;\n"
        )
    }

    #[test]
    fn statements_make_what_is_made_at_once() {
        let [made, stated] = [(), ()].map(|()| connection::open_in_memory().expect("room"));
        make(&made).expect("an empty database");
        stated.execute_batch(&statements()).expect("statements");
        assert_eq!(objects(&made), objects(&stated));
        assert_eq!(figures(&made), figures(&stated));
        assert_eq!(stale_views(&stated).expect("views"), []);
    }

    #[test]
    fn one_step_makes_what_all_migrations_make() {
        let stepwise = step_by_step();
        let expected = latest(&stepwise);
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write("migrations/latest.sql", &expected).expect("it can be written");
            return;
        }
        assert!(
            LATEST == expected,
            "migrations/latest.sql is out of date: UPDATE_DOCS=1 cargo test --lib one_step"
        );
        let at_once = connection::open_in_memory().expect("room for a database");
        migrate(&at_once).expect("an empty database");
        assert_eq!(objects(&at_once), objects(&stepwise));
        assert_eq!(figures(&at_once), figures(&stepwise));
        let marks = |connection: &Connection| {
            let sql = "SELECT user_version, application_id FROM pragma_user_version, pragma_application_id";
            let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
            connection
                .query_row::<(i64, i32), _, _>(sql, [], read)
                .expect("two numbers")
        };
        assert_eq!(marks(&at_once), (VERSION, APPLICATION_ID));
    }
}
