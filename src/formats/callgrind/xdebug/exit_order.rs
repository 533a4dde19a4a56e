//! Whether records come in the order in which calls returned, so that they are a tree. Xdebug
//! writes one when a function returns: its own cost, then each of its calls, in order, with what it
//! cost in all. Those calls have returned before, so they must be the last ones that
//! no other record has claimed. Whether they are is looked at in every record.
//!
//! Takes room for every call that waits for its caller, as Xdebug itself does, and four bytes for
//! every other one.

use super::exit_tree::ExitTree;
use super::record::{Call, Mark, Record};
use crate::base::error::Position;
use crate::events::Unit;
use crate::formats::callgrind::call_graph::Figure;
use crate::formats::common::counted::many;

/// How figures of a metric may differ from what they are made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::formats::callgrind) enum Accuracy {
    /// Times are rounded one by one, to multiples of this.
    Rounded(f64),
    /// Memory is whole, but some versions write 0 for whatever is less.
    Clamped,
}

impl Accuracy {
    pub(in crate::formats::callgrind) fn of(unit: &Unit, scale: f64) -> Self {
        match unit {
            Unit::Nanoseconds => Self::Rounded(scale),
            Unit::Bytes | Unit::Count => Self::Clamped,
        }
    }

    fn unit(self) -> f64 {
        match self {
            Self::Rounded(unit) => unit,
            Self::Clamped => 1.0,
        }
    }
}

/// Why the records are no tree.
#[derive(Debug, PartialEq)]
pub(in crate::formats::callgrind) enum Doubt {
    /// The function's record is of another shape than Xdebug's.
    Shape(&'static str),
    /// It calls more functions than have returned before.
    Missing { calls: usize, waiting: usize },
    /// Its `at`th call is of another function than the one that returned then.
    Callee {
        at: usize,
        named: u32,
        returned: u32,
    },
    /// Its `at`th call cost something else than the record of that call adds up to, in the file's
    /// units.
    Cost {
        at: usize,
        named: u32,
        stated: f64,
        cost: f64,
    },
    /// The file ends before the request does.
    Cut,
}

impl Doubt {
    /// What is to be said of a function's record, with the names of functions.
    pub(in crate::formats::callgrind) fn message<'n>(
        &self,
        name: impl Fn(u32) -> &'n str,
        of: u32,
    ) -> String {
        match *self {
            Self::Shape(what) => format!("the record of `{}` {what}", name(of)),
            Self::Missing { calls, waiting } => {
                let calls = many(u64::try_from(calls).unwrap_or(u64::MAX), "call");
                format!(
                    "`{}` makes {calls}, but {waiting} returned before it",
                    name(of)
                )
            }
            Self::Callee {
                at,
                named,
                returned,
            } => {
                format!(
                    "call {at} in `{}` is to `{}`, but `{}` returned at that point",
                    name(of),
                    name(named),
                    name(returned)
                )
            }
            Self::Cost {
                at,
                named,
                stated,
                cost,
            } => {
                let (caller, callee) = (name(of), name(named));
                format!(
                    "call {at} in `{caller}`, to `{callee}`, has the cost {stated}, but the record of the callee \
                     adds up to {cost}"
                )
            }
            Self::Cut => "the request does not end with a line `summary:`".to_owned(),
        }
    }
}

/// A call whose caller has not returned.
#[derive(Debug)]
struct Waiting {
    /// Which record it is.
    record: u32,
    function: u32,
    /// How many calls it made.
    calls: u32,
    /// By metric, as bits: part of its cost is 0, and may have been less.
    zeros: u32,
}

/// What whole records are for.
#[derive(Default)]
enum Reader {
    /// The first reading.
    Proof(Proof),
    /// The second one, if there is a proof.
    Tree(ExitTree),
    /// There is a doubt.
    #[default]
    Nobody,
}

/// Looks whether the calls of each record are the last ones that returned, or builds the tree once
/// that is known. One record after the other is [begun](Self::begin) and given its costs and calls.
#[derive(Default)]
pub(in crate::formats::callgrind) struct ExitOrder {
    metrics: Vec<Accuracy>,
    record: Record,
    /// Where the open record begins.
    open: Option<Position>,
    reader: Reader,
    /// The first doubt and the function it is about.
    doubt: Option<(Position, u32, Doubt)>,
}

impl ExitOrder {
    /// For a first reading, which looks whether there is a tree.
    pub(in crate::formats::callgrind) fn to_prove() -> Self {
        Self {
            reader: Reader::Proof(Proof::default()),
            ..Self::default()
        }
    }

    /// For a second reading, which builds it.
    pub(in crate::formats::callgrind) fn to_build(tree: ExitTree) -> Self {
        Self {
            reader: Reader::Tree(tree),
            ..Self::default()
        }
    }

    /// Says what is measured from here on.
    pub(in crate::formats::callgrind) fn measure(&mut self, at: Position, metrics: Vec<Accuracy>) {
        // Costs of calls that wait are of the old columns, and the records of their callers would
        // be of new ones.
        let waits = matches!(&self.reader, Reader::Proof(proof) if !proof.waiting.is_empty());
        if (self.open.is_some() || waits) && metrics != self.metrics {
            self.doubt(at, Doubt::Shape("is followed by records with other events"));
        }
        self.metrics = metrics;
    }

    /// A record begins; the one before is whole.
    pub(in crate::formats::callgrind) fn begin(&mut self, at: Position, function: u32) {
        self.end();
        if !matches!(self.reader, Reader::Nobody) {
            self.open = Some(at);
            self.record.begin(function, self.metrics.len());
        }
    }

    /// Own cost of the record.
    pub(in crate::formats::callgrind) fn cost(&mut self, line: u32, figures: &[Figure]) {
        if self.open.is_none() {
            return;
        }
        if self.record.has_cost {
            self.doubt_shape("has two exclusive costs");
        } else {
            self.record.cost(line, figures);
        }
    }

    /// A call that the record makes, so often.
    pub(in crate::formats::callgrind) fn call(
        &mut self,
        call: Call,
        calls: u64,
        figures: &[Figure],
    ) {
        if calls != 1 {
            self.doubt_shape("contains a sum of several calls");
        } else if call.line >= Mark::LINES {
            self.doubt_shape("has a call on a line above 2^31");
        } else if self.open.is_some() {
            self.record.call(call, figures);
        }
    }

    /// Doubts that the open record is one of Xdebug's.
    pub(in crate::formats::callgrind) fn doubt_shape(&mut self, what: &'static str) {
        if let Some(at) = self.open {
            self.doubt(at, Doubt::Shape(what));
        }
    }

    /// The request is over: calls that wait are roots.
    pub(in crate::formats::callgrind) fn end_part(&mut self) {
        self.end();
        if let Reader::Proof(proof) = &mut self.reader {
            proof.waiting.clear();
            proof.costs.clear();
        }
    }

    /// The request is over, and does not say so: calls that wait may have had callers.
    pub(in crate::formats::callgrind) fn cut_part(&mut self, at: Position) {
        self.end();
        if matches!(&self.reader, Reader::Proof(proof) if !proof.waiting.is_empty()) {
            self.doubt(at, Doubt::Cut);
        }
    }

    /// The marks of all calls, or the place of the first doubt, the function that it is about, and
    /// the doubt.
    pub(in crate::formats::callgrind) fn proof(self) -> Result<Vec<Mark>, (Position, u32, Doubt)> {
        match (self.doubt, self.reader) {
            (Some(doubt), _) => Err(doubt),
            (None, Reader::Proof(proof)) => Ok(proof.marks),
            (None, _) => Ok(Vec::new()),
        }
    }

    /// What has been built.
    pub(in crate::formats::callgrind) fn tree(&mut self) -> Option<&mut ExitTree> {
        match &mut self.reader {
            Reader::Tree(tree) => Some(tree),
            _ => None,
        }
    }

    fn doubt(&mut self, at: Position, doubt: Doubt) {
        self.doubt = Some((at, self.record.function, doubt));
        (self.open, self.reader) = (None, Reader::Nobody);
    }

    fn end(&mut self) {
        let Some(at) = self.open.take() else { return };
        if !self.record.has_cost {
            return self.doubt(at, Doubt::Shape("has no exclusive cost"));
        }
        match &mut self.reader {
            Reader::Proof(proof) => {
                if let Err(doubt) = proof.add(&self.metrics, &self.record) {
                    self.doubt(at, doubt);
                }
            }
            Reader::Tree(tree) => tree.add(&self.record),
            Reader::Nobody => {}
        }
    }
}

/// What is known of all calls so far.
#[derive(Default)]
struct Proof {
    waiting: Vec<Waiting>,
    /// What the waiting calls cost in all, one after the other, by metric.
    costs: Vec<f64>,
    marks: Vec<Mark>,
}

impl Proof {
    /// The record claims the last calls that wait, and waits itself.
    fn add(&mut self, metrics: &[Accuracy], record: &Record) -> Result<(), Doubt> {
        let Self {
            waiting,
            costs,
            marks,
        } = self;
        let (calls, stride) = (record.calls.len(), metrics.len());
        let (Ok(number), Ok(made)) = (u32::try_from(marks.len()), u32::try_from(calls)) else {
            return Err(Doubt::Shape("is one of more than 2^32 records"));
        };
        // What a function called has returned before it, and after all that its caller called
        // earlier, so that its calls are the last ones that wait.
        let first = waiting.len().checked_sub(calls).ok_or(Doubt::Missing {
            calls,
            waiting: waiting.len(),
        })?;
        // What is claimed makes room for what the record costs in all.
        let sums = costs.len();
        costs.extend_from_slice(&record.own);
        let (paid, sums) = costs.split_at_mut(sums);
        let mut zeros = bits(&record.own);
        let claimed = waiting.get(first..).unwrap_or_default().iter();
        let paid = paid
            .get(first * stride..)
            .unwrap_or_default()
            .chunks(stride.max(1));
        for (at, (((call, stated), callee), cost)) in
            record.calls().zip(claimed).zip(paid).enumerate()
        {
            let (at, named) = (at + 1, call.callee);
            if named != callee.function {
                return Err(Doubt::Callee {
                    at,
                    named,
                    returned: callee.function,
                });
            }
            for (metric, (accuracy, (stated, cost))) in
                metrics.iter().zip(stated.iter().zip(cost)).enumerate()
            {
                if !callee.explains(*accuracy, metric, stated - cost) {
                    let unit = accuracy.unit();
                    return Err(Doubt::Cost {
                        at,
                        named,
                        stated: stated / unit,
                        cost: cost / unit,
                    });
                }
            }
            if let Some(mark) = marks.get_mut(callee.record as usize) {
                *mark = Mark::new(call.line, at == 1);
            }
            zeros |= bits(stated);
            sums.iter_mut()
                .zip(stated)
                .for_each(|(sum, stated)| *sum += stated);
        }
        // What remains of them is what the record itself cost in all, in the place of its first
        // call.
        costs.drain(first * stride..costs.len() - stride);
        waiting.truncate(first);
        waiting.push(Waiting {
            record: number,
            function: record.function,
            calls: made,
            zeros,
        });
        marks.push(Mark::default());
        Ok(())
    }
}

/// Which costs are 0, as bits. None of those beyond them.
fn bits(costs: &[f64]) -> u32 {
    // A file may have more events than bits: beyond them a difference is not explained, and the
    // file is read as edges.
    let zeros = costs
        .iter()
        .take(32)
        .enumerate()
        .filter(|(_, cost)| **cost == 0.0);
    zeros.fold(0, |bits, (metric, _)| bits | 1 << metric)
}

impl Waiting {
    /// Whether what its caller says of its cost may differ so much from what its record adds up to.
    fn explains(&self, accuracy: Accuracy, metric: usize, difference: f64) -> bool {
        if difference == 0.0 {
            return true;
        }
        // A call that made none has one figure, which its caller repeats.
        self.calls > 0
            && match accuracy {
                // The caller's figure is rounded once, and the record's sum as often as it has
                // figures: its own, and one for each call.
                Accuracy::Rounded(unit) => difference.abs() <= unit * (f64::from(self.calls) + 1.0),
                Accuracy::Clamped => {
                    // A part that is written as 0 may have been less: then the whole is less than
                    // its parts, and never more.
                    difference < 0.0 && metric < 32 && self.zeros >> metric & 1 == 1
                }
            }
    }
}
