//! Files that an older profdb has written: they are brought up to date and say the same as before.

#![expect(clippy::disallowed_methods, reason = "small files of our own")]

use std::fs;
use std::path::Path;

use profdb::error::Stop;
use profdb::import::{import, meta};
use profdb::importers::{Options, by_name};
use profdb::input::{Input, Limits};
use profdb::store::{CHECKS, Database};
use rusqlite::Connection;
use rusqlite::types::Value;

/// What is in the old files: format and case, in the order of the runs.
const RUNS: [(&str, &str, &str); 5] = [
    ("dyalog_csv", "shop-tree", "run.csv"),
    ("lispworks_tree", "recursion", "run.tree"),
    ("sampler", "recursion", "run.trace"),
    ("ghc_px", "back-edge-to-root", "run.prof"),
    ("business_rules", "mixed-order", "run.prof"),
];

/// The public tables with what a run consists of, and their order.
const TABLES: [(&str, &str); 10] = [
    ("runs", "run_id"),
    ("metrics", "metric_id"),
    ("functions", "function_id"),
    ("nodes", "node_id"),
    ("node_costs", "metric_id, node_id"),
    ("function_nodes", "run_id, function_id, node_id"),
    ("function_info", "metric_id, function_id"),
    ("line_info", "metric_id, function_id, file, line, col"),
    ("edges", "metric_id, callee_id, caller_id, caller_line, caller_col, kind"),
    ("notes", "note_id"),
];

#[test]
fn a_file_of_version_1_says_the_same_as_a_new_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("old.db");
    let old = Connection::open(&path).expect("a file");
    let dump = fs::read_to_string("tests/old/version-1.dump").expect("the dump is there");
    old.execute_batch(&dump).expect("the dump of a database");
    let columns: Vec<String> = TABLES.iter().map(|(table, _)| columns(&old, table)).collect();
    let before: Vec<_> =
        TABLES.iter().zip(&columns).map(|((table, order), columns)| rows(&old, columns, table, order)).collect();
    drop(old);

    let migrated = Database::open_read_only(&path).expect("version 1 can be brought up to date");
    let new = new_database(&folder.path().join("new.db"));
    for (((table, order), columns), before) in TABLES.iter().zip(&columns).zip(&before) {
        assert!(!before.is_empty() || *table == "notes", "the old file tells us nothing about {table}");
        assert_eq!(*before, rows(migrated.connection(), columns, table, order), "{table}, migrated");
        assert_eq!(*before, rows(new.connection(), columns, table, order), "{table}, imported again");
    }
    let schema = "SELECT type, name, RTRIM(sql, char(10)) FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name";
    assert_eq!(select(migrated.connection(), schema), select(new.connection(), schema));
    let figures = "SELECT tbl, idx, stat FROM sqlite_stat1 ORDER BY tbl, idx";
    assert_eq!(select(migrated.connection(), figures), select(new.connection(), figures));
    for (name, sql) in CHECKS {
        assert_eq!(select(migrated.connection(), sql).len(), 0, "{name}");
    }
    assert_eq!(select(migrated.connection(), "PRAGMA integrity_check"), [[Value::Text("ok".to_owned())]]);
}

/// All columns that mean something to all programs: the time of an import is another each time.
fn columns(old: &Connection, table: &str) -> String {
    let sql = "SELECT group_concat(name, ', ') FROM pragma_table_xinfo(?1) WHERE name NOT IN ('imported_at', 'profdb_version')";
    old.query_row(sql, [table], |row| row.get(0)).expect("a table has columns")
}

fn new_database(path: &Path) -> Database {
    for (format, case, file) in RUNS {
        let bytes = fs::read(format!("tests/cases/{format}/{case}/case.in/{file}")).expect("the case is there");
        let stop = Stop::default();
        let input = Input::new(Box::new(&*bytes), Limits::default(), stop.clone()).expect("the text is readable");
        let format = by_name(format).expect("the format is there");
        let options = Options::default();
        let describe = |fingerprint| meta(format, &options, file, fingerprint);
        import(input, format, &options, &stop, describe, || Database::open(path)).expect("the case can be imported");
    }
    Database::open_read_only(path).expect("it has just been made")
}

fn rows(connection: &Connection, columns: &str, table: &str, order: &str) -> Vec<Vec<Value>> {
    select(connection, &format!("SELECT {columns} FROM {table} ORDER BY {order}"))
}

fn select(connection: &Connection, sql: &str) -> Vec<Vec<Value>> {
    let mut statement = connection.prepare(sql).expect("the columns are there");
    let width = statement.column_count();
    let rows = statement.query_map([], |row| (0..width).map(|at| row.get(at)).collect()).expect("rows");
    rows.collect::<Result<_, _>>().expect("rows")
}
