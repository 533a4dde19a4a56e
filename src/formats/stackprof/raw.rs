//! Runs of equal samples: `raw`, and `raw_lines` of the same form. Both are arrays of numbers:
//! length of the stack, a number for each frame from the root on, how many samples; and again.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::members::count_of;
use crate::base::error::{ImportError, Position};
use crate::formats::common::json::{Reader, Within};

/// Where all stacks begin.
const TOP: u32 = u32::MAX;

/// Samples that came one after the other with the same stack.
pub(super) struct Run {
    /// The innermost frame in [`Runs`]; [`TOP`] of a stack without frames.
    end: u32,
    pub(super) count: u64,
}

/// The runs of a file, whose stacks share what they begin with: a number for each frame that
/// follows others for the first time.
pub(super) struct Runs {
    /// Where the array is.
    pub(super) at: Position,
    pub(super) runs: Vec<Run>,
    /// The frame before (or [`TOP`]), and what the file has for this one.
    frames: Vec<(u32, u32)>,
    index: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Runs {
    /// Reads the array; `frame` reads what the file has for a frame.
    pub(super) fn read(
        json: &mut Reader<'_, '_>,
        at: Position,
        name: &str,
        mut frame: impl FnMut(&mut Reader<'_, '_>) -> Result<u32, ImportError>,
    ) -> Result<Self, ImportError> {
        // Runs wait for the table of frames and for their lines, which may come later. As a tree
        // they take what is new in each, not a list for each.
        let (runs, frames) = (Vec::new(), Vec::new());
        let (index, hasher) = (HashTable::new(), DefaultHashBuilder::default());
        let mut read = Self {
            at,
            runs,
            frames,
            index,
            hasher,
        };
        let mut within = Within::default();
        while let Some(at) = json.item(&mut within)? {
            let start = at;
            json.begin_record_at(start);
            let length = count_of(json, format_args!("the length of a stack in `{name}`"))?;
            let mut end = TOP;
            // No room is made for `length`, which the file may lie about: the array ends before
            // (case `stackprof/run-length-huge`).
            for number in 0..length {
                let Some(at) = json.item(&mut within)? else {
                    let expected = format!("{length} frames of a stack in `{name}`");
                    let found = format!("the end of the array after {number} of them");
                    return Err(ImportError::malformed(start, expected, found));
                };
                json.begin_record_at(at);
                let value = frame(json)?;
                end = read.below(end, value, at)?;
            }
            let what = format_args!("a number of samples in `{name}`");
            if json.item(&mut within)?.is_none() {
                let (expected, found) = (what.to_string(), "the end of the array");
                return Err(ImportError::malformed(start, expected, found));
            }
            let count = count_of(json, what)?;
            read.runs.push(Run { end, count });
        }
        Ok(read)
    }

    /// The frame with this value below another one.
    fn below(&mut self, above: u32, value: u32, at: Position) -> Result<u32, ImportError> {
        let frame = (above, value);
        let hash = self.hasher.hash_one(frame);
        // The index has numbers only: a frame is kept once, in `frames`.
        let same = |known: &u32| self.frames.get(*known as usize) == Some(&frame);
        if let Some(known) = self.index.find(hash, same) {
            return Ok(*known);
        }
        let new = u32::try_from(self.frames.len()).ok();
        let new = new.filter(|new| *new != TOP).ok_or_else(|| {
            let limit = format!("{TOP} frames of stacks (limit: nodes)");
            ImportError::Limit {
                position: at,
                limit,
            }
        })?;
        self.frames.push(frame);
        let (frames, hasher) = (&self.frames, &self.hasher);
        self.index.insert_unique(hash, new, |known| {
            hasher.hash_one(frames.get(*known as usize).copied().unwrap_or_default())
        });
        Ok(new)
    }

    /// What the file has for the frames of a run, from the root on.
    pub(super) fn stack(&self, run: &Run, stack: &mut Vec<u32>) {
        stack.clear();
        let mut at = run.end;
        while let Some((above, value)) = self.frames.get(at as usize) {
            stack.push(*value);
            at = *above;
        }
        stack.reverse();
    }
}
