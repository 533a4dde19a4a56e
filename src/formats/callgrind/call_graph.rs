//! The call graph, added up line by line before it is emitted: the format knows no paths, and the
//! last line of a file may add to its first function.

use std::hash::Hash;

use hashbrown::{HashMap, HashSet};

use crate::base::error::{ImportError, Position};
use crate::base::scc::components;
use crate::events::{
    Edge, EdgeCost, EdgeKind, Frame, FunctionDef, FunctionId, Info, Line, MetricId, Note, Severity,
    Sink,
};
use crate::formats::common::counted::many;
use crate::formats::common::names::{NameId, NameTable};

/// Figures for each byte of the file: costs that are 0 may be left out, so that a few
/// bytes make a line or call with a figure in every metric. What Valgrind writes with all of its
/// events stays below 4.
const RATIO: u64 = 4;

/// Figures below which [`RATIO`] does not matter.
const FLOOR: u64 = 1 << 18;

/// A function as the file names it: object, file and name.
pub(super) type Key = (NameId, NameId, NameId);

/// A function, and whether a call of it was under way already.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Level {
    pub(super) function: usize,
    pub(super) deeper: bool,
}

/// A line and its file.
pub(super) type FileLine = (NameId, u32);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Pair {
    caller: Level,
    place: FileLine,
    callee: Level,
}

/// A figure and the number of its metric.
pub(super) type Figure = (usize, f64);

/// What the cost of a call means where functions recur.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum CallCost {
    /// Every level is counted.
    #[default]
    EveryLevel,
    /// Of the same caller and callee within each other the outermost counts.
    OncePerPair,
    /// Calls of a function that is open already count 0.
    Outermost,
}

/// The graph.
#[derive(Default)]
pub(super) struct CallGraph {
    /// Own cost.
    functions: CostTable<Key>,
    /// Whether the file states own cost of a function. One per function, as far as there is one
    /// that does.
    stated: Vec<bool>,
    /// Cost of the outermost level of a function with what it called.
    outermost: CostTable<usize>,
    /// Own cost.
    lines: CostTable<(usize, FileLine)>,
    /// Cost of the calls with what they called.
    edges: CostTable<Pair>,
    /// Metrics in which the cost of a call is not that of everything called.
    of_calls_alone: Vec<usize>,
    /// One per edge. A call that began in an earlier part of the file counts 0, so that only a sum
    /// of 0 is unknown.
    calls: Vec<u64>,
}

impl CallGraph {
    /// Another metric, the next number.
    pub(super) fn add_metric(&mut self) {
        self.functions.add_metric();
        self.outermost.add_metric();
        self.lines.add_metric();
        self.edges.add_metric();
    }

    /// Refuses a file that leaves out so many costs that they would take memory out of proportion.
    pub(super) fn check_size(&self, at: Position) -> Result<(), ImportError> {
        let Self {
            functions,
            outermost,
            lines,
            edges,
            ..
        } = self;
        let things =
            functions.keys.len() + outermost.keys.len() + lines.keys.len() + edges.keys.len();
        let figures = (things * functions.values.len()) as u64;
        if figures <= FLOOR.max(RATIO.saturating_mul(at.byte)) {
            return Ok(());
        }
        let limit = format!("{RATIO} costs for each byte of the file (limit: omitted costs)");
        Err(ImportError::Limit {
            position: at,
            limit,
        })
    }

    /// The number of a function.
    pub(super) fn function(&mut self, key: Key) -> usize {
        self.functions.at(key)
    }

    /// The first function turns out to be the second one. Nothing changes where both are known
    /// already.
    pub(super) fn settle(&mut self, from: Key, to: Key) {
        self.functions.rename(from, to);
    }

    /// The name of a function.
    pub(super) fn name(&self, level: Level) -> Option<NameId> {
        self.functions
            .keys
            .get(level.function)
            .map(|(_, _, name)| *name)
    }

    /// What a call costs in this metric is no cost of what was called.
    pub(super) fn counts_calls_alone(&mut self, metric: usize) {
        self.of_calls_alone.push(metric);
    }

    /// Adds own cost of a line. Line 0 is unknown.
    pub(super) fn cost(&mut self, level: Level, place: FileLine, figures: &[Figure]) {
        self.functions.add(level.function, figures);
        if self.stated.len() <= level.function {
            self.stated.resize(level.function + 1, false);
        }
        if let Some(stated) = self.stated.get_mut(level.function) {
            *stated = true;
        }
        if place.1 != 0 {
            let line = self.lines.at((level.function, place));
            self.lines.add(line, figures);
        }
        self.cost_outermost(level, figures);
    }

    /// Adds calls from a line, with all that they cost.
    pub(super) fn call(
        &mut self,
        (caller, place): (Level, FileLine),
        callee: Level,
        calls: u64,
        figures: &[Figure],
    ) {
        let edge = self.edges.at(Pair {
            caller,
            place,
            callee,
        });
        self.edges.add(edge, figures);
        // Edges are numbered as they come, so that only a new one has the next number.
        if edge == self.calls.len() {
            self.calls.push(0);
        }
        if let Some(sum) = self.calls.get_mut(edge) {
            *sum = sum.saturating_add(calls);
        }
        // A line that only calls has no cost, and is a line of its function all the same.
        if place.1 != 0 {
            self.lines.at((caller.function, place));
        }
        self.cost_outermost(caller, figures);
    }

    fn cost_outermost(&mut self, level: Level, figures: &[Figure]) {
        if !level.deeper {
            let at = self.outermost.at(level.function);
            self.outermost.add(at, figures);
        }
    }

    /// Whether there is any call.
    pub(super) fn has_calls(&self) -> bool {
        !self.edges.keys.is_empty()
    }

    /// What all functions cost themselves.
    pub(super) fn total(&self, metric: usize, own: &OwnCosts) -> f64 {
        (0..self.functions.keys.len())
            .filter_map(|function| self.own(metric, function, own))
            .sum()
    }

    /// Returns the own costs that a damaged file leaves out: those of all functions that have none.
    pub(super) fn unknown_own_costs(&self) -> OwnCosts {
        let is_unknown = |function: &usize| !self.stated.get(*function).copied().unwrap_or(false);
        OwnCosts {
            unknown: (0..self.functions.keys.len()).filter(is_unknown).collect(),
            ..OwnCosts::default()
        }
    }

    /// Own cost that the file leaves out although calls of the function cost more than what it
    /// called: the difference, or, where functions call each other in a circle, unknown. It is also
    /// unknown of functions without a caller, if the writer tells own costs of functions that are
    /// called.
    pub(super) fn own_costs(&self, meaning: CallCost) -> OwnCosts {
        let mut own = OwnCosts::default();
        let count = self.functions.keys.len();
        let is_stated = |function: usize| self.stated.get(function).copied().unwrap_or(false);
        let has_levels = self.edges.keys.iter().any(|pair| pair.callee.deeper);
        // What callers paid says what a function cost only where levels of recursion are not told
        // apart and all that a call cost is counted.
        if has_levels || !self.of_calls_alone.is_empty() || (0..count).all(is_stated) {
            return own;
        }
        let number = |level: Level| u32::try_from(level.function).unwrap_or(u32::MAX);
        let calls: Vec<(u32, u32)> = self
            .edges
            .keys
            .iter()
            .map(|pair| (number(pair.caller), number(pair.callee)))
            .collect();
        let component = components(count, &calls);
        let mut sizes = vec![0_usize; count];
        for component in &component {
            if let Some(size) = sizes.get_mut(*component as usize) {
                *size += 1;
            }
        }
        let of = |function: usize| component.get(function).copied();
        let in_a_circle = |function| {
            of(function)
                .and_then(|of| sizes.get(of as usize))
                .is_some_and(|size| *size > 1)
        };
        let metrics = self.functions.values.len();
        let mut left = vec![vec![0.0; count]; metrics];
        for (at, Pair { caller, callee, .. }) in self.edges.keys.iter().enumerate() {
            let (caller, callee) = (caller.function, callee.function);
            // Within a circle callers pay for each other, and the same cost several times.
            if of(caller) == of(callee) {
                continue;
            }
            for (metric, left) in left.iter_mut().enumerate() {
                let cost = self.edges.value(metric, at);
                if let Some(left) = left.get_mut(callee) {
                    *left += cost;
                }
                if let Some(left) = left.get_mut(caller) {
                    *left -= cost;
                }
            }
        }
        let is_called: HashSet<usize> = self
            .edges
            .keys
            .iter()
            .map(|pair| pair.callee.function)
            .collect();
        for function in
            (0..count).filter(|function| !is_stated(*function) && is_called.contains(function))
        {
            let figures: Vec<f64> = left
                .iter()
                .map(|left| left.get(function).copied().unwrap_or(0.0))
                .collect();
            if in_a_circle(function) {
                own.unknown.insert(function);
            } else if figures.iter().any(|figure| *figure > 0.0) {
                own.worked_out.insert(function, figures);
            }
        }
        // Outside of circles no own cost is missing, so that the writer leaves none out: functions
        // in circles that have none cost nothing themselves.
        if own.worked_out.is_empty() {
            own.unknown.clear();
        }
        if meaning == CallCost::Outermost {
            // Of functions that are called it is always there.
            own.unknown.extend(
                (0..count)
                    .filter(|function| !is_stated(*function) && !is_called.contains(function)),
            );
        }
        own
    }

    /// Own cost of a function; `None` if it is unknown.
    fn own(&self, metric: usize, function: usize, own: &OwnCosts) -> Option<f64> {
        if own.unknown.contains(&function) {
            return None;
        }
        let worked_out = own
            .worked_out
            .get(&function)
            .and_then(|figures| figures.get(metric));
        Some(worked_out.map_or_else(
            || self.functions.value(metric, function),
            // It is worked out for all metrics together, and in another one the callers may have
            // paid less than was called.
            |figure| figure.max(0.0),
        ))
    }

    /// Emits functions, lines and calls.
    pub(super) fn emit(
        &self,
        sink: &mut dyn Sink,
        names: &NameTable,
        metrics: &[MetricId],
        own: &OwnCosts,
        meaning: CallCost,
    ) {
        let functions = self.functions(sink, names);
        let levels = Levels::of(&self.edges);
        self.emit_edges(sink, names, metrics, &functions, (&levels, meaning));
        self.emit_infos(sink, names, metrics, &functions, (&levels, own));
        self.note_own(sink, names, own);
    }

    fn note_own(&self, sink: &mut dyn Sink, names: &NameTable, own: &OwnCosts) {
        let mut note = |functions: &mut dyn Iterator<Item = usize>, what: &str| {
            let functions: Vec<usize> = functions.collect();
            // The first one of the file: the order of a hash map must not show.
            let first = functions
                .iter()
                .min()
                .and_then(|first| self.functions.keys.get(*first));
            let Some((_, _, name)) = first else { return };
            let name = names.text(*name);
            let count = many(functions.len() as u64, "function");
            let message =
                format!("the file has no exclusive costs for {count} (first: `{name}`): {what}");
            sink.note(Note {
                severity: Severity::Warning,
                position: None,
                message: &message,
            });
        };
        note(
            &mut own.worked_out.keys().copied(),
            "computed as the inclusive cost minus that of the callees",
        );
        note(&mut own.unknown.iter().copied(), "stored as unknown");
    }

    /// Names all functions: ids by number.
    pub(super) fn functions(&self, sink: &mut dyn Sink, names: &NameTable) -> Vec<FunctionId> {
        let mut id = |(object, file, name): &Key| {
            let (module, file) = (names.text(*object), names.text(*file));
            sink.function(FunctionDef {
                module,
                file,
                ..FunctionDef::named(names.text(*name))
            })
        };
        self.functions.keys.iter().map(&mut id).collect()
    }

    fn emit_edges(
        &self,
        sink: &mut dyn Sink,
        names: &NameTable,
        metrics: &[MetricId],
        functions: &[FunctionId],
        (levels, meaning): (&Levels, CallCost),
    ) {
        let mut costs = Vec::new();
        for ((at, pair), calls) in self.edges.keys.iter().enumerate().zip(&self.calls) {
            let frame = self.frame(pair.caller.function, pair.place, names, functions);
            let (Some(caller), Some(callee)) = (frame, functions.get(pair.callee.function)) else {
                continue;
            };
            costs.clear();
            for (index, metric) in metrics.iter().enumerate() {
                let cost = self.edges.value(index, at);
                let unknown = EdgeCost {
                    metric: *metric,
                    exclusive: None,
                    cumulative: None,
                    outermost: None,
                    seen: None,
                };
                let part = |counts: bool| if counts { cost } else { 0.0 };
                // Each writer means one of the sums by the cost of a call, and says nothing of the
                // others (docs/conformance.md, "callgrind: other writers").
                costs.push(match meaning {
                    _ if self.of_calls_alone.contains(&index) => unknown,
                    CallCost::EveryLevel => EdgeCost {
                        cumulative: levels.once(pair).map(part),
                        outermost: levels.outermost(pair).map(part),
                        seen: Some(cost),
                        ..unknown
                    },
                    CallCost::OncePerPair => EdgeCost {
                        cumulative: Some(cost),
                        ..unknown
                    },
                    CallCost::Outermost => EdgeCost {
                        outermost: Some(cost),
                        ..unknown
                    },
                });
            }
            let (callee, kind, calls) = (*callee, EdgeKind::Call, (*calls > 0).then_some(*calls));
            sink.edge(Edge {
                callee,
                caller: Some(caller),
                kind,
                calls,
                costs: &costs,
            });
        }
    }

    fn emit_infos(
        &self,
        sink: &mut dyn Sink,
        names: &NameTable,
        metrics: &[MetricId],
        functions: &[FunctionId],
        (levels, own): (&Levels, &OwnCosts),
    ) {
        let primitive = levels.primitive(&self.edges, &self.calls);
        for (index, metric) in metrics.iter().enumerate() {
            let info = |frame, exclusive| Info {
                frame,
                metric: *metric,
                calls: None,
                primitive: None,
                exclusive,
                cumulative: None,
                seen: None,
            };
            for (at, function) in functions.iter().enumerate() {
                let outermost = self.outermost.index.get(&at).filter(|_| levels.knows(at));
                sink.info(Info {
                    primitive: primitive.get(&at).copied().filter(|calls| *calls > 0),
                    cumulative: outermost.map(|outermost| self.outermost.value(index, *outermost)),
                    ..info(Frame::function(*function), self.own(index, at, own))
                });
            }
            for (at, (function, place)) in self.lines.keys.iter().enumerate() {
                if let Some(frame) = self.frame(*function, *place, names, functions) {
                    sink.info(info(frame, Some(self.lines.value(index, at))));
                }
            }
        }
    }

    /// The frame of a line, or of the function where the line is unknown.
    fn frame<'n>(
        &self,
        function: usize,
        (file, line): FileLine,
        names: &'n NameTable,
        functions: &[FunctionId],
    ) -> Option<Frame<'n>> {
        let (_, own_file, _) = *self.functions.keys.get(function)?;
        let file = if file == own_file {
            ""
        } else {
            names.text(file)
        };
        let line = (line != 0).then_some(Line { file, line, col: 0 });
        Some(Frame {
            function: *functions.get(function)?,
            line,
        })
    }
}

/// Own costs of functions of which the file states none.
#[derive(Default)]
pub(super) struct OwnCosts {
    /// One per metric.
    worked_out: HashMap<usize, Vec<f64>>,
    unknown: HashSet<usize>,
}

/// Things with a sum per metric, in the order in which they came.
struct CostTable<K> {
    index: HashMap<K, usize>,
    keys: Vec<K>,
    /// By metric.
    values: Vec<Vec<f64>>,
}

impl<K> Default for CostTable<K> {
    fn default() -> Self {
        Self {
            index: HashMap::new(),
            keys: Vec::new(),
            values: Vec::new(),
        }
    }
}

impl<K: Copy + Eq + Hash> CostTable<K> {
    fn at(&mut self, key: K) -> usize {
        let next = self.keys.len();
        let at = *self.index.entry(key).or_insert(next);
        if at == next {
            self.keys.push(key);
            // By metric, because an event may come with a later part (case `callgrind/parts`): it
            // is a column more, and nothing that is there moves.
            self.values.iter_mut().for_each(|values| values.push(0.0));
        }
        at
    }

    /// The thing with one key gets another one, if nothing has it yet.
    fn rename(&mut self, from: K, to: K) {
        // Other tables know both by their numbers by then, so that they stay two.
        if self.index.contains_key(&to) {
            return;
        }
        if let Some(at) = self.index.remove(&from) {
            self.index.insert(to, at);
            if let Some(key) = self.keys.get_mut(at) {
                *key = to;
            }
        }
    }

    /// Adds figures to metrics.
    fn add(&mut self, at: usize, figures: &[(usize, f64)]) {
        for (metric, figure) in figures {
            if let Some(value) = self
                .values
                .get_mut(*metric)
                .and_then(|values| values.get_mut(at))
            {
                *value += figure;
            }
        }
    }

    fn add_metric(&mut self) {
        self.values.push(vec![0.0; self.keys.len()]);
    }

    fn value(&self, metric: usize, at: usize) -> f64 {
        self.values
            .get(metric)
            .and_then(|values| values.get(at))
            .copied()
            .unwrap_or(0.0)
    }
}

/// What levels of recursion show. They show it of all functions or, where no function has them, of
/// none.
struct Levels {
    known: bool,
    /// Functions that call themselves on their first level: they were left out of the levels.
    mixed: HashSet<usize>,
    /// Functions of which a deeper level was called by another one.
    through_others: HashSet<usize>,
    /// Caller and callee, both on a deeper level: whether the same pair is further out cannot be
    /// told.
    uncertain: HashSet<(usize, usize)>,
}

impl Levels {
    fn of(edges: &CostTable<Pair>) -> Self {
        let known = edges.keys.iter().any(|pair| pair.callee.deeper);
        let mut levels = Self {
            known,
            mixed: HashSet::new(),
            through_others: HashSet::new(),
            uncertain: HashSet::new(),
        };
        for Pair { caller, callee, .. } in &edges.keys {
            let by_itself = caller.function == callee.function;
            if by_itself && !callee.deeper {
                levels.mixed.insert(callee.function);
            }
            if callee.deeper && !by_itself {
                levels.through_others.insert(callee.function);
            }
        }
        // A second time, because all edges decide whether only the function itself calls its deeper
        // levels.
        for Pair { caller, callee, .. } in &edges.keys {
            let by_itself = caller.function == callee.function;
            let around = by_itself && !levels.through_others.contains(&callee.function);
            if caller.deeper && callee.deeper && !around {
                levels.uncertain.insert((caller.function, callee.function));
            }
        }
        levels
    }

    fn knows(&self, function: usize) -> bool {
        self.known && !self.mixed.contains(&function)
    }

    /// Whether the callee is outermost; `None` if unknown.
    fn outermost(&self, pair: &Pair) -> Option<bool> {
        self.knows(pair.callee.function)
            .then_some(!pair.callee.deeper)
    }

    /// Whether no call of the same pair is around this one; `None` if unknown. If the caller or the
    /// callee is outermost there is none; where only the function itself calls its deeper levels,
    /// there is one around all but the first of them.
    fn once(&self, pair: &Pair) -> Option<bool> {
        let (caller, callee) = (pair.caller, pair.callee);
        let known = self.knows(caller.function)
            && self.knows(callee.function)
            && !self.uncertain.contains(&(caller.function, callee.function));
        known.then_some(!(caller.deeper && callee.deeper))
    }

    /// How often each function was called from outside.
    fn primitive(&self, edges: &CostTable<Pair>, calls: &[u64]) -> HashMap<usize, u64> {
        let mut primitive = HashMap::new();
        for (Pair { callee, .. }, calls) in edges.keys.iter().zip(calls) {
            if self.knows(callee.function) && !callee.deeper {
                let sum = primitive.entry(callee.function).or_insert(0_u64);
                *sum = sum.saturating_add(*calls);
            }
        }
        primitive
    }
}

/// Costs of a record in words.
pub(super) struct Shown<'f>(pub(super) u64, pub(super) &'f [Figure]);

impl std::fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0 > 0 {
            write!(f, "{} times ", self.0)?;
        }
        for (at, (_, figure)) in self.1.iter().enumerate() {
            write!(f, "{}{figure}", if at == 0 { "" } else { " " })?;
        }
        Ok(())
    }
}
