//! What cannot be written yet: bytes and columns of numbers, in memory as long as they are few, then
//! in a temporary file that has no name, so that memory does not grow with the run. Text is packed on its
//! way there, to a tenth and less: that takes far less time than to make it again, which has to be done with
//! what is too long for the file.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;

/// Bytes that go to an output at once.
pub(crate) const PIECE: usize = 64 * 1024;

/// Number of bytes of a column that stay in memory: a writer holds several columns. Few in debug
/// builds, so that tests write files.
const OF_COLUMN: usize = if cfg!(debug_assertions) {
    8 << 10
} else {
    2 << 20
};

/// Number of bytes of cells that stay in memory. Few in debug builds, so that tests write files.
const OF_CELLS: usize = if cfg!(debug_assertions) {
    64 << 10
} else {
    8 << 20
};

/// Maximum number of bytes of cells in memory and in the file, since a folder for temporary files may
/// be in memory itself.
const MOST_OF_CELLS: u64 = 256 << 20;

/// Of zstd: 200 MB of a trace take a quarter of a second and become 13.
const LEVEL: i32 = 1;

/// What comes of writing and reading such a file, for those who have nothing else to do with files.
pub(crate) type SpillResult<T> = io::Result<T>;

/// A file that was written ends too soon.
pub(crate) fn cut_short() -> io::Error {
    io::ErrorKind::UnexpectedEof.into()
}

/// Segments of bytes in a file, of which any part is read again.
#[derive(Default)]
pub(crate) struct Segments {
    file: Option<File>,
    /// The bytes of all segments.
    length: u64,
}

impl Segments {
    /// Adds a segment; the first one makes the file. Returns the range of its bytes.
    ///
    /// # Errors
    /// When no file can be made, or it takes no more: then there is no such segment.
    pub(crate) fn add(
        &mut self,
        write: impl FnOnce(&mut SegmentWriter<'_>) -> SpillResult<()>,
    ) -> SpillResult<Range<u64>> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile()?),
        };
        let start = self.length;
        file.seek(SeekFrom::Start(start))?;
        let mut segment = SegmentWriter {
            out: BufWriter::with_capacity(PIECE, file),
            end: start,
        };
        write(&mut segment)?;
        segment.out.flush()?;
        self.length = segment.end;
        Ok(start..self.length)
    }

    /// Reads bytes of a segment into `found`, in place of what is there.
    ///
    /// # Errors
    /// When the file cannot be read, or has fewer.
    pub(crate) fn read(&mut self, bytes: Range<u64>, found: &mut Vec<u8>) -> SpillResult<()> {
        let file = self.file.as_mut().ok_or_else(cut_short)?;
        let length = bytes.end - bytes.start;
        file.seek(SeekFrom::Start(bytes.start))?;
        found.clear();
        file.take(length).read_to_end(found)?;
        if (found.len() as u64) < length {
            return Err(cut_short());
        }
        Ok(())
    }
}

/// Writes a segment.
pub(crate) struct SegmentWriter<'s> {
    out: BufWriter<&'s mut File>,
    end: u64,
}

impl SegmentWriter<'_> {
    /// Adds bytes.
    ///
    /// # Errors
    /// When the file takes no more.
    #[inline]
    pub(crate) fn push(&mut self, bytes: &[u8]) -> SpillResult<()> {
        self.end += bytes.len() as u64;
        self.out.write_all(bytes)
    }
}

/// Bytes that wait.
pub(crate) struct Spool {
    memory: Vec<u8>,
    /// Bytes in memory at most.
    in_memory: usize,
    /// What came before those in memory.
    file: Option<File>,
    /// Whether they are packed in the file.
    is_packed: bool,
    /// How many are in the file.
    in_file: u64,
    /// Bytes of the file that they take: one that has become full may have more.
    length: u64,
}

impl Spool {
    /// For bytes that are written to the file as they are.
    pub(crate) fn new(in_memory: usize) -> Self {
        Self {
            memory: Vec::new(),
            in_memory,
            file: None,
            is_packed: false,
            in_file: 0,
            length: 0,
        }
    }

    /// For text, which is packed for the file.
    pub(crate) fn packed(in_memory: usize) -> Self {
        Self {
            is_packed: true,
            ..Self::new(in_memory)
        }
    }

    /// How many there are.
    pub(crate) fn bytes(&self) -> u64 {
        self.in_file + self.memory.len() as u64
    }

    /// How many bytes they take, in memory and in the file.
    pub(crate) fn stored(&self) -> u64 {
        self.length + self.memory.len() as u64
    }

    /// Adds bytes.
    ///
    /// # Errors
    /// When no file can be made, or it takes no more. What was there before is still there.
    #[inline]
    pub(crate) fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.make_room(bytes.len())?;
        self.memory.extend_from_slice(bytes);
        Ok(())
    }

    /// Moves what is in memory into the file, if so many bytes more would be too many.
    #[inline]
    fn make_room(&mut self, bytes: usize) -> io::Result<()> {
        if self.memory.len() + bytes > self.in_memory {
            self.move_into_file()?;
        }
        Ok(())
    }

    #[cold]
    fn move_into_file(&mut self) -> io::Result<()> {
        let mut file = match self.file.take() {
            Some(file) => file,
            None => tempfile::tempfile()?,
        };
        let written = self.write_to(&mut file);
        self.file = Some(file);
        self.length = written?;
        self.in_file += self.memory.len() as u64;
        self.memory.clear();
        Ok(())
    }

    /// Writes what is in memory to the end of the file; gives back how long that is then.
    fn write_to(&self, file: &mut File) -> io::Result<u64> {
        if self.is_packed {
            let mut packer = zstd::Encoder::new(&mut *file, LEVEL)?;
            packer.write_all(&self.memory)?;
            packer.finish()?;
        } else {
            file.write_all(&self.memory)?;
        }
        file.stream_position()
    }

    /// Reads all of them, from the first on.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(crate) fn reader(&mut self) -> io::Result<impl BufRead + '_> {
        let file: Box<dyn Read + '_> = match &mut self.file {
            // What is packed has a beginning and an end, also of nothing.
            Some(file) if self.length > 0 => {
                file.rewind()?;
                let file = file.take(self.length);
                if self.is_packed {
                    Box::new(zstd::Decoder::new(file)?)
                } else {
                    Box::new(file)
                }
            }
            _ => Box::new(io::empty()),
        };
        Ok(BufReader::with_capacity(
            PIECE,
            file.chain(self.memory.as_slice()),
        ))
    }

    /// Writes all of them to an output.
    ///
    /// # Errors
    /// When the output fails, or the file cannot be read.
    pub(crate) fn release(mut self, out: &mut dyn Write) -> io::Result<()> {
        let all = self.bytes();
        let copied = io::copy(&mut self.reader()?, out)?;
        if copied < all {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(())
    }
}

/// A column of numbers of `N` bytes each, at most 8, which waits until those before it are written.
pub(crate) struct Column<const N: usize> {
    spool: Spool,
    count: u64,
    /// No file takes them: those that come stay in memory.
    is_full: bool,
}

impl<const N: usize> Default for Column<N> {
    fn default() -> Self {
        Self {
            spool: Spool::new(OF_COLUMN),
            count: 0,
            is_full: false,
        }
    }
}

impl<const N: usize> Column<N> {
    /// How many numbers there are.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Adds the low bytes of a number.
    pub(crate) fn push(&mut self, number: u64) {
        let bytes = number.to_le_bytes();
        let bytes = bytes.get(..N).unwrap_or(&bytes);
        self.count += 1;
        self.is_full = self.is_full || self.spool.add(bytes).is_err();
        if self.is_full {
            self.spool.memory.extend_from_slice(bytes);
        }
    }

    /// Calls a function with each number, from the first on.
    ///
    /// # Errors
    /// The function's, and those of reading the file.
    pub(crate) fn each<E: From<io::Error>>(
        &mut self,
        mut each: impl FnMut(u64) -> Result<(), E>,
    ) -> Result<(), E> {
        let count = self.count;
        let mut reader = self.spool.reader()?;
        for _ in 0..count {
            let mut bytes = [0; 8];
            reader.read_exact(bytes.get_mut(..N).unwrap_or_default())?;
            each(u64::from_le_bytes(bytes))?;
        }
        Ok(())
    }
}

/// Texts that are read again one by one, as long as they are not too many.
pub(crate) struct Cells {
    spool: Spool,
    /// No file takes them, or they are too many: none is there.
    are_lost: bool,
}

impl Default for Cells {
    fn default() -> Self {
        Self {
            spool: Spool::packed(OF_CELLS),
            are_lost: false,
        }
    }
}

impl Cells {
    /// Adds a text.
    pub(crate) fn push(&mut self, text: &str) {
        let Ok(length) = u32::try_from(text.len()) else {
            self.are_lost = true;
            return;
        };
        if self.are_lost || self.spool.stored() > MOST_OF_CELLS {
            self.are_lost = true;
            return;
        }
        let added = self.spool.add(&length.to_le_bytes());
        self.are_lost = added
            .and_then(|()| self.spool.add(text.as_bytes()))
            .is_err();
    }

    /// Reads all texts, from the first on; `None` if they are not there.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(crate) fn reader(&mut self) -> io::Result<Option<CellReader<impl BufRead + '_>>> {
        if self.are_lost {
            return Ok(None);
        }
        let left = self.spool.bytes();
        let reader = self.spool.reader()?;
        Ok(Some(CellReader {
            reader,
            bytes: Vec::new(),
            left,
        }))
    }
}

/// Reads the texts of [`Cells`].
pub(crate) struct CellReader<R> {
    reader: R,
    /// Those of the last text.
    bytes: Vec<u8>,
    /// Bytes that have not been read.
    left: u64,
}

impl<R: BufRead> CellReader<R> {
    /// Whether there is no further text.
    pub(crate) fn is_at_end(&self) -> bool {
        self.left == 0
    }

    /// Adds the next text to one.
    ///
    /// # Errors
    /// When the file cannot be read.
    #[inline]
    pub(crate) fn next(&mut self, text: &mut String) -> io::Result<()> {
        // Nearly all texts are whole in the buffer.
        if let Some((length, rest)) = self.reader.fill_buf()?.split_first_chunk()
            && let length = u32::from_le_bytes(*length) as usize
            && let Some(found) = rest.get(..length)
        {
            push_utf8(found, text)?;
            self.pass(length);
            self.reader.consume(4 + length);
            return Ok(());
        }
        let mut length = [0; 4];
        self.reader.read_exact(&mut length)?;
        let length = u32::from_le_bytes(length) as usize;
        self.bytes.resize(length, 0);
        self.reader.read_exact(&mut self.bytes)?;
        push_utf8(&self.bytes, text)?;
        self.pass(length);
        Ok(())
    }

    /// Counts a text of so many bytes as read.
    fn pass(&mut self, length: usize) {
        self.left = self.left.saturating_sub(4 + length as u64);
    }
}

fn push_utf8(bytes: &[u8], text: &mut String) -> io::Result<()> {
    let found = str::from_utf8(bytes).map_err(|_| io::ErrorKind::InvalidData)?;
    text.push_str(found);
    Ok(())
}
