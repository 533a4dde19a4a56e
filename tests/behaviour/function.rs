//! Report `function` says of each line what the tables of lines and of calls say of it, whether it is
//! answered from totals or from nodes.

#![expect(clippy::disallowed_methods, reason = "small files of our own")]

use std::fs;

use crate::support::case_files::repository_path;
use crate::support::program;
use profdb::base::error::Stop;
use profdb::formats::{Options, format_named};
use profdb::input::{Input, Limits};
use profdb::pipeline::{import, meta};
use profdb::report::{self, Argument, Request, Value};
use profdb::store::{Database, RunInfo};

/// Profiles that know lines: with paths, with callers only, and with lines in other files.
const PROFILES: [(&str, &str); 5] = [
    ("dyalog_xml", "foo-1.37-tree/run.xml"),
    ("dyalog_csv", "shop-tree/run.csv"),
    ("callgrind", "recursion-levels/callgrind.out"),
    ("callgrind", "included-files/callgrind.out"),
    ("pprof", "labels/run.pb"),
];

/// Line, calls, own and total cost, and how many functions it called.
type Line = (i64, Option<i64>, Option<f64>, Option<f64>, i64);

fn database(format: &str, file: &str) -> Database {
    let path = repository_path(&format!("tests/cases/{format}/{file}"));
    let bytes = fs::read(path).expect("a case");
    let (stop, options) = (Stop::default(), Options::default());
    let input = Input::new(Box::new(&*bytes), Limits::default(), stop.clone()).expect("bytes");
    let format = format_named(format).expect("a format");
    let describe = |fingerprint| meta(format, &options, file, fingerprint);
    let imported = import(
        input,
        format,
        &options,
        &stop,
        describe,
        Database::in_memory,
    );
    imported.expect("a profile").database
}

fn run(database: &Database) -> RunInfo {
    database
        .run(Some(1))
        .expect("it can be read")
        .expect("a run")
}

/// What the tables say of the lines of a function: those with figures, and those that called.
fn told(database: &Database, function: i64) -> Vec<Line> {
    let sql = "WITH calls AS (
                 SELECT line_file AS file, caller_line AS line, NULLIF(caller_col, 0) AS col,
                   COUNT(DISTINCT callee_id) AS callees
                 FROM edges
                 WHERE metric_id = (SELECT default_metric_id FROM runs) AND caller_id = ?1 AND caller_line >= 0
                 GROUP BY 1, 2, 3
               ),
               figures AS (
                 SELECT line, NULLIF(col, 0) AS col, file, calls, exclusive, cumulative FROM line_info
                 WHERE metric_id = (SELECT default_metric_id FROM runs) AND function_id = ?1
               )
               SELECT f.file, f.line, f.col, f.calls, f.exclusive, f.cumulative, COALESCE(c.callees, 0)
               FROM figures AS f
               LEFT JOIN calls AS c ON c.file = f.file AND c.line = f.line AND c.col IS f.col
               UNION ALL
               SELECT c.file, c.line, c.col, NULL, NULL, NULL, c.callees
               FROM calls AS c
               WHERE NOT EXISTS (SELECT 1 FROM figures AS f WHERE f.file = c.file AND f.line = c.line AND f.col IS c.col)
               ORDER BY 1, 2, 3";
    let mut statement = database.connection().prepare(sql).expect("a statement");
    let rows = statement.query_map([function], |row| {
        Ok((
            row.get(1)?,
            row.get(2 + 1)?,
            row.get(4)?,
            row.get(5)?,
            row.get(6)?,
        ))
    });
    rows.and_then(Iterator::collect).expect("rows")
}

/// What the report says of them; `None` where it knows no lines.
fn said(database: &Database, name: &str, more: &[(&str, &str)]) -> Option<Vec<Line>> {
    let argument =
        |(name, value): (&str, &str)| (name.to_owned(), Argument::Text(value.to_owned()));
    // In quotes, `*` is a letter of the name.
    let quoted = format!("\"{}\"", name.replace('"', "\"\""));
    let request = Request {
        arguments: more
            .iter()
            .copied()
            .chain([("fn", &*quoted)])
            .map(argument)
            .collect(),
        ..Request::default()
    };
    let run = run(database);
    let function = report::by_name("function").expect("a report");
    let mut answer = match report::ask(database, function, &run, &request) {
        Ok(answer) => answer,
        Err(report::ReportError::NothingSelected(_)) => return None,
        Err(error) => panic!("{name}: {error}"),
    };
    let columns: Vec<String> = answer
        .columns
        .iter()
        .map(|column| column.name.to_string())
        .collect();
    let at = |name: &str| {
        columns
            .iter()
            .position(|column| column == name)
            .expect(name)
    };
    let whole = |value: &Value| match value {
        Value::Integer(value) => Some(*value),
        _ => None,
    };
    let cost = |value: &Value| match value {
        Value::Real(value) => Some(*value),
        _ => None,
    };
    let mut lines = Vec::new();
    let read = answer.each(|row| {
        let callees = match &row[at("callees")] {
            Value::Text(callees) => i64::try_from(callees.split(", ").count()).expect("few"),
            _ => 0,
        };
        lines.push((
            whole(&row[at("line")]).expect("a line"),
            whole(&row[at("calls")]),
            cost(&row[at("exclusive")]),
            cost(&row[at("cumulative")]),
            callees,
        ));
        Ok::<_, profdb::store::StoreError>(())
    });
    read.expect("rows");
    Some(lines)
}

/// Costs are added up in different orders, and each addition rounds.
#[track_caller]
fn check(said: &[Line], told: &[Line], what: &str) {
    let is_near = |left: Option<f64>, right: Option<f64>| match (left, right) {
        (Some(left), Some(right)) => (left - right).abs() <= 1e-9 * right.abs(),
        (left, right) => left.is_none() && right.is_none(),
    };
    let same = said.len() == told.len()
        && said.iter().zip(told).all(|(said, told)| {
            (said.0, said.1, said.4) == (told.0, told.1, told.4)
                && is_near(said.2, told.2)
                && is_near(said.3, told.3)
        });
    assert!(same, "{what}\nthe report: {said:?}\nthe tables: {told:?}");
}

/// A name of several functions is answered for each of them, and every spelling with a place selects one.
#[test]
fn name_of_several_functions_is_answered_for_each() {
    let folder = tempfile::tempdir().expect("a folder");
    let profile = folder.path().join("h.callgrind");
    let text = "version: 1\ncreator: callgrind-3.22.0\nevents: Ir\n\nfl=src/a.c\nfn=h\n1 10\ncfi=src/b.c\ncfn=h\ncalls=1 1\n1 5\n\nfl=src/b.c\nfn=h\n1 5\nfn=ns::f(int)\n7 1\ncfi=src/b.c\ncfn=h\ncalls=1 1\n8 2\n\ntotals: 16\n";
    std::fs::write(&profile, text).expect("space on the disk");
    let asked = |name: &str| -> Vec<String> {
        let mut command = crate::support::program::command();
        command.arg("report").arg("calls").arg(&profile);
        command.args(["--fn", name, "--format", "jsonl"]);
        let told = command.output().expect("it was built");
        assert!(told.status.success(), "{name}: {told:?}");
        let rows = String::from_utf8(told.stdout).expect("text");
        rows.lines().map(str::to_owned).collect()
    };
    let of = |name: &str| {
        let rows = asked("h");
        let about = format!("{{\"about\":\"{name}\",");
        let of_it = rows.iter().filter_map(|row| row.strip_prefix(&about));
        of_it.map(|row| format!("{{{row}")).collect::<Vec<String>>()
    };
    assert_eq!(of("h (b.c)").len(), 2);
    for name in ["h (b.c)", "h (src/b.c)", "b.c:h", "src/b.c:h"] {
        assert_eq!(asked(name), of("h (b.c)"), "{name}");
    }
    // Line 1 is in both files. Colons and parentheses may be part of a name.
    assert_eq!(asked("b.c:1"), of("h (b.c)"));
    assert_eq!(asked("h:1"), asked("h"));
    assert_eq!(asked("ns::f(int)"), asked("b.c:7"));
}

#[test]
fn it_says_what_the_tables_say() {
    let mut compared = 0;
    for (format, file) in PROFILES {
        let database = database(format, file);
        let sql = "SELECT function_id, name FROM functions AS f
                   WHERE kind = 'function' AND 1 = (SELECT COUNT(*) FROM functions AS o WHERE o.name = f.name)
                   ORDER BY function_id";
        let mut statement = database.connection().prepare(sql).expect("a statement");
        let functions: Vec<(i64, String)> = statement
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .and_then(Iterator::collect)
            .expect("functions");
        let is_tree = run(&database).fidelity == "tree";
        for (function, name) in functions {
            let told = told(&database, function);
            let said_of_totals = said(&database, &name, &[]).unwrap_or_default();
            check(&said_of_totals, &told, &format!("{format} {file} {name}"));
            // A filter that fits everything leaves all, and nodes are added up.
            if is_tree {
                let said_of_nodes = said(&database, &name, &[("focus", ".")]).unwrap_or_default();
                check(
                    &said_of_nodes,
                    &told,
                    &format!("{format} {file} {name}, from nodes"),
                );
            }
            compared += told.len();
        }
    }
    assert!(compared > 40, "only {compared} lines were compared");
}

/// Lines and their calls are found by the pass over nodes, however many filters there are: as a statement of all of them, this
/// question was deeper than SQLite takes.
#[test]
fn it_takes_several_filters_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let head = r#""Depth","Element","Line","Calls","InclusiveTime","ExclusiveTime","InclusiveTicks","ExclusiveTicks""#;
    let rows = [
        "0,\"main\",,1,30,0,3,0",
        "1,\"main\",1,1,30,0,3,0",
        "2,\"a\",,1,10,1,3,3",
        "3,\"a\",1,1,3,3,1,1",
        "3,\"a\",2,1,6,2,1,1",
        "4,\"d\",,1,4,4,1,1",
        "2,\"b\",,1,10,10,1,1",
        "2,\"c\",,1,10,10,1,1",
    ];
    fs::write(
        folder.path().join("run.csv"),
        format!("{head}\n{}\n", rows.join("\n")),
    )
    .expect("a profile");
    let asked = |more: &[&str]| {
        let mut command = program::command();
        command.args(["report", "function", "run.csv", "--format", "csv"]);
        let output = command.args(more).current_dir(folder.path()).output();
        let output = output.expect("it was built");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{more:?}: {errors}");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    for path in [&["--fn", "a"][..], &["--fn", "main,a"], &["--fn", "main>a"]] {
        for lines in [&[][..], &["--all-lines"]] {
            let whole = asked(&[path, lines].concat());
            assert!(whole.contains("\"a\",2,"), "{whole}");
            let filters = ["--focus", "^main$", "--ignore", "^b$", "--hide", "^c$"];
            assert_eq!(asked(&[path, lines, &filters].concat()), whole);
        }
    }
}
