//! What a log of GHC's cost-centre stacks says: kept until the log ends, then emitted as a tree.

use std::collections::{HashMap, HashSet};

use crate::base::error::Position;
use crate::events::{
    Cost, Edge, EdgeKind, Frame, FunctionDef, FunctionId, Kind, MetricId, Noise, Note, RunFact,
    Severity, Sink, Unit,
};
use crate::formats::common::counted::{Counted, many};
use crate::formats::common::missing_frames::MISSING_FRAME;
use crate::formats::ghc::built_in::{BUILT_IN, ROOT, made_up};
use crate::formats::ghc::centres::real;

/// How many centres the RTS of late 2011 registers after `MAIN`, all undeclared.
const UNDECLARED_BUILT_IN: u64 = 4;

/// Pairs of caller and callee whose arrivals over back edges have a note of their own; the rest is
/// counted.
const MARKED_PAIRS: usize = 20;

/// No stack.
pub(super) const NONE: u32 = u32::MAX;

/// Returns the kind of a declared cost centre.
pub(super) fn kind_of(label: &str, module: &str) -> Kind {
    if BUILT_IN.contains(&(label, module)) || label == MISSING_FRAME {
        Kind::Pseudo
    } else {
        Kind::Function
    }
}

/// A cost centre.
pub(super) struct Centre {
    pub(super) number: u64,
    /// Label and module; `None` until it is declared.
    pub(super) name: Option<(String, String)>,
    /// Where it is declared; until then, where it was first mentioned.
    pub(super) position: Position,
    pub(super) used: bool,
}

impl Centre {
    fn def<'a>(&'a self, made_up: &'a str) -> FunctionDef<'a> {
        match &self.name {
            Some((label, module)) => {
                let kind = kind_of(label, module);
                let name = if label.is_empty() { made_up } else { label };
                FunctionDef {
                    kind,
                    name,
                    module,
                    ..FunctionDef::default()
                }
            }
            // Not known to be code of the program.
            None => FunctionDef {
                kind: Kind::Pseudo,
                ..FunctionDef::named(made_up)
            },
        }
    }
}

/// A cost-centre stack: a node of the tree.
pub(super) struct Stack {
    pub(super) centre: u32,
    /// The stack below which it was first declared, [`NONE`] for roots.
    pub(super) parent: u32,
    /// Where that was.
    pub(super) declared: Position,
    pub(super) entries: u64,
    pub(super) ticks: u64,
    pub(super) words: u64,
    /// Where the last of these costs is in the file.
    pub(super) sampled: Option<Position>,
}

/// A later line of a stack.
pub(super) struct Back {
    pub(super) stack: u32,
    /// The stack that called; [`NONE`] where the line does not say it.
    pub(super) caller: u32,
    pub(super) position: Position,
}

/// Everything that the log says. The tree is complete only with its last line, so that the stacks
/// have to be kept.
#[derive(Default)]
pub(super) struct Log {
    /// The time of the run.
    pub(super) stamp: Option<(Position, String)>,
    /// Milliseconds per tick.
    pub(super) interval: Option<(Position, u64)>,
    pub(super) centres: Vec<Centre>,
    pub(super) centre_index: HashMap<u64, u32>,
    /// The largest number that is declared.
    pub(super) last_declared: Option<u64>,
    pub(super) stacks: Vec<Stack>,
    pub(super) stack_index: HashMap<u64, u32>,
    pub(super) backs: Vec<Back>,
    pub(super) samples: Counted,
    /// Ticks that the samples state.
    pub(super) ticks: u64,
    pub(super) repeated_centres: Counted,
    pub(super) reserved: Counted,
    pub(super) own_parents: Counted,
    pub(super) roots_of_their_own: Counted,
    pub(super) returns_to_root: Counted,
    /// References to stacks that are not declared, and the stack that takes their place.
    pub(super) undeclared: Counted,
    pub(super) missing_stack: Option<u32>,
    pub(super) cut: Option<Position>,
    /// Where the log ends, once all of it is read.
    pub(super) end: Option<Position>,
}

impl Log {
    /// Whether every stack has known figures: 0 where no sample has it.
    fn is_sampled(&self) -> bool {
        self.end.is_some() && self.samples.count() > 0
    }

    /// Says what the log says, each thing with its place. Of a log that was not read to its end
    /// that is what came before the error: costs as far as they go, and nothing about the log as a
    /// whole.
    pub(super) fn emit(&self, word: u64, apart: Apart, sink: &mut dyn Sink) {
        if let Some((position, stamp)) = &self.stamp {
            sink.at(*position);
            sink.run(RunFact::RecordedAt(stamp));
        }
        // Without the length of a tick there are no times, and so no metrics (case
        // `ghc_px/truncated-header`).
        let Some((position, interval)) = self.interval else {
            return;
        };
        sink.at(position);
        sink.run(RunFact::Other("TickInterval", &format!("{interval} ms")));
        sink.run(RunFact::Other("WordSize", &word.to_string()));
        let alloc_unit = if word == 1 { Unit::Count } else { Unit::Bytes };
        let metrics = Metrics {
            time: (
                sink.metric("time", Unit::Nanoseconds, Noise::Sampled),
                real(interval.into()) * 1e6,
            ),
            ticks: (sink.samples("ticks"), 1.0),
            alloc: (
                sink.metric("alloc", alloc_unit, Noise::Exact),
                real(word.into()),
            ),
        };
        sink.run(RunFact::Observations(metrics.time.0, metrics.ticks.0));
        if metrics.time.1 > 0.0 {
            sink.run(RunFact::Quantum(metrics.time.0, metrics.time.1));
        }
        let functions = self.functions(sink);
        let mut teller = Teller {
            log: self,
            forest: Forest::of(self, apart),
            functions,
            metrics,
            sink,
        };
        teller.trees();
        teller.back_edges();
        teller.notes();
    }

    /// The functions of the centres: another one for each, so that those which have label and
    /// module in common are told apart by their place in the order of their numbers.
    fn functions(&self, sink: &mut dyn Sink) -> Vec<FunctionId> {
        // `centres` is in the order of first mention, and a stack may mention a centre before it is
        // declared: only numbers have an order of their own.
        let mut order: Vec<(u64, usize)> = self
            .centres
            .iter()
            .map(|centre| centre.number)
            .zip(0..)
            .collect();
        order.sort_unstable();
        let mut functions = vec![FunctionId(0); self.centres.len()];
        let mut alike: HashMap<FunctionId, u32> = HashMap::new();
        for (_, at) in order {
            let (Some(centre), Some(function)) = (self.centres.get(at), functions.get_mut(at))
            else {
                continue;
            };
            sink.at(centre.position);
            let made_up = made_up(centre.number);
            let def = centre.def(&made_up);
            *function = sink.function(def);
            let count = alike.entry(*function).or_default();
            *count += 1;
            if *count > 1 {
                *function = sink.function(FunctionDef {
                    first_col: *count,
                    ..def
                });
            }
        }
        functions
    }
}

/// Which stacks are outside the tree of the program.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Apart {
    BuiltIn,
    Nothing,
}

/// The stacks as a forest: the first of a chain, and the next of each.
struct Forest {
    /// Roots of the program.
    program: u32,
    /// Stacks of the RTS that are apart.
    apart: u32,
    below: Vec<u32>,
    next: Vec<u32>,
}

impl Forest {
    /// Links the stacks, newest first, as the RTS lists them.
    fn of(log: &Log, apart: Apart) -> Self {
        let mut forest = Self {
            program: NONE,
            apart: NONE,
            below: vec![NONE; log.stacks.len()],
            next: Vec::new(),
        };
        forest.next.reserve_exact(log.stacks.len());
        for (at, stack) in (0_u32..).zip(&log.stacks) {
            let first = if apart == Apart::BuiltIn && is_built_in(log, stack) {
                &mut forest.apart
            } else {
                // Of a root there is no entry.
                forest
                    .below
                    .get_mut(stack.parent as usize)
                    .unwrap_or(&mut forest.program)
            };
            // Each stack goes in front of its siblings, which takes one step; the last one declared
            // is then the first.
            forest.next.push(std::mem::replace(first, at));
        }
        forest
    }

    fn below(&self, at: u32) -> u32 {
        self.below.get(at as usize).copied().unwrap_or(NONE)
    }

    fn next(&self, at: u32) -> u32 {
        self.next.get(at as usize).copied().unwrap_or(NONE)
    }
}

/// Whether a stack is one of those that the RTS hangs below the root for itself.
fn is_built_in(log: &Log, stack: &Stack) -> bool {
    let centre = |stack: &Stack| log.centres.get(stack.centre as usize);
    let Some(own) = centre(stack) else {
        return false;
    };
    let parent = log.stacks.get(stack.parent as usize);
    // Built-in centres hang directly below the root: further down a centre of this name is the
    // program's.
    if parent.is_some_and(|parent| parent.parent != NONE) {
        return false;
    }
    if let Some((label, module)) = &own.name {
        return BUILT_IN.contains(&(label.as_str(), module.as_str()));
    }
    // The RTS of late 2011 numbers `MAIN`, `SYSTEM`, `GC`, `OVERHEAD_of` and `DONT_CARE` one after
    // the other, after all centres that it declares (case `ghc_px/snapshot-2011`).
    let Some((root, last)) = parent.and_then(centre).zip(log.last_declared) else {
        return false;
    };
    root.number > last
        && own.number > root.number
        && own.number - root.number <= UNDECLARED_BUILT_IN
}

/// The metrics, each with what one tick or word is in its unit.
#[derive(Clone, Copy)]
struct Metrics {
    time: (MetricId, f64),
    ticks: (MetricId, f64),
    alloc: (MetricId, f64),
}

struct Teller<'a> {
    log: &'a Log,
    forest: Forest,
    /// One per centre.
    functions: Vec<FunctionId>,
    metrics: Metrics,
    sink: &'a mut dyn Sink,
}

impl<'a> Teller<'a> {
    fn stack(&self, at: u32) -> Option<(&'a Stack, FunctionId)> {
        let stack = self.log.stacks.get(at as usize)?;
        Some((stack, *self.functions.get(stack.centre as usize)?))
    }

    /// What is said next comes from here.
    fn from(&mut self, position: Option<Position>) {
        if let Some(position) = position {
            self.sink.at(position);
        }
    }

    fn trees(&mut self) {
        let (ticks, words) = self.nodes(self.forest.program);
        let apart = self
            .stack(self.forest.apart)
            .map(|(stack, _)| stack.declared);
        if apart.is_some() {
            self.from(apart);
            let root = self.sink.function(FunctionDef {
                kind: Kind::Root,
                ..FunctionDef::named(ROOT)
            });
            self.sink.enter(Frame::function(root), None);
            self.nodes(self.forest.apart);
            self.sink.leave();
        }
        if !self.log.is_sampled() {
            return;
        }
        self.from(self.log.samples.first());
        self.sink
            .run(RunFact::Other("TotalTicks", &self.log.ticks.to_string()));
        // Only then: otherwise the total is what the roots cost, which the builder adds up.
        if apart.is_some() {
            let Metrics {
                time,
                ticks: counted,
                alloc,
            } = self.metrics;
            self.sink.run(RunFact::Total(time.0, ticks * time.1));
            self.sink.run(RunFact::Total(counted.0, ticks * counted.1));
            self.sink.run(RunFact::Total(alloc.0, words * alloc.1));
        }
    }

    /// Emits a chain of stacks with all below them; says how many ticks and words they have.
    fn nodes(&mut self, first: u32) -> (f64, f64) {
        let known = self.log.is_sampled();
        let mut open = Vec::new();
        let mut at = first;
        let mut total = (0.0, 0.0);
        loop {
            // Chains instead of recursion: a stack may be as deep as the file has lines.
            let Some((stack, function)) = self.stack(at) else {
                // The chain has ended: on to the one above.
                let Some(above) = open.pop() else {
                    return total;
                };
                self.sink.leave();
                at = self.forest.next(above);
                continue;
            };
            self.from(Some(stack.declared));
            // In a log that broke off, the stacks that had a cost by then have one.
            let known = known || stack.sampled.is_some();
            self.sink
                .enter(Frame::function(function), known.then_some(stack.entries));
            if known {
                self.from(stack.sampled);
                let (ticks, words) = (real(stack.ticks.into()), real(stack.words.into()));
                let Metrics {
                    time,
                    ticks: counted,
                    alloc,
                } = self.metrics;
                self.sink.cost(time.0, Cost::Exclusive(ticks * time.1));
                self.sink
                    .cost(counted.0, Cost::Exclusive(ticks * counted.1));
                self.sink.cost(alloc.0, Cost::Exclusive(words * alloc.1));
                total = (total.0 + ticks, total.1 + words);
            }
            open.push(at);
            at = self.forest.below(at);
        }
    }

    /// Lists the back edges, and notes which edges of the tree count what comes over them.
    fn back_edges(&mut self) {
        let mut marked = HashSet::new();
        let mut unmarked = Counted::default();
        for back in &self.log.backs {
            let Some((stack, callee)) = self.stack(back.stack) else {
                continue;
            };
            self.from(Some(back.position));
            let parent = self.stack(stack.parent).map(|(_, function)| function);
            let caller = self
                .stack(back.caller)
                .map(|(_, function)| Frame::function(function));
            self.sink.edge(Edge {
                callee,
                caller,
                kind: EdgeKind::Back,
                calls: None,
                costs: &[],
            });
            // Several back edges lead to one stack, and several stacks are of one pair: a pair has
            // one note.
            if !marked.insert((parent, callee)) {
                continue;
            }
            if marked.len() > MARKED_PAIRS {
                unmarked.add(back.position);
                continue;
            }
            let from = match self.name(stack.parent) {
                Some(parent) => format!("from {parent}"),
                None => "from the root".to_owned(),
            };
            let name = self.name(back.stack).unwrap_or_default();
            let message = format!(
                "the calls and costs of {name} {from} include those of recursive calls (back \
                                   edges), which the log does not separate"
            );
            self.sink.note(Note {
                severity: Severity::Info,
                position: Some(back.position),
                message: &message,
            });
        }
        unmarked.note(self.sink, Severity::Info, |count| {
            format!(
                "{count} further pairs of caller and callee include recursive calls (back edges)"
            )
        });
    }

    /// The name of a stack's centre, for messages.
    fn name(&self, at: u32) -> Option<String> {
        const SHOWN: usize = 60;
        let (stack, _) = self.stack(at)?;
        let centre = self.log.centres.get(stack.centre as usize)?;
        let name: String = centre
            .def(&made_up(centre.number))
            .name
            .chars()
            .take(SHOWN)
            .collect();
        Some(format!("`{name}`"))
    }

    /// Explains what had to be decided.
    fn notes(&mut self) {
        self.from(self.log.end);
        if self.log.end.is_some() {
            self.notes_on_the_whole();
        }
        let Self { log, sink, .. } = self;
        log.undeclared
            .note_with(*sink, Severity::Warning, |count, first| {
                let references = many(count, "reference");
                format!("{references} to stacks that are not declared (first: {first}): shown as `{MISSING_FRAME}`")
            });
        let warnings = [
            (
                &log.own_parents,
                "back edges lead from a stack to itself: the called centre is unknown",
            ),
            (
                &log.roots_of_their_own,
                "stacks are declared as their own parent: shown as roots",
            ),
            (
                &log.reserved,
                "lines with the codes 3, 4 or 6 skipped: these codes are reserved for heap logs",
            ),
        ];
        for (counted, message) in warnings {
            counted.note(*sink, Severity::Warning, |count| {
                format!("{count} {message}")
            });
        }
        let infos = [
            (
                &log.returns_to_root,
                "back edges lead to a root: the caller is unknown",
            ),
            (
                &log.repeated_centres,
                "cost centres are declared more than once with the same name",
            ),
        ];
        for (counted, message) in infos {
            counted.note(*sink, Severity::Info, |count| format!("{count} {message}"));
        }
    }

    /// What only the end of the log shows.
    fn notes_on_the_whole(&mut self) {
        let Self { log, sink, .. } = self;
        let (mut undeclared, mut unused) = (Counted::default(), Counted::default());
        for centre in &log.centres {
            if !centre.used {
                unused.add(centre.position);
            } else if centre.name.is_none() {
                undeclared.add(centre.position);
            }
        }
        if log.samples.count() == 0 {
            let message = "the file has no costs (no line with the code 5): the program was killed before it wrote \
                           them";
            sink.note(Note {
                severity: Severity::Warning,
                position: log.end,
                message,
            });
        }
        if let Some(position) = log.cut {
            let message = "the last line is truncated: skipped";
            sink.note(Note {
                severity: Severity::Warning,
                position: Some(position),
                message,
            });
        }
        // Each stack has up to 64 bits, so that the sum needs more.
        let listed: u128 = log.stacks.iter().map(|stack| u128::from(stack.ticks)).sum();
        if listed != u128::from(log.ticks) {
            let message = format!(
                "the file states {} ticks, but its stacks add up to {listed}: the sum of the stacks is the total",
                log.ticks
            );
            sink.note(Note {
                severity: Severity::Warning,
                position: log.samples.first(),
                message: &message,
            });
        }
        undeclared.note(*sink, Severity::Warning, |count| {
            format!("{count} cost centres are not declared: named `<cc NUMBER>`")
        });
        unused.note(*sink, Severity::Info, |count| {
            format!("{count} cost centres were never entered")
        });
        if log.samples.count() > 1 {
            log.samples.note(*sink, Severity::Info, |count| {
                format!("the file has {count} sets of costs: they are added up")
            });
        }
    }
}
