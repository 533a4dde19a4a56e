//! B-trees of a SQLite file, written page by page instead of row by row: rows come in the order of
//! their keys, so that each page is filled, written and forgotten. The file and its tables are made
//! by SQLite; the trees replace the empty ones there. docs/design/0005-pages.md says why, and what
//! keeps it safe.
//!
//! References: SQLite, "Database File Format", sections 1.3 (header), 1.6 (b-tree pages).

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use super::record::{Record, varint};

/// Bytes that are collected before they are written.
const CHUNK: usize = 1 << 20;

/// SQLite never uses the page that holds this byte: locks live there.
pub(crate) const LOCK_BYTE: u64 = 1 << 30;

/// Bytes of a page before the places of its cells: of a leaf, of an interior page.
pub(crate) const LEAF_HEAD: usize = 8;
pub(crate) const INTERIOR_HEAD: usize = 12;

/// Bytes that a page spends on the place of one cell.
pub(crate) const PLACE: usize = 2;

/// Bytes of the number of a page.
pub(crate) const LINK: usize = 4;

/// Where the pages of a tree go.
pub(crate) trait Pages {
    fn page_size(&self) -> usize;

    /// Takes the next page of rows; says its number.
    fn append(&mut self, page: &[u8]) -> io::Result<u32>;

    /// Takes the next page with the rest of a row, which holds the number of another one.
    fn append_rest(&mut self, page: &[u8]) -> io::Result<u32>;
}

/// Pages without a place, numbered from 0: for trees that grow in another thread than the file.
pub(crate) struct PageBuffer {
    pages: Vec<u8>,
    page_size: usize,
}

impl PageBuffer {
    pub(crate) fn new(page_size: u16) -> Self {
        Self {
            pages: Vec::new(),
            page_size: usize::from(page_size),
        }
    }
}

impl Pages for PageBuffer {
    fn page_size(&self) -> usize {
        self.page_size
    }

    fn append(&mut self, page: &[u8]) -> io::Result<u32> {
        let number = self.pages.len() / self.page_size;
        self.pages.extend_from_slice(page);
        u32::try_from(number).map_err(|_| io::ErrorKind::FileTooLarge.into())
    }

    /// Nobody would set the number right.
    fn append_rest(&mut self, _: &[u8]) -> io::Result<u32> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// A file that pages are appended to while SQLite looks away.
pub(crate) struct PageFile {
    file: File,
    page_size: usize,
    /// Number of the page after the last one, counted from 1.
    next: u32,
    chunk: Vec<u8>,
    /// Where the chunk belongs.
    offset: u64,
}

impl PageFile {
    /// Goes on behind the last page of a database.
    pub(crate) fn new(file: File, page_size: u16) -> io::Result<Self> {
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

    /// The file, for another thread. Pages of the last chunk may not be in it yet.
    pub(crate) fn handle(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Gives the pages of a buffer their places; says the numbers that they have now.
    pub(crate) fn take(&mut self, buffer: &PageBuffer) -> io::Result<Vec<u32>> {
        buffer
            .pages
            .chunks_exact(self.page_size)
            .map(|page| self.append(page))
            .collect()
    }

    fn replace(&mut self, number: u32, page: &[u8]) -> io::Result<()> {
        self.write_at(u64::from(number - 1) * self.page_size as u64, page)
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(offset))?;
        self.file.write_all(bytes)
    }

    fn write_chunk(&mut self) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.offset))?;
        self.file.write_all(&self.chunk)?;
        self.offset += self.chunk.len() as u64;
        self.chunk.clear();
        Ok(())
    }

    /// Writes what is left, and tells the header that the file has grown and changed.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.write_chunk()?;
        let mut counter = [0; 4];
        self.file.seek(SeekFrom::Start(24))?;
        self.file.read_exact(&mut counter)?;
        let changed = u32::from_be_bytes(counter).wrapping_add(1).to_be_bytes();
        self.write_at(24, &changed)?;
        self.write_at(28, &(self.next - 1).to_be_bytes())?;
        self.write_at(92, &changed)
    }
}

impl Pages for PageFile {
    fn page_size(&self) -> usize {
        self.page_size
    }

    fn append(&mut self, page: &[u8]) -> io::Result<u32> {
        if u64::from(self.next) == LOCK_BYTE / self.page_size as u64 + 1 {
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

    fn append_rest(&mut self, page: &[u8]) -> io::Result<u32> {
        self.append(page)
    }
}

/// The two kinds of b-tree.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Rows by number; what stands between two pages repeats the number of the last row before.
    Table,
    /// Rows by content (tables without row numbers, indexes); what stands between two pages is a
    /// row itself.
    Index,
}

impl Kind {
    pub(crate) fn leaf(self) -> u8 {
        if self == Self::Table { 13 } else { 10 }
    }

    pub(crate) fn interior(self) -> u8 {
        if self == Self::Table { 5 } else { 2 }
    }

    /// How much of a record its page keeps; the rest goes to pages of its own.
    pub(crate) fn kept(self, record: usize, page_size: usize) -> usize {
        let most = if self == Self::Table {
            page_size - 35
        } else {
            (page_size - 12) * 64 / 255 - 23
        };
        let least = (page_size - 12) * 32 / 255 - 23;
        if record <= most {
            return record;
        }
        let even = least + (record - least) % (page_size - LINK);
        if even <= most { even } else { least }
    }
}

/// Pages next to each other, and what stands between each two.
#[derive(Default)]
pub(crate) struct Level {
    pub(crate) pages: Vec<u32>,
    /// The dividers one after the other, and where each of them ends: one less than pages.
    dividers: Vec<u8>,
    ends: Vec<usize>,
}

impl Level {
    pub(crate) fn divide(&mut self, divider: &[u8]) {
        self.dividers.extend_from_slice(divider);
        self.ends.push(self.dividers.len());
    }

    pub(crate) fn divider(&self, at: usize) -> &[u8] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.dividers[start..self.ends[at]]
    }

    /// Goes on with another level; what divides the two is there already.
    pub(crate) fn extend(&mut self, next: &Self) {
        self.pages.extend_from_slice(&next.pages);
        let before = self.dividers.len();
        self.dividers.extend_from_slice(&next.dividers);
        self.ends.extend(next.ends.iter().map(|end| before + end));
    }

    /// The pages above these, of which there are two at least, and what divides them: they have no
    /// numbers yet.
    pub(crate) fn parents(&self, kind: Kind, page_size: usize) -> (Vec<Vec<u8>>, Self) {
        let mut parents = Vec::new();
        let mut above = Self::default();
        let mut page = Page::new(kind.interior(), INTERIOR_HEAD, page_size);
        let mut cell = Vec::new();
        let mut first = 0;
        while first < self.pages.len() {
            let mut last = first;
            while last + 1 < self.pages.len() && page.fits(LINK + self.divider(last).len()) {
                cell.clear();
                cell.extend_from_slice(&self.pages[last].to_be_bytes());
                cell.extend_from_slice(self.divider(last));
                page.add(&cell);
                last += 1;
            }
            if last + 2 == self.pages.len() {
                // A page for the last child alone would have no cell, which is not allowed.
                last -= 1;
                let _ = page.take_last(LINK + self.divider(last).len());
            }
            parents.push(page.finished(self.pages[last]).to_vec());
            page.clear();
            if last + 1 < self.pages.len() {
                above.divide(self.divider(last));
            }
            first = last + 1;
        }
        (parents, above)
    }
}

/// A tree that grows at its right end.
struct Tree {
    kind: Kind,
    leaves: Level,
    page: Page,
    /// Bytes of the page that are left to rows which come later, through SQL.
    room: usize,
    /// The same for rows between the last one and the next.
    room_ahead: usize,
    /// Length of the cell that was added last.
    last_cell: usize,
}

impl Tree {
    fn new(kind: Kind, page_size: usize) -> Self {
        let page = Page::new(kind.leaf(), LEAF_HEAD, page_size);
        Self {
            kind,
            leaves: Level::default(),
            page,
            room: 0,
            room_ahead: 0,
            last_cell: 0,
        }
    }

    /// Adds a cell. Where the page is full it is written; `key` is what then stands behind it in a
    /// table.
    fn add(&mut self, pages: &mut impl Pages, cell: &[u8], key: u64) -> io::Result<()> {
        let room = cell.len() + self.room + self.room_ahead;
        // However much room is wanted, a page has rows, and one is left where another becomes a
        // divider.
        if !self.page.fits(cell.len()) || (self.page.cells > 1 && !self.page.fits(room)) {
            match self.kind {
                Kind::Table => {
                    let mut divider = Vec::with_capacity(9);
                    varint(&mut divider, key);
                    self.leaves.divide(&divider);
                }
                Kind::Index => {
                    let divider = self.page.take_last(self.last_cell);
                    self.leaves.divide(&divider);
                }
            }
            self.close_leaf(pages)?;
        }
        self.page.add(cell);
        self.last_cell = cell.len();
        self.room += self.room_ahead;
        self.room_ahead = 0;
        Ok(())
    }

    fn close_leaf(&mut self, pages: &mut impl Pages) -> io::Result<()> {
        self.leaves.pages.push(pages.append(self.page.finished(0))?);
        self.page.clear();
        self.room = 0;
        Ok(())
    }

    /// Puts the tree where SQLite looks for it.
    fn finish(mut self, file: &mut PageFile, root: u32) -> io::Result<()> {
        if self.leaves.pages.is_empty() {
            return file.replace(root, self.page.finished(0));
        }
        self.close_leaf(file)?;
        let mut below = self.leaves;
        loop {
            let (pages, mut above) = below.parents(self.kind, file.page_size);
            if let [page] = pages.as_slice() {
                return file.replace(root, page);
            }
            for page in &pages {
                above.pages.push(file.append(page)?);
            }
            below = above;
        }
    }
}

/// A table with row numbers.
pub(crate) struct TableTree {
    tree: Tree,
    last: u64,
}

impl TableTree {
    pub(crate) fn new(pages: &impl Pages) -> Self {
        Self {
            tree: Tree::new(Kind::Table, pages.page_size()),
            last: 0,
        }
    }

    /// Adds a row; its number is higher than all before.
    pub(crate) fn push(
        &mut self,
        file: &mut PageFile,
        row: u64,
        record: &mut Record,
    ) -> io::Result<()> {
        let mut spilled = Vec::new();
        let cell = record.cell(Kind::Table, Some(row), file, &mut spilled)?;
        self.tree.add(file, cell, self.last)?;
        self.last = row;
        Ok(())
    }

    /// Keeps bytes free for rows that come later and belong here.
    pub(crate) fn leave_room(&mut self, bytes: usize) {
        self.tree.room_ahead += bytes;
    }

    pub(crate) fn finish(self, file: &mut PageFile, root: u32) -> io::Result<()> {
        self.tree.finish(file, root)
    }
}

/// An index, or a table without row numbers: all columns, those of the key first.
pub(crate) struct IndexTree(Tree);

impl IndexTree {
    pub(crate) fn new(pages: &impl Pages) -> Self {
        Self(Tree::new(Kind::Index, pages.page_size()))
    }

    /// Adds a row; it comes after all before.
    pub(crate) fn push(&mut self, pages: &mut impl Pages, record: &mut Record) -> io::Result<()> {
        let mut spilled = Vec::new();
        let cell = record.cell(Kind::Index, None, pages, &mut spilled)?;
        self.0.add(pages, cell, 0)
    }

    /// Goes over from a buffer to the file that has taken it: `numbers` says which pages have
    /// become of its.
    pub(crate) fn move_to(&mut self, numbers: &[u32]) {
        for page in &mut self.0.leaves.pages {
            *page = numbers[*page as usize];
        }
    }

    /// Keeps bytes free for rows that come later and belong here.
    pub(crate) fn leave_room(&mut self, bytes: usize) {
        self.0.room_ahead += bytes;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.leaves.pages.is_empty() && self.0.page.cells == 0
    }

    /// Goes on with the pages of another tree, which has rows; `divider` comes after all rows here
    /// and before those.
    pub(crate) fn join(
        &mut self,
        file: &mut PageFile,
        divider: &mut Record,
        mut next: Self,
    ) -> io::Result<()> {
        let mut spilled = Vec::new();
        let cell = divider.cell(Kind::Index, None, file, &mut spilled)?;
        self.0.close_leaf(file)?;
        self.0.leaves.divide(cell);
        // Its last page is still being filled, so each of the others has a divider behind it.
        self.0.leaves.extend(&std::mem::take(&mut next.0.leaves));
        self.0 = Tree {
            leaves: std::mem::take(&mut self.0.leaves),
            ..next.0
        };
        Ok(())
    }

    pub(crate) fn finish(self, file: &mut PageFile, root: u32) -> io::Result<()> {
        self.0.finish(file, root)
    }
}

/// A page that is being filled: places of cells from the front, cells from the back.
pub(crate) struct Page {
    bytes: Vec<u8>,
    head: usize,
    pub(crate) cells: usize,
    top: usize,
}

impl Page {
    pub(crate) fn new(kind: u8, head: usize, page_size: usize) -> Self {
        let mut bytes = vec![0; page_size];
        bytes[0] = kind;
        Self {
            bytes,
            head,
            cells: 0,
            top: page_size,
        }
    }

    pub(crate) fn fits(&self, bytes: usize) -> bool {
        self.head + PLACE * (self.cells + 1) + bytes <= self.top
    }

    pub(crate) fn add(&mut self, cell: &[u8]) {
        let end = self.top;
        self.top -= cell.len();
        self.bytes[self.top..end].copy_from_slice(cell);
        let place = self.head + PLACE * self.cells;
        self.bytes[place..place + PLACE].copy_from_slice(&sixteen_bits(self.top));
        self.cells += 1;
    }

    /// Takes the cell away that was added last; its length is known to whoever added it.
    pub(crate) fn take_last(&mut self, length: usize) -> Vec<u8> {
        let cell = self.bytes[self.top..self.top + length].to_vec();
        self.top += length;
        self.cells -= 1;
        cell
    }

    /// The page as it is to be written; `right` is the last child of an interior page.
    pub(crate) fn finished(&mut self, right: u32) -> &[u8] {
        self.bytes[self.head + PLACE * self.cells..self.top].fill(0);
        self.bytes[3..5].copy_from_slice(&sixteen_bits(self.cells));
        self.bytes[5..7].copy_from_slice(&sixteen_bits(self.top));
        if self.head == INTERIOR_HEAD {
            self.bytes[8..12].copy_from_slice(&right.to_be_bytes());
        }
        &self.bytes
    }

    pub(crate) fn clear(&mut self) {
        self.cells = 0;
        self.top = self.bytes.len();
    }
}

/// A place or a number of cells. A page of 65,536 bytes without cells has its top at 65,536, which
/// is written as 0.
fn sixteen_bits(number: usize) -> [u8; 2] {
    let [.., high, low] = number.to_be_bytes();
    [high, low]
}
