//! The files below a folder, at any depth.

use std::ffi::OsStr;
use std::fmt::Display;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::extent::counted;
use super::failure::{Failure, complain, say, unread};
use crate::base::error::Stop;

/// Files that the folder may have.
const MOST_FILES: usize = 200_000;

/// Folders that may lie within each other.
pub(super) const DEEPEST: usize = 64;

/// What is done with names that begin with a dot.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Hidden {
    Listed,
    LeftOut,
}

/// What is below a folder. Links are not followed, so that nothing outside the folder is listed,
/// and nothing twice.
#[derive(Debug, Default)]
pub(super) struct Walked {
    /// Files, by their name in the folder, as text and as path, in the order of their names.
    pub(super) files: Vec<(String, PathBuf)>,
    /// Links, in the same order, whatever they lead to.
    pub(super) links: Vec<(String, PathBuf)>,
    /// Folders that were listed, with the one at the top.
    pub(super) folders: usize,
    /// Folders that were not, or not to their end, with the reason, in the order of their names.
    pub(super) unlisted: Vec<(PathBuf, String, Failure)>,
    /// Names that were left out because they begin with a dot.
    pub(super) hidden: usize,
    /// Pipes, sockets and devices.
    pub(super) special: usize,
}

/// Lists what is below a folder.
///
/// # Errors
/// When the folder itself cannot be listed, when it has more than [`MOST_FILES`], or when `stop` is
/// set.
pub(super) fn walk(root: &Path, hidden: Hidden, stop: &Stop) -> Result<Walked, Failure> {
    let complain =
        |error: String, failure| complain(format!("{}: {error}", root.display()), failure);
    let listed = fs::read_dir(root).map_err(|error| match error.kind() {
        io::ErrorKind::NotADirectory => complain(
            "expected a directory, found a file".to_owned(),
            Failure::Input,
        ),
        io::ErrorKind::NotFound => complain("no such directory".to_owned(), Failure::Input),
        _ => complain(format!("cannot list it: {error}"), unread(&error)),
    })?;
    let mut walked = Walked::default();
    let mut waiting = Vec::new();
    // Folders wait in a list, without recursion, so that one is open at a time, however deep they
    // lie.
    let mut open = Some((String::new(), 1, root.to_owned(), listed));
    while let Some((above, depth, folder, listed)) = open {
        walked.folders += 1;
        for entry in listed {
            if stop.is_set() {
                return Err(Failure::Interrupted);
            }
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    walked.unlisted.push(unlisted(folder.clone(), &error));
                    break;
                }
            };
            if hidden == Hidden::LeftOut && is_hidden(&entry.file_name()) {
                walked.hidden += 1;
                continue;
            }
            let name = format!("{above}{}", entry.file_name().to_string_lossy());
            match entry.file_type() {
                Ok(kind) if kind.is_file() => walked.files.push((name, entry.path())),
                Ok(kind) if kind.is_symlink() => walked.links.push((name, entry.path())),
                Ok(kind) if kind.is_dir() && depth < DEEPEST => {
                    waiting.push((name + "/", depth + 1, entry.path()));
                }
                Ok(kind) if kind.is_dir() => {
                    let reason = format!("directories are nested more than {DEEPEST} levels deep");
                    walked.unlisted.push((entry.path(), reason, Failure::Input));
                }
                _ => walked.special += 1,
            }
            if walked.files.len() + walked.links.len() > MOST_FILES {
                return Err(complain(
                    format!("there are more than {MOST_FILES} files"),
                    Failure::Input,
                ));
            }
        }
        open =
            std::iter::from_fn(|| waiting.pop()).find_map(
                |(above, depth, path)| match fs::read_dir(&path) {
                    Ok(listed) => Some((above, depth, path, listed)),
                    Err(error) => {
                        walked.unlisted.push(unlisted(path, &error));
                        None
                    }
                },
            );
    }
    // The system lists files in any order; what is found must not depend on it.
    walked.files.sort();
    walked.links.sort();
    walked.unlisted.sort_by(|(a, ..), (b, ..)| a.cmp(b));
    Ok(walked)
}

/// A folder whose names the system does not give, or not all of them.
fn unlisted(folder: PathBuf, error: &io::Error) -> (PathBuf, String, Failure) {
    (folder, format!("cannot list it: {error}"), unread(error))
}

/// Files of a folder that are no profiles. The first ones are said one by one, with what they are; of more there is the number.
#[derive(Debug, Default)]
pub(super) struct PassedOver {
    files: usize,
}

impl PassedOver {
    /// Files that are said one by one.
    const SHOWN: usize = 5;

    /// Passes over a file.
    pub(super) fn add(&mut self, file: &Path, why: impl Display) {
        self.files += 1;
        if self.files <= Self::SHOWN {
            say(format!("{}: skipped: {why}", file.display()));
        }
    }

    /// Says how many there were besides those that were said.
    pub(super) fn end(self, folder: &Path) {
        let more = self.files.saturating_sub(Self::SHOWN);
        if more > 0 {
            let more = counted(more as u64, "more file");
            say(format!("{}: {more} skipped", folder.display()));
        }
    }
}

fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}
