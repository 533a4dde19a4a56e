//! Temporary files for what does not fit in memory while a run is written: unlinked, in the folder
//! of the database, made when they are needed. They end with the program, however that ends.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

use crate::store::file::growing::Growing;

/// A temporary file that is appended to.
#[derive(Default)]
pub(super) struct Spill {
    /// The file beside which it is made; `None` where everything stays in memory.
    place: Option<PathBuf>,
    file: Option<File>,
    length: u64,
}

impl Spill {
    /// A file beside `place`, whose path has no links, as soon as something is appended.
    pub(super) fn beside(place: Option<PathBuf>) -> Self {
        Self {
            place,
            ..Self::default()
        }
    }

    /// Whether there is a place for a file.
    pub(super) fn is_possible(&self) -> bool {
        self.place.is_some()
    }

    /// How many bytes it has.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Appends bytes; returns where they begin.
    pub(super) fn append(&mut self, bytes: &[u8]) -> io::Result<u64> {
        let place = self.place.as_ref().ok_or(io::ErrorKind::Unsupported)?;
        let mut file = if let Some(file) = &self.file {
            file
        } else {
            // Its name is taken away when `growing` is dropped, and the file stays open.
            let growing = Growing::private(place)?;
            self.file.insert(growing.file()?)
        };
        let start = self.length;
        file.seek(SeekFrom::Start(start))?;
        file.write_all(bytes)?;
        self.length += bytes.len() as u64;
        Ok(start)
    }

    /// Appends bytes of the file, from `start` on, to `bytes`.
    pub(super) fn read(&self, start: u64, length: usize, bytes: &mut Vec<u8>) -> io::Result<()> {
        let mut file = self.file.as_ref().ok_or(io::ErrorKind::UnexpectedEof)?;
        file.seek(SeekFrom::Start(start))?;
        let before = bytes.len();
        bytes.resize(before + length, 0);
        file.read_exact(&mut bytes[before..])
    }
}
