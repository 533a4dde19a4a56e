//! `profdb completions SHELL`

use std::collections::BTreeSet;
use std::io::Write;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, Args, Command};
use clap_complete::{Shell, generate};

use super::complete::Kind;
use super::failure::{Failure, output};
use super::formats::names_to_offer;
use super::page::PAGE;
use super::streams;
use crate::formats::FORMATS;
use crate::report::REPORTS;
use crate::report::render::Format;

#[derive(Debug, Args)]
pub(super) struct Completions {
    /// Shell
    #[arg(value_name = "SHELL", value_enum)]
    shell: Shell,
}

/// Writes the completions of a command line.
pub(super) fn run(completions: &Completions, program: Command) -> Result<(), Failure> {
    // `generate` panics where the output fails, a closed pipe for instance: a list does not.
    let mut script = Vec::new();
    let mut program = with_words(with_flags_of_the_default(program));
    generate(completions.shell, &mut program, "profdb", &mut script);
    let script = String::from_utf8_lossy(&script);
    let script = asking(completions.shell, &script, &program);
    streams::output()
        .and_then(|mut out| out.write_all(script.as_bytes()))
        .map_err(output)
}

/// In bash the answer replaces `$2`, which begins after the last `:` or `=`, too. A line without a candidate means files:
/// bash offers them where there is no other answer, and would offer flags for a word without letters.
const BASH: &str = r#"_profdb_known() {
    local found
    COMPREPLY=()
    while IFS= read -r found; do
        [ -n "$found" ] || return 0
        COMPREPLY+=("$found")
    done < <(profdb __complete "${COMP_LINE:0:COMP_POINT}" "$2" 2>/dev/null)
    [ ${#COMPREPLY[@]} -gt 0 ]
}

"#;

/// In zsh the word at the cursor is known without its quotes, which `compadd` adds by itself. What fits is
/// not looked at again: a value in quotes fits what is written without them.
const ZSH: &str = r#"_profdb_known() {
    local -a found whole
    found=("${(@f)$(profdb __complete "${(j: :)words[1,CURRENT-1]} ${(qq)${(Q)PREFIX}}" 2>/dev/null)}")
    [[ -n $found ]] || return 1
    if [[ $PREFIX == --*=* ]]; then compset -P 1 '*='; else whole=(-U); fi
    compadd "${whole[@]}" -V profdb -- "${found[@]}"
}

"#;

const FISH: &str = "function __profdb_known
    profdb __complete (commandline -cp) 2>/dev/null | string match -rv '^$'
end

complete -c profdb -k -a '(__profdb_known)'
";

/// Where the functions of bash and zsh begin.
const FUNCTION: &str = "_profdb() {\n";

/// Has a script ask the program for what is in the database. Where there is no answer, it does what
/// it did without.
fn asking(shell: Shell, script: &str, program: &Command) -> String {
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
            let words = program.get_subcommands().filter_map(words_in_fish);
            lines.chain([FISH.to_owned()]).chain(words).collect()
        }
        _ => script.to_owned(),
    }
}

/// A line that completes the first positional argument of a command in fish, where its values are known: the script that
/// `clap_complete` generates does not complete it.
fn words_in_fish(command: &Command) -> Option<String> {
    let first = command.get_positionals().next()?;
    let values = first.get_possible_values();
    let words: Vec<&str> = values.iter().map(PossibleValue::get_name).collect();
    (!words.is_empty()).then(|| {
        format!(
            "complete -c profdb -n \"__fish_profdb_using_subcommand {}\" -f -a \"{}\"\n",
            command.get_name(),
            words.join(" ")
        )
    })
}

/// Gives `profdb report` the flags of the report that is meant where none is named, and those of the page, which
/// `--html` means.
fn with_flags_of_the_default(program: Command) -> Command {
    program.mut_subcommand("report", |reports| {
        let meant = [REPORTS[0].name, PAGE].map(|name| reports.find_subcommand(name));
        let mut flags: Vec<Arg> = Vec::new();
        for flag in meant.into_iter().flatten().flat_map(Command::get_opts) {
            let is_known = flags.iter().any(|known| known.get_id() == flag.get_id());
            if !flag.is_hide_set() && !is_known {
                flags.push(alone(flag));
            }
        }
        reports.args(flags)
    })
}

/// A flag without what it needs or excludes, of which the command that it is given to knows nothing.
fn alone(flag: &Arg) -> Arg {
    let names = flag.get_value_names().unwrap_or_default();
    Arg::new(flag.get_id().clone())
        .short(flag.get_short())
        .long(flag.get_long().unwrap_or_default().to_owned())
        .help(flag.get_help().cloned().unwrap_or_default())
        .value_names(names.iter().map(ToString::to_string))
        .action(flag.get_action().clone())
        .value_parser(flag.get_value_parser().clone())
        .value_hint(flag.get_value_hint())
}

/// Flags whose values are in the database.
fn flags_of_database() -> BTreeSet<String> {
    fn collect(command: &Command, flags: &mut BTreeSet<String>) {
        let known = command
            .get_arguments()
            .filter(|argument| Kind::of(argument).is_some_and(Kind::is_of_database));
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
        "name" if is_about_formats => {
            argument.value_parser(PossibleValuesParser::new(names_to_offer()))
        }
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
