//! Rows of nodes from SQLite's pages, as its own pager hands them out
//! (docs/design/0013-rows-from-pages.md).

use rusqlite::types::{Type, ValueRef};
use rusqlite::{Connection, OptionalExtension, Statement, Transaction, ffi};

use super::node_rows::{CostRow, NodeRow, Range, ReadCosts, ReadNodes, depth};
use super::walk::LinePlace;
use crate::base::error::Stop;
use crate::sqlite::cursor::{Cursor, PageSource, ReadError, page_size};
use crate::sqlite::values::{Value, Values};

/// The pages of `nodes` and `node_costs`.
pub(super) struct Pages<'c> {
    connection: &'c Connection,
    stop: &'c Stop,
    page_size: usize,
    /// The root pages of the two.
    nodes: u32,
    node_costs: u32,
}

/// Reads a page through SQLite's pager: locks, journal and log are its own.
const PAGE: &str = "SELECT data FROM sqlite_dbpage WHERE pgno = ?1";

/// The tables whose rows are read from pages, with the columns that they store, in their order.
pub(super) const STORED: [(&str, &str); 2] = [
    (
        "nodes",
        "node_id,up,size,depth,function_id,calls,exclusive,line,cumulative_other,outer_up,col,file",
    ),
    ("node_costs", "metric_id,node_id,exclusive,cumulative_other"),
];

/// A column that is generated is not in the record of a row.
const COLUMNS: &str = "SELECT GROUP_CONCAT(name, ',')
                       FROM (SELECT name FROM pragma_table_xinfo(?1) WHERE hidden = 0 ORDER BY cid)";

const ROOT: &str = "SELECT rootpage FROM sqlite_schema WHERE type = 'table' AND name = ?1";

impl<'c> Pages<'c> {
    /// `None` if this SQLite gives no access to pages, or they are of another kind than ours.
    pub(super) fn of(connection: &'c Connection, stop: &'c Stop) -> rusqlite::Result<Option<Self>> {
        // It is compiled in or not, as docs/release.md says.
        let Ok(statement) = connection.prepare(PAGE) else {
            return Ok(None);
        };
        let mut first = Vec::new();
        PagesBySql { statement, stop }.page(1, &mut first)?;
        let Some(page_size) = page_size(&first) else {
            return Ok(None);
        };
        let mut roots = [0; 2];
        for ((table, columns), root) in STORED.into_iter().zip(&mut roots) {
            let found: Option<String> = connection.query_row(COLUMNS, [table], |row| row.get(0))?;
            // Columns that were added at the end do not matter.
            let is_known = found.is_some_and(|found| found.starts_with(columns));
            let page: Option<i64> = connection
                .query_row(ROOT, [table], |row| row.get(0))
                .optional()?;
            match page.map(u32::try_from) {
                Some(Ok(page)) if is_known => *root = page,
                _ => return Ok(None),
            }
        }
        let [nodes, node_costs] = roots;
        Ok(Some(Self {
            connection,
            stop,
            page_size,
            nodes,
            node_costs,
        }))
    }

    fn source(&self) -> rusqlite::Result<PagesBySql<'c>> {
        Ok(PagesBySql {
            statement: self.connection.prepare(PAGE)?,
            stop: self.stop,
        })
    }

    /// Readers of nodes and of their costs.
    pub(super) fn readers(
        &self,
        range: &Range,
    ) -> rusqlite::Result<(NodesByPage<'c>, Vec<Option<CostsByPage<'c>>>)> {
        let (first, last) = range.nodes;
        let mut nodes = NodesByPage {
            cursor: Cursor::table(self.source()?, self.nodes, self.page_size),
            before: first.saturating_sub(1),
        };
        nodes.skip_to(first)?;
        let costs = range.others.iter().map(|metric| {
            let Some(metric_id) = *metric else {
                return Ok(None);
            };
            let mut costs = CostsByPage {
                cursor: Cursor::index(self.source()?, self.node_costs, self.page_size),
                metric_id,
                last,
                before: first.saturating_sub(1),
            };
            costs.skip_to(first)?;
            Ok(Some(costs))
        });
        Ok((nodes, costs.collect::<rusqlite::Result<_>>()?))
    }
}

/// The nodes of a run, read from pages one after the other.
pub(crate) struct NodePages<'c> {
    pages: Pages<'c>,
    /// Another program may change the file between two pages.
    _snapshot: Option<Transaction<'c>>,
}

impl<'c> NodePages<'c> {
    /// `None` if this SQLite gives no access to pages, or they are of another kind than ours.
    ///
    /// # Errors
    /// When the database fails.
    pub(crate) fn of(connection: &'c Connection, stop: &'c Stop) -> rusqlite::Result<Option<Self>> {
        let snapshot = if connection.is_autocommit() {
            Some(connection.unchecked_transaction()?)
        } else {
            None
        };
        let pages = Pages::of(connection, stop)?;
        Ok(pages.map(|pages| Self {
            pages,
            _snapshot: snapshot,
        }))
    }

    /// The nodes from a first to a last one, with their costs in metrics that nodes do not hold
    /// themselves.
    ///
    /// # Errors
    /// When the database fails.
    pub(crate) fn nodes<const N: usize>(
        &self,
        first: i64,
        last: i64,
        metrics: [Option<i64>; N],
    ) -> rusqlite::Result<(NodesInPages<'c>, [Option<CostsInPages<'c>>; N])> {
        let range = Range {
            nodes: (first, last),
            others: metrics.to_vec(),
        };
        let (nodes, costs) = self.pages.readers(&range)?;
        let mut besides = [const { None }; N];
        for (besides, costs) in besides.iter_mut().zip(costs) {
            if let Some(mut costs) = costs {
                let next = costs.next()?;
                *besides = Some(CostsInPages { costs, next });
            }
        }
        Ok((NodesInPages { nodes, last }, besides))
    }
}

/// Costs of nodes in a metric, in the order of the nodes, as pages have them.
pub(crate) struct CostsInPages<'c> {
    costs: CostsByPage<'c>,
    next: Option<CostRow>,
}

impl CostsInPages<'_> {
    /// What a node cost, its own and with everything called, if there is a row for it. Nodes are to
    /// be asked for in their order.
    ///
    /// # Errors
    /// As [`NodesInPages::next`].
    pub(crate) fn of(&mut self, node_id: i64) -> rusqlite::Result<Option<(f64, Option<f64>)>> {
        while let Some((next, exclusive, cumulative)) = self.next {
            if next > node_id {
                break;
            }
            self.next = self.costs.next()?;
            if next == node_id {
                return Ok(Some((exclusive, cumulative)));
            }
        }
        Ok(None)
    }

    /// Passes over costs of nodes before one.
    ///
    /// # Errors
    /// As [`NodesInPages::next`].
    pub(crate) fn skip_to(&mut self, node_id: i64) -> rusqlite::Result<()> {
        if self.next.is_some_and(|(next, ..)| next < node_id) {
            self.costs.skip_to(node_id)?;
            self.next = self.costs.next()?;
        }
        Ok(())
    }
}

/// Nodes in their order, as pages have them.
pub(crate) struct NodesInPages<'c> {
    nodes: NodesByPage<'c>,
    last: i64,
}

impl NodesInPages<'_> {
    /// Reads the next node into a row; its number, and that of the last node below it.
    ///
    /// # Errors
    /// When the database fails or is damaged, and when the question is interrupted.
    pub(crate) fn next(&mut self, row: &mut NodeRow) -> rusqlite::Result<Option<(i64, i64)>> {
        let next = self.nodes.next(row)?;
        Ok(next.filter(|(node, _)| *node <= self.last))
    }

    /// Passes over nodes before one.
    ///
    /// # Errors
    /// As [`NodesInPages::next`].
    pub(crate) fn skip_to(&mut self, node_id: i64) -> rusqlite::Result<()> {
        self.nodes.skip_to(node_id)
    }
}

/// Reads pages by a prepared statement.
struct PagesBySql<'c> {
    statement: Statement<'c>,
    stop: &'c Stop,
}

impl PageSource for PagesBySql<'_> {
    type Error = rusqlite::Error;

    fn page(&mut self, number: u32, bytes: &mut Vec<u8>) -> rusqlite::Result<()> {
        // Each statement is too short for SQLite to look at it.
        if self.stop.is_set() {
            return Err(failure(ffi::SQLITE_INTERRUPT));
        }
        bytes.clear();
        let mut rows = self.statement.query([number])?;
        if let Some(row) = rows.next()?
            && let ValueRef::Blob(page) = row.get_ref(0)?
        {
            bytes.extend_from_slice(page);
        }
        Ok(())
    }
}

fn failure(code: i32) -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)
}

fn damaged() -> rusqlite::Error {
    failure(ffi::SQLITE_CORRUPT)
}

fn unread(error: ReadError<rusqlite::Error>) -> rusqlite::Error {
    match error {
        ReadError::Source(error) => error,
        ReadError::Damaged => damaged(),
    }
}

pub(super) struct NodesByPage<'c> {
    cursor: Cursor<PagesBySql<'c>>,
    /// The node before the next one, which has a larger number.
    before: i64,
}

impl ReadNodes for NodesByPage<'_> {
    fn next(&mut self, row: &mut NodeRow) -> rusqlite::Result<Option<(i64, i64)>> {
        let Some((node_id, record)) = self.cursor.next().map_err(unread)? else {
            return Ok(None);
        };
        // Or a walk might never end.
        if node_id <= self.before {
            return Err(damaged());
        }
        self.before = node_id;
        let size = read_node(record, row).ok_or_else(damaged)??;
        Ok(Some((node_id, node_id.saturating_add(size))))
    }

    fn skip_to(&mut self, node_id: i64) -> rusqlite::Result<()> {
        self.cursor
            .seek(|row_id, _| row_id < node_id)
            .map_err(unread)
    }
}

/// Reads a record of `nodes`, and how many nodes are below; `None` if it is none.
fn read_node(record: &[u8], row: &mut NodeRow) -> Option<rusqlite::Result<i64>> {
    let mut columns = Values::of(record)?;
    // The number of the node is the row id, and so NULL here; `up` says nothing that `depth` does
    // not say.
    columns.next()?;
    columns.next()?;
    let size = columns.integer()?;
    row.depth = depth(columns.integer()?);
    row.function_id = columns.integer()?;
    row.calls = columns.integer_or_null()?.map(i64::unsigned_abs);
    row.exclusive = columns.real()?;
    let line = columns.integer_or_null()?;
    row.cumulative = cumulative(row.exclusive, columns.real_or_null()?);
    let Some(line) = line else {
        row.line = None;
        return Some(Ok(size));
    };
    columns.next()?;
    let col = columns.integer_or_null()?.unwrap_or(0);
    let mut file = String::new();
    match columns.next()? {
        Value::Null => {}
        Value::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => text.clone_into(&mut file),
            Err(error) => {
                let column = Type::Text;
                let error = rusqlite::Error::FromSqlConversionFailure(3, column, error.into());
                return Some(Err(error));
            }
        },
        _ => return None,
    }
    row.line = Some(LinePlace { file, line, col });
    Some(Ok(size))
}

/// What a node cost with what it called, as tables have it (docs/design/0006-small-rows.md).
fn cumulative(exclusive: f64, other: Option<f64>) -> Option<f64> {
    Some(other.unwrap_or(exclusive)).filter(|cost| *cost != f64::INFINITY)
}

pub(super) struct CostsByPage<'c> {
    cursor: Cursor<PagesBySql<'c>>,
    metric_id: i64,
    /// The last node of the run.
    last: i64,
    /// The node before the next one, which has a larger number.
    before: i64,
}

impl ReadCosts for CostsByPage<'_> {
    fn next(&mut self) -> rusqlite::Result<Option<CostRow>> {
        let Some((_, record)) = self.cursor.next().map_err(unread)? else {
            return Ok(None);
        };
        let read = || {
            let mut columns = Values::of(record)?;
            let key = (columns.integer()?, columns.integer()?);
            let exclusive = columns.real()?;
            Some((
                key,
                exclusive,
                cumulative(exclusive, columns.real_or_null()?),
            ))
        };
        let ((metric_id, node_id), exclusive, cumulative) = read().ok_or_else(damaged)?;
        if metric_id != self.metric_id || node_id > self.last {
            return Ok(None);
        }
        // Or a walk might never end.
        if node_id <= self.before {
            return Err(damaged());
        }
        self.before = node_id;
        Ok(Some((node_id, exclusive, cumulative)))
    }

    fn skip_to(&mut self, node_id: i64) -> rusqlite::Result<()> {
        let key = |record: &[u8]| {
            let mut columns = Values::of(record)?;
            Some((columns.integer()?, columns.integer()?))
        };
        let wanted = (self.metric_id, node_id);
        self.cursor
            .seek(|_, record| key(record).is_some_and(|key| key < wanted))
            .map_err(unread)
    }
}
