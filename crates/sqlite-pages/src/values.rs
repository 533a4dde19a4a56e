//! Values: the columns of a record, read one after the other.
//!
//! Reference: SQLite, "Database File Format", section 2.1 (record format).

use crate::number::varint_at;

/// The value of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'r> {
    /// NULL, or a column that the record does not have: rows may be older than a column.
    Null,
    /// An integer, or a whole number of a column of type REAL.
    Integer(i64),
    /// A floating-point number.
    Real(f64),
    /// A text in the encoding of the database, which need not be valid.
    Text(&'r [u8]),
    /// A blob.
    Blob(&'r [u8]),
}

/// A decoder of records, which reads one column after the other.
pub struct Values<'r> {
    types: &'r [u8],
    values: &'r [u8],
}

/// The last columns of a record in their encoding: NULL, numbers, and texts in UTF-8.
#[derive(Clone, Copy, Default)]
pub struct Rest<'r> {
    pub(crate) types: &'r [u8],
    pub(crate) values: &'r [u8],
}

/// Bytes of values by their serial types, as far as these are numbers or NULL.
const LENGTHS: [u8; 10] = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0];

impl<'r> Values<'r> {
    /// Creates a decoder before the first column; `None` if the bytes are not a record.
    #[inline]
    pub fn new(record: &'r [u8]) -> Option<Self> {
        let mut at = 0;
        let header = usize::try_from(varint_at(record, &mut at)?).ok()?;
        Some(Self {
            types: record.get(at..header)?,
            values: record.get(header..)?,
        })
    }

    /// Returns whether a column is NULL; `at` counts the columns that have not been read. `None` if the columns before must be read
    /// first.
    #[inline]
    pub fn is_null(&self, at: usize) -> Option<bool> {
        // Types of numbers and short texts are one byte.
        let upto = self.types.get(..=at).unwrap_or(self.types);
        let are_bytes = upto.iter().all(|kind| *kind < 0x80);
        are_bytes.then(|| upto.get(at).is_none_or(|kind| *kind == 0))
    }

    /// Reads the next column; `None` if it violates the file format. Columns after the last one are NULL.
    #[inline]
    pub fn next_value(&mut self) -> Option<Value<'r>> {
        // What a function is called with lies in memory. A copy does here: the columns themselves may stay in registers.
        let mut columns = Self {
            types: self.types,
            values: self.values,
        };
        let value = columns.of_any_type()?;
        *self = columns;
        Some(value)
    }

    /// The next column, whatever its type.
    fn of_any_type(&mut self) -> Option<Value<'r>> {
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

    /// Returns the columns that have not been read, to be copied. `None` if there are more than `most`, if they violate the file
    /// format, or if one of them is not a text in UTF-8, a number or NULL.
    pub fn rest(self, most: usize) -> Option<Rest<'r>> {
        let Self { types, values } = self;
        let mut length = 0;
        let are_numbers = types.iter().all(|kind| {
            let of_kind = LENGTHS.get(usize::from(*kind));
            length += usize::from(*of_kind.unwrap_or(&0));
            of_kind.is_some()
        });
        let are_right = if are_numbers {
            types.len() <= most && length == values.len()
        } else {
            self.are_plain(most)?
        };
        are_right.then_some(Rest { types, values })
    }

    /// Whether there are so many columns at most, none of them is a blob, and texts are UTF-8.
    fn are_plain(mut self, most: usize) -> Option<bool> {
        let mut columns = 0;
        while !self.types.is_empty() {
            columns += 1;
            let is_plain = match self.next_value()? {
                Value::Text(text) => str::from_utf8(text).is_ok(),
                Value::Blob(_) => false,
                Value::Null | Value::Integer(_) | Value::Real(_) => true,
            };
            if !is_plain {
                return Some(false);
            }
        }
        Some(columns <= most && self.values.is_empty())
    }

    #[inline]
    fn take<const LENGTH: usize>(&mut self) -> Option<[u8; LENGTH]> {
        let (bytes, rest) = self.values.split_first_chunk()?;
        self.values = rest;
        Some(*bytes)
    }

    /// An integer of a kind that is 1 to 6, whose type has been read. Where eight bytes are left, which is nearly always, the
    /// first of them are it.
    #[inline]
    fn integer_of(&mut self, kind: u8) -> Option<i64> {
        let length = usize::from(LENGTHS[usize::from(kind)]);
        let word = if let Some(bytes) = self.values.first_chunk() {
            i64::from_be_bytes(*bytes)
        } else {
            // A copy of so few bytes, whose number is known here only, would be a call.
            let bytes = self.values.get(..length)?.iter();
            let number = bytes.fold(0, |number, byte| number << 8 | u64::from(*byte));
            (number << (64 - 8 * length)).cast_signed()
        };
        self.values = &self.values[length..];
        Some(word >> (64 - 8 * length))
    }

    /// Skips the next column if it is NULL, and returns whether it was.
    #[inline]
    pub fn skips_null(&mut self) -> bool {
        match self.types {
            [] => true,
            [0, rest @ ..] => {
                self.types = rest;
                true
            }
            _ => false,
        }
    }

    /// The next column, if it is an integer, as most figures are.
    #[inline]
    fn usual_integer(&mut self) -> Option<i64> {
        let (value, rest) = match self.types {
            [kind @ 1..=6, rest @ ..] => (self.integer_of(*kind)?, rest),
            // 0 and 1 have a type each.
            [kind @ 8..=9, rest @ ..] => (i64::from(kind - 8), rest),
            _ => return None,
        };
        self.types = rest;
        Some(value)
    }

    /// Reads the next column; `None` if it is not an integer.
    #[inline]
    pub fn integer(&mut self) -> Option<i64> {
        if let Some(value) = self.usual_integer() {
            return Some(value);
        }
        match self.next_value()? {
            Value::Integer(value) => Some(value),
            _ => None,
        }
    }

    /// Reads the next column; `None` if it is neither an integer nor NULL.
    #[expect(
        clippy::inline_always,
        reason = "a call would write the columns to memory, from where they cannot be copied before they are there"
    )]
    #[inline(always)]
    pub fn integer_or_null(&mut self) -> Option<Option<i64>> {
        if self.skips_null() {
            return Some(None);
        }
        if let Some(value) = self.usual_integer() {
            return Some(Some(value));
        }
        match self.next_value()? {
            Value::Null => Some(None),
            Value::Integer(value) => Some(Some(value)),
            _ => None,
        }
    }

    /// Reads the next column, which has the type REAL; `None` if it is not a number. SQLite stores whole numbers as integers.
    #[inline]
    pub fn real(&mut self) -> Option<f64> {
        self.real_or_null()?
    }

    /// Reads the next column, which has the type REAL; `None` if it is neither a number nor NULL.
    #[inline]
    pub fn real_or_null(&mut self) -> Option<Option<f64>> {
        if let [7, types @ ..] = self.types
            && let Some((bytes, values)) = self.values.split_first_chunk()
        {
            (self.types, self.values) = (types, values);
            return Some(Some(f64::from_be_bytes(*bytes)));
        }
        if self.skips_null() {
            return Some(None);
        }
        match self.next_value()? {
            Value::Null => Some(None),
            #[expect(clippy::cast_precision_loss, reason = "as SQLite does")]
            Value::Integer(value) => Some(Some(value as f64)),
            Value::Real(value) => Some(Some(value)),
            Value::Text(_) | Value::Blob(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Record;

    fn record(write: impl Fn(&mut Record)) -> Vec<u8> {
        let mut record = Record::default();
        write(record.start());
        record.bytes().to_vec()
    }

    fn rest(record: &[u8], most: usize) -> Option<Rest<'_>> {
        Values::new(record)?.rest(most)
    }

    #[test]
    fn the_rest_of_a_record_is_copied_as_it_is() {
        let long = "é".repeat(40);
        let columns: [&dyn Fn(&mut Record); 3] = [
            &|_| (),
            &|record| {
                let record = record.null().integer(-7).integer(1 << 40);
                record.real(0.5).integer(1).null();
            },
            &|record| {
                record.text(&long).integer(3).text("");
            },
        ];
        for write in columns {
            let of_all = record(|record| {
                record.integer(12);
                write(record);
            });
            let mut values = Values::new(&of_all).expect("a record");
            assert_eq!(values.next_value(), Some(Value::Integer(12)));
            let rest = values.rest(6).expect("columns that can be copied");
            let copied = record(|record| assert!(record.integer(12).rest(rest)));
            assert_eq!(copied, of_all);
        }
    }

    #[test]
    fn only_sound_columns_are_copied() {
        let numbers = record(|record| _ = record.integer(3).real(0.5));
        assert!(rest(&numbers, 2).is_some());
        assert!(rest(&numbers, 1).is_none(), "more columns than there are");
        let text = record(|record| _ = record.integer(3).text("a"));
        assert!(rest(&text, 2).is_some());
        assert!(rest(&text, 1).is_none());
        for record in [numbers, text] {
            let cut = rest(&record[..record.len() - 1], 2);
            assert!(cut.is_none(), "a value ends after the record");
            let long = [&*record, b"x"].concat();
            assert!(rest(&long, 2).is_none(), "bytes of no column");
        }
        let blob = record(|record| _ = record.blob(b"a"));
        let latin1 = record(|record| _ = record.text_bytes(b"\xe9"));
        assert!(rest(&blob, 2).is_none() && rest(&latin1, 2).is_none());
        // A record of one column whose serial type is reserved.
        assert!(rest(&[2, 10], 1).is_none());
    }
}
