//! speedscope files
//!
//! # What it is
//! The JSON format of speedscope, which many profilers write: py-spy, rbspy, Austin (converted),
//! dotnet-trace, Emerge, `speedscope` itself. One file may contain several profiles, such as one per thread. Default metric:
//! that of the profile that is shown first.
//!
//! # How to record one
//! ```text
//! py-spy record -f speedscope -o run.json -- python app.py
//! dotnet-trace collect --format speedscope -- app
//! ```
//!
//! # What we read
//! - Both types of profiles: samples with weights, and open and close events of calls.
//! - Every profile below a node of its own: a thread if its name begins with `Thread` or is `Process P Thread T`, as py-spy
//!   writes it with `--subprocesses`, else a part of the file. Profiles with equal names stay separate: `Thread 1 (2)`.
//! - Functions by name and file. `line` and `col` are the position of a frame in its function and become lines of it.
//!   Numbers below 0, which older versions of speedscope export for functions without source, are ignored.
//! - Weights: a unit of time is the metric `time` in nanoseconds, `bytes` are `bytes`, and no unit is `weight`.
//!   Profiles of one metric are parts of one run and are added up. Austin's converter writes one profile for each
//!   metric of each thread; they become the metrics of its [other files](#austin). If names differ only in a word such as
//!   `cpu` or `wall`, a note says that the sum may combine different measurements.
//! - The number of samples, as the metric `samples`; with several metrics, `METRIC.samples`, or `METRIC.samples 2` if the file
//!   has a metric with that name.
//! - Three members outside the schema, which profdb writes. `metric` of a profile names its metric. `around` has the numbers of
//!   the frames around all its stacks (process and thread), instead of a node for the profile. `kind` of a
//!   frame that is not a function is `thread`, `process`, `part`, `root` or `pseudo`. Profiles with the same stacks are
//!   then one tree with several metrics. A stack with only the last frame of `around` is its exclusive cost.
//! - Calls from open and close events. The time until the next event belongs to the innermost call.
//!   A sampling profiler that writes calls (pyinstrument) has one per uninterrupted stretch of a function.
//! - Calls that are open at the end of a profile, which last until its `endValue`, with a note.
//! - `name` as title, and `exporter` as the version of the tool, unless it is profdb. `activeProfileIndex` is the profile that
//!   is shown first.
//!
//! The file is read twice if its frames follow its profiles, as in files of py-spy.
//!
//! # What we leave out
//! - The order of samples in time. `startValue`, and `endValue` if no call is open.
//! - Time without an open call.
//! - More than 256 metrics in one file are refused (limit: metrics).
//! - Unknown members: a note counts them.
//!
//! # References
//! - The format's description and its TypeScript and JSON schemas: <https://github.com/jlfwong/speedscope/wiki>.

use hashbrown::HashMap;
use smallvec::SmallVec;

use super::metrics::Metrics;
use super::moment::Moment;
use super::names::{Measured, of_austin};
use crate::base::error::{ImportError, Position, quote};
use crate::events::{FunctionDef, Kind, RunFact, Severity, Sink, Unit};
use crate::formats::common::call_tree::{CallTree, Location, NodeId, TOP};
use crate::formats::common::counted::{Counted, many};
use crate::formats::common::json::{Outline, Reader, Within};
use crate::formats::common::missing_frames::MissingFrames;
use crate::formats::format::{Confidence, Format};
use crate::formats::options::{KEEP_BEFORE_ERROR_OPTION, Options};
use crate::formats::salvage::Salvage;
use crate::input::Input;
use crate::text::escape;

/// The format of the page above: how it is recognised and read.
pub(in crate::formats) const FORMAT: Format = Format {
    name: "speedscope",
    summary: "speedscope files: py-spy, rbspy, dotnet-trace and others",
    revision: 4,
    sniff,
    has_empty_recordings: true,
    salvage: Salvage::Json,
    options: &[KEEP_BEFORE_ERROR_OPTION],
    import,
};

/// Where values are added up while their unit is unknown.
const RAW: usize = 0;

/// Units of values: what they are stored in, what they are multiplied with, and the metric if the
/// file does not name it.
const UNITS: [(&[u8], Unit, f64, &str); 6] = [
    (b"nanoseconds", Unit::Nanoseconds, 1.0, "time"),
    (b"microseconds", Unit::Nanoseconds, 1e3, "time"),
    (b"milliseconds", Unit::Nanoseconds, 1e6, "time"),
    (b"seconds", Unit::Nanoseconds, 1e9, "time"),
    (b"bytes", Unit::Bytes, 1.0, "bytes"),
    (b"none", Unit::Count, 1.0, "weight"),
];

fn sniff(head: &[u8]) -> Confidence {
    let Some(outline) = Outline::of(head).filter(|outline| !outline.in_array) else {
        return Confidence::No;
    };
    let schema = || memchr::memmem::find(head, b"speedscope.app/file-format-schema").is_some();
    if outline.has("$schema") && schema() {
        return Confidence::Yes;
    }
    if outline.has("shared") && outline.has("profiles") {
        Confidence::Maybe
    } else {
        Confidence::No
    }
}

fn import(
    input: &mut Input<'_>,
    _options: &Options,
    sink: &mut dyn Sink,
) -> Result<(), ImportError> {
    // Stacks are numbers of frames, and py-spy writes the frames last (case
    // `speedscope/frames-last`): then the profiles are passed over, and the file is read once more.
    input.keep();
    let mut file = File::new(sink);
    let has_waited = file.read(&mut Reader::new(input))?;
    if has_waited {
        input.restart()?;
        file.read_what_waited(&mut Reader::new(input))?;
    }
    file.sink.at(input.record_start());
    file.finish()
}

struct File<'f> {
    sink: &'f mut dyn Sink,
    frames: Option<Vec<Location>>,
    tree: CallTree<SmallVec<[f64; 4]>>,
    metrics: Metrics,
    /// The metric of each profile, and the number of the one that is shown first.
    profiles: Vec<usize>,
    active: Option<i64>,
    measured: Measured,
    /// Nodes that have been charged a time whose unit is not known yet.
    charged: Vec<NodeId>,
    /// How many profiles have a name.
    names: HashMap<String, u32>,
    name: Vec<u8>,
    text: Vec<u8>,
    unknown: Counted,
    open: Counted,
    missing: MissingFrames,
    /// Number of references to frames.
    references: u64,
}

impl<'f> File<'f> {
    fn new(sink: &'f mut dyn Sink) -> Self {
        Self {
            sink,
            frames: None,
            tree: CallTree::default(),
            metrics: Metrics::default(),
            profiles: Vec::new(),
            active: None,
            measured: Measured::default(),
            charged: Vec::new(),
            names: HashMap::new(),
            name: Vec::new(),
            text: Vec::new(),
            unknown: Counted::default(),
            open: Counted::default(),
            missing: MissingFrames::default(),
            references: 0,
        }
    }

    /// Reads the file; says whether the profiles came before their frames and have to be read once
    /// more.
    fn read(&mut self, json: &mut Reader<'_, '_>) -> Result<bool, ImportError> {
        let mut has_waited = None;
        let mut within = Within::default();
        let mut name = Vec::new();
        while let Some(at) = json.member(&mut within, &mut name)? {
            json.begin_record_at(at);
            self.sink.at(at);
            match name.as_slice() {
                b"shared" if self.frames.is_some() => {
                    return Err(ImportError::malformed(
                        at,
                        "one member `shared`",
                        "a second one",
                    ));
                }
                b"shared" => self.shared(json)?,
                b"profiles" if has_waited.is_some() => {
                    return Err(ImportError::malformed(
                        at,
                        "one member `profiles`",
                        "a second one",
                    ));
                }
                b"profiles" if self.frames.is_some() => {
                    has_waited = Some(false);
                    self.profiles(json)?;
                }
                b"profiles" => {
                    has_waited = Some(true);
                    json.skip()?;
                }
                b"name" => {
                    let title = self.text(json)?;
                    self.sink.run(RunFact::Title(&title));
                }
                b"exporter" => {
                    // What profdb wrote was recorded by something else.
                    let exporter = self.text(json)?;
                    if exporter != "profdb" {
                        self.sink.run(RunFact::ToolVersion(&exporter));
                    }
                }
                b"activeProfileIndex" => {
                    self.active = Some(json.integer("the number of a profile")?);
                }
                b"$schema" => json.skip()?,
                _ => self.skip(json, at, &name)?,
            }
        }
        let missing = |name: &str| {
            ImportError::malformed(json.position(), name, "the end of the file's object")
        };
        if self.frames.is_none() {
            return Err(missing("a member `shared`"));
        }
        let Some(has_waited) = has_waited else {
            return Err(missing("a member `profiles`"));
        };
        json.end()?;
        Ok(has_waited)
    }

    fn read_what_waited(&mut self, json: &mut Reader<'_, '_>) -> Result<(), ImportError> {
        let mut within = Within::default();
        let mut name = Vec::new();
        while let Some(at) = json.member(&mut within, &mut name)? {
            json.begin_record_at(at);
            self.sink.at(at);
            if name == b"profiles" {
                self.profiles(json)?;
            } else {
                json.skip()?;
            }
        }
        Ok(())
    }

    fn skip(
        &mut self,
        json: &mut Reader<'_, '_>,
        at: Position,
        name: &[u8],
    ) -> Result<(), ImportError> {
        self.unknown.add_with(at, || quote(name));
        json.skip()?;
        self.sink.at(json.record_start());
        Ok(())
    }

    fn text(&mut self, json: &mut Reader<'_, '_>) -> Result<String, ImportError> {
        json.text(&mut self.text)?;
        Ok(escape::text(&self.text).into_owned())
    }

    fn shared(&mut self, json: &mut Reader<'_, '_>) -> Result<(), ImportError> {
        let mut within = Within::default();
        let mut name = Vec::new();
        while let Some(at) = json.member(&mut within, &mut name)? {
            if name != b"frames" {
                self.skip(json, at, &name)?;
                continue;
            }
            let mut frames = Vec::new();
            let mut items = Within::default();
            while let Some(at) = json.item(&mut items)? {
                json.begin_record_at(at);
                self.sink.at(at);
                frames.push(self.frame(json, at)?);
            }
            self.frames = Some(frames);
        }
        if self.frames.is_some() {
            return Ok(());
        }
        Err(ImportError::malformed(
            json.position(),
            "a member `frames` in `shared`",
            "the end of the object",
        ))
    }

    fn frame(&mut self, json: &mut Reader<'_, '_>, at: Position) -> Result<Location, ImportError> {
        let (mut function, mut file) = (None, None);
        let (mut line, mut col) = (0, 0);
        let mut kind = Kind::Function;
        let mut within = Within::default();
        let mut name = std::mem::take(&mut self.name);
        while let Some(at) = json.member(&mut within, &mut name)? {
            match name.as_slice() {
                b"name" => function = Some(self.text(json)?),
                b"file" => file = Some(self.text(json)?),
                b"line" => line = from_one(json, "a line number")?,
                b"col" => col = from_one(json, "a column number")?,
                b"kind" => kind = self.kind(json)?,
                _ => self.skip(json, at, &name)?,
            }
        }
        self.name = name;
        let Some(function) = function else {
            return Err(ImportError::malformed(
                at,
                "a frame with `name`",
                "one without",
            ));
        };
        self.sink.at(json.record_start());
        let file = &file.unwrap_or_default();
        let function = self.sink.function(FunctionDef {
            kind,
            file,
            ..FunctionDef::named(&function)
        });
        // Without a line, a column tells nothing.
        Ok(Location {
            function,
            line,
            col: if line == 0 { 0 } else { col },
        })
    }

    fn profiles(&mut self, json: &mut Reader<'_, '_>) -> Result<(), ImportError> {
        let mut within = Within::default();
        while let Some(at) = json.item(&mut within)? {
            json.begin_record_at(at);
            self.sink.at(at);
            self.profile(json, at)?;
        }
        Ok(())
    }

    /// Reads a profile, whose members come in any order: its name, and what its values mean, may
    /// come last.
    fn profile(&mut self, json: &mut Reader<'_, '_>, at: Position) -> Result<(), ImportError> {
        // Everything is kept until the profile ends: nodes of samples, their weights, times without
        // a unit. What they are may be said after them (case `speedscope/members-in-any-order`).
        let (mut title, mut unit, mut end) = (String::new(), None, None);
        let (mut named, mut around) = (None, None);
        let mut top: Option<Top> = None;
        let mut is_evented = None;
        let mut samples: Option<Vec<NodeId>> = None;
        let mut weights: Option<(Position, Vec<f64>)> = None;
        let mut calls: Option<Calls> = None;
        let mut within = Within::default();
        let mut name = Vec::new();
        while let Some(at) = json.member(&mut within, &mut name)? {
            let has_come = match name.as_slice() {
                b"around" => around.is_some(),
                b"samples" => samples.is_some(),
                b"weights" => weights.is_some(),
                b"events" => calls.is_some(),
                _ => false,
            };
            if has_come {
                let name = escape::text(&name);
                return Err(ImportError::malformed(
                    at,
                    format!("one member `{name}`"),
                    "a second one",
                ));
            }
            match name.as_slice() {
                b"type" => is_evented = Some(self.is_evented(json)?),
                b"name" => title = self.text(json)?,
                b"unit" => unit = Some(self.unit(json)?),
                b"metric" => named = Some(self.text(json)?),
                b"around" if top.is_some() => {
                    let expected = "`around` before the members that it surrounds";
                    return Err(ImportError::malformed(at, expected, "it later"));
                }
                b"around" => around = Some(self.around(json)?),
                b"startValue" => json.skip()?,
                b"endValue" => end = Some(json.parsed("a number in `endValue`", Moment::parse)?),
                b"samples" => {
                    self.sink.at(json.record_start());
                    let top = *top.get_or_insert_with(|| self.top(around.as_deref(), &title));
                    samples = Some(self.samples(json, top)?);
                }
                b"weights" => weights = Some((at, weights_of(json)?)),
                b"events" => {
                    self.sink.at(json.record_start());
                    let top = *top.get_or_insert_with(|| self.top(around.as_deref(), &title));
                    calls = Some(self.events(json, top.node)?);
                }
                _ => self.skip(json, at, &name)?,
            }
        }
        let missing = |what: &str| {
            ImportError::malformed(at, format!("a profile with `{what}`"), "one without")
        };
        let (unit, factor, usual) = unit.ok_or_else(|| missing("unit"))?;
        let is_evented = is_evented.ok_or_else(|| missing("type"))?;
        let top = top.ok_or_else(|| missing(if is_evented { "events" } else { "samples" }))?;
        self.sink.at(json.record_start());
        if let Some(part) = top.part {
            self.name_part(part, &title);
        }
        // A name that the file states goes before one that is guessed from a title, and this before
        // that of the unit.
        let of_austin = of_austin(&title).map(|(metric, _)| metric);
        let metric = self
            .metrics
            .of(named.as_deref().or(of_austin).unwrap_or(usual), unit, at)?;
        self.profiles.push(metric);
        // Where the metric is named, nothing has to be guessed from titles.
        if named.is_none() && of_austin.is_none() {
            self.measured.add(metric, &title, at);
        }
        if is_evented {
            let calls = calls.ok_or_else(|| missing("events"))?;
            self.close(calls, end);
            // The unit may have come after the calls. Only nodes that have got time are visited: a
            // walk over the tree for each profile would take quadratic time.
            for node in std::mem::take(&mut self.charged) {
                self.tree.convert(node, RAW, metric, factor);
            }
            return Ok(());
        }
        let samples = samples.ok_or_else(|| missing("samples"))?;
        let (at, weights) = weights.ok_or_else(|| missing("weights"))?;
        if samples.len() != weights.len() {
            let expected = format!("{} weights, one per sample", samples.len());
            return Err(ImportError::malformed(
                at,
                expected,
                weights.len().to_string(),
            ));
        }
        // A profile that names its metric says of it what there is to know; a sample may be
        // anything there, so that samples are not counted.
        let count = if named.is_none() {
            Some(self.metrics.count_of(metric, at)?)
        } else {
            None
        };
        for (node, weight) in samples.into_iter().zip(weights) {
            self.tree.cost(node, metric, weight * factor);
            if let Some(count) = count {
                self.tree.cost(node, count, 1.0);
            }
        }
        Ok(())
    }

    /// Where the stacks of a profile begin, as far as it is known before them.
    fn top(&mut self, around: Option<&[Location]>, title: &str) -> Top {
        if let Some(sites) = around {
            let node = sites
                .iter()
                .fold(TOP, |node, location| self.tree.below(node, *location));
            return Top {
                node,
                part: None,
                innermost: sites.last().copied(),
            };
        }
        if let Some((_, thread)) = of_austin(title) {
            let function = self.sink.function(FunctionDef {
                kind: Kind::Thread,
                ..FunctionDef::named(thread)
            });
            return Top {
                node: self.tree.below(TOP, Location::of(function)),
                part: None,
                innermost: None,
            };
        }
        // A node that no other profile has: two of one name stay apart (case
        // `speedscope/several-profiles`).
        let part = self.tree.part();
        Top {
            node: part,
            part: Some(part),
            innermost: None,
        }
    }

    fn around(&mut self, json: &mut Reader<'_, '_>) -> Result<Vec<Location>, ImportError> {
        let mut sites = Vec::new();
        let mut items = Within::default();
        while json.item(&mut items)?.is_some() {
            let (_, location) = self.numbered(json)?;
            sites.push(Location::of(location.function));
        }
        Ok(sites)
    }

    fn kind(&mut self, json: &mut Reader<'_, '_>) -> Result<Kind, ImportError> {
        let at = json.place()?;
        json.text(&mut self.text)?;
        let known = std::str::from_utf8(&self.text).ok().and_then(Kind::by_name);
        let expected = || format!("one of {}", Kind::ALL.map(Kind::name).join(", "));
        known.ok_or_else(|| ImportError::malformed(at, expected(), quote(&self.text)))
    }

    fn name_part(&mut self, part: NodeId, name: &str) {
        let words = name.to_ascii_lowercase();
        let is_thread = words.starts_with("thread")
            || (words.starts_with("process ") && words.contains(" thread "));
        let mut number = self.names.get(name).map_or(1, |count| count + 1);
        let mut def = FunctionDef {
            kind: if is_thread { Kind::Thread } else { Kind::Part },
            ..FunctionDef::named(name)
        };
        let numbered;
        if is_thread && number > 1 {
            // Reports and `--thread` know threads by their names alone.
            let with_number = |number| format!("{name} ({number})");
            let mut numbers = number..;
            let is_free = |number: &u32| !self.names.contains_key(&with_number(*number));
            number = numbers.find(is_free).unwrap_or(number);
            numbered = with_number(number);
            self.names.insert(numbered.clone(), 1);
            def.name = &numbered;
        } else {
            // Equal definitions would become a single function, so a repeated name gets a distinct column.
            def.first_col = number - 1;
        }
        self.names.insert(name.to_owned(), number);
        let function = self.sink.function(def);
        self.tree.name_part(part, function);
    }

    fn is_evented(&mut self, json: &mut Reader<'_, '_>) -> Result<bool, ImportError> {
        let at = json.place()?;
        json.text(&mut self.text)?;
        match self.text.as_slice() {
            b"sampled" => Ok(false),
            b"evented" => Ok(true),
            other => Err(ImportError::malformed(
                at,
                "a profile `sampled` or `evented`",
                quote(other),
            )),
        }
    }

    fn unit(
        &mut self,
        json: &mut Reader<'_, '_>,
    ) -> Result<(Unit, f64, &'static str), ImportError> {
        let at = json.place()?;
        json.text(&mut self.text)?;
        let known = UNITS.into_iter().find(|(unit, ..)| self.text == *unit);
        let unknown =
            || ImportError::malformed(at, "a unit that speedscope knows", quote(&self.text));
        known
            .map(|(_, unit, factor, metric)| (unit, factor, metric))
            .ok_or_else(unknown)
    }

    /// The frame whose number comes next.
    fn numbered(&mut self, json: &mut Reader<'_, '_>) -> Result<(u32, Location), ImportError> {
        let at = json.place()?;
        let number = json.index("the number of a frame")?;
        self.references += 1;
        let frames = self.frames.as_deref().unwrap_or_default();
        let location = frames
            .get(number as usize)
            .copied()
            .unwrap_or_else(|| Location::of(self.missing.function(at, &number, self.sink)));
        Ok((number, location))
    }

    /// The node of each sample.
    fn samples(&mut self, json: &mut Reader<'_, '_>, top: Top) -> Result<Vec<NodeId>, ImportError> {
        let mut samples = Vec::new();
        let mut items = Within::default();
        while let Some(at) = json.item(&mut items)? {
            json.begin_record_at(at);
            self.sink.at(at);
            let mut node = None;
            // The innermost frame around the stacks, as long as it is the only one of this stack:
            // its own cost.
            let mut alone = None;
            let mut within = Within::default();
            while json.item(&mut within)?.is_some() {
                let (_, location) = self.numbered(json)?;
                if node.is_none() && alone.is_none() && top.innermost == Some(location) {
                    alone = Some(location);
                    continue;
                }
                for location in alone.take().into_iter().chain([location]) {
                    node = Some(self.tree.below(node.unwrap_or(top.node), location));
                }
            }
            // Without frames the sample counts for what holds the profile (case
            // `speedscope/empty-stack`).
            samples.push(node.unwrap_or(top.node));
        }
        Ok(samples)
    }

    fn events(&mut self, json: &mut Reader<'_, '_>, part: NodeId) -> Result<Calls, ImportError> {
        let mut calls = Calls {
            open: Vec::new(),
            last: None,
            at: json.position(),
        };
        let mut name = Vec::new();
        let mut items = Within::default();
        while let Some(at) = json.item(&mut items)? {
            json.begin_record_at(at);
            self.sink.at(at);
            let (mut opens, mut frame, mut time) = (None, None, None);
            let mut within = Within::default();
            while let Some(at) = json.member(&mut within, &mut name)? {
                match name.as_slice() {
                    b"type" => {
                        let at = json.place()?;
                        json.text(&mut self.text)?;
                        opens = Some(match self.text.as_slice() {
                            b"O" => true,
                            b"C" => false,
                            other => {
                                return Err(ImportError::malformed(
                                    at,
                                    "an event `O` or `C`",
                                    quote(other),
                                ));
                            }
                        });
                    }
                    b"frame" => frame = Some(self.numbered(json)?),
                    b"at" => {
                        time = Some((
                            json.place()?,
                            json.parsed("a number in `at`", Moment::parse)?,
                        ));
                    }
                    _ => self.skip(json, at, &name)?,
                }
            }
            let (Some(opens), Some((number, location)), Some((time_at, time))) =
                (opens, frame, time)
            else {
                return Err(ImportError::malformed(
                    at,
                    "an event with `type`, `frame` and `at`",
                    "one without",
                ));
            };
            if let Some(last) = calls.last.filter(|last| time < *last) {
                return Err(ImportError::malformed(
                    time_at,
                    format!("a time of at least {last}"),
                    time.to_string(),
                ));
            }
            // Before the event takes effect: until now the call that has been the innermost one was
            // running.
            self.charge(&mut calls, time);
            calls.at = at;
            if opens {
                let above = calls.open.last().map_or(part, |(_, node)| *node);
                let node = self.tree.below(above, location);
                self.tree.call(node);
                calls.open.push((number, node));
            } else if let Some((innermost, _)) =
                // Taken here only if it is not the one that closes, which is the error.
                calls.open.pop_if(|(innermost, _)| *innermost != number)
            {
                let expected = format!("the end of the innermost open frame, {innermost}");
                return Err(ImportError::malformed(
                    at,
                    expected,
                    format!("that of {number}"),
                ));
            } else if calls.open.pop().is_none() {
                return Err(ImportError::malformed(
                    at,
                    "the end of an open frame",
                    format!("that of {number}"),
                ));
            }
        }
        Ok(calls)
    }

    /// Adds the time since the last event to the innermost open call.
    fn charge(&mut self, calls: &mut Calls, now: Moment) {
        if let (Some(last), Some((_, node))) = (calls.last, calls.open.last()) {
            // So each node is listed once: `convert` takes all that it has, and leaves 0 for the
            // next profile.
            if now > last && self.tree.own(*node, RAW) == 0.0 {
                self.charged.push(*node);
            }
            self.tree.cost(*node, RAW, now.since(last));
        }
        calls.last = Some(now);
    }

    /// Ends what is still open.
    fn close(&mut self, mut calls: Calls, end: Option<Moment>) {
        if calls.open.is_empty() {
            return;
        }
        // An end before the last event would give the open calls less than nothing.
        if let Some(end) = end.filter(|end| calls.last.is_some_and(|last| *end > last)) {
            self.charge(&mut calls, end);
        }
        for _ in &calls.open {
            self.open.add(calls.at);
        }
    }

    /// Emits what has been read.
    ///
    /// # Errors
    /// When most frames are not in the file.
    fn finish(self) -> Result<(), ImportError> {
        let ids = self.metrics.emit(self.sink);
        // A number that no profile has is that of none: then the first metric is the default one,
        // as without it.
        let shown = self
            .active
            .and_then(|active| self.profiles.get(usize::try_from(active).ok()?));
        if let Some(metric) = shown.and_then(|shown| *ids.get(*shown)?) {
            self.sink.run(RunFact::DefaultMetric(metric));
        }
        self.tree.emit(self.sink, &ids);
        self.measured.remark(self.sink);
        self.missing.note(self.references, self.sink)?;
        self.open.note(self.sink, Severity::Warning, |count| {
            format!(
                "{} without an end: ended at the end of the profile",
                many(count, "call")
            )
        });
        self.unknown
            .note_with(self.sink, Severity::Info, |count, first| {
                format!("{} skipped (first: {first})", many(count, "member"))
            });
        Ok(())
    }
}

/// Where the stacks of a profile begin.
#[derive(Clone, Copy)]
struct Top {
    node: NodeId,
    /// The node, if it waits for the profile's name.
    part: Option<NodeId>,
    /// The innermost of the frames around all stacks.
    innermost: Option<Location>,
}

/// Calls as they open and close.
struct Calls {
    /// Those that are open: frame and node, outermost first.
    open: Vec<(u32, NodeId)>,
    /// When the last event was.
    last: Option<Moment>,
    /// Where the last event is in the file.
    at: Position,
}

/// Reads a line or column; 0 if it is below 0, which is unknown.
fn from_one(json: &mut Reader<'_, '_>, what: &str) -> Result<u32, ImportError> {
    let at = json.place()?;
    // Older versions of speedscope export numbers below 0 for functions without source (case
    // `speedscope/line-below-0`).
    let number = json.integer(what)?.max(0);
    u32::try_from(number).map_err(|_| ImportError::malformed(at, what, number.to_string()))
}

fn weights_of(json: &mut Reader<'_, '_>) -> Result<Vec<f64>, ImportError> {
    let mut weights = Vec::new();
    let mut items = Within::default();
    while let Some(at) = json.item(&mut items)? {
        json.begin_record_at(at);
        weights.push(json.real("a weight")?);
    }
    Ok(weights)
}
