//! Temporary files beside a database. Their names are random, so that no other user can put a file
//! there first; a file is always new, and is locked before others can see it. A program that dies
//! leaves its file, and the lock goes with the program; the next import there removes the file.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use super::connection;
use super::identity::Identity;
use crate::base::ending::Change;
use crate::store::error::Cause;
use crate::store::schema::APPLICATION_ID;
use profdb_sqlite_pages::header;

/// How such a name ends; it begins with a full stop and the name of the database.
const SUFFIX: &str = ".importing";

/// Random letters and digits before that.
const RANDOM: usize = 12;

/// Bytes of the database's name that it has at most: systems allow 255 in all.
#[cfg(unix)]
const MOST_OF_NAME: usize = 200;

/// Who may open a new file, by its mode.
#[derive(Clone, Copy)]
enum Readers {
    /// Everybody but those whom `umask` excludes.
    AsUmaskSays,
    /// Its owner.
    Owner,
}

/// A temporary file. Dropped, it loses its name.
#[derive(Debug)]
pub(in crate::store) struct Growing {
    folder: File,
    path: PathBuf,
    file: File,
    /// Ends after the name is gone.
    _change: Change,
}

impl Growing {
    /// Makes a file beside `place`, whose path has no links. The file has its content before it has
    /// a name.
    pub(in crate::store) fn beside(place: &Path, content: &[u8]) -> io::Result<Self> {
        Self::new(place, content, Readers::AsUmaskSays)
    }

    /// Makes an empty file beside `place`, as [`Self::beside`] does, which no other user can open: it
    /// is to lose its name soon, and stays what only this program knows.
    pub(in crate::store) fn private(place: &Path) -> io::Result<Self> {
        Self::new(place, &[], Readers::Owner)
    }

    fn new(place: &Path, content: &[u8], readers: Readers) -> io::Result<Self> {
        let (Some(folder_path), Some(name)) = (place.parent(), place.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let folder = File::open(folder_path)?;
        let change = Change::begin();
        let prefix = prefix(name);
        let mut names = tempfile::Builder::new();
        names.prefix(&prefix).suffix(SUFFIX).rand_bytes(RANDOM);
        if let Some(file) = system::unnamed(&folder, readers)? {
            fill(&file, content)?;
            match names.make_in(folder_path, |path| system::name(&file, &folder, last(path))) {
                Ok(named) => {
                    let ((), path) = named.keep().map_err(|error| error.error)?;
                    return Ok(Self {
                        folder,
                        path,
                        file,
                        _change: change,
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::StorageFull => return Err(error),
                // Without /proc, the file cannot be given a name.
                Err(_) => {}
            }
        }
        let named = names.make_in(folder_path, |path| {
            let file = system::create(&folder, last(path), readers)?;
            fill(&file, content)?;
            // A program that has found it before it was locked may have removed it.
            let is_there = system::is_at(&file, &folder, last(path));
            if is_there {
                Ok(file)
            } else {
                Err(io::ErrorKind::AlreadyExists.into())
            }
        })?;
        let (file, path) = named.keep().map_err(|error| error.error)?;
        Ok(Self {
            folder,
            path,
            file,
            _change: change,
        })
    }

    /// Opens it by its path, as SQLite does, and reads nothing from it yet.
    ///
    /// # Errors
    /// When SQLite has opened another file, put there by a user who may change the folder.
    pub(in crate::store) fn open(&self) -> Result<Connection, Cause> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let connection = connection::open(&self.path, flags)?;
        // By this program: once by this value, once by SQLite.
        let is_open_twice = self.identity()?.times_open().is_none_or(|times| times > 1);
        if is_open_twice && self.is_at(last(&self.path)) {
            Ok(connection)
        } else {
            Err(Cause::Replaced)
        }
    }

    /// By what path it can be opened.
    pub(in crate::store) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether its own name still leads to it.
    pub(in crate::store) fn is_in_place(&self) -> bool {
        self.is_at(last(&self.path))
    }

    /// Which file it is.
    pub(in crate::store) fn identity(&self) -> io::Result<Identity> {
        Ok(Identity::of(&self.file.metadata()?))
    }

    /// The file for another owner; the lock stays here.
    pub(in crate::store) fn file(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Gives it another name, safe from a loss of power, and takes its own away. A file that has
    /// the name already stays.
    pub(in crate::store) fn name(&self, name: &OsStr) -> io::Result<()> {
        self.file.sync_all()?;
        system::publish(&self.file, &self.folder, last(&self.path), name)
    }

    /// Whether a name in the folder leads to it, and not to another file.
    pub(in crate::store) fn is_at(&self, name: &OsStr) -> bool {
        system::is_at(&self.file, &self.folder, name)
    }

    /// Removes a name in the folder if it leads to this file.
    pub(in crate::store) fn remove(&self, name: &OsStr) {
        if self.is_at(name) {
            let _ = system::remove(&self.folder, name);
        }
    }

    /// Removes its own name.
    pub(in crate::store) fn remove_own(&self) {
        self.remove(last(&self.path));
    }

    /// Syncs the folder, so that names survive a loss of power.
    pub(in crate::store) fn sync_folder(&self) -> io::Result<()> {
        self.folder.sync_all()
    }
}

impl Drop for Growing {
    fn drop(&mut self) {
        self.remove_own();
    }
}

fn fill(mut file: &File, content: &[u8]) -> io::Result<()> {
    // Where files cannot be locked, this fails, and so does the lock that removing it asks for.
    let _ = file.try_lock();
    if content.is_empty() {
        return Ok(());
    }
    file.write_all(content)?;
    file.sync_all()
}

fn last(path: &Path) -> &OsStr {
    path.file_name().unwrap_or_default()
}

#[cfg(unix)]
fn prefix(name: &OsStr) -> OsString {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let name = name.as_bytes();
    OsString::from_vec([b".", &name[..name.len().min(MOST_OF_NAME)], b"."].concat())
}

#[cfg(not(unix))]
fn prefix(name: &OsStr) -> OsString {
    let mut prefix = OsString::from(".");
    prefix.push(name);
    prefix.push(".");
    prefix
}

/// Removes files that programs have left which died while they made `place`, imported into it or
/// compacted it: files of this user, of such a name, that are not locked and are databases of ours,
/// begun or empty. No other file is opened.
pub(in crate::store) fn remove_abandoned(place: &Path) {
    let (Some(folder_path), Some(name)) = (place.parent(), place.file_name()) else {
        return;
    };
    let (Ok(folder), Ok(entries)) = (File::open(folder_path), fs::read_dir(folder_path)) else {
        return;
    };
    let prefix = prefix(name);
    for entry in entries.flatten() {
        let name = entry.file_name();
        if is_of_ours(&name, &prefix)
            && system::is_abandoned(&folder, &name, last(place), is_database_or_empty)
        {
            // SQLite has one while it compacts into the file.
            let mut journal = name.clone();
            journal.push("-journal");
            let _ = system::remove(&folder, &journal);
            let _ = system::remove(&folder, &name);
        }
    }
}

fn is_of_ours(name: &OsStr, prefix: &OsStr) -> bool {
    let rest = name
        .as_encoded_bytes()
        .strip_prefix(prefix.as_encoded_bytes());
    let random = rest.and_then(|rest| rest.strip_suffix(SUFFIX.as_bytes()));
    random.is_some_and(|random| {
        random.len() == RANDOM && random.iter().all(u8::is_ascii_alphanumeric)
    })
}

fn is_database_or_empty(file: &File) -> io::Result<bool> {
    let mut head = Vec::new();
    file.take(header::APPLICATION_ID as u64 + 4)
        .read_to_end(&mut head)?;
    let Some(application) = head.get(header::APPLICATION_ID..) else {
        return Ok(head.is_empty());
    };
    // SQLite writes the id last when it compacts, and the first page whenever it has to.
    let is_begun = application == [0; 4]
        && (head.starts_with(header::MAGIC) || head.iter().all(|byte| *byte == 0));
    Ok(is_begun || application == APPLICATION_ID.to_be_bytes())
}

/// System calls for names and files, relative to an open folder.
#[cfg(unix)]
mod system {
    use std::ffi::OsStr;
    use std::fs::File;
    use std::io;
    use std::os::fd::AsRawFd;

    use rustix::fs::{
        AtFlags, FileType, Mode, OFlags, RenameFlags, Stat, fstat, linkat, openat, renameat,
        renameat_with, statat, unlinkat,
    };
    use rustix::io::{Errno, retry_on_intr};

    use super::Readers;

    /// Mode of a new file; the system takes away what `umask` says.
    fn mode(readers: Readers) -> Mode {
        match readers {
            Readers::AsUmaskSays => Mode::from_raw_mode(0o666),
            Readers::Owner => Mode::from_raw_mode(0o600),
        }
    }

    /// A file that has no name yet; `None` where there are no such files.
    #[cfg(target_os = "linux")]
    pub(super) fn unnamed(folder: &File, readers: Readers) -> io::Result<Option<File>> {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        match retry_on_intr(|| openat(folder, c".", flags, mode(readers))) {
            Ok(file) => Ok(Some(file.into())),
            Err(Errno::NOTSUP | Errno::ISDIR | Errno::NOENT | Errno::INVAL) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn unnamed(_: &File, _: Readers) -> io::Result<Option<File>> {
        Ok(None)
    }

    /// Gives the file a name, which must be free.
    pub(super) fn name(file: &File, folder: &File, name: &OsStr) -> io::Result<()> {
        // This path leads to the open file itself, whatever its names lead to meanwhile.
        let own = format!("/proc/self/fd/{}", file.as_raw_fd());
        Ok(linkat(
            rustix::fs::CWD,
            own,
            folder,
            name,
            AtFlags::SYMLINK_FOLLOW,
        )?)
    }

    /// Makes a file, whose name must be free.
    pub(super) fn create(folder: &File, name: &OsStr, readers: Readers) -> io::Result<File> {
        let flags =
            OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::RDWR | OFlags::CLOEXEC;
        Ok(retry_on_intr(|| openat(folder, name, flags, mode(readers)))?.into())
    }

    /// Renames a file from `own` to `place`, which must be free.
    pub(super) fn publish(
        file: &File,
        folder: &File,
        own: &OsStr,
        place: &OsStr,
    ) -> io::Result<()> {
        let is_taken = |error: &io::Error| error.kind() == io::ErrorKind::AlreadyExists;
        let linked = name(file, folder, place).or_else(|error| {
            if is_taken(&error) {
                return Err(error);
            }
            // Without /proc.
            Ok(linkat(folder, own, folder, place, AtFlags::empty())?)
        });
        match linked {
            Ok(()) => {
                if !is_at(file, folder, own) {
                    return Ok(());
                }
                match remove(folder, own) {
                    // Another program that may change the folder has removed it.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                    removed => removed,
                }
            }
            Err(error) if is_taken(&error) => Err(error),
            // Some file systems have no hard links.
            Err(_) => match renameat_with(folder, own, folder, place, RenameFlags::NOREPLACE) {
                // Some cannot do this either: an empty file takes the name, and is then replaced.
                Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                    let taken = create(folder, place, Readers::AsUmaskSays)?;
                    if !is_at(&taken, folder, place) {
                        return Err(io::ErrorKind::AlreadyExists.into());
                    }
                    Ok(renameat(folder, own, folder, place)?)
                }
                renamed => Ok(renamed?),
            },
        }
    }

    pub(super) fn remove(folder: &File, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(folder, name, AtFlags::empty())?)
    }

    /// Whether a name leads to a file, without following a link.
    pub(super) fn is_at(file: &File, folder: &File, name: &OsStr) -> bool {
        let (Ok(own), Ok(found)) = (fstat(file), statat(folder, name, AtFlags::SYMLINK_NOFOLLOW))
        else {
            return false;
        };
        is_same(&own, &found)
    }

    fn is_same(one: &Stat, other: &Stat) -> bool {
        (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
    }

    /// Whether a name leads to a file of this user that is not locked and that `is_known` by its
    /// content, or to the file that also has the name `place`.
    pub(super) fn is_abandoned(
        folder: &File,
        name: &OsStr,
        place: &OsStr,
        is_known: impl FnOnce(&File) -> io::Result<bool>,
    ) -> bool {
        let looked = || -> io::Result<bool> {
            let about = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
            let is_file = FileType::from_raw_mode(about.st_mode) == FileType::RegularFile;
            if !is_file || about.st_uid != rustix::process::geteuid().as_raw() {
                return Ok(false);
            }
            // A second name of the database. It must not be opened: closing it would take the locks
            // from every connection of this program.
            if statat(folder, place, AtFlags::SYMLINK_NOFOLLOW)
                .is_ok_and(|database| is_same(&database, &about))
            {
                return Ok(true);
            }
            // It may have become something else since the look: a link is not followed, and a pipe
            // or a terminal does not make the program wait.
            let flags = OFlags::RDONLY
                | OFlags::NOFOLLOW
                | OFlags::NONBLOCK
                | OFlags::NOCTTY
                | OFlags::CLOEXEC;
            let file = File::from(retry_on_intr(|| {
                openat(folder, name, flags, Mode::empty())
            })?);
            // Whoever makes such a file holds its lock until it is done: a file without one belongs
            // to a program that has died.
            if !is_same(&fstat(&file)?, &about) || file.try_lock().is_err() {
                return Ok(false);
            }
            // The content is looked at under the lock; the name is removed only if it still leads
            // there.
            Ok(is_known(&file)? && is_at(&file, folder, name))
        };
        looked().unwrap_or(false)
    }
}

/// On other systems, SQLite makes its files itself.
#[cfg(not(unix))]
mod system {
    use std::ffi::OsStr;
    use std::fs::File;
    use std::io;

    use super::Readers;

    pub(super) fn unnamed(_: &File, _: Readers) -> io::Result<Option<File>> {
        Ok(None)
    }

    pub(super) fn name(_: &File, _: &File, _: &OsStr) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn create(_: &File, _: &OsStr, _: Readers) -> io::Result<File> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn publish(_: &File, _: &File, _: &OsStr, _: &OsStr) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn remove(_: &File, _: &OsStr) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn is_at(_: &File, _: &File, _: &OsStr) -> bool {
        false
    }

    pub(super) fn is_abandoned(
        _: &File,
        _: &OsStr,
        _: &OsStr,
        _: impl FnOnce(&File) -> io::Result<bool>,
    ) -> bool {
        false
    }
}
