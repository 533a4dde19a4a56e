//! Rows as SQLite writes them.
//!
//! Reference: SQLite, "Database File Format", section 2.1 (records).

use std::io;

use super::btree::{Kind, LINK, Pages};

/// Bytes in front of a row's values: for its types, whose length is one byte, and for two numbers
/// before them.
const AHEAD: usize = 2 * 9 + 1 + TYPES;
/// Bytes of types at most: a dozen columns, whose types take five bytes each.
const TYPES: usize = 60;

/// The columns of a row as SQLite writes them: their types first, then their values.
pub(crate) struct Record {
    types: [u8; TYPES],
    columns: usize,
    /// Values, behind room for what comes before them.
    bytes: Vec<u8>,
}

impl Default for Record {
    fn default() -> Self {
        Self {
            types: [0; TYPES],
            columns: 0,
            bytes: vec![0; AHEAD],
        }
    }
}

/// How far a row has got, to go on from there more than once.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    columns: usize,
    bytes: usize,
}

/// Whole numbers below this are stored as integers also in columns of type REAL: SQLite does so.
const WHOLE: f64 = 140_737_488_355_328.0;

/// Type and length of a whole number that has so many bits besides its sign.
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
    /// Begins a row.
    pub(crate) fn start(&mut self) -> &mut Self {
        self.columns = 0;
        self.bytes.truncate(AHEAD);
        self
    }

    /// How far the row has got.
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            columns: self.columns,
            bytes: self.bytes.len(),
        }
    }

    /// Begins a row with the columns that there were at the mark.
    pub(crate) fn start_at(&mut self, mark: Mark) -> &mut Self {
        self.columns = mark.columns;
        self.bytes.truncate(mark.bytes);
        self
    }

    fn kind(&mut self, kind: u8) {
        self.types[self.columns] = kind;
        self.columns += 1;
    }

    pub(crate) fn null(&mut self) -> &mut Self {
        self.kind(0);
        self
    }

    pub(crate) fn integer(&mut self, value: i64) -> &mut Self {
        // No branch depends on how large a number is: nobody could foresee it.
        let bits = 64 - (value ^ (value >> 63)).leading_zeros();
        let (kind, length) = INTEGERS[bits as usize];
        let is_type = matches!(value, 0 | 1);
        let (kind, length) = if is_type {
            (8 + low_bits(value.cast_unsigned()), 0)
        } else {
            (kind, length)
        };
        self.kind(kind);
        // All eight bytes, those that count first: copying a fixed number costs no call.
        let end = self.bytes.len() + usize::from(length);
        self.bytes
            .extend_from_slice(&value.rotate_right(8 * u32::from(length)).to_be_bytes());
        self.bytes.truncate(end);
        self
    }

    pub(crate) fn real(&mut self, value: f64) -> &mut Self {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "compared with what comes back"
        )]
        let whole = value as i64;
        #[expect(clippy::cast_precision_loss, reason = "compared with what went in")]
        if value.abs() < WHOLE && (whole as f64).to_bits() == (value + 0.0).to_bits() {
            return self.integer(whole);
        }
        self.kind(7);
        self.bytes.extend_from_slice(&value.to_be_bytes());
        self
    }

    pub(crate) fn text(&mut self, value: &str) -> &mut Self {
        let mut kind = [0; 9];
        let start = varint_before(&mut kind, 9, 13 + 2 * value.len() as u64);
        kind[start..].iter().for_each(|byte| self.kind(*byte));
        self.bytes.extend_from_slice(value.as_bytes());
        self
    }

    pub(crate) fn integer_or_null(&mut self, value: Option<i64>) -> &mut Self {
        match value {
            Some(value) => self.integer(value),
            None => self.null(),
        }
    }

    pub(crate) fn real_or_null(&mut self, value: Option<f64>) -> &mut Self {
        match value {
            Some(value) => self.real(value),
            None => self.null(),
        }
    }

    pub(crate) fn text_or_null(&mut self, value: Option<&str>) -> &mut Self {
        match value {
            Some(value) => self.text(value),
            None => self.null(),
        }
    }

    /// The row as a page holds it. What is too long for a page with others goes to pages of its
    /// own, and the rest to `short`. Columns at the end that are NULL are left out, as in rows that
    /// are older than a column.
    pub(crate) fn cell<'c>(
        &'c mut self,
        tree: Kind,
        row: Option<u64>,
        pages: &mut impl Pages,
        short: &'c mut Vec<u8>,
    ) -> io::Result<&'c [u8]> {
        while self.columns > 0 && self.types[self.columns - 1] == 0 {
            self.columns -= 1;
        }
        let record = AHEAD - self.columns - 1;
        // Below 128: one byte.
        self.bytes[record] = low_bits(self.columns as u64 + 1);
        self.bytes[record + 1..AHEAD].copy_from_slice(&self.types[..self.columns]);
        let length = self.bytes.len() - record;
        let start = row.map_or(record, |row| varint_before(&mut self.bytes, record, row));
        let start = varint_before(&mut self.bytes, start, length as u64);
        let kept = tree.kept(length, pages.page_size());
        if kept == length {
            return Ok(&self.bytes[start..]);
        }
        let (cell, spilled) = self.bytes.split_at(record + kept);
        let mut next = 0_u32;
        for part in spilled.chunks(pages.page_size() - LINK).rev() {
            let mut page = next.to_be_bytes().to_vec();
            page.extend_from_slice(part);
            page.resize(pages.page_size(), 0);
            next = pages.append_rest(&page)?;
        }
        short.extend_from_slice(&cell[start..]);
        short.extend_from_slice(&next.to_be_bytes());
        Ok(short)
    }
}

/// A number in as few bytes as it needs, seven bits each.
pub(crate) fn varint(bytes: &mut Vec<u8>, value: u64) {
    if value < 0x80 {
        bytes.push(low_bits(value));
        return;
    }
    if value >> 56 != 0 {
        // The ninth byte has eight bits.
        for shift in (1..9).rev() {
            bytes.push(0x80 | low_bits(value >> (7 * shift + 1)));
        }
        bytes.push(value.to_be_bytes()[7]);
        return;
    }
    let groups = (64 - value.leading_zeros()).div_ceil(7);
    for group in (0..groups).rev() {
        let more = if group > 0 { 0x80 } else { 0 };
        bytes.push(more | low_bits(value >> (7 * group)));
    }
}

/// The same in front of what begins at `end`; says where it begins itself.
fn varint_before(bytes: &mut [u8], end: usize, value: u64) -> usize {
    if value >> 56 != 0 {
        let mut long = Vec::new();
        varint(&mut long, value);
        let start = end - long.len();
        bytes[start..end].copy_from_slice(&long);
        return start;
    }
    let mut start = end - 1;
    bytes[start] = low_bits(value);
    let mut rest = value >> 7;
    while rest > 0 {
        start -= 1;
        bytes[start] = 0x80 | low_bits(rest);
        rest >>= 7;
    }
    start
}

/// The lowest seven bits.
fn low_bits(value: u64) -> u8 {
    value.to_be_bytes()[7] & 0x7f
}
