//! The two separators of CSV files, as Dyalog's `-separators=XY` gives them.

use std::str::FromStr;

/// Decimal mark and field separator: `.,` unless said otherwise, `,;` in much of Europe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Separators {
    /// Between whole part and fraction of a number.
    pub decimal: char,
    /// Between fields.
    pub field: u8,
}

impl Default for Separators {
    fn default() -> Self {
        Self {
            decimal: '.',
            field: b',',
        }
    }
}

impl FromStr for Separators {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = |what: &str| {
            Err(format!(
                "expected decimal mark and field separator, such as \",;\": {what}"
            ))
        };
        // Bytes, since a field separator is one byte: a letter beyond ASCII has more and is
        // refused.
        let [decimal, field] = text.as_bytes() else {
            return expected("two characters");
        };
        if !matches!(decimal, b'.' | b',') {
            return expected("the decimal mark is a point or a comma");
        }
        if decimal == field {
            return expected("one character cannot be both");
        }
        match field {
            b'\t'
            | b' '
            | b'!'
            | b'#'..=b','
            | b'.'
            | b'/'
            | b':'..=b'@'
            | b'['..=b'`'
            | b'{'..=b'~' => Ok(Self {
                decimal: char::from(*decimal),
                field: *field,
            }),
            _ => expected(
                "the field separator must not be a letter, a digit, a quote or a minus sign",
            ),
        }
    }
}
