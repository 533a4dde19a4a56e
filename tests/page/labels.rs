//! Labels of samples, by which a page is asked for a part of a run.

use serde_json::Value;

use super::browser;
use crate::shown::{repository, said};
use crate::support::browser::Click;

/// Labels are the command's `--label`: rows, statement and pictures are of samples that have all that are chosen.
#[test]
fn samples_are_chosen_by_their_labels() {
    let mut shown = browser("labels");
    shown.import(&repository("tests/cases/pprof/labels/run.pb"), &[]);
    shown.write(&[]);
    shown.open(&[("functions", "table")]);
    let whole = shown.rows(".pane.functions");
    assert_eq!(whole.len(), 3, "{whole:?}");
    let offered = shown.texts(".tools select:has(option[value='thread=main']) option");
    assert_eq!(
        offered,
        [
            "all",
            "bytes",
            "bytes=64",
            "thread",
            "thread=io",
            "thread=main"
        ]
    );
    shown.select(
        ".tools select:has(option[value='thread=main'])",
        "thread=main",
    );
    assert_eq!(shown.state("label"), "thread=main");
    assert_eq!(
        shown.rows(".pane.functions"),
        [["alpha", "10", "33.3"], ["beta", "10", "33.3"]]
    );
    assert_eq!(shown.text(".included"), "33.3 % of 30 ns included");
    let answer = shown.is_as_said(".pane.functions");
    assert_eq!(answer["selected"], 10);
    let offered = shown.offered_as(".pane.functions", "Command");
    assert!(offered.contains("--label=thread=main"), "{offered}");
    // Two labels: samples have both.
    shown.select(".tools select:has(option[value='bytes=64'])", "bytes=64");
    assert_eq!(shown.texts(".tools .chip"), ["thread=main ×", "bytes=64 ×"]);
    shown.is_as_said(".pane.functions");
    shown.is_as_said(".pane.lines");
    shown.click(".tools .chip", "thread=main", Click::default());
    assert_eq!(shown.state("label"), "bytes=64");
    shown.browser.value("history.back()");
    shown.wait("[...document.querySelectorAll('.tools .chip')].length === 2");
    shown.settle();
    // No sample has both of these.
    shown.go(&[
        ("label", "thread=io"),
        ("fn", "beta"),
        ("functions", "table"),
    ]);
    let said = shown.text("main");
    assert!(said.contains("the path beta"), "{said}");
    shown.go(&[("label", "thread=nobody"), ("functions", "table")]);
    let said = shown.text("main");
    assert!(said.contains("has the label"), "{said}");
    shown.was_quiet();
}

#[test]
fn labels_leave_the_same_as_the_command() {
    for case in ["labels", "labels-of-many-keys", "go-cpu"] {
        let mut shown = browser(&format!("labels-of-{case}"));
        let folder = repository(&format!("tests/cases/pprof/{case}"));
        let file = std::fs::read_dir(folder).expect("a folder").next();
        shown.import(&file.expect("a file").expect("a file").path(), &[]);
        shown.write(&[]);
        let ask = |statement: &str| -> Vec<String> {
            let words = ["sql", statement, "--db", "x.db", "--format", "jsonl"];
            let rows = said(&shown.folder, &words);
            let rows = rows
                .lines()
                .map(|row| serde_json::from_str(row).expect("JSON"));
            rows.map(|row: Value| row["x"].as_str().expect("text").to_owned())
                .collect()
        };
        let labels = ask(
            "SELECT DISTINCT key || '=' || value || unit AS x FROM label_sets ORDER BY x LIMIT 2",
        );
        let Some(label) = labels.last() else {
            continue;
        };
        let key = label.split_once('=').expect("a key").0;
        let paths = ask(
            "SELECT '\"' || REPLACE(function, '\"', '\"\"') || '\"' AS x FROM function_labels WHERE exclusive > 0 \
             ORDER BY exclusive DESC, function LIMIT 1",
        );
        for label in [label.as_str(), key] {
            shown.open(&[("label", label), ("exclusive", "yes"), ("lines", "pie")]);
            shown.is_as_said(".pane.functions");
            shown.is_as_said(".pane.lines");
            shown.go(&[("label", label), ("view", "tree")]);
            shown.is_as_said(".tools");
            shown.go(&[("label", label), ("view", "flame")]);
            shown.is_as_said(".tools");
        }
        for path in &paths {
            let state = [("label", key), ("fn", path.as_str())];
            shown.go(&[
                &state[..],
                &[("percent-of", "selection"), ("functions", "table")],
            ]
            .concat());
            shown.is_as_said(".pane.functions");
            shown.is_as_said(".pane.lines");
            shown.go(&[&state[..], &[("view", "calls")]].concat());
            shown.is_as_said(".columns section:nth-child(1)");
            shown.is_as_said(".columns section:nth-child(2)");
        }
        shown.was_quiet();
    }
}

/// A forked process has the thread id of its parent: the page offers both threads, each with its process.
#[test]
fn threads_of_processes_are_chosen_apart() {
    let mut shown = browser("threads");
    let forks = "# austin: 3.6.0\n\nP100;T0x7f21;a.py:f:1 3\nP101;T0x7f21;a.py:g:1 5\n";
    let file = shown.folder.join("forks.austin");
    std::fs::write(&file, forks).expect("a file");
    shown.import(&file, &[]);
    shown.write(&[]);
    shown.open(&[("functions", "table")]);
    let choice = ".tools select:has(option[value='P101/T0x7f21'])";
    let offered = shown.texts(&format!("{choice} option"));
    assert_eq!(
        offered,
        ["all", "P100", "P100/T0x7f21", "P101", "P101/T0x7f21"]
    );
    shown.select(choice, "P101/T0x7f21");
    let answer = shown.is_as_said(".pane.functions");
    assert_eq!(answer["selected"], 5000);
    assert_eq!(shown.rows(".pane.functions"), [["g", "5.00", "62.5"]]);
    shown.was_quiet();
}
