//! Every figure that is known of GHC's cost-centre logs from elsewhere (`tests/samples/ghc_px/`),
//! as the stock shell sees it.

#![expect(clippy::float_cmp, reason = "whole numbers are exact")]

use crate::support::program;
use crate::support::tools;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use profdb::base::error::Stop;
use profdb::events::recorder::Recorder;
use profdb::formats;
use profdb::formats::{Confidence, Options};
use profdb::input::{Input, Limits};

/// Nanoseconds per tick of both samples.
const TICK: f64 = 20e6;

/// Bytes per word.
const WORD: f64 = 8.0;

/// Label, module, and what tells centres apart that have both in common: 0 for the first by number,
/// then 2, 3, ...
type Name = (String, String, usize);

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/samples/ghc_px")
        .join(name)
}

fn text(name: &str) -> String {
    fs::read_to_string(sample(name)).expect(name)
}

/// Returns the output of a command, without the settings of the user.
fn run(mut command: Command, arguments: &[&str]) -> String {
    let output = command
        .args(arguments)
        .env("HOME", "/nonexistent")
        .output()
        .expect("the program starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// A sample in a database of its own.
struct Imported {
    _folder: tempfile::TempDir,
    database: String,
}

impl Imported {
    fn of(name: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let database = folder.path().join("x.db").display().to_string();
        run(
            program::command(),
            &[
                "import",
                "--db",
                &database,
                &sample(name).display().to_string(),
            ],
        );
        Self {
            _folder: folder,
            database,
        }
    }

    fn rows(&self, sql: &str) -> Vec<Vec<String>> {
        let printed = run(
            tools::command("sqlite3"),
            &["-batch", "-separator", "\t", &self.database, sql],
        );
        printed
            .lines()
            .map(|line| line.split('\t').map(str::to_owned).collect())
            .collect()
    }

    /// Calls, exclusive and cumulative cost of every function in one metric; those without a row
    /// cost nothing.
    fn functions(&self, metric: &str) -> BTreeMap<Name, [f64; 3]> {
        let sql = format!(
            "SELECT s.function, s.module, f.first_col, s.calls, s.exclusive, s.cumulative
             FROM summary AS s JOIN functions AS f USING (function_id) WHERE s.metric = '{metric}'"
        );
        let rows = self.rows(&sql);
        let count = rows.len();
        let functions: BTreeMap<Name, [f64; 3]> = rows
            .iter()
            .map(|row| {
                (
                    name(&row[..3]),
                    [3, 4, 5].map(|column| number(&row[column])),
                )
            })
            .collect();
        assert_eq!(functions.len(), count, "a row per centre in {metric}");
        functions
    }

    fn callers(&self, metric: &str, function: &str) -> Vec<Vec<String>> {
        self.rows(&format!(
            "SELECT caller, kind, calls, exclusive, cumulative FROM calls
             WHERE metric = '{metric}' AND function = '{}' ORDER BY kind, caller",
            function.replace('\'', "''")
        ))
    }
}

fn name(cells: &[String]) -> Name {
    (
        cells[0].clone(),
        cells[1].clone(),
        cells[2].parse().expect("a number"),
    )
}

fn number(text: &str) -> f64 {
    text.parse()
        .unwrap_or_else(|_| panic!("{text:?} is no number"))
}

/// Figures of a function: entries, ticks, words, inherited ticks, inherited words.
type Figures = [f64; 5];

/// Compares figures with those of the database in all three metrics.
fn compare(imported: &Imported, expected: &BTreeMap<Name, Figures>) {
    let time = imported.functions("time");
    let ticks = imported.functions("ticks");
    let alloc = imported.functions("alloc");
    for (name, [entries, own_ticks, own_words, all_ticks, all_words]) in expected {
        let [calls, exclusive, cumulative] = time.get(name).copied().unwrap_or_default();
        assert_eq!(
            [calls, exclusive, cumulative],
            [*entries, own_ticks * TICK, all_ticks * TICK],
            "time of {name:?}"
        );
        let [_, exclusive, cumulative] = ticks.get(name).copied().unwrap_or_default();
        assert_eq!(
            [exclusive, cumulative],
            [*own_ticks, *all_ticks],
            "ticks of {name:?}"
        );
        let [_, exclusive, cumulative] = alloc.get(name).copied().unwrap_or_default();
        assert_eq!(
            [exclusive, cumulative],
            [own_words * WORD, all_words * WORD],
            "allocation of {name:?}"
        );
    }
    let unknown: Vec<_> = time
        .keys()
        .filter(|name| !expected.contains_key(*name))
        .collect();
    assert!(
        unknown.is_empty(),
        "functions that nobody expected: {unknown:?}"
    );
}

#[test]
fn tiny_as_worked_out() {
    tools::require("sqlite3");
    let imported = Imported::of("tiny.px.prof");
    let mut expected: BTreeMap<Name, Figures> = BTreeMap::new();
    let centres = [
        ("MAIN", "MAIN", [0.0, 0.0, 4.0, 50.0, 1169.0]),
        ("CAF", "Main", [0.0, 1.0, 25.0, 50.0, 1165.0]),
        ("main", "Main", [1.0, 2.0, 100.0, 49.0, 1140.0]),
        ("even'", "Main", [6.0, 20.0, 600.0, 42.0, 1000.0]),
        ("odd'", "Main", [8.0, 27.0, 440.0, 27.0, 440.0]),
        ("SUBSUMED", "MAIN", [0.0; 5]),
        ("DONT_CARE", "MAIN", [0.0; 5]),
        ("SYSTEM", "MAIN", [0.0; 5]),
        ("OVERHEAD_of", "PROFILING", [0.0; 5]),
        ("GC", "GC", [0.0; 5]),
    ];
    for (label, module, figures) in centres {
        expected.insert((label.to_owned(), module.to_owned(), 0), figures);
    }
    compare(&imported, &expected);
    assert_eq!(
        imported.callers("ticks", "odd'"),
        [
            ["even'", "call", "5", "22.0", "22.0"],
            ["main", "call", "3", "5.0", "5.0"]
        ]
    );
    for metric in ["time", "ticks", "alloc"] {
        let callers = imported.callers(metric, "even'");
        assert_eq!(callers.len(), 2, "callers in {metric}");
        assert_eq!(callers[0], ["odd'", "back", "", "", ""], "in {metric}");
        assert_eq!(callers[1][..3], ["main", "call", "6"], "in {metric}");
    }
    let totals = imported.rows("SELECT name, total FROM metrics ORDER BY position");
    assert_eq!(
        totals,
        [
            ["time", "1000000000.0"],
            ["ticks", "50.0"],
            ["alloc", "9352.0"]
        ]
    );
    let notes = imported.rows("SELECT severity, message FROM notes");
    assert_eq!(
        notes,
        [[
            "info",
            "the calls and costs of `even'` from `main` include those of recursive calls (back edges), which the log does not separate"
        ]]
    );
}

/// The centres of the expected figures: number, name, figures.
fn centres() -> Vec<(u64, Name, Figures)> {
    let mut alike: BTreeMap<(String, String), usize> = BTreeMap::new();
    let text = text("calc.ghc6.px.expected.tsv");
    let rows = text.lines().skip(1).map(|line| {
        let cells: Vec<&str> = line.split('\t').collect();
        let (module, label) = (cells[1].to_owned(), cells[2].to_owned());
        let count = alike.entry((label.clone(), module.clone())).or_default();
        *count += 1;
        let figures = [3, 4, 5, 6, 7].map(|column| number(cells[column]));
        (
            cells[0].parse().expect("a number"),
            (label, module, apart(*count)),
            figures,
        )
    });
    let rows: Vec<_> = rows.collect();
    assert!(
        rows.is_sorted_by_key(|row| row.0),
        "the rows are in the order of their numbers"
    );
    rows
}

/// What tells the nth centre of a label and module apart.
fn apart(nth: usize) -> usize {
    if nth == 1 { 0 } else { nth }
}

#[test]
fn calc_by_centre() {
    tools::require("sqlite3");
    let centres = centres();
    let expected: BTreeMap<Name, Figures> = centres
        .iter()
        .map(|(_, name, figures)| (name.clone(), *figures))
        .collect();
    let second: Vec<_> = expected
        .keys()
        .filter(|name| name.2 > 0)
        .map(|name| name.0.as_str())
        .collect();
    assert_eq!(
        (expected.len(), second),
        (182, vec!["expr.go.(...)", "expr.go.r'", "expr.go.t"])
    );
    let imported = Imported::of("calc.ghc6.px.prof");
    compare(&imported, &expected);
    // All centres that a stack has are there, and no others.
    let log = text("calc.ghc6.px.prof");
    let used: BTreeSet<u64> = log
        .lines()
        .filter(|line| line.starts_with("2 "))
        .map(|line| {
            line.split(' ')
                .nth(3)
                .and_then(|centre| centre.parse().ok())
                .expect("a centre")
        })
        .collect();
    let used: BTreeSet<Name> = centres
        .into_iter()
        .filter(|(number, ..)| used.contains(number))
        .map(|(_, name, _)| name)
        .collect();
    assert_eq!(
        imported
            .functions("time")
            .into_keys()
            .collect::<BTreeSet<_>>(),
        used
    );
    let (ticks, words) = (132.0, 741_242_306.0);
    let totals = imported.rows("SELECT name, total FROM metrics ORDER BY position");
    let totals: Vec<f64> = totals.iter().map(|row| number(&row[1])).collect();
    assert_eq!(totals, [ticks * TICK, ticks, words * WORD]);
    // Five lines of the log: two stacks of `factor` lead back to `expr`.
    let back = imported
        .rows("SELECT caller || ' -> ' || function FROM calls WHERE metric = 'time' AND kind = 'back' ORDER BY 1");
    assert_eq!(
        back,
        [
            ["apply -> eval"],
            ["factor -> expr"],
            ["isEvenM -> isOddM"],
            ["isOddM -> isEvenM"]
        ]
    );
}

#[test]
fn calc_as_prof2dot_counts() {
    tools::require("sqlite3");
    let imported = Imported::of("calc.ghc6.px.prof");
    let (ticks, alloc) = (imported.functions("ticks"), imported.functions("alloc"));
    let calls = imported.functions("time");
    let centres: BTreeMap<u64, Name> = centres()
        .into_iter()
        .map(|(number, name, _)| (number, name))
        .collect();
    let dot = text("calc.ghc6.px.prof2dot.dot");
    let mut nodes = BTreeSet::new();
    for line in dot.lines() {
        let Some((at, label)) = line.split_once(" [ shape=box").and_then(|(at, rest)| {
            let label = rest.split_once("label=\"")?.1.strip_suffix("\\n\" ];")?;
            Some((at.parse::<u64>().expect("a centre"), label))
        }) else {
            continue;
        };
        let (names, figures) = label.rsplit_once("\\ncount = ").expect("figures");
        let (module, label) = names.split_once("\\n").expect("module and label");
        let (count, figures) = figures.split_once("\\nticks = ").expect("ticks");
        let (own_ticks, allocs) = figures.split_once("\\nallocs = ").expect("allocs");
        assert!(nodes.insert(at), "centre {at} twice");
        let name = &centres[&at];
        assert_eq!(
            (label, module),
            (name.0.as_str(), name.1.as_str()),
            "centre {at}"
        );
        let own = |functions: &BTreeMap<Name, [f64; 3]>, column: usize| {
            functions.get(name).map_or(0.0, |figures| figures[column])
        };
        let found = [own(&calls, 0), own(&ticks, 1), own(&alloc, 1) / WORD];
        if at == 1 {
            // Prof2dot keeps costs on edges, and none leads to the root.
            assert_eq!(
                (found, [count, own_ticks, allocs]),
                ([0.0, 0.0, 40.0], ["0"; 3]),
                "the root"
            );
        } else {
            assert_eq!(
                found,
                [count, own_ticks, allocs].map(number),
                "centre {at}, {name:?}"
            );
        }
    }
    assert_eq!(nodes.len(), 61, "nodes");
    // Its arrows are the calls, back edges left out.
    let known: BTreeSet<(Name, Name)> = imported
        .rows(
            "SELECT c.name, c.module, c.first_col, f.name, f.module, f.first_col
             FROM edges AS e
             JOIN metrics AS m ON m.metric_id = e.metric_id AND m.name = 'time'
             JOIN functions AS c ON c.function_id = e.caller_id
             JOIN functions AS f ON f.function_id = e.callee_id
             WHERE e.kind = 'call'",
        )
        .iter()
        .map(|row| (name(&row[..3]), name(&row[3..])))
        .collect();
    let mut arrows = 0;
    for line in dot.lines() {
        let Some((from, to)) = line.split_once(" -> ") else {
            continue;
        };
        let arrow = [from, to].map(|at| centres[&at.parse::<u64>().expect("a centre")].clone());
        let [from, to] = arrow;
        assert!(
            known.contains(&(from.clone(), to.clone())),
            "{from:?} calls {to:?}"
        );
        arrows += 1;
    }
    assert!(arrows > 60, "only {arrows} arrows");
}

/// A box of a graph: module, label, entries, ticks, words, colour.
type Centre = (String, String, String, String, String, String);

/// Boxes and arrows of prof2dot's graph.
fn prof2dot_graph(dot: &str) -> (Vec<Centre>, Vec<(Centre, Centre)>) {
    let mut boxes: BTreeMap<&str, Centre> = BTreeMap::new();
    for line in dot.lines() {
        let Some((at, rest)) = line.split_once(" [ shape=box, color = \"") else {
            continue;
        };
        let (colour, rest) = rest.split_once("\" label=\"").expect("a label");
        let parts: Vec<&str> = rest
            .strip_suffix("\\n\" ];")
            .expect("an end")
            .split("\\n")
            .collect();
        // A label that ends in a backslash has swallowed the break after it.
        let (names, figures) = parts.split_at(parts.len() - 3);
        let figure = |at: usize| {
            figures[at]
                .split_once(" = ")
                .expect("a figure")
                .1
                .to_owned()
        };
        let own = (
            names[0].to_owned(),
            names[1..].join("\\n"),
            figure(0),
            figure(1),
            figure(2),
            rounded(colour),
        );
        boxes.insert(at, own);
    }
    let arrows = dot.lines().filter_map(|line| line.split_once(" -> "));
    let arrows = arrows
        .map(|(from, to)| (boxes[from].clone(), boxes[to].clone()))
        .collect();
    (boxes.into_values().collect(), arrows)
}

/// Hue, saturation and value, as far as sums in another order leave them alike.
fn rounded(colour: &str) -> String {
    let numbers = colour.split([' ', ',']).filter(|number| !number.is_empty());
    let numbers: Vec<String> = numbers.map(|text| format!("{:.9}", number(text))).collect();
    numbers.join(" ")
}

/// The same of ours, from the tooltips, which have all digits. Back edges are dashed.
fn our_graph(dot: &str) -> (Vec<Centre>, Vec<(Centre, Centre)>) {
    let mut boxes: BTreeMap<&str, Centre> = BTreeMap::new();
    for line in dot
        .lines()
        .filter(|line| line.starts_with('f') && line.contains(" [label="))
    {
        let (at, rest) = line.split_once(" [label=").expect("a box");
        let (_, rest) = rest.split_once(", tooltip=\"").expect("a tooltip");
        let (tooltip, colour) = rest.split_once("\", fillcolor=\"").expect("a colour");
        let colour = colour.strip_suffix("\"];").expect("an end");
        let lines: Vec<String> = tooltip
            .replace("\\\\", "\u{1}")
            .split("\\n")
            .map(str::to_owned)
            .collect();
        let plain = |text: &str| {
            text.replace('\u{1}', "\\")
                .replace("\\\"", "\"")
                .replace("&amp;", "&")
        };
        let (label, module) = lines[0].rsplit_once(", ").expect("a module");
        let own = |metric: &str| {
            let line = lines
                .iter()
                .find_map(|line| line.strip_prefix(&format!("{metric}: exclusive ")));
            number(line.and_then(|line| line.split(' ').next()).expect(metric))
        };
        let calls = lines[1].strip_prefix("calls: ").expect("calls");
        let (ticks, words) = (own("ticks").to_string(), (own("alloc") / WORD).to_string());
        boxes.insert(
            at,
            (
                plain(module),
                plain(label),
                calls.to_owned(),
                ticks,
                words,
                rounded(colour),
            ),
        );
    }
    let arrows = dot.lines().filter(|line| !line.contains("style=dashed"));
    let arrows = arrows.filter_map(|line| line.split_once(" -> "));
    let arrows = arrows.map(|(from, to)| {
        let to = to.split([' ', ';']).next().expect("an end");
        (boxes[from].clone(), boxes[to].clone())
    });
    let arrows = arrows.collect();
    (boxes.into_values().collect(), arrows)
}

#[test]
fn calc_as_prof2dot_draws() {
    let ours = run(
        program::command(),
        &[
            "convert",
            &sample("calc.ghc6.px.prof").display().to_string(),
            "--to=dot",
            "--palette=prof2dot",
            "--colour=calls",
            "--all-metrics",
            "--min-pct=0",
        ],
    );
    let (mut expected_boxes, mut expected_arrows) =
        prof2dot_graph(&text("calc.ghc6.px.prof2dot.dot"));
    let (mut boxes, mut arrows) = our_graph(&ours);
    // Prof2dot escapes nothing, and keeps costs on edges, of which none leads to the root.
    let theirs = |one: &mut Centre| {
        if one.1 == "MAIN" && one.0 == "MAIN" {
            "40".clone_into(&mut one.4);
        }
    };
    expected_boxes.iter_mut().for_each(theirs);
    for (from, to) in &mut expected_arrows {
        theirs(from);
        theirs(to);
    }
    expected_boxes.sort();
    expected_arrows.sort();
    boxes.sort();
    arrows.sort();
    assert_eq!((boxes.len(), arrows.len()), (61, 68));
    assert_eq!(boxes, expected_boxes);
    assert_eq!(arrows, expected_arrows);
}

#[test]
fn calc_as_ghc_reports_it() {
    tools::require("sqlite3");
    let imported = Imported::of("calc.ghc6.px.prof");
    let (calls, ticks, alloc) = (
        imported.functions("time"),
        imported.functions("ticks"),
        imported.functions("alloc"),
    );
    let report = text("calc.px-twin.P.prof");
    let tree = report
        .split("COST CENTRE")
        .nth(2)
        .expect("the second table");
    // By label, module and source span: numbers follow the source.
    let mut sums: BTreeMap<[&str; 3], [f64; 3]> = BTreeMap::new();
    for line in tree.lines().skip(1).filter(|line| !line.trim().is_empty()) {
        let cells: Vec<&str> = line.split_whitespace().collect();
        let end = cells.len();
        let sum = sums.entry([cells[0], cells[1], cells[2]]).or_default();
        let figures = [cells[end - 7], cells[end - 2], cells[end - 1]];
        sum.iter_mut()
            .zip(figures)
            .for_each(|(sum, figure)| *sum += number(figure));
    }
    assert!(sums.len() > 50, "only {} functions", sums.len());
    let mut bytes = [0.0; 2];
    let mut alike: BTreeMap<[&str; 2], usize> = BTreeMap::new();
    for ([label, module, _], [entries, expected_ticks, expected_bytes]) in &sums {
        let count = alike.entry([label, module]).or_default();
        *count += 1;
        let name = ((*label).to_owned(), (*module).to_owned(), apart(*count));
        let found = [
            calls.get(&name).copied().unwrap_or_default()[0],
            ticks.get(&name).copied().unwrap_or_default()[1],
        ];
        assert_eq!(found, [*entries, *expected_ticks], "{name:?}");
        bytes[0] += alloc.get(&name).copied().unwrap_or_default()[1];
        bytes[1] += expected_bytes;
    }
    assert!(
        alike.values().any(|count| *count > 1),
        "no two centres of one name"
    );
    // What the program allocated while it wrote the log.
    assert_eq!(bytes[1] - bytes[0], 17_880.0);
}

/// The longest record in these tests.
const RECORD: u64 = 1 << 20;

fn read(bytes: &[u8]) -> (usize, Option<String>) {
    let mut nodes = 0;
    let mut recorder =
        Recorder::new(|_, event: String| nodes += usize::from(event.starts_with("enter")));
    let format = formats::format_named("ghc_px").expect("the format");
    let input = Input::new(
        Box::new(bytes),
        Limits {
            record: RECORD,
            ..Limits::default()
        },
        Stop::default(),
    );
    let error = input
        .and_then(|mut input| format.read(&mut input, &Options::default(), &mut recorder))
        .err();
    (nodes, error.map(|error| error.to_string()))
}

const HEADER: &str = "\"Thu Jun 19 14:02 2008\"\n\"20 ms\"\n";

#[test]
fn a_sample_may_be_longer_than_a_record() {
    let mut log = HEADER.to_owned();
    log.push_str("1 1 \"MAIN\" \"MAIN\"\n2 1 1 1\n5 0");
    let gap = " ".repeat(10_000);
    for _ in 0..200 {
        let _ = write!(log, " 1{gap}1 1 0 0");
    }
    log.push_str(" 0\n");
    assert!(log.len() as u64 > RECORD);
    assert_eq!(read(log.as_bytes()), (1, None));
}

#[test]
fn a_line_of_another_kind_may_not() {
    let long = " ".repeat(2 << 20);
    let (_, error) = read(format!("{HEADER}2 1 1 1{long}\n").as_bytes());
    assert!(error.is_some_and(|error| error.contains("limit: record size")));
    let (_, error) = read(format!("{HEADER}2 1 1 1\n5 0 {long}0\n").as_bytes());
    assert!(error.is_some_and(|error| error.contains("limit: record size")));
    assert_eq!(
        read(format!("{HEADER}2 1 1 1\n6{long}\n5 0 0\n").as_bytes()),
        (1, None)
    );
}

#[test]
fn a_deep_stack_is_a_deep_tree() {
    let depth = 20_000;
    let mut log = format!("{HEADER}2 1 1 1\n");
    for at in 2..=depth {
        let _ = writeln!(log, "2 {at} 2 {at} {}", at - 1);
    }
    log.push_str("5 0 0\n");
    assert_eq!(read(log.as_bytes()), (depth, None));
}

#[test]
fn other_files_of_the_name_are_told_apart() {
    let format = formats::format_named("ghc_px").expect("the format");
    for (name, expected) in [
        ("tiny.px.prof", Confidence::Maybe),
        ("calc.ghc6.px.prof", Confidence::Maybe),
        ("calc.px-twin.P.prof", Confidence::No),
        ("calc.pj.json", Confidence::No),
    ] {
        assert_eq!((format.sniff)(text(name).as_bytes()), expected, "{name}");
    }
    for csv in [
        "\"Element\",\"Line\"\n\"20 ms\"\n",
        "\"a\"\n\"b\"\n",
        "\"Thu\"\n20 ms\n",
        "\"Thu\"\n\"20.5 ms\"\n",
    ] {
        assert_eq!((format.sniff)(csv.as_bytes()), Confidence::No, "{csv}");
    }
}
