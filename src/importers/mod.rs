//! The formats: one file each, one line each in [`FORMATS`].
//!
//! An importer knows [`Input`] and [`Sink`] and nothing else: no SQL, no files, no clock, no screen. Bytes come from
//! strangers, so it never panics and never trusts a length.
//!
//! # Other profilers
//! Many profilers have no format here, because they write one of those above, or another program does it for them. Where there
//! is a choice, the table names what tells most. Recordings of `@datadog/pprof` 5.20, Bun 1.4, Deno 2.9, gperftools 2.10,
//! heaptrack 1.4, pprof-rs 0.15, pyinstrument 5.1, ruby-prof 1.4, stackprof 0.2.21, tracing-chrome 0.7, uftrace 0.13, viztracer 1.1
//! and yappi 1.7 were compared with what these programs print, or with sums over the file, those of Excimer 1.0, jemalloc 5.3,
//! `LuaJIT` 2.1, NYTProf 6.12, pprofile 2.2, tracing-flame 0.2 and valgrind 3.19 only read; of the others, what their documentation
//! says they write is what is read.
//!
//! | profiler | what to run | format |
//! | --- | --- | --- |
//! | async-profiler (Java) | `asprof -o collapsed -f run.folded PID`; of a JFR file `jfrconv run.jfr run.pb.gz` | `folded`, `pprof` |
//! | `dtrace` | `stackcollapse.pl` or `inferno-collapse-dtrace` on its output | `folded` |
//! | bpftrace | `stackcollapse-bpftrace.pl` on its output | `folded` |
//! | Bun, Deno | `bun --cpu-prof app.js`, `deno run --cpu-prof app.js` | `cpuprofile` |
//! | `@datadog/pprof` (Node.js) | `encode` of what `time.stop` and `heap.profile` return | `pprof` |
//! | dotnet-trace (.NET) | `dotnet-trace collect --format Speedscope` | `speedscope` |
//! | Excimer (PHP) | `ExcimerLog::formatCollapsed` | `folded` |
//! | GHC's eventlog | `hs-speedscope run.eventlog` | `speedscope` |
//! | gperftools (C++) | `pprof --collapsed PROGRAM cpu.prof > run.folded`; `--callgrind` has lines, but no paths | `folded`, `callgrind` |
//! | heaptrack (C++) | `heaptrack_print -f run.zst -F run.folded`: allocations; `--flamegraph-cost-type peak`: bytes | `folded` |
//! | jemalloc | `jeprof --collapsed PROGRAM jeprof.1.0.f.heap > run.folded` | `folded` |
//! | Julia's Profile | `pprof(web=false)` of PProf.jl | `pprof` |
//! | `LuaJIT` | `luajit -jp=G,run.folded app.lua` | `folded` |
//! | NYTProf (Perl) | `nytprofcalls nytprof.out > run.folded`; `nytprofcg` has calls and lines, but no paths | `folded`, `callgrind` |
//! | Perfetto | `traceconv json trace.pftrace run.json`; of stack samples `traceconv profile --perf` | `chrome_trace`, `pprof` |
//! | pprof-rs (Rust) | its feature for protobuf | `pprof` |
//! | pprofile (Python) | `pprofile -f callgrind -o run.callgrind app.py` | `callgrind` |
//! | pyinstrument (Python) | `pyinstrument -r speedscope -o run.json app.py`; `-r pstats` has no paths | `speedscope`, `pstats` |
//! | R | `profile::write_pprof(profile::read_rprof("Rprof.out"), "run.pb.gz")` | `pprof` |
//! | rbspy (Ruby) | `rbspy record --format speedscope --file run.json` | `speedscope` |
//! | ruby-prof (Ruby) | `RubyProf::CallTreePrinter` | `callgrind` |
//! | rustc's own (`-Z self-profile`) | `crox run.mm_profdata` | `chrome_trace` |
//! | samply | `samply record --save-only -o run.json.gz`, names as said [there](#firefox) | `firefox` |
//! | stackprof (Ruby) | `stackprof --stackcollapse run.dump`; `--callgrind` has no paths, nor own costs of functions in C | `folded`, `callgrind` |
//! | tracing (Rust) | the crates tracing-chrome, tracing-flame | `chrome_trace`, `folded` |
//! | uftrace (C, C++) | `uftrace record --no-sched PROGRAM`, then `uftrace dump --chrome > run.json` | `chrome_trace` |
//! | valgrind, memory | `valgrind --xtree-memory=full --xtree-memory-file=run.kcg PROGRAM` | `callgrind` |
//! | `VizTracer` (Python) | `viztracer -o run.json app.py` | `chrome_trace` |
//! | yappi (Python) | `stats.save('run.pstat', type='pstat')` or `type='callgrind'` | `pstats`, `callgrind` |
//!
//! Not read in any way: JFR files as they are, Perfetto's protobuf, traces of Tracy and of Apple's Instruments, memray's files,
//! profiles of `XHProf`. Where a file can be told for one of those that are not read (a recording of perf, a report, a picture),
//! the message says what it is, and what to do instead.

#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap
)]

pub mod austin;
pub mod business_rules;
pub mod callgrind;
pub mod chrome_trace;
mod common;
pub mod cpuprofile;
pub mod dyalog_csv;
pub mod dyalog_xml;
pub mod firefox;
pub mod folded;
pub mod ghc_json;
pub mod ghc_prof;
pub mod ghc_px;
pub mod gprof;
pub mod heapprofile;
pub mod lispworks_tree;
pub mod perf_script;
pub mod pprof;
pub mod pstats;
pub mod sampler;
pub mod speedscope;

use common::foreign;

use crate::base::error::{ImportError, quote};
use crate::events::Sink;
use crate::input::Input;
pub use crate::options::{OptionDef, Options, Takes};

/// All formats, in the order in which they are listed. The order does not matter for recognising a
/// file.
pub const FORMATS: &[&Format] = &[
    &dyalog_xml::FORMAT,
    &dyalog_csv::FORMAT,
    &lispworks_tree::FORMAT,
    &sampler::FORMAT,
    &business_rules::FORMAT,
    &ghc_px::FORMAT,
    &ghc_prof::FORMAT,
    &ghc_json::FORMAT,
    &pprof::FORMAT,
    &callgrind::FORMAT,
    &folded::FORMAT,
    &austin::FORMAT,
    &perf_script::FORMAT,
    &cpuprofile::FORMAT,
    &heapprofile::FORMAT,
    &speedscope::FORMAT,
    &chrome_trace::FORMAT,
    &firefox::FORMAT,
    &pstats::FORMAT,
    &gprof::FORMAT,
];

/// A file format that can be imported.
#[derive(Debug)]
pub struct Format {
    /// Its name in the database and on the command line, and that of its file and case folder.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Raised when the same file gives other rows than before, so that it may be imported once
    /// more.
    pub revision: u32,
    /// Looks at the first bytes (at most [`crate::input::HEAD`], decompressed, without a byte order
    /// mark).
    pub sniff: fn(head: &[u8]) -> Confidence,
    /// What the user may say about a file that the file does not say itself.
    pub options: &'static [OptionDef],
    /// Reads the input to its end and says what it holds.
    pub import: fn(
        input: &mut Input<'_>,
        options: &Options,
        sink: &mut dyn Sink,
    ) -> Result<(), ImportError>,
}

impl Format {
    /// Runs the importer, if it has all the options that are given.
    ///
    /// # Errors
    /// The importer's, and an option that the format does not have.
    pub fn read(
        &self,
        input: &mut Input<'_>,
        options: &Options,
        sink: &mut dyn Sink,
    ) -> Result<(), ImportError> {
        let foreign = options.foreign(self.options);
        if let Some(name) = foreign {
            return Err(ImportError::Refused(format!(
                "--{name} is no option of the format {}",
                self.name
            )));
        }
        (self.import)(input, options, sink)
    }
}

/// How sure a format is that a file is one of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// It is not.
    No,
    /// The first record is plausible.
    Maybe,
    /// A magic number or a root element says so.
    Yes,
}

/// Finds a format by its name.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name).copied()
}

/// Recognises a file by its first bytes, never by its name: the one format that says Yes, else the
/// one that says Maybe, unless it is known to be something else.
///
/// # Errors
/// When no format recognises the file, or several do equally well.
pub fn detect(head: &[u8]) -> Result<&'static Format, ImportError> {
    for wanted in [Confidence::Yes, Confidence::Maybe] {
        // What is known to be something else is not taken for what it may be.
        let foreign = if wanted == Confidence::Maybe {
            foreign::known(head)
        } else {
            None
        };
        if let Some((what, instead)) = foreign {
            return Err(ImportError::NotRecognised {
                found: what.to_owned(),
                instead,
            });
        }
        let fitting: Vec<_> = FORMATS
            .iter()
            .filter(|format| (format.sniff)(head) == wanted)
            .collect();
        match fitting.as_slice() {
            [] => {}
            [format] => return Ok(format),
            several => {
                let names: Vec<_> = several.iter().map(|format| format.name).collect();
                return Err(ImportError::Ambiguous(names.join(", ")));
            }
        }
    }
    Err(ImportError::NotRecognised {
        found: describe(head),
        instead: remedy(head),
    })
}

/// What a user may do about a file that nobody recognises.
fn remedy(head: &[u8]) -> &'static str {
    let is_nothing =
        head.trim_ascii().is_empty() || MAGIC.iter().any(|(magic, _)| head.starts_with(magic));
    if is_nothing {
        "see `profdb formats`"
    } else if folded::may_be_meant(head) {
        "see `profdb formats`, or say `--from folded` if these are stacks and numbers"
    } else {
        "see `profdb formats`, or say `--from NAME` if it is one of them"
    }
}

/// How files begin that hold no profile as they are, and what they are.
const MAGIC: &[(&[u8], &str)] = &[
    (b"\x89PNG", "a PNG image"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\x7fELF", "an ELF binary"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\x1f\x8b", "gzip inside a compressed file"),
    (b"\x28\xb5\x2f\xfd", "zstd inside a compressed file"),
    (b"\xff\xfe", "UTF-16 text"),
    (b"\xfe\xff", "UTF-16 text"),
];

/// What a file that nobody recognises looks like, in words.
fn describe(head: &[u8]) -> String {
    if head.is_empty() {
        return "an empty file".to_owned();
    }
    if let Some((_, name)) = MAGIC.iter().find(|(magic, _)| head.starts_with(magic)) {
        return (*name).to_owned();
    }
    let text = head.trim_ascii_start();
    if text.is_empty() {
        return "blanks only".to_owned();
    }
    let line = text
        .split(|&byte| byte == b'\n')
        .next()
        .unwrap_or_default()
        .trim_ascii_end();
    let printable = |byte: &u8| *byte >= b' ' || *byte == b'\t' || *byte == b'\r';
    let start = line.get(..60).unwrap_or(line);
    let kind = if start.iter().all(printable) {
        "text"
    } else {
        "binary data"
    };
    format!("{kind} that starts with {}", quote(start))
}
