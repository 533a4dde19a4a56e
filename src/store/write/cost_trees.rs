//! The b-tree of `node_costs`, whose key begins with the metric: a tree for each metric, which grow
//! side by side, and become one at the end.

use std::io;

use super::ids::Ids;
use super::late_rows::{LateKey, LateRows, SortedLateRows};
use super::row_trees::cost_record;
use crate::profile::CostRow;
use profdb_sqlite_pages::btree::IndexTree;
use profdb_sqlite_pages::page_file::PageFile;
use profdb_sqlite_pages::record::Record;

/// Room for the costs, in one metric, of a node that is still open.
const COST_ROOM: usize = 24;

/// The column of `node_costs` that is the node.
const NODE_COLUMN: usize = 1;

/// A tree for each metric.
#[derive(Default)]
pub(super) struct CostTrees(Vec<Option<CostTree>>);

/// The costs in one metric, ascending by node.
struct CostTree {
    /// The first row is not in the tree: it may become the separator after the metric before.
    first: CostRow,
    /// The node of the last row.
    last: u64,
    /// How many of the open nodes have been passed in this batch.
    passed: usize,
    tree: IndexTree,
}

impl CostTrees {
    /// To be called before the costs of a batch.
    pub(super) fn begin_batch(&mut self) {
        for costs in self.0.iter_mut().flatten() {
            costs.passed = 0;
        }
    }

    /// Adds a row, and leaves room for those of nodes that are `open`. A row that comes after
    /// others with higher numbers goes to `late`.
    pub(super) fn push(
        &mut self,
        file: &mut PageFile,
        record: &mut Record,
        mut cost: CostRow,
        open: &[u64],
        ids: &Ids,
        late: &mut LateRows,
    ) -> io::Result<()> {
        let metric = cost.metric.0 as usize;
        if self.0.len() <= metric {
            self.0.resize_with(metric + 1, || None);
        }
        let Some(costs) = &mut self.0[metric] else {
            self.0[metric] = Some(CostTree {
                last: cost.node,
                first: cost,
                passed: 0,
                tree: IndexTree::new(file),
            });
            return Ok(());
        };
        // This is a late row, of a node that closed after later ones had been written: room has
        // been left for it.
        if cost.node < costs.last {
            // It may belong before all others.
            if cost.node < costs.first.node {
                std::mem::swap(&mut cost, &mut costs.first);
            }
            return add_late(file, record, &cost, ids, late);
        }
        while open.get(costs.passed).is_some_and(|open| *open < cost.node) {
            costs.passed += 1;
            costs.tree.leave_room(COST_ROOM);
        }
        costs.last = cost.node;
        costs.tree.push(file, cost_record(record, &cost, ids))
    }

    /// Hands the row over that no separator is needed for: the first of all. To be called before
    /// late rows are sorted.
    pub(super) fn complete_late(
        &self,
        file: &mut PageFile,
        record: &mut Record,
        ids: &Ids,
        late: &mut LateRows,
    ) -> io::Result<()> {
        let first = self.0.iter().flatten().next();
        first.map_or(Ok(()), |costs| {
            add_late(file, record, &costs.first, ids, late)
        })
    }

    /// Puts late rows in their places, joins the trees and writes the rest.
    pub(super) fn finish(
        self,
        file: &mut PageFile,
        record: &mut Record,
        root: u32,
        ids: &Ids,
        late: &mut SortedLateRows,
    ) -> io::Result<()> {
        let mut whole: Option<IndexTree> = None;
        for CostTree {
            first, mut tree, ..
        } in self.0.into_iter().flatten()
        {
            tree.merge(
                file,
                NODE_COLUMN,
                &mut late.group(late_key(&first, ids).group),
            )?;
            let Some(whole) = &mut whole else {
                whole = Some(tree);
                continue;
            };
            let first = cost_record(record, &first, ids);
            if tree.is_empty() {
                whole.push(file, first)?;
            } else {
                // The row between two trees is a row of the index as well: it is the separator, and
                // in no leaf.
                whole.join(file, first, tree)?;
            }
        }
        whole.map_or(Ok(()), |whole| whole.finish(file, root))
    }
}

/// Metrics come after the nodes, whose group is 0.
fn late_key(cost: &CostRow, ids: &Ids) -> LateKey {
    LateKey {
        group: 1 + u64::from(cost.metric.0),
        number: ids.node(cost.node).0.cast_unsigned(),
    }
}

fn add_late(
    file: &mut PageFile,
    record: &mut Record,
    cost: &CostRow,
    ids: &Ids,
    late: &mut LateRows,
) -> io::Result<()> {
    let mut shortened = Vec::new();
    let cell = IndexTree::late_cell(file, cost_record(record, cost, ids), &mut shortened)?;
    late.add(late_key(cost, ids), cell)
}
