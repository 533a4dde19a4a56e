//! Every figure of the recordings in `tests/samples/austin/` against our views: sums over their
//! lines, which no other report of Austin's breaks down.

#![expect(clippy::float_cmp, reason = "numbers of microseconds are whole")]

use std::collections::{BTreeMap, BTreeSet};

use crate::support::samples_of::{imported, rows, text, total};
use crate::support::stack_sums::{edges, edges_of, functions, functions_of};

/// Each recording with its metric.
const RECORDINGS: [(&str, &str); 2] = [
    ("austin/work.wall.austin.gz", "time"),
    ("austin/work.cpu.austin", "cpu_time"),
];

/// Each sample: process and thread, frames, nanoseconds.
fn samples(text: &str) -> Vec<([String; 2], Vec<[String; 3]>, f64)> {
    let lines = text.lines().filter(|line| line.starts_with('P'));
    let sample = |line: &str| {
        let (stack, microseconds) = line.rsplit_once(' ').expect("a stack and a figure");
        let mut frames = stack.split(';').map(str::to_owned);
        let around = [
            frames.next().expect("a process"),
            frames.next().expect("a thread"),
        ];
        let parts = |frame: String| {
            let parts: Vec<&str> = frame.rsplitn(3, ':').collect();
            [
                parts[2].to_owned(),
                parts[1].to_owned(),
                parts[0].to_owned(),
            ]
        };
        let microseconds: f64 = microseconds.parse().expect("a number");
        (around, frames.map(parts).collect(), 1000.0 * microseconds)
    };
    lines.map(sample).collect()
}

/// A function, as far as names tell. `:INVALID:` is none, but has costs.
fn function([file, name, line]: &[String; 3]) -> String {
    if file.is_empty() && line.is_empty() {
        name.clone()
    } else {
        format!("{file}:{name}")
    }
}

#[test]
fn totals_and_what_the_file_says() {
    for (recording, metric) in RECORDINGS {
        let text = text(recording);
        let database = imported("austin", &text);
        let sum: f64 = samples(&text).iter().map(|(.., cost)| cost).sum();
        assert_eq!(total(&database, metric), sum, "{recording}");
        assert_eq!(
            rows(&database, "SELECT count(*) FROM metrics", |row| row
                .get::<_, u32>(0)),
            [1],
            "{recording}"
        );
        let said = text
            .lines()
            .filter_map(|line| line.strip_prefix("# ")?.split_once(": "));
        let mut said: BTreeMap<String, String> = said
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect();
        let version = said.remove("austin").expect("a version");
        assert_eq!(
            rows(&database, "SELECT tool_version FROM runs", |row| row
                .get::<_, String>(0)),
            [version]
        );
        let properties = rows(&database, "SELECT key, value FROM run_properties", |row| {
            Ok((row.get(0)?, row.get(1)?))
        });
        assert_eq!(
            properties.into_iter().collect::<BTreeMap<_, _>>(),
            said,
            "{recording}"
        );
        assert_eq!(
            rows(&database, "SELECT message FROM notes", |row| row
                .get::<_, String>(0)),
            [""; 0]
        );
    }
}

/// 135 samples, of which the README of the recording says that they are 51 different stacks.
#[test]
fn stacks_of_the_wall_recording() {
    let samples = samples(&text("austin/work.wall.austin.gz"));
    let stacks: BTreeSet<_> = samples
        .iter()
        .map(|(around, frames, _)| (around, frames))
        .collect();
    assert_eq!((samples.len(), stacks.len()), (135, 51));
}

#[test]
fn threads() {
    for (recording, metric) in RECORDINGS {
        let text = text(recording);
        let mut wanted: BTreeMap<[String; 2], f64> = BTreeMap::new();
        for (around, _, cost) in samples(&text) {
            *wanted.entry(around).or_default() += cost;
        }
        let sql = format!(
            "SELECT process.function, thread.function, thread.cumulative FROM tree AS thread
             JOIN tree AS process ON process.metric = thread.metric AND process.node_id = thread.parent_id
             WHERE thread.metric = '{metric}' AND thread.depth = 1"
        );
        let found = rows(&imported("austin", &text), &sql, |row| {
            Ok(([row.get(0)?, row.get(1)?], row.get(2)?))
        });
        assert_eq!(
            found.into_iter().collect::<BTreeMap<_, _>>(),
            wanted,
            "{recording}"
        );
    }
}

#[test]
fn functions_and_edges() {
    for (recording, metric) in RECORDINGS {
        let text = text(recording);
        let stacks: Vec<(Vec<String>, f64)> = samples(&text)
            .iter()
            .filter(|(_, frames, _)| !frames.is_empty())
            .map(|(_, frames, cost)| (frames.iter().map(function).collect(), *cost))
            .collect();
        let database = imported("austin", &text);
        // One name may stand in several files, so names are made longer for the comparison.
        database
            .connection()
            .execute(
                "UPDATE functions SET name = file || ':' || name WHERE kind = 'function'",
                [],
            )
            .expect("functions are renamed");
        assert_eq!(
            functions(&database, metric),
            functions_of(&stacks),
            "{recording}"
        );
        assert_eq!(edges(&database, metric), edges_of(&stacks), "{recording}");
    }
}

#[test]
fn lines() {
    for (recording, metric) in RECORDINGS {
        let text = text(recording);
        let stacks: Vec<(Vec<String>, f64)> = samples(&text)
            .iter()
            .filter(|(_, frames, _)| !frames.is_empty())
            .map(|(_, frames, cost)| (frames.iter().map(|frame| frame.join(":")).collect(), *cost))
            .collect();
        let lines = functions_of(&stacks)
            .into_iter()
            .filter(|(line, _)| !line.ends_with(':'));
        let wanted: BTreeMap<String, [f64; 2]> = lines
            .map(|(line, [own, cumulative, _])| (line, [own, cumulative]))
            .collect();
        let sql = format!(
            "SELECT coalesce(lines.file, '') || ':' || lines.function || ':' || lines.line, exclusive, cumulative
             FROM lines WHERE metric = '{metric}'"
        );
        let found = rows(&imported("austin", &text), &sql, |row| {
            Ok((row.get(0)?, [row.get(1)?, row.get(2)?]))
        });
        assert_eq!(
            found.into_iter().collect::<BTreeMap<_, _>>(),
            wanted,
            "{recording}"
        );
    }
}
