//! A database that nobody has made yet: it grows beside its place, under a name of its own, and is put there when it is
//! whole. A program that dies leaves that file at most, and the next one that makes a database there removes it.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// What is added to the name of a database that is being made.
const SUFFIX: &str = ".importing";

/// The right to make a database, held by a lock on the file that becomes it. Dropped, it removes the file.
#[derive(Debug)]
pub(super) struct Claim {
    file: File,
    growing: PathBuf,
    place: PathBuf,
}

impl Claim {
    /// Claims a place where there is no file. `None` while another program makes a database there; `Some(None)` if there
    /// is a file, or where files of this folder cannot be claimed.
    pub(super) fn new(place: &Path) -> io::Result<Option<Option<Self>>> {
        let (true, Some(name)) = (cfg!(unix), place.file_name()) else {
            return Ok(Some(None));
        };
        let mut growing_name = OsString::from(name);
        growing_name.push(SUFFIX);
        let growing = place.with_file_name(growing_name);
        loop {
            // A symbolic link that leads nowhere is there, too.
            if fs::symlink_metadata(place).is_ok() {
                remove_second_name(&growing);
                return Ok(Some(None));
            }
            let mut options = OpenOptions::new();
            // What SQLite will say of a folder that cannot be written is what it has always said.
            let Ok(file) = options.read(true).write(true).create(true).truncate(false).open(&growing) else {
                return Ok(Some(None));
            };
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(_)) => return Ok(Some(None)),
            }
            match (is_at(&file, &growing), file.metadata()?.len()) {
                // Whoever had the lock before has put the file in its place, or removed it.
                (Some(false), _) => {}
                (Some(true), 0) => return Ok(Some(Some(Self { file, growing, place: place.to_owned() }))),
                // Of a program that has died. It may be a whole database under a second name: never write to it.
                (Some(true), _) => fs::remove_file(&growing)?,
                (None, _) => return Ok(Some(None)),
            }
        }
    }

    /// Where the database grows.
    pub(super) fn growing(&self) -> &Path {
        &self.growing
    }

    /// The file that grows; the lock stays with the claim.
    pub(super) fn file(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Puts the database in its place, safe from a loss of power.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] when somebody else has put a file there meanwhile, which stays as it is.
    pub(super) fn publish(self) -> io::Result<()> {
        self.file.sync_all()?;
        match fs::hard_link(&self.growing, &self.place) {
            // Some file systems know no links. Programs that claim places wait for us, so nobody is expected here.
            Err(error)
                if error.kind() != io::ErrorKind::AlreadyExists && fs::symlink_metadata(&self.place).is_err() =>
            {
                fs::rename(&self.growing, &self.place)?;
            }
            linked => linked?,
        }
        let folder = self.place.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // The second name goes first, so that both changes of the folder are safe.
        let _ = fs::remove_file(&self.growing);
        File::open(folder)?.sync_all()
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if is_at(&self.file, &self.growing) == Some(true) {
            let _ = fs::remove_file(&self.growing);
        }
    }
}

/// Removes what a program has left that died between the two steps of [`Claim::publish`], or somebody else's database has
/// come before. Nobody who holds the lock is disturbed.
fn remove_second_name(growing: &Path) {
    if let Ok(file) = File::open(growing)
        && file.try_lock().is_ok()
        && is_at(&file, growing) == Some(true)
    {
        let _ = fs::remove_file(growing);
    }
}

/// Whether a path still leads to this file; `None` where that cannot be known.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> Option<bool> {
    use std::os::unix::fs::MetadataExt;
    let opened = file.metadata().ok()?;
    Some(fs::metadata(path).is_ok_and(|found| (found.dev(), found.ino()) == (opened.dev(), opened.ino())))
}

/// Whether a path still leads to this file; `None` where that cannot be known.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> Option<bool> {
    None
}
