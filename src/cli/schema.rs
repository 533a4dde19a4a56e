//! `profdb schema [NAME]`

use std::fs;
use std::path::Path;

use clap::builder::{NonEmptyStringValueParser, PossibleValuesParser};
use clap::{Args, ValueHint};

use super::args::dialect;
use super::failure::{Failure, complain, say};
use super::output::Target;
use super::pager::{Lines, PagerArgs};
use super::strays::runs_of_several_days;
use crate::base::error::Stop;
use crate::dataset::about::ABOUT;
use crate::dataset::views;
use crate::report::Dialect;

/// Made from the comments in the database itself; tests/repo/docs/mod.rs keeps it so.
const SCHEMA: &str = include_str!("../../docs/schema.md");

/// What the section of a table or view begins with, and no other line.
const SECTION: &str = "\n### ";

#[derive(Debug, Args)]
pub(super) struct Schema {
    /// Table or view [default: all]
    #[arg(value_name = "NAME", value_parser = PossibleValuesParser::new(names()), hide_possible_values = true)]
    name: Option<String>,
    /// Print the SQL that defines the views in an engine
    #[arg(long, value_name = "ENGINE", value_parser = dialect(), conflicts_with = "name")]
    dialect: Option<Dialect>,
    /// Directory or URL of the dataset, such as `s3://b/profiles`
    #[arg(long, value_name = "DIR", default_value = ".", requires = "dialect", value_parser = NonEmptyStringValueParser::new(), value_hint = ValueHint::DirPath)]
    dataset: String,
    #[command(flatten)]
    pager: PagerArgs,
}

pub(super) fn run(schema: &Schema, stop: &Stop) -> Result<(), Failure> {
    if let Some(dialect) = schema.dialect {
        let folder = Path::new(&schema.dataset);
        // Of an address nothing is known here, and engines take a path for one of their own.
        let is_known = folder.join(ABOUT).is_file();
        let has_files = |table: &str| !is_known || has_files(&folder.join(table));
        if is_known && let Some(fault) = runs_of_several_days(folder) {
            say(format!("{fault}: query engines count each copy"));
        }
        let script = views(dialect, &schema.dataset, &has_files)
            .map_err(|fault| complain(fault, Failure::Usage))?;
        return Target::Screen.write(stop, |out| Ok(out.write_all(script.as_bytes())?));
    }
    let target = schema.pager.target(Lines::Wrapped);
    let text = schema
        .name
        .as_deref()
        .and_then(section)
        .unwrap_or_else(page);
    target.write(stop, |out| Ok(out.write_all(text.as_bytes())?))
}

/// Whether a table has a file on any day, as far as can be seen.
fn has_files(table: &Path) -> bool {
    let entries = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten();
    let days: Vec<_> = entries(table).collect();
    days.iter().any(|day| {
        let mut names = entries(&day.path()).map(|file| file.file_name());
        names.any(|name| {
            let name = name.as_encoded_bytes();
            name.ends_with(b".parquet") && !name.starts_with(b".") && !name.starts_with(b"_")
        })
    })
}

/// All that is said. The comment before the title is for those who would edit it.
fn page() -> &'static str {
    SCHEMA.find("# ").map_or(SCHEMA, |start| &SCHEMA[start..])
}

/// The tables and views.
fn names() -> impl Iterator<Item = &'static str> {
    let sections = SCHEMA.split(SECTION).skip(1);
    sections.map(|section| section.lines().next().unwrap_or_default())
}

/// What is said of a table or view.
fn section(name: &str) -> Option<&'static str> {
    let start = SCHEMA.find(&format!("{SECTION}{name}\n"))? + 1;
    let section = &SCHEMA[start..];
    // The next section follows, or the next part of the page.
    let end = section.find("\n\n##").map_or(section.len(), |end| end + 1);
    Some(&section[..end])
}
