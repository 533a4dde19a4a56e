//! Functions whose ids are known from an earlier run: files of one folder mostly have the same
//! ones, and looking each of them up by SQL takes longer than writing its rows.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use hashbrown::HashMap;
use rusqlite::Connection;

use super::ids::StoredFunction;
use super::rows::function;
use crate::events::FunctionDef;
use crate::identity::{IdentityKey, Rules};
use crate::profile::Function;

/// How many functions are remembered.
const MOST: usize = 200_000;

/// Ids of functions, for as long as no other program changes the database.
#[derive(Debug, Default)]
pub(in crate::store) struct KnownFunctions {
    ids: HashMap<ByDefinition, (StoredFunction, IdentityKey)>,
    /// SQLite's number for what the database holds: another one when another connection has changed
    /// it.
    data_version: Option<i64>,
}

impl KnownFunctions {
    /// Forgets all ids unless they still hold. To be called in a transaction, so that they go on
    /// holding.
    pub(super) fn check(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let now = connection
            .prepare_cached("PRAGMA data_version")?
            .query_row([], |row| row.get(0))?;
        if self.data_version.replace(now) != Some(now) || self.ids.len() > MOST {
            self.ids.clear();
        }
        Ok(())
    }

    /// The id of a function, whose row is made if no run has mentioned it before, and its identity.
    pub(super) fn id(
        &mut self,
        connection: &Connection,
        rules: &Rules,
        about: &Arc<Function>,
    ) -> rusqlite::Result<(StoredFunction, IdentityKey)> {
        let about = ByDefinition(Arc::clone(about));
        if let Some(id) = self.ids.get(&about) {
            return Ok(*id);
        }
        let id = function(connection, rules, &about.0)?;
        self.ids.insert(about, id);
        Ok(id)
    }

    /// Forgets all ids: rows are being taken back or deleted.
    pub(in crate::store) fn forget(&mut self) {
        self.ids.clear();
    }
}

/// A function, compared by the unique columns of its table.
#[derive(Debug)]
struct ByDefinition(Arc<Function>);

impl ByDefinition {
    fn key(&self) -> (&str, &str, &str, &str, u32, u32) {
        let FunctionDef {
            kind,
            name,
            // Several raw names may be shown as one name: they are one function.
            raw_name: _,
            module,
            file,
            first_line,
            first_col,
        } = self.0.definition();
        (name, module, file, kind.name(), first_line, first_col)
    }
}

impl PartialEq for ByDefinition {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for ByDefinition {}

impl Hash for ByDefinition {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}
