//! Files with a broken reference: the number of a part that no file has replaces the number of another part.

use std::io::Read;
use std::ops::Range;

use super::case_inputs::{Sample, open};
use super::protobuf::varint;
use super::protobuf_reader::{Content, fields, read_varint};

/// References of text formats: the text around them, and the numbers in it that refer to something. Cases hold the
/// references of `ghc_px`.
const IN_TEXT: [(&str, &str, &str); 8] = [
    (
        "callgrind",
        r"(?m)^c?(fn|fl|fi|fe|ob|file)=\(\d+\)$",
        r"\d+",
    ),
    ("chrome_trace", r#""(sf|parent)":\s*"?\d+"#, r"\d+"),
    ("cpuprofile", r#""(samples|children)":\s*\[[^\]{]*"#, r"\d+"),
    (
        "firefox",
        r#""(stack|prefix|frame|func|resource|source)":\s*\[[^\]{]*|"name":\s*\[[^\]{]*\],\s*"isJS"#,
        r"\b\d+",
    ),
    ("ghc_json", r#""id":\s*\d+,\s*"entries"#, r"\d+"),
    ("heapprofile", r#""nodeId":\s*\d+"#, r"\d+"),
    (
        "speedscope",
        r#""(samples|frame)":\s*(\d+|\[[^\]]*\])"#,
        r"\d+",
    ),
    ("stackprof", r#""raw":\s*\[[^\]]*"#, r"\b10\d\b|\d{6,}"),
];

/// Fields of messages of pprof that hold references or messages with references: message, field, and the message in the
/// field.
const IN_PPROF: [(&str, u64, &str); 24] = [
    ("profile", 1, "value_type"),
    ("profile", 2, "sample"),
    ("profile", 3, "mapping"),
    ("profile", 4, "location"),
    ("profile", 5, "function"),
    ("profile", 7, REFERENCE),
    ("profile", 8, REFERENCE),
    ("profile", 11, "value_type"),
    ("profile", 13, REFERENCE),
    ("profile", 14, REFERENCE),
    ("profile", 15, REFERENCE),
    ("value_type", 1, REFERENCE),
    ("value_type", 2, REFERENCE),
    ("sample", 1, REFERENCE),
    ("sample", 3, "label"),
    ("label", 1, REFERENCE),
    ("label", 2, REFERENCE),
    ("label", 4, REFERENCE),
    ("mapping", 5, REFERENCE),
    ("location", 2, REFERENCE),
    ("location", 4, "line"),
    ("line", 1, REFERENCE),
    ("function", 2, REFERENCE),
    ("function", 4, REFERENCE),
];

/// A field with numbers that refer to something.
const REFERENCE: &str = "reference";

/// Maximum number of references of a sample that are broken, each by itself.
const BROKEN: usize = 20;

/// Number of a part that no file has.
const NOTHING: u32 = 987_654_321;

/// Returns files with a broken reference each, and a description of the reference.
pub(crate) fn broken_files(sample: &Sample) -> Vec<(String, Vec<u8>)> {
    let mut unpacked = Vec::new();
    let mut input = open(&sample.bytes).expect("readable");
    input.read_to_end(&mut unpacked).expect("readable");
    let bytes = unpacked.as_slice();
    let (places, nothing) = match sample.format.name {
        "pprof" => return broken_profiles(bytes),
        "business_rules" => (module_numbers(bytes), vec![0xff; 2]),
        "sampler" => (frame_ids(bytes), NOTHING.to_be_bytes().to_vec()),
        "pstats" => (object_numbers(bytes), NOTHING.to_le_bytes().to_vec()),
        format => (
            numbers_in_text(format, bytes),
            NOTHING.to_string().into_bytes(),
        ),
    };
    let step = places.len().div_ceil(BROKEN).max(1);
    let places = places.into_iter().step_by(step);
    let broken = places.map(|place| {
        let mut broken = bytes.to_vec();
        let what = format!("broken reference at byte {}", place.start);
        broken.splice(place, nothing.iter().copied());
        (what, broken)
    });
    broken.collect()
}

fn numbers_in_text(format: &str, bytes: &[u8]) -> Vec<Range<usize>> {
    let mut formats = IN_TEXT.iter();
    let (Some((_, around, number)), Ok(text)) = (
        formats.find(|(name, ..)| *name == format),
        std::str::from_utf8(bytes),
    ) else {
        return Vec::new();
    };
    let [around, number] =
        [around, number].map(|pattern| regex::Regex::new(pattern).expect("a pattern"));
    let parts = around.find_iter(text);
    let places = parts.flat_map(|part| {
        let numbers = number.find_iter(part.as_str());
        numbers.map(move |one| part.start() + one.start()..part.start() + one.end())
    });
    places.collect()
}

/// Returns the places of module numbers in lines and backtraces of a log.
fn module_numbers(log: &[u8]) -> Vec<Range<usize>> {
    let (mut places, mut at) = (Vec::new(), 0);
    while let Some(kind) = log.get(at) {
        at += match kind {
            1 => 5 + usize::from(log[at + 3]) * 256 + usize::from(log[at + 4]),
            3 | 5 => {
                places.push(at + 1..at + 3);
                8
            }
            4 => 9,
            7 => 2 + usize::from(log[at + 1]),
            _ => 1,
        };
    }
    places.retain(|place| place.end <= log.len());
    places
}

/// Returns the places of the frames of all samples of a trace.
fn frame_ids(trace: &[u8]) -> Vec<Range<usize>> {
    const THREAD: &[u8] = b"@threadV1.0";
    let (mut places, mut at, mut is_in_thread) = (Vec::new(), 0, false);
    while at < trace.len() {
        let rest = &trace[at..];
        let head = if !rest.starts_with(b"\t") {
            is_in_thread |= rest.starts_with(THREAD);
            0
        } else if is_in_thread {
            let Some(count) = rest.get(13..17).and_then(<[u8]>::first_chunk) else {
                break;
            };
            let count = u32::from_be_bytes(*count) as usize;
            let frames = (0..count).map(|frame| at + 17 + frame * 4);
            places.extend(frames.map(|frame| frame..frame + 4));
            17 + count * 4
        } else {
            // The two numbers of a symbol may contain line feeds.
            11
        };
        let text = rest.iter().skip(head);
        at += head + text.take_while(|byte| **byte != b'\n').count() + 1;
    }
    places
}

/// Returns the places of numbers of earlier objects in marshalled data of Python.
fn object_numbers(data: &[u8]) -> Vec<Range<usize>> {
    let (mut places, mut at) = (Vec::new(), 0);
    while let Some(kind) = data.get(at) {
        at += 1;
        let number = |width: usize| {
            let bytes = data.get(at..at + width).unwrap_or_default();
            let bytes = bytes.iter().rev();
            bytes.fold(0, |number, byte| number << 8 | usize::from(*byte))
        };
        at += match kind & 0x7f {
            b'r' => {
                places.push(at..at + 4);
                4
            }
            b'i' | b'(' | b'[' => 4,
            b'I' | b'g' => 8,
            b')' => 1,
            b'l' => 4 + 2 * number(4),
            b's' | b't' | b'u' | b'a' | b'A' => 4 + number(4),
            b'f' | b'z' | b'Z' => 1 + number(1),
            _ => 0,
        };
    }
    places
}

fn broken_profiles(profile: &[u8]) -> Vec<(String, Vec<u8>)> {
    // The references that are left when none is broken.
    let mut left = usize::MAX;
    with_broken("profile", profile, &mut left);
    let count = usize::MAX - left;
    let broken = (0..count).step_by(count.div_ceil(BROKEN).max(1));
    let broken = broken.map(|at| {
        (
            format!("broken reference {at}"),
            with_broken("profile", profile, &mut { at }),
        )
    });
    broken.collect()
}

/// Returns a message whose reference after `left` others is broken. Counts `left` down.
fn with_broken(message: &str, bytes: &[u8], left: &mut usize) -> Vec<u8> {
    let mut written = Vec::new();
    for (field, content) in fields(bytes) {
        let mut kinds = IN_PPROF.iter();
        let kind = kinds.find(|(outer, number, _)| (*outer, *number) == (message, field));
        let tag = usize::try_from(field).expect("a field") << 3;
        let bytes = match (content, kind.map(|(.., kind)| *kind)) {
            (Content::Number(number), kind) => {
                let number = if kind == Some(REFERENCE) {
                    reference(number, left)
                } else {
                    number
                };
                written.extend(varint(tag));
                written.extend(varint(usize::try_from(number).expect("64 bits")));
                continue;
            }
            (Content::Bytes(mut bytes), Some(REFERENCE)) => {
                let mut numbers = Vec::new();
                while !bytes.is_empty() {
                    let number = reference(read_varint(&mut bytes), left);
                    numbers.extend(varint(usize::try_from(number).expect("64 bits")));
                }
                numbers
            }
            (Content::Bytes(bytes), Some(inner)) => with_broken(inner, bytes, left),
            (Content::Bytes(bytes), None) => bytes.to_vec(),
            (Content::Fixed(bytes), _) => {
                written.extend(varint(tag | if bytes.len() == 8 { 1 } else { 5 }));
                written.extend(bytes);
                continue;
            }
        };
        written.extend(varint(tag | 2));
        written.extend(varint(bytes.len()));
        written.extend(bytes);
    }
    written
}

/// Returns a reference, or the broken one after `left` others. References to 0 refer to nothing already.
fn reference(number: u64, left: &mut usize) -> u64 {
    if number == 0 {
        return 0;
    }
    let is_broken = *left == 0;
    *left = left.wrapping_sub(1);
    if is_broken { NOTHING.into() } else { number }
}
