//! Runs of a database: which are meant, what the user says of them, and which are to go.

mod choose;
mod deletion;
mod set;
mod tag;
mod uid;

pub use choose::{ChooseError, NoRuns, RunHead};
pub use deletion::{Deletion, Keep};
pub use set::{RunSet, SHORTEST_COMMIT, SetError, Tag, is_range, is_start_of_commit};
pub use tag::{TagChange, Tagged};
pub use uid::ShortUids;
