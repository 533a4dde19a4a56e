//! Pages of a column: levels, encodings, compression, and what is said of them beside.
//!
//! The writers of the crate `parquet` look each value up in a dictionary and take it by itself, which is four times the work
//! (docs/design/0024-dataset.md): here, texts and keys are numbers already. All that is around pages is the crate's.

use std::iter::repeat_n;

use bytes::Bytes;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use zstd::stream::raw::{CParameter, Encoder, InBuffer, Operation, OutBuffer};
use zstd::zstd_safe::{Strategy, compress_bound};

/// How hard zstd tries, as files state it. What it does is said by [`Matches`].
const LEVEL: i32 = 1;

/// What zstd looks for in a page, by what is in there: a page of random bytes is smaller, and costs less, where nothing is looked for
/// that is there by chance (docs/design/0024-dataset.md).
#[derive(Clone, Copy)]
pub(super) enum Matches {
    /// Costs, most of whose bytes are random: hardly anything.
    Costs,
    /// Other numbers.
    Numbers,
    /// Places in a dictionary that are two bytes or more: two functions that follow each other are four.
    Places,
    /// Keys and names.
    Texts,
}

impl Matches {
    fn parameters(self) -> [CParameter; 4] {
        let (strategy, chain, hash, least) = match self {
            Self::Costs => (Strategy::ZSTD_fast, 6, 6, 7),
            Self::Numbers => (Strategy::ZSTD_dfast, 14, 15, 5),
            Self::Places => (Strategy::ZSTD_dfast, 14, 15, 4),
            Self::Texts => (Strategy::ZSTD_fast, 13, 14, 7),
        };
        [
            CParameter::Strategy(strategy),
            CParameter::ChainLog(chain),
            CParameter::HashLog(hash),
            CParameter::MinMatch(least),
        ]
    }
}

/// How far back zstd looks: a number of bits.
const WINDOW: u32 = 19;

/// Parts of a page that are at least so long are compressed each by its own statistics.
const PART: usize = 1 << 11;

/// Equal values that are written as one, if there are so many.
const RUN: usize = 16;

/// Compresses pages; its tables are used again for each.
pub(super) struct Zstd {
    encoder: Encoder<'static>,
    page: PageBytes,
    compressed: Vec<u8>,
}

/// The page that is being made.
#[derive(Default)]
pub(super) struct PageBytes {
    bytes: Vec<u8>,
    /// Where parts end whose bytes are of another kind than those after them.
    ends: Vec<usize>,
}

/// The pages of a column of a row group.
pub(super) struct Pages {
    bytes: TrackedWrite<Vec<u8>>,
    encodings: Vec<Encoding>,
    dictionary: Option<i64>,
    data: Option<i64>,
    uncompressed: usize,
    rows: usize,
    nulls: usize,
}

impl PageBytes {
    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Says that what comes next has other statistics.
    fn end_part(&mut self) {
        self.ends.push(self.bytes.len());
    }
}

impl Zstd {
    pub(super) fn new() -> Result<Self, ParquetError> {
        let mut encoder = Encoder::new(LEVEL)?;
        encoder.set_parameter(CParameter::WindowLog(WINDOW))?;
        encoder.set_parameter(CParameter::SearchLog(1))?;
        // Every reader of zstd compares it: a bit that has changed on a disk or on the way is no other figure. Pages' own checksums
        // are looked at by few readers. It takes four bytes.
        encoder.set_parameter(CParameter::ChecksumFlag(true))?;
        Ok(Self {
            encoder,
            page: PageBytes::default(),
            compressed: Vec::new(),
        })
    }

    /// How pages are compressed, as files state it.
    pub(super) fn compression() -> Result<Compression, ParquetError> {
        Ok(Compression::ZSTD(ZstdLevel::try_new(LEVEL)?))
    }

    /// Compresses the page: one frame, in which every long part begins a block, as a block has one table of frequent bytes.
    fn compressed(&mut self, matches: Matches) -> Result<(Bytes, usize), ParquetError> {
        let PageBytes { bytes, ends } = &self.page;
        self.encoder.reinit()?;
        for parameter in matches.parameters() {
            self.encoder.set_parameter(parameter)?;
        }
        self.encoder
            .set_pledged_src_size(Some(bytes.len() as u64))?;
        // A block takes three bytes more than what it has, at most.
        let room = compress_bound(bytes.len()) + 16 * (ends.len() + 1);
        self.compressed.clear();
        self.compressed.reserve(room);
        let mut out = OutBuffer::around(&mut self.compressed);
        let mut start = 0;
        for end in ends.iter().copied().chain([bytes.len()]) {
            if end - start < PART && end < bytes.len() {
                continue;
            }
            let mut part = InBuffer::around(&bytes[start..end]);
            while part.pos() < end - start {
                self.encoder.run(&mut part, &mut out)?;
            }
            if end < bytes.len() {
                while self.encoder.flush(&mut out)? > 0 {}
            }
            start = end;
        }
        while self.encoder.finish(&mut out, true)? > 0 {}
        Ok((Bytes::copy_from_slice(&self.compressed), bytes.len()))
    }
}

impl Default for Pages {
    fn default() -> Self {
        Self {
            bytes: TrackedWrite::new(Vec::new()),
            encodings: vec![Encoding::RLE],
            dictionary: None,
            data: None,
            uncompressed: 0,
            rows: 0,
            nulls: 0,
        }
    }
}

impl Pages {
    fn write(&mut self, page: Page, uncompressed: usize) -> Result<(), ParquetError> {
        let written = SerializedPageWriter::new(&mut self.bytes)
            .write_page(CompressedPage::new(page, uncompressed))?;
        self.uncompressed += written.uncompressed_size;
        Ok(())
    }

    fn offset(&self) -> i64 {
        i64::try_from(self.bytes.bytes_written()).unwrap_or(i64::MAX)
    }

    fn encoded(&mut self, encoding: Encoding) {
        if !self.encodings.contains(&encoding) {
            self.encodings.push(encoding);
        }
    }

    /// Adds the page that all places of a column point into. It comes before the others.
    pub(super) fn dictionary(
        &mut self,
        zstd: &mut Zstd,
        count: usize,
        fill: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(), ParquetError> {
        zstd.page.clear();
        fill(&mut zstd.page.bytes);
        let (buf, uncompressed) = zstd.compressed(Matches::Texts)?;
        self.dictionary = Some(self.offset());
        self.encoded(Encoding::PLAIN);
        let page = Page::DictionaryPage {
            buf,
            num_values: u32::try_from(count).unwrap_or(u32::MAX),
            encoding: Encoding::PLAIN,
            is_sorted: false,
        };
        self.write(page, uncompressed)
    }

    /// Adds a page of so many rows. `levels` has for each whether it has a value; it is empty in columns without NULL, and
    /// `None` there.
    pub(super) fn data(
        &mut self,
        zstd: &mut Zstd,
        rows: usize,
        levels: Option<&[bool]>,
        (encoding, matches): (Encoding, Matches),
        fill: impl FnOnce(&mut PageBytes),
    ) -> Result<(), ParquetError> {
        zstd.page.clear();
        if let Some(levels) = levels {
            let bytes = &mut zstd.page.bytes;
            bytes.extend([0; 4]);
            bits(levels, bytes);
            let length = u32::try_from(bytes.len() - 4).unwrap_or(u32::MAX);
            bytes[..4].copy_from_slice(&length.to_le_bytes());
            self.nulls += levels.iter().filter(|is_there| !**is_there).count();
            zstd.page.end_part();
        }
        fill(&mut zstd.page);
        let (buf, uncompressed) = zstd.compressed(matches)?;
        let offset = self.offset();
        self.data.get_or_insert(offset);
        self.encoded(encoding);
        self.rows += rows;
        let page = Page::DataPage {
            buf,
            num_values: u32::try_from(rows).unwrap_or(u32::MAX),
            encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        self.write(page, uncompressed)
    }

    /// All that has been written, and what a row group has to know of it. Statistics are made for the number of NULLs.
    pub(super) fn close(
        self,
        column: ColumnDescPtr,
        statistics: impl FnOnce(u64) -> Option<Statistics>,
    ) -> Result<(Vec<u8>, ColumnCloseResult), ParquetError> {
        let bytes = self.bytes.into_inner()?;
        let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        let mut metadata = ColumnChunkMetaData::builder(column)
            .set_compression(Zstd::compression()?)
            .set_encodings(self.encodings)
            .set_total_compressed_size(count(bytes.len()))
            .set_total_uncompressed_size(count(self.uncompressed))
            .set_num_values(count(self.rows))
            .set_dictionary_page_offset(self.dictionary)
            .set_data_page_offset(self.data.unwrap_or_default());
        if let Some(statistics) = statistics(self.nulls as u64) {
            metadata = metadata.set_statistics(statistics);
        }
        let close = ColumnCloseResult {
            bytes_written: bytes.len() as u64,
            rows_written: self.rows as u64,
            metadata: metadata.build()?,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        Ok((bytes, close))
    }
}

/// How many bits places have in a dictionary of so many values. More than eight are made whole bytes, as zstd finds in them what
/// comes again.
pub(super) fn width(values: usize) -> u32 {
    let bits = usize::BITS - values.saturating_sub(1).leading_zeros();
    if bits > 8 {
        bits.next_multiple_of(8)
    } else {
        bits
    }
}

/// Adds the places of values in a dictionary.
pub(super) fn places(places: &[u32], width: u32, page: &mut PageBytes) {
    page.bytes.push(u8::try_from(width).unwrap_or(32));
    hybrid(places, width, &mut page.bytes);
}

/// Adds the places of so many values that are all the one of a dictionary.
pub(super) fn one_place(count: usize, page: &mut PageBytes) {
    page.bytes.push(0);
    if count > 0 {
        varint((count as u64) << 1, &mut page.bytes);
    }
}

/// Adds values one after the other.
pub(super) fn plain(page: &mut PageBytes, fill: impl FnOnce(&mut Vec<u8>)) {
    fill(&mut page.bytes);
}

/// Adds a text with its length before it.
pub(super) fn text(text: &[u8], out: &mut Vec<u8>) {
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
    out.extend(length.to_le_bytes());
    out.extend(text);
}

/// Adds numbers of 64 bits byte by byte: first the lowest ones of all, and so on (`BYTE_STREAM_SPLIT`).
pub(super) fn split(numbers: &[u64], page: &mut PageBytes) {
    let count = numbers.len();
    let start = page.bytes.len();
    page.bytes.resize(start + 8 * count, 0);
    let out = &mut page.bytes[start..];
    // Most numbers are small: their upper bytes are zeros already.
    let all = numbers.iter().fold(0, |all, number| all | number);
    let places = 8 - all.leading_zeros() as usize / 8;
    let (eights, rest) = numbers.as_chunks::<8>();
    for (at, eight) in eights.iter().enumerate() {
        let columns = transposed(*eight);
        for (place, column) in columns[..places].iter().enumerate() {
            let to = place * count + 8 * at;
            out[to..to + 8].copy_from_slice(&column.to_le_bytes());
        }
    }
    for (at, number) in rest.iter().enumerate() {
        for (place, byte) in number.to_le_bytes()[..places].iter().enumerate() {
            out[place * count + 8 * eights.len() + at] = *byte;
        }
    }
    page.ends
        .extend((1..=places).map(|place| start + place * count));
}

/// The bytes of eight numbers as a square, turned at its diagonal: what is exchanged are blocks of four bytes, then of two, then
/// of one.
#[inline]
fn transposed(mut rows: [u64; 8]) -> [u64; 8] {
    /// How far bytes go, which ones, and between which rows.
    type Step = (u32, u64, [(usize, usize); 4]);
    const STEPS: [Step; 3] = [
        (32, 0x0000_0000_ffff_ffff, [(0, 4), (1, 5), (2, 6), (3, 7)]),
        (16, 0x0000_ffff_0000_ffff, [(0, 2), (1, 3), (4, 6), (5, 7)]),
        (8, 0x00ff_00ff_00ff_00ff, [(0, 1), (2, 3), (4, 5), (6, 7)]),
    ];
    for (shift, mask, pairs) in STEPS {
        for (one, other) in pairs {
            let (upper, lower) = (rows[one], rows[other]);
            rows[one] = upper & mask | (lower & mask) << shift;
            rows[other] = (upper >> shift) & mask | lower & !mask;
        }
    }
    rows
}

/// Adds conditions as numbers of one bit, as [`hybrid`] does.
fn bits(values: &[bool], out: &mut Vec<u8>) {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let (eights, rest) = values.as_chunks::<8>();
    let eight = |at: usize| u64::from_le_bytes(eights[at].map(u8::from));
    // Whether two groups are one run.
    let begins_run = |at: usize| {
        at + 2 <= eights.len() && {
            let first = eight(at);
            (first == 0 || first == ONES) && eight(at + 1) == first
        }
    };
    let mut at = 0;
    while at < eights.len() {
        if begins_run(at) {
            let first = eight(at);
            let from = at;
            while at < eights.len() && eight(at) == first {
                at += 1;
            }
            varint(((at - from) as u64 * 8) << 1, out);
            out.push(u8::from(first == ONES));
            continue;
        }
        let from = at;
        while at < eights.len() && !begins_run(at) {
            at += 1;
        }
        varint(((at - from) as u64) << 1 | 1, out);
        // The product has the lowest bits of the eight bytes in its highest one.
        let packed =
            (from..at).map(|at| eight(at).wrapping_mul(0x0102_0408_1020_4080).to_be_bytes()[0]);
        out.extend(packed);
    }
    if !rest.is_empty() {
        hybrid(rest, 1, out);
    }
}

/// Adds small numbers as runs of one value and as groups of eight whose bits follow each other.
fn hybrid<T: Copy + PartialEq + Into<u32>>(values: &[T], width: u32, out: &mut Vec<u8>) {
    let begins_run = |at: usize| {
        values[at..].len() >= RUN
            && values[at + 1..at + RUN]
                .iter()
                .all(|value| *value == values[at])
    };
    let mut at = 0;
    while at < values.len() {
        let first = values[at];
        let equal = values[at..].iter().take_while(|value| **value == first);
        let run = equal.count();
        if run >= RUN || run == values.len() - at {
            varint((run as u64) << 1, out);
            let value: u32 = first.into();
            out.extend(&value.to_le_bytes()[..width.div_ceil(8) as usize]);
            at += run;
            continue;
        }
        let from = at;
        while at < values.len() && (at == from || !begins_run(at)) {
            at += 8;
        }
        let packed = &values[from..at.min(values.len())];
        varint(((packed.len().div_ceil(8) as u64) << 1) | 1, out);
        pack(packed, width, out);
    }
}

/// Adds numbers of so many bits, the lowest first, and zeros up to a group of eight.
fn pack<T: Copy + Into<u32>>(values: &[T], width: u32, out: &mut Vec<u8>) {
    let (mut waiting, mut bits) = (0_u64, 0);
    let rest = values.len().next_multiple_of(8) - values.len();
    let numbers = values.iter().map(|value| -> u32 { (*value).into() });
    for number in numbers.chain(repeat_n(0, rest)) {
        waiting |= u64::from(number) << bits;
        bits += width;
        while bits >= 8 {
            out.push(waiting.to_le_bytes()[0]);
            waiting >>= 8;
            bits -= 8;
        }
    }
}

fn varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    out.push(number.to_le_bytes()[0]);
}

#[cfg(test)]
mod tests {
    use super::{Matches, PageBytes, Zstd, bits, hybrid, split, width};

    #[test]
    fn runs_and_groups_of_eight() {
        let made = |values: &[u32], width| {
            let mut out = Vec::new();
            hybrid(values, width, &mut out);
            out
        };
        // The example of the format's specification: 0 to 7 in three bits.
        assert_eq!(
            made(&[0, 1, 2, 3, 4, 5, 6, 7], 3),
            [3, 0b1000_1000, 0b1100_0110, 0b1111_1010]
        );
        assert_eq!(made(&[4; 100], 3), [0xc8, 1, 4]);
        assert_eq!(made(&[0; 3], 0), [6]);
        // A run begins where a group ends; the last group has zeros after its values.
        let mut values = vec![1, 0, 0, 0, 0, 0, 0, 0];
        values.extend([1; 16]);
        values.push(0);
        values.push(1);
        assert_eq!(made(&values, 1), [3, 1, 32, 1, 3, 2]);
        assert!(made(&[], 1).is_empty());
    }

    #[test]
    fn conditions_are_bits() {
        let made = |values: &[bool]| {
            let mut out = Vec::new();
            bits(values, &mut out);
            out
        };
        assert!(made(&[]).is_empty());
        assert_eq!(made(&[true; 3]), [6, 1]);
        assert_eq!(made(&[false; 16]), [32, 0]);
        assert_eq!(made(&[true; 100]), [0xc0, 1, 1, 8, 1]);
        // One group of eight bits, the lowest first; then a run; then what is no whole group.
        let mut values = vec![true, true, false, false, false, false, false, true];
        values.extend([true; 24]);
        values.extend([false, true]);
        assert_eq!(made(&values), [3, 0b1000_0011, 48, 1, 3, 0b10]);
    }

    #[test]
    fn bytes_by_their_place() {
        let split_bytes = |numbers: &[u64]| {
            let mut page = PageBytes::default();
            split(numbers, &mut page);
            page.bytes
        };
        let out = split_bytes(&[0x0102, 0x0304]);
        assert_eq!(out[..4], [2, 4, 1, 3]);
        assert_eq!(out[4..], [0; 12]);
        assert!(split_bytes(&[]).is_empty());
        let mut number = 1_u64;
        for count in [7, 8, 9, 16, 100] {
            for bits in [0, 7, 8, 33, 64] {
                let numbers: Vec<u64> = (0..count)
                    .map(|_| {
                        number = number.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                        number.checked_shr(64 - bits).unwrap_or_default()
                    })
                    .collect();
                let expected: Vec<u8> = (0..8)
                    .flat_map(|place| {
                        numbers
                            .iter()
                            .map(move |number| number.to_le_bytes()[place])
                    })
                    .collect();
                assert_eq!(split_bytes(&numbers), expected, "{numbers:?}");
            }
        }
    }

    #[test]
    fn parts_are_one_frame() {
        let mut zstd = Zstd::new().expect("memory");
        for parts in [&[0, 0][..], &[5, 3000, 4096], &[200_000, 10, 300_000, 2048]] {
            zstd.page.clear();
            for (at, part) in parts.iter().enumerate() {
                let kind = u8::try_from(at).expect("few");
                zstd.page
                    .bytes
                    .extend((0..*part).map(|byte| u8::try_from(byte % 251).expect("small") ^ kind));
                zstd.page.end_part();
            }
            let expected = zstd.page.bytes.clone();
            let (compressed, length) = zstd.compressed(Matches::Numbers).expect("memory");
            assert_eq!(length, expected.len());
            let again = zstd::bulk::decompress(&compressed, length).expect("one frame");
            assert_eq!(again, expected);
        }
    }

    #[test]
    fn places_of_many_values_are_whole_bytes() {
        for (values, bits) in [(0, 0), (1, 0), (2, 1), (256, 8), (257, 16), (65_537, 24)] {
            assert_eq!(width(values), bits, "{values}");
        }
    }
}
