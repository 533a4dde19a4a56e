//! Puts trees of one SQLite file behind the rows of another, whose last row comes before their
//! first: the leaves are copied page by page, and only the right edge of a tree is put together
//! anew. All pages pass through SQLite's own pager, by its table `sqlite_dbpage`, in the
//! transaction that is open: locks, journal and rollback are those of any other change.
//! docs/design/0008-later-runs.md says why.
//!
//! SQLite does not notice that pages change under it. So the trees are the last thing in a
//! transaction, and the connection is not used after it. The file may be a stranger's: what does
//! not fit is damage, never a panic.
//!
//! References: SQLite, "Database File Format", sections 1.3 (header), 1.5 (freelist), 1.6 (b-tree
//! pages); "The `sqlite_dbpage` Virtual Table".

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OptionalExtension, Statement, ffi};

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

/// The pages of a database, within a transaction.
pub(crate) struct Pager<'c> {
    connection: &'c Connection,
    read: Statement<'c>,
    write: Statement<'c>,
    first: Vec<u8>,
    /// Pages that nothing uses.
    free: Vec<u32>,
}

impl<'c> Pager<'c> {
    /// `None` if this SQLite does not hand out pages, or the file is of another kind than ours.
    pub(crate) fn new(
        connection: &'c Connection,
        page_size: u16,
    ) -> Result<Option<Self>, AppendError> {
        let sql = "SELECT COUNT(*) FROM pragma_module_list WHERE name = 'sqlite_dbpage'";
        if connection.query_row(sql, [], |row| row.get::<_, i64>(0))? == 0 {
            return Ok(None);
        }
        let mut read = connection.prepare("SELECT data FROM sqlite_dbpage WHERE pgno = ?1")?;
        let write = connection.prepare("INSERT INTO sqlite_dbpage (pgno, data) VALUES (?1, ?2)")?;
        let first: Vec<u8> = read.query_row([1], |row| row.get(0))?;
        let usual = first.get(PAGE_SIZE..PAGE_SIZE + 2) == Some(&page_size.to_be_bytes())
            && first[RESERVED] == 0
            // Else pages are numbered in another way, or texts are not UTF-8.
            && (thirty_two_bits(&first, LARGEST_ROOT), thirty_two_bits(&first, ENCODING)) == (Some(0), Some(1));
        Ok(usual.then_some(Self {
            connection,
            read,
            write,
            first,
            free: Vec::new(),
        }))
    }

    /// Puts trees behind those of the database; each pair of roots is of the database and of
    /// `source`. Ends the use of the connection, but for COMMIT and ROLLBACK.
    pub(crate) fn graft(mut self, source: &File, roots: &[(u32, u32)]) -> Result<(), AppendError> {
        let connection = self.connection;
        // Else nobody may write pages. The statements are ours alone: no trigger of a stranger's
        // schema sees them.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false)?;
        let mut source = Source::new(source, self.first.len());
        let trees = roots
            .iter()
            .try_for_each(|(root, from)| self.tree(&mut source, *root, *from));
        let grafted = trees.and_then(|()| self.finish());
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        grafted
    }

    /// Puts one tree behind another.
    fn tree(&mut self, source: &mut Source<'_>, root: u32, from: u32) -> Result<(), AppendError> {
        let (kind, leaves) = source.leaves(from)?;
        let first = source.page(leaves.pages[0])?.to_vec();
        let cells = cells(kind, &first)?;
        if cells.is_empty() {
            return Ok(());
        }
        let mut edge = self.right_edge(kind, root)?;
        let (number, last) = edge.pop().ok_or_else(damaged)?;
        // The last page is filled up with rows of the first, which also gives what divides it from
        // the next.
        let mut page = Page::new(kind.leaf(), LEAF_HEAD, last.len());
        let mut before = (0, 0);
        for cell in self::cells(kind, &last)? {
            if !page.fits(cell.end - cell.start) {
                return Err(damaged());
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
                    .ok_or_else(damaged)?
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
            children(kind, &page, &mut below)?;
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

    /// The pages from a root to its last leaf.
    fn right_edge(&mut self, kind: Kind, root: u32) -> Result<Vec<(u32, Vec<u8>)>, AppendError> {
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
        Err(damaged())
    }

    /// Writes pages next to each other, the first one to `place`.
    fn put(&mut self, pages: &[Vec<u8>], place: Option<u32>) -> Result<Vec<u32>, AppendError> {
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

    fn leaf(
        &mut self,
        source: &mut Source<'_>,
        kind: Kind,
        number: u32,
    ) -> Result<u32, AppendError> {
        let page = source.page(number)?;
        if !spills(kind, page).ok_or_else(damaged)? {
            return self.append(page);
        }
        let cells = cells(kind, page)?;
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
    ) -> Result<(), AppendError> {
        let Some(bytes) = spill else {
            return Ok(());
        };
        let (_, link) = cell.split_last_chunk_mut::<LINK>().ok_or_else(damaged)?;
        let mut number = u32::from_be_bytes(*link);
        let mut pages = Vec::new();
        for _ in 0..bytes.div_ceil(self.first.len() - LINK) {
            let page = source.page(number)?.to_vec();
            number = thirty_two_bits(&page, 0).ok_or_else(damaged)?;
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

    fn page(&mut self, number: u32) -> Result<Vec<u8>, AppendError> {
        let page: Option<Vec<u8>> = self.read.query_row([number], |row| row.get(0)).optional()?;
        page.filter(|page| page.len() == self.first.len())
            .ok_or_else(damaged)
    }

    fn replace(&mut self, number: u32, page: &[u8]) -> Result<(), AppendError> {
        self.write.execute((number, page))?;
        Ok(())
    }

    fn append(&mut self, page: &[u8]) -> Result<u32, AppendError> {
        let number = self.unused()?;
        self.replace(number, page)?;
        Ok(number)
    }

    /// A page that nothing uses, those that deleted runs have left first.
    fn unused(&mut self) -> Result<u32, AppendError> {
        let trunk = self.header(FREE_TRUNK)?;
        if self.free.is_empty() && trunk != 0 {
            let page = self.page(trunk)?;
            let word = |at: u32| thirty_two_bits(&page, LINK * at as usize).ok_or_else(damaged);
            self.set_header(FREE_TRUNK, word(0)?);
            self.free.push(trunk);
            for at in 0..word(1)? {
                self.free.push(word(2 + at)?);
            }
            let taken = u32::try_from(self.free.len()).map_err(|_| damaged())?;
            self.set_header(
                FREE_PAGES,
                self.header(FREE_PAGES)?
                    .checked_sub(taken)
                    .ok_or_else(damaged)?,
            );
        }
        if let Some(number) = self.free.pop() {
            return Ok(number);
        }
        let mut number = self.header(PAGES)?.checked_add(1).ok_or_else(full)?;
        if u64::from(number) == LOCK_BYTE / self.first.len() as u64 + 1 {
            number += 1;
        }
        self.set_header(PAGES, number);
        Ok(number)
    }

    fn header(&self, at: usize) -> Result<u32, AppendError> {
        thirty_two_bits(&self.first, at).ok_or_else(damaged)
    }

    fn set_header(&mut self, at: usize, number: u32) {
        self.first[at..at + 4].copy_from_slice(&number.to_be_bytes());
    }

    /// Gives back the free pages that were too many, and writes the header.
    fn finish(mut self) -> Result<(), AppendError> {
        let free = std::mem::take(&mut self.free);
        if let [trunk, rest @ ..] = free.as_slice() {
            let words = [
                self.header(FREE_TRUNK)?,
                rest.len().try_into().map_err(|_| damaged())?,
            ];
            let mut page: Vec<u8> = words
                .iter()
                .chain(rest)
                .flat_map(|word| word.to_be_bytes())
                .collect();
            page.resize(self.first.len(), 0);
            self.replace(*trunk, &page)?;
            self.set_header(FREE_TRUNK, *trunk);
            let more = u32::try_from(free.len()).map_err(|_| damaged())?;
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
    fn page(&mut self, number: u32) -> Result<&[u8], AppendError> {
        let is_there = |at: &usize| (at + 1) * self.page_size <= self.window.len();
        let at = number
            .checked_sub(self.first)
            .map(|at| at as usize)
            .filter(is_there);
        if at.is_none() {
            let before = number.checked_sub(1).ok_or_else(damaged)?;
            self.file
                .seek(SeekFrom::Start(u64::from(before) * self.page_size as u64))?;
            self.window.clear();
            let bytes = WINDOW * self.page_size as u64;
            self.file.take(bytes).read_to_end(&mut self.window)?;
            self.first = number;
        }
        let start = at.unwrap_or(0) * self.page_size;
        self.window
            .get(start..start + self.page_size)
            .ok_or_else(damaged)
    }

    /// The leaves of a tree, and what divides them.
    fn leaves(&mut self, root: u32) -> Result<(Kind, Level), AppendError> {
        let mut level = Level::default();
        level.pages.push(root);
        for _ in 0..MAX_DEPTH {
            let kind = self.page(level.pages[0])?[0];
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
                children(kind, self.page(*number)?, &mut below)?;
            }
            level = below;
        }
        Err(damaged())
    }
}

/// Adds the children of a page, and what divides them.
fn children(kind: Kind, page: &[u8], level: &mut Level) -> Result<(), AppendError> {
    for cell in cells(kind, page)? {
        level
            .pages
            .push(thirty_two_bits(page, cell.start).ok_or_else(damaged)?);
        level.divide(&page[cell.start + LINK..cell.end]);
    }
    level
        .pages
        .push(thirty_two_bits(page, LEAF_HEAD).ok_or_else(damaged)?);
    Ok(())
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

fn cells(kind: Kind, page: &[u8]) -> Result<Vec<Cell>, AppendError> {
    let (interior, head) = match page[0] {
        leaf if leaf == kind.leaf() => (false, LEAF_HEAD),
        above if above == kind.interior() => (true, INTERIOR_HEAD),
        _ => return Err(damaged()),
    };
    let number = sixteen_bits(page, 3).ok_or_else(damaged)?;
    let places = (0..number).map(|at| sixteen_bits(page, head + PLACE * at));
    let cells = places.map(|place| cell(kind, interior, page, place?, page.len()));
    cells.collect::<Option<_>>().ok_or_else(damaged)
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

/// Why a tree was not appended.
#[derive(Debug)]
pub(crate) enum AppendError {
    /// The database that grows, as SQLite says it.
    Sqlite(rusqlite::Error),
    /// The file that is read.
    File(std::io::Error),
}

impl From<rusqlite::Error> for AppendError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<std::io::Error> for AppendError {
    fn from(error: std::io::Error) -> Self {
        Self::File(error)
    }
}

fn damaged() -> AppendError {
    rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_CORRUPT), None).into()
}

fn full() -> AppendError {
    rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_FULL), None).into()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// Small pages: a few thousand rows are a tree of several levels.
    const PAGE_SIZE: u16 = 512;

    const SCHEMA: &str = "
        CREATE TABLE numbered (id INTEGER PRIMARY KEY, name TEXT) STRICT;
        CREATE TABLE sorted (part INTEGER, id INTEGER, name TEXT, PRIMARY KEY (part, name, id)) STRICT, WITHOUT ROWID;
        CREATE TABLE other (id INTEGER PRIMARY KEY, name TEXT) STRICT;";

    /// Opens a file that need not survive a loss of power.
    fn open(path: &Path) -> Connection {
        let connection = Connection::open(path).expect("a file");
        connection
            .pragma_update(None, "synchronous", "OFF")
            .expect("SQL");
        connection
    }

    fn create(path: &Path) -> Connection {
        let connection = open(path);
        connection
            .pragma_update(None, "page_size", PAGE_SIZE)
            .expect("a size that SQLite knows");
        connection.execute_batch(SCHEMA).expect("a schema");
        connection
    }

    /// Inserts rows of a part, with texts up to `longest` bytes.
    fn insert(connection: &Connection, part: u64, rows: u64, longest: u64) {
        let transaction = connection
            .unchecked_transaction()
            .expect("nobody else is here");
        let mut numbered = connection
            .prepare("INSERT INTO numbered VALUES (?1, ?2)")
            .expect("SQL");
        let mut sorted = connection
            .prepare("INSERT INTO sorted VALUES (?1, ?2, ?3)")
            .expect("SQL");
        for at in 0..rows {
            let length = usize::try_from((at * 7919 + part) % (longest + 1)).expect("a short text");
            let (id, name) = (
                part * 1_000_000 + at,
                format!("{at:09}").repeat(length / 9 + 1),
            );
            numbered
                .execute((id.cast_signed(), &name))
                .expect("space on the disk");
            sorted
                .execute((part.cast_signed(), at.cast_signed(), &name))
                .expect("space on the disk");
        }
        transaction.commit().expect("space on the disk");
    }

    fn rows(connection: &Connection) -> Vec<(i64, i64, String)> {
        let sql = "SELECT 0, id, name FROM numbered UNION ALL SELECT part, id, name FROM sorted";
        let mut statement = connection.prepare(sql).expect("SQL");
        let rows = statement
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .expect("rows");
        rows.collect::<Result<_, _>>().expect("rows")
    }

    fn roots(connection: &Connection) -> Vec<u32> {
        let sql =
            "SELECT rootpage FROM sqlite_schema WHERE name IN ('numbered', 'sorted') ORDER BY name";
        let mut statement = connection.prepare(sql).expect("SQL");
        let roots = statement.query_map([], |row| row.get(0)).expect("rows");
        roots.collect::<Result<_, _>>().expect("rows")
    }

    fn one<T: rusqlite::types::FromSql>(connection: &Connection, sql: &str) -> T {
        connection
            .query_row(sql, [], |row| row.get(0))
            .expect("an answer")
    }

    /// Puts rows behind those of a database in several parts, and lets SQLite compare them with
    /// what it has inserted.
    fn check(parts: &[u64], longest: u64, free: u64) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("all.db");
        drop(create(&path));
        let expected = create(Path::new(":memory:"));
        for (part, rows) in (1..).zip(parts) {
            let connection = open(&path);
            let transaction = connection
                .unchecked_transaction()
                .expect("nobody else is here");
            for _ in 0..free {
                let garbage = "INSERT INTO other (name) VALUES (hex(zeroblob(100)))";
                connection.execute(garbage, []).expect("space on the disk");
            }
            connection
                .execute("DELETE FROM other", [])
                .expect("it can be written");
            transaction.commit().expect("space on the disk");
            let (pages, unused): (u32, u32) = (
                one(&connection, "PRAGMA page_count"),
                one(&connection, "PRAGMA freelist_count"),
            );

            let segment_path = folder.path().join(format!("{part}.db"));
            let segment = create(&segment_path);
            insert(&segment, part, *rows, longest);
            insert(&expected, part, *rows, longest);
            let from = roots(&segment);
            let pairs: Vec<_> = roots(&connection).into_iter().zip(from).collect();
            connection
                .execute_batch("BEGIN IMMEDIATE")
                .expect("nobody else is here");
            let pager = Pager::new(&connection, PAGE_SIZE)
                .expect("a sound file")
                .expect("pages are handed out");
            pager
                .graft(&File::open(&segment_path).expect("it is there"), &pairs)
                .expect("space");
            connection
                .execute_batch("COMMIT")
                .expect("space on the disk");
            drop(connection);

            let connection = open(&path);
            let found: String = one(&connection, "PRAGMA integrity_check");
            assert_eq!(found, "ok", "{parts:?}, {longest}, {free}, part {part}");
            assert!(
                self::rows(&connection) == self::rows(&expected),
                "{parts:?}, {longest}, {free}, part {part}"
            );
            let grown = one::<u32>(&connection, "PRAGMA page_count") - pages;
            let used = unused - one::<u32>(&connection, "PRAGMA freelist_count");
            assert!(
                grown == 0 || used == unused,
                "{grown} pages are new, and {} unused",
                unused - used
            );
        }
        // SQLite goes on with it.
        let connection = open(&path);
        insert(&connection, 99, 500, longest);
        insert(&expected, 99, 500, longest);
        connection
            .execute_batch(
                "DELETE FROM sorted WHERE part = 1; DELETE FROM numbered WHERE id < 2000000",
            )
            .expect("space");
        expected
            .execute_batch(
                "DELETE FROM sorted WHERE part = 1; DELETE FROM numbered WHERE id < 2000000",
            )
            .expect("space");
        assert_eq!(
            one::<String>(&connection, "PRAGMA integrity_check"),
            "ok",
            "{parts:?}, {longest}, {free}"
        );
        assert!(
            rows(&connection) == rows(&expected),
            "{parts:?}, {longest}, {free}"
        );
    }

    #[test]
    fn trees_of_every_small_size_go_behind_each_other() {
        for rows in 0..40 {
            check(&[rows, 40 - rows, rows, 1], 60, 0);
        }
    }

    #[test]
    fn trees_of_several_levels_go_behind_each_other() {
        check(&[5000, 1, 5000, 300, 0, 20], 30, 0);
        check(&[1, 5000], 30, 0);
        check(&[0, 2400, 1, 1, 1, 2400], 30, 0);
    }

    #[test]
    fn roots_fill_up_row_by_row() {
        check(&(0..90).map(|part| 5 + part % 3).collect::<Vec<_>>(), 30, 0);
    }

    #[test]
    fn what_has_pages_of_its_own_keeps_them() {
        for longest in [100, 500, 1000, 5000] {
            check(&[50, 3, 100, 1], longest, 0);
        }
    }

    #[test]
    fn pages_that_nothing_uses_are_used_first() {
        for free in [1, 2, 40, 1000] {
            check(&[50, 300, 1, 300], 200, free);
        }
    }
}
