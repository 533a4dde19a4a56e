//! How much a run has, as it is said when it is stored.

use crate::store::{Database, StoreError};

/// How much a run with so many nodes has. One that knows no paths is no empty one.
pub(super) fn extent(database: &Database, run: i64, nodes: u64) -> Result<String, StoreError> {
    if nodes > 0 {
        return Ok(format!("{nodes} nodes"));
    }
    let (functions, edges) = database.functions_and_edges(run)?;
    let functions = counted(functions.unsigned_abs(), "function");
    Ok(if edges == 0 {
        functions
    } else {
        format!("{functions}, {}", counted(edges.unsigned_abs(), "edge"))
    })
}

/// A number of things, as it is said.
pub(super) fn counted(count: u64, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}
