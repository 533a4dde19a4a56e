//! Dyalog APL `]PROFILE` reports saved as CSV
//!
//! # What it is
//! Output of the user command `]PROFILE` of Dyalog APL with `-outfile=FILE -format=csv`. It has the rows of the XML files
//! (see `dyalog_xml`) without the settings, so title, version and cost of the timer are unknown. Default metric:
//! `time`; files of version 0.9.0 also have `ticks`.
//!
//! # How to record one
//! ```text
//! ⎕PROFILE 'start' ⋄ Main ⋄ ⎕PROFILE 'stop'
//! ]PROFILE tree -outfile=/tmp/run.csv -format=csv
//! ```
//! Prefer XML if possible: it has more information.
//!
//! `profdb import --source DIR` stores the source of functions. It reads files with the extensions `.aplf`, `.aplo`, `.apln`, `.aplc`,
//! `.apli` and `.dyalog` below DIR. A file holds one function or a script, and directories are namespaces: `Shop/Price.aplf` is
//! `#.Shop.Price`.
//!
//! # What we read
//! - `tree` and `data` files of the versions 0.9.0 and 1.37. A header with `Depth` means a tree.
//! - All field separators (the character after the first name of the header, or that of `--separators`) and both
//!   decimal marks (`-separators=",;"`), byte order mark, LF and CRLF.
//! - Inclusive and exclusive times, whose labels version 0.9.0 swaps. The ticks decide which is which, else the rule that a
//!   caller includes its callees. A note states the decision, or that there is none.
//! - Empty figures as unknown. profdb writes them for runs of other profilers: calls, and inclusive costs of lines.
//! - Truncated files that end after a row. In a tree, inclusive times reveal missing rows, and a note reports them; `data`
//!   files have no such evidence.
//! - Times as they are. A tree with ticks is from 0.9.0 and corrected by an unknown bias (`runs.bias_applied` is NULL).
//!   All others are raw (0).
//!
//! # What we leave out
//! - `summary` and `calls` files are refused: a profile cannot be made from their sums.
//! - Unknown columns: a note names each of them.
//!
//! # References
//! - "Tuning Applications Using the ]PROFILE User Command", Dyalog Limited, version 14.0, appendix B (tool version 0.9.0).
//! - Dyalog's application tuning guide, "Data storage: CSV" (tool version 1.37).

use std::io::BufRead;
use std::ops::Range;

use csv_core::{ReadRecordResult, Reader, ReaderBuilder, Terminator};

use crate::base::error::{ImportError, Position, quote};
use crate::events::{Note, Severity, Sink};
use crate::formats::common::buffered::available;
use crate::formats::common::ending::note_unfinished;
use crate::formats::dyalog::apl_numbers::{count, known, line_number, nanoseconds};
use crate::formats::dyalog::row::{Layout, Pair, Row};
use crate::formats::dyalog::rows::{Bias, Rows, refuse_report};
use crate::formats::format::{Confidence, Format};
use crate::formats::options::{KEEP_BEFORE_ERROR_OPTION, OptionDef, Options, Takes};
use crate::formats::salvage::Salvage;
use crate::input::Input;
use crate::text::separators::Separators;

/// The format of the page above: how it is recognised and read.
pub(in crate::formats) const FORMAT: Format = Format {
    name: "dyalog_csv",
    summary: "Dyalog APL ]PROFILE tree and data reports, CSV",
    revision: 2,
    sniff,
    has_empty_recordings: true,
    salvage: Salvage::Lines,
    options: &[
        KEEP_BEFORE_ERROR_OPTION,
        OptionDef {
            name: SEPARATORS,
            takes: Takes::Separators,
            meaning: "decimal mark and field separator, such as \",;\". For CSV files of Dyalog [default: as the header shows]",
        },
    ],
    import,
};

const SEPARATORS: &str = "separators";

fn sniff(head: &[u8]) -> Confidence {
    let separator = separator(head);
    let line = head
        .split(|byte| matches!(byte, b'\n' | b'\r'))
        .next()
        .unwrap_or_default();
    let mut name = false;
    let mut lines = false;
    for field in line.split(|byte| *byte == separator) {
        let field = field
            .strip_prefix(b"\"")
            .and_then(|field| field.strip_suffix(b"\""))
            .unwrap_or(field);
        name |= matches!(field, b"Element" | b"Function");
        lines |= field == b"Line";
    }
    if name && lines {
        Confidence::Maybe
    } else {
        Confidence::No
    }
}

/// The character after the first name of the header.
fn separator(head: &[u8]) -> u8 {
    // Names of columns are letters, so that what ends the first one is a quote or the separator.
    let behind = match head.strip_prefix(b"\"") {
        Some(quoted) => quoted
            .iter()
            .position(|byte| *byte == b'"')
            // `end` counts from after the first quote: the separator comes after the second one.
            .map(|end| end + 2),
        None => head.iter().position(|byte| !byte.is_ascii_alphanumeric()),
    };
    match behind.and_then(|at| head.get(at)) {
        Some(byte) if !matches!(byte, b'\n' | b'\r' | b'"') => *byte,
        _ => b',',
    }
}

fn import(
    input: &mut Input<'_>,
    options: &Options,
    sink: &mut dyn Sink,
) -> Result<(), ImportError> {
    let separator = match options.value(SEPARATORS).map(str::parse::<Separators>) {
        Some(Ok(separators)) => separators.field,
        Some(Err(expected)) => {
            return Err(ImportError::Refused(format!("--{SEPARATORS}: {expected}")));
        }
        None => separator(input.head()),
    };
    let mut table = Table::new(input, separator);
    if !table.next()? {
        return Err(ImportError::malformed(
            table.position,
            "a header",
            "the end of the file",
        ));
    }
    sink.at(table.input.record_start());
    let columns = Columns::of(&table, sink)?;
    let layout = columns.layout();
    let mut rows = Rows::new(sink, layout);
    while table.next()? {
        rows.sink().at(table.input.record_start());
        rows.row(&columns.row(&table)?)?;
    }
    rows.sink().at(table.input.record_start());
    note_unfinished(table.unfinished, rows.sink());
    rows.finish(table.position, Bias::default())
}

/// The records of the file with their places.
struct Table<'r, 'a> {
    input: &'r mut Input<'a>,
    reader: Reader,
    delimiter: u8,
    /// The header has been read.
    begun: bool,
    /// Where the record starts.
    position: Position,
    /// The position of the last record, if the input ended before the line did.
    unfinished: Option<Position>,
    /// Text of the record, and where its fields are in it.
    text: Vec<u8>,
    fields: Vec<Range<usize>>,
    ends: Vec<usize>,
}

impl<'r, 'a> Table<'r, 'a> {
    fn new(input: &'r mut Input<'a>, delimiter: u8) -> Self {
        let position = input.position();
        let reader = ReaderBuilder::new()
            .delimiter(delimiter)
            // The CR of a CRLF would otherwise end the record, and the LF start the next one.
            .terminator(Terminator::Any(b'\n'))
            .build();
        let (text, fields, ends) = (Vec::new(), Vec::new(), Vec::new());
        Self {
            input,
            reader,
            delimiter,
            begun: false,
            position,
            unfinished: None,
            text,
            fields,
            ends,
        }
    }

    /// Reads the next record that is not blank; says whether there was one.
    fn next(&mut self) -> Result<bool, ImportError> {
        loop {
            self.input.begin_record();
            let read = self.split_line() || self.read_record()?;
            let blank = self.fields.len() == 1 && self.field(0).is_empty();
            if !read || !blank {
                return Ok(read);
            }
        }
    }

    /// Divides the next line at its delimiters, if all of it is in the buffer and it is plain: no
    /// quotes but around whole fields, without quotes or line ends between them. The reader could
    /// do that, too, byte by byte.
    fn split_line(&mut self) -> bool {
        let at_hand = self.input.at_hand();
        let Some(length) = memchr::memchr(b'\n', at_hand) else {
            return false;
        };
        let line = at_hand.get(..length).unwrap_or_default();
        if !self.begun || line.is_empty() {
            return false;
        }
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        self.fields.clear();
        let mut start = 0;
        loop {
            let rest = line.get(start..).unwrap_or_default();
            let quoted = rest.first() == Some(&b'"');
            let end = if quoted {
                let Some(end) = memchr::memchr(b'"', rest.get(1..).unwrap_or_default()) else {
                    return false;
                };
                start += 1;
                start + end
            } else {
                // Most are shorter than what a vector holds, so that a search by vectors costs more.
                let found = rest.iter().position(|byte| *byte == self.delimiter);
                start + found.unwrap_or(rest.len())
            };
            self.fields.push(start..end);
            let next = end + usize::from(quoted);
            match line.get(next) {
                // `read_record` takes this CR for that of a CRLF, although it is within quotes:
                // both ways have to agree.
                None if quoted && line.get(end - 1) == Some(&b'\r') => return false,
                None => break,
                Some(byte) if *byte == self.delimiter => start = next + 1,
                Some(_) => return false,
            }
        }
        self.text.clear();
        self.text.extend_from_slice(line);
        self.position = self.input.position();
        self.input.consume_counted(length + 1, 1);
        true
    }

    /// Reads the next record, whatever it looks like; says whether there was one.
    fn read_record(&mut self) -> Result<bool, ImportError> {
        let mut empty = 0;
        while self.peek()? == Some(b'\n') {
            self.input.consume(1);
            empty += 1;
        }
        if empty > 0 && !self.begun {
            // A byte order mark after them is text.
            self.reader.read_record(b"\n", &mut [0], &mut [0]);
        }
        self.begun = true;
        self.position = self.input.position();
        self.input.begin_record();
        let (mut written, mut ended) = (0, 0);
        let read = loop {
            let chunk = available(self.input)?;
            let is_at_end = chunk.is_empty();
            let text = self.text.get_mut(written..).unwrap_or_default();
            let ends = self.ends.get_mut(ended..).unwrap_or_default();
            let (result, taken, wrote, new) = self.reader.read_record(chunk, text, ends);
            self.input.consume(taken);
            written += wrote;
            ended += new;
            match result {
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull => {
                    // Doubled, so that a long record is not copied again for every piece of it. The
                    // input bounds how long one may be.
                    self.text.resize((2 * self.text.len()).max(1024), 0);
                }
                ReadRecordResult::OutputEndsFull => {
                    self.ends.resize((2 * self.ends.len()).max(16), 0);
                }
                ReadRecordResult::Record => {
                    self.unfinished = is_at_end.then_some(self.position);
                    break true;
                }
                ReadRecordResult::End => break false,
            }
        };
        self.fields.clear();
        let mut start = 0;
        for end in self.ends.get(..ended).unwrap_or_default() {
            self.fields.push(start..*end);
            start = *end;
        }
        // The CR of a CRLF is no part of the last field.
        if let Some(last) = self.fields.last_mut()
            && self
                .text
                .get(last.clone())
                .is_some_and(|field| field.ends_with(b"\r"))
        {
            last.end -= 1;
        }
        Ok(read)
    }

    fn peek(&mut self) -> Result<Option<u8>, ImportError> {
        Ok(available(self.input)?.first().copied())
    }

    /// A field of the record; empty if there is none.
    fn field(&self, column: usize) -> &[u8] {
        let field = self.fields.get(column).cloned();
        field
            .and_then(|field| self.text.get(field))
            .unwrap_or_default()
    }
}

/// Where each column is.
struct Columns {
    count: usize,
    depth: Option<usize>,
    name: usize,
    line: usize,
    /// Files of our own lack it where no calls are known.
    calls: Option<usize>,
    inclusive: usize,
    exclusive: usize,
    ticks: Option<Pair<usize>>,
}

impl Columns {
    /// Reads the header.
    fn of(header: &Table<'_, '_>, sink: &mut dyn Sink) -> Result<Self, ImportError> {
        const KNOWN: [&[u8]; 10] = [
            b"Depth",
            b"Element",
            b"Function",
            b"Line",
            b"Calls",
            b"InclusiveTime",
            b"ExclusiveTime",
            b"InclusiveTicks",
            b"ExclusiveTicks",
            // A number in the database from which profdb wrote the file.
            b"FunctionId",
        ];
        let at = header.position;
        let names: Vec<&[u8]> = (0..header.fields.len())
            .map(|column| header.field(column))
            .collect();
        let find = |name: &[u8]| names.iter().position(|known| *known == name);
        let need = |name: &str| {
            let found = names
                .iter()
                .map(|name| String::from_utf8_lossy(name))
                .collect::<Vec<_>>()
                .join(", ");
            let missing =
                || ImportError::malformed(at, format!("a column {name}"), quote(found.as_bytes()));
            find(name.as_bytes()).ok_or_else(missing)
        };
        // CSV has no settings that name the report, so that its columns have to: profiles have
        // neither of these (cases `dyalog_csv/summary-0.9.0-refused`,
        // `dyalog_csv/summary-1.37-refused`).
        if find(b"PctOfTot").is_some()
            || (find(b"Time").is_some() && find(b"InclusiveTime").is_none())
        {
            return Err(refuse_report("summary or calls"));
        }
        for (column, name) in names.iter().enumerate() {
            let shown = quote(name);
            if find(name) != Some(column) {
                return Err(ImportError::malformed(
                    at,
                    format!("one column {shown}"),
                    "a second one",
                ));
            }
            if !KNOWN.contains(name) {
                let message = format!("column {shown} skipped");
                sink.note(Note {
                    severity: Severity::Warning,
                    position: Some(at),
                    message: &message,
                });
            }
        }
        let ticks = match (find(b"InclusiveTicks"), find(b"ExclusiveTicks")) {
            (None, None) => None,
            (Some(inclusive), Some(exclusive)) => Some(Pair {
                inclusive,
                exclusive,
            }),
            (inclusive, _) => {
                let missing = if inclusive.is_none() {
                    "InclusiveTicks"
                } else {
                    "ExclusiveTicks"
                };
                let expected = format!("both columns of ticks, {missing} included");
                return Err(ImportError::malformed(at, expected, "one"));
            }
        };
        let name = match (find(b"Element"), find(b"Function")) {
            (Some(_), Some(_)) => {
                return Err(ImportError::malformed(
                    at,
                    "only one of the columns Element and Function",
                    "both",
                ));
            }
            (None, Some(column)) => column,
            _ => need("Element")?,
        };
        Ok(Self {
            count: names.len(),
            depth: find(b"Depth"),
            name,
            line: need("Line")?,
            calls: find(b"Calls"),
            inclusive: need("InclusiveTime")?,
            exclusive: need("ExclusiveTime")?,
            ticks,
        })
    }

    fn layout(&self) -> Layout {
        Layout {
            depth: self.depth.is_some(),
            calls: self.calls.is_some(),
            ticks: self.ticks.is_some(),
            exclusive_first: self.exclusive < self.inclusive,
            stated: None,
        }
    }

    fn row<'t>(&self, table: &'t Table<'_, '_>) -> Result<Row<'t>, ImportError> {
        let Table {
            fields, position, ..
        } = table;
        let position = *position;
        if fields.len() != self.count {
            let expected = format!("{} fields", self.count);
            return Err(ImportError::malformed(
                position,
                expected,
                fields.len().to_string(),
            ));
        }
        let field = |column: usize| table.field(column);
        let wrong = |column: usize, what: &str, name: &str| {
            ImportError::malformed(position, format!("{what} in {name}"), quote(field(column)))
        };
        let number = |column: usize, name: &str| {
            count(field(column)).ok_or_else(|| wrong(column, "a count", name))
        };
        let time = |column: usize, name: &str| {
            known(field(column), nanoseconds).ok_or_else(|| wrong(column, "milliseconds", name))
        };
        let name = std::str::from_utf8(field(self.name))
            .map_err(|_| wrong(self.name, "UTF-8", "Element"))?;
        if name.is_empty() {
            return Err(ImportError::malformed(
                position,
                "a name in Element",
                "nothing",
            ));
        }
        let depth = match self.depth {
            None => None,
            Some(column) => {
                let depth = number(column, "Depth")?;
                Some(u32::try_from(depth).map_err(|_| wrong(column, "a depth", "Depth"))?)
            }
        };
        let ticks = match self.ticks {
            None => None,
            Some(columns) => Some(Pair {
                inclusive: number(columns.inclusive, "InclusiveTicks")?,
                exclusive: number(columns.exclusive, "ExclusiveTicks")?,
            }),
        };
        let line = line_number(field(self.line))
            .ok_or_else(|| wrong(self.line, "a line number, nothing or ¯1", "Line"))?;
        let calls = match self.calls {
            None => None,
            Some(column) => {
                known(field(column), count).ok_or_else(|| wrong(column, "a count", "Calls"))?
            }
        };
        Ok(Row {
            position,
            depth,
            name,
            line,
            calls,
            time: Pair {
                inclusive: time(self.inclusive, "InclusiveTime")?,
                exclusive: time(self.exclusive, "ExclusiveTime")?,
            },
            ticks,
        })
    }
}
