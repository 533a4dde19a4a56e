//! The database: its file and its schema, writing a run, reading runs, deleting them, merging
//! databases. The only
//! code besides [`crate::report`] that uses rusqlite.

mod check;
mod combination;
mod combine;
mod compact;
mod database;
mod dataset;
mod dates;
mod delete;
mod error;
mod figures;
mod file;
mod fingerprint;
#[cfg(feature = "serve")]
mod guard;
mod identify;
mod identities;
mod identity;
mod marks;
mod merge;
mod names;
mod nodes;
mod open;
mod page;
mod read;
mod recount;
mod rows;
mod runs;
mod schema;
mod sources;
mod temporary;
mod texts;
mod transaction;
mod trimmed;
mod walk;
mod write;

pub use check::{CHECKS, Finding};
pub use combination::{Combination, CombinedRuns};
pub use combine::{CombineError, CombinedRun};
pub use compact::Compacted;
pub use database::Database;
pub use dataset::{Cell, DatasetRun, FillError, OwnedCell, RowsOfRuns};
pub use error::{DEFAULT_DATABASE, StoreError};
pub use figures::{
    FunctionDefinition, FunctionIdentity, FunctionSum, FunctionSums, MetricNoise, RunFacts,
};
pub(crate) use file::location::{Followed, follow_links};
pub use file::lock_wait::LockWait;
pub use identities::Identified;
pub use identity::{LONGEST_UID, RunMeta};
pub use marks::{Fitting, IdentifiedFunction, MetricOfRun, RunMarks};
pub use merge::Merged;
pub use names::ThreadName;
pub use nodes::{Below, CallRow, NodeRow};
pub use open::remove_abandoned;
pub use page::{
    CallFigures, FilledViews, FunctionFigures, LineFigures, NodeLabel, SetLabel, SourcePlace,
    StoredIdentity,
};
pub use read::{MetricInfo, NoteInfo, RunInfo, RunState};
pub(crate) use rows::{Cost, Costs, Labels, Nodes, Tables};
#[cfg(feature = "parquet")]
pub(crate) use rows::{of_other, to_other};
pub use runs::{
    ChooseError, Deletion, Keep, NoRuns, RunHead, RunSet, SHORTEST_COMMIT, SetError, ShortUids,
    Tag, TagChange, Tagged, is_range, is_start_of_commit,
};
pub use schema::{APPLICATION_ID, Migrations, SCHEMA, SchemaState, versions};
pub use walk::{EdgeRow, FunctionRow, LinePlace, LineRow, StackRow};
pub use write::{Outcome, RunWriter, WholeRun, later_runs_by_pages};
