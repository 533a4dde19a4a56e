//! Records: the columns of a row in SQLite's encoding, a header with their serial types and then
//! their values.
//!
//! Reference: SQLite, "Database File Format", section 2.1 (record format).

use crate::number::{put_varint_before, seven_bits, varint_at};
use crate::values::Rest;

/// Bytes of serial types at most: a dozen columns, whose types take five bytes each.
const TYPES: usize = 60;

/// Bytes that are kept free before a record, for the header of its cell: two varints, the length of
/// the payload and the row id.
const CELL_HEADER: usize = 2 * 9;

/// Bytes before the values: for the header of the cell, and for that of the record, whose length
/// takes one byte.
const BEFORE_VALUES: usize = CELL_HEADER + 1 + TYPES;

/// An encoder of records, which reuses its buffer for one row after the other.
pub struct Record {
    types: [u8; TYPES],
    /// Bytes of serial types so far: one for most columns, several for long texts.
    type_bytes: usize,
    /// Room for what comes before the values, then the values.
    bytes: Vec<u8>,
}

impl Default for Record {
    fn default() -> Self {
        Self {
            types: [0; TYPES],
            type_bytes: 0,
            bytes: vec![0; BEFORE_VALUES],
        }
    }
}

/// The end of the columns that several records have in common.
#[derive(Clone, Copy)]
pub struct Mark {
    type_bytes: usize,
    bytes: usize,
}

/// SQLite stores whole numbers below this as integers also in columns of type REAL.
const WHOLE: f64 = 140_737_488_355_328.0;

/// A column of a record, counted from 0, if it is an integer; the record's first bytes are enough.
pub(crate) fn integer_at(record: &[u8], column: usize) -> Option<i64> {
    let mut at = 0;
    let header = usize::try_from(varint_at(record, &mut at)?).ok()?;
    let mut value = header;
    let length = |kind| match kind {
        0 | 8 | 9 => Some(0),
        1..=4 => Some(usize::try_from(kind).ok()?),
        5 => Some(6),
        6 | 7 => Some(8),
        10 | 11 => None,
        _ => usize::try_from((kind - 12) / 2).ok(),
    };
    for _ in 0..column {
        value = value.checked_add(length(varint_at(record.get(..header)?, &mut at)?)?)?;
    }
    let kind = varint_at(record.get(..header)?, &mut at)?;
    if !matches!(kind, 1..=6 | 8 | 9) {
        return None;
    }
    let bytes = record.get(value..value.checked_add(length(kind)?)?)?;
    let Some(first) = bytes.first() else {
        return Some(i64::from(kind == 9));
    };
    let sign = if first & 0x80 == 0 { 0 } else { -1 };
    let shifted = bytes
        .iter()
        .fold(sign, |number: i64, byte| number << 8 | i64::from(*byte));
    Some(shifted)
}

/// Serial type and length of a whole number that has so many bits besides its sign.
const INTEGERS: [(u8, u8); 64] = {
    let mut integers = [(6, 8); 64];
    let mut bits = 0;
    while bits < 48 {
        integers[bits] = match bits {
            0..8 => (1, 1),
            8..16 => (2, 2),
            16..24 => (3, 3),
            24..32 => (4, 4),
            _ => (5, 6),
        };
        bits += 1;
    }
    integers
};

impl Record {
    /// Starts a record without columns.
    pub fn start(&mut self) -> &mut Self {
        self.type_bytes = 0;
        self.bytes.truncate(BEFORE_VALUES);
        self
    }

    /// Returns the end of the columns so far, for [`start_at`](Self::start_at).
    pub fn mark(&self) -> Mark {
        Mark {
            type_bytes: self.type_bytes,
            bytes: self.bytes.len(),
        }
    }

    /// Starts a record with the columns of the previous record up to the mark.
    pub fn start_at(&mut self, mark: Mark) -> &mut Self {
        self.type_bytes = mark.type_bytes;
        self.bytes.truncate(mark.bytes);
        self
    }

    fn serial_type(&mut self, byte: u8) {
        self.types[self.type_bytes] = byte;
        self.type_bytes += 1;
    }

    /// Adds NULL.
    pub fn null(&mut self) -> &mut Self {
        self.serial_type(0);
        self
    }

    /// Adds an integer.
    pub fn integer(&mut self, value: i64) -> &mut Self {
        // No branch depends on how large a number is: the processor could not predict it.
        let bits = 64 - (value ^ (value >> 63)).leading_zeros();
        let (kind, length) = INTEGERS[bits as usize];
        let is_type = matches!(value, 0 | 1);
        let (kind, length) = if is_type {
            (8 + seven_bits(value.cast_unsigned()), 0)
        } else {
            (kind, length)
        };
        self.serial_type(kind);
        // All eight bytes are copied, those of the value first: a fixed number takes no call.
        let end = self.bytes.len() + usize::from(length);
        self.bytes
            .extend_from_slice(&value.rotate_right(8 * u32::from(length)).to_be_bytes());
        self.bytes.truncate(end);
        self
    }

    /// Adds a floating-point number.
    pub fn real(&mut self, value: f64) -> &mut Self {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "compared with what comes back"
        )]
        let whole = value as i64;
        #[expect(clippy::cast_precision_loss, reason = "compared with what went in")]
        // Adding 0.0 makes 0.0 of -0.0, which SQLite stores as 0, too. A larger whole number would
        // take eight bytes either way.
        if value.abs() < WHOLE && (whole as f64).to_bits() == (value + 0.0).to_bits() {
            return self.integer(whole);
        }
        self.serial_type(7);
        self.bytes.extend_from_slice(&value.to_be_bytes());
        self
    }

    /// Adds a text.
    pub fn text(&mut self, value: &str) -> &mut Self {
        self.text_bytes(value.as_bytes())
    }

    /// Adds a text, which need not be in UTF-8.
    pub fn text_bytes(&mut self, value: &[u8]) -> &mut Self {
        self.value_bytes(13, value)
    }

    /// Adds bytes whose serial type is that of no bytes and twice their number.
    fn value_bytes(&mut self, kind_of_none: u64, value: &[u8]) -> &mut Self {
        let mut kind = [0; 9];
        let start = put_varint_before(&mut kind, 9, kind_of_none + 2 * value.len() as u64);
        kind[start..]
            .iter()
            .for_each(|byte| self.serial_type(*byte));
        self.bytes.extend_from_slice(value);
        self
    }

    /// Adds a blob.
    pub fn blob(&mut self, value: &[u8]) -> &mut Self {
        self.value_bytes(12, value)
    }

    /// Adds an integer, or NULL.
    pub fn integer_or_null(&mut self, value: Option<i64>) -> &mut Self {
        match value {
            Some(value) => self.integer(value),
            None => self.null(),
        }
    }

    /// Adds a floating-point number, or NULL.
    pub fn real_or_null(&mut self, value: Option<f64>) -> &mut Self {
        match value {
            Some(value) => self.real(value),
            None => self.null(),
        }
    }

    /// Adds a text, or NULL.
    pub fn text_or_null(&mut self, value: Option<&str>) -> &mut Self {
        match value {
            Some(value) => self.text(value),
            None => self.null(),
        }
    }

    /// Adds the last columns of another record. Returns `false`, and adds nothing, if the record would have too many columns.
    pub fn rest(&mut self, rest: Rest<'_>) -> bool {
        let end = self.type_bytes + rest.types.len();
        let Some(types) = self.types.get_mut(self.type_bytes..end) else {
            return false;
        };
        types.copy_from_slice(rest.types);
        self.type_bytes = end;
        self.bytes.extend_from_slice(rest.values);
        true
    }

    /// Returns the encoded record.
    pub fn bytes(&mut self) -> &[u8] {
        let (bytes, start) = self.encoded();
        &bytes[start..]
    }

    /// The record in its encoding: all bytes, and where the record begins. The 18 bytes before it
    /// are free for the header of its cell. Columns at the end that are NULL are left out, as in
    /// rows that are older than a column.
    pub(crate) fn encoded(&mut self) -> (&mut [u8], usize) {
        while self.type_bytes > 0 && self.types[self.type_bytes - 1] == 0 {
            self.type_bytes -= 1;
        }
        let start = BEFORE_VALUES - self.type_bytes - 1;
        // The length of the header is below 128: one byte.
        self.bytes[start] = seven_bits(self.type_bytes as u64 + 1);
        self.bytes[start + 1..BEFORE_VALUES].copy_from_slice(&self.types[..self.type_bytes]);
        (&mut self.bytes, start)
    }
}

/// The first column of a row of an index, from its cell on a leaf page; `None` if that is no
/// integer, or no row.
pub(crate) fn first_integer(cell: &[u8]) -> Option<i64> {
    let mut at = 0;
    varint_at(cell, &mut at)?;
    let start = at;
    let header = usize::try_from(varint_at(cell, &mut at)?).ok()?;
    let kind = varint_at(cell, &mut at)?;
    let length = match kind {
        8 => return Some(0),
        9 => return Some(1),
        1..=4 => usize::try_from(kind).ok()?,
        5 => 6,
        6 => 8,
        _ => return None,
    };
    let value = cell.get(start.checked_add(header)?..)?.get(..length)?;
    let mut bytes = [if value[0] < 0x80 { 0 } else { 0xff }; 8];
    bytes[8 - length..].copy_from_slice(value);
    Some(i64::from_be_bytes(bytes))
}
