//! Numbers in lines that may be longer than a record: read one by one, no line is kept.

use std::io::BufRead;

use crate::base::error::{ImportError, Position, quote};
use crate::formats::common::buffered::available;
use crate::input::Input;

/// A whole number without sign that fits.
pub(super) fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// A part of a line.
#[derive(Clone, Copy)]
pub(super) enum Token {
    Number(u64),
    LineEnd,
    FileEnd,
    /// Something else, not yet consumed.
    Other,
}

impl Token {
    /// What a message says that was found.
    pub(super) fn describe(self, input: &mut Input<'_>) -> Result<String, ImportError> {
        const SHOWN: usize = 60;
        match self {
            Self::Number(number) => Ok(number.to_string()),
            Self::LineEnd => Ok("the end of the line".to_owned()),
            Self::FileEnd => Ok("the end of the file".to_owned()),
            Self::Other => {
                let mut word = Vec::new();
                while let Some(byte) = peek(input)?
                    && word.len() < SHOWN
                    && !byte.is_ascii_whitespace()
                {
                    word.push(byte);
                    input.consume(1);
                }
                Ok(quote(&word))
            }
        }
    }
}

/// The next number of the line; anything else is an error that says what was expected.
pub(super) fn take(input: &mut Input<'_>, expected: &str) -> Result<u64, ImportError> {
    match token(input)? {
        (Token::Number(number), _) => Ok(number),
        (other, position) => Err(ImportError::malformed(
            position,
            expected,
            other.describe(input)?,
        )),
    }
}

/// The next part of the line, and where it starts. Blanks separate parts.
pub(super) fn token(input: &mut Input<'_>) -> Result<(Token, Position), ImportError> {
    let mut known: Option<u64> = None;
    let mut position = input.position();
    loop {
        let chunk = available(input)?;
        // Blanks may go on in the next chunk, and so may a number: a blank after digits ends it.
        if known.is_none() {
            let blanks = chunk
                .iter()
                .take_while(|byte| matches!(byte, b' ' | b'\r'))
                .count();
            if blanks > 0 {
                input.consume(blanks);
                position = input.position();
                continue;
            }
        }
        let digits = chunk.iter().take_while(|byte| byte.is_ascii_digit());
        let mut count = 0;
        let mut value = Some(known.unwrap_or(0));
        for digit in digits {
            count += 1;
            value =
                value.and_then(|value| value.checked_mul(10)?.checked_add(u64::from(digit - b'0')));
        }
        let next = chunk.get(count).copied();
        // The chunk ended within the digits, as far as can be seen.
        let more = next.is_none() && count > 0;
        if count > 0 {
            known = Some(value.ok_or_else(|| {
                ImportError::malformed(position, "a number below 2^64", "a larger one")
            })?);
            input.consume(count);
        }
        if more {
            continue;
        }
        let token = match (known, next) {
            (Some(number), _) => Token::Number(number),
            (None, None) => Token::FileEnd,
            (None, Some(b'\n')) => {
                input.consume(1);
                Token::LineEnd
            }
            (None, Some(_)) => Token::Other,
        };
        return Ok((token, position));
    }
}

/// The next byte, if there is one. A record starts with it.
pub(super) fn peek(input: &mut Input<'_>) -> Result<Option<u8>, ImportError> {
    Ok(available(input)?.first().copied())
}
