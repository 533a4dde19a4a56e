//! The files that cases bring.

use std::fs;
use std::path::{Path, PathBuf};

pub(crate) fn entries(folder: &Path) -> Vec<PathBuf> {
    let read = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = read.map(|entry| entry.expect("readable").path()).collect();
    paths.sort();
    paths
}

/// The files below a folder; what only keeps a folder alive in git is none.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let (folders, mut found): (Vec<_>, Vec<_>) =
        entries(folder).into_iter().partition(|path| path.is_dir());
    found.retain(|path| path.file_name().is_some_and(|name| name != ".keep"));
    found.extend(folders.iter().flat_map(|folder| files(folder)));
    found
}
