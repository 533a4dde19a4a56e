//! Exported files: whole numbers, texts of graphs, fields of pprof, and limits of their size.

use profdb::base::error::Stop;
use profdb::events::{Frame, FunctionDef, Kind, Noise, Sample, Sink as _, Unit};
use profdb::formats::export::{ExportError, Output, Request};
use profdb::formats::export_named;
use profdb::profile::TreeBuilder;
use profdb::store::{Database, LockWait, RunInfo};
use serde_json::{Value as Json, json};

use crate::support::imports::{export_run, import_profile};
use crate::support::made_runs::{Batches, made_up, write};
use crate::support::program;
use crate::support::protobuf::{field, varint};
use crate::support::protobuf_reader::{Content, fields, gunzip, read_varint};

/// Adds samples of stacks to a new database: kinds and names of frames, and a value.
fn store_samples(samples: &[(&[(Kind, &str)], f64)]) -> (Database, RunInfo) {
    let mut builder = TreeBuilder::new(Batches::default(), Stop::default());
    let metric = builder.metric("samples", Unit::Count, Noise::Sampled);
    for (stack, value) in samples {
        let stack: Vec<Frame<'_>> = stack
            .iter()
            .map(|(kind, name)| {
                let function = FunctionDef {
                    kind: *kind,
                    ..FunctionDef::named(name)
                };
                Frame::function(builder.function(function))
            })
            .collect();
        builder.sample(Sample {
            stack: &stack,
            shared: 0,
            calls: None,
            values: &[(metric, *value)],
            labels: None,
        });
    }
    let mut database = Database::in_memory().expect("memory");
    write(builder, &made_up(), &mut database);
    let run = database.run(None).expect("a database").expect("a run");
    (database, run)
}

const F: &[(Kind, &str)] = &[(Kind::Function, "f")];

#[test]
fn costs_beyond_64_bits_are_cut_and_counted_as_losses() {
    const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;
    let table = [
        (1.0, 1, false),
        (-1.0, -1, false),
        (-TWO_TO_63, i64::MIN, false),
        // The next REALs below and above.
        (-TWO_TO_63 - 2048.0, i64::MIN, true),
        (TWO_TO_63, i64::MAX, true),
        (TWO_TO_63 - 1024.0, i64::MAX - 1023, false),
        (f64::MAX, i64::MAX, true),
        (f64::MIN, i64::MIN, true),
    ];
    for (cost, expected, is_cut) in table {
        let (database, run) = store_samples(&[(F, cost)]);
        let (file, losses) = export_run("callgrind", &database, &run, &Request::default());
        let file = String::from_utf8(file).expect("text");
        assert!(
            file.contains(&format!("\n0 {expected}\n")),
            "{cost}: {file}"
        );
        let is_lost = losses.each().any(|(loss, _)| loss.name == "large");
        assert_eq!(is_lost, is_cut, "{cost}");
    }
}

#[test]
fn texts_of_graphs_are_escaped_line_by_line() {
    // Module and name of a function, and its label.
    let table = [
        ("", "plain", "\"plain\""),
        ("a\"b", "c\\", "\"a\\\"b\\nc\\\\\""),
        ("a\nb\0", "&lt; &", "\"a␊b␀\\n&amp;lt; &amp;\""),
        ("", "<b>]]>|{}", "\"<b>]]>|{}\""),
    ];
    for (module, name, label) in table {
        let mut builder = TreeBuilder::new(Batches::default(), Stop::default());
        let metric = builder.metric("samples", Unit::Count, Noise::Sampled);
        let function = builder.function(FunctionDef {
            module,
            ..FunctionDef::named(name)
        });
        builder.sample(Sample {
            stack: &[Frame::function(function)],
            shared: 0,
            calls: None,
            values: &[(metric, 1.0)],
            labels: None,
        });
        let mut database = Database::in_memory().expect("memory");
        write(builder, &made_up(), &mut database);
        let run = database.run(None).expect("a database").expect("a run");
        let mut request = Request::default();
        request.options.set("brief", "");
        let (file, _) = export_run("dot", &database, &run, &request);
        let file = String::from_utf8(file).expect("text");
        assert!(
            file.contains(&format!("[label={label}, tooltip=")),
            "{file}"
        );
    }
}

/// Fields of pprof: a number that is 0 is left out, a text is not, and several numbers are packed.
#[test]
fn pprof_fields_are_encoded_as_protocol_buffers() {
    let mut builder = TreeBuilder::new(Batches::default(), Stop::default());
    let metrics = ["a", "b", "c"].map(|name| builder.metric(name, Unit::Count, Noise::Unknown));
    let function = builder.function(FunctionDef {
        first_line: 300,
        ..FunctionDef::named("ab")
    });
    let [a, b, c] = metrics;
    builder.sample(Sample {
        stack: &[Frame::function(function)],
        shared: 0,
        calls: None,
        values: &[(a, 1.0), (b, 128.0), (c, -1.0)],
        labels: None,
    });
    let mut database = Database::in_memory().expect("memory");
    write(builder, &made_up(), &mut database);
    let run = database.run(None).expect("a database").expect("a run");
    let (file, _) = export_run("pprof", &database, &run, &Request::default());
    let profile = gunzip(&file);
    let values = [
        0x12, 13, 1, 0x80, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1,
    ];
    let has = |bytes: &[u8]| profile.windows(bytes.len()).any(|window| window == bytes);
    // The values of the sample, the line of the function, an empty text and a text.
    for bytes in [&values[..], &[0x28, 0xac, 0x02], &[0x32, 0], b"\x32\x02ab"] {
        assert!(
            has(bytes),
            "{}: {}",
            bytes.escape_ascii(),
            profile.escape_ascii()
        );
    }
    for (_, content) in fields(&profile) {
        assert_ne!(content, Content::Number(0));
    }
    let mut samples = fields(&profile)
        .into_iter()
        .filter(|(field, _)| *field == 2);
    let Some((_, Content::Bytes(sample))) = samples.next() else {
        panic!("a sample")
    };
    let packed = fields(sample).into_iter().find(|(field, _)| *field == 2);
    let Some((_, Content::Bytes(mut packed))) = packed else {
        panic!("packed values")
    };
    let numbers: Vec<u64> =
        std::iter::from_fn(|| (!packed.is_empty()).then(|| read_varint(&mut packed))).collect();
    assert_eq!(numbers, [1, 128, u64::MAX]);
}

/// Samples follow each other in one profile as long as all threads around them are equal.
#[test]
fn speedscope_has_a_profile_for_each_group_of_threads() {
    const P: (Kind, &str) = (Kind::Process, "p");
    const Q: (Kind, &str) = (Kind::Process, "q");
    const T: (Kind, &str) = (Kind::Thread, "t");
    const U: (Kind, &str) = (Kind::Thread, "u");
    let function = |name| (Kind::Function, name);
    let (f, g) = (function("f"), function("g"));
    let (database, run) = store_samples(&[
        (&[f], 1.0),
        (&[g], 2.0),
        (&[P, T, f], 4.0),
        (&[P, T, g], 8.0),
        (&[P, U, f], 16.0),
        (&[Q, f], 32.0),
        (&[function("last")], 64.0),
    ]);
    let (file, _) = export_run("speedscope", &database, &run, &Request::default());
    let file: Json = serde_json::from_slice(&file).expect("JSON");
    let profiles = file["profiles"].as_array().expect("profiles").iter();
    let profiles: Vec<(&Json, &Json)> = profiles
        .map(|profile| (&profile["name"], &profile["weights"]))
        .collect();
    assert_eq!(
        profiles,
        [
            (&json!("random"), &json!([1, 2])),
            (&json!("p / t"), &json!([4, 8])),
            (&json!("p / u"), &json!([16])),
            (&json!("q"), &json!([32])),
            (&json!("random"), &json!([64])),
        ]
    );
}

/// Bytes of a stream that stay in memory.
const IN_MEMORY: u64 = 8 << 20;

/// A run of which a sampler's file has 10 MB.
fn long_run() -> (Database, RunInfo) {
    import_profile("folded", b"a;b;c;d;e;f;g;h 300000\n")
}

fn export_stream(
    database: &Database,
    run: &RunInfo,
    max_size: u64,
) -> (Result<(), ExportError>, Vec<u8>) {
    let request = Request {
        max_size: Some(max_size),
        output: Output::Stream,
        ..Request::default()
    };
    let sampler = export_named("sampler").expect("a format that is written");
    let mut file = Vec::new();
    let result = sampler.write(database, run, &request, &mut file);
    (result.map(drop), file)
}

#[test]
fn stream_above_maximum_size_is_not_begun() {
    let (database, run) = long_run();
    let request = Request {
        output: Output::Draft,
        ..Request::default()
    };
    let (whole, _) = export_run("sampler", &database, &run, &request);
    let size = whole.len() as u64;
    assert!(size > IN_MEMORY);
    for max_size in [0, 1, IN_MEMORY, size - 1] {
        let (result, file) = export_stream(&database, &run, max_size);
        assert!(
            matches!(result, Err(ExportError::TooLarge(_))),
            "{max_size}"
        );
        assert!(file.is_empty(), "{max_size}: {} bytes", file.len());
    }
    let (result, file) = export_stream(&database, &run, size);
    assert!(result.is_ok() && file == whole);
}

/// A stream without an end is stopped while its bytes are held back.
#[test]
fn stopped_stream_is_not_begun() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.db");
    let mut builder = TreeBuilder::new(Batches::default(), Stop::default());
    let metric = builder.metric("samples", Unit::Count, Noise::Sampled);
    let function = builder.function(FunctionDef::named("f"));
    builder.sample(Sample {
        stack: &[Frame::function(function)],
        shared: 0,
        calls: None,
        values: &[(metric, 1e18)],
        labels: None,
    });
    let mut database = Database::open(&path).expect("a new database");
    write(builder, &made_up(), &mut database);
    let stop = Stop::default();
    let lock_wait = LockWait {
        stop: stop.clone(),
        ..LockWait::default()
    };
    let database = Database::open_read_only_waiting(&path, &lock_wait).expect("a database");
    let run = database.run(None).expect("a database").expect("a run");
    stop.set();
    let (result, file) = export_stream(&database, &run, u64::MAX);
    assert!(result.is_err());
    assert!(file.is_empty());
}

/// Returns a `profile.proto` with one sample and the given number of sample types.
fn pprof_with_sample_types(count: usize) -> Vec<u8> {
    let number = |tag: u8, value: usize| [vec![tag << 3], varint(value)].concat();
    let mut profile = Vec::new();
    for name in 1..=count {
        profile.extend(field(1, &[number(1, name), number(2, count + 1)].concat()));
    }
    let values: Vec<u8> = (1..=count).flat_map(varint).collect();
    profile.extend(field(2, &[field(1, &[1]), field(2, &values)].concat()));
    profile.extend(field(4, &[number(1, 1), field(4, &number(1, 1))].concat()));
    profile.extend(field(5, &[number(1, 1), number(2, count + 2)].concat()));
    let metrics = (1..=count).map(|name| format!("m{name}"));
    let strings = [String::new()].into_iter().chain(metrics);
    for text in strings.chain(["count".to_owned(), "work".to_owned()]) {
        profile.extend(field(6, text.as_bytes()));
    }
    profile
}

/// A callgrind file has at most as many events as profdb reads; the other metrics are a reported loss.
#[test]
fn callgrind_export_of_many_metrics_can_be_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, bytes: &[u8]| {
        std::fs::write(folder.path().join(name), bytes).expect("room on the disk");
    };
    write("run.pb", &pprof_with_sample_types(70));
    let profdb = |arguments: &[&str]| {
        let mut command = program::command();
        let done = command
            .args(arguments)
            .current_dir(folder.path())
            .output()
            .expect("profdb runs");
        assert!(done.status.success(), "{arguments:?}: {done:?}");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        (text(done.stdout), text(done.stderr))
    };
    let (_, losses) = profdb(&[
        "convert",
        "run.pb",
        "--to",
        "callgrind",
        "-o",
        "run.callgrind",
    ]);
    assert!(
        losses.contains("metrics other than the requested one (metrics: 6)"),
        "{losses}"
    );
    let (csv, _) = profdb(&[
        "report",
        "summary",
        "run.callgrind",
        "--metric",
        "m63",
        "--format",
        "csv",
    ]);
    assert!(csv.contains("work"), "{csv}");
}
