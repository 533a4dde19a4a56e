//! Postings: for each function its nodes, in ascending order. `function_nodes` holds them, whose
//! key begins with the function, so they are collected until the end: one byte or two per node,
//! where SQLite would have to sort them all. What is more than some megabytes waits on disk.

use std::io;
use std::path::PathBuf;

use prefetch_index::prefetch_index;
use smallvec::SmallVec;

use super::ids::{Ids, ROWS_AHEAD, StoredFunction};
use super::late_rows::{LateKey, LateRows};
use super::spill::Spill;
use crate::events::FunctionId;
use crate::profile::NodeRow;

/// Maximum number of function nodes that are collected in memory.
const IN_MEMORY: usize = if cfg!(debug_assertions) {
    // Lists of short runs are written to disk in tests, too.
    1 << 11
} else {
    2 << 20
};

/// The shortest list that is worth its place on disk: shorter ones stay in memory, and are part of
/// what is known of each function.
const SHORTEST: usize = 64;

/// Nodes that are handed over at a time.
const AT_ONCE: usize = 8192;

/// Bytes before a list on disk: where the list of the same function is that was written before,
/// the first number, and how many bytes follow.
const HEADER: usize = 8 + 8 + 8;

/// No list of a function has been written.
const NONE: u64 = u64::MAX;

/// The function nodes of each function.
pub(super) struct Postings {
    /// By number in the run.
    functions: Vec<Ascending>,
    last: u64,
    /// Nodes that were open when later ones came, by function and node; they have no payload.
    late: LateRows,
    spill: Spill,
    /// How many nodes have come since lists were written.
    collected: usize,
    /// By number in the run: where the last list is that has been written.
    written: Vec<u64>,
}

/// Ascending numbers, all but the first as differences, seven bits a byte (LEB128). Many functions
/// have one node, and most have few.
#[derive(Default)]
struct Ascending {
    /// 0 if there are none.
    first: u64,
    last: u64,
    bytes: SmallVec<[u8; 16]>,
}

impl Postings {
    /// No node yet. Without a place for temporary files, everything stays in memory.
    pub(super) fn beside(place: Option<PathBuf>) -> Self {
        Self {
            functions: Vec::new(),
            last: 0,
            late: LateRows::beside(place.clone()),
            spill: Spill::beside(place),
            collected: 0,
            written: Vec::new(),
        }
    }

    /// Adds the nodes of the next batch, whose functions have their ids.
    pub(super) fn learn(&mut self, nodes: &[NodeRow], ids: &Ids) -> io::Result<()> {
        for (at, node) in nodes
            .iter()
            .enumerate()
            .filter(|(_, node)| node.place.is_none())
        {
            if let Some(soon) = nodes.get(at + ROWS_AHEAD) {
                prefetch_index(&self.functions, soon.function.0 as usize);
            }
            let at = node.function.0 as usize;
            if self.functions.len() <= at {
                self.functions.resize_with(at + 1, Ascending::default);
            }
            // Later numbers may be in the list of this function already, whose differences cannot
            // go back.
            if node.node < self.last {
                let key = LateKey {
                    group: group(ids.function(node.function)),
                    number: node.node,
                };
                self.late.add(key, &[])?;
            } else {
                self.functions[at].push(node.node);
                self.last = node.node;
                self.collected += 1;
            }
        }
        if self.collected >= IN_MEMORY && self.spill.is_possible() {
            self.write_lists()?;
        }
        Ok(())
    }

    /// Writes all lists that are not short, which begin anew.
    fn write_lists(&mut self) -> io::Result<()> {
        self.collected = 0;
        self.written.resize(self.functions.len(), NONE);
        let mut bytes = Vec::new();
        let start = self.spill.length();
        for (list, written) in self.functions.iter_mut().zip(&mut self.written) {
            if list.bytes.len() < SHORTEST {
                continue;
            }
            let list = std::mem::take(list);
            let at = start + bytes.len() as u64;
            for field in [*written, list.first, list.bytes.len() as u64] {
                bytes.extend_from_slice(&field.to_le_bytes());
            }
            bytes.extend_from_slice(&list.bytes);
            *written = at;
        }
        if !bytes.is_empty() {
            self.spill.append(&bytes)?;
        }
        Ok(())
    }

    /// Calls `take` with the nodes of each function, some thousands at a time, in the order of the
    /// functions' ids in the database.
    pub(super) fn by_function<E: From<io::Error>>(
        self,
        ids: &Ids,
        mut take: impl FnMut(StoredFunction, &[u64]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut late = self.late.into_sorted()?;
        let mut nodes = Vec::with_capacity(AT_ONCE);
        let mut bytes = Vec::new();
        for (id, function) in ids.mentioned() {
            let mut hand_over = |number: u64| {
                nodes.push(number);
                if nodes.len() < AT_ONCE {
                    return Ok(());
                }
                take(id, &nodes)?;
                nodes.clear();
                Ok::<(), E>(())
            };
            let mut late_before =
                |number: u64, hand_over: &mut dyn FnMut(u64) -> Result<(), E>| -> Result<(), E> {
                    while let Some(key) = late.key()
                        && key.group == group(id)
                        && key.number < number
                    {
                        late.take(&mut Vec::new())?;
                        hand_over(key.number)?;
                    }
                    Ok(())
                };
            for (start, first, length) in lists(&self.spill, &self.written, function)? {
                bytes.clear();
                self.spill.read(start, length, &mut bytes)?;
                for number in numbers(first, &bytes) {
                    late_before(number, &mut hand_over)?;
                    hand_over(number)?;
                }
            }
            let early = self.functions.get(function.0 as usize);
            for number in early.into_iter().flat_map(Ascending::numbers) {
                late_before(number, &mut hand_over)?;
                hand_over(number)?;
            }
            late_before(u64::MAX, &mut hand_over)?;
            if !nodes.is_empty() {
                take(id, &nodes)?;
                nodes.clear();
            }
        }
        Ok(())
    }
}

/// The late nodes of a function.
fn group(function: StoredFunction) -> u64 {
    function.0.cast_unsigned()
}

/// The lists of a function that have been written, in their order: where the bytes begin, the first
/// number, and how many bytes there are.
fn lists(
    spill: &Spill,
    written: &[u64],
    function: FunctionId,
) -> io::Result<Vec<(u64, u64, usize)>> {
    let mut lists = Vec::new();
    let mut at = written.get(function.0 as usize).copied().unwrap_or(NONE);
    let mut header = Vec::with_capacity(HEADER);
    while at != NONE {
        header.clear();
        spill.read(at, HEADER, &mut header)?;
        let field = |field: usize| {
            let bytes = header[8 * field..].first_chunk();
            u64::from_le_bytes(*bytes.expect("the header is there"))
        };
        let length = usize::try_from(field(2)).map_err(|_| io::ErrorKind::InvalidData)?;
        lists.push((at + HEADER as u64, field(1), length));
        at = field(0);
    }
    lists.reverse();
    Ok(lists)
}

/// The numbers of a list that is not empty.
fn numbers(first: u64, bytes: &[u8]) -> impl Iterator<Item = u64> {
    let mut number = first;
    let (mut difference, mut bits) = (0, 0);
    let later = bytes.iter().filter_map(move |byte| {
        difference |= u64::from(byte & 0x7f) << bits;
        bits += 7;
        if byte & 0x80 != 0 {
            return None;
        }
        number += difference;
        (difference, bits) = (0, 0);
        Some(number)
    });
    std::iter::once(first).chain(later)
}

impl Ascending {
    /// Adds a number, which is above all before, and above 0.
    fn push(&mut self, number: u64) {
        let mut difference = number - self.last;
        self.last = number;
        if self.first == 0 {
            self.first = number;
            return;
        }
        loop {
            let [.., low] = difference.to_be_bytes();
            difference >>= 7;
            if difference == 0 {
                self.bytes.push(low);
                return;
            }
            self.bytes.push(low | 0x80);
        }
    }

    /// Returns the numbers in ascending order.
    fn numbers(&self) -> impl Iterator<Item = u64> {
        (self.first != 0)
            .then(|| numbers(self.first, &self.bytes))
            .into_iter()
            .flatten()
    }
}
