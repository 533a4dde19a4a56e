//! Lines of files whose names are too long for a page of the database: tables and indexes have the name in their
//! keys, so that their rows have overflow pages. Lengths lie around each threshold of SQLite's file format, on
//! both sides of it.

#![expect(clippy::disallowed_methods, reason = "small files of our own")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::support::program;
use profdb::base::error::Stop;
use profdb::events::{
    Cost, Edge, EdgeCost, EdgeKind, Fidelity, Frame, FunctionDef, Line, MetricId, Noise, RunFact,
    Sink, Unit,
};
use profdb::formats::{Confidence, Format, Options, Salvage};
use profdb::input::{Input, Limits};
use profdb::pipeline::{import, meta};
use profdb::store::{Database, RunMeta};
use rusqlite::Connection;

const DATABASE: &str = "x.db";

const METRICS: [&str; 3] = ["one", "two", "three"];

/// Lengths of the names. With pages of 4,096 bytes, a record of an index stays on its page up to 1,002 bytes, of
/// longer ones 489 bytes and what fills the last overflow page of 4,092; records have some 20 to 70 bytes besides
/// the name.
fn lengths() -> BTreeSet<usize> {
    let around = [489, 512, 1002, 489 + 4092, 1002 + 4092, 489 + 2 * 4092];
    let near = around
        .into_iter()
        .flat_map(|threshold| (threshold - 75..threshold + 15).step_by(3));
    near.chain(400..410).chain([1, 20_000, 100_000]).collect()
}

fn name(length: usize) -> String {
    let mut name = format!("{length:06}/");
    name.extend(std::iter::repeat_n('x', length));
    name.truncate(length);
    name
}

const TREE: Format = Format {
    name: "random",
    summary: "a tree whose lines are in files with long names",
    revision: 1,
    sniff: |_| Confidence::No,
    has_empty_recordings: true,
    salvage: Salvage::Importer,
    options: &[],
    import: |_, _, sink| {
        say_tree(sink);
        Ok(())
    },
};

const EDGES: Format = Format {
    summary: "calls from lines in files with long names",
    import: |_, _, sink| {
        say_edges(sink);
        Ok(())
    },
    ..TREE
};

fn metrics(sink: &mut dyn Sink) -> [MetricId; 3] {
    METRICS.map(|name| sink.metric(name, Unit::Count, Noise::Exact))
}

fn functions(sink: &mut dyn Sink) -> [Frame<'static>; 2] {
    ["caller", "callee"].map(|name| Frame::function(sink.function(FunctionDef::named(name))))
}

fn in_file<'f>(caller: Frame<'static>, file: &'f str) -> Frame<'f> {
    let (line, col) = (7, 0);
    Frame {
        line: Some(Line { file, line, col }),
        ..caller
    }
}

fn say_tree(sink: &mut dyn Sink) {
    let metrics = metrics(sink);
    let [caller, callee] = functions(sink);
    sink.enter(caller, Some(1));
    for length in lengths() {
        sink.enter(in_file(caller, &name(length)), Some(1));
        sink.enter(callee, Some(1));
        for metric in metrics {
            sink.cost(metric, Cost::Exclusive(1.0));
        }
        sink.leave();
        sink.leave();
    }
    sink.leave();
}

fn say_edges(sink: &mut dyn Sink) {
    sink.run(RunFact::Fidelity(Fidelity::Edges));
    let metrics = metrics(sink);
    let [caller, callee] = functions(sink);
    for length in lengths() {
        let costs = metrics.map(|metric| EdgeCost {
            metric,
            exclusive: Some(1.0),
            cumulative: Some(1.0),
            outermost: None,
            seen: None,
        });
        sink.edge(Edge {
            callee: callee.function,
            caller: Some(in_file(caller, &name(length))),
            kind: EdgeKind::Call,
            calls: Some(1),
            costs: &costs,
        });
    }
}

fn add(folder: &Path, database: &str, format: &'static Format) {
    let (options, stop) = (Options::default(), Stop::default());
    let input = Input::new(Box::new(&b"any"[..]), Limits::default(), stop.clone());
    let describe = |fingerprint| RunMeta {
        again: true,
        ..meta(format, &options, "input", fingerprint)
    };
    let open = || Database::open(&folder.join(database));
    let input = input.expect("some bytes");
    import(input, format, &options, &stop, describe, open).expect("it is stored");
}

fn profdb(folder: &Path, arguments: &str) {
    let mut command = program::command();
    let done = command
        .args(arguments.split(' '))
        .current_dir(folder)
        .env("PROFDB_DB", DATABASE)
        .output()
        .expect("it runs");
    let [found, told] = [&done.stdout, &done.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(done.status.success(), "{arguments}: {told}{found}");
}

/// The file is sound as SQLite sees it and as profdb does, and in it are so many runs, each with all names in all metrics.
fn holds(folder: &Path, database: &str, runs: usize, about: &str) {
    profdb(folder, &format!("check --db {database}"));
    let connection = Connection::open(folder.join(database)).expect("a file");
    let found: String = connection
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .expect("an answer");
    assert_eq!(found, "ok", "{about}");
    let expected: Vec<String> = lengths().into_iter().map(name).collect();
    let found: i64 = connection
        .query_row("SELECT COUNT(*) FROM runs", [], |row| row.get(0))
        .expect("an answer");
    assert_eq!(usize::try_from(found), Ok(runs), "{about}");
    // By the table, and by the index: each has the name in rows of its own.
    for tables in [
        "metrics JOIN edges USING (metric_id)",
        "metrics JOIN edges INDEXED BY edges_by_caller USING (metric_id)",
    ] {
        let sql = format!(
            "SELECT metric_id, line_file FROM {tables} WHERE line_file <> '' ORDER BY metric_id, LENGTH(line_file)"
        );
        let mut statement = connection.prepare(&sql).expect("SQL");
        let rows = statement
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .expect("rows");
        let rows: Vec<(i64, String)> = rows.collect::<Result<_, _>>().expect("rows");
        let all: Vec<&str> = rows.iter().map(|(_, name)| name.as_str()).collect();
        let groups = all.chunks(expected.len());
        assert_eq!(groups.len(), runs * METRICS.len(), "{about}");
        for group in groups {
            assert!(group == expected, "{about}: {tables}");
        }
    }
}

fn stays_whole(format: &'static Format) {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let about = format.summary;
    add(folder, DATABASE, format);
    holds(folder, DATABASE, 1, about);
    let whole = fs::read(folder.join(DATABASE)).expect("it is there");
    // Later runs are appended to what is there.
    for run in 2..=3 {
        add(folder, DATABASE, format);
        holds(folder, DATABASE, run, about);
    }
    profdb(folder, "delete 2");
    holds(folder, DATABASE, 2, about);
    fs::write(folder.join("other.db"), whole).expect("space on the disk");
    profdb(folder, "delete 1");
    profdb(folder, "delete 3");
    profdb(folder, "compact");
    holds(folder, DATABASE, 0, about);
    profdb(folder, "merge x.db other.db");
    holds(folder, DATABASE, 1, about);
    profdb(folder, "compact");
    holds(folder, DATABASE, 1, about);
}

#[test]
fn calls_in_a_tree_keep_their_files() {
    stays_whole(&TREE);
}

#[test]
fn calls_without_paths_keep_their_files() {
    stays_whole(&EDGES);
}
