//! `Migrations`, with a schema of two migrations.

use profdb::store::{Migrations, SCHEMA, SchemaState};
use rusqlite::Connection;

const BOOKS: &str = "CREATE TABLE books (
  -- The books of a library.
  book_id INTEGER PRIMARY KEY, -- number
  title   TEXT NOT NULL        -- title
) STRICT;

CREATE TRIGGER books_insert AFTER INSERT ON books BEGIN
  -- Refuses books without a title; CREATE in a comment is not a statement.
  SELECT RAISE(ABORT, 'no title') WHERE NEW.title = '';
END;
";

const PAGES: &str = "ALTER TABLE books RENAME TO books_1;

CREATE TABLE books (
  -- The books of a library.
  book_id INTEGER PRIMARY KEY, -- number
  title   TEXT NOT NULL,       -- title
  pages   INTEGER              -- number of pages; NULL if unknown
) STRICT;

INSERT INTO books (book_id, title) SELECT book_id, title FROM books_1;

DROP TABLE books_1;

CREATE TRIGGER books_insert AFTER INSERT ON books BEGIN
  -- Refuses books without a title or pages.
  SELECT RAISE(ABORT, 'no title') WHERE NEW.title = '' OR NEW.pages = 0;
END;

CREATE INDEX books_by_title ON books (
  -- Finds a book.
  title
);
";

/// A schema with one migration.
const OLD: Migrations = Migrations {
    application_id: 0x424f_4f4b,
    first_version: 5,
    scripts: &[BOOKS],
    views: &[("titles", "CREATE VIEW titles AS SELECT title FROM books;\n")],
};

/// The same schema after a second migration, with another text of the view.
const NEW: Migrations = Migrations {
    scripts: &[BOOKS, PAGES],
    views: &[(
        "titles",
        "CREATE VIEW titles AS SELECT title, pages FROM books;\n",
    )],
    ..OLD
};

fn in_memory() -> Connection {
    Connection::open_in_memory().expect("memory for a database")
}

/// Returns a new database.
fn made(migrations: &Migrations) -> Connection {
    let connection = in_memory();
    let state = migrations.upgrade(&connection).expect("sound statements");
    assert_eq!(state, SchemaState::Empty);
    connection
}

/// Returns one text per row.
fn texts(connection: &Connection, sql: &str) -> Vec<String> {
    let mut statement = connection.prepare(sql).expect("a statement");
    let rows = statement.query_map([], |row| row.get(0)).expect("rows");
    rows.collect::<Result<_, _>>().expect("texts")
}

/// Returns the marks and all objects of a database.
fn schema(connection: &Connection) -> Vec<String> {
    let marks = "SELECT FORMAT('%d %d', application_id, user_version)
                 FROM pragma_application_id, pragma_user_version";
    let objects =
        "SELECT FORMAT('%s %s %s', type, name, sql) FROM sqlite_schema ORDER BY type, name";
    [texts(connection, marks), texts(connection, objects)].concat()
}

fn state(migrations: &Migrations, connection: &Connection) -> SchemaState {
    migrations.state(connection).expect("a database")
}

#[test]
fn upgrade_of_an_empty_database_runs_all_migrations() {
    assert_eq!((OLD.latest_version(), NEW.latest_version()), (5, 6));
    assert_eq!(state(&NEW, &in_memory()), SchemaState::Empty);
    let connection = made(&NEW);
    assert_eq!(state(&NEW, &connection), SchemaState::Version(6));
    assert_eq!(schema(&connection)[0], "1112493899 6");
    let added = "INSERT INTO books (title, pages) VALUES ('SQL', 300)";
    assert_eq!(connection.execute(added, []), Ok(1));
    let titles = "SELECT title || pages FROM titles";
    assert_eq!(texts(&connection, titles), ["SQL300"]);
}

#[test]
fn upgrade_of_an_older_database_runs_the_missing_migration_and_keeps_rows() {
    let connection = made(&OLD);
    let added = "INSERT INTO books (title) VALUES ('SQL'), ('APL')";
    assert_eq!(connection.execute(added, []), Ok(2));
    assert_eq!(state(&NEW, &connection), SchemaState::Version(5));
    assert_eq!(NEW.upgrade(&connection), Ok(SchemaState::Version(5)));
    assert_eq!(schema(&connection), schema(&made(&NEW)));
    let titles = "SELECT title FROM titles WHERE pages IS NULL ORDER BY title";
    assert_eq!(texts(&connection, titles), ["APL", "SQL"]);
    assert_eq!(NEW.upgrade(&connection), Ok(SchemaState::Version(6)));
    assert_eq!(schema(&connection), schema(&made(&NEW)));
}

#[test]
fn upgrade_at_the_latest_version_replaces_views_only() {
    let connection = made(&NEW);
    let expected = schema(&connection);
    for change in [
        "DROP VIEW titles",
        "DROP VIEW titles; CREATE VIEW titles AS SELECT 1",
    ] {
        connection.execute_batch(change).expect("a view");
        assert_eq!(NEW.upgrade(&connection), Ok(SchemaState::Version(6)));
        assert_eq!(schema(&connection), expected, "{change}");
    }
}

#[test]
fn upgrade_that_fails_can_be_rolled_back() {
    let broken = Migrations {
        scripts: &[
            BOOKS,
            PAGES,
            "DROP TABLE books; INSERT INTO missing VALUES (1);",
        ],
        ..NEW
    };
    let connection = made(&OLD);
    let before = schema(&connection);
    connection.execute_batch("BEGIN").expect("a transaction");
    assert!(broken.upgrade(&connection).is_err());
    connection.execute_batch("ROLLBACK").expect("a transaction");
    assert_eq!(schema(&connection), before);
}

#[test]
fn upgrade_leaves_databases_of_other_versions_and_applications() {
    for (pragma, expected) in [
        ("user_version = 4", SchemaState::Older(4)),
        ("user_version = 0", SchemaState::Older(0)),
        ("user_version = -1", SchemaState::Older(-1)),
        ("user_version = 7", SchemaState::Newer(7)),
        ("application_id = 1", SchemaState::OtherApplication),
        ("application_id = 0", SchemaState::OtherApplication),
    ] {
        let connection = made(&NEW);
        connection
            .execute_batch(&format!("PRAGMA {pragma}"))
            .expect("a pragma");
        let before = schema(&connection);
        assert_eq!(state(&NEW, &connection), expected);
        assert_eq!(NEW.upgrade(&connection), Ok(expected));
        assert_eq!(schema(&connection), before, "{pragma}");
    }
    assert_eq!(state(&OLD, &made(&NEW)), SchemaState::Newer(6));
    for foreign in [
        "CREATE TABLE t (x)",
        "PRAGMA user_version = 5",
        "PRAGMA application_id = 7",
    ] {
        let connection = in_memory();
        connection.execute_batch(foreign).expect("a statement");
        assert_eq!(state(&NEW, &connection), SchemaState::OtherApplication);
    }
}

/// Changes every table, index and trigger of a new database. Neither `migrations` nor their upgrade accepts the result.
fn check_altered_objects(database: &Migrations, migrations: &Migrations) {
    let mut tried = 0;
    let objects = "SELECT type || ' ' || name FROM sqlite_schema
                   WHERE type <> 'view' AND sql IS NOT NULL AND name NOT LIKE 'sqlite%'";
    for object in texts(&made(database), objects) {
        let (_, name) = object.split_once(' ').expect("a type and a name");
        for (change, message) in [
            (
                "UPDATE sqlite_schema SET sql = sql || ' /* */'",
                "is not the",
            ),
            ("DELETE FROM sqlite_schema", "is missing"),
        ] {
            let connection = made(database);
            let sql = format!("PRAGMA writable_schema = ON; {change} WHERE name = '{name}'");
            connection.execute_batch(&sql).expect("a writable schema");
            let before = schema(&connection);
            let SchemaState::Altered(difference) = state(migrations, &connection) else {
                panic!("{change} {object}");
            };
            assert!(
                difference.starts_with(&format!("the {object} {message}")),
                "{object}: {difference}"
            );
            assert_eq!(
                migrations.upgrade(&connection),
                Ok(SchemaState::Altered(difference))
            );
            assert_eq!(schema(&connection), before, "{change} {object}");
            tried += 1;
        }
    }
    assert!(tried >= 4);
}

#[test]
fn altered_objects_are_reported() {
    check_altered_objects(&OLD, &NEW);
    check_altered_objects(&NEW, &NEW);
    check_altered_objects(&SCHEMA, &SCHEMA);
}

#[test]
fn objects_of_users_are_accepted_except_triggers() {
    let connection = made(&NEW);
    let own = "CREATE TABLE mine (x);
               CREATE INDEX mine_x ON mine (x);
               CREATE UNIQUE INDEX \"my titles\" ON books (title, pages);
               CREATE VIEW my_view AS SELECT title FROM books;
               CREATE VIRTUAL TABLE words USING fts5(word);
               ANALYZE;";
    connection.execute_batch(own).expect("statements");
    assert_eq!(state(&NEW, &connection), SchemaState::Version(6));
    connection
        .execute_batch("CREATE TRIGGER t AFTER INSERT ON mine BEGIN SELECT 1; END")
        .expect("a trigger");
    let difference = "the trigger t does not belong to profdb".to_owned();
    assert_eq!(state(&NEW, &connection), SchemaState::Altered(difference));
}

#[test]
fn table_in_place_of_a_view_is_reported() {
    let connection = made(&NEW);
    connection
        .execute_batch("DROP VIEW titles; CREATE TABLE Titles (title)")
        .expect("a table");
    let difference = "the table Titles is not the view that profdb makes".to_owned();
    assert_eq!(state(&NEW, &connection), SchemaState::Altered(difference));
}
