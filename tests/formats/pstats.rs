//! Every figure of what Python's `pstats` says of the profile in `tests/samples/pstats/` against
//! our tables. Where `pstats` merges functions or leaves something out, a rule does the same here
//! (docs/conformance.md).

#![allow(
    clippy::similar_names,
    reason = "caller and callee are the field's words"
)]

use std::collections::{BTreeMap, BTreeSet};

use crate::support::samples_of::{bytes, imported, rows, text, total};
use profdb::store::Database;
use serde_json::Value;

/// File, line, name.
type Key = (String, u32, String);

/// What is said of a function: calls, primitive calls, own and cumulative seconds.
type Figures = (i64, i64, f64, f64);

/// What is said of a pair: calls, the callee's own seconds, its cumulative ones.
type Pair = (i64, f64, f64);

fn database() -> Database {
    imported("pstats", &bytes("pstats/work.pstats"))
}

fn functions(database: &Database) -> BTreeMap<Key, Figures> {
    let sql = "SELECT f.file, f.first_line, f.name, s.calls, i.primitive, s.exclusive / 1e9, s.cumulative / 1e9
               FROM summary AS s
               JOIN functions AS f USING (function_id)
               JOIN function_info AS i USING (function_id)";
    let row = |row: &rusqlite::Row<'_>| {
        let key: Key = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok((key, (row.get(3)?, row.get(4)?, row.get(5)?, row.get(6)?)))
    };
    rows(database, sql, row).into_iter().collect()
}

/// By caller and callee.
fn pairs(database: &Database) -> BTreeMap<(Key, Key), Pair> {
    let sql = "SELECT a.file, a.first_line, a.name, b.file, b.first_line, b.name, e.calls, e.exclusive / 1e9,
                      e.cumulative / 1e9
               FROM edges AS e
               JOIN functions AS a ON a.function_id = e.caller_id
               JOIN functions AS b ON b.function_id = e.callee_id";
    let row = |row: &rusqlite::Row<'_>| {
        let caller: Key = (row.get(0)?, row.get(1)?, row.get(2)?);
        let callee: Key = (row.get(3)?, row.get(4)?, row.get(5)?);
        Ok(((caller, callee), (row.get(6)?, row.get(7)?, row.get(8)?)))
    };
    rows(database, sql, row).into_iter().collect()
}

/// What is built in has the file `~` there.
fn key(value: &Value) -> Key {
    let file = value["file"].as_str().expect("a file");
    let line = u32::try_from(value["line"].as_u64().expect("a line")).expect("a line");
    (
        file.replace('~', ""),
        line,
        value["name"].as_str().expect("a name").to_owned(),
    )
}

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-9 * expected.abs()
}

#[test]
fn every_row_to_the_last_digit() {
    let stats: Value = serde_json::from_str(&text("pstats/work.stats.json.gz")).expect("JSON");
    let database = database();
    let (functions, pairs) = (functions(&database), pairs(&database));
    let rows = stats["stats"].as_array().expect("rows");
    assert_eq!(functions.len(), rows.len());
    let mut callers = 0;
    for row in rows {
        let callee = key(row);
        let figure = |row: &Value, name: &str| row[name].as_f64().expect("a figure");
        let count = |row: &Value, name: &str| row[name].as_i64().expect("a count");
        let (calls, primitive, own, all) = functions[&callee];
        assert_eq!(
            (calls, primitive),
            (count(row, "nc"), count(row, "cc")),
            "{callee:?}"
        );
        assert!(
            close(own, figure(row, "tt")) && close(all, figure(row, "ct")),
            "{callee:?}"
        );
        for caller in row["callers"].as_array().expect("callers") {
            let (calls, own, all) = pairs[&(key(caller), callee.clone())];
            assert_eq!(calls, count(caller, "nc"), "{callee:?}");
            assert!(
                close(own, figure(caller, "tt")) && close(all, figure(caller, "ct")),
                "{callee:?}"
            );
            callers += 1;
        }
    }
    assert_eq!(pairs.len(), callers);
    let sum: (i64, i64, f64) = functions
        .values()
        .fold((0, 0, 0.0), |sum, (calls, primitive, own, _)| {
            (sum.0 + calls, sum.1 + primitive, sum.2 + own)
        });
    assert_eq!(
        (sum.0, sum.1),
        (
            stats["total_calls"].as_i64().unwrap(),
            stats["prim_calls"].as_i64().unwrap()
        )
    );
    let seconds = stats["total_tt"].as_f64().expect("seconds");
    assert!(close(sum.2, seconds));
    assert!(close(total(&database, "time"), 1e9 * seconds));
}

/// How `pstats` writes a function.
fn shown((file, line, name): &Key) -> String {
    match name
        .strip_prefix('<')
        .and_then(|name| name.strip_suffix('>'))
    {
        Some(name) if file.is_empty() && *line == 0 => format!("{{{name}}}"),
        _ if file.is_empty() && *line == 0 => name.clone(),
        _ => format!("{file}:{line}({name})"),
    }
}

/// How it writes calls: all of them, and the primitive ones where they differ.
fn calls_of(calls: i64, primitive: i64) -> String {
    if calls == primitive {
        calls.to_string()
    } else {
        format!("{calls}/{primitive}")
    }
}

#[test]
fn what_print_stats_prints() {
    let database = database();
    let functions = functions(&database);
    for report in ["pstats/work.cumulative.txt", "pstats/work.tottime.txt"] {
        let report = text(report);
        let (head, table) = report
            .split_once("filename:lineno(function)\n")
            .expect("a table");
        let sum = |figure: fn(&Figures) -> i64| functions.values().map(figure).sum::<i64>();
        let seconds: f64 = functions.values().map(|figures| figures.2).sum();
        let (calls, primitive) = (sum(|figures| figures.0), sum(|figures| figures.1));
        let line =
            format!("{calls} function calls ({primitive} primitive calls) in {seconds:.3} seconds");
        assert!(head.contains(&line), "{head}");
        let printed: BTreeSet<String> = table
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        #[expect(clippy::cast_precision_loss, reason = "few calls")]
        let row = |(key, (calls, primitive, own, all)): (&Key, &Figures)| {
            let per_call = [own / *calls as f64, all / *primitive as f64];
            let [own_per_call, all_per_call] = per_call;
            let calls = calls_of(*calls, *primitive);
            let line = format!(
                "{calls} {own:.3} {own_per_call:.3} {all:.3} {all_per_call:.3} {}",
                shown(key)
            );
            line.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let mut expected: BTreeSet<String> = functions.iter().map(row).collect();
        expected.insert(String::new());
        assert_eq!(printed, expected);
    }
}

/// `strip_dirs` leaves the last part of the file; functions that are then equal are added up.
fn stripped((file, line, name): &Key) -> Key {
    (
        file.rsplit('/').next().unwrap_or_default().to_owned(),
        *line,
        name.clone(),
    )
}

/// The pairs of a report of callers or callees: whose block it is, the other one, calls, own and
/// cumulative seconds. Primitive calls of a pair, the second number after a slash, are not kept
/// here.
fn printed(report: &str, arrow: &str) -> BTreeSet<(String, String, i64, String, String)> {
    let (_, table) = report.split_once("cumtime\n").expect("a table");
    let mut block = String::new();
    let mut found = BTreeSet::new();
    for line in table.lines() {
        let rest = match line.split_once(&format!(" {arrow} ")) {
            Some((name, rest)) => {
                name.trim_end().clone_into(&mut block);
                rest
            }
            None => line,
        };
        let mut words = rest.split_whitespace();
        let (Some(calls), Some(own), Some(all)) = (words.next(), words.next(), words.next()) else {
            continue;
        };
        let calls = calls
            .split('/')
            .next()
            .and_then(|calls| calls.parse().ok())
            .expect("calls");
        let other = words.collect::<Vec<_>>().join(" ");
        found.insert((block.clone(), other, calls, own.to_owned(), all.to_owned()));
    }
    found
}

#[test]
fn what_print_callers_and_print_callees_print() {
    let database = database();
    let mut merged: BTreeMap<(Key, Key), Pair> = BTreeMap::new();
    for ((caller, callee), (calls, own, all)) in pairs(&database) {
        let sum = merged
            .entry((stripped(&caller), stripped(&callee)))
            .or_default();
        *sum = (sum.0 + calls, sum.1 + own, sum.2 + all);
    }
    let row = |block: &Key, other: &Key, (calls, own, all): &Pair| {
        (
            shown(block),
            shown(other),
            *calls,
            format!("{own:.3}"),
            format!("{all:.3}"),
        )
    };
    let callers = merged
        .iter()
        .map(|((caller, callee), pair)| row(callee, caller, pair));
    assert_eq!(
        printed(&text("pstats/work.callers.txt.gz"), "<-"),
        callers.collect()
    );
    let callees = merged
        .iter()
        .map(|((caller, callee), pair)| row(caller, callee, pair));
    assert_eq!(
        printed(&text("pstats/work.callees.txt.gz"), "->"),
        callees.collect()
    );
}
