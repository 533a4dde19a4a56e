//! How long each stage of an import takes, per format: reading alone, reading and building, and the
//! whole import.
//!
//! ```text
//! cargo bench --bench stages -- [FILTER] [--sample-count N] [--min-time SECONDS]
//! ```
//!
//! The inputs are generated in memory, [`ROWS`] rows each, the same on every machine. `skeleton` is
//! the bare loop over the events of `quick-xml` and the records of `csv`.

mod profiles;

use std::io::{self, BufReader};
use std::sync::LazyLock;

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
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

fn main() {
    divan::main();
}

/// A generated file and the format that reads it.
struct File {
    format: &'static Format,
    bytes: Vec<u8>,
}

/// Names of the formats; a bench for each.
const FORMATS: [&str; 5] = [
    "dyalog_csv",
    "dyalog_xml",
    "lispworks_tree",
    "sampler",
    "folded",
];

fn file(name: &str) -> &'static File {
    type Writer = fn(&Profile, &mut Vec<u8>) -> io::Result<()>;
    const WRITERS: [Writer; 5] = [
        dyalog::write_csv,
        dyalog::write_xml,
        lisp::write_lispworks,
        lisp::write_sampler,
        lisp::write_folded,
    ];
    static FILES: [LazyLock<File>; 5] = [
        LazyLock::new(|| generate(0)),
        LazyLock::new(|| generate(1)),
        LazyLock::new(|| generate(2)),
        LazyLock::new(|| generate(3)),
        LazyLock::new(|| generate(4)),
    ];
    fn generate(at: usize) -> File {
        let profile = Profile::new(ROWS, ROWS / 100, 1, Version::V0_9_0).expect("sound arguments");
        let mut bytes = Vec::new();
        WRITERS[at](&profile, &mut bytes).expect("a vector takes everything");
        File {
            format: formats::format_named(FORMATS[at]).expect("a format"),
            bytes,
        }
    }
    &FILES[FORMATS
        .iter()
        .position(|known| *known == name)
        .expect("one of the formats")]
}

fn input(file: &'static File) -> Input<'static> {
    Input::new(
        Box::new(file.bytes.as_slice()),
        Limits::default(),
        Stop::default(),
    )
    .expect("the head is readable")
}

/// Hears everything and keeps the names of functions alone.
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

/// Takes rows and forgets them.
struct Nowhere;

impl Output for Nowhere {
    fn batch(&mut self, batch: &mut Batch) {
        black_box(&mut *batch).clear();
    }
}

#[divan::bench(args = FORMATS)]
fn read(bencher: Bencher<'_, '_>, format: &str) {
    let file = file(format);
    bencher
        .counter(BytesCount::new(file.bytes.len()))
        .counter(ItemsCount::new(ROWS))
        .bench(|| {
            let mut input = input(file);
            file.format
                .read(&mut input, &Options::default(), &mut Deaf::default())
                .expect("a sound file");
        });
}

#[divan::bench(args = FORMATS)]
fn read_and_build(bencher: Bencher<'_, '_>, format: &str) {
    let file = file(format);
    bencher
        .counter(BytesCount::new(file.bytes.len()))
        .counter(ItemsCount::new(ROWS))
        .bench(|| {
            let mut input = input(file);
            let mut builder = TreeBuilder::new(Nowhere, Stop::default());
            file.format
                .read(&mut input, &Options::default(), &mut builder)
                .expect("a sound file");
            builder
                .finish()
                .map(|(totals, _)| totals)
                .expect("a sound run")
        });
}

/// Into memory, so that the disk is not measured.
#[divan::bench(args = FORMATS)]
fn import(bencher: Bencher<'_, '_>, format: &str) {
    let file = file(format);
    bencher
        .counter(BytesCount::new(file.bytes.len()))
        .counter(ItemsCount::new(ROWS))
        .bench(|| {
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
        });
}

/// What the libraries need to find the pieces, and nothing else.
#[divan::bench]
fn skeleton_csv(bencher: Bencher<'_, '_>) {
    let file = file("dyalog_csv");
    bencher
        .counter(BytesCount::new(file.bytes.len()))
        .counter(ItemsCount::new(ROWS))
        .bench(|| {
            let mut reader = csv::Reader::from_reader(file.bytes.as_slice());
            let mut record = csv::ByteRecord::new();
            while reader.read_byte_record(&mut record).expect("CSV") {
                black_box(&record);
            }
        });
}

#[divan::bench]
fn skeleton_xml(bencher: Bencher<'_, '_>) {
    let file = file("dyalog_xml");
    bencher
        .counter(BytesCount::new(file.bytes.len()))
        .counter(ItemsCount::new(ROWS))
        .bench(|| {
            let mut reader = quick_xml::Reader::from_reader(BufReader::new(file.bytes.as_slice()));
            let mut buffer = Vec::new();
            while !matches!(
                reader.read_event_into(&mut buffer).expect("XML"),
                quick_xml::events::Event::Eof
            ) {
                buffer.clear();
            }
        });
}
