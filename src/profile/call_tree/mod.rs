//! The call tree of samples: stacks, merged by their frames; children in the order in which they
//! first came.
//!
//! Memory does not grow with it: a tree that has become large goes into a temporary file as a part
//! of the whole, and another one begins. In the end all parts are walked at once
//! (docs/design/0025-stacks-on-disk.md).

mod memory;
mod parts;
mod walk;

pub(super) use walk::{EnteredNode, Step, Steps, Walk};

use self::memory::MemoryPart;
use self::parts::Parts;
use super::ids::{CallNodeId, LineId};
use crate::base::spool::{Spill, SpillResult};
use crate::events::{FunctionId, MetricId};

/// Nodes in memory: with costs in one metric some 25 MiB. Few in debug builds, so that tests write
/// parts.
const MOST_NODES: usize = if cfg!(debug_assertions) {
    1 << 12
} else {
    1 << 19
};

/// Merged stacks.
pub(super) struct CallTree {
    memory: MemoryPart,
    parts: Parts,
    /// Nodes in memory at most; more where there is no room elsewhere.
    most: usize,
    /// Where all nodes stay in memory from now on.
    is_kept: bool,
}

impl CallTree {
    /// An empty tree, of which so many nodes are in memory at most, and the others in a file.
    fn with(most: usize, spill: Spill) -> Self {
        Self {
            memory: MemoryPart::default(),
            parts: Parts::new(spill),
            most,
            is_kept: false,
        }
    }

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
        self.is_kept = self.is_kept || self.memory.path().len() > self.most / 2;
        self.memory.len() > self.most && !self.is_kept && self.move_to_parts()
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

impl Default for CallTree {
    fn default() -> Self {
        Self::with(MOST_NODES, tempfile::tempfile)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::interner::Id;
    use crate::base::spool::failing;
    use crate::profile::ids::CallKey;

    /// A number from 0 to `below`, from the upper bits of a linear congruential generator.
    fn random(state: &mut u64, below: u32) -> u32 {
        *state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let [first, second, third, fourth, ..] = state.to_be_bytes();
        u32::from_be_bytes([first, second, third, fourth]) % below
    }

    /// Adds stacks of few functions, some with lines, so that many meet again in another part.
    fn add_stacks(tree: &mut CallTree, stacks: u32, seed: u64) {
        let mut state = seed;
        for number in 0..stacks {
            // Another metric may come when there are samples.
            let metrics = 1 + u32::from(number > stacks / 3);
            if tree.memory.metrics() < metrics as usize {
                tree.set_metrics(metrics as usize);
            }
            let depth = 1 + random(&mut state, 12);
            let mut at = None;
            for level in 0..depth {
                let function = FunctionId::new(random(&mut state, 12 - level) as usize);
                let line = random(&mut state, 4) as usize;
                let line = line.checked_sub(2).map(LineId::new);
                at = Some((tree.below(level as usize, function, line), line.is_none()));
            }
            let Some((at, is_function)) = at else {
                continue;
            };
            if is_function {
                let calls = Some(u64::from(random(&mut state, 9))).filter(|calls| *calls > 0);
                assert!(tree.call(at, calls));
            }
            if random(&mut state, 3) > 0 {
                let metric = MetricId::new(random(&mut state, metrics) as usize);
                tree.add(at, metric, f64::from(random(&mut state, 100)));
            }
            tree.make_room();
        }
    }

    /// Depth, key, calls and costs of a node.
    type Node = (usize, CallKey, Option<u64>, [Option<f64>; 2]);

    /// What a way through a tree says of each node.
    fn all(tree: CallTree) -> Vec<Node> {
        let mut walk = tree.walk().expect("a file");
        let (mut all, mut depth) = (Vec::new(), 0);
        let mut steps = Steps::default();
        loop {
            walk.next(7, &mut steps).expect("a file");
            if steps.steps.is_empty() {
                assert_eq!(depth, 0);
                return all;
            }
            for step in &steps.steps {
                match step {
                    Step::Leave => depth -= 1,
                    Step::Enter(opened) => {
                        let costs = [0, 1].map(|metric| steps.cost(opened, MetricId::new(metric)));
                        let key = (opened.function, opened.line);
                        all.push((depth, key, opened.calls, costs));
                        depth += 1;
                    }
                }
            }
        }
    }

    #[test]
    fn parts_make_the_same_tree() {
        for seed in 0..4 {
            let whole = |most, spill| {
                let mut tree = CallTree::with(most, spill);
                add_stacks(&mut tree, 1_000, seed);
                (tree.parts.is_empty(), all(tree))
            };
            let (in_memory, expected) = whole(usize::MAX, tempfile::tempfile as Spill);
            assert!(in_memory && expected.len() > 2_000);
            for most in [30, 50, 1_000] {
                let (in_memory, found) = whole(most, tempfile::tempfile);
                assert!(!in_memory);
                assert!(found == expected, "seed {seed}, at most {most} nodes");
            }
            // Where no file can be made, and where it takes nothing.
            for spill in failing::NO_ROOM {
                assert!(whole(50, spill) == (true, expected.clone()));
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_lost_its_bytes_is_told() {
        let mut tree = CallTree::with(50, failing::FORGETS);
        add_stacks(&mut tree, 500, 1);
        assert!(tree.walk().is_err());
    }

    #[test]
    fn nodes_that_are_referred_to_stay() {
        let mut tree = CallTree::with(50, tempfile::tempfile);
        add_stacks(&mut tree, 20, 1);
        tree.keep();
        add_stacks(&mut tree, 500, 2);
        assert!(tree.memory.len() > 500);
        let in_memory = tree.memory.len();
        assert_eq!(tree.walk().expect("a file").in_memory(), in_memory);
    }
}
