//! Which number a function or line has in a page: its place among those of the run.

use std::cell::Cell;

use super::error::PageError;
use crate::report::ReportError;
use crate::store::{FunctionRow, LinePlace, RunInfo};

/// The lines of a run, in the order of the database: by function, and then by file, line and column.
#[derive(Debug, Default)]
struct Lines {
    places: Vec<LinePlace>,
    /// Those of each function.
    of: Vec<OfFunction>,
}

/// The lines of a function.
#[derive(Clone, Debug)]
struct OfFunction {
    start: usize,
    end: usize,
    /// The line after the one that was asked for last, the first after the last: a call has its lines in their order, mostly.
    next: Cell<usize>,
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
    /// Lines are numbered from here on.
    pub(super) fn begin_lines(&mut self) {
        self.lines = Some(Lines::default());
    }

    /// Numbers the next line of the database, where they are in the order of their functions.
    pub(super) fn add_line(&mut self, function: u64, place: LinePlace) {
        let lines = self.lines.get_or_insert_default();
        let number = lines.places.len();
        let function = usize::try_from(function).unwrap_or(usize::MAX);
        while lines.of.len() <= function {
            lines.of.push(OfFunction {
                start: number,
                end: number,
                next: Cell::new(number),
            });
        }
        lines.of[function].end = number + 1;
        lines.places.push(place);
    }

    /// How many lines have numbers.
    pub(super) fn line_count(&self) -> u64 {
        self.lines
            .as_ref()
            .map_or(0, |lines| lines.places.len() as u64)
    }

    /// The lines in the order of their numbers, each with the number of its function.
    pub(super) fn lines(&self) -> impl Iterator<Item = (u64, &LinePlace)> {
        self.lines.iter().flat_map(|lines| {
            let of = (0..).zip(&lines.of);
            of.flat_map(|(function, of)| {
                let places = &lines.places[of.start..of.end];
                places.iter().map(move |place| (function, place))
            })
        })
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
            "run {} has no figures of {what} {number}: `profdb check` locates the damage",
            self.run
        ))
        .into()
    }
}

impl Lines {
    fn number(&self, function: u64, place: &LinePlace) -> Option<u64> {
        let function = usize::try_from(function).ok()?;
        let OfFunction { start, end, next } = self.of.get(function)?;
        let places = self.places.get(*start..*end)?;
        let found = |number: usize| {
            next.set(if number + 1 < *end {
                number + 1
            } else {
                *start
            });
            Some(number as u64)
        };
        let key = |place: &LinePlace| (place.line, place.col);
        // Hardly any line is in another file than its function.
        let is_it = |known: &LinePlace| {
            key(known) == key(place)
                && (known.file.is_empty() && place.file.is_empty() || known.file == place.file)
        };
        if next.get() < *end && self.places.get(next.get()).is_some_and(is_it) {
            return found(next.get());
        }
        let at = places.binary_search_by(|known| {
            if known.file.is_empty() && place.file.is_empty() {
                return key(known).cmp(&key(place));
            }
            let by_file = known.file.as_str().cmp(&place.file);
            by_file.then_with(|| key(known).cmp(&key(place)))
        });
        found(start + at.ok()?)
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
