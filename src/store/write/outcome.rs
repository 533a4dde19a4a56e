//! What became of a run.

/// What became of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is stored under this number.
    Stored(i64),
    /// It was there already, under this number; nothing has changed.
    AlreadyThere(i64),
}
