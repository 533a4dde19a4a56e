//! What processes and builds make up is changed in the files of every format: process and thread ids, addresses, hashes, numbers of
//! lines. The functions of the changed file have the identities of the first one, each with its cost.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;

use profdb::base::error::Stop;
use profdb::formats::{self, FORMATS, Options};
use profdb::input::{Input, Limits};
use profdb::pipeline::{import, meta};
use profdb::store::Database;
use regex::bytes::{Captures, Regex};

use super::flame_graphs::input_files;
use crate::support::protobuf::varint;

/// How digits are changed: each for another one, so that what was one thing stays one, and two things two.
#[derive(Clone, Copy)]
enum Digits {
    Decimal,
    Hexadecimal,
}

/// What is changed in files of a format (of all formats, if it has no name): group `v` of the pattern.
const CHANGES: &[(&str, Digits, &str)] = &[
    ("", Digits::Hexadecimal, r"0x(?P<v>[0-9a-f]{5,})\b"),
    ("", Digits::Hexadecimal, r"::h(?P<v>[0-9a-f]{16})\b"),
    ("", Digits::Hexadecimal, r"\[unknown <(?P<v>[0-9a-f]+)>\]"),
    ("", Digits::Decimal, r"\$\$Lambda\$(?P<v>[0-9]+)"),
    (
        "",
        Digits::Decimal,
        r"\b[\w/.-]+\.(?:py|rb|rs|c|cc|cpp|php):(?P<v>[0-9]+)",
    ),
    (
        "folded",
        Digits::Decimal,
        r"(?m)^[^;\n]*-(?P<v>[0-9]+)(?:/[0-9]+)?;",
    ),
    ("folded", Digits::Hexadecimal, r" @ (?P<v>[0-9a-f]+)\)"),
    ("austin", Digits::Decimal, r"(?m)^P(?P<v>[0-9]+);"),
    (
        "austin",
        Digits::Decimal,
        r"(?m)^P[0-9]+;T(?:[0-9]+:)?(?P<v>[0-9]+);",
    ),
    (
        "perf_script",
        Digits::Decimal,
        r"(?m)^\S.*?\s(?P<v>[0-9]+)(?:/[0-9]+)?\s+(?:\[[0-9]+\]\s+)?[0-9]+\.[0-9]+:",
    ),
    (
        "perf_script",
        Digits::Decimal,
        r"(?m)^\S.*?\s[0-9]+/(?P<v>[0-9]+)\s+(?:\[[0-9]+\]\s+)?[0-9]+\.[0-9]+:",
    ),
    (
        "perf_script",
        Digits::Hexadecimal,
        r"(?m)^\s+(?P<v>[0-9a-f]{8,16}) ",
    ),
    ("callgrind", Digits::Decimal, r"(?m)^pid: (?P<v>[0-9]+)"),
    (
        "callgrind",
        Digits::Hexadecimal,
        r"(?m)^c?fn=(?:\([0-9]+\) )?0x(?P<v>[0-9a-f]+)$",
    ),
    (
        "chrome_trace",
        Digits::Decimal,
        r#""(?:pid|tid)"\s*:\s*(?P<v>[0-9]+)"#,
    ),
    ("firefox", Digits::Decimal, r#""pid"\s*:\s*"?(?P<v>[0-9]+)"#),
    ("firefox", Digits::Decimal, r#""tid"\s*:\s*"?(?P<v>[0-9]+)"#),
    (
        "speedscope",
        Digits::Decimal,
        r"(?:[Tt]hread|[Pp]rocess|pid|tid)[ :=]+(?P<v>[0-9]{2,})",
    ),
    (
        "cpuprofile",
        Digits::Decimal,
        r#""lineNumber"\s*:\s*(?P<v>[0-9]+)"#,
    ),
    (
        "cpuprofile",
        Digits::Decimal,
        r#""scriptId"\s*:\s*"?(?P<v>[0-9]+)"#,
    ),
    (
        "heapprofile",
        Digits::Decimal,
        r#""lineNumber"\s*:\s*(?P<v>[0-9]+)"#,
    ),
    (
        "heapprofile",
        Digits::Decimal,
        r#""scriptId"\s*:\s*"?(?P<v>[0-9]+)"#,
    ),
    (
        "pyinstrument_json",
        Digits::Decimal,
        r#"\\u0000(?P<v>[0-9]+)""#,
    ),
    (
        "stackprof",
        Digits::Decimal,
        r#""line"\s*:\s*(?P<v>[0-9]+)"#,
    ),
    ("gprof", Digits::Hexadecimal, r" @ (?P<v>[0-9a-f]+)\)"),
];

/// Formats whose files hold nothing that a process or build makes up: names and files of sources, and figures.
const NOTHING: [&str; 9] = [
    "business_rules",
    "dyalog_csv",
    "dyalog_xml",
    "ghc_json",
    "ghc_prof",
    "ghc_px",
    "lispworks_tree",
    "sampler",
    "gprof",
];

/// Another number of as many digits, which begins with 0 where the first one does.
fn other(digits: &[u8], kind: Digits) -> Vec<u8> {
    let radix = match kind {
        Digits::Decimal => 10,
        Digits::Hexadecimal => 16,
    };
    let change = |(at, digit): (usize, &u8)| {
        let value = char::from(*digit).to_digit(radix).unwrap_or(0);
        let turned = match (at, value) {
            (0, 0) => 0,
            (0, value) => 1 + (value + 2) % (radix - 1),
            (_, value) => (value + 3) % radix,
        };
        b"0123456789abcdef"[turned as usize]
    };
    digits.iter().enumerate().map(change).collect()
}

/// How far the program of a pprof profile is moved in memory.
const MOVED: usize = 0x10_0000;

/// A message of protocol buffers in which the numbers that are addresses are others, as if the program had been at another place:
/// those of locations and mappings, in a profile of pprof. `inside` is the field that the message is in, 0 of the profile itself.
fn moved(inside: usize, message: &[u8]) -> Vec<u8> {
    let (mut out, mut at) = (Vec::new(), 0);
    let number = |at: &mut usize| {
        let (mut value, mut shift) = (0_usize, 0);
        loop {
            let byte = message[*at];
            *at += 1;
            value |= usize::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                return value;
            }
        }
    };
    while at < message.len() {
        let key = number(&mut at);
        out.extend(varint(key));
        match (key & 7, inside, key >> 3) {
            (0, 4, 3) | (0, 3, 2 | 3) => out.extend(varint(number(&mut at) + MOVED)),
            (0, ..) => out.extend(varint(number(&mut at))),
            (2, 0, field @ (3 | 4)) => {
                let length = number(&mut at);
                let content = moved(field, &message[at..at + length]);
                out.extend(varint(content.len()));
                out.extend(content);
                at += length;
            }
            (2, ..) => {
                let length = number(&mut at);
                out.extend(varint(length));
                out.extend(&message[at..at + length]);
                at += length;
            }
            (kind, ..) => {
                let length = if kind == 1 { 8 } else { 4 };
                out.extend(&message[at..at + length]);
                at += length;
            }
        }
    }
    out
}

fn changed(format: &str, profile: &[u8]) -> Vec<u8> {
    let mut profile = profile.to_vec();
    if format == "pprof" {
        profile = moved(0, &profile);
    }
    for (of, kind, pattern) in CHANGES {
        if !of.is_empty() && *of != format {
            continue;
        }
        let pattern = Regex::new(pattern).expect("a pattern");
        let replaced = pattern.replace_all(&profile, |captures: &Captures<'_>| {
            let (all, value) = (&captures[0], captures.name("v").expect("a group"));
            let start = value.start() - captures.get(0).expect("all of it").start();
            let end = start + value.len();
            [&all[..start], &other(value.as_bytes(), *kind), &all[end..]].concat()
        });
        profile = replaced.into_owned();
    }
    profile
}

/// The run of a profile; `None` of what is none.
fn read(profile: &[u8]) -> Option<(&'static str, Database)> {
    let input = Input::new(Box::new(profile), Limits::default(), Stop::default()).ok()?;
    let format = formats::detect(input.head()).ok()?;
    let options = Options::default();
    let describe = |fingerprint| meta(format, &options, "sample", fingerprint);
    let stop = Stop::default();
    let imported = import(
        input,
        format,
        &options,
        &stop,
        describe,
        Database::in_memory,
    );
    Some((format.name, imported.ok()?.database))
}

/// Identities of functions and containers that have figures in the default metric, with the cost of each; and names as the file
/// has them.
fn identities(database: &Database) -> (BTreeMap<Vec<u8>, f64>, BTreeSet<String>) {
    let sql = "SELECT i.identity_key, f.name, COALESCE(m.exclusive, 0)
               FROM functions AS f
               JOIN identities AS i USING (identity_id)
               LEFT JOIN metrics AS d ON d.metric_id = (SELECT default_metric_id FROM runs)
               LEFT JOIN function_info AS m ON m.function_id = f.function_id AND m.metric_id = d.metric_id
               ORDER BY f.name, f.module, f.file, f.function_id";
    let mut statement = database.connection().prepare(sql).expect("tables");
    let mut rows = statement.query([]).expect("rows");
    let (mut keys, mut names) = (BTreeMap::new(), BTreeSet::new());
    while let Some(row) = rows.next().expect("a row") {
        let cost: f64 = row.get(2).expect("a number");
        *keys.entry(row.get(0).expect("a key")).or_insert(0.0) += cost;
        names.insert(row.get(1).expect("a name"));
    }
    (keys, names)
}

#[test]
fn what_processes_and_builds_make_up_changes_no_identity() {
    let (mut tried, mut renamed) = (BTreeMap::new(), BTreeSet::new());
    let mut wrong = Vec::new();
    for path in input_files() {
        let mut profile = fs::read(&path).expect("readable");
        if profile.starts_with(&[0x1f, 0x8b]) {
            let mut plain = Vec::new();
            let unpacked = flate2::read::GzDecoder::new(profile.as_slice()).read_to_end(&mut plain);
            if unpacked.is_err() {
                continue;
            }
            profile = plain;
        }
        let Some((format, database)) = read(&profile) else {
            continue;
        };
        let after = changed(format, &profile);
        if after == profile {
            continue;
        }
        let name = path.display();
        // A case may be about what the change takes away: two numbers that are in a relation.
        let Some((again, other)) = read(&after) else {
            continue;
        };
        assert_eq!(again, format, "{name}");
        let ((before, names), (after, other_names)) = (identities(&database), identities(&other));
        let keys = |found: &BTreeMap<Vec<u8>, f64>| found.keys().cloned().collect::<Vec<_>>();
        if keys(&before) != keys(&after) {
            let lost: Vec<_> = names.difference(&other_names).collect();
            let found: Vec<_> = other_names.difference(&names).collect();
            wrong.push(format!("{name}: {lost:?} became {found:?}"));
            continue;
        }
        for (key, cost) in &before {
            if (after[key] - cost).abs() > 1e-9 * cost.abs() {
                wrong.push(format!("{name}: {cost} became {}", after[key]));
            }
        }
        *tried.entry(format).or_insert(0) += 1;
        if names != other_names {
            renamed.insert(format);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    for format in FORMATS {
        let tried = tried.get(format.name).copied().unwrap_or(0);
        assert!(
            tried > 0 || NOTHING.contains(&format.name),
            "{}",
            format.name
        );
    }
    assert!(renamed.len() >= 8, "{renamed:?}");
}
