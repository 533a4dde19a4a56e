//! Rows of a table as columns, and a Parquet file of them.

use std::io::{self, Write};
use std::mem::take;
use std::slice;
use std::sync::Arc;

use bytes::Bytes;
use hashbrown::HashMap;
use parquet::basic::{Encoding, LogicalType, Repetition, Type as Physical};
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::errors::ParquetError;
use parquet::file::metadata::SortingColumn;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnDescPtr, Type, TypePtr};

use super::digits::SCALES;
use super::error::DatasetError;
use super::order::{disordered, order, ordered, permute};
use super::pages::{self, Matches, Pages, Zstd};
use super::tables::{Column, Kind, Table};
use crate::store::Cell;

/// Rows of a row group, which has one dictionary for each column, and which engines read in one piece.
const ROWS: usize = 1 << 20;

/// Rows of a page of a table whose rows come in their order: one byte of each is a block of zstd. Tables that are sorted here are in
/// memory anyway: their pages are as long as row groups, so that zstd finds again in one metric what is the same in the one before.
const PAGE: usize = 1 << 17;

/// Longer texts are not said to be the smallest or the largest of their column.
const STATED: usize = 256;

/// Who wrote the files, in the form in which readers look for writers with known faults. It has no version of the program, as
/// equal rows are equal bytes in all of them.
const CREATED_BY: &str = "profdb-dataset version 3.0.0 (build 1)";

/// A place that is in no dictionary.
const NONE: u32 = u32::MAX;

/// The place of no scale, whose number is 0: the cost is unknown.
pub(super) const UNKNOWN: u8 = 16;

/// The values of a column, of which there is one for each row; where there is none, only in rows that are sorted here.
#[derive(Debug)]
enum Values {
    /// One text for all rows.
    Same(ByteArray),
    /// Whole numbers, or the bits of costs.
    Numbers(Vec<u64>),
    /// Texts by their places among those that there are so far.
    Texts {
        places: Vec<u32>,
        texts: Vec<ByteArray>,
        by_text: HashMap<Vec<u8>, u32>,
    },
    /// Places among the keys of functions.
    Functions(Vec<u32>),
    /// Places among [`SCALES`], or [`UNKNOWN`].
    Scales(Vec<u8>),
    /// Keys and values of the one row of a table.
    Tags(Vec<(ByteArray, ByteArray)>),
}

/// A column that is being filled.
struct Buffer {
    kind: Kind,
    values: Values,
    /// Whether there is a value; empty in columns without NULL. Those of rows without a value that have come last may be missing,
    /// as are their places in `values`, until [`Buffer::settle`]: most columns that may be NULL nearly always are.
    levels: Vec<bool>,
    is_optional: bool,
    /// Whether there is a number also where the value is NULL: rows that are sorted have all their places.
    has_place_of_null: bool,
    /// What compresses its numbers.
    matches: Matches,
    /// Pages of the row group that are made, of numbers.
    pages: Pages,
    /// Smallest and largest number among them, in the order of the column.
    range: Option<(u64, u64)>,
}

/// A table that is being filled, and written in pieces.
pub(super) struct Rows<'k, W: Write + Send> {
    table: &'static Table,
    columns: Vec<Buffer>,
    /// Keys of functions, sorted.
    keys: &'k [ByteArray],
    /// Rows that are in columns of numbers, and those of the row group, whose numbers may be in pages already.
    rows: usize,
    in_group: usize,
    writer: SerializedFileWriter<W>,
    zstd: Zstd,
    is_sorted: bool,
}

impl From<ParquetError> for DatasetError {
    fn from(error: ParquetError) -> Self {
        match error {
            ParquetError::External(cause) => match cause.downcast::<io::Error>() {
                Ok(error) => Self::File(*error),
                Err(cause) => Self::Content(cause.to_string()),
            },
            error => Self::Content(error.to_string()),
        }
    }
}

/// The schema of a table.
fn schema(table: &Table) -> Result<TypePtr, ParquetError> {
    let leaf = |name: &str, physical, repetition| {
        let leaf = Type::primitive_type_builder(name, physical).with_repetition(repetition);
        let leaf = if physical == Physical::BYTE_ARRAY {
            leaf.with_logical_type(Some(LogicalType::String))
        } else {
            leaf
        };
        leaf.build().map(Arc::new)
    };
    let field = |column: &Column| -> Result<TypePtr, ParquetError> {
        let repetition = if column.is_optional {
            Repetition::OPTIONAL
        } else {
            Repetition::REQUIRED
        };
        match column.kind {
            Kind::Text | Kind::Function => leaf(column.name, Physical::BYTE_ARRAY, repetition),
            Kind::Integer => leaf(column.name, Physical::INT64, repetition),
            Kind::Real | Kind::Scale => leaf(column.name, Physical::DOUBLE, repetition),
            Kind::Tags => {
                let pair = Type::group_type_builder("key_value")
                    .with_repetition(Repetition::REPEATED)
                    .with_fields(vec![
                        leaf("key", Physical::BYTE_ARRAY, Repetition::REQUIRED)?,
                        leaf("value", Physical::BYTE_ARRAY, Repetition::REQUIRED)?,
                    ])
                    .build()?;
                let map = Type::group_type_builder(column.name)
                    .with_repetition(Repetition::REQUIRED)
                    .with_logical_type(Some(LogicalType::Map))
                    .with_fields(vec![Arc::new(pair)]);
                map.build().map(Arc::new)
            }
        }
    };
    let fields = table.files().iter().map(field).collect::<Result<_, _>>()?;
    Type::group_type_builder(table.name)
        .with_fields(fields)
        .build()
        .map(Arc::new)
}

/// Whether a table has rows of nodes, which come in their order.
pub(super) fn is_of_nodes(table: &Table) -> bool {
    matches!(table.name, "nodes" | "node_costs" | "node_labels")
}

/// How a table is written: what is around the pages of its columns.
fn properties(table: &Table) -> Result<WriterProperties, ParquetError> {
    let sorting = table.order.iter().filter_map(|name| {
        Some(SortingColumn {
            column_idx: i32::try_from(table.file_column(name)?).ok()?,
            descending: false,
            nulls_first: true,
        })
    });
    let properties = WriterProperties::builder()
        .set_created_by(CREATED_BY.to_owned())
        .set_writer_version(WriterVersion::PARQUET_1_0)
        .set_compression(Zstd::compression()?)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_max_row_group_row_count(Some(ROWS))
        .set_offset_index_disabled(true)
        .set_sorting_columns(Some(sorting.collect()));
    Ok(properties.build())
}

/// Text of a database as Parquet has it: UTF-8.
fn text(bytes: &[u8]) -> ByteArray {
    match std::str::from_utf8(bytes) {
        Ok(_) => bytes.to_vec().into(),
        Err(_) => String::from_utf8_lossy(bytes)
            .into_owned()
            .into_bytes()
            .into(),
    }
}

impl Buffer {
    fn new(column: &Column, run_uid: &str, is_sorted: bool) -> Self {
        let values = match column.kind {
            Kind::Text if column.name == "run_uid" => Values::Same(run_uid.into()),
            Kind::Text => Values::Texts {
                places: Vec::new(),
                texts: Vec::new(),
                by_text: HashMap::new(),
            },
            Kind::Integer | Kind::Real => Values::Numbers(Vec::new()),
            Kind::Function => Values::Functions(Vec::new()),
            Kind::Scale => Values::Scales(Vec::new()),
            Kind::Tags => Values::Tags(Vec::new()),
        };
        Self {
            kind: column.kind,
            values,
            levels: Vec::new(),
            is_optional: column.is_optional,
            has_place_of_null: !is_sorted,
            matches: if column.kind == Kind::Real || column.name.ends_with("_digits") {
                Matches::Costs
            } else {
                Matches::Numbers
            },
            pages: Pages::default(),
            range: None,
        }
    }

    /// Says that a row has a value, and that rows before it of which nothing has been said have none.
    #[inline]
    fn level(&mut self, row: usize) {
        if self.is_optional {
            if self.levels.len() < row {
                self.settle(row);
            }
            self.levels.push(true);
        }
    }

    /// Says of so many rows that those have no value of which nothing has been said.
    fn settle(&mut self, rows: usize) {
        if !self.is_optional {
            return;
        }
        self.levels.resize(rows, false);
        match &mut self.values {
            Values::Numbers(values) if self.has_place_of_null => values.resize(rows, 0),
            Values::Texts { places, .. } => {
                let last = places.last().copied().unwrap_or_default();
                places.resize(rows, last);
            }
            Values::Functions(places) => places.resize(rows, 0),
            Values::Numbers(_) | Values::Same(_) | Values::Scales(_) | Values::Tags(_) => {}
        }
    }

    #[inline]
    fn number(&mut self, row: usize, value: u64) {
        self.level(row);
        if let Values::Numbers(values) = &mut self.values {
            values.push(value);
        }
    }

    /// Makes a page of some rows of a column of numbers.
    fn page_of_numbers(
        &mut self,
        zstd: &mut Zstd,
        from: usize,
        to: usize,
    ) -> Result<(), ParquetError> {
        let Values::Numbers(values) = &self.values else {
            return Ok(());
        };
        let levels = self.is_optional.then(|| &self.levels[from..to]);
        let there: Vec<u64>;
        let mut numbers = values.as_slice();
        if self.has_place_of_null {
            numbers = &numbers[from..to];
        }
        if let Some(levels) = levels
            && self.has_place_of_null
            && levels.contains(&false)
        {
            let with = numbers
                .iter()
                .zip(levels)
                .filter(|(_, is_there)| **is_there);
            there = with.map(|(number, _)| *number).collect();
            numbers = &there;
        }
        let mut orders = numbers.iter().map(|number| ordered(self.kind, *number));
        if let Some(first) = orders.next() {
            let (least, most) = self.range.unwrap_or((first, first));
            let range = (least.min(first), most.max(first));
            self.range = Some(orders.fold(range, |(least, most), order| {
                (least.min(order), most.max(order))
            }));
        }
        // Where there is none, no reader is asked what it makes of no bytes.
        let encoding = if numbers.is_empty() {
            Encoding::PLAIN
        } else {
            Encoding::BYTE_STREAM_SPLIT
        };
        let how = (encoding, self.matches);
        self.pages.data(zstd, to - from, levels, how, |page| {
            pages::split(numbers, page);
        })
    }

    /// Makes the pages of a column whose values are places in a dictionary, and closes it.
    fn pages_of_places(
        &mut self,
        zstd: &mut Zstd,
        keys: &[ByteArray],
        (from, to): (usize, usize),
        page: usize,
    ) -> Result<Option<(ByteArray, ByteArray)>, ParquetError> {
        if matches!(self.values, Values::Numbers(_) | Values::Tags(_)) {
            return Ok(None);
        }
        let levels = self.is_optional.then(|| &self.levels[from..to]);
        let (texts, found): (&[ByteArray], Distinct) = match &self.values {
            Values::Same(text) => (slice::from_ref(text), Distinct::One(0)),
            Values::Texts { places, texts, .. } => {
                let found = distinct(&places[from..to], levels, texts.len());
                (texts.as_slice(), found)
            }
            Values::Functions(places) => (keys, distinct(&places[from..to], levels, keys.len())),
            Values::Scales(scales) => {
                let known = usize::from(UNKNOWN) + 1;
                (&[], distinct(&scales[from..to], levels, known))
            }
            Values::Numbers(_) | Values::Tags(_) => return Ok(None),
        };
        let (used, numbers) = match &found {
            Distinct::One(place) => (slice::from_ref(place), None),
            Distinct::Many { used, numbers } => (used.as_slice(), Some(numbers.as_slice())),
        };
        let value = |place: u32, page: &mut Vec<u8>| match texts.get(place as usize) {
            Some(text) => pages::text(text.data(), page),
            None => page.extend(scale(place).to_le_bytes()),
        };
        // Where each value is another one, a dictionary would only be longer.
        let is_plain =
            numbers.is_some_and(|numbers| numbers.len() == used.len()) && used.len() != 1;
        let width = pages::width(used.len());
        if !is_plain {
            self.pages.dictionary(zstd, used.len(), |page| {
                for place in used {
                    value(*place, page);
                }
            })?;
        }
        let mut next = 0;
        let page = if is_plain { PAGE } else { page };
        for start in (0..to - from).step_by(page) {
            let rows = page.min(to - from - start);
            let levels = levels.map(|levels| &levels[start..start + rows]);
            let there = levels.map_or(rows, |levels| {
                levels.iter().filter(|is_there| **is_there).count()
            });
            let numbers = numbers.map(|numbers| &numbers[next..next + there]);
            next += there;
            if is_plain {
                let how = (Encoding::PLAIN, Matches::Texts);
                self.pages.data(zstd, rows, levels, how, |page| {
                    pages::plain(page, |page| {
                        for number in numbers.unwrap_or_default() {
                            value(used[*number as usize], page);
                        }
                    });
                })?;
            } else {
                let matches = if width > 8 {
                    Matches::Places
                } else {
                    Matches::Texts
                };
                let how = (Encoding::RLE_DICTIONARY, matches);
                self.pages
                    .data(zstd, rows, levels, how, |page| match numbers {
                        Some(numbers) => pages::places(numbers, width, page),
                        None => pages::one_place(rows, page),
                    })?;
            }
        }
        let mut stated: Option<(&ByteArray, &ByteArray)> = None;
        for text in used.iter().filter_map(|place| texts.get(*place as usize)) {
            let (least, most) = stated.unwrap_or((text, text));
            stated = Some((
                if text.data() < least.data() {
                    text
                } else {
                    least
                },
                if text.data() > most.data() {
                    text
                } else {
                    most
                },
            ));
        }
        Ok(stated
            .filter(|(least, most)| least.len() <= STATED && most.len() <= STATED)
            .map(|(least, most)| (least.clone(), most.clone())))
    }

    /// Ends the pages of a row group.
    fn close(
        &mut self,
        column: ColumnDescPtr,
        texts: Option<(ByteArray, ByteArray)>,
    ) -> Result<(Bytes, ColumnCloseResult), ParquetError> {
        let (kind, range) = (self.kind, self.range.take());
        let statistics = |nulls| {
            let nulls = Some(nulls);
            if let Some((least, most)) = texts {
                return Some(Statistics::byte_array(
                    Some(least),
                    Some(most),
                    None,
                    nulls,
                    false,
                ));
            }
            let (least, most) = range?;
            let [least, most] = [least, most].map(|order| disordered(kind, order));
            if kind == Kind::Integer {
                let [least, most] = [least, most].map(u64::cast_signed);
                return Some(Statistics::int64(
                    Some(least),
                    Some(most),
                    None,
                    nulls,
                    false,
                ));
            }
            // Readers hold both zeros for one.
            let [mut least, mut most] = [least, most].map(f64::from_bits);
            if least == 0.0 {
                least = -0.0;
            }
            if most == 0.0 {
                most = 0.0;
            }
            Some(Statistics::double(
                Some(least),
                Some(most),
                None,
                nulls,
                false,
            ))
        };
        let (bytes, close) = take(&mut self.pages).close(column, statistics)?;
        Ok((bytes.into(), close))
    }

    fn clear(&mut self) {
        self.levels.clear();
        match &mut self.values {
            Values::Same(_) => {}
            Values::Numbers(values) => values.clear(),
            Values::Texts { places, .. } | Values::Functions(places) => places.clear(),
            Values::Scales(values) => values.clear(),
            Values::Tags(values) => values.clear(),
        }
    }

    /// Numbers that are in the order of the values, NULL first.
    fn ranks(&self) -> Vec<Vec<u64>> {
        let mut ranks = Vec::new();
        if self.is_optional {
            ranks.push(self.levels.iter().copied().map(u64::from).collect());
        }
        match &self.values {
            Values::Same(_) | Values::Tags(_) => {}
            Values::Numbers(values) => {
                ranks.push(
                    values
                        .iter()
                        .map(|bits| ordered(self.kind, *bits))
                        .collect(),
                );
            }
            Values::Texts { places, texts, .. } => {
                let mut order: Vec<usize> = (0..texts.len()).collect();
                order.sort_by(|one, other| texts[*one].data().cmp(texts[*other].data()));
                let mut rank = vec![0; texts.len()];
                for (at, text) in order.into_iter().enumerate() {
                    rank[text] = at as u64;
                }
                let of = |place: &u32| rank.get(*place as usize).copied().unwrap_or_default();
                ranks.push(places.iter().map(of).collect());
            }
            Values::Functions(places) => {
                ranks.push(places.iter().copied().map(u64::from).collect());
            }
            Values::Scales(scales) => ranks.push(scales.iter().copied().map(u64::from).collect()),
        }
        ranks
    }
}

/// What a scale divides by.
fn scale(place: u32) -> f64 {
    SCALES.get(place as usize).copied().unwrap_or_default()
}

/// The places that rows have, each once, in the order in which they come.
enum Distinct {
    /// All rows have a value, at one place.
    One(u32),
    /// The places, and for each value the number of its place among them.
    Many { used: Vec<u32>, numbers: Vec<u32> },
}

/// Finds the places that rows have, which are below a number.
fn distinct<T: Copy + PartialEq + Into<u32>>(
    places: &[T],
    levels: Option<&[bool]>,
    known: usize,
) -> Distinct {
    if let (None, [first, rest @ ..]) = (levels, places)
        && are_all(rest, *first)
    {
        return Distinct::One((*first).into());
    }
    let mut found = vec![NONE; known];
    let mut used = Vec::new();
    let mut number_of = |place: &T| {
        let place: u32 = (*place).into();
        let number = &mut found[place as usize];
        if *number == NONE {
            *number = u32::try_from(used.len()).unwrap_or(NONE);
            used.push(place);
        }
        *number
    };
    let numbers = match levels {
        None => places.iter().map(number_of).collect(),
        Some(levels) if are_all(levels, false) => Vec::new(),
        Some(levels) => {
            let with = places.iter().zip(levels);
            let with = with.filter(|(_, is_there)| **is_there);
            with.map(|(place, _)| number_of(place)).collect()
        }
    };
    Distinct::Many { used, numbers }
}

/// Whether all values are the same one. Many are compared at once before the outcome is looked at.
fn are_all<T: Copy + PartialEq>(values: &[T], value: T) -> bool {
    let mut pieces = values.chunks(64);
    pieces.all(|piece| piece.iter().filter(|found| **found != value).count() == 0)
}

impl<'k, W: Write + Send> Rows<'k, W> {
    /// Begins the file of a run in a table. Rows of some tables come in their order.
    pub(super) fn new(
        table: &'static Table,
        run_uid: &str,
        keys: &'k [ByteArray],
        is_sorted: bool,
        out: W,
    ) -> Result<Self, DatasetError> {
        let writer = SerializedFileWriter::new(out, schema(table)?, Arc::new(properties(table)?))?;
        let columns = table
            .files()
            .iter()
            .map(|column| Buffer::new(column, run_uid, is_sorted));
        Ok(Self {
            table,
            columns: columns.collect(),
            keys,
            rows: 0,
            in_group: 0,
            writer,
            zstd: Zstd::new()?,
            is_sorted,
        })
    }

    /// Ends a row. In a table whose rows come in their order, they are written when there are enough.
    #[inline]
    pub(super) fn end_row(&mut self) -> Result<(), DatasetError> {
        self.rows += 1;
        self.in_group += 1;
        if self.is_sorted && self.rows == PAGE {
            self.page(0, self.rows)?;
            self.rows = 0;
            if self.in_group == ROWS {
                self.group(0, ROWS)?;
            }
        }
        Ok(())
    }

    /// Adds a number to a column.
    #[inline]
    pub(super) fn integer(&mut self, at: usize, value: Option<i64>) {
        if let Some(value) = value {
            self.columns[at].number(self.rows, value.cast_unsigned());
        }
    }

    /// Adds a cost to a column.
    #[inline]
    pub(super) fn real(&mut self, at: usize, value: Option<f64>) {
        if let Some(value) = value {
            self.columns[at].number(self.rows, value.to_bits());
        }
    }

    /// Adds what digits are divided by to a column.
    #[inline]
    pub(super) fn scale(&mut self, at: usize, place: u8) {
        if let Values::Scales(values) = &mut self.columns[at].values {
            values.push(place);
        }
    }

    /// The place of a text among those of a column.
    #[inline]
    pub(super) fn place(&mut self, at: usize, value: &[u8]) -> u32 {
        let Values::Texts {
            places,
            texts,
            by_text,
        } = &mut self.columns[at].values
        else {
            return NONE;
        };
        // Many texts are those of the row before.
        let last = places.last().copied().filter(|last| {
            let text = texts.get(*last as usize);
            text.is_some_and(|text| text.data() == value)
        });
        last.unwrap_or_else(|| {
            *by_text.entry_ref(value).or_insert_with(|| {
                texts.push(text(value));
                u32::try_from(texts.len() - 1).unwrap_or(NONE)
            })
        })
    }

    /// Adds a text to a column.
    #[inline]
    pub(super) fn text(&mut self, at: usize, value: Option<&[u8]>) {
        if let Some(value) = value {
            let place = self.place(at, value);
            self.text_of(at, place);
        }
    }

    /// Adds a text to a column, by its place.
    #[inline]
    pub(super) fn text_of(&mut self, at: usize, place: u32) {
        let buffer = &mut self.columns[at];
        buffer.level(self.in_group);
        if let Values::Texts { places, .. } = &mut buffer.values {
            places.push(place);
        }
    }

    /// Adds a function to a column, by the place of its key.
    #[inline]
    pub(super) fn function(&mut self, at: usize, place: Option<u32>) {
        let Some(place) = place else {
            return;
        };
        let buffer = &mut self.columns[at];
        buffer.level(self.in_group);
        if let Values::Functions(values) = &mut buffer.values {
            values.push(place);
        }
    }

    /// Adds a tag to the one row of a table.
    pub(super) fn tag(&mut self, at: usize, key: &[u8], value: &[u8]) {
        if let Values::Tags(values) = &mut self.columns[at].values {
            values.push((text(key), text(value)));
        }
    }

    /// Adds a value of any kind to a column that takes it.
    pub(super) fn cell(&mut self, at: usize, cell: &Cell<'_>) -> Result<(), DatasetError> {
        let column = &self.table.files()[at];
        let is_null = *cell == Cell::Null;
        match (column.kind, cell) {
            (Kind::Integer, Cell::Integer(value)) => self.integer(at, Some(*value)),
            (Kind::Real, Cell::Real(value)) => self.real(at, Some(*value)),
            #[expect(clippy::cast_precision_loss, reason = "SQLite has stored it so")]
            (Kind::Real, Cell::Integer(value)) => self.real(at, Some(*value as f64)),
            (Kind::Text, Cell::Text(value)) => self.text(at, Some(value)),
            (Kind::Integer, Cell::Null) if column.is_optional => self.integer(at, None),
            (Kind::Real, Cell::Null) if column.is_optional => self.real(at, None),
            (Kind::Text, Cell::Null) if column.is_optional => self.text(at, None),
            _ => {
                return Err(DatasetError::Content(format!(
                    "{}.{}: expected {}, found {}: profdb check says what is damaged",
                    self.table.name,
                    column.name,
                    column.kind.name(),
                    if is_null {
                        "nothing"
                    } else {
                        "another kind of value"
                    }
                )));
            }
        }
        Ok(())
    }

    /// Puts the rows in the order of the table.
    fn sort(&mut self) {
        let by = self.table.order.iter();
        let columns = by.filter_map(|name| self.table.file_column(name));
        let ranks = columns.flat_map(|at| self.columns[at].ranks());
        let order = order(self.rows, ranks.collect());
        for buffer in &mut self.columns {
            match &mut buffer.values {
                Values::Same(_) | Values::Tags(_) => {}
                Values::Numbers(values) => permute(values, &order),
                Values::Texts { places, .. } | Values::Functions(places) => permute(places, &order),
                Values::Scales(values) => permute(values, &order),
            }
            if !buffer.levels.is_empty() {
                permute(&mut buffer.levels, &order);
            }
        }
    }

    /// Makes a page of some rows of each column of numbers.
    fn page(&mut self, from: usize, to: usize) -> Result<(), DatasetError> {
        for buffer in &mut self.columns {
            if !matches!(buffer.values, Values::Numbers(_)) {
                continue;
            }
            if self.is_sorted {
                buffer.settle(to);
            }
            buffer.page_of_numbers(&mut self.zstd, from, to)?;
            if self.is_sorted {
                buffer.clear();
            }
        }
        Ok(())
    }

    /// Writes a row group: numbers are in pages already.
    fn group(&mut self, from: usize, to: usize) -> Result<(), DatasetError> {
        let columns = self.writer.schema_descr().columns().to_vec();
        let mut columns = columns.into_iter();
        let page = if self.is_sorted { PAGE } else { ROWS };
        let mut group = self.writer.next_row_group()?;
        for buffer in &mut self.columns {
            let Some(column) = columns.next() else {
                break;
            };
            if let Values::Tags(tags) = &buffer.values {
                columns.next();
                write_tags(&mut group, tags)?;
            } else {
                if self.is_sorted && !matches!(buffer.values, Values::Numbers(_)) {
                    buffer.settle(to);
                }
                let texts = buffer.pages_of_places(&mut self.zstd, self.keys, (from, to), page)?;
                let (bytes, close) = buffer.close(column, texts)?;
                group.append_column(&bytes, close)?;
            }
            if self.is_sorted {
                buffer.clear();
            }
        }
        group.close()?;
        self.in_group = 0;
        Ok(())
    }

    /// Writes what there is, and ends the file.
    pub(super) fn finish(mut self) -> Result<(), DatasetError> {
        if self.is_sorted {
            if self.in_group > 0 {
                // The last rows may have filled a page.
                if self.rows > 0 {
                    self.page(0, self.rows)?;
                }
                self.group(0, self.in_group)?;
            }
        } else {
            for buffer in &mut self.columns {
                buffer.settle(self.rows);
            }
            self.sort();
            for from in (0..self.rows).step_by(ROWS) {
                let to = self.rows.min(from + ROWS);
                self.page(from, to)?;
                self.group(from, to)?;
            }
        }
        self.writer.close()?;
        Ok(())
    }
}

/// Writes the tags of the one row of a table. A row without tags has one entry in each column, which says that there is none.
fn write_tags<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    tags: &[(ByteArray, ByteArray)],
) -> Result<(), DatasetError> {
    let count = tags.len().max(1);
    let defined = vec![i16::from(!tags.is_empty()); count];
    let repeated: Vec<i16> = (0..count).map(|at| i16::from(at > 0)).collect();
    let (keys, values): (Vec<_>, Vec<_>) = tags.iter().cloned().unzip();
    for texts in [keys, values] {
        if let Some(mut column) = group.next_column()? {
            let typed = column.typed::<ByteArrayType>();
            typed.write_batch(&texts, Some(&defined), Some(&repeated))?;
            column.close()?;
        }
    }
    Ok(())
}
