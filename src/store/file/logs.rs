//! Files beside a database that have the names of its journal or its log.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::location::is_absence;

/// What SQLite adds to the name of a database for its journal, its log, and the memory that goes
/// with that.
const LOGS: [&str; 3] = ["-journal", "-wal", "-shm"];

/// What a journal begins with, and where it has the number of pages that the database had before
/// the change (SQLite, "Database File Format", section 3).
const JOURNAL: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
const PAGES_BEFORE: usize = 16;

/// Where it has the number of its own pages.
const JOURNAL_PAGES: usize = 8;

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

/// What has the name of a log of a file without a byte. The file may have a journal of its own:
/// that of a first change which has been interrupted.
pub(super) fn log_of_another_beside(place: &Path) -> io::Result<Option<PathBuf>> {
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
    // A database that had no page before the change was empty: rolling this journal back leaves it
    // empty.
    let is_of_no_page = head.starts_with(&JOURNAL) && head.get(PAGES_BEFORE..) == Some(&[0; 4]);
    // A journal that is over and has been kept begins with zeros.
    Ok(is_of_no_page || head.first().is_none_or(|first| *first == 0))
}

/// Whether SQLite has begun to write to a database with a journal: before that it syncs the
/// journal, whose header then says how many pages it has.
pub(in crate::store) fn is_written_to(place: &Path) -> io::Result<bool> {
    let [journal, ..] = logs(place);
    let mut head = Vec::new();
    match File::open(journal) {
        Ok(file) => file.take(JOURNAL_PAGES as u64 + 4).read_to_end(&mut head)?,
        Err(error) if is_absence(&error) => return Ok(false),
        Err(error) => return Err(error),
    };
    Ok(head.starts_with(&JOURNAL) && head.get(JOURNAL_PAGES..) != Some(&[0; 4]))
}
