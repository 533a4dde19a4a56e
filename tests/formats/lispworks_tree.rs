//! Figures of LispWorks trees that other programs computed (`tests/samples/lispworks_tree/`),
//! against the public views.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::support::program;
use rusqlite::Connection;
use serde_json::Value;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples/lispworks_tree")
}

fn expected(name: &str) -> Value {
    serde_json::from_slice(&fs::read(folder().join(name)).expect(name)).expect("JSON")
}

/// A file after `profdb import`.
struct Imported {
    folder: tempfile::TempDir,
    output: Output,
}

impl Imported {
    fn new(file: &str, options: &[&str]) -> Self {
        let at = tempfile::tempdir().expect("a folder");
        let output = program::command()
            .args(["import", "--db"])
            .arg(at.path().join("x.db"))
            .args(options)
            .arg(folder().join(file))
            .env("HOME", "/nonexistent")
            .output()
            .expect("the program runs");
        Self { folder: at, output }
    }

    fn succeeded(file: &str) -> Self {
        let imported = Self::new(file, &[]);
        assert_eq!(
            imported.output.status.code(),
            Some(0),
            "{file}: {}",
            imported.errors()
        );
        imported
    }

    fn errors(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }

    /// Rows of a statement: text first, then figures, NULL as nothing.
    fn rows(&self, texts: usize, sql: &str) -> BTreeMap<Vec<String>, Vec<Option<f64>>> {
        let database = Connection::open(self.folder.path().join("x.db")).expect("a database");
        let mut statement = database.prepare(sql).expect(sql);
        let width = statement.column_count();
        let rows = statement.query_map([], |row| {
            let texts = (0..texts).map(|at| {
                row.get::<_, Option<String>>(at)
                    .map(Option::unwrap_or_default)
            });
            let figures = (texts.len()..width).map(|at| row.get::<_, Option<f64>>(at));
            Ok((
                texts.collect::<Result<Vec<_>, _>>()?,
                figures.collect::<Result<Vec<_>, _>>()?,
            ))
        });
        let rows: Vec<_> = rows.expect(sql).map(|row| row.expect(sql)).collect();
        let count = rows.len();
        let rows: BTreeMap<_, _> = rows.into_iter().collect();
        assert_eq!(rows.len(), count, "two rows of one name: {sql}");
        rows
    }

    fn figure(&self, sql: &str) -> Option<f64> {
        self.rows(0, sql)[&Vec::new()][0]
    }
}

const FUNCTIONS: &str = "SELECT function, calls, seen, exclusive, cumulative FROM summary";

/// Roots and threads are not among the public functions.
const CONTAINERS: &str = "SELECT f.name, i.calls, i.seen, i.exclusive, i.cumulative
                          FROM function_info AS i JOIN functions AS f USING (function_id)
                          WHERE f.kind IN ('root', 'thread')";

/// Public views know pairs once per path, the table also every frame.
const FRAMES: &str = "SELECT COALESCE(c.name, ''), f.name, SUM(e.seen)
                      FROM edges AS e
                      JOIN functions AS f ON f.function_id = e.callee_id
                      LEFT JOIN functions AS c ON c.function_id = e.caller_id
                      GROUP BY 1, 2";

fn numbers(value: &Value) -> Vec<Option<f64>> {
    value
        .as_array()
        .expect("a list")
        .iter()
        .map(Value::as_f64)
        .collect()
}

/// Functions as expected: calls, seen, top, samples.
fn functions(expected: &Value) -> BTreeMap<Vec<String>, Vec<Option<f64>>> {
    let named = expected.as_object().expect("functions").iter();
    let mut functions: BTreeMap<_, _> = named
        .map(|(name, row)| (vec![name.clone()], numbers(row)))
        .collect();
    // Calls that nobody counted are unknown, not 0.
    if functions.values().all(|row| row[0] == Some(0.0)) {
        for row in functions.values_mut() {
            row[0] = None;
        }
    }
    functions
}

fn found_functions(imported: &Imported) -> BTreeMap<Vec<String>, Vec<Option<f64>>> {
    let mut found = imported.rows(1, FUNCTIONS);
    found.extend(imported.rows(1, CONTAINERS));
    found
}

#[test]
fn every_trap_has_its_outcome() {
    let all = expected("cases/expected.json");
    let all = all.as_object().expect("cases");
    for (name, case) in all {
        let file = format!("cases/{name}.tree");
        let outcome = match name.as_str() {
            // UTF-16 is decoded before the importer reads it.
            "utf16" => "ok",
            // A note says that the recording is empty.
            "only-the-first-line" => "warn",
            _ => case["outcome"].as_str().expect("an outcome"),
        };
        if outcome == "error" {
            let told = Imported::new(&file, &["--from", "lispworks_tree"]);
            let place = format!("{name}.tree: line {} (byte ", case["line"]);
            assert_eq!(told.output.status.code(), Some(3), "{name}");
            assert!(told.errors().contains(&place), "{name}: {}", told.errors());
            continue;
        }
        let imported = Imported::succeeded(&file);
        let notes = imported.figure("SELECT COUNT(*) FROM notes");
        assert_eq!(
            notes > Some(0.0),
            outcome == "warn",
            "{name}: {}",
            imported.errors()
        );
        if name == "utf16" {
            let cost = imported.figure("SELECT cumulative FROM tree WHERE depth = 0");
            assert_eq!(cost, Some(4.0), "{name}");
            continue;
        }

        let title = imported.rows(1, "SELECT COALESCE(title, '') FROM runs");
        assert_eq!(
            title.first_key_value().expect("a run").0[0],
            case["title"].as_str().expect("a title"),
            "{name}"
        );

        let first = "(SELECT first_node FROM runs)";
        let nodes = format!(
            "SELECT printf('%08d', node_id), depth, parent_id - {first}, cumulative, exclusive FROM tree ORDER BY node_id"
        );
        let nodes: Vec<_> = imported.rows(1, &nodes).into_values().collect();
        let wanted: Vec<_> = case["nodes"]
            .as_array()
            .expect("nodes")
            .iter()
            .map(numbers)
            .collect();
        assert_eq!(nodes, wanted, "{name}");

        assert_eq!(
            found_functions(&imported),
            functions(&case["functions"]),
            "{name}"
        );

        let total = "SELECT total FROM metrics";
        let top = "SELECT COALESCE(SUM(exclusive), 0) FROM function_info";
        let unmonitored = "SELECT total - (SELECT SUM(exclusive) FROM summary) FROM metrics";
        for (key, sql) in [
            ("total", total),
            ("top_total", top),
            ("not_monitored", unmonitored),
        ] {
            if case[key].is_number() {
                assert_eq!(imported.figure(sql), case[key].as_f64(), "{name}: {key}");
            }
        }
        if let Some(edges) = case["edges"].as_object() {
            let mut wanted: BTreeMap<Vec<String>, Vec<Option<f64>>> = BTreeMap::new();
            for (pair, frames) in edges {
                let (caller, callee) = pair.split_once('>').expect("a pair");
                // Whoever looks for a caller passes through roots and threads.
                let caller = if caller.starts_with('"') { "" } else { caller };
                wanted.insert(
                    vec![caller.to_owned(), callee.to_owned()],
                    vec![frames.as_f64()],
                );
            }
            assert_eq!(imported.rows(2, FRAMES), wanted, "{name}");
        }
    }
    assert_eq!(all.len(), 23, "cases");
}

#[test]
fn totals_that_were_kept_while_a_tree_was_made() {
    let imported = Imported::succeeded("made-up.tree");
    let wanted = expected("made-up.expected.json");
    assert_eq!(
        imported.figure("SELECT COUNT(*) FROM tree"),
        wanted["nodes"].as_f64()
    );
    assert_eq!(
        imported.figure("SELECT total FROM metrics"),
        wanted["root"].as_f64()
    );
    assert_eq!(found_functions(&imported), functions(&wanted["functions"]));
    assert_eq!(imported.figure("SELECT COUNT(*) FROM notes"), Some(0.0));
}

/// A name without the quotes that LispWorks puts around what is no function.
fn bare(name: &str) -> String {
    let bare = name
        .strip_prefix('"')
        .and_then(|name| name.strip_suffix('"'))
        .unwrap_or(name);
    // The samples themselves have another name for it.
    if bare == "no debug info" {
        "(no debug info)".to_owned()
    } else {
        bare.to_owned()
    }
}

fn bare_names(
    rows: BTreeMap<Vec<String>, Vec<Option<f64>>>,
) -> BTreeMap<Vec<String>, Vec<Option<f64>>> {
    let count = rows.len();
    let rows: BTreeMap<_, _> = rows
        .into_iter()
        .map(|(names, figures)| (names.iter().map(|name| bare(name)).collect(), figures))
        .collect();
    assert_eq!(rows.len(), count, "two names differ by quotes only");
    rows
}

const COUNTED: &str = "SELECT function, exclusive, cumulative, seen FROM summary";

const PAIRS: &str = "SELECT function, callee, cumulative FROM callees";

fn counted(expected: &Value) -> BTreeMap<Vec<String>, Vec<Option<f64>>> {
    let figures = |row: &Value| {
        ["self", "inclusive", "occurrences"]
            .map(|column| row[column].as_f64())
            .to_vec()
    };
    let named = expected["functions"].as_object().expect("functions").iter();
    named
        .map(|(name, row)| (vec![name.clone()], figures(row)))
        .collect()
}

#[test]
fn samples_counted_one_by_one_give_the_same_figures() {
    for run in ["cpu-small", "alloc-small"] {
        let wanted = expected(&format!("{run}.expected.json"));
        let imported = Imported::succeeded(&format!("{run}.tree"));
        assert_eq!(
            imported.figure("SELECT total FROM metrics"),
            wanted["samples"].as_f64()
        );
        assert_eq!(
            imported.figure("SELECT SUM(exclusive) FROM tree"),
            wanted["samples"].as_f64()
        );
        assert_eq!(
            imported.figure("SELECT SUM(seen) FROM summary"),
            wanted["frames"].as_f64()
        );
        assert_eq!(
            bare_names(imported.rows(1, COUNTED)),
            counted(&wanted),
            "{run}"
        );
        // What is left at the nodes of a function is what was on top: everything was monitored.
        let left = "SELECT function, SUM(exclusive) FROM tree WHERE depth > 1 GROUP BY function";
        let top = "SELECT function, exclusive FROM summary";
        assert_eq!(imported.rows(1, left), imported.rows(1, top), "{run}");

        let edges = wanted["edges"].as_array().expect("edges");
        let pairs = |column: &str| -> BTreeMap<Vec<String>, Vec<Option<f64>>> {
            let name = |edge: &Value, key: &str| edge[key].as_str().expect("a name").to_owned();
            let row = |edge: &Value| {
                (
                    vec![name(edge, "caller"), name(edge, "callee")],
                    vec![edge[column].as_f64()],
                )
            };
            edges.iter().map(row).collect()
        };
        assert_eq!(
            bare_names(imported.rows(2, PAIRS)),
            pairs("samples"),
            "{run}"
        );
        let mut frames = imported.rows(2, FRAMES);
        frames.retain(|names, _| !names[0].is_empty());
        assert_eq!(bare_names(frames), pairs("occurrences"), "{run}");
    }
}

#[test]
fn what_is_not_monitored_is_in_no_function() {
    for (run, top) in [("cpu-small", 115.0), ("alloc-small", 0.0)] {
        let wanted = counted(&expected(&format!("{run}.expected.json")));
        let imported = Imported::succeeded(&format!("{run}.shown.tree"));
        let shown = bare_names(imported.rows(1, COUNTED));
        assert!(shown.len() > 5, "{run}");
        for (name, figures) in &shown {
            assert_eq!(Some(figures), wanted.get(name), "{run}: {name:?}");
        }
        assert_eq!(
            imported.figure("SELECT SUM(exclusive) FROM summary"),
            Some(top),
            "{run}"
        );
        assert_eq!(
            imported.figure("SELECT COUNT(*) FROM notes"),
            Some(0.0),
            "{run}"
        );
    }
}
