//! Which of the two times of Dyalog's `]PROFILE` is the inclusive one.
//!
//! Version 0.9.0 prints the headings of the two times and of the two tick counts the wrong way
//! round. The first row whose ticks differ decides (they are integers), and the sums over all rows
//! must confirm it. Without ticks, the version decides, and without a known version the first row
//! that costs, with what it called, what the rows below it say: in one of the two readings only.
//! Signs prove nothing there, because corrected times may be negative. Where nothing decides, the
//! headings are believed, and a note says what speaks against them.

use super::row::{Headings, Known, Layout, Pair, as_cost, note};
use crate::base::error::{ImportError, Position};
use crate::events::{Severity, Sink};
use crate::formats::common::counted::{Counted, many};
use crate::text::dyalog_files::{V1_37, corrects_trees};

/// Times are printed to 0.001 ms at the coarsest, so a pair that differs by more than twice that
/// differs. In ns.
const NOISE: f64 = 2000.0;

impl Layout {
    /// What is known of the headings of a version whose columns come in this order.
    pub(super) fn headings_of(version: &str, exclusive_first: bool) -> Option<Headings> {
        match version {
            V1_37 => Some(Headings::Right),
            // With the exclusive column first it is not the layout of that version.
            _ if corrects_trees(version) && !exclusive_first => Some(Headings::Swapped),
            _ => None,
        }
    }
}

/// What has decided which time is which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Evidence {
    /// A row whose ticks differ.
    Ticks,
    /// The version of the file.
    Version,
    /// A row of a tree that costs what the rows below it say.
    Callees,
    /// Nothing: the headings of files without ticks are right, as far as is known.
    Nothing,
}

/// Collects what speaks for and against the headings.
pub(super) struct Verdict {
    layout: Layout,
    decided: Option<(Headings, Evidence)>,
    /// The row that decided, or the first one that means something else if the headings are
    /// swapped.
    position: Option<Position>,
    /// Some row has a different meaning if the headings are swapped.
    pub(super) swap_matters: bool,
    time: f64,
    /// Some time is negative.
    pub(super) negative: bool,
    ticks: i128,
    callees: Callees,
    /// Callees show the opposite of what was decided before.
    contradicting: bool,
    /// Rows whose times differ by more than noise: the greater one is labelled inclusive, or
    /// exclusive.
    greater: Pair<Counted>,
}

impl Verdict {
    pub(super) fn new(layout: Layout) -> Self {
        Self {
            layout,
            decided: layout
                .stated
                // Ticks are counted and decide first. The version is asked again in `decide`, where
                // none of them differ.
                .filter(|_| !layout.ticks)
                .map(|headings| (headings, Evidence::Version)),
            position: None,
            swap_matters: false,
            time: 0.0,
            negative: false,
            ticks: 0,
            callees: Callees::default(),
            contradicting: false,
            greater: Pair {
                inclusive: Counted::default(),
                exclusive: Counted::default(),
            },
        }
    }

    pub(super) fn headings(&self) -> Option<Headings> {
        self.decided.map(|(headings, _)| headings)
    }

    pub(super) fn position(&self) -> Option<Position> {
        self.position
    }

    pub(super) fn see(&mut self, row: &Known) {
        let time = row.time.difference().unwrap_or(0.0);
        let ticks = row.ticks.map_or(0, |ticks| {
            i128::from(ticks.inclusive) - i128::from(ticks.exclusive)
        });
        self.time += time;
        self.negative |= row.time.is_negative();
        self.ticks += ticks;
        if time.abs() > NOISE {
            let greater = if time > 0.0 {
                &mut self.greater.inclusive
            } else {
                &mut self.greater.exclusive
            };
            greater.add(row.position);
        }
        if !self.swap_matters && !row.is_the_same_either_way() {
            self.swap_matters = true;
            self.position = Some(row.position);
        }
        // What is proven is not looked at again: the sums above are compared at the end.
        if !matches!(self.decided, None | Some((_, Evidence::Nothing))) {
            return;
        }
        let shown = match (self.layout.ticks, ticks) {
            (true, 0) => None,
            (true, ticks) => Some((
                if ticks < 0 {
                    Headings::Swapped
                } else {
                    Headings::Right
                },
                Evidence::Ticks,
            )),
            (false, _) if self.layout.depth => self
                .callees
                .row(row)
                .map(|headings| (headings, Evidence::Callees)),
            (false, _) => None,
        };
        self.learn(shown, row.position);
        // The usual headings, the usual order and the usual sign: rows need not wait for callees to
        // say so as well.
        if self.decided.is_none()
            && self.layout.depth
            && !self.layout.ticks
            && self.layout.exclusive_first
            && time > NOISE
        {
            self.decided = Some((Headings::Right, Evidence::Nothing));
        }
    }

    /// Takes what a row shows.
    fn learn(&mut self, shown: Option<(Headings, Evidence)>, position: Position) {
        match (self.decided, shown) {
            (_, None) => {}
            (Some((headings, _)), Some((other, _))) if headings != other => {
                // Rows have been handed on under the first reading and cannot be taken back:
                // `confirm` refuses the file.
                self.contradicting = true;
            }
            (_, Some(_)) => (self.decided, self.position) = (shown, Some(position)),
        }
    }

    /// What has been decided, or else what is usual.
    pub(super) fn decide(&mut self) -> Headings {
        let is_open = matches!(self.decided, None | Some((_, Evidence::Nothing)));
        if is_open && self.layout.depth && !self.layout.ticks {
            let shown = self
                .callees
                .close(0)
                .map(|headings| (headings, Evidence::Callees));
            if let Some(position) = self.position {
                self.learn(shown, position);
            }
        }
        let Layout {
            stated,
            ticks,
            exclusive_first,
            ..
        } = self.layout;
        // A negative time proves a correction, which may have made the callees cost less than
        // nothing: then the sign of a sum says nothing.
        let by_sums = (self.time.abs() > NOISE && !self.negative)
            .then(|| Headings::from_difference(self.time));
        let usual = || match (stated, exclusive_first) {
            (Some(stated), _) => (stated, Evidence::Version),
            (None, true) if !ticks => (Headings::Right, Evidence::Nothing),
            (None, true) => (by_sums.unwrap_or(Headings::Right), Evidence::Nothing),
            (None, false) => (by_sums.unwrap_or(Headings::Swapped), Evidence::Nothing),
        };
        self.decided.get_or_insert_with(usual).0
    }

    /// The sums of ticks over all rows must agree, and so must those of times, where ticks
    /// decided and no correction has made times negative: then callees can cost less than nothing.
    /// Otherwise, what speaks against the decision is remarked.
    pub(super) fn confirm(
        &self,
        rows: u64,
        end: Position,
        sink: &mut dyn Sink,
    ) -> Result<(), ImportError> {
        let Some((headings, evidence)) = self.decided else {
            return Ok(());
        };
        let contradiction = |what: &str| {
            let decided = self
                .position
                .map_or(String::new(), |decided| format!(" (because of {decided})"));
            let expected = format!("{}{decided}", headings.describe());
            Err(ImportError::malformed(
                end,
                expected,
                format!("{what} that indicate the opposite"),
            ))
        };
        if self.contradicting {
            return contradiction("times of callees");
        }
        let by_ticks = if self.ticks < 0 {
            Headings::Swapped
        } else {
            Headings::Right
        };
        if self.ticks != 0 && by_ticks != headings {
            return contradiction("sums of ticks over all rows");
        }
        // Each row may be off by the noise, so that their sum may be by so many times as much.
        let is_opposed = self.time.abs() > NOISE * as_cost(rows)
            && Headings::from_difference(self.time) != headings;
        match evidence {
            Evidence::Ticks if is_opposed && !self.negative => {
                return contradiction("sums of times over all rows");
            }
            Evidence::Ticks | Evidence::Version if is_opposed => {
                note(
                    sink,
                    "the times of called functions have a negative sum, because Dyalog subtracted too much for the \
                     cost of the timer: small times are unreliable",
                );
            }
            Evidence::Callees if is_opposed => {
                let message = "the file has neither a version nor ticks that determine which time is inclusive: \
                               callers were assumed to include their callees, although the times of callees have a \
                               negative sum";
                note(sink, message);
            }
            Evidence::Ticks | Evidence::Version | Evidence::Callees => {}
            Evidence::Nothing => {
                let against = match headings {
                    Headings::Right => &self.greater.exclusive,
                    Headings::Swapped => &self.greater.inclusive,
                };
                let read = if headings == Headings::Right {
                    "as labeled"
                } else {
                    "as swapped"
                };
                against.note(sink, Severity::Warning, |count| {
                    format!(
                        "the file has neither a version nor ticks that determine which time is inclusive: the \
                         columns were read {read}, contrary to {}",
                        many(count, "row")
                    )
                });
            }
        }
        Ok(())
    }
}

/// Looks for a row of a tree that costs, with what it called, what the rows below it say.
#[derive(Default)]
struct Callees {
    open: Vec<Caller>,
    rows: u64,
}

/// An open row.
struct Caller {
    is_line: bool,
    /// Rows before it.
    rows: u64,
    time: Pair<Option<f64>>,
    /// By headings: the times of the functions called.
    callees: Pair<f64>,
}

impl Callees {
    /// Opens a row, which closes others.
    fn row(&mut self, row: &Known) -> Option<Headings> {
        let shown = self.close(row.depth);
        self.rows += 1;
        let callees = Pair {
            inclusive: 0.0,
            exclusive: 0.0,
        };
        self.open.push(Caller {
            is_line: row.line.is_some(),
            rows: self.rows,
            time: row.time,
            callees,
        });
        shown
    }

    /// Closes rows down to a depth; says what the first of them shows that decides.
    fn close(&mut self, depth: usize) -> Option<Headings> {
        let mut shown = None;
        while self.open.len() > depth {
            let Some(closed) = self.open.pop() else { break };
            shown = shown.or_else(|| closed.shows(self.rows - closed.rows));
            if let Some(above) = self.open.last_mut() {
                let Pair {
                    inclusive,
                    exclusive,
                } = closed.time;
                let times = Pair {
                    inclusive: inclusive.unwrap_or(0.0),
                    exclusive: exclusive.unwrap_or(0.0),
                };
                // A line passes on what it called: its own time is within its function's.
                let called = if closed.is_line {
                    closed.callees
                } else {
                    times
                };
                above.callees.inclusive += called.inclusive;
                above.callees.exclusive += called.exclusive;
            }
        }
        shown
    }
}

impl Caller {
    /// In which reading alone the row costs what it and the rows below it say.
    fn shows(&self, below: u64) -> Option<Headings> {
        let difference = self.time.difference()?;
        let tolerance = tolerance(self.time, below);
        // Callees that cost nothing, or no more than rounding makes of nothing, fit in with both
        // readings.
        if self
            .callees
            .inclusive
            .abs()
            .max(self.callees.exclusive.abs())
            <= tolerance
        {
            return None;
        }
        let is_right = (difference - self.callees.inclusive).abs() <= tolerance;
        let is_swapped = (-difference - self.callees.exclusive).abs() <= tolerance;
        match (is_right, is_swapped) {
            (true, false) => Some(Headings::Right),
            (false, true) => Some(Headings::Swapped),
            _ => None,
        }
    }
}

/// How far a row and those below it may be from adding up: each of them is rounded.
pub(super) fn tolerance(time: Pair<Option<f64>>, below: u64) -> f64 {
    let largest = [time.inclusive, time.exclusive]
        .into_iter()
        .flatten()
        .fold(0.0, |most: f64, time| most.max(time.abs()));
    // CSV of 0.9.0 has 10 digits, whatever the size of a time: its error is a part of it.
    NOISE * (1.0 + as_cost(below)) + 1e-8 * largest
}
