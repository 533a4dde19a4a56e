//! A table in GitHub's Markdown, to be pasted into an issue.
//!
//! Whatever Markdown or HTML would take for its own in a name is escaped; characters that cannot be
//! seen are written as on a screen (`\n`, `\u{202e}`).

use std::io::Write;

use super::layout::{Layout, RenderError};
use super::table::{Table, named_run, push_indent};
use crate::report::{Answer, Value};
use crate::store::StoreError;
use crate::text::cell::Kind;
use crate::text::plain::plain;

pub(super) fn write(
    answer: &mut Answer<'_>,
    layout: &Layout,
    out: &mut dyn Write,
) -> Result<(), RenderError> {
    let table = Table::of(answer, layout)?;
    let mut right: Vec<bool> = table
        .columns
        .iter()
        .map(|column| !matches!(column.kind, Kind::Name | Kind::Node | Kind::Text))
        .collect();
    answer.each(|row| {
        for (right, column) in right.iter_mut().zip(&table.columns) {
            // A column of plain SQL has no kind: its values say whether it holds numbers.
            *right &= !matches!(row[column.at], Value::Text(_));
        }
        Ok::<_, StoreError>(())
    })?;
    if let Some(title) = &layout.title {
        writeln!(out, "{}\n", escaped(&plain(title)))?;
    }
    if let Some(run) = named_run(answer, layout) {
        writeln!(out, "{}\n", escaped(&run))?;
    }
    if let Some(subject) = &answer.subject {
        for line in table.totals(subject) {
            writeln!(out, "{}\n", escaped(&line))?;
        }
    }
    for line in answer.heading.iter().flat_map(|heading| &heading.lines) {
        writeln!(out, "{}\n", escaped(&plain(line)))?;
    }
    let line = |cells: &mut dyn Iterator<Item = String>| {
        cells.fold("|".to_owned(), |line, cell| line + " " + &cell + " |")
    };
    writeln!(
        out,
        "{}",
        line(&mut table.columns.iter().map(|column| escaped(&column.title)))
    )?;
    let rules = right
        .iter()
        .map(|right| if *right { "---:" } else { ":---" });
    writeln!(out, "{}", line(&mut rules.map(str::to_owned)))?;
    answer.each(|row| {
        let mut cells = table.columns.iter().map(|column| {
            let (mut cell, mut text) = (String::new(), String::new());
            // Blanks that begin a cell would be lost.
            push_indent(table.depth(row, column), "&nbsp;", &mut cell);
            table.push_cell(row, column, &mut text);
            cell + &escaped(&text)
        });
        Ok(writeln!(out, "{}", line(&mut cells))?)
    })
}

/// Text that Markdown shows as it is.
fn escaped(text: &str) -> String {
    let core = text.trim_matches(' ');
    let before = text.len() - text.trim_start_matches(' ').len();
    let behind = text.len() - core.len() - before;
    let mut escaped = "&#32;".repeat(before);
    for character in core.chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | '|' | '~' | '$' => escaped.extend(['\\', character]),
            _ => escaped.push(character),
        }
    }
    // A text of blanks only has no core, and all its blanks are counted as before it.
    escaped + &"&#32;".repeat(behind)
}
