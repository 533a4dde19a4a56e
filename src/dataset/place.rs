//! Where the rows of a run are.

use std::path::{Path, PathBuf};

use crate::store::{DatasetRun, LONGEST_UID};

/// The column that the folders of a table are named after.
pub const PARTITION: &str = "day=";

/// The day of runs whose file does not say when it was recorded.
pub const UNKNOWN: &str = "unknown";

/// How the names of files end.
pub const ENDING: &str = "parquet";

/// The day on which a run was recorded, in UTC; never that of its import.
#[must_use]
pub fn day(run: &DatasetRun) -> &str {
    run.recorded_utc
        .as_deref()
        .and_then(|time| time.get(..10))
        .filter(|day| is_day(day))
        .unwrap_or(UNKNOWN)
}

/// Whether a text is a day: four digits, two and two.
#[must_use]
pub fn is_day(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 10
        && bytes.iter().enumerate().all(|(at, byte)| match at {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

/// Whether a text can be the uid of a run.
#[must_use]
pub fn is_uid(text: &str) -> bool {
    let is_hexadecimal = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    (1..=LONGEST_UID).contains(&text.len()) && text.bytes().all(is_hexadecimal)
}

/// Whether a uid can be the name of a file. All that profdb makes can; shorter ones cannot be told from the numbers by which engines
/// call their files.
#[must_use]
pub fn is_name(uid: &str) -> bool {
    uid.len() == LONGEST_UID && is_uid(uid)
}

/// The folder of a table on a day.
#[must_use]
pub fn folder(dataset: &Path, table: &str, day: &str) -> PathBuf {
    dataset.join(table).join(format!("{PARTITION}{day}"))
}

/// The file with the rows of a run in a table.
#[must_use]
pub fn file(dataset: &Path, table: &str, day: &str, uid: &str) -> PathBuf {
    named(&folder(dataset, table, day), uid)
}

/// The file of a run in the folder of a table and a day.
#[must_use]
pub fn named(folder: &Path, uid: &str) -> PathBuf {
    folder.join(format!("{uid}.{ENDING}"))
}
