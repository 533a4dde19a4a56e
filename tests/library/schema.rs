//! The schema of profdb's databases.

use profdb::store::{APPLICATION_ID, Database, SCHEMA, SchemaState, versions};
use rusqlite::Connection;
use rusqlite::types::Value;

fn rows(connection: &Connection, sql: &str) -> Vec<Vec<Value>> {
    let mut statement = connection.prepare(sql).expect("a statement");
    let width = statement.column_count();
    let rows = statement
        .query_map([], |row| (0..width).map(|at| row.get(at)).collect())
        .expect("rows");
    rows.collect::<Result<_, _>>().expect("values")
}

#[test]
fn new_database_has_the_latest_version() {
    let database = Database::in_memory().expect("memory for a database");
    let marks =
        "SELECT application_id, user_version FROM pragma_application_id, pragma_user_version";
    let (version, _) = versions();
    assert_eq!(
        rows(database.connection(), marks),
        [[
            Value::Integer(APPLICATION_ID.into()),
            Value::Integer(version)
        ]]
    );
    assert_eq!(SCHEMA.latest_version(), version);
    assert_eq!(
        SCHEMA.state(database.connection()),
        Ok(SchemaState::Version(version))
    );
}

#[test]
fn statements_of_a_page_make_the_schema_of_a_new_database() {
    let database = Database::in_memory().expect("memory for a database");
    let statements = database.trimmed(&[], false).expect("statements");
    let made = Connection::open_in_memory().expect("memory for a database");
    made.execute_batch(&statements).expect("sound statements");
    for sql in [
        "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY rowid",
        "SELECT tbl, idx, stat FROM sqlite_stat1 ORDER BY rowid",
        "SELECT application_id, user_version FROM pragma_application_id, pragma_user_version",
    ] {
        assert_eq!(rows(&made, sql), rows(database.connection(), sql), "{sql}");
    }
}

/// SQLite takes a foreign key without a column for a reference to the primary key; other programs need the name of the column.
#[test]
fn foreign_keys_name_their_columns() {
    let database = Database::in_memory().expect("memory for a database");
    let references = rows(
        database.connection(),
        "SELECT object.name, reference.\"table\", reference.\"to\"
         FROM sqlite_schema AS object, pragma_foreign_key_list(object.name) AS reference
         WHERE object.type = 'table'",
    );
    assert!(references.len() > 15, "{references:?}");
    for reference in references {
        assert_ne!(reference[2], Value::Null, "{reference:?}");
    }
}
