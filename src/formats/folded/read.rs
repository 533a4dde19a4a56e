//! Folded (collapsed) stacks, one per line
//!
//! # What it is
//! Text with one stack per line: the frames, outermost first, separated by semicolons, then a blank and a number. It is the input
//! of flame graphs, and many profilers and converters write it. Default metric: `samples`, the last number of a line, whatever
//! its unit (samples, periods of perf, bytes).
//!
//! # How to record one
//! ```text
//! perf script | inferno-collapse-perf > run.folded
//! py-spy record -f raw -o run.folded -- python app.py
//! ```
//! async-profiler (`-o collapsed`), the `stackcollapse-*` scripts of flame graphs and the `--collapsed` of many others also write
//! it. Prefer a richer format in this list if the profiler has one: folded stacks have no files, lines or units.
//!
//! # What we read
//! - Frames as functions, each by its complete text with blanks and annotations (`_[k]`, `(work.py:13)`). Equal stacks are
//!   merged.
//! - The number after the last blank or tab: `12`, `12.5`, `1e6`, also negative. A number with a fraction is stored as the
//!   nearest REAL.
//! - Stacks of one frame. The format has no signature. A file is detected by a first line with several frames and a number. If
//!   that is ambiguous (one frame, or a blank or a quote at the start), all lines at its start must be stacks.
//!   `--from folded` overrides the detection.
//! - A second number, as in the output of `difffolded.pl`, if all lines at the start of the file have two. The first one is
//!   the metric `samples_before`, and the second `samples`. Otherwise the first number belongs to the name of the frame.
//! - Three or more numbers, one per metric, if all lines at the start of the file have them: metrics `column 1`, `column 2` and
//!   so on. A first line `stack NAME/UNIT NAME/UNIT`, as in the output of `pprofutils folded -headers`, names any number of
//!   metrics.
//! - Stacks with a semicolon after the last frame (heaptrack), if all lines at the start of the file have it.
//! - Stacks with a semicolon at the start (Excimer 1.0), if all lines at the start of the file except the first have it; it is
//!   left out, with a note.
//! - Stacks with a blank after each semicolon (the crate tracing-flame), if all lines at the start of the file have it; it is
//!   not part of the names.
//! - Frames without text, as a function without a name, with a note.
//! - Comments (lines that start with `#` and a blank), empty lines, byte order mark, LF and CRLF.
//! - Mangled names of C++ and Rust are demangled; the raw name is kept.
//!
//! # What we leave out
//! - Processes and threads: an outermost frame for one of them looks like a function. A thread name with a
//!   semicolon (py-spy does not escape it) becomes two frames.
//! - More than 1,048,576 frames in one stack are refused (limit: frames of a stack).
//!
//! # References
//! - `flamegraph.pl` and `difffolded.pl` in Brendan Gregg's flame graph tools.
//! - inferno, the same in Rust, version 0.12.

use super::austin;
use super::stack_lines::{FrameReader, StackLines, Values, split_last, whole_lines};
use crate::base::error::{ImportError, Position, quote};
use crate::events::{Frame, FunctionDef, MetricId, Noise, Note, RunFact, Severity, Sink, Unit};
use crate::formats::common::counted::{Counted, many};
use crate::formats::common::demangle::Demangler;
use crate::formats::common::ending::note_unfinished_line;
use crate::formats::common::metric_names::MetricNames;
use crate::formats::format::{Confidence, Format};
use crate::formats::options::{KEEP_BEFORE_ERROR_OPTION, Options};
use crate::formats::salvage::Salvage;
use crate::input::{HEAD, Input};
use crate::text::escape;

/// The format of the page above: how it is recognised and read.
pub(in crate::formats) const FORMAT: Format = Format {
    name: "folded",
    summary: "Folded (collapsed) stacks: perf, inferno, py-spy, async-profiler, FlameGraph",
    revision: 5,
    sniff,
    has_empty_recordings: true,
    salvage: Salvage::Lines,
    options: &[KEEP_BEFORE_ERROR_OPTION],
    import,
};

/// There is no signature. A first line with frames that meet is enough, if it looks like nothing
/// else; of one that may be prose, a header, a table or JSON as well, all the other lines that can
/// be seen have to be stacks, too.
fn sniff(head: &[u8]) -> Confidence {
    let mut lines = stacks(head).peekable();
    if lines
        .peek()
        .is_some_and(|first| header_metrics(first).is_some())
    {
        lines.next();
    }
    let plausible = match lines.peek().map(|first| look(first)) {
        // The first line is longer than what can be seen of it. Names with a semicolon are also
        // found in JSON, where a quote and a colon come after the names of members.
        None => {
            let is_whole = head.len() == HEAD && !head.contains(&b'\n');
            let begins = head
                .first()
                .is_some_and(|byte| !matches!(byte, b' ' | b'\t' | b'"'));
            let has_members = memchr::memmem::find(head, b"\":").is_some();
            is_whole && begins && is_printable(head) && head.contains(&b';') && !has_members
        }
        Some(Look::Stack) => true,
        Some(Look::Other) => false,
        Some(_) => {
            let looks = lines.try_fold((false, false), |(meet, plain), line| match look(line) {
                Look::Stack | Look::Meet => Some((true, plain)),
                Look::Plain => Some((meet, true)),
                Look::Odd => Some((meet, plain)),
                Look::Other => None,
            });
            looks.is_some_and(|(meet, plain)| meet || plain)
        }
    };
    // Both would say Maybe to files of Austin 2, and detection would refuse them as ambiguous.
    if plausible && (austin::read::FORMAT.sniff)(head) == Confidence::No {
        Confidence::Maybe
    } else {
        Confidence::No
    }
}

/// Returns true if all lines at the start of a file can be read as stacks.
pub(in crate::formats) fn may_be_meant(head: &[u8]) -> bool {
    let mut lines = stacks(head).peekable();
    lines.peek().is_some() && lines.all(|line| look(line) != Look::Other)
}

/// What a line looks like.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    /// A stack of several frames and nothing else.
    Stack,
    /// A stack of several frames, if other lines are stacks.
    Meet,
    /// A name and a number.
    Plain,
    /// A name and a number, which may be a row of a table or a header as well.
    Odd,
    /// No stack.
    Other,
}

fn look(line: &[u8]) -> Look {
    let Some((stack, _)) = split_last(line).filter(|(_, count)| figure(count).is_some()) else {
        return Look::Other;
    };
    let (first, last) = (stack.trim_ascii_start().first(), stack.last());
    // In JSON, such a byte comes before a number; lines of `perf script` begin with a tab.
    let is_json = matches!(first, Some(b'{' | b'[' | b'"'))
        && matches!(last, Some(b':' | b',' | b'[' | b'{'));
    if is_json || line.starts_with(b"\t") || stack.contains(&0) {
        return Look::Other;
    }
    if stack.contains(&b';') {
        let is_quoted = stack.starts_with(b"\"") && memchr::memmem::find(stack, b"\";").is_some();
        let may_be_other = matches!(
            stack,
            [b' ' | b'"', ..] | [b'{', b' ' | b'"' | b'}', ..] | [b'[', b'{' | b'"', ..]
        );
        let is_sure = is_printable(stack) && last != Some(&b':') && (is_quoted || !may_be_other);
        return if is_sure { Look::Stack } else { Look::Meet };
    }
    let is_row = |word: &[u8]| word == b"*" || figure(word).is_some();
    let mut words = stack
        .split(|byte| *byte == b' ')
        .filter(|word| !word.is_empty());
    let is_unnamed = stack.is_empty() && !line.starts_with(b"  ");
    // `version: 1` is the header of some other format, lines of numbers are its table, and `uniq
    // -c` counts in front.
    let is_odd = last == Some(&b':')
        || line.starts_with(b"  ") && words.clone().next().is_some_and(is_row)
        || words.all(is_row);
    if is_unnamed || !is_odd && is_printable(stack) {
        Look::Plain
    } else {
        Look::Odd
    }
}

/// Returns true if a line at the start of the file has a semicolon, so that more than the numbers at the
/// ends of lines shows that these are stacks.
pub(in crate::formats) fn has_calls(head: &[u8]) -> bool {
    stacks(head).any(|line| line.contains(&b';'))
}

/// The whole lines of the first bytes that are neither empty nor comments.
fn stacks(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    whole_lines(head).filter(|line| !line.is_empty() && !is_comment(line))
}

fn is_comment(line: &[u8]) -> bool {
    line.starts_with(b"# ") || line == b"#"
}

fn is_printable(text: &[u8]) -> bool {
    text.iter().all(|byte| *byte >= b' ')
}

/// The number that a text is, if it is one.
#[expect(clippy::cast_precision_loss, reason = "15 digits are exact")]
fn figure(text: &[u8]) -> Option<f64> {
    if text.len() <= 15 && !text.is_empty() && text.iter().all(u8::is_ascii_digit) {
        return Some(
            text.iter()
                .fold(0_u64, |value, digit| value * 10 + u64::from(digit - b'0'))
                as f64,
        );
    }
    // Without the names that Rust has for what is no number.
    let is_number = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E');
    if !text.iter().all(is_number) {
        return None;
    }
    let value: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    value.is_finite().then_some(value)
}

/// Maximum number of numbers in a line, and of metrics in a header.
const MOST_COLUMNS: usize = 64;

/// Returns the number of numbers at the end of a line.
fn count_numbers(line: &[u8]) -> usize {
    let mut rest = line;
    std::iter::from_fn(|| {
        let (stack, number) = split_last(rest)?;
        rest = stack;
        figure(number)
    })
    .take(MOST_COLUMNS)
    .count()
}

/// Returns the number of numbers that all lines of the first bytes end in.
fn count_columns(head: &[u8]) -> usize {
    stacks(head).map(count_numbers).min().unwrap_or_default()
}

/// Splits a line into its stack and the figures at its end.
fn split_figures<'l>(line: &'l [u8], metrics: &[MetricId]) -> Option<(&'l [u8], Values)> {
    let mut stack = line;
    let mut figures = Values::new();
    for metric in metrics.iter().rev() {
        let (rest, number) = split_last(stack)?;
        figures.push((*metric, figure(number)?));
        stack = rest;
    }
    figures.reverse();
    Some((stack, figures))
}

/// The metrics of a header `stack NAME/UNIT NAME/UNIT`, which precedes all stacks.
fn header_metrics(line: &[u8]) -> Option<Vec<(&str, &str)>> {
    let metrics = std::str::from_utf8(line).ok()?.strip_prefix("stack ")?;
    let metrics = metrics.split_ascii_whitespace();
    let metrics: Option<Vec<_>> = metrics.map(|metric| metric.rsplit_once('/')).collect();
    metrics.filter(|metrics| !metrics.is_empty() && metrics.len() <= MOST_COLUMNS)
}

/// Returns the unit of a name in a header, and its size.
fn unit(name: &str) -> (Unit, f64) {
    match name {
        "ns" | "nanoseconds" => (Unit::Nanoseconds, 1.0),
        "us" | "microseconds" => (Unit::Nanoseconds, 1e3),
        "ms" | "milliseconds" => (Unit::Nanoseconds, 1e6),
        "s" | "seconds" => (Unit::Nanoseconds, 1e9),
        "bytes" => (Unit::Bytes, 1.0),
        "kilobytes" => (Unit::Bytes, 1024.0),
        "megabytes" => (Unit::Bytes, 1024.0 * 1024.0),
        _ => (Unit::Count, 1.0),
    }
}

/// Whether all stacks of the first bytes end in a semicolon, so that one comes after each frame.
fn has_closed_frames(head: &[u8]) -> bool {
    let mut lines = stacks(head).peekable();
    lines.peek().is_some()
        && lines.all(|line| split_last(line).is_some_and(|(stack, _)| stack.ends_with(b";")))
}

/// Whether a semicolon comes before every line at the start of the file but the first, which
/// is a mistake of Excimer's (`ExcimerLog::formatCollapsed`): the others would have a root of their
/// own that has no name.
fn has_displaced_semicolons(head: &[u8]) -> bool {
    let root = |line: &[u8]| line.split(|byte| *byte == b';').next().map(<[u8]>::to_vec);
    let mut lines = stacks(head);
    let Some(first) = lines
        .next()
        .filter(|first| first.contains(&b';'))
        .and_then(root)
        .filter(|root| !root.is_empty())
    else {
        return false;
    };
    let mut is_there_again = false;
    let all = lines.all(|line| {
        line.strip_prefix(b";").is_some_and(|line| {
            is_there_again |= root(line).is_some_and(|root| root == first);
            true
        })
    });
    all && is_there_again
}

/// Whether a blank comes after every semicolon of the first bytes, so that it separates frames.
fn has_blanks_between(head: &[u8]) -> bool {
    let mut inner = stacks(head)
        .filter_map(split_last)
        .flat_map(|(stack, _)| stack.split(|byte| *byte == b';').skip(1));
    let begins = |frame: &[u8]| frame.first() == Some(&b' ');
    inner.next().is_some_and(begins) && inner.all(begins)
}

fn import(
    input: &mut Input<'_>,
    _options: &Options,
    sink: &mut dyn Sink,
) -> Result<(), ImportError> {
    let sink = &mut Demangler::new(sink);
    let names = FrameNames {
        are_spaced: has_blanks_between(input.head()),
        ..FrameNames::default()
    };
    let mut stacks = StackLines::new(names);
    let mut comments = Counted::default();
    let read = read(input, sink, &mut stacks, &mut comments);
    // Also what comes before an error.
    stacks.emit(sink);
    read?;
    sink.at(input.position());
    if stacks.is_empty() {
        return Err(ImportError::malformed(
            input.position(),
            "a stack, a space and a number",
            "the end of the file",
        ));
    }
    comments.note_with(sink, Severity::Info, |count, first| {
        format!("{} skipped (first: {first})", many(count, "comment"))
    });
    stacks.names().emit_notes(sink);
    Ok(())
}

/// Reads all lines. Those at the end may wait to be emitted.
fn read(
    input: &mut Input<'_>,
    sink: &mut dyn Sink,
    stacks: &mut StackLines<FrameNames>,
    comments: &mut Counted,
) -> Result<(), ImportError> {
    // Decided once, by the lines that can be seen, so that a number means the same in all lines
    // (cases `folded/numbers-in-names`, `folded/second-number-missing`).
    let header = self::stacks(input.head()).next().and_then(header_metrics);
    let columns = count_columns(input.head());
    let closed = has_closed_frames(input.head());
    let displaced = has_displaced_semicolons(input.head());
    // Sums of weights look like counts of samples: the file does not tell.
    let mut metric = |name: &str, unit| sink.metric(name, unit, Noise::Unknown);
    let mut has_header = header.is_some();
    let mut scales = Vec::new();
    let metrics: Vec<MetricId> = match (header, columns) {
        (Some(header), _) => {
            let mut names = MetricNames::default();
            let metrics = header.into_iter().map(|(name, unit_name)| {
                let (unit, scale) = unit(unit_name);
                scales.push(scale);
                metric(&names.take(name), unit)
            });
            metrics.collect()
        }
        (None, 0 | 1) => vec![sink.metric("samples", Unit::Count, Noise::Unknown)],
        (None, 2) => {
            let before = metric("samples_before", Unit::Count);
            let samples = metric("samples", Unit::Count);
            // The first metric would be the default one.
            sink.run(RunFact::DefaultMetric(samples));
            vec![before, samples]
        }
        (None, _) => {
            let names = (1..=columns).map(|column| format!("column {column}"));
            names.map(|name| metric(&name, Unit::Count)).collect()
        }
    };
    let expected = match metrics.len() {
        1 => "a stack, a space and a number".to_owned(),
        count => format!("a stack, a space and {count} numbers, as in previous lines"),
    };
    let mut has_calls = false;
    let mut buffer = Vec::new();
    while let Some((at, line)) = input.next_line(&mut buffer)? {
        sink.at(at);
        let line = line.trim_ascii_end();
        if line.is_empty() {
            continue;
        }
        if is_comment(line) {
            comments.add_with(at, || quote(line));
            continue;
        }
        if std::mem::take(&mut has_header) {
            continue;
        }
        let (stack, mut figures) =
            split_figures(line, &metrics).ok_or_else(|| malformed(at, &expected, line))?;
        for ((_, figure), scale) in figures.iter_mut().zip(&scales) {
            *figure *= scale;
        }
        has_calls |= stack.contains(&b';');
        let stack = if closed {
            stack.strip_suffix(b";").unwrap_or(stack)
        } else {
            stack
        };
        let stack = match stack.strip_prefix(b";").filter(|_| displaced) {
            Some(stack) => {
                stacks.names_mut().displaced.add(at);
                stack
            }
            None => stack,
        };
        if stacks.add(at, stack, figures)? {
            stacks.emit(sink);
        }
    }
    note_unfinished_line(input, sink);
    // A table of words and numbers looks like stacks, too.
    if !has_calls {
        sink.note(Note {
            severity: Severity::Warning,
            position: None,
            message: "no line has a semicolon, so each line is read as a stack of one frame; check that the file \
                      contains stacks",
        });
    }
    Ok(())
}

/// Quotes the end of a line, which is where the number is missing.
fn malformed(at: Position, expected: &str, line: &[u8]) -> ImportError {
    const SHOWN: usize = 40;
    let Some(start) = line.len().checked_sub(SHOWN).filter(|start| *start > 0) else {
        return ImportError::malformed(at, expected, quote(line));
    };
    let end = quote(line.get(start..).unwrap_or_default());
    ImportError::malformed(at, expected, format!("a line that ends in {end}"))
}

/// What there is to remark on the names of frames.
#[derive(Default)]
struct FrameNames {
    /// A blank in front belongs to the semicolon before it.
    are_spaced: bool,
    displaced: Counted,
    unnamed: Counted,
}

impl FrameReader for FrameNames {
    fn frame(&mut self, frame: &[u8], at: Position, sink: &mut dyn Sink) -> Frame<'static> {
        let frame = frame
            .strip_prefix(b" ")
            .filter(|_| self.are_spaced)
            .unwrap_or(frame);
        if frame.is_empty() {
            self.unnamed.add(at);
        }
        let name = escape::text(frame);
        Frame::function(sink.function(FunctionDef::named(&name)))
    }
}

impl FrameNames {
    fn emit_notes(&self, sink: &mut dyn Sink) {
        self.displaced.note(sink, Severity::Info, |count| {
            format!(
                "{} with a semicolon at the start, which is not part of the stack: only the first stack lacks it",
                many(count, "stack")
            )
        });
        self.unnamed.note(sink, Severity::Warning, |_| {
            "at least one frame has no name: shown as an empty name".to_owned()
        });
    }
}
