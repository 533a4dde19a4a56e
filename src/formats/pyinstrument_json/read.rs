//! JSON of pyinstrument, a sampling profiler for Python
//!
//! # What it is
//! Output of pyinstrument 3 to 5 with `-r json` and its class `JSONRenderer`: facts of the run, and one tree of frames with
//! inclusive seconds. Default metric: `time`.
//!
//! # How to record one
//! ```text
//! pyinstrument --show-all -r json -o run.json app.py
//! ```
//! For a saved session: `pyinstrument --load FILE --show-all -r json -o run.json`. Without `--show-all`, pyinstrument omits
//! frames with less than one percent and frames that import modules. Their time becomes exclusive time of their callers.
//!
//! # What we read
//! - The tree below `root_frame`, of up to 1,048,576 levels (limit: frames of a stack). `time` is inclusive. The exclusive time
//!   of a frame is the difference to its children, in nanoseconds.
//! - Figures with six decimals. If the children of a frame exceed it by at most half a microsecond
//!   for each figure, this is rounding, and the exclusive time is 0. Larger excesses are counted in a note.
//! - Frames `[self]` are not functions: their time is the exclusive time of the frame around them.
//! - Other frames in brackets (`[await]`, `[out-of-context]`) are of kind `pseudo`. Their file and line, which old versions
//!   copy from the caller, are left out. `[root]`, above several outermost frames, is a root and not listed.
//! - `await_time`, also inclusive, as a second metric, if any frame has it. pyinstrument records awaited time only if
//!   it was started within a coroutine, and writes 0 everywhere else.
//! - Functions by `function`, `file_path` and `line_no`, the line of their definition, 0 if unknown. A frame with a
//!   `class_name` is called `Class.function`, as in pyinstrument's text.
//! - `start_time`, as a date; `target_description`, as title; `program` (up to version 4.6), as command; `duration`, `cpu_time`
//!   and `sample_count`, as properties of the run.
//! - Members in any order. A `root_frame` that is `null` is an empty run.
//!
//! # What we leave out
//! - Calls and numbers of samples by function, which the file does not have.
//! - `file_path_short`, `is_application_code` and `group_id`, which control pyinstrument's text output. Unknown members are
//!   counted in a note.
//! - Time that the file leaves out. If the root and `duration` differ by more than one percent, a note reports this. With `-t`,
//!   the file has only the first of several roots. The frames that start the program are always left out.
//! - Sessions (`.pyisession`), and the JSON of version 2, which has no `root_frame`.
//!
//! # References
//! - pyinstrument 5.1.3, `pyinstrument/renderers/jsonrenderer.py`, `frame.py` and `processors.py`, and those of 3.0 to 4.7.

use crate::base::error::{ImportError, Position, quote};
use crate::events::{
    Cost, Frame, FunctionDef, FunctionId, Kind, MetricId, Noise, Note, RunFact, Severity, Sink,
    Unit, slack,
};
use crate::formats::common::counted::{Counted, many};
use crate::formats::common::json::{Outline, Reader, Within};
use crate::formats::common::missing_frames::MISSING_FRAME;
use crate::formats::format::{Confidence, Format, fault_position, note_damage};
use crate::formats::options::{KEEP_BEFORE_ERROR, KEEP_BEFORE_ERROR_OPTION, Options};
use crate::formats::salvage::Salvage;
use crate::input::Input;
use crate::text::dates::utc;
use crate::text::escape;

/// The format of the page above: how it is recognised and read.
pub(in crate::formats) const FORMAT: Format = Format {
    name: "pyinstrument_json",
    summary: "JSON of pyinstrument, a sampling profiler for Python",
    revision: 1,
    sniff,
    has_empty_recordings: true,
    salvage: Salvage::Importer,
    options: &[KEEP_BEFORE_ERROR_OPTION],
    import,
};

/// The members of the file that are known.
const OF_RUN: &[&str] = &[
    "start_time",
    "duration",
    "sample_count",
    "target_description",
    "program",
    "cpu_time",
    "root_frame",
];

/// The members of a frame that are known.
const OF_FRAME: &[&str] = &[
    "function",
    "file_path_short",
    "file_path",
    "line_no",
    "time",
    "await_time",
    "is_application_code",
    "children",
    "group_id",
    "class_name",
];

/// Frames within each other.
const MOST_FRAMES: usize = 1 << 20;

/// The unit to which pyinstrument rounds: six decimals of a second, in nanoseconds.
const ROUNDING: f64 = 1000.0;

/// The part of `duration` by which the root may differ from it before that is noted.
const PART: f64 = 0.01;

fn sniff(head: &[u8]) -> Confidence {
    let Some(outline) = Outline::of(head).filter(|outline| !outline.in_array) else {
        return Confidence::No;
    };
    // Where the tree comes first, the other members may be out of sight.
    let is_known = outline.has("sample_count")
        && (outline.has("target_description") || outline.has("program"))
        || memchr::memmem::find(head, b"\"file_path_short\"").is_some();
    if outline.has("root_frame") && is_known {
        Confidence::Yes
    } else {
        Confidence::No
    }
}

fn import(
    input: &mut Input<'_>,
    options: &Options,
    sink: &mut dyn Sink,
) -> Result<(), ImportError> {
    let mut json = Reader::new(input);
    let mut tree = Tree::default();
    let mut duration = None;
    if let Err(fault) = read_members(&mut json, &mut tree, &mut duration, sink) {
        let is_kept = options.flag(KEEP_BEFORE_ERROR) && fault_position(&fault).is_some();
        let unfinished = tree.close_unfinished(sink)?;
        if !is_kept || !tree.has_time() {
            return Err(fault);
        }
        // The duration is that of the whole recording.
        duration = None;
        let frames = (tree.nodes.len() as u64).saturating_sub(unfinished);
        let parts = format!(
            "imported {} before it, and {} around it without exclusive time",
            many(frames, "frame"),
            many(unfinished, "frame")
        );
        note_damage(&fault, &parts, sink);
    }
    sink.at(json.record_start());
    // After the tree: whether there is a second metric is known only when all frames have been
    // read, and the sink wants all metrics before the first node.
    let time = sink.metric("time", Unit::Nanoseconds, Noise::Sampled);
    let awaited = tree
        .has_awaited()
        .then(|| sink.metric("await_time", Unit::Nanoseconds, Noise::Sampled));
    for metric in [Some(time), awaited].into_iter().flatten() {
        sink.run(RunFact::Rounding(metric, ROUNDING));
    }
    if let Some((at, seconds, duration)) = duration {
        tree.compare(at, &seconds, duration, sink);
    }
    tree.tell(sink, &[Some(time), awaited]);
    tree.emit_notes(sink);
    Ok(())
}

/// Reads the members of the file up to its end.
fn read_members(
    json: &mut Reader<'_, '_>,
    tree: &mut Tree,
    duration: &mut Option<(Position, String, f64)>,
    sink: &mut dyn Sink,
) -> Result<(), ImportError> {
    let (mut seen, mut within) = (Seen::default(), Within::default());
    let (mut name, mut text) = (Vec::new(), Vec::new());
    while let Some(at) = json.member_or_null(&mut within, &mut name)? {
        json.begin_record_at(at);
        sink.at(at);
        match seen.once(OF_RUN, &name, at)? {
            // A run without samples has no root (case `pyinstrument_json/no-root`).
            Some(_) if json.null()? => {}
            Some("root_frame") => tree.read(json, sink)?,
            Some("start_time") => {
                let (seconds, _) =
                    nanoseconds(json, "a non-negative number of seconds in `start_time`")?;
                sink.run(RunFact::Other("start_time", &seconds));
                if let Some(since_1970) = whole_nanoseconds(&seconds) {
                    sink.run(RunFact::RecordedAt(&utc(since_1970)));
                }
            }
            Some("duration") => {
                let (seconds, figure) =
                    nanoseconds(json, "a non-negative number of seconds in `duration`")?;
                sink.run(RunFact::Other("duration", &seconds));
                *duration = Some((at, seconds, figure));
            }
            Some("cpu_time") => {
                let (seconds, _) =
                    nanoseconds(json, "a non-negative number of seconds in `cpu_time`")?;
                sink.run(RunFact::Other("cpu_time", &seconds));
            }
            Some("sample_count") => {
                let count = json.count("sample_count")?;
                sink.run(RunFact::Other("sample_count", &count.to_string()));
            }
            Some("target_description") => {
                json.text(&mut text)?;
                sink.run(RunFact::Title(&escape::text(&text)));
            }
            Some("program") => {
                json.text(&mut text)?;
                sink.run(RunFact::Command(&escape::text(&text)));
            }
            _ => tree.skip(json, at, &name)?,
        }
    }
    if !seen.has(OF_RUN, "root_frame") {
        return Err(ImportError::malformed(
            json.position(),
            "a member `root_frame`",
            "the end of the profile",
        ));
    }
    json.end()
}

/// Which of the known members of an object have been there.
#[derive(Default)]
struct Seen(u32);

impl Seen {
    /// The name if it is known; refuses it the second time.
    fn once(
        &mut self,
        known: &[&'static str],
        name: &[u8],
        at: Position,
    ) -> Result<Option<&'static str>, ImportError> {
        let mut bits = (0..).zip(known);
        let Some((bit, name)) = bits.find(|(_, known)| known.as_bytes() == name) else {
            return Ok(None);
        };
        if self.0 & (1 << bit) != 0 {
            return Err(ImportError::malformed(
                at,
                format!("one member `{name}`"),
                "a second one",
            ));
        }
        self.0 |= 1 << bit;
        Ok(Some(name))
    }

    fn has(&self, known: &[&str], name: &str) -> bool {
        (0..)
            .zip(known)
            .any(|(bit, known)| *known == name && self.0 & (1 << bit) != 0)
    }
}

/// Seconds from 0, as they are written and in nanoseconds.
fn nanoseconds(json: &mut Reader<'_, '_>, what: &str) -> Result<(String, f64), ImportError> {
    let at = json.place()?;
    let (text, seconds) = json.decimal(what)?;
    // Shifting the decimal point is exact, multiplying is not.
    let shifted = format!("{text}e9").parse::<f64>();
    let figure = shifted.unwrap_or(seconds * 1e9);
    if figure >= 0.0 && figure.is_finite() {
        // Python writes `-0.000000`, too.
        Ok((text, figure.abs()))
    } else {
        Err(ImportError::malformed(at, what, quote(text.as_bytes())))
    }
}

/// Seconds with up to nine decimals in nanoseconds: a REAL does not hold those since 1970. `None`
/// if they are written in another way, or too many.
fn whole_nanoseconds(seconds: &str) -> Option<i64> {
    let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
    // At most nine: more would be parts of a nanosecond. `parse` alone would take a sign here.
    let digits = |text: &str| text.len() <= 9 && text.bytes().all(|byte| byte.is_ascii_digit());
    let fraction = Some(fraction).filter(|fraction| digits(fraction))?;
    let fraction: i64 = format!("{fraction:0<9}").parse().ok()?;
    let whole: i64 = whole.parse().ok()?;
    whole.checked_mul(1_000_000_000)?.checked_add(fraction)
}

/// The frames of a file in the order in which they are opened there. All of them are kept, because
/// a frame's class comes after its children.
#[derive(Default)]
struct Tree {
    nodes: Vec<Node>,
    /// The frames around a fault.
    unfinished: Vec<Open>,
    unknown: Counted,
    too_much_self: Counted,
}

struct Node {
    at: Position,
    /// Frames around it.
    depth: usize,
    function: FunctionId,
    /// `time` and `await_time`.
    figures: [Figure; 2],
}

/// What is known of a frame in one metric, in nanoseconds.
#[derive(Clone, Copy, Default)]
struct Figure {
    cumulative: Option<f64>,
    /// Cumulative cost of the functions called.
    callees: f64,
    /// What `[self]` says of it.
    own: f64,
    /// How many figures these two are the sum of.
    parts: u32,
}

impl Figure {
    /// By how much less than this the frame may cost because of rounding.
    fn slack(&self) -> f64 {
        slack(ROUNDING, self.parts)
    }

    /// Whether what is called leaves less than what `[self]` says.
    fn has_too_much_self(&self) -> bool {
        self.cumulative.is_some_and(|cumulative| {
            let left = cumulative - self.callees;
            // Where what was called is too much already, the builder notes it: each frame is
            // counted in one of the two notes.
            left >= -self.slack() && left - self.own < -self.slack()
        })
    }
}

/// A frame whose end has not been read.
struct Open {
    at: Position,
    /// Its place among the nodes.
    node: usize,
    members: Within,
    children: Within,
    seen: Seen,
    figures: [Figure; 2],
    function: Vec<u8>,
    class: Vec<u8>,
    file: Vec<u8>,
    first_line: u32,
}

impl Tree {
    /// Reads the nested tree. Nothing recurses.
    fn read(&mut self, json: &mut Reader<'_, '_>, sink: &mut dyn Sink) -> Result<(), ImportError> {
        let mut open = Vec::new();
        let read = self.read_frames(json, &mut open, sink);
        self.unfinished = open;
        read
    }

    fn read_frames(
        &mut self,
        json: &mut Reader<'_, '_>,
        open: &mut Vec<Open>,
        sink: &mut dyn Sink,
    ) -> Result<(), ImportError> {
        self.open(json, open)?;
        let mut name = Vec::new();
        while let Some(top) = open.last_mut() {
            // A record for each member, not for each frame: the root holds the whole file.
            json.begin_record();
            sink.at(json.record_start());
            if top.children == Within::After {
                if json.item(&mut top.children)?.is_some() {
                    self.open(json, open)?;
                } else {
                    top.children = Within::default();
                }
                continue;
            }
            // The function is said when its frame closes: `class_name` comes after the children.
            let Some(at) = json.member(&mut top.members, &mut name)? else {
                if let Some(closed) = open.pop() {
                    self.close(&closed, open.last_mut(), sink)?;
                }
                continue;
            };
            let [time, awaited] = &mut top.figures;
            match top.seen.once(OF_FRAME, &name, at)? {
                Some("function") => json.text(&mut top.function)?,
                Some("class_name") => json.text(&mut top.class)?,
                Some("file_path") => json.text(&mut top.file)?,
                Some("line_no") => {
                    top.first_line = json.index("a non-negative line number in `line_no`")?;
                }
                Some("time") => {
                    time.cumulative =
                        Some(nanoseconds(json, "a non-negative number of seconds in `time`")?.1);
                }
                Some("await_time") => {
                    awaited.cumulative = Some(
                        nanoseconds(json, "a non-negative number of seconds in `await_time`")?.1,
                    );
                }
                Some("children") => {
                    if json.item(&mut top.children)?.is_some() {
                        self.open(json, open)?;
                    } else {
                        top.children = Within::default();
                    }
                }
                Some(_) => json.skip()?,
                None => self.skip(json, at, &name)?,
            }
        }
        Ok(())
    }

    fn open(&mut self, json: &mut Reader<'_, '_>, open: &mut Vec<Open>) -> Result<(), ImportError> {
        let at = json.place()?;
        if open.len() >= MOST_FRAMES {
            return Err(ImportError::Limit {
                position: at,
                limit: format!("{MOST_FRAMES} frames in one stack (limit: frames of a stack)"),
            });
        }
        open.push(Open {
            at,
            node: self.nodes.len(),
            members: Within::default(),
            children: Within::default(),
            seen: Seen::default(),
            figures: <[Figure; 2]>::default(),
            function: Vec::new(),
            class: Vec::new(),
            file: Vec::new(),
            first_line: 0,
        });
        self.nodes.push(Node {
            at,
            depth: open.len() - 1,
            // Its name may come after its children.
            function: FunctionId(0),
            figures: <[Figure; 2]>::default(),
        });
        Ok(())
    }

    /// Closes a frame, below `around` unless it is the root.
    fn close(
        &mut self,
        frame: &Open,
        around: Option<&mut Open>,
        sink: &mut dyn Sink,
    ) -> Result<(), ImportError> {
        for name in ["function", "time"] {
            if !frame.seen.has(OF_FRAME, name) {
                return Err(ImportError::malformed(
                    frame.at,
                    format!("a frame with `{name}`"),
                    "one without",
                ));
            }
        }
        // Nothing was opened after a frame without children.
        // A `[self]` of another shape is written by no pyinstrument, and stays a frame (case
        // `pyinstrument_json/only-self`).
        let is_leaf = frame.node + 1 == self.nodes.len();
        let is_self = is_leaf && around.is_some() && frame.function == b"[self]";
        let is_outermost = around.is_none();
        for (figure, above) in frame
            .figures
            .iter()
            .zip(around.into_iter().flat_map(|around| &mut around.figures))
        {
            if let Some(cumulative) = figure.cumulative {
                let sum = if is_self {
                    &mut above.own
                } else {
                    &mut above.callees
                };
                *sum += cumulative;
                // Each figure of the file is rounded by itself: the more are added up, the more the
                // sum may be off.
                above.parts = above.parts.saturating_add(1);
            }
        }
        if is_self {
            // It is a leaf, and so the last node.
            self.nodes.pop();
            return Ok(());
        }
        if frame.figures.iter().any(Figure::has_too_much_self) {
            self.too_much_self
                .add_with(frame.at, || quote(&frame.function));
        }
        if let Some(node) = self.nodes.get_mut(frame.node) {
            node.function = frame.say(is_outermost, sink);
            node.figures = frame.figures;
        }
        Ok(())
    }

    /// Closes the frames around a fault with the time of their whole children, and returns the
    /// number of these frames.
    fn close_unfinished(&mut self, sink: &mut dyn Sink) -> Result<u64, ImportError> {
        let mut open = std::mem::take(&mut self.unfinished);
        let mut count = 0;
        while let Some(mut frame) = open.pop() {
            for figure in &mut frame.figures {
                figure.cumulative = (figure.parts > 0).then_some(figure.callees + figure.own);
            }
            if frame
                .figures
                .iter()
                .all(|figure| figure.cumulative.is_none())
            {
                self.nodes.truncate(frame.node);
                continue;
            }
            if frame.function.is_empty() {
                frame.function = MISSING_FRAME.into();
            }
            frame.seen = Seen(u32::MAX);
            self.close(&frame, open.last_mut(), sink)?;
            count += 1;
        }
        Ok(count)
    }

    fn has_time(&self) -> bool {
        let root = self.nodes.first();
        root.is_some_and(|root| {
            root.figures
                .iter()
                .any(|figure| figure.cumulative > Some(0.0))
        })
    }

    /// Passes over a member that is not known.
    fn skip(
        &mut self,
        json: &mut Reader<'_, '_>,
        at: Position,
        name: &[u8],
    ) -> Result<(), ImportError> {
        self.unknown.add_with(at, || quote(name));
        json.skip()
    }

    fn has_awaited(&self) -> bool {
        // pyinstrument writes 0 where it does not know what was awaited: only a time says that it
        // knows (case `pyinstrument_json/await`).
        let awaited = |node: &Node| node.figures[1].cumulative.is_some_and(|time| time > 0.0);
        self.nodes.iter().any(awaited)
    }

    /// Notes where the root is not all that was recorded.
    fn compare(&self, at: Position, seconds: &str, duration: f64, sink: &mut dyn Sink) {
        let root = self
            .nodes
            .first()
            .and_then(|root| root.figures[0].cumulative);
        // The frames that start the program are always cut off, so that a small difference means
        // nothing.
        if let Some(root) = root
            && (duration - root).abs() > PART * duration
        {
            let message = format!(
                "`duration` is {seconds} s, but the `time` of the root is {} s: a part of the recording is missing \
                 in the tree",
                root / 1e9
            );
            sink.note(Note {
                severity: Severity::Warning,
                position: Some(at),
                message: &message,
            });
        }
    }

    /// Tells all of it.
    fn tell(&self, sink: &mut dyn Sink, metrics: &[Option<MetricId>; 2]) {
        let mut open = 0;
        for node in &self.nodes {
            sink.at(node.at);
            // Nodes are in pre-order: one at this depth ends all that are open from it on.
            for _ in node.depth..open {
                sink.leave();
            }
            sink.enter(Frame::function(node.function), None);
            open = node.depth + 1;
            for (metric, figure) in metrics.iter().zip(&node.figures) {
                if let (Some(metric), Some(cumulative)) = (metric, figure.cumulative) {
                    sink.cost(*metric, Cost::Cumulative(cumulative));
                }
            }
        }
        for _ in 0..open {
            sink.leave();
        }
    }

    fn emit_notes(&self, sink: &mut dyn Sink) {
        self.too_much_self
            .note_with(sink, Severity::Warning, |count, first| {
                format!(
                    "{} less than the callees and `[self]` together (first: {first}): the exclusive cost is the \
                     difference, not `[self]`",
                    if count == 1 { "1 frame costs".to_owned() } else { format!("{count} frames cost") }
                )
            });
        self.unknown
            .note_with(sink, Severity::Info, |count, first| {
                format!("{} skipped (first: {first})", many(count, "member"))
            });
    }
}

impl Open {
    /// Says which function it is.
    fn say(&self, is_outermost: bool, sink: &mut dyn Sink) -> FunctionId {
        let name = escape::text(&self.function);
        // No place: up to version 4.1 such frames have the file and a line of their callers (case
        // `pyinstrument_json/old`).
        if let [b'[', .., b']'] = self.function.as_slice() {
            let is_root = is_outermost && name == "[root]";
            return sink.function(FunctionDef {
                kind: if is_root { Kind::Root } else { Kind::Pseudo },
                ..FunctionDef::named(&name)
            });
        }
        let of_class = format!("{}.{name}", escape::text(&self.class));
        sink.function(FunctionDef {
            file: &escape::text(&self.file),
            first_line: self.first_line,
            ..FunctionDef::named(if self.class.is_empty() {
                &name
            } else {
                &of_class
            })
        })
    }
}
