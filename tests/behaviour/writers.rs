//! What writers cost, and how large their files may become.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};

use profdb::base::error::Stop;
use profdb::formats;
use profdb::formats::export::{Export, ExportError, LARGE_OUTPUT, Output, Request};
use profdb::formats::{EXPORTS, Options};
use profdb::input::{Input, Limits};
use profdb::pipeline::{import, meta};
use profdb::report::render::{Format, Layout, render};
use profdb::report::{self, ReportError};
use profdb::store::{Database, RunInfo};

use crate::support::allocation;

/// A run of a file.
fn run(format: &str, text: &str) -> (Database, RunInfo) {
    run_of(format, text.as_bytes().to_vec())
}

/// A run of a file that is no text.
fn run_of(format: &str, bytes: Vec<u8>) -> (Database, RunInfo) {
    let format = formats::format_named(format).expect("a format");
    let options = Options::default();
    let input = Input::new(
        Box::new(io::Cursor::new(bytes)),
        Limits::default(),
        Stop::default(),
    )
    .expect("an input");
    let describe = |fingerprint| meta(format, &options, "profile", fingerprint);
    let database = import(
        input,
        format,
        &options,
        &Stop::default(),
        describe,
        Database::in_memory,
    );
    let database = database.expect("a profile").database;
    let run = database.run(None).expect("a database").expect("a run");
    (database, run)
}

/// Counts bytes and pieces.
#[derive(Default)]
struct Counter {
    bytes: usize,
    pieces: usize,
}

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes += bytes.len();
        self.pieces += 1;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Files of any size: what is particular about them, their format, and how they look.
type Shape = (&'static str, &'static str, fn(usize) -> String);

fn lines(size: usize, line: impl Fn(usize) -> String) -> String {
    let lines: Vec<String> = (0..size).map(line).collect();
    lines.concat()
}

fn deep(size: usize) -> String {
    lines(size, |at| format!("f{at};")) + "leaf 7\n"
}

fn wide(size: usize) -> String {
    lines(size, |at| format!("root;f{at} 3\n"))
}

fn repeated(size: usize) -> String {
    lines(size, |at| format!("root;a{};b;a{} 2\n", at % 7, at % 5))
}

/// A name of some kilobytes, called by many.
fn long(size: usize) -> String {
    let name = "n".repeat(4000);
    lines(size / 8, |at| format!("f{at};{name};g{at} 1\n"))
}

fn threads(size: usize) -> String {
    let events: Vec<String> = (0..size)
        .map(|at| format!(r#"{{"ph":"X","name":"f","ts":{at},"dur":2,"pid":1,"tid":{at}}}"#))
        .collect();
    format!(r#"{{"traceEvents":[{}]}}"#, events.join(","))
}

fn processes(size: usize) -> String {
    threads(size).replace(r#""pid":1,"tid":"#, r#""tid":1,"pid":"#)
}

fn metrics(size: usize) -> String {
    let mut text = "# callgrind format\nevents: a b c d e f g h\n".to_owned();
    for at in 0..size {
        let _ = write!(
            text,
            "fn=f{at}\n1 1 2 3 4 5 6 7 8\ncfn=f{}\ncalls=1 1\n1 1 1 1 1 1 1 1 1\n",
            at / 2
        );
    }
    text
}

const SHAPES: [Shape; 7] = [
    ("deep", "folded", deep),
    ("wide", "folded", wide),
    ("repeated", "folded", repeated),
    ("long", "folded", long),
    ("threads", "chrome_trace", threads),
    ("processes", "chrome_trace", processes),
    ("metrics", "callgrind", metrics),
];

/// What it costs to write a run: bytes, pieces, and memory that was asked for. `None` if the format
/// cannot hold it.
fn cost(export: &'static Export, (database, run): &(Database, RunInfo)) -> Option<[usize; 3]> {
    let mut out = Counter::default();
    let (written, taken) =
        allocation::taken(|| export.write(database, run, &Request::default(), &mut out));
    match written {
        Ok(_) => Some([out.bytes, out.pieces, taken]),
        Err(ExportError::Report(ReportError::NothingSelected(_))) => None,
        Err(error) => panic!("{}: {error}", export.name),
    }
}

/// Four times the run is four times the work, or as many times as the file is longer.
#[test]
fn writers_cost_what_they_write() {
    const SIZE: usize = 1000;
    let mut tried = 0;
    for (shape, format, text) in SHAPES {
        let runs = [SIZE, 4 * SIZE].map(|size| run(format, &text(size)));
        for export in EXPORTS {
            let [Some(one), Some(four)] = [0, 1].map(|at| cost(export, &runs[at])) else {
                continue;
            };
            tried += 1;
            let growth = (four[0] * 10 / one[0].max(1)).max(40);
            for (what, (one, four)) in ["bytes", "pieces", "memory"]
                .iter()
                .zip(one.into_iter().zip(four))
            {
                // Tables that grow double their size: a part of it may come sooner or later.
                let most = one * growth * 16 / 100 + 100_000;
                assert!(
                    four <= most,
                    "{}, {}: {what} {one}, then {four}",
                    export.name,
                    shape
                );
            }
        }
    }
    assert!(tried > 50, "{tried} tried");
}

/// A cost of its own on every level: stacks then name a million frames in all.
#[test]
fn a_frame_that_stays_is_not_looked_at_again() {
    let nested = |size: usize| {
        let events = (0..2 * size).map(|at| {
            let end = at >= size;
            format!(
                r#"{{"ph":"{}","name":"f{}","ts":{at},"pid":1,"tid":1}}"#,
                if end { "E" } else { "B" },
                at % 50
            )
        });
        format!(
            r#"{{"traceEvents":[{}]}}"#,
            events.collect::<Vec<_>>().join(",")
        )
    };
    let runs = [500, 2000].map(|size| run("chrome_trace", &nested(size)));
    for export in EXPORTS {
        let measured = [0, 1].map(|at| {
            let (database, run): &(Database, RunInfo) = &runs[at];
            let mut out = Counter::default();
            export
                .write(database, run, &Request::default(), &mut out)
                .ok()
                .map(|_| out)
        });
        let [Some(one), Some(four)] = measured else {
            continue;
        };
        assert!(
            four.pieces <= 5 * one.pieces + 1000,
            "{}: {} pieces, then {}",
            export.name,
            one.pieces,
            four.pieces
        );
    }
}

#[test]
fn every_writer_has_a_bound_of_that_name() {
    let (database, run) = run("chrome_trace", &threads(3));
    let (counted, counted_run) = self::run("folded", "a;b;c 3\n");
    let mut tried = 0;
    for export in EXPORTS {
        for (database, run) in [(&database, &run), (&counted, &counted_run)] {
            let write = |most| {
                let mut out = Vec::new();
                let request = Request {
                    max_size: Some(most),
                    output: Output::Draft,
                    ..Request::default()
                };
                // A draft has the bytes of a stream, and no more than there may be.
                let mut draft = Vec::new();
                let drafted = export.write(database, run, &request, &mut draft);
                let request = Request {
                    output: Output::Stream,
                    ..request
                };
                if drafted.is_ok() {
                    let mut stream = Vec::new();
                    export
                        .write(database, run, &request, &mut stream)
                        .expect("a draft is no larger than a stream");
                    assert!(draft == stream, "{}", export.name);
                } else {
                    // What is packed may be larger than what it is made of.
                    let is_packed = export.name == "pprof";
                    assert!(is_packed || draft.len() as u64 <= most, "{}", export.name);
                }
                export
                    .write(database, run, &request, &mut out)
                    .map(|_| out.len())
            };
            let Ok(whole) = write(u64::MAX) else { continue };
            tried += 1;
            // What is packed is counted before.
            if export.name != "pprof" {
                assert_eq!(
                    write(whole as u64).expect("as many as there are"),
                    whole,
                    "{}",
                    export.name
                );
            }
            let mut out = Vec::new();
            let request = Request {
                max_size: Some(whole as u64 / 2),
                ..Request::default()
            };
            let refused = export
                .write(database, run, &request, &mut out)
                .expect_err("too many")
                .to_string();
            let of_draft = Request {
                output: Output::Draft,
                ..request
            };
            let refused_draft = export
                .write(database, run, &of_draft, &mut Vec::new())
                .expect_err("too many");
            assert_eq!(refused_draft.to_string(), refused, "{}", export.name);
            assert!(
                refused.contains("(limit: size of the output)"),
                "{}: {refused}",
                export.name
            );
            assert!(
                refused.contains(&format!("at most {} bytes", whole / 2)),
                "{}: {refused}",
                export.name
            );
            assert!(
                export.name == "pprof" || out.is_empty(),
                "{}: {} bytes",
                export.name,
                out.len()
            );
        }
    }
    assert!(tried >= EXPORTS.len(), "{tried} tried");
}

/// The records of the layout, in their order: types, numbers with the highest byte first, marks, the
/// time after the line that took it.
#[test]
fn logs_of_business_rules_come_back_byte_for_byte() {
    let export = formats::export_named("business_rules").expect("a format");
    let plain = b"\x01\0\x01\0\x04a.br\
        \x03\0\x01\0\0\x01\x2c\x01\x07\x03FNB\x04\0\0\0\0\0\0\0\x07\
        \x05\0\x01\0\0\0\xc8\x01\x07\x03FNA\x05\0\x01\0\0\0\x64\x01\x09\x06";
    // Two files, a subroutine, an unknown routine, and two equal samples.
    let sampled = b"\x01\0\x01\0\x01a\x03\0\x01\0\0\0\x0a\0\x08\x06\
        \x03\0\x01\0\0\0\x0a\0\x08\x06\x01\0\x02\0\x01b\x03\0\x02\0\0\0\x14\x02\x06";
    // Half of 9 ns is none: one of the two blocks has more.
    let uneven = b"\x01\0\x01\0\x01a\x03\0\x01\0\0\0\x0a\x01\x09\x04\0\0\0\0\0\0\0\x05\x06\
        \x03\0\x01\0\0\0\x0a\x01\x09\x04\0\0\0\0\0\0\0\x04\x06";
    for log in [plain.as_slice(), sampled, uneven] {
        let (database, run) = run_of(export.name, log.to_vec());
        let mut out = Vec::new();
        let losses = export.write(&database, &run, &Request::default(), &mut out);
        assert_eq!(out, log, "{}", String::from_utf8_lossy(&out));
        assert_eq!(losses.expect("a log").each().count(), 0);
    }
}

/// 186 million samples are five gigabytes; nothing of them is written.
#[test]
fn what_is_too_large_is_not_begun_and_what_is_large_is_told() {
    static TOLD: AtomicU64 = AtomicU64::new(0);
    let sampler = profdb::formats::export_named("sampler").expect("a format");
    let told = |bytes| TOLD.store(bytes, Ordering::Relaxed);
    for (samples, fits) in [
        (1000, true),
        (30_000_000, true),
        (60_000_000, true),
        (186_000_000, false),
        (u64::MAX, false),
    ] {
        TOLD.store(0, Ordering::Relaxed);
        let (database, run) = run("folded", &format!("a;b {samples}\n"));
        let mut out = Counter::default();
        let request = Request {
            tell: Some(told),
            ..Request::default()
        };
        let written = sampler.write(&database, &run, &request, &mut out);
        assert_eq!(written.is_ok(), fits, "{samples}");
        assert!(fits || out.bytes == 0, "{samples}: {} bytes", out.bytes);
        let expected = if out.bytes as u64 > LARGE_OUTPUT {
            out.bytes as u64
        } else {
            0
        };
        assert_eq!(TOLD.load(Ordering::Relaxed), expected, "{samples}");
        // A draft is told of when all of it is there.
        TOLD.store(0, Ordering::Relaxed);
        let mut draft = Counter::default();
        let request = Request {
            output: Output::Draft,
            ..request
        };
        let written = sampler.write(&database, &run, &request, &mut draft);
        assert_eq!(written.is_ok(), fits, "{samples}");
        assert!(!fits || draft.bytes == out.bytes, "{samples}");
        assert_eq!(TOLD.load(Ordering::Relaxed), expected, "{samples}");
    }
}

/// A name of a megabyte in many rows: what a report holds grows with the name, not with the name
/// times the rows.
#[test]
fn long_names_are_not_kept_for_every_row() {
    const NAME: usize = 1 << 20;
    const ROWS: usize = 200;
    let frames: Vec<String> = (0..ROWS)
        .map(|at| format!(r#"{{"name":"f{at}"}}"#))
        .collect();
    let samples: Vec<String> = (1..ROWS).map(|at| format!("[0,{at}]")).collect();
    let weights = vec!["3"; samples.len()].join(",");
    let text = format!(
        r#"{{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{{"frames":[{}]}},"profiles":[{{
        "type":"sampled","name":"p","unit":"none","startValue":0,"endValue":1,"samples":[{}],"weights":[{weights}]}}]}}"#,
        frames.join(",").replacen("f0", &"n".repeat(NAME), 1),
        samples.join(",")
    );
    let (database, run) = run("speedscope", &text);
    for report in [
        "summary",
        "tree",
        "bottom_up",
        "paths",
        "exclusive",
        "cumulative",
        "data",
    ] {
        for format in [Format::Text, Format::Csv, Format::Json, Format::Markdown] {
            let report = report::by_name(report).expect("a report");
            let layout = Layout {
                format,
                ..Layout::default()
            };
            let ((), most) = allocation::most(|| {
                let request = report::Request {
                    arguments: vec![],
                    ..report::Request::default()
                };
                let mut answer = report::ask(&database, report, &run, &request).expect("an answer");
                render(&mut answer, &layout, &mut Counter::default())
                    .expect("an output that takes everything");
            });
            assert!(
                most < 40 * NAME,
                "{} as {format:?}: {most} bytes",
                report.name
            );
        }
    }
}
