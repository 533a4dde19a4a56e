//! Where the function nodes of each function are: what `function_nodes` holds is kept until the end, because its key starts
//! with the function. One byte or two per node, where asking SQLite for them later would sort them all.

use super::write::Ids;
use crate::events::FunctionId;
use crate::tree::NodeRow;

/// See the module's page.
#[derive(Default)]
pub(super) struct Places {
    /// By number in the run.
    functions: Vec<Ascending>,
    last: u64,
    /// Nodes that were open when later ones came: few, unless the tree is deep.
    late: Vec<(FunctionId, u64)>,
}

/// Ascending numbers, all but the first as distances of seven bits a byte: many functions have one node.
#[derive(Default)]
struct Ascending {
    /// 0 if there are none.
    first: u64,
    last: u64,
    bytes: Vec<u8>,
}

impl Places {
    /// Takes the nodes of the next batch.
    pub(super) fn learn(&mut self, nodes: &[NodeRow]) {
        for node in nodes.iter().filter(|node| node.place.is_none()) {
            let at = node.function.0 as usize;
            if self.functions.len() <= at {
                self.functions.resize_with(at + 1, Ascending::default);
            }
            if node.node < self.last {
                self.late.push((node.function, node.node));
            } else {
                self.functions[at].push(node.node);
                self.last = node.node;
            }
        }
    }

    /// Functions by their numbers in the database, each with its nodes by theirs.
    pub(super) fn by_function(&self, ids: &Ids) -> impl Iterator<Item = (i64, Vec<u64>)> {
        let mut late = self.late.clone();
        late.sort_unstable();
        ids.mentioned().into_iter().map(move |(id, function)| {
            let nodes = self.functions.get(function.0 as usize);
            let start = late.partition_point(|(other, _)| *other < function);
            let late = late[start..].iter().take_while(|(other, _)| *other == function).map(|(_, node)| *node);
            let mut nodes: Vec<u64> = nodes.into_iter().flat_map(Ascending::iter).chain(late).collect();
            nodes.sort_unstable();
            (id, nodes)
        })
    }
}

impl Ascending {
    fn push(&mut self, number: u64) {
        let mut distance = number - self.last;
        self.last = number;
        if self.first == 0 {
            self.first = number;
            return;
        }
        loop {
            let [.., low] = distance.to_be_bytes();
            distance >>= 7;
            if distance == 0 {
                self.bytes.push(low);
                return;
            }
            self.bytes.push(low | 0x80);
        }
    }

    fn iter(&self) -> impl Iterator<Item = u64> {
        let mut bytes = self.bytes.iter();
        let mut number = self.first;
        let first = (number != 0).then_some(number);
        first.into_iter().chain(std::iter::from_fn(move || {
            let mut distance = 0;
            for (group, byte) in bytes.by_ref().enumerate() {
                distance |= u64::from(byte & 0x7f) << (7 * group);
                if byte & 0x80 == 0 {
                    number += distance;
                    return Some(number);
                }
            }
            None
        }))
    }
}
