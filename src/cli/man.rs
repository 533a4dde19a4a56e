//! `profdb man FOLDER`

use std::path::{Path, PathBuf};

use clap::builder::Resettable;
use clap::{Args, Command};
use clap_mangen::roff::{Roff, bold, roman};

use super::failure::{Failure, complain, unwritten};
use super::help;
use super::output::write_file;
use crate::base::error::Stop;

/// Says when the program was released.
const CHANGES: &str = include_str!("../../CHANGELOG.md");

#[derive(Debug, Args)]
pub(super) struct Man {
    /// Directory for the pages; created if missing
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

/// Writes the pages of a command line.
pub(super) fn run(man: &Man, program: Command, stop: &Stop) -> Result<(), Failure> {
    let mut program = program.disable_help_subcommand(true);
    program.build();
    let name = man.folder.display();
    if man.folder.exists() && !man.folder.is_dir() {
        return Err(complain(
            format!("{name} is a file; expected a directory for the pages"),
            Failure::Usage,
        ));
    }
    std::fs::create_dir_all(&man.folder)
        .map_err(|error| unwritten(&format!("{name}: cannot make the folder"), error))?;
    pages(program, &man.folder, stop)
}

/// Writes the page of a command and those of the commands below it.
fn pages(command: Command, folder: &Path, stop: &Stop) -> Result<(), Failure> {
    for below in command.get_subcommands() {
        pages(below.clone(), folder, stop)?;
    }
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let more = sections(name);
    // Sections of their own have what the long help has at its end.
    let command = command.after_long_help(Resettable::Reset);
    let page = clap_mangen::Man::new(command)
        .date(released())
        .source(concat!("profdb ", env!("CARGO_PKG_VERSION")));
    write_file(&folder.join(page.get_filename()), stop, |out| {
        let mut text = Vec::new();
        page.render(&mut text)?;
        more.to_writer(&mut text)?;
        Ok(out.write_all(tidied(&String::from_utf8_lossy(&text)).as_bytes())?)
    })
}

/// What a manual page has beside what clap knows of the command.
fn sections(name: &str) -> Roff {
    let mut sections = Roff::new();
    let examples = help::examples(name);
    if !examples.is_empty() {
        sections.control("SH", ["EXAMPLES"]).control("nf", []);
        for example in examples {
            sections.text([roman(*example)]);
        }
        sections.control("fi", []);
    }
    let tables = [
        ("EXIT STATUS", help::exit_codes().collect::<Vec<_>>()),
        ("ENVIRONMENT", help::environment().to_vec()),
    ];
    for (title, rows) in tables {
        sections.control("SH", [title]);
        for (word, meaning) in rows {
            sections.control("TP", []);
            sections.text([bold(word)]).text([roman(meaning)]);
        }
    }
    sections
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
