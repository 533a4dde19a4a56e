//! The public views of a database.

use rusqlite::Connection;

use crate::base::query::query;

/// The public views, replaced in the file when their text here is another.
pub(in crate::store) const VIEWS: &[(&str, &str)] = &[
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
