//! From answers to text. The only code that scales or formats a number.

use std::fmt::Write as _;
use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::header::{Column, Kind};
use super::{Answer, Subject, Value};
use crate::store::{MetricInfo, StoreError};

/// How an answer is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// A table for people.
    #[default]
    Text,
    /// Comma-separated values with the names of Dyalog's files: times in ms, other figures in their base unit.
    Csv,
    /// One object with the rows in base units (ns, bytes, counts).
    Json,
}

impl Format {
    /// The formats by their names on the command line.
    pub const ALL: [(&'static str, Self); 3] = [("text", Self::Text), ("csv", Self::Csv), ("json", Self::Json)];
}

/// Why an answer could not be written.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// The output is closed or full.
    #[error(transparent)]
    Output(#[from] io::Error),
    /// The database failed on the way.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Decimals of times and percentages in tables.
const DECIMALS: usize = 1;

/// Levels of a tree that are shown by indentation.
const INDENTED: usize = 60;

/// The widest column that is padded. A longer name is shown whole, and moves only its own row.
const WIDEST: usize = 120;

/// Significant digits of times in CSV, as APL prints them.
const DIGITS: usize = 10;

/// Version of the JSON object: raised when a name or a meaning changes.
const JSON_SCHEMA: u32 = 1;

/// Writes an answer.
///
/// # Errors
/// When the output or the database fails.
pub fn render(answer: &mut Answer<'_>, format: Format, out: &mut dyn Write) -> Result<(), RenderError> {
    match format {
        Format::Text => text(answer, out),
        Format::Csv => csv(answer, out),
        Format::Json => json(answer, out),
    }
}

/// Columns that are shown, with their titles: those with a title that hold anything or must always be there.
fn shown<'c>(
    answer: &mut Answer<'c>,
    title: impl Fn(&Column<'c>) -> Option<String>,
) -> Result<Vec<(usize, Kind, String)>, StoreError> {
    let needed = answer.columns.iter().any(|column| column.optional);
    let filled = if needed { answer.filled()? } else { vec![true; answer.columns.len()] };
    let columns = answer.columns.iter().zip(filled).enumerate();
    let kept = columns.filter(|(_, (column, filled))| *filled || !column.optional);
    Ok(kept.filter_map(|(at, (column, _))| Some((at, column.kind, title(column)?))).collect())
}

fn text(answer: &mut Answer<'_>, out: &mut dyn Write) -> Result<(), RenderError> {
    let subject = answer.subject.clone();
    let metric = subject.as_ref().map(|subject| &subject.metric);
    let label = metric.map(unit_label).unwrap_or_default();
    let columns = shown(answer, |column| Some(column.text.as_deref()?.replace('@', label)))?;
    let depth = answer.columns.iter().position(|column| column.name == "depth");
    let cell = |row: &[Value], at: usize, kind: Kind| {
        let cell = text_cell(&row[at], kind, metric);
        match (kind, depth.map(|depth| &row[depth])) {
            (Kind::Node, Some(Value::Integer(depth))) => {
                format!("{}{cell}", indent(usize::try_from(*depth).unwrap_or(0)))
            }
            _ => cell,
        }
    };
    let mut widths: Vec<usize> = columns.iter().map(|(_, _, title)| title.width()).collect();
    let mut numeric = vec![true; columns.len()];
    answer.each(|row| {
        for (column, (at, kind, _)) in columns.iter().enumerate() {
            widths[column] = widths[column].max(cell(row, *at, *kind).width().min(WIDEST));
            numeric[column] &= !matches!(row[*at], Value::Text(_));
        }
        Ok::<_, StoreError>(())
    })?;
    if let Some(subject) = &subject {
        writeln!(out, "{}\n", totals(subject))?;
    }
    let left = |column: usize, kind: Kind| match kind {
        Kind::Name | Kind::Node | Kind::Text => true,
        Kind::Any => !numeric[column],
        _ => false,
    };
    let mut line = String::new();
    let mut write = |out: &mut dyn Write, cells: &[String]| -> io::Result<()> {
        line.clear();
        for (column, (cell, (_, kind, _))) in cells.iter().zip(&columns).enumerate() {
            let gap = if column == 0 { "" } else { "  " };
            let padding = " ".repeat(widths[column].saturating_sub(cell.width()));
            let (before, after) = if left(column, *kind) { ("", padding.as_str()) } else { (padding.as_str(), "") };
            let _ = write!(line, "{gap}{before}{cell}{after}");
        }
        writeln!(out, "{}", line.trim_end())
    };
    let titles: Vec<String> = columns.iter().map(|(_, _, title)| title.clone()).collect();
    write(out, &titles)?;
    answer.each(|row| {
        let cells: Vec<String> = columns.iter().map(|(at, kind, _)| cell(row, *at, *kind)).collect();
        write(out, &cells).map_err(RenderError::from)
    })
}

/// One blank per level; beyond [`INDENTED`] levels their number, or the width of the table would be that of the depth.
fn indent(depth: usize) -> String {
    match depth.checked_sub(INDENTED) {
        None | Some(0) => " ".repeat(depth),
        Some(more) => format!("{}+{more} ", " ".repeat(INDENTED)),
    }
}

/// `Total time: 58.2 msec; Selected time: 23.8 msec`.
fn totals(subject: &Subject) -> String {
    let metric = &subject.metric;
    let name = plain(&metric.name);
    let mut line = format!("Total {name}: {}", total(metric));
    if let Some(selected) = subject.selected {
        let selected = MetricInfo { total: selected, ..metric.clone() };
        let _ = write!(line, "; Selected {name}: {}", total(&selected));
    }
    line
}

/// The total of a metric with its unit.
#[must_use]
pub fn total(metric: &MetricInfo) -> String {
    let figure = cost(metric.total, metric);
    if metric.unit == "count" { figure } else { format!("{figure} {}", unit_label(metric)) }
}

/// What the costs of a metric are shown in.
fn unit_label(metric: &MetricInfo) -> &str {
    match metric.unit.as_str() {
        "ns" => "msec",
        "bytes" => "bytes",
        _ => &metric.name,
    }
}

fn text_cell(value: &Value, kind: Kind, metric: Option<&MetricInfo>) -> String {
    match (value, kind, metric) {
        (Value::Null, Kind::Line | Kind::Text | Kind::Any | Kind::Name | Kind::Node, _) => String::new(),
        (Value::Null, ..) => "-".to_owned(),
        (Value::Text(text), ..) => plain(text),
        (Value::Integer(value), ..) => value.to_string(),
        (Value::Real(value), Kind::Cost | Kind::Raw, Some(metric)) => cost(*value, metric),
        (Value::Real(value), Kind::Percent, _) => format!("{value:.DECIMALS$}"),
        (Value::Real(value), ..) => shortest(*value),
    }
}

/// Text for a terminal. Names come from strangers: what would move the cursor is shown, not done.
#[must_use]
pub fn plain(text: &str) -> String {
    if !text.contains(is_unsafe) {
        return text.to_owned();
    }
    text.chars().flat_map(|c| if is_unsafe(c) { c.escape_default().collect() } else { vec![c] }).collect()
}

/// Control characters, and those that have no shape of their own but change the order or the lines of what is around.
fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
}

/// A cost in the unit of its label.
fn cost(value: f64, metric: &MetricInfo) -> String {
    let figure = match metric.unit.as_str() {
        "ns" => format!("{:.DECIMALS$}", value / 1e6),
        _ if value.fract() == 0.0 => format!("{value:.0}"),
        _ => format!("{value:.DECIMALS$}"),
    };
    match figure.strip_prefix('-') {
        // What rounds to nothing is not less than nothing.
        Some(rest) if !rest.contains(|digit| ('1'..='9').contains(&digit)) => rest.to_owned(),
        _ => figure,
    }
}

fn csv(answer: &mut Answer<'_>, out: &mut dyn Write) -> Result<(), RenderError> {
    let metric = answer.subject.as_ref().map(|subject| subject.metric.clone());
    let columns = shown(answer, |column| column.csv.as_deref().map(str::to_owned))?;
    let mut line = String::new();
    let mut write = |out: &mut dyn Write, cells: &mut dyn Iterator<Item = String>| {
        line.clear();
        for (column, cell) in cells.enumerate() {
            if column > 0 {
                line.push(',');
            }
            line.push_str(&cell);
        }
        writeln!(out, "{line}")
    };
    write(out, &mut columns.iter().map(|(_, _, title)| quoted(title)))?;
    answer.each(|row| {
        let mut cells = columns.iter().map(|(at, kind, _)| csv_cell(&row[*at], *kind, metric.as_ref()));
        write(out, &mut cells).map_err(RenderError::from)
    })
}

fn csv_cell(value: &Value, kind: Kind, metric: Option<&MetricInfo>) -> String {
    let is_time = metric.is_some_and(|metric| metric.unit == "ns");
    match (value, kind) {
        (Value::Null, _) => String::new(),
        (Value::Text(text), _) => quoted(text),
        (Value::Integer(value), _) => value.to_string(),
        (Value::Real(value), Kind::Cost) if is_time => significant(*value, -6),
        (Value::Real(value), Kind::Raw) if is_time => shifted(*value, -6),
        (Value::Real(value), Kind::Percent) => significant(*value, 0),
        (Value::Real(value), _) => shortest(*value),
    }
}

/// A field of text, RFC 4180.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// All digits that tell the number from every other.
fn shortest(value: f64) -> String {
    shifted(value, 0)
}

/// The same times a power of ten: the digits stay, so nothing is rounded.
fn shifted(value: f64, power: i32) -> String {
    if !value.is_finite() {
        // Only plain SQL comes to this.
        return value.to_string();
    }
    let scientific = format!("{value:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    positional(mantissa, exponent.parse::<i32>().unwrap_or(0) + power)
}

/// Ten digits of the number times a power of ten, without zeros at the end.
fn significant(value: f64, power: i32) -> String {
    let scientific = format!("{value:.*e}", DIGITS - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
    positional(mantissa, exponent.parse::<i32>().unwrap_or(0) + power)
}

/// Writes `d.ddd` times ten to the `exponent` without exponent, unless it is far from the digits.
fn positional(mantissa: &str, exponent: i32) -> String {
    const FAR: i32 = 21;
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let digits: String = mantissa.chars().filter(|character| *character != '.').collect();
    if digits.bytes().all(|digit| digit == b'0') {
        return "0".to_owned();
    }
    if !(-FAR..FAR).contains(&exponent) {
        return format!("{sign}{mantissa}E{exponent}");
    }
    let Ok(before) = usize::try_from(exponent + 1) else {
        let zeros = "0".repeat(usize::try_from(-exponent - 1).unwrap_or(0));
        return format!("{sign}0.{zeros}{digits}");
    };
    match (before, digits.len()) {
        (0, _) => format!("{sign}0.{digits}"),
        (before, length) if before >= length => format!("{sign}{digits}{}", "0".repeat(before - length)),
        (before, _) => format!("{sign}{}.{}", &digits[..before], &digits[before..]),
    }
}

fn json(answer: &mut Answer<'_>, out: &mut dyn Write) -> Result<(), RenderError> {
    write!(out, "{{\"schema_version\":{JSON_SCHEMA}")?;
    if let Some(subject) = &answer.subject {
        let Subject { report, run, metric, selected, .. } = subject;
        let (name, fidelity) = (json_text(&run.name), json_text(&run.fidelity));
        write!(out, ",\"report\":\"{report}\"")?;
        write!(out, ",\"run\":{{\"run_id\":{},\"name\":{name},\"fidelity\":{fidelity}}}", run.run_id)?;
        write!(out, ",\"metric\":{},\"unit\":{}", json_text(&metric.name), json_text(&metric.unit))?;
        write!(out, ",\"total\":{}", shortest(metric.total))?;
        let selected = selected.map_or_else(|| "null".to_owned(), shortest);
        write!(out, ",\"selected\":{selected}")?;
    }
    let columns: Vec<(usize, String)> = {
        let columns = answer.columns.iter().enumerate().filter(|(_, column)| column.json);
        columns.map(|(at, column)| (at, json_text(&column.name))).collect()
    };
    write!(out, ",\"rows\":[")?;
    let mut first = true;
    answer.each(|row| -> Result<(), RenderError> {
        write!(out, "{}", if first { "\n" } else { ",\n" })?;
        first = false;
        for (position, (at, name)) in columns.iter().enumerate() {
            write!(out, "{}{name}:{}", if position == 0 { "{" } else { "," }, json_value(&row[*at]))?;
        }
        write!(out, "}}")?;
        Ok(())
    })?;
    writeln!(out, "\n]}}")?;
    Ok(())
}

fn json_text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn json_value(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Integer(value) => value.to_string(),
        // Plain SQL may come to infinity, which JSON has no word for.
        Value::Real(value) if !value.is_finite() => "null".to_owned(),
        Value::Real(value) => shortest(*value),
        Value::Text(text) => json_text(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_digits() {
        let table: &[(f64, i32, &str, &str)] = &[
            // value, power, all digits, ten digits
            (68_400_494.877_920_43, -6, "68.40049487792043", "68.40049488"),
            (100.0, 0, "100", "100"),
            (0.0, -6, "0", "0"),
            (-887.179_497, -6, "-0.000887179497", "-0.000887179497"),
            (1e6, -6, "1", "1"),
            (1.5, -6, "0.0000015", "0.0000015"),
            (123_456_789_012.0, 0, "123456789012", "123456789000"),
            (0.1, 0, "0.1", "0.1"),
            (1e300, 0, "1E300", "1E300"),
            (12.5e-30, 0, "1.25E-29", "1.25E-29"),
        ];
        for (value, power, all, ten) in table {
            assert_eq!(shifted(*value, *power), *all);
            assert_eq!(significant(*value, *power), *ten);
        }
    }

    #[test]
    fn text_of_strangers_cannot_move_the_cursor() {
        assert_eq!(plain("a\tb\n\u{1b}[2Jc"), "a\\tb\\n\\u{1b}[2Jc");
        assert_eq!(plain("a\u{202e}b\u{2028}"), "a\\u{202e}b\\u{2028}");
        assert_eq!(plain("∆ ⍙ \"x\" | <y>"), "∆ ⍙ \"x\" | <y>");
    }
}
