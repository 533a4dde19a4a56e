//! The table of rooms in ARCHITECTURE.md is current.

use std::fmt::Write as _;
use std::fs;

use super::{compare, root};
use crate::layers::ROOMS;

/// Replaces the text between the marks of a generated part of a document.
pub(super) fn with_part(document: &str, name: &str, generated: &str) -> String {
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
    format!("{before}{begin}\n{generated}\n{end}{after}")
}

/// Returns the table of rooms, from the highest to the lowest.
fn rooms() -> String {
    let mut table = "| room | what it is | sees |\n| --- | --- | --- |\n".to_owned();
    for (room, purpose, sees) in ROOMS.iter().rev() {
        let sees: Vec<String> = sees.iter().rev().map(|seen| format!("`{seen}`")).collect();
        let _ = writeln!(table, "| `{room}` | {purpose} | {} |", sees.join(", "));
    }
    table
}

#[test]
fn architecture_is_current() {
    let name = "ARCHITECTURE.md";
    let document = fs::read_to_string(root().join(name)).expect("a document of the repository");
    compare(name, &with_part(&document, "rooms", &rooms()));
}
