//! CSV files, RFC 4180 but for line ends, which are LF: titles, records, fields.

use std::borrow::Cow;
use std::io::{self, Write};

use csv_core::{QuoteStyle, WriterBuilder};

use super::cell::{Kind, NO_NAME, Shown, Value};
use super::dyalog_files::{Rows, Style};
use super::number::{Scale, apl, fixed, shortest, significant};
use super::separators::Separators;

/// How numbers are written, and how columns are titled.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// As most programs do.
    Plain,
    /// As a version of `]PROFILE` does.
    Dyalog(Style, Rows),
}

/// The records of a file.
pub(crate) struct Table {
    pub(crate) columns: Vec<Shown>,
    pub(crate) scale: Option<Scale>,
    pub(crate) decimals: Option<usize>,
    pub(crate) separators: Separators,
    pub(crate) dialect: Dialect,
}

impl Table {
    /// Writes the header.
    pub(crate) fn titles(&self, out: &mut dyn Write) -> io::Result<()> {
        let title = |column: &Shown| match self.dialect {
            Dialect::Plain => Field::text(column.title.clone()),
            Dialect::Dyalog(style, _) => Field::text(style.title(&column.title)),
        };
        line(self.columns.iter().map(title), self.separators, out)
    }

    /// Writes a record.
    pub(crate) fn row(&self, row: &[Value], out: &mut dyn Write) -> io::Result<()> {
        line(
            self.columns
                .iter()
                .map(|column| self.cell(&row[column.at], column)),
            self.separators,
            out,
        )
    }

    /// Whether the file can be read again.
    fn is_profile(&self) -> bool {
        ["ExclusiveTime", "InclusiveTime"]
            .iter()
            .all(|name| self.columns.iter().any(|column| column.title == *name))
    }

    fn cell<'v>(&self, value: &'v Value, column: &Shown) -> Field<'v> {
        let scale = self.scale.as_ref();
        let figure = match (value, column.kind, scale, self.decimals) {
            (Value::Null, ..) => match self.dialect {
                Dialect::Dyalog(style, rows) if column.title == "Line" => {
                    return Field::Bare(style.no_line(rows).into());
                }
                _ => return Field::Bare(Cow::Borrowed("")),
            },
            (Value::Text(text), ..)
                if text.is_empty() && column.title == "Element" && self.is_profile() =>
            {
                return Field::text(NO_NAME);
            }
            (Value::Text(text), ..) => return Field::text(text.as_str()),
            (Value::Integer(value), ..) => return Field::Bare(value.to_string().into()),
            (Value::Real(value), Kind::Cost | Kind::Raw, Some(scale), Some(decimals)) => {
                scale.rounded(*value, decimals)
            }
            (Value::Real(value), Kind::Cost, Some(scale), None) if scale.is_time() => {
                scale.significant(*value)
            }
            (Value::Real(value), Kind::Cost | Kind::Raw, Some(scale), None) => scale.exact(*value),
            (Value::Real(value), Kind::Percent, _, Some(decimals)) => fixed(*value, decimals),
            (Value::Real(value), Kind::Percent, _, None) => significant(*value, 0),
            (Value::Real(value), ..) => shortest(*value),
        };
        match self.dialect {
            Dialect::Plain => number(figure, self.separators),
            Dialect::Dyalog(..) => number(apl(&figure), self.separators),
        }
    }
}

/// Bytes of text that are looked at and written at once.
const PIECE: usize = 1 << 16;

/// A field of a record. Text is always in quotes, and figures never unless they have to be: that is
/// how `]PROFILE` writes, and how readers tell a name that looks like a number.
enum Field<'v> {
    Text(Cow<'v, str>),
    Figure(Cow<'v, str>),
    /// As it is: a whole number, or nothing.
    Bare(Cow<'v, str>),
}

impl<'v> Field<'v> {
    fn text(text: impl Into<Cow<'v, str>>) -> Self {
        Self::Text(text.into())
    }
}

/// Writes a record.
fn line<'v>(
    fields: impl Iterator<Item = Field<'v>>,
    separators: Separators,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut line = Vec::new();
    for (column, field) in fields.enumerate() {
        if column > 0 {
            line.push(separators.field);
        }
        match field {
            Field::Text(text) => add(&text, QuoteStyle::Always, separators, &mut line),
            Field::Figure(text) => add(&text, QuoteStyle::Necessary, separators, &mut line),
            Field::Bare(text) => line.extend(text.as_bytes()),
        }
    }
    line.push(b'\n');
    out.write_all(&line)
}

/// Adds a field to a line. Each has a writer of its own, because a writer has one style for all its
/// fields.
fn add(text: &str, style: QuoteStyle, separators: Separators, line: &mut Vec<u8>) {
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

/// A field of a number. An unusual separator may occur in it: `1E300`, `-5`.
fn number(figure: String, separators: Separators) -> Field<'static> {
    let decimal = separators.decimal;
    Field::Figure(
        if decimal == '.' {
            figure
        } else {
            figure.replace('.', &decimal.to_string())
        }
        .into(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_written_piece_by_piece() {
        let comma = Separators::default();
        let mut line = Vec::new();
        add("", QuoteStyle::Always, comma, &mut line);
        assert_eq!(line, b"\"\"");
        for length in [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE] {
            // Quotes where pieces meet, and a letter of two bytes that is cut.
            let text = format!("{}\"é\"", "\"".repeat(length));
            let mut line = Vec::new();
            add(&text, QuoteStyle::Always, comma, &mut line);
            assert!(
                line == format!("\"{}\"", text.replace('"', "\"\"")).into_bytes(),
                "{length}"
            );
        }
        for (figure, expected) in [("-5", "-5"), ("1,5", "\"1,5\""), ("a\"b", "\"a\"\"b\"")] {
            let mut line = Vec::new();
            add(figure, QuoteStyle::Necessary, comma, &mut line);
            assert_eq!(String::from_utf8_lossy(&line), expected);
        }
    }
}
