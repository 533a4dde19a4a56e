//! Rows of Dyalog's `]PROFILE`, of whichever kind of file.
//!
//! A `tree` file is streamed; a `data` file has one row per function and line, and is held until
//! its end, because only then is it known whether its times still have to be corrected.
//!
//! Two things are decided: which of the two times is the inclusive one (see
//! [`headings`](super::headings)), and **whether the times are corrected for the timer's cost.**
//! Trees that carry ticks are, `data` and whatever has no ticks is not, and a negative time proves
//! that a correction has taken place.

use hashbrown::HashMap;

use super::headings::{Verdict, tolerance};
use super::row::{Headings, Known, Layout, Pair, Row, as_cost, note};
use crate::base::error::{ImportError, Position, quote};
use crate::base::interner::{Id, Table, TextId, TextInterner};
use crate::events::{
    Cost, Fidelity, Frame, FunctionDef, FunctionId, Info, MetricId, Noise, Note, RunFact, Severity,
    Sink, Unit,
};
use crate::formats::common::counted::{Counted, many};

/// Rows that may wait for the decision which time is which: a row that has called something decides
/// when its calls are over, so this is seldom more than a handful.
const WAITING_ROWS: usize = 64 * 1024;

/// What is known of the timer's cost.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bias {
    /// ns per tick, as the file says it.
    pub(super) timer: Option<f64>,
    /// The file says that it is of a version which corrects trees.
    pub(super) trees_corrected: bool,
}

/// Takes the rows of one file, in order.
pub(super) struct Rows<'s> {
    sink: &'s mut dyn Sink,
    layout: Layout,
    time: MetricId,
    ticks: Option<MetricId>,
    verdict: Verdict,
    rows: u64,
    /// Function of each open row, and whether the row is a line: what a new row may follow.
    path: Vec<(FunctionId, bool)>,
    names: FunctionsByName,
    waiting: Vec<Known>,
    tree: Tree,
    data: Vec<Known>,
    data_index: HashMap<(FunctionId, Option<u32>), usize>,
    repeated: Counted,
}

/// The functions of the file by their names.
#[derive(Default)]
struct FunctionsByName {
    texts: TextInterner,
    functions: Table<TextId, FunctionId>,
}

impl FunctionsByName {
    fn find(&self, name: &str) -> Option<FunctionId> {
        let id = self.texts.find(name.as_bytes())?;
        self.functions.get(id).copied()
    }

    /// Whether a function is known to have this name. Sinks and interners both count ids
    /// from 0.
    fn is(&self, function: FunctionId, name: &str) -> bool {
        let id = TextId::new(function.0 as usize);
        self.functions.get(id) == Some(&function) && self.texts.text(id) == name.as_bytes()
    }

    fn add(&mut self, function: FunctionId, name: &str) {
        // Both tables grow together, so that the id of a name is that of its function.
        self.texts.add(name.as_bytes());
        self.functions.push(function);
    }
}

impl<'s> Rows<'s> {
    /// Announces the metrics.
    pub(super) fn new(sink: &'s mut dyn Sink, layout: Layout) -> Self {
        sink.run(RunFact::Fidelity(if layout.depth {
            Fidelity::Tree
        } else {
            Fidelity::Flat
        }));
        let time = sink.metric("time", Unit::Nanoseconds, Noise::Timed);
        let ticks = layout
            .ticks
            .then(|| sink.metric("ticks", Unit::Count, Noise::Exact));
        if let Some(ticks) = ticks {
            sink.run(RunFact::TimerReadings(ticks));
        }
        Self {
            sink,
            layout,
            time,
            ticks,
            verdict: Verdict::new(layout),
            rows: 0,
            path: Vec::new(),
            names: FunctionsByName::default(),
            waiting: Vec::new(),
            tree: Tree::default(),
            data: Vec::new(),
            data_index: HashMap::new(),
            repeated: Counted::default(),
        }
    }

    /// The sink, for facts and notes.
    pub(super) fn sink(&mut self) -> &mut dyn Sink {
        self.sink
    }

    /// Takes the next row.
    ///
    /// # Errors
    /// When the row cannot follow the rows before it.
    pub(super) fn row(&mut self, row: &Row<'_>) -> Result<(), ImportError> {
        let function = self.function(row)?;
        let depth = match row.depth {
            Some(depth) => self.place(row, depth, function)?,
            None => 0,
        };
        self.rows += 1;
        let known = Known {
            position: row.position,
            depth,
            function,
            line: row.line,
            calls: row.calls,
            time: row.time,
            ticks: row.ticks,
        };
        self.verdict.see(&known);
        if !self.layout.depth {
            return self.hold(known);
        }
        if let Some(headings) = self.verdict.headings() {
            self.release(headings)?;
            return self
                .tree
                .row(&known, headings, self.time, self.ticks, self.sink);
        }
        // Rows keep their order: this one may go ahead only where none waits.
        if self.waiting.is_empty() && known.is_the_same_either_way() {
            return self
                .tree
                .row(&known, Headings::Right, self.time, self.ticks, self.sink);
        }
        self.waiting.push(known);
        // No more rows may wait: what is usual decides, and `confirm` compares it with all rows.
        if self.waiting.len() == WAITING_ROWS {
            let headings = self.verdict.decide();
            self.release(headings)?;
        }
        Ok(())
    }

    /// Closes what is open, confirms what was decided, and says what is known of the timer's cost.
    ///
    /// # Errors
    /// When the sums over all rows contradict what the first rows decided.
    pub(super) fn finish(mut self, end: Position, bias: Bias) -> Result<(), ImportError> {
        let headings = self.verdict.decide();
        self.verdict.confirm(self.rows, end, self.sink)?;
        if self.rows == 0 {
            note(self.sink, "the file has no rows");
        }
        if let Some(timer) = bias.timer {
            self.sink.run(RunFact::TimerBias(timer));
        }
        if self.layout.depth {
            self.release(headings)?;
            self.tree.finish(self.sink);
            self.tree_bias(bias);
        } else {
            self.give_data(headings, bias);
        }
        if self.verdict.swap_matters && headings == Headings::Swapped {
            let message = "the labels of inclusive and exclusive time are swapped in this file, a bug of `]PROFILE` \
                           0.9.0: they were corrected";
            self.sink.note(Note {
                severity: Severity::Info,
                position: self.verdict.position(),
                message,
            });
        }
        note_rows(
            &self.repeated,
            self.sink,
            "a function or line occurs again: its figures were added up",
        );
        Ok(())
    }

    /// The function of a row.
    fn function(&mut self, row: &Row<'_>) -> Result<FunctionId, ImportError> {
        // Most rows are lines of the function above them.
        let above = row
            .depth
            .and_then(|depth| self.path.get(usize::try_from(depth).ok()?.checked_sub(1)?));
        if let Some(&(function, _)) = above
            && self.names.is(function, row.name)
        {
            return Ok(function);
        }
        if let Some(function) = self.names.find(row.name) {
            return Ok(function);
        }
        if row.name.contains('\0') {
            // SQLite's own functions end a text there: two names would look like one.
            return Err(ImportError::malformed(
                row.position,
                "a name without NUL",
                quote(row.name.as_bytes()),
            ));
        }
        let function = self.sink.function(FunctionDef::named(row.name));
        self.names.add(function, row.name);
        Ok(function)
    }

    /// Checks the depth of a tree row and opens it on the path.
    fn place(
        &mut self,
        row: &Row<'_>,
        depth: u32,
        function: FunctionId,
    ) -> Result<usize, ImportError> {
        let deepest = self.path.len();
        let depth = usize::try_from(depth).unwrap_or(usize::MAX);
        if depth > deepest {
            let expected = if deepest == 0 {
                "depth 0".to_owned()
            } else {
                format!("a depth of at most {deepest}")
            };
            return Err(ImportError::malformed(
                row.position,
                expected,
                format!("depth {depth}"),
            ));
        }
        self.path.truncate(depth);
        let is_line = row.line.is_some();
        if is_line && self.path.last() != Some(&(function, false)) {
            let expected = "a line directly below the row of its function";
            let found = format!(
                "a line of {} in another position",
                quote(row.name.as_bytes())
            );
            return Err(ImportError::malformed(row.position, expected, found));
        }
        self.path.push((function, is_line));
        Ok(depth)
    }

    /// Hands on the rows that waited for a decision.
    fn release(&mut self, headings: Headings) -> Result<(), ImportError> {
        for row in self.waiting.drain(..) {
            self.tree
                .row(&row, headings, self.time, self.ticks, self.sink)?;
        }
        Ok(())
    }

    fn hold(&mut self, row: Known) -> Result<(), ImportError> {
        let next = self.data.len();
        let at = *self
            .data_index
            .entry((row.function, row.line))
            .or_insert(next);
        let Some(held) = self.data.get_mut(at) else {
            self.data.push(row);
            return Ok(());
        };
        self.repeated.add(row.position);
        let sum = |a: u64, b: u64| {
            let too_many = || {
                ImportError::malformed(
                    row.position,
                    "counts that add up to less than 2^64",
                    "a larger sum",
                )
            };
            a.checked_add(b).ok_or_else(too_many)
        };
        held.calls = held
            .calls
            .zip(row.calls)
            .map(|(held, calls)| sum(held, calls))
            .transpose()?;
        // A sum with an unknown part is unknown.
        let add = |held: Option<f64>, time: Option<f64>| Some(held? + time?);
        held.time.inclusive = add(held.time.inclusive, row.time.inclusive);
        held.time.exclusive = add(held.time.exclusive, row.time.exclusive);
        if let (Some(held), Some(ticks)) = (&mut held.ticks, row.ticks) {
            held.inclusive = sum(held.inclusive, ticks.inclusive)?;
            held.exclusive = sum(held.exclusive, ticks.exclusive)?;
        }
        Ok(())
    }

    /// Trees: what was subtracted from the times depends on the version.
    fn tree_bias(&mut self, bias: Bias) {
        match (self.layout.ticks, bias.timer) {
            // With ticks or, as in what is left of a tree of our own, without.
            (_, Some(timer)) if bias.trees_corrected => self.sink.run(RunFact::BiasApplied(timer)),
            (true, Some(_)) => {
                let message = "it is unknown whether this version subtracts the cost of the timer from the times: \
                               they are stored as they are in the file";
                note(self.sink, message);
            }
            (true, None) => {}
            (false, None) if bias.trees_corrected => {
                note(
                    self.sink,
                    "the times were corrected for the cost of the timer by an unknown amount, so that `--bias` \
                     cannot change the correction",
                );
            }
            (false, _) if self.verdict.negative => {
                note(
                    self.sink,
                    "the file has negative times, so they were already corrected for the cost of the timer, by an \
                     unknown amount: no further correction is made",
                );
            }
            (false, _) => self.sink.run(RunFact::BiasApplied(0.0)),
        }
    }

    /// Data: raw times, corrected here where the file says how.
    fn give_data(&mut self, headings: Headings, bias: Bias) {
        let correction = match (self.layout.ticks, bias.timer) {
            // A negative time shows that the times have been corrected already, which must not be
            // done twice.
            _ if self.verdict.negative => {
                note(
                    self.sink,
                    "the file has negative times, so they were already corrected for the cost of the timer, by an \
                     unknown amount: no further correction is made",
                );
                0.0
            }
            (true, Some(timer)) => {
                self.sink.run(RunFact::BiasApplied(timer));
                timer
            }
            _ => {
                self.sink.run(RunFact::BiasApplied(0.0));
                0.0
            }
        };
        for row in &self.data {
            let time = row.time.put_right(headings);
            let ticks = row.ticks.map(|ticks| ticks.put_right(headings));
            let frame = frame(row);
            let corrected = |time: Option<f64>, ticks: Option<u64>| {
                Some(time? - as_cost(ticks.unwrap_or(0)) * correction)
            };
            let info = Info {
                frame,
                metric: self.time,
                calls: row.calls,
                primitive: None,
                exclusive: corrected(time.exclusive, ticks.map(|ticks| ticks.exclusive)),
                cumulative: corrected(time.inclusive, ticks.map(|ticks| ticks.inclusive)),
                seen: None,
            };
            self.sink.info(info);
            if let (Some(metric), Some(ticks)) = (self.ticks, ticks) {
                let (exclusive, cumulative) = (
                    Some(as_cost(ticks.exclusive)),
                    Some(as_cost(ticks.inclusive)),
                );
                self.sink.info(Info {
                    metric,
                    exclusive,
                    cumulative,
                    ..info
                });
            }
        }
    }
}

/// Opens and closes the nodes of a tree, and compares each row with the rows below it.
#[derive(Default)]
struct Tree {
    open: Vec<Open>,
    rows: u64,
    less: Counted,
    unequal: Counted,
}

/// An open row.
struct Open {
    position: Position,
    is_line: bool,
    /// Rows before it.
    rows: u64,
    time: Pair<Option<f64>>,
    /// Inclusive time of the functions called.
    callees: f64,
}

impl Tree {
    fn row(
        &mut self,
        row: &Known,
        headings: Headings,
        time: MetricId,
        ticks: Option<MetricId>,
        sink: &mut dyn Sink,
    ) -> Result<(), ImportError> {
        while self.open.len() > row.depth {
            self.close(sink);
        }
        let pair = row.time.put_right(headings);
        // Only files of our own leave out what a line called; a row of a function always has both.
        let cost = match (pair.exclusive, pair.inclusive) {
            (Some(exclusive), Some(cumulative)) => Cost::Both {
                exclusive,
                cumulative,
            },
            (Some(exclusive), None) if row.line.is_some() => Cost::ExclusiveOnly(exclusive),
            (exclusive, _) => {
                let missing = if exclusive.is_none() {
                    "exclusive"
                } else {
                    "inclusive"
                };
                let expected = format!("an {missing} time of a row of a tree");
                return Err(ImportError::malformed(row.position, expected, "nothing"));
            }
        };
        sink.enter(frame(row), row.calls);
        sink.cost(time, cost);
        if let (Some(metric), Some(ticks)) = (ticks, row.ticks) {
            let ticks = ticks.put_right(headings);
            let (exclusive, cumulative) = (as_cost(ticks.exclusive), as_cost(ticks.inclusive));
            sink.cost(
                metric,
                Cost::Both {
                    exclusive,
                    cumulative,
                },
            );
        }
        self.rows += 1;
        let is_line = row.line.is_some();
        self.open.push(Open {
            position: row.position,
            is_line,
            rows: self.rows,
            time: pair,
            callees: 0.0,
        });
        Ok(())
    }

    fn close(&mut self, sink: &mut dyn Sink) {
        let Some(closed) = self.open.pop() else {
            return;
        };
        sink.leave();
        let below = self.rows - closed.rows;
        let inclusive = closed.time.inclusive;
        if let Some(called) = closed.time.difference() {
            let tolerance = tolerance(closed.time, below);
            // The file's figures stay as they are: a note is all that is made of it.
            if called < -tolerance {
                self.less.add(closed.position);
            }
            if (called - closed.callees).abs() > tolerance {
                self.unequal.add(closed.position);
            }
        }
        if let Some(above) = self.open.last_mut() {
            above.callees += if closed.is_line {
                closed.callees
            } else {
                inclusive.unwrap_or(0.0)
            };
        }
    }

    fn finish(&mut self, sink: &mut dyn Sink) {
        while !self.open.is_empty() {
            self.close(sink);
        }
        note_rows(
            &self.less,
            sink,
            "the inclusive time is below the exclusive time: both are stored as they are in the file",
        );
        let message = "the inclusive time differs from the exclusive time plus that of the callees: rows may be \
                       missing";
        note_rows(&self.unequal, sink, message);
    }
}

/// One note of rows, at the first in the file: those of a tree are closed in another order.
fn note_rows(rows: &Counted, sink: &mut dyn Sink, what: &str) {
    rows.note(sink, Severity::Warning, |count| {
        format!("in {}, {what}", many(count, "row"))
    });
}

fn frame(row: &Known) -> Frame<'static> {
    match row.line {
        None => Frame::function(row.function),
        Some(line) => Frame::line(row.function, line),
    }
}

/// The summary and calls reports hold sums over a selection, from which no profile can be made
/// again.
pub(super) fn refuse_report(kind: &str) -> ImportError {
    ImportError::Refused(format!(
        "the file is a {kind} report of ]PROFILE, which has only sums and no rows to import; save the profile with \
         `]PROFILE tree -outfile=FILE` and import that file"
    ))
}
