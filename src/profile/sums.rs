//! Sums: of calls, of what functions and lines cost, of what edges cost.

/// Above this, not every whole number is a REAL.
const MAX_EXACT: u64 = 1 << 53;

/// What one node costs in one metric.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NodeCost {
    /// Cost of the node itself.
    pub exclusive: f64,
    /// Cost with everything called; `None` if unknown.
    pub cumulative: Option<f64>,
}

impl NodeCost {
    /// The cost of a node that the file says nothing of.
    pub(super) const NOTHING: Self = Self {
        exclusive: 0.0,
        cumulative: Some(0.0),
    };

    /// Whether it has to be stored: a cost of 0 in a metric other than the default one has no row.
    pub(super) fn is_worth_a_row(self) -> bool {
        self.exclusive != 0.0 || self.cumulative != Some(0.0)
    }
}

/// A sum of numbers of calls, which is unknown as soon as one part is. Half the size of an option.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CallCount(u64);

impl CallCount {
    const UNKNOWN: u64 = u64::MAX;

    /// Adds a part; says whether part and sum are numbers that a REAL holds exactly.
    pub(super) fn add(&mut self, part: Option<u64>) -> bool {
        // An unknown sum stays so, and a known one that saturates here is not exact either.
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
pub(super) struct MaybeSum(f64);

impl MaybeSum {
    /// Not a number: no sum of finite numbers is this.
    pub(super) const UNKNOWN: Self = Self(f64::NAN);

    pub(super) fn add(&mut self, part: f64) {
        self.0 = self.get().map_or(part, |sum| sum + part);
    }

    pub(super) fn get(self) -> Option<f64> {
        (!self.0.is_nan()).then_some(self.0)
    }
}

/// The nodes of one function, or of one line: how often they were called, and which is open.
#[derive(Default)]
pub(super) struct Occurrences {
    /// There are nodes, so that sums over them mean something.
    pub(super) has_nodes: bool,
    /// The innermost open node, 0 if none is open.
    pub(super) open: u64,
    pub(super) calls: CallCount,
    /// Calls of outermost nodes.
    pub(super) primitive: CallCount,
}

impl Occurrences {
    /// Counts a node that has just been opened.
    pub(super) fn enter(&mut self, node: u64, calls: Option<u64>) -> Entered {
        self.has_nodes = true;
        // The node keeps what was open before it, and puts it back when it closes: no stack for
        // each function.
        let outer = std::mem::replace(&mut self.open, node);
        let mut exact = self.calls.add(calls);
        if outer == 0 {
            // Where some call of an inner node is unknown, this sum is known and the other one is not.
            exact &= self.primitive.add(calls);
        }
        Entered { outer, exact }
    }
}

/// What is known of a node that has just been opened.
#[derive(Clone, Copy)]
pub(super) struct Entered {
    /// The nearest enclosing node of the same function or line, 0 if none.
    pub(super) outer: u64,
    /// The calls still add up to a number that a REAL holds exactly.
    pub(super) exact: bool,
}

/// What is known of an edge to a node that has just been opened.
#[derive(Clone, Copy)]
pub(super) struct EnteredEdge {
    /// No enclosing node has the same pair of functions.
    pub(super) outermost: bool,
    /// The calls of the edge still add up to a number that a REAL holds exactly.
    pub(super) exact: bool,
}

/// Costs of all nodes of one function or line in one metric.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CostSums {
    pub(super) exclusive: f64,
    pub(super) cumulative: f64,
    pub(super) seen: f64,
    /// The cumulative cost of one of the nodes is unknown.
    pub(super) cumulative_unknown: bool,
}

impl CostSums {
    pub(super) fn add(&mut self, cost: NodeCost, outermost: bool) {
        let cumulative = cost.cumulative.unwrap_or(0.0);
        self.exclusive += cost.exclusive;
        self.seen += cumulative;
        self.cumulative_unknown |= cost.cumulative.is_none();
        if outermost {
            self.cumulative += cumulative;
        }
    }
}

/// The costs that an edge has in each metric ([`crate::events::EdgeCost`]).
#[derive(Clone, Copy)]
pub(super) enum EdgePart {
    Exclusive,
    Cumulative,
    Outermost,
    Seen,
}

/// Costs of one edge in one metric, as far as they are known: one for each [`EdgePart`]. Half a line of the caches,
/// and there may be a million.
#[derive(Clone, Copy)]
pub(super) struct EdgeSums([MaybeSum; 4]);

impl EdgeSums {
    /// Nothing is known of the edge.
    pub(super) const UNKNOWN: Self = Self([MaybeSum::UNKNOWN; 4]);

    pub(super) fn get(&self, part: EdgePart) -> Option<f64> {
        self.0[part as usize].get()
    }

    /// Adds the costs of a node.
    pub(super) fn add(&mut self, parts: [f64; 4]) {
        for (sum, part) in self.0.iter_mut().zip(parts) {
            // Also where there was none: 0.0 is no part of a sum, but makes 0.0 of -0.0.
            sum.0 = sum.get().unwrap_or(0.0) + part;
        }
    }

    /// Adds costs that the file states of the edge.
    pub(super) fn add_stated(&mut self, parts: [Option<f64>; 4]) {
        for (sum, part) in self.0.iter_mut().zip(parts) {
            if let Some(part) = part {
                sum.0 = sum.get().unwrap_or(0.0) + part;
            }
        }
    }

    /// Sets a cost that is unknown so far.
    pub(super) fn fill(&mut self, part: EdgePart, cost: Option<f64>) {
        let sum = &mut self.0[part as usize];
        if let (None, Some(cost)) = (sum.get(), cost) {
            *sum = MaybeSum(cost);
        }
    }

    /// Whether no sum has left the finite numbers.
    pub(super) fn are_finite(&self) -> bool {
        let mut known = self.0.iter().filter_map(|sum| sum.get());
        known.all(f64::is_finite)
    }
}
