//! A buffer that can be filled again while other threads still read what was in it.

use std::ops::{Deref, Range};
use std::sync::Arc;

/// Bytes, and earlier ones that other threads may still be reading.
pub(crate) struct Buffer {
    now: Arc<[u8]>,
    /// As many as other threads have held at a time.
    before: Vec<Arc<[u8]>>,
}

impl Buffer {
    pub(crate) fn new(size: usize) -> Self {
        Self {
            now: vec![0; size].into(),
            before: Vec::new(),
        }
    }

    /// Moves some of the bytes to the front, and gives all of them to be written: those of another
    /// allocation where these are shared.
    pub(crate) fn turn(&mut self, kept: Range<usize>) -> &mut [u8] {
        // Only who has the last handle can write: what has been shared is not changed before it is
        // hashed.
        if let Some(alone) = Arc::get_mut(&mut self.now) {
            alone.copy_within(kept, 0);
        } else {
            let free = self
                .before
                .iter_mut()
                .position(|before| Arc::get_mut(before).is_some());
            let mut next = match free {
                Some(free) => self.before.swap_remove(free),
                None => vec![0; self.now.len()].into(),
            };
            let kept = self.now.get(kept).unwrap_or_default();
            if let Some(front) = Arc::get_mut(&mut next).and_then(|next| next.get_mut(..kept.len()))
            {
                front.copy_from_slice(kept);
            }
            self.before.push(std::mem::replace(&mut self.now, next));
        }
        // Handles are given out by `share` only, so that there is one here: of a buffer that was
        // alone, free or new.
        Arc::get_mut(&mut self.now).unwrap_or_default()
    }

    /// The bytes, to be read by another thread.
    pub(crate) fn share(&self) -> Arc<[u8]> {
        Arc::clone(&self.now)
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.now
    }
}
