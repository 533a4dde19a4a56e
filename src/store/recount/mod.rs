//! Recounting: one pass over the nodes of each run, in pre-order, that adds up again what the
//! tables of totals say.
//!
//! The statements in `queries/checks` say what is wrong with a database. They join large tables to
//! each other and sort all nodes several times. Nearly always nothing is wrong: the recount finds
//! that out in a fraction of the time. Where a row is not as it expects, it leaves the verdict to the
//! statements, so that it may be stricter than they are, and never laxer. Of
//! [`super::CHECKS`] it replaces all but [`NOT_RECOUNTED`].

mod catalogue;
mod doubt;
mod groups;
mod stored;
mod tree;

use rusqlite::Connection;

use super::rows::Tables;
use crate::base::error::Stop;
use catalogue::{Functions, runs};
pub(super) use doubt::Doubt;
use doubt::expect;
use stored::{RowsSeen, compare};
use tree::Tree;

/// Checks by other tables than those of nodes and their totals.
pub(super) const NOT_RECOUNTED: [&str; 2] = ["sources", "labels"];

/// Tables whose texts have been read by a recount that finds nothing: all of them are UTF-8.
pub(super) const TEXTS_RECOUNTED: [&str; 3] = ["nodes", "line_info", "edges"];

/// Fails unless each recounted check finds nothing.
pub(super) fn recount(connection: &Connection, stop: &Stop) -> Result<(), Doubt> {
    let tables = Tables::of(connection, stop)?;
    let mut functions = Functions::read(connection)?;
    let mut seen = RowsSeen::default();
    let mut nodes = 0_i64;
    for run in runs(connection)? {
        expect(run.is_tree || run.nodes.is_none())?;
        let (first, last) = run.nodes.unwrap_or((1, 0));
        nodes = last
            .saturating_sub(first)
            .saturating_add(1)
            .saturating_add(nodes);
        let mut tree = Tree::read(&tables, &run, &functions)?;
        compare(&tables, &run, &mut tree, &mut functions, &mut seen)?;
    }
    expect(functions.are_listed())?;
    let counts = [
        ("nodes", nodes.unsigned_abs()),
        ("node_costs", seen.node_costs),
        ("function_nodes", seen.function_nodes),
        ("function_info", seen.function_info),
        ("line_info", seen.line_info),
        ("edges", seen.edges),
    ];
    for (table, rows) in counts {
        let sql = format!("SELECT COUNT(*) FROM {table}");
        let all: i64 = connection.query_row(&sql, [], |row| row.get(0))?;
        // Any other rows belong to no run.
        expect(all.unsigned_abs() == rows)?;
    }
    Ok(())
}
