//! The list of runs, with their tags as columns.

use std::cmp::Reverse;
use std::mem;

use hashbrown::HashMap;

use super::answer::{Answer, Author, RowSource, Rows, read_row};
use super::error::{ReportError, failure};
use super::header::{Column, Kind};
use super::labels::listed;
use super::plain_sql::query;
use crate::store::{Database, ShortUids};
use crate::text::cell::{Value, put};
use crate::text::scale::figure;

const RUNS: &str = include_str!("../../queries/lists/runs.sql");
const TAGS: &str = include_str!("../../queries/lists/tags.sql");

/// Tags that get a column. A table of more is no longer read; it is asked for by SQL.
const MOST_TAGS: usize = 32;

/// Columns that a narrow screen can do without, those that matter least first; tags go after them,
/// the last one first.
const LEAST: &[&str] = &[UID, "fidelity", "metrics", "functions", "nodes", "format"];

/// The column with the uids of runs.
const UID: &str = "run_uid";

/// The column with the totals of runs.
const TOTAL: &str = "total";

/// The column with the units of totals.
const UNIT: &str = "unit";

/// Whom the list is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// Programs: totals are numbers, with a column of their units, and uids are whole.
    Program,
    /// People: totals are each in the unit that fits them, without that column, and uids are as short as they may be
    /// written.
    Person,
    /// People with room for long lines: uids are whole.
    PersonWithRoom,
}

/// Lists runs, all or those with these numbers, the one that was imported first first. After the
/// columns of the list comes one for each tag that a listed run has, named by its key, or
/// `KEY (tag)` where the list has a column of this name; a run without the tag has NULL there.
///
/// # Errors
/// The database's.
pub fn run_list<'d>(
    database: &'d Database,
    runs: Option<&[i64]>,
    reader: Reader,
) -> Result<Answer<'d>, ReportError> {
    let failed = |source| ReportError::Store(failure(database, source));
    let runs = runs.map(listed);
    let mut answer = query(database, RUNS)?;
    answer.author = Author::Us;
    answer.dispensable.clear();
    let read: Vec<Column<'d>> = mem::take(&mut answer.columns);
    answer.columns.clone_from(&read);
    let is_scaled = reader != Reader::Program;
    if is_scaled {
        // The unit is said with each total.
        answer.columns.retain(|column| column.name != UNIT);
        for column in &mut answer.columns {
            if column.name == TOTAL {
                // Numbers are to the right, also with a unit.
                column.kind = Kind::Count;
            }
        }
    }
    let uids = match reader {
        Reader::Person => Some(database.short_uids()?),
        Reader::Program | Reader::PersonWithRoom => None,
    };
    let mut tags = Tags::of(database, runs.as_deref()).map_err(failed)?;
    if tags.keys.len() > MOST_TAGS {
        answer.remarks.push(format!(
            "{} of {} tags have a column, the most frequent ones; table run_tags has all",
            MOST_TAGS,
            tags.keys.len()
        ));
    }
    let shown = answer.columns.len();
    for key in tags.shown() {
        tags.keys[key].column = Some(answer.columns.len());
        let key = &tags.keys[key].name;
        let mut own = answer.columns.iter().take(shown);
        let name = if own.any(|column| column.name == *key) {
            format!("{key} (tag)")
        } else {
            key.clone()
        };
        answer.columns.push(Column::plain(name, Kind::Text));
    }
    let of_name = |name: &&str| {
        let mut own = answer.columns.iter().take(shown);
        own.position(|column| column.name == *name)
    };
    let least = LEAST.iter().filter_map(of_name);
    answer.dispensable = least.chain((shown..answer.columns.len()).rev()).collect();
    answer.rows = Rows::Computed(Box::new(RunRows {
        database,
        runs,
        read,
        shown,
        width: answer.columns.len(),
        is_scaled,
        uids,
        tags,
    }));
    Ok(answer)
}

/// The rows of the list. There may be many, and few texts of theirs are kept: each row is written
/// over the one before.
struct RunRows<'d> {
    database: &'d Database,
    /// The runs that are listed, as a JSON array.
    runs: Option<String>,
    /// The columns that are read.
    read: Vec<Column<'d>>,
    /// How many of them are shown.
    shown: usize,
    /// How many columns are shown, with those of tags.
    width: usize,
    /// Totals have their units with them.
    is_scaled: bool,
    /// How short uids may be; they are whole without it.
    uids: Option<ShortUids>,
    tags: Tags,
}

impl RowSource for RunRows<'_> {
    fn each(&self, give: &mut dyn FnMut(&[Value]) -> bool) -> rusqlite::Result<()> {
        let mut statement = self.database.connection().prepare_cached(RUNS)?;
        let mut found = vec![Value::Null; self.read.len()];
        let mut row = vec![Value::Null; self.width];
        let mut tags = self.tags.values.iter().peekable();
        let place = |name: &str| self.read.iter().position(|column| column.name == name);
        let (total, unit, uid) = (place(TOTAL), place(UNIT), place(UID));
        let mut rows = statement.query([&self.runs])?;
        while let Some(next) = rows.next()? {
            read_row(next, &self.read, Author::Us, &mut found)?;
            if self.is_scaled
                && let (Some(total), Some(unit)) = (total, unit)
                && let (Value::Real(cost), Value::Text(unit)) = (&found[total], &found[unit])
            {
                found[total] = Value::Text(figure("", unit, *cost));
            }
            if let (Some(uids), Some(at)) = (&self.uids, uid)
                && let Value::Text(uid) = &mut found[at]
            {
                uid.truncate(uids.short(uid).len());
            }
            let found = found.iter_mut().enumerate();
            let found = found.filter(|(at, _)| !self.is_scaled || Some(*at) != unit);
            for (shown, (_, found)) in row.iter_mut().zip(found).take(self.shown) {
                // The text of an earlier row is written over by the next one.
                mem::swap(shown, found);
            }
            row[self.shown..].fill(Value::Null);
            let run = match row.first() {
                Some(Value::Integer(run)) => *run,
                _ => 0,
            };
            // Both come in the order of the runs. Tags of a run that is not there are passed over.
            while let Some((of, key, value)) = tags.next_if(|(of, ..)| *of <= run) {
                if let (true, Some(column)) = (*of == run, self.tags.keys[*key].column) {
                    put(&mut row[column], value);
                }
            }
            if !give(&row) {
                break;
            }
        }
        Ok(())
    }
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
    /// The column that shows it.
    column: Option<usize>,
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
                tags.keys.push(Key {
                    name,
                    runs: 0,
                    column: None,
                });
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
