//! The table of frames: functions with their samples, lines and callees, known by ids. Stacks and
//! callees may name them before the table does.

use hashbrown::HashSet;

use super::members::{Once, count_of};
use crate::base::error::{ImportError, Position, quote};
use crate::base::interner::{Id, TextId, TextInterner};
use crate::events::{FunctionDef, FunctionId, Kind, Sink};
use crate::formats::common::counted::Counted;
use crate::formats::common::json::{Reader, Within};
use crate::formats::common::missing_frames::MissingFrames;
use crate::text::escape;

/// Members of a frame; `hash` is there where stackprof has merged several recordings.
const MEMBERS: &[&str] = &[
    "name",
    "file",
    "line",
    "total_samples",
    "samples",
    "edges",
    "lines",
    "hash",
];

/// Frames that are none of the program, without a file.
const COLLECTOR: [&[u8]; 3] = [b"(garbage collection)", b"(marking)", b"(sweeping)"];

/// What the file says of a frame.
pub(super) struct Frame {
    pub(super) at: Position,
    pub(super) function: FunctionId,
    /// Samples in it.
    pub(super) own: u64,
    /// Samples in it and in what it called.
    pub(super) total: u64,
    /// Numbers of the frames that it called, and how often that is in a sample.
    pub(super) callees: Vec<(u32, u64)>,
    pub(super) lines: Vec<Line>,
}

/// What the file says of a line.
pub(super) struct Line {
    pub(super) line: u32,
    /// How often it is in samples, every level of a recursion counted.
    pub(super) total: u64,
    /// How often as the innermost frame.
    pub(super) own: u64,
}

/// The frames, numbered in the order in which the file mentions them.
#[derive(Default)]
pub(super) struct Frames {
    ids: TextInterner,
    /// Where each has been mentioned first, and what the table says of it.
    frames: Vec<(Position, Option<Frame>)>,
    pub(super) has_collector: bool,
    /// Lines without totals, and members that are not known.
    pub(super) own_only: Counted,
    pub(super) unknown: Counted,
    name: Vec<u8>,
    file: Vec<u8>,
    text: Vec<u8>,
}

impl Frames {
    /// The number of a frame whose id comes next in a stack. Ids are the texts of numbers: they
    /// are addresses, which may be larger than what a REAL can tell apart.
    pub(super) fn number(&mut self, json: &mut Reader<'_, '_>) -> Result<u32, ImportError> {
        let at = json.place()?;
        let mut id = std::mem::take(&mut self.text);
        let read = json.text_or_number("the id of a frame", &mut id);
        let number = read.and_then(|()| self.of_id(&id, at));
        self.text = id;
        number
    }

    fn of_id(&mut self, id: &[u8], at: Position) -> Result<u32, ImportError> {
        // An id gets its text and its frame together, so that its number is its place in both.
        let known = self.ids.find(id).map(Id::index);
        let number = known.unwrap_or(self.frames.len());
        let number = u32::try_from(number).map_err(|_| {
            let limit = format!("{} frames (limit: frames)", u32::MAX);
            ImportError::Limit {
                position: at,
                limit,
            }
        })?;
        if known.is_none() {
            self.ids.add(id);
            self.frames.push((at, None));
        }
        Ok(number)
    }

    /// Reads the table.
    pub(super) fn read(
        &mut self,
        json: &mut Reader<'_, '_>,
        sink: &mut dyn Sink,
    ) -> Result<(), ImportError> {
        let (mut within, mut id) = (Within::default(), Vec::new());
        while let Some(at) = json.member(&mut within, &mut id)? {
            json.begin_record_at(at);
            let number = self.of_id(&id, at)?;
            let frame = self.frame(json, at, sink)?;
            // `replace` gives what was there: a frame that was mentioned before and not yet
            // described is none.
            if let Some((_, place)) = self.frames.get_mut(number as usize)
                && place.replace(frame).is_some()
            {
                let expected = "a unique id for each frame";
                return Err(ImportError::malformed(at, expected, quote(&id)));
            }
        }
        Ok(())
    }

    fn frame(
        &mut self,
        json: &mut Reader<'_, '_>,
        at: Position,
        sink: &mut dyn Sink,
    ) -> Result<Frame, ImportError> {
        self.name.clear();
        self.file.clear();
        let (mut first_line, mut own, mut total) = (0, None, None);
        let (mut callees, mut lines) = (Vec::new(), Vec::new());
        let (mut within, mut once) = (Within::default(), Once::of(MEMBERS));
        let mut member = Vec::new();
        while let Some(at) = json.member(&mut within, &mut member)? {
            match once.member(&member, at)? {
                "" => {
                    self.unknown.add_with(at, || quote(&member));
                    json.skip()?;
                }
                "hash" => json.skip()?,
                "total_samples" => total = Some(count_of(json, "a count in `total_samples`")?),
                "samples" => own = Some(count_of(json, "a count in `samples`")?),
                "name" => json.text(&mut self.name)?,
                "file" => json.text(&mut self.file)?,
                "line" => first_line = json.index("a line number")?,
                "edges" => callees = self.callees(json)?,
                _ => lines = self.lines(json)?,
            }
        }
        let (Some(own), Some(total)) = (own, total) else {
            let expected = "a frame with `samples` and `total_samples`";
            return Err(ImportError::malformed(at, expected, "one without"));
        };
        let is_collector = self.file.is_empty() && COLLECTOR.contains(&self.name.as_slice());
        self.has_collector |= is_collector;
        let kind = if is_collector {
            Kind::Pseudo
        } else {
            Kind::Function
        };
        sink.at(json.record_start());
        let function = sink.function(FunctionDef {
            kind,
            file: &escape::text(&self.file),
            first_line,
            ..FunctionDef::named(&escape::text(&self.name))
        });
        Ok(Frame {
            at,
            function,
            own,
            total,
            callees,
            lines,
        })
    }

    fn callees(&mut self, json: &mut Reader<'_, '_>) -> Result<Vec<(u32, u64)>, ImportError> {
        let (mut callees, mut had) = (Vec::new(), HashSet::new());
        let (mut within, mut id) = (Within::default(), Vec::new());
        while let Some(at) = json.member(&mut within, &mut id)? {
            json.begin_record_at(at);
            let callee = self.of_id(&id, at)?;
            if !had.insert(callee) {
                let expected = "a unique id for each callee";
                return Err(ImportError::malformed(at, expected, quote(&id)));
            }
            callees.push((callee, count_of(json, "a count in `edges`")?));
        }
        Ok(callees)
    }

    /// Lines of a frame: how often each is in samples, and how often as the innermost one.
    fn lines(&mut self, json: &mut Reader<'_, '_>) -> Result<Vec<Line>, ImportError> {
        let (mut lines, mut had) = (Vec::new(), HashSet::new());
        let (mut within, mut text) = (Within::default(), Vec::new());
        while let Some(at) = json.member(&mut within, &mut text)? {
            json.begin_record_at(at);
            // As numbers: `7` and `07` are one line.
            let line = line_of(&text).filter(|line| had.insert(*line));
            let line = line.ok_or_else(|| {
                let expected = "a unique line number in `lines`";
                ImportError::malformed(at, expected, quote(&text))
            })?;
            let what = "samples of a line";
            if !json.is_next(b'[')? {
                // Files of 2013 have one figure for a line, its own samples (case
                // `stackprof/lines-with-one-figure`).
                count_of(json, what)?;
                self.own_only.add(at);
                continue;
            }
            let mut pair = Within::default();
            let mut next = || match json.item(&mut pair)? {
                Some(_) => count_of(json, what),
                None => Err(json.expected("total and exclusive samples of a line")),
            };
            let (total, own) = (next()?, next()?);
            json.expect(b']', "`]` after two counts")?;
            lines.push(Line { line, total, own });
        }
        Ok(lines)
    }

    /// Returns the frames by their numbers, with a note about those that are not in the table, and the function that takes their place.
    ///
    /// # Errors
    /// When most of them are not in the table.
    pub(super) fn all(
        &mut self,
        sink: &mut dyn Sink,
    ) -> Result<(Vec<Frame>, Option<FunctionId>), ImportError> {
        let mut missing = MissingFrames::default();
        let frames = (0_usize..).zip(std::mem::take(&mut self.frames));
        let frames = frames.map(|(number, (at, frame))| {
            frame.unwrap_or_else(|| {
                let id = quote(self.ids.text(TextId::new(number)));
                Frame {
                    at,
                    function: missing.function(at, &id, sink),
                    own: 0,
                    total: 0,
                    callees: Vec::new(),
                    lines: Vec::new(),
                }
            })
        });
        let frames: Vec<Frame> = frames.collect();
        missing.note(frames.len() as u64, sink)?;
        Ok((frames, missing.known()))
    }
}

fn line_of(text: &[u8]) -> Option<u32> {
    let digits = std::str::from_utf8(text).ok()?;
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| is_number)
}
