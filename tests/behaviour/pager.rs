//! The pager between the output and a terminal.

#![cfg(target_os = "linux")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use super::endings::left_on_lines;
use crate::support::program::{self, PROFDB};
use crate::support::tools;

/// More rows than any terminal of these tests has, and more than a pipe takes at once.
const FUNCTIONS: usize = 4000;

/// A folder with a long profile, `long.folded`, and a short one, `short.folded`.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let mut stacks = String::new();
    for function in 0..FUNCTIONS {
        let _ = writeln!(stacks, "main;function_{function:05} 5");
    }
    fs::write(folder.path().join("long.folded"), stacks).expect("a file");
    fs::write(folder.path().join("short.folded"), "main;f 1\n").expect("a file");
    folder
}

/// A program for the shell, which writes the word `paged` before anything else.
fn pager(folder: &Path, commands: &str) -> PathBuf {
    let path = folder.join("pager");
    tools::write_script(&path, &format!("echo paged\n{commands}"));
    path
}

/// Returns what a terminal shows of a command, and at its end the exit code as `code N`.
fn shown(folder: &Path, rows: u16, columns: u16, variables: &str, command: &str) -> String {
    let line =
        format!("stty rows {rows} cols {columns}; {variables} '{PROFDB}' {command}; echo code $?");
    let done = tools::terminal(&line)
        .current_dir(folder)
        .env_remove("PROFDB_PAGER")
        .env_remove("PAGER")
        .env_remove("PROFDB_DB")
        .env("TERM", "xterm")
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&done.stdout).replace("\r\n", "\n");
    // On a machine that is busy, a command shows that it is at work before it has an answer.
    left_on_lines(&said)
}

#[test]
fn what_is_longer_than_the_screen_is_paged() {
    let folder = folder();
    let first = pager(folder.path(), "cat").display().to_string();
    let show = |variables: &str, command: &str| shown(folder.path(), 20, 100, variables, command);
    let named = format!("PROFDB_PAGER='{first}' PAGER=false");
    let long = show(&named, "long.folded");
    assert!(
        long.starts_with("paged\nTotal samples: 20000\n"),
        "{long:.200}"
    );
    assert!(long.contains("function_03999") && long.ends_with("code 0\n"));
    let whole = |text: &str| !text.contains("paged") && text.contains("function_03999");
    let table = [
        // What fits is not paged, whatever the pager.
        (named.as_str(), "short.folded", "main"),
        (&named, "long.folded --first 3", "main"),
        (&named, "long.folded --no-pager", "function_03999"),
        // An empty name is no pager, and another one's is not asked then.
        (
            &format!("PROFDB_PAGER= PAGER='{first}'"),
            "long.folded",
            "function_03999",
        ),
        ("TERM=dumb PAGER=false", "long.folded", "function_03999"),
        ("TERM= PAGER=false", "long.folded", "function_03999"),
        ("unset TERM; PAGER=false", "long.folded", "function_03999"),
    ];
    for (variables, command, expected) in table {
        let said = show(variables, command);
        assert!(
            !said.contains("paged") && said.contains(expected),
            "{variables} {command}"
        );
        assert!(said.ends_with("code 0\n"), "{variables} {command}");
    }
    let second = show(&format!("PAGER='{first} -x'"), "long.folded");
    assert!(second.starts_with("paged\n"), "{second:.200}");
    // The shell understands the rest.
    let piped = show("PAGER='cat | tail -n 1'", "long.folded");
    assert!(
        piped.contains("function_03999") && piped.lines().count() == 2,
        "{piped:.200}"
    );
    assert!(piped.ends_with("code 0\n"), "{piped:.200}");
    let missing = show("PAGER='no-such-pager -x'", "long.folded");
    assert!(
        missing.starts_with("profdb: cannot run the pager no-such-pager -x: ") && whole(&missing),
        "{missing:.200}"
    );
    // Everything that is for reading is paged.
    for command in [
        "schema",
        "formats folded",
        "dump long.folded",
        "sql 'SELECT name FROM functions' long.folded",
    ] {
        let said = show(&named, command);
        assert!(
            said.starts_with("paged\n") && said.ends_with("code 0\n"),
            "{command}: {said:.200}"
        );
    }
}

#[test]
fn a_pager_may_quit_early_and_be_interrupted() {
    let folder = folder();
    let show = |commands: &str| {
        let pager = pager(folder.path(), commands).display().to_string();
        shown(
            folder.path(),
            20,
            100,
            &format!("PAGER='{pager}'"),
            "long.folded",
        )
    };
    let quit = show("head -n 1");
    assert_eq!(quit, "paged\nTotal samples: 20000\ncode 0\n");
    // Ctrl-C reaches both: the pager goes on, and so does what waits for it.
    let said = show("trap '' INT; kill -INT $PPID; kill -INT $PPID; cat >/dev/null; echo read");
    assert!(
        ["paged\nread\ncode 0\n", "paged\nread\ncode 130\n"].contains(&said.as_str()),
        "{said:.200}"
    );
}

/// Lists are as wide as the terminal; `--wide` makes them as wide as they are.
#[test]
fn lists_fit_the_terminal() {
    let folder = folder();
    let imported = program::command()
        .args([
            "import",
            "--title",
            &"long title ".repeat(8),
            "short.folded",
        ])
        .current_dir(folder.path())
        .output()
        .expect("the program is there");
    assert!(imported.status.success());
    let widest = |columns: u16, command: &str| {
        let said = shown(folder.path(), 40, columns, "", command);
        said.lines().map(|line| line.chars().count()).max()
    };
    let narrow = widest(110, "runs");
    assert!(narrow <= Some(110), "{narrow:?}");
    // A title has a middle that can be missed, the date of an import has none.
    let said = shown(folder.path(), 40, 70, "", "runs");
    let row = said.lines().find(|line| line.contains("long"));
    let row = row.unwrap_or_else(|| panic!("a row of the run in {said}"));
    assert!(row.contains('…'), "{row}");
    let is_date = |word: &str| word.len() == 20 && word.ends_with('Z') && word.starts_with("20");
    assert!(row.split_whitespace().any(is_date), "{row}");
    assert!(widest(110, "runs --wide") > Some(150));
    // All of a uid is 32 letters, of which a list has 8 at least.
    let whole = widest(250, "runs --wide").zip(widest(250, "runs"));
    let more = whole.map(|(wide, list)| wide.saturating_sub(list));
    assert!(
        more.is_some_and(|more| (1..=24).contains(&more)),
        "{more:?}"
    );
    let sql = "sql \"SELECT hex(zeroblob(100)) AS a, 'short' AS b, hex(zeroblob(60)) AS c\"";
    assert!(widest(100, sql).is_some_and(|widest| (95..=100).contains(&widest)));
    assert_eq!(
        widest(100, &format!("{sql} --wide")),
        Some(200 + 2 + 5 + 2 + 120)
    );
}
