//! Values: the columns of a record, read one after the other.
//!
//! Reference: SQLite, "Database File Format", section 2.1 (record format).

use super::number::varint_at;

/// A value of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value<'r> {
    /// Also a column that the record ends before: rows may be older than a column, and SQLite
    /// leaves out what is NULL at the end.
    Null,
    Integer(i64),
    Real(f64),
    Text(&'r [u8]),
    Blob(&'r [u8]),
}

/// The columns of a record that have not been read yet.
pub(crate) struct Values<'r> {
    types: &'r [u8],
    values: &'r [u8],
}

impl<'r> Values<'r> {
    /// All columns of a record; `None` if it is none.
    pub(crate) fn of(record: &'r [u8]) -> Option<Self> {
        let mut at = 0;
        let header = usize::try_from(varint_at(record, &mut at)?).ok()?;
        Some(Self {
            types: record.get(at..header)?,
            values: record.get(header..)?,
        })
    }

    /// Whether a column is NULL, by its place among those that have not been read; `None` if only reading
    /// those before tells.
    #[inline]
    pub(crate) fn is_null(&self, at: usize) -> Option<bool> {
        // Types of numbers and short texts are one byte.
        let upto = self.types.get(..=at).unwrap_or(self.types);
        let are_bytes = upto.iter().all(|kind| *kind < 0x80);
        are_bytes.then(|| upto.get(at).is_none_or(|kind| *kind == 0))
    }

    /// The next column; `None` if it is not what the format says.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<Value<'r>> {
        let kind = match self.types {
            [] => return Some(Value::Null),
            // Types of numbers and short texts are one byte.
            [kind @ 0..0x80, rest @ ..] => {
                self.types = rest;
                u64::from(*kind)
            }
            types => {
                let mut at = 0;
                let kind = varint_at(types, &mut at)?;
                self.types = &types[at..];
                kind
            }
        };
        Some(match kind {
            0 => Value::Null,
            1 => Value::Integer(i64::from(i8::from_be_bytes(self.take()?))),
            2 => Value::Integer(i64::from(i16::from_be_bytes(self.take()?))),
            3 => {
                let bytes: [u8; 3] = self.take()?;
                let [high, middle, low] = bytes;
                Value::Integer(i64::from(i32::from_be_bytes([high, middle, low, 0]) >> 8))
            }
            4 => Value::Integer(i64::from(i32::from_be_bytes(self.take()?))),
            5 => {
                let bytes: [u8; 6] = self.take()?;
                let mut wide = [0; 8];
                wide[..6].copy_from_slice(&bytes);
                Value::Integer(i64::from_be_bytes(wide) >> 16)
            }
            6 => Value::Integer(i64::from_be_bytes(self.take()?)),
            7 => Value::Real(f64::from_be_bytes(self.take()?)),
            8 => Value::Integer(0),
            9 => Value::Integer(1),
            12.. => {
                let length = usize::try_from((kind - 12) / 2).ok()?;
                let (bytes, rest) = self.values.split_at_checked(length)?;
                self.values = rest;
                if kind % 2 == 0 {
                    Value::Blob(bytes)
                } else {
                    Value::Text(bytes)
                }
            }
            // Reserved.
            10 | 11 => return None,
        })
    }

    #[inline]
    fn take<const LENGTH: usize>(&mut self) -> Option<[u8; LENGTH]> {
        let (bytes, rest) = self.values.split_first_chunk()?;
        self.values = rest;
        Some(*bytes)
    }

    /// The next column, which has to be an integer.
    #[inline]
    pub(crate) fn integer(&mut self) -> Option<i64> {
        match self.next()? {
            Value::Integer(value) => Some(value),
            _ => None,
        }
    }

    /// The next column, which has to be an integer or NULL.
    #[inline]
    pub(crate) fn integer_or_null(&mut self) -> Option<Option<i64>> {
        match self.next()? {
            Value::Null => Some(None),
            Value::Integer(value) => Some(Some(value)),
            _ => None,
        }
    }

    /// The next column of type REAL, which has to be a number. SQLite stores whole ones as
    /// integers.
    #[inline]
    pub(crate) fn real(&mut self) -> Option<f64> {
        self.real_or_null()?
    }

    /// The next column of type REAL, which has to be a number or NULL.
    #[inline]
    pub(crate) fn real_or_null(&mut self) -> Option<Option<f64>> {
        match self.next()? {
            Value::Null => Some(None),
            #[expect(clippy::cast_precision_loss, reason = "as SQLite does")]
            Value::Integer(value) => Some(Some(value as f64)),
            Value::Real(value) => Some(Some(value)),
            Value::Text(_) | Value::Blob(_) => None,
        }
    }
}
