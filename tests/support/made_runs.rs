//! Runs that tests say to a builder themselves, written to a database.

use profdb::input::Fingerprint;
use profdb::profile::{Batch, Output, TreeBuilder};
use profdb::source::SourceLines;
use profdb::store::{Database, Outcome, RunMeta};

/// Keeps what a builder puts out.
#[derive(Default)]
pub(crate) struct Batches(pub(crate) Vec<Batch>);

impl Output for Batches {
    fn batch(&mut self, batch: &mut Batch) {
        self.0.push(std::mem::take(batch));
    }
}

/// What is known of a run of no file. It is stored even if there is an equal one.
pub(crate) fn made_up() -> RunMeta {
    RunMeta {
        format: "random",
        revision: 1,
        options: String::new(),
        source_name: "random".to_owned(),
        fingerprint: Fingerprint {
            bytes: 0,
            sha256: [0; 32],
        },
        title: None,
        tags: Vec::new(),
        noise: Vec::new(),
        again: true,
        source: None,
        source_lines: SourceLines::default(),
    }
}

/// Writes what has been said to a builder. Says the number of the run.
pub(crate) fn write(builder: TreeBuilder<Batches>, meta: &RunMeta, database: &mut Database) -> i64 {
    let (totals, Batches(batches)) = builder.finish().expect("a run that keeps the rules");
    let mut writer = database
        .begin_run()
        .expect("a database that nobody else has");
    for mut batch in batches {
        writer.batch(&mut batch).expect("space for the run");
    }
    let outcome = writer.finish(&totals, meta).expect("space for the run");
    let Outcome::Stored(run) = outcome else {
        panic!("expected a run that is stored even if there is an equal one: {outcome:?}")
    };
    run
}
