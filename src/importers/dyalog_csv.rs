//! Dyalog APL `]PROFILE` reports saved as CSV
//!
//! # What it is
//! What the user command `]PROFILE` of Dyalog APL writes with `-outfile=FILE -format=csv`: the same rows as its XML files
//! (see `dyalog_xml`) without the settings, so that title, version and cost of the timer are unknown. Default metric:
//! `time`; files of version 0.9.0 also carry `ticks`.
//!
//! # How to record one
//! ```text
//! ⎕PROFILE 'start' ⋄ Main ⋄ ⎕PROFILE 'stop'
//! ]PROFILE tree -outfile=/tmp/run.csv -format=csv
//! ```
//! XML says more; save that if you can.
//!
//! # What we read
//! - `tree` and `data` files of the versions 0.9.0 and 1.37, told apart by their header: with `Depth` it is a tree.
//! - Every field separator (the character behind the first name of the header, or what `--separators` says) and both
//!   decimal marks (`-separators=",;"`), byte order mark, LF and CRLF.
//! - The labels of inclusive and exclusive, which 0.9.0 swaps: the data decide which is which, a note says so.
//! - Times as they are. A tree with ticks is of 0.9.0 and corrected by an unknown bias (`runs.bias_applied` is NULL);
//!   everything else is raw (0).
//!
//! # What we leave out
//! - `summary` and `calls` files: they hold sums from which no profile can be made. They are refused.
//! - Columns that the format does not know: a note names each of them.
//!
//! # References
//! - "Tuning Applications Using the ]PROFILE User Command", Dyalog Limited, version 14.0, appendix B (tool version 0.9.0).
//! - Dyalog's application tuning guide, "Data storage: CSV" (tool version 1.37).

use csv::{ByteRecord, Reader, ReaderBuilder, Terminator};

use super::common::dyalog_rows::{Bias, Layout, Pair, Row, Rows, count, line_number, nanoseconds, refuse_report};
use super::{Confidence, Format, OptionDef, Options, Takes};
use crate::error::{ImportError, Position, quote};
use crate::events::{Note, Severity, Sink};
use crate::input::Input;
use crate::separators::Separators;

/// See the module's page.
pub const FORMAT: Format = Format {
    name: "dyalog_csv",
    summary: "Dyalog APL ]PROFILE tree and data reports, CSV",
    revision: 1,
    sniff,
    options: &[OptionDef {
        name: SEPARATORS,
        takes: Takes::Separators,
        meaning: "Decimal mark and field separator, such as \",;\", of a CSV file of Dyalog's [default: as its header shows]",
    }],
    import,
};

/// Bytes that the CSV reader asks for at a time; the input has a larger buffer below it.
const BUFFER: usize = 64 * 1024;

const SEPARATORS: &str = "separators";

fn sniff(head: &[u8]) -> Confidence {
    let separator = separator(head);
    let line = head.split(|byte| matches!(byte, b'\n' | b'\r')).next().unwrap_or_default();
    let mut name = false;
    let mut lines = false;
    for field in line.split(|byte| *byte == separator) {
        let field = field.strip_prefix(b"\"").and_then(|field| field.strip_suffix(b"\"")).unwrap_or(field);
        name |= matches!(field, b"Element" | b"Function");
        lines |= field == b"Line";
    }
    if name && lines { Confidence::Maybe } else { Confidence::No }
}

/// The character behind the first name of the header.
fn separator(head: &[u8]) -> u8 {
    let behind = match head.strip_prefix(b"\"") {
        Some(quoted) => quoted.iter().position(|byte| *byte == b'"').map(|end| end + 2),
        None => head.iter().position(|byte| !byte.is_ascii_alphanumeric()),
    };
    match behind.and_then(|at| head.get(at)) {
        Some(byte) if !matches!(byte, b'\n' | b'\r' | b'"') => *byte,
        _ => b',',
    }
}

fn import(input: &mut Input<'_>, options: &Options, sink: &mut dyn Sink) -> Result<(), ImportError> {
    let separator = match options.value(SEPARATORS).map(str::parse::<Separators>) {
        Some(Ok(separators)) => separators.field,
        Some(Err(expected)) => return Err(ImportError::Refused(format!("--{SEPARATORS}: {expected}"))),
        None => separator(input.head()),
    };
    let mut table = Table::new(input, separator);
    if !table.next()? {
        return Err(ImportError::malformed(table.position, "a header", "the end of the file"));
    }
    let columns = Columns::of(&table, sink)?;
    let layout = columns.layout();
    let mut rows = Rows::new(sink, layout);
    while table.next()? {
        rows.row(&columns.row(&table)?)?;
    }
    rows.finish(table.position, Bias::default())
}

/// The records of the file with their places.
struct Table<'r, 'a> {
    reader: Reader<&'r mut Input<'a>>,
    record: ByteRecord,
    /// Where the record starts.
    position: Position,
    /// Where the reader started: a byte order mark comes before.
    start: u64,
}

impl<'r, 'a> Table<'r, 'a> {
    fn new(input: &'r mut Input<'a>, separator: u8) -> Self {
        let position = input.position();
        let reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(separator)
            // The CR of a CRLF would otherwise end the record, and the LF start the next one.
            .terminator(Terminator::Any(b'\n'))
            .buffer_capacity(BUFFER)
            .from_reader(input);
        Self { reader, record: ByteRecord::new(), position, start: position.byte }
    }

    /// Reads the next record that is not blank; says whether there was one.
    fn next(&mut self) -> Result<bool, ImportError> {
        loop {
            self.reader.get_mut().begin_record();
            let before = self.reader.position().clone();
            let read = self.reader.read_byte_record(&mut self.record);
            // The reader passes over empty lines without counting them to the place of the record behind them: lines that
            // are neither within the record nor its own were empty.
            let within = memchr::memchr_iter(b'\n', self.record.as_slice()).count() as u64;
            let passed = self.reader.position().line().saturating_sub(before.line());
            let empty = if matches!(read, Ok(true)) { passed.saturating_sub(within + 1) } else { passed };
            let byte = self.start + before.byte() + empty;
            self.position = Position { byte, line: Some(before.line() + empty) };
            self.reader.get_mut().begin_record_at(self.position);
            let read = read.map_err(|error| match self.reader.get_mut().failure() {
                Some(failure) => failure,
                None => ImportError::malformed(self.position, "CSV", format!("a fault: {error}")),
            })?;
            let blank = self.record.len() == 1 && self.field(0).is_empty();
            if !read || !blank {
                return Ok(read);
            }
        }
    }

    /// A field of the record; empty if there is none. The CR of a CRLF is no part of it.
    fn field(&self, column: usize) -> &[u8] {
        let field = self.record.get(column).unwrap_or_default();
        let last = column + 1 == self.record.len();
        if last { field.strip_suffix(b"\r").unwrap_or(field) } else { field }
    }
}

/// Which column stands where.
struct Columns {
    count: usize,
    depth: Option<usize>,
    name: usize,
    line: usize,
    calls: usize,
    inclusive: usize,
    exclusive: usize,
    ticks: Option<Pair<usize>>,
}

impl Columns {
    /// Reads the header.
    fn of(header: &Table<'_, '_>, sink: &mut dyn Sink) -> Result<Self, ImportError> {
        const KNOWN: [&[u8]; 9] = [
            b"Depth",
            b"Element",
            b"Function",
            b"Line",
            b"Calls",
            b"InclusiveTime",
            b"ExclusiveTime",
            b"InclusiveTicks",
            b"ExclusiveTicks",
        ];
        let at = header.position;
        let names: Vec<&[u8]> = (0..header.record.len()).map(|column| header.field(column)).collect();
        let find = |name: &[u8]| names.iter().position(|known| *known == name);
        let need = |name: &str| {
            let found = names.iter().map(|name| String::from_utf8_lossy(name)).collect::<Vec<_>>().join(", ");
            let missing = || ImportError::malformed(at, format!("a column {name}"), quote(found.as_bytes()));
            find(name.as_bytes()).ok_or_else(missing)
        };
        if find(b"PctOfTot").is_some() || (find(b"Time").is_some() && find(b"InclusiveTime").is_none()) {
            return Err(refuse_report("summary or calls"));
        }
        for (column, name) in names.iter().enumerate() {
            let shown = quote(name);
            if find(name) != Some(column) {
                return Err(ImportError::malformed(at, format!("one column {shown}"), "a second one"));
            }
            if !KNOWN.contains(name) {
                let message = format!("column {shown} is not read");
                sink.note(Note { severity: Severity::Warning, position: Some(at), message: &message });
            }
        }
        let ticks = match (find(b"InclusiveTicks"), find(b"ExclusiveTicks")) {
            (None, None) => None,
            (Some(inclusive), Some(exclusive)) => Some(Pair { inclusive, exclusive }),
            (inclusive, _) => {
                let missing = if inclusive.is_none() { "InclusiveTicks" } else { "ExclusiveTicks" };
                let expected = format!("both columns of ticks: {missing} too");
                return Err(ImportError::malformed(at, expected, "one"));
            }
        };
        let name = match (find(b"Element"), find(b"Function")) {
            (Some(_), Some(_)) => {
                return Err(ImportError::malformed(at, "a column Element or a column Function", "both"));
            }
            (None, Some(column)) => column,
            _ => need("Element")?,
        };
        Ok(Self {
            count: names.len(),
            depth: find(b"Depth"),
            name,
            line: need("Line")?,
            calls: need("Calls")?,
            inclusive: need("InclusiveTime")?,
            exclusive: need("ExclusiveTime")?,
            ticks,
        })
    }

    fn layout(&self) -> Layout {
        Layout {
            depth: self.depth.is_some(),
            ticks: self.ticks.is_some(),
            exclusive_first: self.exclusive < self.inclusive,
        }
    }

    fn row<'t>(&self, table: &'t Table<'_, '_>) -> Result<Row<'t>, ImportError> {
        let Table { record, position, .. } = table;
        let position = *position;
        if record.len() != self.count {
            let expected = format!("{} fields", self.count);
            return Err(ImportError::malformed(position, expected, record.len().to_string()));
        }
        let field = |column: usize| table.field(column);
        let wrong = |column: usize, what: &str, name: &str| {
            ImportError::malformed(position, format!("{what} in {name}"), quote(field(column)))
        };
        let number = |column: usize, name: &str| count(field(column)).ok_or_else(|| wrong(column, "a count", name));
        let time =
            |column: usize, name: &str| nanoseconds(field(column)).ok_or_else(|| wrong(column, "milliseconds", name));
        let name = std::str::from_utf8(field(self.name)).map_err(|_| wrong(self.name, "UTF-8", "Element"))?;
        if name.is_empty() {
            return Err(ImportError::malformed(position, "a name in Element", "nothing"));
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
        let line = line_number(field(self.line)).ok_or_else(|| wrong(self.line, "a line, nothing or ¯1", "Line"))?;
        Ok(Row {
            position,
            depth,
            name,
            line,
            calls: number(self.calls, "Calls")?,
            inclusive: time(self.inclusive, "InclusiveTime")?,
            exclusive: time(self.exclusive, "ExclusiveTime")?,
            ticks,
        })
    }
}
