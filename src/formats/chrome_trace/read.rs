//! Chrome traces (Trace Event Format, JSON)
//!
//! # What it is
//! Events with a name and a time, some with a beginning and an end. Chrome's `about:tracing` and Perfetto show them. Many
//! programs write such traces: Node.js, clang (`-ftime-trace`), rustc, Bazel, `PyTorch`, `VizTracer`, py-spy.
//! Default metric: `time`.
//!
//! # How to record one
//! ```text
//! node --trace-event-categories v8,node app.js
//! py-spy record -f chrometrace -o run.json -- python app.py
//! clang++ -ftime-trace -c a.cpp
//! ```
//!
//! # What we read
//! - An object with `traceEvents`, or an array of events. Both may end after a complete event, as the trace of a killed program
//!   does: a note states it.
//! - Slices: complete events (`X`), and begin and end events (`B`, `E`), by process and thread, in any order in the file. A slice
//!   within another was called by it. Equal paths are combined.
//! - Asynchronous slices (`b` and `e`, and `S` and `F` of older versions). An end closes the innermost open slice with its name
//!   on the same track. Events with equal category, `id` or `id2`, and `scope` are on one track. `id2.local` is local to the
//!   process, and so is `id` if each process closes what it begins. The slices of all tracks of a process and category are below
//!   the part `async CATEGORY` of the process. If threads have slices with a duration, the total is their time
//!   alone, because tracks overlap. The share of an asynchronous slice may then be above 100 %. A note has
//!   the number of such slices.
//! - Functions by name and category (the module: `--by module` adds up by category). Calls are the number of slices.
//! - Times to the nanosecond. The exclusive time of a slice is its duration minus that of the slices within.
//! - Samples of V8 (`Profile` and `ProfileChunk` of Chrome's Performance panel, and `CpuProfile`), as metrics `samples` and
//!   `sampled_time`, with functions, files and lines, below the sampled thread. The figures equal those of the
//!   corresponding `cpuprofile`. Without slices that have a duration, `sampled_time` is the default metric.
//! - The members `samples` and `stackFrames` of Hermes: the same two metrics. A sample lasts until the next one of its
//!   thread, the last one 0. If samples have weights other than 1, metric `weight` has their sum. The line of a frame is
//!   `line`, and its function is defined at `funcLine`. The position after the name, `f(file:line:column)`, provides the file.
//! - Names of processes and threads, from metadata (`M`) anywhere in the file; without one, their numbers.
//! - Numbers that are written as strings; null is a missing value.
//! - Overlapping slices of one thread, which the format does not define. A slice that lasts longer than the slice around it
//!   ends with that one. Slices that begin in the rest follow after both. Perfetto leaves them out.
//! - Slices that were not closed, which last until the last event of their thread or track. An end closes the innermost slice
//!   with its name, or the innermost one if it has no name, as in Perfetto. Other ends are skipped: uftrace writes ends
//!   without beginnings for times in which its thread was preempted. Each case has a note.
//!
//! Slices are kept in memory until the end of the file, in 40 bytes each, because their order is arbitrary.
//!
//! # What we leave out
//! - All other events: counters, flows, instants, steps of asynchronous slices, objects. A note has their number.
//! - Slices without a time. A note has their number.
//! - Arguments and identifiers of events, and processor time (`tts`, `tdur`).
//! - Sums that clang adds as slices of invented threads (`Total Frontend`), which would multiply the time of the run. A note
//!   counts them.
//! - Other members of the object: a note counts them.
//!
//! # References
//! - "Trace Event Format", documentation of Chrome's trace viewer; `trace_event_importer.html` in the sources of Catapult.
//! - `profile-generator.cc` in the sources of V8; `ChromeTraceSerializer` in those of Hermes.
//! - `slice_tracker.cc` in the sources of Perfetto; `dump.c` in those of uftrace 0.13; `TimeProfiler.cpp` in those of LLVM.

use hashbrown::HashMap;

use super::numbers::read_microseconds;
use super::process_trees::{ProcessTrees, ThreadTrees, TraceMetrics, container_name};
use super::slices::{Lane, Mark, Nesting, PackedPosition, Slice};
use super::stack_samples::StackSamples;
use super::tracks::{IdKind, ProcessTrack, TrackKey, Tracks};
use super::v8_chunks::{Chunk, Profiles, ThreadTree};

use crate::base::error::{ImportError, Position, quote};
use crate::events::{FunctionDef, FunctionId, Kind, Note, RunFact, Severity, Sink};
use crate::formats::common::call_tree::{CallTree, Location, TOP};
use crate::formats::common::counted::{Counted, many};
use crate::formats::common::json::{Outline, Reader, Within};
use crate::formats::common::v8_profile::CallFrames;
use crate::formats::format::{Confidence, Format};
use crate::formats::options::{KEEP_BEFORE_ERROR_OPTION, Options};
use crate::formats::salvage::Salvage;
use crate::input::Input;
use crate::text::escape;

/// The format of the page above: how it is recognised and read.
pub(in crate::formats) const FORMAT: Format = Format {
    name: "chrome_trace",
    summary: "Chrome traces (Trace Event Format): Chrome, Node.js, clang, PyTorch, VizTracer",
    revision: 5,
    sniff,
    has_empty_recordings: false,
    salvage: Salvage::Json,
    options: &[KEEP_BEFORE_ERROR_OPTION],
    import,
};

fn sniff(head: &[u8]) -> Confidence {
    let Some(outline) = Outline::of(head) else {
        return Confidence::No;
    };
    if outline.in_array {
        // Every event has a phase. One of metadata may have no time, others no process.
        let is_event = outline.has("ph") && (outline.has("ts") || outline.has("pid"));
        return if is_event {
            Confidence::Yes
        } else {
            Confidence::No
        };
    }
    if outline.has("traceEvents") {
        return Confidence::Yes;
    }
    // What Chrome's developer tools save begins with metadata, which may hold whole source maps.
    let begins_with_metadata = outline.names.first() == Some(&b"metadata".as_slice());
    let of_devtools = begins_with_metadata && memchr::memmem::find(head, b"\"DevTools\"").is_some();
    if of_devtools || outline.has("displayTimeUnit") {
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
    let mut trace = Trace::new(sink);
    trace.read(&mut Reader::new(input))?;
    trace.sink.at(input.record_start());
    trace.finish()
}

#[derive(Default)]
struct Thread {
    process: usize,
    id: String,
    name: Option<String>,
    marks: Vec<Mark>,
    slices: Vec<Slice>,
}

#[derive(Default)]
struct Process {
    id: String,
    name: Option<String>,
    /// By id.
    threads: HashMap<Vec<u8>, usize>,
}

/// The members of an event that matter, each in place of that of the event before.
#[derive(Default)]
struct TraceEvent {
    name: Vec<u8>,
    has_name: bool,
    category: Vec<u8>,
    phase: Vec<u8>,
    process: Vec<u8>,
    thread: Vec<u8>,
    id_kind: IdKind,
    id: Vec<u8>,
    scope: Vec<u8>,
    /// Nanoseconds, as the duration.
    time: Option<i64>,
    duration: Option<i64>,
    /// The argument `name`, of metadata.
    argument: Vec<u8>,
    /// The argument `data`, of samples of V8.
    chunk: Chunk,
    /// It has the argument `avg ms`.
    has_average: bool,
}

impl TraceEvent {
    /// Returns whether the event is the time of all slices of a name, as clang writes it at the end of its traces. Some
    /// versions put a colon after the first word.
    fn is_sum(&self) -> bool {
        let is_named_so = self.name.starts_with(b"Total ") || self.name.starts_with(b"Total: ");
        self.has_average && is_named_so
    }

    /// Returns whether the event has samples of V8.
    fn is_profile(&self) -> bool {
        let names: [&[u8]; 3] = [b"Profile", b"ProfileChunk", b"CpuProfile"];
        matches!(self.phase.as_slice(), b"P" | b"I" | b"i") && names.contains(&self.name.as_slice())
    }

    fn clear(&mut self) {
        for text in [
            &mut self.name,
            &mut self.category,
            &mut self.phase,
            &mut self.process,
            &mut self.thread,
            &mut self.id,
            &mut self.scope,
            &mut self.argument,
        ] {
            text.clear();
        }
        (self.has_name, self.time, self.duration, self.has_average) = (false, None, None, false);
        self.id_kind = IdKind::Plain;
        self.chunk = Chunk::default();
    }
}

struct Trace<'s> {
    sink: &'s mut dyn Sink,
    /// By id.
    process_of: HashMap<Vec<u8>, usize>,
    processes: Vec<Process>,
    /// In the order in which they came.
    threads: Vec<Thread>,
    tracks: Tracks,
    profiles: Profiles,
    stack_samples: StackSamples,
    frames: CallFrames,
    /// Names of beginnings and ends, numbered.
    names: HashMap<Vec<u8>, u32>,
    event: TraceEvent,
    member: Vec<u8>,
    text: Vec<u8>,
    unterminated: Option<Note<'static>>,
    nesting: Nesting,
    track_nesting: Nesting,
    others: Counted,
    unknown: Counted,
    no_time: Counted,
    no_duration: Counted,
    asynchronous: Counted,
    sums: Counted,
}

impl<'s> Trace<'s> {
    fn new(sink: &'s mut dyn Sink) -> Self {
        Self {
            sink,
            process_of: HashMap::new(),
            processes: Vec::new(),
            threads: Vec::new(),
            tracks: Tracks::default(),
            profiles: Profiles::default(),
            stack_samples: StackSamples::default(),
            frames: CallFrames::default(),
            names: HashMap::new(),
            event: TraceEvent::default(),
            member: Vec::new(),
            text: Vec::new(),
            unterminated: None,
            nesting: Nesting::new(Lane::Thread),
            track_nesting: Nesting::new(Lane::Track),
            others: Counted::default(),
            unknown: Counted::default(),
            no_time: Counted::default(),
            no_duration: Counted::default(),
            asynchronous: Counted::default(),
            sums: Counted::default(),
        }
    }

    fn read(&mut self, json: &mut Reader<'_, '_>) -> Result<(), ImportError> {
        if json.accept(b'[')? {
            if self.events(json)? {
                return json.end();
            }
            let message = "expected `]` before the end of the file: the file may be truncated, although the format \
                           does not require `]`";
            self.unterminated = Some(Note {
                severity: Severity::Info,
                position: Some(json.position()),
                message,
            });
            return Ok(());
        }
        json.expect(b'{', "`{`, the start of an object")?;
        let mut has_events = false;
        while !json.accept(b'}')? {
            let at = json.place()?;
            let name = json.name()?.to_vec();
            json.begin_record_at(at);
            self.sink.at(at);
            match name.as_slice() {
                b"traceEvents" => {
                    has_events = true;
                    json.expect(b'[', "`[`, the start of an array")?;
                    self.events(json)?;
                }
                b"samples" if json.is_next(b'[')? => self.samples(json)?,
                b"stackFrames" if json.is_next(b'{')? => {
                    self.stack_samples.read_frames(json, self.sink)?;
                }
                _ => {
                    self.unknown.add_with(at, || quote(&name));
                    json.skip()?;
                }
            }
            let has_next = json.accept(b',')?;
            if has_events && json.at_end()? {
                let message = "the file ends within its object after a complete event: it was truncated, later events are \
                     missing";
                self.unterminated = Some(Note {
                    severity: Severity::Warning,
                    position: Some(json.position()),
                    message,
                });
                return Ok(());
            }
            if !has_next && !json.is_next(b'}')? {
                return Err(json.expected("`,` or `}`"));
            }
        }
        if !has_events {
            let expected = "a member `traceEvents`";
            return Err(ImportError::malformed(
                json.position(),
                expected,
                "the end of the file's object",
            ));
        }
        json.end()
    }

    /// Reads the events of an array that has been opened. Returns whether the array is closed: the file may end after a
    /// complete event, because a program was killed or adds events later.
    fn events(&mut self, json: &mut Reader<'_, '_>) -> Result<bool, ImportError> {
        loop {
            if json.accept(b']')? {
                return Ok(true);
            }
            if json.at_end()? {
                return Ok(false);
            }
            let at = json.position();
            json.begin_record_at(at);
            self.sink.at(at);
            self.event(json, at)?;
            if !json.accept(b',')? && !json.is_next(b']')? && !json.at_end()? {
                return Err(json.expected("`,` or `]`"));
            }
        }
    }

    /// Reads the member `samples`.
    fn samples(&mut self, json: &mut Reader<'_, '_>) -> Result<(), ImportError> {
        let mut within = Within::default();
        while let Some(at) = json.item(&mut within)? {
            json.begin_record_at(at);
            self.sink.at(at);
            let (processes, threads) = (&mut self.processes, &mut self.threads);
            let process_of = &mut self.process_of;
            self.stack_samples.read_sample(json, at, |origin| {
                let process = process_number(processes, process_of, &origin.process);
                thread_number(processes, threads, process, &origin.thread)
            })?;
        }
        Ok(())
    }

    fn event(&mut self, json: &mut Reader<'_, '_>, at: Position) -> Result<(), ImportError> {
        let event = &mut self.event;
        event.clear();
        let mut is_empty = true;
        let mut within = Within::default();
        while json.member(&mut within, &mut self.member)?.is_some() {
            is_empty = false;
            let text = &mut self.text;
            match self.member.as_slice() {
                b"name" => {
                    json.text_or_number("a name", &mut event.name)?;
                    event.has_name = !event.name.is_empty();
                }
                b"cat" => json.text_or_number("a category", &mut event.category)?,
                b"ph" => json.text_or_number("a phase", &mut event.phase)?,
                // Ids may be texts (case `chrome_trace/threads-and-processes`).
                b"pid" => json.text_or_number("the id of a process", &mut event.process)?,
                b"tid" => json.text_or_number("the id of a thread", &mut event.thread)?,
                b"id" if event.id_kind == IdKind::Plain => {
                    json.text_or_number("an id", &mut event.id)?;
                }
                b"id2" if json.is_next(b'{')? => read_second_id(json, &mut self.member, event)?,
                b"scope" => json.text_or_number("a scope", &mut event.scope)?,
                b"ts" => event.time = read_microseconds(json, text, "microseconds in `ts`")?,
                b"dur" => event.duration = read_microseconds(json, text, "microseconds in `dur`")?,
                b"args" if json.is_next(b'{')? => {
                    arguments(json, &mut self.member, event, self.sink, &mut self.frames)?;
                }
                _ => json.skip()?,
            }
        }
        self.sink.at(json.record_start());
        match self.event.phase.as_slice() {
            // Something must come after the last comma.
            b"" if is_empty => Ok(()),
            b"" => Err(ImportError::malformed(
                at,
                "an event with `ph`",
                "one without",
            )),
            b"M" => {
                self.metadata();
                Ok(())
            }
            b"X" if self.event.is_sum() => {
                self.sums.add(at);
                Ok(())
            }
            b"B" | b"E" | b"X" | b"b" | b"e" | b"S" | b"F" => {
                self.slice(at);
                Ok(())
            }
            _ if self.event.is_profile() => {
                let (process, thread) = self.thread();
                let event = &mut self.event;
                let chunk = std::mem::take(&mut event.chunk);
                self.profiles.add(
                    at,
                    &event.name,
                    (process, thread),
                    &event.id,
                    event.time,
                    chunk,
                );
                Ok(())
            }
            phase => {
                self.others.add_with(at, || quote(phase));
                Ok(())
            }
        }
    }

    /// A name of a process or thread; there are other metadata.
    fn metadata(&mut self) {
        let name = escape::text(&self.event.argument).into_owned();
        match self.event.name.as_slice() {
            b"process_name" => {
                let process = self.process();
                if let Some(process) = self.processes.get_mut(process) {
                    process.name = Some(name);
                }
            }
            b"thread_name" => {
                let (_, thread) = self.thread();
                if let Some(thread) = self.threads.get_mut(thread) {
                    thread.name = Some(name);
                }
            }
            _ => {}
        }
    }

    fn process(&mut self) -> usize {
        process_number(
            &mut self.processes,
            &mut self.process_of,
            &self.event.process,
        )
    }

    /// Returns the numbers of the process and the thread of the event.
    fn thread(&mut self) -> (usize, usize) {
        let process = self.process();
        let id = &self.event.thread;
        let thread = thread_number(&mut self.processes, &mut self.threads, process, id);
        (process, thread)
    }

    fn slice(&mut self, at: Position) {
        let phase = self.event.phase.first().copied().unwrap_or_default();
        let Some(start) = self.event.time else {
            self.no_time.add(at);
            return;
        };
        let is_end = matches!(phase, b'E' | b'e' | b'F');
        let function = (!is_end).then(|| self.function());
        let packed = PackedPosition::new(at);
        let (process, thread) = self.thread();
        if let (b'X', Some(function)) = (phase, function) {
            let duration = self.event.duration.filter(|duration| *duration >= 0);
            let duration = duration.unwrap_or_else(|| {
                self.no_duration.add(at);
                0
            });
            let slice = Slice {
                start,
                end: start.saturating_add(duration),
                at: packed,
                end_byte: 0,
                function,
            };
            if let Some(thread) = self.threads.get_mut(thread) {
                thread.slices.push(slice);
            }
            return;
        }
        let mark = Mark {
            time: start,
            at: packed,
            name: self.event.has_name.then(|| self.number_of_name()),
            function,
        };
        if matches!(phase, b'B' | b'E') {
            if let Some(thread) = self.threads.get_mut(thread) {
                thread.marks.push(mark);
            }
            return;
        }
        let event = &self.event;
        let key = TrackKey {
            category: event.category.clone(),
            scope: event.scope.clone(),
            id_kind: event.id_kind,
            id: event.id.clone(),
            process: (event.id_kind == IdKind::Local).then_some(process),
            name: matches!(phase, b'S' | b'F').then(|| event.name.clone()),
        };
        self.tracks.add(key, process, mark);
    }

    fn number_of_name(&mut self) -> u32 {
        if let Some(known) = self.names.get(&self.event.name) {
            return *known;
        }
        let next = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.names.insert(self.event.name.clone(), next);
        next
    }

    fn function(&mut self) -> FunctionId {
        let (name, module) = (
            escape::text(&self.event.name),
            escape::text(&self.event.category),
        );
        self.sink.function(FunctionDef {
            module: &module,
            ..FunctionDef::named(&name)
        })
    }

    fn finish(mut self) -> Result<(), ImportError> {
        let mut processes: Vec<ProcessTrees> = Vec::new();
        processes.resize_with(self.processes.len(), ProcessTrees::default);
        let has_samples = !self.stack_samples.is_empty();
        let mut has_stacks = vec![false; self.threads.len()];
        for thread in self.stack_samples.threads() {
            if let Some(has_stacks) = has_stacks.get_mut(thread) {
                *has_stacks = true;
            }
        }
        let has_weights = self.stack_samples.has_weights();
        let mut stacks = self
            .stack_samples
            .trees(self.threads.len(), self.sink)?
            .into_iter();
        let mut profiles = self.profiles.trees()?;
        let has_samples = has_samples || !profiles.is_empty();
        let (mut has_slices, mut has_tracks) = (false, false);
        let (mut thread_time, mut track_time) = (0.0, 0.0);
        // The order of processes is that of their first threads that did something.
        let mut order = Vec::new();
        for (number, thread) in std::mem::take(&mut self.threads).into_iter().enumerate() {
            let stacks = stacks
                .next()
                .filter(|_| has_stacks.get(number) == Some(&true));
            let of_thread = profiles.extract_if(.., |profile| profile.thread == number);
            let profiles: Vec<ThreadTree> = of_thread.collect();
            let has_events = !thread.marks.is_empty() || !thread.slices.is_empty();
            // A thread of which the file has only the name did nothing.
            if !has_events && profiles.is_empty() && stacks.is_none() {
                continue;
            }
            has_slices |= has_events;
            let slices = self.nesting.pair(thread.marks, thread.slices);
            let mut tree = CallTree::default();
            thread_time += self.nesting.stack(&mut tree, TOP, slices);
            let Some(process) = processes.get_mut(thread.process) else {
                continue;
            };
            order.push(thread.process);
            process.threads.push(ThreadTrees {
                name: container_name(thread.name.as_deref().unwrap_or("thread"), &thread.id),
                slices: tree,
                profiles,
                stacks,
            });
        }
        for track in std::mem::take(&mut self.tracks).into_processes() {
            let ProcessTrack {
                process: number,
                category,
                marks,
            } = track;
            let Some(process) = processes.get_mut(number) else {
                continue;
            };
            let slices = self.track_nesting.pair(marks, Vec::new());
            if slices.is_empty() {
                continue;
            }
            has_tracks = true;
            for slice in &slices {
                self.asynchronous.add(slice.at.position());
            }
            order.push(number);
            let part = self.sink.function(FunctionDef {
                kind: Kind::Part,
                ..FunctionDef::named(&container_name("async", &escape::text(&category)))
            });
            let part = process.tracks.below(TOP, Location::of(part));
            track_time += self.track_nesting.stack(&mut process.tracks, part, slices);
        }
        has_slices |= has_tracks;
        let mut metrics = TraceMetrics::default();
        if has_slices || !has_samples {
            metrics.announce_time(self.sink);
        }
        if has_samples {
            metrics.announce_samples(self.sink);
        }
        if has_weights {
            metrics.announce_weight(self.sink);
        }
        if let ([_, Some(time)], true) = (metrics.samples, thread_time + track_time <= 0.0) {
            self.sink.run(RunFact::DefaultMetric(time));
        }
        if let (Some(time), true) = (metrics.time, has_tracks && thread_time > 0.0) {
            self.sink.run(RunFact::Total(time, thread_time));
        } else {
            self.asynchronous = Counted::default();
        }
        for number in order {
            if let (Some(process), Some(trees)) =
                (self.processes.get(number), processes.get_mut(number))
            {
                let word = process.name.as_deref().unwrap_or("process");
                let name = container_name(word, &process.id);
                std::mem::take(trees).emit(self.sink, &name, &metrics)?;
            }
        }
        // Where everything was left out, the user has to know.
        let of_others = if has_slices || has_samples {
            Severity::Info
        } else {
            Severity::Warning
        };
        self.emit_notes(of_others);
        Ok(())
    }

    /// Emits notes on what was not read. `of_others` is the severity of the note on events that are not slices.
    fn emit_notes(&mut self, of_others: Severity) {
        let sink = &mut *self.sink;
        let (info, warning) = (Severity::Info, Severity::Warning);
        if let Some(note) = self.unterminated {
            sink.note(note);
        }
        self.others.note_with(sink, of_others, |count, first| {
            format!(
                "{} other than slices and samples skipped (first phase: {first})",
                many(count, "event")
            )
        });
        self.unknown.note_with(sink, info, |count, first| {
            format!("{} skipped (first: {first})", many(count, "member"))
        });
        self.no_time.note(sink, warning, |count| {
            format!("{} without `ts` skipped", many(count, "event"))
        });
        self.no_duration.note(sink, warning, |count| {
            format!(
                "{} without a duration: counted with a duration of 0",
                many(count, "event")
            )
        });
        self.nesting.emit_notes(sink);
        self.track_nesting.emit_notes(sink);
        self.asynchronous.note(sink, info, |count| {
            format!(
                "{} not counted in the total time, because they overlap with slices of threads",
                many(count, "asynchronous slice")
            )
        });
        self.sums.note(sink, info, |count| {
            format!(
                "{} of clang (`Total ...`) skipped, because they repeat the time of the slices",
                many(count, "sum")
            )
        });
        self.profiles.emit_notes(sink);
        self.stack_samples.emit_notes(sink);
        self.frames.emit_notes(sink);
    }
}

/// Returns the number of the process with this id.
fn process_number(
    processes: &mut Vec<Process>,
    process_of: &mut HashMap<Vec<u8>, usize>,
    id: &[u8],
) -> usize {
    if let Some(known) = process_of.get(id) {
        return *known;
    }
    processes.push(Process {
        id: escape::text(id).into_owned(),
        ..Process::default()
    });
    process_of.insert(id.to_vec(), processes.len() - 1);
    processes.len() - 1
}

/// Returns the number of the thread with this id in a process.
fn thread_number(
    processes: &mut [Process],
    threads: &mut Vec<Thread>,
    process: usize,
    id: &[u8],
) -> usize {
    let next = threads.len();
    let Some(of_process) = processes.get_mut(process) else {
        return next;
    };
    if let Some(known) = of_process.threads.get(id) {
        return *known;
    }
    of_process.threads.insert(id.to_vec(), next);
    threads.push(Thread {
        process,
        id: escape::text(id).into_owned(),
        ..Thread::default()
    });
    next
}

/// Reads `id2`, an id of the process or of all processes.
fn read_second_id(
    json: &mut Reader<'_, '_>,
    member: &mut Vec<u8>,
    event: &mut TraceEvent,
) -> Result<(), ImportError> {
    let mut within = Within::default();
    while json.member(&mut within, member)?.is_some() {
        let kind = match member.as_slice() {
            b"local" => IdKind::Local,
            b"global" => IdKind::Global,
            _ => {
                json.skip()?;
                continue;
            }
        };
        json.text_or_number("an id", &mut event.id)?;
        event.id_kind = kind;
    }
    Ok(())
}

/// Reads the arguments of an event that matter: the text `name`, the object `data`, and whether there is an average.
fn arguments(
    json: &mut Reader<'_, '_>,
    member: &mut Vec<u8>,
    event: &mut TraceEvent,
    sink: &mut dyn Sink,
    frames: &mut CallFrames,
) -> Result<(), ImportError> {
    let mut within = Within::default();
    while json.member(&mut within, member)?.is_some() {
        if member == b"name" && json.is_next(b'"')? {
            json.text(&mut event.argument)?;
        } else if member == b"data" && json.is_next(b'{')? {
            event.chunk.read(json, sink, frames)?;
        } else {
            // clang's sums have it, and a slice of the program may be called `Total`, too.
            event.has_average |= member == b"avg ms";
            json.skip()?;
        }
    }
    Ok(())
}
