//! The dictionaries of call sites and edges.

use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::DefaultHashBuilder;

use crate::base::hash_index::HashIndex;
use crate::base::interner::{Id, Interner, Table};
use crate::events::{EdgeKind, Frame, FunctionId};
use crate::profile::ids::{CallSiteId, EdgeId};
use crate::profile::sums::CallCount;

/// Where a call is made: caller, and a place in the source of it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(in crate::profile) struct CallSite {
    /// `None` above the roots.
    pub(in crate::profile) caller: Option<FunctionId>,
    /// The file of the line where it is not the caller's own.
    pub(in crate::profile) file: Option<Arc<str>>,
    /// `None` if unknown.
    pub(in crate::profile) line: Option<u32>,
    /// 0 if unknown.
    pub(in crate::profile) col: u32,
}

impl CallSite {
    /// What calls the roots.
    pub(in crate::profile) const ROOT: Self = Self {
        caller: None,
        file: None,
        line: None,
        col: 0,
    };

    /// The call site of an edge that the file itself states.
    pub(in crate::profile) fn of(caller: Option<Frame<'_>>) -> Self {
        caller.map_or(Self::ROOT, |frame| Self {
            caller: Some(frame.function),
            file: frame
                .line
                .filter(|line| !line.file.is_empty())
                .map(|line| Arc::from(line.file)),
            line: frame.line.map(|line| line.line),
            col: frame.line.map_or(0, |line| line.col),
        })
    }
}

/// Call sites by what they are.
#[derive(Default)]
pub(super) struct CallSites {
    sites: Interner<CallSiteId, CallSite>,
    hasher: DefaultHashBuilder,
}

impl CallSites {
    /// Finds or adds a call site.
    pub(super) fn intern(&mut self, site: CallSite) -> CallSiteId {
        let hash = self.hasher.hash_one(&site);
        let known = self.sites.find(hash, |known| *known == site);
        known.unwrap_or_else(|| self.sites.add(hash, site))
    }

    pub(super) fn table(&self) -> &Table<CallSiteId, CallSite> {
        self.sites.table()
    }

    /// Keeps the entries only: none will be looked up any more.
    pub(super) fn forget_keys(&mut self) {
        self.sites.forget_keys();
    }
}

/// A callee and the place that calls it.
pub(super) struct KnownEdge {
    pub(super) callee: FunctionId,
    pub(super) site: CallSiteId,
    /// The first edge of this pair of functions, whatever the line: perhaps this one.
    pub(super) pair: EdgeId,
    /// How many nodes of the pair are open, where this is its first edge.
    pub(super) open: u32,
    pub(super) calls: CallCount,
    pub(super) kind: EdgeKind,
    /// Nodes have it.
    pub(super) in_tree: bool,
    /// The file states it as an edge, and not as one that closes a circle.
    pub(super) stated: bool,
}

impl KnownEdge {
    fn is(&self, callee: FunctionId, site: CallSiteId, kind: EdgeKind) -> bool {
        (self.callee, self.site, self.kind) == (callee, site, kind)
    }
}

/// Edges by callee and call site.
#[derive(Default)]
pub(super) struct Edges {
    edges: Interner<EdgeId, KnownEdge>,
    /// The first edge of each pair of functions, where that has a line.
    pairs: HashIndex,
    hasher: DefaultHashBuilder,
}

impl Edges {
    /// Finds or adds an edge. `plain` is the call site of the caller without a line, if it has
    /// called from there.
    pub(super) fn intern(
        &mut self,
        callee: FunctionId,
        site: CallSiteId,
        kind: EdgeKind,
        sites: &CallSites,
        plain: impl FnOnce(FunctionId) -> Option<CallSiteId>,
    ) -> EdgeId {
        // The kind is not part of the hash: `is` tells edges of the two kinds apart.
        let hash = self.hash(callee, site);
        let known = self.edges.find(hash, |edge| edge.is(callee, site, kind));
        if let Some(known) = known {
            return known;
        }
        let id = EdgeId::new(self.edges.table().len());
        let CallSite { caller, line, .. } = &sites.table()[site];
        let (caller, is_line) = (*caller, line.is_some());
        let pair_hash = self.hash_pair(callee, caller.map_or(u32::MAX, |caller| caller.0));
        let mut first = self.first_of_pair(pair_hash, callee, caller, sites);
        if first.is_none() && is_line {
            // A first edge without a line is not among the pairs: it is found by its call site.
            first = caller.and_then(plain).and_then(|plain| {
                self.edges.find(self.hash(callee, plain), |edge| {
                    edge.is(callee, plain, EdgeKind::Call)
                })
            });
            if first.is_none() {
                let at = u32::try_from(id.index()).expect("fewer than 2^32 edges");
                self.pairs.insert(pair_hash, at);
            }
        }
        let known = KnownEdge {
            callee,
            site,
            pair: first.unwrap_or(id),
            open: 0,
            calls: CallCount::default(),
            kind,
            in_tree: false,
            stated: false,
        };
        self.edges.add(hash, known)
    }

    fn first_of_pair(
        &self,
        hash: u64,
        callee: FunctionId,
        caller: Option<FunctionId>,
        sites: &CallSites,
    ) -> Option<EdgeId> {
        let edges = self.edges.table();
        let id = |at: u32| EdgeId::new(at as usize);
        let found = self.pairs.find(hash, |at| {
            let edge = &edges[id(at)];
            (edge.callee, sites.table()[edge.site].caller) == (callee, caller)
        });
        found.map(id)
    }

    fn hash(&self, callee: FunctionId, site: CallSiteId) -> u64 {
        self.hash_pair(callee, u32::try_from(site.index()).unwrap_or(u32::MAX))
    }

    fn hash_pair(&self, callee: FunctionId, caller: u32) -> u64 {
        self.hasher
            .hash_one(u64::from(callee.0) << 32 | u64::from(caller))
    }

    /// Says that an edge will be looked up soon.
    pub(super) fn prefetch_lookup(&self, callee: FunctionId, site: CallSiteId) {
        self.edges.prefetch_slot(self.hash(callee, site));
    }

    /// The edge that is probably there.
    pub(super) fn guess(&self, callee: FunctionId, site: CallSiteId) -> Option<EdgeId> {
        self.edges.guess(self.hash(callee, site))
    }

    pub(super) fn table(&self) -> &Table<EdgeId, KnownEdge> {
        self.edges.table()
    }

    pub(super) fn table_mut(&mut self) -> &mut Table<EdgeId, KnownEdge> {
        self.edges.table_mut()
    }

    /// Keeps the entries only: none will be looked up any more.
    pub(super) fn forget_keys(&mut self) {
        self.edges.forget_keys();
        self.pairs = HashIndex::default();
    }
}
