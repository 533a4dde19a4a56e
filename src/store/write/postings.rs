//! Postings: for each function its nodes, in ascending order. `function_nodes` holds them, whose
//! key begins with the function, so they are collected until the end: one byte or two per node,
//! where SQLite would have to sort them all.

use prefetch_index::prefetch_index;
use smallvec::SmallVec;

use super::ids::{Ids, ROWS_AHEAD, StoredFunction};
use crate::events::FunctionId;
use crate::profile::NodeRow;

/// The function nodes of each function.
#[derive(Default)]
pub(super) struct Postings {
    /// By number in the run.
    functions: Vec<Ascending>,
    last: u64,
    /// Nodes that were open when later ones came: few, unless the tree is deep.
    late: Vec<(FunctionId, u64)>,
}

/// Ascending numbers, all but the first as differences, seven bits a byte (LEB128). Many functions
/// have one node, and most have few.
#[derive(Default)]
pub(in crate::store) struct Ascending {
    /// 0 if there are none.
    first: u64,
    last: u64,
    bytes: SmallVec<[u8; 16]>,
}

impl Postings {
    /// Adds the nodes of the next batch.
    pub(super) fn learn(&mut self, nodes: &[NodeRow]) {
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
                self.late.push((node.function, node.node));
            } else {
                self.functions[at].push(node.node);
                self.last = node.node;
            }
        }
    }

    /// Calls `take` for each function, in the order of their ids in the database, with its nodes.
    pub(super) fn by_function<E>(
        &self,
        ids: &Ids,
        mut take: impl FnMut(StoredFunction, &[u64]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut late = self.late.clone();
        late.sort_unstable();
        let mut nodes = Vec::new();
        for (id, function) in ids.mentioned() {
            nodes.clear();
            if let Some(early) = self.functions.get(function.0 as usize) {
                early.append_to(&mut nodes);
            }
            let start = late.partition_point(|(other, _)| *other < function);
            let late = late[start..]
                .iter()
                .take_while(|(other, _)| *other == function)
                .map(|(_, node)| *node);
            let early = nodes.len();
            nodes.extend(late);
            // What came in order is in order: only a function with late nodes is sorted.
            if nodes.len() > early {
                nodes.sort_unstable();
            }
            take(id, &nodes)?;
        }
        Ok(())
    }
}

impl Ascending {
    /// Adds a number, which is above all before, and above 0.
    pub(in crate::store) fn push(&mut self, number: u64) {
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

    /// Appends all of them to a list.
    pub(in crate::store) fn append_to(&self, numbers: &mut Vec<u64>) {
        if self.first == 0 {
            return;
        }
        let mut number = self.first;
        numbers.push(number);
        let (mut difference, mut bits) = (0, 0);
        for byte in &self.bytes {
            difference |= u64::from(byte & 0x7f) << bits;
            bits += 7;
            if byte & 0x80 == 0 {
                number += difference;
                numbers.push(number);
                (difference, bits) = (0, 0);
            }
        }
    }
}
