//! Blocks of a page with the figures of functions, calls and lines in a metric, column by column.

use hashbrown::HashMap;

use super::column::{Block, Column};
use super::error::PageError;
use super::numbers::Numbers;
use crate::store::{CallFigures, Database, FunctionFigures, LineFigures, LinePlace, MetricInfo};

/// How blocks are called that only SQL asks for.
pub(super) const MORE: &str = "more-";

/// What a metric says of functions.
pub(super) fn function_figures(
    database: &Database,
    metric: &MetricInfo,
) -> Result<Vec<FunctionFigures>, PageError> {
    let mut rows = Vec::new();
    database.each_function_figure(metric.metric_id, |row| rows.push(row))?;
    Ok(rows)
}

/// What only SQL asks of them: whether the file gave figures, and how often they were called while they were not open.
pub(super) fn more_of_functions(rows: &[FunctionFigures]) -> Vec<u8> {
    let mut column = Column::new();
    for row in rows {
        let is_other = row.primitive != row.calls;
        column.number(u64::from(row.is_recorded) | u64::from(is_other) << 1);
        if is_other {
            column.count(row.primitive);
        }
    }
    column.finish()
}

/// Calls and costs of functions in a metric. A row has the number of its function less that of the row before.
pub(super) fn function_block(
    rows: &[FunctionFigures],
    numbers: &Numbers,
) -> Result<Vec<u8>, PageError> {
    let mut column = Column::new();
    let mut last = 0;
    for row in rows {
        let function = numbers.function(row.function_id)?;
        column.number(function - last);
        column.count(row.calls);
        for cost in [row.exclusive, row.cumulative, row.seen] {
            column.cost(cost);
        }
        last = function;
    }
    Ok(column.finish())
}

/// The files of lines and of calls where they are not those of their functions, and the empty name for those, each with its
/// number: they are numbered as they are met. Every metric has the same lines and calls.
pub(super) struct Files {
    pub(super) names: Vec<String>,
    known: HashMap<String, u64>,
}

impl Files {
    pub(super) fn new() -> Self {
        Self {
            names: vec![String::new()],
            known: HashMap::new(),
        }
    }

    /// The number of a file; most are the function's own.
    fn number(&mut self, file: &str) -> u64 {
        if file.is_empty() {
            return 0;
        }
        if let Some(known) = self.known.get(file) {
            return *known;
        }
        let number = self.names.len() as u64;
        self.names.push(file.to_owned());
        self.known.insert(file.to_owned(), number);
        number
    }
}

/// Figures of lines or calls in a metric, as compressed bytes.
pub(super) struct FigureBlocks {
    /// What the page shows.
    pub(super) shown: Vec<u8>,
    /// What only SQL asks for.
    pub(super) more: Vec<u8>,
}

/// Calls between functions in a metric, written as they are read: they may be many. What only SQL asks for is the cost with
/// all levels of recursion, where it is stored beside the cumulative one.
pub(super) fn call_blocks(
    database: &Database,
    metric: &MetricInfo,
    numbers: &Numbers,
    files: &mut Files,
) -> Result<FigureBlocks, PageError> {
    let (mut column, mut more) = (Column::new(), Column::new());
    let mut last = 0;
    let mut write = |row: &CallFigures| {
        let callee = numbers.function(row.callee_id)?;
        column.number(callee - last);
        column.number(match row.caller_id {
            0 => 0,
            caller => numbers.function(caller)? + 1,
        });
        column.number(files.number(&row.line_file));
        column.signed(row.line);
        column.signed(row.col);
        let is_other = row.outermost_other.is_some();
        column.number(u64::from(row.is_back) | u64::from(is_other) << 1);
        column.count(row.calls);
        column.cost(row.exclusive);
        column.cost(row.cumulative);
        if is_other {
            column.cost(row.outermost());
        }
        last = callee;
        more.number(row.seen_other.is_some().into());
        if row.seen_other.is_some() {
            more.cost(row.seen_other.filter(|cost| cost.is_finite()));
        }
        Ok::<_, PageError>(())
    };
    let mut written = Ok(());
    database.each_call_figure(metric.metric_id, |row| {
        if written.is_ok() {
            written = write(&row);
        }
    })?;
    written?;
    Ok(FigureBlocks {
        shown: column.finish(),
        more: more.finish(),
    })
}

/// Lines, which get their numbers, and their calls and costs in every metric, the first of which has all of them; and what only
/// SQL asks for.
pub(super) fn line_blocks(
    database: &Database,
    metrics: &[MetricInfo],
    numbers: &mut Numbers,
    files: &mut Files,
) -> Result<(Vec<Block>, Vec<Block>), PageError> {
    let (mut blocks, mut of_sql) = (Vec::new(), Vec::new());
    for (at, metric) in metrics.iter().enumerate() {
        let figures = if at == 0 {
            let mut columns = LineColumns::new();
            number_lines(database, metric, numbers, |line, row| {
                columns.add(line, row);
            })?;
            blocks.push(("lines".to_owned(), line_block(numbers, files)));
            columns.finish()
        } else {
            more_lines(database, metric, numbers)?
        };
        blocks.push((format!("lines-{at}"), figures.shown));
        of_sql.push((format!("{MORE}lines-{at}"), figures.more));
    }
    if numbers.line_count() == 0 {
        return Ok((Vec::new(), Vec::new()));
    }
    Ok((blocks, of_sql))
}

/// Which lines there are.
pub(super) fn line_block(numbers: &Numbers, files: &mut Files) -> Vec<u8> {
    let mut column = Column::new();
    let mut last = 0;
    column.number(numbers.line_count());
    for (function, line) in numbers.lines() {
        column.number(function - last);
        column.number(files.number(&line.file));
        column.signed(line.line);
        column.signed(line.col);
        last = function;
    }
    column.finish()
}

/// Figures of lines that are being written.
struct LineColumns {
    column: Column,
    more: Column,
    last: u64,
}

impl LineColumns {
    fn new() -> Self {
        Self {
            column: Column::new(),
            more: Column::new(),
            last: 0,
        }
    }

    fn add(&mut self, line: u64, row: &LineFigures) {
        self.column.number(line - self.last);
        self.column.count(row.calls);
        self.column.cost(row.exclusive);
        self.column.cost(row.cumulative);
        self.more.number(row.is_recorded.into());
        self.last = line;
    }

    fn finish(self) -> FigureBlocks {
        FigureBlocks {
            shown: self.column.finish(),
            more: self.more.finish(),
        }
    }
}

/// Numbers the lines of the metric that has all of them; a function gets each with its number.
pub(super) fn number_lines(
    database: &Database,
    metric: &MetricInfo,
    numbers: &mut Numbers,
    mut each: impl FnMut(u64, &LineFigures),
) -> Result<(), PageError> {
    numbers.begin_lines();
    let mut numbered = Ok(());
    database.each_line_figure(metric.metric_id, |row| {
        if numbered.is_err() {
            return;
        }
        numbered = numbers.function(row.function_id).map(|function| {
            each(numbers.line_count(), &row);
            numbers.add_line(function, place_of(row));
        });
    })?;
    numbered
}

/// What another metric says of lines.
fn more_lines(
    database: &Database,
    metric: &MetricInfo,
    numbers: &Numbers,
) -> Result<FigureBlocks, PageError> {
    let mut columns = LineColumns::new();
    let mut written = Ok(());
    database.each_line_figure(metric.metric_id, |row| {
        if written.is_err() {
            return;
        }
        let line = numbers.function(row.function_id).and_then(|function| {
            let place = place_of(row.clone());
            numbers.line(function, &place)
        });
        written = line.map(|line| columns.add(line, &row));
    })?;
    written?;
    Ok(columns.finish())
}

/// Where a line is.
fn place_of(row: LineFigures) -> LinePlace {
    LinePlace {
        file: row.file,
        line: row.line,
        col: row.col,
    }
}
