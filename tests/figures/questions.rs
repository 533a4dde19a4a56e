//! Every statement of docs/questions.md gives the answer that brute force over the tree gives: of
//! random runs, for which the statements stand as they are, and of recordings, whose names are put
//! in. Rows that an answer must have come from [`crate::support::places`], which reads costs of single places
//! from the tables and adds them up by itself.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use profdb::base::error::Stop;
use profdb::events::{
    Frame, FunctionDef, Kind, Label, LabelValue, Noise, RunFact, Sample, Sink as _, Unit,
};
use profdb::formats::{self, Options};
use profdb::input::{Input, Limits};
use profdb::pipeline::{import, meta};
use profdb::profile::TreeBuilder;
use profdb::store::Database;
use proptest::collection::{btree_set, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::test_runner::RngAlgorithm;
use rusqlite::types::Value;

use crate::support::answers::{Names, Order, answer};
use crate::support::made_runs::{self, Batches, made_up};
use crate::support::places::{Cell, Places};

const PAGE: &str = include_str!("../../docs/questions.md");

/// The questions with their statements, in the order of the page.
fn questions() -> Vec<(&'static str, &'static str)> {
    let mut found = Vec::new();
    for section in PAGE.split("\n### ").skip(1) {
        let (title, rest) = section.split_once('\n').expect("a title ends");
        let mut blocks = rest.split("```sql\n").skip(1);
        let block = blocks
            .next()
            .unwrap_or_else(|| panic!("{title}: expected a statement"));
        assert!(blocks.next().is_none(), "{title}: expected one statement");
        let (sql, _) = block.split_once("```").expect("a block ends");
        found.push((title, sql.trim_end()));
    }
    found
}

#[test]
fn the_page_has_twenty_short_questions() {
    let questions = questions();
    assert!(questions.len() >= 20, "{}", questions.len());
    assert_eq!(PAGE.matches("```sql").count(), questions.len());
    for (title, sql) in questions {
        assert!(sql.lines().count() <= 2, "{title}: more than two lines");
        assert!(
            sql.chars().count() <= 230,
            "{title}: {} characters",
            sql.chars().count()
        );
    }
}

/// The answer of the database to a statement.
fn asked(database: &Database, sql: &str) -> Vec<Vec<Cell>> {
    let mut statement = database
        .connection()
        .prepare(sql)
        .unwrap_or_else(|error| panic!("{sql}: {error}"));
    let columns = statement.column_count();
    let rows = statement
        .query_map([], |row| {
            (0..columns)
                .map(|at| row.get::<_, Value>(at))
                .collect::<Result<Vec<_>, _>>()
        })
        .expect(sql);
    rows.map(|row| row.expect(sql).into_iter().map(Cell::from).collect())
        .collect()
}

/// Compares all questions on a database; gives how many rows were compared, by question.
fn compare(database: &Database, names: &Names) -> BTreeMap<&'static str, usize> {
    let places = Places::read(database);
    let mut compared = BTreeMap::new();
    for (title, sql) in questions() {
        let sql = names.put_into(sql);
        let (mut expected, order) = answer(&places, names, title).unwrap_or_else(|| {
            panic!("{title}: tests/support/answers.rs has no answer to this question")
        });
        let found = asked(database, &sql);
        check(title, &sql, &mut expected, order, found.clone());
        compared.insert(title, found.len());
    }
    compared
}

/// Whether an answer has the rows that are expected; where it is ordered and cut, any of the rows
/// that are equal in what it is ordered by.
fn check(
    title: &str,
    sql: &str,
    expected: &mut [Vec<Cell>],
    order: Order,
    mut found: Vec<Vec<Cell>>,
) {
    let said = |found: &[Vec<Cell>], expected: &[Vec<Cell>]| {
        format!("{title}\n{sql}\nfound {found:#?}\nexpected {expected:#?}")
    };
    let count = order
        .limit
        .map_or(expected.len(), |limit| limit.min(expected.len()));
    assert_eq!(found.len(), count, "{}", said(&found, expected));
    if let Some(key) = order.by {
        expected.sort_by(|one, other| key(other).compare(&key(one)));
        for (found_row, expected_row) in found.iter().zip(expected.iter()) {
            assert!(
                key(found_row).is_close(&key(expected_row)),
                "{}",
                said(&found, expected)
            );
        }
    }
    // Each row that was found is one of those expected, and none of them is found twice.
    let mut left = expected.to_vec();
    for row in found.drain(..) {
        let at = left.iter().position(|other| {
            other.len() == row.len()
                && row
                    .iter()
                    .zip(other)
                    .all(|(one, other)| one.is_close(other))
        });
        let at = at
            .unwrap_or_else(|| panic!("{title}\n{sql}\nfound {row:?}\nexpected one of {left:#?}"));
        left.swap_remove(at);
    }
}

// Random runs

const FUNCTIONS: [(&str, &str, &str); 6] = [
    ("main", "app", "main.c"),
    ("parse", "app", "parse.c"),
    ("copy", "app", "copy.c"),
    ("copy", "libc", ""),
    ("read", "libc", "parse.c"),
    ("wait", "", ""),
];
const THREADS: [&str; 2] = ["T1", "T2"];
const LABELS: [(&str, LabelValue<'static>); 4] = [
    ("worker", LabelValue::Text("1")),
    ("worker", LabelValue::Number(1)),
    ("worker", LabelValue::Text("2")),
    ("size", LabelValue::Number(64)),
];

/// A sample: its thread, its functions with lines, its labels, calls, and its cost in two metrics.
#[derive(Clone, Debug)]
struct Taken {
    thread: Option<usize>,
    stack: Vec<(usize, Option<u32>)>,
    labels: std::collections::BTreeSet<usize>,
    calls: Option<u64>,
    costs: [u8; 2],
}

fn taken() -> impl Strategy<Value = Taken> {
    let frame = (0..FUNCTIONS.len(), option::of(1..4_u32));
    // Some cost nothing: there are functions that only allocate.
    let costs = [
        prop_oneof![Just(0), 0..50_u8],
        prop_oneof![Just(0), 0..50_u8],
    ];
    (
        option::weighted(0.7, 0..THREADS.len()),
        vec(frame, 1..7),
        btree_set(0..LABELS.len(), 0..3),
        option::weighted(0.9, 0..5_u64),
        costs,
    )
        .prop_map(|(thread, stack, labels, calls, costs)| Taken {
            thread,
            stack,
            labels,
            calls,
            costs,
        })
}

fn store(database: &mut Database, samples: &[Taken]) {
    let mut builder = TreeBuilder::new(Batches::default(), Stop::default());
    let metrics = [
        builder.metric("time", Unit::Nanoseconds, Noise::Unknown),
        builder.metric("alloc", Unit::Bytes, Noise::Unknown),
    ];
    builder.run(RunFact::DefaultMetric(metrics[0]));
    for sample in samples {
        let mut stack = Vec::new();
        if let Some(thread) = sample.thread {
            stack.push(Frame::function(builder.function(FunctionDef {
                kind: Kind::Thread,
                ..FunctionDef::named(THREADS[thread])
            })));
        }
        for &(function, line) in &sample.stack {
            let (name, module, file) = FUNCTIONS[function];
            let kind = if name == "wait" {
                Kind::Pseudo
            } else {
                Kind::Function
            };
            let id = builder.function(FunctionDef {
                kind,
                module,
                file,
                ..FunctionDef::named(name)
            });
            stack.push(line.map_or_else(|| Frame::function(id), |line| Frame::line(id, line)));
        }
        let labels: Vec<Label<'_>> = sample
            .labels
            .iter()
            .map(|label| LABELS[*label])
            .map(|(key, value)| Label {
                key,
                value,
                unit: "",
            })
            .collect();
        let labels = (!labels.is_empty()).then(|| builder.labels(&labels));
        let values: Vec<_> = metrics
            .into_iter()
            .zip(sample.costs.map(f64::from))
            .collect();
        builder.sample(Sample {
            stack: &stack,
            shared: 0,
            calls: sample.calls,
            values: &values,
            labels,
        });
    }
    made_runs::write(builder, &made_up(), database);
}

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 60,
        rng_algorithm: RngAlgorithm::XorShift,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn answers_are_those_of_brute_force(first in vec(taken(), 1..14), second in vec(taken(), 1..14)) {
        let mut database = Database::in_memory().expect("memory");
        store(&mut database, &first);
        store(&mut database, &second);
        compare(&database, &Names::default());
    }
}

// Recordings

/// Pairs of recordings under `tests/`: two runs of one database.
const RECORDINGS: [[&str; 2]; 5] = [
    ["samples/pprof/cpu.pb.gz", "samples/pprof/heap.pb.gz"],
    [
        "samples/pprof/heap.pb.gz",
        "cases/dyalog_xml/shop-tree/run.xml",
    ],
    [
        "cases/austin/work/work.cpu.austin",
        "cases/dyalog_xml/shop-tree/run.xml",
    ],
    [
        "samples/folded/perf-fp.inferno.folded",
        "samples/folded/perf-fp.inferno-pid-tid.folded",
    ],
    // Two programs: functions of either are not in the other.
    [
        "samples/folded/py-spy.folded",
        "samples/folded/tracing-flame.folded",
    ],
];

fn recorded(names: [&str; 2]) -> Database {
    let mut database = Database::in_memory().expect("memory");
    for name in names {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests")
            .join(name);
        let bytes = fs::read(path).expect(name);
        let input = Input::new(
            Box::new(bytes.as_slice()),
            Limits::default(),
            Stop::default(),
        )
        .expect(name);
        let format = formats::detect(input.head()).expect(name);
        let options = Options::default();
        let describe = |fingerprint| meta(format, &options, name, fingerprint);
        let stored = database;
        let read = import(input, format, &options, &Stop::default(), describe, || {
            Ok(stored)
        })
        .expect(name);
        database = read.database;
    }
    database
}

#[test]
fn answers_about_recordings_are_those_of_brute_force() {
    let mut compared: BTreeMap<&str, usize> = BTreeMap::new();
    for pair in RECORDINGS {
        let database = recorded(pair);
        for names in Names::of(&Places::read(&database)) {
            for (title, rows) in compare(&database, &names) {
                *compared.entry(title).or_default() += rows;
            }
        }
    }
    // No statement is compared with empty answers only.
    let empty: Vec<_> = compared
        .iter()
        .filter(|(_, rows)| **rows == 0)
        .map(|(title, _)| title)
        .collect();
    assert!(empty.is_empty(), "{empty:?}");
}

/// Views of places and of pairs of runs are tables like others: in which order they are joined, and how, changes no answer.
#[test]
fn joins_are_the_same_whatever_their_order() {
    let database = recorded([
        "samples/folded/py-spy.folded",
        "samples/folded/tracing-flame.folded",
    ]);
    let counted = |sql: &str| asked(&database, sql);
    for (view, numbers) in [
        ("subtrees", "run_id"),
        ("ancestors", "run_id"),
        ("changes", "base_run_id"),
    ] {
        let rows = |from: &str| counted(&format!("SELECT COUNT(*) FROM {from}"));
        let whole = rows(&format!("{view} AS v WHERE v.{numbers} = 2"));
        assert_ne!(whole, [[Cell::Number(0.0)]], "{view}");
        for from in [
            format!("{view} AS v JOIN runs AS r ON r.run_id = v.{numbers} WHERE r.run_id > 1"),
            format!("runs AS r JOIN {view} AS v ON v.{numbers} = r.run_id WHERE r.run_id > 1"),
            format!("runs AS r LEFT JOIN {view} AS v ON v.{numbers} = r.run_id WHERE r.run_id > 1"),
            format!("{view} AS v WHERE v.{numbers} IN (SELECT MAX(run_id) FROM runs)"),
            format!("{view} AS v WHERE v.{numbers} = (SELECT MAX(run_id) FROM runs)"),
            format!("{view} AS v WHERE v.{numbers} + 0 IS 2"),
            format!("(SELECT DISTINCT * FROM {view}) AS v WHERE v.{numbers} BETWEEN 2 AND 9"),
        ] {
            assert_eq!(rows(&from), whole, "{from}");
        }
    }
}
