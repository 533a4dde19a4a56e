//! Reports: one SELECT each, with a header that says what it is, what it may be asked with and what its columns mean.
//! Flags, help and documents are made from the header.

pub mod header;
mod path;
pub mod render;
mod selection;

use rusqlite::types::ValueRef;
use rusqlite::{Statement, ToSql};

use crate::store::{Database, MetricInfo, RunInfo, StoreError};
use header::{Column, Header, Kind, Needs, Parameter};

/// A report: `queries/reports/<name>.sql`.
#[derive(Debug)]
pub struct Report {
    /// Its name on the command line, and that of its file.
    pub name: &'static str,
    /// Its text: header and SELECT.
    pub sql: &'static str,
}

/// All reports, in the order in which they are listed; the first is shown when none is named.
pub const REPORTS: &[Report] = &[
    Report { name: "summary", sql: include_str!("../../queries/reports/summary.sql") },
    Report { name: "calls", sql: include_str!("../../queries/reports/calls.sql") },
    Report { name: "call_lines", sql: include_str!("../../queries/reports/call_lines.sql") },
    Report { name: "exclusive", sql: include_str!("../../queries/reports/exclusive.sql") },
    Report { name: "cumulative", sql: include_str!("../../queries/reports/cumulative.sql") },
    Report { name: "lines", sql: include_str!("../../queries/reports/lines.sql") },
    Report { name: "tree", sql: include_str!("../../queries/reports/tree.sql") },
    Report { name: "data", sql: include_str!("../../queries/reports/data.sql") },
];

/// Finds a report by its name.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static Report> {
    REPORTS.iter().find(|report| report.name == name)
}

impl Report {
    /// What the header says.
    ///
    /// # Panics
    /// Never for the bundled reports: a test reads their headers.
    #[must_use]
    pub fn header(&self) -> Header<'static> {
        header::parse(self.sql).expect("the headers of all bundled reports are read by a test")
    }
}

/// What a report is asked for.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The metric; the run's default one if `None`.
    pub metric: Option<String>,
    /// Values of the report's own parameters, by name.
    pub arguments: Vec<(String, Argument)>,
}

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A flag that is set.
    Flag,
    /// A number of rows.
    Count(u64),
    /// A percentage.
    Number(f64),
    /// A drill-down path, the name of a thread, a word.
    Text(String),
}

impl Request {
    fn argument(&self, name: &str) -> Option<&Argument> {
        self.arguments.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// The text given for the parameter of a kind, if the report has one.
    fn text(&self, header: &Header<'_>, kind: Parameter<'_>) -> Result<Option<&str>, ReportError> {
        let Some(parameter) = header.parameters.iter().find(|parameter| parameter.kind == kind) else {
            return Ok(None);
        };
        match self.argument(parameter.name) {
            Some(Argument::Text(text)) => Ok(Some(text)),
            _ if parameter.optional => Ok(None),
            _ => Err(ReportError::Usage(format!("the report needs --{}", parameter.name))),
        }
    }
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The question does not make sense.
    #[error("{0}")]
    Usage(String),
    /// The question makes sense, and selects nothing.
    #[error("{0}")]
    NothingSelected(String),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// One value of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Unknown, or not there.
    Null,
    /// A whole number.
    Integer(i64),
    /// A figure in its base unit.
    Real(f64),
    /// Text.
    Text(String),
}

/// What the answer is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Subject {
    /// Name of the report.
    pub report: &'static str,
    /// The run.
    pub run: RunInfo,
    /// The metric with its total.
    pub metric: MetricInfo,
    /// Cost of what was selected; `None` if the whole run was.
    pub selected: Option<f64>,
}

/// The answer: columns and rows.
pub struct Answer<'d> {
    /// What it is about; `None` for plain SQL.
    pub subject: Option<Subject>,
    /// The columns.
    pub columns: Vec<Column<'d>>,
    rows: Rows<'d>,
    database: &'d Database,
}

/// Rows that are wanted more than once are kept, unless they are many: then the question is asked again.
enum Rows<'d> {
    Kept(Vec<Vec<Value>>),
    Asked(Statement<'d>),
}

impl Answer<'_> {
    /// Calls a function for every row, in order, until it fails.
    ///
    /// # Errors
    /// The function's own, or the database's.
    pub fn each<E: From<StoreError>>(&mut self, mut row: impl FnMut(&[Value]) -> Result<(), E>) -> Result<(), E> {
        match &mut self.rows {
            Rows::Kept(rows) => rows.iter().try_for_each(|values| row(values)),
            Rows::Asked(statement) => {
                let failed = |source| E::from(failure(self.database, source));
                let width = statement.column_count();
                let mut values = Vec::with_capacity(width);
                let mut rows = statement.raw_query();
                while let Some(found) = rows.next().map_err(failed)? {
                    values.clear();
                    for column in 0..width {
                        values.push(value(found.get_ref(column).map_err(failed)?));
                    }
                    row(&values)?;
                }
                Ok(())
            }
        }
    }

    /// Which columns have a value in some row.
    ///
    /// # Errors
    /// The database's.
    pub fn filled(&mut self) -> Result<Vec<bool>, StoreError> {
        let mut filled = vec![false; self.columns.len()];
        self.each(|row| {
            for (filled, value) in filled.iter_mut().zip(row) {
                *filled |= *value != Value::Null;
            }
            Ok::<_, StoreError>(())
        })?;
        Ok(filled)
    }
}

fn failure(database: &Database, source: rusqlite::Error) -> StoreError {
    StoreError::Sqlite { path: database.path().to_owned(), source }
}

fn value(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(value) => Value::Integer(value),
        ValueRef::Real(value) => Value::Real(value),
        ValueRef::Text(text) | ValueRef::Blob(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
    }
}

/// Asks a report of a run.
///
/// # Errors
/// When the run does not know enough for the report, when a name is unknown, or when the database fails.
pub fn ask<'d>(
    database: &'d Database,
    report: &'static Report,
    run: &RunInfo,
    request: &Request,
) -> Result<Answer<'d>, ReportError> {
    let report = variant(report, request);
    let header = report.header();
    header.needs.check(report.name, run)?;
    let metrics = database.metrics(run.run_id)?;
    let metric = choose_metric(&metrics, run, request)?;
    let path = request.text(&header, Parameter::Path)?;
    let thread = request.text(&header, Parameter::Thread)?;
    let scope = selection::select(database, run, thread, path, header.about_function)?;
    let selected = selection::cost(database, run, &metric, scope)?;
    let ticks = metrics.iter().find(|metric| metric.name == "ticks").map(|metric| metric.metric_id);
    let mut statement = database.connection().prepare(report.sql).map_err(|source| failure(database, source))?;
    for parameter in &header.parameters {
        let argument = request.argument(parameter.name);
        let bound: &dyn ToSql = match (&parameter.kind, argument) {
            (Parameter::Run, _) => &run.run_id,
            (Parameter::Metric, _) => &metric.metric_id,
            (Parameter::Ticks, _) => &ticks,
            (Parameter::Scope, _) => &scope.name(),
            (Parameter::Flag, flag) => &flag.is_some(),
            (_, Some(Argument::Count(count))) => &i64::try_from(*count).unwrap_or(i64::MAX),
            (_, Some(Argument::Number(number))) => number,
            (_, Some(Argument::Text(text))) => text,
            (_, Some(Argument::Flag) | None) => &None::<i64>,
        };
        bind(&mut statement, parameter.name, bound).map_err(|source| failure(database, source))?;
    }
    let subject = Subject { report: report.name, run: run.clone(), metric, selected };
    let mut answer = Answer { subject: Some(subject), columns: header.columns, rows: Rows::Asked(statement), database };
    if !header.many_rows {
        answer.keep()?;
    }
    Ok(answer)
}

/// Binds a value to a named parameter, if the statement mentions it: paths are followed before.
fn bind(statement: &mut Statement<'_>, name: &str, value: &dyn ToSql) -> rusqlite::Result<()> {
    match statement.parameter_index(&format!(":{name}"))? {
        Some(at) => statement.raw_bind_parameter(at, value),
        None => Ok(()),
    }
}

impl Answer<'_> {
    fn keep(&mut self) -> Result<(), StoreError> {
        let mut kept = Vec::new();
        self.each(|row| {
            kept.push(row.to_vec());
            Ok::<_, StoreError>(())
        })?;
        self.rows = Rows::Kept(kept);
        Ok(())
    }
}

/// A flag of kind VARIANT asks another report instead.
fn variant(report: &'static Report, request: &Request) -> &'static Report {
    let header = report.header();
    let asked = header.parameters.iter().find(|parameter| {
        matches!(parameter.kind, Parameter::Variant(_)) && request.argument(parameter.name).is_some()
    });
    match asked.map(|parameter| parameter.kind.clone()) {
        Some(Parameter::Variant(name)) => by_name(name).expect("a test reads the variants of all reports"),
        _ => report,
    }
}

fn choose_metric(metrics: &[MetricInfo], run: &RunInfo, request: &Request) -> Result<MetricInfo, ReportError> {
    let Some(wanted) = request.metric.as_ref().or(run.default_metric.as_ref()) else {
        return Err(ReportError::NothingSelected(format!("run {} measured nothing", run.run_id)));
    };
    let found = metrics.iter().find(|metric| metric.name == *wanted).cloned();
    found.ok_or_else(|| {
        let names: Vec<_> = metrics.iter().map(|metric| metric.name.as_str()).collect();
        let known = names.join(", ");
        ReportError::NothingSelected(format!("run {} has no metric `{wanted}`; it has {known}", run.run_id))
    })
}

impl Needs {
    fn check(self, report: &str, run: &RunInfo) -> Result<(), ReportError> {
        let fidelity = run.fidelity.as_str();
        let enough = match self {
            Self::Nothing => true,
            Self::Edges => fidelity != "flat",
            Self::Tree => fidelity == "tree",
        };
        if enough {
            return Ok(());
        }
        let known = if fidelity == "flat" { "totals only" } else { "who called whom, but no paths" };
        Err(ReportError::NothingSelected(format!(
            "report {report} needs {}; run {} knows {known}: try summary, lines or data",
            if self == Self::Tree { "the tree of calls" } else { "callers" },
            run.run_id
        )))
    }
}

/// Runs a statement of the user's own, read-only.
///
/// # Errors
/// When it is no single statement, would change something, or fails.
pub fn query<'d>(database: &'d Database, sql: &str) -> Result<Answer<'d>, ReportError> {
    let failed = |source: rusqlite::Error| match source {
        rusqlite::Error::MultipleStatement => ReportError::Usage("one statement at a time".to_owned()),
        rusqlite::Error::SqlInputError { msg, .. } => ReportError::Usage(msg),
        rusqlite::Error::SqliteFailure(error, Some(message)) if error.code == rusqlite::ErrorCode::Unknown => {
            ReportError::Usage(message)
        }
        source => ReportError::Store(failure(database, source)),
    };
    let statement = database.connection().prepare(sql).map_err(failed)?;
    if !statement.readonly() || statement.column_count() == 0 {
        return Err(ReportError::Usage("only statements that read: SELECT, WITH, VALUES, EXPLAIN".to_owned()));
    }
    let columns = statement.column_names().map(|name| Column::plain(name.to_owned(), Kind::Any)).collect();
    Ok(Answer { subject: None, columns, rows: Rows::Asked(statement), database })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_match_their_statements() {
        let database = Database::in_memory().expect("memory");
        selection::clear(&database).expect("memory");
        for Report { name, sql } in REPORTS {
            let header = header::parse(sql).unwrap_or_else(|error| panic!("{name}: {error}"));
            let statement = database.connection().prepare(sql).unwrap_or_else(|error| panic!("{name}: {error}"));
            let columns: Vec<_> = header.columns.iter().map(|column| column.name.as_ref()).collect();
            assert_eq!(statement.column_names().collect::<Vec<_>>(), columns, "{name}");
            let declared = |parameter: &str| header.parameters.iter().any(|known| known.name == parameter);
            for at in 1..=statement.parameter_count() {
                let parameter = statement.parameter_name(at).expect("parameters are named");
                assert!(declared(parameter.trim_start_matches(':')), "{name}: {parameter} is not in the header");
            }
            for parameter in &header.parameters {
                let bound = statement.parameter_index(&format!(":{}", parameter.name)).expect("a name").is_some();
                match &parameter.kind {
                    Parameter::Variant(variant) => assert!(by_name(variant).is_some(), "{name}: variant {variant}"),
                    Parameter::Path | Parameter::Thread => {}
                    _ => assert!(bound, "{name}: the statement does not mention :{}", parameter.name),
                }
            }
        }
    }
}
