//! All metrics of a run side by side: a report is asked once for each of them, and the rows that are
//! about one thing become one row.

use std::borrow::Cow;

use hashbrown::HashMap;

use super::answer::{Answer, Author, Placed, Rows, Subject};
use super::catalog::{REPORTS, Report};
use super::error::ReportError;
use super::header::{Column, Kind, LABEL_KEY, Meaning};
use super::kept_rows::KeptRows;
use super::question::{Argument, Request};
use crate::store::{Database, MetricInfo, RunInfo, StoreError};
use crate::text::cell::Value;

/// The word for all metrics.
pub const ALL_METRICS: &str = "all";

/// The column that tells functions of one name apart.
const ID: &str = "id";

/// Whether all metrics are asked for, and not one that has this name.
pub(super) fn are_asked_for(metrics: &[MetricInfo], request: &Request) -> bool {
    request.metric.as_deref() == Some(ALL_METRICS)
        && metrics.iter().all(|metric| metric.name != ALL_METRICS)
}

/// What to ask, one question for each metric, that of the run's default metric first.
///
/// # Errors
/// When the report shows one metric only, and when a flag is about the sums of one.
pub(super) fn questions(
    report: &Report,
    run: &RunInfo,
    metrics: &[MetricInfo],
    request: &Request,
) -> Result<Vec<Request>, ReportError> {
    if !report.header().all_metrics {
        let with_all = REPORTS.iter().filter(|report| report.header().all_metrics);
        let names: Vec<&str> = with_all.map(|report| report.name).collect();
        return Err(ReportError::Usage(format!(
            "report {} shows one metric; --metric {ALL_METRICS} works for {}",
            report.name,
            names.join(", ")
        )));
    }
    for flag in ["pct", "cumpct"] {
        if request.has(flag) {
            return Err(ReportError::Usage(format!(
                "--{flag} needs one metric; name it with --metric"
            )));
        }
    }
    if metrics.is_empty() {
        return Err(ReportError::NothingSelected(format!(
            "{} has no costs",
            run.said()
        )));
    }
    let mut ordered: Vec<&MetricInfo> = metrics.iter().collect();
    ordered.sort_by_key(|metric| run.default_metric.as_ref() != Some(&metric.name));
    Ok(ordered
        .into_iter()
        .map(|metric| {
            let mut one = request.clone();
            one.metric = Some(metric.name.clone());
            // The first rows in one metric need not be those in another: they are joined before.
            one.arguments.retain(|(name, _)| name != FIRST);
            one
        })
        .collect())
}

/// The parameter for the first rows.
const FIRST: &str = "first";

/// The answer in one metric.
pub(super) struct Part<'d> {
    pub(super) subject: Option<Subject>,
    pub(super) remarks: Vec<String>,
    columns: Vec<Column<'d>>,
    script: String,
    rows: Vec<Vec<Value>>,
}

impl<'d> Part<'d> {
    /// Reads all rows of an answer.
    ///
    /// # Errors
    /// The database's.
    pub(super) fn of(answer: &mut Answer<'d>) -> Result<Self, StoreError> {
        let mut rows = Vec::new();
        answer.each(|row| {
            rows.push(row.to_vec());
            Ok::<_, StoreError>(())
        })?;
        Ok(Self {
            subject: answer.subject.take(),
            remarks: std::mem::take(&mut answer.remarks),
            columns: std::mem::take(&mut answer.columns),
            script: std::mem::take(&mut answer.script),
            rows,
        })
    }
}

/// A cell that is part of what a row is about.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Nothing,
    Number(i64),
    Text(String),
}

/// One answer of several, which have the same columns. The order of the rows is that of the first
/// one; rows that it has not come after them.
pub(super) fn joined<'d>(
    database: &'d Database,
    parts: Vec<Part<'d>>,
    request: &Request,
) -> Answer<'d> {
    let columns = parts.first().map_or(&[][..], |part| &part.columns);
    let kinds: Vec<Of> = columns.iter().map(Of::column).collect();
    // Values of a label have numbers that are those of one statement.
    let has_ids = !matches!(
        request.argument("by"),
        Some(Argument::Text(by)) if by.starts_with(LABEL_KEY.trim_end_matches("KEY"))
    );
    let is_key = |at: usize| kinds[at] == Of::Row && (has_ids || columns[at].name != ID);
    let mut numbers: HashMap<Vec<Key>, usize> = HashMap::new();
    // For each row of the answer, its rows in the parts.
    let mut found: Vec<Vec<Option<usize>>> = Vec::new();
    for (part, answer) in parts.iter().enumerate() {
        for (at, row) in answer.rows.iter().enumerate() {
            let cells = row.iter().enumerate().filter(|(at, _)| is_key(*at));
            let key = cells.map(|(_, value)| match value {
                Value::Integer(number) => Key::Number(*number),
                Value::Text(text) => Key::Text(text.clone()),
                Value::Null | Value::Real(_) => Key::Nothing,
            });
            let number = *numbers.entry(key.collect()).or_insert_with(|| {
                found.push(vec![None; parts.len()]);
                found.len() - 1
            });
            found[number][part] = Some(at);
        }
    }
    if let Some(Argument::Count(first)) = request.argument(FIRST) {
        found.truncate(usize::try_from(*first).unwrap_or(usize::MAX));
    }
    let places = places(&kinds, parts.len());
    // In a metric that knows such a cost of others, a row that is not there cost nothing.
    let is_known = |part: usize, at: usize| {
        let mut rows = parts[part].rows.iter();
        rows.any(|row| row[at] != Value::Null)
    };
    let missing: Vec<Value> = places
        .iter()
        .map(|&(part, at)| match kinds[at] {
            Of::Metric { is_average: false } if is_known(part, at) => Value::Real(0.0),
            _ => Value::Null,
        })
        .collect();
    let row = |rows: &Vec<Option<usize>>| -> Vec<Value> {
        let value = |part: usize, at: usize| Some(&parts[part].rows[rows[part]?][at]);
        let cells = places.iter().zip(&missing).map(|(&(part, at), missing)| {
            let own = value(part, at);
            if matches!(kinds[at], Of::Metric { .. }) {
                return own.unwrap_or(missing).clone();
            }
            let mut all = (0..parts.len()).filter_map(|part| value(part, at));
            let known = all.find(|value| **value != Value::Null);
            known.cloned().unwrap_or(Value::Null)
        });
        cells.collect()
    };
    let rows = found.iter().map(row).collect::<KeptRows>();
    let shown = places
        .iter()
        .map(|&(part, at)| {
            let mut column = columns[at].clone();
            if let (Of::Metric { .. }, Some(subject)) = (kinds[at], &parts[part].subject) {
                column.metric = part;
                column.name = Cow::Owned(format!("{}.{}", subject.metric.name, column.name));
            }
            column
        })
        .collect();
    let mut remarks: Vec<String> = Vec::new();
    let (mut script, mut subjects) = (String::new(), Vec::new());
    for part in parts {
        script += &part.script;
        subjects.extend(part.subject);
        for remark in part.remarks {
            if !remarks.contains(&remark) {
                remarks.push(remark);
            }
        }
    }
    let mut subjects = subjects.into_iter();
    let subject = subjects.next().map(|first| Subject {
        beside: Some(subjects.collect()),
        ..first
    });
    Answer {
        heading: None,
        subject,
        columns: shown,
        script,
        remarks,
        dispensable: Vec::new(),
        namesakes: Vec::new(),
        placed: Placed::default(),
        rows: Rows::Kept(rows),
        author: Author::Us,
        database,
    }
}

/// What a column of the report is of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    /// What the row is about.
    Row,
    /// Calls, which are the same in all metrics that know them.
    AllMetrics,
    /// A figure in one metric.
    Metric { is_average: bool },
    /// The rows of one metric in their order.
    Order,
}

impl Of {
    fn column(column: &Column<'_>) -> Self {
        match (column.kind, column.shows) {
            (_, Some(Meaning::RunningPercent)) => Self::Order,
            (Kind::Cost | Kind::Raw | Kind::Percent, shows) => Self::Metric {
                is_average: shows == Some(Meaning::Average),
            },
            (Kind::Count, _) => Self::AllMetrics,
            _ => Self::Row,
        }
    }
}

/// The columns of the answer: from which part each is taken, and its place there. Columns that are
/// beside each other in the report are so for each metric.
fn places(kinds: &[Of], parts: usize) -> Vec<(usize, usize)> {
    let mut places = Vec::new();
    let columns: Vec<usize> = (0..kinds.len())
        .filter(|at| kinds[*at] != Of::Order)
        .collect();
    let is_of_metric = |at: usize| matches!(kinds[at], Of::Metric { .. });
    for block in columns.chunk_by(|left, right| is_of_metric(*left) == is_of_metric(*right)) {
        let count = if is_of_metric(block[0]) { parts } else { 1 };
        places.extend((0..count).flat_map(|part| block.iter().map(move |at| (part, *at))));
    }
    places
}
