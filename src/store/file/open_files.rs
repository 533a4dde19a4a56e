//! How many files the system lets a program open.

#[cfg(unix)]
use std::fs;

/// The most files that the system lets this program open, if that is why a database cannot be
/// opened.
#[cfg(unix)]
pub(in crate::store) fn too_few_files() -> Option<u64> {
    use rustix::process::{Resource, getrlimit};
    /// A database with its journal, or its log and the memory of that, its folder, and one to look
    /// at the others.
    const NEEDED: u64 = 5;
    let limit = getrlimit(Resource::Nofile).current?;
    let open = fs::read_dir("/proc/self/fd").map(|open| open.count() as u64);
    open.map_or(true, |open| open + NEEDED > limit)
        .then_some(limit)
}

#[cfg(not(unix))]
pub(in crate::store) fn too_few_files() -> Option<u64> {
    None
}
