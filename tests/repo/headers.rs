//! Headers of reports say what their statements take and give.

use profdb::base::error::Stop;
use profdb::formats::{Options, format_named};
use profdb::input::{Input, Limits};
use profdb::pipeline::{import, meta};
use profdb::report::header::{self, Parameter};
use profdb::report::{self, Argument, REPORTS, Report, Request};
use profdb::store::Database;

/// A run that knows everything that a report may need, labels among it.
const LABELLED: &[u8] = include_bytes!("../cases/pprof/labels/run.pb");

fn database() -> Database {
    let stop = Stop::default();
    let input = Input::new(Box::new(LABELLED), Limits::default(), stop.clone())
        .expect("the file is readable");
    let (format, options) = (
        format_named("pprof").expect("the format is there"),
        Options::default(),
    );
    let describe = |fingerprint| meta(format, &options, "x", fingerprint);
    import(
        input,
        format,
        &options,
        &stop,
        describe,
        Database::in_memory,
    )
    .expect("a profile imports")
    .database
}

#[test]
fn headers_match_their_statements() {
    let database = database();
    let run = database.run(None).expect("a database").expect("a run");
    let name = "SELECT MIN(function) FROM summary";
    let function: String = database
        .connection()
        .query_row(name, [], |row| row.get(0))
        .expect("a function");
    let other: String = database
        .connection()
        .query_row("SELECT MAX(function) FROM summary", [], |row| row.get(0))
        .expect("a function");
    let key: String = database
        .connection()
        .query_row("SELECT MIN(key) FROM label_sets", [], |row| row.get(0))
        .expect("a label");
    for report in REPORTS {
        let Report { name, sql, .. } = report;
        let header = header::parse(sql).unwrap_or_else(|error| panic!("{name}: {error}"));
        let shown = |arguments: &[(String, Argument)]| {
            let function = ("fn".to_owned(), Argument::Text(function.clone()));
            let request = Request {
                arguments: arguments.iter().cloned().chain([function]).collect(),
                ..Request::default()
            };
            let answer = report::ask(&database, report, &run, &request)
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            answer.script
        };
        let plain = shown(&[]);
        let statement = database
            .connection()
            .prepare(&plain)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let columns: Vec<_> = header
            .columns
            .iter()
            .map(|column| column.name.as_ref())
            .collect();
        assert_eq!(
            statement.column_names().collect::<Vec<_>>(),
            columns,
            "{name}"
        );
        assert_eq!(statement.parameter_count(), 0, "{name}: values are shown");
        for parameter in &header.parameters {
            let value = match &parameter.kind {
                Parameter::Variant(variant) => {
                    assert!(
                        report::by_name(variant).is_some(),
                        "{name}: variant {variant}"
                    );
                    continue;
                }
                // The selection is what the figures are compared by.
                Parameter::Path | Parameter::Thread => continue,
                Parameter::Flag => Argument::Flag,
                Parameter::Count => Argument::Count(7),
                Parameter::Percentage => Argument::Number(1.25),
                Parameter::Choice(_) => Argument::Text("name".to_owned()),
                Parameter::Groups(_) => Argument::Text("file".to_owned()),
                Parameter::Filter if parameter.name == "focus" => Argument::Text(".".to_owned()),
                Parameter::Filter => Argument::Text(other.clone()),
                Parameter::Label => Argument::Text(key.clone()),
            };
            let shows = header
                .columns
                .iter()
                .any(|column| column.when == Some(parameter.name));
            let changed = shown(&[(parameter.name.to_owned(), value)]) != plain;
            assert!(
                changed || shows,
                "{name}: nothing changes with --{}",
                parameter.name
            );
        }
    }
}
