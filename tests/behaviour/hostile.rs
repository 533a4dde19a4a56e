//! Input that is made to hurt: what it may cost is measured by an allocator, and no figure is ever
//! wrong in silence.

#![expect(clippy::disallowed_methods, reason = "small files of our own")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::support::allocation;
use crate::support::built::built;
use crate::support::case_files::{Case, of_group, repository_path};
use crate::support::long;
use crate::support::protobuf::{field, varint};
use profdb::base::error::ImportError;
use profdb::formats::{FORMATS, format_named};
use profdb::profile::RunSummary;

/// What an import may take, however small the input is.
const MEMORY: usize = 64 << 20;

/// What it may take besides for each byte of the input.
const MEMORY_PER_BYTE: usize = 40;

/// What rows take that are on their way.
const MEMORY_OF_ROWS: usize = 8 << 20;

/// What a level of the tree may take while it is open.
const MEMORY_PER_LEVEL: usize = 192;

/// How many is a million. Without optimisation, a tenth of it takes as long.
const MILLION: usize = if cfg!(debug_assertions) {
    100_000
} else {
    1_000_000
};

/// What an importer makes of bytes, and the memory that it took, which must be in proportion.
#[track_caller]
fn measured(name: &str, bytes: &[u8]) -> Result<RunSummary, ImportError> {
    measured_within(MEMORY + MEMORY_PER_BYTE * bytes.len(), name, bytes)
}

/// The same of a tree that is as deep.
#[track_caller]
fn measured_deep(name: &str, bytes: &[u8], depth: usize) -> Result<RunSummary, ImportError> {
    // What grows by doubling has room for more.
    measured_within(
        MEMORY_OF_ROWS + MEMORY_PER_LEVEL * depth.next_power_of_two(),
        name,
        bytes,
    )
}

#[track_caller]
fn measured_within(bound: usize, name: &str, bytes: &[u8]) -> Result<RunSummary, ImportError> {
    let format = format_named(name).expect("a format");
    let (read, most) = allocation::most(|| built(format, bytes));
    assert!(
        most <= bound,
        "{name}: {most} bytes of memory for {} bytes",
        bytes.len()
    );
    long::print_figure(format_args!(
        "{name}: {} KB of memory for {} KB",
        most >> 10,
        bytes.len() >> 10
    ));
    read
}

#[track_caller]
fn refused(name: &str, bytes: &[u8], says: &str) {
    let error = measured(name, bytes)
        .err()
        .unwrap_or_else(|| panic!("{name}: imported after all"))
        .to_string();
    assert!(error.contains(says) && error.len() < 400, "{name}: {error}");
}

fn gzip(pieces: impl Iterator<Item = Vec<u8>>) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    pieces.for_each(|piece| {
        encoder
            .write_all(&piece)
            .expect("a vector takes everything");
    });
    encoder.finish().expect("a vector takes everything")
}

/// A file of a case.
fn case(format: &str, path: &str) -> Vec<u8> {
    fs::read(repository_path(&format!("tests/cases/{format}/{path}")))
        .unwrap_or_else(|error| panic!("{format}/{path}: {error}"))
}

/// What is small on the disk and large in memory: the message names the limit and the way around
/// it.
#[test]
fn bombs() {
    const SAYS: &str = "more than 500 times their size (limit: decompression ratio); decompress the file with another tool to import it";
    let blank = [vec![b' '; (1 << 16) - 1], vec![b'\n']].concat().repeat(16);
    let blanks = || (0..80).map(|_| blank.clone());
    let head = || std::iter::once(b"a;b 1\n".to_vec());
    let zipped = gzip(head().chain(blanks()));
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).expect("a vector takes everything");
    head().chain(blanks()).for_each(|piece| {
        encoder
            .write_all(&piece)
            .expect("a vector takes everything");
    });
    let packed = encoder.finish().expect("a vector takes everything");
    // Many small members, each of which is harmless.
    let members = gzip(blanks().take(1)).repeat(80);
    for bomb in [zipped.clone(), packed, [gzip(head()), members].concat()] {
        refused("folded", &bomb, SAYS);
    }
    // A bomb within a bomb is not unpacked twice.
    let twice = gzip(std::iter::once(zipped));
    assert!(matches!(
        measured("folded", &twice),
        Err(ImportError::Malformed { .. })
    ));
}

/// Nothing is fetched, and nothing is put in for a name that the file itself declares.
#[test]
fn declarations_in_xml() {
    let entry = "<ProfileEntry><Depth>0</Depth><Element>&x;</Element><Line>¯1</Line><Calls>1</Calls><ExclusiveTime>1\
                 </ExclusiveTime><InclusiveTime>1</InclusiveTime></ProfileEntry>";
    let lols: String = (1..10).fold("<!ENTITY x0 \"lol\">".to_owned(), |mut text, level| {
        let _ = write!(
            text,
            "<!ENTITY x{level} \"{}\">",
            format!("&x{};", level - 1).repeat(10)
        );
        text
    });
    let declared = [
        lols + "<!ENTITY x \"&x9;\">",
        "<!ENTITY x SYSTEM \"file:///secret\">".to_owned(),
        "<!ENTITY % p SYSTEM \"http://localhost/x.dtd\"> %p;".to_owned(),
    ];
    for declarations in declared {
        let content = format!(
            "<!DOCTYPE ProfileData [{declarations}]>\n<ProfileData>{entry}</ProfileData>\n"
        );
        refused("dyalog_xml", content.as_bytes(), "line ");
    }
    let outside = format!(
        "<!DOCTYPE ProfileData SYSTEM \"file:///secret\">\n<ProfileData>{entry}</ProfileData>\n"
    );
    refused("dyalog_xml", outside.as_bytes(), "line ");
}

/// How files in JSON begin, up to the value of a member that the importer passes over.
const JSON_HEADS: &[(&str, &str)] = &[
    (
        "cpuprofile",
        r#"{"nodes":[{"id":1,"callFrame":{"functionName":"f"}}],"x":"#,
    ),
    (
        "chrome_trace",
        r#"{"traceEvents":[{"name":"f","ph":"X","ts":0,"dur":1,"pid":1,"tid":1,"args":"#,
    ),
    (
        "speedscope",
        r#"{"$schema":"https://www.speedscope.app/file-format-schema.json","x":"#,
    ),
    (
        "heapprofile",
        r#"{"head":{"callFrame":{"functionName":"f"},"selfSize":1,"children":[],"x":"#,
    ),
    ("ghc_json", r#"{"program":"x","x":"#),
    (
        "pyinstrument_json",
        r#"{"root_frame":{"function":"f","time":1,"children":[],"x":"#,
    ),
    ("firefox", r#"{"meta":{"interval":1,"x":"#),
    ("stackprof", r#"{"mode":"cpu","metadata":{"x":"#),
];

/// Whether files of a format are JSON, as the case `minimal` shows.
fn is_json(format: &str) -> bool {
    // Three formats have no case `minimal`: they are XML, CSV and text.
    of_group(format)
        .iter()
        .filter(|case| case.slug == "minimal")
        .flat_map(Case::inputs)
        .any(|(_, bytes)| matches!(bytes.trim_ascii_start().first(), Some(b'{' | b'[')))
}

/// Neither a reader nor the tree recurses.
#[test]
fn a_million_levels() {
    const DEEP: usize = MILLION;
    let folded = format!("{} 1\n", "f;".repeat(DEEP).trim_end_matches(';'));
    assert_eq!(
        measured_deep("folded", folded.as_bytes(), DEEP)
            .expect("a tree")
            .nodes,
        DEEP as u64
    );

    let mut tree = "LispWorks Profiler Tree: test\n".to_owned();
    for level in 0..DEEP {
        let _ = writeln!(tree, "{level}|1|0|1|1|F");
    }
    let nodes = measured_deep("lispworks_tree", tree.as_bytes(), DEEP).map(|totals| totals.nodes);
    assert!(
        nodes.as_ref().is_ok_and(|nodes| *nodes == DEEP as u64),
        "{nodes:?}"
    );

    // Members that no importer reads may nest, too.
    let mut tried = BTreeSet::new();
    for (format, head) in JSON_HEADS {
        tried.insert(*format);
        let content = format!("{head}{}", "[".repeat(DEEP));
        assert!(
            measured(format, content.as_bytes()).is_err(),
            "{format}: read to its end, which is not there"
        );
    }
    let of_json: BTreeSet<&str> = FORMATS
        .iter()
        .map(|format| format.name)
        .filter(|name| is_json(name))
        .collect();
    assert_eq!(
        tried, of_json,
        "formats in JSON_HEADS, and those whose case `minimal` is JSON"
    );
    // A message in a message, as deep as lengths can say.
    let mut nested = Vec::new();
    for _ in 0..1000 {
        let mut length = nested.len();
        let mut field = vec![0x0a];
        while length >= 0x80 {
            field.push(u8::try_from(length & 0x7f).expect("7 bits") | 0x80);
            length >>= 7;
        }
        field.push(u8::try_from(length).expect("7 bits"));
        field.append(&mut nested);
        nested = field;
    }
    assert!(measured("pprof", &nested).is_err());
}

/// Formats whose names cannot be long: they have 65,535 bytes at most.
const SHORT_NAMES: &[&str] = &["business_rules"];

/// A name of 100 MB passes what one record may be: it is refused, with a fraction of its size in
/// memory.
#[test]
fn names_of_100_mb() {
    let long = "x".repeat(if cfg!(debug_assertions) {
        17 << 20
    } else {
        100 << 20
    });
    let contents = [
        ("folded", format!("{long} 1\n")),
        (
            "callgrind",
            format!("# callgrind format\nevents: Ir\n\nfn={long}\n1 1\n"),
        ),
        (
            "dyalog_csv",
            format!(
                "\"Element\",\"Line\",\"Calls\",\"ExclusiveTime\",\"InclusiveTime\"\n\"{long}\",,1,1,1\n"
            ),
        ),
        (
            "dyalog_xml",
            format!(
                "<ProfileData><ProfileEntry><Element>{long}</Element></ProfileEntry></ProfileData>\n"
            ),
        ),
        (
            "lispworks_tree",
            format!("LispWorks Profiler Tree: t\n0|1|1|1|1|{long}\n"),
        ),
        (
            "austin",
            format!("# austin: 3.7.0\n# interval: 1000\n# mode: wall\n\nP7;T0:7;{long} 1\n"),
        ),
        (
            "cpuprofile",
            format!(r#"{{"nodes":[{{"id":1,"callFrame":{{"functionName":"{long}"}}}}]}}"#),
        ),
        (
            "chrome_trace",
            format!(r#"[{{"name":"{long}","ph":"X","ts":0,"dur":1,"pid":1,"tid":1}}]"#),
        ),
        (
            "perf_script",
            format!("work 1 1.0: 1 cpu-clock: \n\t 1585 {long}+0x1e (/x)\n\n"),
        ),
    ];
    // In cases, in the place of a name that is there.
    let places = [
        ("sampler", "minimal/run.trace", "alpha"),
        ("ghc_px", "another-centre/run.prof", "MAIN"),
        ("ghc_prof", "all/run.prof", "even"),
        ("ghc_json", "bare-quotes/run.json", "weird"),
        ("heapprofile", "children-first/run.heapprofile", "main"),
        ("speedscope", "calls-left-open/run.json", "main"),
        ("firefox", "allocations/profile.json", "main"),
        ("gprof", "block-without-function/run.gprof", "work"),
        ("pyinstrument_json", "minimal/run.json", "sorted"),
        ("stackprof", "minimal/run.json", "<main>"),
    ];
    let places = places.map(|(format, path, name)| {
        let bytes = case(format, path);
        let at = bytes
            .windows(name.len())
            .position(|found| found == name.as_bytes());
        let at = at.unwrap_or_else(|| panic!("{path}: no {name}"));
        (
            format,
            [&bytes[..at], long.as_bytes(), &bytes[at + name.len()..]].concat(),
        )
    });
    let length = u32::try_from(long.len())
        .expect("less than 4 GiB")
        .to_le_bytes();
    let binary = [
        (
            "pprof",
            [
                field(1, &[8, 1, 16, 1]),
                field(6, b""),
                field(6, long.as_bytes()),
            ]
            .concat(),
        ),
        (
            "pstats",
            [b"{)\x03z\x01au", length.as_slice(), long.as_bytes()].concat(),
        ),
    ];
    let contents = contents.map(|(format, content)| (format, content.into_bytes()));
    let mut tried: BTreeSet<&str> = SHORT_NAMES.iter().copied().collect();
    for (format, content) in contents.into_iter().chain(places).chain(binary) {
        tried.insert(format);
        let reader = format_named(format).expect("a format");
        let (read, most) = allocation::most(|| built(reader, &content));
        let error = read
            .err()
            .unwrap_or_else(|| panic!("{format}: imported after all"))
            .to_string();
        assert!(error.contains("(limit: record size)"), "{format}: {error}");
        assert!(most <= 96 << 20, "{format}: {most} bytes");
    }
    assert_eq!(
        tried,
        all_formats(),
        "formats with a long name in contents, places or binary, or in SHORT_NAMES"
    );
}

fn all_formats() -> BTreeSet<&'static str> {
    FORMATS.iter().map(|format| format.name).collect()
}

/// A million different metrics, labels, threads: refused or read, in memory that is in proportion.
#[test]
fn a_million_of_everything() {
    const MANY: usize = MILLION;
    let list = |start: &str, each: &dyn Fn(usize) -> String, end: &str| {
        let mut content = start.to_owned();
        (0..MANY).for_each(|number| content.push_str(&each(number)));
        content + end
    };
    let outcome = |format: &str, content: String| {
        let read = measured(format, content.as_bytes());
        let told = read
            .map(|totals| totals.metrics.len())
            .map_err(|error| error.to_string());
        if let Err(error) = &told {
            assert!(error.contains("at most"), "{format}: {error}");
        }
    };
    outcome(
        "callgrind",
        list(
            "# callgrind format\nevents:",
            &|number| format!(" e{number}"),
            "\n\nfn=f\n1 1\n",
        ),
    );
    outcome(
        "perf_script",
        list(
            "",
            &|number| format!("a 1 1.0: 1 e{number}: \n\t 1 f+0x1 (/x)\n\n"),
            "",
        ),
    );
    outcome(
        "perf_script",
        list(
            "",
            &|number| format!("a 1/{number} 1.0: 1 e: \n\t 1 f+0x1 (/x)\n\n"),
            "",
        ),
    );
    outcome(
        "chrome_trace",
        list(
            "[",
            &|number| {
                format!(
                    "{{\"name\":\"f\",\"ph\":\"X\",\"ts\":0,\"dur\":1,\"pid\":1,\"tid\":{number}}},"
                )
            },
            "]",
        ),
    );
    outcome(
        "austin",
        list(
            "# austin: 3.7.0\n# interval: 1000\n# mode: wall\n\n",
            &|number| format!("P1;T0:{number};/a:f:1 1\n"),
            "",
        ),
    );
    outcome("folded", list("", &|number| format!("f{number} 1\n"), ""));

    // Sample types, and labels: two numbers each, of texts that are all there.
    let text = |number: usize| field(6, format!("t{number}").as_bytes());
    let texts: Vec<u8> = std::iter::once(field(6, b""))
        .chain((1..=MANY).map(text))
        .flatten()
        .collect();
    let types = (1..=MANY)
        .flat_map(|number| field(1, &[&[8], varint(number).as_slice(), &[16, 1]].concat()));
    let many_types: Vec<u8> = types.chain(texts.iter().copied()).collect();
    assert!(
        measured("pprof", &many_types).is_err_and(|error| error.to_string().contains("at most"))
    );
    let labels = (1..=MANY).flat_map(|number| {
        let label = field(3, &[&[8, 1, 16], varint(number).as_slice()].concat());
        field(2, &[&[8, 1, 16, 1], label.as_slice()].concat())
    });
    let many_labels: Vec<u8> = field(1, &[8, 1, 16, 1])
        .into_iter()
        .chain(field(5, &[8, 1, 16, 1]))
        .chain(field(4, &[8, 1, 0x22, 2, 8, 1]))
        .chain(texts.iter().copied())
        .chain(labels)
        .collect();
    let labelled = measured("pprof", &many_labels);
    let count = labelled
        .map(|totals| totals.labels.len())
        .map_err(|error| error.to_string());
    assert!(
        matches!(&count, Ok(labels) if *labels == MANY)
            || count.as_ref().is_err_and(|e| e.contains("at most")),
        "{count:?}"
    );
}

/// Each metric is one of all functions, lines and open calls, and of most of them the file need not
/// say it.
#[test]
fn metrics_that_multiply() {
    const TYPES: usize = 128;
    let mut sparse = "# callgrind format\nevents:".to_owned();
    (0..64).for_each(|number| _ = write!(sparse, " e{number}"));
    sparse.push_str("\n\n");
    (0..MILLION).for_each(|number| _ = writeln!(sparse, "fn=f{number}\n1 1"));
    refused("callgrind", sparse.as_bytes(), "(limit: omitted costs)");

    let text = |number: usize| field(6, format!("t{number}").as_bytes());
    let texts = std::iter::once(field(6, b""))
        .chain((1..=TYPES).map(text))
        .flatten();
    let types = (1..=TYPES)
        .flat_map(|number| field(1, &[&[8], varint(number).as_slice(), &[16, 1]].concat()));
    let tables = [field(5, &[8, 1, 16, 1]), field(4, &[8, 1, 0x22, 2, 8, 1])].concat();
    let sample = field(
        2,
        &[field(1, &vec![1; 60_000]), field(2, &[1; TYPES])].concat(),
    );
    let deep: Vec<u8> = types.chain(tables).chain(texts).chain(sample).collect();
    let pprof = format_named("pprof").expect("a format");
    let (read, most) = allocation::most(|| built(pprof, &deep));
    let error = read.expect_err("60,000 levels of 128 metrics").to_string();
    assert!(error.contains("(limit: open figures)"), "{error}");
    assert!(
        most <= 2 * MEMORY + MEMORY + MEMORY_PER_BYTE * deep.len(),
        "{most} bytes"
    );
}

/// Numbers at the edges of types, and what is none.
const NUMBERS: &[&str] = &[
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "9007199254740993",
    "1e400",
    "-1e400",
    "1e308",
    "1e-400",
    "NaN",
    "nan",
    "inf",
    "-inf",
    "Infinity",
    "-0",
    "-0.0",
    "-1",
    "0x10",
    "1e3",
    "+5",
    "1_000",
    "١",
    "4294967296",
];

/// Formats of text whose smallest file says a cost in several places, which have to agree, or says
/// no cost but intervals, percentages or readings: the numbers of their cases are tried.
const SEVERAL_COSTS: &[&str] = &[
    "cpuprofile",
    "firefox",
    "ghc_json",
    "ghc_prof",
    "ghc_px",
    "gprof",
    "stackprof",
];

/// A file with one cost, at `@`, and the unit of that cost.
const ONE_COST: &[(&str, &str, f64)] = &[
    ("folded", "f @\n", 1.0),
    (
        "callgrind",
        "# callgrind format\nevents: Ir\n\nfn=f\n1 @\n",
        1.0,
    ),
    (
        "lispworks_tree",
        "LispWorks Profiler Tree: t\n0|@|0|@|@|F\n",
        1.0,
    ),
    (
        "dyalog_csv",
        "\"Element\",\"Line\",\"Calls\",\"ExclusiveTime\",\"InclusiveTime\"\n\"f\",,1,@,@\n",
        1e6,
    ),
    (
        "dyalog_xml",
        "<ProfileData><ProfileEntry><Depth>0</Depth><Element>f</Element><Line>¯1</Line><Calls>1</Calls><ExclusiveTime>@\
         </ExclusiveTime><InclusiveTime>@</InclusiveTime></ProfileEntry></ProfileData>\n",
        1e6,
    ),
    (
        "austin",
        "# austin: 3.7.0\n# interval: 1000\n# mode: wall\n\nP7;T0:7;/srv/a.py:f:9 @\n",
        1e3,
    ),
    (
        "perf_script",
        "work  1  1.0:    @ cpu-clock: \n\t    1585 helper+0x1e (/srv/app/work)\n\n",
        1.0,
    ),
    (
        "heapprofile",
        r#"{"head":{"callFrame":{"functionName":"f","url":"","lineNumber":0,"columnNumber":0},"selfSize":@,"children":[]}}"#,
        1.0,
    ),
    (
        "speedscope",
        r#"{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[{"name":"f"}]},"profiles":
        [{"type":"sampled","name":"t","unit":"none","startValue":0,"endValue":1,"samples":[[0]],"weights":[@]}]}"#,
        1.0,
    ),
    (
        "chrome_trace",
        r#"[{"name":"f","ph":"X","ts":0,"dur":@,"pid":1,"tid":1}]"#,
        1e3,
    ),
    (
        "pyinstrument_json",
        r#"{"root_frame":{"function":"f","time":@}}"#,
        1e9,
    ),
];

/// A number is read as it is, rounded to a REAL; or there is a note; or an error with its place.
#[test]
fn every_number_is_read_or_refused() {
    for (name, template, scale) in ONE_COST {
        let format = format_named(name).expect("a format");
        let plain = built(format, template.replace('@', "7").as_bytes());
        let plain = plain
            .map(|totals| totals.metrics[0].total)
            .map_err(|error| error.to_string());
        assert_eq!(plain, Ok(7.0 * scale), "{name}");
        for number in NUMBERS {
            // That is an address where a period may be left out.
            if *name == "perf_script" && number.starts_with("1e") {
                continue;
            }
            let content = template.replace('@', number);
            match built(format, content.as_bytes()) {
                Ok(totals) => {
                    let total = totals.metrics.first().map_or(0.0, |metric| metric.total);
                    // Callgrind writes hexadecimal numbers, too.
                    let expected = number
                        .parse::<f64>()
                        .ok()
                        .or((*number == "0x10").then_some(16.0));
                    let expected = expected.map(|number| number * scale);
                    let near = |expected: f64| (total - expected).abs() <= 1e-12 * expected.abs();
                    let noted = !totals.notes.is_empty();
                    assert!(
                        total.is_finite() && (noted || expected.is_some_and(near)),
                        "{name}: {number} read as {total}"
                    );
                }
                Err(error) => placed(name, number, &error),
            }
        }
    }
}

/// What the file is to blame for has a place in it; what only shows in the sum cannot have one, and
/// has a reason.
#[track_caller]
fn placed(name: &str, number: &str, error: &ImportError) {
    let text = error.to_string();
    let has_place = matches!(
        error,
        ImportError::Malformed { .. } | ImportError::Limit { .. }
    );
    let has_reason = matches!(error, ImportError::Refused(_)) && !text.starts_with("the importer ");
    assert!(
        (has_place || has_reason) && text.len() < 400,
        "{name}: {number}: {text}"
    );
}

/// The same numbers in the place of every number of every small case: whatever comes of it is
/// finite, or an error.
#[test]
fn every_number_of_every_case() {
    let mut tried = 0;
    let (mut texts, mut binary) = (BTreeSet::new(), BTreeSet::new());
    for format in FORMATS {
        let named = ["minimal", "foo-0.9.0-tree", "foo-1.37-tree"];
        let cases = of_group(format.name).into_iter();
        for case in cases.filter(|case| named.contains(&&*case.slug)) {
            for (input, bytes) in case.inputs() {
                let Ok(text) = String::from_utf8(bytes) else {
                    binary.insert(format.name);
                    continue;
                };
                texts.insert(format.name);
                for (from, to) in numbers(&text).into_iter().take(60) {
                    for number in NUMBERS.iter().step_by(2) {
                        let content = format!("{}{number}{}", &text[..from], &text[to..]);
                        let read =
                            catch_unwind(AssertUnwindSafe(|| built(format, content.as_bytes())));
                        let read = read.unwrap_or_else(|_| {
                            panic!("{}/{input}: {number} at byte {from}", case.name())
                        });
                        tried += 1;
                        match read {
                            Ok(totals) => assert!(
                                totals.metrics.iter().all(|metric| metric.total.is_finite())
                            ),
                            Err(error) => placed(format.name, number, &error),
                        }
                    }
                }
            }
        }
    }
    long::print_figure(format_args!("{tried} numbers"));
    assert!(tried > 1000, "{tried}");
    let patterns: BTreeSet<&str> = BINARY.iter().map(|(format, _)| *format).collect();
    assert!(
        binary.is_subset(&patterns),
        "a binary format is not in BINARY: {binary:?}"
    );
    assert_eq!(
        texts.union(&patterns).copied().collect::<BTreeSet<_>>(),
        all_formats(),
        "formats with numbers tried"
    );
    let one_cost: BTreeSet<&str> = ONE_COST.iter().map(|(format, ..)| *format).collect();
    let covered: BTreeSet<&str> = one_cost
        .into_iter()
        .chain(patterns)
        .chain(SEVERAL_COSTS.iter().copied())
        .collect();
    assert_eq!(
        covered,
        all_formats(),
        "formats with a cost at a known place, binary, or without such a place"
    );
}

/// Patterns at the edges of what bytes, lengths, counts, integers and floating-point numbers can
/// be, in both byte orders, and varints: 2^63, 2^64 - 1, 2^64 and more, and a number without an
/// end.
const PATTERNS: &[&[u8]] = &[
    &[0],
    &[0x7f],
    &[0x80],
    &[0xff],
    &[0x7f, 0xff],
    &[0xff, 0xff],
    &[0x7f, 0xff, 0xff, 0xff],
    &[0x80, 0, 0, 0],
    &[0, 0, 0, 0x80],
    &[0xff, 0xff, 0xff, 0xff],
    &[0xff, 0xff, 0xff, 0x7f],
    &[0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
    &[0x80, 0, 0, 0, 0, 0, 0, 0],
    &[0, 0, 0, 0, 0, 0, 0, 0x80],
    &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
    &[0, 0, 0, 0, 0, 0, 0xf8, 0x7f],
    &[0, 0, 0, 0, 0, 0, 0xf0, 0x7f],
    &[0, 0, 0, 0, 0, 0, 0xf0, 0xff],
    &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01],
    &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
    &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02],
    &[
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f,
    ],
];

/// Small files of the formats and packings that are not text.
const BINARY: &[(&str, &str)] = &[
    ("pprof", "minimal/run.pb"),
    ("pprof", "labels/run.pb"),
    ("pprof", "packed-and-unpacked/run.pb"),
    ("pprof", "gzip/run.pb.gz"),
    ("pprof", "zstd/run.pb.zst"),
    ("pstats", "minimal/run.pstats"),
    ("pstats", "long-numbers/run.pstats"),
    ("business_rules", "mixed-order/run.prof"),
    ("business_rules", "plain-timed/run.prof"),
    ("sampler", "minimal/run.trace"),
    ("dyalog_csv", "gzip/run.csv.gz"),
    ("dyalog_csv", "zstd/run.csv.zst"),
];

/// Each pattern over the bytes at every place of a binary file, and in the place of every byte:
/// what is read is finite, or an error with its place, and takes no more memory than the file is
/// worth.
#[test]
fn every_place_of_binary_files() {
    let mut tried = 0;
    for (name, path) in BINARY {
        let format = format_named(name).expect("a format");
        let bytes = case(name, path);
        for at in 0..bytes.len() {
            // Without optimisation, a fourth of them, and another fourth at the next place.
            let step = if cfg!(debug_assertions) { 4 } else { 1 };
            for pattern in PATTERNS.iter().skip(at % step).step_by(step) {
                for end in [at + 1, at + pattern.len()] {
                    let content =
                        [&bytes[..at], pattern, bytes.get(end..).unwrap_or_default()].concat();
                    let about = format!("{name}/{path}: {pattern:02x?} at {at}, up to {end}");
                    let (read, most) = allocation::most(|| {
                        catch_unwind(AssertUnwindSafe(|| built(format, &content)))
                    });
                    assert!(
                        most <= MEMORY + MEMORY_PER_BYTE * content.len(),
                        "{about}: {most} bytes of memory"
                    );
                    tried += 1;
                    match read.unwrap_or_else(|_| panic!("{about}")) {
                        Ok(totals) => {
                            assert!(
                                totals.metrics.iter().all(|metric| metric.total.is_finite()),
                                "{about}"
                            );
                        }
                        // Damaged compression.
                        Err(ImportError::Read { .. })
                            if path.ends_with("gz") || path.ends_with("zst") => {}
                        Err(error) => placed(name, &about, &error),
                    }
                }
            }
        }
    }
    long::print_figure(format_args!("{tried} patterns"));
}

/// What an integer or a floating-point number of a binary format can hold is read as it is, or
/// there is a note, or an error with its place.
#[test]
#[expect(
    clippy::cast_precision_loss,
    reason = "a REAL is what such a number is rounded to"
)]
fn every_binary_number_is_read_or_refused() {
    let check = |name: &str, what: &str, content: &[u8], expected: Option<f64>| match built(
        format_named(name).expect("a format"),
        content,
    ) {
        Ok(totals) => {
            let total = totals.metrics[0].total;
            let near =
                expected.is_some_and(|expected| (total - expected).abs() <= 1e-12 * expected.abs());
            assert!(
                total.is_finite() && (near || !totals.notes.is_empty()),
                "{name}: {what} read as {total}"
            );
        }
        Err(error) => placed(name, what, &error),
    };
    let whole: [u64; 12] = [
        0,
        1,
        7,
        u32::MAX.into(),
        1 << 32,
        (1 << 53) + 1,
        i64::MAX.unsigned_abs(),
        1 << 63,
        (1 << 63) + 1,
        u64::MAX - 1,
        u64::MAX,
        1 << 62,
    ];
    let texts = [field(6, b""), field(6, b"t")].concat();
    let place = [field(4, &[8, 1, 0x22, 2, 8, 1]), field(5, &[8, 1, 16, 1])].concat();
    for number in whole {
        let value = varint(usize::try_from(number).expect("64 bits"));
        for sample in [
            [&[8, 1, 16], value.as_slice()].concat(),
            [vec![8, 1], field(2, &value)].concat(),
        ] {
            let content = [
                field(1, &[8, 1, 16, 1]),
                field(2, &sample),
                place.clone(),
                texts.clone(),
            ]
            .concat();
            check(
                "pprof",
                &number.to_string(),
                &content,
                Some(number.cast_signed() as f64),
            );
        }
        let log = [
            b"\x01\0\x01\0\x01f\x03\0\x01\0\0\0\x01\x01\x04",
            number.to_be_bytes().as_slice(),
            b"\x06",
        ]
        .concat();
        check(
            "business_rules",
            &number.to_string(),
            &log,
            (number < 1 << 63).then_some(number as f64),
        );
    }
    let stats = |time: &[u8]| {
        let times = [time, time].concat();
        [
            b"{)\x03z\x01ai\x01\0\0\0z\x01f)\x05i\x01\0\0\0i\x01\0\0\0",
            times.as_slice(),
            b"{00",
        ]
        .concat()
    };
    let real = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        5e-324,
        1e299,
        1e300,
        f64::MAX,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    for number in real {
        let expected = Some(number * 1e9).filter(|expected| expected.is_finite());
        let content = stats(&[b"g", number.to_le_bytes().as_slice()].concat());
        check("pstats", &number.to_string(), &content, expected);
    }
    // Whole numbers: a byte for the sign and number of digits of 15 bits.
    for (digits, expected) in [
        (4, 2_f64.powi(60)),
        (5, 2_f64.powi(75)),
        (-5, -(2_f64.powi(75))),
        (i32::MIN, 0.0),
    ] {
        let size = usize::try_from(digits.unsigned_abs())
            .expect("a number")
            .min(5);
        let digits_of_it = [0xff, 0x7f].repeat(size);
        let content = stats(&[b"l", digits.to_le_bytes().as_slice(), &digits_of_it].concat());
        check(
            "pstats",
            &format!("{digits} digits"),
            &content,
            Some(expected * 1e9),
        );
    }
}

/// Where the numbers of a text are: runs of digits, with what belongs to them.
fn numbers(text: &str) -> Vec<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() || at > 0 && bytes[at - 1].is_ascii_alphanumeric() {
            at += 1;
            continue;
        }
        let length = bytes[at..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit() || **byte == b'.')
            .count();
        found.push((at, at + length));
        at += length;
    }
    found
}
