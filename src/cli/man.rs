//! `profdb man FOLDER`

use std::path::PathBuf;

use clap::Args;

use super::{Failure, complain, program};

#[derive(Debug, Args)]
pub(super) struct Man {
    /// Folder for the pages; it has to be there
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

pub(super) fn run(man: &Man) -> Result<(), Failure> {
    let written = clap_mangen::generate_to(program(), &man.folder);
    written.map_err(|error| complain(format!("{}: {error}", man.folder.display()), Failure::Output))
}
