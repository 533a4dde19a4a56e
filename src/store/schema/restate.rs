//! Replaces the texts of tables in the schema and leaves their rows alone: for what only the text
//! says, as which column a foreign key means, and for columns that come last, which rows may lack.
//! Making these tables anew would write all their rows, and lose what belongs to them: triggers,
//! the user's indexes, the number that was given last.

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use super::declared::declared;
use super::migrations::MIGRATIONS;
use crate::store::error::Cause;

/// Replaces the texts of the tables that a migration of kind
/// [`super::migrations::MigrationKind::Restates`] names, in a transaction, in a schema of the
/// version before it. A text that is not exactly the one that this version has is left alone, and
/// an error: then the transaction has to be rolled back.
pub(super) fn restate(transaction: &Connection, version: usize) -> Result<(), Cause> {
    // A defensive connection does not let its schema be written. Only statements of ours run on
    // this one until it is defensive again.
    let is_defensive = transaction.db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE)?;
    transaction.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false)?;
    let restated = replace_texts(transaction, version);
    // Forgets what has been read of the schema; from here on, SQLite does not let it be written.
    let reset = transaction.execute_batch("PRAGMA writable_schema = RESET");
    let counted = reset.and_then(|()| raise_cookie(transaction));
    transaction.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, is_defensive)?;
    restated?;
    counted?;
    Ok(transaction.execute_batch(after_tables(version))?)
}

/// The statements of a migration that come after the last table which was there before.
fn after_tables(version: usize) -> &'static str {
    let migration = MIGRATIONS[version].sql;
    let ends = declared(version).into_keys().filter_map(|name| {
        let table = migration.find(&format!("CREATE TABLE {name} ("))?;
        let end = table + migration[table..].find("\n)")?;
        Some(end + migration[end..].find(';')?)
    });
    &migration[ends.max().unwrap_or(0)..]
}

fn replace_texts(transaction: &Connection, version: usize) -> Result<(), Cause> {
    transaction.execute_batch("PRAGMA writable_schema = ON")?;
    let sql = "UPDATE sqlite_schema SET sql = ?1 WHERE type = 'table' AND name = ?2 AND sql = ?3";
    let mut replace = transaction.prepare(sql)?;
    let now = declared(version + 1);
    for (name, before) in declared(version) {
        let after = &now[name];
        // The old text is compared as well: rows were written for that one, and another one may
        // have other columns.
        if before.sql != after.sql && replace.execute([after.sql, name, before.sql])? != 1 {
            return Err(Cause::Altered(format!(
                "the table {name} is not the table that profdb makes"
            )));
        }
    }
    Ok(())
}

/// Tells other programs that what they have read of the schema is out of date.
fn raise_cookie(transaction: &Connection) -> rusqlite::Result<()> {
    let cookie: i64 = transaction.query_row("PRAGMA schema_version", [], |row| row.get(0))?;
    transaction.pragma_update(None, "schema_version", cookie + 1)
}

#[cfg(test)]
mod tests {
    use super::super::migrate::apply;
    use super::super::migrations::MigrationKind;
    use super::*;
    use crate::store::file::connection;

    fn restating() -> usize {
        MIGRATIONS
            .iter()
            .position(|step| step.kind == MigrationKind::Restates)
            .expect("there is one")
    }

    /// A database as it was before a migration that restates, in a transaction.
    fn before(version: usize) -> Connection {
        let connection = connection::open_in_memory().expect("room for a database");
        connection.execute_batch("BEGIN").expect("a transaction");
        for step in 0..version {
            apply(&connection, step).unwrap_or_else(|cause| panic!("step {step}: {cause:?}"));
        }
        connection
    }

    fn text(connection: &Connection, name: &str) -> String {
        let sql = "SELECT sql FROM sqlite_schema WHERE name = ?1";
        connection
            .query_row(sql, [name], |row| row.get(0))
            .expect("it is there")
    }

    #[test]
    fn only_texts_that_are_known_are_replaced() {
        let version = restating();
        let (old, new) = (declared(version), declared(version + 1));
        let changed: Vec<_> = old
            .iter()
            .filter(|(name, before)| before.sql != new[*name].sql)
            .collect();
        assert!(changed.len() > 10);
        for (name, before_sql) in changed {
            let connection = &before(version);
            connection
                .set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false)
                .expect("a setting");
            let other = before_sql.sql.replacen('\n', "\n ", 1);
            let change = "UPDATE sqlite_schema SET sql = ?1 WHERE name = ?2";
            connection
                .execute_batch("PRAGMA writable_schema = ON")
                .expect("a setting");
            connection
                .execute(change, [&*other, name])
                .expect("not defensive");
            connection
                .execute_batch("PRAGMA writable_schema = OFF")
                .expect("a setting");
            connection
                .set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)
                .expect("a setting");
            let refused = restate(connection, version).expect_err("another text");
            assert!(
                matches!(&refused, Cause::Altered(what) if what.contains(*name)),
                "{name}: {refused:?}"
            );
            assert_eq!(text(connection, name), other);
            is_closed(connection, name);
        }
    }

    #[test]
    fn the_connection_is_as_guarded_as_before_and_knows_the_new_texts() {
        let version = restating();
        let connection = &before(version);
        restate(connection, version).expect("texts as they were made");
        is_closed(connection, "after");
        for (name, after) in declared(version + 1) {
            assert_eq!(text(connection, name), after.sql);
        }
        let sql = "SELECT COUNT(*) FROM pragma_foreign_key_list('edges') WHERE \"to\" IS NULL";
        let unnamed: i64 = connection
            .query_row(sql, [], |row| row.get(0))
            .expect("a number");
        assert_eq!(unnamed, 0);
        connection.execute_batch("ROLLBACK").expect("a transaction");
        let left: i64 = connection
            .query_row("SELECT COUNT(*) FROM sqlite_schema", [], |row| row.get(0))
            .expect("none");
        assert_eq!(left, 0);
    }

    fn is_closed(connection: &Connection, about: &str) {
        assert!(
            connection
                .db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE)
                .expect("a setting"),
            "{about}"
        );
        let change = "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema";
        assert!(connection.execute_batch(change).is_err(), "{about}");
    }
}
