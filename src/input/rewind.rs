//! Sources of bytes that can be read twice: files, which go back, and pipes, of which what has
//! passed is kept.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

/// Bytes of a pipe that are kept in memory: more than lie between it and the first bytes that an
/// importer sees.
const KEPT: usize = 1 << 20;

/// Bytes that can be had once more.
pub(crate) trait Source: Read {
    /// Says that they will be wanted once more. Comes before many of them have been read, or not at
    /// all.
    fn keep(&mut self) {}

    /// Goes back to the first byte.
    fn restart(&mut self) -> io::Result<()>;
}

impl<R: Read + Seek> Source for R {
    fn restart(&mut self) -> io::Result<()> {
        self.rewind()
    }
}

/// A reader that cannot go back. What it delivers is kept, for as long as that costs little or if
/// it is wanted.
pub(crate) struct Pipe<'a> {
    reader: Box<dyn Read + 'a>,
    kept: Kept,
    wanted: bool,
    /// Where the next byte comes from: from what is kept, or, behind that, from the reader.
    at: u64,
}

/// What a pipe has delivered so far.
enum Kept {
    Memory(Vec<u8>),
    /// In a file without a name, which is gone when the program is.
    File {
        file: File,
        length: u64,
    },
    /// It has become too much, and nobody wanted it.
    Gone,
}

impl<'a> Pipe<'a> {
    pub(crate) fn new(reader: Box<dyn Read + 'a>) -> Self {
        Self {
            reader,
            kept: Kept::Memory(Vec::new()),
            wanted: false,
            at: 0,
        }
    }

    /// Reads once more what is kept, if the next byte is there.
    fn read_kept(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.kept {
            Kept::Memory(kept) => {
                let rest = usize::try_from(self.at).ok().and_then(|at| kept.get(at..));
                rest.unwrap_or_default().read(buffer)
            }
            Kept::File { file, length } if self.at < *length => {
                file.seek(SeekFrom::Start(self.at))?;
                file.read(buffer)
            }
            Kept::File { .. } | Kept::Gone => Ok(0),
        }
    }

    fn keep_also(&mut self, new: &[u8]) -> io::Result<()> {
        match &mut self.kept {
            Kept::Memory(kept) if kept.len() + new.len() <= KEPT => kept.extend_from_slice(new),
            Kept::Memory(kept) if self.wanted => {
                let mut file = tempfile::tempfile()?;
                file.write_all(kept)?;
                file.write_all(new)?;
                self.kept = Kept::File {
                    file,
                    length: (kept.len() + new.len()) as u64,
                };
            }
            Kept::Memory(_) => self.kept = Kept::Gone,
            Kept::File { file, length } => {
                file.seek(SeekFrom::Start(*length))?;
                file.write_all(new)?;
                *length += new.len() as u64;
            }
            Kept::Gone => {}
        }
        Ok(())
    }
}

impl Read for Pipe<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut read = self.read_kept(buffer)?;
        if read == 0 {
            read = self.reader.read(buffer)?;
            self.keep_also(buffer.get(..read).unwrap_or_default())?;
        }
        self.at += read as u64;
        Ok(read)
    }
}

impl Source for Pipe<'_> {
    fn keep(&mut self) {
        self.wanted = true;
    }

    fn restart(&mut self) -> io::Result<()> {
        if matches!(self.kept, Kept::Gone) {
            return Err(io::Error::other(
                "the first bytes are gone: nobody said that they would be wanted",
            ));
        }
        self.at = 0;
        Ok(())
    }
}
