//! XML files of Dyalog's `]PROFILE`: settings, entries, escaped text.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::cell::{Kind, NO_NAME, Shown, Value};
use super::dyalog_files::{Rows, Style};
use super::number::{apl, milliseconds, push_shortest, significant};
use super::scale::Scale;

/// The entries of a file.
pub(crate) struct Table {
    columns: Vec<Shown>,
    no_line: &'static str,
    scale: Scale,
    /// What a function without a name is called, in files that can be read again.
    no_name: &'static str,
}

impl Table {
    /// Gives the columns the titles that they have in a style. Titles of inclusive and exclusive
    /// are swapped only where both are there.
    pub(crate) fn new(mut columns: Vec<Shown>, style: Style, scale: Scale) -> Self {
        let has = |columns: &[Shown], name: &str| columns.iter().any(|column| column.title == name);
        // A summary has one of the two, and its title is right in both versions.
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
                column.title = style.title(&column.title);
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
        let mut entry = String::with_capacity(512);
        entry.push_str("    <ProfileEntry>\n");
        for column in &self.columns {
            let name = column.title.as_str();
            entry.extend(["        <", name, ">"]);
            match &row[column.at] {
                Value::Null if name == "Line" => entry.push_str(self.no_line),
                Value::Text(text) if text.is_empty() && matches!(name, "Element" | "Function") => {
                    entry.push_str(self.no_name);
                }
                value => push_cell(value, column, &self.scale, &mut entry),
            }
            entry.extend(["</", name, ">\n"]);
        }
        entry.push_str("    </ProfileEntry>\n");
        out.write_all(entry.as_bytes())
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

fn push_cell(value: &Value, column: &Shown, scale: &Scale, entry: &mut String) {
    let from = entry.len();
    match (value, column.kind) {
        (Value::Null, _) => return,
        (Value::Text(text), _) => return push_escaped(text, entry),
        (Value::Integer(value), _) => {
            // A text takes everything.
            let _ = write!(entry, "{value}");
        }
        (Value::Real(value), Kind::Cost | Kind::Raw) => scale.push_exact(*value, entry),
        (Value::Real(value), Kind::Percent) => entry.push_str(&significant(*value, 0)),
        (Value::Real(value), _) => push_shortest(*value, entry),
    }
    if entry[from..].contains('-') {
        let figure = apl(&entry[from..]);
        entry.truncate(from);
        entry.push_str(&figure);
    }
}

/// A time in milliseconds with all its digits, as APL writes it.
pub(crate) fn milliseconds_of_apl(nanoseconds: f64) -> String {
    apl(&milliseconds(nanoseconds))
}

/// Text of an element. Blanks other than the common one are written as references, or readers would
/// turn them into one.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    push_escaped(text, &mut escaped);
    escaped
}

/// Adds [`escaped`] text to another one.
fn push_escaped(text: &str, escaped: &mut String) {
    let is_special = |byte: u8| byte < b' ' || matches!(byte, b'<' | b'>' | b'&' | 0xef);
    if !text.bytes().any(is_special) {
        escaped.push_str(text);
        return;
    }
    for character in text.chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '\t' => escaped.push_str("&#9;"),
            '\n' => escaped.push_str("&#10;"),
            '\r' => escaped.push_str("&#13;"),
            // XML 1.0 cannot hold these, not even as references: their pictures take their place.
            '\0'..='\u{1f}' => escaped.extend(char::from_u32(0x2400 + u32::from(character))),
            '\u{fffe}' | '\u{ffff}' => escaped.push(char::REPLACEMENT_CHARACTER),
            _ => escaped.push(character),
        }
    }
}

/// Whether XML can hold a character.
pub(crate) fn is_held(character: char) -> bool {
    !matches!(character, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}')
}
