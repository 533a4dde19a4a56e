//! The parts of the call tree that have left memory: whole trees, one after the other in a temporary
//! file. A part has its nodes in pre-order, so that what is below a node follows it, and each says
//! how many bytes that is, so that its next sibling is found without reading them.

use std::ops::Range;

use super::memory::MemoryPart;
use crate::base::interner::Id;
use crate::base::spool::{Segments, SpillResult, cut_short};
use crate::events::FunctionId;
use crate::profile::ids::{CallKey, LineId};

/// Bytes that are read at once: each part has so many in memory.
const WINDOW: u64 = 8 * 1024;

/// Function, line, and in one number the bytes below and whether there are figures.
const HEAD: u64 = 4 + 4 + 8;

/// Bytes of a figure.
const FIGURE: u64 = size_of::<f64>() as u64;

/// Stands for an unknown number of calls, as it does in memory.
const UNKNOWN_CALLS: u64 = u64::MAX;

/// Trees in a file.
#[derive(Default)]
pub(super) struct Parts {
    segments: Segments,
    parts: Vec<Part>,
}

/// One of them.
struct Part {
    /// Its bytes of the file.
    bytes: Range<u64>,
    /// Bytes of the figures of a node: there were as many metrics then.
    figures: u64,
    /// Bytes of the file from `first` on.
    window: Vec<u8>,
    first: u64,
}

/// A node of a part: which one, and where in the file it is.
#[derive(Clone, Copy)]
pub(super) struct PartNode {
    part: u32,
    at: u64,
}

/// What a node of a part says of itself.
struct Head {
    key: CallKey,
    figures: Range<u64>,
    below: Range<u64>,
}

impl Parts {
    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Adds all nodes that are in memory.
    ///
    /// # Errors
    /// When no file can be made, or it takes no more: then there is no such part.
    pub(super) fn add(&mut self, memory: &MemoryPart) -> SpillResult<()> {
        let figures = FIGURE * (1 + memory.metrics() as u64);
        let below = memory.below_each(|at| HEAD + memory.figures(at).map_or(0, |_| figures));
        let bytes = self.segments.add(|segment| {
            for at in memory.pre_order() {
                let (function, line) = memory.key(at);
                let line = line.map_or(0, |line| line.index() + 1);
                let found = memory.figures(at);
                let below = below[at.index()] << 1 | u64::from(found.is_some());
                segment.push(&function.0.to_le_bytes())?;
                segment.push(&u32::try_from(line).unwrap_or(u32::MAX).to_le_bytes())?;
                segment.push(&below.to_le_bytes())?;
                let Some((calls, costs)) = found else {
                    continue;
                };
                segment.push(&calls.get().unwrap_or(UNKNOWN_CALLS).to_le_bytes())?;
                for cost in costs {
                    // As in memory, NaN stands for an unknown cost.
                    segment.push(&cost.get().unwrap_or(f64::NAN).to_le_bytes())?;
                }
            }
            Ok(())
        })?;
        self.parts.push(Part {
            bytes,
            figures,
            window: Vec::new(),
            first: 0,
        });
        Ok(())
    }

    /// Calls a function with each child of the node above all stacks, part after part.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(super) fn each_root(&mut self, mut each: impl FnMut(CallKey, PartNode)) -> SpillResult<()> {
        for part in 0..self.parts.len() {
            let bytes = self.parts[part].bytes.clone();
            self.each_in(part, bytes, &mut each)?;
        }
        Ok(())
    }

    /// Calls a function with each child of a node.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(super) fn each_child(
        &mut self,
        of: PartNode,
        each: impl FnMut(CallKey, PartNode),
    ) -> SpillResult<()> {
        let head = self.head(of)?;
        self.each_in(of.part as usize, head.below, each)
    }

    fn each_in(
        &mut self,
        part: usize,
        bytes: Range<u64>,
        mut each: impl FnMut(CallKey, PartNode),
    ) -> SpillResult<()> {
        let part = u32::try_from(part).expect("fewer than 2^32 parts");
        let mut at = bytes.start;
        while at < bytes.end {
            let node = PartNode { part, at };
            let head = self.head(node)?;
            each(head.key, node);
            at = head.below.end;
        }
        Ok(())
    }

    /// Calls and costs of a node, if samples end there: the first figure is that of the calls, and
    /// `None` one that is unknown.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(super) fn figures(
        &mut self,
        of: PartNode,
    ) -> SpillResult<Option<(Option<u64>, impl Iterator<Item = Option<f64>>)>> {
        let bytes = self.head(of)?.figures;
        let figures = self.read(of.part as usize, bytes)?;
        let (figures, _) = figures.as_chunks::<{ size_of::<f64>() }>();
        let Some((calls, costs)) = figures.split_first() else {
            return Ok(None);
        };
        let calls = u64::from_le_bytes(*calls);
        let costs = costs.iter().map(|cost| {
            let cost = f64::from_le_bytes(*cost);
            (!cost.is_nan()).then_some(cost)
        });
        Ok(Some(((calls != UNKNOWN_CALLS).then_some(calls), costs)))
    }

    fn head(&mut self, PartNode { part, at }: PartNode) -> SpillResult<Head> {
        let part = part as usize;
        let known = self.parts[part].figures;
        let bytes = self.read(part, at..at + HEAD)?;
        let (words, _) = bytes.as_chunks::<4>();
        let &[function, line, low, high] = words else {
            return Err(cut_short());
        };
        let line = u32::from_le_bytes(line) as usize;
        let below = u64::from(u32::from_le_bytes(high)) << 32 | u64::from(u32::from_le_bytes(low));
        let figures = at + HEAD..at + HEAD + (below & 1) * known;
        Ok(Head {
            key: (
                FunctionId(u32::from_le_bytes(function)),
                line.checked_sub(1).map(LineId::new),
            ),
            below: figures.end..figures.end + (below >> 1),
            figures,
        })
    }

    /// These bytes of a part.
    fn read(&mut self, part: usize, bytes: Range<u64>) -> SpillResult<&[u8]> {
        let part = &mut self.parts[part];
        let end = part.first + part.window.len() as u64;
        if bytes.start < part.first || bytes.end > end {
            let length = WINDOW.max(bytes.end - bytes.start);
            let end = part.bytes.end.min(bytes.start + length);
            // Nothing is there if it fails.
            part.window.clear();
            part.first = bytes.start;
            self.segments.read(bytes.start..end, &mut part.window)?;
        }
        let from = usize::try_from(bytes.start - part.first).unwrap_or(usize::MAX);
        let length = usize::try_from(bytes.end - bytes.start).unwrap_or(usize::MAX);
        let found = part
            .window
            .get(from..)
            .and_then(|found| found.get(..length));
        found.ok_or_else(cut_short)
    }
}
