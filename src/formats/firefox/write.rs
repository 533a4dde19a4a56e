//! Firefox Profiler's processed profiles (JSON)
//!
//! # What it is
//! The format of profiler.firefox.com, version 48: threads, each with its samples and with tables of stacks, frames,
//! functions and names. Newer versions of the viewer convert it when they load it.
//!
//! # What is written
//! - A thread for each thread of the run, below its process, and one for stacks without a thread. Each is a frame
//!   if it has an exclusive cost. A number at the end of a name is the thread or process id (`tid`, `pid`); other names get a
//!   number.
//! - A sample for each node of the call tree with an exclusive cost or without callees, with that cost as its weight:
//!   times in milliseconds, bytes, or a count of samples. The time line is the sum of the weights: real times are unknown.
//! - The interval of samples, if it is the same for all samples of the run. Otherwise it is 1 ms, because the viewer requires
//!   a value. Then the additional member `unknownInterval` of `meta` tells profdb to derive no time from these samples.
//! - Product, start and system, if the file of the run had them; otherwise the run's title is the product.
//! - Functions with module (as a library), file, and line and column of definition; frames with line and column, if samples
//!   have lines of functions.
//!
//! # References
//! - The profiler's types and its list of changes of the format: <https://github.com/firefox-devtools/profiler>.

#![expect(
    clippy::indexing_slicing,
    reason = "numbers of functions and metrics are the writer's own"
)]

use std::io::Write;

use hashbrown::{HashMap, HashSet};

use super::unknown_interval::UNKNOWN_INTERVAL;
use crate::base::slices::same;
use crate::base::spool::Column;
use crate::events::Kind;
use crate::formats::common::samples::{FrameKey, Frames, LINE_FILES, Sample, each_sample};
use crate::formats::common::stacks::{CUMULATIVE, SIBLINGS};
use crate::formats::common::written::{are_in_step, json, lose_raw_names};
use crate::formats::export::error::ExportError;
use crate::formats::export::losses::{
    ABSENT, BACK_EDGES, CALLS, DEFINITIONS, FACTS, FRACTIONS, FUNCTION_CALLS, FUNCTION_COSTS,
    KINDS, LABELS, LARGE, LINE_ZERO, Losses, METRIC, METRICS, RAW_NAMES, RECORDED, SAME_NAME,
    TITLE, TOTALS,
};
use crate::formats::export::profile::Profile;
use crate::formats::export::{Export, Metrics, Needs, Packing};
use crate::store::{FunctionRow, MetricInfo};
use crate::text::number::{push_shortest, push_signed, shortest};

/// The format of the page above, as it is written.
pub(in crate::formats) const EXPORT: Export = Export {
    name: "firefox",
    summary: "Firefox Profiler's processed profiles, for profiler.firefox.com",
    needs: Needs::Tree,
    metrics: Metrics::One,
    layouts: &[],
    options: &[],
    packing: Packing::Plain,
    losses: &[
        CALLS,
        FUNCTION_CALLS,
        METRIC,
        METRICS,
        TOTALS,
        TITLE,
        FACTS,
        BACK_EDGES,
        LABELS,
        KINDS,
        DEFINITIONS,
        RAW_NAMES,
        SAME_NAME,
        RECORDED,
        FUNCTION_COSTS,
        ABSENT,
        LINE_ZERO,
        LINE_FILES,
        SIBLINGS,
        CUMULATIVE,
        FRACTIONS,
        LARGE,
    ],
    difference: None,
    write,
};

/// The version of the format.
const VERSION: u32 = 48;

/// Nanoseconds of a millisecond.
const MILLISECOND: f64 = 1e6;

/// That of what Firefox itself writes at that time.
const GECKO_VERSION: u32 = 29;

fn write(
    profile: &Profile<'_>,
    losses: &mut Losses,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let interval = interval(profile)?;
    losses.add(
        METRICS,
        profile.other_metrics - u64::from(interval.is_some()),
    );
    losses.add(TITLE, profile.run.title.is_some().into());
    let meta = meta(profile, interval);
    let is_held = |(name, text): &&(String, String)| {
        meta.iter()
            .any(|(known, written)| known == name && written == text)
    };
    losses.add(
        FACTS,
        profile.facts - profile.properties.iter().filter(is_held).count() as u64,
    );
    lose_raw_names(profile, losses);
    losses.add(BACK_EDGES, profile.back_edges);
    losses.add(LABELS, profile.labels);
    let modules = Modules::new(profile);
    head(
        &meta,
        is_measured(profile) || interval.is_some(),
        &modules,
        out,
    )?;
    let identity = |function: &FunctionRow| {
        let FunctionRow {
            name, module, file, ..
        } = function;
        (
            name.clone(),
            module.clone(),
            file.clone(),
            held_place(function),
        )
    };
    let mut frames = Frames::new(profile, identity);
    let mut threads = Threads::new(profile, &modules);
    let metric = std::slice::from_ref(&profile.metric);
    each_sample(profile, metric, &mut frames, losses, |sample, places| {
        threads.sample(sample, places, out)
    })?;
    threads.end(&frames.places, out)?;
    // Where there is no thread, readers take what was measured for samples.
    let (name, _, _) = scale(&profile.metric);
    let is_known = if threads.count == 0 {
        name == "samples"
    } else {
        true
    };
    losses.add(METRIC, (profile.metric.name != name || !is_known).into());
    // What is so much for each sample is lost with the samples.
    let is_other = interval.is_some() && losses.each().any(|(loss, _)| loss == TOTALS);
    losses.add(TOTALS, is_other.into());
    frames.lose_same_names(profile, losses);
    for (at, function) in profile.functions.iter().enumerate() {
        let is_thread =
            frames.is_around[at] && matches!(function.kind, Kind::Thread | Kind::Process);
        let is_thread = is_thread && !frames.is_framed[at];
        losses.add(
            KINDS,
            (frames.placed[at] && function.kind != Kind::Function && !is_thread).into(),
        );
        losses.add(ABSENT, (!frames.placed[at]).into());
        losses.add(DEFINITIONS, (held_place(function) != function.place).into());
    }
    Ok(writeln!(
        out,
        "\n],\"pages\":[],\"counters\":[],\"profilerOverhead\":[]}}"
    )?)
}

/// What readers call a metric, what its weights are called, and how much of its unit is one in
/// them.
fn scale(metric: &MetricInfo) -> (&'static str, &'static str, f64) {
    match metric.unit.as_str() {
        "ns" => ("time", "tracing-ms", MILLISECOND),
        "bytes" => ("bytes", "bytes", 1.0),
        _ => ("samples", "samples", 1.0),
    }
}

/// Whether weights are measured themselves: then no interval says what else they are.
fn is_measured(profile: &Profile<'_>) -> bool {
    scale(&profile.metric).1 != "samples"
}

/// Milliseconds from one sample to the next: the metric `time` divided by the samples, if that
/// gives one figure everywhere.
fn interval(profile: &Profile<'_>) -> Result<Option<f64>, ExportError> {
    if is_measured(profile) {
        return Ok(None);
    }
    let metrics = profile.database.metrics(profile.run.run_id)?;
    let Some(time) = metrics
        .iter()
        .find(|metric| metric.name == "time" && metric.unit == "ns")
    else {
        return Ok(None);
    };
    let stated = profile
        .properties
        .iter()
        .find(|(name, _)| name == "interval")
        .and_then(|(_, text)| text.parse().ok());
    // The file's own figure first: a quotient of sums may differ from it in the last digit, and
    // would be written with all of them.
    let interval = stated.unwrap_or(time.total / profile.metric.total / MILLISECOND);
    let is_one = interval.is_finite() && interval != 0.0;
    let is_same = is_one && are_in_step(profile, time, &profile.metric, interval * MILLISECOND)?;
    Ok(Some(interval).filter(|_| is_same))
}

/// What is said of the run as a whole and read again: names and texts.
fn meta(profile: &Profile<'_>, interval: Option<f64>) -> Vec<(&'static str, String)> {
    let property = |wanted: &str| {
        let found = profile.properties.iter().find(|(name, _)| name == wanted);
        found.map(|(_, text)| text.clone())
    };
    let number = |wanted: &str| property(wanted).filter(|text| is_number(text));
    let title = profile.run.title.as_ref().unwrap_or(&profile.run.name);
    let ms = |interval: f64| {
        let as_told = number("interval").filter(|text| text.parse() == Ok(interval));
        as_told.unwrap_or_else(|| shortest(interval))
    };
    let mut meta = vec![
        ("preprocessedProfileVersion", VERSION.to_string()),
        ("interval", interval.map_or_else(|| "1".to_owned(), ms)),
        (
            "startTime",
            number("startTime").unwrap_or_else(|| "0".to_owned()),
        ),
        (
            "product",
            property("product").unwrap_or_else(|| title.clone()),
        ),
        (
            "importedFrom",
            property("importedFrom").unwrap_or_else(|| "profdb".to_owned()),
        ),
    ];
    for name in ["platform", "oscpu", "appBuildID"] {
        meta.extend(property(name).map(|text| (name, text)));
    }
    meta
}

/// Whether a text is a number as JSON has it.
fn is_number(text: &str) -> bool {
    serde_json::from_str::<serde_json::Number>(text).is_ok()
}

/// What the profile as a whole is like, up to its threads.
fn head(
    meta: &[(&'static str, String)],
    is_timed: bool,
    modules: &Modules<'_>,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    write!(out, "{{\"meta\":{{\"version\":{GECKO_VERSION}")?;
    for (name, text) in meta {
        let is_text = matches!(
            *name,
            "product" | "importedFrom" | "platform" | "oscpu" | "appBuildID"
        );
        write!(
            out,
            ",\"{name}\":{}",
            if is_text { json(text) } else { text.clone() }
        )?;
    }
    if !is_timed {
        write!(out, ",\"{UNKNOWN_INTERVAL}\":true")?;
    }
    write!(out, ",\"processType\":0,\"stackwalk\":1,\"debug\":false")?;
    write!(
        out,
        ",\"categories\":[{{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]}}]"
    )?;
    write!(
        out,
        ",\"markerSchema\":[],\"symbolicated\":true,\"usesOnlyOneStackType\":true"
    )?;
    write!(
        out,
        ",\"doesNotUseFrameImplementation\":true,\"sourceCodeIsNotOnSearchfox\":true"
    )?;
    write!(
        out,
        ",\"extensions\":{{\"length\":0,\"baseURL\":[],\"id\":[],\"name\":[]}}}},\"libs\":["
    )?;
    for (at, module) in modules.all.iter().enumerate() {
        let name = json(module);
        let before = if at == 0 { "" } else { "," };
        write!(
            out,
            "{before}\n{{\"arch\":\"\",\"name\":{name},\"path\":{name},\"debugName\":{name}"
        )?;
        write!(
            out,
            ",\"debugPath\":{name},\"breakpadId\":\"\",\"codeId\":null}}"
        )?;
    }
    Ok(write!(out, "],\"threads\":[")?)
}

/// Modules of functions, as libraries.
struct Modules<'p> {
    index: HashMap<&'p str, usize>,
    all: Vec<&'p str>,
}

impl<'p> Modules<'p> {
    fn new(profile: &'p Profile<'_>) -> Self {
        let mut modules = Self {
            index: HashMap::new(),
            all: Vec::new(),
        };
        for function in profile
            .functions
            .iter()
            .filter(|function| !function.module.is_empty())
        {
            let next = modules.all.len();
            if *modules
                .index
                .entry(function.module.as_str())
                .or_insert(next)
                == next
            {
                modules.all.push(&function.module);
            }
        }
        modules
    }
}

/// Writes the threads, one after the other.
struct Threads<'p> {
    profile: &'p Profile<'p>,
    modules: &'p Modules<'p>,
    /// Names of the processes that there have been, and their numbers.
    processes: HashMap<String, u32>,
    /// Numbers that processes have, and those of threads.
    taken: [HashSet<u32>; 2],
    count: usize,
    open: Option<Thread>,
}

/// The name of a process or thread as a file has it, without the number after it, and the number. A run has both as one name, as it
/// was read from such a file; where that ends in no number that is free, it gets the next free one.
fn named<'n>(
    name: &'n str,
    known: Option<u32>,
    next: u32,
    taken: &mut HashSet<u32>,
) -> (&'n str, u32) {
    let split = name
        .rsplit_once(' ')
        .filter(|(before, _)| !before.is_empty());
    let own = split.and_then(|(before, digits)| {
        let number = digits.parse::<u32>().ok();
        Some((
            before,
            number.filter(|number| number.to_string() == digits)?,
        ))
    });
    if let Some((before, own)) = own
        && (known == Some(own) || taken.insert(own))
    {
        return (before, own);
    }
    let free = known.unwrap_or_else(|| {
        let mut numbers = next..;
        numbers
            .find(|number| !taken.contains(number))
            .unwrap_or(next)
    });
    taken.insert(free);
    (name, free)
}

/// A thread as far as it has come.
struct Thread {
    /// The threads and the like around its functions.
    around: Vec<usize>,
    /// For each stack: the one below it ([`NONE`] at the bottom).
    prefixes: Column<4>,
    /// For each stack: its frame.
    stack_frames: Column<4>,
    /// The frames of stacks.
    frames: Numbers<usize>,
    /// The stack of the last sample: frame and number.
    last: Vec<(usize, u32)>,
    /// For each sample: its stack ([`NONE`] if it has none).
    stacks: Column<4>,
    /// For each sample: its weight, which may be less than nothing.
    weights: Column<8>,
}

const NONE: u32 = u32::MAX;

impl<'p> Threads<'p> {
    fn new(profile: &'p Profile<'p>, modules: &'p Modules<'p>) -> Self {
        Self {
            profile,
            modules,
            processes: HashMap::new(),
            taken: Default::default(),
            count: 0,
            open: None,
        }
    }

    fn sample(
        &mut self,
        sample: &Sample<'_>,
        places: &[FrameKey],
        out: &mut dyn Write,
    ) -> Result<(), ExportError> {
        if self
            .open
            .as_ref()
            .is_none_or(|thread| !same(&thread.around, sample.around))
        {
            self.end(places, out)?;
            let around = sample.around.to_vec();
            self.open = Some(Thread {
                around,
                prefixes: Column::default(),
                stack_frames: Column::default(),
                frames: Numbers::default(),
                last: Vec::new(),
                stacks: Column::default(),
                weights: Column::default(),
            });
        }
        let Some(thread) = &mut self.open else {
            return Ok(());
        };
        // What has stayed is not compared: stacks may be deep, and samples many. A frame that came
        // again has its old stack.
        let kept = sample.kept.min(thread.last.len());
        let again = thread.last[kept..].iter().zip(&sample.stack[kept..]);
        let same = kept
            + again
                .take_while(|((last, _), frame)| last == *frame)
                .count();
        thread.last.truncate(same);
        for frame in &sample.stack[same..] {
            let prefix = thread.last.last().map_or(NONE, |(_, stack)| *stack);
            let stack = number(thread.prefixes.count());
            thread.last.push((*frame, stack));
            thread.prefixes.push(prefix.into());
            thread
                .stack_frames
                .push(thread.frames.number(*frame) as u64);
        }
        let stack = thread.last.last().map_or(NONE, |(_, stack)| *stack);
        thread.stacks.push(stack.into());
        thread.weights.push(sample.values[0].cast_unsigned());
        Ok(())
    }

    /// Writes the open thread.
    fn end(&mut self, places: &[FrameKey], out: &mut dyn Write) -> Result<(), ExportError> {
        let Some(mut thread) = self.open.take() else {
            return Ok(());
        };
        let functions = &self.profile.functions;
        let of_kind = |kind| {
            let found = thread
                .around
                .iter()
                .rev()
                .find(|at| functions[**at].kind == kind);
            found.map(|at| functions[*at].name.clone())
        };
        let title = self
            .profile
            .run
            .title
            .clone()
            .unwrap_or_else(|| self.profile.run.name.clone());
        let process = of_kind(Kind::Process).unwrap_or_else(|| title.clone());
        let other = thread.around.last().map(|at| functions[*at].name.clone());
        let name = of_kind(Kind::Thread).or(other).unwrap_or(title);
        let [pids, tids] = &mut self.taken;
        let known = self.processes.get(&process).copied();
        let (process_name, pid) = named(&process, known, number(self.processes.len() as u64), pids);
        self.processes.insert(process.clone(), pid);
        let before = if self.count == 0 { "" } else { "," };
        self.count += 1;
        let (name, tid) = named(&name, None, number(self.count as u64), tids);
        write!(
            out,
            "{before}\n{{\"name\":{},\"processName\":{}",
            json(name),
            json(process_name)
        )?;
        write!(
            out,
            ",\"pid\":\"{pid}\",\"tid\":{tid},\"isMainThread\":{}",
            known.is_none()
        )?;
        write!(
            out,
            ",\"processType\":\"default\",\"processStartupTime\":0,\"processShutdownTime\":null"
        )?;
        write!(
            out,
            ",\"registerTime\":0,\"unregisterTime\":null,\"pausedRanges\":[]"
        )?;
        self.samples(&mut thread, out)?;
        self.tables(thread, places, out)?;
        write!(
            out,
            ",\"markers\":{{\"length\":0,\"data\":[],\"name\":[],\"startTime\":[],\"endTime\":[]"
        )?;
        write!(out, ",\"phase\":[],\"category\":[]}}")?;
        write!(
            out,
            ",\"nativeSymbols\":{{\"length\":0,\"address\":[],\"functionSize\":[],\"libIndex\":[]"
        )?;
        Ok(write!(out, ",\"name\":[]}}}}")?)
    }

    fn samples(&self, thread: &mut Thread, out: &mut dyn Write) -> Result<(), ExportError> {
        let (_, weight_type, scale) = scale(&self.profile.metric);
        #[expect(clippy::cast_precision_loss, reason = "the figures were REAL before")]
        let push_weight =
            |weight: i64, text: &mut String| push_shortest(weight as f64 / scale, text);
        write!(
            out,
            ",\"samples\":{{\"length\":{},\"weightType\":\"{weight_type}\"",
            thread.stacks.count()
        )?;
        spooled_column(out, "stack", &mut thread.stacks, push_or_null)?;
        spooled_column(out, "weight", &mut thread.weights, |weight, text| {
            push_weight(weight.cast_signed(), text);
        })?;
        let mut time = 0_i64;
        spooled_column(out, "time", &mut thread.weights, |weight, text| {
            push_weight(time, text);
            // A negative weight takes no time, so that the time line does not run backwards.
            time = time.saturating_add(weight.cast_signed().max(0));
        })?;
        Ok(write!(out, "}}")?)
    }

    /// Stacks, and the frames, functions, files and names that they need.
    fn tables(
        &self,
        mut thread: Thread,
        places: &[FrameKey],
        out: &mut dyn Write,
    ) -> Result<(), ExportError> {
        let mut functions = Numbers::default();
        let mut texts = Numbers::default();
        let stacks = thread.prefixes.count();
        write!(out, ",\"stackTable\":{{\"length\":{stacks}")?;
        spooled_column(out, "prefix", &mut thread.prefixes, push_or_null)?;
        spooled_column(out, "frame", &mut thread.stack_frames, push_number)?;
        constants(out, &["category", "subcategory"], "0", stacks)?;
        let frames = thread.frames.all;
        write!(out, "}},\"frameTable\":{{\"length\":{}", frames.len())?;
        column(
            out,
            "func",
            frames
                .iter()
                .map(|at| functions.number(places[*at].function)),
        )?;
        column(out, "line", frames.iter().map(|at| known(places[*at].line)))?;
        column(
            out,
            "column",
            frames.iter().map(|at| known(places[*at].col)),
        )?;
        constants(out, &["address"], "-1", frames.len() as u64)?;
        constants(
            out,
            &["inlineDepth", "category", "subcategory"],
            "0",
            frames.len() as u64,
        )?;
        constants(
            out,
            &["nativeSymbol", "innerWindowID", "implementation"],
            "null",
            frames.len() as u64,
        )?;
        let functions: Vec<_> = functions
            .all
            .iter()
            .map(|at| &self.profile.functions[*at])
            .collect();
        write!(out, "}},\"funcTable\":{{\"length\":{}", functions.len())?;
        column(
            out,
            "name",
            functions
                .iter()
                .map(|function| texts.number(function.name.as_str())),
        )?;
        let file = functions
            .iter()
            .map(|function| match function.file.as_str() {
                "" => "null".to_owned(),
                file => texts.number(file).to_string(),
            });
        column(out, "fileName", file)?;
        column(
            out,
            "lineNumber",
            functions
                .iter()
                .map(|function| known(held_place(function).0)),
        )?;
        column(
            out,
            "columnNumber",
            functions
                .iter()
                .map(|function| known(held_place(function).1)),
        )?;
        let mut resources = Numbers::default();
        column(
            out,
            "resource",
            functions
                .iter()
                .map(|function| match function.module.as_str() {
                    "" => "-1".to_owned(),
                    module => resources.number(module).to_string(),
                }),
        )?;
        constants(
            out,
            &["isJS", "relevantForJS"],
            "false",
            functions.len() as u64,
        )?;
        let resources = resources.all;
        write!(out, "}},\"resourceTable\":{{\"length\":{}", resources.len())?;
        column(
            out,
            "lib",
            resources
                .iter()
                .map(|module| self.modules.index.get(*module).copied().unwrap_or(0)),
        )?;
        column(
            out,
            "name",
            resources.iter().map(|module| texts.number(*module)),
        )?;
        constants(out, &["host"], "null", resources.len() as u64)?;
        // A library.
        constants(out, &["type"], "1", resources.len() as u64)?;
        write!(out, "}}")?;
        column(out, "stringArray", texts.all.iter().map(|text| json(text)))
    }
}

/// Things that get numbers in the order in which they are needed.
struct Numbers<T> {
    index: HashMap<T, usize>,
    all: Vec<T>,
}

impl<T> Default for Numbers<T> {
    fn default() -> Self {
        Self {
            index: HashMap::new(),
            all: Vec::new(),
        }
    }
}

impl<T: Copy + Eq + std::hash::Hash> Numbers<T> {
    fn number(&mut self, thing: T) -> usize {
        let next = self.all.len();
        let number = *self.index.entry(thing).or_insert(next);
        if number == next {
            self.all.push(thing);
        }
        number
    }
}

/// The number of a row. There are less than [`NONE`].
fn number(at: u64) -> u32 {
    u32::try_from(at).unwrap_or(NONE)
}

fn push_number(number: u64, text: &mut String) {
    push_signed(number.cast_signed(), text);
}

fn push_or_null(number: u64, text: &mut String) {
    if number == u64::from(NONE) {
        text.push_str("null");
    } else {
        push_number(number, text);
    }
}

/// Line and column of definition: readers take a column for nothing without a line.
fn held_place(function: &FunctionRow) -> (i64, i64) {
    if function.place.0 == 0 {
        (0, 0)
    } else {
        function.place
    }
}

/// A line or column; 0 is unknown.
fn known(number: i64) -> String {
    if number == 0 {
        "null".to_owned()
    } else {
        number.to_string()
    }
}

/// A column of a table.
fn column<T: std::fmt::Display>(
    out: &mut dyn Write,
    name: &str,
    values: impl Iterator<Item = T>,
) -> Result<(), ExportError> {
    write!(out, ",\"{name}\":[")?;
    for (at, value) in values.enumerate() {
        write!(out, "{}{value}", if at == 0 { "" } else { "," })?;
    }
    Ok(write!(out, "]")?)
}

/// A column of a table that has waited; how its numbers are written is said.
fn spooled_column<const N: usize>(
    out: &mut dyn Write,
    name: &str,
    numbers: &mut Column<N>,
    mut push: impl FnMut(u64, &mut String),
) -> Result<(), ExportError> {
    write!(out, ",\"{name}\":[")?;
    let mut text = String::new();
    let mut before = None;
    numbers.each(|number| {
        text.clear();
        text.extend(before.replace(','));
        push(number, &mut text);
        out.write_all(text.as_bytes())
    })?;
    Ok(write!(out, "]")?)
}

/// Columns with one value in all rows.
fn constants(
    out: &mut dyn Write,
    names: &[&str],
    value: &str,
    count: u64,
) -> Result<(), ExportError> {
    for name in names {
        write!(out, ",\"{name}\":[")?;
        for at in 0..count {
            out.write_all(if at == 0 { b"" } else { b"," })?;
            out.write_all(value.as_bytes())?;
        }
        write!(out, "]")?;
    }
    Ok(())
}
