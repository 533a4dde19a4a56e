//! Stacks in lines of text: frames with `;` between them, a blank, figures.
//!
//! Lines of one branch of the tree mostly come one behind the other. What a stack shares with the one before it is compared in
//! chunks and not looked at again; only the frames behind that are looked up, by their bytes.

use hashbrown::HashMap;

use crate::error::{ImportError, Position};
use crate::events::Frame;

/// Frames of one stack: a line of the largest size would otherwise become eight million nodes.
pub(in crate::importers) const MOST_FRAMES: usize = 1 << 20;

/// The frames of the last stack, and all that are known.
#[derive(Default)]
pub(in crate::importers) struct Stacks {
    known: HashMap<Box<[u8]>, Frame<'static>>,
    last: Vec<u8>,
    /// Where the frames of the last stack end in it.
    ends: Vec<usize>,
    frames: Vec<Frame<'static>>,
}

impl Stacks {
    /// The frames of a stack, outermost first; at least one, which may be empty. `name` says what a frame stands for that is
    /// met for the first time.
    ///
    /// # Errors
    /// More than [`MOST_FRAMES`].
    pub(in crate::importers) fn frames(
        &mut self,
        stack: &[u8],
        at: Position,
        mut name: impl FnMut(&[u8]) -> Frame<'static>,
    ) -> Result<&[Frame<'static>], ImportError> {
        let same = common_prefix(&self.last, stack);
        let is_whole = |end: usize| end <= same && stack.get(end).is_none_or(|byte| *byte == b';');
        while self.ends.pop_if(|end| !is_whole(*end)).is_some() {}
        self.frames.truncate(self.ends.len());
        self.last.truncate(same);
        self.last.extend_from_slice(stack.get(same..).unwrap_or_default());
        let mut start = match self.ends.last() {
            Some(end) if *end == stack.len() => return Ok(&self.frames),
            Some(end) => end + 1,
            None => 0,
        };
        for frame in stack.get(start..).unwrap_or_default().split(|byte| *byte == b';') {
            if self.frames.len() == MOST_FRAMES {
                return Err(too_many_frames(at));
            }
            let known = match self.known.get(frame) {
                Some(known) => *known,
                None => *self.known.entry(frame.into()).insert(name(frame)).get(),
            };
            self.frames.push(known);
            self.ends.push(start + frame.len());
            start += frame.len() + 1;
        }
        Ok(&self.frames)
    }
}

/// What a stack without end is told.
pub(in crate::importers) fn too_many_frames(position: Position) -> ImportError {
    let limit = format!("{MOST_FRAMES} frames in one stack (limit: frames of a stack)");
    ImportError::Limit { position, limit }
}

/// How many bytes two texts begin with in common.
fn common_prefix(one: &[u8], other: &[u8]) -> usize {
    const CHUNK: usize = 32;
    let (ones, _) = one.as_chunks::<CHUNK>();
    let (others, _) = other.as_chunks::<CHUNK>();
    let whole = CHUNK * ones.iter().zip(others).take_while(|(one, other)| one == other).count();
    let tails = one.iter().zip(other).skip(whole);
    whole + tails.take_while(|(one, other)| one == other).count()
}

/// What stands before the last blank or tab of a line, without blanks at its end, and what stands behind it.
pub(in crate::importers) fn split_last(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = memchr::memrchr2(b' ', b'\t', line)?;
    Some((line.get(..at)?.trim_ascii_end(), line.get(at + 1..)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::{FunctionId, Line};

    const AT: Position = Position { byte: 0, line: None };

    #[test]
    fn stacks_are_what_splitting_makes_of_them() {
        let lines = [
            "a;b;c",
            "a;b",
            "a;bc",
            "a",
            "",
            ";",
            ";a",
            ";a;",
            ";a",
            "a;",
            "a;b",
            "",
            "a;b;c;d",
            "a;x;c;d",
            "ab;x",
            "ab;x;;y",
            "ab;x;;",
            "ab;x;",
            "a-frame-longer-than-a-chunk-of-32-bytes;b;c",
            "a-frame-longer-than-a-chunk-of-32-bytes;b;d",
            "a-frame-longer-than-a-chunk-of-32-bytes;b",
        ];
        let mut stacks = Stacks::default();
        let mut names: Vec<String> = Vec::new();
        for line in lines {
            let frames = stacks.frames(line.as_bytes(), AT, |name| {
                names.push(String::from_utf8_lossy(name).into_owned());
                let last = u32::try_from(names.len() - 1).unwrap_or_default();
                Frame { function: FunctionId(last), line: Some(Line { file: "", line: last, col: 0 }) }
            });
            let frames: Vec<usize> = frames.into_iter().flatten().map(|frame| frame.function.0 as usize).collect();
            let found: Vec<&str> = frames.iter().filter_map(|at| names.get(*at)).map(String::as_str).collect();
            assert_eq!(found, line.split(';').collect::<Vec<_>>(), "{line}");
        }
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count, "each name is asked for once");
    }

    #[test]
    fn a_stack_without_end_is_refused_by_name() {
        let mut stacks = Stacks::default();
        let mut stack = ";".repeat(MOST_FRAMES - 1);
        let frame = |_: &[u8]| Frame::function(FunctionId(0));
        assert_eq!(stacks.frames(stack.as_bytes(), AT, frame).map(<[_]>::len).ok(), Some(MOST_FRAMES));
        stack.push(';');
        let refused = stacks.frames(stack.as_bytes(), AT, frame).map(<[_]>::len).err();
        let message = refused.map(|error| error.to_string()).unwrap_or_default();
        assert!(message.contains("1048576 frames in one stack (limit: frames of a stack)"), "{message}");
    }

    #[test]
    fn the_last_blank_splits() {
        let table: &[(&str, Option<(&str, &str)>)] = &[
            ("a;b 1", Some(("a;b", "1"))),
            ("a b;c d  12", Some(("a b;c d", "12"))),
            ("a;b\t1", Some(("a;b", "1"))),
            (" 1", Some(("", "1"))),
            ("a;b ", Some(("a;b", ""))),
            ("a;b", None),
        ];
        for (line, expected) in table {
            let expected = expected.map(|(stack, figure)| (stack.as_bytes(), figure.as_bytes()));
            assert_eq!(split_last(line.as_bytes()), expected, "{line}");
        }
    }
}
