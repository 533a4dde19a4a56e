//! The public views of a database.

use rusqlite::Connection;

/// The public views, replaced in the file when their text here is another.
pub(in crate::store) const VIEWS: &[(&str, &str)] = &[
    (
        "summary",
        include_str!("../../../queries/views/summary.sql"),
    ),
    ("lines", include_str!("../../../queries/views/lines.sql")),
    ("calls", include_str!("../../../queries/views/calls.sql")),
    (
        "call_lines",
        include_str!("../../../queries/views/call_lines.sql"),
    ),
    (
        "callees",
        include_str!("../../../queries/views/callees.sql"),
    ),
    (
        "exclusive",
        include_str!("../../../queries/views/exclusive.sql"),
    ),
    (
        "cumulative",
        include_str!("../../../queries/views/cumulative.sql"),
    ),
    ("tree", include_str!("../../../queries/views/tree.sql")),
    ("labels", include_str!("../../../queries/views/labels.sql")),
    (
        "function_tree",
        include_str!("../../../queries/views/function_tree.sql"),
    ),
    (
        "subtrees",
        include_str!("../../../queries/views/subtrees.sql"),
    ),
    (
        "ancestors",
        include_str!("../../../queries/views/ancestors.sql"),
    ),
    (
        "recursion",
        include_str!("../../../queries/views/recursion.sql"),
    ),
    ("tags", include_str!("../../../queries/views/tags.sql")),
    (
        "function_labels",
        include_str!("../../../queries/views/function_labels.sql"),
    ),
    (
        "run_list",
        include_str!("../../../queries/views/run_list.sql"),
    ),
    (
        "changes",
        include_str!("../../../queries/views/changes.sql"),
    ),
    (
        "history",
        include_str!("../../../queries/views/history.sql"),
    ),
    (
        "source_lines",
        include_str!("../../../queries/views/source_lines.sql"),
    ),
];

/// Views that the file does not have, or has with another text.
pub(in crate::store) fn stale_views(
    connection: &Connection,
) -> rusqlite::Result<Vec<(&'static str, &'static str)>> {
    let mut statement = connection
        .prepare_cached("SELECT COUNT(*) FROM sqlite_schema WHERE type = 'view' AND sql = ?1")?;
    let mut stale = Vec::new();
    for (name, sql) in VIEWS {
        // SQLite keeps the text of a statement without the semicolon that ends it.
        let stored = sql.trim_end().trim_end_matches(';');
        let found: i64 = statement.query_row([stored], |row| row.get(0))?;
        if found == 0 {
            stale.push((*name, *sql));
        }
    }
    Ok(stale)
}
