//! Every figure of the profile in `tests/samples/speedscope/` against our views: the lengths that
//! the file states, and sums over its samples, by the definitions (docs/conformance.md).

#![expect(
    clippy::float_cmp,
    reason = "hundredths of a second are whole nanoseconds"
)]

use std::collections::{BTreeMap, BTreeSet};

use crate::support::samples_of::{imported, rows, text, total};
use profdb::store::Database;
use serde_json::{Value, json};

/// A frame: function, file, line.
type Key = (String, String, u32);

/// Function and file.
type Function = (String, String);

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn frames(file: &Value) -> Vec<Key> {
    let frame = |frame: &Value| {
        let text = |member: &str| frame[member].as_str().unwrap_or_default().to_owned();
        let line = frame["line"]
            .as_u64()
            .and_then(|line| u32::try_from(line).ok());
        (text("name"), text("file"), line.unwrap_or(0))
    };
    list(&file["shared"]["frames"]).iter().map(frame).collect()
}

/// All samples, in nanoseconds.
fn samples(file: &Value) -> Vec<(Vec<Key>, f64)> {
    let frames = frames(file);
    let mut samples = Vec::new();
    for profile in list(&file["profiles"]) {
        for (stack, weight) in list(&profile["samples"])
            .iter()
            .zip(list(&profile["weights"]))
        {
            let frame = |number: &Value| {
                frames[usize::try_from(number.as_u64().expect("a number")).expect("a small one")]
                    .clone()
            };
            samples.push((
                list(stack).iter().map(frame).collect(),
                1e9 * number(weight),
            ));
        }
    }
    samples
}

fn function((name, file, _): &Key) -> Function {
    (name.clone(), file.clone())
}

/// Exclusive and cumulative cost: everything in a stack counts once.
fn sums<K: Ord + Clone>(
    samples: &[(Vec<Key>, f64)],
    key: impl Fn(&Key) -> Option<K>,
) -> BTreeMap<K, [f64; 2]> {
    let mut sums: BTreeMap<K, [f64; 2]> = BTreeMap::new();
    for (stack, cost) in samples {
        if let Some(own) = stack.last().and_then(&key) {
            sums.entry(own).or_default()[0] += cost;
        }
        for each in stack.iter().filter_map(&key).collect::<BTreeSet<_>>() {
            sums.entry(each).or_default()[1] += cost;
        }
    }
    sums
}

fn functions(database: &Database) -> BTreeMap<Function, [f64; 2]> {
    let sql = "SELECT function, file, exclusive, cumulative FROM summary WHERE metric = 'time'";
    rows(database, sql, |row| {
        Ok(((row.get(0)?, row.get(1)?), [row.get(2)?, row.get(3)?]))
    })
    .into_iter()
    .collect()
}

fn lines(database: &Database) -> BTreeMap<Key, [f64; 2]> {
    let sql = "SELECT function, file, line, exclusive, cumulative FROM lines WHERE metric = 'time'";
    rows(database, sql, |row| {
        Ok((
            (row.get(0)?, row.get(1)?, row.get(2)?),
            [row.get(3)?, row.get(4)?],
        ))
    })
    .into_iter()
    .collect()
}

fn callees(database: &Database) -> BTreeMap<(Function, Function), f64> {
    let sql =
        "SELECT function, file, callee, callee_file, cumulative FROM callees WHERE metric = 'time'";
    rows(database, sql, |row| {
        Ok((
            ((row.get(0)?, row.get(1)?), (row.get(2)?, row.get(3)?)),
            row.get(4)?,
        ))
    })
    .into_iter()
    .collect()
}

/// Compares all views with sums over the samples.
fn compare(file: &Value, database: &Database) {
    let samples = samples(file);
    assert_eq!(
        total(database, "time"),
        samples.iter().map(|(_, cost)| cost).sum::<f64>()
    );
    let expected = sums(&samples, |frame| Some(function(frame)));
    assert!(expected.len() >= 50, "{}", expected.len());
    assert_eq!(functions(database), expected);
    let of_line = |frame: &Key| (frame.2 != 0).then(|| frame.clone());
    assert_eq!(lines(database), sums(&samples, of_line));
    let mut pairs: BTreeMap<(Function, Function), f64> = BTreeMap::new();
    for (stack, cost) in &samples {
        let pair = |pair: &[Key]| (function(&pair[0]), function(&pair[1]));
        for pair in stack.windows(2).map(pair).collect::<BTreeSet<_>>() {
            *pairs.entry(pair).or_default() += cost;
        }
    }
    assert_eq!(callees(database), pairs);
}

#[test]
fn samples_of_py_spy() {
    let text = text("speedscope/work.speedscope.json");
    let file: Value = serde_json::from_str(&text).expect("JSON");
    let database = imported("speedscope", &text);
    compare(&file, &database);
    let sql = "SELECT t.function, f.kind, t.cumulative FROM tree AS t
               JOIN nodes AS n USING (node_id)
               JOIN functions AS f USING (function_id)
               WHERE t.run_id = 1 AND t.depth = 0 AND t.metric = 'time' ORDER BY node_id";
    let threads = rows(&database, sql, |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?))
    });
    let stated = list(&file["profiles"]).iter().map(|profile| {
        let name = profile["name"].as_str().expect("a name").to_owned();
        (
            name,
            "thread".to_owned(),
            1e9 * number(&profile["endValue"]),
        )
    });
    assert_eq!(threads, stated.collect::<Vec<(String, String, f64)>>());
    let count: usize = list(&file["profiles"])
        .iter()
        .map(|profile| list(&profile["samples"]).len())
        .sum();
    assert_eq!(
        total(&database, "samples"),
        f64::from(u32::try_from(count).expect("few"))
    );
}

/// The same samples, told as calls that open and close, cost the same.
#[test]
fn the_same_as_calls() {
    let mut file: Value =
        serde_json::from_str(&text("speedscope/work.speedscope.json")).expect("JSON");
    let sampled = file.clone();
    for profile in file["profiles"].as_array_mut().expect("a list") {
        let mut events = Vec::new();
        let mut open: Vec<Value> = Vec::new();
        let mut now = 0.0;
        let mut change = |open: &mut Vec<Value>, stack: &[Value], now: f64| {
            let same = open
                .iter()
                .zip(stack)
                .take_while(|(one, other)| one == other)
                .count();
            for frame in open.drain(same..).rev() {
                events.push(json!({"type": "C", "frame": frame, "at": now}));
            }
            for frame in &stack[same..] {
                events.push(json!({"type": "O", "frame": frame, "at": now}));
                open.push(frame.clone());
            }
        };
        for (stack, weight) in list(&profile["samples"])
            .iter()
            .zip(list(&profile["weights"]))
        {
            change(&mut open, list(stack), now);
            now += 1e9 * number(weight);
        }
        change(&mut open, &[], now);
        *profile = json!({"type": "evented", "name": profile["name"], "unit": "nanoseconds", "startValue": 0,
            "endValue": now, "events": events});
    }
    let database = imported("speedscope", &file.to_string());
    compare(&sampled, &database);
}

/// pyinstrument tells samples as calls, in seconds: the time between two events is that of the
/// innermost open call.
#[test]
fn pyinstrument() {
    let text = text("speedscope/pyinstrument.speedscope.json");
    let file: Value = serde_json::from_str(&text).expect("JSON");
    let frames = frames(&file);
    let [profile] = list(&file["profiles"]) else {
        panic!("one profile")
    };
    let mut stack: Vec<Key> = Vec::new();
    let mut samples = Vec::new();
    let mut last = 0.0;
    let mut calls: BTreeMap<Function, u32> = BTreeMap::new();
    for event in list(&profile["events"]) {
        let (now, frame) = (
            number(&event["at"]),
            event["frame"].as_u64().expect("a number"),
        );
        if !stack.is_empty() {
            samples.push((stack.clone(), 1e9 * (now - last)));
        }
        last = now;
        if event["type"] == "O" {
            stack.push(frames[usize::try_from(frame).expect("a small one")].clone());
            *calls
                .entry(function(stack.last().expect("one")))
                .or_default() += 1;
        } else {
            stack.pop();
        }
    }
    assert!(stack.is_empty(), "every call has ended");
    let database = imported("speedscope", &text);
    let near = |one: f64, other: f64| (one - other).abs() < 1.0;
    assert!(near(
        total(&database, "time"),
        samples.iter().map(|(_, cost)| cost).sum()
    ));
    let mut found = functions(&database);
    // The profile itself is no function.
    found.retain(|(name, _), _| !name.starts_with("CPU profile for"));
    let wanted = sums(&samples, |frame| Some(function(frame)));
    assert_eq!(
        found.keys().collect::<Vec<_>>(),
        wanted.keys().collect::<Vec<_>>()
    );
    assert!(
        wanted
            .iter()
            .all(|(key, [own, all])| near(found[key][0], *own) && near(found[key][1], *all))
    );
    let sql =
        "SELECT function, file, calls FROM summary WHERE calls IS NOT NULL AND metric = 'time'";
    let told = rows(&database, sql, |row| {
        Ok(((row.get(0)?, row.get(1)?), row.get(2)?))
    });
    assert_eq!(told.into_iter().collect::<BTreeMap<Function, u32>>(), calls);
}
