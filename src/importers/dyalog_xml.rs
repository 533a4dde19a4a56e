//! Dyalog APL `]PROFILE` reports saved as XML
//!
//! # What it is
//! What the user command `]PROFILE` of Dyalog APL writes with `-outfile=FILE` (its default `-format=xml`): calls and time of
//! every function and every line of it, along the tree of calls (`tree`) or added up (`data`). Default metric: `time`; files
//! of version 0.9.0 also carry `ticks`, the number of times that the timer was read.
//!
//! # How to record one
//! ```text
//! ⎕PROFILE 'start' ⋄ Main ⋄ ⎕PROFILE 'stop'
//! ]PROFILE tree -outfile=/tmp/run.xml
//! ```
//!
//! # What we read
//! - `tree` and `data` files of the versions 0.9.0 and 1.37: name in `Function` or `Element`, `¯` for minus, E notation,
//!   functions with an empty line or line `¯1`, lines from 0, several roots, functions without lines.
//! - The labels of inclusive and exclusive, which 0.9.0 swaps: the data decide which is which, a note says so.
//! - Times as they are in trees (0.9.0 has corrected them for the timer's cost, 1.37 has not); the raw times of a `data` file
//!   with ticks are corrected with the file's own `TimerBias`. `runs.bias_applied` says what has been subtracted.
//! - `Version`, `TotalTime` and `SelectedTime` go to `run_properties`. `TotalTime` of a tree is not the time of the run and
//!   is not used: the total is that of the roots.
//!
//! # What we leave out
//! - `summary` and `calls` files: they hold sums from which no profile can be made. They are refused.
//! - Attributes, and elements that the format does not know: a note names each of them once.
//! - Document types and entities other than XML's own five are refused.
//!
//! # References
//! - "Tuning Applications Using the ]PROFILE User Command", Dyalog Limited, version 14.0, appendix A (tool version 0.9.0).
//! - Dyalog's application tuning guide, "Data storage" (tool version 1.37); language reference, system function `⎕PROFILE`.

use std::collections::BTreeSet;

use quick_xml::Reader;
use quick_xml::errors::{IllFormedError, SyntaxError};
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};

use super::common::apl_numbers::{count, depth, line_number, nanoseconds};
use super::common::dyalog_entry::PlainEntries;
use super::common::dyalog_rows::{Bias, Layout, Pair, Row, Rows, refuse_report};
use super::{Confidence, Format, Options};
use crate::error::{ImportError, Position, quote};
use crate::events::{Note, RunFact, Severity, Sink};
use crate::input::Input;

/// See the module's page.
pub const FORMAT: Format = Format {
    name: "dyalog_xml",
    summary: "Dyalog APL ]PROFILE tree and data reports, XML",
    revision: 1,
    sniff,
    options: &[],
    import,
};

/// The root element.
const ROOT: &str = "ProfileData";

/// Different things that a note is made of; a file with more is not worth the memory.
const NOTED: usize = 1000;

/// Elements may be this deep: the format needs three levels.
const NESTING: usize = 64;

fn sniff(head: &[u8]) -> Confidence {
    let mut reader = Reader::from_reader(head);
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        let start = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
        let is_root = match reader.read_event_into(&mut buffer) {
            Ok(Event::Decl(_) | Event::Comment(_) | Event::PI(_) | Event::DocType(_)) => continue,
            Ok(Event::Text(text)) if text.trim().is_empty() => continue,
            Ok(Event::Start(root) | Event::Empty(root)) => root.name().as_ref() == ROOT,
            // A tag with so many attributes that its end is not to be seen from here.
            Err(quick_xml::Error::Syntax(_)) => is_open_root(head.get(start..).unwrap_or_default()),
            _ => false,
        };
        return if is_root { Confidence::Yes } else { Confidence::No };
    }
}

fn is_open_root(tag: &[u8]) -> bool {
    let behind = tag.strip_prefix(b"<").and_then(|tag| tag.strip_prefix(ROOT.as_bytes()));
    behind.and_then(|behind| behind.first()).is_some_and(u8::is_ascii_whitespace)
}

fn import(input: &mut Input<'_>, _options: &Options, sink: &mut dyn Sink) -> Result<(), ImportError> {
    let mut xml = Xml::new(input);
    xml.root(sink)?;
    let mut settings = None;
    let mut entry = Entry::default();
    // The first entry says which columns there are.
    let found = loop {
        match xml.child(sink)? {
            None => break false,
            Some(Tag::Settings) if settings.is_none() => settings = Some(read_settings(&mut xml, sink)?),
            Some(Tag::Entry) => {
                entry.read(&mut xml, sink)?;
                break true;
            }
            Some(tag) => xml.skip(tag, sink)?,
        }
    };
    let settings = settings.unwrap_or_default();
    settings.check()?;
    let layout = layout(&settings, found.then_some(&entry))?;
    settings.state(sink);
    let mut rows = Rows::new(sink, layout);
    let mut plain = PlainEntries::new(layout);
    while xml.is_open() {
        rows.row(&entry.row(layout)?)?;
        // The XML reader does not notice: it stands behind an end tag before and afterwards.
        plain.read(xml.reader.get_mut(), &mut rows)?;
        next_entry(&mut xml, &mut entry, rows.sink())?;
    }
    let end = xml.end_of_file()?;
    rows.finish(end, settings.bias())
}

/// Reads the next entry, or the end of the root.
fn next_entry(xml: &mut Xml<'_, '_>, entry: &mut Entry, sink: &mut dyn Sink) -> Result<(), ImportError> {
    loop {
        match xml.child(sink)? {
            None => return Ok(()),
            Some(Tag::Entry) => return entry.read(xml, sink),
            Some(Tag::Settings) => {
                let expected = "<ProfileSettings> before the first <ProfileEntry>";
                return Err(ImportError::malformed(xml.position, expected, "it behind"));
            }
            Some(tag) => xml.skip(tag, sink)?,
        }
    }
}

/// Which columns the file has, by its settings and its first entry.
fn layout(settings: &Settings, first: Option<&Entry>) -> Result<Layout, ImportError> {
    let command = settings.command();
    let Some(first) = first else {
        return Ok(Layout { depth: command != Some("data"), ticks: false, exclusive_first: true });
    };
    if first.is_report {
        return Err(refuse_report("summary or calls"));
    }
    let depth = command.map_or(first.depth.is_some(), |command| command == "tree");
    let ticks = first.inclusive_ticks.is_some() || first.exclusive_ticks.is_some();
    Ok(Layout { depth, ticks, exclusive_first: first.exclusive_first })
}

/// What `ProfileSettings` holds.
#[derive(Default)]
struct Settings {
    version: Option<String>,
    command: Option<String>,
    timer_bias: Option<f64>,
    title: Option<String>,
    others: Vec<(&'static str, String)>,
}

impl Settings {
    /// First word of the command: the report that the file holds.
    fn command(&self) -> Option<&str> {
        self.command.as_deref().and_then(|command| command.split_whitespace().next())
    }

    fn check(&self) -> Result<(), ImportError> {
        match self.command() {
            None | Some("tree" | "data") => Ok(()),
            Some(report) => Err(refuse_report(report)),
        }
    }

    fn bias(&self) -> Bias {
        let trees_corrected = self.version.as_deref().is_some_and(|version| version.starts_with("0."));
        Bias { timer: self.timer_bias, trees_corrected }
    }

    fn state(&self, sink: &mut dyn Sink) {
        if let Some(version) = &self.version {
            sink.run(RunFact::ToolVersion(version));
            sink.run(RunFact::Other(Tag::Version.name(), version));
        }
        if let Some(command) = &self.command {
            sink.run(RunFact::Command(command));
        }
        // A run without a title goes by the name of its file.
        if let Some(title) = self.title.as_ref().filter(|title| !title.trim().is_empty()) {
            sink.run(RunFact::Title(title));
            if is_time_stamp(title) {
                sink.run(RunFact::RecordedAt(title));
            }
        }
        for (key, value) in &self.others {
            sink.run(RunFact::Other(key, value));
        }
    }
}

/// `]PROFILE` gives a run without a title the time at which it was saved: `2011/03/23 22:49:19`.
fn is_time_stamp(title: &str) -> bool {
    let shape = title.bytes().map(|byte| if byte.is_ascii_digit() { b'9' } else { byte });
    shape.eq(b"9999/99/99 99:99:99".iter().copied())
}

fn read_settings(xml: &mut Xml<'_, '_>, sink: &mut dyn Sink) -> Result<Settings, ImportError> {
    let mut settings = Settings::default();
    while let Some(tag) = xml.child(sink)? {
        let position = xml.position;
        let taken = match tag {
            Tag::Version => settings.version.replace(xml.text(tag)?.to_owned()).is_some(),
            Tag::Command => settings.command.replace(xml.text(tag)?.to_owned()).is_some(),
            Tag::Title => settings.title.replace(xml.text(tag)?.to_owned()).is_some(),
            Tag::Unit => {
                // Only our own files have it.
                xml.value(tag, "msec, the unit of profiles,", |unit| (unit == b"msec").then_some(()))?;
                false
            }
            Tag::TimerBias => settings.timer_bias.replace(xml.value(tag, "milliseconds", nanoseconds)?).is_some(),
            Tag::TotalTime | Tag::SelectedTime => {
                let taken = settings.others.iter().any(|(known, _)| *known == tag.name());
                settings.others.push((tag.name(), xml.text(tag)?.to_owned()));
                taken
            }
            _ => {
                xml.skip(tag, sink)?;
                false
            }
        };
        if taken {
            return Err(twice(position, tag));
        }
    }
    Ok(settings)
}

/// One `ProfileEntry`; figures by their labels. Used again for the next entry.
#[derive(Default)]
struct Entry {
    start: Option<Position>,
    end: Option<Position>,
    depth: Option<u32>,
    name: String,
    line: Option<Option<u32>>,
    calls: Option<u64>,
    inclusive: Option<f64>,
    exclusive: Option<f64>,
    inclusive_ticks: Option<u64>,
    exclusive_ticks: Option<u64>,
    exclusive_first: bool,
    /// It has a column that only reports have.
    is_report: bool,
}

impl Entry {
    /// Reads an entry whose start tag has just been read.
    fn read(&mut self, xml: &mut Xml<'_, '_>, sink: &mut dyn Sink) -> Result<(), ImportError> {
        let mut name = std::mem::take(&mut self.name);
        name.clear();
        *self = Self { start: Some(xml.position), name, ..Self::default() };
        while let Some(tag) = xml.child(sink)? {
            let position = xml.position;
            let taken = match tag {
                Tag::Depth => self.depth.replace(xml.value(tag, "a depth", depth)?).is_some(),
                Tag::Line => self.line.replace(xml.value(tag, "a line, nothing or ¯1", line_number)?).is_some(),
                Tag::Calls => self.calls.replace(xml.value(tag, "a count", count)?).is_some(),
                Tag::InclusiveTime => self.inclusive.replace(xml.value(tag, "milliseconds", nanoseconds)?).is_some(),
                Tag::ExclusiveTime => {
                    self.exclusive_first = self.inclusive.is_none();
                    self.exclusive.replace(xml.value(tag, "milliseconds", nanoseconds)?).is_some()
                }
                Tag::InclusiveTicks => self.inclusive_ticks.replace(xml.value(tag, "a count", count)?).is_some(),
                Tag::ExclusiveTicks => self.exclusive_ticks.replace(xml.value(tag, "a count", count)?).is_some(),
                Tag::Function | Tag::Element => {
                    let text = xml.text(tag)?;
                    if text.is_empty() {
                        return Err(ImportError::malformed(position, format!("a name in <{}>", tag.name()), "nothing"));
                    }
                    let taken = !self.name.is_empty();
                    self.name.push_str(text);
                    taken
                }
                Tag::ReportColumn => {
                    self.is_report = true;
                    xml.skip(tag, sink)?;
                    false
                }
                _ => {
                    xml.skip(tag, sink)?;
                    false
                }
            };
            if taken {
                return Err(twice(position, tag));
            }
        }
        self.end = Some(xml.position);
        Ok(())
    }

    /// The row that the entry stands for, if it has what the layout asks for.
    fn row(&self, layout: Layout) -> Result<Row<'_>, ImportError> {
        const NOWHERE: Position = Position { byte: 0, line: None };
        let start = self.start.unwrap_or(NOWHERE);
        let missing = |tag: Tag| {
            let expected = format!("<{}> in <ProfileEntry>", tag.name());
            ImportError::malformed(self.end.unwrap_or(start), expected, "its end")
        };
        let unlike_the_first = |tag: Tag| {
            let expected = format!("the elements of the first <ProfileEntry>, without <{}>", tag.name());
            ImportError::malformed(start, expected, "it")
        };
        let depth = match (layout.depth, self.depth) {
            (true, None) => return Err(missing(Tag::Depth)),
            (false, Some(_)) => {
                return Err(ImportError::malformed(start, "no <Depth>, as the file is no tree", "one"));
            }
            (_, depth) => depth,
        };
        let ticks = match (layout.ticks, self.inclusive_ticks, self.exclusive_ticks) {
            (true, Some(inclusive), Some(exclusive)) => Some(Pair { inclusive, exclusive }),
            (true, None, _) => return Err(missing(Tag::InclusiveTicks)),
            (true, _, None) => return Err(missing(Tag::ExclusiveTicks)),
            (false, None, None) => None,
            (false, Some(_), _) => return Err(unlike_the_first(Tag::InclusiveTicks)),
            (false, ..) => return Err(unlike_the_first(Tag::ExclusiveTicks)),
        };
        if self.name.is_empty() {
            return Err(missing(Tag::Function));
        }
        Ok(Row {
            position: start,
            depth,
            name: &self.name,
            line: self.line.ok_or_else(|| missing(Tag::Line))?,
            calls: self.calls.ok_or_else(|| missing(Tag::Calls))?,
            inclusive: self.inclusive.ok_or_else(|| missing(Tag::InclusiveTime))?,
            exclusive: self.exclusive.ok_or_else(|| missing(Tag::ExclusiveTime))?,
            ticks,
        })
    }
}

fn twice(position: Position, tag: Tag) -> ImportError {
    ImportError::malformed(position, format!("one <{}>", tag.name()), "a second one")
}

/// The elements of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tag {
    Settings,
    Version,
    Command,
    Title,
    TimerBias,
    TotalTime,
    SelectedTime,
    Unit,
    Entry,
    Depth,
    Function,
    Element,
    Line,
    Calls,
    InclusiveTime,
    ExclusiveTime,
    InclusiveTicks,
    ExclusiveTicks,
    /// Columns that only the summary and calls reports have.
    ReportColumn,
    /// What the format does not know.
    Unknown,
}

impl Tag {
    const NAMES: [(Self, &'static str); 18] = [
        (Self::Settings, "ProfileSettings"),
        (Self::Version, "Version"),
        (Self::Command, "Command"),
        (Self::Title, "Title"),
        (Self::TimerBias, "TimerBias"),
        (Self::TotalTime, "TotalTime"),
        (Self::SelectedTime, "SelectedTime"),
        (Self::Unit, "Unit"),
        (Self::Entry, "ProfileEntry"),
        (Self::Depth, "Depth"),
        (Self::Function, "Function"),
        (Self::Element, "Element"),
        (Self::Line, "Line"),
        (Self::Calls, "Calls"),
        (Self::InclusiveTime, "InclusiveTime"),
        (Self::ExclusiveTime, "ExclusiveTime"),
        (Self::InclusiveTicks, "InclusiveTicks"),
        (Self::ExclusiveTicks, "ExclusiveTicks"),
    ];

    fn of(name: &str) -> Self {
        match name {
            "PctOfTot" | "CumPct" | "AvgTime" => Self::ReportColumn,
            _ => Self::NAMES.iter().find(|(_, known)| *known == name).map_or(Self::Unknown, |(tag, _)| *tag),
        }
    }

    fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(tag, _)| *tag == self).map_or("", |(_, name)| name)
    }
}

/// The XML of one file as elements with text. Comments, processing instructions and white space between elements are
/// passed over.
struct Xml<'r, 'a> {
    reader: Reader<&'r mut Input<'a>>,
    buffer: Vec<u8>,
    text: String,
    /// Where the last event started.
    position: Position,
    /// Elements that are open.
    depth: usize,
    /// Name of the last start tag, if the format does not know it.
    unknown: String,
    /// Names of the attributes met since the last note of them.
    attributes: String,
    /// What a note has been made of.
    noted: BTreeSet<String>,
}

/// What an event means to this format; text has gone to [`Xml::text`].
enum Piece {
    Start(Tag),
    End,
    Text,
    EndOfFile,
}

impl<'r, 'a> Xml<'r, 'a> {
    fn new(input: &'r mut Input<'a>) -> Self {
        let position = input.position();
        let mut reader = Reader::from_reader(input);
        reader.config_mut().expand_empty_elements = true;
        Self {
            reader,
            buffer: Vec::new(),
            text: String::new(),
            position,
            depth: 0,
            unknown: String::new(),
            attributes: String::new(),
            noted: BTreeSet::new(),
        }
    }

    /// Whether the root is still open.
    fn is_open(&self) -> bool {
        self.depth > 0
    }

    /// Reads up to the start of the root.
    fn root(&mut self, sink: &mut dyn Sink) -> Result<(), ImportError> {
        self.text.clear();
        loop {
            match self.piece()? {
                Piece::Text if self.text.trim().is_empty() => self.text.clear(),
                Piece::Start(_) if self.unknown == ROOT => {
                    self.note_attributes(sink);
                    return Ok(());
                }
                _ => return Err(ImportError::malformed(self.position, "<ProfileData>", "something else")),
            }
        }
    }

    /// Reads the start of the next element within the one that is open, or the end of the latter.
    fn child(&mut self, sink: &mut dyn Sink) -> Result<Option<Tag>, ImportError> {
        self.text.clear();
        loop {
            match self.piece()? {
                Piece::Text if self.text.trim().is_empty() => self.text.clear(),
                Piece::Text => {
                    let found = quote(self.text.trim().as_bytes());
                    return Err(ImportError::malformed(self.position, "an element", found));
                }
                Piece::Start(tag) => {
                    self.note_attributes(sink);
                    return Ok(Some(tag));
                }
                Piece::End => return Ok(None),
                Piece::EndOfFile => return Err(self.cut()),
            }
        }
    }

    /// Reads the text of an element that has just been opened, and its end.
    fn text(&mut self, tag: Tag) -> Result<&str, ImportError> {
        self.text.clear();
        loop {
            match self.piece()? {
                Piece::Text => {}
                Piece::End => return Ok(&self.text),
                Piece::Start(_) => {
                    let expected = format!("text in <{}>", tag.name());
                    return Err(ImportError::malformed(self.position, expected, "an element"));
                }
                Piece::EndOfFile => return Err(self.cut()),
            }
        }
    }

    /// Reads the text of an element that has just been opened as a value.
    fn value<T>(&mut self, tag: Tag, what: &str, read: fn(&[u8]) -> Option<T>) -> Result<T, ImportError> {
        let position = self.position;
        let text = self.text(tag)?.trim();
        read(text.as_bytes()).ok_or_else(|| {
            ImportError::malformed(position, format!("{what} in <{}>", tag.name()), quote(text.as_bytes()))
        })
    }

    /// Passes over an element that has just been opened, and remarks it.
    fn skip(&mut self, tag: Tag, sink: &mut dyn Sink) -> Result<(), ImportError> {
        if tag != Tag::ReportColumn {
            let name = if tag == Tag::Unknown { self.unknown.as_str() } else { tag.name() };
            let message = format!("element {} is not read here", quote(format!("<{name}>").as_bytes()));
            self.note(&message, sink);
        }
        let outside = self.depth - 1;
        while self.depth > outside {
            self.text.clear();
            // What is passed over needs no note of its own.
            self.attributes.clear();
            if let Piece::EndOfFile = self.piece()? {
                return Err(self.cut());
            }
        }
        self.attributes.clear();
        Ok(())
    }

    /// Reads what follows the root.
    fn end_of_file(&mut self) -> Result<Position, ImportError> {
        self.text.clear();
        loop {
            match self.piece()? {
                Piece::Text if self.text.trim().is_empty() => self.text.clear(),
                Piece::EndOfFile => return Ok(self.position),
                Piece::Text => {
                    let found = quote(self.text.trim().as_bytes());
                    return Err(ImportError::malformed(self.position, "the end of the file", found));
                }
                _ => return Err(ImportError::malformed(self.position, "the end of the file", "another element")),
            }
        }
    }

    fn cut(&self) -> ImportError {
        ImportError::malformed(self.position, "</ProfileData>", "the end of the file")
    }

    fn note(&mut self, message: &str, sink: &mut dyn Sink) {
        if self.noted.len() < NOTED && self.noted.insert(message.to_owned()) {
            sink.note(Note { severity: Severity::Warning, position: Some(self.position), message });
        }
    }

    fn note_attributes(&mut self, sink: &mut dyn Sink) {
        if !self.attributes.is_empty() {
            let message = format!("attributes are not read: {}", quote(self.attributes.as_bytes()));
            self.attributes.clear();
            self.note(&message, sink);
        }
    }

    /// Reads one event; adds its text, if it has any.
    fn piece(&mut self) -> Result<Piece, ImportError> {
        loop {
            self.buffer.clear();
            let input = self.reader.get_mut();
            // A text in pieces (comments and references between them) is one record.
            if self.text.is_empty() {
                input.begin_record();
            }
            self.position = input.position();
            let event = match self.reader.read_event_into(&mut self.buffer) {
                Ok(event) => event,
                Err(error) => return Err(failure(self.reader.get_mut(), self.position, &error)),
            };
            return Ok(match event {
                Event::Comment(_) | Event::PI(_) => continue,
                Event::Decl(declaration) => {
                    if let Some(Ok(encoding)) = declaration.encoding()
                        && !["utf-8", "utf8"].iter().any(|utf8| encoding.eq_ignore_ascii_case(utf8))
                    {
                        let found = quote(encoding.as_bytes());
                        return Err(ImportError::malformed(self.position, "encoding UTF-8", found));
                    }
                    continue;
                }
                Event::DocType(_) => {
                    let expected = "no document type declaration";
                    return Err(ImportError::malformed(self.position, expected, "<!DOCTYPE"));
                }
                Event::Start(start) | Event::Empty(start) => {
                    self.depth += 1;
                    if self.depth > NESTING {
                        let limit = format!("{NESTING} elements within each other (limit: XML nesting)");
                        return Err(ImportError::Limit { position: self.position, limit });
                    }
                    let tag = Tag::of(start.name().as_ref());
                    if tag == Tag::Unknown {
                        self.unknown.clear();
                        self.unknown.push_str(start.name().as_ref());
                    }
                    if !start.attributes_raw().trim().is_empty() {
                        attributes(&start, &mut self.attributes);
                    }
                    Piece::Start(tag)
                }
                Event::End(_) => {
                    self.depth -= 1;
                    Piece::End
                }
                Event::Text(text) => {
                    self.text.push_str(&text);
                    Piece::Text
                }
                Event::CData(text) => {
                    self.text.push_str(&text);
                    Piece::Text
                }
                Event::GeneralRef(reference) => {
                    resolve(&reference, self.position, &mut self.text)?;
                    Piece::Text
                }
                Event::Eof => Piece::EndOfFile,
            });
        }
    }
}

/// Adds the character that a reference stands for.
fn resolve(reference: &BytesRef<'_>, position: Position, text: &mut String) -> Result<(), ImportError> {
    if let Ok(Some(character)) = reference.resolve_char_ref() {
        text.push(character);
    } else if let Some(replacement) = resolve_xml_entity(reference) {
        text.push_str(replacement);
    } else {
        let expected = "a character or one of XML's own entities";
        let found = quote(format!("&{};", &**reference).as_bytes());
        return Err(ImportError::malformed(position, expected, found));
    }
    Ok(())
}

/// Names of the attributes of a start tag.
fn attributes(start: &BytesStart<'_>, names: &mut String) {
    for attribute in start.attributes().with_checks(false).flatten() {
        if !names.is_empty() {
            names.push_str(", ");
        }
        names.push_str(attribute.key.as_ref());
    }
}

/// What has gone wrong: the input itself, else the XML.
fn failure(input: &mut Input<'_>, position: Position, error: &quick_xml::Error) -> ImportError {
    if let Some(failure) = input.failure() {
        return failure;
    }
    let (expected, found) = match error {
        quick_xml::Error::Encoding(_) => ("UTF-8".to_owned(), "other bytes".to_owned()),
        quick_xml::Error::Syntax(SyntaxError::InvalidBangMarkup) => {
            ("a comment or CDATA behind <!".to_owned(), "something else".to_owned())
        }
        quick_xml::Error::Syntax(unclosed) => {
            (format!("the end of {}", unclosed_piece(*unclosed)), "the end of the file".to_owned())
        }
        quick_xml::Error::IllFormed(IllFormedError::MismatchedEndTag { expected, found }) => {
            (quote(format!("</{expected}>").as_bytes()), quote(format!("</{found}>").as_bytes()))
        }
        quick_xml::Error::IllFormed(IllFormedError::UnmatchedEndTag(found)) => {
            ("a start tag".to_owned(), quote(format!("</{found}>").as_bytes()))
        }
        quick_xml::Error::IllFormed(IllFormedError::UnclosedReference) => {
            ("`;` at the end of what `&` starts".to_owned(), "none".to_owned())
        }
        _ => ("well-formed XML".to_owned(), format!("a fault: {error}")),
    };
    ImportError::malformed(position, expected, found)
}

/// What the file ends within.
fn unclosed_piece(error: SyntaxError) -> &'static str {
    match error {
        SyntaxError::UnclosedPI => "the processing instruction",
        SyntaxError::UnclosedXmlDecl => "the XML declaration",
        SyntaxError::UnclosedComment => "the comment",
        SyntaxError::UnclosedDoctype => "the document type",
        SyntaxError::UnclosedCData => "CDATA",
        _ => "the tag",
    }
}
