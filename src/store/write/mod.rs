//! Writing a run: as pages of a new file, as pages of a segment that are appended to a database
//! which has runs, or by SQL.
//!
//! [`run_writer`] decides which of the three; [`pages`] and [`rows`] write rows, as pages and by
//! SQL; [`facts`] writes what is known of a run besides its rows. [`group`] writes several short
//! runs in one transaction.

mod columns;
mod cost_trees;
mod database_pages;
mod facts;
mod group;
mod group_pages;
mod ids;
mod keys;
mod known_functions;
mod outcome;
mod pages;
mod postings;
mod roots;
mod row_trees;
mod rows;
mod run_writer;
mod segment;
mod totals_trees;

pub(super) use columns::integer;
pub use group::WholeRun;
pub(super) use ids::{Ids, StoredFunction};
pub(super) use known_functions::KnownFunctions;
pub use outcome::Outcome;
pub(super) use postings::Ascending;
pub(super) use rows::function_id;
pub use run_writer::RunWriter;
