//! Puts trees of one SQLite file behind the rows of another, whose last row comes before their
//! first: the leaves are copied page by page, and only the right edge of a tree is put together
//! anew. Pages of the database are read and written by [`DatabasePages`].
//! docs/design/0008-later-runs.md says why.
//!
//! The file may be a stranger's: what does not fit is damage, never a panic.
//!
//! References: SQLite, "Database File Format", sections 1.3 (header), 1.5 (freelist), 1.6 (b-tree
//! pages).

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use super::btree::{INTERIOR_HEAD, Kind, LEAF_HEAD, LINK, LOCK_BYTE, Level, PLACE, Page};
use super::record::varint;

/// No tree of four-byte page numbers is as deep, unless it goes in circles.
const MAX_DEPTH: usize = 40;

/// Pages that are read at once.
const WINDOW: u64 = 64;

/// Places in the header of a file, in its first page.
const PAGE_SIZE: usize = 16;
const RESERVED: usize = 20;
const PAGES: usize = 28;
const FREE_TRUNK: usize = 32;
const FREE_PAGES: usize = 36;
const LARGEST_ROOT: usize = 52;
const ENCODING: usize = 56;

/// The pages of a database that grows, by their numbers from 1.
pub(crate) trait DatabasePages {
    /// Why a page could not be read or written.
    type Error;

    /// A page; `None` if there is none of this number.
    fn read(&mut self, number: u32) -> Result<Option<Vec<u8>>, Self::Error>;

    /// Replaces a page, or adds it at the end.
    fn write(&mut self, number: u32, page: &[u8]) -> Result<(), Self::Error>;
}

/// Why a tree was not appended; `E` is what [`DatabasePages`] fail with.
#[derive(Debug)]
pub(crate) enum AppendError<E> {
    /// A page of the database that grows could not be read or written.
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

type Appended<T, P> = Result<T, AppendError<<P as DatabasePages>::Error>>;

/// Appends trees to those of a database.
pub(crate) struct Appender<P> {
    pages: P,
    /// The first page, with the header of the database. It is written last.
    first: Vec<u8>,
    /// Pages that nothing uses.
    free: Vec<u32>,
}

impl<P: DatabasePages> Appender<P> {
    /// `None` if the file is of another kind than ours.
    pub(crate) fn new(mut pages: P, page_size: u16) -> Appended<Option<Self>, P> {
        let first = pages.read(1).map_err(AppendError::Database)?;
        let first = first.ok_or(AppendError::Damaged)?;
        let usual = first.get(PAGE_SIZE..PAGE_SIZE + 2) == Some(&page_size.to_be_bytes())
            && first[RESERVED] == 0
            // Else pages are numbered in another way, or texts are not UTF-8.
            && (thirty_two_bits(&first, LARGEST_ROOT), thirty_two_bits(&first, ENCODING)) == (Some(0), Some(1));
        Ok(usual.then_some(Self {
            pages,
            first,
            free: Vec::new(),
        }))
    }

    /// Puts trees behind those of the database; each pair of roots is of the database and of
    /// `source`.
    pub(crate) fn graft(mut self, source: &File, roots: &[(u32, u32)]) -> Appended<(), P> {
        let mut source = Source::new(source, self.first.len());
        for (root, from) in roots {
            self.tree(&mut source, *root, *from)?;
        }
        self.finish()
    }

    /// Puts one tree behind another.
    fn tree(&mut self, source: &mut Source<'_>, root: u32, from: u32) -> Appended<(), P> {
        let (kind, leaves) = Self::leaves(source, from)?;
        let first = source
            .page(leaves.pages[0])?
            .ok_or(AppendError::Damaged)?
            .to_vec();
        let cells = cells(kind, &first).ok_or(AppendError::Damaged)?;
        if cells.is_empty() {
            return Ok(());
        }
        let mut edge = self.right_edge(kind, root)?;
        let (number, last) = edge.pop().ok_or(AppendError::Damaged)?;
        // The last page is filled up with rows of the first, which also gives what divides it from
        // the next.
        let mut page = Page::new(kind.leaf(), LEAF_HEAD, last.len());
        let mut before = (0, 0);
        for cell in self::cells(kind, &last).ok_or(AppendError::Damaged)? {
            if !page.fits(cell.end - cell.start) {
                return Err(AppendError::Damaged);
            }
            page.add(&last[cell.start..cell.end]);
            before = (cell.row, cell.end - cell.start);
        }
        let mut level = Level::default();
        let mut full = Vec::new();
        for cell in cells {
            let mut bytes = first[cell.start..cell.end].to_vec();
            self.spill(source, &mut bytes, cell.spill)?;
            if !page.fits(bytes.len()) {
                let divider = match kind {
                    Kind::Table => row_number(before.0),
                    Kind::Index => page.take_last(before.1),
                };
                full.push(page.finished(0).to_vec());
                level.divide(&divider);
                page.clear();
            }
            page.add(&bytes);
            before = (cell.row, bytes.len());
        }
        full.push(page.finished(0).to_vec());
        if let ([page], [_], true) = (full.as_slice(), leaves.pages.as_slice(), edge.is_empty()) {
            return self.replace(root, page);
        }
        level.pages = self.put(&full, (!edge.is_empty()).then_some(number))?;
        for (at, leaf) in leaves.pages.iter().enumerate().skip(1) {
            let mut divider = leaves.divider(at - 1).to_vec();
            if kind == Kind::Index {
                let spill = cell(kind, false, &divider, 0, first.len())
                    .ok_or(AppendError::Damaged)?
                    .spill;
                self.spill(source, &mut divider, spill)?;
            }
            level.divide(&divider);
            level.pages.push(self.leaf(source, kind, *leaf)?);
        }
        while let Some((number, page)) = edge.pop() {
            if level.pages.len() == 1 {
                // It has taken the place of the page that was there.
                return Ok(());
            }
            let mut below = Level::default();
            children(kind, &page, &mut below).ok_or(AppendError::Damaged)?;
            // The last child is the first page of the level.
            below.pages.pop();
            below.extend(&level);
            let (pages, mut above) = below.parents(kind, page.len());
            if let ([page], true) = (pages.as_slice(), edge.is_empty()) {
                return self.replace(root, page);
            }
            above.pages = self.put(&pages, (!edge.is_empty()).then_some(number))?;
            level = above;
        }
        // The root is not large enough any more: what was in it has gone below.
        loop {
            let (pages, mut above) = level.parents(kind, self.first.len());
            if let [page] = pages.as_slice() {
                return self.replace(root, page);
            }
            above.pages = self.put(&pages, None)?;
            level = above;
        }
    }

    /// The leaves of a tree, and what divides them.
    fn leaves(source: &mut Source<'_>, root: u32) -> Appended<(Kind, Level), P> {
        let mut level = Level::default();
        level.pages.push(root);
        for _ in 0..MAX_DEPTH {
            let kind = source.page(level.pages[0])?.ok_or(AppendError::Damaged)?[0];
            let kind = match [Kind::Table, Kind::Index]
                .into_iter()
                .find(|known| known.interior() == kind)
            {
                Some(kind) => kind,
                None if kind == Kind::Table.leaf() => return Ok((Kind::Table, level)),
                None => return Ok((Kind::Index, level)),
            };
            let mut below = Level::default();
            for (at, number) in level.pages.iter().enumerate() {
                if let Some(before) = at.checked_sub(1) {
                    below.divide(level.divider(before));
                }
                let page = source.page(*number)?.ok_or(AppendError::Damaged)?;
                children(kind, page, &mut below).ok_or(AppendError::Damaged)?;
            }
            level = below;
        }
        Err(AppendError::Damaged)
    }

    /// The pages from a root to its last leaf.
    fn right_edge(&mut self, kind: Kind, root: u32) -> Appended<Vec<(u32, Vec<u8>)>, P> {
        let mut edge = Vec::new();
        let mut number = root;
        while edge.len() < MAX_DEPTH {
            let page = self.page(number)?;
            let next = if page[0] == kind.interior() {
                thirty_two_bits(&page, LEAF_HEAD)
            } else {
                None
            };
            edge.push((number, page));
            match next {
                Some(next) => number = next,
                None => return Ok(edge),
            }
        }
        Err(AppendError::Damaged)
    }

    /// Writes pages next to each other, the first one to `place`.
    fn put(&mut self, pages: &[Vec<u8>], place: Option<u32>) -> Appended<Vec<u32>, P> {
        let mut place = place;
        let mut numbers = Vec::with_capacity(pages.len());
        for page in pages {
            numbers.push(match place.take() {
                Some(number) => {
                    self.replace(number, page)?;
                    number
                }
                None => self.append(page)?,
            });
        }
        Ok(numbers)
    }

    fn leaf(&mut self, source: &mut Source<'_>, kind: Kind, number: u32) -> Appended<u32, P> {
        let page = source.page(number)?.ok_or(AppendError::Damaged)?;
        if !spills(kind, page).ok_or(AppendError::Damaged)? {
            return self.append(page);
        }
        let cells = cells(kind, page).ok_or(AppendError::Damaged)?;
        let mut page = page.to_vec();
        for cell in cells {
            self.spill(source, &mut page[cell.start..cell.end], cell.spill)?;
        }
        self.append(&page)
    }

    /// Copies what a cell has on pages of its own, and tells the cell where that is now.
    fn spill(
        &mut self,
        source: &mut Source<'_>,
        cell: &mut [u8],
        spill: Option<usize>,
    ) -> Appended<(), P> {
        let Some(bytes) = spill else {
            return Ok(());
        };
        let (_, link) = cell
            .split_last_chunk_mut::<LINK>()
            .ok_or(AppendError::Damaged)?;
        let mut number = u32::from_be_bytes(*link);
        let mut pages = Vec::new();
        for _ in 0..bytes.div_ceil(self.first.len() - LINK) {
            let page = source.page(number)?.ok_or(AppendError::Damaged)?.to_vec();
            number = thirty_two_bits(&page, 0).ok_or(AppendError::Damaged)?;
            pages.push(page);
        }
        let mut next = 0_u32;
        for mut page in pages.into_iter().rev() {
            page[..LINK].copy_from_slice(&next.to_be_bytes());
            next = self.append(&page)?;
        }
        *link = next.to_be_bytes();
        Ok(())
    }

    fn page(&mut self, number: u32) -> Appended<Vec<u8>, P> {
        let page = self.pages.read(number).map_err(AppendError::Database)?;
        page.filter(|page| page.len() == self.first.len())
            .ok_or(AppendError::Damaged)
    }

    fn replace(&mut self, number: u32, page: &[u8]) -> Appended<(), P> {
        self.pages
            .write(number, page)
            .map_err(AppendError::Database)
    }

    fn append(&mut self, page: &[u8]) -> Appended<u32, P> {
        let number = self.unused()?;
        self.replace(number, page)?;
        Ok(number)
    }

    /// A page that nothing uses, those that deleted runs have left first.
    fn unused(&mut self) -> Appended<u32, P> {
        let trunk = self.header(FREE_TRUNK)?;
        if self.free.is_empty() && trunk != 0 {
            let page = self.page(trunk)?;
            let word =
                |at: u32| thirty_two_bits(&page, LINK * at as usize).ok_or(AppendError::Damaged);
            self.set_header(FREE_TRUNK, word(0)?);
            self.free.push(trunk);
            for at in 0..word(1)? {
                self.free.push(word(2 + at)?);
            }
            let taken = u32::try_from(self.free.len()).map_err(|_| AppendError::Damaged)?;
            self.set_header(
                FREE_PAGES,
                self.header(FREE_PAGES)?
                    .checked_sub(taken)
                    .ok_or(AppendError::Damaged)?,
            );
        }
        if let Some(number) = self.free.pop() {
            return Ok(number);
        }
        let mut number = self
            .header(PAGES)?
            .checked_add(1)
            .ok_or(AppendError::Full)?;
        if u64::from(number) == LOCK_BYTE / self.first.len() as u64 + 1 {
            number += 1;
        }
        self.set_header(PAGES, number);
        Ok(number)
    }

    fn header(&self, at: usize) -> Appended<u32, P> {
        thirty_two_bits(&self.first, at).ok_or(AppendError::Damaged)
    }

    fn set_header(&mut self, at: usize, number: u32) {
        self.first[at..at + 4].copy_from_slice(&number.to_be_bytes());
    }

    /// Gives back the free pages that were too many, and writes the header.
    fn finish(mut self) -> Appended<(), P> {
        let free = std::mem::take(&mut self.free);
        if let [trunk, rest @ ..] = free.as_slice() {
            let words = [
                self.header(FREE_TRUNK)?,
                rest.len().try_into().map_err(|_| AppendError::Damaged)?,
            ];
            let mut page: Vec<u8> = words
                .iter()
                .chain(rest)
                .flat_map(|word| word.to_be_bytes())
                .collect();
            page.resize(self.first.len(), 0);
            self.replace(*trunk, &page)?;
            self.set_header(FREE_TRUNK, *trunk);
            let more = u32::try_from(free.len()).map_err(|_| AppendError::Damaged)?;
            self.set_header(FREE_PAGES, self.header(FREE_PAGES)? + more);
        }
        let first = std::mem::take(&mut self.first);
        self.replace(1, &first)
    }
}

/// A file of pages that no connection is writing.
struct Source<'f> {
    file: &'f File,
    page_size: usize,
    /// Pages that lie together, as leaves mostly do, and the number of the first.
    window: Vec<u8>,
    first: u32,
}

impl<'f> Source<'f> {
    fn new(file: &'f File, page_size: usize) -> Self {
        Self {
            file,
            page_size,
            window: Vec::new(),
            first: 0,
        }
    }

    /// A page of the file, until the next is read.
    fn page(&mut self, number: u32) -> io::Result<Option<&[u8]>> {
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

/// Adds the children of a page, and what divides them.
fn children(kind: Kind, page: &[u8], level: &mut Level) -> Option<()> {
    for cell in cells(kind, page)? {
        level.pages.push(thirty_two_bits(page, cell.start)?);
        level.divide(&page[cell.start + LINK..cell.end]);
    }
    level.pages.push(thirty_two_bits(page, LEAF_HEAD)?);
    Some(())
}

/// Where a cell of a page is.
struct Cell {
    start: usize,
    end: usize,
    /// In a table: the number of the row.
    row: u64,
    /// Bytes on pages of its own, whose first number ends the cell.
    spill: Option<usize>,
}

fn cells(kind: Kind, page: &[u8]) -> Option<Vec<Cell>> {
    let (interior, head) = match page[0] {
        leaf if leaf == kind.leaf() => (false, LEAF_HEAD),
        above if above == kind.interior() => (true, INTERIOR_HEAD),
        _ => return None,
    };
    let number = sixteen_bits(page, 3)?;
    let places = (0..number).map(|at| sixteen_bits(page, head + PLACE * at));
    let cells = places.map(|place| cell(kind, interior, page, place?, page.len()));
    cells.collect()
}

/// Whether something on a leaf goes on on pages of its own: hardly ever, so that no more is read of
/// each cell than it takes.
fn spills(kind: Kind, page: &[u8]) -> Option<bool> {
    for at in 0..sixteen_bits(page, 3)? {
        let mut start = sixteen_bits(page, LEAF_HEAD + PLACE * at)?;
        let record = usize::try_from(number(page, &mut start)?).ok()?;
        if kind.kept(record, page.len()) < record {
            return Some(true);
        }
    }
    Some(false)
}

/// The cell that begins at `start`. `page` may be shorter than a page.
fn cell(kind: Kind, interior: bool, page: &[u8], start: usize, page_size: usize) -> Option<Cell> {
    let mut at = start + if interior { LINK } else { 0 };
    let mut row = 0;
    let mut spill = None;
    if kind == Kind::Table && interior {
        row = number(page, &mut at)?;
    } else {
        let record = usize::try_from(number(page, &mut at)?).ok()?;
        if kind == Kind::Table {
            row = number(page, &mut at)?;
        }
        let kept = kind.kept(record, page_size);
        at = at.checked_add(kept)?;
        if kept < record {
            spill = Some(record - kept);
            at += LINK;
        }
    }
    (at <= page.len()).then_some(Cell {
        start,
        end: at,
        row,
        spill,
    })
}

/// Reads a number of seven bits a byte.
fn number(page: &[u8], at: &mut usize) -> Option<u64> {
    let mut value = 0;
    for place in 0..9 {
        let byte = *page.get(*at)?;
        *at += 1;
        if place == 8 {
            return Some(value << 8 | u64::from(byte));
        }
        value = value << 7 | u64::from(byte & 0x7f);
        if byte < 0x80 {
            break;
        }
    }
    Some(value)
}

fn row_number(row: u64) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(9);
    varint(&mut bytes, row);
    bytes
}

fn sixteen_bits(page: &[u8], at: usize) -> Option<usize> {
    Some(usize::from(u16::from_be_bytes(
        *page.get(at..)?.first_chunk()?,
    )))
}

fn thirty_two_bits(page: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(*page.get(at..)?.first_chunk()?))
}
