//! The options of the formats as flags of the command line.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

use super::sentence;
use crate::importers::{FORMATS, OptionDef, Options, Takes};
use crate::separators::Separators;

/// Whatever the user says about a file.
#[derive(Clone, Debug, Default)]
pub(super) struct FormatOptions(pub(super) Options);

/// The options of all formats, each name once.
fn all() -> Vec<&'static OptionDef> {
    let mut options: Vec<&OptionDef> = Vec::new();
    for option in FORMATS.iter().flat_map(|format| format.options) {
        if !options.iter().any(|known| known.name == option.name) {
            options.push(option);
        }
    }
    options
}

/// The text, if it is a pair of separators.
fn separators(text: &str) -> Result<String, String> {
    text.parse::<Separators>().map(|_| text.to_owned())
}

impl Args for FormatOptions {
    fn augment_args(command: Command) -> Command {
        let flag = |option: &&'static OptionDef| {
            let flag = Arg::new(option.name)
                .long(option.name)
                .help(sentence(option.meaning))
                .help_heading("Options of formats");
            match option.takes {
                Takes::Nothing => flag.action(ArgAction::SetTrue),
                Takes::Word(words) => flag.value_name("VALUE").value_parser(words.to_vec()),
                Takes::Separators => flag.value_name("XY").value_parser(separators),
            }
        };
        all().iter().map(flag).fold(command, Command::arg)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for FormatOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut options = Options::default();
        for option in all() {
            match option.takes {
                Takes::Nothing if matches.get_flag(option.name) => options.set(option.name, ""),
                Takes::Nothing => {}
                Takes::Word(_) | Takes::Separators => {
                    if let Some(value) = matches.get_one::<String>(option.name) {
                        options.set(option.name, value);
                    }
                }
            }
        }
        Ok(Self(options))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
