//! Cost-centre stacks of GHC, of whichever report.
//!
//! Label, module and source span identify a cost centre: two centres of one module may
//! share a label, and even where their spans start. A cost-centre stack is a node of the tree.
//!
//! GHC books what its run-time system does (garbage collection, idling, profiling itself) under
//! five centres of its own below `MAIN`. Its ordinary reports leave them out; those that hold them
//! are read as if they did: the five hang below a root of their own and the total is that of the
//! rest, so that all reports of one run agree. `--with-builtins` leaves them where the report has
//! them.

use std::collections::{HashMap, HashSet};

use super::built_in::ROOT;
use crate::base::error::{ImportError, Position, quote};
use crate::events::{
    Cost, Frame, FunctionDef, FunctionId, Kind, MetricId, Noise, Note, ROUNDING, RunFact, Severity,
    Sink, Unit, slack,
};
use crate::formats::common::counted::Counted;
use crate::formats::options::{OptionDef, Options, Takes};
use crate::text::escape;

/// The option that counts the built-in centres.
pub(super) const WITH_BUILTINS: OptionDef = OptionDef {
    name: "with-builtins",
    takes: Takes::Nothing,
    meaning: "include the cost centers of the profiler (GC, SYSTEM, ...)",
};

/// Label and module of the centres that ordinary reports leave out.
const BUILTINS: [(&str, &str); 5] = [
    ("GC", "GC"),
    ("IDLE", "IDLE"),
    ("SYSTEM", "SYSTEM"),
    ("OVERHEAD_of", "PROFILING"),
    ("DONT_CARE", "MAIN"),
];

/// Counted among the total by every report, but no code of the program either: pinned memory.
const PINNED: (&str, &str) = ("PINNED", "SYSTEM");

/// The SRC of centres that GHC defines itself.
const BUILT_IN: &str = "<built-in>";

/// Stacks of built-in centres that may wait for the end of the tree. Real reports have five.
const WAITING_STACKS: usize = 64 * 1024;

/// The unit to which both reports round the time, in seconds.
const TIME_UNIT: f64 = 0.01;

/// The unit to which they round shares, in percent.
const PERCENT_UNIT: f64 = 0.1;

/// A cost centre that is known to the sink.
#[derive(Clone, Copy, Debug)]
pub(super) struct Centre {
    function: FunctionId,
    builtin: bool,
}

impl Centre {
    /// A centre that the report uses and does not declare, under a name that was made up. It is not
    /// known to be code of the program.
    pub(super) fn undeclared(sink: &mut dyn Sink, name: &str) -> Self {
        let function = sink.function(FunctionDef {
            kind: Kind::Pseudo,
            ..FunctionDef::named(name)
        });
        Self {
            function,
            builtin: false,
        }
    }
}

/// The cost centres of a run.
#[derive(Default)]
pub(super) struct Centres {
    /// By label, module and SRC, with a byte between them that UTF-8 does not have.
    known: HashMap<Vec<u8>, Centre>,
    taken: HashSet<FunctionId>,
    key: Vec<u8>,
    same_start: Counted,
}

impl Centres {
    /// The centre of this label, module and SRC.
    pub(super) fn centre(
        &mut self,
        sink: &mut dyn Sink,
        position: Position,
        label: &[u8],
        module: &[u8],
        src: &[u8],
    ) -> Centre {
        let (label, module, src) = (escape::text(label), escape::text(module), escape::text(src));
        self.key.clear();
        for part in [&label, &module, &src] {
            self.key.extend_from_slice(part.as_bytes());
            self.key.push(0xff);
        }
        if let Some(centre) = self.known.get(self.key.as_slice()) {
            return *centre;
        }
        // A centre of the program may have the name of a built-in one: its source span tells them
        // apart, where the report has spans (case `ghc_prof/all`).
        let ghc = src.is_empty() || src == BUILT_IN;
        let name = (label.as_ref(), module.as_ref());
        let builtin = ghc && BUILTINS.contains(&name);
        let kind = if builtin || (ghc && name == PINNED) {
            Kind::Pseudo
        } else {
            Kind::Function
        };
        let (file, first_line, first_col) = place(&src);
        let def = FunctionDef {
            kind,
            module: &module,
            file,
            first_line,
            first_col,
            ..FunctionDef::named(&label)
        };
        let mut function = sink.function(def);
        if !self.taken.insert(function) {
            // Spans that start at one place and end at two: the whole span takes the place of the
            // file.
            self.same_start.add_with(position, || quote(src.as_bytes()));
            function = sink.function(FunctionDef { file: &src, ..def });
            self.taken.insert(function);
        }
        let centre = Centre { function, builtin };
        self.known.insert(self.key.clone(), centre);
        centre
    }

    /// Notes what was remarkable.
    pub(super) fn finish(&self, sink: &mut dyn Sink) {
        self.same_start.note_with(sink, Severity::Info, |count, first| {
            format!(
                "{count} cost centres differ from another one only in the end of the source span (first: {first}): \
                 their whole span is stored as the file"
            )
        });
    }
}

/// File, line and column where a span starts: `file:l:c`, `file:l:c-c`, `file:(l,c)-(l,c)`. What
/// is between angle brackets (`<entire-module>`) is no file.
fn place(src: &str) -> (&str, u32, u32) {
    let spanned = || {
        // From the right: paths may have colons, as `C:\src\B.hs:7:9` (case `ghc_prof/places`).
        let (before, last) = src.rsplit_once(':')?;
        if let Some(lines) = last.strip_prefix('(') {
            let (line, col) = lines.split_once(')')?.0.split_once(',')?;
            return Some((before, line.parse().ok()?, col.parse().ok()?));
        }
        let col = last.split_once('-').map_or(last, |(start, _)| start);
        let (file, line) = before.rsplit_once(':')?;
        Some((file, line.parse().ok()?, col.parse().ok()?))
    };
    let no_file = src.starts_with('<') && src.ends_with('>');
    spanned().unwrap_or(if no_file { ("", 0, 0) } else { (src, 0, 0) })
}

/// What the head of a report says, and where.
#[derive(Clone, Copy, Debug)]
pub(super) struct Totals {
    pub(super) position: Position,
    pub(super) seconds: Option<f64>,
    pub(super) ticks: u64,
    pub(super) interval_ns: f64,
    pub(super) processors: u64,
    pub(super) alloc: u64,
}

impl Totals {
    /// The time of so many ticks, in ns. All processors tick, and the time is that of a clock.
    fn time(&self, ticks: f64) -> f64 {
        ticks * self.interval_ns / real(self.processors.into())
    }
}

/// What a report says of the cost of a stack.
#[derive(Clone, Copy, Debug)]
pub(super) enum Costs {
    /// Its own ticks and bytes.
    Exact { ticks: u64, alloc: u64 },
    /// Percentages of the totals, of the stack itself and with what it called.
    Percent {
        own_time: f64,
        own_alloc: f64,
        time: f64,
        alloc: f64,
    },
}

/// A stack of a built-in centre.
struct Waiting {
    /// Where the report has it.
    position: Position,
    /// Depth below the built-in centre.
    level: usize,
    centre: Centre,
    entries: u64,
    ticks: u64,
    alloc: u64,
}

#[derive(Clone, Copy, Default)]
struct StackCost {
    ticks: u128,
    alloc: u128,
}

/// Takes the stacks of a report, in pre-order.
pub(super) struct Stacks {
    totals: Totals,
    time: MetricId,
    ticks: MetricId,
    alloc: MetricId,
    builtins_inside: bool,
    /// Open stacks.
    depth: usize,
    /// Depth of the built-in centre that is open.
    builtin_from: Option<usize>,
    waiting: Vec<Waiting>,
    rows: u64,
    all: StackCost,
    builtin: StackCost,
    /// Sums of the stacks' own percentages, of those that have no other figures.
    percent: Option<(f64, f64)>,
}

impl Stacks {
    /// Announces the metrics.
    pub(super) fn new(sink: &mut dyn Sink, totals: Totals, options: &Options) -> Self {
        let time = sink.metric("time", Unit::Nanoseconds, Noise::Sampled);
        let ticks = sink.samples("ticks");
        sink.run(RunFact::Observations(time, ticks));
        let tick = totals.time(1.0);
        if tick > 0.0 && tick.is_finite() {
            sink.run(RunFact::Quantum(time, tick));
        }
        Self {
            time,
            ticks,
            alloc: sink.metric("alloc", Unit::Bytes, Noise::Exact),
            totals,
            builtins_inside: options.flag(WITH_BUILTINS.name),
            depth: 0,
            builtin_from: None,
            waiting: Vec::new(),
            rows: 0,
            all: StackCost::default(),
            builtin: StackCost::default(),
            percent: None,
        }
    }

    /// Open stacks.
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// Opens a stack below the innermost open one.
    pub(super) fn enter(
        &mut self,
        sink: &mut dyn Sink,
        position: Position,
        centre: Centre,
        entries: u64,
        costs: Costs,
    ) -> Result<(), ImportError> {
        self.depth += 1;
        self.rows += 1;
        match costs {
            Costs::Exact { ticks, alloc } => {
                self.all.ticks += u128::from(ticks);
                self.all.alloc += u128::from(alloc);
                if self.builtin_from.is_none() && centre.builtin {
                    self.builtin_from = Some(self.depth);
                }
                if let Some(from) = self.builtin_from {
                    self.builtin.ticks += u128::from(ticks);
                    self.builtin.alloc += u128::from(alloc);
                    if !self.builtins_inside {
                        if self.waiting.len() >= WAITING_STACKS {
                            let limit = format!(
                                "{WAITING_STACKS} stacks of built-in centres (limit: stacks held in memory)"
                            );
                            return Err(ImportError::Limit { position, limit });
                        }
                        // The report has them below MAIN, which is still open: a root of their own
                        // can begin only when the tree is closed.
                        self.waiting.push(Waiting {
                            position,
                            level: self.depth - from,
                            centre,
                            entries,
                            ticks,
                            alloc,
                        });
                        return Ok(());
                    }
                }
                self.open(sink, centre, entries, ticks, alloc);
            }
            Costs::Percent {
                own_time,
                own_alloc,
                time,
                alloc,
            } => {
                let (times, allocs) = self.percent.get_or_insert_default();
                *times += own_time;
                *allocs += own_alloc;
                let ticks = |percent: f64| percent / 100.0 * real(self.totals.ticks.into());
                let bytes = |percent: f64| percent / 100.0 * real(self.totals.alloc.into());
                let clock = |percent: f64| self.totals.time(ticks(percent));
                // These reports have inherited figures: adding up the rounded ones of callees would
                // add up their rounding as well.
                sink.enter(Frame::function(centre.function), Some(entries));
                sink.cost(
                    self.time,
                    Cost::Both {
                        exclusive: clock(own_time),
                        cumulative: clock(time),
                    },
                );
                sink.cost(
                    self.ticks,
                    Cost::Both {
                        exclusive: ticks(own_time),
                        cumulative: ticks(time),
                    },
                );
                sink.cost(
                    self.alloc,
                    Cost::Both {
                        exclusive: bytes(own_alloc),
                        cumulative: bytes(alloc),
                    },
                );
            }
        }
        Ok(())
    }

    /// Closes the innermost open stack.
    pub(super) fn leave(&mut self, sink: &mut dyn Sink) {
        // Before `builtin_from` is taken back: what closes here may be the built-in centre itself,
        // which the sink does not know.
        let waits = self.builtin_from.is_some() && !self.builtins_inside;
        if !waits {
            sink.leave();
        }
        if self.builtin_from == Some(self.depth) {
            self.builtin_from = None;
        }
        self.depth = self.depth.saturating_sub(1);
    }

    /// Opens a node of exact figures.
    fn open(&self, sink: &mut dyn Sink, centre: Centre, entries: u64, ticks: u64, alloc: u64) {
        let ticks = real(ticks.into());
        sink.enter(Frame::function(centre.function), Some(entries));
        sink.cost(self.time, Cost::Exclusive(self.totals.time(ticks)));
        sink.cost(self.ticks, Cost::Exclusive(ticks));
        sink.cost(self.alloc, Cost::Exclusive(real(alloc.into())));
    }

    /// Gives the built-in centres their root, states the totals and compares them with what was
    /// read.
    pub(super) fn finish(mut self, sink: &mut dyn Sink) {
        while self.depth > 0 {
            self.leave(sink);
        }
        self.builtin_root(sink);
        sink.at(self.totals.position);
        let ticks = self.total(
            sink,
            "ticks",
            self.totals.ticks,
            self.all.ticks,
            self.builtin.ticks,
        );
        let alloc = self.total(
            sink,
            "bytes",
            self.totals.alloc,
            self.all.alloc,
            self.builtin.alloc,
        );
        sink.run(RunFact::Total(self.time, self.totals.time(ticks)));
        sink.run(RunFact::Total(self.ticks, ticks));
        sink.run(RunFact::Total(self.alloc, alloc));
        let ticks = self.totals.time(real(self.totals.ticks.into())) / 1e9;
        if let Some(seconds) = self.totals.seconds
            && (seconds - ticks).abs() > slack(TIME_UNIT, 0) + ROUNDING * ticks
        {
            let message = format!(
                "the stated total time is {seconds} s, but the ticks add up to {ticks} s: the ticks are used"
            );
            self.warn(sink, &message);
        }
    }

    fn builtin_root(&self, sink: &mut dyn Sink) {
        // None where they are left inside, and none in reports that do not show them.
        let Some(first) = self.waiting.first() else {
            return;
        };
        sink.at(first.position);
        let root = sink.function(FunctionDef {
            kind: Kind::Root,
            ..FunctionDef::named(ROOT)
        });
        sink.enter(Frame::function(root), None);
        let mut open = 0;
        for stack in &self.waiting {
            while open > stack.level {
                sink.leave();
                open -= 1;
            }
            sink.at(stack.position);
            self.open(sink, stack.centre, stack.entries, stack.ticks, stack.alloc);
            open += 1;
        }
        // One more than are open: the root.
        for _ in 0..=open {
            sink.leave();
        }
        let message = format!(
            "the built-in centres (GC, SYSTEM, ...) have {} of {} ticks and {} of {} bytes, which are not part of \
             the total: `--with-builtins` includes them",
            self.builtin.ticks, self.all.ticks, self.builtin.alloc, self.all.alloc
        );
        sink.note(Note {
            severity: Severity::Info,
            position: None,
            message: &message,
        });
    }

    /// The run's total in one metric, compared with the sum of what was read.
    fn total(&self, sink: &mut dyn Sink, unit: &str, stated: u64, all: u128, builtin: u128) -> f64 {
        let stated = u128::from(stated);
        if let Some((time, alloc)) = self.percent {
            let percent = if unit == "ticks" { time } else { alloc };
            let rows = u32::try_from(self.rows).unwrap_or(u32::MAX);
            if stated > 0 && (percent - 100.0).abs() > slack(PERCENT_UNIT, rows) {
                let message = format!(
                    "the {unit} of all rows add up to {percent:.1} % of the total: rows may be missing"
                );
                self.warn(sink, &message);
            }
            return real(stated);
        }
        // A head counts the built-in centres where its report shows them (-pj, -pa), but who knows
        // all versions.
        let without = stated == all - builtin && stated != all;
        if stated != all && !without {
            let message = format!(
                "the stacks have {all} {unit}, but the stated total is {stated}: stacks may be missing"
            );
            self.warn(sink, &message);
        }
        // In the middle the head counts what the run is to count. Above the built-in centres are
        // added, below they are taken off; a damaged head may state less than they hold.
        match (self.builtins_inside, without) {
            (true, true) => real(all),
            (true, false) | (false, true) => real(stated),
            (false, false) => real(stated.saturating_sub(builtin)),
        }
    }

    fn warn(&self, sink: &mut dyn Sink, message: &str) {
        sink.note(Note {
            severity: Severity::Warning,
            position: Some(self.totals.position),
            message,
        });
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "costs are REAL, the builder notes what is rounded"
)]
pub(super) fn real(count: u128) -> f64 {
    count as f64
}
