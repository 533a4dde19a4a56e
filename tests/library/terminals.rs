//! Output on a terminal: what would control the terminal is shown as text.

#![cfg(unix)]

use std::fmt::Write as _;
use std::fs;
use std::process::{Command, Stdio};

use profdb::report::render::is_unsafe;

use crate::support::program::{PROFDB, command};
use crate::support::tools;

/// Returns what a terminal gets for bytes.
fn shown(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            if is_unsafe(character) && !['\n', '\t'].contains(&character) {
                text.extend(character.escape_default());
            } else {
                text.push(character);
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

#[test]
fn bytes_of_any_kind_are_shown_as_text_on_a_terminal() {
    assert_eq!(shown(b"plain\n\ttext\n"), "plain\n\ttext\n");
    assert_eq!(
        shown(b"\x1b]0;title\x07 \x1b[2J\r\x08\x7f"),
        "\\u{1b}]0;title\\u{7} \\u{1b}[2J\\r\\u{8}\\u{7f}"
    );
    let controls = "\u{9b}2J \u{202e} \u{200b} \u{feff} \u{2206}";
    assert_eq!(
        shown(controls.as_bytes()),
        "\\u{9b}2J \\u{202e} \\u{200b} \\u{feff} \u{2206}"
    );
    assert_eq!(shown(b"\xff\x9b\xe2\x88x"), "\\xff\\x9b\\xe2\\x88x");
    assert_eq!(shown(b"a\xe2\x88"), "a\\xe2\\x88");
}

#[test]
fn terminals_show_controls_and_pipes_keep_them() {
    let script = tools::require("script");
    let folder = tempfile::tempdir().expect("a folder");
    // Characters of three bytes lie across the pieces in which a long output is written.
    let long = format!("main;x{} 5\n", "\u{2206}".repeat(9000));
    let profile = [long.as_bytes(), b"a\xff\x9b\xe2\x88x;b\xe2\x88 5\n"].concat();
    fs::write(folder.path().join("p.folded"), profile).expect("a file");
    let controls =
        "SELECT char(27) || ']0;title' || char(7, 13, 8, 127, 155, 8238, 8203, 65279, 8710)";
    let run = |command: &mut Command| {
        let output = command.current_dir(folder.path()).output();
        output.expect("a program").stdout
    };
    run(command().args(["import", "--db", "x.db", "p.folded"]));
    for (words, is_text) in [
        (&["convert", "p.folded", "--to", "folded"][..], false),
        (&["sql", "--db", "x.db", "--format", "csv", controls], true),
    ] {
        let bytes = run(command().args(words));
        assert!(bytes.len() > 20, "{words:?}");
        assert_eq!(String::from_utf8(bytes.clone()).is_ok(), is_text);
        let words = words.iter().map(|word| format!("\"{word}\" "));
        let line = format!("\"$PROGRAM\" {} 2>/dev/null", words.collect::<String>());
        let mut terminal = tools::command_at(&script);
        terminal
            .args(["-qec", &line, "/dev/null"])
            .stdin(Stdio::null());
        terminal.env("PROGRAM", PROFDB).env_remove("PROFDB_DB");
        let on_terminal = String::from_utf8(run(&mut terminal)).expect("UTF-8");
        assert!(on_terminal.replace("\r\n", "\n") == shown(&bytes), "{line}");
    }
}
