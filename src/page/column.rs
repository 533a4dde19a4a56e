//! Figures as compressed bytes: whole numbers of seven bits a byte, the lowest first, and the highest bit where more follow
//! (LEB128). `web/bytes.js` reads them.
//!
//! A cost is such a number, whose two lowest bits say what the others are: 0 the cost, 1 ten thousand times the cost, 2
//! nothing, and the eight bytes of the REAL follow, 3 nothing: it is unknown. So costs of samples take one or two bytes, and
//! no cost is rounded.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

/// Bytes that are handed to the compressor together.
const TOGETHER: usize = 1 << 15;

/// Bytes of pages that are compressed well: more of them take too long.
const FEW_PAGES: usize = 1 << 20;

/// Whole numbers are less than this, so that a number of JavaScript holds them with two bits more: 2^50.
const MOST: f64 = 1_125_899_906_842_624.0;

/// What costs with decimals are multiplied by. Times of a profiler that writes milliseconds with ten digits are whole then.
const DECIMAL: f64 = 1e4;

/// What the two lowest bits of a cost say.
const WHOLE: u64 = 0;
const DECIMALS: u64 = 1;
const REAL: u64 = 2;
const UNKNOWN: u64 = 3;

/// A column that is being written.
pub(super) struct Column {
    bytes: Vec<u8>,
    encoder: GzEncoder<Vec<u8>>,
}

impl Column {
    pub(super) fn new() -> Self {
        // The next levels take twice as long and save a twentieth: figures have few words that come again.
        Self::with(Compression::fast())
    }

    fn with(level: Compression) -> Self {
        Self {
            bytes: Vec::with_capacity(TOGETHER),
            encoder: GzEncoder::new(Vec::new(), level),
        }
    }

    /// Adds a whole number.
    pub(super) fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push((number & 0x7f) as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push((number & 0x7f) as u8);
        if self.bytes.len() >= TOGETHER {
            self.flush();
        }
    }

    /// Adds bytes as they are.
    pub(super) fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Adds a whole number that may be less than 0.
    pub(super) fn signed(&mut self, number: i64) {
        self.number(((number << 1) ^ (number >> 63)).cast_unsigned());
    }

    /// Adds a count; `None` if it is unknown. None is below 0.
    pub(super) fn count(&mut self, count: Option<i64>) {
        self.number(count.map_or(0, |count| count.unsigned_abs() + 1));
    }

    /// Adds a cost; `None` if it is unknown.
    pub(super) fn cost(&mut self, cost: Option<f64>) {
        let Some(cost) = cost else {
            self.number(UNKNOWN);
            return;
        };
        if let Some(whole) = whole(cost).filter(|whole| same(*whole, 1.0, cost)) {
            self.number(whole << 2 | WHOLE);
        } else if let Some(whole) =
            whole(cost * DECIMAL).filter(|whole| same(*whole, DECIMAL, cost))
        {
            self.number(whole << 2 | DECIMALS);
        } else {
            self.number(REAL);
            self.bytes.extend(cost.to_le_bytes());
        }
    }

    fn flush(&mut self) {
        // A vector takes everything.
        let _ = self.encoder.write_all(&self.bytes);
        self.bytes.clear();
    }

    /// The compressed bytes.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.flush();
        self.encoder.finish().unwrap_or_default()
    }
}

/// The nearest whole number, if it is none below 0 and not too large. Processors cut off what is after the point at once, but
/// round in many steps.
fn whole(cost: f64) -> Option<u64> {
    let up = cost + 0.5;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and a limit far below 2^64"
    )]
    (0.0..MOST).contains(&up).then_some(up as u64)
}

/// Whether a number divided by another one is a cost, bit by bit; -0 may become 0.
#[expect(
    clippy::float_cmp,
    clippy::cast_precision_loss,
    reason = "nothing may get lost, and whole numbers have 50 bits"
)]
fn same(whole: u64, divisor: f64, cost: f64) -> bool {
    whole as f64 / divisor == cost
}

/// Compresses pages of a database: quickly where they are many, as their figures have few words that come again.
pub(super) fn rows(pages: &[u8]) -> Vec<u8> {
    if pages.len() < FEW_PAGES {
        return bytes(pages);
    }
    let mut column = Column::new();
    column.bytes.extend_from_slice(pages);
    column.finish()
}

/// Compresses a text.
pub(super) fn text(text: &str) -> Vec<u8> {
    bytes(text.as_bytes())
}

/// Compresses bytes that have words which come again.
pub(super) fn bytes(bytes: &[u8]) -> Vec<u8> {
    let mut column = Column::with(Compression::default());
    column.bytes.extend_from_slice(bytes);
    column.finish()
}
