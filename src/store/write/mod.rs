//! Writing a run: as pages of a new file, as pages of a segment that are appended to a database
//! which has runs, or by SQL.
//!
//! [`run_writer`] decides which of the three; [`pages`] and [`rows`] write rows, as pages and by
//! SQL; [`facts`] writes what is known of a run besides its rows. [`group`] writes several short
//! runs in one transaction.

mod columns;
mod copied_rows;
mod cost_trees;
mod database_pages;
mod facts;
mod group;
mod group_pages;
mod identity_trees;
mod ids;
mod keys;
mod known_functions;
mod late_rows;
mod outcome;
mod page_buffer;
mod pages;
mod postings;
mod roots;
mod row_trees;
mod rows;
mod run_writer;
mod segment;
mod spill;
mod totals_trees;

pub(super) use columns::integer;
pub(super) use copied_rows::{CopiedRows, RunIndex};
pub use database_pages::later_runs_by_pages;
pub(super) use database_pages::{PagesBySql, cut_ranges, end_after, prepare_end, unguarded};
pub use group::WholeRun;
pub(super) use ids::{Ids, StoredFunction};
pub(super) use known_functions::KnownFunctions;
pub use outcome::Outcome;
pub(super) use roots::root;
pub(super) use rows::function_id;
pub(super) use run_writer::ROWS_FOR_SEGMENT;
pub use run_writer::RunWriter;
pub(super) use segment::has_our_indexes_only;
