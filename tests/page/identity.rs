//! Functions of one name: a row, a piece, a box and an address mean one of them, as `--fn` does.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};

use super::browser;
use crate::shown::{DOUBLE, Shown, repository, said};
use crate::support::browser::Click;

/// Returns the rows of a report about the run.
fn reported(shown: &Shown, words: &[&str]) -> Vec<Value> {
    let words = [
        &["report"][..],
        words,
        &["--db", "x.db", "--format", "json"],
    ]
    .concat();
    let answer: Value = serde_json::from_str(&said(&shown.folder, &words)).expect("JSON");
    answer["rows"].as_array().expect("rows").clone()
}

/// Opens the page of a file.
fn page(test: &str, file: &str) -> Shown {
    let mut shown = browser(test);
    shown.import(&repository(file), &[]);
    shown.write(&[]);
    shown
}

/// Returns the text of a cost as the page writes a share.
fn share(row: &Value) -> String {
    format!("{:.1}", row["cumulative_pct"].as_f64().expect("a share"))
}

/// Returns the name in a row of the page, without its place.
fn name_of<'r>(label: &'r str, names: &BTreeMap<String, usize>) -> &'r str {
    let is_name = |name: &str| names.contains_key(name);
    if is_name(label) {
        return label;
    }
    let (name, _) = label.rsplit_once(" (").expect("a place");
    assert!(is_name(name), "{label}");
    name
}

/// Returns how many functions have each name.
fn count_names(rows: &[Value]) -> BTreeMap<String, usize> {
    let mut names = BTreeMap::new();
    for row in rows {
        let name = row["function"].as_str().expect("a name").to_owned();
        *names.entry(name).or_default() += 1;
    }
    names
}

/// Compares the table of functions with the command, and each function that shares its name with what is shown of it alone.
#[track_caller]
fn compare_functions(shown: &mut Shown, most: usize) {
    let expected = reported(shown, &["summary"]);
    let names = count_names(&expected);
    let table = [("view", "panes"), ("functions", "table")];
    shown.open(&table);
    let rows = shown.rows(".pane.functions");
    assert!(rows.len() > 20, "{rows:?}");
    for (row, expected) in rows.iter().zip(&expected) {
        assert_eq!(name_of(&row[0], &names), expected["function"]);
        assert_eq!(row[2], share(expected), "{row:?}");
    }
    let repeated: Vec<usize> = (0..rows.len())
        .filter(|at| names[name_of(&rows[*at][0], &names)] > 1)
        .take(most)
        .collect();
    assert!(repeated.len() >= 2, "{rows:?}");
    for at in repeated {
        shown.open(&table);
        let row = format!(".pane.functions tr[data-row='{at}'] th");
        shown.click(&row, "", Click::default());
        // One row is marked, and its text means one function.
        let marked = shown.texts(".pane.functions tr[aria-selected=true] th");
        assert_eq!(marked, [rows[at][0].as_str()]);
        shown.click(&row, "", DOUBLE);
        shown.wait("location.hash.includes('fn=')");
        shown.settle();
        let path = shown.state("fn");
        let included = shown.text(".included");
        assert!(
            included.starts_with(&format!("{} % of ", share(&expected[at]))),
            "{path}: {included} is not {:?}",
            rows[at]
        );
        let fn_ = format!("--fn={path}");
        let alone = reported(shown, &["summary", &fn_]);
        let page = shown.rows(".pane.functions");
        assert_eq!(page.len(), alone.len(), "{path}");
        for (row, alone) in page.iter().zip(&alone) {
            assert_eq!(row[2], share(alone), "{path}: {row:?}");
        }
        shown.is_as_said(".pane.functions");
        // Callers and callees are those of this function alone.
        shown.click(".path button", "Show Calls", Click::default());
        assert_eq!(
            [shown.state("fn"), shown.state("report")],
            [path.as_str(), "calls"]
        );
        shown.go(&[("view", "calls"), ("function", &path)]);
        for (report, part) in [("calls", 1), ("callees", 2)] {
            let within = format!(".columns section:nth-child({part})");
            shown.is_as_said(&within);
            assert_eq!(
                shown.texts(&format!("{within} tbody tr")).len(),
                reported(shown, &[report, &fn_]).len(),
                "{report} {path}"
            );
        }
    }
    shown.was_quiet();
}

#[test]
fn functions_of_one_name_differ_in_runs_of_edges() {
    let mut shown = page("same-edges", "tests/samples/pstats/work.pstats");
    compare_functions(&mut shown, 4);
    // A name of several functions has no answer, but leads to those that have one.
    shown.open(&[("view", "panes"), ("fn", "_compile")]);
    let text = shown.text("main");
    let expected = "2 functions are called _compile. Choose one: ";
    assert!(text.starts_with(expected), "{text}");
    assert!(text.contains("_compile (__init__.py)"), "{text}");
}

#[test]
fn functions_of_one_name_differ_in_trees() {
    let file = "tests/samples/cpuprofile/small-main.cpuprofile";
    compare_functions(&mut page("same-tree", file), 3);
}

/// File and module are equal here. Line and column of the definition differ.
#[test]
fn address_means_a_function_by_its_file_and_line() {
    let mut shown = browser("same-file");
    let node = |id: u32, name: &str, url: &str, [line, column]: [u32; 2], children: &[u32]| {
        let frame = json!({"functionName": name, "scriptId": "1", "url": url, "lineNumber": line - 1, "columnNumber": column - 1});
        json!({"id": id, "callFrame": frame, "children": children})
    };
    let text = json!({
        "nodes": [
            node(1, "main", "main.js", [1, 1], &[2, 3, 4, 5, 6]),
            node(2, "run", "src/a.js", [3, 1], &[]),
            node(3, "run", "src/a.js", [9, 1], &[]),
            node(4, "run", "b.js", [3, 1], &[]),
            node(5, "t", "b.js", [7, 20], &[]),
            node(6, "t", "b.js", [7, 45], &[]),
        ],
        "startTime": 0, "endTime": 10, "samples": [2, 3, 4, 5, 6, 1], "timeDeltas": [0, 4, 3, 1, 1, 1],
    });
    let file = shown.folder.join("a.cpuprofile");
    fs::write(&file, text.to_string()).expect("a file");
    shown.import(&file, &[]);
    shown.write(&[]);
    shown.open(&[("view", "panes"), ("functions", "table")]);
    let names = [
        "main",
        "run (a.js:3)",
        "run (a.js:9)",
        "run (b.js)",
        "t (b.js:7:20)",
        "t (b.js:7:45)",
    ];
    assert_eq!(shown.texts(".pane.functions tbody th"), names);
    for (path, cost) in [
        ("run (src/a.js:3)", "40.0"),
        ("run (src/a.js:9)", "30.0"),
        ("run (b.js)", "10.0"),
        ("run (src/a.js)", "70.0"),
        ("run", "80.0"),
        ("t", "20.0"),
        ("t (b.js:7:45)", "10.0"),
        ("main,run (src/a.js:9)", "30.0"),
        ("main>run (b.js)", "10.0"),
    ] {
        shown.go(&[("view", "panes"), ("functions", "table"), ("fn", path)]);
        assert!(shown.text(".included").starts_with(cost), "{path}");
        shown.is_as_said(".pane.functions");
    }
    // Boxes and the tree show the place as well, and lead to the function.
    shown.open(&[("view", "tree")]);
    assert_eq!(shown.texts(".tree tbody th")[1..], names[1..]);
    shown.click(".tree tbody th", "run (b.js)", DOUBLE);
    shown.wait("location.hash.includes('fn=')");
    shown.settle();
    assert_eq!(shown.state("fn"), "run (b.js)");
    shown.was_quiet();
}
