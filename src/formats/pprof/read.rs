//! pprof profiles (profile.proto)
//!
//! # What it is
//! The Protocol Buffers message `perftools.profiles.Profile`, usually compressed with gzip (`.pb.gz`). Go writes it, and so do
//! many profilers for C++, Rust, Node.js, Python and Java. Default metric: the file's default sample type, else the last one,
//! as in `pprof`.
//!
//! # How to record one
//! ```text
//! go test -cpuprofile cpu.pb.gz -memprofile heap.pb.gz ./...
//! curl -o cpu.pb.gz 'http://localhost:6060/debug/pprof/profile?seconds=30'
//! ```
//! Elsewhere: the crate `pprof` in Rust, the package `pprof` in Node.js, gperftools with `pprof -proto`.
//!
//! # What we read
//! - Every sample type, as a metric with its name. Units of time become nanoseconds, units of memory bytes (a kilobyte has 1024
//!   of them), and everything else is a count. Negative values, as in a difference of two profiles, are kept.
//! - Samples by their lines, outermost frame first, with inlined functions below the function that contains them.
//!   Equal stacks are added up.
//! - Functions, identified by name, source file, first line and mapping, whose file is the module. A function
//!   without a name has its system name. If both names exist and differ, the system name is the raw name. Without either, it
//!   is `[unknown]` in its file.
//! - Addresses without a function, or with one that has neither name nor file. They become functions such as `binary+0x1f0`,
//!   by their offset in the mapping's file, or `0x7f00001f0` outside all mappings. Without an address, the name is `[unknown]`.
//!   Samples without a stack count for `[no stack]`.
//! - Labels of samples: text, or a number with its unit.
//! - File of the first mapping (the command), time, duration, period and its type, comments, the regular expressions of frames
//!   to drop or keep, default sample type, link to documentation, build id of the first mapping.
//! - Mangled names of C++ and Rust are demangled; the raw name is kept.
//!
//! The file is read twice, because Go writes the names last. Large input from a pipe is stored in a temporary file.
//!
//! # What we leave out
//! - Addresses of frames that have a function, and the other properties of mappings.
//! - `drop_frames` and `keep_frames` are properties of the run and have no effect. A note reports them, because `pprof` applies them.
//! - Unknown fields; a note counts those of the top-level message.
//! - Several concatenated profiles are refused.
//! - The older formats, most of them text, that `pprof` also reads.
//!
//! # References
//! - The schema, profile.proto, and the documentation of `pprof`: <https://github.com/google/pprof>.
//! - "Encoding", Protocol Buffers documentation: tags, numbers, packed fields.

use std::ops::Range;

use hashbrown::HashMap;

use super::decode::{Bytes, Field, Value, next_field};
use super::proportion::{RATIO, is_out_of_proportion};
use super::symbols::{Symbols, remark};
use super::tables::{COMMENTS, Reference, Tables, ValueType, reference};
use crate::base::error::{ImportError, Position, quote};
use crate::events::{
    Frame, FunctionDef, FunctionId, Kind, Label, LabelValue, LabelsId, MetricId, Noise, Note,
    RunFact, Sample, Severity, Sink, Unit,
};
use crate::formats::common::counted::{Counted, many};
use crate::formats::common::demangle::Demangler;
use crate::formats::common::metric_names::MetricNames;
use crate::formats::common::missing_frames::MissingFrames;
use crate::formats::format::{Confidence, Format, fault_position};
use crate::formats::options::{KEEP_BEFORE_ERROR, KEEP_BEFORE_ERROR_OPTION, Options};
use crate::formats::salvage::Salvage;
use crate::input::Input;
use crate::text::dates::utc;

/// The format of the page above: how it is recognised and read.
pub(in crate::formats) const FORMAT: Format = Format {
    name: "pprof",
    summary: "pprof profiles (profile.proto) of Go, C++, Rust, Node.js",
    revision: 5,
    sniff,
    has_empty_recordings: true,
    salvage: Salvage::Records { tail: b"" },
    options: &[KEEP_BEFORE_ERROR_OPTION],
    import,
};

/// Frames of one stack, those of inlined functions among them.
const FRAMES: usize = 1 << 16;

/// There is no magic number. Two fields that look like nothing else will do, before the first that
/// no profile has: damage after them is reported with its place.
fn sniff(head: &[u8]) -> Confidence {
    let mut rest = Bytes {
        bytes: head,
        at: Position {
            byte: 0,
            line: None,
        },
    };
    let mut telling = 0;
    let mut first = true;
    while let Ok(Some(field)) = rest.field() {
        // Tables do not come first, and their tags are printable.
        if first && matches!(field.number, 4 | 5) {
            return Confidence::No;
        }
        first = false;
        match likeness(&field) {
            None => break,
            Some(tells) => telling += u32::from(tells),
        }
        if telling == 2 {
            return Confidence::Maybe;
        }
    }
    Confidence::No
}

/// Whether a field at the top could be one of a profile, and if so, whether it looks like nothing
/// else.
fn likeness(field: &Field<'_>) -> Option<bool> {
    let number = |field: &Field<'_>| matches!(field.value, Value::Number(_));
    let message = |field: &Field<'_>| matches!(field.value, Value::Bytes(_));
    match (field.number, field.value) {
        (1 | 11, Value::Bytes(bytes)) => {
            holds(bytes, 0, |field| field.number <= 2 && number(field))
        }
        // Ids and values may be packed: only reading them shows whether the bytes are numbers.
        (2, Value::Bytes(bytes)) => holds(bytes, 0, |field| match field.number {
            1 | 2 => field.numbers_of("", &mut Vec::new()).is_ok(),
            3 => message(field),
            _ => true,
        }),
        (3, Value::Bytes(bytes)) => holds(bytes, 1, |field| field.number > 10 || number(field)),
        (4, Value::Bytes(bytes)) => holds(bytes, 1, |field| match field.number {
            4 => message(field),
            other => other > 5 || number(field),
        }),
        (5, Value::Bytes(bytes)) => holds(bytes, 1, |field| field.number > 5 || number(field)),
        (6, Value::Bytes(bytes)) => Some(bytes.bytes.is_empty()),
        (7..=10 | 12..=15, Value::Number(_)) | (13, Value::Bytes(_)) => Some(false),
        _ => None,
    }
}

/// Whether a message has fields that fit and nothing else, and the one with this number if there is
/// one (the number is 0 if none is needed). An empty one tells nothing.
fn holds(mut message: Bytes<'_>, needed: u64, fits: impl Fn(&Field<'_>) -> bool) -> Option<bool> {
    let mut found = needed == 0;
    let empty = message.bytes.is_empty();
    while let Some(field) = message.field().ok()? {
        if !fits(&field) {
            return None;
        }
        found |= field.number == needed;
    }
    found.then_some(!empty)
}

fn import(
    input: &mut Input<'_>,
    options: &Options,
    sink: &mut dyn Sink,
) -> Result<(), ImportError> {
    let sink = &mut Demangler::new(sink);
    input.has_no_lines();
    sink.at(input.position());
    // Texts and locations may come after the samples that need them (case `pprof/go-field-order`):
    // the first pass reads the tables, the second one the samples, of which none is kept.
    input.keep();
    let mut buffer = Vec::new();
    let mut tables = Tables::default();
    while let Some(field) = next_field(input, &mut buffer)? {
        sink.at(field.at);
        tables.field(&field, sink)?;
    }
    let end = input.position();
    input.restart()?;
    input.begin_record();
    sink.at(input.position());
    let keeps = options.flag(KEEP_BEFORE_ERROR);
    let mut profile = Profile::new(&tables, end, keeps, sink)?;
    let mut damaged = Counted::default();
    let mut first_fault = None;
    let mut samples = 0;
    while let Some(field) = next_field(input, &mut buffer)? {
        if field.number == 2 {
            samples += 1;
            profile.sink.at(field.at);
            let message = field.bytes_of("sample");
            let Err(fault) = message.and_then(|message| profile.sample(field.at, message)) else {
                continue;
            };
            // The tables follow the samples in most files, so that a file cannot end at a damaged
            // sample.
            if !keeps || fault_position(&fault).is_none() {
                return Err(fault);
            }
            damaged.add_with(field.at, || fault.to_string());
            first_fault.get_or_insert(fault);
        }
    }
    if let Some(fault) = first_fault.filter(|_| damaged.count() == samples) {
        return Err(fault);
    }
    remark(
        &damaged,
        profile.sink,
        Severity::Warning,
        "damaged sample",
        "skipped",
    );
    profile.sink.at(input.position());
    profile.missing.note(profile.unwound, profile.sink)?;
    profile
        .negative
        .note(profile.sink, Severity::Warning, |count| {
            format!(
                "{} with negative values, as in a difference of two profiles: they reduce the totals",
                many(count, "sample")
            )
        });
    profile.emit_notes();
    Ok(())
}

/// What the run as a whole is like.
fn facts(tables: &Tables, sink: &mut dyn Sink) -> Result<(), ImportError> {
    let texts = &tables.texts;
    if tables.time != 0 {
        sink.run(RunFact::RecordedAt(&utc(tables.time)));
    }
    // The first mapping is that of the program, says the schema.
    let main = tables.mappings.records.first();
    let (file, build_id) = main.map_or_else(Default::default, |main| (main.file, main.build_id));
    let command = texts.text_or_empty(file);
    if !command.is_empty() {
        sink.run(RunFact::Command(&command));
    }
    let typed = |value: &ValueType| {
        Ok(format!(
            "{}/{}",
            texts.text(value.name)?,
            texts.text(value.unit)?
        ))
    };
    let types: Result<Vec<_>, ImportError> = tables.sample_types.iter().map(typed).collect();
    sink.run(RunFact::Other("sample_types", &types?.join(" ")));
    let numbers = [
        ("duration_nanos", tables.duration),
        ("period", tables.period),
    ];
    for (name, number) in numbers {
        if let Some(number) = number {
            sink.run(RunFact::Other(name, &number.to_string()));
        }
    }
    if let Some(period) = &tables.period_type {
        sink.run(RunFact::Other("period_type", &typed(period)?));
    }
    let comments: Vec<_> = tables
        .comments
        .iter()
        .map(|comment| texts.text_or_empty(*comment))
        .collect();
    let more = [
        ("comment", comments.join("\n").into()),
        (
            "default_sample_type",
            texts.text_or_empty(tables.default_sample_type),
        ),
        ("drop_frames", texts.text_or_empty(tables.drop_frames)),
        ("keep_frames", texts.text_or_empty(tables.keep_frames)),
        ("doc_url", texts.text_or_empty(tables.doc_url)),
        ("build_id", texts.text_or_empty(build_id)),
    ];
    for (name, text) in more {
        if !text.is_empty() {
            sink.run(RunFact::Other(name, &text));
        }
    }
    Ok(())
}

/// Announces the metrics. Each is given back with the factor of its unit.
fn metrics(
    tables: &Tables,
    end: Position,
    sink: &mut dyn Sink,
) -> Result<Vec<(MetricId, f64)>, ImportError> {
    if tables.sample_types.is_empty() {
        return Err(ImportError::malformed(
            end,
            "a sample type before the end of the file",
            "none",
        ));
    }
    let default = tables
        .texts
        .get(tables.default_sample_type)
        .unwrap_or_default();
    let mut metrics = Vec::new();
    let mut names = MetricNames::default();
    let mut chosen = None;
    let mut samples = None;
    let mut of_samples = Vec::new();
    for value in &tables.sample_types {
        let (text, given) = (
            tables.texts.text(value.name)?,
            tables.texts.text(value.unit)?,
        );
        let (unit, factor) = unit(&given);
        let mut name = if text.is_empty() {
            "value".to_owned()
        } else {
            text.into_owned()
        };
        // A unit tells more than a number does (case `pprof/units`).
        if names.has(&name) {
            name = format!("{name} ({given})");
        }
        let is_count = unit == Unit::Count;
        let (noise, is_of_samples) = noise(&name, &unit);
        let metric = if samples.is_none() && is_count && matches!(&*name, "samples" | "sample") {
            *samples.insert(sink.samples(&names.take(&name)))
        } else {
            let metric = sink.metric(&names.take(&name), unit, noise);
            of_samples.extend(is_of_samples.then_some(metric));
            if let (Some(period), Some(of)) = (tables.period, &tables.period_type)
                && noise == Noise::Sampled
                && period > 0
                && tables.texts.get(of.name)? == tables.texts.get(value.name)?
                && tables.texts.get(of.unit)? == tables.texts.get(value.unit)?
            {
                sink.run(RunFact::Quantum(metric, real(period) * factor));
            }
            metric
        };
        // By the name in the file: that of the metric may have a unit or number after it.
        if chosen.is_none() && !default.is_empty() && tables.texts.get(value.name)? == default {
            chosen = Some(metric);
        }
        metrics.push((metric, factor));
    }
    for metric in of_samples {
        if let Some(samples) = samples {
            sink.run(RunFact::Observations(metric, samples));
        }
    }
    if chosen.is_none() && !default.is_empty() {
        let message = format!(
            "the default sample type {} is not one of the file's sample types: the last of these is used",
            quote(default)
        );
        let position = Some(tables.default_sample_type.at);
        sink.note(Note {
            severity: Severity::Warning,
            position,
            message: &message,
        });
    }
    if let Some(metric) = chosen.or_else(|| metrics.last().map(|(metric, _)| *metric)) {
        sink.run(RunFact::DefaultMetric(metric));
    }
    Ok(metrics)
}

/// What values of a type owe to chance, and whether the number of samples says how much: that of
/// allocations is scaled up.
fn noise(name: &str, unit: &Unit) -> (Noise, bool) {
    const SCALED: [&str; 6] = [
        "alloc_objects",
        "alloc_space",
        "inuse_objects",
        "inuse_space",
        "contentions",
        "delay",
    ];
    match unit {
        _ if SCALED.contains(&name) => (Noise::Sampled, false),
        Unit::Nanoseconds if matches!(name, "cpu" | "wall") => (Noise::Sampled, true),
        _ => (Noise::Unknown, false),
    }
}

/// What values of a unit are stored in, and what they are multiplied with.
fn unit(unit: &str) -> (Unit, f64) {
    let lower = unit.to_lowercase();
    // As `pprof` does it: plurals lose their s, `ns`, `us` and `ms` keep theirs.
    let one = if lower.len() > 2 {
        lower.strip_suffix('s').unwrap_or(&lower)
    } else {
        &lower
    };
    match one {
        "ns" | "nanosecond" => (Unit::Nanoseconds, 1.0),
        "us" | "\u{b5}s" | "\u{3bc}s" | "\u{b5}" | "\u{3bc}" | "microsecond" => {
            (Unit::Nanoseconds, 1e3)
        }
        "ms" | "millisecond" => (Unit::Nanoseconds, 1e6),
        "s" | "sec" | "second" => (Unit::Nanoseconds, 1e9),
        "min" | "minute" => (Unit::Nanoseconds, 60e9),
        "hr" | "hour" => (Unit::Nanoseconds, 3600e9),
        "b" | "byte" => (Unit::Bytes, 1.0),
        "kb" | "kbyte" | "kilobyte" => (Unit::Bytes, 1024.0),
        "mb" | "mbyte" | "megabyte" => (Unit::Bytes, 1_048_576.0),
        "gb" | "gbyte" | "gigabyte" => (Unit::Bytes, 1_073_741_824.0),
        "tb" | "tbyte" | "terabyte" => (Unit::Bytes, 1_099_511_627_776.0),
        "pb" | "pbyte" | "petabyte" => (Unit::Bytes, 1_125_899_906_842_624.0),
        _ => (Unit::Count, 1.0),
    }
}

/// A label, with the numbers of its texts.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct RawLabel {
    key: u64,
    /// The value, unless it is a number.
    text: u64,
    number: i64,
    unit: u64,
}

impl RawLabel {
    /// Reads a label; returns `None` if its key, text or unit is not in the file.
    fn new(mut message: Bytes<'_>, tables: &Tables) -> Result<Option<Self>, ImportError> {
        let mut label = Self::default();
        let mut is_whole = true;
        let mut text = |field: &Field<'_>, name: &str| {
            let reference = reference(field, name)?;
            is_whole &= tables.texts.has(reference);
            Ok::<u64, ImportError>(reference.text)
        };
        while let Some(field) = message.field()? {
            match field.number {
                1 => label.key = text(&field, "key")?,
                2 => label.text = text(&field, "str")?,
                3 => label.number = field.number_of("num")?.cast_signed(),
                4 => label.unit = text(&field, "num_unit")?,
                _ => {}
            }
        }
        Ok(is_whole.then_some(label))
    }
}

/// The samples, and what they need of the tables.
struct Profile<'s> {
    tables: &'s Tables,
    sink: &'s mut dyn Sink,
    /// Each with the factor of its unit.
    metrics: Vec<(MetricId, f64)>,
    /// By the location's place in its table: where its frames are, outermost first.
    locations: Vec<Range<usize>>,
    frames: Vec<Frame<'static>>,
    no_stack: Option<FunctionId>,

    /// The ids of the last sample's locations, outermost first, each with the number of frames up
    /// to it.
    path: Vec<(u64, usize)>,
    stack: Vec<Frame<'static>>,
    /// What the sample holds.
    ids: Vec<u64>,
    numbers: Vec<u64>,
    values: Vec<(MetricId, f64)>,
    frames_used: u64,
    bytes_used: u64,

    /// Labels of the sample.
    labels: Vec<RawLabel>,
    /// What the sink calls them.
    known_labels: HashMap<Vec<RawLabel>, LabelsId>,
    /// Bytes of all labels in these.
    labelled: u64,
    /// Where the tables end.
    end: Position,
    without_stack: Counted,
    missing: MissingFrames,
    negative: Counted,
    /// Number of references to locations that have been looked up.
    unwound: u64,
}

impl<'s> Profile<'s> {
    /// Says what the tables hold.
    fn new(
        tables: &'s Tables,
        end: Position,
        keeps: bool,
        sink: &'s mut dyn Sink,
    ) -> Result<Self, ImportError> {
        let metrics = metrics(tables, end, sink)?;
        facts(tables, sink)?;
        let (mut locations, mut frames) = (Vec::new(), Vec::new());
        let mut symbols = Symbols::new(tables, end, sink);
        for location in &tables.locations.records {
            let first = frames.len();
            symbols.frames(location, &mut frames)?;
            locations.push(first..frames.len());
        }
        symbols.check_names(keeps)?;
        symbols.emit_notes();
        Ok(Self {
            tables,
            sink,
            metrics,
            locations,
            frames,
            no_stack: None,
            path: Vec::new(),
            stack: Vec::new(),
            ids: Vec::new(),
            numbers: Vec::new(),
            values: Vec::new(),
            frames_used: 0,
            bytes_used: 0,
            labels: Vec::new(),
            known_labels: HashMap::new(),
            labelled: 0,
            end,
            without_stack: Counted::default(),
            missing: MissingFrames::default(),
            negative: Counted::default(),
            unwound: 0,
        })
    }

    fn sample(&mut self, at: Position, mut message: Bytes<'_>) -> Result<(), ImportError> {
        // What `unwind` compares the frames with that are made of them.
        self.bytes_used += message.bytes.len() as u64;
        self.ids.clear();
        self.numbers.clear();
        self.labels.clear();
        while let Some(field) = message.field()? {
            match field.number {
                1 => field.numbers_of("location_id", &mut self.ids)?,
                2 => field.numbers_of("value", &mut self.numbers)?,
                3 => {
                    let label = RawLabel::new(field.bytes_of("label")?, self.tables)?;
                    self.labels.extend(label);
                }
                _ => {}
            }
        }
        if self.numbers.len() != self.metrics.len() {
            let expected = format!("{} in a sample", many(self.metrics.len() as u64, "value"));
            return Err(ImportError::malformed(
                at,
                expected,
                self.numbers.len().to_string(),
            ));
        }
        let values = self.metrics.iter().zip(&self.numbers);
        self.values.clear();
        self.values.extend(
            values.map(|((metric, factor), value)| (*metric, real(value.cast_signed()) * factor)),
        );
        if self.numbers.iter().any(|value| value.cast_signed() < 0) {
            self.negative.add(at);
        }
        let labels = self.known_labels(at)?;
        if self.ids.is_empty() {
            // With a function of its own, or its values would be missing in the total (case
            // `pprof/empty-stack`).
            self.without_stack.add(at);
            let pseudo = FunctionDef {
                kind: Kind::Pseudo,
                ..FunctionDef::named("[no stack]")
            };
            let function = *self
                .no_stack
                .get_or_insert_with(|| self.sink.function(pseudo));
            let stack = &[Frame::function(function)];
            self.sink.sample(Sample {
                stack,
                shared: 0,
                calls: None,
                values: &self.values,
                labels,
            });
            return Ok(());
        }
        self.unwind(at)?;
        self.sink.sample(Sample {
            stack: &self.stack,
            shared: 0,
            calls: None,
            values: &self.values,
            labels,
        });
        Ok(())
    }

    /// Makes the stack of the sample's locations, which have the innermost first. Most of it is
    /// that of the one before.
    fn unwind(&mut self, at: Position) -> Result<(), ImportError> {
        let same = self
            .path
            .iter()
            .zip(self.ids.iter().rev())
            .take_while(|((last, _), id)| last == *id)
            .count();
        self.path.truncate(same);
        self.stack
            .truncate(self.path.last().map_or(0, |(_, frames)| *frames));
        for id in self.ids.iter().rev().skip(same) {
            let location = self
                .tables
                .locations
                .index
                .get(id)
                .and_then(|location| self.locations.get(*location));
            self.unwound += 1;
            let missing;
            let frames =
                if let Some(frames) = location.and_then(|frames| self.frames.get(frames.clone())) {
                    frames
                } else {
                    missing = [Frame::function(self.missing.function(at, id, self.sink))];
                    &missing
                };
            if self.stack.len() + frames.len() > FRAMES {
                let limit = format!("{FRAMES} frames of a stack (limit: stack depth)");
                return Err(ImportError::Limit {
                    position: at,
                    limit,
                });
            }
            self.stack.extend_from_slice(frames);
            self.path.push((*id, self.stack.len()));
        }
        // The whole stack counts, shared or not: inlined functions make as many frames of one byte
        // as a writer likes, and the sink has to take all of them.
        self.frames_used += self.stack.len() as u64;
        if is_out_of_proportion(self.frames_used, self.bytes_used) {
            let limit =
                format!("{RATIO} frames for each byte of the samples (limit: inlined functions)");
            return Err(ImportError::Limit {
                position: at,
                limit,
            });
        }
        Ok(())
    }

    /// The labels of the sample, if it has any.
    fn known_labels(&mut self, at: Position) -> Result<Option<LabelsId>, ImportError> {
        if self.labels.is_empty() {
            return Ok(None);
        }
        // Sets that differ in nothing but their order are one set, here as in the sink.
        self.labels.sort_unstable();
        if let Some(known) = self.known_labels.get(&self.labels) {
            return Ok(Some(*known));
        }
        let text = |text: u64| self.tables.texts.text(Reference { text, at });
        let mut texts = Vec::new();
        for label in &self.labels {
            texts.push([text(label.key)?, text(label.text)?, text(label.unit)?]);
        }
        let bytes = texts.iter().flatten().map(|text| text.len() as u64);
        self.labelled += bytes.sum::<u64>();
        if is_out_of_proportion(self.labelled, self.end.byte) {
            let limit = format!(
                "{RATIO} bytes of labels for each byte of the file (limit: repeated labels)"
            );
            return Err(ImportError::Limit {
                position: at,
                limit,
            });
        }
        let given = texts
            .iter()
            .zip(&self.labels)
            .map(|([key, text, unit], label)| {
                // Protobuf leaves out fields that are 0, so only the unit distinguishes a number 0
                // from an empty text.
                let is_number = label.text == 0 && (label.number != 0 || label.unit != 0);
                let value = if is_number {
                    LabelValue::Number(label.number)
                } else {
                    LabelValue::Text(text)
                };
                Label {
                    key,
                    value,
                    unit: if is_number { unit } else { "" },
                }
            });
        let given: Vec<Label<'_>> = given.collect();
        let labels = self.sink.labels(&given);
        self.known_labels.insert(self.labels.clone(), labels);
        Ok(Some(labels))
    }

    /// Says what was left out.
    fn emit_notes(self) {
        let Self { sink, tables, .. } = self;
        let (info, warning) = (Severity::Info, Severity::Warning);
        remark(
            &self.without_stack,
            sink,
            warning,
            "sample",
            "without a stack, counted as [no stack]",
        );
        for (name, pattern) in [
            ("drop_frames", tables.drop_frames),
            ("keep_frames", tables.keep_frames),
        ] {
            if pattern.text != 0 {
                let message = format!(
                    "{name} is stored as a property of the run, but not applied: pprof may show \
                                       fewer frames"
                );
                sink.note(Note {
                    severity: warning,
                    position: Some(pattern.at),
                    message: &message,
                });
            }
        }
        remark(
            &tables.more_comments,
            sink,
            info,
            "comment",
            &format!("after the first {COMMENTS} skipped"),
        );
        remark(
            &tables.unknown_fields,
            sink,
            info,
            "field",
            "with an unknown field number skipped",
        );
        remark(
            &tables.texts.missing.borrow(),
            sink,
            warning,
            "reference",
            "to strings that are not in the file, read as empty",
        );
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "costs are REAL, the builder notes what is rounded"
)]
fn real(value: i64) -> f64 {
    value as f64
}
