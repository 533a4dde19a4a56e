//! `profdb formats [NAME]`

use std::io::{self, Write};

use clap::Args;

use super::args::input_format;
use super::failure::{Failure, output};
use crate::formats::{FORMATS, Format};

/// Made from the pages of the importers; tests/house/docs/mod.rs keeps it so.
const PAGES: &str = include_str!("../../docs/formats.md");

#[derive(Debug, Args)]
pub(super) struct Formats {
    /// The format to explain
    #[arg(value_name = "NAME", value_parser = input_format)]
    name: Option<&'static Format>,
}

pub(super) fn run(formats: &Formats) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    let written = match formats.name {
        None => FORMATS
            .iter()
            .try_for_each(|format| writeln!(out, "{:<16} {}", format.name, format.summary)),
        Some(format) => out.write_all(page(format.name).as_bytes()),
    };
    written.map_err(output)
}

/// The part of the document that is about one format.
fn page(name: &str) -> &'static str {
    let heading = format!("## {name}\n");
    let start = PAGES.find(&heading).unwrap_or(PAGES.len());
    let rest = &PAGES[start..];
    let end = rest[heading.len().min(rest.len())..]
        .find("\n## ")
        .map_or(rest.len(), |end| end + heading.len() + 1);
    &rest[..end]
}
