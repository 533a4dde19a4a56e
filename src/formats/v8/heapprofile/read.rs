//! V8 heap profiles (`.heapprofile`)
//!
//! # What it is
//! JSON with a call tree and the memory that was allocated there and still in use at the end, found by sampling
//! allocations. Node.js and Chrome's developer tools ("Allocation sampling") write it. Default metric: `size`; also
//! `samples`, if the file has them.
//!
//! # How to record one
//! ```text
//! node --heap-prof app.js
//! ```
//!
//! # What we read
//! - The nested tree below `head`, of any depth. `size` is `selfSize`, bytes that V8 has extrapolated from its samples.
//! - `samples`: the number of sampled allocations in a node.
//! - Functions as in [cpuprofile](#cpuprofile): by name, `url`, line and column. `(V8 API)`, `(BYTECODE_COMPILER)` and similar
//!   ones are `pseudo`. `(root)` is a root and not listed.
//!
//! # What we leave out
//! - Calls: V8 does not count them.
//! - Samples of nodes that are not in the tree, with a note. V8 takes them while it writes the tree.
//! - Sizes and order of single samples, `scriptId`; unknown members are counted in a note.
//!
//! # References
//! - The protocol of Chrome's developer tools, `HeapProfiler.SamplingHeapProfile`:
//!   <https://chromedevtools.github.io/devtools-protocol/>.

use crate::base::error::{ImportError, Position};
use crate::events::{FunctionId, Noise, RunFact, Severity, Sink, Unit};
use crate::formats::common::counted::{Counted, many};
use crate::formats::common::json::{Outline, Reader, Within};
use crate::formats::common::v8_profile::{CallFrames, Tree};
use crate::formats::format::{Confidence, Format};
use crate::formats::options::{KEEP_BEFORE_ERROR_OPTION, Options};
use crate::formats::salvage::Salvage;
use crate::input::Input;

/// The format of the page above: how it is recognised and read.
pub(in crate::formats) const FORMAT: Format = Format {
    name: "heapprofile",
    summary: "V8 heap profiles (.heapprofile) of Node.js, Chrome",
    revision: 2,
    sniff,
    has_empty_recordings: true,
    salvage: Salvage::Json,
    options: &[KEEP_BEFORE_ERROR_OPTION],
    import,
};

/// The places of the metrics in [`Tree::cost`].
const SIZE: usize = 0;
const SAMPLES: usize = 1;

/// The function of a node whose `callFrame` has not come.
const NOT_YET: FunctionId = FunctionId(0);

fn sniff(head: &[u8]) -> Confidence {
    let Some(outline) = Outline::of(head).filter(|outline| !outline.in_array) else {
        return Confidence::No;
    };
    let has = |member: &[u8]| memchr::memmem::find(head, member).is_some();
    if outline.has("head") && has(b"\"callFrame\"") {
        Confidence::Yes
    } else {
        Confidence::No
    }
}

fn import(
    input: &mut Input<'_>,
    _options: &Options,
    sink: &mut dyn Sink,
) -> Result<(), ImportError> {
    let mut json = Reader::new(input);
    let mut frames = CallFrames::default();
    let mut tree = Tree::default();
    let mut has_head = false;
    let mut samples: Option<Vec<(Position, u32)>> = None;
    let mut within = Within::default();
    let mut name = Vec::new();
    while let Some(at) = json.member(&mut within, &mut name)? {
        json.begin_record_at(at);
        match name.as_slice() {
            b"head" if has_head => {
                return Err(ImportError::malformed(
                    at,
                    "one member `head`",
                    "a second one",
                ));
            }
            b"head" => {
                has_head = true;
                nodes(&mut json, sink, &mut frames, &mut tree)?;
            }
            b"samples" => read_samples(&mut json, &mut frames, samples.get_or_insert_default())?,
            _ => frames.skip(&mut json, at, &name)?,
        }
    }
    if !has_head {
        return Err(ImportError::malformed(
            json.position(),
            "a member `head`",
            "the end of the profile",
        ));
    }
    json.end()?;
    sink.at(json.record_start());
    let size = sink.metric("size", Unit::Bytes, Noise::Sampled);
    sink.run(RunFact::DefaultMetric(size));
    let count = samples.is_some().then(|| sink.samples("samples"));
    if let Some(count) = count {
        sink.run(RunFact::Observations(size, count));
    }
    let mut elsewhere = Counted::default();
    // After the tree, which may come second (case `heapprofile/children-first`).
    for (at, id) in samples.unwrap_or_default() {
        match tree.of_id(id) {
            Some(node) => tree.cost(node, SAMPLES, 1.0),
            None => elsewhere.add_with(at, || id.to_string()),
        }
    }
    elsewhere.note_with(sink, Severity::Warning, |count, first| {
        format!(
            "{} of nodes that are not in the tree (first: {first}): skipped",
            many(count, "sample")
        )
    });
    tree.emit(sink, &[Some(size), count])?;
    frames.emit_notes(sink);
    Ok(())
}

/// Reads the nested tree. Members come in any order, so that a node gets its function when it is
/// closed.
fn nodes(
    json: &mut Reader<'_, '_>,
    sink: &mut dyn Sink,
    frames: &mut CallFrames,
    tree: &mut Tree,
) -> Result<(), ImportError> {
    struct Open {
        at: Position,
        node: u32,
        members: Within,
        children: Within,
        has_function: bool,
        has_size: bool,
    }
    let mut open: Vec<Open> = Vec::new();
    let mut name = Vec::new();
    let start = |json: &mut Reader<'_, '_>, tree: &mut Tree| -> Result<Open, ImportError> {
        let at = json.place()?;
        let node = tree.add(at, NOT_YET)?;
        Ok(Open {
            at,
            node,
            members: Within::default(),
            children: Within::default(),
            has_function: false,
            has_size: false,
        })
    };
    open.push(start(json, tree)?);
    while let Some(top) = open.last_mut() {
        // A record for each member, not for each node: that of the root is the whole file.
        json.begin_record();
        // Within the list of children.
        if top.children == Within::After {
            if json.item(&mut top.children)?.is_some() {
                let node = start(json, tree)?;
                tree.link(top.node, node.node)?;
                open.push(node);
                continue;
            }
            top.children = Within::default();
        }
        let Some(at) = json.member(&mut top.members, &mut name)? else {
            if !top.has_function {
                return Err(ImportError::malformed(
                    top.at,
                    "a node with `callFrame`",
                    "one without",
                ));
            }
            if !top.has_size {
                return Err(ImportError::malformed(
                    top.at,
                    "a node with `selfSize`",
                    "one without",
                ));
            }
            open.pop();
            continue;
        };
        match name.as_slice() {
            b"callFrame" => {
                tree.set_function(top.node, frames.read(json, sink)?);
                top.has_function = true;
            }
            b"selfSize" => {
                tree.cost(top.node, SIZE, json.real("bytes in `selfSize`")?);
                top.has_size = true;
            }
            b"id" => tree.name(top.node, json.index("the id of the node")?)?,
            b"children" => {
                if json.item(&mut top.children)?.is_none() {
                    top.children = Within::default();
                    continue;
                }
                let node = start(json, tree)?;
                tree.link(top.node, node.node)?;
                open.push(node);
            }
            _ => frames.skip(json, at, &name)?,
        }
    }
    Ok(())
}

/// Adds where each sample is, and the id of its node.
fn read_samples(
    json: &mut Reader<'_, '_>,
    frames: &mut CallFrames,
    samples: &mut Vec<(Position, u32)>,
) -> Result<(), ImportError> {
    let mut name = Vec::new();
    let mut items = Within::default();
    while let Some(at) = json.item(&mut items)? {
        json.begin_record_at(at);
        let mut node = None;
        let mut within = Within::default();
        while let Some(at) = json.member(&mut within, &mut name)? {
            match name.as_slice() {
                b"nodeId" => node = Some(json.index("the id of a node in `nodeId`")?),
                b"size" | b"ordinal" => json.skip()?,
                _ => frames.skip(json, at, &name)?,
            }
        }
        let Some(node) = node else {
            return Err(ImportError::malformed(
                at,
                "a sample with `nodeId`",
                "one without",
            ));
        };
        samples.push((at, node));
    }
    Ok(())
}
