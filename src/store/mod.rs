//! The database file: opening, schema, writing a run, reading what is known of runs. The only code besides
//! [`crate::report`] that says rusqlite.

mod bulk;
mod check;
mod claim;
mod connection;
mod graft;
mod merge;
mod pages;
mod patience;
mod places;
mod read;
mod record;
mod room;
mod schema;
mod segment;
mod sources;
mod walk;
mod write;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

pub use check::Finding;
pub use merge::Merged;
pub use patience::Patience;
pub use read::{MetricInfo, NoteInfo, RunInfo, RunState};
pub use walk::{EdgeRow, FunctionRow, LinePlace, LineRow, NodeRow, StackRow};
pub use write::{Outcome, RunMeta, RunWriter};

use crate::error::Stop;
use crate::source::Stopped;
use claim::Claim;
use patience::unless_locked;

/// Marks a file as ours (`PRAGMA application_id`): `PrDB`.
pub const APPLICATION_ID: i32 = 0x5072_4442;

/// What SQLite calls a database that no file holds.
const MEMORY: &str = ":memory:";

/// How long a statement waits that only reads: nobody keeps readers out for longer than it takes to end a change.
const READING: Duration = Duration::from_secs(10);

/// How many steps of the SQL machine pass between two looks at [`Stop`].
const STEPS_BETWEEN_LOOKS: i32 = 100_000;

/// A step from one version of the tables to the next.
struct Migration {
    sql: &'static str,
    /// Rows of large tables are written anew, which takes room.
    rewrites: bool,
}

/// The tables, in the order in which they came to be: number = `PRAGMA user_version`. Append-only.
const MIGRATIONS: &[Migration] = &[
    Migration { sql: include_str!("../../migrations/0001_core.sql"), rewrites: false },
    Migration { sql: include_str!("../../migrations/0002_sources.sql"), rewrites: false },
    Migration { sql: include_str!("../../migrations/0003_small_rows.sql"), rewrites: true },
    Migration { sql: include_str!("../../migrations/0004_labels.sql"), rewrites: false },
    Migration { sql: include_str!("../../migrations/0005_total_source.sql"), rewrites: false },
];

/// `PRAGMA user_version` of a file that has all of them.
#[expect(clippy::cast_possible_wrap, reason = "a list that somebody wrote by hand is short")]
const VERSION: i64 = MIGRATIONS.len() as i64;

/// The schema version that databases are written in, and the version of SQLite that writes them.
#[must_use]
pub fn versions() -> (i64, &'static str) {
    (VERSION, rusqlite::version())
}

/// The public views, replaced in the file when their text here is another.
const VIEWS: &[(&str, &str)] = &[
    ("summary", include_str!("../../queries/views/summary.sql")),
    ("lines", include_str!("../../queries/views/lines.sql")),
    ("calls", include_str!("../../queries/views/calls.sql")),
    ("call_lines", include_str!("../../queries/views/call_lines.sql")),
    ("callees", include_str!("../../queries/views/callees.sql")),
    ("exclusive", include_str!("../../queries/views/exclusive.sql")),
    ("cumulative", include_str!("../../queries/views/cumulative.sql")),
    ("tree", include_str!("../../queries/views/tree.sql")),
    ("tags", include_str!("../../queries/views/tags.sql")),
    ("run_list", include_str!("../../queries/views/run_list.sql")),
    ("source_lines", include_str!("../../queries/views/source_lines.sql")),
];

/// Statements that find no row in a database that is consistent, by name.
pub const CHECKS: &[(&str, &str)] = &[
    ("nodes_in_runs", include_str!("../../queries/checks/nodes_in_runs.sql")),
    ("runs_complete", include_str!("../../queries/checks/runs_complete.sql")),
    ("intervals", include_str!("../../queries/checks/intervals.sql")),
    ("outer_nodes", include_str!("../../queries/checks/outer_nodes.sql")),
    ("line_nodes", include_str!("../../queries/checks/line_nodes.sql")),
    ("function_nodes", include_str!("../../queries/checks/function_nodes.sql")),
    ("function_totals", include_str!("../../queries/checks/function_totals.sql")),
    ("functions_listed", include_str!("../../queries/checks/functions_listed.sql")),
    ("line_totals", include_str!("../../queries/checks/line_totals.sql")),
    ("edge_totals", include_str!("../../queries/checks/edge_totals.sql")),
    ("metrics_listed", include_str!("../../queries/checks/metrics_listed.sql")),
    ("references", include_str!("../../queries/checks/references.sql")),
    ("sources", include_str!("../../queries/checks/sources.sql")),
    ("labels", include_str!("../../queries/checks/labels.sql")),
];

/// Why the database could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no such file.
    #[error("there is no database {}; `profdb import FILE` makes one", .0.display())]
    Missing(PathBuf),
    /// The file is a folder.
    #[error("{} is a folder, not a database", .0.display())]
    Folder(PathBuf),
    /// The file is a pipe, a device or the like.
    #[error("{} is not a file that can hold a database", .0.display())]
    NoFile(PathBuf),
    /// The file needs a repair that cannot be made.
    #[error("{}: an interrupted change has to be rolled back first, which needs the right to write", .0.display())]
    NeedsRecovery(PathBuf),
    /// The file is a database of something else.
    #[error("{} is a database, but not one of profdb", .0.display())]
    NotOurs(PathBuf),
    /// The file was written by a later version.
    #[error("{} has schema version {found}, this profdb knows versions up to {known}: use a newer profdb", .path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The latest version known here.
        known: usize,
    },
    /// The file was written by an earlier version, and cannot be brought up to date.
    #[error(
        "{}: schema version {found} has to be brought to version {known} first, and the database cannot be written: copy \
         it to where it can", .path.display()
    )]
    Older {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The version that is needed.
        known: usize,
    },
    /// The file was written by an earlier version, and is not to be changed.
    #[error("{0} has schema version {found}, expected {VERSION}: `profdb runs --db {0}` brings it up to date", .path.display())]
    OlderSource {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
    },
    /// The disk is too full for the file to be brought up to date.
    #[error(
        "{}: bringing it to schema version {VERSION} may need {} MiB of room on the disk, and {} MiB are free", .path.display(),
        .needed.div_ceil(MEBIBYTE), .free / MEBIBYTE
    )]
    NoRoom {
        /// The file.
        path: PathBuf,
        /// Bytes that may be needed.
        needed: u64,
        /// Bytes that there are.
        free: u64,
    },
    /// Somebody else has changed the schema of the file.
    #[error("{} is not as profdb makes it: {what}", .path.display())]
    Altered {
        /// The file.
        path: PathBuf,
        /// What is other than it should be.
        what: String,
    },
    /// The tables contradict each other.
    #[error("{}: {what}: the tables contradict each other, `profdb check` says where", .path.display())]
    Inconsistent {
        /// The file.
        path: PathBuf,
        /// What cannot be.
        what: String,
    },
    /// A view of the file is not what profdb makes, and the file is not to be changed.
    #[error("{0}: its views are not as this profdb makes them; `profdb runs --db {0}` renews them", .path.display())]
    OtherViews {
        /// The file.
        path: PathBuf,
    },
    /// What the file says contradicts itself.
    #[error("{0}: checks of it fail ({findings}): see `profdb check --db {0}`", .path.display())]
    Unsound {
        /// The file.
        path: PathBuf,
        /// How many checks found something.
        findings: usize,
    },
    /// Nobody waits for the source any more.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// Another program does not let go of the file.
    #[error("{}: another program has had the database locked for {} seconds", .path.display(), .waited.as_secs())]
    Locked {
        /// The file.
        path: PathBuf,
        /// How long it has been waited for.
        waited: Duration,
    },
    /// SQLite could not go on.
    #[error("{}: {}", .path.display(), describe(.source))]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: rusqlite::Error,
    },
    /// The file could not be made.
    #[error("{}: {}", .path.display(), describe_io(.source))]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

impl StoreError {
    /// Somebody else has made the file that was to be made: it is there now, and can be imported into.
    pub(crate) fn is_there_by_now(&self) -> bool {
        matches!(self, Self::File { source, .. } if source.kind() == io::ErrorKind::AlreadyExists)
    }

    /// The file is a database, or was one, and is not as it should be.
    pub(crate) fn is_damage(&self) -> bool {
        match self {
            Self::Altered { .. } | Self::Inconsistent { .. } => true,
            Self::Sqlite { source, .. } => {
                let code = source.sqlite_error_code();
                matches!(code, Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)) || is_wrong_value(source)
            }
            _ => false,
        }
    }
}

/// What keeps the store from going on.
#[derive(Debug)]
enum Cause {
    Sqlite(rusqlite::Error),
    File(io::Error),
    NoRoom { needed: u64, free: u64 },
}

impl From<rusqlite::Error> for Cause {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<io::Error> for Cause {
    fn from(error: io::Error) -> Self {
        Self::File(error)
    }
}

/// What SQLite says, in the words of somebody who does not know SQLite.
fn describe(error: &rusqlite::Error) -> String {
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => "this is not a database".to_owned(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            format!("another program has had the database locked for {} seconds", READING.as_secs())
        }
        Some(ErrorCode::DiskFull) => FULL.to_owned(),
        Some(ErrorCode::ReadOnly) => "the database cannot be written".to_owned(),
        Some(ErrorCode::CannotOpen) => "the database cannot be opened".to_owned(),
        Some(ErrorCode::DatabaseCorrupt) => format!("the database is damaged ({error})"),
        None if is_wrong_value(error) => format!("the database is damaged ({error})"),
        _ => error.to_string(),
    }
}

/// A value is of another type than its column, or no text where text should be.
fn is_wrong_value(error: &rusqlite::Error) -> bool {
    use rusqlite::Error;
    matches!(
        error,
        Error::FromSqlConversionFailure(..)
            | Error::IntegralValueOutOfRange(..)
            | Error::InvalidColumnType(..)
            | Error::Utf8Error(..)
    )
}

/// The same for what the system says.
fn describe_io(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => FULL.to_owned(),
        io::ErrorKind::AlreadyExists => "another program has made this file meanwhile".to_owned(),
        _ => error.to_string(),
    }
}

const FULL: &str = "the disk is full";

const MEBIBYTE: u64 = 1 << 20;

/// An open database.
#[derive(Debug)]
pub struct Database {
    connection: Connection,
    path: PathBuf,
    /// The file did not exist before.
    created: bool,
    /// Schema version that the file had; 0 if it was empty.
    found: i64,
    /// The file is not in its place before the first run is in it.
    claim: Option<Claim>,
    patience: Patience,
}

impl Database {
    /// Opens a file for writing; it need not exist. Nothing is written before the first import.
    ///
    /// # Errors
    /// When it cannot be opened, is not ours, or is newer than this program.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::open_patiently(path, Patience::default())
    }

    /// The same, where others have to be waited for: now, and when it is written to.
    ///
    /// # Errors
    /// As above.
    pub fn open_patiently(path: &Path, patience: Patience) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let file = |source| StoreError::File { path: path.to_owned(), source };
        let claimed = patience.wait(path, || Claim::new(path)).map_err(file)?;
        let Some(claim) = claimed else { return Err(locked(path, &patience)) };
        if let Some(claim) = claim {
            let growing = Self::with_flags(claim.growing(), flags, true, patience)?;
            return Ok(Self { path: path.to_owned(), claim: Some(claim), ..growing });
        }
        let created = !path.exists();
        Self::with_flags(path, flags, created, patience)
    }

    /// Opens an existing file for reading only.
    ///
    /// A file that an interrupted program has left in the middle of a change, or whose schema is of an older version, is
    /// brought in order first, which needs the right to write.
    ///
    /// # Errors
    /// When it does not exist, cannot be opened, is not ours, or is newer than this program.
    pub fn open_read_only(path: &Path) -> Result<Self, StoreError> {
        Self::open_read_only_patiently(path, &Patience::default())
    }

    /// The same, where others have to be waited for.
    ///
    /// # Errors
    /// As above.
    pub fn open_read_only_patiently(path: &Path, patience: &Patience) -> Result<Self, StoreError> {
        if !path.exists() {
            return Err(StoreError::Missing(path.to_owned()));
        }
        let read_only = || Self::with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY, false, patience.clone());
        let stale = match read_only() {
            Ok(database) if database.is_current()? => return Ok(database),
            Ok(database) => Some(database),
            Err(StoreError::Sqlite { source, .. }) if is_not_writable(&source) => None,
            Err(error) => return Err(error),
        };
        match (Self::rewrite(path, patience), stale) {
            (Ok(found), _) => Ok(Self { found, ..read_only()? }),
            // Only views are of an older version: reports do without them.
            (Err(StoreError::Sqlite { source, .. }), Some(database)) if is_not_writable(&source) => {
                match database.found {
                    VERSION => Ok(database),
                    // A file without a byte.
                    0 => Err(database.failed(source)),
                    found => Err(StoreError::Older { path: path.to_owned(), found, known: MIGRATIONS.len() }),
                }
            }
            (Err(StoreError::Sqlite { source, .. }), None) if is_not_writable(&source) => {
                Err(StoreError::NeedsRecovery(path.to_owned()))
            }
            (Err(error), _) => Err(error),
        }
    }

    /// Rolls back what was interrupted, which reading with the right to write does, and migrates. Gives back the version
    /// that was found.
    fn rewrite(path: &Path, patience: &Patience) -> Result<i64, StoreError> {
        let mut database = Self::with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE, false, patience.clone())?;
        if !database.is_current()? {
            database.change(bring_up_to_date)?;
        }
        Ok(database.found)
    }

    /// A database without runs that no file holds.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn in_memory() -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
        let mut database = Self::with_flags(Path::new(MEMORY), flags, false, Patience::default())?;
        database.change(migrate)?;
        Ok(database)
    }

    fn with_flags(path: &Path, flags: OpenFlags, created: bool, patience: Patience) -> Result<Self, StoreError> {
        if path.is_dir() {
            return Err(StoreError::Folder(path.to_owned()));
        }
        // Opening a pipe would wait for somebody to write.
        if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
            return Err(StoreError::NoFile(path.to_owned()));
        }
        let opened = connection::open(path, flags);
        let connection = opened.map_err(|source| StoreError::Sqlite { path: path.to_owned(), source })?;
        let mut database = Self { connection, path: path.to_owned(), created, found: 0, claim: None, patience };
        database.found = database.identify()?;
        Ok(database)
    }

    /// Gives back the schema version of a file that is ours, or empty.
    fn identify(&self) -> Result<i64, StoreError> {
        // Rolls back what an interrupted program has left, which others may be about to do, too.
        let (application, version, objects) = self.wait(|| {
            // The folder, too, is synced: else a loss of power may bring back a journal, and a run that has been stored is
            // undone. This reads the schema, so it may have to wait.
            self.connection.pragma_update(None, "synchronous", "EXTRA")?;
            self.identity()
        })?;
        self.connection.busy_timeout(READING).map_err(|source| self.failed(source))?;
        if application != i64::from(APPLICATION_ID) && (application, version, objects) != (0, 0, 0) {
            return Err(StoreError::NotOurs(self.path.clone()));
        }
        if version > VERSION {
            let (path, known) = (self.path.clone(), MIGRATIONS.len());
            return Err(StoreError::Newer { path, found: version, known });
        }
        let known = usize::try_from(version).unwrap_or(0);
        let foreign = schema::foreign(&self.connection, known).map_err(|source| self.failed(source))?;
        let altered = |what| StoreError::Altered { path: self.path.clone(), what };
        foreign.map_or(Ok(version), |what| Err(altered(what)))
    }

    fn identity(&self) -> rusqlite::Result<(i64, i64, i64)> {
        let one = |sql: &str| self.connection.query_row(sql, [], |row| row.get(0));
        Ok((one("PRAGMA application_id")?, one("PRAGMA user_version")?, one("SELECT COUNT(*) FROM sqlite_schema")?))
    }

    /// Whether tables and views are as this program wants them.
    fn is_current(&self) -> Result<bool, StoreError> {
        let current = || -> rusqlite::Result<bool> {
            let (_, version, _) = self.identity()?;
            Ok(version == VERSION && stale_views(&self.connection)?.is_empty())
        };
        current().map_err(|source| self.failed(source))
    }

    /// The connection, for reports.
    #[must_use]
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Schema version that the file had before it was brought up to date, if it was.
    #[must_use]
    pub fn migrated_from(&self) -> Option<i64> {
        (1..VERSION).contains(&self.found).then_some(self.found)
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Lets long statements be interrupted.
    pub(crate) fn heed(&mut self, stop: Stop) -> Result<(), StoreError> {
        self.patience.stop = stop.clone();
        let heeded = self.connection.progress_handler(STEPS_BETWEEN_LOOKS, Some(move || stop.is_set()));
        heeded.map_err(|source| self.failed(source))
    }

    /// Changes the database in one transaction. Waits for the lock, and for those who read.
    fn change<T, E: Into<Cause>>(&mut self, change: impl FnOnce(&Connection) -> Result<T, E>) -> Result<T, StoreError> {
        self.begin()?;
        let changed = change(&self.connection).map_err(|cause| self.failed(cause));
        let changed = changed.and_then(|changed| self.commit().map(|()| changed));
        self.end();
        changed
    }

    /// Starts a transaction; waits for the lock. From here to [`Self::end`], SQLite itself does not wait.
    fn begin(&self) -> Result<(), StoreError> {
        self.connection.busy_timeout(Duration::ZERO).map_err(|source| self.failed(source))?;
        self.wait(|| self.connection.execute_batch("BEGIN IMMEDIATE"))
    }

    /// Waits until nobody reads any more what is to be changed. The last moment at which somebody can ask to stop.
    fn commit(&self) -> Result<(), StoreError> {
        if self.patience.stop.is_set() {
            return Err(Stopped.into());
        }
        self.wait(|| self.connection.execute_batch("COMMIT"))
    }

    /// Takes back what has not been committed.
    fn end(&self) {
        if !self.connection.is_autocommit() {
            // Where even that fails, closing the connection undoes what is not committed.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        let _ = self.connection.busy_timeout(READING);
    }

    /// Does something as soon as other programs let it.
    fn wait<T>(&self, mut attempt: impl FnMut() -> rusqlite::Result<T>) -> Result<T, StoreError> {
        let done = self.patience.wait(&self.path, || unless_locked(attempt()));
        done.map_err(|source| self.failed(source))?.ok_or_else(|| locked(&self.path, &self.patience))
    }

    /// Removes the file if this program made it and nothing came of it.
    pub(crate) fn discard_if_new(self) {
        let Self { connection, path, created, claim, .. } = self;
        drop(connection);
        if claim.is_some() {
            return;
        }
        let empty = std::fs::metadata(&path).is_ok_and(|found| found.len() == 0);
        if created && empty {
            // Somebody else may have opened the file meanwhile: SQLite then finds it moved and says so before it writes.
            let _ = std::fs::remove_file(&path);
        }
    }

    /// Puts a new file in its place.
    fn publish(&mut self) -> Result<(), StoreError> {
        let Some(claim) = self.claim.take() else {
            return Ok(());
        };
        // SQLite keeps the name by which it has opened a file.
        let nothing = connection::open(Path::new(MEMORY), OpenFlags::SQLITE_OPEN_READ_WRITE);
        let published = nothing.map_err(Cause::from).and_then(|nothing| {
            drop(std::mem::replace(&mut self.connection, nothing));
            Ok(claim.publish()?)
        });
        published.map_err(|cause| self.failed(cause))?;
        self.reopen()
    }

    /// Forgets what SQLite knows of the file's pages.
    fn reopen(&mut self) -> Result<(), StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
        *self = Self::with_flags(&self.path, flags, self.created, self.patience.clone())?;
        Ok(())
    }

    /// Somebody else has written what no import writes.
    pub(crate) fn inconsistent(&self, what: impl Into<String>) -> StoreError {
        StoreError::Inconsistent { path: self.path.clone(), what: what.into() }
    }

    fn failed(&self, cause: impl Into<Cause>) -> StoreError {
        let path = self.path.clone();
        match cause.into() {
            Cause::Sqlite(source) => StoreError::Sqlite { path, source },
            Cause::File(source) => StoreError::File { path, source },
            Cause::NoRoom { needed, free } => StoreError::NoRoom { path, needed, free },
        }
    }
}

fn locked(path: &Path, patience: &Patience) -> StoreError {
    StoreError::Locked { path: path.to_owned(), waited: patience.limit }
}

/// SQLite would have to write, and cannot. A read-only connection says so, too, where it would have to roll back what an
/// interrupted program has left.
fn is_not_writable(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen))
}

/// Brings the tables and views of a file that may be large to what this program wants.
fn bring_up_to_date(transaction: &Connection) -> Result<(), Cause> {
    room::check(transaction)?;
    Ok(migrate(transaction)?)
}

/// Brings tables and views to what this program wants.
fn migrate(transaction: &Connection) -> rusqlite::Result<()> {
    let version: i64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let done = usize::try_from(version).unwrap_or(0);
    for migration in MIGRATIONS.iter().skip(done) {
        transaction.execute_batch(migration.sql)?;
    }
    if done < MIGRATIONS.len() {
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
    }
    for (name, sql) in stale_views(transaction)? {
        transaction.execute_batch(&format!("DROP VIEW IF EXISTS {name};"))?;
        transaction.execute_batch(sql)?;
    }
    Ok(())
}

/// Views that the file does not have, or has with another text.
fn stale_views(connection: &Connection) -> rusqlite::Result<Vec<(&'static str, &'static str)>> {
    let mut statement = connection.prepare("SELECT COUNT(*) FROM sqlite_schema WHERE type = 'view' AND sql = ?1")?;
    let mut stale = Vec::new();
    for (name, sql) in VIEWS {
        let stored = sql.trim_end().trim_end_matches(';');
        let found: i64 = statement.query_row([stored], |row| row.get(0))?;
        if found == 0 {
            stale.push((*name, *sql));
        }
    }
    Ok(stale)
}
