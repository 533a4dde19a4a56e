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
    let mut stale = VIEWS.to_vec();
    let mut statement =
        connection.prepare_cached("SELECT sql FROM sqlite_schema WHERE type = 'view'")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        // A text that is none is that of no view of ours.
        let stored = row.get_ref(0)?.as_str().unwrap_or_default();
        stale.retain(|(_, sql)| kept_text(sql) != stored);
    }
    Ok(stale)
}

/// What SQLite keeps of a statement: all but the semicolon that ends it.
pub(super) fn kept_text(sql: &str) -> &str {
    sql.trim_end().trim_end_matches(';')
}
