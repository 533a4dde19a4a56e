//! From answers to text.

mod csv;
mod dyalog;
mod json;
mod markdown;
mod table;
mod text;

use std::io::{self, Write};

use super::header::{Column, Meaning, Medium};
use super::{Answer, Subject};
use crate::store::{MetricInfo, StoreError};
use crate::text::cell::Shown;
use crate::text::number::Scale;
pub use crate::text::number::Unit;
use crate::text::separators::Separators;

/// How an answer is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// A table for people, as `]PROFILE` prints it.
    #[default]
    Text,
    /// Character-separated values with the names of Dyalog's files.
    Csv,
    /// Dyalog's XML, which can be imported again if it is a tree.
    Xml,
    /// One object with the rows in base units (ns, bytes, counts).
    Json,
    /// The same rows, one object a line.
    JsonLines,
    /// A table that can be pasted into an issue.
    Markdown,
}

impl Format {
    /// The formats by their names on the command line.
    pub const ALL: [(&'static str, Self); 7] = [
        ("text", Self::Text),
        ("txt", Self::Text),
        ("csv", Self::Csv),
        ("xml", Self::Xml),
        ("json", Self::Json),
        ("jsonl", Self::JsonLines),
        ("markdown", Self::Markdown),
    ];
}

/// How an answer shall look.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// The format.
    pub format: Format,
    /// Decimals of costs and percentages; in tables one if nobody says, in CSV up to ten digits.
    pub decimals: Option<usize>,
    /// Unit of the costs in tables and CSV; milliseconds, bytes or a count if nobody says.
    pub unit: Option<Unit>,
    /// Decimal mark and field separator of CSV.
    pub separators: Separators,
    /// Title instead of the run's own.
    pub title: Option<String>,
    /// Columns of the screen, if it is one: longer names are shortened.
    pub width: Option<usize>,
    /// Names of the flags that are set: they bring columns.
    pub flags: Vec<String>,
}

/// Why an answer could not be written.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// What is asked for does not go together. Nothing has been written.
    #[error("{0}")]
    Usage(String),
    /// The output is closed or full.
    #[error(transparent)]
    Output(#[from] io::Error),
    /// The database failed on the way.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Decimals of times and percentages in tables.
const DECIMALS: usize = 1;

/// Writes an answer.
///
/// # Errors
/// When the layout makes no sense for the answer, or the output or the database fails.
pub fn render(
    answer: &mut Answer<'_>,
    layout: &Layout,
    out: &mut dyn Write,
) -> Result<(), RenderError> {
    layout
        .check(answer.subject.is_some())
        .map_err(RenderError::Usage)?;
    match layout.format {
        Format::Text => text::write(answer, layout, out),
        Format::Csv => csv::write(answer, layout, out),
        Format::Xml => dyalog::write_xml(answer, layout, out),
        Format::Json => json::write(answer, layout, out),
        Format::JsonLines => json::write_lines(answer, out),
        Format::Markdown => markdown::write(answer, layout, out),
    }
}

impl Layout {
    /// Whether the format has a place for what is asked for, of a report or of plain SQL.
    ///
    /// # Errors
    /// With the reason, if it has not.
    pub fn check(&self, is_report: bool) -> Result<(), String> {
        let raw = matches!(self.format, Format::Xml | Format::Json | Format::JsonLines);
        let wrong = match self.format {
            _ if raw && self.decimals.is_some() => {
                "--decimal is for text, csv and markdown: the others have all digits"
            }
            _ if raw && self.unit.is_some() => {
                "--unit is for text, csv and markdown: the others have fixed units"
            }
            Format::Csv | Format::JsonLines if self.title.is_some() => {
                "--title is for text, xml, json and markdown: the others have no place for it"
            }
            Format::Xml if !is_report => {
                "xml is the format of reports: ask for text, csv, json, jsonl or markdown"
            }
            _ => return Ok(()),
        };
        Err(wrong.to_owned())
    }

    fn scale(&self, subject: Option<&Subject>) -> Result<Option<Scale>, RenderError> {
        match (subject, self.unit) {
            (Some(subject), unit) => Scale::of(&subject.metric.name, &subject.metric.unit, unit)
                .map(Some)
                .map_err(RenderError::Usage),
            (None, None) => Ok(None),
            (None, Some(_)) => Err(RenderError::Usage("--unit is for reports".to_owned())),
        }
    }
}

/// Columns that are shown: those with a title that hold anything or must always be there.
fn shown(
    answer: &mut Answer<'_>,
    layout: &Layout,
    medium: Medium,
) -> Result<Vec<Shown>, StoreError> {
    let needed = answer.columns.iter().any(|column| column.optional);
    let filled = if needed {
        answer.filled()?
    } else {
        vec![true; answer.columns.len()]
    };
    let is_set = |flag: &str| layout.flags.iter().any(|set| set == flag);
    let asked = if is_set("exclusive") {
        Meaning::Exclusive
    } else {
        Meaning::Cumulative
    };
    let titles = dyalog::titles(&answer.columns, medium, asked);
    let columns = answer.columns.iter().zip(filled).zip(titles).enumerate();
    let kept = columns
        .filter(|(_, ((column, filled), _))| {
            (*filled || !column.optional) && column.when.is_none_or(is_set)
        })
        .filter_map(|(at, ((column, _), title))| {
            Some(Shown {
                at,
                kind: column.kind,
                title: title?,
            })
        });
    Ok(kept.collect())
}

/// The titles of columns in a medium, where the cost asked for is `asked`; `None` where a column is
/// not shown there.
#[must_use]
pub fn titles(columns: &[Column<'_>], medium: Medium, asked: Meaning) -> Vec<Option<String>> {
    dyalog::titles(columns, medium, asked)
}

/// The total of a metric with its unit.
#[must_use]
pub fn total(metric: &MetricInfo) -> String {
    // A metric's usual unit always fits.
    let scale = Scale::of(&metric.name, &metric.unit, None).ok();
    scale
        .map(|scale| scale.with_unit(metric.total, DECIMALS))
        .unwrap_or_default()
}

/// Text for a terminal. Names come from strangers: what would move the cursor is shown, not done.
#[must_use]
pub fn plain(text: &str) -> String {
    if !text.contains(is_unsafe) {
        return text.to_owned();
    }
    text.chars()
        .flat_map(|c| {
            if is_unsafe(c) {
                c.escape_default().collect()
            } else {
                vec![c]
            }
        })
        .collect()
}

/// Control characters, and those that have no shape of their own: they change the order or the
/// lines of what is around, or make two names look alike.
#[must_use]
pub fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_strangers_cannot_move_the_cursor() {
        assert_eq!(plain("a\tb\n\u{1b}[2Jc"), "a\\tb\\n\\u{1b}[2Jc");
        assert_eq!(plain("a\u{202e}b\u{2028}"), "a\\u{202e}b\\u{2028}");
        assert_eq!(plain("∆ ⍙ \"x\" | <y>"), "∆ ⍙ \"x\" | <y>");
    }
}
