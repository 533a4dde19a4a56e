//! Dyalog's XML. What this writes of a tree can be imported again and gives the same profile.
//!
//! There are two layouts, those of the two versions of `]PROFILE` whose files are known. Times with ticks are written as
//! 0.9.0 does: names in `Function`, and the labels of inclusive and exclusive swapped, in times and ticks, because its
//! readers expect them so. Everything else is written as 1.37 does: names in `Element`, labels right, `¯1` as the line of
//! whole functions in trees.
//!
//! Times are milliseconds with all their digits, minus is APL's `¯` (only APL and profdb read these files). The settings
//! say what has been subtracted from the times: `TimerBias` is left out where that is unknown. Costs that are no time
//! are in their base unit, which the setting `Unit` then names; such a file is not for importing. Control characters
//! that XML cannot hold are written as their pictures (U+2400 and up: `␀` for NUL), the two other characters that it
//! cannot hold as U+FFFD.

use std::io::{self, Write};

use super::number::{Scale, milliseconds, shortest, significant};
use super::{Layout, RenderError, Shown, shown};
use crate::report::header::Kind;
use crate::report::{Answer, Subject, Value};

/// Version of `]PROFILE` that the layout with ticks is of.
const WITH_TICKS: &str = "0.9.0";

/// Versions whose trees are corrected for the cost of the timer start so.
const CORRECTING: &str = "0.";

pub(super) fn write(answer: &mut Answer<'_>, layout: &Layout, out: &mut dyn Write) -> Result<(), RenderError> {
    let exclusive = layout.flags.iter().any(|flag| flag == "exclusive");
    let mut columns = shown(answer, layout, |column| {
        let title = column.xml.as_deref()?;
        // The cost asked for, which is either.
        let other = exclusive && column.name == "shown" && title == "InclusiveTime";
        Some(if other { "ExclusiveTime" } else { title }.to_owned())
    })?;
    let Some(subject) = &answer.subject else { return Ok(()) };
    let scale = Scale::of(&subject.metric, None).map_err(RenderError::Usage)?;
    let has = |name: &str| columns.iter().any(|column| column.title == name);
    let (ticks, depth) = (has("ExclusiveTicks") && is_usual(subject), has("Depth"));
    if ticks {
        for column in &mut columns {
            column.title = as_with_ticks(&column.title);
        }
    }
    begin(!ticks, &settings(subject, layout, &scale, Rows { ticks, depth }), out)?;
    let no_line = if depth && !ticks { "¯1" } else { "" };
    answer.each(|row| {
        let cells = columns.iter().map(|column| match &row[column.at] {
            Value::Null if column.title == "Line" => (column.title.as_str(), no_line.to_owned()),
            value => (column.title.as_str(), cell(value, column, &scale)),
        });
        Ok::<_, RenderError>(entry(cells, out)?)
    })?;
    Ok(end(out)?)
}

/// Begins a file with those of its settings that are known. 0.9.0 has no declaration.
pub(crate) fn begin(declares: bool, settings: &[(&str, Option<String>)], out: &mut dyn Write) -> io::Result<()> {
    if declares {
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

/// Writes an entry of elements and their texts.
pub(crate) fn entry<'t>(cells: impl Iterator<Item = (&'t str, String)>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "    <ProfileEntry>")?;
    for (name, text) in cells {
        writeln!(out, "        <{name}>{text}</{name}>")?;
    }
    writeln!(out, "    </ProfileEntry>")
}

/// Ends a file.
pub(crate) fn end(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "</ProfileData>")
}

/// Whether the costs are what `]PROFILE` measures.
fn is_usual(subject: &Subject) -> bool {
    subject.metric.name == "time" && subject.metric.unit == "ns"
}

/// The name of an element as 0.9.0 has it.
fn as_with_ticks(title: &str) -> String {
    let swapped = [("Inclusive", "Exclusive"), ("Exclusive", "Inclusive")];
    let swapped = swapped.iter().find_map(|(label, other)| Some(format!("{other}{}", title.strip_prefix(label)?)));
    match title {
        "Element" => "Function".to_owned(),
        _ => swapped.unwrap_or_else(|| title.to_owned()),
    }
}

/// What the rows have.
#[derive(Clone, Copy)]
struct Rows {
    ticks: bool,
    depth: bool,
}

/// Names and texts of the settings, in their order.
fn settings(subject: &Subject, layout: &Layout, scale: &Scale, rows: Rows) -> [(&'static str, Option<String>); 8] {
    let Subject { report, run, metric, selected, .. } = subject;
    let bias = match (rows, subject.bias) {
        // Readers take it for what a tree with ticks has been corrected by.
        (Rows { ticks: true, depth: true }, Some(applied)) => Some(applied),
        // They would subtract it a second time.
        (Rows { ticks: true, depth: false }, Some(applied)) if applied != 0.0 => None,
        _ => run.timer_bias,
    };
    let corrected = rows.ticks && rows.depth && subject.bias.is_some();
    let version = run.tool_version.as_deref();
    let version = if corrected && !version.is_some_and(|version| version.starts_with(CORRECTING)) {
        Some(WITH_TICKS)
    } else {
        version
    };
    let title = layout.title.as_deref().or(run.title.as_deref()).unwrap_or_default();
    let unit = if scale.is_time() { scale.unit() } else { &metric.unit };
    let unusual = !is_usual(subject);
    let figure = |cost: f64| apl(&scale.significant(cost));
    [
        ("Version", version.map(escaped)),
        ("Title", Some(escaped(title))),
        ("TimerBias", bias.map(time)),
        ("Command", Some((*report).to_owned())),
        ("TotalTime", Some(figure(metric.total))),
        ("SelectedTime", Some(figure(selected.unwrap_or(metric.total)))),
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
pub(crate) fn time(nanoseconds: f64) -> String {
    apl(&milliseconds(nanoseconds))
}

/// A number as APL writes it.
fn apl(number: &str) -> String {
    number.replace('-', "¯")
}

/// Text of an element. Blanks other than the common one are written as references, or readers would turn them into one.
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

    #[test]
    fn labels_are_swapped_where_there_are_ticks() {
        let table = [
            ("Element", "Function"),
            ("ExclusiveTime", "InclusiveTime"),
            ("InclusiveTicks", "ExclusiveTicks"),
            ("Calls", "Calls"),
        ];
        for (title, expected) in table {
            assert_eq!(as_with_ticks(title), expected);
        }
    }
}
