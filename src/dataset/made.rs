//! Rows of a file as SQL shows them: columns of the table that files do not have are computed from those that they have. The rules are
//! those of the tables; their expressions for engines are in `queries/dataset/columns.sql`.

use super::digits::{SCALES, number};
use super::error::DatasetError;
use super::tables::{Column, Rule, Table};
use crate::store::{Cell, of_other};

/// The columns of a file, and how rows of SQL are made of them.
pub(super) struct Layout {
    /// The columns to be read.
    pub(super) stored: Vec<&'static Column>,
    made: Vec<Source>,
}

/// What a column of SQL is made of: places among the columns that are read, and of `usual` and `node` among those that are made.
enum Source {
    Stored(usize),
    Before {
        node: usize,
        by: usize,
    },
    After {
        node: usize,
        by: usize,
    },
    Cost {
        digits: usize,
        scale: usize,
        other: usize,
        usual: Option<usize>,
    },
    Other {
        other: usize,
        usual: usize,
    },
    IdentityName {
        key: usize,
        name: usize,
        other: usize,
    },
}

impl Layout {
    /// Returns the layout of the files of a table.
    pub(super) fn of(table: &'static Table) -> Self {
        let mut layout = Self {
            stored: Vec::new(),
            made: Vec::new(),
        };
        let place = |name: &str| {
            let mut columns = table.columns.iter();
            columns.position(|column| column.name == name)
        };
        for column in table.columns {
            let rule = table.rule(column.name);
            let from = rule.and_then(|rule| layout.rule(table, rule, place));
            let from = from.unwrap_or_else(|| Source::Stored(layout.read(column)));
            layout.made.push(from);
        }
        layout
    }

    /// The place of a column among those that are read.
    fn read(&mut self, column: &'static Column) -> usize {
        let mut stored = self.stored.iter();
        stored
            .position(|stored| stored.name == column.name)
            .unwrap_or_else(|| {
                self.stored.push(column);
                self.stored.len() - 1
            })
    }

    fn rule(
        &mut self,
        table: &'static Table,
        rule: Rule,
        place: impl Fn(&str) -> Option<usize>,
    ) -> Option<Source> {
        let mut read = |name: &str| {
            let column = table.files().iter().find(|column| column.name == name)?;
            Some(self.read(column))
        };
        Some(match rule {
            Rule::Before(by) => Source::Before {
                node: place("node_id")?,
                by: read(by.name)?,
            },
            Rule::After(by) => Source::After {
                node: place("node_id")?,
                by: read(by.name)?,
            },
            Rule::Cost(cost) | Rule::CostOr(cost, _) => Source::Cost {
                digits: read(cost.digits.name)?,
                scale: read(cost.scale.name)?,
                other: read(cost.other.name)?,
                usual: match rule {
                    Rule::CostOr(_, usual) => Some(place(usual)?),
                    _ => None,
                },
            },
            Rule::Other(other, usual) => Source::Other {
                other: read(other.name)?,
                usual: place(usual)?,
            },
            Rule::IdentityName(other) => Source::IdentityName {
                key: read("identity_key")?,
                name: read("name")?,
                other: read(other.name)?,
            },
        })
    }

    /// Makes a row of SQL of one of the file.
    ///
    /// # Errors
    /// When the row cannot be one.
    pub(super) fn row<'r>(
        &self,
        stored: &[Cell<'r>],
        row: &mut Vec<Cell<'r>>,
    ) -> Result<(), DatasetError> {
        row.clear();
        for from in &self.made {
            row.push(match *from {
                Source::Stored(at) => stored[at],
                Source::Before { node, by } => moved(row[node], stored[by], i64::checked_sub)?,
                Source::After { node, by } => moved(row[node], stored[by], i64::checked_add)?,
                Source::Cost {
                    digits,
                    scale,
                    other,
                    usual,
                } => match (stored[digits], stored[scale], stored[other]) {
                    (_, Cell::Real(0.0), _) if usual.is_some() => Cell::Null,
                    (Cell::Null, _, Cell::Null) => usual.map_or(Cell::Null, |usual| row[usual]),
                    (Cell::Null, _, other) => other,
                    (digits, scale, _) => quotient(digits, scale)?,
                },
                Source::Other { other, usual } => {
                    let cost = of_other(real(row[usual]), real(stored[other]));
                    cost.map_or(Cell::Null, Cell::Real)
                }
                Source::IdentityName { key, name, other } => match (stored[key], stored[other]) {
                    (Cell::Null, _) => Cell::Null,
                    (_, Cell::Null) => stored[name],
                    (_, other) => other,
                },
            });
        }
        Ok(())
    }
}

fn real(cell: Cell<'_>) -> Option<f64> {
    match cell {
        Cell::Real(value) => Some(value),
        _ => None,
    }
}

/// The number of a node that is so many away from another one.
fn moved<'r>(
    node: Cell<'r>,
    by: Cell<'r>,
    how: impl Fn(i64, i64) -> Option<i64>,
) -> Result<Cell<'r>, DatasetError> {
    match (node, by) {
        (Cell::Integer(node), Cell::Integer(by)) => how(node, by)
            .map(Cell::Integer)
            .ok_or_else(|| DatasetError::Content("a node out of range".to_owned())),
        _ => Ok(Cell::Null),
    }
}

fn quotient<'r>(digits: Cell<'r>, scale: Cell<'r>) -> Result<Cell<'r>, DatasetError> {
    match (digits, scale) {
        (Cell::Integer(digits), Cell::Real(scale)) if SCALES.contains(&scale) => {
            Ok(Cell::Real(number(digits, scale)))
        }
        _ => Err(DatasetError::Content(
            "expected digits that are divided by a power of ten".to_owned(),
        )),
    }
}
