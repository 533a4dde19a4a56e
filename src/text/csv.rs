//! CSV files, RFC 4180 but for line ends, which are LF: titles, records, fields; and the same with
//! tabs and without quotes.

use std::io::{self, Write};

use csv_core::{QuoteStyle, WriterBuilder};

use super::cell::{Kind, NO_NAME, Shown, Value};
use super::dyalog_files::{Rows, Style};
use super::number::{apl, push_shortest, significant};
use super::scale::Scale;
use super::separators::Separators;

/// How numbers are written, and how columns are titled.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// As most programs do.
    Plain,
    /// As most programs do with tabs between fields: no quotes, and what would end a field or a line
    /// is escaped.
    Tabs,
    /// As a version of `]PROFILE` does.
    Dyalog(Style, Rows),
}

/// The records of a file.
pub(crate) struct Table {
    pub(crate) columns: Vec<Shown>,
    /// The scale of each metric; none where figures are shown as they are.
    pub(crate) scales: Vec<Scale>,
    pub(crate) separators: Separators,
    pub(crate) dialect: Dialect,
}

impl Table {
    /// Writes the header.
    pub(crate) fn titles(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut line = Vec::new();
        for (at, column) in self.columns.iter().enumerate() {
            if at > 0 {
                line.push(self.between());
            }
            let title = match self.dialect {
                Dialect::Plain | Dialect::Tabs => column.title.clone(),
                Dialect::Dyalog(style, _) => style.title(&column.title),
            };
            self.add(&title, QuoteStyle::Always, &mut line);
        }
        line.push(b'\n');
        out.write_all(&line)
    }

    /// Writes a record.
    pub(crate) fn row(&self, row: &[Value], out: &mut dyn Write) -> io::Result<()> {
        let mut line = Vec::with_capacity(LINE);
        let mut figure = String::new();
        for (at, column) in self.columns.iter().enumerate() {
            if at > 0 {
                line.push(self.between());
            }
            self.cell(&row[column.at], column, &mut figure, &mut line);
        }
        line.push(b'\n');
        out.write_all(&line)
    }

    /// Whether the file can be read again.
    fn is_profile(&self) -> bool {
        ["ExclusiveTime", "InclusiveTime"]
            .iter()
            .all(|name| self.columns.iter().any(|column| column.title == *name))
    }

    /// Adds the field of a value to a line, by way of a text for figures, which is used again. Text
    /// is always in quotes, and figures never unless they have to be: that is how `]PROFILE` writes,
    /// and how readers tell a name that looks like a number.
    fn cell(&self, value: &Value, column: &Shown, figure: &mut String, line: &mut Vec<u8>) {
        figure.clear();
        let scale = self.scales.get(column.metric);
        match (value, column.kind, scale) {
            (Value::Null, ..) => {
                return match self.dialect {
                    Dialect::Dyalog(style, rows) if column.title == "Line" => {
                        line.extend(style.no_line(rows).as_bytes());
                    }
                    _ => {}
                };
            }
            (Value::Text(text), ..)
                if text.is_empty() && column.title == "Element" && self.is_profile() =>
            {
                return self.add(NO_NAME, QuoteStyle::Always, line);
            }
            (Value::Text(text), ..) => {
                return self.add(text, QuoteStyle::Always, line);
            }
            (Value::Integer(value), ..) => {
                // A list takes everything.
                let _ = write!(line, "{value}");
                return;
            }
            (Value::Real(value), Kind::Cost, Some(scale)) if scale.is_time() => {
                figure.push_str(&scale.significant(*value));
            }
            (Value::Real(value), Kind::Cost | Kind::Raw, Some(scale)) => {
                scale.push_exact(*value, figure);
            }
            (Value::Real(value), Kind::Percent, _) => {
                figure.push_str(&significant(*value, 0));
            }
            (Value::Real(value), ..) => push_shortest(*value, figure),
        }
        if let Dialect::Dyalog(..) = self.dialect {
            *figure = apl(figure);
        }
        // An unusual separator may occur in a number: `1E300`, `-5`.
        let decimal = self.separators.decimal;
        if decimal != '.' {
            *figure = figure.replace('.', &decimal.to_string());
        }
        self.add(figure, QuoteStyle::Necessary, line);
    }

    /// What comes between two fields.
    fn between(&self) -> u8 {
        match self.dialect {
            Dialect::Tabs => b'\t',
            Dialect::Plain | Dialect::Dyalog(..) => self.separators.field,
        }
    }

    /// Adds a field to a line.
    fn add(&self, text: &str, style: QuoteStyle, line: &mut Vec<u8>) {
        match self.dialect {
            Dialect::Tabs => add_between_tabs(text, line),
            Dialect::Plain | Dialect::Dyalog(..) => add(text, style, self.separators, line),
        }
    }
}

/// Bytes that most lines are not longer than.
const LINE: usize = 256;

/// Bytes of text that are looked at and written at once.
const PIECE: usize = 1 << 16;

/// Adds a field that ends at a tab.
fn add_between_tabs(text: &str, line: &mut Vec<u8>) {
    for byte in text.bytes() {
        match byte {
            b'\t' => line.extend(b"\\t"),
            b'\n' => line.extend(b"\\n"),
            b'\r' => line.extend(b"\\r"),
            b'\\' => line.extend(b"\\\\"),
            byte => line.push(byte),
        }
    }
}

/// Adds a field to a line. Each has a writer of its own, because a writer has one style for all its
/// fields.
fn add(text: &str, style: QuoteStyle, separators: Separators, line: &mut Vec<u8>) {
    // Nearly all fields are themselves, or themselves in quotes; the writer is for the others.
    match style {
        QuoteStyle::Always if !text.contains('"') => {
            line.push(b'"');
            line.extend(text.as_bytes());
            line.push(b'"');
            return;
        }
        QuoteStyle::Necessary
            if !text.is_empty()
                && text
                    .bytes()
                    .all(|byte| matches!(byte, b'0'..=b'9' | b'.') && byte != separators.field) =>
        {
            line.extend(text.as_bytes());
            return;
        }
        _ => {}
    }
    let mut writer = WriterBuilder::new()
        .delimiter(separators.field)
        .quote_style(style)
        .build();
    // Whether it needs quotes is decided by the first piece: one has all of it where that matters,
    // and figures are short.
    let piece = if matches!(style, QuoteStyle::Always) {
        PIECE
    } else {
        text.len().max(1)
    };
    // Each byte may become two, and quotes are put around. The writer looks through all that it is
    // given whenever it is called, so that it has to get rid of it at once.
    let mut room = vec![0; 2 * piece.min(text.len()) + 2];
    let mut rest = text.as_bytes();
    // An empty text is a field as well.
    loop {
        let (piece, after) = rest.split_at(piece.min(rest.len()));
        let (_, _, written) = writer.field(piece, &mut room);
        line.extend(&room[..written]);
        rest = after;
        if rest.is_empty() {
            break;
        }
    }
    let (_, written) = writer.finish(&mut room);
    line.extend(&room[..written]);
}
