//! V8 CPU profiles (`.cpuprofile`)
//!
//! # What it is
//! JSON with a call tree, the node of each sample, and the time between samples. Node.js, Deno, Chrome's
//! developer tools, Visual Studio Code, Hermes and others write it. Default metric: `time`; also `samples`.
//!
//! # How to record one
//! ```text
//! node --cpu-prof --cpu-prof-interval 1000 app.js
//! ```
//! In Chrome, use "JavaScript Profiler" of the developer tools or `Profiler.stop` of the protocol. Node.js writes one file per
//! thread. With `--cpu-prof-name` they overwrite each other.
//!
//! # What we read
//! - Nodes with lists of children or with the id of their parent, in any order. Siblings of one function stay two nodes: V8
//!   writes them if the same text is evaluated twice.
//! - Nested nodes (`head`) of Chrome before version 58 and of v8-profiler. Their times are seconds, and their samples have
//!   `timestamps`.
//! - Functions by name, `url` (the file), line and column of their definition, which start at 1 here. Functions without a
//!   name are `(anonymous)`. `(program)`, `(idle)`, `(garbage collector)` and similar ones are `pseudo`. `(root)` is a root
//!   and not listed.
//! - `samples`: `hitCount`, or the number of samples in a node if the file has no such counts. The two may differ a little.
//! - `time`: a sample lasts until the next one, the last one until `endTime`, as in Chrome's developer tools. Samples whose
//!   times go backwards are sorted.
//! - `positionTicks`: samples by line, without callees. A line has the part of its function's time that corresponds to
//!   its part of these samples.
//! - Start and end times as stated: microseconds of a clock with an arbitrary origin.
//!
//! # What we leave out
//! - Calls: a sampling profiler does not count them.
//! - `scriptId`, `deoptReason`; unknown members are counted in a note.
//! - Profiles from before 2016, a nested tree below `head` with `timestamps`.
//!
//! # References
//! - The protocol of Chrome's developer tools, `Profiler.Profile`: <https://chromedevtools.github.io/devtools-protocol/>.

use crate::base::error::{ImportError, Position};
use crate::events::{FunctionId, MetricId, Noise, Note, RunFact, Severity, Sink, Unit};
use crate::formats::common::counted::{Counted, many};
use crate::formats::common::json::{Outline, Reader, Within, column};
use crate::formats::common::missing_frames::MissingFrames;
use crate::formats::common::v8_profile::{CallFrames, OldFrame, Tree, positions, sample_durations};
use crate::formats::format::{Confidence, Format};
use crate::formats::options::{KEEP_BEFORE_ERROR_OPTION, Options};
use crate::formats::salvage::Salvage;
use crate::input::Input;
use crate::text::escape;

/// The format of the page above: how it is recognised and read.
pub(in crate::formats) const FORMAT: Format = Format {
    name: "cpuprofile",
    summary: "V8 CPU profiles (.cpuprofile) of Node.js, Deno, Chrome",
    revision: 3,
    sniff,
    has_empty_recordings: true,
    salvage: Salvage::Json,
    options: &[KEEP_BEFORE_ERROR_OPTION],
    import,
};

/// The places of the metrics in [`Tree::cost`].
const SAMPLES: usize = 0;
const TIME: usize = 1;

fn sniff(head: &[u8]) -> Confidence {
    let Some(outline) = Outline::of(head).filter(|outline| !outline.in_array) else {
        return Confidence::No;
    };
    // Profiles of memory have a `head`, too, with a `callFrame` and `selfSize`.
    let has = |member: &[u8]| memchr::memmem::find(head, member).is_some();
    if outline.has("head") && has(b"\"functionName\"") && !has(b"\"callFrame\"") {
        return Confidence::Yes;
    }
    if outline.has("nodes") && memchr::memmem::find(head, b"\"callFrame\"").is_some() {
        return Confidence::Yes;
    }
    // The samples may come first.
    if outline.has("timeDeltas") || outline.has("samples") && outline.has("startTime") {
        return Confidence::Maybe;
    }
    Confidence::No
}

fn import(
    input: &mut Input<'_>,
    _options: &Options,
    sink: &mut dyn Sink,
) -> Result<(), ImportError> {
    // All is kept until the end: samples may come before the nodes that they name, and parents
    // after their children (cases `cpuprofile/samples-first`, `cpuprofile/parents`).
    let mut file = File {
        json: Reader::new(input),
        sink,
        frames: CallFrames::default(),
        tree: Tree::default(),
        relations: Vec::new(),
        has_hits: false,
        nodes: None,
        samples: None,
        deltas: None,
        start: None,
        end: None,
        member: Vec::new(),
        is_old: false,
        has_times: false,
        backwards: Counted::default(),
        missing: MissingFrames::default(),
        missing_relations: Counted::default(),
    };
    file.read()?;
    let sampled = file
        .samples
        .as_ref()
        .map_or(0, |(_, nodes)| nodes.len() as u64);
    let metrics = file.costs()?;
    let File {
        sink,
        frames,
        tree,
        backwards,
        missing,
        missing_relations,
        ..
    } = file;
    tree.emit(sink, &metrics)?;
    missing.note(sampled, sink)?;
    missing_relations.note_with(sink, Severity::Warning, |count, first| {
        format!(
            "{} to nodes that are not in the file (first: {first}): skipped",
            many(count, "reference")
        )
    });
    backwards.note(sink, Severity::Info, |count| {
        format!(
            "time goes backwards before {}: samples were sorted by time",
            many(count, "sample")
        )
    });
    frames.emit_notes(sink);
    Ok(())
}

/// An id of a parent and of a child, and where that is said.
struct Relation {
    parent: u32,
    child: u32,
    at: Position,
}

struct File<'f, 'r, 'a> {
    json: Reader<'r, 'a>,
    sink: &'f mut dyn Sink,
    frames: CallFrames,
    tree: Tree,
    relations: Vec<Relation>,
    has_hits: bool,
    /// Where the nodes are.
    nodes: Option<Position>,
    /// Where the samples are, and the ids of their nodes.
    samples: Option<(Position, Vec<u32>)>,
    /// Where the times between samples are, and these in microseconds.
    deltas: Option<(Position, Vec<f64>)>,
    start: Option<f64>,
    end: Option<f64>,
    member: Vec<u8>,
    /// The nodes are nested, and times are seconds.
    is_old: bool,
    /// The deltas are times since the start of the system.
    has_times: bool,
    backwards: Counted,
    missing: MissingFrames,
    missing_relations: Counted,
}

impl File<'_, '_, '_> {
    fn read(&mut self) -> Result<(), ImportError> {
        let mut within = Within::default();
        let mut name = Vec::new();
        while let Some(at) = self.json.member(&mut within, &mut name)? {
            self.json.begin_record_at(at);
            self.sink.at(at);
            let second = match name.as_slice() {
                b"nodes" | b"head" => self.nodes.replace(at).is_some(),
                b"samples" => self.samples.is_some(),
                b"timeDeltas" | b"timestamps" => self.deltas.is_some(),
                _ => false,
            };
            if second {
                let name = escape::text(&name);
                return Err(ImportError::malformed(
                    at,
                    format!("one member `{name}`"),
                    "a second one",
                ));
            }
            match name.as_slice() {
                b"nodes" => self.read_nodes()?,
                b"head" => self.read_head()?,
                b"timestamps" => {
                    let what = "microseconds in `timestamps`";
                    let times = column(&mut self.json, |json| json.real(what))?;
                    self.has_times = true;
                    self.deltas = Some((at, times));
                }
                b"typeId" | b"uid" => self.json.skip()?,
                b"samples" => {
                    let what = "the id of a node in `samples`";
                    self.samples = Some((at, column(&mut self.json, |json| json.index(what))?));
                }
                b"timeDeltas" => {
                    let what = "microseconds in `timeDeltas`";
                    self.deltas = Some((at, column(&mut self.json, |json| json.real(what))?));
                }
                b"startTime" => self.start = Some(self.time("startTime")?),
                b"endTime" => self.end = Some(self.time("endTime")?),
                b"title" => {
                    self.json.text_or_number("a title", &mut name)?;
                    self.sink.run(RunFact::Title(&escape::text(&name)));
                }
                _ => self.frames.skip(&mut self.json, at, &name)?,
            }
        }
        if self.nodes.is_none() {
            return Err(ImportError::malformed(
                self.json.position(),
                "a member `nodes`",
                "the end of the profile",
            ));
        }
        self.json.end()
    }

    /// A time of the run, which is kept as the file says it, too.
    fn time(&mut self, name: &str) -> Result<f64, ImportError> {
        let (text, time) = self.json.decimal(&format!("microseconds in `{name}`"))?;
        self.sink.run(RunFact::Other(name, &text));
        Ok(time)
    }

    fn read_nodes(&mut self) -> Result<(), ImportError> {
        let mut within = Within::default();
        while let Some(at) = self.json.item(&mut within)? {
            self.json.begin_record_at(at);
            self.sink.at(at);
            self.node(at)?;
        }
        // When all nodes have ids: a list of children comes before the nodes that it names.
        for Relation { parent, child, at } in std::mem::take(&mut self.relations) {
            match (self.tree.of_id(parent), self.tree.of_id(child)) {
                (Some(parent), Some(child)) => self.tree.link(parent, child)?,
                // A child without its parent becomes a root.
                (found, _) => {
                    let id = if found.is_some() { child } else { parent };
                    self.missing_relations.add_with(at, || id.to_string());
                }
            }
        }
        Ok(())
    }

    /// Reads the nested nodes of profiles that Chrome wrote before version 58, and v8-profiler.
    fn read_head(&mut self) -> Result<(), ImportError> {
        struct OpenHeadNode {
            node: u32,
            frame: OldFrame,
            members: Within,
            children: Within,
        }
        self.is_old = true;
        let mut open: Vec<OpenHeadNode> = Vec::new();
        let mut name = Vec::new();
        let mut is_start = true;
        loop {
            if std::mem::take(&mut is_start) {
                let at = self.json.place()?;
                self.json.begin_record_at(at);
                // The function is known when the node is closed.
                let node = self.tree.add(at, FunctionId(u32::MAX))?;
                if let Some(above) = open.last() {
                    self.tree.link(above.node, node)?;
                }
                open.push(OpenHeadNode {
                    node,
                    frame: OldFrame::default(),
                    members: Within::default(),
                    children: Within::default(),
                });
            }
            let Some(top) = open.last_mut() else {
                return Ok(());
            };
            if top.children == Within::After {
                if self.json.item(&mut top.children)?.is_some() {
                    is_start = true;
                    continue;
                }
                top.children = Within::default();
            }
            self.json.begin_record();
            let Some(at) = self.json.member(&mut top.members, &mut name)? else {
                let frame = std::mem::take(&mut top.frame);
                let function = self.frames.old_function(&self.json, frame, self.sink);
                self.tree.set_function(top.node, function);
                open.pop();
                continue;
            };
            let node = top.node;
            match name.as_slice() {
                b"id" => self
                    .tree
                    .name(node, self.json.index("the id of the node")?)?,
                b"hitCount" => {
                    self.has_hits = true;
                    let hits = self.json.real("a count in `hitCount`")?;
                    self.tree.cost(node, SAMPLES, hits);
                }
                b"children" => {
                    is_start = self.json.item(&mut top.children)?.is_some();
                    if !is_start {
                        top.children = Within::default();
                    }
                }
                b"positionTicks" => {
                    let mut ticks = Vec::new();
                    positions(&mut self.json, &mut self.frames, &mut ticks)?;
                    for (line, count) in ticks {
                        self.tree.line(node, line, count);
                    }
                }
                b"deoptReason" | b"callUID" => self.json.skip()?,
                _ => {
                    let json = &mut self.json;
                    if !top.frame.read_member(json, &name)? {
                        self.frames.skip(json, at, &name)?;
                    }
                }
            }
        }
    }

    fn node(&mut self, at: Position) -> Result<(), ImportError> {
        let (mut id, mut function, mut parent, mut hits) = (None, None, None, None);
        let mut ticks = Vec::new();
        let first_child = self.relations.len();
        let mut within = Within::default();
        let mut name = std::mem::take(&mut self.member);
        let json = &mut self.json;
        while let Some(at) = json.member(&mut within, &mut name)? {
            match name.as_slice() {
                b"id" => id = Some(json.index("the id of the node")?),
                b"callFrame" => function = Some(self.frames.read(json, self.sink)?),
                b"parent" => parent = Some((json.place()?, json.index("the id of the parent")?)),
                b"hitCount" => hits = Some(json.real("a count in `hitCount`")?),
                b"children" => {
                    let mut within = Within::default();
                    while let Some(at) = json.item(&mut within)? {
                        let child = json.index("the id of a child")?;
                        self.relations.push(Relation {
                            // The id of this node may come after its children; it is filled in
                            // below.
                            parent: 0,
                            child,
                            at,
                        });
                    }
                }
                b"positionTicks" => positions(json, &mut self.frames, &mut ticks)?,
                b"deoptReason" => json.skip()?,
                _ => self.frames.skip(json, at, &name)?,
            }
        }
        self.member = name;
        let (Some(id), Some(function)) = (id, function) else {
            return Err(ImportError::malformed(
                at,
                "a node with `id` and `callFrame`",
                "one without",
            ));
        };
        let node = self.tree.add(at, function)?;
        self.tree.name(node, id)?;
        for relation in self.relations.get_mut(first_child..).unwrap_or_default() {
            relation.parent = id;
        }
        self.relations.extend(parent.map(|(at, parent)| Relation {
            parent,
            child: id,
            at,
        }));
        if let Some(hits) = hits {
            self.has_hits = true;
            self.tree.cost(node, SAMPLES, hits);
        }
        for (line, count) in ticks {
            self.tree.line(node, line, count);
        }
        Ok(())
    }

    /// Finds out what nodes cost, and announces the metrics.
    fn costs(&mut self) -> Result<[Option<MetricId>; 2], ImportError> {
        self.sink.at(self.json.record_start());
        let samples = self.sink.samples("samples");
        let Some((at, mut nodes)) = self.samples.take() else {
            let message = "the file has no `samples`, only hit counts: numbers of samples are stored, no times";
            self.sink.note(Note {
                severity: Severity::Warning,
                position: None,
                message,
            });
            return Ok([Some(samples), None]);
        };
        let mut missing_node = None;
        for id in &mut nodes {
            *id = if let Some(node) = self.tree.of_id(*id) {
                node
            } else {
                let function = self.missing.function(at, id, self.sink);
                match missing_node {
                    Some(node) => node,
                    None => *missing_node.insert(self.tree.add(at, function)?),
                }
            };
        }
        // `hitCount` is V8's own count. The list of samples may have a few less (case
        // `cpuprofile/node`), so that only one of the two is counted.
        if !self.has_hits {
            for node in &nodes {
                self.tree.cost(*node, SAMPLES, 1.0);
            }
        }
        if self.is_old {
            // Old profiles have seconds here.
            for time in [&mut self.start, &mut self.end].into_iter().flatten() {
                *time *= 1e6;
            }
        }
        let Some((at, mut deltas)) = self.deltas.take() else {
            let message = "the file has no `timeDeltas`: numbers of samples are stored, no times";
            self.sink.note(Note {
                severity: Severity::Warning,
                position: Some(at),
                message,
            });
            return Ok([Some(samples), None]);
        };
        if self.has_times {
            let mut last = self.start.unwrap_or_default();
            for delta in &mut deltas {
                *delta -= std::mem::replace(&mut last, *delta);
            }
        }
        if nodes.len() != deltas.len() {
            let expected = format!("{} times in `timeDeltas`, one per sample", nodes.len());
            return Err(ImportError::malformed(
                at,
                expected,
                deltas.len().to_string(),
            ));
        }
        let time = self.sink.metric("time", Unit::Nanoseconds, Noise::Sampled);
        self.sink.run(RunFact::Observations(time, samples));
        self.sink.run(RunFact::DefaultMetric(time));
        let tree = &mut self.tree;
        let times = (self.start, self.end);
        let backwards = sample_durations(&nodes, &deltas, times, |node, microseconds| {
            tree.cost(node, TIME, microseconds * 1e3);
        });
        for _ in 0..backwards {
            self.backwards.add(at);
        }
        Ok([Some(samples), Some(time)])
    }
}
