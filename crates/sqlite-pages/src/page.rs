//! One page of a b-tree: its header, the array of cell pointers, which grows upwards, and the
//! cells, which are filled in from the end.
//!
//! ```text
//! | header | pointer 0 | pointer 1 | ...  unallocated  ... | cell 1 | cell 0 |
//! ```
//!
//! References: SQLite, "Database File Format", sections 1.6 (b-tree pages), 1.7 (overflow pages).

use crate::number::{put_u16, put_u32, u16_at, u32_at, varint_at};

/// Bytes of the header of a leaf page.
const LEAF_HEADER: usize = 8;

/// Bytes of the header of an interior page, which ends in the number of the right-most child.
const INTERIOR_HEADER: usize = 12;

/// Fields of the header: how many cells there are, and where the cell content area begins.
const CELL_COUNT: usize = 3;
const CONTENT_START: usize = 5;
const RIGHT_CHILD: usize = 8;

/// Bytes of a cell pointer.
const CELL_POINTER: usize = 2;

/// Bytes of a page number.
pub(crate) const PAGE_NUMBER: usize = 4;

/// Maximum depth of a tree. Trees of four-byte page numbers are less deep, unless a page is its own ancestor.
pub(crate) const MAX_DEPTH: usize = 40;

/// The two kinds of b-tree.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TreeKind {
    /// Rows by row id. A separator repeats the row id of the last row before it.
    Table,
    /// Rows by content (indexes, tables WITHOUT ROWID). A separator is a row itself.
    Index,
}

impl TreeKind {
    /// The first byte of a leaf page.
    pub(crate) fn leaf(self) -> u8 {
        if self == Self::Table { 13 } else { 10 }
    }

    /// The first byte of an interior page.
    pub(crate) fn interior(self) -> u8 {
        if self == Self::Table { 5 } else { 2 }
    }

    /// Bytes of a payload that is on one page whatever else is.
    pub(crate) fn most_local(self, page_size: usize) -> usize {
        if self == Self::Table {
            page_size.saturating_sub(35)
        } else {
            (page_size.saturating_sub(12) * 64 / 255).saturating_sub(23)
        }
    }

    /// Bytes of a payload that its cell holds; the others go to overflow pages.
    pub(crate) fn local_payload(self, payload: usize, page_size: usize) -> usize {
        let most = self.most_local(page_size);
        let least = (page_size - 12) * 32 / 255 - 23;
        // `most`, `least` and `even` are X, M and K of section 1.6. The usable size of a page is
        // all of it: files with reserved bytes are left to SQL (`Database::new`).
        if payload <= most {
            return payload;
        }
        // What fills the last overflow page to its end.
        let even = least + (payload - least) % (page_size - PAGE_NUMBER);
        if even <= most { even } else { least }
    }
}

/// A page that is being filled.
pub(crate) struct Page {
    bytes: Vec<u8>,
    /// Bytes of its header.
    header: usize,
    cells: usize,
    /// Where the cell content area begins.
    content: usize,
}

impl Page {
    /// An empty leaf page.
    pub(crate) fn leaf(kind: TreeKind, page_size: usize) -> Self {
        Self::new(kind.leaf(), LEAF_HEADER, page_size)
    }

    /// An interior page without children.
    pub(crate) fn interior(kind: TreeKind, page_size: usize) -> Self {
        Self::new(kind.interior(), INTERIOR_HEADER, page_size)
    }

    fn new(kind: u8, header: usize, page_size: usize) -> Self {
        let mut bytes = vec![0; page_size];
        bytes[0] = kind;
        Self {
            bytes,
            header,
            cells: 0,
            content: page_size,
        }
    }

    /// How many cells it has.
    pub(crate) fn cells(&self) -> usize {
        self.cells
    }

    /// Whether there is room for one more cell of this length.
    pub(crate) fn fits(&self, cell: usize) -> bool {
        self.header + CELL_POINTER * (self.cells + 1) + cell <= self.content
    }

    /// Adds a cell that fits.
    pub(crate) fn add(&mut self, cell: &[u8]) {
        let end = self.content;
        self.content -= cell.len();
        self.bytes[self.content..end].copy_from_slice(cell);
        let pointer = self.header + CELL_POINTER * self.cells;
        put_u16(&mut self.bytes, pointer, self.content);
        self.cells += 1;
    }

    /// Takes the cell away that was added last, of this length.
    pub(crate) fn take_last(&mut self, length: usize) -> Vec<u8> {
        let cell = self.bytes[self.content..self.content + length].to_vec();
        self.content += length;
        self.cells -= 1;
        cell
    }

    /// Bytes of the page.
    pub(crate) fn size(&self) -> usize {
        self.bytes.len()
    }

    /// The leaf page as it is written.
    pub(crate) fn finished(&mut self) -> &[u8] {
        self.finished_mut()
    }

    /// The same, whose cells may get other page numbers.
    pub(crate) fn finished_mut(&mut self) -> &mut [u8] {
        // The page is used again and again: what the one before had there would be written to the
        // file. Cells lie without gaps, so the fields of free blocks and fragments stay 0.
        self.bytes[self.header + CELL_POINTER * self.cells..self.content].fill(0);
        put_u16(&mut self.bytes, CELL_COUNT, self.cells);
        put_u16(&mut self.bytes, CONTENT_START, self.content);
        &mut self.bytes
    }

    /// The interior page as it is written.
    pub(crate) fn finished_interior(&mut self, right_child: u32) -> &[u8] {
        put_u32(&mut self.bytes, RIGHT_CHILD, right_child);
        self.finished()
    }

    /// Makes it empty.
    pub(crate) fn clear(&mut self) {
        self.cells = 0;
        self.content = self.bytes.len();
    }
}

/// Where a cell of a page is.
pub(crate) struct Cell {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Where its payload begins; in an interior page of a table there is none.
    pub(crate) payload: usize,
    /// In a table: the row id.
    pub(crate) row_id: u64,
    /// Bytes on overflow pages, the first of whose numbers ends the cell.
    pub(crate) overflow: Option<usize>,
}

/// The cells of a page in the order of their keys; `None` if it is not a page of such a tree.
pub(crate) fn cells(kind: TreeKind, page: &[u8]) -> Option<Vec<Cell>> {
    let is_interior = *page.first()? == kind.interior();
    if !is_interior && page[0] != kind.leaf() {
        return None;
    }
    let header = if is_interior {
        INTERIOR_HEADER
    } else {
        LEAF_HEADER
    };
    let pointers =
        (0..u16_at(page, CELL_COUNT)?).map(|at| u16_at(page, header + CELL_POINTER * at));
    let cell = |start| {
        if is_interior {
            interior_cell(kind, page, start)
        } else {
            leaf_cell(kind, page, start, page.len())
        }
    };
    pointers.map(|start| cell(start?)).collect()
}

/// The cell of a leaf page that begins at `start`. `bytes` may be fewer than a page has.
pub(crate) fn leaf_cell(
    kind: TreeKind,
    bytes: &[u8],
    start: usize,
    page_size: usize,
) -> Option<Cell> {
    let mut end = start;
    let payload = usize::try_from(varint_at(bytes, &mut end)?).ok()?;
    let row_id = match kind {
        TreeKind::Table => varint_at(bytes, &mut end)?,
        TreeKind::Index => 0,
    };
    let local = kind.local_payload(payload, page_size);
    let payload_start = end;
    end = end.checked_add(local)?;
    let overflow = (local < payload).then_some(payload - local);
    if overflow.is_some() {
        end += PAGE_NUMBER;
    }
    (end <= bytes.len()).then_some(Cell {
        start,
        end,
        payload: payload_start,
        row_id,
        overflow,
    })
}

/// The cell of an interior page that begins at `start`: the number of a child, and the separator
/// between it and the next one.
fn interior_cell(kind: TreeKind, page: &[u8], start: usize) -> Option<Cell> {
    let mut end = start + PAGE_NUMBER;
    let cell = match kind {
        TreeKind::Table => {
            let row_id = varint_at(page, &mut end)?;
            Cell {
                start,
                end,
                payload: end,
                row_id,
                overflow: None,
            }
        }
        TreeKind::Index => Cell {
            start,
            ..leaf_cell(kind, page, end, page.len())?
        },
    };
    Some(cell)
}

/// What a cell of an interior page says: the number of a child, and the separator after it.
pub(crate) fn child<'p>(page: &'p [u8], cell: &Cell) -> Option<(u32, &'p [u8])> {
    let separator = page.get(cell.start + PAGE_NUMBER..cell.end)?;
    Some((u32_at(page, cell.start)?, separator))
}

/// The last child of a page; `None` if it is a leaf page.
pub(crate) fn right_child(kind: TreeKind, page: &[u8]) -> Option<u32> {
    if *page.first()? == kind.interior() {
        u32_at(page, RIGHT_CHILD)
    } else {
        None
    }
}

/// Whether a cell of a leaf page has overflow pages; `None` if it is not such a page. Hardly any
/// has, so that no more is read of each cell than it takes.
pub(crate) fn has_overflow(kind: TreeKind, page: &[u8]) -> Option<bool> {
    for at in 0..u16_at(page, CELL_COUNT)? {
        let mut start = u16_at(page, LEAF_HEADER + CELL_POINTER * at)?;
        let payload = usize::try_from(varint_at(page, &mut start)?).ok()?;
        if kind.local_payload(payload, page.len()) < payload {
            return Some(true);
        }
    }
    Some(false)
}
