//! A series whose checkout lies in other folders from some commit on is a series of the same functions: `steps`, `history` and `gate`
//! pair folders as `diff` does, and say which.

use std::fs;
use std::path::Path;

use crate::support::program;
use serde_json::{Value as Json, json};
use tempfile::TempDir;

const COMMITS: usize = 14;

/// The commit from which on `slow` costs half as much again.
const SLOW: usize = 11;

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

fn asked(folder: &Path, arguments: &[&str]) -> Json {
    let (code, out, errors) = told(folder, &[arguments, &["--format", "json"]].concat());
    assert_eq!(code, Some(0), "{arguments:?}: {out}{errors}");
    serde_json::from_str(&out).expect("JSON")
}

/// Commits whose sources lie where `place` says. Files of two folders have one name, as have functions.
fn series(place: impl Fn(usize) -> &'static str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let functions = [
        ("main", "src/main.c", 300),
        ("slow", "src/core/slow.c", 2000),
        ("steady", "src/core/util.c", 3000),
        ("init", "src/core/util.c", 400),
        ("init", "src/net/util.c", 700),
        ("send", "src/net/util.c", 1500),
        ("pack", "src/net/pack.c", 900),
    ];
    for commit in 1..=COMMITS {
        let frames: Vec<Json> = functions
            .iter()
            .map(
                |(name, file, _)| json!({"name": name, "file": format!("{}{file}", place(commit))}),
            )
            .collect();
        let cost = |(name, _, cost): &(&str, &str, u64)| match *name {
            "slow" if commit >= SLOW => cost * 3 / 2,
            _ => *cost,
        };
        let weights: Vec<u64> = functions.iter().map(cost).collect();
        let stacks: Vec<[usize; 1]> = (0..functions.len()).map(|at| [at]).collect();
        let file = json!({
            "$schema": "https://www.speedscope.app/file-format-schema.json",
            "shared": {"frames": frames},
            "profiles": [{"type": "sampled", "name": "m", "unit": "none", "startValue": 0,
                          "endValue": weights.iter().sum::<u64>(), "samples": stacks, "weights": weights}],
        });
        fs::write(folder.path().join("run.json"), file.to_string()).expect("room");
        let tags = [
            format!("commit=c{commit:02}"),
            format!("commit_count={commit}"),
        ];
        let mut arguments = vec!["import", "run.json", "--noise", "exact", "--title", "work"];
        let phase = if commit < SLOW {
            "phase=before"
        } else {
            "phase=after"
        };
        for tag in [&tags[0], &tags[1], "branch=main", phase] {
            arguments.extend(["--tag", tag]);
        }
        let (code, _, errors) = told(folder.path(), &arguments);
        assert_eq!(code, Some(0), "{errors}");
    }
    folder
}

/// The steps that there are: name of the row, position, ratio in percent.
fn steps(folder: &Path, arguments: &[&str]) -> Vec<(String, i64, i64)> {
    let answer = asked(folder, &[&["steps"], arguments].concat());
    let rows = answer["rows"].as_array().expect("rows").iter();
    rows.map(|row| {
        let names = ["function", "module", "file"].map(|key| row[key].as_str().unwrap_or_default());
        let name = names.into_iter().find(|name| !name.is_empty());
        #[expect(clippy::cast_possible_truncation, reason = "some percent")]
        let percent = (100.0 * row["ratio"].as_f64().unwrap_or_default()).round() as i64;
        let position = row["position"].as_i64().unwrap_or_default();
        (name.unwrap_or_default().to_owned(), position, percent)
    })
    .collect()
}

/// Which folders are one, in the words of an answer.
fn folders(answer: &Json) -> Vec<(String, String)> {
    let listed = answer["folders"].as_array().expect("a list").iter();
    let word = |pair: &Json, name: &str| pair[name].as_str().expect("a path").to_owned();
    listed
        .map(|pair| (word(pair, "base"), word(pair, "new")))
        .collect()
}

/// Where the checkout lies, by the commit, the folder of the last commit, and how many others there are.
type Case = (fn(usize) -> &'static str, &'static str, usize);

const CASES: [Case; 4] = [
    // From the middle on; for three commits and back; in turns; relative paths in the end.
    (
        |at| if at < 7 { "/srv/a/" } else { "/builds/123/" },
        "/builds/123/",
        1,
    ),
    (
        |at| {
            if (7..10).contains(&at) {
                "/tmp/x/y/"
            } else {
                "/srv/a/"
            }
        },
        "/srv/a/",
        1,
    ),
    (|at| ["/srv/a/", "/builds/123/", "/ci/"][at % 3], "/ci/", 2),
    (|at| if at < 7 { "/srv/a/" } else { "" }, "", 1),
];

#[test]
fn a_checkout_elsewhere_makes_no_step() {
    for (place, last, others) in CASES {
        let folder = series(place);
        let path = folder.path();
        let at = i64::try_from(SLOW).expect("small");
        assert_eq!(steps(path, &[]), [("slow".to_owned(), at, 150)], "{last}");
        let answer = asked(path, &["steps"]);
        let found = folders(&answer);
        assert_eq!(found.len(), others, "{found:?}");
        let (code, out, _) = told(path, &["steps"]);
        assert_eq!(code, Some(0));
        assert!(
            out.contains("Folder ") && out.contains("7 functions"),
            "{out}"
        );
        // By file; of what filters leave, also by a name that only some runs have.
        let file = format!("{last}src/core/slow.c");
        let of_file = [(file.clone(), at, 150)];
        assert_eq!(steps(path, &["--by", "file"]), of_file, "{last}");
        assert_eq!(steps(path, &["--by", "file", "--fn", "*slow.c"]), of_file);
        assert_eq!(
            steps(path, &["--focus", "slow"]),
            [("slow".to_owned(), at, 150)]
        );
        let old = format!("^{}src/core/slow.c$", place(1));
        assert_eq!(
            steps(path, &["--focus", &old]),
            [("slow".to_owned(), at, 150)],
            "{old}"
        );
        assert_eq!(steps(path, &["--by", "file", "--focus", "slow"]), of_file);
    }
}

#[test]
fn a_history_is_of_one_function_wherever_it_lies() {
    for (place, last, others) in CASES {
        let folder = series(place);
        let path = folder.path();
        let answer = asked(path, &["history", "slow", "--steps"]);
        let rows = answer["rows"].as_array().expect("rows");
        let costs: Vec<Option<f64>> = rows
            .iter()
            .map(|row| {
                assert_eq!(row["functions"], 1, "{row}");
                assert_eq!(row["file"], format!("{last}src/core/slow.c"), "{row}");
                row["exclusive"].as_f64()
            })
            .collect();
        let expected = (1..=COMMITS).map(|commit| {
            if commit < SLOW {
                Some(2000.0)
            } else {
                Some(3000.0)
            }
        });
        assert_eq!(costs, expected.collect::<Vec<_>>(), "{last}");
        assert_eq!(folders(&answer).len(), others, "{answer}");
        assert_eq!(answer["steps"][0]["changes"][0]["position"], SLOW);
        // Two functions of one name stay two.
        let answer = asked(path, &["history", "init"]);
        let rows = answer["rows"].as_array().expect("rows");
        assert_eq!(rows.len(), 2 * COMMITS);
        assert!(rows.iter().all(|row| row["functions"] == 1), "{answer}");
        // A file has the history of what it is elsewhere, by whichever of its names it is asked for.
        for place in [place(1), last] {
            let file = format!("{place}src/net/util.c");
            let answer = asked(path, &["history", &file, "--by", "file"]);
            let rows = answer["rows"].as_array().expect("rows");
            let is_whole = |row: &Json| row["exclusive"] == 2200.0 && row["functions"] == 2;
            assert!(
                rows.len() == COMMITS && rows.iter().all(is_whole),
                "{answer}"
            );
        }
    }
}

#[test]
fn a_gate_compares_one_function_wherever_base_has_it() {
    for (place, last, _) in CASES {
        let folder = series(place);
        let path = folder.path();
        let budget = "total <= +2 %\nfn 'steady' <= +1 %\nany <= +1 %\nnew <= 0 % of total\nfile '*pack.c' <= +1 %\n";
        fs::write(path.join("perf.budget"), budget).expect("room");
        let gate = |sides: &[&str]| -> (Json, String) {
            let arguments = [&["gate", "--budget", "perf.budget"], sides].concat();
            let asked = [&arguments[..], &["--format", "json"]].concat();
            let (_, out, errors) = told(path, &asked);
            let (_, text, _) = told(path, &arguments);
            let json = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{errors}"));
            (json, text)
        };
        for (sides, answers) in [
            (
                &["--base", "phase=before", "--new", "commit=c10"][..],
                ["pass", "pass", "pass", "pass", "pass"],
            ),
            (
                &["--base", "phase=before", "--new", "commit=c11"],
                ["fail", "pass", "fail", "pass", "pass"],
            ),
            // The last commits of the branch.
            (&[], ["pass", "pass", "pass", "pass", "pass"]),
        ] {
            let (answer, text) = gate(sides);
            let rules = answer["rules"].as_array().expect("rules").iter();
            let found: Vec<&Json> = rules.map(|rule| &rule["result"]).collect();
            assert_eq!(found, answers, "{last} {sides:?}: {text}");
            assert!(!folders(&answer).is_empty(), "{answer}");
            assert!(text.contains("Folder "), "{text}");
        }
    }
}

#[test]
fn sides_of_mixed_folders_are_compared() {
    for (place, last, _) in CASES {
        let folder = series(place);
        for more in [
            &[][..],
            &["--by", "file"],
            &["--focus", "."],
            &["--cumulative"],
        ] {
            let sets = ["diff", "phase=before", "phase=after"];
            let answer = asked(folder.path(), &[&sets[..], more].concat());
            let rows = answer["rows"].as_array().expect("rows").iter();
            let changed = rows.filter(|row| row["verdict"] != "same");
            let changed: Vec<(&str, f64)> = changed
                .map(|row| {
                    let ratio = row["ratio"].as_f64().unwrap_or_default();
                    (row["verdict"].as_str().unwrap_or_default(), ratio)
                })
                .collect();
            assert_eq!(changed, [("slower", 1.5)], "{last}: {more:?}: {answer}");
        }
    }
}
