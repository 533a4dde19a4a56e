//! The kinds of files that no format reads: their signs, their names, and what to do instead.

/// A kind of file, known by how it starts after blanks and by what else is in its first bytes.
pub(super) struct Foreign {
    pub(super) starts: &'static [u8],
    pub(super) has: &'static [&'static [u8]],
    pub(super) what: &'static str,
    pub(super) instead: &'static str,
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

const PPROF_REPORT: &str = "a report of pprof";
const GPERFTOOLS: &str = "a recording of gperftools";
const HPROF: &str = "a report of Java's hprof";
const INSTRUMENTS: &str = "a table copied from Apple's Instruments";
const VTUNE_TABLE: &str = "a table of Intel VTune";
const VISUAL_STUDIO_TABLE: &str = "a table of Visual Studio's profiler";
const GO_PROFILE: &str = "a profile of Go as text";
const PERF_RECORDING: &str = "a recording of Linux's perf";
const PERF_REPORT: &str = "a report of Linux's perf";
const MEMRAY: &str = "a recording of memray";
const SIMPLEPERF_REPORT: &str = "a report of simpleperf";
const ART: &str = "a method trace of Android (ART)";
const PYROSCOPE: &str = "a flame graph of Pyroscope";
const OTLP_JSON: &str = "a profile of OpenTelemetry (OTLP) as JSON";
const MACOS_SAMPLE: &str = "a report of macOS's `sample`";
const XPERF_TABLE: &str = "a table of Windows Performance Analyzer (xperf)";
const PERF: &str = "import the output of `perf script`";
const GO_TEXT: &str =
    "import the output of `go tool pprof -proto FILE`, or record it without `debug=`";
const PPROF_TEXT: &str = "import the profile that it was printed from";
const V8_LOG: &str = "record with `node --cpu-prof`";
const STACKPROF: &str = "import the output of `stackprof --json FILE > run.json` for its dump";
const VALGRIND: &str = "record with `valgrind --xtree-memory=full --xtree-memory-file=run.kcg`";
const XHPROF: &str = "record with Xdebug or Excimer";
const PYINSTRUMENT: &str = "import the output of `pyinstrument --load FILE --show-all -r json -o run.json` for a saved session";
const R: &str =
    "import the output of `profile::write_pprof(profile::read_rprof(FILE), \"run.pb.gz\")`";
const XDEBUG: &str = "record with `xdebug.mode=profile`";
const BPFTRACE: &str = "import the output of `stackcollapse-bpftrace.pl`";
const DRAWN: &str = "import the profile that it was drawn from";
// The byte order of the machine that recorded decides how its four letters look.
const TACHYON: &str =
    "import the output of `python -m profiling.sampling replay --collapsed -o run.folded FILE`";
const OTLP: &str =
    "let the profiler write pprof, or take the profile as pprof from the server that collects it";
const GECKO: &str = "load it into profiler.firefox.com, which processes it in the browser, and save it there; or open it in speedscope and \
                     export it";
const SPEEDSCOPE: &str = "open it in speedscope and export it";
const COLLAPSED: &str = "import the output of `pprof --collapsed PROGRAM FILE`";
const HEAPTRACK: &str =
    "import the output of `heaptrack_print -f FILE -F run.folded` for its recording";
const DTRACE: &str = "import the output of `stackcollapse.pl` or `inferno-collapse-dtrace`";
const LEGACY: &str = "import the output of `go tool pprof -proto FILE > run.pb.gz`";
const JAVA: &str = "record with async-profiler: `asprof -o collapsed -f run.folded PID`";
const VTUNE: &str = "import the output of `inferno-collapse-vtune` for the CSV report of `vtune -report top-down -call-stack-mode all`";
const VISUAL_STUDIO: &str =
    "import the output of `inferno-collapse-vsprof` for the call tree summary of VSPerfReport";
const PERFVIEW: &str = "save the recording with PerfView as Speedscope";
const SIMPLEPERF: &str = "import the output of simpleperf's script `report_sample.py`";
const ANDROID: &str =
    "record with simpleperf, and import the output of its script `report_sample.py`";
const FTRACE: &str = "record samples with `perf record -g`";
const TAR: &str = "import the files in it";
const NOTHING: &str = "profdb does not read it, see `profdb formats`";

/// Their signs are long enough that no text in one of our formats has them by chance.
pub(super) const FOREIGN: &[Foreign] = &[
    foreign(b"PERFILE2", &[], PERF_RECORDING, PERF),
    foreign(
        b"# To display the perf.data header info",
        &[],
        PERF_REPORT,
        PERF,
    ),
    foreign(
        b"Aggregated stats:\n",
        &[b"TOTAL events:"],
        PERF_REPORT,
        PERF,
    ),
    foreign(
        b"{",
        &[b"\"linux-perf-json-version\""],
        "a recording of Linux's perf as JSON",
        PERF,
    ),
    foreign(
        b"Performance counter stats for ",
        &[],
        "counters of `perf stat`, which have no functions",
        "record with `perf record -g`",
    ),
    foreign(
        b"# started on ",
        &[],
        "counters of `perf stat`, which have no functions",
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
        "import the output of `gprof PROGRAM gmon.out`",
    ),
    foreign(
        b"FLR\0",
        &[],
        "a recording of Java's Flight Recorder",
        "import the output of `jfrconv run.jfr run.pb.gz`",
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
    foreign(b"{", &[b"\"resourceProfiles\""], OTLP_JSON, OTLP),
    foreign(b"{", &[b"\"resource_profiles\":"], OTLP_JSON, OTLP),
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
    foreign(
        b"{",
        &[b"\"libs\"", b"\"breakpadId\""],
        "a recording of Firefox (Gecko) that has not been processed",
        GECKO,
    ),
    foreign(b"memray\0", &[], MEMRAY, NOTHING),
    foreign(b"\x04\x22\x4d\x18", &[b"memray\0"], MEMRAY, NOTHING),
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
        "import the output of `lz4 -d`",
    ),
    foreign(
        b"\xfd7zXZ\0",
        &[],
        "a file compressed with xz",
        "import the output of `xz -d`",
    ),
    foreign(
        b"BZh",
        &[b"1AY&SY"],
        "a file compressed with bzip2",
        "import the output of `bzip2 -d`",
    ),
    foreign(
        b"go 1.",
        &[b" trace\0"],
        "a trace of Go",
        "import the output of `go tool trace -pprof=sched FILE`",
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
        "import the output of `jeprof --collapsed PROGRAM FILE`",
    ),
    foreign(b"goroutine profile: total ", &[], GO_PROFILE, GO_TEXT),
    foreign(
        b"threadcreate profile: total ",
        &[],
        GO_PROFILE,
        "record it without `debug=`",
    ),
    foreign(b"--- mutex:\n", &[], GO_PROFILE, GO_TEXT),
    foreign(b"--- contention:\n", &[], GO_PROFILE, GO_TEXT),
    foreign(
        b"\0\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
        &[],
        GPERFTOOLS,
        COLLAPSED,
    ),
    // Words of 32 bits, and the other byte order.
    foreign(b"\0\0\0\0\x03\0\0\0\0\0\0\0", &[], GPERFTOOLS, COLLAPSED),
    foreign(b"\0\0\0\0\0\0\0\x03\0\0\0\0", &[], GPERFTOOLS, COLLAPSED),
    foreign(
        b"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0\0",
        &[],
        GPERFTOOLS,
        COLLAPSED,
    ),
    foreign(b"File: ", &[b"\nType: "], PPROF_REPORT, PPROF_TEXT),
    foreign(
        b"",
        &[b"flat  flat%   sum%        cum   cum%"],
        PPROF_REPORT,
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
        PPROF_REPORT,
        PPROF_TEXT,
    ),
    foreign(b"Comment: ", &[b"\nSamples:\n"], PPROF_REPORT, PPROF_TEXT),
    foreign(b"Samples:\n", &[b"/", b": "], PPROF_REPORT, PPROF_TEXT),
    foreign(
        b"NYTProf ",
        &[b"\n#Perl profile database"],
        "a recording of NYTProf",
        "import the output of `nytprofcalls FILE`",
    ),
    foreign(
        b"v 1",
        &[b"\nX ", b"\nI "],
        "a recording of heaptrack",
        "import the output of `heaptrack_print -f FILE -F run.folded`",
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
        "the terminal output of valgrind",
        "import the file that its tool has written, as `callgrind.out.PID`",
    ),
    foreign(
        b"-----",
        &[b"\nProfile data file '"],
        "a report of callgrind",
        "import the file that it was printed from",
    ),
    foreign(
        b"-----",
        &[b"\nI1 cache:  ", b"\nEvents recorded: "],
        "a report of cachegrind",
        "import the file that it was printed from",
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
        "a heap snapshot of V8, which has no allocation sites",
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
        "import the output of `rbspy report --format speedscope --input FILE --output run.json`",
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
        "import the output of `hs-speedscope FILE`",
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
        b"Timer unit: ",
        &[b"\nTotal time: "],
        "a report of `line_profiler`, which has no calls",
        NOTHING,
    ),
    foreign(
        b"",
        &[b" function calls", b"filename:lineno(function)"],
        "a report of Python's cProfile",
        "import the file of `python -m cProfile -o run.pstats`",
    ),
    foreign(
        b"import time: self [us] | cumulative | ",
        &[],
        "import times of Python",
        "import the file of `python -m cProfile -o run.pstats`",
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
        "import the output of `dotnet-trace convert --format Speedscope FILE`",
    ),
    foreign(
        b"MMPD",
        &[],
        "a profile of rustc",
        "import the output of `crox FILE`",
    ),
    foreign(
        b"Ftrace!\0",
        &[],
        "a recording of uftrace",
        "import the output of `uftrace dump --chrome`",
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
        MACOS_SAMPLE,
        "import the output of `inferno-collapse-sample`",
    ),
    foreign(
        b"<?xml",
        &[b"<trace-query-result"],
        "an export of Apple's Instruments",
        "import the output of `inferno-collapse-xctrace`",
    ),
    foreign(b"Weight\t", &[b"Symbol Name"], INSTRUMENTS, SPEEDSCOPE),
    foreign(
        b"Running Time\t",
        &[b"Symbol Name"],
        INSTRUMENTS,
        SPEEDSCOPE,
    ),
    foreign(b"Bytes Used\t", &[b"Symbol Name"], INSTRUMENTS, SPEEDSCOPE),
    foreign(
        b"Attaching ",
        &[b" probe", b"\n@"],
        "the output of bpftrace",
        BPFTRACE,
    ),
    foreign(b"@[\n", &[], "the output of bpftrace", BPFTRACE),
    foreign(
        b"CPU     ID                    FUNCTION:NAME",
        &[],
        "a report of DTrace",
        DTRACE,
    ),
    foreign(b"dtrace: ", &[], "a report of DTrace", DTRACE),
    foreign(
        b"--- heapz ",
        &[],
        "a heap profile of gperftools or Java as text",
        LEGACY,
    ),
    foreign(
        b"--- contentionz ",
        &[],
        "a contention profile of gperftools or Java as text",
        LEGACY,
    ),
    foreign(
        b"--- threadz ",
        &[],
        "a thread profile of gperftools as text",
        LEGACY,
    ),
    foreign(
        b"--- Thread ",
        &[b" stack: ---"],
        "a thread profile of gperftools as text",
        LEGACY,
    ),
    foreign(
        b"--- growthz ",
        &[],
        "a heap growth profile of gperftools as text",
        LEGACY,
    ),
    foreign(b"JAVA PROFILE 1.0.1, created ", &[], HPROF, JAVA),
    foreign(b"", &[b"CPU SAMPLES BEGIN (total = "], HPROF, JAVA),
    foreign(b"THREAD START (obj=", &[], HPROF, JAVA),
    foreign(
        b"jdk.",
        &[b" {\n  startTime = "],
        "events of Java's Flight Recorder as text",
        "import the output of `jfrconv run.jfr run.pb.gz`",
    ),
    foreign(
        b"JAVA PROFILE 1.0.",
        &[b"\0"],
        "a heap dump of Java (hprof), which has no allocation sites",
        JAVA,
    ),
    foreign(
        b"Showing nodes accounting for ",
        &[],
        PPROF_REPORT,
        PPROF_TEXT,
    ),
    foreign(
        b"Type: ",
        &[b"\n-----------+-------"],
        PPROF_REPORT,
        PPROF_TEXT,
    ),
    foreign(b"-----------+-------", &[], PPROF_REPORT, PPROF_TEXT),
    foreign(b"Total: ", &[b"\nROUTINE ="], PPROF_REPORT, PPROF_TEXT),
    foreign(b"Function Stack", &[b"CPU Time"], VTUNE_TABLE, VTUNE),
    foreign(b"\"Function Stack\"", &[b"CPU Time"], VTUNE_TABLE, VTUNE),
    foreign(b"Function", &[b"CPU Time", b"Module"], VTUNE_TABLE, VTUNE),
    foreign(b"Source Function", &[b"CPU Time"], VTUNE_TABLE, VTUNE),
    foreign(
        b"Index  ",
        &[b"% CPU Time:Total", b"CPU Time:Self"],
        "a call graph of Intel VTune (gprof-cc)",
        VTUNE,
    ),
    foreign(
        b"Level,Function Name,",
        &[],
        VISUAL_STUDIO_TABLE,
        VISUAL_STUDIO,
    ),
    foreign(
        b"\"Level\",\"Function Name\",",
        &[],
        VISUAL_STUDIO_TABLE,
        VISUAL_STUDIO,
    ),
    foreign(
        b"",
        &[b"Function Name", b"Total CPU [unit, %]"],
        VISUAL_STUDIO_TABLE,
        VISUAL_STUDIO,
    ),
    foreign(
        b"Function Name,",
        &[b"Inclusive"],
        VISUAL_STUDIO_TABLE,
        VISUAL_STUDIO,
    ),
    foreign(
        b"Process Name",
        &[b"Stack", b"Weight"],
        XPERF_TABLE,
        PERFVIEW,
    ),
    foreign(
        b"",
        &[b"Process Name,", b"Function Stack,", b"Weight"],
        XPERF_TABLE,
        PERFVIEW,
    ),
    foreign(
        b"Line #",
        &[b"Process", b"Stack", b"Weight"],
        XPERF_TABLE,
        PERFVIEW,
    ),
    foreign(b"BeginHeader", &[b"EndHeader"], "a dump of xperf", PERFVIEW),
    foreign(
        b"#",
        &[b"\n@ ", b" samples]\n", b"%"],
        "a call graph of FreeBSD's pmcstat",
        "import the output of `stackcollapse-pmc.pl`",
    ),
    foreign(
        b"@ ",
        &[b" samples]\n", b"%"],
        "a call graph of FreeBSD's pmcstat",
        "import the output of `stackcollapse-pmc.pl`",
    ),
    foreign(b"SIMPLEPERF", &[], "a recording of simpleperf", SIMPLEPERF),
    foreign(
        b"Cmdline: ",
        &[b"simpleperf"],
        SIMPLEPERF_REPORT,
        SIMPLEPERF,
    ),
    foreign(
        b"sample:\n  event_type: ",
        &[],
        SIMPLEPERF_REPORT,
        SIMPLEPERF,
    ),
    foreign(b"*version\n", &[b"\ndata-file-overflow="], ART, ANDROID),
    foreign(b"SLOW", &[b"\0"], ART, ANDROID),
    foreign(b"# tracer: ", &[], LOG_OF_FTRACE, FTRACE),
    foreign(b"TRACE:\n", &[], LOG_OF_FTRACE, FTRACE),
    foreign(
        b"",
        &[b"TASK-PID", b"TIMESTAMP  FUNCTION"],
        LOG_OF_FTRACE,
        FTRACE,
    ),
    foreign(
        b"\x17\x08\x44tracing",
        &[],
        "a recording of trace-cmd",
        FTRACE,
    ),
    foreign(
        b"<?xml",
        &[b"<trace-toc"],
        "an export of Apple's Instruments",
        "import the output of `inferno-collapse-xctrace`",
    ),
    foreign(
        b"Sampling process ",
        &[b"Call graph:"],
        MACOS_SAMPLE,
        "import the output of `inferno-collapse-sample`",
    ),
    foreign(
        b"{",
        &[b"\"recording\"", b"\"displayName\"", b"\"startTime\""],
        "a timeline of Safari",
        SPEEDSCOPE,
    ),
    foreign(
        b"{",
        &[b"\"flamebearer\":"],
        PYROSCOPE,
        "download the profile as pprof",
    ),
    foreign(
        b"{",
        &[b"\"callchain\":", b"\"functions\":", b"\"events\":"],
        "a profile of gprof2dot as JSON",
        DRAWN,
    ),
    foreign(
        b"{",
        &[b"\"names\"", b"\"levels\"", b"\"maxSelf\""],
        PYROSCOPE,
        "download the profile as pprof",
    ),
    foreign(
        b"{",
        &[b"\"name\"", b"\"children\"", b"\"value\""],
        "the data of a flame graph (d3-flame-graph)",
        DRAWN,
    ),
    foreign(b"2ELIFREP", &[], PERF_RECORDING, PERF),
    foreign(b"#", &[b"\n# Overhead  "], PERF_REPORT, PERF),
    foreign(
        b"PK\x03\x04",
        &[],
        "a ZIP archive",
        "unpack it and import the files in it",
    ),
    foreign(b"PK\x05\x06", &[], "an empty ZIP archive", NOTHING),
    foreign(
        b"7z\xbc\xaf\x27\x1c",
        &[],
        "a 7z archive",
        "unpack it and import the files in it",
    ),
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

const LOG_OF_FTRACE: &str = "a log of ftrace (atrace, systrace), which has events and no samples";

/// Known by its lines: see `is_ftrace` in `src/formats/foreign.rs`.
pub(super) const FTRACE_LINES: Foreign = foreign(b"", &[], LOG_OF_FTRACE, FTRACE);

/// Known by its lines: see `is_dtrace` in `src/formats/foreign.rs`.
pub(super) const DTRACE_LINES: Foreign = foreign(b"", &[], "a report of DTrace", DTRACE);

/// Known by its fields: see `is_perfetto` in `src/formats/foreign.rs`.
pub(super) const PERFETTO: Foreign = foreign(
    b"",
    &[],
    "a trace of Perfetto",
    "import the output of `traceconv profile --perf FILE` for its samples, or `traceconv json FILE run.json` of its slices",
);
