//! The columns that CSV and Markdown have of an answer, for a program that writes both without this one: the page.

use serde_json::{Value as Json, json};

use super::dyalog::titles;
use crate::report::header::{Column, Meaning, TitledMedium};
use crate::report::{Answer, Measure};
use crate::text::cell::Kind;

/// By format, its columns where no flag is set: name, kind, whether they are left out without a value, and titles: where costs
/// are cumulative, where they are exclusive, and where they are exclusive as no others are known.
#[must_use]
pub fn titled(columns: &[Column<'_>]) -> Json {
    with_measures(columns, &[])
}

/// The same of an answer about several runs. Columns whose costs are of a measure beside the first one have its name in their titles.
#[must_use]
pub fn titled_of(answer: &Answer<'_>) -> Json {
    let beside = answer.heading.iter().flat_map(|heading| &heading.beside);
    with_measures(&answer.columns, &beside.collect::<Vec<_>>())
}

fn with_measures(columns: &[Column<'_>], beside: &[&Measure]) -> Json {
    json!({
        "csv": of_medium(columns, beside, TitledMedium::Csv),
        "markdown": of_medium(columns, beside, TitledMedium::Markdown),
    })
}

fn of_medium(columns: &[Column<'_>], beside: &[&Measure], medium: TitledMedium) -> Vec<Json> {
    // Titles have this placeholder for the name of the measure.
    let placeholder = match medium {
        TitledMedium::Text | TitledMedium::Markdown => "@",
        TitledMedium::Csv | TitledMedium::Xml => "Time",
    };
    let asked = [Meaning::Cumulative, Meaning::Exclusive, Meaning::Own];
    let asked = asked.map(|asked| titles(columns, medium, asked));
    let shown = columns
        .iter()
        .enumerate()
        .filter(|(_, column)| column.is_in(medium.medium()) && column.when.is_none());
    shown
        .map(|(at, column)| {
            let of = |titles: &Vec<Option<String>>| titles[at].clone();
            let mut titles: Vec<String> = asked.iter().filter_map(of).collect();
            let measure = column.metric.checked_sub(1).and_then(|at| beside.get(at));
            if let Some(measure) = measure {
                for title in &mut titles {
                    *title = title.replace(placeholder, &measure.name);
                }
            }
            // Most columns have one.
            if titles.iter().all(|title| *title == titles[0]) {
                titles.truncate(1);
            }
            json!([column.name, word(column.kind), column.optional, titles])
        })
        .collect()
}

/// What a kind is called.
fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Name => "name",
        Kind::Node => "node",
        Kind::Text => "text",
        Kind::Line => "line",
        Kind::Count => "count",
        Kind::Cost => "cost",
        Kind::Raw => "raw",
        Kind::Percent => "percent",
        Kind::Any => "any",
    }
}
