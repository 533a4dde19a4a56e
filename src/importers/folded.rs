//! Folded (collapsed) stacks, one per line
//!
//! # What it is
//! Text with one stack per line, outermost frame first, frames separated by semicolons, and behind the last blank how often it
//! was seen: what flame graphs are drawn from, and what many profilers and converters write. Default metric: `samples`, the
//! last number of a line, whatever it counts there: samples, periods of perf, bytes.
//!
//! # How to record one
//! ```text
//! perf script | inferno-collapse-perf > run.folded
//! py-spy record -f raw -o run.folded -- python app.py
//! ```
//! So do async-profiler (`-o collapsed`), the `stackcollapse-*` scripts of flame graphs and the `--collapsed` of many others. If
//! the profiler has a richer format that is listed here, import that: folded stacks know no files, lines or units.
//!
//! # What we read
//! - Frames as functions, each by its whole text, blanks and annotations (`_[k]`, `(work.py:13)`) included. Equal stacks are
//!   merged, in whatever order they come.
//! - The number behind the last blank or tab: `12`, `12.5`, `1e6`, also negative. A number with a fraction is kept as the
//!   nearest REAL, and sums are sums of these.
//! - A second number, as `difffolded.pl` writes it, if all lines at the start of the file have two: the first one is then
//!   the metric `samples_before`, and `samples` the second. Otherwise it belongs to the name of the frame.
//! - Stacks with a semicolon behind the last frame too, as heaptrack writes them, if all lines at the start of the file have it.
//! - Frames without text, as a function without a name, with a note.
//! - Comments (lines that start with `#` and a blank), empty lines, byte order mark, LF and CRLF.
//! - Names that C++ and Rust compilers have mangled: they are made readable, the raw name is kept.
//!
//! # What we leave out
//! - Bytes that are no UTF-8: they become replacement characters, with a note.
//! - Whether an outermost frame is a process or a thread: nothing tells it from a function. Where a thread's name has a
//!   semicolon (py-spy writes it as it is), it falls into two frames.
//! - More than 1,048,576 frames in one stack are refused (limit: frames of a stack).
//!
//! # References
//! - `flamegraph.pl` and `difffolded.pl` in Brendan Gregg's flame graph tools.
//! - inferno, the same in Rust, version 0.12.

use super::common::counted::{Counted, many};
use super::common::demangle::Demangler;
use super::common::stack_lines::{Figures, Name, Stacks, split_last};
use super::{Confidence, Format, Options};
use crate::error::{ImportError, Position, quote};
use crate::events::{Frame, FunctionDef, RunFact, Severity, Sink, Unit};
use crate::input::{HEAD, Input};

/// See the module's page.
pub const FORMAT: Format = Format {
    name: "folded",
    summary: "Folded (collapsed) stacks: perf, inferno, py-spy, async-profiler, FlameGraph",
    revision: 2,
    sniff,
    options: &[],
    import,
};

/// There is no signature. The first stack must look like one, and somewhere in the first bytes two frames must meet: a line of
/// prose, a header or a table may end in a number too.
fn sniff(head: &[u8]) -> Confidence {
    let mut whole = stacks(head);
    let plausible = if let Some(first) = whole.next() {
        is_plausible(first) && (first.contains(&b';') || whole.any(|line| line.contains(&b';')))
    } else {
        // The first line is longer than what can be seen of it. Names with a semicolon are also found in JSON, where a quote
        // and a colon stand behind the names of members.
        let is_whole = head.len() == HEAD && !head.contains(&b'\n');
        is_whole && is_text(head) && head.contains(&b';') && memchr::memmem::find(head, b"\":").is_none()
    };
    if plausible { Confidence::Maybe } else { Confidence::No }
}

/// The whole lines of the first bytes that are neither empty nor comments.
fn stacks(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    let whole = if head.len() < HEAD { head.len() } else { memchr::memrchr(b'\n', head).unwrap_or(0) };
    let lines = head.get(..whole).unwrap_or_default().split(|byte| *byte == b'\n');
    lines.map(<[u8]>::trim_ascii_end).filter(|line| !line.is_empty() && !is_comment(line))
}

fn is_comment(line: &[u8]) -> bool {
    line.starts_with(b"# ") || line == b"#"
}

fn is_plausible(line: &[u8]) -> bool {
    let Some((stack, count)) = split_last(line) else { return false };
    let is_figures =
        |text: &[u8]| text.iter().all(|byte| matches!(byte, b'0'..=b'9' | b' ' | b'+' | b'-' | b'*' | b'.'));
    figure(count).is_some()
        && is_text(stack)
        // `version: 1` is the header of some other format, and lines of numbers are its table.
        && !stack.ends_with(b":")
        && !is_figures(stack)
        && !super::austin::is_stack(stack)
}

/// Printable, and not the beginning of something indented or in JSON, where no semicolon stands behind a text.
fn is_text(text: &[u8]) -> bool {
    let begins = text.first().is_some_and(|byte| !matches!(byte, b' ' | b'\t' | b'"' | b'{'));
    let is_stack = text.starts_with(b"\"") && memchr::memmem::find(text, b"\";").is_some();
    (begins || is_stack)
        && !text.starts_with(b"[{")
        && !text.starts_with(b"[\"")
        && text.iter().all(|byte| *byte >= b' ')
}

/// The number that a text is, if it is one.
#[expect(clippy::cast_precision_loss, reason = "15 digits are exact")]
fn figure(text: &[u8]) -> Option<f64> {
    if text.len() <= 15 && !text.is_empty() && text.iter().all(u8::is_ascii_digit) {
        return Some(text.iter().fold(0_u64, |value, digit| value * 10 + u64::from(digit - b'0')) as f64);
    }
    // Without the names that Rust has for what is no number.
    let is_number = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E');
    if !text.iter().all(is_number) {
        return None;
    }
    let value: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    value.is_finite().then_some(value)
}

/// Both numbers of a line that has two.
fn split_two(line: &[u8]) -> Option<(&[u8], f64, f64)> {
    let (stack, second) = split_last(line)?;
    let (stack, first) = split_last(stack)?;
    Some((stack, figure(first)?, figure(second)?))
}

/// Whether all lines of the first bytes have two numbers.
fn has_two(head: &[u8]) -> bool {
    let mut lines = stacks(head).peekable();
    lines.peek().is_some() && lines.all(|line| split_two(line).is_some())
}

/// Whether all stacks of the first bytes end in a semicolon, so that it stands behind each frame.
fn has_closed_frames(head: &[u8]) -> bool {
    let mut lines = stacks(head).peekable();
    lines.peek().is_some() && lines.all(|line| split_last(line).is_some_and(|(stack, _)| stack.ends_with(b";")))
}

fn import(input: &mut Input<'_>, _options: &Options, sink: &mut dyn Sink) -> Result<(), ImportError> {
    let sink = &mut Demangler::new(sink);
    let mut stacks = Stacks::new(input, Names::default());
    let mut comments = Counted::default();
    let read = read(input, sink, &mut stacks, &mut comments);
    // Also what comes before an error.
    stacks.tell(sink);
    read?;
    if stacks.is_empty() {
        return Err(ImportError::malformed(input.position(), "a stack, a blank and a number", "the end of the file"));
    }
    comments.note_with(sink, Severity::Info, |count, first| {
        format!("{} not read (first: {first})", many(count, "comment"))
    });
    stacks.names().remarks(sink);
    Ok(())
}

/// Reads all lines. Those at the end may wait to be told.
fn read(
    input: &mut Input<'_>,
    sink: &mut dyn Sink,
    stacks: &mut Stacks<Names>,
    comments: &mut Counted,
) -> Result<(), ImportError> {
    let two = has_two(input.head());
    let closed = has_closed_frames(input.head());
    let before = if two { Some(sink.metric("samples_before", Unit::Count)) } else { None };
    let samples = sink.metric("samples", Unit::Count);
    if two {
        sink.run(RunFact::DefaultMetric(samples));
    }
    let mut buffer = Vec::new();
    while let Some((at, line)) = input.next_line(&mut buffer)? {
        let line = line.trim_ascii_end();
        if line.is_empty() {
            continue;
        }
        if is_comment(line) {
            comments.add_with(at, || quote(line));
            continue;
        }
        let (stack, figures) = if let Some(before) = before {
            let (stack, first, second) = split_two(line)
                .ok_or_else(|| malformed(at, "a stack and two numbers, as in the lines before it", line))?;
            (stack, Figures::from_slice(&[(samples, second), (before, first)]))
        } else {
            let (stack, count) = split_last(line)
                .and_then(|(stack, count)| Some((stack, figure(count)?)))
                .ok_or_else(|| malformed(at, "a stack, a blank and a number", line))?;
            (stack, Figures::from_slice(&[(samples, count)]))
        };
        let stack = if closed { stack.strip_suffix(b";").unwrap_or(stack) } else { stack };
        if stacks.add(at, stack, figures)? {
            stacks.tell(sink);
        }
    }
    Ok(())
}

/// Says what stands at the end of a line, which is where the number is missing.
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
struct Names {
    unnamed: Counted,
    not_utf8: Counted,
}

impl Name for Names {
    fn frame(&mut self, frame: &[u8], at: Position, sink: &mut dyn Sink) -> Frame<'static> {
        if frame.is_empty() {
            self.unnamed.add(at);
        }
        let name = String::from_utf8_lossy(frame);
        if name.as_bytes() != frame {
            self.not_utf8.add_with(at, || quote(frame));
        }
        Frame::function(sink.function(FunctionDef::named(&name)))
    }
}

impl Names {
    fn remarks(&self, sink: &mut dyn Sink) {
        self.unnamed.note(sink, Severity::Warning, |_| "a frame without a name, and perhaps more of them".to_owned());
        self.not_utf8.note_with(sink, Severity::Warning, |count, first| {
            let names = many(count, "name");
            format!("{names} with bytes that are not UTF-8, shown as \u{fffd} (first: {first})")
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_behind_a_stack() {
        let table: &[(&str, Option<f64>)] = &[
            ("0", Some(0.0)),
            ("12", Some(12.0)),
            ("999999999999999", Some(999_999_999_999_999.0)),
            ("18446744073709551616", Some(18_446_744_073_709_551_616.0)),
            ("12.5", Some(12.5)),
            ("1e6", Some(1e6)),
            ("-3", Some(-3.0)),
            ("", None),
            (".", None),
            ("-", None),
            ("1e999", None),
            ("inf", None),
            ("nan", None),
            ("0x10", None),
            ("1,5", None),
            ("12ms", None),
        ];
        for (text, expected) in table {
            assert_eq!(figure(text.as_bytes()), *expected, "{text}");
        }
    }

    #[test]
    fn first_lines() {
        let long = format!("a;b{:x<1$}", "", HEAD - 3).into_bytes();
        let json = format!("{{\"a;b\":{:x<1$}", "", HEAD - 7).into_bytes();
        let damaged_json = format!("x\"a;b\":{:x<1$}", "", HEAD - 7).into_bytes();
        let table: &[(&[u8], Confidence)] = &[
            (b"a;b 1\n", Confidence::Maybe),
            (b"a;b 1", Confidence::Maybe),
            (b"# comment\n\na;b 12.5\n", Confidence::Maybe),
            (b"swapper 3\nswapper;idle 4\n", Confidence::Maybe),
            (b"<module> (a.py:1);f 3\n", Confidence::Maybe),
            (b"[unknown];f 3\n", Confidence::Maybe),
            // Roots of LispWorks are texts.
            (b"\"Root\";\"main\";f 3\n", Confidence::Maybe),
            (b"\"a;b\" 1\n", Confidence::No),
            (&long, Confidence::Maybe),
            (&json, Confidence::No),
            (&damaged_json, Confidence::No),
            (b"", Confidence::No),
            (b"a;b", Confidence::No),
            (b"a;b c\na;b 1\n", Confidence::No),
            (b"main 3\nf 4\n", Confidence::No),
            (b"version: 1\nfn=a;b 4\n", Confidence::No),
            (b"16 400\na;b 1\n", Confidence::No),
            (b"P12;T0:12;a.py:f:3 100\n", Confidence::No),
            (b"\t1585 a;b 1\n", Confidence::No),
            (b"a;b\x00c 1\n", Confidence::No),
        ];
        for (head, expected) in table {
            assert_eq!(sniff(head), *expected, "{}", quote(head));
        }
    }
}
