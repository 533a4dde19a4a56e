//! Headers of reports say what their statements take and give.

use profdb::base::error::Stop;
use profdb::formats::{Options, format_named};
use profdb::input::{Input, Limits};
use profdb::pipeline::{import, meta};
use profdb::report::header::{self, Parameter};
use profdb::report::{self, Argument, REPORTS, Report, Request};
use profdb::store::Database;

/// A run that knows everything that a report may need, labels among it.
const LABELLED: &[u8] = include_bytes!("../cases/pprof/labels/case.in/run.pb");

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
    for report in REPORTS {
        let Report { name, sql, .. } = report;
        let header = header::parse(sql).unwrap_or_else(|error| panic!("{name}: {error}"));
        let arguments = vec![("fn".to_owned(), Argument::Text(function.clone()))];
        let request = Request {
            arguments,
            ..Request::default()
        };
        report::ask(&database, report, &run, &request)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        // The views of the question are still there.
        let statement = database
            .connection()
            .prepare(sql)
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
        let declared = |parameter: &str| {
            header
                .parameters
                .iter()
                .any(|known| known.name == parameter)
        };
        for at in 1..=statement.parameter_count() {
            let parameter = statement.parameter_name(at).expect("parameters are named");
            assert!(
                declared(parameter.trim_start_matches(':')),
                "{name}: {parameter} is not in the header"
            );
        }
        for parameter in &header.parameters {
            let mention = format!(":{}", parameter.name);
            let bound = report.statements().iter().any(|sql| {
                // The header mentions all of them.
                sql.lines()
                    .any(|line| !line.starts_with("--") && line.contains(&mention))
            });
            let shows = header
                .columns
                .iter()
                .any(|column| column.when == Some(parameter.name));
            match parameter.kind {
                Parameter::Variant(variant) => assert!(
                    report::by_name(variant).is_some(),
                    "{name}: variant {variant}"
                ),
                Parameter::Path
                | Parameter::Thread
                | Parameter::Label
                | Parameter::Filter
                | Parameter::Groups(_) => {}
                _ => assert!(
                    bound || shows,
                    "{name}: the statement does not mention :{}",
                    parameter.name
                ),
            }
        }
    }
}
