//! Rows of the large tables in the order of their keys: from SQLite's pages where it gives access to
//! them, with a tenth of the instructions, otherwise by SQL. Both give the same rows
//! (docs/design/measured-choices.md).

mod damage;
mod nodes;
mod pages;
mod reader;
mod statements;
mod table;

pub(in crate::store) use damage::damaged;
pub(crate) use nodes::{Cost, Costs, Labels, Node, Nodes, of_other, to_other};
pub(in crate::store) use reader::StoredRow;
pub(crate) use reader::Tables;
pub(in crate::store) use table::{Range, Table};
