//! `profdb completions SHELL`

use std::io::{self, Write};

use clap::builder::PossibleValuesParser;
use clap::{Arg, Args, Command};
use clap_complete::{Shell, generate};

use super::failure::{Failure, output};
use crate::formats::FORMATS;
use crate::report::render::Format;

#[derive(Debug, Args)]
pub(super) struct Completions {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    shell: Shell,
}

/// Writes the completions of a command line.
pub(super) fn run(completions: &Completions, program: Command) -> Result<(), Failure> {
    // `generate` panics where the output fails, a closed pipe for instance: a list does not.
    let mut script = Vec::new();
    generate(
        completions.shell,
        &mut with_words(program),
        "profdb",
        &mut script,
    );
    io::stdout().lock().write_all(&script).map_err(output)
}

/// Adds the names that an argument takes, where its help does not list them.
fn with_words(command: Command) -> Command {
    let is_about_formats = command.get_name() == "formats";
    let words = |argument: Arg| match argument.get_id().as_str() {
        "from" => argument.value_parser(formats()),
        "name" if is_about_formats => argument.value_parser(formats()),
        "format" if argument.get_possible_values().is_empty() => {
            argument.value_parser(PossibleValuesParser::new(Format::ALL.map(|(name, _)| name)))
        }
        _ => argument,
    };
    command.mut_args(words).mut_subcommands(with_words)
}

fn formats() -> PossibleValuesParser {
    PossibleValuesParser::new(FORMATS.iter().map(|format| format.name))
}
