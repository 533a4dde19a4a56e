//! From a question to its answer: sets up what the report reads, and runs its SELECT.

use rusqlite::{Statement, ToSql};

use super::answer::{Answer, Author, Pruned, Rows, Subject};
use super::catalog::{AncestorWalk, Report, by_name};
use super::error::{ReportError, failure};
use super::header::{Header, Needs, Parameter, ParameterDef};
use super::question::{Argument, Request};
use super::scope;
use super::script::{Bound, Script};
use crate::store::{Database, MetricInfo, RunInfo, StoreError};

/// Asks a report of a run.
///
/// # Errors
/// When the run does not know enough for the report, when a name is unknown, or when the database
/// fails.
pub fn ask<'d>(
    database: &'d Database,
    report: &'static Report,
    run: &RunInfo,
    request: &Request,
) -> Result<Answer<'d>, ReportError> {
    let report = variant(report, request);
    let header = report.header();
    check(header.needs, report.name, run)?;
    let metrics = database.metrics(run.run_id)?;
    let metric = choose_metric(&metrics, run, request.metric.as_deref())?;
    let script = Script::new(database);
    let scope = scope::set_up(&script, &header, run, (&metric, &metrics), request)?;
    let values = values(&header, request);
    let bound: Vec<Bound<'_>> = values
        .iter()
        .map(|(name, value)| (*name, value.as_ref()))
        .collect();
    let depth = request.number_of(&header, "depth");
    if let Some(statements) = &report.walk {
        walk(statements, &script, &bound)?;
    }
    let pruned = match report.pruned {
        Some(sql) if depth.is_some() || request.argument("min_pct").is_some() => {
            Some(pruned(database, &mut script.prepare_aside(sql, &bound)?)?)
        }
        _ => None,
    };
    let statement = script.prepare(report.sql, &bound)?;
    let shows = |name: &str| header.columns.iter().any(|column| column.name == name);
    let subject = Subject {
        report: report.name,
        run: run.clone(),
        metric: MetricInfo {
            total: scope.total,
            ..metric
        },
        timer_readings: metrics.iter().any(|metric| metric.timer_readings),
        selected: scope.selected,
        bias: scope.bias,
        exclusive_left: scope.exclusive_left && shows("exclusive"),
        callers: scope.callers.filter(|_| shows("caller")),
        pruned,
    };
    let mut answer = Answer {
        subject: Some(subject),
        columns: header.columns,
        script: script.into_text(),
        remarks: scope.remarks,
        rows: Rows::Statement(statement),
        author: Author::Us,
        database,
    };
    if !header.many_rows {
        answer.keep()?;
    }
    Ok(answer)
}

/// The values of a report's parameters that its statements mention.
fn values<'h>(header: &Header<'h>, request: &Request) -> Vec<(&'h str, Box<dyn ToSql>)> {
    let value = |parameter: &ParameterDef<'h>| -> Box<dyn ToSql> {
        let default = parameter.default.map(str::to_owned);
        match (&parameter.kind, request.argument(parameter.name)) {
            (Parameter::Flag, flag) => Box::new(flag.is_some()),
            (_, Some(Argument::Count(count))) => {
                // No answer has as many rows: all of them are meant.
                Box::new(i64::try_from(*count).unwrap_or(i64::MAX))
            }
            (_, Some(Argument::Number(number))) => Box::new(*number),
            (_, Some(Argument::Text(text))) => Box::new(text.clone()),
            (Parameter::Count, _) => {
                Box::new(default.and_then(|number| number.parse::<i64>().ok()))
            }
            (Parameter::Percentage, _) => {
                Box::new(default.and_then(|number| number.parse::<f64>().ok()))
            }
            _ => Box::new(default),
        }
    };
    header
        .parameters
        .iter()
        .map(|parameter| (parameter.name, value(parameter)))
        .collect()
}

/// Runs the statement that says what a report leaves out.
fn pruned(database: &Database, statement: &mut Statement<'_>) -> Result<Pruned, StoreError> {
    let mut read = || -> rusqlite::Result<Pruned> {
        let mut rows = statement.raw_query();
        let row = rows.next()?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
        Ok(Pruned {
            rows: row.get(0)?,
            cost: row.get(1)?,
            percent: row.get(2)?,
        })
    };
    read().map_err(|source| failure(database, source))
}

/// Runs the statements that walk to ancestors, as far up as the report looks.
fn walk(walk: &AncestorWalk, script: &Script<'_>, bound: &[Bound<'_>]) -> Result<(), StoreError> {
    // One statement for each level: none of ours is recursive
    // (docs/design/0007-views-of-a-question.md).
    script.run(walk.first, bound)?;
    for level in 0_i64.. {
        let with_level: Vec<Bound<'_>> = bound
            .iter()
            .copied()
            .chain([("level", &level as &dyn ToSql)])
            .collect();
        if script.run(walk.next, &with_level)? == 0 {
            break;
        }
    }
    Ok(())
}

/// The report that answers: a flag of kind VARIANT names another one.
fn variant(report: &'static Report, request: &Request) -> &'static Report {
    let header = report.header();
    let asked = header.parameters.iter().find(|parameter| {
        matches!(parameter.kind, Parameter::Variant(_))
            && request.argument(parameter.name).is_some()
    });
    match asked.map(|parameter| parameter.kind.clone()) {
        Some(Parameter::Variant(name)) => {
            by_name(name).expect("a test reads the variants of all reports")
        }
        _ => report,
    }
}

/// The metric of this name among those of the run; its default one without a name.
pub(crate) fn choose_metric(
    metrics: &[MetricInfo],
    run: &RunInfo,
    name: Option<&str>,
) -> Result<MetricInfo, ReportError> {
    let Some(wanted) = name.or(run.default_metric.as_deref()) else {
        return Err(ReportError::NothingSelected(format!(
            "run {} measured nothing",
            run.run_id
        )));
    };
    let found = metrics
        .iter()
        .find(|metric| metric.name == *wanted)
        .cloned();
    found.ok_or_else(|| {
        let names: Vec<_> = metrics.iter().map(|metric| metric.name.as_str()).collect();
        let known = names.join(", ");
        ReportError::NothingSelected(format!(
            "run {} has no metric `{wanted}`; it has {known}",
            run.run_id
        ))
    })
}

/// Refuses a report that needs more than the run knows.
fn check(needs: Needs, report: &str, run: &RunInfo) -> Result<(), ReportError> {
    let fidelity = run.fidelity.as_str();
    let enough = match needs {
        Needs::Nothing => true,
        Needs::Edges => fidelity != "flat",
        Needs::Tree | Needs::Labels => fidelity == "tree",
    };
    if enough {
        return Ok(());
    }
    let (known, instead) = match fidelity {
        "flat" => ("totals only", ""),
        _ => ("who called whom, but no paths", "calls, callees, "),
    };
    Err(ReportError::NothingSelected(format!(
        "report {report} needs {}; run {} knows {known}: try {instead}summary, lines or data",
        if needs == Needs::Edges {
            "callers"
        } else {
            "the tree of calls"
        },
        run.run_id
    )))
}
