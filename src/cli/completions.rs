//! `profdb completions SHELL`

use std::collections::BTreeSet;
use std::io::{self, Write};

use clap::builder::PossibleValuesParser;
use clap::{Arg, Args, Command};
use clap_complete::{Shell, generate};

use super::complete::Kind;
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
    let script = String::from_utf8_lossy(&script);
    let script = asking(completions.shell, &script);
    io::stdout()
        .lock()
        .write_all(script.as_bytes())
        .map_err(output)
}

/// In bash the answer replaces `$2`, which begins after the last `:` or `=`, too.
const BASH: &str = r#"_profdb_known() {
    local found
    COMPREPLY=()
    while IFS= read -r found; do
        COMPREPLY+=("$found")
    done < <(profdb __complete "${COMP_LINE:0:COMP_POINT}" "$2" 2>/dev/null)
    [ ${#COMPREPLY[@]} -gt 0 ]
}

"#;

/// In zsh the word at the cursor is known without its quotes, which `compadd` adds by itself.
const ZSH: &str = r#"_profdb_known() {
    local -a found
    found=("${(@f)$(profdb __complete "${(j: :)words[1,CURRENT-1]} ${(qq)${(Q)PREFIX}}" 2>/dev/null)}")
    [[ -n $found ]] || return 1
    [[ $PREFIX != --*=* ]] || compset -P 1 '*='
    compadd -V profdb -- "${found[@]}"
}

"#;

const FISH: &str = "function __profdb_known
    profdb __complete (commandline -cp) 2>/dev/null
end

complete -c profdb -k -a '(__profdb_known)'
";

/// Where the functions of bash and zsh begin.
const FUNCTION: &str = "_profdb() {\n";

/// Has a script ask the program for what is in the database. Where there is no answer, it does what
/// it did without.
fn asking(shell: Shell, script: &str) -> String {
    let first = |known: &str, call: &str| {
        script.replacen(FUNCTION, &format!("{known}{FUNCTION}    {call}\n"), 1)
    };
    match shell {
        Shell::Bash => first(BASH, "_profdb_known \"$@\" && return"),
        Shell::Zsh => first(ZSH, "_profdb_known && return"),
        // Fish has the values of flags with the flags.
        Shell::Fish => {
            let flags = flags_of_database();
            let lines = script.lines().map(|line| {
                let is_known = flags
                    .iter()
                    .any(|flag| line.contains(&format!(" -l {flag} ")));
                if is_known && line.ends_with(" -r") {
                    format!("{line} -f -k -a '(__profdb_known)'\n")
                } else {
                    format!("{line}\n")
                }
            });
            lines.chain([FISH.to_owned()]).collect()
        }
        _ => script.to_owned(),
    }
}

/// Flags whose values are in the database.
fn flags_of_database() -> BTreeSet<String> {
    fn collect(command: &Command, flags: &mut BTreeSet<String>) {
        let known = command
            .get_arguments()
            .filter(|argument| Kind::of(argument).is_some());
        flags.extend(known.filter_map(Arg::get_long).map(str::to_owned));
        command
            .get_subcommands()
            .for_each(|below| collect(below, flags));
    }
    let mut flags = BTreeSet::new();
    collect(&super::program(), &mut flags);
    flags
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
