//! The first run of a new file is written as pages, long ones later are put after it page by page,
//! all others go through SQL. All say the same, and what a file went through while it was made
//! cannot be seen in it.

#![expect(clippy::disallowed_methods, reason = "small files of our own")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use profdb::base::error::Stop;
use profdb::events::{Cost, Frame, FunctionDef, Kind, Line, MetricId, Noise, RunFact, Sink, Unit};
use profdb::formats::{Options, format_named};
use profdb::input::{Fingerprint, Input, Limits};
use profdb::pipeline::{Failure, Imported, import, meta};
use profdb::profile::TreeBuilder;
use profdb::source::Folder;
use profdb::store::{CHECKS, Database, RunMeta, StoreError, remove_abandoned};
use rusqlite::Connection;
use rusqlite::types::Value;

use crate::support::faults::growing;
use crate::support::made_runs::{self, Batches, made_up};
use crate::support::program::{self, PROFDB};
use crate::support::tools;

#[path = "../../benches/profiles/mod.rs"]
mod profiles;

use profiles::{Profile, Version, dyalog, lisp};

/// A tree that anybody can make again.
#[derive(Clone, Copy, Debug)]
struct Shape {
    nodes: u64,
    depth: usize,
    functions: u64,
    metrics: usize,
    /// Length of the longest names.
    names: usize,
}

/// Numbers in no order: a linear congruential generator.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

impl Shape {
    fn say(self, sink: &mut dyn Sink) {
        let mut numbers = Numbers(self.nodes);
        let units = [
            ("time", Unit::Nanoseconds),
            ("ticks", Unit::Count),
            ("alloc", Unit::Bytes),
            ("gc", Unit::Count),
        ];
        let metrics: Vec<MetricId> = units[..self.metrics]
            .iter()
            .map(|(name, unit)| sink.metric(name, unit.clone(), Noise::Unknown))
            .collect();
        if let Some(second) = metrics.get(1) {
            sink.run(RunFact::DefaultMetric(*second));
            sink.run(RunFact::TimerReadings(*second));
        }
        let mut functions = Vec::new();
        for at in 0..self.functions {
            let name = format!("{}{at}", "n".repeat(self.names * usize::from(at % 7 == 3)));
            let kind = if at % 11 == 5 {
                Kind::Pseudo
            } else {
                Kind::Function
            };
            let first_line = u32::try_from(at % 3).expect("small");
            let raw_name = if at % 5 == 1 { name.as_str() } else { "" };
            let def = FunctionDef {
                kind,
                raw_name,
                module: "m",
                first_line,
                ..FunctionDef::named(&name)
            };
            functions.push(sink.function(def));
        }
        let mut open: Vec<Option<usize>> = Vec::new();
        for _ in 0..self.nodes {
            while open.len() >= self.depth || (!open.is_empty() && numbers.below(3) == 0) {
                sink.leave();
                open.pop();
            }
            let here = usize::try_from(numbers.below(self.functions)).expect("small");
            let line = open
                .last()
                .copied()
                .flatten()
                .filter(|_| numbers.below(2) == 0);
            let file = if numbers.below(9) == 0 {
                "other".repeat(self.names / 3 + 1)
            } else {
                String::new()
            };
            let calls = (numbers.below(5) > 0).then(|| numbers.below(1 << 20));
            let frame = match line {
                Some(above) => {
                    let line = Line {
                        file: &file,
                        line: u32::try_from(numbers.below(300)).expect("small"),
                        col: 0,
                    };
                    Frame {
                        function: functions[above],
                        line: Some(line),
                    }
                }
                None => Frame::function(functions[here]),
            };
            sink.enter(frame, calls);
            open.push(if line.is_some() { None } else { Some(here) });
            for metric in &metrics {
                #[expect(clippy::cast_precision_loss, reason = "any number will do")]
                let cost = numbers.below(1 << 30) as f64
                    / [1.0, 1024.0][usize::from(numbers.below(2) == 0)];
                match numbers.below(5) {
                    0 => {}
                    1 if line.is_some() => sink.cost(*metric, Cost::ExclusiveOnly(cost)),
                    2 => sink.cost(
                        *metric,
                        Cost::Both {
                            exclusive: cost,
                            cumulative: cost / 2.0,
                        },
                    ),
                    _ => sink.cost(*metric, Cost::Exclusive(cost)),
                }
            }
        }
        for _ in open {
            sink.leave();
        }
    }

    fn write(self, database: &mut Database) {
        self.write_with(database, None);
    }

    fn write_with(self, database: &mut Database, source: Option<Arc<dyn Folder>>) {
        let mut builder = TreeBuilder::new(Batches::default(), Stop::default());
        self.say(&mut builder);
        let made_up = made_up();
        let meta = RunMeta {
            fingerprint: Fingerprint {
                bytes: self.nodes,
                ..made_up.fingerprint
            },
            source,
            tags: vec![("key".to_owned(), "value".to_owned())],
            ..made_up
        };
        made_runs::write(builder, &meta, database);
    }
}

fn check(shape: Shape) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("pages.db");
    let mut pages = Database::open(&path).expect("a new file");
    assert!(
        !path.exists(),
        "a file is there when it is whole, and not before"
    );
    shape.write(&mut pages);
    assert_eq!(entries(folder.path()), std::slice::from_ref(&path));
    let mut sql = Database::in_memory().expect("memory");
    shape.write(&mut sql);
    same(&pages, &sql, shape);
    let mut temporary = Database::temporary(folder.path()).expect("memory");
    shape.write(&mut temporary);
    assert_eq!(entries(folder.path()), std::slice::from_ref(&path));
    same(&temporary, &sql, shape);
    sound(&temporary);

    // It is a file like any other. A longer run goes after the first, with functions that are new.
    let more = Shape {
        nodes: shape.nodes * 2,
        functions: shape.functions * 2,
        ..shape
    };
    more.write(&mut pages);
    more.write(&mut sql);
    same(&pages, &sql, more);
    more.write(&mut temporary);
    same(&temporary, &sql, more);
    sound(&pages);
    pages
        .connection()
        .execute_batch("VACUUM")
        .expect("a sound file");
    same(&pages, &sql, shape);
    pages.delete_run(1).expect("it is there");
    sql.delete_run(1).expect("it is there");
    same(&pages, &sql, shape);
    // In the room of the first.
    shape.write(&mut pages);
    shape.write(&mut sql);
    same(&pages, &sql, shape);
    sound(&pages);
    drop(pages);
    let again = Database::open_read_only(&path).expect("it is there");
    same(&again, &sql, shape);
}

fn sound(database: &Database) {
    assert_eq!(
        select(database, "PRAGMA integrity_check"),
        [[Value::Text("ok".to_owned())]]
    );
    assert_eq!(select(database, "PRAGMA foreign_key_check").len(), 0);
    for (name, sql) in CHECKS {
        // What the generated costs contradict on purpose does not matter here.
        if !matches!(*name, "function_totals" | "line_totals" | "edge_totals") {
            assert_eq!(select(database, sql).len(), 0, "{name}");
        }
    }
}

fn same(left: &Database, right: &Database, shape: Shape) {
    let schema = "SELECT type, name, sql FROM sqlite_schema ORDER BY type, name";
    assert_eq!(select(left, schema), select(right, schema));
    for table in select(
        left,
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'sqlite_stat4'",
    ) {
        let [Value::Text(table)] = table.as_slice() else {
            panic!("a table without a name: {table:?}")
        };
        let sql = format!(
            "SELECT group_concat(name, ', ') FROM pragma_table_xinfo('{table}') WHERE name <> 'imported_at'"
        );
        let [columns] = select(left, &sql).concat().try_into().expect("one list");
        let Value::Text(columns) = columns else {
            panic!("no columns: {columns:?}")
        };
        let sql = format!("SELECT {columns} FROM {table}");
        let [left, right] = [left, right].map(Database::connection);
        assert!(
            is_equal(left, right, &sql).expect("the columns are there"),
            "{table} differs, {shape:?}"
        );
    }
}

/// Returns true if a statement gives equal rows in two databases. Keeps no row in memory, which takes
/// less time than [`select`].
fn is_equal(left: &Connection, right: &Connection, sql: &str) -> rusqlite::Result<bool> {
    let [mut left, mut right] = [left.prepare(sql)?, right.prepare(sql)?];
    let width = left.column_count();
    let [mut left, mut right] = [left.query([])?, right.query([])?];
    loop {
        let (left, right) = match (left.next()?, right.next()?) {
            (Some(left), Some(right)) => (left, right),
            (left, right) => return Ok(left.is_none() && right.is_none()),
        };
        for column in 0..width {
            if left.get_ref(column)? != right.get_ref(column)? {
                return Ok(false);
            }
        }
    }
}

fn select(database: &Database, sql: &str) -> Vec<Vec<Value>> {
    let mut statement = database
        .connection()
        .prepare(sql)
        .expect("the columns are there");
    let width = statement.column_count();
    let rows = statement
        .query_map([], |row| (0..width).map(|at| row.get(at)).collect())
        .expect("rows");
    rows.collect::<Result<_, _>>().expect("rows")
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let found = fs::read_dir(folder)
        .expect("it is there")
        .map(|entry| entry.expect("it can be read").path());
    let mut found: Vec<_> = found.collect();
    found.sort();
    found
}

#[test]
fn pages_and_sql_say_the_same() {
    let usual = Shape {
        nodes: 3000,
        depth: 40,
        functions: 50,
        metrics: 2,
        names: 4,
    };
    check(Shape { nodes: 1, ..usual });
    check(usual);
    check(Shape {
        metrics: 1,
        ..usual
    });
    check(Shape {
        metrics: 4,
        ..usual
    });
    // Some rows come after their batch, but not many.
    check(Shape {
        nodes: 12_000,
        metrics: 3,
        ..usual
    });
    check(Shape {
        functions: 4000,
        nodes: 5000,
        ..usual
    });
    check(Shape {
        names: 3000,
        functions: 300,
        ..usual
    });
}

/// Its numbers are longer. By SQL it would take 15 % more.
#[test]
fn a_later_run_takes_hardly_more_room_than_the_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.db");
    let size = || fs::metadata(&path).expect("it is there").len();
    let shape = Shape {
        nodes: 40_000,
        depth: 40,
        functions: 50,
        metrics: 2,
        names: 4,
    };
    shape.write(&mut Database::open(&path).expect("a new file"));
    let first = size();
    shape.write(&mut Database::open(&path).expect("it is there"));
    let later = size() - first;
    assert!(later * 20 < first * 21, "{first} and {later}");
}

#[derive(Debug)]
struct Empty;

impl Folder for Empty {
    fn files(&self) -> &[String] {
        &[]
    }

    fn read(&self, _: usize) -> io::Result<Vec<u8>> {
        Err(io::ErrorKind::NotFound.into())
    }
}

/// Whoever looks for the source of the lines has to find the lines.
#[test]
fn lines_of_a_later_run_are_there_in_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let shape = Shape {
        nodes: 20_000,
        depth: 40,
        functions: 50,
        metrics: 2,
        names: 4,
    };
    let mut database = Database::open(&folder.path().join("x.db")).expect("a new file");
    let mut sql = Database::in_memory().expect("memory");
    for source in [None, Some(Arc::new(Empty) as Arc<dyn Folder>)] {
        shape.write_with(&mut database, source.clone());
        shape.write_with(&mut sql, source);
    }
    same(&database, &sql, shape);
    sound(&database);
    let notes =
        "SELECT COUNT(*) FROM notes WHERE run_id = 2 AND message LIKE 'no source for % lines'";
    assert_eq!(select(&database, notes), [[Value::Integer(1)]]);
}

/// What others have hung on the tables is kept up by SQL.
#[test]
fn an_index_of_somebody_else_is_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let shape = Shape {
        nodes: 5000,
        depth: 40,
        functions: 50,
        metrics: 2,
        names: 4,
    };
    let mut database = Database::open(&folder.path().join("x.db")).expect("a new file");
    shape.write(&mut database);
    database
        .connection()
        .execute_batch("CREATE INDEX mine ON nodes (function_id)")
        .expect("the column is there");
    shape.write(&mut database);
    sound(&database);
    let sql = "SELECT COUNT(*) FROM nodes INDEXED BY mine WHERE function_id > 0";
    assert_eq!(
        select(&database, sql),
        select(&database, "SELECT COUNT(*) FROM nodes NOT INDEXED")
    );
}

#[test]
fn an_empty_file_gets_pages_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let shape = Shape {
        nodes: 20_000,
        depth: 40,
        functions: 50,
        metrics: 2,
        names: 4,
    };
    let path = folder.path().join("x.db");
    fs::File::create(&path).expect("a folder that can be written");
    let mut database = Database::open(&path).expect("an empty file is an empty database");
    let mut sql = Database::in_memory().expect("memory");
    shape.write(&mut database);
    shape.write(&mut sql);
    same(&database, &sql, shape);
    sound(&database);
}

#[test]
fn a_database_with_a_log_gets_pages_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let shape = Shape {
        nodes: 20_000,
        depth: 40,
        functions: 50,
        metrics: 2,
        names: 4,
    };
    let mut database = Database::open(&folder.path().join("x.db")).expect("a new file");
    let mut sql = Database::in_memory().expect("memory");
    shape.write(&mut database);
    shape.write(&mut sql);
    database
        .connection()
        .pragma_update(None, "journal_mode", "WAL")
        .expect("nobody else is here");
    shape.write(&mut database);
    shape.write(&mut sql);
    same(&database, &sql, shape);
    sound(&database);
}

/// Nearly all rows come after their batch, many more than wait in memory: they are put into pages
/// all the same, and SQL gets none of them.
#[test]
fn rows_of_a_deep_tree_are_written_as_pages() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("deep.db");
    let mut pages = Database::open(&path).expect("a new file");
    let mut temporary = Database::temporary(folder.path()).expect("memory");
    let mut sql = Database::in_memory().expect("memory");
    for runs in 1..=2 {
        write_deep(&mut pages);
        write_deep(&mut temporary);
        write_deep(&mut sql);
        assert_eq!(pages.inserted_rows(), 0, "{runs} runs");
        assert_eq!(temporary.inserted_rows(), 0, "{runs} runs, temporary");
        assert_eq!(sql.inserted_rows(), runs * 2 * 100_000);
        sound(&pages);
        let shape = Shape {
            nodes: 100_000,
            depth: 100_000,
            functions: 1,
            metrics: 2,
            names: 1,
        };
        same(&pages, &sql, shape);
        same(&temporary, &sql, shape);
        assert_eq!(entries(folder.path()), std::slice::from_ref(&path));
    }
}

/// What the benchmarks import, in short: at none of the depths, in none of the formats, does a row of
/// a run go through SQL, neither in a new file nor in one that has a run.
#[test]
fn no_row_of_the_benchmarks_goes_through_sql() {
    type Writer = fn(&Profile, &mut Vec<u8>) -> io::Result<()>;
    let formats: [(&str, Writer); 3] = [
        ("dyalog_csv", |profile, out| dyalog::write_csv(profile, out)),
        ("lispworks_tree", |profile, out| {
            lisp::write_lispworks(profile, out)
        }),
        ("folded", |profile, out| lisp::write_folded(profile, out)),
    ];
    let folder = tempfile::tempdir().expect("a folder");
    for depth in [10, 60, 3000] {
        let profile = Profile::new(20_000, 200, 1, Version::V0_9_0).expect("sound arguments");
        let profile = profile.about_so_deep(depth);
        for (format, write) in formats {
            // A line of stacks is as long as its stack is deep.
            if format == "folded" && depth > 100 {
                continue;
            }
            let mut file = Vec::new();
            write(&profile, &mut file).expect("memory");
            let path = folder.path().join(format!("{format}-{depth}.db"));
            for run in 1..=2 {
                let imported = import_as(&path, format, &file, "x", || ()).expect("a sound file");
                assert_eq!(
                    imported.database.inserted_rows(),
                    0,
                    "{format}, depth {depth}, run {run}"
                );
                sound(&imported.database);
            }
        }
    }
}

fn write_deep(database: &mut Database) {
    let chain = |sink: &mut dyn Sink| {
        let time = sink.metric("time", Unit::Nanoseconds, Noise::Unknown);
        let ticks = sink.metric("ticks", Unit::Count, Noise::Unknown);
        let function = sink.function(FunctionDef::named("f"));
        for _ in 0..100_000 {
            sink.enter(Frame::function(function), Some(1));
            sink.cost(time, Cost::Exclusive(1.0));
            sink.cost(ticks, Cost::Exclusive(2.0));
        }
        for _ in 0..100_000 {
            sink.leave();
        }
    };
    let mut builder = TreeBuilder::new(Batches::default(), Stop::default());
    chain(&mut builder);
    let stop = Stop::default();
    let input = Input::new(Box::new(&b""[..]), Limits::default(), stop).expect("nothing to read");
    let format = format_named("dyalog_csv").expect("the format is there");
    let described = meta(
        format,
        &Options::default(),
        "deep",
        input.finish().expect("nothing to read"),
    );
    let meta = RunMeta {
        again: true,
        ..described
    };
    made_runs::write(builder, &meta, database);
}

const CSV: &[u8] = b"\"Depth\",\"Element\",\"Line\",\"Calls\",\"ExclusiveTime\",\"InclusiveTime\"\n0,\"#.f\",,1,1,1\n";

/// A profile of more rows.
fn long_csv(rows: usize) -> Vec<u8> {
    let mut csv = CSV.to_vec();
    for _ in 0..rows {
        csv.extend_from_slice(b"1,\"#.g\",,1,1,1\n");
    }
    csv
}

/// Imports one row; `meanwhile` happens when all rows have been read, and the file is not in its
/// place yet.
fn import_one(path: &Path, title: &str, meanwhile: impl FnOnce()) -> Result<Imported, Failure> {
    import_rows(path, CSV, title, meanwhile)
}

/// The same with other rows.
fn import_rows(
    path: &Path,
    csv: &[u8],
    title: &str,
    meanwhile: impl FnOnce(),
) -> Result<Imported, Failure> {
    import_as(path, "dyalog_csv", csv, title, meanwhile)
}

/// The same in another format.
fn import_as(
    path: &Path,
    format: &str,
    file: &[u8],
    title: &str,
    meanwhile: impl FnOnce(),
) -> Result<Imported, Failure> {
    let stop = Stop::default();
    let input =
        Input::new(Box::new(file), Limits::default(), stop.clone()).expect("the text is readable");
    let format = format_named(format).expect("the format is there");
    let options = Options::default();
    let describe = |fingerprint| {
        meanwhile();
        RunMeta {
            title: Some(title.to_owned()),
            again: true,
            ..meta(format, &options, "x", fingerprint)
        }
    };
    import(input, format, &options, &stop, describe, || {
        Database::open(path)
    })
}

#[test]
fn a_file_that_appears_meanwhile_stays_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.db");
    let imported = import_one(&path, "a", || {
        // The other thread begins as soon as it has a row.
        while growing(folder.path()).is_none() {
            std::thread::yield_now();
        }
        fs::write(&path, b"somebody's").expect("a folder that can be written");
    });
    let Err(Failure::Store(error @ StoreError::Sqlite { .. })) = imported else {
        panic!("{imported:?}")
    };
    assert_eq!(
        error.to_string(),
        format!(
            "{}: not a database; `profdb report FILE` reads a profile, and `profdb import FILE` stores it",
            path.display()
        )
    );
    assert_eq!(fs::read(&path).expect("it is there"), b"somebody's");
    assert_eq!(entries(folder.path()), [path]);
}

#[test]
fn many_imports_into_one_new_file_all_succeed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.db");
    std::thread::scope(|scope| {
        let imports: Vec<_> = (0..8)
            .map(|at| {
                scope.spawn({
                    let path = &path;
                    move || import_one(path, &at.to_string(), || ())
                })
            })
            .collect();
        for import in imports {
            import
                .join()
                .expect("no panic")
                .expect("all of them succeed");
        }
    });
    let database = Database::open_read_only(&path).expect("it is there");
    sound(&database);
    assert_eq!(
        select(
            &database,
            "SELECT COUNT(DISTINCT title), COUNT(*) FROM runs"
        ),
        [[8, 8].map(Value::Integer)]
    );
    assert_eq!(entries(folder.path()), [path]);
}

/// Names that programs give to files which grow, and files of others with such names.
#[cfg(unix)]
#[test]
fn what_a_dead_program_has_left_is_removed_and_nothing_else() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let path = at("x.db");
    import_one(&path, "a", || ()).expect("nobody else is here");
    // One that has no table yet, one that is whole, and the second name of a database in its place.
    fs::write(at(".x.db.aaaaaaaaaaaa.importing"), b"").expect("a folder that can be written");
    fs::copy(&path, at(".x.db.bbbbbbbbbbbb.importing")).expect("a folder that can be written");
    fs::hard_link(&path, at(".x.db.cccccccccccc.importing")).expect("a file system with links");
    // Of others: of another content, of another database, of another form, locked, a link, a
    // folder.
    let others = [
        "x.db.importing",
        "x.db-segment",
        ".x.db.dddddddddddd.importing",
        ".y.db.aaaaaaaaaaaa.importing",
        ".x.db.aaaaaaaaaaa.importing",
        ".x.db.aaaaaaaaaaa-.importing",
        ".x.db.0.importing",
        ".x.db.aaaaaaaaaaaa.tmp",
    ];
    for name in others {
        fs::write(at(name), b"somebody's").expect("a folder that can be written");
    }
    fs::write(at(".x.db.eeeeeeeeeeee.importing"), b"").expect("a folder that can be written");
    let locked = fs::File::open(at(".x.db.eeeeeeeeeeee.importing")).expect("it is there");
    locked.lock().expect("a file system with locks");
    std::os::unix::fs::symlink("x.db", at(".x.db.ffffffffffff.importing"))
        .expect("a file system with links");
    fs::create_dir(at(".x.db.gggggggggggg.importing")).expect("a folder that can be written");
    let mut expected: Vec<PathBuf> = others.iter().map(|name| at(name)).collect();
    expected.extend(
        [
            "x.db",
            ".x.db.eeeeeeeeeeee.importing",
            ".x.db.ffffffffffff.importing",
        ]
        .map(at),
    );
    expected.push(at(".x.db.gggggggggggg.importing"));
    expected.sort();
    remove_abandoned(&path);
    assert_eq!(entries(folder.path()), expected);
    for name in others {
        assert_eq!(
            fs::read(at(name)).expect("it is there"),
            b"somebody's",
            "{name}"
        );
    }
    sound(&Database::open_read_only(&path).expect("it is there"));
    // A long run is put together in such a file, too.
    let imported = import_rows(&path, &long_csv(5000), "b", || ()).expect("nobody else is here");
    sound(&imported.database);
    drop(imported);
    assert_eq!(entries(folder.path()), expected);
}

/// Starts `profdb import -`, which waits for more than it gets.
#[cfg(unix)]
fn interrupted_import(folder: &Path) -> std::process::Child {
    use std::io::Write;
    use std::process::Stdio;
    let mut command = program::command();
    command
        .args(["import", "--db", "x.db", "-"])
        .current_dir(folder)
        .stdin(Stdio::piped());
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program is there");
    child
        .stdin
        .as_mut()
        .expect("a pipe")
        .write_all(&long_csv(100_000))
        .expect("it reads");
    child
}

#[cfg(unix)]
#[test]
fn a_killed_import_leaves_a_file_that_the_next_one_removes() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut child = interrupted_import(folder.path());
    // Several batches have been sent by now, and the first of them makes the file.
    while growing(folder.path()).is_none() {
        std::thread::yield_now();
    }
    let left = growing(folder.path()).expect("it is there");
    child.kill().expect("it waits");
    child.wait().expect("it is dead");
    assert_eq!(entries(folder.path()), [left]);
    let path = folder.path().join("x.db");
    remove_abandoned(&path);
    import_one(&path, "a", || ()).expect("nobody else is here");
    assert_eq!(entries(folder.path()), [path]);
}

#[cfg(unix)]
#[test]
fn a_full_disk_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let csv = folder.path().join("x.csv");
    fs::write(&csv, long_csv(100_000)).expect("a folder that can be written");
    // 200 KiB hold the empty tables, and not the rows.
    let script = "ulimit -f 400; trap '' XFSZ; exec \"$0\" import --db x.db x.csv";
    let mut command = tools::shell();
    command
        .args(["-c", script, PROFDB])
        .env_remove("PROFDB_DB")
        .current_dir(folder.path());
    let done = command.output().expect("a shell");
    assert_eq!(done.status.code(), Some(5), "{done:?}");
    assert_eq!(entries(folder.path()), [csv]);
}

/// Programs that read meanwhile see the runs that were there before.
#[test]
fn a_later_run_is_seen_when_it_is_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.db");
    let sql = "SELECT (SELECT COUNT(*) FROM runs), COUNT(*), MAX(node_id) FROM nodes";
    import_rows(&path, &long_csv(50_000), "a", || ()).expect("nobody else is here");
    import_rows(&path, &long_csv(60_000), "b", || {
        let database = Database::open_read_only(&path).expect("it is there");
        assert_eq!(
            select(&database, sql),
            [[1, 50_001, 50_001].map(Value::Integer)]
        );
    })
    .expect("nobody else writes");
    let database = Database::open_read_only(&path).expect("it is there");
    assert_eq!(
        select(&database, sql),
        [[2, 110_002, 110_002].map(Value::Integer)]
    );
    sound(&database);
    assert_eq!(entries(folder.path()), [path]);
}

#[test]
fn later_runs_at_the_same_time_all_arrive() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.db");
    import_one(&path, "first", || ()).expect("nobody else is here");
    let csv = long_csv(20_000);
    std::thread::scope(|scope| {
        let imports: Vec<_> = (0..4)
            .map(|at| {
                let (path, csv) = (&path, &csv);
                scope.spawn(move || import_rows(path, csv, &at.to_string(), || ()))
            })
            .collect();
        for import in imports {
            import
                .join()
                .expect("no panic")
                .expect("all of them succeed");
        }
    });
    let database = Database::open_read_only(&path).expect("it is there");
    sound(&database);
    let sql = "SELECT COUNT(DISTINCT title), (SELECT COUNT(*) FROM nodes) FROM runs";
    assert_eq!(select(&database, sql), [[5, 80_005].map(Value::Integer)]);
    assert_eq!(entries(folder.path()), [path]);
}

#[cfg(unix)]
#[test]
fn a_later_import_that_is_killed_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.db");
    import_one(&path, "a", || ()).expect("nobody else is here");
    let before = fs::read(&path).expect("it is there");
    let mut child = interrupted_import(folder.path());
    // It holds the lock from its first batch on.
    let other = rusqlite::Connection::open(&path).expect("it is there");
    other
        .busy_timeout(std::time::Duration::ZERO)
        .expect("a number");
    while other.execute_batch("BEGIN IMMEDIATE; ROLLBACK").is_ok() {
        std::thread::yield_now();
    }
    child.kill().expect("it waits");
    child.wait().expect("it is dead");
    drop(other);
    assert_eq!(fs::read(&path).expect("it is there"), before);
    import_one(&path, "b", || ()).expect("nobody else is here");
    assert_eq!(entries(folder.path()), [path]);
}

/// Imports into a database with a run of 40,000 rows that may grow to `blocks` of 512 bytes, where
/// the system has no more.
#[cfg(unix)]
fn import_into_little_space(folder: &Path, blocks: u64) -> std::process::Output {
    let script =
        format!("ulimit -c 0; ulimit -f {blocks}; exec \"$0\" import --again --db x.db x.csv");
    let mut command = tools::shell();
    command
        .args(["-c", &script, PROFDB])
        .env_remove("PROFDB_DB")
        .current_dir(folder)
        .output()
        .expect("a shell")
}

/// The trees of the new run have been written when the database grows beyond the limit: some of its
/// pages are in place, and the others do not say so.
#[cfg(unix)]
#[test]
fn a_database_that_cannot_grow_stays_as_it_was() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.db");
    let csv = folder.path().join("x.csv");
    fs::write(&csv, long_csv(40_000)).expect("a folder that can be written");
    import_rows(&path, &long_csv(60_000), "a", || ()).expect("nobody else is here");
    let sql = "SELECT (SELECT COUNT(*) FROM runs), COUNT(*), MAX(node_id) FROM nodes";
    let there = fs::metadata(&path).expect("it is there").len() / 512;
    for more in [1, 100, 500, 1000, 1500] {
        let done = import_into_little_space(folder.path(), there + more);
        assert_eq!(done.status.code(), Some(5), "{more}, {done:?}");
        // Rolls back what is left, if anything is.
        let database = Database::open_read_only(&path).expect("it is there");
        assert_eq!(
            select(&database, sql),
            [[1, 60_001, 60_001].map(Value::Integer)]
        );
        sound(&database);
        drop(database);
        assert_eq!(
            entries(folder.path()),
            [csv.clone(), path.clone()],
            "{more}"
        );
    }
    let done = import_into_little_space(folder.path(), 2 * there);
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    sound(&Database::open_read_only(&path).expect("it is there"));
}
