//! Paths select, and reports say of the selection, what brute force says: a model that keeps the
//! whole tree and answers every question by walking up from every node. Costs are quarters, so sums
//! are exact and figures are compared for equality. Also: what is written passes all checks, and
//! every check can fail.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use profdb::events::Kind;
use profdb::report::{self, Argument, ReportError, Request, Value};
use profdb::store::{CHECKS, Database, Finding};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::test_runner::RngAlgorithm;

use crate::support::long;
use crate::support::selection_model::{
    Model, Name, Operator, Path, Row, remove_definition, rows_of,
};
use crate::support::selection_replies::{Question, Reply, Shown};
use crate::support::selection_runs::{
    Function, METRICS, Opening, Opens, Place, Run, Said, functions, opening, runs,
};

/// Each half of the reports is asked half of the questions. Lines recur more rarely than functions:
/// they are in both.
const REPORTS: [[&str; 5]; 2] = [
    ["summary", "exclusive", "data", "lines", "calls"],
    ["tree", "cumulative", "lines", "summary", "call_lines"],
];

fn cases(few: u64, many: u64) -> ProptestConfig {
    let cases = long::repetitions("QUESTIONS", few, many);
    // The default generator, unoptimised, takes longer than everything that is tested.
    let rng_algorithm = RngAlgorithm::XorShift;
    ProptestConfig {
        cases: cases.try_into().expect("not that many"),
        rng_algorithm,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(cases(160, 480))]

    /// All reports agree with brute force: over whole runs and over whatever a path selects, in
    /// every metric. Runs that share a database do not see each other, and all that is written
    /// passes the checks.
    #[test]
    fn reports_over_selections_agree_with_brute_force(
        runs in vec(runs(), 1..4),
        asked in vec((path(), 0..METRICS.len(), shown()), 6),
    ) {
        let models: Vec<Model<'_>> = runs.iter().map(Model::of).collect();
        let stored = Stored::of(&models);
        for (at, (path, metric, shown)) in asked.iter().enumerate() {
            let run = at / 2 % models.len();
            for report in REPORTS[at % 2] {
                let question = Question { report, metric: *metric, shown: *shown, path: Some(path) };
                check(&stored, run, &models[run], &question, &spelled(path));
            }
        }
        for (run, (model, (_, metric, shown))) in models.iter().zip(&asked).enumerate() {
            for report in REPORTS[(metric + run) % 2].into_iter().filter(|report| !report.starts_with("call")) {
                check(&stored, run, model, &Question { report, metric: *metric, shown: *shown, path: None }, "");
            }
        }
    }
}

proptest! {
    #![proptest_config(cases(160, 480))]

    /// Every name, given as it is, selects the functions of exactly that name, whatever operators,
    /// quotes and brackets it holds; in a path, the longest name that fits is meant. So does a name
    /// in quotes, as long as no function's own name begins with such a quote.
    #[test]
    fn a_name_is_a_name_whatever_it_holds(
        run in runs_of(vec(hostile_name(), 1..6)),
        direct in any::<bool>(),
        reports in prop::sample::select(vec![["tree", "calls"], ["lines", "data"]]),
    ) {
        let model = Model::of(&run);
        let stored = Stored::of(std::slice::from_ref(&model));
        let used: BTreeSet<&str> = run.nodes.iter().map(|node| run.functions[node.function].name.as_str()).collect();
        let ask = |path: &Path, text: &str| {
            for report in reports {
                let question = Question { report, metric: 0, shown: Shown::Cumulative, path: Some(path) };
                check(&stored, 0, &model, &question, text);
            }
        };
        for name in &used {
            ask(&Path::to(name), name);
        }
        for (first, second) in used.iter().zip(used.iter().cycle().skip(1)) {
            let text = [*first, *second].join(if direct { ">" } else { "," });
            if let Some(path) = longest_names(&text, &used) {
                ask(&path, &text);
            }
        }
        let is_free = |quote: &char| used.iter().all(|name| !name.trim_start().starts_with(*quote));
        let Some(quote) = ['\'', '"'].into_iter().find(is_free) else { return Ok(()) };
        let (operator, sign) = if direct { (Operator::Direct, " > ") } else { (Operator::Within, ",") };
        let named: Vec<&str> = run.functions.iter().map(|function| function.name.as_str()).collect();
        for (first, second) in named.iter().zip(named.iter().cycle().skip(1)) {
            // Nothing in quotes is no name.
            if first.is_empty() || second.is_empty() {
                continue;
            }
            ask(&Path::to(first), &quoted(first, quote));
            let path = Path { rest: vec![(operator, Name::Exact((*second).to_owned()))], ..Path::to(first) };
            ask(&path, &[quoted(first, quote), quoted(second, quote)].join(sign));
        }
    }

    /// In a pattern, `*` and `?` alone have a meaning, and only where no function has the pattern
    /// for its name.
    #[test]
    fn a_pattern_fits_names_whatever_they_hold(
        run in runs_of(vec(hostile_name(), 1..6)),
        holes in vec((0..8_usize, prop_oneof!["\\*", "\\?"]), 1..3),
    ) {
        let model = Model::of(&run);
        let stored = Stored::of(std::slice::from_ref(&model));
        for function in &run.functions {
            let mut letters: Vec<String> = function.name.chars().map(String::from).collect();
            for (at, hole) in &holes {
                let end = letters.len();
                letters.splice((*at).min(end)..(at + 1).min(end), [hole.clone()]);
            }
            let pattern = letters.concat();
            let is_path = pattern.contains([',', '>']) || pattern.starts_with(['\'', '"']) || pattern.trim() != pattern;
            let is_name = run.nodes.iter().any(|node| run.functions[node.function].name == pattern);
            if is_path {
                continue;
            }
            let first = if is_name { Name::Exact(pattern.clone()) } else { Name::Pattern(pattern.clone()) };
            let path = Path { first, rest: Vec::new() };
            for report in ["tree", "calls"] {
                let question = Question { report, metric: 0, shown: Shown::Exclusive, path: Some(&path) };
                check(&stored, 0, &model, &question, &pattern);
            }
        }
    }
}

/// Runs in a database.
struct Stored {
    database: Database,
    /// The runs' numbers, and how many nodes were there before each.
    runs: Vec<(i64, i64)>,
}

impl Stored {
    fn of(models: &[Model<'_>]) -> Self {
        let mut database = Database::in_memory().expect("memory");
        let mut runs = Vec::new();
        for model in models {
            runs.push(model.run.write(&mut database, &model.figures));
            assert_eq!(
                database.broken_rules().expect("memory"),
                [],
                "{:?}",
                model.run
            );
        }
        Self { database, runs }
    }

    /// Cost of the selection, and the rows.
    fn ask(
        &self,
        at: usize,
        report: &str,
        metric: &str,
        arguments: &[(&str, Argument)],
    ) -> Result<(Option<f64>, Vec<Row>), ReportError> {
        let run = self
            .database
            .run(Some(self.runs[at].0))?
            .expect("it was stored");
        let arguments = arguments
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.clone()))
            .collect();
        let request = Request {
            metric: Some(metric.to_owned()),
            arguments,
            ..Request::default()
        };
        let report = report::by_name(report).expect("a report");
        let mut answer = report::ask(&self.database, report, &run, &request)?;
        let rows = rows_of(&mut answer)?;
        Ok((answer.subject.expect("it is a report").selected, rows))
    }
}

/// Asks a report of a run, and compares all that it says with the model: rows, their order, ranks
/// and running sums, the cost of the selection, the first rows alone, or that nothing is selected.
fn check(stored: &Stored, at: usize, model: &Model<'_>, question: &Question<'_>, text: &str) {
    let what = || format!("{question:?} spelled {text:?} of {:?}", model.run);
    let metric = METRICS[question.metric].0;
    let mut arguments = Vec::new();
    if let Some(path) = question.path {
        arguments.push(("fn", Argument::Text(text.to_owned())));
        if let Name::Thread(thread) = &path.first {
            arguments.push(("thread", Argument::Text(thread.clone())));
        }
    }
    if question.shown == Shown::Exclusive {
        arguments.push(("exclusive", Argument::Flag));
    }
    // Running percentages are compared wherever a report has them.
    let header = report::by_name(question.report).expect("a report").header();
    if header.parameters.iter().any(|known| known.name == "cumpct") {
        arguments.push(("cumpct", Argument::Flag));
    }
    // Half of the time the reports by line are asked for by a flag.
    let report = match (question.report, question.metric) {
        ("lines", 0) => "summary",
        ("call_lines", 0) => "calls",
        (report, _) => report,
    };
    if report != question.report {
        arguments.push(("lines", Argument::Flag));
    }
    let answer = stored.ask(at, report, metric, &arguments);
    let Some(Reply {
        selected,
        rows: mut expected,
        from_totals,
    }) = model.reply(question, stored.runs[at].1)
    else {
        assert!(
            matches!(answer, Err(ReportError::NothingSelected(_))),
            "{answer:?}: {}",
            what()
        );
        return;
    };
    let (cost, all) = answer.unwrap_or_else(|error| panic!("{error}: {}", what()));
    assert_eq!(cost, selected, "{}", what());
    check_order(question.report, &all).unwrap_or_else(|error| panic!("{error}: {}", what()));

    if question.path.is_none() {
        arguments.push(("first", Argument::Count(2)));
        let first = stored
            .ask(at, report, metric, &arguments)
            .expect("it answered before")
            .1;
        assert_eq!(first, all[..all.len().min(2)], "the first rows: {}", what());
    }

    let mut rows = all;
    for row in &mut rows {
        // Compared by check_order.
        row.remove("rank");
        row.remove("cum_pct");
        // Numbers of functions are for tables of several metrics, and code is not asked for here.
        row.remove("id");
        remove_definition(row);
        row.remove("code");
        let average = match (&row.get("cost"), &row["calls"]) {
            (Some(Value::Real(cost)), Value::Integer(calls)) if *calls > 0 => {
                Value::Real(cost / f64::from(i32::try_from(*calls).expect("calls are few")))
            }
            _ => Value::Null,
        };
        assert_eq!(
            row.remove("avg").unwrap_or(average.clone()),
            average,
            "{}",
            what()
        );
    }
    if from_totals && question.metric != model.run.default {
        rows.retain(costs_something);
        expected.retain(costs_something);
    }
    let key = |row: &Row| format!("{row:?}");
    rows.sort_by_cached_key(key);
    expected.sort_by_cached_key(key);
    assert_eq!(rows, expected, "{}", what());
}

fn costs_something(row: &Row) -> bool {
    let is_nothing =
        |value: Option<&Value>| matches!(value, None | Some(Value::Null | Value::Real(0.0)));
    !(is_nothing(row.get("exclusive")) && is_nothing(row.get("cumulative")))
}

/// Rows come in the order that the report promises; ranks count them, and running sums add up to
/// here.
fn check_order(report: &str, rows: &[Row]) -> Result<(), String> {
    let (falling, rising): (Option<&str>, &[&str]) = match report {
        "summary" => (Some("cost"), &["function", "module", "file"]),
        "lines" => (Some("cost"), &["function", "line", "col", "module"]),
        "exclusive" | "cumulative" => (Some(report), &["function", "module", "file"]),
        "calls" => (Some("cost"), &["element", "caller_module", "caller_file"]),
        "call_lines" => (
            Some("cost"),
            &[
                "name",
                "caller_line",
                "caller_col",
                "caller_module",
                "caller_file",
            ],
        ),
        "data" => (None, &["function", "module"]),
        _ => (None, &["node_id"]),
    };
    let compared = |a: &Row, b: &Row| {
        let first = falling.map_or(Ordering::Equal, |column| compared(&b[column], &a[column]));
        rising.iter().fold(first, |order, column| {
            order.then_with(|| compared(&a[*column], &b[*column]))
        })
    };
    if let Some(pair) = rows
        .windows(2)
        .find(|pair| compared(&pair[0], &pair[1]) == Ordering::Greater)
    {
        return Err(format!("wrong order: {pair:#?}"));
    }
    let mut sum = 0.0;
    let percentage = if falling == Some(report) {
        "pct"
    } else {
        "cost_pct"
    };
    for (rank, row) in (1..).zip(rows) {
        if let Some(Value::Real(pct)) = row.get(percentage) {
            sum += pct;
        }
        let is_sum = match row.get("cum_pct") {
            None => true,
            Some(Value::Real(found)) => (found - sum).abs() < 1e-6,
            Some(_) => row[percentage] == Value::Null,
        };
        if row
            .get("rank")
            .is_some_and(|found| *found != Value::Integer(rank))
            || !is_sum
        {
            return Err(format!("expected rank {rank} and sum {sum}: {row:#?}"));
        }
    }
    Ok(())
}

/// The order of values in a report: NULL first, so that it comes last where figures fall.
fn compared(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Real(a), Value::Real(b)) => a.total_cmp(b),
        (Value::Integer(a), Value::Integer(b)) => a.cmp(b),
        (Value::Text(a), Value::Text(b)) => a.cmp(b),
        (a, b) => (*a != Value::Null).cmp(&(*b != Value::Null)),
    }
}

/// Paths of up to four steps, some within a thread; names recur in them, some are patterns, and one
/// is nobody's.
fn path() -> impl Strategy<Value = Path> {
    let exact = |name: &'static str| Just(Name::Exact(name.to_owned()));
    let pattern = prop::sample::select(vec!["*", "f*", "?", "?a", "*a*", "f?", "[A]*"]);
    let name = prop_oneof![
        5 => exact("A"),
        5 => exact("B"),
        4 => exact("C"),
        2 => exact("fa"),
        2 => exact("fb"),
        1 => exact("é"),
        1 => exact("main"),
        1 => exact("nobody"),
        3 => pattern.prop_map(|pattern| Name::Pattern(pattern.to_owned())),
    ]
    .boxed();
    let operator = prop_oneof![Just(Operator::Within), Just(Operator::Direct)];
    let thread = option::weighted(0.2, prop::sample::select(vec!["B", "fa"]));
    (thread, name.clone(), vec((operator, name), 0..4)).prop_map(|(thread, first, mut rest)| {
        match thread {
            None => Path { first, rest },
            Some(thread) => {
                rest.insert(0, (Operator::Within, first));
                Path {
                    first: Name::Thread(thread.to_owned()),
                    rest,
                }
            }
        }
    })
}

fn shown() -> impl Strategy<Value = Shown> {
    prop_oneof![Just(Shown::Cumulative), Just(Shown::Exclusive)]
}

/// A path as a user types it, without its thread.
fn spelled(path: &Path) -> String {
    let mut text = match &path.first {
        Name::Thread(_) => String::new(),
        first => first.text().to_owned(),
    };
    for (operator, name) in &path.rest {
        if !text.is_empty() {
            text.push_str(if matches!(operator, Operator::Within) {
                ","
            } else {
                ">"
            });
        }
        text.push_str(name.text());
    }
    text
}

/// What a path without blanks around its names means: at every step the longest name that ends at
/// an operator or the end. `None` if there is none, or if names begin or end with blanks.
fn longest_names(text: &str, names: &BTreeSet<&str>) -> Option<Path> {
    if names.iter().any(|name| name.trim() != *name) {
        return None;
    }
    let longest = |text: &str| {
        let ends = |name: &&&str| {
            let rest = text.strip_prefix(**name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([',', '>']))
        };
        names
            .iter()
            .filter(ends)
            .max_by_key(|name| name.len())
            .map(|name| (*name).to_owned())
    };
    let first = longest(text)?;
    let mut left = &text[first.len()..];
    let mut rest = Vec::new();
    while !left.is_empty() {
        let operator = if left.starts_with(',') {
            Operator::Within
        } else {
            Operator::Direct
        };
        let name = longest(&left[1..])?;
        left = &left[1 + name.len()..];
        rest.push((operator, Name::Exact(name)));
    }
    Some(Path {
        first: Name::Exact(first),
        rest,
    })
}

fn quoted(name: &str, quote: char) -> String {
    let doubled = name.replace(quote, &format!("{quote}{quote}"));
    format!("{quote}{doubled}{quote}")
}

/// Random runs of functions with the given names.
fn runs_of(names: impl Strategy<Value = Vec<String>>) -> impl Strategy<Value = Run> {
    (names, vec(opening(0..64_usize), 1..16), 0..METRICS.len()).prop_map(
        |(names, walk, default)| {
            let function = |(at, name): (usize, String)| Function {
                kind: Kind::Function,
                name,
                module: at.to_string(),
                file: String::new(),
                first_line: 0,
            };
            Run::of(
                names.into_iter().enumerate().map(function).collect(),
                &walk,
                default,
            )
        },
    )
}

/// Names that look like paths, patterns, quotes and SQL, and parts of them.
fn hostile_name() -> impl Strategy<Value = String> {
    let known = vec![
        "", "A", "B", "A,B", "A>B", "a->b", "a-", "b", "f<a, b>", "f<a", "*x*", "axb", "'q'", "q",
        "\"q\"", "it's", "[", "[A]", "]", "x[1]", "[^x]", ",", ">", ">=", "|>|", "*", "?", " A",
        "A ", "'", "\"", "\\", "%", "_", "é", "日本", "\t", "a\nb", ":run", "NULL", "--", ";",
    ];
    prop_oneof![
        2 => prop::sample::select(known).prop_map(str::to_owned),
        2 => "A[,>][AB]|[AB]{1,2}",
        1 => "[AB,>*?'\"\\[\\]^ é-]{1,5}",
    ]
}

/// What each check is there to report, done to the second of two runs. Its nodes, counted from
/// `:before`: 1 is A, 2 is B below it, 3 its line [1], 4 is B called from there, 5 is A below 1, 6
/// is C alone. Its metrics are 4, 5 and 6.
const DAMAGE: [(&str, &[&str]); 14] = [
    (
        "nodes_in_runs",
        &[
            "UPDATE runs SET last_node = last_node - 1 WHERE run_id = 2",
            "UPDATE runs SET first_node = first_node + 1 WHERE run_id = 1",
            "UPDATE runs SET first_node = NULL WHERE run_id = 2",
            "UPDATE nodes SET node_id = 100 WHERE node_id = :before",
        ],
    ),
    (
        "runs_complete",
        &[
            "DELETE FROM nodes WHERE node_id = :before + 5",
            "UPDATE runs SET last_node = last_node + 1 WHERE run_id = 2",
            "UPDATE runs SET first_node = first_node + 1 WHERE run_id = 2",
        ],
    ),
    (
        "intervals",
        &[
            "UPDATE nodes SET size = size + 1 WHERE node_id = :before + 4",
            "UPDATE nodes SET size = size - 1 WHERE node_id = :before + 2",
            "UPDATE nodes SET depth = depth + 1 WHERE node_id = :before + 5",
            "UPDATE nodes SET depth = 1 WHERE node_id = :before + 1",
            "UPDATE nodes SET up = up - 1 WHERE node_id = :before + 5",
            "UPDATE nodes SET up = 100000 WHERE node_id = :before + 2",
            "UPDATE nodes SET up = NULL WHERE node_id = :before + 2",
        ],
    ),
    (
        "outer_nodes",
        &[
            "UPDATE nodes SET outer_up = 1 WHERE node_id = :before + 4",
            "UPDATE nodes SET outer_up = 100000 WHERE node_id = :before + 4",
            "UPDATE nodes SET outer_up = -4 WHERE node_id = :before + 1",
            "UPDATE nodes SET outer_up = 0 WHERE node_id = :before + 1",
        ],
    ),
    (
        "line_nodes",
        &[
            "UPDATE nodes SET line = 1 WHERE node_id = :before + 1",
            "UPDATE nodes SET line = 1 WHERE node_id = :before + 4",
            "UPDATE nodes SET function_id = function_id - 1 WHERE node_id = :before + 3",
        ],
    ),
    (
        "function_nodes",
        &[
            "DELETE FROM function_nodes WHERE node_id = :before + 4",
            "UPDATE function_nodes SET node_id = node_id + 1 WHERE node_id = :before + 2",
            "UPDATE function_nodes SET run_id = 1 WHERE node_id = :before + 2",
            "UPDATE function_nodes SET run_id = 3 WHERE node_id = :before + 2",
            "UPDATE function_nodes SET function_id = function_id + 100 WHERE node_id = :before + 2",
        ],
    ),
    (
        "function_totals",
        &[
            "UPDATE nodes SET exclusive = exclusive + 1 WHERE node_id = :before + 5",
            "UPDATE nodes SET cumulative_other = cumulative + 1 WHERE node_id = :before + 1",
            "UPDATE nodes SET calls = NULL WHERE node_id = :before + 1",
            "UPDATE nodes SET outer_up = NULL WHERE node_id = :before + 4",
            "UPDATE node_costs SET cumulative_other = cumulative + 1 WHERE node_id = :before + 4",
            "UPDATE function_info SET calls = calls + 1 WHERE cumulative > 0",
            "UPDATE function_info SET seen = seen + 1 WHERE cumulative > 0",
        ],
    ),
    (
        "functions_listed",
        &[
            "INSERT INTO functions (kind, name) VALUES ('function', 'nobody')",
            "DELETE FROM function_info WHERE function_id = 1 AND metric_id = 4",
            "UPDATE runs SET functions = functions + 1 WHERE run_id = 2",
        ],
    ),
    (
        "line_totals",
        &[
            "UPDATE line_info SET exclusive = exclusive + 1",
            "UPDATE line_info SET cumulative = cumulative + 1",
            "UPDATE line_info SET cumulative = NULL",
            "UPDATE nodes SET calls = calls + 1 WHERE node_id = :before + 3",
        ],
    ),
    (
        "edge_totals",
        &[
            "UPDATE edges SET outermost_other = outermost + 1 WHERE caller_id <> 0",
            "UPDATE edges SET exclusive = exclusive + 1 WHERE caller_id = 0",
            "UPDATE edges SET seen_other = seen + 1 WHERE caller_line <> -1",
            "UPDATE edges SET calls = calls + 1 WHERE caller_id = 0",
            "DELETE FROM edges WHERE caller_id = 0",
        ],
    ),
    (
        "metrics_listed",
        &[
            "UPDATE metrics SET total = total + 1",
            "UPDATE metrics SET position = position + 1 WHERE position = 3",
        ],
    ),
    (
        "references",
        &[
            "UPDATE nodes SET function_id = 1000 WHERE node_id = :before + 4",
            "UPDATE node_costs SET metric_id = 1000 WHERE node_id = :before + 4",
            "UPDATE node_costs SET node_id = node_id - :before WHERE node_id > :before",
            "UPDATE function_info SET metric_id = 1000 WHERE metric_id = 1",
            "UPDATE function_info SET function_id = 1000 WHERE function_id = 1",
            "UPDATE line_info SET metric_id = 1000 WHERE metric_id = 1",
            "UPDATE line_info SET function_id = 1000",
            "UPDATE edges SET metric_id = 1000 WHERE metric_id = 1",
            "UPDATE edges SET callee_id = 1000 WHERE callee_id = 1 AND caller_id = 0",
            "UPDATE edges SET caller_id = 1000 WHERE caller_id = 1",
            "UPDATE runs SET default_metric_id = 1000 WHERE run_id = 2",
            "UPDATE runs SET default_metric_id = 1 WHERE run_id = 2",
        ],
    ),
    (
        "labels",
        &[
            "INSERT INTO label_sets VALUES (9, 1, 'a', 'b', '')",
            "INSERT INTO node_labels VALUES (1, 1, 1, 5.0)",
            "INSERT INTO label_sets VALUES (1, 1, 'a', 'b', ''); INSERT INTO node_labels VALUES (1, 1, 2, 5.0)",
            "INSERT INTO label_sets VALUES (1, 1, 'a', 'b', ''); INSERT INTO node_labels VALUES (1, 1000, 1, 5.0)",
            "INSERT INTO label_sets VALUES (1, 1, 'a', 'b', ''); INSERT INTO node_labels VALUES (1000, 1, 1, 5.0)",
        ],
    ),
    (
        "sources",
        &[
            "INSERT INTO sources (sha256, first_line) VALUES ('a', 1)",
            "INSERT INTO sources VALUES (9, 'a', 1); INSERT INTO source_texts VALUES (9, 1, 'b')",
            "INSERT INTO sources VALUES (9, 'a', 1); INSERT INTO run_sources VALUES (1, 1, '', 9)",
            "INSERT INTO source_texts VALUES (9, 1, 'b')",
            "INSERT INTO run_sources VALUES (1, 1, '', 9)",
            "INSERT INTO sources VALUES (9, 'a', 1); INSERT INTO source_texts VALUES (9, 0, 'b');
             INSERT INTO run_sources VALUES (1, 1, '', 9)",
            "INSERT INTO sources VALUES (9, 'a', 1); INSERT INTO source_texts VALUES (9, 1, 'b');
             INSERT INTO run_sources VALUES (1000, 1, '', 9)",
            "INSERT INTO sources VALUES (9, 'a', 1); INSERT INTO source_texts VALUES (9, 1, 'b');
             INSERT INTO run_sources VALUES (1, 1000, '', 9)",
        ],
    ),
];

/// Every check reports the damage that it is there to report.
#[test]
fn every_check_can_fail() {
    let stored = Stored::of(&[Model::of(&damageable(1)), Model::of(&damageable(2))]);
    let connection = stored.database.connection();
    let (_, before) = stored.runs[1];
    let damaged = |damage: &str| {
        connection.execute_batch("BEGIN").expect("memory");
        let changes = connection.total_changes();
        let damage = damage.replace(":before", &before.to_string());
        connection
            .execute_batch(&damage)
            .unwrap_or_else(|error| panic!("{damage}: {error}"));
        assert!(
            connection.total_changes() > changes,
            "{damage}: nothing has changed"
        );
        let failed = stored.database.broken_rules().expect("memory");
        let is_recounted = stored.database.is_as_recounted().expect("memory");
        let is_recounted_check = |found: &Finding| !["labels", "sources"].contains(&found.check);
        assert!(
            !is_recounted || !failed.iter().any(is_recounted_check),
            "{damage}: the recount does not see it"
        );
        connection.execute_batch("ROLLBACK").expect("memory");
        failed
            .into_iter()
            .map(|found| found.check)
            .collect::<BTreeSet<_>>()
    };
    assert_eq!(stored.database.broken_rules().expect("memory"), []);
    for (check, damages) in DAMAGE {
        for damage in damages {
            let failed = damaged(damage);
            assert!(
                failed.contains(&check),
                "{damage}: expected {check}, failed {failed:?}"
            );
        }
    }
    let known: BTreeSet<&str> = CHECKS.iter().map(|(name, _)| *name).collect();
    assert_eq!(
        known,
        DAMAGE.iter().map(|(check, _)| *check).collect(),
        "checks that have their damage here"
    );
}

/// A calls B, B calls itself from its line 1, and then A calls A; `factor` times as expensive.
fn damageable(factor: u8) -> Run {
    let cost = f64::from(factor);
    let step = |close: usize, opens: Opens| Opening {
        close,
        opens,
        calls: Some(1),
        own: [cost, 2.0 * cost, 0.0],
        said: [Said::Exclusive; 3],
    };
    let line = Opens::Line(Place {
        file: "",
        line: 1,
        col: 0,
    });
    let walk = [
        step(0, Opens::Function(0)),
        step(0, Opens::Function(1)),
        step(0, line),
        step(0, Opens::Function(1)),
        step(3, Opens::Function(0)),
    ];
    let mut run = Run::of(functions(), &walk, 0);
    // Somebody to be confused with.
    run.nodes
        .extend(Run::of(functions(), &[step(0, Opens::Function(2))], 0).nodes);
    run
}
