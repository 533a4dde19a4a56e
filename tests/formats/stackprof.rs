//! Every figure of the recordings in `tests/samples/stackprof/` against what stackprof prints of
//! them, and against sums over the JSON that share no code with the importer
//! (docs/conformance.md).

#![expect(
    clippy::float_cmp,
    clippy::cast_precision_loss,
    reason = "samples are whole numbers, and few"
)]

use std::collections::{BTreeMap, BTreeSet};

use crate::support::samples_of::{bytes, imported, rows, text, total};
use crate::support::stack_sums;
use profdb::store::Database;
use serde_json::Value;

/// Those with stacks first.
const RECORDINGS: [(&str, &str); 8] = [
    ("cpu-raw", "cpu-raw.json.gz"),
    ("wall-raw", "wall-raw.json.gz"),
    ("object-raw", "object-raw.json.gz"),
    ("custom", "custom.json"),
    ("object", "object.json"),
    ("wall", "wall.json"),
    ("flat", "flat.json"),
    ("merged", "merged.json"),
];

const WITH_STACKS: [(&str, &str); 4] = [
    ("cpu-raw", "cpu-raw.folded.gz"),
    ("wall-raw", "wall-raw.folded.gz"),
    ("object-raw", "object-raw.folded.gz"),
    ("custom", "custom.folded"),
];

/// Name, file, first line.
type Key = (String, String, i64);

fn each(mut check: impl FnMut(&str, &Value, &Database)) {
    for (name, file) in RECORDINGS {
        let profile = bytes(&format!("stackprof/{file}"));
        let json = serde_json::from_slice(&profile).expect("JSON");
        check(name, &json, &imported("stackprof", &profile));
    }
}

fn count(value: &Value) -> f64 {
    value.as_u64().expect("a count") as f64
}

fn key(frame: &Value) -> Key {
    let text = |name: &str| frame[name].as_str().unwrap_or_default().to_owned();
    let line = frame["line"].as_i64().unwrap_or_default();
    (text("name"), text("file"), line)
}

fn frames(json: &Value) -> &serde_json::Map<String, Value> {
    json["frames"].as_object().expect("frames")
}

/// By function: own samples, cumulative ones, with every level counted.
fn functions(database: &Database) -> BTreeMap<Key, (f64, Option<f64>, Option<f64>)> {
    let sql = "SELECT f.name, f.file, f.first_line, i.exclusive, i.cumulative, i.seen
               FROM function_info AS i
               JOIN functions AS f USING (function_id)
               JOIN metrics AS m USING (metric_id)
               WHERE m.name = 'samples'";
    let found = rows(database, sql, |row| {
        let key: Key = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok((key, (row.get(3)?, row.get(4)?, row.get(5)?)))
    });
    found.into_iter().collect()
}

/// By the names of caller and callee, every level counted.
fn pairs(database: &Database) -> BTreeMap<(String, String), f64> {
    let sql = "SELECT a.name, b.name, sum(e.seen)
               FROM edges AS e
               JOIN functions AS a ON a.function_id = e.caller_id
               JOIN functions AS b ON b.function_id = e.callee_id
               JOIN metrics AS m USING (metric_id)
               WHERE m.name = 'samples'
               GROUP BY a.name, b.name";
    let found = rows(database, sql, |row| {
        Ok(((row.get(0)?, row.get(1)?), row.get(2)?))
    });
    found.into_iter().collect()
}

/// Figures that stackprof prints of one name: own samples and all, a row for each of its ids.
fn printed(report: &str) -> BTreeMap<String, Vec<(f64, f64)>> {
    let (_, table) = report.split_once("FRAME\n").expect("a table");
    let mut rows: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    for line in table.lines() {
        let (figures, name) = line.split_at(line.rfind(")     ").expect("a name") + 6);
        let mut words = figures.split_whitespace();
        let mut next = || {
            let figure = words.next().and_then(|word| word.parse().ok());
            words.next();
            figure.expect("a figure")
        };
        let (all, own) = (next(), next());
        rows.entry(name.to_owned()).or_default().push((own, all));
    }
    rows
}

#[test]
fn what_text_prints() {
    each(|name, json, database| {
        let report = text(&format!("stackprof/{name}.text.txt"));
        let head = report.lines().nth(2).expect("a head");
        let samples = count(&json["samples"]);
        assert!(
            head.starts_with(&format!("  Samples: {samples} (")),
            "{head}"
        );
        assert_eq!(total(database, "samples"), samples);
        let mut found: BTreeMap<String, Vec<(f64, Option<f64>)>> = BTreeMap::new();
        for ((function, ..), (own, all, _)) in functions(database) {
            found.entry(function).or_default().push((own, all));
        }
        let printed = printed(&report);
        assert_eq!(
            found.keys().collect::<Vec<_>>(),
            printed.keys().collect::<Vec<_>>(),
            "{name}"
        );
        for (function, mut rows) in printed {
            let found = found.get_mut(&function).expect("a function");
            let own = |sum: f64, own: f64| sum + own;
            if found.len() == rows.len() {
                found.sort_by(|a, b| a.partial_cmp(b).expect("numbers"));
                rows.sort_by(|a, b| a.partial_cmp(b).expect("numbers"));
                let rows: Vec<_> = rows
                    .into_iter()
                    .map(|(own, all)| (own, Some(all)))
                    .collect();
                assert_eq!(*found, rows, "{name}: {function}");
            } else {
                // Several ids of one function, each around the next.
                let [(sum, all)] = found.as_slice() else {
                    panic!("{name}: {function}: {found:?}");
                };
                assert_eq!(*sum, rows.iter().map(|row| row.0).fold(0.0, own));
                let most = rows.iter().map(|row| row.1).fold(0.0, f64::max);
                assert!(all.is_none_or(|all| all == most), "{name}: {function}");
            }
        }
    });
}

/// Callers and callees of every function, by name.
#[test]
fn what_method_prints() {
    each(|name, _, database| {
        let report = text(&format!("stackprof/{name}.method.txt.gz"));
        let pairs = pairs(database);
        let mut by_caller: BTreeMap<(String, String), f64> = BTreeMap::new();
        let mut by_callee = by_caller.clone();
        let (mut function, mut part) = (String::new(), "");
        for line in report.lines() {
            match line.trim_start() {
                part_of @ ("callers:" | "code:") => part = part_of,
                part_of if part_of.starts_with("callees (") => part = "callees",
                _ if !line.starts_with(' ') => {
                    let end = line.rfind(" (").expect("a file");
                    line[..end].clone_into(&mut function);
                    part = "";
                }
                row if part == "callers:" || part == "callees" => {
                    let (figure, rest) = row.split_once(' ').expect("a figure");
                    let (_, other) = rest.split_once(")  ").expect("a name");
                    let sums = if part == "callees" {
                        by_caller.entry((function.clone(), other.to_owned()))
                    } else {
                        by_callee.entry((other.to_owned(), function.clone()))
                    };
                    *sums.or_default() += figure.parse::<f64>().expect("a figure");
                }
                _ => {}
            }
        }
        if name == "flat" {
            assert!(by_caller.is_empty() && by_callee.is_empty() && pairs.is_empty());
            return;
        }
        assert!(!pairs.is_empty(), "{name}");
        assert_eq!(by_caller, pairs, "{name}: callees");
        assert_eq!(by_callee, pairs, "{name}: callers");
    });
}

/// Stacks, with runs of one stack added up.
#[test]
fn what_stackcollapse_prints() {
    for (name, folded) in WITH_STACKS {
        let (_, file) = RECORDINGS
            .iter()
            .find(|(other, _)| *other == name)
            .expect("a recording");
        let database = imported("stackprof", &bytes(&format!("stackprof/{file}")));
        let folded = text(&format!("stackprof/{folded}"));
        let line = |line: &str| {
            let (stack, samples) = line.rsplit_once(' ').expect("a figure");
            let stack: Vec<String> = stack.split(';').map(str::to_owned).collect();
            (stack, samples.parse::<f64>().expect("a figure"))
        };
        let mut expected: BTreeMap<Vec<String>, f64> = BTreeMap::new();
        for (stack, samples) in folded.lines().map(line) {
            *expected.entry(stack).or_default() += samples;
        }
        let sql = "SELECT t.depth, t.function, t.exclusive
                   FROM tree AS t
                   WHERE t.metric = 'samples' AND t.line IS NULL
                   ORDER BY t.node_id";
        let nodes = rows(&database, sql, |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        });
        let mut found: BTreeMap<Vec<String>, f64> = BTreeMap::new();
        let mut stack: Vec<String> = Vec::new();
        for (depth, function, own) in nodes {
            let (depth, own): (u16, f64) = (depth, own);
            let depth = usize::from(depth);
            stack.truncate(depth);
            stack.push(function);
            assert_eq!(stack.len(), depth + 1);
            if own > 0.0 {
                *found.entry(stack.clone()).or_default() += own;
            }
        }
        assert_eq!(found, expected, "{name}");
        // Functions of one name are one there.
        let stacks: Vec<_> = expected.into_iter().collect();
        let by_name = stack_sums::functions_of(&stacks);
        for ((function, ..), (_, all, seen)) in functions(&database) {
            let [_, most, most_seen] = by_name[&function];
            assert!(all.is_some_and(|all| all <= most), "{name}: {function}");
            assert!(seen.is_some_and(|seen| seen <= most_seen));
        }
    }
}

/// What is derived of stacks where there are some, else what the file says.
#[test]
fn sums_over_the_json() {
    each(|name, json, database| {
        let mut own: BTreeMap<Key, f64> = BTreeMap::new();
        let mut totals: BTreeMap<Key, Vec<f64>> = BTreeMap::new();
        let mut lines: BTreeMap<(Key, i64), (f64, f64)> = BTreeMap::new();
        for frame in frames(json).values() {
            *own.entry(key(frame)).or_default() += count(&frame["samples"]);
            let totals = totals.entry(key(frame)).or_default();
            totals.push(count(&frame["total_samples"]));
            for (line, pair) in frame["lines"].as_object().into_iter().flatten() {
                let line = line.parse().expect("a line");
                let sums = lines.entry((key(frame), line)).or_default();
                *sums = (sums.0 + count(&pair[0]), sums.1 + count(&pair[1]));
            }
        }
        let (mut once, mut seen) = (BTreeMap::new(), BTreeMap::new());
        let raw = json["raw"].as_array().map_or(&[][..], Vec::as_slice);
        let mut rest = raw.iter();
        while let Some(length) = rest.next() {
            let length = usize::try_from(length.as_u64().expect("a length")).expect("a length");
            let stack: Vec<Key> = rest
                .by_ref()
                .take(length)
                .map(|id| key(&frames(json)[&id.to_string()]))
                .collect();
            let samples = count(rest.next().expect("a count"));
            for function in &stack {
                *seen.entry(function.clone()).or_insert(0.0) += samples;
            }
            for function in stack.into_iter().collect::<BTreeSet<_>>() {
                *once.entry(function).or_insert(0.0) += samples;
            }
        }
        let functions = functions(database);
        assert_eq!(functions.len(), own.len(), "{name}");
        for (function, (exclusive, cumulative, every)) in &functions {
            assert_eq!(*exclusive, own[function], "{name}: {function:?}");
            if raw.is_empty() {
                if let [all] = totals[function].as_slice() {
                    assert_eq!(*cumulative, Some(*all), "{name}: {function:?}");
                }
            } else {
                assert_eq!(cumulative.as_ref(), once.get(function));
                assert_eq!(every.as_ref(), seen.get(function));
            }
        }
        let sql = "SELECT f.name, f.file, f.first_line, i.line, i.exclusive, i.cumulative
                   FROM line_info AS i
                   JOIN functions AS f USING (function_id)
                   JOIN metrics AS m USING (metric_id)
                   WHERE m.name = 'samples'";
        let found = rows(database, sql, |row| {
            let key: Key = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(((key, row.get(3)?), (row.get(4)?, row.get(5)?)))
        });
        assert_eq!(found.len(), lines.len(), "{name}");
        for (line, (exclusive, cumulative)) in found {
            let (exclusive, cumulative): (f64, Option<f64>) = (exclusive, cumulative);
            assert_eq!(exclusive, lines[&line].1, "{name}: {line:?}");
            assert!(cumulative.is_none_or(|all| all == lines[&line].0));
        }
    });
}

/// Every sample stands for an interval of time, or for as many allocations.
#[test]
fn time_and_allocations() {
    each(|name, json, database| {
        let samples = count(&json["samples"]);
        match json["mode"].as_str() {
            Some("cpu" | "wall") => {
                let interval = count(&json["interval"]);
                assert_eq!(total(database, "time"), samples * interval * 1e3, "{name}");
            }
            Some("object") => {
                let interval = count(&json["interval"]);
                let all = total(database, "allocations");
                assert_eq!(all, samples * interval, "{name}");
                // Those that were looked at, and those that were not.
                let counted = samples + count(&json["missed_samples"]);
                assert!((0.0..interval).contains(&(counted - all)), "{name}");
            }
            _ => assert_eq!(total(database, "time"), 0.0, "{name}"),
        }
    });
}
