//! The members `samples` and `stackFrames` of a trace, as Hermes writes them: samples of stacks, whose frames have ids.

use hashbrown::HashMap;

use super::numbers::{nanoseconds, read_microseconds, read_number};
use crate::base::error::{ImportError, Position};
use crate::events::{FunctionDef, FunctionId, Kind, Severity, Sink};
use crate::formats::common::call_tree::{CallTree, Location, NodeId, TOP};
use crate::formats::common::counted::{Counted, many};
use crate::formats::common::json::{Reader, Within};
use crate::formats::common::stack_depth::{MOST_FRAMES, too_many_frames};
use crate::text::escape;

/// Number of the first metric in a [`SampleTree`].
const SAMPLES: usize = 0;
const TIME: usize = 1;
const WEIGHT: usize = 2;

/// The tree of a thread, with samples, time and weight.
pub(super) type SampleTree = CallTree<[f64; 3]>;

struct FrameRecord {
    location: Location,
    parent: Option<u32>,
}

struct StackSample {
    at: Position,
    /// Nanoseconds; `None` if unknown.
    time: Option<i64>,
    /// The number of its frame; `None` for a sample without a stack.
    frame: Option<u32>,
    weight: f64,
}

/// Process and thread of a sample, as the file names them.
pub(super) struct SampleOrigin {
    pub(super) process: Vec<u8>,
    pub(super) thread: Vec<u8>,
}

/// All samples and frames of the file.
#[derive(Default)]
pub(super) struct StackSamples {
    /// Numbers of frames by their ids: samples may come before the frames.
    numbers: HashMap<Vec<u8>, u32>,
    frames: Vec<Option<FrameRecord>>,
    samples: Vec<(usize, StackSample)>,
    has_weights: bool,
    no_time: Counted,
    unknown: Counted,
}

impl StackSamples {
    pub(super) fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    /// Returns whether some sample has another weight than 1.
    pub(super) fn has_weights(&self) -> bool {
        self.has_weights
    }

    /// Returns the threads that have samples.
    pub(super) fn threads(&self) -> impl Iterator<Item = usize> + '_ {
        self.samples.iter().map(|(thread, _)| *thread)
    }

    fn number(&mut self, id: &[u8]) -> u32 {
        if let Some(number) = self.numbers.get(id) {
            return *number;
        }
        let next = u32::try_from(self.frames.len()).unwrap_or(u32::MAX);
        self.frames.push(None);
        self.numbers.insert(id.to_vec(), next);
        next
    }

    /// Reads a sample; the caller finds the number of its thread.
    pub(super) fn read_sample(
        &mut self,
        json: &mut Reader<'_, '_>,
        at: Position,
        mut thread: impl FnMut(SampleOrigin) -> usize,
    ) -> Result<(), ImportError> {
        let mut origin = SampleOrigin {
            process: Vec::new(),
            thread: Vec::new(),
        };
        let (mut time, mut frame, mut weight) = (None, Vec::new(), None);
        let (mut name, mut text) = (Vec::new(), Vec::new());
        let mut within = Within::default();
        while json.member(&mut within, &mut name)?.is_some() {
            match name.as_slice() {
                b"pid" => json.text_or_number("the id of a process", &mut origin.process)?,
                b"tid" => json.text_or_number("the id of a thread", &mut origin.thread)?,
                b"ts" => time = read_microseconds(json, &mut text, "microseconds in `ts`")?,
                b"sf" => json.text_or_number("the id of a frame in `sf`", &mut frame)?,
                b"weight" => weight = read_number(json, &mut text, "a number in `weight`")?,
                _ => json.skip()?,
            }
        }
        let weight = weight.unwrap_or(1.0);
        if !f64::is_finite(weight) {
            return Err(ImportError::malformed(
                at,
                "a finite number in `weight`",
                weight.to_string(),
            ));
        }
        self.has_weights |= (weight - 1.0).abs() > 0.0;
        if time.is_none() {
            self.no_time.add(at);
        }
        let frame = (!frame.is_empty()).then(|| self.number(&frame));
        let sample = StackSample {
            at,
            time,
            frame,
            weight,
        };
        self.samples.push((thread(origin), sample));
        Ok(())
    }

    /// Reads the object `stackFrames`.
    pub(super) fn read_frames(
        &mut self,
        json: &mut Reader<'_, '_>,
        sink: &mut dyn Sink,
    ) -> Result<(), ImportError> {
        let mut within = Within::default();
        let mut id = Vec::new();
        while let Some(at) = json.member(&mut within, &mut id)? {
            json.begin_record_at(at);
            sink.at(at);
            let frame = self.read_frame(json, sink)?;
            let number = self.number(&id);
            if let Some(entry) = self.frames.get_mut(number as usize) {
                *entry = Some(frame);
            }
        }
        Ok(())
    }

    fn read_frame(
        &mut self,
        json: &mut Reader<'_, '_>,
        sink: &mut dyn Sink,
    ) -> Result<FrameRecord, ImportError> {
        let (mut name, mut category, mut parent) = (Vec::new(), Vec::new(), Vec::new());
        let (mut line, mut column, mut first_line, mut first_column) = (None, None, None, None);
        let (mut member, mut text) = (Vec::new(), Vec::new());
        let mut within = Within::default();
        while json.member(&mut within, &mut member)?.is_some() {
            match member.as_slice() {
                b"name" => json.text_or_number("a name", &mut name)?,
                b"category" => json.text_or_number("a category", &mut category)?,
                b"parent" => json.text_or_number("the id of a frame", &mut parent)?,
                b"line" => line = read_number(json, &mut text, "a line number")?,
                b"column" => column = read_number(json, &mut text, "a column number")?,
                b"funcLine" => first_line = read_number(json, &mut text, "a line number")?,
                b"funcColumn" => first_column = read_number(json, &mut text, "a column number")?,
                _ => json.skip()?,
            }
        }
        let parent = (!parent.is_empty()).then(|| self.number(&parent));
        let (name, module) = (escape::text(&name), escape::text(&category));
        let (name, place) = split_place(&name);
        let (file, place_line, place_column) = place.unwrap_or_default();
        let kind = match name {
            "[root]" | "(root)" if parent.is_none() => Kind::Root,
            _ if module == "Metadata" => Kind::Pseudo,
            _ => Kind::Function,
        };
        let first_line = first_line.unwrap_or(0);
        let function = sink.function(FunctionDef {
            kind,
            module: &module,
            file,
            first_line,
            // Without a line, a column says nothing.
            first_col: first_column.filter(|_| first_line > 0).unwrap_or(0),
            ..FunctionDef::named(if name.is_empty() { "(anonymous)" } else { name })
        });
        let location = Location {
            function,
            line: line.unwrap_or(place_line),
            col: column.unwrap_or(place_column),
        };
        Ok(FrameRecord { location, parent })
    }

    /// Returns the tree of each thread of the given number of threads; none where the file has no samples.
    pub(super) fn trees(
        &mut self,
        threads: usize,
        sink: &mut dyn Sink,
    ) -> Result<Vec<SampleTree>, ImportError> {
        if self.samples.is_empty() {
            return Ok(Vec::new());
        }
        let mut of_threads: Vec<Vec<StackSample>> = Vec::new();
        of_threads.resize_with(threads, Vec::new);
        for (thread, sample) in std::mem::take(&mut self.samples) {
            if let Some(samples) = of_threads.get_mut(thread) {
                samples.push(sample);
            }
        }
        let unknown = sink.function(FunctionDef {
            kind: Kind::Pseudo,
            ..FunctionDef::named("(unknown)")
        });
        of_threads
            .into_iter()
            .map(|samples| self.tree(samples, unknown))
            .collect()
    }

    fn tree(
        &mut self,
        mut samples: Vec<StackSample>,
        unknown: FunctionId,
    ) -> Result<SampleTree, ImportError> {
        let mut tree = SampleTree::default();
        let mut nodes: HashMap<u32, NodeId> = HashMap::new();
        // The sort is stable: samples of one time stay in the order of the file.
        samples.sort_by_key(|sample| sample.time);
        let mut next = None;
        // From the last one, which lasts 0, because its end is unknown.
        let mut durations: Vec<f64> = Vec::with_capacity(samples.len());
        for sample in samples.iter().rev() {
            let duration = sample.time.zip(next).map_or(0, |(time, next)| next - time);
            durations.push(nanoseconds(duration));
            next = sample.time;
        }
        for (sample, duration) in samples.iter().zip(durations.into_iter().rev()) {
            let node = match sample.frame {
                Some(frame) => self.node(&mut tree, &mut nodes, frame, sample.at, unknown)?,
                None => tree.below(TOP, Location::of(unknown)),
            };
            tree.cost(node, SAMPLES, 1.0);
            tree.cost(node, TIME, duration);
            tree.cost(node, WEIGHT, sample.weight);
        }
        Ok(tree)
    }

    /// Returns the node of a frame, whose parents are above it.
    fn node(
        &mut self,
        tree: &mut SampleTree,
        known: &mut HashMap<u32, NodeId>,
        frame: u32,
        at: Position,
        unknown: FunctionId,
    ) -> Result<NodeId, ImportError> {
        let mut path = Vec::new();
        let mut next = Some(frame);
        let mut node = TOP;
        while let Some(number) = next {
            if let Some(above) = known.get(&number) {
                node = *above;
                break;
            }
            if path.len() > self.frames.len() {
                return Err(ImportError::malformed(
                    at,
                    "a stack without cycles",
                    "a frame that is its own ancestor",
                ));
            }
            if path.len() >= MOST_FRAMES {
                return Err(too_many_frames(at));
            }
            path.push(number);
            let frame = self.frames.get(number as usize).and_then(Option::as_ref);
            next = frame.and_then(|frame| frame.parent);
        }
        for number in path.into_iter().rev() {
            let frame = self.frames.get(number as usize).and_then(Option::as_ref);
            let location = frame.map_or_else(
                || {
                    self.unknown.add(at);
                    Location::of(unknown)
                },
                |frame| frame.location,
            );
            node = tree.below(node, location);
            known.insert(number, node);
        }
        Ok(node)
    }

    pub(super) fn emit_notes(&self, sink: &mut dyn Sink) {
        let warning = Severity::Warning;
        self.no_time.note(sink, warning, |count| {
            format!(
                "{} without `ts`: counted with a duration of 0",
                many(count, "sample")
            )
        });
        self.unknown.note(sink, warning, |count| {
            format!(
                "{} of samples not in `stackFrames`: named `(unknown)`",
                many(count, "frame")
            )
        });
    }
}

/// Splits a name as Hermes writes it, `name(file:line:column)`, into the name and its place.
fn split_place(text: &str) -> (&str, Option<(&str, u32, u32)>) {
    let place = || {
        let inner = text.strip_suffix(')')?;
        let (rest, column) = inner.rsplit_once(':')?;
        let (rest, line) = rest.rsplit_once(':')?;
        let (line, column) = (line.parse().ok()?, column.parse().ok()?);
        // The names of functions have no bracket before that of the place; those of files may have.
        let (name, file) = rest.split_once('(')?;
        Some((name, (file, line, column)))
    };
    place().map_or((text, None), |(name, place)| (name, Some(place)))
}
