//! Whatever is looked at: the rows of the page are those of the command that it offers, and its statement is the one that the
//! command shows.

use std::collections::BTreeSet;

use serde_json::Value;

use super::browser;
use crate::shown::{Shown, repository, said};
use crate::support::long;

/// Profiles: files, and folders with their source.
const PROFILES: [(&str, Option<&str>); 9] = [
    ("tests/cases/dyalog_csv/shop-tree/run.csv", None),
    (
        "tests/cases/cli/code-of-a-workspace/run.xml",
        Some("tests/cases/cli/code-of-a-workspace/apl"),
    ),
    (
        "tests/cases/cli/function/run.cpuprofile",
        Some("tests/cases/cli/function/src"),
    ),
    (
        "tests/cases/cli/function/run.callgrind",
        Some("tests/cases/cli/function/src"),
    ),
    ("tests/samples/folded/py-spy.folded", None),
    ("tests/samples/pprof/cpu.pb.gz", None),
    ("tests/samples/austin/work.cpu.austin", None),
    ("tests/samples/pstats/work.pstats", None),
    ("tests/samples/ghc_prof/calc.P.prof", None),
];

/// A name as a step of a path.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Paths of the run: of one function, of one within another, and of one called by another.
fn paths(shown: &Shown, is_tree: bool) -> Vec<String> {
    let ask = |words: &[&str]| -> Vec<Value> {
        let answer = said(
            &shown.folder,
            &[words, &["--db", "x.db", "--format", "json"]].concat(),
        );
        let mut answer: Value = serde_json::from_str(&answer).expect("JSON");
        serde_json::from_value(answer["rows"].take()).expect("rows")
    };
    let summary = ask(&["report", "summary", "--exclusive"]);
    let name = |row: &Value| row["function"].as_str().expect("a name").to_owned();
    let mut found: BTreeSet<String> = summary
        .iter()
        .take(2)
        .map(|row| quoted(&name(row)))
        .collect();
    if !is_tree {
        return found.into_iter().collect();
    }
    // The way to the deepest of the first places, lines left out.
    let tree = ask(&["report", "tree", "--first", "400"]);
    let mut way: Vec<(u64, String)> = Vec::new();
    let mut deepest: Vec<String> = Vec::new();
    for row in tree.iter().filter(|row| row["line"].is_null()) {
        let depth = row["depth"].as_u64().expect("a depth");
        way.retain(|(above, _)| *above < depth);
        way.push((depth, name(row)));
        if way.len() > deepest.len() {
            deepest = way.iter().map(|(_, name)| quoted(name)).collect();
        }
    }
    if let [.., above, last] = deepest.as_slice() {
        found.insert(format!("{above}>{last}"));
        found.insert(format!("{},{last}", deepest[0]));
        found.insert(format!("{},{above}>{last}", deepest[0]));
    }
    found.into_iter().collect()
}

/// Compares functions, and lines if the run has any.
#[track_caller]
fn compare_panes(shown: &mut Shown) {
    shown.is_as_said(".pane.functions");
    if !shown.texts(".pane.lines").is_empty() {
        shown.is_as_said(".pane.lines");
    }
}

#[test]
fn rows_and_statements_are_those_of_the_command() {
    let mut shown = browser("equal");
    // The short form tries every other profile.
    let step = if long::is_long() { 1 } else { 2 };
    for (file, source) in PROFILES.into_iter().step_by(step) {
        let source = source.map(|source| repository(source).display().to_string());
        let flags: Vec<&str> = source
            .iter()
            .flat_map(|source| ["--source", source])
            .collect();
        let _ = std::fs::remove_file(shown.folder.join("x.db"));
        shown.import(&repository(file), &flags);
        shown.write(&[]);
        let known = "SELECT fidelity FROM runs UNION ALL SELECT name FROM (SELECT name FROM metrics ORDER BY position DESC LIMIT 1)";
        let known = said(
            &shown.folder,
            &["sql", known, "--db", "x.db", "--format", "jsonl"],
        );
        let known: Vec<String> = known
            .lines()
            .map(|row| {
                serde_json::from_str::<Value>(row).expect("JSON")["fidelity"]
                    .as_str()
                    .expect("text")
                    .to_owned()
            })
            .collect();
        let [fidelity, last] = known.as_slice() else {
            panic!("{known:?}")
        };
        let last = last.as_str();
        shown.open(&[]);
        compare_panes(&mut shown);
        shown.go(&[
            ("metric", last),
            ("exclusive", "yes"),
            ("functions", "table"),
        ]);
        compare_panes(&mut shown);
        for path in paths(&shown, fidelity == "tree") {
            let name = path.rsplit([',', '>']).next().expect("a name");
            let name = name.trim_matches('"').replace("\"\"", "\"");
            let state = [
                ("fn", path.as_str()),
                ("percent-of", "selection"),
                ("functions", "table"),
                ("function", &name),
            ];
            shown.go(&state);
            compare_panes(&mut shown);
            if source.is_some() {
                shown.is_as_said(".pane.function-details");
            }
            if fidelity == "flat" {
                continue;
            }
            shown.go(&[
                ("fn", &path),
                ("report", "calls"),
                ("metric", last),
                ("lines", "pie"),
            ]);
            compare_panes(&mut shown);
            shown.go(&[("view", "calls"), ("fn", &path)]);
            shown.is_as_said(".columns section:nth-child(1)");
            shown.is_as_said(".columns section:nth-child(2)");
            if fidelity == "tree" {
                shown.go(&[("view", "tree"), ("fn", &path), ("metric", last)]);
                shown.is_as_said(".tools");
            }
        }
        shown.was_quiet();
    }
}
