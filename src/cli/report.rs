//! `profdb report [NAME] [FILE]`: one subcommand per report, made from the report's header.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

use super::args::{
    Groups, OLD_LABEL_KEY, choice, count, dialect, label, milliseconds, percentage, share,
    short_help, with_help,
};
use super::diff_tree;
use super::failure::{Failure, complain, database, explain, say, unanswered};
use super::folder::Sources;
use super::output::{ListArgs, OutputArgs, print};
use super::page;
use super::source::{CombineArgs, SourceArgs, warn_some};
use super::state::{ONE_STATE, tell};
use crate::base::error::Stop;
use crate::report::header::{Header, Parameter, ParameterDef};
use crate::report::render::Format;
use crate::report::{
    self, ALL_LINES, Argument, Base, Dialect, NameSyntax, REPORTS, Report, Request, shows_code,
};
use crate::source::SourceLines;
use crate::store::{Combination, RunInfo};

/// The flag for the source of every line.
const CODE: &str = "code";

/// The flag for costs per call.
const AVERAGE: &str = "avg";

/// The flag for labels of samples, as it was called before runs had tags.
const OLD_LABEL: &str = "tag";

/// Why labels of samples are no longer called tags.
pub(super) const TAGS_OF_RUNS: &str = "tags belong to runs, labels to samples";

/// The flag for where it is.
const SOURCE: &str = "source";

/// The explanation of abbreviated flags in the help of reports.
const SHORTER: &str = "Flags can be abbreviated and can have one dash: -dec=3 is --decimal 3.";

/// `profdb report` with a subcommand for each report.
pub(super) fn command() -> Command {
    let made = bare().subcommands(REPORTS.iter().map(subcommand));
    made.subcommands(without_select())
}

/// The same with one report, if there is one of this name, and those that are no statement.
pub(super) fn with_report(bare: Command, name: &str) -> Command {
    let made = report::by_name(&name.replace('-', "_")).map(subcommand);
    bare.subcommands(made).subcommands(without_select())
}

/// `profdb report` without any report.
pub(super) fn bare() -> Command {
    Command::new("report")
        .about("Print a report about a run or a file")
        // After `import`: these two are what a new user looks for.
        .display_order(1)
        .override_usage("profdb report [REPORT] [OPTIONS] [FILE|SET]")
        .subcommand_help_heading("Reports")
        .after_help(format!(
            "Without a name, the report is summary: `profdb report run.xml`.\n{SHORTER}"
        ))
        .subcommand_required(true)
        .infer_long_args(true)
}

/// The reports that are made otherwise.
fn without_select() -> impl Iterator<Item = Command> {
    let trees = diff_tree::commands().into_iter();
    [state()].into_iter().chain(trees).chain([page::command()])
}

/// The name of the report that has no SELECT.
pub(super) const STATE: &str = "state";

/// Another name of [`STATE`].
pub(super) const SHOW: &str = "show";

fn state() -> Command {
    ListArgs::augment_args(SourceArgs::augment_args(Command::new(STATE)))
        .alias(SHOW)
        .about("Metadata of a run: timer, bias, totals, notes; alias of `profdb show`")
        .infer_long_args(true)
}

fn subcommand(report: &'static Report) -> Command {
    let header = report.header();
    let about = header.about.trim_end_matches('.');
    // The list of reports has a line for each; its own help has all that is said of it.
    let more = header.prose.join(" ");
    let more = if more.is_empty() {
        about.to_owned()
    } else {
        format!("{about}.\n\n{}", more.trim())
    };
    let command = SourceArgs::augment_args(Command::new(report.name).aliases(dashed(report.name)))
        .infer_long_args(true)
        .arg(Arg::new("metric").long("metric").value_name("NAME").help(if header.all_metrics {
            "Metric to show; all shows every metric [default: that of the run]"
        } else {
            "Metric to show [default: that of the run]"
        }))
        .arg(
            Arg::new("bias")
                .long("bias")
                .value_name("MS")
                .allow_negative_numbers(true)
                .value_parser(milliseconds)
                .help("Cost of one timer reading to subtract, in ms")
.long_help("Cost of one timer reading to subtract, in ms.\n\n0 shows times as measured. [default: as recorded in the run]"),
        )
        .arg(
            Arg::new("percent_of")
                .long("percent-of")
                .value_name("WHAT")
                .default_value("total")
                .value_parser(["total", "selection"])
                .help("Base of percentages (100 %)"),
        )
        .arg(
            Arg::new("regex")
                .long("regex")
                .action(ArgAction::SetTrue)
                .help("Treat names in PATH as regular expressions")
.long_help("Treat names in PATH as regular expressions.\n\nNames in quotes match literally."),
        )
        .arg(
            Arg::new("show_sql")
                .long("show-sql")
                .action(ArgAction::SetTrue)
                .conflicts_with("outfile")
                .help("Print the SQL statement instead of the result"),
        )
        .arg(
            Arg::new("dialect")
                .long("dialect")
                .value_name("ENGINE")
                .requires("show_sql")
                .value_parser(dialect())
                .help("With --show-sql: SQL for an engine that reads datasets")
.long_help("With --show-sql: SQL for an engine that reads datasets.\n\nRun the statements of `profdb schema --dialect` first."),
        );
    // The arguments bring a text of their own, which is not what the report is about.
    let command = OutputArgs::augment_args(CombineArgs::augment_args(command))
        .about(about.to_owned())
        .long_about(more)
        .after_help(SHORTER);
    let rival = header
        .parameters
        .iter()
        .find(|parameter| parameter.kind == Parameter::Percentage && parameter.name == "pct");
    let rival = rival.map(|parameter| parameter.name);
    let flags = header.parameters.iter().map(|parameter| {
        let flag = flag(parameter, rival);
        match parameter.kind {
            Parameter::Variant(other) => flag.conflicts_with_all(not_in_variant(header, other)),
            _ => flag,
        }
    });
    let command = flags.fold(command, Command::arg);
    let command = if header
        .parameters
        .iter()
        .any(|parameter| parameter.kind == Parameter::Label)
    {
        command.arg(
            Arg::new(OLD_LABEL)
                .long(OLD_LABEL)
                .value_name("KEY=VALUE")
                .value_parser(label)
                .action(ArgAction::Append)
                .hide(true)
                .help("Alias of --label"),
        )
    } else {
        command
    };
    if shows_code(header) {
        // Source is shown where it is known, and asking for it is no mistake.
        let code = Arg::new(CODE)
            .long(CODE)
            .action(ArgAction::SetTrue)
            .hide(true)
            .help("No effect: this report always shows the source");
        return command.arg(code).arg(source_flag());
    }
    if header
        .parameters
        .iter()
        .any(|parameter| parameter.name == CODE)
    {
        command.arg(source_flag().requires(CODE))
    } else {
        command
    }
}

/// Parameters that the report which a flag leads to does not have.
fn not_in_variant(header: &Header<'static>, other: &str) -> Vec<&'static str> {
    let other = report::by_name(other).map(Report::header);
    let kept = |name: &str| {
        other
            .iter()
            .flat_map(|other| &other.parameters)
            .any(|parameter| parameter.name == name)
    };
    let own = header
        .parameters
        .iter()
        .filter(|parameter| !matches!(parameter.kind, Parameter::Variant(_)));
    own.map(|parameter| parameter.name)
        .filter(|name| !kept(name))
        .collect()
}

/// Goes with [`CODE`], where that is a choice: it says where the source is, which is no parameter of a SELECT.
fn source_flag() -> Arg {
    Arg::new(SOURCE)
        .long(SOURCE)
        .value_name("DIR")
        .value_parser(clap::value_parser!(PathBuf))
        .help("Source directory [default: the stored source]")
}

/// `bottom-up` for `bottom_up`.
fn dashed(name: &str) -> Option<String> {
    name.contains('_').then(|| name.replace('_', "-"))
}

/// The flag for a parameter; `rival` is one that excludes `first`.
fn flag(parameter: &ParameterDef<'static>, rival: Option<&'static str>) -> Arg {
    let flag = with_help(
        Arg::new(parameter.name).long(parameter.name.replace('_', "-")),
        parameter.meaning,
    );
    let flag = match parameter.default {
        Some(default) => flag.default_value(default),
        None => flag,
    };
    match &parameter.kind {
        Parameter::Flag | Parameter::Variant(_) => flag.action(ArgAction::SetTrue),
        // Dyalog's rule: the first rows, or those that make up so much.
        Parameter::Count if parameter.name == "first" => flag
            .value_name("N")
            .value_parser(count)
            .conflicts_with_all(rival),
        Parameter::Count => flag.value_name("N").value_parser(count),
        Parameter::Percentage if parameter.name == "min_pct" => {
            flag.value_name("N").value_parser(share)
        }
        Parameter::Percentage => flag.value_name("N").value_parser(percentage),
        Parameter::Choice(words) => flag.value_name("WORD").value_parser(choice(words)),
        Parameter::Groups(words) => flag.value_name("WORD").value_parser(Groups(words.clone())),
        Parameter::Label => flag
            .value_name("KEY=VALUE")
            .value_parser(label)
            .action(ArgAction::Append),
        Parameter::Filter => flag.value_name("REGEX"),
        Parameter::Path => flag.value_name("PATH").required(!parameter.optional),
        Parameter::Thread => flag
            .value_name("NAME")
            .value_parser(NonEmptyStringValueParser::new()),
    }
}

/// One sentence for what clap would say of the flags of reports in general.
pub(super) fn explain_flags(arguments: &[OsString], error: &clap::Error) -> Option<String> {
    if arguments.get(1).is_none_or(|command| command != "report") {
        return None;
    }
    let name = arguments.get(2)?.to_string_lossy();
    let report = report::by_name(&name.replace('-', "_"));
    match (error.kind(), error.get(ContextKind::InvalidArg)?) {
        (ErrorKind::UnknownArgument, ContextValue::String(flag)) if flag == page::HTML => {
            Some(format!(
                "report {name} has no {flag}: `profdb report --html FILE` writes one page with all reports"
            ))
        }
        (ErrorKind::UnknownArgument, ContextValue::String(flag)) => {
            let start = flag.strip_prefix("--")?;
            let own: Vec<String> = report
                .map(|report| flags_from(report, start))
                .unwrap_or_default();
            if own.len() > 1 {
                return Some(format!("{flag} may be {}", own.join(" or ")));
            }
            let others = REPORTS
                .iter()
                .filter(|report| !flags_from(report, start).is_empty());
            let others: Vec<&str> = others.map(|report| report.name).collect();
            (!others.is_empty()).then(|| {
                format!(
                    "report {name} has no {flag}; it exists for {}",
                    others.join(", ")
                )
            })
        }
        (ErrorKind::MissingRequiredArgument, ContextValue::Strings(missing)) => {
            let header = report?.header();
            let path = header
                .parameters
                .iter()
                .find(|known| known.kind == Parameter::Path && !known.optional)?;
            let flag = format!("--{} <PATH>", path.name);
            missing
                .contains(&flag)
                .then(|| format!("report {name} needs {flag}: {}", short_help(path.meaning)))
        }
        _ => None,
    }
}

/// Flags of a report that begin so, those of its own and those of every report.
fn flags_from(report: &'static Report, start: &str) -> Vec<String> {
    let command = subcommand(report);
    let flags = command
        .get_arguments()
        .filter(|argument| !argument.is_hide_set())
        .filter_map(Arg::get_long)
        .filter(|flag| flag.starts_with(start));
    flags.map(|flag| format!("--{flag}")).collect()
}

pub(super) fn run(matches: &ArgMatches, stop: &Stop) -> Result<(), Failure> {
    let Some((name, matches)) = matches.subcommand() else {
        return Err(Failure::Usage);
    };
    if [diff_tree::TREE, diff_tree::PATHS].contains(&name) {
        return diff_tree::run(name, matches, stop);
    }
    if name == page::PAGE {
        return page::run(matches, stop);
    }
    let mut source = SourceArgs::from_arg_matches(matches).map_err(|error| explain(&error))?;
    let Some(report) = report::by_name(name) else {
        let list = ListArgs::from_arg_matches(matches).map_err(|error| explain(&error))?;
        let target = list.target(&source.inputs())?;
        let (database, run) = source.open_run(ONE_STATE, stop)?;
        return tell(&database, &run, &list, &target, stop);
    };
    let output = OutputArgs::from_arg_matches(matches).map_err(|error| explain(&error))?;
    let request = Request {
        all_columns: matches!(output.format(), Format::Json | Format::JsonLines),
        ..request(report, matches)
    };
    let mut parameters = report.header().parameters.iter();
    let path = parameters.find(|parameter| parameter.kind == Parameter::Path);
    if request.names == NameSyntax::Regex && !path.is_some_and(|path| request.has(path.name)) {
        return Err(complain(
            "--regex applies to --fn; add --fn or omit --regex. --focus, --ignore and --hide always take regular expressions",
            Failure::Usage,
        ));
    }
    let wants_code = request.has(CODE);
    if wants_code && matches.contains_id("outfile") {
        return Err(complain(
            "--code is for the terminal; omit --outfile or --code",
            Failure::Usage,
        ));
    }
    // Whether the output can be written is known before a large file is read.
    let target = output.target(&source.inputs())?;
    let mut layout = output.layout(source.take_separators(output.format())?, flags(&request));
    layout
        .check(true)
        .map_err(|wrong| complain(wrong, Failure::Usage))?;
    let combined = CombineArgs::from_arg_matches(matches).map_err(|error| explain(&error))?;
    let (mut asked_of, run) = source.open_run(combined.several(), stop)?;
    can_be_combined(&run, &request, matches.get_flag("show_sql"))?;
    let heeded = asked_of.heed(stop.clone());
    heeded.map_err(|error| database(error, stop))?;
    layout.names_run = source.has_choice(&asked_of, &run, stop)?;
    // Only reports with `--code` have the flag: others give an error here, which means none.
    let folder = matches.try_get_one::<PathBuf>(SOURCE).ok().flatten();
    if let Some(folder) = folder {
        let sources = Sources::open(folder, stop)?;
        let lines = if request.has(ALL_LINES) {
            SourceLines::Functions
        } else {
            SourceLines::Figures
        };
        let remarks = asked_of
            .show_source(run.run_id, &sources, lines)
            .map_err(|error| database(error, stop))?;
        warn_some(&folder.display().to_string(), &remarks);
    }
    let mut answer =
        report::ask(&asked_of, report, &run, &request).map_err(|error| unanswered(error, stop))?;
    answer.remarks.iter().for_each(say);
    let has_line_rows = answer
        .columns
        .iter()
        .any(|column| column.name == "line_file");
    if has_line_rows && answer.is_empty() && !run.knows_lines && run.format == "perf_script" {
        say("`perf script -F +srcline` prints line numbers");
    }
    let has_addresses = answer.has_addresses();
    if has_addresses.map_err(|error| database(error, stop))? {
        say(format!(
            "{}: the file has addresses instead of function names; `profdb formats samply`, or the name of your \
             profiler, describes how to record names",
            run.said()
        ));
    }
    if matches.get_flag("show_sql") {
        let script = answer.script.clone();
        return target.write(stop, |out| Ok(out.write_all(script.as_bytes())?));
    }
    if wants_code || request.has(ALL_LINES) {
        let (missing, lines) = answer
            .lines_without_code()
            .map_err(|error| database(error, stop))?;
        if lines == 0 && !run.knows_lines && answer.remarks.is_empty() {
            say(format!(
                "{} has no line numbers, so there is no source to show",
                run.said()
            ));
        }
        if missing > 0 {
            let hint = if folder.is_none() {
                "; use --source DIR"
            } else {
                ""
            };
            say(format!("no source for {missing} of {lines} lines{hint}"));
        }
    }
    print(&mut answer, &layout, &target, stop)
}

/// Refuses flags whose answer would be wrong for several runs.
fn can_be_combined(run: &RunInfo, request: &Request, shows_sql: bool) -> Result<(), Failure> {
    let Some(combined) = &run.combined else {
        return Ok(());
    };
    let fault = if shows_sql {
        "--show-sql: several runs are combined in a temporary database, which no statement can ask; name one run"
    } else if combined.combination == Combination::Mean && request.has(AVERAGE) {
        "--avg: the cost per call needs exact numbers of calls, and means are rounded; use --runs sum"
    } else {
        return Ok(());
    };
    Err(complain(fault, Failure::Usage))
}

/// Names of the flags that are set.
fn flags(request: &Request) -> Vec<String> {
    let set = request
        .arguments
        .iter()
        .filter(|(_, value)| *value == Argument::Flag);
    set.map(|(name, _)| name.clone()).collect()
}

fn request(report: &'static Report, matches: &ArgMatches) -> Request {
    let argument = |parameter: &ParameterDef<'static>| -> Vec<(String, Argument)> {
        let name = parameter.name;
        let value = match &parameter.kind {
            Parameter::Flag | Parameter::Variant(_) => {
                matches.get_flag(name).then_some(Argument::Flag)
            }
            Parameter::Label => {
                let given = |name| matches.get_many::<String>(name).into_iter().flatten();
                if given(OLD_LABEL).next().is_some() {
                    say(format!("--tag is now --label: {TAGS_OF_RUNS}"));
                }
                return given(name)
                    .chain(given(OLD_LABEL))
                    .map(|text| (name.to_owned(), Argument::Text(text.clone())))
                    .collect();
            }
            Parameter::Count => matches
                .get_one::<u64>(name)
                .map(|count| Argument::Count(*count)),
            Parameter::Percentage => matches
                .get_one::<f64>(name)
                .map(|number| Argument::Number(*number)),
            Parameter::Groups(_) => matches.get_one::<String>(name).map(|text| {
                let old = text.strip_prefix(OLD_LABEL_KEY);
                if let Some(key) = old {
                    say(format!(
                        "--{name} {text} is now --{name} label:{key}: {TAGS_OF_RUNS}"
                    ));
                }
                Argument::Text(old.map_or_else(|| text.clone(), |key| format!("label:{key}")))
            }),
            Parameter::Path | Parameter::Thread | Parameter::Choice(_) | Parameter::Filter => {
                matches
                    .get_one::<String>(name)
                    .map(|text| Argument::Text(text.clone()))
            }
        };
        value
            .into_iter()
            .map(|value| (name.to_owned(), value))
            .collect()
    };
    let words = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    Request {
        metric: matches.get_one::<String>("metric").cloned(),
        bias: matches.get_one::<f64>("bias").copied(),
        base: if words("percent_of") == Some("selection") {
            Base::Selection
        } else {
            Base::Total
        },
        names: if matches.get_flag("regex") {
            NameSyntax::Regex
        } else {
            NameSyntax::Glob
        },
        all_columns: false,
        dialect: matches.get_one::<Dialect>("dialect").copied(),
        arguments: report
            .header()
            .parameters
            .iter()
            .flat_map(argument)
            .collect(),
    }
}
