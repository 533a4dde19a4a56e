//! One import from end to end: the importer works in the calling thread, the builder in a second
//! one, the database in a third; a short queue of batches lies between each two.
//!
//! The first failure stops all three: builder and database set the [`Stop`] that the next read of
//! the input sees, and an importer that gives up closes the queues without a last message, upon
//! which the writer rolls back.
//!
//! Small files go another way ([`parse`], [`store`]): importer and builder work in one thread, many
//! files at a time, and the runs that come of them are stored in groups
//! (docs/design/measured-choices.md).

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::Duration;

use crate::base::error::{ImportError, Stop};
use crate::base::threads::joined;
use crate::formats::{Format, Options};
use crate::input::{Fingerprint, Input};
use crate::profile::{Batch, Output, RunSummary, TreeBuilder};
use crate::source::SourceLines;
use crate::store::{Database, Outcome, RunMeta, StoreError};
use event_queue::{EventBatch, EventQueue};
use figures::check_figures;

pub use failure::Failure;
pub use whole::{Parsed, parse, store};

/// Batches that may lie between importer and builder, and between builder and writer.
const QUEUE: usize = 4;

/// How long the writer waits for a batch before it looks whether the run is still wanted: an importer
/// may be waiting for input that never comes.
const LOOK: Duration = Duration::from_millis(50);

/// What has been imported.
#[derive(Debug)]
pub struct Imported {
    /// Whether the run is new.
    pub outcome: Outcome,
    /// The database that it is in.
    pub database: Database,
    /// Nodes in the file.
    pub nodes: u64,
}

enum Message {
    Batch(Batch),
    Finish(Box<(RunSummary, RunMeta)>),
}

/// The builder's end of the queue to the writer, and the way back for batches that have been written.
struct RowSender {
    full: SyncSender<Message>,
    empty: Receiver<Batch>,
}

impl Output for RowSender {
    fn batch(&mut self, batch: &mut Batch) {
        let full = std::mem::replace(batch, self.empty.try_recv().unwrap_or_default());
        // A writer that is gone has set the stop flag, which the next read of the input sees.
        let _ = self.full.send(Message::Batch(full));
    }
}

/// The writer's end of the queue.
struct RowReceiver {
    full: Receiver<Message>,
    empty: Sender<Batch>,
}

impl RowReceiver {
    /// The next message; `None` when none will come, or the run is no longer wanted.
    fn next(&self, stop: &Stop) -> Option<Message> {
        loop {
            match self.full.recv_timeout(LOOK) {
                Ok(message) => return Some(message),
                Err(RecvTimeoutError::Timeout) if !stop.is_set() => {}
                Err(_) => return None,
            }
        }
    }
}

/// What is known of a run before its importer has said anything.
#[must_use]
pub fn meta(format: &Format, options: &Options, name: &str, fingerprint: Fingerprint) -> RunMeta {
    RunMeta {
        format: format.name,
        revision: format.revision,
        options: options.describe(),
        source_name: name.to_owned(),
        fingerprint,
        title: None,
        tags: Vec::new(),
        noise: Vec::new(),
        again: false,
        source: None,
        source_lines: SourceLines::default(),
    }
}

/// Imports one input. `open` is called when there is something to write; `describe` when the
/// content is known.
///
/// # Errors
/// When the file cannot be understood or the database not be written: then the database is as it
/// was before.
pub fn import(
    mut input: Input<'_>,
    format: &Format,
    options: &Options,
    stop: &Stop,
    describe: impl FnOnce(Fingerprint) -> RunMeta,
    open: impl FnOnce() -> Result<Database, StoreError> + Send,
) -> Result<Imported, Failure> {
    thread::scope(|scope| {
        // Full batches wait in bounded queues, so that a slow writer slows the reader down and
        // memory stays small. The way back for used ones has no bound: nothing ever waits there.
        let (sender, full) = sync_channel(QUEUE);
        let (empty, returned) = channel();
        let spawn = thread::Builder::new;
        let receiver = RowReceiver { full, empty };
        let writer = spawn()
            .spawn_scoped(scope, move || write(&receiver, open, stop))
            .map_err(Failure::Thread)?;
        let rows = RowSender {
            full: sender.clone(),
            empty: returned,
        };
        let (full, batches) = sync_channel(QUEUE);
        let (used, unused) = channel();
        let builder = spawn()
            .spawn_scoped(scope, move || build(&batches, &used, rows, stop))
            .map_err(Failure::Thread)?;
        // The queue ends with this statement: it sends its last batch and is gone, upon which the
        // builder's thread ends, which is joined next.
        let read = format.read(&mut input, options, &mut EventQueue::new(full, unused));
        let builder = joined(builder);
        // What the builder had to refuse is the cause of the stop that the importer has seen.
        let read = if builder.has_refused() { Ok(()) } else { read };
        let read = read
            // In this thread, which has nothing else to do: the totals are drawn up while the
            // writer is still busy. Where reading has failed, the builder is dropped with its end
            // of the queue.
            .and_then(|()| {
                // Before the totals: the buffers of the input are not needed beside them.
                let end = input.position();
                let fingerprint = input.finish()?;
                let (mut totals, _rows) = builder.finish()?;
                check_figures(&mut totals, format, end)?;
                let nodes = totals.nodes;
                // A writer that is gone has its own error to report.
                let _ = sender.send(Message::Finish(Box::new((totals, describe(fingerprint)))));
                Ok(nodes)
            });
        // The last sender: without a last message this is what the writer takes for a run that is
        // given up.
        drop(sender);
        // Of two failures the cause is reported: what is wrong with the file where the writer was
        // only interrupted, what is wrong with the database where the importer was only stopped.
        match (read, joined(writer)) {
            (Err(error), Ok(_) | Err(Failure::Interrupted))
                if !matches!(error, ImportError::Stopped) =>
            {
                Err(error.into())
            }
            (_, Err(failure)) => Err(failure),
            (Ok(nodes), Ok(Some((outcome, database)))) => Ok(Imported {
                outcome,
                database,
                nodes,
            }),
            (Err(_) | Ok(_), Ok(_)) => Err(Failure::Interrupted),
        }
    })
}

/// Replays the importer's calls on a builder, until the importer's end of the queue is gone.
fn build(
    batches: &Receiver<EventBatch>,
    used: &Sender<EventBatch>,
    rows: RowSender,
    stop: &Stop,
) -> TreeBuilder<RowSender> {
    let mut builder = TreeBuilder::new(rows, stop.clone());
    // Goes on after a refusal: the importer sees the flag at its next read of the input only.
    for mut batch in batches {
        batch.replay(&mut builder);
        batch.clear();
        // An importer that is done needs no room.
        let _ = used.send(batch);
    }
    builder
}

/// Writes the rows that the builder sends. `None` if the importer gave up.
fn write(
    rows: &RowReceiver,
    open: impl FnOnce() -> Result<Database, StoreError>,
    stop: &Stop,
) -> Result<Option<(Outcome, Database)>, Failure> {
    // Waits without looking at `stop`: before there is something to write no database is open, and
    // none is locked.
    let Ok(first) = rows.full.recv() else {
        return Ok(None);
    };
    let opened = open().map_err(|error| {
        if stop.is_set() {
            Failure::Interrupted
        } else {
            error.into()
        }
    });
    let written = opened.and_then(|database| write_run(first, rows, database, stop));
    if written.is_err() {
        stop.set();
        // Lets the importer finish what it is about to send.
        rows.full.iter().for_each(drop);
    }
    written
}

fn write_run(
    first: Message,
    rows: &RowReceiver,
    mut database: Database,
    stop: &Stop,
) -> Result<Option<(Outcome, Database)>, Failure> {
    database.heed(stop.clone())?;
    let finished = (|| {
        let mut writer = database.begin_run()?;
        let mut message = Some(first);
        while let Some(now) = message {
            match now {
                Message::Batch(mut batch) => {
                    writer.batch(&mut batch)?;
                    batch.clear();
                    // A builder that is gone needs no room.
                    let _ = rows.empty.send(batch);
                }
                Message::Finish(end) => return writer.finish(&end.0, &end.1).map(Some),
            }
            message = rows.next(stop);
        }
        Ok(None)
    })();
    match finished {
        Ok(Some(outcome)) => Ok(Some((outcome, database))),
        Ok(None) => {
            database.discard_if_new();
            Ok(None)
        }
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

mod event_queue;
mod failure;
mod figures;
mod whole;
