//! The database: its file and its schema, writing a run, reading runs, merging databases. The only
//! code besides [`crate::report`] that uses rusqlite.

mod check;
mod database;
mod error;
mod file;
mod identity;
mod merge;
mod open;
mod read;
mod recount;
mod schema;
mod sources;
mod texts;
mod transaction;
mod walk;
mod write;

pub use check::{CHECKS, Finding};
pub use database::Database;
pub use error::StoreError;
pub(crate) use file::location::{Followed, follow_links};
pub use file::lock_wait::LockWait;
pub use identity::RunMeta;
pub use merge::Merged;
pub use open::remove_abandoned;
pub use read::{MetricInfo, NoteInfo, RunInfo, RunState};
pub use schema::{APPLICATION_ID, versions};
pub use walk::{EdgeRow, FunctionRow, LinePlace, LineRow, NodeRow, StackRow};
pub use write::{Outcome, RunWriter, WholeRun};
