//! The law for runs that no format has thought of: trees, stacks, edges, and what files say of
//! functions besides.

use std::cell::RefCell;

use libtest_mimic::Failed;
use profdb::base::error::Stop;
use profdb::formats::{Confidence, Format, Options};
use profdb::pipeline::{import, meta};
use profdb::store::Database;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use super::super::pages::is_the_same_without_pages;
use super::{faults_of, open};
use crate::support::streams::{Node, Spot, Stream, streams};

/// How many runs are tried, the same ones every time.
const RUNS: usize = 20;

thread_local! {
    /// What the importer says next.
    static STREAM: RefCell<Option<Stream>> = const { RefCell::new(None) };
}

const RANDOM: Format = Format {
    name: "random",
    summary: "a run made at random",
    revision: 1,
    sniff: |_| Confidence::No,
    options: &[],
    import: |_, _, sink| {
        STREAM.with_borrow(|stream| stream.iter().for_each(|stream| stream.say(sink)));
        Ok(())
    },
};

/// Whether threads and the like hold functions, and stand in none, as in all files.
fn threads_hold(stream: &Stream) -> bool {
    let holds = |spot: &Spot| stream.is_container(spot.function);
    let is_below = |node: &Node| {
        node.parent
            .is_none_or(|parent| holds(&stream.forest[parent].spot))
    };
    let nodes = stream
        .forest
        .iter()
        .all(|node| !holds(&node.spot) || is_below(node));
    nodes
        && stream
            .samples
            .iter()
            .all(|stack| stack.frames.is_sorted_by_key(|spot| !holds(spot)))
}

pub(crate) fn random_runs() -> Result<(), Failed> {
    each_random_run(|database| faults_of(database))
}

/// The same runs, read from pages and by SQL.
pub(crate) fn random_runs_without_pages() -> Result<(), Failed> {
    each_random_run(|database| {
        let same = is_the_same_without_pages(database);
        Ok(same
            .err()
            .and_then(|fault| fault.message().map(str::to_owned))
            .into_iter()
            .collect())
    })
}

fn each_random_run(
    faults_of: impl Fn(&mut Database) -> Result<Vec<String>, Failed>,
) -> Result<(), Failed> {
    let mut runner = TestRunner::deterministic();
    let mut faults = Vec::new();
    let trees = std::iter::from_fn(|| streams().new_tree(&mut runner).ok());
    for (run, stream) in trees
        .map(|tree| tree.current())
        .filter(threads_hold)
        .take(RUNS)
        .enumerate()
    {
        let shown = format!("{stream:?}");
        STREAM.set(Some(stream));
        let options = Options::default();
        let describe = |fingerprint| meta(&RANDOM, &options, "random", fingerprint);
        let mut imported = import(
            open(b"any")?,
            &RANDOM,
            &options,
            &Stop::default(),
            describe,
            Database::in_memory,
        )?;
        let found = faults_of(&mut imported.database)?;
        if !found.is_empty() {
            faults.push(format!("run {run}: {}\n{shown:.2000}", found.join("\n")));
        }
    }
    if faults.is_empty() {
        Ok(())
    } else {
        Err(faults.join("\n").into())
    }
}
