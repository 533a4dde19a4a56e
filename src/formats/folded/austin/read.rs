//! Austin, a sampling profiler for Python
//!
//! # What it is
//! The text that Austin 1 to 3 write: lines about the recording, then one line per sample with process,
//! thread, frames and the difference from the previous sample. Default metric: that of the recording's mode, which is
//! `time` by default.
//!
//! # How to record one
//! ```text
//! austin -i 1ms -o run.austin python3 app.py
//! ```
//! `-s` records processor time, `-m` memory, and `-f` both. `mojo2austin run.mojo run.austin` converts the binary files of
//! `-b` and of Austin 4 to text.
//!
//! # What we read
//! - Processes (`P11738`) and threads (`T0:11740`: interpreter and thread), as nodes of their kind, named as in the file.
//! - Frames `file:function:line`. File and function identify a function. An empty name, which Austin could not
//!   read, stays empty.
//! - By `# mode:`, each in its own metric; microseconds become nanoseconds:
//!
//! | mode | metrics |
//! | --- | --- |
//! | `wall` | `time` |
//! | `cpu` | `cpu_time` |
//! | `memory` | `alloc`, and `freed` if memory decreased |
//! | `full` | `time`, `cpu_time` (equal if the thread was not idle), `alloc`, `freed` |
//!
//! - Without `# mode:`, three figures mean `full`, and one means `wall`. A file without leading lines (Austin 1 and 2) is
//!   detected by its frames.
//! - Samples without frames, which count for the thread alone.
//! - `:GC:` and similar frames, of kind `pseudo`.
//! - The other lines at both ends (`# interval:`, `# duration:` and so on), as properties of the run.
//! - Mangled names of C++ and Rust are demangled; the raw name is kept.
//!
//! # What we leave out
//! - Times and number of the samples: equal stacks are merged.
//! - More than 1,048,576 frames in one stack are refused (limit: frames of a stack).
//!
//! # References
//! - `README.md` in the sources of Austin 3.7, Gabriele N. Tornetta.
//! - `austin/stats.py` in austin-python: which sample counts for which metric.

use hashbrown::HashMap;

use crate::base::error::{ImportError, Position, quote};
use crate::events::{
    Frame, FunctionDef, FunctionId, Kind, MetricId, Noise, RunFact, Severity, Sink, Unit,
};
use crate::formats::common::counted::{Counted, many};
use crate::formats::common::demangle::Demangler;
use crate::formats::common::ending::note_unfinished_line;
use crate::formats::folded::stack_lines::{FrameReader, StackLines, split_last, whole_lines};
use crate::formats::format::{Confidence, Format};
use crate::formats::options::{KEEP_BEFORE_ERROR_OPTION, Options};
use crate::formats::salvage::Salvage;
use crate::input::Input;
use crate::text::escape;

/// The format of the page above: how it is recognised and read.
pub(in crate::formats) const FORMAT: Format = Format {
    name: "austin",
    summary: "Austin, a sampling profiler for Python (text)",
    revision: 3,
    sniff,
    has_empty_recordings: true,
    salvage: Salvage::Lines,
    options: &[KEEP_BEFORE_ERROR_OPTION],
    import,
};

/// Properties that a run keeps: Austin writes a dozen.
const MOST_PROPERTIES: u64 = 64;

const BINARY: &[u8] = b"MOJ";

fn sniff(head: &[u8]) -> Confidence {
    if head.starts_with(b"# austin: ") || head.starts_with(BINARY) {
        return Confidence::Yes;
    }
    // Austin 1 and 2 have no lines in front. Threads at the top of stacks are also found in what
    // other programs made of a profile of Austin: there, frames are names alone, and figures have
    // another unit (case `folded/made-from-austin`).
    let (mut frames, mut of_form) = (0_usize, 0_usize);
    let mut is_full = false;
    for line in whole_lines(head).filter(|line| !line.is_empty() && !line.starts_with(b"#")) {
        let Some((stack, figures)) = split_last(line).filter(|(stack, _)| is_stack(stack)) else {
            return Confidence::No;
        };
        match read_figures(figures) {
            None => return Confidence::No,
            Some((_, full)) => is_full |= full.is_some(),
        }
        for frame in stack
            .split(|byte| *byte == b';')
            .filter(|frame| !is_process(frame) && !is_thread(frame))
        {
            frames += 1;
            of_form += usize::from(is_of_form(frame));
        }
    }
    // Austin writes some frames in no form (case `austin/other-frames`), other programs most of
    // them.
    if is_full || of_form * 2 > frames {
        Confidence::Maybe
    } else {
        Confidence::No
    }
}

/// `file:function:line`, or `:GC:`.
fn is_of_form(frame: &[u8]) -> bool {
    let mut parts = frame.rsplitn(3, |byte| *byte == b':');
    let (line, name, file) = (
        parts.next().unwrap_or_default(),
        parts.next().unwrap_or_default(),
        parts.next(),
    );
    match file {
        Some(b"") => line.is_empty() && !name.is_empty(),
        Some(_) => !line.is_empty() && line.iter().all(u8::is_ascii_digit),
        None => false,
    }
}

/// Whether a stack begins with a thread, or a process and a thread.
fn is_stack(stack: &[u8]) -> bool {
    let mut frames = stack.split(|byte| *byte == b';');
    match frames.next() {
        Some(first) if is_process(first) => frames.next().is_some_and(is_thread),
        Some(first) => is_thread(first),
        None => false,
    }
}

fn is_process(frame: &[u8]) -> bool {
    frame
        .strip_prefix(b"P")
        .is_some_and(|id| !id.is_empty() && id.iter().all(u8::is_ascii_digit))
}

/// `T7f6ac4`, `T0:11740`, `T0x7f6ac4`.
fn is_thread(frame: &[u8]) -> bool {
    let Some(id) = frame.strip_prefix(b"T") else {
        return false;
    };
    let mut parts = id.split(|byte| *byte == b':');
    let is_id = |part: &[u8]| {
        let digits = part.strip_prefix(b"0x").unwrap_or(part);
        !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit)
    };
    parts.by_ref().take(2).all(is_id) && parts.next().is_none()
}

/// The figures of a sample: one, or time, idle and memory.
fn read_figures(text: &[u8]) -> Option<(i64, Option<(bool, i64)>)> {
    let mut figures = text.split(|byte| *byte == b',').map(|figure| {
        // At most 15 digits, so that a REAL holds the nanoseconds.
        let digits = figure.strip_prefix(b"-").unwrap_or(figure);
        let is_number = (1..=15).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
        is_number
            .then(|| std::str::from_utf8(figure).ok()?.parse::<i64>().ok())
            .flatten()
    });
    let figure = figures.next()??;
    let Some(idle) = figures.next() else {
        return Some((figure, None));
    };
    let (idle, memory) = (idle?, figures.next()??);
    (figures.next().is_none() && (0..=1).contains(&idle))
        .then_some((figure, Some((idle == 1, memory))))
}

/// What was recorded.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Wall,
    Cpu,
    Memory,
    Full,
}

impl Mode {
    fn named(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"wall" => Self::Wall,
            b"cpu" => Self::Cpu,
            b"memory" => Self::Memory,
            b"full" => Self::Full,
            _ => return None,
        })
    }
}

/// The metrics of a run: those of its mode.
#[derive(Clone, Copy)]
struct Metrics {
    mode: Mode,
    time: Option<MetricId>,
    cpu_time: Option<MetricId>,
    /// Memory that was taken, and that was given back.
    memory: Option<(MetricId, MetricId)>,
}

impl Metrics {
    fn announce(mode: Mode, sink: &mut dyn Sink) -> Self {
        let mut announce = |name, unit, modes: &[Mode]| {
            modes
                .contains(&mode)
                .then(|| sink.metric(name, unit, Noise::Sampled))
        };
        let time = announce("time", Unit::Nanoseconds, &[Mode::Wall, Mode::Full]);
        let cpu_time = announce("cpu_time", Unit::Nanoseconds, &[Mode::Cpu, Mode::Full]);
        let alloc = announce("alloc", Unit::Bytes, &[Mode::Memory, Mode::Full]);
        let freed = announce("freed", Unit::Bytes, &[Mode::Memory, Mode::Full]);
        Self {
            mode,
            time,
            cpu_time,
            memory: alloc.zip(freed),
        }
    }

    /// What a sample counts for, in the figures that it has. `None` where the figures are not those
    /// of the mode.
    #[expect(
        clippy::cast_precision_loss,
        reason = "15 digits are exact, and a thousand times as much is the nearest"
    )]
    fn values(self, figures: (i64, Option<(bool, i64)>)) -> Option<[Option<(MetricId, f64)>; 3]> {
        let (time, is_idle, memory) = match (self.mode, figures) {
            (Mode::Full, (time, Some((is_idle, memory)))) => (time, is_idle, memory),
            (Mode::Memory, (memory, None)) => (0, false, memory),
            (Mode::Wall | Mode::Cpu, (time, None)) => (time, false, 0),
            _ => return None,
        };
        // A negative time is no figure of the mode (case `austin/negative-time`).
        let nanoseconds = u64::try_from(time).ok()? as f64 * 1000.0;
        let cpu_time = self.cpu_time.filter(|_| !is_idle);
        let bytes = memory.unsigned_abs() as f64;
        let memory = self
            .memory
            .map(|(alloc, freed)| (if memory < 0 { freed } else { alloc }, bytes));
        Some([
            self.time.map(|time| (time, nanoseconds)),
            cpu_time.map(|time| (time, nanoseconds)),
            memory,
        ])
    }
}

fn import(
    input: &mut Input<'_>,
    _options: &Options,
    sink: &mut dyn Sink,
) -> Result<(), ImportError> {
    let sink = &mut Demangler::new(sink);
    if input.head().starts_with(BINARY) {
        return Err(ImportError::Refused(
            "the file is in Austin's binary format (MOJO): convert it with `mojo2austin`"
                .to_owned(),
        ));
    }
    let mut header = Header::default();
    let mut stacks = StackLines::new(PythonFrames::default());
    let read = read(input, sink, &mut header, &mut stacks);
    // Also what comes before an error.
    stacks.emit(sink);
    read?;
    sink.at(input.position());
    match (header.metrics, header.mode, header.properties) {
        (Some(_), ..) => {}
        (None, _, 0) => {
            return Err(ImportError::malformed(
                input.position(),
                "a line of Austin",
                "the end of the file",
            ));
        }
        // Nothing was sampled.
        (None, mode, _) => drop(Metrics::announce(mode.unwrap_or(Mode::Wall), sink)),
    }
    header
        .not_read
        .note_with(sink, Severity::Warning, |count, first| {
            format!("{} skipped (first: {first})", many(count, "property line"))
        });
    stacks.names().emit_notes(sink);
    Ok(())
}

/// Reads all lines. Those at the end may wait to be emitted.
fn read(
    input: &mut Input<'_>,
    sink: &mut dyn Sink,
    header: &mut Header,
    stacks: &mut StackLines<PythonFrames>,
) -> Result<(), ImportError> {
    let mut buffer = Vec::new();
    while let Some((at, line)) = input.next_line(&mut buffer)? {
        sink.at(at);
        let line = line.trim_ascii_end();
        if line.is_empty() {
            continue;
        }
        if line.starts_with(b"#") {
            // Lines that wait come before this one, and so do their records.
            stacks.emit(sink);
            sink.at(at);
            header.line(at, line, sink)?;
            continue;
        }
        let wrong = || {
            let found = split_last(line).map_or(line, |(_, figures)| figures);
            ImportError::malformed(
                at,
                "a stack, a space and the figures of the mode",
                quote(found),
            )
        };
        let (stack, figures) = split_last(line).ok_or_else(wrong)?;
        if !is_stack(stack) {
            return Err(ImportError::malformed(
                at,
                "`P` with a process id and `T` with a thread id",
                quote(stack),
            ));
        }
        let figures = read_figures(figures).ok_or_else(wrong)?;
        let metrics = *header.metrics.get_or_insert_with(|| {
            let guess = if figures.1.is_some() {
                Mode::Full
            } else {
                Mode::Wall
            };
            Metrics::announce(header.mode.unwrap_or(guess), sink)
        });
        let values = metrics.values(figures).ok_or_else(wrong)?;
        if stacks.add(at, stack, values.into_iter().flatten().collect())? {
            stacks.emit(sink);
        }
    }
    note_unfinished_line(input, sink);
    Ok(())
}

/// What the lines say that begin with `#`.
#[derive(Default)]
struct Header {
    /// What samples count for; known when the first one comes.
    metrics: Option<Metrics>,
    mode: Option<Mode>,
    properties: u64,
    not_read: Counted,
}

impl Header {
    fn line(&mut self, at: Position, line: &[u8], sink: &mut dyn Sink) -> Result<(), ImportError> {
        let text = escape::text(line.get(1..).unwrap_or_default());
        let Some((key, value)) = text
            .split_once(':')
            .filter(|_| self.properties < MOST_PROPERTIES)
        else {
            self.not_read.add_with(at, || quote(line));
            return Ok(());
        };
        self.properties += 1;
        match (key.trim(), value.trim()) {
            ("austin", version) => sink.run(RunFact::ToolVersion(version)),
            (key, value) => {
                if key == "mode" {
                    let mode = Mode::named(value.as_bytes())
                        .filter(|mode| self.metrics.is_none_or(|metrics| metrics.mode == *mode))
                        .ok_or_else(|| {
                            ImportError::malformed(
                                at,
                                mode_expected(self.metrics),
                                quote(value.as_bytes()),
                            )
                        })?;
                    self.mode = Some(mode);
                }
                sink.run(RunFact::Other(key, value));
            }
        }
        Ok(())
    }
}

fn mode_expected(metrics: Option<Metrics>) -> &'static str {
    match metrics {
        None => "the mode `wall`, `cpu`, `memory` or `full`",
        Some(_) => "one mode in the whole file",
    }
}

/// What there is to remark on frames.
#[derive(Default)]
struct PythonFrames {
    other_form: Counted,
    /// Names of processes.
    processes: HashMap<FunctionId, String>,
    /// Names of threads.
    threads: HashMap<FunctionId, String>,
}

impl FrameReader for PythonFrames {
    fn frame(&mut self, frame: &[u8], at: Position, sink: &mut dyn Sink) -> Frame<'static> {
        let text = escape::text(frame);
        let mut whole = |kind| {
            Frame::function(sink.function(FunctionDef {
                kind,
                ..FunctionDef::named(&text)
            }))
        };
        if is_process(frame) {
            let process = whole(Kind::Process);
            self.processes.insert(process.function, text.into_owned());
            return process;
        }
        if is_thread(frame) {
            let thread = whole(Kind::Thread);
            self.threads.insert(thread.function, text.into_owned());
            return thread;
        }
        // Paths may have colons; names of functions have none (case `austin/colons-in-paths`).
        let mut parts = text.rsplitn(3, ':');
        let (line, name, file) = (
            parts.next().unwrap_or_default(),
            parts.next().unwrap_or_default(),
            parts.next(),
        );
        match (file, name, line, line.parse::<u32>()) {
            (Some(""), name, "", _) if !name.is_empty() => {
                Frame::function(sink.function(FunctionDef {
                    kind: Kind::Pseudo,
                    ..FunctionDef::named(name)
                }))
            }
            (Some(file), name, _, Ok(line)) if !(file.is_empty() && name.is_empty()) => {
                let function = sink.function(FunctionDef {
                    file,
                    ..FunctionDef::named(name)
                });
                if line == 0 {
                    Frame::function(function)
                } else {
                    Frame::line(function, line)
                }
            }
            _ => {
                self.other_form.add_with(at, || quote(frame));
                whole(Kind::Function)
            }
        }
    }

    /// A thread of a process has the process as its module: forked processes have threads of one id.
    fn frame_below(
        &mut self,
        above: Frame<'static>,
        frame: Frame<'static>,
        sink: &mut dyn Sink,
    ) -> Frame<'static> {
        match (
            self.processes.get(&above.function),
            self.threads.get(&frame.function),
        ) {
            (Some(process), Some(thread)) => Frame::function(sink.function(FunctionDef {
                kind: Kind::Thread,
                module: process,
                ..FunctionDef::named(thread)
            })),
            _ => frame,
        }
    }
}

impl PythonFrames {
    fn emit_notes(&self, sink: &mut dyn Sink) {
        self.other_form
            .note_with(sink, Severity::Warning, |count, first| {
                format!(
                    "{} not of the form file:function:line (first: {first}): the whole text becomes the name",
                    many(count, "frame")
                )
            });
    }
}
