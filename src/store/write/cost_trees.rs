//! The b-tree of `node_costs`, whose key begins with the metric: a tree for each metric, which grow
//! side by side, and become one at the end.

use std::io;

use super::ids::Ids;
use super::row_trees::cost_record;
use crate::profile::CostRow;
use crate::sqlite::btree::IndexTree;
use crate::sqlite::page_file::PageFile;
use crate::sqlite::record::Record;

/// Room for the costs, in one metric, of a node that is still open.
const COST_ROOM: usize = 24;

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

    /// Adds a row, and leaves room for those of nodes that are `open`. Returns the row if it is to
    /// be deferred, because later rows have been written.
    pub(super) fn push(
        &mut self,
        file: &mut PageFile,
        record: &mut Record,
        cost: CostRow,
        open: &[u64],
        ids: &Ids,
    ) -> io::Result<Option<CostRow>> {
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
            return Ok(None);
        };
        // This is a late row, of a node that closed after later ones had been written: room has
        // been left for it.
        if cost.node < costs.last {
            return Ok(Some(cost));
        }
        while open.get(costs.passed).is_some_and(|open| *open < cost.node) {
            costs.passed += 1;
            costs.tree.leave_room(COST_ROOM);
        }
        costs.last = cost.node;
        costs.tree.push(file, cost_record(record, &cost, ids))?;
        Ok(None)
    }

    /// Joins the trees and writes the rest. Returns the first rows of metrics that are in none.
    pub(super) fn finish(
        self,
        file: &mut PageFile,
        record: &mut Record,
        root: u32,
        ids: &Ids,
    ) -> io::Result<Vec<CostRow>> {
        let mut left = Vec::new();
        let mut whole: Option<IndexTree> = None;
        for CostTree { first, tree, .. } in self.0.into_iter().flatten() {
            match &mut whole {
                // The row between two trees is a row of the index as well: it is the separator, and
                // in no leaf.
                Some(whole) if !tree.is_empty() => {
                    whole.join(file, cost_record(record, &first, ids), tree)?;
                }
                None if !tree.is_empty() => {
                    left.push(first);
                    whole = Some(tree);
                }
                _ => left.push(first),
            }
        }
        if let Some(whole) = whole {
            whole.finish(file, root)?;
        }
        Ok(left)
    }
}
