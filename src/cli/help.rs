//! Parts of the help that do not belong to a flag: examples, exit codes and environment variables.

use std::fmt::Write as _;

use clap::Command;

/// Has the table of exit codes.
const ARCHITECTURE: &str = include_str!("../../ARCHITECTURE.md");

/// Examples by command. A test runs each of them.
const EXAMPLES: &[(&str, &[&str])] = &[
    (
        "profdb",
        &[
            "profdb run.xml",
            "profdb import run.xml",
            "profdb report summary --first 10",
            "profdb report calls --fn '#.Util.fmt∆Num'",
            "profdb sql 'SELECT function, exclusive FROM summary WHERE run_id = 1 ORDER BY 2 DESC LIMIT 5'",
        ],
    ),
    (
        "profdb import",
        &[
            "profdb import run.xml",
            "profdb import --tag branch=main profiles",
            "profdb import --from dyalog_xml --title before - < run.xml",
        ],
    ),
    (
        "profdb runs",
        &[
            "profdb runs",
            "profdb runs --format json --outfile runs.json",
        ],
    ),
    (
        "profdb show",
        &["profdb show", "profdb show 1 --format json"],
    ),
    (
        "profdb tag",
        &[
            "profdb tag latest branch=main",
            "profdb tag 1 --remove branch",
        ],
    ),
    (
        "profdb delete",
        &[
            "profdb delete latest",
            "profdb delete --keep 5 --per branch --yes",
        ],
    ),
    ("profdb compact", &["profdb compact"]),
    (
        "profdb identify",
        &[
            "profdb identify",
            "profdb identify --root old/shop=new/shop",
        ],
    ),
    ("profdb merge", &["profdb merge profdb.db theirs.db"]),
    (
        "profdb identify",
        &["profdb identify", "profdb identify --root old/src=src"],
    ),
    (
        "profdb export",
        &[
            "profdb export --format flamegraph -o run.svg",
            "profdb export 1 --format pprof -o run.pb.gz",
            "profdb export --format flamegraph --diff run.xml profiles/a.xml -o diff.svg",
        ],
    ),
    (
        "profdb convert",
        &[
            "profdb convert run.xml --to folded",
            "profdb convert run.xml --to speedscope -o run.speedscope.json",
        ],
    ),
    (
        "profdb diff",
        &[
            "profdb diff run.xml profiles/a.xml",
            "profdb diff 1 run.xml --min-effect 10",
            "profdb diff --base branch=main --new run.xml --format json",
            "profdb diff 1 run.xml --html diff.html",
        ],
    ),
    (
        "profdb history",
        &[
            "profdb history",
            "profdb history '#.Shop.*' --where 'last 20'",
            "profdb history --series format '#.Shop.Main' --format csv",
        ],
    ),
    (
        "profdb gate",
        &[
            "profdb gate --budget perf.budget",
            "profdb gate --budget perf.budget --base 'branch=main last 10' --new latest",
            "profdb gate --budget perf.budget profiles/a.xml run.xml --format junit -o gate.xml",
        ],
    ),
    (
        "profdb steps",
        &[
            "profdb steps --where branch=main",
            "profdb steps --since 20 --format markdown",
            "profdb steps --fn '#.Shop.*' --all",
        ],
    ),
    (
        "profdb serve",
        &[
            "profdb serve",
            "profdb serve profdb.db --run branch=main --no-open",
        ],
    ),
    (
        "profdb sql",
        &[
            "profdb sql 'SELECT function, exclusive FROM summary WHERE run_id = 1 ORDER BY 2 DESC LIMIT 5'",
            "profdb sql 'SELECT count(*) FROM tree' run.xml",
            "profdb sql - --format csv < question.sql",
        ],
    ),
    ("profdb dump", &["profdb dump run.xml"]),
    (
        "profdb check",
        &["profdb check", "profdb check --format json"],
    ),
    ("profdb schema", &["profdb schema", "profdb schema summary"]),
    (
        "profdb formats",
        &["profdb formats", "profdb formats speedscope"],
    ),
    (
        "profdb completions",
        &["profdb completions bash > profdb.bash"],
    ),
    ("profdb man", &["profdb man share/man/man1"]),
    (
        "profdb report",
        &[
            "profdb report",
            "profdb report tree run.xml --depth 3",
            "profdb report --html page.html run.xml",
            "profdb report exclusive branch=main --first 10 --format csv",
        ],
    ),
    (
        "profdb report summary",
        &[
            "profdb report summary --first 10",
            "profdb report summary --lines --exclusive run.xml",
            "profdb report summary --both --seen",
            "profdb report summary cpu.pprof --by label:thread",
        ],
    ),
    (
        "profdb report calls",
        &[
            "profdb report calls --fn '#.Util.fmt∆Num'",
            "profdb report calls --fn '*.fmt*' run.xml",
        ],
    ),
    (
        "profdb report call_lines",
        &["profdb report call_lines --fn '#.Util.fmt∆Num'"],
    ),
    (
        "profdb report callees",
        &[
            "profdb report callees --fn '#.Shop.Main' run.xml",
            "profdb report callees --fn '#.Shop.Main' --metric all",
        ],
    ),
    (
        "profdb report exclusive",
        &[
            "profdb report exclusive --pct 80",
            "profdb report exclusive --fn '#.Shop.Main>#.Shop.Load'",
        ],
    ),
    (
        "profdb report cumulative",
        &["profdb report cumulative --first 10"],
    ),
    (
        "profdb report page",
        &[
            "profdb report page --html page.html",
            "profdb report page --html page.html run.xml",
            "profdb report page --html page.html --runs latest --max-size 20MB",
        ],
    ),
    (
        "profdb report diff_tree",
        &["profdb report diff_tree run.xml profiles/a.xml --min-pct 1"],
    ),
    (
        "profdb report diff_paths",
        &["profdb report diff_paths run.xml profiles/a.xml --first 10"],
    ),
    (
        "profdb report lines",
        &[
            "profdb report lines --first 10",
            "profdb report lines --code --source src",
        ],
    ),
    (
        "profdb report function",
        &[
            "profdb report function --fn '#.Shop.Load'",
            "profdb report function --fn '#.Shop.Load' --all-lines --source src",
        ],
    ),
    (
        "profdb report tree",
        &[
            "profdb report tree --depth 3 --min-pct 1",
            "profdb report tree --fn '#.Shop.Load' run.xml",
        ],
    ),
    (
        "profdb report bottom_up",
        &[
            "profdb report bottom_up --first 5",
            "profdb report bottom_up --fn '#.Util.fmt∆Num'",
        ],
    ),
    (
        "profdb report paths",
        &[
            "profdb report paths --first 5",
            "profdb report paths --fn '#.Shop.Main' --first 5",
        ],
    ),
    (
        "profdb report labels",
        &[
            "profdb report labels cpu.pprof",
            "profdb report labels cpu.pprof --label thread=main",
        ],
    ),
    (
        "profdb report data",
        &["profdb report data --format csv --outfile figures.csv"],
    ),
    ("profdb report state", &["profdb report state run.xml"]),
];

/// The environment variables that the program reads.
const ENVIRONMENT: &[(&str, &str)] = &[
    (
        "PROFDB_DB",
        "Database file if there is no --db [default: profdb.db]",
    ),
    (
        "PROFDB_PAGER, PAGER",
        "Pager; the first that is set is used, and an empty value disables it [default: less -FRX]",
    ),
    (
        "NO_COLOR",
        "Any value disables colors in tables on a terminal",
    ),
    ("TERM", "Unset or `dumb` disables pager and colors"),
    (
        "TMPDIR",
        "Directory for temporary files of large profiles, exports and tables",
    ),
];

/// Returns the examples of a command, such as `profdb report calls`.
pub(super) fn examples(name: &str) -> &'static [&'static str] {
    EXAMPLES
        .iter()
        .find(|(of, _)| *of == name)
        .map_or(&[], |(_, examples)| examples)
}

/// Returns the exit codes with their meanings, as ARCHITECTURE.md lists them.
pub(super) fn exit_codes() -> impl Iterator<Item = (&'static str, &'static str)> {
    let (_, table) = ARCHITECTURE
        .split_once("\n## Exit codes\n")
        .unwrap_or_default();
    let rows = table.lines().take_while(|line| !line.starts_with('#'));
    rows.filter_map(|row| {
        let (code, meaning) = row
            .strip_prefix("| ")?
            .strip_suffix(" |")?
            .split_once(" | ")?;
        code.parse::<u8>().ok()?;
        Some((code, meaning))
    })
}

/// Returns the environment variables with their meanings.
pub(super) fn environment() -> &'static [(&'static str, &'static str)] {
    ENVIRONMENT
}

/// Flags that the short help (`-h`) of every command leaves out; `--help` shows them.
const RARE_FLAGS: &[&str] = &[
    "alpha",
    "bias",
    "brief",
    "clusters",
    "colour",
    "dialect",
    "edge-labels",
    "all-metrics",
    "infile",
    "keep-empty",
    "layout",
    "loose",
    "max-size",
    "no-pager",
    "no-sql",
    "palette",
    "percent-of",
    "regex",
    "root",
    "seen",
    "separators",
    "source-lines",
    "test",
    "wait",
    "wide",
    "with-builtins",
    "word-size",
];

/// Completes the help of a command and its subcommands: examples, and which flags the short help leaves out.
/// The long help of the program itself also lists exit codes and environment variables.
pub(super) fn with_help_texts(command: Command) -> Command {
    let mut text = String::from("Exit codes:\n");
    for (code, meaning) in exit_codes() {
        let meaning = hanging(meaning, 7);
        let _ = writeln!(text, "  {code:<4} {meaning}");
    }
    text += "\nEnvironment:\n";
    for (variable, meaning) in ENVIRONMENT {
        let _ = writeln!(text, "  {variable}\n      {meaning}");
    }
    with_examples(command, "", &text)
}

/// Adds examples to the long help of a command and its subcommands. `text` follows those of the command itself.
fn with_examples(command: Command, parent: &str, text: &str) -> Command {
    let name = format!("{parent}{}", command.get_name());
    let mut after = command
        .get_after_long_help()
        .or(command.get_after_help())
        .map(|after| format!("{after}\n\n"))
        .unwrap_or_default();
    let examples = examples(&name);
    if !examples.is_empty() {
        after += "Examples:\n";
        after.extend(examples.iter().flat_map(|example| ["  ", example, "\n"]));
        after.push('\n');
    }
    after += text;
    let parent = format!("{name} ");
    command
        .after_long_help(after.trim_end().to_owned())
        .mut_args(|flag| {
            let is_rare = flag
                .get_long()
                .is_some_and(|name| RARE_FLAGS.contains(&name));
            if is_rare {
                flag.hide_short_help(true)
            } else {
                flag
            }
        })
        .mut_subcommands(|command| {
            with_examples(
                command,
                &parent,
                "Exit codes and environment variables: profdb --help",
            )
        })
}

/// A text in lines of at most 80 columns, those after the first begin at column `indent`: clap breaks
/// long lines, but does not know where they begin.
fn hanging(text: &str, indent: usize) -> String {
    let mut shown = String::new();
    let mut column = indent;
    for word in text.split(' ') {
        let width = word.chars().count();
        if column == indent {
        } else if column + 1 + width > 80 {
            let _ = write!(shown, "\n{:indent$}", "");
            column = indent;
        } else {
            shown.push(' ');
            column += 1;
        }
        shown += word;
        column += width;
    }
    shown
}
