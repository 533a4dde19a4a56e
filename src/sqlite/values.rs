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

/// How many bytes the values of the types of numbers have, by the numbers of these types.
const LENGTHS: [usize; 10] = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0];

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

    /// The next column; `None` if it is not what the format says.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<Value<'r>> {
        let Some((kind, rest)) = self.types.split_first() else {
            return Some(Value::Null);
        };
        // Types of numbers are one byte.
        let Some(length) = LENGTHS.get(usize::from(*kind)) else {
            return self.text_or_blob();
        };
        self.types = rest;
        Some(match kind {
            0 => Value::Null,
            8 => Value::Integer(0),
            9 => Value::Integer(1),
            7 => Value::Real(f64::from_bits(self.number(*length)?.cast_unsigned())),
            _ => Value::Integer(self.number(*length)?),
        })
    }

    /// A number of 1 to 8 bytes, the highest first.
    #[inline]
    fn number(&mut self, length: usize) -> Option<i64> {
        let (bytes, rest) = self.values.split_at_checked(length)?;
        let wide = if let Some(wide) = self.values.first_chunk() {
            i64::from_be_bytes(*wide)
        } else {
            // Too near to the end to read more than there is.
            let number = bytes
                .iter()
                .fold(0, |number, byte| number << 8 | i64::from(*byte));
            number << (64 - 8 * length)
        };
        self.values = rest;
        // The sign is that of the highest byte.
        Some(wide >> (64 - 8 * length))
    }

    fn text_or_blob(&mut self) -> Option<Value<'r>> {
        let mut at = 0;
        let kind = varint_at(self.types, &mut at)?;
        self.types = self.types.get(at..)?;
        // What is less than this is reserved.
        let length = usize::try_from(kind.checked_sub(12)? / 2).ok()?;
        let (bytes, rest) = self.values.split_at_checked(length)?;
        self.values = rest;
        Some(if kind % 2 == 0 {
            Value::Blob(bytes)
        } else {
            Value::Text(bytes)
        })
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
