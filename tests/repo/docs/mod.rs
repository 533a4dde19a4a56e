//! The documents that are made from the program are current, and what documents say of the program
//! is true.
//!
//! Each document is built in memory and compared with the committed file. `UPDATE_DOCS=1 cargo test
//! --test repo docs::` rewrites the files that differ; nothing else does, and a file that is
//! missing fails.
#![expect(
    clippy::disallowed_methods,
    reason = "reads our own documents and sources, and the wish to rewrite them"
)]

use crate::support::program;
use crate::support::tools;
use crate::tidy;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use profdb::base::error::Stop;
use profdb::cli;
use profdb::formats;
use profdb::formats::{EXPORTS, FORMATS, Takes};
use profdb::input::{HEAD, Input, Limits};
use profdb::pipeline::{import, meta};
use profdb::report::header::{
    Column, Kind, Meaning, Medium, Needs, Parameter, ParameterDef, TitledMedium,
};
use profdb::report::render::titles;
use profdb::report::{REPORTS, Report};
use profdb::store::Database;

mod architecture;
mod schema;
mod test_modules;

/// The variable that lets the documents be rewritten.
const UPDATE: &str = "UPDATE_DOCS";

/// First line of every document that is made here.
const MADE: &str = "<!-- Made by tests/repo/docs/mod.rs. Do not edit: UPDATE_DOCS=1 cargo test --test repo docs:: -->\n\n";

/// The width of the help text in `docs/cli.md`.
const WIDTH: usize = 100;

/// Differing lines that a failure shows of each side.
const SHOWN_LINES: usize = 6;

/// The smallest profile that makes a database.
const SAMPLE: &str = "\"Depth\",\"Element\",\"Line\",\"Calls\",\"ExclusiveTime\",\"InclusiveTime\"\n\
                      0,\"#.Main\",¯1,1,0.25,1.5\n1,\"#.Main\",1,1,0.25,1.25\n2,\"#.Work\",¯1,1,1,1\n";

/// What README.md shows has happened: its transcripts are those of a case, but for what goes to standard error.
#[test]
fn readme_shows_a_case() {
    let read = |path: &str| {
        let path = root().join(path);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let (readme, case) = (read("README.md"), read("tests/cases/cli/readme.md"));
    let told = |text: &str| {
        // A line `? N` is the exit code.
        let is_shown = |line: &&str| !line.starts_with("profdb: ") && !line.starts_with("? ");
        let lines = text.lines().filter(is_shown);
        lines.map(str::trim_end).collect::<Vec<_>>().join("\n")
    };
    let case = told(&case);
    let mut transcripts = 0;
    for block in readme.split("```console\n").skip(1) {
        let (block, _) = block.split_once("```\n").expect("its end");
        assert!(case.contains(told(block).trim_end()), "{block}");
        transcripts += 1;
    }
    assert_eq!(transcripts, 3);
}

#[test]
fn schema_is_current() {
    let database = database();
    let objects = schema::objects(&database);
    let faults = schema::faults(&objects);
    assert!(
        faults.is_empty(),
        "the comments in migrations/ and queries/views/ lack:\n{}",
        faults.join("\n")
    );
    let mut text = format!(
        "{MADE}# Tables and views\n\nA profdb database is an ordinary SQLite file. Query it with `profdb sql`, the `sqlite3` shell or any\nlibrary. This page is generated from the comments in the database, which `.schema` also shows.\n\nThe views are a stable interface: their columns keep their names and meanings, and new ones may be added. The tables\ncontain the data of the views.\n\nUnits: times are in ns (nanoseconds), sizes in bytes, everything else is a count. Each metric has one\nunit, `metrics.unit`; most views repeat it as `unit`. Percentages refer to the run's total. NULL means\nunknown, never 0.\n\nA metric is a quantity that a run measured. A function is an entry that the profiler names. A node is a position in\nthe call tree. Exclusive cost excludes callees, and cumulative (inclusive) cost includes them.\n"
    );
    for (kind, title) in [("view", "Views"), ("table", "Tables")] {
        let _ = write!(text, "\n## {title}\n\n");
        let mut names: Vec<_> = objects
            .iter()
            .filter(|object| object.kind == kind)
            .collect();
        if kind == "view" {
            names.sort_by_key(|object| object.name.as_str());
        }
        let links: Vec<_> = names
            .iter()
            .map(|object| format!("[{0}](#{0})", object.name))
            .collect();
        let _ = writeln!(text, "{}", links.join(", "));
        for object in names {
            write_object(&mut text, object, &objects);
        }
    }
    compare("docs/schema.md", &text);
}

fn write_object(text: &mut String, object: &schema::Object, all: &[schema::Object]) {
    let is_table = object.kind == "table";
    let _ = write!(text, "\n### {}\n\n{}\n\n", object.name, object.about);
    text.push_str(if is_table {
        "| column | type | meaning |\n| --- | --- | --- |\n"
    } else {
        ""
    });
    text.push_str(if is_table {
        ""
    } else {
        "| column | meaning |\n| --- | --- |\n"
    });
    for column in &object.columns {
        let kind = if is_table {
            format!(" {} |", column.kind)
        } else {
            String::new()
        };
        let _ = writeln!(
            text,
            "| `{}` |{kind} {} |",
            column.name,
            cell(&column.meaning)
        );
    }
    let attached = all.iter().filter(|other| {
        other.table == object.name
            && other.name != object.name
            && matches!(other.kind.as_str(), "index" | "trigger")
    });
    let constraints = object
        .constraints
        .iter()
        .map(|(code, about)| (format!("`{code}`"), about));
    let attached = attached.map(|other| (format!("{} `{}`", other.kind, other.name), &other.about));
    let mut lines = constraints.chain(attached).peekable();
    if lines.peek().is_some() {
        text.push('\n');
    }
    for (what, about) in lines {
        let _ = writeln!(
            text,
            "- {what}{}{about}",
            if about.is_empty() { "" } else { ": " }
        );
    }
}

#[test]
fn reports_are_current() {
    let common = common_flags();
    let mut text = format!(
        "{MADE}# Reports\n\n\
         `profdb report NAME` answers a question about a run in the database, `profdb report NAME FILE` about a file.\n\
         The default report is `{}`. Each report is one SELECT in `queries/reports/`, and this page is generated from\n\
         their headers. `profdb report state` is the same as `profdb show`: the properties of a run.\n\n",
        REPORTS[0].name
    );
    let links: Vec<_> = REPORTS
        .iter()
        .map(|report| format!("[{0}](#{0})", report.name))
        .collect();
    let _ = write!(
        text,
        "{}\n\n## Flags of every report\n\n| flag | meaning |\n| --- | --- |\n",
        links.join(", ")
    );
    for argument in common.iter().filter(|argument| !argument.is_hide_set()) {
        let help = argument
            .get_help()
            .map(ToString::to_string)
            .unwrap_or_default();
        let _ = writeln!(text, "| `{}` | {} |", usage(argument), cell(&help));
    }
    write_filters(&mut text);
    text.push_str(
        "\n## Output\n\nThe extension of `--outfile` determines the format, in upper or lower case. `--format` overrides it. Lists (`runs`, `show`,\n`check`, `sql`) have the same formats except XML.\n\n| extension | format |\n| --- | --- |\n| `.txt`, `.text` | text |\n| `.csv` | CSV |\n| `.tsv`, `.tab` | TSV without quotes; tab, end of line and backslash in a text are `\\t`, `\\n`, `\\r`, `\\\\` |\n| `.json` | JSON |\n| `.jsonl`, `.ndjson` | JSON Lines |\n| `.md` | Markdown |\n| `.xml` | XML |\n| none | text, as on the screen |\n| others | refused: use `--format` |\n| none or others, in the spelling of `]PROFILE` (`-outfile=FILE`) | XML |\n\nOn a terminal, output longer than the screen goes through a pager: `$PROFDB_PAGER`, else `$PAGER`, else\n`less -FRX`. `--no-pager`, an empty variable and a `dumb` terminal turn the pager off. If the pager\ncannot be run, a message names it, and the output is printed without it. Ctrl-C stops the output, and the program exits when\nthe pager does. Text is shortened in its middle to the width of the terminal, the longest first. With `--wide` it is\ncomplete, and `less` scrolls sideways. Output to files and pipes is never shortened. On a terminal, control characters\nare shown as escapes in every format.\n\n## Kinds of columns\n\nCosts are stored in ns, bytes or as a count. Text and Markdown tables show times and memory in the\nlargest unit in which the run's total is at least 1: ns, us, msec, s; bytes, KiB, MiB, GiB. They have one decimal, or\nenough decimals to show a thousandth of the total. If these would not show a hundredth of the\nselection, unit and decimals are those of the selection. Counts are not scaled. Each average has its own unit, unless\n`--unit` or `--decimal` is given.\n\nCSV and XML show times in milliseconds and memory in bytes. `--unit` changes the unit of tables and CSV. JSON has stored\nunits. In titles of tables `@` stands for the unit: `msec`, `bytes`, or the name of the metric. In CSV, `Time` becomes\nmetric and unit unless it is a time in milliseconds: `Alloc(bytes)`, `ExclusiveTime(us)`. In XML, `Time` stands for\n`InclusiveTime`, or `ExclusiveTime` with `--exclusive`. Some columns are left out if they are empty in every row of the\nrun.\n\n| kind | values |\n| --- | --- |\n",
    );
    for (kind, about) in KINDS {
        let _ = writeln!(text, "| {} | {about} |", kind_name(*kind));
    }
    let _ = write!(
        text,
        "\n## Titles of columns\n\n{}",
        module_page("src/report/render/dyalog/titles.rs")
    );
    text.push_str("\n## Formats of output\n");
    for name in ["text", "csv", "xml", "json", "markdown"] {
        let file = if name == "xml" { "dyalog/xml" } else { name };
        let _ = write!(
            text,
            "\n### {name}\n\n{}",
            module_page(&format!("src/report/render/{file}.rs"))
        );
    }
    for report in REPORTS {
        write_report(&mut text, report);
    }
    compare("docs/reports.md", &text);
}

/// The `//!` comment at the top of a source file.
fn module_page(path: &str) -> String {
    let source =
        fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    let lines = lines.map(|line| line.strip_prefix(' ').unwrap_or(line));
    lines.fold(String::new(), |page, line| page + line + "\n")
}

/// What the kinds of columns hold; `Any` is for plain SQL.
const KINDS: &[(Kind, &str)] = &[
    (Kind::Name, "name of a function"),
    (Kind::Node, "name of a function, indented by its depth"),
    (Kind::Text, "other text"),
    (Kind::Line, "an identifying number: a line, a rank, an id"),
    (Kind::Count, "a count"),
    (
        Kind::Cost,
        "a cost, in the metric's unit; CSV rounds times to ten digits",
    ),
    (
        Kind::Raw,
        "a cost, in the metric's unit; CSV gives all digits",
    ),
    (
        Kind::Percent,
        "a percentage, in %; CSV rounds it to ten digits",
    ),
];

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Name => "name",
        Kind::Node => "node",
        Kind::Text => "text",
        Kind::Line => "number",
        Kind::Count => "count",
        Kind::Cost => "cost",
        Kind::Raw => "raw cost",
        Kind::Percent => "percent",
        Kind::Any => "any",
    }
}

fn write_report(text: &mut String, report: &Report) {
    let header = report.header();
    let mut about = vec![header.about];
    about.extend(&header.prose);
    let needs = match header.needs {
        Needs::Nothing => "any run",
        Needs::Edges => "a run with callers (fidelity `edges` or `tree`)",
        Needs::Tree => "a run with paths (fidelity `tree`)",
        Needs::Labels => "a run with labels of samples",
    };
    let _ = write!(
        text,
        "\n## {}\n\n{}\n\nNeeds: {needs}.\n",
        report.name,
        about.join(" ")
    );
    if header.many_rows {
        text.push_str("Rows: one per node of the run, streamed.\n");
    }
    text.push_str("\n| flag | meaning |\n| --- | --- |\n");
    let (filters, flags): (Vec<_>, Vec<_>) = header
        .parameters
        .iter()
        .partition(|parameter| is_filter(parameter));
    for parameter in flags {
        let flag = report_flag(parameter);
        let required = if parameter.kind == Parameter::Path && !parameter.optional {
            "; required"
        } else {
            ""
        };
        let default = parameter
            .default
            .map(|default| format!(" (default {default})"))
            .unwrap_or_default();
        let _ = writeln!(
            text,
            "| `{flag}` | {}{required}{default} |",
            cell(first_sentence(parameter.meaning))
        );
    }
    let filters: Vec<_> = filters
        .into_iter()
        .map(|filter| format!("`--{}`", filter.name))
        .collect();
    let _ = writeln!(text, "\n[Filters](#filters): {}", filters.join(", "));
    text.push_str(
        "\n| column | kind | text | CSV | XML | JSON | meaning |\n| --- | --- | --- | --- | --- | --- | --- |\n",
    );
    let titles = [TitledMedium::Text, TitledMedium::Csv, TitledMedium::Xml]
        .map(|medium| titles(&header.columns, medium, Meaning::Cumulative));
    for (at, column) in header.columns.iter().enumerate() {
        let Column {
            name,
            kind,
            optional,
            when,
            unless,
            meaning,
            ..
        } = column;
        let title = |titles: &Vec<Option<String>>| {
            titles[at]
                .as_deref()
                .map(|title: &str| format!("`{}`", cell(title)))
                .unwrap_or_default()
        };
        let json = if column.is_in(Medium::Json) {
            format!("`{name}`")
        } else {
            String::new()
        };
        let optional = if *optional {
            "; left out of tables if empty"
        } else {
            ""
        };
        let when = when
            .map(|flag| format!("; in tables only with `--{flag}`"))
            .unwrap_or_default();
        let unless = unless
            .map(|flag| format!("; not in tables with `--{flag}`"))
            .unwrap_or_default();
        let [shown, csv, xml] = titles.each_ref().map(title);
        let kind = kind_name(*kind);
        let meaning = cell(meaning);
        let _ = writeln!(
            text,
            "| `{name}` | {kind} | {shown} | {csv} | {xml} | {json} | {meaning}{optional}{when}{unless} |"
        );
    }
}

/// Returns true for a filter, which has the same meaning in all reports.
fn is_filter(parameter: &ParameterDef<'_>) -> bool {
    matches!(
        parameter.kind,
        Parameter::Filter | Parameter::Thread | Parameter::Label
    )
}

/// Returns the part of a help text that `-h` prints.
fn first_sentence(meaning: &str) -> &str {
    meaning.split_once(". ").map_or(meaning, |(first, _)| first)
}

/// Writes the filters of all reports, and fails if a filter has two meanings.
fn write_filters(text: &mut String) {
    text.push_str("\n## Filters\n\n| flag | meaning |\n| --- | --- |\n");
    let mut meanings = BTreeMap::new();
    let headers: Vec<_> = REPORTS.iter().map(Report::header).collect();
    for filter in headers.iter().flat_map(|header| &header.parameters) {
        if !is_filter(filter) {
            continue;
        }
        let earlier = meanings.insert(filter.name, filter.meaning);
        if earlier.is_none() {
            let _ = writeln!(
                text,
                "| `{}` | {} |",
                report_flag(filter),
                cell(filter.meaning)
            );
        }
        assert!(
            earlier.is_none_or(|earlier| earlier == filter.meaning),
            "{}",
            filter.name
        );
    }
    text.push_str(
        "\nIn a PATH, `A,B` is B anywhere below A, `A>B` is B called directly by A, and `*` and `?` are wildcards. \
         Names in quotes match literally.\n",
    );
}

/// A parameter as it is typed.
fn report_flag(parameter: &ParameterDef<'_>) -> String {
    let name = parameter.name.replace('_', "-");
    match &parameter.kind {
        Parameter::Flag | Parameter::Variant(_) => format!("--{name}"),
        Parameter::Count | Parameter::Percentage => format!("--{name} N"),
        Parameter::Choice(words) | Parameter::Groups(words) => {
            format!("--{name} {}", words.join("/"))
        }
        Parameter::Filter => format!("--{name} REGEX"),
        Parameter::Path => format!("--{name} PATH"),
        Parameter::Thread => format!("--{name} NAME"),
        Parameter::Label => format!("--{name} KEY=VALUE"),
    }
}

/// The arguments that all reports have and no header names.
fn common_flags() -> Vec<clap::Arg> {
    let program = cli::program();
    let report = program
        .find_subcommand("report")
        .expect("there are reports");
    let first = report
        .find_subcommand(REPORTS[0].name)
        .expect("a report is a subcommand");
    let in_all = |argument: &&clap::Arg| {
        let with_select = report
            .get_subcommands()
            .filter(|report| REPORTS.iter().any(|known| known.name == report.get_name()));
        with_select
            .map(clap::Command::get_arguments)
            .all(|mut own| own.any(|other| other.get_id() == argument.get_id()))
    };
    let in_header = |argument: &clap::Arg| {
        let own = &REPORTS[0].header().parameters;
        own.iter()
            .any(|parameter| argument.get_id() == parameter.name)
    };
    first
        .get_arguments()
        .filter(in_all)
        .filter(|argument| !in_header(argument))
        .cloned()
        .collect()
}

fn usage(argument: &clap::Arg) -> String {
    let names = argument.get_value_names();
    let value = names
        .filter(|_| argument.get_action().takes_values())
        .map(|names| names.join(" "))
        .unwrap_or_default();
    match argument.get_long() {
        Some(long) => format!("--{long} {value}").trim_end().to_owned(),
        None => value,
    }
}

/// Text in a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

#[test]
fn formats_are_current() {
    let mut text = format!(
        "{MADE}# Formats\n\n\
         profdb detects the format by the first {} KiB of a file, never by its name. gzip and zstd are decompressed first. UTF-16 with\n\
         a byte order mark becomes UTF-8. Each format examines these bytes and answers yes (a magic number or a root\n\
         element), maybe (a plausible first record) or no. The only format with yes is used, else the only one with maybe,\n\
         unless the file is known to be something else. If there is none, or several, nothing is imported, and the message lists the\n\
         candidates. `--from` names the format instead. In a directory, text files without a semicolon are skipped: lines of a word\n\
         and a number count as stacks only in a file that is named on the command line.\n\n\
         A file without a function, or without a cost and a number of calls, is refused (exit code 3). If tools of the format write\n\
         such files for empty recordings, the file is stored with a warning.\n\n\
         A damaged file is refused with the position of the fault. `--keep-before-error` imports the part before the fault: complete\n\
         lines, complete elements of JSON arrays or XML roots, and compressed data up to the damage. A warning\n\
         states the fault, its position and the number of bytes that are left out. A reference to a frame, node or location that is not\n\
         in the file is read as the frame `[missing frame]`, with a warning. In JSON formats, numbers may be texts, and a member that\n\
         is `null` is absent.\n\n\
         Names are UTF-8, or bytes in the encoding that the file states. An invalid byte becomes `\\x{{e9}}`,\n\
         with a note, so that different names stay different. If a name contains such text, its backslash becomes `\\x{{5c}}`. Other\n\
         backslashes are unchanged. Equal bytes give equal names in every format, and exports write the original bytes if the format\n\
         allows them; JSON has lone surrogates (`\\udce9`), as Python writes them.\n\n",
        HEAD / 1024
    );
    for format in FORMATS {
        let _ = writeln!(text, "- [{0}](#{0}): {1}", format.name, format.summary);
    }
    text.push_str("\nMany other profilers write one of these formats: see [other profilers](#other-profilers).\n");
    for format in FORMATS {
        let _ = write!(text, "\n{}", page(format.name, "read"));
    }
    let path = root().join("src/formats/mod.rs");
    let source =
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let lines = source
        .lines()
        .map_while(|line| line.strip_prefix("//!"))
        .map(|line| line.strip_prefix(' ').unwrap_or(line));
    text.push_str("\n## Other profilers\n\n");
    for line in lines
        .skip_while(|line| *line != "# Other profilers")
        .skip(1)
    {
        let _ = writeln!(text, "{line}");
        // A row names formats of this list.
        let row: Vec<_> = line.trim_matches('|').split(" | ").collect();
        for name in row
            .get(2)
            .into_iter()
            .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        {
            assert!(
                formats::format_named(name).is_some(),
                "{line}: there is no format {name}"
            );
        }
    }
    compare("docs/formats.md", &text);
}

/// The section of a format: the `//!` page of its `read.rs` or `write.rs` under the format's name.
fn page(name: &str, side: &str) -> String {
    let path = root().join(&tidy::sides(side)[name]);
    let source =
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut text = format!("## {name}\n\n");
    let mut fenced = false;
    for line in source.lines().map_while(|line| line.strip_prefix("//!")) {
        let line = line.strip_prefix(' ').unwrap_or(line);
        fenced ^= line.starts_with("```");
        let heading = !fenced && line.starts_with("# ");
        assert!(
            !line.starts_with("## "),
            "{name}: `profdb formats` takes this for the end of the page: {line}"
        );
        // The page's headings are two levels below the document's.
        let _ = writeln!(
            text,
            "{}{line}{}",
            if heading { "##" } else { "" },
            if heading { "\n" } else { "" }
        );
    }
    assert!(text.matches('\n').count() > 2, "{name}: has no page");
    text
}

#[test]
fn exports_are_current() {
    let mut text = format!(
        "{MADE}# Formats to write\n\n\
         `profdb export --format NAME RUN` writes a run of the database for another program; `profdb convert --to NAME FILE`\n\
         converts a profile without a database. Formats with several metrics contain all of them, the others the run's default one, unless\n\
         `--metric` names one. `-o FILE` writes a complete file, or none if the export fails.\n\n\
         Standard error has a line for each type of data that the format cannot hold, with the amount lost.\n\
         `--loss-report FILE` writes the same as JSON, with the names below. Data that the run does not have is not reported.\n\
         A run without paths cannot be written in formats that need a call tree; the others state their requirements.\n\n"
    );
    for export in EXPORTS {
        let _ = writeln!(text, "- [{0}](#{0}): {1}", export.name, export.summary);
    }
    for export in EXPORTS {
        let page = page(export.name, "write");
        let _ = write!(text, "\n{page}");
        if !export.layouts.is_empty() {
            let _ = write!(
                text,
                "\n### Layouts\n\n| layout | differences |\n| --- | --- |\n"
            );
        }
        for layout in export.layouts {
            let _ = writeln!(
                text,
                "| `--layout {}` | {} |",
                layout.name,
                cell(layout.about)
            );
        }
        let of_differences = export.difference.map(|differences| differences.options);
        let mut options = export
            .options
            .iter()
            .chain(of_differences.unwrap_or_default())
            .peekable();
        if options.peek().is_some() {
            let _ = write!(
                text,
                "\n### Options\n\n| option | meaning |\n| --- | --- |\n"
            );
        }
        for option in options {
            let value = match option.takes {
                Takes::Nothing => String::new(),
                Takes::Word(words) => format!(" {}", words.join("\\|")),
                Takes::Separators => " XY".to_owned(),
                Takes::Percentage => " N".to_owned(),
                Takes::Text => " NAME".to_owned(),
            };
            let _ = writeln!(
                text,
                "| `--{}{value}` | {} |",
                option.name,
                cell(option.meaning)
            );
        }
        let _ = write!(
            text,
            "\n### What gets lost\n\n| name | lost data | unit of the count |\n| --- | --- | --- |\n"
        );
        for loss in export.losses {
            let _ = writeln!(
                text,
                "| `{}` | {} | {} |",
                loss.name,
                cell(loss.what),
                loss.of
            );
        }
    }
    compare("docs/export.md", &text);
}

#[test]
fn the_program_prints_the_page_of_each_format() {
    // Both the program and this test have the document compiled in.
    let document = include_str!("../../../docs/formats.md");
    for format in FORMATS {
        let heading = format!("## {}\n", format.name);
        let start = document
            .find(&heading)
            .unwrap_or_else(|| panic!("docs/formats.md has no {heading}"));
        let rest = &document[start..];
        let end = rest[1..].find("\n## ").map_or(rest.len(), |end| end + 2);
        let printed = profdb(&["formats", format.name]);
        assert_eq!(
            printed.trim_end(),
            rest[..end].trim_end(),
            "profdb formats {}",
            format.name
        );
    }
}

/// Groups of arguments bring texts of their own, which easily take the place of the command's.
#[test]
fn help_of_a_report_says_what_it_is_about() {
    let program = cli::program();
    let command = program.find_subcommand("report").expect("a command");
    for report in REPORTS {
        let about = command
            .find_subcommand(report.name)
            .and_then(clap::Command::get_about)
            .expect("a text")
            .to_string();
        assert!(
            about.starts_with(report.header().about.trim_end_matches('.')),
            "{}: {about}",
            report.name
        );
    }
}

#[test]
fn cli_is_current() {
    let mut text = format!(
        "{MADE}# Command line\n\nResults are printed on standard output, messages on standard error. The help of \
         each command (`--help`) and the manual pages (`profdb man DIR`) describe the flags.\n\n## Sets of runs\n\n"
    );
    text += &module_page("src/store/runs/set.rs");
    let help = cli::program()
        .term_width(WIDTH)
        .max_term_width(WIDTH)
        .render_long_help()
        .to_string();
    let _ = write!(text, "\n## Commands\n\n```text\n");
    for line in help.trim_end().lines() {
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text.push_str("```\n");
    compare("docs/cli.md", &text);
}

#[test]
fn everything_on_the_command_line_has_help() {
    let mut faults = Vec::new();
    find_helpless("", &cli::program(), &mut faults);
    assert!(faults.is_empty(), "without help:\n{}", faults.join("\n"));
}

fn find_helpless(above: &str, command: &clap::Command, faults: &mut Vec<String>) {
    let name = format!("{above}{}", command.get_name());
    let is_empty = |help: Option<&clap::builder::StyledStr>| {
        help.is_none_or(|help| help.to_string().trim().is_empty())
    };
    if is_empty(command.get_about()) {
        faults.push(name.clone());
    }
    for argument in command
        .get_arguments()
        .filter(|argument| is_empty(argument.get_help()))
    {
        faults.push(format!("{name} {}", usage(argument)));
    }
    for command in command.get_subcommands() {
        find_helpless(&format!("{name} "), command, faults);
    }
}

#[test]
fn commands_that_documents_name_exist() {
    let mut program = cli::program();
    program.build();
    let mut documents = vec![root().join("README.md")];
    collect(&root().join("docs"), &mut documents);
    let mut faults = BTreeSet::new();
    for path in documents {
        let text =
            fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for line in commands(&text) {
            if let Err(fault) = check(&program, &line) {
                faults.insert(format!(
                    "{}: `{line}`: {fault}",
                    path.strip_prefix(root()).unwrap_or(&path).display()
                ));
            }
        }
    }
    let faults: Vec<_> = faults.into_iter().collect();
    assert!(
        faults.is_empty(),
        "documents name what there is not:\n{}",
        faults.join("\n")
    );
}

fn collect(folder: &Path, documents: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, documents);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            documents.push(path);
        }
    }
}

/// The command lines of profdb in the code of a document: in code blocks from the beginning of a
/// line or after `$ `, and in inline code.
fn commands(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        let trimmed = line.trim_start();
        if trimmed.starts_with("```") {
            fenced = !fenced;
            continue;
        }
        let inline = line.split('`').skip(1).step_by(2);
        let block = trimmed.strip_prefix("$ ").unwrap_or(trimmed);
        let block = Some(block).filter(|_| fenced);
        found.extend(
            block
                .into_iter()
                .chain(inline)
                .filter(|code| code.starts_with("profdb "))
                .map(str::to_owned),
        );
    }
    found
}

/// Whether subcommand, report and flags of a command line exist. Words in capitals stand for
/// something.
fn check(program: &clap::Command, line: &str) -> Result<(), String> {
    let end = line
        .find([';', '|', '>', '<', '#', '&'])
        .unwrap_or(line.len());
    let mut words = line[..end].split_whitespace().skip(1).peekable();
    let Some(first) = words.next() else {
        return Ok(());
    };
    if first.starts_with('-') {
        return flag(program, first);
    }
    // `profdb FILE` shows a file.
    if first == "FILE" || first == "DB" || first.contains('.') {
        return Ok(());
    }
    let mut command = program.find_subcommand(first).ok_or("no such subcommand")?;
    if first == "report" {
        let names = |word: &&str| {
            word.chars()
                .all(|character| character.is_ascii_lowercase() || character == '_')
        };
        // A page is meant where a file for it is named.
        let is_page = line.contains(" --html ");
        let unnamed = if is_page { "page" } else { REPORTS[0].name };
        let name = words.next_if(names).unwrap_or(unnamed);
        command = command.find_subcommand(name).ok_or("no such report")?;
    }
    if first == "formats" {
        let name = words
            .peek()
            .copied()
            .filter(|name| !name.contains(char::is_uppercase) && !name.starts_with(['-', '[']));
        name.map_or(Ok(()), |name| {
            formats::format_named(name)
                .map(|_| ())
                .ok_or("no such format")
        })?;
    }
    words
        .filter(|word| word.starts_with("--") && word.len() > 2)
        .try_for_each(|word| flag(command, word))
}

/// Whether a command has a flag; its name may be cut short as long as it is clear.
fn flag(command: &clap::Command, word: &str) -> Result<(), String> {
    let name = word
        .trim_start_matches('-')
        .split('=')
        .next()
        .unwrap_or_default();
    let longs = || command.get_arguments().filter_map(clap::Arg::get_long);
    let short = command
        .get_arguments()
        .filter_map(clap::Arg::get_short)
        .any(|short| word == format!("-{short}"));
    let fits = longs().filter(|long| long.starts_with(name)).count();
    if short || fits == 1 || longs().any(|long| long == name) {
        Ok(())
    } else {
        Err(format!("no flag {word}"))
    }
}

#[test]
fn commands_are_found_in_code_only() {
    let text = "profdb does this. See `profdb runs --json` and `x`.\n```console\n$ profdb report run.xml\nprofdb: no\n```\n";
    assert_eq!(
        commands(text),
        ["profdb runs --json", "profdb report run.xml"]
    );
    let mut program = cli::program();
    program.build();
    for good in [
        "profdb report run.xml",
        "profdb report lines --first 5",
        "profdb --help",
        "profdb import FILE --tag a=b",
    ] {
        assert_eq!(check(&program, good), Ok(()), "{good}");
    }
    for bad in [
        "profdb imprt x",
        "profdb report sumary",
        "profdb runs --json",
        "profdb formats lisp",
    ] {
        assert!(check(&program, bad).is_err(), "{bad}");
    }
}

#[test]
fn the_sqlite_shell_shows_the_comments() {
    let mut shell = tools::command("sqlite3");
    let folder = tempfile::tempdir().expect("a folder");
    let (sample, file) = (
        folder.path().join("sample.csv"),
        folder.path().join("profdb.db"),
    );
    fs::write(&sample, SAMPLE).expect("a sample");
    profdb(&[
        "import",
        "--db",
        file.to_str().expect("UTF-8"),
        sample.to_str().expect("UTF-8"),
    ]);
    let shell = shell
        .arg("-batch")
        .arg(&file)
        .arg(".schema")
        .output()
        .expect("it was found");
    assert!(
        shell.status.success(),
        "sqlite3: {}",
        String::from_utf8_lossy(&shell.stderr)
    );
    let shown = String::from_utf8(shell.stdout).expect("UTF-8");
    for object in schema::objects(&database())
        .iter()
        .filter(|object| matches!(object.kind.as_str(), "table" | "view"))
    {
        let schema::Object {
            kind,
            name,
            first_comment,
            ..
        } = object;
        let start = shown.find(&format!("CREATE {} {name} (", kind.to_uppercase()));
        let start = start.unwrap_or_else(|| panic!(".schema does not show {kind} {name}"));
        let comment = first_comment
            .as_deref()
            .unwrap_or_else(|| panic!("{kind} {name} has no comment"));
        let second_line = shown[start..].lines().nth(1).unwrap_or_default();
        assert_eq!(
            second_line.trim(),
            comment,
            ".schema does not show the comment of {kind} {name}"
        );
    }
}

/// A database as the program makes it, in memory.
fn database() -> Database {
    let stop = Stop::default();
    let input =
        Input::new(Box::new(SAMPLE.as_bytes()), Limits::default(), stop.clone()).expect("a sample");
    let format = formats::detect(input.head()).expect("a sample of a known format");
    let options = formats::Options::default();
    let describe = |fingerprint| meta(format, &options, "sample.csv", fingerprint);
    import(
        input,
        format,
        &options,
        &stop,
        describe,
        Database::in_memory,
    )
    .expect("the sample is imported")
    .database
}

/// Runs the program and returns what it prints.
fn profdb(arguments: &[&str]) -> String {
    let mut program = program::command();
    let run = program.args(arguments).output().expect("the program");
    assert!(
        run.status.success(),
        "profdb {}: {}",
        arguments.join(" "),
        String::from_utf8_lossy(&run.stderr)
    );
    String::from_utf8(run.stdout).expect("UTF-8")
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Compares a document with its file, or rewrites the file if that is wanted.
fn compare(name: &str, made: &str) {
    let path = root().join(name);
    let found = fs::read_to_string(&path);
    if found.as_ref().is_ok_and(|found| found == made) {
        return;
    }
    if std::env::var_os(UPDATE).is_some_and(|value| value == "1") {
        fs::write(&path, made).unwrap_or_else(|error| panic!("{name}: {error}"));
        return;
    }
    let what = match found {
        Ok(found) => difference(&found, made),
        Err(error) => error.to_string(),
    };
    panic!("{name} is not current: {what}\n{UPDATE}=1 cargo test --test repo docs::rewrites it");
}

/// The first lines that differ: `-` as committed, `+` as it should be.
fn difference(found: &str, made: &str) -> String {
    let (found, made): (Vec<_>, Vec<_>) = (found.split('\n').collect(), made.split('\n').collect());
    let before = found
        .iter()
        .zip(&made)
        .take_while(|(found, made)| found == made)
        .count();
    let (found, made) = (&found[before..], &made[before..]);
    let behind = found
        .iter()
        .rev()
        .zip(made.iter().rev())
        .take_while(|(found, made)| found == made)
        .count();
    let mut text = format!("from line {}", before + 1);
    for (sign, lines) in [
        ('-', &found[..found.len() - behind]),
        ('+', &made[..made.len() - behind]),
    ] {
        for line in lines.iter().take(SHOWN_LINES) {
            let _ = write!(text, "\n{sign} {line}");
        }
        if lines.len() > SHOWN_LINES {
            let _ = write!(
                text,
                "\n{sign} ... {} more lines",
                lines.len() - SHOWN_LINES
            );
        }
    }
    text
}

#[test]
fn a_difference_is_short_and_names_the_line() {
    assert_eq!(
        difference("a\nb\nc\n", "a\nx\ny\nc\n"),
        "from line 2\n- b\n+ x\n+ y"
    );
    assert_eq!(difference("a\n", "a\nb\n"), "from line 2\n+ b");
}
