//! Files that are written completely or not at all.
//!
//! What is written has no name until it is whole (`O_TMPFILE`), so that a program that is ended
//! leaves nothing. A file that is replaced hands down its mode, its owner and its extended
//! attributes, and a symbolic link to it stays one. Where a new file cannot take its place (other
//! names lead to it, it belongs to another user, its folder cannot be written), the finished bytes
//! are copied into it; docs/reliability.md says what that means.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, IsTerminal, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tempfile::{NamedTempFile, TempPath};

use super::streams;
use crate::formats::export::Output;
use crate::store::{Followed, follow_links};

/// Bytes that are copied at once.
const PIECE: usize = 256 * 1024;

/// Names of drafts, where the system knows no files without one: they have to be removed when the
/// program is ended.
static NAMED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes the drafts that would be left if the program ended now.
pub(super) fn remove_all() {
    // Called where the program ends, also from an allocator without memory: the thread that has the
    // lock may be this one.
    if let Ok(mut named) = NAMED.try_lock() {
        named
            .drain(..)
            .for_each(|draft| drop(fs::remove_file(draft)));
    }
}

/// The new content of a file, in a file of its own until it is whole.
pub(super) struct Draft {
    file: File,
    /// Where it goes; `None` for what is no regular file, a pipe for instance, which is written
    /// straight.
    place: Option<Place>,
}

/// Where a draft goes.
struct Place {
    path: PathBuf,
    /// What is there so far.
    old: Option<Metadata>,
    draft: Name,
    /// A new file always takes the place of the old one: nothing is copied into that.
    is_new: bool,
}

/// The name of a draft until it is whole.
enum Name {
    /// It has no name, and can get one in the folder where it belongs.
    None,
    /// It has one in that folder.
    Random(TempPath),
    /// It is in another folder, and can only be copied.
    Elsewhere,
}

impl Draft {
    /// Begins the new content of a file.
    ///
    /// # Errors
    /// When the file can neither be made nor replaced nor written to.
    pub(super) fn of(file: &Path) -> io::Result<Self> {
        Self::begun(file, false)
    }

    /// Begins a new file, which takes the place of what is there even where that has other names or another owner: what these lead
    /// to stays as it is, and readers never see a file that is only half there.
    ///
    /// # Errors
    /// When no file can be made there.
    #[cfg(feature = "parquet")]
    pub(super) fn new_of(file: &Path) -> io::Result<Self> {
        Self::begun(file, true)
    }

    fn begun(file: &Path, is_new: bool) -> io::Result<Self> {
        let named = match destination(file) {
            // Before it is looked at: what Rust puts in the place of an output that is closed could be written to.
            Ok(Destination::Open(number)) => {
                return Ok(Self {
                    file: open_already(file, &number)?,
                    place: None,
                });
            }
            Ok(Destination::Named {
                path,
                strangers_link,
            }) => Ok((path, strangers_link)),
            Err(error) => Err(error),
        };
        if fs::metadata(file).is_ok_and(|found| !found.is_file()) {
            return Ok(Self {
                file: OpenOptions::new().write(true).open(file)?,
                place: None,
            });
        }
        let (path, strangers_link) = named?;
        let old = match fs::symlink_metadata(&path) {
            Ok(found) => Some(found),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        // Its owner decides by it where a file is made with our rights.
        if let (None, Some(link)) = (&old, strangers_link) {
            let link = link.display();
            let message =
                format!("{link} is a symbolic link of another user, and its target does not exist");
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
        }
        let (file, draft) = match (begin(&path, old.is_some()), &old) {
            (Ok(begun), _) => begun,
            // A folder may refuse new files and still hold one that can be written.
            (Err(_), Some(old)) if !is_new => {
                opened(&path, old)?;
                // It lies in the system's folder for such files, and can only be copied from there.
                (tempfile::tempfile()?, Name::Elsewhere)
            }
            (Err(error), _) => return Err(error),
        };
        if let (Name::Random(name), Ok(mut named)) = (&draft, NAMED.lock()) {
            named.push(name.to_path_buf());
        }
        Ok(Self {
            file,
            place: Some(Place {
                path,
                old,
                draft,
                is_new,
            }),
        })
    }

    /// Whether it is a terminal, which shows what is written at once.
    pub(super) fn is_terminal(&self) -> bool {
        self.file.is_terminal()
    }

    /// What becomes of what is written, if the draft is dropped unfinished: nothing, unless it goes
    /// straight to what is no regular file.
    pub(super) fn output(&self) -> Output {
        if self.place.is_some() {
            Output::Draft
        } else {
            Output::Stream
        }
    }

    /// Whether the file that the content is to replace has this content already.
    ///
    /// # Errors
    /// When one of them cannot be read.
    #[cfg(feature = "parquet")]
    pub(super) fn is_what_is_there(&mut self) -> io::Result<bool> {
        let Some(place) = &self.place else {
            return Ok(false);
        };
        let Some(old) = &place.old else {
            return Ok(false);
        };
        let length = self.file.metadata()?.len();
        if old.len() != length {
            return Ok(false);
        }
        let mut there = File::open(&place.path)?;
        self.file.seek(SeekFrom::Start(0))?;
        let (mut ours, mut theirs) = (vec![0; PIECE], vec![0; PIECE]);
        let mut left = length;
        while left > 0 {
            let piece = usize::try_from(left).unwrap_or(PIECE).min(PIECE);
            self.file.read_exact(&mut ours[..piece])?;
            match there.read_exact(&mut theirs[..piece]) {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
                read => read?,
            }
            if ours[..piece] != theirs[..piece] {
                return Ok(false);
            }
            left -= piece as u64;
        }
        Ok(true)
    }

    /// Puts the content in its place.
    ///
    /// # Errors
    /// When it cannot be put there. Then the file is as it was, unless the draft is being copied
    /// into it.
    pub(super) fn finish(self) -> io::Result<()> {
        let Self { file, place } = self;
        let Some(Place {
            path,
            old,
            draft,
            is_new,
        }) = place
        else {
            return Ok(());
        };
        let Some(old) = old else {
            return put(&file, draft, &path);
        };
        if is_new {
            // Its mode is that of the old one, whoever that belongs to; of the rest it has what it can have.
            file.set_permissions(old.permissions())?;
            takes_after(&file, &path, &old);
            return put(&file, draft, &path);
        }
        // What a rename would lose, another owner or other names of the file, is kept by writing
        // into it.
        let is_alone = !matches!(draft, Name::Elsewhere) && takes_after(&file, &path, &old);
        if !is_alone {
            return copy(file, &path, &old);
        }
        match put(&file, draft, &path) {
            Err(error) if is_refused(&error) => copy(file, &path, &old),
            put => put,
        }
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Whether a new file cannot come to a place that can perhaps be written to: a rule of its folder,
/// or a file system of its own, as containers have them.
fn is_refused(error: &io::Error) -> bool {
    use io::ErrorKind::{CrossesDevices, PermissionDenied, ReadOnlyFilesystem, ResourceBusy};
    matches!(
        error.kind(),
        PermissionDenied | ResourceBusy | CrossesDevices | ReadOnlyFilesystem
    )
}

/// The file, or the place for one, that a name leads to.
enum Destination {
    /// A file that is open already, under this number: `/dev/stdout`, `/dev/fd/3`.
    Open(OsString),
    /// A file, or a place for one.
    Named {
        path: PathBuf,
        /// A symbolic link of another user that leads there.
        strangers_link: Option<PathBuf>,
    },
}

/// Where a file is or will be; `None` where it is open already, or the way leads nowhere.
pub(super) fn place(file: &Path) -> Option<PathBuf> {
    match destination(file) {
        Ok(Destination::Named { path, .. }) => Some(path),
        Ok(Destination::Open(_)) | Err(_) => None,
    }
}

/// Follows symbolic links, also one that leads to nothing yet. The last part of what is found is no
/// link.
fn destination(file: &Path) -> io::Result<Destination> {
    // Without a slash at the end, which would lead through a link.
    let file: PathBuf = file.components().collect();
    let Followed {
        end,
        strangers_link,
        ..
    } = follow_links(&file, is_open_already)?;
    let Some(path) = end else {
        return Err(io::Error::other(
            "expected a file, found a cycle of symbolic links",
        ));
    };
    if is_open_already(&path) {
        let number = path.file_name().unwrap_or_default().to_owned();
        return Ok(Destination::Open(number));
    }
    Ok(Destination::Named {
        path: in_its_folder(&path)?,
        strangers_link,
    })
}

/// Whether a name is that of a file that a program has open, by its number.
fn is_open_already(path: &Path) -> bool {
    fs::canonicalize(folder_of(path))
        .is_ok_and(|folder| folder.starts_with("/proc") && folder.ends_with("fd"))
}

/// A name in its folder, by a path that no link leads through.
fn in_its_folder(path: &Path) -> io::Result<PathBuf> {
    let folder = fs::canonicalize(folder_of(path))?;
    match path.file_name() {
        Some(name) => Ok(folder.join(name)),
        None => fs::canonicalize(path),
    }
}

/// A file that is open already. Where it is one of ours, what others write to it comes after what
/// we write; to all others we add.
fn open_already(file: &Path, number: &OsStr) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        if number == "1" {
            return Ok(streams::output()?.as_fd().try_clone_to_owned()?.into());
        }
        if number == "2" {
            return Ok(io::stderr().as_fd().try_clone_to_owned()?.into());
        }
    }
    OpenOptions::new().append(true).open(file)
}

/// The folder of a file.
pub(super) fn folder_of(file: &Path) -> &Path {
    file.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// A name that cannot be guessed: the keys are the system's.
fn random() -> String {
    format!(".profdb-{:016x}", RandomState::new().hash_one(()))
}

/// A draft beside its place.
fn begin(path: &Path, replaces: bool) -> io::Result<(File, Name)> {
    let folder = folder_of(path);
    if let Some(file) = unnamed(folder, replaces)? {
        return Ok((file, Name::None));
    }
    let prefix = random();
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    if !replaces {
        use std::os::unix::fs::PermissionsExt;
        // By default such a file is its owner's alone, which the finished one would stay.
        builder.permissions(fs::Permissions::from_mode(NEW));
    }
    // The name in the message would be one that the user has never seen.
    let named = builder
        .prefix(&prefix)
        .tempfile_in(folder)
        .map_err(|error| io::Error::from(error.kind()))?;
    let (file, name) = named.into_parts();
    Ok((file, Name::Random(name)))
}

/// Mode of a new file, from which the system takes what `umask` says.
#[cfg(unix)]
const NEW: u32 = 0o666;

/// Mode of a draft that gets another one later.
#[cfg(target_os = "linux")]
const OWN: u32 = 0o600;

/// A file without a name that can get one; `None` where the system cannot do that.
#[cfg(target_os = "linux")]
fn unnamed(folder: &Path, replaces: bool) -> io::Result<Option<File>> {
    use rustix::fs::{Mode, OFlags};
    use rustix::io::Errno;
    // The old file may be private: until the draft has its mode, only the owner reads it.
    let mode = Mode::from_raw_mode(if replaces { OWN } else { NEW });
    let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
    match rustix::fs::open(folder, flags, mode) {
        // In this order: file systems without such files, and systems.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT) => Ok(None),
        file => {
            let file = File::from(file?);
            Ok(fs::symlink_metadata(handle(&file)).is_ok().then_some(file))
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_: &Path, _: bool) -> io::Result<Option<File>> {
    Ok(None)
}

/// A path to a file that has none.
#[cfg(target_os = "linux")]
fn handle(file: &File) -> PathBuf {
    use std::os::fd::AsRawFd;
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

/// Gives a draft that has no name its first one.
#[cfg(target_os = "linux")]
fn link(file: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD};
    Ok(rustix::fs::linkat(
        CWD,
        handle(file),
        CWD,
        path,
        AtFlags::SYMLINK_FOLLOW,
    )?)
}

#[cfg(not(target_os = "linux"))]
fn link(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Puts a draft in its place, whatever is there.
fn put(file: &File, draft: Name, path: &Path) -> io::Result<()> {
    let name = match draft {
        Name::Random(name) => name,
        Name::None | Name::Elsewhere => match link(file, path) {
            // Only a file that has a name can take that of another one.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let prefix = random();
                let mut builder = tempfile::Builder::new();
                let named: NamedTempFile<()> = builder
                    .prefix(&prefix)
                    .make_in(folder_of(path), |name| link(file, name))?;
                named.into_temp_path()
            }
            linked => return linked,
        },
    };
    name.persist(path).map_err(|failed| failed.error)
}

/// The file that is to be replaced, to be written to.
fn opened(path: &Path, old: &Metadata) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        // The path has no links: one that is there now has been put there since.
        options.custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
    }
    let file = options.open(path)?;
    if is_same(&file.metadata()?, old) {
        return Ok(file);
    }
    Err(io::Error::other(
        "another program replaced it in the meantime",
    ))
}

/// Copies a draft into the file that is there. Room for it is asked for first.
fn copy(mut draft: File, path: &Path, old: &Metadata) -> io::Result<()> {
    let mut file = opened(path, old)?;
    let length = draft.metadata()?.len();
    reserve(&file, length)?;
    draft.seek(SeekFrom::Start(0))?;
    let mut piece = vec![0; PIECE];
    loop {
        let read = draft.read(&mut piece)?;
        if read == 0 {
            return file.set_len(length);
        }
        file.write_all(&piece[..read])?;
    }
}

/// Fails where the disk has no room; not all file systems can say so beforehand.
#[cfg(target_os = "linux")]
fn reserve(file: &File, length: u64) -> io::Result<()> {
    use rustix::fs::FallocateFlags;
    use rustix::io::Errno;
    match rustix::fs::fallocate(file, FallocateFlags::KEEP_SIZE, 0, length.max(1)) {
        Err(error @ (Errno::NOSPC | Errno::DQUOT | Errno::FBIG)) => Err(error.into()),
        _ => Ok(()),
    }
}

#[cfg(not(target_os = "linux"))]
fn reserve(_: &File, _: u64) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn is_same(_: &Metadata, _: &Metadata) -> bool {
    true
}

/// Whether two names lead to one file.
pub(super) fn are_one(one: &Path, other: &Path) -> bool {
    match (fs::metadata(one), fs::metadata(other)) {
        #[cfg(unix)]
        (Ok(one), Ok(other)) => is_same(&one, &other),
        _ => false,
    }
}

/// Gives a draft mode, owner and extended attributes of the file that it replaces. `false` if it
/// cannot have them, or if other names would go on leading to the old file.
#[cfg(unix)]
fn takes_after(draft: &File, path: &Path, old: &Metadata) -> bool {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let given = || -> io::Result<bool> {
        let new = draft.metadata()?;
        let owner = (new.uid() != old.uid()).then_some(old.uid());
        let group = (new.gid() != old.gid()).then_some(old.gid());
        if owner.is_some() || group.is_some() {
            // The owner comes before the mode: the system takes the set-user-ID bit from a file
            // that changes its owner.
            fchown(draft, owner, group)?;
        }
        draft.set_permissions(old.permissions())?;
        attributes(draft, path)?;
        let mode = |about: &Metadata| about.permissions().mode();
        // The system may leave bits of a mode out without an error.
        Ok(mode(&draft.metadata()?) == mode(old))
    };
    old.nlink() == 1 && given().unwrap_or(false)
}

#[cfg(not(unix))]
fn takes_after(draft: &File, _: &Path, old: &Metadata) -> bool {
    draft.set_permissions(old.permissions()).is_ok()
}

/// Attributes of the system that a new file gets from its place.
#[cfg(target_os = "linux")]
const OF_PLACE: [&[u8]; 2] = [b"security.", b"trusted."];

/// Copies extended attributes: access control lists among them.
#[cfg(target_os = "linux")]
fn attributes(draft: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::{XattrFlags, fsetxattr, getxattr, listxattr};
    use rustix::io::Errno;
    // The largest that Linux has, of a list as of a value.
    let mut names = vec![0; 65_536];
    let length = match listxattr(path, names.as_mut_slice()) {
        Err(Errno::NOTSUP) => return Ok(()),
        length => length?,
    };
    let mut value = vec![0; 65_536];
    for name in names[..length]
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty())
    {
        if OF_PLACE.iter().any(|of_place| name.starts_with(of_place)) {
            continue;
        }
        let length = getxattr(path, name, value.as_mut_slice())?;
        fsetxattr(draft, name, &value[..length], XattrFlags::empty())?;
    }
    Ok(())
}

#[cfg(all(unix, not(target_os = "linux")))]
fn attributes(_: &File, _: &Path) -> io::Result<()> {
    Ok(())
}
