//! Statements that reports run and show, and the names in them.

use profdb::events::{Cost, Frame, FunctionDef, Kind, Noise, Unit};
use profdb::report::{
    Answer, Argument, Dialect, REPORTS, ReportError, Request, Shape, ask, by_name, template,
};
use profdb::store::{Database, RunInfo, StoreError};
use rusqlite::types::ToSql;

use crate::support::described_runs::{add_run, emit_root, emit_time};
use crate::support::made_runs::made_up;

/// Names that are hard to write in a statement.
const NAMES: [&str; 3] = [
    "it's :run; --",
    "a\nb\tc\u{7f}",
    "FROM nodes t.line IS e.line",
];

fn run_of(names: &[&str]) -> (Database, RunInfo) {
    let mut database = Database::in_memory().expect("memory");
    add_run(&mut database, &made_up(), |sink| {
        let time = emit_time(sink);
        for name in names {
            emit_root(sink, FunctionDef::named(name), Some(1), time, 5.0);
        }
    });
    let run = database.run(None).expect("a database").expect("a run");
    (database, run)
}

fn asked<'d>(
    database: &'d Database,
    run: &RunInfo,
    report: &str,
    arguments: &[(&str, Argument)],
    dialect: Option<Dialect>,
) -> Result<Answer<'d>, ReportError> {
    let arguments = arguments.iter();
    let request = Request {
        dialect,
        arguments: arguments
            .map(|(name, value)| ((*name).to_owned(), value.clone()))
            .collect(),
        ..Request::default()
    };
    ask(database, by_name(report).expect("a report"), run, &request)
}

fn path(name: &str) -> Argument {
    Argument::Text(format!("\"{name}\""))
}

fn count_rows(answer: &mut Answer<'_>) -> usize {
    let mut rows = 0;
    let read = answer.each(|_| {
        rows += 1;
        Ok::<_, StoreError>(())
    });
    read.expect("rows");
    rows
}

#[test]
fn shown_statement_with_any_value_selects_the_same_rows() {
    let (database, run) = run_of(&NAMES);
    for name in NAMES {
        let mut answer = asked(&database, &run, "summary", &[("fn", path(name))], None)
            .expect("a known function");
        assert_eq!(count_rows(&mut answer), 1, "{name:?}");
        let mut statement = database
            .connection()
            .prepare(&answer.script)
            .unwrap_or_else(|error| panic!("{error}: {}", answer.script));
        let rows = statement.query_map([], |_| Ok(())).expect("rows");
        assert_eq!(rows.count(), 1, "{}", answer.script);
    }
}

#[test]
fn values_of_a_template_are_literals_that_sql_reads_back() {
    let percentages = [7.0, -1.5, 1e300, 0.1];
    let metrics = ["it's :run; --", "a\nb\0c\u{7f}", "time", "bytes"];
    for (percentage, metric) in percentages.into_iter().zip(metrics) {
        let mut database = Database::in_memory().expect("memory");
        add_run(&mut database, &made_up(), |sink| {
            let metric = sink.metric(metric, Unit::Count, Noise::Unknown);
            emit_root(sink, FunctionDef::named("f"), Some(1), metric, 5.0);
        });
        let run = database.run(None).expect("a database").expect("a run");
        let known = database.metrics(run.run_id).expect("a database");
        let request = Request {
            arguments: vec![
                ("pct".to_owned(), Argument::Number(percentage)),
                ("first".to_owned(), Argument::Count(7)),
            ],
            ..Request::default()
        };
        let report = by_name("summary").expect("a report");
        let template = template(report, &run, &known, &request, Shape::Run);
        let values = template.expect("a question that makes sense").values;
        let is_value = |name: &str, value: &dyn ToSql| {
            let of_name = values.iter().find(|(known, _)| known == name);
            let (_, literal) = of_name.unwrap_or_else(|| panic!("{name}: {values:?}"));
            let sql = format!("SELECT {literal} IS ?1");
            let is_value = database
                .connection()
                .query_row(&sql, [value], |row| row.get::<_, bool>(0));
            assert_eq!(is_value, Ok(true), "{name}: {literal}");
        };
        is_value("pct", &percentage);
        is_value("metric", &metric);
        is_value("first", &7);
        is_value("run", &1);
        is_value("shift", &0.0);
    }
}

#[test]
fn shown_statement_has_only_the_parts_that_it_mentions() {
    let (database, run) = run_of(&["f"]);
    let mut parts = 0;
    for report in REPORTS {
        let Ok(answer) = asked(&database, &run, report.name, &[("fn", path("f"))], None) else {
            continue;
        };
        let words: Vec<&str> = answer
            .script
            .split(|letter: char| !letter.is_alphanumeric() && letter != '_')
            .collect();
        for line in answer.script.lines() {
            assert!(!line.trim_start().starts_with("--"), "{line}");
            let part = line
                .strip_suffix(" AS (")
                .filter(|part| !part.starts_with(' '));
            let part = part.map(|part| part.strip_prefix("WITH ").unwrap_or(part));
            let Some(name) = part.and_then(|part| part.split([' ', '(']).next()) else {
                continue;
            };
            parts += 1;
            let uses = words.iter().filter(|word| **word == name).count();
            assert!(uses > 1, "{name} is not used in\n{}", answer.script);
        }
        let parameter = answer.script.find(" :");
        assert_eq!(parameter, None, "{}", answer.script);
    }
    assert!(parts > 10, "{parts} parts");
}

#[test]
fn name_with_words_of_sql_stays_unchanged_in_the_sql_of_an_engine() {
    let names = [
        "FROM nodes ROWS UNBOUNDED PRECEDING",
        "x = :a WINDOW w AS (ORDER BY x) t.line IS e.line",
    ];
    let (database, run) = run_of(&names);
    for name in names {
        for (_, dialect) in Dialect::ALL {
            let answer = asked(
                &database,
                &run,
                "summary",
                &[("fn", path(name))],
                Some(dialect),
            )
            .expect("a portable report");
            let literal = format!("'{name}'");
            assert!(answer.script.contains(&literal), "{}", answer.script);
            let rest = answer.script.replace(&literal, "");
            assert!(!rest.contains("UNBOUNDED PRECEDING)"), "{rest}");
        }
    }
}

#[test]
fn thread_is_selected_by_its_name_or_a_unique_end_of_it() {
    let table: &[(&str, &[&str], Option<&str>)] = &[
        (
            "Thread_0102",
            &["Thread_0102", "Thread_0103"],
            Some("Thread_0102"),
        ),
        ("0102", &["Thread_0102", "Thread_0103"], Some("Thread_0102")),
        ("0102", &["Thread_0102", "0102"], Some("0102")),
        ("0102", &["Thread_0102", "Worker 0102"], None),
        ("102", &["Thread_0102"], None),
        ("Thread", &["Thread_0102"], None),
        ("main", &["\"main\"", "\"domain\""], Some("\"main\"")),
        (
            "loop",
            &["the \"event loop\"", "loop (2)"],
            Some("the \"event loop\""),
        ),
        ("(2)", &["loop", "loop (2)"], Some("loop (2)")),
        ("é", &["Café", "Thread é"], Some("Thread é")),
        ("", &["Thread_", "x"], None),
        ("x", &[], None),
    ];
    for (wanted, threads, expected) in table {
        let mut database = Database::in_memory().expect("memory");
        add_run(&mut database, &made_up(), |sink| {
            let time = emit_time(sink);
            let function = sink.function(FunctionDef::named("f"));
            for (name, cost) in threads.iter().zip([1.0, 2.0]) {
                let thread = sink.function(FunctionDef {
                    kind: Kind::Thread,
                    ..FunctionDef::named(name)
                });
                sink.enter(Frame::function(thread), None);
                sink.enter(Frame::function(function), None);
                sink.cost(time, Cost::Exclusive(cost));
                sink.leave();
                sink.leave();
            }
        });
        let run = database.run(None).expect("a database").expect("a run");
        let argument = ("thread", Argument::Text((*wanted).to_owned()));
        let selected = match asked(&database, &run, "summary", &[argument], None) {
            Ok(answer) => answer.subject.expect("a report").selected,
            Err(ReportError::NothingSelected(_) | ReportError::Usage(_)) => None,
            Err(error) => panic!("{error}"),
        };
        let known = threads.iter().zip([1.0, 2.0]);
        let expected = known
            .filter(|(name, _)| Some(**name) == *expected)
            .map(|(_, cost)| cost)
            .next();
        assert_eq!(selected, expected, "{wanted} of {threads:?}");
    }
}
