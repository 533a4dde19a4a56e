//! Two costs in one file: what flame graphs, folded stacks and pprof's profiles of two runs say is added up here a second time, and
//! asked of `go tool pprof`.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "small whole numbers"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::flame_graphs::{Drawn, picture};
use crate::support::program;
use crate::support::random::Random;
use crate::support::tools;

/// Pairs of random trees.
const ROUNDS: u64 = 20;

/// Names of functions; those of strangers among them.
const NAMES: [&str; 9] = [
    "main",
    "parse",
    "load",
    "render",
    "<b>&amp",
    "a\"' b",
    "]]>",
    "\u{202e}evil",
    "∆sum",
];

/// Own cost of each place in base and in new.
type Places = BTreeMap<Vec<&'static str>, [u64; 2]>;

fn random_places(random: &mut Random) -> Places {
    let mut places = Places::new();
    for _ in 0..=random.below(40) {
        let depth = 1 + random.below(5);
        let path = (0..depth)
            .map(|_| NAMES[random.below(NAMES.len())])
            .collect();
        let mut cost = || random.below(3).min(1) as u64 * (1 + random.below(400) as u64);
        places.insert(path, [cost(), cost()]);
    }
    // Both sides cost something.
    places.insert(vec!["main"], [7, 7]);
    places.retain(|_, costs| *costs != [0, 0]);
    places
}

/// The stacks of a side.
fn folded(places: &Places, side: usize) -> String {
    let line =
        |(path, costs): (&Vec<&str>, &[u64; 2])| format!("{} {}\n", path.join(";"), costs[side]);
    places
        .iter()
        .filter(|(_, costs)| costs[side] > 0)
        .map(line)
        .collect()
}

/// Runs profdb in a folder, which has to succeed.
fn done(folder: &Path, arguments: &[&str]) -> Vec<u8> {
    let output = program::command()
        .current_dir(folder)
        .args(arguments)
        .output()
        .expect("our own program");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    output.stdout
}

fn written(base: &str, new: &str) -> TempDir {
    let folder = TempDir::new().expect("a folder");
    fs::write(folder.path().join("base.folded"), base).expect("room");
    fs::write(folder.path().join("new.folded"), new).expect("room");
    folder
}

const DIFF: [&str; 4] = ["export", "--diff", "base.folded", "new.folded"];

/// A box of a picture of two runs.
struct Box {
    drawn: Drawn,
    /// Left and right edge as wide as new, base and both, whichever is drawn.
    edges: BTreeMap<String, (f64, f64)>,
    mark: String,
    path: Vec<String>,
}

fn attribute<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(&format!(" {name}=\""))?;
    Some(rest.split_once('"')?.0)
}

/// The boxes of a picture, with the way to each.
fn boxes(svg: &str) -> Vec<Box> {
    let head = svg
        .lines()
        .find(|line| line.contains(" data-widths="))
        .expect("a picture of two runs");
    let sides = attribute(head, "data-widths").expect("words");
    let mut boxes: Vec<Box> = Vec::new();
    let lines = svg.lines().filter(|line| line.contains(" data-edges="));
    for (drawn, line) in picture(svg).boxes.into_iter().zip(lines) {
        let tag = line.split_once('>').expect("an element").0.to_owned() + ">";
        let numbers: Vec<f64> = attribute(&tag, "data-edges")
            .expect("edges")
            .split(' ')
            .map(|number| number.parse().expect("a number"))
            .collect();
        let edges = sides
            .split(' ')
            .zip(numbers.chunks(2))
            .map(|(side, edges)| (side.to_owned(), (edges[0], edges[1])))
            .collect();
        let caller = boxes.iter().rev().find(|other| other.drawn.top < drawn.top);
        let caller = caller.filter(|_| drawn.top > boxes[0].drawn.top);
        let mut path = caller.map_or_else(Vec::new, |caller| caller.path.clone());
        path.push(drawn.about.lines().next().expect("a name").to_owned());
        let mark = attribute(&tag, "data-mark").unwrap_or_default().to_owned();
        boxes.push(Box {
            drawn,
            edges,
            mark,
            path,
        });
    }
    boxes
}

/// What a name is in a picture.
fn shown(name: &str) -> String {
    name.replace('\u{202e}', "\u{fffd}")
}

/// What a place and all below it cost: in base, in new, and of each place the larger.
fn all_of(places: &Places, path: &[String]) -> [f64; 3] {
    let mut all = [0.0; 3];
    for (other, [base, new]) in places {
        let begins = other.len() >= path.len()
            && other
                .iter()
                .zip(path)
                .all(|(one, other)| shown(one) == *other);
        if begins {
            for (all, cost) in all.iter_mut().zip([*base, *new, *base.max(new)]) {
                *all += cost as f64;
            }
        }
    }
    all
}

#[track_caller]
fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 2e-3, "{found}, not {expected}");
}

#[test]
fn boxes_of_two_runs_are_as_wide_as_costs_and_coloured_by_their_ratio() {
    for seed in 0..ROUNDS {
        let places = random_places(&mut Random(seed));
        let folder = written(&folded(&places, 0), &folded(&places, 1));
        let whole = all_of(&places, &[]);
        for side in ["new", "base", "both"] {
            let more = ["--format", "flamegraph", "--min-pct", "0", "--width", side];
            let svg = done(folder.path(), &[&DIFF[..], &more].concat());
            let svg = String::from_utf8(svg).expect("UTF-8");
            let boxes = boxes(&svg);
            let mut expected: Vec<Vec<String>> = places
                .keys()
                .flat_map(|path| (1..=path.len()).map(|depth| path[..depth].to_vec()))
                .map(|path| path.into_iter().map(shown).collect())
                .collect();
            expected.sort();
            expected.dedup();
            let mut found: Vec<Vec<String>> = boxes.iter().map(|one| one.path.clone()).collect();
            found.sort();
            assert_eq!(found, expected, "{seed}");
            let mut ends: BTreeMap<(&str, &[String]), f64> = BTreeMap::new();
            for one in &boxes {
                let all = all_of(&places, &one.path);
                for (at, side) in [(0, "base"), (1, "new"), (2, "both")] {
                    let (left, right) = one.edges[side];
                    near(right - left, 1200.0 * all[at] / whole[at]);
                    // Callees fill their caller from the left, without a gap.
                    let caller = &one.path[..one.path.len() - 1];
                    let begin = ends.get(&(side, caller)).copied().unwrap_or(0.0);
                    near(left, begin);
                    ends.insert((side, caller), right);
                    ends.insert((side, &one.path), left);
                }
                let (left, right) = one.edges[side];
                near(one.drawn.left, left);
                near(one.drawn.width, right - left);
                check_look(one, [all[0], all[1]]);
            }
        }
    }
}

/// Red and upwards is more, blue and downwards less, grey the same; what only one side has is hatched.
fn check_look(one: &Box, [base, new]: [f64; 2]) {
    let Box { drawn, mark, .. } = one;
    let fill = drawn.fill.as_str();
    let figures = drawn.about.lines().last().expect("figures");
    if base == 0.0 {
        assert_eq!(
            (fill, mark.as_str()),
            ("url(#flamegraph-new)", "▲ "),
            "{drawn:?}"
        );
        assert!(figures.contains("only in new"), "{figures}");
        return;
    }
    if new == 0.0 {
        assert_eq!(
            (fill, mark.as_str()),
            ("url(#flamegraph-gone)", "▼ "),
            "{drawn:?}"
        );
        assert!(figures.contains("only in base"), "{figures}");
        return;
    }
    let ratio = new / base;
    assert!(figures.contains(&format!(", x{ratio:.2}")), "{figures}");
    assert!(
        figures.starts_with(&format!("inclusive {base} (")),
        "{figures}"
    );
    assert!(figures.contains(&format!(" → {new} (")), "{figures}");
    let change = ratio.log2().clamp(-1.0, 1.0);
    let end = if change > 0.0 {
        [240.0, 85.0, 60.0]
    } else {
        [74.0, 155.0, 232.0]
    };
    let colour = end.map(|end: f64| (220.0 + (end - 220.0) * change.abs()).round() as u8);
    assert_eq!(
        fill,
        format!("#{:02x}{:02x}{:02x}", colour[0], colour[1], colour[2])
    );
    let expected = match change {
        change if change > 0.005 => "▲ ",
        change if change < -0.005 => "▼ ",
        _ => "",
    };
    assert_eq!(mark, expected);
    if !drawn.label.is_empty() {
        assert!(drawn.label.starts_with(expected), "{drawn:?}");
    }
}

/// Where figures are exact there are verdicts, and colours keep to them: a caller whose own cost is what it was is grey.
#[test]
fn colours_keep_to_verdicts_where_there_are_any() {
    let folder = written(
        "main;parse 300\nmain;load 200\nmain;old 50\n",
        "main;parse 450\nmain;load 201\nmain;more 70\n",
    );
    let fills = |more: &[&str]| -> BTreeMap<String, (String, String)> {
        let all = [
            &DIFF[..],
            &["--format", "flamegraph", "--width", "both"],
            more,
        ]
        .concat();
        let svg = String::from_utf8(done(folder.path(), &all)).expect("UTF-8");
        let boxes = boxes(&svg).into_iter();
        boxes
            .map(|one| {
                let name = one.path.last().expect("a name").clone();
                (name, (one.drawn.fill, one.mark))
            })
            .collect()
    };
    let of = |fills: &BTreeMap<String, (String, String)>, name: &str| {
        let (fill, mark) = &fills[name];
        format!("{mark}{fill}")
    };
    let exact = fills(&["--noise", "exact"]);
    let ratio = fills(&["--noise", "exact", "--colour", "ratio"]);
    let unjudged = fills(&[]);
    assert_eq!(unjudged, ratio);
    for (name, by_verdict, by_ratio) in [
        ("main", "#dcdcdc", "▲ #e4a79e"),
        ("load", "#dcdcdc", "▲ #dcdbdb"),
        ("old", "▼ url(#flamegraph-gone)", "▼ url(#flamegraph-gone)"),
        ("more", "▲ url(#flamegraph-new)", "▲ url(#flamegraph-new)"),
    ] {
        assert_eq!(of(&exact, name), by_verdict, "{name}");
        assert_eq!(of(&ratio, name), by_ratio, "{name}");
    }
    assert_eq!(of(&exact, "parse"), of(&ratio, "parse"));
    assert!(of(&exact, "parse").starts_with('▲'));
    // One run against one of what is not exact shows no verdicts, and where they are asked for no colours.
    let told = fills(&["--colour", "verdict"]);
    assert!(told.values().all(|(fill, mark)| {
        mark.is_empty() && (fill == "#dcdcdc" || fill.ends_with("-untold)"))
    }));
}

/// The two ends of the scale and its middle are told apart by all eyes: as Viénot, Brettel and Mollon have it ("Digital video
/// colourmaps for checking the legibility of displays by dichromats", 1999), in the space of 1931's CIE tristimulus values,
/// simplified to linear RGB.
#[test]
fn colours_are_told_apart_without_red_or_green() {
    const COLOURS: [[f64; 3]; 3] = [
        [240.0, 85.0, 60.0],
        [220.0, 220.0, 220.0],
        [74.0, 155.0, 232.0],
    ];
    let linear = |byte: f64| (byte / 255.0).powf(2.2);
    // What remains of red, green and blue to protanopes and deuteranopes.
    let seen: [[[f64; 3]; 3]; 2] = [
        [
            [0.11238, 0.88762, 0.0],
            [0.11238, 0.88762, 0.0],
            [0.00401, -0.00401, 1.0],
        ],
        [
            [0.29275, 0.70725, 0.0],
            [0.29275, 0.70725, 0.0],
            [-0.02234, 0.02234, 1.0],
        ],
    ];
    for matrix in seen {
        let eyes = COLOURS.map(|colour| {
            matrix.map(|row| {
                let sum: f64 = row
                    .iter()
                    .zip(colour)
                    .map(|(part, byte)| part * linear(byte))
                    .sum();
                255.0 * sum.max(0.0).powf(1.0 / 2.2)
            })
        });
        for (one, other) in [(0, 1), (1, 2), (0, 2)] {
            let far: f64 = eyes[one]
                .iter()
                .zip(eyes[other])
                .map(|(one, other)| (one - other).powi(2))
                .sum();
            assert!(far.sqrt() > 60.0, "{one} {other}: {eyes:?}");
        }
    }
}

#[test]
fn folded_stacks_of_two_runs_have_both_costs() {
    for seed in 100..100 + ROUNDS {
        let places = random_places(&mut Random(seed));
        let folder = written(&folded(&places, 0), &folded(&places, 1));
        let text = done(
            folder.path(),
            &[&DIFF[..], &["--format", "folded"]].concat(),
        );
        let text = String::from_utf8(text).expect("UTF-8");
        let mut lines: Vec<&str> = text.lines().collect();
        lines.sort_unstable();
        let mut expected: Vec<String> = places
            .iter()
            .map(|(path, [base, new])| format!("{} {base} {new}", path.join(";")))
            .collect();
        expected.sort();
        assert_eq!(lines, expected);
    }
}

/// Flat and cumulative cost of each function, as `go tool pprof -top` shows them.
fn top(arguments: &[&str]) -> (String, BTreeMap<String, [f64; 2]>) {
    let output = tools::command("go")
        .args(["tool", "pprof", "-top", "-unit=ns", "-nodecount=100000"])
        .args(["-nodefraction=0", "-edgefraction=0"])
        .args(arguments)
        .output()
        .expect("go");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (head, table) = text
        .split_once("cum%\n")
        .unwrap_or_else(|| panic!("{arguments:?}: {text}"));
    let mut functions: BTreeMap<String, [f64; 2]> = BTreeMap::new();
    for line in table.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |at: usize| -> f64 {
            let digits = words[at].trim_end_matches("ns");
            digits.parse().expect("nanoseconds")
        };
        let name = words[5..].join(" ");
        let sums = functions
            .entry(name.trim_end_matches(" (inline)").to_owned())
            .or_default();
        sums[0] += number(0);
        sums[1] += number(3);
    }
    let total = head.rsplit_once(" of ").map_or(head, |(_, total)| total);
    (
        total.split('\n').next().unwrap_or_default().to_owned(),
        functions,
    )
}

/// A profile that profdb writes of two is what `pprof -diff_base` makes of them: function by function, and in its total, which is
/// that of base.
#[test]
fn differences_as_pprof_are_those_of_go_tool_pprof() {
    tools::require("go");
    let folder = TempDir::new().expect("a folder");
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let written = folder.path().join("both.pb.gz");
    let written = written.to_str().expect("plain");
    for (base, new) in [("01", "02"), ("05", "11"), ("07", "07")] {
        let recording = |number: &str| format!("tests/samples/unchanged/pprof/{number}.pprof");
        let (base, new) = (recording(base), recording(new));
        for (normalize, flag) in [("none", None), ("total", Some("-normalize"))] {
            let mut export = vec![
                "export", "--format", "pprof", "-o", written, "--metric", "cpu",
            ];
            export.extend(["--normalize", normalize, "--diff", &base, &new]);
            done(here, &export);
            let (total, ours) = top(&[written]);
            let against = format!("-diff_base={base}");
            let (their_total, theirs) = top(&[flag.as_slice(), &[&against, new.as_str()]].concat());
            assert_eq!(total, their_total, "{base} {new}");
            let mut compared = 0;
            for (name, sums) in &ours {
                // What compilers number is one function for us, and several for them.
                let Some(expected) = theirs.get(name).filter(|_| !name.contains('*')) else {
                    continue;
                };
                for (found, expected) in sums.iter().zip(expected) {
                    // Scaled samples are rounded one by one, some thousands of them.
                    let rounding = if normalize == "total" { 5000.0 } else { 0.5 };
                    assert!(
                        (found - expected).abs() <= rounding,
                        "{name}: {sums:?} {expected:?}"
                    );
                }
                compared += 1;
            }
            assert!(
                compared > 25 || base == new,
                "{compared} of {}",
                theirs.len()
            );
        }
    }
}
