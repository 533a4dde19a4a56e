//! `profdb-dataset.json`: what is in a folder, and by which version of the layout.

use serde_json::{Map, Value, json};

use super::place::{ENDING, PARTITION};
use super::tables::{Column, TABLES, Table};

/// The name of the file, beside the folders of the tables.
pub const ABOUT: &str = "profdb-dataset.json";

/// The version of the layout. Versions 1 and 2 were never released.
pub const VERSION: u64 = 3;

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

/// Checks the text of such a file: runs can be read from the dataset and added to it.
///
/// # Errors
/// A message that says what is wrong.
pub fn check(text: &[u8]) -> Result<(), String> {
    let about: Value = serde_json::from_slice(text)
        .map_err(|error| format!("expected JSON that profdb has written: {error}"))?;
    if about.get("format").and_then(Value::as_str) != Some(FORMAT) {
        return Err(format!("expected a file whose format is {FORMAT}"));
    }
    match about.get("version").and_then(Value::as_u64) {
        Some(VERSION) => Ok(()),
        Some(version) if version > VERSION => Err(format!(
            "the dataset has version {version}, this profdb reads versions up to {VERSION}; use a newer profdb"
        )),
        Some(version) => Err(format!(
            "the dataset has version {version}, this profdb reads and writes version {VERSION}; export the runs again into an empty directory"
        )),
        None => Err("expected a version, a whole number".to_owned()),
    }
}
