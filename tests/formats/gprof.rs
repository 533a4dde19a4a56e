//! Every figure of the reports in `tests/samples/gprof/` against our tables: the rows of the flat
//! profile, and each line of each block of the call graph, read here by their columns
//! (docs/conformance.md).

use std::collections::{BTreeMap, BTreeSet};

use crate::support::samples_of::{imported, rows, text, total};
use profdb::store::Database;

/// Where the columns of the call graph end: index and share of the time, own time, time of what was
/// called. Calls may take more room than theirs.
const COLUMNS: [usize; 3] = [12, 20, 28];

/// A line of the call graph.
#[derive(Debug)]
struct Line {
    is_function: bool,
    own: Option<f64>,
    others: Option<f64>,
    calls: String,
    name: String,
    number: String,
    in_circle: bool,
}

fn line(text: &str) -> Line {
    let cell = |from: usize, to: usize| {
        text.get(from..to.min(text.len()))
            .unwrap_or_default()
            .trim()
    };
    let rest = cell(COLUMNS[2], text.len());
    let (calls, name) = match rest.split_once(' ') {
        Some((calls, name)) if calls.starts_with(|first: char| first.is_ascii_digit()) => {
            (calls, name.trim())
        }
        _ => ("", rest),
    };
    let (name, number) = name.rsplit_once(" [").unwrap_or((name, ""));
    Line {
        is_function: text.starts_with('['),
        own: cell(COLUMNS[0], COLUMNS[1]).parse().ok(),
        others: cell(COLUMNS[1], COLUMNS[2]).parse().ok(),
        calls: calls.to_owned(),
        name: name.split(" <cycle").next().unwrap_or_default().to_owned(),
        number: number.trim_end_matches(']').to_owned(),
        in_circle: name.contains(" <cycle"),
    }
}

fn blocks(report: &str) -> Vec<Vec<Line>> {
    let (_, graph) = report
        .split_once("called     name\n")
        .expect("a call graph");
    let (graph, _) = graph.split_once("\n\n").expect("its end");
    let dashes = "-----------------------------------------------\n";
    let lines = |block: &str| {
        block
            .lines()
            .map(|text| line(text.trim_end()))
            .collect::<Vec<_>>()
    };
    graph
        .split(dashes)
        .map(lines)
        .filter(|block| block.iter().any(|line| line.is_function))
        .collect()
}

/// Files of functions, by number.
fn files(report: &str) -> BTreeMap<String, String> {
    let (_, index) = report
        .split_once("Index by function name\n")
        .expect("an index");
    let mut files = BTreeMap::new();
    for entry in index.split('[').skip(1) {
        let (number, name) = entry.split_once(']').expect("a number");
        if let Some((_, file)) = name.split_once('(') {
            files.insert(
                number.to_owned(),
                file.split(')').next().unwrap_or_default().to_owned(),
            );
        }
    }
    files
}

/// Name and file.
type Key = (String, String);

type Figures = (Option<i64>, Option<i64>, f64, Option<f64>);

/// Calls, primitive calls, own and cumulative seconds.
fn functions(database: &Database) -> BTreeMap<Key, Figures> {
    let sql = "SELECT s.function, s.file, s.calls, i.primitive, s.exclusive / 1e9, s.cumulative / 1e9 FROM summary AS s
               JOIN function_info AS i USING (function_id)";
    let row = |row: &rusqlite::Row<'_>| {
        Ok((
            (row.get(0)?, row.get(1)?),
            (row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?),
        ))
    };
    rows(database, sql, row).into_iter().collect()
}

/// By caller (none at the root) and callee: calls, own and cumulative seconds.
type Pairs = BTreeMap<(Option<Key>, Key), (Option<i64>, Option<f64>, Option<f64>)>;

fn pairs(database: &Database) -> Pairs {
    let sql = "SELECT caller, caller_file, function, file, calls, exclusive / 1e9, cumulative / 1e9 FROM calls";
    let row = |row: &rusqlite::Row<'_>| {
        let caller = row
            .get::<_, Option<String>>(0)?
            .zip(row.get::<_, Option<String>>(1)?);
        Ok((
            (caller, (row.get(2)?, row.get(3)?)),
            (row.get(4)?, row.get(5)?, row.get(6)?),
        ))
    };
    rows(database, sql, row).into_iter().collect()
}

fn close(found: Option<f64>, expected: Option<f64>) -> bool {
    match (found, expected) {
        (Some(found), Some(expected)) => (found - expected).abs() < 1e-9,
        (found, expected) => found.is_none() && expected.is_none(),
    }
}

#[test]
fn every_line_of_the_call_graph() {
    let report = text("gprof/gprof-b.txt");
    let database = imported("gprof", &report);
    let (functions, mut pairs) = (functions(&database), pairs(&database));
    let files = files(&report);
    let key = |line: &Line| {
        (
            line.name.clone(),
            files.get(&line.number).cloned().unwrap_or_default(),
        )
    };
    let blocks = blocks(&report);
    let (mut compared, mut told) = (0, BTreeSet::new());
    let mut in_circle = (0.0, 0.0);
    let mut circle = None;
    for block in &blocks {
        let at = block
            .iter()
            .position(|line| line.is_function)
            .expect("a function");
        let function = &block[at];
        if function.name.starts_with("<cycle") || function.name.is_empty() {
            circle = function.own.zip(function.others);
            continue;
        }
        let (calls, primitive, own, cumulative) = functions[&key(function)];
        compared += 1;
        let (own_here, others) = (
            function.own.expect("own time"),
            function.others.expect("time of others"),
        );
        assert!(close(Some(own), Some(own_here)), "{function:?}");
        let counts: Vec<i64> = function
            .calls
            .split('+')
            .filter_map(|calls| calls.parse().ok())
            .collect();
        assert_eq!(
            calls,
            counts.iter().copied().reduce(|one, other| one + other),
            "{function:?}"
        );
        // In a circle gprof divides the time among its members without what they call of each
        // other.
        if function.in_circle {
            assert_eq!((primitive, cumulative), (None, None), "{function:?}");
            in_circle = (in_circle.0 + own_here, in_circle.1 + others);
        } else {
            assert_eq!(primitive, counts.first().copied(), "{function:?}");
            assert!(close(cumulative, Some(own_here + others)), "{function:?}");
        }
        for (number, line) in block.iter().enumerate().filter(|(number, _)| *number != at) {
            let (caller, callee) = if number < at {
                (line, function)
            } else {
                (function, line)
            };
            if line.name == "<spontaneous>" {
                let (calls, own, cumulative) = pairs[&(None, key(function))];
                assert_eq!(calls, None, "{function:?}");
                assert!(
                    close(own, function.own) && close(cumulative, Some(own_here + others)),
                    "{function:?}"
                );
                told.insert((None, key(function)));
                continue;
            }
            let pair = (Some(key(caller)), key(callee));
            let (calls, own, cumulative) = pairs[&pair];
            let count = line
                .calls
                .split('/')
                .next()
                .and_then(|calls| calls.parse().ok());
            assert_eq!(calls, count, "{line:?}");
            // Who calls itself costs itself nothing more; what members of a circle cost each other
            // is unknown, and what one costs from outside is the whole circle.
            let itself = pair.0.as_ref() == Some(&pair.1);
            let whole = line.own.zip(line.others).map(|(own, others)| own + others);
            assert!(
                close(cumulative, if itself { Some(0.0) } else { whole }),
                "{line:?}"
            );
            assert!(
                close(own, if callee.in_circle { None } else { line.own }),
                "{line:?}"
            );
            told.insert(pair);
        }
    }
    assert_eq!(compared, functions.len());
    pairs.retain(|pair, _| !told.contains(pair));
    assert_eq!(pairs, BTreeMap::new(), "what the report does not have");
    let circle = circle.expect("a circle");
    // Members and the whole are rounded for themselves.
    assert!(
        (circle.0 - in_circle.0).abs() < 0.015 && (circle.1 - in_circle.1).abs() < 0.015,
        "{circle:?} {in_circle:?}"
    );
}

/// Name, own seconds, calls, milliseconds per call: own, and with what was called.
type FlatRow = (String, f64, Option<i64>, Option<[f64; 2]>);

fn flat(report: &str) -> Vec<FlatRow> {
    let (_, table) = report.split_once("ms/call  name    \n").expect("a table");
    let rows = table
        .lines()
        .take_while(|row| !row.trim().is_empty())
        .map(|row| {
            let words: Vec<&str> = row.split_whitespace().collect();
            let figure = |at: usize| words[at].parse::<f64>().expect("a figure");
            let is_counted = words.len() == 7;
            let averages = is_counted.then(|| [figure(4), figure(5)]);
            let calls = is_counted.then(|| words[3].parse().expect("calls"));
            (
                words[words.len() - 1].to_owned(),
                figure(2),
                calls,
                averages,
            )
        });
    rows.collect()
}

#[test]
#[expect(clippy::cast_precision_loss, reason = "few calls")]
fn every_row_of_the_flat_profile() {
    let graph = imported("gprof", &text("gprof/gprof-b.txt"));
    let report = text("gprof/flat-b.txt");
    let expected = flat(&report);
    assert_eq!(flat(&text("gprof/gprof-b.txt")), expected);
    assert_eq!(expected.len(), 10);
    let seconds: f64 = expected.iter().map(|(_, own, ..)| own).sum();
    assert!(close(Some(total(&graph, "time") / 1e9), Some(seconds)));
    // The flat profile alone: own times and calls, without those that functions make of themselves.
    let alone = imported("gprof", &report);
    assert!(close(Some(total(&alone, "time") / 1e9), Some(seconds)));
    let sql = "SELECT function, exclusive / 1e9, calls FROM summary ORDER BY exclusive DESC, function, calls";
    let found: Vec<(String, f64, Option<i64>)> = rows(&alone, sql, |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?))
    });
    let mut rows: Vec<(String, f64, Option<i64>)> = expected
        .iter()
        .map(|(name, own, calls, _)| (name.clone(), *own, *calls))
        .collect();
    rows.sort_by(|one, other| {
        other
            .1
            .total_cmp(&one.1)
            .then_with(|| (&one.0, one.2).cmp(&(&other.0, other.2)))
    });
    assert_eq!(found, rows);
    // The call graph says the same. Averages are of calls from others; times are rounded before we
    // can divide them.
    let functions = functions(&graph);
    for (name, own, calls, averages) in expected {
        let fits = |(key, figures): &(&Key, &Figures)| {
            key.0 == name
                && close(Some(figures.2), Some(own))
                && calls.is_none_or(|calls| figures.0 >= Some(calls))
        };
        let (_, (all, primitive, own, cumulative)) =
            functions.iter().find(fits).expect("a function");
        assert_eq!(calls, primitive.or(*all), "{name}");
        let Some((calls, [own_per_call, all_per_call])) = calls.zip(averages) else {
            continue;
        };
        let rounded = 5.0 / calls as f64 + 0.005;
        let per_call = |seconds: f64| 1e3 * seconds / calls as f64;
        assert!(
            (per_call(*own) - own_per_call).abs() <= rounded + 1e-9,
            "{name}"
        );
        if let Some(cumulative) = cumulative {
            // Own time and that of others are rounded each.
            assert!(
                (per_call(*cumulative) - all_per_call).abs() <= 2.0 * rounded,
                "{name}"
            );
        }
    }
}
