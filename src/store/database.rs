//! An open database: its connection, its file, waiting for other programs, and errors.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::path::{Path, PathBuf};

use hashbrown::HashSet;
use rusqlite::Connection;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

use super::error::{Cause, StoreError, failed};
use super::file::identity::{Identity, Stamp};
use super::file::lock_wait::{LockWait, unless_locked};
use super::file::new_file::Claim;
use super::write::KnownFunctions;
use crate::base::ending::{Change, noticed};
use crate::base::error::Stop;

/// How many steps of the SQL machine pass between two looks at [`Stop`]. A step of
/// `PRAGMA integrity_check` is a page, with up to a few hundred rows.
const STEPS_BETWEEN_LOOKS: i32 = 4_000;

/// An open database.
#[derive(Debug)]
pub struct Database {
    pub(super) connection: Connection,
    pub(super) path: PathBuf,
    /// The file did not exist before.
    pub(super) created: bool,
    /// Schema version that the file had; 0 if it was empty.
    pub(super) found: i64,
    /// The open file, if any.
    pub(super) identity: Option<Identity>,
    /// Whether SQLite has been told to sync the folder.
    pub(super) syncs_folder: Cell<bool>,
    /// From the beginning of a change to its end.
    pub(super) changing: RefCell<Option<Change>>,
    /// From the commit of a change to where it has been told of: see [`Database::is_told`].
    pub(super) untold: RefCell<Option<Change>>,
    /// How the file was before the change that is under way.
    pub(super) stamp: Cell<Option<Stamp>>,
    /// How the file was when its schema was checked, or when this program had changed it since.
    pub(super) checked: Cell<Option<Stamp>>,
    /// A new file, which gets its name with its first run.
    pub(super) claim: Option<Claim>,
    /// Of a database that ends with the program: a name, which no file has, beside which its file is
    /// made when a run is long.
    pub(super) temporary: Option<PathBuf>,
    pub(super) lock_wait: LockWait,
    /// Is told how far a walk through a run is.
    pub(super) walks: WalkWatch,
    /// See [`Database::inserted_rows`].
    pub(super) inserted: Cell<u64>,
    pub(super) known_functions: KnownFunctions,
    /// Sizes of the files of all runs, with SQLite's number for what other connections have made of
    /// the database; `None` after a change of our own.
    pub(super) source_sizes: RefCell<Option<(i64, HashSet<i64>)>>,
}

/// Is told how many nodes of how many have been read, now and then.
#[derive(Default)]
pub(super) struct WalkWatch(Option<Box<dyn Fn(u64, u64) + Send>>);

impl fmt::Debug for WalkWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WalkWatch").field(&self.0.is_some()).finish()
    }
}

impl Database {
    /// Lets a function know, now and then, how many nodes of how many a walk through a run has
    /// read.
    pub(crate) fn watch_walks(&mut self, watch: impl Fn(u64, u64) + Send + 'static) {
        self.walks = WalkWatch(Some(Box::new(watch)));
    }

    /// Whether whoever asked has asked to stop.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.lock_wait.stop.is_set()
    }

    /// The flag that asks to stop.
    pub(crate) fn stop(&self) -> &Stop {
        &self.lock_wait.stop
    }

    /// Tells how far a walk is.
    pub(super) fn tell(&self, done: u64, all: u64) {
        if let WalkWatch(Some(watch)) = &self.walks {
            watch(done, all);
        }
    }

    /// Has rows read by SQL from now on, as where SQLite gives no access to its pages
    /// (docs/release.md): for comparing both.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn read_without_pages(&mut self) -> Result<(), StoreError> {
        let deny = |context: AuthContext<'_>| match context.action {
            AuthAction::Read {
                table_name: "sqlite_dbpage",
                ..
            } => Authorization::Deny,
            _ => Authorization::Allow,
        };
        let denied = self.connection.authorizer(Some(deny));
        denied.map_err(|source| self.failed(source))
    }

    /// The connection, for reports.
    #[must_use]
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// How many rows of `nodes` and `node_costs` imports have inserted by SQL, one by one, since the
    /// database was opened; all others were written as pages, in a fraction of the time.
    #[must_use]
    pub fn inserted_rows(&self) -> u64 {
        self.inserted.get()
    }

    pub(super) fn count_inserted(&self, rows: u64) {
        self.inserted.set(self.inserted.get() + rows);
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file itself, or where that will be, whatever links lead there: beside it, temporary files
    /// may be made. `None` in memory.
    pub(super) fn place(&self) -> Option<PathBuf> {
        if let Some(claim) = &self.claim {
            return Some(claim.place().to_owned());
        }
        // SQLite says where the file itself is, or was before it lost its name.
        let path = self.connection.path().filter(|path| !path.is_empty());
        let own = path.filter(|_| cfg!(unix)).map(PathBuf::from);
        own.map(|own| self.temporary.clone().unwrap_or(own))
    }

    /// Whether no one has changed the file since this program has checked or changed it: then there
    /// is no need to open it anew for the next run. With a log (WAL) that cannot be seen.
    #[must_use]
    pub fn is_as_left(&self) -> bool {
        let journal = || {
            self.connection
                .query_row("PRAGMA journal_mode", [], |row| row.get::<_, String>(0))
        };
        self.claim.is_none()
            && self.checked.get().is_some()
            && !self.is_elsewhere()
            && self.checked.get() == Stamp::of(&self.path).ok()
            && journal().is_ok_and(|journal| journal != "wal")
    }

    /// Lets long statements be interrupted.
    pub(crate) fn heed(&mut self, stop: Stop) -> Result<(), StoreError> {
        self.lock_wait.stop = stop.clone();
        let heeded = self
            .connection
            .progress_handler(STEPS_BETWEEN_LOOKS, Some(move || stop.is_set()));
        heeded.map_err(|source| self.failed(source))
    }

    /// What has been committed has been told of. Until then an interrupted program waits for it: to be given up would say
    /// that nothing was changed.
    pub(crate) fn is_told(&self) {
        // All that is left to do is to end.
        noticed();
        self.untold.take();
    }

    /// Fails unless the name of the database leads to the file that is open.
    ///
    /// # Errors
    /// When another file has been put there since, or this one has been taken away.
    pub(crate) fn is_in_place(&self) -> Result<(), StoreError> {
        if self.is_elsewhere() {
            Err(self.failed(Cause::Replaced))
        } else {
            Ok(())
        }
    }

    /// Whether the name leads to another file than the one that is open, or nowhere, as far as the
    /// system says.
    pub(super) fn is_elsewhere(&self) -> bool {
        let (Some(own), None) = (self.identity, &self.claim) else {
            return false;
        };
        // Where the system does not answer, nothing may be said to be stored.
        Identity::at(&self.path).map_or(true, |found| found != Some(own))
    }

    /// Does something as soon as the locks of other programs let it.
    pub(super) fn wait<T>(
        &self,
        mut attempt: impl FnMut() -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let done = self.lock_wait.wait(&self.path, || unless_locked(attempt()));
        done.map_err(|source| self.failed(source))?
            .ok_or_else(|| StoreError::Locked {
                path: self.path.clone(),
                waited: self.lock_wait.limit,
            })
    }

    /// The error for tables that no import writes.
    pub(crate) fn inconsistent(&self, what: impl Into<String>) -> StoreError {
        StoreError::Inconsistent {
            path: self.path.clone(),
            what: what.into(),
        }
    }

    /// The error for a cause, said of this file.
    pub(super) fn failed(&self, cause: impl Into<Cause>) -> StoreError {
        match cause.into() {
            // SQLite's own error is a consequence.
            Cause::Sqlite(_) if self.is_elsewhere() => failed(&self.path, Cause::Replaced),
            cause if self.temporary.is_some() => failed(&self.path, cause).of_temporary_file(),
            cause => failed(&self.path, cause),
        }
    }
}
