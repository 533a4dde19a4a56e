//! Every figure that `go tool pprof` prints of the profiles in `tests/samples/pprof/`: flat and cum
//! of functions and lines, callers and callees, whole stacks. What it prints rounded is compared as
//! it prints it; its list of raw samples is added up here and compared to the last digit.
//! docs/conformance.md says whose words are whose.

#![expect(clippy::float_cmp, reason = "whole numbers below 2^53")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::support::program;
use profdb::base::error::Stop;
use profdb::events::recorder::Recorder;
use profdb::formats;
use profdb::formats::Options;
use profdb::input::{Input, Limits};
use profdb::pipeline::{import, meta};
use profdb::store::Database;
use rusqlite::Row;

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/samples/pprof")
        .join(name)
}

fn text(name: &str) -> String {
    let bytes = fs::read(file(name)).expect(name);
    let mut text = String::new();
    if Path::new(name)
        .extension()
        .is_some_and(|ending| ending == "gz")
    {
        flate2::read::GzDecoder::new(bytes.as_slice())
            .read_to_string(&mut text)
            .expect(name);
        return text;
    }
    String::from_utf8(bytes).expect(name)
}

fn imported(name: &str) -> Database {
    let bytes = fs::read(file(name)).expect(name);
    let input = Input::new(
        Box::new(bytes.as_slice()),
        Limits::default(),
        Stop::default(),
    )
    .expect(name);
    let format = formats::detect(input.head()).expect(name);
    assert_eq!(format.name, "pprof", "{name}");
    let options = Options::default();
    let describe = |fingerprint| meta(format, &options, "-", fingerprint);
    import(
        input,
        format,
        &options,
        &Stop::default(),
        describe,
        Database::in_memory,
    )
    .expect(name)
    .database
}

/// The rows of a statement, by their first columns; figures of equal keys are added up.
fn rows<K: Ord, const N: usize>(
    database: &Database,
    sql: &str,
    row: impl Fn(&Row<'_>) -> rusqlite::Result<(K, [f64; N])>,
) -> BTreeMap<K, [f64; N]> {
    let mut statement = database.connection().prepare(sql).expect(sql);
    let mut rows = statement.query([]).expect(sql);
    let mut found = BTreeMap::new();
    while let Some(one) = rows.next().expect(sql) {
        let (key, figures) = row(one).expect(sql);
        let sums = found.entry(key).or_insert([0.0; N]);
        sums.iter_mut()
            .zip(figures)
            .for_each(|(sum, figure)| *sum += figure);
    }
    found
}

fn one<T: rusqlite::types::FromSql>(database: &Database, sql: &str) -> T {
    database
        .connection()
        .query_row(sql, [], |row| row.get(0))
        .expect(sql)
}

/// Exclusive and cumulative cost of functions that cost anything. In the samples no two functions
/// have the same name.
fn functions(database: &Database, metric: &str) -> BTreeMap<String, [f64; 2]> {
    let sql = format!(
        "SELECT function, exclusive, cumulative FROM summary WHERE metric = '{metric}' AND (exclusive <> 0 OR cumulative <> 0)"
    );
    rows(database, &sql, |row| {
        Ok((row.get(0)?, [row.get(1)?, row.get(2)?]))
    })
}

/// The same of lines, called as `go tool pprof` does.
fn lines(database: &Database, metric: &str) -> BTreeMap<String, [f64; 2]> {
    let sql = format!(
        "SELECT function || ' ' || file || ':' || line, exclusive, cumulative FROM lines
         WHERE metric = '{metric}' AND (exclusive <> 0 OR cumulative <> 0)"
    );
    rows(database, &sql, |row| {
        Ok((row.get(0)?, [row.get(1)?, row.get(2)?]))
    })
}

/// What each caller spent in each callee. Our own callees are functions like others; `go tool
/// pprof` leaves out functions that call themselves.
fn edges(database: &Database, metric: &str) -> BTreeMap<(String, String), [f64; 1]> {
    let sql = format!(
        "SELECT function, callee, cumulative FROM callees
         WHERE metric = '{metric}' AND cumulative <> 0 AND function <> callee"
    );
    rows(database, &sql, |row| {
        Ok(((row.get(0)?, row.get(1)?), [row.get(2)?]))
    })
}

/// Exclusive cost by stack, outermost function first, of stacks that cost anything themselves.
fn stacks(database: &Database, metric: &str) -> BTreeMap<Vec<String>, [f64; 1]> {
    let sql = format!(
        "SELECT depth, function, line, exclusive FROM tree WHERE metric = '{metric}' ORDER BY node_id"
    );
    let mut statement = database.connection().prepare(&sql).expect("a view");
    let mut rows = statement.query([]).expect("rows");
    let mut open: Vec<(i64, Option<String>)> = Vec::new();
    let mut found = BTreeMap::new();
    while let Some(row) = rows.next().expect("rows") {
        let (depth, name, line): (i64, String, Option<i64>) = (
            row.get(0).unwrap(),
            row.get(1).unwrap(),
            row.get(2).unwrap(),
        );
        let exclusive: f64 = row.get(3).unwrap();
        open.retain(|(above, _)| *above < depth);
        open.push((depth, line.is_none().then_some(name)));
        if line.is_none() && exclusive != 0.0 {
            let path: Vec<String> = open.iter().filter_map(|(_, name)| name.clone()).collect();
            found.entry(path).or_insert([0.0])[0] += exclusive;
        }
    }
    found
}

/// A figure as `go tool pprof` prints it in this unit.
fn printed(figure: f64, unit: &str) -> String {
    let factor = match unit {
        "ns" | "B" | "" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "kB" => 1024.0,
        "MB" => 1024.0 * 1024.0,
        _ => panic!("a unit of pprof: {unit:?}"),
    };
    let number = format!("{:.2}", figure / factor);
    match number.strip_suffix(".00").unwrap_or(&number) {
        "0" | "-0" => "0".to_owned(),
        number => format!("{number}{unit}"),
    }
}

/// The unit after a printed figure.
fn unit(figure: &str) -> &str {
    figure.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'))
}

/// A name without what the report says of it.
fn bare(name: &str) -> String {
    let name = name.trim();
    name.strip_suffix(" (inline)")
        .or_else(|| name.strip_suffix(" (partial-inline)"))
        .unwrap_or(name)
        .to_owned()
}

/// The total after `of`, as printed.
fn total(report: &str) -> &str {
    let line = report
        .lines()
        .find(|line| line.starts_with("Showing nodes"))
        .expect("a line about all nodes");
    line.rsplit(" of ")
        .next()
        .and_then(|rest| rest.strip_suffix(" total"))
        .expect("a total")
}

/// Flat and cum by name, of a report made with `-top`.
fn top(report: &str) -> BTreeMap<String, [String; 2]> {
    let rows = report
        .lines()
        .skip_while(|line| !line.trim_start().starts_with("flat "))
        .skip(1);
    let row = |line: &str| {
        let mut words = line.split_whitespace();
        let [flat, _, _, cum, _] = [(); 5].map(|()| words.next().expect("five figures").to_owned());
        (bare(&words.collect::<Vec<_>>().join(" ")), [flat, cum])
    };
    let count = rows.clone().count();
    let rows: BTreeMap<_, _> = rows.map(row).collect();
    assert_eq!(rows.len(), count, "a row a name");
    rows
}

fn as_printed<K: Ord, const N: usize>(
    figures: BTreeMap<K, [f64; N]>,
    unit: &str,
) -> BTreeMap<K, [String; N]> {
    figures
        .into_iter()
        .map(|(key, figures)| (key, figures.map(|figure| printed(figure, unit))))
        .collect()
}

/// Reports made with `-top -cum`: the profile, the metric.
const TOPS: [(&str, &str, &str); 6] = [
    ("cpu.top-cum.txt", "cpu.pb.gz", "cpu"),
    ("cpu.samples.top-cum.txt", "cpu.pb.gz", "samples"),
    ("heap.top-cum.txt", "heap.pb.gz", "inuse_space"),
    (
        "heap.alloc_objects.top-cum.txt",
        "heap.pb.gz",
        "alloc_objects",
    ),
    ("heap.alloc_space.top-cum.txt", "heap.pb.gz", "alloc_space"),
    (
        "heap.inuse_objects.top-cum.txt",
        "heap.pb.gz",
        "inuse_objects",
    ),
];

#[test]
fn flat_and_cum_of_every_function() {
    for (report, profile, metric) in TOPS {
        let database = imported(profile);
        let report_text = text(report);
        let unit = unit(total(&report_text));
        let sum: f64 = one(
            &database,
            &format!("SELECT total FROM metrics WHERE name = '{metric}'"),
        );
        assert_eq!(printed(sum, unit), total(&report_text), "{report}");
        let expected = top(&report_text);
        assert!(expected.len() > 8, "{report}: {} rows", expected.len());
        assert_eq!(
            as_printed(functions(&database, metric), unit),
            expected,
            "{report}"
        );
    }
}

#[test]
fn flat_and_cum_of_every_line() {
    let report = text("cpu.lines.top-cum.txt");
    let expected = top(&report);
    assert!(expected.len() > 50, "{} rows", expected.len());
    assert_eq!(
        as_printed(lines(&imported("cpu.pb.gz"), "cpu"), unit(total(&report))),
        expected
    );
}

/// Name: flat, cum; caller and callee: cost. Of a report made with `-tree` or `-peek`.
type Blocks = (
    BTreeMap<String, [String; 2]>,
    BTreeMap<(String, String), [String; 1]>,
);

fn blocks(report: &str) -> Blocks {
    let (mut functions, mut edges) = (BTreeMap::new(), BTreeMap::new());
    let body = report
        .lines()
        .skip_while(|line| !line.trim_start().starts_with("flat "))
        .skip(2);
    let (mut callers, mut middle) = (Vec::new(), None);
    for line in body {
        let Some((figures, name)) = line.split_once('|') else {
            assert!(line.starts_with("---"), "{line}");
            middle = None;
            continue;
        };
        let (figures, name): (Vec<&str>, _) = (figures.split_whitespace().collect(), bare(name));
        match (figures.as_slice(), &middle) {
            ([flat, _, _, cum, _], None) => {
                for (caller, cost) in callers.drain(..) {
                    edges.insert((caller, name.clone()), [cost]);
                }
                functions.insert(name.clone(), [(*flat).to_owned(), (*cum).to_owned()]);
                middle = Some(name);
            }
            ([cost, _], None) => callers.push((name, (*cost).to_owned())),
            ([cost, _], Some(middle)) => {
                edges.insert((middle.clone(), name), [(*cost).to_owned()]);
            }
            _ => panic!("a row of a block: {line}"),
        }
    }
    (functions, edges)
}

#[test]
fn callers_and_callees() {
    let database = imported("cpu.pb.gz");
    // All functions.
    let report = text("cpu.tree.txt");
    let unit = unit(total(&report));
    let (expected, expected_edges) = blocks(&report);
    assert!(
        expected.len() > 40 && expected_edges.len() > 40,
        "{} and {}",
        expected.len(),
        expected_edges.len()
    );
    assert_eq!(as_printed(functions(&database, "cpu"), unit), expected);
    assert_eq!(as_printed(edges(&database, "cpu"), unit), expected_edges);
    // Some of them, with everybody around them.
    let (expected, expected_edges) = blocks(&text("cpu.peek.txt"));
    assert_eq!(expected.len(), 4);
    let mut found = as_printed(functions(&database, "cpu"), unit);
    found.retain(|name, _| expected.contains_key(name));
    assert_eq!(found, expected);
    let mut found = as_printed(edges(&database, "cpu"), unit);
    found.retain(|(caller, callee), _| {
        expected.contains_key(caller) || expected.contains_key(callee)
    });
    assert_eq!(found, expected_edges);
}

#[test]
fn every_stack() {
    let report = text("cpu.traces.txt.gz");
    let mut expected: BTreeMap<Vec<String>, [f64; 1]> = BTreeMap::new();
    let mut stack: Vec<String> = Vec::new();
    let mut cost = 0.0;
    let mut traces = 0;
    for line in report.lines().skip_while(|line| !line.starts_with("---")) {
        let (figure, name) = line.split_at(line.len().min(10));
        if line.starts_with("---") {
            if !stack.is_empty() {
                stack.reverse();
                expected.entry(std::mem::take(&mut stack)).or_insert([0.0])[0] += cost;
                traces += 1;
            }
        } else if !name.starts_with(':') {
            if let Some(number) = figure.trim().strip_suffix("ms") {
                cost = number.parse::<f64>().expect("milliseconds") * 1e6;
            } else {
                assert_eq!(figure.trim(), "", "{line}");
            }
            stack.push(bare(name));
        }
    }
    assert!(traces > 200, "{traces} traces");
    assert_eq!(stacks(&imported("cpu.pb.gz"), "cpu"), expected);
}

/// Keys and values.
type Labels = Vec<(String, String)>;

/// What `-raw` prints: samples, each with its values and the functions of its stack, innermost
/// first, as name and line.
struct Raw {
    metrics: Vec<String>,
    samples: Vec<(Vec<f64>, Labels)>,
    /// By sample: key and value of every label.
    labels: Vec<Vec<(String, String)>>,
}

impl Raw {
    fn of(report: &str) -> Self {
        let (samples, tables) = report.split_once("\nLocations\n").expect("locations");
        let (locations, _) = tables.split_once("\nMappings\n").expect("mappings");
        let mut frames: BTreeMap<u64, Vec<(String, String)>> = BTreeMap::new();
        let mut id = 0;
        for line in locations.lines() {
            let mut rest = line.trim();
            if let Some((number, behind)) = line.split_once(": 0x") {
                id = number.trim().parse().expect("an id");
                rest = behind
                    .splitn(3, ' ')
                    .nth(2)
                    .expect("address, mapping, frame");
            }
            let rest = rest.strip_suffix(" s=0").expect("no first line");
            let (name, place) = rest.rsplit_once(' ').expect("a place");
            frames
                .entry(id)
                .or_default()
                .push((name.to_owned(), format!("{name} {place}")));
        }
        let (_, samples) = samples.split_once("\nSamples:\n").expect("samples");
        let (head, samples) = samples.split_once('\n').expect("types");
        let metrics = head
            .split_whitespace()
            .map(|name| name.split('/').next().expect("a name").to_owned());
        let mut raw = Self {
            metrics: metrics.collect(),
            samples: Vec::new(),
            labels: Vec::new(),
        };
        for line in samples.lines() {
            // Labels follow their sample.
            let Some((values, ids)) = line.split_once(": ") else {
                let labels = line.split_whitespace().map(|label| {
                    let (key, value) = label
                        .strip_suffix(']')
                        .and_then(|label| label.split_once(":["))
                        .expect(line);
                    (key.to_owned(), value.to_owned())
                });
                raw.labels.last_mut().expect("a sample").extend(labels);
                continue;
            };
            let values = values
                .split_whitespace()
                .map(|value| value.parse().expect("a value"))
                .collect();
            let ids = ids
                .split_whitespace()
                .map(|id| id.parse::<u64>().expect("an id"));
            raw.labels.push(Vec::new());
            raw.samples
                .push((values, ids.flat_map(|id| frames[&id].clone()).collect()));
        }
        raw
    }

    /// Adds up one metric by key and value of labels. What costs nothing is not there.
    fn label_sums(&self, metric: usize) -> BTreeMap<(String, String), f64> {
        let mut sums = BTreeMap::new();
        for ((values, _), labels) in self.samples.iter().zip(&self.labels) {
            for label in labels {
                *sums.entry(label.clone()).or_insert(0.0) += values[metric];
            }
        }
        sums.retain(|_, cost| *cost != 0.0);
        sums
    }

    /// Adds up one metric: key and cost of the innermost frame, and of each frame once per sample.
    fn sums(
        &self,
        metric: usize,
        key: fn(&(String, String)) -> &String,
    ) -> BTreeMap<String, [f64; 2]> {
        let mut sums: BTreeMap<String, [f64; 2]> = BTreeMap::new();
        for (values, frames) in &self.samples {
            sums.entry(key(&frames[0]).clone()).or_default()[0] += values[metric];
            for name in frames.iter().map(key).collect::<BTreeSet<_>>() {
                sums.entry(name.clone()).or_default()[1] += values[metric];
            }
        }
        sums.retain(|_, figures| *figures != [0.0; 2]);
        sums
    }

    /// Adds up pairs of caller and callee, each once per sample.
    fn edges(&self, metric: usize) -> BTreeMap<(String, String), [f64; 1]> {
        let mut sums: BTreeMap<(String, String), [f64; 1]> = BTreeMap::new();
        for (values, frames) in &self.samples {
            let pairs = frames
                .windows(2)
                .map(|pair| (pair[1].0.clone(), pair[0].0.clone()));
            for pair in pairs
                .filter(|(caller, callee)| caller != callee)
                .collect::<BTreeSet<_>>()
            {
                sums.entry(pair).or_default()[0] += values[metric];
            }
        }
        sums.retain(|_, figures| *figures != [0.0]);
        sums
    }

    fn stacks(&self, metric: usize) -> BTreeMap<Vec<String>, [f64; 1]> {
        let mut sums: BTreeMap<Vec<String>, [f64; 1]> = BTreeMap::new();
        for (values, frames) in &self.samples {
            sums.entry(frames.iter().rev().map(|frame| frame.0.clone()).collect())
                .or_default()[0] += values[metric];
        }
        sums.retain(|_, figures| *figures != [0.0]);
        sums
    }
}

#[test]
fn raw_samples_to_the_last_digit() {
    for (report, profile, types) in [
        ("cpu.raw.txt", "cpu.pb.gz", 2),
        ("heap.raw.txt", "heap.pb.gz", 4),
    ] {
        let database = imported(profile);
        let raw = Raw::of(&text(report));
        assert_eq!(raw.metrics.len(), types, "{report}");
        assert!(
            raw.samples.len() > 100,
            "{report}: {} samples",
            raw.samples.len()
        );
        for (at, metric) in raw.metrics.iter().enumerate() {
            let total: f64 = one(
                &database,
                &format!("SELECT total FROM metrics WHERE name = '{metric}'"),
            );
            assert_eq!(
                total,
                raw.samples
                    .iter()
                    .map(|(values, _)| values[at])
                    .sum::<f64>(),
                "{report}, {metric}"
            );
            assert_eq!(
                functions(&database, metric),
                raw.sums(at, |frame| &frame.0),
                "{report}, {metric}"
            );
            assert_eq!(
                lines(&database, metric),
                raw.sums(at, |frame| &frame.1),
                "{report}, {metric}"
            );
            assert_eq!(
                edges(&database, metric),
                raw.edges(at),
                "{report}, {metric}"
            );
            assert_eq!(
                stacks(&database, metric),
                raw.stacks(at),
                "{report}, {metric}"
            );
            assert_eq!(
                labels(&database, metric),
                raw.label_sums(at),
                "{report}, {metric}"
            );
        }
        assert!(
            raw.labels
                .iter()
                .filter(|labels| !labels.is_empty())
                .count()
                > 10,
            "{report}"
        );
    }
}

/// Cost by metric, key and value of labels.
fn labels(database: &Database, metric: &str) -> BTreeMap<(String, String), f64> {
    let sql = "SELECT key, CAST(value AS TEXT), exclusive FROM tags WHERE metric = ?1";
    let mut statement = database.connection().prepare(sql).expect("a view");
    let rows = statement
        .query_map([metric], |row| {
            Ok(((row.get(0)?, row.get(1)?), row.get(2)?))
        })
        .expect("rows");
    rows.collect::<Result<_, _>>().expect("rows")
}

/// `-tags`: by key what its values cost, each with its share of what all of them cost.
#[test]
fn labels_with_their_shares() {
    let database = imported("cpu.pb.gz");
    let found = labels(&database, "cpu");
    let mut printed_rows = 0;
    let report = text("cpu.tags.txt");
    let mut key = ("", 0.0);
    for line in report.lines().filter(|line| !line.trim().is_empty()) {
        if let Some((name, total)) = line.trim().split_once(": Total ") {
            let sum = found
                .iter()
                .filter(|((known, _), _)| known == name)
                .map(|(_, cost)| cost)
                .sum();
            assert_eq!(tagged(sum), total, "{name}");
            key = (name, sum);
            continue;
        }
        let (figures, value) = line.trim().split_once("): ").expect(line);
        let (cost, share) = figures.split_once('(').expect(line);
        let here = found[&(key.0.to_owned(), value.to_owned())];
        assert_eq!(tagged(here), cost.trim(), "{line}");
        assert_eq!(percent(100.0 * here / key.1), share.trim(), "{line}");
        printed_rows += 1;
    }
    assert_eq!(printed_rows, found.len());
}

/// Unlike all other reports, `-tags` prints milliseconds with one digit.
fn tagged(figure: f64) -> String {
    format!("{:.1}ms", figure / 1e6)
}

fn percent(share: f64) -> String {
    let digits = if share >= 99.95 { 0 } else { 2 };
    format!("{share:.digits$}%")
}

/// `-tagfocus=worker=2` finds nothing, because a value that is written like a number is compared
/// with labels that are numbers, and `worker` is text: docs/conformance.md. So numbers are what we
/// count.
#[test]
fn a_tag_that_looks_like_a_number() {
    let report = text("cpu.tagfocus-worker2.top-cum.txt");
    let database = imported("cpu.pb.gz");
    let numbers = "SELECT COALESCE(SUM(exclusive), 0.0) FROM tags
                   WHERE metric = 'cpu' AND key = 'worker' AND value = 2 AND typeof(value) = 'integer'";
    let total: f64 = one(&database, "SELECT total FROM metrics WHERE name = 'cpu'");
    let shown = format!(
        "Showing nodes accounting for {}, 0% of {} total",
        one::<f64>(&database, numbers),
        printed(total, "s")
    );
    assert!(report.contains(&shown), "{shown}");
    assert!(report.contains("   tagfocus=worker=2\n"));
    // The text is there.
    assert_eq!(
        labels(&database, "cpu")[&("worker".to_owned(), "2".to_owned())],
        60e6
    );
}

#[test]
fn heads_of_the_reports() {
    for (report, profile) in [
        ("cpu.top-cum.txt", "cpu.pb.gz"),
        ("heap.top-cum.txt", "heap.pb.gz"),
    ] {
        let database = imported(profile);
        let report = text(report);
        let line = |name: &str| {
            report
                .lines()
                .find_map(|line| line.strip_prefix(name))
                .unwrap_or_default()
                .to_owned()
        };
        let command: String = one(&database, "SELECT command FROM runs");
        assert_eq!(command.rsplit('/').next(), Some(line("File: ").as_str()));
        let default = "SELECT name FROM metrics JOIN runs ON metric_id = default_metric_id";
        assert_eq!(one::<String>(&database, default), line("Type: "));
        assert_eq!(line("Time: "), "Nov 21, 2026 at 9:35am (UTC)");
        let recorded: String = one(&database, "SELECT recorded_at FROM runs");
        assert!(recorded.starts_with("2026-11-21T09:35:"), "{recorded}");
        let raw = text(&profile.replace("pb.gz", "raw.txt"));
        let time = raw
            .lines()
            .find_map(|line| line.strip_prefix("Time: "))
            .expect("a time");
        assert_eq!(recorded.replace('T', " ").replace('Z', " +0000 UTC"), time);
        if profile == "cpu.pb.gz" {
            let nanoseconds: String = one(
                &database,
                "SELECT value FROM run_properties WHERE key = 'duration_nanos'",
            );
            let duration = printed(nanoseconds.parse().expect("a number"), "s");
            assert!(
                line("Duration: ").starts_with(&format!("{duration}, Total samples = 2.60s")),
                "{duration}"
            );
        }
    }
}

/// Everything that a database says of its only run, apart from what tells the file.
fn told(database: &Database) -> Vec<String> {
    let views = [
        "SELECT * FROM summary",
        "SELECT * FROM tree",
        "SELECT * FROM callees",
        "SELECT * FROM notes",
        "SELECT * FROM run_properties",
    ];
    let mut all = Vec::new();
    for sql in views {
        let mut statement = database.connection().prepare(sql).expect(sql);
        let width = statement.column_count();
        let mut rows = statement.query([]).expect(sql);
        while let Some(row) = rows.next().expect(sql) {
            all.push(
                (0..width)
                    .map(|at| format!("{:?}", row.get_ref(at).expect(sql)))
                    .collect::<Vec<_>>()
                    .join("|"),
            );
        }
    }
    all
}

#[test]
fn compressed_plain_and_piped_are_the_same() {
    let expected = told(&imported("cpu.pb.gz"));
    assert!(expected.len() > 1000, "{} rows", expected.len());
    assert_eq!(told(&imported("cpu.uncompressed.pb")), expected);
    for name in ["cpu.pb.gz", "cpu.uncompressed.pb"] {
        let folder = tempfile::tempdir().expect("a folder");
        let mut program = program::command();
        let program = program
            .args(["import", "--db", "x.db", "-"])
            .current_dir(folder.path());
        let mut running = program
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("the program runs");
        running
            .stdin
            .take()
            .expect("a pipe")
            .write_all(&fs::read(file(name)).expect(name))
            .expect("somebody reads");
        assert!(running.wait().expect("it ends").success(), "{name}");
        let database = Database::open_read_only(&folder.path().join("x.db")).expect("a database");
        assert_eq!(told(&database), expected, "{name}, piped");
    }
}

/// Records are taken from the buffer where all of them is there; a byte at a time, nothing is.
#[test]
fn records_at_hand_mean_what_others_mean() {
    let bytes = fs::read(file("cpu.uncompressed.pb")).expect("a file");
    let [usual, slow] = [false, true].map(|hidden| {
        let mut input = Input::new(
            Box::new(bytes.as_slice()),
            Limits::default(),
            Stop::default(),
        )
        .expect("a file");
        if hidden {
            input.hide_what_is_at_hand();
        }
        let mut events = Vec::new();
        let format = formats::format_named("pprof").expect("a format");
        let read = format.read(
            &mut input,
            &Options::default(),
            &mut Recorder::new(|_, event| events.push(event)),
        );
        read.expect("a profile");
        (events, input.finish().expect("nothing is left"))
    });
    assert!(usual.0.len() > 500, "{} events", usual.0.len());
    assert!(usual == slow);
}

/// What the crate pprof wrote, against the samples that it had in its hands when it did
/// (`pprof-rs.stacks.tsv.gz`: a count, a thread, then function, file and line of each frame,
/// innermost first).
#[test]
fn samples_are_those_of_pprof_rs() {
    type Place = (String, String);
    let database = imported("pprof-rs.pb.gz");
    let mut wanted: BTreeMap<Place, [f64; 2]> = BTreeMap::new();
    let mut pairs: BTreeMap<(Place, Place), [f64; 1]> = BTreeMap::new();
    let mut threads: BTreeMap<String, [f64; 1]> = BTreeMap::new();
    let mut whole = 0.0;
    for line in text("pprof-rs.stacks.tsv.gz").lines() {
        let [count, thread, frames @ ..] = &line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let count: f64 = count.parse().expect("a count");
        let place = |frame: &&str| {
            let mut parts = frame.rsplitn(3, '|').skip(1);
            let file = parts.next().expect("a file").to_owned();
            (parts.next().expect("a function").to_owned(), file)
        };
        let frames: Vec<Place> = frames.iter().map(place).collect();
        wanted.entry(frames[0].clone()).or_default()[0] += count;
        for frame in frames.iter().collect::<BTreeSet<_>>() {
            wanted.entry(frame.clone()).or_default()[1] += count;
        }
        for pair in frames.windows(2).collect::<BTreeSet<_>>() {
            pairs.entry((pair[1].clone(), pair[0].clone())).or_default()[0] += count;
        }
        threads.entry((*thread).to_owned()).or_default()[0] += count;
        whole += count;
    }
    assert!(
        threads.contains_key("other; 7") && wanted.len() > 30,
        "{threads:?}"
    );
    let sql = "SELECT function, file, exclusive, cumulative FROM summary WHERE metric = 'samples'";
    assert_eq!(
        rows(&database, sql, |row| Ok((
            (row.get(0)?, row.get(1)?),
            [row.get(2)?, row.get(3)?]
        ))),
        wanted
    );
    let sql = "SELECT function, file, callee, callee_file, cumulative FROM callees WHERE metric = 'samples'";
    let pair = |row: &Row<'_>| {
        Ok((
            ((row.get(0)?, row.get(1)?), (row.get(2)?, row.get(3)?)),
            [row.get(4)?],
        ))
    };
    assert_eq!(rows(&database, sql, pair), pairs);
    let sql = "SELECT value, exclusive FROM tags WHERE metric = 'samples' AND key = 'thread'";
    assert_eq!(
        rows(&database, sql, |row| Ok((row.get(0)?, [row.get(1)?]))),
        threads
    );
    assert_eq!(
        one::<f64>(
            &database,
            "SELECT total FROM metrics WHERE name = 'samples'"
        ),
        whole
    );
}
