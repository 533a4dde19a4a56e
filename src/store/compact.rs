//! Compacting: gives the space that deleted runs have left back to the disk.
//!
//! VACUUM writes all rows to another file, and this program copies the pages of that over those of
//! the database, in the one transaction in which the lock is held all the time. SQLite's own VACUUM
//! in place does the same, but cannot be interrupted while it copies.

use std::fs;
use std::io;

use rusqlite::OpenFlags;

use super::database::Database;
use super::error::{Cause, StoreError};
use super::file::disk_space;
use super::file::empty::PAGE_SIZE;
use super::file::growing::Growing;
use super::write::{PagesBySql, end_after, prepare_end, unguarded};
use crate::source::Stopped;
use profdb_sqlite_pages::copy::copy_over;

/// Bytes of a database before it was compacted and after that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compacted {
    /// Before.
    pub before: u64,
    /// After.
    pub after: u64,
}

impl Database {
    /// Makes the file as small as its rows allow, in one transaction.
    ///
    /// # Errors
    /// When the disk has no room for a copy and a journal, another program has the database, or it
    /// cannot be written: then nothing has changed.
    pub fn compact(&mut self) -> Result<Compacted, StoreError> {
        let before = self.bytes()?;
        let has_access = self.wait(|| prepare_end(&self.connection))?;
        self.begin()?;
        let compacted = self.compact_and_commit(has_access);
        self.end();
        if compacted? {
            self.forget_pages()?;
        } else {
            // SQLite was built without access to pages, or these are of another size than ours.
            self.wait(|| self.connection.execute_batch("VACUUM"))?;
            self.is_in_place()?;
        }
        self.move_log()?;
        Ok(Compacted {
            before,
            after: self.bytes()?,
        })
    }

    /// `false` if pages cannot be written: then nothing has changed.
    fn compact_and_commit(&self, has_access: bool) -> Result<bool, StoreError> {
        let failed = |cause: Cause| self.failed(cause);
        let one = |sql: &str| -> Result<i64, StoreError> {
            let found = self.connection.query_row(sql, [], |row| row.get(0));
            found.map_err(|source| self.failed(source))
        };
        let (page, page_count) = (one("PRAGMA page_size")?, one("PRAGMA page_count")?);
        let used = page_count - one("PRAGMA freelist_count")?;
        disk_space::check_copies(&self.connection, page, used).map_err(failed)?;
        let is_usual = page == i64::from(PAGE_SIZE)
            && one("SELECT auto_vacuum FROM pragma_auto_vacuum")? == 0
            && page_count > 1;
        let place = fs::canonicalize(&self.path).map_err(|source| self.failed(source))?;
        if !has_access || !is_usual || !cfg!(unix) {
            return Ok(false);
        }
        let pages = PagesBySql::of(&self.connection).map_err(|source| self.failed(source))?;
        let Some(mut pages) = pages else {
            return Ok(false);
        };
        let growing = Growing::beside(&place, &[]).map_err(|source| self.failed(source))?;
        self.vacuum_into(&growing)?;
        // SQLite looks after so many steps, and a few pages are written in less.
        if self.lock_wait.stop.is_set() {
            return Err(Stopped.into());
        }
        let copy = growing.file().map_err(|source| self.failed(source))?;
        // From here on, the copy ends with the program.
        growing.remove_own();
        let bytes = copy.metadata().map_err(|source| self.failed(source))?.len();
        // Rows of ours may lie closer than SQLite puts them.
        if bytes >= (page * page_count).unsigned_abs() {
            return Ok(true);
        }
        self.is_untouched()?;
        // Only a page that is to be written makes the flush ask for the lock.
        let touched = unguarded(&self.connection, || pages.touch());
        touched.map_err(|source| self.failed(source))?;
        // Waits until no one else reads. From here on, SQLite has room for all pages.
        self.wait(|| self.connection.cache_flush())?;
        let written = unguarded(&self.connection, || -> Result<(), Cause> {
            let heed = || {
                if self.lock_wait.stop.is_set() {
                    return Err(io::Error::other("interrupted"));
                }
                Ok(())
            };
            let (first, count) = copy_over(&mut pages, &copy, PAGE_SIZE, heed)?;
            drop(pages);
            Ok(end_after(&self.connection, &first, count)?)
        });
        if self.lock_wait.stop.is_set() {
            return Err(Stopped.into());
        }
        written.map_err(failed)?;
        self.commit()?;
        Ok(true)
    }

    /// Has SQLite write the rows of the database to a file, as a program that reads.
    fn vacuum_into(&self, copy: &Growing) -> Result<(), StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let mut reader = Self::with_flags(&self.path, flags, false, self.lock_wait.clone())?;
        if reader.identity != self.identity {
            return Err(self.failed(Cause::Replaced));
        }
        reader.heed(self.lock_wait.stop.clone())?;
        let into = || -> Result<(), Cause> {
            // The copy need not survive a crash.
            reader
                .connection
                .pragma_update(None, "synchronous", "OFF")?;
            let path = copy
                .path()
                .to_str()
                .ok_or_else(|| io::Error::other("expected the path of the database to be UTF-8"))?;
            reader.connection.execute("VACUUM INTO ?1", [path])?;
            if copy.is_in_place() {
                Ok(())
            } else {
                Err(Cause::Replaced)
            }
        };
        into().map_err(|cause| self.failed(cause))
    }

    /// With a log (WAL), the file becomes smaller when the log is moved into it: at once, unless
    /// another program reads what was there before.
    fn move_log(&self) -> Result<(), StoreError> {
        let moved = self
            .connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        moved.map_err(|source| self.failed(source))
    }

    fn bytes(&self) -> Result<u64, StoreError> {
        let about = fs::metadata(&self.path);
        Ok(about.map_err(|source| self.failed(source))?.len())
    }
}
