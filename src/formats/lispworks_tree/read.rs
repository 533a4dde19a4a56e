//! LispWorks profiler trees
//!
//! # What it is
//! The text file in which LispWorks saves the call tree of its sampling profiler: a title, and one line per node with its
//! samples and the figures of its function. Default metric: `samples`.
//!
//! # How to record one
//! ```text
//! (hcl:set-up-profiler :packages :all)
//! (hcl:profile (main))
//! (hcl:save-current-profiler-tree "run" "nightly build")
//! ```
//! The file is then `run.tree`. In the IDE, use "Save Profiler tree..." in the Profiler menu.
//!
//! # What we read
//! - The title: the text after the first colon of the first line. A run with a blank title has the name of its file.
//! - Every node, with its Count as inclusive samples. Siblings with one name stay two nodes of one function. A second node of
//!   depth 0 starts a second tree.
//! - Figures of functions as stated: Top-Count as exclusive samples, Seen-Count as seen, Call-Count as calls. Calls are
//!   unknown if the file has none. Inclusive samples come from the tree, because Seen-Count counts a recursive function once
//!   per level. With `--fn` or `--thread`, exclusive samples also come from the tree, because the file does not distribute
//!   Top-Count over its branches. Reports say so.
//! - The total: the sum of the Counts at depth 0. If the children of such a node count more, as below a root
//!   that was never counted itself, their sum is used instead.
//! - Names as written, with bars, quotes and blanks. A name in double quotes is not a function. At depth 0 it is
//!   a root, and at depth 1 a thread (a process, in LispWorks). Both have functions below them, but are not listed among the
//!   functions and are not callers. At other depths it is listed as `pseudo`. The first node of a name decides.
//! - The package of a name as module: `SHOP` of `SHOP::F`, `(METHOD SHOP::AREA (SHOP::BOX))` and
//!   `(FLET SHOP::WALK :IN SHOP::F)`. The name keeps it. Keywords, strings and symbols without a package have no module.
//! - Comments (lines that start with a semicolon), empty lines, byte order mark, LF and CRLF.
//! - Repeated figures of a function that differ: the first ones count, and a note reports it. Another note reports a
//!   Seen-Count that is not the sum over the tree, as in truncated trees.
//!
//! # What we leave out
//! - Samples whose innermost function is not profiled. They belong to the nodes above it, but to no function's exclusive
//!   samples, which therefore need not add up to the total.
//!
//! # References
//! - "LispWorks User Guide and Reference Manual", chapter 12 "The Profiler", 12.7 "Profiler tree file format", and
//!   `save-current-profiler-tree` in the HCL package, editions 7.1 and 8.0.

use std::ops::Range;

use crate::base::error::{ImportError, Position, quote};
use crate::base::interner::{Table, TextId, TextInterner};
use crate::events::{
    Cost, Fidelity, Frame, FunctionDef, FunctionId, Info, Kind, MetricId, RunFact, Severity, Sink,
};
use crate::formats::common::counted::{Counted, many};
use crate::formats::common::ending::note_unfinished_line;
use crate::formats::common::lisp_names::package;
use crate::formats::format::{Confidence, Format};
use crate::formats::options::{KEEP_BEFORE_ERROR_OPTION, Options};
use crate::formats::salvage::Salvage;
use crate::input::Input;
use crate::text::escape;

/// The format of the page above: how it is recognised and read.
pub(in crate::formats) const FORMAT: Format = Format {
    name: "lispworks_tree",
    summary: "LispWorks profiler trees (save-current-profiler-tree)",
    revision: 3,
    sniff,
    has_empty_recordings: true,
    salvage: Salvage::Lines,
    options: &[KEEP_BEFORE_ERROR_OPTION],
    import,
};

/// What the first line must hold, in this case.
const WORDS: &[u8] = b"LispWorks Profiler Tree";

/// The fields before the name, as the manual calls them.
const FIELDS: [&str; 5] = ["Depth", "Count", "Call-Count", "Seen-Count", "Top-Count"];

/// The largest number of a field.
const LARGEST: u64 = (1 << 63) - 1;

/// Plain lines whose names are looked up at a time. Names lie all over memory, and those of several
/// lines can be fetched at once.
const TOGETHER: usize = 32;

fn sniff(head: &[u8]) -> Confidence {
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    if !holds_words(line) {
        return Confidence::No;
    }
    // A document on one line may quote the words: then another format may recognise it.
    if matches!(line.trim_ascii_start().first(), Some(b'<' | b'{' | b'[')) {
        Confidence::Maybe
    } else {
        Confidence::Yes
    }
}

fn holds_words(line: &[u8]) -> bool {
    memchr::memmem::find(line, WORDS).is_some()
}

fn import(
    input: &mut Input<'_>,
    _options: &Options,
    sink: &mut dyn Sink,
) -> Result<(), ImportError> {
    let mut line = Vec::new();
    let start = input.position();
    let (first, title) = input.next_line(&mut line)?.unzip();
    let first = first.unwrap_or(start);
    let Some(title) = title.filter(|line| holds_words(line)) else {
        let expected = "a first line that contains LispWorks Profiler Tree";
        let found = title.map_or_else(|| "the end of the file".to_owned(), quote);
        return Err(ImportError::malformed(first, expected, found));
    };
    sink.at(first);
    sink.run(RunFact::Fidelity(Fidelity::Tree));
    let title = title
        .splitn(2, |byte| *byte == b':')
        .nth(1)
        .unwrap_or_default();
    let title = escape::text(title);
    let title = title.trim_matches(' ');
    if !title.is_empty() {
        sink.run(RunFact::Title(title));
    }
    let mut tree = Tree::new(sink);
    let mut plain = Vec::with_capacity(TOGETHER);
    loop {
        // Most lines are looked up in batches: a name in no cache costs as much as a hundred
        // instructions, and 32 of them can be waited for at once
        // (docs/design/measured-choices.md).
        tree.names.plain_rows(input.at_hand(), &mut plain);
        for PlainRow {
            row,
            name,
            length,
            known,
            ..
        } in plain.drain(..)
        {
            input.begin_record();
            let position = input.position();
            tree.sink.at(position);
            if known.is_some() {
                tree.row(position, row, known, "")?;
            } else {
                // The batch was looked up before its own lines were taken: a name that is new in it
                // is known by the second line that has it, and has to be looked for again.
                let name = escape::text(input.at_hand().get(name).unwrap_or_default());
                tree.row(position, row, tree.names.find(&name), &name)?;
            }
            // Last, because the name is a range of what is at hand, and because an error in the
            // line has the place where the line starts.
            input.consume_counted(length, 1);
        }
        // What is not plain or not at hand, and the end.
        let Some((position, line)) = input.next_line(&mut line)? else {
            break;
        };
        // Neither starts with a digit, so that the batches above leave both to this place.
        if line.is_empty() || line.starts_with(b";") {
            continue;
        }
        tree.sink.at(position);
        let (row, name) = Row::parse(line, position)?;
        let name = escape::text(name);
        tree.row(position, row, tree.names.find(&name), &name)?;
    }
    tree.sink.at(input.position());
    note_unfinished_line(input, tree.sink);
    tree.finish();
    Ok(())
}

/// The numbers of a data line.
#[derive(Clone, Copy)]
struct Row {
    depth: u64,
    count: u64,
    info: FunctionInfo,
}

/// What a line says of the function, wherever it was seen.
#[derive(Clone, Copy, PartialEq, Eq)]
struct FunctionInfo {
    calls: u64,
    seen: u64,
    top: u64,
}

impl Row {
    /// Divides a line at its first five bars: those that follow belong to the name.
    fn parse(line: &[u8], position: Position) -> Result<(Self, &[u8]), ImportError> {
        let mut rest = line;
        let mut numbers = [0; FIELDS.len()];
        for (number, name) in numbers.iter_mut().zip(FIELDS) {
            let Some(end) = memchr::memchr(b'|', rest) else {
                let expected = "Depth|Count|Call-Count|Seen-Count|Top-Count|Name";
                return Err(ImportError::malformed(position, expected, quote(line)));
            };
            let (field, behind) = rest.split_at(end);
            // `rest` is the end of `line`: the difference is where the field starts.
            let before = line.len() - rest.len();
            *number = whole_number(field).ok_or_else(|| {
                let position = Position {
                    byte: position.byte + before as u64,
                    ..position
                };
                let expected = format!("a whole number of at most {LARGEST} in {name}");
                ImportError::malformed(position, expected, quote(field))
            })?;
            rest = behind.get(1..).unwrap_or_default();
        }
        Ok((Self::of(numbers), rest))
    }

    fn of([depth, count, calls, seen, top]: [u64; FIELDS.len()]) -> Self {
        Self {
            depth,
            count,
            info: FunctionInfo { calls, seen, top },
        }
    }
}

/// A line as most are: all of it is at hand, and its numbers are short.
struct PlainRow {
    row: Row,
    /// Where its name is, and what comes before the next line, in bytes from where it starts.
    name: Range<usize>,
    length: usize,
    /// Of the name.
    hash: u64,
    known: Option<TextId>,
}

impl PlainRow {
    /// Reads the first line, whose name remains to be looked up.
    fn read(bytes: &[u8]) -> Option<Self> {
        let mut numbers = [0; FIELDS.len()];
        let mut rest = bytes;
        for number in &mut numbers {
            rest = short_number(rest, number)?;
        }
        let start = bytes.len() - rest.len();
        let end = memchr::memchr(b'\n', rest)?;
        let name = rest.get(..end)?;
        // One carriage return only: a second one is part of the name (case `lispworks_tree/crlf`).
        let name = start..start + name.strip_suffix(b"\r").unwrap_or(name).len();
        Some(Self {
            row: Row::of(numbers),
            name,
            length: start + end + 1,
            hash: 0,
            known: None,
        })
    }
}

/// Reads a number that is too short to be too large, and the bar after it; gives what follows.
fn short_number<'b>(bytes: &'b [u8], number: &mut u64) -> Option<&'b [u8]> {
    // 18 digits are below 2^63. Longer numbers, which may have zeros in front, are left to
    // `whole_number` (case `lispworks_tree/largest-numbers`).
    const LONGEST: usize = 18;
    for (at, byte) in bytes.iter().enumerate().take(LONGEST + 1) {
        match byte {
            b'0'..=b'9' => *number = *number * 10 + u64::from(byte - b'0'),
            b'|' if at > 0 => return bytes.get(at + 1..),
            _ => return None,
        }
    }
    None
}

/// Digits and nothing else.
fn whole_number(field: &[u8]) -> Option<u64> {
    if field.is_empty() {
        return None;
    }
    field.iter().try_fold(0_u64, |number, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        number
            .checked_mul(10)?
            .checked_add(digit)
            .filter(|number| *number <= LARGEST)
    })
}

/// Opens and closes the nodes, and keeps what is known of the names.
struct Tree<'s> {
    sink: &'s mut dyn Sink,
    samples: MetricId,
    /// Open nodes.
    open: usize,
    names: FunctionTable,
    roots: u64,
    /// Counts of the roots that are closed.
    counted: Total,
    /// Of the open root: its own Count, and those of the nodes directly below.
    root: u64,
    below_root: u64,
    more_roots: Counted,
    /// Nodes further down that have the name of a root or thread.
    unlisted: Counted,
    /// Lines whose function-info is not that of the first line with the name.
    contradicting: Counted,
}

/// How many samples there have been.
#[derive(Default)]
struct Total {
    /// What the roots say.
    roots: f64,
    /// What the roots say, or the nodes below them where these count more.
    most: f64,
}

/// The names of the file.
#[derive(Default)]
struct FunctionTable {
    texts: TextInterner,
    names: Table<TextId, KnownFunction>,
    /// Where each comes first.
    positions: Vec<Position>,
}

/// What is known of a name.
struct KnownFunction {
    function: FunctionId,
    kind: Kind,
    info: FunctionInfo,
    /// Sum of the Counts of its nodes, or the largest number, which is no Seen-Count.
    sum: u64,
}

impl FunctionTable {
    /// Reads the plain lines that the bytes start with, a few at most, and looks up their names:
    /// step by step for all of them, because each step waits for memory.
    fn plain_rows(&self, mut bytes: &[u8], rows: &mut Vec<PlainRow>) {
        let mut starts = [bytes; TOGETHER];
        for start in &mut starts {
            let Some(mut row) = PlainRow::read(bytes) else {
                break;
            };
            row.hash = self
                .texts
                .hash(bytes.get(row.name.clone()).unwrap_or_default());
            self.texts.prefetch_slot(row.hash);
            *start = bytes;
            bytes = bytes.get(row.length..).unwrap_or_default();
            rows.push(row);
        }
        // Each step asks memory for all rows before the next one needs the answers. Done row by
        // row, the processor would wait three times for each.
        for row in &mut *rows {
            row.known = self.texts.guess(row.hash);
        }
        for known in rows.iter().filter_map(|row| row.known) {
            self.texts.prefetch(known);
            self.names.prefetch(known);
        }
        for (row, start) in rows.iter_mut().zip(starts) {
            let name = start.get(row.name.clone()).unwrap_or_default();
            row.known = self.texts.confirm(row.known, name, row.hash);
        }
    }

    fn find(&self, name: &str) -> Option<TextId> {
        self.texts.find(name.as_bytes())
    }

    fn add(&mut self, text: &str, name: KnownFunction, position: Position) {
        self.texts.add(text.as_bytes());
        self.names.push(name);
        self.positions.push(position);
    }
}

impl<'s> Tree<'s> {
    fn new(sink: &'s mut dyn Sink) -> Self {
        let samples = sink.samples("samples");
        Self {
            sink,
            samples,
            open: 0,
            names: FunctionTable::default(),
            roots: 0,
            counted: Total::default(),
            root: 0,
            below_root: 0,
            more_roots: Counted::default(),
            unlisted: Counted::default(),
            contradicting: Counted::default(),
        }
    }

    /// Takes a line; `name` is the text of a name that is not `known`.
    fn row(
        &mut self,
        position: Position,
        row: Row,
        known: Option<TextId>,
        name: &str,
    ) -> Result<(), ImportError> {
        let depth = match usize::try_from(row.depth) {
            // A node of this depth needs one open node for each level above it, and no more.
            Ok(depth) if depth <= self.open => depth,
            _ => {
                let deepest = self.open;
                let expected = if deepest == 0 {
                    "depth 0".to_owned()
                } else {
                    format!("a depth of at most {deepest}")
                };
                return Err(ImportError::malformed(
                    position,
                    expected,
                    format!("depth {}", row.depth),
                ));
            }
        };
        if depth == 0 {
            self.roots += 1;
            if self.roots > 1 {
                self.more_roots.add(position);
            }
        }
        // Before the new Count is kept: closing the last root adds up the old one.
        self.leave(depth);
        match depth {
            0 => self.root = row.count,
            1 => self.below_root = self.below_root.saturating_add(row.count),
            _ => {}
        }
        let function = match known {
            Some(known) => self.known_name(position, row, known),
            None => self.new_name(position, row, name),
        };
        self.sink.enter(Frame::function(function), None);
        self.sink
            .cost(self.samples, Cost::Cumulative(as_cost(row.count)));
        self.open += 1;
        Ok(())
    }

    /// Closes nodes until so many are open.
    fn leave(&mut self, depth: usize) {
        for _ in depth..self.open {
            self.sink.leave();
        }
        self.open = depth;
        // Also before the first root, where both are still 0 and add nothing.
        if depth == 0 {
            let (root, below) = (
                std::mem::take(&mut self.root),
                std::mem::take(&mut self.below_root),
            );
            self.counted.roots += as_cost(root);
            self.counted.most += as_cost(root.max(below));
        }
    }

    /// The function that a line is about. Adds up what is known of its name.
    fn known_name(&mut self, position: Position, row: Row, name: TextId) -> FunctionId {
        let Some(known) = self.names.names.get_mut(name) else {
            // Ids come from this table, so that this is never reached; the builder would refuse the
            // run.
            return FunctionId(u32::MAX);
        };
        known.sum = known.sum.saturating_add(row.count);
        if known.info != row.info {
            self.contradicting
                .add_with(position, || quote(self.names.texts.text(name)));
        }
        if row.depth > 1 && known.kind.is_container() {
            self.unlisted.add(position);
        }
        known.function
    }

    fn new_name(&mut self, position: Position, row: Row, name: &str) -> FunctionId {
        // The first node of a name decides, because the sink takes a function once: another kind
        // would be another function (case `lispworks_tree/quoted-name-at-several-depths`).
        let kind = match row.depth {
            _ if !is_quoted(name) => Kind::Function,
            0 => Kind::Root,
            // What LispWorks calls a process others call a thread.
            1 => Kind::Thread,
            _ => Kind::Pseudo,
        };
        let module = if kind == Kind::Function {
            package(name)
        } else {
            ""
        };
        let function = self.sink.function(FunctionDef {
            kind,
            module,
            ..FunctionDef::named(name)
        });
        self.names.add(
            name,
            KnownFunction {
                function,
                kind,
                info: row.info,
                sum: row.count,
            },
            position,
        );
        function
    }

    /// Closes what is open, and emits what the file says of the functions.
    fn finish(mut self) {
        self.leave(0);
        // The builder takes the sum of the roots for the total. It is stated only where nodes
        // below a root count more (case `lispworks_tree/root-without-count`).
        if self.counted.most > self.counted.roots {
            self.sink
                .run(RunFact::Total(self.samples, self.counted.most));
        }
        let FunctionTable {
            texts,
            names,
            positions,
        } = &self.names;
        // LispWorks writes 0 where it counted nothing. One function with calls shows that they were
        // counted, and then 0 means never called (case `lispworks_tree/calls-counted`).
        let counts_calls = names.iter().any(|(_, name)| name.info.calls > 0);
        let mut cut = Counted::default();
        for ((id, name), position) in names.iter().zip(positions) {
            if name.sum != name.info.seen {
                cut.add_with(*position, || quote(texts.text(id)));
            }
            self.sink.info(Info {
                frame: Frame::function(name.function),
                metric: self.samples,
                calls: counts_calls.then_some(name.info.calls),
                primitive: None,
                exclusive: Some(as_cost(name.info.top)),
                cumulative: None,
                seen: Some(as_cost(name.info.seen)),
            });
        }
        self.more_roots.note(self.sink, Severity::Warning, |count| {
            let trees = count + 1;
            format!("{trees} nodes have depth 0: each becomes a root of the call tree")
        });
        self.unlisted.note(self.sink, Severity::Warning, |count| {
            let nodes = many(count, "node");
            format!("{nodes} below a root or thread with the same name: not listed as functions")
        });
        self.contradicting.note_with(self.sink, Severity::Warning, |count, first| {
            format!(
                "{count} entries of function-info differ from an earlier one with the same name (first: {first}): \
                 the earlier one is kept"
            )
        });
        cut.note_with(self.sink, Severity::Warning, |count, first| {
            format!(
                "the Seen-Count of {count} names differs from the sum over their nodes (first: {first}): the count \
                 of the file is kept; the tree may be truncated"
            )
        });
    }
}

/// Whether a name is a string, which is no function's.
fn is_quoted(name: &str) -> bool {
    name.len() > 1 && name.starts_with('"') && name.ends_with('"')
}

#[expect(
    clippy::cast_precision_loss,
    reason = "costs are REAL; the builder notes what is rounded"
)]
fn as_cost(count: u64) -> f64 {
    count as f64
}
