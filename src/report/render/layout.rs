//! How an answer shall look: format, units, titles, and which columns are shown.

use std::io;

use super::dyalog::titles;
use crate::report::answer::{Answer, Measure};
use crate::report::header::{Meaning, TitledMedium};
use crate::store::StoreError;
use crate::text::cell::Shown;
use crate::text::scale::{Scale, Unit};
use crate::text::separators::Separators;

/// How an answer is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// A table for people.
    #[default]
    Text,
    /// Character-separated values.
    Csv,
    /// Values with tabs between them.
    Tsv,
    /// XML, which can be imported again if it is a tree.
    Xml,
    /// One object with the rows in base units (ns, bytes, counts).
    Json,
    /// The rows in base units, one object a line.
    JsonLines,
    /// A table that can be pasted into an issue.
    Markdown,
}

impl Format {
    /// The formats by their names on the command line.
    pub const ALL: [(&'static str, Self); 8] = [
        ("text", Self::Text),
        ("txt", Self::Text),
        ("csv", Self::Csv),
        ("tsv", Self::Tsv),
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
    /// Decimals of costs and percentages in tables, by default as many as the total needs and one.
    pub decimals: Option<usize>,
    /// Unit of the costs in tables and CSV; by default the one that fits the total in tables, and
    /// milliseconds, bytes or a count in CSV.
    pub unit: Option<Unit>,
    /// Decimal mark and field separator of CSV.
    pub separators: Separators,
    /// Title instead of the run's own.
    pub title: Option<String>,
    /// Columns of the screen, if it is one: longer names are shortened.
    pub width: Option<usize>,
    /// Verdicts and shares in tables are coloured.
    pub colours: bool,
    /// Names of the flags that are set: they bring columns.
    pub flags: Vec<String>,
    /// Tables for people say on their first line which run they are about.
    pub names_run: bool,
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

/// Decimals of percentages in tables.
pub(super) const DECIMALS: usize = 1;

impl Layout {
    /// Whether the format has a place for what is asked for, of a report or of plain SQL.
    ///
    /// # Errors
    /// With the reason, if it has not.
    pub fn check(&self, is_report: bool) -> Result<(), String> {
        let raw = matches!(self.format, Format::Xml | Format::Json | Format::JsonLines);
        let wrong = match self.format {
            _ if raw && self.decimals.is_some() => {
                "--decimal applies to text and markdown; other formats have all digits"
            }
            _ if raw && self.unit.is_some() => {
                "--unit applies to text, csv, tsv and markdown; other formats have fixed units"
            }
            Format::Csv | Format::Tsv | Format::JsonLines if self.title.is_some() => {
                "--title applies to text, xml, json and markdown"
            }
            Format::Xml if !is_report => {
                "xml applies to reports; use text, csv, tsv, json, jsonl or markdown"
            }
            _ => return Ok(()),
        };
        Err(wrong.to_owned())
    }

    /// The scales of costs in files for programs, one for each metric: the unit that is asked for, or
    /// the usual one. Plain SQL has none.
    pub(super) fn scales(&self, measures: &[Measure]) -> Result<Vec<Scale>, RenderError> {
        if measures.is_empty() && self.unit.is_some() {
            return Err(RenderError::Usage("--unit applies to reports".to_owned()));
        }
        let scale = |measure: &Measure| {
            Scale::of(&measure.name, &measure.unit, self.unit).map_err(RenderError::Usage)
        };
        measures.iter().map(scale).collect()
    }

    /// The scales of costs in tables for people, one for each metric: the unit that is asked for, or
    /// the one that fits.
    pub(super) fn fitting_scales(&self, measures: &[Measure]) -> Result<Vec<Scale>, RenderError> {
        if self.unit.is_none() {
            let fitting = measures.iter().map(|measure| {
                Scale::of_column(
                    &measure.name,
                    &measure.unit,
                    measure.total,
                    measure.selected.unwrap_or(measure.total),
                )
            });
            return Ok(fitting.collect());
        }
        let largest = measures.first().map_or(0.0, |measure| measure.total);
        let scales = self.scales(measures)?.into_iter();
        Ok(scales
            .map(|scale| scale.with_decimals_for(largest))
            .collect())
    }
}

/// Refuses what can be had of one metric only.
pub(super) fn check_metrics(answer: &Answer<'_>, layout: &Layout) -> Result<(), RenderError> {
    let has_all = matches!(&answer.subject, Some(subject) if subject.beside.is_some());
    let wrong = match layout {
        _ if !has_all => return Ok(()),
        Layout { unit: Some(_), .. } => "--unit needs one metric; name it with --metric",
        Layout {
            format: Format::Xml,
            ..
        } => {
            "xml can hold one metric; use --metric NAME, or text, csv, tsv, json, jsonl or markdown"
        }
        _ => return Ok(()),
    };
    Err(RenderError::Usage(wrong.to_owned()))
}

/// Columns that are shown: those with a title that hold anything or must always be there.
pub(super) fn shown(
    answer: &mut Answer<'_>,
    layout: &Layout,
    medium: TitledMedium,
) -> Result<Vec<Shown>, StoreError> {
    // Looking for values reads all rows once more: only where a column may be left out.
    let mut columns = answer.columns.iter();
    let needed = columns.any(|column| column.optional && column.is_in(medium.medium()));
    let filled = if needed {
        answer.filled(medium.medium())?
    } else {
        vec![true; answer.columns.len()]
    };
    let is_set = |flag: &str| layout.flags.iter().any(|set| set == flag);
    let asked = match &answer.subject {
        // A title that says which cost it is, for it is not the one that is expected.
        Some(subject) if subject.instead.is_some() && subject.exclusive => Meaning::Own,
        Some(subject) if subject.exclusive => Meaning::Exclusive,
        _ => Meaning::Cumulative,
    };
    let titles = titles(&answer.columns, medium, asked);
    let columns = answer.columns.iter().zip(filled).zip(titles).enumerate();
    let kept = columns
        .filter(|(_, ((column, filled), _))| {
            (*filled || !column.optional)
                && column.when.is_none_or(is_set)
                && !column.unless.is_some_and(is_set)
        })
        .filter_map(|(at, ((column, _), title))| {
            Some(Shown {
                at,
                kind: column.kind,
                metric: column.metric,
                is_whole: column.is_whole,
                is_verdict: column.shows == Some(Meaning::Verdict),
                title: title?,
            })
        });
    Ok(kept.collect())
}
