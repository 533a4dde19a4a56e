//! Samples of V8 in a trace: events `Profile` and `ProfileChunk`, which are a CPU profile in parts, and `CpuProfile`, which
//! is a whole one.

use std::collections::BTreeMap;
use std::str::FromStr;

use hashbrown::HashMap;

use super::numbers::nanoseconds;
use crate::base::error::{ImportError, Position};
use crate::events::{FunctionId, MetricId, Severity, Sink};
use crate::formats::common::counted::{Counted, many};
use crate::formats::common::json::{Reader, Within, column};
use crate::formats::common::v8_profile::{CallFrames, Tree, positions, sample_durations};

/// Number of the first metric in [`Tree::cost`].
const SAMPLES: usize = 0;
const TIME: usize = 1;

/// A node of the call tree.
struct ChunkNode {
    at: Position,
    id: u32,
    function: FunctionId,
    parent: Option<u32>,
    children: Vec<u32>,
    hits: Option<f64>,
    /// Lines and their samples.
    lines: Vec<(u32, f64)>,
}

/// The part of a profile that one event has in its arguments.
#[derive(Default)]
pub(super) struct Chunk {
    nodes: Vec<ChunkNode>,
    /// Ids of the nodes that were sampled.
    samples: Vec<u32>,
    /// Microseconds before each sample.
    deltas: Vec<f64>,
    /// The line of each sample, 0 if unknown.
    lines: Vec<u32>,
    start: Option<f64>,
    end: Option<f64>,
}

impl Chunk {
    /// Reads the argument `data` of an event. Members that no profile has are passed over: the event may be another
    /// one, since its name may come last.
    pub(super) fn read(
        &mut self,
        json: &mut Reader<'_, '_>,
        sink: &mut dyn Sink,
        frames: &mut CallFrames,
    ) -> Result<(), ImportError> {
        let mut within = Within::default();
        let mut name = Vec::new();
        while json.member(&mut within, &mut name)?.is_some() {
            if name == b"cpuProfile" && json.is_next(b'{')? {
                self.read_profile(json, sink, frames)?;
            } else {
                self.read_times(json, &name)?;
            }
        }
        Ok(())
    }

    fn read_profile(
        &mut self,
        json: &mut Reader<'_, '_>,
        sink: &mut dyn Sink,
        frames: &mut CallFrames,
    ) -> Result<(), ImportError> {
        let mut within = Within::default();
        let mut name = Vec::new();
        while json.member(&mut within, &mut name)?.is_some() {
            match name.as_slice() {
                b"nodes" if json.is_next(b'[')? => {
                    let mut items = Within::default();
                    while let Some(at) = json.item(&mut items)? {
                        json.begin_record_at(at);
                        sink.at(at);
                        self.nodes.push(read_node(json, sink, frames, at)?);
                    }
                }
                b"samples" if json.is_next(b'[')? => {
                    self.samples =
                        column(json, |json| json.index("the id of a node in `samples`"))?;
                }
                _ => self.read_times(json, &name)?,
            }
        }
        Ok(())
    }

    /// Reads what chunks have beside `cpuProfile` and whole profiles have in it.
    fn read_times(&mut self, json: &mut Reader<'_, '_>, name: &[u8]) -> Result<(), ImportError> {
        match name {
            b"timeDeltas" if json.is_next(b'[')? => {
                self.deltas = column(json, |json| json.real("microseconds in `timeDeltas`"))?;
            }
            b"lines" if json.is_next(b'[')? => self.lines = column(json, read_line)?,
            b"startTime" => self.start = read_moment(json)?.or(self.start),
            b"endTime" => self.end = read_moment(json)?.or(self.end),
            _ => json.skip()?,
        }
        Ok(())
    }
}

fn read_node(
    json: &mut Reader<'_, '_>,
    sink: &mut dyn Sink,
    frames: &mut CallFrames,
    at: Position,
) -> Result<ChunkNode, ImportError> {
    let (mut id, mut function, mut parent, mut hits) = (None, None, None, None);
    let (mut children, mut lines) = (Vec::new(), Vec::new());
    let mut within = Within::default();
    let mut name = Vec::new();
    while let Some(at) = json.member(&mut within, &mut name)? {
        match name.as_slice() {
            b"id" => id = Some(json.index("the id of the node")?),
            b"callFrame" => function = Some(frames.read(json, sink)?),
            b"parent" => parent = Some(json.index("the id of the parent")?),
            b"children" => children = column(json, |json| json.index("the id of a child"))?,
            b"hitCount" => hits = Some(json.real("a count in `hitCount`")?),
            b"positionTicks" => positions(json, frames, &mut lines)?,
            b"deoptReason" => json.skip()?,
            _ => frames.skip(json, at, &name)?,
        }
    }
    let (Some(id), Some(function)) = (id, function) else {
        return Err(ImportError::malformed(
            at,
            "a node with `id` and `callFrame`",
            "one without",
        ));
    };
    Ok(ChunkNode {
        at,
        id,
        function,
        parent,
        children,
        hits,
        lines,
    })
}

/// Reads a line; 0 for other values: arguments of other events may be called `lines`, too.
fn read_line(json: &mut Reader<'_, '_>) -> Result<u32, ImportError> {
    Ok(read_if_number(json)?.unwrap_or(0))
}

/// Reads a time in microseconds; `None` for other values, which are skipped.
fn read_moment(json: &mut Reader<'_, '_>) -> Result<Option<f64>, ImportError> {
    let moment: Option<f64> = read_if_number(json)?;
    Ok(moment.filter(|moment| moment.is_finite()))
}

/// Reads a number, which may be quoted; `None` for other values, which are skipped.
fn read_if_number<T: FromStr>(json: &mut Reader<'_, '_>) -> Result<Option<T>, ImportError> {
    for byte in b"\"0123456789-" {
        if json.is_next(*byte)? {
            let mut text = Vec::new();
            json.text_or_number("a number", &mut text)?;
            let text = std::str::from_utf8(&text).ok();
            return Ok(text.and_then(|text| text.parse().ok()));
        }
    }
    json.skip().map(|()| None)
}

/// A profile: its thread and its parts.
struct SampledProfile {
    at: Position,
    /// The thread that event `Profile` names: chunks may come from the thread that takes the samples.
    thread: Option<usize>,
    start: Option<f64>,
    /// The thread and the time of each chunk, and the chunk.
    chunks: Vec<(usize, Option<i64>, Chunk)>,
}

/// All profiles of a trace.
#[derive(Default)]
pub(super) struct Profiles {
    profiles: Vec<SampledProfile>,
    /// By process and id.
    index: HashMap<(usize, Vec<u8>), usize>,
    orphans: Counted,
    unknown_nodes: Counted,
    backwards: Counted,
    no_deltas: Counted,
}

/// The tree of a profile, whose nodes have their costs.
pub(super) struct ThreadTree {
    pub(super) thread: usize,
    tree: Tree,
}

impl ThreadTree {
    /// Emits the tree, in the metrics of samples and of time.
    pub(super) fn emit(
        self,
        sink: &mut dyn Sink,
        metrics: &[Option<MetricId>; 2],
    ) -> Result<(), ImportError> {
        self.tree.emit(sink, metrics)
    }
}

impl Profiles {
    /// Adds what an event has: the start of a profile, or a part of it.
    pub(super) fn add(
        &mut self,
        at: Position,
        event: &[u8],
        (process, thread): (usize, usize),
        id: &[u8],
        time: Option<i64>,
        chunk: Chunk,
    ) {
        let next = self.profiles.len();
        let number = match event {
            // A whole profile has no id.
            b"CpuProfile" => next,
            _ => *self.index.entry((process, id.to_vec())).or_insert(next),
        };
        if number == next {
            self.profiles.push(SampledProfile {
                at,
                thread: None,
                start: None,
                chunks: Vec::new(),
            });
        }
        let Some(profile) = self.profiles.get_mut(number) else {
            return;
        };
        if event == b"Profile" {
            profile.thread = Some(thread);
            profile.start = chunk
                .start
                .or_else(|| time.map(|time| nanoseconds(time) / 1e3));
        }
        profile.chunks.push((thread, time, chunk));
    }

    /// Returns the tree of each profile that has nodes.
    pub(super) fn trees(&mut self) -> Result<Vec<ThreadTree>, ImportError> {
        let mut trees = Vec::new();
        for profile in std::mem::take(&mut self.profiles) {
            trees.extend(self.tree(profile)?);
        }
        Ok(trees)
    }

    fn tree(&mut self, profile: SampledProfile) -> Result<Option<ThreadTree>, ImportError> {
        let SampledProfile {
            at,
            thread,
            mut start,
            mut chunks,
        } = profile;
        // Events may come in any order; the sort keeps the order of chunks of one time.
        chunks.sort_by_key(|(_, time, _)| *time);
        let thread = thread.or(chunks.first().map(|(thread, ..)| *thread));
        let mut tree = Tree::default();
        let (mut samples, mut deltas, mut lines) = (Vec::new(), Vec::new(), Vec::new());
        let (mut has_hits, mut end, mut parents) = (false, None, Vec::new());
        for (.., mut chunk) in chunks {
            for node in chunk.nodes {
                // React Native repeats nodes in later chunks.
                if tree.of_id(node.id).is_some() {
                    continue;
                }
                let number = tree.add(node.at, node.function)?;
                tree.name(number, node.id)?;
                parents.extend(node.parent.map(|parent| (parent, node.id, node.at)));
                parents.extend(node.children.iter().map(|child| (node.id, *child, node.at)));
                if let Some(hits) = node.hits {
                    has_hits = true;
                    tree.cost(number, SAMPLES, hits);
                }
                for (line, count) in node.lines {
                    tree.line(number, line, count);
                }
            }
            // Lines are known where V8 has found any in the chunk.
            chunk.lines.resize(chunk.samples.len(), 0);
            samples.append(&mut chunk.samples);
            deltas.append(&mut chunk.deltas);
            lines.append(&mut chunk.lines);
            start = start.or(chunk.start);
            end = chunk.end.or(end);
        }
        let Some(thread) = thread.filter(|_| !samples.is_empty() || !parents.is_empty()) else {
            return Ok(None);
        };
        for (parent, child, at) in parents {
            if let (Some(parent), Some(child)) = (tree.of_id(parent), tree.of_id(child)) {
                tree.link(parent, child)?;
            } else {
                self.orphans.add(at);
            }
        }
        let mut nodes = Vec::with_capacity(samples.len());
        for id in samples {
            // The tree has no node of this number, so that the sample costs nothing.
            nodes.push(tree.of_id(id).unwrap_or_else(|| {
                self.unknown_nodes.add(at);
                u32::MAX
            }));
        }
        let mut line_samples: BTreeMap<(u32, u32), f64> = BTreeMap::new();
        for (node, line) in nodes.iter().zip(lines) {
            if !has_hits {
                tree.cost(*node, SAMPLES, 1.0);
            }
            if line > 0 {
                *line_samples.entry((*node, line)).or_default() += 1.0;
            }
        }
        for ((node, line), count) in line_samples {
            tree.line(node, line, count);
        }
        if deltas.is_empty() && !nodes.is_empty() {
            self.no_deltas.add(at);
        } else if deltas.len() != nodes.len() {
            let expected = format!("{} times in `timeDeltas`, one per sample", nodes.len());
            return Err(ImportError::malformed(
                at,
                expected,
                deltas.len().to_string(),
            ));
        }
        let backwards = sample_durations(&nodes, &deltas, (start, end), |node, duration| {
            tree.cost(node, TIME, duration * 1e3);
        });
        for _ in 0..backwards {
            self.backwards.add(at);
        }
        Ok(Some(ThreadTree { thread, tree }))
    }

    pub(super) fn emit_notes(&self, sink: &mut dyn Sink) {
        let (info, warning) = (Severity::Info, Severity::Warning);
        self.orphans.note(sink, warning, |count| {
            format!(
                "{} of V8 whose parent is not in the trace: shown as roots",
                many(count, "node")
            )
        });
        self.unknown_nodes.note(sink, warning, |count| {
            format!(
                "{} of V8 whose node is not in the trace skipped",
                many(count, "sample")
            )
        });
        self.backwards.note(sink, info, |count| {
            format!(
                "time goes backwards before {} of V8: samples were sorted by time",
                many(count, "sample")
            )
        });
        self.no_deltas.note(sink, warning, |count| {
            format!(
                "{} of V8 without `timeDeltas`: only numbers of samples are stored, no times",
                many(count, "profile")
            )
        });
    }
}
