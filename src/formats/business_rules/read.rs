//! Business Rules! profiler logs
//!
//! # What it is
//! The binary log of the profiler of Business Rules! (`DEBUG PROFILE`). Each block states the current line and, on request, its
//! callers. In a SAMPLED log a block is one sample; in a TIMED log it is the time spent in a line, in
//! nanoseconds. Default metric: `samples`; for a TIMED log `time`, with the number of blocks as the metric `blocks`.
//!
//! # How to record one
//! ```text
//! DEBUG PROFILE TIMED run.prof
//! (run the program)
//! DEBUG PROFILE STOP
//! ```
//! `SAMPLED` instead of `TIMED` disturbs the program less.
//!
//! # What we read
//! - All record types of the published layout: 1 and 3 to 9. The file has no signature. It is detected only
//!   if its first 64 records are valid, or all of them with at least one complete block. `--from business_rules` always works.
//! - The program file as module, and the name of the function as function. Other marked routines are `<gosub>` or `<main>`,
//!   and unmarked ones `<routine unknown>`. Lines keep their number. The clause is the column (clause 0 is shown as none).
//! - A log is TIMED if any block has a time. The time is exclusive: called lines have blocks of their own.
//! - A module number refers to its latest declaration, or to the first one if none precedes it. A number that is
//!   never declared is `module#N`.
//! - Backtraces from the innermost line outwards. If the marks of the main routine show the reverse, they are reversed, with
//!   a note.
//! - Logs without backtraces, as totals only: inclusive cost equals exclusive cost, and there are no callers.
//! - The complete blocks of a truncated log, with a note. An unknown record type is an error, because its length is unknown;
//!   `--keep-before-error` imports the complete blocks before it. A time of 2^63 ns or more is an error, too, also as a sum.
//! - `profdb dump` shows each record that names a module, and each block, with its byte offset. The lines of a block are
//!   separated by `<`. At the end come the sums per stack, with the offset of their first block.
//!
//! # What we leave out
//! - Calls are unknown: a line continues in a second block after a call, and two calls in one statement cannot be told apart.
//! - The order of the blocks in time.
//! - An open block at the end of the log; records outside a block (a note counts them).
//!
//! # References
//! - BR Wiki, pages "Profiler File Layout" (the records), "DEBUG PROFILE" (how to record), "Line Number".

use std::collections::BTreeMap;
use std::fmt;

use hashbrown::HashMap;

use super::record::{ClauseLine, Next, Record, next};
use super::stack_table::StackTable;
use super::windows_names::{WindowsNames, decode};
use crate::base::error::{ImportError, Position};
use crate::events::{
    self, Fidelity, FunctionDef, FunctionId, Info, MetricId, Noise, Note, RunFact, Sample,
    Severity, Sink, Unit,
};
use crate::formats::common::counted::{Counted, many};
use crate::formats::common::names::NameId;
use crate::formats::format::{Confidence, Format, append, fault_cause, fault_position};
use crate::formats::options::{KEEP_BEFORE_ERROR, KEEP_BEFORE_ERROR_OPTION, Options};
use crate::formats::salvage::Salvage;
use crate::input::Input;

/// The format of the page above: how it is recognised and read.
pub(in crate::formats) const FORMAT: Format = Format {
    name: "business_rules",
    summary: "Business Rules! profiler logs, SAMPLED and TIMED",
    revision: 2,
    sniff,
    has_empty_recordings: true,
    salvage: Salvage::Importer,
    options: &[KEEP_BEFORE_ERROR_OPTION],
    import,
};

/// Records that must make sense before a file is taken for a log.
const SNIFFED: u32 = 64;

/// What lines may be numbered.
const LINES: std::ops::RangeInclusive<u32> = 1..=99_999;

/// The largest time, in ns: integers in SQL are signed.
const MAX_TIME: u64 = i64::MAX.unsigned_abs();

/// Returns true if the start of a file that is not recognised holds nothing but records.
pub(in crate::formats) fn may_be_meant(head: &[u8]) -> bool {
    let (mut rest, mut name, mut records) = (head, Vec::new(), 0);
    loop {
        match next(&mut rest, &mut name) {
            Ok(Next::Record(_)) => records += 1,
            Ok(Next::End | Next::Cut) => return records > 0,
            Ok(Next::Unknown(_)) | Err(_) => return false,
        }
    }
}

fn sniff(head: &[u8]) -> Confidence {
    // A mapping or a line: all other records belong to a block, which a line begins.
    if !matches!(head.first(), Some(1 | 3)) {
        return Confidence::No;
    }
    let mut rest = head;
    let mut name = Vec::new();
    let (mut records, mut lines, mut blocks) = (0, 0, 0);
    // A log of nothing but mappings is not taken for one, so a line is waited for.
    while records < SNIFFED || lines == 0 {
        match next(&mut rest, &mut name) {
            Ok(Next::Record(record)) => {
                // A damaged log is not recognised, so that other binary files are not either (cases
                // `business_rules/line-zero`, `business_rules/other-binary-files`).
                let sensible = match record {
                    Record::Mapping(_) => !decode(&name).text.chars().any(char::is_control),
                    Record::Line(place) | Record::Trace(place) => LINES.contains(&place.line),
                    _ => true,
                };
                if !sensible {
                    return Confidence::No;
                }
                records += 1;
                lines += u32::from(matches!(record, Record::Line(_)));
                blocks += u32::from(lines > 0 && matches!(record, Record::End));
            }
            // The log, or what is shown of it here, may end inside a record.
            Ok(Next::End | Next::Cut) => {
                return if blocks > 0 {
                    Confidence::Maybe
                } else {
                    Confidence::No
                };
            }
            Ok(Next::Unknown(_)) | Err(_) => return Confidence::No,
        }
    }
    Confidence::Maybe
}

fn import(
    input: &mut Input<'_>,
    options: &Options,
    sink: &mut dyn Sink,
) -> Result<(), ImportError> {
    input.has_no_lines();
    sink.at(input.position());
    let mut log = Log::default();
    let mut outcome = Ok(());
    if let Err(fault) = log.read(input, sink) {
        let Some(position) = fault_position(&fault) else {
            return Err(fault);
        };
        let kept = many(log.blocks, "complete block");
        if options.flag(KEEP_BEFORE_ERROR) && log.blocks > 0 {
            let cause = fault_cause(&fault);
            let message =
                format!("{cause}: imported the {kept} before it, skipped the rest of the file");
            log.ending = Some((position, message));
        } else {
            // The blocks before are reported nevertheless: `profdb dump` shows them.
            outcome = Err(append(fault, &format!(" after {kept}")));
        }
    }
    log.finish(sink);
    outcome
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Module {
    File(NameId),
    /// No file has been declared for the number so far.
    Number(u16),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Routine {
    Function(NameId),
    Gosub,
    Main,
    Unknown,
}

impl Routine {
    fn name(self, names: &WindowsNames) -> &str {
        match self {
            Self::Function(name) => match names.text(name) {
                "" => "<function without a name>",
                name => name,
            },
            Self::Gosub => "<gosub>",
            Self::Main => "<main>",
            Self::Unknown => "<routine unknown>",
        }
    }
}

/// A line of a routine: what stacks consist of.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Frame {
    module: Module,
    line: u32,
    clause: u8,
    routine: Routine,
}

/// A line or backtrace of the open block, with its marks.
struct Marked {
    module: Module,
    line: u32,
    clause: u8,
    function: Option<NameId>,
    gosub: bool,
    main: bool,
}

impl Marked {
    fn frame(&self) -> Frame {
        Frame {
            module: self.module,
            line: self.line,
            clause: self.clause,
            routine: self.routine(),
        }
    }

    fn routine(&self) -> Routine {
        // Of several marks, the one that tells most (case `business_rules/two-marks`).
        match self.function {
            Some(name) => Routine::Function(name),
            None if self.gosub => Routine::Gosub,
            None if self.main => Routine::Main,
            None => Routine::Unknown,
        }
    }
}

/// The open block: the current line first, then the backtraces as they come.
struct Block {
    start: Position,
    frames: Vec<Marked>,
    time: Option<u64>,
}

/// A block of the log in words.
struct Words<'b> {
    frames: &'b [Marked],
    time: Option<u64>,
    names: &'b WindowsNames,
}

impl fmt::Display for Words<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, frame) in self.frames.iter().enumerate() {
            if at > 0 {
                to.write_str(" < ")?;
            }
            write!(to, "{} in ", frame.routine().name(self.names))?;
            match frame.module {
                Module::File(name) => to.write_str(self.names.text(name))?,
                Module::Number(number) => to.write_str(&undeclared(number))?,
            }
            write!(to, "[{}:{}]", frame.line, frame.clause)?;
        }
        self.time.map_or(Ok(()), |time| write!(to, " time {time}"))
    }
}

/// What a module is called that no file is declared for.
fn undeclared(number: u16) -> String {
    format!("module#{number}")
}

/// How many blocks, and their nanoseconds.
#[derive(Clone, Copy, Default)]
struct Value {
    blocks: u64,
    time: u64,
}

impl Value {
    fn add(&mut self, other: Self) {
        self.blocks += other.blocks;
        self.time = self.time.saturating_add(other.time);
    }
}

/// What notes are about.
#[derive(Default)]
struct Oddities {
    not_utf8: Counted,
    redeclared: Counted,
    strange_lines: Counted,
    unended: Counted,
    outside: Counted,
    extra_times: Counted,
    extra_names: Counted,
    without_time: Counted,
}

/// How it has been decided to read the log.
#[derive(Clone, Copy)]
struct Reading {
    /// Of TIMED logs.
    time: Option<MetricId>,
    /// Samples or blocks.
    count: MetricId,
}

/// What is known of a log so far.
#[derive(Default)]
struct Log {
    names: WindowsNames,
    /// Files by number: the latest, and the first of each number, for frames that came before it.
    files: HashMap<u16, NameId>,
    first_files: HashMap<u16, NameId>,
    /// Frames whose number has no file.
    waiting: BTreeMap<u16, Counted>,
    functions: HashMap<(NameId, Routine), FunctionId>,

    open: Option<Block>,
    /// Whole blocks.
    blocks: u64,
    /// All times so far.
    total: u64,
    any_time: bool,
    any_trace: bool,
    /// Stacks of at least three lines with the main routine on the first backtrace and not on the
    /// last.
    main_first: Counted,
    /// Such stacks with the main routine on the last one.
    main_last: bool,
    /// The whole blocks: what they mean is certain at the end of the log only.
    stacks: StackTable<Frame, Value>,

    oddities: Oddities,
    /// Why the log ends early.
    ending: Option<(Position, String)>,
    /// The frames of a block, kept to be used again.
    frames: Vec<Frame>,
}

impl Log {
    /// Reads all records. The first record that cannot be read is an error.
    fn read(&mut self, input: &mut Input<'_>, sink: &mut dyn Sink) -> Result<(), ImportError> {
        let mut name = Vec::new();
        loop {
            input.begin_record();
            let at = input.position();
            sink.at(at);
            let read = next(input, &mut name)
                .map_err(|_| input.failure().unwrap_or(ImportError::Stopped))?;
            match read {
                Next::Record(record) => self.record(at, record, &name, sink)?,
                Next::Unknown(kind) => {
                    return Err(ImportError::malformed(
                        at,
                        "a record of type 1 or 3-9",
                        format!("type {kind}"),
                    ));
                }
                Next::Cut => {
                    self.ending = Some((
                        at,
                        format!("the log ends inside a record: imported {}", self.kept()),
                    ));
                    return Ok(());
                }
                Next::End => {
                    if let Some(block) = &self.open {
                        self.ending = Some((
                            block.start,
                            format!("the log ends inside a block: imported {}", self.kept()),
                        ));
                    }
                    return Ok(());
                }
            }
        }
    }

    /// What is kept of a log that ends early.
    fn kept(&self) -> String {
        let open = if self.open.is_some() {
            ", skipped the incomplete block"
        } else {
            ""
        };
        format!("{}{open}", many(self.blocks, "complete block"))
    }

    fn record(
        &mut self,
        at: Position,
        record: Record,
        name: &[u8],
        sink: &mut dyn Sink,
    ) -> Result<(), ImportError> {
        match record {
            Record::Mapping(number) => {
                self.declare(at, number, name, sink);
                return Ok(());
            }
            Record::Line(place) => {
                if self.open.is_some() {
                    self.oddities.unended.add(at);
                    self.close(sink);
                }
                let line = self.line(at, place);
                self.open = Some(Block {
                    start: at,
                    frames: vec![line],
                    time: None,
                });
                return Ok(());
            }
            Record::End if self.open.is_some() => {
                self.close(sink);
                return Ok(());
            }
            _ => {}
        }
        // Before the block is borrowed: `line` may have to note that the number has no file.
        let trace = match record {
            Record::Trace(place) if self.open.is_some() => Some(self.line(at, place)),
            _ => None,
        };
        let Some(block) = &mut self.open else {
            self.oddities.outside.add(at);
            return Ok(());
        };
        block.frames.extend(trace);
        // Marks belong to the line or backtrace that came last, also where a time is between them
        // (case `business_rules/mark-behind-a-time`).
        let Some(frame) = block.frames.last_mut() else {
            return Ok(());
        };
        match record {
            Record::Time(time) => {
                if block.time.is_some() {
                    self.oddities.extra_times.add(at);
                }
                let expected = "times that add up to less than 2^63 ns";
                let too_much =
                    || ImportError::malformed(at, expected, format!("another {time} ns"));
                self.total = self
                    .total
                    .checked_add(time)
                    .filter(|total| *total <= MAX_TIME)
                    .ok_or_else(too_much)?;
                // This cannot overflow: it is a part of the total, which has just been checked.
                block.time = Some(block.time.unwrap_or(0) + time);
            }
            Record::Function if frame.function.is_some() => self.oddities.extra_names.add(at),
            Record::Function => {
                let (name, odd) = self.names.of_bytes(name);
                if odd {
                    self.oddities.not_utf8.add(at);
                }
                frame.function = Some(name);
            }
            Record::Gosub => frame.gosub = true,
            Record::Main => frame.main = true,
            Record::Mapping(_) | Record::Line(_) | Record::Trace(_) | Record::End => {}
        }
        Ok(())
    }

    /// From here on, the number is that of the file.
    fn declare(&mut self, at: Position, number: u16, file: &[u8], sink: &mut dyn Sink) {
        let (file, odd) = self.names.of_bytes(file);
        sink.record(format_args!("module {number} is {}", self.names.text(file)));
        if odd {
            self.oddities.not_utf8.add(at);
        }
        match self.files.insert(number, file) {
            // The same file once more changes nothing (case `business_rules/declared-again`).
            Some(before) if before != file => self.oddities.redeclared.add(at),
            Some(_) => {}
            None => {
                // Frames that came earlier get this file at the end (case
                // `business_rules/declared-later`).
                self.first_files.insert(number, file);
                self.waiting.remove(&number);
            }
        }
    }

    fn line(&mut self, at: Position, place: ClauseLine) -> Marked {
        let ClauseLine {
            module,
            line,
            clause,
        } = place;
        if !LINES.contains(&line) {
            self.oddities.strange_lines.add(at);
        }
        let module = if let Some(file) = self.files.get(&module) {
            Module::File(*file)
        } else {
            self.waiting.entry(module).or_default().add(at);
            Module::Number(module)
        };
        Marked {
            module,
            line,
            clause,
            function: None,
            gosub: false,
            main: false,
        }
    }

    /// The open block is whole.
    fn close(&mut self, sink: &mut dyn Sink) {
        let Some(Block {
            start,
            frames,
            time,
        }) = self.open.take()
        else {
            return;
        };
        self.blocks += 1;
        self.any_time |= time.is_some();
        if time.is_none() {
            self.oddities.without_time.add(start);
        }
        // With one backtrace, the first is the last and says nothing of the order.
        if let [_, first, .., last] = frames.as_slice() {
            self.main_last |= last.main;
            if first.main && !last.main {
                self.main_first.add(start);
            }
        }
        self.any_trace |= frames.len() > 1;
        sink.at(start);
        sink.record(format_args!(
            "block {}",
            Words {
                frames: &frames,
                time,
                names: &self.names
            }
        ));
        self.frames.clear();
        self.frames.extend(frames.iter().map(Marked::frame));
        let value = Value {
            blocks: 1,
            time: time.unwrap_or(0),
        };
        self.stacks.add(start, &self.frames, value, Value::add);
    }

    /// Emits what the log means, which only its end makes certain.
    fn finish(mut self, sink: &mut dyn Sink) {
        if !self.any_trace {
            sink.run(RunFact::Fidelity(Fidelity::Flat));
        }
        // One time is enough, wherever it is (case `business_rules/time-in-the-last-block`).
        let reading = if self.any_time {
            let time = sink.metric("time", Unit::Nanoseconds, Noise::Timed);
            Reading {
                time: Some(time),
                count: sink.metric("blocks", Unit::Count, Noise::Exact),
            }
        } else {
            Reading {
                time: None,
                count: sink.samples("samples"),
            }
        };
        if self.any_trace {
            self.emit_stacks(reading, sink);
        } else {
            self.emit_totals(reading, sink);
        }
        self.notes(sink);
    }

    fn emit_stacks(&mut self, reading: Reading, sink: &mut dyn Sink) {
        let mut stacks = std::mem::take(&mut self.stacks);
        stacks.close();
        let (mut frames, mut stack) = (Vec::new(), Vec::new());
        for merged in stacks.stacks() {
            sink.at(merged.first);
            stacks.frames(merged, &mut frames);
            if self.is_outermost_first()
                // The current line comes first in either order: only its callers are turned round.
                && let Some(callers) = frames.get_mut(1..)
            {
                callers.reverse();
            }
            stack.clear();
            stack.extend(frames.iter().rev().map(|frame| self.event(*frame, sink)));
            let (values, count) = values(merged.value, reading);
            sink.sample(Sample {
                stack: &stack,
                shared: 0,
                calls: None,
                values: values.get(..count).unwrap_or_default(),
                labels: None,
            });
        }
    }

    /// Whether the backtraces run from the outermost line inwards: the main routine cannot have
    /// been called.
    fn is_outermost_first(&self) -> bool {
        // One stack that ends in the main routine refutes the unusual order for the whole log (case
        // `business_rules/mixed-order`).
        self.main_first.count() > 0 && !self.main_last
    }

    /// The frame in the words of the sink.
    fn event(&mut self, frame: Frame, sink: &mut dyn Sink) -> events::Frame<'static> {
        let module = match frame.module {
            Module::File(name) => name,
            // The frame came before the first declaration of its number, if there is one.
            Module::Number(number) => match self.first_files.get(&number) {
                Some(name) => *name,
                None => self.names.of_text(undeclared(number)),
            },
        };
        let names = &self.names;
        let function = *self
            .functions
            .entry((module, frame.routine))
            .or_insert_with(|| {
                let name = frame.routine.name(names);
                sink.function(FunctionDef {
                    module: names.text(module),
                    ..FunctionDef::named(name)
                })
            });
        // Clause 0 is column 0, which means none (case `business_rules/clauses`).
        let line = events::Line {
            file: "",
            line: frame.line,
            col: u32::from(frame.clause),
        };
        events::Frame {
            function,
            line: Some(line),
        }
    }

    /// Emits a log without backtraces: one line is all that is known of each block, so stacks would
    /// say too much.
    fn emit_totals(&mut self, reading: Reading, sink: &mut dyn Sink) {
        let mut stacks = std::mem::take(&mut self.stacks);
        stacks.close();
        // Summed up before they are emitted: `Sink::info` replaces what was said of a frame before.
        let mut totals: Vec<(events::Frame<'static>, Position, Value)> = Vec::new();
        let mut index = HashMap::new();
        let mut frames = Vec::new();
        for stack in stacks.stacks() {
            sink.at(stack.first);
            stacks.frames(stack, &mut frames);
            for frame in &frames {
                let line = self.event(*frame, sink);
                for frame in [events::Frame::function(line.function), line] {
                    let next = totals.len();
                    match totals.get_mut(*index.entry(frame).or_insert(next)) {
                        Some((_, _, value)) => value.add(stack.value),
                        None => totals.push((frame, stack.first, stack.value)),
                    }
                }
            }
        }
        for (frame, first, value) in totals {
            sink.at(first);
            let (values, count) = values(value, reading);
            for &(metric, value) in values.iter().take(count) {
                let value = Some(value);
                sink.info(Info {
                    frame,
                    metric,
                    calls: None,
                    primitive: None,
                    exclusive: value,
                    cumulative: value,
                    seen: value,
                });
            }
        }
    }

    fn notes(&mut self, sink: &mut dyn Sink) {
        let mut counted = |counted: &Counted, what: &str, message: &str| {
            counted.note(sink, Severity::Warning, |count| {
                format!("{} {message}", many(count, what))
            });
        };
        let odd = &self.oddities;
        counted(
            &odd.not_utf8,
            "name",
            "not in UTF-8: read as Windows-1252, so letters outside ASCII may be wrong",
        );
        counted(
            &odd.redeclared,
            "module number",
            "assigned to another file: later records belong to the new file",
        );
        counted(
            &odd.strange_lines,
            "line number",
            "outside 1 to 99999: the log may be damaged",
        );
        counted(
            &odd.unended,
            "block",
            "without an end record: ended at the next line record",
        );
        counted(&odd.outside, "record", "outside a block: skipped");
        counted(
            &odd.extra_times,
            "time record",
            "after the first of a block: added to the first",
        );
        counted(
            &odd.extra_names,
            "function record",
            "after the first of a line: skipped",
        );
        // In a SAMPLED log no block has one.
        if self.any_time {
            counted(
                &odd.without_time,
                "block",
                "without a time, although other blocks have one: counted as 0 ns",
            );
        }
        let mut undeclared = Counted::default();
        for lines in self.waiting.values() {
            undeclared.add_all(lines);
        }
        counted(
            &undeclared,
            "line",
            "with an undeclared module number: file name unknown, shown as module#N",
        );
        let mut warn = |position: Option<Position>, message: &str| {
            sink.note(Note {
                severity: Severity::Warning,
                position,
                message,
            });
        };
        if self.is_outermost_first() {
            let message = "the main routine is in the first backtrace of blocks and never in the last, so backtraces \
                           are read outermost line first";
            warn(self.main_first.first(), message);
        }
        if let Some((position, message)) = &self.ending {
            warn(Some(*position), message);
        }
    }
}

/// The value per metric, and in how many metrics there is one.
fn values(value: Value, reading: Reading) -> ([(MetricId, f64); 2], usize) {
    // Above 2^53 rounded, of which the builder makes a note.
    #[expect(clippy::cast_precision_loss, reason = "costs are REAL")]
    let (blocks, time) = ((reading.count, value.blocks as f64), value.time as f64);
    match reading.time {
        Some(metric) => ([(metric, time), blocks], 2),
        None => ([blocks, blocks], 1),
    }
}
