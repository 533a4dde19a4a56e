//! The tables of a pprof profile: everything but the samples.

use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::Range;

use hashbrown::HashMap;

use super::decode::{Bytes, Field};
use crate::base::error::{ImportError, Position, quote};
use crate::events::Sink;
use crate::formats::common::counted::{Counted, many};
use crate::text::escape;

/// Sample types of one file: the memory for open nodes is a multiple of it. The metrics of any
/// other format fit.
const SAMPLE_TYPES: usize = 128;

/// Comments that are kept.
pub(super) const COMMENTS: usize = 100;

/// Everything but the samples. Texts are numbers of texts: they may follow later.
#[derive(Default)]
pub(super) struct Tables {
    pub(super) texts: Texts,
    pub(super) sample_types: Vec<ValueType>,
    pub(super) mappings: Table<Mapping>,
    pub(super) locations: Table<Location>,
    pub(super) lines: Vec<SourceLine>,
    pub(super) functions: Table<Function>,
    pub(super) drop_frames: Reference,
    pub(super) keep_frames: Reference,
    pub(super) time: i64,
    pub(super) duration: Option<i64>,
    pub(super) period: Option<i64>,
    pub(super) period_type: Option<ValueType>,
    pub(super) comments: Vec<Reference>,
    pub(super) default_sample_type: Reference,
    pub(super) doc_url: Reference,

    pub(super) more_comments: Counted,
    pub(super) unknown_fields: Counted,
}

/// The string table.
#[derive(Default)]
pub(super) struct Texts {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// References to texts that are not in the file.
    pub(super) missing: RefCell<Counted>,
}

/// The number of a text, and where it is used. Number 0 is the empty text.
#[derive(Clone, Copy)]
pub(super) struct Reference {
    pub(super) text: u64,
    pub(super) at: Position,
}

impl Default for Reference {
    fn default() -> Self {
        Self {
            text: 0,
            at: Position {
                byte: 0,
                line: None,
            },
        }
    }
}

/// Records that others refer to by an id.
pub(super) struct Table<T> {
    pub(super) records: Vec<T>,
    pub(super) index: HashMap<u64, usize>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self {
            records: Vec::new(),
            index: HashMap::new(),
        }
    }
}

#[derive(Clone, Copy, Default)]
pub(super) struct ValueType {
    pub(super) name: Reference,
    pub(super) unit: Reference,
}

#[derive(Default)]
pub(super) struct Mapping {
    pub(super) start: u64,
    pub(super) limit: u64,
    pub(super) offset: u64,
    pub(super) file: Reference,
    pub(super) build_id: Reference,
}

pub(super) struct Location {
    pub(super) mapping: u64,
    pub(super) address: u64,
    pub(super) lines: Range<usize>,
    pub(super) at: Position,
}

pub(super) struct SourceLine {
    pub(super) function: u64,
    pub(super) line: u64,
    pub(super) column: u64,
}

#[derive(Default)]
pub(super) struct Function {
    pub(super) name: Reference,
    pub(super) system_name: Reference,
    pub(super) file: Reference,
    pub(super) start_line: u64,
}

impl Texts {
    fn add(&mut self, text: Bytes<'_>) -> Result<(), ImportError> {
        // The schema says so, and all references rely on it: 0 is no text (case
        // `pprof/first-text-not-empty`).
        if self.ends.is_empty() && !text.bytes.is_empty() {
            return Err(ImportError::malformed(
                text.at,
                "an empty string as the first entry of the string table",
                quote(text.bytes),
            ));
        }
        // All texts are in one buffer, so that a text takes a number and no allocation.
        self.bytes.extend_from_slice(text.bytes);
        self.ends.push(self.bytes.len());
        Ok(())
    }

    pub(super) fn get(&self, reference: Reference) -> Result<&[u8], ImportError> {
        let Reference { text, at } = reference;
        if text == 0 {
            return Ok(&[]);
        }
        let found = usize::try_from(text).ok().and_then(|text| {
            let end = *self.ends.get(text)?;
            // Number 0 has returned above, so that there is one before.
            self.bytes.get(*self.ends.get(text - 1)?..end)
        });
        found.ok_or_else(|| {
            let expected = format!(
                "the index of one of {}",
                many(self.ends.len() as u64, "text")
            );
            ImportError::malformed(at, expected, text.cast_signed().to_string())
        })
    }

    /// Returns true if the text is in the file, and counts the reference otherwise.
    pub(super) fn has(&self, reference: Reference) -> bool {
        let is_known = self.get(reference).is_ok();
        if !is_known {
            let number = || reference.text.cast_signed().to_string();
            self.missing.borrow_mut().add_with(reference.at, number);
        }
        is_known
    }

    /// Returns the text. A text that is not in the file is empty and counted.
    pub(super) fn text_or_empty(&self, reference: Reference) -> Cow<'_, str> {
        if self.has(reference) {
            self.text(reference).unwrap_or_default()
        } else {
            Cow::default()
        }
    }

    /// Returns the text, with bytes that are not UTF-8 escaped.
    pub(super) fn text(&self, reference: Reference) -> Result<Cow<'_, str>, ImportError> {
        self.get(reference).map(escape::text)
    }
}

impl<T> Table<T> {
    fn add(&mut self, what: &str, at: Position, id: u64, record: T) -> Result<(), ImportError> {
        let next = self.records.len();
        // An id of 0 is that of nothing: fields that are missing have it (case
        // `pprof/location-without-id`).
        if id == 0 || *self.index.entry(id).or_insert(next) != next {
            let found = if id == 0 {
                "none".to_owned()
            } else {
                format!("{id}, which is already in use")
            };
            return Err(ImportError::malformed(
                at,
                format!("a {what} with a unique id"),
                found,
            ));
        }
        self.records.push(record);
        Ok(())
    }

    pub(super) fn get(&self, id: u64) -> Option<(usize, &T)> {
        let at = *self.index.get(&id)?;
        Some((at, self.records.get(at)?))
    }
}

/// A field that holds the number of a text.
pub(super) fn reference(field: &Field<'_>, name: &str) -> Result<Reference, ImportError> {
    Ok(Reference {
        text: field.number_of(name)?,
        at: field.at,
    })
}

impl Tables {
    /// Takes a field of the file.
    pub(super) fn field(
        &mut self,
        field: &Field<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), ImportError> {
        match field.number {
            1 => {
                let value = value_type(field.bytes_of("sample_type")?)?;
                if self.sample_types.len() == SAMPLE_TYPES {
                    let limit = format!("{SAMPLE_TYPES} sample types (limit: sample types)");
                    return Err(ImportError::Limit {
                        position: field.at,
                        limit,
                    });
                }
                sink.record(format_args!(
                    "sample type: text {}, unit: text {}",
                    value.name.text, value.unit.text
                ));
                self.sample_types.push(value);
            }
            2 => {
                let length = field.bytes_of("sample")?.bytes.len();
                sink.record(format_args!("sample of {length} bytes"));
            }
            3 => self.mapping(field.at, field.bytes_of("mapping")?, sink)?,
            4 => self.location(field.at, field.bytes_of("location")?, sink)?,
            5 => self.function(field.at, field.bytes_of("function")?, sink)?,
            6 => {
                let text = field.bytes_of("string_table")?;
                sink.record(format_args!(
                    "text {}: {}",
                    self.texts.ends.len(),
                    String::from_utf8_lossy(text.bytes)
                ));
                self.texts.add(text)?;
            }
            7 => self.drop_frames = reference(field, "drop_frames")?,
            8 => self.keep_frames = reference(field, "keep_frames")?,
            9 => {
                let time = field.number_of("time_nanos")?.cast_signed();
                // Protocol Buffers would merge two profiles without a word, and the texts of the
                // second mean something else then (case `pprof/two-profiles`).
                if self.time != 0 {
                    let found = "a second time_nanos: the file is a concatenation of profiles";
                    return Err(ImportError::malformed(field.at, "one profile", found));
                }
                self.time = time;
            }
            10 => self.duration = Some(field.number_of("duration_nanos")?.cast_signed()),
            11 => self.period_type = Some(value_type(field.bytes_of("period_type")?)?),
            12 => self.period = Some(field.number_of("period")?.cast_signed()),
            13 => self.comments(field)?,
            14 => self.default_sample_type = reference(field, "default_sample_type")?,
            15 => self.doc_url = reference(field, "doc_url")?,
            other => self.unknown_fields.add_with(field.at, || other.to_string()),
        }
        Ok(())
    }

    fn mapping(
        &mut self,
        at: Position,
        mut message: Bytes<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), ImportError> {
        let (mut id, mut mapping) = (0, Mapping::default());
        while let Some(field) = message.field()? {
            match field.number {
                1 => id = field.number_of("id")?,
                2 => mapping.start = field.number_of("memory_start")?,
                3 => mapping.limit = field.number_of("memory_limit")?,
                4 => mapping.offset = field.number_of("file_offset")?,
                5 => mapping.file = reference(&field, "filename")?,
                6 => mapping.build_id = reference(&field, "build_id")?,
                _ => {}
            }
        }
        sink.record(format_args!(
            "mapping {id}: {:#x} to {:#x} at {:#x} of text {}",
            mapping.start, mapping.limit, mapping.offset, mapping.file.text
        ));
        self.mappings.add("mapping", at, id, mapping)
    }

    fn location(
        &mut self,
        at: Position,
        mut message: Bytes<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), ImportError> {
        let (mut id, mut mapping, mut address) = (0, 0, 0);
        let first = self.lines.len();
        while let Some(field) = message.field()? {
            match field.number {
                1 => id = field.number_of("id")?,
                2 => mapping = field.number_of("mapping_id")?,
                3 => address = field.number_of("address")?,
                4 => self.lines.push(source_line(field.bytes_of("line")?)?),
                _ => {}
            }
        }
        let lines = first..self.lines.len();
        sink.record(format_args!(
            "location {id}: {address:#x} of mapping {mapping}, {} lines",
            lines.len()
        ));
        self.locations.add(
            "location",
            at,
            id,
            Location {
                mapping,
                address,
                lines,
                at,
            },
        )
    }

    fn function(
        &mut self,
        at: Position,
        mut message: Bytes<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), ImportError> {
        let (mut id, mut function) = (0, Function::default());
        while let Some(field) = message.field()? {
            match field.number {
                1 => id = field.number_of("id")?,
                2 => function.name = reference(&field, "name")?,
                3 => function.system_name = reference(&field, "system_name")?,
                4 => function.file = reference(&field, "filename")?,
                5 => function.start_line = field.number_of("start_line")?,
                _ => {}
            }
        }
        sink.record(format_args!(
            "function {id}: text {}, from text {}",
            function.name.text, function.file.text
        ));
        self.functions.add("function", at, id, function)
    }

    /// Comments are few; equal ones say nothing more.
    fn comments(&mut self, field: &Field<'_>) -> Result<(), ImportError> {
        let mut numbers = Vec::new();
        field.numbers_of("comment", &mut numbers)?;
        for text in numbers {
            // At most a hundred are kept, so that looking at all of them stays cheap.
            if self.comments.iter().any(|known| known.text == text) {
                continue;
            }
            if self.comments.len() == COMMENTS {
                self.more_comments.add(field.at);
            } else {
                self.comments.push(Reference { text, at: field.at });
            }
        }
        Ok(())
    }
}

fn value_type(mut message: Bytes<'_>) -> Result<ValueType, ImportError> {
    let mut value = ValueType::default();
    while let Some(field) = message.field()? {
        match field.number {
            1 => value.name = reference(&field, "type")?,
            2 => value.unit = reference(&field, "unit")?,
            _ => {}
        }
    }
    Ok(value)
}

fn source_line(mut message: Bytes<'_>) -> Result<SourceLine, ImportError> {
    let mut line = SourceLine {
        function: 0,
        line: 0,
        column: 0,
    };
    while let Some(field) = message.field()? {
        match field.number {
            1 => line.function = field.number_of("function_id")?,
            2 => line.line = field.number_of("line")?,
            3 => line.column = field.number_of("column")?,
            _ => {}
        }
    }
    Ok(line)
}
