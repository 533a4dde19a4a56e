//! What a build says that has no server.

use super::super::failure::{Failure, complain};
use super::flags::{CarriedOut, Serve};
use crate::base::error::Stop;

/// Says that there is no server.
pub(in crate::cli) fn run(
    _: &Serve,
    _: clap::Command,
    _: CarriedOut,
    _: &Stop,
) -> Result<(), Failure> {
    Err(complain(
        "this build has no server (feature serve); `profdb report --html FILE` writes a page that needs none",
        Failure::Usage,
    ))
}
