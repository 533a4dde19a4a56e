//! A database that is changed page by page: pages are replaced, appended where the freelist has
//! none, and put on the freelist.
//!
//! References: SQLite, "Database File Format", sections 1.3 (header), 1.5 (freelist).

use std::io;

use super::header;
use super::number::{put_u32, u32_at};
use super::page::PAGE_NUMBER;
use super::page_file::lock_byte_page;

/// The pages of a database, by their numbers from 1.
pub(crate) trait DatabasePages {
    /// Why a page could not be read or written.
    type Error;

    /// Reads a page; `None` if there is none of this number.
    fn read(&mut self, number: u32) -> Result<Option<Vec<u8>>, Self::Error>;

    /// Replaces a page, or adds it at the end.
    fn write(&mut self, number: u32, page: &[u8]) -> Result<(), Self::Error>;
}

/// Why a tree was not changed; `E` is what [`DatabasePages`] fail with.
#[derive(Debug)]
pub(crate) enum AppendError<E> {
    /// A page of the database could not be read or written.
    Database(E),
    /// The file with the new rows could not be read.
    Source(io::Error),
    /// One of the two is not what the file format says.
    Damaged,
    /// There are no numbers left for more pages.
    Full,
}

impl<E> From<io::Error> for AppendError<E> {
    fn from(error: io::Error) -> Self {
        Self::Source(error)
    }
}

pub(super) type Appended<T, P> = Result<T, AppendError<<P as DatabasePages>::Error>>;

/// Entries of a trunk page that SQLite leaves unused, for the sake of its first versions.
const UNUSED_ENTRIES: usize = 6;

/// The database that is changed.
pub(super) struct Database<P> {
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
    pub(super) fn new(mut pages: P, page_size: u16) -> Appended<Option<Self>, P> {
        let first = pages.read(1).map_err(AppendError::Database)?;
        let first = first.ok_or(AppendError::Damaged)?;
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

    pub(super) fn page_size(&self) -> usize {
        self.first.len()
    }

    /// Reads a page.
    pub(super) fn page(&mut self, number: u32) -> Appended<Vec<u8>, P> {
        let page = self.pages.read(number).map_err(AppendError::Database)?;
        page.filter(|page| page.len() == self.first.len())
            .ok_or(AppendError::Damaged)
    }

    /// Writes a page that was there before, or was unused.
    pub(super) fn replace(&mut self, number: u32, page: &[u8]) -> Appended<(), P> {
        let written = self.pages.write(number, page);
        written.map_err(AppendError::Database)
    }

    /// Writes one more page; returns its number.
    pub(super) fn append(&mut self, page: &[u8]) -> Appended<u32, P> {
        let number = self.unused()?;
        self.replace(number, page)?;
        Ok(number)
    }

    /// How many pages the file has.
    pub(super) fn page_count(&self) -> Appended<u32, P> {
        self.header(header::PAGE_COUNT)
    }

    /// Gives a page free, which nothing uses any more. It is not written.
    pub(super) fn release(&mut self, number: u32) -> Appended<(), P> {
        if number < 2 || number > self.page_count()? {
            return Err(AppendError::Damaged);
        }
        self.free.push(number);
        Ok(())
    }

    /// The number of a page that nothing uses: of one on the freelist, else of one at the end.
    fn unused(&mut self) -> Appended<u32, P> {
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
        let mut number = last.checked_add(1).ok_or(AppendError::Full)?;
        if u64::from(number) == lock_byte_page(self.page_size()) {
            number += 1;
        }
        self.set_header(header::PAGE_COUNT, number);
        Ok(number)
    }

    /// Takes a trunk page off the freelist, with the leaves that it lists: the number of the next
    /// trunk page, how many leaves it has, and their numbers.
    fn take_trunk(&mut self, trunk: u32) -> Appended<(), P> {
        let page = self.page(trunk)?;
        let word = |at: u32| u32_at(&page, PAGE_NUMBER * at as usize).ok_or(AppendError::Damaged);
        self.set_header(header::FREELIST_TRUNK, word(0)?);
        // The trunk page itself is free as soon as its list is known.
        self.free.push(trunk);
        for at in 0..word(1)? {
            self.free.push(word(2 + at)?);
        }
        // All that is in the list comes from this trunk: it was empty before.
        let taken = u32::try_from(self.free.len()).map_err(|_| AppendError::Damaged)?;
        let left = self.header(header::FREELIST_COUNT)?.checked_sub(taken);
        self.set_header(header::FREELIST_COUNT, left.ok_or(AppendError::Damaged)?);
        Ok(())
    }

    fn header(&self, field: usize) -> Appended<u32, P> {
        u32_at(&self.first, field).ok_or(AppendError::Damaged)
    }

    fn set_header(&mut self, field: usize, value: u32) {
        put_u32(&mut self.first, field, value);
    }

    /// Puts unused pages back on the freelist, and writes the header.
    pub(super) fn finish(mut self) -> Appended<(), P> {
        let mut free = std::mem::take(&mut self.free);
        free.sort_unstable();
        // A page of two trees, or twice in one.
        if free.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(AppendError::Damaged);
        }
        // A trunk page has the number of the next one, how many leaves it lists, and their numbers.
        let most = self.page_size() / PAGE_NUMBER - 2 - UNUSED_ENTRIES;
        for pages in free.chunks(most + 1) {
            let [trunk, leaves @ ..] = pages else {
                continue;
            };
            let words = [
                self.header(header::FREELIST_TRUNK)?,
                leaves.len().try_into().map_err(|_| AppendError::Damaged)?,
            ];
            let mut page: Vec<u8> = words
                .iter()
                .chain(leaves)
                .flat_map(|word| word.to_be_bytes())
                .collect();
            page.resize(self.page_size(), 0);
            self.replace(*trunk, &page)?;
            self.set_header(header::FREELIST_TRUNK, *trunk);
            let more = u32::try_from(pages.len()).map_err(|_| AppendError::Damaged)?;
            let count = self.header(header::FREELIST_COUNT)?.checked_add(more);
            self.set_header(header::FREELIST_COUNT, count.ok_or(AppendError::Damaged)?);
        }
        // The header comes last, because each page that was taken or added has changed it.
        let first = std::mem::take(&mut self.first);
        self.replace(1, &first)
    }
}
