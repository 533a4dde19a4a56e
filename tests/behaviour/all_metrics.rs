//! With all metrics side by side, each figure is the one that the report has of that metric alone.

use std::collections::BTreeMap;

use crate::support::case_files::repository_path;
use crate::support::program;
use serde_json::{Map, Value};

/// Runs with several metrics: trees, pairs of callers and callees, labels, files of several parts.
const FILES: [&str; 5] = [
    "tests/samples/ghc_prof/calc.P.prof",
    "tests/cases/perf_script/two-events/run.perf",
    "tests/cases/callgrind/parts/callgrind.out",
    "tests/cases/cli/all-metrics/anonymous.callgrind",
    "tests/cases/dyalog_xml/shop-tree/run.xml",
];

const QUESTIONS: [&[&str]; 9] = [
    &["summary"],
    &["summary", "--exclusive", "--sort", "name"],
    &["summary", "--by", "file"],
    &["summary", "--percent-of", "selection", "--ignore", "a"],
    &["lines"],
    &["calls", "--fn", "*"],
    &["call_lines", "--fn", "*a*"],
    &["callees", "--fn", "*"],
    &["callees", "--fn", "*", "--by", "module"],
];

/// The rows of an answer; `None` where the run does not know enough.
fn rows(file: &str, question: &[&str], metric: &str) -> Option<Vec<Map<String, Value>>> {
    let output = program::command()
        .arg("report")
        .args(question)
        .args(["--format", "jsonl", "--metric", metric])
        .arg(repository_path(file))
        .output()
        .expect("our own program");
    let told = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0) => {}
        Some(4) => return None,
        _ => panic!("{file} {question:?} {metric}: {told}"),
    }
    let lines = output.stdout.split(|byte| *byte == b'\n');
    let objects = lines.filter(|line| !line.is_empty());
    Some(
        objects
            .map(|line| serde_json::from_slice(line).expect("an object"))
            .collect(),
    )
}

/// The metrics of a file, that of the default first.
fn metrics(file: &str) -> Vec<String> {
    let output = program::command()
        .args(["report", "summary", "--metric", "all", "--format", "json"])
        .arg(repository_path(file))
        .output()
        .expect("our own program");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("an object");
    let metrics = answer["metrics"].as_array().expect("a list").iter();
    metrics
        .map(|metric| metric["metric"].as_str().expect("a name").to_owned())
        .collect()
}

/// Parts of a row by what is told: what it is about, and figures. Calls are known in each metric, or
/// in one of them.
fn parts(row: &Map<String, Value>, metric: Option<&str>) -> (String, String) {
    let of_one = [
        "exclusive",
        "exclusive_pct",
        "cumulative",
        "cumulative_pct",
        "avg",
        "seen",
    ];
    let (mut about, mut figures) = (Map::new(), Map::new());
    for (name, value) in row {
        match (metric, name.rsplit_once('.')) {
            (Some(metric), Some((of, figure))) if of_one.contains(&figure) => {
                if of == metric {
                    figures.insert(figure.to_owned(), value.clone());
                }
            }
            (None, _) if of_one.contains(&name.as_str()) => {
                figures.insert(name.clone(), value.clone());
            }
            _ if ["calls", "cum_pct"].contains(&name.as_str()) => {}
            _ => {
                about.insert(name.clone(), value.clone());
            }
        }
    }
    (
        Value::from(about).to_string(),
        Value::from(figures).to_string(),
    )
}

/// How often each pair of these is there.
fn counted(pairs: impl Iterator<Item = (String, String)>) -> BTreeMap<(String, String), i64> {
    let mut counts = BTreeMap::new();
    for pair in pairs {
        *counts.entry(pair).or_default() += 1;
    }
    counts
}

#[test]
fn figures_are_those_of_each_metric_alone() {
    let mut compared = 0;
    for file in FILES {
        let metrics = metrics(file);
        assert!(metrics.len() > 1, "{file}: {metrics:?}");
        for question in QUESTIONS {
            let Some(all) = rows(file, question, "all") else {
                let default = rows(file, question, &metrics[0]);
                assert_eq!(default, None, "{file} {question:?}");
                continue;
            };
            for metric in &metrics {
                let alone = rows(file, question, metric).expect("an answer, as of all of them");
                let mut rest = counted(all.iter().map(|row| parts(row, Some(metric))));
                for (pair, count) in counted(alone.iter().map(|row| parts(row, None))) {
                    let left = rest.entry(pair.clone()).or_default();
                    *left -= count;
                    assert!(*left >= 0, "{file} {question:?} {metric}: {pair:?}");
                    compared += count;
                }
                // What has no row in a metric cost nothing in it.
                rest.retain(|_, count| *count > 0);
                for (about, figures) in rest.keys() {
                    let figures: Map<String, Value> =
                        serde_json::from_str(figures).expect("an object");
                    assert!(
                        figures
                            .values()
                            .all(|value| value.is_null() || value.as_f64() == Some(0.0)),
                        "{file} {question:?} {metric}: {about} {figures:?}"
                    );
                }
            }
            // The order is that of the default metric.
            let default = rows(file, question, &metrics[0]).expect("an answer");
            for (row, expected) in all.iter().zip(&default) {
                assert_eq!(
                    parts(row, Some(&metrics[0])),
                    parts(expected, None),
                    "{file} {question:?}"
                );
            }
        }
    }
    assert!(compared > 300, "{compared} rows");
}
