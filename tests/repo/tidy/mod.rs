//! Checks rules of ARCHITECTURE.md that the compiler cannot check: dependencies between the parts,
//! registries and their files, the form of SQL and documents. A failure lists the violations.

#![expect(
    clippy::disallowed_methods,
    reason = "reads its own sources, which are small and UTF-8"
)]

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use memchr::memmem;

use profdb::formats::{EXPORTS, FORMATS};
use profdb::report::REPORTS;
use profdb::store::CHECKS;

use self::reading::{Kind, Language, Token, code, headings, inline_code, is_name, tokens};
use crate::files::{Source, at_root, paths, read, sources};

pub(crate) mod reading;

/// Maximum number of lines of a source file without an entry in [`LONG_FILES`]. A longer file often
/// has two jobs.
const LINES: usize = 800;

/// Longer source files, with the reasons for not splitting them.
const LONG_FILES: &[(&str, &str)] = &[];

/// Maximum size of a file in `tests/cases`, in bytes.
const CASE_BYTES: u64 = 64 * 1024;

/// Folders in `tests/cases` that do not belong to a format.
const OTHER_CASES: &[&str] = &["cli", "export", "manual", "reports"];

/// Formats without a folder of recordings, with the origins of their inputs.
const NO_SAMPLES: &[(&str, &str)] = &[
    ("dyalog_csv", "cases are the reports of Dyalog's manuals"),
    ("dyalog_xml", "cases are the reports of Dyalog's manuals"),
];

/// Formats without a section in docs/conformance.md, with the reasons.
const NO_CONFORMANCE: &[(&str, &str)] = &[
    ("business_rules", "no other program reports on the file"),
    ("dyalog_csv", "profdb uses the terms of the manual"),
    ("dyalog_xml", "profdb uses the terms of the manual"),
    ("ghc_json", "GHC's words are ours"),
    ("ghc_prof", "GHC's words are ours"),
    ("ghc_px", "GHC's words are ours"),
    ("lispworks_tree", "no other program reports on the file"),
    ("sampler", "no other program reports on the file"),
];

/// Files with `unsafe` code, with the reasons.
const UNSAFE: &[(&str, &str)] = &[
    (
        "src/memory.rs",
        "an allocator that lets the program end in order, and gives memory back",
    ),
    (
        "src/streams.rs",
        "a section whose functions are called before the runtime begins",
    ),
    ("tests/support/allocation.rs", "an allocator that counts"),
];

/// Headings of the module comment of an importer, in order.
const PAGE: &[&str] = &[
    "What it is",
    "How to record one",
    "What we read",
    "What we leave out",
    "References",
];

/// Headings of the module comment of a writer, in order.
const EXPORT_PAGE: &[&str] = &["What it is", "What is written", "References"];

/// Macros, functions and crates that write to the terminal.
const PRINTING: &[&str] = &[
    "print!",
    "println!",
    "eprint!",
    "eprintln!",
    "std::io::stdout",
    "std::io::stderr",
    "io::stdout",
    "io::stderr",
    "indicatif",
];

/// Keywords of SQL, except those that are also names of columns (`key`, `exclusive`, `rows`).
const KEYWORDS: &str = "
    ADD AFTER ALL ALTER AND AS ASC BEFORE BEGIN BETWEEN BY CASE CAST CHECK CREATE CROSS DELETE DESC DISTINCT DROP
    ELSE END EXCEPT EXISTS FROM GLOB GROUP HAVING IN INDEX INNER INSERT INTERSECT INTO IS JOIN LEFT LIKE LIMIT NOT
    NULL OFFSET ON OR ORDER OVER PARTITION PRIMARY REFERENCES SELECT SET STRICT TABLE THEN TRIGGER UNION UNIQUE
    UPDATE USING VALUES VIEW WHEN WHERE WITH WITHOUT";

// Dependencies

#[test]
fn importers_depend_on_input_and_sink_only() {
    let mut forbidden = vec![
        "rusqlite",
        "std::fs",
        "std::net",
        "std::process",
        "std::thread",
    ];
    forbidden.extend([
        "crate::cli",
        "crate::pipeline",
        "crate::profile",
        "crate::report",
        "crate::store",
    ]);
    forbidden.extend(PRINTING);
    assert_not_named(
        "An importer uses Input and Sink only: no SQL, files, terminal or threads.",
        |path| path.starts_with("src/formats/") && path.ends_with("/read.rs"),
        &forbidden,
    );
}

#[test]
fn base_uses_nothing_above_it() {
    assert_not_named(
        "src/base depends on no other part.",
        |path| path.starts_with("src/base/"),
        &[
            "crate::cli",
            "crate::events",
            "crate::formats",
            "crate::input",
            "crate::pipeline",
            "crate::profile",
            "crate::report",
            "crate::source",
            "crate::store",
            "crate::text",
        ],
    );
}

#[test]
fn sqlite_is_opened_in_a_single_file() {
    let place = "src/store/file/connection.rs";
    let mut opened = Vec::new();
    for source in sources().filter(|source| source.is_in("src/") && source.is_a("rs")) {
        let text = source.text_without_tests();
        let calls = memmem::find_iter(text.as_bytes(), "Connection::open");
        opened.extend(calls.map(|at| format!("{}:{}", source.path, line_at(text, at))));
    }
    assert!(
        opened.iter().any(|at| at.starts_with(place)),
        "{place} does not call Connection::open"
    );
    opened.retain(|at| !at.starts_with(place));
    assert_empty(
        "Only src/store/file/connection.rs opens SQLite, so that all connections have its guards.",
        &opened,
    );
}

#[test]
fn writers_depend_on_profile_and_output_only() {
    let mut forbidden = vec!["std::fs", "std::net", "std::process", "std::thread"];
    forbidden.extend(["crate::cli", "crate::pipeline", "crate::profile"]);
    forbidden.extend(PRINTING);
    assert_not_named(
        "A writer uses a profile and an output only: no files, terminal or importers.",
        |path| path.starts_with("src/formats/") && path.ends_with("/write.rs"),
        &forbidden,
    );
}

/// Names of profilers and their languages, besides the families of formats.
const TOOLS: &[&str] = &[
    "APL",
    "]PROFILE",
    "MAIN",
    "CAF",
    "KCachegrind",
    "LispWorks",
    "Xdebug",
];

/// Families of formats whose names have other meanings, too.
const COMMON_WORDS: &[&str] = &[
    "business_rules",
    "common",
    "dot",
    "export",
    "folded",
    "sampler",
];

/// The only folder of reports that depends on a profiler: titles of columns, and XML.
const PROFILER_FOLDER: &str = "src/report/render/dyalog/";

#[test]
fn store_report_and_sql_do_not_name_formats() {
    let formats = sides("read");
    let families: Vec<String> = entries("src/formats", "")
        .into_iter()
        .filter(|family| !family.contains('.') && !COMMON_WORDS.contains(&family.as_str()))
        .map(|family| family.split('_').next().unwrap_or_default().to_owned())
        .collect();
    assert!(families.iter().any(|family| family == "dyalog"));
    let mut faults = Vec::new();
    for source in sources() {
        let path = source.path.as_str();
        let rust = path.starts_with("src/store/") || path.starts_with("src/report/");
        // A migration names formats where old files lack what they would have stored.
        if (!rust && !source.is_a("sql"))
            || path.starts_with("migrations/")
            || path.starts_with(PROFILER_FOLDER)
        {
            continue;
        }
        let text = source.text_without_tests().to_lowercase();
        let is_in_text = |name: &str| memmem::find(text.as_bytes(), name.as_bytes()).is_some();
        let formats = formats.keys().filter(|name| is_in_text(name));
        let formats: Vec<&str> = formats.map(String::as_str).collect();
        let families = families.iter().filter(|name| is_in_text(name));
        let families: Vec<&str> = families.map(String::as_str).collect();
        let tools = TOOLS
            .iter()
            .filter(|name| is_in_text(&name.to_lowercase()))
            .copied();
        let tools: Vec<&str> = tools.collect();
        if formats.is_empty() && families.is_empty() && tools.is_empty() {
            continue;
        }
        for token in source.tokens_without_tests() {
            let lower = token.text.to_lowercase();
            let mut named: Vec<&str> = Vec::new();
            if token.kind != Kind::Comment {
                let is_named = |format: &&&str| has_word(token.text, format, char::is_alphanumeric);
                named.extend(formats.iter().filter(is_named));
            }
            let is_code = !matches!(token.kind, Kind::Text | Kind::Comment);
            // The renderer names the folder of the exception.
            if !(is_code && path.starts_with("src/report/render/")) {
                let is_named = |family: &&&str| has_word(&lower, family, is_name);
                named.extend(families.iter().filter(is_named));
            }
            let is_named = |tool: &&&str| has_word(token.text, tool, is_name);
            named.extend(tools.iter().filter(is_named));
            faults.extend(
                named
                    .iter()
                    .map(|name| format!("{path}:{}: {name}", token.line)),
            );
        }
    }
    assert_empty(
        "Database and reports do not name a format or a profiler, not even in comments: data of a single format is a \
         metric, a property or a note of the run.",
        &faults,
    );
}

/// The writer that maps names of metrics to the names in its format.
const METRIC_NAME_WRITER: &str = "src/formats/ghc/ghc_px/write.rs";

/// Files that compare the names of metrics, with the reasons: readers of these formats identify metrics by their names.
const NAME_COMPARISONS: &[(&str, &str)] = &[
    (
        "src/formats/common/written.rs",
        "formats without metrics, whose readers interpret figures as samples",
    ),
    (
        "src/formats/dyalog/table.rs",
        "the format has one cost, which is time",
    ),
    (
        "src/formats/firefox/write.rs",
        "samples without weights, which readers count, and the time between samples",
    ),
    (
        METRIC_NAME_WRITER,
        "readers of the format know certain metrics only",
    ),
    (
        "src/formats/speedscope/write.rs",
        "a file without stacks, whose readers interpret figures as samples",
    ),
    (
        "src/report/render/dyalog/xml.rs",
        "reports in the form of `]PROFILE`, which measures certain metrics only",
    ),
];

/// Columns of reports whose JSON names must not change.
const TICK_COLUMNS: &[&str] = &["exclusive_ticks", "cumulative_ticks"];

/// Returns the files of the database, of reports and of writers.
fn database_report_and_writer_sources() -> impl Iterator<Item = &'static Source> {
    let of_all = [
        "src/store/",
        "src/report/",
        "src/formats/export/",
        "queries/",
    ];
    let writes = |path: &str| {
        path.starts_with("src/formats/")
            && ["/write.rs", "/table.rs", "common/written.rs"]
                .iter()
                .any(|end| path.ends_with(end))
    };
    sources().filter(move |source| {
        writes(&source.path) || of_all.iter().any(|folder| source.is_in(folder))
    })
}

/// Returns the names that importers give to metrics.
fn metric_names() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for source in sources().filter(|source| source.is_in("src/formats/") && source.is_a("rs")) {
        let given = source.text.split(".metric(\"").skip(1);
        let given = given.filter_map(|rest| rest.split_once('"'));
        names.extend(given.map(|(name, _)| name.to_owned()));
    }
    names
}

#[test]
fn names_of_metrics_are_compared_in_listed_files_only() {
    let names = metric_names();
    assert!(
        ["time", "samples", "ticks", "alloc"]
            .iter()
            .all(|name| names.contains(*name)),
        "{names:?}"
    );
    let operators = ["==", "!=", "=", "<>"];
    let comparisons: BTreeSet<String> = names
        .iter()
        .flat_map(|name| [format!("\"{name}\""), format!("'{name}'")])
        .flat_map(|name| operators.map(|operator| format!("name {operator} {name}")))
        .collect();
    let (mut faults, mut by_name) = (Vec::new(), BTreeSet::new());
    for source in database_report_and_writer_sources() {
        let path = source.path.as_str();
        let text = source.text_without_tests();
        for at in memmem::find_iter(text.as_bytes(), "name ") {
            let compares = |comparison: &String| text[at..].starts_with(comparison);
            if comparisons.iter().any(compares) {
                by_name.insert(path);
                if !NAME_COMPARISONS.iter().any(|(file, _)| *file == path) {
                    faults.push(format!("{path}:{}", line_at(text, at)));
                }
            }
        }
    }
    let unused = NAME_COMPARISONS
        .iter()
        .filter(|(file, _)| !by_name.contains(file));
    faults.extend(unused.map(|(file, _)| format!("{file}: does not compare the name of a metric")));
    assert_empty(
        "The importer states the meaning of a metric; its name does not. NAME_COMPARISONS lists the exceptions with reasons.",
        &faults,
    );
}

#[test]
fn metric_name_ticks_has_no_meaning() {
    let mut faults = Vec::new();
    for source in
        database_report_and_writer_sources().filter(|source| source.path != METRIC_NAME_WRITER)
    {
        let path = source.path.as_str();
        let ticks = |token: &&Token<'_>| memmem::find(token.text.as_bytes(), b"ticks").is_some();
        for token in source.tokens_without_tests().iter().filter(ticks) {
            let is_name =
                token.kind == Kind::Text && token.text.trim_matches(['"', '\'']) == "ticks";
            let is_word = !path.starts_with("src/formats/")
                && !path.starts_with(PROFILER_FOLDER)
                && !matches!(token.kind, Kind::Text | Kind::Comment)
                && token.text.split('_').any(|word| word == "ticks")
                && !TICK_COLUMNS.contains(&token.text);
            if is_name || is_word {
                faults.push(format!("{path}:{}: {}", token.line, token.text));
            }
        }
    }
    assert_empty(
        "The importer states the meaning of a metric (metrics.timer_readings): other formats have ticks, too.",
        &faults,
    );
}

#[test]
fn events_and_profile_use_neither_io_nor_sql() {
    const RULE: &str = "Events and the builder are pure: no I/O and no SQL.";
    let pure = |path: &str| path.starts_with("src/events/") || path.starts_with("src/profile/");
    assert_not_named(
        RULE,
        pure,
        &[
            "std::fs",
            "std::io",
            "std::net",
            "rusqlite",
            "crate::input",
            "crate::store",
        ],
    );
    let statements = [
        "SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "FROM", "WHERE", "JOIN", "PRAGMA",
    ];
    let mut faults = Vec::new();
    for source in sources().filter(|source| pure(&source.path)) {
        let is_text = |token: &&Token<'_>| token.kind == Kind::Text;
        for token in source.tokens().iter().filter(is_text) {
            let named = statements
                .iter()
                .filter(|word| has_word(token.text, word, is_name));
            faults.extend(named.map(|word| format!("{}:{}: {word}", source.path, token.line)));
        }
    }
    assert_empty(RULE, &faults);
}

#[test]
fn only_cli_prints() {
    assert_not_named(
        "Only src/cli and src/main.rs print: return a value, an error or a note.",
        // The allocator has no other way to report that memory is exhausted.
        |path| !path.starts_with("src/cli/") && !["src/main.rs", "src/memory.rs"].contains(&path),
        PRINTING,
    );
}

#[test]
fn only_main_exits() {
    assert_not_named(
        "Only src/main.rs ends the program and uses exit codes: return an error that it can map.",
        // The allocator cannot return an error to it.
        |path| !["src/main.rs", "src/memory.rs"].contains(&path),
        &[
            "std::process::exit",
            "std::process::abort",
            "process::exit",
            "std::process::ExitCode",
            "ExitCode",
        ],
    );
}

#[test]
fn only_store_and_report_use_sqlite() {
    assert_not_named(
        "Only src/store and src/report use rusqlite: add a method there.",
        |path| !path.starts_with("src/store/") && !path.starts_with("src/report/"),
        &["rusqlite", "libsqlite3_sys"],
    );
    assert_not_named(
        "Only src/store uses profdb_sqlite_pages: add a method there.",
        |path| !path.starts_with("src/store/"),
        &["profdb_sqlite_pages"],
    );
}

#[test]
fn only_cli_and_store_read_environment_and_clock() {
    assert_not_named(
        "Equal input gives equal output: only src/main.rs, src/cli and src/store read environment and clock.",
        |path| {
            !["src/main.rs", "src/cli/", "src/store/"]
                .iter()
                .any(|start| path.starts_with(start))
        },
        &[
            "std::env",
            "std::time::SystemTime",
            "std::time::Instant",
            "SystemTime",
            "Instant",
            "chrono",
            "jiff",
            "time::OffsetDateTime",
        ],
    );
}

#[test]
fn unsafe_code_is_in_listed_files_only() {
    let is_unsafe = |source: &&'static Source| {
        memmem::find(source.text.as_bytes(), b"unsafe").is_some()
            && source.tokens().iter().any(|token| token.text == "unsafe")
    };
    let files = sources()
        .filter(|source| source.is_a("rs"))
        .filter(is_unsafe)
        .map(|source| source.path.clone())
        .collect();
    let listed = UNSAFE.iter().map(|(path, _)| (*path).to_owned()).collect();
    assert_equal_sets(
        "files with `unsafe`",
        &files,
        "UNSAFE (tests/repo/tidy/mod.rs)",
        &listed,
    );
}

// Registries and files

#[test]
fn every_importer_is_registered() {
    let registered: BTreeSet<String> = FORMATS
        .iter()
        .map(|format| format.name.to_owned())
        .collect();
    assert_equal_sets(
        "src/formats/**/read.rs",
        &sides("read").into_keys().collect(),
        "FORMATS (src/formats/registry.rs)",
        &registered,
    );
    assert_eq!(
        FORMATS.len(),
        registered.len(),
        "two formats in FORMATS have the same name"
    );
    // The sets of names are equal even if two formats have swapped their names.
    let mut faults = Vec::new();
    for (name, path) in sides("read") {
        let quoted = format!("\"{name}\"");
        let text = read(&path);
        if !tokens(&text, Language::Rust).windows(3).any(|three| {
            three
                .iter()
                .zip(["name", ":", &quoted])
                .all(|(token, expected)| token.text == expected)
        }) {
            faults.push(format!("{path}: FORMAT.name is not {quoted}"));
        }
    }
    assert_empty("The name of a format is that of its folder.", &faults);
}

#[test]
fn options_of_the_same_name_are_equal() {
    let mut known = BTreeMap::new();
    let mut faults = Vec::new();
    for format in FORMATS {
        for option in format.options {
            let (first, same) = *known.entry(option.name).or_insert((format.name, option));
            if same != option {
                faults.push(format!(
                    "--{}: {first} and {} differ",
                    option.name, format.name
                ));
            }
        }
    }
    assert_empty(
        "Options of the same name are equal in all formats: share the constant.",
        &faults,
    );
}

#[test]
fn every_format_has_cases() {
    let mut folders = entries("tests/cases", "");
    for other in OTHER_CASES {
        folders.remove(*other);
    }
    assert_equal_sets(
        "src/formats/**/read.rs",
        &sides("read").into_keys().collect(),
        "tests/cases/*/",
        &folders,
    );
}

#[test]
fn every_format_is_compared_and_announced() {
    let (changelog, conformance) = (read("CHANGELOG.md"), read("docs/conformance.md"));
    let released: BTreeSet<&str> = inline_code(&changelog)
        .into_iter()
        .map(|(_, name)| name)
        .collect();
    let sections: Vec<&str> = conformance
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .collect();
    let figures: Vec<&Source> = sources()
        .filter(|source| source.is_in("tests/figures/"))
        .collect();
    let mut faults = Vec::new();
    for name in FORMATS.iter().map(|format| format.name) {
        let excused = |list: &[(&str, &str)]| list.iter().any(|(excused, _)| *excused == name);
        if !released.contains(name) {
            faults.push(format!("CHANGELOG.md: `{name}` is not mentioned"));
        }
        let readme = format!("tests/samples/{name}/README.md");
        if at_root(&readme).exists() == excused(NO_SAMPLES) {
            faults.push(format!(
                "{readme}: describe how the recordings were made, or add a line to NO_SAMPLES"
            ));
        }
        let imports = [format!("\"{name}\""), format!("\"{name}/")];
        let is_imported = |source: &&Source| {
            let text = source.text.as_bytes();
            imports
                .iter()
                .any(|start| memmem::find(text, start.as_bytes()).is_some())
        };
        if !figures.iter().any(is_imported) {
            faults.push(format!(
                "tests/figures/{name}.rs: expected a comparison of the figures of {name}"
            ));
        }
        let is_section = |title: &&str| title.split([',', ':']).any(|part| part.trim() == name);
        if sections.iter().any(is_section) == excused(NO_CONFORMANCE) {
            faults.push(format!(
                "docs/conformance.md: add a section `## {name}`, or a line to NO_CONFORMANCE"
            ));
        }
    }
    assert_empty(
        "A format has recordings, a comparison with other programs, and an entry in the changelog (ARCHITECTURE.md, \"How to add\").",
        &faults,
    );
}

/// A program that a test starts elsewhere may be missing, and profdb would use the database that
/// `PROFDB_DB` names.
#[test]
fn tests_start_programs_in_one_place() {
    const PLACE: &str = "tests/support/program.rs";
    let forms = [
        concat!("Command", "::new"),
        concat!("Command", ">::new"),
        concat!("Command", "as"),
        concat!("=std::process::", "Command"),
        concat!("CARGO_BIN_EXE_", "profdb"),
    ];
    assert!(read(PLACE).contains("\"PROFDB_DB\""));
    let mut faults = Vec::new();
    let tests = sources().filter(|source| source.is_in("tests/") && source.path != PLACE);
    for Source { path, text, .. } in tests {
        for (line, text) in (1..).zip(text.lines()) {
            let packed = text.replace(' ', "");
            if forms.iter().any(|form| packed.contains(form)) {
                faults.push(format!("{path}:{line}: {}", text.trim()));
            }
        }
    }
    assert_empty(
        &format!("Tests start profdb by {PLACE} and other programs by tests/support/tools.rs."),
        &faults,
    );
}

/// Returns what stands between a text and a quote, wherever the text occurs.
fn quoted<'a>(text: &'a str, before: &str) -> impl Iterator<Item = &'a str> {
    let rests = text.split(before).skip(1).collect::<Vec<_>>();
    rests.into_iter().filter_map(|rest| rest.split('"').next())
}

#[test]
fn providers_list_the_programs_that_tests_require() {
    const TOOLS: &str = "tests/support/tools.rs";
    let tools = read(TOOLS);
    let (_, list) = tools.split_once("const PROVIDERS").expect("the list");
    let (list, _) = list.split_once("];").expect("its end");
    let listed: BTreeSet<&str> = quoted(list, "    (\"").collect();
    let mut required = BTreeSet::new();
    for call in [concat!("require", "(\""), concat!("command", "(\"")] {
        required.extend(quoted(&tools, call).map(str::to_owned));
    }
    for Source { path, text, .. } in sources() {
        if path.starts_with("tests/cases/") {
            // Programs of cases.
            let commands = text.lines().filter_map(|line| line.strip_prefix("$ "));
            required.extend(commands.filter_map(|line| Some(line.split(' ').next()?.to_owned())));
        } else if path.starts_with("tests/") {
            for call in [
                concat!("tools::", "require(\""),
                concat!("tools::", "command(\""),
            ] {
                required.extend(quoted(text, call).map(str::to_owned));
            }
        } else if path.starts_with("docs/") {
            for needs in text
                .lines()
                .filter_map(|line| line.strip_prefix("<!-- run: needs "))
            {
                let needs = needs.trim_end_matches(" -->").split(';').next();
                required.extend(needs.unwrap_or_default().split(", ").map(str::to_owned));
            }
        }
    }
    // The first is the tested program, the second is a package of Ruby.
    for other in ["profdb", "stackprof"] {
        assert!(required.remove(other), "{other}");
    }
    let required: BTreeSet<&str> = required.iter().map(String::as_str).collect();
    let unlisted = required
        .difference(&listed)
        .map(|name| format!("{name}: not listed"));
    let unused = listed
        .difference(&required)
        .map(|name| format!("{name}: not used"));
    assert_empty(
        &format!("PROVIDERS of {TOOLS} has the programs that tests require."),
        &unlisted.chain(unused).collect::<Vec<_>>(),
    );
}

/// Cargo ignores the files that `main.rs` does not name.
#[test]
fn every_file_of_tests_is_compiled() {
    let mut faults = Vec::new();
    for program in ["behaviour", "figures", "library", "properties", "repo"] {
        let main = read(&format!("tests/{program}/main.rs"));
        for file in entries(&format!("tests/{program}"), ".rs") {
            if file != "main" && !main.contains(&format!("mod {file};\n")) {
                faults.push(format!("tests/{program}/main.rs: no `mod {file};`"));
            }
        }
    }
    assert_empty("Every file of a test program is part of it.", &faults);
}

#[test]
fn every_importer_has_the_same_order() {
    let mut faults = Vec::new();
    for path in sides("read").into_values() {
        let text = read(&path);
        let headings = headings(&text);
        if headings != PAGE {
            faults.push(format!(
                "{path}: the headings are {headings:?}, expected {PAGE:?}"
            ));
        }
        let place = |start: &str| text.lines().position(|line| line.starts_with(start));
        let places = [
            "//! ",
            "pub(in crate::formats) const FORMAT",
            "fn sniff(",
            "fn import(",
        ]
        .map(place);
        if places.contains(&None) || !places.is_sorted() {
            faults.push(format!(
                "{path}: expected module comment, `const FORMAT`, `fn sniff`, `fn import` in this order"
            ));
        }
    }
    assert_empty(
        "An importer begins with its module comment (it becomes docs/formats.md), FORMAT, sniff and import.",
        &faults,
    );
}

#[test]
fn every_writer_is_registered() {
    let registered: BTreeSet<String> = EXPORTS
        .iter()
        .map(|export| export.name.to_owned())
        .collect();
    let files = sides("write").into_keys().collect();
    assert_equal_sets(
        "src/formats/**/write.rs",
        &files,
        "EXPORTS (src/formats/registry.rs)",
        &registered,
    );
    assert_equal_sets(
        "src/formats/**/write.rs",
        &files,
        "tests/cases/export/*.md",
        &entries("tests/cases/export", ".md"),
    );
    assert_eq!(
        EXPORTS.len(),
        registered.len(),
        "two formats in EXPORTS have the same name"
    );
    let mut faults = Vec::new();
    for (name, path) in sides("write") {
        let text = read(&path);
        let headings = headings(&text);
        if headings != EXPORT_PAGE {
            faults.push(format!(
                "{path}: the headings are {headings:?}, expected {EXPORT_PAGE:?}"
            ));
        }
        let place = |start: &str| text.lines().position(|line| line.starts_with(start));
        let places = ["//! ", "pub(in crate::formats) const EXPORT", "fn write("].map(place);
        if places.contains(&None) || !places.is_sorted() {
            faults.push(format!(
                "{path}: expected module comment, `const EXPORT` and `fn write` in this order"
            ));
        }
        if !text.contains(&format!("    name: \"{name}\",\n")) {
            faults.push(format!("{path}: EXPORT.name is not {name}"));
        }
    }
    assert_empty(
        "A writer begins with its module comment (it becomes docs/export.md), EXPORT with the name of the folder, and write.",
        &faults,
    );
}

/// Readers of loss reports depend on the names.
#[test]
fn losses_of_the_same_name_are_equal() {
    let mut known = BTreeMap::new();
    let mut faults = Vec::new();
    for export in EXPORTS {
        let mut own = BTreeSet::new();
        for loss in export.losses {
            let (first, same) = *known.entry(loss.name).or_insert((export.name, loss));
            if same != loss || !own.insert(loss.name) {
                faults.push(format!("{}: {first} and {} differ", loss.name, export.name));
            }
        }
    }
    assert_empty(
        "Losses of the same name are equal in all writers: share the constant.",
        &faults,
    );
}

#[test]
fn checks_are_registered() {
    let registered: BTreeMap<&str, &str> = CHECKS.iter().copied().collect();
    let names = registered.keys().map(|name| (*name).to_owned()).collect();
    assert_equal_sets(
        "queries/checks/*.sql",
        &entries("queries/checks", ".sql"),
        "CHECKS (src/store/check.rs)",
        &names,
    );
    for (name, sql) in registered {
        let path = format!("queries/checks/{name}.sql");
        assert_eq!(sql, read(&path), "{path} is not what CHECKS calls `{name}`");
    }
}

#[test]
fn views_are_registered() {
    let views = entries("queries/views", ".sql");
    assert_equal_sets(
        "queries/views/*.sql",
        &views,
        "VIEWS (src/store/schema/views.rs)",
        &included_queries("views", "src/store/"),
    );
    for view in views {
        let path = format!("queries/views/{view}.sql");
        let start = format!("CREATE VIEW {view} (\n");
        assert!(
            read(&path).starts_with(&start),
            "{path} does not start with `{}`",
            start.trim_end()
        );
    }
}

#[test]
fn reports_are_registered() {
    let named = included_queries("reports", "src/report/");
    assert_equal_sets(
        "queries/reports/*.sql",
        &entries("queries/reports", ".sql"),
        "REPORTS (src/report)",
        &named,
    );
}

#[test]
fn migrations_are_numbered_and_registered() {
    let files: Vec<String> = entries("migrations", ".sql").into_iter().collect();
    for (number, file) in (1..).zip(&files) {
        let expected = format!("{number:04}_");
        assert!(
            file.starts_with(&expected),
            "migrations/{file}.sql: expected a name that starts with {expected}"
        );
    }
    let store = read("src/store/schema/definition.rs");
    let in_order: Vec<&str> = tokens(&store, Language::Rust)
        .iter()
        .filter(|token| token.kind == Kind::Text)
        .filter_map(|token| {
            token
                .content()
                .strip_prefix("../../../migrations/")?
                .strip_suffix(".sql")
        })
        .collect();
    assert_eq!(
        in_order, files,
        "SCHEMA (src/store/schema/definition.rs) and migrations/*.sql differ; number = position"
    );
}

// SQL

#[test]
fn sql_keywords_are_upper_case() {
    let mut faults = Vec::new();
    let keywords: BTreeSet<&str> = KEYWORDS.split_whitespace().collect();
    for source in sources().filter(|source| source.is_a("sql")) {
        let path = &source.path;
        let tokens = code(source.tokens());
        for (at, token) in tokens.iter().enumerate() {
            let parameter = at > 0 && tokens[at - 1].text == ":";
            let upper = token.text.to_ascii_uppercase();
            if !parameter && upper != token.text && keywords.contains(upper.as_str()) {
                faults.push(format!("{path}:{}: {}", token.line, token.text));
            }
        }
    }
    assert_empty("SQL keywords are upper case.", &faults);
}

#[test]
fn sql_does_not_select_all_columns() {
    let mut faults = Vec::new();
    for source in sources() {
        let path = &source.path;
        if source.is_a("sql") {
            let lines = lines_with_stars(source.tokens());
            faults.extend(lines.iter().map(|line| format!("{path}:{line}")));
        } else if source.is_in("src/") {
            for token in source.tokens() {
                let may_have_star = token.kind == Kind::Text
                    && memchr::memchr(b'*', token.text.as_bytes()).is_some();
                if may_have_star {
                    let lines = lines_with_stars(&tokens(token.content(), Language::Sql));
                    let lines = lines.iter().map(|line| token.line + line - 1);
                    faults.extend(lines.map(|line| format!("{path}:{line}")));
                }
            }
        }
    }
    assert_empty(
        "No SELECT *: a new column must not change a result.",
        &faults,
    );
}

#[test]
fn reports_and_checks_are_a_single_ordered_select() {
    let mut faults = Vec::new();
    for source in sources() {
        let Source { path, text, .. } = source;
        if !path.starts_with("queries/reports/") && !path.starts_with("queries/checks/") {
            continue;
        }
        if !text.starts_with("-- ") {
            faults.push(format!(
                "{path}:1: expected a comment that states the result"
            ));
        }
        let code = code(source.tokens());
        if !code
            .first()
            .is_some_and(|first| matches!(first.text, "SELECT" | "WITH"))
        {
            faults.push(format!("{path}: expected a SELECT"));
        }
        let (mut depth, mut ordered) = (0, false);
        let mut end = None;
        for two in code.windows(2) {
            match two[0].text {
                "(" => depth += 1,
                ")" => depth -= 1,
                // The ORDER BY of a compound SELECT follows its last part.
                "SELECT" if depth == 0 => ordered = false,
                "ORDER" if depth == 0 && two[1].text == "BY" => ordered = true,
                ";" => end = end.or(Some(two[1].line)),
                _ => {}
            }
        }
        if !ordered {
            faults.push(format!("{path}: expected ORDER BY at the end"));
        }
        if let Some(line) = end {
            faults.push(format!("{path}:{line}: a second statement"));
        }
    }
    assert_empty(
        "A report or check is a single SELECT with a comment above it and a total order.",
        &faults,
    );
}

#[test]
fn sql_comments_are_stored_in_the_schema() {
    let mut faults = Vec::new();
    for source in sources() {
        let path = &source.path;
        if !path.starts_with("migrations/") && !path.starts_with("queries/views/") {
            continue;
        }
        let tokens = source.tokens();
        let (mut statement, mut trigger) = (Vec::new(), false);
        for (at, token) in tokens.iter().enumerate() {
            let comment_follows = tokens
                .get(at + 1)
                .is_some_and(|next| next.kind == Kind::Comment);
            let first = |word: &str| statement.first().is_some_and(|first| *first == word);
            match token.text {
                _ if token.kind == Kind::Comment => {
                    if statement.is_empty() {
                        faults.push(format!(
                            "{path}:{}: SQLite does not store a comment outside a statement",
                            token.line
                        ));
                    }
                    continue;
                }
                "(" if statement.len() == 3
                    && matches!(statement[1], "TABLE" | "VIEW")
                    && !comment_follows =>
                {
                    faults.push(format!(
                        "{path}:{}: expected a comment about {}",
                        token.line, statement[2]
                    ));
                }
                "BEGIN" if first("CREATE") && statement[1] == "TRIGGER" => {
                    trigger = true;
                    if !comment_follows {
                        faults.push(format!(
                            "{path}:{}: expected a comment about {}",
                            token.line, statement[2]
                        ));
                    }
                }
                "AS" if first("CREATE") && statement.len() == 3 => {
                    faults.push(format!(
                        "{path}:{}: {} does not declare its columns",
                        token.line, statement[2]
                    ));
                }
                ";" if !trigger || statement.ends_with(&[";", "END"]) => {
                    statement.clear();
                    trigger = false;
                    continue;
                }
                _ => {}
            }
            statement.push(token.text);
        }
    }
    assert_empty(
        "Comments are inside the parentheses of CREATE, where `.schema` shows them.",
        &faults,
    );
}

// Files

#[test]
fn source_files_are_short() {
    let mut faults = Vec::new();
    for Source { path, text, .. } in sources().filter(|source| source.is_in("src/")) {
        let lines = memchr::memchr_iter(b'\n', text.as_bytes()).count();
        match LONG_FILES.iter().find(|(long, _)| long == path) {
            None if lines > LINES => faults.push(format!("{path}: {lines} lines")),
            Some(_) if lines <= LINES => faults.push(format!(
                "{path}: {lines} lines, which needs no entry in LONG_FILES"
            )),
            _ => {}
        }
    }
    assert_empty(
        &format!(
            "A source file has at most {LINES} lines, or a reason in LONG_FILES (tests/repo/tidy/mod.rs)."
        ),
        &faults,
    );
}

#[test]
fn source_files_begin_with_a_module_comment() {
    let is_silent = |source: &&Source| {
        source.is_in("src/") && source.is_a("rs") && !source.text.starts_with("//! ")
    };
    let paths = sources()
        .filter(is_silent)
        .map(|source| source.path.clone());
    assert_empty(
        "A source file begins with a comment that states its purpose.",
        &paths.collect::<Vec<_>>(),
    );
}

#[test]
fn page_scripts_neither_insert_html_nor_send_data() {
    let ways = [
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "DOMParser",
        "createContextualFragment",
        "setHTML",
        "srcdoc",
        "eval(",
        "new Function",
        "fetch(",
        "XMLHttpRequest",
        "sendBeacon",
    ];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("web");
    let mut faults = Vec::new();
    for file in fs::read_dir(folder).expect("the sources of the page") {
        let path = file.expect("a file").path();
        // tests/repo/supply.rs checks the hashes of `web/vendor`.
        if path.is_dir() {
            continue;
        }
        let text = fs::read_to_string(&path).expect("text");
        // A page that a server has sent may send requests to that server.
        let text = if path.ends_with("served.js") {
            text.replace("await fetch(`api/", "")
        } else {
            text
        };
        let used = ways.iter().filter(|way| text.contains(**way));
        faults.extend(used.map(|way| format!("{}: {way}", path.display())));
    }
    faults.sort();
    assert_empty(
        "Names are untrusted input: they enter a page by `textContent`, and the page sends no data.",
        &faults,
    );
}

#[test]
fn files_have_no_marks_of_open_work() {
    // Each mark is split, so that this file does not contain it.
    let marks = [
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("XX", "X"),
        concat!("HA", "CK"),
    ];
    let faults = lines_with(&marks.map(str::to_owned), |line| {
        marks.iter().any(|mark| has_word(line, mark, is_name))
    });
    assert_empty(
        "Open work is an issue, and limits are documented: no marks in the files.",
        &faults,
    );
}

#[test]
fn files_do_not_depend_on_a_machine() {
    let folders = ["work", "root", "home", "farm"];
    let beside = concat!("shared", "/");
    // A build that needs a host of a registry does not work with a mirror.
    let hosts = [
        concat!("index.", "crates.io"),
        concat!("static.", "crates.io"),
        concat!("sparse", "+http"),
        concat!("pypi", ".org/simple"),
        concat!("registry.", "npmjs.org"),
        concat!("proxy.", "golang.org"),
        concat!("deb.", "debian.org"),
    ];
    let mut words: Vec<String> = folders.map(|folder| format!("/{folder}")).into();
    words.extend(hosts.iter().copied().chain([beside]).map(str::to_owned));
    let faults = lines_with(&words, |line| {
        folders.iter().any(|folder| has_absolute(line, folder))
            || hosts.iter().any(|host| line.contains(host))
            || line
                .match_indices(beside)
                .any(|(at, _)| !line[..at].ends_with(is_name))
    });
    assert_empty(
        "Paths are relative to the checkout, and packages come from the configured registry.",
        &faults,
    );

    let foreign: Vec<String> = (1..)
        .zip(read("Cargo.lock").lines())
        .filter(|(_, line)| line.starts_with("source = "))
        .filter(|(_, line)| {
            *line != "source = \"registry+https://github.com/rust-lang/crates.io-index\""
        })
        .map(|(number, line)| format!("Cargo.lock:{number}: {line}"))
        .collect();
    assert_empty("All dependencies come from crates.io.", &foreign);
}

#[test]
fn cases_are_small() {
    let faults: Vec<String> = paths()
        .iter()
        .filter(|path| path.starts_with("tests/cases/"))
        .map(|path| {
            (
                path,
                fs::metadata(at_root(path)).map_or(0, |file| file.len()),
            )
        })
        .filter(|(_, bytes)| *bytes > CASE_BYTES)
        .map(|(path, bytes)| format!("{path}: {bytes} bytes"))
        .collect();
    assert_empty(
        &format!("An input is the smallest that shows the behavior: at most {CASE_BYTES} bytes."),
        &faults,
    );
}

// Documents

#[test]
fn documents_name_existing_files() {
    let mut faults = Vec::new();
    for Source { path, text, .. } in sources().filter(|source| source.is_a("md")) {
        // A changelog names former files; a case quotes the paths of the profiled program.
        if path == "CHANGELOG.md" || path.starts_with("tests/cases/") {
            continue;
        }
        let missing = inline_code(text)
            .into_iter()
            .filter(|(_, name)| is_our_path(name) && !path_exists(name, path));
        faults.extend(missing.map(|(line, name)| format!("{path}:{line}: {name}")));
    }
    assert_empty(
        "Every path that a document names in backticks exists.",
        &faults,
    );
}

#[test]
fn readme_names_all_formats_and_reports() {
    let readme = read("README.md");
    let named: BTreeSet<&str> = inline_code(&readme)
        .into_iter()
        .map(|(_, name)| name)
        .collect();
    let formats = FORMATS.iter().map(|format| format.name);
    let reports = REPORTS.iter().map(|report| report.name);
    let missing = formats
        .chain(reports)
        .filter(|name| !named.contains(name))
        .map(str::to_owned);
    assert_empty(
        "README.md names every format and report in backticks.",
        &missing.collect::<Vec<_>>(),
    );
    let number = format!("{} formats", FORMATS.len());
    assert!(readme.contains(&number), "README.md: expected {number}");
}

/// The table of README.md begins with the most common languages, and has a row for each recipe.
#[test]
fn readme_lists_common_languages_first() {
    let readme = read("README.md");
    let section = "\n## Record a profile\n";
    let (_, table) = readme.split_once(section).expect("the table of languages");
    let table = table.split("\n## ").next().unwrap_or_default();
    let linked: Vec<&str> = table
        .match_indices("](docs/recipes/")
        .map(|(at, link)| {
            let rest = &table[at + link.len()..];
            rest.split(".md").next().unwrap_or_default()
        })
        .collect();
    assert_eq!(linked[..5], ["python", "go", "cpp", "rust", "node"]);
    let first = |page: &str| linked.iter().position(|known| *known == page);
    assert!(first("dyalog") > Some(4) && first("lispworks") > Some(4));
    let missing: Vec<String> = sources()
        .filter_map(|source| {
            let page = source.path.strip_prefix("docs/recipes/")?;
            Some(page.strip_suffix(".md")?.to_owned())
        })
        // GHC 7 is obsolete: its recipe is only for existing files.
        .filter(|page| page != "ghc-old" && !linked.contains(&page.as_str()))
        .collect();
    assert_empty("Every recipe has a row in README.md.", &missing);
}

/// A function gets another id if a line is added above it. Statements that join runs by ids lose such functions, so documents
/// join by names or identities.
#[test]
fn documents_do_not_join_runs_by_function_ids() {
    let mut faults = Vec::new();
    let documents = sources().filter(|source| {
        source.path == "README.md" || (source.is_in("docs/") && source.is_a("md"))
    });
    for Source { path, text, .. } in documents {
        for statement in text.split("```").skip(1).step_by(2) {
            let is_join = statement.contains("JOIN");
            let by_number = statement.contains("USING (function_id")
                || statement.contains(".function_id = ")
                || statement.contains(", function_id)");
            if is_join && by_number {
                faults.push(format!("{path}: {statement}"));
            }
        }
    }
    assert_empty(
        "No statement of a document joins runs by function_id.",
        &faults,
    );
}

#[test]
fn clippy_configuration_names_existing_symbols() {
    let rust: Vec<&Source> = sources()
        .filter(|source| source.is_in("src/") && source.is_a("rs"))
        .collect();
    let is_known = |name: &str| {
        rust.iter()
            .any(|source| has_word(&source.text, name, is_name))
    };
    let mut faults = Vec::new();
    for (number, line) in (1..).zip(read("clippy.toml").lines()) {
        for word in line.split(|letter: char| !(is_name(letter) || "/.:".contains(letter))) {
            let word = word.trim_end_matches([':', '.', ',']);
            let is_missing = match word.split("::").collect::<Vec<_>>()[..] {
                [path] => path.starts_with("src/") && !at_root(path).exists(),
                ["std", ..] | [] => false,
                [.., name] => !is_known(name),
            };
            if is_missing {
                faults.push(format!("clippy.toml:{number}: {word}"));
            }
        }
    }
    assert_empty(
        "Every file and symbol that clippy.toml names exists.",
        &faults,
    );
}

#[test]
fn architecture_names_existing_symbols() {
    const RULE: &str = "Every `module::symbol` that ARCHITECTURE.md names exists in that module.";
    assert!(
        at_root("ARCHITECTURE.md").exists(),
        "ARCHITECTURE.md is missing"
    );
    let rust: Vec<&'static Source> = sources().filter(|source| source.is_in("src/")).collect();
    let mut faults = Vec::new();
    for (line, name) in inline_code(&read("ARCHITECTURE.md")) {
        let symbol = name
            .trim_end_matches("()")
            .trim_start_matches("crate::")
            .trim_start_matches("profdb::");
        let segments: Vec<&str> = symbol.split("::").collect();
        let is_symbol = segments.len() > 1
            && segments
                .iter()
                .all(|part| !part.is_empty() && part.chars().all(is_name));
        if !is_symbol || segments[0] == "std" {
            continue;
        }
        // If the first segment is a module, its files must contain the others.
        let is_in_module = |source: &&'static Source| {
            let mut parts = source.path.trim_end_matches(".rs").split('/');
            parts.any(|part| part == segments[0])
        };
        let module: Vec<&'static Source> = rust.iter().copied().filter(is_in_module).collect();
        let (files, wanted) = if module.is_empty() {
            (&rust, &segments[..])
        } else {
            (&module, &segments[1..])
        };
        let known = |word: &str| {
            let is_word = |token: &Token<'_>| token.kind == Kind::Word && token.text == word;
            files
                .iter()
                .any(|source| source.tokens().iter().any(is_word))
        };
        if !wanted.iter().all(|word| known(word)) {
            faults.push(format!("ARCHITECTURE.md:{line}: {name}"));
        }
    }
    assert_empty(RULE, &faults);
}

// Assertions

/// Fails with the rule and its violations, if there are any.
#[track_caller]
pub(crate) fn assert_empty(rule: &str, faults: &[String]) {
    assert!(faults.is_empty(), "{rule}\n\n  {}\n", faults.join("\n  "));
}

/// Fails if two sets of names differ.
#[track_caller]
fn assert_equal_sets(left: &str, lefts: &BTreeSet<String>, right: &str, rights: &BTreeSet<String>) {
    let only = |set: &BTreeSet<String>, other: &BTreeSet<String>| {
        set.difference(other).cloned().collect::<Vec<_>>()
    };
    assert!(
        lefts == rights,
        "{left} and {right} differ\n\n  only the first has {:?}\n  only the second has {:?}\n",
        only(lefts, rights),
        only(rights, lefts)
    );
}

/// Fails if a selected file of `src/` names a forbidden module, function or macro.
#[track_caller]
fn assert_not_named(rule: &str, this_side: impl Fn(&str) -> bool, forbidden: &[&str]) {
    let mut faults = Vec::new();
    let this_side = |source: &&'static Source| source.is_in("src/") && this_side(&source.path);
    for source in sources().filter(this_side) {
        for (line, name) in source.names() {
            let below = |other: &&&str| {
                name.strip_prefix(**other)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
            };
            if forbidden.iter().any(|other| below(&other)) {
                faults.push(format!("{}:{line}: {name}", source.path));
            }
        }
    }
    assert_empty(rule, &faults);
}

/// Returns the lines with one of the words that the predicate selects, in all text files except the inputs of cases.
fn lines_with(words: &[String], is_selected: impl Fn(&str) -> bool) -> Vec<String> {
    let mut lines = Vec::new();
    for Source { path, text, .. } in sources() {
        let text = match path.strip_prefix("tests/cases/") {
            // Files of a case's own folder are inputs.
            Some(name) if name.matches('/').count() != 1 => continue,
            Some(_) => Cow::Owned(without_inputs(text)),
            None => Cow::Borrowed(text.as_str()),
        };
        let text = text.as_ref();
        let mut selected = BTreeSet::new();
        for word in words {
            for at in memmem::find_iter(text.as_bytes(), word) {
                let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
                let line = text[start..].lines().next().unwrap_or_default();
                if is_selected(line) {
                    selected.insert((line_at(text, at), line));
                }
            }
        }
        let selected = selected.iter();
        lines.extend(selected.map(|(number, line)| format!("{path}:{number}: {}", line.trim())));
    }
    lines
}

/// Returns the number of the line at a byte offset.
fn line_at(text: &str, at: usize) -> usize {
    1 + memchr::memchr_iter(b'\n', &text.as_bytes()[..at]).count()
}

/// Returns the text of a case with empty lines instead of its inputs, which are blocks `text`.
fn without_inputs(text: &str) -> String {
    let mut fence = None;
    let kept = text.lines().map(|line| {
        if fence.is_none() {
            fence = line
                .strip_suffix("text")
                .filter(|fence| fence.starts_with("```"));
            line
        } else {
            fence = fence.filter(|fence| line != *fence);
            ""
        }
    });
    kept.flat_map(|line| [line, "\n"]).collect()
}

/// Returns whether the text contains the word without a letter (by `is_part`) before or after it.
fn has_word(text: &str, word: &str, is_part: fn(char) -> bool) -> bool {
    memmem::find_iter(text.as_bytes(), word)
        .any(|at| !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part))
}

/// Returns whether the text contains a top-level folder of the file system. A closing tag (`</root>`) is not a folder.
fn has_absolute(text: &str, folder: &str) -> bool {
    let name = format!("/{folder}");
    text.match_indices(&name).any(|(at, _)| {
        let before = &text[..at];
        let inside = before.ends_with(|letter| is_name(letter) || "./-<>)}*~".contains(letter));
        (!inside || before.ends_with("file://")) && !text[at + name.len()..].starts_with(is_name)
    })
}

/// Returns the paths of all importers (`read`) or writers (`write`) by the names of their folders, which are those of the formats.
pub(crate) fn sides(side: &str) -> BTreeMap<String, String> {
    let named = |path: &String| {
        let folder = path.strip_suffix(&format!("/{side}.rs"))?;
        let (_, name) = folder
            .strip_prefix("src/formats/")
            .map(|below| below.rsplit_once('/').unwrap_or(("", below)))?;
        Some((name.to_owned(), path.clone()))
    };
    paths().iter().filter_map(named).collect()
}

/// Returns the names of the files in a folder without the ending, or the names of its folders if the ending is empty.
fn entries(folder: &str, ending: &str) -> BTreeSet<String> {
    let prefix = format!("{folder}/");
    let below = |path: &String| {
        let rest = path.strip_prefix(&prefix)?;
        let name = if ending.is_empty() {
            rest.split_once('/')?.0
        } else {
            rest.strip_suffix(ending)?
        };
        (!name.contains('/')).then(|| name.to_owned())
    };
    paths().iter().filter_map(below).collect()
}

/// Returns the statements in a folder of `queries/` that the sources in another folder include with the macro `query`.
fn included_queries(queries: &str, folder: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for source in sources().filter(|source| source.is_in(folder)) {
        for seven in source.tokens().windows(7) {
            let [query, mark, open, of, comma, name, close] = seven else {
                continue;
            };
            if query.text != "query" {
                continue;
            }
            let is_call = [mark, open, comma, close].map(|token| token.text);
            if is_call == ["!", "(", ",", ")"] && of.content() == queries {
                names.insert(name.content().to_owned());
            }
        }
    }
    names
}

/// Returns the lines with a `*` that selects all columns.
fn lines_with_stars(tokens: &[Token<'_>]) -> Vec<usize> {
    let tokens = code(tokens);
    let star = |two: &&[Token<'_>]| {
        two[1].text == "*" && matches!(two[0].text, "SELECT" | "DISTINCT" | "ALL" | ".")
    };
    // Without SELECT, a dot and a star are a pattern or the end of a sentence.
    let select = tokens.iter().any(|token| token.text == "SELECT");
    tokens
        .windows(2)
        .filter(star)
        .filter(|_| select)
        .map(|two| two[1].line)
        .collect()
}

// Paths in documents

/// Returns whether a piece of inline code is a path in this repository.
fn is_our_path(name: &str) -> bool {
    let ours = [
        "src",
        "crates",
        "queries",
        "migrations",
        "tests",
        "benches",
        "docs",
        "fuzz",
        ".ci",
    ];
    let endings = [".rs", ".sql", ".md", ".toml"];
    let plain = !name.contains([' ', '$', ':', '~', '"'])
        && !name.starts_with(['/', '-'])
        && !name.starts_with("http");
    let folder = name.split_once('/').map(|(folder, _)| folder);
    plain
        && folder.is_some_and(|folder| {
            ours.contains(&folder) || endings.iter().any(|ending| name.ends_with(ending))
        })
}

/// Returns whether a path in a document exists, relative to the root, to `src/` or to the folder of the document. The path is
/// checked up to the first placeholder (`<format>`, `*`, `NNNN`).
fn path_exists(name: &str, document: &str) -> bool {
    let fixed = |part: &&str| {
        !part.contains(['<', '*', '{', '…']) && !part.contains("...") && !part.contains("NNNN")
    };
    let parts: Vec<&str> = name.trim_end_matches('/').split('/').collect();
    let known: Vec<&str> = parts.iter().copied().take_while(fixed).collect();
    let folder = Path::new(document).parent().unwrap_or(Path::new(""));
    [Path::new(""), Path::new("src"), folder]
        .into_iter()
        .any(|base| at_root(base.join(known.join("/"))).exists())
}
