//! Reads what a page for a browser holds of a run: figures of functions, lines and calls as reports about the whole run
//! read them, and the source that is stored with it.

use rusqlite::Row;

use super::database::Database;
use super::error::StoreError;
use super::rows::{Range, StoredRow, Table, Tables, damaged, of_other};
use profdb_sqlite_pages::values::{Value, Values};

const IDENTITIES: &str = include_str!("../../queries/page/identities.sql");
const LABEL_SETS: &str = include_str!("../../queries/page/label_sets.sql");
const NODE_LABELS: &str = include_str!("../../queries/page/node_labels.sql");
const VIEWS: &str = include_str!("../../queries/page/views.sql");
const LINE_COUNT: &str = "SELECT COUNT(*) FROM line_info WHERE metric_id = :metric";
const SOURCES: &str = include_str!("../../queries/page/sources.sql");
const SOURCE_TEXTS: &str = include_str!("../../queries/page/source_texts.sql");

/// Parts of a page that a run can fill.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FilledViews {
    /// Lines with a cost.
    pub lines: bool,
    /// Lines with the number of their executions.
    pub counted_lines: bool,
    /// Stored source.
    pub source: bool,
}

/// What a run says of a function in a metric; `None` where it is unknown. Costs are in the metric's unit.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionFigures {
    /// The function.
    pub function_id: i64,
    /// How often it was called.
    pub calls: Option<i64>,
    /// How often while it was not open already.
    pub primitive: Option<i64>,
    /// Cost of the function itself.
    pub exclusive: Option<f64>,
    /// Cost with what it called, recursion counted once.
    pub cumulative: Option<f64>,
    /// Cost with what it called, every level of recursion counted.
    pub seen: Option<f64>,
    /// The file itself gave some of these.
    pub is_recorded: bool,
}

/// What a function is held to be, whatever build or process its name is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredIdentity {
    /// Its number.
    pub identity_id: i64,
    /// It only holds nodes.
    pub is_container: bool,
    /// Name, module and file without what a build or process makes up.
    pub names: [String; 3],
    /// It is all code of the module whose name is unknown.
    pub is_unnamed: bool,
    /// The same number in every database with the same rules.
    pub key: Vec<u8>,
}

/// What a run says of a line in a metric; `None` where it is unknown. Costs are in the metric's unit.
#[derive(Clone, Debug, PartialEq)]
pub struct LineFigures {
    /// The function that it is a line of.
    pub function_id: i64,
    /// Its file where that is not the function's own, else empty.
    pub file: String,
    /// Its number.
    pub line: i64,
    /// Column or clause; 0 if unknown.
    pub col: i64,
    /// How often it was executed.
    pub calls: Option<i64>,
    /// Cost of the line itself.
    pub exclusive: Option<f64>,
    /// Cost with what it called.
    pub cumulative: Option<f64>,
    /// The file itself gave some of these.
    pub is_recorded: bool,
}

/// What a run says of the calls of one function from one line of another one, in a metric; `None` where it is unknown.
/// Costs are in the metric's unit.
#[derive(Clone, Debug, PartialEq)]
pub struct CallFigures {
    /// The caller; 0 for the root.
    pub caller_id: i64,
    /// The callee.
    pub callee_id: i64,
    /// The file of the line where that is not the caller's own, else empty.
    pub line_file: String,
    /// The line of the caller; -1 if unknown.
    pub line: i64,
    /// Column or clause of that line; 0 if unknown.
    pub col: i64,
    /// It is a call known to exist, without cost of its own.
    pub is_back: bool,
    /// How often.
    pub calls: Option<i64>,
    /// The callee's own cost when called here.
    pub exclusive: Option<f64>,
    /// What the caller spent in the callee, on each path counted once, at the outer call.
    pub cumulative: Option<f64>,
    /// What the callee cost here where it is in no other call of itself, which adds up to its cost, as it is stored: `None`
    /// where that is the cumulative cost, infinite if it is unknown.
    pub outermost_other: Option<f64>,
    /// Cost with every level of recursion counted, stored likewise.
    pub seen_other: Option<f64>,
}

impl CallFigures {
    /// What the callee cost here where it is in no other call of itself, which adds up to its cost.
    #[must_use]
    pub fn outermost(&self) -> Option<f64> {
        of_other(self.cumulative, self.outermost_other)
    }
}

/// A label of samples: what is said in one of the sets of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetLabel {
    /// The set.
    pub set_id: i64,
    /// What is said.
    pub key: String,
    /// What is said of it, numbers as text.
    pub value: String,
    /// What a number is counted in, else empty.
    pub unit: String,
}

/// What a node costs itself in samples with the labels of a set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodeLabel {
    /// How many nodes of the run come before it.
    pub place: i64,
    /// The set.
    pub set_id: i64,
    /// The cost, in the metric's unit.
    pub exclusive: f64,
}

/// Which stored text is the source of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePlace {
    /// The function.
    pub function_id: i64,
    /// File of the lines, as the run names it; empty if unknown.
    pub file: String,
    /// Number of the text.
    pub source_id: i64,
}

impl Database {
    /// Calls a function for what a metric says of every function, in the order of their numbers.
    ///
    /// # Errors
    /// When the database cannot be read or is damaged.
    pub fn each_function_figure(
        &self,
        metric_id: i64,
        each: impl FnMut(FunctionFigures),
    ) -> Result<(), StoreError> {
        self.each_stored(Table::FunctionInfo, metric_id, function_figures, each)
    }

    /// Calls a function for what a metric says of every line, by function.
    ///
    /// # Errors
    /// When the database cannot be read or is damaged.
    pub fn each_line_figure(
        &self,
        metric_id: i64,
        each: impl FnMut(LineFigures),
    ) -> Result<(), StoreError> {
        self.each_stored(Table::LineInfo, metric_id, line_figures, each)
    }

    /// Calls a function for what a metric says of every pair of caller and callee, by callee.
    ///
    /// # Errors
    /// When the database cannot be read or is damaged.
    pub fn each_call_figure(
        &self,
        metric_id: i64,
        each: impl FnMut(CallFigures),
    ) -> Result<(), StoreError> {
        self.each_stored(Table::Edges, metric_id, call_figures, each)
    }

    /// Calls a function for every row of a metric, read from pages: statements would take several times as long.
    fn each_stored<T>(
        &self,
        table: Table,
        metric_id: i64,
        read_row: fn(StoredRow<'_>) -> Option<T>,
        mut each: impl FnMut(T),
    ) -> Result<(), StoreError> {
        let mut read = || -> rusqlite::Result<()> {
            let tables = Tables::of(&self.connection, &self.lock_wait.stop)?;
            let mut rows = tables.rows(table, Range::all_of(metric_id))?;
            while let Some(row) = rows.next()? {
                each(read_row(row).ok_or_else(damaged)?);
            }
            Ok(())
        };
        read().map_err(|source| self.failed(source))
    }

    /// What the functions of a metric are held to be, in the order of their numbers; `None` of one that has no identity.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn function_identities(
        &self,
        metric_id: i64,
    ) -> Result<Vec<(i64, Option<StoredIdentity>)>, StoreError> {
        let mut all = Vec::new();
        self.each_row(IDENTITIES, ":metric", metric_id, |row| {
            let identity = match row.get(1)? {
                None => None,
                Some(identity_id) => Some(StoredIdentity {
                    identity_id,
                    is_container: row.get(2)?,
                    names: [row.get(3)?, row.get(4)?, row.get(5)?],
                    is_unnamed: row.get(6)?,
                    key: row.get(7)?,
                }),
            };
            all.push((row.get(0)?, identity));
            Ok(())
        })?;
        Ok(all)
    }

    /// How many lines a metric has figures of.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn line_count(&self, metric_id: i64) -> Result<u64, StoreError> {
        let mut count = 0;
        self.each_row(LINE_COUNT, ":metric", metric_id, |row| {
            count = row.get::<_, i64>(0)?.unsigned_abs();
            Ok(())
        })?;
        Ok(count)
    }

    /// Returns the parts of a page that the run of a metric can fill.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn filled_views(&self, metric_id: i64) -> Result<FilledViews, StoreError> {
        let mut filled = FilledViews::default();
        self.each_row(VIEWS, ":metric", metric_id, |row| {
            filled = FilledViews {
                lines: row.get(0)?,
                counted_lines: row.get(1)?,
                source: row.get(2)?,
            };
            Ok(())
        })?;
        Ok(filled)
    }

    /// The labels of a run's samples, set by set.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn set_labels(&self, run_id: i64) -> Result<Vec<SetLabel>, StoreError> {
        let mut labels = Vec::new();
        self.each_row(LABEL_SETS, ":run", run_id, |row| {
            labels.push(SetLabel {
                set_id: row.get(0)?,
                key: row.get(1)?,
                value: row.get(2)?,
                unit: row.get(3)?,
            });
            Ok(())
        })?;
        Ok(labels)
    }

    /// What nodes cost themselves in samples with labels, in one metric, in the order of the nodes.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn node_labels(&self, metric_id: i64) -> Result<Vec<NodeLabel>, StoreError> {
        let mut labels = Vec::new();
        self.each_row(NODE_LABELS, ":metric", metric_id, |row| {
            labels.push(NodeLabel {
                place: row.get(0)?,
                set_id: row.get(1)?,
                exclusive: row.get(2)?,
            });
            Ok(())
        })?;
        Ok(labels)
    }

    /// Which stored texts are the source of the functions of a run, by function.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn source_places(&self, run_id: i64) -> Result<Vec<SourcePlace>, StoreError> {
        let mut places = Vec::new();
        self.each_row(SOURCES, ":run", run_id, |row| {
            places.push(SourcePlace {
                function_id: row.get(0)?,
                file: row.get(1)?,
                source_id: row.get(2)?,
            });
            Ok(())
        })?;
        Ok(places)
    }

    /// The lines of a stored text, with their numbers.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn source_text(&self, source_id: i64) -> Result<Vec<(i64, String)>, StoreError> {
        let mut lines = Vec::new();
        self.each_row(SOURCE_TEXTS, ":source", source_id, |row| {
            lines.push((row.get(0)?, row.get(1)?));
            Ok(())
        })?;
        Ok(lines)
    }

    /// Calls a function for every row of a statement that asks about one thing.
    fn each_row(
        &self,
        sql: &str,
        about: &str,
        number: i64,
        mut each: impl FnMut(&Row<'_>) -> rusqlite::Result<()>,
    ) -> Result<(), StoreError> {
        let mut read = || -> rusqlite::Result<()> {
            let mut statement = self.connection.prepare(sql)?;
            let mut rows = statement.query(&[(about, &number)])?;
            while let Some(row) = rows.next()? {
                each(row)?;
            }
            Ok(())
        };
        read().map_err(|source| self.failed(source))
    }
}

/// A row of `function_info`; `None` if it is none.
fn function_figures(mut row: StoredRow<'_>) -> Option<FunctionFigures> {
    let columns = &mut row.others;
    Some(FunctionFigures {
        function_id: row.at,
        calls: columns.integer_or_null()?,
        primitive: columns.integer_or_null()?,
        exclusive: columns.real_or_null()?,
        cumulative: columns.real_or_null()?,
        seen: columns.real_or_null()?,
        is_recorded: columns.integer()? != 0,
    })
}

/// A row of `line_info`; `None` if it is none.
fn line_figures(mut row: StoredRow<'_>) -> Option<LineFigures> {
    let columns = &mut row.others;
    Some(LineFigures {
        function_id: row.at,
        file: text(columns)?,
        line: columns.integer()?,
        col: columns.integer()?,
        calls: columns.integer_or_null()?,
        exclusive: columns.real_or_null()?,
        cumulative: columns.real_or_null()?,
        is_recorded: columns.integer()? != 0,
    })
}

/// A row of `edges`; `None` if it is none.
fn call_figures(mut row: StoredRow<'_>) -> Option<CallFigures> {
    let columns = &mut row.others;
    let is_back = columns.integer()? != 0;
    Some(CallFigures {
        callee_id: row.at,
        is_back,
        caller_id: columns.integer()?,
        line_file: text(columns)?,
        line: columns.integer()?,
        col: columns.integer()?,
        calls: columns.integer_or_null()?,
        exclusive: columns.real_or_null()?,
        cumulative: columns.real_or_null()?,
        outermost_other: columns.real_or_null()?,
        seen_other: columns.real_or_null()?,
    })
}

/// The next column, which has to be a text.
fn text(columns: &mut Values<'_>) -> Option<String> {
    match columns.next_value()? {
        Value::Text(bytes) => Some(std::str::from_utf8(bytes).ok()?.to_owned()),
        _ => None,
    }
}
