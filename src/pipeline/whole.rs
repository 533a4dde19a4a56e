//! Small files: each becomes a run in memory, and several runs are stored together.
//!
//! The calls of the importer go straight to the builder. There is no queue between the two and no
//! thread for either: whoever has many files parses each in a thread of its own.

use std::cell::Cell;
use std::rc::Rc;

use super::failure::Failure;
use super::figures::check_figures;
use crate::base::error::Stop;
use crate::formats::{Format, Options};
use crate::input::{Fingerprint, Input};
use crate::profile::{Batch, Output, TreeBuilder};
use crate::store::{Database, Outcome, RunMeta, WholeRun};

/// Nodes of the largest run that is kept in memory.
const MOST_NODES: usize = 100_000;

/// What has become of a file.
#[derive(Debug)]
pub enum Parsed {
    /// A run, and from how many bytes it was read, after decompression.
    Whole(Box<WholeRun>, u64),
    /// It has too many nodes to be kept in memory: [`super::import`] is for it.
    Large,
}

/// Keeps the rows of a run, unless there are too many.
struct Kept {
    rows: Batch,
    batches: usize,
    is_large: Rc<Cell<bool>>,
    /// Ends the import of a run that is too large.
    stop: Stop,
}

impl Output for Kept {
    fn batch(&mut self, batch: &mut Batch) {
        self.batches += 1;
        if self.rows.nodes.len() + batch.nodes.len() > MOST_NODES {
            self.is_large.set(true);
            self.stop.set();
        }
        if self.is_large.get() {
            batch.clear();
            return;
        }
        self.rows.functions.append(&mut batch.functions);
        self.rows.nodes.append(&mut batch.nodes);
        self.rows.costs.append(&mut batch.costs);
    }
}

impl Kept {
    /// All rows in the order of their keys.
    fn sorted(mut self) -> Batch {
        // Only later batches have rows that come late (docs/design/0001-late-rows.md).
        if self.batches > 1 {
            self.rows.nodes.sort_unstable_by_key(|node| node.node);
            let costs = &mut self.rows.costs;
            costs.sort_unstable_by_key(|cost| (cost.metric, cost.node));
        }
        self.rows
    }
}

/// Makes a run of an input, in memory. `stop` is for this input alone: a run that is too large sets
/// it.
///
/// # Errors
/// When the file cannot be understood.
pub fn parse(
    mut input: Input<'_>,
    format: &Format,
    options: &Options,
    stop: &Stop,
    describe: impl FnOnce(Fingerprint) -> RunMeta,
) -> Result<Parsed, Failure> {
    let is_large = Rc::new(Cell::new(false));
    let kept = Kept {
        rows: Batch::default(),
        batches: 0,
        is_large: Rc::clone(&is_large),
        stop: stop.clone(),
    };
    let mut builder = TreeBuilder::new(kept, stop.clone());
    input.hash_here();
    let read = format.read(&mut input, options, &mut builder);
    // What the builder had to refuse is the cause of the stop that the importer has seen.
    let read = if builder.has_refused() { Ok(()) } else { read };
    let finished = read.and_then(|()| {
        let (mut totals, kept) = builder.finish()?;
        check_figures(&mut totals, format, input.position())?;
        Ok((totals, kept))
    });
    if is_large.get() {
        return Ok(Parsed::Large);
    }
    let (totals, kept) = finished?;
    let bytes = input.position().byte;
    let run = WholeRun {
        rows: kept.sorted(),
        totals,
        meta: describe(input.finish()?),
    };
    Ok(Parsed::Whole(Box::new(run), bytes))
}

/// Stores runs in one transaction, in their order: all or none, as [`Database::add_runs`] does.
///
/// # Errors
/// When the database cannot be written, or `stop` is set.
pub fn store(
    mut database: Database,
    runs: Vec<WholeRun>,
    stop: &Stop,
) -> Result<(Vec<Outcome>, Database), Failure> {
    database.heed(stop.clone())?;
    match database.add_runs(runs) {
        Ok(outcomes) => Ok((outcomes, database)),
        Err(error) => {
            database.discard_if_new();
            Err(if stop.is_set() {
                Failure::Interrupted
            } else {
                error.into()
            })
        }
    }
}
