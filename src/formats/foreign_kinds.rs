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

const PPROF_REPORT: &str = "a pprof report";
const GPERFTOOLS: &str = "a gperftools recording";
const HPROF: &str = "a Java hprof report";
const INSTRUMENTS: &str = "a table copied from Apple's Instruments";
const VTUNE_TABLE: &str = "an Intel VTune table";
const VISUAL_STUDIO_TABLE: &str = "a table of Visual Studio's profiler";
const GO_PROFILE: &str = "a Go profile in text form";
const PERF_RECORDING: &str = "a Linux perf recording (perf.data)";
const PERF_REPORT: &str = "a Linux perf report";
const MEMRAY: &str = "a memray recording";
const SIMPLEPERF_REPORT: &str = "a simpleperf report";
const ART: &str = "an Android method trace (ART)";
const PYROSCOPE: &str = "a Pyroscope flame graph";
const OTLP_JSON: &str = "an OpenTelemetry profile (OTLP) in JSON";
const MACOS_SAMPLE: &str = "a report of macOS's `sample`";
const XPERF_TABLE: &str = "a Windows Performance Analyzer table (xperf)";
const PERF: &str = "import the output of `perf script`";
const GO_TEXT: &str =
    "import the output of `go tool pprof -proto FILE`, or record without `debug=`";
const PPROF_TEXT: &str = "import the profile that it was made from";
const V8_LOG: &str = "record with `node --cpu-prof`";
const STACKPROF: &str = "import the output of `stackprof --json DUMP`";
const VALGRIND: &str = "record with `valgrind --xtree-memory=full --xtree-memory-file=run.kcg`";
const XHPROF: &str = "record with Xdebug or Excimer";
const PYINSTRUMENT: &str =
    "convert the saved session with `pyinstrument --load FILE --show-all -r json -o run.json`";
const R: &str =
    "convert it in R with `profile::write_pprof(profile::read_rprof(FILE), \"run.pb.gz\")`";
const XDEBUG: &str = "record with `xdebug.mode=profile`";
const BPFTRACE: &str = "import the output of `stackcollapse-bpftrace.pl`";
const DRAWN: &str = "import the profile that it was made from";
// The byte order of the machine that recorded decides how its four letters look.
const TACHYON: &str =
    "convert it with `python -m profiling.sampling replay --collapsed -o run.folded FILE`";
const OTLP: &str = "export pprof from the profiler or from the server that collects the profiles";
const GECKO: &str = "open it in profiler.firefox.com and save it from there, or open it in speedscope and export it";
const SPEEDSCOPE: &str = "open it in speedscope and export it from there";
const COLLAPSED: &str = "import the output of `pprof --collapsed PROGRAM FILE`";
const HEAPTRACK: &str = "convert the recording with `heaptrack_print -f FILE -F run.folded`";
const DTRACE: &str = "import the output of `stackcollapse.pl` or `inferno-collapse-dtrace`";
const LEGACY: &str = "convert it with `go tool pprof -proto FILE > run.pb.gz`";
const JAVA: &str = "record with async-profiler: `asprof -o collapsed -f run.folded PID`";
const VTUNE: &str = "make a CSV report with `vtune -report top-down -call-stack-mode all` and convert it with `inferno-collapse-vtune`";
const VISUAL_STUDIO: &str =
    "make a call tree summary with VSPerfReport and convert it with `inferno-collapse-vsprof`";
const PERFVIEW: &str = "open the recording in PerfView and save it as Speedscope";
const SIMPLEPERF: &str = "import the output of simpleperf's script `report_sample.py`";
const ANDROID: &str =
    "record with simpleperf, and import the output of its script `report_sample.py`";
const FTRACE: &str = "record samples with `perf record -g`";
const TAR: &str = "extract it and import the files";
const NOTHING: &str = "profdb cannot import it; see `profdb formats`";

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
        "a Linux perf recording in JSON",
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
        "`perf stat` counters, which have no functions",
        "record with `perf record -g`",
    ),
    foreign(
        b"Percent |\tSource code & Disassembly",
        &[],
        "Linux perf annotate output",
        PERF,
    ),
    foreign(
        b"gmon\x01\0\0\0",
        &[],
        "a gprof recording (gmon.out)",
        "import the output of `gprof PROGRAM gmon.out`",
    ),
    foreign(
        b"FLR\0",
        &[],
        "a Java Flight Recorder file (JFR)",
        "convert it with `jfrconv FILE run.pb.gz` (part of async-profiler) and import run.pb.gz",
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
        "OpenTelemetry data (OTLP)",
        OTLP,
    ),
    foreign(
        b"{",
        &[b"\"profile\":{\"libs\":[", b"\"breakpadId\":"],
        "an unprocessed Gecko profile, as Firefox's developer tools record it",
        GECKO,
    ),
    foreign(
        b"{",
        &[b"\"libs\"", b"\"breakpadId\""],
        "an unprocessed Gecko profile",
        GECKO,
    ),
    foreign(b"memray\0", &[], MEMRAY, NOTHING),
    foreign(b"\x04\x22\x4d\x18", &[b"memray\0"], MEMRAY, NOTHING),
    foreign(
        b"allocator,num_allocations,size,tid,",
        &[],
        "a memray table",
        NOTHING,
    ),
    foreign(
        "📏 Total allocations:\n".as_bytes(),
        &["📦 Total memory allocated:\n".as_bytes()],
        "a memray report",
        NOTHING,
    ),
    foreign(
        b"{",
        &[b"\"total_num_allocations\":", b"\"total_bytes_allocated\":"],
        "a memray report",
        NOTHING,
    ),
    foreign(
        b"\x04\x22\x4d\x18",
        &[],
        "a file compressed with LZ4",
        "decompress it with `lz4 -d` and import the result",
    ),
    foreign(
        b"\xfd7zXZ\0",
        &[],
        "a file compressed with xz",
        "decompress it with `xz -d` and import the result",
    ),
    foreign(
        b"BZh",
        &[b"1AY&SY"],
        "a file compressed with bzip2",
        "decompress it with `bzip2 -d` and import the result",
    ),
    foreign(
        b"go 1.",
        &[b" trace\0"],
        "a Go execution trace",
        "import the output of `go tool trace -pprof=sched FILE`",
    ),
    foreign(
        b"heap profile: ",
        &[b"@ heapprofile"],
        "a gperftools heap profile",
        COLLAPSED,
    ),
    foreign(
        b"heap profile: ",
        &[b" @ "],
        "a heap profile in text form",
        GO_TEXT,
    ),
    foreign(
        b"heap_v2/",
        &[],
        "a jemalloc heap profile",
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
        "a gperftools recording with symbols",
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
        "an NYTProf recording",
        "import the output of `nytprofcalls FILE`",
    ),
    foreign(
        b"v 1",
        &[b"\nX ", b"\nI "],
        "a heaptrack recording",
        "convert it with `heaptrack_print -f FILE -F run.folded`",
    ),
    foreign(
        b"reading file \"",
        &[b"\nDebuggee command was: "],
        "a heaptrack report",
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
        "valgrind's terminal output",
        "import the file that the tool wrote, such as `callgrind.out.PID`",
    ),
    foreign(
        b"-----",
        &[b"\nProfile data file '"],
        "a callgrind report",
        "import the file that it was made from",
    ),
    foreign(
        b"-----",
        &[b"\nI1 cache:  ", b"\nEvents recorded: "],
        "a cachegrind report",
        "import the file that it was made from",
    ),
    foreign(b"v8-version,", &[], "a V8 log (`node --prof`)", V8_LOG),
    foreign(
        b"{",
        &[b"\"type\": \"SHARED_LIB\""],
        "a preprocessed V8 log (`node --prof`)",
        V8_LOG,
    ),
    foreign(
        b"Statistical profiling result from ",
        &[b" ticks, "],
        "a V8 report (`node --prof-process`)",
        V8_LOG,
    ),
    foreign(
        b"{\"snapshot\":",
        &[b"\"node_fields\""],
        "a V8 heap snapshot, which has no allocation sites",
        "record with `node --heap-prof`",
    ),
    foreign(
        b"\x04\x08{",
        &[b"gc_samples"],
        "a stackprof dump",
        STACKPROF,
    ),
    foreign(
        b"==================================\n  Mode: ",
        &[],
        "a stackprof report",
        STACKPROF,
    ),
    foreign(b"flamegraph([", &[], "a stackprof flame graph", STACKPROF),
    foreign(
        b"Measure Mode: ",
        &[b"\nThread ID: "],
        "a ruby-prof report",
        "record with ruby-prof's `CallTreePrinter`",
    ),
    foreign(
        b"rbspy0",
        &[b"{\"sample_rate\":"],
        "an rbspy recording",
        "convert it with `rbspy report --format speedscope --input FILE --output run.json`",
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
        "a GHC eventlog",
        "import the output of `hs-speedscope FILE`",
    ),
    foreign(
        b"JOB \"",
        &[b"\nSAMPLE_UNIT "],
        "a GHC heap profile, which has no stacks",
        "record with `+RTS -P`",
    ),
    foreign(b"{\"", &[b"==>", b"\"ct\":"], "an XHProf profile", XHPROF),
    foreign(
        b"a:",
        &[b"==>", b"s:2:\"ct\";"],
        "an XHProf profile",
        XHPROF,
    ),
    foreign(
        b"[{\"timestamp\":",
        &[b",\"events\":", b",\"trace\":[{"],
        "an Excimer log in JSON",
        "write it with `formatCollapsed()` or `getSpeedscopeData()`",
    ),
    foreign(b"TRACE START [", &[], "an Xdebug function trace", XDEBUG),
    foreign(
        b"Version: ",
        &[b"\nTRACE START ["],
        "an Xdebug function trace",
        XDEBUG,
    ),
    foreign(
        b"BEGIN;",
        &[b"CREATE TABLE routines(", b"CREATE TABLE calls("],
        "a Rakudo profile in SQL",
        NOTHING,
    ),
    foreign(
        b"[{\"",
        &[b"\"file\":\"SETTING::src/core"],
        "a Rakudo profile in JSON",
        NOTHING,
    ),
    foreign(
        b"{\"start_time\":",
        &[b"\"sample_count\":"],
        "a pyinstrument session",
        PYINSTRUMENT,
    ),
    foreign(
        b"_     ._   __/__ ",
        &[],
        "a pyinstrument report",
        PYINSTRUMENT,
    ),
    foreign(
        b"{",
        &[b"\"alloc_samples\":", b"\"elapsed_time_sec\":"],
        "a Scalene profile",
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
        "a `line_profiler` profile, which has no calls",
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
        "a yappi profile",
        "save it with `type='callgrind'` or `type='pstat'`",
    ),
    foreign(
        b"Nettrace",
        &[],
        "a .NET trace",
        "convert it with `dotnet-trace convert --format Speedscope FILE`",
    ),
    foreign(
        b"MMPD",
        &[],
        "a rustc self-profile",
        "import the output of `crox FILE`",
    ),
    foreign(
        b"Ftrace!\0",
        &[],
        "a uftrace recording",
        "import the output of `uftrace dump --chrome`",
    ),
    foreign(b"^\x97\xca\xfd", &[], "a sysprof recording", NOTHING),
    foreign(b"tlZ\x04", &[], "a Tracy trace", NOTHING),
    foreign(b"tZst", &[b"\x28\xb5\x2f\xfd"], "a Tracy trace", NOTHING),
    foreign(b"tracy\0", &[], "a Tracy trace", NOTHING),
    foreign(
        b"name,src_file,src_line,total_ns,",
        &[],
        "a Tracy table",
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
        "bpftrace output",
        BPFTRACE,
    ),
    foreign(b"@[\n", &[], "bpftrace output", BPFTRACE),
    foreign(
        b"CPU     ID                    FUNCTION:NAME",
        &[],
        "DTrace output",
        DTRACE,
    ),
    foreign(b"dtrace: ", &[], "DTrace output", DTRACE),
    foreign(
        b"--- heapz ",
        &[],
        "a heap profile of gperftools or Java in text form",
        LEGACY,
    ),
    foreign(
        b"--- contentionz ",
        &[],
        "a contention profile of gperftools or Java in text form",
        LEGACY,
    ),
    foreign(
        b"--- threadz ",
        &[],
        "a gperftools thread profile in text form",
        LEGACY,
    ),
    foreign(
        b"--- Thread ",
        &[b" stack: ---"],
        "a gperftools thread profile in text form",
        LEGACY,
    ),
    foreign(
        b"--- growthz ",
        &[],
        "a heap growth profile of gperftools in text form",
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
        "a Java heap dump (hprof), which has no allocation sites",
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
        "an Intel VTune call graph (gprof-cc)",
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
    foreign(b"SIMPLEPERF", &[], "a simpleperf recording", SIMPLEPERF),
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
    foreign(b"\x17\x08\x44tracing", &[], "a trace-cmd recording", FTRACE),
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
        "a Safari timeline",
        SPEEDSCOPE,
    ),
    foreign(
        b"{",
        &[b"\"flamebearer\":"],
        PYROSCOPE,
        "download the profile in pprof format",
    ),
    foreign(
        b"{",
        &[b"\"callchain\":", b"\"functions\":", b"\"events\":"],
        "a gprof2dot profile in JSON",
        DRAWN,
    ),
    foreign(
        b"{",
        &[b"\"names\"", b"\"levels\"", b"\"maxSelf\""],
        PYROSCOPE,
        "download the profile in pprof format",
    ),
    foreign(
        b"{",
        &[b"\"name\"", b"\"children\"", b"\"value\""],
        "flame graph data (d3-flame-graph)",
        DRAWN,
    ),
    foreign(b"2ELIFREP", &[], PERF_RECORDING, PERF),
    foreign(b"#", &[b"\n# Overhead  "], PERF_REPORT, PERF),
    foreign(
        b"PK\x03\x04",
        &[],
        "a ZIP archive",
        "extract it and import the files",
    ),
    foreign(b"PK\x05\x06", &[], "an empty ZIP archive", NOTHING),
    foreign(
        b"7z\xbc\xaf\x27\x1c",
        &[],
        "a 7z archive",
        "extract it and import the files",
    ),
    // In the first header: GNU tar's sign, and that of POSIX.
    foreign(b"", &[b"\0ustar  \0"], "a tar archive", TAR),
    foreign(b"", &[b"\0ustar\x0000"], "a tar archive", TAR),
    foreign(b"<svg", &[b"xmlns"], "an SVG image", DRAWN),
    foreign(b"<?xml", &[b"<svg"], "an SVG image", DRAWN),
    foreign(b"digraph \"", &[b"{\n"], "a Graphviz graph", DRAWN),
    foreign(b"digraph profile {\n", &[], "a Graphviz graph", DRAWN),
    foreign(b"<!DOCTYPE html", &[], "an HTML page", DRAWN),
    foreign(b"<!doctype html", &[], "an HTML page", DRAWN),
    foreign(b"<html", &[], "an HTML page", DRAWN),
];

const LOG_OF_FTRACE: &str = "an ftrace log (atrace, systrace), which has events but no samples";

/// Known by its lines: see `is_ftrace` in `src/formats/foreign.rs`.
pub(super) const FTRACE_LINES: Foreign = foreign(b"", &[], LOG_OF_FTRACE, FTRACE);

/// Known by its lines: see `is_dtrace` in `src/formats/foreign.rs`.
pub(super) const DTRACE_LINES: Foreign = foreign(b"", &[], "DTrace output", DTRACE);

/// Known by its fields: see `is_perfetto` in `src/formats/foreign.rs`.
pub(super) const PERFETTO: Foreign = foreign(
    b"",
    &[],
    "a Perfetto trace",
    "convert samples with `traceconv profile --perf FILE`, or slices with `traceconv json FILE run.json`",
);
