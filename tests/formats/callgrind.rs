//! Every figure of `callgrind_annotate`'s reports on the profiles in `tests/samples/callgrind/`.
//! Where its rows are not ours, they are added up by a rule (docs/conformance.md).

#![expect(clippy::float_cmp, reason = "events are whole numbers")]
#![allow(
    clippy::similar_names,
    reason = "caller and callee are the field's words"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::path::Path;

use profdb::base::error::Stop;
use profdb::formats;
use profdb::formats::Options;
use profdb::input::{Input, Limits};
use profdb::pipeline::{import, meta};
use profdb::store::Database;
use rusqlite::Row;

/// The unit of Xdebug's times, in nanoseconds.
const TICK: f64 = 10.0;

fn bytes(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/samples/callgrind")
        .join(name);
    let bytes = fs::read(path).expect(name);
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return bytes;
    }
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(bytes.as_slice())
        .read_to_end(&mut plain)
        .expect(name);
    plain
}

fn text(name: &str) -> String {
    String::from_utf8(bytes(name)).expect(name)
}

fn imported(name: &str) -> Database {
    let bytes = bytes(name);
    let input = Input::new(
        Box::new(bytes.as_slice()),
        Limits::default(),
        Stop::default(),
    )
    .expect(name);
    let format = formats::detect(input.head()).expect(name);
    assert_eq!(format.name, "callgrind", "{name}");
    let options = Options::default();
    let describe = |fingerprint| meta(format, &options, name, fingerprint);
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

fn rows<T>(
    database: &Database,
    sql: &str,
    row: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
) -> Vec<T> {
    let mut statement = database.connection().prepare(sql).expect(sql);
    statement
        .query_map([], row)
        .expect(sql)
        .collect::<Result<_, _>>()
        .expect(sql)
}

/// A figure and what is after it: `1,234 (12.3%)  rest`.
fn figure(text: &str) -> (f64, &str) {
    let text = text.trim_start();
    let (digits, rest) = text.split_once(' ').unwrap_or((text, ""));
    let number = digits
        .replace(',', "")
        .parse()
        .unwrap_or_else(|_| panic!("a figure: {text}"));
    let rest = rest.trim_start();
    match rest
        .strip_prefix('(')
        .and_then(|rest| rest.split_once("%)"))
    {
        Some((percent, behind)) if percent.trim().parse::<f64>().is_ok() => (number, behind),
        _ => (number, rest),
    }
}

/// As many figures as there are events, and what is after them.
fn figures(mut text: &str, events: usize) -> (Vec<f64>, &str) {
    let mut all = Vec::new();
    for _ in 0..events {
        let (number, rest) = figure(text);
        all.push(number);
        text = rest;
    }
    (all, text.trim())
}

/// What `callgrind_annotate` calls `file:function`, without the object.
fn without_object(name: &str) -> &str {
    match name.rsplit_once(" [") {
        Some((name, object)) if object.ends_with(']') => name,
        _ => name,
    }
}

/// The name without its level of recursion, and whether it was a deeper one.
fn level(name: &str) -> (&str, bool) {
    match name.rsplit_once('\'') {
        Some((outer, level)) if level.parse::<u32>().is_ok() => (outer, true),
        _ => (name, false),
    }
}

fn named(file: &str, function: &str) -> String {
    format!("{}:{function}", if file.is_empty() { "???" } else { file })
}

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-9 * expected.abs()
}

/// The part of a report after its `n`-th heading of column names, up to its end.
fn table(report: &str) -> impl Iterator<Item = &str> {
    let lines: Vec<&str> = report.lines().collect();
    let head = lines
        .iter()
        .position(|line| line.contains("file:function"))
        .expect("a table");
    let rest: Vec<&str> = lines.into_iter().skip(head + 2).collect();
    rest.into_iter()
        .take_while(|line| !line.starts_with("-----"))
}

/// One profile: its file, its reports, the names of its metrics with what one unit of the report is
/// in ours.
struct Profile {
    file: &'static str,
    exclusive: &'static str,
    tree: Option<&'static str>,
    metrics: &'static [(&'static str, f64)],
}

const PROFILES: [Profile; 5] = [
    Profile {
        file: "plain.out.gz",
        exclusive: "plain.exclusive.txt",
        tree: Some("plain.inclusive-tree.txt.gz"),
        metrics: &[("Ir", 1.0)],
    },
    Profile {
        file: "lineinstr.out.gz",
        exclusive: "lineinstr.exclusive.txt",
        tree: None,
        metrics: &[("Ir", 1.0)],
    },
    Profile {
        file: "xdebug.out.gz",
        exclusive: "xdebug.exclusive.txt",
        tree: Some("xdebug.inclusive-tree.txt"),
        metrics: &[("time", TICK), ("memory", 1.0)],
    },
    Profile {
        file: "xdebug-paths.out",
        exclusive: "xdebug-paths.exclusive.txt",
        tree: Some("xdebug-paths.inclusive-tree.txt"),
        metrics: &[("time", TICK), ("memory", 1.0)],
    },
    Profile {
        file: "xdebug-fibers.out",
        exclusive: "xdebug-fibers.exclusive.txt",
        tree: Some("xdebug-fibers.inclusive-tree.txt"),
        metrics: &[("time", TICK), ("memory", 1.0)],
    },
];

#[test]
fn totals() {
    for Profile {
        file,
        exclusive,
        tree,
        metrics,
    } in &PROFILES
    {
        let database = imported(file);
        for report in [Some(*exclusive), *tree].into_iter().flatten() {
            let report = text(report);
            let line = report
                .lines()
                .find(|line| line.ends_with("PROGRAM TOTALS"))
                .expect("totals");
            let (totals, _) = figures(line, metrics.len());
            let found = rows(
                &database,
                "SELECT name, total FROM metrics ORDER BY position",
                |row| Ok((row.get::<_, String>(0)?, row.get::<_, f64>(1)?)),
            );
            let expected: Vec<_> = metrics
                .iter()
                .zip(totals)
                .map(|((name, unit), total)| ((*name).to_owned(), unit * total))
                .collect();
            assert_eq!(found, expected, "{file}");
        }
    }
}

/// Own costs by file and function, by the file that the lines are in: what has no line is in the
/// function's own.
fn own_costs(database: &Database, metric: &str) -> BTreeMap<String, f64> {
    let mut own: BTreeMap<String, f64> = BTreeMap::new();
    let functions =
        format!("SELECT file, function, exclusive FROM summary WHERE metric = '{metric}'");
    let lines = format!(
        "SELECT l.file, l.function, l.exclusive, f.file FROM lines AS l
         JOIN functions AS f ON f.function_id = l.function_id WHERE metric = '{metric}'"
    );
    for (file, function, cost) in rows(database, &functions, |row| {
        Ok((
            row.get::<_, String>(0)?,
            row.get::<_, String>(1)?,
            row.get::<_, f64>(2)?,
        ))
    }) {
        *own.entry(named(&file, &function)).or_default() += cost;
    }
    for (file, function, cost, own_file) in rows(database, &lines, |row| {
        Ok((
            row.get::<_, String>(0)?,
            row.get::<_, String>(1)?,
            row.get::<_, f64>(2)?,
            row.get::<_, String>(3)?,
        ))
    }) {
        *own.entry(named(&own_file, &function)).or_default() -= cost;
        *own.entry(named(&file, &function)).or_default() += cost;
    }
    own
}

/// Every row of the flat reports. Levels of recursion are rows of their own there, and functions of
/// one file and name in several objects are one.
#[test]
fn own_costs_of_functions() {
    for Profile {
        file,
        exclusive,
        metrics,
        ..
    } in &PROFILES
    {
        let database = imported(file);
        let mut expected: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        let report = text(exclusive);
        for row in table(&report).filter(|row| !row.trim().is_empty()) {
            let (costs, name) = figures(row, metrics.len());
            let sums = expected
                .entry(level(without_object(name)).0.to_owned())
                .or_insert(vec![0.0; metrics.len()]);
            sums.iter_mut()
                .zip(costs)
                .for_each(|(sum, cost)| *sum += cost);
        }
        assert!(expected.len() >= 9, "{file}: {} rows", expected.len());
        for (at, (metric, unit)) in metrics.iter().enumerate() {
            let mut found = own_costs(&database, metric);
            for (name, costs) in &expected {
                let cost = found.remove(name).unwrap_or(0.0);
                assert!(
                    close(cost, unit * costs[at]),
                    "{file}: {metric} of {name}: {cost} against {}",
                    costs[at]
                );
            }
            let left: Vec<_> = found.into_iter().filter(|(_, cost)| *cost != 0.0).collect();
            assert_eq!(left, [], "{file}: what the report does not have");
        }
    }
}

/// A row of the report of callers and callees.
struct Entry<'r> {
    marker: char,
    costs: Vec<f64>,
    calls: i64,
    /// File and function, with the level of recursion.
    name: &'r str,
}

fn entry(line: &str, events: usize) -> Entry<'_> {
    let (costs, rest) = figures(line, events);
    let marker = rest.chars().next().expect("a marker");
    let name = without_object(rest[1..].trim());
    let calls = name
        .strip_suffix("x)")
        .and_then(|name| name.rsplit_once(" ("));
    let count = |digits: &str| digits.replace(',', "").parse().expect("a number of calls");
    let (name, calls) = calls.map_or((name, 0), |(name, digits)| (name, count(digits)));
    Entry {
        marker,
        costs,
        calls,
        name,
    }
}

/// Blocks of callers, function, callees.
fn blocks(report: &str, events: usize) -> Vec<Vec<Entry<'_>>> {
    let lines: Vec<&str> = table(report).collect();
    let blocks = lines
        .split(|line| line.trim().is_empty())
        .filter(|block| !block.is_empty());
    blocks
        .map(|block| block.iter().map(|line| entry(line, events)).collect())
        .collect()
}

/// Which `file:function` of ours a name of the report is: `callgrind_annotate` takes lines of an
/// included file for a function of that file.
fn owners(database: &Database) -> BTreeMap<String, BTreeSet<String>> {
    let sql = "SELECT l.file, l.function, f.file FROM lines AS l JOIN functions AS f ON f.function_id = l.function_id
               UNION SELECT file, function, file FROM summary";
    let mut owners: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (file, function, own) in rows(database, sql, |row| {
        Ok((
            row.get::<_, String>(0)?,
            row.get::<_, String>(1)?,
            row.get::<_, String>(2)?,
        ))
    }) {
        owners
            .entry(named(&file, &function))
            .or_default()
            .insert(named(&own, &function));
    }
    owners
}

/// One function, by its own name if there is such a function.
fn owner(owners: &BTreeMap<String, BTreeSet<String>>, name: &str) -> String {
    let (name, _) = level(name);
    let own = owners
        .get(name)
        .unwrap_or_else(|| panic!("{name} is no function"));
    if own.contains(name) {
        return name.to_owned();
    }
    let [only] = own.iter().collect::<Vec<_>>()[..] else {
        panic!("{name} may be one of {own:?}")
    };
    only.clone()
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Sum {
    calls: i64,
    seen: f64,
    /// The part in which the callee is outermost.
    outermost: f64,
}

/// What our edges say of each pair.
fn pairs(database: &Database, metric: &str) -> BTreeMap<(String, String), Sum> {
    let sql = format!(
        "SELECT c.file, c.name, f.file, f.name, e.calls, e.seen, e.outermost FROM edges AS e
         JOIN metrics AS m ON m.metric_id = e.metric_id AND m.name = '{metric}'
         JOIN functions AS f ON f.function_id = e.callee_id JOIN functions AS c ON c.function_id = e.caller_id"
    );
    let mut pairs: BTreeMap<(String, String), Sum> = BTreeMap::new();
    for (caller, callee, calls, seen, outermost) in rows(database, &sql, |row| {
        let name = |at: usize| -> rusqlite::Result<String> {
            Ok(named(
                &row.get::<_, String>(at)?,
                &row.get::<_, String>(at + 1)?,
            ))
        };
        let calls = row.get::<_, Option<i64>>(4)?.unwrap_or(0);
        Ok((
            name(0)?,
            name(2)?,
            calls,
            row.get::<_, f64>(5)?,
            row.get::<_, Option<f64>>(6)?.unwrap_or(f64::NAN),
        ))
    }) {
        let sum = pairs.entry((caller, callee)).or_default();
        sum.calls += calls;
        sum.seen += seen;
        sum.outermost += outermost;
    }
    pairs
}

/// Every caller and every callee of the reports with calls and cost, and what functions cost with
/// what they called.
#[test]
fn callers_callees_and_cumulative_costs() {
    for Profile {
        file,
        exclusive,
        tree,
        metrics,
    } in &PROFILES
    {
        let Some(tree) = tree else { continue };
        let database = imported(file);
        let owners = owners(&database);
        let report = text(tree);
        let blocks = blocks(&report, metrics.len());
        assert!(blocks.len() >= 9, "{file}: {} blocks", blocks.len());
        let has_levels = report.contains("'2 ");
        for (at, (metric, unit)) in metrics.iter().enumerate() {
            let found = pairs(&database, metric);
            for marker in ['<', '>'] {
                let mut expected: BTreeMap<(String, String), Sum> = BTreeMap::new();
                for block in &blocks {
                    let this = block
                        .iter()
                        .find(|entry| entry.marker == '*')
                        .expect("a function")
                        .name;
                    for other in block.iter().filter(|entry| entry.marker == marker) {
                        let (caller, callee) = if marker == '<' {
                            (other.name, this)
                        } else {
                            (this, other.name)
                        };
                        let sum = expected
                            .entry((owner(&owners, caller), owner(&owners, callee)))
                            .or_default();
                        let cost = unit * other.costs[at];
                        sum.calls += other.calls;
                        sum.seen += cost;
                        sum.outermost += if level(callee).1 { 0.0 } else { cost };
                    }
                }
                for (pair, sum) in &expected {
                    let ours = found
                        .get(pair)
                        .unwrap_or_else(|| panic!("{file}: {pair:?} of the report is not ours"));
                    assert_eq!(
                        (ours.calls, ours.seen),
                        (sum.calls, sum.seen),
                        "{file} {marker} {pair:?}"
                    );
                    if has_levels {
                        assert_eq!(ours.outermost, sum.outermost, "{file} {marker} {pair:?}");
                    }
                }
                let missing: Vec<_> = found
                    .iter()
                    .filter(|(pair, sum)| sum.seen > 0.0 && !expected.contains_key(*pair))
                    .collect();
                assert!(
                    missing.is_empty(),
                    "{file} {marker}: the report does not have {missing:?}"
                );
            }
            let own = text(exclusive);
            cumulative_costs(&database, &own, &blocks, (at, metric, *unit));
        }
    }
}

/// What the reports say of one function.
#[derive(Default)]
struct Function {
    /// Own cost and that of its calls, on every level.
    seen: f64,
    /// The same of the first level, without calls of that level by itself.
    first: f64,
    /// The line `*`: what its callers paid.
    paid: f64,
    /// The same of its included files, each of which is a function that nobody called.
    included: f64,
}

/// Own cost and calls of each function make its cumulative cost. The line `*` of the report is
/// something else: what its callers paid, or that sum where nobody called. Of a tree of Xdebug that
/// is what `seen` adds up to; what is `cumulative` in it, where functions recur,
/// `tests/figures/exit_order.rs` looks at.
fn cumulative_costs(
    database: &Database,
    own: &str,
    blocks: &[Vec<Entry<'_>>],
    of: (usize, &str, f64),
) {
    let (at, metric, unit) = of;
    let owners = owners(database);
    let mut functions: BTreeMap<String, Function> = BTreeMap::new();
    let events = blocks[0][0].costs.len();
    for row in table(own).filter(|row| !row.trim().is_empty()) {
        let (costs, name) = figures(row, events);
        let name = without_object(name);
        let function = functions.entry(owner(&owners, name)).or_default();
        function.seen += unit * costs[at];
        function.first += if level(name).1 { 0.0 } else { unit * costs[at] };
    }
    for block in blocks {
        let this = block
            .iter()
            .find(|entry| entry.marker == '*')
            .expect("a function")
            .name;
        let name = owner(&owners, this);
        let function = functions.entry(name.clone()).or_default();
        for entry in block {
            let cost = unit * entry.costs[at];
            let by_itself = entry.name == this;
            match entry.marker {
                '*' if level(this).0 == name => function.paid += cost,
                '*' => function.included += cost,
                '>' => {
                    function.seen += cost;
                    function.first += if level(this).1 || by_itself {
                        0.0
                    } else {
                        cost
                    };
                }
                _ => {}
            }
        }
    }
    let sql = format!(
        "SELECT file, function, SUM(seen), SUM(cumulative), COUNT(*) - COUNT(cumulative) FROM summary
         WHERE metric = '{metric}' GROUP BY 1, 2"
    );
    let pairs = pairs(database, metric);
    let is_tree = rows(database, "SELECT fidelity FROM runs", |row| {
        row.get::<_, String>(0)
    }) == ["tree"];
    let mut known = 0;
    for (name, seen, cumulative, unknown) in rows(database, &sql, |row| {
        let name = named(&row.get::<_, String>(0)?, &row.get::<_, String>(1)?);
        Ok((
            name,
            row.get::<_, f64>(2)?,
            row.get::<_, Option<f64>>(3)?,
            row.get::<_, i64>(4)?,
        ))
    }) {
        let nothing = Function::default();
        let function = functions.get(&name).unwrap_or(&nothing);
        let callers: Vec<f64> = pairs
            .iter()
            .filter(|((_, callee), _)| *callee == name)
            .map(|(_, sum)| sum.seen)
            .collect();
        let sum = if is_tree {
            function.paid
        } else {
            function.seen
        };
        assert!(close(seen, sum), "{metric} of {name}: {seen} against {sum}");
        let (paid, expected) = if callers.is_empty() {
            (seen, function.paid + function.included)
        } else {
            (callers.iter().sum(), function.paid)
        };
        assert!(
            close(paid, expected),
            "{metric}: callers of {name}: {paid} against {expected}"
        );
        if let (Some(cumulative), 0) = (cumulative, unknown) {
            known += 1;
            let holds = if is_tree {
                cumulative <= seen
            } else {
                close(cumulative, function.first)
            };
            assert!(
                holds,
                "{metric} of {name}: {cumulative} against {} and {seen}",
                function.first
            );
        }
    }
    assert!(known >= 5, "{known} cumulative costs are known");
}

/// The sources that `callgrind_annotate` shows: what each line costs, and what it calls. Of a
/// function that recurs it shows the calls of its first level only, so that the calls of others are
/// compared.
#[test]
fn costs_and_calls_of_lines() {
    let database = imported("lineinstr.out.gz");
    let report = text("lineinstr.source-annotated.txt");
    let costs = "SELECT file, line, SUM(exclusive) FROM lines GROUP BY 1, 2";
    let place = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?));
    let costs: BTreeMap<_, _> = rows(&database, costs, |row| {
        Ok((place(row)?, row.get::<_, f64>(2)?))
    })
    .into_iter()
    .collect();
    let calls = "SELECT COALESCE(line_file, caller_file), caller_line, file, function, SUM(calls), SUM(cumulative) FROM call_lines
                 WHERE caller_line IS NOT NULL GROUP BY 1, 2, 3, 4";
    let calls: BTreeMap<_, _> = rows(&database, calls, |row| {
        let name = named(&row.get::<_, String>(2)?, &row.get::<_, String>(3)?);
        Ok((
            (place(row)?, name),
            (row.get::<_, i64>(4)?, row.get::<_, f64>(5)?),
        ))
    })
    .into_iter()
    .collect();
    let recursive = "SELECT l.file, l.line FROM lines AS l WHERE l.cumulative IS NULL";
    let recursive: BTreeSet<_> = rows(&database, recursive, place).into_iter().collect();
    let (mut lines, mut called) = (0, 0);
    for source in report.split("-- User-annotated source: ").skip(1) {
        let (file, source) = source.split_once('\n').expect("the name of a file");
        let mut line = 0;
        for row in source
            .lines()
            .skip(3)
            .take_while(|row| !row.is_empty() && !row.starts_with("-----"))
        {
            let at = |line| (file.to_owned(), line);
            if let Some((cost, call)) = row.split_once("  => ") {
                let call = format!("0 > {call}");
                let Entry {
                    calls: count, name, ..
                } = entry(&call, 1);
                if !recursive.contains(&at(line)) {
                    let expected = (count, figure(cost).0);
                    assert_eq!(
                        calls.get(&(at(line), name.to_owned())),
                        Some(&expected),
                        "{file}:{line} {name}"
                    );
                    called += 1;
                }
                continue;
            }
            line += 1;
            let found = costs.get(&at(line)).copied().unwrap_or(0.0);
            let expected = if row.trim_start().starts_with('.') {
                0.0
            } else {
                figure(row).0
            };
            assert_eq!(found, expected, "{file}:{line}");
            lines += 1;
        }
    }
    assert!(
        (lines, called) >= (30, 20),
        "{lines} lines and {called} calls"
    );
}
