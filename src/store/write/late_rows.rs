//! Late rows: those of nodes that were still open when rows with higher numbers were written
//! (docs/design/0001-late-rows.md). They wait until the end, sorted by an external merge sort: in
//! memory up to a limit, beyond it as sorted runs in a temporary file.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::io;
use std::path::PathBuf;

use super::spill::Spill;
use profdb_sqlite_pages::btree::LateCells;

/// Bytes of late rows that wait in memory.
const IN_MEMORY: usize = 4 << 20;

/// Bytes that are read ahead of all sorted runs together, and at least of each.
const AHEAD: usize = 2 << 20;
const LEAST_AHEAD: usize = 4 << 10;

/// Bytes before the payload of a row in the file: group, number, length.
const HEADER: usize = 8 + 8 + 4;

/// What late rows are ordered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LateKey {
    /// Which tree, or which function.
    pub(super) group: u64,
    /// The node, as the database numbers it.
    pub(super) number: u64,
}

/// Late rows in the order in which they come: a payload for each key.
pub(super) struct LateRows {
    spill: Spill,
    payloads: Vec<u8>,
    waiting: Vec<Waiting>,
    /// Where the sorted runs in the file end.
    ends: Vec<u64>,
}

/// A row in memory.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Waiting {
    key: LateKey,
    start: usize,
    length: u32,
}

impl LateRows {
    /// No row yet. Without a place for a temporary file, all of them wait in memory.
    pub(super) fn beside(place: Option<PathBuf>) -> Self {
        Self {
            spill: Spill::beside(place),
            payloads: Vec::new(),
            waiting: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// Adds a row. No key comes twice.
    pub(super) fn add(&mut self, key: LateKey, payload: &[u8]) -> io::Result<()> {
        let length = u32::try_from(payload.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
        self.waiting.push(Waiting {
            key,
            start: self.payloads.len(),
            length,
        });
        self.payloads.extend_from_slice(payload);
        let bytes = self.payloads.len() + self.waiting.len() * size_of::<Waiting>();
        if bytes >= IN_MEMORY && self.spill.is_possible() {
            let sorted = self.sorted();
            self.spill.append(&sorted)?;
            self.ends.push(self.spill.length());
        }
        Ok(())
    }

    /// The rows in memory as a sorted run, which are no longer waiting.
    fn sorted(&mut self) -> Vec<u8> {
        self.waiting.sort_unstable();
        let mut sorted = Vec::with_capacity(self.payloads.len() + HEADER * self.waiting.len());
        for row in &self.waiting {
            sorted.extend_from_slice(&row.key.group.to_le_bytes());
            sorted.extend_from_slice(&row.key.number.to_le_bytes());
            sorted.extend_from_slice(&row.length.to_le_bytes());
            sorted.extend_from_slice(&self.payloads[row.start..row.start + row.length as usize]);
        }
        self.waiting.clear();
        self.payloads.clear();
        sorted
    }

    /// All rows in the order of their keys. None are left here.
    pub(super) fn into_sorted(mut self) -> io::Result<SortedLateRows> {
        let last = self.sorted();
        // Dropped with `self`, what they held in memory is given back.
        let Self { spill, ends, .. } = self;
        let ahead = (AHEAD / (ends.len() + 1)).max(LEAST_AHEAD);
        let starts = [0].into_iter().chain(ends.iter().copied());
        let mut runs: Vec<SortedRun> = starts
            .zip(ends.iter().copied())
            .map(|(next, end)| SortedRun {
                next,
                end,
                ..SortedRun::default()
            })
            .collect();
        runs.push(SortedRun {
            buffer: last,
            ..SortedRun::default()
        });
        let mut sorted = SortedLateRows {
            spill,
            ahead,
            runs,
            first: BinaryHeap::new(),
        };
        for (at, run) in sorted.runs.iter_mut().enumerate() {
            if let Some(key) = run.key(&sorted.spill, ahead)? {
                sorted.first.push(Reverse((key, at)));
            }
        }
        Ok(sorted)
    }
}

/// Late rows in the order of their keys.
pub(super) struct SortedLateRows {
    spill: Spill,
    ahead: usize,
    runs: Vec<SortedRun>,
    /// The first row of each run that has one, and which run that is.
    first: BinaryHeap<Reverse<(LateKey, usize)>>,
}

/// A sorted run, read piece by piece.
#[derive(Default)]
struct SortedRun {
    buffer: Vec<u8>,
    at: usize,
    /// What of the file has not been read yet.
    next: u64,
    end: u64,
}

impl SortedRun {
    /// Reads on until there are so many bytes; `false` if the run ends before.
    fn has(&mut self, bytes: usize, spill: &Spill, ahead: usize) -> io::Result<bool> {
        if self.buffer.len() - self.at < bytes && self.next < self.end {
            self.buffer.drain(..self.at);
            self.at = 0;
            let left = usize::try_from(self.end - self.next).unwrap_or(usize::MAX);
            let length = ahead.max(bytes).min(left);
            spill.read(self.next, length, &mut self.buffer)?;
            self.next += length as u64;
        }
        Ok(self.buffer.len() - self.at >= bytes)
    }

    /// The key of the next row.
    fn key(&mut self, spill: &Spill, ahead: usize) -> io::Result<Option<LateKey>> {
        if !self.has(HEADER, spill, ahead)? {
            return Ok(None);
        }
        let number = |at: usize| {
            let bytes = self.buffer[self.at + at..].first_chunk();
            u64::from_le_bytes(*bytes.expect("the header is there"))
        };
        Ok(Some(LateKey {
            group: number(0),
            number: number(8),
        }))
    }

    /// Replaces the content of `payload` by that of the next row, whose key has been read.
    fn take(&mut self, payload: &mut Vec<u8>, spill: &Spill, ahead: usize) -> io::Result<()> {
        let length = self.buffer[self.at + 16..].first_chunk();
        let length = u32::from_le_bytes(*length.expect("the header is there")) as usize;
        if !self.has(HEADER + length, spill, ahead)? {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let start = self.at + HEADER;
        payload.clear();
        payload.extend_from_slice(&self.buffer[start..start + length]);
        self.at = start + length;
        Ok(())
    }
}

impl SortedLateRows {
    /// The key of the next row.
    pub(super) fn key(&self) -> Option<LateKey> {
        self.first.peek().map(|Reverse((key, _))| *key)
    }

    /// Replaces the content of `payload` by that of the next row.
    pub(super) fn take(&mut self, payload: &mut Vec<u8>) -> io::Result<()> {
        let mut first = self.first.peek_mut().ok_or(io::ErrorKind::UnexpectedEof)?;
        let Reverse((_, at)) = *first;
        let run = &mut self.runs[at];
        run.take(payload, &self.spill, self.ahead)?;
        if let Some(key) = run.key(&self.spill, self.ahead)? {
            *first = Reverse((key, at));
        } else {
            PeekMut::pop(first);
        }
        Ok(())
    }

    /// The rows of one group, which is the next one.
    pub(super) fn group(&mut self, group: u64) -> Group<'_> {
        Group { rows: self, group }
    }
}

/// The late rows of one group.
pub(super) struct Group<'r> {
    rows: &'r mut SortedLateRows,
    group: u64,
}

impl LateCells for Group<'_> {
    fn key(&self) -> Option<u64> {
        self.rows
            .key()
            .filter(|key| key.group == self.group)
            .map(|key| key.number)
    }

    fn take(&mut self, cell: &mut Vec<u8>) -> io::Result<()> {
        self.rows.take(cell)
    }
}
