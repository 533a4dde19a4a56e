//! Sums: of calls, of costs of functions and lines, of costs of edges.

use super::rows::Figures;

/// Above this, not every whole number is a REAL.
const MAX_EXACT: u64 = 1 << 53;

/// A leftover (cumulative less callees) that is negative by less than this part of the cumulative
/// cost is rounding.
pub(super) const ROUNDING: f64 = 1e-9;

/// A sum of counts that is unknown as soon as one part is. Half the size of an option.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally(u64);

impl Tally {
    const UNKNOWN: u64 = u64::MAX;

    /// Adds a part; says whether part and sum are numbers that a REAL holds exactly.
    pub(super) fn add(&mut self, part: Option<u64>) -> bool {
        // What is unknown stays so, and a sum that gets there otherwise is no exact one.
        self.0 = part.map_or(Self::UNKNOWN, |part| self.0.saturating_add(part));
        [part, self.get()]
            .into_iter()
            .flatten()
            .all(|count| count <= MAX_EXACT)
    }

    pub(super) fn get(self) -> Option<u64> {
        (self.0 != Self::UNKNOWN).then_some(self.0)
    }
}

/// A sum of finite costs, unknown until there is one. Half the size of an option.
#[derive(Clone, Copy)]
pub(super) struct Sum(f64);

impl Sum {
    /// No sum of finite numbers is this.
    pub(super) const UNKNOWN: Self = Self(f64::NAN);

    pub(super) fn add(&mut self, part: f64) {
        self.0 = self.get().map_or(part, |sum| sum + part);
    }

    pub(super) fn get(self) -> Option<f64> {
        (!self.0.is_nan()).then_some(self.0)
    }
}

/// What nodes of one function, or of one line, have in common.
#[derive(Default)]
pub(super) struct Count {
    /// It has nodes, so sums mean something.
    pub(super) has_nodes: bool,
    /// Its innermost open node, 0 if none is open.
    pub(super) open: u64,
    pub(super) calls: Tally,
    /// Calls of outermost nodes.
    pub(super) primitive: Tally,
}

impl Count {
    pub(super) fn open(&mut self, node: u64, calls: Option<u64>) -> Opened {
        self.has_nodes = true;
        let outer = std::mem::replace(&mut self.open, node);
        let exact = self.calls.add(calls);
        if outer == 0 {
            self.primitive.add(calls);
        }
        Opened { outer, exact }
    }
}

/// What is known of a node that has just been opened.
#[derive(Clone, Copy)]
pub(super) struct Opened {
    /// The nearest enclosing node of the same function or line, 0 if none.
    pub(super) outer: u64,
    /// The calls still add up to a number that a REAL holds exactly.
    pub(super) exact: bool,
}

/// Sums for one function or line in one metric.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    pub(super) exclusive: f64,
    pub(super) cumulative: f64,
    pub(super) seen: f64,
    /// A node of it has no cumulative cost.
    pub(super) cumulative_unknown: bool,
}

impl Sums {
    pub(super) fn add(&mut self, figures: Figures, outermost: bool) {
        let cumulative = figures.cumulative.unwrap_or(0.0);
        self.exclusive += figures.exclusive;
        self.seen += cumulative;
        self.cumulative_unknown |= figures.cumulative.is_none();
        if outermost {
            self.cumulative += cumulative;
        }
    }
}

/// Sums for one edge in one metric, as far as anything has been said.
#[derive(Clone, Copy, Default)]
pub(super) struct EdgeSums {
    /// Exclusive, cumulative, outermost, seen.
    pub(super) sums: [f64; 4],
    pub(super) known: [bool; 4],
}

impl EdgeSums {
    pub(super) fn get(&self, at: usize) -> Option<f64> {
        self.known[at].then_some(self.sums[at])
    }

    /// Takes this for what nobody said.
    pub(super) fn fill(&mut self, at: usize, figure: Option<f64>) {
        if let (false, Some(figure)) = (self.known[at], figure) {
            (self.known[at], self.sums[at]) = (true, figure);
        }
    }
}

pub(super) const CUMULATIVE: usize = 1;
pub(super) const OUTERMOST: usize = 2;
pub(super) const SEEN: usize = 3;
