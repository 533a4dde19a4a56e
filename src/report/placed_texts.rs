//! Columns whose texts hold names of several functions: in call paths and lists of callees, places tell functions of one name
//! apart. The statements of reports give the names alone.

use super::error::failure;
use super::header::Column;
use super::labels::FunctionLabels;
use crate::store::{Database, StoreError};
use crate::text::cell::Value;

const ON_PATH: &str = include_str!("../../queries/names/on_path.sql");

/// Separates callees.
const CALLEE: &str = ", ";

/// A column whose texts hold names of several functions.
#[derive(Clone, Copy)]
pub(super) struct NamesColumn {
    /// Position of the column.
    text: usize,
    /// Position of the column that tells which functions these are.
    key: usize,
    kind: ListedNames,
}

#[derive(Clone, Copy)]
enum ListedNames {
    /// A call path, by the number of its node.
    Path,
    /// Callees, by their numbers.
    Callees,
}

impl NamesColumn {
    /// Returns the column of an answer, if there is one.
    pub(super) fn of(columns: &[Column<'_>]) -> Option<Self> {
        let find = |name: &str| columns.iter().position(|column| column.name == name);
        let kinds = [
            ("path", "node_id", ListedNames::Path),
            ("callees", "callee_ids", ListedNames::Callees),
        ];
        kinds.into_iter().find_map(|(text, key, kind)| {
            Some(Self {
                text: find(text)?,
                key: find(key)?,
                kind,
            })
        })
    }

    /// Returns true if labels are needed only of functions that share their name. Lists of callees need every name.
    pub(super) fn needs_shared_only(self) -> bool {
        matches!(self.kind, ListedNames::Path)
    }

    /// Returns the functions in a row, in the order of the text.
    ///
    /// # Errors
    /// The database's.
    pub(super) fn functions(
        self,
        database: &Database,
        row: &[Value],
    ) -> Result<Vec<(i64, String)>, StoreError> {
        self.kind.functions(database, &row[self.key])
    }

    /// Returns the position of the column and its text in a row with places; `None` if the text of the row is complete.
    ///
    /// # Errors
    /// The database's.
    pub(super) fn with_places(
        self,
        database: &Database,
        labels: &FunctionLabels,
        row: &[Value],
    ) -> Result<Option<(usize, String)>, StoreError> {
        let Value::Text(text) = &row[self.text] else {
            return Ok(None);
        };
        let functions = self.functions(database, row)?;
        let text = match self.kind {
            ListedNames::Path => labels.with_places(text, &functions),
            ListedNames::Callees => {
                let labels = functions.iter().map(|(id, _)| labels.label(*id));
                Some(labels.collect::<Vec<String>>().join(CALLEE))
            }
        };
        Ok(text.map(|text| (self.text, text)))
    }
}

impl ListedNames {
    /// Returns the functions that a key tells, in the order of the text.
    fn functions(self, database: &Database, key: &Value) -> Result<Vec<(i64, String)>, StoreError> {
        match (self, key) {
            (Self::Path, Value::Integer(node)) => {
                let read = || -> rusqlite::Result<Vec<(i64, String)>> {
                    let mut statement = database.connection().prepare_cached(ON_PATH)?;
                    let functions =
                        statement.query_map([node], |row| Ok((row.get(0)?, row.get(1)?)))?;
                    functions.collect()
                };
                read().map_err(|source| failure(database, source))
            }
            (Self::Callees, Value::Text(ids)) => {
                let ids = ids.split(' ').filter_map(|id| id.parse().ok());
                Ok(ids.map(|id| (id, String::new())).collect())
            }
            _ => Ok(Vec::new()),
        }
    }
}
