//! SQLite for browsers, and what it needs of the page: a database without trees, and questions to begin with.

use serde_json::{Value, json};

use super::column;
use super::error::PageError;
use crate::store::{Database, RunInfo, Without};

/// sql.js 1.16.0, compressed: web/vendor/sql.js has its licence.
const PROGRAM: &[u8] = include_bytes!("../../web/vendor/sql.js/sql-wasm.wasm.gz");
const LOADER: &[u8] = include_bytes!("../../web/vendor/sql.js/sql-wasm.js.gz");

/// What runs in a thread of its own beside it.
const WORKER: &str = include_str!("../../web/sqlite-worker.js");

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

/// Names and compressed bytes.
pub(super) type Blocks = Vec<(String, Vec<u8>)>;

/// Part of the room that SQL may take: trees and figures come first.
const LARGEST_PART: usize = 3;

/// No database becomes so many times smaller by compression: rows of counts become five times smaller.
const MOST_COMPRESSED: usize = 12;

/// What the page has for SQL, if it has room for it, and what its database goes without: what is not wanted, then lines, then
/// calls, where they do not fit. `calls` is how many bytes those take as columns, and no database takes less.
pub(super) fn blocks(
    database: &Database,
    runs: &[&RunInfo],
    mut without: Without,
    calls: usize,
    room: usize,
) -> Result<Option<(Blocks, Without)>, PageError> {
    let numbers: Vec<i64> = runs.iter().map(|run| run.run_id).collect();
    let mut blocks = vec![
        ("sqlite/program".to_owned(), PROGRAM.to_vec()),
        ("sqlite/loader".to_owned(), LOADER.to_vec()),
        ("sqlite/worker".to_owned(), column::text(WORKER)),
    ];
    let taken: usize = blocks.iter().map(|(_, bytes)| bytes.len()).sum();
    let Some(room) = (room / LARGEST_PART).checked_sub(taken) else {
        return Ok(None);
    };
    if calls > room {
        (without.lines, without.calls) = (true, true);
    }
    loop {
        let bytes = database.trimmed(&numbers, without)?;
        if bytes.len() / MOST_COMPRESSED <= room {
            let data = column::rows(&bytes);
            if data.len() <= room {
                blocks.push(("sqlite/data".to_owned(), data));
                return Ok(Some((blocks, without)));
            }
        }
        if !without.lines {
            without.lines = true;
        } else if !without.calls {
            without.calls = true;
        } else {
            return Ok(None);
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_have_their_statements() {
        let all = questions();
        let all = all.as_array().expect("a list");
        assert_eq!(all.len(), QUESTIONS.matches("\n### ").count());
        assert_eq!(all[0][0], "Which functions cost most by themselves?");
        for question in all {
            let statement = question[1].as_str().expect("a statement");
            assert!(statement.starts_with("SELECT") || statement.starts_with("WITH"));
        }
    }
}
