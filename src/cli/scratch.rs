//! Folders for what is made on the way, beside what it is for. A program that is killed leaves its folder, which the next one removes:
//! whoever works in one has it locked.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use tempfile::TempDir;

/// What the names of such folders begin with.
const PREFIX: &str = ".profdb-scratch-";

/// A folder for one program, which goes with it.
pub(super) struct Scratch {
    folder: TempDir,
    /// Locked as long as the folder is used, where folders can be.
    _lock: Option<File>,
}

impl Scratch {
    /// Makes a folder in another one, and removes those that programs have left in it.
    ///
    /// # Errors
    /// When none can be made there.
    pub(super) fn new(parent: &Path) -> io::Result<Self> {
        remove_abandoned(parent);
        loop {
            let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?;
            let lock = File::open(folder.path())
                .ok()
                .filter(|lock| lock.try_lock().is_ok());
            // Before it was locked, another program may have found it abandoned.
            if folder.path().is_dir() {
                return Ok(Self {
                    folder,
                    _lock: lock,
                });
            }
        }
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes folders of programs that have ended: no process holds their locks. What cannot be looked at or removed stays.
#[cfg(unix)]
fn remove_abandoned(parent: &Path) {
    use std::os::unix::fs::MetadataExt;
    let us = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let path = entry.path();
        let is_ours = name.as_encoded_bytes().starts_with(PREFIX.as_bytes())
            && fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir() && found.uid() == us);
        if is_ours && File::open(&path).is_ok_and(|folder| folder.try_lock().is_ok()) {
            let _ = fs::remove_dir_all(&path);
        }
    }
}

#[cfg(not(unix))]
fn remove_abandoned(_: &Path) {}
