//! Stacks in lines of text: frames with `;` between them, a blank, figures.
//!
//! Lines of one branch of the tree mostly come one after the other. What a stack shares with the
//! one before it is compared in chunks and not looked at again; only the frames after that are
//! looked up, by their bytes. They lie all over memory, so that lines wait until the frames of
//! several can be [fetched at once](TextInterner).

use smallvec::SmallVec;

use crate::base::error::{ImportError, Position};
use crate::base::interner::{Table, TextId, TextInterner};
use crate::events::{Frame, MetricId, Sample, Sink};
use crate::formats::common::stack_depth::{MOST_FRAMES, too_many_frames};
use crate::input::HEAD;

/// Lines that wait: as many as memory can deliver frames at once.
const TOGETHER: usize = 32;
/// Frames and bytes of them above which no more lines wait.
const MOST_NEW: usize = 256;
const MOST_TEXT: usize = 64 * 1024;

/// The figures of a line.
pub(super) type Values = SmallVec<[(MetricId, f64); 3]>;

/// Makes frames of their texts.
pub(super) trait FrameReader {
    /// The frame of a text that is met for the first time.
    fn frame(&mut self, frame: &[u8], at: Position, sink: &mut dyn Sink) -> Frame<'static>;

    /// Returns a frame as it is below another one: the thread of a process.
    fn frame_below(
        &mut self,
        _above: Frame<'static>,
        frame: Frame<'static>,
        _sink: &mut dyn Sink,
    ) -> Frame<'static> {
        frame
    }
}

/// The frames that are known, the last stack, and lines that wait to be emitted.
pub(super) struct StackLines<N> {
    names: N,
    texts: TextInterner,
    /// The frame of each text.
    known: Table<TextId, Frame<'static>>,
    /// The last stack that was added.
    last: Vec<u8>,
    /// Where its frames end.
    ends: Vec<usize>,
    waiting: Vec<Waiting>,
    /// Frames of the lines that wait, without those that they share with the line before, and their
    /// text.
    new: Vec<New>,
    text: Vec<u8>,
    /// The last stack that was emitted.
    emitted: Vec<Frame<'static>>,
}

/// A line.
struct Waiting {
    at: Position,
    /// Frames of the line before that it begins with, and frames of its own.
    shared: usize,
    new: usize,
    figures: Values,
}

/// A frame that remains to be looked up.
struct New {
    hash: u64,
    length: usize,
    guess: Option<TextId>,
}

impl<N: FrameReader> StackLines<N> {
    /// No line has been added.
    pub(super) fn new(names: N) -> Self {
        Self {
            names,
            texts: TextInterner::default(),
            known: Table::default(),
            last: Vec::new(),
            ends: Vec::new(),
            waiting: Vec::with_capacity(TOGETHER),
            new: Vec::new(),
            text: Vec::new(),
            emitted: Vec::new(),
        }
    }

    /// Adds a line: its stack, outermost frame first, at least one, which may be empty. Says
    /// whether [`emit`](Self::emit) should be called before the next one.
    ///
    /// # Errors
    /// More than [`MOST_FRAMES`].
    pub(super) fn add(
        &mut self,
        at: Position,
        stack: &[u8],
        figures: Values,
    ) -> Result<bool, ImportError> {
        let same = common_prefix(&self.last, stack);
        // A frame is shared only if it ends in both stacks: `work` is no frame of `worker` (case
        // `folded/equal-stacks`).
        let is_whole = |end: usize| end <= same && stack.get(end).is_none_or(|byte| *byte == b';');
        while self.ends.pop_if(|end| !is_whole(*end)).is_some() {}
        self.last.truncate(same);
        self.last
            .extend_from_slice(stack.get(same..).unwrap_or_default());
        let (shared, before) = (self.ends.len(), self.new.len());
        let mut start = self.ends.last().map_or(0, |end| end + 1);
        // Of a stack that the last one begins with nothing is left, not even an empty frame.
        for frame in stack
            .get(start..)
            .into_iter()
            .flat_map(|rest| rest.split(|byte| *byte == b';'))
        {
            if self.ends.len() == MOST_FRAMES {
                return Err(too_many_frames(at));
            }
            let hash = self.texts.hash(frame);
            self.texts.prefetch_slot(hash);
            self.ends.push(start + frame.len());
            start += frame.len() + 1;
            self.new.push(New {
                hash,
                length: frame.len(),
                guess: None,
            });
            self.text.extend_from_slice(frame);
        }
        self.waiting.push(Waiting {
            at,
            shared,
            new: self.new.len() - before,
            figures,
        });
        Ok(self.waiting.len() == TOGETHER
            || self.new.len() >= MOST_NEW
            || self.text.len() >= MOST_TEXT)
    }

    /// Emits the lines that wait, each with its position.
    pub(super) fn emit(&mut self, sink: &mut dyn Sink) {
        // All guesses before all look-ups: each step needs what the one before has asked memory for
        // (docs/design/measured-choices.md).
        for new in &mut self.new {
            new.guess = self.texts.guess(new.hash);
        }
        for guess in self.new.iter().filter_map(|new| new.guess) {
            self.texts.prefetch(guess);
            self.known.prefetch(guess);
        }
        let mut new = self.new.drain(..);
        let mut text = self.text.as_slice();
        for Waiting {
            at,
            shared,
            new: count,
            figures,
        } in self.waiting.drain(..)
        {
            sink.at(at);
            self.emitted.truncate(shared);
            for New {
                hash,
                length,
                guess,
            } in new.by_ref().take(count)
            {
                // `add` has put as many bytes there as the lengths say.
                let (frame, rest) = text.split_at_checked(length).unwrap_or_default();
                text = rest;
                // A line that waited may have added the name since it was guessed.
                let found = self.texts.confirm(guess, frame, hash);
                let known = found.and_then(|found| self.known.get(found)).copied();
                let mut frame = known.unwrap_or_else(|| {
                    let new = self.names.frame(frame, at, sink);
                    self.texts.add(frame);
                    self.known.push(new);
                    new
                });
                if let Some(above) = self.emitted.last() {
                    frame = self.names.frame_below(*above, frame, sink);
                }
                self.emitted.push(frame);
            }
            sink.sample(Sample {
                stack: &self.emitted,
                shared,
                calls: None,
                values: &figures,
                labels: None,
            });
        }
        drop(new);
        self.text.clear();
    }

    /// Whether nothing has been emitted.
    pub(super) fn is_empty(&self) -> bool {
        self.known.len() == 0
    }

    /// What made frames of their texts.
    pub(super) fn names(&self) -> &N {
        &self.names
    }

    pub(super) fn names_mut(&mut self) -> &mut N {
        &mut self.names
    }
}

/// How many bytes two texts begin with in common.
fn common_prefix(one: &[u8], other: &[u8]) -> usize {
    const CHUNK: usize = 32;
    let (ones, _) = one.as_chunks::<CHUNK>();
    let (others, _) = other.as_chunks::<CHUNK>();
    let whole = CHUNK
        * ones
            .iter()
            .zip(others)
            .take_while(|(one, other)| one == other)
            .count();
    let tails = one.iter().zip(other).skip(whole);
    whole + tails.take_while(|(one, other)| one == other).count()
}

/// The whole lines of the first bytes of a file, without blanks at their ends.
pub(super) fn whole_lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    let whole = if head.len() < HEAD {
        head.len()
    } else {
        memchr::memrchr(b'\n', head).unwrap_or(0)
    };
    head.get(..whole)
        .unwrap_or_default()
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::trim_ascii_end)
}

/// Splits a line at its last blank or tab; the first half is without blanks at its end.
pub(super) fn split_last(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = memchr::memrchr2(b' ', b'\t', line)?;
    Some((line.get(..at)?.trim_ascii_end(), line.get(at + 1..)?))
}
