//! `profdb check`

use std::io::{self, Write};

use clap::Args;
use serde_json::{Value as Json, json};

use super::database::{DatabaseArgs, opened_to_read};
use super::failure::{Failure, complain, database};
use super::inputs::Inputs;
use super::output::{ListArgs, print};
use crate::base::error::Stop;
use crate::report::render::{Format, plain};
use crate::report::{Value, table};
use crate::store::{CHECKS, Finding};
use crate::text::json::pretty;

/// Checks that are no statements: of the file, of foreign keys, of views, of texts and of identities.
const OTHER_CHECKS: usize = 5;

/// Version of the JSON object: raised when a name or a meaning changes.
const SCHEMA: u32 = 1;

#[derive(Debug, Args)]
pub(super) struct Check {
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    list: ListArgs,
}

pub(super) fn run(check: &Check, stop: &Stop) -> Result<(), Failure> {
    let target = check.list.target(&Inputs::of(&check.database))?;
    let layout = check.list.layout();
    layout
        .check(false)
        .map_err(|wrong| complain(wrong, Failure::Usage))?;
    let checked = opened_to_read(&check.database, stop).map_err(|error| {
        // Damage is a result of the check. A file that is not a database cannot be checked.
        if error.is_damage() && !error.is_not_a_database() && !stop.is_set() {
            complain(error, Failure::CheckFailed)
        } else {
            database(error, stop)
        }
    })?;
    let findings = checked.check();
    let findings = findings.map_err(|error| database(error, stop))?;
    let path = checked.path().display().to_string();
    match layout.format {
        Format::Text => target.write(stop, |out| Ok(write_text(&findings, &path, out)?))?,
        Format::Json => {
            let object = object(&findings, &path);
            target.write(stop, |out| Ok(writeln!(out, "{}", pretty(&object))?))?;
        }
        _ => {
            let columns = ["check", "found", "what", "examples"];
            let rows = findings.iter().map(row).collect();
            print(&mut table(&checked, &columns, rows), &layout, &target, stop)?;
        }
    }
    if findings.is_empty() {
        return Ok(());
    }
    Err(complain(
        format!(
            "{path}: {} of {} checks failed",
            findings.len(),
            CHECKS.len() + OTHER_CHECKS
        ),
        Failure::CheckFailed,
    ))
}

fn write_text(findings: &[Finding], path: &str, out: &mut dyn Write) -> io::Result<()> {
    for finding in findings {
        let Finding {
            check,
            count,
            examples,
        } = finding;
        let about = about(check);
        let about = if about.is_empty() {
            about
        } else {
            format!(": {about}")
        };
        writeln!(out, "{check}: {count} found{about}")?;
        for example in examples {
            writeln!(out, "  {}", plain(example))?;
        }
        if examples.len() < *count {
            writeln!(out, "  and {} more", count - examples.len())?;
        }
    }
    if findings.is_empty() {
        writeln!(
            out,
            "{}: no errors found by {} checks",
            plain(path),
            CHECKS.len() + OTHER_CHECKS
        )?;
    }
    Ok(())
}

/// A row of a table: examples are in one cell.
fn row(finding: &Finding) -> Vec<Value> {
    let count = i64::try_from(finding.count).unwrap_or(i64::MAX);
    vec![
        Value::Text(finding.check.to_string()),
        Value::Integer(count),
        Value::Text(about(finding.check)),
        Value::Text(finding.examples.join("; ")),
    ]
}

fn object(findings: &[Finding], path: &str) -> Json {
    let found: Vec<Json> = findings
        .iter()
        .map(|finding| {
            json!({
                "check": finding.check,
                "found": finding.count,
                "what": about(finding.check),
                "examples": finding.examples,
            })
        })
        .collect();
    json!({
        "schema_version": SCHEMA,
        "database": path,
        "sound": findings.is_empty(),
        "checks": CHECKS.len() + OTHER_CHECKS,
        "findings": found,
    })
}

/// What a check looks for: the comment before its statement; empty for those that are none.
fn about(check: &str) -> String {
    let sql = CHECKS
        .iter()
        .find(|(name, _)| *name == check)
        .map_or("", |(_, sql)| sql);
    let lines = sql.lines().map_while(|line| line.strip_prefix("-- "));
    lines.collect::<Vec<_>>().join(" ")
}
