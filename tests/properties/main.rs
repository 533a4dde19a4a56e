//! Properties of every input of every case, one trial for each property and input:
//! `dyalog_xml/recursion::calls_are_balanced`. The commands of every case, compared with their output:
//! `dyalog_xml/recursion::commands`.
//!
//! A new format gets these tests by having cases. `cargo test --test properties recursion` runs some.

#![expect(clippy::disallowed_methods, reason = "small files of our own")]

use std::env;
use std::io::{self, Read, Write};
use std::process::ExitCode;

use libtest_mimic::{Failed, Trial};
use profdb::base::error::Stop;
use profdb::formats::{Confidence, FORMATS, Format};
use profdb::input::{Input, Limits};
use support::case_inputs::{
    Property, Sample, case_inputs, ensure, equal, open, outcome, outcome_of, trial,
};
use support::laws::LAWS;
use support::{harness, long};

mod cases;
mod growth;
#[cfg(unix)]
mod workers;

#[path = "../support"]
#[expect(dead_code, reason = "each program needs a part of it")]
mod support {
    pub(crate) mod case_files;
    pub(crate) mod case_inputs;
    pub(crate) mod growth;
    pub(crate) mod harness;
    pub(crate) mod laws;
    pub(crate) mod long;
    pub(crate) mod made_runs;
    pub(crate) mod program;
    pub(crate) mod protobuf;
    pub(crate) mod protobuf_reader;
    pub(crate) mod references;
    pub(crate) mod skipped;
    pub(crate) mod tools;
}

/// Files up to this size are cut after every byte, larger ones in [`CUTS`] places.
const CUT_EVERYWHERE: usize = 1024;

const CUTS: usize = 200;

/// Formats whose signature may stand anywhere in the first line.
const BEGINS_WITH_ANYTHING: [&str; 3] = ["dyalog_csv", "lispworks_tree", "perf_script"];

/// Formats without a signature: any line of theirs may be the first one.
const HAS_NO_SIGNATURE: [&str; 2] = ["folded", "gprof"];

/// Formats whose first byte may be another one: Python sets a bit of it in what it refers to later.
const HAS_TWO_FIRST_BYTES: [&str; 1] = ["pstats"];

/// Formats that are another one but for their signature: Austin's lines are stacks.
const IS_OTHERWISE: [(&str, &str); 1] = [("austin", "folded")];

/// Properties of every input, profile or not.
const PROPERTIES: [(&str, Property); 3] = [
    ("compression_changes_nothing", compression_changes_nothing),
    ("reads_like_itself", reads_like_itself),
    ("small_reads_change_nothing", small_reads_change_nothing),
];

/// A property that costs much, and is tried for some cases of each format.
const COSTLY: (&str, Property) = (
    "prefixes_are_read_without_panic",
    prefixes_are_read_without_panic,
);

/// Properties of every input that is imported without an error.
const PROFILE_PROPERTIES: [(&str, Property); 3] = [
    ("broken_signature_is_nobodys", broken_signature_is_nobodys),
    ("calls_are_balanced", calls_are_balanced),
    (
        "detected_by_its_own_format_only",
        detected_by_its_own_format_only,
    ),
];

fn main() -> ExitCode {
    #[cfg(unix)]
    if workers::is_worker() {
        return workers::work().expect("requests are read and answered");
    }
    let code = harness::run(env!("CARGO_CRATE_NAME"), trials);
    #[cfg(unix)]
    workers::end().expect("workers end when their input ends");
    code
}

fn trials() -> Vec<Trial> {
    let mut trials = cases::trials();
    trials.extend(growth::trials());
    for (name, sample) in one_of_each_format() {
        trials.extend(LAWS.map(|law| trial(&name, &sample, law)));
    }
    for (name, sample) in case_inputs() {
        let costly = long::includes_case(&name).then_some(&COSTLY);
        let of_profiles = sample.is_profile().then_some(&PROFILE_PROPERTIES[..]);
        let properties = PROPERTIES.iter().chain(costly);
        let properties = properties.chain(of_profiles.unwrap_or_default());
        trials.extend(properties.map(|property| trial(&name, &sample, *property)));
    }
    #[cfg(unix)]
    trials.push(harness::trial(
        "workers::worker_that_ends_is_replaced".to_owned(),
        workers::worker_that_ends_is_replaced,
    ));
    trials
}

/// Returns a profile of each format: the case `minimal` or else the first one.
fn one_of_each_format() -> Vec<(String, Sample)> {
    let mut chosen: Vec<(String, Sample)> = Vec::new();
    for (name, sample) in case_inputs() {
        let is_minimal = name.split('/').nth(1) == Some("minimal");
        let index = chosen
            .iter()
            .position(|(_, known)| known.format.name == sample.format.name);
        match index {
            Some(index) if is_minimal && sample.is_profile() => chosen[index] = (name, sample),
            None if sample.is_profile() => chosen.push((name, sample)),
            _ => {}
        }
    }
    assert_eq!(chosen.len(), FORMATS.len(), "a profile of each format");
    chosen
}

/// The content of a file that may be compressed.
fn plain(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    if bytes.starts_with(&[0x1f, 0x8b]) {
        flate2::read::GzDecoder::new(bytes)
            .read_to_end(&mut plain)
            .expect("cases hold whole gzip files");
        plain
    } else if bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        zstd::decode_all(bytes).expect("cases hold whole zstd files")
    } else {
        bytes.to_vec()
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).expect("a vector takes everything");
    encoder.finish().expect("a vector takes everything")
}

fn compare(
    what: &str,
    expected: &(Vec<String>, Option<String>),
    found: &(Vec<String>, Option<String>),
) -> Result<(), Failed> {
    equal(what, &expected.0, &found.0)?;
    ensure(expected.1 == found.1, || {
        format!("{what}: {:?} against {:?}", expected.1, found.1)
    })
}

fn compression_changes_nothing(sample: &Sample) -> Result<(), Failed> {
    let plain = plain(&sample.bytes);
    let expected = outcome(&plain);
    compare("gzip", &expected, &outcome(&gzip(&plain)))?;
    let zstd = zstd::encode_all(plain.as_slice(), 3).expect("a vector takes everything");
    compare("zstd", &expected, &outcome(&zstd))
}

fn reads_like_itself(sample: &Sample) -> Result<(), Failed> {
    compare(
        "second time",
        &outcome(&sample.bytes),
        &outcome(&sample.bytes),
    )
}

fn prefixes_are_read_without_panic(sample: &Sample) -> Result<(), Failed> {
    let length = sample.bytes.len();
    let step = if length <= CUT_EVERYWHERE {
        1
    } else {
        length.div_ceil(CUTS)
    };
    for end in (0..length).step_by(step) {
        let (events, error) = outcome(&sample.bytes[..end]);
        // Half a run is no run: what was opened may stay open only where an error says so.
        ensure(error.is_some() || depth(&events) == Ok(0), || {
            format!("the first {end} bytes leave nodes open")
        })?;
    }
    Ok(())
}

fn small_reads_change_nothing(sample: &Sample) -> Result<(), Failed> {
    struct Drip<'a>(&'a [u8]);
    impl Read for Drip<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let size = buffer.len().min(1);
            self.0.read(&mut buffer[..size])
        }
    }
    let drip = Input::new(
        Box::new(Drip(&sample.bytes)),
        Limits::default(),
        Stop::default(),
    );
    compare("byte by byte", &outcome(&sample.bytes), &outcome_of(drip))
}

/// Nodes open after the events, if these keep the rules of `Sink` for nodes and their costs.
fn depth(events: &[String]) -> Result<usize, String> {
    let mut depth = 0_usize;
    let mut metrics: Vec<&str> = Vec::new();
    // The metrics in which the innermost node has a cost; `None` as soon as it has had a child.
    let mut costs: Option<Vec<&str>> = None;
    for (at, event) in events.iter().enumerate() {
        let (word, rest) = event.split_once(' ').unwrap_or((event, ""));
        match word {
            // After the name come its unit and its noise.
            "metric" if depth == 0 => metrics.extend(rest.rsplitn(3, ' ').nth(2)),
            "enter" if !metrics.is_empty() => {
                depth += 1;
                costs = Some(Vec::new());
            }
            "cost" if depth > 0 => {
                // A name may have blanks, and be the beginning of another one.
                let named = metrics.iter().filter(|metric| {
                    let rest = rest.strip_prefix(**metric);
                    rest.is_some_and(|rest| {
                        rest.starts_with(" exclusive ") || rest.starts_with(" cumulative ")
                    })
                });
                let metric = *named
                    .max_by_key(|metric| metric.len())
                    .ok_or_else(|| format!("event {at}: a cost in no metric: {event}"))?;
                match &mut costs {
                    None => return Err(format!("event {at}: a cost after a child: {event}")),
                    Some(costs) if costs.contains(&metric) => {
                        return Err(format!("event {at}: a second cost in one metric: {event}"));
                    }
                    Some(costs) => costs.push(metric),
                }
            }
            "leave" if depth > 0 => {
                depth -= 1;
                // The node that is innermost now has had a child: its costs would come too late.
                costs = None;
            }
            "record" | "run" | "function" | "note" | "info" | "edge" | "sample" => {}
            _ => return Err(format!("event {at}: out of place: {event}")),
        }
    }
    Ok(depth)
}

fn calls_are_balanced(sample: &Sample) -> Result<(), Failed> {
    let (events, _) = outcome(&sample.bytes);
    let open = depth(&events)?;
    ensure(open == 0, || format!("{open} nodes are open at the end"))
}

fn detected_by_its_own_format_only(sample: &Sample) -> Result<(), Failed> {
    let input = open(&sample.bytes).expect("the input was read before");
    for format in FORMATS {
        let confidence = (format.sniff)(input.head());
        let expected = format.name == sample.format.name;
        ensure((confidence != Confidence::No) == expected, || {
            format!("{} says {confidence:?}", format.name)
        })?;
    }
    Ok(())
}

/// Without its first line (in binary formats: its first bytes) no format claims an input, nor with
/// another first byte where that is part of the signature.
fn broken_signature_is_nobodys(sample: &Sample) -> Result<(), Failed> {
    let bytes = plain(&sample.bytes);
    // The mark is taken off before any format sees the first byte.
    let start = if bytes.starts_with(b"\xef\xbb\xbf") {
        3
    } else {
        0
    };
    let line = bytes
        .iter()
        .position(|byte| *byte == b'\n')
        .unwrap_or(0)
        .clamp(16, 200);
    if HAS_NO_SIGNATURE.contains(&sample.format.name) {
        return Ok(());
    }
    let nobodys = |count: usize, other: u8| {
        let mut bytes = bytes.clone();
        bytes
            .iter_mut()
            .skip(start)
            .take(count)
            .for_each(|byte| *byte = other);
        let input = open(&bytes)?;
        let own = |format: &Format| IS_OTHERWISE.contains(&(sample.format.name, format.name));
        let claims = FORMATS
            .iter()
            .find(|format| (format.sniff)(input.head()) != Confidence::No && !own(format));
        ensure(claims.is_none(), || {
            format!(
                "{claims:?} with {:?} as first {count} bytes",
                char::from(other)
            )
        })
    };
    nobodys(line, b'X')?;
    if !BEGINS_WITH_ANYTHING.contains(&sample.format.name) {
        let may_begin = |other: u8| {
            let first = bytes.get(start).copied();
            let is_flagged = HAS_TWO_FIRST_BYTES.contains(&sample.format.name);
            first == Some(other) || is_flagged && first.is_some_and(|first| first ^ 0x80 == other)
        };
        for other in b"X \t\"{".iter().filter(|other| !may_begin(**other)) {
            nobodys(1, *other)?;
        }
    }
    Ok(())
}
