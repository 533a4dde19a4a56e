//! The database file: opening, schema, writing a run, reading what is known of runs. The only code
//! besides [`crate::report`] that says rusqlite.

mod check;
mod error;
mod file;
mod identity;
mod merge;
mod read;
mod restate;
mod schema;
mod sources;
mod texts;
mod walk;
mod write;

use std::cell::Cell;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

pub use check::Finding;
pub use error::StoreError;
pub(crate) use file::location::is_trusted;
pub use file::lock_wait::Patience;
pub use identity::RunMeta;
pub use merge::Merged;
pub use read::{MetricInfo, NoteInfo, RunInfo, RunState};
pub use walk::{EdgeRow, FunctionRow, LinePlace, LineRow, NodeRow, StackRow};
pub use write::{Outcome, RunWriter};

use crate::base::error::Stop;
use crate::source::Stopped;
use error::{Cause, failed};
use file::location::{Identity, Stamp, Way, log_beside, may_become_database};
use file::lock_wait::unless_locked;
use file::new_file::Claim;

/// Marks a file as ours (`PRAGMA application_id`): `PrDB`.
pub const APPLICATION_ID: i32 = 0x5072_4442;

/// What stands for the path of a database that no file holds.
const MEMORY: &str = ":memory:";

/// How often a file is opened that is replaced each time in that moment.
const ATTEMPTS: usize = 10;

/// How long a statement waits that only reads: nobody keeps readers out for longer than it takes to
/// end a change.
const READING: Duration = Duration::from_secs(10);

/// How many steps of the SQL machine pass between two looks at [`Stop`].
const STEPS_BETWEEN_LOOKS: i32 = 100_000;

/// A step from one version of the tables to the next.
struct Migration {
    sql: &'static str,
    kind: MigrationKind,
}

/// What a migration does to a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MigrationKind {
    /// It makes tables, columns or indexes, or writes small tables anew.
    Adds,
    /// It writes rows of large tables anew, which takes room.
    Rewrites,
    /// It only says anew what tables are: its `CREATE TABLE` statements replace the texts of these
    /// tables in the schema.
    Restates,
}

/// The tables, in the order in which they came to be: number = `PRAGMA user_version`. Append-only.
const MIGRATIONS: &[Migration] = &[
    Migration {
        sql: include_str!("../../migrations/0001_core.sql"),
        kind: MigrationKind::Adds,
    },
    Migration {
        sql: include_str!("../../migrations/0002_sources.sql"),
        kind: MigrationKind::Adds,
    },
    Migration {
        sql: include_str!("../../migrations/0003_small_rows.sql"),
        kind: MigrationKind::Rewrites,
    },
    Migration {
        sql: include_str!("../../migrations/0004_labels.sql"),
        kind: MigrationKind::Adds,
    },
    Migration {
        sql: include_str!("../../migrations/0005_total_source.sql"),
        kind: MigrationKind::Adds,
    },
    Migration {
        sql: include_str!("../../migrations/0006_foreign_keys.sql"),
        kind: MigrationKind::Restates,
    },
    Migration {
        sql: include_str!("../../migrations/0007_timer_readings.sql"),
        kind: MigrationKind::Adds,
    },
];

/// `PRAGMA user_version` of a file that has all of them.
#[expect(
    clippy::cast_possible_wrap,
    reason = "a list that somebody wrote by hand is short"
)]
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
    (
        "call_lines",
        include_str!("../../queries/views/call_lines.sql"),
    ),
    ("callees", include_str!("../../queries/views/callees.sql")),
    (
        "exclusive",
        include_str!("../../queries/views/exclusive.sql"),
    ),
    (
        "cumulative",
        include_str!("../../queries/views/cumulative.sql"),
    ),
    ("tree", include_str!("../../queries/views/tree.sql")),
    ("tags", include_str!("../../queries/views/tags.sql")),
    ("run_list", include_str!("../../queries/views/run_list.sql")),
    (
        "source_lines",
        include_str!("../../queries/views/source_lines.sql"),
    ),
];

/// Statements that find no row in a database that is consistent, by name.
pub const CHECKS: &[(&str, &str)] = &[
    (
        "nodes_in_runs",
        include_str!("../../queries/checks/nodes_in_runs.sql"),
    ),
    (
        "runs_complete",
        include_str!("../../queries/checks/runs_complete.sql"),
    ),
    (
        "intervals",
        include_str!("../../queries/checks/intervals.sql"),
    ),
    (
        "outer_nodes",
        include_str!("../../queries/checks/outer_nodes.sql"),
    ),
    (
        "line_nodes",
        include_str!("../../queries/checks/line_nodes.sql"),
    ),
    (
        "function_nodes",
        include_str!("../../queries/checks/function_nodes.sql"),
    ),
    (
        "function_totals",
        include_str!("../../queries/checks/function_totals.sql"),
    ),
    (
        "functions_listed",
        include_str!("../../queries/checks/functions_listed.sql"),
    ),
    (
        "line_totals",
        include_str!("../../queries/checks/line_totals.sql"),
    ),
    (
        "edge_totals",
        include_str!("../../queries/checks/edge_totals.sql"),
    ),
    (
        "metrics_listed",
        include_str!("../../queries/checks/metrics_listed.sql"),
    ),
    (
        "references",
        include_str!("../../queries/checks/references.sql"),
    ),
    ("sources", include_str!("../../queries/checks/sources.sql")),
    ("labels", include_str!("../../queries/checks/labels.sql")),
];

/// An open database.
#[derive(Debug)]
pub struct Database {
    connection: Connection,
    path: PathBuf,
    /// The file did not exist before.
    created: bool,
    /// Schema version that the file had; 0 if it was empty.
    found: i64,
    /// The file that is open, if there is one.
    identity: Option<Identity>,
    /// How it was before the change that is under way.
    stamp: Cell<Option<Stamp>>,
    /// The file is not in its place before the first run is in it.
    claim: Option<Claim>,
    patience: Patience,
}

/// Removes the file that a program has left which died while it made this database or imported into
/// it. Whoever is about to write to it calls this.
pub fn remove_abandoned(path: &Path) {
    let Ok(way) = Way::of(path) else { return };
    if let Some(place) = way.free.or_else(|| fs::canonicalize(path).ok()) {
        file::growing::remove_abandoned(&place);
    }
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
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
        let file = |source: io::Error| failed(path, source);
        let way = Way::of(path).map_err(file)?;
        let Some(place) = &way.free else {
            return Self::with_flags(path, flags, false, patience);
        };
        may_become_database(path, &way)?;
        if !cfg!(unix) {
            // Whatever comes there in between stays as it is.
            fs::OpenOptions::new()
                .write(true)
                .create_new(true)
                .open(place)
                .map_err(file)?;
            return Self::with_flags(path, flags, true, patience);
        }
        let claim = Claim::new(place.clone()).map_err(|cause| failed(path, cause))?;
        let opened = claim
            .open()
            .and_then(|connection| Ok((connection, claim.identity()?)));
        let (connection, identity) = opened.map_err(|cause| failed(path, cause))?;
        let growing = Self::identified(connection, path, Some(identity), true, patience)?;
        // It is synced as a whole.
        growing
            .connection
            .pragma_update(None, "synchronous", "OFF")
            .map_err(|source| growing.failed(source))?;
        Ok(Self {
            claim: Some(claim),
            ..growing
        })
    }

    /// Opens an existing file for reading only.
    ///
    /// A file that an interrupted program has left in the middle of a change, or whose schema is of
    /// an older version, is brought in order first, which needs the right to write.
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
        let read_only = || {
            Self::with_flags(
                path,
                OpenFlags::SQLITE_OPEN_READ_ONLY,
                false,
                patience.clone(),
            )
        };
        let stale = match read_only() {
            Ok(database) if database.is_current()? => return Ok(database),
            Ok(database) => Some(database),
            Err(StoreError::Sqlite { source, .. }) if is_not_writable(&source) => None,
            Err(error) => return Err(error),
        };
        match (Self::rewrite(path, patience), stale) {
            (Ok(found), _) => Ok(Self {
                found,
                ..read_only()?
            }),
            // Only views are of an older version: reports do without them.
            (Err(StoreError::Sqlite { source, .. }), Some(database))
                if is_not_writable(&source) =>
            {
                match database.found {
                    VERSION => Ok(database),
                    // A file without a byte.
                    0 => Err(database.failed(source)),
                    found => Err(StoreError::Older {
                        path: path.to_owned(),
                        found,
                        known: MIGRATIONS.len(),
                    }),
                }
            }
            (Err(StoreError::Sqlite { source, .. }), None) if is_not_writable(&source) => {
                Err(needs_recovery(path).unwrap_or(StoreError::Sqlite {
                    path: path.to_owned(),
                    source,
                }))
            }
            (Err(error), _) => Err(error),
        }
    }

    /// Rolls back what was interrupted, which reading with the right to write does, and migrates.
    /// Gives back the version that was found.
    fn rewrite(path: &Path, patience: &Patience) -> Result<i64, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
        let mut database = Self::with_flags(path, flags, false, patience.clone())?;
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
        let path = Path::new(MEMORY);
        let connection =
            file::connection::open_in_memory().map_err(|source| failed(path, source))?;
        let mut database = Self::identified(connection, path, None, false, Patience::default())?;
        database.change(migrate)?;
        Ok(database)
    }

    fn with_flags(
        path: &Path,
        flags: OpenFlags,
        created: bool,
        patience: Patience,
    ) -> Result<Self, StoreError> {
        if path.is_dir() {
            return Err(StoreError::Folder(path.to_owned()));
        }
        let file = |source: io::Error| failed(path, source);
        let about = fs::metadata(path).ok();
        // Opening a pipe would wait for somebody to write.
        if about.as_ref().is_some_and(|found| !found.is_file()) {
            return Err(StoreError::NoFile(path.to_owned()));
        }
        if about.is_some_and(|found| found.len() == 0) {
            may_become_database(path, &Way::of(path).map_err(file)?)?;
        }
        for _ in 0..ATTEMPTS {
            let before = Identity::at(path).map_err(file)?;
            let opened = file::connection::open(path, flags);
            let identity = Identity::at(path).map_err(file)?;
            let connection = match opened {
                Err(_) if before.is_some() && identity.is_none() => break,
                opened => opened.map_err(|cause| failed(path, cause))?,
            };
            // Which of the files that were there is open is known only if it is the one that is
            // there now.
            if let Some(own) = identity
                && (before == identity || own.times_open().is_some_and(|times| times > 0))
            {
                return Self::identified(connection, path, identity, created, patience);
            }
        }
        Err(StoreError::Replaced(path.to_owned()))
    }

    /// Looks at what has been opened.
    fn identified(
        connection: Connection,
        path: &Path,
        identity: Option<Identity>,
        created: bool,
        patience: Patience,
    ) -> Result<Self, StoreError> {
        let path = path.to_owned();
        let mut database = Self {
            connection,
            path,
            created,
            found: 0,
            identity,
            stamp: Cell::default(),
            claim: None,
            patience,
        };
        database.found = database.identify()?;
        Ok(database)
    }

    /// Gives back the schema version of a file that is ours, or empty.
    fn identify(&self) -> Result<i64, StoreError> {
        // Rolls back what an interrupted program has left, which others may be about to do, too.
        let (application, version, objects) = self.wait(|| {
            // The folder, too, is synced: else a loss of power may bring back a journal, and a run
            // that has been stored is undone. This reads the schema, so it may have to wait.
            self.connection
                .pragma_update(None, "synchronous", "EXTRA")?;
            self.identity()
        })?;
        self.connection
            .busy_timeout(READING)
            .map_err(|source| self.failed(source))?;
        if application != i64::from(APPLICATION_ID) && (application, version, objects) != (0, 0, 0)
        {
            return Err(StoreError::NotOurs(self.path.clone()));
        }
        if version > VERSION {
            let (path, known) = (self.path.clone(), MIGRATIONS.len());
            return Err(StoreError::Newer {
                path,
                found: version,
                known,
            });
        }
        let known = usize::try_from(version).unwrap_or(0);
        let foreign =
            schema::foreign(&self.connection, known).map_err(|source| self.failed(source))?;
        let altered = |what| StoreError::Altered {
            path: self.path.clone(),
            what,
        };
        foreign.map_or(Ok(version), |what| Err(altered(what)))
    }

    fn identity(&self) -> rusqlite::Result<(i64, i64, i64)> {
        let one = |sql: &str| self.connection.query_row(sql, [], |row| row.get(0));
        Ok((
            one("PRAGMA application_id")?,
            one("PRAGMA user_version")?,
            one("SELECT COUNT(*) FROM sqlite_schema")?,
        ))
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
        let heeded = self
            .connection
            .progress_handler(STEPS_BETWEEN_LOOKS, Some(move || stop.is_set()));
        heeded.map_err(|source| self.failed(source))
    }

    /// Changes the database in one transaction. Waits for the lock, and for those who read.
    fn change<T, E: Into<Cause>>(
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
    fn begin(&self) -> Result<(), StoreError> {
        self.connection
            .busy_timeout(Duration::ZERO)
            .map_err(|source| self.failed(source))?;
        self.wait(|| self.connection.execute_batch("BEGIN IMMEDIATE"))?;
        self.remember().inspect_err(|_| self.end())
    }

    /// Waits until nobody reads any more what is to be changed. The last moment at which somebody
    /// can ask to stop.
    fn commit(&self) -> Result<(), StoreError> {
        if self.patience.stop.is_set() {
            return Err(Stopped.into());
        }
        self.is_untouched()?;
        self.wait(|| self.connection.execute_batch("COMMIT"))?;
        self.is_in_place()
    }

    /// Takes back what has not been committed.
    fn end(&self) {
        if !self.connection.is_autocommit() {
            // Where even that fails, closing the connection undoes what is not committed.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        self.leave_no_log();
        let _ = self.connection.busy_timeout(READING);
    }

    /// Does something as soon as other programs let it.
    fn wait<T>(&self, mut attempt: impl FnMut() -> rusqlite::Result<T>) -> Result<T, StoreError> {
        let done = self.patience.wait(&self.path, || unless_locked(attempt()));
        done.map_err(|source| self.failed(source))?
            .ok_or_else(|| locked(&self.path, &self.patience))
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
            // Somebody else may have opened the file meanwhile: SQLite then finds it moved and says
            // so before it writes.
            let _ = fs::remove_file(&path);
        }
    }

    /// Somebody else has written what no import writes.
    pub(crate) fn inconsistent(&self, what: impl Into<String>) -> StoreError {
        StoreError::Inconsistent {
            path: self.path.clone(),
            what: what.into(),
        }
    }

    fn failed(&self, cause: impl Into<Cause>) -> StoreError {
        match cause.into() {
            // What SQLite says of it is a consequence.
            Cause::Sqlite(_) if self.is_elsewhere() => failed(&self.path, Cause::Replaced),
            cause => failed(&self.path, cause),
        }
    }
}

/// What is said of a file that cannot be read without being written to, if that is because of its
/// log.
fn needs_recovery(path: &Path) -> Option<StoreError> {
    let log = log_beside(&fs::canonicalize(path).ok()?).ok()??;
    log.is_file()
        .then(|| StoreError::NeedsRecovery(path.to_owned()))
}

fn locked(path: &Path, patience: &Patience) -> StoreError {
    StoreError::Locked {
        path: path.to_owned(),
        waited: patience.limit,
    }
}

/// SQLite would have to write, and cannot. A read-only connection says so, too, where it would have
/// to roll back what an interrupted program has left.
fn is_not_writable(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen)
    )
}

/// Brings the tables and views of a file that may be large to what this program wants.
fn bring_up_to_date(transaction: &Connection) -> Result<(), Cause> {
    file::disk_space::check(transaction)?;
    migrate(transaction)
}

/// Brings tables and views to what this program wants.
fn migrate(transaction: &Connection) -> Result<(), Cause> {
    let version: i64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let done = usize::try_from(version).unwrap_or(0);
    if done < MIGRATIONS.len()
        && let Some(what) = schema::foreign(transaction, done)?
    {
        // Another program may have changed it since it was opened, without the lock.
        return Err(Cause::Altered(what));
    }
    for step in done..MIGRATIONS.len() {
        apply(transaction, step)?;
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

/// Takes one step from a version to the next.
fn apply(transaction: &Connection, version: usize) -> Result<(), Cause> {
    let Migration { sql, kind } = &MIGRATIONS[version];
    match kind {
        MigrationKind::Adds | MigrationKind::Rewrites => Ok(transaction.execute_batch(sql)?),
        MigrationKind::Restates => restate::restate(transaction, version),
    }
}

/// Views that the file does not have, or has with another text.
fn stale_views(connection: &Connection) -> rusqlite::Result<Vec<(&'static str, &'static str)>> {
    let mut statement = connection
        .prepare("SELECT COUNT(*) FROM sqlite_schema WHERE type = 'view' AND sql = ?1")?;
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
