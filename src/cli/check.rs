//! `profdb check`

use clap::Args;

use super::database::{DatabaseArgs, opened_to_read};
use super::failure::{Failure, complain, database, line};
use super::progress::Progress;
use crate::base::error::Stop;
use crate::store::{CHECKS, Finding};

/// Checks that are no statements: of the file, of foreign keys, of views and of texts.
const OTHER_CHECKS: usize = 4;

#[derive(Debug, Args)]
pub(super) struct Check {
    #[command(flatten)]
    database: DatabaseArgs,
}

pub(super) fn run(check: &Check, stop: &Stop) -> Result<(), Failure> {
    let mut checked = opened_to_read(&check.database, stop).map_err(|error| {
        // That is an answer, too.
        if error.is_damage() && !stop.is_set() {
            complain(error, Failure::CheckFailed)
        } else {
            database(error, stop)
        }
    })?;
    let progress = Progress::new("checking");
    let watched = checked.watch(stop.clone(), progress.tick());
    let findings = watched.and_then(|()| checked.check());
    drop(progress);
    let findings = findings.map_err(|error| database(error, stop))?;
    for Finding {
        check,
        count,
        examples,
    } in &findings
    {
        let about = CHECKS
            .iter()
            .find(|(name, _)| name == check)
            .map_or_else(String::new, |(_, sql)| about(sql));
        line(format!("{check}: {count} found{about}"))?;
        for example in examples {
            line(format!("  {example}"))?;
        }
        if examples.len() < *count {
            line(format!("  and {} more", count - examples.len()))?;
        }
    }
    let path = checked.path().display();
    if findings.is_empty() {
        return line(format!(
            "{path}: the file is sound, and {} checks of its tables find nothing",
            CHECKS.len()
        ));
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

/// What a statement looks for: the comment before it.
fn about(sql: &str) -> String {
    let lines = sql.lines().map_while(|line| line.strip_prefix("-- "));
    format!(": {}", lines.collect::<Vec<_>>().join(" "))
}
