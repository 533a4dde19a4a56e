//! B-trees that are written page by page instead of row by row: rows come in the order of their
//! keys, so that each page is filled, written and forgotten. The file and its tables are made by
//! SQLite; the trees replace the empty ones there. docs/design/0005-pages.md says why, and what
//! keeps it safe.
//!
//! Reference: SQLite, "Database File Format", section 1.6 (b-tree pages).

use std::io;
use std::ops::Range;

use crate::number::{push_varint, put_varint_before, varint_at};
use crate::page::{
    Cell, PAGE_NUMBER, Page, TreeKind, cells, child, has_overflow, leaf_cell as parsed, right_child,
};
use crate::page_file::{PageFile, Pages, renumber};
use crate::record::{Record, integer_at};

/// The pages of one level of a tree, and the separators between them.
#[derive(Default)]
pub(crate) struct Level {
    pub(crate) pages: Vec<u32>,
    /// The separators one after the other, and the length of each: one less than pages. There is a
    /// page for some hundred rows, so that each byte here counts.
    separators: Vec<u8>,
    lengths: Vec<u16>,
    /// Where every [`STRIDE`]th separator begins.
    starts: Vec<usize>,
}

/// Separators between two whose beginning is known.
const STRIDE: usize = 32;

impl Level {
    /// Adds the separator between the last page and the next one.
    pub(crate) fn separate(&mut self, separator: &[u8]) {
        if self.lengths.len().is_multiple_of(STRIDE) {
            self.starts.push(self.separators.len());
        }
        // A cell is shorter than a page, of 65,536 bytes at most.
        let length = u16::try_from(separator.len()).expect("shorter than a page");
        self.lengths.push(length);
        self.separators.extend_from_slice(separator);
    }

    /// The separator after a page.
    pub(crate) fn separator(&self, at: usize) -> &[u8] {
        &self.separators[self.bytes_of(at)]
    }

    /// Where the separator after a page is.
    fn bytes_of(&self, at: usize) -> Range<usize> {
        let known = at - at % STRIDE;
        let between: usize = self.lengths[known..at]
            .iter()
            .map(|length| usize::from(*length))
            .sum();
        let start = self.starts[at / STRIDE] + between;
        start..start + usize::from(self.lengths[at])
    }

    /// Replaces the numbers of pages that lie in a buffer, those of the overflow pages of separators
    /// among them; `numbers` are those in the file.
    fn renumber(&mut self, numbers: &[u32], page_size: usize) -> io::Result<()> {
        for page in &mut self.pages {
            let number = numbers.get(*page as usize);
            *page = *number.ok_or(io::ErrorKind::InvalidData)?;
        }
        let mut start = 0;
        for length in &self.lengths {
            let end = start + usize::from(*length);
            renumber_cell(&mut self.separators[start..end], 0, numbers, page_size)?;
            start = end;
        }
        Ok(())
    }

    /// Appends another level; the separator between the two is there already.
    pub(crate) fn extend(&mut self, next: &Self) {
        self.pages.extend_from_slice(&next.pages);
        for at in 0..next.lengths.len() {
            self.separate(next.separator(at));
        }
    }

    /// Puts several pages in the place of each of some: which, ascending, and where in `parts` the
    /// pages of each end. Every page has a separator after it, here and there, and the last of several
    /// the one that was there. The level grows where it is, from its end on: it may be too large for a
    /// copy beside it.
    fn divide(&mut self, divided: &[(usize, usize)], parts: &Self) {
        let replaced: usize = divided.iter().map(|(at, _)| self.bytes_of(*at).len()).sum();
        // Up to where pages and bytes have not been moved, and where those after them begin now.
        let (mut old, mut old_bytes) = (self.pages.len(), self.separators.len());
        let (mut new, mut new_bytes) = (
            old + parts.pages.len() - divided.len(),
            old_bytes + parts.separators.len() - replaced,
        );
        self.pages.resize(new, 0);
        self.lengths.resize(new, 0);
        self.separators.resize(new_bytes, 0);
        for (which, (at, end)) in divided.iter().enumerate().rev() {
            let bytes = self.bytes_of(*at);
            new -= old - (at + 1);
            self.pages.copy_within(at + 1..old, new);
            self.lengths.copy_within(at + 1..old, new);
            new_bytes -= old_bytes - bytes.end;
            self.separators.copy_within(bytes.end..old_bytes, new_bytes);
            let start = which.checked_sub(1).map_or(0, |before| divided[before].1);
            let part = &parts.separators[parts.bytes_of(start).start..parts.bytes_of(end - 1).end];
            let first = new - (end - start);
            self.pages[first..new].copy_from_slice(&parts.pages[start..*end]);
            self.lengths[first..new].copy_from_slice(&parts.lengths[start..*end]);
            new_bytes -= part.len();
            self.separators[new_bytes..new_bytes + part.len()].copy_from_slice(part);
            new = first;
            (old, old_bytes) = (*at, bytes.start);
        }
        self.find_starts();
    }

    /// Finds anew where separators begin.
    fn find_starts(&mut self) {
        self.starts.clear();
        let mut start = 0;
        for (at, length) in self.lengths.iter().enumerate() {
            if at.is_multiple_of(STRIDE) {
                self.starts.push(start);
            }
            start += usize::from(*length);
        }
    }

    /// Adds the children of an interior page, and the separators between them; `None` if it is not
    /// an interior page of such a tree.
    pub(crate) fn add_children(&mut self, kind: TreeKind, page: &[u8]) -> Option<()> {
        for cell in cells(kind, page)? {
            let (number, separator) = child(page, &cell)?;
            self.pages.push(number);
            self.separate(separator);
        }
        self.pages.push(right_child(kind, page)?);
        Some(())
    }

    /// Makes the interior pages above these pages, of which there are at least two, one after the
    /// other, and gives each to `put`, with whether it is the only one: the root. The level that they
    /// are has the numbers that come back; it has no pages where the root has a place of its own.
    pub(crate) fn parents<E>(
        &self,
        kind: TreeKind,
        page_size: usize,
        mut put: impl FnMut(&[u8], bool) -> Result<Option<u32>, E>,
    ) -> Result<Self, E> {
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
            let is_last = last + 1 == self.pages.len();
            let finished = page.finished_interior(self.pages[last]);
            let number = put(finished, is_last && first == 0)?;
            above.pages.extend(number);
            page.clear();
            if !is_last {
                above.separate(self.separator(last));
            }
            first = last + 1;
        }
        Ok(above)
    }
}

/// The separator after a row of a table: its row id.
pub(crate) fn row_id_separator(row_id: u64) -> Vec<u8> {
    let mut separator = Vec::with_capacity(9);
    push_varint(&mut separator, row_id);
    separator
}

/// The row id that a separator of a table is.
fn varint(separator: &[u8]) -> io::Result<u64> {
    varint_at(separator, &mut 0).ok_or_else(|| io::ErrorKind::InvalidData.into())
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

/// Replaces the numbers of overflow pages in a leaf page of an index by their entries in `numbers`.
pub fn renumber_leaf(page: &mut [u8], numbers: &[u32]) -> io::Result<()> {
    if !has_overflow(TreeKind::Index, page).ok_or(io::ErrorKind::InvalidData)? {
        return Ok(());
    }
    let page_size = page.len();
    let found = cells(TreeKind::Index, page).ok_or(io::ErrorKind::InvalidData)?;
    found
        .iter()
        .try_for_each(|cell| renumber_cell(page, cell.start, numbers, page_size))
}

/// Replaces the number of the first overflow page of an index's cell, if it has any.
fn renumber_cell(
    bytes: &mut [u8],
    start: usize,
    numbers: &[u32],
    page_size: usize,
) -> io::Result<()> {
    let cell = parsed(TreeKind::Index, bytes, start, page_size);
    let Cell { end, overflow, .. } = cell.ok_or(io::ErrorKind::InvalidData)?;
    match overflow {
        Some(_) => renumber(bytes, end - PAGE_NUMBER, numbers),
        None => Ok(()),
    }
}

/// A source of cells, in key order, that belong between the cells of a tree that has been written.
pub trait LateCells {
    /// Returns the key of the next cell; `None` after the last cell. The key is the row id of a table, and the column by which an index
    /// is merged.
    fn key(&self) -> Option<u64>;

    /// Replaces the content of `cell` by the next cell.
    ///
    /// # Errors
    ///
    /// If the cell cannot be read.
    fn take(&mut self, cell: &mut Vec<u8>) -> io::Result<()>;
}

/// What the cells of one tree are in order by.
#[derive(Clone, Copy)]
enum KeyColumn {
    RowId,
    /// An integer that is not negative; the columns before it are equal in all rows of the tree.
    Column(usize),
}

impl KeyColumn {
    /// The key of a cell that this program has written.
    fn of(self, bytes: &[u8], cell: &Cell) -> io::Result<u64> {
        let key = match self {
            Self::RowId => Some(cell.row_id),
            Self::Column(column) => integer_at(&bytes[cell.payload..cell.end], column)
                .and_then(|key| u64::try_from(key).ok()),
        };
        key.ok_or_else(|| io::ErrorKind::InvalidData.into())
    }
}

/// A tree that grows at its right edge.
struct Tree {
    kind: TreeKind,
    /// The leaves that are written.
    leaves: Level,
    /// The leaf that is being filled.
    leaf: Page,
    /// Bytes of the leaf that are left to rows which come later.
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
            self.separate(last_row_id);
            self.close_leaf(pages)?;
        }
        self.leaf.add(cell);
        self.last_cell = cell.len();
        // Rows that come later are inserted before this one, so that they share its leaf.
        self.room += self.room_ahead;
        self.room_ahead = 0;
        Ok(())
    }

    /// Puts late cells in their places: leaves that none belongs to stay as they are, others are
    /// written anew, and what a leaf has no room for goes to new ones after it. The pages above the
    /// leaves are not made yet, so that a leaf more is one more number in a list.
    fn merge(
        &mut self,
        file: &mut PageFile,
        key_column: KeyColumn,
        late: &mut impl LateCells,
    ) -> io::Result<()> {
        if late.key().is_none() {
            return Ok(());
        }
        file.write_chunk()?;
        let mut written = std::mem::take(&mut self.leaves);
        let last = self.leaf.finished().to_vec();
        self.leaf.clear();
        (self.room, self.room_ahead) = (0, 0);
        let mut page = Vec::new();
        let mut divided = Vec::new();
        for (at, number) in written.pages.iter().enumerate() {
            let separator = written.separator(at);
            let bound = match self.kind {
                TreeKind::Table => varint(separator)?,
                TreeKind::Index => {
                    let cell = parsed(self.kind, separator, 0, file.page_size());
                    key_column.of(separator, &cell.ok_or(io::ErrorKind::InvalidData)?)?
                }
            };
            if late.key().is_none_or(|key| key > bound) {
                continue;
            }
            file.read(*number, &mut page)?;
            let parts = self.leaves.pages.len();
            let mut replaced = Some(*number);
            self.fill(file, &page, key_column, late, Some(bound), &mut replaced)?;
            self.put(file, &mut replaced)?;
            if self.leaves.pages.len() == parts + 1 {
                // It is where it was, with the same separator after it.
                self.leaves.pages.pop();
            } else {
                self.leaves.separate(separator);
                divided.push((at, self.leaves.pages.len()));
            }
        }
        written.divide(&divided, &self.leaves);
        self.leaves = written;
        self.fill(file, &last, key_column, late, None, &mut None)
    }

    /// Fills leaves with the cells of a page and the late ones below `bound`; the last leaf is not
    /// written yet.
    fn fill(
        &mut self,
        file: &mut PageFile,
        page: &[u8],
        key_column: KeyColumn,
        late: &mut impl LateCells,
        bound: Option<u64>,
        replaced: &mut Option<u32>,
    ) -> io::Result<()> {
        let mut late_cell = Vec::new();
        let mut last_key = 0;
        let cells = cells(self.kind, page).ok_or(io::ErrorKind::InvalidData)?;
        // After the last cell come the late ones up to the end of the page.
        for cell in cells.iter().map(Some).chain([None]) {
            let key = cell.map(|cell| key_column.of(page, cell)).transpose()?;
            while let Some(late_key) = late.key()
                && key.or(bound).is_none_or(|key| late_key < key)
            {
                late.take(&mut late_cell)?;
                self.add_merged(file, &late_cell, last_key, replaced)?;
                last_key = late_key;
            }
            if let (Some(cell), Some(key)) = (cell, key) {
                self.add_merged(file, &page[cell.start..cell.end], last_key, replaced)?;
                last_key = key;
            }
        }
        Ok(())
    }

    fn add_merged(
        &mut self,
        file: &mut PageFile,
        cell: &[u8],
        last_row_id: u64,
        replaced: &mut Option<u32>,
    ) -> io::Result<()> {
        if !self.leaf.fits(cell.len()) {
            self.separate(last_row_id);
            self.put(file, replaced)?;
        }
        self.leaf.add(cell);
        self.last_cell = cell.len();
        Ok(())
    }

    /// Writes the leaf that is being filled, once in the place of another.
    fn put(&mut self, file: &mut PageFile, replaced: &mut Option<u32>) -> io::Result<()> {
        let page = self.leaf.finished();
        self.leaves.pages.push(match replaced.take() {
            Some(number) => {
                file.replace(number, page)?;
                number
            }
            None => file.append(page)?,
        });
        self.leaf.clear();
        Ok(())
    }

    /// Adds the separator after the leaf that is being filled.
    fn separate(&mut self, last_row_id: u64) {
        let separator = match self.kind {
            // A table repeats the row id above and keeps the row in its leaf; an index moves the
            // row itself, which is in the tree once (section 1.6).
            TreeKind::Table => row_id_separator(last_row_id),
            TreeKind::Index => self.leaf.take_last(self.last_cell),
        };
        self.leaves.separate(&separator);
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
        while !below.pages.is_empty() {
            below = below.parents(self.kind, file.page_size(), |page, is_root| {
                if is_root {
                    file.replace(root, page).map(|()| None)
                } else {
                    file.append(page).map(Some)
                }
            })?;
        }
        Ok(())
    }
}

/// A writer of a table with row ids.
pub struct TableTree {
    tree: Tree,
    last_row_id: u64,
}

impl TableTree {
    /// Creates a tree without rows.
    pub fn new(pages: &impl Pages) -> Self {
        Self {
            tree: Tree::new(TreeKind::Table, pages.page_size()),
            last_row_id: 0,
        }
    }

    /// Adds a row, whose row id must be higher than all before.
    pub fn push(
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

    /// Returns the cell of a row that comes too late for [`push`](Self::push).
    pub fn late_cell<'c>(
        file: &mut PageFile,
        row_id: u64,
        record: &'c mut Record,
        shortened: &'c mut Vec<u8>,
    ) -> io::Result<&'c [u8]> {
        leaf_cell(TreeKind::Table, Some(row_id), record, file, shortened)
    }

    /// Keeps bytes free for late rows between the previous row and the next one.
    pub fn leave_room(&mut self, bytes: usize) {
        self.tree.room_ahead += bytes;
    }

    /// Inserts late rows. No row may be added afterwards.
    pub fn merge(&mut self, file: &mut PageFile, late: &mut impl LateCells) -> io::Result<()> {
        self.tree.merge(file, KeyColumn::RowId, late)
    }

    /// Writes the remaining pages of the tree, and the root to page `root`.
    pub fn finish(self, file: &mut PageFile, root: u32) -> io::Result<()> {
        self.tree.finish(file, root)
    }
}

/// A writer of an index or of a table without row ids. Records have the columns of the key first.
pub struct IndexTree(Tree);

impl IndexTree {
    /// Creates a tree without rows.
    pub fn new(pages: &impl Pages) -> Self {
        Self(Tree::new(TreeKind::Index, pages.page_size()))
    }

    /// Adds a row, which must come after all before.
    pub fn push(&mut self, pages: &mut impl Pages, record: &mut Record) -> io::Result<()> {
        let mut shortened = Vec::new();
        let cell = leaf_cell(TreeKind::Index, None, record, pages, &mut shortened)?;
        self.0.add(pages, cell, 0)
    }

    /// Replaces the page numbers of the tree by their entries in `numbers`, after its leaf pages have been moved from a buffer to a
    /// file. [`finish`](Self::finish) writes the pages above the leaves.
    pub fn move_to(&mut self, numbers: &[u32]) -> io::Result<()> {
        let page_size = self.0.leaf.size();
        self.0.leaves.renumber(numbers, page_size)?;
        renumber_leaf(self.0.leaf.finished_mut(), numbers)
    }

    /// Returns the cell of a row that comes too late for [`push`](Self::push).
    pub fn late_cell<'c>(
        file: &mut PageFile,
        record: &'c mut Record,
        shortened: &'c mut Vec<u8>,
    ) -> io::Result<&'c [u8]> {
        leaf_cell(TreeKind::Index, None, record, file, shortened)
    }

    /// Keeps bytes free for late rows between the previous row and the next one.
    pub fn leave_room(&mut self, bytes: usize) {
        self.0.room_ahead += bytes;
    }

    /// Inserts late rows. `column`, counted from 0, is the integer column that orders the rows: the columns before it are equal in
    /// all rows.
    pub fn merge(
        &mut self,
        file: &mut PageFile,
        column: usize,
        late: &mut impl LateCells,
    ) -> io::Result<()> {
        self.0.merge(file, KeyColumn::Column(column), late)
    }

    /// Returns whether the tree has no rows.
    pub fn is_empty(&self) -> bool {
        self.0.leaves.pages.is_empty() && self.0.leaf.cells() == 0
    }

    /// Appends the pages of another tree, which has rows. `separator` is a row that comes after all rows of this tree and before all
    /// rows of the other one.
    pub fn join(
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

    /// Writes the remaining pages of the tree, and the root to page `root`.
    pub fn finish(self, file: &mut PageFile, root: u32) -> io::Result<()> {
        self.0.finish(file, root)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A level of pages with these numbers, each with a separator after it, some of them long.
    fn level(pages: impl IntoIterator<Item = u32>) -> Level {
        let mut level = Level::default();
        for page in pages {
            level.pages.push(page);
            let text = page.to_string().repeat(1 + page as usize % 5);
            level.separate(text.as_bytes());
        }
        level
    }

    fn listed(level: &Level) -> Vec<(u32, &[u8])> {
        let pages = level.pages.iter().enumerate();
        pages
            .map(|(at, page)| (*page, level.separator(at)))
            .collect()
    }

    /// The pages that are divided, first and last ones, neighbours and such with many others between
    /// them, and how many each of them becomes.
    #[test]
    fn pages_are_divided_where_they_are() {
        let several = |at: usize| match at {
            0 | 6 => 2,
            5 | 99 => 3,
            40 => 100,
            _ => 1,
        };
        for chosen in [
            vec![],
            vec![40],
            vec![0, 5, 6],
            vec![5, 6, 40, 99],
            vec![0, 99],
        ] {
            let mut divided = Vec::new();
            let (mut parts, mut whole) = (Vec::new(), Vec::new());
            for at in 0..100 {
                let own = 1000 * (u32::try_from(at).unwrap() + 1);
                if chosen.contains(&at) {
                    parts.extend(own - several(at) + 1..=own);
                    divided.push((at, parts.len()));
                    whole.extend(own - several(at) + 1..=own);
                } else {
                    whole.push(own);
                }
            }
            let mut found = level((1..=100).map(|page| 1000 * page));
            found.divide(&divided, &level(parts));
            assert_eq!(listed(&found), listed(&level(whole)), "{chosen:?}");
        }
    }
}
