//! `profdb sql 'SELECT ...' [FILE]`

use clap::Args;

use super::failure::{Failure, complain, unanswered};
use super::output::{ListArgs, print};
use super::source::SourceArgs;
use crate::base::error::Stop;
use crate::report::query;
use crate::report::render::Layout;

#[derive(Debug, Args)]
pub(super) struct Sql {
    /// One statement that only reads
    #[arg(value_name = "SQL")]
    sql: String,
    #[command(flatten)]
    source: SourceArgs,
    #[command(flatten)]
    list: ListArgs,
}

pub(super) fn run(sql: &Sql, stop: &Stop) -> Result<(), Failure> {
    let mut source = sql.source.clone();
    let target = sql.list.target(&source.database.path())?;
    let layout = sql.list.layout();
    let layout = Layout {
        separators: source.take_separators(layout.format)?.unwrap_or_default(),
        ..layout
    };
    layout
        .check(false)
        .map_err(|wrong| complain(wrong, Failure::Usage))?;
    let database = source.open(stop)?;
    let mut answer = query(&database, &sql.sql).map_err(|error| unanswered(error, stop))?;
    print(&mut answer, &layout, &target, stop)
}
