//! Databases: new files, room for compacting, statements that make a copy, and rows read from pages.

#![expect(
    clippy::disallowed_methods,
    reason = "reads small files that the test wrote"
)]

use std::fs::{self, File};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::Path;

use profdb::base::error::Stop;
use profdb::events::{
    Cost, Edge, EdgeCost, EdgeKind, Frame, FunctionDef, FunctionId, Label, LabelValue, Line,
    Sample, Sink,
};
use profdb::store::{Below, Database, LockWait, StoreError};
use rusqlite::Connection;
use rusqlite::types::Value;

use crate::support::described_runs::{add_run, emit_time};
use crate::support::made_runs::made_up;
use crate::support::random::Random;

fn texts(connection: &Connection, sql: &str) -> Vec<String> {
    let mut statement = connection.prepare(sql).expect("a statement");
    let rows = statement.query_map([], |row| row.get(0)).expect("rows");
    rows.collect::<Result<_, _>>().expect("rows")
}

#[test]
fn new_file_has_the_tables_that_statements_make() {
    let made = Database::in_memory().expect("memory");
    let folder = tempfile::tempdir().expect("a folder");
    let new = Database::open(&folder.path().join("new.db")).expect("a new file");
    let [made, new] = [&made, &new].map(Database::connection);
    for sql in [
        "SELECT FORMAT('%s %s %s %d %s', type, name, tbl_name, rootpage, sql) FROM sqlite_schema ORDER BY rowid",
        "SELECT FORMAT('%d %d', user_version, application_id) FROM pragma_user_version, pragma_application_id",
        "SELECT FORMAT('%d %s %s %s', position, about, pattern, replacement) FROM identity_rules",
        "SELECT HEX(digest) FROM identity_digests",
        "SELECT FORMAT('%s %s %s', tbl, idx, stat) FROM sqlite_stat1 ORDER BY rowid",
        "PRAGMA integrity_check",
    ] {
        let rows = texts(new, sql);
        assert!(!rows.is_empty(), "{sql}");
        assert_eq!(rows, texts(made, sql), "{sql}");
    }
    let views = texts(new, "SELECT name FROM sqlite_schema WHERE type = 'view'");
    assert!(!views.is_empty());
    for view in views {
        let rows = texts(new, &format!("SELECT 'a row' FROM {view}"));
        assert!(rows.is_empty(), "{view}");
    }
}

/// The file has a hole of eight tebibytes: no disk has room for two copies of it.
#[cfg(unix)]
#[test]
fn database_without_room_for_two_copies_is_not_compacted() {
    const PAGES: u64 = 1 << 31;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("large.db");
    let mut database = Database::open(&path).expect("a new file");
    add_run(&mut database, &made_up(), |_| {});
    drop(database);
    let mut file = File::options().write(true).open(&path).expect("a file");
    file.set_len(4096 * PAGES).expect("a file with a hole");
    let pages = u32::try_from(PAGES).expect("32 bits").to_be_bytes();
    file.seek(SeekFrom::Start(28)).expect("a header");
    file.write_all(&pages).expect("a header");
    let mut database = Database::open(&path).expect("a database");
    let Err(StoreError::NoRoomToCompact { needed, free, .. }) = database.compact() else {
        panic!("there is room for a database of eight tebibytes");
    };
    // A copy, the journal of as many pages, and 64 pages more.
    assert_eq!(needed, 4096 * (2 * PAGES + 64));
    assert!(free < needed);
}

fn values(connection: &Connection, sql: &str) -> Vec<Vec<Value>> {
    let mut statement = connection.prepare(sql).expect("a statement");
    let width = statement.column_count();
    let rows = statement
        .query_map([], |row| (0..width).map(|at| row.get(at)).collect())
        .expect("rows");
    rows.collect::<Result<_, _>>().expect("rows")
}

#[test]
fn statements_for_a_copy_keep_every_value() {
    let mut database = Database::in_memory().expect("memory");
    let title = |text: &str| Value::Text(text.to_owned());
    let rows = [
        [
            title("it's\n\u{e9}"),
            Value::Real(0.1 + 0.2),
            Value::Blob(b"\x00\xff'".to_vec()),
        ],
        [title("a\0b"), Value::Real(5.0), Value::Blob(Vec::new())],
        [Value::Null, Value::Real(f64::NEG_INFINITY), Value::Null],
        [title(""), Value::Real(1e300), Value::Blob(b"x".to_vec())],
    ];
    let mut runs = Vec::new();
    for [title, bias, fingerprint] in rows {
        let run = add_run(&mut database, &made_up(), |_| {});
        let sql = "UPDATE runs SET title = ?1, timer_bias = ?2, fingerprint = ?3, source_bytes = ?4 WHERE run_id = ?5";
        let values = (title, bias, fingerprint, i64::MIN + 1, run);
        assert_eq!(database.connection().execute(sql, values), Ok(1));
        runs.push(run);
    }
    let script = database.trimmed(&runs, false).expect("a database");
    let copy = Connection::open_in_memory().expect("memory");
    copy.execute_batch(&script).expect("statements");
    let sql = "SELECT title, timer_bias, fingerprint, source_bytes FROM runs ORDER BY run_id";
    let copied = values(&copy, sql);
    assert_eq!(copied, values(database.connection(), sql));
    assert_eq!(copied.len(), 4);
    // Only the runs that are asked for are copied.
    let script = database.trimmed(&runs[..1], false).expect("a database");
    let copy = Connection::open_in_memory().expect("memory");
    copy.execute_batch(&script).expect("statements");
    assert_eq!(values(&copy, sql), copied[..1]);
}

/// Emits nodes of functions in random order. Most are open while thousands of others follow.
fn emit_nodes(sink: &mut dyn Sink, functions: usize) {
    const NODES: usize = 20_000;
    let time = emit_time(sink);
    let functions: Vec<FunctionId> = (0..functions)
        .map(|at| sink.function(FunctionDef::named(&format!("f{at}"))))
        .collect();
    let mut random = Random(7);
    let mut open = 0;
    for node in 0..NODES {
        let function = functions[random.below(functions.len())];
        sink.enter(Frame::function(function), Some(1));
        sink.cost(time, Cost::Exclusive(1.0));
        open += 1;
        // The depth grows slowly, and one of four nodes has no children.
        let closed = if node % 4 == 0 { 1 } else { random.below(2) };
        for _ in 0..closed {
            sink.leave();
        }
        open -= closed;
    }
    for _ in 0..open {
        sink.leave();
    }
}

/// Lists of nodes are longer than the part that is kept in memory in a debug build.
#[test]
fn nodes_of_each_function_are_stored_in_order() {
    let folder = tempfile::tempdir().expect("a folder");
    for functions in [1, 3, 100] {
        let path = folder.path().join(format!("{functions}.db"));
        let mut file = Database::open(&path).expect("a new file");
        let mut memory = Database::in_memory().expect("memory");
        for database in [&mut file, &mut memory] {
            add_run(database, &made_up(), |sink| emit_nodes(sink, functions));
        }
        let left = fs::read_dir(folder.path()).expect("a folder").count();
        let sql = "SELECT function_id, node_id FROM function_nodes";
        let nodes = values(file.connection(), sql);
        assert!(nodes == values(memory.connection(), sql), "{functions}");
        assert_eq!(nodes.len(), 20_000);
        assert_eq!(texts(file.connection(), "PRAGMA integrity_check"), ["ok"]);
        fs::remove_file(&path).expect("a file");
        assert_eq!(left, 1, "no temporary file is left");
    }
}

/// Emits edges whose callers lie in files with short and with long names.
fn emit_edges(sink: &mut dyn Sink) {
    let time = emit_time(sink);
    let [caller, callee] = ["f", "g"].map(|name| sink.function(FunctionDef::named(name)));
    for number in 0..600_u32 {
        let length = if number % 2 == 0 { 4500 } else { 9 };
        let file = format!("{number:03}").repeat(length / 3);
        let line = Line {
            file: &file,
            line: number + 1,
            col: 0,
        };
        sink.edge(Edge {
            callee,
            caller: Some(Frame {
                function: caller,
                line: Some(line),
            }),
            kind: EdgeKind::Call,
            calls: Some(number.into()),
            costs: &[EdgeCost {
                metric: time,
                exclusive: Some(f64::from(number)),
                cumulative: None,
                outermost: None,
                seen: None,
            }],
        });
    }
}

/// The pages of edges and of their index take more than two mebibytes, of which one is kept in memory.
#[test]
fn edges_with_long_names_of_files_are_stored_completely() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut file = Database::open(&folder.path().join("x.db")).expect("a new file");
    let mut memory = Database::in_memory().expect("memory");
    let mut temporary = Database::temporary(folder.path()).expect("memory");
    for database in [&mut file, &mut memory, &mut temporary] {
        add_run(database, &made_up(), emit_edges);
    }
    let sql = "SELECT callee_id, caller_id, line_file, caller_line, calls, exclusive FROM edges";
    let expected = values(memory.connection(), sql);
    assert_eq!(expected.len(), 600);
    for database in [&file, &temporary] {
        assert!(values(database.connection(), sql) == expected);
        assert_eq!(
            texts(database.connection(), "PRAGMA integrity_check"),
            ["ok"]
        );
    }
    let length = fs::metadata(folder.path().join("x.db"))
        .expect("a file")
        .len();
    assert!(length > 2 << 20, "{length} bytes");
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
}

/// Small pages: a thousand rows are a tree of several levels.
const PAGE_SIZE: u32 = 512;

/// Emits about 600 nodes with costs in three metrics, lines, labels and long names of files.
fn emit_tree(sink: &mut dyn Sink, seed: u64) {
    let mut random = Random(seed);
    let time = emit_time(sink);
    let metrics = [time, sink.samples("samples"), sink.samples("others")];
    let long = "é".repeat(1500);
    let functions: Vec<FunctionId> = (0..60)
        .map(|at| sink.function(FunctionDef::named(&format!("f{at}"))))
        .collect();
    for _ in 0..130 {
        let stack: Vec<Frame<'_>> = (0..=random.below(8))
            .map(|_| {
                let line = Line {
                    file: ["", "a.c", &long][usize::from(random.below(50) == 0) * 2],
                    line: u32::try_from(1 + random.below(90)).expect("small"),
                    col: 0,
                };
                Frame {
                    function: functions[random.below(60)],
                    line: Some(line).filter(|_| line.line.is_multiple_of(2)),
                }
            })
            .collect();
        let label = Label {
            key: "request",
            value: LabelValue::Number(i64::try_from(random.below(5)).expect("small")),
            unit: "",
        };
        let labels = sink.labels(&[label]);
        let cost = [0.0, -0.5, 1e200, 12.0, 1.0 / 7.0][random.below(5)];
        let values: Vec<_> = metrics
            .iter()
            .map(|metric| (*metric, cost))
            .filter(|_| random.below(4) > 0)
            .collect();
        sink.sample(Sample {
            stack: &stack,
            shared: 0,
            calls: Some(random.next() >> 24).filter(|calls| calls % 3 > 0),
            values: &values,
            labels: Some(labels).filter(|_| random.below(3) > 0),
        });
    }
}

/// Makes a database with two runs and small pages.
fn small_pages(path: &Path, seed: u64) {
    let mut database = Database::open(path).expect("a new file");
    for run in 0..2 {
        add_run(&mut database, &made_up(), |sink| {
            emit_tree(sink, seed + run);
        });
    }
    drop(database);
    let connection = Connection::open(path).expect("a database");
    let sql = format!("PRAGMA synchronous = OFF; PRAGMA page_size = {PAGE_SIZE}; VACUUM");
    connection.execute_batch(&sql).expect("room");
}

/// The numbers of the metrics of a run.
fn metrics(database: &Database, run: i64) -> Result<Vec<i64>, StoreError> {
    let metrics = database.metrics(run)?;
    Ok(metrics.iter().map(|metric| metric.metric_id).collect())
}

/// Returns the rows of all tables of a run as text. Subtrees of nodes are skipped at random, about one of `every`.
fn rows(database: &Database, run: i64, every: usize) -> Result<Vec<String>, StoreError> {
    let metrics = metrics(database, run)?;
    let mut rows = Vec::new();
    let mut random = Random(every as u64);
    let mut below = || match random.below(every) {
        0 => Below::Unwanted,
        _ => Below::Wanted,
    };
    database.each_wanted_node(run, &metrics, |nodes| {
        rows.push(format!("{nodes:?}"));
        Ok::<_, StoreError>(below())
    })?;
    for metric in metrics {
        database.each_wanted_call(run, metric, |call| {
            rows.push(format!("{call:?}"));
            Ok::<_, StoreError>(below())
        })?;
        database.each_function_figure(metric, |row| rows.push(format!("{row:?}")))?;
        database.each_line_figure(metric, |row| rows.push(format!("{row:?}")))?;
        database.each_call_figure(metric, |row| rows.push(format!("{row:?}")))?;
        rows.push(format!("{:?}", database.node_labels(metric)?));
    }
    Ok(rows)
}

#[test]
fn rows_from_pages_and_by_statements_are_equal() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("small.db");
    small_pages(&path, 1);
    let by_pages = Database::open_read_only(&path).expect("a database");
    let mut by_sql = Database::open_read_only(&path).expect("a database");
    by_sql.read_without_pages().expect("a guard");
    let sql = "SELECT data FROM sqlite_dbpage WHERE pgno = 1";
    assert!(by_pages.connection().prepare(sql).is_ok());
    assert!(by_sql.connection().prepare(sql).is_err());
    let mut counts = Vec::new();
    for run in [1, 2] {
        for every in [2, 3, 40, usize::MAX] {
            let [by_pages, by_sql] =
                [&by_pages, &by_sql].map(|database| rows(database, run, every).expect("rows"));
            assert!(by_pages == by_sql, "run {run}, {every}");
            counts.push(by_pages.len());
        }
    }
    assert!(
        counts[3] > 2500 && counts[0] < counts[3] / 3 * 2,
        "{counts:?}"
    );
}

#[test]
fn walk_through_a_damaged_file_ends_with_rows_or_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("small.db");
    small_pages(&path, 9);
    let whole = fs::read(&path).expect("a database");
    let most = {
        let database = Database::open_read_only(&path).expect("a database");
        rows(&database, 2, usize::MAX).expect("rows").len()
    };
    let page_size = usize::try_from(PAGE_SIZE).expect("small");
    let (mut refused, mut read) = (0, 0);
    let mut random = Random(5);
    for _ in 0..25 {
        let mut bytes = whole.clone();
        for _ in 0..=random.below(6) {
            // The first pages hold the schema.
            let start = bytes.len() / 4;
            let at = start + random.below(bytes.len() - start);
            // Headers of pages are changed more often than rows.
            let at = if random.below(2) == 0 {
                at - at % page_size + random.below(16)
            } else {
                at
            };
            bytes[at] = random.next().to_le_bytes()[0];
        }
        fs::write(&path, bytes).expect("room");
        let rows =
            Database::open_read_only(&path).and_then(|database| rows(&database, 2, usize::MAX));
        match rows {
            Ok(rows) => {
                // A page in the place of another one gives its rows twice.
                assert!(rows.len() <= 4 * most, "{} rows", rows.len());
                read += 1;
            }
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 5 && read > 1, "{refused} refused, {read} read");
}

#[test]
fn walk_stops_soon_after_it_is_asked_to() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("small.db");
    small_pages(&path, 1);
    let stop = Stop::default();
    let wait = LockWait {
        stop: stop.clone(),
        ..LockWait::default()
    };
    let database = Database::open_read_only_waiting(&path, &wait).expect("a database");
    let metrics = metrics(&database, 1).expect("a database");
    let mut nodes = 0;
    let walked = database.each_node_in(1, &metrics, |_| {
        nodes += 1;
        stop.set();
        Ok::<_, StoreError>(())
    });
    assert!(walked.is_err(), "{nodes} nodes");
    assert!(nodes < 100, "{nodes} nodes");
}
