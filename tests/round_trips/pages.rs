//! Rows that are read from SQLite's pages are those that SQL gives: exports, reports and checks say
//! the same from both.

use std::fmt::Write as _;

use libtest_mimic::Failed;
use profdb::formats::EXPORTS;
use profdb::report::{self, Argument, REPORTS, Request};
use profdb::store::{Database, RunInfo};

use super::{Sample, ensure, export, saved};

/// Questions, of which each report takes those that it has flags for.
const QUESTIONS: [&[(&str, &str)]; 6] = [
    &[],
    &[("fn", "*")],
    &[("fn", "*,*"), ("hide", "?*a*")],
    &[("focus", "*a*")],
    &[("depth", "2")],
    &[("by", "thread")],
];

pub(super) fn reads_the_same_without_pages(sample: &Sample) -> Result<(), Failed> {
    is_the_same_without_pages(&mut saved(sample, 2)?)
}

pub(super) fn is_the_same_without_pages(database: &mut Database) -> Result<(), Failed> {
    let by_pages = said(database)?;
    database.read_without_pages()?;
    let sql = "SELECT data FROM sqlite_dbpage WHERE pgno = 1";
    ensure(database.connection().prepare(sql).is_err(), || {
        "pages can be read".to_owned()
    })?;
    let by_sql = said(database)?;
    ensure(by_pages.len() == by_sql.len(), || "not as many".to_owned())?;
    for (by_pages, by_sql) in by_pages.iter().zip(&by_sql) {
        ensure(by_pages == by_sql, || {
            format!("from pages:\n{by_pages:.2000}\nby SQL:\n{by_sql:.2000}")
        })?;
    }
    Ok(())
}

/// What is said of the last run, and of the database.
fn said(database: &Database) -> Result<Vec<String>, Failed> {
    let Some(run) = database.run(None)? else {
        return Err("there is no run".into());
    };
    let mut said = vec![format!(
        "{:?} {}",
        database.check()?,
        database.is_as_recounted()?
    )];
    for format in EXPORTS {
        said.push(match export::written_whole(format, database, &run, None) {
            Ok((bytes, lost)) => format!(
                "{}: {lost:?}\n{}",
                format.name,
                String::from_utf8_lossy(&bytes)
            ),
            Err(failed) => format!("{}: {:?}", format.name, failed.message()),
        });
    }
    for report in REPORTS {
        for question in QUESTIONS {
            let arguments = question.iter().map(|(name, value)| {
                let value = match *name {
                    "depth" => Argument::Count(value.parse()?),
                    _ => Argument::Text((*value).to_owned()),
                };
                Ok(((*name).to_owned(), value))
            });
            let request = Request {
                arguments: arguments.collect::<Result<_, Failed>>()?,
                ..Request::default()
            };
            let answer = answered(database, report, &run, &request);
            let answer = answer.unwrap_or_else(|failed| format!("{:?}", failed.message()));
            said.push(format!("{} {question:?}\n{answer}", report.name));
        }
    }
    Ok(said)
}

fn answered(
    database: &Database,
    report: &'static report::Report,
    run: &RunInfo,
    request: &Request,
) -> Result<String, Failed> {
    let mut answer = report::ask(database, report, run, request)?;
    let mut rows = String::new();
    answer.each(|row| {
        let _ = writeln!(rows, "{row:?}");
        Ok::<_, report::ReportError>(())
    })?;
    Ok(rows)
}
