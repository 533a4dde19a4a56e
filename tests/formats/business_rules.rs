//! Every figure that is known of the sample logs from elsewhere (`tests/samples/business_rules/`),
//! in the public views.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::program;
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

/// Names of figures, and the figures.
type Figures = BTreeMap<String, f64>;

/// Figures by what they are of: a routine, a line, an edge.
type Table = BTreeMap<String, Figures>;

fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples/business_rules")
}

fn json(path: &Path) -> Value {
    let text =
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A log in a database of its own.
struct Imported {
    _folder: tempfile::TempDir,
    database: Connection,
}

/// Imports a log; the error if it is refused.
fn import(log: &Path, flags: &[&str]) -> Result<Imported, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.db");
    // Settings of whoever runs the tests must not be seen.
    let output = program::command()
        .arg("import")
        .args(flags)
        .arg("--db")
        .args([&path, log])
        .env("HOME", "/nonexistent")
        .output()
        .expect("the program runs");
    if !output.status.success() {
        assert_eq!(output.status.code(), Some(3), "{}", log.display());
        assert!(
            !path.exists(),
            "{}: something was imported all the same",
            log.display()
        );
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let database =
        Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY).expect("a database");
    Ok(Imported {
        _folder: folder,
        database,
    })
}

impl Imported {
    /// Rows of text and figures: as many of each as are asked for.
    fn rows(&self, sql: &str, texts: usize, figures: usize) -> Vec<(Vec<String>, Vec<f64>)> {
        let mut statement = self
            .database
            .prepare(sql)
            .unwrap_or_else(|error| panic!("{sql}: {error}"));
        let rows = statement.query_map([], |row| {
            let text = (0..texts).map(|at| row.get(at)).collect::<Result<_, _>>()?;
            let figures = (texts..texts + figures)
                .map(|at| row.get(at))
                .collect::<Result<_, _>>()?;
            Ok((text, figures))
        });
        let rows = rows.unwrap_or_else(|error| panic!("{sql}: {error}"));
        rows.collect::<Result<_, _>>()
            .unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    fn count(&self, sql: &str) -> i64 {
        self.database
            .query_row(sql, [], |row| row.get(0))
            .unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    fn figure(&self, sql: &str) -> f64 {
        self.rows(sql, 0, 1)
            .first()
            .map_or(f64::NAN, |(_, figures)| figures[0])
    }

    /// A table of figures; `sql` has the metric, the key in three parts, and the figures, whose
    /// names are told for the metric of the values and for that of the blocks.
    fn table(
        &self,
        sql: &str,
        key: fn(&[String]) -> String,
        of_values: &[&str],
        of_blocks: &[&str],
    ) -> Table {
        let mut table = Table::new();
        let value = if self.unit() == "ns" {
            "time"
        } else {
            "samples"
        };
        let blocks = if self.unit() == "ns" {
            "blocks"
        } else {
            "samples"
        };
        for (text, figures) in self.rows(sql, 5, of_values.len().max(of_blocks.len())) {
            let row = table.entry(key(&text[1..])).or_default();
            for (metric, names) in [(value, of_values), (blocks, of_blocks)] {
                let named = names
                    .iter()
                    .zip(&figures)
                    .filter(|(name, _)| metric == text[0] && !name.is_empty());
                for (name, figure) in named {
                    *row.entry((*name).to_owned()).or_default() += *figure;
                }
            }
        }
        table
    }

    fn unit(&self) -> String {
        let unit = "SELECT CASE m.unit WHEN 'count' THEN m.name ELSE m.unit END FROM runs AS r
                    JOIN metrics AS m ON m.metric_id = r.default_metric_id";
        self.rows(unit, 1, 0).remove(0).0.remove(0)
    }

    fn routines(&self) -> Table {
        self.table(
            "SELECT metric, module, function, '', '', exclusive, cumulative, seen FROM summary",
            |text| format!("{}:{}", text[0], text[1]),
            &["self", "inclusive"],
            &["blocks", "inclusive_blocks", "occurrences"],
        )
    }

    fn lines(&self) -> Table {
        self.table(
            "SELECT metric, module, printf('%05d', line), CAST(COALESCE(col, 0) AS TEXT), '', exclusive, cumulative
             FROM lines",
            |text| format!("{}:{}:{}", text[0], text[1], text[2]),
            &["self", "inclusive"],
            &["blocks", "inclusive_blocks"],
        )
    }

    fn edges(&self) -> Table {
        let key = |text: &[String]| format!("{}:{} > {}:{}", text[0], text[1], text[2], text[3]);
        let mut edges = self.table(
            "SELECT metric, module, function, callee_module, callee, cumulative FROM callees",
            key,
            &["value"],
            &["blocks"],
        );
        let seen = self.table(
            "SELECT m.name, a.module, a.name, b.module, b.name, e.seen FROM edges AS e
             JOIN metrics AS m USING (metric_id)
             JOIN functions AS a ON a.function_id = e.caller_id JOIN functions AS b ON b.function_id = e.callee_id",
            key,
            &[""],
            &["occurrences"],
        );
        for (edge, figures) in seen {
            edges.entry(edge).or_default().extend(figures);
        }
        edges
    }

    /// Compares with what is expected; says how many figures that were.
    fn compare(&self, name: &str, expected: &Value) -> usize {
        let mut compared = 0;
        let blocks = if self.unit() == "ns" {
            "blocks"
        } else {
            "samples"
        };
        let mut one = |what: &str, found: f64| {
            if let Some(figure) = expected.get(what) {
                assert_eq!(figure.as_f64(), Some(found), "{name}: {what}");
                compared += 1;
            }
        };
        one("total", self.figure("SELECT total FROM run_list"));
        one(
            "blocks",
            self.figure(&format!(
                "SELECT total FROM metrics WHERE name = '{blocks}'"
            )),
        );
        let flat = self.count("SELECT fidelity = 'flat' FROM run_list") != 0;
        // Every line is a function and a line below it.
        let deepest = "SELECT COALESCE((MAX(depth) + 1) / 2, MIN(1, (SELECT COUNT(*) FROM summary))) FROM tree";
        one("deepest", self.figure(deepest));
        if let Some(unit) = expected.get("unit") {
            assert_eq!(*unit, self.unit(), "{name}: unit");
        }
        if let Some(modules) = expected.get("modules").and_then(Value::as_array) {
            let found = self.rows("SELECT DISTINCT module FROM summary ORDER BY module", 1, 0);
            let found: Vec<Value> = found
                .into_iter()
                .map(|(mut text, _)| Value::String(text.remove(0)))
                .collect();
            assert_eq!(*modules, found, "{name}: modules");
        }
        for (what, found) in [
            ("routines", self.routines()),
            ("lines", self.lines()),
            ("edges", self.edges()),
        ] {
            let Some(table) = expected.get(what) else {
                continue;
            };
            let table = expected_table(table, what);
            compared += table.values().map(Figures::len).sum::<usize>();
            assert_eq!(table, found, "{name}: {what}");
        }
        if expected.get("deepest").is_some() {
            let edges = expected["edges"].as_object().expect("a table").is_empty();
            assert_eq!(
                flat,
                edges && expected["deepest"] == 1,
                "{name}: without backtraces, totals only"
            );
        }
        // A log does not hold how often anything was called.
        for table in ["function_info", "line_info", "edges", "nodes"] {
            assert_eq!(
                self.count(&format!("SELECT COUNT(calls) FROM {table}")),
                0,
                "{name}: calls in {table}"
            );
        }
        compared
    }
}

/// An expected table. Occurrences of lines are counted by nobody.
fn expected_table(table: &Value, what: &str) -> Table {
    let rows = table.as_object().expect("a table").iter();
    rows.map(|(key, row)| {
        let figures = row
            .as_object()
            .expect("a row")
            .iter()
            .filter(|(name, _)| what != "lines" || *name != "occurrences");
        let figures = figures
            .map(|(name, figure)| (name.clone(), figure.as_f64().expect("a figure")))
            .collect();
        (key.clone(), figures)
    })
    .collect()
}

#[test]
fn simulated_logs() {
    // How many figures there are, so that none goes missing unnoticed.
    let logs = [
        ("timed", 267),
        ("timed-time-last", 267),
        ("timed-outermost-first", 267),
        ("timed-no-backtrace", 224),
        ("sampled", 239),
        ("sampled-no-backtrace", 188),
        ("sampled-no-marks", 193),
        ("sampled-bare", 163),
    ];
    for (name, figures) in logs {
        let log = samples().join(format!("{name}.prof.gz"));
        let expected = json(&samples().join(format!("{name}.prof.expected.json")));
        let imported = import(&log, &[]).unwrap_or_else(|error| panic!("{name}: {error}"));
        let compared = imported.compare(name, &expected);
        assert_eq!(compared, figures, "{name}: figures compared");
        let turned = imported.count(
            "SELECT COUNT(*) FROM notes WHERE message LIKE 'the main routine is in the first%'",
        );
        assert_eq!(
            turned,
            i64::from(name == "timed-outermost-first"),
            "{name}: order of the backtraces"
        );
    }
}

#[test]
fn traps() {
    let folder = samples().join("cases");
    let expected = json(&folder.join("expected.json"));
    let traps = expected.as_object().expect("traps");
    assert!(traps.len() >= 26, "only {} traps", traps.len());
    for (name, expected) in traps {
        let log = folder.join(format!("{name}.prof"));
        let named = ["--from", "business_rules"];
        let offset = expected.get("record_offset").and_then(Value::as_u64);
        let imported = match (import(&log, &named), expected["outcome"].as_str()) {
            (Err(error), Some("error")) => {
                let (place, blocks) = (
                    format!(": byte {}: ", offset.expect("an offset")),
                    &expected["blocks"],
                );
                assert!(
                    error.contains(&place)
                        && error.contains(&format!("after {blocks} complete block")),
                    "{name}: {error}"
                );
                let keeping = [named.as_slice(), &["--keep-before-error"]].concat();
                import(&log, &keeping).unwrap_or_else(|error| panic!("{name}: {error}"))
            }
            (Ok(imported), Some("ok")) => {
                // A note says that a recording is empty.
                let notes = i64::from(["empty", "only-mappings"].contains(&name.as_str()));
                assert_eq!(
                    imported.count("SELECT COUNT(*) FROM notes"),
                    notes,
                    "{name}"
                );
                imported.compare(name, expected);
                continue;
            }
            (Ok(imported), Some("warn")) => imported,
            (outcome, wanted) => panic!("{name}: {:?}, expected {wanted:?}", outcome.err()),
        };
        assert!(
            imported.count("SELECT COUNT(*) FROM notes WHERE severity = 'warning'") > 0,
            "{name}: no note"
        );
        if let Some(offset) = offset {
            let found =
                imported.count(&format!("SELECT COUNT(*) FROM notes WHERE byte = {offset}"));
            assert_eq!(found, 1, "{name}: notes about byte {offset}");
        }
        imported.compare(name, expected);
    }
}
