//! How values look in columns.

use crate::profile::NodeCost;

/// A column `cumulative_other` of nodes and their costs: NULL where the cumulative cost is equal to
/// the exclusive one.
pub(super) fn cumulative_other(cost: NodeCost) -> Option<f64> {
    other(cost.cumulative, Some(cost.exclusive))
}

/// A figure that is mostly equal to another of its row: `None` where it is, infinity where it is
/// unknown, which no figure of a profile is (docs/design/0006-small-rows.md).
pub(super) fn other(figure: Option<f64>, usual: Option<f64>) -> Option<f64> {
    if figure == usual {
        None
    } else {
        // NULL has its meaning already. No importer lets an infinite figure in.
        figure.or(Some(f64::INFINITY))
    }
}

/// Numbers of nodes, calls and bytes fit in 63 bits: the builder refuses more calls, and there is
/// nothing that could have more of the others.
pub(in crate::store) fn integer(value: u64) -> i64 {
    i64::try_from(value).expect("less than 2^63")
}
