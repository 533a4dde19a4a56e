//! A disk that loses its power: of what has been changed since the last sync, each part may be
//! there or not.

#![expect(clippy::disallowed_methods, reason = "small files of our own")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::faults::{Numbers, entries};

/// What a disk writes at once.
const SECTOR: usize = 512;

/// The memory that programs share while they use a log: made anew from the log.
const SHARED: &str = "-shm";

/// A change of a file, by its number, or of a name in the folder, as tests/faults/shim.c writes it
/// down.
#[derive(Debug)]
enum Change {
    Write {
        file: u64,
        place: usize,
        bytes: Vec<u8>,
    },
    Truncate {
        file: u64,
        size: usize,
    },
    Sync {
        what: u64,
    },
    Create {
        file: u64,
        name: String,
    },
    Name {
        file: u64,
        name: String,
    },
    Unname {
        name: String,
    },
}

/// The files of a folder: what a name leads to, and what is in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Files {
    names: BTreeMap<String, u64>,
    contents: BTreeMap<u64, Vec<u8>>,
}

impl Files {
    /// What is there now.
    pub(crate) fn of(folder: &Path) -> Self {
        let mut files = Self::default();
        for name in entries(folder)
            .into_iter()
            .filter(|name| !name.ends_with(SHARED))
        {
            let path = folder.join(&name);
            let file = fs::metadata(&path).expect("it is there").ino();
            files
                .contents
                .insert(file, fs::read(&path).expect("it can be read"));
            files.names.insert(name, file);
        }
        files
    }

    /// Puts them into an empty folder.
    pub(crate) fn write(&self, folder: &Path) {
        for (name, file) in self
            .names
            .iter()
            .filter(|(name, _)| !name.ends_with(SHARED))
        {
            let content = self.contents.get(file).map_or(&[][..], Vec::as_slice);
            fs::write(folder.join(name), content).expect("space on the disk");
        }
    }

    /// What each name leads to.
    pub(crate) fn by_name(&self) -> BTreeMap<&str, &[u8]> {
        let named = self
            .names
            .iter()
            .filter(|(name, _)| !name.ends_with(SHARED));
        named
            .map(|(name, file)| {
                (
                    name.as_str(),
                    self.contents.get(file).map_or(&[][..], Vec::as_slice),
                )
            })
            .collect()
    }

    fn change(&mut self, change: &Change, mut is_kept: impl FnMut() -> bool) {
        match change {
            Change::Write { file, place, bytes } => {
                let content = self.contents.entry(*file).or_default();
                let mut at = 0;
                while at < bytes.len() {
                    // Up to the end of a sector of the file.
                    let end = bytes
                        .len()
                        .min((place + at) / SECTOR * SECTOR + SECTOR - place);
                    if is_kept() {
                        content.resize(content.len().max(place + end), 0);
                        content[place + at..place + end].copy_from_slice(&bytes[at..end]);
                    }
                    at = end;
                }
            }
            Change::Truncate { file, size } if is_kept() => {
                self.contents.entry(*file).or_default().resize(*size, 0);
            }
            // The content is there whether the name is or not: a write that comes later needs a
            // place.
            Change::Create { file, name } => {
                self.contents.insert(*file, Vec::new());
                if is_kept() {
                    self.names.insert(name.clone(), *file);
                }
            }
            Change::Name { file, name } if is_kept() => {
                self.names.insert(name.clone(), *file);
            }
            Change::Unname { name } if is_kept() => drop(self.names.remove(name)),
            _ => {}
        }
    }
}

/// What has been done to the files of a folder.
pub(crate) struct Disk {
    folder: u64,
    before: Files,
    changes: Vec<Change>,
}

impl Disk {
    /// Something that is about to be done: `change` is given the file that gets what it does
    /// (`FAULT_DISK`).
    pub(crate) fn record(folder: &Path, change: impl FnOnce(&Path)) -> Self {
        let before = Files::of(folder);
        let log = tempfile::NamedTempFile::new().expect("a file");
        change(log.path());
        let log = fs::read(log.path()).expect("it is there");
        let mut changes = Vec::new();
        // The system gives the number of a file that is gone to a new one. What was lost of the
        // first is not in the second.
        let mut renumbered: BTreeMap<u64, u64> = BTreeMap::new();
        let mut rest = log.as_slice();
        // A line for each change, which the bytes of a write follow: they may have line ends of
        // their own, and are taken by their number.
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let line = std::str::from_utf8(&rest[..end]).expect("plain names");
            let parts: Vec<&str> = line.splitn(5, ' ').collect();
            let [what, file, place, size, name] = parts[..] else {
                panic!("{line}")
            };
            let number = |text: &str| text.parse::<usize>().expect("a number");
            let (file, place, size, name) = (
                file.parse::<u64>().expect("a number"),
                number(place),
                number(size),
                name.to_owned(),
            );
            if what == "create" {
                renumbered.insert(file, u64::MAX - changes.len() as u64);
            }
            let file = renumbered.get(&file).copied().unwrap_or(file);
            rest = &rest[end + 1..];
            changes.push(match what {
                "write" => {
                    let (bytes, behind) = rest.split_at(size);
                    rest = behind;
                    Change::Write {
                        file,
                        place,
                        bytes: bytes.to_owned(),
                    }
                }
                "truncate" => Change::Truncate { file, size },
                "sync" => Change::Sync { what: file },
                "create" => Change::Create { file, name },
                "name" => Change::Name { file, name },
                "unname" => Change::Unname { name },
                other => panic!("{other}"),
            });
        }
        Self {
            folder: fs::metadata(folder).expect("it is there").ino(),
            before,
            changes,
        }
    }

    /// How many changes there are.
    pub(crate) fn len(&self) -> usize {
        self.changes.len()
    }

    /// What is there after all of them, if the power stays.
    pub(crate) fn after_all(&self) -> Files {
        let mut files = self.before.clone();
        self.changes
            .iter()
            .for_each(|change| files.change(change, || true));
        files
    }

    /// What may be there if the power goes after some of them: all that has been synced, and of the
    /// rest nothing, or all up to some change, or any of it, by sectors.
    pub(crate) fn after_a_loss(&self, number: usize, numbers: &mut Numbers) -> Files {
        let done = &self.changes[..number];
        // Half of all losses choose for each sector by itself: a disk writes in any order.
        let way = numbers.below(4);
        let last = numbers.below(number + 1);
        let mut files = self.before.clone();
        for (at, change) in done.iter().enumerate() {
            let what = match change {
                Change::Write { file, .. } | Change::Truncate { file, .. } => *file,
                Change::Create { .. } | Change::Name { .. } | Change::Unname { .. } => self.folder,
                Change::Sync { .. } => continue,
            };
            // A sync makes whole all that was done to that file before, and nothing that was done
            // to others.
            let is_synced =
                |later: &Change| matches!(later, Change::Sync { what: synced } if *synced == what);
            if done[at..].iter().any(is_synced) {
                files.change(change, || true);
                continue;
            }
            files.change(change, || match way {
                0 => false,
                1 => at < last,
                _ => numbers.below(2) == 0,
            });
        }
        files
    }
}
