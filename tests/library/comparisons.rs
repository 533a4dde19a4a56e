//! Comparisons of runs whose functions were renamed or moved.

use std::io;
use std::sync::Arc;

use profdb::compare::judge::{Limits, Noise, Test, Verdict};
use profdb::compare::{ComparedRun, Comparison, FILE_NAMES, Normalize, Request, Row, compare};
use profdb::events::{Cost, Frame, FunctionDef, Unit};
use profdb::source::Folder;
use profdb::store::{Database, RunMeta};

use crate::support::described_runs::{add_run, emit_time};
use crate::support::made_runs::made_up;
use crate::support::random::Random;

fn in_file<'d>(name: &'d str, file: &'d str, first_line: u32) -> FunctionDef<'d> {
    FunctionDef {
        file,
        first_line,
        ..FunctionDef::named(name)
    }
}

/// Stores a run in which one function calls all others.
fn add(database: &mut Database, meta: &RunMeta, functions: &[(FunctionDef<'_>, f64)]) -> i64 {
    add_run(database, meta, |sink| {
        let time = emit_time(sink);
        let main = sink.function(FunctionDef::named("main"));
        sink.enter(Frame::function(main), None);
        for (def, cost) in functions {
            let function = sink.function(*def);
            sink.enter(Frame::function(function), None);
            sink.cost(time, Cost::Exclusive(*cost));
            sink.leave();
        }
        sink.leave();
    })
}

/// Compares two runs whose costs are exact.
fn compared(database: &Database, base: i64, new: i64) -> Comparison {
    let [base, new] = [base, new].map(|run| ComparedRun {
        database,
        run: database.run(Some(run)).expect("a database").expect("a run"),
        tags: Vec::new(),
    });
    let request = Request {
        noise: Some(Noise::Exact),
        all: true,
        ..Request::default()
    };
    compare(&[base], &[new], &request).expect("two runs")
}

/// Compares two sets of functions.
fn compare_functions(
    base: &[(FunctionDef<'_>, f64)],
    new: &[(FunctionDef<'_>, f64)],
) -> Comparison {
    let mut database = Database::in_memory().expect("memory");
    let [base, new] = [base, new].map(|functions| add(&mut database, &made_up(), functions));
    compared(&database, base, new)
}

#[test]
fn rule_for_a_renamed_function_fits_any_name() {
    let table = [
        ("fmt", "fmt_fast", Some("name /^fmt$/ -> fmt_fast")),
        ("a.b/c", "x$y", Some("name /^a\\.b\\/c$/ -> x$$y")),
        (
            "f(int, char*)",
            "f[...]",
            Some("name /^f\\(int, char\\*\\)$/ -> f[...]"),
        ),
        ("⎕FIX \\d", "Größe", Some("name /^⎕FIX \\\\d$/ -> Größe")),
        ("f", " f", None),
        ("f", "g\nh", None),
    ];
    for (old, new, expected) in table {
        let functions = |name| {
            [
                (FunctionDef::named(name), 500.0),
                (FunctionDef::named("x"), 9.0),
            ]
        };
        let comparison = compare_functions(&functions(old), &functions(new));
        let [suggestion] = comparison.suggestions.as_slice() else {
            panic!("{old} {new}: {:?}", comparison.suggestions);
        };
        let rules: Vec<&str> = suggestion.rules.iter().map(String::as_str).collect();
        assert_eq!(rules, expected.as_slice(), "{old} {new}");
    }
}

#[test]
fn renamed_prefix_of_names_ends_with_a_separator() {
    let table = [
        ("a/work.P.", "a/task.P.", Some(("a/work.", "a/task."))),
        ("old::", "new::", Some(("old::", "new::"))),
        (
            "com/oldshop/P.",
            "com/shop/P.",
            Some(("com/oldshop/", "com/shop/")),
        ),
        ("A$B.", "C$B.", Some(("A$", "C$"))),
        ("", "s", None),
    ];
    for (base, new, expected) in table {
        let ends = ["parse", "next", "draw", "get", "format", "length"];
        let named = |prefix: &str| ends.map(|end| format!("{prefix}{end}"));
        let [base, new] = [named(base), named(new)];
        let functions = |names: &'_ [String; 6]| names.clone();
        let [base, new] = [functions(&base), functions(&new)];
        let [base, new] = [&base, &new].map(|names| {
            let costs = [400.0, 300.0, 200.0, 120.0, 80.0, 60.0];
            let defs = names.iter().map(|name| FunctionDef::named(name));
            defs.zip(costs).collect::<Vec<_>>()
        });
        let comparison = compare_functions(&base, &new);
        let prefixes = comparison.prefixes.iter();
        let prefixes: Vec<(&str, &str)> = prefixes
            .map(|prefixes| (prefixes.base.as_str(), prefixes.new.as_str()))
            .collect();
        assert_eq!(prefixes, expected.as_slice());
    }
}

/// Functions that lie in six files.
const NAMES: [&str; 6] = ["parse", "next", "draw", "get", "format", "length"];

fn in_files<'d>(file: &'d str, other: &'d str) -> Vec<(FunctionDef<'d>, f64)> {
    let costs = [400.0, 300.0, 200.0, 120.0, 80.0, 60.0];
    let mut functions: Vec<_> = NAMES
        .iter()
        .zip(costs)
        .map(|(name, cost)| (in_file(name, file, 1), cost))
        .collect();
    functions.push((in_file("other", other, 1), 50.0));
    functions
}

#[test]
fn moved_folders_differ_in_whole_names() {
    let table = [
        (
            "/srv/a/work/pkg/mod.py",
            "/ci/7/work/pkg/mod.py",
            Some(("/srv/a", "/ci/7")),
        ),
        ("/old/lib.py", "/new/lib.py", Some(("/old", "/new"))),
        ("src/lib.rs", "/build/src/lib.rs", Some(("", "/build"))),
        ("lib/xmod.py", "lib/mod.py", None),
        ("/mod.py", "/a/mod.py", Some(("/", "/a"))),
    ];
    for (base, new, expected) in table {
        let [base, new] = [base, new].map(|file| in_files(file, ""));
        let comparison = compare_functions(&base, &new);
        let folders = comparison.folders.iter();
        let folders: Vec<(&str, &str)> = folders
            .map(|folders| (folders.base.as_str(), folders.new.as_str()))
            .collect();
        assert_eq!(folders, expected.as_slice());
    }
}

#[test]
fn file_beside_a_moved_folder_has_not_moved() {
    for (folder, file, new, is_moved) in [
        ("/a", "/a/c.py", "/z/c.py", true),
        ("/a", "/ab/c.py", "/zb/c.py", false),
        ("", "c.py", "/z/c.py", true),
        ("", "/c.py", "/z/c.py", false),
    ] {
        let before = format!("{folder}/b/d.py");
        let before = before.trim_start_matches(if folder.is_empty() { "/" } else { "" });
        let base = in_files(before, file);
        let mut moved = in_files("/z/b/d.py", new);
        // With equal exact figures it would be one function wherever it is.
        if let Some((_, cost)) = moved.last_mut() {
            *cost = 51.0;
        }
        let comparison = compare_functions(&base, &moved);
        let others = comparison.rows.iter();
        let others = others.filter(|row| row.item.names[0] == "other");
        let are_paired = others.count() == 1;
        assert_eq!(are_paired, is_moved, "{file}: {:?}", comparison.folders);
    }
}

/// Returns the lines in base and new of closures that are found to be one.
fn closures(comparison: &Comparison) -> Vec<(i64, i64)> {
    let rows = comparison.rows.iter();
    let mut rows = rows.filter(|row| row.item.names[0] == "(anonymous)");
    let row = rows.next().expect("a row for all closures");
    assert!(rows.next().is_none(), "closures are one row");
    row.parts
        .iter()
        .map(|part| (part.places[0].0, part.places[1].0))
        .collect()
}

fn functions(anchors: &[u32], lines: &[u32]) -> Vec<(FunctionDef<'static>, f64)> {
    let anchors = ["one", "two", "three", "four"].iter().zip(anchors);
    let anchors = anchors.map(|(name, line)| (in_file(name, "a.js", *line), 20.0));
    let closures = lines.iter();
    let closures = closures.map(|line| (in_file("(anonymous)", "a.js", *line), 30.0));
    anchors.chain(closures).collect()
}

#[test]
fn closure_is_found_where_its_neighbours_moved_with_it() {
    let base = functions(&[10, 20, 30, 40], &[12, 22, 25, 35, 45]);
    // Lines were inserted between 10 and 20, all from 20 to 30 moved by three, those after 30 moved apart.
    let new = functions(&[10, 23, 33, 50], &[12, 25, 28, 38, 55]);
    let comparison = compare_functions(&base, &new);
    assert_eq!(closures(&comparison), [(22, 25), (25, 28)]);
}

#[test]
fn closure_is_not_found_where_a_function_was_moved_before_it() {
    // The function of line 40 in base is between the other two in new.
    let base = functions(&[10, 30, 40], &[20, 70]);
    let new = functions(&[10, 30, 15], &[20, 80]);
    assert_eq!(closures(&compare_functions(&base, &new)), []);
    let base = functions(&[10, 30], &[20, 70]);
    let new = functions(&[10, 30], &[20, 80]);
    assert_eq!(closures(&compare_functions(&base, &new)), [(20, 20)]);
}

/// A folder with one file.
#[derive(Debug)]
struct OneFile([String; 1], &'static str);

impl Folder for OneFile {
    fn files(&self) -> &[String] {
        &self.0
    }

    fn read(&self, _: usize) -> io::Result<Vec<u8>> {
        Ok(self.1.as_bytes().to_vec())
    }
}

#[test]
fn closures_with_unique_text_are_found_where_they_changed_places() {
    let mut database = Database::in_memory().expect("memory");
    let texts = ["a\nb\nc\nc\n", "b\na\nc\n-\n"];
    let lines: [&[u32]; 2] = [&[1, 2, 3, 4, 5], &[1, 2, 3, 5]];
    let runs: Vec<i64> = texts
        .into_iter()
        .zip(lines)
        .map(|(text, lines)| {
            let meta = RunMeta {
                source: Some(Arc::new(OneFile(["a.js".to_owned()], text))),
                ..made_up()
            };
            add(&mut database, &meta, &functions(&[], lines))
        })
        .collect();
    let comparison = compared(&database, runs[0], runs[1]);
    assert_eq!(closures(&comparison), [(1, 2), (2, 1)]);
}

/// Stores a run of twelve functions, whose costs vary around 2 to the power of their number; one in eight is 0.
fn add_random_run(database: &mut Database, noise: Noise, random: &mut Random) -> i64 {
    let unit = match noise {
        Noise::Sampled => Unit::Count,
        _ => Unit::Nanoseconds,
    };
    add_run(database, &made_up(), |sink| {
        let metric = sink.metric("cost", unit, noise);
        for number in 0..12_u32 {
            let spread = (8 << number) >> random.below(6);
            let cost = match random.below(8) {
                0 if number > 3 => 0,
                _ => (8 << number) + random.below(spread),
            };
            let function = sink.function(FunctionDef::named(&format!("f{number}")));
            sink.enter(Frame::function(function), None);
            sink.cost(
                metric,
                Cost::Exclusive(f64::from(u32::try_from(cost).unwrap())),
            );
            sink.leave();
        }
    })
}

/// Checks that the figures of every row state one direction.
fn check_directions(comparison: &Comparison, context: &str) {
    for row in comparison.rows.iter().chain([&comparison.total]) {
        let context = format!("{context}: {row:?}");
        let (delta, [base, new]) = (row.delta(), row.costs);
        let judgement = &row.judgement;
        assert!(
            delta == 0.0 || delta.to_bits() == (new - base).to_bits(),
            "{context}"
        );
        let Some(ratio) = judgement.ratio else {
            assert!(base <= 0.0 || new <= 0.0, "{context}");
            continue;
        };
        assert_eq!(
            delta.partial_cmp(&0.0),
            ratio.partial_cmp(&1.0),
            "{context}"
        );
        assert!((ratio / (new / base) - 1.0).abs() < 1e-9, "{context}");
        if let Some((low, high)) = judgement.interval {
            assert!(
                low <= ratio * 1.000_001 && ratio <= high * 1.000_001,
                "{context}"
            );
        }
        match judgement.verdict {
            Some(Verdict::Slower) => assert!(ratio > 1.0, "{context}"),
            Some(Verdict::Faster) => assert!(ratio < 1.0, "{context}"),
            _ => {}
        }
    }
}

#[test]
fn difference_ratio_and_verdict_of_every_row_have_one_direction() {
    let mut random = Random(39);
    let mut verdicts = 0;
    for noise in [Noise::Timed, Noise::Sampled, Noise::Exact] {
        for runs in [1, 3, 8] {
            let mut database = Database::in_memory().expect("memory");
            let ids: Vec<i64> = (0..2 * runs)
                .map(|_| add_random_run(&mut database, noise, &mut random))
                .collect();
            let stored = |id: &i64| ComparedRun {
                database: &database,
                run: database.run(Some(*id)).expect("a database").expect("a run"),
                tags: Vec::new(),
            };
            let all: Vec<ComparedRun<'_>> = ids.iter().map(stored).collect();
            let (base, new) = all.split_at(runs);
            for normalize in [Normalize::None, Normalize::Total, Normalize::Median] {
                for (test, is_paired) in [
                    (Test::Fitting, false),
                    (Test::Fitting, true),
                    (Test::Ranks, false),
                ] {
                    let request = Request {
                        all: true,
                        normalize: normalize.clone(),
                        paired: is_paired.then(|| FILE_NAMES.to_owned()),
                        limits: Limits {
                            test,
                            min_share: 0.05,
                            ..Limits::default()
                        },
                        ..Request::default()
                    };
                    let context = format!("{noise:?} {runs} {normalize:?} {test:?} {is_paired}");
                    // Too few functions may be in all runs for a median.
                    match compare(base, new, &request) {
                        Ok(comparison) => {
                            check_directions(&comparison, &context);
                            let is_change =
                                |row: &&Row| row.judgement.verdict.is_some_and(Verdict::is_change);
                            verdicts += comparison.rows.iter().filter(is_change).count();
                        }
                        Err(error) => {
                            assert_eq!(normalize, Normalize::Median, "{context}: {error}");
                        }
                    }
                }
            }
        }
    }
    assert!(verdicts > 0);
}

#[test]
fn medians_that_contradict_the_ranks_make_no_verdict() {
    let mut database = Database::in_memory().expect("memory");
    let mut add_runs = |costs: [f64; 2], runs: [usize; 2]| -> Vec<i64> {
        let all = [vec![costs[0]; runs[0]], vec![costs[1]; runs[1]]].concat();
        let with = |(at, cost): (usize, &f64)| {
            let functions = [
                (FunctionDef::named("f"), *cost),
                (
                    FunctionDef::named("g"),
                    900.0 + f64::from(u32::try_from(at).unwrap()),
                ),
            ];
            add(&mut database, &made_up(), &functions)
        };
        all.iter().enumerate().map(with).collect()
    };
    // The median of base is 100, and that of new 90, but most pairs of runs have more in new.
    let ids = [
        add_runs([100.0, 10.0], [11, 10]),
        add_runs([90.0, 1000.0], [11, 10]),
    ];
    let sides = ids.each_ref().map(|ids| {
        let stored = |id: &i64| ComparedRun {
            database: &database,
            run: database.run(Some(*id)).expect("a database").expect("a run"),
            tags: Vec::new(),
        };
        ids.iter().map(stored).collect::<Vec<_>>()
    });
    let request = Request {
        all: true,
        limits: Limits {
            test: Test::Ranks,
            ..Limits::default()
        },
        ..Request::default()
    };
    let comparison = compare(&sides[0], &sides[1], &request).expect("two sets");
    let row = comparison.rows.iter().find(|row| row.item.names[0] == "f");
    let row = row.expect("a row");
    assert_eq!(row.costs.map(|cost| cost.to_string()), ["100", "90"]);
    assert!(row.judgement.q.is_some_and(|q| q < 0.05), "{row:?}");
    assert_eq!(row.judgement.verdict, Some(Verdict::Unclear), "{row:?}");
    check_directions(&comparison, "contradiction");
}
