//! What functions are called, each looked up once.

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use rusqlite::{Connection, OptionalExtension, Statement};

/// What a function is called, and where it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::report) struct FunctionName {
    pub(in crate::report) name: String,
    pub(in crate::report) module: String,
    pub(in crate::report) file: String,
    /// The line where the definition starts.
    pub(in crate::report) first_line: Option<i64>,
}

/// The names that were asked for so far.
pub(in crate::report) struct Names<'c> {
    statement: Statement<'c>,
    known: HashMap<i64, FunctionName>,
}

impl<'c> Names<'c> {
    pub(in crate::report) fn new(connection: &'c Connection) -> rusqlite::Result<Self> {
        let sql = "SELECT name, module, file, NULLIF(first_line, 0) FROM functions WHERE function_id = ?1";
        Ok(Self {
            statement: connection.prepare(sql)?,
            known: HashMap::new(),
        })
    }

    /// The name of a function; an empty one if there is no such function.
    pub(in crate::report) fn of(&mut self, function: i64) -> rusqlite::Result<&FunctionName> {
        Ok(match self.known.entry(function) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                let name = self
                    .statement
                    .query_row([function], |row| {
                        Ok(FunctionName {
                            name: row.get(0)?,
                            module: row.get(1)?,
                            file: row.get(2)?,
                            first_line: row.get(3)?,
                        })
                    })
                    .optional()?;
                unknown.insert(name.unwrap_or_default())
            }
        })
    }

    /// The name of a function that was asked for before.
    pub(super) fn known(&self, function: i64) -> &FunctionName {
        &self.known[&function]
    }
}
