//! Linux perf, as `perf script` prints it
//!
//! # What it is
//! Output of `perf script` for a recording of Linux's `perf`. Each sample has one line with command, thread, time, period and
//! event, and below it the stack, one line per frame, innermost first. Default metric: the event with most
//! samples, as the sum of its periods if the file has them.
//!
//! # How to record one
//! ```text
//! perf record -F 999 -g -- ./program
//! perf script --header > run.perf
//! ```
//! `-F comm,pid,tid,time,period,event,ip,sym,dso` prints the process of each thread as well.
//!
//! # What we read
//! - Fields in the order in which perf prints them. Each may be missing (`-F`). Names of commands may have blanks.
//! - Each event as two metrics. `EVENT` is the sum of its periods (nanoseconds for `cpu-clock` and `task-clock`); it is
//!   missing if `-F` left out `period`. `EVENT.samples` counts samples. Events are never added up, because their periods are
//!   extrapolated separately. Without the name of the event, the metrics are `period` and `samples`. A metric whose name is
//!   taken, such as that of an event `cycles.samples` beside `cycles`, is called `NAME 2`.
//! - The command as a process (`COMM`, or `COMM PID` if the file has the process id), and the thread id as a
//!   thread below it. A thread that changes its command becomes another one, as in perf's own reports.
//! - Frames without leading blanks, which copying may remove.
//! - Stacks, or the single frame after the event if no stacks were recorded. Functions are identified by name and
//!   binary, which is the module. Several with one name in one binary (static functions of C) are told apart by their start, if
//!   offsets were printed.
//! - Frames marked `(inlined)`, for which perf prints no binary. They belong to the binary of the adjacent frames with the same
//!   address, else to that of their caller. The binary is unknown if there is none, or if the offsets belong to another function;
//!   a note counts such frames.
//! - `[unknown]` frames by their address (`0x7f60b17138a8`), of kind `pseudo`, in their binary if it is known.
//! - Files and lines (`-F +srcline`), as lines of their function.
//! - From `--header`: the version of perf, the command line, time and host of the recording.
//! - Mangled names of C++ and Rust are demangled; the raw name is kept.
//!
//! # What we leave out
//! - Times, processors, addresses within functions, registers, branch stacks, arguments of tracepoints.
//! - Other lines: a note counts them.
//! - More than 64 events in one file and more than 1,048,576 frames in one stack are refused.
//!
//! # References
//! - perf-script(1), Linux 6.1.
//! - `tools/perf/builtin-script.c` and `tools/perf/util/evsel_fprintf.c` in the sources of Linux.

use hashbrown::HashMap;

use super::lines::{
    FrameText, Header, RECORD, frame, header, is_source_unknown, source_line, without_address,
};
use crate::base::error::{ImportError, Position, quote};
use crate::events::{
    Frame, FunctionDef, FunctionId, Kind, Line, MetricId, Noise, RunFact, Sample, Severity, Sink,
    Unit,
};
use crate::formats::common::counted::{Counted, many};
use crate::formats::common::demangle::Demangler;
use crate::formats::common::ending::note_unfinished_line;
use crate::formats::common::metric_names::MetricNames;
use crate::formats::common::stack_depth::{MOST_FRAMES, too_many_frames};
use crate::formats::format::{Confidence, Format};
use crate::formats::options::{KEEP_BEFORE_ERROR_OPTION, Options};
use crate::formats::salvage::Salvage;
use crate::input::Input;
use crate::text::escape;

/// The format of the page above: how it is recognised and read.
pub(in crate::formats) const FORMAT: Format = Format {
    name: "perf_script",
    summary: "Linux perf, as perf script prints it",
    revision: 8,
    sniff,
    has_empty_recordings: false,
    salvage: Salvage::Lines,
    options: &[KEEP_BEFORE_ERROR_OPTION],
    import,
};

/// Each event is a metric, for which every stack has room.
const MOST_EVENTS: usize = 64;

/// Bytes of memory that are moved together.
const PAGE: u64 = 4096;

const UNKNOWN: &[u8] = b"[unknown]";

fn sniff(head: &[u8]) -> Confidence {
    let mut lines = head
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::trim_ascii_end);
    let first = lines
        .by_ref()
        .find(|line| !line.is_empty() && !line.starts_with(b"#"))
        .unwrap_or_default();
    // A time and an event are enough. The less a line has, the more other text looks like it: then
    // a frame has to follow, on the line or below (case `perf_script/thread-only`).
    let is_sample = match header(first) {
        Some(Header {
            has_time: true,
            event: Some(_),
            ..
        }) => true,
        Some(Header {
            has_time: true,
            rest,
            ..
        }) if rest.starts_with(RECORD) => true,
        Some(Header {
            has_time,
            event,
            thread,
            rest,
            ..
        }) if has_time || (event.is_some() && thread.is_some()) => {
            behind(rest).is_some() || lines.next().is_some_and(is_frame)
        }
        Some(_) => lines.next().is_some_and(is_frame),
        None => is_frame(first),
    };
    if is_sample {
        Confidence::Maybe
    } else {
        Confidence::No
    }
}

/// The frame after the event, on its line.
fn behind(rest: &[u8]) -> Option<FrameText<'_>> {
    frame(without_address(rest)).filter(|frame| !frame.symbol.is_empty() || frame.binary.is_some())
}

/// A line of a stack without blanks in front of it, or the source line below one.
fn is_bare_frame(line: &[u8]) -> bool {
    frame(line).is_some_and(|frame| !frame.symbol.is_empty() || frame.binary.is_some())
        || source_line(line).is_some()
        || is_source_unknown(line)
}

/// A line of a stack. An address alone fills its 16 columns: any text may have a line with a tab and
/// a short number (case `cli/other-profilers`).
fn is_frame(line: &[u8]) -> bool {
    let is_address_alone =
        |frame: &FrameText<'_>| frame.symbol.is_empty() && frame.binary.is_none();
    frame(line).is_some_and(|frame| {
        let is_whole = !frame.symbol.is_empty() && frame.binary.is_some();
        is_whole || line.starts_with(b"\t") && (!is_address_alone(&frame) || line.len() > 16)
    })
}

fn import(
    input: &mut Input<'_>,
    _options: &Options,
    sink: &mut dyn Sink,
) -> Result<(), ImportError> {
    let sink = &mut Demangler::new(sink);
    let mut script = Script::new(sink);
    let mut buffer = Vec::new();
    while let Some((at, line)) = input.next_line(&mut buffer)? {
        script.sink.at(at);
        // perf prints a blank after the event, and lines may end in CR LF (case
        // `perf_script/crlf`).
        let line = line.trim_ascii_end();
        if line.is_empty() {
            script.finish_sample()?;
        } else if let Some(comment) = line.strip_prefix(b"#") {
            script.comment(comment);
        } else {
            script.line(at, line)?;
        }
    }
    script.sink.at(input.position());
    script.finish_sample()?;
    if script.samples == 0 {
        return Err(ImportError::malformed(
            input.position(),
            "a sample of `perf script`",
            "the end of the file",
        ));
    }
    note_unfinished_line(input, script.sink);
    script.finish();
    Ok(())
}

/// An event and its metrics, as far as they have been announced.
struct Event {
    name: Box<[u8]>,
    period: Option<MetricId>,
    samples: Option<MetricId>,
    count: u64,
}

/// A frame of the sample that is being read.
struct RawFrame {
    /// As printed.
    address: u64,
    symbol: Symbol,
    /// Inlined frames have none of their own.
    binary: Option<Text>,
    /// The start of the function that holds the code of the frame, if the file has it.
    code_start: Option<u64>,
    line: Option<(Text, u32)>,
}

/// The sample that is being read.
#[derive(Default)]
struct Pending {
    /// Where its first line is, once there is one.
    at: Option<Position>,
    /// Its only line so far is a frame that no stack is printed for.
    is_alone: bool,
    /// It is a sample, whether or not frames follow. If not, the line is kept for the note.
    is_sure: bool,
    line: Vec<u8>,
    /// The rest of that line, after time and event.
    rest: Vec<u8>,
    /// What may be the only frame. If others follow, it is the address of data with its symbol (`-F
    /// +addr`).
    behind: Vec<u8>,
    period: Option<f64>,
    event: Vec<u8>,
    /// Process and thread.
    around: Vec<FunctionId>,
    /// Innermost first.
    frames: Vec<RawFrame>,
}

impl Pending {
    /// Forgets all, and keeps the room that it took.
    fn clear(&mut self) {
        let Self {
            mut line,
            mut rest,
            mut behind,
            mut event,
            mut around,
            mut frames,
            ..
        } = std::mem::take(self);
        line.clear();
        rest.clear();
        behind.clear();
        event.clear();
        around.clear();
        frames.clear();
        *self = Self {
            line,
            rest,
            behind,
            event,
            around,
            frames,
            ..Self::default()
        };
    }
}

/// The file as far as it has been read.
struct Script<'s> {
    sink: &'s mut dyn Sink,
    events: Vec<Event>,
    metric_names: MetricNames,
    names: SymbolTable,
    pending: Pending,
    samples: u64,

    not_understood: Counted,
    without_frames: Counted,
    without_binary: Counted,
    behind_event: Counted,
}

impl<'s> Script<'s> {
    fn new(sink: &'s mut dyn Sink) -> Self {
        Self {
            sink,
            events: Vec::new(),
            metric_names: MetricNames::default(),
            names: SymbolTable::default(),
            pending: Pending::default(),
            samples: 0,
            not_understood: Counted::default(),
            without_frames: Counted::default(),
            without_binary: Counted::default(),
            behind_event: Counted::default(),
        }
    }

    /// Takes a comment, without its `#`.
    fn comment(&mut self, comment: &[u8]) {
        let text = escape::text(comment);
        let Some((key, value)) = text.split_once(" : ") else {
            return;
        };
        let value = value.trim();
        match key.trim() {
            "captured on" => self.sink.run(RunFact::RecordedAt(value)),
            "perf version" => self.sink.run(RunFact::ToolVersion(value)),
            "cmdline" => self.sink.run(RunFact::Command(value)),
            key @ ("hostname" | "os release" | "arch" | "cpudesc") => {
                self.sink.run(RunFact::Other(key, value));
            }
            _ => {}
        }
    }

    /// Reads a line of a sample.
    fn line(&mut self, at: Position, line: &[u8]) -> Result<(), ImportError> {
        let is_frame = match line.first() {
            Some(b'\t') => true,
            // Commands and threads are printed right-aligned, and may look like an address.
            Some(b' ') => match header(line) {
                Some(header) => {
                    !header.has_time && header.event.is_none() && self.pending.at.is_some()
                }
                None => true,
            },
            // Copying may have removed the blanks in front (case `perf_script/frames-not-indented`).
            _ => self.pending.at.is_some() && header(line).is_none() && is_bare_frame(line),
        };
        if is_frame {
            if let Some(frame) = frame(line) {
                // Perf begins a frame of a stack with a tab, and the only one of a sample with a blank: with `-F ip,sym`, where no
                // line comes before, each of these is a sample (case `perf_script/frames-alone`).
                if line.first() == Some(&b' ')
                    && (self.pending.at.is_none() || self.pending.is_alone)
                {
                    self.finish_sample()?;
                    self.pending.is_alone = true;
                }
                // With a stack below, what follows the event is the address of data and its symbol,
                // and no frame (case `perf_script/data-symbols`).
                self.pending.behind.clear();
                return self.frame(at, &frame);
            }
            // Before the lines that are known: `??:0` would be line 0 of a file `??`.
            if is_source_unknown(line) {
                return Ok(());
            }
            let source = source_line(line);
            if source.is_some() {
                // Without stacks, the line belongs to the frame after the event, which has to be
                // there first.
                self.only_frame()?;
            }
            if let Some((file, line)) = source
                && let Some(last) = self.pending.frames.last_mut()
            {
                last.line = Some((self.names.text(file), line));
                return Ok(());
            }
        }
        let Some(header) = header(line) else {
            // An indented line between frames does not end their stack.
            if !is_frame {
                self.finish_sample()?;
            }
            self.not_understood.add_with(at, || quote(line));
            return Ok(());
        };
        self.finish_sample()?;
        self.begin_sample(at, line, &header);
        Ok(())
    }

    fn frame(&mut self, at: Position, frame: &FrameText<'_>) -> Result<(), ImportError> {
        let pending = &mut self.pending;
        // With `-F ip,sym`, no line comes before the frames.
        // The whole sample has the place where it starts, also in the message of the limit.
        let first = *pending.at.get_or_insert(at);
        if pending.frames.len() == MOST_FRAMES {
            return Err(too_many_frames(first));
        }
        let symbol = self.names.symbol(frame, at);
        // Perf says `[unknown]` where it knows of no binary. `None` is left to inlined frames,
        // which take the binary of others.
        let binary = frame
            .binary
            .filter(|binary| *binary != UNKNOWN)
            .unwrap_or_default();
        let binary = frame.binary.map(|_| self.names.text(binary));
        pending.frames.push(RawFrame {
            address: frame.address(),
            symbol,
            binary,
            code_start: frame.start(),
            line: None,
        });
        Ok(())
    }

    fn begin_sample(&mut self, at: Position, line: &[u8], header: &Header<'_>) {
        let rest = header.rest;
        let behind = behind(rest);
        let (has_time, has_event) = (header.has_time, header.event.is_some());
        // Without frames, a sample needs a command or a thread to count for.
        let has_node = !header.comm.is_empty() || header.thread.is_some();
        // A line that has less may be text. It is kept until a frame follows, or told as not
        // understood (case `perf_script/thread-only`).
        let is_whole = (has_time && has_event) || (rest.is_empty() && (has_time || has_event));
        let is_sure = behind.is_some() || (has_node && is_whole);
        if is_sure && behind.is_none() && !rest.is_empty() {
            self.behind_event.add_with(at, || quote(rest));
        }
        let process = self.names.process(header, self.sink);
        let thread = self.names.thread(header, self.sink);
        let pending = &mut self.pending;
        pending.at = Some(at);
        pending.is_sure = is_sure;
        pending.period = header.period;
        if !is_sure {
            pending.line.extend_from_slice(line);
            pending.rest.extend_from_slice(rest);
        }
        pending
            .event
            .extend_from_slice(header.event.unwrap_or_default());
        pending.around.extend(process.into_iter().chain(thread));
        if behind.is_some() {
            pending.behind.extend_from_slice(rest);
        }
    }

    /// Takes what comes after the event for a frame: it is the only one if no others follow.
    fn only_frame(&mut self) -> Result<(), ImportError> {
        // Out of the sample while its frames are added to, and back into it for its room.
        let text = std::mem::take(&mut self.pending.behind);
        if let (Some(frame), Some(at)) = (behind(&text), self.pending.at) {
            self.frame(at, &frame)?;
        }
        self.pending.behind = text;
        self.pending.behind.clear();
        Ok(())
    }

    /// Emits the sample that has been read, if there is one.
    fn finish_sample(&mut self) -> Result<(), ImportError> {
        self.only_frame()?;
        // Out of the script while its sample is emitted, and back: the room of one sample serves
        // the next.
        let mut pending = std::mem::take(&mut self.pending);
        if let Some(at) = pending.at {
            if pending.is_sure || !pending.frames.is_empty() {
                if !pending.rest.is_empty() {
                    self.behind_event.add_with(at, || quote(&pending.rest));
                }
                self.sample(&pending, at)?;
            } else {
                self.not_understood.add_with(at, || quote(&pending.line));
            }
            pending.clear();
        }
        self.pending = pending;
        Ok(())
    }

    fn sample(&mut self, pending: &Pending, at: Position) -> Result<(), ImportError> {
        let mut stack: Vec<Frame<'_>> = pending
            .around
            .iter()
            .map(|around| Frame::function(*around))
            .collect();
        if pending.frames.is_empty() {
            self.without_frames.add(at);
        }
        let unknown = self.names.text(b"");
        // Without `dso` in `-F` no frame has a binary, and none is missing (case
        // `perf_script/without-period`).
        let has_binaries = pending.frames.iter().any(|frame| frame.binary.is_some());
        // What was inlined is in the binary of the frames of its address, the calling one of which
        // may have been printed in front of it (case `perf_script/inlined-below-its-function`).
        let is_same_code = |one: &RawFrame, other: &RawFrame| {
            let starts = one.code_start.is_some() && one.code_start == other.code_start;
            let is_inlined = one.binary.is_none() || other.binary.is_none();
            one.address == other.address || is_inlined && starts
        };
        let mut outer: Option<&RawFrame> = None;
        for code in pending.frames.chunk_by(is_same_code).rev() {
            // An inlined frame lies in the frame around it, unless offsets show that this frame is missing.
            let around = outer.filter(|outer| match (outer.code_start, code.last()) {
                (Some(start), Some(inner)) => inner.code_start.is_none_or(|inner| inner == start),
                _ => true,
            });
            let own = code.iter().rev().find_map(|frame| frame.binary);
            let mut binary = own.or(around.and_then(|around| around.binary));
            outer = code.iter().find(|frame| frame.binary.is_some()).or(outer);
            // The sink has stacks with the outermost frame first; perf prints the innermost first.
            for frame in code.iter().rev() {
                binary = frame.binary.or(binary);
                if has_binaries && binary.is_none() {
                    self.without_binary.add(at);
                }
                let function =
                    self.names
                        .function(frame.symbol, binary.unwrap_or(unknown), self.sink);
                stack.push(Frame::function(function));
            }
        }
        let lines = pending.frames.iter().rev().map(|frame| frame.line);
        // In a second pass, because the texts of files are borrowed from the table that functions
        // are still added to above.
        for (frame, line) in stack.iter_mut().skip(pending.around.len()).zip(lines) {
            frame.line = line.map(|(file, line)| Line {
                file: self.names.get(file),
                line,
                col: 0,
            });
        }
        // Metrics are announced with the first sample that has them: which events there are is
        // known only at the end, and the sink allows it for samples.
        let place = event(&mut self.events, &pending.event, at)?;
        let mut values = [(MetricId(0), 0.0); 2];
        let mut count = 0;
        if let Some(event) = self.events.get_mut(place) {
            event.count += 1;
            let metric_names = &mut self.metric_names;
            let figures = [
                pending
                    .period
                    .map(|period| (event.period(metric_names, self.sink), period)),
                Some((event.samples(metric_names, self.sink), 1.0)),
            ];
            for (value, figure) in values.iter_mut().zip(figures.into_iter().flatten()) {
                *value = figure;
                count += 1;
            }
        }
        self.samples += 1;
        self.sink.sample(Sample {
            stack: &stack,
            shared: 0,
            calls: None,
            values: values.get(..count).unwrap_or_default(),
            labels: None,
        });
        Ok(())
    }

    /// Says which event is shown when none is asked for, and how often there was something to
    /// remark.
    fn finish(self) {
        // The first of those that have equally many.
        let most = self.events.iter().rev().max_by_key(|event| event.count);
        if let Some(metric) = most.and_then(|event| event.period.or(event.samples)) {
            self.sink.run(RunFact::DefaultMetric(metric));
        }
        for event in &self.events {
            if let (Some(period), Some(samples)) = (event.period, event.samples) {
                self.sink.run(RunFact::Observations(period, samples));
            }
        }
        let Self {
            sink,
            names,
            not_understood,
            without_frames,
            without_binary,
            behind_event,
            ..
        } = self;
        not_understood.note_with(sink, Severity::Warning, |count, first| {
            format!(
                "{} not understood and skipped (first: {first})",
                many(count, "line")
            )
        });
        without_frames.note(sink, Severity::Info, |count| {
            format!(
                "{} without frames: counted for the thread only",
                many(count, "sample")
            )
        });
        without_binary.note(sink, Severity::Info, |count| {
            format!(
                "{} without an adjacent frame at the same address: the binary is unknown",
                many(count, "inlined frame")
            )
        });
        behind_event.note_with(sink, Severity::Info, |count, first| {
            format!(
                "{} with text after the event, which is skipped (first: {first})",
                many(count, "sample")
            )
        });
        names.emit_notes(sink);
    }
}

/// The place of an event; there are few, so that looking at each is the fastest way.
fn event(events: &mut Vec<Event>, name: &[u8], at: Position) -> Result<usize, ImportError> {
    if let Some(known) = events.iter().position(|event| *event.name == *name) {
        return Ok(known);
    }
    if events.len() == MOST_EVENTS {
        let limit = format!("{MOST_EVENTS} events (limit: events of a file)");
        return Err(ImportError::Limit {
            position: at,
            limit,
        });
    }
    events.push(Event {
        name: name.into(),
        period: None,
        samples: None,
        count: 0,
    });
    Ok(events.len() - 1)
}

impl Event {
    /// The metric of its periods.
    fn period(&mut self, names: &mut MetricNames, sink: &mut dyn Sink) -> MetricId {
        *self.period.get_or_insert_with(|| {
            // `cpu-clock:u`, `cpu-clock/period=3000000/`: what comes after says when it was counted.
            let counted = self
                .name
                .split(|byte| b":/".contains(byte))
                .next()
                .unwrap_or_default();
            let is_time = matches!(counted, b"cpu-clock" | b"task-clock");
            let name = if self.name.is_empty() {
                "period".into()
            } else {
                escape::text(&self.name)
            };
            sink.metric(
                &names.take(&name),
                if is_time {
                    Unit::Nanoseconds
                } else {
                    Unit::Count
                },
                Noise::Sampled,
            )
        })
    }

    /// The metric of its samples.
    fn samples(&mut self, names: &mut MetricNames, sink: &mut dyn Sink) -> MetricId {
        *self.samples.get_or_insert_with(|| {
            let name = escape::text(&self.name);
            let name = if name.is_empty() {
                "samples".to_owned()
            } else {
                format!("{name}.samples")
            };
            sink.samples(&names.take(&name))
        })
    }
}

/// The number of a text.
type Text = usize;

/// What is known of an address.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Symbol {
    kind: Kind,
    name: Text,
    /// Where it starts in its page of memory, if the file says so. A binary may lie
    /// elsewhere in each process, but always by whole pages.
    start: Option<u64>,
}

/// Functions, threads, processes and their texts, each once.
#[derive(Default)]
struct SymbolTable {
    texts: Vec<Box<str>>,
    by_bytes: HashMap<Box<[u8]>, Text>,
    functions: HashMap<(Symbol, Text), FunctionId>,
    /// How many starts a name has in a binary.
    starts: HashMap<(Text, Text), u32>,
    unknown: Counted,
}

impl SymbolTable {
    fn text(&mut self, bytes: &[u8]) -> Text {
        // By the bytes, so that a text is escaped once and not with every frame.
        if let Some(known) = self.by_bytes.get(bytes) {
            return *known;
        }
        let text = escape::text(bytes);
        self.by_bytes.insert(bytes.into(), self.texts.len());
        self.texts.push(text.into());
        self.texts.len() - 1
    }

    fn get(&self, text: Text) -> &str {
        self.texts.get(text).map_or("", Box::as_ref)
    }

    fn process(&mut self, header: &Header<'_>, sink: &mut dyn Sink) -> Option<FunctionId> {
        let name = match header.process {
            None if header.comm.is_empty() => return None,
            None => self.text(header.comm),
            Some(id) => self.text([header.comm, id].join(&b' ').trim_ascii_start()),
        };
        let module = self.text(b"");
        Some(self.container(Kind::Process, name, module, sink))
    }

    fn thread(&mut self, header: &Header<'_>, sink: &mut dyn Sink) -> Option<FunctionId> {
        let name = self.text(header.thread?);
        // The number alone: a thread stays one where it changes the name of its command.
        let module = self.text(header.process.unwrap_or_default());
        Some(self.container(Kind::Thread, name, module, sink))
    }

    fn container(
        &mut self,
        kind: Kind,
        name: Text,
        module: Text,
        sink: &mut dyn Sink,
    ) -> FunctionId {
        self.function(
            Symbol {
                kind,
                name,
                start: None,
            },
            module,
            sink,
        )
    }

    fn symbol(&mut self, frame: &FrameText<'_>, at: Position) -> Symbol {
        if frame.symbol.is_empty() || frame.symbol == UNKNOWN {
            self.unknown.add(at);
            let name = self.text(&[b"0x", frame.address].concat());
            return Symbol {
                kind: Kind::Pseudo,
                name,
                start: None,
            };
        }
        Symbol {
            kind: Kind::Function,
            name: self.text(frame.symbol),
            // Perf prints the offset of an inlined frame from the start of the function around it
            // (case `perf_script/inlined-twice`).
            start: frame
                .start()
                .filter(|_| !frame.is_inlined)
                .map(|start| start % PAGE),
        }
    }

    fn function(&mut self, mut symbol: Symbol, binary: Text, sink: &mut dyn Sink) -> FunctionId {
        // Code that is compiled at run time may be compiled anew elsewhere: its place would make
        // several functions of one (case `perf_script/same-name`).
        if symbol.start.is_some() && !is_fixed(self.get(binary)) {
            symbol.start = None;
        }
        if let Some(known) = self.functions.get(&(symbol, binary)) {
            return *known;
        }
        // The first one is also the one of which the file does not say where it starts.
        let mut number = 0;
        if symbol.start.is_some() {
            let count = self.starts.entry((symbol.name, binary)).or_default();
            number = *count;
            *count += 1;
        }
        let function = sink.function(FunctionDef {
            kind: symbol.kind,
            name: self.get(symbol.name),
            module: self.get(binary),
            first_col: number,
            ..FunctionDef::default()
        });
        self.functions.insert((symbol, binary), function);
        function
    }

    fn emit_notes(&self, sink: &mut dyn Sink) {
        self.unknown.note(sink, Severity::Info, |count| {
            format!(
                "{} without a symbol, named by the address; to get names, run `perf script` on a machine with the \
                 binaries and their debug symbols",
                many(count, "frame")
            )
        });
    }
}

/// Whether the functions of a binary stay where they are in it. Code that is compiled while the
/// program runs does not.
fn is_fixed(binary: &str) -> bool {
    let is_file =
        binary.starts_with('/') && !binary.starts_with("//") && !binary.starts_with("/memfd:");
    let is_compiled = binary.contains("/perf-") || binary.contains("/jitted-");
    (is_file && !is_compiled) || (binary.starts_with('[') && !binary.starts_with("[JIT]"))
}
