//! Statements of strangers: what a connection lets them do.

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;

use super::database::Database;
use super::error::StoreError;

/// Pragmas that only tell something, and only of the database itself.
const PRAGMAS: [&str; 14] = [
    "application_id",
    "collation_list",
    "compile_options",
    "encoding",
    "foreign_key_list",
    "index_info",
    "index_list",
    "index_xinfo",
    "page_count",
    "page_size",
    "schema_version",
    "table_info",
    "table_list",
    "table_xinfo",
];

/// Pragmas that tell of what they are given; of the others, a value would be set.
const OF_SOMETHING: [&str; 7] = [
    "foreign_key_list",
    "index_info",
    "index_list",
    "index_xinfo",
    "table_info",
    "table_list",
    "table_xinfo",
];

/// Functions that do more than compute.
const NOT_FUNCTIONS: [&str; 2] = ["load_extension", "fts3_tokenizer"];

/// How many steps of the SQL machine pass between two looks at whether it shall end.
const STEPS_BETWEEN_LOOKS: i32 = 1_000;

impl Database {
    /// From now on only lets statements read, whatever they are: no other file, no setting, no table of their own, no
    /// value of more bytes than these; and ends them as soon as a function says so.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub(crate) fn guard_against_statements(
        &mut self,
        most_bytes: usize,
        ends: impl FnMut() -> bool + Send + 'static,
    ) -> Result<(), StoreError> {
        let most = i32::try_from(most_bytes).unwrap_or(i32::MAX);
        let connection = &mut self.connection;
        let guard = move || -> rusqlite::Result<()> {
            connection.pragma_update(None, "query_only", true)?;
            connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, most)?;
            connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
            connection.progress_handler(STEPS_BETWEEN_LOOKS, Some(ends))?;
            connection.authorizer(Some(|context: AuthContext<'_>| allowed(&context.action)))
        };
        let guarded = guard();
        guarded.map_err(|source| self.failed(source))
    }
}

/// What is not known to be harmless is refused.
fn allowed(action: &AuthAction<'_>) -> Authorization {
    let is_harmless = match action {
        AuthAction::Select | AuthAction::Recursive => true,
        // Pages of the file itself, which may hold what was deleted.
        AuthAction::Read { table_name, .. } => *table_name != "sqlite_dbpage",
        AuthAction::Function { function_name } => !NOT_FUNCTIONS
            .iter()
            .any(|name| name.eq_ignore_ascii_case(function_name)),
        AuthAction::Pragma {
            pragma_name,
            pragma_value,
        } => {
            let is_in = |names: &[&str]| {
                names
                    .iter()
                    .any(|name| name.eq_ignore_ascii_case(pragma_name))
            };
            is_in(&PRAGMAS) && (pragma_value.is_none() || is_in(&OF_SOMETHING))
        }
        _ => false,
    };
    if is_harmless {
        Authorization::Allow
    } else {
        Authorization::Deny
    }
}
