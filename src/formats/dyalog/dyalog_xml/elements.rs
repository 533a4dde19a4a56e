//! The elements of Dyalog's XML, with their texts and places.

use std::collections::BTreeSet;

use quick_xml::Reader;
use quick_xml::errors::{IllFormedError, SyntaxError};
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};

use crate::base::error::{ImportError, Position, quote};
use crate::events::{Note, Severity, Sink};
use crate::input::Input;

/// The root element.
pub(super) const ROOT: &str = "ProfileData";

/// Different things that a note is made of; a file with more is not worth the memory.
const NOTED: usize = 1000;

/// Elements may be this deep: the format needs three levels.
const NESTING: usize = 64;

/// The elements of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag {
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
            _ => Self::NAMES
                .iter()
                .find(|(_, known)| *known == name)
                .map_or(Self::Unknown, |(tag, _)| *tag),
        }
    }

    pub(super) fn name(self) -> &'static str {
        Self::NAMES
            .iter()
            .find(|(tag, _)| *tag == self)
            .map_or("", |(_, name)| name)
    }
}

/// The XML of one file as elements with text. Comments, processing instructions and white space
/// between elements are passed over.
pub(super) struct Xml<'r, 'a> {
    pub(super) reader: Reader<&'r mut Input<'a>>,
    buffer: Vec<u8>,
    text: String,
    /// Where the last event started.
    pub(super) position: Position,
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
    pub(super) fn new(input: &'r mut Input<'a>) -> Self {
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
    pub(super) fn is_open(&self) -> bool {
        self.depth > 0
    }

    /// Reads up to the start of the root.
    pub(super) fn root(&mut self, sink: &mut dyn Sink) -> Result<(), ImportError> {
        self.text.clear();
        loop {
            match self.piece_for(sink)? {
                Piece::Text if self.text.trim().is_empty() => self.text.clear(),
                Piece::Start(_) if self.unknown == ROOT => {
                    self.note_attributes(sink);
                    return Ok(());
                }
                _ => {
                    return Err(ImportError::malformed(
                        self.position,
                        "<ProfileData>",
                        "something else",
                    ));
                }
            }
        }
    }

    /// Reads the start of the next element within the one that is open, or the end of the latter.
    pub(super) fn child(&mut self, sink: &mut dyn Sink) -> Result<Option<Tag>, ImportError> {
        self.text.clear();
        loop {
            match self.piece_for(sink)? {
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
    pub(super) fn text(&mut self, tag: Tag) -> Result<&str, ImportError> {
        self.text.clear();
        loop {
            match self.piece()? {
                Piece::Text => {}
                Piece::End => return Ok(&self.text),
                Piece::Start(_) => {
                    let expected = format!("text in <{}>", tag.name());
                    return Err(ImportError::malformed(
                        self.position,
                        expected,
                        "an element",
                    ));
                }
                Piece::EndOfFile => return Err(self.cut()),
            }
        }
    }

    /// Reads the text of an element that has just been opened as a value.
    pub(super) fn value<T>(
        &mut self,
        tag: Tag,
        what: &str,
        read: fn(&[u8]) -> Option<T>,
    ) -> Result<T, ImportError> {
        let position = self.position;
        let text = self.text(tag)?.trim();
        read(text.as_bytes()).ok_or_else(|| {
            ImportError::malformed(
                position,
                format!("{what} in <{}>", tag.name()),
                quote(text.as_bytes()),
            )
        })
    }

    /// Passes over an element that has just been opened, and remarks it.
    pub(super) fn skip(&mut self, tag: Tag, sink: &mut dyn Sink) -> Result<(), ImportError> {
        if tag != Tag::ReportColumn {
            let name = if tag == Tag::Unknown {
                self.unknown.as_str()
            } else {
                tag.name()
            };
            let message = format!(
                "element {} skipped: this format does not have it here",
                quote(format!("<{name}>").as_bytes())
            );
            self.note(&message, sink);
        }
        // An element has just been opened, so that there is one.
        let outside = self.depth - 1;
        while self.depth > outside {
            // Text within is not kept, whatever its length.
            self.text.clear();
            // What is passed over needs no note of its own.
            self.attributes.clear();
            if let Piece::EndOfFile = self.piece_for(sink)? {
                return Err(self.cut());
            }
        }
        self.attributes.clear();
        Ok(())
    }

    /// Reads what follows the root.
    pub(super) fn end_of_file(&mut self) -> Result<Position, ImportError> {
        self.text.clear();
        loop {
            match self.piece()? {
                Piece::Text if self.text.trim().is_empty() => self.text.clear(),
                Piece::EndOfFile => return Ok(self.position),
                Piece::Text => {
                    let found = quote(self.text.trim().as_bytes());
                    return Err(ImportError::malformed(
                        self.position,
                        "the end of the file",
                        found,
                    ));
                }
                _ => {
                    return Err(ImportError::malformed(
                        self.position,
                        "the end of the file",
                        "another element",
                    ));
                }
            }
        }
    }

    fn cut(&self) -> ImportError {
        ImportError::malformed(self.position, "</ProfileData>", "the end of the file")
    }

    fn note(&mut self, message: &str, sink: &mut dyn Sink) {
        if self.noted.len() < NOTED && self.noted.insert(message.to_owned()) {
            sink.note(Note {
                severity: Severity::Warning,
                position: Some(self.position),
                message,
            });
        }
    }

    fn note_attributes(&mut self, sink: &mut dyn Sink) {
        if !self.attributes.is_empty() {
            let message = format!("attributes skipped: {}", quote(self.attributes.as_bytes()));
            self.attributes.clear();
            self.note(&message, sink);
        }
    }

    /// Reads one event for a sink, which learns where its record starts.
    fn piece_for(&mut self, sink: &mut dyn Sink) -> Result<Piece, ImportError> {
        let piece = self.piece()?;
        sink.at(self.reader.get_ref().record_start());
        Ok(piece)
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
                    // The input has decoded UTF-16 already.
                    if let Some(Ok(encoding)) = declaration.encoding()
                        && !["utf-8", "utf8", "utf-16"]
                            .iter()
                            .any(|utf8| encoding.eq_ignore_ascii_case(utf8))
                    {
                        let found = quote(encoding.as_bytes());
                        return Err(ImportError::malformed(
                            self.position,
                            "encoding UTF-8",
                            found,
                        ));
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
                        let limit = format!("{NESTING} nested elements (limit: XML nesting)");
                        return Err(ImportError::Limit {
                            position: self.position,
                            limit,
                        });
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
                    // The XML reader refuses an end tag that nothing has opened (case
                    // `dyalog_xml/end-tag-only`).
                    self.depth -= 1;
                    Piece::End
                }
                Event::Text(text) => {
                    self.text.push_str(&text.xml10_content());
                    Piece::Text
                }
                Event::CData(text) => {
                    self.text.push_str(&text.xml10_content());
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

/// Adds the character of a reference.
fn resolve(
    reference: &BytesRef<'_>,
    position: Position,
    text: &mut String,
) -> Result<(), ImportError> {
    if let Ok(Some(character)) = reference.resolve_char_ref() {
        text.push(character);
    } else if let Some(replacement) = resolve_xml_entity(reference) {
        text.push_str(replacement);
    } else {
        let expected = "a character reference or an entity that XML predefines";
        let found = quote(format!("&{};", &**reference).as_bytes());
        return Err(ImportError::malformed(position, expected, found));
    }
    Ok(())
}

/// Names of the attributes of a start tag.
fn attributes(start: &BytesStart<'_>, names: &mut String) {
    // The checks compare each name with all before it: quadratic time in a tag with many
    // attributes.
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
        quick_xml::Error::Syntax(SyntaxError::InvalidBangMarkup) => (
            "a comment or CDATA after <!".to_owned(),
            "something else".to_owned(),
        ),
        quick_xml::Error::Syntax(unclosed) => (
            format!("the end of {}", unclosed_piece(*unclosed)),
            "the end of the file".to_owned(),
        ),
        quick_xml::Error::IllFormed(IllFormedError::MismatchedEndTag { expected, found }) => (
            quote(format!("</{expected}>").as_bytes()),
            quote(format!("</{found}>").as_bytes()),
        ),
        quick_xml::Error::IllFormed(IllFormedError::UnmatchedEndTag(found)) => (
            "a start tag".to_owned(),
            quote(format!("</{found}>").as_bytes()),
        ),
        quick_xml::Error::IllFormed(IllFormedError::UnclosedReference) => {
            ("`;` at the end of the entity".to_owned(), "none".to_owned())
        }
        _ => ("well-formed XML".to_owned(), format!("an error: {error}")),
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
