//! How values look in columns.

use crate::profile::NodeCost;
use crate::store::rows::to_other;

/// A column `cumulative_other` of nodes and their costs: NULL where the cumulative cost is equal to
/// the exclusive one.
pub(super) fn cumulative_other(cost: NodeCost) -> Option<f64> {
    to_other(Some(cost.exclusive), cost.cumulative)
}

/// Numbers of nodes, calls and bytes fit in 63 bits: the builder refuses more calls, and there is
/// nothing that could have more of the others.
pub(in crate::store) fn integer(value: u64) -> i64 {
    i64::try_from(value).expect("less than 2^63")
}
