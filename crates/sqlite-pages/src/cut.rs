//! Cuts a range of rows out of b-trees of a database. Leaf pages that have rows of the range only
//! are put on the freelist without being written, so the time is that of reading them once. Rows
//! before and after the range that share a page with it are packed into new leaves, and the pages
//! above all leaves are written anew.
//!
//! ```text
//!            before                    after
//!
//!              R                         R'
//!        /     |     \                 /    \
//!       A      B      C      ->       A'     C'
//!      / \    / \    / \             / \    / \
//!     1   2  3   4  5   6           1   2' 5   6       (rows of 3, 4 and of the end of 2)
//! ```
//!
//! The file may be a stranger's: what does not fit is damage, never a panic.
//!
//! References: SQLite, "Database File Format", sections 1.5 (freelist), 1.6 (b-tree pages).

use crate::btree::{Level, row_id_separator};
use crate::database::{ChangeError, ChangeResult, Database, DatabasePages};
use crate::number::{u32_at, varint_at};
use crate::page::{Cell, MAX_DEPTH, PAGE_NUMBER, Page, TreeKind, cells, has_overflow, leaf_cell};
use crate::record::first_integer;

/// A range of rows of one tree, from key `first` to key `last`. The key is the row id of a table, and the first column of an index.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    /// The number of the tree's root page.
    pub root: u32,
    /// The lowest key, which must be above 0.
    pub first: i64,
    /// The highest key.
    pub last: i64,
}

/// Deletes ranges of rows from a database. Writes nothing if there are no ranges.
///
/// Returns `None` if the database is in a format that this crate does not write: with a page size other than `page_size`, with reserved
/// bytes, with automatic vacuum, or with texts in UTF-16.
pub fn cut<P: DatabasePages>(
    pages: P,
    page_size: u16,
    ranges: &[Range],
) -> ChangeResult<Option<()>, P> {
    let Some(mut database) = Database::new(pages, page_size)? else {
        return Ok(None);
    };
    if ranges.is_empty() {
        return Ok(Some(()));
    }
    for range in ranges {
        Cut::new(&mut database, *range)?.run()?;
    }
    database.finish().map(Some)
}

/// One tree that a range is cut out of.
struct Cut<'d, P> {
    database: &'d mut Database<P>,
    kind: TreeKind,
    range: Range,
    leaves: Level,
    /// Pages between the root and the leaves: their numbers are used again.
    interior: Vec<u32>,
}

impl<'d, P: DatabasePages> Cut<'d, P> {
    /// Reads the pages above the leaves.
    fn new(database: &'d mut Database<P>, range: Range) -> ChangeResult<Self, P> {
        let root = database.page(range.root)?;
        let kinds = [TreeKind::Table, TreeKind::Index];
        let kind = kinds
            .into_iter()
            .find(|kind| [kind.leaf(), kind.interior()].contains(&root[0]));
        let mut cut = Self {
            kind: checked(kind)?,
            database,
            range,
            leaves: Level::default(),
            interior: Vec::new(),
        };
        cut.leaves.pages.push(range.root);
        for _ in 0..MAX_DEPTH {
            let first = cut.database.page(cut.leaves.pages[0])?;
            if first[0] == cut.kind.leaf() {
                return Ok(cut);
            }
            let mut below = Level::default();
            for (at, number) in cut.leaves.pages.iter().enumerate() {
                if let Some(before) = at.checked_sub(1) {
                    below.separate(cut.leaves.separator(before));
                }
                let page = cut.database.page(*number)?;
                checked(below.add_children(cut.kind, &page))?;
                // Pages that are their own children would be more and more.
                if below.pages.len() > cut.database.page_count()? as usize {
                    return Err(ChangeError::Damaged);
                }
                if *number != range.root {
                    cut.interior.push(*number);
                }
            }
            cut.leaves = below;
        }
        Err(ChangeError::Damaged)
    }

    fn run(mut self) -> ChangeResult<(), P> {
        let leaves = std::mem::take(&mut self.leaves);
        // All rows of the leaves before `start` come before the range, and all of those after `end`
        // after it. In an index the separators between the two are rows of the range.
        let mut start = self.separators_below(&leaves, self.range.first)?;
        let above = match self.kind {
            TreeKind::Table => self.range.last,
            TreeKind::Index => self.range.last.saturating_add(1),
        };
        let mut end = self.separators_below(&leaves, above)?.max(start);
        let mut kept = Vec::new();
        let mut has_dropped = end > start;
        has_dropped |= self.keep_of(leaves.pages[start], &mut kept)?;
        if end > start {
            for at in start + 1..end {
                self.release_overflow(leaves.pages[at])?;
            }
            self.keep_of(leaves.pages[end], &mut kept)?;
            if self.kind == TreeKind::Index {
                for at in start..end {
                    self.release_chain(leaves.separator(at))?;
                }
            }
        }
        if !has_dropped {
            return Ok(());
        }
        // A leaf without rows is allowed nowhere but at the root: its neighbour, and in an index
        // the separator between the two, take its place.
        if kept.is_empty() && start > 0 {
            start -= 1;
            self.keep_all(leaves.pages[start], &mut kept)?;
            if self.kind == TreeKind::Index {
                kept.push(leaves.separator(start).to_vec());
            }
        } else if kept.is_empty() && end + 1 < leaves.pages.len() {
            if self.kind == TreeKind::Index {
                kept.push(leaves.separator(end).to_vec());
            }
            end += 1;
            self.keep_all(leaves.pages[end], &mut kept)?;
        }
        let mut unused: Vec<u32> = leaves.pages[start..=end].to_vec();
        unused.reverse();
        unused.retain(|number| *number != self.range.root);
        let (filled, mut joined) = self.packed(&kept)?;
        if let ([leaf], true, true) = (filled.as_slice(), start == 0, end + 1 == leaves.pages.len())
        {
            self.database.replace(self.range.root, leaf)?;
            unused.append(&mut self.interior);
            return self.release(&unused);
        }
        for page in &filled {
            joined.pages.push(self.put(page, &mut unused)?);
        }
        self.release(&unused)?;
        let mut level = Level::default();
        for at in 0..start {
            level.pages.push(leaves.pages[at]);
            level.separate(leaves.separator(at));
        }
        level.extend(&joined);
        for at in end + 1..leaves.pages.len() {
            level.separate(leaves.separator(at - 1));
            level.pages.push(leaves.pages[at]);
        }
        self.finish(level)
    }

    /// Writes the pages above the leaves.
    fn finish(mut self, mut level: Level) -> ChangeResult<(), P> {
        let mut unused = std::mem::take(&mut self.interior);
        unused.reverse();
        let (kind, page_size) = (self.kind, self.database.page_size());
        while !level.pages.is_empty() {
            level = level.parents(kind, page_size, |page, is_root| {
                if is_root {
                    self.database.replace(self.range.root, page)?;
                    return Ok(None);
                }
                self.put(page, &mut unused).map(Some)
            })?;
        }
        self.release(&unused)
    }

    /// Writes a page in the place of an unused one of this tree, or as a new one.
    fn put(&mut self, page: &[u8], unused: &mut Vec<u32>) -> ChangeResult<u32, P> {
        match unused.pop() {
            Some(number) => {
                self.database.replace(number, page)?;
                Ok(number)
            }
            None => self.database.append(page),
        }
    }

    /// How many separators have a key below this one: they come first.
    fn separators_below(&self, leaves: &Level, key: i64) -> ChangeResult<usize, P> {
        let (mut low, mut high) = (0, leaves.pages.len() - 1);
        while low < high {
            let middle = low + (high - low) / 2;
            let separator = leaves.separator(middle);
            let found = match self.kind {
                TreeKind::Table => varint_at(separator, &mut 0).map(u64::cast_signed),
                TreeKind::Index => first_integer(separator),
            };
            if checked(found)? < key {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }

    /// Adds the cells of a leaf that are not in the range, and gives the overflow pages of the
    /// others free. Whether there are others.
    fn keep_of(&mut self, number: u32, kept: &mut Vec<Vec<u8>>) -> ChangeResult<bool, P> {
        let page = self.leaf(number)?;
        let mut has_dropped = false;
        for cell in checked(cells(self.kind, &page))? {
            let bytes = checked(page.get(cell.start..cell.end))?;
            let key = match self.kind {
                TreeKind::Table => cell.row_id.cast_signed(),
                TreeKind::Index => checked(first_integer(bytes))?,
            };
            if (self.range.first..=self.range.last).contains(&key) {
                has_dropped = true;
                self.release_cell(bytes, &cell)?;
            } else {
                kept.push(bytes.to_vec());
            }
        }
        Ok(has_dropped)
    }

    /// Adds all cells of a leaf.
    fn keep_all(&mut self, number: u32, kept: &mut Vec<Vec<u8>>) -> ChangeResult<(), P> {
        let page = self.leaf(number)?;
        for cell in checked(cells(self.kind, &page))? {
            kept.push(checked(page.get(cell.start..cell.end))?.to_vec());
        }
        Ok(())
    }

    /// Cells in their order on as many leaves as they take, and the separators between those.
    fn packed(&self, cells: &[Vec<u8>]) -> ChangeResult<(Vec<Vec<u8>>, Level), P> {
        let mut page = Page::leaf(self.kind, self.database.page_size());
        let mut filled = Vec::new();
        let mut level = Level::default();
        let mut before: &[u8] = &[];
        for cell in cells {
            if !page.fits(cell.len()) {
                // Four cells fit on a page, whatever they hold.
                if page.cells() < 2 {
                    return Err(ChangeError::Damaged);
                }
                let separator = match self.kind {
                    TreeKind::Table => {
                        let size = self.database.page_size();
                        let last = checked(leaf_cell(self.kind, before, 0, size))?;
                        row_id_separator(last.row_id)
                    }
                    TreeKind::Index => page.take_last(before.len()),
                };
                level.separate(&separator);
                filled.push(page.finished().to_vec());
                page.clear();
            }
            page.add(cell);
            before = cell;
        }
        filled.push(page.finished().to_vec());
        Ok((filled, level))
    }

    /// A leaf of this tree.
    fn leaf(&mut self, number: u32) -> ChangeResult<Vec<u8>, P> {
        let page = self.database.page(number)?;
        checked((page[0] == self.kind.leaf()).then_some(page))
    }

    fn release(&mut self, numbers: &[u32]) -> ChangeResult<(), P> {
        numbers
            .iter()
            .try_for_each(|number| self.database.release(*number))
    }

    /// Gives the overflow pages of all cells of a leaf free.
    fn release_overflow(&mut self, number: u32) -> ChangeResult<(), P> {
        let page = self.leaf(number)?;
        if !checked(has_overflow(self.kind, &page))? {
            return Ok(());
        }
        for cell in checked(cells(self.kind, &page))? {
            self.release_cell(checked(page.get(cell.start..cell.end))?, &cell)?;
        }
        Ok(())
    }

    /// Gives the overflow pages of a separator free, which is a row.
    fn release_chain(&mut self, separator: &[u8]) -> ChangeResult<(), P> {
        let size = self.database.page_size();
        let cell = checked(leaf_cell(self.kind, separator, 0, size))?;
        self.release_cell(separator, &cell)
    }

    /// Gives the overflow pages of a cell free.
    fn release_cell(&mut self, bytes: &[u8], cell: &Cell) -> ChangeResult<(), P> {
        let Some(overflow) = cell.overflow else {
            return Ok(());
        };
        let (_, first) = checked(bytes.split_last_chunk::<PAGE_NUMBER>())?;
        let mut number = u32::from_be_bytes(*first);
        // The length says how many pages there are: a chain that leads in circles would not end by
        // itself.
        for _ in 0..overflow.div_ceil(self.database.page_size() - PAGE_NUMBER) {
            let page = self.database.page(number)?;
            self.database.release(number)?;
            number = checked(u32_at(&page, 0))?;
        }
        Ok(())
    }
}

/// What does not fit the format is damage.
fn checked<T, E>(found: Option<T>) -> Result<T, ChangeError<E>> {
    found.ok_or(ChangeError::Damaged)
}
