//! Answers: columns and rows, and what they are about.

use std::iter;
use std::rc::Rc;

use hashbrown::HashSet;
use rusqlite::types::ValueRef;
use rusqlite::{Row, Statement};
use serde_json::{Map, Value as Json};

use super::error::failure;
use super::header::{Column, Kind, Medium};
use super::kept_rows::KeptRows;
use super::labels::{FunctionLabels, MAX_LOOKUPS};
use super::placed_texts::NamesColumn;
use crate::base::hex::hex;
use crate::store::{Database, MetricInfo, RunInfo, StoreError};
use crate::text::cell::{Value, put};

/// Column with the number of the function that a row is about.
pub(super) const FUNCTION_ID: &str = "function_id";

/// Reason why rows are not read to the end.
enum EarlyEnd {
    Reached,
    Failed(StoreError),
}

impl From<StoreError> for EarlyEnd {
    fn from(error: StoreError) -> Self {
        Self::Failed(error)
    }
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
    /// The other metrics that are shown beside it; `None` where one metric was asked for.
    pub beside: Option<Vec<Self>>,
    /// The run knows how often the profiler's timer was read.
    pub timer_readings: bool,
    /// Cost of what was selected; `None` if the whole run was, or if it is unknown.
    pub selected: Option<f64>,
    /// The costs asked for are the exclusive ones, not the cumulative ones.
    pub exclusive: bool,
    /// The cost that would have been shown, were it known.
    pub instead: Option<Unknown>,
    /// What has been subtracted from the times, in ns per reading of the timer; `None` if unknown.
    pub bias: Option<f64>,
    /// Exclusive costs are added up from the nodes shown, although the file states others for each
    /// function.
    pub exclusive_left: bool,
    /// What the callers add up to, where they do not add up to what is selected; only of reports
    /// about them.
    pub callers: Option<Callers>,
    /// What is not shown because it lies too deep or costs too little; `None` if nothing was to be
    /// left out.
    pub pruned: Option<Pruned>,
}

/// The cumulative cost that a report shows by default, where it is unknown.
#[derive(Clone, Debug, PartialEq)]
pub struct Unknown {
    /// Name of the metric.
    pub metric: String,
    /// It is known for few rows, such as groups with a single function.
    pub in_part: bool,
}

impl Unknown {
    /// What there is to say of showing another cost.
    pub(super) fn remark(&self, shown: &Subject) -> String {
        let flag = match (shown.metric.name == self.metric, shown.exclusive) {
            (true, _) => "--exclusive".to_owned(),
            (false, true) => format!("--metric {} --exclusive", shown.metric.name),
            (false, false) => format!("--metric {}", shown.metric.name),
        };
        format!(
            "{}: {}: showing {}, as with {flag}",
            shown.run.said(),
            self.said(),
            shown.cost()
        )
    }

    /// Which cost is unknown: `cumulative time is unknown`.
    #[must_use]
    pub fn said(&self) -> String {
        let unknown = if self.in_part {
            "unknown in some rows"
        } else {
            "unknown"
        };
        format!("cumulative {} is {unknown}", self.metric)
    }
}

impl Subject {
    /// The metrics that are shown, each with what was selected.
    pub fn metrics(&self) -> impl Iterator<Item = &Self> {
        iter::once(self).chain(self.beside.iter().flatten())
    }

    /// The cost that is shown: `exclusive time`.
    #[must_use]
    pub fn cost(&self) -> String {
        let kind = if self.exclusive {
            "exclusive"
        } else {
            "cumulative"
        };
        format!("{kind} {}", self.metric.name)
    }
}

/// What an answer is about that is about several runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Heading {
    /// The metric that the costs are of.
    pub measure: Measure,
    /// Those that other columns are of, by their `metric` from 1 on; empty where all costs are of one.
    pub beside: Vec<Measure>,
    /// Lines above a table for people.
    pub lines: Vec<String>,
    /// What files for programs say of the answer as a whole: names and values of an object.
    pub members: Map<String, Json>,
}

/// A metric, and how large its figures are in an answer, which says how they are scaled.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// The metric.
    pub name: String,
    /// Its unit: `ns`, `bytes` or `count`.
    pub unit: String,
    /// The largest total, in the unit.
    pub total: f64,
    /// What is selected of it, in the unit; `None` for all.
    pub selected: Option<f64>,
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
    /// Their own cost in % of what percentages are of; `None` if that is 0.
    pub percent: Option<f64>,
}

/// The answer: columns and rows.
pub struct Answer<'d> {
    /// What it is about; `None` for plain SQL, and for what is about several runs.
    pub subject: Option<Subject>,
    /// What it is about if that is several runs.
    pub heading: Option<Heading>,
    /// The columns.
    pub columns: Vec<Column<'d>>,
    /// All statements that were run for it, as text for the sqlite3 shell.
    pub script: String,
    /// What there is to say of the question: a filter that found nothing to leave out.
    pub remarks: Vec<String>,
    /// Numbers of columns that tables for people leave out where they have no room on a screen, those
    /// that matter least first.
    pub dispensable: Vec<usize>,
    /// Names, modules and files of functions without a row that may share their name with a row.
    pub namesakes: Vec<[String; 3]>,
    pub(super) rows: Rows<'d>,
    pub(super) author: Author,
    pub(super) database: &'d Database,
    pub(super) placed: Placed,
}

/// Texts in which places tell functions of one name apart.
#[derive(Default)]
pub(super) enum Placed {
    /// Nobody has asked for them.
    #[default]
    Unread,
    /// A column with names, and labels of its functions; `None` if the texts of the rows are complete.
    Read(Option<(NamesColumn, Rc<FunctionLabels>)>),
}

/// Whose statement is answered.
#[derive(Clone, Copy)]
pub(super) enum Author {
    /// Ours: text that is not UTF-8 is damage, and an error.
    Us,
    /// The user's: it is shown as far as it can be, for the user may be looking for damage.
    User,
}

/// Rows are read more than once. They are kept, unless they are many: then the statement runs
/// again.
pub(super) enum Rows<'d> {
    Kept(KeptRows),
    Statement(Statement<'d>),
    Computed(Box<dyn RowSource + 'd>),
}

/// Rows that are computed anew for each reading.
pub(super) trait RowSource {
    /// Gives every row in order, as long as they are wanted.
    ///
    /// # Errors
    /// When the database fails.
    fn each(&self, give: &mut dyn FnMut(&[Value]) -> bool) -> rusqlite::Result<()>;

    /// Whether a column may have a value in some row. `false` spares a reading of all rows.
    ///
    /// # Errors
    /// When the database fails.
    fn may_be_filled(&self, _column: &str) -> rusqlite::Result<bool> {
        Ok(true)
    }
}

impl Answer<'_> {
    /// The metrics of its costs; none in plain SQL.
    pub(super) fn measures(&self) -> Vec<Measure> {
        let of_run = self.subject.iter().flat_map(Subject::metrics);
        let of_run = of_run.map(|subject| Measure {
            name: subject.metric.name.clone(),
            unit: subject.metric.unit.clone(),
            total: subject.metric.total,
            selected: subject.selected,
        });
        let of_runs = self.heading.iter().flat_map(|heading| {
            let beside = heading.beside.iter();
            std::iter::once(&heading.measure).chain(beside).cloned()
        });
        of_run.chain(of_runs).collect()
    }

    /// Calls a function for every row, in order, until it fails.
    ///
    /// # Errors
    /// The function's own, or the database's.
    pub fn each<E: From<StoreError>>(
        &mut self,
        mut row: impl FnMut(&[Value]) -> Result<(), E>,
    ) -> Result<(), E> {
        match &mut self.rows {
            Rows::Kept(rows) => rows.each(row),
            Rows::Statement(statement) => {
                let failed = |source| E::from(failure(self.database, source));
                let width = statement.column_count();
                // Texts are written over those of the row before.
                let mut values = vec![Value::Null; width];
                let mut rows = statement.raw_query();
                while let Some(found) = rows.next().map_err(failed)? {
                    read_row(found, &self.columns, self.author, &mut values).map_err(failed)?;
                    row(&values)?;
                }
                Ok(())
            }
            Rows::Computed(source) => {
                let mut result = Ok(());
                let read = source.each(&mut |values| {
                    result = row(values);
                    result.is_ok()
                });
                read.map_err(|source| E::from(failure(self.database, source)))?;
                result
            }
        }
    }

    /// Calls a function for every row, in order, until it fails. In call paths and lists of callees, places tell functions of
    /// one name apart.
    ///
    /// # Errors
    /// The function's own, or the database's.
    pub(super) fn each_placed<E: From<StoreError>>(
        &mut self,
        mut row: impl FnMut(&[Value]) -> Result<(), E>,
    ) -> Result<(), E> {
        let placed = match &self.placed {
            Placed::Read(placed) => placed.clone(),
            Placed::Unread => {
                let placed = self.read_placed()?;
                self.placed = Placed::Read(placed.clone());
                placed
            }
        };
        let Some((column, labels)) = placed else {
            return self.each(row);
        };
        let database = self.database;
        self.each(
            |values| match column.with_places(database, &labels, values)? {
                Some((at, text)) => {
                    let mut values = values.to_vec();
                    values[at] = Value::Text(text);
                    row(&values)
                }
                None => row(values),
            },
        )
    }

    /// Finds the column with names of several functions, and labels of these; `None` if no name needs a place.
    fn read_placed(&mut self) -> Result<Option<(NamesColumn, Rc<FunctionLabels>)>, StoreError> {
        let (Some(column), Some(run_id)) = (
            NamesColumn::of(&self.columns),
            self.subject.as_ref().map(|subject| subject.run.run_id),
        ) else {
            return Ok(None);
        };
        let database = self.database;
        let (mut functions, mut rows) = (HashSet::new(), 0);
        let read = self.each(|row| {
            let of_row = column.functions(database, row)?;
            functions.extend(of_row.into_iter().map(|(function, _)| function));
            rows += 1;
            if rows > MAX_LOOKUPS && column.needs_shared_only() {
                return Err(EarlyEnd::Reached);
            }
            Ok(())
        });
        let labels = match read {
            Ok(()) => {
                let functions: Vec<i64> = functions.into_iter().collect();
                FunctionLabels::of_functions(database, run_id, &functions)?
            }
            Err(EarlyEnd::Reached) => FunctionLabels::of_run(database, run_id, false)?,
            Err(EarlyEnd::Failed(error)) => return Err(error),
        };
        let is_needed = labels.are_needed();
        Ok(is_needed.then(|| (column, Rc::new(labels))))
    }

    /// Which columns of a medium have a value in some row; all, if there is no row. Of columns that
    /// are shown in any case, nothing is said where the others are known before the end.
    ///
    /// # Errors
    /// The database's.
    pub fn filled(&mut self, medium: Medium) -> Result<Vec<bool>, StoreError> {
        let mut filled = vec![false; self.columns.len()];
        let mut any = false;
        match &mut self.rows {
            Rows::Kept(rows) => rows.each(|row| {
                any = true;
                for (filled, value) in filled.iter_mut().zip(row) {
                    *filled |= !is_empty(value);
                }
                Ok::<_, StoreError>(())
            })?,
            // Nothing is copied: names may be long.
            Rows::Statement(statement) => {
                let failed = |source| failure(self.database, source);
                let mut rows = statement.raw_query();
                let mut open: Vec<bool> = self
                    .columns
                    .iter()
                    .map(|column| column.optional && column.is_in(medium))
                    .collect();
                while open.contains(&true) {
                    let Some(found) = rows.next().map_err(failed)? else {
                        break;
                    };
                    any = true;
                    for (column, filled) in filled.iter_mut().enumerate() {
                        *filled |= !matches!(
                            found.get_ref(column).map_err(failed)?,
                            ValueRef::Null | ValueRef::Text(b"")
                        );
                        open[column] &= !*filled;
                    }
                }
            }
            Rows::Computed(source) => {
                let open = self.columns.iter().map(|column| {
                    let is_open = column.optional && column.is_in(medium);
                    Ok(is_open && source.may_be_filled(&column.name)?)
                });
                let mut open: Vec<bool> = open
                    .collect::<rusqlite::Result<_>>()
                    .map_err(|source| failure(self.database, source))?;
                let read = source.each(&mut |values| {
                    any = true;
                    for (column, (filled, value)) in filled.iter_mut().zip(values).enumerate() {
                        *filled |= !is_empty(value);
                        open[column] &= !*filled;
                    }
                    open.contains(&true)
                });
                read.map_err(|source| failure(self.database, source))?;
            }
        }
        // A table without rows has all its columns: it can be read back.
        Ok(if any {
            filled
        } else {
            vec![true; filled.len()]
        })
    }

    /// Whether the rows are in memory, where reading them again costs little.
    pub(super) fn is_kept(&self) -> bool {
        matches!(self.rows, Rows::Kept(_))
    }

    /// Whether a column has a value in some row; `None` where the rows are not in memory, so that it costs much to know.
    pub(super) fn knows(&self, column: usize) -> Option<bool> {
        match &self.rows {
            Rows::Kept(rows) => {
                let seek = |row: &[Value]| {
                    if row[column] == Value::Null {
                        Ok(())
                    } else {
                        Err(())
                    }
                };
                Some(rows.each(seek).is_err())
            }
            _ => None,
        }
    }

    /// Finds the places that tell the functions of the rows from others of the run; `None` where rows have no numbers of
    /// functions. `with_all` asks for the places of functions whose name is unique, too.
    ///
    /// # Errors
    /// The database's.
    pub(super) fn labels(&mut self, with_all: bool) -> Result<Option<FunctionLabels>, StoreError> {
        let mut columns = self.columns.iter();
        let Some(at) = columns.position(|column| column.name == FUNCTION_ID) else {
            return Ok(None);
        };
        let Some(run_id) = self.subject.as_ref().map(|subject| subject.run.run_id) else {
            return Ok(None);
        };
        let (mut functions, mut rows) = (HashSet::new(), 0);
        let read = self.each(|row| {
            if let Value::Integer(function) = row[at] {
                functions.insert(function);
            }
            rows += 1;
            if rows > MAX_LOOKUPS {
                return Err(EarlyEnd::Reached);
            }
            Ok(())
        });
        match read {
            Ok(()) => {
                let functions: Vec<i64> = functions.into_iter().collect();
                FunctionLabels::of_functions(self.database, run_id, &functions).map(Some)
            }
            Err(EarlyEnd::Reached) => {
                FunctionLabels::of_run(self.database, run_id, with_all).map(Some)
            }
            Err(EarlyEnd::Failed(error)) => Err(error),
        }
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

/// Reads a row into values of the row before, or into empty ones.
pub(super) fn read_row(
    row: &Row<'_>,
    columns: &[Column<'_>],
    author: Author,
    values: &mut [Value],
) -> rusqlite::Result<()> {
    for (at, value) in values.iter_mut().enumerate() {
        let kind = columns.get(at).map_or(Kind::Any, |column| column.kind);
        read(row, at, kind, author, value)?;
    }
    Ok(())
}

/// Reads a value into the place of another one.
fn read(
    row: &Row<'_>,
    column: usize,
    kind: Kind,
    author: Author,
    value: &mut Value,
) -> rusqlite::Result<()> {
    let text = match (row.get_ref(column)?, author) {
        (ValueRef::Null, _) => {
            *value = Value::Null;
            return Ok(());
        }
        (ValueRef::Integer(number), _) => {
            *value = Value::Integer(number);
            return Ok(());
        }
        (ValueRef::Real(number), _) => {
            *value = Value::Real(number);
            return Ok(());
        }
        (ValueRef::Text(text), Author::User) => String::from_utf8_lossy(text),
        // As SQLite writes it: as text it could lose bytes.
        (ValueRef::Blob(bytes), Author::User) => format!("x'{}'", hex(bytes)).into(),
        (found @ (ValueRef::Text(_) | ValueRef::Blob(_)), Author::Us) => match kind {
            Kind::Name | Kind::Node | Kind::Text | Kind::Any => {
                match found.as_str() {
                    Ok(text) => text.into(),
                    // It says which column it is.
                    Err(_) => row.get::<_, String>(column)?.into(),
                }
            }
            // Text in the place of a number is an error.
            Kind::Line | Kind::Count | Kind::Cost | Kind::Raw | Kind::Percent => {
                *value = Value::Real(row.get(column)?);
                return Ok(());
            }
        },
    };
    put(value, &text);
    Ok(())
}

/// Returns whether a cell has no value: an unknown file is an empty text.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Text(text) => text.is_empty(),
        Value::Integer(_) | Value::Real(_) => false,
    }
}

/// Whether a name is nothing but an address.
fn is_address(name: &str) -> bool {
    let digits = name.strip_prefix("0x").unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
}

impl Answer<'_> {
    /// Whether rows have been kept, and there are none.
    pub(crate) fn is_empty(&self) -> bool {
        matches!(&self.rows, Rows::Kept(rows) if rows.is_empty())
    }

    /// Whether most functions that it names have no name but their address: `0x1f3a`. Rows that are too many
    /// to be kept are not looked at.
    ///
    /// # Errors
    /// The database's.
    pub fn has_addresses(&mut self) -> Result<bool, StoreError> {
        let Some(name) = self
            .columns
            .iter()
            .position(|column| column.name == "function" || column.name == "element")
        else {
            return Ok(false);
        };
        if !self.is_kept() {
            return Ok(false);
        }
        let (mut names, mut addresses) = (0_usize, 0_usize);
        self.each(|row| {
            if let Value::Text(name) = &row[name] {
                names += 1;
                addresses += usize::from(is_address(name));
            }
            Ok::<_, StoreError>(())
        })?;
        Ok(addresses > 0 && 2 * addresses >= names)
    }

    /// Keeps the rows, if they are not too long.
    pub(super) fn keep(&mut self) -> Result<(), StoreError> {
        let mut kept = KeptRows::default();
        let read = self.each(|row| {
            kept.push(row);
            if kept.text_bytes() > MOST_KEPT {
                return Err(Unkept::Long);
            }
            Ok(())
        });
        match read {
            Ok(()) => self.rows = Rows::Kept(kept),
            // The statement stays, and runs again for each reading.
            Err(Unkept::Long) => {}
            Err(Unkept::Failed(error)) => return Err(error),
        }
        Ok(())
    }
}

/// Bytes of text that are kept. Names may be long: rows with more text are read again.
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
