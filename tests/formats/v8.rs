//! Every figure of `tests/samples/cpuprofile/` and `tests/samples/heapprofile/` against our views.
//! V8 prints no report: totals come from a program that shares no code with ours, the rest is added
//! up here (docs/conformance.md).

#![expect(clippy::float_cmp, reason = "microseconds and bytes are whole numbers")]

use std::collections::{BTreeMap, BTreeSet};

use crate::support::samples_of::{imported, rows, text, total};
use profdb::store::Database;
use serde_json::Value;

/// Function, file, line.
type Key = (String, String, u32);

fn profile() -> Value {
    serde_json::from_str(&text("cpuprofile/small-main.cpuprofile")).expect("JSON")
}

fn database() -> Database {
    imported("cpuprofile", &text("cpuprofile/small-main.cpuprofile"))
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// What the totals say: hits and microseconds, each exclusive and cumulative, and microseconds
/// charged the other way.
fn expected() -> BTreeMap<Key, [f64; 6]> {
    let totals = text("cpuprofile/small-main.totals.tsv");
    let rows = totals.lines().skip(2).map(|row| {
        let cells: Vec<&str> = row.split('\t').collect();
        let key = (
            cells[0].to_owned(),
            cells[1].to_owned(),
            cells[2].parse().expect("a line"),
        );
        let figure = |at: usize| cells[3 + at].parse::<f64>().expect("a figure");
        (key, std::array::from_fn(figure))
    });
    rows.collect()
}

/// Exclusive and cumulative cost of what has one name, file and line: functions that differ by
/// their column only are one in the totals, so that the outermost nodes of all of them count.
fn found(database: &Database, metric: &str) -> BTreeMap<Key, [f64; 2]> {
    let nodes = rows(
        database,
        "SELECT t.metric, t.node_id, t.last_id, f.name, f.file, f.first_line, t.exclusive, t.cumulative
         FROM tree AS t
         JOIN nodes AS n USING (node_id)
         JOIN functions AS f USING (function_id)
         WHERE t.run_id = 1
           AND t.line IS NULL
         ORDER BY t.node_id",
        |row| {
            let key: Key = (row.get(3)?, row.get(4)?, row.get(5)?);
            Ok((
                row.get::<_, String>(0)?,
                row.get::<_, i64>(1)?,
                row.get::<_, i64>(2)?,
                key,
                [row.get::<_, f64>(6)?, row.get::<_, f64>(7)?],
            ))
        },
    );
    let mut sums: BTreeMap<Key, [f64; 2]> = BTreeMap::new();
    let mut open_until: BTreeMap<Key, i64> = BTreeMap::new();
    for (_, node, last, key, [exclusive, cumulative]) in
        nodes.into_iter().filter(|(of, ..)| of == metric)
    {
        let sum = sums.entry(key.clone()).or_default();
        sum[0] += exclusive;
        let until = open_until.entry(key).or_default();
        if node > *until {
            *until = last;
            sum[1] += cumulative;
        }
    }
    sums
}

#[test]
fn every_figure_of_the_totals() {
    let database = database();
    let (samples, time) = (found(&database, "samples"), found(&database, "time"));
    let expected = expected();
    assert_eq!(expected.len(), 33, "the rows of the totals");
    for (key, [hits_self, hits, self_us, us, ..]) in &expected {
        assert_eq!(samples[key], [*hits_self, *hits], "{key:?}");
        assert_eq!(time[key], [1e3 * self_us, 1e3 * us], "{key:?}");
    }
    // What the totals do not list was neither sampled nor on a stack that was.
    for (key, sums) in time
        .iter()
        .chain(&samples)
        .filter(|(key, _)| !expected.contains_key(key))
    {
        assert_eq!(*sums, [0.0, 0.0], "{key:?}");
    }
}

/// Where a row of the totals is one function, the summary says the same of it.
#[test]
fn the_summary_says_the_same() {
    let database = database();
    let mut compared = 0;
    for (metric, column, unit) in [("samples", 0, 1.0), ("time", 2, 1e3)] {
        let sql = format!(
            "SELECT f.name, f.file, f.first_line, s.exclusive, s.cumulative FROM summary AS s
             JOIN functions AS f USING (function_id) WHERE metric = '{metric}'"
        );
        let mut functions: BTreeMap<Key, Vec<[f64; 2]>> = BTreeMap::new();
        for (key, figures) in rows(&database, &sql, |row| {
            let key: Key = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok((key, [row.get::<_, f64>(3)?, row.get::<_, f64>(4)?]))
        }) {
            functions.entry(key).or_default().push(figures);
        }
        let expected = expected();
        for (key, figures) in functions
            .iter()
            .filter(|(key, figures)| figures.len() == 1 && expected.contains_key(key))
        {
            assert_eq!(
                figures[0],
                [
                    unit * expected[key][column],
                    unit * expected[key][column + 1]
                ],
                "{metric} {key:?}"
            );
            compared += 1;
        }
    }
    assert!(compared >= 50, "{compared}");
}

#[test]
fn totals_and_what_the_file_says() {
    let (profile, database) = (profile(), database());
    let nodes = rows(
        &database,
        "SELECT count(*) FROM nodes WHERE line IS NULL",
        |row| row.get::<_, u32>(0),
    );
    assert_eq!(
        nodes,
        [u32::try_from(list(&profile["nodes"]).len()).expect("few")]
    );
    let hits: f64 = list(&profile["nodes"])
        .iter()
        .map(|node| node["hitCount"].as_f64().unwrap_or(0.0))
        .sum();
    assert_eq!(total(&database, "samples"), hits);
    let first = number(&profile["timeDeltas"][0]);
    // Before the first sample, it is unknown where the time went.
    let whole = number(&profile["endTime"]) - number(&profile["startTime"]) - first;
    assert_eq!(total(&database, "time"), 1e3 * whole);
    let expected = expected();
    let root = &expected[&("(root)".to_owned(), String::new(), 0)];
    assert_eq!(
        [total(&database, "samples"), total(&database, "time")],
        [root[1], 1e3 * root[3]]
    );
}

#[test]
fn samples_of_lines() {
    let (profile, database) = (profile(), database());
    let mut expected: BTreeMap<(Key, u32), f64> = BTreeMap::new();
    for node in list(&profile["nodes"]) {
        let frame = &node["callFrame"];
        let text = |member: &str| frame[member].as_str().expect("a text").to_owned();
        let name = text("functionName");
        let name = if name.is_empty() {
            "(anonymous)".to_owned()
        } else {
            name
        };
        let first_line =
            u32::try_from(frame["lineNumber"].as_i64().expect("a number") + 1).expect("a line");
        for tick in list(&node["positionTicks"]) {
            let line = u32::try_from(tick["line"].as_u64().expect("a line")).expect("a line");
            *expected
                .entry(((name.clone(), text("url"), first_line), line))
                .or_default() += number(&tick["ticks"]);
        }
    }
    let mut found: BTreeMap<(Key, u32), f64> = BTreeMap::new();
    for ((key, line), samples) in rows(
        &database,
        "SELECT f.name, f.file, f.first_line, l.line, l.exclusive FROM lines AS l
         JOIN functions AS f USING (function_id) WHERE metric = 'samples'",
        |row| {
            let key: Key = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(((key, row.get::<_, u32>(3)?), row.get::<_, f64>(4)?))
        },
    ) {
        *found.entry((key, line)).or_default() += samples;
    }
    assert_eq!(found, expected);
    assert!(expected.len() > 10, "{}", expected.len());
}

/// Adds up what a node and all below it allocated: everything around an allocation counts once.
fn add(node: &Value, sums: &mut BTreeMap<Key, [f64; 2]>, above: &mut Vec<Key>) {
    let frame = &node["callFrame"];
    let text = |member: &str| frame[member].as_str().expect("a text").to_owned();
    let name = Some(text("functionName")).filter(|name| !name.is_empty());
    let line = u32::try_from(frame["lineNumber"].as_i64().expect("a line") + 1).expect("a line");
    let key = (
        name.unwrap_or_else(|| "(anonymous)".to_owned()),
        text("url"),
        line,
    );
    above.push(key.clone());
    let size = number(&node["selfSize"]);
    sums.entry(key).or_default()[0] += size;
    for key in above.iter().collect::<BTreeSet<_>>() {
        sums.entry(key.clone()).or_default()[1] += size;
    }
    for child in list(&node["children"]) {
        add(child, sums, above);
    }
    above.pop();
}

/// Compares the memory of each function with sums over the JSON. Returns how many samples the
/// profile lists that are of nodes which its tree does not have.
fn memory(name: &str) -> usize {
    let text = text(name);
    let database = imported("heapprofile", &text);
    let profile: Value = serde_json::from_str(&text).expect("JSON");
    let root = (String::from("(root)"), String::new(), 0);
    let mut expected: BTreeMap<Key, [f64; 2]> = BTreeMap::new();
    add(&profile["head"], &mut expected, &mut Vec::new());
    let [_, whole] = expected.remove(&root).expect("a root");
    assert_eq!(total(&database, "size"), whole, "{name}");
    let mut of_functions = found(&database, "size");
    of_functions.remove(&root);
    assert_eq!(of_functions, expected, "{name}");
    let ids: BTreeSet<u64> = ids(&profile["head"]);
    let (known, elsewhere): (Vec<_>, Vec<_>) =
        list(&profile["samples"]).iter().partition(|sample| {
            sample["nodeId"]
                .as_u64()
                .is_some_and(|id| ids.contains(&id))
        });
    assert_eq!(
        total(&database, "samples"),
        number(&Value::from(known.len())),
        "{name}"
    );
    elsewhere.len()
}

fn ids(node: &Value) -> BTreeSet<u64> {
    let below = list(&node["children"]).iter().flat_map(ids);
    below.chain(node["id"].as_u64()).collect()
}

#[test]
fn memory_by_function() {
    assert_eq!(memory("heapprofile/work.heapprofile"), 0);
    // V8 has sampled what it allocated itself while it wrote the tree.
    assert_eq!(memory("heapprofile/short-interval.heapprofile"), 3);
}
