//! `profdb check` sees a single wrong value in every column of every table that is made from
//! others.

#![expect(clippy::disallowed_methods, reason = "small files of our own")]

use std::fs;
use std::io;
use std::sync::Arc;

use crate::support::case_files::repository_path;
use crate::support::long;
use profdb::base::error::Stop;
use profdb::formats::{Options, format_named};
use profdb::input::{Input, Limits};
use profdb::pipeline::{import, meta};
use profdb::source::Folder;
use profdb::store::{CHECKS, Database, Finding, RunMeta};
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use rusqlite::types::Value;

/// Cases whose runs have rows in all tables.
const RUNS: [&str; 8] = [
    "dyalog_xml/shop-tree/run.xml",
    "dyalog_csv/several-roots/run.csv",
    "pprof/labels/run.pb",
    "pprof/lines-and-columns/run.pb",
    "sampler/recursion/run.trace",
    "lispworks_tree/recursion/run.tree",
    "ghc_px/back-edge-to-root/run.prof",
    "perf_script/source-lines/run.perf",
];

/// What is said once only: nothing else can contradict it.
const SAID_ONCE: &[(&str, &[&str])] = &[
    (
        "runs",
        &[
            "run_uid",
            "title",
            "format",
            "source_name",
            "source_sha256",
            "source_bytes",
            "tool_version",
            "command",
            "recorded_at",
            "imported_at",
            "timer_bias",
            "bias_applied",
            "profdb_version",
        ],
    ),
    ("run_tags", &["run_id", "key", "value"]),
    ("run_properties", &["run_id", "key", "value"]),
    (
        "metrics",
        &[
            "name",
            "unit",
            "timer_readings",
            "noise",
            "observations",
            "quantum",
        ],
    ),
    ("identity_rules", &["about", "origin"]),
    ("identity_digests", &["profdb_version"]),
    (
        "functions",
        &[
            "name",
            "module",
            "file",
            "first_line",
            "first_col",
            "raw_name",
        ],
    ),
    ("function_info", &["recorded"]),
    ("line_info", &["recorded"]),
    (
        "notes",
        &["note_id", "run_id", "severity", "byte", "line", "message"],
    ),
    ("label_sets", &["run_id", "set_id", "key", "value", "unit"]),
    ("node_labels", &["set_id", "exclusive"]),
    ("sources", &["sha256", "first_line"]),
    ("source_texts", &["line", "text"]),
];

/// Number of rows of a table in which a value is changed, each in turn: of the short and the long form.
const ROWS: [usize; 2] = [3, 6];

/// A folder with the source of one function.
#[derive(Debug)]
struct Apl([String; 1]);

impl Folder for Apl {
    fn files(&self) -> &[String] {
        &self.0
    }

    fn read(&self, _file: usize) -> io::Result<Vec<u8>> {
        Ok(b"f\none\ntwo\n".to_vec())
    }
}

fn add(database: Database, format: &str, bytes: &[u8]) -> Database {
    let stop = Stop::default();
    let input = Input::new(Box::new(bytes), Limits::default(), stop.clone()).expect("readable");
    let (format, options) = (format_named(format).expect("a format"), Options::default());
    let source: Arc<dyn Folder> = Arc::new(Apl(["f.aplf".to_owned()]));
    let tags = vec![("host".to_owned(), "here".to_owned())];
    let describe = |fingerprint| RunMeta {
        tags,
        source: Some(source),
        ..meta(format, &options, "input", fingerprint)
    };
    import(input, format, &options, &stop, describe, || Ok(database))
        .expect("a case imports")
        .database
}

fn database() -> Database {
    let mut database = Database::in_memory().expect("room for a database");
    for run in RUNS {
        let path = repository_path(&format!("tests/cases/{run}"));
        let bytes = fs::read(path).unwrap_or_else(|error| panic!("{run}: {error}"));
        database = add(
            database,
            run.split('/').next().expect("a folder per format"),
            &bytes,
        );
    }
    let sourced = "\"Depth\",\"Element\",\"Line\",\"Calls\",\"ExclusiveTime\",\"InclusiveTime\"\n\
                   0,\"#.f\",¯1,1,1,1\n1,\"#.f\",1,1,0.75,0.75\n1,\"#.f\",2,1,0.25,0.25\n";
    add(database, "dyalog_csv", sourced.as_bytes())
}

/// Names of things, in their order.
fn names(connection: &Connection, sql: &str, of: &str) -> Vec<String> {
    let mut statement = connection.prepare(sql).expect("a statement");
    let rows = statement.query_map([of], |row| row.get(0)).expect("names");
    rows.collect::<Result<_, _>>().expect("names")
}

/// What all checks find: of the statements, neither more nor less because of the recount that may
/// replace them.
fn findings(database: &Database, about: &str) -> Vec<Finding> {
    let found = database.check().expect("the database can be read");
    let of_statements: Vec<&Finding> = found
        .iter()
        .filter(|finding| CHECKS.iter().any(|(name, _)| *name == finding.check))
        .collect();
    let asked = database.broken_rules().expect("the database can be read");
    assert_eq!(of_statements, asked.iter().collect::<Vec<_>>(), "{about}");
    found
}

/// What the checks find once a statement has been carried out; the database is as it was then.
/// `None` if the statement changes nothing.
fn found(database: &Database, sql: &str, key: &[Value]) -> Option<usize> {
    let connection = database.connection();
    connection
        .execute_batch("SAVEPOINT before; PRAGMA ignore_check_constraints = ON")
        .expect("a savepoint");
    // What another constraint forbids cannot be wrong.
    let changed = connection
        .execute(sql, rusqlite::params_from_iter(key))
        .unwrap_or(0);
    connection
        .execute_batch("PRAGMA ignore_check_constraints = OFF")
        .expect("a pragma");
    let found = (changed > 0).then(|| findings(database, sql).len());
    connection
        .execute_batch("ROLLBACK TO before; RELEASE before")
        .expect("a savepoint");
    found
}

/// The keys of some rows: the first, the last, and some between them.
fn some_rows(connection: &Connection, table: &str, key: &[String], only: &str) -> Vec<Vec<Value>> {
    let columns = key.join(", ");
    let sql = format!("SELECT {columns} FROM {table} WHERE {only} ORDER BY {columns}");
    let mut statement = connection.prepare(&sql).expect("a statement");
    let read = |row: &rusqlite::Row<'_>| {
        (0..key.len())
            .map(|at| row.get(at))
            .collect::<Result<Vec<Value>, _>>()
    };
    let rows: Vec<_> = statement
        .query_map([], read)
        .expect("rows")
        .collect::<Result<_, _>>()
        .expect("rows");
    let step = rows
        .len()
        .div_ceil(ROWS[usize::from(long::is_long())])
        .max(1);
    let last = rows.last().cloned();
    rows.into_iter().step_by(step).chain(last).collect()
}

#[test]
fn a_sound_database_has_no_findings() {
    let database = database();
    assert_eq!(findings(&database, "sound"), []);
    let is_recounted = database.is_as_recounted();
    assert!(is_recounted.expect("the database can be read"));
}

#[test]
fn every_wrong_value_is_found() {
    let database = database();
    let connection = database.connection();
    let tables =
        "SELECT name FROM sqlite_schema WHERE type = ?1 AND name NOT LIKE 'sqlite%' ORDER BY name";
    let (mut tried, mut unseen) = (0, Vec::new());
    for table in names(connection, tables, "table") {
        let columns = names(
            connection,
            "SELECT name FROM pragma_table_info(?1) ORDER BY cid",
            &table,
        );
        let mut key = names(
            connection,
            "SELECT name FROM pragma_table_info(?1) WHERE pk > 0 ORDER BY pk",
            &table,
        );
        if key.is_empty() {
            key.push("rowid".to_owned());
        }
        let said_once = SAID_ONCE
            .iter()
            .find(|(known, _)| *known == table)
            .map_or(&[][..], |(_, columns)| columns);
        for column in columns
            .iter()
            .filter(|column| !said_once.contains(&column.as_str()))
        {
            // Figures that the file itself gave stand for themselves, and what a line within itself
            // cost with what it called is added up nowhere.
            let only = match (table.as_str(), column.as_str()) {
                ("function_info" | "line_info", _) => "recorded = 0",
                ("nodes", "exclusive") => {
                    "function_id NOT IN (SELECT function_id FROM function_info WHERE recorded = 1)"
                }
                ("nodes", "cumulative_other") => "(line IS NULL OR outer_up IS NULL)",
                ("node_costs", "cumulative_other") => {
                    "node_id IN (SELECT node_id FROM nodes WHERE line IS NULL OR outer_up IS NULL)"
                }
                // Calls without nodes are what the file says.
                ("edges", _) => "back = 0",
                ("metrics", "total") => "total_source = 'counted'",
                _ => "TRUE",
            };
            let only = format!("{only} AND {column} IS NOT NULL");
            let place: Vec<String> = key
                .iter()
                .enumerate()
                .map(|(at, key)| format!("{key} IS ?{}", at + 1))
                .collect();
            let place = place.join(" AND ");
            let mut rows = 0;
            for row in some_rows(connection, &table, &key, &only) {
                for change in [
                    format!(
                        "UPDATE {table} SET {column} = CASE TYPEOF({column}) WHEN 'text' THEN {column} || 'x' WHEN 'blob' THEN ZEROBLOB(LENGTH({column})) ELSE {column} + 1 END WHERE {place}"
                    ),
                    format!("UPDATE {table} SET {column} = NULL WHERE {place}"),
                ] {
                    let Some(count) = found(&database, &change, &row) else {
                        continue;
                    };
                    tried += 1;
                    rows += 1;
                    if count == 0 {
                        unseen.push(format!("{change} {row:?}"));
                    }
                }
            }
            if rows == 0 {
                unseen.push(format!("{table}.{column}: no row has a value"));
            }
        }
    }
    long::print_figure(format_args!("{tried} changes"));
    assert!(
        unseen.is_empty(),
        "{} of {tried} changes are not seen:\n{}",
        unseen.len(),
        unseen.join("\n")
    );
}

/// What a hash says of other rows.
#[test]
fn wrong_hashes_and_references_are_found() {
    let database = database();
    for change in [
        "UPDATE runs SET fingerprint = x'00112233445566778899aabbccddeeff' WHERE run_id = 1",
        "UPDATE identities SET identity_key = x'00112233445566778899aabbccddeeff' WHERE identity_id = 1",
        "UPDATE identity_digests SET digest = x'00'",
        "INSERT INTO identities (class, name, module, file, unnamed, identity_key) VALUES ('code', 'nobody', '', '', 0, x'00')",
        "UPDATE metrics SET observations = (SELECT MAX(metric_id) FROM metrics) WHERE run_id = 1",
    ] {
        let found = found(&database, change, &[]);
        assert!(found.is_some_and(|found| found > 0), "{change}");
    }
}

/// Rows that are not there, of tables that are made from others.
#[test]
fn every_missing_row_is_found() {
    const MADE: [&str; 6] = [
        "nodes",
        "function_nodes",
        "function_info",
        "line_info",
        "edges",
        "metrics",
    ];
    let database = database();
    let connection = database.connection();
    let mut unseen = Vec::new();
    for table in MADE {
        let mut key = names(
            connection,
            "SELECT name FROM pragma_table_info(?1) WHERE pk > 0 ORDER BY pk",
            table,
        );
        if key.is_empty() {
            key.push("rowid".to_owned());
        }
        let place: Vec<String> = key
            .iter()
            .enumerate()
            .map(|(at, key)| format!("{key} IS ?{}", at + 1))
            .collect();
        let delete = format!("DELETE FROM {table} WHERE {}", place.join(" AND "));
        let only = if table == "edges" { "back = 0" } else { "TRUE" };
        for row in some_rows(connection, table, &key, only) {
            if found(&database, &delete, &row) == Some(0) {
                unseen.push(format!("{delete} {row:?}"));
            }
        }
    }
    assert!(unseen.is_empty(), "{}", unseen.join("\n"));
}

/// What tables cannot hold unless somebody has worked on the file: values of another kind than
/// their column, in each column that is stored, and text that is not UTF-8, which SQLite lets in.
#[test]
fn values_of_a_wrong_kind_are_found() {
    let database = database();
    let connection = database.connection();
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false)
        .expect("a setting");
    let restate = |table: &str, sql: &str| {
        connection
            .execute_batch("PRAGMA writable_schema = ON")
            .expect("not defensive");
        let changed = connection.execute(
            "UPDATE sqlite_schema SET sql = ?1 WHERE name = ?2",
            [sql, table],
        );
        assert_eq!(changed, Ok(1));
        connection
            .execute_batch("PRAGMA writable_schema = RESET")
            .expect("a setting");
    };
    let tables =
        "SELECT name FROM sqlite_schema WHERE type = ?1 AND name NOT LIKE 'sqlite%' ORDER BY name";
    let (mut tried, mut unseen) = (0, Vec::new());
    for table in names(connection, tables, "table") {
        let strict = names(
            connection,
            "SELECT sql FROM sqlite_schema WHERE name = ?1",
            &table,
        )
        .remove(0);
        let lax = strict
            .replace(") STRICT, WITHOUT", ") WITHOUT")
            .replace(") STRICT", ")");
        assert_ne!(strict, lax, "{table}");
        let columns = "SELECT name || ' ' || type FROM pragma_table_info(?1) ORDER BY cid";
        let key = names(
            connection,
            "SELECT name FROM pragma_table_info(?1) WHERE pk > 0 ORDER BY pk",
            &table,
        )
        .join(", ");
        for column in names(connection, columns, &table) {
            let (column, kind) = column.split_once(' ').expect("a kind");
            let others = match kind {
                "TEXT" | "ANY" => ["x'61'", "CAST(x'61ff' AS TEXT)"],
                "BLOB" => ["'text'", "1"],
                _ => ["'text'", "x'61'"],
            };
            for other in others {
                connection
                    .execute_batch("SAVEPOINT before; PRAGMA ignore_check_constraints = ON")
                    .expect("a savepoint");
                restate(&table, &lax);
                let row = format!("SELECT {key} FROM {table} WHERE {column} IS NOT NULL LIMIT 1");
                let change =
                    format!("UPDATE {table} SET {column} = {other} WHERE ({key}) IN ({row})");
                // Numbers of rows cannot be anything else in any table.
                let changed = connection.execute(&change, []).unwrap_or(0);
                restate(&table, &strict);
                connection
                    .execute_batch("PRAGMA ignore_check_constraints = OFF")
                    .expect("a pragma");
                if changed > 0 {
                    tried += 1;
                    let found = findings(&database, &change);
                    if !found
                        .iter()
                        .any(|finding| ["integrity", "texts"].contains(&finding.check))
                    {
                        unseen.push(change);
                    }
                }
                connection
                    .execute_batch("ROLLBACK TO before; RELEASE before")
                    .expect("a savepoint");
            }
        }
    }
    long::print_figure(format_args!("{tried} changes"));
    assert!(tried > 120, "{tried}");
    assert!(
        unseen.is_empty(),
        "{} of {tried} changes are not seen:\n{}",
        unseen.len(),
        unseen.join("\n")
    );
}
