//! SQLite for browsers, and what it needs of the page: statements that make a database of it, and questions to begin with.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::column::{self, size};
use super::error::PageError;
use super::scripts::WORKER;
use crate::store::{Database, RunInfo};

/// sql.js 1.16.0, compressed: web/vendor/sql.js has its licence.
const PROGRAM: &[u8] = include_bytes!("../../web/vendor/sql.js/sql-wasm.wasm.gz");
const LOADER: &[u8] = include_bytes!("../../web/vendor/sql.js/sql-wasm.js.gz");

/// Questions with their statements.
const QUESTIONS: &str = include_str!("../../docs/questions.md");

/// Whether a page can be asked in SQL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sql {
    /// It can.
    #[default]
    Inside,
    /// It cannot.
    Left,
}

/// Names and compressed bytes, most of which are those of every page.
pub(super) type Blocks = Vec<(&'static str, Cow<'static, [u8]>)>;

/// Part of the room that SQL may take: trees and figures come first.
const LARGEST_PART: usize = 3;

/// What the page has for SQL, if it has room for it beside what its runs have for that, which is so many bytes.
pub(super) fn blocks(
    database: &Database,
    runs: &[&RunInfo],
    with_source: bool,
    of_runs: usize,
    room: usize,
) -> Result<Option<Blocks>, PageError> {
    let numbers: Vec<i64> = runs.iter().map(|run| run.run_id).collect();
    let script = database.trimmed(&numbers, with_source)?;
    let blocks: Blocks = vec![
        ("sqlite/program", PROGRAM.into()),
        ("sqlite/loader", LOADER.into()),
        ("sqlite/worker", column::text(WORKER).into()),
        ("sqlite/script", column::text(&script).into()),
    ];
    let taken = size(&blocks);
    Ok((taken + of_runs <= room / LARGEST_PART).then_some(blocks))
}

/// The questions of docs/questions.md: what is asked, and the statement.
pub(super) fn questions() -> Value {
    let mut all = Vec::new();
    for part in QUESTIONS.split("\n### ").skip(1) {
        let Some((question, rest)) = part.split_once('\n') else {
            continue;
        };
        let statement = rest.split_once("```sql\n");
        let statement = statement.and_then(|(_, rest)| rest.split_once("\n```"));
        all.extend(statement.map(|(statement, _)| json!([question, statement])));
    }
    json!(all)
}
