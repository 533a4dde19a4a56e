//! Pages of a column: levels, encodings, compression, and what is said of them beside.
//!
//! The writers of the crate `parquet` look each value up in a dictionary and take it by itself, which is four times the work
//! (docs/design/0024-dataset.md): here, texts and keys are numbers already. All that is around pages is the crate's.

use std::io;
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

/// Zeros, of which most upper bytes of numbers are.
static ZEROS: [u8; 1 << 12] = [0; 1 << 12];

/// Compresses pages; its tables are used again for each.
pub(super) struct Zstd {
    encoder: Encoder<'static>,
    /// The page that is being made: levels, and values that are not split.
    page: Vec<u8>,
    /// Where levels end.
    levels: usize,
    compressed: Vec<u8>,
}

/// Numbers of 64 bits byte by byte: first the lowest ones of all, and so on (`BYTE_STREAM_SPLIT`).
#[derive(Default)]
pub(super) struct Split {
    /// The lowest bytes of all, those above them, and so on. Zeros at the end of each may be missing.
    bytes: [Vec<u8>; 8],
    count: usize,
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

impl Split {
    /// Adds numbers. They are read once for each byte, so that few should be given at a time.
    pub(super) fn add(&mut self, numbers: &[u64]) {
        let all = numbers.iter().fold(0, |all, number| all | number);
        let places = 8 - all.leading_zeros() as usize / 8;
        let before = self.count;
        self.count += numbers.len();
        for (place, bytes) in (0_u32..).zip(&mut self.bytes[..places]) {
            bytes.resize(self.count, 0);
            for (byte, number) in bytes[before..].iter_mut().zip(numbers) {
                *byte = (number >> (8 * place)).to_le_bytes()[0];
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Forgets all numbers. Keeps the room.
    pub(super) fn clear(&mut self) {
        self.count = 0;
        self.bytes.iter_mut().for_each(Vec::clear);
    }

    /// Fills in zeros up to the highest byte that is none.
    fn settle(&mut self) {
        let used = self.bytes.iter().take_while(|bytes| !bytes.is_empty());
        let used = used.count();
        for bytes in &mut self.bytes[..used] {
            bytes.resize(self.count, 0);
        }
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
            page: Vec::new(),
            levels: 0,
            compressed: Vec::new(),
        })
    }

    /// How pages are compressed, as files state it.
    pub(super) fn compression() -> Result<Compression, ParquetError> {
        Ok(Compression::ZSTD(ZstdLevel::try_new(LEVEL)?))
    }

    /// Begins a page with its levels, if it has any.
    fn begin(&mut self, levels: Option<&[bool]>) {
        self.page.clear();
        if let Some(levels) = levels {
            self.page.extend([0; 4]);
            bits(levels, &mut self.page);
            let length = u32::try_from(self.page.len() - 4).unwrap_or(u32::MAX);
            self.page[..4].copy_from_slice(&length.to_le_bytes());
        }
        self.levels = self.page.len();
    }

    /// Compresses the page, with numbers after it: one frame, in which every long part begins a block, as a block has one table of
    /// frequent bytes.
    fn compressed(
        &mut self,
        numbers: &Split,
        matches: Matches,
    ) -> Result<(Bytes, usize), ParquetError> {
        let (levels, values) = self.page.split_at(self.levels);
        let parts = [levels, values].into_iter();
        let parts = parts.chain(numbers.bytes.iter().map(Vec::as_slice));
        let length = self.page.len() + 8 * numbers.count;
        self.encoder.reinit()?;
        for parameter in matches.parameters() {
            self.encoder.set_parameter(parameter)?;
        }
        self.encoder.set_pledged_src_size(Some(length as u64))?;
        // A block takes three bytes more than what it has, at most.
        let room = compress_bound(length) + 16 * (numbers.bytes.len() + 3);
        self.compressed.clear();
        self.compressed.reserve(room);
        let mut out = OutBuffer::around(&mut self.compressed);
        let (mut done, mut in_part) = (0, 0);
        for part in parts {
            take_in(&mut self.encoder, part, &mut out)?;
            done += part.len();
            in_part += part.len();
            if in_part >= PART && done < length {
                while self.encoder.flush(&mut out)? > 0 {}
                in_part = 0;
            }
        }
        while done < length {
            let zeros = &ZEROS[..ZEROS.len().min(length - done)];
            take_in(&mut self.encoder, zeros, &mut out)?;
            done += zeros.len();
        }
        while self.encoder.finish(&mut out, true)? > 0 {}
        Ok((Bytes::copy_from_slice(&self.compressed), length))
    }
}

fn take_in(
    encoder: &mut Encoder<'_>,
    bytes: &[u8],
    out: &mut OutBuffer<'_, Vec<u8>>,
) -> io::Result<()> {
    let mut part = InBuffer::around(bytes);
    while part.pos() < bytes.len() {
        encoder.run(&mut part, out)?;
    }
    Ok(())
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
        zstd.begin(None);
        fill(&mut zstd.page);
        let (buf, uncompressed) = zstd.compressed(&Split::default(), Matches::Texts)?;
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

    /// Adds a page of so many rows. `levels` has for each whether it has a value; it is `None` in columns without NULL.
    pub(super) fn data(
        &mut self,
        zstd: &mut Zstd,
        rows: usize,
        levels: Option<&[bool]>,
        how: (Encoding, Matches),
        fill: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(), ParquetError> {
        zstd.begin(levels);
        fill(&mut zstd.page);
        self.page_of(zstd, rows, levels, how, &Split::default())
    }

    /// Adds a page of numbers, likewise.
    pub(super) fn numbers(
        &mut self,
        zstd: &mut Zstd,
        rows: usize,
        levels: Option<&[bool]>,
        matches: Matches,
        numbers: &mut Split,
    ) -> Result<(), ParquetError> {
        // Where there is none, no reader is asked what it makes of no bytes.
        let encoding = if numbers.is_empty() {
            Encoding::PLAIN
        } else {
            Encoding::BYTE_STREAM_SPLIT
        };
        zstd.begin(levels);
        numbers.settle();
        self.page_of(zstd, rows, levels, (encoding, matches), numbers)
    }

    fn page_of(
        &mut self,
        zstd: &mut Zstd,
        rows: usize,
        levels: Option<&[bool]>,
        (encoding, matches): (Encoding, Matches),
        numbers: &Split,
    ) -> Result<(), ParquetError> {
        let nulls = levels.map(|levels| levels.iter().filter(|is_there| !**is_there).count());
        self.nulls += nulls.unwrap_or_default();
        let (buf, uncompressed) = zstd.compressed(numbers, matches)?;
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
pub(super) fn places(places: &[u32], width: u32, page: &mut Vec<u8>) {
    page.push(u8::try_from(width).unwrap_or(32));
    hybrid(places, width, page);
}

/// Adds the places of so many values that are all the one of a dictionary.
pub(super) fn one_place(count: usize, page: &mut Vec<u8>) {
    page.push(0);
    if count > 0 {
        varint((count as u64) << 1, page);
    }
}

/// Adds a text with its length before it.
pub(super) fn text(text: &[u8], out: &mut Vec<u8>) {
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
    out.extend(length.to_le_bytes());
    out.extend(text);
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
    let rest = values.len().next_multiple_of(8) - values.len();
    let numbers = values.iter().map(|value| -> u32 { (*value).into() });
    if width == 16 {
        // Most functions are known by so many: whole bytes at once.
        let start = out.len();
        out.resize(start + 2 * (values.len() + rest), 0);
        for (bytes, number) in out[start..].as_chunks_mut::<2>().0.iter_mut().zip(numbers) {
            let [lower, upper, ..] = number.to_le_bytes();
            *bytes = [lower, upper];
        }
        return;
    }
    let (mut waiting, mut bits) = (0_u64, 0);
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
