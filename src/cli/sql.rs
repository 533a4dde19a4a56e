//! `profdb sql 'SELECT ...' [FILE]`

use std::io::Read;

use clap::Args;

use super::failure::{Failure, complain, unanswered, unread};
use super::inputs::STDIN;
use super::output::{ListArgs, print};
use super::source::FileArgs;
use super::streams;
use crate::base::error::Stop;
use crate::report::query;
use crate::report::render::Layout;

/// SQLite takes no longer statement.
const LONGEST: u64 = 1_000_000;

#[derive(Debug, Args)]
pub(super) struct Sql {
    /// Statement to run; - reads it from standard input
    #[arg(value_name = "SQL")]
    sql: String,
    #[command(flatten)]
    file: FileArgs,
    #[command(flatten)]
    list: ListArgs,
}

pub(super) fn run(sql: &Sql, stop: &Stop) -> Result<(), Failure> {
    let mut source = sql.file.source();
    let target = sql.list.target(&source.inputs())?;
    let layout = sql.list.layout();
    let layout = Layout {
        separators: source.take_separators(layout.format)?.unwrap_or_default(),
        ..layout
    };
    layout
        .check(false)
        .map_err(|wrong| complain(wrong, Failure::Usage))?;
    let statement = if sql.sql == STDIN {
        read()?
    } else {
        sql.sql.clone()
    };
    if statement.starts_with('.') {
        let instead = "commands with a dot belong to the sqlite3 shell; `profdb schema` describes the tables and \
                       views, `profdb runs` lists the runs";
        return Err(complain(instead, Failure::Usage));
    }
    let database = source.open(stop)?;
    let mut answer = query(&database, &statement).map_err(|error| unanswered(error, stop))?;
    print(&mut answer, &layout, &target, stop)
}

/// A statement from standard input.
fn read() -> Result<String, Failure> {
    let mut statement = String::new();
    let input = streams::input().map_err(|error| complain(error, Failure::Input))?;
    let read = input.take(LONGEST + 1).read_to_string(&mut statement);
    read.map_err(|error| complain(format!("standard input: {error}"), unread(&error)))?;
    if statement.len() as u64 > LONGEST {
        let message = format!("standard input: a statement of more than {LONGEST} bytes");
        return Err(complain(message, Failure::Input));
    }
    Ok(statement)
}
