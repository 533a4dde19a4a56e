//! The public views of a database.

use crate::base::query::query;

/// Names and statements of the public views.
pub(super) const VIEWS: &[(&str, &str)] = &[
    query!("views", "summary"),
    query!("views", "lines"),
    query!("views", "calls"),
    query!("views", "call_lines"),
    query!("views", "callees"),
    query!("views", "exclusive"),
    query!("views", "cumulative"),
    query!("views", "tree"),
    query!("views", "labels"),
    query!("views", "function_tree"),
    query!("views", "subtrees"),
    query!("views", "ancestors"),
    query!("views", "recursion"),
    query!("views", "tags"),
    query!("views", "function_labels"),
    query!("views", "run_list"),
    query!("views", "changes"),
    query!("views", "history"),
    query!("views", "source_lines"),
];
