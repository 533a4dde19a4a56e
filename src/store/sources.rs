//! The source of a run's lines: as it was at the import, in tables; as it is now, in a table of the
//! connection.
//!
//! What is stored are the lines of the functions that have lines with figures, or only the lines with
//! figures: then it is as much as the run itself, whatever the size of the files. Of every function
//! the line where it begins is stored, which tells closures of one name apart when runs are
//! compared. The hash of the whole says which version they are from.
//! A text that several runs have is stored once.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, named_params, params};

use super::database::Database;
use super::error::StoreError;
use crate::base::hex::hex;
use crate::source::{self, Extent, Folder, Found, Place, SourceLines, Stopped};

const WANTED: &str = include_str!("../../queries/sources/wanted.sql");
const SHOWN: &str = include_str!("../../queries/sources/shown.sql");

impl Database {
    /// Lets reports show the source of a run's lines as it is in a folder now, instead of what was
    /// stored with the run. Returns remarks.
    ///
    /// # Errors
    /// When the database cannot be read, or a stop is asked for.
    pub fn show_source(
        &self,
        run_id: i64,
        folder: &dyn Folder,
        lines: SourceLines,
    ) -> Result<Vec<String>, StoreError> {
        let failed = |source| self.failed(source);
        let places = wanted(&self.connection, run_id, lines).map_err(failed)?;
        let found = source::find(folder, &places)?;
        show(&self.connection, run_id, &places, &found).map_err(failed)?;
        Ok(found.remarks)
    }
}

/// Stores the source of a run's lines, and notes what is missing.
pub(super) fn store(
    transaction: &Connection,
    run_id: i64,
    folder: &dyn Folder,
    lines: SourceLines,
) -> rusqlite::Result<Result<(), Stopped>> {
    let places = wanted(transaction, run_id, lines)?;
    let found = match source::find(folder, &places) {
        Ok(found) => found,
        Err(stopped) => return Ok(Err(stopped)),
    };
    let insert_source =
        "INSERT INTO sources (sha256, first_line) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    let mut insert_source = transaction.prepare(insert_source)?;
    let mut find_source = transaction
        .prepare("SELECT source_id FROM sources WHERE sha256 = ?1 AND first_line = ?2")?;
    let insert_line = "INSERT INTO source_texts (source_id, line, text) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
    let mut insert_line = transaction.prepare(insert_line)?;
    let mut source_ids: Vec<i64> = Vec::new();
    for text in &found.texts {
        let key = params![hex(&text.sha256), text.first_line];
        insert_source.execute(key)?;
        let source_id = find_source.query_row(key, |row| row.get(0))?;
        for (line, text) in &text.lines {
            insert_line.execute(params![source_id, line, text])?;
        }
        // In the order of the texts: places name their text by its position.
        source_ids.push(source_id);
    }
    let sql =
        "INSERT INTO run_sources (run_id, function_id, file, source_id) VALUES (?1, ?2, ?3, ?4)";
    let mut insert = transaction.prepare(sql)?;
    for (place, text) in places.iter().zip(&found.places) {
        if let Some(text) = text {
            insert.execute(params![
                run_id,
                place.function_id,
                place.file,
                source_ids[*text]
            ])?;
        }
    }
    let mut note = transaction
        .prepare("INSERT INTO notes (run_id, severity, message) VALUES (?1, 'warning', ?2)")?;
    let (missing, lines) = missing(&places, &found);
    if missing > 0 {
        note.execute(params![
            run_id,
            format!("no source for {missing} of {lines} lines")
        ])?;
    }
    for remark in &found.remarks {
        note.execute(params![run_id, remark])?;
    }
    Ok(Ok(()))
}

/// The lines that a run knows, by function and file, and those where its functions begin.
fn wanted(connection: &Connection, run_id: i64, kept: SourceLines) -> rusqlite::Result<Vec<Place>> {
    let mut statement = connection.prepare(WANTED)?;
    let mut rows = statement.query(named_params! { ":run": run_id })?;
    let mut places: Vec<Place> = Vec::new();
    let mut known: BTreeMap<String, BTreeSet<i64>> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let (function_id, file, line): (_, String, _) = (row.get(0)?, row.get(1)?, row.get(3)?);
        // Rows come by function and file, so those of one place follow each other.
        match places.last() {
            Some(place) if place.function_id == function_id && place.file == file => {}
            _ => places.push(Place {
                function_id,
                name: row.get(2)?,
                file: file.clone(),
                lines: BTreeSet::new(),
                begins: None,
                extent: Extent::default(),
            }),
        }
        if let Some(place) = places.last_mut() {
            let begins: bool = row.get(4)?;
            if begins {
                place.begins = Some(line);
            } else {
                place.lines.insert(line);
            }
        }
        if kept == SourceLines::Functions && !file.is_empty() {
            known.entry(file).or_default().insert(line);
        }
    }
    // Numbers of lines of no file say nothing where there is no text of the function alone.
    places.retain(|place| !place.lines.is_empty() || !place.file.is_empty());
    for place in &mut places {
        place.extent = match kept {
            // Of a function that only begins somewhere, that line tells it from others of its name.
            _ if place.lines.is_empty() => Extent::default(),
            SourceLines::Figures => Extent::default(),
            // A text without a file is that of one function.
            SourceLines::Functions if place.file.is_empty() => Extent::all(),
            SourceLines::Functions => {
                let own = place.lines.iter().chain(&place.begins).copied().collect();
                Extent::between(&own, &known[&place.file])
            }
        };
    }
    Ok(places)
}

/// How many lines have no source, and how many lines there are.
fn missing(places: &[Place], found: &Found) -> (usize, usize) {
    let has = |text: &Option<usize>, line| {
        text.is_some_and(|text| found.texts[text].lines.contains_key(line))
    };
    let lines = || {
        places
            .iter()
            .zip(&found.places)
            .flat_map(|(place, text)| place.lines.iter().map(move |l| (l, text)))
    };
    (
        lines().filter(|(line, text)| !has(text, line)).count(),
        lines().count(),
    )
}

fn show(
    connection: &Connection,
    run_id: i64,
    places: &[Place],
    found: &Found,
) -> rusqlite::Result<()> {
    connection.execute_batch(SHOWN)?;
    let sql = "INSERT INTO temp.source_lines (run_id, function_id, file, line, text) VALUES (?1, ?2, ?3, ?4, ?5)";
    let mut insert = connection.prepare(sql)?;
    for (place, text) in places.iter().zip(&found.places) {
        let lines = text
            .map(|text| &found.texts[text].lines)
            .into_iter()
            .flatten();
        for (line, text) in lines.filter(|(line, _)| place.keeps(**line)) {
            insert.execute(params![run_id, place.function_id, place.file, line, text])?;
        }
    }
    Ok(())
}
