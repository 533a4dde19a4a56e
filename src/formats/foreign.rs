//! Files that no format reads and that people try: what they are, and what to do instead.

/// A kind of file, known by how it starts after blanks and by what else is in its first bytes.
struct Foreign {
    starts: &'static [u8],
    has: &'static [&'static [u8]],
    what: &'static str,
    instead: &'static str,
}

const fn foreign(
    starts: &'static [u8],
    has: &'static [&'static [u8]],
    what: &'static str,
    instead: &'static str,
) -> Foreign {
    Foreign {
        starts,
        has,
        what,
        instead,
    }
}

const PERF: &str = "import what `perf script` prints of it";
const GO_TEXT: &str =
    "import what `go tool pprof -proto FILE` makes of it, or record it without `debug=`";
const PPROF_TEXT: &str = "import the profile that it was printed of";
const V8_LOG: &str = "record with `node --cpu-prof`";
const STACKPROF: &str = "import what `stackprof --json FILE > run.json` makes of its dump";
const VALGRIND: &str = "record with `valgrind --xtree-memory=full --xtree-memory-file=run.kcg`";
const XHPROF: &str = "record with Xdebug or Excimer";
const PYINSTRUMENT: &str = "import what `pyinstrument --load FILE --show-all -r json -o run.json` makes of a saved session";
const R: &str =
    "import what `profile::write_pprof(profile::read_rprof(FILE), \"run.pb.gz\")` makes of it";
const XDEBUG: &str = "record with `xdebug.mode=profile`";
const BPFTRACE: &str = "import what `stackcollapse-bpftrace.pl` makes of it";
const DRAWN: &str = "import the profile that it was drawn from";
// The byte order of the machine that recorded decides how its four letters look.
const TACHYON: &str =
    "import what `python -m profiling.sampling replay --collapsed -o run.folded FILE` makes of it";
const OTLP: &str =
    "let the profiler write pprof, or take the profile as pprof from the server that collects it";
const GECKO: &str = "load it into profiler.firefox.com, which works on it in the browser, and save it there; or open it in speedscope and \
                     export it";
const SPEEDSCOPE: &str = "open it in speedscope and export it";
const COLLAPSED: &str = "import what `pprof --collapsed PROGRAM FILE` prints";
const HEAPTRACK: &str =
    "import what `heaptrack_print -f FILE -F run.folded` makes of its recording";
const TAR: &str = "import the files in it";
const NOTHING: &str = "profdb does not read it, see `profdb formats`";

/// Their signs are long enough that no text in one of our formats has them by chance.
const FOREIGN: &[Foreign] = &[
    foreign(b"PERFILE2", &[], "a recording of Linux's perf", PERF),
    foreign(
        b"# To display the perf.data header info",
        &[],
        "a report of Linux's perf",
        PERF,
    ),
    foreign(
        b"Aggregated stats:\n",
        &[b"TOTAL events:"],
        "a report of Linux's perf",
        PERF,
    ),
    foreign(
        b"{",
        &[b"\"linux-perf-json-version\""],
        "a recording of Linux's perf as JSON",
        PERF,
    ),
    foreign(
        b"# started on ",
        &[],
        "counters of `perf stat`, which tell no functions",
        "record with `perf record -g`",
    ),
    foreign(
        b"Percent |\tSource code & Disassembly",
        &[],
        "code annotated by Linux's perf",
        PERF,
    ),
    foreign(
        b"gmon\x01\0\0\0",
        &[],
        "a recording for gprof",
        "import what `gprof PROGRAM gmon.out` prints",
    ),
    foreign(
        b"FLR\0",
        &[],
        "a recording of Java's Flight Recorder",
        "import what `jfrconv run.jfr run.pb.gz` makes of it",
    ),
    foreign(
        b"HCAT",
        &[b"\0"],
        "a recording of Tachyon (Python's `profiling.sampling`)",
        TACHYON,
    ),
    foreign(
        b"TACH",
        &[b"\0"],
        "a recording of Tachyon (Python's `profiling.sampling`)",
        TACHYON,
    ),
    foreign(
        b"{",
        &[b"\"resourceProfiles\":"],
        "a profile of OpenTelemetry (OTLP) as JSON",
        OTLP,
    ),
    foreign(
        b"{",
        &[b"\"resource_profiles\":"],
        "a profile of OpenTelemetry (OTLP) as JSON",
        OTLP,
    ),
    // Protocol Buffers have no signature: this is the first attribute that resources have to have,
    // a key of 12 bytes, as it is encoded.
    foreign(
        b"",
        &[b"\n\x0cservice.name\x12"],
        "data of OpenTelemetry (OTLP)",
        OTLP,
    ),
    foreign(
        b"{",
        &[b"\"profile\":{\"libs\":[", b"\"breakpadId\":"],
        "a recording of Firefox's developer tools (Gecko)",
        GECKO,
    ),
    foreign(b"memray\0", &[], "a recording of memray", NOTHING),
    foreign(
        b"\x04\x22\x4d\x18",
        &[b"memray\0"],
        "a recording of memray",
        NOTHING,
    ),
    foreign(
        b"allocator,num_allocations,size,tid,",
        &[],
        "a table of memray's",
        NOTHING,
    ),
    foreign(
        "📏 Total allocations:\n".as_bytes(),
        &["📦 Total memory allocated:\n".as_bytes()],
        "a report of memray",
        NOTHING,
    ),
    foreign(
        b"{",
        &[b"\"total_num_allocations\":", b"\"total_bytes_allocated\":"],
        "a report of memray",
        NOTHING,
    ),
    foreign(
        b"\x04\x22\x4d\x18",
        &[],
        "a file compressed with LZ4",
        "import what `lz4 -d` makes of it",
    ),
    foreign(
        b"\xfd7zXZ\0",
        &[],
        "a file compressed with xz",
        "import what `xz -d` makes of it",
    ),
    foreign(
        b"BZh",
        &[b"1AY&SY"],
        "a file compressed with bzip2",
        "import what `bzip2 -d` makes of it",
    ),
    foreign(
        b"go 1.",
        &[b" trace\0"],
        "a trace of Go",
        "import what `go tool trace -pprof=sched FILE` makes of it",
    ),
    foreign(
        b"heap profile: ",
        &[b"@ heapprofile"],
        "a heap profile of gperftools",
        COLLAPSED,
    ),
    foreign(
        b"heap profile: ",
        &[b" @ "],
        "a heap profile as text",
        GO_TEXT,
    ),
    foreign(
        b"heap_v2/",
        &[],
        "a heap profile of jemalloc",
        "import what `jeprof --collapsed PROGRAM FILE` prints",
    ),
    foreign(
        b"goroutine profile: total ",
        &[],
        "a profile of Go as text",
        GO_TEXT,
    ),
    foreign(
        b"threadcreate profile: total ",
        &[],
        "a profile of Go as text",
        "record it without `debug=`",
    ),
    foreign(b"--- mutex:\n", &[], "a profile of Go as text", GO_TEXT),
    foreign(
        b"--- contention:\n",
        &[],
        "a profile of Go as text",
        GO_TEXT,
    ),
    foreign(
        b"\0\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
        &[],
        "a recording of gperftools",
        COLLAPSED,
    ),
    foreign(
        b"File: ",
        &[b"\nType: ", b"\nTime: "],
        "a report of pprof",
        PPROF_TEXT,
    ),
    foreign(
        b"File: ",
        &[b"\nType: ", b"\nShowing nodes accounting for "],
        "a report of pprof",
        PPROF_TEXT,
    ),
    foreign(
        b"Total: ",
        &[b"% ", b"%  "],
        "a report of gperftools' pprof",
        PPROF_TEXT,
    ),
    foreign(
        b"--- symbol\nbinary=",
        &[],
        "a recording of gperftools with its symbols",
        COLLAPSED,
    ),
    foreign(
        b"PeriodType: ",
        &[b"\nSamples:\n"],
        "a report of pprof",
        PPROF_TEXT,
    ),
    foreign(
        b"NYTProf ",
        &[b"\n#Perl profile database"],
        "a recording of NYTProf",
        "import what `nytprofcalls FILE` prints",
    ),
    foreign(
        b"v 1",
        &[b"\nX ", b"\nI "],
        "a recording of heaptrack",
        "import what `heaptrack_print -f FILE -F run.folded` makes of it",
    ),
    foreign(
        b"reading file \"",
        &[b"\nDebuggee command was: "],
        "a report of heaptrack",
        HEAPTRACK,
    ),
    foreign(
        b"{",
        &[b"\"dhatFileVersion\""],
        "a profile of valgrind's DHAT",
        VALGRIND,
    ),
    foreign(
        b"desc: ",
        &[b"\ntime_unit: ", b"\n#-----------\nsnapshot="],
        "a profile of valgrind's Massif",
        VALGRIND,
    ),
    foreign(
        b"-----",
        &[b"\nMassif arguments: "],
        "a report of valgrind's Massif",
        VALGRIND,
    ),
    foreign(
        b"==",
        &[b"== Using Valgrind-"],
        "what valgrind says on the screen",
        "import the file that its tool has written, as `callgrind.out.PID`",
    ),
    foreign(
        b"-----",
        &[b"\nProfile data file '"],
        "a report of callgrind",
        "import the file that it was printed of",
    ),
    foreign(
        b"-----",
        &[b"\nI1 cache:  ", b"\nEvents recorded: "],
        "a report of cachegrind",
        "import the file that it was printed of",
    ),
    foreign(b"v8-version,", &[], "a log of V8 (`node --prof`)", V8_LOG),
    foreign(
        b"{",
        &[b"\"type\": \"SHARED_LIB\""],
        "a log of V8 (`node --prof`), preprocessed",
        V8_LOG,
    ),
    foreign(
        b"Statistical profiling result from ",
        &[b" ticks, "],
        "a report of V8 (`node --prof`)",
        V8_LOG,
    ),
    foreign(
        b"{\"snapshot\":",
        &[b"\"node_fields\""],
        "a heap snapshot of V8, which does not say who allocated",
        "record with `node --heap-prof`",
    ),
    foreign(
        b"\x04\x08{",
        &[b"gc_samples"],
        "a dump of stackprof",
        STACKPROF,
    ),
    foreign(
        b"==================================\n  Mode: ",
        &[],
        "a report of stackprof",
        STACKPROF,
    ),
    foreign(
        b"flamegraph([",
        &[],
        "a flame graph of stackprof",
        STACKPROF,
    ),
    foreign(
        b"Measure Mode: ",
        &[b"\nThread ID: "],
        "a report of ruby-prof",
        "record with its `CallTreePrinter`",
    ),
    foreign(
        b"rbspy0",
        &[b"{\"sample_rate\":"],
        "a recording of rbspy",
        "import what `rbspy report --format speedscope --input FILE --output run.json` makes of it",
    ),
    foreign(b"sample.interval=", &[], "a recording of R's Rprof", R),
    foreign(
        b"memory profiling: ",
        &[b"sample.interval="],
        "a recording of R's Rprof",
        R,
    ),
    foreign(
        b"line profiling: ",
        &[b"sample.interval="],
        "a recording of R's Rprof",
        R,
    ),
    foreign(
        b"hdrb",
        &[b"hetb"],
        "GHC's eventlog",
        "import what `hs-speedscope FILE` makes of it",
    ),
    foreign(
        b"JOB \"",
        &[b"\nSAMPLE_UNIT "],
        "a heap profile of GHC, which has no stacks",
        "record with `+RTS -P`",
    ),
    foreign(b"{\"", &[b"==>", b"\"ct\":"], "a profile of XHProf", XHPROF),
    foreign(
        b"a:",
        &[b"==>", b"s:2:\"ct\";"],
        "a profile of XHProf",
        XHPROF,
    ),
    foreign(
        b"[{\"timestamp\":",
        &[b",\"events\":", b",\"trace\":[{"],
        "a log of Excimer as JSON",
        "write it with `formatCollapsed()` or `getSpeedscopeData()`",
    ),
    foreign(b"TRACE START [", &[], "a function trace of Xdebug", XDEBUG),
    foreign(
        b"Version: ",
        &[b"\nTRACE START ["],
        "a function trace of Xdebug",
        XDEBUG,
    ),
    foreign(
        b"BEGIN;",
        &[b"CREATE TABLE routines(", b"CREATE TABLE calls("],
        "a profile of Rakudo as SQL",
        NOTHING,
    ),
    foreign(
        b"[{\"",
        &[b"\"file\":\"SETTING::src/core"],
        "a profile of Rakudo as JSON",
        NOTHING,
    ),
    foreign(
        b"{\"start_time\":",
        &[b"\"sample_count\":"],
        "a session of pyinstrument",
        PYINSTRUMENT,
    ),
    foreign(
        b"_     ._   __/__ ",
        &[],
        "a report of pyinstrument",
        PYINSTRUMENT,
    ),
    foreign(
        b"{",
        &[b"\"alloc_samples\":", b"\"elapsed_time_sec\":"],
        "a profile of Scalene",
        NOTHING,
    ),
    foreign(
        b"\x80",
        &[b"tracemalloc", b"Snapshot"],
        "a snapshot of Python's tracemalloc",
        NOTHING,
    ),
    foreign(
        b"\x80",
        &[b"line_profiler"],
        "a profile of `line_profiler`, which has no calls",
        NOTHING,
    ),
    foreign(
        b"\x80",
        &[b"yappi"],
        "a profile of yappi",
        "save it with `type='callgrind'` or `type='pstat'`",
    ),
    foreign(
        b"Nettrace",
        &[],
        "a trace of .NET",
        "import what `dotnet-trace convert --format Speedscope FILE` makes of it",
    ),
    foreign(
        b"MMPD",
        &[],
        "a profile of rustc",
        "import what `crox FILE` makes of it",
    ),
    foreign(
        b"Ftrace!\0",
        &[],
        "a recording of uftrace",
        "import what `uftrace dump --chrome` prints",
    ),
    foreign(b"^\x97\xca\xfd", &[], "a recording of sysprof", NOTHING),
    foreign(b"tlZ\x04", &[], "a trace of Tracy", NOTHING),
    foreign(b"tZst", &[b"\x28\xb5\x2f\xfd"], "a trace of Tracy", NOTHING),
    foreign(b"tracy\0", &[], "a trace of Tracy", NOTHING),
    foreign(
        b"name,src_file,src_line,total_ns,",
        &[],
        "a table of Tracy's",
        NOTHING,
    ),
    foreign(
        b"Analysis of sampling ",
        &[b"\nCall graph:"],
        "a report of macOS's `sample`",
        "import what `inferno-collapse-sample` makes of it",
    ),
    foreign(
        b"<?xml",
        &[b"<trace-query-result"],
        "an export of Apple's Instruments",
        "import what `inferno-collapse-xctrace` makes of it",
    ),
    foreign(
        b"Weight\tSelf Weight\t",
        &[b"Symbol Name"],
        "a table copied from Apple's Instruments",
        SPEEDSCOPE,
    ),
    foreign(
        b"Running Time\tSelf (ms)\t",
        &[b"Symbol Name"],
        "a table copied from Apple's Instruments",
        SPEEDSCOPE,
    ),
    foreign(
        b"Bytes Used\tCount\t",
        &[b"Symbol Name"],
        "a table copied from Apple's Instruments",
        SPEEDSCOPE,
    ),
    foreign(
        b"Attaching ",
        &[b" probe", b"\n@"],
        "the output of bpftrace",
        BPFTRACE,
    ),
    foreign(b"@[\n", &[], "the output of bpftrace", BPFTRACE),
    // In the first header: GNU tar's sign, and that of POSIX.
    foreign(b"", &[b"\0ustar  \0"], "a tar archive", TAR),
    foreign(b"", &[b"\0ustar\x0000"], "a tar archive", TAR),
    foreign(b"<svg", &[b"xmlns"], "a picture (SVG)", DRAWN),
    foreign(b"<?xml", &[b"<svg"], "a picture (SVG)", DRAWN),
    foreign(b"digraph \"", &[b"{\n"], "a picture (Graphviz)", DRAWN),
    foreign(b"digraph profile {\n", &[], "a picture (Graphviz)", DRAWN),
    foreign(b"<!DOCTYPE html", &[], "a page for the browser", DRAWN),
    foreign(b"<!doctype html", &[], "a page for the browser", DRAWN),
    foreign(b"<html", &[], "a page for the browser", DRAWN),
];

/// Known by its fields: see [`is_perfetto`].
const PERFETTO: Foreign = foreign(
    b"",
    &[],
    "a trace of Perfetto",
    "import what `traceconv profile --perf FILE` makes of its samples, or `traceconv json FILE run.json` of its slices",
);

/// What a file is and what to do instead, if it is one that people try.
pub(super) fn known(head: &[u8]) -> Option<(&'static str, &'static str)> {
    let text = head.trim_ascii_start();
    let has = |sign: &&[u8]| memchr::memmem::find(head, sign).is_some();
    // The first one that fits decides, so that the special case precedes the general one: memray
    // before LZ4, gperftools before Go.
    let found = FOREIGN
        .iter()
        .find(|one| text.starts_with(one.starts) && one.has.iter().all(has));
    match found {
        Some(found) => Some((found.what, found.instead)),
        None if is_perfetto(head) => Some((PERFETTO.what, PERFETTO.instead)),
        None => None,
    }
}

/// Perfetto's traces have no signature: a trace is a list of packets (field 1), and each has the
/// number of the sequence that it is of (field 10, a number above 0).
///
/// <https://perfetto.dev/docs/reference/trace-packet-proto>
fn is_perfetto(head: &[u8]) -> bool {
    let mut rest = head;
    for _ in 0..2 {
        let Some((10, Wire::Bytes(mut packet))) = field(&mut rest) else {
            return false;
        };
        let mut has_sequence = false;
        while !packet.is_empty() {
            match field(&mut packet) {
                Some((80, Wire::Number(number))) => has_sequence = number > 0,
                Some(_) => {}
                None => return false,
            }
        }
        if !has_sequence {
            return false;
        }
    }
    true
}

/// What a field of Protocol Buffers holds.
enum Wire<'h> {
    Number(u64),
    Bytes(&'h [u8]),
}

/// Takes a field off the front: its tag, and what it holds.
fn field<'h>(rest: &mut &'h [u8]) -> Option<(u64, Wire<'h>)> {
    let tag = number(rest)?;
    let length = match tag & 7 {
        0 => return Some((tag, Wire::Number(number(rest)?))),
        1 => 8,
        2 => usize::try_from(number(rest)?).ok()?,
        5 => 4,
        _ => return None,
    };
    let (taken, left) = rest.split_at_checked(length)?;
    *rest = left;
    Some((tag, Wire::Bytes(taken)))
}

/// Takes a number of seven bits a byte off the front, the lowest ones first.
fn number(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..63).step_by(7) {
        let (byte, left) = rest.split_first()?;
        *rest = left;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// What is known of files whose description has a word in it, capital letters or not, and what to
/// do instead of importing them.
pub fn about(word: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let word = word.to_lowercase();
    let all = FOREIGN.iter().chain([&PERFETTO]);
    all.filter_map(move |one| {
        let mut words = one.what.split(|letter: char| !is_of_a_word(letter));
        words
            .any(|known| known.trim_end_matches("'s").to_lowercase() == word)
            .then_some((one.what, one.instead))
    })
}

fn is_of_a_word(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | '\'')
}
