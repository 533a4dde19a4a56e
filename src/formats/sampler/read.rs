//! Apple Sampler traces, as written from SBCL's sb-sprof
//!
//! # What it is
//! A file of Apple's Sampler: text and binary numbers mixed, with a table of symbols and then, for each thread, one stack per
//! sample. Lisp programs write such files from SBCL's statistical profiler. Default metric: `samples`, 1 per stack.
//!
//! # How to record one
//! Use a Lisp function that writes the traces of sb-sprof, innermost frame first. The first reference has one for SBCL of 2008.
//! Since 2.1.2, call `(sb-sprof:report :type nil)` first; `sb-sprof:map-traces` then passes each trace with its thread.
//! Copy the file in binary mode: changed line ends damage the numbers.
//! ```text
//! (sb-sprof:with-profiling (:mode :cpu :threads :all) (main))
//! (with-open-file (s "run.trace" :direction :output :element-type :default)
//!   (sb-sprof::write-sampler-data s))
//! ```
//!
//! # What we read
//! - `@supersamplerV1.0` with `@symboltableV1.1`, with and without `@end` after the table and after each thread.
//! - Threads, as nodes at the top. A thread has the name of the symbol with its number, else `Thread_` and its id, which may
//!   be `NIL`. Blocks of one thread are combined. A thread without samples is kept.
//! - Stacks, innermost frame first. A function is identified by name and first path, even if it has several ids. The path is the
//!   function's file; `NIL` is unknown.
//! - The package of a name as module: `SHOP` of `SHOP::F`, `(LABELS SHOP::QUICK :IN SHOP::SORT)` and
//!   `(METHOD SHOP::AREA (T))`. The name keeps it. Keywords, strings and symbols without a package have no module.
//! - Frames with the number of an earlier thread, as unknown frames of kind `pseudo`. Frames with an unknown id have the id
//!   as name.
//! - Stacks without frames, which count for the thread alone.
//!
//! # What we leave out
//! - The second number and the second path of a symbol (a note reports values), and symbols with a duplicate id.
//! - Data after the last `@end`.
//! - The three numbers before each stack, always 1, 0, 1; a note counts others.
//!
//! # References
//! - "Apple's Sampler file format, and SBCL SB-SPROF report generation", kpreid, 2008: grammar and a writer, which
//!   disagree about the first `@end`.
//! - `contrib/sb-sprof` in the sources of SBCL.

use std::io::BufRead;

use byteorder::{BE, ByteOrder};
use hashbrown::{HashMap, HashSet};

use crate::base::error::{ImportError, Position, quote};
use crate::events::{Frame, FunctionDef, FunctionId, Kind, MetricId, Note, Sample, Severity, Sink};
use crate::formats::common::counted::{Counted, many};
use crate::formats::common::lisp_names::package;
use crate::formats::format::{Confidence, Format};
use crate::formats::options::{KEEP_BEFORE_ERROR_OPTION, Options};
use crate::formats::salvage::Salvage;
use crate::input::Input;
use crate::text::escape;

/// The format of the page above: how it is recognised and read.
pub(in crate::formats) const FORMAT: Format = Format {
    name: "sampler",
    summary: "Apple Sampler traces, as written from SBCL's sb-sprof",
    revision: 3,
    sniff,
    has_empty_recordings: true,
    salvage: Salvage::Records { tail: b"" },
    options: &[KEEP_BEFORE_ERROR_OPTION],
    import,
};

const FIRST: &[u8] = b"@supersamplerV1.0";
const TABLE: &[u8] = b"@symboltableV1.1";
const THREAD: &[u8] = b"@threadV1.0\t";
const END: &[u8] = b"@end";

/// Of a symbol: tab, id, tab, extra, tab.
const SYMBOL_HEAD: u64 = 11;

/// Of a sample: tab, three numbers, number of frames.
const SAMPLE_HEAD: u64 = 17;

/// What each sample begins with. The meaning of the numbers is unknown.
const USUAL: [u32; 3] = [1, 0, 1];

fn sniff(head: &[u8]) -> Confidence {
    // Without the version, so that another one is refused with its place and not as an unknown
    // file.
    if head.starts_with(b"@supersampler") {
        Confidence::Yes
    } else {
        Confidence::No
    }
}

fn import(
    input: &mut Input<'_>,
    _options: &Options,
    sink: &mut dyn Sink,
) -> Result<(), ImportError> {
    // Binary numbers may hold line feeds: a count of lines would mean nothing.
    input.has_no_lines();
    sink.at(input.position());
    let samples = sink.samples("samples");
    let mut trace = Trace::new(sink, samples);
    let mut record = Vec::new();
    trace.header(input, &mut record)?;
    // The table first: after it a tab begins a sample, and samples need a thread (case
    // `sampler/sample-before-any-thread`).
    while peek(input)? == Some(b'\t') {
        trace.symbol(input, &mut record)?;
    }
    let mut section = Section::Table;
    loop {
        let at = input.position();
        section = match (peek(input)?, section) {
            (None, _) => break,
            (Some(b'\n'), _) => {
                trace.blank_line(input);
                section
            }
            // In every section: `@end` may come after each thread, and the writer of 2008 prints
            // none after the table (cases `sampler/end-after-every-thread`,
            // `sampler/no-table-end`).
            (Some(b'@'), _) => trace.directive(input, &mut record)?,
            (Some(b'\t'), Section::Thread(thread)) => {
                trace.sample(thread, input, &mut record)?;
                section
            }
            (Some(_), Section::Ended) => {
                note(
                    trace.sink,
                    Severity::Warning,
                    Some(at),
                    "data after the last @end skipped",
                );
                break;
            }
            (Some(byte), Section::Thread(_)) => {
                return Err(trace.refuse(at, "a sample, a thread or @end", &quote(&[byte])));
            }
            (Some(byte), Section::Table) => {
                return Err(trace.refuse(at, "a thread or @end", &quote(&[byte])));
            }
        };
    }
    // All records may be whole without it: this is all that can be said (case
    // `sampler/no-final-end`).
    if !matches!(section, Section::Ended) {
        let message = "expected @end before the end of the file: the file may be truncated between two samples";
        note(
            trace.sink,
            Severity::Warning,
            Some(input.position()),
            message,
        );
    }
    trace.emit_notes();
    Ok(())
}

/// The next byte, which stays where it is.
fn peek(input: &mut Input<'_>) -> Result<Option<u8>, ImportError> {
    match input.fill_buf() {
        Ok(bytes) => Ok(bytes.first().copied()),
        // The input keeps its failure with the place; what `BufRead` reports only says that there
        // is one.
        Err(_) => Err(input.failure().unwrap_or(ImportError::Stopped)),
    }
}

/// Adds the bytes before the next line feed, which is consumed; says whether there was one.
/// Unlike [`Input::read_line`], this leaves a carriage return where it is: it is part of a name, or
/// damage.
fn read_text(input: &mut Input<'_>, text: &mut Vec<u8>) -> Result<bool, ImportError> {
    if input.read_until(b'\n', text).is_err() {
        return Err(input.failure().unwrap_or(ImportError::Stopped));
    }
    let ended = text.ends_with(b"\n");
    if ended {
        text.pop();
    }
    Ok(ended)
}

/// Reads a line as a record of its own, in place of what `line` holds.
fn read_line(input: &mut Input<'_>, line: &mut Vec<u8>) -> Result<bool, ImportError> {
    line.clear();
    input.begin_record();
    read_text(input, line)
}

/// What the place in the file is part of.
#[derive(Clone, Copy)]
enum Section {
    Table,
    Thread(FunctionId),
    Ended,
}

/// What is known of an id.
struct Symbol {
    name: Box<str>,
    file: Box<str>,
    /// The table has it.
    listed: bool,
    /// A thread has this number.
    is_thread: bool,
    /// Set when the first frame has this id.
    function: Option<FunctionId>,
}

/// What tells threads apart.
#[derive(PartialEq, Eq, Hash)]
enum ThreadKey {
    Number(u32),
    Text(Box<str>),
}

/// The file as far as it has been read.
struct Trace<'s> {
    sink: &'s mut dyn Sink,
    metric: MetricId,
    symbols: HashMap<u32, Symbol>,
    threads: HashMap<ThreadKey, FunctionId>,
    labels: HashSet<Box<str>>,
    /// The thread and the frames of the last sample, outermost frame first.
    stack: Vec<Frame<'static>>,
    /// The ids of its frames, in that order.
    ids: Vec<[u8; 4]>,
    /// Whole samples.
    samples: u64,

    empty_lines: Counted,
    left_out: Counted,
    repeated: Counted,
    not_hexadecimal: Counted,
    unusual: Counted,
    without_frames: Counted,
    unlisted: Counted,
}

impl<'s> Trace<'s> {
    fn new(sink: &'s mut dyn Sink, metric: MetricId) -> Self {
        Self {
            sink,
            metric,
            symbols: HashMap::new(),
            threads: HashMap::new(),
            labels: HashSet::new(),
            stack: Vec::new(),
            ids: Vec::new(),
            samples: 0,
            empty_lines: Counted::default(),
            left_out: Counted::default(),
            repeated: Counted::default(),
            not_hexadecimal: Counted::default(),
            unusual: Counted::default(),
            without_frames: Counted::default(),
            unlisted: Counted::default(),
        }
    }

    fn header(&mut self, input: &mut Input<'_>, line: &mut Vec<u8>) -> Result<(), ImportError> {
        for wanted in [FIRST, TABLE] {
            // A writer that asks for a fresh line where it has one already prints an empty one.
            while wanted == TABLE && peek(input)? == Some(b'\n') {
                self.blank_line(input);
            }
            let at = input.position();
            self.sink.at(at);
            let ended = read_line(input, line)?;
            if line == wanted {
                continue;
            }
            let found = if line.strip_suffix(b"\r") == Some(wanted) {
                "a carriage return after it: the file was copied in text mode, which damages its numbers; copy it in \
                 binary mode".to_owned()
            } else if line.is_empty() && !ended {
                "the end of the file".to_owned()
            } else {
                quote(line)
            };
            let expected = format!("{} and a line feed", quote(wanted));
            return Err(ImportError::malformed(at, expected, found));
        }
        Ok(())
    }

    fn blank_line(&mut self, input: &mut Input<'_>) {
        input.begin_record();
        self.sink.at(input.position());
        self.empty_lines.add(input.position());
        input.consume(1);
    }

    fn symbol(&mut self, input: &mut Input<'_>, record: &mut Vec<u8>) -> Result<(), ImportError> {
        let at = input.position();
        input.begin_record();
        self.sink.at(at);
        let wrong = |expected: &str, found: String| {
            Err(ImportError::malformed(
                at,
                format!("a symbol with {expected}"),
                found,
            ))
        };
        input.read_bytes(SYMBOL_HEAD, record)?;
        // By their length: any of the bytes may be a tab or line feed (case
        // `sampler/numbers-of-tabs-and-line-feeds`).
        let (Some(id), Some(extra), Some(_)) = (word(record, 1), word(record, 6), record.get(10))
        else {
            return wrong("two numbers", "the end of the file".to_owned());
        };
        if ![0, 5, 10].iter().all(|at| record.get(*at) == Some(&b'\t')) {
            return wrong(
                "tabs before, between and after two 4-byte numbers",
                quote(record),
            );
        }
        record.clear();
        if !read_text(input, record)? {
            return wrong("a line feed at its end", "the end of the file".to_owned());
        }
        // Paths hold no tabs; a name may.
        let mut parts = record.rsplitn(3, |byte| *byte == b'\t');
        let (Some(second), Some(path), Some(name)) = (parts.next(), parts.next(), parts.next())
        else {
            return wrong("a name and two paths, separated by tabs", quote(record));
        };
        if self.symbols.contains_key(&id) {
            self.repeated.add_with(at, || format!("0x{id:08X}"));
            return Ok(());
        }
        if extra != 0 || second != path {
            self.left_out.add_with(at, || quote(name));
        }
        let name = escape::text(name).into();
        let file = match path {
            b"NIL" => Box::default(),
            path => escape::text(path).into(),
        };
        self.symbols.insert(
            id,
            Symbol {
                name,
                file,
                listed: true,
                is_thread: false,
                function: None,
            },
        );
        Ok(())
    }

    /// Reads a line that begins with `@`; says where it leads.
    fn directive(
        &mut self,
        input: &mut Input<'_>,
        line: &mut Vec<u8>,
    ) -> Result<Section, ImportError> {
        let at = input.position();
        self.sink.at(at);
        let ended = read_line(input, line)?;
        if line == END {
            return Ok(Section::Ended);
        }
        // An unknown section may hold numbers, so that its end cannot be found.
        let Some(id) = line.strip_prefix(THREAD) else {
            return Err(self.refuse(at, "@threadV1.0 with an id, or @end", &quote(line)));
        };
        if !ended {
            let message = "expected a line feed after the id of a thread: the id may be truncated";
            note(self.sink, Severity::Warning, Some(at), message);
        }
        let thread = self.thread(id, at);
        // A thread is there even if it has no samples.
        self.sink.sample(Sample {
            stack: &[Frame::function(thread)],
            shared: 0,
            calls: None,
            values: &[],
            labels: None,
        });
        Ok(Section::Thread(thread))
    }

    /// The node of the thread with this id.
    fn thread(&mut self, id: &[u8], at: Position) -> FunctionId {
        // By the number, since blocks may write that of one thread in several ways (case
        // `sampler/thread-in-two-blocks`). An id that is no number has its text.
        let text = escape::text(id);
        let hexadecimal = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !hexadecimal {
            self.not_hexadecimal.add_with(at, || quote(id));
        }
        let number = if hexadecimal {
            u32::from_str_radix(&text, 16).ok()
        } else {
            None
        };
        let mut label: Box<str> = format!("Thread_{text}").into();
        let key = match number {
            Some(number) => {
                let symbol = self
                    .symbols
                    .entry(number)
                    .or_insert_with(|| Symbol::unlisted(number));
                // From here on: a frame with this number is one of unknown code in files of 2008
                // (case `sampler/thread-is-a-frame`).
                symbol.is_thread = true;
                // The paths of a thread are its name.
                if symbol.file == symbol.name {
                    symbol.file = Box::default();
                }
                if symbol.listed && !symbol.name.is_empty() {
                    label.clone_from(&symbol.name);
                }
                ThreadKey::Number(number)
            }
            None => ThreadKey::Text(text.as_ref().into()),
        };
        if let Some(thread) = self.threads.get(&key) {
            return *thread;
        }
        // Two threads stay two, also if the table has one name for both.
        while self.labels.contains(&label) {
            label = format!("{label} ({text})").into();
        }
        let thread = self.sink.function(FunctionDef {
            kind: Kind::Thread,
            ..FunctionDef::named(&label)
        });
        self.labels.insert(label);
        self.threads.insert(key, thread);
        thread
    }

    fn sample(
        &mut self,
        thread: FunctionId,
        input: &mut Input<'_>,
        record: &mut Vec<u8>,
    ) -> Result<(), ImportError> {
        let at = input.position();
        input.begin_record();
        self.sink.at(at);
        let number = self.samples + 1;
        input.read_bytes(SAMPLE_HEAD, record)?;
        let &[one, two, three, count] = words(record.get(1..).unwrap_or_default()) else {
            let expected = format!("four numbers at the start of sample {number}");
            return Err(self.refuse(at, &expected, "the end of the file"));
        };
        let head = [one, two, three].map(|word| BE::read_u32(&word));
        let count = BE::read_u32(&count);
        // Memory grows with what is there: a count that is too large meets the end of the file or
        // the limit of a record.
        input.read_bytes(u64::from(count) * 4 + 1, record)?;
        let frames = words(record);
        if record.len() as u64 <= u64::from(count) * 4 {
            let found = format!(
                "the end of the file after {}",
                many(frames.len() as u64, "frame")
            );
            return Err(self.refuse(
                at,
                &format!(
                    "{} and a line feed in sample {number}",
                    many(count.into(), "frame")
                ),
                &found,
            ));
        }
        // Nothing else in the file shows whether the number of frames was right.
        if record.last() != Some(&b'\n') {
            let expected = format!(
                "a line feed after the {} of sample {number}",
                many(count.into(), "frame")
            );
            return Err(self.refuse(
                at,
                &expected,
                &quote(record.last().map_or(&[], std::slice::from_ref)),
            ));
        }
        // Only now: messages before say how many samples were whole.
        self.samples = number;
        if head != USUAL {
            let [one, two, three] = head;
            self.unusual
                .add_with(at, || format!("{one}, {two}, {three}"));
        }
        if frames.is_empty() {
            self.without_frames.add(at);
        }
        // Most of a stack is that of the one before it. Frames without a symbol are counted, and
        // need another look.
        let same = self
            .ids
            .iter()
            .zip(frames.iter().rev())
            .take_while(|(last, id)| last == id)
            .count();
        let same = if self.unlisted.count() == 0 { same } else { 0 };
        self.stack.truncate(same + 1);
        self.ids.truncate(same);
        // Another thread may have begun with the frames of the last stack kept.
        match self.stack.first_mut() {
            Some(first) => *first = Frame::function(thread),
            None => self.stack.push(Frame::function(thread)),
        }
        for id in frames.iter().rev().skip(same) {
            let function = self.function(BE::read_u32(id), at);
            self.stack.push(Frame::function(function));
            self.ids.push(*id);
        }
        self.sink.sample(Sample {
            stack: &self.stack,
            shared: 0,
            calls: None,
            values: &[(self.metric, 1.0)],
            labels: None,
        });
        Ok(())
    }

    /// The function of a frame with this id.
    fn function(&mut self, id: u32, at: Position) -> FunctionId {
        let symbol = self
            .symbols
            .entry(id)
            .or_insert_with(|| Symbol::unlisted(id));
        if !symbol.listed {
            self.unlisted.add_with(at, || symbol.name.to_string());
        }
        // The kind is settled by the first frame: threads that begin later change nothing.
        *symbol.function.get_or_insert_with(|| {
            let kind = if symbol.is_thread {
                Kind::Pseudo
            } else {
                Kind::Function
            };
            let module = if kind == Kind::Function {
                package(&symbol.name)
            } else {
                ""
            };
            self.sink.function(FunctionDef {
                kind,
                module,
                file: &symbol.file,
                ..FunctionDef::named(&symbol.name)
            })
        })
    }

    fn refuse(&self, at: Position, expected: &str, found: &str) -> ImportError {
        ImportError::malformed(
            at,
            expected,
            format!(
                "{found} ({} before it)",
                many(self.samples, "complete sample")
            ),
        )
    }

    /// Says how often there was something to remark.
    fn emit_notes(self) {
        let Self { sink, .. } = self;
        let warning = Severity::Warning;
        remark(&self.empty_lines, sink, warning, "empty line", "skipped");
        remark(
            &self.left_out,
            sink,
            Severity::Info,
            "symbol",
            "with a second number other than 0 or a different second path, which are not stored",
        );
        remark(
            &self.repeated,
            sink,
            warning,
            "symbol",
            "with a duplicate id: the earlier symbol is used",
        );
        remark(
            &self.not_hexadecimal,
            sink,
            warning,
            "thread",
            "with an id that is not hexadecimal: the text is the name of the thread",
        );
        remark(
            &self.unusual,
            sink,
            warning,
            "sample",
            "with numbers other than 1, 0, 1 at the start: each counted as one sample",
        );
        remark(
            &self.without_frames,
            sink,
            warning,
            "sample",
            "without frames: counted for the thread only",
        );
        remark(
            &self.unlisted,
            sink,
            warning,
            "frame",
            "with an id without a symbol: named by the id",
        );
    }
}

impl Symbol {
    /// The symbol of an id that the table does not have.
    fn unlisted(id: u32) -> Self {
        let name = format!("0x{id:08X}").into();
        Self {
            name,
            file: Box::default(),
            listed: false,
            is_thread: false,
            function: None,
        }
    }
}

/// The number of 4 bytes at a place.
fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes
        .get(at..)?
        .first_chunk::<4>()
        .map(|word| BE::read_u32(word))
}

/// As many numbers of 4 bytes as there are.
fn words(bytes: &[u8]) -> &[[u8; 4]] {
    bytes.as_chunks().0
}

/// One note of something odd, with the first of it as an example.
fn remark(odd: &Counted, sink: &mut dyn Sink, severity: Severity, thing: &str, what: &str) {
    odd.note_with(sink, severity, |count, first| {
        let example = if first.is_empty() {
            String::new()
        } else {
            format!(" (first: {first})")
        };
        format!("{} {what}{example}", many(count, thing))
    });
}

fn note(sink: &mut dyn Sink, severity: Severity, position: Option<Position>, message: &str) {
    sink.note(Note {
        severity,
        position,
        message,
    });
}
