//! What ARCHITECTURE.md says of the files of `src/`: the first sentence of each, and which rooms see
//! which.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use super::{compare, root};
use crate::layers::ROOMS;
use crate::tidy::{is_a, sources};

/// Puts what is made between the marks that a document has for it.
fn with_part(document: &str, name: &str, made: &str) -> String {
    let (begin, end) = (
        format!("<!-- begin: {name} -->\n"),
        format!("<!-- end: {name} -->\n"),
    );
    let (before, rest) = document
        .split_once(&begin)
        .unwrap_or_else(|| panic!("a line {begin}"));
    let (_, after) = rest
        .split_once(&end)
        .unwrap_or_else(|| panic!("a line {end}"));
    format!("{before}{begin}\n{made}\n{end}{after}")
}

/// The first sentence of a module's page, without links.
fn first_sentence(path: &str, text: &str) -> String {
    let lines: Vec<&str> = text
        .lines()
        .map_while(|line| line.strip_prefix("//!"))
        .map(str::trim)
        .take_while(|line| !line.is_empty())
        .collect();
    let paragraph = lines.join(" ");
    let end = paragraph
        .find(". ")
        .map_or(paragraph.trim_end_matches('.').len(), |at| at);
    assert!(end > 0, "{path} does not say what it is");
    let mut sentence = String::new();
    // [`Item`](path) and [`Item`] become `Item`.
    let mut rest = &paragraph[..end];
    while let Some((before, link)) = rest.split_once("[`") {
        let (name, after) = link.split_once("`]").expect("a link ends");
        let _ = write!(sentence, "{before}`{name}`");
        rest = match after
            .strip_prefix('(')
            .and_then(|target| target.split_once(')'))
        {
            Some((_, after)) => after,
            None => after,
        };
    }
    sentence + rest
}

/// The folders and files of `src/`, each below the one that it is in.
fn code_map() -> String {
    let mut entries: BTreeMap<Vec<String>, String> = BTreeMap::new();
    for (path, text) in sources().filter(|(path, _)| path.starts_with("src/") && is_a(path, "rs")) {
        let mut parts: Vec<String> = path.split('/').map(str::to_owned).collect();
        if parts.last().is_some_and(|file| file == "mod.rs") {
            parts.pop();
        }
        entries.insert(parts, first_sentence(&path, &text));
    }
    let mut made = String::new();
    for (parts, sentence) in &entries {
        let indent = "  ".repeat(parts.len() - 2);
        let name = parts.last().expect("a path has parts");
        let folder = if is_a(name, "rs") { "" } else { "/" };
        let _ = writeln!(made, "{indent}- `{name}{folder}`: {sentence}");
    }
    made
}

/// The table of rooms, from the top down.
fn rooms() -> String {
    let mut made = "| room | what it is | sees |\n| --- | --- | --- |\n".to_owned();
    for (room, what, sees) in ROOMS.iter().rev() {
        let sees: Vec<String> = sees.iter().rev().map(|seen| format!("`{seen}`")).collect();
        let _ = writeln!(made, "| `{room}` | {what} | {} |", sees.join(", "));
    }
    made
}

#[test]
fn architecture_is_current() {
    let name = "ARCHITECTURE.md";
    let found = fs::read_to_string(root().join(name)).expect("a document of the repository");
    let with_rooms = with_part(&found, "rooms", &rooms());
    compare(name, &with_part(&with_rooms, "code map", &code_map()));
}
