//! Pages of a column: levels, encodings, compression, and what is said of them beside.
//!
//! The writers of the crate `parquet` look each value up in a dictionary and take it by itself, which is four times the work
//! (docs/design/0024-dataset.md): here, texts and keys are numbers already. All that is around pages is the crate's.

use std::iter::repeat_n;

use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use zstd::bulk::Compressor;

/// How hard zstd tries: a higher level takes twice the time for a few percent.
const LEVEL: i32 = 1;

/// Equal values that are written as one, if there are so many.
const RUN: usize = 16;

/// Compresses pages; its tables are used again for each.
pub(super) struct Zstd {
    compressor: Compressor<'static>,
    /// The page that is being made.
    page: Vec<u8>,
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

impl Zstd {
    pub(super) fn new() -> Result<Self, ParquetError> {
        let mut compressor = Compressor::new(LEVEL)?;
        // Every reader of zstd compares it: a bit that has changed on a disk or on the way is no other figure. Pages' own checksums
        // are looked at by few readers. It takes four bytes.
        compressor.include_checksum(true)?;
        Ok(Self {
            compressor,
            page: Vec::new(),
        })
    }

    /// How pages are compressed, as files state it.
    pub(super) fn compression() -> Result<Compression, ParquetError> {
        Ok(Compression::ZSTD(ZstdLevel::try_new(LEVEL)?))
    }

    fn compressed(&mut self) -> Result<(Vec<u8>, usize), ParquetError> {
        let compressed = self.compressor.compress(&self.page)?;
        Ok((compressed, self.page.len()))
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
        fill(&mut zstd.page);
        let (buf, uncompressed) = zstd.compressed()?;
        self.dictionary = Some(self.offset());
        self.encoded(Encoding::PLAIN);
        let page = Page::DictionaryPage {
            buf: buf.into(),
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
        encoding: Encoding,
        fill: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(), ParquetError> {
        zstd.page.clear();
        if let Some(levels) = levels {
            zstd.page.extend([0; 4]);
            hybrid(levels, 1, &mut zstd.page);
            let length = u32::try_from(zstd.page.len() - 4).unwrap_or(u32::MAX);
            zstd.page[..4].copy_from_slice(&length.to_le_bytes());
            self.nulls += levels.iter().filter(|is_there| !**is_there).count();
        }
        fill(&mut zstd.page);
        let (buf, uncompressed) = zstd.compressed()?;
        let offset = self.offset();
        self.data.get_or_insert(offset);
        self.encoded(encoding);
        self.rows += rows;
        let page = Page::DataPage {
            buf: buf.into(),
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
pub(super) fn places(places: &[u32], width: u32, out: &mut Vec<u8>) {
    out.push(u8::try_from(width).unwrap_or(32));
    hybrid(places, width, out);
}

/// Adds a text with its length before it.
pub(super) fn text(text: &[u8], out: &mut Vec<u8>) {
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
    out.extend(length.to_le_bytes());
    out.extend(text);
}

/// Adds numbers of 64 bits byte by byte: first the lowest ones of all, and so on (`BYTE_STREAM_SPLIT`).
pub(super) fn split(numbers: &[u64], out: &mut Vec<u8>) {
    if numbers.is_empty() {
        return;
    }
    let start = out.len();
    out.resize(start + 8 * numbers.len(), 0);
    for (place, bytes) in out[start..].chunks_exact_mut(numbers.len()).enumerate() {
        for (byte, number) in bytes.iter_mut().zip(numbers) {
            *byte = (number >> (8 * place)).to_le_bytes()[0];
        }
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
    use super::{hybrid, split, width};

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
    fn bytes_by_their_place() {
        let mut out = Vec::new();
        split(&[0x0102, 0x0304], &mut out);
        assert_eq!(out[..4], [2, 4, 1, 3]);
        assert_eq!(out[4..], [0; 12]);
    }

    #[test]
    fn places_of_many_values_are_whole_bytes() {
        for (values, bits) in [(0, 0), (1, 0), (2, 1), (256, 8), (257, 16), (65_537, 24)] {
            assert_eq!(width(values), bits, "{values}");
        }
    }
}
