//! A member of our own in files of the Firefox Profiler, read and written.

/// A member of `meta`: the interval is unknown, and the one that is there is for viewers, which
/// want one.
pub(crate) const UNKNOWN_INTERVAL: &str = "unknownInterval";
