//! `profdb schema`

use clap::Args;

use super::failure::Failure;
use super::pager::{Lines, PagerArgs};
use crate::base::error::Stop;

/// Made from the comments in the database itself; tests/house/docs/mod.rs keeps it so.
const SCHEMA: &str = include_str!("../../docs/schema.md");

#[derive(Debug, Args)]
pub(super) struct Schema {
    #[command(flatten)]
    pager: PagerArgs,
}

pub(super) fn run(schema: &Schema, stop: &Stop) -> Result<(), Failure> {
    let target = schema.pager.target(Lines::Wrapped);
    target.write(stop, |out| Ok(out.write_all(SCHEMA.as_bytes())?))
}
