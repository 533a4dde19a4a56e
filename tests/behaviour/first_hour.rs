//! What stops somebody in the first hour: figures that a narrow terminal cuts, files that become something
//! else by being read, and answers that leave out what to do.

#![expect(clippy::disallowed_methods, reason = "small files of our own")]

use std::fs;
use std::path::Path;

use crate::support::program::{self, PROFDB};
use crate::support::tools;

/// What a command said.
struct Said {
    code: Option<i32>,
    out: String,
    errors: String,
}

fn profdb(folder: &Path, arguments: &[&str]) -> Said {
    let done = program::command()
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("it was built");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Said {
        code: done.status.code(),
        out: text(done.stdout),
        errors: text(done.stderr),
    }
}

/// Returns what a terminal of this many columns shows of a command.
fn on_terminal(folder: &Path, columns: usize, command: &str) -> String {
    on_terminal_with("NO_COLOR=1", folder, columns, command)
}

/// Returns what a terminal shows of a command with an environment variable.
fn on_terminal_with(variable: &str, folder: &Path, columns: usize, command: &str) -> String {
    let environment = format!("PROFDB_PAGER= {variable}");
    let line = format!("stty rows 200 cols {columns}; {environment} '{PROFDB}' {command}");
    let done = tools::terminal(&line)
        .current_dir(folder)
        .env_remove("PROFDB_DB")
        .env("TERM", "xterm")
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&done.stdout).replace("\r\n", "\n");
    // What shows that a command is at work is written over by what comes after it.
    let shown = said.lines().map(|line| {
        let line = line.rsplit("\u{1b}[2K").next().unwrap_or_default();
        line.rsplit('\r').next().unwrap_or_default()
    });
    shown.collect::<Vec<_>>().join("\n")
}

/// A folder with files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    folder
}

/// Five recordings of a program, in which one function costs `factor` times as much.
fn recordings(folder: &Path, side: &str, factor: u64) {
    fs::create_dir_all(folder.join(side)).expect("a folder");
    for (run, noise) in [97, 103, 110, 91, 105].into_iter().enumerate() {
        let cost = |cost: u64, at: u64| cost * (noise + (at * 7 + run as u64 * 5) % 13) / 100;
        let text = format!(
            "main;a_function_whose_name_is_longer_than_others {}\nmain;std::parse<std::string, std::string> {}\nmain;c {}\n",
            cost(40_000, 1),
            cost(2000 * factor, 2),
            cost(900, 3),
        );
        fs::write(folder.join(side).join(format!("{run}.folded")), text).expect("a file");
    }
}

/// Words of a line.
fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

#[test]
fn verdicts_and_shares_are_coloured_on_terminals_only() {
    let folder = folder(&[
        ("p.folded", "main;a 940\nmain;b\u{fdd0} 59\nmain;c 1\n"),
        ("budget", "fn '*parse*' <= +10 %\ntotal <= +300 %\n"),
    ]);
    recordings(folder.path(), "old", 1);
    recordings(folder.path(), "new", 11);
    let coloured = [
        ("diff old new", "\u{1b}[31mslower\u{1b}[39m"),
        ("diff new old", "\u{1b}[32mfaster\u{1b}[39m"),
        ("diff old new", "\u{1b}[33munclear: "),
        (
            "gate --budget budget --base old --new new",
            "\u{1b}[31mfail\u{1b}[39m",
        ),
        (
            "gate --budget budget --base old --new new",
            "\u{1b}[32mpass\u{1b}[39m",
        ),
        (
            "report summary p.folded --exclusive",
            "\u{1b}[31m94.0\u{1b}[39m",
        ),
        (
            "report summary p.folded --exclusive",
            " \u{1b}[31m5.9\u{1b}[39m",
        ),
        ("report summary p.folded --exclusive", " 0.1"),
    ];
    for (command, expected) in coloured {
        let shown = on_terminal_with("NO_COLOR=", folder.path(), 120, command);
        assert!(shown.contains(expected), "{command}: {shown:?}");
        let plain = on_terminal(folder.path(), 120, command);
        assert!(!plain.contains('\u{1b}'), "{command}: {plain:?}");
        let mut without = shown;
        for colour in [31, 32, 33, 39] {
            without = without.replace(&format!("\u{1b}[{colour}m"), "");
        }
        assert_eq!(without, plain, "{command}");
        let words: Vec<&str> = command.split(' ').collect();
        let redirected = profdb(folder.path(), &words).out;
        assert!(
            !redirected.contains(['\u{1b}', '\u{fdd0}']),
            "{redirected:?}"
        );
    }
    // Names cannot colour the output in any format.
    for format in ["text", "csv", "json"] {
        let command = format!("report summary p.folded --format {format}");
        let shown = on_terminal_with("NO_COLOR=", folder.path(), 120, &command);
        assert!(shown.contains("b\\u{fdd0}"), "{shown:?}");
    }
}

#[test]
fn a_narrow_terminal_cuts_no_figure() {
    let folder = folder(&[]);
    recordings(folder.path(), "old", 1);
    recordings(folder.path(), "new", 11);
    let whole = profdb(folder.path(), &["diff", "old", "new"]).out;
    let table = |text: &str| -> Vec<String> {
        let rows = text
            .lines()
            .skip_while(|line| !line.starts_with("function "));
        rows.map(str::to_owned).collect()
    };
    assert_eq!(table(&whole).len(), 4, "{whole}");
    assert!(whole.contains("unclear: "), "{whole}");
    for columns in [80, 60, 40] {
        let narrow = on_terminal(folder.path(), columns, "diff old new");
        for (whole, narrow) in table(&whole).iter().zip(table(&narrow)).skip(1) {
            // Names may have blanks: what comes after them is compared.
            let (whole, narrow) = (words(whole), words(&narrow));
            let figures = whole.len().min(narrow.len()) - 1;
            let tail = |words: &[&str]| words[words.len() - figures..].join(" ");
            assert!(figures > 5);
            assert_eq!(tail(&narrow), tail(&whole), "{columns} columns");
        }
        assert!(narrow.contains('…'), "{narrow}");
    }
}

#[test]
fn a_list_of_runs_fits_a_terminal_and_says_what_it_leaves_out() {
    let folder = folder(&[("a-profile-with-a-name.folded", "main;f 1\n")]);
    let at = folder.path();
    profdb(at, &["import", "a-profile-with-a-name.folded"]);
    let widest = |text: &str| text.lines().map(|line| line.chars().count()).max();
    let plain = on_terminal(at, 80, "runs");
    let table = |text: &str| text.split_once("\n\n").expect("a table").1.to_owned();
    assert!(
        plain.starts_with("Not shown: fidelity, metrics") && plain.contains("run_uid"),
        "{plain}"
    );
    assert!(plain.contains("; --wide shows all\n\n"), "{plain}");
    assert!(widest(&table(&plain)) <= Some(80), "{plain}");
    for tag in ["branch=main", "host=red", "note=words that take room"] {
        profdb(at, &["tag", "1", tag]);
    }
    let tagged = on_terminal(at, 80, "runs");
    assert!(widest(&table(&tagged)) <= Some(80), "{tagged}");
    assert!(tagged.contains('Z'), "{tagged}");
    let all = on_terminal(at, 80, "runs --wide");
    assert_eq!(
        all.trim_end(),
        profdb(at, &["runs", "--wide"]).out.trim_end()
    );
    let sql = on_terminal(at, 80, "sql 'SELECT * FROM runs'");
    assert!(
        sql.contains("Not shown: ") && sql.contains("recorded_utc; --wide"),
        "{sql}"
    );
    assert!(widest(&table(&sql)) <= Some(80), "{sql}");
    // One column too wide for the screen stays.
    let one = on_terminal(
        at,
        30,
        "sql 'SELECT 1234567890123456789 AS a_title_wider_than_the_screen'",
    );
    assert!(one.contains("1234567890123456789"), "{one}");
}

/// A file name that another user has chosen, with sequences that control a terminal.
const EVIL_NAME: &str = "x\u{1b}]0;pwned\u{7}\u{1b}[2J\u{202e}.pstats";

/// Commands that clap refuses, in which the name is unexpected or a wrong value.
const EVIL_COMMANDS: [&[&str]; 8] = [
    &["check", EVIL_NAME],
    &["compact", EVIL_NAME],
    &["report", "--first", EVIL_NAME],
    &["report", "summary", "a.pstats", EVIL_NAME],
    &["export", "--format", EVIL_NAME],
    &["formats", "x", EVIL_NAME],
    &["diff", "a", "b", "--by", EVIL_NAME],
    &[EVIL_NAME, "--nothing"],
];

/// Returns true for a character that messages must not contain.
fn is_unsafe(character: char) -> bool {
    character != '\n' && profdb::report::render::is_unsafe(character)
}

#[test]
fn messages_of_clap_contain_no_control_sequences() {
    let folder = folder(&[]);
    for command in EVIL_COMMANDS {
        let said = profdb(folder.path(), command);
        assert!(
            !said.errors.contains(is_unsafe),
            "{command:?}: {:?}",
            said.errors
        );
        assert_ne!(said.code, Some(0));
    }
}

#[test]
fn messages_of_clap_on_a_terminal_contain_colours_only() {
    let folder = folder(&[]);
    for command in EVIL_COMMANDS {
        let quoted: Vec<String> = command.iter().map(|word| format!("'{word}'")).collect();
        let shown = on_terminal(folder.path(), 100, &quoted.join(" "));
        // Colours are clap's own.
        let colours = shown.replace("\u{1b}[", "[");
        let is_moved = shown.contains("\u{1b}]") || shown.contains("\u{1b}[2J");
        assert!(
            !is_moved && !colours.contains(is_unsafe),
            "{command:?}: {shown:?}"
        );
        assert!(shown.contains("\\u{1b}]0;pwned"), "{command:?}: {shown:?}");
    }
}

#[test]
fn who_reads_an_empty_file_makes_no_database_of_it() {
    let folder = folder(&[("notes.txt", ""), ("p.folded", "main;f 1\n")]);
    let at = folder.path();
    let commands: [&[&str]; 17] = [
        &["runs"],
        &["report"],
        &["report", "state"],
        &["report", "--html", "page.html"],
        &["show"],
        &["check"],
        &["sql", "SELECT 1"],
        &["export", "--format", "folded"],
        &["export", "--format", "parquet", "--out", "dataset"],
        &["compact"],
        &["identify"],
        &["tag", "1", "a=1"],
        &["delete", "1"],
        &["history"],
        &["steps"],
        &["diff", "1", "2"],
        &["serve", "--no-browser"],
    ];
    let message = "profdb: notes.txt is empty; `profdb import --db notes.txt FILE` creates a database in it\n";
    for command in commands {
        let mut arguments = command.to_vec();
        if command[0] == "serve" {
            arguments = vec!["serve", "notes.txt"];
        } else {
            arguments.extend(["--db", "notes.txt"]);
        }
        let said = profdb(at, &arguments);
        assert_eq!(
            (said.code, said.errors.as_str()),
            (Some(5), message),
            "{command:?}"
        );
        assert_eq!(
            fs::read(at.join("notes.txt")).expect("it is there"),
            b"",
            "{command:?}"
        );
    }
    assert_eq!(
        profdb(at, &["merge", "all.db", "notes.txt"]).errors,
        message
    );
    assert!(!at.join("all.db").exists());
    // It is no file that another program would miss.
    assert_eq!(
        profdb(at, &["import", "--db", "notes.txt", "p.folded"]).code,
        Some(0)
    );
    assert_eq!(
        profdb(at, &["delete", "--db", "notes.txt", "1"]).code,
        Some(0)
    );
    for command in &commands[1..2] {
        let said = profdb(at, &[*command, &["--db", "notes.txt"]].concat());
        assert_eq!(said.errors, "profdb: the database has no runs\n");
    }
    for command in [
        &["show"][..],
        &["tag", "1", "a=1"],
        &["delete", "a=1"],
        &["diff", "1", "2"],
        &["export", "--format", "folded"],
        &["history"],
    ] {
        let said = profdb(at, &[command, &["--db", "notes.txt"]].concat());
        assert_eq!(
            (said.code, said.errors.as_str()),
            (Some(4), "profdb: the database has no runs\n"),
            "{command:?}"
        );
    }
    let listed = profdb(at, &["runs", "--db", "notes.txt"]);
    assert_eq!(
        (listed.code, listed.errors.as_str()),
        (Some(0), "profdb: the database has no runs\n")
    );
}

#[test]
fn a_run_that_was_tagged_otherwise_since_is_another_one() {
    let folder = folder(&[("p.folded", "main;f 1\n"), ("q.folded", "main;f 2\n")]);
    let at = folder.path();
    let import = |tags: &[&str]| {
        let mut arguments = vec!["import", "p.folded"];
        for tag in tags {
            arguments.extend(["--tag", tag]);
        }
        let said = profdb(at, &arguments);
        assert_eq!(said.code, Some(0));
        said.out + &said.errors
    };
    let stored = |run: u32| format!("p.folded: run {run}, 2 nodes\n");
    let known = |run: u32, tags: &str| {
        format!(
            "profdb: p.folded: already imported as run {run} ({tags}); --again stores it again\n"
        )
    };
    assert_eq!(import(&["a=1"]), stored(1));
    assert_eq!(import(&["a=2"]), stored(2));
    profdb(at, &["tag", "2", "a=1"]);
    // No run has a=2 any more.
    assert_eq!(import(&["a=2"]), stored(3));
    assert_eq!(import(&["a=2"]), known(3, "a=2"));
    assert_eq!(import(&["a=1"]), known(1, "a=1"));
    // More tags make no other run of it, fewer do.
    profdb(at, &["tag", "1", "reviewed=yes"]);
    assert_eq!(import(&["a=1"]), known(1, "a=1, reviewed=yes"));
    profdb(at, &["tag", "3", "--remove", "a"]);
    let duplicate = "profdb: run 4 has the content of run 3, which has other tags; `profdb delete 4` deletes what was stored now\n";
    assert_eq!(import(&["a=2"]), stored(4) + duplicate);
    assert_eq!(import(&["a=2"]), known(4, "a=2"));
    // Uids stay unique, and a merge finds nothing new.
    let uids = profdb(
        at,
        &[
            "sql",
            "SELECT COUNT(*), COUNT(DISTINCT run_uid) FROM runs",
            "--format",
            "csv",
        ],
    );
    assert_eq!(uids.out.lines().nth(1), Some("4,4"));
    assert_eq!(
        profdb(at, &["merge", "copy.db", "profdb.db"])
            .out
            .lines()
            .count(),
        4
    );
    assert_eq!(profdb(at, &["merge", "copy.db", "profdb.db"]).out, "");
    // Files that are stored in groups, too.
    let many = profdb(at, &["import", "--tag", "a=2", "p.folded", "q.folded"]);
    assert_eq!(many.out, "q.folded: run 5, 2 nodes\n");
    profdb(at, &["tag", "4,5", "a=3"]);
    let many = profdb(at, &["import", "--tag", "a=2", "p.folded", "q.folded"]);
    assert_eq!(
        many.out,
        "p.folded: run 6, 2 nodes\nq.folded: run 7, 2 nodes\n"
    );
    assert_eq!(profdb(at, &["check"]).code, Some(0));
}

#[test]
fn a_database_in_the_place_of_a_profile_has_a_remedy() {
    let folder = folder(&[("p.folded", "main;f 1\n"), ("budget", "any <= +5 %\n")]);
    let at = folder.path();
    profdb(at, &["import", "--db", "a.db", "p.folded"]);
    let asks: [&[&str]; 8] = [
        &["report", "a.db"],
        &["show", "a.db"],
        &["diff", "a.db", "p.folded"],
        &["convert", "a.db", "--to", "folded"],
        &["export", "a.db", "--format", "folded"],
        &["sql", "SELECT 1", "a.db"],
        &["dump", "a.db"],
        &["gate", "--budget", "budget", "p.folded", "a.db"],
    ];
    for command in asks {
        let said = profdb(at, command);
        let expected = "profdb: a.db: expected a profile, found an SQLite database: use `--db a.db` if it is a profdb database\n";
        assert_eq!(
            (said.code, said.errors.as_str()),
            (Some(3), expected),
            "{command:?}"
        );
    }
    let said = profdb(at, &["import", "a.db"]);
    let expected = "profdb: a.db: expected a profile, found an SQLite database: use `profdb merge INTO a.db` if it is a profdb database\n";
    assert_eq!((said.code, said.errors.as_str()), (Some(3), expected));
    // Commands that only ask for runs do not look for them in another database.
    let asks: [&[&str]; 3] = [
        &["runs", "a.db"],
        &["delete", "a.db"],
        &["tag", "a.db", "k=v"],
    ];
    for command in asks {
        let said = profdb(at, command);
        let expected = "profdb: a.db: expected runs, found an SQLite database; use `--db a.db` if it is a profdb database\n";
        assert_eq!(
            (said.code, said.errors.as_str()),
            (Some(2), expected),
            "{command:?}"
        );
    }
}

/// What a message proposes can be typed as it is.
#[test]
fn names_that_a_shell_would_take_apart_are_proposed_in_quotes() {
    let folder = folder(&[
        ("my runs/p.folded", "main;f 1\n"),
        ("-p.folded", "main;f 1\n"),
        ("import", "main;f 1\n"),
    ]);
    let at = folder.path();
    let table: [(&[&str], i32, &str); 5] = [
        (
            &["my runs"],
            2,
            "my runs is a directory; `profdb import my\\ runs` stores the profiles in it",
        ),
        (
            &["runs", "--db", "my runs.db"],
            5,
            "the database my runs.db does not exist; `profdb import --db my\\ runs.db FILE` creates it",
        ),
        (
            &["runs"],
            5,
            "the database profdb.db does not exist; `profdb import FILE` creates it",
        ),
        (
            &["-p.folded"],
            2,
            "-p.folded looks like a flag; `profdb ./-p.folded` shows the file of this name",
        ),
        (
            &["--", "-q.folded"],
            2,
            "no command or file is called ./-q.folded; `profdb help` lists the commands",
        ),
    ];
    for (command, code, expected) in table {
        let said = profdb(at, command);
        assert_eq!(
            (said.code, said.errors),
            (Some(code), format!("profdb: {expected}\n")),
            "{command:?}"
        );
    }
    for command in [&["--", "-p.folded"][..], &["--", "import"], &["./import"]] {
        let said = profdb(at, command);
        assert_eq!(
            (said.code, said.errors.as_str()),
            (Some(0), ""),
            "{command:?}"
        );
        assert!(said.out.contains("main"), "{}", said.out);
    }
}

#[test]
fn a_file_that_is_missing_is_said_to_be() {
    let folder = folder(&[("p.folded", "main;f 1\n"), ("budget", "any <= +5 %\n")]);
    let at = folder.path();
    let commands: [(&[&str], &str); 5] = [
        (&["diff", "a", "b"], "a"),
        (&["gate", "--budget", "budget", "base", "nodir"], "nodir"),
        (&["show", "new.pstats"], "new.pstats"),
        (
            &["export", "--format", "folded", "new.pstats"],
            "new.pstats",
        ),
        (&["show", "new"], "new"),
    ];
    for (command, name) in commands {
        let said = profdb(at, command);
        let expected = format!(
            "profdb: {name}: no such file, and no database profdb.db that could have a run of this name\n"
        );
        assert_eq!((said.code, said.errors), (Some(3), expected), "{command:?}");
    }
    profdb(at, &["import", "p.folded"]);
    for command in [
        &["show", "new.pstats"][..],
        &["export", "--format", "folded", "new.pstats"],
    ] {
        let said = profdb(at, command);
        let expected = "profdb: new.pstats: no such file, and no run has this name; `profdb runs` lists the runs\n";
        assert_eq!(
            (said.code, said.errors.as_str()),
            (Some(3), expected),
            "{command:?}"
        );
    }
    // A run of this name is found, wherever its file has gone.
    fs::remove_file(at.join("p.folded")).expect("it is there");
    assert_eq!(profdb(at, &["show", "p.folded"]).code, Some(0));
}

/// Root is refused nothing, so the commands run as another user.
#[cfg(target_os = "linux")]
#[test]
fn what_a_user_may_not_read_is_said_to_be_so() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt as _;

    tools::require_other_users();
    let folder = folder(&[("in/p.folded", "main;f 1\n")]);
    let at = folder.path();
    let mode = |path: &str, mode: u32| {
        fs::set_permissions(at.join(path), fs::Permissions::from_mode(mode)).expect("it is ours");
    };
    profdb(at, &["import", "--db", "secret.db", "in/p.folded"]);
    tools::install_program(&at.join("profdb"));
    mode("", 0o755);
    mode("secret.db", 0o600);
    fs::create_dir(at.join("open")).expect("a folder");
    for name in [
        "shown.db",
        "shared.db",
        "log.db",
        "open/shown.db",
        "open/log.db",
    ] {
        profdb(at, &["import", "--db", name, "in/p.folded"]);
        mode(name, if name == "shared.db" { 0o666 } else { 0o644 });
        if name.ends_with("log.db") {
            let other = rusqlite::Connection::open(at.join(name)).expect("a database");
            other
                .pragma_update(None, "journal_mode", "WAL")
                .expect("nobody else is here");
        }
    }
    mode("open", 0o777);
    fs::write(at.join("q.folded"), "main;g 2\n").expect("a file");
    mode("q.folded", 0o644);
    mode("in", 0o000);
    let said = |arguments: &[&str]| {
        let done = tools::command_at(at.join("profdb"))
            .args(arguments)
            .uid(tools::STRANGER)
            .gid(tools::STRANGER)
            .current_dir(at)
            .env_remove("PROFDB_DB")
            .output()
            .expect("it runs");
        (
            done.status.code(),
            String::from_utf8_lossy(&done.stderr).into_owned(),
        )
    };
    let here = fs::canonicalize(at).expect("a folder");
    let not_here = format!(
        "no permission to create files in its directory, {}",
        here.display()
    );
    let no_new = format!("new.db: Permission denied: {not_here}");
    let no_journal = format!("shared.db: the database cannot be written: {not_here}");
    let table: [(&[&str], i32, &str); 14] = [
        (
            &["import", "--db", "shown.db", "q.folded"],
            5,
            "shown.db: the database cannot be written: no permission to change the file",
        ),
        (
            &["tag", "1", "a=1", "--db", "open/shown.db"],
            5,
            "open/shown.db: the database cannot be written: no permission to change the file",
        ),
        (
            &["compact", "--db", "shown.db"],
            5,
            "shown.db: Permission denied: no permission to change the file",
        ),
        (&["import", "--db", "shared.db", "q.folded"], 5, &no_journal),
        (&["import", "--db", "new.db", "q.folded"], 5, &no_new),
        (
            &["runs", "--db", "log.db"],
            5,
            "log.db: it is in WAL mode, where reading needs to write a file beside it, and that is not permitted here; copy the database, or let its owner run `sqlite3 log.db 'PRAGMA journal_mode=DELETE'`",
        ),
        (
            &["merge", "open/other.db", "log.db"],
            5,
            "log.db: it is in WAL mode, where reading needs to write a file beside it, and that is not permitted here; copy the database, or let its owner run `sqlite3 log.db 'PRAGMA journal_mode=DELETE'`",
        ),
        (
            &["import", "--db", "open/log.db", "q.folded"],
            5,
            "open/log.db: the database cannot be written: no permission to change the file",
        ),
        (
            &["in/p.folded"],
            3,
            "in/p.folded: cannot open it: Permission denied",
        ),
        (
            &["show", "in/p.folded"],
            3,
            "in/p.folded: cannot open it: Permission denied",
        ),
        (
            &["diff", "in/p.folded", "in/p.folded"],
            3,
            "in/p.folded: cannot open it: Permission denied",
        ),
        (
            &["runs", "--db", "secret.db"],
            5,
            "secret.db: Permission denied",
        ),
        (
            &["runs", "--db", "in/a.db"],
            5,
            "in/a.db: Permission denied",
        ),
        (
            &["tag", "1", "a=1", "--db", "secret.db"],
            5,
            "secret.db: Permission denied",
        ),
    ];
    let found: Vec<_> = table.iter().map(|(command, ..)| said(command)).collect();
    mode("in", 0o755);
    for ((command, code, expected), found) in table.iter().zip(found) {
        assert_eq!(
            found,
            (Some(*code), format!("profdb: {expected}\n")),
            "{command:?}"
        );
    }
}

#[test]
fn a_report_says_what_the_file_does_not_know() {
    let folder = folder(&[
        ("p.folded", "main;f 1\n"),
        ("hex.folded", "0x1f3a;0x2b 5\n0x1f3a;main 1\n"),
    ]);
    let at = folder.path();
    let flat = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/samples/gprof/flat-b.txt"
    );
    let no_lines = "profdb: p.folded has no line numbers; report summary shows functions\n";
    let flat_of_itself = format!(
        "profdb: {flat}: cumulative time is unknown: report exclusive shows exclusive time\n"
    );
    let table: [(&[&str], &str); 6] = [
        (&["report", "lines", "p.folded"], no_lines),
        (&["p.folded", "--code"], no_lines),
        (&["report", "summary", "--lines", "p.folded"], no_lines),
        (
            &["report", "data", "--code", "p.folded"],
            "profdb: p.folded has no line numbers, so there is no source to show\n",
        ),
        (&["report", "cumulative", flat], flat_of_itself.as_str()),
        (
            &["hex.folded"],
            "profdb: hex.folded: the file has addresses instead of function names; `profdb formats samply`, or the name of your profiler, describes how to record names\n",
        ),
    ];
    for (command, expected) in table {
        let said = profdb(at, command);
        assert_eq!(
            (said.code, said.errors.as_str()),
            (Some(0), expected),
            "{command:?}"
        );
    }
    // Nor is a report proposed that has nothing to say.
    let said = profdb(at, &["report", "calls", "--fn", "fib", flat]);
    assert!(
        said.errors
            .ends_with("has totals only. Try summary or data\n"),
        "{}",
        said.errors
    );
    // What is stored has a number, and what comes from elsewhere no name.
    profdb(at, &["import", "p.folded"]);
    let table: [(&[&str], &str); 6] = [
        (
            &["report", "lines"],
            "run 1 has no line numbers; report summary shows functions",
        ),
        (
            &["report", "--fn", "zzz"],
            "run 1 has no function zzz; report summary lists the functions",
        ),
        (
            &["report", "--fn", "zzz", "p.folded"],
            "p.folded has no function zzz; report summary lists the functions",
        ),
        (
            &["report", "--fn", "z*", "p.folded"],
            "no function of p.folded matches z*; report summary lists the functions",
        ),
        (
            &["report", "--metric", "bytes", "p.folded"],
            "p.folded has no metric `bytes`; it has samples",
        ),
        (
            &["convert", "p.folded", "--to", "dyalog_xml"],
            "a file of `]PROFILE` holds times, but `samples` of p.folded is in count; choose a metric in ns with --metric, or \
             another format",
        ),
    ];
    for (command, expected) in table {
        let said = profdb(at, command).errors;
        assert_eq!(said, format!("profdb: {expected}\n"), "{command:?}");
    }
    let Said { errors, .. } = profdb(at, &["diff", "p.folded", "hex.folded", "--focus", "zzz"]);
    assert!(!errors.contains("run 1"), "{errors}");
}

/// A part of a name leads to the names that have it, the shortest first, before those that only look alike.
#[test]
fn a_part_of_a_name_leads_to_it() {
    let names = "main;std::parse<int>(char const*) 3\nmain;Shop.Cart.parse_all 2\nmain;pause 1\n";
    let folder = folder(&[("p.folded", names)]);
    let said = profdb(folder.path(), &["report", "--fn", "parse", "p.folded"]);
    let expected = "profdb: p.folded has no function parse; the nearest: Shop.Cart.parse_all, std::parse<int>(char const*), pause\n";
    assert_eq!((said.code, said.errors.as_str()), (Some(4), expected));
}

#[test]
fn a_language_leads_to_what_is_known_of_it() {
    let folder = folder(&[]);
    let table = [
        ("node", "node --cpu-prof"),
        ("nodejs", "node --cpu-prof"),
        ("Haskell", "ghc_prof: "),
        ("Lisp", "lispworks_tree: "),
        ("Business Rules!", "## business_rules"),
        ("business rules", "## business_rules"),
        ("Flight Recorder", "jfrconv FILE"),
        ("jfr", "jfrconv FILE"),
        ("cpp", "perf record -g"),
        ("c++", "perf record -g"),
        ("C", "Formats: folded, callgrind."),
        ("dotnet", "dotnet-trace collect"),
        ("Rust", "samply record"),
        ("samply", "for names see firefox (`profdb formats firefox`)"),
    ];
    for (name, expected) in table {
        let said = profdb(folder.path(), &["formats", name]);
        assert!(
            said.out.contains(expected),
            "{name}: {}{}",
            said.out,
            said.errors
        );
    }
    assert_eq!(
        profdb(folder.path(), &["formats", "scalene"]).out,
        "profdb cannot import a Scalene profile: see `profdb formats`.\n"
    );
    // Whoever writes an example in README's table is understood.
    let readme =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).expect("it is there");
    let rows = readme
        .lines()
        .skip_while(|line| !line.starts_with("| you write"));
    let mut asked = 0;
    for row in rows.skip(2).take_while(|line| line.starts_with('|')) {
        let cell = row.split('|').nth(1).expect("a cell");
        for name in cell
            .split(['[', ']'])
            .skip(1)
            .step_by(2)
            .flat_map(|names| names.split(", "))
        {
            let said = profdb(folder.path(), &["formats", name]);
            assert!(
                said.code == Some(0) && !said.out.starts_with("Not read"),
                "{name}: {}",
                said.out
            );
            asked += 1;
        }
    }
    assert!(asked > 12, "{asked}");
}

#[test]
fn the_name_of_an_output_says_what_it_is() {
    let folder = folder(&[("p.folded", "main;f 1\n")]);
    let at = folder.path();
    let export = |arguments: &[&str]| profdb(at, &[&["export", "p.folded"], arguments].concat());
    let bytes = |name: &str| fs::read(at.join(name)).expect("it is written");
    for (name, start) in [
        ("a.folded.gz", &b"\x1f\x8b"[..]),
        ("a.folded.zst", b"\x28\xb5\x2f\xfd"),
        ("a.folded", b"main;f 1"),
        ("a.pb.gz", b"\x1f\x8b"),
        ("a.svg", b"<?xml"),
        ("a.svg.gz", b"\x1f\x8b"),
        ("a.speedscope.json", b"{"),
    ] {
        let said = export(&["-o", name]);
        assert_eq!(said.code, Some(0), "{name}: {}", said.errors);
        assert!(
            bytes(name).starts_with(start),
            "{name}: {:?}",
            &bytes(name)[..20]
        );
        // What is packed once is read again.
        if !name.contains("svg") {
            let read = profdb(
                at,
                &[
                    "sql",
                    "SELECT SUM(exclusive) FROM summary",
                    name,
                    "--format",
                    "csv",
                ],
            );
            assert_eq!(
                read.out.lines().nth(1),
                Some("1"),
                "{name}: {}",
                read.errors
            );
        }
    }
    let converted = profdb(at, &["convert", "p.folded", "-o", "b.svg"]);
    assert_eq!(converted.code, Some(0), "{}", converted.errors);
    assert_eq!(bytes("b.svg"), bytes("a.svg"));
    let refused: [(&[&str], &str); 7] = [
        (
            &["--format", "folded", "-o", "x.svg"],
            "folded is not an image; `--format flamegraph` writes SVG",
        ),
        (
            &["--format", "pprof", "-o", "x.png"],
            "pprof is not an image",
        ),
        (
            &["--format", "flamegraph", "-o", "x.png"],
            "the output is SVG",
        ),
        (
            &["--format", "folded", "-o", "x.html"],
            "`profdb report --html x.html` writes a page",
        ),
        (
            &["--format", "folded", "-o", "x.xz"],
            "use .gz, .zst, or a name without .xz",
        ),
        (
            &["--format", "pprof", "-o", "x.pb.zst"],
            "pprof is compressed with gzip",
        ),
        (
            &["-o", "x"],
            "expected --format FORMAT, or a file name with a known extension",
        ),
    ];
    for (arguments, expected) in refused {
        let said = export(arguments);
        assert!(
            said.code == Some(2) && said.errors.contains(expected),
            "{arguments:?}: {}",
            said.errors
        );
    }
    let reports = [
        ("x.html", "`profdb report --html FILE` writes an HTML page"),
        ("x.svg", "`profdb export --format flamegraph -o FILE` draws"),
        ("x.csv.gz", "reports are not compressed"),
    ];
    for (name, expected) in reports {
        let said = profdb(at, &["report", "p.folded", "-o", name]);
        assert!(
            said.code == Some(2) && said.errors.contains(expected),
            "{name}: {}",
            said.errors
        );
        assert!(!at.join(name).exists());
    }
}

#[test]
fn bytes_for_a_terminal_are_refused() {
    let folder = folder(&[("p.folded", "main;f 1\n")]);
    let shown = on_terminal(folder.path(), 100, "convert p.folded --to pprof");
    assert_eq!(
        shown.trim(),
        "profdb: pprof is binary and is not written to a terminal; use -o FILE"
    );
}

#[test]
fn small_stumbles() {
    let folder = folder(&[("p.folded", "main;f 1\n")]);
    let at = folder.path();
    let sample = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/samples/pstats/work.pstats"
    );
    let imported = profdb(at, &["import", sample, "--tag", "commit = x"]);
    assert!(
        imported
            .out
            .ends_with(": run 1, 280 functions, 465 edges\n"),
        "{}",
        imported.out
    );
    assert!(
        profdb(at, &["show"]).out.contains("commit=x\n")
            || profdb(at, &["show", "commit=x"]).code == Some(0)
    );
    let merged = profdb(at, &["merge", "all.db", "profdb.db"]);
    assert_eq!(
        merged.out,
        "profdb.db: run 1 is now run 1, 280 functions, 465 edges\n"
    );
    assert!(
        profdb(at, &["schema"])
            .out
            .starts_with("# Tables and views\n")
    );
    let refused: [(&[&str], &str); 8] = [
        (
            &["report", "tree", "p.folded", "--min-pct=-5"],
            "expected a percentage from 0 to 100",
        ),
        (
            &[
                "export",
                "p.folded",
                "--format",
                "flamegraph",
                "--min-pct",
                "200",
            ],
            "expected a percentage from 0 to 100",
        ),
        (
            &["import", "p.folded", "--tag", " =x"],
            "expected KEY=VALUE",
        ),
        (
            &["help", "top"],
            "there is no command top: `profdb report summary`",
        ),
        (
            &["help", "tree"],
            "tree is not a command but a report: `profdb report tree --help`",
        ),
        (
            &["latest"],
            "there is no command latest: `profdb report latest`",
        ),
        (
            &["--first", "3", "p.folded"],
            "--first is a flag of `profdb report`: `profdb report --first ...`",
        ),
        (
            &["runs", "--where", "last 0"],
            "expected a number of runs, found \"0\"\n",
        ),
    ];
    for (arguments, expected) in refused {
        let said = profdb(at, arguments);
        assert!(
            said.code == Some(2) && said.errors.contains(expected),
            "{arguments:?}: {}",
            said.errors
        );
    }
}

/// A statement may begin with a comment, which is no flag.
#[test]
fn a_statement_begins_with_a_comment() {
    let folder = folder(&[("p.folded", "main;f 1\n")]);
    let at = folder.path();
    profdb(at, &["import", "p.folded"]);
    for statement in [
        "-- all of them\nSELECT COUNT(*) AS runs FROM runs",
        "--\nSELECT COUNT(*) AS runs FROM runs",
    ] {
        let asked = profdb(at, &["sql", statement, "--format", "csv"]);
        assert_eq!(
            (&*asked.errors, &*asked.out),
            ("", "\"runs\"\n1\n"),
            "{statement}"
        );
    }
    let flag = profdb(at, &["sql", "--all", "SELECT 1"]);
    assert!(
        flag.errors.contains("unexpected argument '--all'"),
        "{}",
        flag.errors
    );
}

/// How a word would be given as a value is said of words that no flag looks like, and of files.
#[test]
fn a_flag_that_is_unknown_is_no_value() {
    let folder = folder(&[("--x", "main;f 1\n")]);
    let at = folder.path();
    for (words, is_told) in [
        (&["import", "--x"][..], true),
        (&["import", "--y"], false),
        (&["import", "--y=3"], false),
        (&["dump", "-y"], false),
        (&["history", "-[x"], true),
    ] {
        let said = profdb(at, words).errors;
        assert!(said.contains("unexpected argument"), "{said}");
        assert_eq!(said.contains("as a value"), is_told, "{words:?}: {said}");
    }
}
