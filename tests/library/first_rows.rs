//! The first rows of every public view: viewers such as datasette ask for 101 rows and stop a statement after a second. Steps of
//! SQLite's virtual machine measure the work. A machine executes more than 10,000,000 of them in a second.

use profdb::store::Database;
use rusqlite::StatementStatus;

/// Number of runs.
const RUNS: u32 = 182;
/// Number of functions of each run.
const FUNCTIONS: u32 = 500;
/// Maximum number of steps for the first rows of a view.
const FIRST_STEPS: i32 = 1_000_000;
/// Maximum number of steps to count the rows of `history`.
const COUNT_STEPS: i32 = 5_000_000;

/// Returns a database of runs in which one function calls all others, under two build-specific names each.
fn database() -> Database {
    let database = Database::in_memory().expect("memory for a database");
    let sql = format!(
        "BEGIN;
        CREATE TEMP TABLE r AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {RUNS}) SELECT i FROM n;
        CREATE TEMP TABLE f AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {FUNCTIONS}) SELECT i FROM n;
        INSERT INTO runs (run_id, run_uid, format, fidelity, source_name, source_sha256, source_bytes, imported_at, first_node,
          last_node, profdb_version, functions)
        SELECT i, 'uid' || i, 'folded', 'tree', i || '.folded', '', 1, '2026-01-31T09:30:00Z', (i - 1) * {FUNCTIONS} + 1,
          i * {FUNCTIONS}, '0', {FUNCTIONS} FROM r;
        INSERT INTO run_tags SELECT i, 'commit_count', i FROM r;
        INSERT INTO metrics (metric_id, run_id, name, unit, position, total, total_source, timer_readings)
        SELECT i, i, 'samples', 'count', 1, {FUNCTIONS}, 'counted', 0 FROM r;
        UPDATE runs SET default_metric_id = run_id;
        INSERT INTO identities SELECT i, 'code', 'f' || i, '', '', 0, CAST(i AS BLOB) FROM f;
        INSERT INTO functions (function_id, kind, name, identity_id)
        SELECT i + build * {FUNCTIONS}, 'function', 'f' || i || '.' || build, i FROM f, (SELECT 0 AS build UNION ALL SELECT 1);
        INSERT INTO function_info SELECT r.i, f.i + r.i % 2 * {FUNCTIONS}, 1, 1, 1, 1, 1, 0 FROM r, f;
        INSERT INTO nodes (node_id, up, size, depth, function_id, calls, exclusive, cumulative_other)
        SELECT (r.i - 1) * {FUNCTIONS} + f.i, IIF(f.i = 1, NULL, f.i - 1), IIF(f.i = 1, {FUNCTIONS} - 1, 0), f.i > 1,
          f.i + r.i % 2 * {FUNCTIONS}, 1, 1, IIF(f.i = 1, {FUNCTIONS}, NULL) FROM r, f;
        INSERT INTO function_nodes
        SELECT r.i, f.i + r.i % 2 * {FUNCTIONS}, (r.i - 1) * {FUNCTIONS} + f.i FROM r, f;
        COMMIT;"
    );
    let connection = database.connection();
    connection.execute_batch(&sql).expect("rows of the runs");
    database
}

/// Returns the number of rows of a statement, and the steps that they cost.
fn count_steps(database: &Database, sql: &str) -> (u32, i32) {
    let mut statement = database.connection().prepare(sql).expect("a statement");
    let mut rows = statement.query([]).expect("rows");
    let mut count = 0;
    while rows.next().expect("a row").is_some() {
        count += 1;
    }
    drop(rows);
    (count, statement.get_status(StatementStatus::VmStep))
}

#[test]
fn views_of_many_runs_give_first_rows_in_few_steps() {
    let database = database();
    let names = "SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY name";
    let mut names = database.connection().prepare(names).expect("a statement");
    let names = names.query_map([], |row| row.get::<_, String>(0));
    for view in names.expect("rows") {
        let view = view.expect("a name");
        let (_, steps) = count_steps(&database, &format!("SELECT * FROM {view} LIMIT 101"));
        assert!(steps < FIRST_STEPS, "{view}: {steps} steps");
    }
    for (view, expected) in [("history", 101), ("changes", 101), ("ancestors", 101)] {
        let (rows, _) = count_steps(&database, &format!("SELECT * FROM {view} LIMIT 101"));
        assert_eq!(rows, expected, "{view}");
    }
}

#[test]
fn rows_of_the_history_of_many_runs_are_counted_in_few_steps() {
    let database = database();
    let sql = "SELECT 1 FROM (SELECT COUNT(*) AS rows FROM (SELECT * FROM history)) WHERE rows = ";
    let (rows, steps) = count_steps(&database, &format!("{sql}{}", RUNS * FUNCTIONS));
    assert_eq!(rows, 1);
    assert!(steps < COUNT_STEPS, "{steps} steps");
}
