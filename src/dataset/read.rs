//! Reads runs back: rows of Parquet files, whoever has written them last. Files may hold several runs, in any order, as engines
//! write them that make large files of small ones. Files may be damaged, or a stranger's.

use std::fs::File;
use std::mem::take;

use parquet::basic::{Compression, Type as Physical};
use parquet::column::reader::ColumnReader;
use parquet::data_type::ByteArray;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor};

use super::error::DatasetError;
use super::functions;
use super::made::Layout;
use super::place;
use super::tables::{Column, Kind, TABLES, Table};
use crate::base::error::Stop;
use crate::base::panics::caught;
use crate::source::Stopped;
use crate::store::{Cell, FillError, LONGEST_UID, OwnedCell, RowsOfRuns, StoreError};

/// Rows that are in memory at once.
const PIECE: usize = 4096;

/// A run whose row waits until all are there.
struct Run {
    uid: Vec<u8>,
    cells: Vec<OwnedCell>,
    tags: Vec<(ByteArray, ByteArray)>,
}

/// Some rows of a column.
enum Piece {
    Integers(Vec<i64>),
    Reals(Vec<f64>),
    Texts(Vec<ByteArray>),
    Tags(Vec<Vec<(ByteArray, ByteArray)>>),
}

/// What a row is handed to, with its tags.
type EachRow<'a> = dyn FnMut(&[Cell<'_>], &[Tag]) -> Result<(), DatasetError> + 'a;

/// What a file is handed to.
pub type EachFile<'a> = dyn FnMut(File) -> Result<(), DatasetError> + 'a;

/// Hands over the files of a table, one after the other.
pub type FilesOfTable<'a> =
    dyn FnMut(&'static Table, &mut EachFile<'_>) -> Result<(), DatasetError> + 'a;

/// Key and value.
type Tag = (ByteArray, ByteArray);

/// The keys or the values of the tags of some rows, row by row. `None` is an entry without one: engines write values that may be
/// NULL.
type Entries = Vec<Vec<Option<ByteArray>>>;

/// Reads the files of some days: a function gives those of a table, one after the other.
///
/// # Errors
/// When a file is not what a dataset has, or rows do not go together.
pub fn read(
    rows: &mut RowsOfRuns<'_>,
    files: &mut FilesOfTable<'_>,
    stop: &Stop,
) -> Result<(), DatasetError> {
    let mut runs: Vec<Run> = Vec::new();
    let mut observations: Vec<[OwnedCell; 3]> = Vec::new();
    let mut notes: Vec<Vec<OwnedCell>> = Vec::new();
    for table in &TABLES {
        files(table, &mut |file| {
            guarded(table, file, stop, &mut |cells, tags| {
                if table.name == "runs" {
                    runs.push(run(cells, tags)?);
                    return Ok(());
                }
                // A run is there when its row in `runs` is: others are being written or copied.
                if matches!(cells[0], Cell::Text(uid) if !rows.has_run(uid)) {
                    return Ok(());
                }
                match table.name {
                    "metrics" => {
                        let of = table.in_sql(["run_uid", "metric", "observations"]);
                        let of = of.map(|at| cells[at]);
                        if of[2] != Cell::Null {
                            observations.push(of.map(OwnedCell::from));
                        }
                    }
                    "notes" => {
                        notes.push(owned(cells));
                        return Ok(());
                    }
                    "functions" => functions::check(cells)?,
                    _ => {}
                }
                Ok(rows.row(table.name, cells)?)
            })
        })?;
        match table.name {
            "runs" => {
                // As in the database that they are from.
                runs.sort_by(|one, other| key(one).cmp(&key(other)));
                for run in &runs {
                    let cells = borrowed(&run.cells);
                    let tags: Vec<(Vec<u8>, Vec<u8>)> = run
                        .tags
                        .iter()
                        .map(|(key, value)| (key.data().to_vec(), value.data().to_vec()))
                        .collect();
                    rows.run_row(&run.uid, &cells, &tags)
                        .map_err(of_run(&run.uid))?;
                }
            }
            "metrics" => {
                for run in take(&mut runs) {
                    let [metric] = run.known(["default_metric"]);
                    rows.default_metric(&run.uid, &metric)
                        .map_err(of_run(&run.uid))?;
                }
                for of in &take(&mut observations) {
                    let [run, metric, observations] = of.each_ref().map(OwnedCell::borrowed);
                    rows.observations(&run, &metric, &observations)?;
                }
            }
            "functions" => rows.number_functions()?,
            "notes" => {
                // Engines that make large files of small ones need not keep the order of rows.
                let mut notes: Vec<Vec<Cell<'_>>> =
                    notes.iter().map(|note| borrowed(note)).collect();
                notes.sort_by_key(|note| note_place(note));
                for note in notes {
                    rows.row(table.name, &note)
                        .map_err(of_run(note_place(&note).0))?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// An error that is about a run, and not about a file.
fn of_run(uid: &[u8]) -> impl Fn(FillError) -> DatasetError {
    |error| match error {
        FillError::Row(what) => {
            DatasetError::Content(format!("run {}: {what}", String::from_utf8_lossy(uid)))
        }
        error @ FillError::Store(_) => error.into(),
    }
}

/// The place of a note: its run, and which of its notes it is.
fn note_place<'r>(note: &[Cell<'r>]) -> (&'r [u8], i64) {
    match note {
        [Cell::Text(uid), Cell::Integer(position), ..] => (uid, *position),
        _ => (&[], 0),
    }
}

impl Run {
    /// What its row says.
    fn known<const COUNT: usize>(&self, names: [&str; COUNT]) -> [Cell<'_>; COUNT] {
        // The uid is not among the cells.
        TABLES[0]
            .in_sql(names)
            .map(|at| self.cells[at - 1].borrowed())
    }
}

/// What runs are ordered by: when they were imported, and which number they had.
fn key(run: &Run) -> (&[u8], i64, &[u8]) {
    let [imported, number] = run.known(["imported_at", "run_number"]);
    let imported = match imported {
        Cell::Text(text) => text,
        _ => &[],
    };
    let number = match number {
        Cell::Integer(number) => number,
        _ => 0,
    };
    (imported, number, &run.uid)
}

fn run(cells: &[Cell<'_>], tags: &[Tag]) -> Result<Run, DatasetError> {
    let Cell::Text(uid) = cells[0] else {
        return Err(DatasetError::Content(
            "expected the uid of a run, found none".to_owned(),
        ));
    };
    let text = String::from_utf8_lossy(uid);
    if !place::is_uid(&text) {
        return Err(DatasetError::Content(format!(
            "expected the uid of a run, {LONGEST_UID} hexadecimal digits at most, found `{}`",
            text.escape_debug()
        )));
    }
    Ok(Run {
        uid: uid.to_vec(),
        cells: owned(&cells[1..cells.len() - 1]),
        tags: tags.to_vec(),
    })
}

fn owned(cells: &[Cell<'_>]) -> Vec<OwnedCell> {
    cells.iter().map(|cell| OwnedCell::from(*cell)).collect()
}

fn borrowed(cells: &[OwnedCell]) -> Vec<Cell<'_>> {
    cells.iter().map(OwnedCell::borrowed).collect()
}

/// Calls a function for each row of a file, as [`each_row`] does. A panic of the Parquet reader, which damaged files lead to, becomes
/// an error like other faults of files.
fn guarded(
    table: &'static Table,
    file: File,
    stop: &Stop,
    each: &mut EachRow<'_>,
) -> Result<(), DatasetError> {
    // What it leaves half done is dropped: rows that were taken are of a database that no one sees before all are there.
    caught(|| each_row(table, file, stop, each)).unwrap_or_else(|why| {
        Err(DatasetError::Content(format!(
            "expected a Parquet file, found one that cannot be read: {why}"
        )))
    })
}

/// Calls a function for every row of a file. Tags come beside the cells, whose last one they are.
fn each_row(
    table: &'static Table,
    file: File,
    stop: &Stop,
    each: &mut EachRow<'_>,
) -> Result<(), DatasetError> {
    let reader = SerializedFileReader::new(file)?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let layout = Layout::of(table);
    let places = places(&schema, &layout.stored)?;
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group)?;
        rows_of_group(table, group.as_ref(), (&layout, &places), stop, each)?;
    }
    Ok(())
}

/// The places of columns in a file, of a map those of its keys and its values.
fn places(schema: &SchemaDescriptor, columns: &[&Column]) -> Result<Vec<Vec<usize>>, DatasetError> {
    let mut places = Vec::new();
    for column in columns {
        let leaves: Vec<usize> = (0..schema.num_columns())
            .filter(|leaf| {
                schema
                    .column(*leaf)
                    .path()
                    .parts()
                    .first()
                    .is_some_and(|name| name == column.name)
            })
            .collect();
        let physical = match column.kind {
            Kind::Text | Kind::Function | Kind::Tags => Physical::BYTE_ARRAY,
            Kind::Integer => Physical::INT64,
            Kind::Real | Kind::Scale => Physical::DOUBLE,
        };
        let wanted = if column.kind == Kind::Tags { 2 } else { 1 };
        let is_such = |leaf: &usize| {
            let found = schema.column(*leaf);
            found.physical_type() == physical
                && found.max_rep_level() == i16::from(column.kind == Kind::Tags)
        };
        if leaves.len() != wanted || !leaves.iter().all(is_such) {
            return Err(DatasetError::Content(format!(
                "expected a column {} of type {}",
                column.name,
                column.kind.name()
            )));
        }
        places.push(leaves);
    }
    Ok(places)
}

/// What a column is compressed with, if profdb does not know how.
fn unknown_codec(compression: Compression) -> Option<&'static str> {
    match compression {
        Compression::UNCOMPRESSED
        | Compression::SNAPPY
        | Compression::GZIP(_)
        | Compression::ZSTD(_) => None,
        Compression::LZO => Some("lzo"),
        Compression::BROTLI(_) => Some("brotli"),
        Compression::LZ4 | Compression::LZ4_RAW => Some("lz4"),
    }
}

fn rows_of_group(
    table: &'static Table,
    group: &dyn RowGroupReader,
    (layout, places): (&Layout, &[Vec<usize>]),
    stop: &Stop,
    each: &mut EachRow<'_>,
) -> Result<(), DatasetError> {
    for leaf in places.iter().flatten() {
        let compression = group.metadata().column(*leaf).compression();
        if let Some(codec) = unknown_codec(compression) {
            return Err(DatasetError::Content(format!(
                "expected columns that are compressed with zstd, snappy or gzip, or not at all, found {codec}: let the \
                 engine write the file again (Spark: SET spark.sql.parquet.compression.codec=zstd; DuckDB: COMPRESSION \
                 zstd)"
            )));
        }
    }
    let open = |leaf: &usize| group.get_column_reader(*leaf);
    let mut readers = places
        .iter()
        .map(|leaves| leaves.iter().map(open).collect::<Result<Vec<_>, _>>())
        .collect::<Result<Vec<_>, _>>()?;
    let about = |leaf: usize| group.metadata().column(leaf).column_descr();
    loop {
        if stop.is_set() {
            return Err(StoreError::from(Stopped).into());
        }
        let mut pieces: Vec<(Piece, Vec<i16>)> = Vec::new();
        let mut count = None;
        for (at, readers) in readers.iter_mut().enumerate() {
            let leaves = places[at].as_slice();
            let (found, piece, levels) = match (readers.as_mut_slice(), leaves) {
                ([one], [leaf]) => read_piece(one, about(*leaf).max_def_level())?,
                ([keys, values], [key, value]) => {
                    let (keys, records) = read_entries(keys, about(*key))?;
                    let (values, records_of_values) = read_entries(values, about(*value))?;
                    if records != records_of_values {
                        return Err(uneven(table));
                    }
                    let tags = tags(table, keys, values)?;
                    (records, Piece::Tags(tags), Vec::new())
                }
                _ => return Ok(()),
            };
            if *count.get_or_insert(found) != found {
                return Err(uneven(table));
            }
            pieces.push((piece, levels));
        }
        let count = count.unwrap_or_default();
        if count == 0 {
            return Ok(());
        }
        let mut given = vec![0; pieces.len()];
        let mut cells = Vec::with_capacity(pieces.len());
        let mut made = Vec::with_capacity(table.columns.len());
        for row in 0..count {
            cells.clear();
            let mut tags: &[Tag] = &[];
            for ((piece, levels), given) in pieces.iter().zip(&mut given) {
                let is_there = levels.get(row).is_none_or(|level| *level == 1);
                let cell = match piece {
                    Piece::Tags(of_rows) => {
                        tags = of_rows.get(row).map_or(&[], Vec::as_slice);
                        Some(Cell::Null)
                    }
                    _ if !is_there => Some(Cell::Null),
                    Piece::Integers(values) => values.get(*given).copied().map(Cell::Integer),
                    Piece::Reals(values) => values.get(*given).copied().map(Cell::Real),
                    Piece::Texts(values) => values.get(*given).map(|text| Cell::Text(text.data())),
                };
                *given += usize::from(is_there);
                cells.push(cell.ok_or_else(|| {
                    DatasetError::Content("expected more values in a column".to_owned())
                })?);
            }
            layout.row(&cells, &mut made)?;
            each(&made, tags)?;
        }
    }
}

/// Reads some rows of a column: how many, their values, and for each 1 if it has one.
fn read_piece(
    reader: &mut ColumnReader,
    most: i16,
) -> Result<(usize, Piece, Vec<i16>), DatasetError> {
    let mut levels = Vec::new();
    macro_rules! values {
        ($reader:expr, $kind:ident) => {{
            let mut values = Vec::new();
            let mut found = 0;
            // A reader may stop at the end of a page.
            while found < PIECE {
                let (records, _, _) =
                    $reader.read_records(PIECE - found, Some(&mut levels), None, &mut values)?;
                if records == 0 {
                    break;
                }
                found += records;
            }
            (found, Piece::$kind(values))
        }};
    }
    let (found, piece) = match reader {
        ColumnReader::Int64ColumnReader(reader) => values!(reader, Integers),
        ColumnReader::DoubleColumnReader(reader) => values!(reader, Reals),
        ColumnReader::ByteArrayColumnReader(reader) => values!(reader, Texts),
        _ => (0, Piece::Integers(Vec::new())),
    };
    let levels = if most == 0 {
        Vec::new()
    } else {
        levels
            .iter()
            .map(|level| i16::from(*level == most))
            .collect()
    };
    Ok((found, piece, levels))
}

fn uneven(table: &Table) -> DatasetError {
    DatasetError::Content(format!(
        "columns of {} have different numbers of values",
        table.name
    ))
}

/// Reads the keys or the values of the tags of some rows, and how many rows these are.
fn read_entries(
    reader: &mut ColumnReader,
    about: &ColumnDescriptor,
) -> Result<(Entries, usize), DatasetError> {
    let ColumnReader::ByteArrayColumnReader(reader) = reader else {
        return Ok((Vec::new(), 0));
    };
    let (mut defined, mut repeated, mut found) = (Vec::new(), Vec::new(), Vec::new());
    let mut records = 0;
    while records < PIECE {
        let (more, _, _) = reader.read_records(
            PIECE - records,
            Some(&mut defined),
            Some(&mut repeated),
            &mut found,
        )?;
        if more == 0 {
            break;
        }
        records += more;
    }
    let most = about.max_def_level();
    // The level of an entry, which a text that may be NULL is one above.
    let of_entry = most - i16::from(about.self_type().is_optional());
    let mut found = found.into_iter();
    let mut rows = Entries::new();
    for (defined, repeated) in defined.iter().zip(&repeated) {
        if *repeated == 0 {
            rows.push(Vec::new());
        }
        if *defined >= of_entry
            && let Some(row) = rows.last_mut()
        {
            row.push(if *defined >= most { found.next() } else { None });
        }
    }
    Ok((rows, records))
}

/// Puts the keys of tags and their values together, row by row.
fn tags(table: &Table, keys: Entries, values: Entries) -> Result<Vec<Vec<Tag>>, DatasetError> {
    if keys.len() != values.len() {
        return Err(uneven(table));
    }
    let of_row = |(keys, values): (Vec<_>, Vec<_>)| {
        if keys.len() != values.len() {
            return Err(uneven(table));
        }
        let both = keys.into_iter().zip(values).map(|both| match both {
            (Some(key), Some(value)) => Ok((key, value)),
            (key, _) => Err(DatasetError::Content(format!(
                "expected a key and a value of each tag, found {}",
                key.map_or_else(
                    || "no key".to_owned(),
                    |key: ByteArray| format!(
                        "no value of `{}`",
                        String::from_utf8_lossy(key.data()).escape_debug()
                    )
                )
            ))),
        });
        both.collect()
    };
    keys.into_iter().zip(values).map(of_row).collect()
}
