//! Where the pages of new trees go: to the end of a file.
//!
//! Reference: SQLite, "Database File Format", sections 1.3 (header), 1.4 (lock-byte page).

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use crate::header;
use crate::number::{put_u32, u32_at};

/// Bytes that are collected before they are written.
const CHUNK: usize = 1 << 20;

/// SQLite never uses the page that has this byte: it belongs to the locks of some systems.
const LOCK_BYTE: u64 = 1 << 30;

/// The number of the page that is left to locks.
pub(crate) fn lock_byte_page(page_size: usize) -> u64 {
    LOCK_BYTE / page_size as u64 + 1
}

/// A sink for the pages of a tree.
pub trait Pages {
    /// Returns the size of a page in bytes.
    fn page_size(&self) -> usize;

    /// Appends a page of a tree and returns its number.
    ///
    /// # Errors
    ///
    /// If the page cannot be written.
    fn append(&mut self, page: &[u8]) -> io::Result<u32>;

    /// Appends an overflow page, which begins with the number of the next one, and returns its number.
    ///
    /// # Errors
    ///
    /// If the page cannot be written.
    fn append_overflow(&mut self, page: &[u8]) -> io::Result<u32>;
}

/// Replaces the number at the beginning of an overflow page, which is that of the next page, by its entry in `numbers`.
pub fn renumber_overflow(page: &mut [u8], numbers: &[u32]) -> io::Result<()> {
    renumber(page, 0, numbers)
}

/// Replaces the number of a page at a place by that which it has become.
pub(crate) fn renumber(bytes: &mut [u8], at: usize, numbers: &[u32]) -> io::Result<()> {
    let number = u32_at(bytes, at).and_then(|number| numbers.get(number as usize));
    put_u32(bytes, at, *number.ok_or(io::ErrorKind::InvalidData)?);
    Ok(())
}

/// A database file to which pages are appended. No connection may read or write it at the same time.
pub struct PageFile {
    file: File,
    page_size: usize,
    /// Number of the page after the last one, counted from 1.
    next: u32,
    chunk: Vec<u8>,
    /// Where the chunk goes.
    offset: u64,
}

impl PageFile {
    /// Creates a sink that appends after the last page of a database.
    pub fn new(file: File, page_size: u16) -> io::Result<Self> {
        let page_size = usize::from(page_size);
        let offset = file.metadata()?.len();
        let pages = offset / page_size as u64;
        let next = u32::try_from(pages + 1).map_err(|_| io::ErrorKind::FileTooLarge)?;
        Ok(Self {
            file,
            page_size,
            next,
            chunk: Vec::with_capacity(CHUNK + page_size),
            offset,
        })
    }

    /// Returns another handle of the file. Recently appended pages may not be in the file yet.
    pub fn handle(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Writes a page that was there before.
    pub(crate) fn replace(&mut self, number: u32, page: &[u8]) -> io::Result<()> {
        self.write_at(u64::from(number - 1) * self.page_size as u64, page)
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(offset))?;
        self.file.write_all(bytes)
    }

    /// Reads a page that was there before, or that has been appended before the last call of
    /// [`write_chunk`](Self::write_chunk).
    pub(crate) fn read(&mut self, number: u32, page: &mut Vec<u8>) -> io::Result<()> {
        page.resize(self.page_size, 0);
        let offset = u64::from(number - 1) * self.page_size as u64;
        self.file.seek(SeekFrom::Start(offset))?;
        self.file.read_exact(page)
    }

    /// Writes the pages that have been collected.
    pub(crate) fn write_chunk(&mut self) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.offset))?;
        self.file.write_all(&self.chunk)?;
        self.offset += self.chunk.len() as u64;
        self.chunk.clear();
        Ok(())
    }

    /// Writes the remaining pages, and updates the number of pages and the change counter in the header.
    pub fn finish(mut self) -> io::Result<()> {
        self.write_chunk()?;
        // SQLite has made the header: only what the new pages change is replaced.
        let mut header = [0; header::LENGTH];
        self.file.seek(SeekFrom::Start(0))?;
        self.file.read_exact(&mut header)?;
        let counter = u32_at(&header, header::CHANGE_COUNTER).unwrap_or_default();
        // SQLite believes the number of pages only where the two counters are equal (section
        // 1.3.7).
        let changed = counter.wrapping_add(1);
        put_u32(&mut header, header::CHANGE_COUNTER, changed);
        put_u32(&mut header, header::PAGE_COUNT, self.next - 1);
        put_u32(&mut header, header::VERSION_VALID_FOR, changed);
        self.write_at(0, &header)
    }
}

impl Pages for PageFile {
    fn page_size(&self) -> usize {
        self.page_size
    }

    fn append(&mut self, page: &[u8]) -> io::Result<u32> {
        if u64::from(self.next) == lock_byte_page(self.page_size) {
            self.chunk.resize(self.chunk.len() + self.page_size, 0);
            self.next += 1;
        }
        let number = self.next;
        self.next = number.checked_add(1).ok_or(io::ErrorKind::FileTooLarge)?;
        self.chunk.extend_from_slice(page);
        if self.chunk.len() >= CHUNK {
            self.write_chunk()?;
        }
        Ok(number)
    }

    fn append_overflow(&mut self, page: &[u8]) -> io::Result<u32> {
        self.append(page)
    }
}

/// Reads pages of a file that no one writes.
pub(crate) struct PageReader<'f> {
    file: &'f File,
    page_size: usize,
    /// Pages next to each other, as leaves mostly are, and the number of the first of them.
    window: Vec<u8>,
    first: u32,
}

/// Pages that are read at once.
const WINDOW: u64 = 64;

impl<'f> PageReader<'f> {
    /// Reads nothing yet.
    pub(crate) fn new(file: &'f File, page_size: usize) -> Self {
        Self {
            file,
            page_size,
            window: Vec::new(),
            first: 0,
        }
    }

    /// A page of the file; `None` if there is none of this number.
    pub(crate) fn page(&mut self, number: u32) -> io::Result<Option<&[u8]>> {
        // A file may end within the window.
        let is_there = |at: &usize| (at + 1) * self.page_size <= self.window.len();
        let at = number
            .checked_sub(self.first)
            .map(|at| at as usize)
            .filter(is_there);
        if at.is_none() {
            let Some(before) = number.checked_sub(1) else {
                return Ok(None);
            };
            self.file
                .seek(SeekFrom::Start(u64::from(before) * self.page_size as u64))?;
            self.window.clear();
            let bytes = WINDOW * self.page_size as u64;
            self.file.take(bytes).read_to_end(&mut self.window)?;
            self.first = number;
        }
        let start = at.unwrap_or(0) * self.page_size;
        Ok(self.window.get(start..start + self.page_size))
    }
}
