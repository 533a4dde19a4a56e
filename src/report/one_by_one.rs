//! Answers for several functions whose costs cannot be added up: a report is asked for each of them, and a first column
//! says which one a row is about.

use rusqlite::types::Value as SqlValue;

use super::answer::{Answer, Author, Rows};
use super::catalog::Report;
use super::error::ReportError;
use super::header::{Column, Kind, Meaning, Parameter};
use super::kept_rows::KeptRows;
use super::labels::FunctionLabels;
use super::path::{Name, Path};
use super::question::{Argument, Request};
use super::statement::literal;
use crate::store::{Database, RunInfo, StoreError};
use crate::text::cell::Value;
use crate::text::nearest::some;

/// Maximum number of functions: more are rather the work of a pattern than of a name.
const MAX_FUNCTIONS: usize = 1000;

/// Asks a report for each of some functions by a function that answers a request.
///
/// # Errors
/// When there are too many, when none of them has an answer, or when the database fails.
pub(super) fn ask_each<'d>(
    database: &'d Database,
    report: &'static Report,
    run: &RunInfo,
    request: &Request,
    functions: &[i64],
    ask: impl Fn(&Request) -> Result<Answer<'d>, ReportError>,
) -> Result<Answer<'d>, ReportError> {
    if functions.len() > MAX_FUNCTIONS {
        return Err(ReportError::NothingSelected(format!(
            "--fn matches {} functions of {}; at most {MAX_FUNCTIONS} can be shown one by one",
            functions.len(),
            run.said()
        )));
    }
    let labels = FunctionLabels::of_functions(database, run.run_id, functions)?;
    if request.dialect.is_some() {
        let names = labels.sorted(functions).into_iter();
        let names: Vec<String> = names.map(|function| labels.label(function)).collect();
        return Err(ReportError::Usage(format!(
            "--dialect: --fn must select one function, or several that do not call each other; it selects {}",
            some(&names)
        )));
    }
    let (mut joined, mut refused): (Option<Answer<'d>>, _) = (None, None);
    let (mut rows, mut statements) = (KeptRows::default(), Vec::new());
    for function in labels.sorted(functions) {
        let label = labels.label(function);
        let one = with_function(report, request, &label, function);
        let mut answer = match ask(&one) {
            Ok(answer) => answer,
            Err(error @ ReportError::NothingSelected(_)) => {
                refused.get_or_insert(error);
                continue;
            }
            Err(error) => return Err(error),
        };
        answer.each(|row| {
            let about = [Value::Text(label.clone())];
            rows.push(&[&about, row].concat());
            Ok::<_, StoreError>(())
        })?;
        let statement = answer.script.trim_end().trim_end_matches(';');
        let about = literal(&SqlValue::Text(label));
        statements.push(format!("SELECT {about} AS about, * FROM (\n{statement}\n)"));
        match &mut joined {
            Some(joined) => {
                for remark in answer.remarks {
                    if !joined.remarks.contains(&remark) {
                        joined.remarks.push(remark);
                    }
                }
            }
            None => joined = Some(answer),
        }
    }
    let Some(joined) = joined else {
        return Err(refused.unwrap_or(ReportError::Several(functions.to_vec())));
    };
    let about = Column {
        shows: Some(Meaning::About),
        meaning: "the selected function that the row is about",
        ..Column::plain("about".to_owned(), Kind::Text)
    };
    let mut subject = joined.subject;
    if let Some(subject) = &mut subject {
        (subject.selected, subject.callers) = (None, None);
        for beside in subject.beside.iter_mut().flatten() {
            (beside.selected, beside.callers) = (None, None);
        }
    }
    Ok(Answer {
        subject,
        columns: [about].into_iter().chain(joined.columns).collect(),
        script: statements.join("\nUNION ALL\n") + ";\n",
        rows: Rows::Kept(rows),
        author: Author::Us,
        ..joined
    })
}

/// Returns a request with a single function in the place of its path.
fn with_function(report: &Report, request: &Request, label: &str, function: i64) -> Request {
    let mut one = request.clone();
    let mut parameters = report.header().parameters.iter();
    let path = parameters.find(|parameter| parameter.kind == Parameter::Path);
    let name = path.map_or("fn", |path| path.name);
    one.arguments.retain(|(known, _)| known != name);
    let path = Path {
        first: Name::Found(label.to_owned(), vec![function]),
        rest: Vec::new(),
    };
    one.arguments
        .push((name.to_owned(), Argument::Path(label.to_owned(), path)));
    one
}
