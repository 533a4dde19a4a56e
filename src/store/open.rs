//! Opening a database: a new file, one that is there, one that is only read, one in memory.

use std::cell::{Cell, RefCell};
use std::fs;
use std::io::{self, Read};
use std::path::Path;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::database::{Database, WalkWatch};
use super::error::{Cause, StoreError, failed};
use super::file::empty::PAGE_SIZE;
use super::file::identity::{Identity, Stamp};
use super::file::location::DatabasePlace;
use super::file::lock_wait::{LockWait, READING};
use super::file::logs::log_beside;
use super::file::new_file::{Claim, may_become_database};
use super::file::{connection, growing};
use super::schema::{SCHEMA, SchemaState, VERSION, migrate, stale_views};
use super::write::KnownFunctions;

/// The path of a database in memory.
const MEMORY: &str = ":memory:";

/// How often opening is tried if the file is replaced meanwhile.
const ATTEMPTS: usize = 10;

/// Removes the file that a program has left which died while it made this database or imported into
/// it. It is called before the database is written to.
pub fn remove_abandoned(path: &Path) {
    let Ok(place) = DatabasePlace::of(path) else {
        return;
    };
    if let Some(place) = place.free.or_else(|| fs::canonicalize(path).ok()) {
        growing::remove_abandoned(&place);
    }
}

impl Database {
    /// Opens a file for writing; it need not exist. Nothing is written before the first import.
    ///
    /// # Errors
    /// When it cannot be opened, belongs to another application, or has an unknown schema version.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::open_waiting(path, LockWait::default())
    }

    /// Opens a file for writing, as [`Self::open`] does, and says how long other programs are
    /// waited for: now, and when it is written to.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_waiting(path: &Path, lock_wait: LockWait) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
        let file = |source: io::Error| failed(path, source);
        let place = DatabasePlace::of(path).map_err(file)?;
        let Some(free) = &place.free else {
            return Self::with_flags(path, flags, false, lock_wait);
        };
        may_become_database(path, &place).map_err(|cause| failed(path, cause))?;
        if !cfg!(unix) {
            // A file that another program makes there meanwhile stays as it is.
            fs::OpenOptions::new()
                .write(true)
                .create_new(true)
                .open(free)
                .map_err(file)?;
            return Self::with_flags(path, flags, true, lock_wait);
        }
        let claim = Claim::new(free.clone()).map_err(|cause| failed(path, cause))?;
        let opened = claim
            .open()
            .and_then(|connection| Ok((connection, claim.identity()?)));
        let (connection, identity) = opened.map_err(|cause| failed(path, cause))?;
        let growing = Self::identified(connection, path, Some(identity), true, lock_wait)?;
        // The file is synced as a whole before it gets its name.
        growing
            .connection
            .pragma_update(None, "synchronous", "OFF")
            .map_err(|source| growing.failed(source))?;
        Ok(Self {
            claim: Some(claim),
            ..growing
        })
    }

    /// Goes on with a database that is open if it is as it was left, so that its schema need not be
    /// read and checked again; else opens the file, as [`Self::open_waiting`] does.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_again(
        left: Option<Self>,
        path: &Path,
        lock_wait: LockWait,
    ) -> Result<Self, StoreError> {
        match left.filter(|left| left.path == path && left.is_as_left()) {
            Some(left) => Ok(Self { lock_wait, ..left }),
            None => Self::open_waiting(path, lock_wait),
        }
    }

    /// Opens a file for writing that has runs, or had some.
    ///
    /// # Errors
    /// As [`Self::open`]; and when there is no such file, or it is empty.
    pub fn open_to_change(path: &Path, lock_wait: LockWait) -> Result<Self, StoreError> {
        is_there(path)?;
        let database = Self::open_waiting(path, lock_wait)?;
        database.is_made()?;
        Ok(database)
    }

    /// Opens an existing file for reading only.
    ///
    /// An interrupted change is rolled back first, and tables and views of another version are upgraded. Both need
    /// permission to write.
    ///
    /// # Errors
    /// When it does not exist, is empty, cannot be opened, belongs to another application, or has an unknown schema
    /// version.
    pub fn open_read_only(path: &Path) -> Result<Self, StoreError> {
        Self::open_read_only_waiting(path, &LockWait::default())
    }

    /// Opens an existing file for reading only, as [`Self::open_read_only`] does, and says how long
    /// other programs are waited for.
    ///
    /// # Errors
    /// As [`Self::open_read_only`].
    pub fn open_read_only_waiting(path: &Path, lock_wait: &LockWait) -> Result<Self, StoreError> {
        is_there(path)?;
        let read_only = || {
            Self::with_flags(
                path,
                OpenFlags::SQLITE_OPEN_READ_ONLY,
                false,
                lock_wait.clone(),
            )
        };
        let stale = match read_only() {
            // Who only reads makes no database of a file.
            Ok(database) if database.found == 0 => {
                return Err(StoreError::Empty(path.to_owned()));
            }
            Ok(database) if database.is_current()? => return Ok(database),
            Ok(database) => Some(database),
            Err(StoreError::Sqlite { source, .. }) if is_not_writable(&source) => None,
            Err(error) => return Err(error),
        };
        match (Self::rewrite(path, lock_wait), stale) {
            (Ok(()), _) => read_only(),
            // Only views differ: reports do not need them.
            (Err(StoreError::Sqlite { source, .. }), Some(database))
                if is_not_writable(&source) && database.found == VERSION =>
            {
                Ok(database)
            }
            (Err(StoreError::Sqlite { source, .. }), None) if is_not_writable(&source) => {
                Err(why_not_read(path, source))
            }
            (Err(error), _) => Err(error),
        }
    }

    /// Rolls back an interrupted change, which reading with permission to write does, and upgrades tables and views.
    fn rewrite(path: &Path, lock_wait: &LockWait) -> Result<(), StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
        let mut database = Self::with_flags(path, flags, false, lock_wait.clone())?;
        // What was interrupted may have been its beginning.
        database.is_made()?;
        if !database.is_current()? {
            database.change(migrate)?;
        }
        Ok(())
    }

    /// A database without runs, in memory.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn in_memory() -> Result<Self, StoreError> {
        let path = Path::new(MEMORY);
        let connection = connection::open_in_memory().map_err(|source| failed(path, source))?;
        connection
            .pragma_update(None, "page_size", i64::from(PAGE_SIZE))
            .map_err(|source| failed(path, source))?;
        let mut database = Self::identified(connection, path, None, false, LockWait::default())?;
        database.change(migrate)?;
        database.found = VERSION;
        database.is_told();
        Ok(database)
    }

    /// Opens a file that is there, if it is ours.
    pub(super) fn with_flags(
        path: &Path,
        flags: OpenFlags,
        created: bool,
        lock_wait: LockWait,
    ) -> Result<Self, StoreError> {
        let (connection, identity) = Self::connected(path, flags)?;
        Self::identified(connection, path, identity, created, lock_wait)
    }

    /// A connection to a file that is there, and which file that is. Nothing has been read from it.
    fn connected(
        path: &Path,
        flags: OpenFlags,
    ) -> Result<(Connection, Option<Identity>), StoreError> {
        if path.is_dir() {
            return Err(StoreError::Folder(path.to_owned()));
        }
        let file = |source: io::Error| failed(path, source);
        let about = fs::metadata(path).ok();
        // Opening a pipe would wait for a program that writes to it.
        if about.as_ref().is_some_and(|found| !found.is_file()) {
            return Err(StoreError::NoFile(path.to_owned()));
        }
        if about.is_some_and(|found| found.len() == 0) {
            let place = DatabasePlace::of(path).map_err(file)?;
            may_become_database(path, &place).map_err(|cause| failed(path, cause))?;
        }
        for _ in 0..ATTEMPTS {
            let before = Identity::at(path).map_err(file)?;
            let opened = connection::open(path, flags);
            let identity = Identity::at(path).map_err(file)?;
            let connection = match opened {
                Err(_) if before.is_some() && identity.is_none() => break,
                opened => opened.map_err(|cause| failed(path, cause))?,
            };
            // A file may have been replaced while it was opened: which one is open is known only if
            // it is the one that is there now.
            if let Some(own) = identity
                && (before == identity || own.times_open().is_some_and(|times| times > 0))
            {
                return Ok((connection, identity));
            }
        }
        Err(StoreError::Replaced(path.to_owned()))
    }

    /// The database of a connection, if it is ours.
    fn identified(
        connection: Connection,
        path: &Path,
        identity: Option<Identity>,
        created: bool,
        lock_wait: LockWait,
    ) -> Result<Self, StoreError> {
        let checked = identity.and_then(|_| Stamp::of(path).ok());
        let mut database = Self::unread(connection, path, identity, created, lock_wait);
        database.found = database.identify()?;
        database.checked.set(checked);
        Ok(database)
    }

    /// The database of a connection, of which nothing has been read.
    fn unread(
        connection: Connection,
        path: &Path,
        identity: Option<Identity>,
        created: bool,
        lock_wait: LockWait,
    ) -> Self {
        Self {
            connection,
            path: path.to_owned(),
            created,
            found: 0,
            identity,
            syncs_folder: Cell::default(),
            changing: RefCell::default(),
            untold: RefCell::default(),
            stamp: Cell::default(),
            checked: Cell::default(),
            claim: None,
            temporary: None,
            lock_wait,
            walks: WalkWatch::default(),
            inserted: Cell::default(),
            known_functions: KnownFunctions::default(),
            source_sizes: RefCell::default(),
        }
    }

    /// Returns the schema version of the file, 0 if it is empty.
    fn identify(&self) -> Result<i64, StoreError> {
        // Reading rolls back what an interrupted program has left, which others may be about to do,
        // too.
        self.sync_folder()?;
        let state = self.wait(|| SCHEMA.state(&self.connection))?;
        self.connection
            .busy_timeout(READING)
            .map_err(|source| self.failed(source))?;
        let path = self.path.clone();
        match state {
            SchemaState::Empty => Ok(0),
            SchemaState::Version(version) => Ok(version),
            SchemaState::Older(found) => Err(StoreError::Older { path, found }),
            SchemaState::Newer(found) => Err(StoreError::Newer { path, found }),
            SchemaState::OtherApplication => Err(StoreError::NotOurs(path)),
            SchemaState::Altered(what) => Err(StoreError::Altered { path, what }),
        }
    }

    /// Has the folder synced with each transaction, too: else a loss of power may bring back a journal,
    /// and a run that has been stored is undone. This reads the schema, so it may have to wait.
    pub(super) fn sync_folder(&self) -> Result<(), StoreError> {
        if self.syncs_folder.get() {
            return Ok(());
        }
        self.wait(|| self.connection.pragma_update(None, "synchronous", "EXTRA"))?;
        self.syncs_folder.set(true);
        Ok(())
    }

    /// Whether there are tables in it.
    ///
    /// # Errors
    /// If there are none.
    fn is_made(&self) -> Result<(), StoreError> {
        match self.found {
            0 => Err(StoreError::Empty(self.path.clone())),
            _ => Ok(()),
        }
    }

    /// Returns whether tables and views are those of this version of profdb.
    pub(super) fn is_current(&self) -> Result<bool, StoreError> {
        let stale = stale_views(&self.connection).map_err(|source| self.failed(source))?;
        Ok(self.found == VERSION && stale.is_empty())
    }

    /// Opens a database to copy runs out of it: read-only and without an upgrade.
    ///
    /// # Errors
    /// When it cannot be read as it is.
    pub fn open_source(path: &Path, lock_wait: &LockWait) -> Result<Self, StoreError> {
        is_there(path)?;
        let opened = Self::with_flags(
            path,
            OpenFlags::SQLITE_OPEN_READ_ONLY,
            false,
            lock_wait.clone(),
        );
        let source = opened.map_err(|error| match error {
            StoreError::Sqlite { source, .. } if is_not_writable(&source) => {
                why_not_read(path, source)
            }
            error => error,
        })?;
        source.is_made()?;
        Ok(source)
    }

    /// Puts a new file in its place.
    ///
    /// # Errors
    /// [`StoreError::is_there_by_now`] if another program has put a file there meanwhile: both are
    /// as they were.
    pub(super) fn publish(&mut self) -> Result<(), StoreError> {
        let Some(claim) = self.claim.take() else {
            return Ok(());
        };
        // Until the names of its logs have been looked at once more, no other program makes one.
        let begun = self.wait(|| self.connection.execute_batch("BEGIN EXCLUSIVE"));
        let published = begun.and_then(|()| claim.publish().map_err(|cause| self.failed(cause)));
        match published {
            // Closing a file takes the locks from every connection of this program to it: there is
            // none yet.
            Ok(()) => drop(claim),
            Err(_) => self.claim = Some(claim),
        }
        self.end();
        published?;
        let own = self.identity;
        let opened = self.reopened()?;
        if opened.identity != own {
            return Err(self.failed(Cause::Replaced));
        }
        opened.count_inserted(self.inserted_rows());
        opened.untold.replace(self.untold.take());
        *self = opened;
        Ok(())
    }

    /// Opens the file anew, as another program has made it meanwhile.
    pub(super) fn opened_anew(&self) -> Result<Self, StoreError> {
        let mut there = Self::open_waiting(&self.path, self.lock_wait.clone())?;
        there.heed(self.lock_wait.stop.clone())?;
        Ok(there)
    }

    /// Opens the file by the name that it has got. What is in it is this program's own, and is not
    /// read again: most commands end here. Whoever goes on with the database
    /// ([`Self::open_again`]) opens it anew.
    fn reopened(&self) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
        let (connection, identity) = Self::connected(&self.path, flags)?;
        let (path, lock_wait) = (&self.path, self.lock_wait.clone());
        let unread = Self::unread(connection, path, identity, self.created, lock_wait);
        unread
            .connection
            .busy_timeout(READING)
            .map_err(|source| unread.failed(source))?;
        Ok(Self {
            found: self.found,
            ..unread
        })
    }

    /// Removes the file if this program made it and nothing came of it.
    pub(crate) fn discard_if_new(self) {
        let Self {
            connection,
            path,
            created,
            claim,
            ..
        } = self;
        drop(connection);
        if claim.is_some() {
            return;
        }
        let empty = fs::metadata(&path).is_ok_and(|found| found.len() == 0);
        if created && empty {
            // Another program may have opened the file meanwhile: SQLite then finds it moved and
            // says so before it writes.
            let _ = fs::remove_file(&path);
        }
    }
}

/// The error of a file that cannot be read without being written to, or without a file beside it.
fn why_not_read(path: &Path, source: rusqlite::Error) -> StoreError {
    let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let log = log_beside(&place).ok().flatten();
    let path = path.to_owned();
    if log.is_some_and(|log| log.is_file()) {
        StoreError::NeedsRecovery(path)
    } else if has_log_mode(&place) {
        StoreError::NeedsLog(path)
    } else {
        StoreError::Sqlite { path, source }
    }
}

/// Whether the journal mode of a file is WAL, as far as it can be read. Closing a file takes the locks from every
/// connection of this program to it: that is of no harm where no connection can read it.
fn has_log_mode(place: &Path) -> bool {
    let mut header = [0; 20];
    let read = fs::File::open(place).and_then(|mut file| file.read_exact(&mut header));
    // The version of the format that is needed to read it: 1 has a journal, 2 a log.
    read.is_ok() && header[19] == 2
}

/// Whether there is a file, as far as this user may know that.
///
/// # Errors
/// If there is none, or a folder may not be looked into.
fn is_there(path: &Path) -> Result<(), StoreError> {
    match fs::metadata(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(failed(path, error)),
        Err(_) => Err(StoreError::Missing(path.to_owned())),
    }
}

/// Whether SQLite would have to write, and cannot. A read-only connection fails so, too, where it
/// would have to roll back what an interrupted program has left.
fn is_not_writable(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen)
    )
}
