//! Reads what a page for a browser holds of a run: figures of functions, lines and calls as reports about the whole run
//! read them, and the source that is stored with it.

use rusqlite::Row;

use super::database::Database;
use super::error::StoreError;

const FUNCTIONS: &str = include_str!("../../queries/page/functions.sql");
const LINES: &str = include_str!("../../queries/page/lines.sql");
const CALLS: &str = include_str!("../../queries/page/calls.sql");
const SOURCES: &str = include_str!("../../queries/page/sources.sql");
const SOURCE_TEXTS: &str = include_str!("../../queries/page/source_texts.sql");

/// What a run says of a function in a metric; `None` where it is unknown. Costs are in the metric's unit.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionFigures {
    /// The function.
    pub function_id: i64,
    /// How often it was called.
    pub calls: Option<i64>,
    /// Cost of the function itself.
    pub exclusive: Option<f64>,
    /// Cost with what it called, recursion counted once.
    pub cumulative: Option<f64>,
    /// Cost with what it called, every level of recursion counted.
    pub seen: Option<f64>,
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
    /// What the callee cost here where it is in no other call of itself, which adds up to its cost.
    pub outermost: Option<f64>,
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
    /// When the database cannot be read.
    pub fn each_function_figure(
        &self,
        metric_id: i64,
        mut each: impl FnMut(FunctionFigures),
    ) -> Result<(), StoreError> {
        self.each_row(FUNCTIONS, ":metric", metric_id, |row| {
            each(FunctionFigures {
                function_id: row.get(0)?,
                calls: row.get(1)?,
                exclusive: row.get(2)?,
                cumulative: row.get(3)?,
                seen: row.get(4)?,
            });
            Ok(())
        })
    }

    /// Calls a function for what a metric says of every line, by function.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn each_line_figure(
        &self,
        metric_id: i64,
        mut each: impl FnMut(LineFigures),
    ) -> Result<(), StoreError> {
        self.each_row(LINES, ":metric", metric_id, |row| {
            each(LineFigures {
                function_id: row.get(0)?,
                file: row.get(1)?,
                line: row.get(2)?,
                col: row.get(3)?,
                calls: row.get(4)?,
                exclusive: row.get(5)?,
                cumulative: row.get(6)?,
            });
            Ok(())
        })
    }

    /// Calls a function for what a metric says of every pair of caller and callee, by callee.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn each_call_figure(
        &self,
        metric_id: i64,
        mut each: impl FnMut(CallFigures),
    ) -> Result<(), StoreError> {
        self.each_row(CALLS, ":metric", metric_id, |row| {
            each(CallFigures {
                caller_id: row.get(0)?,
                callee_id: row.get(1)?,
                line_file: row.get(9)?,
                line: row.get(2)?,
                col: row.get(3)?,
                is_back: row.get(4)?,
                calls: row.get(5)?,
                exclusive: row.get(6)?,
                cumulative: row.get(7)?,
                outermost: row.get(8)?,
            });
            Ok(())
        })
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
