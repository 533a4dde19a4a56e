//! Identity of a file, and whether it has been written to.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::location::is_absence;

/// Device and inode of a file: it has these under all its names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) struct Identity {
    device: u64,
    number: u64,
}

impl Identity {
    #[cfg(unix)]
    pub(in crate::store) fn of(about: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self {
            device: about.dev(),
            number: about.ino(),
        }
    }

    /// Every file is equal to every other: other systems do not let an open file be replaced.
    #[cfg(not(unix))]
    pub(in crate::store) fn of(_: &Metadata) -> Self {
        Self {
            device: 0,
            number: 0,
        }
    }

    /// The file that a path leads to, links followed; `None` if there is none.
    pub(in crate::store) fn at(path: &Path) -> io::Result<Option<Self>> {
        match fs::metadata(path) {
            Ok(about) => Ok(Some(Self::of(&about))),
            Err(error) if is_absence(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// How often this program has it open; `None` where the system does not say.
    pub(in crate::store) fn times_open(self) -> Option<usize> {
        // The path does not say which file SQLite has opened by it; the system's list of this
        // program's open files does.
        let descriptors = fs::read_dir("/proc/self/fd").ok()?.flatten();
        let is_it = |path: PathBuf| fs::metadata(path).is_ok_and(|about| Self::of(&about) == self);
        Some(
            descriptors
                .filter(|descriptor| is_it(descriptor.path()))
                .count(),
        )
    }
}

/// Length and time of the last change: how a file was when its lock was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) struct Stamp {
    bytes: u64,
    modified: SystemTime,
}

impl Stamp {
    pub(in crate::store) fn of(path: &Path) -> io::Result<Self> {
        let about = fs::metadata(path)?;
        Ok(Self {
            bytes: about.len(),
            modified: about.modified()?,
        })
    }
}
