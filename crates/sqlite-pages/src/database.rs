//! A database that is changed page by page: pages are replaced, appended where the freelist has
//! none, and put on the freelist.
//!
//! References: SQLite, "Database File Format", sections 1.3 (header), 1.5 (freelist).

use std::io;

use crate::header;
use crate::number::{put_u32, u32_at};
use crate::page::PAGE_NUMBER;
use crate::page_file::lock_byte_page;

/// Access to the pages of a database by their numbers, which count from 1.
pub trait DatabasePages {
    /// The error of a page that cannot be read or written.
    type Error;

    /// Returns the content of a page; `None` if the page does not exist.
    ///
    /// # Errors
    ///
    /// If the page cannot be read.
    fn read(&mut self, number: u32) -> Result<Option<Vec<u8>>, Self::Error>;

    /// Replaces the content of a page, or appends the page after the last one.
    ///
    /// # Errors
    ///
    /// If the page cannot be written.
    fn write(&mut self, number: u32, page: &[u8]) -> Result<(), Self::Error>;
}

/// The error of a change to a database; `E` is the error of its [`DatabasePages`].
#[derive(Debug)]
pub enum ChangeError<E> {
    /// A page of the database could not be read or written.
    Database(E),
    /// The file with the new pages could not be read.
    Source(io::Error),
    /// The database or the other file violates the file format.
    Damaged,
    /// The database cannot have more pages.
    Full,
}

impl<E> From<io::Error> for ChangeError<E> {
    fn from(error: io::Error) -> Self {
        Self::Source(error)
    }
}

/// The result of a change to a database that is accessed through `P`.
pub type ChangeResult<T, P> = Result<T, ChangeError<<P as DatabasePages>::Error>>;

/// Entries of a trunk page that SQLite leaves unused, for the sake of its first versions.
const UNUSED_ENTRIES: usize = 6;

/// The database that is changed.
pub(crate) struct Database<P> {
    pages: P,
    /// The first page, which has the header. It is written last.
    first: Vec<u8>,
    /// Pages that are on no list now, and are used before the file grows: they were on the freelist,
    /// or have been released.
    free: Vec<u32>,
}

impl<P: DatabasePages> Database<P> {
    /// `None` if pages have another size than `page_size`, or are numbered in another way than
    /// ours, or texts are not UTF-8.
    pub(crate) fn new(mut pages: P, page_size: u16) -> ChangeResult<Option<Self>, P> {
        let first = pages.read(1).map_err(ChangeError::Database)?;
        let first = first.ok_or(ChangeError::Damaged)?;
        let is_usual = first.get(header::PAGE_SIZE..header::PAGE_SIZE + 2)
            == Some(&page_size.to_be_bytes())
            && first.get(header::RESERVED_BYTES) == Some(&0)
            && u32_at(&first, header::LARGEST_ROOT) == Some(0)
            && u32_at(&first, header::TEXT_ENCODING) == Some(1);
        Ok(is_usual.then_some(Self {
            pages,
            first,
            free: Vec::new(),
        }))
    }

    pub(crate) fn page_size(&self) -> usize {
        self.first.len()
    }

    /// Reads a page.
    pub(crate) fn page(&mut self, number: u32) -> ChangeResult<Vec<u8>, P> {
        let page = self.pages.read(number).map_err(ChangeError::Database)?;
        page.filter(|page| page.len() == self.first.len())
            .ok_or(ChangeError::Damaged)
    }

    /// Writes a page that was there before, or was unused.
    pub(crate) fn replace(&mut self, number: u32, page: &[u8]) -> ChangeResult<(), P> {
        let written = self.pages.write(number, page);
        written.map_err(ChangeError::Database)
    }

    /// Writes one more page; returns its number.
    pub(crate) fn append(&mut self, page: &[u8]) -> ChangeResult<u32, P> {
        let number = self.unused()?;
        self.replace(number, page)?;
        Ok(number)
    }

    /// How many pages the file has.
    pub(crate) fn page_count(&self) -> ChangeResult<u32, P> {
        self.header(header::PAGE_COUNT)
    }

    /// Gives a page free, which nothing uses any more. It is not written.
    pub(crate) fn release(&mut self, number: u32) -> ChangeResult<(), P> {
        if number < 2 || number > self.page_count()? {
            return Err(ChangeError::Damaged);
        }
        self.free.push(number);
        Ok(())
    }

    /// The number of a page that nothing uses: of one on the freelist, else of one at the end.
    fn unused(&mut self) -> ChangeResult<u32, P> {
        // Pages that deleted runs have left are used first: the file grows only when there are
        // none.
        let trunk = self.header(header::FREELIST_TRUNK)?;
        if self.free.is_empty() && trunk != 0 {
            self.take_trunk(trunk)?;
        }
        if let Some(number) = self.free.pop() {
            return Ok(number);
        }
        let last = self.header(header::PAGE_COUNT)?;
        let mut number = last.checked_add(1).ok_or(ChangeError::Full)?;
        if u64::from(number) == lock_byte_page(self.page_size()) {
            number += 1;
        }
        self.set_header(header::PAGE_COUNT, number);
        Ok(number)
    }

    /// Takes a trunk page off the freelist, with the leaves that it lists: the number of the next
    /// trunk page, how many leaves it has, and their numbers.
    fn take_trunk(&mut self, trunk: u32) -> ChangeResult<(), P> {
        let page = self.page(trunk)?;
        let word = |at: u32| u32_at(&page, PAGE_NUMBER * at as usize).ok_or(ChangeError::Damaged);
        self.set_header(header::FREELIST_TRUNK, word(0)?);
        // The trunk page itself is free as soon as its list is known.
        self.free.push(trunk);
        for at in 0..word(1)? {
            self.free.push(word(2 + at)?);
        }
        // All that is in the list comes from this trunk: it was empty before.
        let taken = u32::try_from(self.free.len()).map_err(|_| ChangeError::Damaged)?;
        let left = self.header(header::FREELIST_COUNT)?.checked_sub(taken);
        self.set_header(header::FREELIST_COUNT, left.ok_or(ChangeError::Damaged)?);
        Ok(())
    }

    fn header(&self, field: usize) -> ChangeResult<u32, P> {
        u32_at(&self.first, field).ok_or(ChangeError::Damaged)
    }

    fn set_header(&mut self, field: usize, value: u32) {
        put_u32(&mut self.first, field, value);
    }

    /// Puts unused pages back on the freelist, and writes the header.
    pub(crate) fn finish(mut self) -> ChangeResult<(), P> {
        let mut free = std::mem::take(&mut self.free);
        free.sort_unstable();
        // A page of two trees, or twice in one.
        if free.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(ChangeError::Damaged);
        }
        // A trunk page has the number of the next one, how many leaves it lists, and their numbers.
        let most = self.page_size() / PAGE_NUMBER - 2 - UNUSED_ENTRIES;
        for pages in free.chunks(most + 1) {
            let [trunk, leaves @ ..] = pages else {
                continue;
            };
            let words = [
                self.header(header::FREELIST_TRUNK)?,
                leaves.len().try_into().map_err(|_| ChangeError::Damaged)?,
            ];
            let mut page: Vec<u8> = words
                .iter()
                .chain(leaves)
                .flat_map(|word| word.to_be_bytes())
                .collect();
            page.resize(self.page_size(), 0);
            self.replace(*trunk, &page)?;
            self.set_header(header::FREELIST_TRUNK, *trunk);
            let more = u32::try_from(pages.len()).map_err(|_| ChangeError::Damaged)?;
            let count = self.header(header::FREELIST_COUNT)?.checked_add(more);
            self.set_header(header::FREELIST_COUNT, count.ok_or(ChangeError::Damaged)?);
        }
        // The header comes last, because each page that was taken or added has changed it.
        let first = std::mem::take(&mut self.first);
        self.replace(1, &first)
    }
}
