//! Xdebug: calls in the order in which they ended, from which the tree is rebuilt.

pub(super) mod exit_order;
pub(super) mod exit_tree;
pub(super) mod record;
