//! Which number a function or line has in a page: its place among those of the run.

use std::ops::Range;

use super::error::PageError;
use crate::report::ReportError;
use crate::store::{FunctionRow, LineFigures, LinePlace, RunInfo};

/// The lines of a run, in the order of the database: by function, and then by file, line and column.
#[derive(Debug)]
struct Lines {
    places: Vec<LinePlace>,
    /// Those of each function.
    of: Vec<Range<usize>>,
}

/// Which number a function or line has in a page.
#[derive(Debug)]
pub(super) struct Numbers {
    /// Those of functions in the database, in order.
    ids: Vec<i64>,
    first: i64,
    /// `None` if lines have not been read.
    lines: Option<Lines>,
    run: i64,
}

impl Numbers {
    /// The same with numbers of lines, in the order of the database.
    pub(super) fn with_lines(self, lines: &[LineFigures]) -> Self {
        let place = |line: &LineFigures| LinePlace {
            file: line.file.clone(),
            line: line.line,
            col: line.col,
        };
        let mut of = Vec::with_capacity(self.ids.len());
        let mut end = 0;
        for id in &self.ids {
            // A line of a function without figures is no line of the page.
            let is_before = |line: &LineFigures| line.function_id < *id;
            let first = end
                + lines[end..]
                    .iter()
                    .take_while(|line| is_before(line))
                    .count();
            let is_of = |line: &LineFigures| line.function_id == *id;
            end = first + lines[first..].iter().take_while(|line| is_of(line)).count();
            of.push(first..end);
        }
        let places = lines.iter().map(place).collect();
        Self {
            lines: Some(Lines { places, of }),
            ..self
        }
    }

    /// The number of a function.
    pub(super) fn function(&self, function_id: i64) -> Result<u64, PageError> {
        // The functions of a run are numbered one after the other, unless it shares some with another run.
        let at = usize::try_from(function_id.wrapping_sub(self.first)).unwrap_or(usize::MAX);
        if self.ids.get(at) == Some(&function_id) {
            return Ok(at as u64);
        }
        let found = self.ids.binary_search(&function_id);
        found
            .map(|at| at as u64)
            .map_err(|_| self.unknown("function", function_id))
    }

    /// The number of a line; where lines have not been read, another one that takes as much room.
    pub(super) fn line(&self, function: u64, place: &LinePlace) -> Result<u64, PageError> {
        let Some(lines) = &self.lines else {
            return Ok(function * 8 + place.line.unsigned_abs() % 8);
        };
        let number = lines.number(function, place);
        number.ok_or_else(|| self.unknown("line", place.line))
    }

    /// The number of what stands for functions that were left out.
    pub(super) fn left_out(&self) -> u64 {
        self.ids.len() as u64
    }

    fn unknown(&self, what: &str, number: i64) -> PageError {
        ReportError::NothingSelected(format!(
            "run {} has no figures of {what} {number}: profdb check says what is damaged",
            self.run
        ))
        .into()
    }
}

impl Lines {
    fn number(&self, function: u64, place: &LinePlace) -> Option<u64> {
        let function = usize::try_from(function).ok()?;
        let Range { start, end } = *self.of.get(function)?;
        let places = self.places.get(start..end)?;
        let key = |place: &LinePlace| (place.line, place.col);
        let found = places.binary_search_by(|known| {
            // Hardly any line is in another file than its function.
            if known.file.is_empty() && place.file.is_empty() {
                return key(known).cmp(&key(place));
            }
            let by_file = known.file.as_str().cmp(&place.file);
            by_file.then_with(|| key(known).cmp(&key(place)))
        });
        Some((start + found.ok()?) as u64)
    }
}

/// Numbers of functions, in the order of the database.
pub(super) fn numbers(run: &RunInfo, functions: &[FunctionRow]) -> Numbers {
    let ids: Vec<i64> = functions
        .iter()
        .map(|function| function.function_id)
        .collect();
    Numbers {
        first: ids.first().copied().unwrap_or_default(),
        ids,
        lines: None,
        run: run.run_id,
    }
}
