//! What is done with arbitrary bytes, and what must hold: shared by the blind fuzzer
//! (benches/fuzz.rs), the one that looks for coverage (fuzz/), and the replay of its corpus
//! (tests/behaviour/corpus.rs).
//!
//! No panic, no more than [`LONGEST`], no more memory than [`MEMORY`] and [`MEMORY_PER_BYTE`] times
//! the input, and what each target says of its results.

#![expect(clippy::disallowed_methods, reason = "fuzzers measure time")]

use std::cell::RefCell;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, BufRead, Write};
use std::time::{Duration, Instant};

use profdb::base::error::{ImportError, Stop};
use profdb::formats;
use profdb::formats::export::ExportError;
use profdb::formats::{EXPORTS, FORMATS, Format, Options, export};
use profdb::input::{Fingerprint, Input, Limits};
use profdb::pipeline::meta;
use profdb::profile::{Batch, Output, RunSummary};
use profdb::report::path::{self, Name, Operator};
use profdb::report::{self, Argument, Base, NameSyntax, REPORTS, ReportError, header};
use profdb::store::{Database, RunMeta, StoreError};
use profdb::text::separators::Separators;

use super::allocation;
use super::built::{built, built_into};

/// Processor time that an input may take; only fuzzers look at it.
const LONGEST: Duration = Duration::from_secs(1);
const MEMORY: usize = 64 << 20;
/// As docs/reliability.md says of all importers: 40, and 192 for each level that is open, which has at
/// least two bytes.
const MEMORY_PER_BYTE: usize = 40 + 192 / 2;

/// What is written of an export: 1 MiB.
const MOST_WRITTEN: usize = 1 << 20;

/// Something that reads bytes of strangers.
pub(crate) struct Target {
    pub(crate) name: &'static str,
    /// Reads them; says which rule was broken.
    read: fn(&[u8]) -> Result<(), String>,
    /// Makes inputs to start from out of the input of a case.
    pub(crate) seed: fn(&Format, &[u8]) -> Option<Vec<u8>>,
    /// What the first byte of an input chooses, if it chooses by place in a list: these names stand
    /// for it wherever inputs are kept, so that a new name in the middle of the list changes the
    /// meaning of none.
    chooses: Option<Choice>,
}

/// A list of names in the program, and how a byte chooses one of them.
struct Choice {
    names: fn() -> Vec<&'static str>,
    /// The byte of the first name.
    first: u8,
    /// Bits of the byte that say something else.
    flags: u8,
}

/// Where the first byte of an input chooses a format.
const FORMAT: Choice = Choice {
    names: || FORMATS.iter().map(|format| format.name).collect(),
    first: b'a',
    flags: 0,
};

/// Where it chooses a report: with names as regular expressions, and with percentages of the
/// selection.
const REPORT: Choice = Choice {
    names: || REPORTS.iter().map(|report| report.name).collect(),
    first: 0,
    flags: REGEX | OF_SELECTION,
};

const REGEX: u8 = 0x40;

const OF_SELECTION: u8 = 0x80;

impl Choice {
    /// The place that a byte chooses, and its flags.
    fn place(&self, byte: u8) -> Option<(usize, u8)> {
        Some((
            usize::from((byte & !self.flags).checked_sub(self.first)?),
            byte & self.flags,
        ))
    }

    /// The byte that chooses a name.
    fn byte(&self, name: &str, flags: u8) -> Option<u8> {
        let at = (self.names)().iter().position(|known| *known == name)?;
        let byte = u8::try_from(at).ok()?.checked_add(self.first)?;
        (byte & self.flags == 0).then_some(byte | flags)
    }
}

pub(crate) const TARGETS: &[Target] = &[
    Target {
        name: "importers",
        read: importer,
        seed: of_format,
        chooses: Some(FORMAT),
    },
    Target {
        name: "inputs",
        read: input,
        seed: |_, bytes| Some(bytes.to_vec()),
        chooses: None,
    },
    Target {
        name: "parsers",
        read: parser,
        seed: |_, bytes| Some(texts(bytes)),
        chooses: None,
    },
    Target {
        name: "questions",
        read: question,
        seed: |_, bytes| Some(of_report(bytes)),
        chooses: Some(REPORT),
    },
    Target {
        name: "exports",
        read: exports,
        seed: of_format,
        chooses: Some(FORMAT),
    },
];

impl Target {
    /// An input as a line of text, to be kept: what its first byte chooses by name, with flags
    /// after a colon, and the bytes in hexadecimal. `None` for one that chooses nothing, and does
    /// nothing.
    pub(crate) fn line(&self, bytes: &[u8]) -> Option<String> {
        let hexadecimal = |bytes: &[u8]| {
            bytes.iter().fold(String::new(), |mut text, byte| {
                let _ = write!(text, "{byte:02x}");
                text
            })
        };
        let Some(choice) = &self.chooses else {
            return Some(hexadecimal(bytes));
        };
        let (first, rest) = bytes.split_first()?;
        let (at, flags) = choice.place(*first)?;
        let name = *(choice.names)().get(at)?;
        let flags = if flags == 0 {
            String::new()
        } else {
            format!(":{flags:02x}")
        };
        Some(format!("{name}{flags} {}", hexadecimal(rest)))
    }

    /// The input of such a line. `None` for one of a format or report that there is no more.
    pub(crate) fn input(&self, line: &str) -> Option<Vec<u8>> {
        let byte = |text: &str| u8::from_str_radix(text, 16).expect("hexadecimal");
        let bytes = |text: &str| {
            let pairs = text.as_bytes().chunks(2);
            pairs
                .map(|pair| byte(str::from_utf8(pair).expect("hexadecimal")))
                .collect::<Vec<u8>>()
        };
        let Some(choice) = &self.chooses else {
            return Some(bytes(line));
        };
        let (key, rest) = line.split_once(' ').expect("what the input chooses");
        let (name, flags) = key
            .split_once(':')
            .map_or((key, 0), |(name, flags)| (name, byte(flags)));
        let first = choice.byte(name, flags)?;
        Some([&[first], bytes(rest).as_slice()].concat())
    }

    /// Reads an input; says which rule it broke. A panic is left to the caller.
    pub(crate) fn check(&self, bytes: &[u8]) -> Result<(), String> {
        let (result, most) = allocation::most(|| (self.read)(bytes));
        result?;
        if most > MEMORY + MEMORY_PER_BYTE * bytes.len() {
            return Err(format!(
                "{most} bytes of memory for {} bytes of input",
                bytes.len()
            ));
        }
        Ok(())
    }

    /// The same for fuzzers, which also look at the processor time; tests depend on no clock.
    pub(crate) fn check_in_time(&self, bytes: &[u8]) -> Result<(), String> {
        let started = Instant::now();
        self.check(bytes)?;
        if started.elapsed() > LONGEST {
            // The machine may have been busy with something else.
            let before = worked();
            (self.read)(bytes)?;
            let taken = worked().saturating_sub(before);
            if taken > LONGEST {
                return Err(format!("{taken:?}"));
            }
        }
        Ok(())
    }
}

/// How long this thread has been at work.
fn worked() -> Duration {
    let told = fs::read_to_string("/proc/thread-self/schedstat").expect("a Linux system says it");
    Duration::from_nanos(
        told.split(' ')
            .next()
            .and_then(|first| first.parse().ok())
            .expect("nanoseconds"),
    )
}

/// The first byte says which format reads the others.
fn of_format(format: &Format, bytes: &[u8]) -> Option<Vec<u8>> {
    Some([&[FORMAT.byte(format.name, 0)?], bytes].concat())
}

fn format_of(bytes: &[u8]) -> Option<(&'static Format, &[u8])> {
    let (first, rest) = bytes.split_first()?;
    Some((FORMATS.get(FORMAT.place(*first)?.0)?, rest))
}

/// An importer reads them, whatever their first bytes are, and the builder accepts what it says.
fn importer(bytes: &[u8]) -> Result<(), String> {
    let Some((format, bytes)) = format_of(bytes) else {
        return Ok(());
    };
    match built(format, bytes) {
        Ok(totals) => finite(&totals),
        // What the builder refuses of a file is fair; these words are for importers that break the
        // rules of `Sink`.
        Err(ImportError::Refused(reason)) if reason.starts_with("the importer ") => {
            Err(format!("{}: {reason}", format.name))
        }
        Err(error) => short(&error.to_string()),
    }
}

fn finite(totals: &RunSummary) -> Result<(), String> {
    let infinite = totals
        .metrics
        .iter()
        .find(|metric| !metric.total.is_finite());
    infinite.map_or(Ok(()), |metric| {
        Err(format!("the total of {} is {}", metric.name, metric.total))
    })
}

/// No message is as long as what it complains about.
fn short(message: &str) -> Result<(), String> {
    if message.len() > 1000 {
        return Err(format!("a message of {} bytes", message.len()));
    }
    Ok(())
}

/// Decompression, byte order mark, detection, lines.
fn input(bytes: &[u8]) -> Result<(), String> {
    // As the usual limits, so much smaller that inputs of a fuzzer reach them.
    let limits = Limits {
        record: 1 << 16,
        ratio: 100,
        ratio_floor: 1 << 18,
    };
    let (position, delivered) = match read_lines(bytes, limits) {
        Err(error) => return short(&error.to_string()),
        Ok(read) => read,
    };
    if position != delivered {
        return Err(format!("{delivered} bytes end at byte {position}"));
    }
    let most = (bytes.len() as u64 * limits.ratio + limits.ratio).max(limits.ratio_floor);
    if delivered > most {
        Err(format!("{} bytes grew to {delivered}", bytes.len()))
    } else {
        Ok(())
    }
}

fn read_lines(bytes: &[u8], limits: Limits) -> Result<(u64, u64), ImportError> {
    let mut input = Input::new(Box::new(bytes), limits, Stop::default())?;
    let mut delivered = input.position().byte;
    if let Err(error) = formats::detect(input.head()) {
        // It is said to the user.
        assert!(!error.to_string().is_empty());
    }
    let mut line = Vec::new();
    while input.read_line(&mut line)?.is_some() {
        delivered = input.position().byte;
    }
    let ended = matches!(input.fill_buf(), Ok([]));
    assert!(ended, "there is something after the last line");
    let position = input.position().byte;
    let fingerprint = input.finish()?;
    assert!(fingerprint.bytes <= bytes.len() as u64);
    Ok((position, delivered))
}

/// Some of the text of a file, after a byte that says what it is taken for.
fn texts(bytes: &[u8]) -> Vec<u8> {
    let start = bytes.len() / 3;
    let end = (start + 200).min(bytes.len());
    let kind = [bytes.len().to_le_bytes()[0]];
    [&kind, bytes.get(start..end).unwrap_or_default()].concat()
}

/// The same for a report.
fn of_report(bytes: &[u8]) -> Vec<u8> {
    let mut text = texts(bytes);
    let reports = u8::try_from(REPORTS.len()).expect("few reports");
    // A byte that chooses no report would be an input that does nothing, and is not kept.
    text[0] = (text[0] & REPORT.flags) | ((text[0] & !REPORT.flags) % reports);
    text
}

/// Grammars of what the user or a report says: the first byte chooses.
fn parser(bytes: &[u8]) -> Result<(), String> {
    let Some((kind, rest)) = bytes.split_first() else {
        return Ok(());
    };
    let text = String::from_utf8_lossy(rest);
    match kind % 4 {
        0 => parse_path(&text, NameSyntax::Glob),
        1 => parse_path(&text, NameSyntax::Regex),
        2 => {
            let Ok(header) = header::parse(&text) else {
                return Ok(());
            };
            let within = |part: &str| text.contains(part);
            let told = within(header.about)
                && header
                    .parameters
                    .iter()
                    .all(|parameter| within(parameter.name));
            if told {
                Ok(())
            } else {
                Err("the header says what its text does not".to_owned())
            }
        }
        _ => {
            let Ok(separators) = text.parse::<Separators>() else {
                return Ok(());
            };
            let written = [separators.decimal, char::from(separators.field)]
                .iter()
                .collect::<String>();
            if written == text {
                Ok(())
            } else {
                Err(format!("{text:?} is read as {written:?}"))
            }
        }
    }
}

/// The first line is the path, the others are the names that the run knows.
fn parse_path(text: &str, syntax: NameSyntax) -> Result<(), String> {
    let mut lines = text.split('\n');
    let line = lines.next().unwrap_or_default();
    let known: Vec<&str> = lines.collect();
    let path = match path::parse(line, syntax, &|name| known.contains(&name)) {
        Ok(path) => path,
        Err(error) if error.contains("expected a name") => return Ok(()),
        Err(error) => return Err(error),
    };
    // A path whose names are all quoted means the same.
    let mut quoted = String::new();
    for (operator, name) in std::iter::once((None, &path.first)).chain(
        path.rest
            .iter()
            .map(|(operator, name)| (Some(*operator), name)),
    ) {
        let Name::Exact(name) = name else {
            return Ok(());
        };
        quoted.push_str(match operator {
            None => "",
            Some(Operator::Within) => ",",
            Some(Operator::Direct) => ">",
        });
        let _ = write!(quoted, "'{}'", name.replace('\'', "''"));
    }
    let again = path::parse(&quoted, syntax, &|_| false)?;
    if again == path {
        Ok(())
    } else {
        Err(format!("{line:?} is {path:?}, {quoted:?} is {again:?}"))
    }
}

/// A run that knows everything that a report may need, labels among it.
const LABELLED: &[u8] = include_bytes!("../cases/pprof/labels/run.pb");

thread_local! {
    /// A run to ask about, and two databases for runs that come and go.
    static ASKED: Database = {
        let mut database = memory();
        let format = formats::format_named("pprof").expect("a format");
        let kept = built_into(format, LABELLED, Kept::default()).expect("a case imports");
        store(kept, format, &mut database).expect("room for a run");
        database
    };
    static SCRATCH: RefCell<[Option<Database>; 2]> = const { RefCell::new([None, None]) };
}

fn memory() -> Database {
    Database::in_memory().expect("room for a database")
}

/// Takes rows and keeps them.
#[derive(Default)]
struct Kept(Vec<Batch>);

impl Output for Kept {
    fn batch(&mut self, batch: &mut Batch) {
        self.0.push(std::mem::take(batch));
    }
}

/// Puts a run into a database, all in this thread: to start others takes longer than such small
/// inputs do.
fn store(
    (totals, Kept(mut batches), fingerprint): (RunSummary, Kept, Fingerprint),
    format: &'static Format,
    database: &mut Database,
) -> Result<(), StoreError> {
    let run = RunMeta {
        again: true,
        ..meta(format, &Options::default(), "input", fingerprint)
    };
    let mut writer = database.begin_run()?;
    batches
        .iter_mut()
        .try_for_each(|batch| writer.batch(batch))?;
    writer.finish(&totals, &run).map(drop)
}

/// Reports with anything for their parameters: a line each, of which the first chooses the report.
fn question(bytes: &[u8]) -> Result<(), String> {
    let Some((kind, rest)) = bytes.split_first() else {
        return Ok(());
    };
    let Some((at, flags)) = REPORT.place(*kind) else {
        return Ok(());
    };
    let Some(report) = REPORTS.get(at) else {
        return Ok(());
    };
    let text = String::from_utf8_lossy(rest);
    let header = report.header();
    let mut request = report::Request::default();
    for (line, parameter) in text.split('\n').zip(&header.parameters) {
        let value = match &parameter.kind {
            _ if line.is_empty() => continue,
            header::Parameter::Flag | header::Parameter::Variant(_) => Argument::Flag,
            header::Parameter::Count => Argument::Count(line.parse().unwrap_or(7)),
            header::Parameter::Percentage => Argument::Number(line.parse().unwrap_or(0.5)),
            _ => Argument::Text(line.to_owned()),
        };
        request.arguments.push((parameter.name.to_owned(), value));
    }
    if flags & REGEX != 0 {
        request.names = NameSyntax::Regex;
    }
    if flags & OF_SELECTION != 0 {
        request.base = Base::Selection;
    }
    ASKED.with(|database| {
        let run = database
            .run(None)
            .map_err(|error| error.to_string())?
            .ok_or("there is no run")?;
        let answered = report::ask(database, report, &run, &request).and_then(|mut answer| {
            answer.each(|_| Ok::<_, StoreError>(()))?;
            Ok(())
        });
        match answered {
            Err(ReportError::Store(error)) => Err(format!("{}: {error}", report.name)),
            _ => Ok(()),
        }
    })
}

/// What is written, as far as it is not long: a sample may count for a million, and there are
/// formats that have a line for each.
#[derive(Default)]
struct Short(Vec<u8>);

impl Write for Short {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() > MOST_WRITTEN {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Every format that the run can be written in; what its own format writes without a loss is the
/// same profile.
fn exports(bytes: &[u8]) -> Result<(), String> {
    let Some((format, bytes)) = format_of(bytes) else {
        return Ok(());
    };
    // What the builder does not accept is the other target's.
    let Ok(kept) = built_into(format, bytes, Kept::default()) else {
        return Ok(());
    };
    // Taken out while they are used: after an error or a panic, which may leave a run there, the
    // next input gets new ones.
    let [mut database, mut second] = SCRATCH
        .take()
        .map(|database| database.unwrap_or_else(memory));
    store(kept, format, &mut database).map_err(|error| error.to_string())?;
    let run = database
        .run(None)
        .map_err(|error| error.to_string())?
        .ok_or("there is no run")?;
    if run.default_metric.is_some() {
        for export in EXPORTS.iter().filter(|export| export.holds(&run.fidelity)) {
            let mut written = Short::default();
            let request = export::Request {
                max_size: Some(MOST_WRITTEN as u64),
                ..export::Request::default()
            };
            let losses = match export.write(&database, &run, &request, &mut written) {
                Ok(losses) => losses,
                // The format cannot hold such a metric, or it would be too long for a test.
                Err(
                    ExportError::Report(ReportError::Usage(_) | ReportError::NothingSelected(_))
                    | ExportError::TooLarge(_),
                ) => continue,
                Err(error) => return Err(format!("{}: {error}", export.name)),
            };
            let Some(reader) = formats::format_named(export.name) else {
                continue;
            };
            let kept = match built_into(reader, &written.0, Kept::default()) {
                Ok(kept) => kept,
                // A run without costs is an empty file there.
                Err(_) if written.0.is_empty() => continue,
                Err(error) => return Err(format!("{} as written: {error}", export.name)),
            };
            if export.name == format.name && losses.each().next().is_none() {
                store(kept, reader, &mut second).map_err(|error| error.to_string())?;
                let same = tables(&database) == tables(&second);
                clear(&mut second)?;
                if !same {
                    return Err(format!("{} comes back as another profile", export.name));
                }
            }
        }
    }
    clear(&mut database)?;
    SCRATCH.set([Some(database), Some(second)]);
    Ok(())
}

fn clear(database: &mut Database) -> Result<(), String> {
    let run = database
        .run(None)
        .map_err(|error| error.to_string())?
        .ok_or("there is no run")?;
    database
        .delete_run(run.run_id)
        .map_err(|error| error.to_string())
}

/// What a tree is made of, with names for numbers.
fn tables(database: &Database) -> Vec<String> {
    const TABLES: [&str; 3] = [
        "SELECT name, unit, position, total FROM metrics ORDER BY metric_id",
        "SELECT n.up, n.size, n.outer_up, n.depth, f.kind, f.name, f.file, n.file, n.line, n.col, n.calls, n.exclusive,
                n.cumulative
         FROM nodes AS n JOIN functions AS f ON f.function_id = n.function_id ORDER BY n.node_id",
        "SELECT m.name, f.kind, f.name, f.file, i.calls, i.exclusive, i.cumulative, i.seen
         FROM function_info AS i
         JOIN metrics AS m ON m.metric_id = i.metric_id
         JOIN functions AS f ON f.function_id = i.function_id
         ORDER BY m.metric_id, f.name, f.file, f.kind, f.module, f.first_line, f.first_col",
    ];
    let mut rows = Vec::new();
    for sql in TABLES {
        let answer = report::query(database, sql);
        let told = answer
            .map_err(|error| error.to_string())
            .and_then(|mut answer| {
                let each = answer.each(|row| {
                    rows.push(format!("{row:?}"));
                    Ok::<_, StoreError>(())
                });
                each.map_err(|error| error.to_string())
            });
        if let Err(error) = told {
            rows.push(error);
        }
    }
    rows
}
