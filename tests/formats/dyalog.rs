//! Every figure that is known of the sample profiles from elsewhere (`tests/samples/`), as the
//! stock shell sees it and as reports tell it.

use crate::support::case_files::repository_path;
use crate::support::program;
use crate::support::tools;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Which columns of the expected figures a file holds.
#[derive(Clone, Copy, PartialEq)]
enum Times {
    Corrected,
    Raw,
}

/// A file of a sample run.
struct Sample {
    /// The input of this case.
    case: &'static str,
    run: &'static str,
    times: Times,
    /// What one row may be off by, in ms, besides the ten digits that everything has.
    rounding: f64,
}

/// Times of the language reference, from which foo was made, have five decimals.
const FIVE_DECIMALS: f64 = 1e-5;

/// Version 1.37 rounds to a thousandth of a millisecond.
const THREE_DECIMALS: f64 = 0.0005;

const SAMPLES: [Sample; 11] = [
    Sample {
        case: "dyalog_xml/foo-0.9.0-tree/run.xml",
        run: "foo",
        times: Times::Corrected,
        rounding: 0.0,
    },
    Sample {
        case: "dyalog_csv/foo-0.9.0-tree/run.csv",
        run: "foo",
        times: Times::Corrected,
        rounding: 0.0,
    },
    Sample {
        case: "dyalog_xml/data-is-corrected/run.xml",
        run: "foo",
        times: Times::Corrected,
        rounding: 0.0,
    },
    Sample {
        case: "dyalog_csv/foo-0.9.0-data/run.csv",
        run: "foo",
        times: Times::Raw,
        rounding: 0.0,
    },
    Sample {
        case: "dyalog_xml/foo-1.37-tree/run.xml",
        run: "foo",
        times: Times::Raw,
        rounding: THREE_DECIMALS,
    },
    Sample {
        case: "dyalog_csv/foo-1.37-tree/run.csv",
        run: "foo",
        times: Times::Raw,
        rounding: THREE_DECIMALS,
    },
    Sample {
        case: "dyalog_csv/data-1.37/run.csv",
        run: "foo",
        times: Times::Raw,
        rounding: THREE_DECIMALS,
    },
    Sample {
        case: "dyalog_xml/shop-tree/run.xml",
        run: "shop",
        times: Times::Corrected,
        rounding: 0.0,
    },
    Sample {
        case: "dyalog_csv/shop-tree/run.csv",
        run: "shop",
        times: Times::Corrected,
        rounding: 0.0,
    },
    Sample {
        case: "dyalog_csv/shop-tree-semicolon/run.csv",
        run: "shop",
        times: Times::Corrected,
        rounding: 0.0,
    },
    Sample {
        case: "dyalog_csv/shop-data/run.csv",
        run: "shop",
        times: Times::Raw,
        rounding: 0.0,
    },
];

impl Sample {
    fn file(&self) -> PathBuf {
        repository_path(&format!("tests/cases/{}", self.case))
    }

    /// Rows of the expected figures that are about this run, by their first two columns.
    fn expected(&self, kind: &str) -> Vec<BTreeMap<String, String>> {
        let name = format!("tests/samples/{}.{kind}.tsv", self.run);
        let text =
            fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(&name)).expect(&name);
        let mut lines = text.lines().map(|line| line.split('\t').map(str::to_owned));
        let names: Vec<String> = lines.next().expect("a header").collect();
        lines
            .map(|cells| names.iter().cloned().zip(cells).collect())
            .collect()
    }

    fn is_tree(&self) -> bool {
        self.case.contains("-tree")
    }

    fn column(&self, name: &str) -> String {
        if self.times == Times::Raw {
            format!("raw_{name}")
        } else {
            name.to_owned()
        }
    }
}

/// Figures that were compared, and those that differ.
#[derive(Default)]
struct Comparison {
    compared: usize,
    different: Vec<String>,
}

impl Comparison {
    /// Compares a figure, which may be off by what `rows` rows of the sample may be off by.
    fn figure(&mut self, what: &str, expected: f64, found: f64, tolerance: f64) {
        self.compared += 1;
        // Ten digits in CSV, nine decimals in the expected figures.
        let tolerance = tolerance + 1e-9 * expected.abs() + 1e-9;
        if found.is_nan() || (expected - found).abs() > tolerance {
            self.different
                .push(format!("{what}: expected {expected}, found {found}"));
        }
    }

    fn end(self, at_least: usize) {
        assert!(self.different.is_empty(), "{}", self.different.join("\n"));
        assert!(
            self.compared >= at_least,
            "only {} figures were compared",
            self.compared
        );
    }
}

fn number(text: &str) -> f64 {
    text.parse()
        .unwrap_or_else(|_| panic!("{text:?} is no number"))
}

/// Returns the output of a command, without the settings of the user.
fn run(mut command: Command, arguments: &[&str]) -> String {
    let output = command
        .args(arguments)
        .env("HOME", "/nonexistent")
        .output()
        .expect("the program starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn profdb(arguments: &[&str]) -> String {
    run(program::command(), arguments)
}

/// The rows of a report about a file.
fn report(arguments: &[&str]) -> Value {
    let arguments: Vec<&str> = ["report"]
        .iter()
        .chain(arguments)
        .chain(&["--format", "json"])
        .copied()
        .collect();
    serde_json::from_str(&profdb(&arguments)).expect("JSON")
}

fn rows(report: &Value) -> &[Value] {
    report["rows"].as_array().expect("rows")
}

/// Rows of a statement, as the stock shell prints them.
fn sqlite3(database: &Path, sql: &str) -> Vec<Vec<String>> {
    let printed = run(
        tools::command("sqlite3"),
        &[
            "-batch",
            "-separator",
            "\t",
            &database.display().to_string(),
            sql,
        ],
    );
    printed
        .lines()
        .map(|line| line.split('\t').map(str::to_owned).collect())
        .collect()
}

/// The sample in a database of its own.
fn imported(sample: &Sample) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let database = folder.path().join("x.db");
    profdb(&[
        "import",
        "--db",
        &database.display().to_string(),
        &sample.file().display().to_string(),
    ]);
    (folder, database)
}

const MS: f64 = 1e-6;

#[test]
fn functions_in_the_stock_shell() {
    tools::require("sqlite3");
    let mut comparison = Comparison::default();
    for sample in &SAMPLES {
        let (_folder, database) = imported(sample);
        let found = sqlite3(
            &database,
            "SELECT function, calls, exclusive, cumulative, exclusive_pct, cumulative_pct FROM summary
             WHERE metric = 'time'",
        );
        let mut named: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for row in &found {
            named.insert(&row[0], row[1..].iter().map(|cell| number(cell)).collect());
        }
        let nodes: BTreeMap<String, f64> = sqlite3(
            &database,
            "SELECT function, COUNT(*) FROM tree WHERE metric = 'time' AND line IS NULL GROUP BY function",
        )
        .into_iter()
        .map(|row| (row[0].clone(), number(&row[1])))
        .collect();
        let expected = sample.expected("expected");
        assert_eq!(
            found.len(),
            expected.len() - 1,
            "functions of {}",
            sample.case
        );
        let mut exclusive = 0.0;
        for row in &expected {
            let name = row["name"].as_str();
            let expect = |column: &str| number(&row[&sample.column(column)]);
            let what = |column: &str| format!("{} {name} {column}", sample.case);
            if name == "(total)" {
                let total = sqlite3(&database, "SELECT total FROM metrics WHERE name = 'time'");
                let off = (sample.rounding
                    + if sample.run == "foo" {
                        FIVE_DECIMALS
                    } else {
                        0.0
                    })
                    * (1.0 + number(&expected.len().to_string()));
                let total = number(&total[0][0]) * MS;
                comparison.figure(&what("total"), expect("inclusive_ms_outermost"), total, off);
                comparison.figure(&what("sum"), expect("exclusive_ms"), exclusive, off);
                continue;
            }
            let figures = named
                .get(name)
                .unwrap_or_else(|| panic!("{}: no function {name}", sample.case));
            let off = sample.rounding * nodes.get(name).copied().unwrap_or(1.0);
            exclusive += figures[1] * MS;
            comparison.figure(&what("calls"), number(&row["calls"]), figures[0], 0.0);
            comparison.figure(
                &what("exclusive"),
                expect("exclusive_ms"),
                figures[1] * MS,
                off,
            );
            comparison.figure(
                &what("cumulative"),
                expect("inclusive_ms_outermost"),
                figures[2] * MS,
                off,
            );
            if sample.times == Times::Corrected {
                // The expected percentages have six decimals.
                comparison.figure(
                    &what("exclusive %"),
                    number(&row["pct_exclusive"]),
                    figures[3],
                    5e-7,
                );
                comparison.figure(
                    &what("cumulative %"),
                    number(&row["pct_inclusive"]),
                    figures[4],
                    5e-7,
                );
            }
        }
    }
    comparison.end(300);
}

#[test]
fn functions_in_reports() {
    let mut comparison = Comparison::default();
    for sample in &SAMPLES {
        let file = sample.file().display().to_string();
        let summary = report(&["summary", &file]);
        let by_exclusive = report(&["exclusive", &file]);
        let by_cumulative = report(&["cumulative", &file]);
        for row in sample.expected("expected") {
            let name = row["name"].as_str();
            if name == "(total)" {
                let expected = number(&row[&sample.column("inclusive_ms_outermost")]);
                let off = 4.0 * (FIVE_DECIMALS + sample.rounding);
                comparison.figure(
                    &file,
                    expected,
                    summary["total"].as_f64().expect("a total") * MS,
                    off,
                );
                continue;
            }
            // Foo has one row per function, and no other sample is rounded.
            let off = sample.rounding;
            let reports = [
                (&summary, "exclusive"),
                (&summary, "cumulative"),
                (&by_exclusive, "exclusive"),
                (&by_cumulative, "cumulative"),
            ];
            for (report, column) in reports {
                let found = rows(report)
                    .iter()
                    .find(|row| row["function"] == name)
                    .unwrap_or(&Value::Null);
                let what = format!(
                    "{} report {} {name} {column}",
                    sample.case, report["report"]
                );
                let expected = if column == "exclusive" {
                    "exclusive_ms"
                } else {
                    "inclusive_ms_outermost"
                };
                let expected = number(&row[&sample.column(expected)]);
                comparison.figure(
                    &what,
                    expected,
                    found[column].as_f64().unwrap_or(f64::NAN) * MS,
                    off,
                );
                let calls = found["calls"].as_f64().unwrap_or(f64::NAN);
                comparison.figure(&format!("{what}: calls"), number(&row["calls"]), calls, 0.0);
            }
        }
        assert_eq!(
            rows(&summary).len(),
            sample.expected("expected").len() - 1,
            "functions of {}",
            sample.case
        );
    }
    comparison.end(500);
}

/// `calls #.Tree.Walk by line` as the function and whether lines call.
fn question(text: &str) -> Option<(&str, bool)> {
    let text = text.strip_prefix("calls ")?;
    text.strip_suffix(" by line")
        .map(|name| (name, true))
        .or_else(|| Some((text.strip_suffix(" by function")?, false)))
}

#[test]
fn callers_in_the_stock_shell() {
    tools::require("sqlite3");
    let mut comparison = Comparison::default();
    for sample in SAMPLES
        .iter()
        .filter(|sample| sample.run == "shop" && sample.is_tree())
    {
        let (_folder, database) = imported(sample);
        let expected = sample.expected("expected-calls");
        let asked: Vec<_> = expected
            .iter()
            .filter_map(|row| Some((row, question(&row["report"])?)))
            .collect();
        for (row, (function, by_line)) in &asked {
            let (view, caller, seen_by) = if *by_line {
                (
                    "call_lines",
                    "caller || '[' || caller_line || ']'",
                    "c.name || '[' || e.caller_line || ']'",
                )
            } else {
                ("calls", "caller", "c.name")
            };
            let found = sqlite3(
                &database,
                &format!(
                    "SELECT {caller}, calls, exclusive, cumulative FROM {view} WHERE metric = 'time' AND function = '{function}'"
                ),
            );
            let same = asked
                .iter()
                .filter(|(_, question)| *question == (*function, *by_line))
                .count();
            assert_eq!(found.len(), same, "{}: callers of {function}", sample.case);
            let what = |column: &str| {
                format!(
                    "{} {} {} {column}",
                    sample.case, row["report"], row["caller"]
                )
            };
            let found = found
                .iter()
                .find(|found| found[0] == row["caller"])
                .unwrap_or_else(|| panic!("{}", what("missing")));
            comparison.figure(
                &what("calls"),
                number(&row["calls"]),
                number(&found[1]),
                0.0,
            );
            comparison.figure(
                &what("exclusive"),
                number(&row["exclusive_ms"]),
                number(&found[2]) * MS,
                0.0,
            );
            comparison.figure(
                &what("outermost"),
                number(&row["inclusive_ms_outermost"]),
                number(&found[3]) * MS,
                0.0,
            );
            let seen = sqlite3(
                &database,
                &format!(
                    "SELECT SUM(e.seen) FROM edges AS e
                     JOIN metrics AS m ON m.metric_id = e.metric_id AND m.name = 'time'
                     JOIN functions AS f ON f.function_id = e.callee_id AND f.name = '{function}'
                     JOIN functions AS c ON c.function_id = e.caller_id
                     WHERE {seen_by} = '{}'",
                    row["caller"]
                ),
            );
            comparison.figure(
                &what("seen"),
                number(&row["inclusive_ms_all_rows"]),
                number(&seen[0][0]) * MS,
                0.0,
            );
        }
    }
    comparison.end(250);
}

#[test]
fn callers_in_reports() {
    let mut comparison = Comparison::default();
    for sample in SAMPLES
        .iter()
        .filter(|sample| sample.run == "shop" && sample.is_tree())
    {
        let file = sample.file().display().to_string();
        for row in sample.expected("expected-calls") {
            let Some((function, by_line)) = question(&row["report"]) else {
                continue;
            };
            let mut arguments = vec!["calls", &file, "--fn", function];
            arguments.extend(by_line.then_some("--lines"));
            let report = report(&arguments);
            let caller = |found: &Value| match (&found["caller"], &found["caller_line"]) {
                (Value::String(name), Value::Number(line)) => format!("{name}[{line}]"),
                (Value::String(name), _) => name.clone(),
                _ => String::new(),
            };
            let found = rows(&report)
                .iter()
                .find(|found| caller(found) == row["caller"])
                .unwrap_or(&Value::Null);
            let columns = [
                ("calls", "calls", 1.0),
                ("exclusive", "exclusive_ms", MS),
                ("cumulative", "inclusive_ms_outermost", MS),
            ];
            for (column, expected, unit) in columns {
                let what = format!(
                    "{} {} {} {column}",
                    sample.case, row["report"], row["caller"]
                );
                let figure = found[column].as_f64().unwrap_or(f64::NAN) * unit;
                comparison.figure(&what, number(&row[expected]), figure, 0.0);
            }
        }
    }
    comparison.end(190);
}

#[test]
fn drilling_down() {
    let mut comparison = Comparison::default();
    for sample in SAMPLES
        .iter()
        .filter(|sample| sample.run == "shop" && sample.is_tree())
    {
        let file = sample.file().display().to_string();
        for row in sample.expected("expected-calls") {
            let Some(path) = row["report"].strip_prefix("drill ") else {
                continue;
            };
            let (_, function) = path.rsplit_once(',').expect("a path");
            let report = report(&["summary", &file, "--fn", path]);
            let found = rows(&report)
                .iter()
                .find(|found| found["function"] == function)
                .unwrap_or(&Value::Null);
            let what = |column: &str| format!("{} {path} {column}", sample.case);
            let figure = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
            let inclusive = number(&row["inclusive_ms_outermost"]);
            comparison.figure(
                &what("calls"),
                number(&row["calls"]),
                figure(&found["calls"]),
                0.0,
            );
            comparison.figure(
                &what("exclusive"),
                number(&row["exclusive_ms"]),
                figure(&found["exclusive"]) * MS,
                0.0,
            );
            comparison.figure(
                &what("cumulative"),
                inclusive,
                figure(&found["cumulative"]) * MS,
                0.0,
            );
            comparison.figure(
                &what("selected"),
                inclusive,
                figure(&report["selected"]) * MS,
                0.0,
            );
        }
    }
    comparison.end(48);
}

#[test]
fn lines_are_those_of_the_file() {
    tools::require("sqlite3");
    // The rows of a data file are what the lines report shows.
    for sample in SAMPLES
        .iter()
        .filter(|sample| !sample.is_tree() && sample.case.starts_with("dyalog_csv/"))
    {
        let text = fs::read_to_string(sample.file()).expect("readable");
        let mut lines = text.lines().map(|line| {
            line.split(',')
                .map(|cell| cell.trim_matches('"'))
                .collect::<Vec<_>>()
        });
        let header = lines.next().expect("a header");
        // The first column of times is the exclusive one, whatever its label.
        assert_eq!(header[..3], ["Element", "Line", "Calls"]);
        let (_folder, database) = imported(sample);
        let found = sqlite3(
            &database,
            "SELECT function, line, calls, exclusive, cumulative FROM lines WHERE metric = 'time'
             UNION ALL SELECT function, '', calls, exclusive, cumulative FROM summary WHERE metric = 'time'",
        );
        let mut comparison = Comparison::default();
        let rows: Vec<_> = lines.collect();
        for row in &rows {
            let found = found
                .iter()
                .find(|found| found[..2] == row[..2])
                .unwrap_or_else(|| panic!("{row:?} is missing"));
            assert_eq!(found[2], row[2], "calls of {row:?}");
            comparison.figure(
                &format!("{row:?} exclusive"),
                number(row[3]),
                number(&found[3]) * MS,
                0.0,
            );
            comparison.figure(
                &format!("{row:?} cumulative"),
                number(row[4]),
                number(&found[4]) * MS,
                0.0,
            );
        }
        assert_eq!(found.len(), rows.len(), "{}", sample.case);
        comparison.end(2 * rows.len());
    }
}
