//! A record of Xdebug: a call that has returned, with its own cost and the calls that it made.

use crate::formats::callgrind::call_graph::Figure;

/// A record of the file: a call that has returned.
#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) function: u32,
    /// Where its own cost is said to be; 0 if unknown.
    pub(super) line: u32,
    /// Own cost, by metric.
    pub(super) own: Vec<f64>,
    pub(super) calls: Vec<Call>,
    /// What the calls cost in all, one after the other, by metric.
    costs: Vec<f64>,
    /// Its own cost has come.
    pub(super) has_cost: bool,
    /// How many figures each cost has.
    metrics: usize,
}

/// A call that a record makes.
#[derive(Clone, Copy, Debug)]
pub(in crate::formats::callgrind) struct Call {
    pub(in crate::formats::callgrind) callee: u32,
    /// The caller's line; 0 if unknown.
    pub(in crate::formats::callgrind) line: u32,
}

impl Record {
    /// Makes it the record of a function, without costs and calls.
    pub(super) fn begin(&mut self, function: u32, metrics: usize) {
        (self.function, self.line, self.has_cost, self.metrics) = (function, 0, false, metrics);
        self.own.clear();
        self.own.resize(metrics, 0.0);
        self.calls.clear();
        self.costs.clear();
    }

    /// Sets its own cost.
    pub(super) fn cost(&mut self, line: u32, figures: &[Figure]) {
        (self.line, self.has_cost) = (line, true);
        put(&mut self.own, figures);
    }

    /// Adds a call, and what it cost in all.
    pub(super) fn call(&mut self, call: Call, figures: &[Figure]) {
        self.calls.push(call);
        let first = self.costs.len();
        self.costs.resize(first + self.metrics, 0.0);
        put(self.costs.get_mut(first..).unwrap_or_default(), figures);
    }

    /// The calls with what they cost.
    pub(super) fn calls(&self) -> impl Iterator<Item = (&Call, &[f64])> {
        let costs = |at: usize| {
            self.costs
                .get(at * self.metrics..(at + 1) * self.metrics)
                .unwrap_or_default()
        };
        self.calls
            .iter()
            .enumerate()
            .map(move |(at, call)| (call, costs(at)))
    }
}

fn put(costs: &mut [f64], figures: &[Figure]) {
    for (metric, figure) in figures {
        if let Some(cost) = costs.get_mut(*metric) {
            *cost = *figure;
        }
    }
}

/// What the first reading finds out about a call, in four bytes: the line of its caller, and
/// whether it was its caller's first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::formats::callgrind) struct Mark(u32);

impl Mark {
    const FIRST: u32 = 1 << 31;

    /// Lines below this have marks.
    pub(super) const LINES: u32 = Self::FIRST;

    pub(super) fn new(line: u32, is_first: bool) -> Self {
        Self(line | if is_first { Self::FIRST } else { 0 })
    }

    /// The caller's line: 0 if it is unknown, and if there is no caller.
    pub(super) fn line(self) -> u32 {
        self.0 & !Self::FIRST
    }

    pub(super) fn is_first(self) -> bool {
        self.0 & Self::FIRST != 0
    }
}
