//! Appends the rows of b-trees in one file, the source, to b-trees of a database. All keys of the
//! source come after those of the database, so leaf pages are copied as they are, and only pages at
//! the right edge are written anew. docs/design/0008-later-runs.md says why.
//!
//! One tree, with the leaf pages 1 to 8:
//!
//! ```text
//!       database                source                  database afterwards
//!
//!          R                       S                            R'
//!        /   \                   /   \                     /    |    \
//!       A     B                 T     U                   A     B'    C
//!      / \   / \               / \   / \                 / \   /|\   /|\
//!     1   2 3   4             5   6 7   8               1   2 3 4'5' 6 7 8
//! ```
//!
//! - The last leaf, 4, is filled up with rows of the first leaf of the source, 5: 4' takes the
//!   place of 4. Rows that it has no room for are on 5', a new page.
//! - The other leaves of the source, 6 to 8, are copied to new pages, with their overflow pages.
//! - The separator between 4' and 5' is new: the last row id of 4', or in an index the last row
//!   itself, which leaves 4'. Those after 5' are the separators in T, S and U; these interior pages
//!   are not copied.
//! - Upwards along the right edge, each interior page is written anew with its new children: B'
//!   takes the place of B, and C is a new page.
//! - The root keeps its number, by which the schema knows it. Where its children no longer fit,
//!   they get pages below it.
//!
//! Each of the two files may be a stranger's: what does not fit is damage, never a panic.
//!
//! Reference: SQLite, "Database File Format", section 1.6 (b-tree pages).

use std::fs::File;

use crate::btree::{Level, row_id_separator};
use crate::database::{ChangeError, ChangeResult, Database, DatabasePages};
use crate::number::u32_at;
use crate::page::{
    Cell, MAX_DEPTH, PAGE_NUMBER, Page, TreeKind, cells, has_overflow, leaf_cell, right_child,
};
use crate::page_file::PageReader;

/// A database whose trees grow by the rows of other trees.
pub struct Appender<P> {
    database: Database<P>,
}

impl<P: DatabasePages> Appender<P> {
    /// Returns `None` if the database is in a format that this crate does not write: with a page size other than `page_size`, with
    /// reserved bytes, with automatic vacuum, or with texts in UTF-16.
    pub fn new(pages: P, page_size: u16) -> ChangeResult<Option<Self>, P> {
        let database = Database::new(pages, page_size)?;
        Ok(database.map(|database| Self { database }))
    }

    /// Appends the rows of trees in `source` to trees of the database. Each pair has the root page in the database and the root page in
    /// `source`. All keys of the second tree must come after those of the first, and the page sizes must be equal.
    pub fn append(self, source: &File, roots: &[(u32, u32)]) -> ChangeResult<(), P> {
        let mut graft = Graft {
            source: PageReader::new(source, self.database.page_size()),
            database: self.database,
        };
        for (root, source_root) in roots {
            graft.tree(*root, *source_root)?;
        }
        graft.database.finish()
    }
}

/// The database, and the file that its new rows come from.
struct Graft<'s, P> {
    database: Database<P>,
    source: PageReader<'s>,
}

impl<P: DatabasePages> Graft<'_, P> {
    /// Appends one tree.
    fn tree(&mut self, root: u32, source_root: u32) -> ChangeResult<(), P> {
        let (kind, source_leaves) = self.source_leaves(source_root)?;
        let first = self.source_page(source_leaves.pages[0])?.to_vec();
        // Only a tree without rows has an empty first leaf.
        if checked(cells(kind, &first))?.is_empty() {
            return Ok(());
        }
        let mut edge = self.right_edge(kind, root)?;
        let (last_number, last) = checked(edge.pop())?;
        let (filled, mut level) = self.fill_up(kind, &last, &first)?;
        if let ([leaf], [_], true) = (
            filled.as_slice(),
            source_leaves.pages.as_slice(),
            edge.is_empty(),
        ) {
            return self.database.replace(root, leaf);
        }
        // Where the last leaf is the root, its number is kept for the page above all of them.
        level.pages = self.put(&filled, (!edge.is_empty()).then_some(last_number))?;
        self.copy_leaves(kind, &source_leaves, &mut level)?;
        while let Some((number, page)) = edge.pop() {
            if level.pages.len() == 1 {
                // It has taken the place of the page that was there.
                return Ok(());
            }
            let mut siblings = Level::default();
            // The last child is the first page of the level.
            checked(siblings.add_children(kind, &page))?;
            siblings.pages.pop();
            siblings.extend(&level);
            level = self.put_above(kind, &siblings, root, (!edge.is_empty()).then_some(number))?;
        }
        // The root has no room for all its children, if a level is left.
        while !level.pages.is_empty() {
            level = self.put_above(kind, &level, root, None)?;
        }
        Ok(())
    }

    /// Writes the pages above a level, the first one in the place of the page `replaced`; the only one,
    /// without such a page, is the root. Gives back their level, without pages if they are the root.
    fn put_above(
        &mut self,
        kind: TreeKind,
        level: &Level,
        root: u32,
        mut replaced: Option<u32>,
    ) -> ChangeResult<Level, P> {
        let page_size = self.database.page_size();
        level.parents(kind, page_size, |page, is_root| {
            if let Some(number) = replaced.take() {
                self.database.replace(number, page)?;
                return Ok(Some(number));
            }
            if is_root {
                self.database.replace(root, page)?;
                return Ok(None);
            }
            self.database.append(page).map(Some)
        })
    }

    /// Fills the last leaf of the database up with rows of the first of the source: as many leaves
    /// as that takes, and the separators between them.
    fn fill_up(
        &mut self,
        kind: TreeKind,
        last: &[u8],
        first: &[u8],
    ) -> ChangeResult<(Vec<Vec<u8>>, Level), P> {
        let mut page = Page::leaf(kind, last.len());
        let (mut last_row_id, mut last_length) = (0, 0);
        for cell in checked(cells(kind, last))? {
            let bytes = &last[cell.start..cell.end];
            if !page.fits(bytes.len()) {
                return Err(ChangeError::Damaged);
            }
            page.add(bytes);
            (last_row_id, last_length) = (cell.row_id, bytes.len());
        }
        let mut filled = Vec::new();
        let mut level = Level::default();
        for cell in checked(cells(kind, first))? {
            let mut bytes = first[cell.start..cell.end].to_vec();
            self.copy_overflow(&mut bytes, &cell)?;
            if !page.fits(bytes.len()) {
                let separator = match kind {
                    TreeKind::Table => row_id_separator(last_row_id),
                    TreeKind::Index => page.take_last(last_length),
                };
                level.separate(&separator);
                filled.push(page.finished().to_vec());
                page.clear();
            }
            page.add(&bytes);
            (last_row_id, last_length) = (cell.row_id, bytes.len());
        }
        filled.push(page.finished().to_vec());
        Ok((filled, level))
    }

    /// Copies the leaves of the source after the first, with their separators.
    fn copy_leaves(
        &mut self,
        kind: TreeKind,
        source: &Level,
        level: &mut Level,
    ) -> ChangeResult<(), P> {
        for (before, number) in source.pages.iter().skip(1).enumerate() {
            let mut separator = source.separator(before).to_vec();
            if kind == TreeKind::Index {
                // The separator of an index is a row, which may have overflow pages of its own.
                let page_size = self.database.page_size();
                let cell = checked(leaf_cell(kind, &separator, 0, page_size))?;
                self.copy_overflow(&mut separator, &cell)?;
            }
            level.separate(&separator);
            level.pages.push(self.copy_leaf(kind, *number)?);
        }
        Ok(())
    }

    /// Copies a leaf; returns its number in the database.
    fn copy_leaf(&mut self, kind: TreeKind, number: u32) -> ChangeResult<u32, P> {
        let page = checked(self.source.page(number)?)?;
        if !checked(has_overflow(kind, page))? {
            return self.database.append(page);
        }
        let mut page = page.to_vec();
        for cell in checked(cells(kind, &page))? {
            self.copy_overflow(&mut page[cell.start..cell.end], &cell)?;
        }
        self.database.append(&page)
    }

    /// Copies the overflow pages of a cell, and writes the number of the first into `bytes`, which
    /// are the cell's.
    fn copy_overflow(&mut self, bytes: &mut [u8], cell: &Cell) -> ChangeResult<(), P> {
        let Some(overflow) = cell.overflow else {
            return Ok(());
        };
        let (_, first) = checked(bytes.split_last_chunk_mut::<PAGE_NUMBER>())?;
        let mut number = u32::from_be_bytes(*first);
        let mut pages = Vec::new();
        // The length says how many pages there are: a chain that leads in circles would not end by
        // itself.
        for _ in 0..overflow.div_ceil(self.database.page_size() - PAGE_NUMBER) {
            let page = self.source_page(number)?.to_vec();
            number = checked(u32_at(&page, 0))?;
            pages.push(page);
        }
        // Backwards: each page begins with the number of the next one, the last one with 0.
        let mut next = 0_u32;
        for mut page in pages.into_iter().rev() {
            page[..PAGE_NUMBER].copy_from_slice(&next.to_be_bytes());
            next = self.database.append(&page)?;
        }
        *first = next.to_be_bytes();
        Ok(())
    }

    /// The pages of a tree of the database from the root to the last leaf.
    fn right_edge(&mut self, kind: TreeKind, root: u32) -> ChangeResult<Vec<(u32, Vec<u8>)>, P> {
        let mut edge = Vec::new();
        let mut number = root;
        // A loop, as the tree may be damaged: a page that is its own child would be followed for
        // ever.
        while edge.len() < MAX_DEPTH {
            let page = self.database.page(number)?;
            let next = right_child(kind, &page);
            edge.push((number, page));
            match next {
                Some(next) => number = next,
                None => return Ok(edge),
            }
        }
        Err(ChangeError::Damaged)
    }

    /// Writes pages of one level, the first one in place of the page `replaced`; returns their
    /// numbers.
    fn put(&mut self, pages: &[Vec<u8>], mut replaced: Option<u32>) -> ChangeResult<Vec<u32>, P> {
        let mut numbers = Vec::with_capacity(pages.len());
        for page in pages {
            numbers.push(match replaced.take() {
                Some(number) => {
                    self.database.replace(number, page)?;
                    number
                }
                None => self.database.append(page)?,
            });
        }
        Ok(numbers)
    }

    /// The leaves of a tree of the source, with their separators.
    fn source_leaves(&mut self, root: u32) -> ChangeResult<(TreeKind, Level), P> {
        let mut level = Level::default();
        level.pages.push(root);
        for _ in 0..MAX_DEPTH {
            let first = self.source_page(level.pages[0])?[0];
            // The kind is that of the pages, so that the roots alone say what is to be appended.
            let kinds = [TreeKind::Table, TreeKind::Index];
            let Some(kind) = kinds.into_iter().find(|kind| kind.interior() == first) else {
                let is_table = first == TreeKind::Table.leaf();
                return Ok((kinds[usize::from(!is_table)], level));
            };
            let mut below = Level::default();
            for (at, number) in level.pages.iter().enumerate() {
                if let Some(before) = at.checked_sub(1) {
                    below.separate(level.separator(before));
                }
                checked(below.add_children(kind, self.source_page(*number)?))?;
            }
            level = below;
        }
        Err(ChangeError::Damaged)
    }

    fn source_page(&mut self, number: u32) -> ChangeResult<&[u8], P> {
        checked(self.source.page(number)?)
    }
}

/// What does not fit the format is damage.
fn checked<T, E>(found: Option<T>) -> Result<T, ChangeError<E>> {
    found.ok_or(ChangeError::Damaged)
}
