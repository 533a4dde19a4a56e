//! A table in GitHub's Markdown, for issues. It has the columns of text and the columns of CSV that identify a function:
//! `File`, `First line` and `Function id`.
//!
//! Names and all lines above the table are code spans, so that they contain no markup, mention or link. Invisible
//! characters are written as in text (`\n`, `\u{202e}`).

use std::io::Write;

use super::layout::{Layout, RenderError};
use super::table::{ShownPlaces, Table, named_run, push_indent};
use crate::report::{Answer, Value};
use crate::store::StoreError;
use crate::text::cell::Kind;
use crate::text::markdown::{code, code_cell, marked_cell};

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
    answer.each_placed(|row| {
        for (right, column) in right.iter_mut().zip(&table.columns) {
            // A column of plain SQL has no kind: its values say whether it holds numbers.
            *right &= !matches!(row[column.at], Value::Text(_));
        }
        Ok::<_, StoreError>(())
    })?;
    if let Some(title) = &layout.title {
        writeln!(out, "{}\n", code(title))?;
    }
    if let Some(run) = named_run(answer, layout) {
        writeln!(out, "{}\n", code(&run))?;
    }
    if let Some(subject) = &answer.subject {
        for line in table.totals(subject) {
            writeln!(out, "{}\n", code(&line))?;
        }
    }
    for line in answer.heading.iter().flat_map(|heading| &heading.lines) {
        writeln!(out, "{}\n", code(line))?;
    }
    let line = |cells: &mut dyn Iterator<Item = String>| {
        cells.fold("|".to_owned(), |line, cell| line + " " + &cell + " |")
    };
    writeln!(
        out,
        "{}",
        line(
            &mut table
                .columns
                .iter()
                .map(|column| marked_cell(&column.title))
        )
    )?;
    let rules = right
        .iter()
        .map(|right| if *right { "---:" } else { ":---" });
    writeln!(out, "{}", line(&mut rules.map(str::to_owned)))?;
    answer.each_placed(|row| {
        let mut cells = table.columns.iter().map(|column| {
            let (mut cell, mut text) = (String::new(), String::new());
            // Blanks that begin a cell would be lost.
            push_indent(table.depth(row, column), "&nbsp;", &mut cell);
            table.push_cell(row, column, &mut text);
            table.push_place(ShownPlaces::Needed, row, column, &mut text);
            cell + &match column.kind {
                Kind::Name | Kind::Node => code_cell(&text),
                _ => marked_cell(&text),
            }
        });
        Ok(writeln!(out, "{}", line(&mut cells))?)
    })
}
