//! Labels of samples, threads and filters select what brute force over the samples selects. Costs
//! are whole numbers, so sums are exact.

use std::collections::{BTreeMap, BTreeSet};

use profdb::base::error::Stop;
use profdb::events::{
    Frame, FunctionDef, FunctionId, Kind, Label, LabelValue, MetricId, Noise, RunFact, Sample,
    Sink as _, Unit,
};
use profdb::profile::TreeBuilder;
use profdb::report::{self, Argument, ReportError, Request, Value};
use profdb::store::{CHECKS, Database};
use proptest::collection::{btree_set, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngAlgorithm;

use crate::support::made_runs::{self, Batches, made_up};

/// Text, and numbers with and without a unit. One looks like another.
const LABELS: [(&str, LabelValue<'static>, &str); 6] = [
    ("worker", LabelValue::Text("1"), ""),
    ("worker", LabelValue::Text("2"), ""),
    ("worker", LabelValue::Number(2), ""),
    ("size", LabelValue::Number(64), "bytes"),
    ("size", LabelValue::Text("64 bytes"), ""),
    ("", LabelValue::Text(""), ""),
];

const FUNCTIONS: [&str; 4] = ["a", "b", "c", "d"];
const THREADS: [&str; 3] = ["T1", "T2", "T3"];

/// A sample: its thread if it has one, its functions, its labels, and its cost in two metrics.
#[derive(Clone, Debug)]
struct Taken {
    thread: Option<usize>,
    stack: Vec<usize>,
    labels: BTreeSet<usize>,
    costs: [i32; 2],
}

fn taken() -> impl Strategy<Value = Taken> {
    let costs = [0..50_i32, -20..50_i32];
    let stack = vec(0..FUNCTIONS.len(), 1..6);
    (
        option::weighted(0.8, 0..THREADS.len()),
        stack,
        btree_set(0..LABELS.len(), 0..3),
        costs,
    )
        .prop_map(|(thread, stack, labels, costs)| Taken {
            thread,
            stack,
            labels,
            costs,
        })
}

/// What is asked for besides the report.
#[derive(Clone, Debug, Default)]
struct Asked {
    metric: usize,
    /// Places in [`LABELS`], and whether the value is given.
    tags: Vec<(usize, bool)>,
    /// Functions, by flag.
    path: Option<usize>,
    focus: Option<usize>,
    ignore: Option<usize>,
    hide: Option<usize>,
}

fn asked() -> impl Strategy<Value = Asked> {
    let function = || option::weighted(0.3, 0..FUNCTIONS.len());
    (
        0..2_usize,
        vec((0..LABELS.len(), any::<bool>()), 0..3),
        function(),
        function(),
        function(),
        function(),
    )
        .prop_map(|(metric, tags, path, focus, ignore, hide)| Asked {
            metric,
            tags,
            path,
            focus,
            ignore,
            hide,
        })
}

fn stored(samples: &[Taken], default: usize) -> Database {
    let mut builder = TreeBuilder::new(Batches::default(), Stop::default());
    let metrics = [
        builder.metric("time", Unit::Nanoseconds, Noise::Unknown),
        builder.metric("alloc", Unit::Bytes, Noise::Unknown),
    ];
    builder.run(RunFact::DefaultMetric(metrics[default]));
    for sample in samples {
        let thread = sample.thread.map(|thread| FunctionDef {
            kind: Kind::Thread,
            ..FunctionDef::named(THREADS[thread])
        });
        let functions = sample
            .stack
            .iter()
            .map(|function| FunctionDef::named(FUNCTIONS[*function]));
        let ids: Vec<FunctionId> = thread
            .into_iter()
            .chain(functions)
            .map(|def| builder.function(def))
            .collect();
        let stack: Vec<Frame<'_>> = ids.into_iter().map(Frame::function).collect();
        let labels: Vec<Label<'_>> = sample
            .labels
            .iter()
            .map(|label| LABELS[*label])
            .map(|(key, value, unit)| Label { key, value, unit })
            .collect();
        let labels = (!labels.is_empty()).then(|| builder.labels(&labels));
        let values: Vec<(MetricId, f64)> = metrics
            .into_iter()
            .zip(sample.costs.map(f64::from))
            .collect();
        builder.sample(Sample {
            stack: &stack,
            shared: 0,
            calls: None,
            values: &values,
            labels,
        });
    }
    let mut database = Database::in_memory().expect("memory");
    made_runs::write(builder, &made_up(), &mut database);
    database
}

fn has(sample: &Taken, (label, with_value): (usize, bool)) -> bool {
    let (key, value, unit) = LABELS[label];
    let text = |value: LabelValue<'_>| match value {
        LabelValue::Number(number) => number.to_string(),
        LabelValue::Text(text) => text.to_owned(),
    };
    let wanted = text(value);
    sample
        .labels
        .iter()
        .map(|known| LABELS[*known])
        .any(|(known_key, known, known_unit)| {
            let known = text(known);
            let spellings = [
                known.clone(),
                format!("{known}{known_unit}"),
                format!("{known} {known_unit}"),
            ];
            // Asked as it is spelled by the report.
            let asked = if unit.is_empty() {
                wanted.clone()
            } else {
                format!("{wanted} {unit}")
            };
            known_key == key && (!with_value || spellings.contains(&asked))
        })
}

/// What is selected of the samples: stack and cost of each, with the thread and labels.
fn selected<'s>(samples: &'s [Taken], asked: &Asked) -> Vec<(&'s Taken, Vec<usize>, f64)> {
    let mut left = Vec::new();
    for sample in samples {
        let on_stack = |function: Option<usize>| {
            function.is_some_and(|function| sample.stack.contains(&function))
        };
        let kept = asked.tags.iter().all(|tag| has(sample, *tag))
            && (asked.focus.is_none() || on_stack(asked.focus))
            && !on_stack(asked.ignore);
        if !kept {
            continue;
        }
        let visible: Vec<usize> = sample
            .stack
            .iter()
            .copied()
            .filter(|function| Some(*function) != asked.hide)
            .collect();
        let stack = match asked.path {
            None => visible,
            Some(path) => match visible.iter().position(|function| *function == path) {
                Some(first) => visible[first..].to_vec(),
                None => continue,
            },
        };
        // Cost of which nothing is visible is nobody's, unless there is a thread.
        if stack.is_empty() && sample.thread.is_none() {
            continue;
        }
        left.push((sample, stack, f64::from(sample.costs[asked.metric])));
    }
    left
}

/// Exclusive and cumulative cost by name.
type Figures = BTreeMap<String, (f64, f64)>;

fn by_function(left: &[(&Taken, Vec<usize>, f64)]) -> Figures {
    let mut figures = Figures::new();
    for (_, stack, cost) in left {
        for function in stack.iter().collect::<BTreeSet<_>>() {
            figures
                .entry(FUNCTIONS[*function].to_owned())
                .or_default()
                .1 += cost;
        }
        if let Some(innermost) = stack.last() {
            figures
                .entry(FUNCTIONS[*innermost].to_owned())
                .or_default()
                .0 += cost;
        }
    }
    figures
}

/// Cost by group; a sample may be in several, or in none.
fn by_group(
    left: &[(&Taken, Vec<usize>, f64)],
    what: &str,
    groups: impl Fn(&Taken) -> Vec<String>,
) -> Figures {
    let mut figures = Figures::new();
    let mut rest = 0.0;
    for (sample, _, cost) in left {
        let groups = groups(sample);
        if groups.is_empty() {
            rest += cost;
        }
        for group in groups {
            let figures = figures.entry(group).or_default();
            *figures = (figures.0 + cost, figures.1 + cost);
        }
    }
    if rest != 0.0 {
        figures.insert(format!("(no {what})"), (rest, rest));
    }
    figures
}

fn label_text(value: LabelValue<'_>, unit: &str) -> String {
    let value = match value {
        LabelValue::Number(number) => number.to_string(),
        LabelValue::Text(text) => text.to_owned(),
    };
    if unit.is_empty() {
        value
    } else {
        format!("{value} {unit}")
    }
}

fn ask(
    database: &Database,
    report: &str,
    asked: &Asked,
    by: Option<&str>,
) -> Result<Vec<Vec<Value>>, ReportError> {
    let report = report::by_name(report).expect("a report");
    let run = database.run(None).expect("memory").expect("a run");
    let mut arguments: Vec<(String, Argument)> = Vec::new();
    let mut give =
        |name: &str, text: String| arguments.push((name.to_owned(), Argument::Text(text)));
    for (label, with_value) in &asked.tags {
        let (key, value, unit) = LABELS[*label];
        give(
            "label",
            if *with_value {
                format!("{key}={}", label_text(value, unit))
            } else {
                key.to_owned()
            },
        );
    }
    let flags = [
        ("fn", asked.path),
        ("focus", asked.focus),
        ("ignore", asked.ignore),
        ("hide", asked.hide),
    ];
    for (flag, function) in flags {
        if let Some(function) = function {
            give(
                flag,
                if flag == "fn" {
                    FUNCTIONS[function].to_owned()
                } else {
                    format!("^{}$", FUNCTIONS[function])
                },
            );
        }
    }
    if let Some(by) = by {
        give("by", by.to_owned());
    }
    let metric = Some(["time", "alloc"][asked.metric].to_owned());
    let request = Request {
        metric,
        arguments,
        ..Request::default()
    };
    let mut answer = report::ask(database, report, &run, &request)?;
    let columns: Vec<usize> = [
        "function",
        "key",
        "value",
        "unit",
        "exclusive",
        "cumulative",
    ]
    .iter()
    .filter_map(|name| {
        answer
            .columns
            .iter()
            .position(|column| column.name == *name)
    })
    .collect();
    let mut rows = Vec::new();
    answer.each(|row| {
        rows.push(columns.iter().map(|column| row[*column].clone()).collect());
        Ok::<_, ReportError>(())
    })?;
    Ok(rows)
}

/// Nothing selected is an error, and then there must be nothing.
fn compare(
    what: &str,
    expected: &Figures,
    found: Result<Vec<Vec<Value>>, ReportError>,
) -> Result<(), TestCaseError> {
    let rows = match found {
        Err(ReportError::NothingSelected(_)) => Vec::new(),
        found => found.map_err(|error| TestCaseError::fail(format!("{what}: {error}")))?,
    };
    let mut figures: Vec<(String, f64, f64)> = Vec::new();
    for row in rows {
        let [
            Value::Text(name),
            Value::Real(exclusive),
            Value::Real(cumulative),
        ] = &row[..]
        else {
            return Err(TestCaseError::fail(format!("{what}: {row:?}")));
        };
        figures.push((name.clone(), *exclusive, *cumulative));
    }
    figures.retain(|(_, exclusive, cumulative)| *exclusive != 0.0 || *cumulative != 0.0);
    figures.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let expected = expected
        .iter()
        .map(|(name, (exclusive, cumulative))| (name.clone(), *exclusive, *cumulative));
    let expected: Vec<_> = expected
        .filter(|(_, exclusive, cumulative)| *exclusive != 0.0 || *cumulative != 0.0)
        .collect();
    prop_assert_eq!(figures, expected, "{}", what);
    Ok(())
}

fn config() -> ProptestConfig {
    let rng_algorithm = RngAlgorithm::XorShift;
    ProptestConfig {
        cases: 150,
        rng_algorithm,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn labels_and_threads_select_what_brute_force_does(
        samples in vec(taken(), 1..12),
        default in 0..2_usize,
        questions in vec(asked(), 4),
        key in select(vec!["worker", "size", ""]),
    ) {
        let database = stored(&samples, default);
        for (name, sql) in CHECKS {
            let broken: i64 = database.connection()
                .query_row(&format!("SELECT COUNT(*) FROM ({})", sql.trim_end().trim_end_matches(';')), [], |row| row.get(0))
                .expect("a check");
            prop_assert_eq!(broken, 0, "{}", name);
        }
        // A name that the run does not have is an error of its own.
        let known = |function: Option<usize>| {
            function.filter(|function| samples.iter().any(|sample| sample.stack.contains(function)))
        };
        for asked in questions {
            let Asked { path, focus, ignore, hide, .. } = asked;
            let (path, focus, ignore, hide) = (known(path), known(focus), known(ignore), known(hide));
            let asked = &Asked { path, focus, ignore, hide, ..asked };
            let left = selected(&samples, asked);
            let what = |report: &str| format!("{report} {asked:?}");
            compare(&what("summary"), &by_function(&left), ask(&database, "summary", asked, None))?;

            let thread = |sample: &Taken| sample.thread.map(|thread| THREADS[thread].to_owned()).into_iter().collect();
            let mut threads = by_group(&left, "thread", thread);
            let mut rows = ask(&database, "summary", asked, Some("thread"));
            // A thread whose samples cost nothing may still have its node, or there is nothing to
            // tell apart.
            let none_left = left.iter().all(|(sample, ..)| sample.thread.is_none());
            if none_left || matches!(rows, Err(ReportError::NothingSelected(_))) {
                threads.retain(|name, _| name != "(no thread)");
                rows = rows.map(|rows| rows.into_iter().filter(|row| row[0] != Value::Text("(no thread)".into())).collect());
            }
            compare(&what("by thread"), &threads, rows)?;

            // Labels of samples that all cost nothing at their place leave no trace there.
            let values = |sample: &Taken| {
                let labels = sample.labels.iter().map(|label| LABELS[*label]).filter(|(known, ..)| *known == key);
                labels.map(|(_, value, unit)| label_text(value, unit)).collect::<Vec<_>>()
            };
            let mut tags = by_group(&left, key, values);
            // Values that are spelled alike (text, number) are rows of their own, added up here.
            let rows = ask(&database, "summary", asked, Some(&format!("label:{key}")));
            if matches!(rows, Err(ReportError::NothingSelected(_))) {
                tags.retain(|name, _| !name.starts_with("(no "));
            }
            compare(&what("by tag"), &tags, rows.map(added_up))?;
        }
    }
}

/// Rows of one name as one.
fn added_up(rows: Vec<Vec<Value>>) -> Vec<Vec<Value>> {
    let mut sums: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    for row in rows {
        if let [
            Value::Text(name),
            Value::Real(exclusive),
            Value::Real(cumulative),
        ] = &row[..]
        {
            let sum = sums.entry(name.clone()).or_default();
            *sum = (sum.0 + exclusive, sum.1 + cumulative);
        }
    }
    let row = |(name, (exclusive, cumulative))| {
        vec![
            Value::Text(name),
            Value::Real(exclusive),
            Value::Real(cumulative),
        ]
    };
    sums.into_iter().map(row).collect()
}

/// Thread, stack, labels and time of a sample.
type Plain<'p> = (Option<usize>, &'p [usize], &'p [usize], i32);

fn cost(of: &[Plain<'_>]) -> Vec<Taken> {
    let taken = |(thread, stack, labels, cost): &Plain<'_>| Taken {
        thread: *thread,
        stack: stack.to_vec(),
        labels: labels.iter().copied().collect(),
        costs: [*cost, 0],
    };
    of.iter().map(taken).collect()
}

#[test]
fn report_labels_lists_labels_with_their_cost() {
    let samples = cost(&[
        (None, &[0], &[0, 3], 5),
        (None, &[0, 1], &[0], 7),
        (None, &[2], &[2], 11),
        (None, &[3], &[], 13),
    ]);
    let database = stored(&samples, 0);
    let rows = ask(&database, "labels", &Asked::default(), None).expect("labels");
    let row = |key: &str, value: &str, unit: Option<&str>, cost: f64| {
        let text = |text: &str| Value::Text(text.to_owned());
        vec![
            text(key),
            text(value),
            unit.map_or(Value::Null, text),
            Value::Real(cost),
        ]
    };
    let expected = [
        row("size", "64", Some("bytes"), 5.0),
        row("worker", "1", None, 12.0),
        row("worker", "2", None, 11.0),
    ];
    assert_eq!(rows, expected);
    let below = Asked {
        path: Some(1),
        ..Asked::default()
    };
    assert_eq!(
        ask(&database, "labels", &below, None).expect("labels"),
        [row("worker", "1", None, 7.0)]
    );
}

#[test]
fn a_label_that_is_not_there_is_told_from_one_that_is() {
    let database = stored(&cost(&[(None, &[0], &[0], 5), (Some(1), &[1], &[3], 5)]), 0);
    let told =
        |report: &str, asked: &Asked, by: Option<&str>| match ask(&database, report, asked, by) {
            Err(ReportError::NothingSelected(told)) => told,
            other => panic!("{other:?}"),
        };
    let with = |tags: &[(usize, bool)]| Asked {
        tags: tags.to_vec(),
        ..Asked::default()
    };
    let table = [
        (
            with(&[(1, true)]),
            None,
            "no sample of run 1 has the label worker=2; values of worker: 1",
        ),
        (
            with(&[(5, false)]),
            None,
            "no sample of run 1 has the label ; its labels: size, worker",
        ),
        (
            with(&[(0, true), (3, true)]),
            None,
            "no selected sample of run 1 has the label size=64 bytes",
        ),
        (
            with(&[(0, true)]),
            Some("label:size"),
            "no selected sample of run 1 has the label size",
        ),
        (
            with(&[(0, true)]),
            Some("thread"),
            "the selected part of run 1 has no thread",
        ),
        (
            Asked::default(),
            Some("process"),
            "the selected part of run 1 has no process",
        ),
    ];
    for (asked, by, expected) in table {
        assert_eq!(told("summary", &asked, by), expected);
    }
    let unlabelled = stored(&cost(&[(None, &[0], &[], 5)]), 0);
    let told = ask(&unlabelled, "labels", &Asked::default(), None)
        .expect_err("no labels")
        .to_string();
    assert_eq!(told, "samples of run 1 have no labels");
}
