//! A folder of sources that the user names: its files, and what is in them.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::failure::Failure;
use super::walk::{Hidden, walk};
use crate::base::error::Stop;
use crate::source::{Folder, LARGEST_SOURCE};

/// A folder and the files below it. Links are not followed: what is outside the folder stays
/// outside.
#[derive(Debug)]
pub(super) struct Sources {
    names: Vec<String>,
    paths: Vec<PathBuf>,
    stop: Stop,
}

impl Sources {
    /// Lists a folder. A folder below that cannot be listed is left out: its files could not be read.
    pub(super) fn open(root: &Path, stop: &Stop) -> Result<Self, Failure> {
        let (names, paths) = walk(root, Hidden::Listed, stop)?.files.into_iter().unzip();
        Ok(Self {
            names,
            paths,
            stop: stop.clone(),
        })
    }
}

impl Folder for Sources {
    fn files(&self) -> &[String] {
        &self.names
    }

    fn read(&self, file: usize) -> io::Result<Vec<u8>> {
        if self.stop.is_set() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let mut bytes = Vec::new();
        let read = File::open(&self.paths[file])?
            // One byte more than may be there tells a file of exactly that size from a longer one.
            .take(LARGEST_SOURCE + 1)
            .read_to_end(&mut bytes)?;
        if read as u64 > LARGEST_SOURCE {
            let limit = format!("the file has more than {LARGEST_SOURCE} bytes");
            return Err(io::Error::other(limit));
        }
        Ok(bytes)
    }
}
