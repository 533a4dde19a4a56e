//! `profdb runs`

use clap::Args;

use super::args::output_format;
use super::database::{DatabaseArgs, open_to_read};
use super::failure::{Failure, complain, unanswered};
use super::output::{Target, print, screen_width};
use crate::base::error::Stop;
use crate::report::list;
use crate::report::render::{Format, Layout};

#[derive(Debug, Args)]
pub(super) struct Runs {
    #[command(flatten)]
    database: DatabaseArgs,
    /// text (or txt), csv, json, jsonl or markdown
    #[arg(long, default_value = "text", value_parser = output_format)]
    format: Format,
}

pub(super) fn run(runs: &Runs, stop: &Stop) -> Result<(), Failure> {
    let layout = Layout {
        format: runs.format,
        width: screen_width(),
        ..Layout::default()
    };
    layout
        .check(false)
        .map_err(|wrong| complain(wrong, Failure::Usage))?;
    let database = open_to_read(&runs.database, stop)?;
    let sql = include_str!("../../queries/lists/runs.sql");
    let mut answer = list(&database, sql).map_err(|error| unanswered(error, stop))?;
    print(&mut answer, &layout, &Target::Screen, stop)
}
