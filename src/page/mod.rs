//! One file for a browser: runs with their figures, trees of calls and source, and the scripts that answer questions about
//! them (docs/design/0022-page.md). It needs nothing else, and loads nothing. Or the same in parts, as a server sends them
//! (docs/design/0023-serve.md).

mod about;
mod column;
mod document;
mod error;
mod figures;
mod numbers;
mod run;
mod scripts;
mod served;
mod sqlite;
mod statements;
mod told;
mod tree;

pub use about::Command;
pub use column::Block;
pub use document::{Content, MOST_BYTES, Request, write};
pub use error::PageError;
pub use run::Source;
pub use served::{Served, about, blocks, index, script, style};
pub use sqlite::Sql;
pub use told::{Told, UnionBlocks, UnionTree};
