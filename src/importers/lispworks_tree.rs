//! LispWorks profiler trees
//!
//! # What it is
//! The text file in which LispWorks saves the call tree of its sampling profiler: a title, and one line per node with how
//! often it was seen and what is known of its function. Default metric: `samples`, the number of times that the profiler
//! looked at the stack.
//!
//! # How to record one
//! ```text
//! (hcl:set-up-profiler :packages :all)
//! (hcl:profile (main))
//! (hcl:save-current-profiler-tree "run" "nightly build")
//! ```
//! The file is then `run.tree`. In the IDE it is the Profiler menu's "Save Profiler tree...".
//!
//! # What we read
//! - The title: what follows the first colon of the first line. A run whose title is blank goes by the name of its file.
//! - Every node with its Count as cumulative samples. Siblings of one name stay two nodes of one function, a second node of
//!   depth 0 starts a second tree.
//! - Per function, instead of sums over the tree: Top-Count as exclusive samples, Seen-Count as seen, Call-Count as calls,
//!   which are unknown where the file counts none at all. The cumulative samples of a function come from the tree, because
//!   Seen-Count counts a recursive function once per level. Drilled down (`--fn`, `--thread`), exclusive samples are what the
//!   nodes have left below their callees, and reports say so: the file does not say how Top-Count spreads over the branches.
//! - Names as they are written, bars, quotes and blanks included. A name in double quotes is no function: at depth 0 it is
//!   a root, at depth 1 a thread (LispWorks says process), which hold functions without being listed among them and call
//!   nothing: a function directly below them has no caller. Further down it is listed as `pseudo`. A name stands for one
//!   thing wherever it comes; its first node decides.
//! - Comments (lines that start with a semicolon), empty lines, byte order mark, LF and CRLF.
//! - Copies of a function's figures that differ: the first is kept, a note says so. Another note says where Seen-Count is not
//!   the sum over the tree, as in trees that were cut.
//!
//! # What we leave out
//! - Bytes that are no UTF-8: they become replacement characters, with a note.
//! - Samples whose top is not monitored stay with the nodes above it: a function's exclusive samples do not hold them, so
//!   these need not add up to the total.
//!
//! # References
//! - "LispWorks User Guide and Reference Manual", chapter 12 "The Profiler", 12.7 "Profiler tree file format", and
//!   `save-current-profiler-tree` in the HCL package, editions 7.1 and 8.0.

use std::borrow::Cow;
use std::rc::Rc;

use hashbrown::HashMap;

use super::common::counted::{Counted, many};
use super::{Confidence, Format, Options};
use crate::error::{ImportError, Position, quote};
use crate::events::{
    Cost, Fidelity, Frame, FunctionDef, FunctionId, Info, Kind, MetricId, RunFact, Severity, Sink, Unit,
};
use crate::input::Input;

/// See the module's page.
pub const FORMAT: Format = Format {
    name: "lispworks_tree",
    summary: "LispWorks profiler trees (save-current-profiler-tree)",
    revision: 1,
    sniff,
    options: &[],
    import,
};

/// What the first line must hold, in this case.
const WORDS: &[u8] = b"LispWorks Profiler Tree";

/// The fields before the name, as the manual calls them.
const FIELDS: [&str; 5] = ["Depth", "Count", "Call-Count", "Seen-Count", "Top-Count"];

/// The largest number of a field.
const LARGEST: u64 = (1 << 63) - 1;

fn sniff(head: &[u8]) -> Confidence {
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    if !holds_words(line) {
        return Confidence::No;
    }
    // A document on one line may quote the words; whoever knows it better may have it.
    if matches!(line.trim_ascii_start().first(), Some(b'<' | b'{' | b'[')) {
        Confidence::Maybe
    } else {
        Confidence::Yes
    }
}

fn holds_words(line: &[u8]) -> bool {
    memchr::memmem::find(line, WORDS).is_some()
}

fn import(input: &mut Input<'_>, _options: &Options, sink: &mut dyn Sink) -> Result<(), ImportError> {
    let mut line = Vec::new();
    let mut text = Text::default();
    let start = input.position();
    let (first, title) = input.next_line(&mut line)?.unzip();
    let first = first.unwrap_or(start);
    let Some(title) = title.filter(|line| holds_words(line)) else {
        let expected = "a first line that holds LispWorks Profiler Tree";
        let found = title.map_or_else(|| "the end of the file".to_owned(), quote);
        return Err(ImportError::malformed(first, expected, found));
    };
    sink.run(RunFact::Fidelity(Fidelity::Tree));
    let title = title.splitn(2, |byte| *byte == b':').nth(1).unwrap_or_default();
    let title = text.decode(title, first);
    let title = title.trim_matches(' ');
    if !title.is_empty() {
        sink.run(RunFact::Title(title));
    }
    let mut tree = Tree::new(sink);
    while let Some((position, line)) = input.next_line(&mut line)? {
        if line.is_empty() || line.starts_with(b";") {
            continue;
        }
        let row = Row::parse(line, position)?;
        let name = text.decode(row.name, position);
        tree.row(&row, &name)?;
    }
    tree.finish();
    text.replaced.note(sink, Severity::Warning, |count| {
        format!("text that is not UTF-8: {count} times; its bytes became replacement characters")
    });
    Ok(())
}

/// Turns bytes into text.
#[derive(Default)]
struct Text {
    /// Texts that were no UTF-8.
    replaced: Counted,
}

impl Text {
    fn decode<'b>(&mut self, bytes: &'b [u8], position: Position) -> Cow<'b, str> {
        let text = String::from_utf8_lossy(bytes);
        if matches!(text, Cow::Owned(_)) {
            self.replaced.add(position);
        }
        text
    }
}

/// A data line.
struct Row<'l> {
    position: Position,
    depth: u64,
    count: u64,
    info: FunctionInfo,
    name: &'l [u8],
}

/// What a line says of the function, wherever it was seen.
#[derive(Clone, Copy, PartialEq, Eq)]
struct FunctionInfo {
    calls: u64,
    seen: u64,
    top: u64,
}

impl<'l> Row<'l> {
    /// Divides a line at its first five bars: those that follow belong to the name.
    fn parse(line: &'l [u8], position: Position) -> Result<Self, ImportError> {
        let mut rest = line;
        let mut numbers = [0; FIELDS.len()];
        for (number, name) in numbers.iter_mut().zip(FIELDS) {
            let Some(end) = memchr::memchr(b'|', rest) else {
                let expected = "Depth|Count|Call-Count|Seen-Count|Top-Count|Name";
                return Err(ImportError::malformed(position, expected, quote(line)));
            };
            let (field, behind) = rest.split_at(end);
            let before = line.len() - rest.len();
            *number = whole_number(field).ok_or_else(|| {
                let position = Position { byte: position.byte + before as u64, ..position };
                let expected = format!("a whole number of at most {LARGEST} in {name}");
                ImportError::malformed(position, expected, quote(field))
            })?;
            rest = behind.get(1..).unwrap_or_default();
        }
        let [depth, count, calls, seen, top] = numbers;
        Ok(Self { position, depth, count, info: FunctionInfo { calls, seen, top }, name: rest })
    }
}

/// Digits and nothing else.
fn whole_number(field: &[u8]) -> Option<u64> {
    if field.is_empty() {
        return None;
    }
    field.iter().try_fold(0_u64, |number, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        number.checked_mul(10)?.checked_add(digit).filter(|number| *number <= LARGEST)
    })
}

/// Opens and closes the nodes, and keeps what is known of the names.
struct Tree<'s> {
    sink: &'s mut dyn Sink,
    samples: MetricId,
    /// Open nodes.
    open: usize,
    index: HashMap<Rc<str>, usize>,
    names: Vec<Name>,
    roots: u64,
    more_roots: Counted,
    /// Nodes further down that have the name of a root or thread.
    unlisted: Counted,
    /// Lines whose function-info is not that of the first line with the name.
    contradicting: Counted,
}

/// What is known of a name.
struct Name {
    text: Rc<str>,
    /// Where it comes first.
    position: Position,
    function: FunctionId,
    kind: Kind,
    info: FunctionInfo,
    /// Sum of the Counts of its nodes.
    sum: u128,
}

impl<'s> Tree<'s> {
    fn new(sink: &'s mut dyn Sink) -> Self {
        let samples = sink.metric("samples", Unit::Count);
        Self {
            sink,
            samples,
            open: 0,
            index: HashMap::new(),
            names: Vec::new(),
            roots: 0,
            more_roots: Counted::default(),
            unlisted: Counted::default(),
            contradicting: Counted::default(),
        }
    }

    fn row(&mut self, row: &Row<'_>, name: &str) -> Result<(), ImportError> {
        let depth = match usize::try_from(row.depth) {
            Ok(depth) if depth <= self.open => depth,
            _ => {
                let deepest = self.open;
                let expected =
                    if deepest == 0 { "depth 0".to_owned() } else { format!("a depth of at most {deepest}") };
                return Err(ImportError::malformed(row.position, expected, format!("depth {}", row.depth)));
            }
        };
        if depth == 0 {
            self.roots += 1;
            if self.roots > 1 {
                self.more_roots.add(row.position);
            }
        }
        self.leave(depth);
        let function = self.function(row, name);
        self.sink.enter(Frame::function(function), None);
        self.sink.cost(self.samples, Cost::Cumulative(as_cost(row.count)));
        self.open += 1;
        Ok(())
    }

    /// Closes nodes until so many are open.
    fn leave(&mut self, depth: usize) {
        for _ in depth..self.open {
            self.sink.leave();
        }
        self.open = depth;
    }

    /// The function that a line is about. Adds up what is known of its name.
    fn function(&mut self, row: &Row<'_>, name: &str) -> FunctionId {
        let Some(known) = self.index.get(name).and_then(|at| self.names.get_mut(*at)) else {
            return self.new_name(row, name);
        };
        known.sum = known.sum.saturating_add(row.count.into());
        if known.info != row.info {
            self.contradicting.add_with(row.position, || quote(known.text.as_bytes()));
        }
        if row.depth > 1 && known.kind.is_container() {
            self.unlisted.add(row.position);
        }
        known.function
    }

    fn new_name(&mut self, row: &Row<'_>, name: &str) -> FunctionId {
        let kind = match row.depth {
            _ if !is_quoted(name) => Kind::Function,
            0 => Kind::Root,
            // What LispWorks calls a process others call a thread.
            1 => Kind::Thread,
            _ => Kind::Pseudo,
        };
        let function = self.sink.function(FunctionDef { kind, ..FunctionDef::named(name) });
        let text: Rc<str> = Rc::from(name);
        self.index.insert(Rc::clone(&text), self.names.len());
        let Row { position, info, .. } = *row;
        self.names.push(Name { text, position, function, kind, info, sum: row.count.into() });
        function
    }

    /// Closes what is open, and tells what the file says of the functions.
    fn finish(mut self) {
        self.leave(0);
        let counts_calls = self.names.iter().any(|name| name.info.calls > 0);
        let mut cut = Counted::default();
        for name in &self.names {
            if name.sum != u128::from(name.info.seen) {
                cut.add_with(name.position, || quote(name.text.as_bytes()));
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
            format!("{trees} nodes have depth 0: each is the root of a tree of its own")
        });
        self.unlisted.note(self.sink, Severity::Warning, |count| {
            let nodes = many(count, "node");
            format!("{nodes} with the name of a root or thread further up: not listed among functions either")
        });
        self.contradicting.note_with(self.sink, Severity::Warning, |count, first| {
            format!(
                "function-info that differs from the first one of the same name: {count} times (first: {first}); the first \
                 one is kept"
            )
        });
        cut.note_with(self.sink, Severity::Warning, |count, first| {
            format!(
                "Seen-Count that is not the sum over the nodes of its name: {count} names (first: {first}); it is kept as it \
                 is, the tree may have been cut"
            )
        });
    }
}

/// Names that are strings stand for no function.
fn is_quoted(name: &str) -> bool {
    name.len() > 1 && name.starts_with('"') && name.ends_with('"')
}

#[expect(clippy::cast_precision_loss, reason = "costs are REAL; the builder notes what is rounded")]
fn as_cost(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_digits_within_63_bits() {
        let table: &[(&str, Option<u64>)] = &[
            ("0", Some(0)),
            ("007", Some(7)),
            ("9223372036854775807", Some(LARGEST)),
            ("0009223372036854775807", Some(LARGEST)),
            ("9223372036854775808", None),
            ("99999999999999999999", None),
            ("", None),
            ("-1", None),
            ("+1", None),
            (" 1", None),
            ("1 ", None),
            ("1.0", None),
            ("1e3", None),
            ("٣", None),
        ];
        for (text, expected) in table {
            assert_eq!(whole_number(text.as_bytes()), *expected, "{text:?}");
        }
    }
}
