//! The options of the formats as flags of the command line.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

use super::args::{percentage_text, separators, with_help};
use crate::formats::{EXPORTS, FORMATS, OptionDef, Options, Takes};

/// Whatever the user says about a file.
#[derive(Clone, Debug, Default)]
pub(super) struct FormatOptions(pub(super) Options);

/// Whatever the user wants of a file that is written.
#[derive(Clone, Debug, Default)]
pub(super) struct ExportOptions(pub(super) Options);

/// Whatever the user wants of a file that holds two costs of everything.
#[derive(Clone, Debug, Default)]
pub(super) struct DifferenceOptions(pub(super) Options);

/// The options that files to read have.
fn of_formats() -> Vec<&'static OptionDef> {
    once(FORMATS.iter().map(|format| format.options))
}

/// The options that files to write have.
fn of_exports() -> Vec<&'static OptionDef> {
    once(EXPORTS.iter().map(|export| export.options))
}

/// The options that only files with two costs have.
fn of_differences() -> Vec<&'static OptionDef> {
    let differences = EXPORTS.iter().filter_map(|export| export.difference);
    once(differences.map(|differences| differences.options))
}

/// Options of several formats, each name once.
fn once(all: impl Iterator<Item = &'static [OptionDef]>) -> Vec<&'static OptionDef> {
    let mut options: Vec<&OptionDef> = Vec::new();
    for option in all.flatten() {
        if !options.iter().any(|known| known.name == option.name) {
            options.push(option);
        }
    }
    options
}

/// Adds a flag for each option. An option of a format that is read may also be one of a format that
/// is written; its flag is added once.
fn augment(command: Command, options: &[&'static OptionDef], heading: &'static str) -> Command {
    let flag = |option: &&'static OptionDef| {
        let flag = with_help(Arg::new(option.name).long(option.name), option.meaning)
            .help_heading(heading);
        match option.takes {
            Takes::Nothing => flag.action(ArgAction::SetTrue),
            Takes::Word(words) => flag.value_name("VALUE").value_parser(words.to_vec()),
            Takes::Separators => flag.value_name("XY").value_parser(separators),
            Takes::Percentage => flag.value_name("N").value_parser(percentage_text),
            Takes::Text => flag.value_name("NAME"),
        }
    };
    let is_known =
        |command: &Command, name| command.get_arguments().any(|flag| flag.get_id() == name);
    options.iter().fold(command, |command, option| {
        // clap refuses two flags of one name.
        if is_known(&command, option.name) {
            command
        } else {
            command.arg(flag(option))
        }
    })
}

/// The options that are given.
fn given(matches: &ArgMatches, known: &[&'static OptionDef]) -> Options {
    let mut options = Options::default();
    for option in known {
        match option.takes {
            Takes::Nothing if matches.get_flag(option.name) => options.set(option.name, ""),
            Takes::Nothing => {}
            Takes::Word(_) | Takes::Separators | Takes::Percentage | Takes::Text => {
                if let Some(value) = matches.get_one::<String>(option.name) {
                    options.set(option.name, value);
                }
            }
        }
    }
    options
}

impl Args for FormatOptions {
    fn augment_args(command: Command) -> Command {
        augment(command, &of_formats(), "Options of formats")
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for FormatOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self(given(matches, &of_formats())))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for ExportOptions {
    fn augment_args(command: Command) -> Command {
        augment(command, &of_exports(), "Options of output formats")
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ExportOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self(given(matches, &of_exports())))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for DifferenceOptions {
    fn augment_args(command: Command) -> Command {
        augment(
            command,
            &of_differences(),
            "Options of formats that hold two costs",
        )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for DifferenceOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self(given(matches, &of_differences())))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
