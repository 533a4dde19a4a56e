//! Dyalog's XML. What this writes of a tree can be imported again and gives the same profile.
//!
//! There are two layouts, those of the two versions of `]PROFILE` whose files are known. Times that
//! are corrected, and those of runs that know how often the timer was read, are written as 0.9.0
//! does: names in `Function`, and the labels of inclusive and exclusive swapped, in times and
//! ticks, because its readers expect them so. Everything else is written as 1.37 does: names in
//! `Element`, labels right, `¯1` as the line of whole functions in trees. The version is left out
//! where it is not that of the layout.
//!
//! Times are milliseconds with all their digits, minus is APL's `¯` (only APL and profdb read these
//! files). The settings say what has been subtracted from the times: `TimerBias` is left out where
//! that is unknown. Costs that are no time are in their base unit, which the setting `Unit` then
//! names; such a file is not for importing. Control characters that XML cannot hold are written as
//! their pictures (U+2400 and up: `␀` for NUL), the two other characters that it cannot hold as
//! U+FFFD.

use std::io::{self, Write};

use super::{Layout, NO_NAME, RenderError, Shown, shown};
use crate::report::header::Kind;
use crate::report::{Answer, Subject, Value};
use crate::text::dyalog_files::{Rows, Said, Style, Timer, Times};
use crate::text::number::{Scale, milliseconds, shortest, significant};

pub(super) fn write(
    answer: &mut Answer<'_>,
    layout: &Layout,
    out: &mut dyn Write,
) -> Result<(), RenderError> {
    let exclusive = layout.flags.iter().any(|flag| flag == "exclusive");
    let columns = shown(answer, layout, |column| {
        let title = column.xml.as_deref()?;
        // The cost asked for, which is either.
        let other = exclusive && column.name == "shown" && title == "InclusiveTime";
        Some(if other { "ExclusiveTime" } else { title }.to_owned())
    })?;
    let Some(subject) = &answer.subject else {
        return Ok(());
    };
    let scale =
        Scale::of(&subject.metric.name, &subject.metric.unit, None).map_err(RenderError::Usage)?;
    let timer = Timer {
        readings: subject.timer_readings,
        applied: subject.bias,
    };
    let style = if is_usual(subject) {
        Style::of(timer)
    } else {
        Style::New
    };
    let has = |name: &str| columns.iter().any(|column| column.title == name);
    let (rows, ticks) = (
        if has("Depth") {
            Rows::Tree
        } else {
            Rows::Totals
        },
        has("ExclusiveTicks"),
    );
    begin(
        style,
        &settings(subject, layout, &scale, (style, rows, ticks)),
        out,
    )?;
    let table = Table::new(columns, style, scale);
    answer.each(|row| Ok::<_, RenderError>(table.row(row, out)?))?;
    Ok(end(out)?)
}

/// The entries of a file.
pub(crate) struct Table {
    columns: Vec<Shown>,
    no_line: &'static str,
    scale: Scale,
    /// What a function without a name is called, in files that can be read again.
    no_name: &'static str,
}

impl Table {
    /// Gives the columns the titles that they have in a style. Swapped are labels only where both
    /// figures are there.
    pub(crate) fn new(mut columns: Vec<Shown>, style: Style, scale: Scale) -> Self {
        let has = |columns: &[Shown], name: &str| columns.iter().any(|column| column.title == name);
        let is_profile = has(&columns, "ExclusiveTime") && has(&columns, "InclusiveTime");
        let rows = if has(&columns, "Depth") {
            Rows::Tree
        } else {
            Rows::Totals
        };
        for column in &mut columns {
            if style == Style::Old && column.title == "Element" {
                "Function".clone_into(&mut column.title);
            } else if is_profile {
                column.title = style.label(&column.title);
            }
        }
        Self {
            columns,
            no_line: style.no_line(rows),
            scale,
            no_name: if is_profile { NO_NAME } else { "" },
        }
    }

    /// Writes an entry.
    pub(crate) fn row(&self, row: &[Value], out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "    <ProfileEntry>")?;
        for column in &self.columns {
            let name = &column.title;
            let text = match &row[column.at] {
                Value::Null if name == "Line" => self.no_line.to_owned(),
                Value::Text(text)
                    if text.is_empty() && matches!(&**name, "Element" | "Function") =>
                {
                    self.no_name.to_owned()
                }
                value => cell(value, column, &self.scale),
            };
            writeln!(out, "        <{name}>{text}</{name}>")?;
        }
        writeln!(out, "    </ProfileEntry>")
    }
}

/// Begins a file with those of its settings that are known. 0.9.0 has no declaration.
pub(crate) fn begin(
    style: Style,
    settings: &[(&str, Option<String>)],
    out: &mut dyn Write,
) -> io::Result<()> {
    if style == Style::New {
        writeln!(out, "<?xml version=\"1.0\"?>")?;
    }
    writeln!(out, "<ProfileData>\n    <ProfileSettings>")?;
    for (name, text) in settings {
        if let Some(text) = text {
            writeln!(out, "        <{name}>{text}</{name}>")?;
        }
    }
    writeln!(out, "    </ProfileSettings>")
}

/// Ends a file.
pub(crate) fn end(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "</ProfileData>")
}

/// Whether the costs are what `]PROFILE` measures.
fn is_usual(subject: &Subject) -> bool {
    subject.metric.name == "time" && subject.metric.unit == "ns"
}

/// Names and texts of the settings, in their order.
fn settings(
    subject: &Subject,
    layout: &Layout,
    scale: &Scale,
    (style, rows, ticks): (Style, Rows, bool),
) -> [(&'static str, Option<String>); 8] {
    let Subject {
        report,
        run,
        metric,
        selected,
        ..
    } = subject;
    let version = run.tool_version.as_deref();
    let times = Times {
        style,
        rows,
        ticks,
        version,
        timer: run.timer_bias,
        applied: subject.bias,
        stored: run.bias_applied,
    };
    let Said { version, bias, .. } = times.said();
    let title = layout
        .title
        .as_deref()
        .or(run.title.as_deref())
        .unwrap_or_default();
    let unit = if scale.is_time() {
        scale.unit()
    } else {
        &metric.unit
    };
    let unusual = !is_usual(subject);
    let figure = |cost: f64| apl(&scale.significant(cost));
    [
        ("Version", version.map(escaped)),
        ("Title", Some(escaped(title))),
        ("TimerBias", bias.map(milliseconds_of_apl)),
        ("Command", Some((*report).to_owned())),
        ("TotalTime", Some(figure(metric.total))),
        (
            "SelectedTime",
            Some(figure(selected.unwrap_or(metric.total))),
        ),
        ("Metric", unusual.then(|| escaped(&metric.name))),
        ("Unit", unusual.then(|| escaped(unit))),
    ]
}

fn cell(value: &Value, column: &Shown, scale: &Scale) -> String {
    match (value, column.kind) {
        (Value::Null, _) => String::new(),
        (Value::Text(text), _) => escaped(text),
        (Value::Integer(value), _) => apl(&value.to_string()),
        (Value::Real(value), Kind::Cost | Kind::Raw) => apl(&scale.exact(*value)),
        (Value::Real(value), Kind::Percent) => apl(&significant(*value, 0)),
        (Value::Real(value), _) => apl(&shortest(*value)),
    }
}

/// A time in milliseconds with all its digits, as APL writes it.
pub(crate) fn milliseconds_of_apl(nanoseconds: f64) -> String {
    apl(&milliseconds(nanoseconds))
}

/// A number as APL writes it.
pub(super) fn apl(number: &str) -> String {
    number.replace('-', "¯")
}

/// Text of an element. Blanks other than the common one are written as references, or readers would
/// turn them into one.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '\t' => escaped.push_str("&#9;"),
            '\n' => escaped.push_str("&#10;"),
            '\r' => escaped.push_str("&#13;"),
            '\0'..='\u{1f}' => escaped.extend(char::from_u32(0x2400 + u32::from(character))),
            '\u{fffe}' | '\u{ffff}' => escaped.push(char::REPLACEMENT_CHARACTER),
            _ => escaped.push(character),
        }
    }
    escaped
}

/// Whether XML can hold a character.
pub(crate) fn is_held(character: char) -> bool {
    !matches!(character, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_what_xml_can_hold() {
        let table = [
            ("a]]>b", "a]]&gt;b"),
            ("<script>&amp;", "&lt;script&gt;&amp;amp;"),
            ("a\tb\r\nc", "a&#9;b&#13;&#10;c"),
            ("a\0b\u{1b}c", "a␀b␛c"),
            ("\u{ffff}\u{202e}∆", "\u{fffd}\u{202e}∆"),
        ];
        for (text, expected) in table {
            assert_eq!(escaped(text), expected);
        }
    }
}
