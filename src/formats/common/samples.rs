//! The tree of calls as samples: for each place that cost something itself, its stack and its cost
//! in whole numbers.

#![expect(
    clippy::indexing_slicing,
    reason = "numbers of functions and metrics are the writer's own"
)]

use std::hash::Hash;

use hashbrown::{HashMap, HashSet};

use super::stacks::Stacks;
use super::written::{Parts, lose_total, signed};
use crate::formats::export::error::ExportError;
use crate::formats::export::losses::{CALLS, LINE_ZERO, Loss, Losses, SAME_NAME};
use crate::formats::export::profile::Profile;
use crate::store::{FunctionRow, LinePlace, MetricInfo, NodeRow};

pub(in crate::formats) const LINE_FILES: Loss = Loss {
    name: "line_files",
    what: "files of lines if they differ from the file of the function",
    of: "nodes",
};

/// A frame: a function, or a line of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::formats) struct FrameKey {
    /// Its place in [`Profile::functions`].
    pub(in crate::formats) function: usize,
    /// The line; 0 for the function as a whole.
    pub(in crate::formats) line: i64,
    /// Its column; 0 if unknown.
    pub(in crate::formats) col: i64,
}

/// What one place in the tree cost itself.
pub(in crate::formats) struct Sample<'s> {
    /// Threads and the like around all functions: their places in [`Profile::functions`], outermost
    /// first.
    pub(in crate::formats) around: &'s [usize],
    /// The numbers of their frames.
    pub(in crate::formats) around_frames: &'s [usize],
    /// Numbers of frames, outermost first. A line is in the place of its function; a thread is
    /// a frame only where it cost something itself or holds nothing.
    pub(in crate::formats) stack: &'s [usize],
    /// How many of them are, from the outermost on, those of the last sample.
    pub(in crate::formats) kept: usize,
    /// Cost in each metric.
    pub(in crate::formats) values: &'s [i64],
    /// Nothing was called there: no other sample has this stack within its own.
    pub(in crate::formats) is_leaf: bool,
}

/// The frames that there are, and what has been met of the run.
pub(in crate::formats) struct Frames {
    pub(in crate::formats) places: Vec<FrameKey>,
    /// Which functions have a place in the tree.
    pub(in crate::formats) placed: Vec<bool>,
    /// Which functions are around all others wherever they are.
    pub(in crate::formats) is_around: Vec<bool>,
    /// Which functions are frames, although they are around all others.
    pub(in crate::formats) is_framed: Vec<bool>,
    /// By function: the first one with its identity.
    first: Vec<usize>,
    /// By function: the first one that readers cannot tell from it, as long as what holds others
    /// is no frame.
    alike: Vec<usize>,
    /// By function: its number as a whole, if it has one.
    whole: Vec<Option<usize>>,
    numbers: HashMap<FrameKey, usize>,
}

impl Frames {
    /// Has no frames yet. Readers cannot tell functions of one `identity` apart.
    pub(in crate::formats) fn new<'p, I: Eq + Hash>(
        profile: &'p Profile<'_>,
        identity: impl Fn(&'p FunctionRow) -> I,
    ) -> Self {
        let count = profile.functions.len();
        let (mut known, mut held) = (HashMap::new(), HashMap::new());
        let functions = || profile.functions.iter().enumerate();
        let first: Vec<usize> = functions()
            .map(|(at, function)| *known.entry(identity(function)).or_insert(at))
            .collect();
        let holds = |function: &FunctionRow| function.kind.is_container().then_some(function.kind);
        let alike = functions()
            .map(|(at, function)| *held.entry((first[at], holds(function))).or_insert(at));
        Self {
            alike: alike.collect(),
            first,
            places: Vec::new(),
            placed: vec![false; count],
            is_around: vec![true; count],
            is_framed: vec![false; count],
            whole: vec![None; count],
            numbers: HashMap::new(),
        }
    }

    /// Makes frames of all functions, for formats that write threads and the like in the same way as other functions.
    pub(in crate::formats) fn framed(mut self) -> Self {
        self.alike.clone_from(&self.first);
        self.is_framed.fill(true);
        self
    }

    /// Counts functions that readers take for another one.
    pub(in crate::formats) fn lose_same_names(&self, profile: &Profile<'_>, losses: &mut Losses) {
        let mut known = HashSet::new();
        let functions = profile.functions.iter().enumerate();
        let mut is_other = |(at, function): &(usize, &FunctionRow)| {
            let holds = function.kind.is_container() && !self.is_framed[*at];
            !known.insert((self.first[*at], holds.then_some(function.kind)))
        };
        losses.add(
            SAME_NAME,
            functions.filter(|one| is_other(one)).count() as u64,
        );
    }

    /// The number of a frame.
    fn number(&mut self, place: FrameKey) -> usize {
        let next = self.places.len();
        let number = if (place.line, place.col) == (0, 0) {
            *self.whole[place.function].get_or_insert(next)
        } else {
            *self.numbers.entry(place).or_insert(next)
        };
        if number == next {
            self.places.push(place);
        }
        number
    }
}

/// Calls a function for each sample, and the frames so far. Places that cost nothing are samples if
/// they called nothing.
pub(in crate::formats) fn each_sample(
    profile: &Profile<'_>,
    metrics: &[MetricInfo],
    frames: &mut Frames,
    losses: &mut Losses,
    each: impl FnMut(&Sample<'_>, &[FrameKey]) -> Result<(), ExportError>,
) -> Result<(), ExportError> {
    let ids: Vec<i64> = metrics.iter().map(|metric| metric.metric_id).collect();
    let mut walk = Walk {
        profile,
        frames,
        stacks: Stacks::default(),
        open: Vec::new(),
        stack: Vec::new(),
        kept: 0,
        around: Vec::new(),
        around_frames: Vec::new(),
        own: Vec::new(),
        values: Vec::new(),
        totals: vec![0.0; metrics.len()],
        each,
    };
    profile
        .database
        .each_node_in(profile.run.run_id, &ids, |rows| walk.node(rows, losses))?;
    walk.close(0, losses)?;
    for (metric, total) in metrics.iter().zip(&walk.totals) {
        lose_total(metric, *total, losses);
    }
    Ok(())
}

struct Walk<'p, 'f, F> {
    profile: &'p Profile<'p>,
    frames: &'f mut Frames,
    stacks: Stacks<FrameKey>,
    open: Vec<Open>,
    stack: Vec<usize>,
    /// Frames that have stayed since the last sample.
    kept: usize,
    around: Vec<usize>,
    around_frames: Vec<usize>,
    /// For each open node and metric: its own cost, and what lines have had of it.
    own: Vec<(i64, Parts)>,
    /// The values of the last sample, whose memory is used again.
    values: Vec<i64>,
    /// What all places cost themselves, by metric.
    totals: Vec<f64>,
    each: F,
}

/// An open node.
struct Open {
    frame: usize,
    /// It is around all functions, and no frame.
    is_around: bool,
    /// The frame whose place its own has taken: lines take that of their function.
    instead: Option<usize>,
    is_leaf: bool,
}

impl<F: FnMut(&Sample<'_>, &[FrameKey]) -> Result<(), ExportError>> Walk<'_, '_, F> {
    fn node(&mut self, rows: &[NodeRow], losses: &mut Losses) -> Result<(), ExportError> {
        let NodeRow {
            depth,
            function_id,
            line,
            calls,
            ..
        } = &rows[0];
        self.close(*depth, losses)?;
        let function = self.profile.function(*function_id)?;
        losses.add(CALLS, calls.is_some().into());
        let mut place = FrameKey {
            function,
            line: 0,
            col: 0,
        };
        if let Some(LinePlace { file, line, col }) = line {
            losses.add(LINE_FILES, (!file.is_empty()).into());
            losses.add(LINE_ZERO, (*line == 0).into());
            (place.line, place.col) = (*line, *col);
        }
        let frame = self.frames.number(place);
        let alike = FrameKey {
            function: self.frames.alike[function],
            ..place
        };
        self.stacks.enter_node(rows, alike, losses);
        let holds = self.profile.functions[function].kind.is_container();
        let is_around = holds && line.is_none() && self.stack.is_empty();
        self.frames.placed[function] = true;
        self.frames.is_around[function] &= is_around;
        // Lines break down the node above.
        // `own` has as many entries for each open node as there are metrics, so that the last ones
        // are those of the node above.
        let above = self.own.len().saturating_sub(rows.len());
        for (at, row) in rows.iter().enumerate() {
            let own = if let (Some(_), Some((_, parts))) = (line, self.own.get_mut(above + at)) {
                parts.part(row.exclusive, losses)
            } else {
                // Of functions only: what lines cost is in it.
                self.totals[at] += row.exclusive;
                signed(row.exclusive, losses)
            };
            self.own.push((own, Parts::default()));
        }
        if let Some(above) = self.open.last_mut() {
            above.is_leaf = false;
        }
        let mut instead = None;
        if is_around {
            self.around.push(function);
            self.around_frames.push(frame);
        } else {
            instead = if line.is_some() {
                self.stack.pop()
            } else {
                None
            };
            // A frame that has gone once is not the old one again, even if an equal one comes in
            // its place, so that this number only falls until the next sample.
            self.kept = self.kept.min(self.stack.len());
            self.stack.push(frame);
        }
        self.open.push(Open {
            frame,
            is_around,
            instead,
            is_leaf: true,
        });
        Ok(())
    }

    /// Closes nodes until so many are open, each with its sample.
    fn close(&mut self, depth: usize, losses: &mut Losses) -> Result<(), ExportError> {
        self.stacks.leave(depth, losses);
        while self.open.len() > depth {
            let Some(Open {
                frame,
                is_around,
                instead,
                is_leaf,
            }) = self.open.pop()
            else {
                break;
            };
            // What has just been closed was the last open node, and its entries are the last ones.
            let first = self.open.len() * self.totals.len();
            self.values.clear();
            let own = self.own.drain(first..);
            self.values
                .extend(own.map(|(own, mut parts)| parts.left_of(own)));
            // A place that cost nothing and called something is named by the stacks of what it
            // called. A leaf without cost would be lost.
            if is_leaf || self.values.iter().any(|value| *value != 0) {
                let (stack, kept) = if is_around {
                    (&[frame][..], 0)
                } else {
                    (self.stack.as_slice(), self.kept)
                };
                if let (true, Some(function)) = (is_around, self.around.last()) {
                    self.frames.is_framed[*function] = true;
                }
                let (around, around_frames) = (&self.around, &self.around_frames);
                (self.each)(
                    &Sample {
                        around,
                        around_frames,
                        stack,
                        kept,
                        values: &self.values,
                        is_leaf,
                    },
                    &self.frames.places,
                )?;
                self.kept = if is_around { 0 } else { stack.len() };
            }
            if is_around {
                self.around.pop();
                self.around_frames.pop();
            } else {
                self.stack.pop();
                self.kept = self.kept.min(self.stack.len());
                self.stack.extend(instead);
            }
        }
        Ok(())
    }
}
