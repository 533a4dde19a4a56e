//! Where a name leads: symbolic links, followed one by one.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// Symbolic links that one name may lead through, as in Linux.
const MAX_LINKS: usize = 40;

/// Where a name leads.
pub(crate) struct Followed {
    /// The first name on the way that is no link, or [`None`] where links go in circles.
    pub(crate) end: Option<PathBuf>,
    /// Whether there is a file of this name.
    pub(crate) is_there: bool,
    /// The first symbolic link on the way that another user has made, among folders where everybody
    /// may make one.
    pub(crate) strangers_link: Option<PathBuf>,
}

/// Follows a name link by link, also to where there is no file yet; stops early at a name for which
/// `is_end` holds.
///
/// # Errors
/// When the system does not say what a name on the way is.
pub(crate) fn follow_links(path: &Path, is_end: impl Fn(&Path) -> bool) -> io::Result<Followed> {
    // Not `fs::canonicalize`, which fails where there is no file yet and does not say whose the
    // links are.
    let mut at = path.to_owned();
    let mut strangers_link = None;
    for _ in 0..MAX_LINKS {
        if strangers_link.is_none() {
            strangers_link = strangers_folder(&at);
        }
        let about = match fs::symlink_metadata(&at) {
            Ok(about) => Some(about),
            Err(error) if is_absence(&error) => None,
            Err(error) => return Err(error),
        };
        let link = about.as_ref().filter(|about| about.is_symlink());
        let Some(link) = link.filter(|_| !is_end(&at)) else {
            return Ok(Followed {
                end: Some(at),
                is_there: about.is_some(),
                strangers_link,
            });
        };
        if !is_trusted(link) {
            strangers_link.get_or_insert_with(|| at.clone());
        }
        let target = fs::read_link(&at)?;
        let next = at.parent().unwrap_or(Path::new("/")).join(target);
        // Without a slash at the end, which would lead through the next link.
        at = next.components().collect();
    }
    Ok(Followed {
        end: None,
        is_there: true,
        strangers_link,
    })
}

/// The first symbolic link among the folders of a path that another user has made where everybody may
/// make one.
///
/// In other folders a link of another user is the work of those to whom the folder belongs, say a
/// `current` that leads to one of several versions: who goes there trusts them.
fn strangers_folder(path: &Path) -> Option<PathBuf> {
    let folder = std::path::absolute(path).ok()?;
    // What is still to be gone through, the next one last.
    let parts = |path: &Path| {
        let parts = path
            .components()
            .map(|part| PathBuf::from(part.as_os_str()));
        parts.rev().collect::<Vec<PathBuf>>()
    };
    let mut left = parts(folder.parent()?);
    let mut at = PathBuf::new();
    let mut links = 0;
    while let Some(part) = left.pop() {
        if part == Path::new("..") {
            at.pop();
            continue;
        }
        let name = at.join(part);
        // What is not there, or cannot be looked at, is not made by this program either.
        let about = fs::symlink_metadata(&name).ok()?;
        if !about.is_symlink() {
            at = name;
            continue;
        }
        if !is_trusted(&about) && fs::metadata(&at).is_ok_and(|folder| is_open_to_all(&folder)) {
            return Some(name);
        }
        links += 1;
        if links > MAX_LINKS {
            return None;
        }
        left.extend(parts(&fs::read_link(&name).ok()?));
    }
    None
}

/// What the name of a database leads to.
pub(in crate::store) struct DatabasePlace {
    /// A symbolic link on the way that another user has made.
    pub(in crate::store) strangers_link: Option<PathBuf>,
    /// Where a file would be made if there is none, by a path without links.
    pub(in crate::store) free: Option<PathBuf>,
}

impl DatabasePlace {
    /// Follows a name to its end.
    pub(in crate::store) fn of(path: &Path) -> io::Result<Self> {
        let followed = follow_links(&std::path::absolute(path)?, |_| false)?;
        let Some(end) = followed.end else {
            return Err(io::Error::other(
                "expected a file, found a cycle of symbolic links",
            ));
        };
        let free = if followed.is_there {
            None
        } else {
            Some(in_its_folder(&end, path)?)
        };
        Ok(Self {
            strangers_link: followed.strangers_link,
            free,
        })
    }
}

/// A name by a path without links; `shown` is how the user calls it.
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
            format!("the directory {} does not exist", shown.display()),
        )
    })?;
    Ok(folder.join(name))
}

/// Whether a link, or a file, belongs to this user or to root.
#[cfg(unix)]
pub(super) fn is_trusted(link: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    link.uid() == 0 || link.uid() == rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
pub(super) fn is_trusted(_: &Metadata) -> bool {
    true
}

/// Whether everybody may make files in a folder.
#[cfg(unix)]
fn is_open_to_all(folder: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    folder.mode() & 0o002 != 0
}

#[cfg(not(unix))]
fn is_open_to_all(_: &Metadata) -> bool {
    false
}

/// Whether an error says that there is no such file.
pub(super) fn is_absence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}
