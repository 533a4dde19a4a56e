//! `profdb-dataset.json`: what is in a folder, and by which version of the layout.

use serde_json::{Map, Value, json};

use super::place::{ENDING, PARTITION};
use super::tables::{Column, TABLES, Table};

/// The name of the file, beside the folders of the tables.
pub const ABOUT: &str = "profdb-dataset.json";

/// The version of the layout. A higher one may add tables and columns; what is there keeps its meaning.
pub const VERSION: u64 = 3;

/// The oldest version whose files are read, and which no files are added to.
const OLDEST: u64 = 1;

/// The word by which the file is known.
pub(super) const FORMAT: &str = "profdb-dataset";

/// The most bytes that the file may have.
pub const MOST_BYTES: u64 = 1 << 20;

/// The text of the file: the same for every dataset of this version.
///
/// # Panics
/// Never: it is made of text and numbers.
#[must_use]
pub fn about() -> String {
    let column = |column: &Column| {
        json!({
            "name": column.name, "type": column.kind.name(), "nullable": column.is_optional, "meaning": column.meaning,
        })
    };
    let table = |table: &Table| {
        json!({
            "name": table.name,
            "path": format!("{}/{PARTITION}DAY/RUN_UID.{ENDING}", table.name),
            "meaning": table.meaning,
            "sorted_by": table.order,
            "columns": table.files().iter().map(column).collect::<Vec<_>>(),
        })
    };
    let partition = "day: YYYY-MM-DD of runs.recorded_utc; unknown where the file does not say when it was recorded";
    let mut about = Map::new();
    about.insert("format".to_owned(), json!(FORMAT));
    about.insert("version".to_owned(), json!(VERSION));
    about.insert("partition".to_owned(), json!(partition));
    about.insert("compression".to_owned(), json!("zstd"));
    about.insert(
        "tables".to_owned(),
        TABLES.iter().map(table).collect::<Vec<_>>().into(),
    );
    serde_json::to_string_pretty(&Value::Object(about)).expect("text and numbers") + "\n"
}

/// Reads such a file: a dataset that can be read. Gives the tables that it has, of those that are known here.
///
/// # Errors
/// What is wrong with it, in words.
pub fn check(text: &[u8]) -> Result<Vec<&'static Table>, String> {
    let (about, _) = read(text)?;
    let listed = about.get("tables").and_then(Value::as_array);
    let is_listed = |table: &&Table| {
        let mut listed = listed.into_iter().flatten();
        listed.any(|one| one.get("name").and_then(Value::as_str) == Some(table.name))
    };
    Ok(TABLES.iter().filter(is_listed).collect())
}

/// Reads such a file: a dataset that runs can be added to.
///
/// # Errors
/// What is wrong with it, in words.
pub fn check_for_more(text: &[u8]) -> Result<(), String> {
    match read(text)?.1 {
        VERSION => Ok(()),
        older => Err(format!(
            "the dataset has version {older}, this profdb writes version {VERSION}: export into another folder; `profdb import --from dataset` brings its runs into a database"
        )),
    }
}

/// What such a file says, and the version of the layout that it is of.
fn read(text: &[u8]) -> Result<(Value, u64), String> {
    let about: Value = serde_json::from_slice(text)
        .map_err(|error| format!("expected JSON that profdb has written: {error}"))?;
    if about.get("format").and_then(Value::as_str) != Some(FORMAT) {
        return Err(format!("expected a file whose format is {FORMAT}"));
    }
    match about.get("version").and_then(Value::as_u64) {
        Some(version @ OLDEST..=VERSION) => Ok((about, version)),
        Some(version) if version > VERSION => Err(format!(
            "the dataset has version {version}, this profdb knows versions up to {VERSION}: use a newer profdb"
        )),
        _ => Err("expected a version, a whole number from 1 on".to_owned()),
    }
}
