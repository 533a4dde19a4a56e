//! Measures how long each stage of an import takes, per format: reading alone, reading and building the tree, and the whole
//! import.
//!
//! ```text
//! cargo bench --bench stages -- [FILTER [SAMPLES]]
//! ```
//!
//! Runs the stages whose name contains FILTER, each SAMPLES times (20). The inputs are generated in memory, [`ROWS`] rows each, and
//! are equal on every machine. `skeleton` is the bare loop over the events of `quick-xml` and the records of `csv-core`.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program of its own, which measures time and prints it"
)]

mod profiles;

use std::hint::black_box;
use std::io::{self, BufReader};
use std::time::{Duration, Instant};

use csv_core::ReadRecordResult;
use hashbrown::HashMap;
use profdb::base::error::{Position, Stop};
use profdb::events::{
    Cost, Edge, Frame, FunctionDef, FunctionId, Info, Label, LabelsId, MetricId, Noise, Note,
    RunFact, Sample, Sink, Unit,
};
use profdb::formats;
use profdb::formats::{Format, Options};
use profdb::input::{Input, Limits};
use profdb::profile::{Batch, Output, TreeBuilder};
use profdb::store::Database;
use profiles::{Profile, Version, dyalog, lisp};

/// Rows of the generated trees.
const ROWS: usize = 200_000;

/// A generator of files of one format.
type Writer = fn(&Profile, &mut Vec<u8>) -> io::Result<()>;

/// The formats that are measured, by name.
const FORMATS: [(&str, Writer); 5] = [
    ("dyalog_csv", dyalog::write_csv),
    ("dyalog_xml", dyalog::write_xml),
    ("lispworks_tree", lisp::write_lispworks),
    ("sampler", lisp::write_sampler),
    ("folded", lisp::write_folded),
];

fn main() {
    // Cargo adds `--bench` to the arguments of the user.
    let mut arguments = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench");
    let filter = arguments.next().unwrap_or_default();
    let samples = arguments.next().map_or(20, |samples| {
        samples.parse().expect("SAMPLES is a number above 0")
    });
    let profile = Profile::new(ROWS, ROWS / 100, 1, Version::V0_9_0).expect("sound arguments");
    for (name, write) in FORMATS {
        let mut bytes = Vec::new();
        write(&profile, &mut bytes).expect("a vector takes everything");
        let file = File {
            format: formats::format_named(name).expect("a format"),
            bytes,
        };
        let measure = Measure {
            filter: &filter,
            samples,
            bytes: file.bytes.len(),
        };
        measure.stage(&format!("read {name}"), || read(&file));
        measure.stage(&format!("read_and_build {name}"), || read_and_build(&file));
        measure.stage(&format!("import {name}"), || import(&file));
        match name {
            "dyalog_csv" => measure.stage("skeleton csv", || skeleton_csv(&file)),
            "dyalog_xml" => measure.stage("skeleton xml", || skeleton_xml(&file)),
            _ => {}
        }
    }
}

/// A generated file and the format that reads it.
struct File {
    format: &'static Format,
    bytes: Vec<u8>,
}

/// The settings of the measurements of one file.
struct Measure<'m> {
    filter: &'m str,
    samples: usize,
    bytes: usize,
}

impl Measure<'_> {
    /// Runs a stage several times, and prints its fastest and its median time. Dropping the result is not measured.
    fn stage<T>(&self, name: &str, run: impl Fn() -> T) {
        if !name.contains(self.filter) {
            return;
        }
        let mut times: Vec<Duration> = (0..self.samples)
            .map(|_| {
                let start = Instant::now();
                let result = run();
                let time = start.elapsed();
                drop(result);
                time
            })
            .collect();
        times.sort_unstable();
        let [fastest, median] = [times[0], times[times.len() / 2]].map(|time| time.as_secs_f64());
        let [bytes, rows] = [self.bytes, ROWS].map(|count| {
            #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
            let count = count as f64;
            count / median / 1e6
        });
        println!(
            "{name:32} fastest {:8.2} ms  median {:8.2} ms  {bytes:7.1} MB/s  {rows:5.2} million rows/s",
            fastest * 1e3,
            median * 1e3,
        );
    }
}

fn input(file: &File) -> Input<'_> {
    Input::new(
        Box::new(file.bytes.as_slice()),
        Limits::default(),
        Stop::default(),
    )
    .expect("the head is readable")
}

/// Takes the calls of a reader and keeps only the names of functions.
#[derive(Default)]
struct Deaf {
    functions: HashMap<String, FunctionId>,
    metrics: u32,
}

impl Sink for Deaf {
    fn run(&mut self, fact: RunFact<'_>) {
        black_box(fact);
    }

    fn metric(&mut self, _name: &str, _unit: Unit, _noise: Noise) -> MetricId {
        self.metrics += 1;
        MetricId(self.metrics - 1)
    }

    fn function(&mut self, def: FunctionDef<'_>) -> FunctionId {
        let next = FunctionId(u32::try_from(self.functions.len()).expect("few functions"));
        *self.functions.entry_ref(def.name).or_insert(next)
    }

    fn labels(&mut self, _: &[Label<'_>]) -> LabelsId {
        LabelsId(0)
    }

    fn enter(&mut self, frame: Frame<'_>, calls: Option<u64>) {
        black_box((frame, calls));
    }

    fn cost(&mut self, metric: MetricId, cost: Cost) {
        black_box((metric, cost));
    }

    fn leave(&mut self) {}

    fn sample(&mut self, sample: Sample<'_>) {
        black_box(sample);
    }

    fn edge(&mut self, edge: Edge<'_>) {
        black_box(edge);
    }

    fn info(&mut self, info: Info<'_>) {
        black_box(info);
    }

    fn note(&mut self, note: Note<'_>) {
        black_box(note);
    }

    fn at(&mut self, position: Position) {
        black_box(position);
    }

    fn record(&mut self, what: std::fmt::Arguments<'_>) {
        black_box(what);
    }
}

/// Takes rows and discards them.
struct Nowhere;

impl Output for Nowhere {
    fn batch(&mut self, batch: &mut Batch) {
        black_box(&mut *batch).clear();
    }
}

fn read(file: &File) {
    let mut input = input(file);
    file.format
        .read(&mut input, &Options::default(), &mut Deaf::default())
        .expect("a sound file");
}

fn read_and_build(file: &File) -> impl Sized {
    let mut input = input(file);
    let mut builder = TreeBuilder::new(Nowhere, Stop::default());
    file.format
        .read(&mut input, &Options::default(), &mut builder)
        .expect("a sound file");
    builder
        .finish()
        .map(|(totals, _)| totals)
        .expect("a sound run")
}

/// Imports into memory, so that the disk is not measured.
fn import(file: &File) -> impl Sized {
    let options = Options::default();
    let describe =
        |fingerprint| profdb::pipeline::meta(file.format, &options, "bench", fingerprint);
    profdb::pipeline::import(
        input(file),
        file.format,
        &options,
        &Stop::default(),
        describe,
        Database::in_memory,
    )
    .expect("a sound file")
}

/// Finds the fields of all records and does nothing else.
fn skeleton_csv(file: &File) {
    let mut reader = csv_core::Reader::new();
    let (mut fields, mut ends) = (vec![0; 1 << 16], [0; 256]);
    let mut rest = file.bytes.as_slice();
    loop {
        let (result, read, ..) = reader.read_record(rest, &mut fields, &mut ends);
        rest = &rest[read..];
        if result == ReadRecordResult::End {
            return;
        }
        black_box((result, &fields, &ends));
    }
}

/// Finds the events of the file and does nothing else.
fn skeleton_xml(file: &File) {
    let mut reader = quick_xml::Reader::from_reader(BufReader::new(file.bytes.as_slice()));
    let mut buffer = Vec::new();
    while !matches!(
        reader.read_event_into(&mut buffer).expect("XML"),
        quick_xml::events::Event::Eof
    ) {
        buffer.clear();
    }
}
