//! How short the uids of a database may be written.

use super::set::is_start_of_uid;
use crate::store::database::Database;
use crate::store::error::StoreError;

/// Characters that a short uid has at least, so that those which people have noted stay clear when runs are added.
const SHORT: usize = 8;

/// How short uids of a database may be written to be told apart.
#[derive(Clone, Copy, Debug)]
pub struct ShortUids {
    /// Characters in which no two of them are equal.
    length: usize,
}

impl ShortUids {
    /// The start of a uid which means this run, and no other one of the database, where runs are named. A uid of another
    /// form, which a stranger has written, is whole.
    #[must_use]
    pub fn short<'u>(&self, uid: &'u str) -> &'u str {
        // Digits would be the number of a run.
        let letter = uid.find(|character: char| !character.is_ascii_digit());
        let length = self.length.max(letter.map_or(uid.len(), |at| at + 1));
        match uid.get(..length) {
            Some(start) if is_start_of_uid(start) => start,
            _ => uid,
        }
    }
}

impl Database {
    /// How short uids may be written.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn short_uids(&self) -> Result<ShortUids, StoreError> {
        let read = || -> rusqlite::Result<usize> {
            // Those that are most alike are neighbours.
            let sql = "SELECT run_uid FROM runs ORDER BY run_uid";
            let mut statement = self.connection.prepare(sql)?;
            let mut rows = statement.query([])?;
            let (mut length, mut last) = (SHORT, Vec::new());
            while let Some(row) = rows.next()? {
                let uid = row.get_ref(0)?.as_bytes()?;
                let alike = uid
                    .iter()
                    .zip(&last)
                    .take_while(|(one, other)| one == other);
                length = length.max(alike.count() + 1);
                last.clear();
                last.extend_from_slice(uid);
            }
            Ok(length)
        };
        let length = read().map_err(|source| self.failed(source))?;
        Ok(ShortUids { length })
    }
}
