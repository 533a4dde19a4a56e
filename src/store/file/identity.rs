//! Which file it is, and whether it is as it was.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::location::is_absence;

/// Which file it is, whatever names it has.
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

    /// Other systems do not let a file be replaced that is open.
    #[cfg(not(unix))]
    pub(in crate::store) fn of(_: &Metadata) -> Self {
        Self {
            device: 0,
            number: 0,
        }
    }

    /// The file that a path leads to, by whatever links; `None` if there is none.
    pub(in crate::store) fn at(path: &Path) -> io::Result<Option<Self>> {
        match fs::metadata(path) {
            Ok(about) => Ok(Some(Self::of(&about))),
            Err(error) if is_absence(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// How often this program has it open; `None` where the system does not tell.
    pub(in crate::store) fn times_open(self) -> Option<usize> {
        let descriptors = fs::read_dir("/proc/self/fd").ok()?.flatten();
        let is_it = |path: PathBuf| fs::metadata(path).is_ok_and(|about| Self::of(&about) == self);
        Some(
            descriptors
                .filter(|descriptor| is_it(descriptor.path()))
                .count(),
        )
    }
}

/// How a file was when the right to change it was taken.
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
