//! Where a database is: the file that its name leads to, what SQLite would take for its logs, and
//! whether the file that is open is still the one that has the name.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rusqlite::OpenFlags;

use crate::store::{Cause, Database, StoreError, failed};

/// What SQLite adds to the name of a database for its journal, its log, and the memory that goes
/// with that.
const LOGS: [&str; 3] = ["-journal", "-wal", "-shm"];

/// Symbolic links that one name may lead through, as in Linux.
const MAX_LINKS: usize = 40;

/// What a journal begins with, and where it has the number of pages that the database had before
/// the change (SQLite, "Database File Format", section 3).
const JOURNAL: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
const PAGES_BEFORE: usize = 16;

/// Where it has the number of its own pages.
const JOURNAL_PAGES: usize = 8;

/// Which file it is, whatever names it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) struct Identity {
    device: u64,
    number: u64,
}

impl Identity {
    #[cfg(unix)]
    pub(in crate::store) fn of(about: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self {
            device: about.dev(),
            number: about.ino(),
        }
    }

    /// Other systems do not let a file be replaced that is open.
    #[cfg(not(unix))]
    pub(in crate::store) fn of(_: &Metadata) -> Self {
        Self {
            device: 0,
            number: 0,
        }
    }

    /// The file that a path leads to, by whatever links; `None` if there is none.
    pub(in crate::store) fn at(path: &Path) -> io::Result<Option<Self>> {
        match fs::metadata(path) {
            Ok(about) => Ok(Some(Self::of(&about))),
            Err(error) if is_absence(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// How often this program has it open; `None` where the system does not tell.
    pub(in crate::store) fn times_open(self) -> Option<usize> {
        let descriptors = fs::read_dir("/proc/self/fd").ok()?.flatten();
        let is_it = |path: PathBuf| fs::metadata(path).is_ok_and(|about| Self::of(&about) == self);
        Some(
            descriptors
                .filter(|descriptor| is_it(descriptor.path()))
                .count(),
        )
    }
}

/// How a file was when the right to change it was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) struct Stamp {
    bytes: u64,
    modified: SystemTime,
}

impl Stamp {
    fn of(path: &Path) -> io::Result<Self> {
        let about = fs::metadata(path)?;
        Ok(Self {
            bytes: about.len(),
            modified: about.modified()?,
        })
    }
}

fn is_absence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// What a name leads to, link by link.
pub(in crate::store) struct Way {
    /// A symbolic link on the way that another user has made.
    pub(in crate::store) strangers_link: Option<PathBuf>,
    /// Where a file would be made if there is none: a name in a folder that no link leads to.
    pub(in crate::store) free: Option<PathBuf>,
}

impl Way {
    /// Follows a name to its end.
    pub(in crate::store) fn of(path: &Path) -> io::Result<Self> {
        let mut at = std::path::absolute(path)?;
        let mut strangers_link = None;
        for _ in 0..MAX_LINKS {
            let about = match fs::symlink_metadata(&at) {
                Ok(about) => about,
                Err(error) if is_absence(&error) => {
                    let free = Some(in_its_folder(&at, path)?);
                    return Ok(Self {
                        strangers_link,
                        free,
                    });
                }
                Err(error) => return Err(error),
            };
            if !about.is_symlink() {
                return Ok(Self {
                    strangers_link,
                    free: None,
                });
            }
            if !is_trusted(&about) {
                strangers_link.get_or_insert_with(|| at.clone());
            }
            let target = fs::read_link(&at)?;
            at = at.parent().unwrap_or(Path::new("/")).join(target);
        }
        Err(io::Error::other(
            "expected a file, found symbolic links that go in circles",
        ))
    }
}

/// The same name, in its folder as it is without links.
fn in_its_folder(at: &Path, shown: &Path) -> io::Result<PathBuf> {
    let (Some(folder), Some(name)) = (at.parent(), at.file_name()) else {
        return Err(io::Error::other("expected the name of a file"));
    };
    let folder = fs::canonicalize(folder).map_err(|error| {
        if !is_absence(&error) {
            return error;
        }
        let shown = shown
            .parent()
            .filter(|_| fs::symlink_metadata(shown).is_err())
            .unwrap_or(folder);
        io::Error::new(
            error.kind(),
            format!("there is no folder {}", shown.display()),
        )
    })?;
    Ok(folder.join(name))
}

/// Whether a link, or a file, is of this user or of root.
#[cfg(unix)]
pub(crate) fn is_trusted(link: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    link.uid() == 0 || link.uid() == rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
pub(crate) fn is_trusted(_: &Metadata) -> bool {
    true
}

/// Fails unless a name that leads to no file, or to one without a byte, may become a database:
/// SQLite would take what lies beside it for the log of the new one, and a stranger's link leads to
/// where the stranger wants a file to be.
pub(in crate::store) fn may_become_database(path: &Path, way: &Way) -> Result<(), StoreError> {
    if let Some(link) = &way.strangers_link {
        return Err(failed(path, Cause::StrangersLink(link.clone())));
    }
    let found = || -> io::Result<Option<PathBuf>> {
        if let Some(place) = &way.free {
            return log_of_nothing(place);
        }
        let place = fs::canonicalize(path)?;
        if fs::metadata(&place).is_ok_and(|about| about.len() == 0 && !is_trusted(&about)) {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "this is an empty file of another user",
            ));
        }
        let found = log_of_another_beside(&place)?;
        // Another program may have filled the file meanwhile, and have a log of its own now.
        Ok(found.filter(|_| fs::metadata(&place).is_ok_and(|about| about.len() == 0)))
    };
    let found = found().map_err(|source| failed(path, source))?;
    found.map_or(Ok(()), |log| Err(failed(path, Cause::Leftover(log))))
}

/// How a file beside a database is called by who calls the database `path`: the same way, unless a
/// link leads elsewhere.
pub(in crate::store) fn shown(path: &Path, found: PathBuf) -> PathBuf {
    let is_of_it = |name: &OsStr| {
        let own = path.file_name().unwrap_or_default().as_encoded_bytes();
        name.as_encoded_bytes().starts_with(own)
    };
    match found.file_name() {
        Some(name) if is_of_it(name) => path.with_file_name(name),
        _ => found,
    }
}

/// What has the name of a log of a file that is not there. Another program may make the file at any
/// time, and have a log.
pub(in crate::store) fn log_of_nothing(place: &Path) -> io::Result<Option<PathBuf>> {
    Ok(log_beside(place)?.filter(|_| fs::symlink_metadata(place).is_err()))
}

/// What has the name of a log of a file.
pub(in crate::store) fn log_beside(place: &Path) -> io::Result<Option<PathBuf>> {
    for log in logs(place) {
        match fs::symlink_metadata(&log) {
            Ok(_) => return Ok(Some(log)),
            Err(error) if is_absence(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// The same for a file without a byte, which may have a journal: that of a first change which has
/// been interrupted.
fn log_of_another_beside(place: &Path) -> io::Result<Option<PathBuf>> {
    let [journal, ..] = logs(place);
    let found = log_beside(place)?;
    if found.as_ref() != Some(&journal) || !is_journal_of_nothing(&journal)? {
        return Ok(found);
    }
    let others = logs(place).into_iter().skip(1);
    Ok(others
        .into_iter()
        .find(|log| fs::symlink_metadata(log).is_ok()))
}

fn logs(place: &Path) -> [PathBuf; 3] {
    LOGS.map(|added| {
        let mut name = place.file_name().unwrap_or_default().to_owned();
        name.push(added);
        place.with_file_name(name)
    })
}

/// Whether a journal has no page of a database.
fn is_journal_of_nothing(journal: &Path) -> io::Result<bool> {
    if !fs::symlink_metadata(journal)?.is_file() {
        return Ok(false);
    }
    let mut head = Vec::new();
    File::open(journal)?
        .take(PAGES_BEFORE as u64 + 4)
        .read_to_end(&mut head)?;
    let is_of_no_page = head.starts_with(&JOURNAL) && head.get(PAGES_BEFORE..) == Some(&[0; 4]);
    // A journal that is over and has been kept begins with zeros.
    Ok(is_of_no_page || head.first().is_none_or(|first| *first == 0))
}

/// Whether SQLite has begun to write to a database with a journal: before that it syncs the
/// journal, whose header then says how many pages it has.
fn is_written_to(place: &Path) -> io::Result<bool> {
    let [journal, ..] = logs(place);
    let mut head = Vec::new();
    match File::open(journal) {
        Ok(file) => file.take(JOURNAL_PAGES as u64 + 4).read_to_end(&mut head)?,
        Err(error) if is_absence(&error) => return Ok(false),
        Err(error) => return Err(error),
    };
    Ok(head.starts_with(&JOURNAL) && head.get(JOURNAL_PAGES..) != Some(&[0; 4]))
}

/// The most files that the system lets this program open, if that is why a database cannot be
/// opened.
#[cfg(unix)]
pub(in crate::store) fn too_few_files() -> Option<u64> {
    use rustix::process::{Resource, getrlimit};
    /// A database with its journal, or its log and the memory of that, its folder, and one to look
    /// at the others.
    const NEEDED: u64 = 5;
    let limit = getrlimit(Resource::Nofile).current?;
    let open = fs::read_dir("/proc/self/fd").map(|open| open.count() as u64);
    open.map_or(true, |open| open + NEEDED > limit)
        .then_some(limit)
}

#[cfg(not(unix))]
pub(in crate::store) fn too_few_files() -> Option<u64> {
    None
}

impl Database {
    /// Fails unless the name of the database leads to the file that is open.
    ///
    /// # Errors
    /// When somebody has put another file there since, or taken this one away.
    pub(crate) fn is_in_place(&self) -> Result<(), StoreError> {
        if self.is_elsewhere() {
            Err(self.failed(Cause::Replaced))
        } else {
            Ok(())
        }
    }

    /// Whether the name leads to another file than the one that is open, or nowhere, as far as the
    /// system says.
    pub(in crate::store) fn is_elsewhere(&self) -> bool {
        let (Some(own), None) = (self.identity, &self.claim) else {
            return false;
        };
        Identity::at(&self.path).map_or(true, |found| found != Some(own))
    }

    /// Remembers how the file is, now that nobody else may change it. With a log, others may bring
    /// it up to date.
    pub(in crate::store) fn remember(&self) -> Result<(), StoreError> {
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

    /// Fails if somebody who asks for no lock has written over the file, as `cp` does, as far as
    /// that can be seen: before SQLite itself writes to it.
    pub(in crate::store) fn is_untouched(&self) -> Result<(), StoreError> {
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

    /// Sees to it that the log of a file which is elsewhere now is not taken for that of the one in
    /// its place: what has been committed goes from the log into its own file.
    pub(in crate::store) fn leave_no_log(&self) {
        if self.is_elsewhere() {
            // Whoever reads the file that was there before may be in the way, and cannot be asked
            // to go.
            let _ = self
                .connection
                .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        }
    }

    /// Puts a new file in its place.
    ///
    /// # Errors
    /// [`StoreError::is_there_by_now`] if somebody else has put a file there meanwhile: both are as
    /// they were.
    pub(in crate::store) fn publish(&mut self) -> Result<(), StoreError> {
        let Some(claim) = self.claim.take() else {
            return Ok(());
        };
        // Until the names of its logs have been looked at once more, nobody else makes one.
        let begun = self.wait(|| self.connection.execute_batch("BEGIN EXCLUSIVE"));
        let published = begun.and_then(|()| claim.publish().map_err(|cause| self.failed(cause)));
        match published {
            // Whoever closes a file takes the locks from all that have it open in the same program:
            // nobody else has one yet.
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
        *self = opened;
        Ok(())
    }

    /// Forgets what SQLite knows of the file's pages.
    pub(in crate::store) fn reopen(&mut self) -> Result<(), StoreError> {
        // Who opens another file opens it with what is taken for its log.
        self.is_in_place()?;
        let opened = self.reopened()?;
        if opened.identity != self.identity {
            return Err(self.failed(Cause::Replaced));
        }
        *self = opened;
        Ok(())
    }

    fn reopened(&self) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
        Self::with_flags(&self.path, flags, self.created, self.patience.clone())
    }
}
