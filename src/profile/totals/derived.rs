//! What a file that knows no paths leaves open, worked out from its edges; and whether what is said
//! of functions is what their callers add up to.

use super::{KnownEdge, Ledger, Site, product};
use crate::base::scc::components;
use crate::events::{EdgeKind, Fidelity};
use crate::profile::ids::{NONE, index};
use crate::profile::notes::Remarks;
use crate::profile::rows::InfoFigures;
use crate::profile::sums::{CUMULATIVE, OUTERMOST, ROUNDING, SEEN, Tally};

/// Whether a function can be called while a call of it is under way.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Recursion {
    No,
    /// It calls itself, and through no other function.
    Alone,
    WithOthers,
}

/// What edges say of a function in one metric.
#[derive(Clone, Copy)]
pub(super) struct Derived {
    calls: Option<Tally>,
    /// Calls from functions with which it does not recur; `None` if it recurs with others.
    primitive: Option<Tally>,
    /// Cost of everything it called.
    called: Option<f64>,
    /// The part of it that went to functions with which it does not recur.
    left: Option<f64>,
    /// Cost with everything called, recursion counted once.
    cumulative: Option<f64>,
    /// The same with every level counted.
    seen: Option<f64>,
}

/// What all callers of a function say that it cost them, in one metric, recursion counted once.
#[derive(Clone, Copy, Default)]
enum Paid {
    #[default]
    CalledByNobody,
    /// One of them does not say it.
    Unknown,
    Known(f64),
}

impl Paid {
    fn known(self) -> Option<f64> {
        match self {
            Self::Known(paid) => Some(paid),
            Self::CalledByNobody | Self::Unknown => None,
        }
    }

    fn add(&mut self, part: Option<f64>) {
        *self = match (*self, part) {
            (Self::CalledByNobody, Some(part)) => Self::Known(part),
            (Self::Known(sum), Some(part)) => Self::Known(sum + part),
            (Self::Unknown, _) | (_, None) => Self::Unknown,
        };
    }
}

impl Derived {
    const NOTHING: Self = Self {
        calls: None,
        primitive: None,
        called: Some(0.0),
        left: Some(0.0),
        cumulative: None,
        seen: None,
    };

    /// The sums that are known.
    pub(super) fn sums(&self) -> impl Iterator<Item = f64> + use<> {
        [self.called, self.left, self.cumulative, self.seen]
            .into_iter()
            .flatten()
    }

    /// Fills what the file does not say.
    pub(super) fn fill(&self, figures: &mut InfoFigures) {
        figures.seen = figures.seen.or(self.seen);
        figures.cumulative = figures.cumulative.or(self.cumulative);
        if figures.calls.is_none() {
            figures.calls = self.calls.and_then(Tally::get);
            figures.primitive = figures.primitive.or(self.primitive.and_then(Tally::get));
        }
    }
}

impl Ledger {
    /// Works out what a file that knows no paths leaves open. A call from one component of the call
    /// graph to another has no call of the callee around it, so that its three costs are one; a
    /// call of a function by itself is never outermost. Everything else within a component stays
    /// unknown. What becomes of that in the figures of functions is counted.
    pub(in crate::profile) fn derive(&mut self, fidelity: Fidelity, remarks: &mut Remarks) {
        if fidelity == Fidelity::Edges {
            self.derive_calls();
            self.derive_cumulative(remarks);
        }
        // What nodes add up to for functions they add up to for edges.
        if fidelity == Fidelity::Edges || !self.recorded_functions.is_empty() {
            self.compare_with_callers(remarks);
        }
    }

    fn derive_calls(&mut self) {
        let caller_of = |edge: &KnownEdge, sites: &[Site]| sites[edge.site as usize].function;
        let pairs = self
            .edges
            .iter()
            .map(|edge| (caller_of(edge, &self.sites), edge.callee));
        let calls: Vec<(u32, u32)> = pairs.filter(|(caller, _)| *caller != NONE).collect();
        let component = components(self.functions.len(), &calls);
        let mut sizes = vec![0_usize; self.functions.len()];
        for component in &component {
            sizes[*component as usize] += 1;
        }
        let alone = component
            .iter()
            .map(|component| match sizes[*component as usize] {
                1 => Recursion::No,
                _ => Recursion::WithOthers,
            });
        self.recursions = alone.collect();
        for (caller, callee) in calls {
            if caller == callee && self.recursions[callee as usize] == Recursion::No {
                self.recursions[callee as usize] = Recursion::Alone;
            }
        }
        self.derived = vec![Derived::NOTHING; self.functions.len() * self.metrics];
        for (metric, at) in product(self.metrics, self.edges.len()) {
            let edge = &self.edges[at];
            let caller = caller_of(edge, &self.sites);
            let leaves =
                caller == NONE || component[caller as usize] != component[edge.callee as usize];
            let sums = &mut self.edge_sums[at * self.metrics + metric];
            if leaves {
                let known = sums
                    .get(SEEN)
                    .or(sums.get(CUMULATIVE))
                    .or(sums.get(OUTERMOST));
                for part in [CUMULATIVE, OUTERMOST, SEEN] {
                    sums.fill(part, known);
                }
            } else if caller == edge.callee && edge.kind == EdgeKind::Call {
                sums.fill(OUTERMOST, Some(0.0));
            }
            if edge.kind == EdgeKind::Back {
                continue;
            }
            let seen = sums.get(SEEN);
            let callee = &mut self.derived[edge.callee as usize * self.metrics + metric];
            callee.calls.get_or_insert_default().add(edge.calls.get());
            if leaves && self.recursions[edge.callee as usize] != Recursion::WithOthers {
                callee
                    .primitive
                    .get_or_insert_default()
                    .add(edge.calls.get());
            }
            if caller != NONE {
                let caller = &mut self.derived[caller as usize * self.metrics + metric];
                let add = |sum: Option<f64>| sum.zip(seen).map(|(sum, part)| sum + part);
                caller.called = add(caller.called);
                caller.left = if leaves {
                    add(caller.left)
                } else {
                    caller.left
                };
            }
        }
    }

    /// Cumulative costs that the file does not state: own cost and that of what was called
    /// elsewhere, if the function recurs with no other; if it recurs alone, that is in its
    /// outermost calls, whichever level called. Some profilers leave out own costs or calls: where
    /// the callers paid more, that is what it cost.
    fn derive_cumulative(&mut self, remarks: &mut Remarks) {
        let (paid, paid_seen) = (self.paid(OUTERMOST), self.paid(SEEN));
        for (metric, function) in product(self.metrics, self.functions.len()) {
            let at = function * self.metrics + metric;
            let known = &self.function_states[function];
            let key = (index(metric), index(function), NONE);
            let figures = self.figures(&known.count, &self.function_sums[at], key);
            let Derived {
                called,
                left,
                cumulative,
                seen,
                ..
            } = &mut self.derived[at];
            let own_and = |part: Option<f64>| {
                figures
                    .exclusive
                    .zip(part)
                    .map(|(exclusive, part)| exclusive + part)
            };
            *seen = own_and(*called);
            if !known.mentioned || figures.cumulative.is_some() {
                continue;
            }
            let own_and_left = own_and(*left);
            let in_a_circle = self.recursions[function] == Recursion::WithOthers;
            *cumulative = match (own_and_left.filter(|_| !in_a_circle), paid[at]) {
                // What a call is said to cost is never below 0: Xdebug writes 0 where memory was
                // set free.
                (Some(sum), Paid::Known(paid))
                    if paid > sum && sum >= 0.0 && !is_close(paid, sum) =>
                {
                    remarks.paid_more.add(key.1);
                    *seen = paid_seen[at].known();
                    Some(paid)
                }
                (None, Paid::Known(paid)) if in_a_circle => Some(paid),
                (sum, _) => sum,
            };
            if in_a_circle && cumulative.is_none() && metric == self.default {
                remarks.in_circles.add(key.1);
            }
        }
    }

    /// Counts functions whose cumulative cost is not what all their callers paid, where that is
    /// known.
    fn compare_with_callers(&self, remarks: &mut Remarks) {
        let paid = self.paid(OUTERMOST);
        for (metric, function) in product(self.metrics, self.functions.len()) {
            let Paid::Known(paid) = paid[function * self.metrics + metric] else {
                continue;
            };
            let cumulative = self
                .function_row(metric, function)
                .and_then(|row| row.figures.cumulative);
            if cumulative.is_some_and(|cumulative| !is_close(cumulative, paid)) {
                remarks.not_paid.add(index(function));
            }
        }
    }

    /// What callers paid by one of the costs of their calls, one per function and metric.
    fn paid(&self, cost: usize) -> Vec<Paid> {
        let mut paid = vec![Paid::default(); self.functions.len() * self.metrics];
        for (metric, at) in product(self.metrics, self.edges.len()) {
            let part = self.edge_sums[at * self.metrics + metric].get(cost);
            paid[self.edges[at].callee as usize * self.metrics + metric].add(part);
        }
        paid
    }
}

/// Whether two sums differ by no more than rounding.
fn is_close(a: f64, b: f64) -> bool {
    (a - b).abs() <= ROUNDING * (a.abs() + b.abs()) + 1e-6
}
