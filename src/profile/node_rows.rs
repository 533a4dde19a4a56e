//! Rows of nodes on their way out. They leave in batches in the order in which nodes open; those of
//! nodes that are still open when their batch leaves come late (docs/design/0001-late-rows.md).

use std::sync::Arc;

use super::rows::{Batch, CostRow, Function, NodeRow, Output};
use super::sums::NodeCost;
use crate::base::interner::Id;
use crate::events::{FunctionId, MetricId};

/// Nodes in one batch: enough that handing it over costs nothing, few enough that they are still in
/// a cache when the writer gets them.
const NODES_PER_BATCH: usize = 8192;

/// The batch that is being filled, and late rows.
pub(super) struct NodeRows<O> {
    output: O,
    /// The metric of the node rows.
    default: MetricId,
    /// How many metrics there are besides.
    others: usize,
    /// Rows of the nodes from `first` on. Those of open nodes are there too, with size and cost to
    /// come.
    batch: Batch,
    first: u64,
    /// Costs of the batch's nodes in the other metrics.
    other_costs: Vec<NodeCost>,
    /// Rows of nodes that were open when their batch left.
    late: Vec<NodeRow>,
    late_costs: Vec<CostRow>,
}

impl<O: Output> NodeRows<O> {
    pub(super) fn new(output: O) -> Self {
        Self {
            output,
            default: MetricId(0),
            others: 0,
            batch: Batch::default(),
            first: 1,
            other_costs: Vec::new(),
            late: Vec::new(),
            late_costs: Vec::new(),
        }
    }

    /// Says which metrics there are, before the first node.
    pub(super) fn set_metrics(&mut self, metrics: usize, default: MetricId) {
        self.default = default;
        self.others = metrics.saturating_sub(1);
    }

    /// Adds a function, which leaves with the nodes that mention it.
    pub(super) fn add_function(&mut self, id: FunctionId, function: Arc<Function>) {
        self.batch.functions.push((id, function));
    }

    /// Whether the batch must [leave](Self::flush) before the next node opens.
    pub(super) fn is_full(&self) -> bool {
        // Late rows count, too: where a deep tree closes, rows come and no node opens.
        self.batch.nodes.len() >= NODES_PER_BATCH || self.late.len() >= NODES_PER_BATCH
    }

    /// Adds the row of a node that opens.
    #[inline]
    pub(super) fn open(&mut self, row: NodeRow) {
        self.batch.nodes.push(row);
        self.other_costs
            .resize(self.batch.nodes.len() * self.others, NodeCost::NOTHING);
    }

    /// Where the row of a node is in the batch; `None` if it comes late.
    #[inline]
    pub(super) fn place(&self, node: u64) -> Option<usize> {
        let place = node.checked_sub(self.first)?;
        usize::try_from(place).ok()
    }

    /// Sets the cost of a node in a metric other than the default one.
    #[inline]
    pub(super) fn set_other_cost(
        &mut self,
        place: Option<usize>,
        node: u64,
        metric: MetricId,
        cost: NodeCost,
    ) {
        match place {
            Some(place) => {
                // The default metric is in the rows themselves: metrics after it are one column to
                // the left here.
                let other = metric.index() - usize::from(metric > self.default);
                self.other_costs[place * self.others + other] = cost;
            }
            None if cost.is_worth_a_row() => self.late_costs.push(CostRow { metric, node, cost }),
            None => {}
        }
    }

    /// The row of a node that closes: `row` makes it anew if it comes late.
    #[inline]
    pub(super) fn close(
        &mut self,
        place: Option<usize>,
        size: u64,
        cost: NodeCost,
        row: impl FnOnce() -> NodeRow,
    ) {
        if let Some(place) = place {
            let row = &mut self.batch.nodes[place];
            (row.size, row.cost) = (size, cost);
        } else {
            self.late.push(NodeRow {
                size,
                cost,
                ..row()
            });
        }
    }

    /// Lets the batch leave without the rows of `open` nodes, which come late; `next` is the node
    /// that the next batch starts with.
    pub(super) fn flush(&mut self, open: impl Iterator<Item = u64>, next: u64) {
        // Late rows came as nodes closed, innermost first, and leave in the order of their numbers.
        self.late.sort_unstable_by_key(|row| row.node);
        self.late_costs
            .sort_unstable_by_key(|cost| (cost.metric, cost.node));
        let Batch { nodes, costs, .. } = &mut self.batch;
        costs.append(&mut self.late_costs);
        for other in 0..self.others {
            let metric = MetricId::new(other + usize::from(other >= self.default.index()));
            // Nodes that are still open cost nothing here so far, and get no row; theirs comes when
            // they close.
            let column = self.other_costs.iter().skip(other).step_by(self.others);
            for (row, cost) in nodes.iter().zip(column) {
                if cost.is_worth_a_row() {
                    costs.push(CostRow {
                        metric,
                        node: row.node,
                        cost: *cost,
                    });
                }
            }
        }
        let first = self.first;
        // Both lists ascend, so that one walk over both finds the open nodes. Those of earlier
        // batches are not among the rows any more.
        let mut open = open.skip_while(|node| *node < first).peekable();
        nodes.retain(|row| open.next_if_eq(&row.node).is_none());
        // In front: all of them have smaller numbers than the nodes of this batch.
        nodes.splice(0..0, self.late.drain(..));
        self.other_costs.clear();
        self.first = next;
        self.batch.opened = next - 1;
        self.output.batch(&mut self.batch);
    }

    pub(super) fn into_output(self) -> O {
        self.output
    }
}
