//! Dyalog APL `]PROFILE` reports saved as XML
//!
//! # What it is
//! Output of the user command `]PROFILE` of Dyalog APL with `-outfile=FILE` (its default `-format=xml`). It has calls and time of
//! every function and every line, as a call tree (`tree`) or as sums (`data`). Default metric: `time`. Files of version 0.9.0
//! also have `ticks`, the number of timer reads.
//!
//! # How to record one
//! ```text
//! ⎕PROFILE 'start' ⋄ Main ⋄ ⎕PROFILE 'stop'
//! ]PROFILE tree -outfile=/tmp/run.xml
//! ```
//! `profdb import --source DIR` stores the source of functions. It reads files with the extensions `.aplf`, `.aplo`, `.apln`, `.aplc`,
//! `.apli` and `.dyalog` below DIR. A file holds one function or a script, and directories are namespaces: `Shop/Price.aplf` is
//! `#.Shop.Price`.
//!
//! # What we read
//! - `tree` and `data` files of the versions 0.9.0 and 1.37: name in `Function` or `Element`, `¯` for minus, E notation,
//!   functions with an empty line or line `¯1`, lines from 0, several roots, functions without lines.
//! - Inclusive and exclusive times, whose labels version 0.9.0 swaps. The ticks decide which is which, else the version, else
//!   the rule that a caller includes its callees. A note states the decision, or that there is none.
//! - Empty figures as unknown. profdb writes them for runs of other profilers: calls, and inclusive costs of lines.
//! - Times of trees as they are (0.9.0 has corrected them for the cost of the timer, 1.37 has not). Raw times of a `data` file
//!   with ticks are corrected with the file's own `TimerBias`. `runs.bias_applied` is the correction.
//! - `Version`, `TotalTime` and `SelectedTime`, as run properties. `TotalTime` of a tree is not the time of the run: the total
//!   is that of the roots.
//!
//! # What we leave out
//! - `summary` and `calls` files are refused: a profile cannot be made from their sums.
//! - Unknown attributes and elements: a note names each of them once.
//! - Document types and entities other than XML's own five are refused.
//!
//! # References
//! - "Tuning Applications Using the ]PROFILE User Command", Dyalog Limited, version 14.0, appendix A (tool version 0.9.0).
//! - Dyalog's application tuning guide, "Data storage" (tool version 1.37); language reference, system function `⎕PROFILE`.

use quick_xml::Reader;
use quick_xml::events::Event;

use super::elements::{ROOT, Tag, Xml};
use super::entry::PlainEntries;
use crate::base::error::{ImportError, Position};
use crate::events::{RunFact, Sink};
use crate::formats::dyalog::apl_numbers::{count, depth, known, line_number, nanoseconds};
use crate::formats::dyalog::row::{Layout, Pair, Row};
use crate::formats::dyalog::rows::{Bias, Rows, refuse_report};
use crate::formats::format::{Confidence, Format};
use crate::formats::options::{KEEP_BEFORE_ERROR_OPTION, Options};
use crate::formats::salvage::Salvage;
use crate::input::Input;
use crate::text::dyalog_files::corrects_trees;

/// The format of the page above: how it is recognised and read.
pub(in crate::formats) const FORMAT: Format = Format {
    name: "dyalog_xml",
    summary: "Dyalog APL ]PROFILE tree and data reports, XML",
    revision: 2,
    sniff,
    has_empty_recordings: true,
    salvage: Salvage::Xml,
    options: &[KEEP_BEFORE_ERROR_OPTION],
    import,
};

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
        return if is_root {
            Confidence::Yes
        } else {
            Confidence::No
        };
    }
}

fn is_open_root(tag: &[u8]) -> bool {
    let behind = tag
        .strip_prefix(b"<")
        .and_then(|tag| tag.strip_prefix(ROOT.as_bytes()));
    behind
        .and_then(|behind| behind.first())
        .is_some_and(u8::is_ascii_whitespace)
}

fn import(
    input: &mut Input<'_>,
    _options: &Options,
    sink: &mut dyn Sink,
) -> Result<(), ImportError> {
    let mut xml = Xml::new(input);
    xml.root(sink)?;
    let mut settings = None;
    let mut entry = Entry::default();
    // The first entry says which columns there are.
    let found = loop {
        match xml.child(sink)? {
            None => break false,
            Some(Tag::Settings) if settings.is_none() => {
                settings = Some(read_settings(&mut xml, sink)?);
            }
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
        // The XML reader does not notice: it is after an end tag before and afterwards.
        plain.read(xml.reader.get_mut(), &mut rows)?;
        next_entry(&mut xml, &mut entry, rows.sink())?;
    }
    let end = xml.end_of_file()?;
    rows.sink().at(xml.reader.get_ref().record_start());
    rows.finish(end, settings.bias())
}

/// Reads the next entry, or the end of the root.
fn next_entry(
    xml: &mut Xml<'_, '_>,
    entry: &mut Entry,
    sink: &mut dyn Sink,
) -> Result<(), ImportError> {
    loop {
        match xml.child(sink)? {
            None => return Ok(()),
            Some(Tag::Entry) => return entry.read(xml, sink),
            Some(Tag::Settings) => {
                let expected = "<ProfileSettings> before the first <ProfileEntry>";
                return Err(ImportError::malformed(xml.position, expected, "it later"));
            }
            Some(tag) => xml.skip(tag, sink)?,
        }
    }
}

/// Which columns the file has, by its settings and its first entry.
fn layout(settings: &Settings, first: Option<&Entry>) -> Result<Layout, ImportError> {
    let command = settings.command();
    let Some(first) = first else {
        let depth = command != Some("data");
        return Ok(Layout {
            depth,
            calls: true,
            ticks: false,
            exclusive_first: true,
            stated: None,
        });
    };
    if first.is_report {
        return Err(refuse_report("summary or calls"));
    }
    let depth = command.map_or(first.depth.is_some(), |command| command == "tree");
    let ticks = first.inclusive_ticks.is_some() || first.exclusive_ticks.is_some();
    let exclusive_first = first.exclusive_first;
    let stated = settings
        .version
        .as_deref()
        .and_then(|version| Layout::headings_of(version, exclusive_first));
    Ok(Layout {
        depth,
        calls: first.calls.is_some(),
        ticks,
        exclusive_first,
        stated,
    })
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
        self.command
            .as_deref()
            .and_then(|command| command.split_whitespace().next())
    }

    fn check(&self) -> Result<(), ImportError> {
        match self.command() {
            None | Some("tree" | "data") => Ok(()),
            Some(report) => Err(refuse_report(report)),
        }
    }

    fn bias(&self) -> Bias {
        let trees_corrected = self.version.as_deref().is_some_and(corrects_trees);
        Bias {
            timer: self.timer_bias,
            trees_corrected,
        }
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
    let shape = title
        .bytes()
        .map(|byte| if byte.is_ascii_digit() { b'9' } else { byte });
    shape.eq(b"9999/99/99 99:99:99".iter().copied())
}

fn read_settings(xml: &mut Xml<'_, '_>, sink: &mut dyn Sink) -> Result<Settings, ImportError> {
    let mut settings = Settings::default();
    while let Some(tag) = xml.child(sink)? {
        let position = xml.position;
        let taken = match tag {
            Tag::Version => settings
                .version
                .replace(xml.text(tag)?.to_owned())
                .is_some(),
            Tag::Command => settings
                .command
                .replace(xml.text(tag)?.to_owned())
                .is_some(),
            Tag::Title => settings.title.replace(xml.text(tag)?.to_owned()).is_some(),
            Tag::Unit => {
                // Only our own files have it.
                xml.value(tag, "msec, the unit of profiles,", |unit| {
                    (unit == b"msec").then_some(())
                })?;
                false
            }
            Tag::TimerBias => settings
                .timer_bias
                .replace(xml.value(tag, "milliseconds", nanoseconds)?)
                .is_some(),
            Tag::TotalTime | Tag::SelectedTime => {
                let taken = settings
                    .others
                    .iter()
                    .any(|(known, _)| *known == tag.name());
                settings
                    .others
                    .push((tag.name(), xml.text(tag)?.to_owned()));
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

/// One `ProfileEntry`; figures by their headings. Used again for the next entry.
#[derive(Default)]
struct Entry {
    start: Option<Position>,
    end: Option<Position>,
    depth: Option<u32>,
    name: String,
    line: Option<Option<u32>>,
    calls: Option<Option<u64>>,
    inclusive: Option<Option<f64>>,
    exclusive: Option<Option<f64>>,
    inclusive_ticks: Option<u64>,
    exclusive_ticks: Option<u64>,
    exclusive_first: bool,
    /// It has a column that only reports have.
    is_report: bool,
}

impl Entry {
    /// Reads an entry whose start tag has just been read.
    fn read(&mut self, xml: &mut Xml<'_, '_>, sink: &mut dyn Sink) -> Result<(), ImportError> {
        // The room of the last name is used again; everything else begins anew.
        let mut name = std::mem::take(&mut self.name);
        name.clear();
        *self = Self {
            start: Some(xml.position),
            name,
            ..Self::default()
        };
        while let Some(tag) = xml.child(sink)? {
            let position = xml.position;
            let taken = match tag {
                Tag::Depth => self
                    .depth
                    .replace(xml.value(tag, "a depth", depth)?)
                    .is_some(),
                Tag::Line => self
                    .line
                    .replace(xml.value(tag, "a line number, nothing or ¯1", line_number)?)
                    .is_some(),
                Tag::Calls => self
                    .calls
                    .replace(xml.value(tag, "a count", |text| known(text, count))?)
                    .is_some(),
                Tag::InclusiveTime => {
                    let time = xml.value(tag, "milliseconds", |text| known(text, nanoseconds))?;
                    self.inclusive.replace(time).is_some()
                }
                Tag::ExclusiveTime => {
                    self.exclusive_first = self.inclusive.is_none();
                    let time = xml.value(tag, "milliseconds", |text| known(text, nanoseconds))?;
                    self.exclusive.replace(time).is_some()
                }
                Tag::InclusiveTicks => self
                    .inclusive_ticks
                    .replace(xml.value(tag, "a count", count)?)
                    .is_some(),
                Tag::ExclusiveTicks => self
                    .exclusive_ticks
                    .replace(xml.value(tag, "a count", count)?)
                    .is_some(),
                Tag::Function | Tag::Element => {
                    let text = xml.text(tag)?;
                    if text.is_empty() {
                        return Err(ImportError::malformed(
                            position,
                            format!("a name in <{}>", tag.name()),
                            "nothing",
                        ));
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

    /// The row of the entry, if it has what the layout asks for.
    fn row(&self, layout: Layout) -> Result<Row<'_>, ImportError> {
        const NOWHERE: Position = Position {
            byte: 0,
            line: None,
        };
        let start = self.start.unwrap_or(NOWHERE);
        let missing = |tag: Tag| {
            let expected = format!("<{}> in <ProfileEntry>", tag.name());
            ImportError::malformed(self.end.unwrap_or(start), expected, "its end")
        };
        let unlike_the_first = |tag: Tag| {
            let expected = format!(
                "the elements of the first <ProfileEntry>, without <{}>",
                tag.name()
            );
            ImportError::malformed(start, expected, "it")
        };
        let depth = match (layout.depth, self.depth) {
            (true, None) => return Err(missing(Tag::Depth)),
            (false, Some(_)) => {
                return Err(ImportError::malformed(
                    start,
                    "a row without <Depth>, like the first row",
                    "a row with <Depth>",
                ));
            }
            (_, depth) => depth,
        };
        let ticks = match (layout.ticks, self.inclusive_ticks, self.exclusive_ticks) {
            (true, Some(inclusive), Some(exclusive)) => Some(Pair {
                inclusive,
                exclusive,
            }),
            (true, None, _) => return Err(missing(Tag::InclusiveTicks)),
            (true, _, None) => return Err(missing(Tag::ExclusiveTicks)),
            (false, None, None) => None,
            (false, Some(_), _) => return Err(unlike_the_first(Tag::InclusiveTicks)),
            (false, ..) => return Err(unlike_the_first(Tag::ExclusiveTicks)),
        };
        if self.name.is_empty() {
            return Err(missing(Tag::Function));
        }
        let calls = match (layout.calls, self.calls) {
            (true, None) => return Err(missing(Tag::Calls)),
            (false, Some(_)) => return Err(unlike_the_first(Tag::Calls)),
            (_, calls) => calls.flatten(),
        };
        Ok(Row {
            position: start,
            depth,
            name: &self.name,
            line: self.line.ok_or_else(|| missing(Tag::Line))?,
            calls,
            time: Pair {
                inclusive: self.inclusive.ok_or_else(|| missing(Tag::InclusiveTime))?,
                exclusive: self.exclusive.ok_or_else(|| missing(Tag::ExclusiveTime))?,
            },
            ticks,
        })
    }
}

fn twice(position: Position, tag: Tag) -> ImportError {
    ImportError::malformed(position, format!("one <{}>", tag.name()), "a second one")
}
