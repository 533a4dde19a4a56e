//! `profdb diff` on what people give it: recordings that are no repeats, questions that make no sense, names of all kinds.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Stdio;

use crate::support::program;
use serde_json::{Value, json};
use tempfile::TempDir;

pub(super) struct Folder(TempDir);

impl Folder {
    pub(super) fn new() -> Self {
        Self(TempDir::new().expect("a temporary folder"))
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(super) fn write(&self, name: &str, content: &str) -> &Self {
        fs::write(self.path(name), content).expect("room");
        self
    }

    /// What is answered, what is said, and the exit code.
    pub(super) fn run(&self, arguments: &[&str]) -> (String, String, Option<i32>) {
        self.run_with(arguments, "")
    }

    fn run_with(&self, arguments: &[&str], input: &str) -> (String, String, Option<i32>) {
        let mut child = program::command()
            .args(arguments)
            .current_dir(self.0.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("our own program");
        // A program that does not read its input has closed it.
        let _ = child
            .stdin
            .take()
            .expect("a pipe")
            .write_all(input.as_bytes());
        let output = child.wait_with_output().expect("our own program");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (
            text(&output.stdout),
            text(&output.stderr),
            output.status.code(),
        )
    }

    pub(super) fn json(&self, arguments: &[&str]) -> Value {
        let (out, err, code) = self.run(&[arguments, &["--format", "json"]].concat());
        assert!(code == Some(0), "{arguments:?}: {err}");
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"))
    }

    /// The command fails with a code, and says something.
    pub(super) fn refuses(&self, arguments: &[&str], code: i32, said: &str) {
        let (out, err, found) = self.run(arguments);
        assert!(
            found == Some(code) && err.contains(said) && out.is_empty(),
            "{arguments:?}: expected {code}, {said:?}; found {found:?}, {err:?}, {out:?}"
        );
    }

    pub(super) fn import(&self, name: &str, tags: &[&str]) {
        let tags = tags.iter().flat_map(|tag| ["--tag", tag]);
        let arguments: Vec<&str> = ["import", name].into_iter().chain(tags).collect();
        let (_, err, code) = self.run(&arguments);
        assert_eq!(code, Some(0), "{err}");
    }
}

pub(super) fn row<'a>(answer: &'a Value, function: &str) -> &'a Value {
    let rows = answer["rows"].as_array().expect("rows");
    let found = rows.iter().find(|row| row["function"] == function);
    found.unwrap_or_else(|| panic!("no {function} in {answer}"))
}

const A: &str = "main;a;c 10\nmain;b;c 20\n";
const B: &str = "main;a;c 20\nmain;b;c 10\n";

#[test]
fn recordings_with_equal_own_costs_and_other_paths_are_not_equal() {
    let folder = Folder::new();
    folder.write("a.folded", A).write("b.folded", B);
    let exact = ["diff", "a.folded", "b.folded", "--noise", "exact"];
    let cumulative = folder.json(&[&exact[..], &["--cumulative"]].concat());
    assert_eq!(row(&cumulative, "a")["verdict"], "slower");
    assert_eq!(row(&cumulative, "b")["verdict"], "faster");
    let callers = folder.json(&[&exact[..], &["--by", "caller", "--fn", "c"]].concat());
    assert_eq!(row(&callers, "a")["verdict"], "slower");
    // Of what they cost themselves nothing has changed.
    let (_, said, _) = folder.run(&["diff", "a.folded", "b.folded"]);
    assert!(said.contains("equal figures"), "{said}");
}

#[test]
fn a_round_that_is_a_copy_is_no_round() {
    let folder = Folder::new();
    folder
        .write("o1.folded", "f 100\ng 50\n")
        .write("n1.folded", "f 110\ng 52\n");
    for (round, tag) in [("1", "round=1"), ("2", "round=2"), ("3", "round=3")] {
        folder.import("o1.folded", &["side=o", tag]);
        let new = format!("n{round}.folded");
        folder.write(&new, &format!("f 11{round}\ng 5{round}\n"));
        folder.import(&new, &["side=n", tag]);
    }
    let asked = ["diff", "side=o", "side=n", "--paired", "round"];
    let (_, said, _) = folder.run(&asked);
    assert!(said.contains("base: 3 runs, 1 different"), "{said}");
    assert!(said.contains("new: 3 runs, 1 different"), "{said}");
    assert_eq!(row(&folder.json(&asked), "f")["verdict"], "unclear");
}

/// Small profiles of samples have equal figures by chance: the time of recording tells them apart, where files state it.
#[test]
fn equal_figures_of_several_times_are_several_recordings() {
    let folder = Folder::new();
    let sample = include_str!("../samples/pyinstrument_json/awaits-4.0.4.json");
    let recorded = "\"start_time\": 1795379907.708126";
    assert!(sample.contains(recorded));
    for (name, second) in [
        ("o1", 1),
        ("o2", 2),
        ("o3", 3),
        ("n1", 4),
        ("n2", 4),
        ("n3", 5),
    ] {
        let start = format!("\"start_time\": 179537990{second}.5");
        folder.write(&format!("{name}.json"), &sample.replace(recorded, &start));
    }
    let asked = [
        "diff", "--base", "o1.json", "o2.json", "o3.json", "--new", "n1.json", "n2.json", "n3.json",
    ];
    let (out, said, code) = folder.run(&asked);
    assert_eq!(code, Some(0), "{said}");
    assert!(!said.contains("base: 3 runs,"), "{said}");
    assert!(
        said.contains("new: 3 runs, 2 different: copies of a recording count once"),
        "{said} {out}"
    );
}

#[test]
fn one_recording_in_both_sets_is_said() {
    let folder = Folder::new();
    for (name, cost) in [("1", 10), ("2", 11), ("3", 12), ("4", 13)] {
        folder.write(&format!("{name}.folded"), &format!("f {cost}\n"));
    }
    let asked = [
        "diff", "--base", "1.folded", "2.folded", "--new", "2.folded", "3.folded", "4.folded",
    ];
    let (_, said, code) = folder.run(&asked);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains(
            "2.folded of base and 2.folded of new have equal figures: one recording is in both sets"
        ),
        "{said}"
    );
    // What is exact can be equal though it was recorded twice.
    let (_, said, _) = folder.run(&[&asked[..], &["--noise", "exact"]].concat());
    assert!(!said.contains("in both sets"), "{said}");
}

#[test]
fn a_selection_that_cost_nothing_has_no_shares() {
    let folder = Folder::new();
    folder.write("a.folded", A).write("d.folded", "main;a 10\n");
    folder.refuses(
        &[
            "diff",
            "a.folded",
            "d.folded",
            "--focus",
            "^c$",
            "--normalize",
            "total",
        ],
        4,
        "the selection costs 0 in d.folded, so it has no shares",
    );
    let (out, said, code) = folder.run(&["diff", "a.folded", "d.folded", "--focus", "^c$"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        out.contains("Total: 30 -> 0\n") && !said.contains("x0.00"),
        "{out}{said}"
    );
    for word in ["NaN", "inf", "x-"] {
        assert!(!out.contains(word), "{word}: {out}");
    }
}

#[test]
fn repeats_of_exact_figures_that_differ_are_said() {
    let folder = Folder::new();
    let files: Vec<String> = (1..=6).map(|at| format!("{at}.folded")).collect();
    for (at, file) in files.iter().enumerate() {
        folder.write(file, &format!("f {}\n", 1000 + at));
    }
    let names: Vec<&str> = files.iter().map(String::as_str).collect();
    let asked = [
        &["diff", "--noise", "exact", "--base"],
        &names[..3],
        &["--new"],
        &names[3..],
    ]
    .concat();
    let (_, said, _) = folder.run(&asked);
    assert!(
        said.contains("exact figures differ between the runs of one side"),
        "{said}"
    );
    assert_eq!(folder.json(&asked)["noise"], "timed");
}

#[test]
fn questions_without_an_answer_are_refused() {
    let folder = Folder::new();
    folder.write("a.folded", A).write("e.folded", "x;y 5\n");
    let two = |flags: &[&'static str]| -> Vec<&'static str> {
        [&["diff", "a.folded", "e.folded"], flags].concat()
    };
    folder.refuses(&two(&["--by", "line"]), 4, "no run has costs of lines");
    folder.refuses(&two(&["--by", "caller"]), 2, "expected --fn NAME");
    folder.refuses(
        &two(&["--by", "label:x"]),
        4,
        "samples of a.folded have no labels",
    );
    folder.refuses(
        &two(&["--metric", "time"]),
        4,
        "a.folded has no metric `time`",
    );
    folder.refuses(
        &two(&["--normalize", "median"]),
        4,
        "expected at least 3 functions with a cost in every run, found 0",
    );
    folder.refuses(
        &two(&["--paired", "round"]),
        2,
        "a.folded has no tag round: `profdb tag RUNS round=VALUE` and `import --tag` set it",
    );
    folder.refuses(
        &two(&["--normalize", "calls"]),
        4,
        "its calls, which are unknown",
    );
    folder.refuses(
        &two(&["--focus", "("]),
        2,
        "--focus: ( is not a regular expression: unclosed group",
    );
    folder.refuses(&["diff", "-", "-"], 2, "standard input can be read once");
    let (out, said, code) = folder.run_with(&["diff", "a.folded", "-"], B);
    assert!(code == Some(0) && out.contains("New: -"), "{said}");
}

#[test]
fn the_exit_code_is_that_of_all_rows() {
    let folder = Folder::new();
    folder
        .write("a.folded", "f 100\ng 900\n")
        .write("b.folded", "f 120\ng 300\n");
    let asked = [
        "diff", "a.folded", "b.folded", "--noise", "exact", "--first", "1",
    ];
    let (out, _, code) = folder.run(&asked);
    assert!(code == Some(0) && !out.contains("slower"), "{out}");
    let (_, _, code) = folder.run(&[&asked[..], &["--exit-code"]].concat());
    assert_eq!(code, Some(1), "f is slower, though not shown");
    // One run of what is measured against one says nothing, and so stops nothing.
    let (_, _, code) = folder.run(&["diff", "a.folded", "b.folded", "--exit-code"]);
    assert_eq!(code, Some(0));
    // A reader that has seen enough does not change the answer.
    for (changed, expected) in [("b.folded", 1), ("a.folded", 0)] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let status = program::command()
            .args([
                "diff",
                "a.folded",
                changed,
                "--noise",
                "exact",
                "--loose",
                "--exit-code",
            ])
            .current_dir(folder.0.path())
            .stdout(writer)
            .stderr(Stdio::null())
            .status()
            .expect("our own program");
        assert_eq!(status.code(), Some(expected), "{changed}");
    }
}

#[test]
fn lines_that_have_moved_are_said_to_be_others() {
    let folder = Folder::new();
    let lines = |first: usize| {
        let mut text =
            "version: 1\ncreator: callgrind-3.22.0\nevents: Ir\nfl=w.c\nfn=work\n".to_owned();
        for line in first..first + 3 {
            let _ = writeln!(text, "{line} {}", 1000 * line);
        }
        text
    };
    folder
        .write("old.callgrind", &lines(20))
        .write("new.callgrind", &lines(22));
    let by = |how: &str| {
        folder
            .run(&["diff", "old.callgrind", "new.callgrind", "--by", how])
            .1
    };
    assert!(
        by("line").contains("lines are compared by number"),
        "{}",
        by("line")
    );
    assert!(!by("function").contains("by their numbers"));
    let (_, same, _) = folder.run(&["diff", "old.callgrind", "old.callgrind", "--by", "line"]);
    assert!(!same.contains("compared by number"), "{same}");
}

#[test]
fn ranks_are_not_of_pairs() {
    let folder = Folder::new();
    folder
        .write("o.folded", "f 100\n")
        .write("n.folded", "f 110\n");
    folder.import("o.folded", &["side=o", "round=1"]);
    folder.import("n.folded", &["side=n", "round=1"]);
    let paired = ["diff", "side=o", "side=n", "--paired", "round"];
    folder.refuses(&[&paired[..], &["--test", "mwu"]].concat(), 2, "not pairs");
    let (_, errors, code) = folder.run(&paired);
    assert_eq!(code, Some(0), "{errors}");
}

#[test]
fn ranks_of_few_runs_have_no_interval() {
    let folder = Folder::new();
    let files: Vec<String> = (0..6).map(|at| format!("{at}.folded")).collect();
    for (at, file) in files.iter().enumerate() {
        folder.write(file, &format!("f {}\n", 1000 + 100 * at));
    }
    let names: Vec<&str> = files.iter().map(String::as_str).collect();
    let asked = [
        &["diff", "--test", "mwu", "--base"],
        &names[..3],
        &["--new"],
        &names[3..],
    ]
    .concat();
    let (out, _, _) = folder.run(&asked);
    assert!(
        !out.contains("0.00..") && out.contains("a rank test of these runs"),
        "{out}"
    );
}

#[test]
fn names_of_all_kinds_are_shown_as_text() {
    let folder = Folder::new();
    let frames = |root: &str| -> Vec<Value> {
        let names = [
            "\u{1b}[31mred",
            "a\tb\nc",
            "<b>|`",
            "::set-output",
            "=1+1",
            "⎕FIX",
            "",
        ];
        names
            .iter()
            .map(|name| json!({"name": name, "file": format!("{root}/p\u{1b}[2J/m.py")}))
            .collect()
    };
    for (name, root) in [("a.json", "/old\u{7}\n/x"), ("b.json", "/new")] {
        let frames = frames(root);
        let stacks: Vec<Vec<usize>> = (0..frames.len()).map(|at| vec![at]).collect();
        let profile = json!({
            "$schema": "https://www.speedscope.app/file-format-schema.json",
            "shared": {"frames": frames},
            "profiles": [{"type": "sampled", "name": "m", "unit": "nanoseconds", "startValue": 0, "endValue": 700,
                          "samples": stacks, "weights": vec![100; frames.len()]}],
        });
        folder.write(name, &profile.to_string());
    }
    for format in ["text", "markdown", "xml", "json", "jsonl"] {
        let (out, said, code) =
            folder.run(&["diff", "a.json", "b.json", "--all", "--format", format]);
        assert_eq!(code, Some(0), "{said}");
        assert!(!out.contains(['\u{1b}', '\u{7}']), "{format}: {out:?}");
    }
}

/// A sample of perf that cost so many cycles.
fn sample(cycles: u64, function: &str) -> String {
    format!(
        "app 1234 [000] 100.000000:     {cycles} cycles:u: \n\t    55d0000012a0 {function}+0x20 (/w/app)\n\n"
    )
}

#[test]
fn samples_are_compared_with_samples_and_never_with_cycles() {
    let folder = Folder::new();
    let recorded = sample(250_000, "parse").repeat(3) + &sample(250_000, "load");
    folder
        .write("cycles.perf", &recorded)
        .write("samples.folded", "parse 3\nload 1\n")
        .write("counted.callgrind", "events: Ir\nfn=parse\n1 5\n");
    let samples = folder.json(&["diff", "samples.folded", "cycles.perf"]);
    assert_eq!(samples["total"]["new"], 4, "{samples}");
    let named = [
        "diff",
        "cycles.perf",
        "samples.folded",
        "--metric",
        "cycles:u.samples",
    ];
    let named = folder.json(&named);
    assert_eq!(named["total"]["base"], 4, "{named}");
    for files in [
        ["cycles.perf", "samples.folded"],
        ["cycles.perf", "counted.callgrind"],
        ["counted.callgrind", "samples.folded"],
        ["samples.folded", "counted.callgrind"],
    ] {
        let [base, new] = files;
        folder.refuses(&["diff", base, new], 4, "--normalize total compares shares");
        folder.json(&["diff", base, new, "--normalize", "total"]);
    }
}

#[test]
fn counts_are_samples_if_the_user_says_so() {
    let folder = Folder::new();
    let files: Vec<String> = (0..6).map(|at| format!("{at}.folded")).collect();
    let names: Vec<&str> = files.iter().map(String::as_str).collect();
    let asked = [
        &["diff", "--noise", "sampled", "--base"],
        &names[..3],
        &["--new"],
        &names[3..],
    ]
    .concat();
    for (times, noise) in [(1, "sampled"), (1_000_000, "timed")] {
        for (at, file) in (0..).zip(&files) {
            let text = format!(
                "f {}\ng {}\n",
                times * (900 + at * 7 % 5),
                times * (400 + at)
            );
            folder.write(file, &text);
        }
        let (_, said, _) = folder.run(&asked);
        assert_eq!(
            said.contains("the number of samples is unknown"),
            noise == "timed",
            "{said}"
        );
        assert_eq!(folder.json(&asked)["noise"], noise);
    }
}

#[test]
fn samples_below_0_have_no_probability() {
    let folder = Folder::new();
    let profile = |costs: [i64; 2]| {
        json!({
            "$schema": "https://www.speedscope.app/file-format-schema.json",
            "shared": {"frames": [{"name": "less"}, {"name": "more"}]},
            "profiles": [{"type": "sampled", "name": "m", "unit": "milliseconds", "startValue": 0,
                          "endValue": 1, "samples": [[0], [1]], "weights": costs}],
        })
        .to_string()
    };
    let (mut base, mut new) = (Vec::new(), Vec::new());
    for (at, vary) in [0, 3, 1].into_iter().enumerate() {
        for (side, costs, names) in [
            ("base", [-50 - vary, 1000 + vary], &mut base),
            ("new", [-40 + vary, 1200 - vary], &mut new),
        ] {
            let name = format!("{side}-{at}.json");
            folder.write(&name, &profile(costs));
            names.push(name);
        }
    }
    // A profile from which another one was taken away: what is below 0 is no count.
    for runs in [1, 3] {
        let of = |names: &[String]| names[..runs].to_vec();
        let sides = [
            vec!["diff".to_owned(), "--base".to_owned()],
            of(&base),
            vec!["--new".to_owned()],
            of(&new),
        ]
        .concat();
        let sides: Vec<&str> = sides.iter().map(String::as_str).collect();
        let answer = folder.json(&[&sides[..], &["--noise", "sampled"]].concat());
        assert_eq!(row(&answer, "less")["p"], Value::Null, "{answer}");
        assert_eq!(row(&answer, "less")["verdict"], "unclear", "{answer}");
        assert!(row(&answer, "more")["p"].is_number(), "{answer}");
    }
}

#[test]
fn what_is_no_profile_in_a_folder_is_passed_over() {
    let folder = Folder::new();
    for (side, content) in [("old", A), ("new", B)] {
        fs::create_dir_all(folder.path(&format!("{side}/deep"))).expect("a folder");
        folder.write(&format!("{side}/deep/run.folded"), content);
        folder.write(&format!("{side}/README.md"), "How these were recorded.\n");
    }
    let (out, said, code) = folder.run(&["diff", "old", "new", "--cumulative"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        out.contains("Base: old/deep/run.folded") && said.contains("old/README.md: skipped"),
        "{out}{said}"
    );
    for at in 0..5 {
        folder.write(&format!("old/{at}.md"), "More of it.\n");
    }
    let (_, said, _) = folder.run(&["diff", "old", "new"]);
    assert!(said.contains(": old: 1 more file skipped\n"), "{said}");
    fs::create_dir(folder.path("none")).expect("a folder");
    folder.refuses(
        &["diff", "none", "new"],
        4,
        "none: no profile in this directory",
    );
    // A file that was named is an error.
    folder.refuses(&["diff", "old/README.md", "new"], 3, "expected a profile");
}

#[test]
fn functions_without_a_file_have_bounds_together() {
    let sample = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/samples/pstats/work.pstats"
    );
    let folder = Folder::new();
    let asked = [
        "diff",
        sample,
        sample,
        "--by",
        "file",
        "--cumulative",
        "--all",
    ];
    let (_, said, _) = folder.run(&asked);
    assert!(!said.contains("left out"), "{said}");
    let answer = folder.json(&asked);
    let unknown = row(&answer, "(file unknown)");
    let bound = |name: &str| unknown[name].as_f64().expect("a figure");
    assert!(unknown["base"].is_null(), "{unknown}");
    assert!(
        bound("base_cumulative_min") > 0.0
            && bound("base_cumulative_min") < bound("base_cumulative_max"),
        "{unknown}"
    );
    folder.refuses(&["diff", sample, sample, "--paired", ""], 2, "--paired");
}

/// Credits are places as well, and shares of a total by their size.
#[test]
fn places_below_zero_are_in_the_trees_of_both() {
    let folder = Folder::new();
    for (name, cost) in [("a.speedscope.json", -2), ("b.speedscope.json", -4)] {
        let text = json!({
            "$schema": "https://www.speedscope.app/file-format-schema.json",
            "shared": {"frames": [{"name": "main"}, {"name": "credit"}]},
            "profiles": [{
                "type": "sampled", "name": "t", "unit": "bytes", "startValue": 0, "endValue": 0,
                "samples": [[0], [0, 1]], "weights": [5, cost],
            }],
        });
        folder.write(name, &text.to_string());
    }
    for report in ["diff_tree", "diff_paths"] {
        let asked = ["report", report, "a.speedscope.json", "b.speedscope.json"];
        let answer = folder.json(&asked);
        let credit = row(&answer, "credit");
        let figures = ["base", "new", "delta"].map(|name| credit[name].as_f64());
        assert_eq!(figures, [Some(-2.0), Some(-4.0), Some(-2.0)], "{report}");
        let (text, _, _) = folder.run(&asked);
        assert!(text.contains("credit"), "{text}");
        // 4 of 3 are more than a half, though below 0.
        let most = folder.json(&[&asked[..], &["--min-pct", "50"]].concat());
        row(&most, "credit");
        let (text, _, _) = folder.run(&[&asked[..], &["--min-pct", "140"]].concat());
        assert!(!text.contains("credit"), "{text}");
    }
}

/// All orders of six and six figures are as probable if nothing has changed: two of the 924 are as clear as this one.
#[test]
fn ranks_know_what_a_run_without_cost_is() {
    let folder = Folder::new();
    let names: Vec<String> = (0..12).map(|run| format!("{run}.folded")).collect();
    for (run, name) in names.iter().enumerate() {
        let cost = if run < 6 { run } else { run + 4 };
        let cost = if cost == 0 {
            String::new()
        } else {
            format!("parse {cost}\n")
        };
        folder.write(name, &format!("{cost}rest {}\n", 100 + run));
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let asked = [
        &["diff", "--test", "mwu", "--noise", "timed", "--base"],
        &names[..6],
        &["--new"],
        &names[6..],
    ]
    .concat();
    let answer = folder.json(&asked);
    let parse = row(&answer, "parse");
    let p = parse["p"].as_f64().expect("a probability");
    assert!((p - 2.0 / 924.0).abs() < 1e-12, "{parse}");
    assert_eq!(parse["verdict"], "slower", "{parse}");
}

/// `--fn` and `--thread` mean what either side calls a function or thread, as `--focus` does.
#[test]
fn paths_and_threads_mean_what_either_side_calls_them() {
    let folder = Folder::new();
    folder
        .write(
            "a.folded",
            "main;work.part.0;x 100\nmain;work.part.0;y 50\nmain;z 30\n",
        )
        .write(
            "b.folded",
            "main;work.constprop.1;x 110\nmain;work.constprop.1;y 50\nmain;z 30\n",
        );
    let exact = ["diff", "a.folded", "b.folded", "--noise", "exact"];
    for path in [
        "work.part.0",
        "work.constprop.1",
        "work",
        "w*k.p?rt*",
        "main>work.part.0",
        "main,work.constprop.1",
    ] {
        let answer = folder.json(&[&exact[..], &["--fn", path]].concat());
        assert_eq!(
            [&answer["total"]["base"], &answer["total"]["new"]],
            [&json!(150), &json!(160)],
            "{path}: {answer}"
        );
        assert_eq!(row(&answer, "x")["verdict"], "slower", "{path}");
        assert_eq!(row(&answer, "y")["verdict"], "same", "{path}");
        let by_caller = ["--by", "caller", "--cumulative", "--fn", path];
        let answer = folder.json(&[&exact[..], &by_caller].concat());
        let main = row(&answer, "main");
        assert_eq!(
            (&main["base"], &main["new"]),
            (&json!(150), &json!(160)),
            "{path}: {answer}"
        );
    }
    let words = [&exact[..], &["--fn", "wrok"]].concat();
    folder.refuses(&words, 4, "no run has a function wrok; the nearest: work");
    let words = [&exact[..], &["--fn", "q*"]].concat();
    folder.refuses(&words, 4, "no function of any run matches q*");
    folder.refuses(
        &[&exact[..], &["--fn", "a>>b"]].concat(),
        2,
        "expected a name",
    );
}

/// A path that begins in another folder on each side, which is found by all functions.
#[test]
fn paths_mean_functions_of_another_folder() {
    let folder = Folder::new();
    for (name, root) in [("a.folded", "/srv/one"), ("b.folded", "/ci/7")] {
        let mut stacks = String::new();
        for at in 0..6 {
            let _ = writeln!(
                stacks,
                "run ({root}/app.py:3);f{at} ({root}/lib.py:{at}) 10{at}"
            );
        }
        folder.write(name, &stacks);
    }
    let asked = [
        "diff", "a.folded", "b.folded", "--noise", "exact", "--fn", "run,f1",
    ];
    let answer = folder.json(&asked);
    assert_eq!(answer["total"]["verdict"], "same", "{answer}");
    assert_eq!(row(&answer, "f1")["verdict"], "same", "{answer}");
}

/// Stacks of threads, each with its name.
fn threads(threads: &[(&str, u64)]) -> String {
    let profiles: Vec<Value> = threads
        .iter()
        .map(|(name, cost)| {
            json!({"type": "sampled", "name": name, "unit": "nanoseconds", "startValue": 0,
                   "endValue": cost, "samples": [[0]], "weights": [cost]})
        })
        .collect();
    json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "shared": {"frames": [{"name": "f"}]},
        "profiles": profiles,
    })
    .to_string()
}

#[test]
fn threads_are_those_of_the_name_whatever_their_numbers() {
    let folder = Folder::new();
    let base = [
        ("Thread 11745 \"MainThread\"", 500),
        ("Thread 11746 \"w\"", 250),
        ("Thread_0102", 70),
    ];
    let new = [
        ("Thread 21745 \"MainThread\"", 550),
        ("Thread 21746 \"w\"", 300),
        ("Thread 21747 \"w\"", 30),
        ("Thread_0103", 80),
    ];
    folder
        .write("a.json", &threads(&base))
        .write("b.json", &threads(&new));
    let totals = |thread: &str| -> Value {
        let asked = [
            "diff", "a.json", "b.json", "--noise", "exact", "--thread", thread,
        ];
        let answer = folder.json(&asked);
        json!([answer["total"]["base"], answer["total"]["new"]])
    };
    for (thread, expected) in [
        ("MainThread", [500, 550]),
        ("Thread 11745 \"MainThread\"", [500, 550]),
        ("Thread 21745 \"MainThread\"", [500, 550]),
        // Several of one name are added up.
        ("w", [250, 330]),
        ("Thread 11746 \"w\"", [250, 330]),
        // Of these nothing but a number tells which it is.
        ("Thread_0102", [70, 0]),
    ] {
        assert_eq!(totals(thread), json!(expected), "{thread}");
    }
    let asked = ["diff", "a.json", "b.json", "--thread", "Thread_0103"];
    let (_, said, code) = folder.run(&asked);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("the selection costs nothing in base: a.json has no thread Thread_0103"),
        "{said}"
    );
    folder.refuses(
        &["diff", "a.json", "b.json", "--thread", "zz"],
        4,
        "no run has a thread zz, nor exactly one thread with that ending; the threads are Thread 11745",
    );
}

/// Runs in which nothing of what is selected cost anything are named.
#[test]
fn selections_that_are_nothing_in_a_run_are_said() {
    let folder = Folder::new();
    folder
        .write("a.folded", "main;old;x 100\nmain;y 50\n")
        .write("b.folded", "main;new;x 101\nmain;y 51\n")
        .write("c.folded", "main;old;x 103\nmain;y 52\n");
    for (flag, files, said) in [
        (
            "--fn",
            vec!["a.folded", "b.folded"],
            "nothing in new: nothing in b.folded matches --fn old",
        ),
        ("--focus", vec!["a.folded", "b.folded"], "nothing in new\n"),
        (
            "--fn",
            vec!["b.folded", "a.folded"],
            "nothing in base: nothing in b.folded matches",
        ),
        (
            "--focus",
            vec!["--base", "a.folded", "--new", "b.folded", "c.folded"],
            "nothing in 1 of 2 runs of new\n",
        ),
    ] {
        let words = [&["diff"], &files[..], &[flag, "old"]].concat();
        let (_, found, code) = folder.run(&words);
        assert_eq!(code, Some(0), "{words:?}: {found}");
        let said = format!("the selection costs {said}");
        assert!(found.contains(&said), "{words:?}: {found}");
    }
}
