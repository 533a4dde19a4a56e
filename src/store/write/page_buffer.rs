//! Pages of trees that grow in another thread than the file which they are to be appended to: they
//! wait in a temporary file beside it, so that memory does not grow with them. Rows that are too
//! long for a leaf have overflow pages; the numbers of these, which leaves and overflow pages hold,
//! become those in the file when the pages are put there.

use std::io;
use std::path::PathBuf;

use super::spill::Spill;
use profdb_sqlite_pages::btree::renumber_leaf;
use profdb_sqlite_pages::page_file::{PageFile, Pages, renumber_overflow};

/// Bytes that are written to the temporary file at once, and read from it: whole pages.
const PIECE: usize = 1 << 20;

/// Pages that wait: leaves of indexes, and the overflow pages of their rows. They are numbered from
/// 1, as 0 is the number that the last overflow page of a row holds.
pub(super) struct PageBuffer {
    /// The last pages; those before them are in the file.
    memory: Vec<u8>,
    spill: Spill,
    page_size: usize,
    count: u32,
    /// The numbers of the overflow pages, ascending.
    overflow: Vec<u32>,
}

impl PageBuffer {
    /// No page yet. Without a place for a temporary file, all of them stay in memory.
    pub(super) fn beside(place: Option<PathBuf>, page_size: u16) -> Self {
        Self {
            memory: Vec::new(),
            spill: Spill::beside(place),
            page_size: usize::from(page_size),
            count: 0,
            overflow: Vec::new(),
        }
    }

    /// Appends the pages to a file; returns their numbers there, by those here: 0 stays 0.
    pub(super) fn put_into(mut self, file: &mut PageFile) -> io::Result<Vec<u32>> {
        let mut numbers = Vec::with_capacity(self.count as usize + 1);
        numbers.push(0);
        let overflow = std::mem::take(&mut self.overflow);
        let mut overflow = overflow.iter().peekable();
        let has_overflow = overflow.peek().is_some();
        let mut append = |pages: &mut [u8]| -> io::Result<()> {
            for page in pages.chunks_exact_mut(self.page_size) {
                // A page holds numbers of overflow pages before it only: a row's last one comes
                // first, and its leaf is written after all of them.
                if overflow
                    .next_if(|number| **number as usize == numbers.len())
                    .is_some()
                {
                    renumber_overflow(page, &numbers)?;
                } else if has_overflow {
                    renumber_leaf(page, &numbers)?;
                }
                numbers.push(file.append(page)?);
            }
            Ok(())
        };
        let mut piece = Vec::new();
        let mut start = 0;
        while start < self.spill.length() {
            piece.clear();
            self.spill.read(start, PIECE, &mut piece)?;
            append(&mut piece)?;
            start += PIECE as u64;
        }
        append(&mut self.memory)?;
        Ok(numbers)
    }
}

impl Pages for PageBuffer {
    fn page_size(&self) -> usize {
        self.page_size
    }

    fn append(&mut self, page: &[u8]) -> io::Result<u32> {
        let number = self.count.checked_add(1);
        self.count = number.ok_or(io::ErrorKind::FileTooLarge)?;
        self.memory.extend_from_slice(page);
        // A piece is a whole number of pages, whatever their size.
        if self.memory.len() >= PIECE && self.spill.is_possible() {
            self.spill.append(&self.memory)?;
            self.memory.clear();
        }
        Ok(self.count)
    }

    fn append_overflow(&mut self, page: &[u8]) -> io::Result<u32> {
        let number = self.append(page)?;
        self.overflow.push(number);
        Ok(number)
    }
}
