//! `profdb gate`: every situation in which it may be, what it answers, and with what it ends. Simulations are in
//! `tests/figures/gate.rs`, formats in `tests/behaviour/gate_formats.rs`.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};

use crate::support::program;
use serde_json::Value;
use tempfile::TempDir;

/// A folder with a database.
pub(super) struct Place {
    folder: TempDir,
    files: usize,
}

/// What the program said, and how it ended.
pub(super) struct Told {
    pub(super) code: Option<i32>,
    pub(super) out: String,
    pub(super) errors: String,
}

impl Place {
    pub(super) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a folder"),
            files: 0,
        }
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn run(&self, arguments: &[&str]) -> Told {
        let Output {
            status,
            stdout,
            stderr,
        } = program::command()
            .args(arguments)
            .current_dir(self.path())
            .output()
            .expect("the program runs");
        Told {
            code: status.code(),
            out: String::from_utf8(stdout).expect("text"),
            errors: String::from_utf8(stderr).expect("text"),
        }
    }

    /// Writes costs of functions that `main` calls.
    pub(super) fn file(&self, name: &str, costs: &[(&str, u64)]) {
        let mut text = String::new();
        for (function, cost) in costs {
            writeln!(text, "main;{function} {cost}").expect("a string takes all");
        }
        fs::write(self.path().join(name), text).expect("a file");
    }

    /// Imports a run with tags.
    pub(super) fn import(&mut self, noise: &str, tags: &str, costs: &[(&str, u64)]) {
        self.files += 1;
        let name = format!("{}.folded", self.files);
        self.file(&name, costs);
        let mut arguments = vec!["import", name.as_str(), "--noise", noise, "--title", "work"];
        for tag in tags.split(' ').filter(|tag| !tag.is_empty()) {
            arguments.extend(["--tag", tag]);
        }
        let told = self.run(&arguments);
        assert_eq!(told.code, Some(0), "{}", told.errors);
    }

    /// Imports several runs of two functions that vary by so many hundredths of a percent around these costs.
    fn several(&mut self, runs: usize, tags: &str, noise: u64, costs: [u64; 2]) {
        // Deviations with mean 0, as far as they go.
        const PARTS: [i64; 10] = [0, 100, -100, 40, -40, 70, -70, 20, -20, 10];
        for run in 0..runs {
            let of = |at: usize| {
                let part =
                    PARTS[(run + 3 * at) % PARTS.len()] * i64::try_from(noise).expect("small");
                costs[at].saturating_add_signed(
                    part * i64::try_from(costs[at]).expect("small") / 1_000_000,
                )
            };
            self.import("timed", tags, &[("parse", of(0)), ("render", of(1))]);
        }
    }

    /// Imports a run of a commit, in which `parse` costs so many percent of what is usual.
    fn commit(&mut self, tags: &str, wobble: usize, percent: u64) {
        // Each of its own, as equal figures are one recording.
        let wobble = u64::try_from((37 * wobble) % 101).expect("small") * 40;
        let parse = 200_000 * percent / 100 + wobble;
        let costs = [("parse", parse), ("render", 800_000 + wobble)];
        self.import("timed", tags, &costs);
    }

    /// Asks a gate.
    pub(super) fn gate(&self, budget: &str, arguments: &[&str]) -> Told {
        fs::write(self.path().join("perf.budget"), budget).expect("a file");
        self.run(&[&["gate", "--budget", "perf.budget"], arguments].concat())
    }

    /// The answers of a gate, rule by rule, and with what it ended.
    fn answers(&self, budget: &str, arguments: &[&str]) -> (Vec<String>, i32) {
        let told = self.gate(budget, &[arguments, &["--format", "json"]].concat());
        let json: Value = serde_json::from_str(&told.out)
            .unwrap_or_else(|error| panic!("{error}: {}{}", told.out, told.errors));
        let code = told.code.expect("it ended by itself");
        assert_eq!(json["exit_code"], code, "{json}");
        let rules = json["rules"].as_array().expect("rules");
        let answer = |rule: &Value| rule["result"].as_str().expect("a word").to_owned();
        (rules.iter().map(answer).collect(), code)
    }
}

/// Asserts what a gate answers, and with what it ends.
#[track_caller]
fn check(place: &Place, budget: &str, arguments: &[&str], answers: &[&str], code: i32) {
    let found = place.answers(budget, arguments);
    let answers: Vec<String> = answers.iter().map(ToString::to_string).collect();
    assert_eq!(found, (answers, code), "{budget}\n{arguments:?}");
}

/// Five runs of `branch=main`, and five each of the same, of one in which `parse` takes 1.5 times as long, and of one that varies
/// more.
fn usual() -> Place {
    let mut place = Place::new();
    place.several(5, "branch=main", 100, [400_000, 600_000]);
    place.several(5, "branch=same", 90, [400_000, 600_000]);
    place.several(5, "branch=slow", 100, [600_000, 600_000]);
    place.several(3, "branch=wild", 4000, [420_000, 600_000]);
    place
}

const SAME: [&str; 2] = ["branch=main", "branch=same"];
const SLOW: [&str; 2] = ["branch=main", "branch=slow"];

#[test]
fn what_is_shown_to_be_over_its_limit_wins_over_all() {
    let place = usual();
    check(&place, "fn 'parse' <= +10 %\n", &SLOW, &["fail"], 1);
    let budget =
        "fn 'nosuch' <= +10 %\nfn 'parse' <= +10 %\nfn 'render' <= +10 %\nfn 'render' <= +0 %\n";
    let answers = ["nothing matched", "fail", "pass", "unclear"];
    check(&place, budget, &SLOW, &answers, 1);
    for flag in ["--strict", "--prove", "--first-run=pass"] {
        check(&place, budget, &[&SLOW[..], &[flag]].concat(), &answers, 1);
    }
    check(
        &place,
        budget,
        &[&SLOW[..], &["--exit-zero"]].concat(),
        &answers,
        0,
    );
    check(&place, "fn 'parse' <= +10 %\n", &SAME, &["pass"], 0);
    check(
        &place,
        "total <= +30 %\nany <= +40 %\n",
        &SLOW,
        &["pass", "fail"],
        1,
    );
}

#[test]
fn a_budget_that_cannot_be_read_ends_with_3() {
    let place = usual();
    let table = [
        (
            "total <= +10",
            "perf.budget: line 1 column 11: expected a unit of the metric samples (1, k, M)",
        ),
        (
            "totl <= +10 %",
            "perf.budget: line 1 column 1: expected a rule",
        ),
        (
            "total <= +10 %\nfn 'a' <= 5 parsec",
            "perf.budget: line 2 column 13: expected a unit",
        ),
        (
            "total <= +10 %\ntotal <= 5 ms",
            "perf.budget: line 2 column 10: expected a unit of the metric",
        ),
        (
            "total <= +10 % metric tme",
            "perf.budget: line 1 column 23: expected a metric of run",
        ),
        ("", "perf.budget: line 1 column 1: expected a rule"),
    ];
    for (budget, message) in &table[1..] {
        let told = place.gate(budget, &SAME);
        assert_eq!(told.code, Some(3), "{budget}: {}", told.errors);
        assert!(told.errors.contains(message), "{budget}: {}", told.errors);
        assert_eq!(told.out, "");
    }
    // A number without unit is one of counts.
    let (budget, _) = table[0];
    check(&place, budget, &SAME, &["unclear"], 0);
    let told = place.run(&["gate", "--budget", "none.budget", "1", "2"]);
    assert_eq!(told.code, Some(3), "{}", told.errors);
    let told = place.run(&["gate", "--budget", ".", "1", "2"]);
    assert_eq!(told.code, Some(3), "{}", told.errors);
    fs::write(place.path().join("huge.budget"), "#".repeat((1 << 20) + 1)).expect("a file");
    let told = place.run(&["gate", "--budget", "huge.budget", "1", "2"]);
    assert_eq!(told.code, Some(3), "{}", told.errors);
    assert!(
        told.errors
            .contains("the budget has more than 1048576 bytes"),
        "{}",
        told.errors
    );
    // So do profiles that cannot be read; words of the command line do with 2, the database with 5.
    let told = place.gate("total <= +10 %", &["1", "none.folded"]);
    assert_eq!(told.code, Some(3), "{}", told.errors);
    for wrong in [
        &["gate", "1", "2"][..],
        &["gate", "--budget", "perf.budget", "--nosuch"],
        &["gate", "--budget", "none.budget", "1", "2", "--paired", ""],
    ] {
        assert_eq!(place.run(wrong).code, Some(2), "{wrong:?}");
    }
    let told = place.gate("total <= +10 %", &["1", "2", "--db", "none.db"]);
    assert_eq!(told.code, Some(5), "{}", told.errors);
}

#[test]
fn where_nothing_is_measured_it_ends_with_4() {
    let place = usual();
    let told = place.gate("total <= +10 %", &["branch=main", "branch=none"]);
    assert_eq!(told.code, Some(4), "{}", told.errors);
    let told = place.gate("total <= +10 %", &["--new", "branch=none"]);
    assert_eq!(told.code, Some(4), "{}", told.errors);
    // All too few.
    let few = ["--base", "1", "2", "--new", "6", "7"];
    check(
        &place,
        "total <= +10 %\nfn 'parse' <= +10 %",
        &few,
        &["unclear"; 2],
        4,
    );
    check(
        &place,
        "noise 6 runs\ntotal <= +10 %",
        &SAME,
        &["unclear"],
        4,
    );
    check(&place, "noise 2 runs\ntotal <= +50 %", &few, &["pass"], 0);
    check(
        &place,
        "noise 1 run\ntotal <= +50 %",
        &["1", "6"],
        &["unclear"],
        4,
    );
    // One of ten is enough where the budget says so: base tells how much figures vary.
    let one = ["branch=main", "11"];
    check(
        &place,
        "noise 1 run\nfn 'parse' <= +10 %",
        &one,
        &["fail"],
        1,
    );
    check(&place, "fn 'parse' <= +10 %", &one, &["unclear"], 4);
    for flag in ["--strict", "--prove", "--first-run=pass"] {
        check(
            &place,
            "total <= +10 %",
            &[&few[..], &[flag]].concat(),
            &["unclear"],
            4,
        );
    }
    check(
        &place,
        "total <= +10 %",
        &[&few[..], &["--exit-zero"]].concat(),
        &["unclear"],
        0,
    );
}

#[test]
fn what_was_not_judged_is_named_and_passed_over() {
    let mut place = usual();
    place.import("timed", "branch=old", &[("retired", 5)]);
    let budget = "total <= +50 %\nfn 'retired' <= +10 %\nfn 'parse' <= +50 % base 1,2\n";
    let answers = ["pass", "nothing matched", "unclear"];
    check(&place, budget, &SAME, &answers, 0);
    check(
        &place,
        budget,
        &[&SAME[..], &["--strict"]].concat(),
        &answers,
        4,
    );
    let told = place.gate(budget, &SAME);
    for said in [
        "no function of base or new is called retired",
        "expected 3 runs of base, found 2",
    ] {
        assert!(told.out.contains(said), "{}", told.out);
    }
}

#[test]
fn a_first_run_is_judged_by_what_needs_no_base() {
    let mut place = Place::new();
    place.import("exact", "commit=a", &[("parse", 400), ("render", 600)]);
    let absolute = "total <= 1000\nfn 'parse' <= 40 % of total\n";
    check(&place, absolute, &[], &["pass"; 2], 0);
    check(&place, "total <= 999\n", &[], &["fail"], 1);
    check(
        &place,
        "fn 'parse' <= 39 % of total\n",
        &["latest"],
        &["fail"],
        1,
    );
    let mixed = "total <= 1000\ntotal <= +5 %\nany <= +5 %\nnew <= 1 % of total\n";
    let answers = ["pass", "no base", "no base", "no base"];
    check(&place, mixed, &[], &answers, 0);
    check(&place, mixed, &["--strict"], &answers, 4);
    // A first run that passes with nothing judged passes with more.
    let first = &["--strict", "--first-run", "pass"];
    check(&place, mixed, first, &answers, 0);
    check(&place, "total <= +5 %", first, &["no base"], 0);
    check(
        &place,
        "total <= 999\ntotal <= +5 %",
        first,
        &["fail", "no base"],
        1,
    );
    // Of what varies, too: a hard limit is one.
    place.import(
        "timed",
        "commit=b host=x",
        &[("parse", 400), ("render", 601)],
    );
    check(&place, "total <= 1001", &["latest"], &["pass"], 0);
    check(&place, "total <= 1000", &["latest"], &["fail"], 1);
    check(
        &place,
        "noise 3 runs\ntotal <= 1000",
        &["latest"],
        &["unclear"],
        4,
    );
    // Only what is compared.
    let relative = "total <= +5 %\nany <= +5 %\n";
    check(&place, relative, &[], &["no base"; 2], 4);
    check(
        &place,
        relative,
        &["--first-run", "pass"],
        &["no base"; 2],
        0,
    );
    check(
        &place,
        relative,
        &[
            "--first-run",
            "pass",
            "--base",
            "commit=0",
            "--new",
            "latest",
        ],
        &["no base"; 2],
        0,
    );
    check(
        &place,
        relative,
        &["--base", "commit=0", "--new", "latest"],
        &["no base"; 2],
        4,
    );
    // A slip is none of a first run, whatever its limit is of.
    for rule in [
        "fn 'prase' <= 5",
        "fn 'prase' <= +5 %",
        "sum fn 'prase*' <= +5 %",
        "calls 'prase' <= +5 %",
        "module 'prase' <= +5 %",
        "file 'prase' <= +5 %",
        "fn 'prase' <= +5 % or 3",
    ] {
        let first = &["--first-run", "pass"];
        check(&place, rule, first, &["nothing matched"], 4);
        let both = format!("{relative}{rule}\n");
        let answers = ["no base", "no base", "nothing matched"];
        check(&place, &both, first, &answers, 4);
        check(&place, &both, &[], &answers, 4);
    }
    check(
        &place,
        "fn 'parse' <= +5 %\nsum fn 'p*' <= +5 %\n",
        &["--first-run", "pass"],
        &["no base"; 2],
        0,
    );
}

/// What names no run that could ever be there is no first run, whatever is said of first runs; what may be there later is one, which is
/// said.
#[test]
fn a_slip_in_base_is_no_first_run() {
    let mut place = Place::new();
    place.import("exact", "commit=1234567a branch=main", &[("parse", 401)]);
    place.import("exact", "commit=1234567b branch=fix", &[("parse", 400)]);
    let first = ["--first-run", "pass", "--new", "latest"];
    let asked = |base: &[&'static str]| [&first[..], &["--base"], base].concat();
    for (base, said) in [
        (
            &["brnach=main"][..],
            "no run has the tag brnach; the nearest: branch",
        ),
        (&["branch=main", "brnach=fix"], "no run has the tag brnach"),
        (&["99"], "there is no run 99"),
        (
            &["commit=1234567"],
            "commit=1234567 matches 2 commits: 1234567a, 1234567b",
        ),
    ] {
        let asked = asked(base);
        check(&place, "total <= +5 %", &asked, &["no base"], 4);
        let exits = [&asked[..], &["--exit-zero"]].concat();
        check(&place, "total <= +5 %", &exits, &["no base"], 0);
        // What needs no base is judged, and fails.
        let budget = "total <= +5 %\ntotal <= 500\n";
        check(&place, budget, &asked, &["no base", "pass"], 4);
        let budget = "total <= +5 %\ntotal <= 300\n";
        check(&place, budget, &asked, &["no base", "fail"], 1);
        let told = place.gate("total <= +5 %", &asked);
        assert!(told.out.contains(said), "{base:?}: {}", told.out);
    }
    for (base, said) in [
        (
            &["branch=mian"][..],
            "no run has the tag branch=mian; values of branch: fix, main",
        ),
        (
            &["mian"],
            "no run matches mian; `profdb runs` lists the runs; the nearest: main",
        ),
        (
            &["branch=mian", "mian"],
            "branch: fix, main; no run matches mian",
        ),
    ] {
        let asked = asked(base);
        check(&place, "total <= +5 %", &asked, &["no base"], 0);
        let told = place.gate("total <= +5 %", &asked);
        let warned = "no baseline yet, so the gate passes: ";
        for text in [said, warned] {
            assert!(told.errors.contains(text), "{base:?}: {}", told.errors);
        }
        // Where that is not asked for, nothing passes.
        check(&place, "total <= +5 %", &asked[2..], &["no base"], 4);
    }
    // What is there is compared with, and the rest is said.
    let asked = asked(&["branch=main", "branch=later"]);
    check(&place, "total <= +5 %", &asked, &["pass"], 0);
    let told = place.gate("total <= +5 %", &asked);
    let said = "no run has the tag branch=later; values of branch: fix, main";
    assert!(told.errors.contains(said), "{}", told.errors);
    // New has no such tag, and never will.
    let budget = "base branch=main,host=same\ntotal <= +5 %\n";
    check(&place, budget, &first, &["no base"], 4);
}

#[test]
fn a_folder_without_profiles_is_nothing_to_compare_with_yet() {
    let place = Place::new();
    place.file("new.folded", &[("parse", 400)]);
    fs::create_dir(place.path().join("none")).expect("a folder");
    let budget = "total <= +5 %\n";
    let first = ["none", "new.folded", "--first-run", "pass"];
    check(&place, budget, &first[..2], &["no base"], 4);
    check(&place, budget, &first, &["no base"], 0);
    check(&place, "total <= 500\n", &first[..2], &["pass"], 0);
    let of_budget = "base file none/\ntotal <= +5 %\n";
    check(&place, of_budget, &["new.folded"], &["no base"], 4);
    check(
        &place,
        of_budget,
        &["new.folded", "--first-run", "pass"],
        &["no base"],
        0,
    );
    let told = place.gate(budget, &first);
    let said = "no baseline yet, so the gate passes: none: no profile in this directory";
    assert!(told.errors.contains(said), "{}", told.errors);
    // Nothing to judge is nothing measured, which --exit-zero asks to pass over.
    for (new, said) in [
        ("none", "none: no profile in this directory"),
        ("99", "there is no run 99"),
    ] {
        place.run(&["import", "new.folded"]);
        let sides = ["new.folded", new];
        let told = place.gate(budget, &sides);
        assert_eq!(told.code, Some(4), "{}", told.errors);
        assert!(told.errors.contains(said), "{}", told.errors);
        let told = place.gate(budget, &[&sides[..], &["--exit-zero"]].concat());
        assert_eq!(told.code, Some(0), "{}", told.errors);
        assert!(told.errors.contains(said), "{}", told.errors);
        let told = place.gate(budget, &[&sides[..], &["--first-run", "pass"]].concat());
        assert_eq!(told.code, Some(4), "{}", told.errors);
    }
}

/// A word after `base` in a budget names runs, whatever files lie there; where it names none, one who means the file is told how to
/// write it, and it is no first run.
#[test]
fn a_word_in_a_budget_names_runs_whatever_files_there_are() {
    let mut place = Place::new();
    place.import("exact", "branch=main", &[("parse", 400)]);
    place.import("exact", "branch=fix", &[("parse", 500)]);
    fs::create_dir(place.path().join("main")).expect("a folder");
    fs::create_dir(place.path().join("master")).expect("a folder");
    fs::write(place.path().join("v1.2"), "parse 1\n").expect("a file");
    let first = ["--new", "latest", "--first-run", "pass"];
    for named in ["base main", "base 'main'"] {
        let budget = format!("{named}\ntotal <= +5 %\n");
        check(&place, &budget, &first, &["fail"], 1);
        check(&place, &budget, &first[..2], &["fail"], 1);
    }
    for name in ["master", "v1.2"] {
        let budget = format!("base {name}\ntotal <= +5 %\n");
        check(&place, &budget, &first, &["no base"], 4);
        let told = place.gate(&budget, &first);
        let said = format!("no run matches {name}; `profdb runs` lists the runs");
        assert!(told.out.contains(&said), "{}", told.out);
        let file = format!("; the file is `base file '{name}'`");
        assert!(told.out.contains(&file), "{}", told.out);
    }
    // Where there is no such file, the runs may be still to come.
    check(
        &place,
        "base v1.3\ntotal <= +5 %\n",
        &first,
        &["no base"],
        0,
    );
}

/// Functions of one name are told apart as reports do, in rules as well.
#[test]
fn a_rule_may_name_one_of_several_functions_of_a_name() {
    let place = Place::new();
    for (name, costs) in [
        ("base.callgrind", [100, 200]),
        ("new.callgrind", [100, 300]),
    ] {
        let [one, other] = costs;
        let text = format!(
            "version: 1\ncreator: callgrind-3.22.0\nevents: Ir\n\nfl=a.c\nfn=f\n1 {one}\n\nfl=b.c\nfn=f\n1 {other}\n"
        );
        fs::write(place.path().join(name), text).expect("a file");
    }
    let sides = ["base.callgrind", "new.callgrind"];
    for (rule, answer, code) in [
        ("fn 'f' <= +5 %", "fail", 1),
        ("fn 'f (a.c)' <= +5 %", "pass", 0),
        ("fn 'f (b.c)' <= +5 %", "fail", 1),
        ("fn \"f (b.c)\" <= +5 %", "fail", 1),
        ("fn 'f' <= +5 % unless 'f (b.c)'", "pass", 0),
        ("fn 'f (c.c)' <= +5 %", "nothing matched", 4),
    ] {
        check(&place, rule, &sides, &[answer], code);
    }
    let told = place.gate("fn 'f (c.c)' <= +5 %", &sides);
    let said = "no function of any run is called f (c.c); the nearest: f\n";
    assert!(told.out.contains(said), "{}", told.out);
}

/// A rule does not mean a function by its name and file where another one has the whole for its name, in whichever of the runs.
#[test]
fn a_rule_means_the_whole_name_before_a_name_and_a_place() {
    let place = Place::new();
    let callgrind = |name: &str, costs: &[(&str, i64)]| {
        let mut text = "version: 1\ncreator: callgrind-3.22.0\nevents: Ir\n\nfl=b.c\n".to_owned();
        for (function, cost) in costs {
            let lines = format!("fn={function}\n1 {cost}\n\n");
            text.push_str(&lines);
        }
        fs::write(place.path().join(name), text).expect("a file");
    };
    callgrind("base", &[("h", 100), ("h (b.c)", 40)]);
    callgrind("new", &[("h", 200), ("h (b.c)", 40)]);
    callgrind("without", &[("h", 100)]);
    let (both, first) = (["base", "new"], ["without", "new"]);
    for (rule, sides, answer, code) in [
        ("fn 'h' <= +10 %", both, "fail", 1),
        ("fn 'h (b.c)' <= +10 %", both, "pass", 0),
        ("fn \"h (b.c)\" <= +10 %", both, "pass", 0),
        ("sum fn 'h (b.c)' <= 40", both, "pass", 0),
        ("any <= +10 % unless 'h (b.c)'", both, "fail", 1),
        ("any <= +10 % unless 'h'", both, "pass", 0),
        // One side having a function of the name is enough.
        ("fn 'h (b.c)' <= 40", first, "pass", 0),
        ("any <= +10 % unless 'h (b.c)'", first, "fail", 1),
        ("fn 'h (b.c)' <= +10 %", ["without", "without"], "pass", 0),
    ] {
        let told = place.gate(rule, &sides);
        assert!(told.out.contains(answer), "{rule}: {}", told.out);
        assert_eq!(told.code, Some(code), "{rule}: {}", told.out);
    }
}

#[test]
fn what_is_gone_keeps_its_limit() {
    let mut place = Place::new();
    place.import("exact", "branch=main", &[("parse", 400), ("render", 600)]);
    place.import(
        "exact",
        "branch=new",
        &[("parse_all", 400), ("render", 600)],
    );
    for budget in [
        "fn 'parse' <= +5 %",
        "fn 'parse' <= 100",
        "fn 'parse' <= 10 % of total",
    ] {
        let sides = ["branch=main", "branch=new"];
        check(&place, budget, &sides, &["pass"], 0);
        check(
            &place,
            budget,
            &[&sides[..], &["--strict"]].concat(),
            &["pass"],
            0,
        );
        check(
            &place,
            budget,
            &[&sides[..], &["--prove"]].concat(),
            &["pass"],
            1,
        );
        let told = place.gate(budget, &sides);
        let said =
            "gone: new does not have it; renamed: together with parse_all its cost is unchanged";
        assert!(told.out.contains(said), "{}", told.out);
    }
    // What is new has grown by no ratio.
    let sides = ["branch=main", "branch=new"];
    check(&place, "fn 'parse_all' <= +5 %", &sides, &["new"], 4);
    check(
        &place,
        "fn 'parse_all' <= +5 % or 400",
        &sides,
        &["pass"],
        0,
    );
    check(
        &place,
        "fn 'parse_all' <= +5 % or 399",
        &sides,
        &["fail"],
        1,
    );
    check(&place, "fn 'parse*' <= +5 %", &sides, &["pass"], 0);
    check(&place, "fn 'parse_all' <= 399", &sides, &["fail"], 1);
    check(&place, "sum fn 'parse*' <= +0 %", &sides, &["pass"], 0);
    check(
        &place,
        "new <= 30 % of total\nnew <= 400\nnew <= 10 % of total unless 'parse*'",
        &sides,
        &["fail", "pass", "pass"],
        1,
    );
}

/// Of one run on either side nothing is known of what varies: neither of what is in both, nor of what is in one.
#[test]
fn what_is_gone_is_no_reason_to_pass_what_was_not_tested() {
    let place = Place::new();
    place.file("base.folded", &[("parse", 400), ("retired", 600)]);
    place.file("new.folded", &[("parse", 400), ("added", 6)]);
    let sides = ["base.folded", "new.folded", "--noise", "sampled"];
    let budget = "any <= +10 %\nnew <= 1 % of total\n";
    check(&place, budget, &sides, &["unclear"; 2], 4);
    let told = place.gate(budget, &sides);
    for said in [
        "no tests: nothing could be tested",
        "no function is shown to be new: expected 3 runs of base, found 1",
    ] {
        assert!(told.out.contains(said), "{}", told.out);
    }
    // A rule about nothing else is kept.
    check(&place, "fn 'retired' <= +10 %", &sides, &["pass"], 0);
    // Figures that are counted completely need no test.
    let exact = ["base.folded", "new.folded", "--noise", "exact"];
    check(&place, budget, &exact, &["pass", "fail"], 1);
    let told = place.gate(budget, &exact);
    assert!(
        told.out.contains("no tests: figures are compared directly"),
        "{}",
        told.out
    );
}

#[test]
fn a_name_that_is_nowhere_ends_with_4() {
    let place = usual();
    for thing in ["fn", "calls", "sum fn"] {
        for limit in ["+5 %", "100"] {
            let budget = format!("{thing} 'prase*' <= {limit}\n");
            check(&place, &budget, &SAME, &["nothing matched"], 4);
            let budget = format!("total <= +50 %\n{budget}");
            check(&place, &budget, &SAME, &["pass", "nothing matched"], 4);
            check(
                &place,
                &budget,
                &[&SAME[..], &["--first-run=pass"]].concat(),
                &["pass", "nothing matched"],
                4,
            );
        }
    }
    for thing in ["module", "file"] {
        check(
            &place,
            &format!("{thing} 'x' <= +5 %\n"),
            &SAME,
            &["nothing matched"],
            4,
        );
    }
    // What is nearest is said; what stands for any text is like nothing.
    for pattern in ["prase", "prase*"] {
        let told = place.gate(&format!("fn '{pattern}' <= +5 %\n"), &SAME);
        let said = format!("no function of any run is called {pattern}; the nearest: parse");
        assert!(told.out.contains(&said), "{}", told.out);
    }
}

/// Modules and files that are one under two names have either in a budget, also where one checkout lies within the other.
#[test]
fn what_was_moved_has_the_name_of_either_place() {
    let place = Place::new();
    for (name, root, module, cost) in [
        ("base.callgrind", "/srv/app/.worktrees/base", "app", 1000),
        ("new.callgrind", "/srv/app", "app", 1100),
        ("old.callgrind", "/srv/app", "app-1", 1000),
        ("renamed.callgrind", "/srv/app", "app-2", 1100),
    ] {
        let mut text = "version: 1\ncreator: callgrind-3.22.0\nevents: Ir\n".to_owned();
        for at in 0..8 {
            let file = at / 2;
            write!(
                text,
                "\nob=/opt/{module}\nfl={root}/src/f{file}.c\nfn=work{at}\n{} {cost}\n",
                at + 1
            )
            .expect("a string takes all");
        }
        writeln!(text, "\ntotals: {}", 8 * cost).expect("a string takes all");
        fs::write(place.path().join(name), text).expect("a file");
    }
    let (moved, renamed) = (["base", "new"], ["old", "renamed"]);
    for (sides, rule, answer, code) in [
        (
            moved,
            "file '/srv/app/.worktrees/base/src/f1.c' <= +5 %",
            "fail",
            1,
        ),
        (moved, "file '/srv/app/src/f1.c' <= +5 %", "fail", 1),
        (
            moved,
            "file '/srv/app/.worktrees/base/*' <= +20 %",
            "pass",
            0,
        ),
        (
            moved,
            "file '*' <= +5 % unless '/srv/app/.worktrees/base/*'",
            "nothing matched",
            4,
        ),
        (
            moved,
            "file '*' <= +5 % unless '/srv/app/src/*'",
            "nothing matched",
            4,
        ),
        (moved, "fn 'work3' <= +5 %", "fail", 1),
        (renamed, "module '*app-1' <= +5 %", "fail", 1),
        (renamed, "module '*app-2' <= +5 %", "fail", 1),
        (
            renamed,
            "module '*' <= +5 % unless '*app-1'",
            "nothing matched",
            4,
        ),
    ] {
        fs::write(place.path().join("perf.budget"), format!("{rule}\n")).expect("a file");
        let [base, new] = sides.map(|side| format!("{side}.callgrind"));
        let told = place.run(&[
            "gate",
            "--budget",
            "perf.budget",
            &base,
            &new,
            "--format",
            "json",
        ]);
        assert_eq!(
            told.code,
            Some(code),
            "{rule}: {} {}",
            told.out,
            told.errors
        );
        let said: Value = serde_json::from_str(&told.out).expect("JSON");
        assert_eq!(said["rules"][0]["result"], answer, "{rule}: {said}");
    }
}

#[test]
fn several_of_one_name_are_judged_each_or_added_up() {
    let mut place = Place::new();
    place.import(
        "exact",
        "branch=main",
        &[("parse_a", 400), ("parse_b", 600)],
    );
    place.import("exact", "branch=new", &[("parse_a", 500), ("parse_b", 500)]);
    let sides = ["branch=main", "branch=new"];
    check(&place, "fn 'parse*' <= +10 %", &sides, &["fail"], 1);
    check(
        &place,
        "fn 'parse*' <= +10 % unless '*_a'",
        &sides,
        &["pass"],
        0,
    );
    check(&place, "sum fn 'parse*' <= +0 %", &sides, &["pass"], 0);
    check(&place, "sum fn 'parse*' <= 999", &sides, &["fail"], 1);
    check(
        &place,
        "sum fn 'parse*' <= 99 % of total",
        &sides,
        &["fail"],
        1,
    );
}

/// What is left out is named as comparisons name it, or as a run does.
#[test]
fn unless_takes_names_of_the_runs_too() {
    let mut place = Place::new();
    let run = |name, cost| [(name, cost), ("wait", 600)];
    place.import("exact", "branch=main", &run("work.part.0", 400));
    place.import("exact", "branch=new", &run("work.part.1", 500));
    let sides = ["branch=main", "branch=new"];
    check(&place, "fn 'w*' <= +10 %", &sides, &["fail"], 1);
    for name in ["work", "work.part.1", "*.part.0"] {
        let budget = format!("fn 'w*' <= +10 % unless '{name}'");
        check(&place, &budget, &sides, &["pass"], 0);
    }
}

#[test]
fn what_is_unclear_says_what_would_fail() {
    let place = usual();
    let sides = ["branch=main", "branch=wild"];
    let budget = "fn 'parse' <= +2 %";
    check(&place, budget, &sides, &["unclear"], 0);
    check(
        &place,
        budget,
        &[&sides[..], &["--strict"]].concat(),
        &["unclear"],
        0,
    );
    check(
        &place,
        budget,
        &[&sides[..], &["--prove"]].concat(),
        &["unclear"],
        1,
    );
    let told = place.gate(budget, &sides);
    assert!(told.out.contains("limit +2.0 %, +"), "{}", told.out);
    assert!(told.out.contains("% would fail"), "{}", told.out);
    // The limit is below what so many runs can ever show.
    let said = "profdb: line 1: these runs show only a change of +";
    assert!(told.errors.contains(said), "{}", told.errors);
    // A shift from base is no noise: what is shown to keep its limit is proved.
    check(
        &place,
        "fn 'parse' <= +20 %",
        &[&SAME[..], &["--prove"]].concat(),
        &["pass"],
        0,
    );
}

#[test]
fn what_has_moved_is_excused_from_any_and_from_no_rule_of_its_own() {
    let mut place = Place::new();
    let other = ("render", 9_000);
    place.import(
        "exact",
        "branch=main",
        &[("parse", 600), ("parse;helper", 400), other],
    );
    place.import("exact", "branch=new", &[("parse", 1_000), other]);
    let sides = ["branch=main", "branch=new"];
    check(&place, "any <= +10 %", &sides, &["pass"], 0);
    let told = place.gate("any <= +10 %", &sides);
    let said = "inlined: together with helper its cost is unchanged";
    assert!(told.out.contains(said), "{}", told.out);
    check(&place, "fn 'parse' <= +10 %", &sides, &["fail"], 1);
    check(
        &place,
        "fn 'parse' <= +10 %\nany <= +10 %",
        &sides,
        &["fail", "pass"],
        1,
    );
}

#[test]
fn the_worst_run_is_judged_of_what_is_exact() {
    let mut place = Place::new();
    place.import("exact", "branch=main", &[("query", 40), ("render", 600)]);
    place.import("exact", "branch=new", &[("query", 38), ("render", 600)]);
    place.import("exact", "branch=new", &[("query", 42), ("render", 600)]);
    let sides = ["branch=main", "branch=new"];
    check(&place, "fn 'query' <= 40", &sides, &["fail"], 1);
    check(&place, "fn 'query' <= 42", &sides, &["pass"], 0);
    check(&place, "fn 'query' <= +4 %", &sides, &["fail"], 1);
    check(&place, "fn 'query' <= +5 %", &sides, &["pass"], 0);
    check(&place, "fn 'query' <= +2", &sides, &["pass"], 0);
    check(&place, "fn 'query' <= +1", &sides, &["fail"], 1);
    // Without a base, too; and the other way, base has the worse one.
    check(&place, "fn 'query' <= 41", &["branch=new"], &["fail"], 1);
    check(
        &place,
        "fn 'query' <= +0 %",
        &["branch=new", "branch=main"],
        &["pass"],
        0,
    );
}

#[test]
fn runs_of_new_are_left_out_of_base() {
    let mut place = Place::new();
    place.several(5, "branch=main", 100, [400_000, 600_000]);
    place.several(4, "branch=new", 90, [400_000, 600_000]);
    // The same recording under another title, and a run of new itself.
    let told = place.run(&[
        "import",
        "6.folded",
        "--noise",
        "timed",
        "--tag",
        "branch=main",
    ]);
    assert_eq!(told.code, Some(0), "{}", told.errors);
    let sides = ["--base", "branch=main", "7", "--new", "branch=new"];
    check(&place, "total <= +10 %", &sides, &["pass"], 0);
    let told = place.gate("total <= +10 %", &sides);
    for said in [
        "run 7 of base is left out: it is a run of new",
        "run 10 of base is left out: it has the figures of a run of new",
    ] {
        assert!(told.errors.contains(said), "{}", told.errors);
    }
    check(
        &place,
        "total <= +10 %",
        &["--base", "branch=new", "--new", "branch=new"],
        &["not comparable"],
        4,
    );
    assert!(!told.errors.contains("--noise exact"), "{}", told.errors);
    // All are equal, which may be what the program does each time.
    let mut place = Place::new();
    for branch in ["main", "main", "new"] {
        let tag = format!("branch={branch}");
        place.import("timed", &tag, &[("query", 40)]);
    }
    let sides = ["--base", "branch=main", "--new", "branch=new"];
    let told = place.gate("total <= +10 %", &sides);
    assert!(
        told.errors.contains("--noise exact compares figures"),
        "{}",
        told.errors
    );
    let exact = [&sides[..], &["--noise", "exact"]].concat();
    check(&place, "total <= +10 %", &exact, &["pass"], 0);
    // Equal figures of what is exact are no copies: the program does the same.
    let mut place = Place::new();
    for branch in ["main", "new"] {
        place.import("exact", &format!("branch={branch}"), &[("query", 40)]);
    }
    check(
        &place,
        "total <= +0 %",
        &["branch=main", "branch=new"],
        &["pass"],
        0,
    );
}

/// What keeps a limit is not said to fail.
#[test]
fn what_hardly_varies_fails_with_anything_over_its_limit() {
    let mut place = Place::new();
    for parse in [400, 410, 405] {
        place.import("timed", "", &[("query", 90), ("parse", parse)]);
    }
    let told = place.gate("fn 'query' <= 100\nfn 'parse' <= 600", &["--new", "1,2,3"]);
    assert_eq!(told.code, Some(0), "{}", told.out);
    for said in ["limit 100, anything over it would fail", "limit 600, 6"] {
        assert!(told.out.contains(said), "{}", told.out);
    }
}

#[test]
fn other_hosts_units_and_noise_are_not_compared() {
    let mut place = Place::new();
    for (noise, tags, more) in [
        ("exact", "of=x host=x", 0),
        ("exact", "of=y host=y", 0),
        ("timed", "of=timed", 5),
        ("sampled", "of=sampled", 9),
    ] {
        for run in 0..3 {
            place.import(
                noise,
                tags,
                &[("parse", 400 + more + run), ("render", 600 - run / 2)],
            );
        }
    }
    for (base, new, said) in [
        ("of=x", "of=y", "base was recorded on x, new on y"),
        (
            "of=timed",
            "of=sampled",
            "samples is timed in base and sampled in new",
        ),
        (
            "of=x",
            "of=timed",
            "samples is exact in base and timed in new",
        ),
    ] {
        check(
            &place,
            "total <= +50 %",
            &[base, new],
            &["not comparable"],
            4,
        );
        let told = place.gate("total <= +50 %\ntotal <= 5000\n", &[base, new]);
        assert_eq!(told.code, Some(0), "{}", told.errors);
        assert!(told.out.contains(said), "{}", told.out);
        let told = place.gate("total <= +50 %\ntotal <= 5000\n", &[base, new, "--strict"]);
        assert_eq!(told.code, Some(4), "{}", told.errors);
    }
    check(
        &place,
        "total <= +50 %",
        &["of=timed", "of=sampled", "--noise", "timed"],
        &["pass"],
        0,
    );
    // Another unit.
    fs::write(place.path().join("run.cpuprofile"), CPUPROFILE).expect("a file");
    check(
        &place,
        "total <= +50 %",
        &["of=x", "run.cpuprofile"],
        &["not comparable"],
        4,
    );
    check(
        &place,
        "calls 'parse' <= +5 %",
        &["of=x", "of=x"],
        &["not comparable"],
        4,
    );
    check(
        &place,
        "calls 'parse' <= 5",
        &["of=x", "of=timed"],
        &["not comparable"],
        4,
    );
}

/// A profile in time.
const CPUPROFILE: &str = r#"{"nodes":[{"id":1,"callFrame":{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1},"hitCount":0,"children":[2]},{"id":2,"callFrame":{"functionName":"parse","scriptId":"1","url":"a.js","lineNumber":1,"columnNumber":1},"hitCount":2}],"startTime":0,"endTime":30,"samples":[2,2],"timeDeltas":[10,10]}"#;

#[test]
fn base_that_moved_is_no_fault_of_new() {
    let mut place = Place::new();
    let commit = |place: &mut Place, number: usize, branch: &str, factor: u64| {
        for run in 0..3 {
            let wobble = u64::try_from((7 * number + 5 * run) % 11).expect("small") * 200;
            let cost = 400_000 * factor / 100 + wobble;
            let tags = format!("branch={branch} commit=c{number:07} commit_count={number}");
            place.import(
                "timed",
                &tags,
                &[("parse", cost), ("render", 600_000 + wobble)],
            );
        }
    };
    for number in 1..=8 {
        commit(&mut place, number, "main", 100);
    }
    commit(&mut place, 9, "main", 130);
    commit(&mut place, 10, "innocent", 130);
    let budget = "fn 'parse' <= +5 %\n";
    check(&place, budget, &[], &["base moved"], 0);
    let told = place.gate(budget, &[]);
    for said in [
        "Base: 27 runs",
        "the last 9 commits of branch main",
        "base itself is x1.30 since commit c0000009",
    ] {
        assert!(told.out.contains(said), "{}", told.out);
    }
    // A change on top of it is one.
    commit(&mut place, 11, "guilty", 150);
    check(&place, budget, &[], &["fail"], 1);
    // One that nothing is known of is none.
    check(
        &place,
        budget,
        &["--new", "branch=innocent", "--merge-base", "deadbeef"],
        &["base moved"],
        0,
    );
    // Of the trunk itself, what came before; the newest commit is the one that moved.
    check(&place, budget, &["--new", "commit=c0000009"], &["fail"], 1);
    check(&place, budget, &["--new", "commit=c0000005"], &["pass"], 0);
    // The runs of the merge base come first, by whatever length of its name; what was changed in a working tree is unknown.
    for tags in ["commit=c0000009-dirty", "commit=c0000009 dirty=true"] {
        let tags = format!("branch=work commit_count=9 {tags}");
        place.import("timed", &tags, &[("parse", 100_000), ("render", 600_000)]);
    }
    for merge_base in ["c0000009", "c000000900000000000000000000000000000000"] {
        let arguments = ["--new", "branch=innocent", "--merge-base", merge_base];
        check(&place, budget, &arguments, &["pass"], 0);
        let told = place.gate(budget, &arguments);
        let merge_base = format!("the merge base, commit {merge_base}");
        for said in ["Base: 3 runs", &merge_base] {
            assert!(told.out.contains(said), "{}", told.out);
        }
    }
}

/// What a standing step separates from the end of base is another program: in a mixture with it a slower program hides, and an
/// innocent one stands out.
#[test]
fn what_is_before_a_standing_step_is_no_base() {
    const BEFORE: usize = 12;
    let budget = "fn 'parse' <= +20 %\ntotal <= +20 %\n";
    // One run a commit, as histories have them; of the last three commits `parse` costs otherwise.
    let history = |last: u64, newest: usize, runs: usize| {
        let mut place = Place::new();
        for number in 1..=BEFORE + newest {
            for run in 0..runs {
                let percent = if number > BEFORE { last } else { 100 };
                let tags = format!("branch=main commit=c{number:07} commit_count={number}");
                place.commit(&tags, number + 5 * run, percent);
            }
        }
        place
    };
    // Faster since: as it was before is slower again.
    let mut place = history(60, 3, 1);
    for (branch, percent, answers, code) in [
        ("innocent", 60, ["pass", "pass"], 0),
        ("guilty", 100, ["fail", "pass"], 1),
    ] {
        for run in 0..3 {
            let tags = format!("branch={branch} commit={branch} commit_count=90");
            place.commit(&tags, 60 + 3 * run, percent);
        }
        check(&place, budget, &[], &answers, code);
        let told = place.gate(budget, &[]);
        let said = "base itself is x0.60 since commit c0000013; new is compared with these runs";
        assert!(told.out.contains(said), "{}", told.out);
    }
    // What the command line names is compared with as it is.
    let named: Vec<String> = (6..=15)
        .map(|number| format!("commit=c{number:07}"))
        .collect();
    let mut arguments = vec!["--new", "branch=guilty", "--base"];
    arguments.extend(named.iter().map(String::as_str));
    check(&place, budget, &arguments, &["unclear", "pass"], 0);
    // The end of a history is one, whoever names it.
    for arguments in [
        &["--new", "branch=guilty", "--base", "branch=main last 10"][..],
        &["branch=main last 10", "branch=guilty"],
    ] {
        check(&place, budget, arguments, &["fail", "pass"], 1);
    }
    let named = format!("base branch=main last 10\n{budget}");
    check(&place, &named, &["branch=guilty"], &["fail", "pass"], 1);
    // All functions are looked at, one by one.
    check(&place, "any <= +20 %\n", &["branch=guilty"], &["fail"], 1);
    check(
        &place,
        "sum fn 'par*' <= +20 %\n",
        &["branch=guilty"],
        &["fail"],
        1,
    );
    // Slower since: who comes after that is innocent, and who is slower again is not.
    let mut place = history(130, 3, 1);
    for (branch, percent, answers, code) in [
        ("innocent", 130, ["pass", "pass"], 0),
        ("guilty", 180, ["fail", "pass"], 1),
    ] {
        for run in 0..3 {
            let tags = format!("branch={branch} commit={branch} commit_count=90");
            place.commit(&tags, 60 + 3 * run, percent);
        }
        check(&place, budget, &[], &answers, code);
        let told = place.gate(budget, &[]);
        assert!(
            told.out
                .contains("base itself is x1.30 since commit c0000013"),
            "{}",
            told.out
        );
    }
    // The newest commit counts for itself, as far as there are runs of it.
    for (runs, answer, said, code) in [
        (
            3,
            "fail",
            "since commit c0000013; new is compared with these",
            1,
        ),
        (
            1,
            "pass",
            "its 1 run are too few for a comparison of their own",
            0,
        ),
    ] {
        let mut place = history(60, 1, runs);
        for run in 0..3 {
            place.commit(
                "branch=guilty commit=guilty commit_count=90",
                60 + 3 * run,
                100,
            );
        }
        check(&place, "fn 'parse' <= +20 %\n", &[], &[answer], code);
        let told = place.gate("fn 'parse' <= +20 %\n", &[]);
        assert!(told.out.contains(said), "{runs}: {}", told.out);
    }
}

#[test]
fn a_budget_may_say_what_is_compared_with() {
    let mut place = usual();
    let runs = |base: &str| format!("base {base}\nfn 'parse' <= +10 %\n");
    let slow = ["--new", "branch=slow"];
    check(&place, &runs("branch=main"), &slow, &["fail"], 1);
    check(
        &place,
        &runs("branch=main last 5"),
        &["branch=slow"],
        &["fail"],
        1,
    );
    check(
        &place,
        &runs("branch=slow last 5"),
        &["branch=same"],
        &["pass"],
        0,
    );
    // What the command line says wins over the line, and not over the rule.
    let both = "base branch=slow\nfn 'parse' <= +10 % base branch=main # the release\nfn 'parse' <= +10 %\n";
    check(
        &place,
        both,
        &["--new", "branch=slow", "--base", "branch=slow"],
        &["fail", "not comparable"],
        1,
    );
    check(&place, &runs("branch=nosuch"), &slow, &["no base"], 4);
    check(&place, &runs("host=same"), &slow, &["no base"], 4);
    place.import(
        "timed",
        "branch=main host=x",
        &[("parse", 4), ("render", 6)],
    );
    place.import(
        "timed",
        "branch=next host=x",
        &[("parse", 4), ("render", 7)],
    );
    let told = place.gate(&runs("branch=main,host=same"), &["branch=next"]);
    assert!(
        told.out
            .contains("Base: 1 run: 19; runs branch=main,host=x"),
        "{}",
        told.out
    );
    // Files: a profile, a folder, a database.
    place.file("base.folded", &[("parse", 400_000), ("render", 600_000)]);
    fs::create_dir(place.path().join("folder")).expect("a folder");
    for run in 0..3 {
        place.file(
            &format!("folder/{run}.folded"),
            &[("parse", 400_000 + 7 * run), ("render", 600_000 + 5 * run)],
        );
    }
    let noise = ["--new", "branch=slow", "--noise", "timed"];
    check(&place, &runs("file base.folded"), &noise, &["unclear"], 4);
    check(&place, &runs("file 'folder'"), &noise, &["fail"], 1);
    fs::copy(place.path().join("profdb.db"), place.path().join("old.db")).expect("a copy");
    let told = place.run(&["delete", "--db", "old.db", "branch=slow", "--yes"]);
    assert_eq!(told.code, Some(0), "{}", told.errors);
    for branch in ["same", "wild", "next"] {
        let set = format!("branch={branch}");
        assert_eq!(
            place.run(&["delete", "--db", "old.db", &set, "--yes"]).code,
            Some(0)
        );
    }
    let told = place.run(&["delete", "--db", "old.db", "host=x", "--yes"]);
    assert_eq!(told.code, Some(0), "{}", told.errors);
    check(&place, &runs("file old.db"), &noise, &["fail"], 1);
    let told = place.gate(&runs("file none.db"), &["branch=slow", "--exit-zero"]);
    assert_eq!(told.code, Some(3), "{}", told.errors);
}

#[test]
#[cfg(target_os = "linux")]
fn an_answer_that_cannot_be_written_ends_with_3() {
    let place = usual();
    fs::write(place.path().join("perf.budget"), "fn 'parse' <= +10 %\n").expect("a file");
    let to_full = |arguments: &[&str]| {
        let full = fs::OpenOptions::new().write(true).open("/dev/full");
        let done = program::command()
            .args(arguments)
            .current_dir(place.path())
            .stdout(full.expect("it is there"))
            .output()
            .expect("the program runs");
        done.status.code()
    };
    for sides in [SAME, SLOW] {
        for format in ["text", "json", "junit", "github", "markdown"] {
            let gate = [
                "gate",
                "--budget",
                "perf.budget",
                sides[0],
                sides[1],
                "--format",
                format,
            ];
            assert_eq!(to_full(&gate), Some(3), "{gate:?}");
        }
        assert_eq!(
            to_full(&["diff", sides[0], sides[1], "--exit-code"]),
            Some(3)
        );
        assert_eq!(to_full(&["diff", sides[0], sides[1]]), Some(1));
        let told = place.run(&[
            "gate",
            "--budget",
            "perf.budget",
            sides[0],
            sides[1],
            "--summary",
            "/dev/full",
        ]);
        assert_eq!(told.code, Some(3), "{}", told.errors);
    }
}

#[test]
fn a_reader_that_has_seen_enough_changes_no_answer() {
    let place = usual();
    fs::write(place.path().join("perf.budget"), "fn 'parse' <= +10 %\n").expect("a file");
    for (sides, code) in [(SAME, 0), (SLOW, 1)] {
        let mut child = program::command()
            .args(["gate", "--budget", "perf.budget", sides[0], sides[1]])
            .current_dir(place.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program runs");
        drop(child.stdout.take());
        let ended = child.wait().expect("it ends");
        assert_eq!(ended.code(), Some(code), "{sides:?}");
    }
}

/// One name is gone in one file and new in another: what changed of it is unknown, and nothing is passed or failed on account of it.
#[test]
fn what_is_gone_here_and_new_there_is_not_compared() {
    let place = Place::new();
    place.file("base", &[("parse (/one/a.py:1)", 400), ("render", 600)]);
    place.file("new", &[("parse (/two/b.py:1)", 1200), ("render", 600)]);
    place.file("slow", &[("parse (/two/b.py:1)", 1200), ("render", 900)]);
    let exact = |new: &'static str| ["base", new, "--noise", "exact"];
    for budget in ["fn 'parse' <= +10 %", "any <= +25 %", "new <= 2 % of total"] {
        check(&place, budget, &exact("new"), &["not comparable"], 4);
        let told = place.gate(budget, &exact("new"));
        assert!(
            told.out
                .contains("base has parse in /one/a.py, new in /two/b.py"),
            "{}",
            told.out
        );
        assert!(told.out.contains("--root"), "{}", told.out);
    }
    // What is shown to be broken wins, and sums have both.
    check(&place, "any <= +25 %", &exact("slow"), &["fail"], 1);
    check(
        &place,
        "sum fn 'parse' <= +10 %",
        &exact("new"),
        &["fail"],
        1,
    );
    // Other rules are judged.
    check(
        &place,
        "total <= +100 %\nfn 'parse' <= +10 %",
        &exact("new"),
        &["pass", "not comparable"],
        0,
    );
    let strict = [&exact("new")[..], &["--strict"]].concat();
    check(
        &place,
        "total <= +100 %\nfn 'parse' <= +10 %",
        &strict,
        &["pass", "not comparable"],
        4,
    );
    // What costs the same where it is now has moved, also where nothing is known of callers; a rule of its own judges both
    // places together.
    for (name, cost) in [("moved", 400), ("worse", 430)] {
        place.file(name, &[("parse (/two/b.py:1)", cost), ("render", 600)]);
        let flat = format!("parse (/two/b.py:1) {cost}\nrender 600\n");
        fs::write(place.path().join(format!("flat-{name}")), flat).expect("a file");
    }
    let flat = "parse (/one/a.py:1) 400\nrender 600\n";
    fs::write(place.path().join("flat-base"), flat).expect("a file");
    for (base, new, worse) in [
        ("base", "moved", "worse"),
        ("flat-base", "flat-moved", "flat-worse"),
    ] {
        for more in [&[][..], &["--strict"], &["--prove"]] {
            let sides = [&[base, new, "--noise", "exact"], more].concat();
            check(&place, "any <= +2 %", &sides, &["pass"], 0);
            check(&place, "fn 'parse' <= +2 %", &sides, &["pass"], 0);
        }
        let told = place.gate("fn 'parse' <= +2 %", &[base, new, "--noise", "exact"]);
        assert!(told.out.contains("parse: 400 -> 400"), "{}", told.out);
        let sides = [base, worse, "--noise", "exact"];
        check(&place, "fn 'parse' <= +2 %", &sides, &["fail"], 1);
        check(&place, "fn 'parse' <= +10 %", &sides, &["pass"], 0);
    }
    // Who knows that they are one says so.
    let loose = [&exact("new")[..], &["--loose"]].concat();
    check(&place, "fn 'parse' <= +10 %", &loose, &["fail"], 1);
}

/// Writes what callgrind counts of a program whose `main` calls `query` so many times, at such a cost; nothing calls `main`.
fn callgrind(place: &Place, name: &str, calls: u64, cost: u64) {
    let text = format!(
        "version: 1\ncreator: callgrind-3.19.0\nevents: Ir\n\nfl=main.c\nfn=main\n1 100\ncfn=query\ncalls={calls} 1\n2 {cost}\ncfn=parse\ncalls=1 1\n2 500\n\nfn=query\n1 {cost}\n\nfn=parse\n1 500\n"
    );
    fs::write(place.path().join(name), text).expect("a file");
}

/// Writes what cProfile tells of a module in which `query` costs so much, and two functions have one name: the profile does not say
/// whether one calls the other.
fn cprofile(place: &Place, name: &str, query: f64) {
    // Python's marshal: a dictionary of functions, each with its calls, costs and callers.
    let text = |out: &mut Vec<u8>, text: &str| {
        out.push(b'u');
        out.extend(u32::try_from(text.len()).expect("short").to_le_bytes());
        out.extend(text.as_bytes());
    };
    let whole = |out: &mut Vec<u8>, number: i32| {
        out.push(b'i');
        out.extend(number.to_le_bytes());
    };
    let function = |out: &mut Vec<u8>, line: i32, name: &str| {
        out.extend(*b"(\x03\0\0\0");
        text(out, "a.py");
        whole(out, line);
        text(out, name);
    };
    let costs = |out: &mut Vec<u8>, [own, with_called]: [f64; 2]| {
        whole(out, 1);
        whole(out, 1);
        for seconds in [own, with_called] {
            out.push(b'g');
            out.extend(seconds.to_le_bytes());
        }
    };
    let functions = [
        (1, "query", [query, query]),
        (20, "twice", [0.25, 0.375]),
        (40, "twice", [0.125, 0.125]),
    ];
    let mut out = vec![b'{'];
    for (line, name, cost) in functions {
        function(&mut out, line, name);
        out.extend(*b"(\x05\0\0\0");
        costs(&mut out, cost);
        out.push(b'{');
        function(&mut out, 60, "top");
        out.extend(*b"(\x04\0\0\0");
        costs(&mut out, cost);
        out.push(b'0');
    }
    function(&mut out, 60, "top");
    out.extend(*b"(\x05\0\0\0");
    costs(&mut out, [0.5, 0.875 + query]);
    out.extend(*b"{00");
    fs::write(place.path().join(name), out).expect("a file");
}

/// What is unknown of one function hides nothing of the others: it is named alone. What adds all of them up is unknown.
#[test]
fn one_unknown_figure_hides_nothing_of_the_others() {
    let place = Place::new();
    for (name, calls, cost) in [("base", 40, 2000), ("same", 40, 2000), ("often", 400, 2000)] {
        callgrind(&place, name, calls, cost);
    }
    let often = ["base", "often"];
    check(&place, "calls '*' <= +5 %", &often, &["fail"], 1);
    check(&place, "calls '*' <= 400", &often, &["pass"], 0);
    check(
        &place,
        "calls '*' <= +5 %\ntotal <= +500 %",
        &often,
        &["fail", "pass"],
        1,
    );
    check(
        &place,
        "calls 'main' <= +5 %",
        &often,
        &["not comparable"],
        4,
    );
    check(
        &place,
        "sum calls '*' <= +5 %",
        &often,
        &["not comparable"],
        4,
    );
    check(&place, "sum calls '*y' <= +5 %", &often, &["fail"], 1);
    // The others keep their limit, which is no reason to say so of this one.
    let same = ["base", "same"];
    check(&place, "calls '*' <= +0", &same, &["pass"], 0);
    check(
        &place,
        "calls '*' <= +0",
        &["base", "same", "--strict"],
        &["pass"],
        4,
    );
    let said = "the number of its calls is unknown: they count calls, but it has no caller";
    let told = place.gate("calls '*' <= +0", &same);
    let line = format!("not comparable: main: {said}\n");
    assert!(told.out.contains(&line), "{}", told.out);
    assert!(told.out.contains("pass: query: 40 -> 40"), "{}", told.out);
    assert!(told.out.contains("3 watched"), "{}", told.out);
    let warning = format!("line 1: main is not judged: {said}");
    assert!(told.errors.contains(&warning), "{}", told.errors);
    let told = place.gate("sum calls '*' <= +5 %", &often);
    assert!(told.out.contains(&line), "{}", told.out);
    // Each format says it, none with a figure, and what fails comes first.
    let told = place.gate("calls '*' <= +5 %", &["base", "often", "--format", "json"]);
    let json: Value = serde_json::from_str(&told.out).expect("JSON");
    let subjects = json["rules"][0]["subjects"].as_array().expect("subjects");
    let first = &subjects[0];
    assert_eq!(
        (&first["function"], &first["result"]),
        (&"query".into(), &"fail".into())
    );
    let unknown: Vec<&Value> = subjects
        .iter()
        .filter(|subject| subject["function"] == "main")
        .collect();
    assert_eq!(unknown.len(), 1, "{json}");
    assert_eq!(unknown[0]["result"], "not comparable");
    for key in ["base", "new", "limit", "ratio"] {
        assert!(unknown[0][key].is_null(), "{key}: {json}");
    }
    let told = place.gate("calls '*' <= +0", &["base", "same", "--format", "github"]);
    assert!(told.out.starts_with("::warning "), "{}", told.out);
    assert!(told.out.contains(said), "{}", told.out);
    let told = place.gate("calls '*' <= +5 %", &["base", "often", "--format", "junit"]);
    assert!(
        told.out
            .contains("<failure message=\"fail: query: 40 -&gt; 400"),
        "{}",
        told.out
    );
    // Where nothing is known of any, one line says so.
    for (name, cost) in [("base", 400), ("new", 401)] {
        place.file(
            &format!("{name}.folded"),
            &[("parse", cost), ("render", 600)],
        );
    }
    let samplings = ["base.folded", "new.folded"];
    check(
        &place,
        "calls '*' <= +0",
        &samplings,
        &["not comparable"],
        4,
    );
    let told = place.gate("calls '*' <= +0", &samplings);
    let line =
        ": the number of its calls is unknown: their profiler counts no calls; likewise 2 more\n";
    assert!(told.out.contains(line), "{}", told.out);
    assert_eq!(
        told.out.matches("not comparable:").count(),
        1,
        "{}",
        told.out
    );
    let told = place.gate("calls 'parse' <= +0 base file base", &["new.folded"]);
    assert_eq!(told.code, Some(4), "{}{}", told.out, told.errors);
}

#[test]
fn one_unknown_cost_with_everything_called_hides_nothing_of_the_others() {
    let place = Place::new();
    cprofile(&place, "base.pstats", 1.0);
    cprofile(&place, "slow.pstats", 2.0);
    let sides = ["base.pstats", "slow.pstats", "--noise", "exact"];
    for budget in [
        "fn '*' <= +5 % cumulative",
        "fn 'query' <= +5 % cumulative",
        "any <= +5 % cumulative",
    ] {
        check(&place, budget, &sides, &["fail"], 1);
    }
    check(&place, "fn '*' <= +500 % cumulative", &sides, &["pass"], 0);
    let alone = "fn 'twice' <= +5 % cumulative";
    check(&place, alone, &sides, &["not comparable"], 4);
    for budget in ["fn '*' <= +5 % cumulative", alone] {
        let told = place.gate(budget, &sides);
        let said = "twice: its inclusive cost is unknown: ";
        assert_eq!(told.out.matches(said).count(), 1, "{}", told.out);
    }
    // Own costs are known.
    check(&place, "fn 'twice' <= +5 %", &sides, &["pass"], 0);
}

/// A base is recorded again with each change that is made from it: rounds of other changes are nothing to this one.
#[test]
fn rounds_that_one_side_has_are_left_out() {
    let mut place = Place::new();
    let session = |place: &mut Place, name: &str, sides: &[(&str, u64)], host: &str| {
        for round in 0..4 {
            for (side, cost) in sides {
                let tags = format!("commit={side} round={name}-{round}{host}");
                let wobble = 13 * u64::try_from(place.files).expect("small");
                let costs = [("parse", cost + wobble), ("render", 600_000 + wobble)];
                place.import("timed", &tags, &costs);
            }
        }
    };
    let base = ("base", 400_000);
    session(&mut place, "s1", &[base, ("one", 400_000)], "");
    session(&mut place, "s2", &[base, ("two", 600_000)], "");
    let budget = "fn 'parse' <= +5 %";
    let of = |new: &'static str| ["--base", "commit=base", "--new", new, "--paired", "round"];
    check(&place, budget, &of("commit=one"), &["pass"], 0);
    check(&place, budget, &of("commit=two"), &["fail"], 1);
    let told = place.gate(budget, &of("commit=two"));
    let said = "--paired round: 4 runs of base are left out: new has no run with round=s1-0, s1-1, s1-2, s1-3";
    assert!(told.errors.contains(said), "{}", told.errors);
    // A change that is recorded again has rounds of both.
    session(&mut place, "s3", &[base, ("two", 600_000)], "");
    check(&place, budget, &of("commit=two"), &["fail"], 1);
    // A round that was cut off, a run of none, and rounds of another machine.
    place.import(
        "timed",
        "commit=two round=s4-1",
        &[("parse", 5), ("render", 6)],
    );
    place.import("timed", "commit=base", &[("parse", 5), ("render", 7)]);
    session(&mut place, "s5", &[base, ("three", 400_000)], " host=x");
    check(&place, budget, &of("commit=two"), &["fail"], 1);
    let told = place.gate(budget, &of("commit=two"));
    for said in [
        "--paired round: 8 runs of base are left out: new has no run with round=s1-0, s1-1, s1-2, s1-3, s5-0, ...",
        "--paired round: 1 run of base is left out, without a tag round",
        "--paired round: 1 run of new is left out: base has no run with round=s4-1",
    ] {
        assert!(told.errors.contains(said), "{}", told.errors);
    }
    check(&place, budget, &of("commit=three"), &["pass"], 0);
    // Nothing is left.
    session(&mut place, "s6", &[("four", 400_000)], "");
    for (new, key) in [("commit=four", "round"), ("commit=one", "nosuch")] {
        let arguments = ["--base", "commit=base", "--new", new, "--paired", key];
        let told = place.gate(budget, &arguments);
        assert_eq!(told.code, Some(2), "{}{}", told.out, told.errors);
        let said = format!("--paired {key}: ");
        assert!(told.errors.contains(&said), "{}", told.errors);
    }
    // Whoever compares two sets that are named is told of what is missing.
    let told = place.run(&["diff", "commit=base", "commit=one", "--paired", "round"]);
    assert_eq!(told.code, Some(2), "{}", told.errors);
}

/// What was merged after a branch had left is no base of it, as far as commits tell.
#[test]
fn what_came_after_new_is_no_base() {
    for (old, first, order) in [
        ("commit_count=11", "commit_count=1", "commit_count="),
        (
            "commit_time=2026-01-11T12:00:00Z",
            "commit_time=2025-12-31T00:00:00Z",
            "commit_time=2026-01-",
        ),
        // Where one commit has no count, times decide.
        (
            "commit_count=many commit_time=2026-01-11T12:00:00Z",
            "commit_count=many commit_time=2025-12-31T00:00:00Z",
            "commit_time=2026-01-",
        ),
    ] {
        let mut place = Place::new();
        for number in 1..=20 {
            let faster = if number > 14 { 70 } else { 100 };
            let end = if order.contains("time") {
                "T00:00:00Z"
            } else {
                ""
            };
            for run in 0..2 {
                place.commit(
                    &format!("branch=main commit=c{number:07} {order}{number:02}{end}"),
                    2 * number + run,
                    faster,
                );
            }
        }
        for run in 0..3 {
            place.commit(&format!("branch=old commit=old {old}"), 50 + run, 100);
        }
        let budget = "fn 'parse' <= +5 %";
        check(&place, budget, &[], &["pass"], 0);
        let told = place.gate(budget, &[]);
        let said = "the last 10 commits of branch main";
        assert!(told.out.contains(said), "{old}: {}", told.out);
        assert!(told.out.contains("Base: 20 runs: "), "{old}: {}", told.out);
        // What is older than all of them has no base.
        place.commit(&format!("branch=first commit=first {first}"), 60, 100);
        check(&place, "total <= +5 %", &[], &["no base"], 4);
        // What is slower than what was there then fails.
        for run in 0..3 {
            place.commit(&format!("branch=slow commit=slow {old}"), 70 + run, 120);
        }
        check(&place, budget, &[], &["fail"], 1);
    }
    // Where commits tell no order, all of them are taken.
    let mut place = Place::new();
    for number in 1..=4 {
        place.commit(&format!("branch=main commit=c{number:07}"), number, 100);
    }
    for run in 0..3 {
        place.commit("branch=old commit=old commit_count=2", 5 + run, 100);
    }
    let told = place.gate("total <= +5 %", &[]);
    assert!(
        told.out.contains("the last 4 commits of branch main"),
        "{}",
        told.out
    );
}

/// What is exact is compared as it is, and nothing else is said of it.
#[test]
fn what_is_exact_is_not_said_to_be_measured() {
    let mut place = Place::new();
    for (branch, calls) in [("main", 38), ("main", 42), ("new", 40)] {
        place.import(
            "exact",
            &format!("branch={branch}"),
            &[("query", calls), ("parse", 9)],
        );
    }
    let told = place.gate(
        "fn 'query' <= +0 %\nany <= +0 %\nnew <= 0 % of total",
        &["branch=main", "branch=new"],
    );
    assert_eq!(told.code, Some(0), "{}{}", told.out, told.errors);
    assert!(!told.errors.contains("measured"), "{}", told.errors);
    // Where they are compared as measured, it is said.
    let told = place.run(&["diff", "branch=main", "branch=new"]);
    assert!(told.errors.contains("count as measured"), "{}", told.errors);
}

/// No answer takes the place of what was read for it.
#[test]
fn what_is_read_is_not_written_over() {
    let place = usual();
    for name in ["base.json", "new.json"] {
        place.file(name, &[("parse", 400), ("render", 600)]);
    }
    fs::create_dir(place.path().join("folder")).expect("a folder");
    place.file("folder/one.json", &[("parse", 400), ("render", 600)]);
    fs::copy(
        place.path().join("profdb.db"),
        place.path().join("old.json"),
    )
    .expect("a copy");
    #[expect(clippy::disallowed_methods, reason = "small files of our own")]
    let content = |place: &Place, name: &str| fs::read(place.path().join(name)).expect("a file");
    let files = [
        "base.json",
        "new.json",
        "folder/one.json",
        "old.json",
        "profdb.db",
    ];
    let before = files.map(|name| content(&place, name));
    let plain = "total <= +5 %";
    let files_of_rules = "total <= +5 % base file old.json\ntotal <= +5 % base file base.json\n";
    let of_files = ["--base", "base.json", "--new", "new.json"];
    let of_folder = ["--base", "base.json", "--new", "folder"];
    let of_rules = ["--new", "new.json"];
    let read = "an input file";
    for (budget, sides, written, what) in [
        (plain, &of_files[..], "new.json", read),
        (plain, &of_files, "./base.json", read),
        (plain, &of_files, "folder/../base.json", read),
        (
            plain,
            &of_folder,
            "folder/one.json",
            "a profile in folder, an input directory",
        ),
        (files_of_rules, &of_rules, "old.json", "the database"),
        (
            files_of_rules,
            &of_rules,
            "old.json-wal",
            "a file of the database",
        ),
        (files_of_rules, &of_rules, "base.json", read),
    ] {
        for flag in ["--outfile", "--summary"] {
            let arguments = [sides, &[flag, written, "--format", "json"]].concat();
            let told = place.gate(budget, &arguments);
            assert_eq!(
                told.code,
                Some(2),
                "{arguments:?}: {}{}",
                told.out,
                told.errors
            );
            let said = format!("{flag}: {written} is {what}; use another file");
            assert!(told.errors.contains(&said), "{}", told.errors);
        }
    }
    // Other commands, too.
    let commands: [&[&str]; 12] = [
        &["diff", "base.json", "new.json", "-o", "new.json"],
        &["diff", "base.json", "new.json", "--html", "base.json"],
        &["diff", "base.json", "folder", "-o", "folder/one.json"],
        &[
            "report",
            "diff-tree",
            "base.json",
            "new.json",
            "-o",
            "base.json",
        ],
        &["report", "exclusive", "new.json", "-o", "new.json"],
        &["report", "--infile", "new.json", "--outfile", "new.json"],
        &["report", "--html", "new.json", "new.json"],
        &["sql", "SELECT 1", "new.json", "-o", "new.json"],
        &["show", "new.json", "-o", "new.json"],
        &["convert", "new.json", "--to", "folded", "-o", "new.json"],
        &[
            "convert",
            "new.json",
            "-o",
            "x.folded",
            "--loss-report",
            "new.json",
        ],
        &[
            "export",
            "--diff",
            "base.json",
            "new.json",
            "--format",
            "flamegraph",
            "-o",
            "base.json",
        ],
    ];
    for arguments in commands {
        let told = place.run(arguments);
        assert_eq!(
            told.code,
            Some(2),
            "{arguments:?}: {}{}",
            told.out,
            told.errors
        );
        let said = "use another file";
        assert!(told.errors.contains(said), "{arguments:?}: {}", told.errors);
    }
    let after = files.map(|name| content(&place, name));
    assert!(before == after, "a file was written over");
    // A new name beside the profiles is no profile yet.
    let folder = ["--base", "base.json", "--new", "folder", "--noise", "exact"];
    let told = place.gate(plain, &[&folder[..], &["-o", "folder/gate.md"]].concat());
    assert_eq!(told.code, Some(0), "{}{}", told.out, told.errors);
}

/// Each build may have a folder of its own: a file has the name that it has in any of them.
#[test]
fn a_file_has_its_name_in_any_of_many_checkouts() {
    let place = Place::new();
    let name = |at: usize| format!("{at:02}.callgrind");
    for at in 0..12 {
        let mut text = "version: 1\ncreator: callgrind-3.22.0\nevents: Ir\nob=app\n".to_owned();
        for function in 0..8 {
            let cost = 1000 * (function + 1) + at % 2 + if at < 8 { 0 } else { 200 };
            let file = function / 2;
            write!(
                text,
                "\nfl=/builds/{at}/shop/src/f{file}.c\nfn=work{function}\n{} {cost}\n",
                function + 1
            )
            .expect("a string takes all");
        }
        fs::write(place.path().join(name(at)), text + "\ntotals: 1\n").expect("a file");
    }
    let names: Vec<String> = (0..12).map(name).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let (base, new) = names.split_at(8);
    let (mut budget, mut expected) = (String::new(), Vec::new());
    for build in 0..12 {
        let folder = format!("/builds/{build}/shop/src");
        for (rule, answer) in [
            (format!("file '{folder}/f0.c' <= +5 %"), "fail"),
            (format!("file '{folder}/f0.c' <= +50 %"), "pass"),
            (
                format!("file '*/f0.c' <= +5 % unless '{folder}/*'"),
                "nothing matched",
            ),
        ] {
            writeln!(budget, "{rule}").expect("a string takes all");
            expected.push((rule, answer));
        }
    }
    fs::write(place.path().join("perf.budget"), budget).expect("a file");
    let flags = [
        "--budget",
        "perf.budget",
        "--noise",
        "timed",
        "--format",
        "json",
    ];
    let sides = [&["--base"], base, &["--new"], new].concat();
    let told = place.run(&[&["gate"], &flags[..], &sides[..]].concat());
    let said: Value = serde_json::from_str(&told.out).expect("JSON");
    for (at, (rule, answer)) in expected.iter().enumerate() {
        assert_eq!(said["rules"][at]["result"], *answer, "{rule}: {said}");
    }
    assert_eq!(told.code, Some(1), "{}", told.errors);
}
