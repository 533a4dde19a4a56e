//! Figures as compressed bytes: whole numbers of seven bits a byte, the lowest first, and the highest bit where more follow
//! (LEB128). `web/bytes.js` reads them.
//!
//! A cost is such a number, whose two lowest bits say what the others are: 0 the cost, 1 ten thousand times the cost, 2
//! nothing, and the eight bytes of the REAL follow, 3 a power of ten in four bits, and the ten digits of the cost times that
//! power; without a power, the cost is unknown. So costs of samples take one or two bytes, times of ten digits six, and no cost
//! is rounded.
//!
//! Most such bytes hardly ever come again, and compressing them would take longer than all else: they are gzip as well, but
//! in it as they are.

use std::cell::RefCell;

use flate2::{Compress, Compression, Crc, FlushCompress};

/// Bytes that are compressed together. No more than 65,535 may be kept as they are.
const TOGETHER: usize = 1 << 15;

/// Bytes that a number has at most, or a cost.
const LONGEST: usize = 10;

/// After bytes that are hardly smaller compressed, so many times [`TOGETHER`] are kept as they are before it is tried again.
const KEPT: u32 = 15;

/// Bytes that tell whether it is worth while to compress, and those that are not worth it in any case.
const SAMPLE: usize = 1 << 13;
const FEW: usize = 256;

/// Bytes of a text that is compressed well.
const FEW_BYTES: usize = 1 << 13;

/// Whole numbers are less than this, so that a number of JavaScript holds them with two bits more: 2^50.
const MOST: f64 = 1_125_899_906_842_624.0;

/// What costs with decimals are multiplied by. Short decimals of any size are whole then.
const DECIMAL: f64 = 1e4;

/// What is whole and less than this has ten digits at most. Dyalog writes times with ten.
const TEN_DIGITS: f64 = 1e10;

/// Powers of ten by which costs become whole numbers of ten digits.
const POWERS: [f64; 16] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
];

/// What the two lowest bits of a cost say.
const WHOLE: u64 = 0;
const DECIMALS: u64 = 1;
const REAL: u64 = 2;
const DIGITS: u64 = 3;

/// What the two lowest bits of a cost beside another one say: that it is there as such, how much its ten digits are more, and
/// how many REALs are between the two. There are no more than so many.
const BY_ITSELF: u64 = 0;
const BY_DIGITS: u64 = 1;
const BY_REALS: u64 = 2;
const FEW_STEPS: u64 = 1 << 20;

/// The number of an unknown cost: digits without a power.
const UNKNOWN: u64 = DIGITS;

/// The beginning and the end of compressed bytes (RFC 1952): deflate, no name, no time, any system; and the last block of them
/// (RFC 1951), which is empty.
const GZIP: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
const LAST: [u8; 5] = [1, 0, 0, 0xff, 0xff];

/// A column that is being written.
pub(super) struct Column {
    bytes: Vec<u8>,
    /// Gzip, as far as it is written.
    packed: Vec<u8>,
    sum: Crc,
    compressor: Option<Compressor>,
    /// How many times it is not tried to compress.
    kept: u32,
}

impl Column {
    pub(super) fn new() -> Self {
        Self::with_room(GZIP.len())
    }

    /// One that has room for so many compressed bytes: those of a large one need not be moved each time that it has grown.
    pub(super) fn with_room(room: usize) -> Self {
        let mut packed = Vec::with_capacity(room);
        packed.extend_from_slice(&GZIP);
        Self {
            bytes: Vec::with_capacity(TOGETHER + LONGEST),
            packed,
            sum: Crc::new(),
            compressor: None,
            kept: 0,
        }
    }

    /// Adds a whole number.
    #[inline]
    pub(super) fn number(&mut self, number: u64) {
        if number < 0x80 && self.bytes.len() < TOGETHER {
            self.bytes.push((number & 0x7f) as u8);
        } else {
            self.long_number(number);
        }
    }

    /// Adds a whole number of any length.
    fn long_number(&mut self, number: u64) {
        if self.bytes.len() >= TOGETHER {
            self.flush();
        }
        if number >> 56 == 0 {
            // All bytes at once, and those that it does not have are taken away: lengths by chance are hard to foresee.
            let (word, length) = seven_bits_each(number);
            let before = self.bytes.len();
            self.bytes.extend_from_slice(&word.to_le_bytes());
            self.bytes.truncate(before + length);
        } else {
            let mut rest = number;
            while rest >= 0x80 {
                self.bytes.push((rest & 0x7f) as u8 | 0x80);
                rest >>= 7;
            }
            self.bytes.push((rest & 0x7f) as u8);
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
    #[inline]
    pub(super) fn cost(&mut self, cost: Option<f64>) {
        let Some(cost) = cost else {
            self.number(UNKNOWN);
            return;
        };
        if let Some(whole) = whole(cost).filter(|whole| same(*whole, 1.0, cost)) {
            self.number(whole << 2 | WHOLE);
        } else if let Some(decimals) = decimals(cost) {
            self.number(decimals << 2 | DECIMALS);
        } else if let Some((digits, power)) = ten_digits(cost) {
            self.number((digits << 4 | power) << 2 | DIGITS);
        } else {
            self.number(REAL);
            self.bytes.extend(cost.to_le_bytes());
        }
    }

    /// Adds a cost that is nearly another one, which who reads this has found, with a number whose two lowest bits say how.
    pub(super) fn cost_beside(&mut self, number: u64, cost: Option<f64>, found: f64) {
        let of = |how: u64| number << 2 | how;
        let few = |difference: i64| difference.unsigned_abs() < FEW_STEPS;
        let digits = cost.and_then(|cost| digits_beside(cost, found));
        let reals = cost.map(|cost| cost.to_bits().cast_signed());
        let reals = reals.map(|reals| reals.wrapping_sub(found.to_bits().cast_signed()));
        if let Some(difference) = digits.filter(|difference| few(*difference)) {
            self.number(of(BY_DIGITS));
            self.signed(difference);
        } else if let Some(difference) = reals.filter(|difference| few(*difference)) {
            self.number(of(BY_REALS));
            self.signed(difference);
        } else {
            self.number(of(BY_ITSELF));
            self.cost(cost);
        }
    }

    /// Bytes that are compressed, as far as that is known.
    pub(super) fn packed(&self) -> usize {
        self.packed.len()
    }

    /// Takes what has been added since into the compressed bytes.
    fn flush(&mut self) {
        let bytes = self.bytes.as_slice();
        self.sum.update(bytes);
        let is_tried = self.kept == 0 && bytes.len() > FEW;
        // What has been compressed so far tells more than a sample, which takes a tenth of the time of the compressor.
        let is_promising = is_tried && (self.compressor.is_some() || is_promising(bytes));
        if !(is_promising && self.compress()) {
            // A compressor knows only bytes that it has seen itself: after these, there is another one.
            self.compressor = None;
            self.kept = if is_tried {
                KEPT
            } else {
                self.kept.saturating_sub(1)
            };
            keep(&self.bytes, &mut self.packed);
        }
        self.bytes.clear();
    }

    /// Compresses what has been added since, if that saves a third of it.
    fn compress(&mut self) -> bool {
        // The next levels take twice as long and save a twentieth: figures have few words that come again.
        let compressor = &mut self.compressor;
        let compressor = compressor.get_or_insert_with(|| Compressor::of(Compression::fast()));
        let before = self.packed.len();
        let is_done = compressor.deflate(&self.bytes, &mut self.packed);
        let is_small = is_done && self.packed.len() - before <= self.bytes.len() / 3 * 2;
        if !is_small {
            self.packed.truncate(before);
        }
        is_small
    }

    /// The compressed bytes.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.flush();
        end(&self.sum, self.packed)
    }
}

/// Whether a third of bytes may be saved, by those in the beginning: how many of four bytes each have been there before, and how
/// many bits the others take (their entropy).
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn is_promising(bytes: &[u8]) -> bool {
    let bytes = &bytes[..bytes.len().min(SAMPLE)];
    let mut seen = [[0; 4]; 1 << 10];
    let (mut at, mut fresh) = (0, 0);
    let mut counts = [0_u32; 256];
    while let Some(word) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let hash = u32::from_le_bytes(*word).wrapping_mul(0x9e37_79b1) >> 22;
        let known = &mut seen[hash as usize];
        if known == word {
            at += word.len();
            continue;
        }
        *known = *word;
        counts[usize::from(word[0])] += 1;
        fresh += 1;
        at += 1;
    }
    let all = f64::from(fresh);
    let counts = counts.iter().filter(|count| **count > 0);
    let bits: f64 = counts
        .map(|count| f64::from(*count) * (all / f64::from(*count)).log2())
        .sum();
    // Four bytes that have been there before take two.
    let repeated = (bytes.len() as f64 - all) * 4.0;
    bits + repeated <= bytes.len() as f64 * 8.0 / 3.0 * 2.0
}

thread_local! {
    /// Compressors that are not in use. One has more than 300 KB, which the system would have to give, and to clear, anew for
    /// each column.
    static IDLE: RefCell<Vec<(Compression, Compress)>> = const { RefCell::new(Vec::new()) };
}

/// A compressor, which is used again by the next column that needs one of its level.
struct Compressor {
    level: Compression,
    /// `None` once it is given back.
    deflate: Option<Compress>,
}

impl Compressor {
    /// One that has seen nothing.
    fn of(level: Compression) -> Self {
        let idle = IDLE.with_borrow_mut(|idle| {
            let at = idle.iter().position(|(of, _)| *of == level)?;
            let (_, mut deflate) = idle.swap_remove(at);
            deflate.reset();
            Some(deflate)
        });
        Self {
            level,
            deflate: Some(idle.unwrap_or_else(|| Compress::new(level, false))),
        }
    }

    /// Compresses bytes to the end, so that what follows is in whole bytes; `false` if that fails.
    fn deflate(&mut self, bytes: &[u8], to: &mut Vec<u8>) -> bool {
        let Some(deflate) = &mut self.deflate else {
            return false;
        };
        // Bytes that do not get smaller are more by less than that. A compressor that has used up its room does not tell whether
        // something waits for more, and one that is given all room of a vector clears it first.
        let room = bytes.len() + bytes.len() / 64 + 1024;
        let start = to.len();
        to.resize(start + room, 0);
        let (read, written) = (deflate.total_in(), deflate.total_out());
        let is_done = deflate.compress(bytes, &mut to[start..], FlushCompress::Sync);
        let (read, written) = (deflate.total_in() - read, deflate.total_out() - written);
        let has_room = written < room as u64;
        to.truncate(start + usize::try_from(written).unwrap_or(room));
        is_done.is_ok() && read == bytes.len() as u64 && has_room
    }
}

impl Drop for Compressor {
    fn drop(&mut self) {
        let Some(deflate) = self.deflate.take() else {
            return;
        };
        // At the end of the thread there is no list any more.
        let _ = IDLE.try_with(|idle| idle.borrow_mut().push((self.level, deflate)));
    }
}

/// Adds bytes as they are, in blocks that are not the last.
fn keep(bytes: &[u8], to: &mut Vec<u8>) {
    for piece in bytes.chunks(usize::from(u16::MAX)) {
        let length = u16::try_from(piece.len()).unwrap_or(u16::MAX);
        to.push(0);
        to.extend(length.to_le_bytes());
        to.extend((!length).to_le_bytes());
        to.extend_from_slice(piece);
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

/// Ten thousand times a cost as a whole number, if that is the cost when it is divided again. A product that is not near a whole
/// number tells without a division: of numbers that are both rounded it is off by two parts in 2^53 at most.
fn decimals(cost: f64) -> Option<u64> {
    const NEAR: f64 = 4.0 * f64::EPSILON;
    let product = cost * DECIMAL;
    let decimals = whole(product)?;
    #[expect(clippy::cast_precision_loss, reason = "whole numbers have 50 bits")]
    let is_near = (product - decimals as f64).abs() <= product * NEAR;
    (is_near && same(decimals, DECIMAL, cost)).then_some(decimals)
}

/// A number of 56 bits at most as bytes of seven bits, the lowest first, the highest bit set in all but the last; and how many bytes
/// these are.
#[inline]
fn seven_bits_each(number: u64) -> (u64, usize) {
    // Halves of 28 bits move apart, their halves of 14, and theirs of 7.
    let spread = (number & 0x0fff_ffff) | (number & 0x00ff_ffff_f000_0000) << 4;
    let spread = (spread & 0x0000_3fff_0000_3fff) | (spread & 0x0fff_c000_0fff_c000) << 2;
    let spread = (spread & 0x007f_007f_007f_007f) | (spread & 0x3f80_3f80_3f80_3f80) << 1;
    // 0 has one as well.
    let length = (70 - (number | 1).leading_zeros()) / 7;
    let more = 0x8080_8080_8080_8080 & ((1 << (8 * (length - 1))) - 1);
    (spread | more, length as usize)
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

/// A cost of ten digits as a whole number, and the power of ten that it was multiplied by; `None` if it has more digits.
fn ten_digits(cost: f64) -> Option<(u64, u64)> {
    let (digits, power) = nearest_ten_digits(cost)?;
    let is_it = power > 0 && same(digits, POWERS[power], cost);
    is_it.then_some((digits, power as u64))
}

/// How much the ten digits of a cost are more than those of another one, to which the difference has only to be added.
fn digits_beside(cost: f64, found: f64) -> Option<i64> {
    let (digits, power) = nearest_ten_digits(found)?;
    let wanted = whole(cost * POWERS[power])?;
    same(wanted, POWERS[power], cost).then(|| wanted.cast_signed() - digits.cast_signed())
}

/// The nearest number of ten digits as a whole number, and the power of ten that it was multiplied by.
fn nearest_ten_digits(cost: f64) -> Option<(u64, usize)> {
    let exponent = (cost.to_bits() >> 52).cast_signed() - 1023;
    // 77 / 256 is the decimal logarithm of 2, near enough. Costs below 0, and those that are too small or too large, have other
    // exponents.
    let mut power = usize::try_from(9 - ((exponent * 77) >> 8)).ok()?;
    let is_too_long = |factor| cost * factor >= TEN_DIGITS;
    if POWERS.get(power).is_none_or(is_too_long) {
        power = power.checked_sub(1)?;
    }
    Some((whole(cost * POWERS.get(power)?)?, power))
}

/// A part of a page: its name, and compressed bytes.
pub type Block = (String, Vec<u8>);

/// How many bytes blocks have.
pub(super) fn size<'b, N: 'b, B: AsRef<[u8]> + 'b>(
    blocks: impl IntoIterator<Item = &'b (N, B)>,
) -> usize {
    let bytes = blocks.into_iter().map(|(_, bytes)| bytes.as_ref().len());
    bytes.sum()
}

/// Compresses a text.
pub(super) fn text(text: &str) -> Vec<u8> {
    bytes(text.as_bytes())
}

/// Compresses bytes that have words which come again.
pub(super) fn bytes(bytes: &[u8]) -> Vec<u8> {
    // The next levels save a tenth of that, and take twice as long; what is short takes no time.
    let is_short = bytes.len() < FEW_BYTES;
    at_level(
        bytes,
        if is_short {
            Compression::new(3)
        } else {
            Compression::fast()
        },
    )
}

fn at_level(bytes: &[u8], level: Compression) -> Vec<u8> {
    let mut packed = GZIP.to_vec();
    if !Compressor::of(level).deflate(bytes, &mut packed) {
        packed.truncate(GZIP.len());
        keep(bytes, &mut packed);
    }
    let mut sum = Crc::new();
    sum.update(bytes);
    let mut packed = end(&sum, packed);
    packed.shrink_to_fit();
    packed
}

/// Ends compressed bytes.
fn end(sum: &Crc, mut packed: Vec<u8>) -> Vec<u8> {
    packed.extend(LAST);
    packed.extend(sum.sum().to_le_bytes());
    packed.extend(sum.amount().to_le_bytes());
    packed
}
