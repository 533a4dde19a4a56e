//! Rows of a run as datasets have them, and runs made of such rows (docs/design/0024-dataset.md).

mod fill;
mod rows;

pub use fill::{FillError, OwnedCell, RowsOfRuns};
pub use rows::{Cell, DatasetRun};
