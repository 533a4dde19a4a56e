//! Root pages: where the b-trees of tables and indexes begin.

use rusqlite::Connection;

/// The tables that have many rows of a run, and their indexes: rows of a later run come after all
/// others.
pub(super) const OF_RUNS: &[&str] = &[
    "nodes",
    "node_costs",
    "function_nodes",
    "function_info",
    "line_info",
    "node_labels",
    "edges",
    "edges_by_caller",
];

/// Root pages by what is in the tree.
pub(super) struct Roots {
    pub(super) nodes: u32,
    pub(super) node_costs: u32,
    pub(super) functions: u32,
    pub(super) functions_key: u32,
    pub(super) functions_by_identity: u32,
    pub(super) identities: u32,
    pub(super) identities_key: u32,
    pub(super) function_nodes: u32,
    pub(super) function_info: u32,
    pub(super) line_info: u32,
    pub(super) node_labels: u32,
    pub(super) edges: u32,
    pub(super) edges_by_caller: u32,
}

impl Roots {
    /// The root pages in a database.
    pub(super) fn of(connection: &Connection) -> rusqlite::Result<Self> {
        let root = |name| root(connection, name);
        Ok(Self {
            nodes: root("nodes")?,
            node_costs: root("node_costs")?,
            functions: root("functions")?,
            functions_key: root("sqlite_autoindex_functions_1")?,
            functions_by_identity: root("functions_by_identity")?,
            identities: root("identities")?,
            identities_key: root("sqlite_autoindex_identities_1")?,
            function_nodes: root("function_nodes")?,
            function_info: root("function_info")?,
            line_info: root("line_info")?,
            node_labels: root("node_labels")?,
            edges: root("edges")?,
            edges_by_caller: root("edges_by_caller")?,
        })
    }
}

/// The root page of a table or an index.
pub(in crate::store) fn root(connection: &Connection, name: &str) -> rusqlite::Result<u32> {
    let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
    connection
        .prepare_cached(sql)?
        .query_row([name], |row| row.get(0))
}
