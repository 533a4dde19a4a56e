//! `profdb man FOLDER`

use std::path::{Path, PathBuf};

use clap::{Args, Command};

use super::failure::{Failure, unwritten};
use super::output::write_file;
use crate::base::error::Stop;

/// Says when the program was released.
const CHANGES: &str = include_str!("../../CHANGELOG.md");

#[derive(Debug, Args)]
pub(super) struct Man {
    /// Folder for the pages, one for each command; it is made if it is not there
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

/// Writes the pages of a command line.
pub(super) fn run(man: &Man, program: Command, stop: &Stop) -> Result<(), Failure> {
    let mut program = program.disable_help_subcommand(true);
    program.build();
    std::fs::create_dir_all(&man.folder).map_err(|error| {
        unwritten(
            &format!("{}: cannot make the folder", man.folder.display()),
            error,
        )
    })?;
    pages(program, &man.folder, stop)
}

/// Writes the page of a command and those of the commands below it.
fn pages(command: Command, folder: &Path, stop: &Stop) -> Result<(), Failure> {
    for below in command.get_subcommands() {
        pages(below.clone(), folder, stop)?;
    }
    let page = clap_mangen::Man::new(command)
        .date(released())
        .source(concat!("profdb ", env!("CARGO_PKG_VERSION")));
    write_file(&folder.join(page.get_filename()), stop, |out| {
        let mut text = Vec::new();
        page.render(&mut text)?;
        Ok(out.write_all(tidied(&String::from_utf8_lossy(&text)).as_bytes())?)
    })
}

/// The date of the latest release: `## 0.1.0 - 2026-11-21`.
fn released() -> &'static str {
    let mut headings = CHANGES.lines().filter_map(|line| line.strip_prefix("## "));
    headings
        .find_map(|heading| Some(heading.split_once(" - ")?.1))
        .unwrap_or_default()
}

/// Without what readers of manual pages complain about: ends of lines beside vertical space, blanks
/// at ends of lines.
fn tidied(page: &str) -> String {
    let lines: Vec<&str> = page.lines().map(str::trim_end).collect();
    let is_space = |at: usize| {
        lines
            .get(at)
            .is_some_and(|line| line.is_empty() || *line == ".sp")
    };
    let kept = (0..lines.len())
        .filter(|&at| lines[at] != ".br" || !is_space(at + 1) && !is_space(at.wrapping_sub(1)));
    kept.flat_map(|at| [lines[at], "\n"]).collect()
}
