//! The formats: a folder for each family, a line for each format in [`FORMATS`] or [`EXPORTS`].
//!
//! An importer depends on [`Input`](crate::input::Input) and [`Sink`](crate::events::Sink) only, not on SQL, files, the
//! clock or the terminal. Input is untrusted: an importer never panics and never trusts a length.
//!
//! # Other profilers
//! Many other profilers write one of the formats above, or a converter does. If there is a choice, the table names the format
//! with most information. Recordings of `@datadog/pprof` 5.20, Bun 1.4, Deno 2.9, gperftools 2.10, heaptrack 1.4, pprof-rs 0.15,
//! pyinstrument 5.1, ruby-prof 1.4, stackprof 0.2.21, tracing-chrome 0.7, uftrace 0.13, viztracer 1.1 and yappi 1.7 were
//! compared with the output of these programs, or with sums over the file. Files of Excimer 1.0, jemalloc 5.3, `LuaJIT` 2.1,
//! NYTProf 6.12, pprofile 2.2, tracing-flame 0.2 and valgrind 3.19 were only imported. The others were not tried:
//! the table follows their documentation.
//!
//! | profiler | what to run | format |
//! | --- | --- | --- |
//! | async-profiler (Java) | `asprof -o collapsed -f run.folded PID`; of a JFR file `jfrconv run.jfr run.pb.gz` | `folded`, `pprof` |
//! | `dtrace` | `stackcollapse.pl` or `inferno-collapse-dtrace` on its output | `folded` |
//! | bpftrace | `stackcollapse-bpftrace.pl` on its output | `folded` |
//! | Bun, Deno | `bun --cpu-prof app.js`, `deno run --cpu-prof app.js` | `cpuprofile` |
//! | cProfile (Python) | `python -m cProfile -o run.pstats app.py` | `pstats` |
//! | Node.js | `node --cpu-prof app.js`, `node --heap-prof app.js` | `cpuprofile`, `heapprofile` |
//! | `@datadog/pprof` (Node.js) | `encode` with the results of `time.stop` and `heap.profile` | `pprof` |
//! | dotnet-trace (.NET) | `dotnet-trace collect --format Speedscope` | `speedscope` |
//! | Excimer (PHP) | `ExcimerLog::formatCollapsed` | `folded` |
//! | Go's `runtime/pprof` | `go test -cpuprofile run.pb.gz`, or `curl -o run.pb.gz HOST/debug/pprof/profile` | `pprof` |
//! | GHC (Haskell) | `./app +RTS -pj`, of a program that was built with `-prof` | `ghc_json` |
//! | GHC's eventlog | `hs-speedscope run.eventlog` | `speedscope` |
//! | gperftools (C++) | `pprof --collapsed PROGRAM cpu.prof > run.folded`; `--callgrind` has lines, but no paths | `folded`, `callgrind` |
//! | heaptrack (C++) | `heaptrack_print -f run.zst -F run.folded`: allocations; `--flamegraph-cost-type peak`: bytes | `folded` |
//! | jemalloc | `jeprof --collapsed PROGRAM jeprof.1.0.f.heap > run.folded` | `folded` |
//! | Julia's Profile | `pprof(web=false)` of PProf.jl | `pprof` |
//! | `LuaJIT` | `luajit -jp=G,run.folded app.lua` | `folded` |
//! | NYTProf (Perl) | `nytprofcalls nytprof.out > run.folded`; `nytprofcg` has calls and lines, but no paths | `folded`, `callgrind` |
//! | perf (Linux) | `perf record -g PROGRAM`, then `perf script --header > run.perf` | `perf_script` |
//! | Perfetto | `traceconv json trace.pftrace run.json`; of stack samples `traceconv profile --perf` | `chrome_trace`, `pprof` |
//! | pprof-rs (Rust) | its feature for protobuf | `pprof` |
//! | pprofile (Python) | `pprofile -f callgrind -o run.callgrind app.py` | `callgrind` |
//! | py-spy (Python) | `py-spy record -f speedscope -o run.json -- python app.py`: files, lines and threads; `-f raw -o run.folded` only names | `speedscope`, `folded` |
//! | pyinstrument (Python) | `pyinstrument --show-all -r json -o run.json app.py`; `-r speedscope` has neither classes nor awaited time, `-r pstats` no paths | `pyinstrument_json`, `speedscope`, `pstats` |
//! | R | `profile::write_pprof(profile::read_rprof("Rprof.out"), "run.pb.gz")` | `pprof` |
//! | rbspy (Ruby) | `rbspy record --format speedscope --file run.json` | `speedscope` |
//! | ruby-prof (Ruby) | `RubyProf::CallTreePrinter` | `callgrind` |
//! | rustc's own (`-Z self-profile`) | `crox run.mm_profdata` | `chrome_trace` |
//! | samply | `samply record --save-only -o run.json.gz`, for names see [firefox](#firefox) | `firefox` |
//! | stackprof (Ruby) | `stackprof --json run.dump > run.json`, recorded with `raw: true` | `stackprof` |
//! | Tachyon (Python 3.15) | `python -m profiling.sampling run --collapsed -o run.folded app.py`; of a binary recording `... replay --collapsed -o run.folded FILE` | `folded` |
//! | tracing (Rust) | the crates tracing-chrome, tracing-flame | `chrome_trace`, `folded` |
//! | uftrace (C, C++) | `uftrace record --no-sched PROGRAM`, then `uftrace dump --chrome > run.json` | `chrome_trace` |
//! | valgrind, memory | `valgrind --xtree-memory=full --xtree-memory-file=run.kcg PROGRAM` | `callgrind` |
//! | valgrind, time | `valgrind --tool=callgrind --callgrind-out-file=callgrind.out PROGRAM` | `callgrind` |
//! | `VizTracer` (Python) | `viztracer -o run.json app.py` | `chrome_trace` |
//! | Xdebug (PHP) | `php -d xdebug.mode=profile -d xdebug.start_with_request=yes app.php` | `callgrind` |
//! | yappi (Python) | `stats.save('run.pstat', type='pstat')` or `type='callgrind'` | `pstats`, `callgrind` |
//!
//! Not supported are JFR files, Perfetto's protobuf, traces of Tracy and of Apple's Instruments, memray's files, and
//! profiles of `XHProf`. If a file is recognised as unsupported (a recording of perf, a report, a picture), the
//! message names its type and a remedy.

#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap
)]

mod common;
mod detect;
pub mod export;
mod figure_detector;
mod foreign;
mod foreign_kinds;
mod format;
pub(crate) mod options;
mod registry;
mod salvage;

mod business_rules;
mod callgrind;
mod chrome_trace;
mod dot;
mod dyalog;
mod firefox;
mod flamegraph;
mod folded;
mod ghc;
mod gprof;
mod lispworks_tree;
mod perf_script;
mod pprof;
mod pstats;
mod pyinstrument_json;
mod sampler;
mod speedscope;
mod stackprof;
mod v8;

pub use detect::{DATABASE, detect, detect_in_folder};
pub use foreign::about as about_foreign;
pub use format::{Confidence, Format};
pub use options::{DRAWN_SVG, OptionDef, Options, Takes};
pub use registry::{EXPORTS, FORMATS, export_named, format_named};
pub use salvage::Salvage;
