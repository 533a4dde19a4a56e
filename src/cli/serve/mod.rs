//! `profdb serve [DB]`: the page over a whole database, for the browser on this machine.
//!
//! Questions are answered by the commands themselves: what the page asks is made into the words of a command line, and what
//! the command writes is the answer. So figures are those of the command, and each answer is of one state of the database,
//! which every command opens anew.

#[cfg(feature = "serve")]
mod answers;
#[cfg(feature = "serve")]
mod begin;
#[cfg(feature = "serve")]
mod browser;
#[cfg(feature = "serve")]
mod statement;
#[cfg(feature = "serve")]
mod words;

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::args::run_set;
use super::database::DatabaseArgs;
#[cfg(not(feature = "serve"))]
use super::failure::Failure;
#[cfg(not(feature = "serve"))]
use crate::base::error::Stop;
use crate::store::RunSet;

#[derive(Debug, Args)]
pub(super) struct Serve {
    /// The database, as with --db
    #[arg(value_name = "DB", conflicts_with = "path", value_hint = ValueHint::FilePath)]
    named: Option<PathBuf>,
    #[command(flatten)]
    database: DatabaseArgs,
    /// The run that is shown first: latest, a number, KEY=VALUE,... of its tags, the start of its uid, or its title; of
    /// several the one imported last [default: latest]
    #[arg(long, value_name = "SET", value_parser = run_set())]
    run: Option<RunSet>,
    /// The port; 0 is any that is free
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u16,
    /// Open no browser: without this flag, and on a terminal, one is opened
    #[arg(long)]
    no_open: bool,
}

#[cfg(feature = "serve")]
pub(super) use begin::run;

/// Whether this build has a server, as `--version` says it.
#[cfg(feature = "serve")]
pub(super) const ABOUT: Option<&str> = None;

/// Whether this build has a server, as `--version` says it.
#[cfg(not(feature = "serve"))]
pub(super) const ABOUT: Option<&str> =
    Some("there is no `profdb serve`: built without the feature serve");

/// Says that there is no server.
#[cfg(not(feature = "serve"))]
pub(super) fn run(_: &Serve, _: &Stop) -> Result<(), Failure> {
    Err(super::failure::complain(
        "this build has no server: it was built without the feature serve (`cargo install profdb` has it); \
         `profdb report --html FILE` writes a page that needs none",
        Failure::Usage,
    ))
}
