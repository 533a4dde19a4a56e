//! Which number a function or line has in a page: its place among those of the run.

use hashbrown::HashMap;

use super::error::PageError;
use crate::report::ReportError;
use crate::store::{FunctionRow, LineFigures, LinePlace, RunInfo};

/// Numbers of lines by function, line and column, each with its file.
type Lines = HashMap<(u64, i64, i64), Vec<(String, u64)>>;

/// Which number a function or line has in a page.
#[derive(Debug)]
pub(super) struct Numbers {
    /// Those of functions in the database, in order.
    ids: Vec<i64>,
    first: i64,
    /// Lines by function, line and column, and then by file; `None` if lines have not been read.
    lines: Option<Lines>,
    run: i64,
}

impl Numbers {
    /// The same with numbers of lines, in the order of the database.
    pub(super) fn with_lines(self, lines: &[LineFigures]) -> Self {
        let mut known = Lines::with_capacity(lines.len());
        for (line, at) in lines.iter().zip(0..) {
            // A line of a function without figures is no line of the page.
            if let Ok(function) = self.function(line.function_id) {
                let places = known.entry((function, line.line, line.col));
                places.or_default().push((line.file.clone(), at));
            }
        }
        Self {
            lines: Some(known),
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
        let lines = lines.get(&(function, place.line, place.col));
        let mut lines = lines.into_iter().flatten();
        let found = lines.find(|(file, _)| *file == place.file);
        let (_, number) = found.ok_or_else(|| self.unknown("line", place.line))?;
        Ok(*number)
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
