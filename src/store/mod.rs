//! The database: its file and its schema, writing a run, reading runs, deleting them, merging
//! databases. The only
//! code besides [`crate::report`] that uses rusqlite.

mod check;
mod compact;
mod database;
mod delete;
mod error;
mod file;
mod identity;
mod merge;
mod node_pages;
mod node_rows;
mod nodes;
mod open;
mod read;
mod recount;
mod runs;
mod schema;
mod sources;
mod temporary;
mod texts;
mod transaction;
mod walk;
mod write;

pub use check::{CHECKS, Finding};
pub use compact::Compacted;
pub use database::Database;
pub use error::StoreError;
pub(crate) use file::location::{Followed, follow_links};
pub use file::lock_wait::LockWait;
pub use identity::RunMeta;
pub use merge::Merged;
pub(crate) use node_pages::NodePages;
pub use node_rows::NodeRow;
pub use nodes::Below;
pub use open::remove_abandoned;
pub use read::{MetricInfo, NoteInfo, RunInfo, RunState};
pub use runs::{ChooseError, Deletion, Keep, RunHead, RunSet, SetError, Tag, TagChange, Tagged};
pub use schema::{APPLICATION_ID, versions};
pub use walk::{EdgeRow, FunctionRow, LinePlace, LineRow, StackRow};
pub use write::{Outcome, RunWriter, WholeRun, later_runs_by_pages};
