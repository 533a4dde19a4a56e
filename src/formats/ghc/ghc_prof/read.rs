//! GHC cost-centre profiles as text (`-p`, `-P`, `-pa`)
//!
//! # What it is
//! The "Time and Allocation Profiling Report" that a Haskell program compiled with `-prof` writes to `PROGRAM.prof`. It has a head
//! with the totals, a table of the most expensive cost centres, and a table of all cost-centre stacks, which is the tree.
//! Default metric: `time`; also `ticks` of the timer and `alloc`, the bytes allocated.
//!
//! # How to record one
//! ```text
//! ghc -prof -fprof-auto Main.hs
//! ./Main +RTS -P
//! ```
//! Do not use `-p`: it writes percentages only. `-pj` (see `ghc_json`) is exact as well.
//!
//! # What we read
//! - The table of stacks in all layouts: GHC 6 to 9, with and without the column SRC, with and without `ticks` and `bytes`.
//!   Calls are the entries.
//! - Exact ticks and bytes if the report has them (`-P`, `-pa`). With `-p` they are percentages of the totals: costs
//!   have steps of 0.1 %, with a note.
//! - Time as the ticks times their interval, divided by the processors, as in the head.
//! - Cost centres by label, module and source span: two with one name are two functions. If the starts of their spans are
//!   equal, too, the second has its complete span as file.
//! - Built-in centres (GC, IDLE, SYSTEM, `OVERHEAD_of`, `DONT_CARE`), which only `-pa` shows and counts, below a separate
//!   root and outside the total, so that all reports of one run agree. The total is that of `-P`, and a note states the
//!   difference from the head of `-pa`. `--with-builtins` leaves them below MAIN, inside the total of the head.
//! - Arguments of the program as the report joins them, without quotes.
//!
//! # What we leave out
//! - The table of cost centres: it contains sums over the table of stacks, and the bytes of GHC 6 there are words.
//! - The numbers of stacks, and the ends of source spans.
//!
//! # References
//! - GHC User's Guide, "Profiling: Time and allocation profiling".
//! - The GHC run-time system, rts/Profiling.c and rts/ProfilerReport.c.

use crate::base::error::{ImportError, Position, quote};
use crate::events::{Note, RunFact, Severity, Sink};
use crate::formats::common::ending::note_unfinished_line;
use crate::formats::format::{Confidence, Format};
use crate::formats::ghc::centres::{Centres, Costs, Stacks, Totals, WITH_BUILTINS};
use crate::formats::options::{KEEP_BEFORE_ERROR_OPTION, Options};
use crate::formats::salvage::Salvage;
use crate::input::Input;
use crate::text::escape;

/// The format of the page above: how it is recognised and read.
pub(in crate::formats) const FORMAT: Format = Format {
    name: "ghc_prof",
    summary: "GHC time and allocation profiles, text (-p, -P, -pa)",
    revision: 4,
    sniff,
    has_empty_recordings: true,
    salvage: Salvage::Lines,
    options: &[KEEP_BEFORE_ERROR_OPTION, WITH_BUILTINS],
    import,
};

/// What is in the first line of every report.
const TITLE: &[u8] = b"Time and Allocation Profiling Report";

/// Bytes that the command line of the program may have.
const COMMAND: usize = 1 << 20;

fn sniff(head: &[u8]) -> Confidence {
    // JSON, which starts with a brace, and the old log, which starts with a quote, have this file
    // name, too.
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let title = line
        .strip_prefix(b"\t")
        .and_then(|line| memchr::memmem::find(line, TITLE));
    if title.is_some() {
        Confidence::Yes
    } else {
        Confidence::No
    }
}

fn import(
    input: &mut Input<'_>,
    options: &Options,
    sink: &mut dyn Sink,
) -> Result<(), ImportError> {
    let mut lines = Lines::new(input);
    let totals = head(&mut lines, sink)?;
    let layout = layout(&mut lines)?;
    sink.at(lines.position);
    if !layout.exact {
        let message = "the report has only percentages (-p), so costs are multiples of 0.1 % of the totals; record \
                       with -P or -pj for exact costs";
        sink.note(Note {
            severity: Severity::Warning,
            position: Some(lines.position),
            message,
        });
    }
    let mut stacks = Stacks::new(sink, totals, options);
    let mut centres = Centres::default();
    let mut empty = true;
    while lines.next_text()? {
        sink.at(lines.position);
        let row = layout.row(&lines)?;
        // A stack is one blank further in than its parent, so that a step of two means a lost row
        // (case `ghc_prof/depth-jump`).
        if row.depth > stacks.depth() {
            let expected = format!("a row indented by at most {}", stacks.depth());
            return Err(ImportError::malformed(
                lines.position,
                expected,
                row.depth.to_string(),
            ));
        }
        while stacks.depth() > row.depth {
            stacks.leave(sink);
        }
        let centre = centres.centre(sink, lines.position, row.label, row.module, row.src);
        stacks.enter(sink, lines.position, centre, row.entries, row.costs)?;
        empty = false;
    }
    sink.at(lines.position);
    // Costs come from somewhere: a report of nothing costs nothing (cases
    // `ghc_prof/costs-without-rows`, `ghc_prof/header-only`).
    if empty && (totals.ticks > 0 || totals.alloc > 0) {
        return Err(ImportError::malformed(
            lines.position,
            "a row of the table of stacks",
            "the end of the file",
        ));
    }
    if empty {
        sink.note(Note {
            severity: Severity::Warning,
            position: None,
            message: "the file has no rows",
        });
    } else {
        // A number that is cut may look whole (case `ghc_prof/truncated-in-a-number`).
        note_unfinished_line(lines.input, sink);
    }
    stacks.finish(sink);
    centres.finish(sink);
    Ok(())
}

/// The lines of the file with their places.
struct Lines<'r, 'a> {
    input: &'r mut Input<'a>,
    line: Vec<u8>,
    /// Where the line starts, or the end of the file.
    position: Position,
}

impl<'r, 'a> Lines<'r, 'a> {
    fn new(input: &'r mut Input<'a>) -> Self {
        let position = input.position();
        Self {
            input,
            line: Vec::new(),
            position,
        }
    }

    /// Reads the next line; says whether there was one.
    fn next(&mut self) -> Result<bool, ImportError> {
        let start = self.input.read_line(&mut self.line)?;
        self.position = start.unwrap_or(self.input.position());
        Ok(start.is_some())
    }

    /// Reads the next line that is not blank; says whether there was one.
    fn next_text(&mut self) -> Result<bool, ImportError> {
        while self.next()? {
            if !self.line.trim_ascii().is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What is wrong with the current line, or the end of the file.
    fn expected(&self, what: &str) -> ImportError {
        let found = if self.line.is_empty() {
            "the end of the file".to_owned()
        } else {
            quote(&self.line)
        };
        ImportError::malformed(self.position, what, found)
    }
}

/// Reads up to the totals.
fn head(lines: &mut Lines<'_, '_>, sink: &mut dyn Sink) -> Result<Totals, ImportError> {
    let title = lines
        .next()?
        .then(|| memchr::memmem::find(&lines.line, TITLE))
        .flatten();
    let Some(recorded) = title.and_then(|at| lines.line.get(..at)) else {
        return Err(lines.expected("`Time and Allocation Profiling Report`"));
    };
    sink.at(lines.position);
    let recorded = escape::text(recorded.trim_ascii());
    if !recorded.is_empty() {
        sink.run(RunFact::RecordedAt(&recorded));
    }
    // Arguments are written as they are: a line end within one gives one more line.
    let mut command = Vec::new();
    while lines.next_text()? && !is_total(&lines.line, b"time") {
        if !command.is_empty() {
            command.push(b'\n');
        }
        command.extend_from_slice(lines.line.trim_ascii());
        if command.len() > COMMAND {
            let limit = format!(
                "{COMMAND} bytes before the total time (limit: length of the command line)"
            );
            return Err(ImportError::Limit {
                position: lines.position,
                limit,
            });
        }
    }
    sink.at(lines.position);
    if !command.is_empty() {
        sink.run(RunFact::Command(&escape::text(&command)));
    }
    let position = lines.position;
    let Some((seconds, ticks, interval_ns, processors)) = clock(&lines.line) else {
        return Err(
            lines.expected("`total time = SECONDS secs (TICKS ticks @ INTERVAL us, N processors)`")
        );
    };
    property(sink, "total time", &lines.line);
    let alloc = if lines.next_text()? && is_total(&lines.line, b"alloc") {
        allocated(&lines.line)
    } else {
        None
    };
    let Some(alloc) = alloc else {
        return Err(lines.expected("`total alloc = BYTES bytes`"));
    };
    sink.at(lines.position);
    property(sink, "total alloc", &lines.line);
    Ok(Totals {
        position,
        seconds: Some(seconds),
        ticks,
        interval_ns,
        processors,
        alloc,
    })
}

fn is_total(line: &[u8], what: &[u8]) -> bool {
    let behind = line
        .trim_ascii_start()
        .strip_prefix(b"total ")
        .and_then(|line| line.strip_prefix(what));
    behind.is_some_and(|line| line.trim_ascii_start().starts_with(b"="))
}

fn property(sink: &mut dyn Sink, name: &str, line: &[u8]) {
    let text = escape::text(line);
    if let Some((_, value)) = text.split_once('=') {
        sink.run(RunFact::Other(name, value.trim()));
    }
}

/// The words after the equals sign of a total.
fn words(line: &[u8]) -> Option<impl Iterator<Item = &str>> {
    let (_, behind) = std::str::from_utf8(line).ok()?.split_once('=')?;
    // GHC 6 ends with `ms)`, later versions go on with `, 1 processor)`: only words count (case
    // `ghc_prof/ghc-6`).
    let between = |letter: char| letter.is_whitespace() || matches!(letter, '(' | ')');
    Some(
        behind
            .split(between)
            .map(|word| word.trim_end_matches(','))
            .filter(|word| !word.is_empty()),
    )
}

/// Seconds, ticks, their interval in ns, processors.
fn clock(line: &[u8]) -> Option<(f64, u64, f64, u64)> {
    let mut words = words(line)?;
    let seconds = figure(words.next()?.as_bytes())?;
    let fits = words.next()? == "secs";
    let ticks = words.next()?.parse().ok()?;
    let fits = fits && words.next()? == "ticks" && words.next()? == "@";
    let interval = figure(words.next()?.as_bytes())?;
    let unit = match words.next()? {
        "us" => 1e3,
        "ms" => 1e6,
        _ => return None,
    };
    // GHC 6 does not say how many processors: one.
    let processors = words
        .next()
        .map_or(Ok(1), str::parse)
        .ok()
        .filter(|count| *count > 0)?;
    let interval_ns = interval * unit;
    (fits && interval_ns.is_finite()).then_some((seconds, ticks, interval_ns, processors))
}

fn allocated(line: &[u8]) -> Option<u64> {
    let mut words = words(line)?;
    // GHC writes commas between the thousands of bytes.
    let bytes = words.next()?.replace(',', "").parse().ok()?;
    (words.next()? == "bytes").then_some(bytes)
}

/// Minimum width of the field `no.`, in characters.
const NUMBER_WIDTH: usize = 6;

/// The columns of the table of stacks.
#[derive(Clone, Copy)]
struct Layout {
    src: bool,
    /// The first character of the field `no.` of 6 characters.
    number: usize,
    /// Ticks and bytes.
    exact: bool,
}

/// Reads up to the header of the table of stacks.
fn layout(lines: &mut Lines<'_, '_>) -> Result<Layout, ImportError> {
    const EXPECTED: &str =
        "`COST CENTRE MODULE no. entries %time %alloc %time %alloc`, the table of stacks";
    while lines.next_text()? {
        let mut words = lines
            .line
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty())
            .peekable();
        let header: [&[u8]; 3] = [b"COST", b"CENTRE", b"MODULE"];
        if !header.iter().all(|word| words.next() == Some(word)) {
            continue;
        }
        let src = words.next_if(|word| *word == b"SRC").is_some();
        let rest: Vec<&[u8]> = words.collect();
        let (tree, exact) = match rest.as_slice() {
            [b"no.", b"entries", columns @ ..] => match columns {
                [b"%time", b"%alloc", b"%time", b"%alloc"] => (true, false),
                [b"%time", b"%alloc", b"%time", b"%alloc", b"ticks", b"bytes"] => (true, true),
                _ => return Err(lines.expected(EXPECTED)),
            },
            // The first table, which is a selection of sums over the second. In GHC 6 its bytes are
            // words (case `ghc_prof/ghc-6`).
            [b"%time", b"%alloc", ..] => (false, false),
            _ => return Err(lines.expected(EXPECTED)),
        };
        if tree {
            let end = memchr::memmem::find(&lines.line, b"no.").map_or(0, |at| at + b"no.".len());
            return Ok(Layout {
                src,
                number: end.saturating_sub(NUMBER_WIDTH),
                exact,
            });
        }
    }
    Err(lines.expected(EXPECTED))
}

/// A row of the table of stacks.
struct Row<'l> {
    depth: usize,
    label: &'l [u8],
    module: &'l [u8],
    src: &'l [u8],
    entries: u64,
    costs: Costs,
}

impl Layout {
    /// Reads a row from its right end: wide numbers push each other to the right, and file names
    /// may hold blanks.
    fn row<'l>(self, lines: &'l Lines<'_, '_>) -> Result<Row<'l>, ImportError> {
        // Columns are padded by letters, so that places in bytes mean nothing; only the blanks in
        // front do (case `ghc_prof/names-and-widths`).
        let depth = lines.line.iter().take_while(|byte| **byte == b' ').count();
        let text = lines.line.trim_ascii();
        let mut rest = text;
        let mut field = || {
            let start = rest
                .iter()
                .rposition(u8::is_ascii_whitespace)
                .map_or(0, |blank| blank + 1);
            let (before, field) = rest.split_at_checked(start).unwrap_or_default();
            rest = before.trim_ascii_end();
            field
        };
        let wrong =
            |what: &str, name: &str| lines.expected(&format!("a row with {what} in `{name}`"));
        let number = |text, name| count(text).ok_or_else(|| wrong("a count", name));
        // GHC prints one decimal. Another number is a field of a row that is cut.
        let percent = |text: &[u8], name| {
            let has_decimals = text.contains(&b'.');
            let percent = figure(text).filter(|_| has_decimals);
            percent.ok_or_else(|| wrong("a percentage", name))
        };
        let exact = if self.exact {
            let alloc = number(field(), "bytes")?;
            Some((number(field(), "ticks")?, alloc))
        } else {
            None
        };
        let alloc = percent(field(), "inherited %alloc")?;
        let time = percent(field(), "inherited %time")?;
        let own_alloc = percent(field(), "individual %alloc")?;
        let own_time = percent(field(), "individual %time")?;
        let entries = number(field(), "entries")?;
        // Checked only: stacks are numbered by their place in the tree.
        let word = field();
        if count(word).is_none() {
            let behind = text.get(rest.len()..).unwrap_or_default();
            let start = rest.len() + behind.len() - behind.trim_ascii_start().len();
            let before = text.get(..start).unwrap_or_default();
            let column = lines.line.len() - lines.line.trim_ascii_start().len() + letters(before);
            let length = self
                .split_glued(word, column)
                .ok_or_else(|| wrong("a count", "no."))?;
            rest = text.get(..start + length).unwrap_or(rest);
        }
        let costs = match exact {
            Some((ticks, alloc)) => Costs::Exact { ticks, alloc },
            None => Costs::Percent {
                own_time,
                own_alloc,
                time,
                alloc,
            },
        };
        let Some((label, module, src)) = self.centre(rest) else {
            return Err(lines.expected("a row with a label and a module"));
        };
        Ok(Row {
            depth,
            label,
            module,
            src,
            entries,
            costs,
        })
    }

    /// Returns the length of a module or SRC that runs into the number after it, as GHC before 8.0.2
    /// prints the longest ones (cases `ghc_prof/module-glued-to-number` and
    /// `ghc_prof/src-glued-to-number`). The word begins after the given number of characters.
    fn split_glued(self, word: &[u8], column: usize) -> Option<usize> {
        let digits = word.iter().rposition(|byte| !byte.is_ascii_digit())? + 1;
        let last = word.len().checked_sub(1).filter(|last| *last >= digits)?;
        // Module and SRC may end in digits. The heading shows where the number starts, unless wide
        // names have pushed it to the right.
        let number = self.number.checked_sub(column).and_then(|number| {
            let starts = word
                .iter()
                .enumerate()
                .filter(|(_, byte)| is_letter(**byte));
            starts.map(|(at, _)| at).nth(number)
        });
        if let Some(number) = number.filter(|number| *number >= digits) {
            return Some(number);
        }
        match word.get(digits - 1) {
            // A span ends in a column, such as `Main.hs:5:1-20`.
            Some(b'-' | b':') if last == digits => None,
            Some(b'-' | b':') => Some(word.len().saturating_sub(NUMBER_WIDTH).max(digits + 1)),
            _ => Some(digits),
        }
    }

    /// Label, module and SRC, which are left of the numbers.
    fn centre(self, text: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
        let blank = |text: &[u8]| text.iter().position(u8::is_ascii_whitespace);
        let last_blank = |text: &[u8]| text.iter().rposition(u8::is_ascii_whitespace);
        // A span may hold blanks, in the name of its file (case `ghc_prof/places`): label and
        // module are the first two words then, and the module is the last one where there is no
        // span.
        let (label, rest) = text.split_at_checked(if self.src {
            blank(text)?
        } else {
            last_blank(text)?
        })?;
        let rest = rest.trim_ascii_start();
        let (module, src) = rest.split_at_checked(blank(rest).unwrap_or(rest.len()))?;
        Some((label.trim_ascii_end(), module, src.trim_ascii_start()))
    }
}

/// Returns true for the first byte of a character in UTF-8.
fn is_letter(byte: u8) -> bool {
    byte & 0xc0 != 0x80
}

fn letters(text: &[u8]) -> usize {
    text.iter().filter(|byte| is_letter(**byte)).count()
}

fn count(text: &[u8]) -> Option<u64> {
    if !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

fn figure(text: &[u8]) -> Option<f64> {
    let is_decimal = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
    if !text.iter().all(is_decimal) {
        return None;
    }
    std::str::from_utf8(text)
        .ok()?
        .parse()
        .ok()
        .filter(|figure: &f64| figure.is_finite())
}
