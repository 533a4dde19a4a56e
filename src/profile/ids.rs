//! Ids of what the builder keeps: each table has a type of its own for its indexes.

use std::num::NonZeroU32;

use crate::base::interner::Id;
use crate::events::{FunctionId, LabelsId, MetricId};

/// Declares an id. It is the index and 1, so that an `Option` of it needs no more room.
macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub(super) struct $name(NonZeroU32);

        impl Id for $name {
            #[inline]
            fn new(index: usize) -> Self {
                let id = u32::try_from(index).ok();
                let id = id.and_then(|index| NonZeroU32::MIN.checked_add(index));
                Self(id.expect("fewer than 2^32 entries"))
            }

            #[inline]
            fn index(self) -> usize {
                self.0.get() as usize - 1
            }
        }
    };
}

id!(
    /// A line of a function.
    LineId
);
id!(
    /// A place that calls are made from.
    CallSiteId
);
id!(
    /// A callee and the place that calls it.
    EdgeId
);
id!(
    /// A node of the merged stacks.
    CallNodeId
);

/// What a node of the merged stacks is below the one above it.
pub(super) type CallKey = (FunctionId, Option<LineId>);

/// Ids that sinks give to importers, which are as large as these.
macro_rules! given_id {
    ($name:ident) => {
        impl Id for $name {
            #[inline]
            fn new(index: usize) -> Self {
                Self(u32::try_from(index).expect("fewer than 2^32 entries"))
            }

            #[inline]
            fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

given_id!(FunctionId);
given_id!(LabelsId);
given_id!(MetricId);
