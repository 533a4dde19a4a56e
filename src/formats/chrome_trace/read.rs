//! Chrome traces (Trace Event Format, JSON)
//!
//! # What it is
//! Events with a name and a time, some of which begin and end: what Chrome's `about:tracing` and Perfetto show, and what many
//! programs write about themselves: Node.js, clang (`-ftime-trace`), rustc, Bazel, `PyTorch`, `VizTracer`, py-spy.
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
//! - An object with `traceEvents`, or an array of events, whose closing bracket may be missing.
//! - Slices: complete events (`X`), and begin and end (`B`, `E`), by process and thread, in any order in the file. One slice
//!   within another was called by it; equal paths are one.
//! - Functions by name and category (the module: `--by module` adds up by category). Calls are the number of slices.
//! - Times to the nanosecond: a slice's own time is what is left of its duration without the slices within.
//! - Names of processes and threads, from metadata (`M`) anywhere in the file; without one, their numbers.
//! - The format allows slices of a thread to nest, and no other overlap: it does not say what the time of two that overlap
//!   is. One that lasts longer than the slice it is in is cut at the end of that one, which is in no slice by then: what begins
//!   there, and lasts, comes after both. Perfetto leaves such slices out.
//! - Slices that were not closed last until the last event of their thread. An end closes the innermost slice of its name, or the innermost one if it has no name, as
//!   in Perfetto; one of a name that no open slice has is passed over: uftrace writes ends of times for which its thread was
//!   preempted, and no beginnings. There is a note for each.
//!
//! Slices are held until the end of the file, in 40 bytes each, because their order is free.
//!
//! # What we leave out
//! - All other events: counters, flows, instants, asynchronous events, objects, samples of V8. A note says how many.
//! - Arguments and identifiers of events, and time of the processor (`tts`, `tdur`).
//! - Sums that clang adds up over its slices and writes as slices of threads that there never were (`Total Frontend`): with them
//!   a run would last several times as long. A note says how many.
//! - Members besides `traceEvents`: a note says how many.
//!
//! # References
//! - "Trace Event Format", documentation of Chrome's trace viewer.
//! - `slice_tracker.cc` in the sources of Perfetto; `dump.c` in those of uftrace 0.13; `TimeProfiler.cpp` in those of LLVM.

use std::cmp::Reverse;

use hashbrown::HashMap;

use crate::base::error::{ImportError, Position, quote};
use crate::events::{FunctionDef, FunctionId, Kind, Noise, Note, Severity, Sink, Unit};
use crate::formats::common::call_tree::{CallTree, Location, NodeId, TOP};
use crate::formats::common::counted::{Counted, many};
use crate::formats::common::json::{Outline, Reader, Within};
use crate::formats::format::{Confidence, Format};
use crate::formats::options::{KEEP_BEFORE_ERROR_OPTION, Options};
use crate::formats::salvage::Salvage;
use crate::input::Input;
use crate::text::escape;

/// The format of the page above: how it is recognised and read.
pub(in crate::formats) const FORMAT: Format = Format {
    name: "chrome_trace",
    summary: "Chrome traces (Trace Event Format): Chrome, Node.js, clang, PyTorch, VizTracer",
    revision: 4,
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
    trace.finish();
    Ok(())
}

/// A place in the file, in less room: 12 bytes, so that a slice has 40.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(Rust, packed(4))]
struct PackedPosition {
    byte: u64,
    /// The largest number means all that do not fit.
    line: u32,
}

impl PackedPosition {
    fn of(position: Position) -> Self {
        let line = position
            .line
            .and_then(|line| u32::try_from(line).ok())
            .unwrap_or(u32::MAX);
        Self {
            byte: position.byte,
            line,
        }
    }

    fn position(self) -> Position {
        Position {
            byte: self.byte,
            line: (self.line < u32::MAX).then_some(u64::from(self.line)),
        }
    }
}

/// A beginning or an end.
struct Mark {
    time: i64,
    at: PackedPosition,
    /// The number of its name; ends may have none.
    name: Option<u32>,
    /// `None` for an end.
    function: Option<FunctionId>,
}

/// What began and ended, in nanoseconds.
struct Slice {
    start: i64,
    end: i64,
    at: PackedPosition,
    /// Where the end is in the file; 0 if the slice is one event.
    end_byte: u64,
    function: FunctionId,
}

impl Slice {
    fn is_complete_event(&self) -> bool {
        self.end_byte == 0
    }

    /// Whether it is over when another one, which does not start earlier, starts.
    fn is_before(&self, other: &Self) -> bool {
        // What lasts longer than this one has no time within it, wherever it is in the file (case
        // `chrome_trace/begins-where-another-ends`).
        let lasts_longer = other.end > self.end;
        let ends_earlier_in_file = self.end_byte < other.at.byte;
        self.end < other.start || self.end == other.start && (lasts_longer || ends_earlier_in_file)
    }
}

/// What the page says.
const _: () = assert!(size_of::<Slice>() == 40, "all slices are held");

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
struct Event {
    name: Vec<u8>,
    has_name: bool,
    category: Vec<u8>,
    phase: Vec<u8>,
    process: Vec<u8>,
    thread: Vec<u8>,
    /// Nanoseconds, as the duration.
    time: Option<i64>,
    duration: Option<i64>,
    /// The argument `name`, of metadata.
    argument: Vec<u8>,
    /// It has the argument `avg ms`.
    has_average: bool,
}

impl Event {
    /// Whether it says how long all slices of a name took, as clang does at the end of its traces:
    /// some versions put a colon after the first word.
    fn is_sum(&self) -> bool {
        let is_named_so = self.name.starts_with(b"Total ") || self.name.starts_with(b"Total: ");
        self.has_average && is_named_so
    }

    fn clear(&mut self) {
        for text in [
            &mut self.name,
            &mut self.category,
            &mut self.phase,
            &mut self.process,
            &mut self.thread,
            &mut self.argument,
        ] {
            text.clear();
        }
        (self.has_name, self.time, self.duration, self.has_average) = (false, None, None, false);
    }
}

struct Trace<'s> {
    sink: &'s mut dyn Sink,
    /// By id.
    process_of: HashMap<Vec<u8>, usize>,
    processes: Vec<Process>,
    /// In the order in which they came.
    threads: Vec<Thread>,
    /// Names of what begins and ends, numbered.
    names: HashMap<Vec<u8>, u32>,
    event: Event,
    member: Vec<u8>,
    unterminated: Option<Position>,
    others: Counted,
    unknown: Counted,
    no_duration: Counted,
    not_closed: Counted,
    not_opened: Counted,
    sums: Counted,
    cut: Counted,
}

impl<'s> Trace<'s> {
    fn new(sink: &'s mut dyn Sink) -> Self {
        Self {
            sink,
            process_of: HashMap::new(),
            processes: Vec::new(),
            threads: Vec::new(),
            names: HashMap::new(),
            event: Event::default(),
            member: Vec::new(),
            unterminated: None,
            others: Counted::default(),
            unknown: Counted::default(),
            no_duration: Counted::default(),
            not_closed: Counted::default(),
            not_opened: Counted::default(),
            sums: Counted::default(),
            cut: Counted::default(),
        }
    }

    fn read(&mut self, json: &mut Reader<'_, '_>) -> Result<(), ImportError> {
        if json.accept(b'[')? {
            return self.array(json);
        }
        let mut has_events = false;
        let mut within = Within::default();
        let mut name = Vec::new();
        while let Some(at) = json.member(&mut within, &mut name)? {
            json.begin_record_at(at);
            self.sink.at(at);
            if name == b"traceEvents" {
                has_events = true;
                let mut items = Within::default();
                while let Some(at) = json.item(&mut items)? {
                    json.begin_record_at(at);
                    self.sink.at(at);
                    self.event(json, at)?;
                }
            } else {
                self.unknown.add_with(at, || quote(&name));
                json.skip()?;
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

    /// The events of an array that has been opened. A program that ends early, or wants to add
    /// events later, leaves out the bracket at the end.
    fn array(&mut self, json: &mut Reader<'_, '_>) -> Result<(), ImportError> {
        loop {
            if json.accept(b']')? {
                return json.end();
            }
            if json.at_end()? {
                self.unterminated = Some(json.position());
                return Ok(());
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

    fn event(&mut self, json: &mut Reader<'_, '_>, at: Position) -> Result<(), ImportError> {
        let event = &mut self.event;
        event.clear();
        let mut is_empty = true;
        let mut within = Within::default();
        while json.member(&mut within, &mut self.member)?.is_some() {
            is_empty = false;
            match self.member.as_slice() {
                b"name" => {
                    json.text_or_number("a name", &mut event.name)?;
                    event.has_name = !event.name.is_empty();
                }
                b"cat" if !json.null()? => json.text(&mut event.category)?,
                b"ph" => json.text(&mut event.phase)?,
                // Ids may be texts (case `chrome_trace/threads-and-processes`).
                b"pid" => json.text_or_number("the id of a process", &mut event.process)?,
                b"tid" => json.text_or_number("the id of a thread", &mut event.thread)?,
                b"ts" => event.time = Some(json.thousandths("microseconds in `ts`")?),
                b"dur" => event.duration = Some(json.thousandths("microseconds in `dur`")?),
                b"args" if json.is_next(b'{')? => arguments(json, &mut self.member, event)?,
                b"cat" => {}
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
            b"B" | b"E" | b"X" => self.slice(at),
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
                if let Some(thread) = self.thread() {
                    thread.name = Some(name);
                }
            }
            _ => {}
        }
    }

    fn process(&mut self) -> usize {
        if let Some(known) = self.process_of.get(&self.event.process) {
            return *known;
        }
        let id = escape::text(&self.event.process).into_owned();
        self.processes.push(Process {
            id,
            ..Process::default()
        });
        self.process_of
            .insert(self.event.process.clone(), self.processes.len() - 1);
        self.processes.len() - 1
    }

    fn thread(&mut self) -> Option<&mut Thread> {
        let process = self.process();
        let threads = &mut self.processes.get_mut(process)?.threads;
        let number = if let Some(known) = threads.get(&self.event.thread) {
            *known
        } else {
            let id = escape::text(&self.event.thread).into_owned();
            self.threads.push(Thread {
                process,
                id,
                ..Thread::default()
            });
            threads.insert(self.event.thread.clone(), self.threads.len() - 1);
            self.threads.len() - 1
        };
        self.threads.get_mut(number)
    }

    fn slice(&mut self, at: Position) -> Result<(), ImportError> {
        let Event {
            has_name,
            time,
            duration,
            ..
        } = self.event;
        let phase = self.event.phase.first().copied();
        let Some(start) = time else {
            return Err(ImportError::malformed(
                at,
                "an event with `ts`",
                "one without",
            ));
        };
        let function = if phase == Some(b'E') {
            None
        } else {
            Some(self.function())
        };
        let place = PackedPosition::of(at);
        if let (Some(b'X'), Some(function)) = (phase, function) {
            let duration = duration
                .filter(|duration| *duration >= 0)
                .unwrap_or_else(|| {
                    self.no_duration.add(at);
                    0
                });
            let slice = Slice {
                start,
                end: start.saturating_add(duration),
                at: place,
                end_byte: 0,
                function,
            };
            if let Some(thread) = self.thread() {
                thread.slices.push(slice);
            }
        } else {
            let name = has_name.then(|| self.number_of_name());
            let mark = Mark {
                time: start,
                at: place,
                name,
                function,
            };
            if let Some(thread) = self.thread() {
                thread.marks.push(mark);
            }
        }
        Ok(())
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

    fn finish(mut self) {
        let mut tree = CallTree::<[f64; 1]>::default();
        // Where everything there is was left out, who imports it has to know.
        let mut of_others = Severity::Warning;
        for thread in std::mem::take(&mut self.threads) {
            let Some(process) = self.processes.get(thread.process) else {
                continue;
            };
            // Threads of which there is nothing but a name have done nothing.
            if thread.marks.is_empty() && thread.slices.is_empty() {
                continue;
            }
            of_others = Severity::Info;
            let mut container = |kind, word, name: &Option<String>, id: &str| {
                let name = format!("{} {id}", name.as_deref().unwrap_or(word));
                Location::of(self.sink.function(FunctionDef {
                    kind,
                    ..FunctionDef::named(name.trim())
                }))
            };
            let above = container(Kind::Process, "process", &process.name, &process.id);
            let location = container(Kind::Thread, "thread", &thread.name, &thread.id);
            let above = tree.below(TOP, above);
            let node = tree.below(above, location);
            let slices = self.pair(thread);
            self.stack(&mut tree, node, slices);
        }
        let time = self.sink.metric("time", Unit::Nanoseconds, Noise::Timed);
        tree.emit(self.sink, &[Some(time)]);
        self.emit_notes(of_others);
    }

    /// Joins beginnings and ends. All slices of the thread, in the order in which they begin, outer
    /// ones first.
    fn pair(&mut self, thread: Thread) -> Vec<Slice> {
        let Thread {
            mut marks,
            mut slices,
            ..
        } = thread;
        // The last moment of the thread: what was never closed lasts until then.
        let times = marks
            .iter()
            .map(|mark| mark.time)
            .chain(slices.iter().map(|slice| slice.end));
        let last = times.max().unwrap_or(0);
        // Events may come in any order (case `chrome_trace/any-order`); at one time, their places
        // in the file decide (case `chrome_trace/same-start`).
        marks.sort_by_key(|mark| (mark.time, mark.at));
        let mut open = OpenSlices::default();
        for Mark {
            time,
            at,
            name,
            function,
        } in marks
        {
            if let Some(function) = function {
                open.begin(
                    Slice {
                        start: time,
                        end: last,
                        at,
                        // After everything in the file, so that a slice that starts at the last
                        // moment is within this one.
                        end_byte: u64::MAX,
                        function,
                    },
                    name,
                );
            } else if let Some(slice) = open.end(name) {
                slices.push(Slice {
                    end: time,
                    end_byte: at.byte,
                    ..slice
                });
            } else {
                self.not_opened.add(at.position());
            }
        }
        for slice in open.rest() {
            self.not_closed.add(slice.at.position());
            slices.push(slice);
        }
        slices.sort_by_key(|slice| (slice.start, slice.at));
        // Complete events are written when they end, inner ones first.
        let alike = |one: &Slice, other: &Slice| {
            one.start == other.start && one.is_complete_event() && other.is_complete_event()
        };
        for group in slices.chunk_by_mut(alike) {
            group.sort_by_key(|slice| (Reverse(slice.end), slice.at));
        }
        slices
    }

    /// Puts slices into each other.
    fn stack(&mut self, tree: &mut CallTree<[f64; 1]>, thread: NodeId, slices: Vec<Slice>) {
        let mut open: Vec<(Slice, NodeId)> = Vec::new();
        for mut slice in slices {
            while open
                .pop_if(|(innermost, _)| innermost.is_before(&slice))
                .is_some()
            {}
            // What is still open contains the start of this slice, as slices come in the order of
            // their starts, outer ones first.
            let above = open.last().map_or(thread, |(_, node)| *node);
            let node = tree.below(above, Location::of(slice.function));
            if let Some((innermost, _)) = open.last()
                && slice.end > innermost.end
            {
                // Beginning and duration may both have been rounded.
                if slice.end > innermost.end.saturating_add(1) {
                    self.cut.add(slice.at.position());
                }
                // Its end in the file is that of the one around, too: what comes after that one does
                // not begin within this one.
                (slice.end, slice.end_byte) = (innermost.end, innermost.end_byte);
            }
            tree.call(node);
            // After the cut, so that the slices within do not take more than the one around has.
            let duration = nanoseconds(slice.end.saturating_sub(slice.start));
            tree.cost(node, 0, duration);
            if above != thread {
                tree.cost(above, 0, -duration);
            }
            open.push((slice, node));
        }
    }

    /// Says what was not read, and how much `of_others` matters: events that are no slices.
    fn emit_notes(&mut self, of_others: Severity) {
        let sink = &mut *self.sink;
        let (info, warning) = (Severity::Info, Severity::Warning);
        if let Some(position) = self.unterminated {
            let message =
                "the array is not closed, as the format allows: the file may have been cut";
            sink.note(Note {
                severity: info,
                position: Some(position),
                message,
            });
        }
        self.others.note_with(sink, of_others, |count, first| {
            format!(
                "{} of phases that are no slices not read (first: {first})",
                many(count, "event")
            )
        });
        self.unknown.note_with(sink, info, |count, first| {
            format!("{} not read (first: {first})", many(count, "member"))
        });
        self.no_duration.note(sink, warning, |count| {
            format!("{} without a duration last 0", many(count, "event"))
        });
        self.not_closed.note(sink, warning, |count| {
            format!(
                "{} not closed: until the last event of the thread",
                many(count, "slice")
            )
        });
        self.not_opened.note(sink, warning, |count| {
            format!("{} without a beginning, passed over", many(count, "end"))
        });
        self.sums.note(sink, info, |count| {
            format!(
                "{} that clang has added up over its slices (`Total ...`) not read",
                many(count, "sum")
            )
        });
        self.cut.note(sink, warning, |count| {
            format!(
                "{} longer than the slice around, cut at the end of that one",
                many(count, "slice")
            )
        });
    }
}

/// Those slices of a thread that have begun and not ended.
#[derive(Default)]
struct OpenSlices {
    /// In the order in which they began; the last one is open.
    slices: Vec<Option<(Slice, Option<u32>)>>,
    /// Where in it the open ones of a name are: an end may find its beginning far down.
    by_name: HashMap<Option<u32>, Vec<usize>>,
}

impl OpenSlices {
    fn begin(&mut self, slice: Slice, name: Option<u32>) {
        self.by_name
            .entry(name)
            .or_default()
            .push(self.slices.len());
        self.slices.push(Some((slice, name)));
    }

    /// Takes the innermost slice that has this name or none; without a name, the innermost one.
    fn end(&mut self, name: Option<u32>) -> Option<Slice> {
        let last_of = |name| {
            self.by_name
                .get(&name)
                .and_then(|places| places.last())
                .copied()
        };
        let last = self.slices.len().checked_sub(1);
        let place = if name.is_none() {
            last
        } else {
            last_of(name).max(last_of(None))
        }?;
        let (slice, name) = self.slices.get_mut(place)?.take()?;
        // Of its name it is the innermost one, too.
        self.by_name.get_mut(&name)?.pop();
        // Only ends that cross leave gaps below (case `chrome_trace/ends-crosswise`); the last
        // slice has to be an open one for ends without a name.
        while self.slices.pop_if(|slice| slice.is_none()).is_some() {}
        Some(slice)
    }

    fn rest(self) -> impl Iterator<Item = Slice> {
        self.slices.into_iter().flatten().map(|(slice, _)| slice)
    }
}

/// What matters of the arguments of an event, all of which are passed: the text `name`, and whether
/// there is an average.
fn arguments(
    json: &mut Reader<'_, '_>,
    member: &mut Vec<u8>,
    event: &mut Event,
) -> Result<(), ImportError> {
    let mut within = Within::default();
    while json.member(&mut within, member)?.is_some() {
        if member == b"name" && json.is_next(b'"')? {
            json.text(&mut event.argument)?;
        } else {
            // clang's sums have it, and a slice of the program may be called `Total`, too.
            event.has_average |= member == b"avg ms";
            json.skip()?;
        }
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "104 days are exact")]
fn nanoseconds(duration: i64) -> f64 {
    duration as f64
}
