//! The functions of a run, by their keys.

use parquet::data_type::ByteArray;
use sha2::{Digest, Sha256};

use super::error::DatasetError;
use crate::base::hex::hex;
use crate::store::{Cell, Database};

/// The functions of a run.
pub(super) struct Functions {
    /// Numbers in the database, in their order, each with its place among the keys.
    ids: Vec<(i64, u32)>,
    /// Keys as text, sorted.
    pub(super) keys: Vec<ByteArray>,
}

impl Functions {
    /// Reads the functions of a run.
    pub(super) fn read(database: &Database, run_id: i64) -> Result<Self, DatasetError> {
        let mut ids = Vec::new();
        let mut keys = Vec::new();
        database.each_dataset_row("function_keys", run_id, |cells| {
            if let Cell::Integer(id) = cells[0] {
                ids.push(id);
                keys.push(key(&cells[1..7]));
            }
        })?;
        let mut order: Vec<usize> = (0..keys.len()).collect();
        order.sort_by(|one, other| keys[*one].cmp(&keys[*other]));
        let mut ids: Vec<(i64, u32)> = order
            .iter()
            .zip(0..)
            .map(|(at, place)| (ids[*at], place))
            .collect();
        ids.sort_unstable();
        let mut texts: Vec<String> = keys;
        texts.sort_unstable();
        Ok(Self {
            ids,
            keys: texts
                .into_iter()
                .map(|key| ByteArray::from(key.into_bytes()))
                .collect(),
        })
    }

    /// The place of the key of a function.
    #[inline]
    pub(super) fn place(&self, id: i64) -> Result<u32, DatasetError> {
        // Functions of a run are mostly numbered one after the other.
        let first = self.ids.first().map_or(0, |(first, _)| *first);
        let guess = usize::try_from(id.wrapping_sub(first)).unwrap_or(usize::MAX);
        if let Some((found, place)) = self.ids.get(guess)
            && *found == id
        {
            return Ok(*place);
        }
        let found = self.ids.binary_search_by_key(&id, |(id, _)| *id);
        found.map(|at| self.ids[at].1).map_err(|_| {
            DatasetError::Content(format!(
                "the run has no figures of function {id}: `profdb check` locates the damage"
            ))
        })
    }
}

/// How many bytes of the hash are the key: of 10,000,000,000 functions no two have the same one, but for one chance in 1,000,000,000.
const KEY_BYTES: usize = 12;

/// Returns the key of a function: the beginning of a hash of kind, name, module, file, and the line and the column of its
/// definition.
fn key(parts: &[Cell<'_>]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        let number;
        let bytes = match part {
            Cell::Text(text) => *text,
            Cell::Integer(value) => {
                number = value.to_string();
                number.as_bytes()
            }
            Cell::Null | Cell::Real(_) => &[],
        };
        hash.update(u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
        hash.update(bytes);
    }
    hex(&hash.finalize()[..KEY_BYTES])
}

/// Refuses a row of `functions` whose key is that of another function: all that is said by the key would be said of this one.
///
/// # Errors
/// When it is none of it; what has no key is refused where functions are taken.
pub(super) fn check(row: &[Cell<'_>]) -> Result<(), DatasetError> {
    let expected = key(&row[2..8]);
    match row[1] {
        Cell::Text(found) if found != expected.as_bytes() => Err(DatasetError::Content(format!(
            "expected the key {expected} of the function {}, found {}",
            match row[3] {
                Cell::Text(name) => String::from_utf8_lossy(name),
                _ => "".into(),
            },
            String::from_utf8_lossy(found)
        ))),
        _ => Ok(()),
    }
}
