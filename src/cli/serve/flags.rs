//! The flags of `profdb serve`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::super::args::run_set;
use super::super::database::DatabaseArgs;
use super::super::failure::Failure;
use crate::base::error::Stop;
use crate::store::RunSet;

/// Carries out the words of a command, the name of the program first.
pub(super) type CarriedOut = fn(&mut clap::Command, &[OsString], &Stop) -> Result<(), Failure>;

#[derive(Debug, Args)]
pub(in crate::cli) struct Serve {
    /// The database, as with --db
    #[arg(value_name = "DB", conflicts_with = "path", value_hint = ValueHint::FilePath)]
    pub(super) named: Option<PathBuf>,
    #[command(flatten)]
    pub(super) database: DatabaseArgs,
    /// The run that is shown first: latest, a number, KEY=VALUE,... of its tags, the start of its uid (4 characters or
    /// more), or its title; of several the one imported last [default: latest]
    #[arg(long, value_name = "SET", value_parser = run_set())]
    pub(super) run: Option<RunSet>,
    /// The port; 0 is any that is free
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) port: u16,
    /// Open no browser: without this flag, and on a terminal, one is opened
    #[arg(long)]
    pub(super) no_open: bool,
}
