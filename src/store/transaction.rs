//! Changing a database: one transaction, whose end is refused if the file is not what it was.

use std::fs;
use std::io;
use std::time::Duration;

use rusqlite::Connection;

use super::database::Database;
use super::error::{Cause, StoreError};
use super::file::identity::Stamp;
use super::file::lock_wait::READING;
use super::file::logs::is_written_to;
use crate::base::ending::Change;
use crate::source::Stopped;

impl Database {
    /// Changes the database in one transaction. Waits for the locks of writers and of readers.
    pub(super) fn change<T, E: Into<Cause>>(
        &mut self,
        change: impl FnOnce(&Connection) -> Result<T, E>,
    ) -> Result<T, StoreError> {
        self.begin()?;
        let changed = change(&self.connection).map_err(|cause| self.failed(cause));
        let changed = changed.and_then(|changed| self.commit().map(|()| changed));
        self.end();
        changed
    }

    /// Starts a transaction; waits for the lock. From here to [`Self::end`], SQLite itself does not
    /// wait.
    pub(super) fn begin(&self) -> Result<(), StoreError> {
        self.connection
            .busy_timeout(Duration::ZERO)
            .map_err(|source| self.failed(source))?;
        self.sync_folder()?;
        self.wait(|| self.connection.execute_batch("BEGIN IMMEDIATE"))?;
        // What ends with the program needs not be taken back.
        let is_of_the_user = self.temporary.is_none();
        self.changing.replace(is_of_the_user.then(Change::begin));
        self.remember().inspect_err(|_| self.end())
    }

    /// Commits as soon as no other program reads what is to be changed. This is the last moment at
    /// which a stop is heeded.
    pub(super) fn commit(&self) -> Result<(), StoreError> {
        if self.lock_wait.stop.is_set() {
            return Err(Stopped.into());
        }
        self.is_untouched()?;
        self.source_sizes.take();
        self.wait(|| self.connection.execute_batch("COMMIT"))?;
        self.untold.replace(self.changing.take());
        self.is_in_place()?;
        self.checked.set(Stamp::of(&self.path).ok());
        Ok(())
    }

    /// Has SQLite write all that it has in memory, before pages are written past its b-trees. Waits
    /// until no one else reads; from here on, SQLite has room for all pages.
    pub(super) fn flush(&self) -> Result<(), StoreError> {
        // This comes before the flush, which writes to the file: after it, a copy over the file
        // would look like a change of our own.
        self.is_untouched()?;
        self.wait(|| self.connection.cache_flush())
    }

    /// Makes SQLite forget the pages that it has in memory: a statement reads them anew, and with
    /// them what has been written past its b-trees. It keeps what it knows of the schema, which is
    /// as before. To be called outside a transaction, when no statement is being run: then no page is
    /// in use, and all are forgotten.
    pub(super) fn forget_pages(&self) -> Result<(), StoreError> {
        let forgotten = self.connection.execute_batch("PRAGMA shrink_memory");
        forgotten.map_err(|source| self.failed(source))
    }

    /// Takes back what has not been committed.
    pub(super) fn end(&self) {
        if !self.connection.is_autocommit() {
            // Where even that fails, closing the connection undoes what is not committed.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        self.leave_no_log();
        self.changing.take();
        let _ = self.connection.busy_timeout(READING);
    }

    /// Remembers how the file is, now that no other program may change it. With a log (WAL), others
    /// may move what is in it into the file.
    fn remember(&self) -> Result<(), StoreError> {
        self.stamp.set(None);
        if self.identity.is_some() && self.claim.is_none() {
            let journal = self
                .connection
                .query_row("PRAGMA journal_mode", [], |row| row.get::<_, String>(0));
            if journal.map_err(|source| self.failed(source))? != "wal" {
                self.is_in_place()?;
                self.stamp.set(Some(
                    Stamp::of(&self.path).map_err(|source| self.failed(source))?,
                ));
            }
        }
        Ok(())
    }

    /// Fails if a program that asks for no lock, as `cp`, has written over the file, as far as that
    /// can be seen: before SQLite itself writes to it.
    pub(super) fn is_untouched(&self) -> Result<(), StoreError> {
        self.is_in_place()?;
        let Some(before) = self.stamp.take() else {
            return Ok(());
        };
        let untouched = || -> io::Result<bool> {
            let now = Stamp::of(&self.path)?;
            Ok(now == before || is_written_to(&fs::canonicalize(&self.path)?)?)
        };
        if untouched().map_err(|source| self.failed(source))? {
            Ok(())
        } else {
            Err(self.failed(Cause::Replaced))
        }
    }

    /// Empties the log of a file that has lost its name, into that file: else SQLite would take the
    /// log for that of the file which has the name now.
    fn leave_no_log(&self) {
        if self.is_elsewhere() {
            // A reader of the file that was there before may be in the way, and is not waited for.
            let _ = self
                .connection
                .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        }
    }
}
