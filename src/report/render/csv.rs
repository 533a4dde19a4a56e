//! Character-separated values, RFC 4180 but for line ends, which are LF.
//!
//! Columns have Dyalog's names as long as costs are milliseconds; otherwise `Time` becomes metric and unit:
//! `Alloc(bytes)`, `ExclusiveTime(us)`. Labels of inclusive and exclusive are right whatever
//! version of `]PROFILE` the profile is from, minus is `-`, and what is unknown is empty. Names are as they are, also
//! those that a spreadsheet takes for formulas.

use std::io::{self, Write};

use super::number::{Scale, fixed, shortest, significant};
use super::{Layout, RenderError, Shown, shown};
use crate::report::header::Kind;
use crate::report::{Answer, Value};
use crate::separators::Separators;
use crate::store::MetricInfo;

pub(super) fn write(answer: &mut Answer<'_>, layout: &Layout, out: &mut dyn Write) -> Result<(), RenderError> {
    let scale = layout.scale(answer.subject.as_ref())?;
    let metric = answer.subject.as_ref().map(|subject| subject.metric.clone());
    let columns = shown(answer, layout, |column| {
        let title = column.csv.as_deref()?;
        Some(match (column.kind, &metric, &scale) {
            (Kind::Cost | Kind::Raw, Some(metric), Some(scale)) => title.replace("Time", &quantity(metric, scale)),
            _ => title.to_owned(),
        })
    })?;
    line(columns.iter().map(|column| quoted(&column.title)), layout.separators, out)?;
    answer.each(|row| {
        let cells = columns.iter().map(|column| cell(&row[column.at], column, scale.as_ref(), layout));
        line(cells, layout.separators, out).map_err(RenderError::from)
    })
}

/// Writes a line of fields.
pub(crate) fn line(cells: impl Iterator<Item = String>, separators: Separators, out: &mut dyn Write) -> io::Result<()> {
    let mut line = String::new();
    for (column, cell) in cells.enumerate() {
        if column > 0 {
            line.push(char::from(separators.field));
        }
        line.push_str(&cell);
    }
    line.push('\n');
    out.write_all(line.as_bytes())
}

/// What stands for `Time` in titles.
fn quantity(metric: &MetricInfo, scale: &Scale) -> String {
    let mut letters = metric.name.chars();
    let name: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
    match scale.unit() {
        "msec" if name == "Time" => name,
        "" => name,
        unit => format!("{name}({unit})"),
    }
}

fn cell(value: &Value, column: &Shown, scale: Option<&Scale>, layout: &Layout) -> String {
    let figure = match (value, column.kind, scale, layout.decimals) {
        (Value::Null, ..) => return String::new(),
        (Value::Text(text), ..) => return quoted(text),
        (Value::Integer(value), ..) => return value.to_string(),
        (Value::Real(value), Kind::Cost | Kind::Raw, Some(scale), Some(decimals)) => scale.rounded(*value, decimals),
        (Value::Real(value), Kind::Cost, Some(scale), None) if scale.is_time() => scale.significant(*value),
        (Value::Real(value), Kind::Cost | Kind::Raw, Some(scale), None) => scale.exact(*value),
        (Value::Real(value), Kind::Percent, _, Some(decimals)) => fixed(*value, decimals),
        (Value::Real(value), Kind::Percent, _, None) => significant(*value, 0),
        (Value::Real(value), ..) => shortest(*value),
    };
    number(figure, layout.separators)
}

/// A field of a number.
pub(crate) fn number(figure: String, separators: Separators) -> String {
    let Separators { decimal, field } = separators;
    let figure = if decimal == '.' { figure } else { figure.replace('.', &decimal.to_string()) };
    // An unusual separator may occur in a number: `1E300`, `-5`.
    if figure.contains(char::from(field)) { quoted(&figure) } else { figure }
}

/// A field of text.
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}
