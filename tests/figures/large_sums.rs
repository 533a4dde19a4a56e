//! Sums of calls that leave 64 bits: each function may be called 2^53 times, and a run may have thousands. SQLite's `SUM` ends with an
//! error there; no view, report, comparison or check of ours does, and what they say is the sum.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Output;

use crate::support::program;
use serde_json::Value;
use tempfile::TempDir;

/// The most calls that a file may state of a function.
pub(super) const MANY: u64 = 1 << 53;

/// Functions that are called as often: `MANY` times this is more than 2^63.
pub(super) const FUNCTIONS: u64 = 1100;

/// A list of calls in which one function calls `FUNCTIONS` others, whose names are one but for the hash that a build gives them.
pub(super) fn calls_of_one() -> String {
    let name = |at: u64| format!("_ZN3foo3bar17h{at:016x}E");
    let mut text = "# callgrind format\nevents: Ir\n\nfl=main.c\nfn=main\n1 1\n".to_owned();
    for at in 0..FUNCTIONS {
        let _ = write!(text, "cfi=lib.c\ncfn={}\ncalls={MANY} 1\n1 10\n", name(at));
    }
    text.push_str("\nfl=lib.c");
    for at in 0..FUNCTIONS {
        let _ = write!(text, "\nfn={}\n1 10\n", name(at));
    }
    text
}

/// A tree of as many functions, all of which are called by nobody.
pub(super) fn tree_of_roots() -> String {
    let mut text =
        "\"Depth\",\"Element\",\"Line\",\"Calls\",\"ExclusiveTime\",\"InclusiveTime\"\n".to_owned();
    for at in 0..FUNCTIONS {
        let _ = writeln!(text, "0,\"#.often{at}\",,{MANY},1.5,1.5");
    }
    text
}

fn tried(folder: &Path, arguments: &[&str]) -> Output {
    let mut program = program::command();
    program.args(arguments).current_dir(folder);
    program.output().expect("our own program")
}

fn said(folder: &Path, arguments: &[&str]) -> String {
    let done = tried(folder, arguments);
    let wrong = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{arguments:?}: {wrong}");
    String::from_utf8(done.stdout).expect("UTF-8")
}

fn imported() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    fs::write(path.join("callgrind.out.1"), calls_of_one()).expect("room");
    fs::write(path.join("tree.csv"), tree_of_roots()).expect("room");
    for file in ["callgrind.out.1", "tree.csv"] {
        said(path, &["import", "--db", "a.db", file]);
    }
    folder
}

/// The largest figure of a column.
fn largest(folder: &Path, column: &str, view: &str, of: &str) -> f64 {
    let statement = format!("SELECT MAX({column}) AS largest FROM {view} WHERE {of}");
    let rows = said(
        folder,
        &["sql", "--db", "a.db", "--format", "json", &statement],
    );
    let rows: Value = serde_json::from_str(&rows).expect("JSON");
    let largest = find(&rows, "largest").and_then(Value::as_f64);
    largest.unwrap_or_else(|| panic!("{view}: {rows}"))
}

/// The first value of this name, wherever it is.
fn find<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    match value {
        Value::Object(members) => members
            .get(name)
            .or_else(|| members.values().find_map(|value| find(value, name))),
        Value::Array(values) => values.iter().find_map(|value| find(value, name)),
        _ => None,
    }
}

#[expect(clippy::cast_precision_loss, reason = "the nearest number is meant")]
fn all() -> f64 {
    (u128::from(MANY) * u128::from(FUNCTIONS)) as f64
}

#[test]
fn views_add_up_what_64_bits_do_not_hold() {
    let folder = imported();
    let path = folder.path();
    for (column, view, of) in [
        ("calls", "history", "run_id = 1"),
        ("calls", "changes", "base_run_id = 1 AND run_id = 1"),
        ("base_calls", "changes", "base_run_id = 1 AND run_id = 1"),
    ] {
        let found = largest(path, column, view, of);
        assert_eq!(found.to_bits(), all().to_bits(), "{column} of {view}");
    }
    // Each function by itself is exact, and a whole number.
    for view in ["summary", "calls", "callees", "exclusive", "cumulative"] {
        let statement = format!(
            "SELECT COUNT(*) AS n, MAX(calls) AS most, TYPEOF(MAX(calls)) AS kind FROM {view} WHERE calls = {MANY}"
        );
        let row = said(
            path,
            &["sql", "--db", "a.db", "--format", "csv", &statement],
        );
        let last = row.lines().next_back().expect("a row");
        assert!(
            last.ends_with(&format!(",{MANY},\"integer\"")),
            "{view}: {row}"
        );
        assert!(!last.starts_with("0,"), "{view}: {row}");
    }
}

#[test]
fn reports_add_up_what_64_bits_do_not_hold() {
    let folder = imported();
    let path = folder.path();
    let mut sums = 0;
    for run in ["1", "2"] {
        for report in [
            "summary",
            "exclusive",
            "cumulative",
            "calls",
            "callees",
            "call_lines",
            "bottom_up",
        ] {
            for by in ["function", "module", "file", "identity"] {
                for filter in ["", "--hide=nothing", "--focus=*o*"] {
                    let mut asked = vec![
                        "report", report, "--db", "a.db", "--run", run, "--format", "json",
                    ];
                    if by != "function" {
                        asked.extend(["--by", by]);
                    }
                    if ["calls", "callees", "call_lines"].contains(&report) {
                        asked.extend(["--fn", "*"]);
                    }
                    if !filter.is_empty() {
                        asked.push(filter);
                    }
                    let done = tried(path, &asked);
                    let wrong = String::from_utf8_lossy(&done.stderr);
                    assert!(!wrong.contains("overflow"), "{asked:?}: {wrong}");
                    // Some reports have not all flags, and some runs not what they need.
                    assert!(
                        matches!(done.status.code(), Some(0 | 2 | 4)),
                        "{asked:?}: {wrong}"
                    );
                    if !done.status.success() {
                        continue;
                    }
                    let answer: Value = serde_json::from_slice(&done.stdout).expect("JSON");
                    let most = most_calls(&answer);
                    if most > 1e16 {
                        assert_eq!(most.to_bits(), all().to_bits(), "{asked:?}");
                        sums += 1;
                    }
                    // The statement that is shown says the same.
                    asked.push("--show-sql");
                    let shown = tried(path, &asked);
                    if shown.status.success() {
                        let sql = String::from_utf8(shown.stdout).expect("UTF-8");
                        let rows = said(path, &["sql", "--db", "a.db", "--format", "json", &sql]);
                        let rows: Value = serde_json::from_str(&rows).expect("JSON");
                        assert_eq!(most_calls(&rows).to_bits(), most.to_bits(), "{asked:?}");
                    }
                }
            }
        }
    }
    assert!(sums > 10, "only {sums} answers had such a sum");
}

/// The largest number of calls in an answer.
fn most_calls(answer: &Value) -> f64 {
    match answer {
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| match (name.as_str(), value.as_f64()) {
                ("calls", Some(calls)) => calls,
                _ => most_calls(value),
            })
            .fold(0.0, f64::max),
        Value::Array(values) => values.iter().map(most_calls).fold(0.0, f64::max),
        _ => 0.0,
    }
}

#[test]
fn other_commands_go_on_where_sums_leave_64_bits() {
    let folder = imported();
    let path = folder.path();
    said(path, &["check", "--db", "a.db"]);
    said(path, &["merge", "b.db", "a.db"]);
    said(path, &["history", "--db", "a.db"]);
    said(path, &["diff", "--db", "a.db", "1", "1"]);
    said(path, &["report", "--db", "a.db", "--html", "page.html"]);
    for format in ["folded", "pprof", "speedscope", "firefox"] {
        said(
            path,
            &[
                "export", "--db", "a.db", "--format", format, "--output", format, "2",
            ],
        );
    }
}

/// What the callers of a function add up to may be no more than what a file may state of it.
#[test]
fn a_function_that_its_callers_call_more_often_than_that_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    // From just too much to more than 64 bits without a sign hold.
    for callers in [2, 1100, 2100] {
        let mut text = "# callgrind format\nevents: Ir\n".to_owned();
        for at in 0..callers {
            let _ = write!(text, "\nfn=c{at}\n1 1\ncfn=f\ncalls={MANY} 1\n1 10\n");
        }
        let _ = write!(text, "\nfn=f\n1 {}\n", callers * 10);
        fs::write(path.join("callgrind.out.2"), text).expect("room");
        let ended = tried(path, &["import", "--db", "a.db", "callgrind.out.2"]);
        let wrong = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(3), "{wrong}");
        assert!(
            wrong.contains("the calls of `f` add up to more than 2^53"),
            "{wrong}"
        );
        assert!(!path.join("a.db").exists(), "{wrong}");
    }
}
