//! What a file that knows no paths leaves unknown, derived from its edges; and whether what it says
//! of functions is what their callers add up to.

use super::Totals;
use super::edges::KnownEdge;
use crate::base::interner::{Grid, Id, Table};
use crate::base::scc::components;
use crate::events::{EdgeKind, Fidelity, FunctionId, MetricId, ROUNDING, slack};
use crate::profile::ids::EdgeId;
use crate::profile::notes::{NoteCount, Notes};
use crate::profile::rows::InfoFigures;
use crate::profile::sums::{CallCount, EdgePart, EdgeSums};

/// Whether a function can be called while a call of it is under way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Recursion {
    Never,
    /// It calls itself, and through no other function.
    Alone,
    WithOthers,
}

/// What edges say of a function in one metric.
#[derive(Clone, Copy)]
struct Derived {
    calls: Option<CallCount>,
    /// Calls from functions with which it does not recur; `None` if it recurs with others.
    primitive: Option<CallCount>,
    /// Cost of everything it called.
    called: Option<f64>,
    /// The part of it that went to functions with which it does not recur, and the number of calls
    /// that this is the sum of.
    left: Option<f64>,
    left_figures: u32,
    /// Cost with everything called, recursion counted once.
    cumulative: Option<f64>,
    /// Cost with everything called, every level of recursion counted.
    seen: Option<f64>,
}

impl Derived {
    const NOTHING: Self = Self {
        calls: None,
        primitive: None,
        called: Some(0.0),
        left: Some(0.0),
        left_figures: 0,
        cumulative: None,
        seen: None,
    };
}

/// What all callers of a function say that it cost them, in one metric, by one of the costs of
/// their calls.
#[derive(Clone, Copy, Default)]
enum Paid {
    #[default]
    NeverCalled,
    /// The cost of one of the calls is unknown.
    Unknown,
    /// The sum of so many figures.
    Known(f64, u32),
}

impl Paid {
    fn known(self) -> Option<f64> {
        match self {
            Self::Known(paid, _) => Some(paid),
            Self::NeverCalled | Self::Unknown => None,
        }
    }

    fn add(&mut self, part: Option<f64>) {
        *self = match (*self, part) {
            (Self::NeverCalled, Some(part)) => Self::Known(part, 1),
            (Self::Known(sum, figures), Some(part)) => {
                Self::Known(sum + part, figures.saturating_add(1))
            }
            (Self::Unknown, _) | (_, None) => Self::Unknown,
        };
    }
}

type Grids<T> = Grid<FunctionId, MetricId, T>;

/// What edges tell of functions. Empty for a run that knows paths.
#[derive(Default)]
pub(in crate::profile) struct Derivation {
    recursions: Table<FunctionId, Recursion>,
    derived: Grids<Derived>,
    /// A function whose calls are known by its callers alone, and add up to more than a REAL holds exactly.
    exceeded: Option<FunctionId>,
}

impl Derivation {
    /// Derives what a file that knows no paths leaves unknown, and fills it into the sums of its
    /// edges. A call from one component of the call graph to another has no call of the callee
    /// around it, so that its three costs are one; a call of a function by itself is never
    /// outermost. Everything else within a component stays unknown. Notes count what becomes of
    /// that in the figures of functions. `default` is the metric in which every function has a row,
    /// `rounding` the unit to which the file rounds figures, and
    /// `stated` the totals that it states, by metric.
    pub(in crate::profile) fn of(
        totals: &mut Totals,
        fidelity: Fidelity,
        default: MetricId,
        rounding: &[f64],
        stated: &[Option<f64>],
        notes: &mut Notes,
    ) -> Self {
        let mut derivation = Self::default();
        if fidelity == Fidelity::Edges {
            // In this order: cumulative costs are made of what calls add up to, and all of them are
            // compared at last.
            derivation.derive_calls(totals);
            derivation.derive_cumulative(totals, rounding, notes);
            let above = &mut notes.above_total;
            derivation.compare_with_totals(totals, rounding, stated, above);
        }
        if fidelity == Fidelity::Flat {
            let above = &mut notes.above_sum;
            derivation.compare_with_totals(totals, rounding, stated, above);
        }
        // What nodes add up to for functions they add up to for edges.
        if fidelity == Fidelity::Edges || totals.recorded.has_functions() {
            derivation.compare_with_callers(totals, default, rounding, notes);
        }
        derivation
    }

    /// Whether it is known that a function never recurs.
    pub(super) fn never_recurs(&self, function: FunctionId) -> bool {
        self.recursions.get(function) == Some(&Recursion::Never)
    }

    /// Fills in figures of a function that the file does not state.
    pub(super) fn fill(&self, function: FunctionId, metric: MetricId, figures: &mut InfoFigures) {
        let Some(derived) = self.derived.get(function, metric) else {
            return;
        };
        figures.seen = figures.seen.or(derived.seen);
        figures.cumulative = figures.cumulative.or(derived.cumulative);
        if figures.calls.is_none() {
            figures.calls = derived.calls.and_then(CallCount::get);
            let primitive = derived.primitive.and_then(CallCount::get);
            figures.primitive = figures.primitive.or(primitive);
        }
    }

    /// A function whose calls no one states, and which are more than are exact when those of its callers are added up.
    pub(in crate::profile) fn exceeded(&self) -> Option<FunctionId> {
        self.exceeded
    }

    /// Whether all sums are finite: sums of finite costs may not be.
    pub(in crate::profile) fn is_finite(&self) -> bool {
        let sums = self.derived.cells().iter().flat_map(|derived| {
            [
                derived.called,
                derived.left,
                derived.cumulative,
                derived.seen,
            ]
        });
        sums.flatten().all(f64::is_finite)
    }

    fn derive_calls(&mut self, totals: &mut Totals) {
        let Totals {
            metrics,
            functions,
            sites,
            edges,
            edge_sums,
            ..
        } = totals;
        let caller_of = |edge: &KnownEdge| sites.table()[edge.site].caller;
        // Back edges are calls, too: they close circles that the others do not show.
        let pairs = edges.table().iter().filter_map(|(_, edge)| {
            let caller = caller_of(edge)?;
            Some((caller.0, edge.callee.0))
        });
        let calls: Vec<(u32, u32)> = pairs.collect();
        let component = components(functions.len(), &calls);
        self.recursions = recursions(&component, &calls).into();
        self.derived = Grid::filled(functions.len(), *metrics, Derived::NOTHING);
        let component = |function: FunctionId| component[function.index()];
        let mut exceeded = Vec::new();
        for metric in metric_ids(*metrics) {
            for (id, edge) in edges.table().iter() {
                let (caller, callee) = (caller_of(edge), edge.callee);
                let leaves = caller.is_none_or(|caller| component(caller) != component(callee));
                let sums = &mut edge_sums[(id, metric)];
                if leaves {
                    unify(sums);
                } else if caller == Some(callee) && edge.kind == EdgeKind::Call {
                    sums.fill(EdgePart::Outermost, Some(0.0));
                }
                // A back edge has no cost of its own: to add it would make the sums unknown.
                if edge.kind == EdgeKind::Back {
                    continue;
                }
                let seen = sums.get(EdgePart::Seen);
                let of_callee = &mut self.derived[(callee, metric)];
                let calls = edge.calls.get();
                if !of_callee.calls.get_or_insert_default().add(calls) {
                    exceeded.push((callee, metric));
                }
                if leaves && self.recursions[callee] != Recursion::WithOthers {
                    of_callee.primitive.get_or_insert_default().add(calls);
                }
                if let Some(caller) = caller {
                    let of_caller = &mut self.derived[(caller, metric)];
                    let add = |sum: Option<f64>| sum.zip(seen).map(|(sum, part)| sum + part);
                    of_caller.called = add(of_caller.called);
                    if leaves {
                        of_caller.left = add(of_caller.left);
                        of_caller.left_figures = of_caller.left_figures.saturating_add(1);
                    }
                }
            }
        }
        let states_none = |(function, metric): &(FunctionId, MetricId)| {
            let figures = totals.function_figures(*function, *metric);
            figures.calls.is_none()
        };
        let exceeded = exceeded.into_iter().find(states_none);
        self.exceeded = exceeded.map(|(function, _)| function);
    }

    /// Cumulative costs that the file does not state: own cost and that of what was called
    /// elsewhere, if the function recurs with no other; if it recurs alone, that is in its
    /// outermost calls, whichever level called. Some profilers leave out own costs or calls: where
    /// the callers paid more, that is what it cost.
    fn derive_cumulative(&mut self, totals: &Totals, rounding: &[f64], notes: &mut Notes) {
        let (paid, paid_seen) = (
            paid(totals, EdgePart::Outermost),
            paid(totals, EdgePart::Seen),
        );
        for metric in metric_ids(totals.metrics) {
            for (function, state) in totals.states.iter() {
                let figures = totals.function_figures(function, metric);
                let derived = &mut self.derived[(function, metric)];
                let own_and = |part: Option<f64>| {
                    figures
                        .exclusive
                        .zip(part)
                        .map(|(exclusive, part)| exclusive + part)
                };
                // Also where the file states the cumulative cost: it may state no other one.
                derived.seen = own_and(derived.called);
                if !state.mentioned || figures.cumulative.is_some() {
                    continue;
                }
                let own_and_left = own_and(derived.left);
                let in_a_circle = self.recursions[function] == Recursion::WithOthers;
                let paid = paid[(function, metric)];
                let (unit, left) = (rounding[metric.index()], derived.left_figures);
                derived.cumulative = match (own_and_left.filter(|_| !in_a_circle), paid) {
                    // What a call is said to cost is never below 0: Xdebug writes 0 where memory
                    // was set free.
                    (Some(sum), Paid::Known(paid, figures))
                        if paid > sum
                            && sum >= 0.0
                            && !is_close(paid, sum, slack(unit, figures.saturating_add(left))) =>
                    {
                        notes.paid_more.add(function);
                        derived.seen = paid_seen[(function, metric)].known();
                        Some(paid)
                    }
                    // Known only where the file itself says of the calls within the circle what
                    // they cost outermost (case `callgrind/recursion-levels`).
                    (None, Paid::Known(paid, _)) if in_a_circle => Some(paid),
                    (sum, _) => sum,
                };
                if in_a_circle && derived.cumulative.is_none() && metric == NOTED {
                    notes.in_circles.add(function);
                }
            }
        }
    }

    /// Counts cumulative costs that are more than the total of the run: what the file states, or what functions cost
    /// themselves. Profilers round, or measure a call and what happened in it by two clocks.
    fn compare_with_totals(
        &self,
        totals: &Totals,
        rounding: &[f64],
        stated: &[Option<f64>],
        above: &mut NoteCount,
    ) {
        for metric in metric_ids(totals.metrics) {
            let figures = |function: FunctionId| {
                let mut figures = totals.function_figures(function, metric);
                self.fill(function, metric, &mut figures);
                figures
            };
            let mentioned = || {
                let states = totals.states.iter();
                states.filter(|(_, state)| state.mentioned)
            };
            let own = mentioned().filter_map(|(function, _)| figures(function).exclusive);
            let (sum, parts) = own.fold((0.0, 0_u32), |(sum, parts), cost| {
                (sum + cost, parts.saturating_add(1))
            });
            let stated = stated.get(metric.index()).copied().flatten();
            let total = stated.unwrap_or(sum);
            let slack = slack(rounding[metric.index()], parts);
            for (function, _) in mentioned() {
                let cumulative = figures(function).cumulative;
                if cumulative.is_some_and(|cost| cost > total && !is_close(cost, total, slack)) {
                    above.add(function);
                }
            }
        }
    }

    /// Counts functions whose cumulative cost is not what all their callers paid, where that is
    /// known: of those that have a row, which in the metric `default` are all.
    fn compare_with_callers(
        &self,
        totals: &Totals,
        default: MetricId,
        rounding: &[f64],
        notes: &mut Notes,
    ) {
        let paid = paid(totals, EdgePart::Outermost);
        for metric in metric_ids(totals.metrics) {
            for (function, state) in totals.states.iter() {
                let Paid::Known(paid, parts) = paid[(function, metric)] else {
                    continue;
                };
                let slack = slack(rounding[metric.index()], parts);
                let mut figures = totals.function_figures(function, metric);
                self.fill(function, metric, &mut figures);
                let is_compared = state.mentioned && (metric == default || figures.has_cost());
                let differs = |cumulative| !is_close(cumulative, paid, slack);
                if is_compared && figures.cumulative.is_some_and(differs) {
                    notes.not_paid.add(function);
                }
            }
        }
    }
}

/// The metric by which functions in circles are counted, each of them once: whether they are in one is
/// no matter of a metric.
const NOTED: MetricId = MetricId(0);

fn metric_ids(metrics: usize) -> impl Iterator<Item = MetricId> {
    (0..metrics).map(MetricId::new)
}

/// How functions recur: `component` of each, and all calls.
fn recursions(component: &[u32], calls: &[(u32, u32)]) -> Vec<Recursion> {
    let mut sizes = vec![0_usize; component.len()];
    for component in component {
        sizes[*component as usize] += 1;
    }
    let of_size = |component: &u32| match sizes[*component as usize] {
        1 => Recursion::Never,
        _ => Recursion::WithOthers,
    };
    let mut recursions: Vec<Recursion> = component.iter().map(of_size).collect();
    for (caller, callee) in calls {
        let recursion = &mut recursions[*callee as usize];
        // `WithOthers` stays: a function that also calls itself recurs through the others all the
        // same.
        if caller == callee && *recursion == Recursion::Never {
            *recursion = Recursion::Alone;
        }
    }
    recursions
}

/// Where a call has no call of the callee around it, the costs of the edge are one.
fn unify(sums: &mut EdgeSums) {
    let known = sums
        .get(EdgePart::Seen)
        .or(sums.get(EdgePart::Cumulative))
        .or(sums.get(EdgePart::Outermost));
    for part in [EdgePart::Cumulative, EdgePart::Outermost, EdgePart::Seen] {
        sums.fill(part, known);
    }
}

/// What callers paid, by one of the costs of their calls.
fn paid(totals: &Totals, part: EdgePart) -> Grids<Paid> {
    let mut paid = Grid::filled(totals.functions.len(), totals.metrics, Paid::default());
    for metric in metric_ids(totals.metrics) {
        for (id, edge) in totals.edges.table().iter() {
            let id: EdgeId = id;
            paid[(edge.callee, metric)].add(totals.edge_sums[(id, metric)].get(part));
        }
    }
    paid
}

/// Whether two sums differ by no more than rounding, of the file (`slack`) and of our own.
fn is_close(a: f64, b: f64, slack: f64) -> bool {
    // The fixed part is for sums near 0, where a part of them is nothing. The law that counts these
    // functions compares in the same way (tests/round_trips/callers.rs).
    (a - b).abs() <= ROUNDING * (a.abs() + b.abs()) + 1e-6 + slack
}
