//! `profdb history` says what the view `history` says, and counts what a run does not mention as nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::support::program;
use rusqlite::Connection;
use rusqlite::types::Value;
use serde_json::Value as Json;

fn told(database: &Path, arguments: &[&str]) -> String {
    let mut command = program::command();
    let output = command.args(arguments).arg("--db").arg(database).output();
    let output = output.expect("it was built");
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn rows(database: &Path, arguments: &[&str]) -> Vec<Json> {
    let text = told(database, &[arguments, &["--format", "json"]].concat());
    let answer: Json = serde_json::from_str(&text).expect("JSON");
    answer["rows"].as_array().expect("rows").clone()
}

/// Columns of the view that the report has by the same names.
const COLUMNS: [&str; 19] = [
    "run_id",
    "position",
    "commit_id",
    "branch",
    "host",
    "recorded_at",
    "metric",
    "unit",
    "function",
    "module",
    "file",
    "calls",
    "exclusive",
    "exclusive_pct",
    "cumulative",
    "cumulative_pct",
    "total",
    "functions",
    "identity_id",
];

/// A number without the digit in which readers of JSON differ.
fn digits(number: f64) -> String {
    format!("{number:.12e}")
}

/// A value of either, as one text.
fn json(value: &Json) -> String {
    match value {
        Json::Null => "NULL".to_owned(),
        Json::Number(number) => digits(number.as_f64().expect("a number")),
        Json::String(text) => text.clone(),
        other => panic!("{other}"),
    }
}

fn sql(value: Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        Value::Integer(number) => digits(number as f64),
        Value::Real(number) => digits(number),
        Value::Text(text) => text,
        Value::Blob(_) => panic!("no column of the view"),
    }
}

/// Whether a row is of one of the runs.
fn is_of(runs: [i32; 2], row: &[String]) -> bool {
    runs.iter().any(|run| digits((*run).into()) == row[0])
}

#[test]
fn the_report_says_what_the_view_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = folder.path().join("h.db");
    // Several functions of one name, edges only, and a tree; runs of which each series has several.
    for (at, file) in [
        "pstats/work.pstats",
        "cpuprofile/small-main.cpuprofile",
        "callgrind/plain.out.gz",
    ]
    .into_iter()
    .enumerate()
    {
        let sample = Path::new("tests/samples").join(file);
        for commit in ["a", "b"] {
            let tags = [
                format!("commit={commit}"),
                format!("commit_count={}{}", at, u8::from(commit == "b")),
            ];
            let path = sample.to_str().expect("ASCII");
            told(
                &database,
                &["import", path, "--tag", &tags[0], "--tag", &tags[1]],
            );
        }
    }
    let connection = Connection::open(&database).expect("it was imported");
    let columns = COLUMNS.join(", ");
    let mut view = connection
        .prepare(&format!("SELECT {columns} FROM history ORDER BY run_id"))
        .expect("the view");
    let view = view
        .query_map([], |row| {
            (0..COLUMNS.len()).map(|at| Ok(sql(row.get(at)?))).collect()
        })
        .expect("rows");
    let view: Vec<Vec<String>> = view.collect::<Result<_, _>>().expect("rows");
    let mut tried = 0;
    for runs in [[1, 2], [3, 4], [5, 6]] {
        let set = format!("{},{}", runs[0], runs[1]);
        let metrics: BTreeSet<&String> = view
            .iter()
            .filter(|row| is_of(runs, row))
            .map(|row| &row[6])
            .collect();
        for metric in metrics {
            let found = rows(
                &database,
                &["history", "*", "--where", &set, "--metric", metric],
            );
            let said: BTreeSet<Vec<String>> = found
                .iter()
                .filter(|row| row["functions"] != 0)
                .map(|row| COLUMNS.iter().map(|column| json(&row[*column])).collect())
                .collect();
            let expected: BTreeSet<Vec<String>> = view
                .iter()
                .filter(|row| is_of(runs, row) && row[6] == *metric)
                .cloned()
                .collect();
            let differs: Vec<_> = said.symmetric_difference(&expected).take(4).collect();
            assert!(differs.is_empty(), "{set}: {metric}: {differs:?}");
            tried += said.len();
        }
    }
    assert!(tried > 100, "{tried} rows");
}

#[test]
fn what_a_run_does_not_mention_cost_nothing_in_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = folder.path().join("h.db");
    let file = folder.path().join("run.folded");
    for (number, text) in ["m;a 5\nm;b 1\n", "m;a 6\n", "m;a 7\nm;b 3\n"]
        .iter()
        .enumerate()
    {
        fs::write(&file, text).expect("room");
        let tag = format!("commit_count={number}");
        told(
            &database,
            &["import", file.to_str().expect("UTF-8"), "--tag", &tag],
        );
    }
    let costs = |arguments: &[&str]| -> Vec<(f64, i64)> {
        let of = |row: &Json| {
            let functions = row["functions"].as_i64().expect("a count");
            (row["exclusive"].as_f64().expect("a cost"), functions)
        };
        rows(&database, arguments).iter().map(of).collect()
    };
    assert_eq!(costs(&["history", "b"]), [(1.0, 1), (0.0, 0), (3.0, 1)]);
    assert_eq!(costs(&["history", "a"]), [(5.0, 1), (6.0, 1), (7.0, 1)]);
    // The whole run, and all functions of a module together.
    let totals: BTreeMap<i64, f64> = rows(&database, &["history"])
        .iter()
        .map(|row| {
            (
                row["run_id"].as_i64().expect("a run"),
                row["total"].as_f64().expect("a cost"),
            )
        })
        .collect();
    assert_eq!(totals, BTreeMap::from([(1, 6.0), (2, 6.0), (3, 10.0)]));
    let modules = folder.path().join("modules.db");
    let file = folder.path().join("run.callgrind");
    for (number, costs) in [
        &[("a", 5), ("b", 1)][..],
        &[("a", 6)],
        &[("a", 7), ("b", 3)],
    ]
    .iter()
    .enumerate()
    {
        let functions = costs.iter();
        let functions = functions.map(|(name, cost)| format!("fn={name}\n1 {cost}\n\n"));
        let total: i32 = costs.iter().map(|(_, cost)| cost).sum();
        let functions: String = functions.collect();
        let text = format!(
            "version: 1\ncreator: callgrind-3.22.0\nevents: Ir\n\nob=app\n{functions}totals: {total}\n"
        );
        fs::write(&file, text).expect("room");
        let tag = format!("commit_count={number}");
        let file = file.to_str().expect("UTF-8");
        told(&modules, &["import", file, "--tag", &tag]);
    }
    let of = |row: &Json| (row["exclusive"].as_f64(), row["functions"].as_i64());
    let module = rows(&modules, &["history", "--by", "module", "*"]);
    let module: Vec<_> = module.iter().map(of).collect();
    let expected = [(6.0, 2), (6.0, 1), (10.0, 2)];
    assert_eq!(
        module,
        expected.map(|(cost, count)| (Some(cost), Some(count)))
    );
}

/// Signs of patterns in a name in quotes are signs, and nothing is said of patterns where there is no such name.
#[test]
fn a_name_in_quotes_that_is_not_there_is_no_pattern() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = folder.path().join("a.db");
    let profile = folder.path().join("a.folded");
    fs::write(&profile, "main;parse 3\n").expect("room");
    told(&database, &["import", profile.to_str().expect("plain")]);
    for (name, said) in [
        ("\"*\"", "no run of the series has the function \"*\"\n"),
        (
            "\"pars\"",
            "no run of the series has the function \"pars\": quotes make a name literal; the nearest: parse\n",
        ),
        (
            "pars",
            "no run of the series has the function pars: * matches any text, ? any character; the nearest: parse\n",
        ),
    ] {
        let output = program::command()
            .args(["history", name, "--db"])
            .arg(&database)
            .output()
            .expect("it was built");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(errors, format!("profdb: {said}"));
        assert_eq!(output.status.code(), Some(4), "{errors}");
    }
}

/// A function that is named with its place is found by the place that its run has, too: reports on the run print that one.
#[test]
fn a_name_with_a_place_is_one_as_the_run_has_it_or_as_the_rules_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = folder.path().join("h.db");
    let profile = folder.path().join("f.callgrind");
    let raw = "target/release/deps/app-0123456789abcdef";
    let text = format!(
        "version: 1\ncreator: callgrind-3.22.0\nevents: Ir\n\nob={raw}\nfn=f\n1 10\n\nob=other\nfn=f\n1 5\n"
    );
    fs::write(&profile, text).expect("space on the disk");
    told(&database, &["import", profile.to_str().expect("ASCII")]);
    let all = told(&database, &["report"]);
    let short = "app-0123456789abcdef";
    assert!(all.contains(&format!("f ({short})")), "{all}");
    for (place, cost) in [
        (raw, 10),
        (short, 10),
        ("target/release/deps/app", 10),
        ("other", 5),
    ] {
        let name = format!("f ({place})");
        let found = rows(&database, &["history", &name]);
        let costs: Vec<&Json> = found.iter().map(|row| &row["exclusive"]).collect();
        assert_eq!(costs, [&Json::from(cost)], "{name}");
        let steps = told(&database, &["steps", "--all", "--fn", &name]);
        assert!(
            steps.contains("1 of 1 function searched"),
            "{name}: {steps}"
        );
    }
}

/// A slip in what runs have in common would make one series of all.
#[test]
fn a_series_by_a_tag_that_no_run_has_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = folder.path().join("h.db");
    for host in ["one", "two"] {
        let profile = folder.path().join(format!("{host}.folded"));
        fs::write(&profile, format!("main;{host} 10\n")).expect("space on the disk");
        let tag = format!("machine={host}");
        told(
            &database,
            &["import", "--tag", &tag, profile.to_str().expect("ASCII")],
        );
    }
    for command in ["history", "steps"] {
        let mut refused = program::command();
        let refused = refused
            .args([command, "--series", "title,machne", "--db"])
            .arg(&database)
            .output()
            .expect("it was built");
        let errors = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(
            errors,
            "profdb: no run has the tag machne; the nearest: machine\n"
        );
        assert_eq!(refused.status.code(), Some(4), "{errors}");
        // What all runs have, and what they have in common unless something else is asked for.
        told(&database, &[command, "--series", "tool_version,branch"]);
    }
    assert_eq!(
        rows(&database, &["history", "--series", "machine"]).len(),
        1
    );
}
