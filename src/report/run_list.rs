//! The list of runs, with their tags as columns.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use super::answer::{Answer, Author, Rows};
use super::error::{ReportError, failure};
use super::header::{Column, Kind};
use super::names::listed;
use super::plain_sql::query;
use crate::store::{Database, StoreError};
use crate::text::cell::Value;

const RUNS: &str = include_str!("../../queries/lists/runs.sql");
const TAGS: &str = include_str!("../../queries/lists/tags.sql");

/// Tags that get a column. A table of more is no longer read; it is asked for by SQL.
const MOST_TAGS: usize = 32;

/// Lists runs, all or those with these numbers, the one that was imported first first. After the
/// columns of the list comes one for each tag that a listed run has, named by its key, or
/// `KEY (tag)` where the list has a column of this name; a run without the tag has NULL there.
///
/// # Errors
/// The database's.
pub fn run_list<'d>(
    database: &'d Database,
    runs: Option<&[i64]>,
) -> Result<Answer<'d>, ReportError> {
    let failed = |source| ReportError::Store(failure(database, source));
    let runs = runs.map(listed);
    let mut answer = query(database, RUNS)?;
    answer.author = Author::Us;
    if let Rows::Statement(statement) = &mut answer.rows {
        statement.raw_bind_parameter(1, &runs).map_err(failed)?;
    }
    let tags = tags(database, runs.as_deref()).map_err(failed)?;
    if tags.is_empty() {
        return Ok(answer);
    }
    let mut shown: Vec<(&str, &HashMap<i64, String>)> =
        tags.iter().map(|(key, of)| (key.as_str(), of)).collect();
    // Those of most runs, in the order of their keys.
    shown.sort_by_key(|(_, of)| Reverse(of.len()));
    if shown.len() > MOST_TAGS {
        answer.remarks.push(format!(
            "{} of {} tags have a column, those of most runs: table run_tags has all",
            MOST_TAGS,
            shown.len()
        ));
        shown.truncate(MOST_TAGS);
    }
    shown.sort_unstable_by_key(|(key, _)| *key);
    let mut rows = Vec::new();
    answer.each(|row| {
        let mut row = row.to_vec();
        let run = match row.first() {
            Some(Value::Integer(run)) => *run,
            _ => 0,
        };
        for (_, of) in &shown {
            row.push(
                of.get(&run)
                    .map_or(Value::Null, |value| Value::Text(value.clone())),
            );
        }
        rows.push(row);
        Ok::<_, StoreError>(())
    })?;
    let columns: Vec<Column<'_>> = shown
        .iter()
        .map(|(key, _)| {
            let is_taken = answer.columns.iter().any(|column| column.name == *key);
            let name: Cow<'_, str> = if is_taken {
                format!("{key} (tag)").into()
            } else {
                (*key).into()
            };
            Column::plain(name.into_owned(), Kind::Text)
        })
        .collect();
    answer.columns.extend(columns);
    answer.rows = Rows::Kept(rows);
    Ok(answer)
}

/// By key: the values of the tag by run.
fn tags(
    database: &Database,
    runs: Option<&str>,
) -> rusqlite::Result<BTreeMap<String, HashMap<i64, String>>> {
    let mut tags: BTreeMap<String, HashMap<i64, String>> = BTreeMap::new();
    let mut statement = database.connection().prepare(TAGS)?;
    let mut rows = statement.query([runs])?;
    while let Some(row) = rows.next()? {
        tags.entry(row.get(1)?)
            .or_default()
            .insert(row.get(0)?, row.get(2)?);
    }
    Ok(tags)
}
