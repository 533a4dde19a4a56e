//! The list of runs, with their tags as columns.

use std::cmp::Reverse;

use hashbrown::HashMap;

use super::answer::{Answer, Author, Rows};
use super::error::{ReportError, failure};
use super::header::{Column, Kind};
use super::names::listed;
use super::plain_sql::query;
use crate::store::{Database, StoreError};
use crate::text::cell::Value;
use crate::text::scale::figure;

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
    let mut tags = Tags::of(database, runs.as_deref()).map_err(failed)?;
    if tags.keys.is_empty() {
        // Widths of columns take a reading of their own.
        answer.keep()?;
        return Ok(answer);
    }
    if tags.keys.len() > MOST_TAGS {
        answer.remarks.push(format!(
            "{} of {} tags have a column, those of most runs: table run_tags has all",
            MOST_TAGS,
            tags.keys.len()
        ));
    }
    let shown = tags.shown();
    let mut column_of = vec![None; tags.keys.len()];
    for (column, key) in shown.iter().enumerate() {
        column_of[*key] = Some(answer.columns.len() + column);
    }
    let width = answer.columns.len() + shown.len();
    let mut of_runs = tags.values.into_iter().peekable();
    let mut rows = Vec::new();
    answer.each_own(width, |mut row| {
        row.resize(width, Value::Null);
        let run = match row.first() {
            Some(Value::Integer(run)) => *run,
            _ => 0,
        };
        // Both come in the order of the runs. Tags of a run that is not there are passed over.
        while let Some((of, key, value)) = of_runs.next_if(|(of, ..)| *of <= run) {
            if let (true, Some(column)) = (of == run, column_of[key]) {
                row[column] = Value::Text(value);
            }
        }
        rows.push(row);
        Ok::<_, StoreError>(())
    })?;
    let columns: Vec<Column<'_>> = shown
        .iter()
        .map(|key| {
            let key = std::mem::take(&mut tags.keys[*key].name);
            let is_taken = answer.columns.iter().any(|column| column.name == *key);
            let name = if is_taken {
                format!("{key} (tag)")
            } else {
                key
            };
            Column::plain(name, Kind::Text)
        })
        .collect();
    answer.columns.extend(columns);
    answer.rows = Rows::Kept(rows);
    Ok(answer)
}

/// Shows each total in the unit that fits it, as tables for people do; the column of units goes.
///
/// # Errors
/// The database's.
pub fn scaled(answer: &mut Answer<'_>) -> Result<(), StoreError> {
    let place = |name: &str| answer.columns.iter().position(|column| column.name == name);
    let (Some(total), Some(unit)) = (place("total"), place("unit")) else {
        return Ok(());
    };
    let mut rows = match std::mem::replace(&mut answer.rows, Rows::Kept(Vec::new())) {
        Rows::Kept(rows) => rows,
        // Too long to be kept, until here.
        other => {
            answer.rows = other;
            let mut rows = Vec::new();
            answer.each_own(0, |row| {
                rows.push(row);
                Ok::<_, StoreError>(())
            })?;
            rows
        }
    };
    for row in &mut rows {
        if let (Value::Real(cost), Value::Text(unit)) = (&row[total], &row[unit]) {
            row[total] = Value::Text(figure("", unit, *cost));
        }
        row.remove(unit);
    }
    // Numbers are to the right, also with a unit.
    answer.columns[total].kind = Kind::Count;
    answer.columns.remove(unit);
    answer.rows = Rows::Kept(rows);
    Ok(())
}

/// The tags of some runs.
#[derive(Default)]
struct Tags {
    keys: Vec<Key>,
    /// Run, number of the key, and value, in the order of the runs.
    values: Vec<(i64, usize, String)>,
}

/// The key of a tag.
struct Key {
    name: String,
    /// How many runs have the tag.
    runs: usize,
}

impl Tags {
    fn of(database: &Database, runs: Option<&str>) -> rusqlite::Result<Self> {
        let mut tags = Self::default();
        let mut numbers: HashMap<String, usize> = HashMap::new();
        let mut statement = database.connection().prepare(TAGS)?;
        let mut rows = statement.query([runs])?;
        while let Some(row) = rows.next()? {
            let name = row.get_ref(1)?.as_str()?;
            let next = tags.keys.len();
            let key = *numbers.entry_ref(name).or_insert(next);
            if key == next {
                let name = name.to_owned();
                tags.keys.push(Key { name, runs: 0 });
            }
            tags.keys[key].runs += 1;
            tags.values.push((row.get(0)?, key, row.get(2)?));
        }
        Ok(tags)
    }

    /// Numbers of the keys that get a column, in the order of their names: those of most runs.
    fn shown(&self) -> Vec<usize> {
        let mut shown: Vec<usize> = (0..self.keys.len()).collect();
        let name = |key: &usize| &self.keys[*key].name;
        shown.sort_unstable_by(|one, other| name(one).cmp(name(other)));
        shown.sort_by_key(|key| Reverse(self.keys[*key].runs));
        shown.truncate(MOST_TAGS);
        shown.sort_unstable_by(|one, other| name(one).cmp(name(other)));
        shown
    }
}
