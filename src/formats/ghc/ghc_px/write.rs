//! GHC cost-centre logs (`+RTS -px`)
//!
//! # What it is
//! The log that profiled programs of GHC 4 to 7.0 wrote with `+RTS -px`: cost centres, cost-centre stacks, and the cost of
//! each stack. profdb, prof2dot and GHC's own viewer read it.
//!
//! # What is written
//! - The time of the recording, if the run has it, and the length of a tick.
//! - A cost centre for each function in the tree, with its module. Centres with equal labels and modules
//!   are told apart by their numbers. Centres that GHC never declared (`<cc 180>`) are not declared.
//! - A stack for each node of the tree, in an order that readers accept, then the back edges. Lines of functions
//!   are left out: the function is the caller of their callees.
//! - Stacks below a root `(built-in)`, at GHC's own place below the root of the program.
//! - One sample with the entries, ticks and words of all stacks, unless all figures are unknown.
//! - Ticks: a count of which each is a whole number of ms of `time`, as in GHC's files. Otherwise the default
//!   metric of the run, if it is a time (1 ms a tick) or a count. Words are 8 bytes of `alloc`, or of the first metric in bytes.
//! - Functions without a name, as `(no name)`. A line feed in names becomes `␊`. Quotes in modules become `'` if readers would
//!   take them for the end of the label.
//!
//! # References
//! - GHC, `rts/Profiling.c` of versions 6 and 7.0: the writer. `utils/prof/ghcprof.prl` and Antiope's prof2dot: readers.

#![expect(
    clippy::indexing_slicing,
    reason = "numbers of functions and metrics are the writer's own"
)]

use std::borrow::Cow;
use std::io::Write;

use hashbrown::{HashMap, HashSet};

use super::log::kind_of;
use crate::events::Kind;
use crate::formats::common::stacks::{CUMULATIVE, OpenNodes};
use crate::formats::common::written::{NO_NAME, are_in_step, lose_raw_names, one_line, whole};
use crate::formats::export::error::ExportError;
use crate::formats::export::losses::{
    ABSENT, BACK_EDGES, FACTS, FRACTIONS, FUNCTION_CALLS, FUNCTION_COSTS, KINDS, LABELS, LARGE,
    LINES, Loss, Losses, METRIC, METRICS, NAMES, NEGATIVE, PLACES, RAW_NAMES, RECORDED, TITLE,
    TOTALS, UNKNOWN, differ,
};
use crate::formats::export::profile::Profile;
use crate::formats::export::{Export, Metrics, Needs, Packing};
use crate::formats::ghc::built_in::{BUILT_IN, ROOT, number};
use crate::store::{FunctionRow, MetricInfo};
use crate::text::escape::Bytes;

/// The format of the page above, as it is written.
pub(in crate::formats) const EXPORT: Export = Export {
    name: "ghc_px",
    summary: "GHC cost-centre logs of +RTS -px (GHC 4 to 7.0)",
    needs: Needs::Tree,
    metrics: Metrics::All,
    layouts: &[],
    options: &[],
    packing: Packing::Plain,
    losses: &[
        LINES,
        FUNCTION_CALLS,
        METRIC,
        METRICS,
        TITLE,
        FACTS,
        LABELS,
        BACK_EDGES,
        BACK_LINES,
        KINDS,
        PLACES,
        NAMES,
        RAW_NAMES,
        RECORDED,
        FUNCTION_COSTS,
        ABSENT,
        APART,
        TOTALS,
        CUMULATIVE,
        UNKNOWN,
        FRACTIONS,
        NEGATIVE,
        LARGE,
    ],
    difference: None,
    write,
};

const BACK_LINES: Loss = Loss {
    name: "back_lines",
    what: "lines of calls whose cost is unknown",
    of: "edges",
};

const APART: Loss = Loss {
    name: "apart",
    what: "the separation of threads and built-in costs from the stacks of the program",
    of: "nodes",
};

/// Bytes of a word.
const WORD: f64 = 8.0;

/// A tick of 1 ms, in ns.
const MILLISECOND: f64 = 1e6;

fn write(
    profile: &Profile<'_>,
    losses: &mut Losses,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let scales = Scales::of(profile, losses)?;
    // A pass of its own: which centres have a stack, where the program's root is and whether
    // anything was sampled is needed before the first line.
    let seen = Seen::of(profile, &scales)?;
    let centres = Centres::of(profile, &seen, losses);
    lose_facts(profile, &scales, losses);
    let stamp = stamp(profile);
    writeln!(out, "\"{stamp}\"\n\"{} ms\"", scales.interval)?;
    centres.write(&mut Bytes(out))?;
    declare(profile, &centres, &seen, losses, out)?;
    if !seen.is_sampled {
        scales.lose_totals([0.0; 2], losses);
        return Ok(());
    }
    // The log states what the RTS counted, which may be more than its stacks have (case
    // `ghc_px/total-differs`).
    let total = property(profile, "TotalTicks")
        .and_then(|text| text.parse().ok())
        .unwrap_or(seen.ticks);
    write!(out, "5 {total}")?;
    let mut sums = OpenNodes::default();
    let mut totals = [0.0; 2];
    // The depth from which on stacks are apart from those of the program.
    let mut apart: Option<usize> = None;
    let mut is_below_root = false;
    each_stack(profile, &scales, losses, |stack, losses| {
        let costs = stack
            .costs
            .iter()
            .map(|cost| (Some(cost.cumulative), cost.exclusive));
        sums.enter(stack.depth, costs, losses);
        if stack.depth == 0 {
            is_below_root = centres.root == Some(stack.function);
        }
        // The root `(built-in)` is none of GHC's: its stacks go below that of the program, and it
        // has no line.
        if stack.depth == 0 && is_below_root {
            return Ok(());
        }
        apart = apart.filter(|depth| stack.depth > *depth);
        let is_apart = stack.depth < 2
            && centres.is_built_in(&profile.functions[stack.function], is_below_root);
        apart = apart.or(is_apart.then_some(stack.depth));
        // Readers leave what is apart out of the total.
        if apart.is_none() {
            totals
                .iter_mut()
                .zip(&stack.costs)
                .for_each(|(total, cost)| *total += cost.exclusive);
        }
        losses.add(UNKNOWN, stack.entries.is_none().into());
        let [ticks, words] = stack.costs.map(|cost| whole(cost.exclusive, losses));
        write!(
            out,
            " 1 {} {} {ticks} {words}",
            stack.number,
            stack.entries.unwrap_or(0)
        )?;
        Ok(())
    })?;
    sums.leave(0, losses);
    scales.lose_totals(totals, losses);
    Ok(writeln!(out, " 0")?)
}

/// What a run says of itself, by name.
fn property<'p>(profile: &'p Profile<'_>, name: &str) -> Option<&'p str> {
    profile
        .properties
        .iter()
        .find(|(known, _)| known == name)
        .map(|(_, text)| text.as_str())
}

/// When the run was recorded, as it may be written between quotes.
fn stamp<'p>(profile: &'p Profile<'_>) -> Cow<'p, str> {
    let stamp = one_line(property(profile, "recorded_at").unwrap_or_default());
    if stamp.contains('"') {
        stamp.replace('"', "'").into()
    } else {
        stamp
    }
}

/// Counts what the log does not hold of the run as a whole.
fn lose_facts(profile: &Profile<'_>, scales: &Scales, losses: &mut Losses) {
    losses.add(LABELS, profile.labels);
    lose_raw_names(profile, losses);
    losses.add(TITLE, profile.run.title.is_some().into());
    let is_held = |name: &str, text: &str| match name {
        "recorded_at" => stamp(profile) == text,
        "TickInterval" => text == format!("{} ms", scales.interval),
        "WordSize" => text == "8",
        "TotalTicks" => text.parse::<u64>().is_ok(),
        _ => false,
    };
    let facts = profile
        .properties
        .iter()
        .filter(|(name, text)| !is_held(name, text));
    losses.add(FACTS, facts.count() as u64);
}

/// What ticks and words are made of.
struct Scales {
    /// Whole ms of a tick.
    interval: u64,
    /// How many metrics the ticks are: they are times as well.
    clocks: u64,
    /// The metrics of ticks and words, each with how much of it is one.
    metrics: [Option<(MetricInfo, f64)>; 2],
}

impl Scales {
    fn of(profile: &Profile<'_>, losses: &mut Losses) -> Result<Self, ExportError> {
        let all = profile.database.metrics(profile.run.run_id)?;
        let metrics = || std::iter::once(&profile.metric).chain(&profile.metrics);
        let named = |name: &str, unit: &str| {
            metrics().find(|metric| metric.name == name && metric.unit == unit)
        };
        let of = |unit: &str| metrics().find(|metric| metric.unit == unit);
        // The log has time and ticks, whichever of them is asked for.
        let asked =
            |metric: &MetricInfo| metrics().any(|known| known.metric_id == metric.metric_id);
        let time = all
            .iter()
            .find(|metric| metric.name == "time" && metric.unit == "ns");
        let counts = || {
            all.iter()
                .filter(|metric| metric.unit == "count" && !metric.timer_readings)
        };
        let pairs = time
            .into_iter()
            .flat_map(|time| counts().map(move |ticks| (time, ticks)));
        let mut known = None;
        for (time, ticks) in pairs.filter(|(time, ticks)| asked(time) || asked(ticks)) {
            let interval = if known.is_none() {
                interval(profile, time, ticks)?
            } else {
                None
            };
            known = known.or(interval.map(|interval| (interval, ticks.clone())));
        }
        // The metrics that readers find again.
        let (interval, ticks, mut kept) = match (known, of("ns"), of("count")) {
            (Some((interval, ticks)), ..) => (interval, Some((ticks, 1.0)), 2),
            (None, _, Some(count)) if profile.metric.unit == "count" => {
                (1, Some((count.clone(), 1.0)), 1)
            }
            (None, Some(time), _) => (1, Some((time.clone(), MILLISECOND)), 1),
            (None, None, count) => (1, count.cloned().map(|count| (count, 1.0)), 1),
        };
        let bytes = named("alloc", "bytes").or_else(|| of("bytes"));
        let names = [("time", "ns"), ("ticks", "count"), ("alloc", "bytes")];
        let clock = ticks.iter().map(|(metric, _)| metric);
        let renamed = clock
            .chain(bytes)
            .filter(|metric| !names.contains(&(metric.name.as_str(), metric.unit.as_str())));
        losses.add(METRIC, renamed.count() as u64);
        // Time is as many ticks.
        let time = time.filter(|_| kept == 2).into_iter();
        let written = ticks
            .iter()
            .map(|(metric, _)| metric)
            .chain(bytes)
            .chain(time);
        losses.written = Some(written.map(|metric| metric.metric_id).collect());
        let clocks = if ticks.is_some() { kept as u64 } else { 0 };
        kept = if ticks.is_some() { kept } else { 0 } + usize::from(bytes.is_some());
        losses.add(METRICS, all.len().saturating_sub(kept) as u64);
        let words = bytes.map(|bytes| (bytes.clone(), WORD));
        Ok(Self {
            interval,
            clocks,
            metrics: [ticks, words],
        })
    }
}

impl Scales {
    /// Counts totals that are not those of the ticks and words that are written.
    fn lose_totals(&self, totals: [f64; 2], losses: &mut Losses) {
        for ((metric, total), count) in self.metrics.iter().zip(totals).zip([self.clocks, 1]) {
            let differs = metric
                .as_ref()
                .is_some_and(|(metric, unit)| differ(metric.total, total * unit));
            losses.add(TOTALS, if differs { count } else { 0 });
        }
    }
}

/// Whole milliseconds of a tick, if times are so many for each.
fn interval(
    profile: &Profile<'_>,
    time: &MetricInfo,
    ticks: &MetricInfo,
) -> Result<Option<u64>, ExportError> {
    let said =
        property(profile, "TickInterval").and_then(|text| text.strip_suffix(" ms")?.parse().ok());
    let found = (time.total / ticks.total / MILLISECOND).round();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at least 1, and saturating"
    )]
    let found = (found >= 1.0).then_some(found as u64);
    // Where no time has passed, every interval will do.
    let any = (time.total == 0.0 && ticks.total == 0.0).then_some(1);
    for interval in [said, found, any].into_iter().flatten() {
        #[expect(clippy::cast_precision_loss, reason = "compared with rounding")]
        if are_in_step(profile, time, ticks, interval as f64 * MILLISECOND)? {
            return Ok(Some(interval));
        }
    }
    Ok(None)
}

/// Cost of a stack in ticks or words.
#[derive(Clone, Copy, Default)]
struct Costs {
    exclusive: f64,
    cumulative: f64,
}

/// A place in the tree.
struct Stack {
    /// Its number, as [`StackRow`](crate::store::StackRow) has it.
    number: u64,
    /// How many others are above.
    depth: usize,
    /// Its place in [`Profile::functions`].
    function: usize,
    entries: Option<u64>,
    /// Ticks and words.
    costs: [Costs; 2],
}

/// Calls a function for every place in the tree, callers first.
fn each_stack(
    profile: &Profile<'_>,
    scales: &Scales,
    losses: &mut Losses,
    mut each: impl FnMut(Stack, &mut Losses) -> Result<(), ExportError>,
) -> Result<(), ExportError> {
    let known: Vec<(usize, i64, f64)> = (0..)
        .zip(&scales.metrics)
        .filter_map(|(at, metric)| {
            let (metric, unit) = metric.as_ref()?;
            Some((at, metric.metric_id, *unit))
        })
        .collect();
    let mut metrics: Vec<i64> = known.iter().map(|(_, metric_id, _)| *metric_id).collect();
    // Nodes are walked by metric: without ticks and words any metric shows where they are.
    if metrics.is_empty() {
        metrics.push(profile.metric.metric_id);
    }
    // For each open node, how many of those above it and itself are no lines.
    let mut levels: Vec<usize> = Vec::new();
    let mut number = 0;
    profile
        .database
        .each_node_in(profile.run.run_id, &metrics, |rows| {
            let [node, ..] = rows else { return Ok(()) };
            number += 1;
            levels.truncate(node.depth);
            let depth = levels.last().copied().unwrap_or(0);
            levels.push(depth + usize::from(node.line.is_none()));
            if node.line.is_some() {
                return Ok(());
            }
            let mut costs = [Costs::default(); 2];
            for ((at, _, unit), row) in known.iter().zip(rows) {
                let cumulative = row.cumulative.unwrap_or(row.exclusive);
                costs[*at] = Costs {
                    exclusive: row.exclusive / unit,
                    cumulative: cumulative / unit,
                };
            }
            let function = profile.function(node.function_id)?;
            each(
                Stack {
                    number,
                    depth,
                    function,
                    entries: node.calls,
                    costs,
                },
                losses,
            )
        })
}

/// What a look at all stacks says, before anything is written.
struct Seen {
    /// By the place in [`Profile::functions`]: the number of its first stack, if it has one.
    first: Vec<Option<u64>>,
    /// The first stack at a root that is none of the built-in ones.
    program: Option<u64>,
    /// The sum of all ticks.
    ticks: u64,
    /// Something is known of some stack.
    is_sampled: bool,
    /// Some stack of a centre that GHC never declared is apart.
    is_undeclared: bool,
}

impl Seen {
    fn of(profile: &Profile<'_>, scales: &Scales) -> Result<Self, ExportError> {
        let first = vec![None; profile.functions.len()];
        // A sample may hold nothing but zeros: that there was one is known by what it stated.
        let is_sampled = property(profile, "TotalTicks").is_some();
        let mut seen = Self {
            first,
            program: None,
            ticks: 0,
            is_sampled,
            is_undeclared: false,
        };
        let root = root(profile);
        let mut is_apart = false;
        // What gets lost is counted where it is written.
        let mut losses = Losses::new(EXPORT.name, EXPORT.losses);
        each_stack(profile, scales, &mut losses, |stack, losses| {
            seen.first[stack.function].get_or_insert(stack.number);
            if stack.depth == 0 {
                is_apart = root == Some(stack.function);
                if !is_apart {
                    seen.program.get_or_insert(stack.number);
                }
            }
            let [ticks, _] = stack.costs.map(|cost| whole(cost.exclusive, losses));
            seen.ticks = seen.ticks.saturating_add(ticks);
            seen.is_sampled |=
                stack.entries.is_some() || stack.costs.iter().any(|cost| cost.exclusive != 0.0);
            seen.is_undeclared |=
                is_apart && undeclared(&profile.functions[stack.function]).is_some();
            Ok(())
        })?;
        Ok(seen)
    }
}

/// The root of GHC's own stacks, if it costs nothing itself.
fn root(profile: &Profile<'_>) -> Option<usize> {
    let is_root = |function: &FunctionRow| {
        // A root that cost something itself needs a stack of its own, or its cost would be lost.
        function.kind == Kind::Root
            && function.name == ROOT
            && function.exclusive.is_none_or(|cost| cost == 0.0)
    };
    profile.functions.iter().position(is_root)
}

/// The number of a centre that GHC did not declare.
fn undeclared(function: &FunctionRow) -> Option<u64> {
    let is_bare = function.kind == Kind::Pseudo && function.module.is_empty();
    number(&function.name).filter(|_| is_bare)
}

/// The cost centres of the log.
struct Centres<'p> {
    /// By the place in [`Profile::functions`]: the number of its centre; 0 without a place in the
    /// tree.
    numbers: Vec<u64>,
    /// Numbers, labels and modules of those that are declared, in the order of their numbers.
    declared: Vec<(u64, Cow<'p, str>, Cow<'p, str>)>,
    /// The root that is none of the log's.
    root: Option<usize>,
}

impl<'p> Centres<'p> {
    fn of(profile: &'p Profile<'_>, seen: &Seen, losses: &mut Losses) -> Self {
        let functions = &profile.functions;
        let root = root(profile);
        let mut numbers = vec![0; functions.len()];
        let mut taken = HashSet::new();
        for (function, own) in functions.iter().zip(&mut numbers) {
            if let Some(number) =
                undeclared(function).filter(|number| *number > 0 && taken.insert(*number))
            {
                *own = number;
            }
        }
        // GHC's own centres are known by numbers above all that are declared; others must not be
        // taken for these.
        let mut next = if seen.is_undeclared {
            1
        } else {
            taken
                .iter()
                .max()
                .map_or(1, |largest| largest.saturating_add(1))
        };
        // Readers tell those of one name apart in the order of their numbers.
        let mut firsts = HashMap::new();
        let mut order = Vec::with_capacity(functions.len());
        for (at, function) in functions.iter().enumerate() {
            let first = *firsts
                .entry((&function.name, &function.module))
                .or_insert(at);
            order.push((first, function.place, at));
        }
        order.sort_unstable();
        let mut declared = Vec::new();
        let mut alike: HashMap<(Cow<'_, str>, Cow<'_, str>), i64> = HashMap::new();
        for (_, _, at) in order {
            let function = &functions[at];
            if root == Some(at) {
                continue;
            }
            if seen.first[at].is_none() {
                losses.add(ABSENT, 1);
                continue;
            }
            let (label, module) = names(function);
            let is_named = label == function.name && module == function.module;
            losses.add(NAMES, (!is_named).into());
            let is_declared = numbers[at] == 0;
            let kind = if is_declared {
                kind_of(&label, &module)
            } else {
                Kind::Pseudo
            };
            losses.add(KINDS, (kind != function.kind).into());
            let count = alike.entry((label.clone(), module.clone())).or_default();
            *count += 1;
            let place = (0, if *count > 1 { *count } else { 0 });
            losses.add(
                PLACES,
                (!function.file.is_empty() || function.place != place).into(),
            );
            if is_declared {
                while !taken.insert(next) {
                    next += 1;
                }
                numbers[at] = next;
                declared.push((next, label, module));
            }
        }
        Self {
            numbers,
            declared,
            root,
        }
    }

    /// Whether readers know a function for one of GHC's own where it is at or below a root;
    /// those that GHC has not declared, by numbers above all that are declared.
    fn is_built_in(&self, function: &FunctionRow, is_apart: bool) -> bool {
        BUILT_IN.contains(&(function.name.as_str(), function.module.as_str()))
            || (is_apart && !self.declared.is_empty() && undeclared(function).is_some())
    }

    /// Writes the newest first, as GHC does.
    fn write(&self, out: &mut dyn Write) -> Result<(), ExportError> {
        for (number, label, module) in self.declared.iter().rev() {
            writeln!(out, "1 {number} \"{label}\" \"{module}\"")?;
        }
        Ok(())
    }
}

/// Label and module as they may be written between quotes. Readers look for the last `" "`.
fn names(function: &FunctionRow) -> (Cow<'_, str>, Cow<'_, str>) {
    let label = if function.name.is_empty() {
        NO_NAME.into()
    } else {
        one_line(&function.name)
    };
    let module = one_line(&function.module);
    // The quote that opens the module makes the same three bytes with a blank and a quote after it.
    let is_misread = module.starts_with(" \"") || module.contains("\" \"");
    (
        label,
        if is_misread {
            module.replace('"', "'").into()
        } else {
            module
        },
    )
}

/// Declares the stacks, and then the back edges.
fn declare(
    profile: &Profile<'_>,
    centres: &Centres<'_>,
    seen: &Seen,
    losses: &mut Losses,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    // GHC's own stacks hang below the root of the program, which must have been declared before.
    let root = centres.root.and_then(|root| seen.first[root]);
    for declares_apart in [false, true]
        .into_iter()
        .take(1 + usize::from(root.is_some()))
    {
        let mut is_apart = false;
        profile
            .database
            // Of what a stack called the last first, because readers list the last declared one
            // first.
            .each_node_backwards(profile.run.run_id, |stack| {
                if stack.depth == 0 && !stack.is_line {
                    is_apart = root == Some(stack.number);
                }
                // Both passes meet all nodes, and a line is lost once.
                losses.add(LINES, (stack.is_line && !declares_apart).into());
                if stack.is_line || is_apart != declares_apart || root == Some(stack.number) {
                    return Ok(());
                }
                let function = profile.function(stack.function_id)?;
                let was_apart = root.is_some() && stack.parent == root;
                let known = &profile.functions[function];
                let is_known = centres.is_built_in(known, was_apart);
                losses.add(APART, ((is_known && stack.depth < 2) != was_apart).into());
                let (number, centre) = (stack.number, centres.numbers[function]);
                match if was_apart {
                    seen.program
                } else {
                    stack.parent
                } {
                    None => writeln!(out, "2 {number} 1 {centre}")?,
                    Some(parent) => writeln!(out, "2 {number} 2 {centre} {parent}")?,
                }
                Ok::<_, ExportError>(())
            })?;
    }
    let metrics = [profile.metric.metric_id];
    let stack = |function_id: i64| {
        let function = profile.function(function_id)?;
        Ok::<_, ExportError>(seen.first[function].filter(|_| centres.root != Some(function)))
    };
    // Edges come by caller and callee: those that differ in the line of the caller one after the
    // other.
    let mut last = None;
    profile
        .database
        .each_edge(profile.run.run_id, &metrics, |rows| {
            let [edge, ..] = rows else { return Ok(()) };
            if !edge.is_back {
                return Ok(());
            }
            let caller = edge.caller_id.map(stack).transpose()?;
            // A back edge needs a stack of both: a function that has none is in no line of the log.
            let Some(callee) = stack(edge.callee_id)?.filter(|_| caller != Some(None)) else {
                losses.add(BACK_EDGES, 1);
                return Ok(());
            };
            // The log has no lines, so that there is one back edge for all lines of a caller.
            if last.replace((caller, callee)) == Some((caller, callee)) {
                losses.add(BACK_EDGES, 1);
                return Ok(());
            }
            losses.add(BACK_LINES, edge.line.is_some().into());
            let centre = centres.numbers[profile.function(edge.callee_id)?];
            match caller.flatten() {
                None => writeln!(out, "2 {callee} 1 {centre}")?,
                Some(caller) => writeln!(out, "2 {callee} 2 {centre} {caller}")?,
            }
            Ok(())
        })
}
