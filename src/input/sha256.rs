//! The SHA-256 of a stream, most of it computed in a thread of its own.

use std::cell::{OnceCell, RefCell};
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use sha2::{Digest, Sha256};

/// Bytes that are hashed sooner than a thread starts.
const FEW: usize = 64 * 1024;

/// Pieces that are sent together: waking a thread, or waiting for it, costs about as much as
/// hashing one of them.
const TOGETHER: usize = 4;

/// How many times as many may lie between reading and hashing.
const QUEUE: usize = 4;

/// Hashes the first bytes at once and all others in a thread of its own.
#[derive(Default)]
pub(crate) struct Hasher {
    // Cells, because the reader below a decoder and the input above it share the hasher, in one
    // thread.
    first: RefCell<First>,
    /// `None` if the system gave no thread: then everything counts as first.
    rest: OnceCell<Option<Apart>>,
}

#[derive(Default)]
struct First {
    hash: Sha256,
    bytes: usize,
}

/// Some of the bytes of a buffer.
type Piece = (Arc<[u8]>, Range<usize>);

impl Hasher {
    /// Hashes in this thread what no other thread has begun to hash.
    pub(crate) fn stay(&self) {
        // As if the system had given no thread.
        let _ = self.rest.set(None);
    }

    /// Hashes bytes of a buffer that will be used again: they may have to be copied.
    pub(crate) fn update(&self, new: &[u8]) {
        self.pass(new, || (new.into(), 0..new.len()));
    }

    /// Hashes bytes of a shared buffer, which does not change before they are hashed.
    pub(crate) fn update_shared(&self, buffer: Arc<[u8]>, new: Range<usize>) {
        let bytes = Arc::clone(&buffer);
        self.pass(bytes.get(new.clone()).unwrap_or_default(), || (buffer, new));
    }

    fn pass(&self, new: &[u8], piece: impl FnOnce() -> Piece) {
        let mut first = self.first.borrow_mut();
        let is_short = self.rest.get().is_none() && first.bytes + new.len() <= FEW;
        let rest = if is_short {
            &None
        } else {
            // The thread goes on from the hash of the first bytes. Where it could not be started,
            // that is not tried again.
            self.rest.get_or_init(|| Apart::start(first.hash.clone()))
        };
        if let Some(rest) = rest {
            return rest.update(piece());
        }
        first.bytes += new.len();
        first.hash.update(new);
    }

    pub(crate) fn finish(self) -> [u8; 32] {
        match self.rest.into_inner() {
            Some(Some(rest)) => rest.finish(),
            _ => self.first.into_inner().hash.finalize().into(),
        }
    }
}

/// The thread, and the way that pieces take.
struct Apart {
    /// Those that have not been sent.
    some: RefCell<Vec<Piece>>,
    pieces: SyncSender<Vec<Piece>>,
    thread: JoinHandle<[u8; 32]>,
}

impl Apart {
    fn start(mut hash: Sha256) -> Option<Self> {
        // Bounded: a reader that is faster would else keep all of the file in buffers that wait to
        // be hashed.
        let (pieces, passed) = sync_channel::<Vec<Piece>>(QUEUE);
        let thread = thread::Builder::new().spawn(move || {
            for (bytes, new) in passed.into_iter().flatten() {
                hash.update(bytes.get(new).unwrap_or_default());
            }
            hash.finalize().into()
        });
        Some(Self {
            some: RefCell::default(),
            pieces,
            thread: thread.ok()?,
        })
    }

    fn update(&self, piece: Piece) {
        let mut some = self.some.borrow_mut();
        some.push(piece);
        if some.len() == TOGETHER {
            self.send(std::mem::take(&mut *some));
        }
    }

    fn send(&self, pieces: Vec<Piece>) {
        // It listens until there is no sender: only a panic ends it before, which `finish` passes
        // on.
        let _ = self.pieces.send(pieces);
    }

    fn finish(self) -> [u8; 32] {
        self.send(self.some.take());
        // The thread hashes until there is no sender.
        drop(self.pieces);
        self.thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}
