//! The call tree of samples: stacks, merged by their frames; children in the order in which they
//! first came.
//!
//! Memory does not grow with it: a tree that has become large goes into a temporary file as a part
//! of the whole, and another one begins. In the end all parts are walked at once
//! (docs/design/measured-choices.md).

mod memory;
mod parts;
mod walk;

pub(super) use walk::{EnteredNode, Step, Steps, Walk};

use self::memory::MemoryPart;
use self::parts::Parts;
use super::ids::{CallNodeId, LineId};
use crate::base::spool::SpillResult;
use crate::events::{FunctionId, MetricId};

/// Maximum number of nodes in memory, more where no file can be written: with costs in one metric
/// some 25 MiB. Few in debug builds, so that tests write parts.
const MOST_NODES: usize = if cfg!(debug_assertions) {
    1 << 12
} else {
    1 << 19
};

/// Merged stacks.
#[derive(Default)]
pub(super) struct CallTree {
    memory: MemoryPart,
    parts: Parts,
    /// Where all nodes stay in memory from now on.
    is_kept: bool,
}

impl CallTree {
    /// Makes room for more metrics, in which no node has a cost yet.
    pub(super) fn set_metrics(&mut self, metrics: usize) {
        self.memory.set_metrics(metrics);
    }

    /// The node of the last stack with so many nodes above it, if it is of this function and a line
    /// that fits.
    pub(super) fn on_path(
        &self,
        depth: usize,
        function: FunctionId,
        fits: impl Fn(Option<LineId>) -> bool,
    ) -> Option<CallNodeId> {
        self.memory.on_path(depth, function, fits)
    }

    /// Goes down from the first nodes of the last stack to a child, which may be new.
    pub(super) fn below(
        &mut self,
        depth: usize,
        function: FunctionId,
        line: Option<LineId>,
    ) -> CallNodeId {
        self.memory.below(depth, function, line)
    }

    /// Adds calls to the node of a function, which every sample does that ends there; says whether
    /// the sum is still exact.
    pub(super) fn call(&mut self, at: CallNodeId, calls: Option<u64>) -> bool {
        self.memory.call(at, calls)
    }

    /// Adds what a sample costs to the node where it ends.
    pub(super) fn add(&mut self, at: CallNodeId, metric: MetricId, cost: f64) {
        self.memory.add(at, metric, cost);
    }

    /// From now on nodes keep their ids, because something else refers to them.
    pub(super) fn keep(&mut self) {
        self.is_kept = true;
    }

    /// Gives room for further nodes. Says so if nodes have other ids now: those of the last stack are
    /// then in [`path`](Self::path), and no others are in memory.
    #[inline]
    pub(super) fn make_room(&mut self) -> bool {
        // A stack that is itself half as long would go into each part again.
        self.is_kept = self.is_kept || self.memory.path().len() > MOST_NODES / 2;
        self.memory.len() > MOST_NODES && !self.is_kept && self.move_to_parts()
    }

    #[cold]
    fn move_to_parts(&mut self) -> bool {
        // Where a file takes no more, what comes stays in memory.
        self.is_kept = self.parts.add(&self.memory).is_err();
        if !self.is_kept {
            self.memory.start_again();
        }
        !self.is_kept
    }

    /// The nodes of the last stack, outermost first.
    pub(super) fn path(&self) -> &[CallNodeId] {
        self.memory.path()
    }

    /// A way through the whole tree.
    ///
    /// # Errors
    /// When the parts cannot be read.
    pub(super) fn walk(mut self) -> SpillResult<Walk> {
        self.memory.close();
        // Rows are written meanwhile, which takes memory, too.
        if !self.parts.is_empty() && !self.is_kept && self.parts.add(&self.memory).is_ok() {
            self.memory = MemoryPart::of_metrics(self.memory.metrics());
        }
        Walk::new(self.memory, self.parts)
    }
}
