//! Character-separated values, RFC 4180 except for line ends, which are LF.
//!
//! Costs in milliseconds are titled `Time`; otherwise `Time` becomes metric and unit:
//! `Alloc(bytes)`, `ExclusiveTime(us)`. If the selected cost is unknown in every row and exclusive
//! costs are shown instead, their title is `ExclusiveTime`. With several metrics, percentages
//! name theirs, too: `PctOfAlloc`. `File`, `FirstLine` and `FunctionId` identify the function of a row: its source file, or
//! that of the line, the line where its definition starts, and its number in the database. Titles of inclusive and exclusive costs are correct, except in one
//! report whose files have them swapped ([`title_columns`]).
//!
//! Figures have all their digits, independent of `--decimal`. Minus is `-`, and unknown values are empty. Names are
//! unchanged, also those that a spreadsheet reads as formulas. In profiles, which can be imported
//! again, an empty name is `(no name)`. With tabs there are no quotes: a tab, an end of line or a backslash
//! in a name is `\\t`, `\\n`, `\\r` or `\\\\`.

use std::io::Write;

use super::dyalog::title_columns;
use super::layout::{Layout, RenderError, shown};
use crate::report::header::TitledMedium;
use crate::report::{Answer, Measure};

use crate::text::cell::Kind;
use crate::text::csv::{Dialect, Table};
use crate::text::scale::Scale;

pub(super) fn write(
    answer: &mut Answer<'_>,
    layout: &Layout,
    dialect: Dialect,
    out: &mut dyn Write,
) -> Result<(), RenderError> {
    let metrics = answer.measures();
    let scales = layout.scales(&metrics)?;
    let mut columns = shown(answer, layout, TitledMedium::Csv)?;
    title_columns(answer, &mut columns);
    let is_beside = matches!(&answer.subject, Some(subject) if subject.beside.is_some());
    if !metrics.is_empty() {
        for column in &mut columns {
            let (metric, scale) = (&metrics[column.metric], &scales[column.metric]);
            match column.kind {
                Kind::Cost | Kind::Raw => {
                    column.title = column.title.replace("Time", &quantity(metric, scale));
                }
                // Beside others, they say of which metric they are a part.
                Kind::Percent if is_beside => {
                    let title = column.title.trim_end_matches("OfTot");
                    column.title = format!("{title}Of{}", capitalized(&metric.name));
                }
                _ => {}
            }
        }
    }
    let table = Table {
        columns,
        scales,
        separators: layout.separators,
        dialect,
    };
    table.titles(out)?;
    answer.each_placed(|row| table.row(row, out).map_err(RenderError::from))
}

/// What replaces `Time` in titles.
fn quantity(metric: &Measure, scale: &Scale) -> String {
    let name = capitalized(&metric.name);
    match scale.unit() {
        "msec" if name == "Time" => name,
        "" | "%" => name,
        unit => format!("{name}({unit})"),
    }
}

/// `Alloc` for `alloc`.
pub(super) fn capitalized(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}
