//! Rows of a table as columns, and a Parquet file of them.

use std::cmp::Ordering;
use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::SortingColumn;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnPath, Type, TypePtr};

use super::error::DatasetError;
use super::tables::{Column, Kind, Table};
use crate::store::Cell;

/// Rows of a row group: what is in memory at once, and what engines read in one piece.
pub(super) const ROWS: usize = 1 << 18;

/// Values that are handed to the writer at once.
const AT_ONCE: usize = 8192;

/// How hard zstd tries: a higher level takes twice the time for a few percent.
const LEVEL: i32 = 1;

/// Who wrote the files, in the form in which readers look for writers with known faults. It has no version of the program, as
/// equal rows are equal bytes in all of them.
const CREATED_BY: &str = "profdb-dataset version 1.0.0 (build 1)";

/// A place that is in no row.
const NONE: u32 = u32::MAX;

/// The values of a column.
#[derive(Debug)]
enum Values {
    /// One text for all rows.
    Same(ByteArray),
    Integers(Vec<i64>),
    Reals(Vec<f64>),
    Texts(Vec<ByteArray>),
    /// Places among the keys of functions; [`NONE`] for NULL.
    Functions(Vec<u32>),
    /// Keys and values of the one row of a table.
    Tags(Vec<(ByteArray, ByteArray)>),
}

/// A column that is being filled.
#[derive(Debug)]
struct Buffer {
    values: Values,
    /// 1 where there is a value, which [`Values`] has a place for in any case; empty in columns without NULL.
    levels: Vec<i16>,
    is_optional: bool,
}

/// A table that is being filled, and written in pieces.
pub(super) struct Rows<'k, W: Write + Send> {
    table: &'static Table,
    columns: Vec<Buffer>,
    /// Keys of functions, sorted.
    keys: &'k [ByteArray],
    rows: usize,
    writer: SerializedFileWriter<W>,
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
            Kind::Real => leaf(column.name, Physical::DOUBLE, repetition),
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
    let fields = table.columns.iter().map(field).collect::<Result<_, _>>()?;
    Type::group_type_builder(table.name)
        .with_fields(fields)
        .build()
        .map(Arc::new)
}

/// Whether a table has rows of nodes, which come in their order.
pub(super) fn is_of_nodes(table: &Table) -> bool {
    matches!(table.name, "nodes" | "node_costs" | "node_labels")
}

/// How a table is written.
fn properties(table: &Table) -> Result<WriterProperties, ParquetError> {
    let sorting = table.order.iter().filter_map(|name| {
        Some(SortingColumn {
            column_idx: i32::try_from(table.column(name)?).ok()?,
            descending: false,
            nulls_first: true,
        })
    });
    let mut properties = WriterProperties::builder()
        .set_created_by(CREATED_BY.to_owned())
        .set_writer_version(WriterVersion::PARQUET_1_0)
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(LEVEL)?))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_dictionary_page_size_limit(1 << 22)
        .set_max_row_group_row_count(Some(ROWS))
        .set_sorting_columns(Some(sorting.collect()));
    for column in table.columns {
        let path = ColumnPath::from(column.name);
        properties = match column.name {
            // Numbers that mostly go up by one; what is pruned by them is looked for page by page.
            "node_id" | "parent_id" | "last_id" | "outer_id" | "position" => properties
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_encoding(path.clone(), Encoding::DELTA_BINARY_PACKED)
                .set_column_statistics_enabled(path, EnabledStatistics::Page),
            // The bytes of costs by their place: those of the exponent compress well, and no reader of these tables lacks it.
            _ if column.kind == Kind::Real => properties
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_encoding(path, Encoding::BYTE_STREAM_SPLIT),
            _ => properties,
        };
    }
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
    /// Begins the file of a run in a table.
    pub(super) fn new(
        table: &'static Table,
        run_uid: &str,
        keys: &'k [ByteArray],
        is_sorted: bool,
        out: W,
    ) -> Result<Self, DatasetError> {
        let writer = SerializedFileWriter::new(out, schema(table)?, Arc::new(properties(table)?))?;
        let columns = table.columns.iter().map(|column| Buffer {
            values: match column.kind {
                Kind::Text if column.name == "run_uid" => Values::Same(run_uid.into()),
                Kind::Text => Values::Texts(Vec::new()),
                Kind::Integer => Values::Integers(Vec::new()),
                Kind::Real => Values::Reals(Vec::new()),
                Kind::Function => Values::Functions(Vec::new()),
                Kind::Tags => Values::Tags(Vec::new()),
            },
            levels: Vec::new(),
            is_optional: column.is_optional,
        });
        Ok(Self {
            table,
            columns: columns.collect(),
            keys,
            rows: 0,
            writer,
            is_sorted,
        })
    }

    /// Ends a row. In a table whose rows come in their order, they are written when there are enough.
    #[inline]
    pub(super) fn end_row(&mut self) -> Result<(), DatasetError> {
        self.rows += 1;
        if self.is_sorted && self.rows == ROWS {
            self.flush()?;
        }
        Ok(())
    }

    #[inline]
    fn level(&mut self, at: usize, is_there: bool) {
        let buffer = &mut self.columns[at];
        if buffer.is_optional {
            buffer.levels.push(i16::from(is_there));
        }
    }

    /// Adds a number to a column.
    #[inline]
    pub(super) fn integer(&mut self, at: usize, value: Option<i64>) {
        if let Values::Integers(values) = &mut self.columns[at].values {
            values.push(value.unwrap_or_default());
        }
        self.level(at, value.is_some());
    }

    /// Adds a cost to a column.
    #[inline]
    pub(super) fn real(&mut self, at: usize, value: Option<f64>) {
        if let Values::Reals(values) = &mut self.columns[at].values {
            values.push(value.unwrap_or_default());
        }
        self.level(at, value.is_some());
    }

    /// Adds a text to a column.
    #[inline]
    pub(super) fn text(&mut self, at: usize, value: Option<&[u8]>) {
        if let Values::Texts(values) = &mut self.columns[at].values {
            values.push(value.map_or_else(|| ByteArray::from(Vec::new()), text));
        }
        self.level(at, value.is_some());
    }

    /// Adds a function to a column, by the place of its key.
    #[inline]
    pub(super) fn function(&mut self, at: usize, place: Option<u32>) {
        if let Values::Functions(values) = &mut self.columns[at].values {
            values.push(place.unwrap_or(NONE));
        }
        self.level(at, place.is_some());
    }

    /// Adds a tag to the one row of a table.
    pub(super) fn tag(&mut self, at: usize, key: &[u8], value: &[u8]) {
        if let Values::Tags(values) = &mut self.columns[at].values {
            values.push((text(key), text(value)));
        }
    }

    /// Adds a value of any kind to a column that takes it.
    pub(super) fn cell(&mut self, at: usize, cell: &Cell<'_>) -> Result<(), DatasetError> {
        let column = &self.table.columns[at];
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

    /// The order of two rows in a column.
    fn compare(&self, at: usize, one: usize, other: usize) -> Ordering {
        let buffer = &self.columns[at];
        let levels = match (buffer.levels.get(one), buffer.levels.get(other)) {
            (Some(one), Some(other)) => one.cmp(other),
            _ => Ordering::Equal,
        };
        levels.then_with(|| match &buffer.values {
            Values::Same(_) | Values::Tags(_) => Ordering::Equal,
            Values::Integers(values) => values[one].cmp(&values[other]),
            Values::Reals(values) => values[one].total_cmp(&values[other]),
            Values::Texts(values) => values[one].data().cmp(values[other].data()),
            Values::Functions(values) => values[one].cmp(&values[other]),
        })
    }

    /// Puts the rows in the order of the table.
    fn sort(&mut self) {
        let by: Vec<usize> = self
            .table
            .order
            .iter()
            .filter_map(|name| self.table.column(name))
            .collect();
        let mut order: Vec<usize> = (0..self.rows).collect();
        order.sort_by(|one, other| {
            by.iter().fold(Ordering::Equal, |found, at| {
                found.then_with(|| self.compare(*at, *one, *other))
            })
        });
        for buffer in &mut self.columns {
            match &mut buffer.values {
                Values::Same(_) | Values::Tags(_) => {}
                Values::Integers(values) => permute(values, &order),
                Values::Reals(values) => permute(values, &order),
                Values::Texts(values) => permute(values, &order),
                Values::Functions(values) => permute(values, &order),
            }
            if !buffer.levels.is_empty() {
                permute(&mut buffer.levels, &order);
            }
        }
    }

    /// Writes the rows that there are.
    fn flush(&mut self) -> Result<(), DatasetError> {
        let mut from = 0;
        while from < self.rows {
            let to = self.rows.min(from + ROWS);
            let mut group = self.writer.next_row_group()?;
            for buffer in &self.columns {
                write_column(&mut group, buffer, self.keys, from, to)?;
            }
            group.close()?;
            from = to;
        }
        self.rows = 0;
        for buffer in &mut self.columns {
            buffer.levels.clear();
            match &mut buffer.values {
                Values::Same(_) => {}
                Values::Integers(values) => values.clear(),
                Values::Reals(values) => values.clear(),
                Values::Texts(values) => values.clear(),
                Values::Functions(values) => values.clear(),
                Values::Tags(values) => values.clear(),
            }
        }
        Ok(())
    }

    /// Writes what there is, and ends the file.
    pub(super) fn finish(mut self) -> Result<(), DatasetError> {
        if !self.is_sorted {
            self.sort();
        }
        self.flush()?;
        self.writer.close()?;
        Ok(())
    }
}

fn permute<T: Clone>(values: &mut Vec<T>, order: &[usize]) {
    *values = order.iter().map(|at| values[*at].clone()).collect();
}

/// Writes the rows `from..to` of a column.
fn write_column<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    buffer: &Buffer,
    keys: &[ByteArray],
    from: usize,
    to: usize,
) -> Result<(), DatasetError> {
    let Some(mut column) = group.next_column()? else {
        return Ok(());
    };
    if let Values::Tags(tags) = &buffer.values {
        // A row without tags has one entry in each column, which says that there is none.
        let count = tags.len().max(1);
        let defined = vec![i16::from(!tags.is_empty()); count];
        let repeated: Vec<i16> = (0..count).map(|at| i16::from(at > 0)).collect();
        let keys: Vec<ByteArray> = tags.iter().map(|(key, _)| key.clone()).collect();
        let values: Vec<ByteArray> = tags.iter().map(|(_, value)| value.clone()).collect();
        let typed = column.typed::<ByteArrayType>();
        typed.write_batch(&keys, Some(&defined), Some(&repeated))?;
        column.close()?;
        if let Some(mut column) = group.next_column()? {
            let typed = column.typed::<ByteArrayType>();
            typed.write_batch(&values, Some(&defined), Some(&repeated))?;
            column.close()?;
        }
        return Ok(());
    }
    let mut texts: Vec<ByteArray> = Vec::new();
    if let Values::Same(text) = &buffer.values {
        texts = vec![text.clone(); AT_ONCE.min(to - from)];
    }
    let mut integers = Vec::new();
    let mut reals = Vec::new();
    let mut at = from;
    while at < to {
        let end = to.min(at + AT_ONCE);
        let levels = buffer.levels.get(at..end);
        let is_there = |place: usize| levels.is_none_or(|levels| levels[place - at] == 1);
        match &buffer.values {
            Values::Same(_) => {
                let typed = column.typed::<ByteArrayType>();
                typed.write_batch(&texts[..end - at], None, None)?;
            }
            Values::Integers(values) => {
                let typed = column.typed::<Int64Type>();
                if levels.is_none() {
                    typed.write_batch(&values[at..end], None, None)?;
                } else {
                    integers.clear();
                    integers.extend((at..end).filter(|at| is_there(*at)).map(|at| values[at]));
                    typed.write_batch(&integers, levels, None)?;
                }
            }
            Values::Reals(values) => {
                let typed = column.typed::<DoubleType>();
                if levels.is_none() {
                    typed.write_batch(&values[at..end], None, None)?;
                } else {
                    reals.clear();
                    reals.extend((at..end).filter(|at| is_there(*at)).map(|at| values[at]));
                    typed.write_batch(&reals, levels, None)?;
                }
            }
            Values::Texts(values) => {
                texts.clear();
                texts.extend(
                    (at..end)
                        .filter(|at| is_there(*at))
                        .map(|at| values[at].clone()),
                );
                column
                    .typed::<ByteArrayType>()
                    .write_batch(&texts, levels, None)?;
            }
            Values::Functions(values) => {
                texts.clear();
                texts.extend(
                    (at..end)
                        .filter(|at| is_there(*at))
                        .map(|at| keys[values[at] as usize].clone()),
                );
                column
                    .typed::<ByteArrayType>()
                    .write_batch(&texts, levels, None)?;
            }
            Values::Tags(_) => {}
        }
        at = end;
    }
    column.close()?;
    Ok(())
}
