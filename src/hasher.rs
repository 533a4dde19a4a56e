//! The SHA-256 of what passes.

use std::cell::{OnceCell, RefCell};
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};

use sha2::{Digest, Sha256};

/// Bytes that are hashed sooner than a thread starts.
const FEW: usize = 64 * 1024;

/// Pieces that may lie between reading and hashing.
const QUEUE: usize = 4;

/// Hashes the first bytes at once and all others in a thread of its own: copying the bytes for it is several times cheaper
/// than hashing them here, where the importer waits.
#[derive(Default)]
pub(crate) struct Hasher {
    first: RefCell<First>,
    rest: OnceCell<Apart>,
}

#[derive(Default)]
struct First {
    hash: Sha256,
    bytes: usize,
}

impl Hasher {
    pub(crate) fn update(&self, new: &[u8]) {
        let mut first = self.first.borrow_mut();
        if self.rest.get().is_none() && first.bytes + new.len() <= FEW {
            first.bytes += new.len();
            first.hash.update(new);
            return;
        }
        self.rest.get_or_init(|| Apart::start(std::mem::take(&mut first.hash))).update(new);
    }

    pub(crate) fn finish(self) -> [u8; 32] {
        match self.rest.into_inner() {
            Some(rest) => rest.finish(),
            None => self.first.into_inner().hash.finalize().into(),
        }
    }
}

/// The thread, and the two ways that pieces take.
struct Apart {
    full: SyncSender<Vec<u8>>,
    empty: Receiver<Vec<u8>>,
    thread: JoinHandle<[u8; 32]>,
}

impl Apart {
    fn start(mut hash: Sha256) -> Self {
        let (full, filled) = sync_channel::<Vec<u8>>(QUEUE);
        let (emptied, empty) = channel();
        let thread = thread::spawn(move || {
            for bytes in filled {
                hash.update(&bytes);
                // Whoever reads no more needs no room.
                let _ = emptied.send(bytes);
            }
            hash.finalize().into()
        });
        Self { full, empty, thread }
    }

    fn update(&self, new: &[u8]) {
        let mut bytes = self.empty.try_recv().unwrap_or_default();
        bytes.clear();
        bytes.extend_from_slice(new);
        // It listens until there is no sender: only a panic ends it before, which `finish` passes on.
        let _ = self.full.send(bytes);
    }

    fn finish(self) -> [u8; 32] {
        drop(self.full);
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}
