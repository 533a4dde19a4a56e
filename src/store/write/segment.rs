//! Where a long run into a database that has others is written first: a file without a name, in the
//! same folder, with empty tables of its own. When the run is whole, [`crate::sqlite::append`] puts
//! its rows behind the others'.

use std::fs::File;
use std::path::Path;

use rusqlite::Connection;

use super::database_pages::{append_trees, database_pages};
use super::pages::PAGE_SIZE;
use crate::store::file::connection;
use crate::store::file::growing::Growing;
use crate::store::{Cause, migrate};

/// What has many rows, with its index: rows of a later run come after all others.
const TREES: &[&str] = &[
    "nodes",
    "node_costs",
    "function_nodes",
    "function_info",
    "line_info",
    "node_labels",
    "edges",
    "edges_by_caller",
];

/// See the module's page.
pub(in crate::store) struct Segment {
    connection: Connection,
    file: File,
}

impl Segment {
    /// Makes the file, if its rows can be put into the database later: a transaction is open there,
    /// tables are up to date and have no more indexes or triggers than ours.
    pub(in crate::store) fn new(database: &Connection) -> Result<Option<Self>, Cause> {
        // SQLite says where the file itself is, whatever links lead there.
        let place = database
            .path()
            .filter(|path| !path.is_empty())
            .map(Path::new);
        let (true, Some(place)) = (cfg!(unix), place) else {
            return Ok(None);
        };
        if !runs_come_last(database)? || database_pages(database, PAGE_SIZE)?.is_none() {
            return Ok(None);
        }
        let Ok(growing) = Growing::beside(place, &[]) else {
            return Ok(None);
        };
        let connection = growing.open()?;
        // From here on, the file goes with the program.
        growing.remove_own();
        let segment = Self {
            connection,
            file: growing.file()?,
        };
        empty_tables(&segment.connection)?;
        let same = schema(&segment.connection)? == schema(database)?;
        Ok(same.then_some(segment))
    }

    /// For rows that are not written as pages.
    pub(in crate::store) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// The file, for pages.
    pub(in crate::store) fn file(&self) -> std::io::Result<File> {
        self.file.try_clone()
    }

    /// Puts the rows behind those of `database`. Afterwards, its connection is good for COMMIT or
    /// ROLLBACK only.
    pub(in crate::store) fn move_into(self, database: &Connection) -> Result<(), Cause> {
        let root = |connection: &Connection, name: &str| {
            let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
            connection.query_row(sql, [name], |row| row.get::<_, u32>(0))
        };
        let roots = TREES
            .iter()
            .map(|name| Ok((root(database, name)?, root(&self.connection, name)?)));
        let roots: Vec<_> = roots.collect::<rusqlite::Result<_>>()?;
        // It was there before, and in this transaction nobody else can have changed it.
        let pages = database_pages(database, PAGE_SIZE)?.expect("pages are handed out, as before");
        append_trees(database, pages, &self.file, &roots)
    }
}

/// Makes the tables of a file whose loss is nobody's.
pub(in crate::store) fn empty_tables(connection: &Connection) -> Result<(), Cause> {
    connection.pragma_update(None, "page_size", i64::from(PAGE_SIZE))?;
    connection.pragma_update(None, "journal_mode", "MEMORY")?;
    connection.pragma_update(None, "synchronous", "OFF")?;
    let transaction = connection.unchecked_transaction()?;
    migrate(&transaction)?;
    Ok(transaction.commit()?)
}

/// The bytes of a database with empty tables.
pub(in crate::store) fn empty_database() -> Result<Vec<u8>, Cause> {
    let mut connection = connection::open_in_memory()?;
    empty_tables(&connection)?;
    Ok(connection.serialize("main")?.to_vec())
}

/// Whether the rows of the next run come after all others in all tables: only rows that belong to
/// no run could be behind.
fn runs_come_last(connection: &Connection) -> rusqlite::Result<bool> {
    let sql = "SELECT
                 COALESCE((SELECT MAX(run_id) FROM function_nodes), 0)
                   <= COALESCE((SELECT seq FROM sqlite_sequence WHERE name = 'runs'), 0)
                 AND MAX(
                   COALESCE((SELECT MAX(metric_id) FROM node_costs), 0),
                   COALESCE((SELECT MAX(metric_id) FROM function_info), 0),
                   COALESCE((SELECT MAX(metric_id) FROM line_info), 0),
                   COALESCE((SELECT MAX(metric_id) FROM node_labels), 0),
                   COALESCE((SELECT MAX(metric_id) FROM edges), 0)
                 ) <= COALESCE((SELECT MAX(metric_id) FROM metrics), 0)";
    connection.query_row(sql, [], |row| row.get(0))
}

/// The large tables, and all that hangs on them.
fn schema(connection: &Connection) -> rusqlite::Result<Vec<(String, String, Option<String>)>> {
    let sql = "SELECT type, name, sql
               FROM sqlite_schema
               WHERE tbl_name IN
                 ('nodes', 'node_costs', 'function_nodes', 'function_info', 'line_info', 'node_labels', 'edges')
               ORDER BY type, name";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    rows.collect()
}
