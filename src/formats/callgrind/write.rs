//! Callgrind profiles, for KCachegrind
//!
//! # What it is
//! The format of `callgrind.out` files, with the exclusive cost of each line of each function, and the inclusive cost of each
//! call. `KCachegrind`, `QCachegrind` and `callgrind_annotate` show it, and profdb reads it, too. It needs no paths: runs with
//! totals only can be written as well.
//!
//! # What is written
//! - An event for each metric, the run's default one first, with the unit after the name unless it is a count: `time(ns)`.
//!   Costs are whole numbers. `summary:` is the run's total, `totals:` the sum of the functions.
//! - Functions with object (their module) and file. First come all exclusive costs by line; costs without a line
//!   are at line 0. Then come the calls by caller, with the line of the call.
//! - Costs of calls that count every level of a recursion, as callgrind does without `--separate-recs`. If only the cost with
//!   recursion counted once is known, as in pstats, it is written. An unknown number of calls
//!   and 0 calls become 1: `callgrind_annotate` adds the cost of 0 calls to the caller's exclusive cost.
//! - Threads and roots only if they have an exclusive cost or are called.
//! - `␊` for a line feed in names. Blanks at both ends are left out, and a function without a name is `???`.
//!
//! # References
//! - "Callgrind Format Specification", Valgrind documentation.

#![expect(
    clippy::indexing_slicing,
    reason = "numbers of functions and metrics are the writer's own"
)]

use std::io::Write;

use hashbrown::HashMap;

use super::columns::MOST_EVENTS;
use crate::base::scc::components;
use crate::events::Kind;
use crate::formats::common::written::{Parts, one_line, signed};
use crate::formats::export::error::ExportError;
use crate::formats::export::losses::{
    BACK_EDGES, COLUMNS, DEFINITIONS, FACTS, FRACTIONS, INCLUSIVE, KINDS, LABELS, LARGE, LINE_ZERO,
    Loss, Losses, METRIC, METRICS, NAMES, PATHS, RAW_NAMES, SAME_NAME, TITLE, UNKNOWN, differ,
};
use crate::formats::export::profile::Profile;
use crate::formats::export::{Export, Metrics, Needs, Packing};
use crate::store::{EdgeRow, FunctionRow, LineRow, MetricInfo};
use crate::text::escape::Bytes;

/// What a file that is written here says has made it.
const CREATOR: &str = "profdb";

/// The format of the page above, as it is written.
pub(in crate::formats) const EXPORT: Export = Export {
    name: "callgrind",
    summary: "Callgrind profiles, for KCachegrind",
    needs: Needs::Totals,
    metrics: Metrics::All,
    layouts: &[],
    options: &[],
    packing: Packing::Plain,
    losses: &[
        PATHS,
        METRIC,
        METRIC_ORDER,
        METRICS,
        TITLE,
        FACTS,
        BACK_EDGES,
        LABELS,
        KINDS,
        DEFINITIONS,
        NAMES,
        RAW_NAMES,
        SAME_NAME,
        COLUMNS,
        LINE_ZERO,
        LINE_CALLS,
        OUTSIDE_CALLS,
        UNKNOWN_CALLS,
        CALLER_COSTS,
        RECURSION,
        INCLUSIVE,
        UNKNOWN,
        FRACTIONS,
        LARGE,
    ],
    difference: None,
    write,
};

const METRIC_ORDER: Loss = Loss {
    name: "metric_order",
    what: "the order of the metrics",
    of: "runs",
};

const LINE_CALLS: Loss = Loss {
    name: "line_calls",
    what: "executions of lines",
    of: "lines",
};

const OUTSIDE_CALLS: Loss = Loss {
    name: "outside_calls",
    what: "calls from unknown callers",
    of: "functions",
};

const UNKNOWN_CALLS: Loss = Loss {
    name: "unknown_calls",
    what: "unknown numbers of calls, and 0, which become 1",
    of: "edges",
};

const CALLER_COSTS: Loss = Loss {
    name: "caller_costs",
    what: "exclusive costs of functions by caller",
    of: "edges",
};

const RECURSION: Loss = Loss {
    name: "recursion",
    what: "costs of calls with recursion counted once, unless they follow from the cost of all levels",
    of: "edges",
};

/// Units that readers of events know.
const UNITS: [&str; 22] = [
    "ns",
    "nsec",
    "nanoseconds",
    "us",
    "µs",
    "μs",
    "usec",
    "microseconds",
    "ms",
    "msec",
    "milliseconds",
    "s",
    "sec",
    "seconds",
    "bytes",
    "B",
    "kB",
    "KB",
    "MB",
    "GB",
    "count",
    "samples",
];

/// How an unknown file or object is written.
const UNKNOWN_NAME: &str = "???";

fn write(
    profile: &Profile<'_>,
    losses: &mut Losses,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let out = &mut Bytes(out);
    losses.add(PATHS, profile.nodes);
    losses.add(METRICS, profile.other_metrics);
    losses.add(TITLE, profile.run.title.is_some().into());
    losses.add(BACK_EDGES, profile.back_edges);
    losses.add(LABELS, profile.labels);
    // The default one comes first: readers sort by it.
    let mut metrics: Vec<usize> = (0..profile.metrics.len()).collect();
    metrics.sort_by_key(|at| profile.metrics[*at].metric_id != profile.metric.metric_id);
    losses.add(METRIC_ORDER, (!metrics.is_sorted()).into());
    losses.add(METRICS, metrics.len().saturating_sub(MOST_EVENTS) as u64);
    metrics.truncate(MOST_EVENTS);
    head(profile, &metrics, losses, out)?;
    let mut writer = Writer::new(profile, metrics, losses)?;
    writer.own_costs(losses, out)?;
    writer.calls(losses, out)?;
    writer.lose_sums(losses)?;
    write_figures("\ntotals:", &writer.totals, out)
}

fn head(
    profile: &Profile<'_>,
    metrics: &[usize],
    losses: &mut Losses,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    writeln!(out, "# callgrind format\nversion: 1\ncreator: {CREATOR}")?;
    let property = |wanted: &str| {
        let mut properties = profile.properties.iter();
        let found = properties.find(|(name, _)| name == wanted);
        found.map(|(_, text)| text.as_str())
    };
    let command = property("command");
    // The program that made a file is its creator, which for what was written here is this one.
    let held = [
        command.is_some_and(|command| line_name(command) == command),
        property("tool_version") == Some(CREATOR),
    ];
    losses.add(
        FACTS,
        profile.facts - held.map(u64::from).iter().sum::<u64>(),
    );
    if let Some(command) = command {
        writeln!(out, "cmd: {}", line_name(command))?;
    }
    write!(out, "positions: line\nevents:")?;
    for event in events(metrics.iter().map(|at| &profile.metrics[*at]), losses) {
        write!(out, " {event}")?;
    }
    write!(out, "\nsummary:")?;
    for at in metrics {
        write!(out, " {}", signed(profile.metrics[*at].total, losses))?;
    }
    Ok(writeln!(out)?)
}

/// Names of metrics, with their units where they have one.
fn events<'m>(metrics: impl Iterator<Item = &'m MetricInfo>, losses: &mut Losses) -> Vec<String> {
    let mut events: Vec<String> = Vec::new();
    for metric in metrics {
        let blank = |character: char| character.is_whitespace() || character.is_control();
        let name = metric.name.replace(blank, "_");
        let is_count = metric.unit == "count";
        let plain = if is_count && has_unit(&name) {
            name.replace('(', "[").replace(')', "]")
        } else {
            name
        };
        let plain = if plain.is_empty() {
            "cost".to_owned()
        } else {
            plain
        };
        let mut name = plain.clone();
        // Readers refuse an event twice (case `callgrind/events-twice`), and take names with a unit
        // in small letters.
        let event = (2..).find_map(|number| {
            let event = if is_count {
                name.clone()
            } else {
                format!("{name}({})", metric.unit)
            };
            name = format!("{plain}_{number}");
            let is_new = !events
                .iter()
                .any(|known| known.to_lowercase() == event.to_lowercase());
            is_new.then_some(event)
        });
        let event = event.unwrap_or(plain);
        let read = event
            .rsplit_once('(')
            .map_or(event.as_str(), |(name, _)| name);
        // Readers of units take the name in small letters, without underscores at its end.
        let read = if is_count {
            event.clone()
        } else {
            read.trim_end_matches('_').to_lowercase()
        };
        losses.add(METRIC, (read != metric.name).into());
        events.push(event);
    }
    events
}

/// Whether readers would take the end of a name for its unit.
fn has_unit(name: &str) -> bool {
    let parts = name
        .strip_suffix(')')
        .and_then(|name| name.rsplit_once('('));
    parts.is_some_and(|(name, unit)| {
        let (times, unit) = unit.split_at(
            unit.find(|digit: char| !digit.is_ascii_digit())
                .unwrap_or(unit.len()),
        );
        let is_known =
            UNITS.contains(&unit) && (times.is_empty() || times.contains(|digit| digit != '0'));
        is_known && !name.trim_end_matches('_').is_empty()
    })
}

/// A name as it can be written after a number. Readers pass over blanks around it and zero bytes at
/// its end.
fn line_name(name: &str) -> String {
    let line = one_line(name);
    let shown = line.trim_matches(|character: char| character.is_ascii_whitespace());
    let held = shown.trim_end_matches('\0');
    format!("{held}{}", "␀".repeat(shown.len() - held.len()))
}

/// Names that have got a number, and those that have been written with theirs.
#[derive(Default)]
struct Numbers {
    ids: HashMap<String, usize>,
}

/// A text as a name that has a number: an empty one would be no name.
fn shown(name: &str) -> &str {
    if name.is_empty() { UNKNOWN_NAME } else { name }
}

impl Numbers {
    /// `(1) name`, the next time `(1)`.
    fn name(&mut self, name: &str) -> String {
        let shown = shown(name);
        if let Some(id) = self.ids.get(shown) {
            return format!("({id})");
        }
        let id = self.ids.len() + 1;
        self.ids.insert(shown.to_owned(), id);
        format!("({id}) {shown}")
    }
}

/// What the calls of a file say of a function.
#[derive(Clone, Default)]
struct Written {
    /// How often it was called; `None` if it has no caller.
    calls: Option<u64>,
    /// Some of its calls are of an unknown number, which became 1.
    is_guessed: bool,
    /// What it costs, by metric.
    costs: Vec<CallSums>,
}

/// What the calls of a file say that a function costs.
#[derive(Clone, Default)]
struct CallSums {
    /// What its callers paid, if each of them says that of calls from outside.
    paid: Option<f64>,
    /// What the functions cost that it called and that do not call it.
    left: f64,
}

/// What the run knows of the functions of one name. Of more than one, what they cost with what was
/// called is the sum, which holds as long as they do not call each other.
#[derive(Clone)]
struct Known {
    /// One of them is no thread or the like.
    is_any: bool,
    calls: Option<u64>,
    /// By metric: own cost, and that with what was called.
    costs: Vec<(f64, Option<f64>)>,
}

impl Known {
    /// Nothing is known in so many metrics.
    fn of(metrics: usize) -> Self {
        Self {
            is_any: false,
            calls: None,
            costs: vec![(0.0, None); metrics],
        }
    }

    /// Adds a function: a row for each metric.
    fn add<'r>(&mut self, rows: impl Iterator<Item = &'r FunctionRow>) {
        for (at, (row, (own, all))) in rows.zip(&mut self.costs).enumerate() {
            *own += row.exclusive.unwrap_or(0.0);
            if row.kind.is_container() {
                continue;
            }
            self.is_any = true;
            if let Some(calls) = row.calls.filter(|_| at == 0) {
                let sum = self.calls.get_or_insert_default();
                *sum = sum.saturating_add(calls);
            }
            if let Some(cumulative) = row.cumulative {
                *all.get_or_insert_default() += cumulative;
            }
        }
    }
}

/// Which functions call each other, directly or through others, as readers find it out.
struct Circles {
    component: Vec<u32>,
    /// By component: it has several functions.
    is_circle: Vec<bool>,
    /// There is a call at all.
    has_calls: bool,
    /// By function: it is called.
    is_called: Vec<bool>,
}

impl Circles {
    /// Those of a run in which readers take each function for the first one of its name.
    fn of(profile: &Profile<'_>, firsts: &[usize]) -> Result<Self, ExportError> {
        let mut calls: Vec<(u32, u32)> = Vec::new();
        let number = |function: usize| u32::try_from(firsts[function]).unwrap_or(u32::MAX);
        profile.each_edge(|rows: &[EdgeRow]| {
            let Some(caller) = rows[0].caller_id.filter(|_| !rows[0].is_back) else {
                return Ok(());
            };
            let pair = (
                number(profile.function(caller)?),
                number(profile.function(rows[0].callee_id)?),
            );
            if calls.last() != Some(&pair) {
                calls.push(pair);
            }
            Ok(())
        })?;
        let mut is_called = vec![false; profile.functions.len()];
        for (_, callee) in &calls {
            is_called[*callee as usize] = true;
        }
        let component = components(profile.functions.len(), &calls);
        let mut sizes = vec![0_usize; component.len()];
        for component in &component {
            sizes[*component as usize] += 1;
        }
        let is_circle = sizes.iter().map(|size| *size > 1).collect();
        Ok(Self {
            component,
            is_circle,
            has_calls: !calls.is_empty(),
            is_called,
        })
    }

    /// Whether a call leads out of a circle, or there is none.
    fn leaves(&self, caller: usize, callee: usize) -> bool {
        self.component[caller] != self.component[callee]
    }

    fn holds(&self, function: usize) -> bool {
        self.is_circle[self.component[function] as usize]
    }
}

struct Writer<'p> {
    profile: &'p Profile<'p>,
    /// Places in `profile.metrics`, in the order of the events.
    metrics: Vec<usize>,
    /// Own cost of each function in each of them, whole, without what has been written of it.
    own: Vec<i64>,
    totals: Vec<i64>,
    names: Numbers,
    files: Numbers,
    objects: Numbers,
    has_objects: bool,
    /// By function: the numbers of object, file and name, once they have been written.
    positions: Vec<Option<[String; 3]>>,
    /// By function: the first one of its name, object and file, which readers take it for.
    firsts: Vec<usize>,
    /// By the calls that are written, for each function that is the first of its name.
    written: Vec<Written>,
    circles: Circles,
}

impl<'p> Writer<'p> {
    fn new(
        profile: &'p Profile<'p>,
        metrics: Vec<usize>,
        losses: &mut Losses,
    ) -> Result<Self, ExportError> {
        let mut own = Vec::with_capacity(profile.functions.len() * metrics.len());
        profile.each_function(|rows: &[FunctionRow]| {
            for at in &metrics {
                losses.add(UNKNOWN, rows[*at].exclusive.is_none().into());
                own.push(signed(rows[*at].exclusive.unwrap_or(0.0), losses));
            }
            Ok(())
        })?;
        let mut known = HashMap::new();
        let mut firsts = Vec::with_capacity(profile.functions.len());
        for (at, function) in profile.functions.iter().enumerate() {
            let texts = [&function.name, &function.module, &function.file];
            let [name, module, file] = texts.map(|text| line_name(text) == *text);
            let is_named = name && !function.name.is_empty();
            let is_placed = module && file && texts[1] != UNKNOWN_NAME && texts[2] != UNKNOWN_NAME;
            losses.add(NAMES, (!is_named || !is_placed).into());
            losses.add(RAW_NAMES, function.raw_name.is_some().into());
            losses.add(KINDS, (function.kind != Kind::Function).into());
            losses.add(DEFINITIONS, (function.place != (0, 0)).into());
            let key = texts.map(|text| shown(&line_name(text)).to_owned());
            let first = *known.entry(key).or_insert(at);
            losses.add(SAME_NAME, (first != at).into());
            firsts.push(first);
        }
        let sums = vec![
            CallSums {
                paid: Some(0.0),
                left: 0.0
            };
            metrics.len()
        ];
        Ok(Self {
            profile,
            circles: Circles::of(profile, &firsts)?,
            firsts,
            written: vec![
                Written {
                    calls: None,
                    is_guessed: false,
                    costs: sums
                };
                profile.functions.len()
            ],
            totals: vec![0; metrics.len()],
            metrics,
            own,
            names: Numbers::default(),
            files: Numbers::default(),
            objects: Numbers::default(),
            has_objects: profile
                .functions
                .iter()
                .any(|function| !function.module.is_empty()),
            positions: vec![None; profile.functions.len()],
        })
    }

    /// Begins the block of a function.
    fn function(&mut self, function: usize, out: &mut dyn Write) -> Result<(), ExportError> {
        writeln!(out)?;
        self.position(["ob", "fl", "fn"], function, out)
    }

    /// Object, file and name of a function.
    fn position(
        &mut self,
        [object, file, name]: [&str; 3],
        function: usize,
        out: &mut dyn Write,
    ) -> Result<(), ExportError> {
        let known = &self.profile.functions[function];
        // Names may be long, and callers many.
        let numbers = self.positions[function].take().unwrap_or_else(|| {
            let object = self
                .has_objects
                .then(|| self.objects.name(&line_name(&known.module)));
            [
                object.unwrap_or_default(),
                self.files.name(&line_name(&known.file)),
                self.names.name(&line_name(&known.name)),
            ]
        });
        if self.has_objects {
            writeln!(out, "{object}={}", numbers[0])?;
        }
        writeln!(out, "{file}={}\n{name}={}", numbers[1], numbers[2])?;
        self.positions[function] = Some(numbers.map(|number| match number.find(')') {
            Some(end) => number[..=end].to_owned(),
            None => number,
        }));
        Ok(())
    }

    /// Writes the own costs of all functions, line by line.
    fn own_costs(&mut self, losses: &mut Losses, out: &mut dyn Write) -> Result<(), ExportError> {
        let profile = self.profile;
        // The function whose lines come, and what has come of them.
        let mut open: Option<usize> = None;
        let mut next = 0;
        let mut parts: Vec<Parts> = Vec::new();
        let mut file = String::new();
        profile.each_line(|rows: &[LineRow]| {
            let LineRow {
                function_id,
                place,
                calls,
                ..
            } = &rows[0];
            let function = profile.function(*function_id)?;
            if open != Some(function) {
                self.rest(open, &file, &mut parts, out)?;
                self.without_lines(next..function, out)?;
                self.function(function, out)?;
                (open, next) = (Some(function), function + 1);
                parts = self.metrics.iter().map(|_| Parts::default()).collect();
                file.clear();
            }
            losses.add(COLUMNS, (place.col != 0).into());
            losses.add(LINE_ZERO, (place.line == 0).into());
            losses.add(LINE_CALLS, calls.is_some().into());
            if place.file != file {
                writeln!(out, "fi={}", self.files.name(&line_name(&place.file)))?;
                place.file.clone_into(&mut file);
            }
            let mut figures = Vec::with_capacity(self.metrics.len());
            for (part, at) in parts.iter_mut().zip(&self.metrics) {
                losses.add(UNKNOWN, rows[*at].exclusive.is_none().into());
                figures.push(part.part(rows[*at].exclusive.unwrap_or(0.0), losses));
            }
            self.add(&figures);
            write_figures(&place.line.to_string(), &figures, out)
        })?;
        self.rest(open, &file, &mut parts, out)?;
        self.without_lines(next..profile.functions.len(), out)
    }

    /// Writes what no line has of the own cost of a function, whose last line was of that file.
    fn rest(
        &mut self,
        function: Option<usize>,
        file: &str,
        parts: &mut [Parts],
        out: &mut dyn Write,
    ) -> Result<(), ExportError> {
        let Some(function) = function else {
            return Ok(());
        };
        let own = &self.own[function * self.metrics.len()..];
        let figures: Vec<i64> = parts
            .iter_mut()
            .zip(own)
            .map(|(part, own)| part.left_of(*own))
            .collect();
        if figures.iter().all(|figure| *figure == 0) {
            return Ok(());
        }
        if !file.is_empty() {
            let own = self
                .files
                .name(&line_name(&self.profile.functions[function].file));
            writeln!(out, "fe={own}")?;
        }
        self.add(&figures);
        write_figures("0", &figures, out)
    }

    /// Writes functions without lines.
    fn without_lines(
        &mut self,
        functions: std::ops::Range<usize>,
        out: &mut dyn Write,
    ) -> Result<(), ExportError> {
        for function in functions {
            let first = function * self.metrics.len();
            let figures = self.own[first..first + self.metrics.len()].to_vec();
            // Without an own cost of what is called, readers take what its callers paid for it.
            let is_called = self.circles.is_called[self.firsts[function]];
            let holds = self.profile.functions[function].kind.is_container() && !is_called;
            if holds && figures.iter().all(|figure| *figure == 0) {
                continue;
            }
            // Zeros, too: a name with its number makes no function as long as nothing comes after
            // it (case `callgrind/name-table`).
            self.function(function, out)?;
            self.add(&figures);
            write_figures("0", &figures, out)?;
        }
        Ok(())
    }

    fn add(&mut self, figures: &[i64]) {
        for (total, figure) in self.totals.iter_mut().zip(figures) {
            *total = total.saturating_add(*figure);
        }
    }

    /// Writes all calls, caller by caller.
    fn calls(&mut self, losses: &mut Losses, out: &mut dyn Write) -> Result<(), ExportError> {
        let profile = self.profile;
        // The caller whose calls come, and the file of its lines.
        let mut open: Option<usize> = None;
        let mut file = String::new();
        profile.each_edge(|rows: &[EdgeRow]| {
            let edge = &rows[0];
            let Some(caller) = edge.caller_id.filter(|_| !edge.is_back) else {
                return Ok(());
            };
            let (caller, callee) = (profile.function(caller)?, profile.function(edge.callee_id)?);
            if open != Some(caller) {
                self.function(caller, out)?;
                open = Some(caller);
                file.clear();
            }
            let line = edge.line.unwrap_or(0);
            if edge.line_file != file {
                let shown = if edge.line_file.is_empty() {
                    &profile.functions[caller].file
                } else {
                    &edge.line_file
                };
                writeln!(out, "fi={}", self.files.name(&line_name(shown)))?;
                edge.line_file.clone_into(&mut file);
            }
            losses.add(COLUMNS, (edge.col != 0).into());
            losses.add(LINE_ZERO, (edge.line == Some(0)).into());
            let calls = edge.calls.unwrap_or(0);
            losses.add(UNKNOWN_CALLS, (calls == 0).into());
            // What one metric does not know, another one may.
            let is_own_known = rows.iter().any(|edge| edge.exclusive.is_some());
            losses.add(CALLER_COSTS, is_own_known.into());
            let (one, other) = (self.firsts[caller], self.firsts[callee]);
            let leaves = self.circles.leaves(one, other);
            let is_once_lost = rows.iter().any(|edge| {
                let told = call_cost(edge).filter(|_| leaves);
                edge.cumulative.is_some_and(|once| Some(once) != told)
            });
            losses.add(RECURSION, is_once_lost.into());
            self.position(["cob", "cfi", "cfn"], callee, out)?;
            writeln!(
                out,
                "calls={} {}",
                calls.max(1),
                profile.functions[callee].place.0
            )?;
            let mut figures = Vec::with_capacity(self.metrics.len());
            *self.written[other].calls.get_or_insert_default() += calls.max(1);
            self.written[other].is_guessed |= calls == 0;
            for (event, at) in self.metrics.iter().enumerate() {
                let known = call_cost(&rows[*at]);
                losses.add(UNKNOWN, known.is_none().into());
                let cost = known.unwrap_or(0.0);
                figures.push(signed(cost, losses));
                if leaves {
                    let paid = &mut self.written[other].costs[event].paid;
                    *paid = paid.map(|paid| paid + cost);
                    self.written[one].costs[event].left += cost;
                } else if one != other {
                    // Within a circle, what callers paid is no sum that means anything.
                    self.written[other].costs[event].paid = None;
                }
            }
            write_figures(&line.to_string(), &figures, out)
        })
    }

    /// Counts figures of functions that are not those which readers work out of what has been
    /// written.
    fn lose_sums(&self, losses: &mut Losses) -> Result<(), ExportError> {
        let count = self.metrics.len();
        // By the first function of a name, what is known of all that readers take for it.
        let mut known = vec![Known::of(count); self.firsts.len()];
        let mut firsts = self.firsts.iter();
        self.profile.each_function(|rows: &[FunctionRow]| {
            if let Some(first) = firsts.next() {
                known[*first].add(self.metrics.iter().map(|metric| &rows[*metric]));
            }
            Ok(())
        })?;
        for (at, known) in known.iter().enumerate().filter(|(_, known)| known.is_any) {
            let Written {
                calls,
                is_guessed,
                costs,
            } = &self.written[at];
            // A number that is unknown because one of its callers' is, the calls tell of.
            let is_told = known.calls.is_none() && *is_guessed;
            losses.add(OUTSIDE_CALLS, (known.calls != *calls && !is_told).into());
            let differs = |(known, sums): (&(f64, Option<f64>), &CallSums)| {
                let told = self.cumulative(at, known.0, calls.is_some(), sums);
                match (known.1, told) {
                    (Some(known), Some(told)) => differ(known, told),
                    (known, told) => known.is_some() != told.is_some(),
                }
            };
            losses.add(INCLUSIVE, known.costs.iter().zip(costs).any(differs).into());
        }
        Ok(())
    }

    /// Cost with what was called, as profdb's reader works it out: own cost and that of the calls;
    /// what the callers paid where that is more, or where functions call each other.
    fn cumulative(
        &self,
        function: usize,
        own: f64,
        is_called: bool,
        sums: &CallSums,
    ) -> Option<f64> {
        let paid = sums.paid.filter(|_| is_called);
        if !self.circles.has_calls {
            return None;
        }
        if self.circles.holds(function) {
            return paid;
        }
        let sum = own + sums.left;
        Some(paid.filter(|paid| *paid > sum && sum >= 0.0).unwrap_or(sum))
    }
}

/// What a call cost: every level of a recursion, or what is known of that.
fn call_cost(edge: &EdgeRow) -> Option<f64> {
    edge.seen.or(edge.cumulative)
}

/// Writes figures after something.
fn write_figures(before: &str, figures: &[i64], out: &mut dyn Write) -> Result<(), ExportError> {
    write!(out, "{before}")?;
    for figure in figures {
        write!(out, " {figure}")?;
    }
    Ok(writeln!(out)?)
}
