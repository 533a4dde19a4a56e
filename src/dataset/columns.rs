//! Rows of a table as columns, and a Parquet file of them.

use std::io::{self, BufWriter, Write};
use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::errors::ParquetError;
use parquet::file::metadata::SortingColumn;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};

use super::about::{FORMAT, VERSION};
use super::buffer::{Buffer, Chosen, NONE, PAGE, PIECE, Values};
use super::error::DatasetError;
use super::order::{Ranks, order};
use super::pages::Zstd;
use super::tables::{Column, Kind, Table};
use crate::base::slices::same;
use crate::store::Cell;

/// Rows of a row group, which has one dictionary for each column, and which engines read in one piece.
const ROWS: usize = 1 << 20;

/// Bytes that are written to a file at once.
const WRITTEN: usize = 1 << 18;

/// A table that is being filled, and written in pieces.
pub(super) struct Rows<'k, W: Write + Send> {
    table: &'static Table,
    files: &'static [Column],
    columns: Vec<Buffer>,
    /// Keys of functions, sorted.
    keys: &'k [ByteArray],
    /// Rows that are in columns of numbers, and those of the row group, whose numbers may be in pages already.
    rows: usize,
    in_group: usize,
    writer: SerializedFileWriter<BufWriter<W>>,
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
    // The form in which readers look for writers with known faults. It has no version of the program, as equal rows are equal bytes
    // in all of them.
    let created_by = format!("{FORMAT} version {VERSION}.0.0 (build 1)");
    let properties = WriterProperties::builder()
        .set_created_by(created_by)
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

impl<'k, W: Write + Send> Rows<'k, W> {
    /// Begins the file of a run in a table. Rows of some tables come in their order.
    pub(super) fn new(
        table: &'static Table,
        run_uid: &str,
        keys: &'k [ByteArray],
        is_sorted: bool,
        out: W,
    ) -> Result<Self, DatasetError> {
        // The crate's writer gives what it has in pieces of 8 KiB.
        let out = BufWriter::with_capacity(WRITTEN, out);
        let writer = SerializedFileWriter::new(out, schema(table)?, Arc::new(properties(table)?))?;
        let files = table.files();
        let columns = files
            .iter()
            .map(|column| Buffer::new(column, run_uid, is_sorted));
        Ok(Self {
            table,
            files,
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
        if self.is_sorted && self.rows.is_multiple_of(PIECE) {
            self.piece()?;
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
        let Values::Scales(values) = &mut self.columns[at].values else {
            unreachable!("a scale for {}", self.files[at].name);
        };
        values.push(place);
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
            unreachable!("a text for {}", self.files[at].name);
        };
        // Many texts are those of the row before.
        let last = places.last().copied().filter(|last| {
            let text = texts.get(*last as usize);
            text.is_some_and(|text| same(text.data(), value))
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
        let Values::Texts { places, .. } = &mut buffer.values else {
            unreachable!("a text for {}", self.files[at].name);
        };
        places.push(place);
    }

    /// Adds a function to a column, by the place of its key.
    #[inline]
    pub(super) fn function(&mut self, at: usize, place: Option<u32>) {
        let Some(place) = place else {
            return;
        };
        let buffer = &mut self.columns[at];
        buffer.level(self.in_group);
        let Values::Functions(values) = &mut buffer.values else {
            unreachable!("a function for {}", self.files[at].name);
        };
        values.push(place);
    }

    /// Adds a tag to the one row of a table.
    pub(super) fn tag(&mut self, at: usize, key: &[u8], value: &[u8]) {
        let Values::Tags(values) = &mut self.columns[at].values else {
            unreachable!("a tag for {}", self.files[at].name);
        };
        values.push((text(key), text(value)));
    }

    /// Adds a value of any kind to a column that takes it.
    pub(super) fn cell(&mut self, at: usize, cell: &Cell<'_>) -> Result<(), DatasetError> {
        let column = &self.files[at];
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
                    "{}.{}: expected {}, found {}: `profdb check` locates the damage",
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

    /// Makes room for more rows of a table whose rows come in their order.
    fn piece(&mut self) -> Result<(), DatasetError> {
        for buffer in &mut self.columns {
            buffer.split();
        }
        if self.rows == PAGE {
            self.page(Chosen::First(PAGE))?;
            self.rows = 0;
            if self.in_group == ROWS {
                self.group(Chosen::First(ROWS))?;
            }
        }
        Ok(())
    }

    /// The rows in the order of the table.
    fn order(&self) -> Vec<u32> {
        let by = self.table.order.iter();
        let columns = by.filter_map(|name| self.table.file_column(name));
        let ranks: Vec<Ranks<'_>> = columns.flat_map(|at| self.columns[at].ranks()).collect();
        order(self.rows, &ranks)
    }

    /// Makes a page of some rows of each column of numbers.
    fn page(&mut self, rows: Chosen<'_>) -> Result<(), DatasetError> {
        for buffer in &mut self.columns {
            if !matches!(buffer.values, Values::Numbers(_)) {
                continue;
            }
            if let Chosen::First(count) = rows {
                buffer.settle(count);
            }
            buffer.page_of_numbers(&mut self.zstd, rows)?;
            if self.is_sorted {
                buffer.clear();
            }
        }
        Ok(())
    }

    /// Writes a row group: numbers are in pages already.
    fn group(&mut self, rows: Chosen<'_>) -> Result<(), DatasetError> {
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
                if let Chosen::First(count) = rows
                    && !matches!(buffer.values, Values::Numbers(_))
                {
                    buffer.settle(count);
                }
                let texts = buffer.pages_of_places(&mut self.zstd, self.keys, rows, page)?;
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
                    self.page(Chosen::First(self.rows))?;
                }
                self.group(Chosen::First(self.in_group))?;
            }
        } else {
            for buffer in &mut self.columns {
                buffer.settle(self.rows);
            }
            for rows in self.order().chunks(ROWS) {
                self.page(Chosen::These(rows))?;
                self.group(Chosen::These(rows))?;
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
