//! Numbers of events, which some programs write as texts.

use std::str::FromStr;

use crate::base::error::{ImportError, quote};
use crate::formats::common::json::{Reader, thousandths};

/// Reads microseconds as nanoseconds: a number, or a text that is one. `None` for an empty text.
pub(super) fn read_microseconds(
    json: &mut Reader<'_, '_>,
    text: &mut Vec<u8>,
    expected: &str,
) -> Result<Option<i64>, ImportError> {
    if !json.is_next(b'"')? {
        return json.thousandths(expected).map(Some);
    }
    read_text(json, text, expected, thousandths)
}

/// Reads a number of the type `T`, or a text that is one. `None` for an empty text.
pub(super) fn read_number<T: FromStr>(
    json: &mut Reader<'_, '_>,
    text: &mut Vec<u8>,
    expected: &str,
) -> Result<Option<T>, ImportError> {
    if !json.is_next(b'"')? {
        return json.parsed(expected, |text| text.parse().ok()).map(Some);
    }
    read_text(json, text, expected, |text| text.parse().ok())
}

fn read_text<T>(
    json: &mut Reader<'_, '_>,
    text: &mut Vec<u8>,
    expected: &str,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, ImportError> {
    let at = json.place()?;
    json.text(text)?;
    let number = text.trim_ascii();
    if number.is_empty() {
        return Ok(None);
    }
    match std::str::from_utf8(number).ok().and_then(parse) {
        Some(number) => Ok(Some(number)),
        None => Err(ImportError::malformed(at, expected, quote(text))),
    }
}

/// Returns nanoseconds as a cost.
#[expect(clippy::cast_precision_loss, reason = "104 days are exact")]
pub(super) fn nanoseconds(duration: i64) -> f64 {
    duration as f64
}
