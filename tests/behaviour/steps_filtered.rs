//! `profdb steps` with the filters of comparisons: what they leave of each run is searched.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::support::program;
use serde_json::Value as Json;
use tempfile::TempDir;

fn told(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = program::command();
    let output = command.args(arguments).current_dir(folder).output();
    let output = output.expect("it was built");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

/// What steps of which functions there are: name, likeliest position, ratio in percent.
fn steps(folder: &Path, filters: &[&str]) -> Vec<(String, i64, i64)> {
    let arguments = [&["steps", "--format", "json"], filters].concat();
    let (code, out, errors) = told(folder, &arguments);
    assert_eq!(code, Some(0), "{arguments:?}: {errors}");
    let answer: Json = serde_json::from_str(&out).expect("JSON");
    let rows = answer["rows"].as_array().expect("rows").iter();
    let steps = rows.filter(|row| row["change"] == "step").map(|row| {
        let name = ["function", "module", "file"].map(|key| row[key].as_str().unwrap_or_default());
        let name = name.into_iter().find(|name| !name.is_empty());
        #[expect(clippy::cast_possible_truncation, reason = "some percent")]
        let percent = (100.0 * row["ratio"].as_f64().expect("both are above 0")).round() as i64;
        (
            name.unwrap_or_default().to_owned(),
            row["position"].as_i64().expect("a number"),
            percent,
        )
    });
    steps.collect()
}

/// Twenty commits; from the eleventh on `copy` costs twice as much below `load`, and from the sixth on half below `save`.
fn history() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for commit in 1..=20 {
        let from = |position: usize, before: usize, after: usize| {
            if commit < position { before } else { after }
        };
        let mut text = String::new();
        for (stack, cost) in [
            ("main;load;copy", from(11, 4000, 8000)),
            ("main;load;lib.so`parse", 10_000),
            ("main;save;copy", from(6, 8000, 4000)),
            ("main;save;lib.so`write", from(16, 3000, 6000)),
        ] {
            writeln!(text, "{stack} {cost}").expect("a string takes all");
        }
        fs::write(folder.path().join("run.folded"), text).expect("room");
        let tags = [
            format!("commit=c{commit:02}"),
            format!("commit_count={commit}"),
        ];
        let arguments = [
            "import",
            "run.folded",
            "--noise",
            "exact",
            "--title",
            "work",
            "--tag",
            &tags[0],
            "--tag",
            &tags[1],
        ];
        let (code, _, errors) = told(folder.path(), &arguments);
        assert_eq!(code, Some(0), "{errors}");
    }
    folder
}

#[test]
fn filters_say_what_is_searched() {
    let folder = history();
    let found = |filters: &[&str]| {
        let mut steps = steps(folder.path(), filters);
        steps.sort();
        steps
    };
    let step = |name: &str, at: i64, percent: i64| (name.to_owned(), at, percent);
    // Without a filter both are one function.
    let all = found(&[]);
    assert_eq!(
        all.iter().filter(|(name, ..)| name == "copy").count(),
        2,
        "{all:?}"
    );
    assert_eq!(found(&["--focus", "load"]), [step("copy", 11, 200)]);
    let saved = [step("copy", 6, 50), step("lib.so`write", 16, 200)];
    assert_eq!(found(&["--focus", "^save$"]), saved);
    assert_eq!(found(&["--ignore", "load"]), saved);
    assert_eq!(found(&["--focus", "save", "--fn", "copy"]), saved[..1]);
    // The cost of what is hidden is its caller's.
    let hidden = found(&["--hide", "copy"]);
    let of_callers: Vec<&str> = hidden.iter().map(|(name, ..)| name.as_str()).collect();
    assert!(!of_callers.contains(&"copy"), "{hidden:?}");
    for caller in ["load", "save"] {
        assert!(of_callers.contains(&caller), "{hidden:?}");
    }
    // The figures are those of a comparison with the same filter.
    let arguments = [
        "diff",
        "commit=c10",
        "commit=c11",
        "--focus",
        "load",
        "--format",
        "json",
    ];
    let (_, out, errors) = told(folder.path(), &arguments);
    let answer: Json = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{errors}"));
    let rows = answer["rows"].as_array().expect("rows");
    let row = rows.iter().find(|row| row["function"] == "copy");
    let ratio = row.and_then(|row| row["ratio"].as_f64());
    assert_eq!(ratio, Some(2.0), "{answer}");
    // What is searched is said, and shares are of what is left.
    let (_, out, _) = told(folder.path(), &["steps", "--focus", "load"]);
    assert!(out.contains("Filters: --focus load"), "{out}");
    assert!(out.contains("14000 -> 18000"), "{out}");
    // Nothing fits, and what is no expression.
    let (code, _, errors) = told(folder.path(), &["steps", "--focus", "nosuch"]);
    assert_eq!(code, Some(4), "{errors}");
    let (code, _, errors) = told(folder.path(), &["steps", "--focus", "("]);
    assert_eq!(code, Some(2), "{errors}");
}
