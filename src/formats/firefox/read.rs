//! Firefox Profiler's processed profiles (JSON)
//!
//! # What it is
//! Profiles that profiler.firefox.com saves and shares, usually compressed with gzip. Firefox itself writes them, and so do
//! samply, the crate `fxprof-processed-profile` and its users. Default metric: `samples`, else the first one
//! of the file; also `time`.
//!
//! # How to record one
//! ```text
//! samply record --save-only -o profile.json.gz ./program
//! ```
//! samply leaves the lookup of names to its viewer: open the file with `samply load`, and save it there.
//! In Firefox: record with the profiler, "Upload Local Profile" or "Download".
//!
//! # What we read
//! - Samples of all threads, below a node for the thread and one for its process.
//! - Versions with tables per thread (to 55), and those that share names (from 56), sources (from 58) or all tables
//!   (from 60) between threads in `shared`. Newer versions with relative stack numbers and column flags are read, too.
//! - Weights by type: `samples` are the metric `samples`, and `time` is their number times the interval of the file, unless profdb
//!   wrote that there is none. `tracing-ms` are `time`, `bytes` are `bytes`. Samples without weights count 1.
//! - `threadCPUDelta`: processor time since the previous sample, as the metric `cpu`, or `cycles` if that is its unit. The
//!   first sample of a thread has none.
//! - Functions by name, resource (the module: a library, a host, an add-on), source file and place of definition. Lines and
//!   columns of frames become lines of the functions.
//! - Samples without a stack count for their thread.
//! - Categories and subcategories, as the labels `category` and `subcategory` of samples. They are those of the stack, else of
//!   its innermost frame with a category. There are no labels if there is only one category. A file
//!   without a list of categories uses that of the viewer, from version 12 on.
//! - Product, interval, versions and system, as properties of the run.
//!
//! The file is read twice if the data of threads follows them.
//!
//! # What we leave out
//! - Markers, counters, screenshots, the times of samples, colours of categories, addresses, native symbols.
//! - Allocations of memory that were recorded beside the samples, with a note.
//! - Names of functions that the viewer would look up: the functions have addresses as names, with a note.
//! - Profiles in `JsonSlabs` (`.jslb`), a binary form that the viewer and samply may save: save them as JSON.
//! - Gecko profiles, the viewer's input from Firefox, Simpleperf and `perf script report gecko`, are refused.
//!
//! # References
//! - The profiler's types and its list of changes of the format: <https://github.com/firefox-devtools/profiler>.

use hashbrown::HashMap;

use super::categories::{Category, HAS_CATEGORIES, category, labels};
use super::stack_nodes::{MissingEntries, StackNodes};
use super::tables::{NONE, Tables, View, columns, numbers};
use super::unknown_interval::UNKNOWN_INTERVAL;
use crate::base::error::{ImportError, Position, quote};
use crate::events::{
    FunctionDef, FunctionId, Kind, LabelsId, MetricId, Noise, RunFact, Sample, Severity, Sink, Unit,
};
use crate::formats::common::call_tree::{CallTree, Location, NodeId, TOP};
use crate::formats::common::counted::{Counted, many};
use crate::formats::common::json::{Outline, Reader, Within, column};
use crate::formats::common::repeated::Repeated;
use crate::formats::format::{Confidence, Format};
use crate::formats::options::{KEEP_BEFORE_ERROR_OPTION, Options};
use crate::formats::salvage::Salvage;
use crate::input::Input;
use crate::text::escape;

/// The format of the page above: how it is recognised and read.
pub(in crate::formats) const FORMAT: Format = Format {
    name: "firefox",
    summary: "Firefox Profiler's processed profiles: Firefox, samply",
    revision: 6,
    sniff,
    has_empty_recordings: true,
    salvage: Salvage::Json,
    options: &[KEEP_BEFORE_ERROR_OPTION],
    import,
};

/// The metrics that there may be, as numbers for [`CallTree::cost`].
const METRICS: [(&str, Unit); 5] = [
    (SAMPLES_NAME, Unit::Count),
    ("time", Unit::Nanoseconds),
    ("bytes", Unit::Bytes),
    ("cpu", Unit::Nanoseconds),
    ("cycles", Unit::Count),
];
const SAMPLES_NAME: &str = "samples";
const SAMPLES: usize = 0;
const TIME: usize = 1;
const BYTES: usize = 2;
const CPU: usize = 3;
const CYCLES: usize = 4;

/// Nanoseconds of a millisecond.
const MILLISECOND: f64 = 1e6;

/// What is kept of `meta`, as the file says it.
const PROPERTIES: [&str; 8] = [
    "preprocessedProfileVersion",
    "product",
    "interval",
    "startTime",
    "importedFrom",
    "platform",
    "oscpu",
    "appBuildID",
];

fn sniff(head: &[u8]) -> Confidence {
    let has = |member: &[u8]| memchr::memmem::find(head, member).is_some();
    let Some(outline) = Outline::of(head).filter(|outline| !outline.in_array) else {
        return Confidence::No;
    };
    let begins_with = |member: &[u8]| outline.names.first() == Some(&member);
    // What Firefox writes itself begins with many libraries; `meta` is further down. `import` says
    // what it is.
    let is_gecko = begins_with(b"libs") && has(b"\"breakpadId\"");
    match outline.has("meta") {
        _ if is_gecko => Confidence::Yes,
        true if has(b"\"preprocessedProfileVersion\"") => Confidence::Yes,
        true if begins_with(b"meta") && has(b"\"interval\"") => Confidence::Maybe,
        _ => Confidence::No,
    }
}

fn import(
    input: &mut Input<'_>,
    _options: &Options,
    sink: &mut dyn Sink,
) -> Result<(), ImportError> {
    // What threads need may come after them (case `firefox/all-tables-shared`), and a pipe cannot
    // go back.
    input.keep();
    let mut file = File::new(sink);
    let waits = file.read(&mut Reader::new(input))?;
    if waits {
        input.restart()?;
        file.read_again(&mut Reader::new(input))?;
    }
    file.sink.at(input.record_start());
    file.finish()
}

/// What a thread has sampled.
#[derive(Default)]
struct Samples {
    at: Option<Position>,
    stack: Vec<u32>,
    weight: Option<Vec<f64>>,
    /// The metric of the weights, and the factor.
    unit: Option<(usize, f64)>,
    cpu: Vec<Option<f64>>,
}

#[derive(Default)]
struct Thread {
    name: String,
    process: String,
    pid: String,
    tid: String,
    tables: Tables,
    samples: Samples,
    /// Where tables of allocations are.
    allocations: Vec<Position>,
}

/// What `meta` says that figures depend on.
#[derive(Default)]
struct Meta {
    /// Nanoseconds between two samples; `None` if they are unknown.
    interval: Option<f64>,
    /// The metric of processor time, and the factor.
    cpu: Option<(usize, f64)>,
    /// `None` if the numbers of categories mean nothing.
    categories: Option<Vec<Category>>,
}

struct File<'f> {
    sink: &'f mut dyn Sink,
    meta: Option<Meta>,
    shared: Tables,
    /// Where samples are. What they cost is with their labels.
    tree: CallTree<[f64; 0]>,
    costs: Costs,
    /// By category and subcategory.
    labels: HashMap<(u32, u32), Option<LabelsId>>,
    used: [bool; METRICS.len()],
    /// Threads that have been emitted.
    done: usize,
    /// The file is read for the second time.
    again: bool,
    /// Functions of shared tables, by their number.
    functions: HashMap<u32, FunctionId>,
    names: Repeated,
    missing: MissingEntries,
    allocations: Counted,
    not_symbolicated: Counted,
    text: Vec<u8>,
}

impl<'f> File<'f> {
    fn new(sink: &'f mut dyn Sink) -> Self {
        Self {
            sink,
            meta: None,
            shared: Tables::default(),
            tree: CallTree::default(),
            costs: Costs::default(),
            labels: HashMap::new(),
            used: [false; METRICS.len()],
            done: 0,
            again: false,
            functions: HashMap::new(),
            names: Repeated::default(),
            missing: MissingEntries::default(),
            allocations: Counted::default(),
            not_symbolicated: Counted::default(),
            text: Vec::new(),
        }
    }

    /// Reads the file; says whether there are threads that need what comes after them.
    fn read(&mut self, json: &mut Reader<'_, '_>) -> Result<bool, ImportError> {
        let mut waits = None;
        let mut within = Within::default();
        let mut name = Vec::new();
        while let Some(at) = json.member(&mut within, &mut name)? {
            json.begin_record_at(at);
            self.sink.at(at);
            match name.as_slice() {
                b"meta" => self.meta = Some(self.read_meta(json)?),
                b"shared" => self.shared = Self::read_shared(json)?,
                b"threads" if waits.is_some() => {
                    return Err(ImportError::malformed(
                        at,
                        "one member `threads`",
                        "a second one",
                    ));
                }
                b"threads" => waits = Some(!self.threads(json)?),
                _ => json.skip()?,
            }
        }
        let missing =
            |name: &str| ImportError::malformed(json.position(), name, "the end of the profile");
        let waits = waits.ok_or_else(|| missing("a member `threads`"))?;
        if self.meta.is_none() {
            return Err(missing("a member `meta`"));
        }
        json.end()?;
        Ok(waits)
    }

    fn read_again(&mut self, json: &mut Reader<'_, '_>) -> Result<(), ImportError> {
        self.again = true;
        let mut within = Within::default();
        let mut name = Vec::new();
        while let Some(at) = json.member(&mut within, &mut name)? {
            json.begin_record_at(at);
            self.sink.at(at);
            if name == b"threads" {
                self.threads(json)?;
            } else {
                json.skip()?;
            }
        }
        Ok(())
    }

    fn read_meta(&mut self, json: &mut Reader<'_, '_>) -> Result<Meta, ImportError> {
        let mut meta = Meta {
            interval: Some(MILLISECOND),
            ..Meta::default()
        };
        let mut is_interval_known = true;
        let mut version = 0.0;
        let mut within = Within::default();
        let mut name = Vec::new();
        while json.member(&mut within, &mut name)?.is_some() {
            let known = PROPERTIES.iter().find(|known| known.as_bytes() == name);
            if name == b"sampleUnits" && json.is_next(b'{')? {
                meta.cpu = self.cpu_unit(json)?;
            } else if name == UNKNOWN_INTERVAL.as_bytes() {
                is_interval_known = !json.is_next(b't')?;
                json.skip()?;
            } else if name == b"symbolicated" {
                let at = json.place()?;
                if json.is_next(b'f')? {
                    self.not_symbolicated.add(at);
                }
                json.skip()?;
            } else if name == b"categories" && json.is_next(b'[')? {
                meta.categories = Some(column(json, category)?);
            } else if let Some(known) = known {
                let at = json.place()?;
                json.text_or_number("a text or number", &mut self.text)?;
                let text = escape::text(&self.text);
                if *known == "interval" {
                    let interval = text
                        .parse()
                        .ok()
                        .filter(|interval: &f64| interval.is_finite());
                    let wrong = || {
                        ImportError::malformed(at, "milliseconds in `interval`", quote(&self.text))
                    };
                    meta.interval = Some(MILLISECOND * interval.ok_or_else(wrong)?);
                }
                if *known == "preprocessedProfileVersion" {
                    version = text.parse().unwrap_or(0.0);
                }
                self.sink.at(json.record_start());
                self.sink.run(RunFact::Other(known, &text));
            } else {
                json.skip()?;
            }
        }
        meta.interval = meta.interval.filter(|_| is_interval_known);
        if meta.categories.is_none() && version >= HAS_CATEGORIES {
            meta.categories = Some(Category::of_the_viewer());
        }
        Ok(meta)
    }

    fn cpu_unit(&mut self, json: &mut Reader<'_, '_>) -> Result<Option<(usize, f64)>, ImportError> {
        let mut unit = None;
        let mut within = Within::default();
        let mut name = Vec::new();
        while json.member(&mut within, &mut name)?.is_some() {
            if name == b"threadCPUDelta" && json.is_next(b'"')? {
                json.text(&mut self.text)?;
                unit = match escape::text(&self.text).as_ref() {
                    "ns" => Some((CPU, 1.0)),
                    "\u{b5}s" | "\u{3bc}s" | "us" => Some((CPU, 1e3)),
                    "variable CPU cycles" => Some((CYCLES, 1.0)),
                    _ => None,
                };
            } else {
                json.skip()?;
            }
        }
        Ok(unit)
    }

    fn read_shared(json: &mut Reader<'_, '_>) -> Result<Tables, ImportError> {
        let mut tables = Tables::default();
        let mut within = Within::default();
        let mut name = Vec::new();
        while json.member(&mut within, &mut name)?.is_some() {
            if !tables.read(json, &name)? {
                json.skip()?;
            }
        }
        Ok(tables)
    }

    /// Reads the threads that have not been emitted yet; says whether all of them have been.
    fn threads(&mut self, json: &mut Reader<'_, '_>) -> Result<bool, ImportError> {
        let mut number = 0;
        let mut waits = false;
        let mut items = Within::default();
        while let Some(at) = json.item(&mut items)? {
            json.begin_record_at(at);
            self.sink.at(at);
            // After one thread that has to wait all others wait, too: so those that are done are
            // the first ones, and threads keep the order of the file.
            waits |= self.meta.is_none();
            if waits || number < self.done {
                json.skip()?;
            } else {
                let thread = self.thread(json)?;
                match View::of(&thread.tables, &self.shared) {
                    Err(missing) if self.again => {
                        let expected = format!("a thread with `{missing}`, or one in `shared`");
                        return Err(ImportError::malformed(at, expected, "one without"));
                    }
                    Err(_) => waits = true,
                    Ok(_) => {
                        let end = json.position();
                        self.sink.at(json.record_start());
                        self.emit_thread(&thread, at, end)?;
                        self.done += 1;
                    }
                }
            }
            number += 1;
        }
        Ok(!waits)
    }

    fn thread(&mut self, json: &mut Reader<'_, '_>) -> Result<Thread, ImportError> {
        let mut thread = Thread::default();
        let mut within = Within::default();
        let mut name = Vec::new();
        while let Some(at) = json.member(&mut within, &mut name)? {
            json.begin_record_at(at);
            self.sink.at(at);
            let text = match name.as_slice() {
                b"name" => &mut thread.name,
                b"processName" => &mut thread.process,
                b"processType" if thread.process.is_empty() => &mut thread.process,
                b"pid" => &mut thread.pid,
                b"tid" => &mut thread.tid,
                b"samples" => {
                    thread.samples = self.samples(json, at)?;
                    continue;
                }
                b"jsAllocations" | b"nativeAllocations" => {
                    thread.allocations.push(at);
                    json.skip()?;
                    continue;
                }
                _ => {
                    if !thread.tables.read(json, &name)? {
                        json.skip()?;
                    }
                    continue;
                }
            };
            json.text_or_number("a name or number", &mut self.text)?;
            *text = escape::text(&self.text).into_owned();
        }
        Ok(thread)
    }

    fn samples(&mut self, json: &mut Reader<'_, '_>, at: Position) -> Result<Samples, ImportError> {
        let mut samples = Samples {
            at: Some(at),
            ..Samples::default()
        };
        let text = &mut self.text;
        columns(json, &["stack"], |json, name| {
            match name {
                b"stack" => samples.stack = numbers(json)?,
                b"weight" => samples.weight = Some(column(json, |json| json.real("a weight"))?),
                b"weightType" => {
                    let at = json.place()?;
                    json.text(text)?;
                    samples.unit = Some(match text.as_slice() {
                        b"samples" => (SAMPLES, 1.0),
                        b"tracing-ms" => (TIME, MILLISECOND),
                        b"bytes" => (BYTES, 1.0),
                        other => {
                            let expected = "samples, tracing-ms or bytes in `weightType`";
                            return Err(ImportError::malformed(at, expected, quote(other)));
                        }
                    });
                }
                b"threadCPUDelta" if json.is_next(b'[')? => {
                    let number = |json: &mut Reader<'_, '_>| {
                        if json.null()? {
                            Ok(None)
                        } else {
                            json.real("a number in `threadCPUDelta`").map(Some)
                        }
                    };
                    samples.cpu = column(json, number)?;
                }
                b"schema" => {
                    return Err(ImportError::Refused(
                        "the file is an unprocessed Gecko profile: open it in profiler.firefox.com and save it from \
                         there"
                            .to_owned(),
                    ));
                }
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(samples)
    }

    /// Adds the samples of a thread that has all its tables.
    fn emit_thread(
        &mut self,
        thread: &Thread,
        at: Position,
        end: Position,
    ) -> Result<(), ImportError> {
        let Ok(view) = View::of(&thread.tables, &self.shared) else {
            return Ok(());
        };
        for allocations in &thread.allocations {
            self.allocations.add(*allocations);
        }
        let Samples {
            stack: stacks,
            weight,
            unit,
            cpu,
            at: samples_at,
        } = &thread.samples;
        let Some(samples_at) = *samples_at else {
            return Ok(());
        };
        let lengths = [
            weight.as_ref().map(Vec::len),
            (!cpu.is_empty()).then_some(cpu.len()),
        ];
        if let Some(length) = lengths
            .into_iter()
            .flatten()
            .find(|length| *length != stacks.len())
        {
            let expected = format!("columns with {} samples", stacks.len());
            return Err(ImportError::malformed(
                samples_at,
                expected,
                format!("a column of {length}"),
            ));
        }
        let container_name = |word: &str, name: &str, id: &str| {
            let name = format!("{} {id}", if name.is_empty() { word } else { name });
            name.trim().to_owned()
        };
        let mut container = |kind, module: &str, name: &str| {
            Location::of(self.sink.function(FunctionDef {
                kind,
                module,
                ..FunctionDef::named(name)
            }))
        };
        let process_name = container_name("process", &thread.process, &thread.pid);
        let process = container(Kind::Process, "", &process_name);
        let thread_name = container_name("thread", &thread.name, &thread.tid);
        let location = container(Kind::Thread, &process_name, &thread_name);
        let above = self.tree.below(TOP, process);
        let top = self.tree.below(above, location);
        let meta = self.meta.as_ref();
        let interval = meta.and_then(|meta| meta.interval);
        let cpu_unit = meta.and_then(|meta| meta.cpu);
        let (metric, factor) = unit.unwrap_or((SAMPLES, 1.0));
        // What is one category only, is none.
        let names = meta.and_then(|meta| meta.categories.as_deref());
        let names = names
            .filter(|names| names.len() > 1 || names.iter().any(|one| one.subcategories.len() > 1));
        let categories = view.categories();
        let mut own_functions = HashMap::new();
        let mut places = StackNodes {
            view,
            tree: &mut self.tree,
            sink: &mut *self.sink,
            at,
            top,
            nodes: vec![TOP; view.stacks.prefix.len()],
            // Numbers of functions mean the same in all threads only where all that they point to
            // is shared.
            functions: if thread.tables.shares_functions() {
                &mut self.functions
            } else {
                &mut own_functions
            },
            names: &mut self.names,
            missing: &mut self.missing,
            end,
        };
        // The thread is there also if it has no sample.
        self.costs.of(top, None);
        for (number, stack) in stacks.iter().enumerate() {
            let node = places.node(*stack, samples_at)?;
            let labels = match categories.get(*stack as usize) {
                Some(named)
                    if named.0 != NONE
                        && let Some(names) = names =>
                {
                    let missing = &mut places.missing.categories;
                    let add = || labels(names, *named, at, missing, &mut *places.sink);
                    *self.labels.entry(*named).or_insert_with(add)
                }
                _ => None,
            };
            let costs = self.costs.of(node, labels);
            let mut add = |metric: usize, cost: f64| {
                if let Some(sum) = costs.get_mut(metric) {
                    *sum += cost;
                }
            };
            let weight = weight
                .as_ref()
                .and_then(|weights| weights.get(number))
                .copied()
                .unwrap_or(1.0);
            add(metric, weight * factor);
            if let Some(interval) = interval.filter(|_| metric == SAMPLES) {
                add(TIME, weight * interval);
            }
            // Before the first sample it is unknown what the processor did.
            let delta = cpu.get(number).copied().flatten().filter(|_| number > 0);
            if let (Some((metric, factor)), Some(delta)) = (cpu_unit, delta) {
                add(metric, delta * factor);
            }
        }
        let uses = [
            Some(metric),
            interval.filter(|_| metric == SAMPLES).map(|_| TIME),
        ];
        let cpu = cpu_unit
            .filter(|_| !cpu.is_empty())
            .map(|(metric, _)| metric);
        for metric in uses.into_iter().chain([cpu]).flatten() {
            if let Some(used) = self.used.get_mut(metric) {
                *used = true;
            }
        }
        Ok(())
    }

    /// Emits what has been added up.
    fn finish(self) -> Result<(), ImportError> {
        // What no thread has measured is no metric: unknown is not 0.
        let mut metrics = [None; METRICS.len()];
        for ((metric, used), (name, unit)) in metrics.iter_mut().zip(self.used).zip(METRICS) {
            *metric = used.then(|| match name {
                SAMPLES_NAME => self.sink.samples(name),
                _ => self.sink.metric(name, unit, Noise::Sampled),
            });
        }
        // Something is measured also where there was no thread.
        if metrics.iter().all(Option::is_none) {
            self.sink.samples(SAMPLES_NAME);
        }
        if let [Some(samples), others @ ..] = metrics {
            for metric in others.into_iter().flatten() {
                self.sink.run(RunFact::Observations(metric, samples));
            }
        }
        self.costs.emit(self.sink, &self.tree, &metrics);
        self.not_symbolicated.note(self.sink, Severity::Info, |_| {
            "the file is not symbolicated: functions are named by their address; to get names, open the file in \
             profiler.firefox.com and save it again"
                .to_owned()
        });
        self.allocations.note(self.sink, Severity::Info, |count| {
            format!(
                "{} of allocations skipped: only samples are imported",
                many(count, "table")
            )
        });
        self.missing.note(self.sink)
    }
}

/// What samples cost, by node and labels, in the order in which they came.
#[derive(Default)]
struct Costs {
    index: HashMap<(NodeId, Option<LabelsId>), usize>,
    all: Vec<(NodeId, Option<LabelsId>, [f64; 5])>,
}

impl Costs {
    fn of(&mut self, node: NodeId, labels: Option<LabelsId>) -> &mut [f64] {
        let next = self.all.len();
        let at = *self.index.entry((node, labels)).or_insert(next);
        if at == next {
            self.all.push((node, labels, [0.0; 5]));
        }
        self.all.get_mut(at).map_or(&mut [], |(_, _, costs)| costs)
    }

    fn emit(
        &self,
        sink: &mut dyn Sink,
        tree: &CallTree<[f64; 0]>,
        metrics: &[Option<MetricId>; 5],
    ) {
        let mut stack = Vec::new();
        let mut values = Vec::new();
        for (node, labels, costs) in &self.all {
            tree.stack(*node, &mut stack);
            values.clear();
            // To a sink, a metric without a cost is a cost of 0.
            let values_of = metrics.iter().zip(costs).filter(|(_, cost)| **cost != 0.0);
            values.extend(values_of.filter_map(|(metric, cost)| Some(((*metric)?, *cost))));
            sink.sample(Sample {
                stack: &stack,
                shared: 0,
                calls: None,
                values: &values,
                labels: *labels,
            });
        }
    }
}
