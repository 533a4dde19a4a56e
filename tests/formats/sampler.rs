//! Every figure that is known of the Sampler traces in `tests/samples/sampler/` from elsewhere: a
//! second reader, sb-sprof's own report, collapsed stacks.

#![expect(clippy::float_cmp, reason = "numbers of samples are whole")]

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use profdb::base::error::Stop;
use profdb::formats;
use profdb::formats::Options;
use profdb::input::{Input, Limits};
use profdb::pipeline::{import, meta};
use profdb::store::Database;
use rusqlite::Row;
use serde_json::Value;

/// What frames without debug info are called in the two shapes of a file.
const NAMELESS: [(&str, &str); 2] = [("trace", "(no debug info)"), ("seed.trace", "Thread")];

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/samples/sampler")
        .join(name)
}

fn text(name: &str) -> String {
    fs::read_to_string(file(name)).expect(name)
}

fn json(name: &str) -> Value {
    serde_json::from_str(&text(name)).expect(name)
}

fn imported(name: &str) -> Result<Database, String> {
    let bytes = fs::read(file(name)).expect(name);
    let input = Input::new(
        Box::new(bytes.as_slice()),
        Limits::default(),
        Stop::default(),
    )
    .expect(name);
    let format = formats::detect(input.head()).map_err(|error| error.to_string())?;
    assert_eq!(format.name, "sampler", "{name}");
    let options = Options::default();
    let describe = |fingerprint| meta(format, &options, name, fingerprint);
    let imported = import(
        input,
        format,
        &options,
        &Stop::default(),
        describe,
        Database::in_memory,
    );
    Ok(imported.map_err(|error| error.to_string())?.database)
}

/// The rows of a statement, by their first columns.
fn rows<K: Ord, V>(
    database: &Database,
    sql: &str,
    row: fn(&Row<'_>) -> rusqlite::Result<(K, V)>,
) -> BTreeMap<K, V> {
    let mut statement = database.connection().prepare(sql).expect(sql);
    let found: Vec<_> = statement
        .query_map([], row)
        .expect(sql)
        .collect::<Result<_, _>>()
        .expect(sql);
    let count = found.len();
    let rows: BTreeMap<K, V> = found.into_iter().collect();
    assert_eq!(rows.len(), count, "one row each: {sql}");
    rows
}

fn figure(database: &Database, sql: &str) -> f64 {
    database
        .connection()
        .query_row(sql, [], |row| row.get::<_, Option<f64>>(0))
        .expect(sql)
        .unwrap_or(0.0)
}

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

fn object(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().expect("an object").iter()
}

const TOTAL: &str = "SELECT total FROM metrics WHERE name = 'samples'";
const FRAMES: &str = "SELECT SUM(seen) FROM summary WHERE metric = 'samples'";
const DEEPEST: &str = "SELECT MAX(depth) FROM tree WHERE metric = 'samples'";
const THREADS: &str =
    "SELECT function, cumulative FROM tree WHERE metric = 'samples' AND depth = 0";
const FUNCTIONS: &str =
    "SELECT function, exclusive, cumulative, seen FROM summary WHERE metric = 'samples'";
const EDGES: &str = "SELECT caller.name, callee.name, e.cumulative, e.seen FROM edges AS e
                     JOIN functions AS caller ON caller.function_id = e.caller_id
                     JOIN functions AS callee ON callee.function_id = e.callee_id";

/// Name: exclusive, cumulative, seen.
fn functions(database: &Database) -> BTreeMap<String, [f64; 3]> {
    rows(database, FUNCTIONS, |row| {
        Ok((row.get(0)?, [row.get(1)?, row.get(2)?, row.get(3)?]))
    })
}

/// Caller and callee: cumulative, seen.
fn edges(database: &Database) -> BTreeMap<(String, String), [f64; 2]> {
    rows(database, EDGES, |row| {
        Ok(((row.get(0)?, row.get(1)?), [row.get(2)?, row.get(3)?]))
    })
}

fn threads(database: &Database) -> BTreeMap<String, f64> {
    rows(database, THREADS, |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Two real runs, each in both shapes.
fn each_run(check: impl Fn(&str, &Database, &Value, &dyn Fn(&str) -> String)) {
    for run in ["cpu-small", "alloc-small"] {
        let expected = json(&format!("{run}.expected.json"));
        for (shape, nameless) in NAMELESS {
            let name = format!("{run}.{shape}");
            let database = imported(&name).unwrap_or_else(|error| panic!("{name}: {error}"));
            let call = |function: &str| {
                if function == NAMELESS[0].1 {
                    nameless.to_owned()
                } else {
                    function.to_owned()
                }
            };
            check(&name, &database, &expected, &call);
        }
    }
}

#[test]
fn totals_of_the_runs() {
    each_run(|name, database, expected, _| {
        assert_eq!(
            figure(database, TOTAL),
            number(&expected["samples"]),
            "{name}"
        );
        assert_eq!(
            figure(database, TOTAL),
            number(&expected["report_says_samples"]),
            "{name}"
        );
        assert_eq!(
            figure(database, FRAMES),
            number(&expected["frames"]),
            "{name}"
        );
        // The thread is above the stack.
        assert_eq!(
            figure(database, DEEPEST),
            number(&expected["deepest_stack"]),
            "{name}"
        );
        let threads = threads(database);
        if name.ends_with(".seed.trace") {
            let all = BTreeMap::from([("Thread".to_owned(), number(&expected["samples"]))]);
            assert_eq!(threads, all, "{name}");
        } else {
            let wanted: BTreeMap<_, _> = object(&expected["threads"])
                .map(|(id, samples)| (format!("Thread_{id}"), number(samples)))
                .collect();
            assert_eq!(threads, wanted, "{name}");
            let functions = functions(database).len();
            assert_eq!(
                Some(functions + threads.len()),
                expected["symbols"]
                    .as_u64()
                    .map(|count| usize::try_from(count).unwrap()),
                "{name}"
            );
        }
        assert_eq!(
            figure(database, "SELECT COUNT(*) FROM notes"),
            0.0,
            "{name}"
        );
    });
}

#[test]
fn functions_of_the_runs() {
    each_run(|name, database, expected, call| {
        let wanted: BTreeMap<_, _> = object(&expected["functions"])
            .map(|(function, figures)| {
                (
                    call(function),
                    ["self", "inclusive", "occurrences"].map(|column| number(&figures[column])),
                )
            })
            .collect();
        assert_eq!(functions(database), wanted, "{name}");
        for (view, column) in [("exclusive", 0), ("cumulative", 1)] {
            let sql = format!("SELECT function, {view} FROM {view} WHERE metric = 'samples'");
            let found = rows(database, &sql, |row| {
                Ok((row.get::<_, String>(0)?, row.get::<_, f64>(1)?))
            });
            let wanted: BTreeMap<_, _> = wanted
                .iter()
                .map(|(name, figures)| (name.clone(), figures[column]))
                .collect();
            assert_eq!(found, wanted, "{name}: {view}");
        }
    });
}

#[test]
fn edges_of_the_runs() {
    each_run(|name, database, expected, call| {
        let text = |value: &Value| call(value.as_str().expect("a name"));
        let wanted: BTreeMap<_, _> = expected["edges"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|edge| {
                let pair = (text(&edge["caller"]), text(&edge["callee"]));
                (
                    pair,
                    ["samples", "occurrences"].map(|column| number(&edge[column])),
                )
            })
            .collect();
        assert_eq!(edges(database), wanted, "{name}");
        let sql = "SELECT function, callee, cumulative FROM callees WHERE metric = 'samples'";
        let found = rows(database, sql, |row| {
            Ok(((row.get(0)?, row.get(1)?), row.get::<_, f64>(2)?))
        });
        let wanted: BTreeMap<(String, String), _> = wanted
            .into_iter()
            .map(|(pair, [samples, _])| (pair, samples))
            .collect();
        assert_eq!(found, wanted, "{name}: callees");
    });
}

/// Of `   3     24   8.0     61  20.3     89  29.7        -  SHOP::FIB` the name and Self; of the
/// line of frames without debug info the name `elsewhere`.
fn flat_row(line: &str) -> Option<(&str, f64)> {
    let mut words = line.split_whitespace();
    let first = words.next()?.parse::<f64>().ok()?;
    if line.ends_with(" elsewhere") {
        return Some(("elsewhere", first));
    }
    let own = words.next()?.parse().ok()?;
    Some((line.split_once("        -  ")?.1, own))
}

#[test]
fn self_of_sb_sprof_is_exclusive() {
    each_run(|name, database, expected, call| {
        let report = text(&format!(
            "{}.flat.txt",
            name.split('.').next().expect("a run")
        ));
        let nameless = call(NAMELESS[0].1);
        let mut own: BTreeMap<&str, f64> = BTreeMap::new();
        let mut rows = 0;
        // A function has one row per code object.
        for (function, samples) in report.lines().filter_map(flat_row) {
            rows += 1;
            *own.entry(if function == "elsewhere" {
                &nameless
            } else {
                function
            })
            .or_default() += samples;
        }
        assert!(
            rows >= expected["functions"].as_object().expect("functions").len(),
            "{name}: {rows} rows"
        );
        let found = functions(database);
        let found: BTreeMap<_, _> = found
            .iter()
            .map(|(function, figures)| (function.as_str(), figures[0]))
            .collect();
        assert_eq!(found, own, "{name}");
    });
}

#[test]
fn nodes_are_the_collapsed_stacks() {
    for run in ["cpu-small", "alloc-small"] {
        let mut folded = String::new();
        let stored = fs::File::open(file(&format!("{run}.folded.gz"))).expect("a file");
        flate2::read::GzDecoder::new(stored)
            .read_to_string(&mut folded)
            .expect("text");
        let mut wanted: BTreeMap<String, f64> = BTreeMap::new();
        for line in folded.lines() {
            let (stack, samples) = line.rsplit_once(' ').expect("a stack and its samples");
            *wanted.entry(stack.to_owned()).or_default() +=
                samples.parse::<f64>().expect("a number");
        }
        let database = imported(&format!("{run}.trace")).expect(run);
        let sql = "SELECT node_id, depth, function, exclusive FROM tree WHERE metric = 'samples'";
        let nodes = rows(&database, sql, |row| {
            Ok((
                row.get::<_, i64>(0)?,
                (
                    row.get::<_, u32>(1)?,
                    row.get::<_, String>(2)?,
                    row.get::<_, f64>(3)?,
                ),
            ))
        });
        let mut path: Vec<String> = Vec::new();
        let mut found = BTreeMap::new();
        for (depth, function, exclusive) in nodes.into_values() {
            path.truncate(depth as usize);
            path.push(function.replace(';', ":"));
            if exclusive > 0.0 {
                assert_eq!(
                    found.insert(path.join(";"), exclusive),
                    None,
                    "{run}: a second node for {path:?}"
                );
            }
        }
        assert_eq!(found, wanted, "{run}");
    }
}

#[test]
fn traps() {
    let expected = json("cases/expected.json");
    for (case, want) in object(&expected) {
        let name = format!("cases/{case}.trace");
        let bytes = fs::metadata(file(&name)).expect(&name).len();
        assert_eq!(want["bytes"], bytes, "{case}");
        let outcome = want["outcome"].as_str().expect("an outcome");
        let database = match imported(&name) {
            Ok(database) => database,
            Err(error) => {
                assert_eq!(outcome, "error", "{case}: {error}");
                let place = format!("byte {}: ", want["record_offset"]);
                assert!(
                    error.starts_with(&place),
                    "{case}: {error} is not at {place}"
                );
                let whole = want["whole_samples"].as_u64().expect("a count");
                // Before the first thread there are none.
                assert!(
                    whole == 0 || error.contains(&format!("({whole} complete sample")),
                    "{case}: {error}"
                );
                continue;
            }
        };
        let warnings = figure(
            &database,
            "SELECT COUNT(*) FROM notes WHERE severity = 'warning'",
        );
        // A note says that a recording is empty.
        let outcome = if matches!(case.as_str(), "no-samples" | "no-threads") {
            "warn"
        } else {
            outcome
        };
        assert_eq!(
            outcome,
            if warnings > 0.0 { "warn" } else { "ok" },
            "{case}"
        );
        let found = functions(&database);
        for (key, wanted) in object(want) {
            match key.as_str() {
                "samples" => assert_eq!(figure(&database, TOTAL), number(wanted), "{case}"),
                "frames" => assert_eq!(figure(&database, FRAMES), number(wanted), "{case}"),
                "threads" => {
                    let samples: Vec<_> = threads(&database).into_values().collect();
                    let wanted: Vec<_> =
                        object(wanted).map(|(_, samples)| number(samples)).collect();
                    assert_eq!(samples, wanted, "{case}");
                }
                "functions" => {
                    // The expectation has U+FFFD for a byte that is not UTF-8; we keep the byte.
                    let ours = |function: &str| function.replace('\u{fffd}', "\\x{e9}");
                    let names: Vec<_> =
                        object(wanted).map(|(function, _)| ours(function)).collect();
                    assert_eq!(found.keys().cloned().collect::<Vec<_>>(), names, "{case}");
                    for (function, figures) in object(wanted) {
                        let [exclusive, cumulative, _] = found[&ours(function)];
                        assert_eq!(exclusive, number(&figures["self"]), "{case}: {function}");
                        assert_eq!(
                            cumulative,
                            number(&figures["inclusive"]),
                            "{case}: {function}"
                        );
                    }
                }
                "edges" => {
                    let found: BTreeMap<_, _> = edges(&database)
                        .into_iter()
                        .map(|((a, b), [samples, _])| (format!("{a}>{b}"), samples))
                        .collect();
                    let wanted: BTreeMap<_, _> = object(wanted)
                        .map(|(edge, samples)| (edge.clone(), number(samples)))
                        .collect();
                    assert_eq!(found, wanted, "{case}");
                }
                "bytes" | "note" | "outcome" => {}
                other => panic!("{case}: nobody compares {other}"),
            }
        }
    }
}
