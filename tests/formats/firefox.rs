//! The samples of py-spy in `tests/samples/speedscope/`, rewritten as Firefox Profiler's processed
//! profiles of several versions: all views must say the same of them as of the speedscope file,
//! whose figures `tests/formats/speedscope.rs` compares (docs/conformance.md). And what samply, or
//! its writer alone, makes of recordings of perf, against what perf says of them
//! (`tests/samples/firefox/`).

#![expect(clippy::float_cmp, reason = "numbers of samples and periods are whole")]

use std::collections::BTreeMap;

use crate::support::samples_of::{bytes, imported, rows, text, total};
use crate::support::stack_sums::{edges, edges_of, functions, functions_of};
use profdb::store::Database;
use serde_json::{Map, Value, json};

/// Numbers things in the order in which they come.
#[derive(Default)]
struct Numbers {
    known: BTreeMap<String, usize>,
    all: Vec<Value>,
}

impl Numbers {
    fn of(&mut self, thing: Value) -> usize {
        let next = self.all.len();
        let number = *self.known.entry(thing.to_string()).or_insert(next);
        if number == next {
            self.all.push(thing);
        }
        number
    }

    /// A column of all of them.
    fn column(&self, name: &str) -> Vec<Value> {
        self.all.iter().map(|thing| thing[name].clone()).collect()
    }
}

/// The tables of a thread, or of all threads.
#[derive(Default)]
struct Tables {
    strings: Numbers,
    sources: Numbers,
    functions: Numbers,
    frames: Numbers,
    stacks: Numbers,
}

impl Tables {
    /// The number of a stack.
    fn stack(&mut self, frames: &[&Value]) -> Value {
        let Some((innermost, around)) = frames.split_last() else {
            return Value::Null;
        };
        let prefix = self.stack(around);
        let name = self.strings.of(innermost["name"].clone());
        let file = self.strings.of(innermost["file"].clone());
        let source = self.sources.of(json!({"filename": file}));
        let function = self
            .functions
            .of(json!({"name": name, "file": file, "source": source}));
        let line = &innermost["line"];
        let line = if *line == json!(0) {
            &Value::Null
        } else {
            line
        };
        let (category, subcategory) = own_category(innermost);
        let frame = self.frames.of(json!({
            "func": function, "line": line, "category": category, "subcategory": subcategory
        }));
        let (category, subcategory) = category_of(frames);
        json!(self.stacks.of(json!({
            "frame": frame, "prefix": prefix, "category": category, "subcategory": subcategory
        })))
    }

    /// As members of a thread or of `shared`; files are those of functions or sources, categories
    /// those of frames or stacks.
    fn members(&self, file: &str) -> Map<String, Value> {
        let nothing = vec![Value::Null; self.frames.all.len()];
        let mut tables = json!({
            "stringArray": self.strings.all,
            "stackTable": {"frame": self.stacks.column("frame"), "prefix": self.stacks.column("prefix")},
            "frameTable": {"func": self.frames.column("func"), "line": self.frames.column("line"), "column": nothing},
            "funcTable": {"name": self.functions.column("name"), file: self.functions.column(
                if file == "source" { "source" } else { "file" }
            )},
            "sources": {"filename": self.sources.column("filename")},
        });
        let (table, all) = if file == "source" {
            ("frameTable", &self.frames)
        } else {
            ("stackTable", &self.stacks)
        };
        for name in ["category", "subcategory"] {
            tables[table][name] = json!(all.column(name));
        }
        tables.as_object().expect("an object").clone()
    }
}

/// The category of a frame and its subcategory, made up: some have none.
fn own_category(frame: &Value) -> (Option<usize>, Option<usize>) {
    let name = frame["name"].as_str().expect("a name");
    match name.len() % 4 {
        3 => (None, None),
        0 => (Some(0), None),
        category => (Some(category), Some(name.len() / 4 % 2)),
    }
}

/// The category of a stack: that of the innermost frame that has one.
fn category_of(frames: &[&Value]) -> (Option<usize>, Option<usize>) {
    let all = frames.iter().rev().map(|frame| own_category(frame));
    all.into_iter()
        .find(|(category, _)| category.is_some())
        .unwrap_or_default()
}

/// Which tables threads share.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    /// None: version 40.
    PerThread,
    /// All of them: today.
    Shared,
}

fn converted(file: &Value, version: Version) -> String {
    let all = file["shared"]["frames"].as_array().expect("frames");
    let mut tables = Tables::default();
    let mut threads = Vec::new();
    for profile in file["profiles"].as_array().expect("profiles") {
        if version == Version::PerThread {
            tables = Tables::default();
        }
        let mut stacks = Vec::new();
        for sample in profile["samples"].as_array().expect("samples") {
            let numbers = sample
                .as_array()
                .expect("a stack")
                .iter()
                .map(|number| number.as_u64().expect("a number"));
            let frames: Vec<&Value> = numbers
                .map(|number| &all[usize::try_from(number).expect("few")])
                .collect();
            stacks.push(tables.stack(&frames));
        }
        let mut thread = json!({"name": profile["name"], "pid": 1, "processName": "python",
            "samples": {"stack": stacks, "weight": null, "weightType": "samples"}});
        if version == Version::PerThread {
            thread
                .as_object_mut()
                .expect("an object")
                .append(&mut tables.members("fileName"));
        }
        threads.push(thread);
    }
    let categories = CATEGORIES
        .map(|name| json!({"name": name, "color": "grey", "subcategories": SUBCATEGORIES}));
    let meta = json!({"interval": 10, "preprocessedProfileVersion": 40, "categories": categories});
    let mut profile = json!({"threads": threads, "meta": meta});
    if version == Version::Shared {
        profile["shared"] = Value::Object(tables.members("source"));
    }
    profile.to_string()
}

const CATEGORIES: [&str; 3] = ["Other", "Python", "Native"];

const SUBCATEGORIES: [&str; 2] = ["Other", "Odd"];

/// Samples by label, counted one by one.
fn counted(file: &Value) -> Vec<(String, String, f64)> {
    let all = file["shared"]["frames"].as_array().expect("frames");
    let mut counts: BTreeMap<(String, String), f64> = BTreeMap::new();
    for profile in file["profiles"].as_array().expect("profiles") {
        for sample in profile["samples"].as_array().expect("samples") {
            let numbers = sample
                .as_array()
                .expect("a stack")
                .iter()
                .map(|number| number.as_u64().expect("a number"));
            let frames: Vec<&Value> = numbers
                .map(|number| &all[usize::try_from(number).expect("few")])
                .collect();
            let (category, subcategory) = category_of(&frames);
            let labels = [
                ("category", category.map(|number| CATEGORIES[number])),
                (
                    "subcategory",
                    subcategory.map(|number| SUBCATEGORIES[number]),
                ),
            ];
            for (key, value) in labels
                .into_iter()
                .filter_map(|(key, value)| Some((key, value?)))
            {
                *counts
                    .entry((key.to_owned(), value.to_owned()))
                    .or_default() += 1.0;
            }
        }
    }
    counts
        .into_iter()
        .map(|((key, value), count)| (key, value, count))
        .collect()
}

#[test]
fn categories_are_labels_of_the_samples() {
    let text = text("speedscope/work.speedscope.json");
    let file: Value = serde_json::from_str(&text).expect("JSON");
    let expected = counted(&file);
    assert_eq!(
        expected.len(),
        CATEGORIES.len() + SUBCATEGORIES.len(),
        "{expected:?}"
    );
    for version in [Version::PerThread, Version::Shared] {
        let database = imported("firefox", &converted(&file, version));
        let sql = "SELECT key, value, SUM(exclusive) FROM tags WHERE metric = 'samples' GROUP BY key, value ORDER BY 1, 2";
        assert_eq!(
            rows(&database, sql, |row| Ok((
                row.get(0)?,
                row.get(1)?,
                row.get(2)?
            ))),
            expected
        );
    }
}

/// What a view says of something: a line or calls, and two costs.
type Row = (String, Option<i64>, f64, Option<f64>);

/// What the views say, apart from names of threads.
fn said(database: &Database) -> [Vec<Row>; 3] {
    [
        "SELECT function || ' ' || file, NULL, exclusive, cumulative FROM summary
         WHERE metric = 'samples' ORDER BY 1, 3, 4",
        "SELECT function || ' ' || file, line, exclusive, cumulative FROM lines
         WHERE metric = 'samples' ORDER BY 1, 2, 3",
        "SELECT function || ' ' || file || ' ' || callee || ' ' || callee_file, calls, cumulative, NULL FROM callees
         WHERE metric = 'samples' ORDER BY 1, 3",
    ]
    .map(|sql| rows(database, sql, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))))
}

#[test]
fn the_same_as_speedscope_says() {
    let text = text("speedscope/work.speedscope.json");
    let file: Value = serde_json::from_str(&text).expect("JSON");
    let speedscope = imported("speedscope", &text);
    let expected = said(&speedscope);
    assert!(
        expected.iter().all(|rows| rows.len() >= 45),
        "{:?}",
        expected.each_ref().map(Vec::len)
    );
    for version in [Version::PerThread, Version::Shared] {
        let database = imported("firefox", &converted(&file, version));
        assert_eq!(said(&database), expected);
        for metric in ["samples", "time"] {
            assert!(
                (total(&database, metric) - total(&speedscope, metric)).abs() < 1e-6,
                "{metric}"
            );
        }
    }
}

/// Nanoseconds between two samples of the recording.
const PERIOD: f64 = 5_025_125.0;

/// What the writer was told: thread, stack and number of samples.
fn samples_of_perf() -> Vec<(String, Vec<String>, f64)> {
    let text = text("folded/perf-fp.inferno-pid-tid.folded");
    let stacks = text.lines().map(|line| {
        let (stack, periods) = line.rsplit_once(' ').expect("a stack and its periods");
        let mut frames = stack.split(';').map(str::to_owned);
        let thread = frames.next().expect("a thread");
        (
            thread,
            frames.collect(),
            periods.parse::<f64>().expect("a number") / PERIOD,
        )
    });
    stacks.collect()
}

#[test]
fn samplys_writer_says_what_it_was_told() {
    let told = samples_of_perf();
    let database = imported("firefox", &bytes("firefox/perf-fp.fxprof.json.gz"));
    let stacks: Vec<_> = told
        .iter()
        .map(|(_, stack, samples)| (stack.clone(), *samples))
        .collect();
    assert_eq!(functions(&database, "samples"), functions_of(&stacks));
    assert_eq!(edges(&database, "samples"), edges_of(&stacks));
    let samples: f64 = told.iter().map(|(_, _, samples)| samples).sum();
    assert_eq!(
        (total(&database, "samples"), total(&database, "time")),
        (samples, samples * PERIOD)
    );

    let mut threads: BTreeMap<String, f64> = BTreeMap::new();
    for (thread, _, samples) in &told {
        *threads.entry(thread.clone()).or_default() += samples;
    }
    // Each sample but the first one of a thread, in whole microseconds.
    let threads_of_cpu = f64::from(u32::try_from(threads.len()).expect("few"));
    assert_eq!(
        total(&database, "cpu"),
        (samples - threads_of_cpu) * (PERIOD / 2e3).floor() * 1e3
    );
    let sql = "SELECT function, cumulative FROM tree WHERE metric = 'samples' AND depth = 1";
    let found = rows(&database, sql, |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, f64>(1)?))
    });
    let found: BTreeMap<_, _> = found.into_iter().collect();
    for (thread, samples) in threads {
        let number = thread.rsplit_once('/').expect("a number").1;
        // The crate calls the main thread after its process.
        let name = if number == "6645" {
            "work-perf"
        } else {
            &thread
        };
        assert_eq!(
            found.get(&format!("{name} {number}")),
            Some(&samples),
            "{thread}"
        );
    }
}

/// Categories are those of the innermost frames; the writer gives `fib` a subcategory, and
/// everything else the first one.
#[test]
fn samplys_categories_are_labels() {
    let mut told: BTreeMap<(String, String), f64> = BTreeMap::new();
    for (_, stack, samples) in samples_of_perf() {
        let innermost = stack.last().expect("a frame");
        let category = if innermost.ends_with("_[k]") {
            "Kernel"
        } else {
            "User"
        };
        let subcategory = if innermost == "fib" {
            "Recursive"
        } else {
            "Other"
        };
        for (key, value) in [("category", category), ("subcategory", subcategory)] {
            *told.entry((key.to_owned(), value.to_owned())).or_default() += samples;
        }
    }
    let database = imported("firefox", &bytes("firefox/perf-fp.fxprof.json.gz"));
    let sql =
        "SELECT key, value, SUM(exclusive) FROM tags WHERE metric = 'samples' GROUP BY key, value";
    let found = rows(&database, sql, |row| {
        Ok(((row.get(0)?, row.get(1)?), row.get(2)?))
    });
    assert_eq!(
        found
            .into_iter()
            .collect::<BTreeMap<(String, String), f64>>(),
        told
    );
    let notes = rows(
        &database,
        "SELECT message FROM notes ORDER BY message",
        |row| row.get::<_, String>(0),
    );
    assert_eq!(
        notes,
        [
            "1 table of allocations skipped: only samples are imported",
            "the file is not symbolicated: functions are named by their address; to get names, open the file in \
             profiler.firefox.com and save it again"
        ]
    );
}

/// Stacks of perf by thread, outermost frame first: addresses in their binaries, as samply calls
/// functions without a symbol. Of callers perf prints where they go on, samply one byte less.
fn stacks_of_perf(text: &str) -> Vec<(String, Vec<String>, f64)> {
    let mut stacks: Vec<(String, Vec<String>, f64)> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        if let (Some(frame), Some((_, stack, _))) = (line.strip_prefix('\t'), stacks.last_mut()) {
            let address = frame.split_whitespace().next().expect("an address");
            let address =
                u64::from_str_radix(address, 16).expect(frame) - u64::from(!stack.is_empty());
            stack.insert(0, format!("{address:#x}"));
        } else {
            let thread = line.split_whitespace().nth(1).expect("a thread");
            stacks.push((thread.to_owned(), Vec::new(), 1.0));
        }
    }
    stacks
}

#[test]
fn samply_says_what_perf_recorded() {
    let told = stacks_of_perf(&text("firefox/app.perf-script.txt.gz"));
    let database = imported("firefox", &bytes("firefox/app.samply.json.gz"));
    let stacks: Vec<_> = told
        .iter()
        .map(|(_, stack, samples)| (stack.clone(), *samples))
        .collect();
    assert_eq!(functions(&database, "samples"), functions_of(&stacks));
    assert_eq!(edges(&database, "samples"), edges_of(&stacks));
    let mut threads: BTreeMap<&str, f64> = BTreeMap::new();
    for (thread, _, samples) in &told {
        *threads.entry(thread).or_default() += samples;
    }
    assert_eq!(threads.len(), 3);
    let sql = "SELECT function, cumulative FROM tree WHERE metric = 'samples' AND depth = 1 AND cumulative > 0";
    let found = rows(&database, sql, |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, f64>(1)?))
    });
    // A thread that has become another program is there a second time, with `.1` after its number.
    let number = |name: &str| {
        name.trim_start_matches("app ")
            .trim_end_matches(".1")
            .to_owned()
    };
    let found: BTreeMap<_, _> = found
        .iter()
        .map(|(name, samples)| (number(name), *samples))
        .collect();
    assert_eq!(
        found,
        threads
            .into_iter()
            .map(|(thread, samples)| (thread.to_owned(), samples))
            .collect()
    );
}
