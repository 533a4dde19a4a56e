//! A new database: it grows in a temporary file beside its place, and gets its name when it is
//! whole.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::empty::empty_database;
use super::growing::Growing;
use super::identity::Identity;
use super::location::{DatabasePlace, is_trusted};
use super::logs::{log_beside, log_of_another_beside, log_of_nothing};
use crate::store::error::Cause;

/// A temporary file that is to become a database. Dropped, it is removed.
#[derive(Debug)]
pub(in crate::store) struct Claim {
    growing: Growing,
    place: PathBuf,
}

impl Claim {
    /// Makes a file with empty tables for a place where there is no file, in a folder whose path
    /// has no links.
    pub(in crate::store) fn new(place: PathBuf) -> Result<Self, Cause> {
        let growing = Growing::beside(&place, empty_database()?)?;
        Ok(Self { growing, place })
    }

    /// Opens it for SQL. Until it is in its place, it need not survive a crash.
    pub(in crate::store) fn open(&self) -> Result<Connection, Cause> {
        let connection = self.growing.open()?;
        // A journal on the disk would be one more file that a killed program leaves. With OFF there
        // is no ROLLBACK.
        connection.pragma_update(None, "journal_mode", "MEMORY")?;
        Ok(connection)
    }

    /// Where it will be.
    pub(in crate::store) fn place(&self) -> &Path {
        &self.place
    }

    /// Which file it is.
    pub(in crate::store) fn identity(&self) -> io::Result<Identity> {
        self.growing.identity()
    }

    /// The file that grows; the lock stays with the claim.
    pub(in crate::store) fn file(&self) -> io::Result<File> {
        self.growing.file()
    }

    /// Puts the database in its place, safe from a loss of power. The caller sees to it that no one
    /// else writes to it meanwhile.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] when another program has put a file there meanwhile, which
    /// stays as it is; [`Cause::Leftover`] when there is a file that SQLite would take for its log.
    pub(in crate::store) fn publish(&self) -> Result<(), Cause> {
        let refuse = |found: Option<PathBuf>| found.map_or(Ok(()), |log| Err(Cause::Leftover(log)));
        let name = self.place.file_name().unwrap_or_default();
        // What is there before the file has its name is another database's: SQLite would replay it
        // into this one.
        refuse(log_of_nothing(&self.place)?)?;
        self.growing.name(name)?;
        // Once more: from now on, a log there can only be the database's own.
        if let Err(cause) = log_beside(&self.place)
            .map_err(Cause::from)
            .and_then(refuse)
        {
            self.growing.remove(name);
            return Err(cause);
        }
        // Whoever may change the folder may have put another file there since.
        if !self.growing.is_at(name) {
            return Err(Cause::Replaced);
        }
        Ok(self.growing.sync_folder()?)
    }
}

/// Fails unless a name that leads to no file, or to one without a byte, may become a database:
/// SQLite would take what lies beside it for the log of the new one, and a stranger's link leads to
/// where the stranger wants a file to be.
pub(in crate::store) fn may_become_database(
    path: &Path,
    place: &DatabasePlace,
) -> Result<(), Cause> {
    if let Some(link) = &place.strangers_link {
        return Err(Cause::StrangersLink(link.clone()));
    }
    let log = match &place.free {
        Some(free) => log_of_nothing(free)?,
        None => log_of_empty_file(path)?,
    };
    log.map_or(Ok(()), |log| Err(Cause::Leftover(log)))
}

/// What SQLite would take for the log of a file without a byte.
///
/// # Errors
/// When the file is of another user.
fn log_of_empty_file(path: &Path) -> io::Result<Option<PathBuf>> {
    let place = fs::canonicalize(path)?;
    if fs::metadata(&place).is_ok_and(|about| about.len() == 0 && !is_trusted(&about)) {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "the file is empty and belongs to another user",
        ));
    }
    let found = log_of_another_beside(&place)?;
    // Another program may have filled the file meanwhile, and have a log of its own now.
    Ok(found.filter(|_| fs::metadata(&place).is_ok_and(|about| about.len() == 0)))
}
