//! Comparisons, computed a second way: random programs whose samples are added up here, place by place, and compared by laws
//! that hold whatever the statistics say.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::float_cmp,
    reason = "small whole numbers"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use flate2::Compression;
use flate2::write::GzEncoder;
use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::program;
use crate::support::random::Random;
use crate::support::tools;

/// Programs that are compared in pairs.
const ROUNDS: u64 = 12;

/// A function: its name, its file, and the line where it begins.
type Function = (&'static str, &'static str, u32);

const FUNCTIONS: [Function; 9] = [
    ("main", "src/main.py", 3),
    ("parse", "src/parse.py", 10),
    ("read", "src/parse.py", 30),
    ("read", "src/store.py", 5),
    ("write", "src/store.py", 40),
    ("hash", "lib/hash.py", 1),
    // Two functions of one name in one file are one identity: nothing that lasts tells them apart.
    ("step", "lib/walk.py", 10),
    ("step", "lib/walk.py", 50),
    ("render", "lib/view.py", 7),
];

/// A recording: stacks of functions with their cost in nanoseconds.
#[derive(Clone)]
struct Recording {
    samples: Vec<(Vec<usize>, u64)>,
}

impl Recording {
    fn random(random: &mut Random) -> Self {
        let known: Vec<usize> = (0..FUNCTIONS.len())
            .filter(|_| random.below(5) > 0)
            .collect();
        let stack = |random: &mut Random| {
            let depth = 1 + random.below(6);
            (0..depth)
                .map(|_| known[random.below(known.len())])
                .collect()
        };
        let count = 1 + random.below(30);
        Self {
            samples: (0..count)
                .map(|_| (stack(random), 1000 * (1 + random.below(5000) as u64)))
                .collect(),
        }
    }

    /// The recording in speedscope's format, with every definition `moved` lines further down.
    fn speedscope(&self, moved: u32) -> Vec<u8> {
        let frames: Vec<Value> = FUNCTIONS
            .iter()
            .map(|(name, file, line)| json!({"name": name, "file": file, "line": line + moved}))
            .collect();
        let total: u64 = self.samples.iter().map(|(_, cost)| cost).sum();
        let (stacks, weights): (Vec<&Vec<usize>>, Vec<u64>) = self
            .samples
            .iter()
            .map(|(stack, cost)| (stack, *cost))
            .unzip();
        let profile = json!({
            "$schema": "https://www.speedscope.app/file-format-schema.json",
            "shared": {"frames": frames},
            "profiles": [{
                "type": "sampled", "name": "main", "unit": "nanoseconds", "startValue": 0, "endValue": total,
                "samples": stacks, "weights": weights,
            }],
        });
        profile.to_string().into_bytes()
    }

    /// What each function cost itself.
    fn own(&self) -> BTreeMap<(&str, &str), f64> {
        let mut own = BTreeMap::new();
        for (stack, cost) in &self.samples {
            let (name, file, _) = FUNCTIONS[stack[stack.len() - 1]];
            *own.entry((name, file)).or_insert(0.0) += *cost as f64;
        }
        own
    }

    /// What each function cost with everything called, however often it is on a stack.
    fn cumulative(&self) -> BTreeMap<(&str, &str), f64> {
        let mut all = BTreeMap::new();
        for (stack, cost) in &self.samples {
            let on: BTreeSet<(&str, &str)> = stack
                .iter()
                .map(|at| (FUNCTIONS[*at].0, FUNCTIONS[*at].1))
                .collect();
            for function in on {
                *all.entry(function).or_insert(0.0) += *cost as f64;
            }
        }
        all
    }

    /// What each place cost with everything below it, by the names on the way to it.
    fn places(&self) -> BTreeMap<Vec<(String, String)>, f64> {
        let mut places = BTreeMap::new();
        for (stack, cost) in &self.samples {
            let names: Vec<(String, String)> = stack
                .iter()
                .map(|at| (FUNCTIONS[*at].0.to_owned(), FUNCTIONS[*at].1.to_owned()))
                .collect();
            for depth in 1..=names.len() {
                *places.entry(names[..depth].to_vec()).or_insert(0.0) += *cost as f64;
            }
        }
        places
    }

    fn total(&self) -> f64 {
        self.samples.iter().map(|(_, cost)| *cost as f64).sum()
    }
}

pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().expect("a temporary folder"))
    }

    pub(crate) fn file(&self, name: &str, content: &[u8]) -> String {
        let path = self.path(name);
        fs::write(&path, content).expect("room");
        path.to_str().expect("plain").to_owned()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

pub(crate) fn told(arguments: &[&str]) -> (String, String, bool) {
    let output = program::command()
        .args(arguments)
        .output()
        .expect("our own program");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        text(&output.stdout),
        text(&output.stderr),
        output.status.success(),
    )
}

/// What the program answers as JSON.
pub(crate) fn asked(arguments: &[&str]) -> Value {
    let (out, err, succeeded) = told(&[arguments, &["--format", "json"]].concat());
    assert!(succeeded, "{arguments:?}: {err}");
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {out}"))
}

/// Rows of a comparison by name and file.
pub(crate) fn rows(answer: &Value) -> BTreeMap<(String, String), Value> {
    let rows = answer["rows"].as_array().expect("rows");
    rows.iter()
        .map(|row| {
            let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
            ((text("function"), text("file")), row.clone())
        })
        .collect()
}

pub(crate) fn number(row: &Value, name: &str) -> f64 {
    row[name]
        .as_f64()
        .unwrap_or_else(|| panic!("{name} of {row}"))
}

pub(crate) fn is_near(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * one.abs().max(other.abs()).max(1.0)
}

/// Compares what is shown of functions with sums that were made here.
fn check_costs(
    answer: &Value,
    base: &BTreeMap<(&str, &str), f64>,
    new: &BTreeMap<(&str, &str), f64>,
) {
    let mut rows = rows(answer);
    let functions: BTreeSet<(&str, &str)> = base.keys().chain(new.keys()).copied().collect();
    for (name, file) in functions {
        let cost =
            |side: &BTreeMap<(&str, &str), f64>| side.get(&(name, file)).copied().unwrap_or(0.0);
        let row = rows.remove(&(name.to_owned(), file.to_owned()));
        let row = row.unwrap_or_else(|| panic!("{name} of {file} is missing in {answer}"));
        for (shown, expected) in [
            ("base", cost(base)),
            ("new", cost(new)),
            ("delta", cost(new) - cost(base)),
        ] {
            assert!(
                is_near(number(&row, shown), expected),
                "{shown}: {expected}, found {row}"
            );
        }
    }
    assert!(rows.is_empty(), "rows of nothing: {rows:?}");
}

#[test]
fn figures_are_those_of_the_samples() {
    let folder = Folder::new();
    for seed in 0..ROUNDS {
        let mut random = Random(seed);
        let (one, other) = (
            Recording::random(&mut random),
            Recording::random(&mut random),
        );
        let base = folder.file("base.json", &one.speedscope(0));
        let new = folder.file("new.json", &other.speedscope(0));
        let answer = asked(&["diff", &base, &new, "--all"]);
        check_costs(&answer, &one.own(), &other.own());
        let rows = answer["rows"].as_array().expect("rows");
        let deltas: f64 = rows.iter().map(|row| number(row, "delta")).sum();
        assert!(
            is_near(deltas, number(&answer["total"], "delta")),
            "{answer}"
        );
        assert!(is_near(number(&answer["total"], "base"), one.total()));
        let cumulative = asked(&["diff", &base, &new, "--all", "--cumulative"]);
        check_costs(&cumulative, &one.cumulative(), &other.cumulative());
    }
}

#[test]
fn comparing_the_other_way_round_turns_signs() {
    let folder = Folder::new();
    for seed in 100..100 + ROUNDS {
        let mut random = Random(seed);
        let base = folder.file("base.json", &Recording::random(&mut random).speedscope(0));
        let new = folder.file("new.json", &Recording::random(&mut random).speedscope(0));
        let there = rows(&asked(&["diff", &base, &new, "--all", "--noise", "exact"]));
        let back = rows(&asked(&["diff", &new, &base, "--all", "--noise", "exact"]));
        assert_eq!(
            there.keys().collect::<Vec<_>>(),
            back.keys().collect::<Vec<_>>()
        );
        for (function, row) in &there {
            let turned = &back[function];
            assert!(is_near(number(row, "delta"), -number(turned, "delta")));
            let opposite = match row["verdict"].as_str() {
                Some("slower") => Some("faster"),
                Some("faster") => Some("slower"),
                Some("new") => Some("gone"),
                Some("gone") => Some("new"),
                verdict => verdict,
            };
            assert_eq!(turned["verdict"].as_str(), opposite, "{row} {turned}");
        }
    }
}

#[test]
fn nothing_changes_in_a_run_compared_with_itself() {
    let folder = Folder::new();
    for seed in 200..200 + ROUNDS {
        let file = folder.file(
            "run.json",
            &Recording::random(&mut Random(seed)).speedscope(0),
        );
        let answer = asked(&["diff", &file, &file, "--all"]);
        for row in answer["rows"].as_array().expect("rows") {
            assert_eq!(number(row, "delta"), 0.0);
            assert!(
                matches!(row["verdict"].as_str(), None | Some("same")),
                "{row}"
            );
        }
        assert_eq!(answer["total"]["verdict"], "same");
    }
}

/// Runs in a database, asked by sets.
pub(crate) fn import(folder: &Folder, database: &str, files: &[(&str, Vec<u8>)]) -> String {
    let path = folder.path(database);
    let _ = fs::remove_file(&path);
    let path = path.to_str().expect("plain").to_owned();
    for (name, content) in files {
        let file = folder.file(name, content);
        let side = name.split('-').next().expect("a side");
        let (_, err, succeeded) = told(&[
            "import",
            "--db",
            &path,
            "--tag",
            &format!("side={side}"),
            &file,
        ]);
        assert!(succeeded, "{err}");
    }
    path
}

#[test]
fn what_does_not_last_changes_nothing() {
    let folder = Folder::new();
    for seed in 300..300 + ROUNDS / 2 {
        let mut random = Random(seed);
        let recordings: Vec<Recording> = (0..6).map(|_| Recording::random(&mut random)).collect();
        let name = |at: usize| format!("{}-{at}.json", if at < 3 { "base" } else { "new" });
        let files = |moved: u32| -> Vec<(String, Vec<u8>)> {
            recordings
                .iter()
                .enumerate()
                .map(|(at, recording)| {
                    (
                        name(at),
                        recording.speedscope(if at < 3 { 0 } else { moved }),
                    )
                })
                .collect()
        };
        let compare = |database: &str| {
            let mut answer = asked(&[
                "diff",
                "--db",
                database,
                "--base",
                "side=base",
                "--new",
                "side=new",
                "--all",
            ]);
            for side in ["base", "new"] {
                answer[side]["runs"] = Value::Null;
            }
            answer
        };
        let stored = |files: &[(String, Vec<u8>)]| {
            let files: Vec<(&str, Vec<u8>)> = files
                .iter()
                .map(|(name, content)| (name.as_str(), content.clone()))
                .collect();
            compare(&import(&folder, "runs.db", &files))
        };
        let usual = stored(&files(0));
        assert_eq!(usual, stored(&files(17)), "lines above the functions");
        let mut backwards = files(0);
        backwards.reverse();
        let turned = stored(&backwards);
        let (usual_rows, turned_rows) = (rows(&usual), rows(&turned));
        for (function, row) in &usual_rows {
            for column in ["base", "new", "ratio", "p", "q"] {
                let pair = (row[column].as_f64(), turned_rows[function][column].as_f64());
                let is_one = match pair {
                    (Some(one), Some(other)) => is_near(one, other),
                    (one, other) => one == other,
                };
                assert!(
                    is_one,
                    "order of import, {column}: {row} {}",
                    turned_rows[function]
                );
            }
            assert_eq!(
                row["verdict"], turned_rows[function]["verdict"],
                "order of import"
            );
        }
        let packed: Vec<(String, Vec<u8>)> = files(0)
            .into_iter()
            .map(|(name, content)| {
                let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
                packed.write_all(&content).expect("memory");
                (name, packed.finish().expect("memory"))
            })
            .collect();
        assert_eq!(usual, stored(&packed), "compressed files");
    }
}

#[test]
fn the_union_tree_has_every_place_with_its_costs() {
    let folder = Folder::new();
    for seed in 400..400 + ROUNDS {
        let mut random = Random(seed);
        let (one, other) = (
            Recording::random(&mut random),
            Recording::random(&mut random),
        );
        let base = folder.file("base.json", &one.speedscope(0));
        let new = folder.file("new.json", &other.speedscope(4));
        let answer = asked(&["report", "diff_tree", &base, &new]);
        let mut way: Vec<(String, String)> = Vec::new();
        let (mut bases, mut news) = (one.places(), other.places());
        // Containers, which the format has for its profiles, stand above the functions.
        for row in answer["rows"].as_array().expect("rows") {
            let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
            let depth = number(row, "depth") as usize;
            way.truncate(depth);
            way.push((text("function"), text("file")));
            let place: Vec<(String, String)> = way
                .iter()
                .filter(|(_, file)| !file.is_empty())
                .cloned()
                .collect();
            if way.last().is_some_and(|(_, file)| file.is_empty()) {
                continue;
            }
            let (expected, its) = (
                bases.remove(&place).unwrap_or(0.0),
                news.remove(&place).unwrap_or(0.0),
            );
            assert!(is_near(number(row, "base"), expected), "{expected}: {row}");
            assert!(is_near(number(row, "new"), its), "{its}: {row}");
        }
        assert!(
            bases.is_empty() && news.is_empty(),
            "missing: {bases:?} {news:?}"
        );
    }
}

/// Recordings of an unchanged program: 40 functions, whose costs vary from run to run.
fn noisy(random: &mut Random, slower: Option<(usize, f64)>) -> Vec<u8> {
    let uniform = |random: &mut Random| (random.next() >> 11) as f64 / (1_u64 << 53) as f64;
    let frames: Vec<Value> = (0..40)
        .map(|at| json!({"name": format!("f{at}"), "file": "a.py"}))
        .collect();
    let (mut stacks, mut weights) = (Vec::new(), Vec::new());
    for at in 0..40 {
        // The sum of twelve uniform numbers is nearly normal.
        let normal: f64 = (0..12).map(|_| uniform(random)).sum::<f64>() - 6.0;
        let factor = slower
            .filter(|(slow, _)| *slow == at)
            .map_or(1.0, |(_, factor)| factor);
        let cost = 1e9 / (at as f64 + 1.0) * factor * (0.03 * normal).exp();
        stacks.push(vec![at]);
        weights.push(cost.round());
    }
    let total: f64 = weights.iter().sum();
    json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "shared": {"frames": frames},
        "profiles": [{"type": "sampled", "name": "main", "unit": "nanoseconds", "startValue": 0, "endValue": total,
                      "samples": stacks, "weights": weights}],
    })
    .to_string()
    .into_bytes()
}

#[test]
fn a_change_is_found_and_noise_is_none() {
    let folder = Folder::new();
    let mut random = Random(7);
    let mut files = |slower: Option<(usize, f64)>| {
        (0..5)
            .flat_map(|at| {
                [
                    (format!("base-{at}.json"), noisy(&mut random, None)),
                    (format!("new-{at}.json"), noisy(&mut random, slower)),
                ]
            })
            .collect::<Vec<_>>()
    };
    let compare = |files: &[(String, Vec<u8>)]| {
        let files: Vec<(&str, Vec<u8>)> = files
            .iter()
            .map(|(name, content)| (name.as_str(), content.clone()))
            .collect();
        let database = import(&folder, "runs.db", &files);
        asked(&[
            "diff",
            "--db",
            &database,
            "--base",
            "side=base",
            "--new",
            "side=new",
            "--noise",
            "timed",
        ])
    };
    let changed = compare(&files(Some((2, 1.3))));
    let found: Vec<(String, String)> = changed["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .filter(|row| {
            matches!(
                row["verdict"].as_str(),
                Some("slower" | "faster" | "new" | "gone")
            )
        })
        .map(|row| {
            (
                row["function"].as_str().unwrap_or_default().to_owned(),
                row["verdict"].as_str().unwrap_or_default().to_owned(),
            )
        })
        .collect();
    assert_eq!(found, [("f2".to_owned(), "slower".to_owned())], "{changed}");
    let unchanged = compare(&files(None));
    for row in unchanged["rows"].as_array().expect("rows") {
        assert!(
            matches!(row["verdict"].as_str(), Some("same" | "unclear")),
            "{row}"
        );
    }
}

#[test]
fn one_run_against_one_never_says_slower_of_what_is_not_exact() {
    let folder = Folder::new();
    let mut random = Random(8);
    for noise in ["timed", "sampled", "unknown"] {
        let base = folder.file("base.json", &noisy(&mut random, None));
        let new = folder.file("new.json", &noisy(&mut random, Some((1, 3.0))));
        let answer = asked(&["diff", &base, &new, "--noise", noise]);
        for row in answer["rows"].as_array().expect("rows") {
            assert!(
                !matches!(row["verdict"].as_str(), Some("slower" | "faster" | "same")),
                "{noise}: {row}"
            );
        }
        // The same figures are clear where they are exact.
        let answer = asked(&["diff", &base, &new, "--noise", "exact"]);
        assert_eq!(
            rows(&answer)[&("f1".to_owned(), "a.py".to_owned())]["verdict"],
            "slower"
        );
    }
}

#[test]
fn sources_in_another_folder_are_the_same_functions() {
    let folder = Folder::new();
    let moved = |root: &str| {
        let frames: Vec<Value> = (0..8)
            .map(|at| json!({"name": format!("f{at}"), "file": format!("{root}/pkg/m{}.py", at % 3)}))
            .collect();
        let stacks: Vec<Vec<usize>> = (0..8).map(|at| vec![at]).collect();
        json!({
            "$schema": "https://www.speedscope.app/file-format-schema.json",
            "shared": {"frames": frames},
            "profiles": [{"type": "sampled", "name": "main", "unit": "nanoseconds", "startValue": 0, "endValue": 800,
                          "samples": stacks, "weights": vec![100; 8]}],
        })
        .to_string()
        .into_bytes()
    };
    let base = folder.file("base.json", &moved("/srv/one/work"));
    let new = folder.file("new.json", &moved("/ci/7"));
    let answer = asked(&["diff", &base, &new, "--noise", "exact"]);
    let rows = answer["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 8, "{answer}");
    for row in rows {
        assert_eq!(row["verdict"], "same", "{row}");
        assert_eq!(row["matched_by"], "folder", "{row}");
    }
    assert_eq!(answer["folders"][0]["base"], "/srv/one/work");
    assert_eq!(answer["folders"][0]["new"], "/ci/7");
}

#[test]
fn the_shown_statement_has_the_figures_of_every_run() {
    let folder = Folder::new();
    let mut random = Random(10);
    let files: Vec<(String, Vec<u8>)> = (0..4)
        .map(|at| {
            let name = format!("{}-{at}.json", if at < 2 { "base" } else { "new" });
            (name, Recording::random(&mut random).speedscope(0))
        })
        .collect();
    let files: Vec<(&str, Vec<u8>)> = files
        .iter()
        .map(|(name, content)| (name.as_str(), content.clone()))
        .collect();
    let database = import(&folder, "runs.db", &files);
    let flags = [
        "diff", "--db", &database, "1,2", "3,4", "--all", "--noise", "exact",
    ];
    let (script, err, succeeded) = told(&[&flags[..], &["--show-sql"]].concat());
    assert!(succeeded, "{err}");
    let found = Connection::open(&database).expect("a database");
    let statement: String = script
        .lines()
        .filter(|line| !line.starts_with("--"))
        .collect::<Vec<_>>()
        .join(" ");
    let mut statement = found.prepare(statement.trim_end_matches(';')).expect("SQL");
    let mut sums: BTreeMap<(String, String), [f64; 2]> = BTreeMap::new();
    let mut read = statement.query([]).expect("an answer");
    while let Some(row) = read.next().expect("a row") {
        let run: i64 = row.get("run_id").expect("a run");
        let key = (
            row.get("function").expect("a name"),
            row.get("file").expect("a file"),
        );
        sums.entry(key).or_default()[usize::from(run > 2)] +=
            row.get::<_, f64>("exclusive").expect("a cost");
    }
    // The middle of two runs is their mean.
    for (function, row) in rows(&asked(&flags)) {
        let [base, new] = sums.get(&function).copied().unwrap_or_default();
        assert!(is_near(number(&row, "base"), base / 2.0), "{row}");
        assert!(is_near(number(&row, "new"), new / 2.0), "{row}");
    }
}

#[test]
fn a_folder_is_a_set_of_its_files() {
    let folder = Folder::new();
    let mut random = Random(11);
    let mut files = Vec::new();
    for at in 0..6 {
        let side = ["base", "new"][at % 2];
        fs::create_dir_all(folder.path(side)).expect("a folder");
        let content = Recording::random(&mut random).speedscope(0);
        files.push((at % 2, folder.file(&format!("{side}/{at}.json"), &content)));
    }
    let of = |side: usize| {
        files
            .iter()
            .filter(|(of, _)| *of == side)
            .map(|(_, file)| file.as_str())
            .collect::<Vec<_>>()
    };
    let (base, new) = (folder.path("base"), folder.path("new"));
    let folders = asked(&[
        "diff",
        base.to_str().expect("plain"),
        new.to_str().expect("plain"),
        "--all",
    ]);
    let files = asked(&[&["diff", "--all", "--base"][..], &of(0), &["--new"], &of(1)].concat());
    assert_eq!(folders["rows"], files["rows"]);
    assert_eq!(folders["base"]["given"], 3);
}

#[test]
fn every_format_says_the_same() {
    let folder = Folder::new();
    let mut random = Random(9);
    let base = folder.file("base.json", &Recording::random(&mut random).speedscope(0));
    let new = folder.file("new.json", &Recording::random(&mut random).speedscope(0));
    let answer = asked(&["diff", &base, &new, "--all"]);
    let count = answer["rows"].as_array().expect("rows").len();
    for (format, lines) in [("csv", count + 1), ("tsv", count + 1), ("jsonl", count)] {
        let (out, err, succeeded) = told(&["diff", &base, &new, "--all", "--format", format]);
        assert!(succeeded, "{err}");
        assert_eq!(out.lines().count(), lines, "{format}: {out}");
    }
    let (out, _, _) = told(&["diff", &base, &new, "--all", "--format", "xml"]);
    assert_eq!(out.matches("<row>").count(), count, "{out}");
    let mut reader = quick_xml::Reader::from_str(&out);
    while reader.read_event().expect("XML") != quick_xml::events::Event::Eof {}
    for format in ["text", "markdown"] {
        let (out, _, succeeded) = told(&["diff", &base, &new, "--all", "--format", format]);
        assert!(succeeded && out.contains("matched"), "{out}");
    }
}

#[test]
fn differences_of_go_profiles_are_those_of_pprof() {
    tools::require("go");
    let recording = |number: &str| format!("tests/samples/unchanged/pprof/{number}.pprof");
    for (base, new) in [("01", "02"), ("05", "11")] {
        let (base, new) = (recording(base), recording(new));
        let mut pprof = tools::command("go");
        pprof.args([
            "tool",
            "pprof",
            "-top",
            "-unit=ns",
            "-nodecount=100000",
            "-nodefraction=0",
            "-edgefraction=0",
        ]);
        let output = pprof
            .args([format!("-diff_base={base}"), new.clone()])
            .output()
            .expect("go");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let (_, table) = text
            .split_once("cum%\n")
            .unwrap_or_else(|| panic!("{text}"));
        let mut theirs: BTreeMap<String, f64> = BTreeMap::new();
        for line in table.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let flat: f64 = words[0]
                .trim_end_matches("ns")
                .parse()
                .expect("nanoseconds");
            let name = words[5..].join(" ");
            *theirs
                .entry(name.trim_end_matches(" (inline)").to_owned())
                .or_default() += flat;
        }
        let answer = asked(&["diff", &base, &new, "--all", "--metric", "cpu"]);
        let mut compared = 0;
        for row in answer["rows"].as_array().expect("rows") {
            let name = row["function"].as_str().unwrap_or_default();
            // What compilers number is one function for us, and several for them.
            if let Some(delta) = theirs.get(name).filter(|_| !name.contains('*')) {
                assert!(is_near(number(row, "delta"), *delta), "{delta}: {row}");
                compared += 1;
            }
        }
        assert!(compared > 25, "{compared} of {}", theirs.len());
    }
}

/// Splits of the recordings of each profiler, and of all 30 those that may have a verdict.
const SPLITS: usize = 10;
const MOST_FALSE: usize = 3;

#[test]
fn recordings_of_what_does_not_change_have_no_verdicts() {
    let folder = Folder::new();
    let mut random = Random(17);
    let mut found = Vec::new();
    for profiler in ["pstats", "speedscope", "pprof"] {
        let database = folder.path(&format!("{profiler}.db"));
        let database = database.to_str().expect("plain");
        let recordings = format!("tests/samples/unchanged/{profiler}");
        let (_, err, succeeded) = told(&["import", "--db", database, &recordings]);
        assert!(succeeded, "{err}");
        for _ in 0..SPLITS {
            let mut runs: Vec<usize> = (1..=12).collect();
            for at in (1..runs.len()).rev() {
                runs.swap(at, random.below(at + 1));
            }
            let set = |runs: &[usize]| {
                let numbers: Vec<String> = runs.iter().map(ToString::to_string).collect();
                numbers.join(",")
            };
            let (base, new) = (set(&runs[..6]), set(&runs[6..]));
            let answer = asked(&["diff", "--db", database, &base, &new]);
            assert!(answer["tested"].as_u64() > Some(3), "{answer}");
            // The whole run is judged as well.
            let mut judged = answer["rows"].as_array().expect("rows").clone();
            judged.push(answer["total"].clone());
            let changes: Vec<String> = judged
                .iter()
                .filter(|row| {
                    matches!(
                        row["verdict"].as_str(),
                        Some("slower" | "faster" | "new" | "gone")
                    )
                })
                .map(|row| {
                    format!(
                        "{profiler} {base} {new}: {} {}",
                        row["function"], row["verdict"]
                    )
                })
                .collect();
            if !changes.is_empty() {
                found.push(changes.join("; "));
            }
        }
    }
    assert!(found.len() <= MOST_FALSE, "{found:#?}");
}
