//! `profdb sql 'SELECT ...' [FILE]`

use clap::Args;

use super::source::SourceArgs;
use super::{Failure, asked, output_format, print};
use crate::error::Stop;
use crate::report::query;
use crate::report::render::Format;

#[derive(Debug, Args)]
pub(super) struct Sql {
    /// One statement that only reads
    #[arg(value_name = "SQL")]
    sql: String,
    #[command(flatten)]
    source: SourceArgs,
    /// text, csv or json
    #[arg(long, default_value = "text", value_parser = output_format)]
    format: Format,
}

pub(super) fn run(sql: &Sql, stop: &Stop) -> Result<(), Failure> {
    let database = sql.source.open(stop)?;
    let mut answer = query(&database, &sql.sql).map_err(|error| asked(error, stop))?;
    print(&mut answer, sql.format, stop)
}
