//! The rules that no compiler holds: walls between the parts, registries and files that agree, the
//! shape of SQL and documents. ARCHITECTURE.md says what the rules are for; a failure here says
//! where one is broken.
//!
#![expect(
    clippy::disallowed_methods,
    reason = "reads its own sources, which are small and UTF-8"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use profdb::formats::{EXPORTS, FORMATS};
use profdb::report::REPORTS;
use profdb::store::CHECKS;

use self::reading::{Kind, Language, Token, code, headings, inline_code, is_name, names, tokens};

pub(crate) mod reading;

/// Lines from which on a source file has to give its reason. A signal that a file does two jobs, not a
/// wall: code is not moved elsewhere for its sake.
const LINES: usize = 800;

/// Source files that have more, and why they are not two.
const LONG_FILES: &[(&str, &str)] = &[(
    "src/input/mod.rs",
    "decompression, limits and fingerprint see every buffer together",
)];

/// Bytes of the largest file in `tests/cases`.
const CASE_BYTES: u64 = 64 * 1024;

/// Folders in `tests/cases` that are not about a format.
const OTHER_CASES: &[&str] = &["cli", "export", "manual", "reports"];

/// Formats without a folder of recordings, and where their inputs are.
const NO_SAMPLES: &[(&str, &str)] = &[
    ("dyalog_csv", "cases are the reports of Dyalog's manuals"),
    ("dyalog_xml", "cases are the reports of Dyalog's manuals"),
];

/// Formats without a section in docs/conformance.md, and why it would be empty.
const NO_CONFORMANCE: &[(&str, &str)] = &[
    ("business_rules", "no other program reports on the file"),
    ("dyalog_csv", "the words of the manual are ours"),
    ("dyalog_xml", "the words of the manual are ours"),
    ("ghc_json", "GHC's words are ours"),
    ("ghc_prof", "GHC's words are ours"),
    ("ghc_px", "GHC's words are ours"),
    ("lispworks_tree", "no other program reports on the file"),
    ("sampler", "no other program reports on the file"),
];

/// Files with code that the compiler does not check, and what for. None of them is part of the
/// program.
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

/// Headings of an importer's page, in their order.
const PAGE: &[&str] = &[
    "What it is",
    "How to record one",
    "What we read",
    "What we leave out",
    "References",
];

/// Headings of a writer's page, in their order.
const EXPORT_PAGE: &[&str] = &["What it is", "What is written", "References"];

/// What shows something on a screen.
const PRINTING: &[&str] = &[
    "print!",
    "println!",
    "eprint!",
    "eprintln!",
    "dbg!",
    "std::io::stdout",
    "std::io::stderr",
    "io::stdout",
    "io::stderr",
    "indicatif",
];

/// Private names of things that have a name in the field, which they have now. None comes back as the
/// name of a type, function, constant, module, file, or temporary table.
const GONE: &[&str] = &[
    "AddedUp",
    "Bulk",
    "Ledger",
    "Opened",
    "Places",
    "Relay",
    "Remarks",
    "Said",
    "Site",
    "Tally",
    "Trie",
    "LINK",
    "PLACE",
    "arrivals",
    "asked",
    "bulk",
    "claim",
    "climbers",
    "departures",
    "divider",
    "elsewhere",
    "graft",
    "held",
    "is_overtaxed",
    "ledger",
    "patience",
    "relay",
    "remarks",
    "room",
    "shares",
    "trails",
    "trie",
    "two_dashes",
];

/// Words that are keywords wherever they stand in our SQL. Those that are also names of columns
/// (`key`, `exclusive`, `rows`) are not among them.
const KEYWORDS: &str = "
    ADD AFTER ALL ALTER AND AS ASC BEFORE BEGIN BETWEEN BY CASE CAST CHECK CREATE CROSS DELETE DESC DISTINCT DROP
    ELSE END EXCEPT EXISTS FROM GLOB GROUP HAVING IN INDEX INNER INSERT INTERSECT INTO IS JOIN LEFT LIKE LIMIT NOT
    NULL OFFSET ON OR ORDER OVER PARTITION PRIMARY REFERENCES SELECT SET STRICT TABLE THEN TRIGGER UNION UNIQUE
    UPDATE USING VALUES VIEW WHEN WHERE WITH WITHOUT";

// Walls

#[test]
fn importers_know_input_and_sink_only() {
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
    wall(
        "An importer knows Input and Sink and nothing else: no SQL, no files, no screen, no threads.",
        |path| path.starts_with("src/formats/") && path.ends_with("/read.rs"),
        &forbidden,
    );
}

#[test]
fn base_uses_nothing_above_it() {
    wall(
        "src/base is below everything.",
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
fn sqlite_is_opened_in_one_place() {
    let place = "src/store/file/connection.rs";
    let mut opened = Vec::new();
    for (path, text) in sources().filter(|(path, _)| path.starts_with("src/") && is_a(path, "rs")) {
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        opened.extend(
            (1..)
                .zip(text.lines())
                .filter(|(_, line)| line.contains("Connection::open"))
                .map(|(number, _): (u32, _)| format!("{path}:{number}")),
        );
    }
    assert!(
        opened.iter().any(|at| at.starts_with(place)),
        "{place} opens nothing"
    );
    opened.retain(|at| !at.starts_with(place));
    nothing(
        "Only src/store/file/connection.rs opens SQLite, so that no connection is without its guards.",
        &opened,
    );
}

#[test]
fn writers_know_profile_and_output_only() {
    let mut forbidden = vec!["std::fs", "std::net", "std::process", "std::thread"];
    forbidden.extend(["crate::cli", "crate::pipeline", "crate::profile"]);
    forbidden.extend(PRINTING);
    wall(
        "A writer sees a profile and somewhere to write to: no files, no screen, no importers.",
        |path| path.starts_with("src/formats/") && path.ends_with("/write.rs"),
        &forbidden,
    );
}

/// What profilers and their languages are called, besides the families of formats.
const TOOLS: &[&str] = &[
    "APL",
    "]PROFILE",
    "MAIN",
    "CAF",
    "KCachegrind",
    "LispWorks",
    "Xdebug",
];

/// Families whose names are words of other things, too.
const COMMON_WORDS: &[&str] = &[
    "business_rules",
    "common",
    "dot",
    "export",
    "folded",
    "sampler",
];

/// The one place in reports that knows a profiler: titles of columns, and XML.
const OF_A_PROFILER: &str = "src/report/render/dyalog/";

#[test]
fn store_report_and_sql_name_no_format() {
    let formats = sides("read");
    let families: Vec<String> = entries("src/formats", "")
        .into_iter()
        .filter(|family| !family.contains('.') && !COMMON_WORDS.contains(&family.as_str()))
        .map(|family| family.split('_').next().unwrap_or_default().to_owned())
        .collect();
    assert!(families.iter().any(|family| family == "dyalog"));
    let mut found = Vec::new();
    for (path, text) in sources() {
        let rust = path.starts_with("src/store/") || path.starts_with("src/report/");
        let language = if rust { Language::Rust } else { Language::Sql };
        // A migration says of old files what was not stored of their formats.
        if (!rust && !is_a(&path, "sql"))
            || path.starts_with("migrations/")
            || path.starts_with(OF_A_PROFILER)
        {
            continue;
        }
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        for token in tokens(text, language) {
            let lower = token.text.to_lowercase();
            let mut named: Vec<&str> = Vec::new();
            if token.kind != Kind::Comment {
                let formats = formats.keys().map(String::as_str);
                named.extend(
                    formats.filter(|format| has_word(token.text, format, char::is_alphanumeric)),
                );
            }
            let is_code = !matches!(token.kind, Kind::Text | Kind::Comment);
            // The renderer names the folder of the one place.
            if !(is_code && path.starts_with("src/report/render/")) {
                let families = families.iter().map(String::as_str);
                named.extend(families.filter(|name| has_word(&lower, name, is_name)));
            }
            named.extend(
                TOOLS
                    .iter()
                    .filter(|tool| has_word(token.text, tool, is_name)),
            );
            found.extend(
                named
                    .iter()
                    .map(|name| format!("{path}:{}: {name}", token.line)),
            );
        }
    }
    nothing(
        "Database and reports know no format and no profiler, in comments neither: what only one of them needs is a metric, \
         a property or a note of the run.",
        &found,
    );
}

/// The file that says which metrics readers of its format find, and what they call them.
const NAMES_METRICS: &str = "src/formats/ghc/ghc_px/write.rs";

/// Files that ask for a metric by its name, each with the reason: what it is called is what readers of a format know.
const BY_NAME: &[(&str, &str)] = &[
    (
        "src/formats/common/written.rs",
        "formats without metrics, whose readers take figures for samples",
    ),
    (
        "src/formats/dyalog/table.rs",
        "the format has one cost, which is time",
    ),
    (
        "src/formats/firefox/write.rs",
        "samples without weights, which readers count, and the time from one to the next",
    ),
    (
        NAMES_METRICS,
        "which metrics readers find, and what they call them",
    ),
    (
        "src/formats/speedscope/write.rs",
        "a file without stacks, whose readers take figures for samples",
    ),
    (
        "src/report/render/dyalog/xml.rs",
        "reports as `]PROFILE` writes them of what it measures",
    ),
];

/// Columns of reports whose names in JSON are promised.
const READINGS: &[&str] = &["exclusive_ticks", "cumulative_ticks"];

/// Files of the database, of reports and of writers.
fn after_import() -> impl Iterator<Item = (String, String)> {
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
    sources().filter(move |(path, _)| {
        writes(path) || of_all.iter().any(|folder| path.starts_with(folder))
    })
}

/// Names that importers give to metrics.
fn names_of_metrics() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (path, text) in sources().filter(|(path, _)| path.starts_with("src/formats/")) {
        let given = text.split(".metric(\"").skip(1);
        let given = given.filter_map(|rest| rest.split_once('"'));
        names.extend(
            given
                .filter(|_| is_a(&path, "rs"))
                .map(|(name, _)| name.to_owned()),
        );
    }
    names
}

#[test]
fn metrics_are_asked_for_by_their_names_where_readers_know_these() {
    let names = names_of_metrics();
    assert!(
        ["time", "samples", "ticks", "alloc"]
            .iter()
            .all(|name| names.contains(*name)),
        "{names:?}"
    );
    let asks = |line: &str| {
        names.iter().any(|name| {
            ["name == ", "name != ", "name = ", "name <> "]
                .iter()
                .any(|asked| {
                    line.contains(&format!("{asked}\"{name}\""))
                        || line.contains(&format!("{asked}'{name}'"))
                })
        })
    };
    let (mut found, mut by_name) = (Vec::new(), BTreeSet::new());
    for (path, text) in after_import() {
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        for (line, text) in (1..).zip(text.lines()).filter(|(_, text)| asks(text)) {
            by_name.insert(path.clone());
            if !BY_NAME.iter().any(|(file, _)| *file == path) {
                found.push(format!("{path}:{line}: {}", text.trim()));
            }
        }
    }
    let unused = BY_NAME.iter().filter(|(file, _)| !by_name.contains(*file));
    found.extend(unused.map(|(file, _)| format!("{file}: asks for none by its name")));
    nothing(
        "What a metric means its importer says, and not what it is called; BY_NAME has what is left, with reasons.",
        &found,
    );
}

#[test]
fn no_name_of_a_metric_decides() {
    let mut found = Vec::new();
    for (path, text) in after_import() {
        let language = if is_a(&path, "sql") {
            Language::Sql
        } else {
            Language::Rust
        };
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        if path == NAMES_METRICS || !matches!(path.rsplit_once('.'), Some((_, "rs" | "sql"))) {
            continue;
        }
        let tokens = tokens(text, language);
        for token in &tokens {
            let is_name =
                token.kind == Kind::Text && token.text.trim_matches(['"', '\'']) == "ticks";
            let is_word = !path.starts_with("src/formats/")
                && !path.starts_with(OF_A_PROFILER)
                && !matches!(token.kind, Kind::Text | Kind::Comment)
                && token.text.split('_').any(|word| word == "ticks")
                && !READINGS.contains(&token.text);
            if is_name || is_word {
                found.push(format!("{path}:{}: {}", token.line, token.text));
            }
        }
    }
    nothing(
        "What a metric means its importer says (metrics.timer_readings): other formats have ticks, too.",
        &found,
    );
}

#[test]
fn events_and_profile_know_neither_io_nor_sql() {
    const RULE: &str = "The words of importers and the builder are pure: no I/O, no SQL.";
    let pure = |path: &str| path.starts_with("src/events/") || path.starts_with("src/profile/");
    wall(
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
    let mut found = Vec::new();
    for (path, text) in sources().filter(|(path, _)| pure(path)) {
        for token in tokens(&text, Language::Rust)
            .iter()
            .filter(|token| token.kind == Kind::Text)
        {
            let named = statements
                .iter()
                .filter(|word| has_word(token.text, word, is_name));
            found.extend(named.map(|word| format!("{path}:{}: {word}", token.line)));
        }
    }
    nothing(RULE, &found);
}

#[test]
fn only_cli_prints() {
    wall(
        "Only src/cli and src/main.rs print: give back a value, an error or a note.",
        // Without memory there is one way to say so.
        |path| !path.starts_with("src/cli/") && !["src/main.rs", "src/memory.rs"].contains(&path),
        PRINTING,
    );
}

#[test]
fn only_main_exits() {
    wall(
        "Only src/main.rs ends the program and knows exit codes: return an error that it can map.",
        // Without memory there is no way back to it.
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
fn only_store_and_report_speak_to_sqlite() {
    wall(
        "Only src/store and src/report say rusqlite: add a method there.",
        |path| !path.starts_with("src/store/") && !path.starts_with("src/report/"),
        &["rusqlite", "libsqlite3_sys"],
    );
    wall(
        "Only src/store uses profdb_sqlite_pages: add a method there.",
        |path| !path.starts_with("src/store/"),
        &["profdb_sqlite_pages"],
    );
}

#[test]
fn environment_and_clock_stay_outside() {
    wall(
        "Equal input gives equal output: only src/cli and src/store look at environment and clock.",
        |path| !path.starts_with("src/cli/") && !path.starts_with("src/store/"),
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
fn unsafe_code_is_where_it_is_known_to_be() {
    let is_unsafe = |text: &str| {
        tokens(text, Language::Rust)
            .iter()
            .any(|token| token.text == "unsafe")
    };
    let found = sources()
        .filter(|(path, text)| is_a(path, "rs") && is_unsafe(text))
        .map(|(path, _)| path)
        .collect();
    let known = UNSAFE.iter().map(|(path, _)| (*path).to_owned()).collect();
    agree(
        "files with `unsafe`",
        &found,
        "UNSAFE (tests/repo/tidy/mod.rs)",
        &known,
    );
}

// Registries and files

#[test]
fn every_importer_is_a_format_of_its_name() {
    let registered: BTreeSet<String> = FORMATS
        .iter()
        .map(|format| format.name.to_owned())
        .collect();
    agree(
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
    // The names could agree and be swapped.
    let mut found = Vec::new();
    for (name, path) in sides("read") {
        let quoted = format!("\"{name}\"");
        let text = read(&path);
        if !tokens(&text, Language::Rust).windows(3).any(|three| {
            three
                .iter()
                .zip(["name", ":", &quoted])
                .all(|(token, expected)| token.text == expected)
        }) {
            found.push(format!("{path}: FORMAT.name is not {quoted}"));
        }
    }
    nothing("A format has one name: that of its folder.", &found);
}

#[test]
fn options_of_one_name_are_one() {
    let mut known = BTreeMap::new();
    let mut found = Vec::new();
    for format in FORMATS {
        for option in format.options {
            let (first, same) = *known.entry(option.name).or_insert((format.name, option));
            if same != option {
                found.push(format!(
                    "--{}: {first} and {} differ",
                    option.name, format.name
                ));
            }
        }
    }
    nothing(
        "The command line has an option once, whatever formats have it: share the constant.",
        &found,
    );
}

#[test]
fn every_format_has_cases() {
    let mut folders = entries("tests/cases", "");
    for other in OTHER_CASES {
        folders.remove(*other);
    }
    agree(
        "src/formats/**/read.rs",
        &sides("read").into_keys().collect(),
        "tests/cases/*/",
        &folders,
    );
}

/// What no file of a format's own folder can say of it.
#[test]
fn every_format_is_shown_to_be_right() {
    let (changelog, conformance) = (read("CHANGELOG.md"), read("docs/conformance.md"));
    let released: BTreeSet<&str> = inline_code(&changelog)
        .into_iter()
        .map(|(_, name)| name)
        .collect();
    let sections: Vec<&str> = conformance
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .collect();
    let figures: Vec<String> = sources()
        .filter(|(path, _)| path.starts_with("tests/figures/"))
        .map(|(_, text)| text)
        .collect();
    let mut found = Vec::new();
    for name in FORMATS.iter().map(|format| format.name) {
        let excused = |list: &[(&str, &str)]| list.iter().any(|(excused, _)| *excused == name);
        if !released.contains(name) {
            found.push(format!("CHANGELOG.md: `{name}` is not mentioned"));
        }
        let readme = format!("tests/samples/{name}/README.md");
        if at_root(&readme).exists() == excused(NO_SAMPLES) {
            found.push(format!(
                "{readme}: how recordings of the real tool were made; else a line in NO_SAMPLES"
            ));
        }
        let imports = [format!("\"{name}\""), format!("\"{name}/")];
        if !figures
            .iter()
            .any(|text| imports.iter().any(|start| text.contains(start)))
        {
            found.push(format!(
                "tests/figures/{name}.rs: nothing there compares the figures of {name}"
            ));
        }
        let is_section = |title: &&str| title.split([',', ':']).any(|part| part.trim() == name);
        if sections.iter().any(is_section) == excused(NO_CONFORMANCE) {
            found.push(format!(
                "docs/conformance.md: a section `## {name}`; else a line in NO_CONFORMANCE"
            ));
        }
    }
    nothing(
        "A format is recorded, compared with what other programs say, and announced (ARCHITECTURE.md, \"How to add\").",
        &found,
    );
}

/// With the variable `PROFDB_DB` of whoever runs the tests, commands without `--db` would write to their database.
#[test]
fn tests_start_the_program_in_one_place() {
    const PLACE: &str = "tests/support/program.rs";
    let name = concat!("CARGO_BIN_EXE_", "profdb");
    assert!(read(PLACE).contains(name) && read(PLACE).contains(".env_remove(\"PROFDB_DB\")"));
    let tests = sources().filter(|(path, _)| path.starts_with("tests/") && path != PLACE);
    let mut found = Vec::new();
    for (path, text) in tests {
        for (line, text) in (1..).zip(text.lines()) {
            if text.contains(name) || text.contains(concat!("Command::", "new(PROFDB)")) {
                found.push(format!("{path}:{line}: {}", text.trim()));
            }
        }
    }
    nothing(
        &format!("Tests start the program by `program::command()` of {PLACE}."),
        &found,
    );
}

/// Cargo compiles what `main.rs` names; another file would be there and never run.
#[test]
fn every_file_of_tests_is_compiled() {
    let mut found = Vec::new();
    for program in ["behaviour", "figures", "repo", "properties"] {
        let main = read(&format!("tests/{program}/main.rs"));
        for file in entries(&format!("tests/{program}"), ".rs") {
            if file != "main" && !main.contains(&format!("mod {file};\n")) {
                found.push(format!("tests/{program}/main.rs: no `mod {file};`"));
            }
        }
    }
    nothing("Every file of a program of tests is part of it.", &found);
}

#[test]
fn every_importer_reads_top_down() {
    let mut found = Vec::new();
    for path in sides("read").into_values() {
        let text = read(&path);
        let headings = headings(&text);
        if headings != PAGE {
            found.push(format!(
                "{path}: the page's headings are {headings:?}, not {PAGE:?}"
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
            found.push(format!(
                "{path}: page, `const FORMAT`, `fn sniff`, `fn import` do not follow each other"
            ));
        }
    }
    nothing(
        "An importer starts with its page (it becomes docs/formats.md), FORMAT, sniff and import.",
        &found,
    );
}

#[test]
fn every_writer_is_a_format_of_its_name() {
    let registered: BTreeSet<String> = EXPORTS
        .iter()
        .map(|export| export.name.to_owned())
        .collect();
    let files = sides("write").into_keys().collect();
    agree(
        "src/formats/**/write.rs",
        &files,
        "EXPORTS (src/formats/registry.rs)",
        &registered,
    );
    agree(
        "src/formats/**/write.rs",
        &files,
        "tests/cases/export/*/",
        &entries("tests/cases/export", ""),
    );
    assert_eq!(
        EXPORTS.len(),
        registered.len(),
        "two formats in EXPORTS have the same name"
    );
    let mut found = Vec::new();
    for (name, path) in sides("write") {
        let text = read(&path);
        let headings = headings(&text);
        if headings != EXPORT_PAGE {
            found.push(format!(
                "{path}: the page's headings are {headings:?}, not {EXPORT_PAGE:?}"
            ));
        }
        let place = |start: &str| text.lines().position(|line| line.starts_with(start));
        let places = ["//! ", "pub(in crate::formats) const EXPORT", "fn write("].map(place);
        if places.contains(&None) || !places.is_sorted() {
            found.push(format!(
                "{path}: page, `const EXPORT` and `fn write` do not follow each other"
            ));
        }
        if !text.contains(&format!("    name: \"{name}\",\n")) {
            found.push(format!("{path}: EXPORT.name is not {name}"));
        }
    }
    nothing(
        "A writer starts with its page (it becomes docs/export.md), EXPORT of the file's name, and write.",
        &found,
    );
}

/// Names are promised to whoever reads loss reports.
#[test]
fn losses_of_one_name_are_one() {
    let mut known = BTreeMap::new();
    let mut found = Vec::new();
    for export in EXPORTS {
        let mut own = BTreeSet::new();
        for loss in export.losses {
            let (first, same) = *known.entry(loss.name).or_insert((export.name, loss));
            if same != loss || !own.insert(loss.name) {
                found.push(format!("{}: {first} and {} differ", loss.name, export.name));
            }
        }
    }
    nothing(
        "A loss has one name, and a name one meaning: share the constant.",
        &found,
    );
}

#[test]
fn checks_are_registered() {
    let registered: BTreeMap<&str, &str> = CHECKS.iter().copied().collect();
    let names = registered.keys().map(|name| (*name).to_owned()).collect();
    agree(
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
    agree(
        "queries/views/*.sql",
        &views,
        "VIEWS (src/store/schema/views.rs)",
        &registered("views", "src/store/"),
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
    let named = registered("reports", "src/report/");
    agree(
        "queries/reports/*.sql",
        &entries("queries/reports", ".sql"),
        "REPORTS (src/report)",
        &named,
    );
}

#[test]
fn migrations_are_numbered_and_registered() {
    // What they make together has no number.
    const LATEST: &str = "latest";
    let files: Vec<String> = entries("migrations", ".sql")
        .into_iter()
        .filter(|file| file != LATEST)
        .collect();
    for (number, file) in (1..).zip(&files) {
        let expected = format!("{number:04}_");
        assert!(
            file.starts_with(&expected),
            "migrations/{file}.sql: expected a name that starts with {expected}"
        );
    }
    let store = read("src/store/schema/migrations.rs");
    let in_order: Vec<&str> = tokens(&store, Language::Rust)
        .iter()
        .filter(|token| token.kind == Kind::Text)
        .filter_map(|token| {
            token
                .content()
                .strip_prefix("../../../migrations/")?
                .strip_suffix(".sql")
        })
        .filter(|file| *file != LATEST)
        .collect();
    assert_eq!(
        in_order, files,
        "MIGRATIONS (src/store/schema/migrations.rs) and migrations/*.sql differ; number = position = user_version"
    );
}

// SQL

#[test]
fn sql_keywords_are_upper_case() {
    let mut found = Vec::new();
    for (path, text) in sources().filter(|(path, _)| is_a(path, "sql")) {
        let tokens = code(&text, Language::Sql);
        for (at, token) in tokens.iter().enumerate() {
            let parameter = at > 0 && tokens[at - 1].text == ":";
            let upper = token.text.to_ascii_uppercase();
            if !parameter
                && upper != token.text
                && KEYWORDS.split_whitespace().any(|keyword| keyword == upper)
            {
                found.push(format!("{path}:{}: {}", token.line, token.text));
            }
        }
    }
    nothing("SQL keywords are upper case.", &found);
}

#[test]
fn sql_names_its_columns() {
    let mut found = Vec::new();
    for (path, text) in sources() {
        if is_a(&path, "sql") {
            found.extend(stars(&text).iter().map(|line| format!("{path}:{line}")));
        } else if path.starts_with("src/") {
            for token in tokens(&text, Language::Rust)
                .iter()
                .filter(|token| token.kind == Kind::Text)
            {
                found.extend(
                    stars(token.content())
                        .iter()
                        .map(|line| format!("{path}:{}", token.line + line - 1)),
                );
            }
        }
    }
    nothing(
        "No SELECT *: a column that is added must not change a result.",
        &found,
    );
}

#[test]
fn reports_and_checks_are_one_ordered_select() {
    let mut found = Vec::new();
    for (path, text) in sources() {
        if !path.starts_with("queries/reports/") && !path.starts_with("queries/checks/") {
            continue;
        }
        if !text.starts_with("-- ") {
            found.push(format!(
                "{path}:1: does not start with a comment that says what it finds"
            ));
        }
        let code = code(&text, Language::Sql);
        if !code
            .first()
            .is_some_and(|first| matches!(first.text, "SELECT" | "WITH"))
        {
            found.push(format!("{path}: is no SELECT"));
        }
        let (mut depth, mut ordered) = (0, false);
        let mut end = None;
        for two in code.windows(2) {
            match two[0].text {
                "(" => depth += 1,
                ")" => depth -= 1,
                // A compound SELECT is ordered as a whole, by what follows its last part.
                "SELECT" if depth == 0 => ordered = false,
                "ORDER" if depth == 0 && two[1].text == "BY" => ordered = true,
                ";" => end = end.or(Some(two[1].line)),
                _ => {}
            }
        }
        if !ordered {
            found.push(format!("{path}: does not end in ORDER BY"));
        }
        if let Some(line) = end {
            found.push(format!("{path}:{line}: a second statement"));
        }
    }
    nothing(
        "A report or check is one SELECT with a comment above it and a total order.",
        &found,
    );
}

#[test]
fn sql_comments_survive_in_the_schema() {
    let mut found = Vec::new();
    for (path, text) in sources() {
        if !path.starts_with("migrations/") && !path.starts_with("queries/views/") {
            continue;
        }
        let tokens = tokens(&text, Language::Sql);
        let (mut statement, mut trigger) = (Vec::new(), false);
        for (at, token) in tokens.iter().enumerate() {
            let comment_follows = tokens
                .get(at + 1)
                .is_some_and(|next| next.kind == Kind::Comment);
            let first = |word: &str| statement.first().is_some_and(|first| *first == word);
            match token.text {
                _ if token.kind == Kind::Comment => {
                    if statement.is_empty() {
                        found.push(format!(
                            "{path}:{}: SQLite forgets a comment outside a statement",
                            token.line
                        ));
                    }
                    continue;
                }
                "(" if statement.len() == 3
                    && matches!(statement[1], "TABLE" | "VIEW")
                    && !comment_follows =>
                {
                    found.push(format!(
                        "{path}:{}: no comment says what {} is",
                        token.line, statement[2]
                    ));
                }
                "BEGIN" if first("CREATE") && statement[1] == "TRIGGER" => {
                    trigger = true;
                    if !comment_follows {
                        found.push(format!(
                            "{path}:{}: no comment says what {} does",
                            token.line, statement[2]
                        ));
                    }
                }
                "AS" if first("CREATE") && statement.len() == 3 => {
                    found.push(format!(
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
    nothing(
        "Comments stand inside the parentheses of CREATE, where `.schema` shows them.",
        &found,
    );
}

// Files

#[test]
fn source_files_are_short() {
    let mut found = Vec::new();
    for (path, text) in sources().filter(|(path, _)| path.starts_with("src/")) {
        let lines = text.lines().count();
        match LONG_FILES.iter().find(|(long, _)| *long == path) {
            None if lines > LINES => found.push(format!("{path}: {lines} lines")),
            Some(_) if lines <= LINES => found.push(format!(
                "{path}: {lines} lines, so LONG_FILES need not excuse it"
            )),
            _ => {}
        }
    }
    nothing(
        &format!(
            "A source file has at most {LINES} lines, or a reason in LONG_FILES (tests/repo/tidy/mod.rs)."
        ),
        &found,
    );
}

#[test]
fn names_are_those_of_the_field() {
    let defines = [
        "const", "enum", "fn", "mod", "static", "struct", "trait", "type", "TABLE", "VIEW",
    ];
    let mut found = Vec::new();
    for (path, text) in
        sources().filter(|(path, _)| path.starts_with("src/") || path.starts_with("queries/"))
    {
        let file = Path::new(&path)
            .file_stem()
            .and_then(|stem| stem.to_str())
            .unwrap_or_default();
        if GONE.contains(&file) {
            found.push(path.clone());
        }
        let language = if is_a(&path, "sql") {
            Language::Sql
        } else {
            Language::Rust
        };
        let words = code(&text, language);
        let defined = words
            .windows(2)
            .filter(|two| defines.contains(&two[0].text) && GONE.contains(&two[1].text));
        found.extend(
            defined.map(|two| format!("{path}:{}: {} {}", two[1].line, two[0].text, two[1].text)),
        );
    }
    nothing(
        "A thing has its textbook name: those in GONE are private words for one.",
        &found,
    );
}

#[test]
fn names_become_text_of_a_page_and_nothing_else() {
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
    let mut found = Vec::new();
    for file in fs::read_dir(folder).expect("the sources of the page") {
        let path = file.expect("a file").path();
        // What others have written, `web/vendor`, is known by its hash (tests/repo/supply.rs).
        if path.is_dir() {
            continue;
        }
        let text = fs::read_to_string(&path).expect("text");
        // Where a server has sent the page, that server is asked, and no other one.
        let text = if path.ends_with("served.js") {
            text.replace("await fetch(`api/", "")
        } else {
            text
        };
        let used = ways.iter().filter(|way| text.contains(**way));
        found.extend(used.map(|way| format!("{}: {way}", path.display())));
    }
    found.sort();
    nothing(
        "Names are strangers': they enter a page by `textContent`, and nothing leaves it.",
        &found,
    );
}

#[test]
fn nothing_is_left_for_later() {
    // In two halves, so that this file does not find itself.
    let marks = [
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("XX", "X"),
        concat!("HA", "CK"),
    ];
    let found = mentions(|line| marks.iter().any(|mark| has_word(line, mark, is_name)));
    nothing(
        "What is not done is an issue, and a limit is a documented one: no marks in the files.",
        &found,
    );
}

#[test]
fn nothing_depends_on_one_machine() {
    let folders = ["work", "root", "home", "farm"];
    let beside = concat!("shared", "/");
    // The registries' own hosts: a build that needs one of them by name does not work behind a
    // mirror.
    let hosts = [
        concat!("index.", "crates.io"),
        concat!("static.", "crates.io"),
        concat!("sparse", "+http"),
        concat!("pypi", ".org/simple"),
        concat!("registry.", "npmjs.org"),
        concat!("proxy.", "golang.org"),
        concat!("deb.", "debian.org"),
    ];
    let found = mentions(|line| {
        folders.iter().any(|folder| has_absolute(line, folder))
            || hosts.iter().any(|host| line.contains(host))
            || line
                .match_indices(beside)
                .any(|(at, _)| !line[..at].ends_with(is_name))
    });
    nothing(
        "Paths are relative to the checkout, and packages come from where cargo is told to look.",
        &found,
    );

    let foreign: Vec<String> = (1..)
        .zip(read("Cargo.lock").lines())
        .filter(|(_, line)| line.starts_with("source = "))
        .filter(|(_, line)| {
            *line != "source = \"registry+https://github.com/rust-lang/crates.io-index\""
        })
        .map(|(number, line)| format!("Cargo.lock:{number}: {line}"))
        .collect();
    nothing("All dependencies come from crates.io.", &foreign);
}

#[test]
fn cases_are_small() {
    let found: Vec<String> = tracked()
        .iter()
        .filter(|path| path.starts_with("tests/cases/"))
        .map(|path| {
            (
                path,
                fs::metadata(at_root(path)).map_or(0, |found| found.len()),
            )
        })
        .filter(|(_, bytes)| *bytes > CASE_BYTES)
        .map(|(path, bytes)| format!("{path}: {bytes} bytes"))
        .collect();
    nothing(
        &format!("An input is the smallest that shows the point: at most {CASE_BYTES} bytes."),
        &found,
    );
}

/// Not higher than it must be, so that `rust-version` is a fact and not a wish.
#[test]
fn rust_version_is_that_of_the_dependencies() {
    let host = run("rustc", &["--print", "host-tuple"]);
    // Without a platform, cargo would fetch packages that are never built here.
    let arguments = [
        "metadata",
        "--format-version",
        "1",
        "--locked",
        "--filter-platform",
        host.trim(),
    ];
    let metadata: serde_json::Value =
        serde_json::from_str(&run(env!("CARGO"), &arguments)).expect("cargo writes JSON");
    let mut ours = Vec::new();
    let mut highest = (Vec::new(), "no dependency");
    for package in metadata["packages"].as_array().expect("a list of packages") {
        let Some(version) = package["rust_version"].as_str() else {
            continue;
        };
        let mut numbers: Vec<u32> = version
            .split('.')
            .map(|number| number.parse().expect("a number"))
            .collect();
        numbers.resize(3, 0);
        let name = package["name"].as_str().expect("a name");
        // Members of the workspace inherit the version.
        if package["source"].is_null() {
            ours = numbers;
        } else if numbers > highest.0 {
            highest = (numbers, name);
        }
    }
    assert_eq!(
        ours, highest.0,
        "rust-version in Cargo.toml (left) is not what {} asks for (right)",
        highest.1
    );
}

// Documents

#[test]
fn documents_name_files_that_exist() {
    let mut found = Vec::new();
    for (path, text) in sources().filter(|(path, _)| is_a(path, "md")) {
        // A changelog names what was; a case quotes the paths of the program that was profiled.
        if path == "CHANGELOG.md" || path.starts_with("tests/cases/") {
            continue;
        }
        let missing = inline_code(&text)
            .into_iter()
            .filter(|(_, name)| is_our_path(name) && !exists(name, &path));
        found.extend(missing.map(|(line, name)| format!("{path}:{line}: {name}")));
    }
    nothing(
        "Every path that a document names in backticks exists.",
        &found,
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
    nothing(
        "README.md names every format and report in backticks.",
        &missing.collect::<Vec<_>>(),
    );
}

/// Most who try a profiler's database write Python, Go, C or C++, Rust or JavaScript. Each language has its page of how to
/// record, and each page its row.
#[test]
fn readme_greets_the_many_first() {
    let readme = read("README.md");
    let section = "\n## From your profiler to an answer\n";
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
        .filter_map(|(path, _)| {
            Some(
                path.strip_prefix("docs/recipes/")?
                    .strip_suffix(".md")?
                    .to_owned(),
            )
        })
        // Nobody records with GHC 7 any more: what is left of it has a page, and no row.
        .filter(|page| page != "ghc-old" && !linked.contains(&page.as_str()))
        .collect();
    nothing("Every recipe has a row in README.md.", &missing);
}

/// A function has another number as soon as a line is added above it: runs of two builds are compared by names or identities, or
/// the functions that changed vanish from the answer.
#[test]
fn no_document_joins_runs_by_numbers_of_functions() {
    let mut found = Vec::new();
    let documents = sources()
        .filter(|(path, _)| path == "README.md" || (path.starts_with("docs/") && is_a(path, "md")));
    for (path, text) in documents {
        for statement in text.split("```").skip(1).step_by(2) {
            let is_join = statement.contains("JOIN");
            let by_number = statement.contains("USING (function_id")
                || statement.contains(".function_id = ")
                || statement.contains(", function_id)");
            if is_join && by_number {
                found.push(format!("{path}: {statement}"));
            }
        }
    }
    nothing(
        "No statement of a document joins runs by function_id.",
        &found,
    );
}

/// What a lint sends the reader to is there.
#[test]
fn lints_name_what_exists() {
    let rust: Vec<String> = sources()
        .filter(|(path, _)| path.starts_with("src/") && is_a(path, "rs"))
        .map(|(_, text)| text)
        .collect();
    let is_known = |name: &str| rust.iter().any(|text| has_word(text, name, is_name));
    let mut found = Vec::new();
    for (number, line) in (1..).zip(read("clippy.toml").lines()) {
        for word in line.split(|letter: char| !(is_name(letter) || "/.:".contains(letter))) {
            let word = word.trim_end_matches([':', '.', ',']);
            let is_missing = match word.split("::").collect::<Vec<_>>()[..] {
                [path] => path.starts_with("src/") && !at_root(path).exists(),
                ["std", ..] | [] => false,
                [.., name] => !is_known(name),
            };
            if is_missing {
                found.push(format!("clippy.toml:{number}: {word}"));
            }
        }
    }
    nothing(
        "Every file and symbol that clippy.toml names exists.",
        &found,
    );
}

#[test]
fn architecture_names_symbols_that_exist() {
    const RULE: &str = "Every `module::symbol` that ARCHITECTURE.md names exists in that module.";
    assert!(
        at_root("ARCHITECTURE.md").exists(),
        "ARCHITECTURE.md is missing: it is where a reader starts"
    );
    let rust: Vec<(String, String)> = sources()
        .filter(|(path, _)| path.starts_with("src/"))
        .collect();
    let mut found = Vec::new();
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
        // Where the first segment is a module, the rest must be in its files.
        let module: Vec<&(String, String)> = rust
            .iter()
            .filter(|(path, _)| {
                path.trim_end_matches(".rs")
                    .split('/')
                    .any(|part| part == segments[0])
            })
            .collect();
        let (files, wanted) = if module.is_empty() {
            (rust.iter().collect(), &segments[..])
        } else {
            (module, &segments[1..])
        };
        let known = |word: &str| {
            files.iter().any(|(_, text)| {
                tokens(text, Language::Rust)
                    .iter()
                    .any(|token| token.kind == Kind::Word && token.text == word)
            })
        };
        if !wanted.iter().all(|word| known(word)) {
            found.push(format!("ARCHITECTURE.md:{line}: {name}"));
        }
    }
    nothing(RULE, &found);
}

// Checking

/// Fails with the rule and every place that breaks it.
#[track_caller]
pub(crate) fn nothing(rule: &str, found: &[String]) {
    assert!(found.is_empty(), "{rule}\n\n  {}\n", found.join("\n  "));
}

/// Fails when two lists of names that shall be one are not.
#[track_caller]
fn agree(left: &str, lefts: &BTreeSet<String>, right: &str, rights: &BTreeSet<String>) {
    let only = |ones: &BTreeSet<String>, others: &BTreeSet<String>| {
        ones.difference(others).cloned().collect::<Vec<_>>()
    };
    assert!(
        lefts == rights,
        "{left} and {right} do not agree\n\n  only the first has {:?}\n  only the second has {:?}\n",
        only(lefts, rights),
        only(rights, lefts)
    );
}

/// Fails where a Rust file of `src/` on this side of the wall names something on the other side.
#[track_caller]
fn wall(rule: &str, this_side: impl Fn(&str) -> bool, forbidden: &[&str]) {
    let mut found = Vec::new();
    for (path, text) in sources().filter(|(path, _)| path.starts_with("src/") && this_side(path)) {
        for (line, name) in names(&text) {
            let below = |other: &&&str| {
                name.strip_prefix(**other)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
            };
            if forbidden.iter().any(|other| below(&other)) {
                found.push(format!("{path}:{line}: {name}"));
            }
        }
    }
    nothing(rule, &found);
}

/// Places in all text files but the inputs of cases, which are data of strangers.
fn mentions(is_bad: impl Fn(&str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for (path, text) in sources() {
        if path.starts_with("tests/cases/") && !path.ends_with("/case.md") {
            continue;
        }
        let bad = (1..).zip(text.lines()).filter(|(_, line)| is_bad(line));
        found.extend(
            bad.map(|(number, line): (u32, _)| format!("{path}:{number}: {}", line.trim())),
        );
    }
    found
}

pub(crate) fn is_a(path: &str, extension: &str) -> bool {
    Path::new(path)
        .extension()
        .is_some_and(|found| found == extension)
}

/// Whether the word occurs with no letter (as `is_part` sees it) before or after it.
fn has_word(text: &str, word: &str, is_part: fn(char) -> bool) -> bool {
    text.match_indices(word).any(|(at, _)| {
        !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part)
    })
}

/// Whether the text names a top-level folder of the file system; a closing tag (`</root>`) is none.
fn has_absolute(text: &str, folder: &str) -> bool {
    let name = format!("/{folder}");
    text.match_indices(&name).any(|(at, _)| {
        let before = &text[..at];
        let inside = before.ends_with(|letter| is_name(letter) || "./-<>)}*~".contains(letter));
        (!inside || before.ends_with("file://")) && !text[at + name.len()..].starts_with(is_name)
    })
}

/// Paths of all files that read formats (`read.rs`) or write them (`write.rs`), by the names of the
/// formats, which are those of the folders.
pub(crate) fn sides(side: &str) -> BTreeMap<String, String> {
    let named = |path: String| {
        let folder = path.strip_suffix(&format!("/{side}.rs"))?;
        let (_, name) = folder
            .strip_prefix("src/formats/")
            .map(|below| below.rsplit_once('/').unwrap_or(("", below)))?;
        Some((name.to_owned(), path))
    };
    tracked().into_iter().filter_map(named).collect()
}

/// What a folder holds: names without the ending, or names of folders if the ending is empty.
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
    tracked().iter().filter_map(below).collect()
}

/// Statements of a folder of `queries/` that the sources in a folder have by the macro `query`.
fn registered(queries: &str, folder: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (_, text) in sources().filter(|(path, _)| path.starts_with(folder)) {
        let tokens = tokens(&text, Language::Rust);
        for seven in tokens.windows(7) {
            let [query, mark, open, of, comma, name, close] = seven else {
                continue;
            };
            let is_call = [query, mark, open, comma, close].map(|token| token.text);
            if is_call == ["query", "!", "(", ",", ")"] && of.content() == queries {
                found.insert(name.content().to_owned());
            }
        }
    }
    found
}

/// Lines with a `*` that stands for columns.
fn stars(sql: &str) -> Vec<usize> {
    let tokens = code(sql, Language::Sql);
    let star = |two: &&[Token<'_>]| {
        two[1].text == "*" && matches!(two[0].text, "SELECT" | "DISTINCT" | "ALL" | ".")
    };
    // A dot before a star is only SQL after a SELECT: elsewhere it ends a sentence or a pattern.
    let select = tokens.iter().any(|token| token.text == "SELECT");
    tokens
        .windows(2)
        .filter(star)
        .filter(|_| select)
        .map(|two| two[1].line)
        .collect()
}

// Paths in documents

/// Whether a piece of code is meant as a path in this repository.
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

/// Whether a path, as a document names it, leads somewhere: from the root, from `src/` or from the
/// document's folder. A placeholder (`<format>`, `*`, `NNNN`) stands for one name or more.
fn exists(name: &str, document: &str) -> bool {
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

// Reading files

fn at_root(path: impl AsRef<Path>) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn read(path: &str) -> String {
    fs::read_to_string(at_root(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// All text files of the repository, with their text.
pub(crate) fn sources() -> impl Iterator<Item = (String, String)> {
    tracked().into_iter().filter_map(|path| {
        fs::read_to_string(at_root(&path))
            .ok()
            .map(|text| (path, text))
    })
}

/// Paths of all files that are, or would be, in the repository, in order.
fn tracked() -> BTreeSet<String> {
    let arguments = [
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ];
    let listed = Command::new("git")
        .args(arguments)
        .current_dir(at_root(""))
        .output();
    match listed {
        Ok(listed) if listed.status.success() => {
            let paths = String::from_utf8_lossy(&listed.stdout);
            paths
                .split_terminator('\0')
                .filter(|path| at_root(path).is_file())
                .map(str::to_owned)
                .collect()
        }
        // An unpacked source archive has no git.
        _ => files_below(""),
    }
}

fn files_below(folder: &str) -> BTreeSet<String> {
    let mut files = BTreeSet::new();
    for entry in fs::read_dir(at_root(folder)).expect("a folder of the repository") {
        let entry = entry.expect("a readable folder");
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() {
            name.clone()
        } else {
            format!("{folder}/{name}")
        };
        match name.as_str() {
            ".git" | "target" => {}
            _ if entry.path().is_dir() => files.extend(files_below(&path)),
            _ => drop(files.insert(path)),
        }
    }
    files
}

/// What a program prints.
fn run(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(at_root(""))
        .output()
        .expect("the program starts");
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("the program prints UTF-8")
}
