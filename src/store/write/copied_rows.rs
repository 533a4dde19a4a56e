//! Rows of runs of another database, written as pages of a segment and appended to the database all
//! at once. They come in the order of their keys, table by table and run by run.

use std::path::Path;

use rusqlite::Connection;

use super::roots::Roots;
use super::row_trees::start_table_row;
use super::segment::SegmentFile;
use crate::store::database::Database;
use crate::store::error::{Cause, StoreError};
use crate::store::file::empty::PAGE_SIZE;
use profdb_sqlite_pages::btree::{IndexTree, TableTree};
use profdb_sqlite_pages::page_file::PageFile;
use profdb_sqlite_pages::record::Record;
use profdb_sqlite_pages::values::{Rest, Value};

/// An index, or a table WITHOUT ROWID, that has many rows of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) enum RunIndex {
    NodeCosts,
    FunctionNodes,
    FunctionInfo,
    LineInfo,
    NodeLabels,
    Edges,
    EdgesByCaller,
}

/// How many of [`RunIndex`] there are.
const INDEXES: usize = 7;

/// The rows so far.
pub(in crate::store) struct CopiedRows {
    segment: SegmentFile,
    file: PageFile,
    roots: Roots,
    record: Record,
    nodes: TableTree,
    /// By number in [`RunIndex`].
    indexes: [IndexTree; INDEXES],
}

impl CopiedRows {
    /// Begins to collect rows for a database; `None` if they cannot be appended to it. `place` is
    /// where the database is or will be.
    pub(in crate::store) fn new(
        database: &Connection,
        place: &Path,
    ) -> Result<Option<Self>, Cause> {
        let Some(segment) = SegmentFile::new(database, place)? else {
            return Ok(None);
        };
        let file = PageFile::new(segment.file()?, PAGE_SIZE)?;
        Ok(Some(Self {
            roots: segment.roots()?,
            record: Record::default(),
            nodes: TableTree::new(&file),
            indexes: [(); INDEXES].map(|()| IndexTree::new(&file)),
            segment,
            file,
        }))
    }

    /// Adds a row of `nodes`: its id, the columns after that which may change, and the rest.
    pub(in crate::store) fn node(
        &mut self,
        id: i64,
        columns: &[Value<'_>],
        rest: Rest<'_>,
    ) -> Result<(), Cause> {
        let record = start_table_row(&mut self.record);
        put_all(record, columns, rest)?;
        self.nodes
            .push(&mut self.file, id.cast_unsigned(), record)?;
        Ok(())
    }

    /// Adds a row of an index: the columns that may change, those of the key first, and the rest.
    pub(in crate::store) fn row(
        &mut self,
        index: RunIndex,
        columns: &[Value<'_>],
        rest: Rest<'_>,
    ) -> Result<(), Cause> {
        let record = self.record.start();
        put_all(record, columns, rest)?;
        self.indexes[index as usize].push(&mut self.file, record)?;
        Ok(())
    }

    /// Appends the rows to those of `database`, as [`Database::append`] does.
    pub(in crate::store) fn append_to(self, database: &Database) -> Result<(), StoreError> {
        let segment = self.whole().map_err(|cause| database.failed(cause))?;
        database.append(&segment)
    }

    fn whole(mut self) -> Result<SegmentFile, Cause> {
        let roots = &self.roots;
        let indexes = [
            roots.node_costs,
            roots.function_nodes,
            roots.function_info,
            roots.line_info,
            roots.node_labels,
            roots.edges,
            roots.edges_by_caller,
        ];
        self.nodes.finish(&mut self.file, roots.nodes)?;
        for (index, root) in self.indexes.into_iter().zip(indexes) {
            index.finish(&mut self.file, root)?;
        }
        self.file.finish()?;
        Ok(self.segment)
    }
}

/// Adds columns to a record.
fn put_all(record: &mut Record, columns: &[Value<'_>], rest: Rest<'_>) -> Result<(), Cause> {
    for value in columns {
        put(record, *value)?;
    }
    if record.rest(rest) {
        Ok(())
    } else {
        Err(Cause::Altered("a row has too many columns".to_owned()))
    }
}

/// Adds a value to a record.
fn put(record: &mut Record, value: Value<'_>) -> Result<(), Cause> {
    match value {
        Value::Null => record.null(),
        Value::Integer(value) => record.integer(value),
        Value::Real(value) => record.real(value),
        Value::Text(text) => record
            .text(std::str::from_utf8(text).map_err(|error| rusqlite::Error::Utf8Error(0, error))?),
        Value::Blob(_) => return Err(Cause::Altered("a value is a blob".to_owned())),
    };
    Ok(())
}
