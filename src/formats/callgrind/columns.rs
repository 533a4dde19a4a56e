//! The columns of lines of costs: first positions, then a cost for each event.

use super::call_graph::Figure;
use super::words::{Creator, Metric, cost, number, words};
use crate::base::error::{ImportError, Position, quote};
use crate::formats::common::counted::{Counted, many};
use crate::text::escape;

/// Events of a file: each is a metric of all functions, lines and calls.
pub(super) const MOST_EVENTS: usize = 64;

/// What the columns mean, which each part of a file may say anew.
pub(super) struct Columns {
    /// The events of all parts.
    metrics: Vec<Metric>,
    /// The metric of each column of costs; `None` for one that is not read.
    costs: Vec<Option<usize>>,
    /// What each column of positions said last.
    positions: Vec<u64>,
    /// Which of them is the line.
    line: Option<usize>,
}

impl Default for Columns {
    fn default() -> Self {
        Self {
            metrics: Vec::new(),
            costs: Vec::new(),
            positions: vec![0],
            line: Some(0),
        }
    }
}

impl Columns {
    pub(super) fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    /// Whether there has been a line `events:`.
    pub(super) fn has_events(&self) -> bool {
        !self.costs.is_empty()
    }

    /// Whether some position is no line.
    pub(super) fn has_addresses(&self) -> bool {
        self.positions.len() > usize::from(self.line.is_some())
    }

    /// Back to the start of a file, of which the metrics are known.
    pub(super) fn forget(&mut self) {
        let metrics = std::mem::take(&mut self.metrics);
        *self = Self {
            metrics,
            ..Self::default()
        };
    }

    /// Takes the events of a part; those that are quotients are counted and not read.
    pub(super) fn events(
        &mut self,
        at: Position,
        text: &[u8],
        creator: Creator,
        quotients: &mut Counted,
    ) -> Result<(), ImportError> {
        let mut columns = Vec::new();
        for word in words(text) {
            let event = escape::text(word);
            let metric = Metric::of_event(&event, creator);
            // By name and unit: a later part may name the event again (case `callgrind/parts`), and
            // in another unit it would add up wrongly (case `callgrind/event-of-another-unit`).
            let found = self
                .metrics
                .iter()
                .position(|known| (&known.name, known.scale) == (&metric.name, metric.scale));
            let column = found.unwrap_or(self.metrics.len());
            if creator.is_quotient(word) {
                quotients.add_with(at, || quote(word));
                columns.push(None);
                continue;
            }
            if columns.contains(&Some(column)) {
                return Err(ImportError::malformed(
                    at,
                    format!("one event {}", quote(word)),
                    "a duplicate",
                ));
            }
            if found.is_none() {
                if self.metrics.len() == MOST_EVENTS {
                    let limit = format!("{MOST_EVENTS} events (limit: events of a file)");
                    return Err(ImportError::Limit {
                        position: at,
                        limit,
                    });
                }
                if self.metrics.iter().any(|known| known.name == metric.name) {
                    let expected =
                        format!("the same unit for the event {} in all parts", quote(word));
                    return Err(ImportError::malformed(at, expected, "a different unit"));
                }
                self.metrics.push(metric);
            }
            columns.push(Some(column));
        }
        if columns.is_empty() {
            return Err(ImportError::malformed(
                at,
                "the name of an event",
                "the end of the line",
            ));
        }
        self.costs = columns;
        Ok(())
    }

    /// Takes the names of the columns of positions.
    pub(super) fn positions(&mut self, at: Position, text: &[u8]) -> Result<(), ImportError> {
        let names: Vec<&[u8]> = words(text).collect();
        if names.is_empty() {
            return Err(ImportError::malformed(
                at,
                "`line` or `instr`",
                "the end of the line",
            ));
        }
        for (column, name) in names.iter().enumerate() {
            if !matches!(*name, b"instr" | b"addr" | b"bb" | b"line")
                || names.iter().position(|known| known == name) != Some(column)
            {
                return Err(ImportError::malformed(
                    at,
                    "`instr`, `bb` and `line`, each at most once",
                    quote(text),
                ));
            }
        }
        self.line = names.iter().position(|name| *name == b"line");
        self.positions = vec![0; names.len()];
        Ok(())
    }

    /// Takes the positions at the start of a line: each is a number, or tells how far it is from
    /// that of the line before.
    pub(super) fn move_to<'w>(
        &mut self,
        at: Position,
        words: &mut impl Iterator<Item = &'w [u8]>,
    ) -> Result<(), ImportError> {
        // Every line of positions moves them, also those of calls and jumps (cases
        // `callgrind/positions`, `callgrind/jumps`).
        for position in &mut self.positions {
            let word = words.next().unwrap_or_default();
            let moved = match word.split_first() {
                Some((b'*', [])) => Some(*position),
                Some((b'+', by)) => number(by).and_then(|by| position.checked_add(by)),
                Some((b'-', by)) => number(by).and_then(|by| position.checked_sub(by)),
                _ => number(word),
            };
            *position = moved.ok_or_else(|| {
                let found = if word.is_empty() {
                    "the end of the line".to_owned()
                } else {
                    quote(word)
                };
                ImportError::malformed(at, "a position", found)
            })?;
        }
        Ok(())
    }

    /// The line of the program that the positions name; 0 if none of them is a line.
    pub(super) fn line(&self, at: Position) -> Result<u32, ImportError> {
        let line = self
            .line
            .and_then(|column| self.positions.get(column))
            .copied()
            .unwrap_or(0);
        let wrong = || ImportError::malformed(at, "a line number below 2^32", line.to_string());
        u32::try_from(line).map_err(|_| wrong())
    }

    /// Adds the costs of a line to `figures`. Those that are not there are 0.
    pub(super) fn costs<'w>(
        &self,
        at: Position,
        words: impl Iterator<Item = &'w [u8]>,
        figures: &mut Vec<Figure>,
    ) -> Result<(), ImportError> {
        // Costs at the end of a line may be left out where they are 0, so that fewer words are no
        // fault (case `callgrind/positions`).
        let mut columns = self.costs.iter();
        for word in words {
            let Some(metric) = columns.next() else {
                let expected = match self.costs.len() {
                    0 => "a line `events:` before the first cost".to_owned(),
                    count => format!("at most {}, one per event", many(count as u64, "cost")),
                };
                return Err(ImportError::malformed(at, expected, quote(word)));
            };
            let cost =
                cost(word).ok_or_else(|| ImportError::malformed(at, "a cost", quote(word)))?;
            let Some(metric) = metric else { continue };
            let scale = self.metrics.get(*metric).map_or(1.0, |metric| metric.scale);
            figures.push((*metric, cost * scale));
        }
        Ok(())
    }

    /// Adds what a part states as its totals, if it does.
    pub(super) fn add_stated(&mut self, stated: Option<&[Figure]>) {
        for (at, metric) in self.metrics.iter_mut().enumerate() {
            // A total is the sum of all parts, so that one part without it makes it unknown.
            let figure = stated.map(|stated| {
                stated
                    .iter()
                    .find(|(of, _)| *of == at)
                    .map_or(0.0, |of| of.1)
            });
            metric.stated = metric.stated.zip(figure).map(|(sum, figure)| sum + figure);
        }
    }
}
