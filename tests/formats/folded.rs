//! Every figure that is known of the folded stacks in `tests/samples/folded/` from elsewhere:
//! perf's own reports of the recording that inferno collapsed, and sums over the lines.

#![expect(clippy::float_cmp, reason = "numbers of samples and periods are whole")]

use std::collections::{BTreeMap, BTreeSet};

use crate::support::perf_report::Report;
use crate::support::samples_of::{imported, rows, text, total};
use crate::support::stack_sums::{edges, edges_of, functions, functions_of};
use profdb::store::Database;
use serde_json::Value;

/// The recording has one period for all samples.
const PERIOD: f64 = 5_025_125.0;

const FILES: [&str; 5] = [
    "perf-fp.inferno.folded",
    "perf-fp.inferno-pid-tid.folded",
    "py-spy.folded",
    "gperftools.folded.gz",
    "tracing-flame.folded",
];

fn stacks(name: &str) -> Vec<(Vec<String>, f64)> {
    let text = text(&format!("folded/{name}"));
    // The crate tracing-flame puts a blank after its semicolons, which is no part of a name.
    let between = if name.starts_with("tracing") {
        "; "
    } else {
        ";"
    };
    let lines = text
        .lines()
        .map(|line| line.rsplit_once(' ').expect("a stack and a number"));
    lines
        .map(|(stack, count)| {
            (
                stack.split(between).map(str::to_owned).collect(),
                count.parse().expect(count),
            )
        })
        .collect()
}

#[test]
fn figures_are_those_of_the_lines() {
    for name in FILES {
        let database = imported("folded", &text(&format!("folded/{name}")));
        let stacks = stacks(name);
        assert_eq!(
            total(&database, "samples"),
            stacks.iter().map(|(_, count)| count).sum::<f64>(),
            "{name}"
        );
        assert_eq!(
            functions(&database, "samples"),
            functions_of(&stacks),
            "{name}"
        );
        assert_eq!(edges(&database, "samples"), edges_of(&stacks), "{name}");
        assert_eq!(
            rows(&database, "SELECT message FROM notes", |row| row
                .get::<_, String>(0)),
            [""; 0],
            "{name}"
        );
    }
}

/// The nodes, folded again, are the lines.
#[test]
fn nodes_are_the_lines() {
    for name in FILES {
        let database = imported("folded", &text(&format!("folded/{name}")));
        let sql =
            "SELECT depth, function, exclusive FROM tree WHERE metric = 'samples' ORDER BY node_id";
        let mut path: Vec<String> = Vec::new();
        let mut found = BTreeMap::new();
        for (depth, function, exclusive) in rows(&database, sql, |row| {
            Ok((
                row.get::<_, u32>(0)?,
                row.get::<_, String>(1)?,
                row.get::<_, f64>(2)?,
            ))
        }) {
            path.truncate(depth as usize);
            path.push(function);
            if exclusive != 0.0 {
                assert_eq!(
                    found.insert(path.clone(), exclusive),
                    None,
                    "{name}: one node for each stack"
                );
            }
        }
        let mut wanted: BTreeMap<Vec<String>, f64> = BTreeMap::new();
        for (stack, count) in stacks(name) {
            *wanted.entry(stack).or_default() += count;
        }
        assert_eq!(found, wanted, "{name}");
    }
}

#[test]
fn totals_are_those_of_perf() {
    let report = Report::read(&text("perf_script/perf-fp.report-children-n.txt"));
    let [event] = report.events.as_slice() else {
        panic!("one event")
    };
    assert_eq!(event.name, "cpu-clock");
    for name in &FILES[..2] {
        let database = imported("folded", &text(&format!("folded/{name}")));
        assert_eq!(total(&database, "samples"), event.total, "{name}");
        assert_eq!(
            total(&database, "samples"),
            event.samples * PERIOD,
            "{name}"
        );
    }
}

/// Folded stacks have lost the binaries, and where functions start. Perf's rows of one name are
/// added up: that is right, because no stack has two of them.
#[test]
fn functions_are_those_of_perf() {
    let report = Report::read(&text("perf_script/perf-fp.report-children-n.txt"));
    let event = &report.events[0];
    let mut wanted: BTreeMap<&str, [f64; 2]> = BTreeMap::new();
    let mut several = BTreeSet::new();
    for row in &event.rows {
        let known = wanted.len();
        let figures = wanted.entry(&row.symbol).or_default();
        figures[0] += row.samples * PERIOD;
        // The column has two decimals of a percentage: whole samples can be told from it.
        figures[1] += (row.children.expect("a column") / 100.0 * event.samples).round() * PERIOD;
        assert_eq!(
            (row.own / 100.0 * event.samples).round(),
            row.samples,
            "all samples have one period"
        );
        if wanted.len() == known {
            several.insert(row.symbol.clone());
        }
    }
    assert_eq!(several, BTreeSet::from(["helper".to_owned()]));
    for name in &FILES[..2] {
        let stacks = stacks(name);
        assert!(stacks.iter().all(|(stack, _)| {
            stack
                .iter()
                .filter(|frame| several.contains(*frame))
                .count()
                < 2
        }));
        let database = imported("folded", &text(&format!("folded/{name}")));
        let mut found = functions(&database, "samples");
        // The outermost frames are the command and its threads.
        found.retain(|name, _| !name.starts_with("work-perf"));
        let found: BTreeMap<&str, [f64; 2]> = found
            .iter()
            .map(|(name, [exclusive, cumulative, _])| (name.as_str(), [*exclusive, *cumulative]))
            .collect();
        assert_eq!(found, wanted, "{name}");
    }
}

#[test]
fn threads_are_those_of_perf() {
    let report = Report::read(&text("perf_script/perf-fp.report-bypid-n.txt"));
    let mut wanted: BTreeMap<(String, String), f64> = BTreeMap::new();
    for row in &report.events[0].rows {
        let (thread, comm) = row.place[0]
            .split_once(':')
            .expect("a thread and its command");
        *wanted
            .entry((format!("{comm}-?/{thread}"), row.symbol.clone()))
            .or_default() += row.samples * PERIOD;
    }
    let database = imported("folded", &text("folded/perf-fp.inferno-pid-tid.folded"));
    let sql = "SELECT thread.function, node.function, SUM(node.exclusive)
               FROM tree AS thread
               JOIN tree AS node ON node.metric = thread.metric AND node.node_id BETWEEN thread.node_id AND thread.last_id
               WHERE thread.depth = 0 AND node.exclusive > 0
               GROUP BY thread.function, node.function";
    let found: BTreeMap<_, _> = rows(&database, sql, |row| {
        Ok(((row.get(0)?, row.get(1)?), row.get(2)?))
    })
    .into_iter()
    .collect();
    assert_eq!(found, wanted);
}

#[test]
fn py_spy_took_238_samples() {
    let database = imported("folded", &text("folded/py-spy.folded"));
    assert_eq!(total(&database, "samples"), 238.0);
}

/// Own and cumulative samples by name: what Excimer itself adds up (`aggregateByFunction`).
#[test]
fn functions_are_those_of_excimer() {
    let database = imported("folded", &text("folded/excimer.folded"));
    let truth: Value = serde_json::from_str(&text("folded/excimer.functions.json")).expect("JSON");
    assert_eq!(
        total(&database, "samples"),
        truth["events"].as_f64().expect("a number")
    );
    let functions = truth["by_function"].as_object().expect("functions");
    let figure = |function: &Value, name: &str| function[name].as_f64().expect("a number");
    let wanted: BTreeMap<String, [f64; 2]> = functions
        .iter()
        .map(|(name, function)| {
            (
                name.clone(),
                [figure(function, "self"), figure(function, "inclusive")],
            )
        })
        .collect();
    assert_eq!(own_and_cumulative(&database, str::to_owned), wanted);
    let notes = rows(&database, "SELECT message FROM notes", |row| {
        row.get::<_, String>(0)
    });
    assert_eq!(
        notes,
        [
            "11 stacks with a semicolon at the start, which is not part of the stack: only the first stack lacks it"
        ]
    );
}

/// What `stackprof --text` prints of the dump that `stackprof --stackcollapse` was made of. A name
/// may be several frames.
#[test]
fn functions_are_those_of_stackprof() {
    let database = imported("folded", &text("folded/stackprof.folded.gz"));
    let report = text("folded/stackprof.text.txt");
    assert_eq!(total(&database, "samples"), 244.0);
    let found = own_and_cumulative(&database, str::to_owned);
    let mut count = 0;
    for line in report
        .lines()
        .skip_while(|line| !line.contains("TOTAL"))
        .skip(1)
    {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [cumulative, _, own, _, name @ ..] = words.as_slice() else {
            panic!("{line}")
        };
        // Two frames are called `<main>`, one within the other, and each of the two has a row.
        let wanted = [
            own.parse().expect(own),
            cumulative.parse().expect(cumulative),
        ];
        assert_eq!(found.get(&name.join(" ")), Some(&wanted), "{line}");
        count += 1;
    }
    assert_eq!(count, 25, "rows");
}

/// Sums over rbspy's own recording of the samples (`--raw-file`) that it collapsed; the frames of
/// its stacks have file and line.
#[test]
fn functions_are_those_of_rbspy() {
    let database = imported("folded", &text("folded/rbspy.folded.gz"));
    let truth: Value = serde_json::from_str(&text("folded/rbspy.sums.json")).expect("JSON");
    assert_eq!(
        total(&database, "samples"),
        truth["samples"].as_f64().expect("a number")
    );
    // Of one name, frames with other lines are other functions here: own samples add up.
    let name = |frame: &str| frame.rsplit_once(" - ").expect("a place").0.to_owned();
    let own = own_and_cumulative(&database, name)
        .into_iter()
        .filter(|(_, [own, _])| *own > 0.0);
    let own: BTreeMap<String, f64> = own.map(|(name, [own, _])| (name, own)).collect();
    let wanted = truth["self"].as_object().expect("functions");
    let wanted: BTreeMap<String, f64> = wanted
        .iter()
        .map(|(name, own)| (name.clone(), own.as_f64().expect("a number")))
        .collect();
    assert_eq!(own, wanted);
}

/// By a name that is made of each function's.
fn own_and_cumulative(
    database: &Database,
    name: impl Fn(&str) -> String,
) -> BTreeMap<String, [f64; 2]> {
    let mut found: BTreeMap<String, [f64; 2]> = BTreeMap::new();
    for (function, [exclusive, cumulative, _]) in functions(database, "samples") {
        let sums = found.entry(name(&function)).or_default();
        sums[0] += exclusive;
        sums[1] += cumulative;
    }
    found
}
