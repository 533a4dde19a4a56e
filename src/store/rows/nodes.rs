//! Nodes and what they cost, as the tables have them.

use super::damage::damaged;
use super::reader::{Rows, Tables};
use super::table::{Range, Table};
use profdb_sqlite_pages::values::{Value, Values};

/// A node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Node<'r> {
    /// Its number.
    pub(crate) id: i64,
    /// Its number less that of the node above; `None` at a root.
    pub(crate) up: Option<i64>,
    /// How many nodes are below.
    pub(crate) size: i64,
    /// How many nodes are above.
    pub(crate) depth: i64,
    pub(crate) function_id: i64,
    /// `None` if unknown.
    pub(crate) calls: Option<i64>,
    /// In the default metric of the run.
    pub(crate) cost: Cost,
    /// `None` in function nodes.
    pub(crate) line: Option<i64>,
    /// Its number less that of the enclosing node of the same function or line, if there is one.
    pub(crate) outer_up: Option<i64>,
    /// Column or clause of the line; `None` if unknown.
    pub(crate) col: Option<i64>,
    /// File of the line; `None` where it is the function's own. It may be a stranger's, and no
    /// UTF-8.
    pub(crate) file: Option<&'r [u8]>,
}

/// The cost of which a column whose name ends in `_other` tells (docs/design/measured-choices.md): NULL says that it is what it usually
/// is, infinity that it is unknown.
#[inline]
pub(crate) fn of_other(usual: Option<f64>, other: Option<f64>) -> Option<f64> {
    other.or(usual).filter(|cost| *cost != f64::INFINITY)
}

/// What such a column says of a cost. No importer lets an infinite figure in.
#[inline]
pub(crate) fn to_other(usual: Option<f64>, cost: Option<f64>) -> Option<f64> {
    if cost == usual {
        None
    } else {
        cost.or(Some(f64::INFINITY))
    }
}

/// What a node costs in one metric.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Cost {
    pub(crate) exclusive: f64,
    /// With everything called; `None` if unknown.
    pub(crate) cumulative: Option<f64>,
}

impl Cost {
    /// What a node cost that has no row.
    pub(crate) const NONE: Self = Self {
        exclusive: 0.0,
        cumulative: Some(0.0),
    };

    /// What columns say (docs/design/measured-choices.md).
    #[inline]
    fn of(exclusive: f64, cumulative_other: Option<f64>) -> Self {
        Self {
            exclusive,
            cumulative: of_other(Some(exclusive), cumulative_other),
        }
    }
}

/// Nodes in their order.
pub(crate) struct Nodes<'c>(Rows<'c>);

impl Node<'_> {
    /// The last node below; the node itself if there is none.
    #[inline]
    pub(crate) fn last(&self) -> i64 {
        self.id.saturating_add(self.size)
    }
}

impl<'c> Nodes<'c> {
    /// Reads the nodes from a first to a last one.
    ///
    /// # Errors
    /// When the database fails.
    pub(crate) fn new(tables: &Tables<'c>, (first, last): (i64, i64)) -> rusqlite::Result<Self> {
        let range = Range { of: 0, first, last };
        Ok(Self(tables.rows(Table::Nodes, range)?))
    }

    /// Reads the function nodes from a first to a last one. Nodes of lines, of which there may be
    /// many more, hardly ever come: where a record has to be read to know it.
    ///
    /// # Errors
    /// When the database fails.
    pub(crate) fn of_functions(
        tables: &Tables<'c>,
        (first, last): (i64, i64),
    ) -> rusqlite::Result<Self> {
        let range = Range { of: 0, first, last };
        Ok(Self(tables.rows(Table::FunctionNodesOnly, range)?))
    }

    /// The next node.
    ///
    /// # Errors
    /// When the database fails or is damaged, and when the question is interrupted.
    #[inline]
    pub(crate) fn next(&mut self) -> rusqlite::Result<Option<Node<'_>>> {
        let Some(row) = self.0.next()? else {
            return Ok(None);
        };
        node(row.at, row.others).ok_or_else(damaged).map(Some)
    }

    /// Passes over nodes before one.
    ///
    /// # Errors
    /// As [`Nodes::next`].
    pub(crate) fn skip_to(&mut self, node_id: i64) -> rusqlite::Result<()> {
        self.0.skip_to(node_id)
    }
}

/// A row of `nodes`; `None` if it is none.
#[inline]
fn node(id: i64, mut columns: Values<'_>) -> Option<Node<'_>> {
    let up = columns.integer_or_null()?;
    let size = columns.integer()?;
    let depth = columns.integer()?;
    let function_id = columns.integer()?;
    let calls = columns.integer_or_null()?;
    let exclusive = columns.real()?;
    let line = columns.integer_or_null()?;
    let cumulative_other = columns.real_or_null()?;
    let outer_up = columns.integer_or_null()?;
    let col = columns.integer_or_null()?;
    let file = if columns.skips_null() {
        None
    } else {
        match columns.next_value()? {
            Value::Null => None,
            Value::Text(file) => Some(file),
            _ => return None,
        }
    };
    Some(Node {
        id,
        up,
        size,
        depth,
        function_id,
        calls,
        cost: Cost::of(exclusive, cumulative_other),
        line,
        outer_up,
        col,
        file,
    })
}

/// The columns of a table of nodes and metrics, after these two.
trait Columns: Copy {
    const TABLE: Table;

    /// Reads them; `None` if they are not what the table has.
    fn read(columns: &mut Values<'_>) -> Option<Self>;
}

impl Columns for Cost {
    const TABLE: Table = Table::NodeCosts;

    #[inline]
    fn read(columns: &mut Values<'_>) -> Option<Self> {
        Some(Self::of(columns.real()?, columns.real_or_null()?))
    }
}

/// What a node cost itself with a set of labels.
type LabelCost = (i64, f64);

impl Columns for LabelCost {
    const TABLE: Table = Table::NodeLabels;

    #[inline]
    fn read(columns: &mut Values<'_>) -> Option<Self> {
        Some((columns.integer()?, columns.real()?))
    }
}

/// Rows of nodes in a metric, of which the next one has been read: nodes without a row are passed
/// over by looking at its number.
struct OneAhead<'c, C> {
    rows: Rows<'c>,
    /// Its node and what it says, if there is one.
    next: Option<(i64, C)>,
}

impl<'c, C: Columns> OneAhead<'c, C> {
    fn new(
        tables: &Tables<'c>,
        metric_id: i64,
        (first, last): (i64, i64),
    ) -> rusqlite::Result<Self> {
        let range = Range {
            of: metric_id,
            first,
            last,
        };
        let mut ahead = Self {
            rows: tables.rows(C::TABLE, range)?,
            next: None,
        };
        ahead.advance()?;
        Ok(ahead)
    }

    #[inline]
    fn advance(&mut self) -> rusqlite::Result<()> {
        self.next = match self.rows.next()? {
            Some(mut row) => {
                let columns = C::read(&mut row.others).ok_or_else(damaged)?;
                Some((row.at, columns))
            }
            None => None,
        };
        Ok(())
    }

    /// The next row of a node, if there is one. Rows of nodes before are passed over.
    #[inline]
    fn of(&mut self, node_id: i64) -> rusqlite::Result<Option<C>> {
        while let Some((next, columns)) = self.next
            && next <= node_id
        {
            self.advance()?;
            if next == node_id {
                return Ok(Some(columns));
            }
        }
        Ok(None)
    }

    fn skip_to(&mut self, node_id: i64) -> rusqlite::Result<()> {
        if self.next.is_some_and(|(next, _)| next < node_id) {
            self.rows.skip_to(node_id)?;
            self.advance()?;
        }
        Ok(())
    }
}

/// What nodes cost in a metric that they do not hold themselves.
pub(crate) struct Costs<'c>(OneAhead<'c, Cost>);

impl<'c> Costs<'c> {
    /// Reads the costs of the nodes from a first to a last one.
    ///
    /// # Errors
    /// When the database fails.
    pub(crate) fn new(
        tables: &Tables<'c>,
        metric_id: i64,
        range: (i64, i64),
    ) -> rusqlite::Result<Self> {
        OneAhead::new(tables, metric_id, range).map(Self)
    }

    /// The row of a node, if it has one. Nodes are to be asked for in their order.
    ///
    /// # Errors
    /// As [`Nodes::next`].
    #[inline]
    pub(crate) fn of(&mut self, node_id: i64) -> rusqlite::Result<Option<Cost>> {
        self.0.of(node_id)
    }

    /// Passes over nodes before one.
    ///
    /// # Errors
    /// As [`Nodes::next`].
    pub(crate) fn skip_to(&mut self, node_id: i64) -> rusqlite::Result<()> {
        self.0.skip_to(node_id)
    }

    /// The node of the next row, if there is one.
    pub(crate) fn next_node(&self) -> Option<i64> {
        self.0.next.map(|(next, _)| next)
    }
}

/// What nodes cost themselves in a metric, by sets of labels.
pub(crate) struct Labels<'c>(OneAhead<'c, LabelCost>);

impl<'c> Labels<'c> {
    /// Reads the labels of the nodes from a first to a last one.
    ///
    /// # Errors
    /// When the database fails.
    pub(crate) fn new(
        tables: &Tables<'c>,
        metric_id: i64,
        range: (i64, i64),
    ) -> rusqlite::Result<Self> {
        OneAhead::new(tables, metric_id, range).map(Self)
    }

    /// Replaces a list by the sets of a node and what they cost. Nodes are to be asked for in their
    /// order.
    ///
    /// # Errors
    /// As [`Nodes::next`].
    pub(crate) fn of(
        &mut self,
        node_id: i64,
        labels: &mut Vec<(i64, f64)>,
    ) -> rusqlite::Result<()> {
        labels.clear();
        while let Some(label) = self.0.of(node_id)? {
            labels.push(label);
        }
        Ok(())
    }

    /// The node of the next row, if there is one.
    #[cfg(feature = "parquet")]
    pub(crate) fn next_node(&self) -> Option<i64> {
        self.0.next.map(|(next, _)| next)
    }

    /// Passes over nodes before one.
    ///
    /// # Errors
    /// As [`Nodes::next`].
    pub(crate) fn skip_to(&mut self, node_id: i64) -> rusqlite::Result<()> {
        self.0.skip_to(node_id)
    }
}
