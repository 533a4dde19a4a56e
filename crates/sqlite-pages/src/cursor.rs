//! Reads the rows of a b-tree in the order of their keys, page by page.
//!
//! SQLite's virtual machine takes several hundred instructions to hand out a row of numbers; its
//! record is read with a tenth of them. The pages come from the caller, who has them of SQLite's
//! own pager, so that locks, the journal and a log (WAL) are none of this file's business.
//!
//! The file may be a stranger's: what does not fit is damage, never a panic, and no walk in
//! circles: no tree is deep, and no more pages are visited than the database has.
//!
//! Reference: SQLite, "Database File Format", sections 1.6 (b-tree pages), 1.7 (overflow pages).

use crate::header;
use crate::number::{u16_at, u32_at, varint_at};
use crate::page::{MAX_DEPTH, PAGE_NUMBER, TreeKind};

/// Bytes of a record that is put together from overflow pages, at most: SQLite's own limit for the
/// rows that this program may have is the same.
const MAX_PAYLOAD: usize = 256 << 20;

/// A source of database pages.
pub trait PageSource {
    /// The error of a page that cannot be read.
    type Error;

    /// Replaces `bytes` by the content of a page, whose number counts from 1. Leaves `bytes` empty if the page does not exist.
    ///
    /// # Errors
    ///
    /// If the page cannot be read, or the reader has been asked to stop.
    fn page(&mut self, number: u32, bytes: &mut Vec<u8>) -> Result<(), Self::Error>;
}

/// The error of a row that cannot be read; `E` is the error of the [`PageSource`].
#[derive(Debug)]
pub enum ReadError<E> {
    /// A page could not be read.
    Source(E),
    /// The tree violates the file format.
    Damaged,
}

/// The result of reading from a [`PageSource`].
pub type Read<T, S> = Result<T, ReadError<<S as PageSource>::Error>>;

/// Returns the page size that the first page of a database declares; `None` if pages have reserved bytes, or texts are not in UTF-8.
pub fn page_size(first: &[u8]) -> Option<usize> {
    let is_usual = first.get(header::RESERVED_BYTES) == Some(&0)
        && u32_at(first, header::TEXT_ENCODING) == Some(1);
    is_usual.then_some(first.len())
}

/// A position in a b-tree, from which rows are read in key order.
pub struct Cursor<S> {
    source: S,
    kind: TreeKind,
    page_size: usize,
    /// Payloads of so many bytes have a length of one byte, and are on one page.
    short: u8,
    root: u32,
    /// How many pages may still be visited from row to row: in a tree, none comes twice. A search
    /// may look at a page again, and ends at the bottom of the tree.
    unvisited: u32,
    /// The pages from the root to the one that is read.
    path: Vec<Visit>,
    /// Pages that have been left, whose memory is used again.
    left: Vec<Vec<u8>>,
    /// A record that is not on one page.
    payload: Vec<u8>,
}

/// A page on the way to a row.
struct Visit {
    page: Vec<u8>,
    is_leaf: bool,
    cells: usize,
    /// On a leaf the cell that comes next; else the child that is visited, or is next.
    at: usize,
    /// That child has not been visited yet.
    is_next: bool,
}

/// Bytes of the header of a leaf page, and of one that has children.
const LEAF_HEADER: usize = 8;
const INTERIOR_HEADER: usize = 12;

impl Visit {
    /// Where a cell begins.
    #[inline]
    fn cell(&self, at: usize) -> Option<usize> {
        let header = if self.is_leaf {
            LEAF_HEADER
        } else {
            INTERIOR_HEADER
        };
        u16_at(&self.page, header + 2 * at)
    }

    /// The number of a child; the one after the last cell is the right-most one.
    fn child(&self, at: usize) -> Option<u32> {
        if at == self.cells {
            u32_at(&self.page, 8)
        } else {
            u32_at(&self.page, self.cell(at)?)
        }
    }
}

/// A cell: its row id, where its payload is on the page, and the rest of it.
#[derive(Clone, Copy)]
struct Found {
    row_id: i64,
    start: usize,
    end: usize,
    /// The first page of the rest, and its length.
    overflow: Option<(u32, usize)>,
}

impl<S: PageSource> Cursor<S> {
    /// Creates a cursor before the first row of a table with row ids; `pages` is the number of pages of the database.
    pub fn table(source: S, root: u32, page_size: usize, pages: u32) -> Self {
        Self::new(source, TreeKind::Table, root, page_size, pages)
    }

    /// Creates a cursor before the first row of an index or of a table without row ids; `pages` is the number of pages of the
    /// database.
    pub fn index(source: S, root: u32, page_size: usize, pages: u32) -> Self {
        Self::new(source, TreeKind::Index, root, page_size, pages)
    }

    fn new(source: S, kind: TreeKind, root: u32, page_size: usize, pages: u32) -> Self {
        Self {
            source,
            kind,
            page_size,
            short: u8::try_from(kind.most_local(page_size)).map_or(0x7f, |most| most.min(0x7f)),
            root,
            unvisited: pages,
            path: Vec::new(),
            left: Vec::new(),
            payload: Vec::new(),
        }
    }

    /// Moves to the first row for which `is_before` returns `false`. The function must return `true` for all rows before it. Its
    /// arguments are the row id of a table, and the beginning of the record of an index.
    ///
    /// A cursor that has been moved before only moves forward, and does not read again the pages that it has open.
    pub fn seek(&mut self, mut is_before: impl FnMut(i64, &[u8]) -> bool) -> Read<(), S> {
        if self.path.is_empty() {
            self.visit(self.root)?;
        }
        // Up to the page below which the row is.
        while self.path.len() > 1 {
            let Some(top) = self.path.last() else { break };
            if top.cells > top.at && !self.is_before(top, top.cells - 1, &mut is_before)? {
                break;
            }
            self.leave();
        }
        // And down again.
        while let Some(top) = self.path.last() {
            let (mut low, mut high) = (top.at, top.cells);
            while low < high {
                let middle = low.midpoint(high);
                if self.is_before(top, middle, &mut is_before)? {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            let Some(top) = self.path.last_mut() else {
                break;
            };
            top.at = low;
            if top.is_leaf {
                break;
            }
            top.is_next = false;
            let child = top.child(low).ok_or(ReadError::Damaged)?;
            self.visit(child)?;
        }
        Ok(())
    }

    fn is_before(
        &self,
        visit: &Visit,
        at: usize,
        is_before: &mut impl FnMut(i64, &[u8]) -> bool,
    ) -> Read<bool, S> {
        let found = self.found(visit, at).ok_or(ReadError::Damaged)?;
        let record = visit.page.get(found.start..found.end);
        Ok(is_before(found.row_id, record.ok_or(ReadError::Damaged)?))
    }

    /// Returns the next row as its row id, which is 0 in an index, and its record; `None` after the last row.
    #[inline]
    pub fn next_row(&mut self) -> Read<Option<(i64, &[u8])>, S> {
        if let Some((row_id, start, end)) = self.short_row() {
            let top = self.path.len() - 1;
            self.path[top].at += 1;
            return Ok(Some((row_id, &self.path[top].page[start..end])));
        }
        if self.next_page()? {
            self.row().map(Some)
        } else {
            Ok(None)
        }
    }

    /// The next row of the page that is read, if it is a leaf and the row is short, as nearly all are: its row id, and where its
    /// record is.
    #[inline]
    fn short_row(&self) -> Option<(i64, usize, usize)> {
        let top = self.path.last().filter(|top| top.is_leaf)?;
        if top.at >= top.cells {
            return None;
        }
        let mut start = u16_at(&top.page, LEAF_HEADER + 2 * top.at)?;
        let payload = *top.page.get(start)?;
        if payload > self.short {
            return None;
        }
        start += 1;
        let row_id = match self.kind {
            TreeKind::Table => varint_at(&top.page, &mut start)?.cast_signed(),
            TreeKind::Index => 0,
        };
        let end = start + usize::from(payload);
        (end <= top.page.len()).then_some((row_id, start, end))
    }

    /// Returns the next row for which `is_wanted` returns `true`, or whose record is not on a single page.
    #[inline]
    pub fn next_row_where(
        &mut self,
        mut is_wanted: impl FnMut(&[u8]) -> bool,
    ) -> Read<Option<(i64, &[u8])>, S> {
        loop {
            if let Some(top) = self.path.last_mut()
                && top.is_leaf
                && top.at < top.cells
            {
                top.at += 1;
            } else if !self.next_page()? {
                return Ok(None);
            }
            let Some(top) = self.path.last() else {
                return Err(ReadError::Damaged);
            };
            let found = self.found(top, top.at - 1).ok_or(ReadError::Damaged)?;
            let record = top.page.get(found.start..found.end);
            let record = record.ok_or(ReadError::Damaged)?;
            if found.overflow.is_some() || is_wanted(record) {
                return self.record(found).map(Some);
            }
        }
    }

    /// Goes past the next row where the page that is read has no more; `false` at the end.
    fn next_page(&mut self) -> Read<bool, S> {
        loop {
            let Some(top) = self.path.last_mut() else {
                return Ok(false);
            };
            if top.is_leaf && top.at < top.cells {
                top.at += 1;
                return Ok(true);
            }
            if !top.is_leaf && top.is_next {
                top.is_next = false;
                let child = top.child(top.at).ok_or(ReadError::Damaged)?;
                self.unvisited = self.unvisited.checked_sub(1).ok_or(ReadError::Damaged)?;
                self.visit(child)?;
                continue;
            }
            if top.is_leaf || top.at >= top.cells {
                self.leave();
                continue;
            }
            top.at += 1;
            top.is_next = true;
            // Separators of an index are rows, those of a table repeat the row id of one.
            if self.kind == TreeKind::Index {
                return Ok(true);
            }
        }
    }

    /// The row before the place of the page that is read.
    #[inline]
    fn row(&mut self) -> Read<(i64, &[u8]), S> {
        let Some(top) = self.path.last() else {
            return Err(ReadError::Damaged);
        };
        let found = self.found(top, top.at - 1).ok_or(ReadError::Damaged)?;
        self.record(found)
    }

    /// The row whose cell has been found on the page that is read.
    #[inline]
    fn record(&mut self, found: Found) -> Read<(i64, &[u8]), S> {
        let Some(top) = self.path.last() else {
            return Err(ReadError::Damaged);
        };
        let Found {
            row_id,
            start,
            end,
            overflow,
        } = found;
        if let Some((page, length)) = overflow {
            self.payload.clear();
            self.payload.extend_from_slice(&top.page[start..end]);
            self.overflow(page, length)?;
            return Ok((row_id, &self.payload));
        }
        let Some(top) = self.path.last() else {
            return Err(ReadError::Damaged);
        };
        let record = top.page.get(start..end);
        Ok((row_id, record.ok_or(ReadError::Damaged)?))
    }

    /// A cell of a page.
    #[inline]
    fn found(&self, visit: &Visit, at: usize) -> Option<Found> {
        let page = visit.page.as_slice();
        let mut start = visit.cell(at)?;
        if !visit.is_leaf {
            start += PAGE_NUMBER;
            if self.kind == TreeKind::Table {
                let row_id = varint_at(page, &mut start)?.cast_signed();
                let end = start;
                return Some(Found {
                    row_id,
                    start,
                    end,
                    overflow: None,
                });
            }
        }
        let payload = usize::try_from(varint_at(page, &mut start)?).ok()?;
        let row_id = match self.kind {
            TreeKind::Table => varint_at(page, &mut start)?.cast_signed(),
            TreeKind::Index => 0,
        };
        let local = self.kind.local_payload(payload, self.page_size);
        let end = start.checked_add(local)?;
        let mut overflow = None;
        if local < payload {
            overflow = Some((u32_at(page, end)?, payload - local));
        }
        (end <= page.len()).then_some(Found {
            row_id,
            start,
            end,
            overflow,
        })
    }

    /// Adds what is on overflow pages to the payload.
    fn overflow(&mut self, first: u32, length: usize) -> Read<(), S> {
        if length > MAX_PAYLOAD {
            return Err(ReadError::Damaged);
        }
        let mut page = self.left.pop().unwrap_or_default();
        let (mut number, mut missing) = (first, length);
        while missing > 0 {
            self.read(number, &mut page)?;
            number = u32_at(&page, 0).ok_or(ReadError::Damaged)?;
            let piece = missing.min(self.page_size - PAGE_NUMBER);
            self.payload
                .extend_from_slice(&page[PAGE_NUMBER..PAGE_NUMBER + piece]);
            missing -= piece;
        }
        self.left.push(page);
        Ok(())
    }

    /// Goes to the beginning of a page.
    fn visit(&mut self, number: u32) -> Read<(), S> {
        if self.path.len() == MAX_DEPTH {
            return Err(ReadError::Damaged);
        }
        let mut page = self.left.pop().unwrap_or_default();
        self.read(number, &mut page)?;
        let is_leaf = page[0] == self.kind.leaf();
        let cells = u16_at(&page, 3).unwrap_or(0);
        let is_page = is_leaf || page[0] == self.kind.interior();
        // Only a tree without rows has a leaf page without any.
        let is_empty = cells == 0 && is_leaf && !self.path.is_empty();
        if !is_page || is_empty {
            return Err(ReadError::Damaged);
        }
        self.path.push(Visit {
            page,
            is_leaf,
            cells,
            at: 0,
            is_next: true,
        });
        Ok(())
    }

    fn leave(&mut self) {
        self.left.extend(self.path.pop().map(|visit| visit.page));
    }

    fn read(&mut self, number: u32, page: &mut Vec<u8>) -> Read<(), S> {
        // The first page of a database begins with the header, and no tree of ours has it.
        if number > 1 {
            self.source.page(number, page).map_err(ReadError::Source)?;
            if page.len() == self.page_size {
                return Ok(());
            }
        }
        Err(ReadError::Damaged)
    }
}
