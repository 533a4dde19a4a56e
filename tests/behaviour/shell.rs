//! What shells and readers of manual pages make of what the program writes for them.

use crate::support::program::{self, PROFDB};
use crate::support::tools;
use std::path::Path;
use std::process::{Output, Stdio};
use std::{fs, io::Write};

use profdb::formats::{EXPORTS, FORMATS};
use profdb::report::REPORTS;

fn profdb(arguments: &[&str]) -> Output {
    let output = program::command().args(arguments).output();
    output.expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Bash itself is asked: words so far, and what may stand for the last one.
#[test]
fn bash_completes_commands_flags_and_names() {
    let mut bash = tools::command("bash");
    let script = profdb(&["completions", "bash"]);
    assert!(script.status.success());
    let mut asked = text(&script.stdout);
    // The script asks the program.
    let own = Path::new(PROFDB).parent().expect("a folder");
    asked.extend(["\nPATH='", &own.display().to_string(), "':$PATH\n"]);
    asked.push_str(
        r#"
        [[ $(complete -p profdb) == *'-F _profdb'* ]] || echo 'profdb is not completed'
        try() {
            COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=() COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
            _profdb profdb "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
            printf '%s\n' "${COMPREPLY[*]}"
        }
        "#,
    );
    let commands: Vec<String> = profdb::cli::program()
        .get_subcommands()
        .map(|command| command.get_name().to_owned())
        .collect();
    let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    let reports: Vec<&str> = REPORTS.iter().map(|report| report.name).collect();
    let formats: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    let exports: Vec<&str> = EXPORTS.iter().map(|export| export.name).collect();
    let table: [(&[&str], String); 14] = [
        (&["exp"], starting_with(&commands, "exp")),
        (&["co"], starting_with(&commands, "co")),
        (&["report", "c"], starting_with(&reports, "c")),
        (
            &["report", "calls", "--f"],
            "--from --format --first --fn --focus".to_owned(),
        ),
        (&["import", "--from", "fo"], starting_with(&formats, "fo")),
        (&["import", "--from", "ghc"], starting_with(&formats, "ghc")),
        (
            &["export", "--format", "dyalog"],
            starting_with(&exports, "dyalog"),
        ),
        (
            &["report", "summary", "--format", "j"],
            "json jsonl".to_owned(),
        ),
        (
            &["report", "summary", "--percent-of", ""],
            "total selection".to_owned(),
        ),
        (&["formats", "ps"], starting_with(&formats, "ps")),
        (
            &["formats", "py"],
            "py py-spy pyinstrument pyinstrument_json python3".to_owned(),
        ),
        // Files are what bash offers where there is no answer, and no flags without a dash.
        (&["import", ""], String::new()),
        (&["dump", ""], String::new()),
        (&["report", "--html", ""], String::new()),
    ];
    for (words, _) in &table {
        let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
        asked.extend(["try profdb ", &quoted.join(" "), "\n"]);
    }
    let bash = bash
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut bash = bash.expect("bash is there");
    bash.stdin
        .take()
        .expect("a pipe")
        .write_all(asked.as_bytes())
        .expect("bash reads");
    let said = bash.wait_with_output().expect("bash ends");
    assert_eq!(text(&said.stderr), "");
    let expected: Vec<&str> = table
        .iter()
        .map(|(_, expected)| expected.as_str())
        .collect();
    assert_eq!(text(&said.stdout).lines().collect::<Vec<_>>(), expected);
}

/// Those of some names that a shell offers for their beginning, as it writes them.
fn starting_with(names: &[&str], start: &str) -> String {
    let found: Vec<&str> = names
        .iter()
        .copied()
        .filter(|name| name.starts_with(start))
        .collect();
    assert!(!found.is_empty(), "{start}");
    found.join(" ")
}

#[test]
fn every_shell_has_a_script() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = profdb(&["completions", shell]);
        let words = text(&script.stdout);
        assert!(
            script.status.success() && words.contains("call_lines") && words.contains("convert"),
            "{shell}"
        );
    }
}

/// `profdb FILE` of a database, whatever it is called.
#[test]
fn a_database_lists_its_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    fs::write(path("p.folded"), "main;f 1\n").expect("a file");
    let (file, database) = (path("p.folded"), path("mine"));
    assert!(
        profdb(&["import", "--db", &database, &file])
            .status
            .success()
    );
    let runs = profdb(&["runs", "--db", &database]);
    assert!(text(&runs.stdout).contains("p.folded"));
    assert_eq!(profdb(&[&database]).stdout, runs.stdout);
    let csv = profdb(&["runs", "--db", &database, "--format", "csv"]);
    assert_eq!(profdb(&[&database, "--format", "csv"]).stdout, csv.stdout);
}

/// Writes the manual pages to a folder, and returns their names.
fn write_manual_pages(folder: &Path) -> Vec<String> {
    let written = profdb(&["man", folder.to_str().expect("a name in UTF-8")]);
    assert_eq!(
        (written.status.code(), text(&written.stderr)),
        (Some(0), String::new())
    );
    let mut names = Vec::new();
    expected_pages("profdb", &profdb::cli::program(), &mut names);
    names
}

#[test]
fn every_command_has_a_manual_page() {
    let above = tempfile::tempdir().expect("a folder");
    // Folders that are not there are made.
    let folder = above.path().join("share/man1");
    let names = write_manual_pages(&folder);
    for name in &names {
        assert!(folder.join(name).is_file(), "{name}");
    }
    assert_eq!(
        fs::read_dir(&folder).expect("a folder").count(),
        names.len(),
        "{names:?}"
    );
}

/// mandoc has nothing to say about a page but style.
#[test]
fn manual_pages_are_well_formed() {
    tools::require("mandoc");
    let folder = tempfile::tempdir().expect("a folder");
    let mandoc = |arguments: &[&str], name: &str| {
        let shown = tools::command("mandoc")
            .args(arguments)
            .arg(folder.path().join(name))
            .output();
        text(&shown.expect("it was found").stdout)
    };
    for name in write_manual_pages(folder.path()) {
        assert_eq!(mandoc(&["-Tlint", "-Wwarning"], &name), "", "{name}");
    }
    let shown = mandoc(&["-Tutf8"], "profdb-report-calls.1").replace('\u{8}', "");
    assert!(
        shown.contains("Runs: latest, number, last N, KEY=VALUE, uid, title, file"),
        "{shown}"
    );
}

fn expected_pages(name: &str, command: &clap::Command, names: &mut Vec<String>) {
    names.push(format!("{name}.1"));
    for below in command.get_subcommands() {
        expected_pages(&format!("{name}-{}", below.get_name()), below, names);
    }
}

#[test]
fn manual_pages_need_a_folder() {
    let above = tempfile::tempdir().expect("a folder");
    let file = above.path().join("file");
    fs::write(&file, "").expect("a file");
    let folder = file.join("man1").display().to_string();
    let written = profdb(&["man", &folder]);
    assert_eq!(written.status.code(), Some(1));
    assert!(
        text(&written.stderr).starts_with(&format!("profdb: {folder}: cannot make the folder: ")),
        "{}",
        text(&written.stderr)
    );
}

/// Which program, which database, which SQLite: what a report of a defect needs.
#[test]
fn version_says_what_is_inside() {
    let (schema, sqlite) = profdb::store::versions();
    let expected = format!(
        "profdb {} (schema version {schema}, SQLite {sqlite})",
        env!("CARGO_PKG_VERSION")
    );
    for flag in ["--version", "-V"] {
        let said = profdb(&[flag]);
        assert_eq!(said.status.code(), Some(0));
        assert_eq!(text(&said.stdout).lines().next(), Some(&*expected));
    }
}

/// SQLite itself knows how it was built, whoever has built this program and how.
#[test]
fn version_says_how_later_runs_are_written() {
    let sql = "SELECT sqlite_compileoption_used('ENABLE_DBPAGE_VTAB')";
    let file = "tests/cases/dyalog_xml/shop-tree/run.xml";
    let asked = profdb(&["sql", "--format", "csv", sql, file]);
    let by_pages = match text(&asked.stdout).lines().last() {
        Some("1") => true,
        Some("0") => false,
        found => panic!("expected 0 or 1, found {found:?}"),
    };
    let said = text(&profdb(&["--version"]).stdout);
    let way = said.lines().nth(1).expect("a second line");
    let expected = if by_pages {
        "imports into existing databases write whole pages"
    } else {
        "imports into existing databases write row by row, which takes twice the time: built without LIBSQLITE3_FLAGS=-DSQLITE_ENABLE_DBPAGE_VTAB (docs/release.md)"
    };
    assert_eq!(way, expected);
}
