//! From answers to text.

mod csv;
mod dyalog;
mod json;
mod layout;
mod markdown;
mod table;
mod text;
mod titled;
mod xml;

use std::io::Write;

use super::answer::Answer;
use crate::store::MetricInfo;
use crate::text::csv::Dialect;
use crate::text::number::fixed;
pub use crate::text::plain::{is_unsafe, plain, plain_line};
pub use crate::text::scale::Unit;
use crate::text::scale::figure;
pub use dyalog::titles;
pub use layout::{Format, Layout, RenderError};
pub use titled::{titled, titled_of};

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
        .check(!answer.measures().is_empty())
        .map_err(RenderError::Usage)?;
    layout::check_metrics(answer, layout)?;
    match layout.format {
        Format::Text => text::write(answer, layout, out),
        Format::Csv => csv::write(answer, layout, Dialect::Plain, out),
        Format::Tsv => csv::write(answer, layout, Dialect::Tabs, out),
        Format::Xml if answer.heading.is_some() => xml::write(answer, layout, out),
        Format::Xml => dyalog::write_xml(answer, layout, out),
        Format::Json => json::write(answer, layout, out),
        Format::JsonLines => json::write_lines(answer, out),
        Format::Markdown => markdown::write(answer, layout, out),
    }
}

/// A part of the total of a metric: `1.2 msec (3.4 %)`.
#[must_use]
pub fn part(metric: &MetricInfo, cost: f64) -> String {
    let figure = figure(&metric.name, &metric.unit, cost);
    if metric.total == 0.0 {
        return figure;
    }
    let share = fixed(100.0 * cost / metric.total, layout::DECIMALS);
    format!("{figure} ({share} %)")
}

/// So many bytes.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "it is rounded anyway")]
pub fn bytes(bytes: u64) -> String {
    figure("size", "bytes", bytes as f64)
}

/// The total of a metric with its unit.
#[must_use]
pub fn total(metric: &MetricInfo) -> String {
    figure(&metric.name, &metric.unit, metric.total)
}
