//! Parts of profile.proto that files of one run and of two have: texts, metrics, stacks.

#![expect(
    clippy::indexing_slicing,
    reason = "numbers of frames are the writer's own"
)]

use std::io::Write;

use hashbrown::HashMap;

use super::encode::{Message, varint};
use crate::formats::export::error::ExportError;
use crate::text::escape;

/// The string table, in the order in which texts were needed. The first one is empty.
#[derive(Default)]
pub(super) struct Texts<'p> {
    index: HashMap<&'p str, u64>,
    all: Vec<&'p str>,
}

impl<'p> Texts<'p> {
    /// The number of a text.
    pub(super) fn add(&mut self, text: &'p str) -> u64 {
        if text.is_empty() {
            return 0;
        }
        // The empty text is number 0 and not in `all`.
        let next = self.all.len() as u64 + 1;
        let id = *self.index.entry(text).or_insert(next);
        if id == next {
            self.all.push(text);
        }
        id
    }

    /// Writes all texts.
    pub(super) fn write(&self, out: &mut dyn Write) -> Result<(), ExportError> {
        let mut message = Message::default();
        for text in [""].iter().chain(&self.all) {
            message.clear();
            message.field(6, &escape::bytes(text));
            out.write_all(message.bytes())?;
        }
        Ok(())
    }
}

/// A field of the file.
pub(super) fn put(out: &mut dyn Write, field: u64, message: &Message) -> Result<(), ExportError> {
    let mut outer = Message::default();
    outer.field(field, message.bytes());
    Ok(out.write_all(outer.bytes())?)
}

/// A metric with its unit.
pub(super) fn value_type<'p>(texts: &mut Texts<'p>, name: &'p str, unit: &'p str) -> Message {
    let mut message = Message::default();
    message.number(1, texts.add(name));
    message.number(2, texts.add(unit));
    message
}

/// The locations of a stack as they are written: the innermost first. What stays from one sample to
/// the next is not written anew, so that a sample costs what its bytes cost.
#[derive(Default)]
pub(super) struct Locations {
    /// Filled from its end.
    bytes: Vec<u8>,
    /// For each frame, from the outermost on, how many bytes there are from it to the end.
    sizes: Vec<usize>,
    /// The number that is put in front. Its memory is used again.
    number: Vec<u8>,
}

impl Locations {
    /// Follows a stack of which so many frames are those of the last one.
    pub(super) fn follow(&mut self, stack: &[usize], kept: usize) {
        self.sizes.truncate(kept);
        for frame in &stack[self.sizes.len()..] {
            self.number.clear();
            // Ids begin at 1, since 0 means none; so do those of functions and mappings below.
            varint(*frame as u64 + 1, &mut self.number);
            let size = self.size() + self.number.len();
            if size > self.bytes.len() {
                // At least twice the room: putting bytes in front moves all that are there.
                let more = vec![0; size + self.bytes.len()];
                self.bytes.splice(..0, more);
            }
            let at = self.bytes.len() - size;
            self.bytes[at..at + self.number.len()].copy_from_slice(&self.number);
            self.sizes.push(size);
        }
    }

    fn size(&self) -> usize {
        self.sizes.last().copied().unwrap_or(0)
    }

    /// The numbers of the locations, encoded.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[self.bytes.len() - self.size()..]
    }
}
