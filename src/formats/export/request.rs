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
    /// Is told how many bytes a file will have that has more than
    /// [`LARGE_OUTPUT`](super::LARGE_OUTPUT), before it has.
    pub tell: Option<fn(u64)>,
}
