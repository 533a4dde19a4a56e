//! Plain `<ProfileEntry>` elements, found without an XML reader.
//!
//! Files of `]PROFILE` hold a few elements of text, again and again, with the same blanks between
//! them. What is recognised here means the same to an XML reader; whatever is not (comments, CDATA,
//! references, attributes, unknown or missing elements, numbers that are none, an entry that is not
//! all in the buffer) is left to one, with its errors and their places.

use std::ops::Range;

use crate::base::error::{ImportError, Position};
use crate::formats::dyalog::apl_numbers::{count, depth, known, line_number, nanoseconds};
use crate::formats::dyalog::row::{Layout, Pair, Row};
use crate::formats::dyalog::rows::Rows;
use crate::input::Input;

/// What an entry says, and where in the bytes it is.
#[derive(Clone, Debug)]
struct PlainEntry {
    start: Offset,
    /// Where its end tag starts.
    end_tag: Offset,
    /// What comes after it.
    end: Offset,
    name: Range<usize>,
    depth: Option<u32>,
    line: Option<u32>,
    calls: Option<u64>,
    time: Pair<Option<f64>>,
    ticks: Option<Pair<u64>>,
}

/// Bytes and line ends before a place.
#[derive(Clone, Copy, Debug, Default)]
struct Offset {
    bytes: usize,
    lines: u64,
}

/// Finds plain entries. The bytes between the texts of one are expected in the next.
#[derive(Debug)]
pub(super) struct PlainEntries {
    layout: Layout,
    /// Tags and blanks before each text, and which text it is.
    gaps: Vec<Gap>,
    /// Tags and blanks after the last text.
    last: Gap,
}

#[derive(Clone, Debug, Default)]
struct Gap {
    text: Vec<u8>,
    lines: u64,
    field: Field,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Field {
    Depth,
    Name,
    Line,
    Calls,
    InclusiveTime,
    ExclusiveTime,
    InclusiveTicks,
    ExclusiveTicks,
    #[default]
    None,
}

const START: &[u8] = b"<ProfileEntry>";
const END: &[u8] = b"</ProfileEntry>";

impl Field {
    fn of(tag: &[u8]) -> Option<Self> {
        Some(match tag {
            b"Depth" => Self::Depth,
            b"Function" | b"Element" => Self::Name,
            b"Line" => Self::Line,
            b"Calls" => Self::Calls,
            b"InclusiveTime" => Self::InclusiveTime,
            b"ExclusiveTime" => Self::ExclusiveTime,
            b"InclusiveTicks" => Self::InclusiveTicks,
            b"ExclusiveTicks" => Self::ExclusiveTicks,
            _ => return None,
        })
    }
}

impl PlainEntries {
    pub(super) fn new(layout: Layout) -> Self {
        Self {
            layout,
            gaps: Vec::new(),
            last: Gap::default(),
        }
    }

    /// Takes the plain entries that are in the buffer.
    ///
    /// # Errors
    /// When a row cannot follow the rows before it.
    pub(super) fn read(
        &mut self,
        input: &mut Input<'_>,
        rows: &mut Rows<'_>,
    ) -> Result<(), ImportError> {
        while let Some(entry) = self.find(input.at_hand()) {
            let at = input.position();
            let position = |place: Offset| Position {
                byte: at.byte + place.bytes as u64,
                line: at.line.map(|line| line + place.lines),
            };
            // Where an XML reader would have begun its last record.
            input.begin_record_at(position(entry.end_tag));
            rows.sink().at(position(entry.end_tag));
            let name = input.at_hand().get(entry.name).unwrap_or_default();
            // The XML reader meets the entry next, and says where the bytes are.
            let Ok(name) = std::str::from_utf8(name) else {
                return Ok(());
            };
            rows.row(&Row {
                position: position(entry.start),
                depth: entry.depth,
                name,
                line: entry.line,
                calls: entry.calls,
                time: entry.time,
                ticks: entry.ticks,
            })?;
            input.consume_counted(entry.end.bytes, entry.end.lines);
        }
        Ok(())
    }

    /// Finds the entry that the bytes begin with, blanks before it, if it is plain and has what the
    /// layout asks for.
    fn find(&mut self, bytes: &[u8]) -> Option<PlainEntry> {
        // Files have one layout throughout, so that nearly every entry is compared with what was
        // learnt from another one, gap by gap.
        self.like_the_last(bytes).or_else(|| {
            self.learn(bytes)?;
            self.like_the_last(bytes)
        })
    }

    /// Reads an entry that differs from the last one in its texts alone.
    fn like_the_last(&self, bytes: &[u8]) -> Option<PlainEntry> {
        let (first, _) = self.gaps.split_first()?;
        let mut at = Offset::default();
        let (mut level, mut name, mut line, mut calls) = (None, None, None, None);
        let (mut inclusive, mut exclusive, mut inclusive_ticks, mut exclusive_ticks) =
            (None, None, None, None);
        for gap in &self.gaps {
            let rest = bytes.get(at.bytes..)?.strip_prefix(gap.text.as_slice())?;
            at.bytes += gap.text.len();
            at.lines += gap.lines;
            let text = rest.get(..memchr::memchr(b'<', rest)?)?;
            match gap.field {
                Field::Depth => level = Some(depth(text)?),
                Field::Name => name = Some(plain_name(at.bytes, text)?),
                Field::Line => line = Some(line_number(text)?),
                Field::Calls => calls = known(text, count)?,
                Field::InclusiveTime => inclusive = Some(known(text, nanoseconds)?),
                Field::ExclusiveTime => exclusive = Some(known(text, nanoseconds)?),
                Field::InclusiveTicks => inclusive_ticks = Some(count(text)?),
                Field::ExclusiveTicks => exclusive_ticks = Some(count(text)?),
                Field::None => return None,
            }
            at.bytes += text.len();
        }
        bytes
            .get(at.bytes..)?
            .strip_prefix(self.last.text.as_slice())?;
        let end = Offset {
            bytes: at.bytes + self.last.text.len(),
            lines: at.lines + self.last.lines,
        };
        let ticks = inclusive_ticks
            .zip(exclusive_ticks)
            .map(|(inclusive, exclusive)| Pair {
                inclusive,
                exclusive,
            });
        let blanks = first
            .text
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace());
        Some(PlainEntry {
            start: Offset {
                bytes: blanks.clone().count(),
                lines: line_ends(blanks),
            },
            end_tag: Offset {
                bytes: end.bytes - END.len(),
                ..end
            },
            end,
            name: name?,
            depth: level,
            line: line?,
            calls,
            time: Pair {
                inclusive: inclusive?,
                exclusive: exclusive?,
            },
            ticks,
        })
    }

    /// Learns the bytes between the texts of an entry, if it has each element that the layout
    /// asks for, once, and nothing else.
    fn learn(&mut self, bytes: &[u8]) -> Option<()> {
        self.gaps.clear();
        let mut gaps = Vec::new();
        let mut gap_at = 0;
        let mut rest = bytes
            .trim_ascii_start()
            .strip_prefix(START)?
            .trim_ascii_start();
        while !rest.starts_with(END) {
            let (tag, behind) = split(rest.strip_prefix(b"<")?, b'>')?;
            let (text, behind_text) = split(behind, b'<')?;
            let field = Field::of(tag)?;
            // An element twice is a fault, which the XML reader reports with its place.
            if gaps.iter().any(|gap: &Gap| gap.field == field) {
                return None;
            }
            let text_at = bytes.len() - behind.len();
            gaps.push(Gap::new(bytes.get(gap_at..text_at)?, field));
            gap_at = text_at + text.len();
            let behind = behind_text
                .strip_prefix(b"/")?
                .strip_prefix(tag)?
                .strip_prefix(b">")?;
            rest = behind.trim_ascii_start();
        }
        let end = bytes.len() - rest.len() + END.len();
        let has = |field| gaps.iter().any(|gap| gap.field == field);
        let has_ticks = has(Field::InclusiveTicks);
        if has(Field::Depth) == self.layout.depth
            && has(Field::Calls) == self.layout.calls
            && has_ticks == self.layout.ticks
            && has(Field::ExclusiveTicks) == has_ticks
        {
            self.last = Gap::new(bytes.get(gap_at..end)?, Field::None);
            self.gaps = gaps;
        }
        Some(())
    }
}

impl Gap {
    fn new(text: &[u8], field: Field) -> Self {
        Self {
            text: text.to_vec(),
            lines: line_ends(text),
            field,
        }
    }
}

/// Counts line ends.
fn line_ends<'b>(text: impl IntoIterator<Item = &'b u8>) -> u64 {
    text.into_iter()
        .fold(0, |lines, byte| lines + u64::from(*byte == b'\n'))
}

/// Splits at the first such byte, which is left out.
fn split(bytes: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let (before, rest) = bytes.split_at_checked(memchr::memchr(at, bytes)?)?;
    Some((before, rest.get(1..)?))
}

/// Where a name is, if it is one as it is: no references, no line ends, which would have to be
/// counted.
fn plain_name(at: usize, text: &[u8]) -> Option<Range<usize>> {
    let is_plain = !text.is_empty() && memchr::memchr2(b'&', b'\n', text).is_none();
    is_plain.then(|| at..at + text.len())
}
