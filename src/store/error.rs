//! Why a database could not do what was asked.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{ErrorCode, ffi};

use super::file::lock_wait::READING;
use super::file::open_files::too_few_files;
use super::schema::{SCHEMA, VERSION};
use crate::identity::Refused;
use crate::source::Stopped;
use crate::text::shell::quoted;

/// The database where none is named, and what it is called.
pub const DEFAULT_DATABASE: &str = "profdb.db";

/// `EMFILE`: the program has as many files open as it may.
const TOO_MANY_FILES: i32 = 24;

/// Why the database could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no such file.
    #[error("the database {} does not exist; `profdb import {}FILE` creates it", .0.display(), flag(.0))]
    Missing(PathBuf),
    /// The file has no byte, or no table.
    #[error("{} is empty; `profdb import {}FILE` creates a database in it", .0.display(), flag(.0))]
    Empty(PathBuf),
    /// The file is a folder.
    #[error("{} is a directory, not a database", .0.display())]
    Folder(PathBuf),
    /// The file is a pipe, a device or the like.
    #[error("{} is not a file that can hold a database", .0.display())]
    NoFile(PathBuf),
    /// The file needs a repair that cannot be made.
    #[error("{}: an interrupted change must be rolled back first, which needs write permission", .0.display())]
    NeedsRecovery(PathBuf),
    /// Another file has come in its place, or none, or other content.
    #[error(
        "{}: another process replaced, moved or overwrote the database while it was open; the change is not in the \
         present file, so run the command again", .0.display()
    )]
    Replaced(PathBuf),
    /// A rule of the database cannot be used.
    #[error("{}: {source}", .path.display())]
    Rules {
        /// The database.
        path: PathBuf,
        /// Which, and why.
        source: Refused,
    },
    /// There is no database, and what SQLite would take for a part of the new one.
    #[error(
        "{}: {} was left by another database, and SQLite would take it for a part of this one; restore that database, \
         or remove the file", .path.display(), .log.display()
    )]
    Leftover {
        /// The file that is not there, or has no byte.
        path: PathBuf,
        /// What is there.
        log: PathBuf,
    },
    /// There is no database, and the name is a link of another user.
    #[error(
        "{}: expected a file, found {}, a symbolic link of another user without a database at its target; remove it, \
         or use the path of the target", .path.display(), .link.display()
    )]
    StrangersLink {
        /// The name that was given.
        path: PathBuf,
        /// The link.
        link: PathBuf,
    },
    /// The system does not let this program open as many files as that takes.
    #[error("{}: the limit of {limit} open files is too low (`ulimit -n`)", .path.display())]
    TooFewFiles {
        /// The file.
        path: PathBuf,
        /// How many.
        limit: u64,
    },
    /// The file is a database of something else.
    #[error("{} is not a profdb database", .0.display())]
    NotOurs(PathBuf),
    /// The file has a schema version after the latest one.
    #[error("{} has schema version {found}, this profdb reads versions up to {VERSION}; use a newer profdb", .path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
    },
    /// The file has a schema version before the first one.
    #[error(
        "{} has schema version {found}, this profdb reads versions from {} on; import the profiles again into a new database",
        .path.display(), SCHEMA.first_version
    )]
    Older {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
    },
    /// The disk is too full for the file to be compacted.
    #[error(
        "{}: compacting needs up to {} MiB of disk space, and {} MiB are free", .path.display(),
        .needed.div_ceil(MEBIBYTE), .free / MEBIBYTE
    )]
    NoRoomToCompact {
        /// The file.
        path: PathBuf,
        /// Bytes that may be needed.
        needed: u64,
        /// Bytes that there are.
        free: u64,
    },
    /// The schema of the file has been changed by another program.
    #[error("{} differs from the schema of profdb: {what}", .path.display())]
    Altered {
        /// The file.
        path: PathBuf,
        /// What is other than it should be.
        what: String,
    },
    /// The tables contradict each other.
    #[error("{}: {what}: the tables contradict each other; `profdb check` locates the fault", .path.display())]
    Inconsistent {
        /// The file.
        path: PathBuf,
        /// What cannot be.
        what: String,
    },
    /// The file has tables or views of another version of profdb, and may not be changed.
    #[error("{}: its views differ from those of this profdb; `profdb runs --db {}` replaces them", .path.display(), word(.path))]
    NotCurrent {
        /// The file.
        path: PathBuf,
    },
    /// What the file says contradicts itself.
    #[error("{}: its checks fail ({findings}); see `profdb check --db {}`", .path.display(), word(.path))]
    Unsound {
        /// The file.
        path: PathBuf,
        /// How many checks found something.
        findings: usize,
    },
    /// The folder for temporary files has no room, or none may be made there.
    #[error("{0}; set TMPDIR to another directory for temporary files")]
    TemporaryFolder(Box<Self>),
    /// The user has asked to stop.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// The file has a log (WAL), for which a file beside it is needed even to read it, and this user can make none there.
    #[error(
        "{}: it is in WAL mode, where reading needs to write a file beside it, and that is not permitted here; copy \
         the database, or let its owner run `sqlite3 {} 'PRAGMA journal_mode=DELETE'`", .0.display(), word(.0)
    )]
    NeedsLog(PathBuf),
    /// Another program has had a lock on the file for too long.
    #[error("{}: another program has locked the database for {}", .path.display(), seconds(.waited))]
    Locked {
        /// The file.
        path: PathBuf,
        /// How long it has been waited for.
        waited: Duration,
    },
    /// SQLite could not go on.
    #[error("{}: {}", .path.display(), describe(.path, .source))]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: rusqlite::Error,
    },
    /// The file could not be made.
    #[error("{}: {}", .path.display(), describe_io(.path, .source))]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

impl StoreError {
    /// Whether another program has made the file that was to be made: it is there now, and can be
    /// imported into.
    pub(crate) fn is_there_by_now(&self) -> bool {
        matches!(self, Self::File { source, .. } if source.kind() == io::ErrorKind::AlreadyExists)
    }

    /// What is said of a temporary file: where its folder is to blame, that there may be another.
    pub(super) fn of_temporary_file(self) -> Self {
        let is_of_folder = match &self {
            Self::File { .. } => true,
            Self::Sqlite { source, .. } => matches!(
                source.sqlite_error_code(),
                Some(
                    ErrorCode::DiskFull
                        | ErrorCode::SystemIoFailure
                        | ErrorCode::CannotOpen
                        // Where SQLite cannot open a file for writing, it opens it for reading.
                        | ErrorCode::ReadOnly
                )
            ),
            _ => false,
        };
        if is_of_folder {
            Self::TemporaryFolder(Box::new(self))
        } else {
            self
        }
    }

    /// Whether a statement makes a text or a blob that is longer than any may be.
    #[cfg(feature = "serve")]
    pub(crate) fn is_value_too_large(&self) -> bool {
        let Self::Sqlite { source, .. } = self else {
            return false;
        };
        source.sqlite_error_code() == Some(ErrorCode::TooBig)
    }

    /// What SQLite says where a statement itself is wrong, or does what it may not do, which may be seen only while it runs.
    #[cfg(feature = "serve")]
    pub(crate) fn fault_of_statement(&self) -> Option<&str> {
        let Self::Sqlite { source, .. } = self else {
            return None;
        };
        match source {
            rusqlite::Error::SqliteFailure(error, Some(message))
                if matches!(
                    error.code,
                    ErrorCode::Unknown | ErrorCode::AuthorizationForStatementDenied
                ) =>
            {
                Some(message)
            }
            _ => None,
        }
    }

    /// Returns true if SQLite does not recognize the file as a database.
    pub(crate) fn is_not_a_database(&self) -> bool {
        let Self::Sqlite { source, .. } = self else {
            return false;
        };
        source.sqlite_error_code() == Some(ErrorCode::NotADatabase)
    }

    /// Whether the file is a database, or was one, and is not as it should be.
    pub(crate) fn is_damage(&self) -> bool {
        match self {
            Self::Altered { .. } | Self::Inconsistent { .. } => true,
            Self::Sqlite { source, .. } => {
                let code = source.sqlite_error_code();
                matches!(
                    code,
                    Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
                ) || is_wrong_value(source)
            }
            _ => false,
        }
    }
}

/// Why something could not be done; [`failed`] says of which file.
#[derive(Debug)]
pub(super) enum Cause {
    Sqlite(rusqlite::Error),
    File(io::Error),
    NoRoomToCompact {
        needed: u64,
        free: u64,
    },
    /// The schema is not what it has to be, in words.
    Altered(String),
    Replaced,
    /// A rule that identities are made by.
    Rules(Refused),
    Leftover(PathBuf),
    StrangersLink(PathBuf),
}

impl From<rusqlite::Error> for Cause {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<Refused> for Cause {
    fn from(refused: Refused) -> Self {
        Self::Rules(refused)
    }
}

impl From<io::Error> for Cause {
    fn from(error: io::Error) -> Self {
        Self::File(error)
    }
}

/// An error of SQLite, in words for users who do not know SQLite.
fn describe(path: &Path, error: &rusqlite::Error) -> String {
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => "not a database; `profdb report FILE` reads a profile, and `profdb import FILE` stores it"
                .to_owned(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            format!(
                "another program has locked the database for {}",
                seconds(&READING)
            )
        }
        Some(ErrorCode::DiskFull) => FULL.to_owned(),
        // The shared memory of a log (WAL) is a file, which has no room to grow.
        _ if is_extended(error, ffi::SQLITE_IOERR_SHMSIZE) => FULL.to_owned(),
        Some(ErrorCode::ReadOnly) => with_reason("the database cannot be written", path),
        Some(ErrorCode::CannotOpen) => "the database cannot be opened".to_owned(),
        Some(ErrorCode::DatabaseCorrupt) => format!("the database is damaged ({error})"),
        None if matches!(error, rusqlite::Error::Utf8Error(..)) => {
            "the database is damaged (a text is not UTF-8); `profdb check` locates it".to_owned()
        }
        None if is_wrong_value(error) => {
            format!("the database is damaged ({error}); `profdb check` locates it")
        }
        _ => error.to_string(),
    }
}

/// The name of a database as a shell has to be given it.
fn word(path: &Path) -> String {
    quoted(&path.display().to_string(), None)
}

/// The flag that names a database, with a blank, where it is not the one that commands look for anyway.
fn flag(path: &Path) -> String {
    if path == Path::new(DEFAULT_DATABASE) {
        String::new()
    } else {
        format!("--db {} ", word(path))
    }
}

/// A time as it is said.
fn seconds(time: &Duration) -> String {
    match time.as_secs() {
        1 => "1 second".to_owned(),
        seconds => format!("{seconds} seconds"),
    }
}

fn is_extended(error: &rusqlite::Error, code: i32) -> bool {
    error
        .sqlite_error()
        .is_some_and(|error| error.extended_code == code)
}

/// Whether a value is of another type than its column, or a text is not UTF-8.
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

/// An error of the system, in words for users.
fn describe_io(path: &Path, error: &io::Error) -> String {
    match error.kind() {
        // Who may not read it has been told enough.
        io::ErrorKind::PermissionDenied if not_permitted(path).is_none() => {
            with_reason(&error.to_string(), path)
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => FULL.to_owned(),
        io::ErrorKind::AlreadyExists => "another program created this file meanwhile".to_owned(),
        _ => error.to_string(),
    }
}

const FULL: &str = "the disk is full";

const MEBIBYTE: u64 = 1 << 20;

/// The error for a cause, said of a file.
pub(super) fn failed(path: &Path, cause: impl Into<Cause>) -> StoreError {
    let path = path.to_owned();
    match cause.into() {
        Cause::Sqlite(source) if is_extended(&source, ffi::SQLITE_READONLY_DBMOVED) => {
            StoreError::Replaced(path)
        }
        // SQLite says only that it cannot open the file; how many files this program has open says
        // why.
        Cause::Sqlite(source) if source.sqlite_error_code() == Some(ErrorCode::CannotOpen) => {
            match (too_few_files(), not_permitted(&path)) {
                (Some(limit), _) => StoreError::TooFewFiles { path, limit },
                (None, Some(source)) => StoreError::File { path, source },
                (None, None) => StoreError::Sqlite { path, source },
            }
        }
        Cause::Sqlite(source) => StoreError::Sqlite { path, source },
        Cause::File(source) => match (source.raw_os_error(), too_few_files()) {
            (Some(TOO_MANY_FILES), Some(limit)) => StoreError::TooFewFiles { path, limit },
            _ => StoreError::File { path, source },
        },
        Cause::NoRoomToCompact { needed, free } => {
            StoreError::NoRoomToCompact { path, needed, free }
        }
        Cause::Altered(what) => StoreError::Altered { path, what },
        Cause::Replaced => StoreError::Replaced(path),
        Cause::Rules(source) => StoreError::Rules { path, source },
        Cause::Leftover(log) => StoreError::Leftover {
            log: shown(&path, log),
            path,
        },
        Cause::StrangersLink(link) => StoreError::StrangersLink {
            link: shown(&path, link),
            path,
        },
    }
}

/// Why this user may not read a file, if that is so. It is not opened for that: where a file is closed,
/// all locks go that this program has on it.
fn not_permitted(path: &Path) -> Option<io::Error> {
    #[cfg(unix)]
    {
        let asked = rustix::fs::access(path, rustix::fs::Access::READ_OK);
        let refused = asked.err().map(io::Error::from);
        refused.filter(|error| error.kind() == io::ErrorKind::PermissionDenied)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}

/// What was to be written and cannot be, with the reason if it is one of the rights of this user.
fn with_reason(what: &str, path: &Path) -> String {
    match why_not_written(path) {
        Some(reason) => format!("{what}: {reason}"),
        None => what.to_owned(),
    }
}

/// Why this user cannot write to a database, or make one, if the system says so. A file that may be written is of no use
/// where its folder may not: there the journal is made.
fn why_not_written(path: &Path) -> Option<String> {
    #[cfg(unix)]
    {
        use rustix::fs::{Access, access};
        use rustix::io::Errno;
        let is_read_only = || Some("the file system is read-only".to_owned());
        match access(path, Access::WRITE_OK) {
            Err(Errno::ROFS) => return is_read_only(),
            Err(Errno::ACCESS | Errno::PERM) if path.exists() => {
                return Some("no permission to change the file".to_owned());
            }
            _ => {}
        }
        // SQLite makes its journal where a link leads to.
        let place = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let folder = place.parent()?;
        let folder = if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        };
        let folder = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        match access(&folder, Access::WRITE_OK) {
            Err(Errno::ROFS) => is_read_only(),
            Err(Errno::ACCESS | Errno::PERM) => Some(format!(
                "no permission to create files in its directory, {}",
                folder.display()
            )),
            _ => None,
        }
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}

/// How a file beside a database is called by a user who calls the database `path`: in the folder of
/// that path, unless a link leads to another one.
fn shown(path: &Path, found: PathBuf) -> PathBuf {
    let is_of_it = |name: &OsStr| {
        let own = path.file_name().unwrap_or_default().as_encoded_bytes();
        name.as_encoded_bytes().starts_with(own)
    };
    match found.file_name() {
        Some(name) if is_of_it(name) => path.with_file_name(name),
        _ => found,
    }
}
