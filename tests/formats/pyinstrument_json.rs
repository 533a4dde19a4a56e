//! Every frame of `tests/samples/pyinstrument_json/` against the text that pyinstrument prints of the
//! same session, and sums against those of a program that reads the session itself
//! (docs/conformance.md).

use std::collections::BTreeMap;

use crate::support::samples_of::{bytes, imported, rows, text, total};
use profdb::store::Database;
use serde_json::Value;

const SECOND: f64 = 1e9;

/// Half of the last of three decimals.
const PRINTED: f64 = 0.000_501;

/// A frame: what is around it, its name, the last part of its path, its line, own and all seconds.
#[derive(Debug, Default)]
struct Printed {
    depth: usize,
    name: String,
    file: String,
    line: u32,
    own: f64,
    seconds: f64,
    /// Seconds of `[self]` below it, and how many there are.
    of_self: f64,
    selves: u32,
    /// Seconds of what is called, and how many there are.
    of_callees: f64,
    callees: u32,
}

/// The frames of a text, `[self]` counted for what is around it.
fn printed(text: &str) -> Vec<Printed> {
    let mut frames: Vec<Printed> = Vec::new();
    let lines = text
        .lines()
        .skip_while(|line| !line.starts_with(|first: char| first.is_ascii_digit()));
    for line in lines.take_while(|line| !line.is_empty()) {
        // Each level is three letters: `|- `, `|  `, `` `- `` or blanks.
        let start = line
            .find(|letter: char| letter.is_ascii_digit())
            .expect(line);
        let (seconds, rest) = line[start..].split_once(' ').expect(line);
        let seconds: f64 = seconds.parse().expect(line);
        let (name, place) = rest.split_once("  ").unwrap_or((rest, ""));
        let (path, number) = place.rsplit_once(':').unwrap_or((place, "0"));
        // Of built-in functions, version 4.4 prints this.
        let path = if path == "None" { "<built-in>" } else { path };
        let depth = start / 3;
        let around = frames.iter_mut().rev().find(|frame| frame.depth < depth);
        if let Some(around) = around {
            let (sum, count) = if name == "[self]" {
                (&mut around.of_self, &mut around.selves)
            } else {
                (&mut around.of_callees, &mut around.callees)
            };
            *sum += seconds;
            *count += 1;
        }
        if name != "[self]" {
            frames.push(Printed {
                depth,
                name: name.to_owned(),
                file: path.rsplit('/').next().unwrap_or_default().to_owned(),
                line: number.parse().expect(line),
                seconds,
                ..Printed::default()
            });
        }
    }
    frames
}

/// The frames of a run, in the order of the file.
fn found(database: &Database, metric: &str) -> Vec<Printed> {
    let sql = format!(
        "SELECT t.depth, f.name, f.file, f.first_line, t.exclusive, t.cumulative
         FROM tree AS t
         JOIN nodes AS n USING (node_id)
         JOIN functions AS f USING (function_id)
         WHERE t.metric = '{metric}'
         ORDER BY t.node_id"
    );
    rows(database, &sql, |row| {
        let file: String = row.get(2)?;
        Ok(Printed {
            depth: usize::try_from(row.get::<_, i64>(0)?).expect("a depth"),
            name: row.get(1)?,
            file: file.rsplit('/').next().unwrap_or_default().to_owned(),
            line: row.get(3)?,
            own: row.get::<_, f64>(4)? / SECOND,
            seconds: row.get::<_, f64>(5)? / SECOND,
            ..Printed::default()
        })
    })
}

/// The run of one of the samples, which says nothing but that its root is not all, if so.
fn sample(name: &str) -> Database {
    let database = imported(
        "pyinstrument_json",
        &bytes(&format!("pyinstrument_json/{name}")),
    );
    let notes = rows(&database, "SELECT message FROM notes", |row| {
        row.get::<_, String>(0)
    });
    assert!(
        notes
            .iter()
            .all(|note| note.contains("a part of the recording is missing")),
        "{name}: {notes:?}"
    );
    database
}

/// Versions that cut frames below one percent also with `--show-all` add them to the own time, not to
/// `[self]`.
#[track_caller]
fn same_as_printed(json: &str, truth: &str, may_cut: bool) {
    let database = sample(json);
    let expected = printed(&text(&format!("pyinstrument_json/{truth}")));
    let found = found(&database, "time");
    assert_eq!(found.len(), expected.len(), "{json}: frames");
    for (found, expected) in found.iter().zip(&expected) {
        let around = format!("{json}: {expected:?}, found {found:?}");
        assert_eq!(
            (found.depth, &found.name),
            (expected.depth, &expected.name),
            "{around}"
        );
        // Of what is no function, the text has the place of the caller.
        if !expected.name.starts_with('[') {
            assert_eq!(
                (&found.file, found.line),
                (&expected.file, expected.line),
                "{around}"
            );
        }
        let near = |found: f64, expected: f64, figures: u32| {
            (found - expected).abs() <= PRINTED * f64::from(figures)
        };
        assert!(near(found.seconds, expected.seconds, 1), "{around}");
        let left = expected.seconds - expected.of_callees;
        assert!(near(found.own, left, 1 + expected.callees), "{around}");
        if expected.selves > 0 {
            let more = found.own - expected.of_self;
            let rounded = PRINTED * f64::from(expected.selves);
            assert!(more >= -rounded && (may_cut || more <= rounded), "{around}");
        }
    }
}

#[test]
fn every_frame_of_the_text() {
    same_as_printed("shop.show-all.json.gz", "shop.show-all.txt.gz", false);
}

#[test]
fn every_frame_of_other_versions() {
    for version in ["3.4.2", "4.0.4", "4.4.0", "4.6.2", "4.7.3", "5.1.3"] {
        let cuts = matches!(version, "3.4.2" | "4.0.4" | "4.4.0");
        let ending = if cuts { "" } else { ".gz" };
        same_as_printed(
            &format!("app-{version}.json.gz"),
            &format!("app-{version}.txt{ending}"),
            cuts,
        );
    }
}

/// `[await]` is what is awaited, and nothing else is.
#[test]
fn what_is_awaited() {
    for version in ["4.0.4", "5.1.3"] {
        let name = format!("awaits-{version}");
        same_as_printed(
            &format!("{name}.json"),
            &format!("{name}.txt"),
            version == "4.0.4",
        );
        let database = sample(&format!("{name}.json"));
        let [time, awaited] = ["time", "await_time"].map(|metric| found(&database, metric));
        let mut sum = 0.0;
        for (time, awaited) in time.iter().zip(&awaited) {
            let expected = if time.name == "[await]" {
                time.own
            } else {
                0.0
            };
            assert!((awaited.own - expected).abs() < 2e-6, "{name}: {awaited:?}");
            sum += expected;
        }
        assert!(sum > 0.01, "{name}: {sum}");
        let found = total(&database, "await_time") / SECOND;
        assert!((found - sum).abs() < 2e-6, "{name}: {found} and {sum}");
    }
}

/// The program's functions took what the session's records add up to; what pyinstrument cuts off
/// above it is not theirs.
#[test]
fn sums_over_the_session() {
    let database = sample("shop.show-all.json.gz");
    let sums: Value =
        serde_json::from_str(&text("pyinstrument_json/shop.sums.json.gz")).expect("JSON");
    let functions = sums["functions"].as_object().expect("functions");
    let found: BTreeMap<String, [f64; 2]> = rows(
        &database,
        "SELECT f.name, f.file, f.first_line, s.exclusive, s.cumulative
         FROM summary AS s
         JOIN functions AS f USING (function_id)
         WHERE s.metric = 'time'",
        |row| {
            let (name, file, line): (String, String, u32) = (row.get(0)?, row.get(1)?, row.get(2)?);
            // The sums know no classes.
            let name = name.rsplit('.').next().unwrap_or_default();
            let key = format!("{name} ({file}:{line})");
            Ok((key, [row.get::<_, f64>(3)?, row.get::<_, f64>(4)?]))
        },
    )
    .into_iter()
    .collect();
    let mut compared = 0;
    for (key, expected) in functions
        .iter()
        .filter(|(key, _)| key.contains("(shop.py:"))
    {
        let figures = found.get(key).unwrap_or_else(|| panic!("{key} is missing"));
        for (figure, name) in figures.iter().zip(["self", "cumulative"]) {
            let expected = expected[name].as_f64().expect("seconds");
            // Each of up to a hundred frames of a function is rounded.
            let near = (figure / SECOND - expected).abs() < 50e-6;
            assert!(near, "{key}: {name} is {expected}, found {figure}");
        }
        compared += 1;
    }
    assert_eq!(compared, 13, "functions");
}

/// With `-t`, the file has one of several roots.
#[test]
fn a_timeline_is_not_all() {
    let database = sample("shop.timeline.json");
    let noted: i64 = rows(&database, "SELECT count(*) FROM notes", |row| row.get(0))[0];
    assert_eq!(noted, 1);
    let found = total(&database, "time");
    assert!((found - 1_006_000.0).abs() < 0.5, "{found}");
}
