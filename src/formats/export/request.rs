//! What is asked of a writer, and which layouts and how many metrics its format has.

use crate::formats::options::Options;

/// How many metrics a format holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::formats) enum Metrics {
    /// The one that is asked for, or the run's default one.
    One,
    /// All of them, unless one is asked for.
    All,
}

/// One of several ways to write a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Its name on the command line.
    pub name: &'static str,
    /// What is particular about it.
    pub about: &'static str,
}

/// What is asked of a writer.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The metric; the run's default one if `None`.
    pub metric: Option<String>,
    /// The layout; the format's usual one if `None`.
    pub layout: Option<String>,
    /// Options of the format.
    pub options: Options,
    /// Bytes that the file may have at most, before they are packed;
    /// [`MOST_BYTES`](super::MOST_BYTES) if `None`.
    pub max_size: Option<u64>,
    /// What becomes of bytes that have been written.
    pub output: Output,
    /// Is told how many bytes a file has that has more than [`LARGE_OUTPUT`](super::LARGE_OUTPUT):
    /// of a stream before any is written, of a draft when all are.
    pub tell: Option<fn(u64)>,
}

/// What becomes of bytes that have been written when there turn out to be too many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// They have been seen: nothing is written before it is known how much it will be.
    #[default]
    Stream,
    /// The caller throws them away where writing fails.
    Draft,
}
