//! The thread that answers: one question after the other, so that it needs one connection to the database.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};

use tokio::sync::mpsc;

use super::guard::Question;
use super::reply::{Piece, Reply, Waiting, reply};
use crate::base::error::Stop;

/// A question that waits.
struct Job {
    question: Question,
    reply: Reply,
    stop: Stop,
}

/// Hands questions to the thread.
#[derive(Clone)]
pub(super) struct Queue(Sender<Job>);

impl Queue {
    /// Asks; the pieces of the answer come back as long as the second is kept. `None` once the thread has ended.
    pub(super) fn ask(&self, question: Question) -> Option<(mpsc::Receiver<Piece>, Waiting)> {
        let (reply, pieces) = reply();
        let stop = Stop::default();
        let waiting = Waiting(stop.clone());
        let job = Job {
            question,
            reply,
            stop,
        };
        self.0.send(job).ok()?;
        Some((pieces, waiting))
    }
}

/// Starts the thread. It ends after its last queue.
///
/// # Errors
/// When the system gives no thread.
pub(super) fn start(
    mut answer: impl FnMut(Question, Reply, &Stop) + Send + 'static,
) -> io::Result<(Queue, JoinHandle<()>)> {
    let (queue, jobs): (_, Receiver<Job>) = channel();
    let work = move || {
        for job in jobs {
            // Who asked may have left before their turn.
            if job.stop.is_set() {
                continue;
            }
            // A fault of ours in one answer is no reason to give no more: whoever asked sees that there is none.
            let answered = AssertUnwindSafe(|| answer(job.question, job.reply, &job.stop));
            drop(catch_unwind(answered));
        }
    };
    let thread = Builder::new().name("answers".to_owned()).spawn(work)?;
    Ok((Queue(queue), thread))
}
