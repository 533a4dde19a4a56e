//! What is written for other programs is read by these programs, and they come to the same totals.
//! They are Debian packages: valgrind (`callgrind_annotate`), golang-go (`go tool pprof`), graphviz
//! (`dot`), python3-jsonschema (speedscope's own schema of its files, tests/samples/speedscope).
//! Datasette, which looks at databases themselves, is Python's package `datasette`.

use crate::support::case_files::repository_path;
use crate::support::program;
use crate::support::tools;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use profdb::base::error::Stop;
use profdb::formats;
use profdb::formats::Options;
use profdb::formats::export::Request;
use profdb::input::{Input, Limits};
use profdb::pipeline::{import, meta};
use profdb::store::{Database, RunInfo};
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::Event;

/// Profiles with paths, of several metrics, with and without lines, threads, modules; under
/// `tests/`.
const TREES: [&str; 7] = [
    "samples/ghc_px/calc.ghc6.px.prof",
    "samples/pprof/cpu.pb.gz",
    "samples/pprof/heap.pb.gz",
    "cases/dyalog_xml/shop-tree/run.xml",
    "cases/lispworks_tree/hostile-names/run.tree",
    "cases/perf_script/process-and-thread/run.perf",
    "cases/austin/work/work.cpu.austin",
];

/// Profiles without paths.
const GRAPHS: [&str; 2] = [
    "samples/callgrind/plain.out.gz",
    "samples/callgrind/xdebug.out.gz",
];

/// A sample in a database in memory.
fn imported(name: &str) -> (Database, RunInfo) {
    let bytes = fs::read(repository_path(&format!("tests/{name}"))).expect(name);
    let input = Input::new(
        Box::new(bytes.as_slice()),
        Limits::default(),
        Stop::default(),
    )
    .expect(name);
    let format = formats::detect(input.head()).expect(name);
    let options = Options::default();
    let describe = |fingerprint| meta(format, &options, name, fingerprint);
    let read = import(
        input,
        format,
        &options,
        &Stop::default(),
        describe,
        Database::in_memory,
    )
    .expect(name);
    let run = read.database.run(None).expect(name).expect(name);
    (read.database, run)
}

/// A run in a file of a format.
fn written(folder: &Path, format: &str, database: &Database, run: &RunInfo) -> PathBuf {
    let mut bytes = Vec::new();
    let export = formats::export_named(format).expect(format);
    export
        .write(database, run, &Request::default(), &mut bytes)
        .expect(format);
    let path = folder.join(format!("run.{format}"));
    fs::write(&path, bytes).expect(format);
    path
}

/// Runs a program and returns its output. Skips the test without the program.
pub(super) fn answer(program: &str, arguments: &[&str]) -> String {
    let Output {
        status,
        stdout,
        stderr,
    } = tools::command(program)
        .args(arguments)
        .env("HOME", "/nonexistent")
        .env("PPROF_TMPDIR", env!("CARGO_TARGET_TMPDIR"))
        .env("GOCACHE", concat!(env!("CARGO_TARGET_TMPDIR"), "/go"))
        .output()
        .expect("the program starts");
    let told = String::from_utf8_lossy(&stderr);
    assert!(status.success(), "{program} {arguments:?}: {told}");
    assert!(
        !told.contains("ignoring") && !told.contains("malformed"),
        "{program} {arguments:?}: {told}"
    );
    String::from_utf8(stdout).expect("UTF-8")
}

/// What functions cost themselves in each metric, each rounded.
const FUNCTIONS: &str = "SELECT metric_id, ROUND(exclusive) AS cost FROM function_info";

/// What places in the tree cost themselves in each metric, each rounded.
const PLACES: &str = "SELECT r.default_metric_id AS metric_id, ROUND(n.exclusive) AS cost
                      FROM runs AS r JOIN nodes AS n WHERE n.line IS NULL
                      UNION ALL
                      SELECT c.metric_id, ROUND(c.exclusive)
                      FROM node_costs AS c JOIN nodes AS n USING (node_id) WHERE n.line IS NULL";

/// The metrics of the only run, the default one first: number, name, and the sum of some costs.
fn metrics(database: &Database, costs: &str) -> Vec<(i64, String, f64)> {
    let sql = format!(
        "SELECT m.metric_id, m.name, COALESCE((SELECT SUM(cost) FROM ({costs}) AS c WHERE c.metric_id = m.metric_id), 0.0)
         FROM metrics AS m JOIN runs AS r USING (run_id)
         ORDER BY m.metric_id <> r.default_metric_id, m.position"
    );
    let mut statement = database.connection().prepare(&sql).expect("SQL");
    let rows = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .expect("SQL");
    rows.collect::<Result<_, _>>().expect("rows")
}

/// Its totals are the sums over all functions, and functions cost what they did.
#[test]
fn callgrind_annotate_adds_up_callgrind() {
    tools::require("callgrind_annotate");
    let folder = tempfile::tempdir().expect("a folder");
    for name in TREES.iter().chain(&GRAPHS) {
        let (database, run) = imported(name);
        let file = written(folder.path(), "callgrind", &database, &run);
        let told = answer(
            "callgrind_annotate",
            &["--threshold=100", "--auto=no", &file.display().to_string()],
        );
        let mut tables = told.split("file:function\n");
        let _ = tables.next();
        let table = tables.next().unwrap_or_else(|| panic!("{name}: {told}"));
        let metrics = metrics(&database, FUNCTIONS);
        let mut sums = vec![0.0; metrics.len()];
        for line in table
            .lines()
            .skip(1)
            .take_while(|line| !line.trim().is_empty())
        {
            // `12 ( 3.4%)` or `.` for each metric.
            let mut rest = line.trim_start();
            for sum in &mut sums {
                let end = rest.find(' ').unwrap_or(rest.len());
                *sum += rest[..end].replace(',', "").parse().unwrap_or(0.0);
                rest = rest[end..].trim_start();
                if let Some(behind) = rest.strip_prefix('(') {
                    rest = behind
                        .split_once(')')
                        .map_or("", |(_, behind)| behind)
                        .trim_start();
                }
            }
        }
        for ((_, metric, total), sum) in metrics.iter().zip(&sums) {
            assert!(
                (total - sum).abs() < 0.5,
                "{name}: {metric}: {total} became {sum}\n{told}"
            );
        }
    }
}

/// The samples as it reads them add up to what all functions cost; where nothing is below 0 (it
/// adds up what is as if it were above) its own total is the same, and so is what it says of
/// functions that one name stands for.
#[test]
fn go_tool_pprof_adds_up_pprof() {
    tools::require("go");
    let folder = tempfile::tempdir().expect("a folder");
    for name in TREES {
        let (database, run) = imported(name);
        let file = written(folder.path(), "pprof", &database, &run)
            .display()
            .to_string();
        let raw = answer("go", &["tool", "pprof", "-raw", &file]);
        let metrics = metrics(&database, PLACES);
        let types = raw
            .lines()
            .skip_while(|line| *line != "Samples:")
            .nth(1)
            .expect("types");
        let types: Vec<&str> = types
            .split_whitespace()
            .filter_map(|of| Some(of.rsplit_once('/')?.0))
            .collect();
        let samples = raw
            .lines()
            .skip_while(|line| *line != "Samples:")
            .skip(2)
            .take_while(|line| *line != "Locations");
        let mut sums = vec![0; types.len()];
        for line in samples.filter_map(|line| Some(line.split_once(": ")?.0)) {
            let values: Option<Vec<i64>> = line
                .split_whitespace()
                .map(|value| value.parse().ok())
                .collect();
            for (sum, value) in sums.iter_mut().zip(values.unwrap_or_default()) {
                *sum += value;
            }
        }
        for (metric, label, total) in &metrics {
            let at = types
                .iter()
                .position(|name| name == label)
                .unwrap_or_else(|| panic!("{name}: {types:?}"));
            assert_eq!(
                format!("{total:.0}"),
                sums[at].to_string(),
                "{name}: {label}"
            );
            if below_zero(&database, *metric) {
                continue;
            }
            let unit = if sums[at] == 0 {
                continue;
            } else {
                unit(&database, *metric)
            };
            let arguments = [
                "tool",
                "pprof",
                "-top",
                "-nodecount=0",
                "-nodefraction=0",
                "-sample_index",
                label,
                "-unit",
                unit,
                &file,
            ];
            let top = answer("go", &arguments);
            let shown = top
                .lines()
                .find_map(|line| line.strip_prefix("Showing nodes accounting for "))
                .expect("a total");
            let shown = shown
                .split_once("100% of ")
                .expect("all of it")
                .1
                .strip_suffix(" total")
                .expect("a total");
            let shown = shown.trim_end_matches(|character: char| character.is_alphabetic());
            assert_eq!(shown, sums[at].to_string(), "{name}: {label}: {top}");
        }
    }
}

/// Whether something cost less than nothing.
fn below_zero(database: &Database, metric: i64) -> bool {
    let sql = "SELECT EXISTS (SELECT 1 FROM runs WHERE default_metric_id = ?1)
                  AND EXISTS (SELECT 1 FROM nodes WHERE exclusive < 0)
                   OR EXISTS (SELECT 1 FROM node_costs WHERE metric_id = ?1 AND exclusive < 0)";
    database
        .connection()
        .query_row(sql, [metric], |row| row.get(0))
        .expect("SQL")
}

/// What pprof calls the unit of a metric.
fn unit(database: &Database, metric: i64) -> &'static str {
    let unit: String = database
        .connection()
        .query_row(
            "SELECT unit FROM metrics WHERE metric_id = ?1",
            [metric],
            |row| row.get(0),
        )
        .expect("SQL");
    match unit.as_str() {
        "ns" => "ns",
        "bytes" => "B",
        _ => "count",
    }
}

/// Text of what a tag holds, in an SVG.
fn texts(svg: &str, tag: &str) -> Vec<String> {
    let mut reader = quick_xml::Reader::from_str(svg);
    let (mut texts, mut open) = (Vec::new(), false);
    loop {
        match reader
            .read_event()
            .unwrap_or_else(|error| panic!("{error} at {}: {svg}", reader.error_position()))
        {
            Event::Start(start) if start.name().as_ref() == tag => {
                texts.push(String::new());
                open = true;
            }
            Event::End(end) if end.name().as_ref() == tag => open = false,
            Event::Text(text) if open => texts.iter_mut().last().expect("open").push_str(&text),
            Event::GeneralRef(reference) if open => {
                let character = match reference.resolve_char_ref().expect("a character") {
                    Some(character) => character.to_string(),
                    None => resolve_xml_entity(&reference)
                        .expect("an entity")
                        .to_owned(),
                };
                texts.iter_mut().last().expect("open").push_str(&character);
            }
            Event::Eof => return texts,
            _ => {}
        }
    }
}

/// Graphviz draws a box for each function that is shown, and an arrow for each pair, under the
/// names that they have.
#[test]
fn graphviz_draws_dot() {
    tools::require("dot");
    let folder = tempfile::tempdir().expect("a folder");
    for name in TREES.iter().chain(&GRAPHS) {
        let (database, run) = imported(name);
        let file = written(folder.path(), "dot", &database, &run);
        let graph = fs::read_to_string(&file).expect("the graph");
        let svg = answer("dot", &["-Tsvg", &file.display().to_string()]);
        let titles = texts(&svg, "title");
        let boxes = graph
            .lines()
            .filter(|line| {
                !line.contains(" -> ") && line.starts_with('f') && line.contains(" [label=")
            })
            .count();
        let arrows = graph.lines().filter(|line| line.contains(" -> ")).count();
        let drawn = titles
            .iter()
            .skip(1)
            .filter(|title| title.contains("->"))
            .count();
        assert_eq!((titles.len() - 1 - drawn, drawn), (boxes, arrows), "{name}");
        let texts = texts(&svg, "text");
        let functions = "SELECT name FROM functions WHERE kind = 'function' AND function_id IN
                           (SELECT function_id FROM function_info AS i JOIN metrics AS m USING (metric_id)
                            JOIN runs AS r ON r.default_metric_id = m.metric_id WHERE i.exclusive > 0.01 * m.total)";
        let mut statement = database.connection().prepare(functions).expect("SQL");
        let names = statement
            .query_map([], |row| row.get::<_, String>(0))
            .expect("SQL");
        for function in names
            .map(|name| name.expect("a name"))
            .filter(|name| !name.chars().any(char::is_control))
        {
            let is_there = texts.iter().any(|text| text.trim() == function.trim());
            assert!(
                is_there || function.trim().is_empty(),
                "{name}: {function:?} is not in {texts:?}"
            );
        }
    }
}

/// What cannot be drawn is no output: nothing is written, and the program that is missing is named.
#[test]
fn svg_says_that_dot_is_missing() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.svg");
    let sample = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(TREES[0]);
    let output = program::command()
        .args(["convert", "--to=dot", "--svg", "-o"])
        .args([&file, &sample])
        .env("PATH", "/nonexistent")
        .output()
        .expect("our own program");
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        (output.status.code(), file.exists()),
        (Some(1), false),
        "{told}"
    );
    assert!(
        told.starts_with("profdb: --svg: cannot run the program dot: "),
        "{told}"
    );
}

/// The files fit speedscope's own schema, which a broken one does not.
#[test]
fn speedscope_files_fit_their_schema() {
    const VALIDATE: &str = "import json, sys, jsonschema
schema = json.load(open(sys.argv[1]))
for name in sys.argv[2:]:
    found = jsonschema.Draft7Validator(schema).is_valid(json.load(open(name)))
    print('fits' if found else 'does not fit')";
    tools::require_python_module("jsonschema");
    let folder = tempfile::tempdir().expect("a folder");
    let schema = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/samples/speedscope/file-format-schema.json"
    );
    let broken = folder.path().join("broken.json");
    for name in TREES {
        let (database, run) = imported(name);
        let file = written(folder.path(), "speedscope", &database, &run);
        let text = fs::read_to_string(&file).expect(name);
        fs::write(&broken, text.replacen("\"endValue\"", "\"end\"", 1)).expect(name);
        let files = [
            schema,
            &file.display().to_string(),
            &broken.display().to_string(),
        ];
        let told = answer("python3", &[&["-c", VALIDATE][..], &files].concat());
        assert_eq!(told, "fits\ndoes not fit\n", "{name}");
    }
}

/// A database has no page that datasette cannot show: tables, views, rows, and what rows lead to.
#[test]
fn datasette_shows_every_table_and_view() {
    tools::require_python_module("datasette");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("profdb.db");
    let imported = program::command()
        .args(["import", "--db"])
        .arg(&path)
        .arg("--source")
        .arg(repository_path("tests/cases/cli/code/then"))
        .arg(repository_path("tests/cases/cli/code/run.xml"))
        .arg(repository_path("tests/cases/pprof/labels/run.pb"))
        .output()
        .expect("the program runs");
    assert!(imported.status.success(), "{imported:?}");
    let counted = answer(
        "python3",
        &[
            "tests/support/datasette_pages.py",
            path.to_str().expect("a plain name"),
        ],
    );
    let counts: Vec<i64> = counted
        .split_whitespace()
        .map(|count| count.parse().expect("a number"))
        .collect();
    let objects = |kind: &str| {
        let sql = "SELECT COUNT(*) FROM sqlite_schema WHERE type = ?1";
        let database = Database::in_memory().expect("an empty database");
        database
            .connection()
            .query_row(sql, [kind], |row| row.get::<_, i64>(0))
            .expect("a number")
    };
    let (tables, views) = (objects("table"), objects("view"));
    assert!(
        counts[..2] == [tables, views] && counts[2] > 2 * (tables + views),
        "{counts:?}"
    );
}
