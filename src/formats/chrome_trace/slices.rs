//! Slices of a thread or an asynchronous track: beginnings joined with their ends, and slices put into each other.

use std::cmp::Reverse;

use hashbrown::HashMap;

use super::numbers::nanoseconds;
use crate::base::error::Position;
use crate::events::{FunctionId, Severity, Sink};
use crate::formats::common::call_tree::{CallTree, Location, NodeId};
use crate::formats::common::counted::{Counted, many};

/// A position in the file that takes 12 bytes, so that a slice has 40.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(Rust, packed(4))]
pub(super) struct PackedPosition {
    byte: u64,
    /// The largest number means all that do not fit.
    line: u32,
}

impl PackedPosition {
    pub(super) fn new(position: Position) -> Self {
        let line = position
            .line
            .and_then(|line| u32::try_from(line).ok())
            .unwrap_or(u32::MAX);
        Self {
            byte: position.byte,
            line,
        }
    }

    pub(super) fn position(self) -> Position {
        Position {
            byte: self.byte,
            line: (self.line < u32::MAX).then_some(u64::from(self.line)),
        }
    }
}

/// A beginning or an end.
pub(super) struct Mark {
    pub(super) time: i64,
    pub(super) at: PackedPosition,
    /// The number of its name; ends may have none.
    pub(super) name: Option<u32>,
    /// `None` for an end.
    pub(super) function: Option<FunctionId>,
}

/// A slice: its times in nanoseconds, its function, and its position in the file.
pub(super) struct Slice {
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) at: PackedPosition,
    /// Position of the end in the file, in bytes; 0 if the slice is one event.
    pub(super) end_byte: u64,
    pub(super) function: FunctionId,
}

impl Slice {
    fn is_complete_event(&self) -> bool {
        self.end_byte == 0
    }

    /// Returns whether this slice is over when another one starts, which does not start earlier.
    fn is_before(&self, other: &Self) -> bool {
        // A slice that lasts longer than this one has no time within it, whatever the order in the file (case
        // `chrome_trace/begins-where-another-ends`).
        let lasts_longer = other.end > self.end;
        let ends_earlier_in_file = self.end_byte < other.at.byte;
        self.end < other.start || self.end == other.start && (lasts_longer || ends_earlier_in_file)
    }
}

/// The size that the page of the format states.
const _: () = assert!(size_of::<Slice>() == 40, "all slices are held");

/// The track of slices.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lane {
    /// Slices that begin at the same time are in the order of the file, except that of two complete events the longer
    /// one is outside: the order in which threads write them.
    Thread,
    /// The longer of two slices that begin at the same time is outside: clang writes pairs of asynchronous events when
    /// they end, inner ones first.
    Track,
}

/// Pairs and nests slices, and counts irregularities for the notes.
pub(super) struct Nesting {
    lane: Lane,
    not_closed: Counted,
    not_opened: Counted,
    cut: Counted,
}

impl Nesting {
    pub(super) fn new(lane: Lane) -> Self {
        Self {
            lane,
            not_closed: Counted::default(),
            not_opened: Counted::default(),
            cut: Counted::default(),
        }
    }

    /// Joins beginnings and ends. Returns all slices of a thread or track in the order in which they begin, outer
    /// ones first.
    pub(super) fn pair(&mut self, mut marks: Vec<Mark>, mut slices: Vec<Slice>) -> Vec<Slice> {
        // A slice that was never closed lasts until the last moment.
        let times = marks
            .iter()
            .map(|mark| mark.time)
            .chain(slices.iter().map(|slice| slice.end));
        let last = times.max().unwrap_or(0);
        // Events may come in any order (case `chrome_trace/any-order`); at one time, their positions in the file
        // decide (case `chrome_trace/same-start`).
        marks.sort_by_key(|mark| (mark.time, mark.at));
        let mut open = OpenSlices::default();
        for Mark {
            time,
            at,
            name,
            function,
        } in marks
        {
            if let Some(function) = function {
                open.begin(
                    Slice {
                        start: time,
                        end: last,
                        at,
                        // After everything in the file, so that a slice that starts at the last moment is within this
                        // one.
                        end_byte: u64::MAX,
                        function,
                    },
                    name,
                );
            } else if let Some(slice) = open.end(name) {
                slices.push(Slice {
                    end: time,
                    end_byte: at.byte,
                    ..slice
                });
            } else {
                self.not_opened.add(at.position());
            }
        }
        for slice in open.rest() {
            self.not_closed.add(slice.at.position());
            slices.push(slice);
        }
        slices.sort_by_key(|slice| (slice.start, slice.at));
        // Complete events are written when they end, inner ones first.
        let alike = |one: &Slice, other: &Slice| {
            let both_complete = one.is_complete_event() && other.is_complete_event();
            one.start == other.start && (both_complete || self.lane == Lane::Track)
        };
        for group in slices.chunk_by_mut(alike) {
            group.sort_by_key(|slice| (Reverse(slice.end), slice.at));
        }
        slices
    }

    /// Puts slices into each other below a node, and adds their calls and times to the tree. Returns the time of the
    /// outermost slices.
    pub(super) fn stack(
        &mut self,
        tree: &mut CallTree<[f64; 1]>,
        thread: NodeId,
        slices: Vec<Slice>,
    ) -> f64 {
        let mut total = 0.0;
        let mut open: Vec<(Slice, NodeId)> = Vec::new();
        for mut slice in slices {
            while open
                .pop_if(|(innermost, _)| innermost.is_before(&slice))
                .is_some()
            {}
            // A slice that is still open contains the start of this slice, because slices come in the order of their
            // starts, outer ones first.
            let above = open.last().map_or(thread, |(_, node)| *node);
            let node = tree.below(above, Location::of(slice.function));
            if let Some((innermost, _)) = open.last()
                && slice.end > innermost.end
            {
                // Beginning and duration may both have been rounded.
                if slice.end > innermost.end.saturating_add(1) {
                    self.cut.add(slice.at.position());
                }
                // Its end in the file becomes that of the slice around, too: a slice that comes after the slice
                // around does not begin within this one.
                (slice.end, slice.end_byte) = (innermost.end, innermost.end_byte);
            }
            tree.call(node);
            // After the cut, so that the slices within do not take more than the one around has.
            let duration = nanoseconds(slice.end.saturating_sub(slice.start));
            tree.cost(node, 0, duration);
            if above == thread {
                total += duration;
            } else {
                tree.cost(above, 0, -duration);
            }
            open.push((slice, node));
        }
        total
    }

    pub(super) fn emit_notes(&self, sink: &mut dyn Sink) {
        let warning = Severity::Warning;
        // Programs end with asynchronous slices open.
        let (of_not_closed, what, lane) = match self.lane {
            Lane::Thread => (warning, "slice", "thread"),
            Lane::Track => (Severity::Info, "asynchronous slice", "track"),
        };
        self.not_closed.note(sink, of_not_closed, |count| {
            format!(
                "{} without an end: ended at the last event of the {lane}",
                many(count, what)
            )
        });
        self.not_opened.note(sink, warning, |count| {
            format!("{} without a beginning skipped", many(count, "end event"))
        });
        self.cut.note(sink, warning, |count| {
            format!(
                "{} longer than the enclosing slice: cut off at its end",
                many(count, "slice")
            )
        });
    }
}

/// Slices of a thread or track that have begun and not ended.
#[derive(Default)]
struct OpenSlices {
    /// In the order in which they began; the last one is open.
    slices: Vec<Option<(Slice, Option<u32>)>>,
    /// Indexes of the open slices of a name: an end may find its beginning far down.
    by_name: HashMap<Option<u32>, Vec<usize>>,
}

impl OpenSlices {
    fn begin(&mut self, slice: Slice, name: Option<u32>) {
        self.by_name
            .entry(name)
            .or_default()
            .push(self.slices.len());
        self.slices.push(Some((slice, name)));
    }

    /// Takes the innermost slice that has this name or none; without a name, the innermost one.
    fn end(&mut self, name: Option<u32>) -> Option<Slice> {
        let last_of = |name| {
            self.by_name
                .get(&name)
                .and_then(|indexes| indexes.last())
                .copied()
        };
        let last = self.slices.len().checked_sub(1);
        let index = if name.is_none() {
            last
        } else {
            last_of(name).max(last_of(None))
        }?;
        let (slice, name) = self.slices.get_mut(index)?.take()?;
        // The taken slice is the innermost one of its name, too.
        self.by_name.get_mut(&name)?.pop();
        // Only ends that cross leave gaps below (case `chrome_trace/ends-crosswise`); the last
        // slice has to be an open one for ends without a name.
        while self.slices.pop_if(|slice| slice.is_none()).is_some() {}
        Some(slice)
    }

    fn rest(self) -> impl Iterator<Item = Slice> {
        self.slices.into_iter().flatten().map(|(slice, _)| slice)
    }
}
