//! Byte sources that can be rewound: files, which seek, and pipes, which keep what has passed.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

/// Bytes of a pipe that are kept in memory: more than lie between it and the first bytes that an
/// importer sees.
const IN_MEMORY: usize = 1 << 20;

/// A byte source that can be rewound.
pub(crate) trait Rewind: Read {
    /// Says that it will be rewound. Comes before many bytes have been read, or not at all.
    fn keep(&mut self) {}

    /// Goes back to the first byte.
    fn restart(&mut self) -> io::Result<()>;
}

impl<R: Read + Seek> Rewind for R {
    fn restart(&mut self) -> io::Result<()> {
        self.rewind()
    }
}

/// A reader that cannot seek. What it delivers is kept for as long as that costs little, or for good
/// if it will be rewound.
pub(crate) struct Pipe<'a> {
    reader: Box<dyn Read + 'a>,
    past: Past,
    will_rewind: bool,
    /// Where the next byte comes from: from the past, or, after its end, from the reader.
    at: u64,
}

/// What a pipe has delivered so far.
enum Past {
    Memory(Vec<u8>),
    /// In an unlinked file, which is gone when the program ends.
    File {
        file: File,
        length: u64,
    },
    /// It has become too much to keep for a rewind that was never announced.
    Gone,
}

impl<'a> Pipe<'a> {
    pub(crate) fn new(reader: Box<dyn Read + 'a>) -> Self {
        Self {
            reader,
            past: Past::Memory(Vec::new()),
            will_rewind: false,
            at: 0,
        }
    }

    /// Reads what is kept, if the next byte is there.
    fn read_past(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.past {
            Past::Memory(kept) => {
                let rest = usize::try_from(self.at).ok().and_then(|at| kept.get(at..));
                rest.unwrap_or_default().read(buffer)
            }
            Past::File { file, length } if self.at < *length => {
                // The file has one place for reading and writing: each of them seeks first.
                file.seek(SeekFrom::Start(self.at))?;
                file.read(buffer)
            }
            Past::File { .. } | Past::Gone => Ok(0),
        }
    }

    fn remember(&mut self, new: &[u8]) -> io::Result<()> {
        match &mut self.past {
            Past::Memory(kept) if kept.len() + new.len() <= IN_MEMORY => {
                kept.extend_from_slice(new);
            }
            Past::Memory(kept) if self.will_rewind => {
                let mut file = tempfile::tempfile()?;
                file.write_all(kept)?;
                file.write_all(new)?;
                self.past = Past::File {
                    file,
                    length: (kept.len() + new.len()) as u64,
                };
            }
            // What has been kept is dropped at once: without the beginning the rest is of no use.
            Past::Memory(_) => self.past = Past::Gone,
            Past::File { file, length } => {
                file.seek(SeekFrom::Start(*length))?;
                file.write_all(new)?;
                *length += new.len() as u64;
            }
            Past::Gone => {}
        }
        Ok(())
    }
}

impl Read for Pipe<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut read = self.read_past(buffer)?;
        // Nothing is left of the past. It is never read beyond its end, so that `at` is where it
        // ends when something new is remembered.
        if read == 0 {
            read = self.reader.read(buffer)?;
            self.remember(buffer.get(..read).unwrap_or_default())?;
        }
        self.at += read as u64;
        Ok(read)
    }
}

impl Rewind for Pipe<'_> {
    fn keep(&mut self) {
        self.will_rewind = true;
    }

    fn restart(&mut self) -> io::Result<()> {
        if matches!(self.past, Past::Gone) {
            return Err(io::Error::other(
                "the first bytes are gone: they were not to be kept",
            ));
        }
        self.at = 0;
        Ok(())
    }
}
