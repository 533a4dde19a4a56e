//! `profdb sql 'SELECT ...' [FILE]`

use clap::Args;

use super::args::output_format;
use super::failure::{Failure, complain, unanswered};
use super::output::{Target, print, screen_width};
use super::source::SourceArgs;
use crate::base::error::Stop;
use crate::report::query;
use crate::report::render::{Format, Layout};

#[derive(Debug, Args)]
pub(super) struct Sql {
    /// One statement that only reads
    #[arg(value_name = "SQL")]
    sql: String,
    #[command(flatten)]
    source: SourceArgs,
    /// text (or txt), csv, json, jsonl or markdown
    #[arg(long, default_value = "text", value_parser = output_format)]
    format: Format,
}

pub(super) fn run(sql: &Sql, stop: &Stop) -> Result<(), Failure> {
    let mut source = sql.source.clone();
    let separators = source.take_separators(sql.format)?.unwrap_or_default();
    let layout = Layout {
        format: sql.format,
        width: screen_width(),
        separators,
        ..Layout::default()
    };
    layout
        .check(false)
        .map_err(|wrong| complain(wrong, Failure::Usage))?;
    let database = source.open(stop)?;
    let mut answer = query(&database, &sql.sql).map_err(|error| unanswered(error, stop))?;
    print(&mut answer, &layout, &Target::Screen, stop)
}
