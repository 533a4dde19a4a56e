//! Several runs combined into one: sums and means, computed a second way by SQL over the runs.

use std::collections::BTreeMap;
use std::path::Path;

use profdb::base::error::Stop;
use profdb::formats::export::Request;
use profdb::formats::{FORMATS, Options, format_named};
use profdb::pipeline::{Parsed, meta, parse};
use profdb::store::{Combination, CombineError, CombinedRun, Database, WholeRun};
use rusqlite::types::Value;

use crate::support::case_files::of_group;
use crate::support::imports::{export_run, open};

/// Maximum difference of sums in different orders, relative to the sum.
const TOLERANCE: f64 = 1e-9;

/// Figures by key and metric.
type FiguresByKey = BTreeMap<Vec<String>, Vec<Option<f64>>>;

const FUNCTIONS: &str =
    "SELECT m.name, f.name, f.module, f.file, f.kind, f.first_line, f.first_col,
            i.calls, i.primitive, i.exclusive, i.cumulative, i.seen
     FROM metrics AS m JOIN function_info AS i USING (metric_id) JOIN functions AS f USING (function_id)";

const LINES: &str = "SELECT m.name, f.name, f.module, f.file, f.kind, f.first_line, f.first_col, i.file, i.line, i.col,
            i.calls, i.exclusive, i.cumulative
     FROM metrics AS m JOIN line_info AS i USING (metric_id) JOIN functions AS f USING (function_id)";

const EDGES: &str =
    "SELECT m.name, f.name, f.module, f.file, f.kind, f.first_line, f.first_col, e.back,
            c.name, c.module, c.file, c.kind, c.first_line, c.first_col, e.line_file, e.caller_line, e.caller_col,
            e.calls, e.exclusive, e.cumulative, e.outermost, e.seen
     FROM metrics AS m JOIN edges AS e USING (metric_id) JOIN functions AS f ON f.function_id = e.callee_id
     LEFT JOIN functions AS c ON c.function_id = e.caller_id";

const LABELS: &str =
    "SELECT m.name, f.name, f.module, f.file, f.kind, f.first_line, f.first_col, n.line, l.key, l.value, l.unit,
            c.exclusive
     FROM metrics AS m JOIN node_labels AS c USING (metric_id) JOIN nodes AS n USING (node_id)
     JOIN functions AS f USING (function_id) JOIN label_sets AS l ON l.run_id = m.run_id AND l.set_id = c.set_id";

const TOTALS: &str = "SELECT name, unit, noise, total FROM metrics AS m";

/// Returns what a statement finds, added up over runs: columns before `keys` identify a row.
fn sums(database: &Database, sql: &str, keys: usize, runs: &[i64]) -> FiguresByKey {
    let connection = database.connection();
    let mut sums = FiguresByKey::new();
    for run in runs {
        let sql = format!("{sql} WHERE m.run_id = {run}");
        let mut statement = connection.prepare(&sql).expect("a statement");
        let columns = statement.column_count();
        let mut rows = statement.query([]).expect("rows");
        while let Some(row) = rows.next().expect("a row") {
            let text = |at| format!("{:?}", row.get::<_, Value>(at).expect("a value"));
            let key: Vec<String> = (0..keys).map(text).collect();
            let figures =
                (keys..columns).map(|at| row.get::<_, Option<f64>>(at).expect("a number"));
            let figures: Vec<Option<f64>> = figures.collect();
            match sums.get_mut(&key) {
                None => {
                    sums.insert(key, figures);
                }
                Some(sum) => {
                    for (sum, part) in sum.iter_mut().zip(figures) {
                        *sum = sum.zip(part).map(|(sum, part)| sum + part);
                    }
                }
            }
        }
    }
    sums
}

/// Fails unless the figures of the combined run are `factor` times the sums over runs.
fn assert_equal(what: &str, combined: &FiguresByKey, sums: &FiguresByKey, factor: f64) {
    let keys: Vec<_> = combined.keys().collect();
    assert_eq!(keys, sums.keys().collect::<Vec<_>>(), "{what}: rows");
    for (key, found) in combined {
        for (found, sum) in found.iter().zip(&sums[key]) {
            let is_equal = match (found, sum.map(|sum| sum * factor)) {
                (Some(found), Some(sum)) => (found - sum).abs() <= TOLERANCE * (1.0 + sum.abs()),
                (found, sum) => found.is_none() && sum.is_none(),
            };
            assert!(
                is_equal,
                "{what}: {key:?}: {found:?}, expected {factor} * {sum:?}"
            );
        }
    }
}

fn parsed(format: &str, title: &str, bytes: &[u8]) -> Option<WholeRun> {
    let format = format_named(format).expect("a format");
    let options = Options::default();
    let describe = |fingerprint| {
        let mut meta = meta(format, &options, "profile", fingerprint);
        meta.title = Some(title.to_owned());
        meta
    };
    match parse(open(bytes), format, &options, &Stop::default(), describe) {
        Ok(Parsed::Whole(run, _)) => Some(*run),
        _ => None,
    }
}

/// Stores profiles in a database in memory; returns the numbers of their runs.
fn stored(profiles: &[(&str, &[u8])]) -> (Database, Vec<i64>) {
    let runs = profiles.iter().enumerate();
    let runs = runs.map(|(at, (format, bytes))| {
        parsed(format, &at.to_string(), bytes).expect("a readable profile")
    });
    let mut database = Database::in_memory().expect("a database");
    let stored = database.add_runs(runs.collect()).expect("stored runs");
    let numbers = (1..).take(stored.len()).collect();
    (database, numbers)
}

fn combine(database: &Database, runs: &[i64], combination: Combination) -> CombinedRun {
    let combined = database.combine_runs(runs, combination, "a set", Path::new("."));
    combined.expect("runs that can be combined")
}

#[test]
fn copies_of_one_run_cost_a_multiple_and_their_mean_is_the_run() {
    let mut tried = 0;
    for format in FORMATS {
        for case in of_group(format.name) {
            if !["minimal", "recurs", "label"]
                .iter()
                .any(|word| case.name().contains(word))
            {
                continue;
            }
            for (input, bytes) in case.inputs() {
                if parsed(format.name, "", &bytes).is_none() {
                    continue;
                }
                let name = format!("{}/{input}", case.name());
                let copy = (format.name, bytes.as_slice());
                let (database, runs) = stored(&[copy; 3]);
                for combination in Combination::ALL {
                    let factor = if combination == Combination::Sum {
                        1.0
                    } else {
                        1.0 / 3.0
                    };
                    let combined = combine(&database, &runs, combination);
                    for (what, sql, keys) in [
                        ("functions", FUNCTIONS, 7),
                        ("lines", LINES, 10),
                        ("edges", EDGES, 17),
                        ("labels", LABELS, 11),
                        ("totals", TOTALS, 3),
                    ] {
                        assert_equal(
                            &format!("{name}, {} of {what}", combination.name()),
                            &sums(&combined.database, sql, keys, &[1]),
                            &sums(&database, sql, keys, &runs),
                            factor,
                        );
                    }
                    if combination == Combination::Sum {
                        let findings = combined.database.broken_rules().expect("checks");
                        assert!(findings.is_empty(), "{name}: {findings:?}");
                    }
                }
                tried += 1;
            }
        }
    }
    assert!(tried >= FORMATS.len(), "{tried} inputs");
}

#[test]
fn different_runs_add_up_function_by_function_and_path_by_path() {
    let profiles: [&[u8]; 3] = [
        b"main;work;parse 3\nmain;rest 1\n",
        b"main;work 5\nmain;work;parse;work 2\nother 1\n",
        b"main;work;parse 4\nidle 7\n",
    ];
    let (database, runs) = stored(&profiles.map(|bytes| ("folded", bytes)));
    let combined = combine(&database, &runs, Combination::Sum);
    let of_runs = sums(&database, FUNCTIONS, 7, &runs);
    let of_sum = sums(&combined.database, FUNCTIONS, 7, &[1]);
    assert_equal("functions", &of_sum, &of_runs, 1.0);
    let (file, _) = export_run(
        "folded",
        &combined.database,
        &combined.run,
        &Request::default(),
    );
    let mut stacks: Vec<&str> = std::str::from_utf8(&file).expect("text").lines().collect();
    stacks.sort_unstable();
    let expected = [
        "idle 7",
        "main;rest 1",
        "main;work 5",
        "main;work;parse 7",
        "main;work;parse;work 2",
        "other 1",
    ];
    assert_eq!(stacks, expected);
    let mean = combine(&database, &runs, Combination::Mean);
    let of_mean = sums(&mean.database, FUNCTIONS, 7, &[1]);
    assert_equal("mean", &of_mean, &of_runs, 1.0 / 3.0);
}

/// Returns the names and the exclusive costs of the functions of a combined run.
fn costs(combined: &CombinedRun) -> Vec<(String, i64, f64)> {
    let sql = "SELECT f.name, f.first_line, i.exclusive
               FROM metrics AS m JOIN function_info AS i USING (metric_id) JOIN functions AS f USING (function_id)
               WHERE f.kind = 'function' AND m.name = 'samples'
               ORDER BY f.name, f.first_line";
    let connection = combined.database.connection();
    let mut statement = connection.prepare(sql).expect("a statement");
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    rows.and_then(Iterator::collect).expect("rows")
}

#[test]
fn functions_of_two_builds_are_one_by_their_identity() {
    let (database, runs) = stored(&[
        ("folded", b"main;core::run::h0123456789abcdef 3\n"),
        ("folded", b"main;core::run::hfedcba9876543210 4\n"),
    ]);
    let combined = combine(&database, &runs, Combination::Sum);
    let names: Vec<f64> = costs(&combined)
        .into_iter()
        .map(|(.., cost)| cost)
        .collect();
    assert_eq!(names, [7.0, 0.0]);
}

fn lambdas(lines: [u32; 2]) -> Vec<u8> {
    let frame = |number: u32, line: u32, samples: u32| {
        format!(
            r#""{number}":{{"name":"<lambda>","file":"a.rb","line":{line},"total_samples":{samples},"samples":{samples}}}"#
        )
    };
    let frames = [frame(1, lines[0], 1), frame(2, lines[1], 2)].join(",");
    let text = format!(
        r#"{{"version":1.2,"mode":"wall","interval":1000,"samples":3,"gc_samples":0,"missed_samples":0,"frames":{{{frames}}}}}"#
    );
    text.into_bytes()
}

#[test]
fn functions_of_one_name_and_file_are_apart_only_within_one_build() {
    let lambda = |line, cost| ("<lambda>".to_owned(), line, cost);
    let sum = |second: [u32; 2]| {
        let (first, second) = (lambdas([14, 20]), lambdas(second));
        let (database, runs) = stored(&[("stackprof", &first), ("stackprof", &second)]);
        costs(&combine(&database, &runs, Combination::Sum))
    };
    assert_eq!(sum([14, 20]), [lambda(14, 2.0), lambda(20, 4.0)]);
    // All lines have moved.
    assert_eq!(sum([15, 21]), [lambda(15, 6.0)]);
}

#[test]
fn runs_of_different_metrics_are_refused_with_runs_and_metrics() {
    let (database, runs) = stored(&[
        ("folded", b"main 1\n"),
        ("folded", b"main 2\n"),
        (
            "ghc_prof",
            &of_group("ghc_prof")
                .iter()
                .find(|case| case.name().ends_with("/minimal"))
                .expect("a case")
                .inputs()[0]
                .1,
        ),
    ]);
    let refused = database.combine_runs(&runs, Combination::Sum, "1,2,3", Path::new("."));
    let Err(CombineError::Unpaired(message)) = refused else {
        panic!("{refused:?}");
    };
    assert!(
        message.contains("metric samples: count (unknown) in runs 1, 2, not in run 3"),
        "{message}"
    );
}
