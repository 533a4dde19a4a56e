//! Reports: one SELECT each, with a header that says what it is, what it may be asked with and what
//! its columns mean. Flags, help and documents are made from the header.

pub mod header;
pub mod path;
pub mod render;
mod scope;
mod script;
mod selection;

use rusqlite::types::ValueRef;
use rusqlite::{Row, Statement, ToSql};

use crate::events;
use crate::store::{Database, MetricInfo, RunInfo, StoreError};
pub use crate::text::cell::Value;
use header::{Column, Header, Kind, Needs, Parameter, ParameterDef, TAG_KEY};
use scope::Sums;
use script::{Bound, Script};

/// A report: `queries/reports/<name>.sql`.
#[derive(Debug)]
pub struct Report {
    /// Its name on the command line, and that of its file.
    pub name: &'static str,
    /// Its text: header and SELECT.
    pub sql: &'static str,
    /// What is done before, for reports that climb from node to node.
    climb: Option<Climb>,
    /// What its depth and thresholds leave out: rows, cost, percentage.
    pruned: Option<&'static str>,
}

/// Statements that climb from nodes to those above, level by level: SQL without recursion.
#[derive(Debug)]
struct Climb {
    /// The lowest level.
    first: &'static str,
    /// From level `:level` to the next; done until it changes nothing.
    next: &'static str,
}

/// All reports, in the order in which they are listed; the first is shown when none is named.
pub const REPORTS: &[Report] = &[
    report("summary", include_str!("../../queries/reports/summary.sql")),
    report("calls", include_str!("../../queries/reports/calls.sql")),
    report(
        "call_lines",
        include_str!("../../queries/reports/call_lines.sql"),
    ),
    report("callees", include_str!("../../queries/reports/callees.sql")),
    report(
        "exclusive",
        include_str!("../../queries/reports/exclusive.sql"),
    ),
    report(
        "cumulative",
        include_str!("../../queries/reports/cumulative.sql"),
    ),
    report("lines", include_str!("../../queries/reports/lines.sql")),
    Report {
        pruned: Some(include_str!("../../queries/pruned/tree.sql")),
        ..report("tree", include_str!("../../queries/reports/tree.sql"))
    },
    Report {
        climb: Some(Climb {
            first: include_str!("../../queries/climbs/bottom_up_first.sql"),
            next: include_str!("../../queries/climbs/bottom_up_next.sql"),
        }),
        pruned: Some(include_str!("../../queries/pruned/bottom_up.sql")),
        ..report(
            "bottom_up",
            include_str!("../../queries/reports/bottom_up.sql"),
        )
    },
    Report {
        climb: Some(Climb {
            first: include_str!("../../queries/climbs/paths_first.sql"),
            next: include_str!("../../queries/climbs/paths_next.sql"),
        }),
        ..report("paths", include_str!("../../queries/reports/paths.sql"))
    },
    report("tags", include_str!("../../queries/reports/tags.sql")),
    report("data", include_str!("../../queries/reports/data.sql")),
];

const fn report(name: &'static str, sql: &'static str) -> Report {
    Report {
        name,
        sql,
        climb: None,
        pruned: None,
    }
}

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

    /// Every text that belongs to it: its SELECT first.
    #[must_use]
    pub fn statements(&self) -> Vec<&'static str> {
        let climb = self
            .climb
            .iter()
            .flat_map(|climb| [climb.first, climb.next]);
        [self.sql]
            .into_iter()
            .chain(climb)
            .chain(self.pruned)
            .collect()
    }

    /// Climbs as high as the report looks.
    fn climb(&self, script: &Script<'_>, bound: &[Bound<'_>]) -> Result<(), StoreError> {
        let Some(Climb { first, next }) = &self.climb else {
            return Ok(());
        };
        script.run(first, bound)?;
        for level in 0_i64.. {
            let with_level: Vec<Bound<'_>> = bound
                .iter()
                .copied()
                .chain([("level", &level as &dyn ToSql)])
                .collect();
            if script.run(next, &with_level)? == 0 {
                break;
            }
        }
        Ok(())
    }
}

/// What a report is asked for.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The metric; the run's default one if `None`.
    pub metric: Option<String>,
    /// What one reading of the timer is taken to cost, in ms; as stored if `None`.
    pub bias: Option<f64>,
    /// What is 100 %.
    pub base: Base,
    /// How names in paths are read.
    pub names: NameSyntax,
    /// Values of the report's own parameters, by name.
    pub arguments: Vec<(String, Argument)>,
}

/// What percentages are of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Base {
    /// The whole run.
    #[default]
    Total,
    /// What is selected.
    Selection,
}

/// How names in paths are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NameSyntax {
    /// As they are, with `*` and `?` in names that nobody has.
    #[default]
    Glob,
    /// As regular expressions.
    Regex,
}

/// What is counted as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Groups<'r> {
    Functions,
    Modules,
    Files,
    /// Threads or processes.
    Containers(events::Kind),
    /// The values of a label.
    Tag(&'r str),
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
    /// A drill-down path, the name of a thread, a label, a word.
    Text(String),
}

impl Request {
    fn argument(&self, name: &str) -> Option<&Argument> {
        self.arguments
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value)
    }

    /// The text given for a parameter.
    fn text_of(&self, name: &str) -> Option<&str> {
        match self.argument(name) {
            Some(Argument::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The whole number given for a parameter, or its default.
    fn number_of(&self, header: &Header<'_>, name: &str) -> Option<u64> {
        match self.argument(name) {
            Some(Argument::Count(count)) => Some(*count),
            _ => header
                .parameters
                .iter()
                .find(|parameter| parameter.name == name)?
                .default?
                .parse()
                .ok(),
        }
    }

    /// The labels that samples must have, as far as the report looks at them: keys, and values
    /// unless any will do.
    fn tags(&self, header: &Header<'_>) -> impl Iterator<Item = (&str, Option<&str>)> {
        let parameter = header
            .parameters
            .iter()
            .find(|parameter| parameter.kind == Parameter::Tag);
        let name = parameter.map(|parameter| parameter.name.to_owned());
        let given = name.into_iter().flat_map(|name| {
            self.arguments
                .iter()
                .filter(move |(known, _)| *known == name)
        });
        given.filter_map(|(_, value)| {
            let Argument::Text(text) = value else {
                return None;
            };
            Some(
                text.split_once('=')
                    .map_or((text.as_str(), None), |(key, value)| (key, Some(value))),
            )
        })
    }

    /// The text given for the parameter of a kind, if the report has one.
    fn text(&self, header: &Header<'_>, kind: &Parameter<'_>) -> Result<Option<&str>, ReportError> {
        let Some(parameter) = header
            .parameters
            .iter()
            .find(|parameter| parameter.kind == *kind)
        else {
            return Ok(None);
        };
        match self.text_of(parameter.name) {
            None if !parameter.optional => Err(ReportError::Usage(format!(
                "the report needs --{}",
                parameter.name
            ))),
            text => Ok(text),
        }
    }

    /// What the report is to count as one.
    fn groups(&self, header: &Header<'_>) -> Result<Groups<'_>, ReportError> {
        let parameters = header.parameters.iter();
        let by = parameters.filter_map(|parameter| match &parameter.kind {
            Parameter::Groups(words) => self.text_of(parameter.name).map(|text| (words, text)),
            _ => None,
        });
        let Some((words, text)) = by.into_iter().next() else {
            return Ok(Groups::Functions);
        };
        let key = text.strip_prefix(TAG_KEY.trim_end_matches("KEY"));
        if !words.contains(&if key.is_some() { TAG_KEY } else { text }) {
            return Err(ReportError::Usage(format!(
                "--by: expected {}, found {text}",
                words.join(", ")
            )));
        }
        Ok(match (text, key) {
            (_, Some(key)) => Groups::Tag(key),
            ("module", _) => Groups::Modules,
            ("file", _) => Groups::Files,
            ("thread", _) => Groups::Containers(events::Kind::Thread),
            ("process", _) => Groups::Containers(events::Kind::Process),
            _ => Groups::Functions,
        })
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

/// What the answer is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Subject {
    /// Name of the report.
    pub report: &'static str,
    /// The run.
    pub run: RunInfo,
    /// The metric with its total.
    pub metric: MetricInfo,
    /// The run knows how often the profiler's timer was read.
    pub timer_readings: bool,
    /// Cost of what was selected; `None` if the whole run was, or if nobody knows.
    pub selected: Option<f64>,
    /// What has been subtracted from the times, in ns per tick; `None` if unknown.
    pub bias: Option<f64>,
    /// Own costs are what the callees leave of the nodes shown, not what the file gives for each
    /// function.
    pub exclusive_left: bool,
    /// What the callers add up to, where they do not add up to what is selected; only of reports
    /// about them.
    pub callers: Option<Callers>,
    /// What is not shown because it lies too deep or costs too little; `None` if nothing was to be
    /// left out.
    pub pruned: Option<Pruned>,
}

/// Callers that do not account for what a function cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Callers {
    /// What they paid; `None` where that is not known of all.
    pub sum: Option<f64>,
}

/// What is not shown of a tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pruned {
    /// Rows.
    pub rows: i64,
    /// Their own cost, in the unit of the metric.
    pub cost: f64,
    /// The same, % of what percentages are of; `None` if that is 0.
    pub percent: Option<f64>,
}

/// The answer: columns and rows.
pub struct Answer<'d> {
    /// What it is about; `None` for plain SQL.
    pub subject: Option<Subject>,
    /// The columns.
    pub columns: Vec<Column<'d>>,
    /// Everything that was done for it, for the sqlite3 shell.
    pub script: String,
    /// What there is to say of the question: a filter that found nothing to leave out.
    pub remarks: Vec<String>,
    rows: Rows<'d>,
    author: Author,
    database: &'d Database,
}

/// Whose statement is answered.
#[derive(Clone, Copy)]
enum Author {
    /// Ours: text that is none is damage, and an error.
    Us,
    /// The user's: it is shown as far as it can be, for it may be damage that is looked for.
    User,
}

/// Rows that are wanted more than once are kept, unless they are many: then the question is asked
/// again.
enum Rows<'d> {
    Kept(Vec<Vec<Value>>),
    Asked(Statement<'d>),
}

impl Answer<'_> {
    /// Calls a function for every row, in order, until it fails.
    ///
    /// # Errors
    /// The function's own, or the database's.
    pub fn each<E: From<StoreError>>(
        &mut self,
        mut row: impl FnMut(&[Value]) -> Result<(), E>,
    ) -> Result<(), E> {
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
                        let kind = self
                            .columns
                            .get(column)
                            .map_or(Kind::Any, |column| column.kind);
                        values.push(value(found, column, kind, self.author).map_err(failed)?);
                    }
                    row(&values)?;
                }
                Ok(())
            }
        }
    }

    /// Which columns have a value in some row; all, if there is no row.
    ///
    /// # Errors
    /// The database's.
    pub fn filled(&mut self) -> Result<Vec<bool>, StoreError> {
        let mut filled = vec![false; self.columns.len()];
        let mut any = false;
        match &mut self.rows {
            Rows::Kept(rows) => {
                for row in rows {
                    any = true;
                    for (filled, value) in filled.iter_mut().zip(row) {
                        *filled |= *value != Value::Null;
                    }
                }
            }
            // Nothing is copied: names may be long.
            Rows::Asked(statement) => {
                let failed = |source| failure(self.database, source);
                let mut rows = statement.raw_query();
                while let Some(found) = rows.next().map_err(failed)? {
                    any = true;
                    for (column, filled) in filled.iter_mut().enumerate() {
                        *filled |= found.get_ref(column).map_err(failed)? != ValueRef::Null;
                    }
                }
            }
        }
        // A table without rows has all its columns: it can be read back.
        Ok(if any {
            filled
        } else {
            vec![true; filled.len()]
        })
    }

    /// How many rows are lines without source, and how many are lines at all.
    ///
    /// # Errors
    /// The database's.
    pub fn lines_without_code(&mut self) -> Result<(u64, u64), StoreError> {
        let place = |names: &[&str]| {
            self.columns
                .iter()
                .position(|column| names.contains(&column.name.as_ref()))
        };
        let (Some(line), Some(code)) = (place(&["line", "caller_line"]), place(&["code"])) else {
            return Ok((0, 0));
        };
        let (mut missing, mut lines) = (0, 0);
        self.each(|row| {
            if row[line] != Value::Null {
                lines += 1;
                missing += u64::from(row[code] == Value::Null);
            }
            Ok::<_, StoreError>(())
        })?;
        Ok((missing, lines))
    }
}

fn failure(database: &Database, source: rusqlite::Error) -> StoreError {
    StoreError::Sqlite {
        path: database.path().to_owned(),
        source,
    }
}

fn value(row: &Row<'_>, column: usize, kind: Kind, author: Author) -> rusqlite::Result<Value> {
    Ok(match (row.get_ref(column)?, author) {
        (ValueRef::Null, _) => Value::Null,
        (ValueRef::Integer(value), _) => Value::Integer(value),
        (ValueRef::Real(value), _) => Value::Real(value),
        (ValueRef::Text(text) | ValueRef::Blob(text), Author::User) => {
            Value::Text(String::from_utf8_lossy(text).into_owned())
        }
        (ValueRef::Text(_) | ValueRef::Blob(_), Author::Us) => match kind {
            Kind::Name | Kind::Node | Kind::Text | Kind::Any => Value::Text(row.get(column)?),
            // Text in the place of a number is an error.
            Kind::Line | Kind::Count | Kind::Cost | Kind::Raw | Kind::Percent => {
                Value::Real(row.get(column)?)
            }
        },
    })
}

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
    header.needs.check(report.name, run)?;
    let metrics = database.metrics(run.run_id)?;
    let metric = choose_metric(&metrics, run, request.metric.as_deref())?;
    let script = Script::new(database);
    let sums = scope::set_up(&script, &header, run, (&metric, &metrics), request)?;
    let values = values(&header, request);
    let bound: Vec<Bound<'_>> = values
        .iter()
        .map(|(name, value)| (*name, value.as_ref()))
        .collect();
    let depth = request.number_of(&header, "depth");
    report.climb(&script, &bound)?;
    let pruned = match report.pruned {
        Some(sql) if depth.is_some() || request.argument("min_pct").is_some() => {
            Some(pruned(database, &mut script.prepare_aside(sql, &bound)?)?)
        }
        _ => None,
    };
    let statement = script.prepare(report.sql, &bound)?;
    let metric = MetricInfo {
        total: sums.total,
        ..metric
    };
    let Sums {
        selected,
        bias,
        remarks,
        ..
    } = sums;
    let shows_own_cost = header
        .columns
        .iter()
        .any(|column| column.name == "exclusive");
    let exclusive_left = sums.exclusive_left && shows_own_cost;
    let callers = sums
        .callers
        .filter(|_| header.columns.iter().any(|column| column.name == "caller"));
    let run = run.clone();
    let timer_readings = metrics.iter().any(|metric| metric.timer_readings);
    let report = report.name;
    let subject = Subject {
        report,
        run,
        metric,
        timer_readings,
        selected,
        bias,
        exclusive_left,
        callers,
        pruned,
    };
    let mut answer = Answer {
        subject: Some(subject),
        columns: header.columns,
        script: script.into_text(),
        remarks,
        rows: Rows::Asked(statement),
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

/// What a report leaves out.
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

impl Answer<'_> {
    /// Keeps the rows, if they are not too long.
    fn keep(&mut self) -> Result<(), StoreError> {
        let mut kept = Vec::new();
        let mut bytes = 0;
        let read = self.each(|row| {
            let texts = row.iter().map(|value| {
                if let Value::Text(text) = value {
                    text.len()
                } else {
                    0
                }
            });
            bytes += texts.sum::<usize>();
            if bytes > MOST_KEPT {
                return Err(Unkept::Long);
            }
            kept.push(row.to_vec());
            Ok(())
        });
        match read {
            Ok(()) => self.rows = Rows::Kept(kept),
            Err(Unkept::Long) => {}
            Err(Unkept::Failed(error)) => return Err(error),
        }
        Ok(())
    }
}

/// Bytes of text that are kept. Names may be long: what is longer is asked for again.
const MOST_KEPT: usize = 16 << 20;

/// Why rows are not kept.
enum Unkept {
    Long,
    Failed(StoreError),
}

impl From<StoreError> for Unkept {
    fn from(error: StoreError) -> Self {
        Self::Failed(error)
    }
}

/// A flag of kind VARIANT asks another report instead.
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

impl Needs {
    /// Whether totals of functions are not enough.
    fn paths(self) -> bool {
        matches!(self, Self::Tree | Self::Labels)
    }

    fn check(self, report: &str, run: &RunInfo) -> Result<(), ReportError> {
        let fidelity = run.fidelity.as_str();
        let enough = match self {
            Self::Nothing => true,
            Self::Edges => fidelity != "flat",
            Self::Tree | Self::Labels => fidelity == "tree",
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
            if self == Self::Edges {
                "callers"
            } else {
                "the tree of calls"
            },
            run.run_id
        )))
    }
}

/// Runs a statement of ours that is about the database rather than a run.
///
/// # Errors
/// The database's.
pub fn list<'d>(database: &'d Database, sql: &str) -> Result<Answer<'d>, ReportError> {
    Ok(Answer {
        author: Author::Us,
        ..query(database, sql)?
    })
}

/// Runs a statement of the user's own, read-only.
///
/// # Errors
/// When it is no single statement, would change something, or fails.
pub fn query<'d>(database: &'d Database, sql: &str) -> Result<Answer<'d>, ReportError> {
    let failed = |source: rusqlite::Error| match source {
        rusqlite::Error::MultipleStatement => {
            ReportError::Usage("one statement at a time".to_owned())
        }
        rusqlite::Error::SqlInputError { msg, .. } => ReportError::Usage(msg),
        rusqlite::Error::SqliteFailure(error, Some(message))
            if error.code == rusqlite::ErrorCode::Unknown =>
        {
            ReportError::Usage(message)
        }
        source => ReportError::Store(failure(database, source)),
    };
    let statement = database.connection().prepare(sql).map_err(failed)?;
    if !statement.readonly() || statement.column_count() == 0 {
        return Err(ReportError::Usage(
            "only statements that read: SELECT, WITH, VALUES, EXPLAIN".to_owned(),
        ));
    }
    let columns = statement
        .column_names()
        .map(|name| Column::plain(name.to_owned(), Kind::Any))
        .collect();
    Ok(Answer {
        subject: None,
        columns,
        script: sql.to_owned(),
        remarks: Vec::new(),
        rows: Rows::Asked(statement),
        author: Author::User,
        database,
    })
}
