//! Profiles of V8: functions, a tree that is emitted when all of it is known, and the time of samples.

use hashbrown::HashMap;

use crate::base::error::{ImportError, Position, quote};
use crate::events::{Cost, Frame, FunctionDef, FunctionId, Kind, MetricId, Severity, Sink};
use crate::formats::common::counted::{Counted, many};
use crate::formats::common::json::{Reader, Within};
use crate::text::escape;

/// The function of a node of old profiles, member by member.
#[derive(Default)]
pub(in crate::formats) struct OldFrame {
    name: Vec<u8>,
    url: Vec<u8>,
    line: u32,
    column: u32,
}

impl OldFrame {
    /// Takes a member of a node of old profiles, which describes its function. Returns false if it is
    /// another one.
    pub(in crate::formats) fn read_member(
        &mut self,
        json: &mut Reader<'_, '_>,
        name: &[u8],
    ) -> Result<bool, ImportError> {
        match name {
            b"functionName" => json.text(&mut self.name)?,
            b"url" => json.text(&mut self.url)?,
            // Lines and columns of old profiles count from 1.
            b"lineNumber" => self.line = from_one(json, "a line number")?.saturating_sub(1),
            b"columnNumber" => self.column = from_one(json, "a column number")?.saturating_sub(1),
            b"scriptId" => json.skip()?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Reads functions, and counts unknown members of objects.
#[derive(Default)]
pub(in crate::formats) struct CallFrames {
    name: Vec<u8>,
    url: Vec<u8>,
    member: Vec<u8>,
    unknown: Counted,
}

impl CallFrames {
    /// Passes over a member that is not known.
    pub(in crate::formats) fn skip(
        &mut self,
        json: &mut Reader<'_, '_>,
        at: Position,
        name: &[u8],
    ) -> Result<(), ImportError> {
        self.unknown.add_with(at, || quote(name));
        json.skip()
    }

    /// A function: lines and columns count from 0 in the file, -1 is unknown.
    pub(in crate::formats) fn read(
        &mut self,
        json: &mut Reader<'_, '_>,
        sink: &mut dyn Sink,
    ) -> Result<FunctionId, ImportError> {
        self.name.clear();
        self.url.clear();
        let (mut line, mut column) = (0, 0);
        let mut within = Within::default();
        let mut member = std::mem::take(&mut self.member);
        while let Some(at) = json.member(&mut within, &mut member)? {
            match member.as_slice() {
                b"functionName" => json.text(&mut self.name)?,
                b"url" => json.text(&mut self.url)?,
                b"lineNumber" => line = from_one(json, "a line number of at least -1")?,
                b"columnNumber" => column = from_one(json, "a column number of at least -1")?,
                b"scriptId" | b"codeType" => json.skip()?,
                _ => self.skip(json, at, &member)?,
            }
        }
        self.member = member;
        Ok(self.function(json, sink, line, column))
    }

    /// The function of the name and file that were read last; lines and columns count from 1.
    fn function(
        &mut self,
        json: &Reader<'_, '_>,
        sink: &mut dyn Sink,
        line: u32,
        column: u32,
    ) -> FunctionId {
        // V8's own entries have a name in parentheses and no file.
        let kind = match self.name.as_slice() {
            b"(root)" => Kind::Root,
            [b'(', .., b')'] if self.url.is_empty() => Kind::Pseudo,
            _ => Kind::Function,
        };
        let name = escape::text(&self.name);
        let name = if name.is_empty() {
            "(anonymous)"
        } else {
            name.as_ref()
        };
        let file = &escape::text(&self.url);
        // Without a line, a column tells nothing.
        let first_col = if line == 0 { 0 } else { column };
        sink.at(json.record_start());
        sink.function(FunctionDef {
            kind,
            file,
            first_line: line,
            first_col,
            ..FunctionDef::named(name)
        })
    }

    /// The function of a node of old profiles.
    pub(in crate::formats) fn old_function(
        &mut self,
        json: &Reader<'_, '_>,
        frame: OldFrame,
        sink: &mut dyn Sink,
    ) -> FunctionId {
        (self.name, self.url) = (frame.name, frame.url);
        self.function(json, sink, frame.line, frame.column)
    }

    pub(in crate::formats) fn emit_notes(&self, sink: &mut dyn Sink) {
        self.unknown
            .note_with(sink, Severity::Info, |count, first| {
                format!("{} skipped (first: {first})", many(count, "member"))
            });
    }
}

/// A number that counts from 0, as one that counts from 1; 0 if it is unknown.
fn from_one(json: &mut Reader<'_, '_>, what: &str) -> Result<u32, ImportError> {
    let at = json.place()?;
    let number = json.integer(what)?;
    // The protocol counts from 0 and says -1 for unknown; here lines count from 1, and 0 is
    // unknown.
    let found = number
        .checked_add(1)
        .and_then(|number| u32::try_from(number).ok());
    found.ok_or_else(|| ImportError::malformed(at, what, number.to_string()))
}

/// No node.
const NONE: u32 = u32::MAX;

/// A tree whose nodes come in any order.
#[derive(Default)]
pub(in crate::formats) struct Tree {
    nodes: Vec<Node>,
    by_id: HashMap<u32, u32>,
    /// Samples of a line of a node, both as they come.
    lines: Vec<(u32, u32, f64)>,
}

struct Node {
    at: Position,
    function: FunctionId,
    parent: u32,
    first_child: u32,
    last_child: u32,
    next_sibling: u32,
    /// By metric.
    costs: [f64; 2],
}

impl Tree {
    /// Adds a node that hangs nowhere yet; says its number.
    pub(in crate::formats) fn add(
        &mut self,
        at: Position,
        function: FunctionId,
    ) -> Result<u32, ImportError> {
        let number = u32::try_from(self.nodes.len())
            .ok()
            .filter(|number| *number < NONE)
            .ok_or_else(|| {
                let limit = format!("{NONE} nodes (limit: nodes)");
                ImportError::Limit {
                    position: at,
                    limit,
                }
            })?;
        let (parent, first_child, last_child, next_sibling) = (NONE, NONE, NONE, NONE);
        self.nodes.push(Node {
            at,
            function,
            parent,
            first_child,
            last_child,
            next_sibling,
            costs: [0.0; 2],
        });
        Ok(number)
    }

    /// Gives a node its id.
    pub(in crate::formats) fn name(&mut self, node: u32, id: u32) -> Result<(), ImportError> {
        match (self.by_id.insert(id, node), self.nodes.get(node as usize)) {
            (Some(_), Some(node)) => Err(ImportError::malformed(
                node.at,
                "a unique `id`",
                id.to_string(),
            )),
            _ => Ok(()),
        }
    }

    /// The node of an id.
    pub(in crate::formats) fn of_id(&self, id: u32) -> Option<u32> {
        self.by_id.get(&id).copied()
    }

    /// Sets the function of a node.
    pub(in crate::formats) fn set_function(&mut self, node: u32, function: FunctionId) {
        if let Some(node) = self.nodes.get_mut(node as usize) {
            node.function = function;
        }
    }

    /// Makes a node the last child of another one.
    pub(in crate::formats) fn link(&mut self, parent: u32, child: u32) -> Result<(), ImportError> {
        let Some(node) = self.nodes.get_mut(child as usize) else {
            return Ok(());
        };
        // The list of children and the id of the parent may say the same.
        if node.parent == parent {
            return Ok(());
        }
        if node.parent != NONE {
            return Err(ImportError::malformed(
                node.at,
                "a node with one parent",
                "one with two",
            ));
        }
        node.parent = parent;
        let Some(above) = self.nodes.get_mut(parent as usize) else {
            return Ok(());
        };
        let last = std::mem::replace(&mut above.last_child, child);
        if last == NONE {
            above.first_child = child;
        } else if let Some(last) = self.nodes.get_mut(last as usize) {
            last.next_sibling = child;
        }
        Ok(())
    }

    /// Adds to the node's own cost.
    pub(in crate::formats) fn cost(&mut self, node: u32, metric: usize, cost: f64) {
        if let Some(sum) = self
            .nodes
            .get_mut(node as usize)
            .and_then(|node| node.costs.get_mut(metric))
        {
            *sum += cost;
        }
    }

    /// Adds samples of a line. All lines of a node come one after the other.
    pub(in crate::formats) fn line(&mut self, node: u32, line: u32, samples: f64) {
        self.lines.push((node, line, samples));
    }

    /// Emits the tree; a line's part of the second metric is that of its samples.
    pub(in crate::formats) fn emit(
        mut self,
        sink: &mut dyn Sink,
        metrics: &[Option<MetricId>; 2],
    ) -> Result<(), ImportError> {
        // By node, so that `enter` finds those of one in two searches.
        self.lines.sort_by_key(|(node, line, _)| (*node, *line));
        let mut emitted = 0;
        for root in 0..self.nodes.len() {
            let Some(node) = self.nodes.get(root).filter(|node| node.parent == NONE) else {
                continue;
            };
            let mut node = node;
            // Links instead of recursion: files have trees of any depth.
            let mut open = Vec::new();
            loop {
                sink.at(node.at);
                emitted += 1;
                let number = open
                    .last()
                    .map_or(root, |(number, _): &(u32, &Node)| *number as usize);
                self.enter(sink, number, node, metrics);
                // Down if there is something below, else to what comes next.
                let mut next = node.first_child;
                while next == NONE {
                    sink.leave();
                    let Some((_, closed)) = open.pop() else { break };
                    next = closed.next_sibling;
                }
                let Some(below) = self.nodes.get(next as usize) else {
                    break;
                };
                open.push((next, below));
                node = below;
            }
        }
        if emitted == self.nodes.len() {
            return Ok(());
        }
        // What hangs below no root hangs below itself.
        let at = self.in_a_circle().map_or(
            Position {
                byte: 0,
                line: None,
            },
            |node| node.at,
        );
        Err(ImportError::malformed(
            at,
            "a node below a root",
            "one that is its own ancestor",
        ))
    }

    fn enter(
        &self,
        sink: &mut dyn Sink,
        number: usize,
        node: &Node,
        metrics: &[Option<MetricId>; 2],
    ) {
        sink.enter(Frame::function(node.function), None);
        for (metric, cost) in metrics.iter().zip(node.costs) {
            if let Some(metric) = metric
                // A metric without a cost costs the node 0, says the sink.
                && cost != 0.0
            {
                sink.cost(*metric, Cost::Exclusive(cost));
            }
        }
        let from = self
            .lines
            .partition_point(|(node, _, _)| (*node as usize) < number);
        let here = self.lines.get(from..).unwrap_or_default();
        let here = here
            .get(..here.partition_point(|(node, _, _)| *node as usize == number))
            .unwrap_or_default();
        let all: f64 = here.iter().map(|(_, _, samples)| samples).sum();
        let [_, cost_of_node] = node.costs;
        for (_, line, samples) in here {
            sink.enter(Frame::line(node.function, *line), None);
            // The file has samples of lines; other costs are shared out by them.
            let share = if all == 0.0 {
                0.0
            } else {
                cost_of_node * samples / all
            };
            for (metric, cost) in metrics.iter().zip([*samples, share]) {
                if let Some(metric) = metric {
                    // V8 does not say what a line called.
                    sink.cost(*metric, Cost::ExclusiveOnly(cost));
                }
            }
            sink.leave();
        }
    }

    /// The first node from which the way up has no end.
    fn in_a_circle(&self) -> Option<&Node> {
        // Nodes whose way up ends are remembered: otherwise a deep tree would be walked up from
        // each of its nodes.
        let mut ends = vec![false; self.nodes.len()];
        let mut way = Vec::new();
        for start in 0..self.nodes.len() {
            let mut at = start;
            let mut steps = 0;
            way.clear();
            while let Some(node) = self.nodes.get(at).filter(|_| ends.get(at) == Some(&false)) {
                steps += 1;
                if steps > self.nodes.len() {
                    return self.nodes.get(start);
                }
                way.push(at);
                at = node.parent as usize;
            }
            for at in &way {
                if let Some(end) = ends.get_mut(*at) {
                    *end = true;
                }
            }
        }
        None
    }
}

/// Reads `positionTicks`: lines, and the number of samples of each.
pub(in crate::formats) fn positions(
    json: &mut Reader<'_, '_>,
    frames: &mut CallFrames,
    ticks: &mut Vec<(u32, f64)>,
) -> Result<(), ImportError> {
    let mut within = Within::default();
    let mut name = Vec::new();
    while let Some(at) = json.item(&mut within)? {
        let (mut line, mut count) = (None, None);
        let mut within = Within::default();
        while let Some(at) = json.member(&mut within, &mut name)? {
            match name.as_slice() {
                b"line" => line = Some(json.index("a line number")?),
                b"ticks" => count = Some(json.real("a count in `ticks`")?),
                _ => frames.skip(json, at, &name)?,
            }
        }
        let (Some(line), Some(count)) = (line, count) else {
            return Err(ImportError::malformed(
                at,
                "a position with `line` and `ticks`",
                "one without",
            ));
        };
        ticks.push((line, count));
    }
    Ok(())
}

/// Calls a function with the node and the duration of each sample, in the unit of the deltas. Returns how many samples
/// come before the sample that the file has in front of them.
///
/// A delta is the time before its sample. So each sample lasts for the delta of the next one, and the first delta
/// belongs to none (case `cpuprofile/minimal`). The last sample lasts until the end of the profile, or 0 where the end is
/// unknown.
pub(in crate::formats) fn sample_durations(
    nodes: &[u32],
    deltas: &[f64],
    (start, end): (Option<f64>, Option<f64>),
    mut each: impl FnMut(u32, f64),
) -> u64 {
    let until_end = |last: f64| {
        end.zip(start)
            // The end may be before the last sample (case `cpuprofile/end-before-the-last-sample`).
            .map_or(0.0, |(end, start)| (end - start - last).max(0.0))
    };
    // Sorting needs the times as sums, whose differences are rounded: where time goes forward, the deltas are taken
    // as they are.
    if deltas.iter().all(|delta| *delta >= 0.0) {
        let next = deltas.iter().skip(1).copied();
        let durations = next.chain([until_end(deltas.iter().sum())]);
        for (node, duration) in nodes.iter().zip(durations) {
            each(*node, duration);
        }
        return 0;
    }
    let mut timed: Vec<(f64, u32)> = Vec::with_capacity(nodes.len());
    let (mut now, mut backwards) = (0.0, 0);
    for (node, delta) in nodes.iter().zip(deltas) {
        now += delta;
        timed.push((now, *node));
        backwards += u64::from(*delta < 0.0);
    }
    // The sort is stable: samples of one time stay in the order of the file.
    timed.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    for two in timed.windows(2) {
        if let [(now, node), (next, _)] = two {
            each(*node, next - now);
        }
    }
    if let Some((last, node)) = timed.last() {
        each(*node, until_end(*last));
    }
    backwards
}
