//! B-trees that are written page by page instead of row by row: rows come in the order of their
//! keys, so that each page is filled, written and forgotten. The file and its tables are made by
//! SQLite; the trees replace the empty ones there. docs/design/0005-pages.md says why, and what
//! keeps it safe.
//!
//! Reference: SQLite, "Database File Format", section 1.6 (b-tree pages).

use std::io;

use super::number::{push_varint, put_varint_before};
use super::page::{PAGE_NUMBER, Page, TreeKind, cells, child, right_child};
use super::page_file::{PageFile, Pages};
use super::record::Record;

/// The pages of one level of a tree, and the separators between them.
#[derive(Default)]
pub(super) struct Level {
    pub(super) pages: Vec<u32>,
    /// The separators one after the other, and where each of them ends: one less than pages.
    separators: Vec<u8>,
    ends: Vec<usize>,
}

impl Level {
    /// Adds the separator between the last page and the next one.
    pub(super) fn separate(&mut self, separator: &[u8]) {
        self.separators.extend_from_slice(separator);
        self.ends.push(self.separators.len());
    }

    /// The separator after a page.
    pub(super) fn separator(&self, at: usize) -> &[u8] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.separators[start..self.ends[at]]
    }

    /// Appends another level; the separator between the two is there already.
    pub(super) fn extend(&mut self, next: &Self) {
        self.pages.extend_from_slice(&next.pages);
        let before = self.separators.len();
        self.separators.extend_from_slice(&next.separators);
        self.ends.extend(next.ends.iter().map(|end| before + end));
    }

    /// Adds the children of an interior page, and the separators between them; `None` if it is not
    /// an interior page of such a tree.
    pub(super) fn add_children(&mut self, kind: TreeKind, page: &[u8]) -> Option<()> {
        for cell in cells(kind, page)? {
            let (number, separator) = child(page, &cell)?;
            self.pages.push(number);
            self.separate(separator);
        }
        self.pages.push(right_child(kind, page)?);
        Some(())
    }

    /// The interior pages above these pages, of which there are at least two, and the separators
    /// between them. They have no numbers yet.
    pub(super) fn parents(&self, kind: TreeKind, page_size: usize) -> (Vec<Vec<u8>>, Self) {
        let mut parents = Vec::new();
        let mut above = Self::default();
        let mut page = Page::interior(kind, page_size);
        let mut cell = Vec::new();
        let mut first = 0;
        while first < self.pages.len() {
            let mut last = first;
            while last + 1 < self.pages.len() && page.fits(PAGE_NUMBER + self.separator(last).len())
            {
                cell.clear();
                cell.extend_from_slice(&self.pages[last].to_be_bytes());
                cell.extend_from_slice(self.separator(last));
                page.add(&cell);
                last += 1;
            }
            if last + 2 == self.pages.len() {
                // A page for the last child alone would have no cell, which is not allowed.
                // At least four cells fit on a page, which is what the largest local payload is
                // chosen for, so the page before keeps some.
                last -= 1;
                let _ = page.take_last(PAGE_NUMBER + self.separator(last).len());
            }
            parents.push(page.finished_interior(self.pages[last]).to_vec());
            page.clear();
            if last + 1 < self.pages.len() {
                above.separate(self.separator(last));
            }
            first = last + 1;
        }
        (parents, above)
    }
}

/// The separator after a row of a table: its row id.
pub(super) fn row_id_separator(row_id: u64) -> Vec<u8> {
    let mut separator = Vec::with_capacity(9);
    push_varint(&mut separator, row_id);
    separator
}

/// The cell of a leaf page for a record. What is too long for the page goes to overflow pages, and
/// the cell that is left to `shortened`.
fn leaf_cell<'c>(
    kind: TreeKind,
    row_id: Option<u64>,
    record: &'c mut Record,
    pages: &mut impl Pages,
    shortened: &'c mut Vec<u8>,
) -> io::Result<&'c [u8]> {
    let (bytes, payload) = record.encoded();
    let length = bytes.len() - payload;
    let start = row_id.map_or(payload, |row_id| put_varint_before(bytes, payload, row_id));
    let start = put_varint_before(bytes, start, length as u64);
    let local = kind.local_payload(length, pages.page_size());
    if local == length {
        return Ok(&bytes[start..]);
    }
    let (cell, overflow) = bytes.split_at(payload + local);
    // Backwards: each page begins with the number of the next one, the last one with 0.
    let mut next = 0_u32;
    for part in overflow.chunks(pages.page_size() - PAGE_NUMBER).rev() {
        let mut page = next.to_be_bytes().to_vec();
        page.extend_from_slice(part);
        page.resize(pages.page_size(), 0);
        next = pages.append_overflow(&page)?;
    }
    shortened.extend_from_slice(&cell[start..]);
    shortened.extend_from_slice(&next.to_be_bytes());
    Ok(shortened)
}

/// A tree that grows at its right edge.
struct Tree {
    kind: TreeKind,
    /// The leaves that are written.
    leaves: Level,
    /// The leaf that is being filled.
    leaf: Page,
    /// Bytes of the leaf that are left to rows which come later, through SQL.
    room: usize,
    /// Bytes that are wanted for such rows between the last row and the next.
    room_ahead: usize,
    /// Length of the cell that was added last.
    last_cell: usize,
}

impl Tree {
    fn new(kind: TreeKind, page_size: usize) -> Self {
        Self {
            kind,
            leaves: Level::default(),
            leaf: Page::leaf(kind, page_size),
            room: 0,
            room_ahead: 0,
            last_cell: 0,
        }
    }

    /// Adds a cell. Where the leaf is full it is written; `last_row_id` is that of the row before,
    /// in a table.
    fn add(&mut self, pages: &mut impl Pages, cell: &[u8], last_row_id: u64) -> io::Result<()> {
        let room = cell.len() + self.room + self.room_ahead;
        // However much room is wanted, a leaf has rows, and one is left where another becomes a
        // separator.
        if !self.leaf.fits(cell.len()) || (self.leaf.cells() > 1 && !self.leaf.fits(room)) {
            let separator = match self.kind {
                // A table repeats the row id above and keeps the row in its leaf; an index moves
                // the row itself, which is in the tree once (section 1.6).
                TreeKind::Table => row_id_separator(last_row_id),
                TreeKind::Index => self.leaf.take_last(self.last_cell),
            };
            self.leaves.separate(&separator);
            self.close_leaf(pages)?;
        }
        self.leaf.add(cell);
        self.last_cell = cell.len();
        // Rows that come later are inserted before this one, so that they share its leaf.
        self.room += self.room_ahead;
        self.room_ahead = 0;
        Ok(())
    }

    fn close_leaf(&mut self, pages: &mut impl Pages) -> io::Result<()> {
        self.leaves.pages.push(pages.append(self.leaf.finished())?);
        self.leaf.clear();
        self.room = 0;
        Ok(())
    }

    /// Writes the pages above the leaves, the root to its place.
    fn finish(mut self, file: &mut PageFile, root: u32) -> io::Result<()> {
        // A tree of one leaf has no page above it: the leaf is the root, in the place that the
        // schema knows.
        if self.leaves.pages.is_empty() {
            return file.replace(root, self.leaf.finished());
        }
        self.close_leaf(file)?;
        let mut below = self.leaves;
        loop {
            let (pages, mut above) = below.parents(self.kind, file.page_size());
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

/// A table with row ids.
pub(crate) struct TableTree {
    tree: Tree,
    last_row_id: u64,
}

impl TableTree {
    /// A tree without rows.
    pub(crate) fn new(pages: &impl Pages) -> Self {
        Self {
            tree: Tree::new(TreeKind::Table, pages.page_size()),
            last_row_id: 0,
        }
    }

    /// Adds a row, whose row id is higher than all before.
    pub(crate) fn push(
        &mut self,
        file: &mut PageFile,
        row_id: u64,
        record: &mut Record,
    ) -> io::Result<()> {
        let mut shortened = Vec::new();
        let cell = leaf_cell(TreeKind::Table, Some(row_id), record, file, &mut shortened)?;
        self.tree.add(file, cell, self.last_row_id)?;
        self.last_row_id = row_id;
        Ok(())
    }

    /// Keeps bytes free for rows that are inserted here later.
    pub(crate) fn leave_room(&mut self, bytes: usize) {
        self.tree.room_ahead += bytes;
    }

    /// Writes the rest of the tree, the root to its place.
    pub(crate) fn finish(self, file: &mut PageFile, root: u32) -> io::Result<()> {
        self.tree.finish(file, root)
    }
}

/// An index, or a table WITHOUT ROWID: all columns, those of the key first.
pub(crate) struct IndexTree(Tree);

impl IndexTree {
    /// A tree without rows.
    pub(crate) fn new(pages: &impl Pages) -> Self {
        Self(Tree::new(TreeKind::Index, pages.page_size()))
    }

    /// Adds a row, which comes after all before.
    pub(crate) fn push(&mut self, pages: &mut impl Pages, record: &mut Record) -> io::Result<()> {
        let mut shortened = Vec::new();
        let cell = leaf_cell(TreeKind::Index, None, record, pages, &mut shortened)?;
        self.0.add(pages, cell, 0)
    }

    /// Moves from a buffer to the file that has taken its pages; `numbers` are those in the file.
    pub(crate) fn move_to(&mut self, numbers: &[u32]) {
        for page in &mut self.0.leaves.pages {
            // Only the list of leaves has numbers of the buffer: the pages above are made later,
            // and leaves hold no numbers, since the buffer refuses overflow pages.
            *page = numbers[*page as usize];
        }
    }

    /// Keeps bytes free for rows that are inserted here later.
    pub(crate) fn leave_room(&mut self, bytes: usize) {
        self.0.room_ahead += bytes;
    }

    /// Whether it has no rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.leaves.pages.is_empty() && self.0.leaf.cells() == 0
    }

    /// Appends the pages of another tree, which has rows; `separator` is a row that comes after all
    /// rows here and before those.
    pub(crate) fn join(
        &mut self,
        file: &mut PageFile,
        separator: &mut Record,
        mut next: Self,
    ) -> io::Result<()> {
        let mut shortened = Vec::new();
        let cell = leaf_cell(TreeKind::Index, None, separator, file, &mut shortened)?;
        self.0.close_leaf(file)?;
        self.0.leaves.separate(cell);
        // Its last leaf is still being filled, so each of the others has a separator after it.
        self.0.leaves.extend(&std::mem::take(&mut next.0.leaves));
        self.0 = Tree {
            leaves: std::mem::take(&mut self.0.leaves),
            ..next.0
        };
        Ok(())
    }

    /// Writes the rest of the tree, the root to its place.
    pub(crate) fn finish(self, file: &mut PageFile, root: u32) -> io::Result<()> {
        self.0.finish(file, root)
    }
}
