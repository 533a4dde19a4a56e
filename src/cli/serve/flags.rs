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
    /// Database file, as in --db
    #[arg(value_name = "DB", conflicts_with = "path", value_hint = ValueHint::FilePath)]
    pub(super) named: Option<PathBuf>,
    #[command(flatten)]
    pub(super) database: DatabaseArgs,
    /// Open with this run: latest, number, KEY=VALUE, title
    #[arg(long, value_name = "SET", value_parser = run_set())]
    pub(super) run: Option<RunSet>,
    /// Port; 0 selects a free port
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) port: u16,
    /// Do not open a browser
    #[arg(long)]
    pub(super) no_open: bool,
}
